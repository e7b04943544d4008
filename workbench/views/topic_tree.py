"""Tree of topics: those with similar words are joined first."""

from collections.abc import Iterator

import xarray as xr

from workbench.measures import topic_tree, topics_by_size
from workbench.views.elements import INK, RC, ROW, TOPIC, axis, element, panel, topic_colours
from workbench.views.picture import Picture, RunsOfLabels, RunsToDraw, View
from workbench.views.topics import names_of_topics

COLUMNS = ("merge", "one", "other", "distance")
MOST_LEAVES = 60
"""Maximum number of topics of a tree, the largest: about a page."""


def topic_tree_view(run: xr.Dataset, tree: xr.Dataset, title: str = ""):
    """Draw the tree of a run's topics, a result of `workbench.measures.topic_tree`, as a `holoviews.Overlay`.

    Topics are rows, named, with a point in their colours; a bracket joins two groups at the mean distance between their topics.
    The tree has at least one merge; the axis begins a little before the first.
    """
    topics, colours, names = tree["topic"].values.tolist(), topic_colours(run), names_of_topics(run)
    low, high = tree["height"].values[[0, -1]].tolist()
    margin = max(0.2 * (high - low), 0.02)
    start = max(low - margin, 0.0)
    places, brackets = [(start, -float(row)) for row in range(len(topics))], []
    for one, other, height in (
        tree[["one", "other", "height"]].to_dataframe().itertuples(index=False)
    ):
        (left, top), (right, bottom) = places[int(one)], places[int(other)]
        brackets.append([(left, top), (height, top), (height, bottom), (right, bottom)])
        places.append((height, (top + bottom) / 2))
    x, y = axis("distance", "mean distance of their words"), axis("row", " ")
    leaves = zip(topics, places, strict=False)
    points = [(*place, topic, names[topic], colours(topic)) for topic, place in leaves]
    return panel(
        [
            element("Path", brackets, [x, y], color=INK, linewidth=0.8, alpha=0.6),
            element(
                "Points",
                points,
                [x, y],
                vdims=[axis(TOPIC, "topic"), axis("name", "name"), "colour"],
                color="colour",
                s=16,
            ),
        ],
        title=title,
        fig_inches=(3.4, 0.6 + max(ROW * len(topics), 0.8)),
        aspect="auto",
        show_grid=False,
        xlim=(start - 0.2 * margin, high + 0.2 * margin),
        ylim=(0.5 - len(topics), 0.5),
        yticks=[(-float(row), names[topic]) for row, topic in enumerate(topics)],
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def draw_trees(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the tree of topics for one run per label, of its `MOST_LEAVES` largest topics."""
    collection = RunsOfLabels(selection.first("phi", "n_kw"))
    for label, run in collection.runs.items():
        tree = topic_tree(run.sel(topic=topics_by_size(run)[:MOST_LEAVES]))
        if not tree.sizes["merge"]:
            continue
        collection.add(label, _table(tree), [topic_tree_view(run, tree, label)])
    yield from collection.pictures(
        view,
        "Topics with similar words are neighbours, joined by a line farther to the left. It joins two groups of topics at the "
        "mean square root of the Jensen-Shannon divergence of phi (base 2) between them: 0 is the same words, 1 no word in "
        f"common. Average linkage of at most {MOST_LEAVES} topics, the largest. One run of each label.",
        COLUMNS,
    )


def _table(tree: xr.Dataset) -> list[tuple]:
    """Return a row for each merge: its number, the topics of both sides, and their distance."""
    groups, rows = [str(topic) for topic in tree["topic"].values], []
    for merge in range(tree.sizes["merge"]):
        one, other = (groups[int(tree[side][merge])] for side in ("one", "other"))
        rows.append((merge, one, other, float(tree["height"][merge])))
        groups.append(f"{one} {other}")
    return rows
