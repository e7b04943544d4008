"""Expectations of functions of counts against exact ones, published values and the twin."""

import hdp_twins as twin
import numpy as np
import pytest
from engines.lda.starts import padded_rows
from scipy.special import gammaln, polygamma, psi
from toys import called, random_gamma, read_oracles, simulated

from workbench.kernels import count_moments
from workbench.kernels.count_moments import (
    NEARLY_NONE,
    count_documents,
    expected_log_beta,
    tables_of_documents,
    tables_of_words,
)
from workbench.kernels.simd import functions

digamma_tetragamma, log_gamma_trigamma = (
    called(functions.digamma_tetragamma),
    called(functions.log_gamma_trigamma),
)
given_positive, log_rising, tables = (
    called(part)
    for part in (count_moments.moments_if_positive, count_moments.log_rising, count_moments.tables)
)

# relative, spec 18; products lose digits where all probabilities are tiny
ORACLE, TINY_CASES = 1e-9, 1e-7
ROUNDING = 1e-10  # relative: sums over a few hundred cells, and 1 - P0


def moments_of(q, counts=None):
    """E, V and P0 of one count."""
    counts, found = (
        np.ones(len(q), int) if counts is None else np.array(counts),
        np.empty((3, 1, 16)),
    )
    count_documents(
        0, 1, np.array([0, len(q)]), counts, padded_rows(np.array(q)[:, None], float), 1, *found
    )
    return tuple(float(array[0, 0]) for array in found)


def exact_distribution(q):
    """(n,) probabilities of a sum of independent Bernoulli draws."""
    found = np.ones(1)
    for g in q:
        found = np.convolve(found, [1 - g, g])
    return found


@pytest.mark.parametrize("case", range(8))
def test_moments_and_expectations_are_the_printed_ones(case):
    printed = read_oracles("hdp")["poisson_binomial"][case]
    moments, a, b = moments_of(printed["q"]), printed["a"], printed["b"]
    tolerance = TINY_CASES if printed["E"] < 1e-4 else ORACLE
    assert moments[:2] == pytest.approx((printed["E"], printed["V"]), rel=ORACLE)
    if printed["E"]:
        assert given_positive(*moments)[:2] == pytest.approx(
            (printed["Pplus"], printed["Eplus"]), rel=tolerance
        )
        assert given_positive(*moments)[2] == pytest.approx(
            printed["Vplus"], rel=1e-4 if printed["E"] < 1e-4 else ORACLE
        )
    expected = printed["approx"]
    assert tables(*moments, a, psi(a + 1)) == pytest.approx(
        expected["E_s"], rel=tolerance, abs=1e-15
    )
    assert expected_log_beta(*moments, b) == pytest.approx(
        expected["E_logxi"], rel=tolerance, abs=1e-15
    )
    assert log_rising(*moments, a, np.log(a), gammaln(a + 1)) == pytest.approx(
        expected["F_lgam"], rel=tolerance, abs=1e-15
    )


@pytest.mark.parametrize("q", [[0.3, 0.2, 0.1], [0.9] * 6, [0.02] * 40, [1.0, 0.5]])
def test_moments_given_that_a_count_is_positive_are_exact(q):
    p = exact_distribution(q)
    n, positive = np.arange(1, len(p)), p[1:].sum()
    mean = n @ p[1:] / positive
    expected = positive, mean, (n - mean) ** 2 @ p[1:] / positive
    assert given_positive(*moments_of(q)) == pytest.approx(expected, rel=ROUNDING, abs=1e-14)


def test_moments_of_a_pair_with_a_count_are_those_of_as_many_pairs():
    assert moments_of([0.3, 0.6], [3, 2]) == pytest.approx(
        moments_of([0.3] * 3 + [0.6] * 2), rel=ROUNDING
    )


def test_p0_that_is_rounded_to_1_leaves_what_is_expected():
    """2^31 tokens of probability 5e-17: 1 - q is 1, and P0 too; P+ is 1 - exp(-E) to rounding."""
    mean = 2**31 * 5e-17
    assert given_positive(mean, mean, 1.0) == pytest.approx(
        (-np.expm1(-mean), 1.0, 0.0), rel=1e-9, abs=1e-6
    )
    assert np.isfinite(log_rising(mean, mean, 1.0, 0.3, np.log(0.3), gammaln(1.3)))


