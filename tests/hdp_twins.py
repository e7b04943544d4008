"""Plain twins of the engines of the hierarchical Dirichlet process: a few lines each, equation beside line.

Equations are those of the specification of the HDP. alpha and beta are totals, tau = 1/W.
"""

from dataclasses import asdict
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import twins
from scipy.special import betaln, gammaln, logsumexp, polygamma, psi

from workbench.corpus import Corpus
from workbench.corpus.corpus import WordMajor
from workbench.engines.options import split_options
from workbench.models import HDP
from workbench.models.options import option_fields


def chosen_hdp(engine, **given):
    """All options of an engine of the HDP, beliefs of the model among them, in one namespace."""
    beliefs, options = split_options(engine, given)
    return SimpleNamespace(**beliefs, **asdict(options))


def hdp_of(chosen, n_topics=1) -> HDP:
    """The model with the beliefs that are chosen."""
    return HDP(
        n_topics,
        **{name: getattr(chosen, name) for name in option_fields(HDP) if hasattr(chosen, name)},
    )


# ---------------------------------------------------------------------- g-hdp: the direct assignment sampler


class Assignment(NamedTuple):
    """Topics of all tokens and the weights of the topics; a weight of 0 stands for a topic that is not there."""

    topics: list  # (token,)
    weights: list  # (topic,) pi_k
    rest: float  # pi of all topics without a place


def hdp_log_joint(counts, weights, rest, alpha, beta):
    """log p(z, x | alpha, beta, pi), eq. 5; the rest of the weights belongs to topics without a token."""
    n_words, total = len(counts.n_wk), 0.0
    for row in counts.n_dk:
        total += gammaln(alpha) - gammaln(alpha + row.sum())
        total += sum(
            gammaln(alpha * pi + n) - gammaln(alpha * pi)
            for pi, n in zip(weights, row, strict=True)
            if n
        )
    for k, n_k in enumerate(counts.n_k):
        total += gammaln(beta) - gammaln(beta + n_k)
        total += sum(
            gammaln(beta / n_words + n) - gammaln(beta / n_words) for n in counts.n_wk[:, k]
        )
    return total


def hdp_conditional(corpus, token, state, alpha, beta):
    """p(z_i = k) of every topic and, last, of a new one, up to a factor; token i is out of the counts (10 A)."""
    d, w, _ = twins.tokens_of(corpus)[token]
    counts = twins.sampled_counts(corpus, state.topics, len(state.weights))
    for row in (counts.n_dk[d], counts.n_wk[w], counts.n_k):
        row[state.topics[token]] -= 1
    word_beta = beta / corpus.n_words
    p = (
        (counts.n_dk[d] + alpha * np.array(state.weights))
        * (counts.n_wk[w] + word_beta)
        / (counts.n_k + beta)
    )
    return np.append(p, alpha * state.rest / corpus.n_words)


