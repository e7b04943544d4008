"""Uniforms, and exponential, normal and gamma numbers from streams: their distributions, and that a stream is its own."""

import itertools

import numpy as np
import pytest
from scipy import stats

from workbench.kernels.jit import kernel
from workbench.kernels.uniforms import (
    GIBBS,
    RESPONSIBILITIES,
    TOPICS,
    draw_key,
    exponential,
    gamma,
    normal,
    stream_of,
    uniform,
)

N = 400_000


@kernel
def draw_one_each(which, shape, key, drawn):
    for i in range(len(drawn)):
        stream = stream_of(key, i)
        if which == 0:
            stream, drawn[i] = exponential(stream)
        elif which == 1:
            stream, drawn[i] = normal(stream)
        else:
            stream, drawn[i] = gamma(stream, shape)


@kernel
def draw_along(which, key, drawn):
    stream = stream_of(key, 0)
    for i in range(len(drawn)):
        if which == 0:
            stream, drawn[i] = exponential(stream)
        else:
            stream, drawn[i] = normal(stream)


def drawn_by(function, *arguments, n=N):
    drawn = np.empty(n)
    function(*arguments, np.uint64(draw_key(0, 1, 2, 3)), drawn)
    return drawn


@pytest.mark.parametrize("across", [True, False], ids=["one of each stream", "along one stream"])
@pytest.mark.parametrize(
    "which, law", [(0, stats.expon()), (1, stats.norm())], ids=["exponential", "normal"]
)
def test_the_ziggurats_have_their_distribution(which, law, across):
    drawn = drawn_by(draw_one_each, which, 1.0) if across else drawn_by(draw_along, which)
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-3
    for edge in (0.05, 1.0, 3.0, 3.7, 4.2):  # below and beyond the edge of the last layer
        share = law.sf(edge)
        assert abs((drawn > edge).mean() - share) < 4.5 * np.sqrt(share * (1 - share) / N)
    for lag in (1, 2):
        assert abs(np.corrcoef(drawn[:-lag], drawn[lag:])[0, 1]) < 4.5 / np.sqrt(N)


def test_the_tail_of_the_exponential_goes_on_beyond_its_layers():
    beyond = drawn_by(draw_along, 0, n=20 * N)
    beyond = beyond[beyond > 7.69711747013104972] - 7.69711747013104972
    assert len(beyond) > 3000 and stats.kstest(beyond, stats.expon().cdf).pvalue > 1e-3


@pytest.mark.parametrize("shape", [0.05, 0.5, 1.0, 3.5, 200.0, 1e6])
def test_gammas_have_their_distribution(shape):
    assert stats.kstest(drawn_by(draw_one_each, 2, shape), stats.gamma(shape).cdf).pvalue > 1e-3


def test_an_index_draws_the_same_whatever_is_drawn_before_it():
    drawn, key = np.empty(10), np.uint64(draw_key(0, 1, 2, 3))
    draw_one_each(1, 1.0, key, drawn)
    again = np.empty(4)
    draw_one_each(1, 1.0, key, again)
    assert np.array_equal(drawn[:4], again) and len(set(drawn)) == 10


# ---------------------------------------------------------------------- uniforms


def key_of(*parts):
    return np.uint64(draw_key(*parts))


def splitmix64(seed):
    """The published generator, in whole numbers of Python."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) % 2**64
        bits = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) % 2**64
        yield bits ^ (bits >> 31)


def test_the_plain_generator_gives_its_published_numbers():
    assert list(itertools.islice(splitmix64(1234567), 3)) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_indices_run_through_the_published_generator():
    for key in (0, 1234567, 2**64 - 1):
        expected = [bits // 2**11 / 2**53 for bits in itertools.islice(splitmix64(key), 100)]
        assert [uniform(np.uint64(key), index) for index in range(100)] == expected


def test_every_part_of_a_key_matters():
    """1296 keys, all different: seeds, streams, chains and steps do not stand for one another."""
    parts = list(itertools.product(range(6), range(6), range(6), range(6)))
    assert len({int(key_of(*part)) for part in parts}) == len(parts)


def test_large_seeds_are_told_apart():
    seeds = (0, 1, 2**31, 2**32, 2**63 - 1)
    assert len({int(key_of(seed, GIBBS, 0, 1)) for seed in seeds}) == len(seeds)


def test_streams_have_numbers_of_their_own():
    assert len({RESPONSIBILITIES, TOPICS, GIBBS}) == 3


def test_uniforms_are_uniform_within_a_step_and_across_steps():
    """chi2 of 100 bins, 99 degrees of freedom: mean 99, standard deviation 14; 4 deviations above is 155."""
    n = 20_000
    within = [uniform(key_of(7, GIBBS, 0, 3), index) for index in range(n)]
    across = [uniform(key_of(7, GIBBS, 0, step), 5) for step in range(n)]
    for sample in (within, across):
        assert min(sample) >= 0.0
        assert max(sample) < 1.0
        filled = np.histogram(sample, 100, (0, 1))[0]
        assert np.sum((filled - n / 100) ** 2 / (n / 100)) < 155


def test_neighbours_are_uncorrelated():
    """Correlations of 20,000 independent pairs have a standard deviation of 0.0071; the bound is four of them."""
    table = np.array(
        [[uniform(key_of(s, GIBBS, 0, 1), index) for index in range(201)] for s in range(100)]
    )
    next_index = np.corrcoef(table[:, :-1].ravel(), table[:, 1:].ravel())[0, 1]
    next_seed = np.corrcoef(table[:-1].ravel(), table[1:].ravel())[0, 1]
    assert abs(next_index) < 0.029
    assert abs(next_seed) < 0.029
