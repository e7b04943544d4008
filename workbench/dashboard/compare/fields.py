"""The fields of the form, made from the settings of a run and from the dataclasses of the model and the engines.

Engines that mean the same by the name of an option share a field.
"""

import dataclasses
import re
from functools import lru_cache
from typing import NamedTuple

from workbench.corpus import SINGLETONS
from workbench.corpus.formats.readers import FORMATS
from workbench.corpus.texts.words import ACCENTS, SEGMENTERS, WORD_PATTERN, languages
from workbench.dashboard.compare.wording import LABELS, label_of, label_of_value, labelled
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.received import ROUTE, otherwise
from workbench.dashboard.shared.values import SEVERAL, Column, Field, Menu, Number, Upload, Values
from workbench.data.encodings import DETECT
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.models import LDA
from workbench.models.bayes_nets.bayes_net import PRIOR
from workbench.models.bayes_nets.simulated import SIMULATED
from workbench.models.networks.shipped import SHIPPED
from workbench.numbers import format_size
from workbench.runs.execution.worker import SLOTS
from workbench.runs.loading import named_sets
from workbench.runs.settings import SETTINGS

HYPERPARAMETERS = re.compile(r"(learn|a|b)_\w+|alpha_form|\w+_total|top_concentration")
"""Names of the options about priors: what is learnt of them, how, and their values where they are fixed."""

SPLIT = "r"
"""The option of the hybrids that stands beside the number of topics."""
MISSING = ("fetchable", "by hand")
"""Whereabouts of a data set that cannot be read at once."""
FILE = "My own data …"
ENDINGS = sorted(
    {ending for about in FORMATS.values() for ending in about.SUFFIXES} | {".txt", ".gz"}
)
"""Of names of files that are offered to be sent; others may be chosen too."""
MODEL = {field.name: field.default for field in dataclasses.fields(LDA)}
MEANINGS = {
    "n_topics": "The number of topics. For an engine that infers it: the largest, or the initial number",
    "alpha": "The Dirichlet prior of each topic of a document, not its total. Engines without it have theirs among the priors",
    "beta": "The Dirichlet prior of each word in a topic, not its total. Engines without it have theirs among the priors",
    "n_iterations": "The number of iterations. In each the engine passes once over the corpus",
    "seed": "The seed of the inference. It does not change the split into training and test tokens",
    "seeds": "The number of runs of each engine. Their seeds count up from the seed",
    "jobs": f"How many runs are computed in parallel, at most {SLOTS} here. The others are queued",
    "holdout": "The share that is held out to measure perplexity, as 0.1. Preprocessing says what it is a share of; with 0 "
    "nothing is held out",
}
COLUMNS = {
    "text": "The column of a CSV file, or the field of the objects of JSON lines, that holds the texts",
    "title": "The column or field that holds the titles of documents. It need not be there",
    "label": "The column or field that holds their labels. It need not be there",
}
OF_FILES = "file."
"""Beginning of the names of the fields for how a file is read, where an option has the same name."""
BY_LOOKS = "Detect automatically"
SINGLETONS_IN_WORDS = {
    "keep": "kept",
    "train": "out of training",
    "both-own": "out of training and test, by own counts",
    "both-full": "out of training and test, by full counts",
}
HELD_OUT = {
    "tokens of the corpus": "corpus",
    "tokens of each document": "document",
    "documents, half of each": "half",
}
OF_RECORDS = "records."
"""Beginning of the names of the fields that are for records alone, where documents have others of that name."""
HELD_OUT_OF_RECORDS = {"known cells": "cell", "records": "record"}
MADE = "made for the fields"
PRIORS_OF_RECORDS = {
    "alpha": (
        "Prior of hidden nodes",
        "The Dirichlet prior alpha of each cell of the tables of hidden nodes",
    ),
    "beta": ("Prior of fields", "The Dirichlet prior beta of each cell of the tables of fields"),
}
AT_RANDOM = "random"


