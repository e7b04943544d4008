"""The form: what is to be run.

It only holds values; they are checked by the constructors that the command line uses, so that the
sentences about mistakes are the same everywhere. A sentence about a field stands under that field.
"""

from functools import lru_cache, partial

import panel as pn

from workbench.corpus import CorpusError
from workbench.corpus.catalog.named import DEFAULT
from workbench.dashboard.compare.columns import guessed
from workbench.dashboard.compare.fields import (
    AT_RANDOM,
    FILE,
    OF_FILES,
    OF_RECORDS,
    SPLIT,
    choices,
    corpora,
    defaults,
    engine_hints,
    fields_of_networks,
    grouped,
    number_field,
    option_field,
    reading_fields,
    record_fields,
    single_fields,
    upload_field,
)
from workbench.dashboard.compare.mistakes import mistake_of, mistakes_in
from workbench.dashboard.compare.starting import describe_sweep, paces
from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.form import FOLD, HEADING, Form
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.received import Inbox, Received
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import button, column, message, text
from workbench.dashboard.shared.ui_events import with_lock
from workbench.dashboard.shared.values import Field, Menu, Ticks
from workbench.engines import ENGINES, FIRST_CHOICE, get_engine
from workbench.models.networks.network import Network
from workbench.records import Records
from workbench.runs.settings import DEFAULT_ENGINES
from workbench.runs.spec import PRIORS, model_fields

NOT_STARTED = "Nothing is started; fix the highlighted fields."
OF_COLUMNS = ("text", "title", "label", f"{OF_FILES}time")
ALWAYS = ("format", *OF_COLUMNS)
"""How a file is read, unfolded."""
OF_DOCUMENTS = (
    "top_words",
    "merge",
    "repeat",
    "singletons",
    "holdout_per",
    "holdout_rows",
    "start",
)
"""What means nothing to records."""
OF_MADE = ("network", "n_states")
"""Options that mean nothing to a published Bayesian network."""
FOLDS = {"fold:corpus": "Preprocessing", "fold:options": "Options", "fold:priors": "Priors"}


