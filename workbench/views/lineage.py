"""Which run began from which, as a tree."""

from __future__ import annotations

from workbench.measures import each_run, lineage, spec_of
from workbench.measures.lineage import descent
from workbench.views.style import COLOURS, INK, RC

ROW = 0.17
"""Height of a run, inches."""
INDENT = 0.03
"""How far a run stands to the right of the one that it began from, as a share of the width."""
MOST_ROWS = 60
"""Rows of a picture: about a page; further ones are counted in its last."""


def lineage_view(runs, colour: str = COLOURS[0], title: str = ""):
    """The runs that began from others, each below and to the right of the one whose counts it took.

    Returns
    -------
    holoviews.Overlay
        `Path` (who from whom), `Scatter` (runs that are there), `Labels` (name, label and iteration). Runs that
        have nothing to do with others are left out; it is empty where all are. Its height in inches is what
        `lineage_height` says.

    Raises
    ------
    MeasureError
    """
    import holoviews as hv
    import holoviews.plotting.mpl

    runs = each_run(runs)
    rows = descent(lineage(runs))
    hidden = len(rows) - MOST_ROWS
    drawn = rows[:MOST_ROWS]
    of_run = {run.attrs["name"]: spec_of(run).label() for run in runs}
    row_of = {name: at for at, (name, *_) in enumerate(drawn)}
    paths, texts = [], []
    for at, (name, depth, edge) in enumerate(drawn):
        x = depth * INDENT
        if edge:
            left = x - INDENT
            paths.append([(left, -row_of[edge.parent]), (left, -at), (x, -at)])
        told = f"{name} ({of_run[name]})" if name in of_run else f"{name} (not among these runs)"
        texts.append((x + 0.4 * INDENT, -at, f"{told}, {edge.text.replace(f'{edge.parent}, ', '', 1)}" if edge else told))
    if hidden > 0:
        texts.append((0.0, -len(drawn), f"and {hidden} more"))
    points = [(depth * INDENT, -at) for at, (name, depth, _) in enumerate(drawn) if name in of_run]
    down = len(texts)
    return hv.Overlay([
        hv.Path(paths).opts(color=INK, linewidth=0.7, alpha=0.5, backend="matplotlib"),
        hv.Scatter(points).opts(color=colour, s=14, linewidth=0, backend="matplotlib"),
        hv.Labels(texts).opts(
            size=6, color=INK, horizontalalignment="left", verticalalignment="center", backend="matplotlib"
        ),
    ]).opts(
        xlim=(-0.5 * INDENT, 1), ylim=(0.6 - max(down, 1), 0.6), xaxis=None, yaxis=None, show_frame=False, show_grid=False,
        show_legend=False, title=title, fig_inches=(7.0, lineage_height(runs)), aspect="auto", fig_rcparams=RC,
        backend="matplotlib",
    )


def lineage_height(runs) -> float:
    """Inches that `lineage_view` needs for its rows."""
    return ROW * max(min(len(descent(lineage(runs))), MOST_ROWS + 1), 1)
