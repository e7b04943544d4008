"""Mistakes in the values of the form, each by its field; found by the constructors that the command line uses."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from workbench.corpus import CorpusError
from workbench.corpus.splits import check_fraction
from workbench.dashboard.compare.fields import MISSING, OF_FILES, choice_of, reading_fields
from workbench.dashboard.compare.starting import combinations, grid_of, n_runs
from workbench.dashboard.compare.wording import worded
from workbench.dashboard.shared.policy import figures, policy
from workbench.dashboard.shared.received import Received
from workbench.dashboard.shared.values import as_list
from workbench.engines import get_engine
from workbench.engines.options import split_options
from workbench.errors import InputError
from workbench.models import LDA
from workbench.models.bayes_nets.files import published
from workbench.models.options import OptionError
from workbench.runs.execution.compare import NETWORK, check_kinds
from workbench.runs.execution.worker import SLOTS
from workbench.runs.loading import check_kind, named_set
from workbench.runs.spec import SpecError, checked, make_model, model_fields, whole

OF_CORPUS = (
    *reading_fields(),
    "holdout",
    "holdout_per",
    "holdout_rows",
    "top_words",
    "merge",
    "repeat",
    "singletons",
)
"""Fields that an error of a corpus may be about; otherwise it is about the corpus."""


def mistakes_in(values: dict) -> dict[str, str]:
    """Field → sentence about what is wrong with it, of all that can be known without the corpus; each sentence once."""
    found = {}

    def add(field: str, error: InputError) -> None:
        if worded(error) not in found.values():
            found.setdefault(field, worded(error))

    for field, check in _checks(values):
        try:
            check()
        except InputError as error:
            add(field, error)
    for engine, own in (
        (engine, own) for engine, given in values["options"].items() for own in combinations(given)
    ):
        try:
            split_options(get_engine(engine), own)
        except OptionError as error:
            choice = choice_of(engine, error.field)
            add(choice.key if choice else "engines", error)
    if not found and n_runs(values) > (most := policy().limits.start):
        said = f"these are {n_runs(values):,} runs where {figures(most)} may be started at once; take values out"
        add(_longest(values), SpecError(said))
    return found


def mistake_of(error: CorpusError, corpus: str | Received) -> dict[str, str]:
    """The sentence about a corpus that could not be read or split, by its field.

    A path at its beginning, which stands in the form, is left out.
    """
    received = isinstance(corpus, Received)
    path, said = corpus.path if received else policy().find(corpus) or Path(corpus), worded(error)
    # who see its name alone
    of_others = f"{path.name[:1].upper()}{path.name[1:]}" if received else ""
    rest = said.removeprefix(str(path)).removeprefix(of_others)
    if rest != said and not rest.startswith(("/", " is a f")):
        said = f"The {'folder' if path.is_dir() else 'file'}{rest}"
    said = said.replace(str(path), corpus.name) if received else said
    field = next(
        (name for name in (f"{OF_FILES}{error.field}", error.field) if name in OF_CORPUS), "corpus"
    )
    return {field: said}


def _checks(values: dict) -> Iterator[tuple[str, Callable[[], object]]]:
    """(field, what raises if it is wrong), in the order of the form; options apart."""
    yield "corpus", partial(_check_corpus, values["corpus"], values["engines"])
    if values["top_words"] is not None:
        yield "top_words", partial(whole, "top_words", values["top_words"], 1)
    for name in ("merge", "repeat"):
        yield name, partial(whole, name, values[name], 1)
    yield "holdout", partial(check_fraction, values["holdout"])
    yield "engines", partial(_check_engines, values["engines"])
    engines = [*map(get_engine, values["engines"])]
    for engine in engines if len({engine.model.data for engine in engines}) == 1 else ():
        make, network = engine.model, engine.model.is_network
        if network:
            make = partial(make_model, engine, **{name: values[name] for name in NETWORK})
            yield "super" if values["sizes"] else "model", make
        elif (
            "model" in engine.model.takes and values["model"]
        ):  # whether it is there: to read it takes seconds
            yield "model", partial(published, values["model"])
            continue
        for name in model_fields(engine):
            for value in as_list(values[name]):
                if network:  # whose numbers are held to what LDA takes, and then to the network
                    yield name, partial(LDA, **{name: value})
                yield name, partial(make, **{name: value})
    for name in ("n_iterations", "seed"):
        yield name, partial(checked, {name: values[name]})
    for field, name, limit, value in _limited(values):
        for one in as_list(value):
            yield field, partial(_check_limit, name, limit, one)
    yield "seeds", partial(whole, "seeds", values["seeds"], 1, 100)
    yield "jobs", partial(whole, "jobs", values["jobs"], 1, SLOTS)


def _check_corpus(corpus: str | Received, engines: list[str]) -> None:
    if isinstance(corpus, Received):
        corpus.there()
        return
    if not corpus:
        path = ", type its path," if policy().takes_paths else ""
        needed = f"a file; upload one{path}" if policy().takes_uploads else "a path; type one"
        raise SpecError(f"the corpus needs {needed} or choose a corpus of the list")
    found, kinds = named_set(corpus), {get_engine(engine).model.data for engine in engines}
    if len(kinds) == 1:  # of several the sentence stands under the engines
        check_kind(corpus, *kinds)
    if found and found.whereabouts() in MISSING:
        found.load()  # which says how to get it
    if not found:
        policy().place_of(corpus)


def _limited(values: dict) -> Iterator[tuple[str, str, str, object]]:
    """(field, name, limit of the server that it has, value) of all that has one: iterations, topics, and other sizes."""
    yield "n_iterations", "n_iterations", "iterations", values["n_iterations"]
    for name, value in {"n_topics": values["n_topics"], **(values["sizes"] or {})}.items():
        yield name, name, "topics", value
    for engine in values["engines"]:
        for name, value in values["options"].get(engine, {}).items():
            if (choice := choice_of(engine, name)) and choice.field.metadata["size"]:
                yield choice.key, name, "topics", value


def _check_limit(name: str, limit: str, value) -> None:
    """Raises where a number is larger than it may be on this server; one that is none is told of elsewhere."""
    most = getattr(policy().limits, limit)
    if isinstance(value, int | float) and value > most:
        raise SpecError.must_be(name, f"at most {figures(most)} on this server", value)


def _longest(values: dict) -> str:
    """The field of the form with the most values."""
    lengths = {
        name: len(own)
        for engine in values["engines"]
        for name, own in grid_of(values, engine).items()
    }
    named = max(lengths, key=lengths.get, default="seeds")
    choices = [choice_of(engine, named) for engine in values["engines"]]
    return next((choice.key for choice in choices if choice), named)


def _check_engines(engines: list[str]) -> None:
    if not engines:
        raise SpecError("choose at least one engine; none is ticked")
    check_kinds({engine: get_engine(engine) for engine in engines})
