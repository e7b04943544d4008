"""A toy engine that finds a topic more in every third iteration: token i stands in topic i mod K."""

from typing import NamedTuple

import numpy as np

from workbench.engines.engine import SAMPLER, Engine, NoOptions
from workbench.engines.lda.fold_in import by_cvb0
from workbench.models import HDP, Priors

ALPHA_TOTAL, BETA_TOTAL = 2.0, 5.0


class State(NamedTuple):
    n_topics: int
    steps: int


def init(corpus, model, options, context, start=None):
    return State(model.n_topics, 0)


def step(corpus, model, options, state, context):
    context.interrupt()
    n_topics = state.n_topics + (context.step % 3 == 0)
    return State(n_topics, state.steps + n_topics), {
        "updates": corpus.n_tokens,
        "event": context.step == 7,
    }


def alphas(state):
    """The last topic has none: a third of the weight is the rest's."""
    return np.full(state.n_topics, ALPHA_TOTAL * 2 / 3 / state.n_topics)


def watch(corpus, model, options, state):
    n_k = np.bincount(np.arange(corpus.n_tokens) % state.n_topics, minlength=state.n_topics)
    return {
        "n_k": n_k,
        "alpha": alphas(state),
        "alpha_total": ALPHA_TOTAL,
        "beta_total": BETA_TOTAL,
        "steps": float(state.steps),
    }


def counts(corpus, model, options, state):
    topics = np.arange(corpus.n_tokens) % state.n_topics
    n_kw, n_dk = (
        np.zeros((state.n_topics, corpus.n_words)),
        np.zeros((corpus.n_documents, state.n_topics)),
    )
    np.add.at(n_kw, (topics, np.repeat(corpus.words, corpus.counts)), 1)
    np.add.at(n_dk, (np.repeat(corpus.documents, corpus.counts), topics), 1)
    return {"n_kw": n_kw, "n_dk": n_dk, "token_topics": topics}


def predict(corpus, model, options, state, pairs, context=None):
    found = counts(corpus, model, options, state)
    priors = Priors(alphas(state), BETA_TOTAL / corpus.n_words, ALPHA_TOTAL / 3)
    _, n_kw = priors.with_rest(found["n_kw"])
    rest = priors.rest / (found["n_dk"].sum(axis=1) + ALPHA_TOTAL)
    theta = np.column_stack([priors.theta(found["n_dk"]), rest])
    return np.sum(theta[pairs.documents] * priors.phi(n_kw).T[pairs.words], axis=1)


def engine(name):
    return Engine(
        name=name,
        kind=SAMPLER,
        title="Growing",
        source="nobody",
        model=HDP,
        options=NoOptions,
        state=State,
        samples=lambda corpus, options: True,
        watches=("alpha_total", "beta_total", "steps"),
        keeps=("token_topics",),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=by_cvb0,
        grows=True,
    )
