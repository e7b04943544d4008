"""Correlations of topic proportions over documents, as a matrix and as arcs."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import topic_correlations
from workbench.measures.correlations import clustered_order, strongest_pairs, topic_of_words
from workbench.views.elements import INK, RC, ROW, axis, element, panel, text_labels
from workbench.views.picture import (
    Picture,
    RunsOfLabels,
    RunsToDraw,
    Slider,
    View,
)
from workbench.views.topics import names_of_topics

COLUMNS = ("topic", "other_topic", "correlation")
ABOVE = 0.1
"""Two topics are connected if their absolute correlation is above this."""
POSITIVE, NEGATIVE = "#D6604D", "#4393C3"
"""Colours of arcs, as in the matrix, visible on white and on dark pages."""
FRAME = (("#ffffff", 2.6), ("#111111", 1.1))
"""Colour and width of the lines of a frame, visible on pale and dark cells and pages."""
LETTERS = RC | {"ytick.labelsize": 6.5, "xtick.labelsize": 5.5}


def correlations_view(
    correlations: xr.Dataset,
    names: Mapping[int, str] | None = None,
    title: str = "",
    marked: Iterable[tuple[int, int]] | None = None,
):
    """Draw the topic correlation matrix, correlated topics adjacent, as a `holoviews.Overlay` of a `QuadMesh`.

    ``correlations`` is the result of `workbench.measures.topic_correlations`, ``names`` are topic names, by default the
    numbers. ``marked`` pairs of topics have a frame: by default the most positively and the most negatively correlated pair.
    The diagonal is blank; the title gives the correlation at the end of the colour scale.
    """
    numbers, order = correlations["topic"].values.tolist(), _order(correlations)
    matrix, n = correlations["correlation"].values[np.ix_(order, order)].copy(), len(order)
    if marked is None:
        marked = [
            tuple(numbers[topic] for topic in pair)
            for pair in strongest_pairs(correlations["correlation"].values)
        ]
    np.fill_diagonal(matrix, np.nan)
    most = max(float(np.nanmax(np.abs(matrix), initial=0.0)), 0.05)
    mesh = element(
        "QuadMesh",
        (np.arange(n), -np.arange(n), matrix),
        [axis("other_topic", "topic"), axis("topic", " ")],
        vdims=axis("correlation", "correlation"),
        cmap="RdBu_r",
        clim=(-most, most),
    )
    place_of = {numbers[topic]: position for position, topic in enumerate(order)}
    cells = [
        (place_of[first], -place_of[second])
        for pair in marked
        for first, second in (pair, pair[::-1])
    ]
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
        xticks=[(position, str(numbers[topic])) for position, topic in enumerate(order)],
        yticks=_names(correlations, names),
        fig_rcparams=LETTERS,
    )


def correlations_graph(
    correlations: xr.Dataset,
    names: Mapping[int, str] | None = None,
    title: str = "",
    above: float = ABOVE,
):
    """Draw arcs between topics whose correlation exceeds ``above`` in absolute value, as a `holoviews.Overlay`.

    Topics are in the order of `correlations_view`; thicker arcs are stronger correlations, dashed arcs negative ones.
    """
    order, n = _order(correlations), len(correlations["topic"])
    matrix, angle = (
        correlations["correlation"].values[np.ix_(order, order)],
        np.linspace(-np.pi / 2, np.pi / 2, 41),
    )
    arcs = [
        element(
            "Curve",
            (
                0.5 * (lower - upper) * np.cos(angle),
                -(upper + lower) / 2 + 0.5 * (lower - upper) * np.sin(angle),
            ),
            ["x"],
            ["y"],
            color=POSITIVE if value > 0 else NEGATIVE,
            linestyle="-" if value > 0 else "--",
            linewidth=0.5 + 3.5 * abs(value),
        )
        for upper in range(n)
        for lower in range(upper + 1, n)
        if abs(value := matrix[upper, lower]) > above
    ]
    nodes = element("Points", (np.zeros(n), -np.arange(n)), ["x", "y"], color=INK, s=9)
    note = [] if arcs else [text_labels([(0.25 * n, -0.5 * (n - 1), "none so strong")], "none")]
    return panel(
        [nodes, *arcs, *note],
        title=f"{title}, beyond ±{above:g}".removeprefix(", "),
        fig_inches=(3.4, 0.9 + max(ROW * n, 1.6)),
        aspect="auto",
        show_grid=False,
        xaxis=None,
        ylabel=" ",
        xlim=(-0.02 * n, 0.55 * n),
        ylim=(0.5 - n, 0.5),
        yticks=_names(correlations, names),
        fig_rcparams=LETTERS,
    )


def correlation_controls(run: xr.Dataset) -> tuple[Slider, ...]:
    """Return the control that sets the absolute correlation above which an arc joins two topics."""
    return (Slider("above", "Connect above a correlation of", 0.0, 0.95, 0.05, ABOVE),)


def draw_correlations(
    view: View,
    selection: RunsToDraw,
    above: float = ABOVE,
    marked: Iterable[tuple[str, str]] | None = None,
) -> Iterator[Picture]:
    """Draw topic correlations as a matrix and as arcs, for one run per label whose model has a covariance of psi.

    ``marked``: pairs of topics with a frame, each given by words, as ("house committee congress law", "bush dukakis").
    """
    collection = RunsOfLabels(selection.first("psi_mean", "psi_covariance", "phi"))
    for label, run in collection.runs.items():
        correlations, names = topic_correlations(run), names_of_topics(run, 3, 28)
        pairs = (
            None
            if marked is None
            else [tuple(topic_of_words(run, words) for words in pair) for pair in marked]
        )
        panels = [
            correlations_view(correlations, names, label, pairs),
            correlations_graph(correlations, names, label, above),
        ]
        rows = correlations.to_dataframe().reset_index()[list(COLUMNS)]
        texts = cell_texts(correlations, names_of_topics(run, 6, 80))
        collection.add(label, rows, panels, {"QuadMesh": [texts]})
    strongest = "the most positively and the most negatively correlated pair"
    framed_text = strongest if marked is None else "the selected pairs"
    yield from collection.pictures(
        view,
        "Correlation of the shares of two topics over documents drawn from the learnt mean and covariance: red is "
        "positive, blue negative. Shares add up to 1, so unrelated topics are a little below 0. Correlated topics are "
        f"next to each other; the diagonal is blank. Framed: {framed_text}. Arcs connect topics whose correlation is beyond "
        f"±{above:g}; negative ones are dashed. One run of each label.",
        COLUMNS,
    )


def cell_texts(correlations: xr.Dataset, names: Mapping[int, str]) -> list[str]:
    """Return the tooltip of each cell of the matrix, rows from the bottom up, cells from left to right."""
    order, numbers, values = (
        _order(correlations),
        correlations["topic"].values.tolist(),
        correlations["correlation"].values,
    )
    return [
        f"{names[numbers[row]]}\n{names[numbers[column]]}\ncorrelation {values[row, column]:+.2f}"
        for row in order[::-1]
        for column in order
    ]


def _order(correlations: xr.Dataset) -> list[int]:
    """Return topic indices in an order that puts correlated topics next to each other."""
    return clustered_order(correlations["correlation"].values).tolist()


def _names(correlations: xr.Dataset, names: Mapping[int, str] | None) -> list[tuple[int, str]]:
    """Return the axis ticks (position, name) of the topics from the top down."""
    numbers = correlations["topic"].values.tolist()
    return [
        (-position, (names or {}).get(numbers[topic], str(numbers[topic])))
        for position, topic in enumerate(_order(correlations))
    ]
