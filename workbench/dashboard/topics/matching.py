"""Matching the topics of two runs: the best assignment, and the tokens that they share."""

from functools import lru_cache, partial

import numpy as np
import xarray as xr

from workbench.dashboard.shared.card import CardContent
from workbench.dashboard.shared.shell import message
from workbench.dashboard.shared.snapshots import (
    SnapshotKey,
    apply_to_documents,
    counts_of,
    labels_of_snapshot,
    run_of,
    train_of,
    with_labels,
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
def pairs_and_flow_of(
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
    return pairs, apply_to_documents(flow, snapshot, other)


def matching_card(
    snapshot: SnapshotKey, other: SnapshotKey | None, labels: dict[int, str], sort: str
) -> CardContent:
    """Return the picture of two matched runs, a sentence, and the table; a hint if ``other`` is None."""
    if other is None:
        return CardContent(message(CHOOSE))
    pairs, flow = pairs_and_flow_of(snapshot, other)
    if pairs is None:
        waits = snapshot if counts_of(snapshot) is None else other
        return CardContent(message(f"{waits.path.name} has no snapshot of its topics yet."))
    of_other, (path, other_path) = labels_of_snapshot(other)[0], (snapshot.path, other.path)
    rows = _rows(pairs, flow, counts_of(snapshot), counts_of(other), labels)
    caption = f"topics of {path.name} and of {other_path.name}"
    table, picture = topic_table(COLUMNS, rows, sort, caption, labels), None
    sentence = (
        f"{np.count_nonzero(pairs['matched'] != NONE)} topics of {path.name} matched with those of {other_path.name}, mean "
        f"distance {np.nanmean(pairs['distance'].values):.2f}."
    )
    if flow is None:
        sentence += " They were trained on different tokens, so no flow of tokens is drawn."
    else:
        picture = _flow_picture(snapshot, other, tuple(labels.items()), tuple(of_other.items()))
    return CardContent(message(sentence), picture, table, (path, other_path))


@lru_cache(maxsize=4)
def _flow_picture(
    snapshot: SnapshotKey, other: SnapshotKey, labels: tuple, of_other: tuple
) -> Picture:
    """Return the picture of two matched runs, with the labels of the topics of both."""
    (pairs, flow), names = pairs_and_flow_of(snapshot, other), (snapshot.path.name, other.path.name)
    runs = (
        with_labels(counts_of(snapshot), dict(labels)),
        with_labels(counts_of(other), dict(of_other)),
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
    own_words, other_words = (
        dict(
            zip(
                each["topic"].values.tolist(),
                top_words(each, 2 * FEW)["word"].values.tolist(),
                strict=True,
            )
        )
        for each in (run, other)
    )
    rows, partner, distances = [], pairs["matched"].to_series(), pairs["distance"].to_series()
    for topic in topics_by_size(run):
        partner_topic, shared_part = int(partner[topic]), np.nan
        if partner_topic != NONE and flow is not None:
            row = flow.sel(topic=topic)
            shared_part = float(row.sel(other=partner_topic) / max(float(row.sum()), 1e-12))
        words = other_words.get(partner_topic, [])
        rows.append(
            (
                topic,
                labels.get(topic, ""),
                partner_topic if partner_topic != NONE else None,
                float(distances[topic]),
                shared_part,
                " ".join(word for word in own_words[topic] if word in words),
                " ".join(word for word in words if word not in own_words[topic]),
            )
        )
    return rows
