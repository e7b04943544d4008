"""Correlations of topics under correlated topics: of their shares of documents, not of the Gaussian behind them."""

import numpy as np
import xarray as xr
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from workbench.measures.selection import MeasureError, one_run
from workbench.runs.dataset import model_of

DRAWS = 20_000
"""Documents that are drawn for each snapshot: a correlation is then right to 0.007."""


def topic_correlations(run: xr.Dataset, draws: int = DRAWS) -> xr.Dataset:
    """How the shares of two topics go together over documents, by the mean and covariance that a run has learnt.

    theta of new documents is drawn from psi ~ N(mu, Sigma) as the run's model makes it of psi (by stick-breaking or softmax),
    and its correlations are averaged over the later half of the snapshots. The covariance of psi itself says little: that of
    sticks depends on the order of the topics, that of components holds what all components have in common.

    Returns ``correlation`` (topic, other_topic), from -1 to 1; 0 for a topic whose share never changes.

    Linderman, Johnson & Adams (2015), fig. 2; specification of stick-breaking, B.6.
    """
    run = one_run(run)
    if "psi_covariance" not in run or run.sizes["snapshot"] == 0:
        raise MeasureError("correlations of topics need a run of correlated topics with a snapshot, as of sb-ctm or ln-ctm")
    theta_of, rng, total = model_of(run).theta_of, np.random.default_rng(0), 0.0
    kept = run.isel(snapshot=slice(run.sizes["snapshot"] // 2, None))
    for mean, covariance in zip(kept["psi_mean"].values, kept["psi_covariance"].values, strict=True):
        root = np.linalg.cholesky(covariance)
        theta = theta_of(mean + rng.standard_normal((draws, len(mean))) @ root.T)
        centred = theta - theta.mean(axis=0)
        scale = np.sqrt((centred**2).sum(axis=0))
        total += centred.T @ centred / np.where(scale > 0, np.outer(scale, scale), 1.0)
    about = {"long_name": "correlation of the shares of two topics over documents", "units": ""}
    topics = run["topic"].values
    return xr.Dataset(
        {"correlation": (("topic", "other_topic"), np.clip(total / kept.sizes["snapshot"], -1.0, 1.0), about)},
        {"topic": topics, "other_topic": topics}, {"draws": draws},
    )


def alike_together(correlation: np.ndarray) -> np.ndarray:
    """(topic,) the topics in an order in which those that go together stand together, by average linkage of 1 - correlation."""
    if len(correlation) < 3:
        return np.arange(len(correlation))
    distance = 1.0 - (correlation + correlation.T) / 2
    np.fill_diagonal(distance, 0.0)
    return leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=True))
