"""Variational posteriors of the hyperparameters of `cv-hdp`: moments, divergences, and their updates.

Teh, Kurihara & Welling (2008), eq. 8, 11, 12 and 18. A concentration is an array (4,): shape and rate of its Gamma, mean and
mean log; shape 0 says that it is fixed, a point mass, without a divergence. Sticks stand in an order of their own, and
their weights are numbered by topic::

    log G[pi_k] = E[log v_k] + sum over the sticks before k of E[log(1 - v)]
    E[pi_k]     = E[v_k] prod over the sticks before k of (1 - E[v])

In functions of the state of `cv-hdp`, P0 (document, topic) is the probability that a document has no token in a topic.
"""

import numpy as np
from scipy.special import betaln, gammaln, psi

from workbench.corpus import Corpus
from workbench.engines.engine import Options, State
from workbench.kernels.count_moments import expected_log_beta, tables_of_documents, tables_of_words
from workbench.models import Priors
from workbench.models.hdp import HDP

SHAPE, RATE, MEAN, LOG = range(4)
"""Indices in the array of a concentration: shape, rate, mean and mean log."""
SMALLEST_PRIOR = 1e-100
"""Lower limit of geometric means, which may underflow; its square does not."""


def fixed(value: float) -> np.ndarray:
    """Return (shape, rate, mean, mean log) of a fixed concentration, a point mass with shape and rate 0."""
    return np.array([0.0, 0.0, value, np.log(value)])


def gamma_posterior(shape: float, rate: float) -> np.ndarray:
    """Return (shape, rate, mean, mean log) of a concentration with a Gamma posterior."""
    return np.array([shape, rate, shape / rate, psi(shape) - np.log(rate)])


def gamma_divergence(concentration: np.ndarray, shape: float, rate: float) -> float:
    """Return KL(q || Gamma(shape, rate)) of a concentration, nats; 0 if it is fixed."""
    a, b, mean, log_mean = concentration
    if not a:
        return 0.0
    normalisers = a * np.log(b) - gammaln(a) - shape * np.log(rate) + gammaln(shape)
    return float(normalisers + (a - shape) * log_mean - (b - rate) * mean)


def dirichlet_divergence(q: np.ndarray, prior: float) -> float:
    """Return KL(Dirichlet(q) || Dirichlet(prior, …, prior)), nats."""
    total = gammaln(q.sum()) - gammaln(q).sum() - gammaln(len(q) * prior) + len(q) * gammaln(prior)
    return float(total + np.sum((q - prior) * (psi(q) - psi(q.sum()))))


