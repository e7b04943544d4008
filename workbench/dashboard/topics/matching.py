"""Matching the topics of two runs: the best assignment, and the tokens that they share."""

from functools import lru_cache

import numpy as np
import xarray as xr

from workbench.dashboard.shared.card import Shown
from workbench.dashboard.shared.shell import message
from workbench.dashboard.shared.snapshots import (
    Moment,
    counts_of,
    labelled,
    labels_now,
    of_documents,
)
from workbench.dashboard.topics.cells import topic_table
from workbench.measures import match_topics, top_words, topic_flow, topics_by_size
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus
from workbench.tables import Column, numbers
from workbench.views import Picture
from workbench.views.elements import topic_colour
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
def matched_of(moment: Moment, other: Moment) -> tuple[xr.Dataset | None, xr.DataArray | None]:
    """Return `match_topics` and `topic_flow` of two runs, or None for a result that cannot be computed.

    Both results need snapshots of both runs; the flow also needs the same training tokens.
    """
    a, b = counts_of(moment), counts_of(other)
    if a is None or b is None:
        return None, None
    pairs, train = match_topics(a, b), Run(moment.path).spec.train
    if Run(other.path).spec.train != train:
        return pairs, None
    corpus = get_corpus(moment.path.parent, train)
    return pairs, of_documents(lambda one, two: topic_flow(one, two, corpus), moment, other)


def matching_of(moment: Moment, other: Moment | None, labels: dict[int, str], sort: str) -> Shown:
    """Return the picture of two matched runs, a sentence, and the table; a hint if ``other`` is None."""
    if other is None:
        return Shown(message(CHOOSE))
    pairs, flow = matched_of(moment, other)
    if pairs is None:
        waits = moment if counts_of(moment) is None else other
        return Shown(message(f"{waits.path.name} has no snapshot of its topics yet."))
    paths = moment.path, other.path
    names = moment.path.name, other.path.name
    all_labels = labels, labels_now(other)[0]
    runs = labelled(counts_of(moment), labels), labelled(counts_of(other), all_labels[1])
    partner = {
        topic: matched for topic, matched in pairs["matched"].to_series().items() if matched != NONE
    }
    rows = _rows(pairs, flow, runs, topics_by_size(runs[0]), partner, labels)
    caption = f"topics of {names[0]} and of {names[1]}"
    table = topic_table(COLUMNS, rows, sort, caption, labels)
    said = (
        f"{len(partner)} topics of {names[0]} matched with those of {names[1]}, mean distance "
        f"{np.nanmean(pairs['distance'].values):.2f}."
    )
    if flow is None:
        lost = "They were trained on different tokens, so no flow of tokens is drawn."
        return Shown(message(f"{said} {lost}"), table=table, paths=paths)
    return Shown(
        message(said),
        _flow_drawn(moment, other, *(tuple(each.items()) for each in all_labels)),
        table,
        paths,
    )


@lru_cache(maxsize=4)
def _flow_drawn(moment: Moment, other: Moment, labels: tuple, of_other: tuple) -> Picture:
    """Return the picture of two matched runs, with the labels of the topics of both."""
    (pairs, flow), names = matched_of(moment, other), (moment.path.name, other.path.name)
    runs = (
        labelled(counts_of(moment), dict(labels)),
        labelled(counts_of(other), dict(of_other)),
    )
    name = f"{'-with-'.join(names)}-matching"
    return flow_picture(name, names, runs, flow, pairs, topic_colour, 1)


def _rows(
    pairs, flow, runs, topics: list[int], partner: dict[int, int], labels: dict[int, str]
) -> list[tuple]:
    mine, theirs = (
        dict(
            zip(
                run["topic"].values.tolist(),
                top_words(run, 2 * FEW)["word"].values.tolist(),
                strict=True,
            )
        )
        for run in runs
    )
    rows, distances = [], pairs["distance"].to_series()
    for topic in topics:
        other, shared = partner.get(topic), np.nan
        if other is not None and flow is not None:
            row = flow.sel(topic=topic)
            shared = float(row.sel(other=other) / max(float(row.sum()), 1e-12))
        rows.append(
            (
                topic,
                labels.get(topic, ""),
                other,
                float(distances[topic]),
                shared,
                " ".join(word for word in mine[topic] if word in theirs.get(other, [])),
                " ".join(word for word in theirs.get(other, []) if word not in mine[topic]),
            )
        )
    return rows
