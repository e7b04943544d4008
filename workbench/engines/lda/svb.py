"""Standard variational Bayes for LDA in its collapsed view.

Welling, Teh & Kappen (2008), eq. 9-11. Jensen's inequality and the linearised convex log joint give the
update of the responsibilities, shared by all copies of a word in a document::

    gamma_dwk  ~  exp{ psi(beta + n_wk) - psi(W beta + n_k) + psi(alpha_k + n_dk) }

with expected counts n that include the pair itself. The bound F = L(n) - sum n_dw gamma log gamma
(spec A4) never falls, in either schedule: `parallel` updates every pair from the same counts and stores
no gamma, `sequential` moves the counts along after each pair. One parallel sweep is one outer
iteration of variational EM (`vb`) with one inner pass.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import VARIATIONAL, Engine, StepContext, WarmStart
from workbench.engines.in_parts import ADDED, InParts, Pass, in_each_step
from workbench.engines.lda.blocks import Blocks, block_bytes
from workbench.engines.lda.factored import (
    Entropy,
    weigh_topics,
    weighed_words,
    workspace_for,
    workspace_in_blocks,
)
from workbench.engines.lda.fold_in import by_variational_bayes
from workbench.engines.lda.hyperparameters import (
    Counts,
    SufficientStatistics,
    learn,
    learning,
    polya_of,
    watched,
)
from workbench.engines.lda.initial_responsibilities import init_option, initialise
from workbench.engines.lda.split import Split, none_sampled
from workbench.engines.memory import DOUBLE, Array, Memory, size, topic_counts, zeros
from workbench.errors import Named
from workbench.kernels.lda.log_joint import log_documents, log_joint_from, predictive
from workbench.kernels.lda.parallel_vb import add_words, count_by_logs, visit_runs
from workbench.kernels.lda.standard_vb import (
    NOTHING_SAMPLED,
    update_in_order,
    weigh_rows,
    weighted_entropy,
)
from workbench.kernels.simd.lanes import pad_topics, padded
from workbench.kernels.threads import each_slice, each_wave, slice_bounds
from workbench.models import LDA
from workbench.models.options import OptionError, option


class State(NamedTuple):
    mean_dk: np.ndarray  # (document, topic) float64, padded: expected counts
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray  # (topic,) float64, padded
    # (variational pair, topic) float64, padded; no rows in the parallel schedule
    gamma: np.ndarray
    entropy: float | Entropy  # of the responsibilities behind the expected counts, nats
    alpha: np.ndarray  # (topic,) float64: prior of each topic in a document, as learnt
    beta: float  # prior of each word in a topic, as learnt


@dataclass(frozen=True)
class OwnOptions:
    schedule: str = option(
        "parallel",
        "parallel = all pairs are updated from the same counts; sequential = counts change after each pair",
        choices=("parallel", "sequential"),
    )
    init: str = init_option()


@learning
class Options(OwnOptions):
    """Options of the engine, and of learning its priors."""


def init(
    corpus: Corpus,
    model: LDA,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Responsibilities of every pair, at random or from the counts of another run."""
    return initial_mean(corpus, model, options, none_sampled(corpus), context, warm_start)


