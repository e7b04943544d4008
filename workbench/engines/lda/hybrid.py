"""Hybrids of variational Bayes and Gibbs sampling: sample the small counts, average the large ones.

Welling, Teh & Kappen (2008), eq. 14-25 and sec. 5.1. Pairs that occur more than r times in a document
are variational, with expected counts m; the tokens of the others are sampled, with counts c^s in chains
s = 1..S that share the responsibilities. Total counts are n^s = m + c^s::

    sampled token   p(z = k)   ~  (beta + n^s_wk) / (W beta + n^s_k) (alpha_k + n^s_dk)                          spec A8
    variational     gamma_dwk  ~  exp mean_s{ the exponent of the variational engine at counts n^s }                  A9

with the exponent of `svb`, `cvb` or `cvb0`; sampled counts have no variance. The sampling is Gibbs sampling
with priors alpha + m_dk and beta + m_wk. r = 0 is the variational engine and r = inf is `cgs`, bit for
bit. In between the chain is not exactly the posterior's: its variational part is biased, and its law in the long run may
depend on the start, though sec. 8 says that it is unique (docs/where_the_chain_goes.md). With a `partition` above 1 the
tokens, and the pairs of `cvb` and `cvb0`, are visited by blocks (see `partition`).
"""

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    HYBRID,
    Engine,
    Largest,
    Meeting,
    Memory,
    Options,
    Phase,
    State,
    StepContext,
    WarmStart,
    arrays_of,
    over_parts,
    partition_bytes,
    size,
    step_of,
    sum_diagnostics,
    topic_counts,
)
from workbench.engines.lda import cgs, cvb, cvb0, svb
from workbench.engines.lda.fold_in import by_gibbs
from workbench.engines.lda.hybrid_state import (
    CvbState,
    SvbState,
    chain_of,
    drawn_counts,
    initial,
    interleaved_pass,
    mean_part,
    merge_statistics,
    part_of,
    split_of,
    totals,
)
from workbench.engines.lda.hyperparameters import SufficientStatistics, learn, learning, watched
from workbench.engines.lda.partition import DOCUMENTS, idle_alone, partition_option
from workbench.engines.lda.responsibilities import warms_up
from workbench.engines.lda.retuning import retune_with
from workbench.engines.lda.split import Split
from workbench.errors import Named
from workbench.kernels.lda.log_joint import log_documents, log_joint_from, predictive
from workbench.kernels.simd.vectors import pad_topics, padded
from workbench.kernels.threads import each_task
from workbench.models import LDA
from workbench.models.options import OptionError, option


def r_option():
    return option(
        1.0,
        "pairs with a count above r are averaged (variational); the others are sampled",
        low=0,
        infinite=True,
        label="r",
        live=True,
    )


def n_chains_option():
    return option(
        1,
        "number of Gibbs chains that share the responsibilities",
        low=1,
        whole=True,
        former="n_samples",
        label="Chains",
    )


@dataclass(frozen=True)
class Sampling:
    """Options that all hybrids share, besides the options of the variational engine."""

    r: float = r_option()
    n_chains: int = n_chains_option()
    phases: str = option(
        "two_phase",
        "two_phase = sample, then update; interleaved = one pass, each pair sampled or updated in turn",
        choices=("two_phase", "interleaved"),
    )

    def __post_init__(self):
        if self.phases != "interleaved":
            return
        interleaved, one_chain = Named("phases", "interleaved"), Named("n_chains", 1)
        if self.partition != 1:
            raise OptionError(
                interleaved,
                " goes pair by pair and needs ",
                Named("partition", 1),
                "; set it, or use two_phase",
            )
        schedule = getattr(self, "schedule", None)
        if schedule == "parallel" or (schedule and self.n_chains != 1):
            raise OptionError(
                interleaved,
                " needs ",
                one_chain,
                " and ",
                Named("schedule", "sequential"),
                "; set both, or use two_phase",
            )
        if self.n_chains != 1:
            raise OptionError(interleaved, " needs ", one_chain, "; set it, or use two_phase")


@learning
class SvbOptions(svb.OwnOptions, Sampling):
    partition: int = partition_option()


@dataclass(frozen=True)
class Cvb0Options(cvb0.Options, Sampling):
    pass


@dataclass(frozen=True)
class SecondOrderSampling(Sampling):
    cg_second_order: bool = option(
        False,
        "include the variance terms of the variational counts in the Gibbs step",
        label="Variance terms",
    )

    def __post_init__(self):
        super().__post_init__()
        if self.cg_second_order and self.phases == "interleaved":
            raise OptionError(
                Named("cg_second_order"),
                " needs ",
                Named("phases", "two_phase"),
                "; leave one of them out",
            )


