"""The hybrid `svb-cgs` with infinitely many chains, on corpora small enough to enumerate the sampled tokens.

Welling, Teh & Kappen (2008), eq. 16-21: coordinate ascent of the bound B without randomness. Q(z) of the sampled tokens is
proportional to exp L(m + c(z)), and the responsibilities are those of spec A9 under its means.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, psi

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda.hybrid_state import split_of
from workbench.engines.lda.token_probabilities import every_token
from workbench.kernels.lda.enumeration import log_joints
from workbench.models.lda import LDA

ENGINE = "svb-cgs"
MOST_STEPS, TOLERANCE = 10_000, 1e-12
"""Maximum of updates, and the change of expected counts below which they have converged."""


class FixedPoint(NamedTuple):
    """The fixed point of the updates."""

    predictive: np.ndarray  # (document, word)
    co_assignment: np.ndarray  # (token, token)
    sampled: tuple  # topics (state, sampled token) of every assignment, and probabilities (state,)


def assignments(
    corpus: Corpus, model: LDA, sampled: np.ndarray, mean: tuple
) -> tuple[np.ndarray, np.ndarray]:
    """Return topics (state, sampled token) of all assignments of the sampled pairs' tokens, and probabilities (state,).

    ``mean`` are expected counts of the other tokens: (document, topic), (word, topic), (topic,).
    """
    documents, words = (
        np.repeat(labels, np.where(sampled, corpus.counts, 0))
        for labels in (corpus.documents, corpus.words)
    )
    logs = log_joints(
        documents.astype(np.int64),
        words.astype(np.int64),
        *mean,
        model.alphas,
        model.beta,
        model.n_topics,
    )
    topics = np.array(
        list(product(range(model.n_topics), repeat=len(documents))), np.int64
    ).reshape(len(logs), -1)
    return topics, np.exp(logs - logsumexp(logs))


def fixed_point(corpus: Corpus, model: LDA, options, seed: int) -> FixedPoint:
    """Return the fixed point of parallel updates from the initial state of `svb-cgs` with ``seed``."""
    split, k, gamma = split_of(corpus, options), model.n_topics, np.zeros((0, model.n_topics))
    start = get_engine(ENGINE).init(corpus, model, options, StepContext(seed, 0))
    mean = tuple(values[..., :k].copy() for values in (start.mean_dk, start.mean_wk, start.mean_k))
    documents, words, counts = (
        values[~split.sampled] for values in (corpus.documents, corpus.words, corpus.counts)
    )
    for _ in range(MOST_STEPS):
        topics, q = assignments(corpus, model, split.sampled, mean)
        n_dk, n_wk, n_k = (
            m + n for m, n in zip(mean, _counts(corpus, split.sampled, topics, k), strict=True)
        )
        if not split.n_averaged:
            break
        logs = (
            np.tensordot(q, psi(model.alphas + n_dk), 1)[documents]
            + np.tensordot(q, psi(model.beta + n_wk), 1)[words]
        )
        logs -= np.tensordot(q, psi(corpus.n_words * model.beta + n_k), 1)
        gamma, old_mean = np.exp(logs - logsumexp(logs, axis=1, keepdims=True)), mean[0]
        mean = _expected(corpus, documents, words, counts[:, None] * gamma)
        if np.abs(mean[0] - old_mean).max() < TOLERANCE:
            break
    theta = (model.alphas + n_dk) / (model.alphas.sum() + corpus.document_tokens[:, None])
    phi = (model.beta + n_wk) / (corpus.n_words * model.beta + n_k)[:, None]
    responsibilities = every_token(corpus, split.sampled, gamma, topics)
    co_assignment = np.einsum("s,stk,suk->tu", q, responsibilities, responsibilities, optimize=True)
    np.fill_diagonal(co_assignment, 1.0)
    return FixedPoint(
        np.einsum("s,sdk,swk->dw", q, theta, phi, optimize=True), co_assignment, (topics, q)
    )


def _expected(
    corpus: Corpus, documents: np.ndarray, words: np.ndarray, weights: np.ndarray
) -> tuple:
    """Return counts (document, topic), (word, topic), (topic,) of pairs with weights (pair, topic)."""
    n_dk, n_wk = (
        np.zeros((size, weights.shape[1])) for size in (corpus.n_documents, corpus.n_words)
    )
    np.add.at(n_dk, documents, weights)
    np.add.at(n_wk, words, weights)
    return n_dk, n_wk, weights.sum(axis=0)


def _counts(corpus: Corpus, sampled: np.ndarray, topics: np.ndarray, n_topics: int) -> tuple:
    """Return counts (state, document, topic), (state, word, topic), (state, topic) of assignments (state, sampled token)."""
    states, tables = np.arange(len(topics)), []
    for labels, size in ((corpus.documents, corpus.n_documents), (corpus.words, corpus.n_words)):
        counts = np.zeros((len(topics), size, n_topics))
        for column, label in zip(
            topics.T, np.repeat(labels, np.where(sampled, corpus.counts, 0)), strict=True
        ):
            counts[states, label, column] += 1
        tables.append(counts)
    return (*tables, tables[0].sum(axis=1))
