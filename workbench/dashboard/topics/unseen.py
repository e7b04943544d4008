"""Unseen text: typed in or uploaded, shown under the topics of the run, and taken away as a table."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import panel as pn

from workbench.dashboard.compare.files import File, FileError
from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.downloads import Downloads, Handover, size
from workbench.dashboard.shared.latest_task import Latest
from workbench.dashboard.shared.shell import button, column, dressed, message, text
from workbench.dashboard.shared.snapshots import Moment
from workbench.dashboard.topics.filler import Filler
from workbench.dashboard.topics.folding import KINDS, LARGEST, Folded, folded, listed, sentence_about, unseen_document
from workbench.dashboard.topics.shelf import NONE, Shelf

HEADINGS = [
    ("Document", ""), ("Unknown", "share of the tokens whose word the run does not know"),
    ("Tokens", "words that were counted: without stop words"),
]


class Unseen:
    """The card."""

    def __init__(self, handover: Handover, on_topic):
        self.text = dressed(pn.widgets.TextAreaInput(
            label="Text of a document that the run has not seen", placeholder="Type or paste a text", rows=5,
            max_length=LARGEST, sizing_mode="stretch_width",
        ))
        self.file = dressed(pn.widgets.FileInput(
            label="File of documents that the run has not seen", accept=",".join(KINDS), multiple=False,
            css_classes=["wb-unlabelled"],
        ))
        self.go = button("Fold in", color="primary")
        self.said = text(sizing_mode="stretch_width")
        self.shelf, self._latest = Shelf(HEADINGS, on_topic), Latest()
        self._filler = Filler(self.shelf, "content", "shown")
        self.files = Downloads(handover, {"CSV of the documents": lambda: self._csv})
        self._moment, self._folded, self._topic, self._labels = None, None, NONE, {}
        self._times = 0
        self.go.on_click(lambda event: self._ask("a text", (self.text.value_input or self.text.value or "").encode(), ".txt"))
        self.file.param.watch(self._uploaded, "value")
        self.shelf.param.watch(lambda event: self._show(), "chosen")

    def show(self, moment: Moment | None, topic: int, labels: dict[int, str]) -> None:
        """Sets the run and the topic that are shown; documents that were folded into another run are removed."""
        if self._folded is not None and (moment is None or moment.path != self._folded.moment.path):
            self._folded = None
            self._clear()
            self._say("Documents that were folded into another run are put away; fold them in again.")
        changed = (topic, labels) != (self._topic, self._labels)
        self._moment, self._topic, self._labels = moment, topic, labels
        if changed:
            self._show()

    def _uploaded(self, event) -> None:
        if event.new:
            name = str(self.file.filename or "")
            self._ask(name, event.new, Path(name).suffix.lower())

    def _ask(self, name: str, content: bytes, kind: str) -> None:
        self._times += 1
        self._say("Folding in …")

        def then(result, error) -> None:
            self._folded = result
            if error is not None:
                self._clear()
                self._say(sentence_of(error), "bad")
                return
            self.shelf.chosen = NONE
            self._say(sentence_about(result))
            self._show()

        self._latest.ask(self._times, partial(folded, self._moment, name, content, kind), then)

    def _show(self) -> None:
        """The list, and the document that is chosen or the first."""
        if (found := self._folded) is not None:
            self._filler.fill(
                lambda times, *asked: _content(found, *asked), self._times, max(self.shelf.chosen, 0), self._topic, self._labels
            )

    def _clear(self) -> None:
        self._filler.clear()
        self.shelf.chosen = NONE

    def _csv(self) -> File:
        if self._folded is None:
            raise FileError("no document has been folded in; type a text or choose a file first")
        return self._folded.csv()

    def _say(self, sentence: str, kind: str = "muted") -> None:
        self.said.object = message(sentence, kind)

    def view(self) -> pn.Column:
        """The card."""
        hint = f"or a file, up to {size(LARGEST)}: .txt (one document), .csv or .jsonl (a column or field “text”)"
        beside = text(f'<span class="muted">{hint}</span>', css_classes=["wb-mid"])
        bar = column(self.go, beside, self.file, *self.files.buttons.values(), kind="wb-bar")
        return column(
            text("<h2>Unseen text</h2>"), self.text, bar, self.said, self.files.said, self.shelf, kind="wb-card unseen"
        )


def _content(found: Folded, document: int, topic: int, labels: dict[int, str]) -> dict:
    return {"content": listed(found), "shown": unseen_document(found, document, topic, labels)}
