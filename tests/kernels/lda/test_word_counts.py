"""Words counted from what was kept of documents, beside the sum that defines it."""

import numpy as np
import pytest
import twins
from engines.lda.starts import padded_rows

from workbench.corpus import Corpus
from workbench.kernels.lda.word_counts import count_words


@pytest.mark.parametrize("n_topics", [3, 40, 70])
def test_words_counted_in_slices_are_those_counted_at_once(n_topics):
    """Rows of one block, of a few, and wide ones, of words in one, two, ... nine documents."""
    random, lengths = np.random.default_rng(2), np.arange(10)
    documents = np.concatenate([random.permutation(10)[:n] for n in lengths])
    corpus = Corpus.from_pairs(documents, np.repeat(lengths, lengths), random.integers(1, 4, 45))
    by_word, ratios = corpus.by_word, random.uniform(0.5, 2.0, corpus.n_pairs)
    of_documents, of_words = (
        padded_rows(random.uniform(0.5, 2.0, (n, n_topics)), float)
        for n in (corpus.n_documents, corpus.n_words)
    )
    nothing, new_wk, expected = (
        np.zeros_like(of_documents),
        np.zeros_like(of_words),
        np.zeros_like(of_words),
    )
    found = [
        count_words(
            first,
            last,
            by_word.indptr,
            by_word.documents,
            by_word.pairs,
            corpus.counts,
            nothing,
            of_documents,
            np.zeros_like(of_words),
            of_words,
            n_topics,
            ratios,
            new_wk,
        )
        for first, last in ((0, 4), (4, 5), (5, corpus.n_words))
    ]
    for pair, (d, w, _) in enumerate(twins.pairs_of(corpus)):
        expected[w] += ratios[pair] * of_documents[d] * of_words[w]
    np.testing.assert_allclose(new_wk, expected, rtol=1e-14)  # rounding
    np.testing.assert_allclose(sum(found), expected.sum(axis=0), rtol=1e-14)
