"""Gaussian processes over time and space: covariances, draws given Polya-gamma numbers, and fits of the hyperparameters.

    k = scale (1 + r + r^2 / 3) e^-r  exp(-|s - s'|^2 / (2 length_space^2)),  r = sqrt(5) |t - t'| / length_time        spec C
    f ~ N(0, k),  likelihood exp(h'f - f' Omega f / 2),  Omega = diag(omega):  f ~ N(J^-1 h, J^-1),  J = k^-1 + Omega   spec C.1

k is near to singular and never inverted. Dense, by Matheron's rule, with LL' = k and R the rows of omega > 0:

    B = I + w k w,  w = sqrt(omega);  u = L e;   f = u + k w B^-1 (h / w - w u - e')
Low rank, k = AA', rows of A as many as eigenvalues are kept:
    f = A a,  a ~ N(J^-1 A'h, J^-1),  J = I + A' Omega A

Rows of omega = 0 carry no information: their f is a draw of the prediction given those of the others. Products and Cholesky
factors are BLAS's and LAPACK's: their bits depend on its version and on the processor; not on threads within `one_blas_thread`.

Hyperparameters that several outputs share are fitted by maximum of the marginal likelihood::

    y_k ~ N(0, C),  C = R + noise I,  R = k(inputs)                                                          spec C.5
    d log p / d theta = 1/2 sum_k y_k' C^-1 (dR) C^-1 y_k - n/2 tr C^-1 dR                  n outputs

On a full grid of times by places R is a Kronecker product, and all of it follows from the eigenvectors of the two factors, in
the cube of the larger; elsewhere C is factored each time. L-BFGS, on the logarithms.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize

from workbench.kernels.jit import kernel
from workbench.kernels.uniforms import normal, stream_of

JITTER = 1e-6
"""Added to the diagonal of a dense covariance, in units of the scale."""
ROWS_AT_ONCE = 512
"""Rows of a factor that are weighted at a time, so that they stay in the cache."""
MOST_PER_ROW = 2
"""Limit of the ratio of (number of times) x (number of places) to the number of rows, for the Kronecker product to be used."""


class Inputs(NamedTuple):
    """The coordinates of rows in time and space."""

    time: np.ndarray  # (row, 0 or 1)
    space: np.ndarray  # (row, dim); dim may be 0


class Kernel(NamedTuple):
    """Hyperparameters of the covariance; lengths are in the units of the inputs, noise is the observation variance."""

    length_time: float
    length_space: float
    scale: float
    noise: float


class Dense(NamedTuple):
    """A covariance matrix (row, row), stored in full."""

    covariance: np.ndarray  # (row, other)
    root: np.ndarray  # (row, other), lower triangular: its Cholesky factor

    @property
    def n_noise(self) -> int:
        """Number of standard normals that a draw needs: one for each row, and one for each pseudo-observation."""
        return 2 * len(self.root)


class LowRank(NamedTuple):
    """A covariance matrix AA' of low rank, stored as A."""

    weights: np.ndarray  # (row, rank): A

    @property
    def n_noise(self) -> int:
        """Number of standard normals that a draw needs: one for each column of A."""
        return self.weights.shape[1]


