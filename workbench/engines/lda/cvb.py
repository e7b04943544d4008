"""Collapsed variational Bayes for LDA, with the second-order expansion.

Teh, Newman & Welling (2007); Welling, Teh & Kappen (2008), sec. 5.1. theta and phi are integrated out
and q(z) factorises over tokens; the expectation of log counts is expanded to second order around their
mean, with means E and variances V of the counts less one copy of the pair::

    gamma_dwk  ~  (alpha_k + E_dk) (beta + E_wk) / (W beta + E_k)
                  exp{ - V_dk / 2 (alpha_k + E_dk)^2 - V_wk / 2 (beta + E_wk)^2 + V_k / 2 (W beta + E_k)^2 }

Pairs are visited in canonical order and the counts follow each pair; with a `partition` above 1 blocks of pairs are
visited side by side, and E_k and V_k are a little late. The warm-up is without V, as `cvb0`. No objective is known to rise;
`change`, the largest change of a responsibility, shows when it has converged. `bound` is that of
`svb` (spec A4) at these responsibilities: valid, though not what the updates look for. `collapsed_bound` is that of
the collapsed model, its expectations over counts by improved second order (Teh, Kurihara & Welling, 2008): higher,
nearer to what the updates look for, and comparable with the bound of `cv-hdp`, but no guaranteed bound.
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
    Data,
    Engine,
    Largest,
    Meeting,
    Memory,
    Phase,
    Rows,
    StepContext,
    WarmStart,
    arrays_of,
    over_parts,
    partition_bytes,
    size,
    step_of,
    topic_counts,
    warm_up_of,
    word_major_bytes,
    zeros,
)
from workbench.engines.lda.fold_in import by_cvb0
from workbench.engines.lda.hyperparameters import (
    Counts,
    SufficientStatistics,
    learn,
    learning,
    learnt,
    retune,
    watched,
)
from workbench.engines.lda.partition import each_block, idle_alone, partition_option
from workbench.engines.lda.responsibilities import Start, initialise, warms_up
from workbench.engines.lda.split import Split, none_sampled
from workbench.engines.lda.svb import counts, predict
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
from workbench.kernels.lda.word_prior import take_prior_out, with_prior
from workbench.kernels.simd.vectors import pad_topics, padded
from workbench.models import LDA
from workbench.models.options import OptionError, option

RECOUNT_EVERY = 50
"""Iterations between recomputations of means and variances, whose updates in place accumulate rounding errors."""
STORED = {"double": np.float64, "single": np.float32}
"""Precision → type of stored responsibilities; computations are in double."""


def precision_option():
    return option(
        "double",
        "precision of the responsibilities, the largest array; single = half the memory, seven digits",
        choices=tuple(STORED),
        late=True,
    )


class Product(NamedTuple):
    """An array whose values in the parts of a corpus are combined by the product instead of the sum."""

    array: np.ndarray  # (word, topic) the probability that a word has no token of a topic

    def __add__(self, other: "Product") -> "Product":
        self.array[...] *= other.array
        return self


class State(NamedTuple):
    mean_dk: Rows  # (document, topic) float64, padded: expected counts
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray  # (topic,) float64, padded
    # (document, topic) float64, padded: variances of the counts; in CVB0 all var_* are empty
    var_dk: Rows
    var_wk: np.ndarray  # (word, topic) float64, padded
    var_k: np.ndarray  # (topic,) float64, padded
    gamma: Rows  # (variational pair, topic) float64, or float32 in single precision, padded
    alpha: np.ndarray  # (topic,) float64: prior of each topic in a document, as learnt
    # prior of each word in a topic, as learnt; (word, topic), padded, where it differs from cell to cell
    beta: float | np.ndarray

    @property
    def moments(self) -> tuple:
        """Means and variances of n_dk, n_wk and n_k as arguments of the kernels; in CVB0 the variances are None."""
        return (*self[:3], *(self[3:6] if len(self.var_k) else (None, None, None)))


@dataclass(frozen=True)
class OwnOptions:
    partition: int = partition_option()
    precision: str = precision_option()


@learning
class Options(OwnOptions, Start):
    """Options of the engine, and of learning its priors."""


COUNTS = ("mean_wk", "mean_k", "var_wk", "var_k")
"""Fields of a state that hold sums over documents."""


def first_state(
    corpus: Corpus,
    model: LDA,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
    second_order: bool = True,
) -> Generator:
    """Return the initial state: responsibilities of every pair, random or from the counts of another run."""
    state = initial_mean(
        corpus, model, options, none_sampled(corpus), context, warm_start, second_order
    )
    return (yield Meeting(state, arrays_of(state, *COUNTS)))[0]


init = over_parts(first_state)


def recount(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> Generator:
    """Recompute means and variances of all counts from the responsibilities, if `recounts` says so for this iteration."""
    if not recounts(options, context):
        return state, {}
    state = recount_state(corpus, none_sampled(corpus), state)
    return (yield Meeting(state, arrays_of(state, *COUNTS)))[0], {}


def recounts(options: Options, context: StepContext) -> bool:
    """Return whether a step first recomputes the counts: every fiftieth step, and the first step after the warm-up."""
    return context.step % RECOUNT_EVERY == 0 or context.step == warm_up_of(options) + 1


def visit(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> Generator:
    """Update the responsibilities of every pair once, in canonical order or block by block; then update the priors if due."""
    split = none_sampled(corpus)
    state, sums = update(corpus, options, split, state, NOTHING_SAMPLED, context)
    zeroth = warms_up(options, split, context)
    return (
        yield from learn(
            corpus,
            options,
            state,
            context,
            False,
            partial(sufficient_statistics, zeroth=zeroth),
            sums,
        )
    )


step = step_of(Phase(recount), Phase(visit))


def arrays(
    corpus: Corpus, model: LDA, options: Options, n_averaged: int, second_order: bool = True
) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state, apart from the priors."""
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
    second_order: bool = True,
) -> State:
    """Return the initial state of the pairs that are not sampled: responsibilities, means and variances of counts."""
    state_arrays = zeros(arrays(corpus, model, options, split.n_averaged, second_order))
    state = State(**state_arrays, alpha=model.alphas, beta=model.word_prior)
    initialise(corpus, model, options, split.sampled, context, warm_start, state.gamma, *state[:3])
    return recount_state(corpus, split, state)


