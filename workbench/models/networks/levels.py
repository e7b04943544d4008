"""The elements of a network of mixture levels: variables, levels of rows that draw them, and regions of paths.

A run of a network keeps the counts of its levels and the priors that it learns, with dims named as its variables. The rows of
a level are an array along the variables that number them, each as long as the variable; rows that no path visits hold 0. A
level of several blocks of rows has one dim for all of them, ``<level>_row``.
"""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from workbench.models.files import check_table
from workbench.models.model import ModelError
from workbench.models.variables import Variable as StoredVariable

DOCUMENT, WORD, AUTHORS, LABELS = "document", "word", "authors", "labels"
"""Reserved names in networks: the document of a token, the word, which is drawn last, and sizes that the corpus determines."""
PREFIXES = "prefixes"
"""Leaves that the vocabulary determines, see `workbench.models.networks.leaves`."""
KINDS = ("dirichlet", "point", "observed")
NAMES = ("name", "draws", "kind", "learn")
LISTS_OF_NAMES = ("values", "by", "groups", "labels", "leaves")
LISTS = (*LISTS_OF_NAMES, "rows", "when")
"""Names of fields by type: a name, a list of names, any list."""
LEARNING = ("none", "scalar", "vector")


@dataclass(frozen=True)
class Variable:
    """A hidden variable of a token: one level draws it, other levels depend on it.

    Parameters
    ----------
    name : str
    size : int, "authors" or "labels"
        The values are 0 … size - 1. "authors": the values are the authors of the corpus; a token has one of its document's.
        "labels": each value belongs to a label of the corpus or to none, and a document draws only values of its own labels
        and of none; see `workbench.models.networks.labels`.
    values : (size,) str, optional
        Names of the values in tables and figures.
    per_label, background : int, default 1 and 0
        Of a variable of size "labels": how many values belong to each label, and how many to none; these come first.
    labels : (size,) str, optional
        The label that each value belongs to, "" for none; the corpus determines it.
    """

    name: str
    size: int | str
    values: tuple[str, ...] = ()
    per_label: int = 1
    background: int = 0
    labels: tuple[str, ...] = ()

    @property
    def is_labelled(self) -> bool:
        """Whether the labels of a document restrict the values."""
        return self.size == LABELS or bool(self.labels)

    def numbers(self, named: Iterable) -> list[list[int]]:
        """Convert tuples of value names to lists of value numbers; names that the variable lacks are left out."""
        number = {name: i for i, name in enumerate(self.values)}
        return [[number[name] for name in names or () if name in number] for names in named]


@dataclass(frozen=True)
class Rows:
    """A block of rows of a level, numbered by variables, used only by paths that fulfil the conditions ``when``.

    Parameters
    ----------
    by : names of variables, or "document"
        The variables that number the rows; the last varies fastest. None: a single row.
    when : of (variable, first value, last value), optional
        Limits of variables; without them the rows are for all paths. If a variable of ``by`` is limited, rows are numbered
        from its first value. A value is given by number or name; (variable, value) limits it to one value.
    """

    by: tuple[str, ...] = ()
    when: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class Level:
    """A level: a table of distributions (rows) from which one variable is drawn.

    Parameters
    ----------
    name : str
        Name of its parameters, such as theta; the counts of a run are called ``n_<name>``.
    draws : str
        The variable that is drawn, or "word".
    rows : tuple of Rows
        Blocks of rows. A path that fulfils no ``when`` does not visit the level and has no value of its variable.
    kind : {"dirichlet", "point", "observed"}
        Rows with a Dirichlet prior; point estimates (`network-vb-ml`); known rows.
    prior : float, or one number per value drawn, or (group, value) numbers, default 0.1
        Dirichlet prior of each value in each row; for words a single number.
    groups : names of variables, subset of those that number the rows
        Rows with the same values of these share a prior; none: all rows share one.
    learn : {"none", "scalar", "vector"}
        Whether the prior is learnt, as one number for the level or as one per value and group.
    table : (row, value) floats or "authors"
        Rows of an observed level; "authors": uniform over the authors of the document.
    leaves : prefixes of words, or "prefixes", optional
        Of the level that draws the word: each row has a distribution for the words that begin with each of these prefixes, and
        one for all other words. "prefixes": those of the vocabulary, which end with a colon; see
        `workbench.models.networks.leaves`.
    """

    name: str
    draws: str
    rows: tuple[Rows, ...]
    kind: str = "dirichlet"
    prior: float | tuple = 0.1
    groups: tuple[str, ...] = ()
    learn: str = "none"
    table: tuple | str | None = None
    leaves: tuple[str, ...] | str = ()

    @property
    def of_documents(self) -> bool:
        """Whether each document has its own rows, which must be inferred for unseen documents."""
        return any(DOCUMENT in rows.by for rows in self.rows)


