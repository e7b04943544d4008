"""Bayesian networks of discrete nodes, some hidden, with Dirichlet priors on their tables: models of `Records`.

Every distribution of a table ~ Dirichlet(its prior). In each record each node, in topological order, draws its state from the
row of its table that the states of its parents choose. A field of the data is the node of its name; a node without a field is
hidden, and any cell may be missing.

Welling, Teh & Kappen (2008), sec. 6, eq. 26; spec of the networks, part C.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property

import numpy as np

from workbench.errors import Named
from workbench.models.bayes_nets.files import SHIPPED, description_of
from workbench.models.bayes_nets.nodes import Node, check_nodes, node_of
from workbench.models.bayes_nets.tables import Tables, tables_of
from workbench.models.model import LOG_LIKELIHOOD, Model, ModelError, Predicted, Scores
from workbench.models.options import option
from workbench.models.variables import Variable
from workbench.records.records import MISSING, Records

OF_RECORDS = Variable(
    "test_log_likelihood_record",
    ("iteration",),
    "nats",
    "mean log probability of all held-out cells of a record together, over the records that have one",
    better="higher",
)


def log_likelihoods(train, test, predicted: Predicted) -> dict[str, float]:
    """Return mean log likelihoods of a held-out cell, and of all held-out cells of a record; each copy of a record counts.

    The log likelihood of a record is the sum over its cells, each given the cells in training; if the engine samples, the log
    of the mean over iterations of their product. For whole records it is log p(record). NaN if nothing is held out.
    """
    n_records = test.multiplicities[np.unique(test.groups)].sum()
    if not n_records:
        return {LOG_LIKELIHOOD.name: float("nan"), OF_RECORDS.name: float("nan")}
    with np.errstate(divide="ignore"):
        cell_sum = float(test.weights @ np.log(predicted.probability))
    return {
        LOG_LIKELIHOOD.name: cell_sum / test.n_items,
        OF_RECORDS.name: float(predicted.log_of_groups.sum() / n_records),
    }


LOG_LIKELIHOODS = Scores((LOG_LIKELIHOOD, OF_RECORDS), log_likelihoods)


PRIOR = 0.5
"""Default prior of each table cell of a shipped network: Jeffreys'."""
LEARNT = (
    Variable(
        "prior_mean",
        ("iteration",),
        "",
        "prior of a cell of a table, as learnt, mean over the tables that learn theirs",
    ),
    Variable(
        "table_prior", ("snapshot", "parameter"), "", "prior of the cell of a table, as learnt"
    ),
)
"""Recorded variables of learnt priors."""


