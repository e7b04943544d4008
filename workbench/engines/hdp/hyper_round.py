"""A round over the hyperparameters of `cv-hdp`: q of sticks, gamma, alpha, tau and beta, and what they make of the priors.

Teh, Kurihara & Welling (2008), eq. 8, 11 and 12; `hdp.posteriors` has the moments of these q. Functions of the state of
`cv-hdp`; P0 (document, topic) is the probability that a document has no token in a topic.
"""

import numpy as np
from scipy.special import psi

from workbench.engines.hdp.posteriors import LOG, MEAN, gamma_posterior, log_sticks, log_weights, mean_weights
from workbench.kernels.count_moments import expected_log_beta, tables_of_documents, tables_of_words
from workbench.models import Priors

SMALLEST_PRIOR = 1e-100
"""Geometric means may underflow; the square of this does not."""


def prior_of_topics(state) -> np.ndarray:
    """a_k = G[alpha] G[pi_k] (topic,)."""
    return np.maximum(np.exp(state.alpha[LOG] + state.log_pi), SMALLEST_PRIOR)


def prior_of_words(state) -> np.ndarray:
    """b_w = G[beta] G[tau_w] (word,)."""
    n_words = len(state.mean_wk)
    log_tau = state.log_tau if len(state.log_tau) else np.full(n_words, -np.log(n_words))
    return np.maximum(np.exp(state.beta[LOG] + log_tau), SMALLEST_PRIOR)


def priors_of_counts(state) -> tuple:
    """a (topic,), b (word,) and B: what the updates add to the counts."""
    return prior_of_topics(state), prior_of_words(state), float(state.beta[MEAN])


def prior_of_tau(corpus, model) -> float:
    """a_tau, the Dirichlet parameter of tau; 40 / W where none is given."""
    return model.a_tau or 40.0 / corpus.n_words


def mean_priors(state) -> Priors:
    """Posterior means of the priors, for predictions."""
    alphas = state.alpha[MEAN] * mean_weights(state.sticks, state.order)
    tau = state.tau / state.tau.sum() if len(state.tau) else 1.0 / len(state.mean_wk)
    return Priors(alphas, state.beta[MEAN] * tau, float(max(state.alpha[MEAN] - alphas.sum(), 0.0)))


def hyper_round(corpus, model, options, state, zero_dk):
    """Updates q of every learnt hyperparameter once: sticks, gamma, alpha, tau, beta (eq. 8; spec 6, steps 3 and 4)."""
    order = state.order
    if options.reorder:
        order = order[np.argsort(-state.mean_k[order], kind="stable")]
    sizes = tables_of_topics(state, zero_dk)[order]
    sticks = np.empty_like(state.sticks)
    sticks[0, order] = 1.0 + sizes
    sticks[1, order] = state.top[MEAN] + np.concatenate([np.cumsum(sizes[::-1])[-2::-1], [0.0]])
    top, alpha = state.top, state.alpha
    if model.learn_gamma:
        top = gamma_posterior(model.a_gamma + state.n_topics, model.b_gamma - log_sticks(sticks)[1].sum())
    state = state._replace(order=order, sticks=sticks, log_pi=log_weights(sticks, order), top=top)
    if model.learn_alpha:
        n_d = corpus.document_tokens[corpus.document_tokens > 0]
        log_eta = len(n_d) * psi(alpha[MEAN]) - psi(alpha[MEAN] + n_d).sum()
        alpha = gamma_posterior(model.a_alpha + tables_of_topics(state, zero_dk).sum(), model.b_alpha - log_eta)
    return learn_words(corpus, model, state._replace(alpha=alpha), zero_dk)


def tables_of_topics(state, zero_dk) -> np.ndarray:
    """S_k = sum_d E[s_dk] (topic,), eq. 12."""
    return tables_of_documents(state.mean_dk, state.var_dk, zero_dk, prior_of_topics(state))


def learn_words(corpus, model, state, zero_dk):
    """Updates q(tau), then q(beta), where they are learnt (eq. 8, 11, 12)."""
    if model.learn_tau:
        tau = prior_of_tau(corpus, model) + tables_of_words(corpus, state.gamma, prior_of_words(state), state.n_topics)
        state = state._replace(tau=tau, log_tau=psi(tau) - psi(tau.sum()))
    if model.learn_beta:
        zero_k, tables_w = zero_dk.prod(axis=0), tables_of_words(corpus, state.gamma, prior_of_words(state), state.n_topics)
        log_xi = sum(
            expected_log_beta(state.mean_k[k], state.var_k[k], zero_k[k], state.beta[MEAN]) for k in range(state.n_topics)
        )
        state = state._replace(beta=gamma_posterior(model.a_beta + tables_w.sum(), model.b_beta - log_xi))
    return state
