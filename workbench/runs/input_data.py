"""Convert the data that users give (texts, tables, matrices, names, paths) to the data that an engine infers from."""

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from workbench.corpus import Corpus
from workbench.corpus.corpus import AnyCorpus, Documents, corpus_of
from workbench.corpus.objects import COLUMNS
from workbench.corpus.texts.counting import TEXT_OPTIONS, count_words
from workbench.engines import ENGINES, engine_called, get_engine
from workbench.engines.options import named_options, no_option
from workbench.errors import Got, called, plain
from workbench.records import Records
from workbench.runs.loading import load_data
from workbench.runs.spec import SpecError, no_setting

CALLED = {"id": "title"}
"""Options of `data_from` that have another name in `load_corpus`, which reads files."""
OF_TEXT = (*TEXT_OPTIONS, "keep_text")


def data_from(
    data: Documents,
    engine: str,
    *,
    text: str | None = None,
    id: str | None = None,
    time: str | None = None,
    label: str | None = None,
    vocabulary: Iterable[str] | Mapping | str | Path | None = None,
    counted: Mapping | None = None,
    **of_text,
) -> Corpus | Records:
    """Return data as the Corpus or Records that the engine needs; `corpus_of` lists the accepted forms of documents.

    A string is a name or a path, read by `workbench.load_corpus` or `load_records`. ``text``, ``id``, ``time`` and ``label``
    name the columns of a DataFrame or of a table in a file. ``of_text`` says how raw text is counted, see
    `workbench.corpus.texts.counting.count_words`; ``counted`` has a run's values for options that ``of_text`` leaves out. For
    engines of records, a DataFrame has one row per record. If ``engine`` is a list, its first engine decides.

    Raises
    ------
    DataError, SpecError
    """
    [(engine, _), *_] = named_engines(engine) or [(None, {})]
    kind = get_engine(engine).model.data if isinstance(engine, str) else Corpus
    read_options = dict(
        zip((*COLUMNS, "vocabulary"), (text, id, time, label, vocabulary), strict=True)
    )
    read_options = {
        name: value for name, value in read_options.items() if value is not None
    } | of_text
    if isinstance(data, Records) or (isinstance(data, AnyCorpus) and not read_options):
        # data of the wrong type are refused together with the engine
        return whole_if_one(data)
    # a text, and neither a name nor a path
    if isinstance(data, str) and " " in data and not Path(data).exists():
        return corpus_of(data, counted=counted, **read_options)
    if isinstance(data, str | Path):
        read_options |= {} if counted is None else {"counted": counted}
        return whole_if_one(
            load_data(
                data,
                kind,
                **{CALLED.get(name, name): value for name, value in read_options.items()},
            )
        )
    if kind is Records and hasattr(data, "columns") and hasattr(data, "iloc") and not read_options:
        return Records.from_pandas(data)
    if kind is Records:
        raise SpecError(
            f"{engine} infers from Records, a DataFrame with a row a record, or a name or path; "
            f"got a {type(data).__name__}"
        )
    return corpus_of(data, counted=counted, **read_options)


def whole_if_one(data: AnyCorpus | Records):
    """Return a corpus with a single shard as a `Corpus` in memory; return other data unchanged."""
    return data.in_memory() if data.n_parts == 1 else data


def fitting_test_set(train: AnyCorpus | Records, test: AnyCorpus | Records | None):
    """Return the test data; read them into memory if the training data are not in several shards."""
    return test.in_memory() if test is not None and train.n_parts == 1 else test


def named_engines(engines: Any) -> list[tuple]:
    """Return a list of (engine name, options), from a name, a (name, options) pair, a list of these, or a dict."""

    def is_pair(engine: object) -> bool:
        return isinstance(engine, tuple | list) and len(engine) == 2 and isinstance(engine[1], dict)

    if isinstance(engines, dict):
        engines = [*engines.items()]
    elif isinstance(engines, str) or is_pair(engines) or not isinstance(engines, Iterable):
        engines = [engines]
    return [
        (engine_called(engine[0]), engine[1]) if is_pair(engine) else (engine_called(engine), {})
        for engine in engines
    ]


def separate_options(
    function: Callable, engines: Any, settings: Mapping, others: Any = ()
) -> tuple:
    """Return the engines by name, and a function's settings with the engines' options moved into ``options``.

    A name of both a setting and an option is the setting. The function takes one engine, or with the parameter ``engines``
    several; ``others`` have options too. The single engine of a pair is returned as its name, with its options in ``options``.

    Raises
    ------
    SpecError, OptionError
        All names that are neither are in one sentence; an option that only other engines have is reported with their names.
    """
    parameters, chosen_engines = signature(function).parameters, named_engines(engines)
    options = settings.get("options") or {}
    if not isinstance(options, dict):
        raise SpecError("options must be a dict, as {'r': 1}", Got(options), field="options")
    all_engines = [get_engine(name) for name, _ in [*chosen_engines, *named_engines(others)]]
    if "engine" in parameters:
        if len(chosen_engines) != 1:
            raise SpecError(
                f"{function.__name__} takes one engine, and compare several",
                Got(engines),
                field="engine",
            )
        [(chosen_engines, own_options)] = chosen_engines
        options = own_options | options
    option_names = {name for engine in all_engines for name in named_options(engine)}
    loose_options = {name: value for name, value in settings.items() if name not in parameters}
    unknown = {name: value for name, value in loose_options.items() if name not in option_names}
    for name in (name for name in unknown if plain(name) not in called(parameters)):
        if any(name in named_options(get_engine(other)) for other in ENGINES):
            raise no_option(all_engines, name)
    if unknown:
        raise no_setting(unknown, [*parameters, *sorted(option_names)])
    for name in (name for name in loose_options if name in options):
        raise SpecError(f"{name} is given twice, by itself and in options; leave one out")
    known_settings = {name: value for name, value in settings.items() if name in parameters}
    return chosen_engines, known_settings | {"options": options | loose_options}


def pop_reading_options(settings: dict) -> dict:
    """Remove the options of `data_from` from a run's settings, and return the removed options."""
    return {
        name: settings.pop(name) for name in (*COLUMNS, "vocabulary", *OF_TEXT) if name in settings
    }


_words = [
    signature(count_words).parameters[name].replace(kind=Parameter.KEYWORD_ONLY) for name in OF_TEXT
]
data_from.__signature__ = signature(data_from).replace(
    parameters=[*signature(data_from).parameters.values()][:-2] + _words  # without counted
)
