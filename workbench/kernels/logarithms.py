"""Logarithms and log-gammas of sixteen numbers at a time, to rounding error.

    log(f 2^n) = n ln 2 + f' - s (f' - R) …     with f' = f - 1, s = f' / (2 + f'), a polynomial R of s^2
    lnG(x)     = (y - 1/2) ln y - y + ln(2 pi) / 2 + 1/(12 y) - 1/(360 y^3) + … - ln( x (x + 1) … (x + 7) ),   y = x + 8

Unlike those of the C library they are vectors of plain arithmetic, and so have the same bits on every machine.
The polynomial is that of Sun's C library (fdlibm, e_log.c); Abramowitz & Stegun 6.1.15, 6.1.40.
"""

import math

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from workbench.kernels.lanes import LANES
from workbench.kernels.special import HALF_LOG_TWO_PI, LN2_HIGH, LN2_LOW
from workbench.kernels.vectors import INT64, choose, inlined, spread

SMALLEST, LARGEST = float(np.finfo(np.float64).smallest_normal), float(np.finfo(np.float64).max)
L1, L2, L3, L4 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01
L5, L6, L7 = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01

FROM_ROOT_TO_ONE = 0x3FF0000000000000 - 0x3FE6A09E667F3BCD
"""From the bits of the square root of 1/2 to those of 1."""


def _constant(bits: int) -> ir.Constant:
    return ir.Constant(ir.VectorType(INT64, LANES), [bits] * LANES)


def _bits_of_powers(builder, values):
    """The bits of float64 numbers, and of the powers of two, times 2^-1023, that `exponent` speaks of."""
    bits = builder.bitcast(values, ir.VectorType(INT64, LANES))
    return bits, builder.and_(builder.add(bits, _constant(FROM_ROOT_TO_ONE)), _constant(0x7FF << 52))


@intrinsic
def exponent(typing_context, x):
    """n, as float64, such that the positive normal x is f 2^n with f in [sqrt(1/2), sqrt(2))."""

    def build(context, builder, sig, arguments):
        _, powers = _bits_of_powers(builder, *arguments)
        raised = builder.or_(builder.lshr(powers, _constant(52)), _constant(0x433 << 52))  # the bits of 2^52 + n + 1023
        return builder.fsub(builder.bitcast(raised, x.llvm), ir.Constant(x.llvm, [2.0**52 + 1023] * LANES))

    return x(x), build


@intrinsic
def fraction(typing_context, x):
    """That f."""

    def build(context, builder, sig, arguments):
        bits, powers = _bits_of_powers(builder, *arguments)
        return builder.bitcast(builder.add(builder.sub(bits, powers), _constant(1023 << 52)), x.llvm)

    return x(x), build


@inlined
def normal_logs(x):
    """log x of positive normal numbers to 2e-16 relative."""
    n, f = exponent(x), fraction(x) - 1.0
    s = f / (f + 2.0)
    z = s * s
    w = z * z
    even = w * (L2 + w * (L4 + w * L6))
    odd = z * (L1 + w * (L3 + w * (L5 + w * L7)))
    half = 0.5 * f * f
    return n * LN2_HIGH - ((half - (s * (half + (odd + even)) + n * LN2_LOW)) - f)


@inlined
def logs(x):
    """log x to 2e-16 relative; -inf below the smallest normal number, NaN and inf as they are."""
    return choose(x < SMALLEST, spread(-math.inf), choose(x <= LARGEST, normal_logs(x), x))


@inlined
def log_gammas(x):
    """lnG(x) for x > 0, to 2e-14 absolute below 10 and 1e-15 relative above."""
    t = x * (x + 7.0)
    product = t * (t + 6.0) * ((t + 10.0) * (t + 12.0))
    y = x + 8.0
    z = 1.0 / y
    s = z * z
    series = z * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * (691 / 360360))))))
    return ((y - 0.5) * normal_logs(y) - y) - normal_logs(product) + (series + HALF_LOG_TWO_PI)
