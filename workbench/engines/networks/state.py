"""Priors and counts of a network of mixture levels, between the vector of its paths and tables by level.

Compiled loops know addresses (`paths`); people know levels, rows and values. Counts of cells and of row sums stand as the
vector does::

    n_own  (document, D)       of levels with rows by document         address
    n_rest (C + A * authors,)  of shared rows, and of authors          address - rest_at
    n_wk   (word, R), n_k (R,) of the rows of the last level           place of the row

Rows of a level are numbered as the network numbers them (`Rows`), documents apart. Spec of the networks, D.1-D.4.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from workbench.engines.networks.path_layout import Paths
from workbench.engines.networks.paths import paths_of
from workbench.models.networks.network import AUTHORS, DOCUMENT, WORD, Level, Network
from workbench.models.networks.variables import learnt_priors, spread


class FlatPriors(NamedTuple):
    """Priors in the layout of the counts: 0 in padding cells, 1 in padding row sums."""

    own: np.ndarray          # (D,) prior of each cell of a document, their sum in row sums
    rest: np.ndarray         # (C + A * authors,) the same of shared rows and of authors'; numbers of observed tables
    beta: np.ndarray         # (R,) prior of each word in a row of the last level
    beta_total: np.ndarray   # (R,) its sum over all words
    known: np.ndarray        # (C + A * authors,) bool: a number of an observed table, which nothing is ever added to


class LevelPlaces(NamedTuple):
    """Addresses of the rows of a level, authors' included, in the order in which the network numbers rows."""

    cells: np.ndarray   # (row, value) int64 addresses; (row,) places of rows for the last level
    rows: np.ndarray    # (row,) int64 addresses of the row sums, -1 where there is none
    groups: np.ndarray  # (row,) int64: rows of one group share a prior


# ---------------------------------------------------------------------- levels


def hidden_levels(network: Network) -> list[Level]:
    """The levels whose values are inferred and counted, the last one apart."""
    return [level for level in network.levels[:-1] if level.kind != "observed"]


def prior_levels(network: Network) -> list[Level]:
    """The levels that have a prior, in order: those that are counted, and the last."""
    return [level for level in network.levels if level.kind != "observed"]


@lru_cache(maxsize=64)
def places_of(network: Network, name: str) -> LevelPlaces:
    """Addresses of the rows of a level."""
    paths, level = paths_of(network), network.level(name)
    author = network.author.name if network.author else None
    places = paths.places[name]
    stride = paths.visits.leaf_stride if level.draws == WORD else paths.n_author
    cells, sums, done = [], [], 0
    for rows in level.rows:
        by = [variable for variable in rows.by if variable != DOCUMENT]
        spans = [network.span(rows, variable) for variable in by]
        sizes = [1 if variable == author else b - a + 1 for variable, (a, b) in zip(by, spans, strict=True)]
        these = slice(done, done + math.prod(sizes))
        done = these.stop
        of_authors = [stride * np.arange(paths.n_authors) if variable == author else np.zeros(1, np.int64) for variable in by]
        step = sum(np.ix_(*of_authors)) + np.zeros([1] * len(by), np.int64)
        cells.append(_spread(places.cells[these], sizes, step))
        row_sums = places.rows[these]
        sums.append(np.where(_spread(row_sums, sizes, 0 * step) < 0, -1, _spread(row_sums, sizes, step)))
    return LevelPlaces(np.concatenate(cells), np.concatenate(sums), np.array(network.row_groups(level)))


def _spread(addresses, sizes, step) -> np.ndarray:
    """Addresses of the rows of one block, once for each author where authors number them: (row, …)."""
    values = addresses.shape[1:]
    rows = addresses.reshape((*sizes, *values)) + step.reshape(step.shape + (1,) * len(values))
    return rows.reshape(-1, *values)


# ---------------------------------------------------------------------- priors


def initial_alphas(network: Network) -> np.ndarray:
    """All initial priors of a network in one array; see `alphas_of`."""
    return np.concatenate([
        np.broadcast_to(np.asarray(level.prior, float), _prior_shape(network, level)).ravel() for level in prior_levels(network)
    ])


def alphas_of(network: Network, alphas: np.ndarray) -> dict[str, np.ndarray]:
    """The priors by level, (group, value) views of the array; the last level has one number a group, for all words."""
    found, at = {}, 0
    for level in prior_levels(network):
        shape = _prior_shape(network, level)
        found[level.name] = alphas[at : at + math.prod(shape)].reshape(shape)
        at += math.prod(shape)
    return found


@lru_cache(maxsize=64)
def _prior_shape(network, level) -> tuple[int, int]:
    return network.n_groups(level), 1 if level.draws == WORD else network.size(level.draws)


def priors_of(paths: Paths, alphas: np.ndarray, n_words: int) -> FlatPriors:
    """The priors in the layout of the counts, from those by level."""
    network = paths.network
    own, rest = (paths.is_row[part].astype(float) for part in (slice(paths.n_own), slice(paths.rest_at, None)))
    known = np.zeros(len(rest), bool)
    beta, by_level = np.zeros(paths.n_leaves), alphas_of(network, alphas)
    for level in network.levels[:-1]:
        if level.table == AUTHORS:
            continue
        places = places_of(network, level.name)
        of_document = paths.places[level.name].scope == "document"
        flat, first = (own, 0) if of_document else (rest, paths.rest_at)
        rows = np.asarray(level.table, float) if level.kind == "observed" else by_level[level.name][places.groups]
        flat[places.cells - first] = rows
        have = places.rows >= 0
        flat[places.rows[have] - first] = rows.sum(axis=1)[have]
        if level.kind == "observed":
            known[places.cells - first] = True
    last = network.levels[-1]
    places = places_of(network, last.name)
    beta[places.cells] = by_level[last.name][places.groups, 0]
    return FlatPriors(own, rest, beta, np.where(beta > 0, n_words * beta, 1.0), known)


# ---------------------------------------------------------------------- counts


def level_counts(paths: Paths, n_own, n_rest) -> dict[str, np.ndarray]:
    """(Expected) counts of every level but the last, ``n_<level>``, along the dims of `models.networks.variables`."""
    found = {}
    for level in hidden_levels(paths.network):
        places = places_of(paths.network, level.name)
        if paths.places[level.name].scope == "document":
            counts = n_own[:, places.cells]
        else:
            counts = n_rest[places.cells - paths.rest_at]
        found[f"n_{level.name}"] = spread(paths.network, level, counts)
    return found


def watched_alphas(network: Network, alphas: np.ndarray) -> dict[str, np.ndarray]:
    """The priors of the levels that learn, ``alpha_<level>``, along the dims of `models.networks.variables`: for `watch`."""
    return learnt_priors(network, alphas_of(network, alphas))


def leaf_counts(paths: Paths, n_wk, n_dr) -> dict[str, np.ndarray]:
    """``n_kw`` (row of the last level, word) and ``n_dk`` (document, row of the last level).

    n_wk : (word, R); n_dr : (document, R), tokens of a document by the row that their word came from
    """
    rows = leaf_places(paths)
    return {"n_kw": n_wk[:, rows].T, "n_dk": n_dr[:, rows]}


def leaf_places(paths: Paths) -> np.ndarray:
    """(row of the last level,) where each stands among the places of rows."""
    return places_of(paths.network, paths.network.levels[-1].name).cells
