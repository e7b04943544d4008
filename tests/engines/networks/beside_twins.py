"""Checks of engines of networks beside enumeration and plain loops, for any toy."""

import network_twins as twins
import numpy as np
import pytest
from engines.networks.states import places_of_paths, rows_of_state
from engines.networks.test_cvb0 import bound, responsibilities, twin_sweep
from stepping import states, stepped, steps

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options

GIBBS, CVB0, VB = map(get_engine, ("network-gibbs", "network-cvb0", "network-vb"))


def assert_chains_follow_the_posterior(network, corpus, n_sweeps=6000, n_batches=30) -> None:
    """Tokens are on each path as often as the enumeration says, and never on another."""
    exact, options = twins.exact(network, corpus), make_options(GIBBS, {})
    begun = stepped(GIBBS, corpus, network, options, 20, seed=3)
    visited = states(GIBBS, corpus, network, options, n_sweeps, seed=5, state=begun, first=0)
    seen = np.array([state.places.copy() for state in visited])
    for i, (d, w, _) in enumerate(twins.tokens_of(corpus)):
        places = places_of_paths(network, corpus, d, w)
        visits = (seen[:, i, None] == places).reshape(n_batches, -1, len(places)).mean(axis=1)
        assert visits.sum() == pytest.approx(n_batches)
        # between batches longer than the chain remembers
        error = visits.std(axis=0, ddof=1) / np.sqrt(n_batches)
        assert np.all(np.abs(visits.mean(axis=0) - exact.posteriors[i]) < 5 * error + 2e-3)


def assert_cvb0_updates_as_plain_loops(network, corpus) -> None:
    """Responsibilities and the bound are those of plain loops, sweep by sweep."""
    options = make_options(CVB0, {})
    state = CVB0.init(corpus, network, options, StepContext(7, 0))
    responsible = responsibilities(network, corpus, state)
    assert all(q.sum() == pytest.approx(1.0) for q in responsible)
    for step in range(1, 6):
        state = stepped(CVB0, corpus, network, options, 1, seed=7, state=state, first=step)
        twin_sweep(network, corpus, responsible)
        for q, wanted in zip(responsibilities(network, corpus, state), responsible, strict=True):
            np.testing.assert_allclose(q, wanted, rtol=0, atol=1e-10)
        found = CVB0.watch(corpus, network, options, state)["bound"]
        assert found == pytest.approx(bound(network, corpus, responsible), rel=1e-10)


def assert_vb_rests_below_the_evidence(network, corpus, n_sweeps: int) -> None:
    """The bound never falls, and ends at a fixed point of plain updates, below the exact evidence."""
    options, bounds = make_options(VB, {"init": "dirichlet"}), []
    for state, _ in steps(VB, corpus, network, options, n_sweeps, seed=7):
        bounds.append(VB.watch(corpus, network, options, state)["bound"])
    assert np.diff(bounds).min() > -1e-9
    xi = {
        row: np.where(values > 0, values, 1e-300)
        for row, values in rows_of_state(network, corpus, state).items()
    }
    responsible = twins.responsibilities(network, corpus, xi)
    counts = twins.expected_counts(network, corpus, responsible)
    for row, values in xi.items():
        prior = twins.prior_of(network, row, corpus.n_words, corpus)
        wanted = prior + [counts[row, value] for value in range(len(prior))]
        np.testing.assert_allclose(values, wanted, atol=1e-5)
    joint = twins.log_joint_of(network, corpus, counts)
    entropy = -sum(
        n * np.sum(q * np.log(np.maximum(q, 1e-300)))
        for n, q in zip(corpus.counts, responsible, strict=True)
    )
    assert bounds[-1] == pytest.approx(joint + entropy, abs=1e-6)
    assert bounds[-1] < twins.exact(network, corpus).log_evidence
