"""Matching the topics of two runs: the best assignment, and the tokens that they share."""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import panel as pn
import xarray as xr

from workbench.dashboard.shared.card import Card, Live, Shown
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.shell import column, message
from workbench.dashboard.shared.snapshots import (
    Moment,
    counts_of,
    labelled,
    labels_now,
    of_documents,
    topic_colour,
)
from workbench.dashboard.topics.filled import NONE
from workbench.dashboard.topics.sheet import Sheet, number_cell, sheet_row
from workbench.measures import match_topics, top_words, topic_flow, topics_by_size
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus
from workbench.views.flow import flow_picture

FEW = 5
CHOOSE = "Choose another run, and its topics are matched with those above."
COLUMNS = [
    ["Topic", "of the run above"],
    ["Label", "what people call it"],
    ["Matched", "the same topic in the other run"],
    ["Distance", "of Jensen and Shannon between their words: 0 the same, 1 no word in common"],
    ["Shared", "share of the topic's tokens that the matched one has too"],
    ["Words of both", "top words that both have"],
    ["Words of the matched one alone", "further top words of the matched topic"],
]


@lru_cache(maxsize=4)
def matched_of(moment: Moment, other: Moment) -> tuple[xr.Dataset | None, xr.DataArray | None]:
    """Return `match_topics` and `topic_flow` of two runs, None before both have snapshots; no flow if their tokens differ."""
    a, b = counts_of(moment), counts_of(other)
    if a is None or b is None:
        return None, None
    pairs, train = match_topics(a, b), Run(moment.path).spec.train
    if Run(other.path).spec.train != train:
        return pairs, None
    corpus = get_corpus(moment.path.parent, train)
    return pairs, of_documents(lambda one, two: topic_flow(one, two, corpus), moment, other)


class Flow(Card):
    """The card with the picture of two matched runs, and the table below it, `sheet`."""

    def __init__(self, handover: Handover, other: pn.widgets.Widget, csv: Callable):
        self.sheet = Sheet(columns=COLUMNS, texts=[1, 5, 6])
        super().__init__(
            "Compare topics with another run",
            handover,
            above=[column(other, kind="wb-bar")],
            below=[self.sheet],
            kind="matching",
            csv=csv,
        )

    def follow(self, moment: Moment, other: Moment | None, labels: dict[int, str]) -> None:
        """Show picture and table of two runs; a hint if ``other`` is None."""
        if other is None:
            self.clear(CHOOSE)
            return
        if (moment.path, other.path) != self.shown.paths:
            self.draw(None)
        asked = moment, other, labels
        self.bring(asked, partial(matching_of, *asked), f"Matching with {other.path.name} …")

    def show(self, found: Live | None, error: Exception | None = None) -> None:
        """Show the picture and the table."""
        super().show(found, error)
        self.sheet.content = self.shown.beside or {}


def matching_of(moment: Moment, other: Moment, labels: dict[int, str]) -> Shown:
    """Return the picture, a sentence, and the content of the table."""
    pairs, flow = matched_of(moment, other)
    if pairs is None:
        waits = moment if counts_of(moment) is None else other
        return Shown(message(f"{waits.path.name} has no snapshot of its topics yet."))
    paths = moment.path, other.path
    names = moment.path.name, other.path.name
    runs = labelled(counts_of(moment), labels), labelled(counts_of(other), labels_now(other)[0])
    partner = {
        topic: matched for topic, matched in pairs["matched"].to_series().items() if matched != NONE
    }
    table = {
        "rows": _rows(pairs, flow, runs, topics_by_size(runs[0]), partner, labels),
        "caption": f"topics of {names[0]} and of {names[1]}",
    }
    said = (
        f"{len(partner)} topics of {names[0]} matched with those of {names[1]}, mean distance "
        f"{np.nanmean(pairs['distance'].values):.2f}."
    )
    if flow is None:
        lost = "They were trained on different tokens, so no flow of tokens is drawn."
        return Shown(message(f"{said} {lost}"), paths=paths, beside=table)
    name = f"{'-with-'.join(names)}-matching"
    picture = flow_picture(name, names, runs, flow, pairs, topic_colour, 1)
    return Shown(message(said), picture, paths=paths, beside=table)


def _rows(
    pairs, flow, runs, topics: list[int], partner: dict[int, int], labels: dict[int, str]
) -> list[dict]:
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
            sheet_row(
                topic,
                labels.get(topic, ""),
                (other, "none" if other is None else str(other)),
                number_cell(float(distances[topic])),
                (shared, "–" if np.isnan(shared) else f"{100 * shared:.0f} %"),
                " ".join(word for word in mine[topic] if word in theirs.get(other, [])),
                " ".join(word for word in theirs.get(other, []) if word not in mine[topic]),
            )
        )
    return rows
