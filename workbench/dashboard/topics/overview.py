"""The map of the topics, the list of topics, and the words of the chosen topic."""

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.drawn import code, style
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.snapshots import Moment, counts_of, labels_now, topic_colour
from workbench.dashboard.topics.filled import NONE, Filled
from workbench.measures import (
    salient_words,
    top_words,
    topic_map,
    topic_sizes,
    topics_by_size,
    used_topics,
)
from workbench.runs.execution.run import Run
from workbench.runs.store.notes import label_topic

FEW = 6
"""Number of words of a topic in the list."""
MAPS: dict[tuple[Path, str], xr.Dataset] = {}
"""Path and hash of a run → its last map, with which its next map is aligned, for all visitors."""
MOST_MAPS = 64


class Overview(Filled):
    """The map and the list, in which a topic is chosen, and the words of the chosen topic.

    ``on_news(trouble)`` is called when the topics have changed, with the error about the run or its labels, or "".
    ``on_gone(topic)`` is called if the chosen topic does not exist.
    """

    run = param.String(doc="Name of the run.")
    topics = param.List(doc="What `topic_entries` makes of each topic, largest first.")
    words = param.Dict(default={}, doc="What `word_entries` makes of the words that are shown.")
    wrong = param.String(doc="What is wrong with a label.")
    fixed = param.Boolean(default=False, doc="May labels not be changed?")

    _esm = code("boxed", "overview")
    _stylesheets = style("boxed", "overview")
    _filled = ("topics",)

    def __init__(self, on_news: Callable[[str], None], on_gone: Callable[[int], None]):
        super().__init__(fixed=policy().read_only)
        self._on_news, self._on_gone, self._moment = on_news, on_gone, None
        self._ranking, self._labelling = LatestTask(), LatestTask()

    def show(self, moment: Moment, written: int, n_words: int, relevance: float) -> None:
        """Show map, list and words of a run, unless all arguments are as before; ``written``: when its notes last changed."""
        self._moment, asked = moment, (moment, self.chosen, n_words, relevance)

        def ranked(result, error) -> None:
            self.words = {} if error is not None else result
            if result and result["of"] != self.chosen:
                self._on_gone(self.chosen)

        self.fill(_topics_now, moment, written)
        self._ranking.submit(asked, partial(word_entries, *asked), ranked)

    def take(self, trouble: str = "", **shown) -> None:
        """Show the topics, and call ``on_news``."""
        super().take(**shown)
        self._on_news(trouble if self.topics else self.said)

    def clear(self, said: str = "") -> None:
        """Remove everything, and show a sentence if one is given."""
        self._moment, self.words = None, {}
        self._ranking.reset()
        super().clear(said)

    def _handle_msg(self, said) -> None:
        """Store a label that the visitor has typed."""
        given, moment = said if isinstance(said, dict) else {}, self._moment
        topic, label = given.get("topic"), given.get("label")
        if (
            policy().read_only
            or moment is None
            or not isinstance(topic, int)
            or not isinstance(label, str)
        ):
            return

        def then(result, error) -> None:
            self.wrong = "" if error is None else sentence_of(error)
            self._latest.reset()

        self._labelling.reset()
        self._labelling.submit(
            said, lambda: label_topic(moment.path, counts_of(moment), topic, label), then
        )


@lru_cache(maxsize=4)
def map_of(moment: Moment) -> xr.Dataset:
    """Return the map of topics, aligned with the last map of the same run."""
    run = moment.path, moment.hash
    made = topic_map(counts_of(moment), MAPS.get(run))
    MAPS.pop(run, None)
    MAPS[run] = made
    while len(MAPS) > MOST_MAPS:
        MAPS.pop(next(iter(MAPS)))
    return made


@lru_cache(maxsize=4)
def _ranked(moment: Moment, n: int, relevance: float) -> xr.Dataset:
    return top_words(used_topics(counts_of(moment)), n, relevance)


