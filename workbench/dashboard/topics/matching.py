"""Which topics of another run are the same: the best assignment, and the tokens that flow from one to the other."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import ClassVar, NamedTuple

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.latest_task import Latest
from workbench.dashboard.shared.snapshots import Moment, counts_of, documents_of, labels_now, topic_colour
from workbench.dashboard.topics.sheet import Sheet, number, sheet_row
from workbench.measures import match_topics, top_words, topic_flow, topic_sizes, topics_by_size
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus

LEAST = 0.005
"""Of the tokens of a topic: what two topics share from which it has a ribbon."""
FEW = 5
NONE = -1
CHOOSE = "Choose another run, and its topics are matched with those above."
UNMATCHED = "#8a919b"
COLUMNS = [
    ("Topic", "of the run above"), ("Label", "what people call it"), ("Matched", "the same topic in the other run"),
    ("Distance", "of Jensen and Shannon between their words: 0 the same, 1 no word in common"),
    ("Shared", "share of the topic's tokens that the matched one has too"),
    ("Words of both", "top words that both have"), ("Words of the matched one alone", "further top words of the matched topic"),
]


class Matched(NamedTuple):
    """Two runs matched at their last snapshots."""

    pairs: xr.Dataset           # see `match_topics`
    flow: xr.DataArray | None   # see `topic_flow`; None where they were trained on different tokens


class Flow(Drawn):
    """The picture."""

    content = param.Dict(default={}, doc="What `matching_content` makes of the picture; empty for none.")
    chosen = param.Integer(default=NONE)
    said = param.String()

    _esm = code("flow")
    _stylesheets: ClassVar[list[str]] = style("flow")


@lru_cache(maxsize=4)
def matched_of(moment: Moment, other: Moment) -> Matched | None:
    """Two runs matched; None where one has no snapshot yet."""
    a, b = counts_of(moment), counts_of(other)
    if a is None or b is None:
        return None
    pairs, train = match_topics(a, b), Run(moment.path).spec.train
    if Run(other.path).spec.train != train:
        return Matched(pairs, None)
    return Matched(pairs, topic_flow(documents_of(moment), documents_of(other), get_corpus(moment.path.parent, train)))


class Matching:
    """Picture and table of the topics of two runs."""

    def __init__(self):
        self.flow, self._latest = Flow(), Latest()
        self.sheet = Sheet(columns=[list(column) for column in COLUMNS], texts=[1, 5, 6])

    def show(self, moment: Moment, other: Moment | None, labels: dict[int, str]) -> None:
        """Brings both to two runs; to nothing but what to do where there is no other."""
        if other is None:
            self.clear(CHOOSE)
            return

        def then(result, error) -> None:
            if error is not None:
                self._empty(sentence_of(error))
                return
            said, picture, table = result
            self.flow.param.update(said=said, content=picture)
            self.sheet.content = table

        def first() -> None:
            if self.flow.content.get("names") != [moment.path.name, other.path.name]:
                self.flow.said = f"Matching with {other.path.name} …"

        asked = moment, other, tuple(labels.items())
        self._latest.ask(asked, partial(matching_content, moment, other, labels), then, first)

    def clear(self, said: str = "") -> None:
        """Nothing is shown but, perhaps, a sentence."""
        self._latest.forget()
        self._empty(said)

    def _empty(self, said: str) -> None:
        self.flow.param.update(content={}, said=said)
        self.sheet.content = {}


def matching_content(moment: Moment, other: Moment, labels: dict[int, str]) -> tuple[str, dict, dict]:
    """A sentence, and what picture and table show."""
    found = matched_of(moment, other)
    if found is None:
        waits = moment if counts_of(moment) is None else other
        return f"{waits.path.name} has no snapshot of its topics yet.", {}, {}
    a, b = counts_of(moment), counts_of(other)
    pairs = zip(found.pairs["topic"].values.tolist(), found.pairs["matched"].values.tolist(), strict=True)
    partner = {topic: matched for topic, matched in pairs if matched != NONE}
    back = {matched: topic for topic, matched in partner.items()}
    first, names = topics_by_size(a), [moment.path.name, other.path.name]
    second = [partner[topic] for topic in first if topic in partner]
    second += [topic for topic in topics_by_size(b) if topic not in back]
    distances = found.pairs["distance"].values
    said = (
        f"{len(partner)} topics of {names[0]} matched with those of {names[1]}, mean distance {np.nanmean(distances):.2f}. "
        "Topics on the right have the colours of those that they match, whose numbers stand behind “=”; grey ones match none."
    )
    table = {"rows": _rows(found, a, b, first, labels), "caption": f"topics of {names[0]} and of {names[1]}"}
    if found.flow is None:
        return f"{said} They were trained on different tokens, so no flow of tokens is drawn.", {}, table
    picture = {
        "names": names, "left": _nodes(a, first, labels, {topic: topic for topic in first}, ""),
        "right": _nodes(b, second, labels_now(other)[0], back, " = "), "ribbons": _ribbons(found.flow, first, second),
        "caption": f"tokens that topics of {names[0]} share with those of {names[1]}; the table below holds the same",
    }
    return said, picture, table


def _nodes(run: xr.Dataset, topics: list[int], labels: dict[int, str], own: dict[int, int], sign: str) -> list[dict]:
    """The topics of one side; ``own``: the topic of the first run whose colour each has, its number behind the sign."""
    sizes, words = topic_sizes(run), top_words(run, FEW)["word"]
    nodes = []
    for topic in topics:
        few, share = " ".join(map(str, words.sel(topic=topic).values)), sizes.sel(topic=topic)
        numbered = f"{topic}{sign}{own[topic]}" if sign and topic in own else str(topic)
        nodes.append({
            "topic": topic, "name": f"{numbered} · {labels.get(topic) or few}", "tokens": float(share["n_k"]),
            "colour": topic_colour(own[topic]) if topic in own else UNMATCHED,
            "told": f"topic {topic}, {100 * float(share['share']):.1f} %: {few}",
        })
    return nodes


def _ribbons(flow: xr.DataArray, first: list[int], second: list[int]) -> list[list]:
    """From above to below on both sides, without those too thin to be seen."""
    shared = flow.sel(topic=first, other=second).values
    seen = shared >= LEAST * np.maximum(shared.sum(axis=1, keepdims=True), 1e-12)
    return [[first[at], second[to], round(float(shared[at, to]), 2)] for at, to in np.argwhere(seen).tolist()]


def _rows(found: Matched, a: xr.Dataset, b: xr.Dataset, first: list[int], labels: dict[int, str]) -> list[dict]:
    words_a, words_b = top_words(a, 2 * FEW)["word"], top_words(b, 2 * FEW)["word"]
    rows = []
    for topic in first:
        pair = found.pairs.sel(topic=topic)
        other, distance, shared = int(pair["matched"]), float(pair["distance"]), np.nan
        mine, theirs = words_a.sel(topic=topic).values.tolist(), []
        if other != NONE:
            theirs = words_b.sel(topic=other).values.tolist()
            if found.flow is not None:
                row = found.flow.sel(topic=topic)
                shared = float(row.sel(other=other) / max(float(row.sum()), 1e-12))
        both, alone = [word for word in mine if word in theirs], [word for word in theirs if word not in mine]
        label, there = labels.get(topic, ""), other != NONE
        rows.append(sheet_row(
            topic,
            [
                (topic, str(topic)), (label, label), (float(other) if there else np.nan, str(other) if there else "none"),
                number(distance), (shared, "–" if np.isnan(shared) else f"{100 * shared:.0f} %"),
                (" ".join(both), " ".join(both)), (" ".join(alone), " ".join(alone)),
            ],
            topic_colour(topic),
        ))
    return rows
