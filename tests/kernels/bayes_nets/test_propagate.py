"""Junction trees against sums over all completions: evidence, expected counts, draws."""

import numpy as np
import pytest
from bayes_net_twins import completions, enumerated, families, random_net, records_of

from workbench.engines.bayes_nets import cases
from workbench.engines.bayes_nets.cases import (
    cases_within,
    evidence,
    expected_counts,
    in_slices,
    trees_of,
    workspace,
)
from workbench.engines.engine import StepContext
from workbench.kernels.bayes_nets.propagate import collect, draw_cells, expect
from workbench.kernels.jit import lean
from workbench.kernels.uniforms import draw_key
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node
from workbench.models.bayes_nets.plan import cases_of, junction_trees, plan_of


def counted(net, case) -> list[int]:
    """The nodes whose families count: all, or those of observed nodes and of their ancestors up to observed ones."""
    if net.missing == "imputed":
        return list(range(len(net.nodes)))
    found = {i for i, value in enumerate(case) if value >= 0}
    for i in reversed(range(len(net.nodes))):  # children come after their parents
        found |= {j for j in family_of(net, i) if i in found and case[j] < 0}
    return sorted(found)


@pytest.fixture(autouse=True, params=["factors", "tables"])
def way(request, monkeypatch):
    """Families as stretches of numbers, or looked up in tables."""
    monkeypatch.setattr(cases, "MOST_CELLS", 2**40 if request.param == "factors" else 0)
    monkeypatch.setattr(cases, "MOST_PER_WORK", 2**40)


def table_of(net, seed=0):
    """Random probabilities of the right shape, small ones among them."""
    raw = np.random.default_rng(seed).gamma(0.3, size=net.tables.n_cells) + 1e-6
    return raw / net.tables.sum_rows(raw)[net.tables.row_of]


def ready_of(net, records):
    cases = cases_within(records, net)
    return cases, in_slices(plan_of(net, cases, trees_of(records, net)), net.tables.n_cells)


@pytest.mark.parametrize("missing", ["marginalised", "imputed"])
@pytest.mark.parametrize("seed", range(30))
def test_a_junction_tree_is_the_sum_over_completions(seed, missing):
    net, records = random_net(seed, tied=seed % 3 == 0, missing=missing)
    table = table_of(net, seed)
    cases, ready = ready_of(net, records)
    found, exact = (
        evidence(ready, np.log(table)),
        [enumerated(net, case, table, counted(net, case)) for case in cases.values],
    )
    np.testing.assert_allclose(found, [log_z for log_z, _ in exact], rtol=1e-11, atol=1e-11)
    counts, log_z = expected_counts(ready, np.log(table), StepContext(0, 0))
    wanted = sum(weight * each for weight, (_, each) in zip(cases.weights, exact, strict=True))
    np.testing.assert_allclose(counts, wanted, rtol=1e-10, atol=1e-12)
    assert log_z == pytest.approx(cases.weights @ found, rel=1e-12)
    # products that vanish are computed with logarithms
    by_logs, vanished = np.zeros_like(counts), np.zeros_like(table)
    again = expect(
        0, len(found), ready.plan, vanished, np.log(table), *workspace(ready.plan), by_logs
    )
    np.testing.assert_allclose(by_logs, counts, rtol=1e-10, atol=1e-12)
    assert again == pytest.approx(log_z, rel=1e-11)


def test_what_is_left_out_has_no_observed_descendant():
    net = BayesNet(
        "v", (Node("a", 2), Node("b", 2), Node("c", 2, ("a", "b")), Node("d", 2, ("c",)))
    )
    counts = {}
    for case in ([0, -1, -1, -1], [-1, -1, -1, 1], [-1, -1, 0, -1]):
        _, ready = ready_of(net, records_of(net.nodes, [case]))
        found, _ = expected_counts(ready, np.log(table_of(net)), StepContext(0, 0))
        counts[tuple(case)] = np.add.reduceat(found, net.tables.starts[:-1]).round(12).tolist()
    assert list(counts.values()) == [[1, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0]]


def test_a_loop_of_hidden_nodes_is_triangulated():
    """a, b, c, d, e in a ring: two parents each way round, an observed child at the end."""
    ring = (
        Node("a", 2),
        Node("b", 2, ("a",)),
        Node("c", 3, ("b",)),
        Node("d", 2, ("a",)),
        Node("e", 2, ("c", "d")),
    )
    net, case = BayesNet("ring", ring), [-1, -1, -1, -1, 1]
    table = table_of(net, 5)
    _, ready = ready_of(net, records_of(ring, [case]))
    assert evidence(ready, np.log(table))[0] == pytest.approx(
        enumerated(net, case, table, [])[0], rel=1e-12
    )


