"""The words of a document, each with its likeliest topic and that topic's colour: as text, or by count."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import xarray as xr

from workbench.measures.documents import counted_words
from workbench.views.elements import topic_colour

MOST_TYPES = 400
"""Maximum number of different words of a document."""


def text_coloured(
    raw: str,
    tokens: xr.Dataset,
    counted: Mapping[str, object] = MappingProxyType({}),
) -> list[dict] | None:
    """Return the pieces of a text: counted words with their likeliest topics, and the text between them without a topic.

    ``counted``: how the words of the text were found, see `workbench.corpus.document_table.DocumentTable`. None if a pattern of
    words that the user chose takes too long on this text.
    """
    raw, found = counted_words(raw, counted)
    if found is None:
        return None
    topics = dict(zip(tokens["word"].values, tokens["likely"].values.tolist(), strict=True))
    pieces, end = [], 0
    for start, stop, known in found:
        if known in topics:
            pieces += [
                {"word": raw[end:start], "topic": None},
                piece(raw[start:stop], 1, topics[known]),
            ]
            end = stop
    return [one for one in (*pieces, {"word": raw[end:], "topic": None}) if one["word"]]


def words_coloured(tokens: xr.Dataset) -> list[dict]:
    """Return the words of a document with the topics from `token_topics`, the most frequent first."""
    counts, likely = tokens["n_tokens"].values, tokens["likely"].values
    best, words = tokens["probability"].max("topic").values, tokens["word"].values
    return [
        piece(
            str(words[at]),
            int(counts[at]),
            int(likely[at]),
            f"{words[at]}: ",
            f", {100 * best[at]:.0f} %",
        )
        for at in np.argsort(-counts, kind="stable")[:MOST_TYPES]
    ]


def piece(word: str, n: int, topic: int, before: str = "", behind: str = "") -> dict:
    """Return a word with count, topic (-1 if the run does not know the word), colour and hover text."""
    known = topic >= 0
    told = f"{before}topic {topic}{behind}" if known else f"{before}unknown to the run"
    return {
        "word": word,
        "n": n,
        "topic": topic,
        "colour": topic_colour(topic) if known else "",
        "told": told,
    }
