"""Words placed by what the states of a linear dynamical system do to them: the principal axes of the loadings C."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.views.elements import element, panel, text_labels
from workbench.views.picture import WHOSE, Picture, SideBySide, View, fitting_panels, rows_of
from workbench.views.style import INK, RC

COLUMNS = ("word", "first_axis", "second_axis")
SIZE = 3.1
"""Height of a panel, inches."""
LETTER, LINE = 0.018, 0.035
"""Width of a letter and height of a line of the names, as shares of the panel."""
MOST_NAMES = 70
"""Names that are written; all are told under the pointer on a page."""


def placed_words(run: xr.Dataset) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names of the words that have a row of C, (word, 2) their places, and the share of the variance along both axes.

    Rows of C times a root of the covariance of the states drawn last: what psi varies by over the rows, whichever way states
    are turned or scaled. Places are along the principal axes of these.
    """
    last = run.isel(snapshot=-1)
    loadings = last["loadings"].values
    covariance = np.atleast_2d(np.cov(last["states"].transpose("document", "state_dim").values.T))
    values, vectors = np.linalg.eigh(covariance)
    scaled = loadings @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    scaled = scaled - scaled.mean(axis=0)
    left, sizes, axes = np.linalg.svd(scaled, full_matrices=False)
    turned = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    found = np.zeros((len(loadings), 2))
    n = min(2, len(sizes))
    found[:, :n] = left[:, :n] * sizes[:n] * turned[:n]
    shares = np.zeros(2)
    shares[:n] = sizes[:n] ** 2 / max(float((sizes**2).sum()), 1e-300)
    order = run["stick_words"].values
    return [str(word) for word in run["word"].values[order[: len(loadings)]]], found, shares


def loadings_view(names: list[str], places: np.ndarray, shares: np.ndarray, title: str = ""):
    """`Points` of the words and `Labels` of those whose names find a place, those with the longest loadings first."""
    low, high = places.min(axis=0), places.max(axis=0)
    extent = np.maximum(high - low, 1e-6) * 1.2
    written = [
        (*places[at] + np.array([0.0, 0.03]) * extent, names[at])
        for at in readable(names, places / extent)
    ]
    points = element("Points", places, ["x", "y"], color=INK, s=6, alpha=0.45, linewidth=0)
    middle = (low + high) / 2
    limits = [
        (m - 0.5 * e, m + 0.5 * e) for m, e in zip(middle.tolist(), extent.tolist(), strict=True)
    ]
    return panel(
        [points, text_labels(written, "word", 6.0)] if written else [points],
        title=title,
        aspect="auto",
        fig_inches=(3.4, SIZE),
        xlim=limits[0],
        ylim=limits[1],
        xlabel=f"first axis, {shares[0]:.0%} of the variance",
        ylabel=f"second axis, {shares[1]:.0%}",
        fig_rcparams=RC,
    )


def readable(names: list[str], places: np.ndarray) -> list[int]:
    """Words whose names do not cover each other, on a panel of the size 1 x 1: from the outermost in."""
    written: list[int] = []
    for at in np.argsort(-np.linalg.norm(places, axis=1), kind="stable").tolist():
        apart = all(
            abs(places[at, 0] - places[other, 0])
            > LETTER * (len(names[at]) + len(names[other])) / 2
            or abs(places[at, 1] - places[other, 1]) > LINE
            for other in written
        )
        if apart and len(written) < MOST_NAMES:
            written.append(at)
    return written


def draw_loadings(view: View, shown: SideBySide) -> Iterator[Picture]:
    """The words of one run of each label."""
    runs, rows, panels, hover = shown.first("loadings", "states", "stick_words"), [], [], []
    drawn, left_out = fitting_panels(runs)
    for label, run in runs.items():
        names, places, shares = placed_words(run)
        rows += rows_of(
            label, run, [[name, *place] for name, place in zip(names, places.tolist(), strict=True)]
        )
        if label in drawn:
            panels.append(loadings_view(names, places, shares, label))
            hover.append(names)
    yield view.picture(
        "Words by what the hidden states do to their probabilities: along the two principal axes of the loadings C, as drawn "
        "last, in units of how much states vary. Words that stand together rise and fall together; by stick-breaking a word is "
        f"weighed against those behind it on the stick, of which the last has no place. One run of each label.{left_out}",
        panels,
        [*WHOSE, *COLUMNS],
        rows,
        legend=False,
        height=SIZE,
        runs=list(runs.values()),
        hover={"Points": hover},
    )
