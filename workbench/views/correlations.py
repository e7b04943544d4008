"""Which topics go together, and which apart: the correlations of their shares of documents."""

from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import topic_correlations
from workbench.measures.correlations import alike_together
from workbench.views.elements import ROW, axis, element, height_of, panel
from workbench.views.picture import WHOSE, Picture, SideBySide, View, fitting_panels, rows_of
from workbench.views.style import RC
from workbench.views.topics import names_of_topics

COLUMNS = ("topic", "other_topic", "correlation")


def correlations_view(found: xr.Dataset, names: Mapping[int, str] | None = None, title: str = ""):
    """The matrix of correlations as `holoviews.Overlay` of a `QuadMesh`, topics that go together side by side.

    ``found`` is what `workbench.measures.topic_correlations` finds, ``names`` are those of topics, by default their numbers.
    A topic with itself is left blank; the title says which correlation has the full colour.
    """
    values, names = found["correlation"].values, names or {}
    order = alike_together(values)
    shown, n = values[np.ix_(order, order)].copy(), len(order)
    np.fill_diagonal(shown, np.nan)
    most = max(float(np.nanmax(np.abs(shown), initial=0.0)), 0.05)
    numbers = found["topic"].values[order].tolist()
    mesh = element(
        "QuadMesh", (np.arange(n), -np.arange(n), shown), [axis("other_topic", "topic"), axis("topic", " ")],
        vdims=axis("correlation", "correlation"), cmap="RdBu_r", clim=(-most, most),
    )
    return panel(
        [mesh], title=f"{title}, full colour: ±{most:.2f}".removeprefix(", "),
        fig_inches=(3.4, 0.9 + max(ROW * n, 1.6)), aspect="auto", show_grid=False, xrotation=90,
        xticks=[(place, str(number)) for place, number in enumerate(numbers)],
        yticks=[(-place, names.get(number, str(number))) for place, number in enumerate(numbers)],
        fig_rcparams=RC | {"ytick.labelsize": 6.5, "xtick.labelsize": 5.5},
    )


def draw_correlations(view: View, shown: SideBySide) -> Iterator[Picture]:
    """The matrix of one run of each label that has a covariance of psi."""
    runs = shown.first("psi_covariance", "phi")
    drawn, left_out = fitting_panels(runs)
    rows, panels = [], []
    for label, run in runs.items():
        found = topic_correlations(run)
        rows += rows_of(label, run, found.to_dataframe().reset_index()[list(COLUMNS)])
        if label in drawn:
            panels.append(correlations_view(found, names_of_topics(run, 3, 28), label))
    if panels:
        yield view.picture(
            "Correlation of the shares that two topics have of a document, over documents drawn from the mean and covariance "
            "that the run has learnt: red topics go together, blue ones avoid each other. Shares add up to 1, so that topics "
            "without any relation are a little below 0. Topics that go together stand side by side; a topic with itself is "
            f"left blank. One run of each label.{left_out}",
            panels, [*WHOSE, *COLUMNS], rows, legend=False, height=height_of(panels), runs=list(runs.values()),
        )