class Settings:
    """The form with its buttons.

    ``on_start`` is called with checked values, ``on_preview`` with values of which those about the corpus are checked, and
    ``on_file`` with what `columns_of` takes when another file is named; who finds its columns calls `offer_columns`.
    """

    def __init__(
        self,
        on_start=lambda values: None,
        on_preview=lambda values: None,
        on_file=lambda asked: None,
    ):
        self._on_start, self._on_preview, self._on_file = on_start, on_preview, on_file
        self.inbox = Inbox(self._take_file)
        self.upload = upload_field(self.inbox.token)
        # whose columns are asked for, and what they are where they are known
        self._file, self._columns = None, None
        self.corpus = Menu("Corpus", corpora(), DEFAULT, wide=True)
        self.path = Field(
            "Path of the corpus",
            placeholder="docword.….txt.gz, .csv, .jsonl, folder of .txt",
            wide=True,
        )
        self.single = single_fields()
        (
            self.top_words,
            self.merge,
            self.repeat,
            self.singletons,
            self.holdout_per,
            self.of_records,
            self.holdout_rows,
            self.warm_start_from,
            self.network,
            self.supers,
        ) = self.single.values()
        self.engines = Ticks(
            "Engines", list(ENGINES), list(DEFAULT_ENGINES), FIRST_CHOICE, engine_hints()
        )
        self.numbers = {name: number_field(name, default) for name, default in defaults().items()}
        self.options = {choice.key: option_field(choice.field) for choice in choices()}
        self.reading, self.reading_records, self.of_networks = (
            reading_fields(),
            record_fields(),
            fields_of_networks(),
        )
        self._usual = {name: field.value for name, field in self.fields().items()}
        # of options → their fold, the engines that share them, the first of them
        self._headings: dict[str, tuple] = {}
        self._folded = {
            "fold:corpus": [
                "encoding",
                "keep_text",
                "stop_words",
                "more_stop_words",
                "min_documents",
                "max_share",
                "ngrams",
                "min_letters",
                "lowercase",
                "accents",
                "top_words",
                "token_pattern",
                "segmenter",
                "merge",
                "repeat",
                "singletons",
                *self.reading_records,
                "holdout_per",
                f"{OF_RECORDS}holdout_per",
                "holdout_rows",
            ],
            "fold:options": ["start", "jobs"],
            "fold:priors": [],
        }
        self._unfolded: list[str] = []
        self._parts = self._in_order()
        self.form = Form(self._parts, lambda name: self.unfold(name, name not in self._unfolded))
        self.start = button("Start", color="primary", sizing_mode="stretch_width")
        self.preview = button("Preview data", sizing_mode="stretch_width")
        self.said = text(sizing_mode="stretch_width", visible=False)
        self.ahead = text(sizing_mode="stretch_width")
        self._asked, self._refused, self._pace = {}, None, {}
        self._ready: dict | None = None  # the values, while nothing is wrong with them
        document = pn.state.curdoc
        # or it may be told after what came of it
        self.start.on_click(lambda event: with_lock(document, self._start))
        self.preview.on_click(lambda event: with_lock(document, self._look_at_data))
        for name, field in self.fields().items():
            field.watch(self._show_fields)
            field.watch(partial(self._look_over, name))
        self.upload.watch(self._change_upload)
        for name in ("corpus", "path", "engines", "format", "encoding"):
            self.fields()[name].watch(self._ask_columns)
        self._show_fields()
        self._look_ahead()

    def fields(self) -> dict[str, Field]:
        """Every field by the name it has in a link."""
        return (
            {
                "corpus": self.corpus,
                "path": self.path,
                "engines": self.engines,
            }
            | self.single
            | self.reading
            | self.reading_records
            | self.of_networks
            | self.options
            | self.numbers
        )

    def values(self) -> dict:
        """What is to be run: the corpus and what is done to it, engines, the options and the model of each, seeds, start."""
        ticked, has, file, records = (
            list(self.engines.value),
            self._taken(),
            self.corpus.value == FILE,
            self._of_records(),
        )
        numbers = self.numbers | (
            {name: self.of_networks[f"{OF_RECORDS}{name}"] for name in PRIORS} if records else {}
        )
        reading = self.reading_records if records else self.reading
        return {
            "corpus": self._named() if file else self.corpus.value,
            "read": {
                name.removeprefix(OF_RECORDS).removeprefix(OF_FILES): None
                if field.read() == ""
                else field.read()
                for name, field in reading.items()
                if file and self._is_unusual(name)
            },
            "top_words": None if records else self.top_words.value,
            "merge": 1 if records else self.merge.value,
            "repeat": 1 if records else self.repeat.value,
            "singletons": "keep" if records else self.singletons.value,
            "holdout_per": (self.of_records if records else self.holdout_per).value,
            "holdout_rows": None if records else self.holdout_rows.value.strip() or None,
            "engines": ticked,
            "options": {
                engine: {
                    one.field.name: self.options[one.key].read()
                    for one in choices()
                    if engine in one.engines
                    and not (records and self._published and one.field.name in OF_MADE)
                }
                for engine in ticked
            },
            "start": None if records else self.warm_start_from.value or None,
            "model": self._published if records else self.network.value,
            "sizes": {"super": self.supers.value}
            if not records and _has_supers(self.network.value)
            else None,
        } | {name: field.read() if has.get(name, True) else None for name, field in numbers.items()}

    def offer_columns(
        self,
        asked: tuple,
        columns: dict[str, list[str]] | None,
        guess: bool,
        error: Exception | None,
    ) -> None:
        """Has the menus offer the columns of a file, the obvious ones chosen if ``guess``; or shows what is wrong with it."""
        if asked != self._file:
            return
        self._columns = columns
        if isinstance(error, CorpusError):
            self._refused = _about_corpus(self.values()), self._placed(mistake_of(error, asked[0]))
            self._tell(self._refused[1])
            self._look_ahead()
        likely = guessed(columns or {})
        with self.form.at_once():
            for name in OF_COLUMNS:
                self.reading[name].offer(list(columns or ()), likely.get(name), guess)
        self._show_fields()

    def keep_pace(self, readings: list[Reading]) -> None:
        """Takes in the runs of the store (newest first), from whose pace the duration of new ones is estimated."""
        self._pace = paces(readings)
        self._say_ahead()

    def offer(self, runs: list[str]) -> None:
        """The runs of the store that another one can start from."""
        self.warm_start_from.options = {AT_RANDOM: ""} | {name: name for name in runs}
        if self.warm_start_from.value not in runs:
            self.warm_start_from.value = ""
        self.form.fill_menus()

    def say(self, sentence: str, kind: str = "muted", busy: bool = False) -> None:
        """Shows one sentence under the button, which rests while something is under way."""
        self.start.param.update(disabled=busy, label="Preparing …" if busy else "Start")
        self.preview.disabled = busy
        self.said.say(sentence, kind)

    def refuse(self, error: Exception) -> None:
        """Enables Start again; shows what is wrong with the corpus under its field, all else under the button."""
        if isinstance(error, CorpusError):
            self._refused = (
                _about_corpus(self._asked),
                self._placed(mistake_of(error, self._asked["corpus"])),
            )
            self._tell(self._refused[1])
            self._look_ahead()
            self.say(NOT_STARTED, "bad")
        else:
            self.say(sentence_of(error), "bad")

    def _start(self) -> None:
        self._asked, self._refused = self.values(), None
        found = self._placed(mistakes_in(self._asked))
        self._tell(found)
        if found:
            self.say(NOT_STARTED, "bad")
        else:
            self._on_start(self._asked)

    def _look_at_data(self) -> None:
        self._asked, self._refused = self.values(), None
        found = self._placed(mistakes_in(self._asked))
        about = ("corpus", "path", "upload", "engines", *self.reading)
        found = {field: said for field, said in found.items() if field in about}
        self._tell(found)
        if not found:
            self._on_preview(self._asked)

    # ------------------------------------------------------------------ mistakes

    def _look_over(self, name: str) -> None:
        """After a change: shows what is wrong with that field, and which of the mistakes shown before are there still."""
        found = self._look_ahead()
        self._tell(
            {field: found[field] for field in found if field == name or field in self.form.wrong}
        )

    def _look_ahead(self) -> dict[str, str]:
        """Says how many runs will be started; nothing while something is wrong, which is returned, by field.

        A corpus that was refused stays so until something about it is changed.
        """
        values = self.values()
        found = self._placed(mistakes_in(values))
        if not found and self._refused is not None and self._refused[0] == _about_corpus(values):
            found = self._refused[1]
        self._ready = None if found else values
        self._say_ahead()
        return found

    def _say_ahead(self) -> None:
        """At the pace of the runs that are there, which changes every second; the values are looked over when they change."""
        self.ahead.object = (
            "" if self._ready is None else message(describe_sweep(self._ready, self._pace))
        )

    def _placed(self, found: dict[str, str]) -> dict[str, str]:
        """The mistakes by the field beside which each is shown: that of the corpus may be the path."""
        sent = self.upload.value is not None or not policy().takes_paths
        placed = {"corpus": "upload" if sent else "path"} if self.corpus.value == FILE else {}
        placed |= (
            {name: f"{OF_RECORDS}{name}" for name in ("model", *PRIORS)}
            if self._of_records()
            else {}
        )
        return {placed.get(field, field): said for field, said in found.items()}

    def _tell(self, found: dict[str, str]) -> None:
        """Shows each sentence under its field and marks the field; takes those away that are mended."""
        if found == self.form.wrong:
            return
        if self.form.wrong:
            self.said.say("")
        for fold, names in self._folded.items():
            if not found.keys().isdisjoint(names):
                self.unfold(fold, True)
        self.form.wrong = found

    # ------------------------------------------------------------------ a file of one's own

    def _named(self) -> str | Received:
        """The file that was sent, else the path that is typed."""
        return self.upload.value or (self.path.value.strip() if policy().takes_paths else "")

    def _take_file(self, received: Received) -> None:
        """A file has arrived: it is the corpus now."""
        with self.form.at_once():
            self.upload.value, self.corpus.value = received, FILE

    def _change_upload(self) -> None:
        if self.upload.value is None:
            self.inbox.clear()
        self._show_fields()
        self._look_over("upload")
        self._ask_columns()

    def _ask_columns(self) -> None:
        """Asks for the columns when another file is named, or is to be read in another way."""
        there = self.corpus.value == FILE and not self._of_records()
        asked = (
            (self._named(), self.reading["format"].value, self.reading["encoding"].value)
            if there
            else None
        )
        if asked != self._file:
            self._file = asked
            self.offer_columns(asked, None, False, None)
            if asked is not None:
                self._on_file(asked)

    # ------------------------------------------------------------------ the form

    def unfold(self, fold: str, unfolded: bool) -> None:
        """Shows or hides the fields of a fold."""
        self._unfolded = [
            name for name in FOLDS if (unfolded if name == fold else name in self._unfolded)
        ]
        self._show_fields()

    @property
    def _published(self) -> str | None:
        """The published network that is chosen for records."""
        return self.of_networks[f"{OF_RECORDS}model"].value or None

    def _taken(self) -> dict[str, bool]:
        """The number of topics, and each prior → does the model of a ticked engine have it?"""
        known = {name for engine in self.engines.value for name in model_fields(get_engine(engine))}
        if self._of_records() and self._published:
            known -= set(PRIORS)
        return {"n_topics": "n_topics" in known or not self.engines.value} | {
            name: name in known for name in PRIORS
        }

    def _of_records(self) -> bool:
        """Do all ticked engines infer from records?"""
        return {get_engine(engine).model.data for engine in self.engines.value} == {Records}

    def _is_unusual(self, name: str) -> bool:
        return self.fields()[name].value != self._usual[name]

    def _idle(self) -> set[str]:
        """The fields that mean nothing to the chosen corpus and the ticked engines."""
        ticked = set(self.engines.value)
        networks = any(get_engine(engine).model.is_network for engine in ticked)
        has = self._taken() | {one.key: bool(ticked & set(one.engines)) for one in choices()}
        file, records = self.corpus.value == FILE, self._of_records()
        has |= {
            "path": file and policy().takes_paths and self.upload.value is None,
            f"{OF_RECORDS}holdout_per": records,
        }
        has |= dict.fromkeys(self.reading, file and not records)
        has |= dict.fromkeys(OF_COLUMNS, file and not records and self._columns != {})
        has |= dict.fromkeys(self.reading_records, file and records) | dict.fromkeys(
            OF_DOCUMENTS, not records
        )
        has |= {"model": networks, "super": networks and _has_supers(self.network.value)}
        has |= {f"{OF_RECORDS}{name}": records and has[name] for name in PRIORS} | {
            f"{OF_RECORDS}model": records
        }
        has |= dict.fromkeys(PRIORS, False) if records else {}
        if records and self._published:
            has |= {one.key: False for one in choices() if one.field.name in OF_MADE}
        return {name for name, there in has.items() if not there}

    def _show_fields(self) -> None:
        """Shows the fields that mean something; those of a fold when it is open, else what is unusual among them."""
        fields, idle, told = self.fields(), self._idle(), {"heading:engines": "Engines"}
        for fold, names in self._folded.items():
            offered = [name for name in names if name not in idle]
            changed = [
                f"{fields[name].label} {fields[name].shown() or 'empty'}"
                for name in offered
                if self._is_unusual(name)
            ]
            if offered:
                told[fold] = f"{FOLDS[fold]}: {', '.join(changed) or 'defaults'}"
            if fold not in self._unfolded:
                idle.update(names)
        for name, field in fields.items():
            field.visible = name not in idle
        self.upload.visible = self.corpus.value == FILE
        above = {}
        for heading, (fold, owners, first) in self._headings.items():
            named = ", ".join(engine for engine in owners if engine in self.engines.value)
            if fields[first].visible and named != above.get(fold):
                told[heading] = above[fold] = named
        seen = [
            name
            for name, part in self._parts.items()
            if (name in told if isinstance(part, str) else part.visible)
        ]
        self.form.show(seen, told, self._unfolded)

    def _in_order(self) -> dict[str, Field | str]:
        names = [
            "corpus",
            "upload",
            "path",
            *ALWAYS,
            "fold:corpus",
            *self._folded["fold:corpus"],
            "heading:engines",
            "engines",
        ]
        names += [
            "n_topics",
            "n_iterations",
            "seed",
            "seeds",
            SPLIT,
            *PRIORS,
            *self.of_networks,
            "holdout",
            "model",
            "super",
        ]
        for fold, hyper in (("fold:options", False), ("fold:priors", True)):
            names += [fold, *self._folded[fold]]
            for owners, group in grouped(hyper).items():
                keys = [one.key for one in group]
                heading = f"heading:{keys[0]}"
                self._headings[heading] = fold, owners, keys[0]
                names += [heading, *keys]
                self._folded[fold] += keys
        fields = self.fields() | {"upload": self.upload}
        return {name: fields.get(name, FOLD if name in FOLDS else HEADING) for name in names}

    def view(self) -> pn.Column:
        """The form as a card."""
        start = column(self.ahead, self.preview, self.start, self.said, kind="wb-start")
        told = policy().limits.told()  # below what stays in sight, of which it would take too much
        limits = [text(f'<p class="muted">{told}</p>', sizing_mode="stretch_width")] if told else []
        return column(
            text("<h2>New runs</h2>"),
            self.form,
            start,
            *limits,
            kind="wb-card wb-form",
            width=316,
            sizing_mode=None,
        )


@lru_cache
def _has_supers(model: str) -> bool:
    """Are there super-topics in this network?"""
    return any(each.name == "super" for each in Network.of(model).variables)


def _about_corpus(values: dict) -> dict:
    """What a corpus is refused for."""
    names = (
        "corpus",
        "read",
        "top_words",
        "merge",
        "repeat",
        "singletons",
        "holdout",
        "holdout_per",
        "holdout_rows",
    )
    return {name: values[name] for name in names}
