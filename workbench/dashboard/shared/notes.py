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
        self._chosen_readings: list[Reading] = []
        self.note = in_form(
            pn.widgets.TextAreaInput(
                label="Note", rows=2, placeholder="What is to be remembered of this run"
            )
        )
        self.tag = styled(pn.widgets.TextInput(label="New tag", placeholder="Enter adds it"))
        self.tags = styled(Toggles(label="Tags", options=[], value=[]))
        self.hint, self.status = text(), text()
        self._fields = column(
            self.note,
            column(self.tags, self.tag, kind="wb-bar"),
            kind="wb-stack",
            visible=False,
        )
        self.card = column(
            text("<h2>Notes and tags</h2>"), self.hint, self._fields, self.status, kind="wb-card"
        )
        self.note.param.watch(self._note_changed, "value")
        self.tag.param.watch(self._tag_typed, "value")
        self.tags.param.watch(self._tag_clicked, "value")

    def show(self, readings: dict[str, Reading], chosen_names: Iterable[str]) -> None:
        """Show the notes and tags of the chosen runs."""
        names_before, self._chosen_readings = (
            [reading.name for reading in self._chosen_readings],
            [readings[name] for name in chosen_names if name in readings],
        )
        names, n = (
            [reading.name for reading in self._chosen_readings],
            min(len(self._chosen_readings), 2),
        )
        self.hint.object = message(HINTS[n].format(names[0] if n == 1 else len(names)))
        self._fields.visible, self.note.visible = n > 0, n == 1
        self.note.value = self._note_written
        tags = sorted({tag for reading in self._chosen_readings for tag in reading.notes.tags})
        self.tags.param.update(options=tags, value=tags, visible=bool(tags))
        if names != names_before:
            self.status.say("")

    @property
    def _note_written(self) -> str:
        """Return the note of the chosen run; empty unless exactly one run is chosen."""
        return self._chosen_readings[0].notes.note if len(self._chosen_readings) == 1 else ""

    def _note_changed(self, event) -> None:
        if len(self._chosen_readings) == 1 and event.new != self._note_written:
            self._write(lambda reading: annotate(reading.path, note=event.new))

    def _tag_typed(self, event) -> None:
        if tag := event.new.strip():
            self.tag.value = ""
            self._write(
                lambda reading: annotate(reading.path, tags=[*read_notes(reading.path).tags, tag])
            )

    def _tag_clicked(self, event) -> None:
        if removed_tags := set(self.tags.options) - set(event.new):
            kept_tags = [tag for tag in self.tags.options if tag not in removed_tags]
            self.tags.param.update(options=kept_tags, value=kept_tags)
            self._write(
                lambda reading: annotate(
                    reading.path,
                    tags=[tag for tag in read_notes(reading.path).tags if tag not in removed_tags],
                )
            )

    def _write(self, change: Callable[[Reading], object]) -> None:
        """Apply a change to the notes or tags of the chosen runs."""
        readings = list(self._chosen_readings)

        def on_result(result: object, error: Exception | None) -> None:
            self.status.say(*((sentence_of(error), "bad") if error else ("Saved.", "good")))
            self._on_change()

        if readings and not policy().read_only:
            in_background(self._document, lambda: list(map(change, readings)), on_result)
