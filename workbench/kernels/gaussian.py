"""Draws from Gaussians in information form, and draws of their mean and covariance, for compiled sweeps.

    x ~ N(J^-1 h, J^-1):   U'U = J,  U'y = h,  U x = y + z,  z ~ N(0, I)    spec of stick-breaking 0.1
    mu, Sigma ~ NIW(m, kappa, nu, Psi):  Sigma ~ IW(nu, Psi),  mu | Sigma ~ N(m, Sigma / kappa)    spec of stick-breaking 0.2

The Cholesky factor is U, upper triangular, so that all inner loops run along rows. No BLAS: the bits depend neither on its
version nor on its threads.
"""

import math
from functools import partial

import numpy as np
from scipy.special import multigammaln

from workbench.kernels.jit import aside, fused, kernel
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import gamma, normal, stream_of


@fused
def _factor_rows(a, first: int, last: int) -> None:
    """Compute rows first..last of a Cholesky factor in a, from which the products of earlier rows were subtracted."""
    for i in range(first, last):
        inverse = 1.0 / math.sqrt(a[i, i])
        for j in range(i, len(a)):
            a[i, j] *= inverse
        for q in range(i + 1, last):
            factor = a[i, q]
            for j in range(q, len(a)):
                a[q, j] -= factor * a[i, j]


@fused
def factor(a) -> None:
    """Replace the upper triangle of a by the Cholesky factor U, U'U = a, with NaN if a is not positive definite.

    Four rows at a time are finished and subtracted from all later ones, which are loaded two at a time.
    """
    n, k = len(a), 0
    while k + 4 <= n:
        _factor_rows(a, k, k + 4)
        u0, u1, u2, u3 = a[k], a[k + 1], a[k + 2], a[k + 3]
        i = k + 4
        while i + 2 <= n:
            f0, f1, f2, f3 = u0[i], u1[i], u2[i], u3[i]
            g0, g1, g2, g3 = u0[i + 1], u1[i + 1], u2[i + 1], u3[i + 1]
            row, next_row = a[i], a[i + 1]
            for j in range(i, n):
                row[j] = row[j] - f0 * u0[j] - f1 * u1[j] - f2 * u2[j] - f3 * u3[j]
                next_row[j] = next_row[j] - g0 * u0[j] - g1 * u1[j] - g2 * u2[j] - g3 * u3[j]
            i += 2
        if i < n:
            row = a[i]
            row[i] = row[i] - u0[i] * u0[i] - u1[i] * u1[i] - u2[i] * u2[i] - u3[i] * u3[i]
        k += 4
    _factor_rows(a, k, n)


@fused
def solve_transposed(u, x) -> None:
    """Solve U'y = x for an upper triangular U: replace x (row,) by y."""
    for k in range(len(x)):
        x[k] /= u[k, k]
        for j in range(k + 1, len(x)):
            x[j] -= x[k] * u[k, j]


@fused
def solve(u, y) -> None:
    """Solve U x = y for an upper triangular U: replace y (row,) by x."""
    n = len(y)
    for k in range(n - 1, -1, -1):
        first, second, third, fourth, j = 0.0, 0.0, 0.0, 0.0, k + 1
        while j + 4 <= n:
            first += u[k, j] * y[j]
            second += u[k, j + 1] * y[j + 1]
            third += u[k, j + 2] * y[j + 2]
            fourth += u[k, j + 3] * y[j + 3]
            j += 4
        for i in range(j, n):
            first += u[k, i] * y[i]
        y[k] = (y[k] - ((first + second) + (third + fourth))) / u[k, k]


@aside
def draw_gaussian(stream: np.uint64, precision: np.ndarray, h):
    """Replace h (dim,) by a draw from N(precision^-1 h, precision^-1), precision by its Cholesky factor; return the stream."""
    factor(precision)
    solve_transposed(precision, h)
    for k in range(len(h)):
        stream, z = normal(stream)
        h[k] += z
    solve(precision, h)
    return stream


@fused
def _add_products(total, rows, centre, row, first: int, last: int) -> None:
    """Add rows first..last (upper triangle) of the scatter matrix of `rows` about `centre` to total."""
    n = len(centre)
    for d in range(len(rows)):
        for i in range(first, n):
            row[i] = rows[d, i] - centre[i]
        for i in range(first, last):
            for j in range(i, n):
                total[i, j] += row[i] * row[j]


