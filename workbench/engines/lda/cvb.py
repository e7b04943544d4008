"""Collapsed variational Bayes for LDA, with the second-order expansion.

Teh, Newman & Welling (2007); Welling, Teh & Kappen (2008), sec. 5.1. theta and phi are integrated out
and q(z) factorises over tokens; the expectation of log counts is expanded to second order around their
mean, with means E and variances V of the counts less one copy of the pair::

    gamma_dwk  ~  (alpha_k + E_dk) (beta + E_wk) / (W beta + E_k)
                  exp{ - V_dk / 2 (alpha_k + E_dk)^2 - V_wk / 2 (beta + E_wk)^2 + V_k / 2 (W beta + E_k)^2 }

Pairs are visited in canonical order and the counts follow each pair; with a `partition` above 1 blocks of pairs are
visited side by side, and E_k and V_k are a little late. No objective is known to rise;
`change`, the largest change of a responsibility, says when it has come to rest. `bound` is that of
`svb` (spec A4) at these responsibilities: valid, though not what the updates look for. `collapsed_bound` is that of
the collapsed model, its expectations over counts by improved second order (Teh, Kurihara & Welling, 2008): higher,
nearer to what the updates look for, and comparable with the bound of `cv-hdp`, but no guaranteed bound.
"""

from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import VARIATIONAL, Engine, StepContext, WarmStart
from workbench.engines.in_parts import IN_ORDER, ROUNDS, InParts, Pass
from workbench.engines.lda.fold_in import by_cvb0
from workbench.engines.lda.hyperparameters import (
    Counts,
    SufficientStatistics,
    learn,
    learning,
    learnt,
    polya_of,
    watched,
)
from workbench.engines.lda.initial_responsibilities import init_option, initialise
from workbench.engines.lda.partition import each_block, idle_alone, partition_option
from workbench.engines.lda.split import Split, none_sampled
from workbench.engines.lda.svb import counts, predict, samples
from workbench.engines.memory import (
    DOUBLE,
    Array,
    Memory,
    partition_bytes,
    size,
    topic_counts,
    word_major_bytes,
    zeros,
)
from workbench.errors import Named
from workbench.kernels.count_moments import (
    add_variances,
    expected_log_joint,
    expected_log_joint_of_counts,
    expected_log_joint_of_documents,
    multiply_zeros,
)
from workbench.kernels.lda.collapsed_vb import add_moments, make_workspace, update_in_order
from workbench.kernels.lda.log_joint import log_documents, log_joint_from
from workbench.kernels.lda.polya import add_occupied
from workbench.kernels.lda.standard_vb import NOTHING_SAMPLED, weighted_entropy
from workbench.kernels.simd.lanes import aligned_zeros, pad_topics, padded
from workbench.models import LDA
from workbench.models.options import OptionError, option

RECOUNT_EVERY = 50
"""Iterations after which means and variances are summed afresh, since updating them in place drifts."""
STORED = {"double": np.float64, "single": np.float32}
"""The type of a stored responsibility; everything is computed in double, from what is stored."""


def precision_option():
    return option(
        "double",
        "precision of the responsibilities, the largest array; single = half the memory, seven digits",
        choices=tuple(STORED),
        late=True,
    )


class State(NamedTuple):
    mean_dk: np.ndarray  # (document, topic) float64, padded: expected counts
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray  # (topic,) float64, padded
    # (document, topic) float64, padded: variances of the counts; in CVB0 all var_* are empty
    var_dk: np.ndarray
    var_wk: np.ndarray  # (word, topic) float64, padded
    var_k: np.ndarray  # (topic,) float64, padded
    gamma: np.ndarray  # (variational pair, topic) float64, or float32 in single precision, padded
    alpha: np.ndarray  # (topic,) float64: prior of each topic in a document, as learnt
    beta: float  # prior of each word in a topic, as learnt

    @property
    def moments(self) -> tuple:
        """Means and variances as the kernels take them: None for each variance that there is not."""
        return (*self[:3], *(self[3:6] if len(self.var_k) else (None, None, None)))


