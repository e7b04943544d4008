"""Expectation maximisation of Bayesian networks: the likelihood, its maximum, hmmlearn from the same start."""

import numpy as np
import pytest
from bayes_net_twins import ORACLES, enumerated, net_of, random_net, swept

from workbench.engines.bayes_nets import bn_em
from workbench.engines.bayes_nets.bn_em import Options, estimate
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node
from workbench.records import Records


def log_likelihood(net, records, state):
    return bn_em.watch(records, net, Options(), state)["log_likelihood"]


@pytest.mark.parametrize("missing", ["marginalised", "imputed"])
@pytest.mark.parametrize("seed", range(6))
def test_the_likelihood_is_that_by_enumeration_and_never_falls(seed, missing):
    net, records = random_net(seed, n_nodes=5, n_cases=6, tied=seed % 2 == 1, missing=missing)
    visited = swept(bn_em, net, records, Options(), 60, seed)
    found = [log_likelihood(net, records, state) for state in visited]
    assert np.all(np.diff(found) > -1e-12 * abs(found[0]))
    for state in (visited[0], visited[-1]):
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
        swept(bn_em, net, records, Options(), 1)[1].theta, [2 / 6, 4 / 6, 0, 1, 0, 3 / 4, 0, 1 / 4]
    )


def test_a_row_without_counts_stays_and_what_never_came_is_predicted_with_the_least_probability():
    net, _ = net_of(ORACLES["naive_bayes"])
    theta = net.tables.means(np.zeros(net.tables.n_cells))
    np.testing.assert_array_equal(estimate(net.tables, np.zeros(net.tables.n_cells), theta), theta)
    one = BayesNet("one", (Node("a", 2), Node("b", 2, ("a",))))
    train = Records([[0, 0], [0, -1], [1, 1]], [3, 1, 1], ("a", "b"), (("0", "1"), ("0", "1")))
    test = Records([[-1, -1], [-1, 1], [-1, -1]], [3, 1, 1], ("a", "b"), (("0", "1"), ("0", "1")))
    found = bn_em.predict(
        train, one, Options(least=1e-4), swept(bn_em, one, train, Options(), 2)[-1], test
    )
    np.testing.assert_allclose(found, 1e-4, rtol=1e-3)
