"""The left-to-right estimate of the probability of documents given phi and alpha, token by token with particles.

A particle visits the tokens of a document from the first to the last. At each token it draws the topics z of all earlier tokens
again, in one Gibbs sweep, and then the topic of the token itself:

    p_n  =  p(w_n | z_<n, w_<n)  =  sum_k phi_wk (alpha_k + n_k) / (A + n - 1),      z_n  ~  phi_wk (alpha_k + n_k)

The estimate of p(w | phi, alpha) is the product over tokens of the mean of p_n over particles. Sweeps leave p(z_<n | w_<n)
invariant, but for p(z_<=n | w_<=n) the particles must be weighted by p_n. With resampling, the particles that continue are
drawn with these weights before z_n is drawn, and the estimate is unbiased for any number of particles. Without, it is unbiased
only for one particle: the sweeps make a particle forget a bad start after some tokens, not at once.

Wallach, Murray, Salakhutdinov & Mimno (2009), algorithm 3, without resampling; Buntine (2009) for its bias; Del Moral, Doucet &
Jasra (2006), section 3, for weights, resampling and moves in general.
"""

import math

import numpy as np

from workbench.kernels.jit import inlined, kernel
from workbench.kernels.lda.fold_in import draw_topic
from workbench.kernels.uniforms import absorb, uniform


@inlined
def draw_ancestors(weights, u, ancestors: np.ndarray) -> None:
    """Fill ancestors (particle,) by systematic resampling with the index of the particle that each new particle continues."""
    n, total = len(weights), 0.0
    for r in range(n):
        total += weights[r]
    position, cumulative = 0, weights[0]
    for r in range(n):
        target = (r + u) / n * total
        while position < n - 1 and cumulative <= target:
            position += 1
            cumulative += weights[position]
        ancestors[r] = position


@kernel
def left_to_right(
    first: int,
    last: int,
    indptr: np.ndarray,
    words: np.ndarray,
    counts: np.ndarray,
    phi: np.ndarray,
    alpha,
    n_particles: int,
    resample,
    key: np.uint64,
    logs,
    variance,
) -> None:
    """Compute several left-to-right estimates of log p(w | phi, alpha) of each of the documents first..last.

    Fills logs (document, estimate) with independent estimates, and variance (document, estimate) with the variance of each,
    to first order in the p_n of the particles; NaN with resampling or a single particle. The uniforms of a particle depend
    on the numbers of its document, its estimate and its own.
    """
    n_topics, total_alpha = len(alpha), alpha.sum()
    cumulative, keys = np.empty(n_topics), np.empty(n_particles, np.uint64)
    weights, influence, ancestors = (
        np.empty(n_particles),
        np.empty(n_particles),
        np.empty(n_particles, np.int64),
    )
    n_k = np.empty((n_particles, n_topics))
    for d in range(first, last):
        n_tokens = np.int64(0)
        for pair in range(indptr[d], indptr[d + 1]):
            n_tokens += counts[pair]
        topics_drawn, position = np.empty(n_tokens, np.int64), 0
        for pair in range(indptr[d], indptr[d + 1]):
            for _ in range(counts[pair]):
                topics_drawn[position] = words[pair]
                position += 1
        topics = np.empty((n_particles, n_tokens), np.int64)
        for e in range(logs.shape[1]):
            estimate_key = absorb(absorb(key, d), e)
            ancestor_key = absorb(estimate_key, n_particles)
            for r in range(n_particles):
                keys[r] = absorb(estimate_key, r)
            n_k[:], influence[:] = 0.0, 0.0
            logs[d, e] = 0.0
            for n in range(n_tokens):
                n_drawn = n * (n + 1) // 2
                mean = 0.0
                for r in range(n_particles):
                    for earlier in range(n):
                        n_k[r, topics[r, earlier]] -= 1.0
                        u = uniform(keys[r], n_drawn + earlier)
                        new, _ = draw_topic(
                            phi[topics_drawn[earlier]], alpha, n_k[r], cumulative, u
                        )
                        topics[r, earlier] = new
                        n_k[r, new] += 1.0
                    _, total = draw_topic(phi[topics_drawn[n]], alpha, n_k[r], cumulative, 0.0)
                    weights[r] = total / (total_alpha + n)
                    mean += weights[r] / n_particles
                logs[d, e] += math.log(mean)
                for r in range(n_particles):
                    influence[r] += weights[r] / mean - 1.0
                if resample and n_particles > 1:
                    draw_ancestors(weights, uniform(ancestor_key, n), ancestors)
                    topics[:, :n], n_k[:] = topics[ancestors, :n], n_k[ancestors]
                for r in range(n_particles):
                    new, _ = draw_topic(
                        phi[topics_drawn[n]],
                        alpha,
                        n_k[r],
                        cumulative,
                        uniform(keys[r], n_drawn + n),
                    )
                    topics[r, n] = new
                    n_k[r, new] += 1.0
            squares = 0.0
            for r in range(n_particles):
                squares += influence[r] ** 2
            has_error = n_particles > 1 and not resample
            variance[d, e] = squares / (n_particles * (n_particles - 1)) if has_error else np.nan