def test_probabilities_too_small_for_a_double_are_added_up():
    chain = [Node("h0", 2, (), 1.0)]
    for i in range(1, 80):
        chain.append(Node(f"h{i}", 2, (f"h{i - 1}",), 1.0, "step"))
    shown = [Node(f"x{i}", 2, (f"h{i}",), 1.0, "show") for i in range(80)]
    net = BayesNet("long", (*chain, *shown))
    logs = np.full(net.tables.n_cells, -30.0)
    _, ready = ready_of(net, records_of(net.nodes, [[-1] * 80 + [0] * 80]))
    assert evidence(ready, logs)[0] == pytest.approx(160 * -30.0 + 80 * np.log(2.0), rel=1e-13)


@lean
def draw_many(plan, logs, w, largest, sums, keys, found):
    """Cells of the first case, drawn again and again, into found (draw, clique)."""
    collect(plan, 0, logs, w, largest, sums)
    for i in range(len(keys)):
        draw_cells(plan, 0, w, sums, keys[i], 0, found[i])


@pytest.mark.parametrize("seed", [1, 4])
def test_draws_have_the_probabilities_of_completions(seed):
    """20,000 draws; a share differs by less than 5 standard errors."""
    net, records = random_net(seed, n_cases=1, missing="imputed")
    table, n_draws = table_of(net, seed), 20_000
    case = net.values(records)[0]
    _, ready = ready_of(net, records)
    plan = ready.plan
    cells = np.zeros((n_draws, plan.cliques[1]), np.int64)
    keys = np.array([draw_key(7, 0, 0, i) for i in range(n_draws)], np.uint64)
    draw_many(plan, np.log(table), *workspace(plan)[:3], keys, cells)
    offsets = plan.offsets[plan.first_offset[0] :]
    drawn = np.zeros((n_draws, net.tables.n_cells))
    for c in range(plan.cliques[1]):
        for f in range(*plan.clique_families[c]):
            drawn[np.arange(n_draws), offsets[f] + plan.maps[plan.down[f] + cells[:, c]]] += 1
    hidden = [i for i in range(len(net.nodes)) if any(case[j] < 0 for j in family_of(net, i))]
    weights, wanted = [], []
    for each in completions(net, case):
        at = families(net, each)
        weights.append(np.prod(table[at]))
        wanted.append(np.bincount([at[i] for i in hidden], minlength=net.tables.n_cells))
    expected = np.average(wanted, axis=0, weights=weights)
    error = np.sqrt(np.maximum(expected * (1 - expected), 1e-9) / n_draws)
    assert np.all(np.abs(drawn.mean(axis=0) - expected) < 5 * error + 1e-9)


def family_of(net, i):
    names = [node.name for node in net.nodes]
    return [i, *(names.index(parent) for parent in net.nodes[i].parents)]


def test_the_plan_is_a_function_of_the_trees_that_are_kept():
    """A run that goes on reads its cliques, and computes none."""
    net, records = random_net(2, n_cases=8)
    cases = cases_of(net.values(records), records.multiplicities)
    trees = junction_trees(net, cases)
    one, two = plan_of(net, cases, trees), plan_of(net, cases, trees.copy())
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_many_families_of_one_clique_are_rescaled():
    """A hundred children of a hidden node, each about as likely as 1e-8: together less than the smallest double."""
    net = BayesNet(
        "wide",
        (
            Node("h", 3),
            *(Node(f"x{i}", 2, ("h",), 0.5, "show" if i % 2 else "") for i in range(100)),
        ),
    )
    table = table_of(net, 3)
    table[3:] *= 1e-8
    case = [-1] + [i % 2 for i in range(100)]
    _, ready = ready_of(net, records_of(net.nodes, [case]))
    logs = [
        sum(np.log(table[cell]) for cell in families(net, each)) for each in completions(net, case)
    ]
    assert evidence(ready, np.log(table))[0] == pytest.approx(np.logaddexp.reduce(logs), rel=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_a_clique_whose_products_vanish_is_weighed_by_logarithms(seed):
    """Tables times 1e-300, which is about log Z = -691 for each of the families that count."""
    net, records = random_net(seed)
    table = table_of(net, seed)
    cases, ready = ready_of(net, records)
    small = evidence(ready, np.log(table) - 300 * np.log(10.0))
    n_families = [len(counted(net, case)) for case in cases.values]
    np.testing.assert_allclose(
        small,
        evidence(ready, np.log(table)) - np.multiply(n_families, 300 * np.log(10.0)),
        rtol=1e-12,
    )
    found, _ = expected_counts(ready, np.log(table) - 300 * np.log(10.0), StepContext(0, 0))
    np.testing.assert_allclose(
        found, expected_counts(ready, np.log(table), StepContext(0, 0))[0], rtol=1e-9, atol=1e-12
    )
