"""Correlations of topics under correlated topics: of their shares of documents, not of the Gaussian behind them."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import xarray as xr
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from workbench.measures.matching import match_topics
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
        raise MeasureError(
            "correlations of topics need a run of correlated topics with a snapshot, as of sb-ctm or ln-ctm"
        )
    theta_of, kept = (
        model_of(run).theta_of,
        run.isel(snapshot=slice(run.sizes["snapshot"] // 2, None)),
    )
    moments = [kept[name].values.astype(float) for name in ("psi_mean", "psi_covariance")]
    total = sum(
        _implied(theta_of, mean.tobytes(), of.tobytes(), draws)
        for mean, of in zip(*moments, strict=True)
    )
    about = {"long_name": "correlation of the shares of two topics over documents", "units": ""}
    topics = run["topic"].values
    return xr.Dataset(
        {
            "correlation": (
                ("topic", "other_topic"),
                np.clip(total / kept.sizes["snapshot"], -1.0, 1.0),
                about,
            )
        },
        {"topic": topics, "other_topic": topics},
        {"draws": draws},
    )


def correlation_differences(a: xr.Dataset, b: xr.Dataset, draws: int = DRAWS) -> xr.DataArray:
    """How much higher the correlation of two topics is in b than in a, where b has the same topics by their words.

    Dims ``topic`` and ``other_topic`` (of a), from -2 to 2: of `topic_correlations`, the topics of b as `match_topics` finds
    them; NaN for a topic that has no match, and for a topic with itself. It is 0 but for the randomness of sampling where
    the order of the topics on the stick does no harm.
    """
    of_a, of_b = (topic_correlations(run, draws)["correlation"] for run in (a, b))
    matched = (
        match_topics(a, b)["matched"].reindex(topic=of_a["topic"].values, fill_value=-1).values
    )
    values = of_b.reindex(topic=matched, other_topic=matched).values - of_a.values
    np.fill_diagonal(values, np.nan)
    about = {"long_name": "correlation in the other run less that in this one", "units": ""}
    return xr.DataArray(values, of_a.coords, of_a.dims, "difference", about)


def mean_correlations(runs: Sequence[xr.Dataset], draws: int = DRAWS) -> xr.Dataset:
    """`topic_correlations` averaged over several chains, runs with other seeds: of the topics of the first.

    A chain that lacks a topic of the first, by the words (`match_topics`), has no part in that topic's correlations.
    """
    first, *others = map(one_run, runs)
    found = topic_correlations(first, draws)
    own = found["correlation"].values
    chains = [own, *(own + correlation_differences(first, other, draws).values for other in others)]
    mean = np.nanmean(np.where(np.eye(len(own), dtype=bool), own, chains), axis=0)
    return found.assign(correlation=found["correlation"].copy(data=mean))


@lru_cache(maxsize=256)
def _implied(theta_of: Callable, mean: bytes, covariance: bytes, draws: int) -> np.ndarray:
    """(topic, topic) correlations of theta under one mean and covariance of psi, float64; kept, as a run that goes on adds
    one snapshot after another to those that are known."""
    mean = np.frombuffer(mean)
    root = np.linalg.cholesky(np.frombuffer(covariance).reshape(len(mean), len(mean)))
    theta = theta_of(mean + np.random.default_rng(0).standard_normal((draws, len(mean))) @ root.T)
    centred = theta - theta.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    return centred.T @ centred / np.where(scale > 0, np.outer(scale, scale), 1.0)


def strongest_pairs(correlation: np.ndarray) -> list[tuple[int, int]]:
    """The pair of topics that go together most and the pair that avoid each other most, as positions (first, second).

    A pair only where there is one above, or below, 0.
    """
    pairs = np.stack(np.triu_indices(len(correlation), 1), axis=1)
    values = correlation[pairs[:, 0], pairs[:, 1]]
    found = [] if not len(pairs) else [(values, values.argmax()), (-values, values.argmin())]
    return [tuple(pairs[at].tolist()) for signed, at in found if signed[at] > 0]


def topic_of_words(run: xr.Dataset, words: str) -> int:
    """The topic that gives these words, parted by spaces, the largest probability in the mean of their logarithms.

    Raises MeasureError for a word that the run does not know.
    """
    run = one_run(run)
    known = set(run["word"].values.tolist())
    if missing := [word for word in words.split() if word not in known] or (
        [] if words.split() else [words]
    ):
        raise MeasureError(
            f"the run has no word '{missing[0]}'; name a topic by words of its vocabulary"
        )
    likely = np.log(run["phi"].sel(word=words.split())).mean("word")
    return int(run["topic"].values[int(likely.values.argmax())])


def alike_together(correlation: np.ndarray) -> np.ndarray:
    """(topic,) the topics in an order in which those that go together stand together, by average linkage of 1 - correlation."""
    if len(correlation) < 3:
        return np.arange(len(correlation))
    distance = 1.0 - (correlation + correlation.T) / 2
    np.fill_diagonal(distance, 0.0)
    return leaves_list(
        linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    )
