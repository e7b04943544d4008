"""Search in the vocabulary: each word found, with its tokens and the topics that use it."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.background import SEARCHES
from workbench.dashboard.shared.drawn import code, style
from workbench.dashboard.shared.snapshots import Moment, counts_of, topic_colour
from workbench.dashboard.topics.filled import Filled
from workbench.measures import topic_sizes, used_topics
from workbench.measures.topics import word_tokens

MOST_WORDS, MOST_TOPICS, LEAST = 40, 6, 0.01
"""Maximum numbers of words listed and of topics shown of a word, and the minimum share of a shown topic."""


class Words(Filled):
    """The words found; a click on a topic chooses it."""

    content = param.Dict(default={}, doc="words (of `word_found`) and caption; empty for none.")

    _esm = code("boxed", "words")
    _stylesheets = style("boxed", "words")

    def __init__(self):
        super().__init__(SEARCHES)

    def show(self, moment: Moment, labels: dict[int, str], query: str) -> None:
        """Show the words of a run that contain a text."""
        self.fill(words_found, moment, labels, query.strip(), waiting="Looking for words …")


class Vocabulary(NamedTuple):
    """The words of a run, and its non-empty topics."""

    run: xr.Dataset
    shares: np.ndarray  # (topic,) p(k)
    folded: list[str]  # (word,) words in lower case
    tokens: np.ndarray  # (word,) training tokens


@lru_cache(maxsize=4)
def _vocabulary(moment: Moment) -> Vocabulary | None:
    """Return the vocabulary of a run; None before the first snapshot."""
    counts = counts_of(moment)
    if counts is None:
        return None
    run = used_topics(counts)
    folded = [str(word).casefold() for word in run["word"].values]
    return Vocabulary(run, topic_sizes(run)["share"].values, folded, word_tokens(run))


def words_found(moment: Moment, labels: dict[int, str], query: str) -> dict:
    """Return the words that contain a text in any case: first the text itself, then words that begin with it, then others.

    Within each group the most frequent come first.
    """
    known = _vocabulary(moment) if query else None
    if known is None:
        return {"content": {}, "said": ""}
    wanted = query.casefold()
    found = np.array([at for at, word in enumerate(known.folded) if wanted in word], int)
    near = [2 - (known.folded[at] == wanted) - known.folded[at].startswith(wanted) for at in found]
    some = found[np.lexsort((-known.tokens[found], near))][:MOST_WORDS]
    spread = known.run["phi"].values[:, some] * known.shares[:, None]
    spread /= np.maximum(spread.sum(axis=0), 1e-300)
    words = [
        word_found(known, at, own, labels) for at, own in zip(some.tolist(), spread.T, strict=True)
    ]
    several = (
        f"{len(found):,} of {len(known.folded):,} words contain"
        if len(found) != 1
        else "One word contains"
    )
    listed = f"; {MOST_WORDS} are shown" if len(found) > MOST_WORDS else ""
    said = (
        f"{several} “{query}”{listed}."
        if words
        else f"No word of {moment.path.name} contains “{query}”."
    )
    return {
        "content": {"words": words, "caption": f"words that contain {query}"} if words else {},
        "said": said,
    }


def word_found(known: Vocabulary, at: int, spread: np.ndarray, labels: dict[int, str]) -> dict:
    """Return a word, its training tokens, and p(topic | word) of its likeliest topics, largest first."""
    numbers = known.run["topic"].values
    order = [
        topic
        for topic in np.argsort(-spread, kind="stable")[:MOST_TOPICS]
        if spread[topic] >= LEAST
    ]
    return {
        "word": str(known.run["word"].values[at]),
        "tokens": int(known.tokens[at]),
        "topics": [
            {
                "topic": int(numbers[topic]),
                "share": float(spread[topic]),
                "label": labels.get(int(numbers[topic]), ""),
                "colour": topic_colour(int(numbers[topic])),
            }
            for topic in order
        ],
    }