@kernel
def niw_posterior(rows, mean, kappa, nu, scale):
    """Return the posterior (mean, kappa, nu, scale) of a normal-inverse-Wishart prior given Gaussian rows (row, dim).

    The returned scale (dim, dim) is symmetric. Without rows the posterior is the prior.
    """
    centre, total = _mean_of(rows), scale.copy()
    _add_scatter(0, len(centre), total, rows, centre)
    return _with_means(total, centre, len(rows), mean, kappa, nu)


def niw_posterior_in_slices(rows, prior, n_threads: int, interrupt):
    """Return the posterior (mean, kappa, nu, scale) that `niw_posterior` returns for a prior, computed on several threads.

    interrupt : see `threads.each_slice`
    """
    mean, kappa, nu, scale = prior
    centre, total, n = _mean_of(rows), scale.copy(), len(mean)
    work = np.concatenate([[0], np.cumsum(len(rows) * (n - np.arange(n)))])
    each_slice(
        partial(_add_scatter, total=total, rows=rows, centre=centre),
        slice_bounds(work, 1),
        n_threads,
        interrupt,
    )
    return _with_means(total, centre, len(rows), mean, kappa, nu)


@kernel
def _mean_of(rows):
    """Return the mean (dim,) of rows (row, dim); zeros if there are no rows."""
    centre = np.zeros(rows.shape[1])
    for d in range(len(rows)):
        centre += rows[d]
    centre /= max(len(rows), 1)
    return centre


@kernel
def _add_scatter(first: int, last: int, total, rows, centre) -> None:
    """Add rows first..last (upper triangle) of the scatter matrix of `rows` about `centre` to total."""
    _add_products(total, rows, centre, np.empty(len(centre)), first, last)


@kernel
def _with_means(total, centre, n_rows: int, mean, kappa, nu):
    """Return the normal-inverse-Wishart posterior, given `centre`, the rows' mean, and `total`, prior scale plus scatter.

    total : overwritten
    """
    weight, n = kappa * n_rows / (kappa + n_rows), len(centre)
    for i in range(n):
        for j in range(i, n):
            total[i, j] += weight * (centre[i] - mean[i]) * (centre[j] - mean[j])
            total[j, i] = total[i, j]
    return (kappa * mean + n_rows * centre) / (kappa + n_rows), kappa + n_rows, nu + n_rows, total


def log_joint_of_rows(rows, mu, precision: np.ndarray, mean, kappa, nu, scale) -> float:
    """Return log p(rows, mu, Sigma) of rows (row, dim) ~ N(mu, Sigma) with mu, Sigma ~ NIW(mean, kappa, nu, scale).

    precision : Sigma^-1. Where nu <= dim - 1 the prior is improper, and its normalising constant is left out.
    """
    n_rows, n = rows.shape
    mean_n, kappa_n, nu_n, scale_n = niw_posterior(rows, mean, kappa, nu, scale)
    off = mu - mean_n
    squares = (scale_n * precision).sum() + kappa_n * (off * (precision * off).sum(axis=1)).sum()
    log_weight = n * math.log(kappa / (2 * math.pi))
    return log_joint_of_squares(squares, n_rows, 1, precision, nu, scale, log_weight)


def log_joint_of_squares(
    squares: float, n_rows: int, n_terms: int, precision: np.ndarray, nu, scale, log_weight: float
) -> float:
    """Return the log density of rows, their means and Sigma, from the sum ``squares`` of all squares in its exponent.

    n_terms : number of terms of the means, 1 without a regression; log_weight : twice the log normalising constant of the
    means given Sigma = I. Where nu <= dim - 1 the prior is improper, and its normalising constant is left out.
    """
    n = len(precision)
    log_joint = 0.5 * (
        (nu + n_rows + n + 1 + n_terms) * log_determinant(precision)
        - squares
        - n_rows * n * math.log(2 * math.pi)
    )
    if nu <= n - 1:
        return log_joint
    log_constant = 0.5 * (nu * (log_determinant(scale) - n * math.log(2)) + log_weight)
    return log_joint + log_constant - (multigammaln(0.5 * nu, n) if n else 0.0)


@kernel
def log_determinant(matrix: np.ndarray):
    """Return log |matrix| of a positive definite matrix (row, column)."""
    root, total = matrix.copy(), 0.0
    factor(root)
    for k in range(len(root)):
        total += math.log(root[k, k])
    return 2.0 * total


