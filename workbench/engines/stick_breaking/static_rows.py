"""The baseline without a model: predict a document by the smoothed word shares of the last document of its place.

Linderman, Johnson & Adams (2015), table 3: static; spec C.5::

    p_m = (x_l + 1) / (N_l + W),   l = m where it has tokens, else the last of its place before it that has

Where the place has none before, the one nearest in time counts; where it has none at all, of the nearest place.
"""

from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    BASELINE,
    DOUBLE,
    Array,
    Engine,
    Memory,
    NoOptions,
    StepContext,
    WarmStart,
    size,
    zeros,
)
from workbench.engines.stick_breaking.rows import (
    fixed_probabilities,
    predictions,
    smoothed_shares,
)
from workbench.kernels.stick_breaking.gaussian_process import squared_distances
from workbench.models.stick_breaking.gaussian_process import StaticRows


class State(NamedTuple):
    probability: np.ndarray  # (document, word) float64


def last_rows(inputs, observed: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """Return for each document without tokens the document that predicts it: the last earlier one at the nearest place."""
    far = squared_distances(inputs.space[empty], inputs.space[observed])
    ago = np.zeros(far.shape)
    if inputs.time.shape[1]:
        ago = inputs.time[empty] - inputs.time[observed, 0]
    ranked = np.lexsort((np.abs(ago), ago < 0, far), axis=-1)
    return observed[ranked[:, 0]]


def arrays(corpus: Corpus) -> dict[str, Array]:
    """Return the shape and type of the array of a state."""
    return {"probability": Array((corpus.n_documents, corpus.n_words))}


def init(
    corpus: Corpus,
    model: StaticRows,
    options: NoOptions,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: the smoothed word shares, which never change."""
    state, counts = State(**zeros(arrays(corpus))), np.zeros((corpus.n_documents, corpus.n_words))
    counts[corpus.documents, corpus.words] = corpus.counts
    observed, empty = (
        np.flatnonzero(corpus.document_tokens),
        np.flatnonzero(corpus.document_tokens == 0),
    )
    state.probability[:] = smoothed_shares(counts, 1.0)
    state.probability[empty] = state.probability[last_rows(model.inputs(corpus), observed, empty)]
    return state


def step(
    corpus: Corpus, model: StaticRows, options: NoOptions, state: State, context: StepContext
) -> tuple[State, dict]:
    """Return the state unchanged."""
    context.interrupt()
    return state, {"updates": corpus.n_documents}


def memory(corpus: Corpus, model: StaticRows, options: NoOptions) -> Memory:
    """Forecast the memory of a run in bytes: probabilities, and distances between documents with and without tokens."""
    n_empty = int((corpus.document_tokens == 0).sum())
    distances = 3 * n_empty * (corpus.n_documents - n_empty) * DOUBLE
    table = corpus.n_documents * corpus.n_words * DOUBLE
    return Memory(size(arrays(corpus)), step=distances + table, look=table)


def engine(name: str = "static") -> Engine:
    return Engine(
        name=name,
        kind=BASELINE,
        colour="#f6081a",
        line=":",
        marker="D",
        title="Smoothed shares of the last document of the same place",
        source="Linderman, Johnson & Adams (2015), table 3",
        when="The simplest baseline for predictions of the next year: each place stays as it was last.",
        model=StaticRows,
        options=NoOptions,
        state=State,
        samples=lambda corpus, options: False,
        watches=(),
        init=init,
        step=step,
        watch=lambda corpus, model, options, state: {},
        counts=fixed_probabilities,
        **predictions(lambda corpus, model, state: state.probability),
        fold_in=None,
        memory=memory,
        idle=lambda options: "there is nothing to be done",
    )
