"""The nodes of a Bayesian network, and checks of them."""

import itertools
import math
import numbers
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from graphlib import CycleError, TopologicalSorter

from workbench.models.files import check_table
from workbench.models.model import ModelError

MOST_CELLS = 2**27
"""Maximum of cells of all tables: a gigabyte."""


@dataclass(frozen=True)
class Node:
    """A node of a Bayesian network: a discrete variable with its states, parents and prior.

    Parameters
    ----------
    name : str
        The node of the field with this name; a node without a field is hidden.
    states : int or names
        Number of states, or their names. If it is a number, state i is level i of the field.
    parents : names of nodes
        The table of the node has a row for each combination of their states; the first parent is the most significant.
    prior : number, (state,) or (row, state) numbers, default 0.5
        Dirichlet prior of each cell of the table; a single row is used for all rows.
    cpt : str, default the name of the node
        Name of the table. Nodes with the same table are tied: they have the same distributions and add their counts.
    given : bool, default False
        Whether the node is known in every record and not modelled, as a document's number: it has no table.
    """

    name: str
    states: int | tuple[str, ...]
    parents: tuple[str, ...] = ()
    prior: float | tuple = 0.5
    cpt: str = ""
    given: bool = False

    def __post_init__(self):
        fix = object.__setattr__
        parents = (self.parents,) if isinstance(self.parents, str) else self.parents
        if (
            not isinstance(parents, Iterable)
            or isinstance(parents, Mapping)
            or not all(isinstance(name, str) for name in parents)
        ):
            raise ModelError(
                f"node {self.name!r} must have parents as a list of names; got {self.parents!r}"
            )
        if not isinstance(self.cpt, str):
            raise ModelError(
                f"node {self.name!r} must have cpt as the name of a table; got {self.cpt!r}"
            )
        fix(self, "parents", tuple(parents))
        fix(self, "prior", _plain(self.prior))
        if not isinstance(self.states, numbers.Integral):
            are_named = isinstance(self.states, list | tuple)
            fix(self, "states", tuple(map(str, self.states)) if are_named else self.states)
        fix(self, "cpt", self.cpt or self.name)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.states if isinstance(self.states, numbers.Integral) else len(self.states)

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the states, or their numbers if they have no names."""
        return (
            tuple(map(str, range(self.states)))
            if isinstance(self.states, numbers.Integral)
            else self.states
        )


def node_of(node) -> Node:
    """Return a Node from a Node or a dict of its fields."""
    if isinstance(node, Node):
        return node
    if not isinstance(node, Mapping):
        field_names = ", ".join(field.name for field in fields(Node))
        raise ModelError(f"a node must be a table with {field_names}; got {node!r}")
    check_table(node, Node, "a node")
    return Node(**node)


def check_nodes(prefix: str, nodes: tuple[Node, ...]) -> None:
    """Raise ModelError, with a message that begins with ``prefix``, if the nodes form no valid network."""
    for part in (_in_names, _in_parents, _in_priors, _in_ties):
        for sentence in part(nodes):
            raise ModelError(f"{prefix}: {sentence}")


def shape_of(node: Node, nodes_by_name: Mapping[str, Node]) -> tuple[int, ...]:
    """Return the shape of a node's table: the number of states of each parent, then of the node."""
    return (*(nodes_by_name[name].n_states for name in node.parents), node.n_states)


def _in_names(nodes) -> Iterator[str]:
    names = set()
    if not nodes:
        yield "there must be at least one node; none came"
    for node in nodes:
        if not isinstance(node.name, str) or not node.name.strip():
            yield f"a node has a name; got {node.name!r}"
        if node.name in names:
            yield f"two nodes are called '{node.name}'; rename one"
        names.add(node.name)
        if not isinstance(node.states, tuple) and (
            isinstance(node.states, bool)
            or not (isinstance(node.states, numbers.Integral) and node.states >= 1)
        ):
            yield f"node '{node.name}' must have a number of states of at least 1, or names of them; got {node.states!r}"
        if isinstance(node.states, tuple) and (
            not node.states or len(set(node.states)) < len(node.states)
        ):
            yield f"node '{node.name}' must have at least one state, each with a name of its own; got {node.states!r}"


def _in_parents(nodes) -> Iterator[str]:
    names = [node.name for node in nodes]
    for node in nodes:
        for parent in node.parents:
            if parent not in names:
                yield f"node '{node.name}' has the parent '{parent}', which is no node; there are {', '.join(names)}"
        if len(set(node.parents)) < len(node.parents):
            yield f"node '{node.name}' names a parent twice; name each once"
    try:
        TopologicalSorter({node.name: node.parents for node in nodes}).prepare()
    except CycleError as error:
        yield f"there must be no cycle; {' → '.join(error.args[1])} is one, so leave one of its arrows out"


def _in_priors(nodes) -> Iterator[str]:
    nodes_by_name = {node.name: node for node in nodes}
    for node in nodes:
        shape = shape_of(node, nodes_by_name)
        n_rows, n_states = math.prod(shape[:-1]), shape[-1]
        if n_rows * n_states > MOST_CELLS:
            yield (
                f"the table of node '{node.name}' has {n_rows * n_states:,} cells, more than {MOST_CELLS:,}; give it fewer "
                "parents or states"
            )
        invalid_prior = next(
            (
                value
                for value in _numbers(node.prior)
                if not (isinstance(value, float) and math.isfinite(value) and value >= 1e-8)
            ),
            None,
        )
        if invalid_prior is not None:
            yield f"the prior of node '{node.name}' must be numbers greater than 0; got {invalid_prior!r}"
        if not isinstance(node.prior, tuple):
            continue
        rows = node.prior if isinstance(node.prior[0], tuple) else (node.prior,)
        if any(not isinstance(row, tuple) or len(row) != n_states for row in rows) or len(
            rows
        ) not in (1, n_rows):
            widths = " and ".join(
                sorted({str(len(row)) if isinstance(row, tuple) else "1" for row in rows})
            )
            yield (
                f"the prior of node '{node.name}' must be a number, a row of {n_states} or a table of {n_rows} rows; got "
                f"{len(rows)} row(s) of {widths}"
            )


def _in_ties(nodes) -> Iterator[str]:
    nodes_by_name, first = {node.name: node for node in nodes}, {}
    for node in (node for node in nodes if not node.given):
        twin = first.setdefault(node.cpt, node)
        first_shape, shape = shape_of(twin, nodes_by_name), shape_of(node, nodes_by_name)
        if first_shape != shape:
            yield (
                f"'{twin.name}' and '{node.name}' name the same table '{node.cpt}' and must have the same states and those "
                f"of their parents; they have {_times(first_shape)} and {_times(shape)}"
            )
        if twin.prior != node.prior:
            yield f"'{twin.name}' and '{node.name}' name the same table '{node.cpt}' with other priors; give both the same"


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _plain(prior):
    """Convert a prior to a float, or to nested tuples of floats if it is given per cell."""
    if isinstance(prior, str | bytes | Mapping) or not hasattr(prior, "__iter__"):
        number = (
            isinstance(prior, numbers.Real)
            and not isinstance(prior, bool)
            and abs(prior) < 2.0**1000
        )
        return float(prior) if number else prior
    return tuple(map(_plain, prior)) or (None,)


def _numbers(prior) -> Iterator:
    return (
        itertools.chain.from_iterable(map(_numbers, prior))
        if isinstance(prior, tuple)
        else iter((prior,))
    )
