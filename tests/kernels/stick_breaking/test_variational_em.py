"""The E-step of logistic-normal topics: against a plain twin, finite differences and SciPy's optimiser."""

import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime, brentq
from scipy.special import logsumexp, softmax
from toys import called, corpus_of

from workbench.kernels.simd.vectors import padded
from workbench.kernels.stick_breaking.variational_em import (
    best_variance,
    climb,
    fit_documents,
    pull_of,
)

SIZES = (1, 3, 17)  # components: one, one block of lanes, two
CORPUS = corpus_of(
    [(0, 0, 3), (0, 1, 1), (0, 4, 2), (2, 3, 1), (3, 2, 40), (3, 0, 7)], n_documents=4, n_words=5
)
CLIMB, PULL_OF, BEST_VARIANCE = called(climb), called(pull_of), called(best_variance)
EXACT = 1e-8  # of a gradient of size 10 after passes that change the bound by rounding alone


def problem(n, seed=0):
    """mu, Sigma^-1 and phi (word, topic), padded."""
    rng = np.random.default_rng(seed)
    root, phi = rng.normal(0, 0.6, (n, n)), np.zeros((5, padded(n)))
    phi[:, :n] = rng.dirichlet(np.full(5, 0.5), n).T + 1e-6
    return rng.normal(0, 1, n), np.linalg.inv(root @ root.T + 0.3 * np.eye(n)), phi


def fitted(n, most_passes, tolerance, start=None, corpus=CORPUS):
    """lambda, nu^2, expected counts, weights and ratios after the E-step."""
    mean, precision, phi = problem(n)
    shape = corpus.n_documents, n
    psi, variance = start or (np.tile(mean, (shape[0], 1)), np.ones(shape))
    psi, variance, counts = psi.copy(), variance.copy(), np.zeros((shape[0], padded(n)))
    weights, ratios = np.zeros(counts.shape), np.empty(corpus.n_pairs)
    log_determinant = np.linalg.slogdet(precision)[1]
    n_visited = fit_documents(
        0,
        shape[0],
        corpus.indptr,
        corpus.words,
        corpus.counts,
        phi,
        mean,
        precision,
        log_determinant,
        most_passes,
        tolerance,
        psi,
        variance,
        counts,
        weights,
        ratios,
    )
    return psi, variance, counts[:, :n], weights[:, :n], ratios, n_visited


def bound_of(n, words, counts, psi, variance):
    """L_d of one document, responsibilities and zeta at their best, term by term; its gradients by lambda and log nu^2."""
    mean, precision, phi = problem(n)
    off, log_phi, n_tokens = psi - mean, np.log(phi[words, :n]), counts.sum()
    gamma = softmax(psi + log_phi, axis=1)
    log_zeta = logsumexp(psi + variance / 2)
    of_prior = 0.5 * (
        np.linalg.slogdet(precision)[1] - np.diag(precision) @ variance - off @ precision @ off
    )
    entropy_of_psi = 0.5 * (np.log(variance) + 1).sum()
    of_tokens = (counts[:, None] * gamma * (psi + log_phi - np.log(gamma))).sum()
    expected = n_tokens * np.exp(psi + variance / 2 - log_zeta)
    by_lambda = -precision @ off + counts @ gamma - expected
    by_log_variance = 0.5 * (1 - variance * (np.diag(precision) + expected))
    return of_prior + entropy_of_psi + of_tokens - n_tokens * log_zeta, by_lambda, by_log_variance


def rows_of(d):
    here = slice(CORPUS.indptr[d], CORPUS.indptr[d + 1])
    return CORPUS.words[here], CORPUS.counts[here].astype(float)


@pytest.mark.parametrize("n", SIZES)
def test_the_gradients_are_those_of_finite_differences(n):
    """Of the twin in this file, and of what the Newton step of the kernel climbs."""
    mean, precision, phi = problem(n)
    rng, (words, counts) = np.random.default_rng(3), rows_of(0)
    psi, variance = mean + rng.normal(0, 1, n), rng.uniform(0.2, 2, n)
    _, by_lambda, by_log_variance = bound_of(n, words, counts, psi, variance)
    numeric = approx_fprime(psi, lambda x: bound_of(n, words, counts, x, variance)[0], 1e-6)
    # differences of 1e-6 in numbers of size 30
    assert by_lambda == pytest.approx(numeric, abs=1e-4)
    numeric = approx_fprime(
        np.log(variance), lambda x: bound_of(n, words, counts, psi, np.exp(x))[0], 1e-6
    )
    assert by_log_variance == pytest.approx(numeric, abs=1e-4)
    expected, pull, slope = (
        counts @ softmax(psi + np.log(phi[words, :n]), axis=1),
        np.empty(n),
        np.empty(n),
    )
    PULL_OF(psi, mean, precision, pull)
    CLIMB(
        counts.sum(),
        expected,
        variance,
        precision,
        logsumexp(psi + variance / 2),
        psi.copy(),
        pull,
        np.empty(n),
        slope,
        np.empty(n),
        np.full(n, -np.inf),
        np.empty((n, n)),
    )
    assert slope == pytest.approx(by_lambda, abs=1e-10)  # rounding


