"""The logarithm of vectors of numbers from 2^-1000 to 1, bit for bit equal to log of the C library.

It is the algorithm of glibc 2.28 and later, with its constants, its order of operations, and fused multiply-add: x = 2^k z, c
near z from a table of 128, r = z / c - 1, log x = k log 2 + log c + log(1 + r) by a polynomial; near 1 by a longer polynomial
alone. So initial states have the bits that they had with `math.log`, in a third of its time, with other C libraries too.

ARM Optimized Routines, log.c and log_data.c (MIT license), from which glibc has them.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from workbench.kernels.jit import inlined
from workbench.kernels.simd.vectors import INT32, INT64, Vector, _spread, choose, spread

LN2_HIGH, LN2_LOW = 0.69314718055989033, 5.4979230187083712e-14
A0, A1, A2, A3, A4 = (
    -0.50000000000000011,
    0.33333333331825593,
    -0.24999999996229549,
    0.20000304511814496,
    -0.16667054827627667,
)
B1, B2, B3, B4, B5 = (
    0.3333333333333352,
    -0.24999999999998432,
    0.19999999999320328,
    -0.16666666669929706,
    0.14285715076560868,
)
B6, B7, B8, B9 = (
    -0.12499997863982555,
    0.11110712032936046,
    -0.10000486757818193,
    0.091819940061954666,
)
B10 = -0.083283630622893415
NEAR_ONE = 0.9375
SPLIT = 2.0**27
"""Multiplying by this splits a number into its upper and lower digits (Dekker)."""
FIRST_BITS = 0x3FE6000000000000
"""The bits of 0.6875; significands z are in [0.6875, 1.375)."""
INVERSES = np.array(
    [
        1.4504249240398293,
        1.442253508327276,
        1.4341736174350004,
        1.426183816329995,
        1.4182825527052965,
        1.4104682921759335,
        1.4027396147468003,
        1.3950954438932313,
        1.3875338232485754,
        1.3800539211058593,
        1.3726542695419708,
        1.3653332798446802,
        1.358090204587874,
        1.3509234892132138,
        1.3438320840699889,
        1.3368146974742003,
        1.329870114677736,
        1.322997339161106,
        1.316195352741367,
        1.3094628125672239,
        1.3027990455471041,
        1.2962024229438942,
        1.2896726275815547,
        1.2832080305745537,
        1.276807885983376,
        1.2704714060687552,
        1.2641976054949482,
        1.257985357514882,
        1.2518337750655457,
        1.2457421919097305,
        1.2397094966625508,
        1.2337348463589233,
        1.2278176973028803,
        1.2219570190618474,
        1.2161519732977757,
        1.2104018095009725,
        1.204705805718973,
        1.1990631185441964,
        1.1934733004462308,
        1.1879350812847385,
        1.1824481322833125,
        1.1770114976921955,
        1.1716248121809465,
        1.1662869231674715,
        1.1609977486762766,
        1.1557563220795803,
        1.1505619105480347,
        1.1454138888505974,
        1.140311877374656,
        1.1352550225747513,
        1.1302429094831266,
        1.1252747693068048,
        1.1203501571039876,
        1.1154683327680124,
        1.1106291463292157,
        1.1058315813301596,
        1.1010752177696026,
        1.0963597137952512,
        1.0916844827550398,
        1.0870487291277784,
        1.082452357388312,
        1.0778948225025884,
        1.0733751731601076,
        1.068893585073351,
        1.0644491706655506,
        1.0600414846328305,
        1.0556701316181605,
        1.051334750556926,
        1.0470347288442157,
        1.0427699229652954,
        1.0385395013738175,
        1.034343418940345,
        1.0301811073173315,
        1.026052043621297,
        1.0219561082336197,
        1.0178926505784922,
        1.0138614436244586,
        1.0098620186501341,
        1.0058938559734134,
        1.00195696235014,
        0.9961089923088509,
        0.9884170338185201,
        0.9808429191005297,
        0.9733840169987446,
        0.9660377568876556,
        0.9588014945307369,
        0.9516728569073111,
        0.9446494635965822,
        0.9377288993026223,
        0.9309091073790681,
        0.924187681612722,
        0.9175626765599192,
        0.9110320403624034,
        0.9045935839762024,
        0.8982456375922825,
        0.8919860966782501,
        0.8858131121185129,
        0.879725075760676,
        0.8737201372634685,
        0.8677966405782273,
        0.8619528050060739,
        0.8561872354420692,
        0.8504983927816893,
        0.8448844572790304,
        0.8393442741575965,
        0.8338762249349438,
        0.8284789320557778,
        0.8231510800065832,
        0.8178913903778707,
        0.8126984007245374,
        0.8075710029460227,
        0.8025078881160415,
        0.7975077379364331,
        0.792569604966373,
        0.7876923641254114,
        0.7828746724940998,
        0.7781155388790811,
        0.7734139557869777,
        0.7687687179914933,
        0.7641790698041854,
        0.7596438763692399,
        0.7551621951078668,
        0.7507331780216866,
        0.7463557196361751,
        0.7420289364869653,
        0.7377521537065876,
        0.7335242966002608,
        0.729344777457841,
    ]
)
"""Table (place,) of 1 / c."""
LOGS = np.array(
    [
        -0.3718565645633589,
        -0.36620682668944937,
        -0.3605888069791945,
        -0.3550022171419869,
        -0.34944666968829097,
        -0.3439217713603284,
        -0.3384271921261188,
        -0.332962831494342,
        -0.32752794345742586,
        -0.32212257167088865,
        -0.3167462884799761,
        -0.3113985598928366,
        -0.3060794515165526,
        -0.300788424667644,
        -0.2955252968476998,
        -0.29028969275850613,
        -0.2850812793277555,
        -0.27989987391470095,
        -0.27474526621870154,
        -0.2696169863701243,
        -0.26451506180308115,
        -0.2594387762767383,
        -0.2543884090981692,
        -0.24936321635129843,
        -0.24436312405975968,
        -0.23938801747897287,
        -0.23443761696705678,
        -0.22951151871518505,
        -0.2246094963439873,
        -0.21973149037705753,
        -0.2148770752847895,
        -0.210046029103637,
        -0.20523836373934046,
        -0.20045368751368642,
        -0.1956917537758045,
        -0.19095237845203883,
        -0.18623539250290833,
        -0.18154051731551135,
        -0.1768677957431919,
        -0.17221657406412305,
        -0.16758697765942543,
        -0.16297859687290384,
        -0.15839151377804228,
        -0.15382513241456763,
        -0.14927976358922024,
        -0.14475495398119165,
        -0.14025044090817573,
        -0.1357660466685502,
        -0.1313018016355727,
        -0.12685731518763532,
        -0.1224325737671279,
        -0.11802724521862729,
        -0.11364127671663482,
        -0.10927434611278386,
        -0.10492665324943573,
        -0.10059761422644442,
        -0.09628717309055901,
        -0.09199534069557558,
        -0.08772190036688698,
        -0.08346643613867855,
        -0.07922916827544668,
        -0.0750099004750382,
        -0.07080805133352897,
        -0.06662408085151128,
        -0.06245745471915143,
        -0.0583080438042316,
        -0.05417576112313327,
        -0.050060547896805474,
        -0.045962101199052086,
        -0.04188056008865715,
        -0.03781540056183985,
        -0.03376684757915882,
        -0.029734619131772888,
        -0.025718470239212365,
        -0.021718543925430822,
        -0.01773446126981071,
        -0.013766252464051831,
        -0.009813706322574944,
        -0.005876555150052809,
        -0.0019550499938532084,
        0.0038985973556009412,
        0.011650571286395461,
        0.019342955478919066,
        0.0269766014846482,
        0.034552359728422744,
        0.04207121767183253,
        0.049533940950141186,
        0.056941358295944156,
        0.06429439168346107,
        0.0715936354946507,
        0.07884010933776153,
        0.08603438905970506,
        0.09317721180013905,
        0.10026951462748457,
        0.10731170956330516,
        0.11430473320717738,
        0.12124928503033061,
        0.12814583422959913,
        0.1349951636851756,
        0.1417978768189414,
        0.14855476039031146,
        0.1552661937658968,
        0.16193275688146969,
        0.16855539792220497,
        0.1751343179947753,
        0.1816702989864325,
        0.18816387146023317,
        0.1946155228479256,
        0.20102572579389744,
        0.2073952090795501,
        0.21372429840596396,
        0.2200135945981856,
        0.22626374162859975,
        0.23247494747693054,
        0.23864766620658884,
        0.24478265647405806,
        0.25088025827324145,
        0.2569408552510595,
        0.26296511155101143,
        0.2689531327189343,
        0.27490553924610595,
        0.2808227248478943,
        0.286704979267256,
        0.29255295645509705,
        0.2983670386142876,
        0.30414734587282055,
        0.30989455774829366,
        0.31560871301871884,
    ]
)
"""Table (place,) of log c."""


@intrinsic
def fma(typing_context, a, b, c):
    """Return a b + c of vectors of float64, rounded once (fused multiply-add)."""

    def build(context, builder, sig, arguments):
        kind = ir.FunctionType(a.llvm, [a.llvm] * 3)
        return builder.call(
            cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{a.lanes}f64"),
            arguments,
        )

    return a(a, a, a), build


@intrinsic
def gather(typing_context, table, indices):
    """Return the elements of a float64 table at the int32 `indices`, by the gather instruction if there is one."""
    vector = Vector(table.dtype, indices.lanes)

    def build(context, builder, sig, arguments):
        wide, mask = (ir.VectorType(ir.IntType(bits), indices.lanes) for bits in (64, 1))
        pointers = ir.VectorType(ir.DoubleType().as_pointer(), indices.lanes)
        start = builder.ptrtoint(
            context.make_array(sig.args[0])(context, builder, arguments[0]).data, INT64
        )
        index = builder.shl(
            builder.zext(arguments[1], wide), ir.Constant(wide, [3] * indices.lanes)
        )
        index = builder.inttoptr(builder.add(_spread(builder, start, wide), index), pointers)
        kind = ir.FunctionType(vector.llvm, [pointers, INT32, mask, vector.llvm])
        call = cgutils.get_or_insert_function(
            builder.module, kind, f"llvm.masked.gather.v{indices.lanes}f64.v{indices.lanes}p0"
        )
        all_lanes = ir.Constant(mask, [1] * indices.lanes)
        return builder.call(
            call, [index, INT32(8), all_lanes, ir.Constant(vector.llvm, ir.Undefined)]
        )

    return vector(table, indices), build


def _from_bits(build, result_type):
    """Return a numba intrinsic that applies ``build`` to the bits of a vector of float64 and returns type ``result_type``.
    ``build`` also gets the bits less `FIRST_BITS`: above the low 52 is the exponent k, in the highest of these 52 the place in
    the tables.
    """

    @intrinsic
    def part(typing_context, positive):
        def make(context, builder, sig, arguments):
            def constant(bits):
                return ir.Constant(kind, [bits] * positive.lanes)

            kind = ir.VectorType(INT64, positive.lanes)
            bits = builder.bitcast(arguments[0], kind)
            return build(builder, bits, builder.sub(bits, constant(FIRST_BITS)), constant, positive)

        return Vector(result_type, positive.lanes)(positive), make

    return part


def _power(builder, bits, excess, constant, vector):
    integers = builder.trunc(builder.ashr(excess, constant(52)), ir.VectorType(INT32, vector.lanes))
    return builder.sitofp(integers, vector.llvm)


def _significand(builder, bits, excess, constant, vector):
    return builder.bitcast(builder.sub(bits, builder.and_(excess, constant(-1 << 52))), vector.llvm)


def _table_index(builder, bits, excess, constant, vector):
    index = builder.and_(builder.lshr(excess, constant(45)), constant(127))
    return builder.trunc(index, ir.VectorType(INT32, vector.lanes))


power, significand, place = (
    _from_bits(build, gives)
    for build, gives in (
        (_power, types.float64),
        (_significand, types.float64),
        (_table_index, types.int32),
    )
)


@inlined
def libm_log(x):
    """Return log(x) of a vector of float64, 2^-1000 < x <= 1."""
    return choose(x < NEAR_ONE, _log_by_table(x), _log_near_one(x))


@inlined
def _log_by_table(x):
    k, index = power(x), place(x)
    r = fma(significand(x), gather(INVERSES, index), spread(-1.0))
    w = fma(k, spread(LN2_HIGH), gather(LOGS, index))
    high, square = w + r, r * r
    low = fma(square, spread(A0), fma(k, spread(LN2_LOW), (w - high) + r))
    rest = fma(fma(r, spread(A4), spread(A3)), square, fma(r, spread(A2), spread(A1)))
    return fma(r * square, rest, low) + high


@inlined
def _log_near_one(x):
    r = x - 1.0
    square = r * r
    cube = r * square
    first = fma(square, spread(B3), fma(r, spread(B2), spread(B1)))
    second = fma(square, spread(B6), fma(r, spread(B5), spread(B4)))
    third = fma(cube, spread(B10), fma(square, spread(B9), fma(r, spread(B8), spread(B7))))
    rest = fma(fma(third, cube, second), cube, first)
    upper = fma(spread(-SPLIT), r, fma(r, spread(SPLIT), r))
    upper_square = upper * upper
    high = fma(upper_square, spread(-0.5), r)
    low = fma(upper_square, spread(-0.5), r - high)
    low = fma(-0.5 * (r - upper), r + upper, low)
    return high + fma(rest, cube, low)
