"""Polya-gamma numbers: moments, Laplace transforms and distributions, against closed forms."""

import numpy as np
import pytest
from scipy.special import ndtr
from toys import read_oracles

from workbench.errors import InputError
from workbench.kernels.jit import kernel
from workbench.kernels.polya_gamma import (
    SPLIT,
    STEPS,
    SURELY,
    TABLE_END,
    _inverse_gaussian_below,
    _series_accepts,
    cumulants,
    polya_gammas,
    remainder,
    tail_share,
    terms_drawn,
)
from workbench.kernels.uniforms import draw_key, stream_of

ORACLES = read_oracles("stick_breaking")
N = 200_000


def log_cosh(u):
    return u + np.log1p(np.exp(-2 * u)) - np.log(2)


def log_characteristic(s, b, c):
    """log E exp(i s omega) of PG(b, c)."""
    return b * (log_cosh(c / 2 + 0j) - log_cosh(np.sqrt(c * c / 4 - 0.5j * s)))


def distribution_less(at, scale, b, log_other, log_exact):
    """The difference of two distribution functions by inversion of their characteristic functions: Gil-Pelaez (1951)."""
    span, n = (400.0, 20_000) if b < 8 else (60.0, 3_000)
    s = (np.arange(n) + 0.5) * span / n / scale
    difference = np.exp(log_exact(s)) - (np.exp(log_other(s)) if log_other else 0.0)
    inverted = (
        -(np.exp(-1j * np.outer(at, s)) * (difference / s)).imag.sum(axis=1) * (s[1] - s[0]) / np.pi
    )
    return inverted if log_other else 0.5 + inverted


@kernel
def what_is_drawn(b, c):
    n_terms = terms_drawn(b, c)
    return n_terms, remainder(b, c, n_terms), cumulants(b, c)


@kernel
def cumulants_of(b, c):
    return cumulants(b, c)


def key_of(b, c):
    return draw_key(5, 6, b, int(100 * c))


@pytest.mark.parametrize("b", [1, 2, 3, 4, 5, 8, 9, 19, 20, 100, 100_000])
def test_mean_variance_and_laplace_transform(b):
    for c in (0.0, 0.5, 0.99, 1.01, 2.0, 10.0, 40.0, 300.0):
        drawn = polya_gammas(np.full(N, b), c, key_of(b, c))
        mean, variance, _ = cumulants_of(b, c)
        t = 1.0 / mean
        laplace = np.exp(b * (log_cosh(c / 2) - log_cosh(np.sqrt(c * c / 4 + t / 2))))
        for got, wanted in (
            (drawn, mean),
            ((drawn - mean) ** 2, variance),
            (np.exp(-t * drawn), laplace),
        ):
            assert abs(got.mean() - wanted) < 4.5 * got.std() / np.sqrt(N), (b, c)


def test_cumulants_are_those_of_the_oracle_and_of_the_sum_of_gammas():
    for case in ORACLES["pg_moments"]:
        assert cumulants_of(case["b"], case["c"])[:2] == pytest.approx(
            (case["mean"], case["var"]), rel=1e-10
        )
    for c in (0.0, 1e-3, 0.3, 0.999, 1.0, 1.001, 3.0, 17.0, 60.0):
        w = (2 * np.arange(200_000) + 1) * np.pi
        a = 2 / (w**2 + c**2)
        rest = 1 / (np.pi * (w[-1] + np.pi))  # of the mean alone: what lies beyond, to first order
        assert cumulants_of(1, c) == pytest.approx(
            (a.sum() + rest, (a**2).sum(), 2 * (a**3).sum()), rel=1e-9
        )


@pytest.mark.parametrize("b", [4, 5, 8, 19, 20, 30, 100, 1000])
def test_the_drawn_law_is_the_polya_gamma_law_to_4e_6(b):
    """Both laws have closed characteristic functions, so nothing is drawn. Worst: |c| just before a term is added."""
    for c in (0.0, 0.5, 1.0, 3.9, 7.9, 15.9, 30.0, 60.0):
        n_terms, (shift, shape, scale), (mean, variance, _) = what_is_drawn(b, c)
        a = 2 / (((2 * np.arange(n_terms) + 1) * np.pi) ** 2 + c * c)

        def drawn(s, shift=shift, shape=shape, scale=scale, a=a):
            return (
                1j * s * shift
                - shape * np.log(1 - 1j * s * scale)
                - b * np.log(1 - 1j * np.outer(s, a)).sum(axis=1)
            )

        deviation = np.sqrt(variance)
        at = mean + deviation * np.linspace(-6, 10, 161)
        error = distribution_less(
            at, deviation, b, drawn, lambda s, c=c: log_characteristic(s, b, c)
        )
        assert np.abs(error).max() < 3.4e-6, c


