"""The state of a hybrid engine, made of a variational state and of `cgs` chains, and the pass that visits all pairs in order.

`interleaved_pass` visits all pairs in canonical order, each by its own rule. Welling, Teh & Kappen (2008), sec. 4: the tokens
of pairs that count at most r are drawn as in `cgs`, the other pairs are updated as in `svb` or `cvb`, and every pair sees the
counts that the pairs before it left.
"""

import math
from types import ModuleType
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import Largest, Options, State, StepContext, WarmStart, stacked
from workbench.engines.lda import cgs, cvb, svb
from workbench.engines.lda.hyperparameters import SufficientStatistics
from workbench.engines.lda.split import EVERY_COUNT, Split, split_by_count
from workbench.kernels.jit import kernel
from workbench.kernels.lda import collapsed_vb, standard_vb
from workbench.kernels.lda.gibbs import ENDS, draw_pair, inverse_sizes
from workbench.kernels.lda.word_prior import take_prior_out, with_prior
from workbench.kernels.simd.vectors import pad_topics
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import GIBBS
from workbench.models.lda import LDA


def _state(name: str, part: type) -> type:
    """Return the type of a hybrid's state: fields of the variational engine, fields of `cgs` by chain, and the priors.

    Topics of tokens of variational pairs are not used.
    """
    types = part.__annotations__ | cgs.State.__annotations__
    names = (*part._fields[:-2], *cgs.State._fields[:-2], *part._fields[-2:])
    return NamedTuple(name, [(field, types[field]) for field in names])


SvbState, CvbState = _state("SvbState", svb.State), _state("CvbState", cvb.State)


def part_of(state: State):
    """Return the module of a hybrid's variational engine: `svb`, or `cvb` for second and for zeroth order."""
    return svb if isinstance(state, SvbState) else cvb


def mean_part(state: State):
    """Return the part of a hybrid's state that belongs to the variational engine, as that engine's state."""
    return part_of(state).State(*state[:-6], *state[-2:])


def chain_of(state: State, s: int) -> cgs.State:
    """Return the sampled part of chain ``s`` as a state of `cgs`; its arrays are views."""
    return cgs.State(*(array[s] for array in state[-6:-2]), *state[-2:])


def totals(state: State, s: int) -> tuple:
    """Return n_dk, n_wk, n_k of chain ``s``, the sums of expected and sampled counts, padded."""
    return state.mean_dk + state.n_dk[s], state.mean_wk + state.n_wk[s], state.mean_k + state.n_k[s]


def threshold_of(options: Options) -> np.int64:
    """Return the largest count of (document, word) pairs that are sampled: the option r as an integer."""
    return (
        EVERY_COUNT if math.isinf(options.r) else np.int64(min(math.floor(options.r), EVERY_COUNT))
    )


def split_of(corpus: Corpus, options: Options) -> Split:
    """Return the split that samples pairs with counts up to the option r."""
    return split_by_count(corpus, threshold_of(options))


def initial(
    corpus: Corpus,
    model: LDA,
    options: Options,
    split: Split,
    n_chains: int,
    context: StepContext,
    warm_start: WarmStart | None,
    part: ModuleType,
):
    """Return the initial state of a hybrid for a given split."""
    chains = [
        cgs.initial_chain(corpus, model, split, context, s, warm_start) for s in range(n_chains)
    ]
    return join_states(
        part.initial_mean(corpus, model, options, split, context, warm_start), chains
    )


def join_states(mean: svb.State | cvb.State, chains: list[cgs.State]) -> State:
    """Return the state of a hybrid from that of its variational engine and those of its chains."""
    chain_arrays = map(stacked, list(zip(*chains, strict=True))[:4])
    return (SvbState if isinstance(mean, svb.State) else CvbState)(
        *mean[:-2], *chain_arrays, *mean[-2:]
    )


def drawn_counts(state: State) -> tuple:
    """Return the sampled counts, each (chain, row, topic), as arguments of the variational engine."""
    return state.n_dk, state.n_wk, state.n_k[:, None]


def merge_statistics(
    expected: SufficientStatistics, sampled: SufficientStatistics
) -> SufficientStatistics:
    """Merge two `SufficientStatistics`: return one with the expected counts of one and the sampled counts of the other."""
    return SufficientStatistics(
        *(
            mean._replace(sampled=sampled_counts.sampled)
            for mean, sampled_counts in zip(expected, sampled, strict=True)
        )
    )


