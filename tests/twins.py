"""Plain float64 twins of the fast kernels: a few lines each, equation beside line, nothing clever.

Counts are recounted from scratch at every site, which is slow and hard to get wrong. `gamma` has a row
for every pair of the corpus, `topics` an entry for every token; what a threshold r assigns to the other
half of a hybrid is ignored. alpha is (topic,), beta a number. Equations are those of the specification of LDA.
"""

import itertools
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, psi


class Counts(NamedTuple):
    n_dk: np.ndarray  # (document, topic)
    n_wk: np.ndarray  # (word, topic)
    n_k: np.ndarray   # (topic,)

    def plus(self, other):
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


def pairs_of(corpus):
    """[(document, word, count)] in canonical order."""
    return list(zip(corpus.documents.tolist(), corpus.words.tolist(), corpus.counts.tolist(), strict=True))


def tokens_of(corpus):
    """[(document, word, count of its pair)] in canonical order."""
    return [pair for pair in pairs_of(corpus) for _ in range(pair[2])]


def no_counts(corpus, n_topics):
    return Counts(np.zeros((corpus.n_documents, n_topics)), np.zeros((corpus.n_words, n_topics)), np.zeros(n_topics))


def expected_counts(corpus, gamma, r=0):
    """sum n_dw gamma_dwk over the pairs that count more than r."""
    counts = no_counts(corpus, gamma.shape[1])
    for (d, w, n), row in zip(pairs_of(corpus), gamma, strict=True):
        if n > r:
            counts.n_dk[d] += n * row
            counts.n_wk[w] += n * row
            counts.n_k[:] += n * row
    return counts


def sampled_counts(corpus, topics, n_topics, r=np.inf):
    """Tokens by topic, of the pairs that count at most r."""
    counts = no_counts(corpus, n_topics)
    for (d, w, n), k in zip(tokens_of(corpus), topics, strict=True):
        if n <= r:
            counts.n_dk[d, k] += 1
            counts.n_wk[w, k] += 1
            counts.n_k[k] += 1
    return counts


def log_joint(counts, alpha, beta):
    """L(n), eq. A1."""
    n_words, n_topics = counts.n_wk.shape
    total = 0.0
    for row in counts.n_dk:
        total += gammaln(alpha.sum()) - gammaln(alpha.sum() + row.sum()) + np.sum(gammaln(alpha + row) - gammaln(alpha))
    for k in range(n_topics):
        total += gammaln(n_words * beta) - gammaln(n_words * beta + counts.n_k[k])
        total += np.sum(gammaln(beta + counts.n_wk[:, k]) - gammaln(beta))
    return total


def predictive(counts, alpha, beta):
    """(document, word) p(w | d), eq. A2."""
    theta = (alpha + counts.n_dk) / (alpha.sum() + counts.n_dk.sum(axis=1, keepdims=True))
    phi = (beta + counts.n_wk) / (len(counts.n_wk) * beta + counts.n_k)
    return theta @ phi.T


def perplexity(test_pairs, table):
    """exp of the mean negative log probability per token, spec B.2; table is p(w | d)."""
    return np.exp(-sum(n * np.log(table[d, w]) for d, w, n in test_pairs) / sum(n for *_, n in test_pairs))


def conditional(counts, d, w, alpha, beta):
    """p(z = k) up to a factor, for a token that is not in the counts: eq. A6, A8."""
    return (beta + counts.n_wk[w]) / (len(counts.n_wk) * beta + counts.n_k) * (alpha + counts.n_dk[d])


def draw(p, u):
    """Smallest k with u sum(p) < p_1 + … + p_k (section 0)."""
    below = np.flatnonzero(u * p.sum() < np.cumsum(p))
    return below[0] if len(below) else len(p) - 1


def draw_token(corpus, token, topics, mean, alpha, beta, u, r):
    """Draws one token's topic given all others, in place: eq. A6, A8."""
    d, w, _ = tokens_of(corpus)[token]
    counts = mean.plus(sampled_counts(corpus, topics, len(alpha), r))
    old = topics[token]
    counts.n_dk[d, old] -= 1
    counts.n_wk[w, old] -= 1
    counts.n_k[old] -= 1
    topics[token] = draw(conditional(counts, d, w, alpha, beta), u)


def gibbs_sweep(corpus, topics, alpha, beta, uniform, r=np.inf, mean=None):
    """Topics after one sweep over the tokens whose pair counts at most r; ``uniform(token)`` is asked in order."""
    topics = np.array(topics)
    mean = no_counts(corpus, len(alpha)) if mean is None else mean
    for token, (_, _, n) in enumerate(tokens_of(corpus)):
        if n <= r:
            draw_token(corpus, token, topics, mean, alpha, beta, uniform(token), r)
    return topics


def responsibility(totals, weights, d, w, alpha, beta):
    """gamma of one pair, eq. A5, A9: psi averaged over chains of total counts, in the log domain."""
    log_gamma = np.zeros(len(alpha))
    for counts, weight in zip(totals, weights, strict=True):
        words_beta = len(counts.n_wk) * beta
        log_gamma += weight * (psi(beta + counts.n_wk[w]) - psi(words_beta + counts.n_k) + psi(alpha + counts.n_dk[d]))
    return np.exp(log_gamma - logsumexp(log_gamma))


