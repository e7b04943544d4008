"""Initial paths of tokens in a network, and the counts along them; see `networks.gibbs`.

A place is a path slot among those of all authors of the token's document, slots of the first author first.
"""

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.uniforms import uniform


@kernel
def count_paths(
    indptr, words, counts, tokens_before, threshold, owners_ptr, owners, leaf_stride, rest_at, fixed, slots, places, n_own,
    n_rest, n_wk, n_k,
):
    """Adds every token of pairs that count at most the threshold to the counts along its place."""
    n_slots = len(slots.leaf)
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if counts[pair] > threshold:
                continue
            for i in fixed:
                n_own[d, i] += counts[pair]
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                slot, author = places[token] % n_slots, owners[owners_ptr[d] + places[token] // n_slots]
                leaf = slots.leaf[slot] + author * leaf_stride
                n_wk[words[pair], leaf] += 1
                n_k[leaf] += 1
                for level in range(slots.cells.shape[1]):
                    for at in (slots.cells[slot, level], slots.rows[slot, level]):
                        if at >= rest_at:
                            n_rest[at + author * slots.strides[level] - rest_at] += 1
                        elif at >= 0:
                            n_own[d, at] += 1


@kernel
def rows_of_places(indptr, tokens_before, owners_ptr, owners, leaf_stride, leaf, places, rows):
    """The place among rows of the last level of every token, (token,)."""
    for d in range(len(indptr) - 1):
        for token in range(tokens_before[indptr[d]], tokens_before[indptr[d + 1]]):
            author = owners[owners_ptr[d] + places[token] // len(leaf)]
            rows[token] = leaf[places[token] % len(leaf)] + author * leaf_stride


@kernel
def uniform_places(key, tokens, owners_ptr, real, n_slots, places):
    """A place for every token, each real slot of each author of its document with the same probability.

    tokens (document + 1,): tokens before each document; real (path,): the slots that are paths.
    """
    for d in range(len(tokens) - 1):
        n_here = (owners_ptr[d + 1] - owners_ptr[d]) * len(real)
        for token in range(tokens[d], tokens[d + 1]):
            chosen = np.int64(uniform(key, token) * n_here)
            places[token] = chosen // len(real) * n_slots + real[chosen % len(real)]


@kernel
def places_of_counts(
    indptr, words, counts, tokens_before, owners_ptr, owners, leaf_stride, slots, flat, real, given_dr, given_wk, given_k, beta,
    beta_total, topics, key, places,
):
    """A place for every token, drawn given counts of another run by rows of the last level.

    The prior weight of a path is multiplied by that of the word; the counts of a document by rows (given_dr, of no rows where
    they are not known) stand in proportion over the paths that end there, so that of LDA (alpha_k + n_dk) is weighed. A token
    whose row is known (topics, of no length where none is, else -1 where it is not) has a path to it.
    """
    n_slots = len(slots.leaf)
    for d in range(len(indptr) - 1):
        own = owners[owners_ptr[d] : owners_ptr[d + 1]]
        prior, mass = np.ones(len(own) * len(real)), np.zeros(len(beta))
        for i in range(len(prior)):
            slot, author = real[i % len(real)], own[i // len(real)]
            for f in range(slots.factors.shape[1]):
                prior[i] *= flat[slots.factors[slot, f] + author * slots.factor_strides[slot, f]]
            mass[slots.leaf[slot] + author * leaf_stride] += prior[i]
        running = np.empty(len(prior))
        for pair in range(indptr[d], indptr[d + 1]):
            w = words[pair]
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                known, total = topics[token] if len(topics) else -1, 0.0
                for i in range(len(prior)):
                    leaf = slots.leaf[real[i % len(real)]] + own[i // len(real)] * leaf_stride
                    weight = prior[i] * (1.0 + (given_dr[d, leaf] / mass[leaf] if len(given_dr) else 0.0))
                    weight *= (beta[leaf] + given_wk[w, leaf]) / (beta_total[leaf] + given_k[leaf])
                    total += weight if known < 0 or known == leaf else 0.0
                    running[i] = total
                i = min(np.searchsorted(running, uniform(key, token) * total, "right"), len(running) - 1)
                places[token] = i // len(real) * n_slots + real[i % len(real)]
