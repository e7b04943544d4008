"""Gibbs sampling of logistic-normal topics: topics of tokens, and the components of documents one after the other.

    theta_d = softmax(psi_d),  psi_d ~ N(mu, Sigma),  Lambda = Sigma^-1                                           spec B.3
    zeta_k  =  log sum_{j != k} exp(psi_dj)
    omega   ~  PG(N_d, psi_dk - zeta_k)                           N_d tokens; drawn anew for every component
    psi_dk  ~  N(h / P, 1 / P),  P = Lambda_kk + omega,
               h = Lambda_kk mu_k - sum_{j != k} Lambda_kj (psi_dj - mu_j) + n_dk - N_d / 2 + omega zeta_k

Chen, Zhu, Wang, Zheng & Zhang (2013), sec. 3, with exact Polya-gamma numbers. omega belongs to the conditional of one
component given the others, so that a whole vector of them drawn at once would be of conditionals that hold no more.

A pass over the components keeps the sum of exp(psi_j) over those before k, new ones, and over those after k, old ones: nothing
is ever taken off a sum, and no digit lost. Every document has a stream of its own.
"""

import math

import numpy as np

from workbench.kernels.jit import aside, inlined, kernel
from workbench.kernels.polya_gamma import polya_gamma
from workbench.kernels.simd.functions import total
from workbench.kernels.simd.vectors import LANES, load, padded, spread
from workbench.kernels.stick_breaking.correlated_topics import (
    count_drawn_topics,
    draw_topics_given,
)
from workbench.kernels.uniforms import EXPECTED_THETA, absorb, draw_key, normal, stream_of

SMALLEST, LARGEST = 1e-280, 1e280
"""Between these a sum of exponentials is exact to rounding; elsewhere it is computed anew from its largest term."""


@aside
def softmax(psi, theta: np.ndarray) -> None:
    """Write exp(psi_k) / sum_j exp(psi_j) into theta (component,)."""
    top, whole = -math.inf, 0.0
    for k in range(len(psi)):
        top = max(top, psi[k])
    for k in range(len(psi)):
        theta[k] = math.exp(psi[k] - top)
        whole += theta[k]
    for k in range(len(psi)):
        theta[k] /= whole


@aside
def log_sum_of_others(psi, k):
    """Return log sum_{j != k} exp(psi_j), from the largest of them."""
    top, others = -math.inf, 0.0
    for j in range(len(psi)):
        if j != k:
            top = max(top, psi[j])
    for j in range(len(psi)):
        if j != k:
            others += math.exp(psi[j] - top)
    return top + math.log(others)


@inlined
def conditional(n_here, n_tokens, omega, zeta, diagonal, mean, pulled):
    """Return (h, P) of one component given omega and the others.

    own = Lambda_kk, pulled = sum_{j != k} Lambda_kj (psi_j - mu_j).
    """
    return diagonal * mean - pulled + n_here - 0.5 * n_tokens + omega * zeta, diagonal + omega


@aside
def draw_document(stream: np.uint64, n_here, precision: np.ndarray, mean, psi, off, after):
    """Draw the components psi (component,) of a document in turn, given its tokens of each topic; returns the stream.

    precision (component, component, padded) : Sigma^-1; off (component, padded) and after (component,) are scratch, and the
    padding of both factors is 0. The only component, as any of a document without tokens, is drawn from its prior.
    """
    n, lanes = len(psi), len(off)
    n_tokens, top, beyond, before = np.int64(0), -math.inf, 0.0, 0.0
    for k in range(n):
        n_tokens += n_here[k] if n > 1 else 0
        top = max(top, psi[k])
        off[k] = psi[k] - mean[k]
    for k in range(n - 1, -1, -1):
        after[k] = beyond
        beyond += math.exp(psi[k] - top)
    for k in range(n):
        tokens, omega, zeta = 0, 0.0, 0.0
        if n_tokens > 0:
            others, tokens = before + after[k], n_here[k]
            zeta = (
                top + math.log(others) if SMALLEST < others < LARGEST else log_sum_of_others(psi, k)
            )
            stream, omega = polya_gamma(stream, n_tokens, psi[k] - zeta)
        off[k], sums = 0.0, spread(0.0)
        for i in range(0, lanes, LANES):
            sums += load(precision, k * lanes + i) * load(off, i)
        h, information = conditional(
            tokens, n_tokens, omega, zeta, precision[k, k], mean[k], total(sums)
        )
        stream, z = normal(stream)
        psi[k] = h / information + z / math.sqrt(information)
        off[k] = psi[k] - mean[k]
        before += math.exp(psi[k] - top)
    return stream


