"""Bayesian networks from the oracles and at random, and plain twins of what is inferred in them: by enumeration."""

import itertools
import math

import numpy as np
from scipy.special import gammaln
from stepping import states
from toys import read_oracles

from workbench.engines.bayes_nets.cases import cases_within, prepared
from workbench.engines.engine import StepContext
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node
from workbench.records import Records

ORACLES = read_oracles("bayes_nets")


def net_of(oracle, missing="imputed") -> tuple[BayesNet, Records]:
    """The network and the records of an oracle."""
    priors = {name: tuple(map(tuple, rows)) for name, rows in oracle["cpt_alpha"].items()}
    nodes = [
        Node(each["name"], each["card"], tuple(each["parents"]), priors[each["cpt"]], each["cpt"])
        for each in oracle["nodes"]
    ]
    cases = [[-1 if value is None else value for value in case] for case in oracle["cases"]]
    return BayesNet("oracle", tuple(nodes), missing=missing), records_of(nodes, cases)


def records_of(nodes, cases) -> Records:
    """Records whose fields are all nodes; a node that no case observes is a field without a known cell."""
    distinct, multiplicities = np.unique(np.array(cases), axis=0, return_counts=True)
    return Records(
        distinct,
        multiplicities,
        tuple(node.name for node in nodes),
        tuple(node.state_names for node in nodes),
    )


def flat(net, counts) -> np.ndarray:
    """Counts by table as one array."""
    return np.concatenate([np.ravel(counts[name]) for name in net.tables.names])


def random_net(
    seed: int, n_nodes=6, n_cases=5, tied=False, missing="marginalised"
) -> tuple[BayesNet, Records]:
    """A random network of nodes with two or three states, and cases with half of their cells missing."""
    random = np.random.default_rng(seed)
    nodes = []
    for i in range(n_nodes):
        chosen = (
            sorted(random.choice(i, min(i, int(random.integers(0, 4))), replace=False).tolist())
            if i
            else []
        )
        shape = [2 if tied else int(random.integers(2, 4))]
        shape = [nodes[j].states for j in chosen] + shape
        prior = random.uniform(0.2, 2.0, (math.prod(shape[:-1]), shape[-1])).tolist()
        name, cpt = f"n{i}", ""
        if tied and (
            other := next((each for each in nodes if len(each.parents) == len(chosen)), None)
        ):
            cpt, prior = other.cpt, other.prior
        nodes.append(Node(name, shape[-1], tuple(f"n{j}" for j in chosen), prior, cpt))
    cases = [
        [-1 if random.random() < 0.5 else int(random.integers(node.states)) for node in nodes]
        for _ in range(n_cases)
    ]
    return BayesNet("random", tuple(nodes), missing=missing), records_of(nodes, cases)


def families(net, case) -> list[int]:
    """The cells of the tables that a complete case is in, one for each node."""
    by_name, found = {node.name: i for i, node in enumerate(net.nodes)}, []
    for i, node in enumerate(net.nodes):
        row = 0
        for parent in node.parents:
            row = row * net.nodes[by_name[parent]].n_states + case[by_name[parent]]
        if not node.given:
            found.append(
                int(net.tables.starts[net.tables.table_of[i]]) + row * node.n_states + case[i]
            )
    return found


def completions(net, case):
    """Every complete case that agrees with one."""
    return itertools.product(
        *([v] if v >= 0 else range(node.n_states) for v, node in zip(case, net.nodes, strict=True))
    )


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
    return float(
        np.sum(gammaln(tables.alpha_rows) - gammaln(tables.alpha_rows + rows)) + cells.sum()
    )


def joint_states(net, cases):
    """Every completion of all cases together with its log weight: (completions, log p)."""
    for together in itertools.product(*(list(completions(net, case)) for case in cases)):
        counts = np.bincount(
            [cell for case in together for cell in families(net, case)],
            minlength=net.tables.n_cells,
        )
        yield together, log_joint(net.tables, counts.astype(float))


def each_record(net, records, state):
    """(values of a record, its cells in the state, and the hidden nodes of each with their shape), of records in turn."""
    ready = prepared(records, net, state.trees)
    plan, cases, at = ready.plan, cases_within(records, net), 0
    bags_of, begin = [], 0
    while begin < len(state.trees):
        bags, begin = read_bags(state.trees, begin)
        bags_of.append(bags)
    for case, pattern in enumerate(plan.patterns):
        scopes = []
        for parent, nodes in bags_of[pattern]:
            above = bags_of[pattern][parent][1] if parent >= 0 else ()
            order = [n for n in nodes if n in above] + [n for n in nodes if n not in above]
            scopes.append((order, [net.nodes[n].n_states for n in order]))
        for _ in range(int(cases.weights[case])):
            yield cases.values[case].tolist(), slice(at, at + len(scopes)), scopes
            at += len(scopes)


