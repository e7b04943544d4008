"""Bayesian networks from the oracles and at random, and plain twins of what is inferred in them: by enumeration."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
from scipy.special import gammaln

from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node
from workbench.records import Records

ORACLES = json.loads((Path(__file__).parent / "oracles" / "bayes_nets.json").read_text())


def net_of(oracle, missing="imputed") -> tuple[BayesNet, Records]:
    """The network and the records of an oracle."""
    priors = {name: tuple(map(tuple, rows)) for name, rows in oracle["cpt_alpha"].items()}
    nodes = [
        Node(each["name"], each["card"], tuple(each["parents"]), priors[each["cpt"]], each["cpt"]) for each in oracle["nodes"]
    ]
    cases = [[-1 if value is None else value for value in case] for case in oracle["cases"]]
    return BayesNet("oracle", tuple(nodes), missing=missing), records_of(nodes, cases)


def records_of(nodes, cases) -> Records:
    """Records whose fields are all nodes; a node that no case observes is a field without a known cell."""
    distinct, multiplicities = np.unique(np.array(cases), axis=0, return_counts=True)
    return Records(distinct, multiplicities, tuple(node.name for node in nodes), tuple(node.state_names for node in nodes))


def flat(net, counts) -> np.ndarray:
    """Counts by table as one array."""
    return np.concatenate([np.ravel(counts[name]) for name in net.tables.names])


def random_net(seed: int, n_nodes=6, n_cases=5, tied=False, missing="marginalised") -> tuple[BayesNet, Records]:
    """A random network of nodes with two or three states, and cases with half of their cells missing."""
    random = np.random.default_rng(seed)
    nodes = []
    for i in range(n_nodes):
        chosen = sorted(random.choice(i, min(i, int(random.integers(0, 4))), replace=False).tolist()) if i else []
        shape = [2 if tied else int(random.integers(2, 4))]
        shape = [nodes[j].states for j in chosen] + shape
        prior = random.uniform(0.2, 2.0, (math.prod(shape[:-1]), shape[-1])).tolist()
        name, cpt = f"n{i}", ""
        if tied and (other := next((each for each in nodes if len(each.parents) == len(chosen)), None)):
            cpt, prior = other.cpt, other.prior
        nodes.append(Node(name, shape[-1], tuple(f"n{j}" for j in chosen), prior, cpt))
    cases = [[-1 if random.random() < 0.5 else int(random.integers(node.states)) for node in nodes] for _ in range(n_cases)]
    return BayesNet("random", tuple(nodes), missing=missing), records_of(nodes, cases)


def families(net, case) -> list[int]:
    """The cells of the tables that a complete case is in, one for each node."""
    by_name, found = {node.name: i for i, node in enumerate(net.nodes)}, []
    for i, node in enumerate(net.nodes):
        row = 0
        for parent in node.parents:
            row = row * net.nodes[by_name[parent]].n_states + case[by_name[parent]]
        if not node.given:
            found.append(int(net.tables.starts[net.tables.table_of[i]]) + row * node.n_states + case[i])
    return found


def completions(net, case):
    """Every complete case that agrees with one."""
    return itertools.product(*([v] if v >= 0 else range(node.n_states) for v, node in zip(case, net.nodes, strict=True)))


def enumerated(net, case, table, counted) -> tuple[float, np.ndarray]:
    """log of the sum over completions of the product of table cells, and the expected counts of the families of ``counted``."""
    found = [families(net, each) for each in completions(net, case)]
    weights = np.array([math.prod(table[cell] for cell in cells) for cells in found])
    counts = np.zeros(net.tables.n_cells)
    for weight, cells in zip(weights, found, strict=True):
        np.add.at(counts, [cells[i] for i in counted], weight / weights.sum())
    return math.log(weights.sum()), counts


def log_joint(tables, counts) -> float:
    """L of the spec, C1."""
    rows, cells = tables.sum_rows(counts), gammaln(tables.alpha + counts) - gammaln(tables.alpha)
    return float(np.sum(gammaln(tables.alpha_rows) - gammaln(tables.alpha_rows + rows)) + cells.sum())


def joint_states(net, cases):
    """Every completion of all cases together with its log weight: (completions, log p)."""
    for together in itertools.product(*(list(completions(net, case)) for case in cases)):
        counts = np.bincount([cell for case in together for cell in families(net, case)], minlength=net.tables.n_cells)
        yield together, log_joint(net.tables, counts.astype(float))
