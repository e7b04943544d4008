"""Powers of two, made and found in the exponent bits of float64: numbers, or vectors of `kernels.simd.vectors`."""

from llvmlite import ir
from numba.extending import intrinsic

from workbench.kernels.simd.vectors import INT64, Vector

SHIFTER = 1.5 * 2.0**52
"""Added to a number it leaves the nearest whole one in the low bits."""
SQRT_HALF_BITS, TWO_TO_52_BITS = 0x3FE6A09E667F3BCD, (1023 + 52) << 52
"""The bits of sqrt(1/2), and of 2^52, in whose low bits a whole number stands."""


def _bits_of(number):
    """The type that holds the bits of a float64, or of a vector of them, and what makes its constants."""
    if not isinstance(number, Vector):
        return INT64, INT64
    kind = ir.VectorType(INT64, number.lanes)
    return kind, lambda bits: ir.Constant(kind, [bits] * number.lanes)


@intrinsic
def power_of_two(typing_context, raised):
    """2^n of `raised`, a whole number n plus `SHIFTER`: the low bits of that sum are n; number or vector of float64."""

    def build(context, builder, sig, arguments):
        value = arguments[0]
        kind, constant = _bits_of(raised)
        bits = builder.shl(builder.bitcast(value, kind), constant(52))
        return builder.bitcast(builder.add(bits, constant(1023 << 52)), value.type)

    return raised(raised), build


@intrinsic
def exponent(typing_context, positive):
    """The whole number n, as float64, for which positive / 2^n lies in [sqrt(1/2), sqrt(2)); number or vector of float64."""

    def build(context, builder, sig, arguments):
        value = arguments[0]
        kind, constant = _bits_of(positive)
        bits = builder.add(builder.bitcast(value, kind), constant((1023 << 52) - SQRT_HALF_BITS))
        raised = builder.bitcast(builder.or_(builder.lshr(bits, constant(52)), constant(TWO_TO_52_BITS)), value.type)
        offset = [2.0**52 + 1023.0] * positive.lanes if isinstance(positive, Vector) else 2.0**52 + 1023.0
        return builder.fsub(raised, ir.Constant(value.type, offset))

    return positive(positive), build
