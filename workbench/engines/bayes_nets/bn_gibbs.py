"""Gibbs sampling of Bayesian networks: all hidden nodes of a record are drawn together given all other records.

Welling, Teh & Kappen (2008), eq. 29 (spec C.5). With n the counts of complete records and alpha the priors::

    collapsed   y of a record ~ product over its families of (alpha_rk + n_rk) / (sum_k alpha_rk + n_r),   the record taken out
                accepted or refused where nodes share a table (Metropolis-Hastings): `kernels.bayes_nets.gibbs`
    drawn       theta_r ~ Dirichlet(alpha_r + n_r) for every row of every table, then y of each record ~ product of its theta

Drawn tables make records independent, so that they go side by side on threads, and shared ones need no correction; collapsed
ones mix better. Both leave the same posterior as it is.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.engines.bayes_nets import cases
from workbench.engines.bayes_nets.bn_vb import initial_counts
from workbench.engines.bayes_nets.cases import (
    Prepared,
    log_joint,
    prepared,
    trees_of,
    workspace,
)
from workbench.engines.bayes_nets.priors import (
    Learning,
    counts,
    learnt_alpha,
    predict,
    retune,
    watched,
)
from workbench.engines.engine import SAMPLER, Engine, Memory, StepContext, WarmStart
from workbench.kernels.bayes_nets.gibbs import draw_given_tables, draw_log_tables
from workbench.kernels.bayes_nets.gibbs import sweep as sweep_cases
from workbench.kernels.threads import each_slice
from workbench.kernels.uniforms import ACCEPTED_NODES, DRAWN_TABLES, HIDDEN_NODES
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.tables import Tables
from workbench.models.options import option
from workbench.records.records import Records

CELL = np.dtype(np.int32).itemsize


class State(NamedTuple):
    counts: np.ndarray  # (table cell,) float64, whole: counts n of complete records
    # (clique of a record,) int32: the drawn cell of each clique, which gives the states of its hidden nodes
    cells: np.ndarray
    alpha: np.ndarray  # (table cell,) float64: priors
    # int64: cliques of the junction trees, `models.bayes_nets.plan.junction_trees`
    trees: np.ndarray


@dataclass(frozen=True)
class Options(Learning):
    """Options of the engine."""

    tables: str = option(
        "collapsed",
        "tables integrated out, or drawn in each iteration",
        choices=("collapsed", "drawn"),
    )


def init(
    records: Records,
    model: BayesNet,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: hidden nodes drawn from tables of random counts."""
    tables, trees = model.tables, trees_of(records, model)
    start, key = initial_counts(tables, context), context.key(HIDDEN_NODES)
    forest = prepared(records, model, trees)
    return State(*initial_chain(forest, tables, start, context, key), tables.alpha.copy(), trees)


def draw_given(
    forest: Prepared, logs: np.ndarray, cells: np.ndarray, context: StepContext, key: np.uint64
) -> tuple[np.ndarray, int]:
    """Draw the hidden nodes of all records given log probability tables; write the clique cells to ``cells``.

    Returns the counts (table cell,) and how many records changed. The result does not depend on the number of threads.
    """
    tables = np.exp(logs)

    def visit(first: int, last: int):
        counts, draws = np.zeros(len(logs)), np.empty(most_cliques(forest), np.int32)
        return counts, draw_given_tables(
            first,
            last,
            forest.plan,
            forest.first_cells,
            tables,
            logs,
            key,
            *workspace(forest.plan),
            counts,
            cells,
            draws,
        )

    counts, n_moved = np.zeros(len(logs)), 0
    for slice_counts, n_moved_in_slice in each_slice(
        visit, forest.slices, context.n_threads, context.interrupt
    ):
        counts += slice_counts
        n_moved += n_moved_in_slice
    return counts, n_moved


