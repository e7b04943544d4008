"""The hybrid of networks: its limits, LDA, plain twins, what it counts and what is odd."""

import math
from collections import Counter

import network_twins as twins
import numpy as np
import pytest
from engines.networks.states import (
    NETWORKS,
    learning,
    level_rows,
    odd_corpus,
    paths_in,
    places_of_paths,
    rows_of_counts,
    rows_of_state,
    with_authors,
)
from scipy.special import logsumexp, xlogy
from stepping import copied
from stepping import steps as engine_steps
from toys import every_pair, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.networks import gibbs as network_gibbs
from workbench.engines.networks import hybrid as network_hybrid
from workbench.engines.networks.hybrid import chain_of, mean_part, totals
from workbench.engines.options import make_options
from workbench.kernels.uniforms import TOPICS

ENGINE, VB, GIBBS = (get_engine(f"network-{name}") for name in ("hybrid", "vb", "gibbs"))
LEARNING = {"learn_after": 2, "learn_every": 3}
SOME = {
    name: NETWORKS[name]
    for name in ("lda", "author-topic", "pachinko", "hpam1", "hpam2", "authors-by-region")
}
some_networks = pytest.mark.parametrize("network", SOME.values(), ids=SOME)


def options_of(engine=ENGINE, **given):
    return make_options(engine, given)


def steps(corpus, network, n, options, seed=7, engine=ENGINE):
    *_, last = engine_steps(engine, corpus, network, options, n, seed)
    return last


def same_answers(network, corpus, engine, options, state, other_engine, other_options, other):
    """Everything that is read off a state is the same to the bit."""
    found = ENGINE.counts(corpus, network, options, state)
    for name, values in found.items():
        assert np.array_equal(
            values, other_engine.counts(corpus, network, other_options, other)[name]
        )
    pairs = every_pair(corpus)
    p, q = (
        e.predict(corpus, network, o, s, pairs)
        for e, o, s in ((engine, options, state), (other_engine, other_options, other))
    )
    assert np.array_equal(p, q)
    watched, wanted = (
        engine.watch(corpus, network, options, state),
        other_engine.watch(corpus, network, other_options, other),
    )
    assert watched["objective"] == wanted["bound" if other_engine is VB else "log_joint"]
    assert np.array_equal(watched["n_k"], wanted["n_k"])
    assert np.array_equal(state.alphas, other.alphas)


@some_networks
@pytest.mark.parametrize(
    ("given", "engine", "its_given", "part"),
    [
        ({"r": 0, "n_chains": 2, "n_inner": 3}, VB, {"n_inner": 3}, mean_part),
        ({"r": "inf"}, GIBBS, {}, lambda state: chain_of(state, 0)),
    ],
    ids=["variational Bayes", "Gibbs sampling"],
)
def test_at_its_ends_r_is_another_engine(network, given, engine, its_given, part):
    network, corpus = learning(network), odd_corpus()
    options, of_other = options_of(**given, **LEARNING), options_of(engine, **its_given, **LEARNING)
    state, info = steps(corpus, network, 9, options)
    other, its_info = steps(corpus, network, 9, of_other, engine=engine)
    assert math.isnan(info["moved"]) if engine is VB else info == its_info
    for mine, its in zip(part(state), other, strict=True):
        assert np.array_equal(mine, its)
    same_answers(network, corpus, ENGINE, options, state, engine, of_other, other)


# ---------------------------------------------------------------------- against plain twins


def rows_of_chain(network, corpus, state, s) -> dict:
    """xi of each row for one chain, as the twins name rows."""
    return rows_of_state(network, corpus, totals(state, s))


def sampled_counts(network, corpus, state, s, r, but=None) -> Counter:
    """Of the sampled tokens of a chain, one of them apart or not."""
    counts, token = Counter(), 0
    chosen = paths_in(network, corpus, chain_of(state, s))
    for count in corpus.counts.tolist():
        for i in range(token, token + count):
            if count <= r and i != but:
                twins.added(counts, chosen[i])
        token += count
    return counts


