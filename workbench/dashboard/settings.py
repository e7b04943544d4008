"""The form: what is to be run. Its fields come from the model's and the engines' dataclasses.

The form only holds values; they are checked by the constructors that the command line uses, so that
the sentences about mistakes are the same everywhere.
"""

from __future__ import annotations

import inspect
from dataclasses import Field, fields
from pathlib import Path

import panel as pn

from workbench.corpus import data_sets
from workbench.corpus.catalog import DEFAULT
from workbench.dashboard.shell import button, column, in_form, message, text
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import make_options
from workbench.models import LDA
from workbench.runs.compare import DEFAULT_ENGINES, plan
from workbench.runs.spec import LARGEST_SEED, SpecError, make_spec, whole

FILE = "a file or folder …"
LABELS = {
    "n_topics": "Topics K", "alpha": "alpha", "beta": "beta", "n_iterations": "Iterations", "seed": "Seed",
    "seeds": "Number of seeds", "holdout": "Test share", "n_samples": "Samples", "phases": "Phases", "schedule": "Schedule",
}
MEANINGS = {
    "n_topics": "topics of the model",
    "alpha": "Dirichlet prior per topic, not its total",
    "beta": "Dirichlet prior per word type, not its total",
    "n_iterations": "iterations, each one pass of the engine over the corpus",
    "seed": "seed of the inference; the split stays the same",
    "seeds": "runs of each engine, with seeds that count up",
    "holdout": "share of the tokens held out to measure perplexity; 0 holds out none",
}


class Settings:
    """The form and its Start button. ``on_start`` is called with checked values."""

    def __init__(self, on_start=lambda values: None):
        self._on_start = on_start
        present = [name for name, data_set in data_sets().items() if data_set.folder() is not None]
        self.corpus = in_form(pn.widgets.Select(
            label="Corpus", options=[*present, FILE], value=DEFAULT if DEFAULT in present else FILE, css_classes=["wb-wide"],
        ))
        self.path = in_form(pn.widgets.TextInput(
            label="Path of the corpus", placeholder="docword.….txt.gz, .csv, .jsonl, folder of .txt", css_classes=["wb-wide"]
        ))
        self.engines = in_form(pn.widgets.CheckBoxGroup(
            label="Engines", options=list(ENGINES), value=list(DEFAULT_ENGINES), inline=True, css_classes=["wb-wide"]
        ))
        self.numbers = {name: _number(name, default) for name, default in _defaults().items()}
        self.options = {field.name: _option(field) for field in _option_fields(ENGINES)}
        self.start = button("Start", color="primary", sizing_mode="stretch_width")
        self.said = text(sizing_mode="stretch_width", visible=False)
        self.start.on_click(self._start)
        self.corpus.param.watch(self._show_fields, "value")
        self.engines.param.watch(self._show_fields, "value")
        self._show_fields()

    def widgets(self) -> dict[str, pn.widgets.Widget]:
        """Every field by the name it has in a link."""
        return {"corpus": self.corpus, "path": self.path, "engines": self.engines} | self.options | self.numbers

    def values(self) -> dict:
        """What `plan` takes: the corpus' name or path, engines, options that they have, model, seeds."""
        chosen = {field.name for field in _option_fields(self.engines.value)}
        return {
            "corpus": self.path.value.strip() if self.corpus.value == FILE else self.corpus.value,
            "engines": list(self.engines.value),
            "options": {name: widget.value for name, widget in self.options.items() if name in chosen},
        } | {name: widget.value for name, widget in self.numbers.items()}

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
        try:
            check(values)
        except ValueError as error:
            self.say(sentence_of(error), "bad")
            return
        self._on_start(values)

    def _show_fields(self, event=None) -> None:
        """Shows the options that the chosen engines have, and the path when the corpus is one."""
        self.path.visible = self.corpus.value == FILE
        chosen = {field.name for field in _option_fields(self.engines.value)}
        for name, widget in self.options.items():
            widget.visible = name in chosen

    def view(self) -> pn.Column:
        """The form as a card."""
        engines = column(text('<p class="muted">Engines</p>'), self.engines, kind="wb-wide")
        grid = column(self.corpus, self.path, engines, *self.options.values(), *self.numbers.values(), kind="wb-fields")
        sizes = {"width": 316, "sizing_mode": None}
        return column(text("<h2>New runs</h2>"), grid, self.start, self.said, kind="wb-card wb-form", **sizes)


def check(values: dict) -> None:
    """Everything that can be known without the corpus.

    Raises
    ------
    SpecError, ModelError, OptionError
        One sentence: what was wanted, what came, what to do.
    """
    if not values["engines"]:
        raise SpecError("choose at least one engine; none is ticked")
    LDA(n_topics=values["n_topics"], alpha=values["alpha"], beta=values["beta"])
    for name in values["engines"]:
        engine = get_engine(name)
        own = {field.name for field in fields(engine.options)}
        make_options(engine, {option: value for option, value in values["options"].items() if option in own})
    whole("iterations", values["n_iterations"], 1, 2**20)
    whole("seed", values["seed"], 0, LARGEST_SEED)
    whole("number of seeds", values["seeds"], 1, 100)
    if values["holdout"] is None or not 0 <= values["holdout"] < 1:
        raise SpecError(f"test share must be a number of at least 0 and below 1; got {values['holdout']!r}")
    if not values["corpus"]:
        raise SpecError("the corpus needs a path; type one or choose a corpus of the list")
    if values["corpus"] not in data_sets() and not Path(values["corpus"]).expanduser().exists():
        raise SpecError(f"no file and no folder {values['corpus']!r}; check the path, or choose a corpus of the list")


def sentence_of(error: Exception) -> str:
    """The error as one sentence that begins with a capital."""
    sentence = " ".join(str(error).split()) or type(error).__name__
    return sentence[0].upper() + sentence[1:]


def _defaults() -> dict:
    """Name → default of every number of the form, as the model and `plan` have them."""
    model = {field.name: field.default for field in fields(LDA)}
    run, comparison = inspect.signature(make_spec).parameters, inspect.signature(plan).parameters
    return model | {"n_iterations": run["n_iterations"].default} | {
        name: comparison[name].default for name in ("seed", "seeds", "holdout")
    }


def _option_fields(engines) -> list[Field]:
    """The options of these engines, each name once; an option with several meanings keeps the first."""
    found: dict[str, Field] = {}
    for name in engines:
        for field in fields(get_engine(name).options):
            found.setdefault(field.name, field)
    return sorted(found.values(), key=lambda field: (field.name != "r", bool(field.metadata["choices"])))


def _number(name: str, default):
    """A field for a number; its range is checked at the start, with a sentence."""
    kind = pn.widgets.IntInput if isinstance(default, int) else pn.widgets.FloatInput
    step = 1 if isinstance(default, int) else 0.05
    return in_form(kind(label=LABELS[name], value=default, step=step, description=MEANINGS[name]))


def _option(field: Field):
    """A field for an option of an engine, as its metadata wants it."""
    label, about = LABELS.get(field.name, field.name), field.metadata
    described = {"label": label, "value": field.default, "description": about["meaning"]}
    if about["choices"]:
        return in_form(pn.widgets.Select(options=list(about["choices"]), **described))
    if about["infinite"]:
        return in_form(pn.widgets.TextInput(**described | {"value": f"{field.default:g}", "placeholder": "a number or inf"}))
    if about["whole"]:
        return in_form(pn.widgets.IntInput(**described))
    return in_form(pn.widgets.FloatInput(**described))