def initial_chain(
    forest: Prepared, tables: Tables, start: np.ndarray, context: StepContext, key: np.uint64
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the hidden nodes of a chain given counts (table cell,); return the table counts and the drawn clique cells."""
    cells, logs = np.zeros(forest.first_cells[-1], np.int32), np.log(tables.means(start))
    return draw_given(forest, logs, cells, context, key)[0], cells


def most_cliques(forest: Prepared) -> int:
    """Return the largest number of cliques in one junction tree."""
    return int(np.diff(forest.plan.cliques).max(initial=1))


class Moves(NamedTuple):
    """Shares of a sweep's draws that changed the hidden nodes, and that were accepted; NaN without hidden nodes."""

    moved: float  # share of draws that changed the hidden nodes
    accepted: float  # share of draws that were accepted


def sweep_records(
    forest: Prepared,
    tables: Tables,
    counts: np.ndarray,
    cells: np.ndarray,
    context: StepContext,
    chain: int = 0,
) -> Moves:
    """Make a collapsed Gibbs sweep over the hidden nodes of all records; update ``counts`` and ``cells`` in place.

    ``tables`` has the priors, to which the expected counts of variational records are added.
    """
    rows, key, accept_key = (
        tables.sum_rows(counts),
        context.key(HIDDEN_NODES, chain),
        context.key(ACCEPTED_NODES, chain),
    )
    q, inverse = tables.alpha + counts, 1.0 / (tables.alpha_rows + rows)
    proposal, n_draws = np.empty(most_cliques(forest), np.int32), np.zeros(2)
    for first, last in forest.slices:
        context.interrupt()
        n_draws += sweep_cases(
            first,
            last,
            forest.plan,
            forest.first_cells,
            tables.tied,
            tables.row_of,
            tables.alpha,
            tables.alpha_rows,
            counts,
            rows,
            q,
            inverse,
            cells,
            key,
            accept_key,
            np.zeros(len(q)),
            *workspace(forest.plan),
            proposal,
        )
    return moves_of(forest, n_draws[1], n_draws[0])


def moves_of(forest: Prepared, n_moved: int, n_accepted: int) -> Moves:
    """Return the numbers of changed and of accepted draws as shares of the number of records with hidden nodes."""
    n = forest.n_sampled
    return Moves(float(n_moved) / n, float(n_accepted) / n) if n else Moves(math.nan, math.nan)


def step(
    records: Records, model: BayesNet, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Draw the hidden nodes of all records once; then update the priors if due."""
    forest, tables = prepared(records, model, state.trees), model.tables.with_priors(state.alpha)
    if options.tables == "drawn":
        logs = np.empty(tables.n_cells)
        draw_log_tables(
            tables.row_starts, tables.alpha + state.counts, context.key(DRAWN_TABLES), logs
        )
        counts, n_moved = draw_given(forest, logs, state.cells, context, context.key(HIDDEN_NODES))
        state, moves = state._replace(counts=counts), moves_of(forest, n_moved, forest.n_sampled)
    else:
        moves = sweep_records(forest, tables, state.counts, state.cells, context)
    alpha = learnt_alpha(model, options, context, state.alpha, state.counts, whole=True)
    return state._replace(alpha=alpha), {"updates": max(forest.n_sampled, 1)} | moves._asdict()


def watch(records: Records, model: BayesNet, options: Options, state: State) -> dict:
    log_p = log_joint(model.tables.with_priors(state.alpha), state.counts)
    return {"log_joint": log_p} | model.state_shares(state.counts) | watched(model, options, state)


def memory(records: Records, model: BayesNet, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: counts, hidden nodes, junction trees, and scratch arrays."""
    net = model.for_data(records)
    forest = prepared(records, net, trees_of(records, net))
    return cases.memory(records, net, options, CELL * int(forest.first_cells[-1]))


def engine(name: str = "bn-gibbs") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#22aa00",
        line=":",
        marker="D",
        title="Gibbs sampling of Bayesian networks",
        source="Welling, Teh & Kappen (2008), eq. 29, corrected",
        when="The reference for records with hidden nodes: a long run draws from the exact posterior, but takes long where "
        "there are many records.",
        model=BayesNet,
        options=Options,
        state=State,
        samples=lambda records, options: True,
        watches=("log_joint", "moved", "accepted"),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=None,
        memory=memory,
        idle=lambda options: (
            None
            if options.tables == "drawn"
            else "records are drawn one after another; set tables=drawn"
        ),
    )
