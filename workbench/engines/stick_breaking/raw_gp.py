"""Gaussian process regression of the sticks of smoothed word shares: a baseline that ignores the sizes of the counts.

Linderman, Johnson & Adams (2015), sec. 4: raw GP; spec C.5. For the documents with tokens y = psi^-1((x + .1) / (N + .1 W))
less its mean over them; with a kernel that all sticks share::

    E[f] = Cov_*  (Cov + noise I)^-1 y,   p = pi(mean + E[f])

It is exact after one iteration, and every iteration is the same.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    BASELINE,
    DOUBLE,
    Array,
    Engine,
    Memory,
    StepContext,
    WarmStart,
    size,
    zeros,
)
from workbench.engines.stick_breaking.rows import (
    cached_covariance,
    fixed_probabilities,
    in_corpus_order,
    initial_kernel,
    kernel_of,
    kernel_option,
    predictions,
    process_bytes,
    rank_option,
    raw_targets,
    rows_of,
    watch,
)
from workbench.kernels.stick_breaking.gaussian_process import smoothed
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.kernels.threads import one_blas_thread
from workbench.models.stick_breaking.gaussian_process import RawGaussianProcess


class State(NamedTuple):
    kernel: np.ndarray  # (4,) float64: lengths in time and space, scale, noise
    probability: np.ndarray  # (document, word) float64


@dataclass(frozen=True)
class Options:
    kernel: str = kernel_option()
    rank: str = rank_option()


def arrays(corpus: Corpus) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    return {"kernel": Array((4,)), "probability": Array((corpus.n_documents, corpus.n_words))}


def init(
    corpus: Corpus,
    model: RawGaussianProcess,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: kernel fitted by marginal likelihood or given, and the predicted probabilities."""
    state = State(**zeros(arrays(corpus)))
    with one_blas_thread():
        state.kernel[:] = initial_kernel(rows_of(corpus, model), model, options.kernel)
    return with_probabilities(corpus, model, options, state)


def with_probabilities(
    corpus: Corpus, model: RawGaussianProcess, options: Options, state: State
) -> State:
    """Return the state with probabilities of all documents predicted by Gaussian process regression."""
    rows, hyper = rows_of(corpus, model), kernel_of(state)
    targets = raw_targets(rows)
    centre = targets.mean(axis=0)
    with one_blas_thread():
        prior = cached_covariance(corpus, model, hyper, options.rank)
        sticks = centre + smoothed(prior, rows.observed, targets - centre, hyper.noise)
    state.probability[:] = in_corpus_order(rows, probabilities(sticks))
    return state


def step(
    corpus: Corpus, model: RawGaussianProcess, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Recompute the predicted probabilities of all documents, which are the same in every iteration."""
    context.interrupt()
    return with_probabilities(corpus, model, options, state), {
        "updates": corpus.n_documents * (corpus.n_words - 1)
    }


def memory(corpus: Corpus, model: RawGaussianProcess, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: probabilities, the counts, and the covariance of all documents."""
    table = corpus.n_documents * corpus.n_words * DOUBLE
    return Memory(
        size(arrays(corpus)),
        table + process_bytes(corpus, options.rank),
        step=5 * table,
        look=table,
    )


def engine(name: str = "raw-gp") -> Engine:
    return Engine(
        name=name,
        kind=BASELINE,
        colour="#a244d4",
        line="-.",
        marker="^",
        title="Gaussian process regression of the sticks of shares",
        source="Linderman, Johnson & Adams (2015), sec. 4",
        when="A baseline for sbm-gp: it smooths shares without regard to the counts behind them, and is exact after one "
        "iteration.",
        model=RawGaussianProcess,
        options=Options,
        state=State,
        samples=lambda corpus, options: False,
        watches=(),
        init=init,
        step=step,
        watch=watch,
        counts=fixed_probabilities,
        **predictions(lambda corpus, model, state: state.probability),
        fold_in=None,
        memory=memory,
        idle=lambda options: "the regression is one product of matrices",
    )
