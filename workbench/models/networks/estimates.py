"""theta and phi of a network from the counts of its levels: products of posterior mean rows, summed over paths.

theta_dk is the share of a document's tokens whose word comes from row k of the last level, the sum over all paths that end
there of the product of posterior means of what they visit; phi_kw is the row itself. Both are what plain LDA calls so.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from workbench.corpus import Corpus
from workbench.models.model import Priors
from workbench.models.networks.labels import allowed_values
from workbench.models.networks.leaves import words_of_leaves
from workbench.models.networks.levels import (
    AUTHORS,
    DOCUMENT,
    Level,
    level_priors,
    narrowed,
    regions_of,
)

FLOOR = 1e-10
"""Prior of words in point-estimated rows, so that no word has probability 0 in a prediction."""


class Table(NamedTuple):
    """An array with named dimensions."""

    values: np.ndarray
    dims: tuple[str, ...]


def nodes(network) -> list[str]:
    """Return a name such as "super 2" or "root" for each row of the level that draws words."""
    return [
        ", ".join(network.value_name(name, value) for name, value in values.items()) or "root"
        for rows in network.levels[-1].rows
        for values in network.assignments(rows)
    ]


def posterior_means(network, last: Mapping, corpus: Corpus) -> dict[str, np.ndarray]:
    """Return ``theta`` (document, topic) and ``phi`` (topic, word), posterior means given the counts of a snapshot."""
    end = network.levels[-1]
    phi = word_means(
        network, np.asarray(last["n_kw"]), level_priors(last, network)[end.name], corpus.vocabulary
    )
    factors = _rows_above_words(network, last)
    if network.labelled is not None:
        level = next(level for level in network.levels if level.draws == network.labelled.name)
        allowed, set_of = allowed_values(network.labelled, corpus)
        rows = factors[level.name] * allowed[set_of][:, None]
        factors[level.name] = rows / rows.sum(axis=-1, keepdims=True)
    return {"theta": shares(network, factors, corpus), "phi": phi}


def word_means(network, n_kw: np.ndarray, prior, vocabulary: Sequence[str]) -> np.ndarray:
    """Return p(w | row of the last level) (row, word), posterior means.

    With several leaves it is p(w | row, leaf of w) times the share of the leaf in all tokens, so that each row sums to one.
    """
    kind, phi = network.levels[-1].kind, np.zeros(n_kw.shape)
    if not network.leaves:
        return row_means(n_kw, prior, kind)
    for words in words_of_leaves(network.leaves, vocabulary):
        share = n_kw[:, words].sum() / max(n_kw.sum(), 1e-300)
        phi[:, words] = share * row_means(n_kw[:, words], prior, kind)
    return phi


def equivalent_priors(network, last: Mapping) -> Priors:
    """Return the priors of the LDA model that expects the same shares of last-level rows in an unseen document.

    alpha_k is the expected share of row k of the last level in an unseen document, given the counts of the corpus, times the
    sum of the prior of the first Dirichlet level (mean over groups). For LDA as a network it is its alpha.
    """
    end, priors, total = network.levels[-1], level_priors(last, network), 1.0
    first = next((level for level in network.levels[:-1] if level.kind == "dirichlet"), None)
    if first is not None:
        n_values = network.size(first.draws)
        total = float(
            np.broadcast_to(priors[first.name], (network.n_groups(first), n_values))
            .mean(axis=0)
            .sum()
        )
    beta = float(priors[end.name]) if end.kind == "dirichlet" else FLOOR
    empty_document = Corpus.from_pairs([0], [0], [1])
    return Priors(
        total * shares(network, _rows_above_words(network, last, seen=False), empty_document)[0],
        beta,
    )


def _rows_above_words(network, last: Mapping, seen: bool = True) -> dict[str, np.ndarray]:
    """Return level → posterior mean rows ([document,] row, value) above the last; of documents prior means if not ``seen``."""
    priors, factors = level_priors(last, network), {}
    for level in network.levels[:-1]:
        if level.kind != "observed":
            counts, prior = (
                narrowed(network, level, np.asarray(last[f"n_{level.name}"])),
                priors[level.name],
            )
            if level.of_documents and not seen:
                counts = np.zeros_like(counts[:1])
            factors[level.name] = row_means(
                counts, prior[network.row_groups(level)] if prior.ndim > 1 else prior, level.kind
            )
    return factors


def shares(network, means: dict[str, np.ndarray], corpus: Corpus) -> np.ndarray:
    """Return the probability (document, row) that a word in a document is drawn from each row of the last level.

    means : name of the level → its rows ([document,] row, value), without the last level and observed ones
    """
    end = network.levels[-1]
    document_shares = np.zeros((corpus.n_documents, network.n_rows(end)))
    for region in regions_of(network):
        rows = region.visited[end.name]
        factors = [
            _table_block(network, level, means, region)
            for level in network.levels[:-1]
            if level.name in region.visited and level.table != AUTHORS
        ]
        if network.author is not None:
            factors = _average_authors(network, factors, corpus, network.author.name in rows.by)
        factors.append(Table(np.ones(corpus.n_documents), (DOCUMENT,)))
        probabilities = summed_product(factors, (DOCUMENT, *rows.by))
        document_shares[:, network.row_numbers(end, rows, region.spans).ravel()] += (
            probabilities.reshape(corpus.n_documents, -1)
        )
    return document_shares


def summed_product(tables: list[Table], dims: tuple[str, ...]) -> np.ndarray:
    """Return the product of arrays with named dims, summed over all dims that are not in ``dims``."""
    number = {
        dim: i
        for i, dim in enumerate(dict.fromkeys(dim for factor in tables for dim in factor.dims))
    }
    arguments = itertools.chain(
        *((factor.values, [number[dim] for dim in factor.dims]) for factor in tables)
    )
    return np.einsum(*arguments, [number[dim] for dim in dims], optimize=True)


def _table_block(network, level: Level, means: dict[str, np.ndarray], region) -> Table:
    """Return the block of a level's probability table that the paths of a region visit, as an array with named dims."""
    rows, (first, last) = region.visited[level.name], region.spans[level.draws]
    table = np.array(level.table, float) if level.kind == "observed" else means[level.name]
    part = table[..., network.row_numbers(level, rows, region.spans), first : last + 1]
    led = (DOCUMENT,) if level.of_documents else ()
    return Table(part, (*led, *(name for name in rows.by if name != DOCUMENT), level.draws))


