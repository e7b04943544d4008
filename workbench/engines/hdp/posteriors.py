"""q of the hyperparameters of the HDP: concentrations, stick weights, base distribution; moments and divergences.

Teh, Kurihara & Welling (2008), eq. 8 and 18. A concentration is an array (4,): shape and rate of its Gamma, mean and
mean log; shape 0 says that it is fixed, a point mass, without a divergence. Sticks stand in an order of their own, and
their weights are numbered by topic::

    log G[pi_k] = E[log v_k] + sum over the sticks before k of E[log(1 - v)]
    E[pi_k]     = E[v_k] prod over the sticks before k of (1 - E[v])
"""

import numpy as np
from scipy.special import betaln, gammaln, psi

SHAPE, RATE, MEAN, LOG = range(4)
"""What stands where in a concentration."""


def fixed(value: float) -> np.ndarray:
    """The point mass of a fixed concentration."""
    return np.array([0.0, 0.0, value, np.log(value)])


def gamma_posterior(shape: float, rate: float) -> np.ndarray:
    """The Gamma posterior of a concentration."""
    return np.array([shape, rate, shape / rate, psi(shape) - np.log(rate)])


def gamma_divergence(concentration: np.ndarray, shape: float, rate: float) -> float:
    """KL(q || Gamma(shape, rate)), nats; 0 for a fixed one."""
    a, b, mean, log_mean = concentration
    if not a:
        return 0.0
    normalisers = a * np.log(b) - gammaln(a) - shape * np.log(rate) + gammaln(shape)
    return float(normalisers + (a - shape) * log_mean - (b - rate) * mean)


def dirichlet_divergence(q: np.ndarray, prior: float) -> float:
    """KL(Dirichlet(q) || Dirichlet(prior, …, prior)), nats."""
    total = gammaln(q.sum()) - gammaln(q).sum() - gammaln(len(q) * prior) + len(q) * gammaln(prior)
    return float(total + np.sum((q - prior) * (psi(q) - psi(q.sum()))))


def log_sticks(sticks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[log v] and E[log(1 - v)] of sticks (2, topic), the two parameters of each q(v) = Beta(A, B)."""
    both = psi(sticks.sum(axis=0))
    return psi(sticks[0]) - both, psi(sticks[1]) - both


def stick_divergence(sticks: np.ndarray, top: np.ndarray) -> float:
    """sum_k E_gamma KL(Beta(A_k, B_k) || Beta(1, gamma)), nats; top is the concentration gamma."""
    (a, b), (log_v, log_rest) = sticks, log_sticks(sticks)
    terms = -betaln(a, b) + (a - 1) * log_v + (b - top[MEAN]) * log_rest - top[LOG]
    return float(terms.sum())


def log_weights(sticks: np.ndarray, order: np.ndarray) -> np.ndarray:
    """log G[pi_k] (topic,)."""
    log_v, log_rest = log_sticks(sticks[:, order])
    return (log_v + np.concatenate([[0.0], np.cumsum(log_rest)[:-1]]))[np.argsort(order)]


def mean_weights(sticks: np.ndarray, order: np.ndarray) -> np.ndarray:
    """E[pi_k] (topic,); what they lack of 1 is the mean weight of the topics beyond the truncation."""
    a, b = sticks[:, order]
    before = np.concatenate([[1.0], np.cumprod(b / (a + b))[:-1]])
    return (a / (a + b) * before)[np.argsort(order)]
