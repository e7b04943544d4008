"""Hybrids over a corpus that is kept in parts: rounds for the sampled tokens, then the passes of the variational engine."""

import math
from functools import partial

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.in_parts import ADDED, IN_ORDER, ROUNDS, InParts, Pass
from workbench.engines.lda import cgs, cvb, svb
from workbench.engines.lda.factored import weighed_words
from workbench.engines.lda.hybrid_state import (
    SvbState,
    averaged_moments,
    chain_of,
    drawn_counts,
    initial,
    mean_part,
    part_of,
    split_of,
    threshold_of,
    together,
)
from workbench.engines.lda.hyperparameters import polya, watched
from workbench.engines.lda.scan import DOCUMENTS
from workbench.errors import Named
from workbench.kernels.lda.log_joint import log_documents, log_joint_from
from workbench.kernels.simd.lanes import pad_topics
from workbench.models.lda import LDA
from workbench.models.options import OptionError


def samples_any(options) -> bool:
    """Does r allow for any pair to be sampled?"""
    return bool(threshold_of(options) > 0)


def begin_part(
    corpus: Corpus,
    model: LDA,
    options,
    context: StepContext,
    warm_start: WarmStart | None = None,
    *,
    part,
):
    """`init` of a part of a corpus, with as many chains as all parts."""
    n_chains = options.n_chains if samples_any(options) else 1
    return initial(
        corpus, model, options, split_of(corpus, options), n_chains, context, warm_start, part
    )


def sample_part(corpus: Corpus, options, state, context: StepContext, split) -> tuple:
    """Draws, in every chain, the sampled tokens of one block of a part."""
    fixed, n_moved = averaged_moments(options, state), 0
    for s in range(len(state.topics)):
        chain = chain_of(state, s)
        # blocks of other words may be at work beside this one
        swept = chain._replace(n_wk=chain.n_wk.copy())
        n_moved += cgs.sweep(corpus, split, swept, fixed, context, s, options.partition)
        chain.n_wk[split.words] = swept.n_wk[split.words]
    return state, {
        "moved": n_moved,
        "drawn": len(state.topics) * int(split.columns(True).counts.sum()),
    }


def prepare_parts(options, state, context: StepContext) -> tuple:
    """The weights of words, the same for all parts."""
    return weighed_words(mean_part(state), drawn_counts(state), False, context)


def update_part(
    corpus: Corpus, options, state, context: StepContext, split, *prepared, work
) -> tuple:
    """The update of the averaged pairs of a part or of a block, by ``work`` of its variational engine."""
    mean, info = work(
        corpus, options, split, mean_part(state), drawn_counts(state), context, *prepared
    )
    return type(state)(*mean[:-2], *state[-6:]), info


def recount_part(corpus: Corpus, options, state, context: StepContext, split) -> tuple:
    """As in `cvb`."""
    return state, cvb.recount_part(corpus, options, mean_part(state), context, split)[1]


def passes_in_parts(options, step: int, *, part) -> tuple[Pass, ...]:
    """Rounds for the sampled tokens, then the pass or passes of the variational engine; at either end, one of them alone."""
    if part is svb:
        update = Pass(
            ADDED,
            partial(update_part, work=svb.update_part),
            ("mean_wk",),
            ("mean_k",),
            prepare_parts,
        )
        update = (update,) * (step > 0)
    else:
        recount = Pass(IN_ORDER, recount_part, *cvb.COUNTS)
        visit = Pass(ROUNDS, partial(update_part, work=visited), *cvb.COUNTS)
        update = (recount,) * (step % cvb.RECOUNT_EVERY == 0) + (visit,) * (step > 0)
    sample = (Pass(ROUNDS, sample_part, ("n_wk",), ("n_k",)),) * (step > 0 and samples_any(options))
    return sample + update * (not math.isinf(options.r))


def visited(corpus: Corpus, options, split, mean, sampled, context: StepContext) -> tuple:
    """`cvb.visit` of a block, with the number of its pairs."""
    mean, info = cvb.visit(corpus, options, split, mean, sampled, context)
    return mean, {"change": info["change"], "updates": len(split.columns(False).counts)}


def of_part(corpus: Corpus, model: LDA, options, state) -> dict:
    """What is watched of documents alone: their part of the log joint, a mean over the chains, and stored entropy."""
    alpha, n_topics = pad_topics(state.alpha), len(state.alpha)
    joints = [log_documents(state.mean_dk + n_dk, alpha, n_topics) for n_dk in state.n_dk]
    entropy = (
        0.0
        if isinstance(state, SvbState)
        else cvb.entropy_of(split_of(corpus, options), mean_part(state))
    )
    return {"documents": float(np.mean(joints)), "entropy": entropy}


def entropy_from(options, state, of_parts: float) -> float:
    """Entropy of the responsibilities, nats, given the sum of that of the parts: that of `svb` all parts share."""
    return of_parts + (
        state.entropy if isinstance(state, SvbState) and not math.isinf(options.r) else 0.0
    )


def watched_in_parts(model: LDA, options, state, sums: dict) -> dict:
    """What is watched, given the sums of `of_part`."""
    n_topics = len(state.alpha)
    joints = [
        log_joint_from(0.0, state.mean_wk + n_wk, state.mean_k + n_k, state.beta, n_topics)
        for n_wk, n_k in zip(state.n_wk, state.n_k, strict=True)
    ]
    entropy = entropy_from(options, state, sums["entropy"])
    n_k = state.mean_k + state.n_k[0]
    return {
        "objective": sums["documents"] + float(np.mean(joints)) + entropy,
        "n_k": n_k[:n_topics],
    } | watched(options, state)


def likelihood_of_part(corpus: Corpus, options, state, prior):
    """The likelihood of a prior from expected and sampled counts; from those that there are, whatever is in this part."""
    sampled = cgs.sufficient_statistics(corpus, state, prior.name) if samples_any(options) else None
    if math.isinf(options.r):
        return polya(corpus, sampled, prior)
    split = split_of(corpus, options) if prior.name == "alpha" else None
    expected = part_of(state).sufficient_statistics(corpus, mean_part(state), prior.name, split)
    return polya(corpus, expected if sampled is None else together(expected, sampled), prior)


def told_in_parts(corpus: Corpus, options, sums: dict, *, part) -> dict:
    """What a step tells, given the sums over its parts."""
    drawn, n_chains = sums.pop("drawn", 0), options.n_chains if samples_any(options) else 1
    sums["updates"] = drawn + n_chains * sums.get("updates", 0)
    changed = {"change": 0.0} if part is cvb else {}
    return (
        changed
        | sums
        | {
            "moved": sums["moved"] / drawn if drawn else math.nan,
            "scan": DOCUMENTS if drawn else math.nan,
        }
    )


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
        own=(*kin.IN_PARTS.own, *cgs.IN_PARTS.own),
        split=split_of,
        passes=partial(passes_in_parts, part=kin),
        of_part=of_part,
        watched=watched_in_parts,
        likelihood=likelihood_of_part,
        told=partial(told_in_parts, part=kin),
        of_words=lambda state: state.mean_wk + state.n_wk[0],
        samples=samples_any,
        numbers=kin.IN_PARTS.numbers,
        begin=partial(begin_part, part=part),
        refuse=partial(refuse_in_parts, part=kin),
    )
