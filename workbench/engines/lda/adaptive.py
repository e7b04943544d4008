"""Hybrid of variational Bayes and Gibbs sampling that regularly chooses anew which pairs to sample, by averaging error.

Welling, Teh & Kappen (2008), sec. 8, ask for a split that is not by counts alone. A pair with n tokens that is averaged adds g
to the gap of Jensen's inequality, to second order (`kernels.lda.resplit`); to sample it takes n - 1 updates more in every
sweep. So pairs are sampled by g / (n - 1), the largest first, until a budget of updates is spent; a token that is alone in its
pair costs nothing more, and is always sampled. Every few iterations the split is chosen anew from the present counts::

    pair that comes to be sampled    the topic of each of its tokens is drawn from its responsibility
    pair that comes to be averaged   its responsibility is the conditional of its tokens, all of them taken out

Within a split a step is that of the hybrid (`hybrid`). With `svb`, whose responsibilities follow from the counts, the
variational update comes first in an iteration that chooses a split. The split is part of the state. With ``split=counts`` it
is that of N <= r, bit for bit.
"""

import math
from collections.abc import Generator
from typing import ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    HYBRID,
    Engine,
    Meeting,
    Memory,
    Phase,
    Rows,
    StepContext,
    WarmStart,
    arrays_of,
    cached_by_corpus,
    over_parts,
    size,
    step_of,
    topic_counts,
)
from workbench.engines.lda import cgs, cvb, cvb0, hybrid, svb
from workbench.engines.lda.fold_in import by_gibbs
from workbench.engines.lda.hybrid_state import CvbState, SvbState, drawn_counts, threshold_of
from workbench.engines.lda.hyperparameters import learning, retune
from workbench.engines.lda.partition import idle_alone, partition_option
from workbench.engines.lda.responsibilities import (
    Entropy,
    Workspace,
    init_option,
    new_factors,
    weigh_topics,
    workspace_for,
)
from workbench.engines.lda.split import (
    EVERY_COUNT,
    Blocks,
    RepeatedPairs,
    Split,
    SplitOfRepeated,
    find_repeated_pairs,
    split_by_count,
)
from workbench.errors import Named
from workbench.kernels.lda.resplit import change_sides, fill_gamma, gaps, trigammas, uniforms_of
from workbench.kernels.lda.selection import take_highest_ranks
from workbench.kernels.lda.standard_vb import weigh_rows
from workbench.kernels.lda.word_prior import with_prior
from workbench.kernels.simd.vectors import aligned_empty, pad_topics, padded
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import SPLIT_TOPICS, SPLITS
from workbench.models import LDA
from workbench.models.options import OptionError, option

PARTS = {"svb": svb, "cvb": cvb, "cvb0": cvb0}


class State(NamedTuple):
    mean_dk: Rows  # (document, topic) float64, padded: expected counts of the averaged pairs
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray  # (topic,) float64, padded
    # (document, topic) float64, padded: variances of these counts; but in cvb all var_* are empty
    var_dk: Rows
    var_wk: np.ndarray  # (word, topic) float64, padded
    var_k: np.ndarray  # (topic,) float64, padded
    gamma: Rows  # (averaged pair, topic) float64 or float32, padded; no rows with svb
    entropy: float  # of the responsibilities, nats; with svb alone
    topics: Rows  # (chain, token) uint16; unused for tokens of averaged pairs
    n_dk: Rows  # (chain, document, topic) int32, padded: sampled counts
    n_wk: np.ndarray  # (chain, word, topic) int32, padded
    n_k: np.ndarray  # (chain, topic) int64, padded
    sampled: Rows  # (pair,) bool: the split
    alpha: np.ndarray  # (topic,) float64: prior of each topic in a document, as learnt
    # prior of each word in a topic, as learnt; (word, topic), padded, where it differs from cell to cell
    beta: float | np.ndarray


def of_hybrid(options: "Options", state: State) -> SvbState | CvbState:
    """Return this engine's state as a state of `hybrid`, without the split; the arrays are shared, not copied."""
    if options.average == "svb":
        return SvbState(*state[:3], *state[6:12], *state[-2:])
    return CvbState(*state[:7], *state[8:12], *state[-2:])


def with_split(inner: SvbState | CvbState, sampled: np.ndarray) -> State:
    """Return a state of `hybrid` as a state of this engine, with the split ``sampled`` (pair,) added."""
    if isinstance(inner, CvbState):
        return State(*inner[:7], 0.0, *inner[7:11], sampled, *inner[-2:])
    no_rows, none = np.zeros((0, 0)), np.zeros(0)
    return State(*inner[:3], no_rows, no_rows, none, *inner[3:9], sampled, *inner[-2:])


