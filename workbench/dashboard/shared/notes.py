"""The card for notes and tags of the chosen runs: a note of one run, tags of one or many."""

from __future__ import annotations

import panel as pn
import param

from workbench.dashboard.shared.background import in_background, sentence_of
from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import column, text
from workbench.runs.store.notes import annotate, read_notes

WAYS = {
    "note": lambda path, note: annotate(path, note=note),
    "tag": lambda path, tag: annotate(path, tags=[*read_notes(path).tags, tag]),
    "untag": lambda path, tag: annotate(path, tags=[other for other in read_notes(path).tags if other != tag]),
}
"""Key of a message → the function that changes the run in a folder."""


class NotesField(Drawn):
    """The fields; calls ``on_write`` with what is typed into them."""

    written = param.Dict(default={}, doc="names of the chosen runs, notes of one alone, tags of any of them.")
    said = param.String(doc="The result of the last change.")
    wrong = param.Boolean(default=False, doc="Was that a mistake?")

    _esm = code("notes")
    _stylesheets = style("notes")

    def __init__(self, on_write, **settings):
        super().__init__(**settings)
        self._on_write = on_write

    def _handle_msg(self, said) -> None:
        given = said if isinstance(said, dict) else {}
        names = given.get("runs")
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            self._on_write(names, {key: value for key, value in given.items() if key in WAYS and isinstance(value, str)})


class NotesCard:
    """The card. ``on_change`` is called after every change."""

    def __init__(self, on_change):
        self._on_change, self._document = on_change, pn.state.curdoc
        self._readings: dict[str, Reading] = {}
        self.field = NotesField(self.write)
        self.card = column(text("<h2>Notes and tags</h2>"), self.field, kind="wb-card")

    def show(self, readings: dict[str, Reading], chosen: list[str]) -> None:
        """Shows the notes and tags of the chosen runs."""
        self._readings = readings
        seen = [readings[name] for name in chosen if name in readings]
        written = {
            "names": [reading.name for reading in seen], "notes": seen[0].notes.note if len(seen) == 1 else "",
            "tags": sorted({tag for reading in seen for tag in reading.notes.tags}),
        }
        if written != self.field.written:
            chose_others = written["names"] != self.field.written.get("names")
            self.field.param.update(written=written, **{"said": "", "wrong": False} if chose_others else {})

    def write(self, names: list[str], change: dict[str, str]) -> None:
        """Writes a note, or adds or removes a tag, of runs that are in the store."""
        paths = [self._readings[name].path for name in names if name in self._readings]

        def work() -> None:
            for path in paths:
                for way, given in change.items():
                    WAYS[way](path, given)

        def then(result, error) -> None:
            self.field.param.update(said=sentence_of(error) if error else "Saved.", wrong=error is not None)
            self._on_change()

        if paths and change:
            in_background(self._document, work, then)