def read_bags(trees, at):
    """The cliques (parent, nodes) of a pattern, and where the next one begins."""
    bags, n, at = [], trees[at], at + 1
    for _ in range(n):
        parent, size = int(trees[at]), trees[at + 1]
        bags.append((parent, trees[at + 2 : at + 2 + size].tolist()))
        at += 2 + size
    return bags, at


def of_hidden(net, case, complete) -> list[int]:
    """The table cells of the families of a complete case that have a hidden node; the others count as known."""
    at = families(net, complete)
    number = {node.name: i for i, node in enumerate(net.nodes)}
    return [
        at[i]
        for i, node in enumerate(net.nodes)
        if case[i] < 0 or any(case[number[parent]] < 0 for parent in node.parents)
    ]


def proposal(net, case, counts) -> tuple[list[tuple[int, ...]], np.ndarray, np.ndarray]:
    """Completions of a case given the counts of all else, their probabilities q, and log P - log q (spec C.5)."""
    found, tables, total = [*completions(net, case)], net.tables, net.tables.sum_rows(counts)
    log_q, excess = np.zeros(len(found)), np.zeros(len(found))
    for i, complete in enumerate(found):
        seen, rows = counts.copy(), total.copy()
        for cell in of_hidden(net, case, complete):
            row = tables.row_of[cell]
            once = math.log(
                (tables.alpha[cell] + counts[cell]) / (tables.alpha_rows[row] + total[row])
            )
            log_q[i] += once
            excess[i] += (
                math.log((tables.alpha[cell] + seen[cell]) / (tables.alpha_rows[row] + rows[row]))
                - once
            )
            seen[cell] += 1
            rows[row] += 1
    q = np.exp(log_q - log_q.max())
    return found, q / q.sum(), excess


class PlainGibbs:
    """Gibbs sampling of the hidden nodes of a record together by enumeration, from given uniforms."""

    def __init__(self, net, records, cells):
        self.net, self.records = net, [*records]
        self.complete = []
        for case, at, scopes in self.records:
            values = list(case)
            for cell, (order, shape) in zip(cells[at], scopes, strict=True):
                for node, value in zip(order, np.unravel_index(cell, shape), strict=True):
                    values[node] = int(value)
            self.complete.append(tuple(values))

    def cells(self) -> list[int]:
        """The cell of each clique of each record."""
        return [
            int(np.ravel_multi_index([values[n] for n in order], shape))
            for values, (_, _, scopes) in zip(self.complete, self.records, strict=True)
            for order, shape in scopes
        ]

    def sweep(self, uniform_at, accept_at) -> int:
        """Draws every record once; how many proposals were refused."""
        refused = 0
        for record, (case, at, scopes) in enumerate(self.records):
            counts = np.bincount(
                [cell for each in self.complete for cell in families(self.net, each)],
                minlength=self.net.tables.n_cells,
            ).astype(float)
            np.subtract.at(counts, of_hidden(self.net, case, self.complete[record]), 1.0)
            if not scopes:
                continue
            found, q, excess = proposal(self.net, case, counts)
            left, index, known = q.copy(), at.start, list(case)
            for order, _ in scopes:  # a clique's nodes that are not drawn yet, given those that are
                free = [n for n in order if known[n] < 0]
                cells = [tuple(each[n] for n in free) for each in found]
                if not free:
                    continue
                each_cell = [*itertools.product(*(range(self.net.nodes[n].n_states) for n in free))]
                sums = np.array(
                    [
                        sum(p for p, cell in zip(left, cells, strict=True) if cell == wanted)
                        for wanted in each_cell
                    ]
                )
                chosen = each_cell[
                    int(
                        np.searchsorted(
                            np.cumsum(sums), uniform_at(index) * sums.sum(), side="right"
                        )
                    )
                ]
                index += 1
                left = np.array(
                    [p if cell == chosen else 0.0 for p, cell in zip(left, cells, strict=True)]
                )
                for n, value in zip(free, chosen, strict=True):
                    known[n] = value
            new, old = found.index(tuple(known)), found.index(self.complete[record])
            if 1.0 - accept_at(at.start) < math.exp(excess[new] - excess[old]):
                self.complete[record] = tuple(known)
            else:
                refused += 1
        return refused


def swept(engine, net, records, options, n_sweeps, seed=0, **start) -> list:
    """The states after 0, 1, … sweeps of an engine; ``start`` are fields of the first."""
    begun = engine.init(records, net, options, StepContext(seed, 0))._replace(**start)
    return [begun, *states(engine, records, net, options, n_sweeps, seed, state=begun)]
