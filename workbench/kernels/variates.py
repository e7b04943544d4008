"""Exponential, normal, gamma and Dirichlet variates from a stream of uniforms, for compiled samplers.

A stream is one 64-bit number: `stream_of(key, index)` opens that of an index (a stick of a document, say), and every draw
returns the stream as it goes on. So what an index draws depends on nothing but the key and the index: not on the order in which
indices are visited, nor on threads.

Exponentials and normals: ziggurats of 256 layers, exact. Marsaglia & Tsang (2000), "The ziggurat method for generating random
variables"; layer, sign and abscissa come from different bits of one draw, as Doornik (2005) asks. Gammas: Marsaglia & Tsang
(2000), "A simple method for generating gamma variables", exact.
"""

import math

import numpy as np

from workbench.kernels.jit import aside, inlined, kernel, lean
from workbench.kernels.uniforms import GOLDEN, TO_UNIT, absorb, mix

LAYERS = 256
EXPONENTIAL_EDGE, EXPONENTIAL_AREA = 7.69711747013104972, 0.0039496598225815571993
NORMAL_EDGE, NORMAL_AREA = 3.6541528853610088, 0.00492867323399


def _edges(edge, area, density, inverse_density):
    """The right edges of a ziggurat's layers (layer + 1,), from the widest, which stands for the tail too, to 0."""
    edges = [area / density(edge), edge]
    while len(edges) < LAYERS:
        edges.append(inverse_density(area / edges[-1] + density(edges[-1])))
    return np.array([*edges, 0.0])


EXPONENTIAL_EDGES = _edges(
    EXPONENTIAL_EDGE, EXPONENTIAL_AREA, lambda x: math.exp(-x), lambda y: -math.log(y)
)
EXPONENTIAL_HEIGHTS = np.exp(-EXPONENTIAL_EDGES)
NORMAL_EDGES = _edges(
    NORMAL_EDGE,
    NORMAL_AREA,
    lambda x: math.exp(-0.5 * x * x),
    lambda y: math.sqrt(-2.0 * math.log(y)),
)
NORMAL_HEIGHTS = np.exp(-0.5 * NORMAL_EDGES**2)


@lean
def stream_of(key, index):
    """The stream of an index under a key."""
    return absorb(key, index)


@inlined
def next_bits(stream):
    """(the stream as it goes on, 64 random bits)"""
    stream += GOLDEN
    return stream, mix(stream)


@inlined
def unit_of(bits):
    """A number in (0, 1) from the upper 53 bits: never 0, so that its logarithm is finite."""
    return (np.float64(bits >> np.uint64(11)) + 0.5) * TO_UNIT


@inlined
def next_uniform(stream):
    """(the stream as it goes on, a uniform in (0, 1))"""
    stream, bits = next_bits(stream)
    return stream, unit_of(bits)


@aside
def _exponential_outside(stream, layer, x):
    """What follows when x lies outside the rectangle of its layer that is wholly under the density."""
    beyond = 0.0
    while True:
        if layer == 0:  # the tail is the same exponential, shifted
            beyond += EXPONENTIAL_EDGE
        else:
            stream, u = next_uniform(stream)
            low, high = EXPONENTIAL_HEIGHTS[layer], EXPONENTIAL_HEIGHTS[layer + 1]
            if low + u * (high - low) < math.exp(-x):
                return stream, beyond + x
        stream, bits = next_bits(stream)
        layer = np.int64(bits & np.uint64(LAYERS - 1))
        x = unit_of(bits) * EXPONENTIAL_EDGES[layer]
        if x < EXPONENTIAL_EDGES[layer + 1]:
            return stream, beyond + x


@inlined
def exponential(stream):
    """(the stream as it goes on, an exponential number of mean 1)"""
    stream, bits = next_bits(stream)
    layer = np.int64(bits & np.uint64(LAYERS - 1))
    x = unit_of(bits) * EXPONENTIAL_EDGES[layer]
    if x < EXPONENTIAL_EDGES[layer + 1]:
        return stream, x
    return _exponential_outside(stream, layer, x)


