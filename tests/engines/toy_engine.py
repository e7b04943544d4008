"""A toy engine, to show that one file and one line in the registry are enough: topics drawn anew, whatever the words."""

from typing import NamedTuple

import numpy as np

from workbench.engines.engine import SAMPLER, Engine, NoOptions
from workbench.engines.lda.fold_in import by_gibbs
from workbench.kernels.lda.log_joint import log_joint, predictive
from workbench.kernels.simd.vectors import pad_topics
from workbench.kernels.uniforms import TOPICS, uniform
from workbench.models import LDA


class State(NamedTuple):
    n_dk: np.ndarray  # (document, topic) padded
    n_wk: np.ndarray  # (word, topic) padded
    n_k: np.ndarray  # (topic,) padded


def init(corpus, model, options, context, start=None):
    key, alpha = context.key(TOPICS), pad_topics(model.alphas)
    state = State(
        np.zeros((corpus.n_documents, len(alpha))),
        np.zeros((corpus.n_words, len(alpha))),
        np.zeros(len(alpha)),
    )
    for pair, (d, w) in enumerate(zip(corpus.documents, corpus.words, strict=True)):
        for token in range(corpus.tokens_before[pair], corpus.tokens_before[pair + 1]):
            k = int(uniform(key, token) * model.n_topics)
            for array, row in ((state.n_dk, (d, k)), (state.n_wk, (w, k)), (state.n_k, k)):
                array[row] += 1
    return state


def step(corpus, model, options, state, context):
    context.interrupt()
    return init(corpus, model, options, context), {"updates": corpus.n_tokens}


def watch(corpus, model, options, state):
    joint = log_joint(*state, pad_topics(model.alphas), model.beta, model.n_topics)
    return {"log_joint": joint, "n_k": state.n_k[: model.n_topics]}


def counts(corpus, model, options, state):
    return {"n_kw": state.n_wk[:, : model.n_topics].T, "n_dk": state.n_dk[:, : model.n_topics]}


def predict(corpus, model, options, state, pairs, context=None):
    return predictive(pairs, corpus.document_tokens, *state, model.alphas, model.beta)


def engine(name):
    return Engine(
        name=name,
        kind=SAMPLER,
        title="Toy",
        source="nobody",
        model=LDA,
        options=NoOptions,
        state=State,
        samples=lambda corpus, options: True,
        watches=("log_joint",),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=by_gibbs,
    )
