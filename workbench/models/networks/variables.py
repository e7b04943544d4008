"""What a run of a network keeps: the counts of its levels and the priors that it learns, with dims named as its variables.

The rows of a level are an array along the variables that number them, each as long as the variable; rows that no path visits
hold 0. A level of several blocks of rows has one dim for all of them, ``<level>_row``.
"""

from collections.abc import Mapping

import numpy as np

from workbench.models.networks.levels import AUTHORS, DOCUMENT, WORD, Level
from workbench.models.variables import Variable


def variables_of(network) -> tuple[Variable, ...]:
    """Return the network's variables of a run: ``n_<level>`` of a snapshot, ``alpha_<level>`` of an iteration.

    The last level's counts are n_kw; observed levels have none. A learnt prior is a number, or one per group and value.
    """
    found = []
    for level in network.levels:
        if level.draws != WORD and level.kind != "observed":
            meaning = (
                f"(expected) tokens of each '{level.draws}' in each row of level '{level.name}'"
            )
            found.append(
                Variable(
                    f"n_{level.name}",
                    ("snapshot", *row_dims(level), level.draws),
                    "tokens",
                    meaning,
                )
            )
        if level.learn != "none":
            dims = (*level.groups, level.draws) if level.learn == "vector" else ()
            meaning = f"prior of each value in a row of level '{level.name}', as learnt"
            found.append(Variable(f"alpha_{level.name}", ("iteration", *dims), "", meaning))
    return tuple(found)


def sizes_of(network) -> dict[str, int]:
    """Return the length of each dimension of the network's variables and rows, without document and word."""
    several = {
        f"{level.name}_row": network.n_rows(level)
        for level in network.levels
        if len(level.rows) > 1
    }
    return {each.name: each.size for each in network.variables if each.size != AUTHORS} | several


def row_dims(level: Level) -> tuple[str, ...]:
    """Return the dims of a level's rows."""
    by = (
        [name for name in level.rows[0].by if name != DOCUMENT]
        if len(level.rows) == 1
        else [f"{level.name}_row"]
    )
    return (*((DOCUMENT,) if level.of_documents else ()), *by)


def spread(network, level: Level, counts: np.ndarray) -> np.ndarray:
    """Return the counts of a level along the dims of `variables_of`, without snapshots.

    counts : ((document,) row, value), the rows of a document in the order of the network, the last variable fastest.
    """
    if len(level.rows) > 1:
        return counts
    sizes = [network.size(name) for name in row_dims(level) if name != DOCUMENT]
    whole = np.zeros((*counts.shape[: level.of_documents], *sizes, counts.shape[-1]), counts.dtype)
    visited = whole[_visited(network, level)]
    visited[...] = counts.reshape(visited.shape)
    return whole


def narrowed(network, level: Level, counts: np.ndarray) -> np.ndarray:
    """Return ((document,) row, value), the inverse of `spread`."""
    if len(level.rows) > 1:
        return counts
    return counts[_visited(network, level)].reshape(
        *counts.shape[: level.of_documents], -1, counts.shape[-1]
    )


def _visited(network, level: Level) -> tuple:
    """Return the positions of one block's rows among all values of the variables that number them."""
    spans = [network.span(level.rows[0], name) for name in level.rows[0].by if name != DOCUMENT]
    return (..., *(slice(first, last + 1) for first, last in spans), slice(None))


def learnt_priors(network, alphas: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return ``alpha_<level>`` of learning levels, along the dims of `variables_of`; NaN for groups that do not exist.

    alphas : by name of the level (group, value), groups in the order in which the rows meet them; the last level (group, 1).
    """
    found = {}
    for level in network.levels:
        if level.learn == "scalar":
            found[f"alpha_{level.name}"] = float(alphas[level.name].flat[0])
        elif level.learn == "vector":
            whole = np.full(
                (*(network.size(name) for name in level.groups), network.size(level.draws)), np.nan
            )
            for key, prior in zip(network.group_keys(level), alphas[level.name], strict=True):
                whole[key] = prior
            found[f"alpha_{level.name}"] = whole
    return found


def level_priors(last: Mapping, network) -> dict[str, np.ndarray]:
    """Return the prior of each level at a snapshot: (), (value,) or, for several groups of rows, (group, value)."""
    found = {}
    for level in network.levels:
        if level.kind != "observed":
            learnt = last.get(f"alpha_{level.name}")
            found[level.name] = (
                np.asarray(level.prior, float) if learnt is None else np.asarray(learnt)
            )
            if learnt is not None and level.learn == "vector" and level.groups:
                found[level.name] = np.stack(
                    [found[level.name][key] for key in network.group_keys(level)]
                )
    return found
