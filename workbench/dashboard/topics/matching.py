"""Which topics of another run are the same: the best assignment, and the tokens that flow from one to the other."""

from functools import lru_cache

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.drawn import code, style
from workbench.dashboard.shared.snapshots import (
    Moment,
    counts_of,
    labels_now,
    of_documents,
    topic_colour,
)
from workbench.dashboard.topics.filled import NONE, Filled
from workbench.dashboard.topics.sheet import Sheet, number_cell, sheet_row
from workbench.measures import match_topics, top_words, topic_flow, topic_sizes, topics_by_size
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus

LEAST = 0.005
"""Of the tokens of a topic: what two topics share from which it has a ribbon."""
FEW = 5
CHOOSE = "Choose another run, and its topics are matched with those above."
UNMATCHED = "#8a919b"
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
    """What `match_topics` and `topic_flow` find of two runs; no pairs before both have a snapshot, no flow of other tokens."""
    a, b = counts_of(moment), counts_of(other)
    if a is None or b is None:
        return None, None
    pairs, train = match_topics(a, b), Run(moment.path).spec.train
    if Run(other.path).spec.train != train:
        return pairs, None
    corpus = get_corpus(moment.path.parent, train)
    return pairs, of_documents(lambda one, two: topic_flow(one, two, corpus), moment, other)


class Flow(Filled):
    """The picture of two runs, and the table below it, `sheet`."""

    content = param.Dict(
        default={}, doc="names, left, right, ribbons and caption of the picture; empty for none."
    )

    _esm = code("flow")
    _stylesheets = style("flow")

    def __init__(self):
        super().__init__()
        self.sheet = Sheet(columns=COLUMNS, texts=[1, 5, 6])

    def show(self, moment: Moment, other: Moment | None, labels: dict[int, str]) -> None:
        """Brings both to two runs; to nothing but what to do where there is no other."""
        if other is None:
            self.clear(CHOOSE)
            return
        anew = self.content.get("names") != [moment.path.name, other.path.name]
        self.fill(
            matching_content,
            moment,
            other,
            labels,
            waiting=f"Matching with {other.path.name} …",
            anew=anew,
        )

    def take(self, table: dict | None = None, **shown) -> None:
        """Shows the picture and the table."""
        super().take(**shown)
        self.sheet.content = table or {}


def matching_content(moment: Moment, other: Moment, labels: dict[int, str]) -> dict:
    """A sentence, and what picture and table show."""
    pairs, flow = matched_of(moment, other)
    if pairs is None:
        waits = moment if counts_of(moment) is None else other
        return {"content": {}, "said": f"{waits.path.name} has no snapshot of its topics yet."}
    runs, names = (counts_of(moment), counts_of(other)), [moment.path.name, other.path.name]
    partner = {
        topic: matched for topic, matched in pairs["matched"].to_series().items() if matched != NONE
    }
    back = {matched: topic for topic, matched in partner.items()}
    first, several = map(topics_by_size, runs)
    second = [partner[topic] for topic in first if topic in partner] + [
        topic for topic in several if topic not in back
    ]
    said = (
        f"{len(partner)} topics of {names[0]} matched with those of {names[1]}, mean distance "
        f"{np.nanmean(pairs['distance'].values):.2f}. Topics on the right have the colours of those that they match, "
        "whose numbers stand in brackets; grey ones match none."
    )
    table = {
        "rows": _rows(pairs, flow, runs, first, partner, labels),
        "caption": f"topics of {names[0]} and of {names[1]}",
    }
    if flow is None:
        said += " They were trained on different tokens, so no flow of tokens is drawn."
        return {"content": {}, "said": said, "table": table}
    shared = flow.sel(topic=first, other=second).values
    seen = np.argwhere(
        shared >= LEAST * np.maximum(shared.sum(axis=1, keepdims=True), 1e-12)
    ).tolist()
    return {
        "said": said,
        "table": table,
        "content": {
            "names": names,
            "left": _nodes(runs[0], first, labels, {topic: topic for topic in first}, ""),
            "right": _nodes(runs[1], second, labels_now(other)[0], back, " (matches {})"),
            "ribbons": [
                [first[at], second[to], round(float(shared[at, to]), 2)] for at, to in seen
            ],
            "caption": f"tokens that topics of {names[0]} share with those of {names[1]}; the table below holds the same",
        },
    }


def _nodes(
    run: xr.Dataset, topics: list[int], labels: dict[int, str], own: dict[int, int], sign: str
) -> list[dict]:
    """The topics of one side; ``own``: the topic of the first run whose colour each has, which stands in the ``sign``."""
    sizes = topic_sizes(run).sel(topic=topics)
    words = map(" ".join, top_words(run, FEW)["word"].sel(topic=topics).values.astype(str))
    return [
        {
            "topic": topic,
            "tokens": n_k,
            "colour": topic_colour(own[topic]) if topic in own else UNMATCHED,
            "name": f"Topic {topic}{sign.format(own[topic]) if topic in own else ''} · {labels.get(topic) or few}",
            "told": f"topic {topic}, {100 * share:.1f} %: {few}",
        }
        for topic, n_k, share, few in zip(
            topics, sizes["n_k"].values.tolist(), sizes["share"].values, words, strict=True
        )
    ]


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
