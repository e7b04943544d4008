"""Draws from the Polya-gamma distribution PG(b, c), integer b >= 0: sum_j a_j Gamma(b, 1), a_j = 2 / ((2j + 1)^2 pi^2 + c^2).

b <= 3: a sum of PG(1, c), each exact. Polson, Scott & Windle (2013), section 4, after Devroye (2009): an exponential above t or
an inverse Gaussian below it, thinned by an alternating series. Its terms are ratios to the first one, and the bound by the
second holds for every abscissa, so that nearly all draws are accepted without an exponential.

b >= 4: the J largest terms of the sum are drawn, J = (2 below b = 20, then 1) + floor(|c| / 4), at most 65; what remains is
a gamma that is shifted and scaled to have its mean, variance and third cumulant. The largest error of the distribution
function is 3.4e-6 for 4 <= b <= 1000 and |c| <= 60, by inversion of the characteristic functions
(tests/kernels/test_polya_gamma.py). It is never a normal.
"""

import math

import numpy as np
from scipy.special import comb, log_ndtr, zeta

from workbench.errors import InputError
from workbench.kernels.jit import aside, kernel
from workbench.kernels.uniforms import exponential, gamma_above, next_uniform, normal, stream_of

SPLIT = 0.64
"""t, which splits the proposal for 4 PG(1, c) into a left and a right part."""
SURELY = 1.0 - 3.0 * math.exp(-4.0 / SPLIT)
"""A uniform below this is accepted for any abscissa, since the second term of the series is at most 1 - SURELY of the first."""
EXACT_UP_TO = 3
"""The largest b for which PG(b, c) is drawn as a sum of exact PG(1, c)."""
MOST_TERMS = 65
LARGEST = 1e30
"""From this |c| on the draw is the mean, as the standard deviation is below the rounding error of the mean."""

STEPS, TABLE_END = 64, 10
"""Entries per unit of |c| / 2 in the table `TAIL_SHARES`, and its last |c| / 2; beyond it the share above t is below 1e-9."""


def tail_share(z):
    """Return the probability that the proposal for 4 PG(1, 2z) exceeds t = `SPLIT` (Polson, Scott & Windle)."""
    z = np.asarray(z, dtype=float)
    rate = np.pi**2 / 8 + z * z / 2
    log_below = np.logaddexp(
        log_ndtr((SPLIT * z - 1) / SPLIT**0.5) - z, log_ndtr(-(SPLIT * z + 1) / SPLIT**0.5) + z
    )
    return 1.0 / (1.0 + np.exp(math.log(4.0 / np.pi) + np.log(rate) + rate * SPLIT + log_below))


TAIL_SHARES = tail_share(np.arange(-1, STEPS * TABLE_END + 3) / STEPS)
"""Table of `tail_share` from one step below 0 on, so that cubic interpolation has a neighbour on both sides."""


N_SERIES = 15
"""Number of terms of the power series of the cumulants, used for |c| < 1: the relative error is below 1e-14."""


def _cumulant_series(n):
    """Return the coefficients (term,) of powers (c^2)^i in the n-th cumulant of PG(1, c), for tilt c."""
    i = np.arange(N_SERIES)
    sums = (1.0 - 4.0 ** -(n + i)) * zeta(2 * (n + i)) / np.pi ** (2.0 * (n + i))
    return math.factorial(n - 1) * 2.0**n * (-1.0) ** i * comb(n + i - 1, i) * sums


SERIES = np.stack([_cumulant_series(n) for n in (1, 2, 3)])
"""Coefficients (cumulant, term) of the first three cumulants."""


@aside
def cumulants(b, c):
    """Return (mean, variance, third cumulant) of PG(b, c), for c >= 0."""
    if c < 1.0:
        square, mean, variance, third = c * c, 0.0, 0.0, 0.0
        for i in range(N_SERIES - 1, -1, -1):
            mean = mean * square + SERIES[0, i]
            variance = variance * square + SERIES[1, i]
            third = third * square + SERIES[2, i]
        return b * mean, b * variance, b * third
    u, e = 0.5 * c, math.exp(-c)
    t, s = (1.0 - e) / (1.0 + e), 4.0 * e / (1.0 + e) ** 2
    mean = t / (4.0 * u)
    variance = (t - u * s) / (16.0 * u * u * u)
    third = (3.0 * t - 3.0 * u * s - 2.0 * u * u * s * t) / (64.0 * u * u * u * u * u)
    return b * mean, b * variance, b * third


@aside
def remainder(b, c, n_terms):
    """Return (shift, shape, scale) of a shifted gamma with the moments of PG(b, c)'s gamma series after n_terms terms."""
    mean, variance, third = cumulants(b, c)
    square = c * c
    for j in range(n_terms):
        a = 2.0 / (((2 * j + 1) * math.pi) ** 2 + square)
        mean -= b * a
        variance -= b * a * a
        third -= 2.0 * b * a * a * a
    scale = 0.5 * third / variance
    shape = variance / (scale * scale)
    return mean - shape * scale, shape, scale


@aside
def terms_drawn(b, c):
    """Return how many terms of the gamma series of PG(b, c) are drawn one by one; one gamma stands for the rest; c >= 0."""
    return min((2 if b < 20 else 1) + np.int64(0.25 * min(c, 4.0 * MOST_TERMS)), MOST_TERMS)


