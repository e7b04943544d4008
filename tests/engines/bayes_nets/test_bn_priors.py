"""Priors of the tables of Bayesian networks that learn: maxima, posteriors by quadrature, and what the engines make of them."""

from dataclasses import replace

import numpy as np
import pytest
from bayes_net_twins import log_joint, random_net, records_of
from stepping import states, stepped
from toys import records_of as records_of_corpus
from toys import simulated

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.bayes_nets import bn_gibbs, bn_hybrid, bn_vb
from workbench.engines.bayes_nets.priors import Learning, learnt_alpha, polya
from workbench.engines.engine import StepContext
from workbench.measures.learning import hyperparameters
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node

AT_ONCE = {"learn_after": 0, "learn_every": 1}
MAXIMISED = Learning(learn_priors="maximised", **AT_ONCE)


def with_numbers(net):
    """The network with one number as the prior of each table."""
    return BayesNet(
        "numbers", tuple(replace(node, prior=0.7) for node in net.nodes), missing=net.missing
    )


@pytest.mark.parametrize("missing", ["marginalised", "imputed"])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_never_falls_while_priors_are_maximised(seed, missing):
    """But for the rounding of their likelihood, 1e-8 relative (`kernels.lda.polya`)."""
    net, records = random_net(seed, n_nodes=5, n_cases=12, tied=seed % 2 == 1, missing=missing)
    net, options = with_numbers(net), MAXIMISED
    visited = list(states(bn_vb, records, net, options, 60, seed))
    found = [bn_vb.watch(records, net, options, state)["bound"] for state in visited]
    assert np.all(np.diff(found) > -1e-8 * np.abs(found[0])) and np.any(visited[-1].alpha != 0.7)


@pytest.mark.parametrize("whole", [False, True])
def test_a_maximised_prior_has_the_greatest_likelihood(whole):
    """On a grid about it; of two chains of which each has half a say."""
    random = np.random.default_rng(2)
    net = BayesNet("two", (Node("a", 3), Node("b", 2, ("a",), 2.0)))
    chains = [
        random.integers(0, 30, net.tables.n_cells).astype(float) + (0.0 if whole else 0.37)
        for _ in range(2)
    ]
    alpha = net.tables.alpha
    for step in range(1, 60):
        alpha = learnt_alpha(net, MAXIMISED, StepContext(0, step), alpha, *chains, whole=whole)

    def value(a, b):
        tables = net.tables.with_priors(np.repeat([a, b], np.diff(net.tables.starts)))
        return np.mean([log_joint(tables, counts) for counts in chains])

    first, second = (
        polya([counts[:3].reshape(1, 3) for counts in chains], whole).value(np.array([x]))
        for x in (0.2, 3.0)
    )
    # sites of real counts: 1e-8
    assert second - first == pytest.approx(value(3.0, 1.0) - value(0.2, 1.0), rel=1e-7)
    a, b = alpha[0], alpha[-1]
    assert min(a, b) > 1e-3 and max(a, b) < 1e3
    assert all(value(a, b) > max(value(a * s, b), value(a, b * s)) for s in (0.98, 1.02))


def test_a_prior_that_is_a_row_or_of_a_single_state_stays():
    given = Node("d", 2, (), 2.0, given=True)
    net = BayesNet(
        "kept", (Node("a", 2, (), (0.5, 0.5)), Node("b", 2, ("a",), 2.0), Node("c", 1), given)
    )
    counts = np.array([3.0, 5.0, 9.0, 0.0, 1.0, 7.0, 8.0])
    alpha = learnt_alpha(net, MAXIMISED, StepContext(0, 1), net.tables.alpha, counts)
    assert (
        alpha[:2].tolist() == [0.5, 0.5]
        and alpha[6] == 0.5
        and alpha[2] != 2.0
        and np.ptp(alpha[2:6]) == 0.0
    )


def test_nothing_is_learnt_before_its_time():
    net, records = random_net(1)
    net = with_numbers(net)
    options = Learning(learn_priors="maximised", learn_after=4, learn_every=3)
    found = [state.alpha[0] for state in states(bn_vb, records, net, options, 8)]
    assert found[2] == 0.7 and found[3] != 0.7 and found[3] == found[5] != found[6] == found[7]


@pytest.mark.parametrize("engine", [bn_gibbs, bn_vb])
def test_sampled_priors_have_their_posterior(engine):
    """Of complete records: by quadrature over log x; from whole counts and from real ones. 5 standard errors of 4,000 draws,
    of which a tenth counts, as they are correlated."""
    net = BayesNet("one", (Node("a", 4),))
    records = records_of(net.nodes, [[0]] * 7 + [[1]] + [[3]] * 2)
    options = engine.engine().options(learn_priors="sampled", a_prior=1.5, b_prior=0.8, **AT_ONCE)
    drawn = np.log([state.alpha[0] for state in states(engine, records, net, options, 4000)])
    u = np.linspace(-9, 5, 4001)
    logs = [
        log_joint(net.tables.with_priors(np.full(4, np.exp(at))), np.array([7.0, 1.0, 0.0, 2.0]))
        for at in u
    ]
    weights = np.exp(logs + 1.5 * u - 0.8 * np.exp(u))
    mean = np.average(u, weights=weights)
    sd = np.sqrt(np.average((u - mean) ** 2, weights=weights))
    assert abs(drawn.mean() - mean) < 5 * sd / np.sqrt(400)
    assert drawn.std() == pytest.approx(sd, rel=5 / np.sqrt(2 * 400))


@pytest.mark.parametrize("how", ["maximised", "sampled"])
@pytest.mark.parametrize(("r", "other"), [(0.0, bn_vb), (float("inf"), bn_gibbs)])
def test_the_limits_of_the_hybrid_learn_the_same_priors(r, other, how):
    net, records = random_net(2, n_cases=9, tied=True)
    net = with_numbers(net)
    learning = {"learn_priors": how, "learn_after": 2, "learn_every": 2}
    one = stepped(bn_hybrid, records, net, bn_hybrid.Options(r=r, **learning), 8)
    two = stepped(other, records, net, other.engine().options(**learning), 8)
    assert one.alpha.tobytes() == two.alpha.tobytes() and np.any(one.alpha != 0.7)


@pytest.mark.parametrize("name", ["bn-vb", "bn-cvb0", "bn-gibbs", "bn-hybrid"])
def test_a_run_records_its_priors_and_estimates_with_them(name):
    options = {"n_states": 2, "learn_priors": "maximised", "learn_after": 2, "learn_every": 1}
    records = records_of_corpus(simulated())
    run = wb.fit(records, name, options=options, n_iterations=6, snapshot_every=2, progress=False)
    priors = run["table_prior"].values
    assert (
        run["prior_mean"].values[0] == 0.5 != run["prior_mean"].values[-1]
        and priors.shape == run["n_cpt"].shape
    )
    tables = get_engine(name).model(n_states=2).for_data(records).tables
    means = tables.with_priors(priors[-1]).means(run["n_cpt"].values[-1])
    np.testing.assert_allclose(run["cpt"], means, rtol=1e-12)
    assert [(each.name, each.method) for each in hyperparameters(run)] == [
        ("prior_mean", "maximised")
    ]
