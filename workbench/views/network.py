"""Graph of a topic model as a network of mixture levels: ellipses are levels, arrows are discrete variables."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.measures import MeasureError, mixture_table, spec_of
from workbench.measures.selection import grouped
from workbench.models.networks.levels import PREFIXES
from workbench.models.networks.network import AUTHORS, DOCUMENT, WORD, Level, Network
from workbench.views.elements import INK, bare_panel, element, height_of, text_labels
from workbench.views.picture import Picture, RunsToDraw, View, file_names, has

STEP = 3.7
"""Distance of columns of levels; an ellipse is 1.7 wide and 0.9 high."""
RISE = 1.8
"""Distance of levels within a column."""
HALF_WIDTH, HALF_HEIGHT, BELOW = 0.85, 0.45, 0.4
"""Half-axes of an ellipse, and the distance from its bottom to the text below it."""
AROUND = np.linspace(0, 2 * np.pi, 49)
ALONG = np.linspace(0, 1, 21)
HEAD_LENGTH, HEAD_WIDTH = 0.2, 0.08
LEAVES_APART = 0.7
"""Distance of the heads of the arrows from the last level, one for each leaf of words."""
INCHES = 0.42
"""Inches of a unit on paper."""
COLUMNS = ("level", "row", "value", "topic", "node", "tokens")
FILLED = {"dirichlet": "#c4e6f8", "point": "#ffffff", "observed": "#dddddd"}


class Arrow(NamedTuple):
    """The arrow of a variable, from the level that draws it to a level that depends on it."""

    path: np.ndarray  # (point, 2)
    head: np.ndarray  # (3, 2)
    name: str
    # whether it selects the row, or only whether the level is visited
    chooses: bool

    @property
    def middle(self) -> tuple[float, float]:
        """Return where the arrow's name stands: above the middle of a bent arrow, below that of a straight one."""
        x, y = self.path[len(self.path) // 2]
        is_bent = y > (self.path[0, 1] + self.path[-1, 1]) / 2 + 0.1
        return float(x), float(y) + (0.22 if is_bent else -0.26)


class Drawing(NamedTuple):
    """Positions of the levels (ellipses, 1.7 wide and 0.9 high) and arrows in a picture of a network; y points up."""

    positions: dict[str, tuple[float, float]]  # name of a level → centre of its ellipse
    rows: dict[str, str]  # name of a level → its number of rows, on two lines
    arrows: list[Arrow]


def drawing_of(network: Network) -> Drawing:
    """Return the positions of a network's levels and of the arrows between them."""
    positions = _positions(network)
    rows = {level.name: _rows_text(network, level) for level in network.levels}
    return Drawing({name: positions[name] for name in rows}, rows, _arrows(network, positions))


def network_view(network: Network, title: str = ""):
    """Draw a network's levels from left to right with their numbers of rows, joined by arrows of variables.

    As in Heinrich & Goesele (2009), Fig. 1: ellipses are mixture levels, arrows discrete variables. An arrow is dotted if its
    variable only decides whether or with which kind of row a level is visited; the ellipse of an observed level is grey, that
    of a level of point estimates is open; the arrow from the last level is the word. Returns an overlay of `Polygons`
    (ellipses, heads), `Path` (arrows) and `Labels`.
    """
    positions, rows, arrows = drawing_of(network)
    row_texts = [(x, y - HALF_HEIGHT - BELOW, rows[name]) for name, (x, y) in positions.items()]
    x, y = np.concatenate([*(arrow.path for arrow in arrows), *map(_ellipse, positions.values())]).T
    lowest = min(y.min(), min(height for _, height, _ in row_texts))
    limits = (x.min() - 0.2, x.max() + 0.2), (lowest - 0.4, y.max() + 0.5)
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
                    [_ellipse(positions[level.name])],
                    label=level.name,
                    facecolor=FILLED[level.kind],
                    edgecolor=INK,
                    linewidth=0.8,
                )
                for level in network.levels
            ),
            text_labels(
                [(*position, name) for name, position in positions.items()],
                "levels",
                8,
                weight="bold",
            ),
            text_labels(row_texts, "rows"),
            text_labels([(*arrow.middle, arrow.name) for arrow in arrows], "variables", 7),
        ],
        tuple(INCHES * (high - low) for low, high in limits),
        *limits,
        title=title,
        aspect="equal",
    )


