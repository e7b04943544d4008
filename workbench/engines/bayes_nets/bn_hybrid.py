"""Hybrid of variational Bayes and Gibbs sampling for Bayesian networks: frequent records variational, rare ones sampled.

Welling, Teh & Kappen (2008), sec. 4 and 6 (spec C.6). Distinct records that come more than r times are variational, with
expected counts m; the hidden nodes of the others are sampled, with counts c^s in chains s = 1..S that share the distributions
Q. With n^s = m + c^s, an iteration::

    sampled       y of a record ~ product over its families of (alpha + n^s)_rk / sum_k (alpha + n^s)_rk,   the record taken out
    variational   Q_c ~ prod over families of exp mean_s { psi(alpha_rk + n^s_rk) - psi(sum_k alpha_rk + n^s_r) }

r = 0 is `bn-vb` and r = inf is collapsed `bn-gibbs`, bit for bit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.engines.bayes_nets import cases
from workbench.engines.bayes_nets.bn_gibbs import CELL, initial_chain, sweep_records
from workbench.engines.bayes_nets.bn_vb import initial_counts, log_tables
from workbench.engines.bayes_nets.cases import (
    expected_counts,
    log_joint,
    predict_cells,
    prepared,
    trees_of,
)
from workbench.engines.bayes_nets.priors import Learning, kept, learnt_alpha, watched
from workbench.engines.bayes_nets.priors import retune as retune_priors
from workbench.engines.engine import (
    HYBRID,
    Engine,
    Memory,
    StepContext,
    WarmStart,
    cached_by_corpus,
)
from workbench.engines.lda.hybrid import n_chains_option
from workbench.kernels.threads import each_task
from workbench.kernels.uniforms import HIDDEN_NODES, TABLE_COUNTS
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.plan import cases_among, cases_of
from workbench.models.options import option
from workbench.records.records import Records


class State(NamedTuple):
    mean: np.ndarray  # (table cell,) float64: expected counts m
    entropy: float  # of all Q behind them, nats
    counts: np.ndarray  # (chain, table cell) float64, whole: sampled counts c
    cells: np.ndarray  # (chain, clique of a record) int32: as in `bn_gibbs`
    alpha: np.ndarray  # (table cell,) float64: priors
    # int64: junction trees of the variational records, `models.bayes_nets.plan.junction_trees`
    trees: np.ndarray
    sampled_trees: np.ndarray  # int64: of the sampled ones


@dataclass(frozen=True)
class Options(Learning):
    """Options of the engine."""

    r: float = option(
        1.0,
        "records that occur more than r times are averaged (variational); the others are sampled",
        low=0,
        infinite=True,
        label="r",
        live=True,
    )
    n_chains: int = n_chains_option()


def init(
    records: Records,
    model: BayesNet,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: random counts of the variational records, and hidden nodes drawn for the sampled ones."""
    start, alpha = initial_counts(model.tables, context), model.tables.alpha.copy()
    state = draw_state(records, model, options, [start], alpha, context, HIDDEN_NODES)
    n_averaged = len(prepared(records, model, state.trees, options.r).plan.weights)
    return state._replace(mean=start) if n_averaged else state


def draw_state(
    records: Records,
    model: BayesNet,
    options: Options,
    starts: Sequence[np.ndarray],
    alpha: np.ndarray,
    context: StepContext,
    stream: int,
) -> State:
    """Return a state with expected counts of 0, and with hidden nodes of sampled records drawn in every chain given counts.

    starts : counts (table cell,), which the chains take in turn
    """
    averaged, sampled = (
        trees_of(records, model, options.r),
        trees_of(records, model, 0.0, options.r),
    )
    forest, tables = (
        prepared(records, model, sampled, 0.0, options.r),
        model.tables.with_priors(alpha),
    )
    chains = [
        initial_chain(
            forest, tables, starts[chain % len(starts)], context, context.key(stream, chain)
        )
        for chain in range(options.n_chains if forest.n_sampled else 1)
    ]
    counts, cells = (np.stack(arrays) for arrays in zip(*chains, strict=True))
    return State(np.zeros_like(alpha), 0.0, counts, cells, alpha, averaged, sampled)


def with_expected(
    records: Records,
    model: BayesNet,
    options: Options,
    state: State,
    totals: np.ndarray,
    context: StepContext,
) -> State:
    """Return the state with the expected counts of the variational records, if any, given total counts (chain, cell)."""
    averaged = prepared(records, model, state.trees, options.r)
    if not len(averaged.plan.weights):
        return state
    tables = model.tables.with_priors(state.alpha)
    logs = np.mean([log_tables(tables, counts) for counts in totals], axis=0)
    mean, log_z = expected_counts(averaged, logs, context)
    return state._replace(mean=mean, entropy=log_z - float(np.sum(mean * logs)))