def average_option():
    return option(
        "svb",
        "engine whose update averages the pairs that are not sampled: svb, cvb or cvb0",
        choices=tuple(PARTS),
        label="Averaging",
    )


@learning
class Options:
    average: str = average_option()
    split: str = option(
        "gap",
        "which pairs are sampled: gap = those with the largest averaging error; random; counts = the smallest counts",
        choices=("gap", "random", "counts"),
        label="Sampled pairs",
    )
    budget_r: float = option(
        2.0,
        "budget of a sweep, in updates: as many as a hybrid with this r makes",
        low=0,
        infinite=True,
        former="r",
        label="Budget as r",
        live=True,
    )
    budget: float = option(
        0.0, "budget of a sweep as a share of the tokens; 0 = as budget_r", low=0, high=1, live=True
    )
    refresh: int = option(
        5,
        "iterations between choices of the split; 0 = only at the start",
        low=0,
        whole=True,
        label="Split every",
    )
    rarer: float = option(
        1.0,
        "factor by which refresh grows after each choice; above 1 the split settles",
        low=1,
        label="Refresh growth factor",
    )
    n_chains: int = hybrid.n_chains_option()
    init: str = init_option()
    partition: int = partition_option()
    precision: str = cvb.precision_option()

    schedule: ClassVar[str] = "parallel"
    phases: ClassVar[str] = "two_phase"

    @property
    def r(self) -> float:
        """The option ``budget_r``: the count threshold r of the `hybrid` whose sweep makes as many updates."""
        return self.budget_r

    @property
    def needs_gap(self) -> bool:
        """Whether the choice of the split depends on the averaging error of each pair."""
        return self.split == "gap"

    def __post_init__(self):
        getattr(super(), "__post_init__", lambda: None)()
        if self.split == "gap" and not self.refresh:
            raise OptionError(
                Named("split", "gap"),
                " goes by the counts of a run and needs ",
                Named("refresh"),
                " of at least 1; set it, or take another split",
            )


def samples(corpus: Corpus, options: Options) -> bool:
    """Return whether any token of the corpus is sampled."""
    return bool(first_sampled(corpus, options).any())


def extra_updates(corpus: Corpus, options: Options) -> int:
    """Return the budget of a sweep: how many updates it may make beyond one for each document-word pair."""
    if options.budget:
        return max(0, math.floor(options.budget * corpus.n_tokens) - corpus.n_pairs)
    return extra_by_counts(corpus, threshold_of(options))


@cached_by_corpus
def extra_by_counts(corpus: Corpus, threshold: int) -> int:
    """Return how many more updates than pairs a sweep makes if pairs with counts up to the threshold are sampled."""
    counts = corpus.counts[corpus.counts <= threshold]
    return int(counts.sum(dtype=np.int64)) - len(counts)


def first_sampled(corpus: Corpus, options: Options) -> np.ndarray:
    """Return which pairs (pair,) are sampled at first: counts up to r, or up to the largest count that ``budget`` allows.

    Pairs with one token are always sampled, except with ``split=counts``.
    """
    least = 0 if options.split == "counts" else 1
    if not options.budget:
        return split_by_count(corpus, max(threshold_of(options), least)).sampled
    # no place for every count up to the largest
    values, n_pairs = np.unique(corpus.counts, return_counts=True)
    spent = np.cumsum(n_pairs * (values.astype(np.int64) - 1))
    n_within = int(np.searchsorted(spent, extra_updates(corpus, options), "right"))
    if n_within == len(values):
        return split_by_count(corpus, EVERY_COUNT).sampled
    return split_by_count(corpus, int(values[n_within - 1]) if n_within else least).sampled


LAST: WeakKeyDictionary = WeakKeyDictionary()
"""Cache: corpus → the last split, which stays the same until a new one is chosen."""


def split_from(corpus: Corpus, options: Options, sampled: np.ndarray) -> Split:
    """Return the `Split` that samples the given pairs (pair,), from a cache if they are those of the last call."""
    kind, last_split = Split if options.split == "counts" else SplitOfRepeated, LAST.get(corpus)
    if type(last_split) is not kind or not np.array_equal(last_split.sampled, sampled):
        last_split = LAST[corpus] = kind(corpus, sampled.copy())
    return last_split


def due(options: Options, step: int) -> bool:
    """Return whether a new split is chosen in this iteration."""
    if options.split == "counts" or not options.refresh:
        return False
    iteration, wait = options.refresh, float(options.refresh)
    while iteration < step and options.rarer > 1.0:
        wait *= options.rarer
        iteration += math.ceil(wait)
    return iteration == step if options.rarer > 1.0 else step % options.refresh == 0


