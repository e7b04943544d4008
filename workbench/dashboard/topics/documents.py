"""The documents of a run: a table, and one document with coloured words and its topics as bars."""

from collections.abc import Mapping
from functools import lru_cache, partial
from types import MappingProxyType

import numpy as np
import param
import xarray as xr

from workbench.corpus import Corpus
from workbench.corpus.document_table import DocumentTable
from workbench.corpus.texts.words import (
    SEEN,
    WORD_PATTERN,
    compiled_pattern,
    segmenter_of,
    spelling,
)
from workbench.dashboard.shared.background import SEARCHES, LatestTask
from workbench.dashboard.shared.drawn import code, style
from workbench.dashboard.shared.link import Part, attribute_part
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.snapshots import Moment, of_documents, topic_colour
from workbench.dashboard.topics.document_rows import (
    MOST_LETTERS,
    MOST_VALUE,
    OF_TOPIC,
    PER_PAGE,
    columns_of,
    headings,
    in_order,
    orders,
    ranked_for,
    rows_of,
    topic_sorted_by,
)
from workbench.dashboard.topics.filled import NONE, Filled
from workbench.measures import MeasureError, find_documents, token_topics
from workbench.runs.execution.bounded_matching import find_spans
from workbench.runs.execution.run import Run
from workbench.runs.spec import SpecError
from workbench.runs.store.archive import get_corpus
from workbench.views.elements import fitting

LEAST = 0.01
"""Minimum share for a bar of a topic of a document."""
MOST_TYPES = 400
"""Maximum number of different words shown of a document."""
MOST_TEXT = 50_000
"""Maximum length of a text to show it; of a longer one only the most frequent words are shown."""
CHOOSE = "Choose a topic on the map or in the list, or type what to find; here are all documents."
RANKED = (
    "Ranked by a lower confidence bound on the topic's share, so short documents are not favoured."
)
NOTHING = '"\x00"'
"""A search that finds no document."""


class Shelf(Filled):
    """The list of documents and the chosen document; ``on_topic`` is called with a topic whose bar is clicked."""

    headings = param.List(doc="(title, hint) of the three columns.")
    content = param.Dict(
        default={},
        doc="documents and caption; of a table its columns, page, pages, first and total, too.",
    )
    orders = param.List(
        doc="What rows can be sorted by, as `document_rows.orders` has it; empty: they stand as they come."
    )
    sort = param.String(doc="What rows are sorted by, downwards after a minus; empty: as is usual.")
    page = param.Integer(default=1, doc="Page of the table; the last one where there are fewer.")
    shown = param.Dict(
        default={},
        doc="document, title, note, words, topics, the chosen topic; raw where words are a text.",
    )

    _esm = code("boxed", "shelf")
    _stylesheets = style("boxed", "shelf")
    _filled = ("content", "shown", "orders")

    def __init__(self, on_topic, *headings: tuple[str, str]):
        super().__init__(SEARCHES, headings=[["Document", ""], *map(list, headings)])
        self._on_topic = on_topic

    def _handle_msg(self, said) -> None:
        if isinstance(said, dict) and isinstance(said.get("topic"), int):
            self._on_topic(said["topic"])


class Documents(Shelf):
    """The documents of a run, or of a topic; ``on_gone(document)`` is called if the chosen document does not exist."""

    def __init__(self, on_topic, on_gone):
        super().__init__(on_topic)
        self._on_gone, self._moment, self._preparing = on_gone, None, LatestTask()

    def show(self, moment: Moment, topic: int, labels: dict[int, str], query: str = "") -> None:
        """Show the documents of a topic, or those that ``query`` finds, and the chosen document."""
        self._moment, asked = (
            moment,
            (moment, topic, self.chosen, labels, query.strip(), self.sort, self.page),
        )
        self.fill(_documents_now, *asked, waiting="Ranking the documents …")

    def take(self, gone: int = NONE, **shown) -> None:
        """Show the documents."""
        super().take(**shown)
        # read in advance what the first search needs
        if self.content and self._moment is not None:
            run = self._moment.path, self._moment.hash
            self._preparing.submit(
                run,
                partial(_documents_now, self._moment, NONE, 0, {}, NOTHING),
                lambda result, error: None,
            )
        if gone != NONE:
            self._on_gone(gone)

    def parts(self) -> dict[str, Part]:
        """Return sort order and page as parts of the link."""

        def turn_to(number: str) -> bool:
            known = number.isdecimal() and 0 < len(number) < 8 and int(number) > 0
            if known:
                self.page = int(number)
            return known

        page = Part(lambda: "" if self.page == 1 else str(self.page), "", turn_to)
        return {"order": attribute_part(self, "sort"), "page": page}


