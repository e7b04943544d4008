"""Draws of the coefficients of a Dirichlet prior whose logarithm is linear in the terms of a document.

    alpha_dk = exp(Gamma_k x_d),   p(n | Gamma) = prod_d G(A_d) / G(A_d + N_d) prod_k G(alpha_dk + n_dk) / G(alpha_dk)

with A_d the sum of alpha_dk and G the gamma function. Two auxiliary variables make the likelihood that of Poisson counts t_dk
with rates e_d alpha_dk, one topic apart from the others, and log-concave in Gamma_k (Escobar & West 1995; Teh, Jordan, Beal &
Blei 2006, app. A)::

    e_d   =  -log eta_d,  eta_d ~ Beta(A_d, N_d)
    t_dk  =  sum_i Bernoulli(alpha_dk / (alpha_dk + i)),  0 <= i < n_dk
    log p(Gamma_k | t, e)  =  Gamma_k T_k - sum_d e_d exp(Gamma_k x_d) + log N(Gamma_k; m_k, s^2 I),   T_k = sum_d t_dk x_d

Gamma_k is proposed from a multivariate t distribution about the mode, with the curvature there, whatever Gamma_k is now, and
accepted by Metropolis & Hastings. The tails of the proposal are heavier than those of the target, so that no value is left
only rarely.
"""

import math

import numpy as np

from workbench.kernels.gaussian import factor, solve, solve_transposed
from workbench.kernels.jit import aside, kernel
from workbench.kernels.uniforms import (
    absorb,
    gamma,
    log_of_gamma,
    next_uniform,
    normal,
    stream_of,
    uniform,
)

DEGREES = 8.0
"""Degrees of freedom of the proposal."""
MOST_STEPS, MOST_HALVINGS, CLOSE = 100, 40, 1e-9
"""Most steps of Newton's method to the mode, most halvings of one, and the squared length, in deviations, of a last one."""


@kernel
def draw_tables(
    indptr: np.ndarray,
    tokens_before: np.ndarray,
    n_dk: np.ndarray,
    alphas: np.ndarray,
    terms: np.ndarray,
    key: np.uint64,
):
    """Return T (topic, term) and e (document,), drawn given n_dk and alphas (document, topic), and terms x (document, term).

    n_dk and alphas may be padded. e of a document without a token is 0. The index of a uniform is that of a token.
    """
    n_documents, n_topics, n_terms = len(indptr) - 1, alphas.shape[1], terms.shape[1]
    totals, exposures = np.zeros((n_topics, n_terms)), np.zeros(n_documents)
    of_documents = absorb(key, 1)
    for d in range(n_documents):
        index, total, n_tokens = tokens_before[indptr[d]], 0.0, 0
        for k in range(n_topics):
            total += alphas[d, k]
            n = n_dk[d, k]
            if n == 0:
                continue
            a, tables = alphas[d, k], 1
            for i in range(1, n):
                tables += uniform(key, index + i) * (a + i) < a
            index += n
            n_tokens += n
            for j in range(n_terms):
                totals[k, j] += tables * terms[d, j]
        if n_tokens > 0:
            stream, of_prior = log_of_gamma(stream_of(of_documents, d), total)
            stream, of_tokens = log_of_gamma(stream, float(n_tokens))
            more = of_tokens - of_prior  # log (1 + exp(more)), also where more is large
            exposures[d] = max(more, 0.0) + math.log1p(math.exp(-abs(more)))
    return totals, exposures


@aside
def log_density(terms, exposures, total, mean, precision: float, g):
    """Return log p(Gamma_k | t, e) at g (term,), but for a constant."""
    value = 0.0
    for j in range(len(g)):
        value += g[j] * total[j] - 0.5 * precision * (g[j] - mean[j]) ** 2
    for d in range(len(exposures)):
        if exposures[d] > 0.0:
            linear = 0.0
            for j in range(len(g)):
                linear += terms[d, j] * g[j]
            value -= exposures[d] * math.exp(linear)
    return value


@aside
def slopes(terms, exposures, total, mean, precision: float, g, score, curvature) -> None:
    """Fill the gradient (term,) of `log_density` at g, and minus its second derivatives (term, term), upper triangle."""
    n = len(g)
    curvature[:] = 0.0
    for j in range(n):
        score[j] = total[j] - precision * (g[j] - mean[j])
        curvature[j, j] = precision
    for d in range(len(exposures)):
        if exposures[d] > 0.0:
            linear = 0.0
            for j in range(n):
                linear += terms[d, j] * g[j]
            rate = exposures[d] * math.exp(linear)
            for i in range(n):
                weighted = rate * terms[d, i]
                score[i] -= weighted
                for j in range(i, n):
                    curvature[i, j] += weighted * terms[d, j]


@kernel
def draw_coefficients(
    first: int,
    last: int,
    terms: np.ndarray,
    exposures,
    totals: np.ndarray,
    means: np.ndarray,
    precision: float,
    key: np.uint64,
    coefficients: np.ndarray,
):
    """Draw Gamma_k of topics first..last anew, in place in coefficients (topic, term); return how many changed.

    means (topic, term) : m_k; precision : 1 / s^2
    """
    n, n_changed, sum_exposures = terms.shape[1], 0, exposures.sum()
    score, curvature, trial = np.empty(n), np.empty((n, n)), np.empty(n)
    for k in range(first, last):
        total, mean, mode = totals[k], means[k], np.zeros(n)
        # of a model of the intercept alone, so that the mode does not depend on Gamma_k as it is
        mode[0] = math.log((total[0] + 1.0) / (sum_exposures + 1.0))
        value = log_density(terms, exposures, total, mean, precision, mode)
        for _ in range(MOST_STEPS):
            slopes(terms, exposures, total, mean, precision, mode, score, curvature)
            factor(curvature)
            solve_transposed(curvature, score)
            rise, scale = 0.0, 1.0
            for j in range(n):
                rise += score[j] * score[j]
            if rise < CLOSE:
                break
            solve(curvature, score)
            for _ in range(MOST_HALVINGS):
                for j in range(n):
                    trial[j] = mode[j] + scale * score[j]
                new = log_density(terms, exposures, total, mean, precision, trial)
                if new >= value + 0.1 * scale * rise:
                    break
                scale *= 0.5
            mode[:], value = trial, new
        stream, squares = stream_of(key, k), 0.0
        for j in range(n):
            stream, score[j] = normal(stream)
        stream, half = gamma(stream, 0.5 * DEGREES)
        stretch = math.sqrt(0.5 * DEGREES / half)
        for j in range(n):
            score[j] *= stretch
            squares += score[j] * score[j]
        solve(curvature, score)
        squares_now = 0.0
        for i in range(n):
            off = 0.0
            for j in range(i, n):
                off += curvature[i, j] * (coefficients[k, j] - mode[j])
            squares_now += off * off
        for j in range(n):
            trial[j] = mode[j] + score[j]
        log_ratio = log_density(terms, exposures, total, mean, precision, trial)
        log_ratio -= log_density(terms, exposures, total, mean, precision, coefficients[k])
        log_ratio += (
            0.5
            * (DEGREES + n)
            * (math.log1p(squares / DEGREES) - math.log1p(squares_now / DEGREES))
        )
        stream, u = next_uniform(stream)
        if math.log(u) < log_ratio:
            coefficients[k] = trial
            n_changed += 1
    return n_changed
