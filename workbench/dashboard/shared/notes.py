"""The card for notes and tags of the chosen runs: a note of one run, tags of one or many."""

import panel as pn
import param

from workbench.dashboard.shared.background import in_background, sentence_of
from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import column, text
from workbench.runs.store.notes import annotate, read_notes

WAYS = {
    "note": lambda path, note: annotate(path, note=note),
    "tag": lambda path, tag: annotate(path, tags=[*read_notes(path).tags, tag]),
    "untag": lambda path, tag: annotate(
        path, tags=[other for other in read_notes(path).tags if other != tag]
    ),
}
"""Key of a message → the function that changes the run in a folder."""


class NotesCard(Drawn):
    """The fields, and the card that they are in; ``on_change`` is called after every change."""

    written = param.Dict(
        default={}, doc="names of the chosen runs, notes of one alone, tags of any of them."
    )
    said = param.String(doc="The result of the last change.")
    wrong = param.Boolean(default=False, doc="Was that a mistake?")

    _esm = code("notes")
    _stylesheets = style("notes")

    def __init__(self, on_change):
        super().__init__()
        self._on_change, self._document = on_change, pn.state.curdoc
        self._readings: dict[str, Reading] = {}
        self.card = column(text("<h2>Notes and tags</h2>"), self, kind="wb-card")

    def show(self, readings: dict[str, Reading], chosen: list[str]) -> None:
        """Shows the notes and tags of the chosen runs."""
        self._readings = readings
        seen = [readings[name] for name in chosen if name in readings]
        written = {
            "names": [reading.name for reading in seen],
            "notes": seen[0].notes.note if len(seen) == 1 else "",
            "tags": sorted({tag for reading in seen for tag in reading.notes.tags}),
        }
        if written != self.written:
            chose_others = written["names"] != self.written.get("names")
            self.param.update(
                written=written, **{"said": "", "wrong": False} if chose_others else {}
            )

    def _handle_msg(self, said) -> None:
        """Writes a note, or adds or removes a tag, of runs that are in the store."""
        given = said if isinstance(said, dict) else {}
        names = given.get("runs")
        if (
            policy().read_only
            or not isinstance(names, list)
            or not all(isinstance(name, str) for name in names)
        ):
            return
        paths = [self._readings[name].path for name in names if name in self._readings]
        change = {
            way: typed for way, typed in given.items() if way in WAYS and isinstance(typed, str)
        }

        def work() -> None:
            for path in paths:
                for way, typed in change.items():
                    WAYS[way](path, typed)

        def then(result, error) -> None:
            self.param.update(
                said=sentence_of(error) if error else "Saved.", wrong=error is not None
            )
            self._on_change()

        if paths and change:
            in_background(self._document, work, then)
