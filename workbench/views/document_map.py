"""Map of documents: points that are close if the documents have similar shares of the topics."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import document_map
from workbench.measures.documents import documents_table, phrase_for
from workbench.views.elements import INK, RC, SEARCH, TOPIC, axis, element, panel, topic_colours
from workbench.views.picture import Picture, RunsOfLabels, RunsToDraw, View
from workbench.views.topic_map import non_overlapping_positions
from workbench.views.topics import names_of_topics

COLUMNS = ("document", "title", "x", "y", "topic", "share")
MOST_DOCUMENTS = 2000
"""Maximum number of documents on a map, at even distances in the corpus."""
SIZE = (3.4, 3.4)
NUMBER = (0.16, 0.12)
"""Width and height in inches that is kept free for the number of a topic."""
LETTERS = 60


def document_map_view(run: xr.Dataset, table, title: str = ""):
    """Draw documents as points in the colours of their largest topics, as a `holoviews.Overlay`.

    ``table`` is a DataFrame with the columns of the picture's table. The number of a topic is near the mean of its documents.
    """
    colours = topic_colours(run)
    x, y = axis("x", "first axis"), axis("y", "second axis")
    topics = table["topic"].tolist()
    searches = [phrase_for(text) for text in table["title"]]
    points = element(
        "Points",
        (table["x"].values, table["y"].values, topics, searches, list(map(colours, topics))),
        [x, y],
        vdims=[axis(TOPIC, "topic"), SEARCH, "colour"],
        color="colour",
        s=7,
        alpha=0.7,
        linewidth=0,
    )
    means = table.groupby("topic")[["x", "y"]].mean()
    low, high = (getattr(table[["x", "y"]], side)().values for side in ("min", "max"))
    scale = float(max((high - low).max(), 1e-9)) / SIZE[0]
    numbers = scale * non_overlapping_positions(
        means.values / scale, np.full((len(means), 2), NUMBER)
    )
    labels = element(
        "Labels",
        [(*place, str(topic)) for place, topic in zip(numbers, means.index, strict=True)],
        [x, y],
        "number",
        size=7,
        color=INK,
        weight="bold",
    )
    return panel(
        [points, labels],
        title=title,
        fig_inches=SIZE,
        aspect="equal",
        show_grid=False,
        xticks=4,
        yticks=4,
        fig_rcparams=RC,
    )


def draw_document_maps(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the map of documents for one run per label, of at most `MOST_DOCUMENTS` documents each."""
    collection = RunsOfLabels(selection.first("phi", "theta", "n_dk"))
    for label, run in collection.runs.items():
        points = document_map(run)
        placed = np.flatnonzero(np.isfinite(points["x"].values))
        if not len(placed):
            continue
        spaced = np.linspace(0, len(placed) - 1, min(len(placed), MOST_DOCUMENTS))
        indices = placed[spaced.round().astype(np.int64)]
        table = documents_table(run, documents=indices)
        table = table.assign(x=points["x"].values[indices], y=points["y"].values[indices])
        names = names_of_topics(run, 5, LETTERS)
        share = f"{100 * points.attrs['shown']:.0f} % of the variance"
        title = f"{label}: {len(indices):,} of {len(placed):,} documents, {share}"
        texts = [
            f"{row.title}\n{row.share:.0%} {names[row.topic]}"
            for row in table.itertuples(index=False)
        ]
        rows = table[list(COLUMNS)]
        collection.add(label, rows, [document_map_view(run, table, title)], {"Points": [texts]})
    yield from collection.pictures(
        view,
        "Documents that are close have similar shares of the topics. Each has the colour of its largest topic, whose number "
        "stands near the mean of its documents. The plane is that of the two largest principal components of the square roots "
        "of theta, so that distances approximate Hellinger distances; documents that lie on one another need not be alike. "
        "One run of each label, at its last snapshot.",
        COLUMNS,
    )
