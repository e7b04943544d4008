"""The normal-inverse-Wishart q(mu, Sigma): natural parameters, expectations, and its terms of a variational bound.

Natural parameters, about the mean m0 of the prior:  kappa (m - m0),  kappa,  nu,  Psi + kappa (m - m0)(m - m0)'. They add over
documents, and a convex combination of those of two distributions is that of one, Psi positive definite      spec B.5
"""

import math

import numpy as np
from scipy.special import digamma, multigammaln

from workbench.kernels.gaussian import inverse, log_determinant
from workbench.models.stick_breaking.correlated_topics import NormalInverseWishart


def natural(q: NormalInverseWishart, centre: np.ndarray) -> tuple:
    """Return the natural parameters of a normal-inverse-Wishart, with mu relative to ``centre`` (stick,)."""
    shift = q.mean - centre
    return q.kappa * shift, q.kappa, q.nu, q.scale + q.kappa * np.outer(shift, shift)


def from_natural(parameters, centre: np.ndarray) -> NormalInverseWishart:
    """Return the normal-inverse-Wishart with these natural parameters, the inverse of `natural`."""
    weighted, kappa, nu, second = parameters
    shift = weighted / kappa
    scale = second - kappa * np.outer(shift, shift)
    return NormalInverseWishart(centre + shift, kappa, nu, 0.5 * (scale + scale.T))


def moved(
    q: NormalInverseWishart,
    prior: NormalInverseWishart,
    n: int,
    share: float,
    total: np.ndarray,
    scatter: np.ndarray,
    rate: float,
):
    """Return q moved by ``rate`` in [0, 1] towards the posterior, estimated from a ``share`` of the n documents.

    total : sum of E[psi] - m0 over these (stick,); scatter : sum of E[(psi - m0)(psi - m0)'] (stick, stick).
    """
    target = total / share, prior.kappa + n, prior.nu + n, prior.scale + scatter / share
    mixed = (
        (1.0 - rate) * old + rate * new
        for old, new in zip(natural(q, prior.mean), target, strict=True)
    )
    return from_natural(tuple(mixed), prior.mean)


def expected_precision(q: NormalInverseWishart) -> np.ndarray:
    """Return E[Sigma^-1] (stick, stick)."""
    return q.nu * inverse(q.scale)


def log_normaliser(kappa: float, nu: float, log_size: float, n: int) -> float:
    """Return the log normalising constant of an n-dimensional normal-inverse-Wishart, given log |Psi|; 0 if improper."""
    if nu <= n - 1:
        return 0.0
    sigma_term = 0.5 * nu * (log_size - n * math.log(2.0)) - float(
        multigammaln(0.5 * nu, n) if n else 0.0
    )
    return sigma_term + 0.5 * n * math.log(kappa / (2.0 * math.pi))


def bound(
    q: NormalInverseWishart,
    prior: NormalInverseWishart,
    n_documents: int,
    total: np.ndarray,
    scatter: np.ndarray,
) -> float:
    """Return E[log p(psi, mu, Sigma)] - E[log q(mu, Sigma)], nats, without -log(2 pi) / 2 for each stick of each document.

    The normalising constant of an improper prior is left out.
    """
    n, shift = len(q.mean), q.mean - prior.mean
    log_size, precision = log_determinant(q.scale), expected_precision(q)
    log_sigma = log_size - digamma(0.5 * (q.nu - np.arange(n))).sum() - n * math.log(2.0)
    about = (
        scatter
        - np.outer(total, shift)
        - np.outer(shift, total)
        + n_documents * np.outer(shift, shift)
    )
    documents = -0.5 * (n_documents * (log_sigma + n / q.kappa) + (precision * about).sum())
    far = (precision * np.outer(shift, shift)).sum() + n / q.kappa
    log_prior = log_normaliser(prior.kappa, prior.nu, log_determinant(prior.scale), n)
    log_prior -= 0.5 * (
        (prior.nu + n + 2.0) * log_sigma + (prior.scale * precision).sum() + prior.kappa * far
    )
    log_q = log_normaliser(q.kappa, q.nu, log_size, n) - 0.5 * (
        (q.nu + n + 2.0) * log_sigma + q.nu * n + n
    )
    return float(documents + log_prior - log_q)