@pytest.mark.parametrize("n", SIZES)
def test_newton_steps_find_the_best_lambda_of_given_counts_in_a_few(n):
    """The gradient goes as Newton's does: seven steps from far away leave rounding."""
    mean, precision, phi = problem(n)
    rng, (words, counts) = np.random.default_rng(3), rows_of(3)
    psi, variance, pull, slope = (
        mean + rng.normal(0, 1, n),
        rng.uniform(0.2, 2, n),
        np.empty(n),
        np.empty(n),
    )
    expected, log_zeta = (
        counts @ softmax(psi + np.log(phi[words, :n]), axis=1),
        logsumexp(psi + variance / 2),
    )
    for _ in range(8):
        PULL_OF(psi, mean, precision, pull)
        log_zeta = CLIMB(
            counts.sum(),
            expected,
            variance,
            precision,
            log_zeta,
            psi,
            pull,
            np.empty(n),
            slope,
            np.empty(n),
            np.full(n, -np.inf),
            np.empty((n, n)),
        )
        assert log_zeta == pytest.approx(logsumexp(psi + variance / 2), abs=1e-12)
    assert np.abs(slope).max() < 1e-8


@pytest.mark.parametrize("n", SIZES)
def test_variances_are_those_of_the_zeta_that_the_step_of_lambda_left(n):
    precision = problem(n)[1]
    psi, variance, *_ = fitted(n, 1, -1.0)
    for d in (0, 2, 3):
        log_zeta = logsumexp(psi[d] + 0.5)  # the variances before were 1
        expected = rows_of(d)[1].sum() * np.exp(psi[d] + variance[d] / 2 - log_zeta)
        # the last Newton step
        np.testing.assert_allclose(1 / variance[d], np.diag(precision) + expected, rtol=1e-9)


@pytest.mark.parametrize("tolerance", (1e-2, 1e-4, 1e-6))
def test_a_document_is_left_after_the_first_pass_that_raises_its_bound_by_less_than_the_tolerance(
    tolerance,
):
    alone = corpus_of([(0, 0, 3), (0, 1, 1), (0, 4, 2)], n_documents=1, n_words=5)
    bounds = []
    for passes in range(60):
        psi, variance, *_ = fitted(3, passes, -1.0, corpus=alone)
        bounds.append(bound_of(3, *rows_of(0), psi[0], variance[0])[0])
        if passes and bounds[-1] - bounds[-2] <= tolerance * abs(bounds[-1]):
            break
    assert 1 < passes < 59
    # of three pairs; the last visit finds the bound
    assert fitted(3, 60, tolerance, corpus=alone)[-1] == 3 * (passes + 1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("spread", (4.0, 40.0))
def test_every_pass_raises_the_bound_of_every_document(n, spread):
    # far from any optimum
    psi, variance = np.random.default_rng(5).normal(0, spread, (4, n)), np.full((4, n), 5.0)
    before = [-1e300] * 4
    for _ in range(12):
        psi, variance, *_ = fitted(n, 1, 0.0, (psi, variance))
        bounds = [bound_of(n, *rows_of(d), psi[d], variance[d])[0] for d in range(4)]
        # rounding
        assert all(
            now >= old - 1e-13 * abs(old) - 1e-10 for now, old in zip(bounds, before, strict=True)
        )
        before = bounds


@pytest.mark.parametrize("n", SIZES)
def test_at_the_fixed_point_all_gradients_are_zero(n):
    psi, variance, counts, weights, ratios, _ = fitted(n, 3000, -1.0)
    phi = problem(n)[2]
    for d in (0, 2, 3):
        words, copies = rows_of(d)
        _, by_lambda, by_log_variance = bound_of(n, words, copies, psi[d], variance[d])
        assert np.abs(by_lambda).max() < EXACT and np.abs(by_log_variance).max() < EXACT
        assert counts[d] == pytest.approx(
            copies @ softmax(psi[d] + np.log(phi[words, :n]), axis=1), rel=1e-10
        )
        of_pairs = (
            ratios[CORPUS.indptr[d] : CORPUS.indptr[d + 1], None] * weights[d] * phi[words, :n]
        )
        assert of_pairs.sum(axis=0) == pytest.approx(counts[d], rel=1e-10) and of_pairs.sum(
            axis=1
        ) == pytest.approx(copies)


def test_documents_have_the_same_bits_in_any_company():
    """Alone, or after others, which leave nothing in the working arrays."""
    alone = corpus_of([(0, 2, 40), (0, 0, 7)], n_documents=1, n_words=5)
    for one, among in zip(
        fitted(17, 20, 1e-6, corpus=alone)[:4], fitted(17, 20, 1e-6)[:4], strict=True
    ):
        np.testing.assert_array_equal(one[0], among[3])


@pytest.mark.parametrize("precision", (1e-6, 0.3, 1.0, 50.0, 1e8))
@pytest.mark.parametrize("weight", (1e-300, 1e-3, 1.0, 300.0, 1e12))
def test_the_best_variance_is_the_root(precision, weight):
    def off(x):
        return np.logaddexp(math.log(precision) + x, math.log(weight) + x + 0.5 * math.exp(x))

    wanted = math.exp(brentq(off, -60.0, 1e-9 - math.log(precision), xtol=1e-14))
    for start in (1e-12, 0.1, 1.0, 1e5):
        found = BEST_VARIANCE(math.log(precision), math.log(weight), start)
        # a last step below 1e-6, which Newton squares
        assert found == pytest.approx(wanted, rel=1e-9)
    assert BEST_VARIANCE(math.log(precision), -math.inf, 1.0) == pytest.approx(
        1 / precision, rel=1e-14
    )
