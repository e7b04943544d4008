"""Variational Bayes update of LDA in a sequential or a parallel schedule, with optional sampled counts.

    gamma_dwk  ~  exp( <psi(alpha_k + n_dk)> + <psi(beta + n_wk)> - <psi(W beta + n_k)> )    spec A5, A9

n = m + c^s: the expected counts m of the variational pairs plus, in a hybrid, the sampled counts of
chain s; < > is the mean over the chains, in the log domain. Only pairs that are not sampled
are variational. Counts include the pair's own contribution.

In the parallel schedule every gamma comes from the same counts, so gamma factorises into a document
weight and a word weight and is never stored: `weigh_rows` makes the weights, `parallel_vb` the
counts. In the sequential schedule counts follow each pair and gamma is kept. Where priors are so small
that exp(psi) leaves the range of doubles, a pair is normalised in the log domain instead.

The entropy of factorised responsibilities is computed from their factors after a sweep and not within it::

    gamma_dwk = a_dk b_wk / Z_dw:   - sum n_dw gamma log gamma  =  sum n_dw log Z_dw - sum n_dk log a_dk - sum n_wk log b_wk

with n_dk and n_wk the expected counts under these responsibilities (spec A4). The factors are the weights of
`weigh_rows`, and `ratios` hold n_dw / Z_dw, or 0 where a pair was computed in the log domain.
"""

import numpy as np

from workbench.kernels.jit import aside, inlined, kernel, lean
from workbench.kernels.simd.functions import (
    count,
    digamma,
    exp_digamma_ratio,
    exp_nearly,
    fast_log,
    normalise_logs,
    shifted,
    total,
)
from workbench.kernels.simd.vectors import (
    LANES,
    choose,
    doubles,
    load,
    load_eight,
    numbers,
    pad_topics,
    spread,
    store,
)

TINY = 1e-100
"""Where a normaliser is below this, the pair is computed in the log domain."""
FAINT = 1e-150
"""A weight below this is faint: its logarithm is stored, since the weight is too small to compute it from."""
OUT_OF_REACH = 1e9
"""Subtracted from the log weight of a padding topic, so that the weight is 0."""
GROUP = 4
"""Pairs that kernels visit at a time."""
BLOCK = 8
"""Topics in a vector for four pairs: with sixteen, the sums would not fit into the registers of AVX2."""
NOTHING_SAMPLED = (
    np.zeros((0, 0, 0), np.int32),
    np.zeros((0, 0, 0), np.int32),
    np.zeros((0, 0, 0), np.int64),
)
"""Sampled counts (chain, row, topic) of documents, words and all tokens, without any chain. They have the types of real sampled
counts, so that kernels are compiled once for both."""


@inlined
def mean_digamma(prior, mean, sampled, index):
    """Return the mean over chains of psi(prior + expected count + sampled count), for the sixteen topics from index on.

    mean (row, topic) : the expected counts; sampled (chain, row, topic) : the sampled counts
    """
    n_chains, result = sampled.shape[0], spread(0.0)
    for s in range(max(n_chains, 1)):
        counts = load(mean, index)
        if n_chains:
            counts += doubles(load(sampled, s * mean.size + index))
        result += digamma(prior + counts)
    if n_chains > 1:
        result = result / n_chains
    return result


@lean
def log_row(row, prior, mean, sampled, log_sizes, point, logs) -> None:
    """Write to ``logs`` the logarithms of the factors that `weigh_row` computes for one document or one word (``row``).

    point : whether the parameters are point estimates, for which log replaces psi
    """
    for k in range(0, mean.shape[1], LANES):
        index = row * mean.shape[1] + k
        if point:
            expected = fast_log(load(prior, k) + load(mean, index))
        else:
            expected = mean_digamma(load(prior, k), mean, sampled, index)
        store(logs, index, expected - load(log_sizes, k))


@inlined
def weigh_row(row, prior, mean, sampled, log_sizes, point, logs, weights) -> None:
    """Write to ``weights`` the factor that one document or one word (``row``) contributes to gamma of each topic.

        weights_k = exp{ <psi(prior_k + mean_k + sampled_k)> - log_sizes_k }, < > the mean over chains

    mean (row, topic) and sampled (chain, row, topic) : expected and sampled counts. point : whether the parameters are point
    estimates, for which log replaces psi. If a weight of the row is below `FAINT`, its logarithms are written to ``logs`` too;
    see `log_weight`.
    """
    n_chains, n_faint = sampled.shape[0], 0
    if n_chains > 1:
        log_row(row, prior, mean, sampled, log_sizes, point, logs)
    for k in range(0, mean.shape[1], LANES):
        index, log_size = row * mean.shape[1] + k, load(log_sizes, k)
        factor, exponent = load(prior, k) + load(mean, index), 0.0 - log_size
        if n_chains > 1:
            factor, exponent = spread(1.0), load(logs, index)
        elif not point:
            if n_chains == 1:
                factor += doubles(load(sampled, index))
            factor, reciprocals = shifted(factor)
            exponent -= reciprocals
        new = factor * exp_nearly(exponent)
        store(weights, index, new)
        n_faint += count((new < FAINT) & (log_size < OUT_OF_REACH))
    if n_faint > 0 and n_chains < 2:
        log_row(row, prior, mean, sampled, log_sizes, point, logs)


