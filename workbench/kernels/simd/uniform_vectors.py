"""Sixteen uniforms at once, with the bits of `kernels.uniforms.uniform`."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from workbench.kernels.simd.lanes import LANES
from workbench.kernels.simd.vectors import INT64, Vector
from workbench.kernels.uniforms import GOLDEN, MIX_A, MIX_B, TO_UNIT

INTEGERS, DOUBLES = (ir.VectorType(kind, LANES) for kind in (INT64, ir.DoubleType()))


def _constant(number: int) -> ir.Constant:
    return ir.Constant(INTEGERS, [number % 2**64] * LANES)


@intrinsic
def sixteen_uniforms(typing_context, key, index):
    """The uniforms in [0, 1) of an index and the fifteen after it, under a key (uint64): a vector of float64."""

    def build(context, builder, sig, arguments):
        first = builder.add(arguments[0], builder.mul(arguments[1], INT64(int(GOLDEN))))
        one = builder.insert_element(ir.Constant(INTEGERS, ir.Undefined), first, ir.IntType(32)(0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        steps = ir.Constant(INTEGERS, [(lane + 1) * int(GOLDEN) % 2**64 for lane in range(LANES)])
        bits = builder.add(
            builder.shuffle_vector(one, ir.Constant(INTEGERS, ir.Undefined), places), steps
        )
        for shift, factor in ((30, int(MIX_A)), (27, int(MIX_B))):
            bits = builder.mul(
                builder.xor(bits, builder.lshr(bits, _constant(shift))), _constant(factor)
            )
        bits = builder.lshr(builder.xor(bits, builder.lshr(bits, _constant(31))), _constant(11))
        return builder.fmul(builder.uitofp(bits, DOUBLES), ir.Constant(DOUBLES, [TO_UNIT] * LANES))

    return Vector(types.float64)(types.uint64, types.int64), build
