"""Rows drawn from Dirichlet posteriors, their moments and what they depend on; divergences of pairs of rows."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from workbench.kernels.divergences import TOGETHER, jensen_shannon
from workbench.kernels.uniforms import draw_dirichlets, draw_key, draw_log_dirichlets

KEY = np.uint64(draw_key(1, 2, 3, 4))
PRIOR, COUNTS = np.array([0.3, 1.0, 2.5]), np.array([4, 0, 1], np.int32)


def test_rows_have_the_moments_of_their_posterior():
    n = 200_000
    rows = draw_dirichlets(np.tile(COUNTS, (n, 1)), PRIOR, KEY)
    wanted = stats.dirichlet(PRIOR + COUNTS)
    assert rows.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-14)
    z = (rows.mean(axis=0) - wanted.mean()) / np.sqrt(wanted.var() / n)
    assert np.abs(z).max() < 4.5
    # standard error 0.5 %: kurtosis below 6
    assert rows.var(axis=0) == pytest.approx(wanted.var(), rel=0.03)
    marginal = stats.beta(PRIOR[1], PRIOR[0] + PRIOR[2] + 5)  # of the column without a count
    assert stats.kstest(rows[:20_000, 1], marginal.cdf).pvalue > 1e-4


def test_a_row_does_not_depend_on_those_after_it():
    table = np.arange(30, dtype=np.int32).reshape(10, 3)
    assert np.array_equal(
        draw_dirichlets(table, PRIOR, KEY)[:4], draw_dirichlets(table[:4], PRIOR, KEY)
    )


def test_a_tiny_prior_without_counts_gives_probabilities():
    """Gamma numbers of shape 1e-4 are 0 in floating point; their logarithms are not."""
    rows = draw_dirichlets(np.zeros((500, 4), np.int32), np.full(4, 1e-4), KEY)
    assert np.isfinite(rows).all() and rows.sum(axis=1) == pytest.approx(np.ones(500), abs=1e-14)
    # one topic each, not the same one
    assert abs(rows.max(axis=1).mean() - 1) < 1e-3 and rows.argmax(axis=1).std() > 1


def test_logarithms_of_rows_are_those_of_the_same_rows_and_finite():
    rows = draw_dirichlets(np.tile(COUNTS, (50, 1)), np.full(3, 0.3), KEY)
    # rounding
    assert draw_log_dirichlets(np.tile(COUNTS, (50, 1)), 0.3, KEY) == pytest.approx(
        np.log(rows), abs=1e-13
    )
    tiny = draw_log_dirichlets(np.zeros((500, 4), np.int32), 1e-4, KEY)
    assert np.isfinite(tiny).all() and tiny.min() < -1000  # which no float is the exponential of
    assert np.logaddexp.reduce(tiny, axis=1) == pytest.approx(np.zeros(500), abs=1e-12)


# ---------------------------------------------------------------------- divergences


@pytest.mark.parametrize("n_words", [1, 2, 15, 16, 17, TOGETHER, TOGETHER + 1, 1300])
@pytest.mark.parametrize("n_rows", [1, 2, 7])
def test_divergences_are_those_of_scipy(n_rows, n_words):
    phi = np.random.default_rng(n_words).dirichlet(np.full(n_words, 0.05), n_rows)
    phi[0, : n_words // 2] = 0.0
    phi /= phi.sum(axis=1, keepdims=True)
    slow = [
        [jensenshannon(one, other) ** 2 if one is not other else 0.0 for other in phi]
        for one in phi
    ]
    np.testing.assert_allclose(jensen_shannon(phi), slow, atol=2e-15)


def test_disjoint_rows_are_a_bit_apart_and_equal_ones_nothing():
    found = jensen_shannon(np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 1.0, 0]]))
    np.testing.assert_allclose(
        found, np.log(2) * np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), atol=1e-15
    )
    assert (found == found.T).all() and (found >= 0).all()