MEANS, DRAWN = ("mean_wk", "mean_k", "var_wk", "var_k"), ("n_wk", "n_k")
"""Fields of a state that hold sums over documents."""


@over_parts
def init(
    corpus: Corpus,
    model: LDA,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> Generator:
    """Return the initial state, that of a hybrid whose sampled document-word pairs are chosen by count or at random."""
    sampled = first_sampled(corpus, options)
    if options.split == "random":
        lanes = padded(model.n_topics)
        repeated_pairs = find_repeated_pairs(corpus, lanes, context.n_threads)
        sampled = chosen(corpus, options, repeated_pairs, context)
    split = split_from(corpus, options, sampled)
    n_chains = options.n_chains if split.samples_any(context) else 1
    state = with_split(
        hybrid.initial(
            corpus, model, options, split, n_chains, context, warm_start, PARTS[options.average]
        ),
        split.sampled,
    )
    return (yield Meeting(state, arrays_of(state, *MEANS, *DRAWN)))[0]


def affordable(
    corpus: Corpus, options: Options, repeated_pairs: RepeatedPairs, rank: np.ndarray
) -> np.ndarray:
    """Return which pairs (pair,) are sampled: all with one token, and those of highest ``rank`` within the budget.

    Pairs of equal rank are sampled together.
    """
    sampled = np.ones(corpus.n_pairs, bool)
    take_highest_ranks(
        rank,
        repeated_pairs.blocks.pair_counts,
        repeated_pairs.pairs,
        extra_updates(corpus, options),
        sampled,
    )
    return sampled


def chosen(
    corpus: Corpus,
    options: Options,
    repeated_pairs: RepeatedPairs,
    context: StepContext,
    gap: np.ndarray | None = None,
) -> np.ndarray:
    """Return which pairs (pair,) are sampled: all with one token, and others by averaging error, at random, or by chance.

    gap (place,) : the averaging error of `gap_of_pairs`, where the choice depends on it
    """
    if options.split == "gap":
        return affordable(corpus, options, repeated_pairs, gap)
    blocks, pairs = repeated_pairs
    uniforms = uniforms_of(context.key(SPLITS), pairs)
    if options.split == "random":
        return affordable(corpus, options, repeated_pairs, uniforms)
    sampled = np.ones(corpus.n_pairs, bool)
    is_averaged = uniforms < options.chances(context.step, blocks.pair_counts, gap)
    sampled[pairs[is_averaged & (pairs >= 0)]] = False
    return sampled


def choose(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> Generator:
    """Choose anew which pairs are sampled, if a new split is due; with `svb` also make the variational update."""
    if not due(options, context.step):
        return state, {}
    split, inner = split_from(corpus, options, state.sampled), of_hybrid(options, state)
    split, inner, sums = renew_split(corpus, options, split, inner, fresh_context(context))
    state = with_split(inner, split.sampled)
    if sums is None:
        return (yield Meeting(state, arrays_of(state, *MEANS)))[0], {}
    state, sums = yield Meeting(state, sums)
    return state, {"updates": sums["updates"] * len(state.topics)}


def sample(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> Generator:
    """Draw the topics of the sampled tokens in every chain."""
    split, inner = split_from(corpus, options, state.sampled), of_hybrid(options, state)
    swept = hybrid.sweep_chains(corpus, options, split, inner, context)
    sums = hybrid.drawn_sums(split, inner, swept)
    state, sums = yield Meeting(with_split(inner, split.sampled), sums)
    return state, hybrid.draw_diagnostics(sums)


def update(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> Generator:
    """Update the document-word pairs that are not sampled, unless `choose` has just done so; then the priors if due."""
    split, inner = split_from(corpus, options, state.sampled), of_hybrid(options, state)
    sums, part = {"updates": 0}, PARTS[options.average]
    if not (part is svb and due(options, context.step)):
        inner, sums = hybrid.update_once(
            corpus, options, split, inner, fresh_context(context), part
        )
    sums = sums | {"sampled": split.n_tokens, "tokens": corpus.n_tokens}
    work = hybrid.conclude(corpus, options, split, inner, context, sums)
    inner, diagnostics = yield from convert_states(work, options, split.sampled)
    diagnostics = {
        name: diagnostics[name] for name in diagnostics if name != "change"
    }  # which `svb` does not store
    share = diagnostics.pop("sampled") / max(diagnostics.pop("tokens"), 1)
    return with_split(inner, split.sampled), diagnostics | {"sampled_share": share}


step = step_of(
    Phase(choose, lambda options: True),
    Phase(sample),
    Phase(update, lambda options: options.average == "svb"),
)


def fresh_context(context: StepContext):
    """Return the context without its cache, which holds arrays derived from the old split."""
    return context._replace(derived=lambda name, make: make())


def convert_states(work: Generator, options: Options, sampled: np.ndarray) -> Generator:
    """Wrap a phase of `hybrid`: convert the states that it yields and receives to and from states of this engine."""
    meeting = next(work)
    state, sums = yield meeting._replace(state=with_split(meeting.state, sampled))
    try:
        work.send((of_hybrid(options, state), sums))
    except StopIteration as end:
        return end.value


def renew_split(
    corpus: Corpus, options: Options, old: Split, state: SvbState | CvbState, context: StepContext
) -> tuple:
    """Choose a new split; return the split, the state for it, and the sums of the variational update (None if not made)."""
    lanes, totals, workspace = (
        len(state.mean_k),
        hybrid.totals(state, 0),
        weights_of(corpus, state, context),
    )
    factors, repeated_pairs = workspace[1:3], find_repeated_pairs(corpus, lanes, context.n_threads)
    pairs = corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before
    gap = None
    if options.needs_gap:
        gap = gap_of_pairs(corpus, old, repeated_pairs, state, totals, factors, context)
    sampled = chosen(corpus, options, repeated_pairs, context, gap)
    new, info, old_state = split_from(corpus, options, sampled), None, state
    if isinstance(state, SvbState):
        state = with_workspace(corpus, state, new, workspace, context)
        state, info = hybrid.update_once(corpus, options, new, state, context, svb)
    else:
        n_dk, *of_words = totals
        n_wk, n_k, beta = with_prior(state.beta, *of_words)
        gamma = aligned_empty((new.n_averaged, state.gamma.shape[1]), state.gamma.dtype)
        fill_gamma(
            *pairs,
            old.sampled,
            new.sampled,
            old.rows,
            state.gamma,
            state.topics[0],
            (n_dk, n_wk, n_k),
            pad_topics(state.alpha),
            beta,
            aligned_empty(lanes, np.float64),
            gamma,
        )
        mean = cvb.recount_state(corpus, new, hybrid.mean_part(state._replace(gamma=gamma)))
        state = CvbState(*mean[:-2], *state[-6:])
    for s in range(len(state.topics)):
        change_sides(
            *pairs,
            old.sampled,
            new.sampled,
            rows_of(old, old_state),
            old_state.gamma,
            *factors,
            context.key(SPLIT_TOPICS, s),
            len(state.alpha),
            *hybrid.chain_of(state, s)[:4],
            aligned_empty(lanes, np.float64),
        )
    return new, state, info


def rows_of(split: Split, state: State) -> np.ndarray:
    """Return the row (pair,), among the stored responsibilities, of each pair that is not sampled; empty with `svb`."""
    return split.rows if len(state.gamma) else np.zeros(0, np.int64)


def with_workspace(
    corpus: Corpus, state: SvbState, split: Split, workspace: Workspace, context: StepContext
) -> SvbState:
    """Return the state of `svb` with a workspace for the document-word pairs that a new split does not sample."""
    if not split.n_averaged:
        for mean in state[:3]:
            mean[:] = 0.0
        return state._replace(entropy=0.0)
    blocks = split.blocks(len(state.mean_k), context.n_threads)
    workspace = workspace._replace(order=blocks, ratios=np.zeros(len(blocks.pair_counts)))
    return state._replace(entropy=Entropy(corpus, None, workspace, len(state.alpha)))


def weights_of(corpus: Corpus, state: SvbState | CvbState, context: StepContext) -> Workspace:
    """Return the document and word factors of `svb` responsibilities in a workspace; an empty one for `cvb`, `cvb0`."""
    if not isinstance(state, SvbState):
        empty_array = np.zeros((0, 0))
        return Workspace((), (empty_array, empty_array), (empty_array, empty_array), np.zeros(0))
    sampled, lanes = drawn_counts(state), len(state.mean_k)
    workspace = workspace_for(
        state.entropy, Blocks, lambda: Workspace((), *new_factors(corpus, lanes), np.zeros(0))
    )
    weigh_topics(state, sampled, False, workspace, context)
    alpha, unsized = pad_topics(state.alpha, 1.0), np.zeros(lanes)

    each_slice(
        weigh_rows,
        slice_bounds(corpus.indptr, lanes),
        context.n_threads,
        context.interrupt,
        alpha,
        state.mean_dk,
        sampled[0],
        unsized,
        False,
        *workspace.document_factors,
    )
    return workspace


def gap_of_pairs(
    corpus: Corpus,
    split: Split,
    repeated_pairs: RepeatedPairs,
    state: State,
    totals,
    factors,
    context: StepContext,
) -> np.ndarray:
    """Return the averaging error of each pair with several tokens, in block order: Jensen gap, nats per extra update."""
    lanes, n_topics, kept_rows = len(state.mean_k), len(state.alpha), rows_of(split, state)
    n_dk, *of_words = totals
    n_wk, n_k, beta = with_prior(state.beta, *of_words)
    totals = n_dk, n_wk, n_k
    alphas, betas = pad_topics(state.alpha, 1.0), np.full(lanes, beta)
    priors = alphas, betas, corpus.n_words * betas
    rows, gap = tuple(np.atleast_2d(array) for array in totals), np.zeros(len(repeated_pairs.pairs))
    curves = tuple(aligned_empty(array.shape, np.float64) for array in rows)
    for prior, counts, curve in zip(priors, rows, curves, strict=True):
        bounds = slice_bounds(np.zeros(len(counts) + 1, np.int64), lanes)
        each_slice(
            trigammas,
            bounds,
            context.n_threads,
            context.interrupt,
            prior=prior,
            counts=counts,
            result=curve,
        )

    def work(first: int, last: int):
        gaps(
            first,
            last,
            *repeated_pairs.blocks.visited,
            repeated_pairs.pairs,
            corpus.tokens_before,
            split.sampled,
            kept_rows,
            state.gamma,
            *factors,
            state.topics[0],
            totals,
            (*curves[:2], curves[2][0]),
            pad_topics(state.alpha),
            beta,
            n_topics,
            aligned_empty(lanes, np.float64),
            gap,
        )

    each_slice(
        work,
        slice_bounds(repeated_pairs.blocks.run_begins, lanes),
        context.n_threads,
        context.interrupt,
    )
    return gap


def for_bound(corpus: Corpus, options: Options, state: State) -> tuple:
    """Return the arguments for the bound of `hybrid_bound`: split, state of `hybrid`, and the responsibilities' entropy."""
    return hybrid.bound_arguments(
        split_from(corpus, options, state.sampled), of_hybrid(options, state)
    )


@over_parts
def watch(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext | None = None
) -> Generator:
    """Return the diagnostics of `hybrid`; `objective` only monitors the run."""
    split = split_from(corpus, options, state.sampled)
    work = hybrid.watch_split(options, split, of_hybrid(options, state))
    return (yield from convert_states(work, options, split.sampled))


def counts(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    """Return the topic counts of the first chain, expected plus sampled."""
    return hybrid.counts(corpus, model, options, of_hybrid(options, state))


def predict(
    corpus: Corpus,
    model: LDA,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of each held-out document-word pair, averaged over the chains."""
    return hybrid.predict(corpus, model, options, of_hybrid(options, state), pairs, context)


def memory(corpus: Corpus, model: LDA, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: a hybrid, the old and the new split, and the arrays of the averaging error.

    At most the pairs with several tokens are averaged.
    """
    n_repeated = int(np.count_nonzero(corpus.counts > 1))
    part, chains = PARTS[options.average], options.n_chains
    mean, sampled = (
        part.memory(corpus, model, options, n_repeated),
        cgs.memory(corpus, model, options),
    )
    look = size(topic_counts("mean", corpus, model.n_topics))
    indices = mean.indices + 2 * corpus.n_pairs * (4 + 4 + 8 + 8)
    choosing = (
        4 * look + (mean.state if part is not svb else 0) + 4 * corpus.n_pairs * DOUBLE
        if options.refresh
        else 0
    )
    return Memory(
        mean.state + chains * sampled.state + corpus.n_pairs,
        indices,
        max(mean.step, choosing),
        look,
    )


NAME = "adaptive-cgs"


def engine(name: str = NAME) -> Engine:
    return Engine(
        name=name,
        kind=HYBRID,
        colour="#777722",
        line="-.",
        marker="v",
        title="Hybrid with a split that adapts",
        source="after Welling, Teh & Kappen (2008), sec. 8",
        model=LDA,
        options=Options,
        state=State,
        samples=samples,
        watches=("objective", "moved", "scan", "sampled_share"),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_gibbs,
        memory=memory,
        idle=lambda options: (
            idle_alone("tokens are drawn") if options.partition == options.n_chains == 1 else None
        ),
        when="For few updates of words that documents repeat: at as many updates as svb-cgs makes it predicts better, but "
        "each choice of the split takes as long as three sweeps of svb.",
    )
