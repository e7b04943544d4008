"""Responsibilities of variational engines: their initial values, and factorised ones, gamma_dwk = a_dk b_wk / Z_dw.

All responsibilities of an update of `svb`, `vb` or `network-vb` come from the same counts, so they are never stored. What
stands for them is kept from update to update, since new arrays cost more than many a small sweep, and gives their entropy
where it is asked for.

`initialise` makes the initial ones: random, or those behind the counts of another run (spec A.12). From random ones, with
small priors, the first sweeps empty topics in documents before there are topics: exp psi(x) is near x - 1/2 where x is large,
and near 0 where x is small. In a warm-up (`Start`) an engine takes x instead: the log of an expected count for the expectation
of its log. That has no such trap. The iterations of the warm-up are the run's own, in its curves and clocks; the bound is valid
in it, and sure to rise from its end on.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    SMOOTH,
    Options,
    State,
    StepContext,
    WarmStart,
    warm_up_of,
)
from workbench.engines.lda.split import Blocks, Split
from workbench.errors import Named
from workbench.kernels.lda.initial_topics import NOISE, TOGETHER, WAYS, start_responsibilities
from workbench.kernels.lda.standard_vb import (
    NOTHING_SAMPLED,
    log_normalisers,
    log_normalisers_by_logs,
    log_sizes,
    log_weights,
    weigh_rows,
)
from workbench.kernels.lda.word_prior import with_prior
from workbench.kernels.simd.vectors import aligned_empty
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import RESPONSIBILITIES
from workbench.models.lda import LDA
from workbench.models.options import OptionError, option


class Workspace(NamedTuple):
    """Scratch arrays of an update with factorised responsibilities, reused by the next update."""

    order: Blocks | tuple  # order of the visits: blocks, or slices of documents and of words
    # logs and weights, (document, topic) float64, padded; logs are stored only for tiny weights
    document_factors: tuple
    word_factors: tuple  # the same, (word, topic)
    ratios: np.ndarray  # (place,) float64: n_dw / Z_dw; 0 for pairs normalised in the log domain
    weighed: bool = False  # whether word weights are computed, once for all parts of a corpus

    def by_logs(self, corpus: Corpus) -> tuple:
        """Return documents, words and counts of the pairs whose responsibilities were computed in the log domain."""
        if isinstance(self.order, Blocks):
            return self.order.pairs_at(
                np.flatnonzero((self.ratios == 0.0) & (self.order.pair_counts > 0))
            )
        pairs = np.flatnonzero(self.ratios == 0.0)
        return corpus.documents[pairs], corpus.words[pairs], corpus.counts[pairs]


def new_workspace(
    corpus: Corpus, lanes: int, word_factors: tuple | None = None, blocks: Blocks | None = None
) -> Workspace:
    """Allocate a `Workspace` for updates over the given blocks, or, if None, over slices of documents and then of words.

    ``word_factors`` comes from `words_of_parts`.
    """
    order = blocks or tuple(
        slice_bounds(indptr, lanes) for indptr in (corpus.indptr, corpus.by_word.indptr)
    )
    ratios = np.zeros(len(blocks.pair_counts) if blocks else corpus.n_pairs)
    return Workspace(
        order, *new_factors(corpus, lanes, word_factors), ratios, word_factors is not None
    )


def new_factors(
    corpus: Corpus, lanes: int, word_factors: tuple | None = None
) -> tuple[tuple, tuple]:
    """Return new arrays (logs, weights) of documents, and those of words: ``word_factors`` if given, else new ones."""
    return _pair_of_rows(corpus.n_documents, lanes), word_factors or _pair_of_rows(
        corpus.n_words, lanes
    )


def _pair_of_rows(n_rows: int, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    return aligned_empty((n_rows, lanes), np.float64), aligned_empty((n_rows, lanes), np.float64)


class Entropy:
    """Entropy of the responsibilities, in nats, computed lazily by ``float()``.

    Only bounds need it. It is NaN after the next update, which changes the counts.
    """

    def __init__(self, corpus: Corpus, mean, workspace: Workspace, n_topics: int):
        self._corpus, self._mean, self._workspace, self._n_topics = (
            corpus,
            mean,
            workspace,
            n_topics,
        )

    def __float__(self) -> float:
        corpus, workspace = self._corpus, self._workspace
        if workspace is None:
            return math.nan
        documents, words = workspace.document_factors, workspace.word_factors
        counts = (
            workspace.order.pair_counts if isinstance(workspace.order, Blocks) else corpus.counts
        )
        pair_term, n_by_logs = log_normalisers(counts, workspace.ratios)
        if n_by_logs:
            pair_term += log_normalisers_by_logs(
                *workspace.by_logs(corpus), *documents, *words, self._n_topics
            )
        return (
            pair_term - log_weights(self._mean[0], *documents) - log_weights(self._mean[1], *words)
        )

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(float(self), dtype)

    def hand_over(self) -> Workspace | None:
        """Return the workspace for reuse by the next update; later calls return None, so that states share none."""
        workspace, self._workspace = self._workspace, None
        return workspace


def workspace_for(entropy: float | Entropy, order: type, make) -> Workspace:
    """Return the last update's workspace if its visiting order has this type, else a new one, made by ``make()``."""
    workspace = entropy.hand_over() if isinstance(entropy, Entropy) else None
    return workspace if workspace and type(workspace.order) is order else make()


