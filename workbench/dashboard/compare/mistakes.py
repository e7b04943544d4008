"""Error sentences for the fields of the form: mistakes in a `RunRequest`, and what this server does not allow."""

import math
from collections.abc import Iterator
from pathlib import Path

from workbench.corpus import CorpusError
from workbench.dashboard.compare.starting import path_of
from workbench.dashboard.compare.wording import error_sentence
from workbench.dashboard.shared.policy import limit_text, policy
from workbench.dashboard.shared.uploads import ReceivedFile
from workbench.errors import InputError
from workbench.numbers import capital
from workbench.runs.request import RunRequest, as_list
from workbench.runs.spec import SpecError


def mistakes_in(request: RunRequest) -> dict[str, str]:
    """Return a dict field -> error sentence for a request, checked without reading its corpus; no sentence twice."""
    sentences: dict[str, str] = {}
    for field, error in (
        *_mistakes_of_files(request),
        *request.mistakes(),
        *_errors_beyond_limits(request),
    ):
        if error_sentence(error) not in sentences.values():
            sentences.setdefault(field, error_sentence(error))
    if not sentences and (n := request.n_runs()) > (most := policy().limits.start):
        sentence = (
            f"these are {n:,} runs where {limit_text(most)} may be started at once; take values out"
        )
        values = request.values()
        longest = max(("seeds", *values), key=lambda name: len(as_list(values[name])))
        sentences[longest] = error_sentence(SpecError(sentence))
    return sentences


def mistake_of(error: CorpusError, request: RunRequest) -> dict[str, str]:
    """Return a dict with one field and its error sentence, for a corpus that could not be read or split.

    A path at the beginning of the sentence is left out, since the form shows it.
    """
    corpus, sentence = request.corpus, error_sentence(error)
    is_upload = isinstance(corpus, ReceivedFile)
    path = corpus.path if is_upload else policy().find(corpus) or Path(corpus)
    # uploaded: the visitor sees only the name
    of_others = capital(path.name) if is_upload else ""
    sentence_without_path = sentence.removeprefix(str(path)).removeprefix(of_others)
    if sentence_without_path != sentence and not sentence_without_path.startswith(("/", " is a f")):
        sentence = f"The {'folder' if path.is_dir() else 'file'}{sentence_without_path}"
    sentence = sentence.replace(str(path), corpus.name) if is_upload else sentence
    return {request.key_of(error.field) or "corpus": sentence}


def _mistakes_of_files(request: RunRequest) -> Iterator[tuple[str, InputError]]:
    """Yield ("corpus", error) if no corpus is given, or if its file does not exist or may not be read."""
    corpus = request.corpus
    try:
        if not corpus:
            path = ", type its path," if policy().takes_paths else ""
            requirement = (
                f"a file; upload one{path}" if policy().takes_uploads else "a path; type one"
            )
            raise SpecError(f"the corpus needs {requirement} or choose a corpus of the list")
        path_of(corpus)
    except InputError as error:
        yield "corpus", error


def _errors_beyond_limits(request: RunRequest) -> Iterator[tuple[str, InputError]]:
    """Yield an error for each field whose number exceeds a limit of this server: iterations, topics and other sizes."""
    limits, fields = policy().limits, request.used_fields()
    for key, values in request.values().items():
        field = fields[key].field
        is_size = field.metadata.get("size") or key in ("n_topics", "super")
        most = limits.topics if is_size else math.inf
        most = limits.iterations if key == "n_iterations" else most
        for value in as_list(values):
            if isinstance(value, int | float) and value > most:
                must = f"at most {limit_text(most)} on this server"
                yield key, SpecError.must_be(field.name, must, value)
