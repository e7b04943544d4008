"""Vectors of sixteen numbers for compiled code, so that a formula over a row of topics is one line of Python.

A loop over topics that reads and writes many arrays is compiled to scalar code, since the compiler cannot know that the arrays
do not overlap. These vectors avoid that: `+ - * /`, `max`, `min` and comparisons act on all lanes, and a number on either side
stands for a vector of it. They are plain LLVM vectors, for which LLVM generates code on every machine; since additions have a
fixed order, the bits are the same everywhere.

    load(array, i)       sixteen elements from flat index i on of a C-contiguous array of any shape, without conversion
    load_eight(array, i), load_four   eight elements, where vectors of sixteen would not fit into registers; four elements
    take(array, v)       the elements at sixteen flat indices, a vector of integers
    store(array, i, v)   writes a vector to an array, converted to the type of the array
    put(array, i, x), bump(array, i, x)   replace one element by x, or add x to it, where vectors are loaded soon after
    doubles(v), singles(v)   converted to float64, float32
    spread(x), numbers(like)   sixteen times x; 0, 1, … 15 in the type of another vector
    lane(v, i)           one lane
    choose(mask, a, b)   a where the comparison is true, b elsewhere; numbers as well as vectors
    fetch(array, i)      loads the cache line of an element that is needed soon (prefetch)
    at_most_256_bits()   compiles the kernel that calls it without AVX-512: samplers are faster so, and their bits the same

Sums across the lanes are in `kernels.simd.functions`. Functions of vectors are `jit.inlined`, so that a call needs no time.

Rows of topics are padded to a multiple of 16 and aligned to 64 bytes, so that a row touches as few cache lines as possible, and
loops over topics fill whole vectors. Padding topics have zero counts and zero prior, so they are never drawn and have no
weight.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 16
ALIGNMENT = 64
LINE = ALIGNMENT // 8
"""Numbers of float64 in a cache line."""


def padded(n_topics: int) -> int:
    """Return the number of topics rounded up to a multiple of sixteen."""
    return -(-n_topics // LANES) * LANES


def aligned_zeros(shape: tuple[int, ...], dtype) -> np.ndarray:
    """Return a zeroed C-contiguous array whose first byte lies on a 64-byte boundary."""
    return _aligned(np.zeros, shape, np.dtype(dtype))


def aligned_empty(shape: tuple[int, ...], dtype) -> np.ndarray:
    """Return an uninitialised C-contiguous array whose first byte lies on a 64-byte boundary."""
    return _aligned(np.empty, shape, np.dtype(dtype))


def aligned_copy(values: np.ndarray) -> np.ndarray:
    """Return a C-contiguous copy whose first byte lies on a 64-byte boundary."""
    array = aligned_empty(values.shape, values.dtype)
    array[...] = values
    return array


def _aligned(make, shape, dtype) -> np.ndarray:
    n_bytes = int(np.prod(shape)) * dtype.itemsize
    raw = make(n_bytes + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + n_bytes].view(dtype).reshape(shape)


def pad_topics(values, fill: float = 0.0) -> np.ndarray:
    """Return `values` (topic,) as float64, padded to a multiple of sixteen with ``fill``."""
    row = np.full(padded(len(values)), fill)
    row[: len(values)] = values
    return row


INT32, INT64 = ir.IntType(32), ir.IntType(64)
FLOATS = {types.float64: ir.DoubleType(), types.float32: ir.FloatType()}
KINDS = {
    **FLOATS,
    types.int32: INT32,
    types.int64: INT64,
    types.uint16: ir.IntType(16),
    types.boolean: ir.IntType(1),
}


class Vector(types.Type):
    """The numba type of a SIMD vector of numbers, sixteen or another power of two; a vector of booleans is a mask."""

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
    """Return a vector that has the number `value` in every lane."""
    single = builder.insert_element(ir.Constant(llvm, ir.Undefined), value, INT32(0))
    zeros = ir.Constant(ir.VectorType(INT32, llvm.count), [0] * llvm.count)
    return builder.shuffle_vector(single, ir.Constant(llvm, ir.Undefined), zeros)


def _convert(builder, value, source, target, llvm):
    """Return a number or vector converted from type `source` to `target`, whose LLVM type is ``llvm``."""
    if source == target:
        return value
    if isinstance(source, types.Integer) and target in FLOATS:
        return (builder.sitofp if source.signed else builder.uitofp)(value, llvm)
    if source in FLOATS and target in FLOATS:
        return (builder.fptrunc if target == types.float32 else builder.fpext)(value, llvm)
    if isinstance(source, types.Integer) and isinstance(target, types.Integer):
        narrower = target.bitwidth < source.bitwidth
        return (
            builder.trunc(value, llvm)
            if narrower
            else (builder.sext if source.signed else builder.zext)(value, llvm)
        )
    raise TypeError(f"no conversion of lanes from {source} to {target}")


# ---------------------------------------------------------------------- arithmetic


def _binary(function, build, result_kind=lambda kind: kind):
    """Define a Python operator for two vectors of the same type, or a vector and a number."""

    def lower(context, builder, sig, arguments):
        vector = next(argument for argument in sig.args if isinstance(argument, Vector))
        lanes = [
            value
            if isinstance(kind, Vector)
            else _spread(
                builder,
                _convert(builder, value, kind, vector.kind, KINDS[vector.kind]),
                vector.llvm,
            )
            for value, kind in zip(arguments, sig.args, strict=True)
        ]
        return build(builder, *lanes, vector.kind in FLOATS)

    @infer_global(function)
    class Typing(AbstractTemplate):
        def generic(self, arguments, keywords):
            vectors = [argument for argument in arguments if isinstance(argument, Vector)]
            if (
                len(arguments) != 2
                or not vectors
                or any(vector != vectors[0] for vector in vectors)
            ):
                return None
            kind = vectors[0].kind
            plain = types.float64 if kind in FLOATS else kind
            return signature(
                Vector(result_kind(kind), vectors[0].lanes),
                *(a if isinstance(a, Vector) else plain for a in arguments),
            )

    for kinds in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(function, *kinds)(lower)


def _arithmetic(name):
    return lambda builder, a, b, is_float: getattr(builder, f"f{name}" if is_float else name)(a, b)


def _comparison(symbol):
    return lambda builder, a, b, is_float: (
        builder.fcmp_ordered if is_float else builder.icmp_signed
    )(symbol, a, b)


def _either(symbol):
    return lambda builder, a, b, is_float: builder.select(
        _comparison(symbol)(builder, a, b, is_float), a, b
    )


for _name, _build in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}.items():
    _binary(getattr(operator, _name), _arithmetic(_build))
    _binary(getattr(operator, f"i{_name}"), _arithmetic(_build))
_binary(operator.and_, lambda builder, a, b, of_floats: builder.and_(a, b))
_binary(operator.rshift, lambda builder, a, b, of_floats: builder.ashr(a, b))
_binary(max, _either(">"))
_binary(min, _either("<"))
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=="}.items():
    _binary(getattr(operator, _name), _comparison(_symbol), lambda kind: types.boolean)


# ---------------------------------------------------------------------- memory


def _pointer(context, builder, array_type, array, index, llvm):
    """Return a pointer to element `index` (flat) of an array and the elements after it.

    If numba's bounds checks are on, IndexError is raised where a vector reaches beyond the array.
    """
    if array_type.layout != "C":
        raise TypingError(f"vectors need a C-contiguous array; got {array_type}, copy it first")
    structure = context.make_array(array_type)(context, builder, array)
    if context.enable_boundscheck:
        end = builder.add(index, INT64(getattr(llvm, "count", 1)))
        is_outside = builder.or_(
            builder.icmp_signed("<", index, INT64(0)),
            builder.icmp_signed(">", end, structure.nitems),
        )
        with builder.if_then(is_outside, likely=False):
            context.call_conv.return_user_exc(
                builder, IndexError, ("a vector that reaches beyond its array",)
            )
    return builder.bitcast(builder.gep(structure.data, [index]), llvm.as_pointer())


def _load(lanes):
    @intrinsic
    def load(typing_context, array, index):
        vector = Vector(array.dtype, lanes)

        def build(context, builder, sig, arguments):
            pointer = _pointer(context, builder, sig.args[0], *arguments, vector.llvm)
            return builder.load(pointer, align=array.dtype.bitwidth // 8)

        return vector(array, types.intp), build

    return load


load, load_eight, load_four = _load(LANES), _load(8), _load(4)


@intrinsic
def take(typing_context, array, indices):
    vector = Vector(array.dtype)

    def build(context, builder, sig, arguments):
        values = ir.Constant(vector.llvm, ir.Undefined)
        for i in range(LANES):
            index = builder.sext(builder.extract_element(arguments[1], INT32(i)), INT64)
            pointer = _pointer(
                context, builder, sig.args[0], arguments[0], index, KINDS[array.dtype]
            )
            values = builder.insert_element(values, builder.load(pointer), INT32(i))
        return values

    return vector(array, indices), build


@intrinsic
def store(typing_context, array, index, values):
    vector = Vector(array.dtype, values.lanes)

    def build(context, builder, sig, arguments):
        pointer = _pointer(context, builder, sig.args[0], *arguments[:2], vector.llvm)
        lanes = _convert(builder, arguments[2], values.kind, array.dtype, vector.llvm)
        builder.store(lanes, pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), build


@intrinsic
def fetch(typing_context, array, index):
    def build(context, builder, sig, arguments):
        data = context.make_array(sig.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, arguments[1:]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, INT32, INT32, INT32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [pointer, INT32(0), INT32(3), INT32(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), build


@intrinsic
def at_most_256_bits(typing_context):
    def build(context, builder, sig, arguments):
        triple, _processor, features = context.codegen().magic_tuple()
        # llvmlite accepts only known attributes by its own method, but prints any
        if triple.startswith("x86_64"):
            feature_list = ",".join([*filter(None, [features]), "-avx512f"])
            set.add(builder.function.attributes, f'"target-features"="{feature_list}"')
        return context.get_dummy_value()

    return types.void(), build


# ---------------------------------------------------------------------- making, converting, choosing


def _conversion(target):
    @intrinsic
    def convert(typing_context, values):
        vector = Vector(target, values.lanes)
        return vector(values), lambda context, builder, sig, arguments: _convert(
            builder, arguments[0], values.kind, target, vector.llvm
        )

    return convert


doubles, singles = _conversion(types.float64), _conversion(types.float32)


@intrinsic
def spread(typing_context, value):
    kind = types.int64 if isinstance(value, types.Integer) and value not in KINDS else value
    vector = Vector(kind)
    return vector(kind), lambda context, builder, sig, arguments: _spread(
        builder, arguments[0], vector.llvm
    )


@intrinsic
def numbers(typing_context, like):
    values = [float(i) if like.kind in FLOATS else i for i in range(like.lanes)]
    return like(like), lambda context, builder, sig, arguments: ir.Constant(like.llvm, values)


@intrinsic
def choose(typing_context, mask, a, b):
    return a(mask, a, a), lambda context, builder, sig, arguments: builder.select(*arguments)


@intrinsic
def lane(typing_context, values, index):
    return values.kind(
        values, types.intp
    ), lambda context, builder, sig, arguments: builder.extract_element(*arguments)


# ---------------------------------------------------------------------- one element

GROUP = 8
"""Elements that `put` and `bump` write at once, so that loading a vector soon after need not wait for the store to end."""


def _element_change(change):
    """Return an intrinsic that changes one element of an array.

    `change` builds the new bits from the old bits, the bits of the number, and a mask. The mask is read from a table, since the
    compiler would turn a comparison into a masked store, which is very slow on some machines.
    """

    @intrinsic
    def write(typing_context, array, index, number):
        bits = ir.IntType(array.dtype.bitwidth)
        group = ir.VectorType(bits, GROUP)
        table = ir.Constant(ir.ArrayType(bits, 2 * GROUP), [0] * (GROUP - 1) + [-1] + [0] * GROUP)

        def build(context, builder, sig, arguments):
            array_value, position, value = arguments
            offset = builder.sub(INT64(GROUP - 1), builder.and_(position, INT64(GROUP - 1)))
            start = builder.gep(
                cgutils.global_constant(builder, "one_in_a_group", table), [INT32(0), offset]
            )
            mask = builder.load(builder.bitcast(start, group.as_pointer()), align=bits.width // 8)
            first = builder.and_(position, INT64(-GROUP))
            pointer = _pointer(context, builder, sig.args[0], array_value, first, group)
            old = builder.load(pointer, align=bits.width // 8)
            new = change(
                builder,
                old,
                _spread(builder, builder.bitcast(value, bits), group),
                mask,
                KINDS[array.dtype],
            )
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
    return builder.bitcast(
        builder.fadd(builder.bitcast(old, numbers), builder.bitcast(step, numbers)), old.type
    )


put, bump = _element_change(_put), _element_change(_bumped)