def recount_state(corpus: Corpus, split: Split, state: State) -> State:
    """Recompute means and variances of the counts from the responsibilities; return the state."""
    for array in state[:6]:
        array[...] = 0.0
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


def update(
    corpus: Corpus,
    options: Options,
    split: Split,
    state: State,
    sampled: tuple,
    context: StepContext,
) -> tuple[State, dict]:
    """Update once the document-word pairs that are not sampled, given any sampled counts (chain, row, topic) of the others.

    Returns the state and the sums that are combined over the parts of the corpus.
    """
    if not len(state.gamma):
        return state, {"updates": 0, "change": Largest(0.0)}
    partition = split.partition(options.partition, sampled=False)
    rows = [np.arange(len(state.gamma))[columns.pairs] for columns in partition.columns]
    mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k = state.moments
    if warms_up(options, split, context):
        var_dk = var_wk = var_k = None
    mean_wk, mean_k, beta = with_prior(state.beta, mean_wk, mean_k)
    betas = np.full(corpus.n_words, beta)

    def work(first: int, last: int, part: int, sizes: tuple):
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
            corpus.n_words * beta,
            len(state.alpha),
            make_workspace(state.alpha, len(state.alpha), len(mean_k)),
        )

    sizes = (mean_k,) if var_k is None else (mean_k, var_k)
    changes = each_block(partition, sizes, work, context)
    take_prior_out(state.beta, mean_wk, mean_k, state.mean_wk, state.mean_k)
    return state, {"updates": len(state.gamma), "change": Largest(max(changes))}


