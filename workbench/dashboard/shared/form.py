"""The fields of the form, drawn by one part of the page: a Bokeh widget of each made every page three times as heavy."""

import contextlib
from collections.abc import Callable, Iterator

import panel as pn
import param

from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.ui_events import DRAWN
from workbench.dashboard.shared.values import Column, Field, Menu

HEADING, FOLD = "heading", "fold"  # kinds of parts that are no fields


class Form(Drawn):
    """Draws fields, headings and buttons of folds. What is typed goes into the fields; a fold that is pressed, to ``on_fold``.

    Parameters
    ----------
    parts : dict
        Name → a `Field`, or HEADING or FOLD, in the order in which they stand.
    """

    parts = param.List(doc="What there is: name, kind and looks of each; sent once.")
    values = param.Dict(
        default={}, doc="Field → what it holds at first, as text, or a list of texts."
    )
    news = param.Dict(
        default={},
        doc="number: of the message; values: of fields that others than the browser have changed.",
    )
    menus = param.Dict(default={}, doc="Field → what its menu says.")
    seen = param.List(doc="Names of the parts that are seen.")
    told = param.Dict(default={}, doc="Heading or fold → its text.")
    unfolded = param.List(doc="Names of the folds that are open.")
    wrong = param.Dict(default={}, doc="Field → what is wrong with it, told under it.")

    _esm = code("sending", "form")
    _stylesheets = style("uploads", "form")

    def __init__(self, parts: dict[str, Field | str], on_fold: Callable[[str], None]):
        self._fields = {name: part for name, part in parts.items() if isinstance(part, Field)}
        self._folds = [name for name, part in parts.items() if part == FOLD]
        # of known: field → what the browser shows
        self._on_fold, self._known, self._waits = on_fold, {}, False
        self._document = pn.state.curdoc
        super().__init__(parts=[_described(name, part) for name, part in parts.items()])
        for field in self._fields.values():
            field.watch(self._fill)
        self.fill_menus()

    def fill_menus(self) -> None:
        """Brings the menus to the options of their fields, and what they hold to these."""
        self.menus = {
            name: list(field.options)
            for name, field in self._fields.items()
            if isinstance(field, Menu | Column)
        }
        self._fill()

    def show(self, seen: list[str], told: dict[str, str], unfolded: list[str]) -> None:
        """Shows these fields, with these headings, and the folded groups that are to be open."""
        self.param.update(seen=seen, told=told, unfolded=unfolded)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Has the browser told once of all that is changed meanwhile: of two messages of an event the last alone gets there."""
        outermost, self._waits = not self._waits, True
        try:
            yield
        finally:
            self._waits = not outermost
            if outermost:
                self.fill_menus()

    def _fill(self) -> None:
        if self._waits:
            return
        held = {name: field.shown() for name, field in self._fields.items()}
        changed = {name: value for name, value in held.items() if value != self._known.get(name)}
        self._known = held
        if changed and self._document in DRAWN:
            self.news = {"number": self.news.get("number", 0) + 1, "values": changed}
        elif changed:
            self.values = held

    def _handle_msg(self, said) -> None:
        if not isinstance(said, dict):
            return
        if said.get("press") in self._folds:
            self._on_fold(said["press"])
        name, shown = str(said.get("field")), said.get("value")
        if name in self._fields:
            self._known[name] = shown
            with contextlib.suppress(ValueError):
                self._fields[name].value = self._fields[name].typed(shown)


def _described(name: str, part: Field | str) -> dict:
    if isinstance(part, str):
        return {"name": name, "kind": part}
    return {
        "name": name,
        "kind": part.kind,
        "label": part.label,
        "meaning": part.meaning,
    } | part.looks
