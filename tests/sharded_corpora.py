"""Small corpora that are written in shards."""

import numpy as np

from workbench.corpus import Corpus


def drawn(n_documents: int = 40, n_words: int = 9, seed: int = 0, **about) -> Corpus:
    """A corpus of uniform counts with empty documents and an unused word."""
    random = np.random.default_rng(seed)
    table = random.poisson(0.5, (n_documents, n_words))
    table[:, -1] = 0
    table[::7] = 0
    table[-1, 0] += 1
    documents, words = np.nonzero(table)
    return Corpus.from_pairs(
        documents,
        words,
        table[documents, words],
        [f"wörd {w}" for w in range(n_words)],
        n_documents,
        name="drawn",
        **about,
    )


def full(n_documents: int = 40) -> Corpus:
    """One with everything that is known of documents."""
    rows = range(n_documents)
    return drawn(
        n_documents,
        titles=[f"título {d}\n'" if d % 3 else "" for d in rows],
        labels=["x", 1987, None, True] * (n_documents // 4),
        authors=[("ann", "bob")[: d % 3] for d in rows],
        times=[1990 + d for d in rows],
        inputs={"latitude": np.linspace(-1, 1, n_documents), "year": np.arange(n_documents)},
        sequence=[("one", d) if d % 2 else ("other", d) for d in rows],
    )
