"""A request for runs, made by a form, a link or Python: its checks, and the runs that it describes.

A field of a form and a parameter of a link have the same name, and a text as value: `RunRequest.from_query` reads these texts,
and `RunRequest.to_query` writes those that differ from the defaults.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields, replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import NamedTuple, Self

from workbench.corpus.catalog.named import DEFAULT
from workbench.corpus.formats.readers import FORMATS
from workbench.corpus.quality import KEEP, REPEATED
from workbench.corpus.splits import check_fraction, format_rows
from workbench.corpus.texts.words import ACCENTS, SEGMENTERS, WORD_PATTERN, languages
from workbench.data.encodings import DETECT
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import is_hyperparameter, shared_options, split_options
from workbench.errors import InputError
from workbench.models import LDA
from workbench.models.bayes_nets.bayes_net import PRIOR
from workbench.models.bayes_nets.files import published
from workbench.models.bayes_nets.simulated import SIMULATED
from workbench.models.networks.network import Network
from workbench.models.networks.shipped import SHIPPED, takes_n_topics
from workbench.models.networks.spelling import spelled
from workbench.models.word_priors import WordPrior
from workbench.numbers import parse_number
from workbench.records import Records
from workbench.runs.execution.compare import NETWORK, check_kinds, prepared
from workbench.runs.execution.fit import warm_start_from
from workbench.runs.execution.memory_check import Planned
from workbench.runs.execution.worker import SLOTS
from workbench.runs.loading import check_kind, named_set
from workbench.runs.reading import changed_options, origin_of
from workbench.runs.settings import (
    DEFAULT_ENGINES,
    ModelSettings,
    RunSettings,
    SplitSettings,
    StartSettings,
    names,
    setting,
)
from workbench.runs.spec import PRIORS, RunSpec, SpecError, make_model, make_spec, model_fields

FILE = "My own data …"
"""The name of the corpus in a query whose data are a file."""
OF_FILES, OF_RECORDS = "file.", "records."
"""Prefixes of the names of fields for reading files, and for records, that would otherwise be ambiguous."""
DATA, PREPROCESSING, RUN, OPTIONS, HYPER = "data", "preprocessing", "run", "options", "priors"
"""Sections of a form."""
SPLIT = "r"
"""The option of the hybrids that stands beside the number of topics."""
OF_MADE = ("network", "n_states")
"""Options that have no effect for a published Bayesian network."""


@dataclass(frozen=True)
class ColumnSettings:
    """Format and columns of a file of documents, with the names that `workbench.load_corpus` uses."""

    format: str | None = setting(
        None,
        "",
        "The format of the file. Most are detected by how it begins or by its name.",
        label="Read as",
        choices={None: "Detect automatically"}
        | {name: one.MEANING for name, one in FORMATS.items()},
    )
    text: str = setting(
        "text",
        "",
        "The column of a CSV file, or the field of the objects of JSON lines, that holds the texts.",
        label="Text column",
    )
    title: str = setting(
        "title", "", "The column or field with the titles; it may be missing.", label="Title column"
    )
    label: str = setting(
        "label", "", "The column or field with the labels; it may be missing.", label="Label column"
    )
    time: str = setting(
        "",
        "",
        "The column or field with dates or years, if any.",
        label="Time column",
        example="date",
    )


COLUMNS = names(ColumnSettings)[1:]
"""Options for reading a file that name a column."""


@dataclass(frozen=True)
class ReadSettings:
    """Further options for reading a file of documents, with the names that `workbench.load_corpus` uses."""

    encoding: str = setting(
        DETECT,
        "",
        "The encoding of the file, such as utf-8, cp1252 or utf-16. With detect it is UTF-8, or what the bytes look like.",
    )
    keep_text: bool = setting(
        True,
        "",
        "Whether the store keeps the texts, and the columns beside them, to show and search them.",
        label="Keep texts",
        choices=(True, False),
    )
    stop_words: str | None = setting(
        "english",
        "",
        "The language whose frequent words, such as the and of, are left out of raw text.",
        choices=(None, *languages()),
    )
    more_stop_words: str = setting(
        "", "", "Further words to leave out of raw text, separated by commas.", example="said, mr"
    )
    phrases: str = setting(
        "",
        "",
        "Words of raw text that are one word wherever they follow each other; phrases are separated by commas.",
        example="new york, interest rate",
    )
    min_documents: int = setting(
        1,
        "",
        "Words in fewer documents are left out of raw text; often 5.",
        label="Min. documents",
    )
    max_share: float = setting(
        1.0,
        "",
        "Words in a larger share of the documents are left out of raw text; often 0.5.",
        label="Ignore words in more than … of documents",
    )
    ngrams: int = setting(
        1, "", "Sequences of up to N words are counted too, such as new_york.", label="N-grams"
    )
    min_letters: int = setting(
        1, "", "Shorter words are left out of raw text.", label="Min. letters"
    )
    lowercase: bool = setting(
        True, "", "Whether The and the are one word.", label="Lower case", choices=(True, False)
    )
    accents: str = setting("keep", "", "With strip é becomes e.", choices=ACCENTS)
    token_pattern: str = setting(
        WORD_PATTERN,
        "",
        "The regular expression of a word of raw text; by default two letters or more of any alphabet.",
        label="Word pattern",
    )
    repeated: str = setting(
        KEEP,
        "",
        "With drop, texts with the words of an earlier one are left out.",
        label="Repeated texts",
        choices=REPEATED,
    )
    segmenter: str | None = setting(
        None,
        "",
        "Cuts text of a language without blanks between its words.",
        choices=(None, *SEGMENTERS),
    )


@dataclass(frozen=True)
class RecordReadSettings:
    """Options for reading a file of records, with the names that `workbench.load_records` uses."""

    fields: str = setting("", "", "The columns that are fields, separated by commas; default: all.")
    missing: str = setting(
        "",
        "",
        "Texts that mean a missing value, separated by commas. An empty cell is always missing.",
        label="Missing values",
        example="NA, ?",
    )
    multiplicity: str = setting("", "", "The column that says how often each row counts, if any.")


@dataclass(frozen=True)
class DocumentSettings:
    """Settings of which a form offers only some of the values, for runs on documents."""

    model: str = setting(
        "lda",
        "",
        "What engines of networks infer: topics of documents (lda), of their authors or of their labels, or topics under "
        "super-topics (pachinko, and hpam1 and hpam2, whose root and super-topics have words too).",
        label="Network",
        choices=tuple(SHIPPED),
    )
    super: int = setting(5, "", "The number of super-topics of the network.", label="Super-topics")
    holdout_per: str = setting(
        "corpus",
        "",
        "Hold out a share of all tokens, a share of each document's tokens, or half of the tokens of a share of the documents.",
        label="Hold out per",
        choices=("corpus", "document", "half"),
    )


@dataclass(frozen=True)
class RecordSettings:
    """Settings of runs on records whose defaults differ from those of runs on documents."""

    model: str | None = setting(
        None,
        "",
        "A network that is made for the fields, by the options below, or the published one behind simulated records of this "
        "name, with its own priors.",
        label="Network of nodes",
        choices=(None, *SIMULATED),
    )
    alpha: float = setting(
        PRIOR,
        "",
        "Dirichlet prior of each cell of the tables of hidden nodes.",
        label="Prior of hidden nodes",
        several=True,
    )
    beta: float = setting(
        PRIOR,
        "",
        "Dirichlet prior of each cell of the tables of fields.",
        label="Prior of fields",
        several=True,
    )
    holdout_per: str = setting(
        "cell",
        "",
        "Hold out a share of single cells, each predicted from the others of its record, or whole records.",
        label="Hold out per",
        choices=("cell", "record"),
    )


@dataclass(frozen=True, kw_only=True)
class RunRequest(ModelSettings, RunSettings, SplitSettings, StartSettings):
    """A request for runs: one run for each engine, each combination of values of its settings and options, and each seed.

    n_topics, alpha and beta may be lists of values, and so may the values of ``options``.

    corpus : a name, a path, a Corpus or Records
    read : options for reading a file
    engines : names of the engines
    options : options of each engine, by name of the engine
    start : name of a run in the store from whose counts all runs start
    """

    corpus: object = DEFAULT
    read: dict = field(default_factory=dict)
    engines: tuple[str, ...] = DEFAULT_ENGINES
    options: dict[str, dict] = field(default_factory=dict)

    @property
    def of_records(self) -> bool:
        """Whether all engines infer from records."""
        return {get_engine(engine).model.data for engine in self.engines} == {Records}

    def used_fields(self) -> dict[str, "RequestField"]:
        """Return the fields that have an effect on these runs, by name, in the order of a form."""
        records, is_file = self.of_records, named_set(self.corpus) is None
        engines = [*map(get_engine, self.engines)]
        taken_settings = {name for engine in self.engines for name in self._model_fields(engine)}
        unused = {*PRIORS, *(("n_topics",) if engines else ())} - taken_settings
        if records and self.model:  # a published network has its own
            unused |= {*PRIORS, *OF_MADE}
        if not records:
            is_network = any(engine.model.is_network for engine in engines)
            unused |= set() if is_network and has_supers(self.model or "lda") else {"super"}
            unused |= set() if is_network else {"model"}
        return {
            key: request_field
            for key, request_field in request_fields().items()
            if request_field.field.name not in unused
            and request_field.of_records in (None, records)
            and (is_file or request_field.part != "read")
            and not (request_field.engines and set(request_field.engines).isdisjoint(self.engines))
        }

    def key_of(self, name: str, engine: str | None = None) -> str | None:
        """Return the name of the form field for a setting or an engine's option; None if no such field has an effect."""
        return next(
            (
                key
                for key, request_field in self.used_fields().items()
                if request_field.field.name == name
                and (engine is None or engine in request_field.engines)
            ),
            None,
        )

    def values(self) -> dict[str, object]:
        """Return the values of the fields that have an effect, by name; a field without a given value has the default."""
        field_values = {}
        for key, request_field in self.used_fields().items():
            name, default = request_field.field.name, request_field.default
            holders = (holder for holder in request_field.holders(vars(self)) if name in holder)
            value = next(holders, {}).get(name, default)
            field_values[key] = default if value is None and not request_field.part else value
        return field_values

    def settings_of(self, engine: str) -> dict:
        """Return n_topics, alpha and beta of the request by name, without None and what the model of an engine lacks."""
        settings = {name: getattr(self, name) for name in self._model_fields(engine)}
        return {name: value for name, value in settings.items() if value is not None}

    def _model_fields(self, engine: str) -> tuple[str, ...]:
        """Return the names among n_topics, alpha and beta that the model of an engine has, as requested, as settings."""
        model = get_engine(engine).model
        is_determined = model.is_network and not takes_n_topics(self.model or "lda")
        names = model_fields(get_engine(engine))
        return tuple(name for name in names if name != "n_topics" or not is_determined)

    def grid_of(self, engine: str) -> dict[str, list]:
        """Return each model setting and option of an engine for which several values are requested, as name → values."""
        settings = self.settings_of(engine) | self.options.get(engine, {})
        return {name: value for name, value in settings.items() if isinstance(value, list)}

    def n_runs(self) -> int:
        """Return the number of requested runs."""
        return self.seeds * sum(
            math.prod(map(len, self.grid_of(engine).values())) for engine in self.engines
        )

    def runs_of(self, engine: str) -> Iterator[tuple[dict, dict]]:
        """Return an iterator over (model settings, options), one for each combination of the values requested for an engine."""
        return product(
            combinations(self.settings_of(engine)), combinations(self.options.get(engine, {}))
        )

    def cells(self, data, store: Path, seeds: Iterable[int] | None = None) -> list[Planned]:
        """Return the planned runs of the request, engine by engine; all use the same split into training and test data.

        data : Corpus or Records, or what `prepared` returned for them; seeds : by default those counted up from the first.
        Raises the errors of `make_spec`.
        """
        train, test, split = data if isinstance(data, tuple) else prepared(data, self)
        seeds = range(self.seed, self.seed + self.seeds) if seeds is None else seeds
        cells = []
        for engine in self.engines:
            setting_names, options = get_engine(engine).model.takes, self.options.get(engine, {})
            common_names = (
                *names(RunSettings),
                *(name for name in NETWORK if name in setting_names),
            )
            common_settings = {name: getattr(self, name) for name in common_names} | {
                "split": split
            }
            most_parts = max(as_list(options.get("partition", 1)))
            common_settings["n_threads"] = max(self.n_threads, min(most_parts, os.cpu_count() or 1))
            for model_settings, engine_options in self.runs_of(engine):
                start_path = self.start and Path(store) / self.start
                common_settings["start"] = start_path and warm_start_from(
                    start_path, train, model_settings.get("n_topics")
                )
                for seed in seeds:
                    common_settings["seed"] = seed
                    run_spec = make_spec(
                        train,
                        engine,
                        test=test,
                        options=engine_options,
                        **common_settings | model_settings,
                    )
                    cells.append(
                        Planned(
                            run_spec,
                            train,
                            test,
                            model_settings | engine_options | {"engine": engine, "seed": seed},
                        )
                    )
        return cells

    def mistakes(self) -> Iterator[tuple[str, InputError]]:
        """Yield (field, error) for each invalid value of a field; the data are not read."""
        for name, engine, check in self._checks():
            try:
                check()
            except InputError as error:
                yield self.key_of(name or error.field, engine) or name or "engines", error

    def _checks(self) -> Iterator[tuple[str | None, str | None, Callable[[], object]]]:
        """Yield (field, None, check), or (None, engine, check) for options; check() raises an error for an invalid value."""
        yield "corpus", None, self._check_corpus
        yield "holdout", None, partial(check_fraction, self.holdout)
        yield "engines", None, self._check_engines
        for name, request_field in self.used_fields().items():
            low, high = (request_field.field.metadata[bound] for bound in ("low", "high"))
            if (
                low is not None
                and not request_field.part
                and (getattr(self, name), request_field.default) != (None,) * 2
            ):
                yield name, None, partial(SpecError.whole, name, getattr(self, name), low, high)
        yield "jobs", None, partial(SpecError.whole, "jobs", self.jobs, 1, SLOTS)
        engines = [*map(get_engine, self.engines)]
        for engine in engines if len({engine.model.data for engine in engines}) == 1 else ():
            make, network = engine.model, engine.model.is_network
            if network:
                make = partial(
                    make_model, engine, **{name: getattr(self, name) for name in NETWORK}
                )
                yield "super" if self.sizes else "model", None, make
            elif "model" in engine.model.takes and self.model:  # reading it takes seconds
                yield "model", None, partial(published, self.model)
                continue
            for name, values in self.settings_of(engine.name).items():
                for value in as_list(values):
                    if network:  # the values must be valid for LDA, and then for the network
                        yield name, None, partial(LDA, **{name: value})
                    yield name, None, partial(make, **{name: value})
        for engine in engines:
            for engine_options in combinations(self.options.get(engine.name, {})):
                yield None, engine.name, partial(split_options, engine, engine_options)

    def _check_corpus(self) -> None:
        kinds = {get_engine(engine).model.data for engine in self.engines}
        if len(kinds) == 1:  # with several the error is about the engines
            check_kind(self.corpus, *kinds)
        data_set = named_set(self.corpus)
        if data_set and data_set.whereabouts() in MISSING:
            data_set.load()  # raises an error that says how to get it

    def _check_engines(self) -> None:
        if not self.engines:
            raise SpecError("choose at least one engine; none is ticked")
        check_kinds({engine: get_engine(engine) for engine in self.engines})

    @classmethod
    def from_query(cls, texts: Mapping[str, str], corpus=None) -> Self:
        """Return the request in the parameters of a form or page address, texts keyed by the names in `request_fields`.

        A text that should be a number and is not is kept, so that `mistakes` reports it. ``corpus`` are data without a name.
        """
        values = {
            key: parse(request_field.field, texts[key]) if key in texts else request_field.default
            for key, request_field in request_fields().items()
        }
        engines = tuple(filter(None, texts.get("engines", ",".join(cls.engines)).split(",")))
        corpus_name = texts.get("corpus", DEFAULT)
        corpus = corpus or (texts.get("path", "").strip() if corpus_name == FILE else corpus_name)
        draft = cls(corpus=corpus, engines=engines)
        draft = replace(draft, model=values[f"{OF_RECORDS * draft.of_records}model"])
        settings = {"read": {}, "sizes": {}, "options": {engine: {} for engine in engines}}
        for key, request_field in draft.used_fields().items():
            value = values[key]
            if request_field.part == "read":
                if value == request_field.default:
                    continue
                value = None if value == "" else value
            for holder in request_field.holders(settings):
                holder[request_field.field.name] = value
        return replace(draft, **settings | {"sizes": settings["sizes"] or None})

    @classmethod
    def of_spec(cls, spec: RunSpec) -> Self:
        """Return a request with the settings of a run, as far as a form has them; see `missing_in_request`."""
        split, model, origin = spec.split or {}, spec.model, origin_of(spec) or ""
        network = spec.parts()[1]
        if network.is_network:
            model = spelled(network) or {}
        elif "nodes" in model:
            model = {"model": model["name"]} if model["name"] in SIMULATED else {}
        settings = {
            name: value
            for name, value in model.items()
            if name in names(ModelSettings) and not isinstance(value, list | WordPrior)
        }
        settings |= {name: getattr(spec, name) for name in names(RunSettings)}
        settings |= {name: split[name] for name in names(SplitSettings) if name in split}
        if "rows" in split:
            settings["holdout_rows"] = format_rows(split["rows"])
        elif spec.test is not None and getattr(named_set(origin), "held_out_rows", None):
            settings["holdout_rows"] = "none"
        settings["holdout"] = split.get("fraction", cls.holdout) if spec.test is not None else 0.0
        settings |= {
            name: split[split_key]
            for name, split_key in {"holdout_per": "per", "split_seed": "seed"}.items()
            if split.get(split_key) is not None
        }
        reading = spec.reading or {}
        read = {  # an empty cell is always missing
            name: [*filter(None, value)] if isinstance(value, list) else value
            for name, value in changed_options(reading).items()
            if origin and origin == reading.get("path")
        }
        options = {name: value for name, value in spec.options.items() if value is not None}
        start = (spec.start or {}).get("name") if "iteration" in (spec.start or {}) else None
        return cls(
            corpus=origin,
            read=read,
            engines=(spec.engine,),
            options={spec.engine: options},
            start=start,
            jobs=SLOTS,
            **settings,
        )

    def to_query(self) -> dict[str, str]:
        """Return the request as parameters of a page address, name → text; values equal to the defaults are left out."""
        all_fields = request_fields()
        texts = {
            key: written(value)
            for key, value in self.values().items()
            if written(value) != written(all_fields[key].default)
        }
        if self.engines != DEFAULT_ENGINES:
            texts["engines"] = ",".join(self.engines)
        if named_set(self.corpus) is None:
            texts |= {"corpus": FILE, "path": str(self.corpus)}
        elif self.corpus != DEFAULT:
            texts["corpus"] = self.corpus
        return texts