def words_of_parts(state: State, sampled: tuple, point: bool, context: StepContext) -> tuple | None:
    """Return the word factors by `weigh_words`, computed once for all parts of a corpus; None if the corpus is in one part."""
    if not context.in_part:
        return None
    arguments = state.mean_wk, state.mean_k, state.beta, len(state.alpha), context, sampled, point
    return context.once("words", lambda: weigh_words(*arguments))


def weigh_topics(
    state: State,
    sampled: tuple,
    point: bool,
    workspace: Workspace,
    context: StepContext,
) -> None:
    """Compute the word factors of a workspace by `weigh_words`, unless `words_of_parts` has computed these factors."""
    if not workspace.weighed:
        weigh_words(
            state.mean_wk,
            state.mean_k,
            state.beta,
            len(state.alpha),
            context,
            sampled,
            point,
            workspace.word_factors,
        )


def weigh_words(
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
    beta: float | np.ndarray,
    n_topics: int,
    context: StepContext,
    sampled: tuple = NOTHING_SAMPLED,
    point: bool = False,
    factors: tuple | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (logs, weights) (word, topic): exp E[log phi] under Dirichlet(beta + counts), and its logs where weights are tiny.

    Counts are expected plus sampled ones; with `point` the weights are phi at its mode. ``factors`` are arrays to write to.
    """
    (_, sampled_wk, sampled_k), (n_words, lanes) = sampled, mean_wk.shape
    mean_wk, mean_k, beta = with_prior(beta, mean_wk, mean_k)
    factors = factors or _pair_of_rows(n_words, lanes)
    sizes = log_sizes(n_words * beta, mean_k, sampled_k, point, n_topics)
    betas, rows = np.full(lanes, beta), slice_bounds(np.zeros(n_words + 1, np.int64), lanes)

    each_slice(
        weigh_rows,
        rows,
        context.n_threads,
        context.interrupt,
        betas,
        mean_wk,
        sampled_wk,
        sizes,
        point,
        *factors,
    )
    return factors


WARM_UP = 50
"""Default number of iterations of a warm-up."""


def init_option(default: str = "dirichlet", before: str = "dirichlet", ways: tuple = WAYS):
    """Return the option `init` of the variational engines; a warm start overrides it."""
    smooth = ", or smooth (noise, then a warm-up with log E[n] for E[log n])" * (SMOOTH in ways)
    return option(
        default,
        "initial responsibilities: a flat Dirichlet draw, uniform with noise (1 + u), or hard (one topic)"
        + smooth,
        choices=ways,
        late=True,
        before=before,
        label="Initialisation",
    )


@dataclass(frozen=True, kw_only=True)
class Start:
    """Options for the start of an engine: how to initialise, and the number of warm-up iterations of init=smooth."""

    init: str = init_option(SMOOTH, ways=(*WAYS, SMOOTH))
    warm_up: int = option(
        WARM_UP, "iterations of the warm-up of init=smooth", low=1, whole=True, late=True
    )

    def __post_init__(self):
        getattr(super(), "__post_init__", lambda: None)()  # of other options that are mixed in
        if self.init != SMOOTH and self.warm_up != WARM_UP:
            raise OptionError(
                Named("warm_up"),
                " would be without effect: set ",
                Named("init", SMOOTH),
                ", or leave it out",
            )


def warms_up(options: Options, split: Split, context: StepContext) -> bool:
    """Return whether a step belongs to the warm-up; False if any token is sampled or the run had a warm start."""
    is_due = context.step <= warm_up_of(options) and not context.warm
    return is_due and not split.samples_any(context)


def initialise(
    corpus: Corpus,
    model: LDA,
    options: Options,
    sampled: np.ndarray,
    context: StepContext,
    warm_start: WarmStart | None,
    gamma: np.ndarray,
    mean_dk: np.ndarray,
    mean_wk: np.ndarray,
    mean_k: np.ndarray,
) -> None:
    """Write initial responsibilities of pairs not sampled to ``gamma``, unless empty, and expected counts to the others.

    ``model`` is an object with alphas, word_prior and n_topics: an LDA, or the `Priors` of another model.
    """
    prior = model.word_prior
    if warm_start is not None:
        n_dk, n_wk, n_k = warm_start.rows
        n_wk, n_k, beta = with_prior(prior, n_wk, n_k)
        start = n_dk, n_wk, n_k, warm_start.topics
    else:  # where the prior of a word differs from topic to topic, random ones are multiplied by it
        start, beta = (None, prior if np.ndim(prior) else None, None, None), 0.0
    start_responsibilities(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        sampled,
        NOISE if options.init == SMOOTH else WAYS.index(options.init),
        context.key(RESPONSIBILITIES),
        *start,
        model.alphas,
        beta,
        model.n_topics,
        gamma,
        mean_dk,
        mean_wk,
        mean_k,
        np.zeros(TOGETHER * len(mean_k)),
        np.zeros(TOGETHER, np.int64),
    )