def part(kind: type, description):
    """Return a Variable, Level or Rows from an instance or from a dict as read from a file, with lists as tuples."""
    kind_name, field_names = kind.__name__.lower(), [f.name for f in fields(kind)]
    if isinstance(description, kind):
        description = {name: getattr(description, name) for name in field_names}
    if not isinstance(description, Mapping):
        raise ModelError(
            f"each {kind_name} of a network is a table of {', '.join(field_names)}; got {description!r}"
        )
    title = f"{kind_name} '{description['name']}'" if "name" in description else f"a {kind_name}"
    check_table(description, kind, f"{title} of a network")
    description = {name: _tuples(value) for name, value in description.items()}
    for name, value in description.items():
        if name in NAMES and isinstance(value, tuple | Mapping):
            raise ModelError(f"a {kind_name} of a network has {name} as a name; got {value!r}")
        if (
            name in LISTS
            and not isinstance(value, tuple)
            and not (name == "by" and isinstance(value, str))
            and not (name == "leaves" and value == PREFIXES)
        ):
            raise ModelError(f"a {kind_name} of a network has {name} as a list; got {value!r}")
        if name in LISTS_OF_NAMES and not all(isinstance(entry, str) for entry in value):
            raise ModelError(
                f"a {kind_name} of a network has {name} as a list of names; got {value!r}"
            )
    return kind(**description)


def level_of(description, variables) -> Level:
    """Return a Level from an instance or a dict, with value names in ``when`` replaced by value numbers."""
    level, values = part(Level, description), {entry.name: entry.values for entry in variables}
    rows = tuple(part(Rows, entry) for entry in level.rows)

    def limit(description):
        if not isinstance(description, tuple) or len(description) not in (2, 3):
            raise ModelError(
                f"level '{level.name}': when is a list of (variable, first value, last value), as [[\"super\", 1, 5]]; "
                f"got {description!r}"
            )
        name, *span = description
        if not isinstance(name, str):
            raise ModelError(
                f"level '{level.name}': when limits a variable by its name, as [\"super\", 1, 5]; got {description!r}"
            )
        value_names = values.get(name, ())
        span = [
            value_names.index(value) if isinstance(value, str) and value in value_names else value
            for value in span
        ]
        return (name, span[0], span[-1])

    for entry in rows:
        if isinstance(entry.by, str):
            raise ModelError(
                f"level '{level.name}': by is a list of names, as [\"{entry.by}\"]; got '{entry.by}'"
            )
    return replace(
        level, rows=tuple(replace(entry, when=tuple(map(limit, entry.when))) for entry in rows)
    )


def _tuples(value):
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value


class Region(NamedTuple):
    """A set of paths through the same blocks of rows: all values within a span of each variable."""

    spans: dict[str, tuple[int, int]]
    visited: dict[str, Rows]  # name of the level → visited block of rows

    @property
    def n_paths(self) -> int:
        """Number of paths in the region, per author."""
        return math.prod(last - first + 1 for first, last in self.spans.values())


def regions_of(network) -> list[Region]:
    """Return the regions of a network; where blocks of rows overlap, paths visit the first block."""
    cuts = {
        variable.name: {0, variable.size}
        for variable in network.variables
        if variable.size != AUTHORS
    }
    for level in network.levels:
        for rows in level.rows:
            for name, first, last in rows.when:
                cuts[name] |= {first, last + 1}
    regions = [Region({}, {})]
    for level in network.levels:
        regions = [
            new_region for region in regions for new_region in _split_region(region, level, cuts)
        ]
    return regions


def holds(rows: Rows, spans: dict[str, tuple[int, int]]) -> bool:
    """Return whether all paths with values in ``spans`` fulfil the conditions (``when``) of a block of rows."""
    return all(
        name in spans and first <= spans[name][0] and spans[name][1] <= last
        for name, first, last in rows.when
    )


def _split_region(region: Region, level: Level, cuts) -> list[Region]:
    """Return the regions that a level splits a region into, one per span of its variable; the region itself if not visited."""
    rows = next((rows for rows in level.rows if holds(rows, region.spans)), None)
    if rows is None:
        return [region]
    visited_rows = region.visited | {level.name: rows}
    if level.draws == WORD or level.table == AUTHORS:
        return [Region(region.spans, visited_rows)]
    edges = sorted(cuts[level.draws])
    return [
        Region(region.spans | {level.draws: (a, b - 1)}, visited_rows)
        for a, b in itertools.pairwise(edges)
    ]


