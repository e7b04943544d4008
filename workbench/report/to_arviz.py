"""Convert runs to chains for ArviZ."""

import os
import warnings
from collections.abc import Iterable

import numpy as np
import xarray as xr

from workbench.corpus.corpus import AnyCorpus
from workbench.errors import not_installed
from workbench.measures import MeasureError, label_free, match_topics
from workbench.measures.convergence import N_FIXED
from workbench.report.gathering import AnyRun, corpora_of, gather

OF_SAMPLER = {"log_joint": "lp", "moved": "moved"}
"""Recorded number of a state → name in ArviZ's sample statistics."""
ALIGNED = (
    "topics of each chain are renumbered like the topics of the first chain that they match, by the distances of phi at the "
    "last snapshots; topics that switch within a chain are not realigned"
)


def to_arviz(
    runs: AnyRun | Iterable[AnyRun],
    corpora: Iterable[AnyCorpus] = (),
    store: str | os.PathLike | None = None,
):
    """Return runs that differ in seed alone as the chains of one ArviZ object.

    Parameters
    ----------
    runs : Runs, paths or names of them, or their Datasets
        Each is a chain. Tokens of a run in a store are read from there.
    corpora : Corpus or ShardedCorpus, any number
        Training and test tokens, for Datasets of runs without a store.
    store : path, optional
        Where names are looked up.

    Returns
    -------
    DataTree (ArviZ 1.0 and later) or InferenceData, with the groups
        ``posterior``: the result of `workbench.measures.label_free` with 50 held-out tokens; and ``topic_share`` (chain, draw,
        topic) with aligned topics, as its attribute ``aligned`` describes.
        ``sample_stats``: ``lp`` (log joint) and ``moved`` (share of tokens that changed their topics), where recorded.
        ``log_likelihood``: ``held_out_token`` (chain, draw, held_out), log p of up to 1,000 held-out tokens.

    Raises
    ------
    MeasureError
        As `workbench.measures.label_free`, and if ArviZ is not installed.
    """
    arviz = _arviz()
    entries = gather(runs, store)
    datasets = [entry.dataset for entry in entries]
    draws = label_free(datasets, [*corpora, *corpora_of(entries).values()])
    groups = _groups(datasets, draws)
    is_old = arviz.__version__.startswith("0.")
    return arviz.InferenceData(**groups) if is_old else xr.DataTree.from_dict(groups)


def _groups(runs: list[xr.Dataset], draws: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return ArviZ group name (posterior, sample_stats, log_likelihood) → Dataset."""
    attrs = {name: text for name, text in draws.attrs.items() if text}
    groups = {}
    names_of_sampler = {old: new for old, new in OF_SAMPLER.items() if old in draws}
    posterior = draws.drop_vars([*names_of_sampler]).drop_dims("held_out", errors="ignore")
    if "log_predictive" in draws:
        posterior["log_predictive"] = draws["log_predictive"].isel(held_out=slice(N_FIXED))
    if (share := _aligned_shares(runs, draws["iteration"].values)) is not None:
        posterior["topic_share"] = share
    groups["posterior"] = posterior.assign_attrs(attrs)
    if names_of_sampler:
        groups["sample_stats"] = (
            draws[[*names_of_sampler]].rename(names_of_sampler).assign_attrs(attrs)
        )
    if "log_predictive" in draws:
        groups["log_likelihood"] = (
            draws[["log_predictive"]].rename(log_predictive="held_out_token").assign_attrs(attrs)
        )
    return groups


def _aligned_shares(runs: list[xr.Dataset], iterations: np.ndarray) -> xr.DataArray | None:
    """Return topic proportions (chain, draw, topic) of topics matched across chains; None without counts or a full match."""
    if (
        not all("n_k" in run and "phi" in run for run in runs)
        or len({run["n_k"].shape[1] for run in runs}) > 1
    ):
        return None
    shares, first = [], runs[0]
    for run in runs:
        sizes = run["n_k"].sel(iteration=iterations).values
        if run is not first:
            matching = match_topics(first, run)
            if len(matching["topic"]) < sizes.shape[1] or (matching["matched"].values < 0).any():
                return None
            sizes = sizes[:, matching["matched"].values]
        shares.append(sizes / sizes.sum(axis=1, keepdims=True))
    attrs = {"long_name": "share of the tokens in a topic", "units": "", "aligned": ALIGNED}
    return xr.DataArray(
        np.stack(shares), {"topic": first["topic"].values}, ("chain", "draw", "topic"), attrs=attrs
    )


def _arviz():
    """Import and return ArviZ; raise MeasureError if it is not installed."""
    try:
        with warnings.catch_warnings():
            # it announces changes of its next version
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError:
        raise MeasureError(not_installed("chains for ArviZ", "arviz", "arviz")) from None
    return arviz
