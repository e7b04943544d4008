"""Selection of pairs of a corpus: those with a mark, and those of the largest rank within a budget.

The loops have no branch, since whether a pair is selected cannot be predicted.
"""

import numpy as np

from workbench.kernels.jit import kernel

DIGIT = 16
"""Bits of a rank that one pass of `take_highest_ranks` sorts by."""


@kernel
def select_pairs(
    mark,
    value,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    tokens_before: np.ndarray,
    new_indptr,
    new_words,
    new_counts,
    new_before,
) -> None:
    """Copy the document-word pairs whose element of `mark` equals `value`, in order, to the arrays new_*.

    new_words, new_counts and new_before must have one place more than there are such pairs. new_before (pair,) gets the number
    of the first token of each pair in the whole corpus.
    """
    n_selected = 0
    for d in range(len(indptr) - 1):
        new_indptr[d] = n_selected
        for pair in range(indptr[d], indptr[d + 1]):
            new_words[n_selected], new_counts[n_selected], new_before[n_selected] = (
                words[pair],
                counts[pair],
                tokens_before[pair],
            )
            n_selected += mark[pair] == value
    new_indptr[-1] = n_selected


@kernel
def select_places(
    run_begins,
    documents: np.ndarray,
    counts: np.ndarray,
    pairs,
    left_out,
    new_begins,
    new_documents,
    new_counts,
):
    """Copy the entries (one per pair) of `split.Blocks`, except for pairs marked in left_out; return how many were copied.

    Spare entries, which hold no pair, are copied too.
    """
    n_copied = 0
    for run in range(len(run_begins) - 1):
        new_begins[run] = n_copied
        for index in range(run_begins[run], run_begins[run + 1]):
            new_documents[n_copied], new_counts[n_copied] = documents[index], counts[index]
            n_copied += pairs[index] < 0 or not left_out[max(pairs[index], 0)]
    new_begins[-1] = n_copied
    return n_copied


@kernel
def sum_of(mark, values):
    """Return the sum of the values whose mark is true."""
    result = np.int64(0)
    for i in range(len(values)):
        result += mark[i] * np.int64(values[i])
    return result


@kernel
def take_highest_ranks(ranks, counts: np.ndarray, pairs, budget, is_taken) -> None:
    """Mark in is_taken (pair,) the pairs of highest rank, as many as their costs, summed from the top, stay within the budget.

    ranks (place,), at least 0. A pair of n tokens costs n - 1; pairs of one token are ignored. Pairs of equal rank are selected
    together. The bits of nonnegative doubles, read as integers, are in the order of the doubles; so costs are summed by the
    digits of the rank, the first digit first, to find the largest rank that exceeds the budget.
    """
    bits, prefix, remainder = ranks.view(np.int64), np.int64(0), budget
    for first in range(64 - DIGIT, -1, -DIGIT):
        digit_costs = np.zeros(2**DIGIT, np.int64)
        for i in range(len(bits)):
            shifted = bits[i] >> first
            if shifted >> DIGIT == prefix and counts[i] > 1:
                digit_costs[shifted & (2**DIGIT - 1)] += counts[i] - 1
        digit = 2**DIGIT - 1
        while digit >= 0 and digit_costs[digit] <= remainder:
            remainder -= digit_costs[digit]
            digit -= 1
        if digit < 0:  # all pairs are within the budget
            prefix = np.int64(-1)
            break
        prefix = (prefix << DIGIT) | digit
    for i in range(len(bits)):
        if counts[i] > 1:
            is_taken[pairs[i]] = bits[i] > prefix