def retune(
    records: Records, model: BayesNet, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Return the state with the model's priors; after a change of r, begin anew from the total counts of the old state."""
    state, _ = retune_priors(records, model, options, state, context)
    if "r" in context.changed:
        totals = state.mean + state.counts
        state = draw_state(records, model, options, totals, state.alpha, context, TABLE_COUNTS)
        state = with_expected(records, model, options, state, totals, context)
    return state, {}


def step(
    records: Records, model: BayesNet, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Draw the hidden nodes of rare records in every chain, update the expected counts of the others, then the priors."""
    sampled = prepared(records, model, state.sampled_trees, 0.0, options.r)
    averaged = prepared(records, model, state.trees, options.r)
    moves, n_chains = [(math.nan, math.nan)], len(state.counts)
    if sampled.n_sampled:
        tables = model.tables.with_priors(state.alpha + state.mean)

        def sweep(chain: int, interrupt):
            task_context = context._replace(interrupt=interrupt)
            return sweep_records(
                sampled, tables, state.counts[chain], state.cells[chain], task_context, chain
            )

        moves = each_task(
            [partial(sweep, chain) for chain in range(n_chains)],
            context.n_threads,
            context.interrupt,
        )
    state = with_expected(records, model, options, state, state.mean + state.counts, context)
    chains, is_whole = state.mean + state.counts, not len(averaged.plan.weights)
    alpha = learnt_alpha(model, options, context, state.alpha, *chains, whole=is_whole)
    updates = sampled.n_sampled * n_chains + len(averaged.plan.weights)
    share_moved, share_accepted = np.mean(moves, axis=0).tolist()
    return state._replace(alpha=alpha), {
        "updates": max(updates, 1),
        "moved": share_moved,
        "accepted": share_accepted,
    }


def watch(records: Records, model: BayesNet, options: Options, state: State) -> dict:
    """Return diagnostics, among them `objective`: mean log joint of the chains plus entropy of the variational records.

    It is the bound if no record is sampled, the log joint if all are, else neither.
    """
    tables = model.tables.with_priors(state.alpha)
    objective = state.entropy + float(
        np.mean([log_joint(tables, state.mean + counts) for counts in state.counts])
    )
    return (
        {"objective": objective}
        | model.state_shares(state.mean + state.counts[0])
        | watched(model, options, state)
    )


def counts(records: Records, model: BayesNet, options: Options, state: State) -> dict:
    """Return the expected plus sampled table counts of the first chain only, as hidden states may be permuted."""
    return {"n_cpt": state.mean + state.counts[0]} | kept(options, state)


def predict(
    records: Records,
    model: BayesNet,
    options: Options,
    state: State,
    cells: Records,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return the probability (cell,) of each held-out cell given its record's training cells, averaged over chains."""
    tables = model.tables.with_priors(state.alpha)
    means = [np.log(tables.means(state.mean + counts)) for counts in state.counts]
    return np.mean([predict_cells(records, model, logs, cells, context) for logs in means], axis=0)


def samples(records: Records, options: Options) -> bool:
    """Return whether any record is sampled."""
    return _rarest(records) <= options.r


@cached_by_corpus
def _rarest(records: Records) -> float:
    """Return the smallest multiplicity among the distinct records with at least one known cell."""
    return float(
        cases_among(cases_of(records.values, records.multiplicities), 0.0).weights.min(
            initial=np.inf
        )
    )


def memory(records: Records, model: BayesNet, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: counts and hidden nodes of all chains, junction trees, scratch arrays."""
    net = model.for_data(records)
    forest = prepared(records, net, trees_of(records, net, 0.0, options.r), 0.0, options.r)
    n_chains = options.n_chains if forest.n_sampled else 1
    return cases.memory(
        records, net, options, n_chains * CELL * int(forest.first_cells[-1]), n_chains
    )


def engine(name: str = "bn-hybrid") -> Engine:
    return Engine(
        name=name,
        kind=HYBRID,
        colour="#559999",
        line="-..",
        marker="v",
        title="Hybrid of variational Bayes and Gibbs sampling for Bayesian networks",
        source="Welling, Teh & Kappen (2008), sec. 6",
        model=BayesNet,
        options=Options,
        state=State,
        samples=samples,
        when="For records of which many are equal: frequent ones are averaged and rare ones sampled, in a part of the time "
        "that bn-gibbs takes.",
        watches=("objective", "moved", "accepted"),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=None,
        memory=memory,
        idle=lambda options: (
            "one chain draws its records one after another"
            if options.n_chains == 1 and options.r > 0
            else None
        ),
    )
