"""Standard variational Bayes for LDA in its collapsed view.

Welling, Teh & Kappen (2008), eq. 9-11. Jensen's inequality and the linearised convex log joint give the
update of the responsibilities, shared by all copies of a word in a document::

    gamma_dwk  ~  exp{ psi(beta + n_wk) - psi(W beta + n_k) + psi(alpha_k + n_dk) }

with expected counts n that include the pair itself. The bound F = L(n) - sum n_dw gamma log gamma
(spec A4) never falls, in either schedule: `parallel` updates every pair from the same counts and stores
no gamma, `sequential` moves the counts along after each pair. One parallel sweep is one outer
iteration of variational EM (`vb`) with one inner pass.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    VARIATIONAL,
    Array,
    Engine,
    Meeting,
    Memory,
    Rows,
    StepContext,
    WarmStart,
    arrays_of,
    over_parts,
    size,
    topic_counts,
    zeros,
)
from workbench.engines.lda.fold_in import by_variational_bayes
from workbench.engines.lda.hyperparameters import (
    Counts,
    SufficientStatistics,
    learn,
    learning,
    retune,
    watched,
)
from workbench.engines.lda.responsibilities import (
    Entropy,
    Start,
    initialise,
    new_workspace,
    warms_up,
    weigh_topics,
    words_of_parts,
    workspace_for,
)
from workbench.engines.lda.split import Blocks, Split, none_sampled
from workbench.kernels.lda.log_joint import log_documents, log_joint_from, predictive
from workbench.kernels.lda.parallel_vb import add_words, count_by_logs, visit_runs
from workbench.kernels.lda.standard_vb import (
    NOTHING_SAMPLED,
    update_in_order,
    weigh_rows,
    weighted_entropy,
)
from workbench.kernels.lda.word_prior import take_prior_out, with_prior
from workbench.kernels.simd.vectors import pad_topics, padded
from workbench.kernels.threads import each_slice, each_wave, slice_bounds
from workbench.models import LDA
from workbench.models.options import option


class State(NamedTuple):
    mean_dk: Rows  # (document, topic) float64, padded: expected counts
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray  # (topic,) float64, padded
    # (variational pair, topic) float64, padded; no rows in the parallel schedule
    gamma: Rows
    entropy: float | Entropy  # of the responsibilities behind the expected counts, nats
    alpha: np.ndarray  # (topic,) float64: prior of each topic in a document, as learnt
    # prior of each word in a topic, as learnt; (word, topic), padded, where it differs from cell to cell
    beta: float | np.ndarray


@dataclass(frozen=True)
class OwnOptions(Start):
    schedule: str = option(
        "parallel",
        "parallel = all pairs are updated from the same counts; sequential = counts change after each pair",
        choices=("parallel", "sequential"),
    )


@learning
class Options(OwnOptions):
    """Options of the engine, and of learning its priors."""


COUNTS = ("mean_wk", "mean_k")
"""Fields of a state that hold sums over documents."""


@over_parts
def init(
    corpus: Corpus,
    model: LDA,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> Generator:
    """Return the initial state: responsibilities of every pair, random or from the counts of another run."""
    state = initial_mean(corpus, model, options, none_sampled(corpus), context, warm_start)
    return (yield Meeting(state, arrays_of(state, *COUNTS)))[0]


@over_parts
def step(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> Generator:
    """Update the responsibilities of every (document, word) pair once, then update the priors if due."""
    split = none_sampled(corpus)
    state, sums = update(corpus, options, split, state, NOTHING_SAMPLED, context)
    state, diagnostics = yield from learn(
        corpus, options, state, context, False, sufficient_statistics, sums
    )
    return state, {"updates": diagnostics["updates"]}


def arrays(corpus: Corpus, model: LDA, options: Options, n_averaged: int) -> dict[str, Array]:
    """Return the shapes and types of a state's arrays without the priors; only the sequential schedule stores gamma."""
    n_kept = n_averaged if options.schedule == "sequential" else 0
    return topic_counts("mean", corpus, model.n_topics) | {
        "gamma": Array((n_kept, padded(model.n_topics)))
    }


