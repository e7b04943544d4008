"""The distinct records of data with their junction trees, and computations that engines of Bayesian networks share.

`Factors` has the families of all cases as stretches of table cells, each different one once, for
`kernels.bayes_nets.factors`.
"""

from dataclasses import replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import gammaln, softmax

from workbench.engines.engine import DOUBLE, Memory, Options, StepContext
from workbench.kernels.bayes_nets.factors import BLOCK, expect_factors, log_evidence_of_factors
from workbench.kernels.bayes_nets.propagate import expect, log_evidence, marginals
from workbench.kernels.threads import each_slice
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.plan import (
    Cases,
    Plan,
    cases_among,
    cases_of,
    junction_trees,
    plan_of,
)
from workbench.models.bayes_nets.tables import Tables
from workbench.records.records import Records

MOST_CELLS, MOST_PER_WORK = 2**20, 1.0
"""Maximum of factor cells for which factors are used: in total, and per unit of `Plan.work`."""


class Factors(NamedTuple):
    """Junction trees that read factors (contiguous copies of the table cells of each family) instead of tables."""

    # offsets: first cell of a family's factor; cliques begin at multiples of a block
    plan: Plan
    # (factor cell,) int64: the table cell that is copied; padding has the number of table cells
    cells: np.ndarray
    n_cells: int  # number of table cells

    def fill(self, tables: np.ndarray, padding: float) -> np.ndarray:
        """Copy table values (table cell,) to factor cells (factor cell,)."""
        return np.append(tables, padding)[self.cells]


def factors_of(plan: Plan, n_cells: int) -> Factors | None:
    """Return junction trees that read contiguous copies of table cells; None if copying costs too much memory or time."""
    sizes = plan.free * plan.separators
    family_sizes = np.ones(len(plan.down), np.int64)
    for (first, last), size in zip(plan.clique_families, sizes, strict=True):
        family_sizes[first:last] = size
    n_families = np.diff(plan.families)[plan.patterns]
    family = np.arange(len(plan.offsets)) - np.repeat(
        plan.first_offset[:-1] - plan.families[plan.patterns], n_families
    )
    maps, map_numbers = np.unique(
        np.column_stack([plan.down, family_sizes]), axis=0, return_inverse=True
    )
    different, numbers_of_different = np.unique(
        plan.offsets * len(maps) + map_numbers.ravel()[family], return_inverse=True
    )
    offsets, (downs, sizes_of) = (
        different // max(len(maps), 1),
        maps[different % max(len(maps), 1)].T,
    )
    starts = np.concatenate([[0], np.cumsum(_padded(sizes_of))])
    if not 0 < starts[-1] <= min(MOST_CELLS, MOST_PER_WORK * plan.work.sum()):
        return None
    number = np.repeat(np.arange(len(different)), sizes_of)
    positions = np.arange(len(number)) - np.repeat(np.cumsum(sizes_of) - sizes_of, sizes_of)
    cells = np.full(starts[-1], n_cells)
    cells[starts[number] + positions] = offsets[number] + plan.maps[downs[number] + positions]
    # A clique's cells are those of its families' factors, one after another: also for what goes by logarithms.
    identity = np.arange(sizes_of.max(), dtype=np.int32)
    starts_of_rows = np.concatenate([[0], np.cumsum(_padded(sizes))])
    return Factors(
        plan._replace(
            offsets=starts[numbers_of_different.ravel()],
            down=np.full_like(plan.down, len(plan.maps)),
            # the first cell of each clique, those of a pattern one after another in whole blocks
            cell_at=starts_of_rows[:-1]
            - np.repeat(starts_of_rows[plan.cliques[:-1]], np.diff(plan.cliques)),
            maps=np.concatenate([plan.maps, identity]),
        ),
        cells,
        n_cells,
    )


