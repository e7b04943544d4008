"""Scores of held-out documents and sequences: gains over training frequencies, and hits among the words of a document."""

from collections.abc import Iterator, Mapping

import numpy as np

from workbench.measures import mean_curves
from workbench.views.comparison import final_numbers, marks_by_label
from workbench.views.curves import dimension, overlay
from workbench.views.elements import Look, looks
from workbench.views.picture import Picture, SideBySide, View

GAINS = {
    "test_gain_joint_clipped": "unseen words clipped",
    "test_gain_joint_added": "0.1 added to each count",
    "test_gain_joint_seen": "words seen in training",
}
"""Score of a panel → baseline of the gain."""
COURSES = ("test_top_hits", "test_bottom_hits", "test_log_likelihood")
"""Scores that have a panel each, against seconds."""
MEANINGS = (
    "Gain in nats per held-out item of the joint probability of each sequence or row over the training frequencies; the line "
    "is 0. First panel: frequencies with unseen words clipped at 1e-8; with unseen words this gain includes that of any "
    "smoothing. Second: frequencies with 0.1 added to each count. Third: only words seen in training."
)


def gain_marks(values: Mapping[str, list], score: str, styles: Mapping[str, Look]):
    """Draw each run's gain in log likelihood over a baseline, with mean and standard error per label, and a line at 0."""
    return marks_by_label(values, dimension(score, {"units": "nats"}), styles, GAINS[score], 0.0)


def draw_gain_marks(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Draw the gains in log likelihood of all runs that recorded them, one panel per baseline."""
    values = {
        score: final_numbers(shown.runs, score)
        for score in GAINS
        if any(score in run for run in shown.runs)
    }
    values = {score: gains for score, gains in values.items() if gains}
    if values:
        n_labels = max(map(len, values.values()))
        yield view.picture(
            MEANINGS + " Large marks are means over the runs of a label ± one standard error.",
            [gain_marks(gains, score, looks(gains)) for score, gains in values.items()],
            *shown.records(*values),
            legend=False,
            height=0.5 + 0.26 * n_labels,
        )


def score_courses(
    runs: list,
    against: str = "elapsed",
    labels: list[str] | None = None,
    styles: Mapping[str, Look] | None = None,
) -> list:
    """Draw held-out documents' scores against a clock: correctly predicted words, and log likelihood; one panel each.

    ``labels`` and ``styles``, the look of each, are by default those of `workbench.measures.labels_of`.
    """
    panels = []
    for score in COURSES:
        curves = mean_curves(runs, score, against, labels)
        curves = [curve for curve in curves if np.isfinite(curve.y).any()]
        if curves:
            attrs = next(run[score].attrs for run in runs if score in run)
            curve_styles = styles or looks(curve.group for curve in curves)
            panels.append(overlay(curves, score, against, curve_styles, attrs=attrs))
    return panels


def draw_courses(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Draw predicted words and log likelihood of held-out documents against seconds of inference."""
    yield view.picture(
        "Predicted words among the 10 most and the 10 least frequent words of a held-out row, and the log probability of a "
        "held-out item, against seconds of inference (without scoring): of the state during burn-in, then of the running "
        f"average.{shown.bands}",
        score_courses(shown.runs),
        *shown.records(*COURSES),
    )
