"""E-step of variational EM for logistic-normal topics: fits q of each document while mu, Sigma and the topics are fixed.

q(psi_d) = prod_k N(lambda_k, nu_k^2) and gamma_dwk, shared by the copies of a word, maximise                    spec B.4

    L_d = 1/2 log|Lambda| - 1/2 (lambda - mu)' Lambda (lambda - mu) + 1/2 sum_k (log nu_k^2 + 1 - Lambda_kk nu_k^2)
          + sum_w n_dw sum_k gamma_dwk (lambda_k + log phi_kw - log gamma_dwk) - N_d log zeta,
    zeta = sum_k exp(lambda_k + nu_k^2 / 2)

in turns, zeta being best at all times:

    gamma_dwk ~ exp(lambda_k) phi_kw,   n_dk = sum_w n_dw gamma_dwk
    lambda      by one Newton step, halved while L_d does not rise enough: with p_k = exp(lambda_k + nu_k^2 / 2) / zeta,
                gradient -Lambda (lambda - mu) + n_d - N_d p,   minus Hessian  Lambda + N_d (diag p - p p'),
                whose Cholesky factor is kept from pass to pass while no p_k moves by much
    nu_k^2      the root of 1 / nu^2 = Lambda_kk + N_d / zeta exp(lambda_k + nu^2 / 2), zeta fixed: Newton in log nu^2

Blei & Lafferty (2006), sec. 3 and appendix. They fix zeta during the steps in lambda; here zeta is always at its best value,
for which the problem remains concave, and a constant added to all of lambda, which does not change the words' probabilities,
does not slow the steps down. A document without a token has lambda = mu and nu_k^2 = 1 / Lambda_kk.
"""

import math

import numpy as np

from workbench.kernels.gaussian import factor, solve, solve_transposed
from workbench.kernels.jit import aside, fused, kernel
from workbench.kernels.lda.document_vb import visit, visit_narrow
from workbench.kernels.simd.vectors import LANES, spread, store

SUFFICIENT = 1e-4
"""A step is accepted if the bound rises by at least this share of what the gradient predicts."""
STALE = 0.5
"""Relative change of a diagonal element of the curvature beyond which its Cholesky factor is recomputed."""
MOST_HALVINGS, MOST_STEPS = 30, 60
EXACT = 1e-6
"""Newton's method for log nu^2 stops after a step below this: the error is then about its square, 1e-12."""


@aside
def log_expected_sum(psi, variance):
    """Return log sum_k exp(lambda_k + nu_k^2 / 2), the optimal log zeta; psi is lambda, variance is nu^2."""
    top, total = -math.inf, 0.0
    for k in range(len(psi)):
        top = max(top, psi[k] + 0.5 * variance[k])
    for k in range(len(psi)):
        total += math.exp(psi[k] + 0.5 * variance[k] - top)
    return top + math.log(total)


@fused
def pull_of(psi, mean, precision: np.ndarray, pull):
    """Write Lambda (lambda - mu) to pull (component,); return (lambda - mu)' Lambda (lambda - mu)."""
    n, square = len(psi), 0.0
    for k in range(n):
        pull[k] = 0.0
    for j in range(n):
        off = psi[j] - mean[j]
        for k in range(n):
            pull[k] += precision[j, k] * off
    for k in range(n):
        square += pull[k] * (psi[k] - mean[k])
    return square


@fused
def curvature(n_tokens, p, precision: np.ndarray, matrix: np.ndarray) -> None:
    """Write the upper triangle of the curvature Lambda + N (diag p - p p') to matrix (component, component)."""
    for i in range(len(p)):
        n_i = n_tokens * p[i]
        for j in range(i, len(p)):
            matrix[i, j] = precision[i, j] - n_i * p[j]
        matrix[i, i] += n_i


@aside
def has_moved(n_tokens, p, last_p, precision: np.ndarray):
    """Return whether some N p_k has changed so much that the curvature at `last_p` must be recomputed."""
    moved = False
    for k in range(len(p)):
        moved = moved or n_tokens * abs(p[k] - last_p[k]) > STALE * (
            precision[k, k] + n_tokens * last_p[k]
        )
    return moved


@aside
def climb(
    n_tokens,
    n_here,
    variance,
    precision: np.ndarray,
    log_zeta,
    psi,
    pull,
    p,
    slope,
    direction,
    last_p,
    matrix: np.ndarray,
):
    """Move lambda (component,) by a Newton step that raises the bound; return the new log zeta.

    matrix (component, component) holds the factor of the curvature at the probabilities `last_p` (component,), replaced
    where they have moved; p, slope and direction (component,) are scratch.
    """
    n = len(psi)
    for k in range(n):
        p[k] = math.exp(psi[k] + 0.5 * variance[k] - log_zeta)
        slope[k] = n_here[k] - n_tokens * p[k] - pull[k]
        direction[k] = slope[k]
    if has_moved(n_tokens, p, last_p, precision):
        for k in range(n):
            last_p[k] = p[k]
        curvature(n_tokens, last_p, precision, matrix)
        factor(matrix)
    solve_transposed(matrix, direction)
    solve(matrix, direction)
    rise, linear, spread_out, expected = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        rise += slope[k] * direction[k]
        linear += (n_here[k] - pull[k]) * direction[k]
        expected += last_p[k] * direction[k]
    for k in range(n):
        spread_out += last_p[k] * (direction[k] - expected) ** 2
    # direction' Lambda direction, by what the step solves
    square, length = rise - n_tokens * spread_out, 1.0
    for _ in range(MOST_HALVINGS):
        for k in range(n):
            p[k] = psi[k] + length * direction[k]
        log_sum = log_expected_sum(p, variance)
        gain = length * linear - 0.5 * length * length * square - n_tokens * (log_sum - log_zeta)
        if gain >= SUFFICIENT * length * rise:
            for k in range(n):
                psi[k] = p[k]
            return log_sum
        length *= 0.5
    return log_zeta


