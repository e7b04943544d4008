"""The corpora that are measured: those of the catalog by name, and 10 million tokens that are drawn once."""

from __future__ import annotations

import os
from pathlib import Path

from ours import LeftOut
from platformdirs import user_cache_path

from workbench.corpus import Corpus, CorpusError, load_corpus, read_corpus, synthetic, write_corpus

MILLIONS = "zipf10m"
SHAPE = {"n_documents": 50_000, "n_words": 30_000, "tokens_per_document": 157, "n_topics": 100}
"""A median of 157 tokens with a spread of 0.7 makes a mean of 200."""


def corpus_called(name: str) -> Corpus:
    """The corpus of a name, as `workbench.corpus.load_corpus` takes it, or ``zipf10m``.

    Raises
    ------
    LeftOut
        Its files are not on this machine.
    """
    if name == MILLIONS:
        return ten_million_tokens()
    try:
        return load_corpus(name)
    except CorpusError as error:
        raise LeftOut(str(error)) from None


def ten_million_tokens() -> Corpus:
    """50,000 documents over 30,000 words with Zipf's frequencies; kept in the user's cache folder."""
    home = Path(os.environ.get("WORKBENCH_CACHE") or user_cache_path("workbench")) / "corpora"
    kept = home / ("-".join(f"{value}" for value in SHAPE.values()) + ".npz")
    if not kept.exists():
        home.mkdir(parents=True, exist_ok=True)
        corpus, _ = synthetic.zipf(**SHAPE)
        write_corpus(corpus, kept)
    return read_corpus(kept, name=MILLIONS)
