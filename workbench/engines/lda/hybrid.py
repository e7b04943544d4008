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
from collections import namedtuple
from dataclasses import dataclass
from functools import partial

import numpy as np

from workbench.engines.engine import Engine
from workbench.engines.in_parts import ADDED, IN_ORDER, ROUNDS, InParts, Pass
from workbench.engines.lda import cgs, cvb, cvb0, svb
from workbench.engines.lda.factored import weighed_words
from workbench.engines.lda.fold_in import by_gibbs
from workbench.engines.lda.hyperparameters import SufficientStatistics, learn, learning, polya, watched
from workbench.engines.lda.interleaved import interleaved_pass
from workbench.engines.lda.partition import idle_alone, partition_option
from workbench.engines.lda.scan import DOCUMENTS
from workbench.engines.lda.split import EVERY_COUNT, Split, split_by_count
from workbench.engines.memory import DOUBLE, Memory, partition_bytes, size, stacked, topic_counts
from workbench.errors import Named
from workbench.kernels.lda.log_joint import log_documents, log_joint, log_joint_from, predictive
from workbench.kernels.simd.lanes import pad_topics, padded
from workbench.kernels.threads import each_task
from workbench.models import LDA
from workbench.models.options import OptionError, option


def _state(name: str, part: type) -> type:
    """State of a hybrid: of a variational engine, then of `cgs` with a first dim of chains, then the priors of both.

    Topics of the tokens of variational pairs are not used.
    """
    return namedtuple(name, (*part._fields[:-2], *cgs.State._fields[:-2], *part._fields[-2:]), module=__name__)


SvbState, CvbState = _state("SvbState", svb.State), _state("CvbState", cvb.State)


def part_of(state):
    """The module of the variational engine of a hybrid's state; `cvb` for `cvb0` too."""
    return svb if isinstance(state, SvbState) else cvb


def mean_part(state):
    """The state of the variational engine within that of a hybrid."""
    return part_of(state).State(*state[:-6], *state[-2:])


def chain_of(state, s: int) -> cgs.State:
    """The sampled part of one chain (views)."""
    return cgs.State(*(array[s] for array in state[-6:-2]), *state[-2:])


def totals(state, s: int) -> tuple:
    """n_dk, n_wk, n_k of one chain: expected plus sampled counts, padded."""
    return state.mean_dk + state.n_dk[s], state.mean_wk + state.n_wk[s], state.mean_k + state.n_k[s]


def r_option():
    return option(1.0, "pairs that count more than r are variational, the others are sampled", low=0, infinite=True)


def n_chains_option():
    return option(1, "chains that share the responsibilities", low=1, whole=True, former="n_samples")


@dataclass(frozen=True)
class Sampling:
    """Options that all hybrids have before those of their variational engine."""

    r: float = r_option()
    n_chains: int = n_chains_option()
    phases: str = option(
        "two_phase", "two_phase: sample, then update; interleaved: one pass, each pair by its own rule",
        choices=("two_phase", "interleaved"),
    )

    def __post_init__(self):
        if self.phases != "interleaved":
            return
        interleaved, one_chain = Named("phases", "interleaved"), Named("n_chains", 1)
        if self.partition != 1:
            raise OptionError(interleaved, " goes pair by pair and needs ", Named("partition", 1), "; set it, or use two_phase")
        schedule = getattr(self, "schedule", None)
        if schedule == "parallel" or (schedule and self.n_chains != 1):
            raise OptionError(
                interleaved, " needs ", one_chain, " and ", Named("schedule", "sequential"), "; set both, or use two_phase"
            )
        if self.n_chains != 1:
            raise OptionError(interleaved, " needs ", one_chain, "; set it, or use two_phase")


@learning
class SvbOptions(svb.OwnOptions, Sampling):
    partition: int = partition_option()


@dataclass(frozen=True)
class Cvb0Options(cvb.Options, Sampling):
    pass


@dataclass(frozen=True)
class SecondOrderSampling(Sampling):
    cg_second_order: bool = option(False, "draw tokens with the variance terms of the variational counts too")

    def __post_init__(self):
        super().__post_init__()
        if self.cg_second_order and self.phases == "interleaved":
            raise OptionError(Named("cg_second_order"), " needs ", Named("phases", "two_phase"), "; leave one of them out")


