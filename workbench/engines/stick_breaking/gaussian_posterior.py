"""The normal-inverse-Wishart q(mu, Sigma): natural parameters, expectations, and its terms of a variational bound.

Natural parameters, about the mean m0 of the prior:  kappa (m - m0),  kappa,  nu,  Psi + kappa (m - m0)(m - m0)'. They add over
documents, and a convex combination of those of two distributions is that of one, Psi positive definite      spec B.5

Of a regression, q(Gamma, Sigma), they are (M - M0) K,  K,  nu,  Psi + (M - M0) K (M - M0)'; with an intercept alone the same.
"""

import math

import numpy as np
from scipy.special import digamma, multigammaln

from workbench.kernels.gaussian import inverse, log_determinant
from workbench.models.stick_breaking.correlated_topics import NormalInverseWishart, Regression


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


def moved_regression(
    q: Regression,
    prior: Regression,
    n: int,
    share: float,
    inner: np.ndarray,
    total: np.ndarray,
    scatter: np.ndarray,
    rate: float,
) -> Regression:
    """Return q moved by ``rate`` in [0, 1] towards the posterior, estimated from a ``share`` of the n documents.

    With e = E[psi] - M0 x: inner : sum of x x' over these (term, term); total : sum of e x' (stick, term); scatter : sum of
    V + e e' (stick, stick).
    """
    shift = q.mean - prior.mean
    old = (
        np.einsum("ip,pq->iq", shift, q.precision),
        q.precision,
        q.nu,
        q.scale + squares_of(shift, q.precision),
    )
    target = (
        total / share,
        prior.precision + inner / share,
        prior.nu + n,
        prior.scale + scatter / share,
    )
    weighted, precision, nu, second = (
        (1.0 - rate) * each + rate * new for each, new in zip(old, target, strict=True)
    )
    shift = np.einsum("ip,pq->iq", weighted, inverse(precision))
    scale = second - squares_of(shift, precision)
    return Regression(prior.mean + shift, precision, nu, 0.5 * (scale + scale.T))


def squares_of(matrix: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return M W M' (stick, stick) of M (stick, term) and W (term, term)."""
    return np.einsum("ip,pq,jq->ij", matrix, weights, matrix)


def expected_precision(q: NormalInverseWishart | Regression) -> np.ndarray:
    """Return E[Sigma^-1] (stick, stick)."""
    return q.nu * inverse(q.scale)


def log_normaliser(
    kappa: float, nu: float, log_size: float, n: int, log_more: float = 0.0
) -> float:
    """Return the log normalising constant of an n-dimensional normal-inverse-Wishart, given log |Psi|; 0 if improper.

    log_more : of a regression with kappa 1, log |K| - log(2 pi) for each term but one
    """
    if nu <= n - 1:
        return 0.0
    sigma_term = 0.5 * nu * (log_size - n * math.log(2.0)) - float(
        multigammaln(0.5 * nu, n) if n else 0.0
    )
    return sigma_term + 0.5 * n * (math.log(kappa / (2.0 * math.pi)) + log_more)


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


def bound_of_regression(
    q: Regression,
    prior: Regression,
    n_documents: int,
    inner: np.ndarray,
    total: np.ndarray,
    scatter: np.ndarray,
) -> float:
    """Return what `bound` does, of q(Gamma, Sigma); for inner, total and scatter see `moved_regression`."""
    (n, n_terms), shift = q.mean.shape, q.mean - prior.mean
    log_size, precision, spread = (
        log_determinant(q.scale),
        expected_precision(q),
        inverse(q.precision),
    )
    log_sigma = log_size - digamma(0.5 * (q.nu - np.arange(n))).sum() - n * math.log(2.0)
    cross = np.einsum("ip,jp->ij", total, shift)
    about = scatter - cross - cross.T + squares_of(shift, inner)
    documents = n_documents * log_sigma + n * (inner * spread).sum() + (precision * about).sum()
    far = (precision * squares_of(shift, prior.precision)).sum() + n * (
        prior.precision * spread
    ).sum()

    def log_constant(of: Regression, log_scale: float) -> float:
        of_gamma = log_determinant(of.precision) - (n_terms - 1) * math.log(2.0 * math.pi)
        return log_normaliser(1.0, of.nu, log_scale, n, of_gamma)

    log_prior = log_constant(prior, log_determinant(prior.scale)) - 0.5 * (
        (prior.nu + n + 1.0 + n_terms) * log_sigma + (prior.scale * precision).sum() + far
    )
    log_q = log_constant(q, log_size) - 0.5 * (
        (q.nu + n + 1.0 + n_terms) * log_sigma + q.nu * n + n * n_terms
    )
    return float(-0.5 * documents + log_prior - log_q)
