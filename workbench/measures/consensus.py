"""Topics on which several runs agree: matched over the runs, each with its support, and its words and documents with ranges."""

import numpy as np
import xarray as xr

from workbench.measures.matching import match_topics
from workbench.measures.selection import MeasureError, Runs, attributes, each_run

NEAR = 0.3
"""Largest distance of two matched topics (see `topic_distances`) at which they count as one topic.

Of 50 simulated corpora with 8 topics, fitted with K = 12, planted topics then have a mean support of 0.99, others of 0.06.
"""


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
        these runs the mean and range of ``phi`` (topic, word) and ``theta`` (document, topic): ``phi``, ``phi_low``,
        ``phi_high``, ``theta``, ``theta_low``, ``theta_high``. ``topic`` has the numbers of the nearest run, whose name is the
        attribute ``run``.

    Raises
    ------
    MeasureError
        For a single run, or runs of several training corpora.
    """
    known = each_run(runs)
    if len(known) < 2:
        raise MeasureError("topics agree between runs; give two or more, such as of several seeds")
    if len({run.attrs["corpus_hash"] for run in known}) > 1:
        raise MeasureError("the runs have several training corpora; give runs of one corpus")
    pairs = {
        (a, b): match_topics(known[a], known[b])
        for a in range(len(known))
        for b in range(len(known))
        if a != b
    }
    distances = np.zeros(len(known))
    for (a, _), pair in pairs.items():
        distances[a] += pair["distance"].fillna(1.0).mean()
    nearest = int(distances.argmin())
    topics = pairs[nearest, (nearest + 1) % len(known)]["topic"].values
    first = known[nearest].sel(topic=topics)
    found = [(first, np.ones(len(topics), bool))]
    for other in (at for at in range(len(known)) if at != nearest):
        pair = pairs[nearest, other]
        is_near = (pair["distance"] <= near).values
        matched = np.where(is_near, pair["matched"], known[other]["topic"].values[0])
        found.append((known[other].sel(topic=matched).assign_coords(topic=topics), is_near))
    n_found = np.sum([is_near for _, is_near in found], axis=0)
    made = xr.Dataset(
        {
            "support": (
                "topic",
                (n_found - 1) / (len(known) - 1),
                attributes("runs that agree", "share"),
            ),
            "n_found": ("topic", n_found, attributes("runs that have the topic")),
        },
        {"topic": topics},
        {"run": first.attrs["name"], "n_runs": len(known)},
    )
    for name in ("phi", "theta"):
        made = made.assign(_ranges(name, found, n_found))
    return made


def _ranges(name: str, found: list[tuple[xr.Dataset, np.ndarray]], n_found: np.ndarray) -> dict:
    """Return a variable's mean, least and greatest values, each over those runs of ``found`` that have the topic."""
    values, _ = found[0]
    values = values[name]
    axis = values.dims.index("topic")
    among = np.expand_dims(n_found, 1 - axis)
    total, low, high = np.zeros(values.shape), np.full(values.shape, np.inf), np.zeros(values.shape)
    for run, is_near in found:
        of_run, has = run[name].transpose(*values.dims).values, np.expand_dims(is_near, 1 - axis)
        total += np.where(has, of_run, 0.0)
        low = np.minimum(low, np.where(has, of_run, np.inf))
        high = np.maximum(high, np.where(has, of_run, 0.0))
    coords = {dim: values[dim] for dim in values.dims if dim in values.coords}
    return {
        f"{name}{end}": xr.DataArray(numbers, coords, values.dims)
        for end, numbers in (("", total / among), ("_low", low), ("_high", high))
    }
