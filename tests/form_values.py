"""For every field of the form an unusual value, and what the runs that it starts are told then.

Those of options are made from the options themselves. A field of another kind has an entry in ``REST``.
"""

import pytest
from toys import data_for, dated, placed, sequenced, simulated

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.options import (
    options_of,
    split_options,
)
from workbench.errors import InputError
from workbench.models.options import OptionError, checked_option
from workbench.records import Records
from workbench.runs.request import RequestField, RunRequest, request_fields, written

DOCUMENTS = sequenced(placed(dated(simulated(40))))
ROWS = "text,body,name,kind,day,han\n" + (
    "apples the pears plums Café x7,red green blue red,one,fruit,2024-07-31,我们去公园。\n"
    "apples pears cherries,red blue green,two,colour,2024-08-01,今天天气很好。\n" * 20
)
CELLS = "a,b,n\n" + "x,u,1\nNA,u,2\ny,?,1\nx,v,2\n" * 6  # records
RECORDS = {"engines": ["bn-vb"], "path": "records.csv"}  # of the folder of the form's file
REST = {  # name: (what is chosen or typed, of a run's spec and training corpus, what that is, what it needs beside it)
    "corpus": ("bars", lambda spec, train: spec.corpus, "bars", {}),
    "path": (None, lambda spec, train: spec.corpus, "mine", {}),
    "format": (
        "mallet",
        lambda spec, train: train.n_documents,
        41,
        {},
    ),
    "text": ("body", lambda spec, train: set(train.vocabulary), {"red", "green", "blue"}, {}),
    "title": ("name", lambda spec, train: train.titles[:2], ("one", "two"), {}),
    "label": ("kind", lambda spec, train: train.labels[:2], ("fruit", "colour"), {}),
    "file.time": ("day", lambda spec, train: train.times[:2], ("2024-07-31", "2024-08-01"), {}),
    "encoding": ("cp1252", lambda spec, train: "cafã" in train.vocabulary, True, {}),
    "keep_text": ("False", lambda spec, train: spec.table, None, {}),
    "stop_words": ("", lambda spec, train: "the" in train.vocabulary, True, {}),
    "more_stop_words": (
        "apples, plums",
        lambda spec, train: {"apples", "plums"} & set(train.vocabulary),
        set(),
        {},
    ),
    "phrases": (
        "red green, blue red",
        lambda spec, train: set(train.vocabulary),
        {"red_green", "blue_red", "blue", "red", "green"},
        {"text": "body"},
    ),
    "segmenter": (
        "chinese",
        lambda spec, train: train.vocabulary,
        ("今天", "公园", "天气", "我们"),
        {"text": "han"},
    ),
    "min_documents": ("21", lambda spec, train: set(train.vocabulary), {"apples", "pears"}, {}),
    "max_share": (
        "0.5",
        lambda spec, train: set(train.vocabulary),
        {"plums", "cherries", "café"},
        {},
    ),
    "ngrams": ("2", lambda spec, train: "apples_pears" in train.vocabulary, True, {}),
    "repeated": (
        "drop",
        lambda spec, train: "repeated_documents" in spec.reading["left_out"],
        True,
        {},
    ),
    "min_letters": ("6", lambda spec, train: set(train.vocabulary), {"apples", "cherries"}, {}),
    "lowercase": ("False", lambda spec, train: "Café" in train.vocabulary, True, {}),
    "accents": ("strip", lambda spec, train: "cafe" in train.vocabulary, True, {}),
    "token_pattern": (r"\w+\d", lambda spec, train: train.vocabulary, ("x7",), {}),
    "top_words": (
        "2",
        lambda spec, train: (spec.split["top_words"], set(train.vocabulary)),
        (2, {"apples", "pears"}),
        {},
    ),
    "merge": ("2", lambda spec, train: (spec.split["merge"], train.n_documents), (2, 20), {}),
    "repeat": (
        "3",
        lambda spec, train: (spec.split["repeat"], spec.split["fraction"]),
        (3, 0.1),
        {},
    ),
    "singletons": (
        "both-own",
        lambda spec, train: spec.split["singletons"],
        "both-own",
        {"text": "body"},
    ),
    "records.fields": ("b, a", lambda spec, train: train.fields, ("b", "a"), RECORDS),
    "records.missing": (
        "NA,?",
        lambda spec, train: [len(names) for names in train.levels],
        [2, 2, 2],
        RECORDS,
    ),
    "records.multiplicity": (
        "n",
        lambda spec, train: (train.n_records, train.fields),
        (36, ("a", "b")),
        RECORDS,
    ),
    "records.alpha": ("0.25", lambda spec, train: spec.model["alpha"], 0.25, RECORDS),
    "records.beta": ("0.75", lambda spec, train: spec.model["beta"], 0.75, RECORDS),
    "records.model": (
        "asia",
        lambda spec, train: spec.model["name"],
        "asia",
        {"engines": ["bn-vb"], "corpus": "asia"},
    ),
    "records.holdout_per": ("record", lambda spec, train: spec.split["per"], "record", RECORDS),
    "holdout_per": ("half", lambda spec, train: spec.split["per"], "half", {}),
    "holdout_rows": (
        "labels=fruit",
        lambda spec, train: spec.split["rows"],
        {"by": "labels", "values": ["fruit"]},
        {"label": "kind"},
    ),
    "split_seed": ("4", lambda spec, train: spec.split["seed"], 4, {}),
    "holdout": ("0.25", lambda spec, train: spec.split["fraction"], 0.25, {}),
    "engines": (["vb"], lambda spec, train: spec.engine, "vb", {}),
    "n_topics": ("7", lambda spec, train: spec.model["n_topics"], 7, {}),
    "alpha": ("0.25", lambda spec, train: spec.model["alpha"], 0.25, {}),
    "beta": ("0.5", lambda spec, train: spec.model["beta"], 0.5, {}),
    "n_iterations": ("42", lambda spec, train: spec.n_iterations, 42, {}),
    "seed": ("9", lambda spec, train: spec.seed, 9, {}),
    "model": (
        "pachinko",
        lambda spec, train: spec.model["name"],
        "pachinko",
        {"engines": ["network-gibbs"]},
    ),
    "super": (
        "3",
        lambda spec, train: spec.parts()[1].size("super"),
        3,
        {"engines": ["network-gibbs"], "model": "pachinko"},
    ),
}