def stored_entropy(options: Options, split: Split, state: State) -> float:
    """Return the entropy, nats, of the stored responsibilities, which in this engine are all responsibilities."""
    return entropy_of(split, state)


def total_entropy(options: Options, state: State, pair_entropy: float) -> float:
    """Return the entropy, nats, of all responsibilities, given the sum of `stored_entropy` over parts of the corpus."""
    return pair_entropy


def entropy_of(split: Split, state: State) -> float:
    """Return the entropy, nats, of the responsibilities of all tokens that are not sampled."""
    return weighted_entropy(split.averaged.counts, state.gamma)


@over_parts
def watch(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext | None = None
) -> Generator:
    """Return the bound, the collapsed bound, topic sizes and learnt priors."""
    n_topics, alpha, beta = len(state.alpha), state.alpha, state.beta
    documents = log_documents(state.mean_dk, pad_topics(alpha), n_topics)
    sums = {"documents": documents, "entropy": entropy_of(none_sampled(corpus), state)}
    if context is None and np.ndim(beta) == 0:
        betas, total = np.full(corpus.n_words, beta), corpus.n_words * beta
        expected = expected_log_joint(corpus, state.gamma, alpha, alpha.sum(), betas, total)
        state, sums = yield Meeting(state, sums)
    else:
        document_terms, _ = expected_log_joint_of_documents(corpus, state.gamma, alpha, alpha.sum())
        arguments = corpus.words, corpus.counts, state.gamma, n_topics
        zero = np.ones_like(state.mean_wk)
        multiply_zeros(*arguments, zero)
        variance = np.zeros_like(state.mean_wk)  # which a state has not in CVB0, nor in a warm-up
        add_variances(*arguments, variance)
        zero_counts = {"zero": Product(zero), "expected": document_terms, "variance": variance}
        state, sums = yield Meeting(state, sums | zero_counts)
        expected = sums["expected"] + expected_log_joint_of_counts(
            state.mean_wk, sums["variance"], sums["zero"].array, beta, n_topics
        )
    joint = log_joint_from(sums["documents"], state.mean_wk, state.mean_k, state.beta, n_topics)
    bounds = {"bound": joint + sums["entropy"], "collapsed_bound": expected + sums["entropy"]}
    return bounds | {"n_k": state.mean_k[:n_topics]} | watched(options, state)


def sufficient_statistics(
    corpus: Corpus, state: State, of, split: Split | None = None, zeroth: bool = False
) -> SufficientStatistics:
    """Return the sufficient statistics of alpha or beta: expected counts; in second order also variances and P(n > 0)."""
    mean, variance = (
        (state.mean_dk, state.var_dk) if of == "alpha" else (state.mean_wk, state.var_wk)
    )
    if zeroth or not len(state.var_k):
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
    corpus: Corpus,
    model: LDA,
    options: Options,
    n_averaged: int | None = None,
    second_order: bool = True,
) -> Memory:
    """Forecast the memory of a run in bytes: responsibilities, means and variances; P(n > 0) if priors are learnt."""
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


def check_options(options: Options, data: Data) -> None:
    """Raise OptionError if beta is to be learnt from a corpus in several parts."""
    if data.n_parts > 1 and options.learn_beta != "fixed":
        way, fixed = Named("learn_beta", options.learn_beta), Named("learn_beta", "fixed")
        reason = " needs all pairs of a word at once, and this corpus is kept in parts; use "
        raise OptionError(way, reason, fixed, ", or cgs or svb")


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
        samples=lambda corpus, options: False,
        watches=("bound", "collapsed_bound", "change"),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_cvb0,
        memory=memory,
        idle=lambda options: idle_alone("pairs are updated") if options.partition == 1 else None,
        check_options=check_options,
    )