@dataclass(frozen=True)
class CvbOptions(cvb.Options, SecondOrderSampling):
    pass


def threshold_of(options) -> np.int64:
    """The largest count that is sampled."""
    return EVERY_COUNT if math.isinf(options.r) else np.int64(min(math.floor(options.r), EVERY_COUNT))


def split_of(corpus, options) -> Split:
    """The split by r."""
    return split_by_count(corpus, threshold_of(options))


def samples(corpus, options) -> bool:
    """Is any token of the corpus sampled?"""
    return split_of(corpus, options).n_sampled > 0


def chains_of(corpus, options) -> int:
    """S, or 1 where no token is sampled and all chains would be the same."""
    return options.n_chains if samples(corpus, options) else 1


def init(corpus, model, options, context, warm_start=None, *, part=svb):
    """Initial state: responsibilities as in the variational engine, topics as in `cgs`."""
    return initial(corpus, model, options, split_of(corpus, options), chains_of(corpus, options), context, warm_start, part)


def initial(corpus, model, options, split: Split, n_chains: int, context, warm_start, part):
    """Initial state under a split."""
    chains = [cgs.initial_chain(corpus, model, split, context, s, warm_start) for s in range(n_chains)]
    mean = part.initial_mean(corpus, model, options, split, context, warm_start)
    state = SvbState if part is svb else CvbState
    drawn = map(stacked, list(zip(*chains, strict=True))[:4])
    return state(*mean[:-2], *drawn, *mean[-2:])


def step(corpus, model, options, state, context, *, part=svb):
    """Draw the sampled tokens of every chain, update the variational pairs given all chains, learn priors that are due."""
    split = split_of(corpus, options)
    if options.phases == "interleaved" and split.n_averaged:
        drawn = (state.n_dk, state.n_wk, state.n_k[:, None])
        n_moved, info = interleaved_pass(corpus, split, mean_part(state), chain_of(state, 0), drawn, context)
        return concluded(corpus, options, split, state, context, [(n_moved, DOCUMENTS)], info)
    swept = sweep_chains(corpus, options, split, state, context)
    state, info = update(corpus, options, split, state, context, part)
    return concluded(corpus, options, split, state, context, swept, info)


def update(corpus, options, split: Split, state, context, part) -> tuple:
    """The state after one update of the averaged pairs, given all chains, and the numbers of that update."""
    mean, info = part.update(corpus, options, split, mean_part(state), drawn_counts(state), context)
    return type(state)(*mean[:-2], *state[-6:]), info


def concluded(corpus, options, split: Split, state, context, swept: list[tuple[int, int]], info: dict) -> tuple:
    """The end of a step: the state with priors that are due, and the numbers of the step; swept: see `sweep_chains`."""
    n_sampled = split.n_tokens * len(state.topics)
    state = learn(corpus, options, state, context, n_sampled > 0, partial(sufficient_statistics, split=split))
    info["updates"] = n_sampled + info["updates"] * len(state.topics)
    if not n_sampled:
        return state, info | {"moved": math.nan, "scan": math.nan}
    n_moved, scans = zip(*swept, strict=True)
    return state, info | {"moved": sum(n_moved) / n_sampled, "scan": sum(scans) / len(scans)}


