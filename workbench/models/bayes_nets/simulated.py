"""Records drawn from published Bayesian networks, by name: a share of the inner nodes is hidden, the truth is known.

The networks are in files of pgmpy (the extra ``bif``). Equal names give equal records with one version of numpy.
"""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from workbench.data.names import with_options
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.bif import published, read_bif
from workbench.models.bayes_nets.drawing import draw_hidden, draw_records
from workbench.records.records import Records

OPTIONS = MappingProxyType({"n_records": 1000, "seed": 0, "hidden": 0.2})


class Truth(NamedTuple):
    """True tables and states of simulated records."""

    net: BayesNet
    tables: np.ndarray  # (table cell,) in the order of ``net.tables``
    complete: Records  # with the hidden nodes too


def published_net(name: str) -> tuple[BayesNet, np.ndarray]:
    """Return a network in pgmpy, such as "alarm", and its tables (table cell,)."""
    net, tables = read_bif(published(name))
    return BayesNet(**net), tables


def simulate_records(
    name: str, n_records: int = 1000, seed: int = 0, hidden: float = 0.2
) -> tuple[Records, Truth]:
    """Draw records of a network in pgmpy, such as "alarm"; return them with the truth.

    Parameters
    ----------
    n_records, seed : int
        How many, and of numpy's generator.
    hidden : float, default 0.2
        Share of the inner nodes (with parents and children) that no field shows; the seed says which.

    Raises
    ------
    ModelError
        Without pgmpy, or of a name that it does not have.
    DataError
        A number out of range.
    """
    net, tables = published_net(name)
    complete = draw_records(net, tables, n_records, seed)
    without = set(draw_hidden(net, hidden, seed))
    shown = (
        complete.of_fields([field for field in complete.fields if field not in without])
        if without
        else complete
    )
    given = {"n_records": n_records, "seed": seed, "hidden": hidden}
    own = {option: value for option, value in given.items() if value != OPTIONS[option]}
    return replace(shown, name=with_options(name, own)), Truth(net, tables, complete)


@dataclass(frozen=True)
class SimulatedSet:
    """A catalog entry without stored data: its records are drawn on demand."""

    name: str
    title: str  # one line for people
    n_fields: int  # sizes with the default options
    n_distinct: int
    n_records: int = OPTIONS["n_records"]
    origin: str = "drawn here from a network in the Python package pgmpy (1.1.2), which the extra bif installs"
    licence: str = "pgmpy: MIT"

    @property
    def options(self) -> dict:
        """Return the default of each option of `load`, by name."""
        return dict(OPTIONS)

    def folder(self) -> None:
        """Return None: the data set has no files."""
        return None

    def whereabouts(self) -> str:
        """Return "drawn", or "by hand" if pgmpy is missing."""
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
        """Do nothing; raise ModelError with installation help if pgmpy is missing."""
        published(self.name)

    def load(self, **options) -> Records:
        """Return the records; `simulate_records` returns the truth, too."""
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
