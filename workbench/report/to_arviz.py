"""Runs as chains for ArviZ: `to_arviz`."""

import warnings
from collections.abc import Iterable

import numpy as np
import xarray as xr

from workbench.corpus.any_corpus import AnyCorpus
from workbench.errors import not_installed
from workbench.measures import MeasureError, each_run, label_free, match_topics
from workbench.measures.label_free import N_FIXED
from workbench.runs.execution.run import Run, find_run
from workbench.runs.store.archive import corpora_of

OF_SAMPLER = {"log_joint": "lp", "moved": "moved"}
"""What is recorded of a state → what ArviZ calls it among the statistics of a sampler."""
ALIGNED = (
    "topics of each chain have the numbers of those of the first chain that they are matched with, by the distances of phi at "
    "the last snapshots; a topic that becomes another one within a chain is not followed"
)


def to_arviz(runs, corpora: Iterable[AnyCorpus] = (), store=None):
    """Runs of one engine and settings, which differ in their seeds, as chains for ArviZ.

    Parameters
    ----------
    runs : Runs, paths or names of them, or their Datasets
        Each is a chain. Of a run in a store the tokens are read from there.
    corpora : Corpus or ShardedCorpus, any number
        Training and test tokens, for Datasets of runs without a store.
    store : path, optional
        Where names are looked up.

    Returns
    -------
    DataTree (ArviZ 1.0 and later) or InferenceData, with the groups
        ``posterior``: what `workbench.measures.label_free` gives, 50 of the held-out tokens; and ``topic_share`` (chain,
        draw, topic), with topics aligned: its attribute ``aligned`` says how.
        ``sample_stats``: ``lp`` (log joint) and ``moved`` (share of tokens that changed their topics), where recorded.
        ``log_likelihood``: ``held_out_token`` (chain, draw, held_out), log p of up to 1,000 held-out tokens.

    Raises
    ------
    MeasureError
        As `workbench.measures.label_free` does, and where ArviZ is not installed.
    """
    arviz = _arviz()
    found, known = [], list(corpora)
    for run in [runs] if isinstance(runs, (str, Run, xr.Dataset)) else runs:
        if isinstance(run, xr.Dataset):
            found.append(run)
            continue
        stored = Run(find_run(run, store))
        found.append(stored.dataset())
        known += [corpus for corpus in corpora_of(stored.path.parent, stored.spec) if corpus]
    found = each_run(found)
    draws = label_free(found, known)
    groups = _groups(found, draws)
    old = arviz.__version__.startswith("0.")
    return arviz.InferenceData(**groups) if old else xr.DataTree.from_dict(groups)


def _groups(runs: list[xr.Dataset], draws: xr.Dataset) -> dict[str, xr.Dataset]:
    """Group → what is in it."""
    about = {name: text for name, text in draws.attrs.items() if text}
    groups = {}
    of_sampler = {old: new for old, new in OF_SAMPLER.items() if old in draws}
    posterior = draws.drop_vars([*of_sampler]).drop_dims("held_out", errors="ignore")
    if "log_predictive" in draws:
        posterior["log_predictive"] = draws["log_predictive"].isel(held_out=slice(N_FIXED))
    if (share := _aligned_shares(runs, draws["iteration"].values)) is not None:
        posterior["topic_share"] = share
    groups["posterior"] = posterior.assign_attrs(about)
    if of_sampler:
        groups["sample_stats"] = draws[[*of_sampler]].rename(of_sampler).assign_attrs(about)
    if "log_predictive" in draws:
        groups["log_likelihood"] = (
            draws[["log_predictive"]].rename(log_predictive="held_out_token").assign_attrs(about)
        )
    return groups


def _aligned_shares(runs: list[xr.Dataset], iterations: np.ndarray) -> xr.DataArray | None:
    """(chain, draw, topic) shares of the tokens; None where chains have not the same topics, or no words of them."""
    if (
        not all("n_k" in run and "phi" in run for run in runs)
        or len({run["n_k"].shape[1] for run in runs}) > 1
    ):
        return None
    shares, first = [], runs[0]
    for run in runs:
        sizes = run["n_k"].sel(iteration=iterations).values
        if run is not first:
            matched = match_topics(first, run)
            if len(matched["topic"]) < sizes.shape[1] or (matched["matched"].values < 0).any():
                return None
            sizes = sizes[:, matched["matched"].values]
        shares.append(sizes / sizes.sum(axis=1, keepdims=True))
    about = {"long_name": "share of the tokens in a topic", "units": "", "aligned": ALIGNED}
    return xr.DataArray(
        np.stack(shares), {"topic": first["topic"].values}, ("chain", "draw", "topic"), attrs=about
    )


def _arviz():
    """The package, or the sentence that says how to install it."""
    try:
        with warnings.catch_warnings():
            # that the version after this one will be another
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError:
        raise MeasureError(not_installed("chains for ArviZ", "arviz", "arviz")) from None
    return arviz
