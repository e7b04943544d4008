"""How inference itself gets on: bound, log joint or objective, and the sizes of topics."""

from __future__ import annotations

import numpy as np

from workbench.measures import MeasureError, each_run, labels_of, mean_curves, one_run
from workbench.views.curves import dimension, overlay
from workbench.views.style import RC, looks

OBJECTIVES = ("bound", "log_joint", "objective")


def objectives_of(runs) -> list[str]:
    """Which of bound, log_joint and objective the runs record; they are different quantities, so never on one axis."""
    runs = each_run(runs)
    return [name for name in OBJECTIVES if any(name in run for run in runs)]


def objective_curves(runs, which: str = "bound", against: str = "iteration"):
    """The bound, the log joint or the objective of the runs that record it: `holoviews.Overlay`, a `Curve` for each label.

    Raises
    ------
    MeasureError
    """
    if which not in OBJECTIVES:
        raise MeasureError(f"no objective '{which}'; there are {', '.join(OBJECTIVES)}")
    runs = each_run(runs)
    return overlay(mean_curves(runs, which, against), which, against, looks(labels_of(runs)))


def topic_size_curves(run, colour: str = "#0072B2", title: str = ""):
    """(Expected) tokens of each topic over the iterations of one run: `holoviews.Overlay`, a `Curve` for each topic.

    The topic that ends up largest is drawn darkest.
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    run = one_run(run)
    x, y = dimension("iteration"), dimension("n_k")
    rank = np.argsort(np.argsort(-run["n_k"].values[-1], kind="stable"))
    strength = 1 - 0.75 * rank / max(len(rank) - 1, 1)
    curves = [
        hv.Curve((run["iteration"].values, run["n_k"].values[:, k]), x, y, label=f"topic {topic}").opts(
            color=colour, alpha=float(strength[k]), linewidth=1.0, show_grid=True, backend="matplotlib"
        )
        for k, topic in enumerate(run["topic"].values)
    ]
    return hv.Overlay(curves).opts(
        aspect=1.5, fig_inches=3.4, show_legend=False, title=title, fig_rcparams=RC, padding=0.02,
        backend="matplotlib",
    )
