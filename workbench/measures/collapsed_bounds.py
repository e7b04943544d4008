"""Three bounds on the log evidence of LDA for given responsibilities: by Jensen's inequality, by expansion, and exact.

q(z) factorises over tokens, equal tokens of a document share their q, and E_q[L(n)] + H(q) <= log p(words) with L the collapsed
log joint:

    F                L(E_q n) + H(q)                                                   spec A4, of `vb` and `svb`
    collapsed bound  E_q[L(n)] by the improved second order, + H(q): approximate        spec of the HDP, 5
    exact F          E_q[L(n)] by the distribution of every count, + H(q)               spec A.6

F <= exact F, since L is convex; a count is Poisson-binomial, a sum of independent draws.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import entr, gammaln

from workbench.corpus import Corpus
from workbench.kernels.count_moments import expected_log_joint
from workbench.kernels.lda.log_joint import log_joint
from workbench.kernels.simd.lanes import pad_topics
from workbench.measures.count_expectations import MOST_DRAWS, poisson_binomial
from workbench.measures.selection import MeasureError
from workbench.models.lda import LDA


class Bounds(NamedTuple):
    """Three bounds of one set of responsibilities, nats."""

    jensen: float  # F
    collapsed: float  # by improved second order; approximate
    exact: float  # F with exact expectations


def collapsed_bounds(corpus: Corpus, model: LDA, gamma: np.ndarray) -> Bounds:
    """Return the three bounds for responsibilities gamma (pair, topic).

    Raises MeasureError beyond 2000 tokens: the time of the exact bound grows with their square.

    Welling, Teh & Kappen (2008), eq. 9; Teh, Kurihara & Welling (2008), eq. 13-14.
    """
    if corpus.n_tokens > MOST_DRAWS:
        raise MeasureError(
            f"exact expectations need at most {MOST_DRAWS:,} tokens; the corpus has {corpus.n_tokens:,}"
        )
    gamma = np.ascontiguousarray(gamma, float)
    alpha, beta, k = model.alphas, model.beta, model.n_topics
    entropy = float(corpus.counts @ entr(gamma).sum(axis=1))
    n_dk, n_wk = np.zeros((corpus.n_documents, k)), np.zeros((corpus.n_words, k))
    weighted = corpus.counts[:, None] * gamma
    np.add.at(n_dk, corpus.documents, weighted)
    np.add.at(n_wk, corpus.words, weighted)
    counts = tuple(np.stack([pad_topics(row) for row in values]) for values in (n_dk, n_wk))
    jensen = log_joint(*counts, pad_topics(weighted.sum(axis=0)), pad_topics(alpha), beta, k)
    padded = np.stack([pad_topics(row) for row in gamma])
    collapsed = expected_log_joint(
        corpus, padded, alpha, alpha.sum(), np.full(corpus.n_words, beta), corpus.n_words * beta
    )
    return Bounds(
        *(
            float(values) + entropy
            for values in (jensen, collapsed, _exact_log_joint(corpus, gamma, alpha, beta))
        )
    )


def _exact_log_joint(corpus: Corpus, gamma: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    """Return E_q[L(n)] by the distribution of every count, nats."""
    q = np.repeat(gamma, corpus.counts, axis=0)
    documents, words = (
        np.repeat(of_pair, corpus.counts) for of_pair in (corpus.documents, corpus.words)
    )
    lengths = corpus.document_tokens
    total = float(np.sum(gammaln(alpha.sum()) - gammaln(alpha.sum() + lengths)))
    for d in np.unique(documents):
        total += _expected_log_ratio(q[documents == d], alpha)
    for w in np.unique(words):
        total += _expected_log_ratio(q[words == w], beta)
    return total - _expected_log_ratio(q, corpus.n_words * beta)


def _expected_log_ratio(q: np.ndarray, x: np.ndarray | float) -> float:
    """Return sum_k E[log Gamma(x_k + n_k) - log Gamma(x_k)] for counts n_k of independent draws q (draw, topic)."""
    probability = poisson_binomial(q)
    log_ratio = gammaln(x + np.arange(len(probability))[:, None]) - gammaln(x)
    return float(np.sum(probability * log_ratio))
