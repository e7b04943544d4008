"""Gibbs sampling of logistic-normal topics: components against quadrature, theta of unseen documents."""

import math

import numpy as np
import pytest
from geweke import z_of
from scipy.special import softmax
from toys import called, read_oracles

from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking.correlated_topics import sampled_theta as of_sticks
from workbench.kernels.stick_breaking.logistic_normal import (
    conditional,
    draw_components,
    expected_theta,
    log_sum_of_others,
    padded_rows,
    sampled_theta,
)
from workbench.kernels.uniforms import absorb, draw_key

ORACLES = read_oracles("stick_breaking")


@kernel
def chain_of_components(counts, precision, mean, n, key):
    """n sweeps of the components of one document whose topics stay as they are: (sweep, component)."""
    psi, kept = np.zeros((1, len(mean))), np.empty((n, len(mean)))
    for i in range(n):
        draw_components(0, 1, counts, precision, mean, psi, absorb(key, i))
        kept[i] = psi[0]
    return kept


def posterior_by_quadrature(counts, mean, covariance, n_nodes=60):
    """Mean and covariance of psi, and mean of theta, of a document with these counts, by Gauss-Hermite nodes of the prior."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    grid = np.stack(np.meshgrid(*[nodes] * len(mean), indexing="ij"), axis=-1).reshape(
        -1, len(mean)
    )
    mass = np.prod(
        np.stack(np.meshgrid(*[weights] * len(mean), indexing="ij"), axis=-1), axis=-1
    ).ravel()
    psi = mean + grid @ np.linalg.cholesky(covariance).T
    theta = softmax(psi, axis=1)
    mass = mass * np.prod(theta**counts, axis=1)
    mass /= mass.sum()
    first = mass @ psi
    return first, (mass[:, None] * (psi - first)).T @ (psi - first), mass @ theta


CASES = [
    ((3, 1), (0.4, -0.2), ((1.0, 0.3), (0.3, 2.0))),
    ((0, 0), (0.4, -0.2), ((1.0, 0.3), (0.3, 2.0))),
    ((0, 12), (0.0, 0.5), ((2.0, -0.5), (-0.5, 0.7))),
    ((2, 0, 3), (0.0, 0.1, -0.1), ((1.0, 0.3, 0.0), (0.3, 1.0, -0.2), (0.0, -0.2, 2.0))),
    ((0, 1, 0), (0.5, -0.5, 0.0), ((2.0, 1.2, -0.4), (1.2, 1.5, 0.0), (-0.4, 0.0, 1.0))),
    ((8, 1, 15), (0.0, 0.0, 0.3), ((1.0, -0.6, 0.1), (-0.6, 1.0, 0.2), (0.1, 0.2, 0.8))),
]


@pytest.mark.parametrize(
    ("counts", "mean", "covariance"), CASES, ids=["-".join(map(str, case[0])) for case in CASES]
)
def test_components_given_counts_are_those_of_quadrature(counts, mean, covariance):
    wanted = posterior_by_quadrature(np.array(counts), np.array(mean), np.array(covariance))
    chain = chain_of_components(
        np.array([counts], np.int32),
        padded_rows(np.linalg.inv(covariance)),
        np.array(mean),
        200_000,
        np.uint64(draw_key(4, 5, 6, 7)),
    )[500:]
    off = chain - wanted[0]
    assert z_of(chain, wanted[0]).max() < 4.5
    assert z_of(off[:, :, None] * off[:, None], wanted[1]).max() < 4.5
    assert z_of(softmax(chain, axis=1), wanted[2]).max() < 4.5


def test_the_sum_of_the_others_is_that_of_the_oracle_and_of_any_size():
    oracle = ORACLES["ln_single_site"]
    log_sum = called(log_sum_of_others)
    assert log_sum(np.array(oracle["psi"]), oracle["k"]) == pytest.approx(oracle["zeta"], rel=1e-15)
    assert log_sum(np.array([-2000.0, 3.0, -2001.0]), 1) == pytest.approx(
        -2000.0 + math.log1p(math.exp(-1.0)), rel=1e-15
    )
    assert log_sum(np.array([800.0, 3.0, 1500.0]), 1) == 1500.0


def test_the_conditional_of_a_component_given_omega_is_that_of_the_oracle():
    oracle = ORACLES["ln_single_site"]
    k, precision, counts = oracle["k"], np.linalg.inv(oracle["Sigma"]), np.array(oracle["c"])
    off = np.array(oracle["psi"]) - oracle["mu"]
    pulled = precision[k] @ off - precision[k, k] * off[k]
    h, information = called(conditional)(
        counts[k],
        counts.sum(),
        oracle["omega"],
        oracle["zeta"],
        precision[k, k],
        oracle["mu"][k],
        pulled,
    )
    # rounding
    assert (h / information, 1 / information) == pytest.approx(
        (oracle["mean"], oracle["var"]), rel=1e-12
    )


@pytest.mark.parametrize("far", [900.0, -900.0])
def test_components_far_from_the_others_are_drawn_without_an_overflow(far):
    psi = np.array([[far, 0.0, 0.1]])
    draw_components(
        0,
        1,
        np.array([[4, 2, 1]], np.int32),
        padded_rows(np.eye(3)),
        np.zeros(3),
        psi,
        np.uint64(1),
    )
    # the prior and seven tokens bring them back at once
    assert np.isfinite(psi).all() and (np.abs(psi) < 30).all()


def test_the_only_component_is_drawn_from_its_prior():
    counts, precision = np.array([[50]], np.int32), padded_rows(np.array([[4.0]]))
    chain = chain_of_components(
        counts, precision, np.array([1.5]), 50_000, np.uint64(draw_key(4, 5, 6, 7))
    )
    assert z_of(chain, [1.5]).max() < 4.5
    assert z_of((chain - 1.5) ** 2, [0.25]).max() < 4.5


@pytest.mark.parametrize(
    ("sampled", "law", "mean", "variance"),
    [
        (of_sticks, (np.array([[1 / 1.7]]), np.array([0.4]), np.array([0.4 / 1.7])), 0.4, 1.7),
        (
            sampled_theta,
            (padded_rows(np.linalg.inv([[1.7, 0.5], [0.5, 0.9]])), np.array([0.4, -0.1])),
            0.5,
            1.7 + 0.9 - 2 * 0.5,
        ),
    ],
    ids=["sticks", "components"],
)
def test_theta_of_unseen_documents_is_its_posterior_mean(sampled, law, mean, variance):
    """One token and two topics, or none: theta is the mean of sigma(psi), or of the softmax, under N(mu, Sigma) times the
    token's probability; softmax of two is sigma of their difference, whose mean and variance these are."""
    indptr, words, counts, before = (
        np.array([0, 1, 2, 2]),
        np.array([0, 1], np.int32),
        np.ones(2, np.int32),
        np.arange(3),
    )
    phi, theta = np.array([[0.9, 0.2], [0.1, 0.8]]), np.empty((3, 2))
    key = np.uint64(draw_key(0, 1, 0, 0))
    sampled(0, 3, indptr, words, counts, before, phi, *law, 50, 200_000, key, theta)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    share = 1 / (1 + np.exp(-(mean + np.sqrt(variance) * nodes)))
    for d, p in enumerate(
        (
            share * phi[0, 0] + (1 - share) * phi[0, 1],
            share * phi[1, 0] + (1 - share) * phi[1, 1],
            1.0,
        )
    ):
        # 200,000 draws
        assert theta[d, 0] == pytest.approx(
            (weights * p * share).sum() / (weights * p).sum(), abs=4e-3
        )
    assert theta.sum(axis=1) == pytest.approx(1.0, abs=1e-9)


def test_theta_under_q_is_its_mean_over_many_draws():
    rng = np.random.default_rng(2)
    psi, variance = rng.normal(0, 2, (6, 5)), rng.uniform(0.05, 1.5, (6, 5))
    found = expected_theta(psi, variance)
    drawn = softmax(
        psi[:, None] + np.sqrt(variance)[:, None] * rng.standard_normal((6, 200_000, 5)), axis=2
    )
    # fifty points: sd of theta, at most .3, / sqrt(100)
    assert np.abs(found - drawn.mean(axis=1)).max() < 0.03
    assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(found[3:4], expected_theta(psi[3:4], variance[3:4]))
    np.testing.assert_allclose(
        expected_theta(psi, np.zeros((6, 5))), softmax(psi, axis=1), rtol=1e-12
    )
