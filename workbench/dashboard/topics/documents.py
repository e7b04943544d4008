"""The documents of a run: a table, and one document with coloured words and its topics as bars."""

from collections.abc import Callable
from functools import partial

import numpy as np
import panel as pn
import param
import xarray as xr
from markupsafe import Markup, escape

from workbench.corpus.document_table import DocumentTable
from workbench.dashboard.shared.background import SEARCHES, LatestTask
from workbench.dashboard.shared.card import CardContent, LiveContent
from workbench.dashboard.shared.clickable import KEY, sort_by
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.files import File
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.shell import message
from workbench.dashboard.shared.snapshots import SnapshotKey, apply_to_documents, run_of, train_of
from workbench.dashboard.topics.cells import TopicCard, bar, chip, colour_of, whole_number_of
from workbench.dashboard.topics.document_rows import (
    MOST_LETTERS,
    MOST_VALUE,
    OF_TOPIC,
    PER_PAGE,
    columns_of,
    documents_in_order,
    headings,
    ranked_documents_of,
    rows_of,
    topic_sorted_by,
)
from workbench.measures import MeasureError, find_documents, token_topics
from workbench.runs.execution.topic_edits import takes_edits
from workbench.runs.spec import SpecError
from workbench.tables import Table, texts
from workbench.views.coloured_words import MOST_TYPES, segments_of_text, segments_of_words
from workbench.views.elements import short_text
from workbench.views.live import NONE

LEAST = 0.01
"""Minimum share for a bar of a topic of a document."""
MOST_TEXT = 50_000
"""Maximum length of a text to show it; of a longer one only the most frequent words are shown."""
CHOOSE = "Choose a topic on the map or in the list, or type what to find; here are all documents."
RANKED = (
    "Ranked by a lower confidence bound on the topic's share, so short documents are not favoured."
)
NOTHING = '"\x00"'
"""A search that finds no document."""
WIDE = 4
"""Number of columns from which on the list is as wide as the card."""
BARS = texts("Topic", "Share")
NO_TOPIC = "–"
SHELF = Markup(
    '<div class="shelf{}"><section>{}<div class="scroll">{}</div></section><section>{}</section>'
    '<section class="bars">{}</section></div>'
)
PAGES = Markup('<p class="pages">{} {}</p>')
TITLE = Markup('<button type="button" data-key="document {}" aria-current="{}">{}</button>')
DOCUMENT = Markup(
    '<h3>{}</h3><dl>{}</dl><p class="hint">{} {}</p><div class="scroll"><p class="text">{}</p></div>'
)
LEAVE_OUT = KEY.format(
    "leave-out", "the next run of Edit the topics does without this document", "Leave it out"
)
TOKEN = Markup('<span class="token {}" title="{}" style="--topic: {}">{}{}</span>')


class Documents(TopicCard):
    """The card *Documents* of a run or topic.

    ``on_gone(document)`` is called if the chosen document does not exist, and ``on_leave_out(document, title)`` with a document
    that the next run is to do without.
    """

    workers = SEARCHES
    document = param.Integer(default=NONE, doc="Number of the document that is chosen; -1: none.")
    page = param.Integer(default=1, doc="Page of the table; the last one where there are fewer.")

    def __init__(
        self,
        handover: Handover,
        find: pn.widgets.Widget,
        on_gone: Callable[[int], None],
        on_leave_out: Callable[[int, str], None],
        csv: Callable[[], Callable[[], File]],
    ):
        super().__init__("Documents", handover, find, kind="documents", csv=csv, has_picture=False)
        self._on_gone, self._on_leave_out = on_gone, on_leave_out
        self._snapshot, self._preparation = None, LatestTask()

    @property
    def content(self) -> dict:
        """Return a dict with the shown list and document, see `_documents_now`; empty if nothing is shown."""
        return self.card_content.extra or {}

    def follow(
        self, snapshot: SnapshotKey, topic: int, names: dict[int, str], query: str = ""
    ) -> None:
        """Show the documents of a topic, or those that ``query`` finds, and the chosen document."""
        self._snapshot = snapshot
        request = snapshot, topic, self.document, names, query.strip(), self.sort, self.page
        work = partial(documents_card, *request)
        self.bring((request, "documents"), work, "Ranking the documents …")

    def show(self, content: LiveContent | None, error: Exception | None = None) -> None:
        """Show the documents."""
        super().show(content, error)
        # read in advance what the first search needs
        if self.content and self._snapshot is not None:
            run = self._snapshot.path, self._snapshot.hash
            work = partial(_documents_now, self._snapshot, NONE, 0, {}, NOTHING)
            self._preparation.submit(run, work, lambda result, error: None)
        if self.content.get("gone", NONE) != NONE:
            self._on_gone(self.content["gone"])

    def clicked(self, kind: str, value: str) -> None:
        """Handle a click: choose a document, turn to a page, or do the same as `TopicCard.clicked`."""
        if kind == "document":
            self.document = whole_number_of(value)
        elif kind == "page":
            self.page = max(whole_number_of(value), 1)
        elif kind == "leave-out" and (document := self.content.get("shown")):
            self._on_leave_out(document["document"], document["title"])
        else:
            super().clicked(kind, value)


