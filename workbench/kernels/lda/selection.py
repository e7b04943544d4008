"""Some of the pairs of a corpus, in the orders that sweeps take, and those of the largest rank within a budget.

The loops have no branch: whether a pair is taken is as good as random.
"""

import numpy as np

from workbench.kernels.jit import kernel

DIGIT = 16
"""Bits of a rank that are looked at in one pass."""


@kernel
def select_pairs(
    mark,
    wanted,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    new_indptr,
    new_words,
    new_counts,
    new_before,
) -> None:
    """Write the pairs whose mark is the wanted one, in order, to arrays with one place more than there are such pairs.

    new_before (pair,): the number of the first token of each pair in the whole corpus.
    """
    to = 0
    for d in range(len(indptr) - 1):
        new_indptr[d] = to
        for pair in range(indptr[d], indptr[d + 1]):
            new_words[to], new_counts[to], new_before[to] = (
                words[pair],
                counts[pair],
                tokens_before[pair],
            )
            to += mark[pair] == wanted
    new_indptr[-1] = to


@kernel
def select_places(
    begins,
    documents: np.ndarray,
    counts: np.ndarray,
    pairs,
    left_out,
    new_begins,
    new_documents,
    new_counts,
):
    """Write the places of `engines.lda.split.Blocks` whose pairs are not left out, and the spare ones.

    Returns how many there are.
    """
    to = 0
    for run in range(len(begins) - 1):
        new_begins[run] = to
        for index in range(begins[run], begins[run + 1]):
            new_documents[to], new_counts[to] = documents[index], counts[index]
            to += pairs[index] < 0 or not left_out[max(pairs[index], 0)]
    new_begins[-1] = to
    return to


@kernel
def sum_of(mark, values):
    """Sum of the values that are marked."""
    result = np.int64(0)
    for i in range(len(values)):
        result += mark[i] * np.int64(values[i])
    return result


@kernel
def take_dearest(ranks, counts: np.ndarray, pairs, budget, taken) -> None:
    """Set `taken[pair]` to whether a pair is among those of the largest rank that cost at most the budget together.

    ranks (place,), at least 0; a pair of n tokens costs n - 1, and one without a cost is passed over. Pairs of equal rank are
    taken together. Bits of a double at least 0 are in the order of the doubles: costs summed by digits of the rank, the first
    digit first, lead to the largest rank that cannot be paid for.
    """
    bits, prefix, left = ranks.view(np.int64), np.int64(0), budget
    for first in range(64 - DIGIT, -1, -DIGIT):
        of_digit = np.zeros(2**DIGIT, np.int64)
        for i in range(len(bits)):
            shifted = bits[i] >> first
            if shifted >> DIGIT == prefix and counts[i] > 1:
                of_digit[shifted & (2**DIGIT - 1)] += counts[i] - 1
        digit = 2**DIGIT - 1
        while digit >= 0 and of_digit[digit] <= left:
            left -= of_digit[digit]
            digit -= 1
        if digit < 0:  # all can be paid for
            prefix = np.int64(-1)
            break
        prefix = (prefix << DIGIT) | digit
    for i in range(len(bits)):
        if counts[i] > 1:
            taken[pairs[i]] = bits[i] > prefix
