"""Convergence of chains: rank histograms of the draws, with R-hat and effective samples."""

from collections.abc import Iterable, Iterator

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import MeasureError, labels_of
from workbench.measures.convergence import (
    NUMBERS,
    agreement,
    chains_by_label,
    label_free,
    rank_histograms,
)
from workbench.views.elements import GREY, axis, dimension, element, looks, panel
from workbench.views.picture import Picture, RunsToDraw, View, fitting_panels

MOST_CHAINS = 8
"""Maximum of chains in a panel."""


def rank_plot(draws: xr.Dataset, colour: str, title: str = ""):
    """Draw each chain's rank histogram in twenty bins, one below the other; lines mark uniform counts.

    ``draws`` is the result of `workbench.measures.label_free`.
    """
    counts = rank_histograms(draws)
    chain_counts, name = counts.values[:MOST_CHAINS], counts.attrs["quantity"]
    uniform, n_bins = draws.sizes["draw"] / counts.sizes["twentieth"], counts.sizes["twentieth"]
    most = max(chain_counts.max(), 2 * uniform)
    x, y = (
        axis("rank", f"rank of the {dimension(name).label}, % of all draws"),
        axis("chain", "chain"),
    )
    edges, elements = np.linspace(0, 100, n_bins + 1), []
    for chain, row in enumerate(chain_counts):
        heights = -chain + 0.8 * row / most
        bars = list(
            zip(edges[:-1], np.full(n_bins, -float(chain)), edges[1:], heights, strict=True)
        )
        elements.append(
            element(
                "Rectangles", bars, [x, y, "right", "top"], color=colour, alpha=0.7, linewidth=0.3
            )
        )
        level = -chain + 0.8 * uniform / most
        elements.append(
            element("Path", [([0, 100], (level, level))], [x, y], color=GREY, linewidth=0.8)
        )
    return panel(
        elements,
        yticks=[(-chain, str(chain + 1)) for chain in range(len(chain_counts))],
        ylim=(0.95 - len(chain_counts), 0.95),
        title=title,
        padding=0,
        xlim=(0, 100),
    )


def draw_convergence(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw rank histograms for each label with several chains; the table has R-hat and effective sample sizes."""
    draws_of_labels = draws_by_label(selection.runs)
    several = {label: draws for label, draws in draws_of_labels.items() if draws.sizes["chain"] > 1}
    if not several:
        return
    panels, left_out = fitting_panels(several)
    style = looks([*labels_of(selection.runs), *draws_of_labels])
    of_tokens = (
        draws_by_label(selection.runs, selection.corpora.values())
        if selection.corpora
        else draws_of_labels
    )
    rows = [
        [label, draws.sizes["chain"], quantity, *numbers]
        for label, draws in of_tokens.items()
        for quantity, numbers in agreement(draws).items()
    ]
    worst = max(r_hat for label, _, _, r_hat, *_ in rows if label in several)
    yield view.picture(
        "Rank histograms: the number of draws of each chain, in rows, in each twentieth of the draws of all chains after "
        f"burn-in; chains that agree follow the lines. The largest rank-normalised R-hat is {worst:.3f} (a common rule is to "
        "use draws below 1.01 with 100 effective samples per chain). The table has R-hat and effective samples in bulk and "
        f"tails of quantities that do not depend on the numbering of topics.{left_out}",
        [rank_plot(draws, style[label].colour, label) for label, draws in panels.items()],
        ["label", "n_chains", "quantity", *NUMBERS],
        rows,
        legend=False,
        height=0.9 + 0.3 * min(max(draws.sizes["chain"] for draws in panels.values()), MOST_CHAINS),
    )


def draws_by_label(runs: list[xr.Dataset], corpora: Iterable[Corpus] = ()) -> dict[str, xr.Dataset]:
    """Return label → draws from `workbench.measures.label_free`; a label has an entry for each of its splits."""
    draws_of: dict[str, xr.Dataset] = {}
    for label, chains in chains_by_label(runs):
        try:
            draws = label_free(chains, corpora)
        except MeasureError:
            continue
        n = sum(name == label or name.startswith(f"{label}, split ") for name in draws_of)
        draws_of[f"{label}, split {n + 1}" if n else label] = draws
    return draws_of
