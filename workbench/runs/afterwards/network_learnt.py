"""What a run of a network has learnt of the corpus, as unseen documents and other programs need it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.engines.networks.state import alphas_of, initial_alphas
from workbench.models import Priors
from workbench.models.networks.levels import WORD, Level
from workbench.models.networks.network import Network
from workbench.runs.afterwards.network_means import along_rows, priors_at_end, row_means, shares
from workbench.runs.spec import RunSpec

FLOOR = 1e-10
"""Of rows over words that are estimated, so that no word is impossible where a run is asked what it foretells."""


class Learnt(NamedTuple):
    """What a run of a network has learnt of the corpus: all that unseen documents need of it."""

    network: Network                  # with the authors that it knows
    counts: dict[str, np.ndarray]     # by name of the level, of those without rows by document, as `Engine.counts` gives them
    alphas: np.ndarray                # all priors, as `workbench.engines.networks.state.alphas_of` reads them


def learnt_of(run: xr.Dataset) -> Learnt | None:
    """What the last snapshot of a run has learnt; None where its model is no network."""
    network = network_in(run)
    if network is None:
        return None
    last, alphas = run.isel(snapshot=-1), initial_alphas(network)
    counts = {
        level.name: last["n_kw" if level.draws == WORD else f"n_{level.name}"].values
        for level in network.levels if level.kind != "observed" and not level.of_documents
    }
    priors = priors_at_end(run, network)
    for name, own in alphas_of(network, alphas).items():
        own[...] = _by_groups(network, network.level(name), priors[name])
    return Learnt(network, counts, alphas)


def network_in(run: xr.Dataset) -> Network | None:
    """The network of a run with the authors it knows; None where its model is another."""
    _, network, _ = RunSpec.from_json(run.attrs["spec"]).parts()
    if not isinstance(network, Network):
        return None
    author = network.author
    known = author is not None and author.name in run.coords
    return network.with_authors(run[author.name].values.tolist()) if known else network


def pseudo_counts(run: xr.Dataset) -> Priors:
    """What stands for alpha and beta of LDA: what LDA would have to believe of the rows over words, to expect as much of each.

    alpha_k is the share of row k before anything is known of a document, given what is known of the corpus, times the sum of
    the first prior of its rows; of LDA as a network just its own.
    """
    network = network_in(run)
    last, priors = network.levels[-1], priors_at_end(run, network)
    means = {
        level.name: row_means(_seen(run, level), along_rows(network, level, priors[level.name]), level.kind)
        for level in network.levels[:-1] if level.kind != "observed"
    }
    nobody = Corpus.from_pairs([0], [0], [1])
    first = next((level for level in network.levels[:-1] if level.kind == "dirichlet"), None)
    total = 1.0 if first is None else _total(priors[first.name], network.size(first.draws))
    beta = float(priors[last.name]) if last.kind == "dirichlet" else FLOOR
    return Priors(total * shares(network, means, nobody)[0], beta)


def _by_groups(network: Network, level: Level, prior: np.ndarray) -> np.ndarray:
    """(group, value) of a prior (group…, value); others as they are."""
    return np.stack([prior[key] for key in network.group_keys(level)]) if prior.ndim > 1 else prior


def _seen(run: xr.Dataset, level: Level) -> np.ndarray:
    """The counts of a level at the last snapshot; of one document without a token where documents have rows."""
    counts = run[f"n_{level.name}"].isel(snapshot=-1).values
    return np.zeros_like(counts[:1]) if level.of_documents else counts


def _total(prior: np.ndarray, n_values: int) -> float:
    """The sum of a prior over the values of a row, mean over groups."""
    of_values = np.nanmean(prior.reshape(-1, prior.shape[-1]), axis=0) if prior.ndim else np.full(n_values, prior)
    return float(of_values.sum())
