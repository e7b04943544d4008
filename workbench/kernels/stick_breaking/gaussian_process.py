"""Gaussian processes over the rows of a table: covariances of inputs, and draws given Polya-gamma numbers.

    k = scale (1 + r + r^2 / 3) e^-r  exp(-|s - s'|^2 / (2 length_space^2)),  r = sqrt(5) |t - t'| / length_time        spec C
    f ~ N(0, k),  likelihood exp(h'f - f' Omega f / 2),  Omega = diag(omega):  f ~ N(J^-1 h, J^-1),  J = k^-1 + Omega   spec C.1

k is near to singular and never inverted. Dense, by Matheron's rule, with LL' = k and R the rows of omega > 0:

    B = I + w k w,  w = sqrt(omega);  u = L e;   f = u + k w B^-1 (h / w - w u - e')
Low rank, k = AA', rows of A as many as eigenvalues are kept:
    f = A a,  a ~ N(J^-1 A'h, J^-1),  J = I + A' Omega A

Rows of omega = 0 carry no information: their f is a draw of the prediction given those of the others. Products and Cholesky
factors are BLAS's and LAPACK's: their bits depend on its version and on the processor; not on threads within `one_blas_thread`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from workbench.kernels.jit import kernel
from workbench.kernels.variates import normal, stream_of

JITTER = 1e-6
"""Added to the diagonal of a dense covariance, in units of the scale."""
ROWS_AT_ONCE = 512
"""Rows of a factor that are weighted at a time, so that they stay in the cache."""
MOST_PER_ROW = 2
"""Cells of the grid of all times by all places, for each row, up to which a factor comes from the two smaller matrices."""


class Inputs(NamedTuple):
    """Where rows are."""

    time: np.ndarray  # (row, 0 or 1)
    space: np.ndarray  # (row, dim), perhaps no dim


class Kernel(NamedTuple):
    """Hyperparameters of the covariance, in the units of the inputs; noise is the variance beside it of the raw process."""

    length_time: float
    length_space: float
    scale: float
    noise: float


class Dense(NamedTuple):
    """A covariance by all its entries."""

    covariance: np.ndarray  # (row, other)
    root: np.ndarray  # (row, other), lower triangular: its Cholesky factor

    @property
    def n_noise(self) -> int:
        """Standard normal numbers that a draw takes: of the prior, and of each row's pseudo-observation."""
        return 2 * len(self.root)


class LowRank(NamedTuple):
    """A covariance AA'."""

    weights: np.ndarray  # (row, rank): A

    @property
    def n_noise(self) -> int:
        """Standard normal numbers that a draw takes: one for each weight."""
        return self.weights.shape[1]


