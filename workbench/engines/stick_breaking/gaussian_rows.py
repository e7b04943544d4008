"""What inference of Gaussian processes over rows shares: counts by row, the kernel and its covariance, running means."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import DOUBLE, Options, State, StepContext, cached_by_corpus
from workbench.errors import Got, Named
from workbench.kernels.stick_breaking.gaussian_process import (
    Dense,
    Inputs,
    Kernel,
    LowRank,
    dense,
    fitted,
    low_rank,
)
from workbench.kernels.stick_breaking.sticks import sticks_of
from workbench.kernels.uniforms import STICK_ORDER, draw_key, permutation
from workbench.models.model import Model
from workbench.models.options import OptionError, option

SMOOTHING = 0.1
"""What is added to the counts that the raw process is fitted to."""


class Rows(NamedTuple):
    """A corpus as a table, with the words in stick order."""

    words: np.ndarray  # (word,) number of the word that is first on the stick, second, …
    counts: np.ndarray  # (document, word) int64
    observed: np.ndarray  # (observed,) documents with tokens
    empty: np.ndarray  # (empty,) documents without
    inputs: Inputs


@cached_by_corpus
def rows_of(corpus: Corpus, model) -> Rows:
    """Return the table of a corpus."""
    words = word_order(corpus, model)
    counts = np.zeros((corpus.n_documents, corpus.n_words), np.int64)
    counts[corpus.documents, np.argsort(words)[corpus.words]] = corpus.counts
    n_tokens = corpus.document_tokens
    return Rows(
        words, counts, np.flatnonzero(n_tokens), np.flatnonzero(n_tokens == 0), model.inputs(corpus)
    )


def word_order(corpus: Corpus, model) -> np.ndarray:
    """Return (word,) the word numbers in stick order."""
    if model.order == "vocabulary":
        return np.arange(corpus.n_words)
    if model.order == "random":
        return permutation(np.uint64(draw_key(model.order_seed, STICK_ORDER, 0, 0)), corpus.n_words)
    by_size = np.argsort(-np.bincount(corpus.words, corpus.counts, corpus.n_words), kind="stable")
    return by_size if model.places is None else by_size[model.places]


def smoothed_shares(counts: np.ndarray, added: float) -> np.ndarray:
    """Return (x + added) / (N + W added) (document, word)."""
    return (counts + added) / (counts.sum(axis=1, keepdims=True) + added * counts.shape[1])


def raw_targets(rows: Rows) -> np.ndarray:
    """Return (observed, stick) the sticks of smoothed shares, the targets of the raw process."""
    return sticks_of(np.log(smoothed_shares(rows.counts[rows.observed], SMOOTHING)))


def mean_share(rows: Rows) -> np.ndarray:
    """Return (word,) the mean over documents with tokens of (x + 1) / (N + W)."""
    return smoothed_shares(rows.counts[rows.observed], 1.0).mean(axis=0)


def threshold(value) -> str:
    """Return a threshold of eigenvalues as text; raise OptionError if it is invalid."""
    try:
        if 0.0 < float(value) < 1.0:
            return f"{float(value):g}"
    except (TypeError, ValueError):
        pass
    raise OptionError(
        Named("rank", text="option 'rank'"),
        " must be dense, or a number between 0 and 1, as 1e-8: eigenvalues below it, in "
        "units of the largest, are left out",
        Got(value),
        value=value,
    )


def rank_option():
    """Return the option for the form of the covariance."""
    return option(
        "1e-08",
        "covariance of all documents: dense, or its eigenvectors with eigenvalues above this share of the largest",
        choices=("1e-08", "dense"),
        otherwise=threshold,
    )


def kernel_option(sampled: bool = False):
    """Return the option for the source of the kernel."""
    return option(
        "fitted",
        "kernel: fitted to the raw process by marginal likelihood before the first iteration, or fixed"
        + ("; or sampled after the fit" if sampled else ""),
        choices=("fitted", "given", "sampled") if sampled else ("fitted", "given"),
    )


def average_option(first: int):
    """Return the option for the number of iterations before averaging."""
    return option(
        first, "iterations before averaging of the probabilities begins", low=0, whole=True
    )


def initial_kernel(rows: Rows, model, how: str) -> Kernel:
    """Return the kernel of the first iteration."""
    if how == "given":
        return model.kernel
    targets = raw_targets(rows)
    observed = Inputs(*(each[rows.observed] for each in rows.inputs))
    return fitted(observed, targets - targets.mean(axis=0), model.kernel)


def covariance_of(rows: Rows, hyper: Kernel, rank: str) -> Dense | LowRank:
    """Return the covariance of all documents under a kernel."""
    return (
        dense(rows.inputs, hyper) if rank == "dense" else low_rank(rows.inputs, hyper, float(rank))
    )


_latest: WeakKeyDictionary = WeakKeyDictionary()


def cached_covariance(corpus: Corpus, model, hyper: Kernel, rank: str) -> Dense | LowRank:
    """Return `covariance_of` a corpus from a cache that holds the last kernel of each corpus."""
    wanted = model, hyper, rank
    if _latest.get(corpus, (None,))[0] != wanted:
        _latest[corpus] = wanted, covariance_of(rows_of(corpus, model), hyper, rank)
    return _latest[corpus][1]


def in_corpus_order(rows: Rows, probability: np.ndarray) -> np.ndarray:
    """Return (…, word) probabilities in corpus order, from those in stick order."""
    found = np.empty_like(probability)
    found[..., rows.words] = probability
    return found


def tasks_of(n: int, work: Callable[[int], None]) -> list[Callable]:
    """Return one task for each number below n; a task can be interrupted before it starts."""

    def task(k, interrupt: Callable[[], None]):
        interrupt()
        work(k)

    return [partial(task, k) for k in range(n)]


def process_bytes(corpus: Corpus, rank: str) -> int:
    """Return the bytes of the covariance of all documents: two (document, document) matrices, or at most one for its factor."""
    return corpus.n_documents**2 * DOUBLE * (2 if rank == "dense" else 1)


def take_in(state: State, mean: np.ndarray, values: np.ndarray, step: int, first: int) -> State:
    """Return the state with a step's values added to their running mean and ``squares``, which start after ``first``.

    ``mean`` is the array of the state that holds the mean of these values.
    """
    if step <= first + 1:
        mean[:], state.squares[:] = values, 0.0
        return state._replace(n_averaged=int(step > first))
    n, off = state.n_averaged + 1, values - mean
    mean[:] += off / n
    state.squares[:] += off * (values - mean)
    return state._replace(n_averaged=n)


def kernel_of(state: State) -> Kernel:
    """Return the hyperparameters of a state."""
    return Kernel(*state.kernel.tolist())


def watch(corpus: Corpus, model: Model, options: Options, state: State) -> dict[str, float]:
    """Return the hyperparameters of the kernel by name."""
    return kernel_of(state)._asdict()


def counts(corpus: Corpus, model: Model, options: Options, state: State) -> dict[str, np.ndarray]:
    """Return the processes and their mean, their order of the words, and the running mean of the probabilities."""
    return {
        "psi": state.psi,
        "mu": state.mean,
        "stick_words": rows_of(corpus, model).words,
        "running_probability": state.mean_probability,
        "running_deviation": np.sqrt(state.squares / max(state.n_averaged, 1)),
    }


def fixed_probabilities(
    corpus: Corpus, model: Model, options: Options, state: State
) -> dict[str, np.ndarray]:
    """Return the counts of a baseline: its probabilities."""
    return {"running_probability": state.probability}


def predictions(current: Callable[[Corpus, Model, State], np.ndarray]) -> dict[str, Callable]:
    """Return `predict` and `predict_rows` of an engine, given a function that returns its probabilities (document, word)."""

    def predict(
        corpus: Corpus,
        model: Model,
        options: Options,
        state: State,
        pairs: Corpus,
        context: StepContext | None = None,
    ) -> np.ndarray:
        return current(corpus, model, state)[pairs.documents, pairs.words]

    def predict_rows(
        corpus: Corpus,
        model: Model,
        options: Options,
        state: State,
        rows: np.ndarray,
        context: StepContext | None,
    ) -> np.ndarray:
        return current(corpus, model, state)[rows]

    return {"predict": predict, "predict_rows": predict_rows}
