"""Map of words by the principal axes of the loadings C of a linear dynamical system."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.views.elements import INK, RC, element, panel, text_labels
from workbench.views.picture import Picture, RunsOfLabels, RunsToDraw, View

COLUMNS = ("word", "first_axis", "second_axis")
SIZE = 3.1
"""Height of a panel, inches."""
LETTER, LINE = 0.018, 0.035
"""Width of a letter and height of a line of the names, as shares of the panel."""
MOST_NAMES = 70
"""Maximum of names; hover shows all on a page."""


def words_with_positions(run: xr.Dataset) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the words that have loadings (rows of C), their positions (word, 2), and the share of variance per axis (2,).

    Positions are the principal components of the rows of C times a root of the covariance of the last states: the
    variations of psi over documents, which are invariant to linear transformations of the states.
    """
    last = run.isel(snapshot=-1)
    loadings = last["loadings"].values
    covariance = np.atleast_2d(np.cov(last["states"].transpose("document", "state_dim").values.T))
    values, vectors = np.linalg.eigh(covariance)
    scaled_loadings = loadings @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    scaled_loadings = scaled_loadings - scaled_loadings.mean(axis=0)
    left_vectors, sizes, axes = np.linalg.svd(scaled_loadings, full_matrices=False)
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    positions = np.zeros((len(loadings), 2))
    n = min(2, len(sizes))
    positions[:, :n] = left_vectors[:, :n] * sizes[:n] * signs[:n]
    shares = np.zeros(2)
    shares[:n] = sizes[:n] ** 2 / max(float((sizes**2).sum()), 1e-300)
    order = run["stick_words"].values
    return [str(word) for word in run["word"].values[order[: len(loadings)]]], positions, shares


def loadings_view(names: list[str], positions: np.ndarray, shares: np.ndarray, title: str = ""):
    """Draw words as `Points`, with `Labels` where names do not overlap; words with the longest loadings have precedence."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    extent = np.maximum(high - low, 1e-6) * 1.2
    labels = [
        (*positions[index] + np.array([0.0, 0.03]) * extent, names[index])
        for index in readable_words(names, positions / extent)
    ]
    points = element("Points", positions, ["x", "y"], color=INK, s=6, alpha=0.45, linewidth=0)
    centre = (low + high) / 2
    limits = [
        (m - 0.5 * e, m + 0.5 * e) for m, e in zip(centre.tolist(), extent.tolist(), strict=True)
    ]
    return panel(
        [points, text_labels(labels, "word", 6.0)] if labels else [points],
        title=title,
        aspect="auto",
        fig_inches=(3.4, SIZE),
        xlim=limits[0],
        ylim=limits[1],
        xlabel=f"first axis, {shares[0]:.0%} of the variance",
        ylabel=f"second axis, {shares[1]:.0%}",
        fig_rcparams=RC,
    )


def readable_words(names: list[str], positions: np.ndarray) -> list[int]:
    """Return the indices of words whose names do not overlap on a unit square, chosen from the outside in."""
    indices: list[int] = []
    for index in np.argsort(-np.linalg.norm(positions, axis=1), kind="stable").tolist():
        is_free = all(
            abs(positions[index, 0] - positions[other, 0])
            > LETTER * (len(names[index]) + len(names[other])) / 2
            or abs(positions[index, 1] - positions[other, 1]) > LINE
            for other in indices
        )
        if is_free and len(indices) < MOST_NAMES:
            indices.append(index)
    return indices


def draw_loadings(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the map of words by their loadings for one run per label."""
    collection = RunsOfLabels(selection.first("loadings", "states", "stick_words"))
    for label, run in collection.runs.items():
        names, positions, shares = words_with_positions(run)
        rows = [[name, *position] for name, position in zip(names, positions.tolist(), strict=True)]
        collection.add(
            label, rows, [loadings_view(names, positions, shares, label)], {"Points": [names]}
        )
    yield from collection.pictures(
        view,
        "Words by the effect of the hidden states on their probabilities: the two principal axes of the last draw of the "
        "loadings C, scaled by the variation of the states. Words that are close rise and fall together. With stick-breaking "
        "the effect on a word is relative to the words after it on the stick; the last word has no loading. One run of each "
        "label.",
        COLUMNS,
    )
