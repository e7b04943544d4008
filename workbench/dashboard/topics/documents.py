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
from workbench.dashboard.shared.card import Live, Shown
from workbench.dashboard.shared.clickable import KEY, sort_by
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.files import File
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.shell import message
from workbench.dashboard.shared.snapshots import SnapshotKey, of_documents, run_of, train_of
from workbench.dashboard.topics.cells import TopicCard, bar, chip, colour_of, whole
from workbench.dashboard.topics.document_rows import (
    MOST_LETTERS,
    MOST_VALUE,
    OF_TOPIC,
    PER_PAGE,
    columns_of,
    headings,
    in_order,
    ranked_for,
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
        super().__init__("Documents", handover, find, kind="documents", csv=csv, drawn=False)
        self._on_gone, self._on_leave_out = on_gone, on_leave_out
        self._snapshot, self._preparing = None, LatestTask()

    @property
    def content(self) -> dict:
        """Return a dict with the shown list and document, see `_documents_now`; empty if nothing is shown."""
        return self.shown.beside or {}

    def follow(
        self, snapshot: SnapshotKey, topic: int, names: dict[int, str], query: str = ""
    ) -> None:
        """Show the documents of a topic, or those that ``query`` finds, and the chosen document."""
        self._snapshot = snapshot
        asked = snapshot, topic, self.document, names, query.strip(), self.sort, self.page
        work = partial(documents_shown, *asked)
        self.bring((asked, "documents"), work, "Ranking the documents …")

    def show(self, found: Live | None, error: Exception | None = None) -> None:
        """Show the documents."""
        super().show(found, error)
        # read in advance what the first search needs
        if self.content and self._snapshot is not None:
            run = self._snapshot.path, self._snapshot.hash
            ahead = partial(_documents_now, self._snapshot, NONE, 0, {}, NOTHING)
            self._preparing.submit(run, ahead, lambda result, error: None)
        if self.content.get("gone", NONE) != NONE:
            self._on_gone(self.content["gone"])

    def clicked(self, kind: str, value: str) -> None:
        """Handle a click: choose a document, turn to a page, or do the same as `TopicCard.clicked`."""
        if kind == "document":
            self.document = whole(value)
        elif kind == "page":
            self.page = max(whole(value), 1)
        elif kind == "leave-out" and (shown := self.content.get("shown")):
            self._on_leave_out(shown["document"], shown["title"])
        else:
            super().clicked(kind, value)


def documents_shown(snapshot: SnapshotKey, topic: int, document: int, names, *asked) -> Shown:
    """Return the card's content: the list of documents and the chosen document of `_documents_now` as HTML."""
    made = _documents_now(snapshot, topic, document, names, *asked)
    html = (
        shelf(made["content"], made["shown"], asked[1]) if made["content"] or made["shown"] else ""
    )
    return Shown(message(made["said"]), table=html, beside=made)


def shelf(content: dict, document: dict, sort: str = "") -> Markup:
    """Return as HTML a list of documents, and one document's text (or words) and topics."""
    columns, shown = content.get("columns", ()), document.get("document", NONE)
    rows = content.get("documents", ())
    cells = [
        (
            TITLE.format(row["document"], str(row["document"] == shown).lower(), row["title"]),
            *([NO_TOPIC if row["topic"] is None else chip(row["topic"])] if "topic" in row else ()),
            row["share"],
            row["tokens"],
            *row.get("cells", ()),
        )
        for row in rows
    ]
    heads = [sort_by(one, sort) if "total" in content else one for one in columns]
    attributes = [
        {"data-key": f"document {row['document']}"}
        | ({"class": "shown"} if row["document"] == shown else {})
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
    where = f"{first:,}–{first + len(content['documents']) - 1:,} of {content['total']:,}"
    turns = [("‹ Previous", page - 1)] * (page > 1) + [("Next ›", page + 1)] * (
        page < content["pages"]
    )
    buttons = Markup(" ").join(KEY.format(f"page {to}", "", name) for name, to in turns)
    return PAGES.format(where, buttons)


def _document_html(shown: dict) -> tuple[Markup, Markup]:
    """Return two pieces of HTML: the text or words of a document, and its topics with bars."""
    if not shown:
        return Markup(""), Markup("")
    about = Markup("").join(
        Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(*pair)
        for pair in shown.get("columns", ())
    )
    space = Markup("" if shown["raw"] else " ")
    text = space.join(_token(word, shown["topic"]) for word in shown["words"])
    most = max((one["share"] for one in shown["topics"]), default=1.0)
    topics = [
        (
            chip(one["topic"], " · ".join(filter(None, (str(one["topic"]), one["label"])))),
            bar(one["share"], one["topic"], most),
        )
        for one in shown["topics"]
    ]
    bars = Table(BARS, topics, f"topics of {shown['title']}").html()
    leave_out = LEAVE_OUT if shown.get("takes_edits") else ""
    return DOCUMENT.format(shown["title"], about, shown["note"], leave_out, text), Markup(bars)


def _token(word: dict, topic: int) -> Markup:
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
    return of_documents(
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
    table, told = None, ""
    try:
        table = run_of(snapshot).table
    except SpecError as error:  # the words are shown without them
        told = policy().shown(str(error))
    topic = topic if topic in run["topic"].values else NONE
    try:
        found, of, said = listed(run, snapshot, table, topic, query, sort)
    except MeasureError as error:
        return {"content": {}, "shown": {}, "said": f"{error}."}
    columns = columns_of(snapshot, table)
    n_pages = max(-(-len(found) // PER_PAGE), 1)
    page = min(max(page, 1), n_pages)
    documents = rows_of(run, columns, found[PER_PAGE * (page - 1) : PER_PAGE * page], of)
    gone = document if document >= run.sizes["document"] else NONE
    if document == NONE or gone != NONE:
        document = documents[0]["document"] if documents and (query or topic != NONE) else NONE
    elif not query and topic == NONE:
        said = said.removeprefix(CHOOSE)
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
        "shown": {}
        if document == NONE
        else document_content(snapshot, run, document, topic, labels, table),
        "gone": gone,
    }


def listed(
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
        found = find_documents(run, query, table, train_of(snapshot))
        by = f", sorted by topic {topic}" if not sort and topic != NONE else ""
        said = f"{len(found):,} of {n:,} documents have what is looked for{by}."
    elif topic == NONE:
        found, said = np.arange(n), CHOOSE
    elif not len(found := ranked_for(snapshot, topic)):
        said = f"No document has a token of topic {topic}."
    else:
        said = (
            f"{len(found):,} of {n:,} documents have tokens of topic {topic}." if sort else RANKED
        )
    of = topic if (sorted_by := topic_sorted_by(run, sort)) == NONE else sorted_by
    usual = f"-{OF_TOPIC.format(topic)}" if query and topic != NONE else ""
    if sort or usual:
        found, known = in_order(snapshot, table, found, sort or usual, of)
        said += "" if known else f" There is no column {sort.removeprefix('-')!r} to sort by."
    return found, of, said


def document_content(
    snapshot: SnapshotKey,
    run: xr.Dataset,
    document: int,
    topic: int,
    labels: dict[int, str],
    table: DocumentTable | None = None,
) -> dict:
    """Return a document for `shelf`, which makes HTML: columns, topics, and text or words, coloured by likeliest topic."""
    tokens = token_topics(run, train_of(snapshot), document)
    n_types, n_tokens = tokens.sizes["word"], int(tokens["n_tokens"].sum())
    text = None if table is None or table.texts is None else table.texts[document]
    short = text is not None and len(text) <= MOST_TEXT
    pieces = segments_of_text(text, tokens, table.counted) if short else None
    note = f"{n_tokens:,} training tokens of {n_types:,} words"
    if not n_tokens:
        note = "This document has no training token."
    elif pieces is not None:
        note += ", in the colours of their likeliest topics; plain: what was not counted, or is held out."
    else:
        most = f", the {MOST_TYPES} most frequent ones are shown" if n_types > MOST_TYPES else ""
        why = (
            "To find them in the text by their pattern takes too long"
            if short
            else "A bag of words has no order"
        )
        note += f"{most}. {why}: words stand by count, coloured by their likeliest topic."
    return {
        "document": document,
        "title": short_text(str(run["document"].values[document]), MOST_LETTERS),
        "topic": topic,
        "note": note,
        "takes_edits": takes_edits(run_of(snapshot).spec) and not policy().read_only,
        "raw": pieces is not None,
        "columns": [
            [short_text(name, MOST_VALUE), short_text(str(values[document]), MOST_VALUE)]
            for name, values in (table.metadata.items() if table is not None else ())
            if values[document] not in (None, "")
        ],
        "words": segments_of_words(tokens) if pieces is None else pieces,
        "topics": topics_of(run["topic"].values, run["theta"][document].values, labels),
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
        }
        for topic, share in shares.items()
    ]
