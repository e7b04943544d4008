"""Vectors of sixteen lanes against numpy, and what a wrong use of them says."""

import gc

import numba
import numpy as np
import pytest

from workbench.kernels.jit import inlined
from workbench.kernels.simd.functions import (
    SHIFTER,
    STAIR,
    count,
    lane_counts,
    power_of_two,
    running,
    running_in_order,
    stairs,
    total,
    totals,
)
from workbench.kernels.simd.vectors import (
    LANES,
    bump,
    choose,
    doubles,
    fetch,
    lane,
    load,
    load_eight,
    load_four,
    numbers,
    put,
    singles,
    spread,
    store,
    take,
)

A = np.random.default_rng(0).normal(size=(3, 2 * LANES))
B = np.random.default_rng(1).normal(size=(3, 2 * LANES))
ROW = slice(LANES, 2 * LANES)
AT = 2 * LANES + LANES  # the second half of row 1


@numba.njit
def arithmetic(a, b, out):
    x, y = load(a, AT), load(b, AT)
    z = 2.0 * x + y / 3 - 1
    z -= max(x, y) * min(x, 0.5)
    store(out, AT, z)


def test_arithmetic_acts_on_every_lane_and_on_no_other_element():
    out = np.full_like(A, np.nan)
    arithmetic(A, B, out)
    a, b = A[1, ROW], B[1, ROW]
    assert np.array_equal(out[1, ROW], 2.0 * a + b / 3 - 1 - np.maximum(a, b) * np.minimum(a, 0.5))
    assert np.isnan(np.delete(out.ravel(), np.arange(AT, AT + LANES))).all()


@numba.njit
def compared(a, b, out):
    x, y = load(a, 0), load(b, 0)
    store(out, 0, choose(x < y, x, spread(0.0)))
    return count(x < y), count(x <= x), count(x > y), count(x >= 0.25), count(x == x)


def test_comparisons_choose_and_count():
    out = np.empty(LANES)
    found = compared(A, B, out)
    a, b = A[0, :LANES], B[0, :LANES]
    assert found == ((a < b).sum(), LANES, (a > b).sum(), (a >= 0.25).sum(), LANES)
    assert np.array_equal(out, np.where(a < b, a, 0.0))