def interleaved_pass(
    corpus: Corpus, split: Split, mean, chain: int, chain_arrays, context: StepContext
) -> tuple[int, dict]:
    """Draw the sampled pairs and update the others in one pass; return how many tokens changed topic, and diagnostics.

    mean : state of `svb` or `cvb`, for the variational pairs; chain : state of `cgs`, one chain; drawn : its counts as
    (chain, …) arrays.
    """
    collapsed = isinstance(mean, cvb.State)
    moments = mean.moments if collapsed else (*mean[:3], None, None, None)
    alpha, n_topics, key = pad_topics(mean.alpha), len(mean.alpha), context.key(GIBBS)
    workspace = collapsed_vb.make_workspace(alpha, n_topics, len(alpha))
    mean_wk, mean_k, beta = with_prior(mean.beta, mean.mean_wk, mean.mean_k)

    results = each_slice(
        visit_in_order,
        slice_bounds(corpus.indptr, len(mean.mean_k)),
        1,
        context.interrupt,
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        split.sampled,
        *chain[:4],
        split.rows,
        mean.gamma,
        mean.mean_dk,
        mean_wk,
        mean_k,
        *moments[3:],
        *chain_arrays,
        alpha,
        beta,
        n_topics,
        key,
        collapsed,
        workspace,
    )
    take_prior_out(mean.beta, mean_wk, mean_k, mean.mean_wk, mean.mean_k)
    info = {"updates": len(mean.gamma)} | (
        {"change": Largest(max(change for _, change in results))} if collapsed else {}
    )
    return sum(n_moved for n_moved, _ in results), info


@kernel
def visit_in_order(
    first: int,
    last: int,
    indptr,
    words,
    counts,
    tokens_before,
    sampled,
    topics,
    n_dk,
    n_wk,
    n_k,
    variational_before,
    kept_gamma,
    mean_dk,
    mean_wk,
    mean_k,
    var_dk,
    var_wk,
    var_k,
    sampled_dk,
    sampled_wk,
    sampled_k,
    alpha,
    beta,
    n_topics: int,
    key,
    collapsed,
    workspace,
):
    """Visit the pairs of documents first..last in canonical order: draw tokens of sampled pairs, update the other pairs.

    Returns how many tokens moved and the largest change of gamma (`collapsed` only).
    """
    words_beta, betas = len(mean_wk) * beta, np.full(len(mean_wk), beta)
    inverse = inverse_sizes(n_k, mean_k, words_beta, 0)
    cumulative, ends, gamma = np.empty(len(mean_k)), np.zeros(ENDS), np.empty(len(mean_k))
    n_moved, largest = 0, 0.0
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            w = words[pair]
            if sampled[pair]:
                n_moved += draw_pair(
                    tokens_before[pair],
                    counts[pair],
                    key,
                    topics,
                    n_dk[d],
                    n_wk[w],
                    n_k,
                    mean_dk[d],
                    mean_wk[w],
                    mean_k,
                    alpha,
                    beta,
                    words_beta,
                    inverse,
                    cumulative,
                    ends,
                )
                continue
            if collapsed:
                change = collapsed_vb.update_pair(
                    d,
                    w,
                    counts[pair],
                    mean_dk,
                    mean_wk,
                    mean_k,
                    var_dk,
                    var_wk,
                    var_k,
                    sampled_dk,
                    sampled_wk,
                    sampled_k,
                    alpha,
                    betas,
                    words_beta,
                    n_topics,
                    kept_gamma,
                    variational_before[pair],
                    workspace,
                )
                largest = max(largest, change)
            else:
                standard_vb.update_pair(
                    d,
                    w,
                    counts[pair],
                    mean_dk,
                    mean_wk,
                    mean_k,
                    sampled_dk,
                    sampled_wk,
                    sampled_k,
                    alpha,
                    beta,
                    n_topics,
                    kept_gamma,
                    variational_before[pair],
                    False,
                    gamma,
                )
            inverse = inverse_sizes(n_k, mean_k, words_beta, 0)
    return n_moved, largest
