"""Initial responsibilities of pairs and topics of tokens: at random, or from the counts of another run.

At random, every pair has its own responsibility (never the uniform one, which is a fixed point with a symmetric prior; spec
A.12), and every token a uniform topic. From counts n of another run,

    p(k | d, w)  ~  (alpha_k + n_dk) (beta + n_wk) / (W beta + n_k)

is the responsibility of a pair and the distribution from which the topic of a token is drawn; if that run had other documents,
n_dk is 0. If the topic of every token is known, the responsibility is the share of each topic among the tokens of a pair; a
token whose topic was dropped counts equally for all topics.

Uniforms are drawn sixteen at once, with the bits of `kernels.uniforms.uniform`.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.simd.libm_log import libm_log
from workbench.kernels.simd.vectors import INT64, LANES, Vector, load, store
from workbench.kernels.uniforms import GOLDEN, MIX_A, MIX_B, TO_UNIT, uniform

INTEGERS, DOUBLES = (ir.VectorType(kind, LANES) for kind in (INT64, ir.DoubleType()))


def _constant(number: int) -> ir.Constant:
    return ir.Constant(INTEGERS, [number % 2**64] * LANES)


@intrinsic
def sixteen_uniforms(typing_context, key: np.uint64, index):
    """Return the uniforms in [0, 1) of sixteen indices from `index` on under a key: a vector of float64."""

    def build(context, builder, sig, arguments):
        first = builder.add(arguments[0], builder.mul(arguments[1], INT64(int(GOLDEN))))
        single = builder.insert_element(
            ir.Constant(INTEGERS, ir.Undefined), first, ir.IntType(32)(0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        steps = ir.Constant(INTEGERS, [(lane + 1) * int(GOLDEN) % 2**64 for lane in range(LANES)])
        bits = builder.add(
            builder.shuffle_vector(single, ir.Constant(INTEGERS, ir.Undefined), zeros), steps
        )
        for shift, factor in ((30, int(MIX_A)), (27, int(MIX_B))):
            bits = builder.mul(
                builder.xor(bits, builder.lshr(bits, _constant(shift))), _constant(factor)
            )
        bits = builder.lshr(builder.xor(bits, builder.lshr(bits, _constant(31))), _constant(11))
        return builder.fmul(builder.uitofp(bits, DOUBLES), ir.Constant(DOUBLES, [TO_UNIT] * LANES))

    return Vector(types.float64)(types.uint64, types.int64), build


WAYS = ("dirichlet", "noise", "hard")
"""Ways to draw a responsibility: from the flat Dirichlet; proportional to 1 + u, u uniform; one topic with certainty."""
DIRICHLET, NOISE, HARD = range(len(WAYS))


TOGETHER = 4
"""Pairs that are normalised at a time: four sums are added up in parallel, while one would wait for each addition."""


@inlined
def weigh_at_random(way, key: np.uint64, pair, n_topics: int, gamma, first: int) -> None:
    """Write random unnormalised responsibilities of one pair to gamma, from flat index `first` on.

    It depends only on the key and the number of the pair.
    """
    if way == HARD:
        topic = np.int64(uniform(key, pair * n_topics) * n_topics)
        for k in range(n_topics):
            gamma[first + k] = 1.0 if k == topic else 0.0
        return
    for k in range(0, n_topics, LANES):
        u = sixteen_uniforms(key, pair * n_topics + k)
        store(gamma, first + k, 1.0 + u if way == NOISE else -1.0 * libm_log(1.0 - u))


@inlined
def weigh_by_counts(
    d,
    w,
    given_dk,
    given_wk: np.ndarray,
    given_k: np.ndarray,
    alpha,
    beta,
    n_topics: int,
    gamma,
    first: int,
) -> None:
    """Write one pair's unnormalised responsibilities, given the counts of another run, to gamma.

    given_dk : None if that run had other documents
    """
    words_beta = given_wk.shape[0] * beta
    for k in range(n_topics):
        document = alpha[k] if given_dk is None else alpha[k] + given_dk[d, k]
        gamma[first + k] = document * ((beta + given_wk[w, k]) / (words_beta + given_k[k]))


@inlined
def gamma_of_topics(topics: np.ndarray, token, n_tokens, n_topics: int, gamma, first: int) -> None:
    """Write to gamma the share of each topic among the given topics of one pair's tokens.

    topics (token,) : -1 where the topic of a token was dropped; token : the first token of the pair
    """
    for k in range(n_topics):
        gamma[first + k] = 0.0
    for part in range(token, token + n_tokens):
        if topics[part] >= 0:
            gamma[first + topics[part]] += 1.0 / n_tokens
        else:
            for k in range(n_topics):
                gamma[first + k] += 1.0 / (n_tokens * n_topics)


@inlined
def normalise(gamma, lanes, n_topics: int) -> None:
    """Normalise four rows of gamma so that each sums to 1; the padding becomes 0.

    Each sum is added up from the first topic to the last.
    """
    total_0 = total_1 = total_2 = total_3 = 0.0
    for k in range(n_topics):
        total_0 += gamma[k]
        total_1 += gamma[lanes + k]
        total_2 += gamma[2 * lanes + k]
        total_3 += gamma[3 * lanes + k]
    for k in range(0, lanes, LANES):
        store(gamma, k, load(gamma, k) / total_0)
        store(gamma, lanes + k, load(gamma, lanes + k) / total_1)
        store(gamma, 2 * lanes + k, load(gamma, 2 * lanes + k) / total_2)
        store(gamma, 3 * lanes + k, load(gamma, 3 * lanes + k) / total_3)
    for row in range(TOGETHER):
        for k in range(n_topics, lanes):
            gamma[row * lanes + k] = 0.0


@lean
def start_responsibilities(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    sampled,
    way,
    key: np.uint64,
    given_dk,
    given_wk: np.ndarray,
    given_k: np.ndarray,
    given_topics,
    alpha,
    beta,
    n_topics: int,
    stored,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    gamma,
    pairs,
) -> None:
    """Compute the initial responsibilities gamma of all pairs that are not sampled, and add them to the expected counts.

    stored (pair, topic padded) gets gamma, unless it is empty.

    gamma comes from the given topics of tokens; if given_topics is None, from the given counts; if given_k is None too, it
    is random in the given way, times given_wk unless that is None. `gamma` (4 topic padded,), zeros, and `pairs` (4,) int64 are
    scratch.
    """
    row, lanes = 0, len(mean_k)
    for d in range(len(indptr) - 1):
        pair, last = indptr[d], indptr[d + 1]
        while pair < last:
            n = 0
            while pair < last and n < TOGETHER:
                if not sampled[pair]:
                    if given_topics is not None:
                        gamma_of_topics(
                            given_topics,
                            tokens_before[pair],
                            counts[pair],
                            n_topics,
                            gamma,
                            n * lanes,
                        )
                    elif given_wk is None:
                        weigh_at_random(way, key, pair, n_topics, gamma, n * lanes)
                    elif given_k is None:
                        weigh_at_random(way, key, pair, n_topics, gamma, n * lanes)
                        for k in range(n_topics):
                            gamma[n * lanes + k] *= given_wk[words[pair], k]
                    else:
                        weigh_by_counts(
                            d,
                            words[pair],
                            given_dk,
                            given_wk,
                            given_k,
                            alpha,
                            beta,
                            n_topics,
                            gamma,
                            n * lanes,
                        )
                    pairs[n] = pair
                    n += 1
                pair += 1
            if given_topics is None and (given_wk is not None or way != HARD):
                normalise(gamma, lanes, n_topics)
            for i in range(n):
                if len(stored):
                    for k in range(0, lanes, LANES):
                        store(stored, row * lanes + k, load(gamma, i * lanes + k))
                row += 1
            for k in range(0, lanes, LANES):
                n_dk, n_k = load(mean_dk, d * lanes + k), load(mean_k, k)
                for i in range(n):
                    expected = np.float64(counts[pairs[i]]) * load(gamma, i * lanes + k)
                    index = words[pairs[i]] * lanes + k
                    store(mean_wk, index, load(mean_wk, index) + expected)
                    n_dk += expected
                    n_k += expected
                store(mean_dk, d * lanes + k, n_dk)
                store(mean_k, k, n_k)


@kernel
def uniform_topics(key: np.uint64, n_tokens, n_topics: int):
    """Return topics (token,) uint16, each drawn uniformly."""
    topics = np.empty(n_tokens, np.uint16)
    for token in range(n_tokens):
        topics[token] = np.int64(uniform(key, token) * n_topics)
    return topics


@kernel
def topics_of_counts(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    key: np.uint64,
    given_dk,
    given_wk: np.ndarray,
    given_k: np.ndarray,
    alpha,
    beta,
    n_topics: int,
    topics: np.ndarray,
) -> None:
    """Draw each token's topic from the responsibilities of its document-word pair under another run's counts."""
    gamma = np.zeros(n_topics)
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            weigh_by_counts(
                d, words[pair], given_dk, given_wk, given_k, alpha, beta, n_topics, gamma, 0
            )
            total = 0.0
            for k in range(n_topics):
                total += gamma[k]
            for k in range(n_topics):
                gamma[k] /= total
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                rest, k = uniform(key, token), np.int64(0)
                while k < n_topics - 1 and rest >= gamma[k]:
                    rest -= gamma[k]
                    k += 1
                topics[token] = k
