"""Do chains agree? Ranks of the draws of each chain among those of all, with R-hat and effective samples."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import MeasureError, labels_of
from workbench.measures.convergence import NUMBERS, agreement, rank_histograms
from workbench.measures.effective_samples import chains_by_label
from workbench.measures.label_free import label_free
from workbench.views.curves import dimension
from workbench.views.elements import axis, element, panel
from workbench.views.picture import Picture, SideBySide, View, fitting_panels
from workbench.views.style import GREY, looks

MOST_CHAINS = 8
"""Chains that are drawn in a panel."""


def rank_plot(draws: xr.Dataset, colour: str, title: str = ""):
    """A row for each chain: how many of its draws are in each twentieth of all draws; the line is what chains that agree have.

    ``draws`` as `workbench.measures.label_free` gives them.
    """
    counts = rank_histograms(draws)
    shown, name = counts.values[:MOST_CHAINS], counts.attrs["quantity"]
    even, n_bins = draws.sizes["draw"] / counts.sizes["twentieth"], counts.sizes["twentieth"]
    most = max(shown.max(), 2 * even)
    x, y = (
        axis("rank", f"rank of the {dimension(name).label}, % of all draws"),
        axis("chain", "chain"),
    )
    edges, drawn = np.linspace(0, 100, n_bins + 1), []
    for place, row in enumerate(shown):
        heights = -place + 0.8 * row / most
        bars = list(
            zip(edges[:-1], np.full(n_bins, -float(place)), edges[1:], heights, strict=True)
        )
        drawn.append(
            element(
                "Rectangles", bars, [x, y, "right", "top"], color=colour, alpha=0.7, linewidth=0.3
            )
        )
        level = -place + 0.8 * even / most
        drawn.append(
            element("Path", [([0, 100], (level, level))], [x, y], color=GREY, linewidth=0.8)
        )
    return panel(
        drawn,
        yticks=[(-place, str(place + 1)) for place in range(len(shown))],
        ylim=(0.95 - len(shown), 0.95),
        title=title,
        padding=0,
        xlim=(0, 100),
    )


def draw_convergence(view: View, shown: SideBySide) -> Iterator[Picture]:
    """A panel for each label with several chains; the table has R-hat and effective samples of all labels that sample."""
    drawn = draws_by_label(shown.runs)
    several = {label: draws for label, draws in drawn.items() if draws.sizes["chain"] > 1}
    if not several:
        return
    panels, left_out = fitting_panels(several)
    style = looks(labels_of(shown.runs))
    of_tokens = draws_by_label(shown.runs, shown.corpora.values()) if shown.corpora else drawn
    rows = [
        [label, draws.sizes["chain"], quantity, *numbers]
        for label, draws in of_tokens.items()
        for quantity, numbers in agreement(draws).items()
    ]
    worst = max(r_hat for label, _, _, r_hat, *_ in rows if label in several)
    yield view.picture(
        "How many of the draws of each chain, in rows, are in each twentieth of the draws of all chains after burn-in: chains "
        f"that agree follow the lines. The largest rank-normalised R-hat is {worst:.3f} (draws are commonly used where it is "
        "below 1.01, with 100 effective samples a chain); the table has it, and effective samples in bulk and tails, of what "
        f"does not depend on the numbers of topics.{left_out}",
        [rank_plot(draws, style[label].colour, label) for label, draws in panels.items()],
        ["label", "n_chains", "quantity", *NUMBERS],
        rows,
        legend=False,
        height=0.9 + 0.3 * min(max(draws.sizes["chain"] for draws in panels.values()), MOST_CHAINS),
    )


def draws_by_label(runs: list[xr.Dataset], corpora=()) -> dict[str, xr.Dataset]:
    """Label → `label_free` of its chains, of runs that sample and have enough draws; of several splits each has its number."""
    found: dict[str, xr.Dataset] = {}
    for label, own in chains_by_label(runs):
        try:
            draws = label_free(own, corpora)
        except MeasureError:
            continue
        n = sum(name == label or name.startswith(f"{label}, split ") for name in found)
        found[f"{label}, split {n + 1}" if n else label] = draws
    return found
