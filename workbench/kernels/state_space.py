"""Draws of the Gaussian states x_t of a random walk or a linear system given potentials exp(h_t'x_t - x_t'J_t x_t / 2).

    x_1 ~ N(m, S),  x_t | x_{t-1} ~ N(A x_{t-1} + b, Q)                                        spec of stick-breaking B.7, D.2

The random walk of one number is filtered forward and sampled backward. States of several numbers are drawn by the Cholesky
factor of their joint precision, which is block-tridiagonal: D_t on the diagonal, E = -Q^-1 A below it,

    D_t = J_t + [t = 1] S^-1 + [t > 1] Q^-1 + [t < T] A'Q^-1 A,     U_t'U_t = D_t - W_{t-1} W_{t-1}',  W_t = E U_t^-1

A step without a potential has J_t = 0 and h_t = 0. No BLAS, as in `gaussian`: the bits do not depend on threads.
"""

import math

import numpy as np

from workbench.kernels.gaussian import (
    draw_niw,
    factor,
    log_determinant,
    log_joint_of_squares,
    solve,
    solve_transposed,
)
from workbench.kernels.jit import aside, kernel
from workbench.kernels.uniforms import absorb, gamma, normal, stream_of


@aside
def draw_walk(stream: np.uint64, precision: np.ndarray, h, mean, variance, step, walk):
    """Draw a Gaussian random walk (time,) given potentials: start N(mean, variance), step variance `step`.

    precision, h (time,) : J_t and h_t, overwritten. Returns (the advanced stream, the sum of the squared steps).
    """
    last = len(walk) - 1
    J, weighted = 1.0 / variance, mean / variance
    for t in range(last + 1):
        if t > 0:
            share = 1.0 / (1.0 + step * J)
            J, weighted = J * share, weighted * share
        J += precision[t]
        weighted += h[t]
        precision[t], h[t] = J, weighted
    stream, z = normal(stream)
    walk[last] = weighted / J + z / math.sqrt(J)
    squares, step_precision = 0.0, 1.0 / step
    for t in range(last - 1, -1, -1):
        J = precision[t] + step_precision
        stream, z = normal(stream)
        walk[t] = (h[t] + walk[t + 1] * step_precision) / J + z / math.sqrt(J)
        change = walk[t + 1] - walk[t]
        squares += change * change
    return stream, squares


@kernel
def draw_inverse_gamma(shape, scale, key: np.uint64):
    """Draw a variance from the inverse gamma distribution with mean scale / (shape - 1)."""
    _, draw = gamma(stream_of(key, 0), shape)
    return scale / draw


@kernel
def factor_states(
    precision: np.ndarray,
    h,
    first_precision,
    first_mean,
    system,
    offset,
    noise_precision: np.ndarray,
):
    """Factor the states' joint precision (Cholesky) in place; return its off-diagonal blocks W and the log normaliser.

    precision (time, dim, dim) : J_t, of which the upper triangle is read; replaced by U_t
    h (time, dim) : h_t; replaced by y_t = U_t^-T (h_t - W_{t-1} y_{t-1})
    first_precision, first_mean : S^-1 and m; system (dim, dim), offset, noise_precision : A, b and Q^-1

    W is (time - 1, dim, dim); the log normaliser is the log of the integral of the potentials under the prior.
    """
    n_times, n = h.shape
    cross_block, both, root = np.zeros((n, n)), np.zeros((n, n)), np.empty(n)  # E, A'Q^-1 A
    weighted, back_term = np.zeros(n), np.zeros(n)  # Q^-1 b, A'Q^-1 b
    for i in range(n):
        for j in range(n):
            weighted[i] += noise_precision[i, j] * offset[j]
            for k in range(n):
                cross_block[i, j] -= noise_precision[i, k] * system[k, j]
    for i in range(n):
        for j in range(n):
            back_term[i] += system[j, i] * weighted[j]
            for k in range(n):
                both[i, j] -= system[k, i] * cross_block[k, j]
    first_weighted = np.zeros(n)
    for i in range(n):
        for j in range(n):
            first_weighted[i] += first_precision[i, j] * first_mean[j]
    log_normaliser = 0.5 * log_determinant(first_precision) - 0.5 * _dot(first_mean, first_weighted)
    if n_times > 1:
        log_normaliser += (n_times - 1) * (
            0.5 * log_determinant(noise_precision) - 0.5 * _dot(offset, weighted)
        )
    off_diagonal = np.empty((n_times - 1, n, n))
    for t in range(n_times):
        D, y = precision[t], h[t]
        D += first_precision if t == 0 else noise_precision
        y += first_weighted if t == 0 else weighted
        if t < n_times - 1:
            D += both
            y -= back_term
        if t > 0:
            W = off_diagonal[t - 1]
            for i in range(n):
                y[i] -= _dot(W[i], h[t - 1])
                for j in range(i, n):
                    D[i, j] -= _dot(W[i], W[j])
        factor(D)
        solve_transposed(D, y)
        if t < n_times - 1:
            for i in range(n):
                root[:] = cross_block[i]
                solve_transposed(D, root)
                off_diagonal[t, i] = root
        log_normaliser += 0.5 * _dot(y, y)
        for i in range(n):
            log_normaliser -= math.log(D[i, i])
    return off_diagonal, log_normaliser