def initial_mean(
    corpus: Corpus,
    model: LDA,
    options: Options,
    split: Split,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: responsibilities of the pairs that are not sampled, and the expected counts given them."""
    state_arrays, entropy = (
        zeros(arrays(corpus, model, options, split.n_averaged)),
        np.nan if split.n_averaged else 0.0,
    )
    state = State(**state_arrays, entropy=entropy, alpha=model.alphas, beta=model.word_prior)
    initialise(corpus, model, options, split.sampled, context, warm_start, state.gamma, *state[:3])
    return state


def update(
    corpus: Corpus,
    options: Options,
    split: Split,
    state: State,
    sampled: tuple,
    context: StepContext,
) -> tuple[State, dict]:
    """Make a variational pass over the pairs that are not sampled, given any sampled counts (chain, row, topic).

    Returns the state and the sums to combine over parts: number of updates and, in the parallel schedule, new counts.
    """
    sums, smooth = {"updates": split.n_averaged}, warms_up(options, split, context)
    if options.schedule == "sequential":
        if split.n_averaged:
            update_sequentially(corpus, split, state, sampled, context, smooth)
        return state, sums
    if split.n_averaged:
        entropy = update_in_parallel(corpus, split, state, sampled, context, smooth, smooth)
        # what it is computed from does not outlast the work on a part
        state = state._replace(entropy=float(entropy) if context.in_part else entropy)
    elif context.in_part:
        state.mean_wk[:] = state.mean_k[:] = 0.0
        state = state._replace(entropy=0.0)
    return state, sums | arrays_of(state, *COUNTS, "entropy")


BY_LOGS = 1000
"""Pairs counted in the log domain between two calls of `interrupt`."""
IDLE = {
    "parallel": None,
    "sequential": "pairs are updated one after another; schedule=parallel is not so",
}
"""Schedule → why an update uses one thread alone."""


def update_in_parallel(
    corpus: Corpus,
    split: Split,
    state: State,
    sampled: tuple,
    context: StepContext,
    point: bool = False,
    smooth: bool = False,
) -> Entropy:
    """Update all responsibilities from the same counts, and recompute the counts in place; return the entropy.

    The result does not depend on the number of threads. With ``point`` log replaces psi in the weights of words (phi is then
    at its mode, see `vb`), with ``smooth`` in those of documents.
    """
    mean_dk, mean_wk, mean_k = mean = state[:3]
    lanes, alpha, n_topics = len(mean_k), pad_topics(state.alpha, 1.0), len(state.alpha)

    def make():
        make_blocks = partial(split.blocks, lanes, context.n_threads)
        word_factors = words_of_parts(state, sampled, point, context)
        return new_workspace(corpus, lanes, word_factors, context.derived("blocks", make_blocks))

    workspace = workspace_for(state.entropy, Blocks, make)
    blocks, documents, topics = workspace.order, workspace.document_factors, workspace.word_factors

    def visit(block: int, step: int):
        first, last = blocks.ranges[block]
        if step == 0:
            weigh_rows(first, last, alpha, mean_dk, sampled[0], np.zeros(lanes), smooth, *documents)
            mean_dk[first:last] = 0.0
        return visit_runs(
            *blocks.cuts[block, step : step + 2],
            *blocks.visited,
            documents[1],
            topics[1],
            mean_dk,
            mean_wk,
            workspace.ratios,
        )

    weigh_topics(state, sampled, point, workspace, context)
    mean_wk[:] = 0.0
    n_tiny = sum(
        map(
            sum,
            each_wave(
                visit, len(blocks.ranges), blocks.n_steps, context.n_threads, context.interrupt
            ),
        )
    )
    add_words(mean_wk, mean_k)
    pairs = workspace.by_logs(corpus) if n_tiny else ()
    for first in range(0, n_tiny, BY_LOGS):
        context.interrupt()
        chunks = (column[first : first + BY_LOGS] for column in pairs)
        count_by_logs(*chunks, *documents, *topics, n_topics, *mean)
    return Entropy(corpus, mean, workspace, n_topics)


def update_sequentially(
    corpus: Corpus,
    split: Split,
    state: State,
    sampled: tuple,
    context: StepContext,
    smooth: bool,
) -> None:
    """Update the pairs that are not sampled one by one, in canonical order; the expected counts change after each pair."""
    alpha = pad_topics(state.alpha, 1.0)
    mean_wk, mean_k, beta = with_prior(state.beta, state.mean_wk, state.mean_k)

    each_slice(
        update_in_order,
        slice_bounds(corpus.indptr, len(state.mean_k)),
        1,
        context.interrupt,
        corpus.indptr,
        corpus.words,
        corpus.counts,
        split.sampled,
        split.rows,
        state.gamma,
        state.mean_dk,
        mean_wk,
        mean_k,
        *sampled,
        alpha,
        beta,
        len(state.alpha),
        smooth,
    )
    take_prior_out(state.beta, mean_wk, mean_k, state.mean_wk, state.mean_k)


def entropy_of(split: Split, state: State) -> float:
    """Return the entropy of the responsibilities, nats; NaN before the first parallel update."""
    if not len(state.gamma):
        return float(state.entropy)
    return weighted_entropy(split.averaged.counts, state.gamma)


@over_parts
def watch(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext | None = None
) -> Generator:
    n_topics = len(state.alpha)
    documents = log_documents(state.mean_dk, pad_topics(state.alpha), n_topics)
    pair_entropy = stored_entropy(options, none_sampled(corpus), state)
    state, sums = yield Meeting(state, {"documents": documents, "entropy of pairs": pair_entropy})
    joint = log_joint_from(sums["documents"], state.mean_wk, state.mean_k, state.beta, n_topics)
    entropy = total_entropy(options, state, sums["entropy of pairs"])
    return {"bound": joint + entropy, "n_k": state.mean_k[:n_topics]} | watched(options, state)


def stored_entropy(options: Options, split: Split, state: State) -> float:
    """Return the entropy of the stored responsibilities, nats; 0 if none are stored (parallel schedule)."""
    return entropy_of(split, state) if options.schedule == "sequential" else 0.0


def total_entropy(options: Options, state: State, pair_entropy: float) -> float:
    """Return the entropy of all responsibilities, nats, given the sum of `stored_entropy` over parts of the corpus."""
    return pair_entropy if options.schedule == "sequential" else float(state.entropy)


def counts(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    """Return the expected counts."""
    return {
        "n_kw": state.mean_wk[:, : model.n_topics].T,
        "n_dk": state.mean_dk[:, : model.n_topics],
    }


def predict(
    corpus: Corpus,
    model: LDA,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of each held-out document-word pair given the expected counts (spec B.2)."""
    return predictive(pairs, corpus.document_tokens, *state[:3], state.alpha, state.beta)


def sufficient_statistics(
    corpus: Corpus, state: State, of, split: Split | None = None, zeroth: bool = False
) -> SufficientStatistics:
    """Return the sufficient statistics of alpha or beta: the expected counts."""
    return SufficientStatistics(
        Counts(state.mean_dk if of == "alpha" else state.mean_wk), Counts(state.mean_k[None])
    )


def memory(corpus: Corpus, model: LDA, options: Options, n_averaged: int | None = None) -> Memory:
    """Forecast the memory of a run in bytes: the state, and the workspace (parallel) or the indices of pairs (sequential)."""
    n_averaged = corpus.n_pairs if n_averaged is None else n_averaged
    state = size(arrays(corpus, model, options, n_averaged))
    if not n_averaged:
        return Memory(state)
    if options.schedule == "parallel":
        return in_parallel(corpus, state, n_averaged)
    return Memory(state, step=2 * corpus.n_pairs * DOUBLE)


def in_parallel(corpus: Corpus, state: int, n_pairs: int) -> Memory:
    """Forecast the memory of `update_in_parallel` in bytes: weights, logs, and document-word pairs in blocks."""
    copy_bytes = (
        n_pairs * (4 + 4 + 4) + (corpus.n_documents + 1) * 8 if n_pairs < corpus.n_pairs else 0
    )
    blocks = n_pairs * (4 + 4 + 4 + 8)  # at most: no two pairs of a block share a word
    return Memory(state, copy_bytes + blocks + state + n_pairs * DOUBLE, step=state)


def engine(name: str = "svb") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#cc4422",
        line="--",
        marker="o",
        order=1,
        title="Standard variational Bayes, collapsed view",
        source="Welling, Teh & Kappen (2008), eq. 9-11",
        when="For a first look and as a baseline: its iterations are quick and after the warm-up its bound never falls, but "
        "cvb0, cgs and the hybrids predict held-out words better.",
        model=LDA,
        options=Options,
        state=State,
        samples=lambda corpus, options: False,
        watches=("bound",),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_variational_bayes,
        memory=memory,
        idle=lambda options: IDLE[options.schedule],
    )
