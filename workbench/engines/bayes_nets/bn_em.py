"""Expectation maximisation of Bayesian networks with hidden nodes: the most likely tables.

Dempster, Laird & Rubin (1977); Lauritzen (1995), "The EM algorithm for graphical association models with missing data". With
theta the distributions of all tables, an iteration::

    n_rk     = expected counts of all records given theta, by junction trees      (`kernels.bayes_nets.propagate`)
    theta_rk = n_rk / n_r                                                          row r, state k; a row without counts stays

The log likelihood, hidden nodes summed out, never falls. Priors have no part in it. What never came has probability 0 then: a
prediction takes ``least`` for it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.engines.bayes_nets.bn_vb import initial_counts
from workbench.engines.bayes_nets.cases import (
    evidence,
    expected_counts,
    memory,
    predict_cells,
    prepared,
    trees_of,
)
from workbench.engines.bayes_nets.priors import counts
from workbench.engines.engine import VARIATIONAL, Engine, StepContext, WarmStart
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.tables import Tables
from workbench.models.options import option
from workbench.records.records import Records

TINY = 1e-300
"""Replaces a probability of 0, whose logarithm does not exist."""


class State(NamedTuple):
    theta: np.ndarray  # (table cell,) float64: distributions
    counts: np.ndarray  # (table cell,) float64: the expected counts from which theta was estimated
    # int64: cliques of the junction trees, `models.bayes_nets.plan.junction_trees`
    trees: np.ndarray


@dataclass(frozen=True)
class Options:
    """Options of the engine."""

    least: float = option(
        1e-15,
        "smallest probability, in predictions, of a state whose estimate is zero",
        low=0,
        high=0.1,
        label="Smallest probability",
    )


def init(
    records: Records,
    model: BayesNet,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: posterior mean tables given random counts, uniform in [0, 2)."""
    counts = initial_counts(model.tables, context)
    return State(model.tables.means(counts), counts, trees_of(records, model))


def estimate(tables: Tables, counts: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return maximum-likelihood tables (table cell,): counts / row sum, or ``theta`` in rows without counts."""
    rows = tables.sum_rows(counts)[tables.row_of]
    return np.where(rows > 0, counts / np.where(rows > 0, rows, 1.0), theta)


def step(
    records: Records, model: BayesNet, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Make an EM iteration: the expected counts of all records, then the maximum-likelihood tables."""
    forest = prepared(records, model, state.trees)
    counts, _ = expected_counts(forest, np.log(np.maximum(state.theta, TINY)), context)
    state = State(estimate(model.tables, counts, state.theta), counts, state.trees)
    return state, {"updates": len(forest.plan.patterns)}


def watch(records: Records, model: BayesNet, options: Options, state: State) -> dict:
    """Return the ``log_likelihood`` of the records under the current tables; for shipped networks also shares of states."""
    forest = prepared(records, model, state.trees)
    log_z = evidence(forest, np.log(np.maximum(state.theta, TINY)))
    return {"log_likelihood": float(forest.plan.weights @ log_z)} | model.state_shares(state.counts)


def predict(
    records: Records,
    model: BayesNet,
    options: Options,
    state: State,
    cells: Records,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return the probability (cell,) of each held-out cell given the training cells of the same record."""
    bounded_theta = np.maximum(state.theta, max(options.least, TINY))
    theta = bounded_theta / model.tables.sum_rows(bounded_theta)[model.tables.row_of]
    return predict_cells(records, model, np.log(theta), cells, context)


def engine(name: str = "bn-em") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#2a77a2",
        line="-.",
        marker="^",
        title="Expectation maximisation for Bayesian networks",
        source="Dempster, Laird & Rubin (1977); Lauritzen (1995)",
        model=BayesNet,
        options=Options,
        state=State,
        when="For the most likely tables of many records, and for comparisons with other programs; with few records the "
        "others, which have priors, predict better.",
        samples=lambda records, options: False,
        watches=("log_likelihood",),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=None,
        memory=memory,
    )
