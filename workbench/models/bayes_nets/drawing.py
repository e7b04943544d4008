"""Records drawn from a Bayesian network whose tables are given, and nodes chosen to be hidden."""

from graphlib import TopologicalSorter

import numpy as np

from workbench.data.available_memory import check_fits
from workbench.data.drawing import check_fraction, check_whole
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.model import ModelError
from workbench.records.records import Records, merged

DRAWING = 24
"""Bytes a cell: states, and the copies that sort and merge them."""


def draw_records(net: BayesNet, tables: np.ndarray, n_records: int, seed: int = 0) -> Records:
    """Draw complete records of a network: one field per node, node by node for all records at once.

    Parameters
    ----------
    tables : (table cell,) probabilities
        In the order of ``net.tables``; every row sums to 1.
    n_records : int
        Equal ones are merged.
    seed : int
        Of numpy's generator.

    Raises
    ------
    ModelError
        Tables of another length, with rows that are no distribution, or a node that is given.
    DataError
        A number of records or a seed out of range.
    """
    about, tables = net.tables, np.asarray(tables, float)
    n_records, random = (
        check_whole("n_records", n_records, 1),
        np.random.default_rng(check_whole("seed", seed, 0)),
    )
    check_fits(
        DRAWING * n_records * len(net.nodes),
        f"{n_records:,} records of {net.called}",
        "ask for fewer",
    )
    if tables.shape != (about.n_cells,):
        raise ModelError(
            f"{net.called} has {about.n_cells:,} cells of tables; {tables.size:,} came"
        )
    if np.any(tables < 0) or not np.allclose(about.sum_rows(tables), 1.0, rtol=0, atol=1e-6):
        raise ModelError(
            f"{net.called}: every row of its tables must be probabilities that sum to 1"
        )
    at = {node.name: number for number, node in enumerate(net.nodes)}
    values = np.empty((n_records, len(net.nodes)), np.int32)
    for name in TopologicalSorter({node.name: node.parents for node in net.nodes}).static_order():
        node = net.nodes[at[name]]
        if node.given:
            raise ModelError(f"{net.called}: node '{name}' is given, so nothing is drawn from it")
        row = np.zeros(n_records, np.int64)
        for parent in node.parents:
            row = row * net.nodes[at[parent]].n_states + values[:, at[parent]]
        first = about.starts[about.table_of[at[name]]]
        last = about.starts[about.table_of[at[name]] + 1]
        upto = np.cumsum(tables[first:last].reshape(-1, node.n_states), axis=1)[:, :-1]
        values[:, at[name]] = (random.random(n_records)[:, None] >= upto[row]).sum(axis=1)
    fields, levels = tuple(at), tuple(node.state_names for node in net.nodes)
    return Records(*merged(values, np.ones(n_records, np.int64)), fields, levels, net.name)


def draw_hidden(net: BayesNet, hidden: float = 0.2, seed: int = 0) -> tuple[str, ...]:
    """Return the names of nodes to hide: a random share of the inner nodes, which have parents and children.

    ``records.of_fields`` takes the others. A share that is not in [0, 1) and a seed below 0 are a DataError.
    """
    check_fraction(hidden, "hidden")
    parents = {name for node in net.nodes for name in node.parents}
    inner = [node.name for node in net.nodes if node.parents and node.name in parents]
    chosen = np.random.default_rng(check_whole("seed", seed, 0)).permutation(len(inner))[
        : round(hidden * len(inner))
    ]
    return tuple(inner[at] for at in sorted(chosen))
