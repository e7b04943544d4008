"""A file format of another package: a document per line, its words between bars."""

from workbench.corpus import Corpus
from workbench.corpus.formats.interface import ReadOptions

MEANING = "lines of words between bars"
SUFFIXES = (".bars",)


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether the first line has a bar."""
    return b"|" in start.partition(b"\n")[0]


def read(path, read_options):
    """Return the arguments of `Corpus.from_pairs`."""
    corpus = Corpus.from_tokens([line.split("|") for line in path.read_text().splitlines()])
    names = ("documents", "words", "counts", "vocabulary")
    return {name: getattr(corpus, name) for name in names}
