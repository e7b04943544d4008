"""Error sentences for the fields of the form: mistakes in a `RunRequest`, and what this server does not allow."""

import math
from collections.abc import Iterator
from pathlib import Path

from workbench.corpus import CorpusError
from workbench.dashboard.compare.starting import path_of
from workbench.dashboard.compare.wording import worded
from workbench.dashboard.shared.policy import figures, policy
from workbench.dashboard.shared.uploads import Received
from workbench.errors import InputError
from workbench.numbers import capital
from workbench.runs.request import RunRequest, as_list
from workbench.runs.spec import SpecError


def mistakes_in(request: RunRequest) -> dict[str, str]:
    """Return a dict field -> error sentence for a request, checked without reading its corpus; no sentence twice."""
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
        values = request.values()
        longest = max(("seeds", *values), key=lambda name: len(as_list(values[name])))
        found[longest] = worded(SpecError(sentence))
    return found


def mistake_of(error: CorpusError, request: RunRequest) -> dict[str, str]:
    """Return a dict with one field and its error sentence, for a corpus that could not be read or split.

    A path at the beginning of the sentence is left out, since the form shows it.
    """
    corpus, said = request.corpus, worded(error)
    received = isinstance(corpus, Received)
    path = corpus.path if received else policy().find(corpus) or Path(corpus)
    # uploaded: the visitor sees only the name
    of_others = capital(path.name) if received else ""
    rest = said.removeprefix(str(path)).removeprefix(of_others)
    if rest != said and not rest.startswith(("/", " is a f")):
        said = f"The {'folder' if path.is_dir() else 'file'}{rest}"
    said = said.replace(str(path), corpus.name) if received else said
    return {request.key_of(error.field) or "corpus": said}


def _mistakes_of_files(request: RunRequest) -> Iterator[tuple[str, InputError]]:
    """Yield ("corpus", error) if no corpus is given, or if its file does not exist or may not be read."""
    corpus = request.corpus
    try:
        if not corpus:
            path = ", type its path," if policy().takes_paths else ""
            needed = f"a file; upload one{path}" if policy().takes_uploads else "a path; type one"
            raise SpecError(f"the corpus needs {needed} or choose a corpus of the list")
        path_of(corpus)
    except InputError as error:
        yield "corpus", error


def _beyond_limits(request: RunRequest) -> Iterator[tuple[str, InputError]]:
    """Yield an error for each field whose number exceeds a limit of this server: iterations, topics and other sizes."""
    limits, known = policy().limits, request.used_fields()
    for key, values in request.values().items():
        about = known[key].field
        is_size = about.metadata.get("size") or key in ("n_topics", "super")
        most = limits.topics if is_size else math.inf
        most = limits.iterations if key == "n_iterations" else most
        for value in as_list(values):
            if isinstance(value, int | float) and value > most:
                must = f"at most {figures(most)} on this server"
                yield key, SpecError.must_be(about.name, must, value)
