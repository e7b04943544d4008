"""Do chains agree? Ranks of the draws of each chain among those of all, with R-hat and effective samples."""

from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import MeasureError, labels_of
from workbench.measures.convergence import NUMBERS, chains_by_label, convergence, rank_histograms
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
    x, y = axis("rank", f"rank of the {dimension(name).label}, % of all draws"), axis("chain", "chain")
    edges, drawn = np.linspace(0, 100, n_bins + 1), []
    for place, row in enumerate(shown):
        heights = -place + 0.8 * row / most
        bars = list(zip(edges[:-1], np.full(n_bins, -float(place)), edges[1:], heights, strict=True))
        drawn.append(element("Rectangles", bars, [x, y, "right", "top"], color=colour, alpha=0.7, linewidth=0.3))
        level = -place + 0.8 * even / most
        drawn.append(element("Path", [([0, 100], (level, level))], [x, y], color=GREY, linewidth=0.8))
    return panel(
        drawn, yticks=[(-place, str(place + 1)) for place in range(len(shown))], ylim=(0.95 - len(shown), 0.95), title=title,
        padding=0, xlim=(0, 100),
    )


def draw_convergence(view: View, shown: SideBySide) -> Iterator[Picture]:
    """A panel for each label with several chains; the table has R-hat and effective samples of all labels that sample."""
    chains = sampled(shown.runs)
    several = {label: own for label, own in chains.items() if len(own) > 1}
    if not several:
        return
    panels, left_out = fitting_panels(several)
    style = looks(labels_of(shown.runs))
    header, rows = table_of(chains, shown.corpora.values())
    worst = max(float(row[header.index("r_hat")]) for row in rows if row[0] in several)
    yield view.picture(
        "How many of the draws of each chain, in rows, are in each twentieth of the draws of all chains after burn-in: chains "
        f"that agree follow the lines. The largest rank-normalised R-hat is {worst:.3f} (draws are commonly used where it is "
        "below 1.01, with 100 effective samples a chain); the table has it, and effective samples in bulk and tails, of what "
        f"does not depend on the numbers of topics.{left_out}",
        [rank_plot(label_free(own), style[label].colour, label) for label, own in panels.items()], header, rows, legend=False,
        height=0.9 + 0.3 * min(max(map(len, panels.values())), MOST_CHAINS),
    )


def sampled(runs: list[xr.Dataset]) -> dict[str, list[xr.Dataset]]:
    """Label → its chains, of runs that sample and have enough draws; a label with several splits counts them in its name."""
    found: dict[str, list[xr.Dataset]] = {}
    for label, own in chains_by_label(runs):
        try:
            label_free(own)
        except MeasureError:
            continue
        n = sum(name == label or name.startswith(f"{label}, split ") for name in found)
        found[f"{label}, split {n + 1}" if n else label] = own
    return found


def numbers_of(chains: list[xr.Dataset], corpora=()) -> dict[str, tuple[float, ...]]:
    """Quantity → R-hat (NaN of one chain), effective samples in bulk and tails, of the chains of one label; of what moves."""
    found = convergence(chains, corpora).isel(label=0)
    numbers = zip(*(found[name].values.tolist() for name in NUMBERS), strict=True)
    return {name: own for name, own in zip(found["quantity"].values, numbers, strict=True) if np.isfinite(own[1])}


def table_of(chains: Mapping[str, list[xr.Dataset]], corpora) -> tuple[list[str], list[list]]:
    """Header and rows, one for each quantity of a label: R-hat and effective samples."""
    rows = [
        [label, len(own), quantity, *numbers] for label, own in chains.items()
        for quantity, numbers in numbers_of(own, corpora).items()
    ]
    return ["label", "n_chains", "quantity", *NUMBERS], rows
