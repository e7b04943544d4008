"""What is wrong with the values of the form, and with which field; told by the constructors that the command line uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from workbench.corpus import CorpusError, find_data_set, is_named, load_corpus
from workbench.dashboard.compare.choices import choice_of
from workbench.dashboard.compare.sweeps import MOST, combinations, grid_of, n_runs
from workbench.dashboard.compare.values import listed
from workbench.dashboard.compare.wording import worded
from workbench.engines import get_engine
from workbench.engines.engine import make_options
from workbench.models import LDA
from workbench.models.networks.network import Network
from workbench.models.options import OptionError
from workbench.runs.execution.compare import NETWORK
from workbench.runs.execution.worker import SLOTS
from workbench.runs.spec import LARGEST_SEED, SpecError, make_model, model_fields, whole

MISSING = ("fetchable", "by hand")
"""Whereabouts of a data set that cannot be read at once."""
READING = re.compile(
    r"\b(format|text|title|label)=(?:…|'[\w-]+' wants)|\b(stop_words|min_documents|max_share|token_pattern)\b(?!=)"
)
"""Settings of the readers in a sentence that is about them."""


def mistakes_in(values: dict) -> dict[str, str]:
    """Field → what is wrong with it, of all that can be known without the corpus; nothing is told twice."""
    found = {}

    def tell(field: str, error: ValueError) -> None:
        if worded(error) not in found.values():
            found.setdefault(field, worded(error))

    for field, look in _looks(values):
        try:
            look()
        except ValueError as error:
            tell(field, error)
    for engine, own in ((engine, own) for engine, given in values["options"].items() for own in combinations(given)):
        try:
            make_options(get_engine(engine), own)
        except OptionError as error:
            tell(_option_in(engine, str(error)), error)
    if not found and n_runs(values) > MOST:
        said = f"these are {n_runs(values):,} runs where {MOST} may be started at once; take values out"
        tell(_longest(values), SpecError(said))
    return found


def mistake_of(error: CorpusError, corpus: str) -> dict[str, str]:
    """What was found wrong with the corpus when it was read or split, by the field that its sentence tells of.

    The path, which stands in the form, is left out of the sentence.
    """
    path = Path(corpus).expanduser()
    said = re.sub(rf"^{re.escape(str(path))}(?!/| is a f)", "the folder" if path.is_dir() else "the file", str(error))
    if said.startswith("fraction "):
        return {"holdout": worded(CorpusError(said.replace("fraction", "test share")))}
    named = READING.search(said)
    return {(named[1] or named[2]) if named else "corpus": worded(CorpusError(said))}


def _looks(values: dict) -> Iterator[tuple[str, Callable[[], object]]]:
    """(field, what raises if it is wrong), in the order of the form; options apart."""
    yield "corpus", partial(_there, values["corpus"])
    if values["top_words"] is not None:
        yield "top_words", partial(whole, "vocabulary", values["top_words"], 1)
    yield "holdout", partial(_share, values["holdout"])
    yield "engines", partial(_some, values["engines"])
    for engine in map(get_engine, values["engines"]):
        make = engine.model
        if engine.model is Network:  # whose numbers are held to what LDA takes, and then to the network
            make = partial(make_model, engine, **{name: values[name] for name in NETWORK})
            yield "super" if values["sizes"] else "model", make
        for name in model_fields(engine):
            for value in listed(values[name]):
                if engine.model is Network:
                    yield name, partial(LDA, **{name: value})
                yield name, partial(make, **{name: value})
    yield "n_iterations", partial(whole, "iterations", values["n_iterations"], 1, 2**20)
    yield "seed", partial(whole, "seed", values["seed"], 0, LARGEST_SEED)
    yield "seeds", partial(whole, "number of seeds", values["seeds"], 1, 100)
    yield "jobs", partial(whole, "runs at a time", values["jobs"], 1, SLOTS)


def _option_in(engine: str, sentence: str) -> str:
    """The field of the option that a sentence begins with."""
    named = re.match(r"(?:option ')?(\w+)", sentence)
    choice = choice_of(engine, named[1]) if named else None
    return choice.key if choice else "engines"


def _there(corpus: str) -> None:
    if not corpus:
        raise SpecError("the corpus needs a path; type one or choose a corpus of the list")
    named = is_named(corpus)
    if named and find_data_set(corpus.split(":")[0]).whereabouts() in MISSING:
        load_corpus(corpus)  # which says how to get it
    if not named and not Path(corpus).expanduser().exists():
        raise SpecError(f"no file and no folder {corpus!r}; check the path, or choose a corpus of the list")


def _share(share: float | None) -> None:
    if share is None or not 0 <= share < 1:
        raise SpecError(f"test share must be a number of at least 0 and below 1; got {share!r}")


def _longest(values: dict) -> str:
    """The field of the form with the most values, which is where to take some out."""
    lengths = {name: len(own) for engine in values["engines"] for name, own in grid_of(values, engine).items()}
    named = max(lengths, key=lengths.get, default="seeds")
    choices = [choice_of(engine, named) for engine in values["engines"]]
    return next((choice.key for choice in choices if choice), named)


def _some(engines: list[str]) -> None:
    if not engines:
        raise SpecError("choose at least one engine; none is ticked")