class Choice(NamedTuple):
    """An option that can be chosen once for several engines."""

    # in the form and in a link: its name, after an engine's where the name means several things
    key: str
    field: dataclasses.Field
    engines: tuple[str, ...]  # those that have it

    @property
    def hyper(self) -> bool:
        """Is it about priors?"""
        return HYPERPARAMETERS.fullmatch(self.field.name) is not None


def choices() -> tuple[Choice, ...]:
    """Every option of every engine; one of the same name with another default or other values is another choice."""
    return _choices(tuple(ENGINES))


@lru_cache
def _choices(engines: tuple[str, ...]) -> tuple[Choice, ...]:
    found: dict[tuple, tuple[dataclasses.Field, list[str]]] = {}
    for engine in engines:
        for field in options_of(get_engine(engine)).values():
            takes = {
                name: value
                for name, value in field.metadata.items()
                if name not in ("meaning", "late")
            }
            found.setdefault((field.name, field.default, *takes.items()), (field, []))[1].append(
                engine
            )
    taken, made = set(), []
    for field, engines in found.values():
        made.append(
            Choice(
                f"{engines[0]}.{field.name}" if field.name in taken else field.name,
                field,
                tuple(engines),
            )
        )
        taken.add(field.name)
    return tuple(made)


def choice_of(engine: str, option: str) -> Choice | None:
    """The choice behind an option of an engine; None where it has no such option."""
    return next(
        (one for one in choices() if one.field.name == option and engine in one.engines), None
    )


def grouped(hyper: bool) -> dict[tuple[str, ...], list[Choice]]:
    """Engines → the choices that they alone share, those about priors or the others but r: of most engines first."""
    groups: dict[tuple[str, ...], list[Choice]] = {}
    for one in choices():
        if one.hyper == hyper and one.key != SPLIT:
            groups.setdefault(one.engines, []).append(one)
    return dict(sorted(groups.items(), key=lambda group: -len(group[0])))


def corpora() -> dict[str, str]:
    """Entry of the menu → data set of the catalogs, those that are not here marked; a file where visitors may name one."""
    marked = {
        name: f"{name} (not downloaded)" if one.whereabouts() in MISSING else name
        for name, one in named_sets().items()
    }
    own = policy().takes_paths or policy().takes_uploads
    return {mark: name for name, mark in marked.items()} | ({FILE: FILE} if own else {})


def upload_field(token: str) -> Upload:
    """The field for a file that is sent; ``token``: of the page's inbox."""
    most = format_size(policy().max_upload)
    there = " Or give its path below." if policy().takes_paths else ""
    hint = (
        f"Or drop it here: CSV, Parquet, Excel, JSON lines, a zip of texts …, up to {most}.{there}"
    )
    if not policy().takes_uploads:
        hint = "To upload a file, open this page with `workbench serve`; or give its path below."
    return Upload(
        "File",
        None,
        accept=",".join(ENDINGS),
        most=policy().max_upload,
        limit=most,
        route=ROUTE,
        token=token,
        open=policy().takes_uploads,
        otherwise=otherwise(),
        hint=hint,
    )


def stop_lists() -> dict[str, str | None]:
    """What a menu calls the lists of stop words."""
    return {name.capitalize(): name for name in languages()} | {"none": None}


def engine_hints() -> list[str]:
    """What each engine is, when to use it and where it is from, in the order of the list."""
    return [
        f"{engine.title}. {engine.when} {engine.source}." for engine in map(get_engine, ENGINES)
    ]


