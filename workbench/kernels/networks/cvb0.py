"""Collapsed variational update of networks of mixture levels, zeroth order (CVB0): the responsibility q of each path per pair.

    q(path)  ~  prod over its levels (E_kt + alpha_t) / (E_k + sum alpha)                          spec A7 and D.4 together

E are expected counts without *one* token of the pair, whatever its count: all its tokens share q, as in `collapsed_vb`. From a
cell, the sum of q over the paths that visit the cell is removed. Pairs are visited in canonical order, and the counts are
updated after each pair. Numbers are in the layout of the vector of `workbench.engines.networks.paths`; q of a pair is a row of
slots for each author of its document, and the rows of all pairs are concatenated.
"""

import math
from typing import NamedTuple

import numpy as np

from workbench.kernels.jit import inlined, kernel, lean
from workbench.kernels.networks.path_slots import add_path
from workbench.kernels.uniforms import uniform

TINY = 1e-100
"""A normaliser below this, or above its inverse, is computed in the log domain."""


class Addends(NamedTuple):
    """The prior to add to the count at each address (`engines.networks.paths`), and which addresses are of row sums."""

    prior: np.ndarray  # (address,) float64; for a known probability, the probability itself
    is_row: np.ndarray  # (address,) bool
    known: np.ndarray  # (address,) bool: whether it is a probability of a given table
    beta: np.ndarray  # (R,) float64
    beta_total: np.ndarray  # (language * R,) float64
    size_at: np.ndarray  # (word,) int64 where the sums of the word's language begin in n_k
    own_at: int  # addresses below this belong to documents
    rest_at: int  # addresses from here on belong to the corpus


@inlined
def weigh_path(d, w, size_at, slot, author, slots, added, totals, by_logs):
    """Return the weight of one path for one pair given the current counts, or its logarithm if `by_logs`.

    size_at : where the sums n_k over the words of its language begin
    """
    leaf = slots.leaf[slot]
    size = leaf + size_at
    numerator, denominator = (
        added.beta[leaf] + totals.n_wk[w, leaf],
        added.beta_total[size] + totals.n_k[size],
    )
    log_weight = math.log(numerator / denominator) if by_logs else 0.0
    for f in range(slots.factors.shape[1]):
        address = slots.factors[slot, f] + author * slots.factor_strides[slot, f]
        number = added.prior[address]
        if address >= added.rest_at:
            number += totals.n_rest[address - added.rest_at]
        elif address < added.own_at:
            number += totals.n_own[d, address]
        if by_logs:
            log_number = math.log(number) if number > 0.0 else -math.inf
            log_weight += -log_number if added.is_row[address] else log_number
        elif added.is_row[address]:
            denominator *= number
        else:
            numerator *= number
    return log_weight if by_logs else numerator / denominator


@lean
def update_paths(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    owners,
    pair_begins,
    slots,
    added,
    gamma,
    totals,
    new,
):
    """Update the responsibilities q of the pairs of documents first..last, in turn; return the largest change of a q.

    pair_begins (pair + 1,) int64: where the slots of each pair begin in `gamma`; new (author of a document, path) is scratch.
    """
    n_slots, largest = len(slots.leaf), 0.0
    for d in range(first, last):
        authors, s = owners.ids[owners.indptr[d] : owners.indptr[d + 1]], owners.set_of[d]
        real = owners.slots[owners.slot_ptr[s] : owners.slot_ptr[s + 1]]
        for pair in range(indptr[d], indptr[d + 1]):
            w, n, total = words[pair], counts[pair], 0.0
            size_at = added.size_at[w]
            for o in range(len(authors)):
                for slot in real:
                    q = np.float64(gamma[pair_begins[pair] + o * n_slots + slot])
                    at = size_at, added.rest_at
                    add_path(d, w, slot, authors[o], -q, slots, *at, totals)
            for o in range(len(authors)):
                for i in range(len(real)):
                    new[o, i] = weigh_path(
                        d, w, size_at, real[i], authors[o], slots, added, totals, False
                    )
                    total += new[o, i]
            if not TINY < total < 1.0 / TINY:
                largest_log, total = -math.inf, 0.0
                for o in range(len(authors)):
                    for i in range(len(real)):
                        new[o, i] = weigh_path(
                            d, w, size_at, real[i], authors[o], slots, added, totals, True
                        )
                        largest_log = max(largest_log, new[o, i])
                for o in range(len(authors)):
                    for i in range(len(real)):
                        new[o, i] = math.exp(new[o, i] - largest_log)
                        total += new[o, i]
            for o in range(len(authors)):
                for i in range(len(real)):
                    address = pair_begins[pair] + o * n_slots + real[i]
                    old = np.float64(gamma[address])
                    gamma[address] = new[o, i] / total
                    q = np.float64(gamma[address])
                    largest = max(largest, abs(q - old))
                    add_path(
                        d,
                        w,
                        real[i],
                        authors[o],
                        n * q - (n - 1) * old,
                        slots,
                        size_at,
                        added.rest_at,
                        totals,
                    )
    return largest


