"""Whole rows and sequences held out: gains over training frequencies, and hits among the words of a row against seconds."""

from collections.abc import Iterator, Mapping

import numpy as np

from workbench.measures import mean_curves
from workbench.views.comparison import final_numbers, marks_by_label
from workbench.views.curves import dimension, overlay
from workbench.views.picture import Picture, SideBySide, View
from workbench.views.style import Look, looks

GAINS = {
    "test_gain_joint_clipped": "unseen words clipped",
    "test_gain_joint_added": "0.1 added to each count",
    "test_gain_joint_seen": "words seen in training",
}
"""Scores of a panel each, with what they are over."""
COURSES = ("test_top_hits", "test_bottom_hits", "test_log_likelihood")
"""Scores of a panel each, against seconds."""
MEANINGS = (
    "Gain in nats per held-out item of the joint probability of each sequence or row over the training frequencies, 0 on the "
    "line. First and second panel: over frequencies that give unseen words 1e-8, and over those with 0.1 added to each count: "
    "where words are unseen, the first has what the second gives to any smoothing. Third: of words seen in training alone."
)


def gain_marks(values: Mapping[str, list], score: str, styles: Mapping[str, Look]):
    """Gains of the runs of each label with mean and standard error, as `holoviews.Overlay`; a line at 0."""
    return marks_by_label(values, dimension(score, {"units": "nats"}), styles, GAINS[score], 0.0)


def draw_gain_marks(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Gains of all runs with a score, a panel for each base."""
    values = {
        score: final_numbers(shown.runs, score)
        for score in GAINS
        if any(score in run for run in shown.runs)
    }
    values = {score: own for score, own in values.items() if own}
    if values:
        n_labels = max(map(len, values.values()))
        yield view.picture(
            MEANINGS
            + " Large marks are means over the runs of a label with one standard error to either side.",
            [gain_marks(own, score, looks(own)) for score, own in values.items()],
            *shown.records(*values),
            legend=False,
            height=0.5 + 0.26 * n_labels,
        )


def score_courses(
    runs: list, against: str = "elapsed", labels: list[str] | None = None, styles=None
) -> list:
    """Hits and log likelihood of whole rows over the course of the runs: a `holoviews.Overlay` for each that they have.

    ``labels`` and ``styles``, the look of each, are by default those of `workbench.measures.labels_of`.
    """
    panels = []
    for score in COURSES:
        curves = mean_curves(runs, score, against, labels)
        curves = [curve for curve in curves if np.isfinite(curve.y).any()]
        if curves:
            about = next(run[score].attrs for run in runs if score in run)
            own = styles or looks(curve.group for curve in curves)
            panels.append(overlay(curves, score, against, own, about=about))
    return panels


def draw_courses(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Hits and log likelihood against seconds of inference."""
    yield view.picture(
        "How many of the 10 most and of the 10 least frequent words of a held-out row are predicted, and the log probability "
        "of a held-out item, against seconds of inference: those of the state until burn-in is over, then of the running "
        f"average. Measuring is not counted.{shown.bands}",
        score_courses(shown.runs),
        *shown.records(*COURSES),
    )
