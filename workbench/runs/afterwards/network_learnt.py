"""What a run of a network has learnt of the corpus, as unseen documents and other programs need it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.engines.networks.state import alphas_of, initial_alphas
from workbench.models.networks.levels import WORD
from workbench.models.networks.network import Network
from workbench.models.networks.variables import level_priors
from workbench.runs.dataset import last_snapshot, model_of


class Learnt(NamedTuple):
    """What a run of a network has learnt of the corpus: all that unseen documents need of it."""

    network: Network                  # with the authors that it knows
    counts: dict[str, np.ndarray]     # by name of the level, of those without rows by document, as `Engine.counts` gives them
    alphas: np.ndarray                # all priors, as `workbench.engines.networks.state.alphas_of` reads them


def learnt_of(run: xr.Dataset) -> Learnt | None:
    """What the last snapshot of a run has learnt; None where its model is no network."""
    network = model_of(run)
    if not hasattr(network, "levels"):  # no network
        return None
    last, alphas = last_snapshot(run), initial_alphas(network)
    counts = {
        level.name: last["n_kw" if level.draws == WORD else f"n_{level.name}"].values
        for level in network.levels if level.kind != "observed" and not level.of_documents
    }
    priors = level_priors(last, network)
    for name, own in alphas_of(network, alphas).items():
        own[...] = priors[name]
    return Learnt(network, counts, alphas)