@pytest.mark.parametrize("b", [1, 2, 3, 4, 20])
@pytest.mark.parametrize("c", [0.0, 1.3, 6.0, 25.0])
def test_draws_follow_the_inverted_characteristic_function(b, c):
    drawn = np.sort(polya_gammas(np.full(N, b), c, key_of(b, c)))
    mean, variance, _ = cumulants_of(b, c)
    deviation = np.sqrt(variance)
    at = np.quantile(drawn, np.linspace(0.002, 0.998, 200))
    exact = distribution_less(at, deviation, b, None, lambda s: log_characteristic(s, b, c))
    empirical = np.searchsorted(drawn, at, side="right") / N
    assert np.abs(empirical - exact).max() * np.sqrt(N) < 2.0  # Kolmogorov: once in 1,500


@kernel
def proposed_below(z, key, drawn) -> None:
    for i in range(len(drawn)):
        _, drawn[i] = _inverse_gaussian_below(stream_of(key, i), z)


@pytest.mark.parametrize("z", [0.4, 0.999 / SPLIT, 1.001 / SPLIT, 4.0])
def test_the_proposal_below_t_is_a_truncated_inverse_gaussian(z):
    """By itself, as its thinning is a small part of a draw; just below and above where its method changes, |c| = 3.1."""
    drawn = np.empty(N)
    proposed_below(z, np.uint64(key_of(1, z)), drawn)
    at = np.linspace(0.02, SPLIT, 60)

    def below(x):
        """Of the inverse Gaussian law with mean 1 / z and shape 1."""
        root = np.sqrt(1 / x)
        return ndtr(root * (x * z - 1)) + np.exp(2 * z) * ndtr(-root * (x * z + 1))

    empirical = np.searchsorted(np.sort(drawn), at, side="right") / N
    # Kolmogorov: once in 1,500
    assert np.abs(empirical - below(at) / below(SPLIT)).max() * np.sqrt(N) < 2.0


@kernel
def accepted(y, x):
    return _series_accepts(y, x)


def test_the_series_accepts_below_the_density_over_its_first_term():
    """Thinning matters little for a distribution (it takes one in some hundreds), so it is looked at by itself."""
    n = np.arange(40)
    for x in (0.05, 0.3, 0.6, SPLIT, 0.65, 0.8, 2.0):
        logs = -0.5 * np.pi**2 * x * n * (n + 1) if x > SPLIT else -2.0 / x * n * (n + 1)
        share = ((-1.0) ** n * (2 * n + 1) * np.exp(logs)).sum()
        assert SURELY <= share <= 1.0
        assert accepted(share - 1e-9, x) and not accepted(share + 1e-9, x)


def test_the_table_of_shares_above_t_is_right_to_2e_9():
    z = np.linspace(0, TABLE_END, 50_001)[:-1]
    shares = tail_share(np.arange(-1, STEPS * TABLE_END + 3) / STEPS)
    f, i = np.modf(z * STEPS)
    i = i.astype(int)
    first, second, third, fourth = (shares[i + k] for k in range(4))
    interpolated = (f + 1) * (f - 2) / 2 * ((f - 1) * second - f * third)
    interpolated += f * (f - 1) / 6 * ((f + 1) * fourth - (f - 2) * first)
    assert np.abs(interpolated - tail_share(z)).max() < 2e-9
    assert tail_share(TABLE_END) < 1e-9


def test_no_count_gives_0_and_the_sign_of_c_does_not_matter():
    assert np.array_equal(polya_gammas([0, 0], [3.0, -1e300], 1), [0.0, 0.0])
    b, c = np.array([1, 3, 4, 30, 7]), np.array([0.4, 2.0, 17.0, 3.0, 0.0])
    assert np.array_equal(polya_gammas(b, c, 7), polya_gammas(b, -c, 7))


def test_an_entry_draws_the_same_whatever_stands_beside_it():
    b, c = np.array([1, 3, 4, 30, 7]), np.array([0.4, 2.0, 17.0, 3.0, 0.0])
    assert np.array_equal(polya_gammas(b, c, 7)[:3], polya_gammas(b[:3], c[:3], 7))
    assert len(set(polya_gammas(np.full(100, 4), 1.0, 7))) == 100


def test_the_largest_arguments_give_the_mean():
    assert polya_gammas([1, 5], [1e40, -1e200], 1) == pytest.approx([0.5e-40, 2.5e-200])
    assert polya_gammas([2, 5], np.inf, 1).tolist() == [0.0, 0.0]
    assert polya_gammas([1, 4], 1e29, 1) == pytest.approx([0.5e-29, 2e-29], rel=1e-6)


@pytest.mark.parametrize("b, c, what", [(1, np.nan, "c of"), (-1, 0.0, "b of"), (1.5, 0.0, "b of")])
def test_what_has_no_such_number_is_refused(b, c, what):
    with pytest.raises(InputError, match=what):
        polya_gammas(b, c, 1)