def test_a_count_that_is_hardly_ever_positive_is_0_or_1():
    for mean in (0.0, 1e-30, NEARLY_NONE / 2):
        assert given_positive(mean, mean, 1.0) == (mean, 1.0, 0.0)
        assert tables(mean, mean, 1.0, 0.3, psi(1.3)) == mean
        assert log_rising(mean, mean, 1.0, 0.3, np.log(0.3), gammaln(1.3)) == mean * np.log(0.3)


@pytest.mark.parametrize(("q", "a"), [([1 / 40] * 25, 0.05), ([1 / 400] * 5, 1e-3)])
def test_expectations_are_near_the_exact_ones_where_plain_expansions_fail(q, a):
    """Within two hundredths; the plain second order of the tables is 0.85 and -4.1, for 0.48 and 0.012."""
    p, n = exact_distribution(q), np.arange(len(q) + 1)
    moments = moments_of(q)
    exact = p @ (a * (psi(a + n) - psi(a)))
    assert tables(*moments, a, psi(a + 1)) == pytest.approx(exact, rel=0.02)
    assert log_rising(*moments, a, np.log(a), gammaln(a + 1)) == pytest.approx(
        p @ (gammaln(a + n) - gammaln(a)), rel=0.02
    )
    plain = a * (psi(a + moments[0]) - psi(a) + moments[1] / 2 * polygamma(2, a + moments[0]))
    assert abs(plain / exact - 1) > 0.5


@pytest.mark.parametrize("prior", [1e-100, 1e-8, 0.3, 40.0])
def test_tables_of_documents_and_of_words_meet_their_twin(prior):
    corpus, n_topics = simulated(), 5
    q = random_gamma(corpus, n_topics)
    q[::4, 2], q[:, 4] = 0.0, 1e-9  # a topic without some pairs, and one with hardly a token
    (documents, words, _), kept = twin.all_sums(corpus, q), padded_rows(q, float)
    a, b = prior * np.linspace(0.5, 1.5, n_topics), prior * np.linspace(0.5, 1.5, corpus.n_words)
    mean, variance, zero = (np.full((corpus.n_documents, 16), 7.0) for _ in range(3))
    count_documents(
        0, corpus.n_documents, corpus.indptr, corpus.counts, kept, n_topics, mean, variance, zero
    )
    for found, expected in zip(
        (mean, variance, zero), (*documents[:2], np.exp(documents[2])), strict=True
    ):
        np.testing.assert_allclose(found[:, :n_topics], expected, rtol=ROUNDING)
    tables_k, tables_w = (
        tables_of_documents(mean, variance, zero, a),
        tables_of_words(corpus, kept, b, n_topics),
    )
    if prior > 1e-50:  # the twin's plain difference of digammas needs that
        np.testing.assert_allclose(
            tables_k, twin.expected_tables(documents, a).sum(axis=0), rtol=1e-6
        )
        np.testing.assert_allclose(
            tables_w, twin.expected_tables(words, b[:, None]).sum(axis=1), rtol=1e-6
        )
    else:  # one table wherever there is a token
        np.testing.assert_allclose(tables_k, documents.positive()[0].sum(axis=0), rtol=ROUNDING)


def test_polygammas_are_right_to_rounding():
    """Shift by seven, series to the sixteenth power: below 1e-14, of the value or of 1."""
    for x in np.geomspace(1e-8, 1e7, 2001):
        digamma, tetragamma = digamma_tetragamma(x)
        log_gamma, trigamma = log_gamma_trigamma(x)
        assert digamma == pytest.approx(psi(x), rel=1e-14, abs=1e-14)
        assert tetragamma == pytest.approx(polygamma(2, x), rel=1e-14)
        assert log_gamma == pytest.approx(gammaln(x), rel=2e-14, abs=2e-14)
        assert trigamma == pytest.approx(polygamma(1, x), rel=1e-14)
