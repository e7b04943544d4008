"""theta and phi of a network, from the counts of its levels: posterior means of rows, summed over the paths.

theta_dk is the share of a document's tokens whose word comes from row k of the last level, the sum over all paths that end
there of the product of posterior means of what they visit; phi_kw is the row itself. Both are what plain LDA calls so.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from workbench.corpus import Corpus
from workbench.models.networks.levels import AUTHORS, DOCUMENT, Level
from workbench.models.networks.regions import regions_of
from workbench.models.networks.variables import row_dims, spread
from workbench.models.priors import Priors

FLOOR = 1e-10
"""Prior of words in rows that are estimated, so that no word is impossible in a prediction."""


class Table(NamedTuple):
    """An array with a name for each of its dims."""

    values: np.ndarray
    dims: tuple[str, ...]


def nodes(network) -> list[str]:
    """A name for each row over words."""
    return [
        ", ".join(network.value_name(name, value) for name, value in given.items()) or "root"
        for rows in network.levels[-1].rows for given in network.assignments(rows)
    ]


def posterior_means(network, last: Mapping, corpus: Corpus) -> dict[str, np.ndarray]:
    """``theta`` (document, topic) and ``phi`` (topic, word) given the counts of every level at a snapshot."""
    priors, end = level_priors(last, network), network.levels[-1].name
    means = {
        level.name: row_means(
            np.asarray(last["n_kw" if level.name == end else f"n_{level.name}"]),
            along_rows(network, level, priors[level.name]), level.kind,
        )
        for level in network.levels if level.kind != "observed"
    }
    return {"theta": shares(network, means, corpus), "phi": means[end]}


def equivalent_priors(network, last: Mapping) -> Priors:
    """The priors of the LDA model that expects, before it sees a document, the same shares of the rows over words.

    alpha_k is the share of row k before anything is known of a document, given what is known of the corpus, times the sum of
    the first prior of its rows; of LDA as a network just its own.
    """
    end, priors = network.levels[-1], level_priors(last, network)
    means = {
        level.name: row_means(_unseen(last, level), along_rows(network, level, priors[level.name]), level.kind)
        for level in network.levels[:-1] if level.kind != "observed"
    }
    nobody = Corpus.from_pairs([0], [0], [1])
    first = next((level for level in network.levels[:-1] if level.kind == "dirichlet"), None)
    total = 1.0 if first is None else _total(priors[first.name], network.size(first.draws))
    beta = float(priors[end.name]) if end.kind == "dirichlet" else FLOOR
    return Priors(total * shares(network, means, nobody)[0], beta)


def _unseen(last: Mapping, level: Level) -> np.ndarray:
    """The counts of a level; those of one document without a token where documents have rows."""
    counts = np.asarray(last[f"n_{level.name}"])
    return np.zeros_like(counts[:1]) if level.of_documents else counts


def _total(prior: np.ndarray, n_values: int) -> float:
    """The sum of a prior over the values of a row, mean over groups."""
    of_values = np.nanmean(prior.reshape(-1, prior.shape[-1]), axis=0) if prior.ndim else np.full(n_values, prior)
    return float(of_values.sum())


def shares(network, means: dict[str, np.ndarray], corpus: Corpus) -> np.ndarray:
    """(document, row of the last level) probability that a token of a document takes its word from the row.

    means : by name of the level its rows, along the dims of `workbench.models.networks.variables`.
    """
    tables = {
        level.name: Table(
            means[level.name] if level.kind != "observed" else _known(network, level), (*row_dims(level), level.draws)
        )
        for level in network.levels[:-1] if level.table != AUTHORS
    }
    found = np.zeros((corpus.n_documents, network.n_rows(network.levels[-1])))
    for region in regions_of(network):
        end = region.visited[network.levels[-1].name]
        factors = [_within(network, level, tables[level.name], region) for level in network.levels[:-1]
                   if level.name in region.visited and level.table != AUTHORS]
        if network.author is not None:
            factors = _by_authors(network, factors, corpus, network.author.name in end.by)
        factors.append(Table(np.ones(corpus.n_documents), (DOCUMENT,)))
        summed = summed_product(factors, (DOCUMENT, *end.by))
        found[:, _places(network, end, region)] += summed.reshape(corpus.n_documents, -1)
    return found


def summed_product(tables: list[Table], dims: tuple[str, ...]) -> np.ndarray:
    """The product of tables along the dims that they share, summed over all dims but these."""
    letter = {dim: string.ascii_letters[i] for i, dim in enumerate(dict.fromkeys(dim for each in tables for dim in each.dims))}
    given = ",".join("".join(letter[dim] for dim in each.dims) for each in tables)
    return np.einsum(f"{given}->{''.join(letter[dim] for dim in dims)}", *(each.values for each in tables), optimize=True)


def _within(network, level: Level, table: Table, region) -> Table:
    """The part of a level's table that the paths of a region visit."""
    rows, (values, dims), first = region.visited[level.name], table, {}
    if len(level.rows) > 1:
        before = sum(math.prod(network.shape(each)) for each in level.rows[: level.rows.index(rows)])
        by = [name for name in rows.by if name != DOCUMENT]
        sizes = [n for name, n in zip(rows.by, network.shape(rows), strict=True) if name != DOCUMENT]
        led = values.shape[: level.of_documents]
        own = values[(*(slice(None) for _ in led), slice(before, before + math.prod(sizes)))]
        values, dims = own.reshape(*led, *sizes, values.shape[-1]), (*dims[: len(led)], *by, level.draws)
        first = {name: network.span(rows, name)[0] for name in by}
    spans = [region.spans.get(name) for name in dims]
    return Table(values[tuple(
        slice(None) if span is None else slice(span[0] - first.get(name, 0), span[1] + 1 - first.get(name, 0))
        for name, span in zip(dims, spans, strict=True)
    )], dims)


