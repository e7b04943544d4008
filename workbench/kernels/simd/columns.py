"""Sums of weights in eight columns, a vector register each: what drawing one of many topics costs.

Weights stand in rows of eight. A running sum down each column, and then one along the ends of the columns, give every
weight an interval, with additions whose order does not depend on how many rows of zeros follow. The loops are
written as vectors of eight doubles, since with so many arrays the compiler does not find them by itself.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from workbench.kernels.jit import kernel

COLUMNS = 8
LINE = 16
"""int32 in a cache line."""
DOUBLE, INT32 = ir.DoubleType(), ir.IntType(32)
DOUBLES = ir.VectorType(DOUBLE, COLUMNS)
ZEROS = ir.Constant(DOUBLES, [0.0] * COLUMNS)


def _pointer(context, builder, array_type, array, index):
    """Where an element of an array lies."""
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


def _load(builder, pointer, kind, align):
    """Eight elements as doubles."""
    values = builder.load(builder.bitcast(pointer, ir.VectorType(kind, COLUMNS).as_pointer()), align=align)
    return values if kind is DOUBLE else builder.sitofp(values, DOUBLES)


def _spread(builder, value):
    """A double eight times."""
    values = ZEROS
    for c in range(COLUMNS):
        values = builder.insert_element(values, value, ir.Constant(INT32, c))
    return values


def _store(builder, values, pointer):
    builder.store(values, builder.bitcast(pointer, DOUBLES.as_pointer()), align=8)


@intrinsic
def sum_columns(typing_context, share, row, added, n_rows, cumulative, ends):
    """Running sums of share_k (added + row_k) down the columns and along their ends; doubles but for row, int32.

    `cumulative` (n_rows · 8,) gets those of each column, `ends` (8,) those of the columns' sums.
    """

    def build(context, builder, signature, arguments):
        def at(name, index):
            i = names.index(name)
            return _pointer(context, builder, signature.args[i], arguments[i], index)

        names = ("share", "row", "added", "n_rows", "cumulative", "ends")
        spread, n_rows = _spread(builder, arguments[2]), arguments[3]
        total = cgutils.alloca_once_value(builder, ZEROS)
        with cgutils.for_range(builder, n_rows) as loop:
            first = builder.mul(loop.index, ir.Constant(loop.index.type, COLUMNS))
            raised = builder.fadd(spread, _load(builder, at("row", first), INT32, 4))
            weights = builder.fmul(_load(builder, at("share", first), DOUBLE, 8), raised)
            summed = builder.fadd(builder.load(total), weights)
            builder.store(summed, total)
            _store(builder, summed, at("cumulative", first))
        sums = builder.load(total)
        running = builder.extract_element(sums, ir.Constant(INT32, 0))
        for c in range(1, COLUMNS):
            running = builder.fadd(running, builder.extract_element(sums, ir.Constant(INT32, c)))
            sums = builder.insert_element(sums, running, ir.Constant(INT32, c))
        _store(builder, sums, at("ends", ir.Constant(n_rows.type, 0)))
        return context.get_dummy_value()

    return types.void(share, row, types.float64, types.intp, cumulative, ends), build


@intrinsic
def count_up_to(typing_context, ends, target):
    """How many of eight doubles are at most the target."""

    def build(context, builder, signature, arguments):
        first = _pointer(context, builder, signature.args[0], arguments[0], ir.Constant(ir.IntType(64), 0))
        is_under = builder.fcmp_ordered("<=", _load(builder, first, DOUBLE, 8), _spread(builder, arguments[1]))
        bits = builder.bitcast(is_under, ir.IntType(8))
        return builder.zext(builder.ctpop(bits), ir.IntType(64))

    return types.int64(ends, types.float64), build


@intrinsic
def fetch_line(typing_context, array, index):
    """Asks for the cache line of an element of a one-dimensional array, which will be wanted soon."""

    def build(context, builder, signature, arguments):
        pointer = builder.bitcast(_pointer(context, builder, signature.args[0], *arguments), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, INT32, INT32, INT32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [pointer, *(ir.Constant(INT32, each) for each in (0, 3, 1))])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), build


@kernel
def fetch_row(array, first, n):
    """Asks for n int32 of a one-dimensional array from the first on."""
    for i in range(first, first + n, LINE):
        fetch_line(array, i)
