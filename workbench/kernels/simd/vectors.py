"""Vectors of sixteen topics in compiled code: the arithmetic of a row of counts, a line of Python a formula.

A loop over topics that reads and writes many arrays is compiled to scalar code, since the compiler cannot know that
the arrays do not overlap. Written with these vectors it is not: `+ - * /`, `max`, `min` and comparisons act on all
lanes, with a number on either side standing for sixteen of it. They are plain LLVM vectors, which every machine has
instructions for or gets code for: one source, and since additions have one order here, the same bits everywhere.

    load(array, i)       sixteen elements from flat index i on of a C-contiguous array of any shape, as they are
    load_eight(array, i), load_four   eight of them, where so many vectors live at once that registers do not hold sixteen; four
    take(array, v)       the elements at sixteen flat indices, a vector of int32
    store(array, i, v)   back, converted to the type of the array
    put(array, i, x), bump(array, i, x)   x in the place of one element, or added to it, where vectors are loaded soon after
    doubles(v), singles(v)   converted to float64, float32
    spread(x), numbers(like)   sixteen times x; 0, 1, … 15 in the type of another vector
    total(v)             the sum of the lanes, added in pairs
    totals(a, b, c, d)   those of four vectors, a vector of four: the same bits for less work
    running(v)           the sums of the lanes up to each
    stairs(v)            the same in the order of `STAIR`, which costs least and never falls, and the sum of all in every lane
    lane(v, i)           one lane
    choose(mask, a, b)   a where the comparison held, b elsewhere; numbers as well as vectors
    count(mask), counted(mask)   in how many lanes it held, and the same in every lane
    first_lane(mask)     the first lane in which it held, 16 if in none
    exponent(x)          the power of two nearest to a positive number; numbers as well as vectors
    fetch(array, i)      asks for the cache line of an element that will be wanted soon
    at_most_256_bits()   compiles the kernel that says it without the 512 bits of AVX-512: what waits for one element after the
                         other, as a sampler does, is faster so, and the bits are the same

A kernel may hand vectors to another function; `inlined` makes sure that it costs nothing.
"""

from __future__ import annotations

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from workbench.kernels.jit import OPTIONS
from workbench.kernels.simd.lanes import LANES

INT32, INT64 = ir.IntType(32), ir.IntType(64)
FLOATS = {types.float64: ir.DoubleType(), types.float32: ir.FloatType()}
KINDS = {**FLOATS, types.int32: INT32, types.int64: INT64, types.uint16: ir.IntType(16), types.boolean: ir.IntType(1)}

WITHIN = OPTIONS | {"nopython": True, "_nrt": False, "no_cpython_wrapper": True}


class Part(CPUDispatcher):
    """A function that kernels call. Python cannot: an entrance for it would be much of the work of compiling a small one.

    It is compiled once for a signature, where what numba registers for use in compiled code is compiled again for callers
    of other options, and what is called from Python too for each number that is written out in a call.
    """

    def get_call_template(self, arguments, keywords):
        return super().get_call_template([types.unliteral(argument) for argument in arguments], keywords)

    def add_overload(self, compiled):
        self.overloads[tuple(compiled.signature.args)] = compiled

    def _compile_for_args(self, *arguments, **keywords):
        raise TypeError(f"{self.__name__} is a part of kernels, with no entrance from Python; call it from a kernel")


def inlined(function) -> Part:
    """A part that is compiled into each kernel; it allocates nothing and counts no references."""
    return Part(function, targetoptions=WITHIN | {"forceinline": True})


def aside(function) -> Part:
    """The same for what a kernel seldom comes to, and so calls."""
    return Part(function, targetoptions=dict(WITHIN))


class Vector(types.Type):
    """Sixteen numbers of one type, or another power of two; a mask where the type is boolean."""

    def __init__(self, kind, lanes=LANES):
        self.kind, self.lanes = kind, lanes
        super().__init__(f"Vector({kind}, {lanes})")

    @property
    def llvm(self) -> ir.VectorType:
        return ir.VectorType(KINDS[self.kind], self.lanes)


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    def __init__(self, data_model_manager, vector):
        super().__init__(data_model_manager, vector, vector.llvm)


