"""The state of a hybrid: that of its variational engine beside that of `cgs`, how both begin, and what each gives the other."""

import math
from types import ModuleType
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import Options, State, StepContext, WarmStart, stacked
from workbench.engines.lda import cgs, cvb, svb
from workbench.engines.lda.hyperparameters import SufficientStatistics
from workbench.engines.lda.split import EVERY_COUNT, Split, split_by_count
from workbench.models.lda import LDA


def _state(name: str, part: type) -> type:
    """Return the type of a hybrid's state: a variational engine's fields, those of `cgs` by chain, then the priors.

    Topics of the tokens of variational pairs are not used.
    """
    types = part.__annotations__ | cgs.State.__annotations__
    names = (*part._fields[:-2], *cgs.State._fields[:-2], *part._fields[-2:])
    return NamedTuple(name, [(field, types[field]) for field in names])


SvbState, CvbState = _state("SvbState", svb.State), _state("CvbState", cvb.State)


def part_of(state: State):
    """Return the module of the variational engine of a hybrid's state; `cvb` for `cvb0` too."""
    return svb if isinstance(state, SvbState) else cvb


def mean_part(state: State):
    """Return the state of the variational engine within that of a hybrid."""
    return part_of(state).State(*state[:-6], *state[-2:])


def chain_of(state: State, s: int) -> cgs.State:
    """Return the sampled part of one chain (for views)."""
    return cgs.State(*(array[s] for array in state[-6:-2]), *state[-2:])


def totals(state: State, s: int) -> tuple:
    """Return n_dk, n_wk, n_k of one chain: expected plus sampled counts, padded."""
    return state.mean_dk + state.n_dk[s], state.mean_wk + state.n_wk[s], state.mean_k + state.n_k[s]


def threshold_of(options: Options) -> np.int64:
    """Return the largest count of a sampled pair."""
    return (
        EVERY_COUNT if math.isinf(options.r) else np.int64(min(math.floor(options.r), EVERY_COUNT))
    )


def split_of(corpus: Corpus, options: Options) -> Split:
    """Return the split by the option r."""
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
    """Return the initial state under a split."""
    chains = [
        cgs.initial_chain(corpus, model, split, context, s, warm_start) for s in range(n_chains)
    ]
    mean = part.initial_mean(corpus, model, options, split, context, warm_start)
    state = SvbState if part is svb else CvbState
    drawn = map(stacked, list(zip(*chains, strict=True))[:4])
    return state(*mean[:-2], *drawn, *mean[-2:])


def drawn_counts(state: State) -> tuple:
    """Return the sampled counts (chain, row, topic) as input of the variational engines."""
    return state.n_dk, state.n_wk, state.n_k[:, None]


def averaged_moments(options: Options, state: State) -> tuple:
    """Return the means of the counts of averaged pairs, and their variances; None unless tokens are drawn with variances."""
    return (
        state[:6] if getattr(options, "cg_second_order", False) else (*state[:3], None, None, None)
    )


def together(expected: SufficientStatistics, sampled: SufficientStatistics) -> SufficientStatistics:
    """Return expected counts and sampled counts along one dim."""
    return SufficientStatistics(
        *(
            mean._replace(sampled=drawn.sampled)
            for mean, drawn in zip(expected, sampled, strict=True)
        )
    )