def reading_fields() -> dict[str, Field]:
    """The fields for how a file or folder is read, by the names of `load_corpus`."""
    return (
        {
            "format": Menu(
                LABELS["format"],
                {BY_LOOKS: None} | {about.MEANING: name for name, about in FORMATS.items()},
                None,
                "The format of the file. Most are detected by how it begins or by its name",
                wide=True,
            ),
        }
        | {
            name: Column(LABELS[name], name, meaning, needed=name == "text")
            for name, meaning in COLUMNS.items()
        }
        | {
            f"{OF_FILES}time": Column(
                "Time column",
                "",
                "The column or field that holds dates or years. Empty: there is none",
                placeholder="date",
            ),
            "encoding": Field(
                LABELS["encoding"],
                DETECT,
                "The encoding of the file, as utf-8, cp1252 or utf-16. With detect it is UTF-8, or "
                "what the bytes look like",
            ),
            "keep_text": Menu(
                LABELS["keep_text"],
                {"yes": True, "no": False},
                True,
                "With yes the store keeps the texts, and the columns beside "
                "them, to show and search them",
            ),
            "stop_words": Menu(
                LABELS["stop_words"],
                stop_lists(),
                "english",
                "Frequent words left out of raw text, as: the, of",
            ),
            "more_stop_words": Field(
                LABELS["more_stop_words"],
                "",
                "Further words to leave out of raw text, separated by commas",
                placeholder="said, mr",
            ),
            "segmenter": Menu(
                LABELS["segmenter"],
                {"none": None}
                | {name.replace("-", ", ").capitalize(): name for name in SEGMENTERS},
                None,
                "Cuts text of a language without blanks between its words",
            ),
            "min_documents": Number(
                LABELS["min_documents"],
                1,
                "Words that fewer documents have are left out of raw text. Often 5",
            ),
            "max_share": Number(
                LABELS["max_share"],
                1.0,
                "Words that a larger share of documents has are left out of raw text. Often 0.5",
                whole=False,
                step=0.05,
                wide=True,
            ),
            "ngrams": Number(
                LABELS["ngrams"], 1, "Sequences of up to N words count too, such as new_york"
            ),
            "min_letters": Number(
                LABELS["min_letters"], 1, "Shorter words are left out of raw text"
            ),
            "lowercase": Menu(
                LABELS["lowercase"],
                {"yes": True, "no": False},
                True,
                "yes: The and the are one word",
            ),
            "accents": Menu(
                LABELS["accents"],
                {name: name for name in ACCENTS},
                "keep",
                "strip: é → e",
            ),
            "token_pattern": Field(
                LABELS["token_pattern"],
                WORD_PATTERN,
                "The regular expression of a word of raw text. As it is, two letters or "
                "more of any alphabet",
                wide=True,
            ),
        }
    )


def record_fields() -> dict[str, Field]:
    """The fields for how a file of records is read, by the names of `read_records` after ``OF_RECORDS``."""
    return {
        f"{OF_RECORDS}fields": Field(
            "Fields", "", "The columns that are fields, separated by commas. Empty: all", wide=True
        ),
        f"{OF_RECORDS}missing": Field(
            "Missing values",
            "",
            "Texts that mean a missing value, separated by commas. An empty cell is always missing",
            placeholder="NA, ?",
            wide=True,
        ),
        f"{OF_RECORDS}multiplicity": Field(
            "Multiplicity", "", "The column that says how often each row counts. Empty: once"
        ),
    }