@dataclass(frozen=True)
class CvbOptions(cvb.Options, SecondOrderSampling):
    pass


def samples(corpus: Corpus, options: Options) -> bool:
    """Return whether any token of the corpus is sampled."""
    return split_of(corpus, options).n_sampled > 0


def chains_of(corpus: Corpus, options: Sampling, context: StepContext | None = None) -> int:
    """Return the number of chains S; always 1 if no token is sampled, since all chains would be equal."""
    sampled = (
        samples(corpus, options)
        if context is None
        else split_of(corpus, options).samples_any(context)
    )
    return options.n_chains if sampled else 1


def first_state(
    corpus: Corpus,
    model: LDA,
    options: Sampling,
    context: StepContext,
    warm_start: WarmStart | None = None,
    *,
    part: ModuleType = svb,
) -> Generator:
    """Return the initial state: responsibilities as in the variational engine, topics of tokens as in `cgs`."""
    split, n_chains = split_of(corpus, options), chains_of(corpus, options, context)
    state = initial(corpus, model, options, split, n_chains, context, warm_start, part)
    return (yield Meeting(state, arrays_of(state, *part_of(state).COUNTS, "n_wk", "n_k")))[0]


init = over_parts(first_state)


def interleaves(options: Sampling, split: Split, context: StepContext) -> bool:
    """Return whether a single pass both draws the sampled tokens and updates the pairs that are not sampled."""
    both = options.phases == "interleaved" and bool(split.n_averaged or context.in_part)
    return both and not warms_up(options, split, context)


def sample(
    corpus: Corpus, model: LDA, options: Sampling, state: SvbState | CvbState, context: StepContext
) -> Generator:
    """Draw the topics of the sampled tokens in every chain, unless they are drawn during `update` (phases=interleaved)."""
    split = split_of(corpus, options)
    if interleaves(options, split, context):
        return state, {}
    swept = sweep_chains(corpus, options, split, state, context)
    state, sums = yield Meeting(state, drawn_sums(split, state, swept))
    return state, draw_diagnostics(sums)


def recount(
    corpus: Corpus, model: LDA, options: Sampling, state: SvbState | CvbState, context: StepContext
) -> Generator:
    """Recompute means and variances of the `cvb` part's counts from responsibilities, if `cvb.recounts` says so."""
    if isinstance(state, SvbState) or not cvb.recounts(options, context):
        return state, {}
    cvb.recount_state(corpus, split_of(corpus, options), mean_part(state))
    return (yield Meeting(state, arrays_of(state, *cvb.COUNTS)))[0], {}


def update(
    corpus: Corpus,
    model: LDA,
    options: Sampling,
    state: SvbState | CvbState,
    context: StepContext,
    *,
    part: ModuleType,
) -> Generator:
    """Update the pairs not sampled given all chains, then the priors if due; with phases=interleaved draw tokens too."""
    split = split_of(corpus, options)
    if not interleaves(options, split, context):
        state, sums = update_once(corpus, options, split, state, context, part)
        return (yield from conclude(corpus, options, split, state, context, sums))
    n_moved, sums = interleaved_pass(
        corpus, split, mean_part(state), chain_of(state, 0), drawn_counts(state), context
    )
    sums |= drawn_sums(split, state, [(n_moved, DOCUMENTS)])
    state, diagnostics = yield from conclude(corpus, options, split, state, context, sums)
    draws = draw_diagnostics({name: diagnostics.pop(name) for name in ("drawn", "moved", "scan")})
    return state, sum_diagnostics(diagnostics, draws)


def update_once(
    corpus: Corpus,
    options: Sampling,
    split: Split,
    state: SvbState | CvbState,
    context: StepContext,
    part: ModuleType,
) -> tuple:
    """Update once the pairs not sampled, given all chains; return the state and the sums over documents to be combined."""
    mean, sums = part.update(corpus, options, split, mean_part(state), drawn_counts(state), context)
    return type(state)(*mean[:-2], *state[-6:]), sums


def conclude(
    corpus: Corpus,
    options: Sampling,
    split: Split,
    state: SvbState | CvbState,
    context: StepContext,
    sums: dict,
) -> Generator:
    """Add up the sums of all parts of the corpus and update the priors if due; return the state and diagnostics."""
    zeroth = warms_up(options, split, context)
    arguments = partial(sufficient_statistics, split=split, zeroth=zeroth), sums
    sampled = split.samples_any(context)
    state, diagnostics = yield from learn(corpus, options, state, context, sampled, *arguments)
    diagnostics = {name: value for name, value in diagnostics.items() if name not in state._fields}
    return state, diagnostics | {"updates": diagnostics["updates"] * len(state.topics)}