def _padded(sizes: np.ndarray) -> np.ndarray:
    return -(-sizes // BLOCK) * BLOCK


SLICE_WORK, MOST_PARTIAL = 2**20, 2**22
"""Work of a slice of cases, in numbers visited; maximum of numbers in all slices' own counts."""
KEPT = WeakKeyDictionary()
"""Cache: records → plans by network, as long as the records exist."""


class Prepared(NamedTuple):
    """The junction trees of all distinct records (cases), in slices of similar work; independent of parameters."""

    plan: Plan
    slices: list[tuple[int, int]]
    # (case + 1,) int64: index of the first sampled clique cell of each case, record after record
    first_cells: np.ndarray
    factors: Factors | None  # the same plan with factors; None: too large

    @property
    def first_own(self) -> np.ndarray:
        """Index (case + 1,) int64 of each case's first clique cell in an array of the clique cells of all cases."""
        sizes = np.concatenate([[0], np.cumsum(self.plan.free * self.plan.separators)])
        return np.concatenate(
            [[0], np.cumsum(np.diff(sizes[self.plan.cliques])[self.plan.patterns])]
        )

    @property
    def n_sampled(self) -> int:
        """Number of records that need sampling: those with hidden nodes."""
        return int(np.sum(self.plan.weights[np.diff(self.first_cells) > 0]))


def cases_within(
    records: Records, net: BayesNet, lower: float = 0.0, upper: float = np.inf
) -> Cases:
    """Return the distinct records that occur more than ``lower`` and at most ``upper`` times."""
    return cases_among(cases_of(net.values(records), records.multiplicities), lower, upper)


def trees_of(
    records: Records, net: BayesNet, lower: float = 0.0, upper: float = np.inf
) -> np.ndarray:
    """Return the junction trees of records that occur more than ``lower`` and at most ``upper`` times."""
    return junction_trees(net, cases_within(records, net, lower, upper))


def prepared(
    records: Records, net: BayesNet, trees: np.ndarray, lower: float = 0.0, upper: float = np.inf
) -> Prepared:
    """Return, from a cache, the junction trees of records in slices of similar work; for the limits see `cases_within`."""
    plans, key = KEPT.setdefault(records, {}), (net.content_hash, lower, upper, trees.tobytes())
    if key not in plans:
        plans[key] = in_slices(
            plan_of(net, cases_within(records, net, lower, upper), trees), net.tables.n_cells
        )
    return plans[key]


def in_slices(plan: Plan, n_cells: int) -> Prepared:
    """Return a plan's junction trees with slices of its cases (distinct records) of similar work; few for large tables."""
    work_before = np.concatenate([[0], np.cumsum(plan.work)])
    n_slices = int(
        min(
            np.ceil(work_before[-1] / SLICE_WORK),
            max(4, MOST_PARTIAL // n_cells),
            len(plan.patterns),
        )
    )
    cuts = np.unique(
        np.searchsorted(work_before, np.linspace(0, work_before[-1], max(n_slices, 1) + 1))
    )
    cuts[0], cuts[-1] = 0, len(plan.patterns)
    first_cells = np.concatenate(
        [[0], np.cumsum(np.diff(plan.cliques)[plan.patterns] * plan.weights.astype(np.int64))]
    )
    return Prepared(
        plan,
        list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)),
        first_cells,
        factors_of(plan, n_cells),
    )


def workspace(plan: Plan) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Allocate the scratch arrays of a junction-tree kernel for one thread: w, largest, sums and factors."""
    return tuple(
        np.empty(n)
        for n in (plan.n_cells + BLOCK, plan.n_separators, plan.n_separators, plan.n_factors)
    )


def expected_counts(
    forest: Prepared, logs: np.ndarray, context: StepContext
) -> tuple[np.ndarray, float]:
    """Return the expected counts (table cell,) given log probability tables, and the sum of log Z over records."""
    factors, tables = forest.factors, np.exp(logs)
    if factors:
        tables, logs = factors.fill(tables, 1.0), factors.fill(logs, 0.0)

    def visit(first: int, last: int):
        counts = np.zeros(len(logs))
        if factors:
            return counts, expect_factors(
                first, last, factors.plan, tables, logs, *workspace(factors.plan)[:3], counts
            )
        return counts, expect(
            first, last, forest.plan, tables, logs, *workspace(forest.plan), counts
        )

    counts, log_z = np.zeros(len(logs)), 0.0
    for slice_counts, log_z_of_slice in each_slice(
        visit, forest.slices, context.n_threads, context.interrupt
    ):
        counts += slice_counts
        log_z += log_z_of_slice
    if factors:  # the padding is counted in a cell of its own, the last one
        counts = np.bincount(factors.cells, counts, factors.n_cells + 1)[:-1]
    return counts, log_z


def clique_marginals(forest: Prepared, logs: np.ndarray, context: StepContext) -> np.ndarray:
    """Return the marginals of the clique cells of every case, concatenated, given log probability tables."""
    first_own, tables = forest.first_own, np.exp(logs)
    probabilities = np.empty(first_own[-1])

    def visit(first: int, last: int):
        marginals(
            first,
            last,
            forest.plan,
            tables,
            logs,
            *workspace(forest.plan),
            first_own,
            probabilities,
        )

    each_slice(visit, forest.slices, context.n_threads, context.interrupt)
    return probabilities


def evidence(forest: Prepared, logs: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return log Z (case,), the log probability of each distinct record, given log probability tables (table cell,)."""
    log_z, tables, factors = np.empty(len(forest.plan.patterns)), np.exp(logs), forest.factors
    if factors:
        tables, logs = factors.fill(tables, 1.0), factors.fill(logs, 0.0)

    def visit(first: int, last: int):
        if factors:
            log_evidence_of_factors(
                first, last, factors.plan, tables, logs, *workspace(factors.plan)[:3], log_z
            )
        else:
            log_evidence(first, last, forest.plan, tables, logs, *workspace(forest.plan), log_z)

    each_slice(visit, forest.slices, n_threads, lambda: None)
    return log_z