def padded_rows(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix (row, column) with its rows padded by zeros."""
    rows = np.zeros((len(matrix), padded(len(matrix))))
    rows[:, : len(matrix)] = matrix
    return rows


@kernel
def draw_components(
    first: int, last: int, n_dk: np.ndarray, precision: np.ndarray, mean, psi, key: np.uint64
) -> None:
    """Draw the components psi (document, component) of documents first..last given the topics of their tokens.

    precision : Sigma^-1 (component, component), padded by `padded_rows`; mean : mu (component,).
    """
    off, after = np.zeros(precision.shape[1]), np.empty(len(mean))
    for d in range(first, last):
        draw_document(stream_of(key, d), n_dk[d], precision, mean, psi[d], off, after)


@kernel
def draw_topics(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    topics: np.ndarray,
    n_dk: np.ndarray,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    psi,
    beta,
    key: np.uint64,
):
    """Draw the topics of all tokens of documents first..last given psi (document, component): see `draw_topics_given`."""
    theta = np.zeros((last - first, len(n_k)))
    for d in range(first, last):
        softmax(psi[d], theta[d - first, : psi.shape[1]])
    return draw_topics_given(
        first, last, indptr, words, counts, tokens_before, topics, n_dk, n_wk, n_k, theta, beta, key
    )


@kernel
def sampled_theta(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    phi: np.ndarray,
    precision: np.ndarray,
    mean,
    burn_in: int,
    n_kept: int,
    key: np.uint64,
    theta: np.ndarray,
    first_number: int = 0,
) -> None:
    """Compute theta of documents first..last, the mean over `n_kept` Gibbs sweeps after `burn_in`.

    phi (word, topic) stays as it is.
    The components of a document begin at their mean. Its streams belong to its number, first_number + d, and the sweep's.
    """
    n_topics = phi.shape[1]
    n_here, here, cumulative = np.zeros(n_topics, np.int32), np.empty(n_topics), np.empty(n_topics)
    psi, off, after = np.empty(n_topics), np.zeros(precision.shape[1]), np.empty(n_topics)
    for d in range(first, last):
        psi[:] = mean
        theta[d] = 0.0
        for sweep in range(burn_in + n_kept):
            sweep_key = absorb(absorb(key, sweep), first_number + d)
            softmax(psi, here)
            count_drawn_topics(
                d, indptr, words, counts, tokens_before, here, phi, cumulative, sweep_key, n_here
            )
            draw_document(
                stream_of(absorb(sweep_key, 1), 0), n_here, precision, mean, psi, off, after
            )
            if sweep >= burn_in:
                softmax(psi, here)
                for k in range(n_topics):
                    theta[d, k] += here[k] / n_kept


N_POINTS = 50
"""Standard normal points, each of which is taken with its mirror image."""


@kernel
def _fixed_points(n, key: np.uint64):
    """Return (point, component): of each component the points and their mirror images have mean 0 and variance 1."""
    points = np.empty((N_POINTS, n))
    for i in range(N_POINTS):
        stream = stream_of(key, i)
        for k in range(n):
            stream, points[i, k] = normal(stream)
    for k in range(n):
        square = 0.0
        for i in range(N_POINTS):
            square += points[i, k] ** 2 / N_POINTS
        points[:, k] /= math.sqrt(square)
    return points


@kernel
def _add_softmax(psi, variance, points, theta: np.ndarray) -> None:
    n = psi.shape[1]
    drawn, here = np.empty(n), np.empty(n)
    for d in range(len(psi)):
        for i in range(2 * N_POINTS):
            sign = 1.0 if i < N_POINTS else -1.0
            for k in range(n):
                drawn[k] = psi[d, k] + sign * math.sqrt(variance[d, k]) * points[i % N_POINTS, k]
            softmax(drawn, here)
            for k in range(n):
                theta[d, k] += here[k] / (2 * N_POINTS)


def expected_theta(psi, variance) -> np.ndarray:
    """Return E softmax(x) (document, component) of x_k ~ N(psi_k, variance_k), independent: the mean over 100 points.

    The points are the same for all documents and calls: 50 drawn once and their mirror images, scaled to the exact variance.
    """
    psi, theta = np.ascontiguousarray(psi, dtype=float), np.zeros(np.shape(psi))
    points = _fixed_points(psi.shape[1], np.uint64(draw_key(0, EXPECTED_THETA, 0, 0)))
    _add_softmax(psi, np.ascontiguousarray(variance, dtype=float), points, theta)
    return theta
