"""theta and phi of a run of a network: what its counts say of documents and words, summed over the paths.

theta_dk is the share of a document's tokens whose word comes from row k of the last level, the sum over all paths that end
there of the product of posterior means of what they visit; phi_kw is the row itself. Both are what plain LDA calls so.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.sparse as sparse
import xarray as xr

from workbench.corpus import Corpus
from workbench.models.networks.levels import AUTHORS, DOCUMENT, Level
from workbench.models.networks.network import Network
from workbench.models.networks.regions import regions_of
from workbench.models.networks.variables import row_dims, spread


def with_values(run: xr.Dataset, network: Network) -> xr.Dataset:
    """A run with the values of the network's variables as coordinates, and a name for each row over words.

    ``node`` (topic) is "root" for a row that nothing numbers, else as in "super 2", where rows are of several kinds.
    """
    coords = {
        each.name: (each.name, np.array(each.values, dtype=object) if each.values else np.arange(each.size))
        for each in network.variables if each.name != "topic" and each.name in run.dims
    }
    if len(network.levels[-1].rows) > 1:
        coords["node"] = ("topic", np.array(nodes(network), dtype=object), {"long_name": "what the row over words is of"})
    return run.assign_coords(coords)


def nodes(network: Network) -> list[str]:
    """A name for each row over words."""
    return [
        ", ".join(network.value_name(name, value) for name, value in given.items()) or "root"
        for rows in network.levels[-1].rows for given in network.assignments(rows)
    ]


def posterior_means(run: xr.Dataset, network: Network, corpus: Corpus) -> dict[str, np.ndarray]:
    """``theta`` (document, topic) and ``phi`` (topic, word) given the last snapshot.

    run : with the counts of every level.
    """
    last, priors = run.isel(snapshot=-1), priors_at_end(run, network)
    counts = {level.name: last[f"n_{level.name}"].values for level in network.levels[:-1] if level.kind != "observed"}
    counts[network.levels[-1].name] = last["n_kw"].values
    means = {
        level.name: row_means(counts[level.name], along_rows(network, level, priors[level.name]), level.kind)
        for level in network.levels if level.kind != "observed"
    }
    return {"theta": shares(network, means, corpus), "phi": means[network.levels[-1].name]}


def shares(network: Network, means: dict[str, np.ndarray], corpus: Corpus) -> np.ndarray:
    """(document, row of the last level) probability that a token of a document takes its word from the row.

    means : by name of the level its rows, along the dims of `workbench.models.networks.variables`.
    """
    tables = {
        level.name: xr.DataArray(means[level.name], dims=(*row_dims(level), level.draws)) if level.kind != "observed"
        else xr.DataArray(_known(network, level), dims=(*row_dims(level), level.draws))
        for level in network.levels[:-1] if level.table != AUTHORS
    }
    found = np.zeros((corpus.n_documents, network.n_rows(network.levels[-1])))
    for region in regions_of(network):
        end = region.visited[network.levels[-1].name]
        factors = [_within(network, level, tables[level.name], region) for level in network.levels[:-1]
                   if level.name in region.visited and level.table != AUTHORS]
        if network.author is not None:
            factors = _by_authors(network, factors, corpus, network.author.name in end.by)
        factors.append(xr.DataArray(np.ones(corpus.n_documents), dims=DOCUMENT))
        dims = (DOCUMENT, *end.by)
        summed = xr.dot(*factors, dim=[dim for each in factors for dim in each.dims if dim not in dims], optimize=True)
        found[:, _places(network, end, region)] += summed.transpose(*dims).values.reshape(corpus.n_documents, -1)
    return found


def _within(network, level: Level, table: xr.DataArray, region) -> xr.DataArray:
    """The part of a level's table that the paths of a region see."""
    rows = region.visited[level.name]
    if len(level.rows) > 1:
        before = sum(math.prod(network.shape(each)) for each in level.rows[: level.rows.index(rows)])
        by, shape = [name for name in rows.by if name != DOCUMENT], network.shape(rows)
        sizes = [n for name, n in zip(rows.by, shape, strict=True) if name != DOCUMENT]
        own = table.isel({f"{level.name}_row": slice(before, before + math.prod(sizes))})
        led = [dim for dim in own.dims if dim == DOCUMENT]
        table = xr.DataArray(own.values.reshape(*own.shape[: len(led)], *sizes, -1), dims=(*led, *by, level.draws))
        first = {name: network.span(rows, name)[0] for name in by}
    else:
        first = {}
    spans = {name: span for name, span in region.spans.items() if name in table.dims}
    return table.isel({name: slice(a - first.get(name, 0), b + 1 - first.get(name, 0)) for name, (a, b) in spans.items()})


