"""Random numbers as a function of (seed, stream, chain, step, index): no state to carry or store.

A key is hashed from the first four; the uniform of an index is one splitmix64 output of the key.
The answer therefore depends neither on the order in which tokens are visited nor on the number of
threads, and a resumed run continues with the very numbers of an uninterrupted one.

Steele, Lea & Flood (2014), "Fast splittable pseudorandom number generators".
"""

import numpy as np

from workbench.kernels.jit import inlined, lean, small

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)
TO_UNIT = 2.0**-53

RESPONSIBILITIES, TOPICS, GIBBS = 1, 2, 3
"""Streams: initial responsibilities, initial topics, draws of a chain."""
FOLD_IN, ANNEALING, LEFT_TO_RIGHT = 11, 12, 13
"""Streams of draws after inference: topics of unseen documents, chains of a bound, particles of the left-to-right estimate."""
HDP_TABLES, HDP_NEW_TOPICS, HDP_WEIGHTS = 21, 22, 23
"""Streams of the sampler of the HDP: its tables, the weights of new topics, and gamma, pi and alpha."""
HYPERPARAMETERS = 25
"""Stream of alpha (chain 0) and beta (chain 1) of LDA where they are sampled."""
PATHS = 31
"""Stream of the initial levels above the topics of a network: of documents (chain 0) and of the corpus (chain 1)."""
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
"""Streams of splits that adapt: pairs in random order, and the topics of tokens that come to be sampled."""
MOVES = 24
"""Stream of splits and merges: the topics, and the documents that seed a split."""


@inlined
def mix(bits):
    """The finaliser of splitmix64: 64 bits in, 64 well-mixed bits out."""
    bits = (bits ^ (bits >> np.uint64(30))) * MIX_A
    bits = (bits ^ (bits >> np.uint64(27))) * MIX_B
    return bits ^ (bits >> np.uint64(31))


@small
def uniform(key, index):
    """The uniform in [0, 1) that belongs to an index under a key, with 53 bits."""
    return (
        np.float64(mix(key + (np.uint64(index) + np.uint64(1)) * GOLDEN) >> np.uint64(11)) * TO_UNIT
    )


@lean
def fill_uniform(key, found):
    """Fills a one-dimensional array with the uniforms of the indices 0, 1, 2 … under a key."""
    for index in range(len(found)):
        found[index] = uniform(key, index)


@lean
def absorb(key, part):
    """The key with one more number hashed into it."""
    return mix((key ^ np.uint64(part)) * MIX_A + GOLDEN)


@lean
def draw_key(seed, stream, chain, step):
    """The key of one step of one chain of one stream."""
    return absorb(absorb(absorb(absorb(np.uint64(0), seed), stream), chain), step)


def key_from(key, first: int) -> np.uint64:
    """The key under which the indices 0, 1, 2 … have the uniforms that first, first + 1 … have under this one."""
    return np.uint64((int(key) + first * int(GOLDEN)) % 2**64)


def permutation(key, n: int) -> np.ndarray:
    """The numbers below n in a random order."""
    drawn = np.empty(n)
    fill_uniform(key, drawn)
    return np.argsort(drawn, kind="stable")
