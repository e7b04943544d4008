"""Logarithms and log-gammas of sixteen numbers at a time, to rounding error.

    lnG(x) = (y - 1/2) ln y - y + ln(2 pi) / 2 + 1/(12 y) - 1/(360 y^3) + … - ln( x (x + 1) … (x + 7) ),   y = x + 8

Unlike those of the C library they are vectors of plain arithmetic, and so have the same bits on every machine.
Abramowitz & Stegun 6.1.15, 6.1.40; the logarithm is `special.fast_log`.
"""

import math

import numpy as np

from workbench.kernels.jit import inlined
from workbench.kernels.simd.special import HALF_LOG_TWO_PI, fast_log
from workbench.kernels.simd.vectors import choose, spread

SMALLEST, LARGEST = float(np.finfo(np.float64).smallest_normal), float(np.finfo(np.float64).max)


@inlined
def logs(x):
    """log x for x < 1e300, as probabilities are; -inf below the smallest normal number, NaN and inf as they are."""
    return choose(x < SMALLEST, spread(-math.inf), choose(x <= LARGEST, fast_log(x), x))


@inlined
def log_gammas(x):
    """lnG(x) for 0 < x < 1e37, to 5e-14 absolute below 10 and 2e-15 relative above."""
    t = x * (x + 7.0)
    product = t * (t + 6.0) * ((t + 10.0) * (t + 12.0))
    y = x + 8.0
    z = 1.0 / y
    s = z * z
    series = z * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * (691 / 360360))))))
    return ((y - 0.5) * fast_log(y) - y) - fast_log(product) + (series + HALF_LOG_TWO_PI)
