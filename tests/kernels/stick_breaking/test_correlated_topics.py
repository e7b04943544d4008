"""Gibbs sampling of correlated topics: sticks against quadrature; theta of unseen documents is in `test_logistic_normal.py`."""

import numpy as np
import pytest
from geweke import z_of
from toys import read_oracles

from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking.correlated_topics import (
    count_words_again,
    draw_sticks,
)
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.kernels.uniforms import absorb, draw_key

ORACLES = read_oracles("stick_breaking")


@kernel
def chain_of_sticks(counts, precision, weighted, n, key):
    """n sweeps of the sticks of one document whose topics stay as they are: (sweep, stick)."""
    sticks, kept = np.zeros((1, len(weighted))), np.empty((n, len(weighted)))
    for i in range(n):
        draw_sticks(
            0, 1, counts, precision, weighted, sticks, absorb(key, 2 * i), absorb(key, 2 * i + 1)
        )
        kept[i] = sticks[0]
    return kept


@pytest.mark.parametrize(
    "case", ORACLES["psi_posterior_K3"], ids=lambda case: "-".join(map(str, case["x"]))
)
def test_sticks_given_counts_are_those_of_quadrature(case):
    precision, counts = np.linalg.inv(case["Sigma"]), np.array([case["x"]], np.int32)
    chain = chain_of_sticks(
        counts,
        precision,
        precision @ np.array(case["mu"]),
        200_000,
        np.uint64(draw_key(4, 5, 6, 7)),
    )[500:]
    mean = np.array(case["mean"])
    assert z_of(chain, mean).max() < 4.5
    assert (
        z_of((chain - mean)[:, :, None] * (chain - mean)[:, None], np.array(case["cov"])).max()
        < 4.5
    )
    assert z_of(probabilities(chain), np.array(case["E_pi"])).max() < 4.5


def test_words_are_counted_again_as_tokens_have_topics():
    topics = np.array([1, 0, 2, 2, 1], np.uint16)
    n_wk = np.full((3, 16), 7, np.int32)
    count_words_again(
        0, 3, np.array([0, 2, 2, 3]), np.array([0, 3, 1]), np.array([1, 2, 2]), topics, n_wk
    )
    assert n_wk[:, :3].tolist() == [[0, 2, 1], [0, 0, 0], [1, 0, 1]] and not n_wk[:, 3:].any()