@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_a_pass_given_sampled_counts_is_that_of_paths_walked_one_by_one(network, n_chains):
    corpus, r = odd_corpus(), 1
    options = options_of(n_chains=n_chains)
    before, _ = steps(corpus, network, 3, options)
    before = copied(before)
    state, _ = ENGINE.step(corpus, network, options, copied(before), StepContext(7, 4))
    beside = before._replace(
        **{name: getattr(state, name) for name in ("places", "n_own", "n_rest", "n_wk", "n_k")}
    )
    of_chains, responsible, entropy = (
        [rows_of_chain(network, corpus, beside, s) for s in range(n_chains)],
        [],
        0.0,
    )
    pairs = list(
        zip(corpus.documents.tolist(), corpus.words.tolist(), corpus.counts.tolist(), strict=True)
    )
    for d, w, n in pairs:
        paths = twins.paths_of_token(network, corpus, d, w)
        scores = np.mean(
            [
                [
                    sum(twins.log_mean(network, corpus, xi, cell) for cell in path.cells)
                    for path in paths
                ]
                for xi in of_chains
            ],
            axis=0,
        )
        responsible.append(np.exp(scores - logsumexp(scores)) * (n > r))
        entropy -= n * xlogy(responsible[-1], responsible[-1]).sum()
    counts = twins.expected_counts(network, corpus, responsible)
    assert state.entropy == pytest.approx(entropy, rel=1e-7, abs=1e-7)
    mean = network_gibbs.Counts(*state[:4])
    for level, expected in rows_of_counts(network, corpus, counts):
        found = level_rows(network, mean, level)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
    joints = []
    for s in range(n_chains):
        whole = Counter(counts)
        whole.update(sampled_counts(network, corpus, state, s, r))
        joints.append(twins.log_joint_of(network, corpus, whole))
    found = ENGINE.watch(corpus, network, options, state)["objective"]
    assert found == pytest.approx(np.mean(joints) + entropy, rel=1e-7, abs=1e-7)


@some_networks
def test_a_sampled_token_is_drawn_from_its_conditional_beside_expected_counts(network):
    # a power of 2, so that shares sum to 1
    corpus, options, r, n_draws = odd_corpus(), options_of(), 1, 2048
    state, _ = steps(corpus, network, 3, options)
    state = copied(state)
    pair = int(np.flatnonzero(corpus.counts <= r)[0])
    token, d, w = (
        int(corpus.tokens_before[pair]),
        int(corpus.documents[pair]),
        int(corpus.words[pair]),
    )
    counts = Counter()
    for row, xi in rows_of_state(network, corpus, network_gibbs.Counts(*state[:4])).items():
        for value, n in enumerate(xi - twins.prior_of(network, row, corpus.n_words)):
            counts[row, value] += n
            counts[row] += n
    counts.update(sampled_counts(network, corpus, state, 0, r, but=token))
    weights = np.array(
        [
            twins.weight(network, corpus, counts, path)
            for path in twins.paths_of_token(network, corpus, d, w)
        ]
    )
    expected, drawn = weights / weights.sum(), Counter()
    for seed in range(n_draws):
        here = copied(state)
        network_hybrid.sweep_chains(corpus, network, options, here, StepContext(seed, 1))
        drawn[int(here.places[0, token])] += 1
    share = np.array([drawn[place] for place in places_of_paths(network, corpus, d, w)]) / n_draws
    assert share.sum() == 1
    assert np.all(
        np.abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / n_draws) + 1e-9
    )


# ---------------------------------------------------------------------- what is counted, and what is odd


@some_networks
def test_sampled_counts_stay_those_of_the_paths_of_tokens(network):
    corpus, options = with_authors(simulated()), options_of(n_chains=2)
    state, _ = steps(corpus, network, 12, options)
    for s in range(2):
        counts = sampled_counts(network, corpus, state, s, 1)
        for level, expected in rows_of_counts(network, corpus, counts):
            assert np.array_equal(level_rows(network, chain_of(state, s), level), expected)


@some_networks
@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (np.inf, 1), (0, np.inf), (1, 0)])
def test_where_r_is_turned_tokens_that_stay_sampled_keep_their_paths(network, before, after):
    corpus = with_authors(simulated())
    old, new = (options_of(r=r, n_chains=2) for r in (before, after))
    state, _ = steps(corpus, network, 3, old)
    places, of_token = state.places.copy(), np.repeat(corpus.counts, corpus.counts)
    context, counts = (
        StepContext(7, 4, changed={"r": before}),
        ENGINE.counts(corpus, network, old, state),
    )
    state, _ = ENGINE.retune(corpus, network, new, state, context)
    start = WarmStart(counts["n_kw"], counts["n_dk"])
    drawn = network_gibbs.initial_places(corpus, network, context.key(TOPICS), start)
    new, kept = (of_token > before) & (of_token <= after), of_token <= min(before, after)
    assert np.array_equal(state.places[0][new], drawn[new])
    assert len(state.places) == (2 if after else 1)
    for s, chain in enumerate(state.places):
        assert np.array_equal(chain[kept], places[s % len(places)][kept])
        rows = network_gibbs.rows_of_tokens(network, chain_of(state, s))[of_token <= after]
        assert np.array_equal(np.bincount(rows, minlength=len(state.n_k[s])), state.n_k[s])
        assert totals(state, s).n_k.sum() == pytest.approx(corpus.n_tokens, rel=1e-12)
    assert state.mean_k.sum() == pytest.approx(corpus.counts[corpus.counts > after].sum(), abs=1e-9)