def _by_authors(network, factors: list[Table], corpus: Corpus, kept: bool) -> list[Table]:
    """The factors with the authors of each document summed out, or, where they are ``kept``, one row for each document."""
    author = network.author.name
    theirs, others = [each for each in factors if author in each.dims], [each for each in factors if author not in each.dims]
    weights = author_weights(network, corpus)
    if kept:
        return [*factors, Table(weights.toarray(), (DOCUMENT, author))]
    if not theirs:
        return others
    dims = tuple(dict.fromkeys([author, *(dim for each in theirs for dim in each.dims)]))
    joint = summed_product(theirs, dims)
    mixed = weights @ joint.reshape(len(joint), -1)
    return [*others, Table(mixed.reshape(-1, *joint.shape[1:]), (DOCUMENT, *dims[1:]))]


def author_weights(network, corpus: Corpus) -> sparse.csr_array:
    """(document, author) even over the authors of each document; over all where none is known."""
    number = {name: i for i, name in enumerate(network.author.values)}
    ids = [[number[name] for name in names or () if name in number] for names in corpus.authors or [()] * corpus.n_documents]
    ids = [each or range(len(number)) for each in ids]
    indptr = np.cumsum([0, *map(len, ids)])
    values = np.repeat(1.0 / np.diff(indptr), np.diff(indptr))
    return sparse.csr_array((values, np.fromiter(itertools.chain(*ids), int), indptr), (len(ids), len(number)))


def _places(network, end, region) -> np.ndarray:
    """The numbers of the rows of the last level where a region's paths end, the last variable fastest."""
    blocks = network.levels[-1].rows
    before = sum(math.prod(network.shape(each)) for each in blocks[: blocks.index(end)])
    numbered = before + np.arange(math.prod(network.shape(end))).reshape(network.shape(end))
    first = {name: network.span(end, name)[0] for name in end.by}
    spans = [region.spans.get(name, network.span(end, name)) for name in end.by]
    here = tuple(slice(a - first[name], b + 1 - first[name]) for name, (a, b) in zip(end.by, spans, strict=True))
    return numbered[here].ravel()


def level_priors(last: Mapping, network) -> dict[str, np.ndarray]:
    """By name of the level its prior at a snapshot, a number, (value,) or (group…, value)."""
    return {
        level.name: np.asarray(last[f"alpha_{level.name}"]) if f"alpha_{level.name}" in last else _given(network, level)
        for level in network.levels if level.kind != "observed"
    }


def _given(network, level: Level):
    """The prior of a level as the network gives it, (group…, value) where there are several."""
    prior = np.asarray(level.prior, float)
    if prior.ndim < 2:
        return prior
    whole = np.full((*(network.size(name) for name in level.groups), prior.shape[-1]), np.nan)
    for key, own in zip(network.group_keys(level), prior, strict=True):
        whole[key] = own
    return whole


def along_rows(network, level: Level, prior: np.ndarray) -> np.ndarray:
    """A prior (), (value,) or (group…, value), broadcast along the rows of the level."""
    if prior.ndim < 2:
        return prior
    if len(level.rows) == 1:
        sizes = [(n if name in level.groups else 1) for name, n in ((name, _size(network, name)) for name in row_dims(level))]
        order = [level.groups.index(name) for name in row_dims(level) if name in level.groups]
        return prior.transpose(*order, len(order)).reshape(*sizes, prior.shape[-1])
    return np.stack([
        prior[tuple(given[name] for name in level.groups)] for rows in level.rows for given in network.assignments(rows)
    ])


def _size(network, name: str) -> int:
    return 1 if name == DOCUMENT else network.size(name)


def row_means(counts: np.ndarray, prior: np.ndarray, kind: str) -> np.ndarray:
    """Rows that sum to 1: of a point estimate the counts alone, even where there are none."""
    raised = counts + (prior if kind == "dirichlet" else 0.0)
    total = raised.sum(axis=-1, keepdims=True)
    return np.where(total > 0, raised / np.where(total > 0, total, 1.0), 1.0 / counts.shape[-1])


def _known(network, level: Level) -> np.ndarray:
    """The table of an observed level along its dims."""
    return spread(network, level, np.array(level.table, float))
