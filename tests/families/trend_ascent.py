"""Gradient ascent of the toy family of trends."""

from typing import NamedTuple

import numpy as np
from families.trend import Trend

from workbench.engines.engine import VARIATIONAL, Engine, NoOptions


class State(NamedTuple):
    level: np.ndarray  # (word,)
    slope: np.ndarray  # (word,)


def times(corpus, model):
    return (corpus.input("year") - model.first) / model.span


def init(corpus, model, options, context, warm_start=None):
    return State(np.zeros(corpus.n_words), np.zeros(corpus.n_words))


def step(corpus, model, options, state, context):
    context.interrupt()
    time, counts = times(corpus, model), corpus.to_scipy().toarray()
    gradient = counts - corpus.document_tokens[:, None] * model.shares(*state, time)
    size = model.rate / corpus.n_tokens
    return State(
        state.level + size * gradient.sum(axis=0), state.slope + size * (time @ gradient)
    ), {"updates": corpus.n_pairs}


def watch(corpus, model, options, state):
    return {
        "objective": float(corpus.counts @ np.log(predict(corpus, model, options, state, corpus)))
    }


def predict(corpus, model, options, state, pairs, context=None):
    return model.shares(*state, times(pairs, model))[pairs.documents, pairs.words]


def engine(name="trend-ascent"):
    return Engine(
        name=name,
        kind=VARIATIONAL,
        title="Gradient ascent of a trend",
        source="a toy of the tests",
        model=Trend,
        options=NoOptions,
        state=State,
        watches=("objective",),
        samples=lambda corpus, options: False,
        init=init,
        step=step,
        watch=watch,
        counts=lambda corpus, model, options, state: state._asdict(),
        predict=predict,
        fold_in=None,
    )
