"""The map of the topics, their list, and the words of the one that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.latest_task import Latest
from workbench.dashboard.shared.snapshots import Moment, counts_of, labels_now, topic_colour
from workbench.measures import salient_words, top_words, topic_map, topic_sizes, topics_by_size, used_topics
from workbench.runs.execution.run import Run
from workbench.runs.store.notes import label_topic

NONE = -1
"""Stands for no topic."""
FEW = 6
"""Words of a topic in the list."""
MAPS: dict[str, tuple[Moment, xr.Dataset]] = {}
"""Path of a run → its last map, on which the next one is laid, for all visitors."""
MOST_MAPS = 64


class Overview(Drawn):
    """What the visitor points at and chooses from. `on_label(topic, text)` is called with a label that was typed in."""

    run = param.String(doc="Name of the run.")
    topics = param.List(doc="What `topic_entries` makes of each topic, largest first.")
    chosen = param.Integer(default=NONE, doc="Number of the topic that is chosen; -1: none.")
    words = param.Dict(default={}, doc="What `word_entries` makes of the words that are shown.")
    said = param.String(doc="What the map shows, in a sentence.")
    wrong = param.String(doc="What is wrong with a label.")

    _esm = code("boxed", "overview")
    _stylesheets: ClassVar[list[str]] = style("boxed", "overview")

    def __init__(self, on_label: Callable[[int, str], None] = lambda topic, text: None):
        super().__init__()
        self._on_label = on_label

    def _handle_msg(self, said) -> None:
        if isinstance(said, dict) and isinstance(said.get("label"), str) and isinstance(said.get("topic"), int):
            self._on_label(said["topic"], said["label"])


@lru_cache(maxsize=4)
def map_of(moment: Moment) -> xr.Dataset:
    """The map, laid on the last one that was made of this run."""
    key = str(moment.path)
    before = MAPS.get(key)
    like = before[1] if before is not None and before[0].hash == moment.hash else None
    made = topic_map(counts_of(moment), like)
    MAPS.pop(key, None)
    MAPS[key] = moment, made
    while len(MAPS) > MOST_MAPS:
        MAPS.pop(next(iter(MAPS)))
    return made


@lru_cache(maxsize=4)
def _ranked(moment: Moment, n: int, relevance: float) -> xr.Dataset:
    return top_words(used_topics(counts_of(moment)), n, relevance)


@lru_cache(maxsize=4)
def _given(moment: Moment) -> tuple[xr.Dataset, np.ndarray, np.ndarray]:
    """The run without empty topics, (topic,) p(k) and (word,) p(w)."""
    run = used_topics(counts_of(moment))
    tokens = run["n_kw"].isel(snapshot=-1).sum("topic").values
    return run, topic_sizes(run)["share"].values, tokens / max(tokens.sum(), 1e-300)


def topic_entries(moment: Moment, labels: dict[int, str]) -> list[dict]:
    """What list and map show of each topic, largest first."""
    places, words = map_of(moment), _ranked(moment, FEW, 1.0)["word"]
    run, told = counts_of(moment), []
    nodes = dict(zip(run["topic"].values.tolist(), run["node"].values.tolist(), strict=True)) if "node" in run.coords else {}
    for topic in topics_by_size(run):
        one = places.sel(topic=topic)
        told.append({
            "topic": topic, "node": nodes.get(topic, ""), "label": labels.get(topic, ""), "colour": topic_colour(topic),
            "share": float(one["share"]),
            "n_k": float(one["n_k"]), "x": round(float(one["x"]), 5), "y": round(float(one["y"]), 5),
            "words": [str(word) for word in words.sel(topic=topic).values],
        })
    return told


def named(told: dict) -> str:
    """What a topic of `topic_entries` is called beside its number: what it is of in a network, and what people call it."""
    return " · ".join(name for name in (told["node"], told["label"]) if name)


@lru_cache(maxsize=32)
def word_entries(moment: Moment, topic: int, n: int, relevance: float) -> dict:
    """The words of a topic with their bars; of none, the salient words of the corpus. ``spread`` is in the list's order."""
    if counts_of(moment) is None:
        return {}
    run, of_topics, of_words = _given(moment)
    if topic == NONE or topic not in run["topic"].values:
        found, topic = salient_words(run, n), NONE
        words, bars = found["word"].values, found["saliency"].values
    else:
        found = _ranked(moment, n, relevance).sel(topic=topic)
        words, bars = found["word"].values, found["phi"].values
    place = {word: at for at, word in enumerate(run["word"].values)}
    at = [place[word] for word in words]
    spread = run["phi"].values[:, at] * of_topics[:, None]
    spread /= spread.sum(axis=0)
    order = [run["topic"].values.tolist().index(other) for other in topics_by_size(counts_of(moment))]
    rows, shares, spreads = [], of_words[at].tolist(), spread[order].T.round(4).tolist()
    for word, bar, share, own in zip(words, bars.tolist(), shares, spreads, strict=True):
        lift = f"×{bar / share:.2g}" if share else "–"
        first, second = (f"{bar:.4f}", _percent(share)) if topic == NONE else (_percent(bar), lift)
        rows.append({"word": str(word), "bar": bar, "share": share, "first": first, "second": second, "spread": own})
    return {"of": topic, "rows": rows}


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


