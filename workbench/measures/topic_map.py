"""A map of topics: points in the plane, close for topics with similar words."""

import numpy as np
import xarray as xr
from scipy.linalg import orthogonal_procrustes

from workbench.kernels.divergences import jensen_shannon
from workbench.measures.selection import MeasureError
from workbench.measures.topics import topic_sizes, used_topics

ALIKE = 1e-9
"""Relative tolerance for equal coordinates when the sign of an axis is chosen."""


def topic_map(run: xr.Dataset, like: xr.Dataset | None = None) -> xr.Dataset:
    """Return two coordinates of each topic that approximate the distances of the topics' words, at the last snapshot.

    The distance of two topics is the square root of the Jensen-Shannon divergence of their phi to base 2, a metric from 0 (the
    same words) to 1 (no word in common). Classical multidimensional scaling uses the two largest eigenvalues of the doubly
    centred matrix of squared distances; negative eigenvalues count as 0. Equal topics share a point, and a map of one topic is
    the origin.

    ``like`` is an earlier map of the same run: this one is translated, rotated and reflected onto it (Procrustes) by the common
    topics, so that points do not jump between snapshots. Without it the signs are fixed: on each axis the topic farthest from 0
    is positive.

    Dim ``topic``: ``x``, ``y``, ``n_k`` and ``share`` (see `topic_sizes`). ``attrs["shown"]``: the share of the positive
    eigenvalues that the plane shows, 1 if there are none.

    Lin (1991); Torgerson (1952); Schönemann (1966). It takes K^2 W / 2 logarithms: .2 s for 100 topics of 30,000 words.
    """
    run = used_topics(run)
    points, shown = _scaled(jensen_shannon(run["phi"].values) / np.log(2))
    if like is not None:
        points = _aligned(points, run["topic"].values, like)
    sizes = topic_sizes(run)
    return sizes.assign(
        x=("topic", points[:, 0], {"long_name": "first axis of the map", "units": ""}),
        y=("topic", points[:, 1], {"long_name": "second axis of the map", "units": ""}),
    ).assign_attrs(shown=shown)


def _scaled(squared: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (topic, 2) by classical scaling, and the share of the positive eigenvalues that is shown."""
    centred = squared - squared.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, axes = np.linalg.eigh(-0.25 * (centred + centred.T))
    values = np.where(values > len(values) * ALIKE**2, values, 0.0)
    points = np.zeros((len(squared), 2))
    for column in range(min(2, len(values))):
        axis = axes[:, -1 - column] * np.sqrt(values[-1 - column])
        far = np.abs(axis) >= np.abs(axis).max() * (1 - ALIKE)
        points[:, column] = axis if axis[np.argmax(far)] >= 0 else -axis
    total = values.sum()
    return points, float(values[-2:].sum() / total) if total > 0 else 1.0


def _aligned(points: np.ndarray, topics: np.ndarray, like: xr.Dataset) -> np.ndarray:
    """Return the points translated, rotated and reflected so that common topics are closest to the earlier map."""
    if not isinstance(like, xr.Dataset) or not {"x", "y", "topic"} <= {*like.variables}:
        raise MeasureError(
            f"like must be an earlier result of topic_map; got {type(like).__name__}"
        )
    common, places, earlier_places = np.intersect1d(
        topics, like["topic"].values, return_indices=True
    )
    if not len(common):
        return points
    earlier_points = np.column_stack([like["x"].values, like["y"].values])[earlier_places]
    centre = points[places].mean(axis=0)
    rotation, _ = orthogonal_procrustes(
        points[places] - centre, earlier_points - earlier_points.mean(axis=0)
    )
    return (points - centre) @ rotation + earlier_points.mean(axis=0)