def numbers_about(default: float | None, about: dict) -> list:
    """Inf where it is allowed, numbers near the default, and the bounds."""
    near = (1, 2) if default is None else (default + 1, 2 * default, default / 2)
    return [*(["inf"] if about["infinite"] else []), *near, about["low"], about["high"]]


TEXTS = {"seed_words": ("first: w1 w2",), "prevalence": ("~ year",), "response": ("year",)}
"""Values, for any corpus here, of an option that takes texts."""


def unusual_values(field) -> list:
    """The values that an option takes and are not its default: choices, or some numbers."""
    about, default, values = field.metadata, field.default, []
    texts = TEXTS.get(field.name, ())
    for value in (*(about["choices"] or numbers_about(default, about)), *texts):
        try:
            value = checked_option("an engine", field, value)
        except OptionError:
            continue
        if value != default and value not in values:
            values.append(value)
    return values


def data_of_engine(engine) -> Corpus | Records:
    """Forty documents with years, inputs and a sequence, or records made of them."""
    return data_for(engine, DOCUMENTS)


def is_allowed(engine, options: dict) -> bool:
    """Does the engine take these options together, for the data of `data_of_engine`?"""
    data = data_of_engine(engine)
    try:
        beliefs, of_engine = split_options(engine, options)
        engine.check_options(of_engine, data)
        if beliefs:
            engine.model(**beliefs).for_data(data)
    except InputError:
        return False
    return True


def every_option() -> list[RequestField]:
    """The fields of all options of all engines."""
    return [one for one in request_fields().values() if one.part == "options"]


def needed_beside(option: RequestField, value) -> dict | None:
    """Key of an option → value that each engine of a option needs beside a value of it; None where one other is not enough."""
    needed = {}
    for engine in map(get_engine, option.engines):
        others = [
            {name: other}
            for name, field in options_of(engine).items()
            if name != option.field.name
            for other in unusual_values(field)
        ]
        rows = (
            row for row in ({}, *others) if is_allowed(engine, row | {option.field.name: value})
        )
        row = next(rows, None)
        if row is None:
            return None
        request = RunRequest(engines=(engine.name,))
        needed |= {request.key_of(name, engine.name): other for name, other in row.items()}
    return needed


def option_value(option: RequestField) -> tuple:
    """(what is chosen or typed, what the runs have, what it needs beside it) for an option."""
    for value in unusual_values(option.field):
        beside = needed_beside(option, value)
        if beside is not None:
            return written(value), value, {key: written(each) for key, each in beside.items()}
    pytest.fail(
        f"no unusual value of the option {option.key} stands by itself or beside one other option; "
        "have `unusual_values` in tests/form_values.py try one that does"
    )


def field_values() -> dict[str, tuple]:
    """Name of a field → (what is chosen or typed, …) for every field but the button, number of seeds and parallel runs."""
    values = {one.key: option_value(one) for one in every_option()} | REST
    missing = {*request_fields(), "corpus", "path", "engines"} - {*values, "start", "seeds", "jobs"}
    assert not missing, (
        f"the form has new fields {sorted(missing)}: write an unusual value of each into REST in tests/form_values.py"
    )
    return values
