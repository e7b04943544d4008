"""Divergences of all pairs of distributions are those that scipy finds for each pair."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from workbench.kernels.divergences import TOGETHER, jensen_shannon


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
