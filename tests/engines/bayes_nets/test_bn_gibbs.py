"""Gibbs sampling of Bayesian networks: the exact posterior of toys in the long run, LDA as a network."""

import itertools
import math

import numpy as np
import pytest
from bayes_net_twins import (
    ORACLES,
    PlainGibbs,
    each_record,
    families,
    joint_states,
    net_of,
    records_of,
)
from scipy.special import logsumexp
from stepping import states, steps

from workbench.engines.bayes_nets import bn_gibbs
from workbench.engines.bayes_nets.bn_gibbs import Options
from workbench.engines.bayes_nets.cases import cases_within, prepared
from workbench.engines.engine import StepContext
from workbench.kernels.uniforms import ACCEPTED_NODES, HIDDEN_NODES, draw_key, uniform
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node
from workbench.records import Records

DRAWN = Options("drawn")


def hmm3() -> tuple[BayesNet, Records]:
    """Sequences of three symbols with tied transitions and emissions; of the last one the symbol in the middle is missing."""
    nodes = [Node("h1", 2, (), 0.8, "start"), Node("x1", 2, ("h1",), 0.6, "emission")]
    for t in (2, 3):
        nodes += [
            Node(f"h{t}", 2, (f"h{t - 1}",), 0.5, "transition"),
            Node(f"x{t}", 2, (f"h{t}",), 0.6, "emission"),
        ]
    cases = [[-1, 0, -1, 0, -1, 1], [-1, 1, -1, -1, -1, 1]]
    return BayesNet("hmm3", tuple(nodes), missing="imputed"), records_of(nodes, cases)


def two_parent() -> tuple[BayesNet, Records]:
    """The oracle's first two cases, which are equal, and the third."""
    net, records = net_of(ORACLES["two_parent"])
    keep = np.flatnonzero(np.sum(records.values >= 0, axis=1) > 1)
    return net, records.with_values(records.values[keep], records.multiplicities[keep])


def naive_bayes() -> tuple[BayesNet, Records]:
    """The oracle's seven cases."""
    return net_of(ORACLES["naive_bayes"])


def recounted(net, records, state) -> np.ndarray:
    """The counts of tables, from the cells of cliques."""
    ready = prepared(records, net, state.trees)
    plan, counts = ready.plan, np.zeros(net.tables.n_cells)
    for case, pattern in enumerate(plan.patterns):
        first, last = plan.cliques[pattern], plan.cliques[pattern + 1]
        offsets = plan.offsets[plan.first_offset[case] :]
        for record in range(int(plan.weights[case])):
            at = ready.first_cells[case] + record * (last - first)
            for c in range(first, last):
                for f in range(*plan.clique_families[c]):
                    cell = (
                        offsets[f - plan.families[pattern]]
                        + plan.maps[plan.down[f] + state.cells[at + c - first]]
                    )
                    counts[cell] += 1
            for f in range(plan.scalars[pattern], plan.families[pattern + 1]):
                counts[offsets[f - plan.families[pattern]]] += 1
    return counts


@pytest.mark.parametrize("options", [Options(), DRAWN], ids=["collapsed", "drawn"])
@pytest.mark.parametrize("toy", [naive_bayes, two_parent, hmm3])
def test_counts_are_those_of_the_hidden_nodes(toy, options):
    net, records = toy()
    for state, info in steps(bn_gibbs, records, net, options, 20):
        np.testing.assert_array_equal(state.counts, recounted(net, records, state))
        assert 0 <= info["accepted"] <= 1 and (net.tables.tied or info["accepted"] == 1)


def torn() -> tuple[BayesNet, Records]:
    """One half of a record rules out each state that the other half allows: products of both vanish, logarithms do not."""
    nodes = [Node("a", 2), Node("b", 2, ("a",)), Node("c", 2, ("b",))]
    nodes += [Node(f"x{i}", 2, ("a", "b"), 1e-8) for i in range(45)] + [
        Node(f"y{i}", 2, ("b", "c"), 1e-8) for i in range(45)
    ]
    cases = [[a, b, c] + [b] * 90 for a, b, c in itertools.product((0, 1), repeat=3)] + [
        [-1] * 3 + [0] * 45 + [1] * 45
    ]
    return BayesNet("torn", tuple(nodes)), records_of(nodes, cases)