@aside
def _sum_of_gammas(stream: np.uint64, b, c):
    """Return (the advanced stream, a draw of PG(b, c)), b >= 4, c >= 0, by the largest terms and one gamma for the rest."""
    n_terms = terms_drawn(b, c)
    shift, shape, scale = remainder(b, c, n_terms)
    d = shape - 1.0 / 3.0
    stream, draw = gamma_above(stream, d, 1.0 / math.sqrt(9.0 * d))
    draw = shift + scale * draw
    d = b - 1.0 / 3.0
    step, square = 1.0 / math.sqrt(9.0 * d), c * c
    for j in range(n_terms):
        stream, term = gamma_above(stream, d, step)
        draw += term * (2.0 / (((2 * j + 1) * math.pi) ** 2 + square))
    return stream, draw


@aside
def _inverse_gaussian_below(stream: np.uint64, z):
    """Return (the advanced stream, a draw of InverseGaussian(mean 1 / z, shape 1) truncated to values below t)."""
    if z < 1.0 / SPLIT:
        while True:
            stream, first = exponential(stream)
            stream, second = exponential(stream)
            if first * first <= second * (2.0 / SPLIT):
                root = 1.0 + SPLIT * first
                x = SPLIT / (root * root)
                stream, third = exponential(stream)
                if third >= 0.5 * z * z * x:
                    return stream, x
    mean = 1.0 / z
    while True:
        stream, y = normal(stream)
        y *= y * mean
        x = mean * (1.0 + 0.5 * (y - math.sqrt(y * (4.0 + y))))
        stream, u = next_uniform(stream)
        if u * (mean + x) > mean:
            x = mean * mean / x
        if x <= SPLIT:
            return stream, x


@aside
def _series_accepts(y, x):
    """Return whether y < density(x) / first term of the density's series: the acceptance step for uniform y.

    The partial sums of the series are alternately above and below that ratio.
    """
    ratio_of = -0.5 * math.pi**2 * x if x > SPLIT else -2.0 / x
    total, n = 1.0, 0
    while True:
        n += 1
        term = (2 * n + 1) * math.exp(n * (n + 1) * ratio_of)
        if n % 2:
            total -= term
            if y <= total:
                return True
        else:
            total += term
            if y > total:
                return False


@aside
def _sum_of_exact(stream: np.uint64, b, c):
    """Return (the advanced stream, an exact draw of PG(b, c)) for small b >= 1 and c >= 0."""
    z = 0.5 * c
    rate, tail = math.pi**2 / 8.0 + 0.5 * z * z, 0.0
    ranges = z * STEPS
    if ranges < STEPS * TABLE_END:
        i = np.int64(ranges)
        f = ranges - i
        first, second, third, fourth = (
            TAIL_SHARES[i],
            TAIL_SHARES[i + 1],
            TAIL_SHARES[i + 2],
            TAIL_SHARES[i + 3],
        )
        product = (f + 1.0) * (f - 2.0) * 0.5
        inner = f * (f - 1.0) / 6.0
        tail = ((f - 1.0) * second - f * third) * product + (
            (f + 1.0) * fourth - (f - 2.0) * first
        ) * inner
    draw = 0.0
    for _ in range(b):
        while True:
            stream, u = next_uniform(stream)
            if u < tail:
                stream, x = exponential(stream)
                x = SPLIT + x / rate
            else:
                stream, x = _inverse_gaussian_below(stream, z)
            stream, y = next_uniform(stream)
            if y <= SURELY or _series_accepts(y, x):
                break
        draw += x
    return stream, 0.25 * draw


@aside
def polya_gamma(stream: np.uint64, b, c):
    """Return (the advanced stream, a draw of PG(b, c)) for integer b >= 0 and any c.

    PG(0, c) is 0; for c = NaN the draw is NaN.
    """
    c = abs(c)
    if b == 0:
        return stream, 0.0
    if not c < LARGEST:
        return stream, 0.5 * b / c
    if b <= EXACT_UP_TO:
        return _sum_of_exact(stream, b, c)
    return _sum_of_gammas(stream, b, c)


@kernel
def _draw_each(b, c, key: np.uint64, draws) -> None:
    for i in range(len(b)):
        _, draws[i] = polya_gamma(stream_of(key, i), b[i], c[i])


def polya_gammas(b, c, key: int) -> np.ndarray:
    """Return draws of PG(b, c), one per element of the broadcast arrays b and c.

    Each draw has its own stream under the key (`uniforms.draw_key`). Raises InputError if a b is not an integer of at least 0,
    or a c is NaN.
    """
    b, c = np.broadcast_arrays(b, np.asarray(c, dtype=float))
    integers = b.astype(np.int64)
    if (integers != b).any() or (integers < 0).any():
        raise InputError(
            "b of a Polya-gamma number must be a whole number of at least 0", field="b", value=b
        )
    if np.isnan(c).any():
        raise InputError("c of a Polya-gamma number must be a number; got NaN", field="c", value=c)
    draws = np.empty(b.size)
    _draw_each(integers.ravel(), c.ravel(), np.uint64(key), draws)
    return draws.reshape(b.shape)
