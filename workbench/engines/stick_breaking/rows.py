"""Functions shared by engines of tables and of sequences: counts by row, covariances, word orders, running means."""

import hashlib
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
from workbench.models.model import Model
from workbench.models.options import OptionError, option

SMOOTHING = 0.1
"""Pseudo-count in the smoothed shares to which the raw process is fitted."""


class Rows(NamedTuple):
    """A corpus as a dense table of counts (document, word), with the words in stick order."""

    words: np.ndarray  # (word,) word ids in stick order
    counts: np.ndarray  # (document, word) int64
    observed: np.ndarray  # (observed,) documents with tokens
    empty: np.ndarray  # (empty,) documents without tokens
    inputs: Inputs


@cached_by_corpus
def rows_of(corpus: Corpus, model: Model) -> Rows:
    """Return a corpus as a dense table of counts, with the words in the model's stick order."""
    words = model.stick_order(np.bincount(corpus.words, corpus.counts, corpus.n_words))
    counts = np.zeros((corpus.n_documents, corpus.n_words), np.int64)
    counts[corpus.documents, np.argsort(words)[corpus.words]] = corpus.counts
    n_tokens = corpus.document_tokens
    return Rows(
        words, counts, np.flatnonzero(n_tokens), np.flatnonzero(n_tokens == 0), model.inputs(corpus)
    )


def smoothed_shares(counts: np.ndarray, added: float) -> np.ndarray:
    """Return the smoothed shares (x + added) / (N + W added) of word counts x (document, word) with N tokens and W words."""
    return (counts + added) / (counts.sum(axis=1, keepdims=True) + added * counts.shape[1])


def raw_targets(rows: Rows) -> np.ndarray:
    """Return the regression targets (document with tokens, stick): the sticks of smoothed word shares."""
    return sticks_of(np.log(smoothed_shares(rows.counts[rows.observed], SMOOTHING)))


def mean_share(rows: Rows) -> np.ndarray:
    """Return the mean share (word,) of each word over the documents with tokens, with 1 added to every count."""
    return smoothed_shares(rows.counts[rows.observed], 1.0).mean(axis=0)


def threshold(value) -> str:
    """Check a number given for the option ``rank`` and return it as text; raise OptionError unless it is between 0 and 1.

    Eigenvalues below this share of the largest eigenvalue are left out.
    """
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
    """Return the option ``rank``: whether the covariance matrix is dense or approximated by one of low rank."""
    return option(
        "1e-08",
        "covariance of all documents: dense, or its eigenvectors with eigenvalues above this share of the largest",
        choices=("1e-08", "dense"),
        otherwise=threshold,
    )


def kernel_option(sampled: bool = False):
    """Return the option ``kernel``: whether the kernel's hyperparameters are fitted, given or sampled."""
    return option(
        "fitted",
        "kernel: fitted to the raw process by marginal likelihood before the first iteration, or fixed"
        + ("; or sampled after the fit" if sampled else ""),
        choices=("fitted", "given", "sampled") if sampled else ("fitted", "given"),
    )


def average_option(first: int):
    """Return the option for the number of burn-in iterations before the average of the probabilities begins."""
    return option(
        first,
        "iterations before averaging of the probabilities begins",
        low=0,
        whole=True,
        label="Average after iteration",
    )


def initial_kernel(rows: Rows, model: Model, how: str) -> Kernel:
    """Return the initial kernel: the model's own, or one fitted by marginal likelihood to smoothed word shares."""
    if how == "given":
        return model.kernel
    targets = raw_targets(rows)
    observed = Inputs(*(values[rows.observed] for values in rows.inputs))
    return fitted(observed, targets - targets.mean(axis=0), model.kernel)


def covariance_of(rows: Rows, hyper: Kernel, rank: str) -> Dense | LowRank:
    """Return the covariance matrix of all documents under a kernel, dense or of low rank."""
    return (
        dense(rows.inputs, hyper) if rank == "dense" else low_rank(rows.inputs, hyper, float(rank))
    )


_latest: WeakKeyDictionary = WeakKeyDictionary()


def cached_covariance(corpus: Corpus, model: Model, hyper: Kernel, rank: str) -> Dense | LowRank:
    """Return `covariance_of` for a corpus, from a cache if the kernel is the same as in the last call."""
    key = model, hyper, rank
    if _latest.get(corpus, (None,))[0] != key:
        _latest[corpus] = key, covariance_of(rows_of(corpus, model), hyper, rank)
    return _latest[corpus][1]


