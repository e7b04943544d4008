"""Variational inference of correlated topics with stick-breaking: q(psi_d) = N(m, V) and the responsibilities of a document.

    gamma_wt ~ exp{ E[log phi_wt] + E[log theta_t] },   n_t = sum_w c_w gamma_wt,   N_t = sum_{s>=t} n_s      spec B.5
    V = (P + diag(N_t w_t))^-1,   m = V (P mu + n - N / 2),   P = E[Sigma^-1],   repeated

Local bound: log sigma(psi) >= log sigma(xi) + (psi - xi) / 2 - w(xi) (psi^2 - xi^2) / 2 with xi_t^2 = m_t^2 + V_tt and
w(xi) = tanh(xi / 2) / (2 xi), the mean of PG(1, xi); every update then raises one bound. In the paper (appendix C)
E[log sigma(psi)] and w = E[tanh(psi / 2) / (2 psi)] are expectations under q, here by Gauss-Hermite quadrature.

Responsibilities factorise into weights of documents and of words, as in `kernels.lda.document_vb`.
"""

import math

import numpy as np
from scipy.special import expit

from workbench.kernels.gaussian import add_inverse, factor, invert_factor, solve, solve_transposed
from workbench.kernels.jit import aside, kernel
from workbench.kernels.lda.document_vb import visit, visit_narrow
from workbench.kernels.lda.standard_vb import log_domain_gamma
from workbench.kernels.simd.vectors import LANES
from workbench.kernels.stick_breaking.sticks import log_sigma

N_NODES = 21
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(N_NODES)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
"""Weights of the Gauss-Hermite quadrature of an expectation under N(0, 1)."""
NO_NODES = np.empty(0)
"""Used in place of `NODES` for the local bound."""


@aside
def mean_weight(c):
    """Return tanh(c / 2) / (2 c), the mean of PG(1, c)."""
    c = abs(c)
    return 0.25 - c * c / 48.0 if c < 1e-3 else math.tanh(0.5 * c) / (2.0 * c)


@aside
def expect_logs(m, v, nodes, node_weights, logs, weights) -> None:
    """Write E[log theta] of Gaussian sticks to logs (topic,) and the means of omega to weights (stick,).

    By quadrature or, without nodes, by the local bound.

    m, v (stick,) : mean and variance of each stick; E[log sigma(psi)] = E[log sigma(-psi)] + m
    """
    log_rest = 0.0
    for t in range(len(m)):
        if len(nodes) == 0:
            xi = math.sqrt(m[t] * m[t] + v[t])
            log_broken, weights[t] = log_sigma(xi) - 0.5 * (m[t] + xi), mean_weight(xi)
        else:
            log_broken, weights[t], scale = 0.0, 0.0, math.sqrt(v[t])
            for i in range(len(nodes)):
                psi = m[t] + scale * nodes[i]
                log_broken += node_weights[i] * log_sigma(-psi)
                weights[t] += node_weights[i] * mean_weight(psi)
        logs[t] = log_rest + log_broken + m[t]
        log_rest += log_broken
    logs[len(m)] = log_rest