def documents_card(
    snapshot: SnapshotKey, topic: int, document: int, names, *choices
) -> CardContent:
    """Return the card's content: the list of documents and the chosen document of `_documents_now` as HTML."""
    content = _documents_now(snapshot, topic, document, names, *choices)
    html = (
        documents_html(content["content"], content["shown"], choices[1])
        if content["content"] or content["shown"]
        else ""
    )
    return CardContent(message(content["said"]), table=html, extra=content)


def documents_html(content: dict, document: dict, sort: str = "") -> Markup:
    """Return as HTML a list of documents, and one document's text (or words) and topics."""
    columns, number = content.get("columns", ()), document.get("document", NONE)
    rows = content.get("documents", ())
    cells = [
        (
            TITLE.format(row["document"], str(row["document"] == number).lower(), row["title"]),
            *([NO_TOPIC if row["topic"] is None else chip(row["topic"])] if "topic" in row else ()),
            row["share"],
            row["tokens"],
            *row.get("cells", ()),
        )
        for row in rows
    ]
    heads = [sort_by(column, sort) if "total" in content else column for column in columns]
    attributes = [
        {"data-key": f"document {row['document']}"}
        | ({"class": "shown"} if row["document"] == number else {})
        for row in rows
    ]
    table = Table(heads, cells, content.get("caption", "")).html(attributes) if cells else ""
    wide = " wide" if len(columns) > WIDE else ""
    return SHELF.format(wide, _pages(content), Markup(table), *_document_html(document))


def _pages(content: dict) -> Markup:
    """Return the position of the page in the list, and buttons that turn to other pages."""
    if content.get("pages", 1) < 2:
        return Markup("")
    page, first = content["page"], content["first"]
    position = f"{first:,}–{first + len(content['documents']) - 1:,} of {content['total']:,}"
    turns = [("‹ Previous", page - 1)] * (page > 1) + [("Next ›", page + 1)] * (
        page < content["pages"]
    )
    buttons = Markup(" ").join(KEY.format(f"page {to}", "", name) for name, to in turns)
    return PAGES.format(position, buttons)


def _document_html(document: dict) -> tuple[Markup, Markup]:
    """Return two pieces of HTML: the text or words of a document, and its topics with bars."""
    if not document:
        return Markup(""), Markup("")
    columns_html = Markup("").join(
        Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(*pair)
        for pair in document.get("columns", ())
    )
    space = Markup("" if document["raw"] else " ")
    text = space.join(_token_html(word, document["topic"]) for word in document["words"])
    most = max((topic["share"] for topic in document["topics"]), default=1.0)
    topics = [
        (
            chip(topic["topic"], " · ".join(filter(None, (str(topic["topic"]), topic["label"])))),
            bar(topic["share"], topic["topic"], most),
        )
        for topic in document["topics"]
    ]
    bars = Table(BARS, topics, f"topics of {document['title']}").html()
    leave_out = LEAVE_OUT if document.get("takes_edits") else ""
    return DOCUMENT.format(
        document["title"], columns_html, document["note"], leave_out, text
    ), Markup(bars)


def _token_html(word: dict, topic: int) -> Markup:
    """Return a word as HTML in the colour of its topic; text between words gets no colour."""
    if word["topic"] is None:
        return escape(word["word"])
    kind = "unknown" if word["topic"] < 0 else "own" if word["topic"] == topic else ""
    times = Markup("<sub>×{}</sub>").format(word["n"]) if word["n"] > 1 else ""
    colour = colour_of(word["topic"]) if word["topic"] != NONE else ""
    return TOKEN.format(kind, word["told"], colour, word["word"], times)


def _documents_now(
    snapshot: SnapshotKey,
    topic: int,
    document: int,
    labels: dict[int, str],
    query: str,
    sort: str = "",
    page: int = 1,
) -> dict:
    return apply_to_documents(
        lambda run: _content_of(run, snapshot, topic, document, labels, query, sort, page), snapshot
    )


