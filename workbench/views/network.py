"""A topic model drawn as a network of mixture levels: an ellipse a level, an arrow a variable."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.measures import MeasureError, mixture_table, spec_of
from workbench.models.networks.network import AUTHORS, DOCUMENT, WORD, Level, Network
from workbench.views.elements import bare_panel, element, height_of, text_labels
from workbench.views.picture import Picture, SideBySide, View, file_names, has
from workbench.views.style import INK

STEP = 3.7
"""From one column of levels to the next; an ellipse is 1.7 wide and 0.9 high."""
RISE = 1.8
"""From one level to the next within a column."""
HALF_WIDTH, HALF_HEIGHT, BELOW = 0.85, 0.45, 0.4
"""Of an ellipse, and from it down to the middle of what is written about it."""
AROUND = np.linspace(0, 2 * np.pi, 49)
ALONG = np.linspace(0, 1, 21)
HEAD_LENGTH, HEAD_WIDTH = 0.2, 0.08
INCHES = 0.42
"""Of a unit on paper."""
COLUMNS = ("level", "row", "value", "topic", "node", "tokens")
FILLED = {"dirichlet": "#c4e6f8", "point": "#ffffff", "observed": "#dddddd"}


class Arrow(NamedTuple):
    """A variable, from the level that draws it to one that it is given to."""

    path: np.ndarray  # (point, 2)
    head: np.ndarray  # (3, 2)
    name: str
    # does it number the rows? Otherwise it only decides whether the level is visited
    chooses: bool

    @property
    def middle(self) -> tuple[float, float]:
        """Where its name stands: above its middle where it is bent, else below, where no bow passes."""
        x, y = self.path[len(self.path) // 2]
        bent = y > (self.path[0, 1] + self.path[-1, 1]) / 2 + 0.1
        return float(x), float(y) + (0.22 if bent else -0.26)


class Drawing(NamedTuple):
    """Where everything of a network's picture stands, in units of which an ellipse is 1.7 wide and 0.9 high; y goes up."""

    places: dict[str, tuple[float, float]]  # by name of the level the middle of its ellipse
    rows: dict[str, str]  # how many rows it has, on two lines
    arrows: list[Arrow]

    @property
    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Left and right, low and high: all of it, names included."""
        x, y = np.concatenate(
            [*(arrow.path for arrow in self.arrows), *map(_ellipse, self.places.values())]
        ).T
        low = min(y.min(), min(level for _, level in self.places.values()) - HALF_HEIGHT - BELOW)
        return (x.min() - 0.2, x.max() + 0.2), (low - 0.4, y.max() + 0.5)


def drawing_of(network: Network) -> Drawing:
    """Where the levels of a network stand, and what goes from one to another."""
    at = _places(network)
    rows = {level.name: _rows_text(network, level) for level in network.levels}
    return Drawing({name: at[name] for name in rows}, rows, _arrows(network, at))


def network_view(network: Network, title: str = ""):
    """The levels of a network from left to right, each with the rows that it has, and the variables between them.

    As in Heinrich & Goesele (2009), Fig. 1: ellipses are mixture levels, arrows discrete variables. An arrow is dotted where
    its variable only decides whether or with which kind of row a level is visited; the ellipse of an observed level is
    grey, that of a level of point estimates is open; the word is what leaves the last one. An overlay of `Polygons` (ellipses,
    heads), `Path` (arrows) and `Labels`.
    """
    drawing = drawing_of(network)
    at, arrows, limits = drawing.places, drawing.arrows, drawing.limits
    below = [(x, y - HALF_HEIGHT - BELOW, drawing.rows[name]) for name, (x, y) in at.items()]
    return bare_panel(
        [
            *(
                element(
                    "Path",
                    [arrow.path],
                    label=arrow.name,
                    color=INK,
                    linewidth=0.8,
                    linestyle="-" if arrow.chooses else ":",
                )
                for arrow in arrows
            ),
            element(
                "Polygons",
                [arrow.head for arrow in arrows],
                facecolor=INK,
                edgecolor=INK,
                linewidth=0,
            ),
            *(
                element(
                    "Polygons",
                    [_ellipse(at[level.name])],
                    label=level.name,
                    facecolor=FILLED[level.kind],
                    edgecolor=INK,
                    linewidth=0.8,
                )
                for level in network.levels
            ),
            text_labels([(*place, name) for name, place in at.items()], "levels", 8, weight="bold"),
            text_labels(below, "rows"),
            text_labels([(*arrow.middle, arrow.name) for arrow in arrows], "variables", 7),
        ],
        tuple(INCHES * (high - low) for low, high in limits),
        *limits,
        title=title,
        aspect="equal",
    )


def draw_networks(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Each network once, with the tokens of its rows and values in one run that has its counts behind it."""
    own: dict[Network, list] = {}
    for run in shown.runs:
        if has(run, "model.levels"):
            own.setdefault(spec_of(run).parts()[1], []).append(run)
    for (network, runs), short in zip(
        own.items(), file_names(each.name for each in own), strict=True
    ):
        panels = [network_view(network)]
        levels = "; ".join(f"{name}: {text}" for name, text in network.describe_levels())
        yield Picture(
            f"{view.name}-{short}",
            f"{view.title} {network.name}",
            "Mixture levels (ellipses: blue with a Dirichlet prior, grey known, open estimated) and the variables that they "
            "draw (arrows, with their number of values; dotted where a variable only decides what is visited). What follows a "
            f"level's name numbers its rows, what follows the arrow is drawn. {levels}.",
            panels,
            list(COLUMNS),
            _tokens(runs).to_numpy(object).tolist(),
            legend=False,
            height=height_of(panels),
            runs=runs,
        )


