"""Bayesian networks in files of the Bayesian interchange format (BIF): structure, states, and true tables.

They are read by pgmpy (the extra ``bif``), which has published networks too: asia, alarm, insurance, hepar2 and others.
"""

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from workbench.data.opening import read_text
from workbench.errors import not_installed
from workbench.models.bayes_nets.nodes import Node, check_nodes, shape_of
from workbench.models.model import ModelError

PUBLISHED = ("asia", "alarm", "insurance", "hepar2")
"""Networks of pgmpy from which records are simulated."""
ROUNDING = 0.02
"""How far from 1 the sum of a distribution may be: published tables are rounded."""
EXTRA = not_installed("networks in BIF", "pgmpy", "bif", "or give the network as .toml or .json")


def is_bif(path) -> bool:
    """Return whether a file is a BIF, gzipped or not, by its name."""
    return Path(path).name.removesuffix(".gz").endswith(".bif")


def read_bif(path) -> tuple[dict, np.ndarray]:
    """Return the network in a BIF file, plain or gzipped, and its true tables.

    Returns
    -------
    net : dict
        ``name``, that of the file, and ``nodes`` with the default priors.
    tables : (table cell,) float64
        Probabilities, in the order of the nodes; every row sums to 1.

    Raises
    ------
    ModelError
        Without pgmpy, of a file that is no BIF, or a distribution that does not sum to 1.
    DataError
        A file that is missing or no text.
    """
    path = Path(path)
    text = read_text(path)
    try:
        from pgmpy.readwrite import BIFReader
    except ImportError:
        raise ModelError(f"{path}: {EXTRA}") from None
    try:
        read = BIFReader(string=text)
        nodes = tuple(
            Node(name, tuple(read.variable_states[name]), tuple(read.variable_parents[name]))
            for name in read.variable_names
        )
        found = {name: np.asarray(read.variable_cpds[name], float) for name in read.variable_names}
    except Exception as error:  # whatever the reader makes of a broken file
        raise ModelError(
            f"{path} is no BIF that can be read ({type(error).__name__}: {error}); check the file"
        ) from None
    if not nodes:
        raise ModelError(f"{path} is no BIF that can be read (it has no variable); check the file")
    net = {"name": path.name.removesuffix(".gz").removesuffix(".bif"), "nodes": nodes}
    check_nodes(f"{path}: network '{net['name']}'", nodes)
    return net, np.concatenate(
        [_table(path, node, found[node.name], shape_of(node, _by_name(nodes))) for node in nodes]
    )


def published(name: str) -> Path:
    """Return the path of the BIF file of a network in pgmpy, such as "alarm".

    Raises
    ------
    ModelError
        Without pgmpy, or of a name that it does not have.
    """
    found = find_spec("pgmpy")
    if found is None:
        raise ModelError(f"network '{name}': {EXTRA}")
    files = sorted(
        (Path(found.submodule_search_locations[0]) / "utils" / "example_models").glob("*.bif.gz")
    )
    by_name = {file.name.removesuffix(".bif.gz"): file for file in files}
    if name not in by_name:
        raise ModelError(f"pgmpy has no network {name!r}; it has {', '.join(by_name)}")
    return by_name[name]


def _by_name(nodes) -> dict[str, Node]:
    return {node.name: node for node in nodes}


def _table(path: Path, node: Node, columns: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return (table cell,) the distributions of a node, which the file stores as columns."""
    rows = columns.T
    if rows.shape != (math.prod(shape[:-1]), shape[-1]):
        raise ModelError(
            f"{path}: the table of '{node.name}' must have {math.prod(shape):,} numbers; it has {rows.size:,}"
        )
    sums = rows.sum(axis=1, keepdims=True)
    if not np.all(np.abs(sums - 1.0) <= ROUNDING) or np.any(rows < 0):  # NaN too
        raise ModelError(
            f"{path}: every distribution of '{node.name}' must have numbers of at least 0 that sum to 1"
        )
    return (rows / sums).ravel()