def variational_sweep(corpus, gamma, alpha, beta, schedule, r=0, sampled=None, weights=None):
    """gamma after one update of the pairs that count more than r, given the sampled counts of each chain."""
    sampled = [no_counts(corpus, len(alpha))] if sampled is None else sampled
    weights = np.full(len(sampled), 1 / len(sampled)) if weights is None else weights
    new = gamma.copy()
    for pair, (d, w, n) in enumerate(pairs_of(corpus)):
        if n > r:
            mean = expected_counts(corpus, gamma if schedule == "parallel" else new, r)
            new[pair] = responsibility([mean.plus(counts) for counts in sampled], weights, d, w, alpha, beta)
    return new


def hybrid_sweep(corpus, gamma, chains, alpha, beta, r, uniforms, schedule):
    """(gamma, chains) after the sampling phase of each chain and then the variational phase, eq. A8, A9."""
    mean = expected_counts(corpus, gamma, r)
    chains = [gibbs_sweep(corpus, z, alpha, beta, u, r, mean) for z, u in zip(chains, uniforms, strict=True)]
    sampled = [sampled_counts(corpus, topics, len(alpha), r) for topics in chains]
    return variational_sweep(corpus, gamma, alpha, beta, schedule, r, sampled), chains


def interleaved_sweep(corpus, gamma, topics, alpha, beta, r, uniform):
    """(gamma, topics) after one canonical pass, each pair by its own rule."""
    gamma, topics, token = gamma.copy(), np.array(topics), 0
    for pair, (d, w, n) in enumerate(pairs_of(corpus)):
        if n > r:
            totals = expected_counts(corpus, gamma, r).plus(sampled_counts(corpus, topics, len(alpha), r))
            gamma[pair] = responsibility([totals], [1.0], d, w, alpha, beta)
        else:
            for copy in range(token, token + n):
                draw_token(corpus, copy, topics, expected_counts(corpus, gamma, r), alpha, beta, uniform(copy), r)
        token += n
    return gamma, topics


def entropy(corpus, gamma, r=0):
    """- sum n_dw gamma log gamma over the pairs that count more than r; 0 log 0 = 0."""
    rows = zip(pairs_of(corpus), gamma, strict=True)
    return -sum(n * x * np.log(x) for (_, _, n), row in rows for x in row if n > r and x > 0)


def bound(corpus, gamma, alpha, beta):
    """F(gamma), eq. A4."""
    return log_joint(expected_counts(corpus, gamma), alpha, beta) + entropy(corpus, gamma)


def uncollapsed_bound(corpus, gamma, a, b, alpha, beta):
    """The ELBO of q(theta) = Dir(a), q(phi) = Dir(b) with b (topic, word), eq. A3."""
    log_theta = psi(a) - psi(a.sum(axis=1, keepdims=True))
    log_phi = psi(b) - psi(b.sum(axis=1, keepdims=True))
    total = entropy(corpus, gamma)
    for (d, w, n), row in zip(pairs_of(corpus), gamma, strict=True):
        total += n * np.sum(row * (log_theta[d] + log_phi[:, w]))
    for prior, q, log_mean in [(alpha, a, log_theta), (np.full(corpus.n_words, beta), b, log_phi)]:
        for x, expectation in zip(q, log_mean, strict=True):
            total += gammaln(prior.sum()) - gammaln(prior).sum() - gammaln(x.sum()) + gammaln(x).sum()
            total += np.sum((prior - x) * expectation)
    return total


class Enumeration(NamedTuple):
    topics: np.ndarray       # (state, token): every assignment, or every one that differs in the sampled tokens
    probability: np.ndarray  # (state,)
    log_sum: float           # log of the sum of exp L over the states


def enumerate_topics(corpus, alpha, beta, r=np.inf, mean=None):
    """exp L(m + c(z)) of every assignment of the tokens whose pair counts at most r; all tokens: the exact posterior."""
    mean = no_counts(corpus, len(alpha)) if mean is None else mean
    choices = [range(len(alpha)) if n <= r else (0,) for *_, n in tokens_of(corpus)]
    topics = np.array(list(itertools.product(*choices)))
    logs = np.array([log_joint(mean.plus(sampled_counts(corpus, z, len(alpha), r)), alpha, beta) for z in topics])
    return Enumeration(topics, np.exp(logs - logsumexp(logs)), logsumexp(logs))


def hybrid_bound(corpus, gamma, alpha, beta, r):
    """B* = H(Q^VB) + log sum over sampled topics of exp L(m + c), section A.9."""
    return entropy(corpus, gamma, r) + enumerate_topics(corpus, alpha, beta, r, expected_counts(corpus, gamma, r)).log_sum


def hybrid_optimum_step(corpus, gamma, alpha, beta, r):
    """gamma after the parallel update A9 under the exact Q^CG: infinitely many chains."""
    exact = enumerate_topics(corpus, alpha, beta, r, expected_counts(corpus, gamma, r))
    sampled = [sampled_counts(corpus, z, len(alpha), r) for z in exact.topics]
    return variational_sweep(corpus, gamma, alpha, beta, "parallel", r, sampled, exact.probability)