def _documents_now(
    moment: Moment,
    topic: int,
    document: int,
    labels: dict[int, str],
    query: str,
    sort: str = "",
    page: int = 1,
) -> dict:
    return of_documents(
        lambda run: _content_of(run, moment, topic, document, labels, query, sort, page), moment
    )


def _content_of(
    run: xr.Dataset | None,
    moment: Moment,
    topic: int,
    document: int,
    labels: dict[int, str],
    query: str,
    sort: str,
    page: int,
) -> dict:
    if run is None:
        return {"content": {}, "shown": {}, "orders": [], "said": ""}
    stored, table, told = _run_of(moment), None, ""
    try:
        table = stored.table
    except SpecError as error:  # the words are shown without them
        told = policy().shown(str(error))
    topic = topic if topic in run["topic"].values else NONE
    try:
        found, said = _found(stored, run, moment, topic, query, table, not sort)
    except MeasureError as error:
        return {"content": {}, "shown": {}, "said": f"{error}."}
    of = topic if (sorted_by := topic_sorted_by(run, sort)) == NONE else sorted_by
    usual = f"-{OF_TOPIC.format(topic)}" if query and topic != NONE else ""
    if sort or usual:
        found, known = in_order(moment, table, found, sort or usual, of)
        told += "" if known else f" There is no column {sort.removeprefix('-')!r} to sort by."
    columns = columns_of(moment, table)
    n_pages = max(-(-len(found) // PER_PAGE), 1)
    page = min(max(page, 1), n_pages)
    documents = rows_of(run, columns, found[PER_PAGE * (page - 1) : PER_PAGE * page], of)
    gone = document if document >= run.sizes["document"] else NONE
    if document == NONE or gone != NONE:
        document = documents[0]["document"] if documents and (query or topic != NONE) else NONE
    elif not query and topic == NONE:
        said = ""
    caption = (
        "documents that were found"
        if query
        else "documents"
        if topic == NONE
        else f"documents of topic {topic}"
    )
    content = {
        "documents": documents,
        "caption": caption,
        "columns": headings(columns, of),
        "page": page,
        "pages": n_pages,
        "first": PER_PAGE * (page - 1) + 1,
        "total": len(found),
    }
    return {
        "content": content if documents else {},
        "said": f"{said} {told}".strip(),
        "orders": orders(run, columns, labels),
        "shown": {}
        if document == NONE
        else document_content(stored, run, document, topic, labels, table),
        "gone": gone,
    }


@lru_cache(maxsize=8)
def _run_of(moment: Moment) -> Run:
    """Return the run, opened once for all searches, since opening it waits for a busy server."""
    return Run(moment.path)


def _found(
    stored: Run,
    run: xr.Dataset,
    moment: Moment,
    topic: int,
    query: str,
    table: DocumentTable | None,
    usual: bool,
) -> tuple[np.ndarray, str]:
    """Return the documents that the search finds, else those of the topic, else all, and a sentence about them."""
    n = run.sizes["document"]
    if query:
        found = find_documents(run, query, table, corpus_of_run(stored))
        by = f", sorted by topic {topic}" if usual and topic != NONE else ""
        return found, f"{len(found):,} of {n:,} documents have what is looked for{by}."
    if topic == NONE:
        return np.arange(n), CHOOSE
    found = ranked_for(moment, topic)
    if not len(found):
        return found, f"No document has a token of topic {topic}."
    return (
        found,
        RANKED if usual else f"{len(found):,} of {n:,} documents have tokens of topic {topic}.",
    )


def corpus_of_run(stored: Run) -> Corpus:
    """Return the training corpus of a run."""
    return get_corpus(stored.path.parent, stored.spec.train)


def document_content(
    stored: Run,
    run: xr.Dataset,
    document: int,
    topic: int,
    labels: dict[int, str],
    table: DocumentTable | None = None,
) -> dict:
    """Return a document for a `Shelf`: its text, or its words by count, coloured by likeliest topic; columns and topics."""
    tokens = token_topics(run, corpus_of_run(stored), document)
    n_types, n_tokens = tokens.sizes["word"], int(tokens["n_tokens"].sum())
    note = "This document has no training token."
    text = None if table is None or table.texts is None else table.texts[document]
    short = text is not None and len(text) <= MOST_TEXT
    pieces = text_coloured(text, tokens, table.counted) if short else None
    whole = pieces is not None
    if n_tokens:
        most = f", the {MOST_TYPES} most frequent ones are shown" if n_types > MOST_TYPES else ""
        why = (
            "To find them in the text by their pattern takes too long"
            if short
            else "A bag of words has no order"
        )
        note = (
            f"{n_tokens:,} training tokens of {n_types:,} words{most}. {why}: words stand by count, coloured by their "
            "likeliest topic."
        )
    if whole and n_tokens:
        note = (
            f"{n_tokens:,} training tokens of {n_types:,} words, in the colours of their likeliest topics; plain: what was not "
            "counted, or is held out."
        )
    return {
        "document": document,
        "title": fitting(str(run["document"].values[document]), MOST_LETTERS),
        "topic": topic,
        "note": note,
        "raw": whole,
        "columns": columns_shown(table, document),
        "words": pieces if whole else words_coloured(tokens),
        "topics": topics_of(run["topic"].values, run["theta"][document].values, labels),
    }


def columns_shown(table: DocumentTable | None, document: int) -> list[list[str]]:
    """Return name and value of each further column of a document."""
    columns = (
        {} if table is None else {name: values[document] for name, values in table.metadata.items()}
    )
    return [
        [fitting(name, MOST_VALUE), fitting(str(value), MOST_VALUE)]
        for name, value in columns.items()
        if value not in (None, "")
    ]


def text_coloured(
    raw: str,
    tokens: xr.Dataset,
    counted: Mapping[str, object] = MappingProxyType({}),
) -> list[dict] | None:
    """Return the pieces of a text: counted words with their likeliest topics, and the text between them without a topic.

    ``counted``: how the words of the text were found, see `workbench.corpus.document_table.DocumentTable`. None if a pattern of
    words that the user chose takes too long on this text.
    """
    pattern, raw = (
        counted.get("token_pattern", WORD_PATTERN),
        segmenter_of(counted.get("segmenter"), SEEN)(raw),
    )
    if pattern == WORD_PATTERN:
        spans = [found.span() for found in compiled_pattern(pattern).finditer(raw)]
    elif (spans := find_spans(pattern, raw)) is None:
        return None
    alike = spelling(counted.get("lowercase", True), counted.get("accents", "keep"))
    topics = dict(zip(tokens["word"].values, tokens["likely"].values.tolist(), strict=True))
    pieces, end = [], 0
    for start, stop in spans:
        if (known := alike(raw[start:stop])) in topics:
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


def topics_of(topics: np.ndarray, theta: np.ndarray, labels: dict[int, str]) -> list[dict]:
    """Return the topics of a document that are large enough to be visible, largest first; at least one."""
    order = np.argsort(-theta, kind="stable")
    kept = [at for at in order if theta[at] >= LEAST] or order[:1]
    shares = {int(topics[at]): float(theta[at]) for at in kept}
    return [
        {
            "topic": topic,
            "share": share,
            "label": labels.get(topic, ""),
            "colour": topic_colour(topic),
        }
        for topic, share in shares.items()
    ]