@learning
class Options:
    init: str = init_option()
    partition: int = partition_option()
    precision: str = precision_option()


def init(
    corpus: Corpus,
    model: LDA,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
    second_order=True,
) -> State:
    """Responsibilities of every pair, at random or from the counts of another run."""
    return initial_mean(
        corpus, model, options, none_sampled(corpus), context, warm_start, second_order
    )


def step(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Update the responsibilities of every pair once, in canonical order or block by block; then learn priors that are due."""
    state, info = update(corpus, options, none_sampled(corpus), state, NOTHING_SAMPLED, context)
    return learn(corpus, options, state, context, False, sufficient_statistics), info


def arrays(
    corpus: Corpus, model: LDA, options: Options, n_averaged: int, second_order=True
) -> dict[str, Array]:
    """Shapes and types of the arrays of a state, the priors excepted."""
    mean, variance = (topic_counts(name, corpus, model.n_topics) for name in ("mean", "var"))
    if not second_order:
        variance = {name: Array((0,) * len(array.shape)) for name, array in variance.items()}
    return (
        mean
        | variance
        | {"gamma": Array((n_averaged, padded(model.n_topics)), STORED[options.precision])}
    )


def initial_mean(
    corpus: Corpus,
    model: LDA,
    options: Options,
    split: Split,
    context: StepContext,
    warm_start: WarmStart | None = None,
    second_order=True,
) -> State:
    """Moments of the first responsibilities of the averaged pairs."""
    made = zeros(arrays(corpus, model, options, split.n_averaged, second_order))
    state = State(**made, alpha=model.alphas, beta=model.beta)
    initialise(corpus, model, options, split.sampled, context, warm_start, state.gamma, *state[:3])
    return recounted(corpus, split, state)


def recounted(corpus: Corpus, split, state: State) -> State:
    """The same responsibilities with means and variances summed from them."""
    for array in state[:6]:
        array[...] = 0.0
    return moments_added(corpus, split, state)


def moments_added(corpus: Corpus, split, state: State) -> State:
    """The state with the means and variances of its responsibilities added to those that are there, in place."""
    add_moments(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        split.sampled,
        state.gamma,
        *state.moments,
        len(state.alpha),
    )
    return state


def recount_in_time(corpus: Corpus, split, state: State, context: StepContext) -> None:
    """Sums means and variances afresh in every fiftieth iteration, see `recounted`."""
    if context.step % RECOUNT_EVERY == 0:
        recounted(corpus, split, state)


def update(
    corpus: Corpus, options: Options, split, state: State, sampled, context: StepContext
) -> tuple[State, dict]:
    """One pass over the averaged pairs, given sampled counts (chain, row, topic), if any."""
    if not len(state.gamma):
        return state, {"updates": 0, "change": 0.0}
    recount_in_time(corpus, split, state, context)
    return visit(corpus, options, split, state, sampled, context)


def visit(
    corpus: Corpus, options: Options, split, state: State, sampled, context: StepContext
) -> tuple[State, dict]:
    """`update` without a recount."""
    partition = split.partition(options.partition, sampled=False)
    rows = [np.arange(len(state.gamma))[each.pairs] for each in partition.columns]
    betas = np.full(corpus.n_words, state.beta)
    mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k = state.moments

    def work(first: int, last: int, part, sizes):
        mean_k, var_k = (*sizes, None)[:2]
        return update_in_order(
            first,
            last,
            *partition.columns[part][:3],
            rows[part],
            state.gamma,
            mean_dk,
            mean_wk,
            mean_k,
            var_dk,
            var_wk,
            var_k,
            *sampled,
            state.alpha,
            betas,
            corpus.n_words * state.beta,
            len(state.alpha),
            make_workspace(state.alpha, len(state.alpha), len(mean_k)),
        )

    sizes = (mean_k,) if var_k is None else (mean_k, var_k)
    changes = each_block(partition, sizes, work, context)
    return state, {"updates": len(state.gamma), "change": max(changes)}


def entropy_of(split, state: State) -> float:
    """Entropy of the responsibilities, nats."""
    return weighted_entropy(split.averaged.counts, state.gamma)


def watch(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    alpha, beta, sums = state.alpha, state.beta, of_part(corpus, model, options, state)
    betas = np.full(corpus.n_words, beta)
    expected = expected_log_joint(
        corpus, state.gamma, alpha, alpha.sum(), betas, corpus.n_words * beta
    )
    return watched_numbers(options, state, sums, expected)


def of_part(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    """What is watched of documents alone: their part of the log joint, and the entropy of their responsibilities."""
    documents = log_documents(state.mean_dk, pad_topics(state.alpha), len(state.alpha))
    return {"documents": documents, "entropy": entropy_of(none_sampled(corpus), state)}


def watched_numbers(options: Options, state: State, sums: dict, expected: float) -> dict:
    """What is watched, given the sums of `of_part` and the expected log joint."""
    n_topics = len(state.alpha)
    joint = log_joint_from(sums["documents"], state.mean_wk, state.mean_k, state.beta, n_topics)
    bounds = {"bound": joint + sums["entropy"], "collapsed_bound": expected + sums["entropy"]}
    return bounds | {"n_k": state.mean_k[:n_topics]} | watched(options, state)


def of_part_collapsed(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    """`of_part`, with the part of the documents in the expected log joint."""
    expected, _ = expected_log_joint_of_documents(
        corpus, state.gamma, state.alpha, state.alpha.sum()
    )
    return of_part(corpus, model, options, state) | {"expected": expected}


def by_word(corpus: Corpus, model: LDA, options: Options, state: State) -> np.ndarray:
    """(1, word, topic padded) the probability that a word has no token of a topic in these documents; its variances behind.

    These are computed in CVB0 alone: the state has them else. Both multiply, or add up, over documents.
    """
    found = aligned_zeros((1 if len(state.var_k) else 2, *state.mean_wk.shape), np.float64)
    found[0], given = 1.0, (corpus.words, corpus.counts, state.gamma, len(state.alpha))
    multiply_zeros(*given, found[0])
    if len(found) > 1:
        add_variances(*given, found[1])
    return found


def joined(total: np.ndarray, other: np.ndarray) -> np.ndarray:
    """`by_word` of two parts together, in place of the first."""
    total[0] *= other[0]
    total[1:] += other[1:]
    return total


def watched_in_parts(model: LDA, options: Options, state: State, sums: dict) -> dict:
    """What is watched, given the sums of `of_part_collapsed` and what `by_word` comes to."""
    zero, variance = sums["by_word"][0], state.var_wk if len(state.var_k) else sums["by_word"][1]
    expected = expected_log_joint_of_counts(
        state.mean_wk, variance, zero, state.beta, len(state.alpha)
    )
    return watched_numbers(options, state, sums, sums["expected"] + expected)


def sufficient_statistics(corpus: Corpus, state: State, of, split=None) -> SufficientStatistics:
    """Sufficient statistics of alpha or beta: expected counts, with variances and P(n > 0) in the second order."""
    mean, variance = (
        (state.mean_dk, state.var_dk) if of == "alpha" else (state.mean_wk, state.var_wk)
    )
    if not len(state.var_k):
        return SufficientStatistics(Counts(mean), Counts(state.mean_k[None]))
    occupied = np.zeros_like(mean)
    rows = corpus.documents if of == "alpha" else corpus.words
    add_occupied(
        rows,
        corpus.counts,
        (split or none_sampled(corpus)).sampled,
        state.gamma,
        len(state.alpha),
        occupied,
    )
    with np.errstate(divide="ignore"):  # log 0 where a topic is certain to have a token
        occupied_k = -np.expm1(np.log1p(-np.minimum(occupied, 1.0)).sum(axis=0))
    return SufficientStatistics(
        Counts(mean, variance, occupied),
        Counts(state.mean_k[None], state.var_k[None], occupied_k[None]),
    )


def memory(
    corpus: Corpus, model: LDA, options: Options, n_averaged: int | None = None, second_order=True
) -> Memory:
    """Bytes of the responsibilities, means and variances; of occupancies while priors are learnt."""
    declared = arrays(
        corpus, model, options, corpus.n_pairs if n_averaged is None else n_averaged, second_order
    )
    learning = (
        3 * size(topic_counts("mean", corpus, model.n_topics))
        if second_order and learnt(options)
        else 0
    )
    indices = word_major_bytes(corpus) + partition_bytes(
        corpus, options.partition, declared["gamma"].shape[0]
    )
    return Memory(size(declared), indices, step=max(3 * corpus.n_pairs * DOUBLE, learning))


def work_of_part(
    corpus: Corpus, options: Options, state: State, context: StepContext, split
) -> tuple[State, dict]:
    """Updates the pairs of one block of a part."""
    state, info = visit(corpus, options, split, state, NOTHING_SAMPLED, context)
    return state, {"change": info["change"]}


def recount_part(
    corpus: Corpus, options: Options, state: State, context: StepContext, split
) -> tuple[State, dict]:
    """Sums the moments of a part afresh: those of its documents from 0, those of words after the parts before."""
    state.mean_dk[...] = state.var_dk[...] = 0.0
    return moments_added(corpus, split, state), {}


def passes_in_parts(options: Options, step: int) -> tuple[Pass, ...]:
    """A recount after the start and in every fiftieth step, and then the blocks."""
    return RECOUNT * (step % RECOUNT_EVERY == 0) + UPDATE * (step > 0)


def refuse_in_parts(options: Options) -> None:
    """Refuses to learn beta."""
    if options.learn_beta != "fixed":
        asked, fixed = Named("learn_beta", options.learn_beta), Named("learn_beta", "fixed")
        why = " needs all pairs of a word at once, and this corpus is kept in parts; use "
        raise OptionError(asked, why, fixed, ", or cgs or svb")


COUNTS = ("mean_wk", "var_wk"), ("mean_k", "var_k")
RECOUNT, UPDATE = (Pass(IN_ORDER, recount_part, *COUNTS),), (Pass(ROUNDS, work_of_part, *COUNTS),)
IN_PARTS = InParts(
    own=("mean_dk", "var_dk", "gamma"),
    split=lambda corpus, options: none_sampled(corpus),
    passes=passes_in_parts,
    of_part=of_part_collapsed,
    watched=watched_in_parts,
    by_word=by_word,
    joined=joined,
    likelihood=polya_of(sufficient_statistics),
    told=lambda corpus, options, sums: {"updates": corpus.n_pairs, "change": sums["change"]},
    of_words=lambda state: state.mean_wk,
    samples=lambda options: False,
    refuse=refuse_in_parts,
)


def engine(name: str = "cvb") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#0a72e4",
        line="--",
        marker="s",
        order=3,
        title="Collapsed variational Bayes, second order",
        source="Teh, Newman & Welling (2007); Welling, Teh & Kappen (2008), sec. 5.1",
        when="For comparisons with the papers: it predicts better than svb without random draws, but cvb0 is faster and "
        "predicts better on our corpora.",
        model=LDA,
        options=Options,
        state=State,
        samples=samples,
        watches=("bound", "collapsed_bound", "change"),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=by_cvb0,
        memory=memory,
        idle=lambda options: idle_alone("pairs are updated") if options.partition == 1 else None,
        in_parts=IN_PARTS,
    )
