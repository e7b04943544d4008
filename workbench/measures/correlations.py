"""Correlations between the topic shares of documents, in correlated topic models."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import xarray as xr
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from workbench.measures.matching import match_topics
from workbench.measures.selection import MeasureError, attributes, one_run
from workbench.runs.recorded import model_of

DRAWS = 20_000
"""Documents drawn per snapshot: the standard error of a correlation is then at most 0.007."""


def topic_correlations(run: xr.Dataset, draws: int = DRAWS) -> xr.Dataset:
    """Return the correlations of the topic shares over documents, from the learnt mean and covariance.

    theta of new documents is drawn as the run's model maps psi ~ N(mu, Sigma) to theta (by stick-breaking or softmax), and its
    correlations are averaged over the later half of the snapshots. The covariance of psi itself is not interpretable: with
    sticks it depends on the order of the topics, with softmax it includes a component that is common to all topics.

    Returns ``correlation`` (topic, other_topic), from -1 to 1; 0 for a topic whose share never changes.

    Linderman, Johnson & Adams (2015), fig. 2; specification of stick-breaking, B.6.
    """
    run = one_run(run)
    if "psi_covariance" not in run or run.sizes["snapshot"] == 0:
        raise MeasureError(
            "correlations of topics need a run of a correlated topic model (such as sb-ctm or ln-ctm) with a snapshot"
        )
    theta_of, snapshots = (
        model_of(run).theta_of,
        run.isel(snapshot=slice(run.sizes["snapshot"] // 2, None)),
    )
    moments = [snapshots[name].values.astype(float) for name in ("psi_mean", "psi_covariance")]
    total = sum(
        _sampled_correlations(theta_of, mean.tobytes(), covariance.tobytes(), draws)
        for mean, covariance in zip(*moments, strict=True)
    )
    topics = run["topic"].values
    return xr.Dataset(
        {
            "correlation": (
                ("topic", "other_topic"),
                np.clip(total / snapshots.sizes["snapshot"], -1.0, 1.0),
                attributes("correlation of the shares of two topics over documents"),
            )
        },
        {"topic": topics, "other_topic": topics},
        {"draws": draws},
    )


def correlation_differences(a: xr.Dataset, b: xr.Dataset, draws: int = DRAWS) -> xr.DataArray:
    """Return the correlations of topics in run b minus those in run a, with topics matched by their words.

    Dims ``topic`` and ``other_topic`` (of a), from -2 to 2: differences of `topic_correlations` with the matches of
    `match_topics`; NaN for a topic without a match, and for a topic with itself. Up to sampling noise it is 0 if the order of
    the topics in stick-breaking has no effect.
    """
    correlation_a, correlation_b = (topic_correlations(run, draws)["correlation"] for run in (a, b))
    matches = (
        match_topics(a, b)["matched"]
        .reindex(topic=correlation_a["topic"].values, fill_value=-1)
        .values
    )
    values = correlation_b.reindex(topic=matches, other_topic=matches).values - correlation_a.values
    np.fill_diagonal(values, np.nan)
    meaning = attributes("correlation in the other run minus that in this one")
    return xr.DataArray(values, correlation_a.coords, correlation_a.dims, "difference", meaning)


def mean_correlations(runs: Sequence[xr.Dataset], draws: int = DRAWS) -> xr.Dataset:
    """Return `topic_correlations` averaged over chains that differ in the seed; topics are those of the first chain.

    A chain without a match for a topic (`match_topics`) is left out of that topic's mean.
    """
    first, *others = map(one_run, runs)
    first_correlations = topic_correlations(first, draws)
    values = first_correlations["correlation"].values
    chains = [
        values,
        *(values + correlation_differences(first, other, draws).values for other in others),
    ]
    mean = np.nanmean(np.where(np.eye(len(values), dtype=bool), values, chains), axis=0)
    return first_correlations.assign(correlation=first_correlations["correlation"].copy(data=mean))


@lru_cache(maxsize=256)
def _sampled_correlations(
    theta_of: Callable, mean: bytes, covariance: bytes, draws: int
) -> np.ndarray:
    """Return the correlations (topic, topic) of theta, estimated by drawing psi from its normal distribution.

    The results are cached, as a run in progress adds one snapshot at a time.
    """
    mean = np.frombuffer(mean)
    root = np.linalg.cholesky(np.frombuffer(covariance).reshape(len(mean), len(mean)))
    theta = theta_of(mean + np.random.default_rng(0).standard_normal((draws, len(mean))) @ root.T)
    centred = theta - theta.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    return centred.T @ centred / np.where(scale > 0, np.outer(scale, scale), 1.0)


def strongest_pairs(correlation: np.ndarray) -> list[tuple[int, int]]:
    """Return two pairs of topic indices: the most positively and the most negatively correlated pair.

    The first is left out if no correlation is positive, the second if none is negative.
    """
    pairs = np.stack(np.triu_indices(len(correlation), 1), axis=1)
    values = correlation[pairs[:, 0], pairs[:, 1]]
    extremes = [] if not len(pairs) else [(values, values.argmax()), (-values, values.argmin())]
    return [
        tuple(pairs[position].tolist())
        for signed_values, position in extremes
        if signed_values[position] > 0
    ]


def topic_of_words(run: xr.Dataset, words: str) -> int:
    """Return the topic with the highest mean log probability of ``words``, a text with words separated by spaces.

    Raises MeasureError for a word outside the vocabulary.
    """
    run = one_run(run)
    vocabulary = set(run["word"].values.tolist())
    if missing := [word for word in words.split() if word not in vocabulary] or (
        [] if words.split() else [words]
    ):
        raise MeasureError(
            f"the run has no word '{missing[0]}'; choose a topic by words of the vocabulary"
        )
    log_means = np.log(run["phi"].sel(word=words.split())).mean("word")
    return int(run["topic"].values[int(log_means.values.argmax())])


def clustered_order(correlation: np.ndarray) -> np.ndarray:
    """Return an order (topic,) that puts correlated topics next to each other, by average-linkage clustering.

    Any other likeness, (item, item), will do, as the negative of a distance.
    """
    if len(correlation) < 3:
        return np.arange(len(correlation))
    distance = 1.0 - (correlation + correlation.T) / 2
    np.fill_diagonal(distance, 0.0)
    return leaves_list(
        linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    )