class Explorer:
    """Fills an `Overview` with what is chosen: the run, the topic, how words are ranked.

    ``on_news(topics, trouble)`` is called with what `topic_entries` returns and what is wrong with the run, if anything;
    ``on_gone(topic)`` where the topic that is chosen is not there.
    """

    def __init__(self, on_news: Callable[[list[dict], str], None], on_gone: Callable[[int], None]):
        self.view = Overview(self._label)
        self._tops, self._words, self._labels = Latest(), Latest(), Latest()
        self._on_news, self._on_gone = on_news, on_gone
        self._moment: Moment | None = None

    def show(self, moment: Moment, written: int, n_words: int, relevance: float) -> None:
        """Brings map, list and words to a run; asked again with the same it does nothing.

        written : when the notes of the run were replaced last.
        """
        self._moment, asked = moment, (moment, self.view.chosen, n_words, relevance)

        def shown(result, error) -> None:
            if error is not None:
                self.view.param.update(topics=[], words={}, said="")
                self._on_news([], sentence_of(error))
                return
            topics, said, trouble = result
            self.view.param.update(run=moment.path.name, topics=topics, said=said)
            self._on_news(topics, trouble)

        def worded(result, error) -> None:
            self.view.words = {} if error is not None else result
            if result and result["of"] != self.view.chosen:
                self._on_gone(self.view.chosen)

        self._tops.ask((moment, written), partial(_told, moment, written), shown)
        self._words.ask(asked, partial(word_entries, *asked), worded)

    def clear(self) -> None:
        """Nothing is shown."""
        self._tops.forget()
        self._words.forget()
        self._moment = None
        if self.view.topics or self.view.words:
            self.view.param.update(topics=[], words={}, said="")

    def _label(self, topic: int, text: str) -> None:
        moment = self._moment
        if moment is None:
            return

        def then(result, error) -> None:
            self.view.wrong = "" if error is None else sentence_of(error)
            self._tops.forget()

        self._labels.forget()
        self._labels.ask((topic, text), partial(_write_label, moment, topic, text), then)


def _write_label(moment: Moment, topic: int, text: str) -> None:
    label_topic(moment.path, counts_of(moment), topic, text)


@lru_cache(maxsize=4)
def _told(moment: Moment, written: int) -> tuple[list[dict], str, str]:
    """The topics, a sentence about the map, and what is wrong with their labels or why there are none.

    written : when the notes were replaced last, which only tells one state of the labels from another.
    """
    counts = counts_of(moment)
    if counts is None:
        missing = "snapshot of its topics yet; they appear with the first" if "n_k" in Run(moment.path).progress() else "topics"
        return [], "", f"{moment.path.name} has no {missing}."
    labels, trouble = labels_now(moment)
    trouble = trouble[:1].upper() + trouble[1:]
    return topic_entries(moment, labels), (
        "Topics whose words are alike lie near each other; areas are shares of the tokens. "
        f"The plane shows {100 * map_of(moment).attrs['shown']:.0f} % of the variation of their distances."
    ), trouble