@aside
def log_weight(row, k, logs, weights, n_topics: int):
    """Return log weight (row, k): from `logs` if the row has a very small weight, else from `weights`."""
    lowest = weights[row, 0]
    for topic in range(1, n_topics):
        lowest = min(lowest, weights[row, topic])
    return logs[row, k] if lowest < FAINT else fast_log(weights[row, k])


@lean
def weigh_rows(
    first: int, last: int, prior, mean, sampled, log_sizes, point, logs, weights
) -> None:
    """Write the weights of documents or words (rows) first..last, as `weigh_row` does."""
    for row in range(first, last):
        weigh_row(row, prior, mean, sampled, log_sizes, point, logs, weights)


def log_sizes(
    words_beta: float, mean_k: np.ndarray, sampled_k: np.ndarray, point, n_topics: int
) -> np.ndarray:
    """Return the log normaliser (topic padded,) of each topic: the mean over chains of psi(W beta + mean_k + sampled_k).

    words_beta : W beta. With ``point`` it is log(W beta + mean_k). The padding is so large that padding topics have weight 0.
    """
    n_padded = len(mean_k)
    sizes = mean_k + sampled_k[:, 0] if len(sampled_k) and not point else mean_k[None]
    logs, priors, unsized = np.empty(sizes.shape), np.full(n_padded, words_beta), np.zeros(n_padded)
    for chain in range(len(sizes)):
        log_row(chain, priors, sizes, NOTHING_SAMPLED[1], unsized, point, logs)
    return pad_topics(logs.mean(axis=0)[:n_topics], OUT_OF_REACH)


@aside
def log_domain_gamma(
    d,
    document_logs: np.ndarray,
    document_weights: np.ndarray,
    w,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_topics: int,
    gamma,
):
    """Compute one pair's gamma (topic,) in the log domain, from document and word weights; return the log normaliser."""
    for k in range(n_topics):
        document_log = log_weight(d, k, document_logs, document_weights, n_topics)
        gamma[k] = document_log + log_weight(w, k, word_logs, word_weights, n_topics)
    return normalise_logs(n_topics, gamma)


@inlined
def four_from(values, i):
    """Return the four elements from index i on."""
    i = np.uint64(i)
    return values[i], values[i + np.uint64(1)], values[i + np.uint64(2)], values[i + np.uint64(3)]


@inlined
def blend(weights, k, rows, shares):
    """Return the sum of four rows of weights, each times its number in `shares`, for the eight topics from k on.

    rows : the flat index where the weights of each pair begin
    """
    r0, r1, r2, r3 = rows
    q0, q1, q2, q3 = shares
    first = q0 * load_eight(weights, r0 + k) + q1 * load_eight(weights, r1 + k)
    return first + (q2 * load_eight(weights, r2 + k) + q3 * load_eight(weights, r3 + k))


@kernel
def update_pair(
    d,
    w,
    count,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    sampled_dk: np.ndarray,
    sampled_wk: np.ndarray,
    sampled_k: np.ndarray,
    alpha,
    beta,
    n_topics: int,
    stored,
    row,
    point,
    gamma,
) -> None:
    """Update one pair's gamma, stored[row], and the expected counts, in the sequential schedule.

    All rows are padded, alpha and the scratch `gamma` too; the padding of alpha may hold anything. point : as in `weigh_row`
    """
    n_padded, words_beta = mean_dk.shape[1], mean_wk.shape[0] * beta
    document, word, gamma_row = d * n_padded, w * n_padded, row * n_padded
    n_chains, sums = sampled_dk.shape[0], spread(0.0)
    if n_chains < 2:
        for k in range(0, n_padded, LANES):
            n_dk, n_wk, n_k = load(mean_dk, document + k), load(mean_wk, word + k), load(mean_k, k)
            if n_chains:
                n_dk += doubles(load(sampled_dk, document + k))
                n_wk += doubles(load(sampled_wk, word + k))
                n_k += doubles(load(sampled_k, k))
            document_sum, word_sum, size = load(alpha, k) + n_dk, beta + n_wk, words_beta + n_k
            if point:
                new = document_sum * (word_sum / size)
            else:
                new = exp_digamma_ratio(document_sum, word_sum, size)
            new = choose(numbers(new) < float(n_topics - k), new, spread(0.0))
            store(gamma, k, new)
            sums += new
    normaliser = total(sums)
    if normaliser < TINY:
        for k in range(0, n_padded, LANES):
            logs = mean_digamma(load(alpha, k), mean_dk, sampled_dk, document + k)
            logs += mean_digamma(spread(beta), mean_wk, sampled_wk, word + k)
            store(gamma, k, logs - mean_digamma(spread(words_beta), mean_k, sampled_k, k))
        normalise_logs(n_topics, gamma)
        for k in range(n_topics, n_padded):
            gamma[k] = 0.0
        normaliser = 1.0
    inverse = 1.0 / normaliser
    for k in range(0, n_padded, LANES):
        new = load(gamma, k) * inverse
        change = float(count) * (new - doubles(load(stored, gamma_row + k)))
        store(stored, gamma_row + k, new)
        store(mean_dk, document + k, max(load(mean_dk, document + k) + change, 0.0))
        store(mean_wk, word + k, max(load(mean_wk, word + k) + change, 0.0))
        store(mean_k, k, max(load(mean_k, k) + change, 0.0))


