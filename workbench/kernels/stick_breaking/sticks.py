"""The stick-breaking map between K - 1 real numbers (sticks) and K probabilities, and densities under it.

    pi_k = sigma(psi_k) prod_{j<k} sigma(-psi_j),  pi_K = prod_j sigma(-psi_j),  sigma(u) = 1 / (1 + e^-u)        spec A.1
    Mult(x | N, pi) = prod_k C(N_k, x_k) sigma(psi_k)^x_k sigma(-psi_k)^(N_k - x_k),  N_k = sum_{j>=k} x_j        spec A.2

Linderman, Johnson & Adams (2015), eq. 5-9 and appendix A. The last axis is that of the categories or sticks; all axes before
it are the leading ones, the dots in shapes as (..., category). With one category there is no stick, and the arrays of sticks
are empty. Logarithms are natural and exact where probabilities underflow.
"""

import math

import numpy as np
from scipy.special import betaln, gammaln, log_expit, polygamma
from scipy.special import psi as digamma

from workbench.kernels.jit import aside


def log_probabilities(sticks: np.ndarray) -> np.ndarray:
    """Return the log probabilities log pi (..., category) of sticks (..., category - 1)."""
    sticks = np.asarray(sticks, dtype=float)
    log_pi = np.zeros((*sticks.shape[:-1], sticks.shape[-1] + 1))
    np.cumsum(log_expit(-sticks), axis=-1, out=log_pi[..., 1:])
    log_pi[..., :-1] += log_expit(sticks)
    return log_pi


def probabilities(sticks: np.ndarray) -> np.ndarray:
    """Return the probabilities pi (..., category) of sticks (..., category - 1)."""
    return np.exp(log_probabilities(sticks))


def sticks_of(log_probability) -> np.ndarray:
    """Return the sticks psi (..., category - 1), logits of the stick's proportions, of log probabilities (..., category).

    They are -inf where a category has probability 0, and +inf where all later ones have.
    The rest of the stick is summed from the last category on, which loses no digits.
    """
    logs = np.asarray(log_probability, dtype=float)
    rest = np.logaddexp.accumulate(logs[..., ::-1], axis=-1)[..., ::-1]
    with np.errstate(invalid="ignore"):  # if the rest is 0, any stick is right; 0 is chosen
        return np.nan_to_num(logs[..., :-1] - rest[..., 1:], nan=0.0, posinf=np.inf, neginf=-np.inf)


def log_jacobian(sticks: np.ndarray) -> np.ndarray:
    """Return log |d pi_1..K-1 / d psi|: the sum over sticks of log pi_k + log sigma(-psi_k), for each leading index."""
    return (log_probabilities(sticks)[..., :-1] + log_expit(-np.asarray(sticks, dtype=float))).sum(
        axis=-1
    )


def remaining(counts: np.ndarray) -> np.ndarray:
    """Return N_k (..., category - 1), the sum of counts (..., category) over category k and all later categories."""
    return np.cumsum(np.asarray(counts)[..., ::-1], axis=-1)[..., ::-1][..., :-1]


def kappa(counts: np.ndarray) -> np.ndarray:
    """Return kappa_k = x_k - N_k / 2 (..., category - 1), the information vector of the sticks given counts x."""
    return np.asarray(counts)[..., :-1] - 0.5 * remaining(counts)


def log_multinomial(counts: np.ndarray, sticks: np.ndarray) -> np.ndarray:
    """Return log Mult(x | N, pi(psi)), with its coefficient, of counts x and sticks psi, one value for each leading index."""
    counts, sticks = np.asarray(counts), np.asarray(sticks, dtype=float)
    n, x = remaining(counts), counts[..., :-1]
    # 0 log 0 = 0
    logs = x * log_expit(np.where(x > 0, sticks, 0.0)) + (n - x) * log_expit(
        np.where(n > x, -sticks, 0.0)
    )
    return (
        gammaln(counts.sum(axis=-1) + 1.0) - gammaln(counts + 1.0).sum(axis=-1) + logs.sum(axis=-1)
    )


def dirichlet_moments(alpha) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance, each (..., category - 1), of the independent sticks of pi ~ Dirichlet(alpha)."""
    first, rest = (
        np.asarray(alpha, dtype=float)[..., :-1],
        remaining(alpha) - np.asarray(alpha)[..., :-1],
    )
    return digamma(first) - digamma(rest), polygamma(1, first) + polygamma(1, rest)


def log_density_of_sticks(sticks: np.ndarray, alpha) -> np.ndarray:
    """Return log p(psi) of the sticks psi of pi ~ Dirichlet(alpha), one value for each leading index."""
    first, rest = (
        np.asarray(alpha, dtype=float)[..., :-1],
        remaining(alpha) - np.asarray(alpha)[..., :-1],
    )
    sticks = np.asarray(sticks, dtype=float)
    return (first * log_expit(sticks) + rest * log_expit(-sticks) - betaln(first, rest)).sum(
        axis=-1
    )


def log_density_of_probabilities(log_probability, mean, covariance) -> np.ndarray:
    """Return the log density of probabilities whose sticks are Gaussian, one value for each leading index.

    log_probability (..., category); mean (stick,) and covariance (stick, stick) of the sticks
    """
    sticks = sticks_of(log_probability)
    root = np.linalg.cholesky(covariance)
    white = np.linalg.solve(
        root, (sticks - mean).reshape(math.prod(sticks.shape[:-1]), len(mean)).T
    )
    gaussian = (
        -0.5 * ((white**2).sum(axis=0) + len(mean) * math.log(2 * math.pi))
        - np.log(np.diag(root)).sum()
    )
    return gaussian.reshape(sticks.shape[:-1]) - log_jacobian(sticks)


@aside
def log_sigma(u):
    return -math.log1p(math.exp(-u)) if u > 0.0 else u - math.log1p(math.exp(u))


@aside
def break_stick(sticks: np.ndarray, theta: np.ndarray) -> None:
    """Write the probabilities of sticks (category - 1,) to theta (category,), in compiled code."""
    log_rest = 0.0
    for k in range(len(sticks)):
        log_broken = log_sigma(-sticks[k])
        theta[k] = math.exp(log_rest + log_broken + sticks[k])  # log sigma(u) = log sigma(-u) + u
        log_rest += log_broken
    theta[len(sticks)] = math.exp(log_rest)
