"""Log probabilities of documents given topics: exact for short ones, particle estimates, and variational lower bounds.

For log p(w | phi, alpha), theta is integrated out; phi is (word, topic) and alpha (topic,). The bound replaces phi by Dirichlet
posteriors: q(phi_k) = Dirichlet(beta + n_k.).
"""

import math
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, psi

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.engines.lda.fold_in import LearntTopics, by_variational_bayes
from workbench.kernels.lda.left_to_right import left_to_right
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import LEFT_TO_RIGHT
from workbench.measures.selection import MeasureError

MOST_STEPS = 2**20
"""Maximum of topic count vectors that `exact_logs` visits over all tokens: some seconds."""


class Bound(NamedTuple):
    """A lower bound on log p(words), in nats, split into the terms of the documents and of q(phi)."""

    of_documents: float  # E_q[log p(w, z, theta | phi)] + H(q(theta), q(z))
    of_topics: float  # E_q[log p(phi)] + H(q(phi)) = -KL(q(phi) || prior)


def left_to_right_logs(
    documents: Corpus,
    phi: np.ndarray,
    alpha: np.ndarray,
    n_particles: int,
    n_estimates: int = 1,
    resample: bool = True,
    seed: int = 0,
    n_threads: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Return left-to-right particle estimates (document, estimate) of log p(w | phi, alpha), and the variance of each.

    With ``resample`` the exp of an estimate is unbiased for any number of particles; its variance is NaN and has to be
    estimated from several estimates. Without ``resample`` it is the estimator of Wallach et al., which varies less and is
    biased. The time is proportional to the squared document length, particles, estimates and topics. The result is the same for
    any number of threads.

    Wallach, Murray, Salakhutdinov & Mimno (2009), algorithm 3; Buntine (2009).
    """
    context = StepContext(seed, 0, n_threads)
    logs, variance = np.zeros((2, documents.n_documents, n_estimates))
    phi, alpha = np.ascontiguousarray(phi, float), np.asarray(alpha, float)

    each_slice(
        left_to_right,
        slice_bounds(documents.indptr, len(alpha) * n_particles),
        n_threads,
        context.interrupt,
        documents.indptr,
        documents.words,
        documents.counts,
        phi,
        alpha,
        n_particles,
        resample,
        context.key(LEFT_TO_RIGHT),
        logs,
        variance,
    )
    return logs, variance


def mean_of_estimates(logs: np.ndarray) -> tuple[float, float]:
    """Return the total log probability of documents, each averaged over estimates, and its standard error.

    The error is by the delta method, NaN for one estimate. The log of the mean is on average too low by half its variance.
    """
    n = logs.shape[1]
    log_means = logsumexp(logs, axis=1) - math.log(n)
    relative = np.exp(logs - log_means[:, None])  # means of 1
    variances = relative.var(axis=1, ddof=1) / n if n > 1 else np.full(len(relative), np.nan)
    return float(log_means.sum()), float(np.sqrt(variances.sum()))


def exact_logs(documents: Corpus, phi: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return the exact log p(w | phi, alpha) (document,), summed over all topic assignments.

    p(z, w) depends on z only by the topic counts and a product of phi, so a recursion over tokens stores one number for each
    count vector (n_1 … n_K): binomial(N + K - 1, K - 1) numbers for K topics and N tokens instead of K^N.

    Raises
    ------
    MeasureError
        For more than 2^20 count vectors, as of a document of more than 1,000 tokens with 2 topics, 120 with 3, 5 with 20.
    """
    k, n_of_length = len(alpha), Counter(documents.document_tokens.tolist())
    if sum(m * n * math.comb(n + k - 1, k - 1) for n, m in n_of_length.items()) > MOST_STEPS:
        raise MeasureError(
            f"the exact probability needs short documents and few topics; {documents.n_documents:,} documents of up to "
            f"{max(n_of_length):,} tokens in {k} topics have more than 2^20 topic counts; take fewer"
        )
    alpha = np.asarray(alpha, float)
    tokens = np.repeat(documents.words, documents.counts)
    bounds = np.concatenate([[0], np.cumsum(documents.document_tokens)])
    return np.array(
        [_exact_log(tokens[first:last], phi, alpha) for first, last in pairwise(bounds)]
    )


def _exact_log(words: np.ndarray, phi: np.ndarray, alpha: np.ndarray) -> float:
    """Return log p(w | phi, alpha) of one document, by a recursion over tokens and topic count vectors."""
    counts, probability, log = np.zeros((1, len(alpha)), np.int64), np.ones(1), 0.0
    for n, w in enumerate(words):
        joint = probability[:, None] * phi[w] * (alpha + counts) / (alpha.sum() + n)
        next_counts = (counts[:, None, :] + np.eye(len(alpha), dtype=np.int64)).reshape(
            -1, len(alpha)
        )
        counts, indices = np.unique(next_counts, axis=0, return_inverse=True)
        probability = np.bincount(indices.ravel(), joint.ravel(), len(counts))
        total = probability.sum()
        probability, log = probability / total, log + math.log(total)
    return log


def variational_counts(documents: Corpus, topics: LearntTopics, n_threads: int = 1) -> np.ndarray:
    """Return the parameters (document, topic) of the converged variational Dirichlets q(theta_d)."""
    theta = by_variational_bayes(topics, None, documents, StepContext(0, 0, n_threads))
    return theta * (topics.priors.alphas.sum() + documents.document_tokens[:, None])


def variational_bound(documents: Corpus, topics: LearntTopics, gamma: np.ndarray) -> Bound:
    """Return the variational bound on log p(words) for q(theta_d) = Dirichlet(gamma_d), given topics and the optimal q(z).

        of documents   sum_dw n_dw log sum_k exp{E[log theta_dk] + E[log phi_kw]}  -  sum_d KL(q(theta_d) || Dirichlet(alpha))
        of topics                                                                  -  sum_k KL(q(phi_k) || Dirichlet(beta))

    gamma : (document, topic). The sum of both terms equals LdaModel.bound of gensim and _approx_bound of scikit-learn.

    Blei, Ng & Jordan (2003), appendix A.3; Hoffman, Blei & Bach (2010), eq. 4.
    """
    alpha, beta, parameters = (
        topics.priors.alphas,
        topics.priors.beta,
        topics.priors.beta + topics.n_kw,
    )
    log_phi = _log_means(parameters)
    log_theta = _log_means(gamma)
    total = 0.0
    for first, last in slice_bounds(documents.indptr, len(alpha)):
        pairs = slice(documents.indptr[first], documents.indptr[last])
        rows = np.repeat(np.arange(first, last), np.diff(documents.indptr[first : last + 1]))
        logs = logsumexp(log_theta[rows] + log_phi.T[documents.words[pairs]], axis=1)
        total += float(documents.counts[pairs] @ logs)
    return Bound(
        total - _divergence(gamma, log_theta, alpha),
        -_divergence(
            parameters, log_phi, np.full(len(log_phi.T), beta) if np.ndim(beta) < 2 else beta
        ),
    )


def _log_means(parameters: np.ndarray) -> np.ndarray:
    """Return E[log p] (row, category) under Dirichlet(parameters)."""
    return psi(parameters) - psi(parameters.sum(axis=1, keepdims=True))


def _divergence(parameters: np.ndarray, log_means: np.ndarray, prior: np.ndarray) -> float:
    """Return the sum over rows of KL(Dirichlet(parameters) || Dirichlet(prior)), nats."""
    log_normalisers = gammaln(parameters.sum(axis=1)) - gammaln(parameters).sum(axis=1)
    prior_log_normaliser = gammaln(prior.sum(axis=-1)) - gammaln(prior).sum(axis=-1)
    return float(
        np.sum(log_normalisers - prior_log_normaliser) + np.sum((parameters - prior) * log_means)
    )
