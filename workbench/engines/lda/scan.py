"""In what order the tokens of a sweep are drawn: document after document, or word after word.

Every order of the same conditionals leaves the posterior as it is, so this is a matter of time alone. A draw in document
order looks at every topic, one in word order at those that the document holds: with many topics, once documents hold few
of them, the latter is cheaper. The choice is a function of the state, never of the machine, so that a resumed run repeats it.
"""

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.engines.memory import word_major_bytes
from workbench.kernels.lda.sparse_gibbs import (
    draw_words,
    entries_fit,
    make_lists,
    mean_held,
    starts_of_lists,
    write_back,
)
from workbench.kernels.simd.lanes import pad_topics
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import GIBBS
from workbench.models.options import option

DOCUMENTS, WORDS = 0, 1
"""The orders, as they are recorded."""
SPARED, COST = 220, 1.5
"""Words are the cheaper order if a draw skips SPARED topics: all but those of the token's document, each of
which costs COST times as much in a list as in a row. Measured; see docs/decisions/kernels.md."""


def scan_option():
    return option(
        "auto",
        "order in which tokens are visited: documents, words, or auto = words where documents have few of many topics",
        choices=("auto", "documents", "words"),
        late=True,
    )


def by_words(corpus: Corpus, state, scan: str) -> bool:
    """Return whether the sweep of a chain goes word by word; see `COST`."""
    n_topics = len(state.alpha)
    spared = n_topics - SPARED
    if (
        scan == "documents"
        or (scan == "auto" and spared <= 0)
        or not entries_fit(corpus.document_tokens, n_topics)
    ):
        return False
    return scan == "words" or COST * mean_held(state.n_dk, corpus.document_tokens) < spared


def sweep_words(corpus: Corpus, state, context: StepContext, chain: int = 0) -> int:
    """Make one Gibbs sweep over every token, word by word; return how many tokens moved."""
    n_topics, alpha = len(state.alpha), pad_topics(state.alpha)
    lists = make_lists(state.n_dk, corpus.document_tokens, n_topics)
    key, by_word = context.key(GIBBS, chain), corpus.by_word

    def draw(first: int, last: int):
        return draw_words(
            first,
            last,
            by_word.indptr,
            by_word.documents,
            *corpus.tokens_by_word,
            state.topics,
            state.n_wk,
            state.n_k,
            *lists,
            alpha,
            state.beta,
            n_topics,
            key,
        )

    n_moved = sum(each_slice(draw, slice_bounds(by_word.indptr, len(alpha)), 1, context.interrupt))
    write_back(state.n_dk, *lists)
    return n_moved


def word_order_bytes(corpus: Corpus, n_topics: int, scan: str) -> tuple[int, int]:
    """Return the bytes of the corpus in word-major order and of the lists of a sweep, if words may be the order."""
    if scan == "documents" or (scan == "auto" and n_topics <= SPARED):
        return 0, 0
    entries = int(starts_of_lists(corpus.document_tokens, n_topics)[-1])
    return word_major_bytes(corpus) + corpus.n_pairs * (8 + 4), entries * np.dtype(
        np.int32
    ).itemsize
