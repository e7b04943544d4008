"""Plain float64 twins of the fast kernels: a few lines each, equation beside line, nothing clever.

Counts are recounted from scratch at every site, which is slow and hard to get wrong. `gamma` has a row
for every pair of the corpus, `topics` an entry for every token; what a threshold r assigns to the other
half of a hybrid is ignored. alpha is (topic,), beta a number. Equations are those of the specification of LDA.
"""

import itertools
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, polygamma, psi


class Counts(NamedTuple):
    n_dk: np.ndarray  # (document, topic)
    n_wk: np.ndarray  # (word, topic)
    n_k: np.ndarray  # (topic,)

    def plus(self, other):
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


def pairs_of(corpus):
    """[(document, word, count)] in canonical order."""
    return list(
        zip(corpus.documents.tolist(), corpus.words.tolist(), corpus.counts.tolist(), strict=True)
    )


def documents_of(corpus):
    """[(word, count)] of each document."""
    return [
        [(w, n) for d, w, n in pairs_of(corpus) if d == document]
        for document in range(corpus.n_documents)
    ]


def tokens_of(corpus):
    """[(document, word, count of its pair)] in canonical order."""
    return [pair for pair in pairs_of(corpus) for _ in range(pair[2])]


def no_counts(corpus, n_topics):
    return Counts(
        np.zeros((corpus.n_documents, n_topics)),
        np.zeros((corpus.n_words, n_topics)),
        np.zeros(n_topics),
    )


def expected_counts(corpus, gamma, r=0):
    """sum n_dw gamma_dwk over the pairs that count more than r."""
    counts = no_counts(corpus, gamma.shape[1])
    for (d, w, n), row in zip(pairs_of(corpus), gamma, strict=True):
        if n > r:
            counts.n_dk[d] += n * row
            counts.n_wk[w] += n * row
            counts.n_k[:] += n * row
    return counts


def count_variances(corpus, gamma, r=0):
    """sum n_dw gamma_dwk (1 - gamma_dwk) over the pairs that count more than r."""
    return expected_counts(corpus, gamma * (1 - gamma), r)


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
        total += (
            gammaln(alpha.sum())
            - gammaln(alpha.sum() + row.sum())
            + np.sum(gammaln(alpha + row) - gammaln(alpha))
        )
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
    return np.exp(
        -sum(n * np.log(table[d, w]) for d, w, n in test_pairs) / sum(n for *_, n in test_pairs)
    )


def conditional(counts, d, w, alpha, beta, variance=None):
    """p(z = k) up to a factor, for a token that is not in the counts: eq. A6, A8; with the second-order factors of A.8."""
    a, b, c = alpha + counts.n_dk[d], beta + counts.n_wk[w], len(counts.n_wk) * beta + counts.n_k
    if variance is None:
        return a * b / c
    exponent = (
        -variance.n_dk[d] / (2 * a**2) - variance.n_wk[w] / (2 * b**2) + variance.n_k / (2 * c**2)
    )
    return a * b / c * np.exp(exponent)


def draw(p, u):
    """Smallest k with u sum(p) < p_1 + … + p_k (section 0)."""
    below = np.flatnonzero(u * p.sum() < np.cumsum(p))
    return below[0] if len(below) else len(p) - 1