@dataclass(frozen=True)
class BayesNet(Model):
    """A validated network of discrete nodes.

    Parameters
    ----------
    name : str, default ""
        Name of a user's network; empty for a shipped one.
    nodes : tuple of Node
        Each a Node or a dict. Empty in a shipped network, whose nodes are made by `for_data`.
    alpha, beta : float, default 0.5
        For a shipped network: prior of each table cell of hidden nodes (alpha) and of fields (beta).
    network : {"latent-class", "hmm"}
        The shipped network, see `models.bayes_nets.files`.
    n_states : int, default 2
        For a shipped network: number of states of its hidden nodes.
    missing : {"marginalised", "imputed"}
        Hidden nodes without an observed descendant, including missing cells, are left out, which is exact, or inferred
        like all others.

    Raises
    ------
    ModelError
    """

    data = Records
    takes = ("model", "alpha", "beta")
    live = ("alpha", "beta")
    scores = (LOG_LIKELIHOODS,)

    name: str = ""
    nodes: tuple[Node, ...] = ()
    alpha: float | None = None
    beta: float | None = None
    network: str = option(
        "latent-class",
        "network of hidden and observed nodes",
        choices=tuple(SHIPPED),
        label="Bayesian network",
    )
    n_states: int = option(
        2,
        "number of states of the hidden nodes of latent-class and hmm",
        low=1,
        high=1000,
        whole=True,
        size=True,
        label="States",
    )
    missing: str = option(
        "marginalised",
        "missing cells: summed out (marginalised), or treated as hidden nodes (imputed)",
        choices=("marginalised", "imputed"),
        label="Missing cells",
    )

    def __post_init__(self):
        fix = object.__setattr__
        if not isinstance(self.name, str) or self.name != self.name.strip():
            raise ModelError(f"a Bayesian network has a name; got {self.name!r}")
        ModelError.one_of("network", self.network, SHIPPED)
        fix(self, "nodes", tuple(map(node_of, self.nodes)))
        for prior in ("alpha", "beta"):
            fix(self, prior, self._prior(prior, getattr(self, prior)))
        if self.nodes or not self.is_shipped:
            check_nodes(self.called, self.nodes)
        shipped = {
            declared.name: declared.default
            for declared in fields(self)
            if declared.name in ("network", "n_states")
        }
        for name, default in shipped.items():
            if not self.is_shipped and getattr(self, name) != default:
                reason = f" is for shipped networks, and {self.called} has nodes of its own; leave it out"
                raise ModelError(
                    Named(name, getattr(self, name)), reason, field=name, value=getattr(self, name)
                )

    def _prior(self, name: str, value) -> float | None:
        """Return the checked prior ``name`` of a shipped network, 0.5 if ``value`` is None; None for a user's network."""
        if not self.is_shipped:
            if value is not None:
                raise ModelError(
                    f"{self.called} has a prior at each node, so leave {name} out",
                    field=name,
                    value=value,
                )
            return None
        if value is None:
            return PRIOR
        if (
            isinstance(value, bool)
            or not isinstance(value, numbers.Real)
            or not 1e-8 <= value < np.inf
        ):
            raise ModelError.must_be(name, "a number greater than 0 (at least 1e-08)", value)
        return float(value)

    @classmethod
    def of(
        cls,
        model: object = None,
        alpha: float | Sequence[float] | None = None,
        beta: float | Sequence[float] | None = None,
    ) -> BayesNet:
        """Return the network from a BayesNet, a dict with name and nodes, the path of a file, or a published name.

        See `files.description_of`; None is the default network.
        """
        if model is None:
            net = cls()
        elif isinstance(model, cls):
            net = model
        else:
            prefix, settings = description_of(model)
            try:
                net = cls(**settings)
            except ModelError as error:
                raise error.within(prefix) from None
        priors = {"alpha": alpha, "beta": beta}
        return replace(net, **{name: value for name, value in priors.items() if value is not None})

    @property
    def is_shipped(self) -> bool:
        """Return whether the nodes of the network are generated from the data."""
        return not self.name

    @property
    def network_name(self) -> str:
        """Name of a user's network; empty for a shipped one, whose name is the option ``network``."""
        return self.name

    @property
    def called(self) -> str:
        """The network as error messages name it, such as "network 'hmm'"."""
        return f"network '{self.name or self.network}'"

    @property
    def size_label(self) -> tuple[str, int] | None:
        """Symbol and number of hidden states of a shipped network, for names of runs; None for a user's network."""
        return ("K", self.n_states) if self.is_shipped else None

    def live_value(self, name: str) -> float:
        """Return the prior ``name`` of a shipped network; NaN for a user's network, in which each node has a prior."""
        return getattr(self, name) if self.is_shipped else math.nan

    def settings(self) -> dict:
        """Return the settings for a run's spec: the nodes of a user's network, or the priors of a shipped one."""
        if self.is_shipped:
            return {"alpha": self.alpha, "beta": self.beta}
        return {
            "name": self.name,
            "nodes": json.loads(json.dumps([asdict(node) for node in self.nodes])),
        }

    def for_data(self, records: Records) -> BayesNet:
        """Return the network, with nodes if it is shipped; raise ModelError if nodes and records do not match.

        Raises
        ------
        ModelError
            A field without a node, a level that is no state of its node, or a missing cell of a ``given`` node.
        """
        net = self
        if self.is_shipped and not self.nodes:
            net = replace(
                self, nodes=SHIPPED[self.network](records, self.n_states, self.alpha, self.beta)
            )
        values = net.values(records)
        for node, column in zip(net.nodes, values.T, strict=True):
            if node.given and np.any(column == MISSING):
                raise ModelError(
                    f"{net.called}: node '{node.name}' is given, so every record must have a value of it; "
                    f"name a field '{node.name}' without missing cells, or give it a table"
                )
        return net

    def values(self, records: Records) -> np.ndarray:
        """Return the state of each node in each record, (record, node) int32, -1 if hidden.

        Raises
        ------
        ModelError
        """
        prefix, index_of = self.called, {node.name: i for i, node in enumerate(self.nodes)}
        values_of_nodes = np.full((records.n_distinct, len(self.nodes)), MISSING, np.int32)
        for column, (field, levels) in enumerate(zip(records.fields, records.levels, strict=True)):
            if field not in index_of:
                raise ModelError(
                    f"{prefix} has no node for the field '{field}' of {records.name!r}; there are {_some_names(index_of)}; "
                    "leave the field out, or add a node"
                )
            node = self.nodes[index_of[field]]
            state_of = {name: state for state, name in enumerate(node.state_names)}
            numbered = isinstance(node.states, numbers.Integral)
            states = [
                i if numbered else state_of.get(name, MISSING) for i, name in enumerate(levels)
            ]
            values, occurring = records.values[:, column], np.unique(records.values[:, column])
            for level in occurring[occurring != MISSING]:
                if not 0 <= states[level] < node.n_states:
                    raise ModelError(
                        f"{prefix}: '{levels[level]}' of the field '{field}' is no state of its node; there are "
                        + _some_names(node.state_names)
                    )
            values_of_nodes[:, index_of[field]] = np.where(
                values == MISSING, MISSING, np.array([*states, MISSING], np.int32)[values]
            )
        return values_of_nodes

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 (hex) of the network's definition, a key for caches."""
        return hashlib.sha256(repr(self).encode()).hexdigest()

    @cached_property
    def tables(self) -> Tables:
        """All probability tables as flat arrays."""
        return tables_of(self.nodes)

    def dims(self, records: Records | None = None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``records`` only of dimensions set by the model."""
        sizes = {"state": self.n_states} if self.is_shipped else {}
        if records is not None:
            sizes |= {
                "record": records.n_distinct,
                "parameter": self.for_data(records).tables.n_cells,
            }
        return sizes

    def coords(self, records: Records) -> dict[str, tuple]:
        """Return the coordinates of a run's Dataset, such as the label "vote=y | class=0" and the table of each table cell."""
        net = self.for_data(records)
        labels, values, nodes_by_name, table_names = (
            [],
            [],
            {node.name: node for node in net.nodes},
            set(),
        )
        for node in net.nodes:
            if node.given or node.cpt in table_names:
                continue
            table_names.add(node.cpt)
            parents = [
                [f"{name}={state}" for state in nodes_by_name[name].state_names]
                for name in node.parents
            ]
            rows = [", ".join(parent_states) for parent_states in itertools.product(*parents)]
            labels += [
                f"{node.name}={state}{parent_states and f' | {parent_states}'}"
                for parent_states in rows
                for state in node.state_names
            ]
            values += [
                (state, parent_states) for parent_states in rows for state in node.state_names
            ]
        tables = np.repeat(np.array(net.tables.names, object), np.diff(net.tables.starts))
        return {
            "parameter": (labels, "cell of a table"),
            "table": (tables, "table", "parameter"),
            "row": (net.tables.row_of, "row of all tables", "parameter"),
            "value": ([state for state, _ in values], "state of the node", "parameter"),
            "given": (
                [parent_states for _, parent_states in values],
                "states of its parents",
                "parameter",
            ),
            "prior": (net.tables.alpha, "Dirichlet prior of the cell", "parameter"),
            "state": (range(self.n_states), "hidden state"),
        }

    def recorded(self, options: object) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, priors and means of table cells, state shares, multiplicities."""
        share = Variable(
            "state_share",
            ("iteration", "state"),
            "",
            "share of the (expected) hidden nodes in each state",
        )
        return (
            *([share] if self.is_shipped else []),
            Variable(
                "n_cpt",
                ("snapshot", "parameter"),
                "records",
                "(expected) records in each cell of a table",
            ),
            *(LEARNT if self.hyperparameters(options) else []),
            Variable(
                "cpt",
                ("parameter",),
                "",
                "probability of a state given those of its parents, posterior mean",
            ),
            Variable("multiplicity", ("record",), "records", "how often each distinct record came"),
        )

    def state_shares(self, counts: np.ndarray) -> dict[str, np.ndarray]:
        """Return ``state_share`` (state,), the shares of a shipped network's hidden states; empty for a user's network."""
        if not self.is_shipped:
            return {}
        hidden, starts = (
            ("class",) if self.network == "latent-class" else ("start", "transition"),
            self.tables.starts,
        )
        counts_of_states = sum(
            counts[first:last].reshape(-1, self.n_states).sum(axis=0)
            for name, first, last in zip(self.tables.names, starts[:-1], starts[1:], strict=True)
            if name in hidden
        )
        return {"state_share": counts_of_states / max(counts_of_states.sum(), 1e-300)}

    def estimates(self, last: Mapping, records: Records) -> dict[str, np.ndarray]:
        """Return ``cpt`` (parameter,), the posterior mean tables at a snapshot, and ``multiplicity`` (record,)."""
        tables = self.for_data(records).tables
        if "table_prior" in last:
            tables = tables.with_priors(np.asarray(last["table_prior"], float))
        return {
            "cpt": tables.means(np.asarray(last["n_cpt"], float)),
            "multiplicity": records.multiplicities,
        }

    def hyperparameters(self, options: object) -> dict[str, str]:
        """Return {"prior_mean": "maximised" or "sampled"} for learnt priors, empty for fixed ones."""
        how = self.how_learnt("prior_mean", options)
        return {} if how == "fixed" else {"prior_mean": how}

    def how_learnt(self, name: str, options: object) -> str:
        """Return "fixed", "maximised" or "sampled", the same for the priors of hidden nodes and of fields."""
        return getattr(options, "learn_priors", "fixed")

    def describe(self) -> list[tuple[str, str]]:
        """Return (label, text) pairs for captions: the nodes with their states and parents."""
        if not self.nodes:
            text = f"{self.network}, {self.n_states} hidden states, priors {self.alpha:g} and {self.beta:g}"
            return [("Bayesian network", text)]
        text = "; ".join(
            f"{node.name} ({node.n_states}){' ← ' * bool(node.parents)}{', '.join(node.parents)}"
            for node in self.nodes[:20]
        )
        return [
            (
                "Bayesian network",
                f"{self.name or self.network}: {text}{'; …' * (len(self.nodes) > 20)}",
            )
        ]

    def tiny(self, most: int = 9) -> Records:
        """Return two records for compiling kernels: one complete, one with hidden nodes."""
        if not self.nodes:
            return Records(
                np.array([[0, 1], [1, -1]]),
                np.array([1, most or 1]),
                ("a", "b"),
                (("x", "y"), ("x", "y")),
            )
        parents = {name for node in self.nodes for name in node.parents}
        states = [-1 if node.name in parents and not node.given else 0 for node in self.nodes]
        values, names = (
            np.array([[0] * len(states), states]),
            tuple(node.name for node in self.nodes),
        )
        return Records(
            values, np.array([1, most or 1]), names, tuple(node.state_names for node in self.nodes)
        )


def _some_names(names) -> str:
    """Return the first ten names as a text."""
    return ", ".join(itertools.islice(names, 10)) + ", …" * (len(names) > 10)
