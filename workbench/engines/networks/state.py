"""Priors and counts of a network of mixture levels, between the vector of its paths and tables by level.

Compiled loops know addresses (`paths`); people know levels, rows and values. Counts of cells and of row sums stand as the
vector does::

    n_own  (document, D)       of levels with rows by document         address
    n_rest (C + A * authors,)  of shared rows, and of authors          address - rest_at
    n_wk   (word, R), n_k (R,) of the rows of the last level           place of the row

Rows of a level are numbered as the network numbers them (`Rows`), documents apart. Spec of the networks, D.1-D.4.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.memory import Array
from workbench.engines.networks.paths import Paths
from workbench.models.networks.network import AUTHORS, WORD, Level, Network
from workbench.models.networks.variables import learnt_priors, spread


class FlatPriors(NamedTuple):
    """Priors in the layout of the counts: 0 in padding cells, 1 in padding row sums."""

    own: np.ndarray          # (D,) prior of each cell of a document, their sum in row sums
    rest: np.ndarray         # (C + A * authors,) the same of shared rows and of authors'; numbers of observed tables
    beta: np.ndarray         # (R,) prior of each word in a row of the last level
    beta_total: np.ndarray   # (R,) its sum over all words
    known: np.ndarray        # (C + A * authors,) bool: a number of an observed table, which nothing is ever added to


def hidden_levels(network: Network) -> list[Level]:
    """The levels whose values are inferred and counted, the last one apart."""
    return [level for level in network.levels[:-1] if level.kind != "observed"]


def prior_levels(network: Network) -> list[Level]:
    """The levels that have a prior, in order: those that are counted, and the last."""
    return [level for level in network.levels if level.kind != "observed"]


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
    own, rest = (paths.is_row[part].astype(float) for part in (slice(paths.n_own), slice(paths.rest_at, None)))
    known, by_level = np.zeros(len(rest), bool), alphas_of(paths.network, alphas)
    *above, last = [level for level in paths.network.levels if level.table != AUTHORS]
    for level in above:
        places = paths.places[level.name]
        flat, first = (own, 0) if level.of_documents else (rest, paths.rest_at)
        rows = np.asarray(level.table, float) if level.kind == "observed" else by_level[level.name][places.groups]
        flat[places.cells - first] = rows
        have = places.rows >= 0
        flat[places.rows[have] - first] = rows.sum(axis=1)[have]
        if level.kind == "observed":
            known[places.cells - first] = True
    beta, places = np.zeros(paths.n_leaves), paths.places[last.name]
    beta[places.cells] = by_level[last.name][places.groups, 0]
    return FlatPriors(own, rest, beta, np.where(beta > 0, n_words * beta, 1.0), known)


def count_arrays(paths: Paths, corpus: Corpus, dtype=np.float64, of_corpus=np.float64) -> dict[str, Array]:
    """Declares the counts of all levels; ``of_corpus``: type of sums over documents or words."""
    return {
        "n_own": Array((corpus.n_documents, paths.n_own), dtype), "n_rest": Array((paths.n_flat - paths.rest_at,), of_corpus),
        "n_wk": Array((corpus.n_words, paths.n_leaves), dtype), "n_k": Array((paths.n_leaves,), of_corpus),
    }


def cells_of(paths: Paths, level: Level, n_own, n_rest) -> np.ndarray:
    """((document,) row, value) counts of a level but the last."""
    cells = paths.places[level.name].cells
    return n_own[:, cells] if level.of_documents else n_rest[cells - paths.rest_at]


def counts_of(paths: Paths, counts, n_dr) -> dict[str, np.ndarray]:
    """(Expected) counts of every level, along the dims of `models.networks.variables`.

    ``n_<level>``; of the last ``n_kw`` (row, word), and ``n_dk`` (document, row), the tokens of documents by its rows.

    counts : with n_own, n_rest, n_wk
    n_dr : (document, R), tokens of a document by the row that their word came from
    """
    rows = paths.leaf_places
    return {"n_kw": counts.n_wk[:, rows].T, "n_dk": n_dr[:, rows]} | {
        f"n_{level.name}": spread(paths.network, level, cells_of(paths, level, counts.n_own, counts.n_rest))
        for level in hidden_levels(paths.network)
    }


def watched(paths: Paths, n_k, alphas: np.ndarray) -> dict[str, np.ndarray]:
    """What every engine watches: tokens of each row of the last level, and the priors of the levels that learn."""
    return {"n_k": n_k[paths.leaf_places]} | learnt_priors(paths.network, alphas_of(paths.network, alphas))
