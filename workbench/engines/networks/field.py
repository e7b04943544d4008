"""What compiled loops over whole documents need of a network, besides counts: factors of its runs, and what is a cell.

Row sums are part of the number of a cell here, x_kt = e(xi_kt) / e(sum_t xi_kt), so that numbers stay within 0..1 however
small the priors; the number of the word is weighed by pair. See `kernels.networks.field`, `kernels.networks.vb`.
"""

import itertools
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.cached import cached_by_corpus
from workbench.engines.networks.paths import Paths, paths_of
from workbench.engines.networks.state import FlatPriors, hidden_levels, priors_of
from workbench.kernels.networks.field import Field, Owners
from workbench.kernels.networks.vb import Cells
from workbench.kernels.simd.lanes import LANES
from workbench.models.lda import ModelError
from workbench.models.networks.network import Network, Variable


class CompiledNetwork(NamedTuple):
    """A network with its priors, as addresses and arrays for the kernels."""

    paths: Paths
    field: Field
    priors: FlatPriors
    own: Cells               # of a document
    rest: Cells              # of the corpus; an address is one of the counts n_rest
    own_sign: np.ndarray     # (D,) 1 of a cell, -1 of a row sum, 0 of anything else
    rest_sign: np.ndarray    # likewise; 0 of what is no Dirichlet
    points: tuple            # (row, value) addresses in n_rest of each level whose rows are estimates
    words_are_points: bool   # are the rows of the last level estimates?
    live: np.ndarray         # (R,) 1.0 of a row of the last level, 0.0 of padding

    @property
    def n_rows(self) -> int:
        """Rows of the last level."""
        return self.paths.network.n_topics


def compile_network(network: Network, alphas: np.ndarray, n_words: int) -> CompiledNetwork:
    """Compiles a network with these priors for the kernels; see `state.alphas_of`."""
    return _compiled(network, alphas.tobytes(), n_words)


@lru_cache(maxsize=8)
def _compiled(network, alphas: bytes, n_words) -> CompiledNetwork:
    paths = paths_of(network)
    priors = priors_of(paths, np.frombuffer(alphas), n_words)
    (own, own_sign), (rest, rest_sign) = _cells(paths, True, priors.own), _cells(paths, False, priors.rest)
    live = np.zeros(paths.n_leaves)
    live[paths.leaf_places] = 1.0
    points = tuple(
        paths.places[level.name].cells - paths.rest_at for level in hidden_levels(network) if level.kind == "point"
    )
    return CompiledNetwork(
        paths, _field(paths), priors, own, rest, own_sign, rest_sign, points, network.levels[-1].kind == "point", live,
    )


def _field(paths: Paths) -> Field:
    """The runs of paths without row sums, for `kernels.networks.field`."""
    runs = paths.runs
    scalars, vectors = (
        chained([factor for factor in factors if not paths.is_row[factor[0]]] for factors in each)
        for each in ((run.scalars for run in runs), (run.vectors for run in runs))
    )
    n_blocks, leaf = np.array([(run.n_lanes // LANES, run.leaf) for run in runs]).T.copy()
    return Field(n_blocks, *scalars, *vectors, leaf, np.array([run.moves for run in runs]))


def chained(factors) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Index of the first factor of each run, and the addresses and strides of all factors."""
    factors = list(factors)
    at, stride = np.array(list(itertools.chain(*factors)), np.int64).reshape(-1, 2).T.copy()
    return np.cumsum([0, *map(len, factors)]), at, stride


def _cells(paths: Paths, of_documents: bool, prior) -> tuple[Cells, np.ndarray]:
    """The Dirichlet cells of documents, or of everything else but words."""
    real, row_of, rows = np.zeros(len(prior)), np.zeros(len(prior), np.int32), [np.zeros(0, np.int64)]
    first = 0 if of_documents else paths.rest_at
    for level in hidden_levels(paths.network):
        if level.kind == "dirichlet" and level.of_documents == of_documents:
            places = paths.places[level.name]
            real[places.cells - first] = 1.0
            row_of[places.cells - first] = places.rows[:, None] - first
            rows.append(places.rows - first)
    rows = np.concatenate(rows)
    blocks = np.unique(np.flatnonzero(real) // LANES) * LANES
    sign = real.copy()
    sign[rows] = -1.0
    weighed = np.setdiff1d(rows, paths.fixed) if of_documents else rows
    return Cells(prior, blocks, real, row_of, rows, weighed), sign


def owners_of(network: Network, corpus: Corpus) -> Owners:
    """The authors of each document; one for all where the network has no authors.

    Raises
    ------
    ModelError
        For a document with tokens and without an author.
    """
    return _owners(corpus, network.author)


@cached_by_corpus
def _owners(corpus, author: Variable | None) -> Owners:
    if author is None:
        return Owners(np.arange(corpus.n_documents + 1), np.zeros(corpus.n_documents, np.int64))
    ids = author.numbers(corpus.authors)
    alone = [d for d, n_tokens in enumerate(corpus.document_tokens) if n_tokens and not ids[d]]
    if alone:
        raise ModelError(
            f"{len(alone)} documents have tokens and no author, the first of them '{corpus.titles[alone[0]]}'; "
            "leave them out, or give each an author of its own"
        )
    return Owners(np.cumsum([0, *map(len, ids)]), np.array(list(itertools.chain(*ids)), np.int64))


def check(network: Network) -> Network:
    """The network, after a check that words of its documents can be predicted.

    Raises
    ------
    ModelError
    """
    if any(network.is_author(name) for rows in network.levels[-1].rows for name in rows.by):
        raise ModelError(
            f"rows over words by author, as level '{network.levels[-1].name}' has them, cannot be predicted from; "
            "put a variable between authors and words, as 'author-topic' has"
        )
    return network