@lru_cache(maxsize=4)
def _given(moment: Moment) -> tuple[xr.Dataset, np.ndarray, np.ndarray]:
    """Return the run without empty topics, p(k) (topic,) and p(w) (word,)."""
    run = used_topics(counts_of(moment))
    tokens = run["n_kw"].isel(snapshot=-1).sum("topic", skipna=False).values
    return run, topic_sizes(run)["share"].values, tokens / max(tokens.sum(), 1e-300)


def topic_entries(moment: Moment, labels: dict[int, str]) -> list[dict]:
    """Return the entries of the list and the map, one for each topic, largest topic first."""
    run = counts_of(moment)
    order = topics_by_size(run)
    nodes = (
        run["node"].sel(topic=order).values.tolist() if "node" in run.coords else [""] * len(order)
    )
    words = _ranked(moment, FEW, 1.0)["word"].sel(topic=order).values.astype(str).tolist()
    places = (
        map_of(moment)[["share", "n_k", "x", "y"]]
        .sel(topic=order)
        .to_dataframe()[["share", "n_k", "x", "y"]]
    )
    return [
        {
            "topic": topic,
            "node": node,
            "label": labels.get(topic, ""),
            "colour": topic_colour(topic),
            "share": share,
            "n_k": n_k,
            "x": round(x, 5),
            "y": round(y, 5),
            "words": few,
        }
        for (topic, share, n_k, x, y), node, few in zip(
            places.itertuples(), nodes, words, strict=True
        )
    ]


def named(told: dict) -> str:
    """Return the name of a topic of `topic_entries` besides its number: its node in a network, and its label."""
    return " · ".join(name for name in (told["node"], told["label"]) if name)


@lru_cache(maxsize=32)
def word_entries(moment: Moment, topic: int, n: int, relevance: float) -> dict:
    """Return the words of a topic with their bars, or the salient words of the corpus for NONE; ``spread`` is in list order."""
    if counts_of(moment) is None:
        return {}
    run, of_topics, of_words = _given(moment)
    if topic == NONE or topic not in run["topic"].values:
        found, topic = salient_words(run, n), NONE
    else:
        found = _ranked(moment, n, relevance).sel(topic=topic)
    place = {word: at for at, word in enumerate(run["word"].values)}
    at = [place[word] for word in found["word"].values]
    spread = run["phi"].values[:, at] * of_topics[:, None]
    spread /= spread.sum(axis=0)
    order = run.get_index("topic").get_indexer(topics_by_size(counts_of(moment)))
    columns = (
        found["word"].values,
        found["saliency" if topic == NONE else "phi"].values,
        of_words[at],
        spread[order].T.round(4),
    )
    rows = []
    for word, bar, share, own in zip(*(column.tolist() for column in columns), strict=True):
        first, second = f"{100 * bar:.2f} %", f"×{bar / share:.2g}" if share else "–"
        if topic == NONE:
            first, second = f"{bar:.4f}", f"{100 * share:.2f} %"
        rows.append(
            {
                "word": word,
                "bar": bar,
                "share": share,
                "first": first,
                "second": second,
                "spread": own,
            }
        )
    return {"of": topic, "rows": rows}


@lru_cache(maxsize=4)
def _topics_now(moment: Moment, written: int) -> dict:
    """Return the topics, a sentence about the map or why there are none, and the error about their labels if any.

    written : time of the last change of the notes; only a key of the cache.
    """
    shown = {"run": moment.path.name, "topics": []}
    if counts_of(moment) is None:
        missing = (
            "snapshot of its topics yet; they appear with the first"
            if "n_k" in Run(moment.path).progress()
            else "topics"
        )
        return shown | {"said": f"{moment.path.name} has no {missing}."}
    labels, trouble = labels_now(moment)
    return shown | {
        "topics": topic_entries(moment, labels),
        "trouble": trouble[:1].upper() + trouble[1:],
        "said": (
            "Topics whose words are alike lie near each other; areas are shares of the tokens. "
            f"The plane shows {100 * map_of(moment).attrs['shown']:.0f} % of the variation of their distances."
        ),
    }