def squared_distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(point, other) squared Euclidean distances of points (point, dim), 0 where there is no dim."""
    total = np.zeros((len(points), len(others)))
    for d in range(points.shape[1]):
        total += (points[:, d, None] - others[:, d]) ** 2
    return total


def matern(squares: np.ndarray, length: float) -> np.ndarray:
    """Matern covariance of smoothness 5/2 of squared distances."""
    r = np.sqrt(5.0 * squares) / length
    return (1.0 + r + r * r / 3.0) * np.exp(-r)


def squared_exponential(squares: np.ndarray, length: float) -> np.ndarray:
    """Squared exponential covariance of squared distances."""
    return np.exp(squares / (-2.0 * length * length))


def covariance(inputs: Inputs, hyper: Kernel, others: Inputs | None = None) -> np.ndarray:
    """(row, other) covariance of the rows with other rows, or with one another; without jitter and noise."""
    others = inputs if others is None else others
    in_time = matern(squared_distances(inputs.time, others.time), hyper.length_time)
    return (
        hyper.scale
        * in_time
        * squared_exponential(squared_distances(inputs.space, others.space), hyper.length_space)
    )


def dense(inputs: Inputs, hyper: Kernel) -> Dense:
    """The covariance of all rows with its Cholesky factor; memory of two matrices (row, row)."""
    full = covariance(inputs, hyper)
    full[np.diag_indices(len(full))] += JITTER * hyper.scale
    return Dense(full, np.linalg.cholesky(full))


def low_rank(inputs: Inputs, hyper: Kernel, threshold: float = 1e-8) -> LowRank:
    """The covariance by its eigenvectors, those of eigenvalues above the threshold times the largest.

    Where the rows are most of a grid of times by places, the eigenvectors are those of the grid, products of those of the two
    factors; else of the covariance of the rows, in the cube of their number.
    """
    (times, at_time), (places, at_place) = (
        np.unique(each, axis=0, return_inverse=True) for each in inputs
    )
    if len(times) * len(places) > MOST_PER_ROW * len(inputs.time):
        return LowRank(_roots(*np.linalg.eigh(covariance(inputs, hyper)), threshold))
    values_t, vectors_t = np.linalg.eigh(matern(squared_distances(times, times), hyper.length_time))
    values_s, vectors_s = np.linalg.eigh(
        squared_exponential(squared_distances(places, places), hyper.length_space)
    )
    values = np.outer(values_t, values_s)
    t, s = np.nonzero(values > threshold * values.max())
    roots = np.sqrt(hyper.scale * values[t, s])
    return LowRank(
        np.ascontiguousarray(
            vectors_t[np.ix_(at_time.ravel(), t)] * vectors_s[np.ix_(at_place.ravel(), s)] * roots
        )
    )


def _roots(values: np.ndarray, vectors: np.ndarray, threshold: float) -> np.ndarray:
    kept = values > threshold * values.max()
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))


@kernel
def normals(key, first, shape):
    """Standard normal numbers (n, draw), each draw from its own stream, numbered from ``first``, under the key."""
    drawn = np.empty(shape)
    for j in range(shape[1]):
        stream = stream_of(key, first + j)
        for i in range(shape[0]):
            stream, drawn[i, j] = normal(stream)
    return drawn


def prior_draws(prior: Dense | LowRank, noise: np.ndarray) -> np.ndarray:
    """f (row, draw) ~ N(0, k) of standard normal numbers (n_noise, draw)."""
    return (
        prior.weights @ noise
        if isinstance(prior, LowRank)
        else prior.root @ noise[: len(prior.root)]
    )


def posterior_draws(
    prior: Dense | LowRank, omega: np.ndarray, h: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """f (row, draw) ~ N(J^-1 h, J^-1) of standard normal numbers (n_noise, draw); of zeros, the mean.

    omega, h : (row,) of the likelihood; h must be 0 where omega is. Rows of omega = 0 are drawn given the others.
    """
    if isinstance(prior, LowRank):
        root, white = _weights_given(prior.weights, omega, h)
        return prior.weights @ solve_triangular(
            root, white[:, None] + noise, lower=True, trans=1, check_finite=False
        )
    here, n = np.flatnonzero(omega > 0), len(omega)
    w, u = np.sqrt(omega[here])[:, None], prior.root @ noise[:n]
    rest = h[here, None] / w - w * u[here] - noise[n:][here]
    return u + prior.covariance[:, here] @ (w * _solve_positive(_inner(prior, here, w), rest))


def log_normaliser(prior: Dense | LowRank, omega: np.ndarray, h: np.ndarray) -> float:
    """log of the integral of N(f | 0, k) exp(h'f - f' Omega f / 2) over f; 0 where nothing is observed."""
    if isinstance(prior, LowRank):
        root, white = _weights_given(prior.weights, omega, h)
        return float(0.5 * white @ white - np.log(np.diag(root)).sum())
    here = np.flatnonzero(omega > 0)
    w = np.sqrt(omega[here])[:, None]
    root, v = np.linalg.cholesky(_inner(prior, here, w)), h[here] / w[:, 0]
    white = solve_triangular(root, v, lower=True, check_finite=False)
    return float(0.5 * (v @ v - white @ white) - np.log(np.diag(root)).sum())


def _inner(prior: Dense, here: np.ndarray, w: np.ndarray) -> np.ndarray:
    """B = I + w k w of the rows where something is observed."""
    inner = w * prior.covariance[np.ix_(here, here)] * w.T
    inner[np.diag_indices(len(here))] += 1.0
    return inner


def _solve_positive(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    root = np.linalg.cholesky(matrix)
    white = solve_triangular(root, columns, lower=True, check_finite=False)
    return solve_triangular(root, white, lower=True, trans=1, check_finite=False)


def _weights_given(
    weights: np.ndarray, omega: np.ndarray, h: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(L, L^-1 A'h) with LL' = I + A' Omega A."""
    here, rank = np.flatnonzero(omega > 0), weights.shape[1]
    precision, roots = np.eye(rank), np.sqrt(omega[here])[:, None]
    for first in range(0, len(here), ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        scaled = weights[here[some]] * roots[some]
        precision += scaled.T @ scaled
    root = np.linalg.cholesky(precision)
    return root, solve_triangular(root, h @ weights, lower=True, check_finite=False)


def collapsed_prediction(
    inputs: Inputs, new: Inputs, hyper: Kernel, omega: np.ndarray, h: np.ndarray
) -> tuple:
    """(mean (new,), covariance (new, new)) of f at other inputs given omega and h (row,), f integrated out: spec C.3.

    The plain formula, which the sampler has no need of: there the rows to be predicted are rows of omega = 0.
    """
    here = np.flatnonzero(omega > 0)
    w = np.sqrt(omega[here])
    observed = Inputs(*(each[here] for each in inputs))
    cross, inner = (
        covariance(new, hyper, observed) * w,
        w[:, None] * covariance(observed, hyper) * w,
    )
    inner[np.diag_indices(len(here))] += 1.0 + JITTER * hyper.scale * omega[here]
    solved = _solve_positive(inner, np.column_stack([h[here] / w, cross.T]))
    return cross @ solved[:, 0], covariance(new, hyper) - cross @ solved[:, 1:]