def sweep_chains(corpus, options, split: Split, state, context) -> list[tuple[int, int]]:
    """Draws the sampled tokens of every chain, as `cgs` does where all are sampled.

    Returns how many moved in each chain, and in what order. Given the expected counts no chain needs another.
    """
    if not split.n_sampled:
        return []
    fixed = averaged_moments(options, state)
    each = context._replace(n_threads=max(context.n_threads // len(state.topics), 1))

    def sweep(s, interrupt):
        chain, own = chain_of(state, s), each._replace(interrupt=interrupt)
        if not split.n_averaged:
            return cgs.sweep_all(corpus, chain, own, s, options.partition)
        return cgs.sweep(corpus, split, chain, fixed, own, s, options.partition), DOCUMENTS

    return each_task([partial(sweep, s) for s in range(len(state.topics))], context.n_threads, context.interrupt)


def averaged_moments(options, state) -> tuple:
    """Means of the counts of averaged pairs, and their variances, None unless tokens are drawn with these."""
    return state[:6] if getattr(options, "cg_second_order", False) else (*state[:3], None, None, None)


def for_bound(corpus, options, state) -> tuple:
    """What the bound B is computed from: the split, a state of `hybrid`, and the entropy of its responsibilities, nats."""
    return under_split(split_of(corpus, options), state)


def under_split(split: Split, state) -> tuple:
    """`for_bound` under a split."""
    return split, state, part_of(state).entropy_of(split, mean_part(state))


def watch(corpus, model, options, state) -> dict:
    """`objective` is the bound at r = 0 and the log joint at r = inf; in between it only monitors (spec A.9, 5)."""
    return watch_under(options, split_of(corpus, options), state)


def watch_under(options, split: Split, state) -> dict:
    """`watch` under a split."""
    alpha, n_topics = pad_topics(state.alpha), len(state.alpha)
    joints = [log_joint(*totals(state, s), alpha, state.beta, n_topics) for s in range(len(state.topics))]
    entropy, n_k = part_of(state).entropy_of(split, mean_part(state)), state.mean_k + state.n_k[0]
    return {"objective": float(np.mean(joints)) + entropy, "n_k": n_k[:n_topics]} | watched(options, state)


def counts(corpus, model, options, state) -> dict:
    """Expected plus sampled counts of the first chain (never averaged over chains: labels may differ)."""
    n_dk, n_wk, _ = totals(state, 0)
    return {"n_kw": n_wk[:, : model.n_topics].T, "n_dk": n_dk[:, : model.n_topics]}


def predict(corpus, model, options, state, pairs, context=None) -> np.ndarray:
    """p(w|d) of each pair, averaged over the chains (spec B.3)."""
    by_chain = [
        predictive(pairs, corpus.document_tokens, *totals(state, s), state.alpha, state.beta)
        for s in range(len(state.topics))
    ]
    return np.mean(by_chain, axis=0) if len(by_chain) > 1 else by_chain[0]


def sufficient_statistics(corpus, state, of, split) -> SufficientStatistics:
    """Sufficient statistics of alpha or beta: counts of the variational part, and those sampled in each chain."""
    sampled = cgs.sufficient_statistics(corpus, state, of)
    if not split.n_averaged:
        return sampled
    expected = part_of(state).sufficient_statistics(corpus, mean_part(state), of, split)
    if not split.n_sampled:
        return expected
    return together(expected, sampled)


def together(expected: SufficientStatistics, sampled: SufficientStatistics) -> SufficientStatistics:
    """Those of expected counts with sampled ones beside them."""
    return SufficientStatistics(*(mean._replace(sampled=drawn.sampled) for mean, drawn in zip(expected, sampled, strict=True)))


def memory(corpus, model, options, *, part=svb) -> Memory:
    """Bytes of both parts, of their pairs, and of the total counts of a chain while it is swept or watched.

    Several chains are there twice at the start, when the pairs are not yet parted. Hybrids have no collapsed bound, which
    takes words in order.
    """
    split, chains = split_of(corpus, options), chains_of(corpus, options)
    look = size(topic_counts("mean", corpus, model.n_topics))
    mean, sampled = part.memory(corpus, model, options, split.n_averaged), cgs.memory(corpus, model, options)
    state, n_sampled = mean.state + chains * sampled.state, split.n_sampled
    start = (chains if chains > 1 else 0) * sampled.state + corpus.n_tokens * np.dtype(np.uint16).itemsize
    if not split.n_averaged:
        return sampled._replace(state=state, step=max(chains * sampled.step, start), look=look)
    of_pairs = partial(partition_bytes, corpus, options.partition)
    indices = of_pairs(n_sampled) + (mean.indices if part is svb else of_pairs(split.n_averaged))
    sweep = chains * corpus.n_words * padded(model.n_topics) * DOUBLE if n_sampled else 0
    return Memory(state, indices, max(mean.step, sweep, start - indices), look)


def idle(options) -> str | None:
    """The reason why more than one thread has little or nothing to do; None if there is none."""
    if options.phases == "interleaved":
        return "pairs are visited one after another; phases=two_phase does not need that"
    return idle_alone("tokens are drawn") if options.partition == options.n_chains == 1 else None


def samples_any(options) -> bool:
    """Does r allow for any pair to be sampled?"""
    return bool(threshold_of(options) > 0)


def begin_part(corpus, model, options, context, warm_start=None, *, part):
    """`init` of a part of a corpus, with as many chains as all parts."""
    n_chains = options.n_chains if samples_any(options) else 1
    return initial(corpus, model, options, split_of(corpus, options), n_chains, context, warm_start, part)


def sample_part(corpus, options, state, context, split) -> tuple:
    """Draws, in every chain, the sampled tokens of one block of a part."""
    fixed, n_moved = averaged_moments(options, state), 0
    for s in range(len(state.topics)):
        chain = chain_of(state, s)
        swept = chain._replace(n_wk=chain.n_wk.copy())  # blocks of other words may be at work beside this one
        n_moved += cgs.sweep(corpus, split, swept, fixed, context, s, options.partition)
        chain.n_wk[split.words] = swept.n_wk[split.words]
    return state, {"moved": n_moved, "drawn": len(state.topics) * int(split.columns(True).counts.sum())}


def drawn_counts(state) -> tuple:
    """The sampled counts (chain, row, topic) as variational engines take them."""
    return state.n_dk, state.n_wk, state.n_k[:, None]


def prepare_parts(options, state, context) -> tuple:
    """The weights of words, the same for all parts."""
    return weighed_words(mean_part(state), drawn_counts(state), False, context)


def update_part(corpus, options, state, context, split, *prepared, work) -> tuple:
    """The update of the averaged pairs of a part or of a block, by ``work`` of its variational engine."""
    mean, info = work(corpus, options, split, mean_part(state), drawn_counts(state), context, *prepared)
    return type(state)(*mean[:-2], *state[-6:]), info


def recount_part(corpus, options, state, context, split) -> tuple:
    """As in `cvb`."""
    return state, cvb.recount_part(corpus, options, mean_part(state), context, split)[1]


def passes_in_parts(options, step: int, *, part) -> tuple[Pass, ...]:
    """Rounds for the sampled tokens, then the pass or passes of the variational engine; at either end, one of them alone."""
    if part is svb:
        update = Pass(ADDED, partial(update_part, work=svb.update_part), ("mean_wk",), ("mean_k",), prepare_parts)
        update = (update,) * (step > 0)
    else:
        recount = Pass(IN_ORDER, recount_part, *cvb.COUNTS)
        visit = Pass(ROUNDS, partial(update_part, work=visited), *cvb.COUNTS)
        update = (recount,) * (step % cvb.RECOUNT_EVERY == 0) + (visit,) * (step > 0)
    sample = (Pass(ROUNDS, sample_part, ("n_wk",), ("n_k",)),) * (step > 0 and samples_any(options))
    return sample + update * (not math.isinf(options.r))


def visited(corpus, options, split, mean, sampled, context) -> tuple:
    """`cvb.visit` of a block, with the number of its pairs."""
    mean, info = cvb.visit(corpus, options, split, mean, sampled, context)
    return mean, {"change": info["change"], "updates": len(split.columns(False).counts)}


def of_part(corpus, model, options, state) -> dict:
    """What is watched of documents alone: their part of the log joint, a mean over the chains, and stored entropy."""
    alpha, n_topics = pad_topics(state.alpha), len(state.alpha)
    joints = [log_documents(state.mean_dk + n_dk, alpha, n_topics) for n_dk in state.n_dk]
    entropy = 0.0 if isinstance(state, SvbState) else cvb.entropy_of(split_of(corpus, options), mean_part(state))
    return {"documents": float(np.mean(joints)), "entropy": entropy}


def watched_in_parts(model, options, state, sums: dict) -> dict:
    """What is watched, given the sums of `of_part`."""
    n_topics = len(state.alpha)
    joints = [
        log_joint_from(0.0, state.mean_wk + n_wk, state.mean_k + n_k, state.beta, n_topics)
        for n_wk, n_k in zip(state.n_wk, state.n_k, strict=True)
    ]
    entropy = sums["entropy"] + (state.entropy if isinstance(state, SvbState) and not math.isinf(options.r) else 0.0)
    n_k = state.mean_k + state.n_k[0]
    return {"objective": sums["documents"] + float(np.mean(joints)) + entropy, "n_k": n_k[:n_topics]} | watched(options, state)


def likelihood_of_part(corpus, options, state, prior):
    """The likelihood of a prior from expected and sampled counts; from those that there are, whatever is in this part."""
    sampled = cgs.sufficient_statistics(corpus, state, prior.name) if samples_any(options) else None
    if math.isinf(options.r):
        return polya(corpus, sampled, prior)
    split = split_of(corpus, options) if prior.name == "alpha" else None
    expected = part_of(state).sufficient_statistics(corpus, mean_part(state), prior.name, split)
    return polya(corpus, expected if sampled is None else together(expected, sampled), prior)


def told_in_parts(corpus, options, sums: dict, *, part) -> dict:
    """What a step tells, given the sums over its parts."""
    drawn, n_chains = sums.pop("drawn", 0), options.n_chains if samples_any(options) else 1
    sums["updates"] = drawn + n_chains * sums.get("updates", 0)
    changed = {"change": 0.0} if part is cvb else {}
    return changed | sums | {"moved": sums["moved"] / drawn if drawn else math.nan, "scan": DOCUMENTS if drawn else math.nan}


def refuse_in_parts(options, *, part) -> None:
    """Refuses one pass pair by pair, and what the variational engine refuses."""
    if options.phases == "interleaved":
        why = " goes pair by pair through the whole corpus, and this one is kept in parts; use "
        raise OptionError(Named("phases", "interleaved"), why, Named("phases", "two_phase"))
    part.IN_PARTS.refuse(options)


def in_parts(part) -> InParts:
    """How the hybrid with a variational engine works in parts; `cvb0` begins in its own way and goes on as `cvb`."""
    kin = svb if part is svb else cvb
    return InParts(
        own=(*kin.IN_PARTS.own, *cgs.IN_PARTS.own), split=split_of, passes=partial(passes_in_parts, part=kin),
        of_part=of_part, watched=watched_in_parts, likelihood=likelihood_of_part,
        told=partial(told_in_parts, part=kin), of_words=lambda state: state.mean_wk + state.n_wk[0], samples=samples_any,
        numbers=kin.IN_PARTS.numbers, begin=partial(begin_part, part=part), refuse=partial(refuse_in_parts, part=kin),
    )


KINDS = {
    "svb-cgs": (
        svb, SvbOptions, "standard variational Bayes", "eq. 14-25",
        "Between svb (r = 0) and cgs (r = inf): it predicts nearly as well as cgs, and a sweep of it costs less where "
        "documents repeat their words and topics are few.",
    ),
    "cvb-cgs": (
        cvb, CvbOptions, "collapsed variational Bayes", "sec. 5.1",
        "Between cvb (r = 0) and cgs (r = inf): for comparisons with the paper, and where svb-cgs stays behind cgs because "
        "documents repeat their words often.",
    ),
    "cvb0-cgs": (
        cvb0, Cvb0Options, "CVB0", "sec. 5.1, with CVB0",
        "Between cvb0 (r = 0) and cgs (r = inf): on KOS it predicted as well as cgs and came to the same perplexity sooner; it "
        "takes more memory than svb-cgs.",
    ),
}
"""Module and options of the variational engine of each hybrid, what titles call it, the source, and when to use it."""


def engine(name: str = "svb-cgs") -> Engine:
    part, options, title, source, when = KINDS[name]
    state, watches = (SvbState, ()) if part is svb else (CvbState, ("change",))
    return Engine(
        name=name, title=f"Hybrid of {title} and Gibbs sampling", source=f"Welling, Teh & Kappen (2008), {source}",
        when=when,
        model=LDA, options=options, state=state, samples=samples, watches=("objective", "moved", "scan", *watches),
        init=partial(init, part=part), step=partial(step, part=part), watch=watch, counts=counts, predict=predict,
        fold_in=by_gibbs, memory=partial(memory, part=part), idle=idle,
        in_parts=in_parts(part),
    )