@numba.njit
def across(a, sums, in_order, picks):
    x = load(a, 0)
    store(sums, 0, running(x))
    store(in_order, 0, running_in_order(x))
    for i in range(LANES):
        picks[i] = lane(x, i)
    return total(x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_across_lanes_have_one_order(dtype):
    """Doubling steps or one after the other for running sums, halves for the total: the bits of numpy in that order."""
    a, (sums, in_order, picks) = A[0, :LANES].astype(dtype), np.empty((3, LANES), dtype)
    found = across(a, sums, in_order, picks)
    expected, step = a.copy(), 1
    while step < LANES:
        expected[step:] = expected[step:] + expected[:-step]
        step *= 2
    halves = a
    while len(halves) > 1:
        halves = halves[: len(halves) // 2] + halves[len(halves) // 2 :]
    assert np.array_equal(sums, expected)
    assert np.array_equal(in_order, np.cumsum(a))
    assert found == halves[0]
    assert np.array_equal(picks, a)


@numba.njit
def summed_together(a, wide, narrow, one_by_one):
    w, x, y, z = load(a, 0), load(a, LANES), load(a, 2 * LANES), load(a, AT)
    store(wide, 0, totals(w, x, y, z))
    one_by_one[0], one_by_one[1], one_by_one[2], one_by_one[3] = (
        total(w),
        total(x),
        total(y),
        total(z),
    )
    w8, x8, y8, z8 = load_eight(a, 0), load_eight(a, 8), load_eight(a, LANES), load_eight(a, AT)
    store(narrow, 0, totals(w8, x8, y8, z8))
    one_by_one[4], one_by_one[5], one_by_one[6], one_by_one[7] = (
        total(w8),
        total(x8),
        total(y8),
        total(z8),
    )


def test_four_totals_at_once_have_the_bits_of_four():
    """Numbers of very different size, so that another order of additions shows."""
    random = np.random.default_rng(2)
    for _ in range(50):
        a = A * 10.0 ** random.uniform(-8, 8, A.shape)
        wide, narrow, one_by_one = np.empty(4), np.empty(4), np.empty(8)
        summed_together(a, wide, narrow, one_by_one)
        assert np.array_equal([*wide, *narrow], one_by_one)


@numba.njit
def copied(a, four, eight, i):
    store(four, 4, load_four(a, i))
    store(eight, 8, load_eight(a, i))


@pytest.mark.parametrize("i", [0, 5, AT])
def test_four_and_eight_are_loaded_from_any_place(i):
    four, eight = np.full(12, np.nan), np.full(24, np.nan)
    copied(A, four, eight, i)
    assert (
        np.array_equal(four[4:8], A.ravel()[i : i + 4])
        and np.isnan(np.delete(four, range(4, 8))).all()
    )
    assert (
        np.array_equal(eight[8:16], A.ravel()[i : i + 8])
        and np.isnan(np.delete(eight, range(8, 16))).all()
    )


@numba.njit
def converted(counts, wide, narrow, back):
    fetch(counts, 0)
    n = load(counts, 0)
    store(wide, 0, doubles(n) * 0.5)
    store(narrow, 0, singles(n) / 3)
    store(back, 0, n + numbers(n))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_counts_become_numbers_of_either_precision(dtype):
    counts = np.arange(LANES, dtype=dtype) * 1000 + 1
    wide, narrow, back = np.empty(LANES), np.empty(LANES, np.float32), np.empty(LANES, dtype)
    converted(counts, wide, narrow, back)
    assert np.array_equal(wide, counts * 0.5)
    assert np.array_equal(narrow, counts.astype(np.float32) / np.float32(3))
    assert np.array_equal(back, counts + np.arange(LANES))


@numba.njit
def taken(table, indices, out):
    store(out, 0, take(table, load(indices, 0)))


def test_elements_are_taken_by_index():
    indices, out = np.arange(LANES, dtype=np.int32)[::-1] * 5, np.empty(LANES)
    taken(A, np.ascontiguousarray(indices), out)
    assert np.array_equal(out, A.ravel()[indices])


@numba.njit
def powers(exponents, out):
    store(out, 0, power_of_two(load(exponents, 0) + SHIFTER))
    return power_of_two(exponents[0] + SHIFTER)


def test_powers_of_two_round_their_exponent():
    exponents, out = np.linspace(-1000.3, 1000.3, LANES), np.empty(LANES)
    first = powers(exponents, out)
    assert np.array_equal(out, 2.0 ** np.rint(exponents))
    assert first == out[0]


@inlined
def squared(x):
    return x * x


@numba.njit
def by_a_part(a, out):
    store(out, 0, squared(load(a, 0)))


def test_parts_of_kernels_take_and_give_vectors():
    out = np.empty(LANES)
    by_a_part(A, out)
    assert np.array_equal(out, A[0, :LANES] ** 2)


def test_vectors_of_two_types_do_not_mix():
    @numba.njit
    def mixed(counts, a):
        return total(load(counts, 0) + load(a, 0))

    with pytest.raises(numba.TypingError):
        mixed(np.zeros(LANES, np.int32), A)


@numba.njit
def stepped(a, steps, whole, held):
    x = load(a, 0)
    climbing, top = stairs(x)
    store(steps, 0, climbing)
    store(whole, 0, top)
    store(held, 0, lane_counts(x > 0.5))


def test_stairs_never_fall_and_end_at_the_sum_of_all():
    """Sixteen numbers of very different size and some zeros: exact order statements, and sums right to 16 roundings."""
    random = np.random.default_rng(5)
    for _ in range(100):
        a = np.where(random.random(LANES) < 0.3, 0.0, 10.0 ** random.uniform(-20, 3, LANES))
        steps, whole, held = np.empty(LANES), np.empty(LANES), np.empty(LANES, np.int64)
        stepped(a, steps, whole, held)
        assert (np.diff(steps[STAIR]) >= 0).all()
        assert (whole == steps[STAIR[-1]]).all()
        np.testing.assert_allclose(steps[STAIR], np.cumsum(a[STAIR]), rtol=16 * 2.0**-53)
        assert (held == (a > 0.5).sum()).all()


@numba.njit
def written(row, sums, reals, i):
    put(row, i, 7.5)
    bump(sums, i, np.int32(-3))
    bump(reals, i, np.int32(-3))


def test_one_element_is_written_and_no_other():
    for i in range(2 * LANES):
        row, sums, reals = A[0].copy(), np.arange(2 * LANES, dtype=np.int32), A[0].copy()
        written(row, sums, reals, i)
        assert row[i] == 7.5 and sums[i] == i - 3 and reals[i] == A[0, i] - 3
        for array in (row, reals):
            assert np.array_equal(np.delete(array, i), np.delete(A[0], i))
        assert np.array_equal(np.delete(sums, i), np.delete(np.arange(2 * LANES), i))


def test_an_array_with_gaps_is_refused():
    """Flat indices would point between its elements."""
    with pytest.raises(numba.TypingError, match="C-contiguous"):
        by_a_part(np.zeros((LANES, 2))[:, 0], np.empty(LANES))


def test_a_part_is_compiled_once_whoever_calls_it_and_never_entered_from_python():
    @inlined
    def twice(x):
        return x + x

    callers = [
        numba.njit(lambda n: twice(n)),
        numba.njit(lambda n: twice(n), _nrt=False),
        numba.njit(lambda n: twice(2)),
    ]
    assert [caller(2) for caller in callers] == [4, 4, 4]
    assert len(twice.overloads) == 1
    with pytest.raises(
        TypeError,
        match="twice is compiled into kernels and has no wrapper for Python; call it from a kernel",
    ):
        twice(2)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_not_looked_for_while_numba_compiles_and_as_before_afterwards(enabled):
    seen = []

    @numba.extending.intrinsic
    def noted(typing_context, x):
        seen.append(gc.isenabled())
        return x(x), lambda context, builder, sig, arguments: arguments[0]

    inner = numba.njit(lambda x: noted(x))
    try:
        if not enabled:
            gc.disable()
        numba.njit(lambda x: noted(inner(x)))(1)
        with pytest.raises(numba.TypingError):
            numba.njit(lambda x: noted(x) + "a")(1)
        assert seen and not any(seen) and gc.isenabled() == enabled
    finally:
        gc.enable()