MISSING = ("fetchable", "by hand")
"""Values for the location of a data set that must be downloaded before it can be read."""


class RequestField(NamedTuple):
    """A field of a form, or parameter of a page address, for a setting or an option of a request."""

    key: str  # name in forms and links
    field: Field  # name in the request, type, label, help, choices and range
    default: object
    section: str
    part: str = ""  # dict of the request that holds its value: read, sizes or options
    of_records: bool | None = None  # whether it is of records alone, or of documents alone
    engines: tuple[str, ...] = ()  # engines that have the option

    def holders(self, settings: dict) -> list[dict]:
        """Return the dicts within a request's settings that can contain this field's value."""
        values = settings.get(self.part, settings)
        if self.part == "options":
            return [values[engine] for engine in self.engines if engine in values]
        return [] if values is None else [values]


def request_fields() -> dict[str, RequestField]:
    """Return the fields of a request, keyed by name in the order of the form, without corpus, path and engines.

    A form and a link encode a request by these fields.
    """
    return _request_fields(tuple(ENGINES))


@lru_cache
def _request_fields(engines: tuple) -> dict[str, RequestField]:
    defaults = {name: getattr(LDA, name) for name in ("n_topics", *PRIORS)} | {"jobs": SLOTS}
    general = ModelSettings, RunSettings, SplitSettings, StartSettings, DocumentSettings
    prepared = [name for name in names(SplitSettings) if name not in ("holdout", "split_seed")]
    groups = sorted(shared_options().items(), key=lambda entry: (-len(entry[1][1]), entry[1][1]))
    documents, records = {"of_records": False}, {"of_records": True, "prefix": OF_RECORDS}

    def fields_of(
        section: str, *setting_names: str, classes=general, prefix: str = "", **arguments
    ) -> dict:
        """Return settings of the classes as fields of a section: those in ``setting_names``, or all if none is named."""
        settings = {
            setting_field.name: setting_field for kind in classes for setting_field in fields(kind)
        }
        return {
            (key := f"{prefix}{name}"): RequestField(
                key, settings[name], defaults.get(key, settings[name].default), section, **arguments
            )
            for name in setting_names or settings
        }

    def option_fields(section: str) -> dict:
        """Return the options of engines in a section as fields; options that more engines share come first."""
        return {
            key: RequestField(key, option, option.default, section, "options", None, engine_names)
            for key, (option, engine_names) in groups
            if section
            == (RUN if key == SPLIT else HYPER if is_hyperparameter(option.name) else OPTIONS)
        }

    return (
        fields_of(
            DATA, *names(ColumnSettings)[:-1], classes=[ColumnSettings], part="read", **documents
        )
        | fields_of(
            DATA, "time", classes=[ColumnSettings], part="read", prefix=OF_FILES, **documents
        )
        | fields_of(PREPROCESSING, classes=[ReadSettings], part="read", **documents)
        | fields_of(PREPROCESSING, classes=[RecordReadSettings], part="read", **records)
        | fields_of(PREPROCESSING, *prepared, **documents)
        | fields_of(PREPROCESSING, "holdout_per", classes=[RecordSettings], **records)
        | fields_of(PREPROCESSING, "split_seed")
        | fields_of(RUN, "n_topics")
        | option_fields(RUN)
        | fields_of(RUN, *PRIORS, **documents)
        | fields_of(RUN, "model", *PRIORS, classes=[RecordSettings], **records)
        | fields_of(RUN, "n_iterations", "seed", "seeds", "holdout")
        | fields_of(RUN, "model", **documents)
        | fields_of(RUN, "super", part="sizes", **documents)
        | fields_of(OPTIONS, "start", **documents)
        | fields_of(OPTIONS, "jobs")
        | option_fields(OPTIONS)
        | option_fields(HYPER)
    )