def log_sticks(sticks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return E[log v] and E[log(1 - v)] (topic,) under q(v) = Beta(A, B); ``sticks`` (2, topic) holds A and B."""
    both = psi(sticks.sum(axis=0))
    return psi(sticks[0]) - both, psi(sticks[1]) - both


def stick_divergence(sticks: np.ndarray, top: np.ndarray) -> float:
    """Return sum_k E_gamma KL(Beta(A_k, B_k) || Beta(1, gamma)), nats; top is the concentration gamma."""
    (a, b), (log_v, log_rest) = sticks, log_sticks(sticks)
    terms = -betaln(a, b) + (a - 1) * log_v + (b - top[MEAN]) * log_rest - top[LOG]
    return float(terms.sum())


def log_weights(sticks: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return E[log pi_k] (topic,) of the topic weights, under the Beta posteriors of the sticks, A and B in ``sticks``."""
    log_v, log_rest = log_sticks(sticks[:, order])
    return (log_v + np.concatenate([[0.0], np.cumsum(log_rest)[:-1]]))[np.argsort(order)]


def mean_weights(sticks: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return E[pi_k] (topic,); 1 minus their sum is the mean weight of all topics beyond the truncation."""
    a, b = sticks[:, order]
    remainder = np.concatenate([[1.0], np.cumprod(b / (a + b))[:-1]])
    return (a / (a + b) * remainder)[np.argsort(order)]


def prior_of_topics(state: State) -> np.ndarray:
    """Return the pseudo-count (topic,) of each topic in a document: a_k = G[alpha] G[pi_k] with G[x] = exp E[log x]."""
    return np.maximum(np.exp(state.alpha[LOG] + state.log_pi), SMALLEST_PRIOR)


def prior_of_words(state: State) -> np.ndarray:
    """Return the pseudo-count (word,) of each word in a topic: b_w = G[beta] G[tau_w] with G[x] = exp E[log x]."""
    n_words = len(state.mean_wk)
    log_tau = state.log_tau if len(state.log_tau) else np.full(n_words, -np.log(n_words))
    return np.maximum(np.exp(state.beta[LOG] + log_tau), SMALLEST_PRIOR)


def priors_of_counts(state: State) -> tuple:
    """Return the pseudo-counts a (topic,), b (word,) and B = E[beta] that updates of responsibilities add to counts."""
    return prior_of_topics(state), prior_of_words(state), float(state.beta[MEAN])


def prior_of_tau(corpus: Corpus, model: HDP) -> float:
    """Return a_tau, the Dirichlet parameter of tau (the base distribution of words); 40 / number of words by default."""
    return model.a_tau or 40.0 / corpus.n_words


def mean_priors(state: State) -> Priors:
    """Return the posterior means of alpha pi and beta tau, for predictions."""
    alphas = state.alpha[MEAN] * mean_weights(state.sticks, state.order)
    tau = state.tau / state.tau.sum() if len(state.tau) else 1.0 / len(state.mean_wk)
    return Priors(alphas, state.beta[MEAN] * tau, float(max(state.alpha[MEAN] - alphas.sum(), 0.0)))


def hyper_round(corpus: Corpus, model: HDP, options: Options, state: State, zero_dk: np.ndarray):
    """Update q of every learnt hyperparameter once: sticks, gamma, alpha, tau, beta (eq. 8; spec 6, steps 3 and 4)."""
    order = state.order
    if options.reorder:
        order = order[np.argsort(-state.mean_k[order], kind="stable")]
    sizes = tables_of_topics(state, zero_dk)[order]
    sticks = np.empty_like(state.sticks)
    sticks[0, order] = 1.0 + sizes
    sticks[1, order] = state.top[MEAN] + np.concatenate([np.cumsum(sizes[::-1])[-2::-1], [0.0]])
    top, alpha = state.top, state.alpha
    if model.learn_gamma:
        top = gamma_posterior(
            model.a_gamma + state.n_topics, model.b_gamma - log_sticks(sticks)[1].sum()
        )
    state = state._replace(order=order, sticks=sticks, log_pi=log_weights(sticks, order), top=top)
    if model.learn_alpha:
        n_d = corpus.document_tokens[corpus.document_tokens > 0]
        log_eta = len(n_d) * psi(alpha[MEAN]) - psi(alpha[MEAN] + n_d).sum()
        alpha = gamma_posterior(
            model.a_alpha + tables_of_topics(state, zero_dk).sum(), model.b_alpha - log_eta
        )
    return learn_words(corpus, model, state._replace(alpha=alpha), zero_dk)


def tables_of_topics(state: State, zero_dk: np.ndarray) -> np.ndarray:
    """Return S_k = sum_d E[s_dk] (topic,), the expected number of tables of each topic (eq. 12)."""
    return tables_of_documents(state.mean_dk, state.var_dk, zero_dk, prior_of_topics(state))


def learn_words(corpus: Corpus, model: HDP, state: State, zero_dk: np.ndarray):
    """Update q(tau), then q(beta), if they are learnt (eq. 8, 11, 12)."""
    if model.learn_tau:
        tau = prior_of_tau(corpus, model) + tables_of_words(
            corpus, state.gamma, prior_of_words(state), state.n_topics
        )
        state = state._replace(tau=tau, log_tau=psi(tau) - psi(tau.sum()))
    if model.learn_beta:
        zero_k, tables_w = (
            zero_dk.prod(axis=0),
            tables_of_words(corpus, state.gamma, prior_of_words(state), state.n_topics),
        )
        log_xi = sum(
            expected_log_beta(state.mean_k[k], state.var_k[k], zero_k[k], state.beta[MEAN])
            for k in range(state.n_topics)
        )
        state = state._replace(
            beta=gamma_posterior(model.a_beta + tables_w.sum(), model.b_beta - log_xi)
        )
    return state
