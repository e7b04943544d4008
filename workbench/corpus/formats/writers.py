"""Write a corpus to files in any of the formats that hold counts."""

import os
import warnings
from pathlib import Path

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.interface import Prepared, refuse_repeated
from workbench.corpus.formats.readers import FORMATS, named_format
from workbench.data.saving import put_files

WRITTEN = tuple(name for name, format in FORMATS.items() if hasattr(format, "write"))


def write_corpus(
    corpus: Corpus, path: str | os.PathLike, format: str | None = None, vocabulary: bool = True
) -> list[Path]:
    """Write a corpus to a file, atomically; `workbench.corpus.read_corpus` reads it back.

    Parameters
    ----------
    path : path
        Gzipped when the name ends in ``.gz``; replaced if it is there. The same corpus gives the same bytes.
    format : "uci", "lda-c", "mtx", "mallet", "csv", "jsonl" or "npz", default as the name says
        ``docword.NAME.txt`` is UCI, ``.dat`` lda-c, ``.mtx`` Matrix Market, and so on. npz holds every field; UCI, lda-c
        and Matrix Market have their vocabulary, titles and labels beside them; MALLET has only the texts.
    vocabulary : bool, default True
        Whether the vocabulary is written: beside the file, inside it, or (CSV, JSON lines) as words of count 0 in the
        first document.

    Returns
    -------
    list of Path
        Everything written, the corpus' own file last.

    Warns
    -----
    UserWarning
        The format cannot hold some fields of the corpus; one sentence names them.

    Raises
    ------
    CorpusError
        A format that is unknown or not given, a word that the format cannot hold, a path that cannot be written.
    """
    prepared = files_of(corpus, path, format, vocabulary)
    for sentence in losses(prepared):
        warnings.warn(sentence, stacklevel=2)
    return put_files(prepared.files)


def files_of(
    corpus: Corpus, path: str | os.PathLike, format: str | None = None, vocabulary: bool = True
) -> Prepared:
    """Return the files that `write_corpus` would write, and the fields that the format cannot hold."""
    path = Path(path)
    format_name = (
        named_format(path) if format is None else CorpusError.one_of("format", format, FORMATS)
    )
    if format_name is None:
        raise CorpusError(
            f"the name {path.name!r} says no format; say which with format=…, one of {', '.join(WRITTEN)}"
        )
    if not hasattr(FORMATS[format_name], "write"):
        raise CorpusError(
            f"{FORMATS[format_name].MEANING} is read only; write one of {', '.join(WRITTEN)}"
        )
    refuse_repeated(corpus.vocabulary)
    return FORMATS[format_name].write(corpus, path, vocabulary)


def losses(prepared: Prepared) -> list[str]:
    """Return a sentence that names the fields that the format cannot hold; "" if it holds all."""
    if not prepared.lost_fields:
        return []
    return [
        f"{list(prepared.files)[-1]} has no place for {', '.join(prepared.lost_fields)}; npz holds everything"
    ]