def squared_distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the squared Euclidean distances (point, other) of points (point, dim) and others (other, dim); 0 if dim is 0."""
    total = np.zeros((len(points), len(others)))
    for d in range(points.shape[1]):
        total += (points[:, d, None] - others[:, d]) ** 2
    return total


def matern(squares: np.ndarray, length: float) -> np.ndarray:
    """Return the Matern covariance of smoothness 5/2 and variance 1, given squared distances."""
    r = np.sqrt(5.0 * squares) / length
    return (1.0 + r + r * r / 3.0) * np.exp(-r)


def squared_exponential(squares: np.ndarray, length: float) -> np.ndarray:
    """Return the squared exponential covariance of variance 1, given squared distances."""
    return np.exp(squares / (-2.0 * length * length))


def covariance(inputs: Inputs, hyper: Kernel, others: Inputs | None = None) -> np.ndarray:
    """Return the covariance (row, other) of rows and others (by default the same rows), without jitter and noise."""
    others = inputs if others is None else others
    time_covariance = matern(squared_distances(inputs.time, others.time), hyper.length_time)
    return (
        hyper.scale
        * time_covariance
        * squared_exponential(squared_distances(inputs.space, others.space), hyper.length_space)
    )


def dense(inputs: Inputs, hyper: Kernel) -> Dense:
    """Return the covariance matrix of all rows with its Cholesky factor, both (row, row)."""
    full = covariance(inputs, hyper)
    full[np.diag_indices(len(full))] += JITTER * hyper.scale
    return Dense(full, np.linalg.cholesky(full))


def low_rank(inputs: Inputs, hyper: Kernel, threshold: float = 1e-8) -> LowRank:
    """Return a low-rank covariance of rows, from the eigenvectors whose eigenvalue is above `threshold` times the largest.

    If the rows are most of a grid of times by places, the eigenvectors are those of the grid, a Kronecker product; else those
    of the covariance of the rows, in time cubic in their number.
    """
    (times, time_numbers), (places, place_numbers) = (
        np.unique(part, axis=0, return_inverse=True) for part in inputs
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
            vectors_t[np.ix_(time_numbers.ravel(), t)]
            * vectors_s[np.ix_(place_numbers.ravel(), s)]
            * roots
        )
    )


def _roots(values: np.ndarray, vectors: np.ndarray, threshold: float) -> np.ndarray:
    is_large = values > threshold * values.max()
    return np.ascontiguousarray(vectors[:, is_large] * np.sqrt(values[is_large]))


@kernel
def normals(key: np.uint64, first: int, shape):
    """Return standard normal draws (n, draw); draw j comes from the stream first + j of the key."""
    draws = np.empty(shape)
    for j in range(shape[1]):
        stream = stream_of(key, first + j)
        for i in range(shape[0]):
            stream, draws[i, j] = normal(stream)
    return draws


def prior_draws(prior: Dense | LowRank, noise: np.ndarray) -> np.ndarray:
    """Return draws f (row, draw) from the prior N(0, k) of a process, made of standard normals `noise` (n_noise, draw)."""
    return (
        prior.weights @ noise
        if isinstance(prior, LowRank)
        else prior.root @ noise[: len(prior.root)]
    )


def posterior_draws(
    prior: Dense | LowRank, omega: np.ndarray, h: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """Return draws f (row, draw) from the posterior N(J^-1 h, J^-1), J = k^-1 + Omega, made of `noise` (n_noise, draw).

    With zeros as noise they are the mean. omega, h (row,) : parameters of the likelihood; h must be 0 where omega is 0, and f
    is then drawn given the other rows.
    """
    if isinstance(prior, LowRank):
        root, white = _weights_given(prior.weights, omega, h)
        return prior.weights @ solve_triangular(
            root, white[:, None] + noise, lower=True, trans=1, check_finite=False
        )
    observed, n = np.flatnonzero(omega > 0), len(omega)
    w, u = np.sqrt(omega[observed])[:, None], prior.root @ noise[:n]
    rest = h[observed, None] / w - w * u[observed] - noise[n:][observed]
    return u + prior.covariance[:, observed] @ (
        w * _solve_positive(_inner(prior, observed, w), rest)
    )


def log_normaliser(prior: Dense | LowRank, omega: np.ndarray, h: np.ndarray) -> float:
    """Return the log of the integral of N(f | 0, k) exp(h'f - f' Omega f / 2) over f; 0 if nothing is observed."""
    if isinstance(prior, LowRank):
        root, white = _weights_given(prior.weights, omega, h)
        return float(0.5 * white @ white - np.log(np.diag(root)).sum())
    observed = np.flatnonzero(omega > 0)
    w = np.sqrt(omega[observed])[:, None]
    root, v = np.linalg.cholesky(_inner(prior, observed, w)), h[observed] / w[:, 0]
    white = solve_triangular(root, v, lower=True, check_finite=False)
    return float(0.5 * (v @ v - white @ white) - np.log(np.diag(root)).sum())


def _inner(prior: Dense, observed: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the matrix B = I + w k w over the rows `observed`."""
    inner = w * prior.covariance[np.ix_(observed, observed)] * w.T
    inner[np.diag_indices(len(observed))] += 1.0
    return inner


