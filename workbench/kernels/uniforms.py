"""Random numbers as a function of (seed, stream, chain, step, index), without hidden state; and draws from distributions.

A key is hashed from the first four; the uniform of an index is one splitmix64 output of the key.
So the numbers depend neither on the order in which tokens are visited nor on the number of threads, and a resumed run uses the
same numbers as an uninterrupted one.

Steele, Lea & Flood (2014), "Fast splittable pseudorandom number generators".

A stream is one 64-bit number: `stream_of(key, index)` opens that of an index (a stick of a document, say), and every draw
returns the advanced stream. So the draws of an index depend only on the key and the index: neither on the order in which
indices are visited, nor on threads.

Exponentials and normals: ziggurats of 256 layers, exact. Marsaglia & Tsang (2000), "The ziggurat method for generating random
variables"; layer, sign and abscissa come from different bits of one draw, as Doornik (2005) asks. Gammas: Marsaglia & Tsang
(2000), "A simple method for generating gamma variables", exact.
"""

import math

import numpy as np

from workbench.kernels.jit import aside, inlined, kernel, lean, small

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)
TO_UNIT = 2.0**-53

RESPONSIBILITIES, TOPICS, GIBBS = 1, 2, 3
"""Stream numbers of initial responsibilities, initial topics, and draws of a chain; likewise below."""
FOLD_IN, ANNEALING, LEFT_TO_RIGHT = 11, 12, 13
"""Streams of draws after inference: topics of unseen documents, chains of a bound, particles of the left-to-right estimate."""
HDP_TABLES, HDP_NEW_TOPICS, HDP_WEIGHTS = 21, 22, 23
"""Streams of the sampler of the HDP: its tables, the weights of new topics, and gamma, pi and alpha."""
HYPERPARAMETERS = 25
"""Stream of alpha (chain 0) and beta (chain 1) of LDA where they are sampled."""
PATHS = 31
"""Stream of the initial paths of a network above its topics: in documents (chain 0) and in the corpus (chain 1)."""
PATHS_WITHIN = 32
"""Stream of the sampler of networks: which of the paths that end in one row of the last level a token takes."""
STICK_ORDER, STICK_WEIGHTS, STICKS, STICKS_GAUSSIAN = 41, 42, 43, 44
"""Streams of models with sticks: their random order, Polya-gamma numbers, Gaussian draws, and mean and covariance."""
COMPONENTS, COMPONENTS_GAUSSIAN, EXPECTED_THETA = 45, 46, 47
"""Streams of logistic-normal topics: their components, mean and covariance, and the fixed points of an expectation."""
BATCHES, DRAWN_TOPICS, TOPICS_GIVEN_PHI = 50, 51, 52
"""Streams of correlated topics: batches of documents; phi where it is drawn, and the topics of tokens given it."""
WALK_WEIGHTS, WALKS, WALK_VARIANCE = 53, 54, 55
"""Streams of topics that drift over time: Polya-gamma numbers, random walks of sticks, and the variance of a step."""
STATES, STATES_COVARIANCE, STATES_SYSTEM = 56, 57, 58
"""Streams of prevalence over time: its states, the covariance of documents around them, and the system that they follow."""
POSTERIOR_DRAW = 61
"""Stream of theta (chain 0) and phi (chain 1) of LDA where held-out tokens are scored by draws of them."""
RESPONSE_DRAWS, RESPONSE_WEIGHTS = 65, 66
"""Streams of supervised LDA: Polya-gamma numbers of documents; weights (chain 0) and their variance (chain 1)."""
PREVALENCE_TABLES, PREVALENCE = 67, 68
"""Streams of priors of topics by columns: the auxiliary variables of the coefficients, and these."""
PROCESS_WEIGHTS, PROCESSES, PROCESS_KERNEL, PROCESS_SLICES = 400, 401, 402, 403
"""Streams of Gaussian processes: Polya-gamma numbers (chain: stick), normal numbers, the kernel, and elliptical slices."""
SYSTEM_WEIGHTS, SYSTEM_STATES, SYSTEM_LOADINGS, SYSTEM_DYNAMICS, SYSTEM_PARTICLES = (
    420,
    421,
    422,
    423,
    424,
)
"""Streams of linear dynamical systems: Polya-gamma numbers, states, rows of C and their variance, A and B, and particles."""
HIDDEN_STATES, FIRST_STATE, TRANSITIONS, EMISSIONS = 440, 441, 442, 443
"""Streams of hidden Markov models: the states of rows, and the rows of probabilities that they follow."""
PATHS_OF_STATES, LOADING_SLICES, FORECASTS = 445, 446, 447
"""Streams of particle Gibbs: paths of states, elliptical slices of loadings, and forecasts."""
TABLE_COUNTS, HIDDEN_NODES, ACCEPTED_NODES, DRAWN_TABLES, LEARNT_PRIORS = 460, 461, 462, 463, 464
"""Streams of Bayesian networks: initial counts, hidden nodes of records, whether proposed ones are accepted, tables,
and their priors."""
SPLITS, SPLIT_TOPICS = 63, 64
"""Streams of adaptive splits of a hybrid: pairs in random order, and the topics of newly sampled tokens."""
MOVES = 24
"""Stream of splits and merges: the topics, and the documents that seed a split."""


