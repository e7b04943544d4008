"""Forest plots: paired differences with their intervals, one row per label."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import xarray as xr

from workbench.measures import each_run, in_papers_order, paired_differences
from workbench.measures.selection import Runs
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.views.curves import SHORT
from workbench.views.elements import INK, axis, element, height_of, looks, panel
from workbench.views.picture import Picture, SideBySide, View

ROW = 0.24
"""Height of a label, inches."""


def differences_view(
    runs: Runs,
    reference: str | None = None,
    measure: str = "test_perplexity",
    scored: Mapping[str, Scored] | None = None,
    title: str = "",
):
    """Draw each label's difference from the reference, paired by split and seed, with its 95 % interval.

    For ``reference``, ``measure`` and ``scored`` see `workbench.measures.paired_differences`. Returns an overlay of a `VLine`
    at 0 and, for each label except the references, in the papers' order from the top, a `Scatter` of the mean difference over
    `Segments` of its interval, if any; empty without differences.
    """
    table = paired_differences(in_papers_order(each_run(runs)), reference, measure, scored)
    return _forest(table, measure, title)


def _forest(differences: xr.Dataset, measure: str = "test_perplexity", title: str = ""):
    """Draw a table of paired differences as a forest plot, one row per label."""
    table = differences.to_dataframe().reset_index("label")
    style, references = looks(table["label"]), table["reference"]
    table = table[~table["label"].isin(references) & np.isfinite(table["difference"])]
    references = list(dict.fromkeys(references))
    against = references[0] if len(references) == 1 else "the reference"
    x, y = (
        axis("difference", f"{SHORT.get(measure, measure)}, difference from {against}"),
        axis("place", " "),
    )
    drawn, ticks = [element("VLine", 0, color=INK, linewidth=0.8, linestyle=":")], []
    for place, row in enumerate(table.itertuples()):
        pairs = f"{row.n_pairs:.0f} {'pair' if row.n_pairs == 1 else 'pairs'}"
        ticks.append((-place, f"{row.label} ({pairs})"))
        coloured = partial(element, color=style[row.label].colour)
        if np.isfinite(row.difference_low):
            interval = (row.difference_low, -place, row.difference_high, -place)
            drawn.append(
                coloured("Segments", [interval], [x, y, "high", "same place"], linewidth=1.6)
            )
        drawn.append(
            coloured(
                "Scatter",
                [(row.difference, -place)],
                x,
                y,
                label=row.label,
                marker=style[row.label].marker,
                s=30,
                linewidth=0,
                show_grid=True,
            )
        )
    if not ticks:
        return panel([])
    return panel(
        drawn,
        xlabel=x.pprint_label.replace(", ", ",\n"),
        ylabel=" ",
        yticks=ticks,
        ylim=(0.5 - len(ticks), 0.5),
        padding=0.08,
        title=title,
        fig_inches=(3.4, 0.65 + ROW * len(ticks)),
        aspect="auto",
    )


def differences_picture(view: View, table: xr.Dataset) -> Picture:
    """Return the picture of a table of differences from `workbench.measures.paired_differences`."""
    names = [
        "label",
        "reference",
        "difference",
        "difference_se",
        "difference_low",
        "difference_high",
        "n_pairs",
    ]
    panels = [_forest(table)]
    alone = (table["n_pairs"] == 1) & np.isfinite(table["difference_low"])
    over = (
        "the interval of a single pair is over held-out documents"
        if alone.any()
        else "over seeds and splits, not over held-out documents"
    )
    return view.picture(
        f"Difference of the final held-out perplexity from that of {table.attrs['reference']}, paired by split and seed: "
        f"means over pairs with Student's 95 % interval, {over}. Left of the dotted line is better.",
        panels,
        names,
        table.to_dataframe().reset_index()[names].to_numpy(object).tolist(),
        legend=False,
        height=height_of(panels),
    )


def draw_differences(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Draw the paired differences; nothing if none has an interval, as with one run per label."""
    table = paired_differences(shown.runs)
    others = table["label"].values != table["reference"].values
    if np.isfinite(table["difference_low"].values[others]).any():
        yield differences_picture(view, table)
