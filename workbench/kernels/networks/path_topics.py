"""Initial paths of tokens in a network, and the counts along them; see `networks.gibbs`.

A place is a path slot among those of all authors of the token's document, slots of the first author first.
"""

import numpy as np

from workbench.kernels.jit import kernel
from workbench.kernels.networks.cvb0 import add_path
from workbench.kernels.uniforms import uniform


@kernel
def count_paths(indptr, words, counts, tokens_before, threshold, owners, rest_at, fixed, slots, places, whole):
    """Adds every token of pairs that count at most the threshold to the counts along its place."""
    n_slots = len(slots.leaf)
    for d in range(len(indptr) - 1):
        for pair in range(indptr[d], indptr[d + 1]):
            if counts[pair] > threshold:
                continue
            for i in fixed:
                whole.n_own[d, i] += counts[pair]
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                author = owners.ids[owners.indptr[d] + places[token] // n_slots]
                add_path(d, words[pair], places[token] % n_slots, author, 1, slots, rest_at, whole)


@kernel
def uniform_places(key, tokens, owners, real, n_slots, places):
    """A place for every token, each real slot of each author of its document with the same probability.

    tokens (document + 1,): tokens before each document; real (path,): the slots that are paths.
    """
    for d in range(len(tokens) - 1):
        n_here = (owners.indptr[d + 1] - owners.indptr[d]) * len(real)
        for token in range(tokens[d], tokens[d + 1]):
            chosen = np.int64(uniform(key, token) * n_here)
            places[token] = chosen // len(real) * n_slots + real[chosen % len(real)]


@kernel
def places_of_counts(
    indptr, words, counts, tokens_before, owners, slots, flat, real, given_dr, given_wk, given_k, beta, beta_total, topics, key,
    places,
):
    """A place for every token, drawn given counts of another run by rows of the last level.

    The prior weight of a path is multiplied by that of the word; the counts of a document by rows (given_dr, of no rows where
    they are not known) stand in proportion over the paths that end there, so that of LDA (alpha_k + n_dk) is weighed. A token
    whose row is known (topics, of no length where none is, else -1 where it is not) has a path to it.
    """
    n_slots = len(slots.leaf)
    for d in range(len(indptr) - 1):
        own = owners.ids[owners.indptr[d] : owners.indptr[d + 1]]
        prior, mass = np.ones(len(own) * len(real)), np.zeros(len(beta))
        for i in range(len(prior)):
            slot, author = real[i % len(real)], own[i // len(real)]
            for f in range(slots.factors.shape[1]):
                prior[i] *= flat[slots.factors[slot, f] + author * slots.factor_strides[slot, f]]
            mass[slots.leaf[slot]] += prior[i]
        running = np.empty(len(prior))
        for pair in range(indptr[d], indptr[d + 1]):
            w = words[pair]
            for token in range(tokens_before[pair], tokens_before[pair] + counts[pair]):
                known, total = topics[token] if len(topics) else -1, 0.0
                for i in range(len(prior)):
                    leaf = slots.leaf[real[i % len(real)]]
                    weight = prior[i] * (1.0 + (given_dr[d, leaf] / mass[leaf] if len(given_dr) else 0.0))
                    weight *= (beta[leaf] + given_wk[w, leaf]) / (beta_total[leaf] + given_k[leaf])
                    total += weight if known < 0 or known == leaf else 0.0
                    running[i] = total
                i = min(np.searchsorted(running, uniform(key, token) * total, "right"), len(running) - 1)
                places[token] = i // len(real) * n_slots + real[i % len(real)]