@kernel
def draw_niw(mean, kappa, nu, scale, key: np.uint64):
    """Draw (mu, Sigma, Sigma^-1) from a normal-inverse-Wishart of dimension n, nu > n - 1, by Bartlett's decomposition.

    With LL' = scale and A lower triangular, A_ii^2 ~ chi^2 of nu - i, A_ij ~ N(0, 1):  M = L A^-T,  Sigma = M M',
    Sigma^-1 = N'N with N = A'L^-1.
    """
    n, stream = len(mean), stream_of(key, 0)
    u = scale.copy()  # its factor, L'
    factor(u)
    a = np.zeros((n, n))
    for i in range(n):
        stream, half = gamma(stream, 0.5 * (nu - i))
        a[i, i] = math.sqrt(2.0 * half)
        for j in range(i):
            stream, a[i, j] = normal(stream)
    m = np.zeros((n, n))  # M', row after row: A M' = L'
    inverse = np.zeros((n, n))  # L^-T, row after row from the last: U L^-T = I
    for i in range(n):
        for j in range(i, n):
            m[i, j] = u[i, j]
        for k in range(i):
            for j in range(n):
                m[i, j] -= a[i, k] * m[k, j]
        for j in range(n):
            m[i, j] /= a[i, i]
    for i in range(n - 1, -1, -1):
        inverse[i, i] = 1.0
        for k in range(i + 1, n):
            for j in range(k, n):
                inverse[i, j] -= u[i, k] * inverse[k, j]
        for j in range(i, n):
            inverse[i, j] /= u[i, i]
    root = np.zeros((n, n))  # N' = L^-T A
    for i in range(n):
        for k in range(i, n):
            for j in range(k + 1):
                root[i, j] += inverse[i, k] * a[k, j]
    mu, sigma, precision = mean.copy(), np.zeros((n, n)), np.zeros((n, n))
    for k in range(n):
        stream, z = normal(stream)
        for i in range(n):
            mu[i] += m[k, i] * z / math.sqrt(kappa)
            for j in range(n):
                sigma[i, j] += m[k, i] * m[k, j]
    for i in range(n):
        for j in range(i, n):
            total = 0.0
            for k in range(n):
                total += root[i, k] * root[j, k]
            precision[i, j] = total
            precision[j, i] = total
    return mu, sigma, precision


@fused
def invert_factor(u, inverse) -> None:
    """Write L^-1, where L = U', to the lower triangle of `inverse`, whose upper triangle must be 0."""
    for i in range(len(u)):
        row, k = inverse[i], 0
        for j in range(i):
            row[j] = 0.0
        while k + 4 <= i:
            f0, f1, f2, f3 = u[k, i], u[k + 1, i], u[k + 2, i], u[k + 3, i]
            r0, r1, r2, r3 = inverse[k], inverse[k + 1], inverse[k + 2], inverse[k + 3]
            for j in range(k + 4):
                row[j] = row[j] - f0 * r0[j] - f1 * r1[j] - f2 * r2[j] - f3 * r3[j]
            k += 4
        while k < i:
            factor_k, row_k = u[k, i], inverse[k]
            for j in range(k + 1):
                row[j] -= factor_k * row_k[j]
            k += 1
        scale = 1.0 / u[i, i]
        for j in range(i):
            row[j] *= scale
        row[i] = scale


@fused
def add_inverse(inverse, total) -> None:
    """Add the upper triangle of J^-1 = L^-T L^-1 to total; inverse is L^-1, from `invert_factor`."""
    n, k = len(inverse), 0
    while k + 4 <= n:
        r0, r1, r2, r3 = inverse[k], inverse[k + 1], inverse[k + 2], inverse[k + 3]
        for i in range(k + 4):
            f0, f1, f2, f3, row = r0[i], r1[i], r2[i], r3[i], total[i]
            for j in range(i, k + 4):
                row[j] = row[j] + f0 * r0[j] + f1 * r1[j] + f2 * r2[j] + f3 * r3[j]
        k += 4
    while k < n:
        last = inverse[k]
        for i in range(k + 1):
            factor_k, row = last[i], total[i]
            for j in range(i, k + 1):
                row[j] += factor_k * last[j]
        k += 1


@kernel
def inverse(matrix: np.ndarray):
    """Return the inverse (row, column) of a positive definite matrix, exactly symmetric; NaN if it is not positive definite."""
    u, lower, result = matrix.copy(), np.zeros(matrix.shape), np.zeros(matrix.shape)
    factor(u)
    invert_factor(u, lower)
    add_inverse(lower, result)
    for i in range(len(result)):
        for j in range(i):
            result[i, j] = result[j, i]
    return result
