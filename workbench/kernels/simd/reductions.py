"""Sums and counts across the lanes of vectors (`kernels.simd.vectors`), each in one order of additions.

total(v)             the sum of the lanes, added in pairs
totals(a, b, c, d)   those of four vectors, a vector of four: the same bits for less work
running(v)           the sums of the lanes up to each
running_in_order(v)  the same, added one lane after the other
stairs(v)            the same in the order of `STAIR`, which costs least and never falls, and the sum of all in every lane
count(mask), counted(mask)   in how many lanes a comparison held, and the same in every lane
first_lane(mask)     the first lane in which it held, 16 if in none
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from workbench.kernels.simd.vectors import INT32, INT64, LANES, Vector


def _shuffled(builder, values, indices):
    """Lanes by index; a negative one is 0."""
    zeros = ir.Constant(values.type, None)
    picks = [values.type.count if i < 0 else i for i in indices]
    return builder.shuffle_vector(
        values, zeros, ir.Constant(ir.VectorType(INT32, len(picks)), picks)
    )


@intrinsic
def total(typing_context, values):
    def build(context, builder, sig, arguments):
        sums, half = arguments[0], values.lanes // 2
        while half:
            sums = builder.fadd(
                *(_shuffled(builder, sums, range(first, first + half)) for first in (0, half))
            )
            half //= 2
        return builder.extract_element(sums, INT32(0))

    return values.kind(values), build


@intrinsic
def totals(typing_context, a, b, c, d):
    four = Vector(a.kind, 4)

    def build(context, builder, sig, arguments):
        def halved(sums):
            """The later half of the lanes added to the earlier, until four are left."""
            while (n := sums.type.count) > four.lanes:
                sums = builder.fadd(
                    *(
                        _shuffled(builder, sums, range(first, first + n // 2))
                        for first in (0, n // 2)
                    )
                )
            return sums

        def added(v, w, of_one, of_other):
            """Lanes of two vectors side by side, by index, added to others."""
            return builder.fadd(
                *(
                    builder.shuffle_vector(v, w, ir.Constant(ir.VectorType(INT32, 4), picks))
                    for picks in (of_one, of_other)
                )
            )

        a, b, c, d = map(halved, arguments)
        a_c, b_d = (added(v, w, [0, 1, 4, 5], [2, 3, 6, 7]) for v, w in ((a, c), (b, d)))
        return added(a_c, b_d, [0, 4, 2, 6], [1, 5, 3, 7])

    return four(a, a, a, a), build


@intrinsic
def running(typing_context, values):
    def build(context, builder, sig, arguments):
        sums, step = arguments[0], 1
        while step < values.lanes:
            sums = builder.fadd(
                sums, _shuffled(builder, sums, [i - step for i in range(values.lanes)])
            )
            step *= 2
        return sums

    return values(values), build


@intrinsic
def running_in_order(typing_context, values):
    def build(context, builder, sig, arguments):
        sums = arguments[0]
        for i in range(1, values.lanes):
            both = (builder.extract_element(sums, INT32(at)) for at in (i - 1, i))
            sums = builder.insert_element(sums, builder.fadd(*both), INT32(i))
        return sums

    return values(values), build


STAIR = np.arange(LANES).reshape(4, 4).T.ravel()
"""The order of the lanes in `stairs`: 0, 4, 8, 12, 1, 5, … 15."""


def _rows(builder, values):
    """Four vectors of four lanes."""
    return [_shuffled(builder, values, range(4 * r, 4 * r + 4)) for r in range(4)]


def _joined(builder, rows):
    """One vector of several."""
    while len(rows) > 1:
        n = 2 * rows[0].type.count
        order = ir.Constant(ir.VectorType(INT32, n), list(range(n)))
        rows = [builder.shuffle_vector(*rows[i : i + 2], order) for i in range(0, len(rows), 2)]
    return rows[0]


@intrinsic
def stairs(typing_context, values):
    """In four rows of four lanes: sums down the columns, and of the columns to the left. No sum is less than one before it."""

    def build(context, builder, sig, arguments):
        rows, add = _rows(builder, arguments[0]), builder.fadd
        upper, lower = add(rows[0], rows[1]), add(rows[2], rows[3])
        down = [rows[0], upper, add(upper, rows[2]), add(upper, lower)]
        left = _shuffled(builder, down[3], [-1, 0, -1, 2])
        halves = _shuffled(builder, add(down[3], left), [1, 1, 3, 3])
        first_half = _shuffled(builder, halves, [-1, -1, 0, 1])
        whole = add(halves, _shuffled(builder, halves, [2, 3, 0, 1]))
        steps = _joined(builder, [add(add(row, left), first_half) for row in down])
        return cgutils.pack_array(builder, [steps, _joined(builder, [whole] * 4)])

    return types.UniTuple(values, 2)(values), build


@intrinsic
def counted(typing_context, mask):
    everywhere = Vector(types.int64)

    def build(context, builder, sig, arguments):
        rows, add = _rows(builder, builder.sext(arguments[0], everywhere.llvm)), builder.add
        held = add(add(rows[0], rows[1]), add(rows[2], rows[3]))
        held = add(held, _shuffled(builder, held, [2, 3, 0, 1]))
        held = add(held, _shuffled(builder, held, [1, 0, 3, 2]))
        return builder.neg(_joined(builder, [held] * 4))

    return everywhere(mask), build


@intrinsic
def count(typing_context, mask):
    def build(context, builder, sig, arguments):
        return builder.zext(
            builder.ctpop(builder.bitcast(arguments[0], ir.IntType(mask.lanes))), INT64
        )

    return types.int64(mask), build


@intrinsic
def first_lane(typing_context, mask):
    def build(context, builder, sig, arguments):
        bits = builder.zext(builder.bitcast(arguments[0], ir.IntType(LANES)), INT64)
        return builder.cttz(builder.or_(bits, INT64(1 << LANES)), ir.IntType(1)(1))

    return types.int64(mask), build
