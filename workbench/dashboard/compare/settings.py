"""The form of the Compare page: its fields describe a `RunRequest`, and mistakes stand under the fields."""

from collections import Counter
from functools import partial
from html import escape
from itertools import groupby

import panel as pn

from workbench.corpus import CorpusError
from workbench.corpus.catalog.named import DEFAULT
from workbench.dashboard.compare.columns import guess_columns
from workbench.dashboard.compare.engine_choice import EngineChoice
from workbench.dashboard.compare.fields import (
    OF_COLUMNS,
    about_corpus,
    corpora,
    corpus_field,
    displayed_value,
    field_of,
    files_of,
    path_field,
)
from workbench.dashboard.compare.mistakes import mistake_of, mistakes_in
from workbench.dashboard.compare.starting import describe_sweep, mark_busy, paces
from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.form import WIDE, Fields, Fold, Form, menu
from workbench.dashboard.shared.link import LONGEST, QueryParameter, query_of, take
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import button, column, message, text
from workbench.dashboard.shared.ui_events import with_lock
from workbench.dashboard.shared.uploads import ReceivedFile, Upload
from workbench.runs.reading import changed_options, origin_of
from workbench.runs.request import (
    DATA,
    FILE,
    HYPER,
    OPTIONS,
    PREPROCESSING,
    RUN,
    RunRequest,
    missing_in_request,
    request_fields,
    written,
)
from workbench.runs.settings import DEFAULT_ENGINES, SplitSettings, names
from workbench.runs.spec import RunSpec

NOT_STARTED = "Nothing is started; fix the highlighted fields."
AT_RANDOM = {"random": ""}
OF_UPLOADS = "CSV, Parquet, Excel, JSON lines, a zip of texts …"
USUAL = {"corpus": DEFAULT, "path": "", "engines": ",".join(DEFAULT_ENGINES)}
"""Texts of the fields that no setting declares."""
FOLDED = (PREPROCESSING, OPTIONS, HYPER)
"""Sections of the form that can be folded."""


