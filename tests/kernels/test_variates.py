"""Exponential, normal and gamma numbers from streams: their distributions, and that a stream is its own."""

import numpy as np
import pytest
from scipy import stats

from workbench.kernels.jit import kernel
from workbench.kernels.uniforms import draw_key
from workbench.kernels.variates import exponential, gamma, normal, stream_of

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
