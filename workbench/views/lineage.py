"""Tree of warm-started runs."""

from collections.abc import Iterable, Iterator

import xarray as xr

from workbench.measures import each_run, lineage, spec_of
from workbench.measures.matching import descent, edges_of
from workbench.measures.selection import Runs
from workbench.runs.spec import RunSpec
from workbench.views.elements import COLOURS, INK, bare_panel, element, height_of
from workbench.views.picture import Picture, RunsToDraw, View

ROW = 0.17
"""Height of a run, inches."""
INDENT = 0.03
"""Indentation of a run below its parent, as a share of the width."""
MOST_ROWS = 60
"""Maximum of rows of a picture: about a page; the last row counts the others."""


def lineage_view(runs: Runs, colour: str = COLOURS[0], title: str = ""):
    """Draw the tree of warm-started runs, each below and to the right of its parent.

    Returns `holoviews.Overlay` of `Path` (from parent to child), `Scatter` (available runs) and `Labels` (name, label,
    iteration), as high as `lineage_height`; runs without relatives are left out.
    """
    return _tree({run.attrs["name"]: spec_of(run) for run in each_run(runs)}, colour, title)


def _tree(specs: dict[str, RunSpec], colour: str = COLOURS[0], title: str = ""):
    """Draw the tree of warm starts among the runs ``specs`` (name → spec)."""
    rows = descent(edges_of(list(specs.items())))
    first_rows = rows[:MOST_ROWS]
    label_of = {name: spec.label() for name, spec in specs.items()}
    row_of = {name: row for row, (name, _, _) in enumerate(first_rows)}
    paths, texts = [], []
    for row, (name, depth, edge) in enumerate(first_rows):
        x, text = depth * INDENT, f"{name} ({label_of.get(name, 'not among these runs')})"
        if edge:
            paths.append([(x - INDENT, -row_of[edge.parent]), (x - INDENT, -row), (x, -row)])
            text += f", {edge.text.replace(f'{edge.parent}, ', '', 1)}"
        texts.append((x + 0.4 * INDENT, -row, text))
    if len(rows) > MOST_ROWS:
        texts.append((0.0, -len(first_rows), f"and {len(rows) - MOST_ROWS} more"))
    points = [
        (depth * INDENT, -row)
        for row, (name, depth, _) in enumerate(first_rows)
        if name in label_of
    ]
    return bare_panel(
        [
            element("Path", paths, color=INK, linewidth=0.7, alpha=0.5),
            element("Scatter", points, color=colour, s=14, linewidth=0),
            element(
                "Labels",
                texts,
                size=6,
                color=INK,
                horizontalalignment="left",
                verticalalignment="center",
            ),
        ],
        (7.0, _height(rows)),
        (-0.5 * INDENT, 1),
        (0.6 - max(len(texts), 1), 0.6),
        title=title,
    )


def lineage_height(runs: Runs) -> float:
    """Return the height in inches that `lineage_view` needs."""
    return _height(descent(lineage(runs)))


def _height(rows: list) -> float:
    return ROW * max(min(len(rows), MOST_ROWS + 1), 1)


def lineage_picture(
    view: View, specs: dict[str, RunSpec], runs: Iterable[xr.Dataset] = ()
) -> Picture:
    """Return the picture of the tree of warm starts among ``specs`` (name → spec); the caption describes ``runs``."""
    edges = edges_of(list(specs.items()))
    panels = [_tree(specs)]
    return view.picture(
        "Runs that were warm-started from the counts of another run, each below and to the right of its parent, with the "
        "iteration of these counts.",
        panels,
        ["run", "parent", "hash", "iteration", "dropped"],
        [[edge.run, edge.parent, edge.hash, edge.iteration, edge.dropped] for edge in edges],
        legend=False,
        height=height_of(panels),
        runs=list(runs),
    )


def draw_lineage(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the tree of warm starts among the runs."""
    edges = lineage(selection.runs)
    family = {name for edge in edges for name in (edge.run, edge.parent)}
    specs = {run.attrs["name"]: spec_of(run) for run in selection.runs}
    yield lineage_picture(
        view, specs, [run for run in selection.runs if run.attrs["name"] in family]
    )