def _solve_positive(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    root = np.linalg.cholesky(matrix)
    white = solve_triangular(root, columns, lower=True, check_finite=False)
    return solve_triangular(root, white, lower=True, trans=1, check_finite=False)


def _weights_given(
    weights: np.ndarray, omega: np.ndarray, h: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the Cholesky factor L of the posterior precision I + A' Omega A, and L^-1 A'h, where A is `weights`."""
    observed, rank = np.flatnonzero(omega > 0), weights.shape[1]
    precision, roots = np.eye(rank), np.sqrt(omega[observed])[:, None]
    for first in range(0, len(observed), ROWS_AT_ONCE):
        block = slice(first, first + ROWS_AT_ONCE)
        scaled = weights[observed[block]] * roots[block]
        precision += scaled.T @ scaled
    root = np.linalg.cholesky(precision)
    return root, solve_triangular(root, h @ weights, lower=True, check_finite=False)


SPREAD = 1e3
"""Bounds of a fit: lengths between the range of the inputs divided and multiplied by this, variances likewise."""


def matern_slope(squares: np.ndarray, length: float) -> np.ndarray:
    """Return the derivative of `matern` by the logarithm of its length."""
    r = np.sqrt(5.0 * squares) / length
    return r * r * (1.0 + r) / 3.0 * np.exp(-r)


def squared_exponential_slope(squares: np.ndarray, length: float) -> np.ndarray:
    """Return the derivative of `squared_exponential` by the logarithm of its length."""
    return squares / (length * length) * squared_exponential(squares, length)


class Grid:
    """The log marginal likelihood of outputs with its gradient, where rows are a full grid of times by places."""

    def __init__(self, times: np.ndarray, places: np.ndarray, outputs: np.ndarray):
        """Store the outputs (time, place, output), and compute the squared distances of times and of places."""
        self.outputs = outputs
        self.squares = squared_distances(times, times), squared_distances(places, places)

    def __call__(self, hyper: Kernel) -> tuple[float, np.ndarray]:
        """Return log p in nats, and the derivatives (4,) by the logarithms of the hyperparameters."""
        time_squares, space_squares = self.squares
        values_t, vectors_t = np.linalg.eigh(matern(time_squares, hyper.length_time))
        values_s, vectors_s = np.linalg.eigh(squared_exponential(space_squares, hyper.length_space))
        n_times, n_places, n = self.outputs.shape
        rotated_outputs = (vectors_t.T @ self.outputs.reshape(n_times, -1)).reshape(
            self.outputs.shape
        )
        rotated_outputs = np.matmul(vectors_s.T, rotated_outputs)
        signal = hyper.scale * np.outer(values_t, values_s)
        total = signal + hyper.noise
        if total.min() <= 0.0:  # by rounding, if the noise is tiny
            return -math.inf, np.zeros(4)
        squares = (rotated_outputs**2).sum(axis=2)
        log_p = -0.5 * (
            (squares / total).sum()
            + n * np.log(total).sum()
            + n * total.size * math.log(2.0 * math.pi)
        )
        weighted_outputs = rotated_outputs / total[:, :, None]
        excess = 0.5 * (squares / total**2 - n / total)  # d log p by each eigenvalue of C
        time_products = (weighted_outputs * values_s[:, None]).reshape(
            n_times, -1
        ) @ weighted_outputs.reshape(n_times, -1).T
        place_major = np.ascontiguousarray(weighted_outputs.swapaxes(0, 1))
        space_products = (place_major * values_t[:, None]).reshape(
            n_places, -1
        ) @ place_major.reshape(n_places, -1).T
        slope_t = vectors_t.T @ matern_slope(time_squares, hyper.length_time) @ vectors_t
        slope_s = (
            vectors_s.T @ squared_exponential_slope(space_squares, hyper.length_space) @ vectors_s
        )
        length_slopes = (
            0.5
            * hyper.scale
            * (
                (slope_t * time_products).sum()
                - n * (np.diag(slope_t) @ (values_s / total).sum(axis=1))
            ),
            0.5
            * hyper.scale
            * (
                (slope_s * space_products).sum()
                - n * (np.diag(slope_s) @ (values_t[:, None] / total).sum(axis=0))
            ),
        )
        return float(log_p), np.array(
            [*length_slopes, (excess * signal).sum(), hyper.noise * excess.sum()]
        )


class Rows:
    """The log marginal likelihood of outputs with its gradient, for arbitrary rows."""

    def __init__(self, inputs: Inputs, outputs: np.ndarray):
        """Store the inputs and outputs (row, output), and compute the squared distances of rows in time and in space."""
        self.inputs, self.outputs = inputs, outputs
        self.squares = tuple(squared_distances(points, points) for points in inputs)

    def __call__(self, hyper: Kernel) -> tuple[float, np.ndarray]:
        """Return log p in nats, and the derivatives (4,) by the logarithms of the hyperparameters."""
        (m, n), (time_squares, space_squares) = self.outputs.shape, self.squares
        signal = covariance(self.inputs, hyper)
        total = signal + hyper.noise * np.eye(m)
        try:
            root = np.linalg.cholesky(total)
        except np.linalg.LinAlgError:  # by rounding, if the noise is tiny
            return -math.inf, np.zeros(4)
        solution = cho_solve((root, True), self.outputs, check_finite=False)
        log_p = -0.5 * (
            (self.outputs * solution).sum()
            + 2.0 * n * np.log(np.diag(root)).sum()
            + n * m * math.log(2.0 * math.pi)
        )
        inverse, _ = dpotri(root, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        excess = 0.5 * (solution @ solution.T - n * inverse)
        space_covariance = squared_exponential(space_squares, hyper.length_space)
        slopes = (
            hyper.scale * matern_slope(time_squares, hyper.length_time) * space_covariance,
            hyper.scale
            * matern(time_squares, hyper.length_time)
            * squared_exponential_slope(space_squares, hyper.length_space),
            signal,
        )
        return float(log_p), np.array(
            [*((excess * slope).sum() for slope in slopes), hyper.noise * np.trace(excess)]
        )


def log_likelihood_of(
    inputs: Inputs, outputs: np.ndarray
) -> Callable[[Kernel], tuple[float, np.ndarray]]:
    """Return the log marginal likelihood of outputs (row, output), with gradient, as a function of hyperparameters.

    It is a `Grid` if the rows are a full grid of times by places, else `Rows`.
    """
    (times, time_numbers), (places, place_numbers) = (
        np.unique(part, axis=0, return_inverse=True) for part in inputs
    )
    cell = time_numbers.ravel() * len(places) + place_numbers.ravel()
    if len(cell) != len(times) * len(places) or len(np.unique(cell)) < len(cell):
        return Rows(inputs, outputs)
    return Grid(
        times,
        places,
        np.ascontiguousarray(outputs[np.argsort(cell)]).reshape(len(times), len(places), -1),
    )


def fitted(inputs: Inputs, outputs: np.ndarray, start: Kernel) -> Kernel:
    """Return the hyperparameters that maximise the marginal likelihood of outputs (row, output), by L-BFGS from `start`.

    The outputs have mean 0. Without times (or places) the length in time (or space) is that of the start. The hyperparameters
    are bounded (`SPREAD`), so that they are usable even if no kernel explains the outputs.
    """
    variance = float(np.mean(outputs**2)) if outputs.size else 0.0
    if not variance > 0.0:
        return start
    middle = np.array(
        [_range(inputs.time, start[0]), _range(inputs.space, start[1]), variance, variance]
    )
    low, high = np.log(middle / SPREAD), np.log(middle * SPREAD)
    log_p = log_likelihood_of(inputs, outputs)
    is_used = np.array([inputs.time.shape[1] > 0, inputs.space.shape[1] > 0, True, True])

    def loss(logs):
        value, gradient = log_p(Kernel(*np.exp(logs).tolist()))
        return (-value, -gradient * is_used) if math.isfinite(value) else (1e300, np.zeros(4))

    result = minimize(
        loss,
        np.clip(np.log(start), low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
    )
    hyper = np.where(is_used, np.exp(result.x), start)
    return Kernel(*hyper.tolist())


def _range(points: np.ndarray, default: float) -> float:
    """Return the largest range (maximum - minimum) of any coordinate of points (point, dim), or `default` if 0."""
    return float(np.ptp(points, axis=0).max(initial=0.0)) or default


def smoothed(
    prior: Dense | LowRank, observed: np.ndarray, outputs: np.ndarray, noise: float
) -> np.ndarray:
    """Return E[f] (row, output) at all rows given noisy observations `outputs` (observed row, output) of f.

    observed : the indices of the observed rows
    """
    if isinstance(prior, Dense):
        inner = prior.covariance[np.ix_(observed, observed)] + noise * np.eye(len(observed))
        return prior.covariance[:, observed] @ cho_solve(
            (np.linalg.cholesky(inner), True), outputs, check_finite=False
        )
    observed_weights = prior.weights[observed]
    inner = observed_weights.T @ observed_weights + noise * np.eye(observed_weights.shape[1])
    return prior.weights @ cho_solve(
        (np.linalg.cholesky(inner), True), observed_weights.T @ outputs, check_finite=False
    )