@kernel
def update_in_order(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    is_sampled,
    variational_before,
    stored,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    sampled_dk: np.ndarray,
    sampled_wk: np.ndarray,
    sampled_k: np.ndarray,
    alpha,
    beta,
    n_topics: int,
    point,
) -> None:
    """Update gamma of those pairs of documents first..last that are not sampled, one by one in canonical order.

    is_sampled (pair,) : whether a pair is sampled; variational_before (pair,) : the row of a variational pair in `stored`;
    point : as in `weigh_row`
    """
    gamma = np.empty(len(mean_k))
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            if not is_sampled[pair]:
                update_pair(
                    d,
                    words[pair],
                    counts[pair],
                    mean_dk,
                    mean_wk,
                    mean_k,
                    sampled_dk,
                    sampled_wk,
                    sampled_k,
                    alpha,
                    beta,
                    n_topics,
                    stored,
                    variational_before[pair],
                    point,
                    gamma,
                )


@lean
def weighted_entropy(weights, gamma):
    """Return - sum_i weights_i sum_k gamma_ik log gamma_ik of padded rows, with 0 log 0 = 0."""
    n_padded, result = gamma.shape[1], spread(0.0)
    for i in range(len(weights)):
        row_sums = spread(0.0)
        for k in range(i * n_padded, (i + 1) * n_padded, LANES):
            g = doubles(load(gamma, k))
            row_sums += g * fast_log(max(g, 1e-300))
        result += weights[i] * row_sums
    return 0.0 - total(result)


LARGEST_POWER = 3.0
"""Powers up to this are multiplied into a product with one logarithm; larger ones get a logarithm of their own."""
SMALLEST_PRODUCT, LARGEST_PRODUCT = 1e-200, 1e200
"""Range of the product of normalisers; beyond it the logarithm is taken and the product restarts at 1."""


@lean
def log_weights(mean, logs, weights):
    """Return the sum of n log weight over `mean` (n) and weights, with the logarithm from `logs` where a weight is tiny."""
    expected = spread(0.0)
    for i in range(0, mean.size, LANES):
        n, weight = load(mean, i), load(weights, i)
        log, faint = fast_log(max(weight, FAINT)), weight < FAINT
        if count(faint) > 0:
            log = choose(faint & (n > 0.0), load(logs, i), log)
        expected += n * log
    return total(expected)


@inlined
def times_power(product, logs, c, z):
    """Add c log z to sixteen sums (one a pair), each kept as log(product) + logs; return the new product and logs.

    Small powers z^c are multiplied into the product, so that many of them need one logarithm.
    """
    is_large = c > LARGEST_POWER
    power = choose(
        is_large, spread(1.0), z * choose(c > 1.0, z, spread(1.0)) * choose(c > 2.0, z, spread(1.0))
    )
    longer = product * power
    if count(longer < SMALLEST_PRODUCT) + count(longer > LARGEST_PRODUCT) == 0:
        product = longer
    else:
        product, logs = power, logs + fast_log(product)
    if count(is_large) > 0:
        logs += choose(is_large, c * fast_log(z), spread(0.0))
    return product, logs


@lean
def log_normalisers(counts: np.ndarray, ratios: np.ndarray):
    """Return sum_dw n_dw log Z_dw over pairs with a stored n_dw / Z_dw > 0, and the number of other pairs."""
    product, logs, scalar_sum, n_by_logs = spread(1.0), spread(0.0), 0.0, 0
    n_in_lanes = len(ratios) - len(ratios) % LANES
    for i in range(0, n_in_lanes, LANES):
        c, ratio = doubles(load(counts, i)), load(ratios, i)
        is_zero = ratio == 0.0
        n_by_logs += count(is_zero & (c > 0.0))
        product, logs = times_power(product, logs, c, choose(is_zero, spread(1.0), c / ratio))
    for i in range(n_in_lanes, len(ratios)):
        if ratios[i] > 0.0:
            scalar_sum += counts[i] * fast_log(counts[i] / ratios[i])
        else:
            n_by_logs += counts[i] > 0
    return total(logs + fast_log(product)) + scalar_sum, n_by_logs


@kernel
def log_normalisers_by_logs(
    documents: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    document_logs: np.ndarray,
    document_weights: np.ndarray,
    word_logs: np.ndarray,
    word_weights: np.ndarray,
    n_topics: int,
):
    """Return sum_dw n_dw log Z_dw over pairs with a tiny normaliser Z, computed in the log domain."""
    gamma, result = np.empty(n_topics), 0.0
    for i in range(len(counts)):
        d, w = np.int64(documents[i]), np.int64(words[i])
        result += counts[i] * log_domain_gamma(
            d, document_logs, document_weights, w, word_logs, word_weights, n_topics, gamma
        )
    return result
