"""The card *Notes and tags* for the chosen runs: a note of one run, tags of one or several."""

from collections.abc import Callable, Iterable

import panel as pn

from workbench.dashboard.shared.background import in_background, sentence_of
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import Toggles, column, in_form, message, styled, text
from workbench.runs.store.notes import annotate, read_notes

HINTS = (
    "Choose runs in the table to write a note or give them tags.",
    "{}. A click on a tag removes it.",
    "{} runs; a tag goes to all of them, a note to one run alone. A click on a tag removes it.",
)
"""Hints for no, one and several chosen runs."""


class NotesCard:
    """The card with the note and the tags of the chosen runs; ``on_change`` is called after every change."""

    def __init__(self, on_change: Callable[[], None]):
        self._on_change, self._document = on_change, pn.state.curdoc
        self._chosen: list[Reading] = []
        self.note = in_form(
            pn.widgets.TextAreaInput(
                label="Note", rows=2, placeholder="What is to be remembered of this run"
            )
        )
        self.tag = styled(pn.widgets.TextInput(label="New tag", placeholder="Enter adds it"))
        self.tags = styled(Toggles(label="Tags", options=[], value=[]))
        self.hint, self.said = text(), text()
        self._fields = column(
            self.note,
            column(self.tags, self.tag, kind="wb-bar"),
            kind="wb-stack",
            visible=False,
        )
        self.card = column(
            text("<h2>Notes and tags</h2>"), self.hint, self._fields, self.said, kind="wb-card"
        )
        self.note.param.watch(self._note_changed, "value")
        self.tag.param.watch(self._tag_typed, "value")
        self.tags.param.watch(self._tag_clicked, "value")

    def show(self, readings: dict[str, Reading], chosen: Iterable[str]) -> None:
        """Show the notes and tags of the chosen runs."""
        before, self._chosen = (
            [one.name for one in self._chosen],
            [readings[name] for name in chosen if name in readings],
        )
        names, n = [one.name for one in self._chosen], min(len(self._chosen), 2)
        self.hint.object = message(HINTS[n].format(names[0] if n == 1 else len(names)))
        self._fields.visible, self.note.visible = n > 0, n == 1
        self.note.value = self._written
        tags = sorted({tag for one in self._chosen for tag in one.notes.tags})
        self.tags.param.update(options=tags, value=tags, visible=bool(tags))
        if names != before:
            self.said.say("")

    @property
    def _written(self) -> str:
        """Return the note of the chosen run; empty unless exactly one run is chosen."""
        return self._chosen[0].notes.note if len(self._chosen) == 1 else ""

    def _note_changed(self, event) -> None:
        if len(self._chosen) == 1 and event.new != self._written:
            self._write(lambda one: annotate(one.path, note=event.new))

    def _tag_typed(self, event) -> None:
        if tag := event.new.strip():
            self.tag.value = ""
            self._write(lambda one: annotate(one.path, tags=[*read_notes(one.path).tags, tag]))

    def _tag_clicked(self, event) -> None:
        if gone := set(self.tags.options) - set(event.new):
            kept = [tag for tag in self.tags.options if tag not in gone]
            self.tags.param.update(options=kept, value=kept)
            self._write(
                lambda one: annotate(
                    one.path, tags=[tag for tag in read_notes(one.path).tags if tag not in gone]
                )
            )

    def _write(self, change: Callable[[Reading], object]) -> None:
        """Apply a change to the notes or tags of the chosen runs."""
        chosen = list(self._chosen)

        def then(result: object, error: Exception | None) -> None:
            self.said.say(*((sentence_of(error), "bad") if error else ("Saved.", "good")))
            self._on_change()

        if chosen and not policy().read_only:
            in_background(self._document, lambda: list(map(change, chosen)), then)