@aside
def _normal_outside(stream, layer, x):
    """What follows when |x| lies outside the rectangle of its layer that is wholly under the density."""
    while True:
        if layer == 0:
            while True:
                stream, first = exponential(stream)
                stream, second = exponential(stream)
                first /= NORMAL_EDGE
                if 2.0 * second > first * first:
                    return stream, math.copysign(NORMAL_EDGE + first, x)
        stream, u = next_uniform(stream)
        low, high = NORMAL_HEIGHTS[layer], NORMAL_HEIGHTS[layer + 1]
        if low + u * (high - low) < math.exp(-0.5 * x * x):
            return stream, x
        stream, bits = next_bits(stream)
        layer = np.int64(bits & np.uint64(LAYERS - 1))
        x = (2.0 * unit_of(bits) - 1.0) * NORMAL_EDGES[layer]
        if abs(x) < NORMAL_EDGES[layer + 1]:
            return stream, x


@inlined
def normal(stream):
    """(the stream as it goes on, a standard normal number)"""
    stream, bits = next_bits(stream)
    layer = np.int64(bits & np.uint64(LAYERS - 1))
    x = (2.0 * unit_of(bits) - 1.0) * NORMAL_EDGES[layer]
    if abs(x) < NORMAL_EDGES[layer + 1]:
        return stream, x
    return _normal_outside(stream, layer, x)


@inlined
def gamma_above(stream, d, step):
    """(the stream as it goes on, a gamma number of shape d + 1/3 > 1/3 and scale 1), where step = 1 / sqrt(9 d)."""
    while True:
        stream, x = normal(stream)
        root = 1.0 + step * x
        if root > 0.0:
            v = root * root * root
            stream, u = next_uniform(stream)
            square = x * x
            if u < 1.0 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (
                1.0 - v + math.log(v)
            ):
                return stream, d * v


@aside
def gamma(stream, shape):
    """(the stream as it goes on, a gamma number of scale 1); shapes below 1 by Gamma(shape + 1) U^(1 / shape)."""
    d = shape + (2.0 / 3.0 if shape < 1.0 else -1.0 / 3.0)
    stream, drawn = gamma_above(stream, d, 1.0 / math.sqrt(9.0 * d))
    if shape < 1.0:
        stream, u = next_uniform(stream)
        drawn *= math.exp(math.log(u) / shape)
    return stream, drawn


@aside
def log_of_gamma(stream, shape):
    """(the stream as it goes on, the logarithm of a gamma number of scale 1), finite where the number itself would be 0."""
    if shape >= 1.0:
        stream, drawn = gamma(stream, shape)
        return stream, math.log(drawn)
    stream, drawn = gamma(stream, shape + 1.0)
    stream, u = next_uniform(stream)
    return stream, math.log(drawn) + math.log(u) / shape


@kernel
def draw_dirichlets(counts, prior, key):
    """(row, column) rows drawn from Dirichlet(prior + counts of the row); counts (row, at least column), prior (column,).

    Each row has a stream of its own, so that a row is what it is whatever other rows there are.
    """
    n_rows, n_columns = len(counts), len(prior)
    drawn = np.empty((n_rows, n_columns))
    for row in range(n_rows):
        stream, largest, total = stream_of(key, row), -np.inf, 0.0
        for k in range(n_columns):
            stream, drawn[row, k] = log_of_gamma(stream, prior[k] + counts[row, k])
            largest = max(largest, drawn[row, k])
        for k in range(n_columns):
            drawn[row, k] = math.exp(drawn[row, k] - largest)
            total += drawn[row, k]
        drawn[row] /= total
    return drawn


@kernel
def draw_log_dirichlets(counts, prior, key):
    """(row, column) the logarithms of rows drawn from Dirichlet(prior + counts of the row), finite however small they are.

    As `draw_dirichlets`, from the same numbers; prior : a number, of every column.
    """
    n_rows, n_columns = counts.shape
    drawn = np.empty((n_rows, n_columns))
    for row in range(n_rows):
        stream, largest, total = stream_of(key, row), -np.inf, 0.0
        for k in range(n_columns):
            stream, drawn[row, k] = log_of_gamma(stream, prior + counts[row, k])
            largest = max(largest, drawn[row, k])
        for k in range(n_columns):
            total += math.exp(drawn[row, k] - largest)
        drawn[row] -= largest + math.log(total)
    return drawn