def step(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Update the responsibilities of every pair once, then learn priors that are due."""
    state, info = update(corpus, options, none_sampled(corpus), state, NOTHING_SAMPLED, context)
    return learn(corpus, options, state, context, False, sufficient_statistics), info


def arrays(corpus: Corpus, model: LDA, options: Options, n_averaged: int) -> dict[str, Array]:
    """Shapes and types of the arrays of a state, priors excepted; responsibilities only in the sequential schedule."""
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
    """Expected counts of the first responsibilities of the averaged pairs."""
    made, entropy = (
        zeros(arrays(corpus, model, options, split.n_averaged)),
        np.nan if split.n_averaged else 0.0,
    )
    state = State(**made, entropy=entropy, alpha=model.alphas, beta=model.beta)
    initialise(corpus, model, options, split.sampled, context, warm_start, state.gamma, *state[:3])
    return state


def update(
    corpus: Corpus, options: Options, split, state: State, sampled, context: StepContext
) -> tuple[State, dict]:
    """One variational pass over the averaged pairs, given sampled counts (chain, row, topic), if any."""
    if split.n_averaged and options.schedule == "parallel":
        state = state._replace(entropy=update_in_parallel(corpus, split, state, sampled, context))
    elif split.n_averaged:
        update_sequentially(corpus, split, state, sampled, context)
    return state, {"updates": split.n_averaged}


BY_LOGS = 1000
"""Pairs that are counted by their logs between two calls of `interrupt`."""
IDLE = {
    "parallel": None,
    "sequential": "pairs are updated one after another; schedule=parallel is not so",
}
"""Why an update uses one thread alone, by schedule."""


def update_in_parallel(
    corpus: Corpus, split, state: State, sampled, context: StepContext, point=False
) -> Entropy:
    """Counts documents and topics anew from the same weights, in place; returns the entropy of the responsibilities.

    The same bits for any number of threads. With `point` the topics are their mode, see `vb`.
    """
    mean_dk, mean_wk, mean_k = mean = state[:3]
    lanes, alpha, n_topics = len(mean_k), pad_topics(state.alpha, 1.0), len(state.alpha)

    def make():
        return workspace_in_blocks(corpus, lanes, split.blocks(lanes, context.n_threads))

    workspace = workspace_for(state.entropy, Blocks, make)
    blocks, documents, topics = workspace.order, workspace.document_factors, workspace.word_factors

    def visit(block, step):
        first, last = blocks.ranges[block]
        if step == 0:
            weigh_rows(first, last, alpha, mean_dk, sampled[0], np.zeros(lanes), False, *documents)
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

    weigh_topics(corpus, state, sampled, point, workspace, context)
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
        some = (column[first : first + BY_LOGS] for column in pairs)
        count_by_logs(*some, *documents, *topics, n_topics, *mean)
    return Entropy(corpus, mean, workspace, n_topics)


def update_sequentially(corpus: Corpus, split, state: State, sampled, context: StepContext) -> None:
    """Update of pair after pair in canonical order; the expected counts follow each pair."""
    alpha = pad_topics(state.alpha, 1.0)

    def work(first: int, last: int):
        update_in_order(
            first,
            last,
            corpus.indptr,
            corpus.words,
            corpus.counts,
            split.sampled,
            split.rows,
            state.gamma,
            *state[:3],
            *sampled,
            alpha,
            state.beta,
            len(state.alpha),
        )

    each_slice(work, slice_bounds(corpus.indptr, len(state.mean_k)), 1, context.interrupt)


def entropy_of(split, state: State) -> float:
    """Entropy of the responsibilities, nats; NaN before the first parallel update."""
    if not len(state.gamma):
        return float(state.entropy)
    return weighted_entropy(split.averaged.counts, state.gamma)


def watch(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    state = state._replace(entropy=entropy_of(none_sampled(corpus), state))
    return watched_in_parts(model, options, state, of_part(corpus, model, options, state))


def of_part(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    """What is watched of documents alone: their part of the log joint."""
    return {"documents": log_documents(state.mean_dk, pad_topics(state.alpha), len(state.alpha))}


def watched_in_parts(model: LDA, options: Options, state: State, sums: dict) -> dict:
    """What is watched, given the sums of `of_part`."""
    n_topics = len(state.alpha)
    joint = log_joint_from(sums["documents"], state.mean_wk, state.mean_k, state.beta, n_topics)
    return {"bound": joint + state.entropy, "n_k": state.mean_k[:n_topics]} | watched(
        options, state
    )


def counts(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    """The expected counts."""
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
    """p(w|d) of each pair given the expected counts (spec B.2)."""
    return predictive(pairs, corpus.document_tokens, *state[:3], state.alpha, state.beta)


def sufficient_statistics(corpus: Corpus, state: State, of, split=None) -> SufficientStatistics:
    """Sufficient statistics of alpha or of beta: the expected counts."""
    return SufficientStatistics(
        Counts(state.mean_dk if of == "alpha" else state.mean_wk), Counts(state.mean_k[None])
    )


def samples(corpus: Corpus, options: Options) -> bool:
    return False


def memory(corpus: Corpus, model: LDA, options: Options, n_averaged: int | None = None) -> Memory:
    """Bytes of the state, and of the parallel schedule's workspace or the sequential one's indices of pairs."""
    n_averaged = corpus.n_pairs if n_averaged is None else n_averaged
    state = size(arrays(corpus, model, options, n_averaged))
    if not n_averaged:
        return Memory(state)
    if options.schedule == "parallel":
        return in_parallel(corpus, state, n_averaged)
    return Memory(state, step=2 * corpus.n_pairs * DOUBLE)


def in_parallel(corpus: Corpus, state: int, n_pairs: int) -> Memory:
    """Bytes of `update_in_parallel`: weights and logs as large as the state, and the pairs in blocks."""
    copied = n_pairs * (4 + 4 + 4) + (corpus.n_documents + 1) * 8 if n_pairs < corpus.n_pairs else 0
    return Memory(state, copied + block_bytes(n_pairs) + state + n_pairs * DOUBLE, step=state)


def prepare_parts(options: Options, state: State, context: StepContext) -> tuple:
    """The weights of words, the same for all parts."""
    return weighed_words(state, NOTHING_SAMPLED, False, context)


def work_of_part(
    corpus: Corpus, options: Options, state: State, context: StepContext, split, of_words
) -> tuple[State, dict]:
    """`update` of a part of a corpus, whose expected counts of words are those of the part alone; the entropy is a number."""
    return update_part(corpus, options, split, state, NOTHING_SAMPLED, context, of_words)


def update_part(
    corpus: Corpus, options: Options, split, state: State, sampled, context: StepContext, of_words
) -> tuple[State, dict]:
    """The same given sampled counts; of a part without averaged pairs nothing is counted."""
    if not split.n_averaged:
        state.mean_wk[:] = state.mean_k[:] = 0.0
        return state._replace(entropy=0.0), {"updates": 0}
    lanes = len(state.mean_k)
    workspace = workspace_in_blocks(corpus, lanes, split.blocks(lanes, context.n_threads), of_words)
    state = state._replace(entropy=Entropy(corpus, state[:3], workspace, len(state.alpha)))
    state, info = update(corpus, options, split, state, sampled, context)
    return state._replace(entropy=float(state.entropy)), info


def refuse_in_parts(options: Options) -> None:
    """Refuses the sequential schedule, in which each pair waits for the one before."""
    if options.schedule != "parallel":
        raise OptionError(
            Named("schedule", "sequential"),
            " goes pair by pair through the whole corpus, and this one is kept in parts; use ",
            Named("schedule", "parallel"),
        )


IN_PARTS = InParts(
    own=("mean_dk", "gamma"),
    split=lambda corpus, options: none_sampled(corpus),
    passes=in_each_step(Pass(ADDED, work_of_part, ("mean_wk",), ("mean_k",), prepare_parts)),
    of_part=of_part,
    watched=watched_in_parts,
    likelihood=polya_of(sufficient_statistics),
    told=lambda corpus, options, sums: sums,
    of_words=lambda state: state.mean_wk,
    samples=lambda options: False,
    numbers=("entropy",),
    refuse=refuse_in_parts,
)


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
        when="For a first look and as a baseline: its iterations are quick and its bound never falls, but cvb0, cgs and the "
        "hybrids predict held-out words better.",
        model=LDA,
        options=Options,
        state=State,
        samples=samples,
        watches=("bound",),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=by_variational_bayes,
        memory=memory,
        idle=lambda options: IDLE[options.schedule],
        in_parts=IN_PARTS,
    )
