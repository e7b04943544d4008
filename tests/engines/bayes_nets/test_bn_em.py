"""Expectation maximisation of Bayesian networks: the likelihood, its maximum, hmmlearn from the same start."""

import importlib.util

import numpy as np
import pytest
from bayes_net_twins import ORACLES, enumerated, net_of, random_net
from missing import skip_without

from workbench.engines.bayes_nets import bn_em, bn_vb
from workbench.engines.bayes_nets.bn_em import Options, estimated
from workbench.engines.engine import NoOptions, StepContext
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node
from workbench.records import Records


def swept(net, records, n_sweeps, theta=None, seed=0):
    """The states after 0, 1, … iterations."""
    state = bn_em.init(records, net, Options(), StepContext(seed, 0))
    states = [state if theta is None else state._replace(theta=theta)]
    for step in range(1, n_sweeps + 1):
        states.append(bn_em.step(records, net, Options(), states[-1], StepContext(seed, step))[0])
    return states


def log_likelihood(net, records, state):
    return bn_em.watch(records, net, Options(), state)["log_likelihood"]


@pytest.mark.parametrize("missing", ["marginalised", "imputed"])
@pytest.mark.parametrize("seed", range(6))
def test_the_likelihood_is_that_by_enumeration_and_never_falls(seed, missing):
    net, records = random_net(seed, n_nodes=5, n_cases=6, tied=seed % 2 == 1, missing=missing)
    states = swept(net, records, 60, seed=seed)
    found = [log_likelihood(net, records, state) for state in states]
    assert np.all(np.diff(found) > -1e-12 * abs(found[0]))
    for state in (states[0], states[-1]):
        exact = sum(
            n * enumerated(net, case, state.theta, [])[0]
            for case, n in zip(net.values(records), records.multiplicities, strict=True)
            if np.any(case >= 0)
        )
        assert log_likelihood(net, records, state) == pytest.approx(exact, rel=1e-11)


def test_where_nothing_is_hidden_estimates_are_shares():
    net = BayesNet("two", (Node("a", 2), Node("b", 3, ("a",))))
    records = Records(
        np.array([[0, 1], [1, 2], [1, 0]]),
        np.array([2, 1, 3]),
        ("a", "b"),
        (("0", "1"), ("0", "1", "2")),
    )
    np.testing.assert_allclose(
        swept(net, records, 1)[1].theta, [2 / 6, 4 / 6, 0, 1, 0, 3 / 4, 0, 1 / 4]
    )


def test_a_row_without_counts_stays_and_what_never_came_is_predicted_with_the_least_probability():
    net, _ = net_of(ORACLES["naive_bayes"])
    theta = net.tables.means(np.zeros(net.tables.n_cells))
    np.testing.assert_array_equal(estimated(net.tables, np.zeros(net.tables.n_cells), theta), theta)
    one = BayesNet("one", (Node("a", 2), Node("b", 2, ("a",))))
    train = Records([[0, 0], [0, -1], [1, 1]], [3, 1, 1], ("a", "b"), (("0", "1"), ("0", "1")))
    test = Records([[-1, -1], [-1, 1], [-1, -1]], [3, 1, 1], ("a", "b"), (("0", "1"), ("0", "1")))
    found = bn_em.predict(train, one, Options(least=1e-4), swept(one, train, 2)[-1], test)
    np.testing.assert_allclose(found, 1e-4, rtol=1e-3)


def hmm_of(n_states, n_symbols, sequences, prior=1.0) -> tuple[BayesNet, Records]:
    length = max(map(len, sequences))
    nodes = []
    for t in range(length):
        before = (f"s{t - 1}",) if t else ()
        nodes += [
            Node(f"s{t}", n_states, before, prior, "transition" if t else "start"),
            Node(f"x{t}", n_symbols, (f"s{t}",), prior, "emission"),
        ]
    values = np.full((len(sequences), length), -1)
    for row, sequence in zip(values, sequences, strict=True):
        row[: len(sequence)] = sequence
    values, multiplicities = np.unique(values, axis=0, return_counts=True)
    names = tuple(map(str, range(n_symbols)))
    fields = [f"x{t}" for t in range(length)]
    return BayesNet("hmm of test", tuple(nodes)), Records(
        values, multiplicities, fields, [names] * length
    )


def tables_by_name(net, flat, n_states):
    found = {}
    for name, first, last in zip(
        net.tables.names, net.tables.starts[:-1], net.tables.starts[1:], strict=True
    ):
        found[name] = flat[first:last].reshape(1 if name == "start" else n_states, -1)
    return found


@pytest.fixture
def sequences():
    if importlib.util.find_spec("hmmlearn") is None:
        skip_without("hmmlearn is not installed; the extra bench has it")
    random = np.random.default_rng(4)
    return [random.integers(5, size=random.integers(1, 8)).tolist() for _ in range(40)]


@pytest.mark.filterwarnings("ignore")
def test_bn_em_has_the_log_likelihood_of_hmmlearn(sequences):
    from hmmlearn.hmm import CategoricalHMM

    net, records = hmm_of(3, 5, sequences)
    states = swept(net, records, 20, seed=3)
    begin = tables_by_name(net, states[0].theta, 3)
    peer = CategoricalHMM(3, n_iter=20, tol=-np.inf, init_params="", n_features=5)
    peer.startprob_, peer.transmat_, peer.emissionprob_ = (
        begin["start"][0],
        begin["transition"],
        begin["emission"],
    )
    peer.fit(np.concatenate(sequences)[:, None], [len(each) for each in sequences])
    found = [log_likelihood(net, records, state) for state in states[:20]]
    np.testing.assert_allclose(found, peer.monitor_.history, rtol=5e-12)


@pytest.mark.filterwarnings("ignore")
def test_variational_bayes_has_the_posteriors_of_hmmlearn(sequences):
    """Of its tables after twenty iterations from the same start."""
    from hmmlearn.vhmm import VariationalCategoricalHMM

    net, records = hmm_of(3, 5, sequences, prior=0.7)
    state = bn_vb.init(records, net, NoOptions(), StepContext(3, 0))
    begin = tables_by_name(net, net.tables.alpha + state.counts, 3)
    peer = VariationalCategoricalHMM(
        3,
        n_iter=20,
        tol=-np.inf,
        init_params="",
        startprob_prior=0.7,
        transmat_prior=0.7,
        emissionprob_prior=0.7,
    )
    peer.startprob_prior_, peer.transmat_prior_ = np.full(3, 0.7), np.full((3, 3), 0.7)
    peer.emissionprob_prior_, peer.n_features = np.full((3, 5), 0.7), 5
    peer.startprob_posterior_, peer.transmat_posterior_ = begin["start"][0], begin["transition"]
    peer.emissionprob_posterior_ = begin["emission"]
    peer.fit(np.concatenate(sequences)[:, None], [len(each) for each in sequences])
    for step in range(1, 21):
        state, _ = bn_vb.step(records, net, NoOptions(), state, StepContext(3, step))
    found = tables_by_name(net, net.tables.alpha + state.counts, 3)
    np.testing.assert_allclose(found["start"][0], peer.startprob_posterior_, rtol=3e-7)
    np.testing.assert_allclose(found["transition"], peer.transmat_posterior_, rtol=3e-7)
    np.testing.assert_allclose(found["emission"], peer.emissionprob_posterior_, rtol=3e-7)