def missing_in_request(spec: RunSpec) -> list[str]:
    """Return descriptions of a run's settings that `RunRequest.of_spec` leaves out, as no form field can hold them."""
    reading_options = {
        request_field.field.name
        for request_field in request_fields().values()
        if request_field.part == "read"
    }
    network = spec.parts()[1]
    is_own = "nodes" in spec.model and spec.model["name"] not in SIMULATED
    missing = {
        "its data, which have no name and no file": origin_of(spec) is None,
        "its network": (network.is_network and spelled(network) is None) or is_own,
        "its prior of each topic": any(isinstance(spec.model.get(name), list) for name in PRIORS),
        "its prior of each word": isinstance(spec.model.get("beta"), WordPrior),
        "its held-out tokens, which were given": spec.test is not None and not spec.split,
        "settings that were turned": bool(spec.interventions),
        "its edits": "edits" in (spec.start or {}),
    }
    lost_options = [
        name for name in changed_options(spec.reading) if name not in {*reading_options, "name"}
    ]
    return [description for description, is_missing in missing.items() if is_missing] + lost_options


def parse(setting_field: Field, text: str):
    """Parse the text of a form's field into a value: a choice, a text, a number, a list of numbers, or None if empty."""
    metadata = setting_field.metadata
    if metadata["choices"] and not metadata.get("otherwise"):
        return next((value for value in metadata["choices"] if written(value) == text), text)
    is_number = metadata["several"] or setting_field.type in (int, float, int | None)
    if metadata["choices"] or not is_number:
        return text.strip() or (setting_field.default and text.strip())
    if not text.strip():
        return None
    values = list(dict.fromkeys(map(parse_number, text.split(","))))
    if isinstance(setting_field.default, float) and not metadata["several"]:
        values = [float(value) if isinstance(value, int) else value for value in values]
    return values if len(values) > 1 else values[0]


def combinations(lists: dict) -> Iterator[dict]:
    """Yield every combination of one value from each list, as a dict; values that are no lists are constant."""
    for values in product(*map(as_list, lists.values())):
        yield dict(zip(lists, values, strict=True))


@lru_cache
def has_supers(model: str) -> bool:
    """Return whether the named network has super-topics (a variable "super"); False for an unknown name."""
    with suppress(InputError):
        return any(variable.name == "super" for variable in Network.of(model).variables)
    return False


def written(value) -> str:
    """Return a value as text for a form or a page address; `parse` is the inverse."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def as_list(value) -> list:
    """Return a list unchanged, and any other value in a list."""
    return value if isinstance(value, list) else [value]
