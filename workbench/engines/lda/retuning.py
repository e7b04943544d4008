"""Change of a hybrid's count threshold r during a run: averaged pairs become sampled, or sampled pairs averaged.

A token that was sampled, and still is, keeps its topic. All else is made anew from the total counts n, as a run that starts
from the counts of another makes it (`kernels.lda.initial_topics`): a pair that is averaged from now on has the responsibility
~ (alpha_k + n_dk) (beta + n_wk) / (W beta + n_k), and a token that is sampled from now on a topic that is drawn from it.
"""

from collections.abc import Callable, Generator
from dataclasses import replace
from types import ModuleType

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    Meeting,
    Options,
    Phase,
    State,
    StepContext,
    WarmStart,
    arrays_of,
    step_of,
)
from workbench.engines.lda import cgs
from workbench.engines.lda.hybrid_state import join_states, part_of, split_of, totals
from workbench.engines.lda.hyperparameters import retune
from workbench.kernels.uniforms import TOPICS
from workbench.models import LDA


def retune_with(part: ModuleType, chains_of: Callable) -> Callable:
    """Return the `retune` of a hybrid whose variational engine is the module ``part``.

    chains_of : (corpus, options, context) -> the number of chains
    """

    def work(
        corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
    ) -> Generator:
        state, _ = retune(corpus, model, options, state, context)
        if "r" not in context.changed:
            return state, {}
        split, old_split = (
            split_of(corpus, run_options)
            for run_options in (options, replace(options, r=context.changed["r"]))
        )
        was_sampled = np.repeat(old_split.sampled, corpus.counts)
        current_model = replace(model, alpha=tuple(map(float, state.alpha)))
        if np.ndim(state.beta) == 0:
            current_model = replace(current_model, beta=float(state.beta))
        live, n_before = slice(model.n_topics), len(state.topics)
        starts = [_start_of(state, s, live) for s in range(n_before)]
        chains = []
        for s in range(chains_of(corpus, options, context)):
            start, old_topics = starts[s % n_before], state.topics[s % n_before]
            new_topics = cgs.initial_topics(corpus, current_model, context.key(TOPICS, s), start)
            topics = np.where(was_sampled, old_topics, new_topics)
            chains.append(
                cgs.initial_chain(
                    corpus, current_model, split, context, s, start._replace(topics=topics)
                )
            )
        n_dk, n_kw = (
            np.mean(counts, axis=0)
            for counts in zip(
                *((chain_start.n_dk, chain_start.n_kw) for chain_start in starts), strict=True
            )
        )
        mean = part.initial_mean(
            corpus, current_model, options, split, context, WarmStart(n_kw, n_dk)
        )
        new_state = join_states(mean, chains)
        state, _ = yield Meeting(
            new_state, arrays_of(new_state, *part_of(new_state).COUNTS, "n_wk", "n_k")
        )
        # of several parts the changes of the priors have been added up
        return retune(corpus, model, options, state, context)

    return step_of(Phase(work, lambda options: True))


def _start_of(state: State, s: int, live: slice) -> WarmStart:
    """Return the total counts of chain ``s``, expected plus sampled, as a `WarmStart`."""
    n_dk, n_wk, _ = totals(state, s)
    return WarmStart(n_wk[:, live].T, n_dk[:, live])
