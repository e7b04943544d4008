"""A request for runs, made by a form, a link or Python: its checks, and the runs that it describes.

A field of a form and a parameter of a link have the same name, and a text as value: `RunRequest.from_query` reads these texts,
and `RunRequest.to_query` writes those that differ from the defaults.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Self

from workbench.corpus import Corpus
from workbench.corpus.catalog.named import DEFAULT
from workbench.corpus.formats.readers import FORMATS
from workbench.corpus.splits import check_fraction
from workbench.corpus.texts.words import ACCENTS, SEGMENTERS, WORD_PATTERN, languages
from workbench.data.encodings import DETECT
from workbench.engines import get_engine
from workbench.engines.options import shared_option, shared_options, split_options
from workbench.errors import InputError
from workbench.models import LDA
from workbench.models.bayes_nets.bayes_net import PRIOR
from workbench.models.bayes_nets.files import published
from workbench.models.bayes_nets.simulated import SIMULATED
from workbench.models.networks.network import Network
from workbench.models.networks.shipped import SHIPPED
from workbench.models.options import OptionError
from workbench.numbers import parse_number
from workbench.records import Records
from workbench.runs.execution.compare import NETWORK, check_kinds
from workbench.runs.execution.memory_check import Planned
from workbench.runs.execution.sweep import lay_out
from workbench.runs.execution.worker import SLOTS
from workbench.runs.loading import check_kind, named_set
from workbench.runs.settings import (
    DEFAULT_ENGINES,
    SETTINGS,
    ModelSettings,
    RunSettings,
    SplitSettings,
    StartSettings,
    names,
    setting,
)
from workbench.runs.spec import PRIORS, SpecError, checked, make_model, model_fields, whole

FILE = "My own data …"
"""The name of the corpus in a query whose data are a file."""
OF_FILES, OF_RECORDS = "file.", "records."
"""Prefixes of the names of fields for reading files, and for records, that would otherwise be ambiguous."""
COLUMNS = ("text", "title", "label", "time")
"""Options for reading a file that name a column."""
OF_MADE = ("network", "n_states")
"""Options that have no effect for a published Bayesian network."""


@dataclass(frozen=True)
class ReadSettings:
    """Options for reading a file of documents, with the names that `workbench.load_corpus` uses."""

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
    """Settings of runs on documents for which a form offers only some of the values."""

    model: str = setting(
        "lda",
        "",
        "What engines of networks infer: topics of documents (lda) or of their authors, or topics under super-topics "
        "(pachinko, and hpam1 and hpam2, whose root and super-topics have words too).",
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
        return are_of_records(self.engines)

    def settings_of(self, engine: str) -> dict:
        """Return the given settings among n_topics, alpha and beta that the model of an engine has, by name."""
        given = {name: getattr(self, name) for name in model_fields(get_engine(engine))}
        return {name: value for name, value in given.items() if value is not None}

    def grid_of(self, engine: str) -> dict[str, list]:
        """Return the model settings and options that have several values for an engine, by name."""
        given = self.settings_of(engine) | self.options.get(engine, {})
        return {name: value for name, value in given.items() if isinstance(value, list)}

    def n_runs(self) -> int:
        """Return the number of requested runs."""
        return self.seeds * sum(
            math.prod(map(len, self.grid_of(engine).values())) for engine in self.engines
        )

    def cells(self, data: Corpus | Records, store: Path) -> list[Planned]:
        """Return the requested runs on these data, engine by engine; raises the errors of `lay_out`."""
        return [cell for engine in self.engines for cell in self.cells_of(engine, data, store)]

    def cells_of(self, engine: str, data: Corpus | Records, store: Path) -> list[Planned]:
        """Return the requested runs of one engine on these data."""
        takes, options = get_engine(engine).model.takes, self.options.get(engine, {})
        given = self.settings_of(engine)
        grid = {name: as_list(given[name]) for name in given if name == "n_topics"}
        grid = grid | self.grid_of(engine) or {"n_iterations": [self.n_iterations]}
        fixed = {name: getattr(self, name) for name in (*names(RunSettings), *names(SplitSettings))}
        fixed |= given | {name: getattr(self, name) for name in NETWORK if name in takes}
        fixed |= {} if self.start is None else {"start": Path(store) / self.start}
        most_parts = max(as_list(options.get("partition", 1)))
        fixed["n_threads"] = max(self.n_threads, min(most_parts, os.cpu_count() or 1))
        fixed, rest = (
            {name: value for name, value in each.items() if name not in grid}
            for each in (fixed, options)
        )
        return lay_out(data, grid, engine, self.seeds, rest, **fixed)

    def mistakes(self) -> list[tuple[str, InputError]]:
        """Check all fields without reading the data; return (field, error) for the first error of each, in the form's order."""
        found: dict[str, InputError] = {}

        def take(name: str, error: InputError) -> None:
            if str(error) not in map(str, found.values()):
                found.setdefault(name, error)

        for name, check in self._checks():
            try:
                check()
            except InputError as error:
                take(name, error)
        for engine in self.engines:
            for chosen in combinations(self.options.get(engine, {})):
                try:
                    split_options(get_engine(engine), chosen)
                except OptionError as error:
                    one = shared_option(engine, error.field)
                    take(one.key if one else "engines", error)
        return list(found.items())

    def _checks(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield (field, check) of every field but the options; the check is a function that raises if the value is wrong."""
        yield "corpus", self._check_corpus
        if self.top_words is not None:
            yield "top_words", partial(whole, "top_words", self.top_words, 1)
        for name in ("merge", "repeat"):
            yield name, partial(whole, name, getattr(self, name), 1)
        yield "holdout", partial(check_fraction, self.holdout)
        yield "engines", self._check_engines
        engines = [*map(get_engine, self.engines)]
        for engine in engines if len({engine.model.data for engine in engines}) == 1 else ():
            make, network = engine.model, engine.model.is_network
            if network:
                make = partial(
                    make_model, engine, **{name: getattr(self, name) for name in NETWORK}
                )
                yield "super" if self.sizes else "model", make
            elif "model" in engine.model.takes and self.model:  # reading it takes seconds
                yield "model", partial(published, self.model)
                continue
            for name, values in self.settings_of(engine.name).items():
                for value in as_list(values):
                    if network:  # the values must be valid for LDA, and then for the network
                        yield name, partial(LDA, **{name: value})
                    yield name, partial(make, **{name: value})
        for name in ("n_iterations", "seed"):
            yield name, partial(checked, {name: getattr(self, name)})
        yield "seeds", partial(whole, "seeds", self.seeds, 1, 100)
        yield "jobs", partial(whole, "jobs", self.jobs, 1, SLOTS)

    def _check_corpus(self) -> None:
        kinds = {get_engine(engine).model.data for engine in self.engines}
        if len(kinds) == 1:  # with several the error is about the engines
            check_kind(self.corpus, *kinds)
        found = named_set(self.corpus)
        if found and found.whereabouts() in MISSING:
            found.load()  # raises an error that says how to get it

    def _check_engines(self) -> None:
        if not self.engines:
            raise SpecError("choose at least one engine; none is ticked")
        check_kinds({engine: get_engine(engine) for engine in self.engines})

    @classmethod
    def from_query(cls, texts: Mapping[str, str], corpus=None) -> Self:
        """Return the request that the texts of a form or a link describe; they are given by the names of `request_fields`.

        A text that should be a number and is not is kept, so that `mistakes` reports it. ``corpus`` are data without a name.
        """
        known = request_fields()
        values = {
            name: parse(about, texts[name]) if name in texts else about.default
            for name, about in known.items()
        }
        engines = cls.engines
        if "engines" in texts:
            engines = tuple(name for name in texts["engines"].split(",") if name)
        records, is_file = are_of_records(engines), texts.get("corpus") == FILE
        settings = {
            name: values[name] for name in ("n_iterations", "seed", "seeds", "jobs", "holdout")
        }
        if records:
            settings |= {name: values[f"{OF_RECORDS}{name}"] for name in names(RecordSettings)}
            settings |= dict.fromkeys(PRIORS) if settings["model"] else {}
        else:
            rest = ("n_topics", *PRIORS, "model", "start", *names(SplitSettings))
            settings |= {name: values[name] for name in rest if name in values}
            settings["sizes"] = {"super": values["super"]} if has_supers(values["model"]) else None
        options: dict[str, dict] = {engine: {} for engine in engines}
        for one in shared_options():
            if not (records and settings["model"] and one.field.name in OF_MADE):
                for engine in set(one.engines).intersection(engines):
                    options[engine][one.field.name] = values[one.key]
        return cls(
            corpus=corpus
            or (texts.get("path", "").strip() if is_file else texts.get("corpus", DEFAULT)),
            read={
                name: None if values[key] == "" else values[key]
                for key, name in reading_names(records).items()
                if is_file and key in texts and values[key] != known[key].default
            },
            engines=engines,
            options=options,
            **settings,
        )

    def to_query(self) -> dict[str, str]:
        """Return the parameters of a link, as texts by name: only those that differ from the defaults."""
        known, records = request_fields(), self.of_records
        values = {name: getattr(self, name) for name in known if hasattr(self, name)}
        if records:
            values |= {f"{OF_RECORDS}{name}": values.pop(name) for name in names(RecordSettings)}
        if self.sizes:
            values |= self.sizes
        values |= {
            key: self.read[name]
            for key, name in reading_names(records).items()
            if name in self.read
        }
        for engine in self.engines:
            for name, value in self.options.get(engine, {}).items():
                values[shared_option(engine, name).key] = value
        texts = {
            name: written(value)
            for name, value in values.items()
            if value is not None or known[name].metadata["choices"]
            if written(value) != written(known[name].default)
        }
        if self.engines != DEFAULT_ENGINES:
            texts["engines"] = ",".join(self.engines)
        if self.corpus != DEFAULT:
            named = named_set(self.corpus) is not None
            texts |= (
                {"corpus": self.corpus} if named else {"corpus": FILE, "path": str(self.corpus)}
            )
        return texts


MISSING = ("fetchable", "by hand")
"""Values for the location of a data set that must be downloaded before it can be read."""


def request_fields() -> dict[str, Field]:
    """Return all fields of a form or link by name, as dataclass fields, except corpus, path and engines."""
    return _request_fields(shared_options())


@lru_cache
def _request_fields(options: tuple) -> dict[str, Field]:
    model = {
        name: _with_default(SETTINGS[name], getattr(LDA, name)) for name in ("n_topics", *PRIORS)
    }
    run = {name: SETTINGS[name] for name in ("n_iterations", "seed")}
    start = {each.name: each for each in fields(StartSettings)}
    start["jobs"] = _with_default(start["jobs"], SLOTS)
    split = {name: SETTINGS[name] for name in names(SplitSettings) if name != "split_seed"}
    documents = {each.name: each for each in fields(DocumentSettings)}
    records = {f"{OF_RECORDS}{each.name}": each for each in fields(RecordSettings)}
    reading = {
        key: each
        for kind, of_records in ((ReadSettings, False), (RecordReadSettings, True))
        for key, each in zip(reading_names(of_records), fields(kind), strict=True)
    }
    known = model | run | start | split | documents | records | reading
    return known | {one.key: one.field for one in options}


def _with_default(about: Field, default) -> Field:
    """Return a copy of a field with another default."""
    changed = field(default=default, metadata=about.metadata)
    changed.name, changed.type = about.name, about.type
    return changed


def reading_names(records: bool) -> dict[str, str]:
    """Return field name → option name of the options for reading a file of records, or of documents."""
    if records:
        return {f"{OF_RECORDS}{name}": name for name in names(RecordReadSettings)}
    return {f"{OF_FILES}time" if name == "time" else name: name for name in names(ReadSettings)}


def parse(about: Field, text: str):
    """Return the value of a text in a field: one of its choices, a text, a number, a list of numbers, or None if empty."""
    metadata = about.metadata
    if metadata["choices"] and not metadata.get("otherwise"):
        return next((value for value in metadata["choices"] if written(value) == text), text)
    if not is_number(about):
        return text.strip() or (about.default and text.strip())
    if not text.strip():
        return None
    values = list(dict.fromkeys(map(parse_number, text.split(","))))
    if isinstance(about.default, float) and not metadata["several"]:
        values = [float(value) if isinstance(value, int) else value for value in values]
    return values if len(values) > 1 else values[0]


def is_number(about: Field) -> bool:
    """Return whether the values of a field are numbers."""
    of_numbers = about.metadata["several"] or about.type in (int, float, int | None)
    return of_numbers and not about.metadata["choices"]


def combinations(given: dict) -> Iterator[dict]:
    """Yield every combination of one value from each list, as a dict; values that are no lists are constant."""
    for chosen in product(*map(as_list, given.values())):
        yield dict(zip(given, chosen, strict=True))


def are_of_records(engines: tuple[str, ...]) -> bool:
    """Return whether all of the engines infer from records."""
    return {get_engine(engine).model.data for engine in engines} == {Records}


@lru_cache
def has_supers(model: str) -> bool:
    """Return whether the network with a name has super-topics."""
    return any(each.name == "super" for each in Network.of(model).variables)


def written(value) -> str:
    """Return a value as a text for a form or a link; `parse` is the inverse."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def as_list(value) -> list:
    """Return a list unchanged, and any other value in a list."""
    return value if isinstance(value, list) else [value]