def _spread(builder, value, llvm):
    """A number in every lane."""
    one = builder.insert_element(ir.Constant(llvm, ir.Undefined), value, INT32(0))
    places = ir.Constant(ir.VectorType(INT32, llvm.count), [0] * llvm.count)
    return builder.shuffle_vector(one, ir.Constant(llvm, ir.Undefined), places)


def _converted(builder, value, source, target, llvm):
    """A number or vector of one type as another; ``llvm`` is the wanted type."""
    if source == target:
        return value
    if isinstance(source, types.Integer) and target in FLOATS:
        return (builder.sitofp if source.signed else builder.uitofp)(value, llvm)
    if source in FLOATS and target in FLOATS:
        return (builder.fptrunc if target == types.float32 else builder.fpext)(value, llvm)
    if isinstance(source, types.Integer) and isinstance(target, types.Integer):
        narrower = target.bitwidth < source.bitwidth
        return builder.trunc(value, llvm) if narrower else (builder.sext if source.signed else builder.zext)(value, llvm)
    raise TypeError(f"no conversion of lanes from {source} to {target}")


# ---------------------------------------------------------------------- arithmetic


def _binary(function, build, gives=lambda kind: kind):
    """Lets a Python operator act on two vectors of a type, or on a vector and a number."""

    def lower(context, builder, sig, arguments):
        vector = next(argument for argument in sig.args if isinstance(argument, Vector))
        lanes = [
            value if isinstance(kind, Vector)
            else _spread(builder, _converted(builder, value, kind, vector.kind, KINDS[vector.kind]), vector.llvm)
            for value, kind in zip(arguments, sig.args, strict=True)
        ]
        return build(builder, *lanes, vector.kind in FLOATS)

    @infer_global(function)
    class Typing(AbstractTemplate):
        def generic(self, arguments, keywords):
            vectors = [argument for argument in arguments if isinstance(argument, Vector)]
            if len(arguments) != 2 or not vectors or any(vector != vectors[0] for vector in vectors):
                return None
            kind = vectors[0].kind
            plain = types.float64 if kind in FLOATS else kind
            return signature(Vector(gives(kind), vectors[0].lanes), *(a if isinstance(a, Vector) else plain for a in arguments))

    lower_builtin(function, Vector, Vector)(lower)
    lower_builtin(function, Vector, types.Number)(lower)
    lower_builtin(function, types.Number, Vector)(lower)


def _arithmetic(name):
    return lambda builder, a, b, of_floats: getattr(builder, f"f{name}" if of_floats else name)(a, b)


def _either(symbol):
    def build(builder, a, b, of_floats):
        return builder.select((builder.fcmp_ordered if of_floats else builder.icmp_signed)(symbol, a, b), a, b)

    return build


def _compared(symbol):
    return lambda builder, a, b, of_floats: (builder.fcmp_ordered if of_floats else builder.icmp_signed)(symbol, a, b)


for _name in ("add", "sub", "mul"):
    _binary(getattr(operator, _name), _arithmetic(_name))
    _binary(getattr(operator, f"i{_name}"), _arithmetic(_name))
_binary(operator.truediv, _arithmetic("div"))
_binary(operator.itruediv, _arithmetic("div"))
_binary(operator.and_, lambda builder, a, b, of_floats: builder.and_(a, b))
_binary(operator.rshift, lambda builder, a, b, of_floats: builder.ashr(a, b))
_binary(max, _either(">"))
_binary(min, _either("<"))
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=="}.items():
    _binary(getattr(operator, _name), _compared(_symbol), lambda kind: types.boolean)


# ---------------------------------------------------------------------- memory


def _pointer(context, builder, array_type, array, index, llvm):
    """Where the elements of an array from a flat index on lie."""
    if array_type.layout != "C":
        raise TypingError(f"vectors need a C-contiguous array; got {array_type}, copy it first")
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), llvm.as_pointer())