def variables_of(network) -> tuple[StoredVariable, ...]:
    """Return the variables that a run of a network records: counts ``n_<level>``, and learnt priors ``alpha_<level>``.

    The counts of the last level are n_kw; observed levels have none. A learnt prior is a number, or one per group and value.
    """
    variables = []
    for level in network.levels:
        if level.draws != WORD and level.kind != "observed":
            meaning = (
                f"(expected) tokens of each '{level.draws}' in each row of level '{level.name}'"
            )
            variables.append(
                StoredVariable(
                    f"n_{level.name}",
                    ("snapshot", *row_dims(level), level.draws),
                    "tokens",
                    meaning,
                )
            )
        if level.learn != "none":
            dims = (*level.groups, level.draws) if level.learn == "vector" else ()
            meaning = f"prior of each value in a row of level '{level.name}', as learnt"
            variables.append(
                StoredVariable(f"alpha_{level.name}", ("iteration", *dims), "", meaning)
            )
    return tuple(variables)


def sizes_of(network) -> dict[str, int]:
    """Return dimension → length for a network: its variables, and the rows of each level with several blocks."""
    row_counts = {
        f"{level.name}_row": network.n_rows(level)
        for level in network.levels
        if len(level.rows) > 1
    }
    return {
        variable.name: variable.size
        for variable in network.variables
        if not network.is_open(variable.name)
    } | row_counts


def row_dims(level: Level) -> tuple[str, ...]:
    """Return the names of the dimensions along which a level's rows are stored."""
    by = (
        [name for name in level.rows[0].by if name != DOCUMENT]
        if len(level.rows) == 1
        else [f"{level.name}_row"]
    )
    return (*((DOCUMENT,) if level.of_documents else ()), *by)


def spread(network, level: Level, counts: np.ndarray) -> np.ndarray:
    """Return a level's counts with a dim for each variable that numbers its rows; unchanged for several blocks of rows.

    counts : ([document,] row, value), rows in the order of the network, the last variable fastest.
    """
    if len(level.rows) > 1:
        return counts
    sizes = [network.size(name) for name in row_dims(level) if name != DOCUMENT]
    all_counts = np.zeros(
        (*counts.shape[: level.of_documents], *sizes, counts.shape[-1]), counts.dtype
    )
    region = all_counts[_visited_rows(network, level)]
    region[...] = counts.reshape(region.shape)
    return all_counts


def narrowed(network, level: Level, counts: np.ndarray) -> np.ndarray:
    """Return a level's counts, which `spread` reshaped, in the shape ([document,] row, value)."""
    if len(level.rows) > 1:
        return counts
    return counts[_visited_rows(network, level)].reshape(
        *counts.shape[: level.of_documents], -1, counts.shape[-1]
    )


def _visited_rows(network, level: Level) -> tuple:
    """Return the index of rows that some path visits, in an array with a dim for each variable that numbers rows."""
    spans = [network.span(level.rows[0], name) for name in level.rows[0].by if name != DOCUMENT]
    return (..., *(slice(first, last + 1) for first, last in spans), slice(None))


def learnt_priors(network, alphas: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return ``alpha_<level>`` → learnt prior, with the dims of `variables_of`; NaN for groups without rows.

    alphas : name of the level → (group, value), groups in the order of their first row; for the last level (group, 1).
    """
    priors_of = {}
    for level in network.levels:
        if level.learn == "scalar":
            priors_of[f"alpha_{level.name}"] = float(alphas[level.name].flat[0])
        elif level.learn == "vector":
            values = np.full(
                (*(network.size(name) for name in level.groups), network.size(level.draws)), np.nan
            )
            for key, prior in zip(network.group_keys(level), alphas[level.name], strict=True):
                values[key] = prior
            priors_of[f"alpha_{level.name}"] = values
    return priors_of


def level_priors(last: Mapping, network) -> dict[str, np.ndarray]:
    """Return level → prior at a snapshot: a number, (value,), or (group, value) for several groups of rows."""
    priors = {}
    for level in network.levels:
        if level.kind != "observed":
            stored_prior = last.get(f"alpha_{level.name}")
            priors[level.name] = (
                np.asarray(level.prior, float) if stored_prior is None else np.asarray(stored_prior)
            )
            if stored_prior is not None and level.learn == "vector" and level.groups:
                priors[level.name] = np.stack(
                    [priors[level.name][key] for key in network.group_keys(level)]
                )
    return priors