def _tokens(runs: list) -> pd.DataFrame:
    """The table of the first run that has the counts of its levels; empty where none has."""
    for run in runs:
        try:
            return mixture_table(run).reindex(columns=COLUMNS)
        except MeasureError:
            continue
    return pd.DataFrame(columns=COLUMNS)


def _given(level: Level) -> dict[str, bool]:
    """The variables that a level is given, by name: do they number its rows?"""
    choosing = {name for rows in level.rows for name in rows.by}
    return dict.fromkeys(sorted(choosing), True) | {
        name: False for rows in level.rows for name, *_ in rows.when if name not in choosing
    }


def _places(network: Network) -> dict[str, tuple[float, float]]:
    """Where each level stands, and the document: a column right of all that it is given, below those that share its column."""
    column = {DOCUMENT: 0}
    drawn_by = {level.draws: level.name for level in network.levels}
    found: dict[int, list[str]] = {}
    for level in network.levels:
        given = [drawn_by.get(name, DOCUMENT) for name in _given(level)] or [DOCUMENT]
        column[level.name] = 1 + max(column[name] for name in given)
        found.setdefault(column[level.name], []).append(level.name)
    places = {DOCUMENT: (0.0, 0.0)}
    for at, names in found.items():
        for i, name in enumerate(names):
            places[name] = (STEP * at - 1.0, RISE * ((len(names) - 1) / 2 - i))
    return places


def _ellipse(centre) -> np.ndarray:
    return np.column_stack(
        [centre[0] + HALF_WIDTH * np.cos(AROUND), centre[1] + HALF_HEIGHT * np.sin(AROUND)]
    )


def _arrows(network: Network, at) -> list[Arrow]:
    """Every variable to every level that it is given to, and the word out of the last, bent over what they pass."""
    found = []
    drawn_by = {level.draws: level.name for level in network.levels}
    for level in network.levels:
        for name, chooses in _given(level).items():
            source = at[drawn_by[name]] if name in drawn_by else at[DOCUMENT]
            start = source[0] + (HALF_WIDTH if name in drawn_by else 0.12)
            passed = int(np.ceil((at[level.name][0] - source[0]) / STEP - 0.01)) - 1
            bend = 0.25 + 1.1 * passed if passed > 0 else 0.0
            counted = name != DOCUMENT and not network.is_open(name) and network.size(name) > 1
            told = f"{name} ({network.size(name):,})" if counted else name
            found.append(
                _arrow(
                    (start, source[1]),
                    (at[level.name][0] - HALF_WIDTH, at[level.name][1]),
                    bend,
                    told,
                    chooses,
                )
            )
    last = at[network.levels[-1].name]
    return [
        *found,
        _arrow(
            (last[0] + HALF_WIDTH, last[1]), (last[0] + STEP - HALF_WIDTH, last[1]), 0.0, WORD, True
        ),
    ]


def _arrow(start, end, bend: float, name: str, chooses: bool) -> Arrow:
    """From one point to another, with a bow so high in its middle."""
    x = start[0] + ALONG * (end[0] - start[0])
    y = start[1] + ALONG * (end[1] - start[1]) + 4 * bend * ALONG * (1 - ALONG)
    path = np.column_stack([x, y])
    ahead = path[-1] - path[-3]
    ahead /= np.hypot(*ahead)
    across = np.array([-ahead[1], ahead[0]])
    foot = path[-1] - HEAD_LENGTH * ahead
    return Arrow(
        path,
        np.array([path[-1], foot + HEAD_WIDTH * across, foot - HEAD_WIDTH * across]),
        name,
        chooses,
    )


def _rows_text(network: Network, level: Level) -> str:
    """How many rows a level has, and of how many values, on two lines: 5 rows a document / of 10."""
    if level.table == AUTHORS:
        return "authors of\nthe document"
    values = "words" if level.draws == WORD else f"{network.size(level.draws):,}"
    if any(network.is_open(name) for rows in level.rows for name in rows.by):
        return f"rows by {network.author.name}\nof {values}"
    n_rows = network.n_rows(level)
    rows = f"{n_rows:,} {'row' if n_rows == 1 else 'rows'}"
    return f"{rows}{' a document' if level.of_documents else ''}\nof {values}"