def single_fields() -> dict[str, Field]:
    """The fields for the corpus and the model that hold one value, by their names in a link."""
    return {
        "top_words": Number(
            "Vocabulary",
            None,
            "Keep only the most frequent words, before tokens are held out. Empty: all. Another "
            "vocabulary is another corpus, whose perplexities cannot be compared",
            step=500,
            placeholder="all words",
        ),
        "merge": Number(
            "Documents joined",
            1,
            "Join this many consecutive documents into one before tokens are held out, so that "
            "words come more often in a document. 1: none",
        ),
        "repeat": Number(
            "Counts repeated",
            1,
            "Every count is multiplied by it before tokens are held out. 1: counts as they are",
        ),
        "singletons": Menu(
            "Singletons",
            {SINGLETONS_IN_WORDS[rule]: rule for rule in SINGLETONS},
            "keep",
            "Words that a document has once. By own counts a test word is left out if it has one test token, by full "
            "counts if it has one token in training and test together",
            wide=True,
        ),
        "holdout_per": Menu(
            "Hold out per",
            HELD_OUT,
            "corpus",
            "What the share is taken of. With documents, half of each, one half of the tokens of a document is scored, and "
            "the other half is used for training",
            wide=True,
        ),
        f"{OF_RECORDS}holdout_per": Menu(
            "Hold out per",
            HELD_OUT_OF_RECORDS,
            "cell",
            "What the share is taken of: single cells, each predicted from the "
            "others of its record, or whole records",
            wide=True,
        ),
        "holdout_rows": Field(
            "Hold out rows",
            "",
            "Hold out whole documents, e.g. last 10 or year>=2012. Empty: the data set's default split. "
            "none: hold out random tokens",
            placeholder="last 10, year>=2012, year=2012,2013",
            wide=True,
        ),
        "start": Menu(
            "Initialise",
            {AT_RANDOM: ""},
            "",
            "At random, or with the counts of a run of the store on the same words. A run "
            "with fewer topics is padded with empty ones, of one with more the largest are taken",
            wide=True,
        ),
        "model": Menu(
            "Network",
            {name: name for name in SHIPPED},
            "lda",
            "The model that engines of networks infer: topics of documents "
            "(lda), of their authors, or under super-topics (pachinko, and hpam1 and hpam2, whose root and super-topics have "
            "words too). One of your own is given on the command line or in Python",
            wide=True,
        ),
        "super": Number(
            "Super-topics",
            5,
            "The number of super-topics of the network. Topics K are the topics under them",
        ),
    }


def fields_of_networks() -> dict[str, Field]:
    """The fields for a Bayesian network, by the names of a run's settings after ``OF_RECORDS``."""
    return {
        f"{OF_RECORDS}model": Menu(
            "Network of nodes",
            {MADE: ""} | {name: name for name in SIMULATED},
            "",
            "One that is made for the fields, of the "
            "options below, or the published one behind simulated records of this name, with priors of its own. One of your "
            "own is given on the command line or in Python",
            wide=True,
        ),
    } | {
        f"{OF_RECORDS}{name}": Values(label, f"{PRIOR:g}", f"{meaning}. {SEVERAL}")
        for name, (label, meaning) in PRIORS_OF_RECORDS.items()
    }


def number_field(name: str, default) -> Number | Values:
    """The field for a number, or for one number or several of the model; its range is checked at the start."""
    whole = isinstance(default, int)
    if name in MODEL:
        return Values(LABELS[name], f"{default:g}", f"{MEANINGS[name]}. {SEVERAL}", whole=whole)
    return Number(LABELS[name], default, MEANINGS[name], whole=whole, step=1 if whole else 0.05)


def option_field(field: dataclasses.Field) -> Field:
    """The field for an option of an engine, made from its metadata."""
    label, about = label_of(field.name), field.metadata
    meaning = labelled(about["meaning"], about["choices"])
    if about["otherwise"]:  # a choice or something of one's own, which is checked at the start
        return Field(label, field.default, meaning)
    if about["choices"]:
        return Menu(
            label,
            {label_of_value(choice): choice for choice in about["choices"]},
            field.default,
            meaning,
        )
    value = "" if field.default is None else f"{field.default:g}"
    looks = {"placeholder": "a number or inf"} if about["infinite"] else {}
    return Values(
        label,
        value,
        f"{meaning}. {SEVERAL}",
        infinite=about["infinite"],
        whole=about["whole"],
        **looks,
    )


def defaults() -> dict:
    """Name → default of every number of the form."""
    iterations, seed, holdout = (
        SETTINGS[name].default for name in ("n_iterations", "seed", "holdout")
    )
    return MODEL | {
        "n_iterations": iterations,
        "seed": seed,
        "seeds": 1,
        "holdout": holdout,
        "jobs": SLOTS,
    }
