"""Functions of vectors (`kernels.simd.vectors`): exp, log, digamma and related ones, and sums across the lanes.

Variational updates need exp(psi(x)). The argument is shifted up by six, where an asymptotic series in 1/(x + 5.5) is accurate
(spec A.11); the six reciprocals of the shift and that of the series share one division. Exponential and logarithm are
polynomials after the power of two is split off. There are no branches, and the arithmetic is the same for a number and for each
lane of a vector, with the same bits.

The relative error of exp(psi(x)) against 40-digit arithmetic is below 3e-10 for x in [0.002, 1e9]; for x below 0.0014 the true
value is less than the smallest double, and the result is 0. The absolute error of psi(x) is below 3e-10, plus rounding. Both
hold up to 1e40, where the product of the denominators overflows.

Where psi and its derivatives are summed over cells (the HDP), they are computed to rounding error, by a shift by seven and
longer series: `digamma_tetragamma` and `log_gamma_trigamma`. `log_gammas` is

    lnG(x) = (y - 1/2) ln y - y + ln(2 pi) / 2 + 1/(12 y) - 1/(360 y^3) + … - ln( x (x + 1) … (x + 7) ),   y = x + 8

Unlike the functions of the C library, all are plain arithmetic, and so have the same bits on every machine.

Sums and counts across the lanes have a fixed order of additions::

    total(v)             the sum of the lanes, added in pairs
    totals(a, b, c, d)   those of four vectors, a vector of four: the same bits for less work
    running(v)           the sum of the lanes up to each lane
    running_in_order(v)  the same, added one lane after the other
    stairs(v)            the same in the order of `STAIR`, which is fastest and never decreases, and the total in every lane
    count(mask), counted(mask)   in how many lanes a comparison is true, and the same in every lane
    first_lane(mask)     the first lane in which it is true, 16 if in none
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from workbench.kernels.jit import aside, inlined
from workbench.kernels.simd.vectors import INT32, INT64, LANES, Vector, choose, spread


def _shuffle(builder, values, indices):
    """Return a vector of the lanes of `values` with the given indices; 0 for a negative index."""
    zeros = ir.Constant(values.type, None)
    mask = [values.type.count if i < 0 else i for i in indices]
    return builder.shuffle_vector(values, zeros, ir.Constant(ir.VectorType(INT32, len(mask)), mask))


@intrinsic
def total(typing_context, values):
    def build(context, builder, sig, arguments):
        sums, half = arguments[0], values.lanes // 2
        while half:
            sums = builder.fadd(
                *(_shuffle(builder, sums, range(first, first + half)) for first in (0, half))
            )
            half //= 2
        return builder.extract_element(sums, INT32(0))

    return values.kind(values), build


@intrinsic
def totals(typing_context, a, b, c, d):
    result_type = Vector(a.kind, 4)

    def build(context, builder, sig, arguments):
        def halve(sums):
            """Return four partial sums of the lanes: later halves are added to earlier halves repeatedly."""
            while (n := sums.type.count) > result_type.lanes:
                sums = builder.fadd(
                    *(
                        _shuffle(builder, sums, range(first, first + n // 2))
                        for first in (0, n // 2)
                    )
                )
            return sums

        def add_lanes(v, w, first_lanes, second_lanes):
            """Return the sum of two selections of four lanes, by their indices in v followed by w."""
            return builder.fadd(
                *(
                    builder.shuffle_vector(v, w, ir.Constant(ir.VectorType(INT32, 4), lanes))
                    for lanes in (first_lanes, second_lanes)
                )
            )

        a, b, c, d = map(halve, arguments)
        a_c, b_d = (add_lanes(v, w, [0, 1, 4, 5], [2, 3, 6, 7]) for v, w in ((a, c), (b, d)))
        return add_lanes(a_c, b_d, [0, 4, 2, 6], [1, 5, 3, 7])

    return result_type(a, a, a, a), build


@intrinsic
def running(typing_context, values):
    def build(context, builder, sig, arguments):
        sums, step = arguments[0], 1
        while step < values.lanes:
            sums = builder.fadd(
                sums, _shuffle(builder, sums, [i - step for i in range(values.lanes)])
            )
            step *= 2
        return sums

    return values(values), build


@intrinsic
def running_in_order(typing_context, values):
    def build(context, builder, sig, arguments):
        sums = arguments[0]
        for i in range(1, values.lanes):
            both = (builder.extract_element(sums, INT32(index)) for index in (i - 1, i))
            sums = builder.insert_element(sums, builder.fadd(*both), INT32(i))
        return sums

    return values(values), build


STAIR = np.arange(LANES).reshape(4, 4).T.ravel()
"""The order of the lanes in `stairs`: 0, 4, 8, 12, 1, 5, … 15."""


def _rows(builder, values):
    """Emit code that splits a vector of sixteen lanes into four vectors of four; return their values."""
    return [_shuffle(builder, values, range(4 * r, 4 * r + 4)) for r in range(4)]


def _join(builder, rows):
    """Emit code that concatenates several vectors (``rows``) into one; return its value."""
    while len(rows) > 1:
        n = 2 * rows[0].type.count
        order = ir.Constant(ir.VectorType(INT32, n), list(range(n)))
        rows = [builder.shuffle_vector(*rows[i : i + 2], order) for i in range(0, len(rows), 2)]
    return rows[0]


@intrinsic
def stairs(typing_context, values):
    """Return the running sums over the lanes in the order of `STAIR`, and a vector with the total in every lane.

    The lanes are arranged in four rows of four and summed down each column. For values of at least 0 the sums never decrease.
    """

    def build(context, builder, sig, arguments):
        rows, add = _rows(builder, arguments[0]), builder.fadd
        upper, lower = add(rows[0], rows[1]), add(rows[2], rows[3])
        running_rows = [rows[0], upper, add(upper, rows[2]), add(upper, lower)]
        half_offsets = _shuffle(builder, running_rows[3], [-1, 0, -1, 2])
        halves = _shuffle(builder, add(running_rows[3], half_offsets), [1, 1, 3, 3])
        first_half = _shuffle(builder, halves, [-1, -1, 0, 1])
        row_total = add(halves, _shuffle(builder, halves, [2, 3, 0, 1]))
        steps = _join(builder, [add(add(row, half_offsets), first_half) for row in running_rows])
        return cgutils.pack_array(builder, [steps, _join(builder, [row_total] * 4)])

    return types.UniTuple(values, 2)(values), build


@intrinsic
def lane_counts(typing_context, mask):
    everywhere = Vector(types.int64)

    def build(context, builder, sig, arguments):
        rows, add = _rows(builder, builder.sext(arguments[0], everywhere.llvm)), builder.add
        counts = add(add(rows[0], rows[1]), add(rows[2], rows[3]))
        counts = add(counts, _shuffle(builder, counts, [2, 3, 0, 1]))
        counts = add(counts, _shuffle(builder, counts, [1, 0, 3, 2]))
        return builder.neg(_join(builder, [counts] * 4))

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


SHIFT = 5.5
SERIES_1, SERIES_3 = 1 / 24, -37 / 5760
SERIES_5, SERIES_7 = 10313 / 2903040, -5509121 / 1393459200
HALF_LOG_TWO_PI = 0.91893853320467274178
LOG2_E = 1.4426950408889634
LN2 = math.log(2.0)
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
SMALLEST_EXPONENT = -708.0
SMALLEST, LARGEST = float(np.finfo(np.float64).smallest_normal), float(np.finfo(np.float64).max)
SHIFTER = 1.5 * 2.0**52
"""The sum of a number and this has the nearest integer in its low bits."""
SQRT_HALF_BITS, TWO_TO_52_BITS = 0x3FE6A09E667F3BCD, (1023 + 52) << 52
"""The bits of sqrt(1/2), and of 2^52."""


def _bits_of(number):
    """Return the integer type with the bits of a float64 (or a vector of these), and a function that makes constants."""
    if not isinstance(number, Vector):
        return INT64, INT64
    kind = ir.VectorType(INT64, number.lanes)
    return kind, lambda bits: ir.Constant(kind, [bits] * number.lanes)


@intrinsic
def power_of_two(typing_context, raised):
    """Return 2^n, given `raised` = n + `SHIFTER` (a float64 or a vector of float64), for an integer n."""

    def build(context, builder, sig, arguments):
        value = arguments[0]
        kind, constant = _bits_of(raised)
        bits = builder.shl(builder.bitcast(value, kind), constant(52))
        return builder.bitcast(builder.add(bits, constant(1023 << 52)), value.type)

    return raised(raised), build


@intrinsic
def exponent(typing_context, positive):
    """Return the integer n for which positive / 2^n is in [sqrt(1/2), sqrt(2)), as float64 or vector as the argument is."""

    def build(context, builder, sig, arguments):
        value = arguments[0]
        kind, constant = _bits_of(positive)
        bits = builder.add(builder.bitcast(value, kind), constant((1023 << 52) - SQRT_HALF_BITS))
        shifted_exponent = builder.bitcast(
            builder.or_(builder.lshr(bits, constant(52)), constant(TWO_TO_52_BITS)), value.type
        )
        offset = (
            [2.0**52 + 1023.0] * positive.lanes
            if isinstance(positive, Vector)
            else 2.0**52 + 1023.0
        )
        return builder.fsub(shifted_exponent, ir.Constant(value.type, offset))

    return positive(positive), build


@inlined
def exp_within(x):
    """Return exp(x) for -708 < x < 700, with a relative error below 4e-16.

    It is a Taylor polynomial of degree 13, evaluated in groups of four terms.
    """
    shifted_power = x * LOG2_E + SHIFTER
    n = shifted_power - SHIFTER
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    s = r * r
    q = s * s
    fourth = 1.0 / 479001600 + r * (1.0 / 6227020800)
    third = (1.0 / 40320 + r * (1.0 / 362880)) + s * (1.0 / 3628800 + r * (1.0 / 39916800))
    second = (1.0 / 24 + r * (1.0 / 120)) + s * (1.0 / 720 + r * (1.0 / 5040))
    first = r + s * (0.5 + r * (1.0 / 6))
    return (1.0 + (first + q * (second + q * (third + q * fourth)))) * power_of_two(shifted_power)


@inlined
def exp_nearly(x):
    """Return exp(x) for x < 700, with a relative error below 1e-12; 0 below -708.

    It is a Taylor polynomial of degree 10, for arguments that are no more accurate.
    """
    bounded_x = max(x, SMALLEST_EXPONENT)
    shifted_power = bounded_x * LOG2_E + SHIFTER
    r = bounded_x - (shifted_power - SHIFTER) * LN2
    s = r * r
    third = (1.0 / 40320 + r * (1.0 / 362880)) + s * (1.0 / 3628800)
    second = (1.0 / 24 + r * (1.0 / 120)) + s * (1.0 / 720 + r * (1.0 / 5040))
    first = (1.0 + r) + s * (0.5 + r * (1.0 / 6))
    value = (first + (s * s) * (second + (s * s) * third)) * power_of_two(shifted_power)
    return choose(x > SMALLEST_EXPONENT, value, 0.0 * value)


@inlined
def fast_exp(x):
    """Return exp(x) for x < 700, with a relative error below 4e-16; 0 below -708."""
    value = exp_within(max(x, SMALLEST_EXPONENT))
    return choose(x > SMALLEST_EXPONENT, value, 0.0 * value)


@inlined
def fast_log(x):
    """Return log(x) for 1e-300 < x < 1e300, with a relative error below 4e-16.

    It is the sum of 2 artanh((m - 1) / (m + 1)), m the significand, and the logarithm of the power of two.
    """
    n = exponent(x)
    m = x * power_of_two(SHIFTER - n)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    w = z * z
    even = 2 / 5 + w * (2 / 9 + w * (2 / 13 + w * (2 / 17 + w * (2 / 21))))
    odd = 2 / 3 + w * (2 / 7 + w * (2 / 11 + w * (2 / 15 + w * (2 / 19))))
    return n * LN2_HIGH + (2.0 * s + (s * (z * (odd + z * even)) + n * LN2_LOW))


@inlined
def logs(x):
    """Return log(x) for x < 1e300; -inf below the smallest normal number, NaN for NaN, inf for inf."""
    return choose(x < SMALLEST, spread(-math.inf), choose(x <= LARGEST, fast_log(x), x))


NEARLY_NONE = 1e-60
"""Stands for an argument 0 of psi; its reciprocals, squared too, are within the range of doubles."""


@inlined
def shifted(x):
    """Return a and b with psi(x) = log a - b: a is exp(psi(x + 6)), and b is 1/x + 1/(x+1) + … + 1/(x+5).

    An x of 0, as of a word that a topic cannot have, counts as `NEARLY_NONE`, whose exp(psi(x)) is 0.
    """
    x = choose(x > 0.0, x, NEARLY_NONE + x)
    y = x + SHIFT
    t = x * (x + 5.0)
    product = t * ((t + 4.0) * (t + 6.0))
    inverse = 1.0 / (y * product)
    z = product * inverse
    z2 = z * z
    series = y + z * (SERIES_1 + z2 * (SERIES_3 + z2 * (SERIES_5 + z2 * SERIES_7)))
    return series, (2.0 * x + 5.0) * (3.0 * (t * t) + (20.0 * t + 24.0)) * (y * inverse)


@inlined
def exp_digamma_ratio(x, y, z):
    """Return exp(psi(x) + psi(y) - psi(z)) for positive arguments, with one exponential."""
    series_x, reciprocals_x = shifted(x)
    series_y, reciprocals_y = shifted(y)
    series_z, reciprocals_z = shifted(z)
    scale = series_x * series_y / series_z
    return scale * exp_nearly(min(reciprocals_z - (reciprocals_x + reciprocals_y), 700.0))


@inlined
def digamma(x):
    """Return psi(x) for x > 0."""
    series, reciprocals = shifted(x)
    return fast_log(series) - reciprocals


@aside
def normalise_logs(n_topics, gamma):
    """Replace log weights in gamma by normalised weights; return the log of the normaliser."""
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


@inlined
def paired(x):
    """Return 2x + 7 and 1 / ((x + j) (x + 7 - j)), j = 0 to 3: products of these are 1 / (x + j) + 1 / (x + 7 - j)."""
    t = x * (x + 7.0)
    return 2.0 * x + 7.0, 1.0 / t, 1.0 / (t + 6.0), 1.0 / (t + 10.0), 1.0 / (t + 12.0)


@inlined
def digamma_tetragamma(x):
    """Return psi(x) and psi''(x) for x > 0, with relative errors of 1e-14 and 1e-11.

    Abramowitz & Stegun 6.3.5, 6.3.18, 6.4.6, 6.4.14.
    """
    m, r0, r1, r2, r3 = paired(x)
    first = m * ((r0 + r1) + (r2 + r3))
    m2 = m * m
    third = r0 * r0 * (m2 * r0 - 3.0) + r1 * r1 * (m2 * r1 - 3.0)
    third = m * (third + (r2 * r2 * (m2 * r2 - 3.0) + r3 * r3 * (m2 * r3 - 3.0)))
    y = x + 8.0
    z = 1.0 / y
    s = z * z
    psi = s * (1 / 132 - s * (691 / 32760 - s * (1 / 12)))
    psi = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - psi))))
    tetra = s * (3 / 10 - s * (5 / 6 - s * (691 / 210 - s * (35 / 2))))
    tetra = s * (1.0 + z + s * (1 / 2 - s * (1 / 6 - s * (1 / 6 - tetra))))
    return fast_log(y) - 0.5 * z - psi - first, 0.0 - tetra - 2.0 * third


@inlined
def log_gamma_trigamma(x):
    """Return log Gamma(x) and psi'(x) for x > 0, to rounding error; Abramowitz & Stegun 6.1.15, 6.1.40, 6.4.6, 6.4.12."""
    m, r0, r1, r2, r3 = paired(x)
    m2 = m * m
    second = (
        r0 * (m2 * r0 - 2.0) + r1 * (m2 * r1 - 2.0) + (r2 * (m2 * r2 - 2.0) + r3 * (m2 * r3 - 2.0))
    )
    t = x * (x + 7.0)
    y = x + 8.0
    z = 1.0 / y
    s = z * z
    log_gamma = s * (1 / 1188 - s * (691 / 360360 - s * (1 / 156)))
    log_gamma = z * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - log_gamma))))
    tri = s * (5 / 66 - s * (691 / 2730 - s * (7 / 6)))
    tri = z * (1.0 + 0.5 * z + s * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - tri)))))
    product = (t * (t + 6.0)) * ((t + 10.0) * (t + 12.0))
    return (y - 0.5) * fast_log(y) - y + HALF_LOG_TWO_PI + log_gamma - fast_log(
        product
    ), tri + second


@inlined
def log_gammas(x):
    """Return lnG(x) for 0 < x < 1e37, with an absolute error of 5e-14 below 10 and a relative error of 2e-15 above.

    Abramowitz & Stegun 6.1.15, 6.1.40.
    """
    t = x * (x + 7.0)
    product = t * (t + 6.0) * ((t + 10.0) * (t + 12.0))
    y = x + 8.0
    z = 1.0 / y
    s = z * z
    series = z * (
        1 / 12
        - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * (691 / 360360)))))
    )
    return ((y - 0.5) * fast_log(y) - y) - fast_log(product) + (series + HALF_LOG_TWO_PI)
