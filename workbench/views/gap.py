"""The gap between variational engines and long Gibbs chains, as stacked bars."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import xarray as xr

from workbench.measures import MeasureError, gap
from workbench.measures.gap import PARTS
from workbench.views.elements import COLOURS, INK, axis, coloured_outlines, element, panel
from workbench.views.picture import Picture, RunsToDraw, View

HALF = 0.3
"""Half of the height of a bar, in rows."""
APART = 0.16
"""Distance between error bars of a label, in rows."""
COLUMNS = ("gap", "gap_error", "total", "n_runs", "best_run", "reference")


def gap_view(table: xr.Dataset, title: str = ""):
    """Draw the parts of each label's gap, from `workbench.measures.gap`, as a bar of parts end to end from 0.

    Parts above zero go to the right, those below it to the left. Returns an overlay of a `VLine` at 0 and, for each part, a
    named `Curve` for the legend and the `Polygons` of all labels; above them `Segments` of ± one standard error at the ends of
    parts, and a `Scatter` of the totals.
    """
    x, y = axis("gap", "perplexity above the average of cgs"), axis("place", " ")
    numbers, heights_of_labels = (
        np.nan_to_num(table["gap"].values),
        -np.arange(table.sizes["label"]),
    )
    sides = np.cumsum(np.maximum(numbers, 0), 1), np.cumsum(np.minimum(numbers, 0), 1)
    ends = np.where(numbers < 0, sides[1], sides[0])
    elements, lines = [element("VLine", 0, color=INK, linewidth=0.8, linestyle=":")], []
    for index, part in enumerate(table["part"].values):
        end, colour = ends[:, index], COLOURS[index]
        begin, error = end - numbers[:, index], table["gap_error"].values[:, index]
        bars = [
            {"x": [a, b, b, a], "y": [low, low, low + 2 * HALF, low + 2 * HALF], "colour": colour}
            for a, b, low in zip(begin, end, heights_of_labels - HALF, strict=True)
        ]
        heights = heights_of_labels + APART * (1 - index)
        edges = [side[np.isfinite(error)] for side in (end - error, heights, end + error, heights)]
        elements += [
            element("Curve", ([0, 0], [0, 0]), x, y, label=part, color=colour, linewidth=4),
            coloured_outlines("Polygons", bars, ["x", "y"], [], edgecolor=INK, linewidth=0.4),
        ]
        dims = [x, y, "high", "same place"]
        lines.append(element("Segments", tuple(edges), dims, color=INK, linewidth=1.0))
    lines.append(
        element(
            "Scatter",
            (table["total"].values, heights_of_labels),
            x,
            y,
            color=INK,
            marker="D",
            s=14,
            linewidth=0,
            show_grid=True,
        )
    )
    return panel(
        [*elements, *lines],
        xlabel=x.label.replace(" the", "\nthe"),
        ylabel=" ",
        yticks=list(zip(heights_of_labels.tolist(), table["label"].values.tolist(), strict=True)),
        ylim=(0.5 - len(heights_of_labels), 0.5),
        padding=0.05,
        show_legend=True,
        title=title,
    )


def draw_gap(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the parts of each label's perplexity gap; nothing unless both cgs and a variational engine have runs."""
    with suppress(MeasureError):
        table = gap(selection.runs)
        rows = table.to_dataframe().reset_index()[["label", "part", *COLUMNS]]
        meanings = "; ".join(f"{part} is {PARTS[part]}" for part in table["part"].values)
        errors = " Thin lines at the ends of parts are ± one standard error over seeds."
        errors *= bool(table["gap_error"].notnull().any())
        priors = " What better priors would close needs runs with several alpha and beta on several splits."
        priors *= table.sizes["part"] < len(PARTS)
        yield view.picture(
            "Parts of the final held-out perplexity above the running average of long Gibbs chains, means over the runs of a "
            f"label: {meanings}. An engine's best optimum is that of its run with the highest bound among all its starts and "
            "seeds. The state of cgs is the exponential of its mean log perplexity over the second half of its iterations "
            "after burn-in. Parts above 0 are stacked to the right, those below 0 to the left; diamonds are their sums."
            f"{errors}{priors}",
            [gap_view(table)],
            list(rows),
            rows.to_numpy(object).tolist(),
            height=0.9 + 0.3 * table.sizes["label"],
            hover={"Polygons": _texts(table)},
        )


def _texts(table: xr.Dataset) -> list[list[str]]:
    """Return the hover text of each label's bar, for each part."""
    columns = (table[name].values for name in ("part", "gap", "gap_error"))
    cells = zip(*(values.T for values in columns), strict=True)
    return [
        [
            f"{label}\n{part}: {number:.4g}" + (f" ± {error:.2g}" if np.isfinite(error) else "")
            for label, number, error in zip(table["label"].values, numbers, errors, strict=True)
        ]
        for part, numbers, errors in cells
    ]
