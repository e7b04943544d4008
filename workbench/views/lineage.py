"""Which run began from which, as a tree."""

from collections.abc import Iterator

from workbench.measures import each_run, lineage, spec_of
from workbench.measures.lineage import descent
from workbench.views.elements import bare_panel, element, height_of
from workbench.views.picture import Picture, SideBySide, View
from workbench.views.style import COLOURS, INK

ROW = 0.17
"""Height of a run, inches."""
INDENT = 0.03
"""How far a run stands to the right of the one that it began from, as a share of the width."""
MOST_ROWS = 60
"""Rows of a picture: about a page; further ones are counted in its last."""


def lineage_view(runs, colour: str = COLOURS[0], title: str = ""):
    """The runs that began from others, each below and to the right of the one whose counts it took.

    `holoviews.Overlay` of `Path` (who from whom), `Scatter` (runs that are there) and `Labels` (name, label, iteration), as
    high as `lineage_height`; runs that have nothing to do with others are left out.
    """
    runs = each_run(runs)
    rows = descent(lineage(runs))
    drawn = rows[:MOST_ROWS]
    of_run = {run.attrs["name"]: spec_of(run).label() for run in runs}
    row_of = {name: at for at, (name, _, _) in enumerate(drawn)}
    paths, texts = [], []
    for at, (name, depth, edge) in enumerate(drawn):
        x, text = depth * INDENT, f"{name} ({of_run.get(name, 'not among these runs')})"
        if edge:
            paths.append([(x - INDENT, -row_of[edge.parent]), (x - INDENT, -at), (x, -at)])
            text += f", {edge.text.replace(f'{edge.parent}, ', '', 1)}"
        texts.append((x + 0.4 * INDENT, -at, text))
    if len(rows) > MOST_ROWS:
        texts.append((0.0, -len(drawn), f"and {len(rows) - MOST_ROWS} more"))
    points = [(depth * INDENT, -at) for at, (name, depth, _) in enumerate(drawn) if name in of_run]
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
        (7.0, lineage_height(runs)),
        (-0.5 * INDENT, 1),
        (0.6 - max(len(texts), 1), 0.6),
        title=title,
    )


def lineage_height(runs) -> float:
    """Inches that `lineage_view` needs for its rows."""
    return ROW * max(min(len(descent(lineage(runs))), MOST_ROWS + 1), 1)


def draw_lineage(view: View, shown: SideBySide) -> Iterator[Picture]:
    """The tree of the runs that began from others."""
    edges = lineage(shown.runs)
    related = {name for edge in edges for name in (edge.run, edge.parent)}
    panels = [lineage_view(shown.runs)]
    yield view.picture(
        "Each run that began from the counts of another one, below and to the right of it, with the iteration whose counts "
        "it took.",
        panels,
        ["run", "parent", "hash", "iteration", "dropped"],
        [[edge.run, edge.parent, edge.hash, edge.iteration, edge.dropped] for edge in edges],
        legend=False,
        height=height_of(panels),
        runs=[run for run in shown.runs if run.attrs["name"] in related],
    )
