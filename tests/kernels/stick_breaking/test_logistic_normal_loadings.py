"""Loadings of the logistic-normal system by elliptical slice sampling."""

import numpy as np
from geweke import key_of, z_of
from scipy.special import log_softmax, logsumexp

from workbench.kernels.jit import kernel
from workbench.kernels.stick_breaking.logistic_normal import (
    draw_loadings,
    largest_psi,
    sums_after,
)
from workbench.kernels.uniforms import absorb

VARIANCE = 0.6


@kernel
def sweep(loadings, offset, states, counts, variance, n_parts, key):
    """One draw of all rows of C, in so many parts, from states (time, state_dim) and counts (time, word)."""
    n_times, n_dims = states.shape
    n_words, lanes = len(offset), (n_times + 15) // 16 * 16
    by_dim, n_tokens, weighted = (
        np.zeros((n_dims, lanes)),
        np.zeros(lanes),
        np.zeros((n_words, n_dims)),
    )
    for t in range(n_times):
        by_dim[:, t] = states[t]
        for k in range(n_words):
            n_tokens[t] += counts[t, k]
            for j in range(n_dims):
                weighted[k, j] += counts[t, k] * states[t, j]
    top, before, after = np.empty(lanes), np.zeros(lanes), np.empty((n_words + 1, lanes))
    largest_psi(loadings, offset, by_dim, top)
    sums_after(loadings, offset, by_dim, top, after)
    for part in range(n_parts):
        first, last = n_words * part // n_parts, n_words * (part + 1) // n_parts
        draw_loadings(
            first,
            last,
            loadings,
            offset,
            by_dim,
            n_tokens,
            weighted,
            variance,
            top,
            before,
            after,
            key,
        )


@kernel
def many_sweeps(n, loadings, offset, states, counts, variance, key):
    """(sweep, word, state_dim)"""
    kept = np.empty((n, *loadings.shape))
    for i in range(n):
        sweep(loadings, offset, states, counts, variance, 2, absorb(key, i))
        kept[i] = loadings
    return kept


def test_loadings_given_states_have_the_law_of_quadrature():
    """Two words, one number in a state: (c_1, c_2) on a grid."""
    states, counts, offset = (
        np.array([[0.8], [-1.5], [0.3]]),
        np.array([[4, 1], [0, 3], [0, 0]]),
        np.array([0.5, -0.2]),
    )
    kept = many_sweeps(40_000, np.zeros((2, 1)), offset, states, counts, VARIANCE, key_of(1))[
        :, :, 0
    ]
    axis = np.linspace(-6, 6, 401)
    one, two = np.ix_(axis, axis)
    logs = -0.5 * (one**2 + two**2) / VARIANCE
    for z, x in zip(states[:, 0], counts, strict=True):
        psi = np.stack(np.broadcast_arrays(one * z + offset[0], two * z + offset[1]), axis=-1)
        logs = logs + log_softmax(psi, axis=-1) @ x
    mass = np.exp(logs - logsumexp(logs))
    for powers in [(1, 0), (0, 1), (2, 0), (0, 2), (1, 1)]:
        wanted = np.einsum("ij,i,j", mass, *(axis**power for power in powers))
        assert z_of(np.prod(kept**powers, axis=1), wanted) < 4.5, powers


def test_loadings_of_words_are_the_same_in_whatever_slices_they_are_drawn():
    random = np.random.default_rng(0)
    states, counts, offset = (
        random.normal(size=(40, 3)),
        random.integers(0, 2, (40, 9)),
        random.normal(size=9),
    )
    whole, parts = (random.normal(size=(9, 3)) * 0 + 0.1 for _ in range(2))
    sweep(whole, offset, states, counts, VARIANCE, 1, key_of(5))
    sweep(parts, offset, states, counts, VARIANCE, 4, key_of(5))
    assert np.array_equal(whole, parts) and not (whole == 0.1).any()


def test_rows_of_words_in_no_document_are_drawn_where_others_are_certain():
    """psi of hundreds: sums of exponentials between 0 and their largest term."""
    states, counts = np.full((20, 1), 30.0), np.zeros((20, 4), np.int64)
    counts[:, 0] = 3
    loadings = np.array([[20.0], [-20.0], [0.0], [1.0]])
    for i in range(50):
        sweep(loadings, np.zeros(4), states, counts, 400.0, 1, key_of(i))
        # the word of all tokens is the first
        assert np.isfinite(loadings).all() and (loadings[0] > loadings[1:, 0]).all()
