"""Distributions of the nodes of a Bayesian network in a run: tables, how sure they are, entropies, mutual information."""

import math
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures.selection import MeasureError, spec_of

STEPS_DRAWN = 3
"""Places of a hidden Markov model of which the nodes are told."""


class NetNode(NamedTuple):
    """A node as a run knows it."""

    name: str
    table: str
    parents: tuple[str, ...]
    hidden: bool


def table_names(run: xr.Dataset) -> list[str]:
    """Names of the tables of a run, in order."""
    if "n_cpt" not in run:
        raise MeasureError("tables are those of runs of Bayesian networks; this run has none")
    return list(dict.fromkeys(run["table"].values.tolist()))


def distributions(run: xr.Dataset, table: str, snapshot: int = -1) -> xr.Dataset:
    """The distributions of a table in a snapshot.

    Returns
    -------
    xarray.Dataset
        ``probability`` (given, value): posterior means, or the estimates of expectation maximisation; ``deviation``: their
        posterior standard deviations given the counts, NaN for estimates; ``count``: (expected) records of each cell.

    An unknown table is a MeasureError.
    """
    if table not in table_names(run):
        raise MeasureError(f"no table '{table}'; there are {', '.join(table_names(run))}")
    cells = run["table"].values == table
    rows, given = run["row"].values[cells], run["given"].values[cells]
    width = int(np.sum(rows == rows[0]))
    count = run["n_cpt"].isel(snapshot=snapshot).values[cells].reshape(-1, width)
    estimated = "log_likelihood" in run
    prior = run["table_prior"].isel(snapshot=snapshot) if "table_prior" in run else run["prior"]
    raised = np.maximum(count, 0.0) + (0.0 if estimated else prior.values[cells].reshape(-1, width))
    total = raised.sum(axis=1, keepdims=True)
    mean = np.divide(raised, total, out=np.full_like(raised, 1.0 / width), where=total > 0)
    deviation = (
        np.full_like(mean, np.nan) if estimated else np.sqrt(mean * (1 - mean) / (total + 1))
    )
    dims = ("given", "value")
    return xr.Dataset(
        {"probability": (dims, mean), "deviation": (dims, deviation), "count": (dims, count)},
        {"given": given[::width], "value": run["value"].values[cells][:width]},
    )


def nodes_of(run: xr.Dataset) -> list[NetNode]:
    """The nodes of the network of a run; of a hidden Markov model those of its first places."""
    spec, tables = spec_of(run), table_names(run)
    if spec.model.get("nodes"):
        given = [
            (node["name"], node["cpt"], tuple(node["parents"]))
            for node in spec.model["nodes"]
            if not node["given"]
        ]
        known = set(run.attrs.get("fields", ())) or {name for name, _, parents in given} - _inner(
            given
        )
        return [NetNode(name, table, parents, name not in known) for name, table, parents in given]
    if spec.options.get("network") == "hmm":
        found = []
        for t in range(1, STEPS_DRAWN + 1):
            before = (f"state@{t - 1}",) if t > 1 else ()
            found += [
                NetNode(f"state@{t}", "transition" if t > 1 else "start", before, True),
                NetNode(f"symbol@{t}", "emission", (f"state@{t}",), False),
            ]
        return [node for node in found if node.table in tables]
    return [
        NetNode(name, name, () if name == "class" else ("class",), name == "class")
        for name in tables
    ]


def _inner(given) -> set[str]:
    """The nodes that are parents."""
    return {parent for _, _, parents in given for parent in parents}


class Information(NamedTuple):
    """What a table says of its node and of each of its parents, in nats."""

    entropy: float  # of the node alone
    largest: float  # the entropy of a uniform one
    of_parents: tuple[float, ...]  # mutual information of the node and each parent


def information(run: xr.Dataset, table: str, snapshot: int = -1) -> Information:
    """Entropy of a node and its mutual information with each parent, where parents are as frequent as in the counts.

    Joint probabilities are the (expected) counts with the priors, or the counts alone of estimates.
    """
    found = distributions(run, table, snapshot)
    mass = np.maximum(found["count"].values.sum(axis=1), 0.0)
    mass = np.where(mass.sum() > 0, mass, 1.0)
    joint = found["probability"].values * (mass / mass.sum())[:, None]
    own = joint.sum(axis=0)
    parents = [
        _states(part)
        for part in zip(*(_parts(each) for each in found["given"].values), strict=True)
    ]
    shared = []
    for at in parents:
        pair = np.zeros((max(at) + 1, joint.shape[1]))
        np.add.at(pair, at, joint)
        outer = pair.sum(axis=1, keepdims=True) * own
        with np.errstate(divide="ignore", invalid="ignore"):
            shared.append(
                max(0.0, float(np.nansum(np.where(pair > 0, pair * np.log(pair / outer), 0.0))))
            )
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -float(np.nansum(np.where(own > 0, own * np.log(own), 0.0)))
    return Information(entropy, math.log(max(len(own), 2)), tuple(shared))


def _parts(given: str) -> list[str]:
    """ "a=1, b=2" as its parts; levels that hold ", x=" themselves fall into more, alike in every row."""
    return given.split(", ") if given else []


def _states(texts) -> list[int]:
    """Numbers of texts in the order of their first appearance."""
    known = {}
    return [known.setdefault(text, len(known)) for text in texts]
