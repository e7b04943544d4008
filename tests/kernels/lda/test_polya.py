"""Sums of rises of lnG over counts, gathered into sites, against sums over every cell."""

import numpy as np
import pytest
from scipy.special import gammaln, polygamma, psi

from workbench.kernels.lda import polya

PRIORS = [1e-8, 1e-6, 1e-3, 0.1, 1.0, 50.0, 1e4]
# relative error of ten Chebyshev nodes an octave: 3^-10 / 2^9 in each cell, see the module
OF_AN_OCTAVE = 1e-8
ROUNDING = 1e-12  # relative, of lnG at both ends


def real_counts(n_rows=200, n_topics=10, seed=0):
    """(row, topic padded to 16): from 1e-30 to hundreds, a fifth of them 0."""
    random = np.random.default_rng(seed)
    counts = np.zeros((n_rows, 16))
    counts[:, :n_topics] = random.gamma(0.05, 20, (n_rows, n_topics)) * (
        random.random((n_rows, n_topics)) > 0.2
    )
    return counts


def plain_rises(counts, x):
    """(3, …) lnG, psi and psi' at x + n less those at x; by its slope where the difference would cancel."""
    with np.errstate(over="ignore"):
        near = counts < 1e-7 * x
        full = [
            gammaln(x + counts) - gammaln(x),
            psi(x + counts) - psi(x),
            polygamma(1, x + counts) - polygamma(1, x),
        ]
        slope = [psi(x), polygamma(1, x), polygamma(2, x)]
        return np.array([np.where(near, counts * b, a) for a, b in zip(full, slope, strict=True)])


def summed(found, pooled):
    return found.sum(axis=(1, 2))[:, None] if pooled else found.sum(axis=1)


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("x", PRIORS)
def test_sites_of_real_counts_have_the_sums_over_all_cells(x, pooled):
    counts = real_counts()
    sites = polya.real_sites(counts, None, None, None, 10, pooled)
    priors = np.full(len(sites.indptr) - 1, x)
    value, first, second = summed(plain_rises(counts[:, :10], x), pooled)
    np.testing.assert_allclose(polya.rises(*sites, priors), value, rtol=OF_AN_OCTAVE, atol=1e-9)
    found = polya.slopes(*sites, priors)
    np.testing.assert_allclose(found[0], first, rtol=OF_AN_OCTAVE)
    np.testing.assert_allclose(found[1], second, rtol=OF_AN_OCTAVE)


def test_however_many_rows_the_sites_are_few():
    few, many = (
        polya.real_sites(real_counts(n), None, None, None, 10, True) for n in (1000, 20_000)
    )
    assert len(many.n) <= polya.N_BINS * polya.ORDER < 1000
    assert few.weight.sum() == pytest.approx((real_counts(1000) > 0).sum(), rel=ROUNDING)


@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("listed", [1000, 0])
def test_sites_of_whole_counts_are_exact(pooled, n_chains, listed, monkeypatch):
    counts = np.random.default_rng(1).poisson(2, (n_chains, 60, 16)).astype(np.int32)
    monkeypatch.setattr(polya, "LARGEST_LISTED", listed)
    sites = polya.whole_sites(
        [counts[..., :10]] if pooled else np.moveaxis(counts[..., :10], -1, 0), n_chains
    )
    value, first, second = np.mean(
        [summed(plain_rises(each[:, :10], 0.3), pooled) for each in counts], axis=0
    )
    priors = np.full(1 if pooled else 10, 0.3)
    np.testing.assert_allclose(polya.rises(*sites, priors), value, rtol=ROUNDING)
    np.testing.assert_allclose(polya.slopes(*sites, priors), [first, second], rtol=ROUNDING)


def test_sampled_counts_are_added_to_the_expected_ones_and_chains_averaged():
    counts = real_counts(40)
    sampled = np.random.default_rng(2).poisson(0.5, (3, 40, 16)).astype(np.int32)
    sites = polya.real_sites(counts, None, None, sampled, 10, False)
    value = np.mean(
        [summed(plain_rises((counts + each)[:, :10], 0.2), False)[0] for each in sampled], axis=0
    )
    # 40 cells
    np.testing.assert_allclose(
        polya.rises(*sites, np.full(10, 0.2)), value, rtol=0, atol=40 * OF_AN_OCTAVE
    )


