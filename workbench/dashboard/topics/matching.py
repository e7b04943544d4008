"""Matching the topics of two runs: the best assignment, and the tokens that they share."""

from functools import lru_cache, partial

import numpy as np
import xarray as xr

from workbench.dashboard.shared.card import Shown
from workbench.dashboard.shared.shell import message
from workbench.dashboard.shared.snapshots import (
    SnapshotKey,
    counts_of,
    labelled,
    labels_now,
    of_documents,
    run_of,
    train_of,
)
from workbench.dashboard.topics.cells import topic_table
from workbench.measures import match_topics, top_words, topic_flow, topics_by_size
from workbench.tables import Column, numbers
from workbench.views import Picture
from workbench.views.elements import topic_colours
from workbench.views.flow import flow_picture
from workbench.views.live import NONE

FEW = 5
CHOOSE = "Choose another run, and its topics are matched with those above."
COLUMNS = [
    Column("Topic", meaning="of the run above"),
    Column("Label", meaning="what people call it"),
    *numbers("Matched", meaning="the same topic in the other run"),
    *numbers(
        "Distance",
        digits=3,
        meaning="of Jensen and Shannon between their words: 0 the same, 1 no word in common",
    ),
    Column(
        "Shared", kind="share", meaning="share of the topic's tokens that the matched one has too"
    ),
    Column("Words of both", meaning="top words that both have"),
    Column("Words of the matched one alone", meaning="further top words of the matched topic"),
]


@lru_cache(maxsize=4)
def matched_of(
    snapshot: SnapshotKey, other: SnapshotKey
) -> tuple[xr.Dataset | None, xr.DataArray | None]:
    """Return `match_topics` and `topic_flow` of two runs, or None for a result that cannot be computed.

    Both results need snapshots of both runs; the flow also needs the same training tokens.
    """
    a, b = counts_of(snapshot), counts_of(other)
    if a is None or b is None:
        return None, None
    pairs = match_topics(a, b)
    if run_of(snapshot).spec.train != run_of(other).spec.train:
        return pairs, None
    flow = partial(topic_flow, corpus=train_of(snapshot))
    return pairs, of_documents(flow, snapshot, other)


def matching_of(
    snapshot: SnapshotKey, other: SnapshotKey | None, labels: dict[int, str], sort: str
) -> Shown:
    """Return the picture of two matched runs, a sentence, and the table; a hint if ``other`` is None."""
    if other is None:
        return Shown(message(CHOOSE))
    pairs, flow = matched_of(snapshot, other)
    if pairs is None:
        waits = snapshot if counts_of(snapshot) is None else other
        return Shown(message(f"{waits.path.name} has no snapshot of its topics yet."))
    of_other, (here, there) = labels_now(other)[0], (snapshot.path, other.path)
    rows = _rows(pairs, flow, counts_of(snapshot), counts_of(other), labels)
    caption = f"topics of {here.name} and of {there.name}"
    table, picture = topic_table(COLUMNS, rows, sort, caption, labels), None
    said = (
        f"{np.count_nonzero(pairs['matched'] != NONE)} topics of {here.name} matched with those of {there.name}, mean distance "
        f"{np.nanmean(pairs['distance'].values):.2f}."
    )
    if flow is None:
        said += " They were trained on different tokens, so no flow of tokens is drawn."
    else:
        picture = _flow_drawn(snapshot, other, tuple(labels.items()), tuple(of_other.items()))
    return Shown(message(said), picture, table, (here, there))


@lru_cache(maxsize=4)
def _flow_drawn(
    snapshot: SnapshotKey, other: SnapshotKey, labels: tuple, of_other: tuple
) -> Picture:
    """Return the picture of two matched runs, with the labels of the topics of both."""
    (pairs, flow), names = matched_of(snapshot, other), (snapshot.path.name, other.path.name)
    runs = (
        labelled(counts_of(snapshot), dict(labels)),
        labelled(counts_of(other), dict(of_other)),
    )
    name = f"{'-with-'.join(names)}-matching"
    return flow_picture(name, names, runs, flow, pairs, topic_colours(runs[0]), 1)


def _rows(
    pairs: xr.Dataset,
    flow: xr.DataArray | None,
    run: xr.Dataset,
    other: xr.Dataset,
    labels: dict[int, str],
) -> list[tuple]:
    """Return the rows of the table, one for each topic of ``run``."""
    mine, theirs = (
        dict(
            zip(
                one["topic"].values.tolist(),
                top_words(one, 2 * FEW)["word"].values.tolist(),
                strict=True,
            )
        )
        for one in (run, other)
    )
    rows, partner, distances = [], pairs["matched"].to_series(), pairs["distance"].to_series()
    for topic in topics_by_size(run):
        matched, shared = int(partner[topic]), np.nan
        if matched != NONE and flow is not None:
            row = flow.sel(topic=topic)
            shared = float(row.sel(other=matched) / max(float(row.sum()), 1e-12))
        words = theirs.get(matched, [])
        rows.append(
            (
                topic,
                labels.get(topic, ""),
                matched if matched != NONE else None,
                float(distances[topic]),
                shared,
                " ".join(word for word in mine[topic] if word in words),
                " ".join(word for word in words if word not in mine[topic]),
            )
        )
    return rows
