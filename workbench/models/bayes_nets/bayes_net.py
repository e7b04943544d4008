"""Bayesian networks of discrete nodes with Dirichlet tables, some nodes hidden: the family of `Records`.

Every distribution of a table ~ Dirichlet(its prior). In each record each node, in topological order, draws its state from the
row of its table that the states of its parents choose. A field of the data is the node of its name; a node without a field is
hidden, and any cell may be missing.

Welling, Teh & Kappen (2008), sec. 6, eq. 26; spec of the networks, part C.
"""

from __future__ import annotations

import itertools
import json
import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from workbench.models.bayes_nets.nodes import Node, check_nodes, node_of
from workbench.models.bayes_nets.shipped import SHIPPED
from workbench.models.bayes_nets.tables import Tables, tables_of
from workbench.models.lda import ModelError
from workbench.models.options import option
from workbench.models.variables import Variable
from workbench.records import Records
from workbench.records.columns import MISSING

PRIOR = 0.5
"""Prior of each cell of a shipped network: Jeffreys'."""


@dataclass(frozen=True)
class BayesNet:
    """A network of discrete nodes, checked.

    Parameters
    ----------
    name : str, default "latent-class"
        A shipped network ("latent-class", "hmm"), whose nodes are made for the data, or a name of your own.
    nodes : tuple of Node
        Empty for a shipped network until there are data. Nodes can be dicts.
    alpha, beta : float, default 0.5
        Of a shipped network: prior of each cell of the tables of hidden nodes, and of fields.
    n_states : int, default 2
        Of a shipped network: states of its hidden nodes.
    missing : {"marginalised", "imputed"}
        Hidden nodes without an observed descendant, missing cells among them, are left out, which is exact; or counted
        as all others are.

    Raises
    ------
    ModelError
    """

    data = Records
    nonparametric = False
    warm_starts = False
    takes = ("model", "alpha", "beta")

    name: str = "latent-class"
    nodes: tuple[Node, ...] = ()
    alpha: float | None = None
    beta: float | None = None
    n_states: int = option(2, "states of the hidden nodes of latent-class and hmm", low=1, high=1000, whole=True)
    missing: str = option("marginalised", "cells that are missing: left out or counted", choices=("marginalised", "imputed"))

    def __post_init__(self):
        fix = object.__setattr__
        if not isinstance(self.name, str) or not self.name.strip():
            raise ModelError(f"a Bayesian network has a name; got {self.name!r}")
        fix(self, "nodes", tuple(map(node_of, self.nodes)))
        for prior in ("alpha", "beta"):
            value = getattr(self, prior)
            if value is None:
                fix(self, prior, PRIOR if self.is_shipped else None)
            elif not self.is_shipped:
                said = f"network '{self.name}' has a prior at each node, so leave {prior} out"
                raise ModelError(said, field=prior, value=value)
            elif isinstance(value, bool) or not isinstance(value, numbers.Real) or not 1e-8 <= value < np.inf:
                raise ModelError.must_be(prior, "a number greater than 0 (at least 1e-08)", value)
            else:
                fix(self, prior, float(value))
        if self.nodes or not self.is_shipped:
            check_nodes(f"network '{self.name}'", self.nodes)
        if not self.is_shipped and self.n_states != 2:
            raise ModelError(f"network '{self.name}' has the states of its nodes; leave n_states out", field="n_states")

    @classmethod
    def of(cls, model="latent-class", alpha=None, beta=None) -> BayesNet:
        """The network that is meant by a BayesNet, a dict with name and nodes, or the name of a shipped network."""
        if isinstance(model, cls):
            given = {"alpha": alpha, "beta": beta}
            return replace(model, **{name: value for name, value in given.items() if value is not None})
        if isinstance(model, Mapping):
            if missing := [name for name in ("name", "nodes") if name not in model]:
                raise ModelError(f"a Bayesian network needs '{missing[0]}'; got {', '.join(model) or 'nothing'}")
            if unknown := [name for name in model if name not in ("name", "nodes")]:
                raise ModelError(f"a Bayesian network has no '{unknown[0]}'; it has name and nodes")
            return cls(model["name"], tuple(model["nodes"]), alpha, beta)
        if model not in SHIPPED:
            near = get_close_matches(str(model), SHIPPED, 1, 0.5)
            hint = f"did you mean '{near[0]}'? There are" if near else "there are"
            raise ModelError(f"no network '{model}'; {hint} {', '.join(SHIPPED)}, and BayesNet(name, nodes)")
        return cls(model, (), alpha, beta)

    @property
    def is_shipped(self) -> bool:
        """Is it a network whose nodes are made for the data?"""
        return self.name in SHIPPED

    @property
    def size_label(self) -> tuple[str, int] | None:
        """Symbol and value of the size that names and titles of runs show: hidden states of a shipped network."""
        return ("K", self.n_states) if self.is_shipped else None

    def settings(self) -> dict:
        """The settings of the spec of a run; the nodes of a shipped network are made again for its data."""
        if self.is_shipped:
            return {"name": self.name, "alpha": self.alpha, "beta": self.beta}
        return {"name": self.name, "nodes": json.loads(json.dumps([asdict(node) for node in self.nodes]))}

    def for_data(self, records: Records) -> BayesNet:
        """The network with its nodes, checked against the fields and levels of records.

        Raises
        ------
        ModelError
            A field that is no node, a level that is no state, or a missing cell of a node that is given.
        """
        net = self
        if self.is_shipped and not self.nodes:
            net = replace(self, nodes=SHIPPED[self.name](records, self.n_states, self.alpha, self.beta))
        values = net.values(records)
        for node, column in zip(net.nodes, values.T, strict=True):
            if node.given and np.any(column == MISSING):
                raise ModelError(f"network '{net.name}': node '{node.name}' is given, so every record must have a value of it; "
                                 f"name a field '{node.name}' without missing cells, or give it a table")
        return net

    def values(self, records: Records) -> np.ndarray:
        """(record, node) int32: the state of each node, -1 where it is hidden.

        Raises
        ------
        ModelError
        """
        where, at = f"network '{self.name}'", {node.name: i for i, node in enumerate(self.nodes)}
        found = np.full((records.n_distinct, len(self.nodes)), MISSING, np.int32)
        for column, (field, levels) in enumerate(zip(records.fields, records.levels, strict=True)):
            if field not in at:
                raise ModelError(f"{where} has no node for the field '{field}' of {records.name!r}; there are {', '.join(at)}; "
                                 "leave the field out, or add a node")
            node = self.nodes[at[field]]
            state_of = {name: state for state, name in enumerate(node.state_names)}
            numbered = isinstance(node.states, numbers.Integral)
            states = [i if numbered else state_of.get(name, MISSING) for i, name in enumerate(levels)]
            values, occurring = records.values[:, column], np.unique(records.values[:, column])
            for level in occurring[occurring != MISSING]:
                if not 0 <= states[level] < node.n_states:
                    raise ModelError(f"{where}: '{levels[level]}' of the field '{field}' is no state of its node; there are "
                                     f"{', '.join(node.state_names[:10])}{', …' * (node.n_states > 10)}")
            found[:, at[field]] = np.where(values == MISSING, MISSING, np.array([*states, MISSING], np.int32)[values])
        return found

    @cached_property
    def tables(self) -> Tables:
        """Its tables as flat arrays."""
        return tables_of(self.nodes)

    def with_coords(self, coords) -> BayesNet:
        """The model of a stored run with these coordinates: the same."""
        return self

    def dims(self, records: Records | None = None) -> dict[str, int]:
        """Dim → length, those of the data too where they are given."""
        found = {"state": self.n_states} if self.is_shipped else {}
        if records is not None:
            found |= {"record": records.n_distinct, "parameter": self.for_data(records).tables.n_cells}
        return found

    def coords(self, records: Records) -> dict[str, tuple]:
        """Labels of the cells of the tables, as "vote=y | class=0", and of which table each is."""
        net = self.for_data(records)
        labels, by_name, seen = [], {node.name: node for node in net.nodes}, set()
        for node in net.nodes:
            if node.given or node.cpt in seen:
                continue
            seen.add(node.cpt)
            parents = [[f"{name}={state}" for state in by_name[name].state_names] for name in node.parents]
            rows = [", ".join(given) for given in itertools.product(*parents)]
            labels += [f"{node.name}={state}{given and f' | {given}'}" for given in rows for state in node.state_names]
        tables = np.repeat(np.array(net.tables.names, object), np.diff(net.tables.starts))
        return {
            "parameter": (labels, "cell of a table"), "table": (tables, "table", "parameter"),
            "row": (net.tables.row_of, "row of all tables", "parameter"),
            "state": (range(self.n_states), "hidden state"),
        }

    def recorded(self, options) -> tuple[Variable, ...]:
        """The variables that a run records: counts of all tables, and what they make of the distributions."""
        share = Variable("state_share", ("iteration", "state"), "", "share of the (expected) hidden nodes in each state")
        return (
            *([share] if self.is_shipped else []),
            Variable("n_cpt", ("snapshot", "parameter"), "records", "(expected) records in each cell of a table"),
            Variable("cpt", ("parameter",), "", "probability of a state given those of its parents, posterior mean"),
        )

    def state_shares(self, counts: np.ndarray) -> dict[str, np.ndarray]:
        """``state_share`` (state,) of the hidden nodes of a shipped network; nothing of another one."""
        if not self.is_shipped:
            return {}
        hidden, starts = ("class",) if self.name == "latent-class" else ("start", "transition"), self.tables.starts
        found = sum(
            counts[first:last].reshape(-1, self.n_states).sum(axis=0)
            for name, first, last in zip(self.tables.names, starts[:-1], starts[1:], strict=True) if name in hidden
        )
        return {"state_share": found / max(found.sum(), 1e-300)}

    def estimates(self, last: Mapping, records: Records) -> dict[str, np.ndarray]:
        """``cpt`` (parameter,), posterior means given the counts of a snapshot."""
        return {"cpt": self.for_data(records).tables.means(np.asarray(last["n_cpt"], float))}

    def hyperparameters(self, options) -> dict[str, str]:
        """Empty: priors are as given."""
        return {}

    def describe(self) -> list[tuple[str, str]]:
        """(label, text) for captions: its nodes with states and parents."""
        if not self.nodes:
            text = f"{self.name}, {self.n_states} hidden states, priors {self.alpha:g} and {self.beta:g}"
            return [("Bayesian network", text)]
        text = "; ".join(
            f"{node.name} ({node.n_states}){' ← ' * bool(node.parents)}{', '.join(node.parents)}" for node in self.nodes[:20]
        )
        return [("Bayesian network", f"{self.name}: {text}{'; …' * (len(self.nodes) > 20)}")]

    def tiny(self, most: int = 9) -> Records:
        """Two records to compile kernels with: complete, and with hidden nodes."""
        if not self.nodes:
            return Records(np.array([[0, 1], [1, -1]]), np.array([1, most or 1]), ("a", "b"), (("x", "y"), ("x", "y")))
        parents = {name for node in self.nodes for name in node.parents}
        shown = [-1 if node.name in parents and not node.given else 0 for node in self.nodes]
        values, names = np.array([[0] * len(shown), shown]), tuple(node.name for node in self.nodes)
        return Records(values, np.array([1, most or 1]), names, tuple(node.state_names for node in self.nodes))

