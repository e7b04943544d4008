"""Vocabulary, titles and labels in files of their own beside a file that holds only numbers.

Beside ``docword.NAME.txt[.gz]`` they are ``vocab.NAME.txt``, ``titles.NAME.txt`` and ``labels.NAME.txt``; beside any other
``NAME.suffix`` they are ``NAME.vocab.txt`` (or ``NAME.vocab``), ``NAME.titles.txt`` and ``NAME.labels.txt``. One word a
line, one document a line. Titles and labels are our addition; any other reader ignores them.
"""

from collections.abc import Sequence
from pathlib import Path

from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.interface import Prepared, has_titles, unplaced
from workbench.data.opening import read_lines
from workbench.data.saving import encoded, not_a_line


def about_counts(
    path: Path, stem: str, n_documents: int, n_words: int, words: list[str] | None, **about
) -> dict:
    """Return arguments of `Corpus.from_pairs` besides the rows: words, sizes, titles and labels from beside the file.

    Titles or labels that do not fit are refused.
    """
    for what in ("titles", "labels"):
        if what not in about and (
            file := next(filter(Path.is_file, _names(path, stem, what)), None)
        ):
            about[what] = read_lines(
                file, n_documents, what, f"it does not belong to {path}; mend or remove it"
            )
    return {"vocabulary": words, "n_documents": n_documents, "n_words": n_words, **about}


def find_words(
    path: Path, stem: str, vocabulary, n_words: int | None, also: str = ""
) -> list[str] | None:
    """Return the vocabulary from the option (a path or words) or from beside the file; None when there is none.

    Another number of words than ``n_words`` is refused, and a word that stands twice; None lets the vocabulary decide.
    ``also`` is a further name under which a vocabulary may lie beside the file.
    """
    if vocabulary is not None:
        return read_words(vocabulary, n_words, f"give the vocabulary that belongs to {path}")
    file = next(
        filter(
            Path.is_file, _names(path, stem, "vocab") + ([path.with_name(also)] if also else [])
        ),
        None,
    )
    return file and read_words(
        file, n_words, f"it does not belong to {path}; give the right one with vocabulary=…"
    )


def read_words(vocabulary, wanted: int | None, mend: str) -> list[str]:
    """Return the words of a vocabulary given as a path or as words; duplicates are refused."""
    if not isinstance(vocabulary, (str, Path)):
        words = list(vocabulary)
        refuse_repeated(words)
        return words
    words = read_lines(Path(vocabulary), wanted, "words", mend)
    refuse_repeated(words, Path(vocabulary))
    return words


def refuse_repeated(words: Sequence[str], path: Path | None = None) -> None:
    """Raise an error for a vocabulary with a duplicate word: merging its counts would change the data."""
    first: dict[str, int] = {}
    for at, word in enumerate(words):
        if first.setdefault(word, at) != at:
            twice = (
                f"the vocabulary has {word!r} twice, as words {first[word]} and {at} counted from 0"
            )
            if path is not None:
                twice = f"{path}, line {at + 1}: the word {word!r} stands on line {first[word] + 1} already"
            raise CorpusError(f"{twice}; two words may not have one name, change one of them")


def with_companions(
    corpus: Corpus, path: Path, stem: str, vocabulary: bool, content: str
) -> Prepared:
    """Return the file with its vocabulary, titles and labels beside it; a word must be one line of text.

    Titles are left out where they are the ones that any reader gives (document 0, …).
    """
    files, lost = {}, unplaced(corpus, "titles", "labels")
    for what in ("vocab", "titles", "labels"):
        values = corpus.vocabulary if what == "vocab" else getattr(corpus, what)
        if (
            values is None
            or (what == "vocab" and not vocabulary)
            or (what == "titles" and not has_titles(corpus))
        ):
            continue
        values, file = [str(value) for value in values], _names(path, stem, what)[0]
        if (wrong := not_a_line(values)) is None:
            files[file] = encoded("".join(f"{text}\n" for text in values), file)
        elif what == "vocab":
            raise CorpusError(
                f"{file} has one word a line and cannot hold {values[wrong]!r}; write npz, csv or jsonl instead"
            )
        else:
            lost.append(
                f"{what} (document {wrong} has {values[wrong]!r}, which is not one line of text)"
            )
    return Prepared(files | {path: content.encode()}, lost)


def _names(path: Path, stem: str, what: str) -> list[Path]:
    """Return the paths where a companion file may be, the usual one first."""
    named = (
        [f"{what}.{stem}.txt"]
        if path.name.startswith("docword.")
        else [f"{stem}.{what}.txt", f"{stem}.{what}"]
    )
    return [path.with_name(name + packing) for name in named for packing in ("", ".gz")]