@kernel
def fit_documents(
    first: int,
    last: int,
    rows,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    precision: np.ndarray,
    weighted_mean: np.ndarray,
    nodes,
    node_weights,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_topics: int,
    most_passes: int,
    tolerance: float,
    centre,
    sticks: np.ndarray,
    variances: np.ndarray,
    mean_dk: np.ndarray,
    document_logs: np.ndarray,
    document_weights: np.ndarray,
    kept_ratios: np.ndarray,
):
    """Fit q(psi) and responsibilities of documents first..last until no mean m moves by more than the tolerance.

    rows (document,) : the row of a document in the arrays below
    sticks, variances (document, stick), mean_dk (document, topic) : m, diagonal of V, n; on entry the start, then the result
    document_logs, document_weights (document, topic), kept_ratios (pair,) : written as by `lda.document_vb.fit_documents`
    precision : P; weighted_mean (document, stick) : P mu, or one row for all; nodes : `NO_NODES` or `NODES`

    Returns the documents' terms of the bound without log p(psi); the sum of m - centre (stick,); the upper triangle of the sum
    of V + (m - centre)(m - centre)'; and how many pairs were visited.
    """
    n_sticks, n_padded, n_visited, bound = n_topics - 1, mean_dk.shape[1], 0, 0.0
    capacity = LANES
    for d in range(first, last):
        capacity = max(capacity, indptr[d + 1] - indptr[d] + LANES)
    tokens, ratios, row_starts = (
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity, np.int64),
    )
    gamma, new, logs, weights = (
        np.empty(n_topics),
        np.zeros(n_padded),
        np.empty(n_topics),
        np.empty(n_sticks),
    )
    matrix, lower, h = (
        np.empty((n_sticks, n_sticks)),
        np.zeros((n_sticks, n_sticks)),
        np.empty(n_sticks),
    )
    total, scatter = np.zeros(n_sticks), np.zeros((n_sticks, n_sticks))
    for d in range(first, last):
        m, v, row_begin, n = (
            sticks[rows[d]],
            variances[rows[d]],
            d * n_padded,
            indptr[d + 1] - indptr[d],
        )
        for i in range(n):
            tokens[i], row_starts[i] = (
                counts[indptr[d] + i],
                np.int64(words[indptr[d] + i]) * n_padded,
            )
        tokens[n : n + LANES], row_starts[n : n + LANES] = 0.0, 0
        expect_logs(m, v, nodes, node_weights, logs, weights)
        own_mean = weighted_mean[min(rows[d], len(weighted_mean) - 1)]
        document_weights[d] = 0.0
        for _ in range(most_passes):
            for t in range(n_topics):
                document_logs[d, t], document_weights[d, t] = logs[t], math.exp(logs[t])
            if n_padded == LANES:
                n_tiny = visit_narrow(
                    n, row_starts, tokens, row_begin, document_weights, word_weights, ratios, new
                )
            else:
                n_tiny = visit(
                    n, row_starts, tokens, row_begin, document_weights, word_weights, ratios, new
                )
            n_visited += n
            for t in range(n_topics):
                new[t] *= document_weights[d, t]
            if n_tiny > 0:
                for i in range(n):
                    if ratios[i] == 0.0:
                        word = np.int64(words[indptr[d] + i])
                        log_domain_gamma(
                            d,
                            document_logs,
                            document_weights,
                            word,
                            word_logs,
                            word_weights,
                            n_topics,
                            gamma,
                        )
                        for t in range(n_topics):
                            new[t] += tokens[i] * gamma[t]
            remaining = new[n_sticks]
            matrix[:] = precision
            for t in range(n_sticks - 1, -1, -1):
                remaining += new[t]
                matrix[t, t] += remaining * weights[t]
                h[t] = own_mean[t] + (new[t] - 0.5 * remaining)
            factor(matrix)
            solve_transposed(matrix, h)
            solve(matrix, h)
            invert_factor(matrix, lower)
            change = 0.0
            v[:] = 0.0
            for k in range(n_sticks):
                change = max(change, abs(h[k] - m[k]))
                m[k] = h[k]
                for t in range(k + 1):
                    v[t] += lower[k, t] * lower[k, t]
            expect_logs(m, v, nodes, node_weights, logs, weights)
            if change <= tolerance:
                break
        for i in range(n):
            kept_ratios[indptr[d] + i] = ratios[i]
            if ratios[i] == 0.0:
                word = np.int64(words[indptr[d] + i])
                bound += tokens[i] * log_domain_gamma(
                    d,
                    document_logs,
                    document_weights,
                    word,
                    word_logs,
                    word_weights,
                    n_topics,
                    gamma,
                )
            else:
                bound += tokens[i] * math.log(tokens[i] / ratios[i])
        for t in range(n_topics):
            bound += new[t] * (logs[t] - document_logs[d, t])
            mean_dk[rows[d], t] = new[t]
        add_inverse(lower, scatter)
        bound += 0.5 * n_sticks
        for k in range(n_sticks):
            bound -= math.log(matrix[k, k])
            total[k] += m[k] - centre[k]
            for t in range(k + 1):
                scatter[t, k] += (m[t] - centre[t]) * (m[k] - centre[k])
    return bound, total, scatter, n_visited


def expected_probabilities(sticks: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Return E[pi(psi)] (row, category) for independent psi ~ N(sticks, variances), by Gauss-Hermite quadrature.

    sticks, variances : (row, category - 1). Correlations between the sticks of a row are ignored.
    """
    scale, shares = np.sqrt(variances), np.zeros(np.shape(sticks))
    for node, weight in zip(NODES, NODE_WEIGHTS, strict=True):
        shares += weight * expit(sticks + scale * node)
    rest = np.cumprod(1.0 - shares, axis=-1)
    result = np.ones((*shares.shape[:-1], shares.shape[-1] + 1))
    result[..., 1:] = rest
    result[..., :-1] *= shares
    return result
