"""The probability of documents given topics phi and alpha, estimated token by token by particles.

A particle goes through a document from its first token to its last; at each it draws the topics z of all tokens before it anew,
one Gibbs sweep, and then that of the token itself:

    p_n  =  p(w_n | z_<n, w_<n)  =  sum_k phi_wk (alpha_k + n_k) / (A + n - 1),      z_n  ~  phi_wk (alpha_k + n_k)

The product of p_n over the tokens of one particle is an unbiased estimate of p(w | phi, alpha), as the sweeps leave
p(z_<n | w_<n) as it is and the products are the weights of the draws of z_n; so is the mean of these products over particles.
The product over tokens of the *mean* of p_n over particles varies less, and is biased for more than one particle, as a mean of
p_n forgets how well its particle explained the tokens before.

Wallach, Murray, Salakhutdinov & Mimno (2009), algorithm 3, for the latter; Buntine (2009) for its bias.
"""

import math

import numpy as np

from workbench.kernels.jit import inlined, kernel
from workbench.kernels.uniforms import absorb, uniform


@inlined
def draw_topic(p, alpha, n_k, cumulative, u):
    """A topic drawn in proportion to p_k (alpha_k + n_k) by a uniform u, and the sum of these."""
    total = 0.0
    for k in range(len(alpha)):
        total += p[k] * (alpha[k] + n_k[k])
        cumulative[k] = total
    target, new = u * total, np.int64(0)
    while new < len(alpha) - 1 and cumulative[new] <= target:
        new += 1
    return new, total


@kernel
def left_to_right(first, last, indptr, words, counts, phi, alpha, key, log_products, log_of_means, variance):
    """Estimates of log p(w | phi, alpha) of documents first..last; phi (word, topic).

    Fills log_products (document, particle): the log of the product of each particle; log_of_means (document,): the sum of the
    logs of the means; variance (document,): of the latter, NaN for one particle. The uniforms of a particle belong to the
    document's number and its own.
    """
    n_topics, n_particles = len(alpha), log_products.shape[1]
    total_alpha = alpha.sum()
    n_k, cumulative = np.empty(n_topics), np.empty(n_topics)
    for d in range(first, last):
        n_tokens = np.int64(0)
        for pair in range(indptr[d], indptr[d + 1]):
            n_tokens += counts[pair]
        own, at = np.empty(n_tokens, np.int64), 0
        for pair in range(indptr[d], indptr[d + 1]):
            for _ in range(counts[pair]):
                own[at] = words[pair]
                at += 1
        topics, found = np.empty(n_tokens, np.int64), np.empty((n_particles, n_tokens))
        for r in range(n_particles):
            particle_key, index = absorb(absorb(key, d), r), np.int64(0)
            n_k[:] = 0.0
            log_product = 0.0
            for n in range(n_tokens):
                for before in range(n):
                    n_k[topics[before]] -= 1.0
                    new, _ = draw_topic(phi[own[before]], alpha, n_k, cumulative, uniform(particle_key, index))
                    topics[before] = new
                    n_k[new] += 1.0
                    index += 1
                new, total = draw_topic(phi[own[n]], alpha, n_k, cumulative, uniform(particle_key, index))
                topics[n] = new
                n_k[new] += 1.0
                index += 1
                found[r, n] = total / (total_alpha + n)
                log_product += math.log(found[r, n])
            log_products[d, r] = log_product
        log_of_means[d], variance[d] = 0.0, np.nan if n_particles == 1 else 0.0
        influence = np.zeros(n_particles)
        for n in range(n_tokens):
            mean = 0.0
            for r in range(n_particles):
                mean += found[r, n] / n_particles
            log_of_means[d] += math.log(mean)
            for r in range(n_particles):
                influence[r] += found[r, n] / mean - 1.0
        for r in range(n_particles):
            variance[d] += influence[r] ** 2 / (n_particles * max(n_particles - 1, 1))
