"""The documents that show a topic best, and the topics of one document."""

from __future__ import annotations

import xarray as xr

from workbench.dashboard.shared.snapshots import Moment, documents_of
from workbench.dashboard.topics.filler import Filler
from workbench.dashboard.topics.shelf import MOST_TYPES, NONE, Shelf, topics_of, words_coloured
from workbench.measures import representative_documents, token_topics
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus

N_DOCUMENTS = 12
HEADINGS = [
    ("Document", ""), ("Share", "the topic's share of the document"), ("Tokens", "training tokens of the document"),
]
CHOOSE = "Choose a topic on the map or in the list: the documents that show it best appear here."


class Documents(Filler):
    """Fills a `Shelf` with the documents of a topic; ``on_gone(document)`` is called where the chosen one is not there."""

    def __init__(self, on_topic, on_gone):
        self.shelf, self._on_gone = Shelf(HEADINGS, on_topic), on_gone
        super().__init__(self.shelf, "content", "shown")

    def show(self, moment: Moment, topic: int, labels: dict[int, str]) -> None:
        """Brings the card to a topic of a run, and to the document that is chosen."""
        asked = self.shelf.chosen

        def then() -> None:
            if asked != NONE and not _there(moment, asked):
                self._on_gone(asked)

        self.fill(_told, moment, topic, asked, labels, waiting="Ranking the documents …", then=then)


def _there(moment: Moment, document: int) -> bool:
    run = documents_of(moment)
    return run is None or document < run.sizes["document"]


def _told(moment: Moment, topic: int, document: int, labels: dict[int, str]) -> dict:
    """The parameters of the shelf."""
    run = documents_of(moment)
    if run is None:
        return {"content": {}, "shown": {}, "said": ""}
    documents = document_entries(run, topic) if topic in run["topic"].values else []
    if document == NONE or not _there(moment, document):
        document = documents[0]["document"] if documents else NONE
    if topic == NONE and document == NONE:
        said = CHOOSE
    elif not documents and topic != NONE:
        said = f"No document has a token of topic {topic}."
    else:
        said = "" if topic == NONE else "Ranked by how surely the topic's share is large: short documents do not win by chance."
    return {
        "content": {"documents": documents, "caption": f"documents of topic {topic}"} if documents else {}, "said": said,
        "shown": {} if document == NONE else document_content(moment, run, document, topic, labels),
    }


def document_entries(run: xr.Dataset, topic: int) -> list[dict]:
    """The documents that show a topic best, the best first."""
    found = representative_documents(run, topic, N_DOCUMENTS)
    columns = (found[name].values.tolist() for name in ("document", "title", "theta", "n_tokens"))
    return [
        {"document": document, "title": str(title), "share": share, "tokens": tokens}
        for document, title, share, tokens in zip(*columns, strict=True)
    ]


def document_content(moment: Moment, run: xr.Dataset, document: int, topic: int, labels: dict[int, str]) -> dict:
    """A document's words by count, each in the colour of its likeliest topic, and its topics, the largest first."""
    corpus = get_corpus(moment.path.parent, Run(moment.path).spec.train)
    tokens = token_topics(run, corpus, document)
    n_types, n_tokens = tokens.sizes["word"], int(tokens["n_tokens"].sum())
    note = f"{n_tokens:,} training tokens of {n_types:,} words" if n_tokens else "This document has no training token"
    if n_types > MOST_TYPES:
        note += f", the {MOST_TYPES} most frequent ones are shown"
    if n_tokens:
        note += ". A bag of words has no order: words stand by count, coloured by their likeliest topic"
    return {
        "document": document, "title": str(run["document"].values[document]), "topic": topic, "note": f"{note}.",
        "words": words_coloured(tokens), "topics": topics_of(run["topic"].values, run["theta"].values[document], labels),
    }
