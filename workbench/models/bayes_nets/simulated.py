"""Records simulated from published Bayesian networks: a share of the inner nodes is hidden, the truth is known.

The networks are in files of pgmpy (the extra ``bif``). Equal names give equal records with one version of numpy.
"""

from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from importlib.util import find_spec
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from workbench.data.available_memory import check_fits
from workbench.data.drawing import check_fraction
from workbench.data.names import with_options
from workbench.errors import DataError
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.files import published, read_bif
from workbench.models.model import ModelError
from workbench.records.records import Records, merged

DRAWING = 24
"""Bytes per cell: drawn states, and copies for sorting and merging."""


def draw_records(net: BayesNet, tables: np.ndarray, n_records: int, seed: int = 0) -> Records:
    """Draw complete records from a network with known tables; each node becomes a field.

    Parameters
    ----------
    tables : (table cell,) probabilities
        In the order of ``net.tables``; every row sums to 1.
    n_records : int
        Number of records; equal ones are merged.
    seed : int
        Seed of numpy's generator.

    Raises
    ------
    ModelError
        Tables of wrong length, rows that do not sum to 1, or a ``given`` node.
    DataError
        A number of records or a seed out of range.
    """
    about, tables = net.tables, np.asarray(tables, float)
    n_records, random = (
        DataError.whole("n_records", n_records, 1),
        np.random.default_rng(DataError.whole("seed", seed, 0)),
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
    number_of = {node.name: number for number, node in enumerate(net.nodes)}
    values = np.empty((n_records, len(net.nodes)), np.int32)
    for name in TopologicalSorter({node.name: node.parents for node in net.nodes}).static_order():
        node = net.nodes[number_of[name]]
        if node.given:
            raise ModelError(f"{net.called}: node '{name}' is given, so nothing is drawn from it")
        row = np.zeros(n_records, np.int64)
        for parent in node.parents:
            row = row * net.nodes[number_of[parent]].n_states + values[:, number_of[parent]]
        first = about.starts[about.table_of[number_of[name]]]
        last = about.starts[about.table_of[number_of[name]] + 1]
        cumulative = np.cumsum(tables[first:last].reshape(-1, node.n_states), axis=1)[:, :-1]
        values[:, number_of[name]] = (random.random(n_records)[:, None] >= cumulative[row]).sum(
            axis=1
        )
    fields, levels = tuple(number_of), tuple(node.state_names for node in net.nodes)
    return Records(*merged(values, np.ones(n_records, np.int64)), fields, levels, net.name)


def draw_hidden(net: BayesNet, hidden: float = 0.2, seed: int = 0) -> tuple[str, ...]:
    """Draw which nodes are hidden, and return their names: a share of the nodes with both parents and children.

    `records.of_fields` selects the others. Raises DataError for a share outside [0, 1) or a negative seed.
    """
    check_fraction(hidden, "hidden")
    parents = {name for node in net.nodes for name in node.parents}
    inner = [node.name for node in net.nodes if node.parents and node.name in parents]
    positions = np.random.default_rng(DataError.whole("seed", seed, 0)).permutation(len(inner))[
        : round(hidden * len(inner))
    ]
    return tuple(inner[position] for position in sorted(positions))


OPTIONS = MappingProxyType({"n_records": 1000, "seed": 0, "hidden": 0.2})


class Truth(NamedTuple):
    """The true tables and hidden states of simulated records."""

    net: BayesNet
    tables: np.ndarray  # (table cell,) probabilities in the order of ``net.tables``
    complete: Records  # records with the hidden nodes as fields


def published_net(name: str) -> tuple[BayesNet, np.ndarray]:
    """Return a network of pgmpy, such as "alarm", and its true tables (table cell,)."""
    net, tables = read_bif(published(name))
    return BayesNet(**net), tables


def simulate_records(
    name: str, n_records: int = 1000, seed: int = 0, hidden: float = 0.2
) -> tuple[Records, Truth]:
    """Draw records from a network of pgmpy, such as "alarm"; return them and the truth.

    Parameters
    ----------
    n_records, seed : int
        Number of records; seed of numpy's generator.
    hidden : float, default 0.2
        Share of the inner nodes (with parents and children) that are hidden, drawn with the seed.

    Raises
    ------
    ModelError
        If pgmpy is missing or has no such network.
    DataError
        A number out of range.
    """
    net, tables = published_net(name)
    complete = draw_records(net, tables, n_records, seed)
    hidden_names = set(draw_hidden(net, hidden, seed))
    visible_records = (
        complete.of_fields([field for field in complete.fields if field not in hidden_names])
        if hidden_names
        else complete
    )
    options = {"n_records": n_records, "seed": seed, "hidden": hidden}
    changed_options = {
        option: value for option, value in options.items() if value != OPTIONS[option]
    }
    return replace(visible_records, name=with_options(name, changed_options)), Truth(
        net, tables, complete
    )


@dataclass(frozen=True)
class SimulatedSet:
    """A catalog entry for records that are simulated on demand from a published network."""

    name: str
    title: str  # one line for people
    n_fields: int  # sizes, here and below, with the default options
    n_distinct: int
    n_records: int = OPTIONS["n_records"]
    origin: str = "drawn here from a network in the Python package pgmpy (1.1.2), which the extra bif installs"
    licence: str = "pgmpy: MIT"

    @property
    def options(self) -> dict:
        """Name → default of each option of `load`."""
        return dict(OPTIONS)

    def folder(self) -> None:
        """Return None: the data set has no files."""
        return None

    def whereabouts(self) -> str:
        """Return "drawn" (records are simulated on demand), or "by hand" if the user must install pgmpy first."""
        return "drawn" if find_spec("pgmpy") else "by hand"

    def facts(self) -> dict:
        """Return name, title, sizes and options, in JSON types."""
        names = (
            "name",
            "title",
            "n_records",
            "n_fields",
            "n_distinct",
            "licence",
            "origin",
            "options",
        )
        return {**{name: getattr(self, name) for name in names}, "where": self.whereabouts()}

    def fetch(self) -> None:
        """Raise ModelError, with how to install pgmpy, if it is missing; nothing is downloaded."""
        published(self.name)

    def load(self, **options) -> Records:
        """Draw and return the records; `simulate_records` also returns the truth."""
        return simulate_records(self.name, **options)[0]


SIMULATED = MappingProxyType(
    {
        each.name: each
        for each in (
            SimulatedSet("asia", "simulated visits to a chest clinic", 7, 21),
            SimulatedSet("alarm", "simulated monitoring of patients", 34, 770),
            SimulatedSet("insurance", "simulated risks of cars", 23, 970),
            SimulatedSet("hepar2", "simulated disorders of the liver", 66, 1000),
        )
    }
)
