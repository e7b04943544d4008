"""A list of documents, and one of them: its words in the colours of their topics, and its topics as bars."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.snapshots import topic_colour

NONE = -1
LEAST = 0.01
"""Share from which a topic of a document has a bar."""
MOST_TYPES = 400
"""Different words of a document that are shown."""


class Shelf(Drawn):
    """The list and the document. ``on_topic`` is called with a topic whose bar is clicked."""

    headings = param.List(doc="(title, hint) of the three columns.")
    content = param.Dict(default={}, doc="documents and caption; empty for none.")
    chosen = param.Integer(default=NONE, doc="The document that was clicked; -1: none.")
    shown = param.Dict(default={}, doc="document, title, note, words, topics, the chosen topic; raw where words are a text.")
    said = param.String()

    _esm = code("boxed", "shelf")
    _stylesheets: ClassVar[list[str]] = style("boxed", "shelf")

    def __init__(self, headings: list, on_topic=lambda topic: None):
        super().__init__(headings=[list(heading) for heading in headings])
        self._on_topic = on_topic

    def _handle_msg(self, said) -> None:
        if isinstance(said, dict) and isinstance(said.get("topic"), int):
            self._on_topic(said["topic"])


def words_coloured(tokens: xr.Dataset) -> list[dict]:
    """What `token_topics` finds, the most frequent words first."""
    counts, likely = tokens["n_tokens"].values, tokens["likely"].values
    best, told = tokens["probability"].max("topic").values, []
    for at in np.argsort(-counts, kind="stable")[:MOST_TYPES]:
        topic, word = int(likely[at]), str(tokens["word"].values[at])
        told.append({
            "word": word, "n": int(counts[at]), "topic": topic, "colour": topic_colour(topic) if topic >= 0 else "",
            "told": f"{word}: topic {topic}, {100 * best[at]:.0f} %" if topic >= 0 else f"{word}: unknown to the run",
        })
    return told


def topics_of(topics: np.ndarray, theta: np.ndarray, labels: dict[int, str]) -> list[dict]:
    """The topics of a document that are large enough to be seen, the largest first; one at least."""
    order = np.argsort(-theta, kind="stable")
    kept = [at for at in order if theta[at] >= LEAST] or order[:1].tolist()
    return [
        {"topic": int(topics[at]), "share": float(theta[at]), "label": labels.get(int(topics[at]), ""),
         "colour": topic_colour(int(topics[at]))}
        for at in kept
    ]
