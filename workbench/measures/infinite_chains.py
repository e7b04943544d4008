"""The hybrid `svb-cgs` with infinitely many chains, on corpora so small that the sampled tokens are enumerated.

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
MOST_STEPS, RESTS = 10_000, 1e-12
"""Most updates, and the change of the expected counts below which they rest."""


class AtRest(NamedTuple):
    """What the updates come to."""

    predictive: np.ndarray  # (document, word)
    co_assignment: np.ndarray  # (token, token)
    # topics (state, sampled token) of every assignment, and their probabilities (state,)
    sampled: tuple


def assignments(
    corpus: Corpus, model: LDA, sampled: np.ndarray, mean: tuple
) -> tuple[np.ndarray, np.ndarray]:
    """Topics (state, sampled token) of every assignment of the tokens of sampled pairs, and their probabilities (state,).

    ``mean`` are expected counts of the others: (document, topic), (word, topic), (topic,).
    """
    documents, words = (
        np.repeat(each, np.where(sampled, corpus.counts, 0))
        for each in (corpus.documents, corpus.words)
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


def at_rest(corpus: Corpus, model: LDA, options, seed: int) -> AtRest:
    """Where the updates come to, all pairs updated from the same counts, from the start that ``seed`` gives to `svb-cgs`."""
    split, k, gamma = split_of(corpus, options), model.n_topics, np.zeros((0, model.n_topics))
    start = get_engine(ENGINE).init(corpus, model, options, StepContext(seed, 0))
    mean = tuple(each[..., :k].copy() for each in (start.mean_dk, start.mean_wk, start.mean_k))
    documents, words, counts = (
        each[~split.sampled] for each in (corpus.documents, corpus.words, corpus.counts)
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
        gamma, old = np.exp(logs - logsumexp(logs, axis=1, keepdims=True)), mean[0]
        mean = _expected(corpus, documents, words, counts[:, None] * gamma)
        if np.abs(mean[0] - old).max() < RESTS:
            break
    theta = (model.alphas + n_dk) / (model.alphas.sum() + corpus.document_tokens[:, None])
    phi = (model.beta + n_wk) / (corpus.n_words * model.beta + n_k)[:, None]
    found = every_token(corpus, split.sampled, gamma, topics)
    same = np.einsum("s,stk,suk->tu", q, found, found, optimize=True)
    np.fill_diagonal(same, 1.0)
    return AtRest(np.einsum("s,sdk,swk->dw", q, theta, phi, optimize=True), same, (topics, q))


def _expected(corpus, documents, words, weights) -> tuple:
    """Counts (document, topic), (word, topic), (topic,) of pairs with weights (pair, topic)."""
    n_dk, n_wk = (
        np.zeros((size, weights.shape[1])) for size in (corpus.n_documents, corpus.n_words)
    )
    np.add.at(n_dk, documents, weights)
    np.add.at(n_wk, words, weights)
    return n_dk, n_wk, weights.sum(axis=0)


def _counts(corpus, sampled, topics, n_topics) -> tuple:
    """Counts (state, document, topic), (state, word, topic), (state, topic) of assignments (state, sampled token)."""
    states, found = np.arange(len(topics)), []
    for labels, size in ((corpus.documents, corpus.n_documents), (corpus.words, corpus.n_words)):
        counts = np.zeros((len(topics), size, n_topics))
        for column, label in zip(
            topics.T, np.repeat(labels, np.where(sampled, corpus.counts, 0)), strict=True
        ):
            counts[states, label, column] += 1
        found.append(counts)
    return (*found, found[0].sum(axis=1))