@lean
def add_paths(
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    owners,
    pair_begins,
    slots,
    fixed,
    added,
    gamma,
    totals,
    n_dr: np.ndarray,
):
    """Add the expected counts under the responsibilities `gamma` to count arrays, 0 on entry; return the entropy.

    n_dr (document, R) gets the expected tokens of each document in each row of the last level. Returns the entropy of the
    responsibilities plus the expected log of the given probabilities, in nats.
    """
    n_slots, result = len(slots.leaf), 0.0
    for d in range(len(indptr) - 1):
        s = owners.set_of[d]
        real = owners.slots[owners.slot_ptr[s] : owners.slot_ptr[s + 1]]
        for pair in range(indptr[d], indptr[d + 1]):
            n, size_at = counts[pair], added.size_at[words[pair]]
            for address in fixed:
                totals.n_own[d, address] += n
            for o in range(owners.indptr[d + 1] - owners.indptr[d]):
                for slot in real:
                    q = np.float64(gamma[pair_begins[pair] + o * n_slots + slot])
                    author = owners.ids[owners.indptr[d] + o]
                    at = size_at, added.rest_at
                    add_path(d, words[pair], slot, author, n * q, slots, *at, totals)
                    n_dr[d, slots.leaf[slot]] += n * q
                    if q == 0.0:
                        continue
                    result -= n * q * math.log(q)
                    for f in range(slots.factors.shape[1]):
                        address = slots.factors[slot, f] + author * slots.factor_strides[slot, f]
                        if added.known[address]:
                            result += n * q * math.log(added.prior[address])
    return result


@kernel
def spread_over_paths(
    indptr: np.ndarray, owners, pair_begins, slots, key: np.uint64, row_shares, gamma
) -> None:
    """Compute initial responsibilities: a pair's share of a last-level row is divided at random among its paths.

    row_shares (pair, R) : the shares. The proportions are exponential draws under the key, equal for all pairs of a document.
    """
    n_slots = len(slots.leaf)
    for d in range(len(indptr) - 1):
        first, n_here = owners.indptr[d], owners.indptr[d + 1] - owners.indptr[d]
        s = owners.set_of[d]
        real = owners.slots[owners.slot_ptr[s] : owners.slot_ptr[s + 1]]
        parts, mass = np.zeros((n_here, n_slots)), np.zeros(row_shares.shape[1])
        for o in range(n_here):
            for slot in real:
                parts[o, slot] = (
                    -math.log(1.0 - uniform(key, (first + o) * n_slots + slot)) + 1e-300
                )
                mass[slots.leaf[slot]] += parts[o, slot]
        for pair in range(indptr[d], indptr[d + 1]):
            for o in range(n_here):
                for slot in real:
                    r = slots.leaf[slot]
                    gamma[pair_begins[pair] + o * n_slots + slot] = row_shares[pair, r] * (
                        parts[o, slot] / mass[r]
                    )