def in_corpus_order(rows: Rows, probability: np.ndarray) -> np.ndarray:
    """Reorder probabilities (…, word) from stick order to the word order of the corpus."""
    result = np.empty_like(probability)
    result[..., rows.words] = probability
    return result


def tasks_of(n: int, work: Callable[[int], None]) -> list[Callable]:
    """Return the tasks ``work(0)`` … ``work(n - 1)``; each can be interrupted before it starts."""

    def task(k: int, interrupt: Callable[[], None]):
        interrupt()
        work(k)

    return [partial(task, k) for k in range(n)]


def process_bytes(corpus: Corpus, rank: str) -> int:
    """Return the bytes of the covariance of all documents: two square matrices if dense, else at most one."""
    return corpus.n_documents**2 * DOUBLE * (2 if rank == "dense" else 1)


def take_in(state: State, mean: np.ndarray, values: np.ndarray, step: int, first: int) -> State:
    """Add ``values`` to the running mean and sum of squared deviations, which start anew in every step of the burn-in.

    ``mean`` is the array of the state that holds the running mean.
    """
    if step <= first + 1:
        mean[:], state.squares[:] = values, 0.0
        return state._replace(n_averaged=int(step > first))
    n, off = state.n_averaged + 1, values - mean
    mean[:] += off / n
    state.squares[:] += off * (values - mean)
    return state._replace(n_averaged=n)


def kernel_of(state: State) -> Kernel:
    """Return the kernel of a state."""
    return Kernel(*state.kernel.tolist())


def watch(corpus: Corpus, model: Model, options: Options, state: State) -> dict[str, float]:
    """Return the hyperparameters of the kernel by name."""
    return kernel_of(state)._asdict()


def counts(corpus: Corpus, model: Model, options: Options, state: State) -> dict[str, np.ndarray]:
    """Return psi, its mean mu, the stick order of words, and running mean and standard deviation of probabilities."""
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
    """Return the predicted probabilities of a baseline without samples, as the arrays of a snapshot."""
    return {"running_probability": state.probability}


def predictions(current: Callable[[Corpus, Model, State], np.ndarray]) -> dict[str, Callable]:
    """Return the functions {"predict", "predict_rows"} of an engine whose word probabilities ``current`` computes."""

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


class Sequences(NamedTuple):
    """The documents of all sequences as rows of a table: one sequence after another, each in order of time."""

    documents: np.ndarray  # (row,) int64: the document of each row
    # (sequence + 1,) int64: the rows of sequence s are indptr[s]:indptr[s + 1]
    indptr: np.ndarray
    # (sequence,) int64: the row after its last row with tokens; its first row if none has tokens
    ends: np.ndarray
    # (sequence,) uint64: hash of its name, so that draws do not depend on the order of sequences
    keys: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """Row (document,) of each document in the order of sequences."""
        return np.argsort(self.documents)

    @property
    def pairs(self) -> np.ndarray:
        """Rows (step,) int64 that have a preceding row in the same sequence, up to its last row with tokens."""
        followers = [
            np.arange(first + 1, end)
            for first, end in zip(self.indptr[:-1], self.ends, strict=True)
        ]
        return np.concatenate(followers).astype(np.int64)


class Counts(NamedTuple):
    """The document-word pairs of a corpus, sorted by row (a document of a sequence) and by position on the stick."""

    indptr: np.ndarray  # (row + 1,) int64
    places: np.ndarray  # (pair,) int64: position of the word on the stick, ascending within a row
    counts: np.ndarray  # (pair,) int64
    pairs: np.ndarray  # (pair,) int64: index of the pair in the corpus


@cached_by_corpus
def sequences_of(corpus: Corpus) -> Sequences:
    """Return the sequences of a training corpus; trailing documents without tokens are to be forecast."""
    names, indptr, documents = corpus.by_sequence
    positions = np.where(corpus.document_tokens[documents] > 0, np.arange(1, len(documents) + 1), 0)
    ends = np.maximum(np.maximum.reduceat(positions, indptr[:-1]), indptr[:-1])
    keys = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little") for name in names]
    return Sequences(documents, indptr, ends, np.array(keys, np.uint64))


def counts_of(pairs: Corpus, sequences: Sequences, order: np.ndarray) -> Counts:
    """Return document-word pairs sorted by row and stick position; ``order`` (word,) are word ids in stick order."""
    rows, positions = sequences.rows[pairs.documents], np.argsort(order)[pairs.words]
    row_order = np.lexsort((positions, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(sequences.documents)))])
    return Counts(indptr, positions[row_order], pairs.counts[row_order].astype(np.int64), row_order)
