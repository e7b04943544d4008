"""Topics on which several runs agree: matched over the runs, each with its support, and its words and documents with ranges."""

from itertools import combinations

import numpy as np
import xarray as xr
from scipy.optimize import linear_sum_assignment

from workbench.measures.matching import match_topics, topic_distances
from workbench.measures.selection import MeasureError, Runs, attributes, each_run
from workbench.measures.topics import top_words, topic_sizes, used_topics

NEAR = 0.3
"""Largest distance of two matched topics (see `topic_distances`) at which they count as one topic.

Of 50 simulated corpora with 8 topics, fitted with K = 12, planted topics then have a mean support of 0.99, others of 0.06.
"""
N_COMMON = 10
"""Most probable words of two topics that are compared to find a topic again."""


def consensus(runs: Runs, near: float = NEAR) -> xr.Dataset:
    """Return the topics of the run nearest to the others, each with its support: the share of other runs that have it.

    Topics of each other run are matched with those of this run one to one (`match_topics`). The support of a topic is the
    share of the other runs whose matched topic is nearer than ``near``: about 1 for a topic that every start finds, about 0
    for one that a single run has.

    Parameters
    ----------
    runs : two or more Datasets of one training corpus
        Such as runs that differ in their seeds. K may differ.
    near : float, 0 to 1, default 0.3
        Largest Jensen-Shannon distance of phi at which two topics count as one.

    Returns
    -------
    Dataset
        ``support`` (topic), ``n_found`` (topic), the number of runs that have the topic, the nearest run included, and over
        these runs the mean and range of ``phi`` (topic, word) and ``theta`` (document, topic), if they have theta: ``phi``,
        ``phi_low``, ``phi_high``, ``theta``, ``theta_low``, ``theta_high``. ``topic`` has the numbers of the nearest run, whose
        name is the attribute ``run``.

    Raises
    ------
    MeasureError
        For a single run, or runs of several training corpora.
    """
    datasets = each_run(runs)
    if len(datasets) < 2:
        raise MeasureError("topics agree between runs; give two or more, such as of several seeds")
    if len({run.attrs["corpus_hash"] for run in datasets}) > 1:
        raise MeasureError("the runs have several training corpora; give runs of one corpus")
    distances = np.zeros(
        len(datasets)
    )  # mean over the topics of a run; 1 for those without a match
    for pair in combinations(range(len(datasets)), 2):
        costs = topic_distances(*(datasets[index] for index in pair)).values
        rows, columns = linear_sum_assignment(costs)
        for index, n_topics in zip(pair, costs.shape, strict=True):
            distances[index] += (costs[rows, columns].sum() + n_topics - len(rows)) / n_topics
    nearest = used_topics(datasets.pop(int(distances.argmin())))
    aligned_runs = [(nearest, xr.ones_like(nearest["topic"], bool))]
    for run in datasets:
        matching = match_topics(nearest, run)
        is_near = matching["distance"] <= near
        matched_topics = matching["matched"].where(is_near, run["topic"].values[0]).values
        aligned_runs.append(
            (run.sel(topic=matched_topics).assign_coords(topic=matching["topic"]), is_near)
        )
    n_found = sum(is_near.astype(int) for _, is_near in aligned_runs)
    support = (n_found - 1) / len(datasets)
    result = xr.Dataset(
        {
            "support": support.assign_attrs(attributes("runs that agree", "share")),
            "n_found": n_found.assign_attrs(attributes("runs that have the topic")),
        },
        attrs={"run": nearest.attrs["name"], "n_runs": len(aligned_runs)},
    )
    for name in ("phi", "theta"):
        if name in nearest:
            result = result.assign(_ranges(name, aligned_runs, n_found))
    return result


def matches_in_others(run: xr.Dataset, others: list[xr.Dataset]) -> xr.Dataset:
    """Return in how many other runs each topic of a run is found, and the range of its shares in all these runs.

    A topic is found in a run if at least half of its `N_COMMON` most probable words are among as many of the topic that is
    matched with it (`match_topics`) and has tokens: looser than `consensus`, as two states of one chain differ too.

    Returns ``n_found`` (topic), which leaves the run itself out, and ``low`` and ``high`` (topic), which do not.
    """
    run = used_topics(run)
    words, n_found = top_words(run, N_COMMON)["word"].values, np.zeros(run.sizes["topic"], int)
    shares = [topic_sizes(run)["share"].values]
    for other in others:
        of_other, sizes = top_words(other, N_COMMON)["word"], topic_sizes(other)["share"]
        shares.append(np.full(len(n_found), np.nan))
        for index, matched_topic in enumerate(match_topics(run, other)["matched"].values.tolist()):
            common = (
                {*words[index]} & {*of_other.sel(topic=matched_topic).values}
                if matched_topic >= 0
                else ()
            )
            if 2 * len(common) >= words.shape[1] and (
                share := float(sizes.sel(topic=matched_topic))
            ):
                n_found[index] += 1
                shares[-1][index] = share
    columns = {
        "n_found": n_found,
        "low": np.nanmin(shares, axis=0),
        "high": np.nanmax(shares, axis=0),
    }
    return xr.Dataset(
        {name: ("topic", values) for name, values in columns.items()},
        {"topic": run["topic"].values},
    )


def _ranges(
    name: str, aligned_runs: list[tuple[xr.Dataset, xr.DataArray]], n_found: xr.DataArray
) -> dict:
    """Return a variable's mean, least and greatest values, each over those runs of ``aligned_runs`` that have the topic."""
    total, low, high = 0.0, np.inf, 0.0
    for run, is_near in aligned_runs:
        total = total + run[name].where(is_near, 0.0)
        low = np.minimum(low, run[name].where(is_near, np.inf))
        high = np.maximum(high, run[name].where(is_near, 0.0))
    return {name: total / n_found, f"{name}_low": low, f"{name}_high": high}