@kernel
def draw_states(
    precision: np.ndarray,
    h,
    first_precision,
    first_mean,
    system,
    offset,
    noise_precision: np.ndarray,
    key: np.uint64,
):
    """Draw the states (time, dim) of a linear system given potentials; for the arguments see `factor_states`."""
    off_diagonal, _ = factor_states(
        precision, h, first_precision, first_mean, system, offset, noise_precision
    )
    draw_factored(off_diagonal, precision, h, key)
    return h


@kernel
def draw_factored(off_diagonal, precision: np.ndarray, h, key: np.uint64) -> None:
    """Replace h by a draw of the states (time, dim), given all that `factor_states` computed; `off_diagonal` is its W."""
    stream, (n_times, n) = stream_of(key, 0), h.shape
    for t in range(n_times - 1, -1, -1):
        x = h[t]
        for i in range(n):
            stream, z = normal(stream)
            x[i] += z
        if t < n_times - 1:
            for i in range(n):
                for j in range(n):
                    x[j] -= off_diagonal[t, i, j] * h[t + 1, i]
        solve(precision[t], x)


@kernel
def mniw_posterior(responses, inputs, mean, precision: np.ndarray, nu, scale):
    """Return the posterior (mean, precision, nu, scale) of a linear regression with matrix-normal-inverse-Wishart prior.

    responses y (row, dim) ~ N(M x, Q) with inputs x (row, input),  Q ~ IW(nu, scale),  M (dim, input) | Q ~ matrix normal of
    this mean, row covariance Q and column precision (input, input). Spec 0.2. Without rows the posterior is the prior.
    """
    (n_rows, n), n_inputs = responses.shape, inputs.shape[1]
    K, cross = precision.copy(), np.zeros((n, n_inputs))
    for i in range(n):
        for j in range(n_inputs):
            cross[i, j] = _dot(mean[i], precision[j])
    total = scale.copy()
    for i in range(n):
        for j in range(n):
            total[i, j] += _dot(mean[i], cross[j])
    for row in range(n_rows):
        x, y = inputs[row], responses[row]
        for i in range(n_inputs):
            for j in range(n_inputs):
                K[i, j] += x[i] * x[j]
        for i in range(n):
            for j in range(n_inputs):
                cross[i, j] += y[i] * x[j]
            for j in range(n):
                total[i, j] += y[i] * y[j]
    root, result = K.copy(), cross.copy()
    factor(root)
    for i in range(n):
        solve_transposed(root, result[i])
    for i in range(n):
        for j in range(i, n):
            total[i, j] = 0.5 * (total[i, j] + total[j, i]) - _dot(result[i], result[j])
            total[j, i] = total[i, j]
    for i in range(n):
        solve(root, result[i])
    return result, K, nu + n_rows, total


@kernel
def draw_mniw(mean, precision: np.ndarray, nu, scale, key: np.uint64):
    """Draw (M, Q, Q^-1) from a matrix-normal-inverse-Wishart: M = mean + L_Q Z L_K^-1, L_K L_K' = precision, Z normal."""
    n, n_inputs = mean.shape
    _, noise, noise_precision = draw_niw(np.zeros(n), 1.0, nu, scale, absorb(key, 1))
    root, noise_root, matrix, row = precision.copy(), noise.copy(), mean.copy(), np.empty(n_inputs)
    factor(root)
    factor(noise_root)
    stream = stream_of(key, 0)
    for k in range(n):
        for j in range(n_inputs):
            stream, row[j] = normal(stream)
        solve(root, row)  # U^-1 z has covariance K^-1
        for i in range(k, n):
            for j in range(n_inputs):
                matrix[i, j] += noise_root[k, i] * row[j]
    return matrix, noise, noise_precision


def log_joint_of_regression(
    responses, inputs, matrix, noise_precision: np.ndarray, mean, precision, nu, scale
) -> float:
    """Return log p(y, M, Q) of responses, coefficients and covariance under the prior of `mniw_posterior`.

    matrix (dim, input) : M; noise_precision : Q^-1
    """
    (n_rows, n), n_inputs = responses.shape, inputs.shape[1]
    mean_n, precision_n, _, scale_n = mniw_posterior(responses, inputs, mean, precision, nu, scale)
    off = matrix - mean_n
    of_matrix = np.einsum("ip,pq,jq->ij", off, precision_n, off)
    squares = ((scale_n + of_matrix) * noise_precision).sum()
    log_weight = n * (log_determinant(precision) - n_inputs * math.log(2 * math.pi))
    return log_joint_of_squares(squares, n_rows, n_inputs, noise_precision, nu, scale, log_weight)


@aside
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total