def draw_networks(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw each distinct network, with a table of tokens per level from the first run that has counts."""
    of_networks = [run for run in selection.runs if has(run, "model.levels")]
    runs_by_network = grouped((spec_of(run).parts()[1] for run in of_networks), of_networks)
    for (network, runs), short in zip(
        runs_by_network.items(),
        file_names(network.name for network in runs_by_network),
        strict=True,
    ):
        panels = [network_view(network)]
        levels = "; ".join(f"{name}: {text}" for name, text in network.describe_levels())
        yield Picture(
            f"{view.name}-{short}",
            f"{view.title} {network.name}",
            "Mixture levels (ellipses: blue with a Dirichlet prior, grey observed, open estimated) and the variables that "
            "they draw (arrows, with their number of values; dotted if a variable only decides which level is visited). The "
            f"name of a level is followed by the variables that select its row and, after the arrow, the variable it "
            f"draws. {levels}.",
            panels,
            list(COLUMNS),
            _tokens(runs).to_numpy(object).tolist(),
            legend=False,
            height=height_of(panels),
            runs=runs,
        )


def _tokens(runs: list) -> pd.DataFrame:
    """Return the tokens of each level, row and value from the first run that has such counts; empty if no run has."""
    for run in runs:
        try:
            return mixture_table(run).reindex(columns=COLUMNS)
        except MeasureError:
            continue
    return pd.DataFrame(columns=COLUMNS)


def _conditions(level: Level) -> dict[str, bool]:
    """Return variable → whether it selects a row of the level; False if only visits of the level depend on it."""
    selecting = {name for rows in level.rows for name in rows.by}
    return dict.fromkeys(sorted(selecting), True) | {
        name: False for rows in level.rows for name, *_ in rows.when if name not in selecting
    }


def _positions(network: Network) -> dict[str, tuple[float, float]]:
    """Return the position of the document and of each level, which is to the right of all levels it depends on."""
    column = {DOCUMENT: 0}
    drawn_by = {level.draws: level.name for level in network.levels}
    levels_by_column: dict[int, list[str]] = {}
    for level in network.levels:
        sources = [drawn_by.get(name, DOCUMENT) for name in _conditions(level)] or [DOCUMENT]
        column[level.name] = 1 + max(column[name] for name in sources)
        levels_by_column.setdefault(column[level.name], []).append(level.name)
    positions = {DOCUMENT: (0.0, 0.0)}
    for number, names in levels_by_column.items():
        for i, name in enumerate(names):
            positions[name] = (STEP * number - 1.0, RISE * ((len(names) - 1) / 2 - i))
    return positions


def _ellipse(centre: tuple[float, float]) -> np.ndarray:
    return np.column_stack(
        [centre[0] + HALF_WIDTH * np.cos(AROUND), centre[1] + HALF_HEIGHT * np.sin(AROUND)]
    )


def _arrows(network: Network, positions: dict[str, tuple[float, float]]) -> list[Arrow]:
    """Return an arrow from each variable to each level that depends on it, bent around levels between, and the word's arrow."""
    arrows = []
    drawn_by = {level.draws: level.name for level in network.levels}
    for level in network.levels:
        for name, chooses in _conditions(level).items():
            source = positions[drawn_by[name]] if name in drawn_by else positions[DOCUMENT]
            start = source[0] + (HALF_WIDTH if name in drawn_by else 0.12)
            n_levels_between = (
                int(np.ceil((positions[level.name][0] - source[0]) / STEP - 0.01)) - 1
            )
            bend = 0.25 + 1.1 * n_levels_between if n_levels_between > 0 else 0.0
            has_size = name != DOCUMENT and not network.is_open(name) and network.size(name) > 1
            text = f"{name} ({network.size(name):,})" if has_size else name
            arrows.append(
                _arrow(
                    (start, source[1]),
                    (positions[level.name][0] - HALF_WIDTH, positions[level.name][1]),
                    bend,
                    text,
                    chooses,
                )
            )
    (x, y), leaves = positions[network.levels[-1].name], network.leaves
    if leaves == PREFIXES:
        words = [f"{WORD} of a prefix", f"{WORD} of another"]
    else:
        words = [*(f"{WORD} {leaf}" for leaf in leaves), WORD]
    heights = y + LEAVES_APART * (len(words) - 1 - 2 * np.arange(len(words))) / 2
    return [
        *arrows,
        *(
            _arrow((x + HALF_WIDTH, y), (x + STEP - HALF_WIDTH, height), 0.0, word, True, 0.2)
            for word, height in zip(words, heights.tolist(), strict=True)
        ),
    ]


def _arrow(
    start: tuple[float, float],
    end: tuple[float, float],
    bend: float,
    name: str,
    chooses: bool,
    level_from: float = 1.0,
) -> Arrow:
    """Return an arrow between two points, bent upwards by ``bend``; from a share ``level_from`` of its way on it is level."""
    x = start[0] + ALONG * (end[0] - start[0])
    rise = np.minimum(ALONG / level_from, 1.0) * (end[1] - start[1])
    y = start[1] + rise + 4 * bend * ALONG * (1 - ALONG)
    path = np.column_stack([x, y])
    direction = path[-1] - path[-3]
    direction /= np.hypot(*direction)
    normal = np.array([-direction[1], direction[0]])
    foot = path[-1] - HEAD_LENGTH * direction
    return Arrow(
        path,
        np.array([path[-1], foot + HEAD_WIDTH * normal, foot - HEAD_WIDTH * normal]),
        name,
        chooses,
    )


def _rows_text(network: Network, level: Level) -> str:
    """Return a level's size as text on two lines: "5 rows a document", "of 10"."""
    if level.table == AUTHORS:
        return "authors of\nthe document"
    if level.draws == WORD:
        values = "words"
    elif network.is_open(level.draws):
        values = "its labels"
    else:
        values = f"{network.size(level.draws):,}"
    by = next((name for rows in level.rows for name in rows.by if network.is_open(name)), None)
    if by is not None:
        return f"rows by {by}\nof {values}"
    n_rows = network.n_rows(level)
    rows = f"{n_rows:,} {'row' if n_rows == 1 else 'rows'}"
    return f"{rows}{' a document' if level.of_documents else ''}\nof {values}"