@pytest.mark.parametrize("toy", [naive_bayes, two_parent, hmm3, torn])
def test_bn_gibbs_goes_through_the_states_of_a_plain_sampler(toy):
    """By enumeration, from the same uniforms: proposals, clique by clique, and whether they are accepted."""
    net, records = toy()
    state = bn_gibbs.init(records, net, Options(), StepContext(3, 0))
    plain, refused = PlainGibbs(net, each_record(net, records, state), state.cells), 0
    for step in range(1, 41):
        keys = [
            np.uint64(draw_key(3, stream, 0, step)) for stream in (HIDDEN_NODES, ACCEPTED_NODES)
        ]
        n_refused = plain.sweep(
            lambda i, key=keys[0]: uniform(key, i), lambda i, key=keys[1]: uniform(key, i)
        )
        state, info = bn_gibbs.step(records, net, Options(), state, StepContext(3, step))
        np.testing.assert_array_equal(state.cells, plain.cells())
        assert info["accepted"] == pytest.approx(1 - n_refused / len(plain.records), abs=1e-12)
        refused += n_refused
    assert (refused > 0) == net.tables.tied


N_SWEEPS = 100_000


def shares_of(net, records, options, seed=0) -> tuple[np.ndarray, np.ndarray]:
    """Exact and sampled probabilities of all counts that the toy can have."""
    values = np.repeat(net.values(records), records.multiplicities, axis=0)
    exact, at = {}, {}
    for together, log_p in joint_states(net, values):
        counts = np.bincount(
            [cell for case in together for cell in families(net, case)],
            minlength=net.tables.n_cells,
        )
        key = counts.astype(float).tobytes()
        exact[key] = np.logaddexp(exact.get(key, -np.inf), log_p)
        at.setdefault(key, len(at))
    total, found = logsumexp(list(exact.values())), np.zeros(len(at))
    for state in states(bn_gibbs, records, net, options, N_SWEEPS, seed):
        found[at[state.counts.tobytes()]] += 1
    return np.exp(np.array(list(exact.values())) - total), found / N_SWEEPS


@pytest.mark.slow
@pytest.mark.parametrize("options", [Options(), DRAWN], ids=["collapsed", "drawn"])
@pytest.mark.parametrize("toy", [naive_bayes, two_parent, hmm3])
def test_in_the_long_run_it_draws_from_the_exact_posterior(toy, options):
    """Total variation over all counts: 100,000 sweeps come within .02; without a correction hmm3 is .1 off."""
    exact, found = shares_of(*toy(), options)
    assert 0.5 * np.abs(exact - found).sum() < 0.025


def test_lda_as_a_network_goes_through_the_states_of_a_plain_sampler():
    """d -> z -> x with d given: a token's topic from the same uniforms, record after record."""
    random = np.random.default_rng(0)
    values = np.unique(
        np.column_stack([random.integers(4, size=25), random.integers(6, size=25)]), axis=0
    )
    multiplicities = random.integers(1, 4, len(values))
    nodes = (Node("d", 4, given=True), Node("z", 3, ("d",), 0.3), Node("x", 6, ("z",), 0.2))
    names = tuple(map(str, range(6)))
    records = Records(values, multiplicities, ("d", "x"), (names[:4], names))
    net = BayesNet("lda", nodes)
    state = bn_gibbs.init(records, net, Options(), StepContext(5, 0))
    cases, topics = cases_within(records, net), state.cells.copy()
    tokens = [
        (case, value[0], value[2])
        for case, value in enumerate(cases.values)
        for _ in range(int(cases.weights[case]))
    ]
    n_dz, n_zx = np.zeros((4, 3)), np.zeros((3, 6))
    for (_, d, x), z in zip(tokens, topics, strict=True):
        n_dz[d, z] += 1
        n_zx[z, x] += 1
    for step in range(1, 101):
        key = np.uint64(draw_key(5, HIDDEN_NODES, 0, step))
        for i, (_, d, x) in enumerate(tokens):
            n_dz[d, topics[i]] -= 1
            n_zx[topics[i], x] -= 1
            p = (n_dz[d] + 0.3) * (n_zx[:, x] + 0.2) / (n_zx.sum(axis=1) + 1.2)
            topics[i] = np.searchsorted(np.cumsum(p), uniform(key, i) * p.sum(), side="right")
            n_dz[d, topics[i]] += 1
            n_zx[topics[i], x] += 1
        state, _ = bn_gibbs.step(records, net, Options(), state, StepContext(5, step))
        np.testing.assert_array_equal(state.cells, topics)
    np.testing.assert_array_equal(state.counts, [*n_dz.ravel(), *n_zx.ravel()])


def test_tables_that_are_drawn_can_be_as_small_as_they_like():
    net, records = net_of(ORACLES["naive_bayes"])
    tiny = BayesNet(
        "tiny", tuple(Node(n.name, n.states, n.parents, 1e-8, n.cpt) for n in net.nodes)
    )
    for state in states(bn_gibbs, records, tiny, DRAWN, 5):
        assert math.isfinite(bn_gibbs.watch(records, tiny, DRAWN, state)["log_joint"])
