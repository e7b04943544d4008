"""Which topics go together, and which apart: the correlations of their shares of documents."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import topic_correlations
from workbench.measures.correlations import alike_together, strongest_pairs, topic_of_words
from workbench.views.elements import ROW, axis, element, height_of, panel, text_labels
from workbench.views.picture import (
    WHOSE,
    Picture,
    SideBySide,
    Slider,
    View,
    fitting_panels,
    rows_of,
)
from workbench.views.style import INK, RC
from workbench.views.topics import names_of_topics

COLUMNS = ("topic", "other_topic", "correlation")
ABOVE = 0.1
"""Correlation from which on two topics are joined."""
TOGETHER, APART = "#D6604D", "#4393C3"
"""Colours of arcs, as of the matrix, that are seen on a white and on a dark page."""
FRAME = (("#ffffff", 2.6), ("#111111", 1.1))
"""Colour and width of the lines of a frame: seen on pale and on dark cells, on a white and on a dark page."""
LETTERS = RC | {"ytick.labelsize": 6.5, "xtick.labelsize": 5.5}


def correlations_view(
    found: xr.Dataset,
    names: Mapping[int, str] | None = None,
    title: str = "",
    marked: Iterable[tuple[int, int]] | None = None,
):
    """The matrix of correlations as `holoviews.Overlay` of a `QuadMesh`, topics that go together side by side.

    ``found`` is what `workbench.measures.topic_correlations` finds, ``names`` are those of topics, by default their numbers.
    ``marked`` pairs of topics have a frame: by default the two that go together most and the two that avoid each other most.
    A topic with itself is left blank; the title says which correlation has the full colour.
    """
    numbers, order = found["topic"].values.tolist(), _order(found)
    shown, n = found["correlation"].values[np.ix_(order, order)].copy(), len(order)
    marked = _strongest(found) if marked is None else marked
    np.fill_diagonal(shown, np.nan)
    most = max(float(np.nanmax(np.abs(shown), initial=0.0)), 0.05)
    mesh = element(
        "QuadMesh",
        (np.arange(n), -np.arange(n), shown),
        [axis("other_topic", "topic"), axis("topic", " ")],
        vdims=axis("correlation", "correlation"),
        cmap="RdBu_r",
        clim=(-most, most),
    )
    place = {numbers[at]: where for where, at in enumerate(order)}
    cells = [(place[one], -place[other]) for pair in marked for one, other in (pair, pair[::-1])]
    boxes = [(x - 0.5, y - 0.5, x + 0.5, y + 0.5) for x, y in cells]
    frames = [
        element("Rectangles", boxes, facecolor="none", edgecolor=colour, linewidth=width)
        for colour, width in FRAME
    ]
    return panel(
        [mesh, *frames],
        title=f"{title}, full colour: ±{most:.2f}".removeprefix(", "),
        fig_inches=(3.4, 0.9 + max(ROW * n, 1.6)),
        aspect="auto",
        show_grid=False,
        xrotation=90,
        xticks=[(where, str(numbers[at])) for where, at in enumerate(order)],
        yticks=_names(found, names),
        fig_rcparams=LETTERS,
    )


def correlations_graph(
    found: xr.Dataset,
    names: Mapping[int, str] | None = None,
    title: str = "",
    above: float = ABOVE,
):
    """An arc from topic to topic where their correlation is above ``above`` or below -``above``, as `holoviews.Overlay`.

    Topics stand in the order of `correlations_view`; an arc is the thicker the stronger the correlation, and dashed where
    topics avoid each other.
    """
    order, n = _order(found), len(found["topic"])
    shown, turn = (
        found["correlation"].values[np.ix_(order, order)],
        np.linspace(-np.pi / 2, np.pi / 2, 41),
    )
    arcs = [
        element(
            "Curve",
            (
                0.5 * (lower - upper) * np.cos(turn),
                -(upper + lower) / 2 + 0.5 * (lower - upper) * np.sin(turn),
            ),
            ["x"],
            ["y"],
            color=TOGETHER if value > 0 else APART,
            linestyle="-" if value > 0 else "--",
            linewidth=0.5 + 3.5 * abs(value),
        )
        for upper in range(n)
        for lower in range(upper + 1, n)
        if abs(value := shown[upper, lower]) > above
    ]
    nodes = element("Points", (np.zeros(n), -np.arange(n)), ["x", "y"], color=INK, s=9)
    none = [] if arcs else [text_labels([(0.25 * n, -0.5 * (n - 1), "none so strong")], "none")]
    return panel(
        [nodes, *arcs, *none],
        title=f"{title}, beyond ±{above:g}".removeprefix(", "),
        fig_inches=(3.4, 0.9 + max(ROW * n, 1.6)),
        aspect="auto",
        show_grid=False,
        xaxis=None,
        ylabel=" ",
        xlim=(-0.02 * n, 0.55 * n),
        ylim=(0.5 - n, 0.5),
        yticks=_names(found, names),
        fig_rcparams=LETTERS,
    )


def correlation_controls(run: xr.Dataset) -> tuple[Slider, ...]:
    """From which correlation on topics are joined."""
    return (Slider("above", "Joined beyond a correlation of", 0.0, 0.95, 0.05, ABOVE),)


def draw_correlations(
    view: View,
    shown: SideBySide,
    above: float = ABOVE,
    marked: Iterable[tuple[str, str]] | None = None,
) -> Iterator[Picture]:
    """Matrix and arcs of one run of each label that has a covariance of psi.

    ``marked``: pairs of topics that have a frame, each named by words, as ("house committee congress law", "bush dukakis").
    """
    runs = shown.first("psi_mean", "psi_covariance", "phi")
    drawn, left_out = fitting_panels(runs)
    rows, panels, hover = [], [], []
    for label, run in runs.items():
        found = topic_correlations(run)
        rows += rows_of(label, run, found.to_dataframe().reset_index()[list(COLUMNS)])
        if label in drawn:
            pairs = (
                None
                if marked is None
                else [tuple(topic_of_words(run, words) for words in pair) for pair in marked]
            )
            names = names_of_topics(run, 3, 28)
            panels += [
                correlations_view(found, names, label, pairs),
                correlations_graph(found, names, label, above),
            ]
            hover.append(cell_texts(found, names_of_topics(run, 6, 80)))
    if panels:
        strongest = "the two topics that go together most and the two that avoid each other most"
        framed = strongest if marked is None else "the pairs that were named"
        yield view.picture(
            "Correlation of the shares that two topics have of a document, over documents drawn from the mean and covariance "
            "that the run has learnt: red topics go together, blue ones avoid each other. Shares add up to 1, so that topics "
            "without any relation are a little below 0. Topics that go together stand side by side; a topic with itself is "
            f"left blank. Framed: {framed}. Arcs join topics whose correlation is beyond ±{above:g}, dashed where they avoid "
            f"each other. One run of each label.{left_out}",
            panels,
            [*WHOSE, *COLUMNS],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
            hover={"QuadMesh": hover},
        )


def cell_texts(found: xr.Dataset, names: Mapping[int, str]) -> list[str]:
    """What each cell of the matrix says, from the lowest row up and from left to right: both topics and their correlation."""
    order, numbers, values = (
        _order(found),
        found["topic"].values.tolist(),
        found["correlation"].values,
    )
    return [
        f"{names[numbers[row]]}\n{names[numbers[column]]}\ncorrelation {values[row, column]:+.2f}"
        for row in order[::-1]
        for column in order
    ]


def _order(found: xr.Dataset) -> list[int]:
    return alike_together(found["correlation"].values).tolist()


def _strongest(found: xr.Dataset) -> list[tuple[int, int]]:
    numbers = found["topic"].values.tolist()
    return [
        (numbers[one], numbers[other])
        for one, other in strongest_pairs(found["correlation"].values)
    ]


def _names(found: xr.Dataset, names: Mapping[int, str] | None) -> list[tuple[int, str]]:
    """(place, name) of the topics down the axis."""
    numbers = found["topic"].values.tolist()
    return [
        (-place, (names or {}).get(numbers[at], str(numbers[at])))
        for place, at in enumerate(_order(found))
    ]
