"""Documents under topics: a list of them, and of one its words in the colours of their topics and its topics as bars."""

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.drawn import code, style
from workbench.dashboard.shared.snapshots import Moment, documents_of, topic_colour
from workbench.dashboard.topics.filled import NONE, Filled
from workbench.measures import representative_documents, token_topics
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus

LEAST = 0.01
"""Share from which a topic of a document has a bar."""
MOST_TYPES = 400
"""Different words of a document that are shown."""
N_DOCUMENTS = 12
CHOOSE = "Choose a topic on the map or in the list: the documents that show it best appear here."
RANKED = "Ranked by how surely the topic's share is large: short documents do not win by chance."


class Shelf(Filled):
    """The list and the document. ``on_topic`` is called with a topic whose bar is clicked."""

    headings = param.List(doc="(title, hint) of the three columns.")
    content = param.Dict(default={}, doc="documents and caption; empty for none.")
    shown = param.Dict(default={}, doc="document, title, note, words, topics, the chosen topic; raw where words are a text.")

    _esm = code("boxed", "shelf")
    _stylesheets = style("boxed", "shelf")
    _filled = ("content", "shown")

    def __init__(self, on_topic, *headings: tuple[str, str]):
        super().__init__(headings=[["Document", ""], *map(list, headings)])
        self._on_topic = on_topic

    def _handle_msg(self, said) -> None:
        if isinstance(said, dict) and isinstance(said.get("topic"), int):
            self._on_topic(said["topic"])


class Documents(Shelf):
    """The documents that show a topic best; ``on_gone(document)`` is called where the chosen one is not there."""

    def __init__(self, on_topic, on_gone):
        super().__init__(
            on_topic, ("Share", "the topic's share of the document"), ("Tokens", "training tokens of the document")
        )
        self._on_gone = on_gone

    def show(self, moment: Moment, topic: int, labels: dict[int, str]) -> None:
        """Brings the card to a topic of a run, and to the document that is chosen."""
        self.fill(_documents_now, moment, topic, self.chosen, labels, waiting="Ranking the documents …")

    def take(self, gone: int = NONE, **shown) -> None:
        """Shows the documents."""
        super().take(**shown)
        if gone != NONE:
            self._on_gone(gone)


def _documents_now(moment: Moment, topic: int, document: int, labels: dict[int, str]) -> dict:
    run = documents_of(moment)
    if run is None:
        return {"content": {}, "shown": {}, "said": ""}
    documents = []
    if topic in run["topic"].values:
        found = representative_documents(run, topic, N_DOCUMENTS).rename(theta="share", n_tokens="tokens").to_pandas()
        documents = found[["document", "title", "share", "tokens"]].to_dict("records")
    gone = document if document >= run.sizes["document"] else NONE
    if document == NONE or gone != NONE:
        document = documents[0]["document"] if documents else NONE
    said = RANKED if documents else f"No document has a token of topic {topic}."
    if topic == NONE:
        said = CHOOSE if document == NONE else ""
    return {
        "content": {"documents": documents, "caption": f"documents of topic {topic}"} if documents else {}, "said": said,
        "shown": {} if document == NONE else document_content(moment, run, document, topic, labels), "gone": gone,
    }


def document_content(moment: Moment, run: xr.Dataset, document: int, topic: int, labels: dict[int, str]) -> dict:
    """A document's words by count, each in the colour of its likeliest topic, and its topics, the largest first."""
    tokens = token_topics(run, get_corpus(moment.path.parent, Run(moment.path).spec.train), document)
    n_types, n_tokens = tokens.sizes["word"], int(tokens["n_tokens"].sum())
    note = "This document has no training token."
    if n_tokens:
        most = f", the {MOST_TYPES} most frequent ones are shown" if n_types > MOST_TYPES else ""
        note = (
            f"{n_tokens:,} training tokens of {n_types:,} words{most}. A bag of words has no order: words stand by count, "
            "coloured by their likeliest topic."
        )
    return {
        "document": document, "title": str(run["document"].values[document]), "topic": topic, "note": note,
        "words": words_coloured(tokens), "topics": topics_of(run["topic"].values, run["theta"].values[document], labels),
    }


def words_coloured(tokens: xr.Dataset) -> list[dict]:
    """What `token_topics` finds, the most frequent words first."""
    counts, likely = tokens["n_tokens"].values, tokens["likely"].values
    best, words = tokens["probability"].max("topic").values, tokens["word"].values
    return [
        piece(str(words[at]), int(counts[at]), int(likely[at]), f"{words[at]}: ", f", {100 * best[at]:.0f} %")
        for at in np.argsort(-counts, kind="stable")[:MOST_TYPES]
    ]


def piece(word: str, n: int, topic: int, before: str = "", behind: str = "") -> dict:
    """A word in the colour of its topic, -1 for a word that the run does not know; with what is told of it."""
    known = topic >= 0
    told = f"{before}topic {topic}{behind}" if known else f"{before}unknown to the run"
    return {"word": word, "n": n, "topic": topic, "colour": topic_colour(topic) if known else "", "told": told}


def topics_of(topics: np.ndarray, theta: np.ndarray, labels: dict[int, str]) -> list[dict]:
    """The topics of a document that are large enough to be seen, the largest first; one at least."""
    order = np.argsort(-theta, kind="stable")
    kept = [at for at in order if theta[at] >= LEAST] or order[:1]
    shares = {int(topics[at]): float(theta[at]) for at in kept}
    return [
        {"topic": topic, "share": share, "label": labels.get(topic, ""), "colour": topic_colour(topic)}
        for topic, share in shares.items()
    ]