@pytest.mark.parametrize("n", [1e-12, 1e-6, 0.01, 0.5, 1.0, 3.7, 100.0, 1e6])
@pytest.mark.parametrize("x", PRIORS)
def test_a_rise_is_right_and_does_not_cancel(x, n):
    """Against scipy to the rounding of both ends; from there on against the slope times n."""
    found = polya.log_gamma_rise(x, n), *polya.digamma_trigamma_rise(x, n)
    expected, ends = (
        plain_rises(np.array(n), x),
        [abs(gammaln(x + n)), abs(psi(x + n)), polygamma(1, x)],
    )
    for one, other, end in zip(found, expected, ends, strict=True):
        if n < 1e-7 * x:  # the slope is the first term only
            assert one == pytest.approx(other, rel=1e-6)
        else:
            assert one == pytest.approx(other, rel=ROUNDING, abs=1e-14 * end + 1e-15)


@pytest.mark.parametrize("x", [1.0, 1.5, 4.0, 30.0, 1e5])
def test_higher_derivatives_are_those_of_scipy(x):
    expected = [polygamma(order, x) for order in (1, 2, 3)]
    np.testing.assert_allclose(polya.higher_derivatives(x), expected, rtol=ROUNDING)


def occupied(counts, gamma, threshold=0):
    found = np.zeros((1, gamma.shape[1]))
    counts = np.array(counts)
    polya.add_occupied(
        np.zeros(len(counts), np.int64), counts, counts <= threshold, gamma, gamma.shape[1], found
    )
    return found[0]


def test_a_row_has_a_token_unless_every_copy_is_elsewhere():
    gamma, counts = np.random.default_rng(3).dirichlet(np.ones(5), 6), np.array([1, 2, 3, 8, 9, 40])
    np.testing.assert_allclose(
        occupied(counts, gamma), 1 - np.prod((1 - gamma) ** counts[:, None], axis=0), rtol=ROUNDING
    )
    kept = counts > 2
    expected = 1 - np.prod((1 - gamma[kept]) ** counts[kept, None], axis=0)
    np.testing.assert_allclose(occupied(counts, gamma[kept], 2), expected, rtol=ROUNDING)


@pytest.mark.parametrize("n", [1, 3, 8, 9, 1000])
def test_tiny_responsibilities_are_not_lost(n):
    """1 - (1 - 1e-20)^n is n 1e-20, though 1 - 1e-20 is 1."""
    np.testing.assert_allclose(
        occupied([n], np.array([[1e-20, 1.0]])), [n * 1e-20, 1.0], rtol=ROUNDING
    )


def test_conditional_moments_are_those_of_a_count_that_is_not_zero():
    p = np.array([0.38, 0.06])  # of 1 and 2 in two draws with probability 0.3 and 0.2; else 0
    n, q = np.array([1, 2]), p.sum()
    mean, square = p @ n, p @ n**2
    found = polya.conditional_moments(mean, square - mean**2, q)
    np.testing.assert_allclose(found, [mean / q, square / q - (mean / q) ** 2], rtol=ROUNDING)


def test_rounding_makes_no_mean_below_one_and_no_negative_variance():
    assert polya.conditional_moments(1e-20, 0.9e-20, 1.1e-20) == (1.0, 0.0)
    # what moving along left of a mean of 1e-200
    assert polya.conditional_moments(1e-17, 3e-17, 1e-200) == (1.0, 0.0)


def test_variances_count_with_the_second_derivative():
    """E f(x + n) of a certain count with noise: f(x + m) + v / 2 f''(x + m)."""
    mean, variance = np.full((1, 16), 3.5), np.full((1, 16), 0.4)
    occupied = np.ones((1, 16))
    sites = polya.real_sites(mean, variance, occupied, None, 2, False)
    value = gammaln(0.7 + 3.5) - gammaln(0.7) + 0.2 * polygamma(1, 4.2)
    first = psi(4.2) - psi(0.7) + 0.2 * polygamma(2, 4.2)
    second = polygamma(1, 4.2) - polygamma(1, 0.7) + 0.2 * polygamma(3, 4.2)
    # one octave, fewer digits of psi'
    np.testing.assert_allclose(polya.rises(*sites, np.full(2, 0.7)), value, rtol=1e-7)
    np.testing.assert_allclose(
        polya.slopes(*sites, np.full(2, 0.7)), [[first] * 2, [second] * 2], rtol=1e-7
    )