class Settings:
    """The form for runs, with its buttons.

    ``on_start`` is called with a valid request, ``on_preview`` with one whose corpus settings are valid. ``on_file`` is called
    with the arguments of `columns_of` when another file is named; pass the columns found to `offer_columns`.
    """

    def __init__(
        self,
        on_start=lambda request: None,
        on_preview=lambda request: None,
        on_file=lambda request: None,
        on_change=lambda: None,
    ):
        self._on_start, self._on_preview, self._on_file = on_start, on_preview, on_file
        self.on_change = on_change
        # the file whose columns were asked for, and its columns once known
        self._file, self._columns = None, None
        self._file_of_run = None  # the file whose columns are those of a run
        self._request_fields = request_fields()
        self._defaults = USUAL | {
            name: written(field.default) for name, field in self._request_fields.items()
        }
        self.fields = Fields(self._make)
        self.form = Form(self.fields)
        self.start = button("Start", color="primary", sizing_mode="stretch_width")
        self.preview = button("Preview data", sizing_mode="stretch_width")
        self.status = text(sizing_mode="stretch_width", visible=False)
        self.ahead = text(sizing_mode="stretch_width")
        self._submitted_request, self._refusal, self._pace = None, None, {}
        self._valid_request: RunRequest | None = None  # the request, while it is valid
        self._runs = AT_RANDOM  # what new runs may start from, as entries of a menu
        self._files: dict[str, RunSpec] = {}  # file that runs were read from -> the newest run
        self._n_runs: Counter[str | None] = Counter()  # name or file of a corpus -> its runs
        document = pn.state.curdoc
        # with the lock, or its messages may be sent after the result
        self.start.on_click(lambda event: with_lock(document, self._start))
        self.preview.on_click(lambda event: with_lock(document, self._look_at_data))
        self._show_fields()
        self._look_ahead()

    def _make(self, name: str) -> pn.viewable.Viewable:
        """Return a new widget: a text for "about" and "heading:…", a fold for "fold:…", a field for any other name."""
        kind, _, subject = name.partition(":")
        if kind in ("about", "heading"):
            return text(css_classes=[WIDE])
        if kind == "fold":
            return Fold(subject.capitalize(), self._show_fields)
        metadata = self._request_fields["start"].field.metadata
        makers = {
            "corpus": corpus_field,
            "path": path_field,
            "engines": lambda: EngineChoice(list(DEFAULT_ENGINES)),
            "upload": lambda: Upload("File", OF_UPLOADS, "or give its path below"),
            "start": lambda: menu(metadata["label"], self._runs, "", metadata["help"], wide=True),
        }
        widget = makers.get(name, partial(field_of, name))()
        widget.param.watch(partial(self._changed, name), "value")
        return widget

    def _changed(self, name: str, event) -> None:
        """Update the form after a field has changed."""
        if name == "upload" and event.new is not None:
            self.fields["corpus"].value = FILE
        if name == "corpus" and event.new in self._files:
            self._use_file(event.new)
            return
        self._show_fields()
        self._look_over(name)
        if name in ("corpus", "path", "upload", "engines", "format", "encoding"):
            self._ask_columns()
        self.on_change()

    def text(self, name: str) -> str:
        """Return the value of a field as the text that stands for it in the page's address."""
        return written(self.fields[name].value) if name in self.fields else self._defaults[name]

    def parameters(self) -> dict[str, QueryParameter]:
        """Return a dict name of a field -> its query parameter in the page's address."""
        return {
            name: QueryParameter(
                partial(self.text, name),
                default,
                lambda value, name=name: take(self.fields[name], value),
            )
            for name, default in self._defaults.items()
        }

    def request(self) -> RunRequest:
        """Return the request that the form describes."""
        texts = {name: self.text(name) for name in self.fields if name in self._defaults}
        if not policy().takes_paths:
            texts.pop("path", None)
        return RunRequest.from_query(texts, self._received if self._is_file else None)

    def use(self, spec: RunSpec) -> None:
        """Set the form to the settings of a run."""
        texts = self._defaults | query_of(spec)
        missing = missing_in_request(spec) + self._set(texts)
        if texts["corpus"] == FILE and not texts["path"] and origin_of(spec):
            missing.append("its file")  # whose place a visitor from elsewhere is not told
        self._say_taken(f"The form has the settings of {spec.name}", missing)

    def _set(self, texts: dict[str, str]) -> list[str]:
        """Set fields to values given as texts, or to the default if they are invalid; return the names of the latter."""
        if self._received is not None:
            self.fields["upload"].value = None
        refused_names, parameters = [], self.parameters()
        for name, value in texts.items():
            parameter = parameters[name]
            if len(value) > LONGEST or (parameter.current() != value and not parameter.take(value)):
                parameter.take(self._defaults[name])
                refused_names.append(name)
        return refused_names

    def begin_example(self) -> None:
        """Start the runs of the form as it is at first."""
        self._set(self._defaults)
        self._start()

    def choose_file(self) -> None:
        """Show the fields for a file of one's own."""
        self.fields["corpus"].value = FILE

    def _use_file(self, file: str) -> None:
        """Set the form to a file that runs were read from, and to how the newest of them read it."""
        spec = self._files[file]
        texts = self._defaults | query_of(spec) | {"path": file, "corpus": FILE}
        reading_names = [
            name for name, field in self._request_fields.items() if field.part == "read"
        ]
        missing = self._set({name: texts[name] for name in (*reading_names, "path", "corpus")})
        missing += [
            name for name in changed_options(spec.reading) if name in missing_in_request(spec)
        ]
        self._say_taken(f"The file is read as by {spec.name}", missing)

    def _say_taken(self, sentence: str, missing: list[str]) -> None:
        """Say what was taken from a run, and what was not; the columns of its file are kept as they are."""
        self._file_of_run = self._file
        omissions = f", but not {', '.join(missing)}" if missing else ""
        self.say(f"{sentence}{omissions}.")

    def offer_columns(
        self,
        request: tuple,
        columns: dict[str, list[str]] | None,
        guess: bool,
        error: Exception | None,
    ) -> None:
        """Offer the columns of a file in its fields, and choose the obvious ones if ``guess``; or show the error."""
        if request != self._file:
            return
        self._columns = columns
        if isinstance(error, CorpusError):
            self._refuse_corpus(self.request(), error)
        likely = guess_columns(columns or {})
        for name in OF_COLUMNS if self._is_file else ():
            field = self.fields[name]
            field.options = list(columns or ())
            if guess and request != self._file_of_run and columns and field.value not in columns:
                field.value = likely.get(name) or self._defaults[name]
        self._show_fields()

    def keep_pace(self, readings: list[Reading]) -> None:
        """Set the runs of the store (newest first): from their pace the duration of new runs is estimated.

        The menu of corpora offers the files that they were read from.
        """
        self._pace = paces(readings)
        self._say_ahead()
        specs = [reading.spec for reading in reversed(readings) if reading.spec is not None]
        self._n_runs = Counter(map(origin_of, specs))
        self._files = files_of(specs)
        corpus = self.fields["corpus"]
        corpus.param.update(options=corpora(self._files), value=corpus.value)
        self._show_fields()

    def offer(self, runs: list[str]) -> None:
        """Offer the runs of the store as starting points of new runs."""
        self._runs = AT_RANDOM | {run: run for run in runs}
        if "start" in self.fields:
            start = self.fields["start"]
            start.param.update(options=self._runs, value=start.value if start.value in runs else "")

    def say(self, sentence: str, kind: str = "muted", busy: bool = False) -> None:
        """Show a sentence under the buttons; disable the buttons if ``busy``."""
        mark_busy(self.start, busy)
        self.preview.disabled = busy
        self.status.say(sentence, kind)

    def refuse(self, error: Exception) -> None:
        """Enable Start again, and show the error: about the corpus under its field, any other under the button."""
        if isinstance(error, CorpusError):
            self._refuse_corpus(self._submitted_request, error)
            self.say(NOT_STARTED, "bad")
        else:
            self.say(sentence_of(error), "bad")

    def _start(self) -> None:
        if self._submit():
            self._on_start(self._submitted_request)
        else:
            self.say(NOT_STARTED, "bad")

    def leave_out(self, option: str, value: str) -> None:
        """Add a word to the further stop words, or set another option of reading; then preview the data again."""
        field = self.fields[option]
        if option == "more_stop_words":
            value = ", ".join(filter(None, [field.value, value]))
        field.value = value
        self._look_at_data()

    def _look_at_data(self) -> None:
        if self._submit(self._request_fields):
            self._on_preview(self._submitted_request)

    def _submit(self, ignored_fields=()) -> bool:
        """Take the form's request, show its mistakes outside the ``ignored_fields`` fields; return True if there are none."""
        self._submitted_request, self._refusal = self.request(), None
        mistakes = self._mistakes_at_fields(mistakes_in(self._submitted_request))
        self._tell(
            {name: sentence for name, sentence in mistakes.items() if name not in ignored_fields}
        )
        return not self.form.wrong

    def _refuse_corpus(self, request: RunRequest, error: CorpusError) -> None:
        """Show an error about the corpus under its field, until a setting of the corpus changes."""
        self._refusal = (
            _corpus_settings(request),
            self._mistakes_at_fields(mistake_of(error, request)),
        )
        self._tell(self._refusal[1])
        self._look_ahead()

    # ------------------------------------------------------------------ mistakes

    def _look_over(self, name: str) -> None:
        """Show the mistake in a changed field, and remove the shown mistakes that are now corrected."""
        if 'class="bad"' in self.status.object:
            self.status.say("")
        field_names = {name, *self.form.wrong}
        mistakes = self._look_ahead()
        self._tell({field: mistakes[field] for field in mistakes if field in field_names})

    def _look_ahead(self) -> dict[str, str]:
        """Show how many runs would start, or nothing if there are mistakes; return the mistakes by field.

        The error of a refused corpus stays until a setting of the corpus changes.
        """
        request = self.request()
        mistakes = self._mistakes_at_fields(mistakes_in(request))
        if (
            not mistakes
            and self._refusal is not None
            and self._refusal[0] == _corpus_settings(request)
        ):
            mistakes = self._refusal[1]
        self._valid_request = None if mistakes else request
        self._say_ahead()
        return mistakes

    def _say_ahead(self) -> None:
        """Show the number of runs and their duration, estimated from the pace of runs in the store."""
        self.ahead.object = (
            ""
            if self._valid_request is None
            else message(describe_sweep(self._valid_request, self._pace))
        )

    def _mistakes_at_fields(self, mistakes: dict[str, str]) -> dict[str, str]:
        """Return the mistakes by the field that shows them: "upload" or "path" for a corpus from a file."""
        is_upload = self._received is not None or not policy().takes_paths
        shown_at = {"corpus": "upload" if is_upload else "path"} if self._is_file else {}
        return {shown_at.get(field, field): sentence for field, sentence in mistakes.items()}

    def _tell(self, mistakes: dict[str, str]) -> None:
        """Show these mistakes, each under its field in an open fold, and remove all others."""
        if mistakes == self.form.wrong:
            return
        if self.form.wrong:
            self.status.say("")
        for section in {
            self._request_fields[name].section for name in mistakes if name in self._request_fields
        }:
            if section in FOLDED:
                self.fields[f"fold:{section}"].unfold()
        self.form.wrong = mistakes

    # ------------------------------------------------------------------ a file of one's own

    @property
    def _received(self) -> ReceivedFile | None:
        """Return the file that the visitor uploaded, or None."""
        return self.fields["upload"].value if "upload" in self.fields else None

    def _ask_columns(self) -> None:
        """Ask for the columns if another file is named, or if the file is to be read in another way."""
        key = None
        if self._is_file and not (request := self.request()).of_records:
            key = request.corpus, request.read.get("format"), self.text("encoding")
        if key != self._file:
            self._file = key
            self.offer_columns(key, None, False, None)
            if key is not None:
                self._on_file(key)

    # ------------------------------------------------------------------ the form

    @property
    def _is_file(self) -> bool:
        """Return whether the corpus is a file."""
        return self.text("corpus") == FILE

    def _show_fields(self, *events) -> None:
        """Show the fields that have an effect; a closed fold shows its changed settings as its title."""
        request, sections = self.request(), dict.fromkeys((DATA, RUN, *FOLDED), ())
        corpus_text = about_corpus(self.text("corpus"), self._n_runs[request.corpus])
        self.fields["about"].object = corpus_text and message(corpus_text)
        for name, field in request.used_fields().items():
            sections[field.section] += (name,)
        of_file = ["upload"] if self._is_file else []
        if self._is_file and policy().takes_paths and self._received is None:
            of_file.append("path")
        of_file += (n for n in sections[DATA] if n not in OF_COLUMNS or self._columns != {})
        for section in FOLDED:
            sections[section] = self._names_in_fold(section, sections[section], request.engines)
        self.form.show(
            [
                *("corpus", *["about"][: len(corpus_text)], *of_file, *sections[PREPROCESSING]),
                *("engines", *sections[RUN]),
                *(*sections[OPTIONS], *sections[HYPER]),
            ]
        )

    def _names_in_fold(
        self, section: str, names: tuple[str, ...], engines: tuple[str, ...]
    ) -> list[str]:
        """Return the names of what a fold shows: itself and, if open, its fields, under headings with their engines."""
        fold, names_shown = self.fields[f"fold:{section}"], [f"fold:{section}"] if names else []
        changed_texts = [
            f"{self.fields[name].label} {displayed_value(self.fields[name])}"
            for name in names
            if self.text(name) != self._defaults[name]
        ]
        fold.show(", ".join(changed_texts) or "defaults")

        def sharing(name: str) -> str:
            return ", ".join(
                engine for engine in self._request_fields[name].engines if engine in engines
            )

        for owners, group in groupby(names if fold.is_open else (), sharing):
            first, *others = group
            if owners:
                names_shown.append(f"heading:{first}")
                self.fields[names_shown[-1]].object = f'<p class="group">{escape(owners)}</p>'
            names_shown += [first, *others]
        return names_shown

    def view(self) -> pn.Column:
        """Return the form as a card."""
        limits_text = policy().limits.sentence()  # below what stays in view, or that is too high
        limits = (
            [text(f'<p class="muted">{limits_text}</p>', sizing_mode="stretch_width")]
            if limits_text
            else []
        )
        return column(
            text("<h2>New runs</h2>"),
            self.form,
            column(self.ahead, self.preview, self.start, self.status, kind="wb-start"),
            *limits,
            kind="wb-card wb-form",
            width=316,
            sizing_mode=None,
        )


def _corpus_settings(request: RunRequest) -> tuple:
    """Return the settings that can cause a corpus to be refused."""
    return request.corpus, request.read, *(getattr(request, name) for name in names(SplitSettings))
