"""Error sentences for the fields of the form: mistakes in a `RunRequest`, and what this server does not allow."""

from collections.abc import Iterator
from pathlib import Path

from workbench.corpus import CorpusError
from workbench.dashboard.compare.wording import worded
from workbench.dashboard.shared.policy import figures, policy
from workbench.dashboard.shared.uploads import Received
from workbench.engines.options import shared_option
from workbench.errors import InputError
from workbench.runs.loading import named_set
from workbench.runs.request import OF_FILES, RunRequest, as_list, reading_names
from workbench.runs.settings import SplitSettings, names
from workbench.runs.spec import SpecError

OF_CORPUS = (*reading_names(records=False), *names(SplitSettings))
"""Fields that can show an error about a corpus; the field of the corpus shows all others."""


def mistakes_in(request: RunRequest) -> dict[str, str]:
    """Return the error sentence of each field of a request, checked without reading the corpus; each sentence once."""
    found: dict[str, str] = {}
    for field, error in (
        *_mistakes_of_files(request),
        *request.mistakes(),
        *_beyond_limits(request),
    ):
        if worded(error) not in found.values():
            found.setdefault(field, worded(error))
    if not found and (n := request.n_runs()) > (most := policy().limits.start):
        sentence = (
            f"these are {n:,} runs where {figures(most)} may be started at once; take values out"
        )
        found[_longest(request)] = worded(SpecError(sentence))
    return found


def mistake_of(error: CorpusError, corpus: str | Received) -> dict[str, str]:
    """Return the error sentence for a corpus that could not be read or split, by field.

    A path at the beginning of the sentence is left out, since the form shows it.
    """
    received = isinstance(corpus, Received)
    path, said = corpus.path if received else policy().find(corpus) or Path(corpus), worded(error)
    # uploaded: the visitor sees only the name
    of_others = f"{path.name[:1].upper()}{path.name[1:]}" if received else ""
    rest = said.removeprefix(str(path)).removeprefix(of_others)
    if rest != said and not rest.startswith(("/", " is a f")):
        said = f"The {'folder' if path.is_dir() else 'file'}{rest}"
    said = said.replace(str(path), corpus.name) if received else said
    field = next(
        (name for name in (f"{OF_FILES}{error.field}", error.field) if name in OF_CORPUS), "corpus"
    )
    return {field: said}


def _mistakes_of_files(request: RunRequest) -> Iterator[tuple[str, InputError]]:
    """Yield the error of a corpus file, by field, if there is one."""
    corpus = request.corpus
    try:
        if isinstance(corpus, Received):
            corpus.there()
        elif not corpus:
            path = ", type its path," if policy().takes_paths else ""
            needed = f"a file; upload one{path}" if policy().takes_uploads else "a path; type one"
            raise SpecError(f"the corpus needs {needed} or choose a corpus of the list")
        elif not named_set(corpus):
            policy().place_of(corpus)
    except InputError as error:
        yield "corpus", error


def _beyond_limits(request: RunRequest) -> Iterator[tuple[str, InputError]]:
    """Yield an error for each field whose number exceeds a limit of this server: iterations, topics and other sizes."""
    sizes = {"n_topics": request.n_topics, **(request.sizes or {})}
    limited = [("n_iterations", "n_iterations", "iterations", request.n_iterations)]
    limited += [(name, name, "topics", value) for name, value in sizes.items()]
    for engine, options in request.options.items():
        for name, value in options.items():
            if (one := shared_option(engine, name)) and one.field.metadata["size"]:
                limited.append((one.key, name, "topics", value))
    for field, name, limit, values in limited:
        most = getattr(policy().limits, limit)
        for value in as_list(values):
            if isinstance(value, int | float) and value > most:
                yield (
                    field,
                    SpecError.must_be(name, f"at most {figures(most)} on this server", value),
                )


def _longest(request: RunRequest) -> str:
    """Return the field of the form with the most values."""
    lengths = {
        name: len(values)
        for engine in request.engines
        for name, values in request.grid_of(engine).items()
    }
    name = max(lengths, key=lengths.get, default="seeds")
    options = [shared_option(engine, name) for engine in request.engines]
    return next((one.key for one in options if one), name)