def order_of_draws(n_topics):
    """The topics in the order of their intervals: lane k mod 16 column by column of a square of four, then block k // 16."""
    return np.array(sorted(range(n_topics), key=lambda k: (k % 4, k % 16 // 4, k // 16)))


def draw_token(corpus, token, topics, mean, alpha, beta, u, r, variance=None):
    """Draws one token's topic given all others, in place: eq. A6, A8."""
    d, w, _ = tokens_of(corpus)[token]
    counts = mean.plus(sampled_counts(corpus, topics, len(alpha), r))
    old = topics[token]
    counts.n_dk[d, old] -= 1
    counts.n_wk[w, old] -= 1
    counts.n_k[old] -= 1
    order = order_of_draws(len(alpha))
    topics[token] = order[draw(conditional(counts, d, w, alpha, beta, variance)[order], u)]


def gibbs_sweep(corpus, topics, alpha, beta, uniform, r=np.inf, mean=None, variance=None):
    """Topics after one sweep over the tokens whose pair counts at most r; ``uniform(token)`` is asked in order."""
    topics = np.array(topics)
    mean = no_counts(corpus, len(alpha)) if mean is None else mean
    for token, (_, _, n) in enumerate(tokens_of(corpus)):
        if n <= r:
            draw_token(corpus, token, topics, mean, alpha, beta, uniform(token), r, variance)
    return topics


def responsibility(totals, weights, d, w, alpha, beta):
    """gamma of one pair, eq. A5, A9: psi averaged over chains of total counts, in the log domain."""
    log_gamma = np.zeros(len(alpha))
    for counts, weight in zip(totals, weights, strict=True):
        words_beta = len(counts.n_wk) * beta
        log_gamma += weight * (
            psi(beta + counts.n_wk[w]) - psi(words_beta + counts.n_k) + psi(alpha + counts.n_dk[d])
        )
    return np.exp(log_gamma - logsumexp(log_gamma))


def variational_sweep(corpus, gamma, alpha, beta, schedule, r=0, sampled=None, weights=None):
    """gamma after one update of the pairs that count more than r, given the sampled counts of each chain."""
    sampled = [no_counts(corpus, len(alpha))] if sampled is None else sampled
    weights = np.full(len(sampled), 1 / len(sampled)) if weights is None else weights
    new = gamma.copy()
    for pair, (d, w, n) in enumerate(pairs_of(corpus)):
        if n > r:
            mean = expected_counts(corpus, gamma if schedule == "parallel" else new, r)
            new[pair] = responsibility(
                [mean.plus(counts) for counts in sampled], weights, d, w, alpha, beta
            )
    return new


def collapsed_responsibility(corpus, gamma, pair, sampled, alpha, beta, r=0, second_order=True):
    """gamma of one pair, eq. A7: one copy taken out of means and variances, the exponent averaged over chains."""
    (d, w, _), g = pairs_of(corpus)[pair], gamma[pair]
    mean, variance = expected_counts(corpus, gamma, r), count_variances(corpus, gamma, r)
    e_dk, e_wk, e_k = (np.maximum(x - g, 0) for x in (mean.n_dk[d], mean.n_wk[w], mean.n_k))
    v_dk, v_wk, v_k = (
        np.maximum(x - g * (1 - g), 0) for x in (variance.n_dk[d], variance.n_wk[w], variance.n_k)
    )
    log_gamma = np.zeros(len(alpha))
    for counts in sampled:
        a, b = alpha + e_dk + counts.n_dk[d], beta + e_wk + counts.n_wk[w]
        c = corpus.n_words * beta + e_k + counts.n_k
        log_gamma += (np.log(a) + np.log(b) - np.log(c)) / len(sampled)
        if second_order:
            log_gamma += (-v_dk / (2 * a**2) - v_wk / (2 * b**2) + v_k / (2 * c**2)) / len(sampled)
    return np.exp(log_gamma - logsumexp(log_gamma))


def collapsed_sweep(corpus, gamma, alpha, beta, r=0, sampled=None, second_order=True):
    """gamma after one pass of eq. A7 in canonical order over the pairs that count more than r."""
    sampled, gamma = [no_counts(corpus, len(alpha))] if sampled is None else sampled, gamma.copy()
    for pair in np.flatnonzero(corpus.counts > r):
        gamma[pair] = collapsed_responsibility(
            corpus, gamma, pair, sampled, alpha, beta, r, second_order
        )
    return gamma


def em_iteration(corpus, mean, alpha, beta, n_inner, tolerance, restart=False, point=False):
    """(gamma, counts) after one E-step of documents that are fitted one by one, and the M-step (spec A.2)."""
    n_topics, words_beta = len(alpha), corpus.n_words * beta
    if point:
        log_phi = np.log((beta + mean.n_wk) / (words_beta + mean.n_k))
    else:
        log_phi = psi(beta + mean.n_wk) - psi(words_beta + mean.n_k)
    gamma, n_dk = np.zeros((corpus.n_pairs, n_topics)), mean.n_dk.copy()
    for d in range(corpus.n_documents):
        pairs = slice(corpus.indptr[d], corpus.indptr[d + 1])
        if restart:
            n_dk[d] = corpus.counts[pairs].sum() / n_topics
        for _ in range(n_inner):
            logs = psi(alpha + n_dk[d]) + log_phi[corpus.words[pairs]]
            gamma[pairs] = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
            new = corpus.counts[pairs] @ gamma[pairs]
            change, n_dk[d] = np.mean(np.abs(new - n_dk[d])), new
            if change < tolerance:
                break
    return gamma, expected_counts(corpus, gamma)


def online_pass(corpus, topics, batches, rates, total, alpha, beta, n_inner, tolerance):
    """(gamma, n_dk, topics) after a pass in batches: documents begin even, and each batch stands for ``total`` documents."""
    gamma, n_dk = np.zeros((corpus.n_pairs, len(alpha))), np.zeros((corpus.n_documents, len(alpha)))
    for rows, rate in zip(batches, rates, strict=True):
        batch = corpus.of_documents(rows)
        begun = topics._replace(n_dk=np.zeros((len(rows), len(alpha))))
        of_batch, counts = em_iteration(batch, begun, alpha, beta, n_inner, tolerance, restart=True)
        n_wk = (1 - rate) * topics.n_wk + rate * total / len(rows) * counts.n_wk
        topics = Counts(None, n_wk, n_wk.sum(axis=0))
        n_dk[rows] = counts.n_dk
        gamma[np.isin(corpus.documents, rows)] = of_batch
    return gamma, n_dk, topics


def hybrid_sweep(corpus, gamma, chains, alpha, beta, r, uniforms, variational):
    """(gamma, chains) after the sampling phase of each chain and then the variational phase, eq. A8, A9.

    variational(corpus, gamma, alpha, beta, r=, sampled=) is a sweep above.
    """
    mean = expected_counts(corpus, gamma, r)
    chains = [
        gibbs_sweep(corpus, z, alpha, beta, u, r, mean)
        for z, u in zip(chains, uniforms, strict=True)
    ]
    sampled = [sampled_counts(corpus, topics, len(alpha), r) for topics in chains]
    return variational(corpus, gamma, alpha, beta, r=r, sampled=sampled), chains


def interleaved_sweep(corpus, gamma, topics, alpha, beta, r, uniform, update):
    """(gamma, topics) after one canonical pass, each pair by its own rule; update(gamma, pair, sampled) gives a gamma."""
    gamma, topics, token = gamma.copy(), np.array(topics), 0
    for pair, (_, _, n) in enumerate(pairs_of(corpus)):
        if n > r:
            gamma[pair] = update(gamma, pair, sampled_counts(corpus, topics, len(alpha), r))
        else:
            for copy in range(token, token + n):
                draw_token(
                    corpus,
                    copy,
                    topics,
                    expected_counts(corpus, gamma, r),
                    alpha,
                    beta,
                    uniform(copy),
                    r,
                )
        token += n
    return gamma, topics


def entropy(corpus, gamma, r=0):
    """- sum n_dw gamma log gamma over the pairs that count more than r; 0 log 0 = 0."""
    rows = zip(pairs_of(corpus), gamma, strict=True)
    return -sum(n * x * np.log(x) for (_, _, n), row in rows for x in row if n > r and x > 0)


def bound(corpus, gamma, alpha, beta):
    """F(gamma), eq. A4."""
    return log_joint(expected_counts(corpus, gamma), alpha, beta) + entropy(corpus, gamma)


def point_bound(corpus, gamma, alpha, beta):
    """A bound on log p(words, phi) at the mode of phi under Dirichlet(beta + 1), for gamma and the best q(theta)."""
    counts = expected_counts(corpus, gamma)
    phi = (beta + counts.n_wk) / (corpus.n_words * beta + counts.n_k)
    total = entropy(corpus, gamma) + np.sum((counts.n_wk + beta) * np.log(phi))
    for row in counts.n_dk:
        total += (
            gammaln(alpha.sum())
            - gammaln(alpha.sum() + row.sum())
            + np.sum(gammaln(alpha + row) - gammaln(alpha))
        )
    return total + len(alpha) * (
        gammaln(corpus.n_words * (beta + 1)) - corpus.n_words * gammaln(beta + 1)
    )


def uncollapsed_bound(corpus, gamma, a, b, alpha, beta):
    """The ELBO of q(theta) = Dir(a), q(phi) = Dir(b) with b (topic, word), eq. A3."""
    log_theta = psi(a) - psi(a.sum(axis=1, keepdims=True))
    log_phi = psi(b) - psi(b.sum(axis=1, keepdims=True))
    total = entropy(corpus, gamma)
    for (d, w, n), row in zip(pairs_of(corpus), gamma, strict=True):
        total += n * np.sum(row * (log_theta[d] + log_phi[:, w]))
    for prior, q, log_mean in [(alpha, a, log_theta), (np.full(corpus.n_words, beta), b, log_phi)]:
        for x, expectation in zip(q, log_mean, strict=True):
            total += (
                gammaln(prior.sum()) - gammaln(prior).sum() - gammaln(x.sum()) + gammaln(x).sum()
            )
            total += np.sum((prior - x) * expectation)
    return total


class Enumeration(NamedTuple):
    # (state, token): every assignment, or every one that differs in the sampled tokens
    topics: np.ndarray
    probability: np.ndarray  # (state,)
    log_sum: float  # log of the sum of exp L over the states


def enumerate_topics(corpus, alpha, beta, r=np.inf, mean=None):
    """exp L(m + c(z)) of every assignment of the tokens whose pair counts at most r; all tokens: the exact posterior."""
    mean = no_counts(corpus, len(alpha)) if mean is None else mean
    choices = [range(len(alpha)) if n <= r else (0,) for *_, n in tokens_of(corpus)]
    topics = np.array(list(itertools.product(*choices)))
    logs = np.array(
        [
            log_joint(mean.plus(sampled_counts(corpus, z, len(alpha), r)), alpha, beta)
            for z in topics
        ]
    )
    return Enumeration(topics, np.exp(logs - logsumexp(logs)), logsumexp(logs))


def hybrid_bound(corpus, gamma, alpha, beta, r):
    """B* = H(Q^VB) + log sum over sampled topics of exp L(m + c), section A.9."""
    return (
        entropy(corpus, gamma, r)
        + enumerate_topics(corpus, alpha, beta, r, expected_counts(corpus, gamma, r)).log_sum
    )


def hybrid_optimum_step(corpus, gamma, alpha, beta, r):
    """gamma after the parallel update A9 under the exact Q^CG: infinitely many chains."""
    exact = enumerate_topics(corpus, alpha, beta, r, expected_counts(corpus, gamma, r))
    sampled = [sampled_counts(corpus, z, len(alpha), r) for z in exact.topics]
    return variational_sweep(corpus, gamma, alpha, beta, "parallel", r, sampled, exact.probability)


# ---------------------------------------------------------------------- fold-in of one document: [(word, count)], spec B.4


def word_probabilities(n_kw, beta):
    """phi (topic, word) given counts."""
    return (beta + n_kw) / (n_kw.shape[1] * beta + n_kw.sum(axis=1, keepdims=True))


def exact_theta(pairs, phi, alpha):
    """The posterior mean of theta given the topics, by enumeration of the topics of all tokens."""
    words = [w for w, n in pairs for _ in range(n)]
    states = np.array(list(itertools.product(range(len(alpha)), repeat=len(words))))
    n_dk = np.array([np.bincount(z, minlength=len(alpha)) for z in states])
    logs = gammaln(alpha + n_dk).sum(axis=1) + np.log(phi[states, words]).sum(axis=1)
    return np.exp(logs - logsumexp(logs)) @ (alpha + n_dk) / (alpha.sum() + len(words))


def converge(update, start, tolerance=1e-6, most_passes=1000):
    """start, update(start), … until the mean change over the topics is below the tolerance."""
    for _ in range(most_passes):
        before, start = start, update(start)
        if np.mean(np.abs(start - before)) < tolerance:
            break
    return start


def variational_theta(pairs, n_kw, alpha, beta):
    n_tokens, n_words = sum(n for _, n in pairs), n_kw.shape[1]
    log_phi = psi(beta + n_kw) - psi(n_words * beta + n_kw.sum(axis=1, keepdims=True))

    def update(at):
        logs = [psi(at) + log_phi[:, w] for w, _ in pairs]
        return alpha + sum(
            n * np.exp(row - logsumexp(row)) for row, (_, n) in zip(logs, pairs, strict=True)
        )

    at = converge(update, alpha + n_tokens / len(alpha))
    return at / at.sum()


def collapsed_theta(pairs, phi, alpha):
    n_tokens = sum(n for _, n in pairs)
    gamma = np.array([phi[:, w] * (alpha + n_tokens / len(alpha)) for w, _ in pairs])
    gamma /= gamma.sum(axis=1, keepdims=True)
    counts = np.array([n for _, n in pairs])

    def sweep(_):
        for i, (w, _) in enumerate(pairs):
            new = phi[:, w] * (alpha + np.maximum(counts @ gamma - gamma[i], 0))
            gamma[i] = new / new.sum()
        return counts @ gamma

    return (alpha + converge(sweep, counts @ gamma)) / (alpha.sum() + n_tokens)


def sampled_theta(pairs, phi, alpha, burn_in, n_kept, uniform):
    """``uniform(sweep, token)``; sweep 0 draws each token given documents spread evenly over the topics."""
    words = [w for w, n in pairs for _ in range(n)]
    topics = [
        draw(phi[:, w] * (alpha + len(words) / len(alpha)), uniform(0, i))
        for i, w in enumerate(words)
    ]
    kept = []
    for sweep in range(1, 1 + burn_in + n_kept):
        for i, w in enumerate(words):
            others = np.bincount(topics[:i] + topics[i + 1 :], minlength=len(alpha))
            topics[i] = draw(phi[:, w] * (alpha + others), uniform(sweep, i))
        kept.append(
            (alpha + np.bincount(topics, minlength=len(alpha))) / (alpha.sum() + len(words))
        )
    return np.mean(kept[burn_in:], axis=0)


def left_to_right(pairs, phi, alpha, n_particles, resample, uniform):
    """(token, particle) p(w_n | z_<n) of each particle; ``uniform(particle, draw)``, that of ancestors has particle R."""
    words = [w for w, n in pairs for _ in range(n)]
    found, topics, n_drawn = (
        np.empty((len(words), n_particles)),
        [[] for _ in range(n_particles)],
        0,
    )
    for n, w in enumerate(words):
        joint = np.empty((n_particles, len(alpha)))
        for r, own in enumerate(topics):
            for before in range(n):
                others = np.bincount(own[:before] + own[before + 1 :], minlength=len(alpha))
                own[before] = draw(
                    phi[:, words[before]] * (alpha + others), uniform(r, n_drawn + before)
                )
            joint[r] = phi[:, w] * (alpha + np.bincount(np.array(own, int), minlength=len(alpha)))
        found[n] = joint.sum(axis=1) / (alpha.sum() + n)
        if resample and n_particles > 1:
            ancestors = [
                draw(found[n], (r + uniform(n_particles, n)) / n_particles)
                for r in range(n_particles)
            ]
            topics, joint = [list(topics[r]) for r in ancestors], joint[ancestors]
        for r, own in enumerate(topics):
            own.append(draw(joint[r], uniform(r, n_drawn + n)))
        n_drawn += n + 1
    return found


def log_probability_given_topics(pairs, phi, alpha):
    """log p(w | phi, alpha) of one document, by enumeration of the topics of all tokens."""
    words = [w for w, n in pairs for _ in range(n)]
    states = np.array(list(itertools.product(range(len(alpha)), repeat=len(words))), int)
    n_dk = np.array([np.bincount(z, minlength=len(alpha)) for z in states])
    logs = (gammaln(alpha + n_dk) - gammaln(alpha)).sum(axis=1) + np.log(phi[states, words]).sum(
        axis=1
    )
    return logsumexp(logs) + gammaln(alpha.sum()) - gammaln(alpha.sum() + len(words))


# ---------------------------------------------------------------------- likelihoods of priors given counts, spec A.10


def polya_value(rows, x):
    """f(x) of counts (row, category), each category with its own prior."""
    rises = gammaln(x + rows) - gammaln(x)
    return np.sum(rises) + np.sum(gammaln(x.sum()) - gammaln(x.sum() + rows.sum(axis=1)))


def log_means(parameters):
    """E[log p] of Dirichlet(parameters), (row, category)."""
    return psi(parameters) - psi(parameters.sum(axis=1, keepdims=True))


def dirichlet_value(log_means, x):
    """D lnG(A) - D sum lnG(x_k) + sum (x_k - 1) sum_d E[log theta_dk] of (row, category) expectations."""
    return len(log_means) * (gammaln(x.sum()) - gammaln(x).sum()) + (x - 1) @ log_means.sum(axis=0)


def corrected_rise(derivative, x, mean, variance, empty):
    """E[g(n) - g(0)] with g(n) the derivative of lnG at x + n, by mean, variance and probability of n = 0."""
    if empty == 1:
        return 0.0
    e = mean / (1 - empty)
    v = (variance + mean**2) / (1 - empty) - e**2
    g = [gammaln, psi, *(lambda y, order=order: polygamma(order, y) for order in (1, 2, 3))]
    return (1 - empty) * (
        g[derivative](x + e) - g[derivative](x) + v * g[derivative + 2](x + e) / 2
    )


def corrected_value(corpus, gamma, sampled, x, of, derivative=0, r=0):
    """f(x) or g(x) of a prior (category,) under q of the pairs that count more than r, given sampled counts of chains."""
    totals = expected_counts(corpus, gamma, r), count_variances(corpus, gamma, r)
    empty = Counts(*(np.ones_like(array) for array in totals[0]))
    for (d, w, n), row in zip(pairs_of(corpus), gamma, strict=True):
        if n > r:
            for array, where in zip(empty, (d, w, slice(None)), strict=True):
                array[where] *= (1 - row) ** n
    found = np.zeros(len(x))
    for counts in sampled:

        def rise(y, name, i, counts=counts):
            c = getattr(counts, name)[i]
            p = getattr(empty, name)[i] if c == 0 else 0.0
            mean, variance = (getattr(moment, name)[i] for moment in totals)
            return corrected_rise(derivative, y, mean + c, variance, p)

        name = "n_dk" if of == "alpha" else "n_wk"
        for row, k in np.ndindex(getattr(counts, name).shape):
            found[k if of == "alpha" else row] += rise(
                x[k if of == "alpha" else row], name, (row, k)
            ) / len(sampled)
        g = gammaln if derivative == 0 else psi
        if of == "alpha":
            sizes = corpus.document_tokens
            found -= (
                np.sum(g(x.sum() + sizes) - g(x.sum()))
                / len(sampled)
                / (len(x) if derivative == 0 else 1)
            )
        else:
            fall = sum(rise(x.sum(), "n_k", k) for k in range(len(counts.n_k)))
            found -= fall / len(sampled) / (len(x) if derivative == 0 else 1)
    return found.sum() if derivative == 0 else found