@inlined
def mix(bits):
    """Return a hash of 64 bits, the finaliser of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * MIX_A
    bits = (bits ^ (bits >> np.uint64(27))) * MIX_B
    return bits ^ (bits >> np.uint64(31))


@small
def uniform(key: np.uint64, index):
    """Return the uniform in [0, 1) with a given index under a key, of 53 random bits."""
    return (
        np.float64(mix(key + (np.uint64(index) + np.uint64(1)) * GOLDEN) >> np.uint64(11)) * TO_UNIT
    )


@lean
def fill_uniform(key: np.uint64, uniforms) -> None:
    """Fill a one-dimensional array with the uniforms of indices 0, 1, 2 … under a key."""
    for index in range(len(uniforms)):
        uniforms[index] = uniform(key, index)


@lean
def absorb(key: np.uint64, part):
    """Return a new key, hashed from a key and a further number."""
    return mix((key ^ np.uint64(part)) * MIX_A + GOLDEN)


@lean
def draw_key(seed, stream: np.uint64, chain, step):
    """Return the key of the random numbers of (seed, stream, chain, step)."""
    return absorb(absorb(absorb(absorb(np.uint64(0), seed), stream), chain), step)


def key_from(key: np.uint64, first: int) -> np.uint64:
    """Return the key under which index i has the uniform of index first + i under the given key."""
    return np.uint64((int(key) + first * int(GOLDEN)) % 2**64)


def permutation(key: np.uint64, n: int) -> np.ndarray:
    """Return the integers 0, …, n - 1 in a random order."""
    keys = np.empty(n)
    fill_uniform(key, keys)
    return np.argsort(keys, kind="stable")


LAYERS = 256
EXPONENTIAL_EDGE, EXPONENTIAL_AREA = 7.69711747013104972, 0.0039496598225815571993
NORMAL_EDGE, NORMAL_AREA = 3.6541528853610088, 0.00492867323399


def _edges(edge, area, density, inverse_density):
    """Return the right edges (layer + 1,) of the layers of a ziggurat, from the widest, with the tail, down to 0."""
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
def stream_of(key: np.uint64, index):
    """Return the stream of random numbers with a given index under a key."""
    return absorb(key, index)


@inlined
def next_bits(stream: np.uint64):
    """Return (the advanced stream, 64 random bits)."""
    stream += GOLDEN
    return stream, mix(stream)


@inlined
def unit_of(bits):
    """Return a number in (0, 1), never 0, made of the upper 53 of 64 bits."""
    return (np.float64(bits >> np.uint64(11)) + 0.5) * TO_UNIT


@inlined
def next_uniform(stream: np.uint64):
    """Return (the advanced stream, a uniform in (0, 1))."""
    stream, bits = next_bits(stream)
    return stream, unit_of(bits)


@aside
def _exponential_outside(stream: np.uint64, layer, x):
    """Finish a draw of `exponential` that was not accepted at once: return (the advanced stream, the draw)."""
    offset = 0.0
    while True:
        if layer == 0:  # the tail is the same exponential, shifted
            offset += EXPONENTIAL_EDGE
        else:
            stream, u = next_uniform(stream)
            low, high = EXPONENTIAL_HEIGHTS[layer], EXPONENTIAL_HEIGHTS[layer + 1]
            if low + u * (high - low) < math.exp(-x):
                return stream, offset + x
        stream, bits = next_bits(stream)
        layer = np.int64(bits & np.uint64(LAYERS - 1))
        x = unit_of(bits) * EXPONENTIAL_EDGES[layer]
        if x < EXPONENTIAL_EDGES[layer + 1]:
            return stream, offset + x


@inlined
def exponential(stream: np.uint64):
    """Return (the advanced stream, an exponential draw of mean 1)."""
    stream, bits = next_bits(stream)
    layer = np.int64(bits & np.uint64(LAYERS - 1))
    x = unit_of(bits) * EXPONENTIAL_EDGES[layer]
    if x < EXPONENTIAL_EDGES[layer + 1]:
        return stream, x
    return _exponential_outside(stream, layer, x)


@aside
def _normal_outside(stream: np.uint64, layer, x):
    """Finish a draw of `normal` that was not accepted at once: return (the advanced stream, the draw)."""
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
def normal(stream: np.uint64):
    """Return (the advanced stream, a standard normal draw)."""
    stream, bits = next_bits(stream)
    layer = np.int64(bits & np.uint64(LAYERS - 1))
    x = (2.0 * unit_of(bits) - 1.0) * NORMAL_EDGES[layer]
    if abs(x) < NORMAL_EDGES[layer + 1]:
        return stream, x
    return _normal_outside(stream, layer, x)


@inlined
def gamma_above(stream: np.uint64, d, step):
    """Return (the advanced stream, a draw of Gamma(d + 1/3) with scale 1), given d > 0 and step = 1 / sqrt(9 d)."""
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
def gamma(stream: np.uint64, shape):
    """Return (the advanced stream, a gamma draw of scale 1); a shape below 1 by Gamma(shape + 1) U^(1 / shape)."""
    d = shape + (2.0 / 3.0 if shape < 1.0 else -1.0 / 3.0)
    stream, draw = gamma_above(stream, d, 1.0 / math.sqrt(9.0 * d))
    if shape < 1.0:
        stream, u = next_uniform(stream)
        draw *= math.exp(math.log(u) / shape)
    return stream, draw


@aside
def log_of_gamma(stream: np.uint64, shape):
    """Return (the advanced stream, log of a gamma draw of scale 1), finite even where the draw underflows."""
    if shape >= 1.0:
        stream, draw = gamma(stream, shape)
        return stream, math.log(draw)
    stream, draw = gamma(stream, shape + 1.0)
    stream, u = next_uniform(stream)
    return stream, math.log(draw) + math.log(u) / shape


@kernel
def draw_dirichlets(counts: np.ndarray, prior, key: np.uint64):
    """Return draws from Dirichlet(prior + counts), one per row of counts (row, column).

    counts (row, column or more), prior (column,). Each row has a stream of its own, so that it does not depend on other rows.
    """
    n_rows, n_columns = len(counts), len(prior)
    draws = np.empty((n_rows, n_columns))
    for row in range(n_rows):
        stream, largest, total = stream_of(key, row), -np.inf, 0.0
        for k in range(n_columns):
            stream, draws[row, k] = log_of_gamma(stream, prior[k] + counts[row, k])
            largest = max(largest, draws[row, k])
        for k in range(n_columns):
            draws[row, k] = math.exp(draws[row, k] - largest)
            total += draws[row, k]
        draws[row] /= total
    return draws


@aside
def draw_log_dirichlet(stream: np.uint64, concentration, logs) -> None:
    """Fill logs with the logarithms of a draw from Dirichlet(concentration), finite even for tiny draws."""
    largest, total = -np.inf, 0.0
    for k in range(len(logs)):
        stream, logs[k] = log_of_gamma(stream, concentration[k])
        largest = max(largest, logs[k])
    for k in range(len(logs)):
        total += math.exp(logs[k] - largest)
    for k in range(len(logs)):
        logs[k] -= largest + math.log(total)


@kernel
def draw_log_dirichlets(counts: np.ndarray, prior, key: np.uint64):
    """Return the finite logarithms of draws from Dirichlet(prior + counts), one per row of counts (row, column).

    The random numbers are those of `draw_dirichlets`; prior is one number for all columns.
    """
    draws = np.empty(counts.shape)
    for row in range(len(counts)):
        draw_log_dirichlet(stream_of(key, row), prior + counts[row], draws[row])
    return draws