def drawn_sums(split: Split, state: SvbState | CvbState, swept: list[tuple[int, int]]) -> dict:
    """Return the numbers of draws and of topic changes, and the sweep order, to be combined over parts of the corpus."""
    order = sum(scan for _, scan in swept) / len(swept) if swept else 0.0
    n_drawn, n_moved = split.n_tokens * len(state.topics), sum(n for n, _ in swept)
    return {"drawn": n_drawn, "moved": n_moved, "scan": Largest(order)}


def draw_diagnostics(sums: dict) -> dict:
    """Return the number of draws, the share that changed topic, and the sweep order, from combined `drawn_sums`."""
    if not sums["drawn"]:
        return {"updates": 0, "moved": math.nan, "scan": math.nan}
    return {"updates": sums["drawn"], "moved": sums["moved"] / sums["drawn"], "scan": sums["scan"]}


def step_with(part: ModuleType) -> Callable:
    """Return the `step` of the hybrid whose variational engine is the module ``part``."""
    is_svb = part is svb
    return step_of(
        Phase(sample),
        Phase(recount),
        Phase(
            partial(update, part=part), lambda options: is_svb and options.schedule == "parallel"
        ),
    )


step = step_with(svb)


def sweep_chains(
    corpus: Corpus, options: Options, split: Split, state: State, context: StepContext
) -> list[tuple[int, int]]:
    """Draw the sampled tokens of every chain; return for each chain how many changed topic, and the sweep order.

    Given the expected counts the chains are independent. If all tokens are sampled this is a sweep of `cgs`.
    """
    if not split.n_sampled:
        return []
    second_order = getattr(options, "cg_second_order", False)
    fixed = state[:6] if second_order else (*state[:3], None, None, None)
    # r may be turned to inf some iterations before `adaptive-cgs` samples every pair
    everywhere = math.isinf(options.r) and not state.mean_k.any()
    is_unconditional = not split.n_averaged and (everywhere or not context.in_part)
    chain_context = context._replace(n_threads=max(context.n_threads // len(state.topics), 1))

    def sweep(s: int, interrupt: Callable[[], None]):
        chain, task_context = chain_of(state, s), chain_context._replace(interrupt=interrupt)
        if is_unconditional:
            return cgs.sweep_all(corpus, chain, task_context, s, options.partition)
        return cgs.sweep(corpus, split, chain, fixed, task_context, s, options.partition), DOCUMENTS

    return each_task(
        [partial(sweep, s) for s in range(len(state.topics))], context.n_threads, context.interrupt
    )


def for_bound(corpus: Corpus, options: Options, state: State) -> tuple:
    """Return the arguments for the bound of `hybrid_bound`: split, state, and the responsibilities' entropy in nats."""
    return bound_arguments(split_of(corpus, options), state)


def bound_arguments(split: Split, state: State) -> tuple:
    """Return the arguments for the bound of `hybrid_bound`, as `for_bound` does, for a given split."""
    return split, state, part_of(state).entropy_of(split, mean_part(state))


@over_parts
def watch(
    corpus: Corpus,
    model: LDA,
    options: Sampling,
    state: SvbState | CvbState,
    context: StepContext | None = None,
) -> Generator:
    """Return diagnostics; `objective` is the bound at r = 0, the log joint at r = inf, else neither (spec A.9, 5)."""
    return (yield from watch_split(options, split_of(corpus, options), state))


def watch_split(options: Sampling, split: Split, state: SvbState | CvbState) -> Generator:
    """Return the diagnostics of `watch`, given which pairs are sampled and which averaged."""
    alpha, n_topics, part = pad_topics(state.alpha), len(state.alpha), part_of(state)
    documents = [log_documents(state.mean_dk + n_dk, alpha, n_topics) for n_dk in state.n_dk]
    pair_entropy = part.stored_entropy(options, split, mean_part(state))
    sums = {"documents": np.array(documents), "entropy of pairs": pair_entropy}
    state, sums = yield Meeting(state, sums)
    joints = [
        log_joint_from(document_terms, *totals(state, s)[1:], state.beta, n_topics)
        for s, document_terms in enumerate(sums["documents"])
    ]
    entropy = part.total_entropy(options, mean_part(state), sums["entropy of pairs"])
    objective, n_k = float(np.mean(joints)) + entropy, state.mean_k + state.n_k[0]
    return {"objective": objective, "n_k": n_k[:n_topics]} | watched(options, state)


def counts(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    """Return expected plus sampled counts of the first chain; chains are not averaged, as topics may be permuted."""
    n_dk, n_wk, _ = totals(state, 0)
    return {"n_kw": n_wk[:, : model.n_topics].T, "n_dk": n_dk[:, : model.n_topics]}


def predict(
    corpus: Corpus,
    model: LDA,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of each held-out document-word pair, averaged over the chains (spec B.3)."""
    probabilities = [
        predictive(pairs, corpus.document_tokens, *totals(state, s), state.alpha, state.beta)
        for s in range(len(state.topics))
    ]
    return np.mean(probabilities, axis=0) if len(probabilities) > 1 else probabilities[0]


def sufficient_statistics(
    corpus: Corpus, state: State, of, split: Split, zeroth: bool = False
) -> SufficientStatistics:
    """Return the sufficient statistics of alpha or beta: expected counts, and sampled counts of each chain."""
    sampled = cgs.sufficient_statistics(corpus, state, of)
    if not split.n_averaged:
        return sampled
    expected = part_of(state).sufficient_statistics(corpus, mean_part(state), of, split, zeroth)
    if not split.n_sampled:
        return expected
    return merge_statistics(expected, sampled)


def memory(corpus: Corpus, model: LDA, options: Options, *, part: ModuleType = svb) -> Memory:
    """Forecast the memory of a run in bytes: variational and sampled state, pairs of each, one chain's total counts.

    Several chains need twice the memory at the start, before the pairs are split. Hybrids have no collapsed bound, which
    takes words in order.
    """
    split, chains = split_of(corpus, options), chains_of(corpus, options)
    look = size(topic_counts("mean", corpus, model.n_topics))
    mean, sampled = (
        part.memory(corpus, model, options, split.n_averaged),
        cgs.memory(corpus, model, options),
    )
    state, n_sampled = mean.state + chains * sampled.state, split.n_sampled
    start = (chains if chains > 1 else 0) * sampled.state + corpus.n_tokens * np.dtype(
        np.uint16
    ).itemsize
    if not split.n_averaged:
        return sampled._replace(state=state, step=max(chains * sampled.step, start), look=look)
    index_bytes = partial(partition_bytes, corpus, options.partition)
    indices = index_bytes(n_sampled) + (
        mean.indices if part is svb else index_bytes(split.n_averaged)
    )
    sweep = chains * corpus.n_words * padded(model.n_topics) * DOUBLE if n_sampled else 0
    return Memory(state, indices, max(mean.step, sweep, start - indices), look)


def idle(options: Options) -> str | None:
    """Return why extra threads are of little or no use with these options; None if they are useful."""
    if options.phases == "interleaved":
        return "pairs are visited one after another; phases=two_phase does not need that"
    return idle_alone("tokens are drawn") if options.partition == options.n_chains == 1 else None


KINDS = {
    "svb-cgs": (
        svb,
        SvbOptions,
        "standard variational Bayes",
        "eq. 14-25",
        "Between svb (r = 0) and cgs (r = inf): it predicts nearly as well as cgs, and a sweep of it costs less where "
        "documents repeat their words and topics are few.",
        "#f35100",
        5,
    ),
    "cvb-cgs": (
        cvb,
        CvbOptions,
        "collapsed variational Bayes",
        "sec. 5.1",
        "Between cvb (r = 0) and cgs (r = inf): for comparisons with the paper, and where svb-cgs stays behind cgs because "
        "documents repeat their words often.",
        "#008fd8",
        6,
    ),
    "cvb0-cgs": (
        cvb0,
        Cvb0Options,
        "CVB0",
        "sec. 5.1, with CVB0",
        "Between cvb0 (r = 0) and cgs (r = inf): on KOS it predicted as well as cgs and came to the same perplexity sooner; it "
        "takes more memory than svb-cgs.",
        "#c377b2",
        7,
    ),
}
"""Hybrid → module and options of its variational engine, its name in titles, source, when to use it, colour, order."""


ENDS = {
    "svb": ("svb-cgs", 0),
    "cvb": ("cvb-cgs", 0),
    "cvb0": ("cvb0-cgs", 0),
    "cgs": ("svb-cgs", math.inf),
}
"""Engine → (hybrid, r) with bitwise equal results."""


def engine(name: str = "svb-cgs") -> Engine:
    part, options, title, source, when, colour, order = KINDS[name]
    state, watches = (SvbState, ()) if part is svb else (CvbState, ("change",))
    return Engine(
        name=name,
        kind=HYBRID,
        colour=colour,
        line="-",
        marker=part.engine().marker,
        order=order,
        title=f"Hybrid of {title} and Gibbs sampling",
        source=f"Welling, Teh & Kappen (2008), {source}",
        when=when,
        model=LDA,
        options=options,
        state=state,
        samples=samples,
        watches=("objective", "moved", "scan", *watches),
        init=over_parts(partial(first_state, part=part)),
        step=step_with(part),
        watch=watch,
        retune=retune_with(part, chains_of),
        counts=counts,
        predict=predict,
        fold_in=by_gibbs,
        memory=partial(memory, part=part),
        idle=idle,
        check_options=cvb.check_options if state is CvbState else lambda options, data: None,
    )
