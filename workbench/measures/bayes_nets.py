"""The nodes of a Bayesian network in a run: their tables, standard deviations, entropies and mutual information."""

import math
from typing import NamedTuple

import numpy as np
import xarray as xr
from pandas import factorize
from scipy.special import entr, rel_entr

from workbench.measures.selection import MeasureError, spec_of

STEPS_DRAWN = 3
"""Number of time steps of a hidden Markov model whose nodes are shown."""


class NetNode(NamedTuple):
    """A node of the Bayesian network of a run."""

    name: str
    table: str
    parents: tuple[str, ...]
    hidden: bool


def table_names(run: xr.Dataset) -> list[str]:
    """Return the names of the probability tables of a run, in the order of the network."""
    if "n_cpt" not in run:
        raise MeasureError("wanted a run of a Bayesian network; this run has no probability tables")
    return list(dict.fromkeys(run["table"].values.tolist()))


def distributions(run: xr.Dataset, table: str, snapshot: int = -1) -> xr.Dataset:
    """Return the conditional distributions (given, value) in a probability table at a snapshot, with deviations and counts.

    Returns
    -------
    xarray.Dataset
        ``probability`` (given, value): posterior means, or the estimates of expectation maximisation; ``deviation``: their
        posterior standard deviations given the counts, NaN for estimates; ``count``: (expected) records of each cell.

    Raises MeasureError for an unknown table.
    """
    cells = run["table"].values == MeasureError.one_of("table", table, table_names(run))
    rows, conditions = run["row"].values[cells], run["given"].values[cells]
    width = int(np.sum(rows == rows[0]))
    count = run["n_cpt"].isel(snapshot=snapshot).values[cells].reshape(-1, width)
    estimated = "log_likelihood" in run
    prior = run["table_prior"].isel(snapshot=snapshot) if "table_prior" in run else run["prior"]
    pseudo_counts = np.maximum(count, 0.0)
    if not estimated:
        pseudo_counts += prior.values[cells].reshape(-1, width)
    total = pseudo_counts.sum(axis=1, keepdims=True)
    mean = np.divide(
        pseudo_counts, total, out=np.full_like(pseudo_counts, 1.0 / width), where=total > 0
    )
    deviation = (
        np.full_like(mean, np.nan) if estimated else np.sqrt(mean * (1 - mean) / (total + 1))
    )
    dims = ("given", "value")
    return xr.Dataset(
        {"probability": (dims, mean), "deviation": (dims, deviation), "count": (dims, count)},
        {"given": conditions[::width], "value": run["value"].values[cells][:width]},
    )


def nodes_of(run: xr.Dataset) -> list[NetNode]:
    """Return the nodes of a run's Bayesian network; for a hidden Markov model, the nodes of the first time steps only."""
    spec, tables = spec_of(run), table_names(run)
    if spec.model.get("nodes"):
        nodes = [
            (node["name"], node["cpt"], tuple(node["parents"]))
            for node in spec.model["nodes"]
            if not node["given"]
        ]
        inner = {parent for _, _, parents in nodes for parent in parents}
        observed = set(run.attrs.get("fields", ())) or {name for name, *_ in nodes} - inner
        return [
            NetNode(name, table, parents, name not in observed) for name, table, parents in nodes
        ]
    if spec.options.get("network") == "hmm":
        steps = []
        for t in range(1, STEPS_DRAWN + 1):
            parents = (f"state@{t - 1}",) if t > 1 else ()
            steps += [
                NetNode(f"state@{t}", "transition" if t > 1 else "start", parents, True),
                NetNode(f"symbol@{t}", "emission", (f"state@{t}",), False),
            ]
        return [node for node in steps if node.table in tables]
    return [
        NetNode(name, name, () if name == "class" else ("class",), name == "class")
        for name in tables
    ]


class Information(NamedTuple):
    """The entropy of a node, and its mutual information with each of its parents, in nats."""

    entropy: float  # of the node
    largest: float  # entropy of a uniform distribution
    of_parents: tuple[float, ...]  # mutual information of the node and each parent


def information(run: xr.Dataset, table: str, snapshot: int = -1) -> Information:
    """Return the entropy of a node and its mutual information with each parent.

    The distribution of parents is that of the counts. Joint probabilities are posterior means given the (expected) counts, or
    shares of the counts for maximum-likelihood estimates.
    """
    table_rows = distributions(run, table, snapshot)
    mass = np.maximum(table_rows["count"].values.sum(axis=1), 0.0)
    mass = np.where(mass.sum() > 0, mass, 1.0)
    joint = table_rows["probability"].values * (mass / mass.sum())[:, None]
    marginal = joint.sum(axis=0)
    conditions = (
        # a level that holds ", x=" is split too, alike in every row
        condition.split(", ") if condition else []
        for condition in table_rows["given"].values
    )
    mutual = []
    for states in zip(*conditions, strict=True):
        columns = factorize(np.array(states, object))[0]
        pair = np.zeros((columns.max() + 1, joint.shape[1]))
        np.add.at(pair, columns, joint)
        product = pair.sum(axis=1, keepdims=True) * marginal
        mutual.append(max(0.0, float(rel_entr(pair, product).sum())))
    return Information(float(entr(marginal).sum()), math.log(max(len(marginal), 2)), tuple(mutual))