def _loaded(lanes):
    @intrinsic
    def load(typing_context, array, index):
        vector = Vector(array.dtype, lanes)

        def build(context, builder, sig, arguments):
            pointer = _pointer(context, builder, sig.args[0], *arguments, vector.llvm)
            return builder.load(pointer, align=array.dtype.bitwidth // 8)

        return vector(array, types.intp), build

    return load


load, load_eight, load_four = _loaded(LANES), _loaded(8), _loaded(4)


@intrinsic
def take(typing_context, array, indices):
    vector = Vector(array.dtype)

    def build(context, builder, sig, arguments):
        values = ir.Constant(vector.llvm, ir.Undefined)
        for i in range(LANES):
            index = builder.sext(builder.extract_element(arguments[1], INT32(i)), INT64)
            pointer = _pointer(context, builder, sig.args[0], arguments[0], index, KINDS[array.dtype])
            values = builder.insert_element(values, builder.load(pointer), INT32(i))
        return values

    return vector(array, indices), build


@intrinsic
def store(typing_context, array, index, values):
    kept = Vector(array.dtype, values.lanes)

    def build(context, builder, sig, arguments):
        pointer = _pointer(context, builder, sig.args[0], *arguments[:2], kept.llvm)
        lanes = _converted(builder, arguments[2], values.kind, array.dtype, kept.llvm)
        builder.store(lanes, pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), build


@intrinsic
def fetch(typing_context, array, index):
    def build(context, builder, sig, arguments):
        pointer = _pointer(context, builder, sig.args[0], *arguments, ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, INT32, INT32, INT32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [pointer, INT32(0), INT32(3), INT32(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), build


@intrinsic
def at_most_256_bits(typing_context):
    def build(context, builder, sig, arguments):
        triple, _processor, features = context.codegen().magic_tuple()
        if triple.startswith("x86_64"):  # llvmlite takes only the attributes that it knows, and prints any
            told = ",".join([*filter(None, [features]), "-avx512f"])
            set.add(builder.function.attributes, f'"target-features"="{told}"')
        return context.get_dummy_value()

    return types.void(), build


# ---------------------------------------------------------------------- making, converting, choosing


def _to(target):
    @intrinsic
    def convert(typing_context, values):
        wanted = Vector(target, values.lanes)
        return wanted(values), lambda context, builder, sig, arguments: _converted(
            builder, arguments[0], values.kind, target, wanted.llvm
        )

    return convert


doubles, singles = _to(types.float64), _to(types.float32)


@intrinsic
def spread(typing_context, value):
    kind = types.int64 if isinstance(value, types.Integer) and value not in KINDS else value
    vector = Vector(kind)
    return vector(kind), lambda context, builder, sig, arguments: _spread(builder, arguments[0], vector.llvm)


@intrinsic
def numbers(typing_context, like):
    values = [float(i) if like.kind in FLOATS else i for i in range(like.lanes)]
    return like(like), lambda context, builder, sig, arguments: ir.Constant(like.llvm, values)


@intrinsic
def choose(typing_context, mask, a, b):
    return a(mask, a, a), lambda context, builder, sig, arguments: builder.select(*arguments)


@intrinsic
def count(typing_context, mask):
    def build(context, builder, sig, arguments):
        return builder.zext(builder.ctpop(builder.bitcast(arguments[0], ir.IntType(mask.lanes))), INT64)

    return types.int64(mask), build


@intrinsic
def first_lane(typing_context, mask):
    def build(context, builder, sig, arguments):
        bits = builder.zext(builder.bitcast(arguments[0], ir.IntType(LANES)), INT64)
        return builder.cttz(builder.or_(bits, INT64(1 << LANES)), ir.IntType(1)(1))

    return types.int64(mask), build


@intrinsic
def lane(typing_context, values, index):
    return values.kind(values, types.intp), lambda context, builder, sig, arguments: builder.extract_element(*arguments)


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


SHIFTER = 1.5 * 2.0**52
"""Added to a number it leaves the nearest whole one in the low bits."""


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


SQRT_HALF_BITS, TWO_TO_52_BITS = 0x3FE6A09E667F3BCD, (1023 + 52) << 52
"""The bits of sqrt(1/2), and of 2^52, in whose low bits a whole number stands."""


# ---------------------------------------------------------------------- across the lanes


def _shuffled(builder, values, indices):
    """Lanes by index; a negative one is 0."""
    zeros = ir.Constant(values.type, None)
    picks = [values.type.count if i < 0 else i for i in indices]
    return builder.shuffle_vector(values, zeros, ir.Constant(ir.VectorType(INT32, len(picks)), picks))


@intrinsic
def total(typing_context, values):
    def build(context, builder, sig, arguments):
        sums, half = arguments[0], values.lanes // 2
        while half:
            halves = [
                builder.shuffle_vector(
                    sums, ir.Constant(sums.type, ir.Undefined),
                    ir.Constant(ir.VectorType(INT32, half), list(range(first, first + half))),
                )
                for first in (0, half)
            ]
            sums = builder.fadd(*halves)
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
                sums = builder.fadd(*(_shuffled(builder, sums, range(first, first + n // 2)) for first in (0, n // 2)))
            return sums

        def added(v, w, of_one, of_other):
            """Lanes of two vectors side by side, by index, added to others."""
            return builder.fadd(*(
                builder.shuffle_vector(v, w, ir.Constant(ir.VectorType(INT32, 4), picks)) for picks in (of_one, of_other)
            ))

        a, b, c, d = map(halved, arguments)
        a_c, b_d = (added(v, w, [0, 1, 4, 5], [2, 3, 6, 7]) for v, w in ((a, c), (b, d)))
        return added(a_c, b_d, [0, 4, 2, 6], [1, 5, 3, 7])

    return four(a, a, a, a), build


@intrinsic
def running(typing_context, values):
    def build(context, builder, sig, arguments):
        sums, step = arguments[0], 1
        while step < values.lanes:
            sums = builder.fadd(sums, _shuffled(builder, sums, [i - step for i in range(values.lanes)]))
            step *= 2
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


# ---------------------------------------------------------------------- one element

GROUP = 8
"""Elements that `put` and `bump` write at once, so that a vector loaded soon after does not wait for the store to end."""


def _changed(change):
    """An intrinsic that changes one element of a row; `change` builds the new bits from the old, the number's, and a mask.

    The mask is read from a table: of a comparison the compiler makes a masked store, which is very slow on some machines.
    """

    @intrinsic
    def write(typing_context, array, index, number):
        bits = ir.IntType(array.dtype.bitwidth)
        group = ir.VectorType(bits, GROUP)
        table = ir.Constant(ir.ArrayType(bits, 2 * GROUP), [0] * (GROUP - 1) + [-1] + [0] * GROUP)

        def build(context, builder, sig, arguments):
            array_value, place, value = arguments
            skipped = builder.sub(INT64(GROUP - 1), builder.and_(place, INT64(GROUP - 1)))
            start = builder.gep(cgutils.global_constant(builder, "one_in_a_group", table), [INT32(0), skipped])
            mask = builder.load(builder.bitcast(start, group.as_pointer()), align=bits.width // 8)
            first = builder.and_(place, INT64(-GROUP))
            pointer = _pointer(context, builder, sig.args[0], array_value, first, group)
            old = builder.load(pointer, align=bits.width // 8)
            new = change(builder, old, _spread(builder, builder.bitcast(value, bits), group), mask, KINDS[array.dtype])
            builder.store(new, pointer, align=bits.width // 8)
            return context.get_dummy_value()

        return types.void(array, types.intp, array.dtype), build

    return write


def _put(builder, old, new, mask, kind):
    return builder.or_(builder.and_(old, builder.not_(mask)), builder.and_(new, mask))


def _bumped(builder, old, step, mask, kind):
    step = builder.and_(step, mask)
    if isinstance(kind, ir.IntType):
        return builder.add(old, step)
    numbers = ir.VectorType(kind, GROUP)
    return builder.bitcast(builder.fadd(builder.bitcast(old, numbers), builder.bitcast(step, numbers)), old.type)


put, bump = _changed(_put), _changed(_bumped)
