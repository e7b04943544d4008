"""A data set of the catalog that is tiny, for tests of finding, verifying and fetching: 2 documents, 3 words, 5 tokens."""

import gzip

from workbench.corpus import Corpus
from workbench.corpus.catalog.data_set import DataSet, Form

FIVE_TOKENS = b"2\n3\n2\n1 1 4\n2 3 1\n"
WORDS = ("ant", "bee", "cat")
FILES = ("docword.tiny.txt.gz", "vocab.tiny.txt")


def publish(monkeypatch, *urls: str) -> DataSet:
    """Puts ``tiny`` into the catalog for the time of a test; the addresses are those of its UCI form."""
    corpus = Corpus.from_pairs([0, 1], [0, 2], [4, 1], WORDS)
    tiny = DataSet(
        name="tiny",
        title="tiny",
        forms=(Form(FILES, urls=urls), Form(("tiny.npz", "tiny.vocab.txt"))),
        content=corpus.content_hash,
        n_documents=2,
        n_words=3,
        n_pairs=2,
        n_tokens=5,
        agreement="exact",
        licence="none",
        origin="nowhere",
    )
    monkeypatch.setattr("workbench.corpus.catalog.named.DATA_SETS", {"tiny": tiny})
    return tiny


def write_uci(folder) -> None:
    """The files of its UCI form."""
    (folder / FILES[0]).write_bytes(gzip.compress(FIVE_TOKENS, mtime=0))
    (folder / FILES[1]).write_text("\n".join(WORDS) + "\n")
