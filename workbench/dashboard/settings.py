"""The form: what is to be run.

It only holds values; they are checked by the constructors that the command line uses, so that the
sentences about mistakes are the same everywhere. A sentence about a field stands under that field.
"""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache, partial

import panel as pn

from workbench.corpus.catalog import DEFAULT
from workbench.dashboard.choices import choices, grouped
from workbench.dashboard.fields import (
    AT_RANDOM,
    FILE,
    corpora,
    defaults,
    network_field,
    number_field,
    option_field,
    singletons_field,
    start_field,
    supers_field,
    values_field,
    vocabulary_field,
)
from workbench.dashboard.form import FOLD, HEADING, Form
from workbench.dashboard.mistakes import Mistake, mistake_in
from workbench.dashboard.readings import Reading
from workbench.dashboard.shell import button, column, message, text
from workbench.dashboard.sweeps import paces, told_ahead
from workbench.dashboard.values import Field, Menu, Ticks
from workbench.engines import ENGINES, get_engine
from workbench.models import LDA
from workbench.models.network import Network
from workbench.models.network_files import network_of
from workbench.runs.compare import DEFAULT_ENGINES
from workbench.runs.spec import model_fields

MODEL = [field.name for field in fields(LDA)]
PRIORS = ("alpha", "beta")
"""What only some models have."""


