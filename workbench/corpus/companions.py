"""Vocabulary, titles and labels in files of their own beside a file that holds only numbers.

Beside ``docword.NAME.txt[.gz]`` they are ``vocab.NAME.txt``, ``titles.NAME.txt`` and ``labels.NAME.txt``; beside any other
``NAME.suffix`` they are ``NAME.vocab.txt`` (or ``NAME.vocab``), ``NAME.titles.txt`` and ``NAME.labels.txt``. One word a
line, one document a line. Titles and labels are our addition; any other reader ignores them.
"""

from __future__ import annotations

from pathlib import Path

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats import Asked, has_titles, unplaced
from workbench.data.opening import read_lines
from workbench.data.saving import encoded, not_a_line

MOST_UNNAMED = 10_000_000
"""Words without a vocabulary, or documents without a count, beyond which a size or id is taken for a mistake, before memory
runs out."""


def corpus_of(
    path: Path, stem: str, asked: Asked, triples, n_documents: int, n_words: int, words: list[str] | None, **about
) -> Corpus:
    """The corpus of zero-based (documents, words, counts) read from a file, with what is known about it or lies beside it.

    Raises
    ------
    CorpusError
        Whatever `workbench.corpus.Corpus.from_pairs` refuses, titles or labels that do not fit, or so many
        words without a vocabulary, or documents without a count, that it must be a mistake.
    """
    if words is None and n_words > MOST_UNNAMED:
        raise CorpusError(f"{path} has {n_words} words and no vocabulary, which must be a mistake; give one with vocabulary=…")
    if n_documents > MOST_UNNAMED + len(triples[0]):
        n_rows = len(triples[0])
        raise CorpusError(f"{path} has {n_documents} documents and {n_rows} counts, which must be a mistake; correct it")
    about = _find_about(path, stem, n_documents, about)
    try:
        return Corpus.from_pairs(*triples, words, n_documents, n_words, name=asked.name or stem, **about)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from None


def find_words(path: Path, stem: str, vocabulary, n_words: int | None, also: str = "") -> list[str] | None:
    """The vocabulary that is given or lies beside the file; None when there is none.

    Parameters
    ----------
    vocabulary : path or words, optional
    n_words : int or None
        As many as the file says; None when the vocabulary decides.
    also : str, optional
        A further name under which a vocabulary may lie beside the file.

    Raises
    ------
    CorpusError
        Another number of words, a word that stands twice, or whatever is wrong with the file.
    """
    if vocabulary is not None:
        return read_words(vocabulary, n_words, f"give the vocabulary that belongs to {path}")
    file = _first_file(_names(path, stem, "vocab") + ([path.with_name(also)] if also else []))
    return file and read_words(file, n_words, f"it does not belong to {path}; give the right one with vocabulary=…")


def read_words(vocabulary, wanted: int | None, mend: str) -> list[str]:
    """The words of a vocabulary that came as a path or as words; each may stand once."""
    if not isinstance(vocabulary, (str, Path)):
        words = list(vocabulary)
        refuse_repeated(words)
        return words
    words = read_lines(Path(vocabulary), wanted, "words", mend)
    if (found := _repeated(words)) is not None:
        first, again = found
        raise CorpusError(
            f"{vocabulary}, line {again + 1}: the word {words[again]!r} stands on line {first + 1} already; "
            "two words may not have one name, change one of them"
        )
    return words


def refuse_repeated(words) -> None:
    """Refuses a vocabulary in which a word stands twice: merging its counts would change the data."""
    if (found := _repeated(words)) is not None:
        first, again = found
        raise CorpusError(
            f"the vocabulary has {words[again]!r} twice, as words {first} and {again} counted from 0; "
            "two words may not have one name, change one of them"
        )


def lines_beside(corpus: Corpus, path: Path, stem: str, vocabulary: bool) -> tuple[dict[Path, bytes], list[str]]:
    """What to write beside the file, and what of the corpus has no place there.

    Titles are left out where they are the ones that any reader gives (document 0, …).

    Raises
    ------
    CorpusError
        A word that is not one line of text.
    """
    files, lost = {}, unplaced(corpus, "titles", "labels")
    if vocabulary:
        file = _names(path, stem, "vocab")[0]
        if (wrong := not_a_line(corpus.vocabulary)) is not None:
            raise CorpusError(
                f"{file} has one word a line and cannot hold {corpus.vocabulary[wrong]!r}; write npz, csv or jsonl instead"
            )
        files[file] = _lines(corpus.vocabulary, file)
    for what in ("titles", "labels"):
        values = getattr(corpus, what)
        if values is None or (what == "titles" and not has_titles(corpus)):
            continue
        values = [str(value) for value in values]
        if (wrong := not_a_line(values)) is not None:
            lost.append(f"{what} (document {wrong} has {values[wrong]!r}, which is not one line of text)")
            continue
        file = _names(path, stem, what)[0]
        files[file] = _lines(values, file)
    return files, lost


def _find_about(path: Path, stem: str, n_documents: int, known: dict) -> dict:
    """titles and labels, as far as they lie beside the file and are not known already."""
    about = dict(known)
    for what in ("titles", "labels"):
        file = _first_file(_names(path, stem, what))
        if file and what not in known:
            about[what] = read_lines(file, n_documents, what, f"it does not belong to {path}; mend or remove it")
    return about


def _lines(strings, path: Path) -> bytes:
    return encoded("".join(f"{text}\n" for text in strings), path)


def _repeated(words) -> tuple[int, int] | None:
    """Where the first word that stands twice stands."""
    seen: dict[str, int] = {}
    for at, word in enumerate(words):
        if seen.setdefault(word, at) != at:
            return seen[word], at
    return None


def _first_file(paths: list[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _names(path: Path, stem: str, what: str) -> list[Path]:
    """Where it may lie, the usual place first."""
    named = [f"{what}.{stem}.txt"] if path.name.startswith("docword.") else [f"{stem}.{what}.txt", f"{stem}.{what}"]
    return [path.with_name(name + packing) for name in named for packing in ("", ".gz")]
