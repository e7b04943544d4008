"""The form: what is to be run.

It only holds values; they are checked by the constructors that the command line uses, so that the
sentences about mistakes are the same everywhere. A sentence about a field stands under that field.
"""

from __future__ import annotations

import panel as pn

from workbench.corpus.catalog import DEFAULT
from workbench.dashboard.fields import (
    AT_RANDOM,
    FILE,
    corpora,
    defaults,
    number_field,
    option_field,
    option_groups,
    singletons_field,
    start_field,
    vocabulary_field,
)
from workbench.dashboard.mistakes import Mistake, mistake_in
from workbench.dashboard.shell import button, column, in_form, message, text
from workbench.engines import ENGINES
from workbench.runs.compare import DEFAULT_ENGINES

ACROSS = {"css_classes": ["wb-across"], "sizing_mode": "stretch_width"}
WRONG = "wb-wrong"


class Settings:
    """The form and its Start button. ``on_start`` is called with checked values."""

    def __init__(self, on_start=lambda values: None):
        self._on_start = on_start
        self.corpus = in_form(pn.widgets.Select(label="Corpus", options=corpora(), value=DEFAULT, css_classes=["wb-wide"]))
        self.path = in_form(pn.widgets.TextInput(
            label="Path of the corpus", placeholder="docword.….txt.gz, .csv, .jsonl, folder of .txt", css_classes=["wb-wide"]
        ))
        self.top_words, self.singletons, self.start_from = vocabulary_field(), singletons_field(), start_field()
        self.engines = in_form(pn.widgets.CheckBoxGroup(
            label="Engines", options=list(ENGINES), value=list(DEFAULT_ENGINES), inline=True,
            css_classes=["wb-across", "wb-listed"],
        ))
        self.numbers = {name: number_field(name, default) for name, default in defaults().items()}
        self.groups = option_groups()
        self.options = {field.name: option_field(field) for group in self.groups.values() for field in group}
        self._headings = {owners: text(**ACROSS) for owners in self.groups}
        self.start = button("Start", color="primary", sizing_mode="stretch_width")
        self.said = text(sizing_mode="stretch_width", visible=False)
        self._wrong, self._mistake = text(**ACROSS), None
        self._grid = column(*self._fields(), kind="wb-fields")
        self.start.on_click(self._start)
        for widget in (self.corpus, self.engines):
            widget.param.watch(self._show_fields, "value")
        for name, widget in self.widgets().items():
            widget.param.watch(lambda event, name=name: self._look_over(name), "value")
        self._show_fields()

    def widgets(self) -> dict[str, pn.widgets.Widget]:
        """Every field by the name it has in a link."""
        return {
            "corpus": self.corpus, "path": self.path, "top_words": self.top_words, "singletons": self.singletons,
            "engines": self.engines, "start": self.start_from,
        } | self.options | self.numbers

    def values(self) -> dict:
        """What `plan` takes: the corpus' name or path and what is done to it, engines, options that they have, model, seeds."""
        return {
            "corpus": self.path.value.strip() if self.corpus.value == FILE else self.corpus.value,
            "top_words": self.top_words.value,
            "singletons": self.singletons.value,
            "engines": list(self.engines.value),
            "options": {name: self.options[name].value for name in self._chosen_options()},
            "start": self.start_from.value or None,
        } | {name: widget.value for name, widget in self.numbers.items()}

    def offer(self, runs: list[str]) -> None:
        """The runs of the store that another one can start from."""
        options = {AT_RANDOM: ""} | {name: name for name in runs}
        if options != self.start_from.options:
            gone = self.start_from.value not in options.values()
            self.start_from.param.update(options=options, **{"value": ""} if gone else {})

    def say(self, sentence: str, kind: str = "muted") -> None:
        """Shows one sentence under the button."""
        self.said.object, self.said.visible = message(sentence, kind), bool(sentence)

    def busy(self, sentence: str) -> None:
        """Says that something is under way; Start rests until `ready`."""
        self.start.disabled, self.start.label = True, "Preparing …"
        self.say(sentence)

    def ready(self, sentence: str = "", kind: str = "muted") -> None:
        """Start can be pressed again."""
        self.start.disabled, self.start.label = False, "Start"
        self.say(sentence, kind)

    def _start(self, event) -> None:
        values = self.values()
        found = mistake_in(values)
        self._tell(found)
        if found is None:
            self._on_start(values)
        else:
            self.say("Nothing is started; mend the field that is marked.", "bad")

    # ------------------------------------------------------------------ mistakes

    def _look_over(self, name: str) -> None:
        """After a change: tells what is wrong with that field, and forgets what was wrong before."""
        found = mistake_in(self.values())
        told = self._mistake
        if found is not None and self._place(found) in (name, told and self._place(told)):
            self._tell(found)
        elif told is not None:
            self._tell(None)

    def _place(self, mistake: Mistake) -> str:
        """The field beside which it is told: the corpus may be the path."""
        return "path" if mistake.field == "corpus" and self.corpus.value == FILE else mistake.field

    def _tell(self, mistake: Mistake | None) -> None:
        """Shows the sentence under its field and marks the field; None takes both away."""
        if mistake == self._mistake:
            return
        for widget in self.widgets().values():
            if WRONG in widget.css_classes:
                widget.css_classes = [kind for kind in widget.css_classes if kind != WRONG]
        if self._mistake is not None:
            self._grid.remove(self._wrong)
            self.say("")
        self._mistake = mistake
        if mistake is not None:
            widget = self.widgets()[self._place(mistake)]
            widget.css_classes = [*widget.css_classes, WRONG]
            self._wrong.object = message(mistake.sentence, "bad")
            self._grid.insert(self._grid.objects.index(widget) + 1, self._wrong)

    # ------------------------------------------------------------------ the form

    def _chosen_options(self) -> list[str]:
        """The options that the ticked engines have."""
        chosen = set(self.engines.value)
        return [field.name for owners, group in self.groups.items() if chosen & set(owners) for field in group]

    def _show_fields(self, event=None) -> None:
        """Shows the options that the chosen engines have, and the path when the corpus is one."""
        self.path.visible = self.corpus.value == FILE
        chosen = self._chosen_options()
        for name, widget in self.options.items():
            widget.visible = name in chosen
        for owners, heading in self._headings.items():
            ticked = [engine for engine in owners if engine in self.engines.value]
            heading.visible, heading.object = bool(ticked), _heading(", ".join(ticked))

    def _fields(self) -> list:
        """What the grid holds, in order."""
        parts = [self.corpus, self.path, self.top_words, self.numbers["holdout"], self.singletons]
        parts += [text(_heading("Engines"), **ACROSS), self.engines]
        for owners, group in self.groups.items():
            parts += [self._headings[owners], *(self.options[field.name] for field in group)]
        parts.append(text(_heading("Model and runs"), **ACROSS))
        return [*parts, *(widget for name, widget in self.numbers.items() if name != "holdout"), self.start_from]

    def view(self) -> pn.Column:
        """The form as a card."""
        sizes = {"width": 316, "sizing_mode": None}
        return column(text("<h2>New runs</h2>"), self._grid, self.start, self.said, kind="wb-card wb-form", **sizes)


def _heading(words: str) -> str:
    return f'<p class="group">{words}</p>'