def log_joint(tables: Tables, counts: np.ndarray) -> float:
    """Return the log joint of complete records from their table counts, tables integrated out (eq. 26, spec C1)."""
    rows = tables.sum_rows(counts)
    row_terms = gammaln(tables.alpha_rows) - gammaln(tables.alpha_rows + rows)
    return float(row_terms.sum() + np.sum(gammaln(tables.alpha + counts) - gammaln(tables.alpha)))


def predict_cells(
    train: Records,
    net: BayesNet,
    logs: np.ndarray,
    test: Records,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return the probability (cell,) of each known cell of ``test`` given the training cells of the same record.

    For a record without training cells, each cell is given the held-out cells before it, so that the product over cells is the
    probability of the record. ``logs`` are logarithms of distributions. p(x | others) = p(x, others) / p(others).
    """
    plans, key = KEPT.setdefault(test, {}), ("predicted", net.content_hash, train.content_hash)
    if key not in plans:
        marginal = replace(net, missing="marginalised")
        both = cases_of(
            np.concatenate(_with_and_without(train, net, test)), np.ones(2 * len(test.weights))
        )
        plan = plan_of(marginal, both, junction_trees(marginal, both))
        plans[key] = in_slices(plan, net.tables.n_cells), both.of_record
    forest, case_numbers = plans[key]
    n_threads = 1 if context is None else context.n_threads
    log_with, log_without = np.split(evidence(forest, logs, n_threads)[case_numbers], 2)
    return np.exp(log_with - log_without)


def log_evidence_of(
    net: BayesNet, values: np.ndarray, logs: np.ndarray, n_threads: int = 1
) -> np.ndarray:
    """Return the log probability (row,) of the known entries of ``values`` (row, node); -1 marks unknown ones."""
    marginal = replace(net, missing="marginalised")
    cases = cases_of(values, np.ones(len(values)))
    plan = plan_of(marginal, cases, junction_trees(marginal, cases))
    return evidence(in_slices(plan, net.tables.n_cells), logs, n_threads)[cases.of_record]


def posterior(
    net: BayesNet, values: np.ndarray, node: int, logs: np.ndarray, n_threads: int = 1
) -> np.ndarray:
    """Return p(hidden node | known values) (row, state), given log probability tables."""
    n_states = net.nodes[node].n_states
    assigned = np.repeat(values, n_states, axis=0)
    assigned[:, node] = np.tile(np.arange(n_states), len(values))
    logs_of_states = log_evidence_of(net, assigned, logs, n_threads).reshape(len(values), n_states)
    return softmax(logs_of_states, axis=1)


def _with_and_without(train, net: BayesNet, test) -> tuple[np.ndarray, np.ndarray]:
    """Return node states (test cell, node) of each test cell's training record with the cell's value, and without."""
    number, states = {node.name: i for i, node in enumerate(net.nodes)}, net.values(train)
    nodes = np.array([number[field] for field in test.fields])[test.cells.fields]
    added = net.values(test)[test.cells.records, nodes]
    states_without, cells = states[test.cells.records], np.arange(len(nodes))
    states_without[cells, nodes] = -1
    is_empty = ~np.any(train.values >= 0, axis=1)
    for cell in np.flatnonzero(is_empty[test.cells.records]):
        if cell and test.cells.records[cell - 1] == test.cells.records[cell]:
            states_without[cell] = states_without[cell - 1]
            states_without[cell, nodes[cell - 1]] = added[cell - 1]
    states_with = states_without.copy()
    states_with[cells, nodes] = added
    return states_with, states_without


def memory(
    records: Records, net: BayesNet, options: Options, own_bytes: int = 0, n_chains: int = 0
) -> Memory:
    """Forecast the memory of a run in bytes: table cells, junction trees, and a copy of the counts per slice and chain.

    own_bytes : bytes of the state in addition to the counts
    """
    net = net.for_data(records)
    cells = net.tables.n_cells * DOUBLE
    return Memory(
        (2 + n_chains) * cells + own_bytes,
        indices=40 * records.n_distinct * len(net.nodes),
        step=(6 + n_chains) * cells,
        look=3 * cells,
    )