class Settings:
    """The form and its Start button. ``on_start`` is called with checked values."""

    def __init__(self, on_start=lambda values: None):
        self._on_start = on_start
        self.corpus = Menu("Corpus", corpora(), DEFAULT, wide=True)
        self.path = Field("Path of the corpus", placeholder="docword.….txt.gz, .csv, .jsonl, folder of .txt", wide=True)
        self.top_words, self.singletons, self.start_from = vocabulary_field(), singletons_field(), start_field()
        self.engines = Ticks("Engines", list(ENGINES), list(DEFAULT_ENGINES))
        self.numbers = {
            name: (values_field if name in MODEL else number_field)(name, default) for name, default in defaults().items()
        }
        self.network, self.supers = network_field(), supers_field()
        self.options = {choice.key: option_field(choice.field) for choice in choices()}
        self._usual = {key: field.value for key, field in self.options.items()}
        self._groups = {hyper: grouped(hyper) for hyper in (False, True)}
        self._unfolded = False
        self._parts = self._in_order()
        self.form = Form(self._parts, lambda: self.unfold(not self._unfolded))
        self.start = button("Start", color="primary", sizing_mode="stretch_width")
        self.said = text(sizing_mode="stretch_width", visible=False)
        self.ahead = text(sizing_mode="stretch_width")
        self._mistake, self._pace = None, {}
        self.start.on_click(self._start)
        shown = (self.corpus, self.engines, self.network, *(self.options[choice.key] for choice in choices() if choice.hyper))
        for field in shown:
            field.watch(self._show_fields)
        for name, field in self.fields().items():
            field.watch(partial(self._look_over, name))
        self._show_fields()
        self._look_ahead()

    def fields(self) -> dict[str, Field]:
        """Every field by the name it has in a link."""
        return {
            "corpus": self.corpus, "path": self.path, "top_words": self.top_words, "singletons": self.singletons,
            "engines": self.engines, "start": self.start_from, "model": self.network, "super": self.supers,
        } | self.options | self.numbers

    def values(self) -> dict:
        """What is to be run: the corpus and what is done to it, engines, the options and the model of each, seeds, start."""
        ticked, has = list(self.engines.value), self._priors()
        return {
            "corpus": self.path.value.strip() if self.corpus.value == FILE else self.corpus.value,
            "top_words": self.top_words.value,
            "singletons": self.singletons.value,
            "engines": ticked,
            "options": {
                engine: {one.field.name: self.options[one.key].read() for one in choices() if engine in one.engines}
                for engine in ticked
            },
            "start": self.start_from.value or None,
            "model": self.network.value,
            "sizes": {"super": self.supers.value} if _has_supers(self.network.value) else None,
        } | {name: field.read() if has.get(name, True) else None for name, field in self.numbers.items()}

    def keep_pace(self, readings: list[Reading]) -> None:
        """The runs of the store tell how long others will take; the newest are first."""
        pace = paces(readings)
        if pace != self._pace:
            self._pace = pace
            self._look_ahead()

    def offer(self, runs: list[str]) -> None:
        """The runs of the store that another one can start from."""
        options = {AT_RANDOM: ""} | {name: name for name in runs}
        if options != self.start_from.options:
            self.start_from.options = options
            if self.start_from.value not in options.values():
                self.start_from.value = ""
            self.form.fill_menus()

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
        found, told = self._look_ahead(), self._mistake
        if found is not None and self._place(found) in (name, told and self._place(told)):
            self._tell(found)
        elif told is not None:
            self._tell(None)

    def _look_ahead(self) -> Mistake | None:
        """Says how many runs will be started; nothing while something is wrong, which is returned."""
        values = self.values()
        mistake = mistake_in(values)
        said = "" if mistake else message(told_ahead(values, self._pace))
        if said != self.ahead.object:
            self.ahead.object = said
        return mistake

    def _place(self, mistake: Mistake) -> str:
        """The field beside which it is told: the corpus may be the path."""
        return "path" if mistake.field == "corpus" and self.corpus.value == FILE else mistake.field

    def _tell(self, mistake: Mistake | None) -> None:
        """Shows the sentence under its field and marks the field; None takes both away."""
        if mistake == self._mistake:
            return
        if self._mistake is not None:
            self.say("")
        self._mistake = mistake
        if mistake is None:
            self.form.mark()
            return
        name = self._place(mistake)
        if not self.fields()[name].visible:
            self.unfold(True)
        self.form.mark(name, mistake.sentence)

    # ------------------------------------------------------------------ the form

    def unfold(self, unfolded: bool) -> None:
        """Shows or hides the options about priors."""
        self._unfolded = unfolded
        self._show_fields()

    def _priors(self) -> dict[str, bool]:
        """Prior → does the model of a ticked engine have it?"""
        known = {name for engine in self.engines.value for name in model_fields(get_engine(engine))}
        return {name: name in known for name in PRIORS}

    def _has_networks(self) -> bool:
        """Is an engine of networks ticked?"""
        return any(get_engine(engine).model is Network for engine in self.engines.value)

    def _show_fields(self) -> None:
        """Shows what the ticked engines have, the priors' options only unfolded, and the path when the corpus is one."""
        self.path.visible = self.corpus.value == FILE
        ticked, told = set(self.engines.value), {"heading:engines": "Engines", "heading:runs": "Model and runs"}
        for name, has in self._priors().items():
            self.numbers[name].visible = has
        self.network.visible = self._has_networks()
        self.supers.visible = self._has_networks() and _has_supers(self.network.value)
        for hyper, groups in self._groups.items():
            above = ""
            for owners, group in groups.items():
                visible = bool(ticked & set(owners)) and (self._unfolded or not hyper)
                named = ", ".join(engine for engine in owners if engine in ticked)
                if visible and named != above:
                    told[_heading(hyper, owners)] = named
                above = named if visible else above
                for one in group:
                    self.options[one.key].visible = visible
        offered = [one.key for one in choices() if one.hyper and ticked & set(one.engines)]
        changed = sum(self.options[key].value != self._usual[key] for key in offered)
        if offered:
            told[FOLD] = f"{'▾' if self._unfolded else '▸'} Priors: {f'{changed} changed' if changed else 'as usual'}"
        seen = [name for name, part in self._parts.items() if (name in told if isinstance(part, str) else part.visible)]
        self.form.show(seen, told)

    def _in_order(self) -> dict[str, Field | str]:
        """What the form holds, in order."""
        fields = self.fields()
        names = ["corpus", "path", "top_words", "holdout", "singletons", "heading:engines", "engines"]
        names += [*self._options(hyper=False), "heading:runs", "model", "super"]
        names += [name for name in self.numbers if name != "holdout"]
        names += ["start", FOLD, *self._options(hyper=True)]
        return {name: fields.get(name, FOLD if name == FOLD else HEADING) for name in names}

    def _options(self, hyper: bool) -> list[str]:
        """The options about priors or the others, under the headings of the engines that have them."""
        names = []
        for owners, group in self._groups[hyper].items():
            names += [_heading(hyper, owners), *(one.key for one in group)]
        return names

    def view(self) -> pn.Column:
        """The form as a card."""
        sizes = {"width": 316, "sizing_mode": None}
        return column(text("<h2>New runs</h2>"), self.form, self.ahead, self.start, self.said, kind="wb-card wb-form", **sizes)


@lru_cache
def _has_supers(model: str) -> bool:
    """Are there super-topics in this network?"""
    return any(each.name == "super" for each in network_of(model).variables)


def _heading(hyper: bool, owners: tuple[str, ...]) -> str:
    """The name of the heading of the options that these engines share."""
    return f"heading:{'priors' if hyper else 'options'}:{','.join(owners)}"
