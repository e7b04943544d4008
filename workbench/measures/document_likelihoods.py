"""The log probability of documents given topics: exact for short ones, estimated by particles, and bounded from below.

phi is (word, topic) and alpha (topic,) wherever log p(w | phi, alpha) is wanted, theta being integrated out. The bound has
Dirichlet posteriors in the place of phi: q(phi_k) = Dirichlet(beta + n_k.).
"""

import math
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
"""Counts of topics that `exact_logs` visits at most, of all tokens of all documents: some seconds."""


class Bound(NamedTuple):
    """A lower bound on log p(words), nats: of documents given q(phi), and what q(phi) itself adds."""

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
    """Estimates of log p(w | phi, alpha) by particles, (document, estimate), and the variance of each without resampling.

    With ``resample`` exp of an estimate is unbiased, whatever the number of particles; the variance is NaN, and several
    estimates tell it. Without it is that of Wallach et al., which varies less and is biased. The time grows with the square of
    the length of a document, with particles, estimates and topics. The same bits for any number of threads.

    Wallach, Murray, Salakhutdinov & Mimno (2009), algorithm 3; Buntine (2009).
    """
    context, logs, variance = (
        StepContext(seed, 0, n_threads),
        *np.zeros((2, documents.n_documents, n_estimates)),
    )
    phi, alpha = np.ascontiguousarray(phi, float), np.asarray(alpha, float)
    given = (
        documents.indptr,
        documents.words,
        documents.counts,
        phi,
        alpha,
        n_particles,
        resample,
        context.key(LEFT_TO_RIGHT),
    )

    def work(first, last):
        left_to_right(first, last, *given, logs, variance)

    each_slice(
        work, slice_bounds(documents.indptr, len(alpha) * n_particles), n_threads, context.interrupt
    )
    return logs, variance


def mean_of_estimates(logs: np.ndarray) -> tuple[float, float]:
    """The sum over documents of the log of the mean of unbiased estimates (document, estimate), and its standard error.

    NaN for one estimate; by the first order of the expansion of the log, which also is too low by half the variance.
    """
    n = logs.shape[1]
    found = logsumexp(logs, axis=1) - math.log(n)
    shares = np.exp(logs - found[:, None])  # means of 1
    variances = shares.var(axis=1, ddof=1) / n if n > 1 else np.full(len(shares), np.nan)
    return float(found.sum()), float(np.sqrt(variances.sum()))


def exact_logs(documents: Corpus, phi: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """(document,) log p(w | phi, alpha), exact: the sum over all topics of all tokens, those with equal counts together.

    p(z, w) depends on z by the counts of topics and a product of phi, so that after each token there is one number for each
    counts (n_1 … n_K): of K topics and N tokens (N + K - 1 over K - 1) in place of K^N.

    Raises
    ------
    MeasureError
        Where more than 2^20 counts would be visited, as of a document of more than 1,000 tokens in 2 topics, 120 in 3, 5 in 20.
    """
    if steps_of_exact(documents, len(alpha)) > MOST_STEPS:
        longest = int(documents.document_tokens.max())
        raise MeasureError(
            f"the exact probability is of short documents and few topics; {documents.n_documents:,} documents of up to "
            f"{longest:,} tokens in {len(alpha)} topics have more than 2^20 counts of topics, so take fewer"
        )
    alpha = np.asarray(alpha, float)
    tokens = np.repeat(documents.words, documents.counts)
    bounds = np.concatenate([[0], np.cumsum(documents.document_tokens)])
    return np.array(
        [_exact_log(tokens[first:last], phi, alpha) for first, last in pairwise(bounds)]
    )


def steps_of_exact(documents: Corpus, n_topics: int) -> int:
    """Counts of topics that `exact_logs` would visit, at most."""
    lengths, n_of_length = np.unique(documents.document_tokens, return_counts=True)
    sizes = [int(n) * math.comb(int(n) + n_topics - 1, n_topics - 1) for n in lengths]
    return sum(size * int(n) for size, n in zip(sizes, n_of_length, strict=True))


def _exact_log(words: np.ndarray, phi: np.ndarray, alpha: np.ndarray) -> float:
    """log p(w | phi, alpha) of one document: p(w_n | w_<n) of each token from the probability of every counts before it."""
    counts, probability, log = np.zeros((1, len(alpha)), np.int64), np.ones(1), 0.0
    for n, w in enumerate(words):
        joint = probability[:, None] * phi[w] * (alpha + counts) / (alpha.sum() + n)
        after = (counts[:, None, :] + np.eye(len(alpha), dtype=np.int64)).reshape(-1, len(alpha))
        counts, place = np.unique(after, axis=0, return_inverse=True)
        probability = np.bincount(place.ravel(), joint.ravel(), len(counts))
        total = probability.sum()
        probability, log = probability / total, log + math.log(total)
    return log


def variational_counts(documents: Corpus, learnt: LearntTopics, n_threads: int = 1) -> np.ndarray:
    """(document, topic) the parameters alpha + n_dk of q(theta) at its fixed point for these documents, to 1e-6 tokens."""
    theta = by_variational_bayes(learnt, None, documents, StepContext(0, 0, n_threads))
    return theta * (learnt.priors.alphas.sum() + documents.document_tokens[:, None])


def variational_bound(documents: Corpus, learnt: LearntTopics, gamma: np.ndarray) -> Bound:
    """The bound of q(theta_d) = Dirichlet(gamma_d), q(phi_k) = Dirichlet(beta + n_k.) and the best q(z) given these.

        of documents   sum_dw n_dw log sum_k exp{E[log theta_dk] + E[log phi_kw]}  -  sum_d KL(q(theta_d) || Dirichlet(alpha))
        of topics                                                                  -  sum_k KL(q(phi_k) || Dirichlet(beta))

    gamma : (document, topic). Their sum is what LdaModel.bound of gensim and _approx_bound of scikit-learn compute.

    Blei, Ng & Jordan (2003), appendix A.3; Hoffman, Blei & Bach (2010), eq. 4.
    """
    alpha, beta, parameters = (
        learnt.priors.alphas,
        learnt.priors.beta,
        learnt.priors.beta + learnt.n_kw,
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
        -_divergence(parameters, log_phi, np.full(len(log_phi.T), beta)),
    )


def _log_means(parameters: np.ndarray) -> np.ndarray:
    """E[log p] of Dirichlet(parameters), (row, category)."""
    return psi(parameters) - psi(parameters.sum(axis=1, keepdims=True))


def _divergence(parameters: np.ndarray, log_means: np.ndarray, prior: np.ndarray) -> float:
    """sum over rows of KL(Dirichlet(parameters) || Dirichlet(prior)), nats."""
    own = gammaln(parameters.sum(axis=1)) - gammaln(parameters).sum(axis=1)
    of_prior = gammaln(prior.sum()) - gammaln(prior).sum()
    return float(np.sum(own - of_prior) + np.sum((parameters - prior) * log_means))