def _content_of(
    run: xr.Dataset | None,
    snapshot: SnapshotKey,
    topic: int,
    document: int,
    labels: dict[int, str],
    query: str,
    sort: str,
    page: int,
) -> dict:
    if run is None:
        return {"content": {}, "shown": {}, "said": ""}
    table, table_error = None, ""
    try:
        table = run_of(snapshot).table
    except SpecError as error:  # the words are shown without them
        table_error = policy().for_visitors(str(error))
    topic = topic if topic in run["topic"].values else NONE
    try:
        documents_in_list, topic_of_shares, sentence = documents_in_order_of(
            run, snapshot, table, topic, query, sort
        )
    except MeasureError as error:
        return {"content": {}, "shown": {}, "said": f"{error}."}
    columns = columns_of(snapshot, table)
    n_pages = max(-(-len(documents_in_list) // PER_PAGE), 1)
    page = min(max(page, 1), n_pages)
    documents = rows_of(
        run, columns, documents_in_list[PER_PAGE * (page - 1) : PER_PAGE * page], topic_of_shares
    )
    missing_document = document if document >= run.sizes["document"] else NONE
    if document == NONE or missing_document != NONE:
        document = documents[0]["document"] if documents and (query or topic != NONE) else NONE
    elif not query and topic == NONE:
        sentence = sentence.removeprefix(CHOOSE)
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
        "columns": headings(columns, topic_of_shares),
        "page": page,
        "pages": n_pages,
        "first": PER_PAGE * (page - 1) + 1,
        "total": len(documents_in_list),
    }
    return {
        "content": content if documents else {},
        "said": f"{sentence} {table_error}".strip(),
        "shown": {}
        if document == NONE
        else document_content(snapshot, run, document, topic, labels, table),
        "gone": missing_document,
    }


def documents_in_order_of(
    run: xr.Dataset,
    snapshot: SnapshotKey,
    table: DocumentTable | None,
    topic: int,
    query: str,
    sort: str,
) -> tuple[np.ndarray, int, str]:
    """Return the documents of the list in its order, the topic whose share it shows, and a sentence about them."""
    n = run.sizes["document"]
    if query:
        documents = find_documents(run, query, table, train_of(snapshot))
        sort_note = f", sorted by topic {topic}" if not sort and topic != NONE else ""
        sentence = f"{len(documents):,} of {n:,} documents have what is looked for{sort_note}."
    elif topic == NONE:
        documents, sentence = np.arange(n), CHOOSE
    elif not len(documents := ranked_documents_of(snapshot, topic)):
        sentence = f"No document has a token of topic {topic}."
    else:
        sentence = (
            f"{len(documents):,} of {n:,} documents have tokens of topic {topic}."
            if sort
            else RANKED
        )
    topic_of_shares = topic if (sorted_by := topic_sorted_by(run, sort)) == NONE else sorted_by
    default_sort = f"-{OF_TOPIC.format(topic)}" if query and topic != NONE else ""
    if sort or default_sort:
        documents, is_known = documents_in_order(
            snapshot, table, documents, sort or default_sort, topic_of_shares
        )
        sentence += (
            "" if is_known else f" There is no column {sort.removeprefix('-')!r} to sort by."
        )
    return documents, topic_of_shares, sentence


def document_content(
    snapshot: SnapshotKey,
    run: xr.Dataset,
    document: int,
    topic: int,
    labels: dict[int, str],
    table: DocumentTable | None = None,
) -> dict:
    """Return a document for `documents_html`, which makes HTML: columns, topics, and text or words, coloured by topic."""
    tokens = token_topics(run, train_of(snapshot), document)
    n_types, n_tokens = tokens.sizes["word"], int(tokens["n_tokens"].sum())
    text = None if table is None or table.texts is None else table.texts[document]
    short = text is not None and len(text) <= MOST_TEXT
    segments = segments_of_text(text, tokens, table.counted) if short else None
    note = f"{n_tokens:,} training tokens of {n_types:,} words"
    if not n_tokens:
        note = "This document has no training token."
    elif segments is not None:
        note += ", in the colours of their likeliest topics; plain: what was not counted, or is held out."
    else:
        most = f", the {MOST_TYPES} most frequent ones are shown" if n_types > MOST_TYPES else ""
        reason = (
            "To find them in the text by their pattern takes too long"
            if short
            else "A bag of words has no order"
        )
        note += f"{most}. {reason}: words stand by count, coloured by their likeliest topic."
    return {
        "document": document,
        "title": short_text(str(run["document"].values[document]), MOST_LETTERS),
        "topic": topic,
        "note": note,
        "takes_edits": takes_edits(run_of(snapshot).spec) and not policy().read_only,
        "raw": segments is not None,
        "columns": [
            [short_text(name, MOST_VALUE), short_text(str(values[document]), MOST_VALUE)]
            for name, values in (table.metadata.items() if table is not None else ())
            if values[document] not in (None, "")
        ],
        "words": segments_of_words(tokens) if segments is None else segments,
        "topics": topics_of(run["topic"].values, run["theta"][document].values, labels),
    }


def topics_of(topics: np.ndarray, theta: np.ndarray, labels: dict[int, str]) -> list[dict]:
    """Return the topics of a document that are large enough to be visible, largest first; at least one."""
    order = np.argsort(-theta, kind="stable")
    indices = [index for index in order if theta[index] >= LEAST] or order[:1]
    shares = {int(topics[index]): float(theta[index]) for index in indices}
    return [
        {
            "topic": topic,
            "share": share,
            "label": labels.get(topic, ""),
        }
        for topic, share in shares.items()
    ]
