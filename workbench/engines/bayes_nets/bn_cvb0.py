"""Collapsed variational Bayes of zeroth order (CVB0) for Bayesian networks with hidden nodes.

Asuncion, Welling, Smyth & Teh (2009), eq. 6, for networks: as in `bn-vb` each distinct record has a distribution over its
hidden nodes, but its tables are predictive probabilities without one record of its own expected counts::

    Q_c ~ prod over families of (alpha_rk + n_rk - own_rk) / (sum_k alpha_rk + n_r - own_r)

Records are visited one after another, and each changes the counts at once. For LDA written as document -> topic -> word it is
`cvb0`. It has no bound, and no guarantee to settle.
"""

from typing import NamedTuple

import numpy as np

from workbench.engines.bayes_nets import cases
from workbench.engines.bayes_nets.bn_vb import initial_counts
from workbench.engines.bayes_nets.cases import (
    Prepared,
    clique_marginals,
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
from workbench.engines.engine import DOUBLE, VARIATIONAL, Engine, Memory, StepContext, WarmStart
from workbench.kernels.bayes_nets.cvb0 import sweep
from workbench.kernels.bayes_nets.propagate import add_marginals
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.records.records import Records


class State(NamedTuple):
    counts: np.ndarray  # (table cell,) float64: expected counts n
    own: np.ndarray  # (clique cell of a distinct record,) float64: probabilities
    alpha: np.ndarray  # (table cell,) float64: priors
    # int64: cliques of the junction trees, `models.bayes_nets.plan.junction_trees`
    trees: np.ndarray


def init(
    records: Records,
    model: BayesNet,
    options: Learning,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: marginals of the hidden nodes, computed from tables of random counts."""
    trees = trees_of(records, model)
    forest = prepared(records, model, trees)
    marginals = clique_marginals(
        forest, np.log(model.tables.means(initial_counts(model.tables, context))), context
    )
    return State(
        counts_of(forest, marginals, model.tables.n_cells),
        marginals,
        model.tables.alpha.copy(),
        trees,
    )


def counts_of(forest: Prepared, marginals: np.ndarray, n_cells: int) -> np.ndarray:
    """Recompute the expected counts (table cell,) from the marginals of all records, without accumulated rounding."""
    counts = np.zeros(n_cells)
    add_marginals(
        0,
        len(forest.plan.patterns),
        forest.plan,
        forest.first_own,
        marginals,
        np.empty(forest.plan.n_factors),
        counts,
    )
    return counts


def step(
    records: Records, model: BayesNet, options: Learning, state: State, context: StepContext
) -> tuple[State, dict]:
    """Update the hidden-node marginals of every distinct record once; then update the priors if due."""
    forest, tables = prepared(records, model, state.trees), model.tables.with_priors(state.alpha)
    counts, marginals = counts_of(forest, state.own, tables.n_cells), state.own
    rows = tables.sum_rows(counts)
    q, inverse, largest_change = tables.alpha + counts, 1.0 / (tables.alpha_rows + rows), 0.0
    for first, last in forest.slices:
        context.interrupt()
        largest_change = max(
            largest_change,
            sweep(
                first,
                last,
                forest.plan,
                tables.tied,
                tables.row_of,
                tables.alpha,
                tables.alpha_rows,
                counts,
                rows,
                q,
                inverse,
                forest.first_own,
                marginals,
                np.zeros(len(q)),
                *workspace(forest.plan),
            ),
        )
    alpha = learnt_alpha(model, options, context, state.alpha, counts)
    return state._replace(counts=counts, own=marginals, alpha=alpha), {
        "updates": len(forest.plan.patterns),
        "change": largest_change,
    }


def watch(records: Records, model: BayesNet, options: Learning, state: State) -> dict:
    return model.state_shares(state.counts) | watched(model, options, state)


def memory(records: Records, model: BayesNet, options: Learning) -> Memory:
    """Forecast the memory of a run in bytes: counts, clique marginals, junction trees, and scratch arrays."""
    net = model.for_data(records)
    forest = prepared(records, net, trees_of(records, net))
    return cases.memory(records, net, options, DOUBLE * int(forest.first_own[-1]))


def engine(name: str = "bn-cvb0") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#9980ff",
        line="--",
        marker="s",
        title="CVB0 for Bayesian networks",
        source="Asuncion, Welling, Smyth & Teh (2009), eq. 6, for networks",
        when="For records, without random draws: it predicted as well as bn-gibbs on those we measured, but has no bound.",
        model=BayesNet,
        options=Learning,
        state=State,
        samples=lambda records, options: False,
        watches=("change",),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=None,
        memory=memory,
        idle=lambda options: (
            "records are visited one after another, each with what the last one changed"
        ),
    )