def _by_authors(network, factors, corpus: Corpus, kept: bool) -> list[xr.DataArray]:
    """The factors with the authors of each document summed out, or, where they are ``kept``, told by document."""
    author = network.author.name
    theirs, others = [each for each in factors if author in each.dims], [each for each in factors if author not in each.dims]
    weights = author_weights(network, corpus)
    if kept:
        return [*factors, xr.DataArray(weights.toarray(), dims=(DOCUMENT, author))]
    if not theirs:
        return others
    joint = xr.dot(*theirs, dim=[], optimize=True).transpose(author, ...)
    mixed = weights @ joint.values.reshape(len(joint), -1)
    return [*others, xr.DataArray(mixed.reshape(-1, *joint.shape[1:]), dims=(DOCUMENT, *joint.dims[1:]))]


def author_weights(network: Network, corpus: Corpus) -> sparse.csr_array:
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


def priors_at_end(run: xr.Dataset, network: Network) -> dict[str, np.ndarray]:
    """By name of the level its prior at the last snapshot, a number, (value,) or (group…, value)."""
    learnt = run.sel(iteration=int(run["snapshot_iteration"][-1]))
    return {
        level.name: learnt[f"alpha_{level.name}"].values if f"alpha_{level.name}" in run else _given(network, level)
        for level in network.levels if level.kind != "observed"
    }


def _given(network: Network, level: Level):
    """The prior of a level as the network gives it, (group…, value) where there are several."""
    prior = np.asarray(level.prior, float)
    if prior.ndim < 2:
        return prior
    whole = np.full((*(network.size(name) for name in level.groups), prior.shape[-1]), np.nan)
    for key, own in zip(network.group_keys(level), prior, strict=True):
        whole[key] = own
    return whole


def along_rows(network: Network, level: Level, prior: np.ndarray) -> np.ndarray:
    """A prior (), (value,) or (group…, value) so that it is added to the counts of the level's rows."""
    if prior.ndim < 2:
        return prior
    if len(level.rows) == 1:
        sizes = [(n if name in level.groups else 1) for name, n in ((name, _size(network, name)) for name in row_dims(level))]
        order = [level.groups.index(name) for name in row_dims(level) if name in level.groups]
        return prior.transpose(*order, len(order)).reshape(*sizes, prior.shape[-1])
    return np.stack([
        prior[tuple(given[name] for name in level.groups)] for rows in level.rows for given in network.assignments(rows)
    ])


def _size(network: Network, name: str) -> int:
    return 1 if name == DOCUMENT else network.size(name)


def row_means(counts: np.ndarray, prior: np.ndarray, kind: str) -> np.ndarray:
    """Rows that sum to 1: of a point estimate the counts alone, even where there are none."""
    raised = counts + (prior if kind == "dirichlet" else 0.0)
    total = raised.sum(axis=-1, keepdims=True)
    return np.where(total > 0, raised / np.where(total > 0, total, 1.0), 1.0 / counts.shape[-1])


def _known(network: Network, level: Level) -> np.ndarray:
    """The table of an observed level along its dims."""
    return spread(network, level, np.array(level.table, float))
