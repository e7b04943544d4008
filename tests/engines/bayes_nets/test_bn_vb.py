"""Variational Bayes and CVB0 of Bayesian networks: the oracles' trajectories, a bound that never falls, LDA as a network."""

import numpy as np
import pytest
from bayes_net_twins import (
    ORACLES,
    completions,
    families,
    flat,
    joint_states,
    net_of,
    random_net,
    swept,
)
from scipy.special import logsumexp
from stepping import states, stepped

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.bayes_nets import bn_cvb0, bn_vb
from workbench.engines.bayes_nets.cases import cases_within
from workbench.engines.engine import NoOptions, StepContext
from workbench.engines.options import make_options
from workbench.models import LDA
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node
from workbench.records import Records


def bound(net, records, state):
    return bn_vb.watch(records, net, NoOptions(), state)["bound"]


@pytest.mark.parametrize("name", ["naive_bayes", "two_parent"])
def test_bn_vb_follows_the_oracle(name):
    oracle = ORACLES[name]
    net, records = net_of(oracle)
    visited = swept(
        bn_vb, net, records, NoOptions(), 400, counts=flat(net, oracle["svb"]["counts0"])
    )
    for n_sweeps, counts in oracle["svb"]["counts_after"].items():
        np.testing.assert_allclose(visited[int(n_sweeps)].counts, flat(net, counts), rtol=1e-10)
        assert bound(net, records, visited[int(n_sweeps)]) == pytest.approx(
            oracle["svb"]["F_after"][n_sweeps], rel=1e-10
        )
    assert bound(net, records, visited[-1]) == pytest.approx(oracle["svb"]["F_final"], rel=1e-9)


def test_missing_cells_that_are_summed_out_give_a_tighter_bound():
    """-15.685 instead of -15.790 from the same start."""
    oracle = ORACLES["naive_bayes"]
    net, records = net_of(oracle, "marginalised")
    last = swept(bn_vb, net, records, NoOptions(), 400, counts=flat(net, oracle["svb"]["counts0"]))[
        -1
    ]
    assert (
        oracle["svb"]["F_final"] + 0.1 < bound(net, records, last) < oracle["exact"]["log_evidence"]
    )


@pytest.mark.parametrize("missing", ["marginalised", "imputed"])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_never_falls_and_is_at_most_the_evidence(seed, missing):
    net, records = random_net(seed, n_nodes=4, n_cases=3, tied=seed % 2 == 1, missing=missing)
    values = np.repeat(net.values(records), records.multiplicities, axis=0)
    evidence = logsumexp(
        [log_p for _, log_p in joint_states(net, values[np.any(values >= 0, axis=1)])]
    )
    found = [
        bound(net, records, state)
        for state in swept(bn_vb, net, records, NoOptions(), 40, seed)[1:]
    ]
    assert np.all(np.diff(found) > -1e-12 * abs(found[0])) and found[-1] <= evidence + 1e-10


def test_the_bound_is_the_evidence_where_nothing_is_hidden():
    net = BayesNet("two", (Node("a", 2), Node("b", 3, ("a",), 0.7)))
    records = Records(
        np.array([[0, 1], [1, 2], [1, 0]]),
        np.array([2, 1, 4]),
        ("a", "b"),
        (("0", "1"), ("0", "1", "2")),
    )
    values = np.repeat(net.values(records), records.multiplicities, axis=0)
    exact = next(joint_states(net, values))[1]
    assert bound(net, records, swept(bn_vb, net, records, NoOptions(), 1)[1]) == pytest.approx(
        exact, rel=1e-12
    )


def lda_as_records(seed):
    """Return a corpus of LDA, the network d -> z -> x with d given, and the corpus as its records."""
    random = np.random.default_rng(seed)
    values = np.unique(
        np.column_stack([random.integers(5, size=40), random.integers(8, size=40)]), axis=0
    )
    counts = random.integers(1, 5, len(values))
    corpus = Corpus.from_pairs(values[:, 0], values[:, 1], counts, n_documents=5, n_words=8)
    nodes = (Node("d", 5, given=True), Node("z", 3, ("d",), 0.3), Node("x", 8, ("z",), 0.2))
    names = tuple(map(str, range(8)))
    records = Records(values, counts, ("d", "x"), (names[:5], names))
    return corpus, BayesNet("lda", nodes), records


