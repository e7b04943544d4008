"""An engine that works on a corpus laid out in parts, as the loop sees it: `Engine` whose state has what all parts share.

The rows that belong to documents are with the groups, and are empty in this state.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce

import numpy as np

from workbench.engines.engine import Engine
from workbench.engines.in_parts import ADDED, ROUNDS, add_told, in_tree
from workbench.engines.lda.hyperparameters import learn
from workbench.engines.lda.likelihoods import added
from workbench.kernels.simd.lanes import aligned_copy, aligned_zeros
from workbench.runs.parts.laying_out import LaidOut
from workbench.runs.scoring import Average, Logs, perplexity_of, scores_from


def engine_in_parts(engine: Engine) -> Engine:
    """The same engine for a `LaidOut` corpus; a corpus that is whole (to compile kernels with) it takes as it is."""
    given = {
        name: partial(_either, getattr(engine, name), partial(function, engine))
        for name, function in {
            "init": _init,
            "step": _step,
            "watch": _watch,
            "counts": _counts,
        }.items()
    }
    return engine._replace(**given)


def _either(whole, in_parts, corpus, *arguments):
    return (in_parts if isinstance(corpus, LaidOut) else whole)(corpus, *arguments)


def _init(engine, corpus: LaidOut, model, options, context, warm_start=None):
    """The first state: sums of what the groups begin with."""
    shared = corpus.crew.begin(warm_start, context.interrupt)
    empty = {name: np.zeros((0, len(model.alphas))) for name in engine.in_parts.own}
    state = engine.state(**shared, **empty)
    return _work_passes(engine, corpus, options, state, 0, context.interrupt)[0]


def _step(engine, corpus: LaidOut, model, options, state, context):
    """Every pass of a step over all groups; then learn priors that are due."""
    spent = corpus.crew.cpu_seconds_elsewhere()
    state, told = _work_passes(engine, corpus, options, state, context.step, context.interrupt)

    def likelihood(corpus, statistics, prior):
        """Of alpha from the counts of documents, of all groups; of beta from those of words, which are here."""
        if prior.name == "beta":
            return engine.in_parts.likelihood(corpus, options, state, prior)
        return added(_of_parts(corpus.crew.each("likelihood", _shared(engine, state), prior)))

    state = learn(
        corpus,
        options,
        state,
        context,
        engine.in_parts.samples(options),
        lambda *_: None,
        likelihood,
    )
    told = engine.in_parts.told(corpus, options, told)
    return state, told | {"cpu_time_elsewhere": corpus.crew.cpu_seconds_elsewhere() - spent}


def _work_passes(engine, corpus: LaidOut, options, state, step: int, interrupt) -> tuple:
    """The state after the passes of a step, and the numbers that they told."""
    told: dict = {}
    for at, each in enumerate(engine.in_parts.passes(options, step)):
        shared = _shared(engine, state)
        if each.kind == ADDED:
            changed, numbers = corpus.crew.added(at, step, shared, interrupt)
            state = state._replace(**changed)
        elif each.kind == ROUNDS:
            numbers = corpus.crew.rounds(at, step, shared, interrupt)
        else:
            counts = {
                name: aligned_zeros(shared[name].shape, shared[name].dtype) for name in each.changes
            }
            numbers = corpus.crew.in_order(at, step, shared | counts, interrupt)
            state = state._replace(**counts)
        told = add_told([told, numbers])
    return state, told


def _shared(engine, state) -> dict:
    """What all parts share, by name."""
    return {
        name: value for name, value in state._asdict().items() if name not in engine.in_parts.own
    }


def _of_parts(by_group: list[list]) -> list:
    """The results of all parts, in the order of their documents."""
    return [each for of_group in by_group for each in of_group]


def _watch(engine, corpus: LaidOut, model, options, state) -> dict:
    shared = _shared(engine, state)
    watched = _of_parts(corpus.crew.each("watched", shared))
    sums: dict = {
        name: in_tree([each[name] for each in watched], float.__add__) for name in watched[0]
    }
    # one group after the other: these arrays are as large as all counts of words
    if engine.in_parts.by_word:
        each = corpus.crew.each_in_turn("by_word", shared)
        # what was sent is read-only
        sums["by_word"] = reduce(engine.in_parts.joined, each, aligned_copy(next(each)))
    return engine.in_parts.watched(model, options, state, sums)


class InRows:
    """An array of a snapshot whose rows come from parts, one after the other; as an array it is made whole.

    Attributes
    ----------
    shape : tuple of int
    """

    def __init__(self, pieces, shape: tuple[int, ...]):
        self._pieces, self.shape = pieces, shape

    def __iter__(self) -> Iterator[tuple[int, np.ndarray]]:
        """(first row, rows) of each part."""
        first = 0
        for rows in self._pieces():
            yield first, rows
            first += len(rows)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.concatenate([rows for _, rows in self]).astype(dtype, copy=False)


def _counts(engine, corpus: LaidOut, model, options, state) -> dict:
    """What a snapshot keeps: counts by word as they are, rows of documents and tokens from the groups."""
    shared, n_topics = _shared(engine, state), model.n_topics
    found = {"n_kw": engine.in_parts.of_words(state)[:, :n_topics].T}
    for name, shape in {
        "n_dk": (corpus.n_documents, n_topics),
        "token_topics": (corpus.n_tokens,),
    }.items():
        if name == "n_dk" or name in engine.keeps:
            found[name] = InRows(partial(_rows_of, corpus.crew, name, shared), shape)
    return found


def _rows_of(crew, name: str, shared: dict) -> Iterator[np.ndarray]:
    for of_group in crew.each_in_turn("counts", name, shared):
        yield from of_group


def score_in_parts(
    engine,
    corpus: LaidOut,
    test,
    model,
    options,
    state,
    average: Average,
    past_burn_in: bool,
    context,
) -> tuple[Average, dict, None]:
    """As `workbench.runs.scoring.score`, with the running average kept by the groups: here are its numbers alone."""
    if corpus.test is None:
        return average, {}, None
    logs = _of_parts(
        corpus.crew.each("scored", _shared(engine, state), average.n_averaged, past_burn_in)
    )
    total = Logs(
        *(
            in_tree(column, float.__add__)
            for column in zip(*(map(float, each) for each in logs), strict=True)
        )
    )
    average = average._replace(n_averaged=average.n_averaged + past_burn_in)
    return *scores_from(
        total, average, corpus.test, engine.in_parts.samples(options), past_burn_in
    ), None


def train_perplexity_in_parts(engine, corpus: LaidOut, state) -> float:
    """The perplexity of the training tokens."""
    logs = _of_parts(corpus.crew.each("fitted", _shared(engine, state)))
    return perplexity_of(in_tree(map(float, logs), float.__add__), corpus)