@aside
def best_variance(log_precision, log_weight, start):
    """Return the nu^2 that solves 1 / nu^2 = precision + weight exp(nu^2 / 2), by Newton's method in log nu^2.

    log(precision e^x + weight e^(x + e^x / 2)) is convex with slope at least 1, so that Newton's method converges from
    anywhere: from the left it overshoots the root, but not -log precision; from the right it descends to the root.
    """
    x = math.log(start)
    for _ in range(MOST_STEPS):
        value = math.exp(x)
        prior_log, token_log = log_precision + x, log_weight + x + 0.5 * value
        ratio = math.exp(-abs(token_log - prior_log))
        share = 1.0 / (1.0 + ratio) if token_log > prior_log else ratio / (1.0 + ratio)
        change = (max(prior_log, token_log) + math.log1p(ratio)) / (1.0 + 0.5 * share * value)
        x -= change
        if abs(change) < EXACT:
            break
    return math.exp(x)


@kernel
def fit_documents(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    phi: np.ndarray,
    mean,
    precision: np.ndarray,
    log_determinant,
    most_passes: int,
    tolerance: float,
    psi,
    variance,
    mean_dk: np.ndarray,
    weights,
    ratios: np.ndarray,
):
    """Fit q of documents first..last until a pass raises the bound L_d by less than the relative tolerance.

    phi (word, topic), padded; log_determinant : log |Lambda|
    psi, variance (document, component) : lambda and nu^2, on entry the start, then the result
    mean_dk (document, topic), padded : gets the expected counts
    weights (document, topic), ratios (pair,) : get exp(lambda) up to a factor, and n_dw / sum_k weight phi, which give gamma

    Returns how many pairs were visited.
    """
    n, lanes, n_visited = len(mean), phi.shape[1], 0
    capacity = 0
    for d in range(first, last):
        capacity = max(capacity, indptr[d + 1] - indptr[d])
    tokens, result, rows = (
        np.empty(capacity + LANES),
        np.empty(capacity + LANES),
        np.empty(capacity + LANES, np.int64),
    )
    new, matrix = np.zeros(lanes), np.empty((n, n))
    pull, p, slope, direction, last_p, log_own = (
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
    )
    for k in range(n):
        log_own[k] = math.log(precision[k, k])
    for d in range(first, last):
        begin, n_pairs, psi_d, nu, n_here = (
            indptr[d],
            indptr[d + 1] - indptr[d],
            psi[d],
            variance[d],
            mean_dk[d],
        )
        if n_pairs == 0:
            for k in range(n):
                psi_d[k], nu[k], n_here[k], weights[d, k] = mean[k], 1.0 / precision[k, k], 0.0, 0.0
            continue
        n_tokens = 0.0
        for i in range(n_pairs):
            tokens[i], rows[i] = counts[begin + i], np.int64(words[begin + i]) * lanes
            n_tokens += counts[begin + i]
        store(tokens, n_pairs, spread(0.0))
        store(rows, n_pairs, spread(0))
        old_bound, last_p[:] = 0.0, -np.inf  # from which all have moved
        for pass_number in range(most_passes + 1):
            top = -math.inf
            for k in range(n):
                top = max(top, psi_d[k])
            for k in range(n):
                weights[d, k] = math.exp(psi_d[k] - top)
            if lanes == LANES:
                visit_narrow(n_pairs, rows, tokens, d * lanes, weights, phi, result, new)
            else:
                visit(n_pairs, rows, tokens, d * lanes, weights, phi, result, new)
            n_visited += n_pairs
            log_zeta = log_expected_sum(psi_d, nu)
            bound = 0.5 * (log_determinant - pull_of(psi_d, mean, precision, pull)) + n_tokens * (
                top - log_zeta
            )
            for i in range(n_pairs):
                bound += tokens[i] * math.log(tokens[i] / result[i])
            for k in range(n):
                n_here[k] = new[k] * weights[d, k]
                bound += 0.5 * (math.log(nu[k]) + 1.0 - precision[k, k] * nu[k])
            if pass_number == most_passes or (
                pass_number > 0 and bound - old_bound <= tolerance * abs(bound)
            ):
                break
            old_bound = bound
            log_zeta = climb(
                n_tokens,
                n_here,
                nu,
                precision,
                log_zeta,
                psi_d,
                pull,
                p,
                slope,
                direction,
                last_p,
                matrix,
            )
            log_rate = math.log(n_tokens) - log_zeta
            for k in range(n):
                nu[k] = best_variance(log_own[k], log_rate + psi_d[k], nu[k])
        for i in range(n_pairs):
            ratios[begin + i] = result[i]
    return n_visited
