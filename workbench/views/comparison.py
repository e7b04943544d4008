"""Runs compared: held-out perplexity of the state and of the running average, against a clock."""

from __future__ import annotations

from workbench.measures import MeasureError, each_run, labels_of, mean_curves
from workbench.views.curves import overlay
from workbench.views.style import RC, looks

MEASURES = {
    "headline": "test_perplexity", "state": "test_perplexity_state", "average": "test_perplexity_average",
    "train": "train_perplexity",
}
TITLES = {
    "headline": "", "state": "current state", "average": "running average after burn-in", "train": "current state",
}


def perplexity_curves(runs, which: str = "headline", against: str = "iteration"):
    """Perplexity over the course of the runs, a line for each label.

    Parameters
    ----------
    runs : Dataset or list of Datasets
        See `workbench.measures.each_run`. Seeds and splits of one label are averaged, with a band of one
        standard error.
    which : {"headline", "state", "average", "train"}
        See `workbench.models.VARIABLES`.
    against : {"iteration", "updates", "elapsed", "cpu_time"}

    Returns
    -------
    holoviews.Overlay
        `Curve` elements labelled by engine and options; empty where nothing is held out.

    Raises
    ------
    MeasureError
    """
    if which not in MEASURES:
        raise MeasureError(f"no perplexity '{which}'; there are {', '.join(MEASURES)}")
    runs = each_run(runs)
    curves = mean_curves(runs, MEASURES[which], against)
    return overlay(curves, MEASURES[which], against, looks(labels_of(runs)), TITLES[which])


def perplexity_layout(runs, against: str = "iteration"):
    """State and running average side by side, as a `holoviews.Layout` with axes of the same range."""
    state, average = (perplexity_curves(runs, which, against) for which in ("state", "average"))
    ranges = [element.range(of) for overlay in (state, average) for element in overlay for of in element.vdims]
    if ranges:
        margin = 0.02 * (max(high for _, high in ranges) - min(low for low, _ in ranges))
        ylim = min(low for low, _ in ranges) - margin, max(high for _, high in ranges) + margin
        state, average = (overlay.opts(ylim=ylim, clone=True, backend="matplotlib") for overlay in (state, average))
    return (state + average).opts(
        sublabel_format="", hspace=0.3, fig_rcparams=RC, backend="matplotlib"
    )
