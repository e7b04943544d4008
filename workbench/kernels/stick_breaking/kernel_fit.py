"""Hyperparameters of a Gaussian process that several outputs share, by maximum of the marginal likelihood.

    y_k ~ N(0, C),  C = R + noise I,  R = k(inputs)                                                          spec C.5
    d log p / d theta = 1/2 sum_k y_k' C^-1 (dR) C^-1 y_k - n/2 tr C^-1 dR                  n outputs

On a full grid of times by places R is a Kronecker product, and all of it follows from the eigenvectors of the two factors, in
the cube of the larger; elsewhere C is factored each time. L-BFGS, on the logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize

from workbench.kernels.stick_breaking.gaussian_process import (
    Dense,
    Inputs,
    Kernel,
    LowRank,
    covariance,
    matern,
    squared_distances,
    squared_exponential,
)

SPREAD = 1e3
"""Lengths lie between the range of the inputs over this and the range times this; variances as far from that of the outputs."""


def matern_slope(squares: np.ndarray, length: float) -> np.ndarray:
    """Derivative of `matern` by the logarithm of its length."""
    r = np.sqrt(5.0 * squares) / length
    return r * r * (1.0 + r) / 3.0 * np.exp(-r)


def squared_exponential_slope(squares: np.ndarray, length: float) -> np.ndarray:
    """Derivative of `squared_exponential` by the logarithm of its length."""
    return squares / (length * length) * squared_exponential(squares, length)


class Grid:
    """log p(outputs) and its gradient where the rows are all times by all places, each once."""

    def __init__(self, times: np.ndarray, places: np.ndarray, outputs: np.ndarray):
        """outputs : (time, place, output)."""
        self.outputs = outputs
        self.squares = squared_distances(times, times), squared_distances(places, places)

    def __call__(self, hyper: Kernel) -> tuple[float, np.ndarray]:
        """log p in nats, and its derivatives by the logarithms of the hyperparameters (4,)."""
        in_time, in_space = self.squares
        values_t, vectors_t = np.linalg.eigh(matern(in_time, hyper.length_time))
        values_s, vectors_s = np.linalg.eigh(squared_exponential(in_space, hyper.length_space))
        n_times, n_places, n = self.outputs.shape
        turned = (vectors_t.T @ self.outputs.reshape(n_times, -1)).reshape(self.outputs.shape)
        turned = np.matmul(vectors_s.T, turned)
        signal = hyper.scale * np.outer(values_t, values_s)
        total = signal + hyper.noise
        if total.min() <= 0.0:  # rounding, where there is next to no noise
            return -math.inf, np.zeros(4)
        squares = (turned**2).sum(axis=2)
        log_p = -0.5 * (
            (squares / total).sum()
            + n * np.log(total).sum()
            + n * total.size * math.log(2.0 * math.pi)
        )
        pulled = turned / total[:, :, None]
        excess = 0.5 * (squares / total**2 - n / total)  # d log p by each eigenvalue of C
        of_time = (pulled * values_s[:, None]).reshape(n_times, -1) @ pulled.reshape(n_times, -1).T
        by_place = np.ascontiguousarray(pulled.swapaxes(0, 1))
        of_space = (by_place * values_t[:, None]).reshape(n_places, -1) @ by_place.reshape(
            n_places, -1
        ).T
        slope_t = vectors_t.T @ matern_slope(in_time, hyper.length_time) @ vectors_t
        slope_s = vectors_s.T @ squared_exponential_slope(in_space, hyper.length_space) @ vectors_s
        by_length = (
            0.5
            * hyper.scale
            * ((slope_t * of_time).sum() - n * (np.diag(slope_t) @ (values_s / total).sum(axis=1))),
            0.5
            * hyper.scale
            * (
                (slope_s * of_space).sum()
                - n * (np.diag(slope_s) @ (values_t[:, None] / total).sum(axis=0))
            ),
        )
        return float(log_p), np.array(
            [*by_length, (excess * signal).sum(), hyper.noise * excess.sum()]
        )


class Rows:
    """log p(outputs) and its gradient for rows anywhere."""

    def __init__(self, inputs: Inputs, outputs: np.ndarray):
        """outputs : (row, output)."""
        self.inputs, self.outputs = inputs, outputs
        self.squares = tuple(squared_distances(each, each) for each in inputs)

    def __call__(self, hyper: Kernel) -> tuple[float, np.ndarray]:
        """log p in nats, and its derivatives by the logarithms of the hyperparameters (4,)."""
        (m, n), (in_time, in_space) = self.outputs.shape, self.squares
        signal = covariance(self.inputs, hyper)
        total = signal + hyper.noise * np.eye(m)
        try:
            root = np.linalg.cholesky(total)
        except np.linalg.LinAlgError:  # rounding, where there is next to no noise
            return -math.inf, np.zeros(4)
        pulled = cho_solve((root, True), self.outputs, check_finite=False)
        log_p = -0.5 * (
            (self.outputs * pulled).sum()
            + 2.0 * n * np.log(np.diag(root)).sum()
            + n * m * math.log(2.0 * math.pi)
        )
        inverse, _ = dpotri(root, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        excess = 0.5 * (pulled @ pulled.T - n * inverse)
        per_space = squared_exponential(in_space, hyper.length_space)
        slopes = (
            hyper.scale * matern_slope(in_time, hyper.length_time) * per_space,
            hyper.scale
            * matern(in_time, hyper.length_time)
            * squared_exponential_slope(in_space, hyper.length_space),
            signal,
        )
        return float(log_p), np.array(
            [*((excess * slope).sum() for slope in slopes), hyper.noise * np.trace(excess)]
        )


def log_likelihood_of(
    inputs: Inputs, outputs: np.ndarray
) -> Callable[[Kernel], tuple[float, np.ndarray]]:
    """log p(outputs) (row, output), with its gradient, as a function of the hyperparameters: a `Grid`, or else `Rows`."""
    (times, at_time), (places, at_place) = (
        np.unique(each, axis=0, return_inverse=True) for each in inputs
    )
    cell = at_time.ravel() * len(places) + at_place.ravel()
    if len(cell) != len(times) * len(places) or len(np.unique(cell)) < len(cell):
        return Rows(inputs, outputs)
    return Grid(
        times,
        places,
        np.ascontiguousarray(outputs[np.argsort(cell)]).reshape(len(times), len(places), -1),
    )


def fitted(inputs: Inputs, outputs: np.ndarray, start: Kernel) -> Kernel:
    """The hyperparameters of the largest marginal likelihood of outputs (row, output) of mean 0, by L-BFGS from a start.

    A length of a kind of inputs that there are none of stays as it is. Within bounds by the ranges of inputs and outputs
    (`SPREAD`), so that outputs that no kernel explains leave numbers that can be used.
    """
    variance = float(np.mean(outputs**2)) if outputs.size else 0.0
    if not variance > 0.0:
        return start
    middle = np.array(
        [_range(inputs.time, start[0]), _range(inputs.space, start[1]), variance, variance]
    )
    low, high = np.log(middle / SPREAD), np.log(middle * SPREAD)
    log_p = log_likelihood_of(inputs, outputs)
    there = np.array([inputs.time.shape[1] > 0, inputs.space.shape[1] > 0, True, True])

    def loss(logs):
        value, gradient = log_p(Kernel(*np.exp(logs).tolist()))
        return (-value, -gradient * there) if math.isfinite(value) else (1e300, np.zeros(4))

    found = minimize(
        loss,
        np.clip(np.log(start), low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
    )
    hyper = np.where(there, np.exp(found.x), start)
    return Kernel(*hyper.tolist())


def _range(points: np.ndarray, otherwise: float) -> float:
    """The largest range of a column of points (point, dim); of no points apart, another number."""
    return float(np.ptp(points, axis=0).max(initial=0.0)) or otherwise


def smoothed(
    prior: Dense | LowRank, observed: np.ndarray, outputs: np.ndarray, noise: float
) -> np.ndarray:
    """E[f] (row, output) of all rows given outputs (observed row, output) that are f and noise of this variance."""
    if isinstance(prior, Dense):
        inner = prior.covariance[np.ix_(observed, observed)] + noise * np.eye(len(observed))
        return prior.covariance[:, observed] @ cho_solve(
            (np.linalg.cholesky(inner), True), outputs, check_finite=False
        )
    there = prior.weights[observed]
    inner = there.T @ there + noise * np.eye(there.shape[1])
    return prior.weights @ cho_solve(
        (np.linalg.cholesky(inner), True), there.T @ outputs, check_finite=False
    )