def g_hdp_sweep(corpus, state, alpha, beta, gamma, uniform, new_uniform):
    """Topics and weights after one sweep; ``uniform(token)`` draws a topic, ``new_uniform(token)`` the weight of a new one.

    A draw runs through topics 0, 8, 16, …, then 1, 9, 17, … and so on, and through a new topic last.
    """
    topics, weights, rest = list(state.topics), list(state.weights), state.rest
    for token in range(corpus.n_tokens):
        p = hdp_conditional(corpus, token, Assignment(topics, weights, rest), alpha, beta)
        order = sorted(range(len(weights)), key=lambda k: (k % 8, k // 8))
        which = twins.draw(p[[*order, -1]], uniform(token))
        if which < len(order):
            topics[token] = order[which]
            continue
        share = 1 - (1 - new_uniform(token)) ** (1 / gamma)  # Beta(1, gamma)
        if 0 not in weights:
            weights.append(0)
        topics[token] = weights.index(0)  # the lowest place that is free
        weights[topics[token]], rest = share * rest, (1 - share) * rest
    return Assignment(topics, weights, rest)


def g_hdp_tables(corpus, n_dk, strengths, uniform):
    """(topic,) tables of all documents; the i-th guest of document d and topic k asks for the uniform of a token (10 B)."""
    tables = np.zeros(len(strengths), int)
    for d, row in enumerate(n_dk):
        token = corpus.tokens_before[corpus.indptr[d]]
        for k, n in enumerate(row):
            for guest in range(n):
                tables[k] += guest == 0 or uniform(token + guest) < strengths[k] / (
                    strengths[k] + guest
                )
            token += n
    return tables


class Prior(NamedTuple):
    """A draw of all that the HDP speaks of."""

    state: Assignment
    alpha: float
    gamma: float
    corpus: Corpus
    topics: np.ndarray  # those of the state, in the canonical order of the corpus


def draw_hdp(random, lengths, n_words, beta, a_alpha, b_alpha, a_gamma, b_gamma) -> Prior:
    """alpha, gamma, pi, z and x from the model, eq. 1-4; a topic's stick is broken when its first token comes."""
    alpha, gamma = random.gamma(a_alpha) / b_alpha, random.gamma(a_gamma) / b_gamma
    weights, rest, topics = [], 1.0, []
    for length in lengths:
        n_dk = np.zeros(len(weights) + 1)
        for _ in range(length):
            k = twins.draw(n_dk + alpha * np.array([*weights, rest]), random.random())
            if k == len(weights):
                share = random.beta(1, gamma)
                weights.append(share * rest)
                rest *= 1 - share
                n_dk = np.append(n_dk, 0)
            n_dk[k] += 1
            topics.append(k)
    corpus, topics = draw_words(random, lengths, n_words, beta, topics)
    return Prior(Assignment(topics.tolist(), weights, rest), alpha, gamma, corpus, topics)


def draw_words(random, lengths, n_words, beta, topics) -> tuple[Corpus, np.ndarray]:
    """A corpus of documents with these lengths given the topics of their tokens, and the topics in its canonical order."""
    documents, topics = np.repeat(np.arange(len(lengths)), lengths), np.asarray(topics)
    phi = random.dirichlet(np.full(n_words, beta / n_words), topics.max() + 1)
    words = (random.random((len(topics), 1)) > np.cumsum(phi[topics], axis=1)[:, :-1]).sum(axis=1)
    order = np.lexsort((words, documents))
    corpus = Corpus.from_pairs(
        documents, words, np.ones(len(words)), n_documents=len(lengths), n_words=n_words
    )
    return corpus, topics[order]


# ---------------------------------------------------------------------- cv-hdp: collapsed variational inference


class Rows(SimpleNamespace):
    """A corpus whose rows may repeat."""

    __hash__ = object.__hash__  # what is derived from a corpus is cached by it


def rows_of(documents, words, counts, n_documents, n_words):
    """What the engine reads of a corpus, in rows that may repeat: the token form has a row for each token.

    Rows come sorted by document.
    """

    def frozen(values, dtype):  # as those of a corpus, for which the kernels are compiled already
        array = np.array(values, dtype)
        array.setflags(write=False)
        return array

    documents, words, counts = (frozen(values, np.int32) for values in (documents, words, counts))
    order = np.argsort(words, kind="stable")
    by_word = WordMajor(
        frozen(np.searchsorted(words[order], np.arange(n_words + 1)), np.int64),
        frozen(documents[order], np.int32),
        frozen(order, np.int64),
    )
    return Rows(
        indptr=frozen(np.searchsorted(documents, np.arange(n_documents + 1)), np.int64),
        words=words,
        counts=counts,
        documents=documents,
        n_documents=n_documents,
        n_words=n_words,
        n_pairs=len(words),
        by_word=by_word,
        n_tokens=int(counts.sum()),
        document_tokens=frozen(np.bincount(documents, counts, n_documents), np.int64),
        tokens_before=frozen(np.concatenate([[0], np.cumsum(counts)]), np.int64),
    )


class Posterior(NamedTuple):
    """q of the hyperparameters: (shape, rate) of a Gamma or the number itself where it is fixed; stick order of A, B."""

    alpha: tuple | float
    gamma: tuple | float
    beta: tuple | float
    # (stick,) of q(v) = Beta(a, b); None: not updated yet, the weights are even
    a: np.ndarray | None
    b: np.ndarray | None
    order: list  # (stick,) topic
    tau: np.ndarray | None  # (word,) Dirichlet parameters, None: tau = 1/W

    @staticmethod
    def moments(q):
        """Mean and geometric mean."""
        return (q[0] / q[1], np.exp(psi(q[0])) / q[1]) if isinstance(q, tuple) else (q, q)

    def weights(self):
        """(topic,) geometric means G[pi], means E[pi], and E of the rest."""
        n_topics = len(self.order)
        if self.a is None:
            return np.full(n_topics, 1 / n_topics), None, None
        geometric, mean, rest, log_rest = np.empty(n_topics), np.empty(n_topics), 1.0, 0.0
        for stick, k in enumerate(self.order):
            a, b = self.a[stick], self.b[stick]
            geometric[k], mean[k] = np.exp(log_rest + psi(a) - psi(a + b)), rest * a / (a + b)
            log_rest, rest = log_rest + psi(b) - psi(a + b), rest * b / (a + b)
        return geometric, mean, rest

    def priors(self, n_words):
        """a_k (topic,), b_w (word,), E[beta]."""
        tau = (
            np.full(n_words, 1 / n_words)
            if self.tau is None
            else np.exp(psi(self.tau) - psi(self.tau.sum()))
        )
        return (
            self.moments(self.alpha)[1] * self.weights()[0],
            self.moments(self.beta)[1] * tau,
            self.moments(self.beta)[0],
        )


class Sums(NamedTuple):
    """E, V and Z of counts (group, topic), eq. 13."""

    mean: np.ndarray
    variance: np.ndarray
    log_zero: np.ndarray

    def positive(self):
        """P+, E+, V+, eq. 14."""
        p = np.where(self.mean < 1e-7, self.mean, -np.expm1(self.log_zero))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(self.mean < 1e-7, 1, np.maximum(self.mean / p, 1))
            variance = np.maximum(self.variance / p - np.exp(self.log_zero) * mean**2, 0)
        return p, mean, np.where(self.mean < 1e-7, 0, variance)


def sums_of(groups, counts, q, n_groups):
    """E, V and Z of each group of rows."""
    sums = Sums(*np.zeros((3, n_groups, q.shape[1])))
    for group, c, row in zip(groups, counts, q, strict=True):
        sums.mean[group] += c * row
        sums.variance[group] += c * row * (1 - row)
        sums.log_zero[group] += c * np.log1p(-np.minimum(row, 1 - 1e-16))
    return sums


def all_sums(rows, q):
    """Of documents, words and topics."""
    everything = np.zeros(len(rows.counts), int)
    return (
        sums_of(rows.documents, rows.counts, q, rows.n_documents),
        sums_of(rows.words, rows.counts, q, rows.n_words),
        sums_of(everything, rows.counts, q, 1),
    )


def cv_hdp_responsibility(rows, q, row, priors, update="second_order"):
    """gamma of one row, eq. 15 or its variants (spec 4.5), one copy of it taken out."""
    (a, b, b_sum), d, w, g = priors, rows.documents[row], rows.words[row], q[row]
    less = [
        Sums(
            np.maximum(sums.mean[at] - g, 0),
            np.maximum(sums.variance[at] - g * (1 - g), 0),
            np.minimum(sums.log_zero[at] - np.log1p(-np.minimum(g, 1 - 1e-16)), 0),
        )
        for sums, at in zip(all_sums(rows, q), (d, w, 0), strict=True)
    ]
    log_gamma = np.zeros(q.shape[1])
    for n, prior, sign in zip(less, (a, b[w], b_sum), (1, 1, -1), strict=True):
        if update == "conditional" and sign > 0:
            p, mean, variance = n.positive()
            log_gamma += (1 - p) * np.log(prior) + p * (
                np.log(prior + mean) - variance / (2 * (prior + mean) ** 2)
            )
        else:
            log_gamma += sign * np.log(prior + n.mean)
            if update != "zeroth":
                log_gamma -= sign * n.variance / (2 * (prior + n.mean) ** 2)
    return np.exp(log_gamma - logsumexp(log_gamma))


def cv_hdp_sweep(rows, q, priors, update="second_order"):
    """q after one pass over the rows in order."""
    q = q.copy()
    for row in range(len(q)):
        q[row] = cv_hdp_responsibility(rows, q, row, priors, update)
    return q


def expected_tables(sums, prior):
    """E[s] or E[t], eq. 12; the prior broadcasts."""
    p, mean, variance = sums.positive()
    return p * prior * (psi(prior + mean) - psi(prior) + variance / 2 * polygamma(2, prior + mean))


def cv_hdp_hyper(rows, q, posterior, options):
    """The posterior after one round, eq. 8; options are those of the engine."""
    documents, words, topics = all_sums(rows, q)
    n_topics = q.shape[1]
    order = (
        sorted(posterior.order, key=lambda k: -topics.mean[0, k])
        if options.reorder
        else posterior.order
    )
    sizes = expected_tables(documents, posterior.priors(rows.n_words)[0]).sum(axis=0)[order]
    a = 1 + sizes
    b = posterior.moments(posterior.gamma)[0] + np.array(
        [sizes[i + 1 :].sum() for i in range(n_topics)]
    )
    posterior = posterior._replace(a=a, b=b, order=order)
    if options.learn_gamma:
        posterior = posterior._replace(
            gamma=(options.a_gamma + n_topics, options.b_gamma - np.sum(psi(b) - psi(a + b)))
        )
    if options.learn_alpha:
        mean = posterior.moments(posterior.alpha)[0]
        log_eta = sum(psi(mean) - psi(mean + n) for n in rows.document_tokens if n)
        shape = (
            options.a_alpha + expected_tables(documents, posterior.priors(rows.n_words)[0]).sum()
        )
        posterior = posterior._replace(alpha=(shape, options.b_alpha - log_eta))
    if options.learn_tau:
        tables = expected_tables(words, posterior.priors(rows.n_words)[1][:, None])
        posterior = posterior._replace(
            tau=(options.a_tau or 40 / rows.n_words) + tables.sum(axis=1)
        )
    if options.learn_beta:
        tables, mean = (
            expected_tables(words, posterior.priors(rows.n_words)[1][:, None]),
            posterior.moments(posterior.beta)[0],
        )
        p, n, variance = topics.positive()
        log_xi = p * (psi(mean) - psi(mean + n) - variance / 2 * polygamma(2, mean + n))
        posterior = posterior._replace(
            beta=(options.a_beta + tables.sum(), options.b_beta - log_xi.sum())
        )
    return posterior


def rising(sums, prior):
    """F[log Gamma(prior + n) / Gamma(prior)], the bound's expectation."""
    p, mean, variance = sums.positive()
    return p * (gammaln(prior + mean) - gammaln(prior) + variance / 2 * polygamma(1, prior + mean))


def expected_joint(rows, q, alpha_sum, priors):
    """The first four lines of the bound (spec 5)."""
    (a, b, b_sum), (documents, words, topics) = priors, all_sums(rows, q)
    total = sum(gammaln(alpha_sum) - gammaln(alpha_sum + n) for n in rows.document_tokens if n)
    return (
        total
        + rising(documents, a).sum()
        + rising(words, b[:, None]).sum()
        - rising(topics, b_sum).sum()
    )


def gamma_kl(q, a, b):
    shape, rate = q
    total = shape * np.log(rate) - gammaln(shape) - a * np.log(b) + gammaln(a)
    return total + (shape - a) * (psi(shape) - np.log(rate)) - (rate - b) * shape / rate


def cv_hdp_bound(rows, q, posterior, options):
    """L (spec 5): all divergences but those of what is fixed."""
    total = expected_joint(
        rows, q, posterior.moments(posterior.alpha)[0], posterior.priors(rows.n_words)
    )
    total -= sum(
        c * x * np.log(x) for c, row in zip(rows.counts, q, strict=True) for x in row if x > 0
    )
    for name in ("alpha", "gamma", "beta"):
        if isinstance(getattr(posterior, name), tuple):
            total -= gamma_kl(
                getattr(posterior, name),
                getattr(options, f"a_{name}"),
                getattr(options, f"b_{name}"),
            )
    mean, geometric = posterior.moments(posterior.gamma)
    for a, b in zip(posterior.a, posterior.b, strict=True):
        log_v, log_rest = psi(a) - psi(a + b), psi(b) - psi(a + b)
        total += (
            betaln(a, b)
            - (a - 1) * log_v
            - (b - 1) * log_rest
            + np.log(geometric)
            + (mean - 1) * log_rest
        )
    if posterior.tau is not None:
        p, prior, n = posterior.tau, options.a_tau or 40 / rows.n_words, rows.n_words
        total -= gammaln(p.sum()) - gammaln(p).sum() - gammaln(n * prior) + n * gammaln(prior)
        total -= np.sum((p - prior) * (psi(p) - psi(p.sum())))
    return total


def cv_hdp_predictive(rows, q, posterior):
    """(document, word) p(w | d), eq. 16 with the mass of the topics beyond the truncation."""
    documents, words, topics = (sums.mean for sums in all_sums(rows, q))
    alpha, beta = posterior.moments(posterior.alpha)[0], posterior.moments(posterior.beta)[0]
    tau = (
        np.full(rows.n_words, 1 / rows.n_words)
        if posterior.tau is None
        else posterior.tau / posterior.tau.sum()
    )
    _, weights, rest = posterior.weights()
    theta = (alpha * weights + documents) / (alpha + rows.document_tokens[:, None])
    phi = (beta * tau[:, None] + words) / (beta + topics)
    return theta @ phi.T + (alpha * rest / (alpha + rows.document_tokens))[:, None] * tau
