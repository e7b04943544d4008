"""Digamma, exp(digamma) and their kin, for rows of positive numbers.

exp(psi(x)) is what variational updates ask for. The argument is shifted up by six, where an asymptotic
series in 1/(x + 5.5) holds (spec A.11), and the six reciprocals of the shift share one division. The
exponential is a polynomial after range reduction, so that a whole row is computed in vector registers.
Relative error against 40-digit arithmetic: below 3e-10 for x in [0.01, 1e6]; below x = 0.0014 the true
value is under the smallest double and 0 comes out.

Where psi itself and its derivatives are summed over cells (the HDP), they come from a shift by seven and
longer series, to rounding error: `digamma_tetragamma` and `log_gamma_trigamma`.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from workbench.kernels.jit import kernel

SHIFT = 5.5
SERIES_1, SERIES_3 = 1 / 24, -37 / 5760
SERIES_5, SERIES_7 = 10313 / 2903040, -5509121 / 1393459200
HALF_LOG_TWO_PI = 0.91893853320467274178
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
SMALLEST_EXPONENT = -708.0


@intrinsic
def _double_of_bits(typing_context, bits):
    """The double whose bit pattern is the given int64."""

    def build(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), build


@kernel
def shift_sum(x):
    """1/x + 1/(x+1) + … + 1/(x+5), with one division."""
    t = x * (x + 5.0)
    return (2.0 * x + 5.0) * (3.0 * t * t + 20.0 * t + 24.0) / (t * (t + 4.0) * (t + 6.0))


@kernel
def shifted_exp_digamma(x):
    """exp(psi(x + 6)) by its asymptotic series."""
    y = x + SHIFT
    z = 1.0 / y
    z2 = z * z
    return y + z * (SERIES_1 + z2 * (SERIES_3 + z2 * (SERIES_5 + z2 * SERIES_7)))


@kernel
def fast_exp(x):
    """exp(x) for x < 700 to 2e-16 relative, 0 below -708; branch-free."""
    inside = max(x, SMALLEST_EXPONENT)
    n = math.floor(inside * LOG2_E + 0.5)
    r = (inside - n * LN2_HIGH) - n * LN2_LOW
    p = 1.0 / 479001600 + r * (1.0 / 6227020800)
    p = 1.0 / 39916800 + r * p
    p = 1.0 / 3628800 + r * p
    p = 1.0 / 362880 + r * p
    p = 1.0 / 40320 + r * p
    p = 1.0 / 5040 + r * p
    p = 1.0 / 720 + r * p
    p = 1.0 / 120 + r * p
    p = 1.0 / 24 + r * p
    p = 1.0 / 6 + r * p
    p = 0.5 + r * p
    p = 1.0 + r * (1.0 + r * p)
    scale = _double_of_bits((np.int64(n) + np.int64(1023)) << np.int64(52))
    return p * scale if x > SMALLEST_EXPONENT else 0.0


@kernel
def exp_digamma(x, log_factor=0.0):
    """exp(psi(x) + log_factor) for x > 0; the factor goes inside, where psi alone would underflow."""
    return shifted_exp_digamma(x) * fast_exp(log_factor - shift_sum(x))


@kernel
def exp_digamma_ratio(x, y, z):
    """exp(psi(x) + psi(y) - psi(z)) for positive arguments, with one exponential."""
    scale = shifted_exp_digamma(x) * shifted_exp_digamma(y) / shifted_exp_digamma(z)
    return scale * fast_exp(min(shift_sum(z) - (shift_sum(x) + shift_sum(y)), 700.0))


@kernel
def normalise_logs(n_topics, gamma):
    """gamma from its logs, in place, so that it sums to 1; returns the log of what it was divided by."""
    largest = -np.inf
    for k in range(n_topics):
        largest = max(largest, gamma[k])
    total = 0.0
    for k in range(n_topics):
        gamma[k] = fast_exp(gamma[k] - largest)
        total += gamma[k]
    for k in range(n_topics):
        gamma[k] /= total
    return largest + math.log(total)


@kernel
def digamma(x):
    """psi(x) for x > 0, to about 1e-10 absolute."""
    return math.log(shifted_exp_digamma(x)) - shift_sum(x)


@kernel
def digamma_tetragamma(x):
    """psi(x) and psi''(x) for x > 0, to 1e-14 and 1e-11 relative; Abramowitz & Stegun 6.3.5, 6.3.18, 6.4.6, 6.4.14."""
    first, third = 0.0, 0.0
    for j in range(7):
        r = 1.0 / (x + j)
        first += r
        third += r * r * r
    y = x + 7.0
    z = 1.0 / y
    s = z * z
    psi = s * (1 / 132 - s * (691 / 32760 - s * (1 / 12)))
    psi = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - psi))))
    tetra = s * (3 / 10 - s * (5 / 6 - s * (691 / 210 - s * (35 / 2))))
    tetra = s * (1.0 + z + s * (1 / 2 - s * (1 / 6 - s * (1 / 6 - tetra))))
    return math.log(y) - 0.5 * z - psi - first, -tetra - 2.0 * third


@kernel
def log_gamma_trigamma(x):
    """log Gamma(x) and psi'(x) for x > 0, to rounding error; Abramowitz & Stegun 6.1.15, 6.1.40, 6.4.6, 6.4.12."""
    product, second = 1.0, 0.0
    for j in range(7):
        r = x + j
        product *= r
        second += 1.0 / (r * r)
    y = x + 7.0
    z = 1.0 / y
    s = z * z
    log_gamma = s * (1 / 1188 - s * (691 / 360360 - s * (1 / 156)))
    log_gamma = z * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - log_gamma))))
    tri = s * (5 / 66 - s * (691 / 2730 - s * (7 / 6)))
    tri = z * (1.0 + 0.5 * z + s * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - tri)))))
    return (y - 0.5) * math.log(y) - y + HALF_LOG_TWO_PI + log_gamma - math.log(product), tri + second