def test_lda_as_a_network_is_svb():
    """50 parallel sweeps from the same counts."""
    corpus, net, records = lda_as_records(2)
    lda, model = get_engine("svb"), LDA(3, 0.3, 0.2)
    options = make_options(lda, {"schedule": "parallel", "init": "dirichlet"})
    theirs = lda.init(corpus, model, options, StepContext(0, 0))

    def flat_counts():
        found = lda.counts(corpus, model, options, theirs)
        return np.concatenate([found["n_dk"].ravel(), found["n_kw"].ravel()])

    ours = bn_vb.init(records, net, NoOptions(), StepContext(0, 0))._replace(counts=flat_counts())
    theirs = stepped(lda, corpus, model, options, 50, state=theirs)
    ours = stepped(bn_vb, records, net, NoOptions(), 50, state=ours)
    np.testing.assert_allclose(ours.counts, flat_counts(), rtol=1e-9, atol=1e-12)
    their_bound = lda.watch(corpus, model, options, theirs)["bound"]
    assert bound(net, records, ours) == pytest.approx(their_bound, rel=1e-9)


# ---------------------------------------------------------------------- CVB0


def posterior(net, case, q, counted) -> np.ndarray:
    """(table cell,) expected counts of the families of one case given cells in proportion to probabilities."""
    rows = net.tables.sum_rows(q)[net.tables.row_of]
    found, weights = np.zeros(net.tables.n_cells), []
    every = [
        [cell for i, cell in enumerate(families(net, each)) if i in counted]
        for each in completions(net, case)
    ]
    weights = np.array([np.prod([q[cell] / rows[cell] for cell in cells]) for cells in every])
    for weight, cells in zip(weights / weights.sum(), every, strict=True):
        np.add.at(found, cells, weight)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_bn_cvb0_follows_a_plain_twin(seed):
    """Of all families of a record, hidden or not: those of observed nodes count as 1 before and after."""
    net, records = random_net(seed, n_nodes=5, n_cases=9, tied=seed % 2 == 1, missing="imputed")
    state = bn_cvb0.init(records, net, NoOptions(), StepContext(seed, 0))
    cases = cases_within(records, net)
    weights, nodes = cases.weights, set(range(len(net.nodes)))
    start = net.tables.means(bn_cvb0.initial_counts(net.tables, StepContext(seed, 0)))
    own = [posterior(net, case, start, nodes) for case in cases.values]
    for step in range(1, 4):
        state, _ = bn_cvb0.step(records, net, NoOptions(), state, StepContext(seed, step))
        for i, case in enumerate(cases.values):
            total = sum(n * each for n, each in zip(weights, own, strict=True))
            own[i] = posterior(net, case, net.tables.alpha + total - own[i], nodes)
        total = sum(n * each for n, each in zip(weights, own, strict=True))
        np.testing.assert_allclose(state.counts, total, rtol=1e-9, atol=1e-12)


def test_lda_as_a_network_is_cvb0():
    corpus, net, records = lda_as_records(1)
    lda, model = get_engine("cvb0"), LDA(3, 0.3, 0.2)
    options = lda.options()
    gamma = lda.init(corpus, model, options, StepContext(0, 0)).gamma
    begun = bn_cvb0.init(records, net, NoOptions(), StepContext(0, 0))
    begun = begun._replace(own=np.ascontiguousarray(np.asarray(gamma)[:, :3]).ravel())
    for ours, theirs in zip(
        states(bn_cvb0, records, net, NoOptions(), 30, state=begun),
        states(lda, corpus, model, options, 30),
        strict=True,
    ):
        found = lda.counts(corpus, model, options, theirs)
        np.testing.assert_allclose(
            ours.counts, [*found["n_dk"].ravel(), *found["n_kw"].ravel()], rtol=1e-9, atol=1e-12
        )
