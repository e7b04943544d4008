"""Topics merged, dropped and split, words and documents left out: in a run that continues from the shown one, or only shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import panel as pn

from workbench.dashboard.compare.live_strip import branches
from workbench.dashboard.shared.background import in_background, sentence_of
from workbench.dashboard.shared.link import LONGEST
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import Toggles, button, column, in_form, in_row, styled, text
from workbench.dashboard.shared.snapshots import edition_of
from workbench.dashboard.topics.overview import Topics
from workbench.runs.execution.omissions import DOCUMENTS, WORDS
from workbench.runs.execution.run import Run
from workbench.runs.execution.topic_edits import takes_edits
from workbench.runs.store.edition import Edition, arranges, split_edits

WAYS = ("merge", "drop", "split")
"""Edits of the chosen topics, each with a button."""
MOST_WORDS = 40
"""Maximum number of words that are offered to be left out."""


class Editing:
    """The card *Edit the topics*: edits, by buttons or typed, with which a new run starts or the topics are shown."""

    def __init__(self):
        self.topics = in_form(pn.widgets.MultiSelect(label="Topics", options={}, size=6))
        self.edits = styled(
            pn.widgets.TextInput(
                label="Edits",
                placeholder="merge 3 7; drop 5; split 2; add 1; order 4 2; colour 3 #1f77b4",
                max_length=LONGEST,
                sizing_mode="stretch_width",
            )
        )
        self.buttons = {edit: button(edit.capitalize()) for edit in WAYS}
        self.words = styled(Toggles(label="Words to leave out", options=[]))
        self.documents = styled(Toggles(label="Documents to leave out", options={}))
        self.start = button("Continue with these", color="primary")
        self.arrange, self.undo, self.redo = map(button, ("Show as edited", "Undo", "Redo"))
        self.status = text(sizing_mode="stretch_width", visible=False)
        for edit, each in self.buttons.items():
            each.on_click(lambda event, edit=edit: self._write(edit))
        self.start.on_click(lambda event: self._start())
        self.arrange.on_click(lambda event: self._arrange())
        self.undo.on_click(lambda event: self._in_run(Run.undo_edit))
        self.redo.on_click(lambda event: self._in_run(Run.redo_edit))
        self.topics.param.watch(lambda event: self._offer_words(), "value")
        self._of_documents = in_row("Leave out documents", "documents to leave out", self.documents)
        self._of_documents.visible = False
        of_words = in_row("Leave out words", "words to leave out", self.words)
        of_shown = self.arrange, self.undo, self.redo
        bar = column(*self.buttons.values(), self.start, *of_shown, kind="wb-bar")
        heading = text("<h2>Edit the topics</h2>")
        components = (
            heading,
            self.topics,
            self.edits,
            of_words,
            self._of_documents,
            bar,
            self.status,
        )
        self.view = column(*components, kind="wb-card editing")
        self._path: Path | None = None
        self._top_words: dict[int, tuple[str, ...]] = {}
        self._document = pn.state.curdoc

    def show(self, reading: Reading | None, topics: Topics) -> None:
        """Offer the topics and words of a run; when the run changes, remove the edits."""
        path = reading and reading.path
        if path != self._path:
            self._path = path
            self._clear()
        self._top_words, words = topics.top, topics.words
        options = {f"{topic} {few}": topic for topic, few in words.items()}
        if options != self.topics.options:
            kept_topics = [topic for topic in self.topics.value if topic in words]
            self.topics.param.update(options=options, value=kept_topics)
        self._offer_words()
        edition = topics.snapshot.edition if topics.snapshot else Edition()
        self.undo.disabled, self.redo.disabled = not edition.edits, not edition.undone
        is_there = bool(words or edition.edits)
        self.view.visible = is_there and not policy().read_only and takes_edits(reading.spec)

    def _clear(self) -> None:
        """Remove the edits, the words and the documents."""
        self.edits.param.update(value="", value_input="")
        self.words.param.update(options=[], value=[])
        self.documents.param.update(options={}, value=[])
        self._of_documents.visible = False

    def _offer_words(self) -> None:
        """Offer the words of the chosen topics, or of all topics: chosen words first, then those that most topics have."""
        lists = [
            self._top_words[topic]
            for topic in self.topics.value or self._top_words
            if topic in self._top_words
        ]
        n_lists = Counter(word for words in lists for word in words)
        all_words = dict.fromkeys([*self.words.value, *(word for word, _ in n_lists.most_common())])
        options = [*all_words][: max(MOST_WORDS, len(self.words.value))]
        if options != self.words.options:
            self.words.param.update(options=options, value=self.words.value)

    def leave_out(self, document: int, title: str) -> None:
        """Add a document to those that the new run leaves out."""
        name = f"{document} {title}"
        self._of_documents.visible = True
        self.documents.options = self.documents.options | {name: document}
        # after the buttons: of both at once the browser does not show the new button as chosen
        self.documents.value = sorted({*self.documents.value, document})

    def _write(self, edit: str) -> None:
        """Add an edit of the chosen topics, or, if too few are chosen, say how many the edit needs."""
        topics = sorted(self.topics.value)
        least = 2 if edit == "merge" else 1
        if len(topics) < least:
            self.status.say(f"Choose {'two topics' if least == 2 else 'a topic'} to {edit}.", "bad")
            return
        self.status.say("")
        edits_text = "; ".join([*self._typed_edits(), " ".join(map(str, [edit, *topics]))])
        self.edits.param.update(value=edits_text, value_input=edits_text)
        self.topics.value = []

    def _typed_edits(self) -> list[str]:
        """Return the edits in the text field."""
        return split_edits(self.edits.value_input)

    def edits_as_texts(self) -> list[str]:
        """Return all edits as texts: those in the text field, and those that leave out the chosen words and documents."""
        left_out = {WORDS: self.words.value, DOCUMENTS: self.documents.value}
        edits = [
            f"{kind} {', '.join(map(str, names))}" for kind, names in left_out.items() if names
        ]
        return [*self._typed_edits(), *edits]

    def _arrange(self) -> None:
        """Show the topics as the typed edits arrange them, without starting another run."""
        edits = [re.sub("^drop ", "hide ", edit) for edit in self._typed_edits()]
        if not edits:
            self.status.say("Write an edit first, such as merge 3 7, drop 5 or order 4 2.", "bad")
            return
        self._in_run(lambda run: run.edit(*edits))

    def _in_run(self, change: Callable[[Run], Edition]) -> None:
        """Change the edits with which the run's topics are shown, and say which edits there are now."""
        path = self._path

        def on_result(edition: Edition | None, error: Exception | None) -> None:
            if error is not None:
                self.status.say(sentence_of(error), "bad")
                return
            edits_text = "; ".join(edition.texts)
            self.status.say(
                f"Shown: {edits_text}. The run stays as it is."
                if edits_text
                else "No edit is left."
            )
            if path == self._path:
                self.edits.param.update(value="", value_input="")

        in_background(self._document, lambda: change(Run(path)), on_result)

    def _start(self) -> None:
        edits, parent = self.edits_as_texts(), self._path
        if not edits:
            self.status.say("Write an edit first, such as merge 3 7, or choose a word.", "bad")
            return
        if self._typed_edits() and any(map(arranges, edition_of(parent).texts)):
            self.status.say(
                "A run continues from the topics as computed; undo the edits that are shown first.",
                "bad",
            )
            return

        def on_result(
            paths_and_errors: tuple[list[Path], list[Exception]] | None, error: Exception | None
        ) -> None:
            paths, errors = paths_and_errors or ([], [error])
            if errors:
                self.status.say(sentence_of(errors[0]), "bad")
                return
            new = paths[0].name
            both = urlencode({"runs": f"{parent.name},{new}"})
            query_of_matching = urlencode({"run": new, "with": parent.name})
            links = f'<a href="compare?{both}">Compare both</a>, <a href="topics?{query_of_matching}">match their topics</a>'
            self.status.param.update(
                value=f'<p role="status">Started {escape(new)}. {links}</p>', visible=True
            )
            self._clear()
            self._offer_words()

        work = partial(branches, [parent], lambda run: run.branch(*edits))
        in_background(self._document, work, on_result)
