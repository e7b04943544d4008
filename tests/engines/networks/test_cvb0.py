"""CVB0 of networks: a plain twin, LDA, what is counted, kept and told, what is odd."""

import network_twins as twins
import numpy as np
import pytest
from engines.networks.states import (
    NETWORKS,
    level_rows,
    odd_corpus,
    places_of_paths,
    rows_of_counts,
    with_authors,
)
from scipy.special import xlogy
from stepping import stepped
from toys import simulated
from twins import pairs_of

from workbench.engines import get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.lda import cvb
from workbench.engines.networks import cvb0 as network_cvb0
from workbench.engines.networks.cvb0 import begins_of
from workbench.engines.networks.paths import paths_of
from workbench.engines.options import make_options
from workbench.models import LDA

ENGINE = get_engine("network-cvb0")
PLAIN = make_options(ENGINE, {})


def begun(corpus, network, options=PLAIN, seed=7, start=None):
    return ENGINE.init(corpus, network, options, StepContext(seed, 0), start)


def steps(corpus, network, state, n, options=PLAIN, first=1):
    return stepped(ENGINE, corpus, network, options, n, seed=7, state=state, first=first)


def responsibilities(network, corpus, state) -> list:
    """Of each pair, (path,), paths in the order of the twins."""
    begins = begins_of(corpus, network)
    return [
        state.gamma[begins[i] + np.array(places_of_paths(network, corpus, d, w))]
        for i, (d, w, _) in enumerate(pairs_of(corpus))
    ]


def twin_sweep(network, corpus, responsible) -> None:
    """Every pair in turn, in place: one copy taken out, weighed by D.4, and the counts moved along."""
    counts = twins.expected_counts(network, corpus, responsible)
    for i, (d, w, n) in enumerate(pairs_of(corpus)):
        paths, old = twins.paths_of_token(network, corpus, d, w), responsible[i]
        for path, q in zip(paths, old, strict=True):
            twins.added(counts, path, -q)
        new = np.array([twins.weight(network, corpus, counts, path) for path in paths])
        new /= new.sum()
        for path, q, was in zip(paths, new, old, strict=True):
            twins.added(counts, path, n * q - (n - 1) * was)
        responsible[i] = new


def bound(network, corpus, responsible) -> float:
    """F of these responsibilities at the best xi, term by term."""
    found = twins.log_joint_of(network, corpus, twins.expected_counts(network, corpus, responsible))
    return found - sum(
        n * xlogy(q, q).sum() for (*_, n), q in zip(pairs_of(corpus), responsible, strict=True)
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_sweeps_are_those_of_paths_walked_one_by_one(name):
    network, corpus = NETWORKS[name], odd_corpus()
    # rounding of counts, 1e-16 to 1e-15, weighs 1e-7 of such a prior
    close = 1e-6 if "1e-08" in repr(network) else 1e-10
    state = begun(corpus, network)
    responsible = responsibilities(network, corpus, state)
    assert all(q.sum() == pytest.approx(1.0) for q in responsible)
    for step in range(1, 6):
        state = steps(corpus, network, state, 1, first=step)
        twin_sweep(network, corpus, responsible)
        for q, wanted in zip(responsibilities(network, corpus, state), responsible, strict=True):
            np.testing.assert_allclose(q, wanted, rtol=0, atol=close)
        counts = twins.expected_counts(network, corpus, responsible)
        for level, expected in rows_of_counts(network, corpus, counts):
            found = level_rows(network, state, level)
            np.testing.assert_allclose(found, expected, rtol=0, atol=20 * close)
        found = ENGINE.watch(corpus, network, PLAIN, state)["bound"]
        assert found == pytest.approx(
            bound(network, corpus, responsible), rel=close, abs=100 * close
        )


def test_network_cvb0_starts_from_the_counts_of_another_run_as_cvb0_does():
    corpus, network, lda = simulated(), twins.lda(4, 0.3, 0.2), LDA(4, 0.3, 0.2)
    cvb0, rng = get_engine("cvb0"), np.random.default_rng(3)
    start = WarmStart(
        rng.gamma(1.0, size=(4, corpus.n_words)), rng.gamma(1.0, size=(corpus.n_documents, 4))
    )
    other = cvb0.init(corpus, lda, cvb.Options(), StepContext(7, 0), start)
    np.testing.assert_allclose(begun(corpus, network, start=start).n_wk, other.mean_wk, atol=1e-12)


def test_recount_changes_nothing_but_rounding():
    corpus, network = with_authors(simulated(40, 30, 25)), NETWORKS["authors-by-region"]
    state = steps(corpus, network, begun(corpus, network), 20)
    kept = [counts.copy() for counts in state[:4]]
    network_cvb0.recount(corpus, network, state)
    for counts, afresh in zip(kept, state[:4], strict=True):
        np.testing.assert_allclose(counts, afresh, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", ["author-topic", "hpam1"])
def test_memory_is_told_to_the_responsibility(name, precision):
    corpus, network = odd_corpus(), NETWORKS[name]
    options = make_options(ENGINE, {"precision": precision})
    state = begun(corpus, network, options)
    authors = np.array(
        [max(len(names), 1) if name == "author-topic" else 1 for names in corpus.authors]
    )
    assert len(state.gamma) == authors[corpus.documents].sum() * paths_of(network).n_lanes
    assert state.gamma.nbytes < ENGINE.memory(corpus, network, options).state
    assert ENGINE.memory(corpus, network, options).state >= sum(array.nbytes for array in state[:5])
