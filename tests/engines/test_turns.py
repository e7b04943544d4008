"""Geweke's test of samplers: data and states drawn in turns have the law of data and states drawn from the prior.

Geweke (2004), "Getting it right". Priors, tiny data and statistics are those of the rank tests (`campaigns/truths.py`).
"""

from functools import partial

import numpy as np
import pytest
from campaigns.truths import (
    BETA,
    LENGTHS,
    MORE,
    N_WORDS,
    SEQUENCE,
    SIZES,
    SOFTMAX,
    YEARS,
    counts_of,
    draw_words,
    log_probabilities,
)
from geweke import assert_same_expectations
from toys import corpus_of_table, dense

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import split_options


def other_words(random, corpus, model, state, given=None):
    """The corpus with words drawn anew given the topics of the state, whose counts follow."""
    corpus, state.topics[:] = draw_words(random, LENGTHS, N_WORDS, BETA * N_WORDS, state.topics)
    n_dk, n_kw = counts_of(corpus, state.topics, state.n_k.size)
    state.n_dk[:], state.n_wk[:], state.n_k[:] = n_dk, n_kw.T, n_kw.sum(axis=1)
    return corpus_of_table(dense(corpus), times=given) if given else corpus


def other_symbols(log_p, random, corpus, model, state):
    """The sequences with counts drawn anew given the states."""
    psi = state.states @ state.loadings.T + model.offset_of(corpus)
    return corpus_of_table(random.multinomial(SIZES, np.exp(log_p(psi))), sequence=SEQUENCE)


def other_emissions(random, corpus, model, state):
    emissions = np.exp(state.log_emissions).T[state.states.astype(int)]
    return corpus_of_table(random.multinomial(SIZES, emissions), sequence=SEQUENCE)


DATED = partial(other_words, given=tuple(1990 + YEARS))
DATA = {
    "sb-ctm": other_words,
    "sb-ctm, topics drawn": other_words,
    "ln-ctm": other_words,
    "sb-ctm-lds, own": DATED,
    "sb-ctm-lds, shared": DATED,
    "hmm": other_emissions,
    "sbm-lds": partial(other_symbols, log_probabilities),
    "lnm-lds": partial(other_symbols, SOFTMAX),
}
"""Of each sampler, the function that draws its data anew given a state."""
COSTLY = ("sb-ctm-lds, own", "sbm-lds", "lnm-lds")
"""Samplers whose chain takes many seconds."""


def in_turns(name: str, n_sweeps: int) -> tuple[np.ndarray, np.ndarray]:
    """(draw, statistic) of a chain, and of draws from the prior; each as its rank among the latter."""
    case, random = MORE[name], np.random.default_rng(0)
    independent = np.array([case.draw(seed)[2] for seed in range(3000)])
    data, model, _ = case.draw(3000)
    engine, chain = get_engine(case.engine), []
    _, options = split_options(engine, case.options)
    state = engine.init(data, model, options, StepContext(0, 0))
    for sweep in range(1, n_sweeps + 1):
        state, _ = engine.step(data, model, options, state, StepContext(0, sweep))
        data = DATA[name](random, data, model, state)
        chain.append(case.look(data, engine, model, options, state))
    sorted_prior = np.sort(independent, axis=0).T
    return tuple(
        np.transpose([np.searchsorted(*pair) for pair in zip(sorted_prior, rows.T, strict=True)])
        for rows in (np.array(chain)[n_sweeps // 10 :], independent)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in COSTLY)) for name in DATA]
)
def test_data_and_states_in_turns_have_the_law_of_the_prior(name):
    assert_same_expectations(*in_turns(name, 6_000))