def _average_authors(network, factors: list[Table], corpus: Corpus, dims_left: bool) -> list[Table]:
    """Return the factors averaged over each document's authors, or with author weights appended if ``dims_left``."""
    author = network.author.name
    author_factors, other_factors = (
        [factor for factor in factors if author in factor.dims],
        [factor for factor in factors if author not in factor.dims],
    )
    weights = author_weights(network, corpus)
    if dims_left:
        return [*factors, Table(weights.toarray(), (DOCUMENT, author))]
    if not author_factors:
        return other_factors
    dims = tuple(
        dict.fromkeys([author, *(dim for factor in author_factors for dim in factor.dims)])
    )
    joint = summed_product(author_factors, dims)
    mixed = weights @ joint.reshape(len(joint), -1)
    return [*other_factors, Table(mixed.reshape(-1, *joint.shape[1:]), (DOCUMENT, *dims[1:]))]


def author_weights(network, corpus: Corpus) -> sparse.csr_array:
    """Return weights (document, author): uniform over a document's authors in the network, over all authors if it has none."""
    all_authors = range(network.author.size)
    ids = [
        numbers or all_authors
        for numbers in network.author.numbers(corpus.authors or [()] * corpus.n_documents)
    ]
    indptr = np.cumsum([0, *map(len, ids)])
    values = np.repeat(1.0 / np.diff(indptr), np.diff(indptr))
    return sparse.csr_array(
        (values, np.fromiter(itertools.chain(*ids), int), indptr), (len(ids), len(all_authors))
    )


def row_means(counts: np.ndarray, prior: np.ndarray, kind: str) -> np.ndarray:
    """Return posterior mean rows, or normalised counts for point estimates; uniform rows where all counts are 0."""
    parameters = counts + (prior if kind == "dirichlet" else 0.0)
    total = parameters.sum(axis=-1, keepdims=True)
    return np.where(total > 0, parameters / np.where(total > 0, total, 1.0), 1.0 / counts.shape[-1])
