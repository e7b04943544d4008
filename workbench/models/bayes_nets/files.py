"""Bayesian networks in files: TOML, JSON and BIF; and networks by name.

As TOML, two hidden causes of a symptom are::

    name = "two causes"

    [[nodes]]
    name = "cause"
    states = 2

    [[nodes]]
    name = "season"
    states = ["winter", "summer"]

    [[nodes]]
    name = "symptom"
    states = ["no", "yes"]
    parents = ["cause", "season"]
    prior = 0.5

A field of the data is the node of its name; `Node` says what else a node may have.

Networks by name are made for the fields of the records that they are to explain. Files of the Bayesian interchange format
(BIF) have structure, states, and true tables. They are read by pgmpy (the extra ``bif``), which has published networks too:
asia, alarm, insurance, hepar2 and others.
"""

import math
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from workbench.data.opening import read_text
from workbench.errors import not_installed
from workbench.models.bayes_nets.nodes import Node, check_nodes, shape_of
from workbench.models.files import read_settings
from workbench.models.model import ModelError

PUBLISHED = ("asia", "alarm", "insurance", "hepar2")
"""Networks of pgmpy from which records are simulated."""
ROUNDING = 0.02
"""Largest accepted difference of a distribution's sum from 1, as published tables are rounded."""
EXTRA = not_installed("networks in BIF", "pgmpy", "bif", "or give the network as .toml or .json")


def read_bif(path) -> tuple[dict, np.ndarray]:
    """Return the network in a BIF file, plain or gzipped, and its true tables.

    Returns
    -------
    net : dict
        ``name``, from the file name, and ``nodes`` with the default priors.
    tables : (table cell,) float64
        Probabilities, in the order of the nodes; every row sums to 1.

    Raises
    ------
    ModelError
        If pgmpy is missing, the file is no BIF, or a distribution does not sum to 1.
    DataError
        If the file is missing or is no text.
    """
    path = Path(path)
    text = read_text(path)
    try:
        from pgmpy.readwrite import BIFReader
    except ImportError:
        raise ModelError(f"{path}: {EXTRA}") from None
    try:
        reader = BIFReader(string=text)
        nodes = tuple(
            Node(name, tuple(reader.variable_states[name]), tuple(reader.variable_parents[name]))
            for name in reader.variable_names
        )
        tables_of = {
            name: np.asarray(reader.variable_cpds[name], float) for name in reader.variable_names
        }
    except Exception as error:  # whatever the reader makes of a broken file
        raise ModelError(
            f"{path} is no BIF that can be read ({type(error).__name__}: {error}); check the file"
        ) from None
    if not nodes:
        raise ModelError(f"{path} is no BIF that can be read (it has no variable); check the file")
    net = {"name": path.name.removesuffix(".gz").removesuffix(".bif"), "nodes": nodes}
    check_nodes(f"{path}: network '{net['name']}'", nodes)
    return net, np.concatenate(
        [
            _table(
                path,
                node,
                tables_of[node.name],
                shape_of(node, {parent.name: parent for parent in nodes}),
            )
            for node in nodes
        ]
    )


def published(name: str) -> Path:
    """Return the path of the BIF file of a network in pgmpy, such as "alarm".

    Raises
    ------
    ModelError
        If pgmpy is missing or has no such network.
    """
    package = find_spec("pgmpy")
    if package is None:
        raise ModelError(f"network '{name}': {EXTRA}")
    files = sorted(
        (Path(package.submodule_search_locations[0]) / "utils" / "example_models").glob("*.bif.gz")
    )
    paths_by_name = {file.name.removesuffix(".bif.gz"): file for file in files}
    if name not in paths_by_name:
        raise ModelError(f"pgmpy has no network {name!r}; it has {', '.join(paths_by_name)}")
    return paths_by_name[name]


def _table(path: Path, node: Node, columns: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a node's checked table (table cell,), with rows that sum to 1, from an array with one distribution per column."""
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


def latent_class(records, n_states: int, alpha: float, beta: float) -> tuple[Node, ...]:
    """Return the nodes of a latent class model: class c ~ pi; given c the fields are independent, x_f ~ theta_f[c].

    Lazarsfeld & Henry (1968), "Latent structure analysis".
    """
    _refuse_names(records, "latent-class", "class")
    fields = zip(records.fields, records.levels, strict=True)
    return (
        Node("class", n_states, (), alpha),
        *(Node(field, names, ("class",), beta) for field, names in fields),
    )


def hidden_markov(records, n_states: int, alpha: float, beta: float) -> tuple[Node, ...]:
    """Return the nodes of a hidden Markov model, in which a record is a sequence with one symbol per field.

    s_1 ~ start, s_t ~ transition[s_{t-1}], x_t ~ emission[s_t]. Symbols of equal name are the same in all fields.

    Rabiner (1989), "A tutorial on hidden Markov models and selected applications in speech recognition".
    """
    symbols = tuple(dict.fromkeys(name for names in records.levels for name in names))
    nodes = []
    for position, field in enumerate(records.fields):
        state = f"state@{position + 1}"
        _refuse_names(records, "hmm", state)
        parents = (f"state@{position}",) if position else ()
        nodes += [
            Node(state, n_states, parents, alpha, "transition" if position else "start"),
            Node(field, symbols, (state,), beta, "emission"),
        ]
    return tuple(nodes)


def _refuse_names(records, network: str, name: str) -> None:
    if name in records.fields:
        raise ModelError(
            f"'{name}' is a hidden node of '{network}', and a field of {records.name!r}; rename the field"
        )


SHIPPED = {"latent-class": latent_class, "hmm": hidden_markov}
"""Name of a shipped network → function that returns its nodes."""


def description_of(description) -> tuple[str, dict]:
    """Return a network's name and nodes from a dict, the path of a .toml, .json or .bif file, or a published name.

    Published names are "asia", "alarm", "insurance" and "hepar2", as of the simulated records.

    Returns
    -------
    where : str
        Start of error messages: the path of the file, or empty.
    net : dict
        Its ``name`` and ``nodes``.

    Raises
    ------
    ModelError
    """
    if isinstance(description, Mapping):
        return "", _check(description)
    if isinstance(description, str) and description in SHIPPED:
        raise ModelError(
            f"'{description}' is a shipped network; choose it with the option network={description}, and leave model out"
        )
    if not isinstance(description, (str, Path)):
        raise ModelError(
            f"a Bayesian network is a BayesNet, a table with name and nodes, or a file; got {description!r}"
        )
    if description in PUBLISHED:
        return "", read_bif(published(description))[0]
    if Path(description).name.removesuffix(".gz").endswith(".bif"):
        return "", read_bif(description)[0]
    settings = read_settings(description, "a Bayesian network", "name and nodes")
    try:
        return f"{description}: ", _check(settings)
    except ModelError as error:
        raise error.within(f"{description}: ") from None


def _check(description: Mapping) -> dict:
    """Return the name and nodes of a dict; raise ModelError if one is missing, nodes are no list, or there are other keys."""
    if missing := [name for name in ("name", "nodes") if not description.get(name)]:
        raise ModelError(
            f"a Bayesian network needs '{missing[0]}'; got {', '.join(description) or 'nothing'}"
        )
    if unknown := [name for name in description if name not in ("name", "nodes")]:
        raise ModelError(f"a Bayesian network has no '{unknown[0]}'; it has name and nodes")
    if not isinstance(description["nodes"], list | tuple):
        raise ModelError(
            f"a Bayesian network: 'nodes' must be a list of tables; got {description['nodes']!r}"
        )
    return {"name": description["name"], "nodes": tuple(description["nodes"])}
