"""The words of a document, each with its likeliest topic and that topic's colour: as text, or by count."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import xarray as xr

from workbench.measures.documents import counted_words
from workbench.views.elements import topic_colour

MOST_TYPES = 400
"""Maximum number of different words of a document."""


def segments_of_text(
    raw: str,
    tokens: xr.Dataset,
    counting: Mapping[str, object] = MappingProxyType({}),
) -> list[dict] | None:
    """Return the segments of a text: counted words with their likeliest topics, and the text between them without a topic.

    ``counting``: how the words of the text were found, see `workbench.corpus.document_table.DocumentTable`. None if a pattern
    of words that the user chose takes too long on this text.
    """
    raw, spans = counted_words(raw, counting)
    if spans is None:
        return None
    topics = dict(zip(tokens["word"].values, tokens["likely"].values.tolist(), strict=True))
    segments, end = [], 0
    for start, stop, word in spans:
        if word in topics:
            segments += [
                {"word": raw[end:start], "topic": None},
                segment_of(raw[start:stop], 1, topics[word]),
            ]
            end = stop
    return [
        segment for segment in (*segments, {"word": raw[end:], "topic": None}) if segment["word"]
    ]


def segments_of_words(tokens: xr.Dataset) -> list[dict]:
    """Return the words of a document with the topics from `token_topics`, the most frequent first."""
    counts, likely = tokens["n_tokens"].values, tokens["likely"].values
    best, words = tokens["probability"].max("topic").values, tokens["word"].values
    return [
        segment_of(
            str(words[index]),
            int(counts[index]),
            int(likely[index]),
            f"{words[index]}: ",
            f", {100 * best[index]:.0f} %",
        )
        for index in np.argsort(-counts, kind="stable")[:MOST_TYPES]
    ]


def segment_of(word: str, n: int, topic: int, prefix: str = "", suffix: str = "") -> dict:
    """Return a word with count, topic (-1 if the run does not know the word), colour and hover text."""
    is_known = topic >= 0
    hover_text = f"{prefix}topic {topic}{suffix}" if is_known else f"{prefix}unknown to the run"
    return {
        "word": word,
        "n": n,
        "topic": topic,
        "colour": topic_colour(topic) if is_known else "",
        "told": hover_text,
    }
