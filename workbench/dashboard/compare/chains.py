"""The card *Convergence of chains*: R-hat, effective samples, and the ranks of the draws of each chain."""

from functools import lru_cache, partial
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.dashboard.compare.comparison import begun, colour_of, html_table, looked_at
from workbench.dashboard.compare.curve import Drawn
from workbench.dashboard.compare.files import convergence_file
from workbench.dashboard.compare.history import HtmlCard
from workbench.dashboard.shared.background import LatestTask
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import message
from workbench.measures.convergence import ESS_OF_CHAIN, R_HAT_LIMIT, agreement, rank_histograms
from workbench.views.convergence import MOST_CHAINS, draws_by_label
from workbench.views.curves import dimension

WIDTH, ROW = 160, 22
"""Pixels of the ranks of a chain."""
COLUMNS = (
    (
        "Engine and options",
        "settings in which the runs differ; runs that differ only in their seeds are chains",
    ),
    ("Chains", "how many runs"),
    ("Draws", "recorded iterations of each after burn-in"),
    (
        "R-hat",
        "how much wider all chains together are than each; the largest of what was recorded; one chain has none",
    ),
    (
        "Effective, bulk",
        "effective samples of all chains in the bulk of the distribution; the smallest",
    ),
    ("Effective, tails", "effective samples at its quantiles of 5 and 95 %; the smallest"),
    (
        "Ranks of each chain",
        "how many draws of each chain are in each twentieth of all draws, lowest first",
    ),
)
KINDS = ("n", "n", "n", "n", "n", "ranks")
"""Classes of the cells of a row after the label."""


class Convergence(NamedTuple):
    """What is known of the chains of a label."""

    label: str
    runs: tuple[str, ...]
    n_draws: int
    r_hat: float  # NaN of one chain
    # the quantity whose R-hat this is, or with the fewest effective samples
    of: str
    ess_bulk: float
    ess_tail: float
    ranked: str  # the quantity whose ranks are counted
    ranks: np.ndarray  # (chain, twentieth) draws


class Chains(HtmlCard):
    """The card of the runs that are drawn; hidden where none of them samples."""

    def __init__(self, handover: Handover):
        super().__init__(
            handover, "Convergence of chains", "Chains", convergence_file, "comparison.css"
        )
        self._task = LatestTask()

    def show(self, seen: Drawn, readings: dict[str, Reading]) -> None:
        """Has the numbers of these runs computed, unless they are there or on their way."""

        def then(found, error) -> None:
            html = message(str(error)) if error is not None else table(found, seen) if found else ""
            self._set(html, [path for path, *_ in seen.runs])

        if runs := looked_at(seen, readings):
            self._task.submit(runs, partial(convergence_by_label, runs), then)


@lru_cache(maxsize=32)
def convergence_by_label(runs: tuple[tuple[Path, int], ...]) -> tuple[Convergence, ...]:
    """Of each label that samples and has enough draws; ``runs`` as `looked_at` gives them."""
    found, datasets = [], [progress for *_, progress in begun(runs)]
    for label, draws in draws_by_label(datasets).items() if datasets else ():
        if numbers := agreement(draws):
            alone, ranks = draws.sizes["chain"] == 1, rank_histograms(draws)
            worst = max(numbers, key=lambda name: -numbers[name][1] if alone else numbers[name][0])
            found.append(
                Convergence(
                    label,
                    tuple(draws.attrs["runs"]),
                    draws.sizes["draw"],
                    numbers[worst][0],
                    worst,
                    min(bulk for _, bulk, _ in numbers.values()),
                    min(tail for *_, tail in numbers.values()),
                    ranks.attrs["quantity"],
                    ranks.values,
                )
            )
    return tuple(found)


def table(found: tuple[Convergence, ...], seen: Drawn) -> str:
    """A row for each label."""
    said = message(
        f"Draws are commonly used where R-hat is below {R_HAT_LIMIT} and there are {ESS_OF_CHAIN} effective samples a chain. A "
        "chain by itself cannot tell that another start would end elsewhere. Topics have other numbers in each chain, so only "
        "what does not depend on these is compared."
    )
    rows = [(one.label, one.runs, _cells(one, colour_of(one.runs, seen.runs))) for one in found]
    return said + html_table("convergence of chains", COLUMNS, KINDS, rows, seen.runs)


def _cells(one: Convergence, colour: str) -> list[str]:
    r_hat = f"{one.r_hat:.3f}\n{escape(named(one.of))}" if len(one.runs) > 1 else "–"
    ranks = _ranks(one, colour) if len(one.runs) > 1 else "one chain"
    return [
        f"{len(one.runs)}",
        f"{one.n_draws:,}",
        r_hat,
        f"{one.ess_bulk:,.0f}",
        f"{one.ess_tail:,.0f}",
        ranks,
    ]


def named(quantity: str) -> str:
    """What a quantity is called on the page."""
    return "sizes of the topics" if quantity == "sorted_share" else dimension(quantity).label


def _ranks(one: Convergence, colour: str) -> str:
    """A small SVG with a row of bars for each chain, and a line at the height that chains which agree have."""
    shown = one.ranks[:MOST_CHAINS]
    even = one.n_draws / shown.shape[1]
    most, step, drawn = max(shown.max(), 2 * even), WIDTH / shown.shape[1], ""
    for place, row in enumerate(shown):
        bottom = (place + 1) * ROW - 1
        for at, n in enumerate(row.tolist()):
            height = (ROW - 4) * n / most
            drawn += (
                f'<rect x="{at * step:.1f}" y="{bottom - height:.1f}" width="{step - 1:.1f}" height="{height:.1f}" '
                f'style="fill:{colour or "var(--wb-muted)"}"/>'
            )
        drawn += f'<path class="zero" d="M0,{bottom - (ROW - 4) * even / most:.1f} H{WIDTH}"/>'
    said = f"ranks of the {named(one.ranked)} of {len(one.ranks)} chains"
    return f'<svg width="{WIDTH}" height="{ROW * len(shown)}" role="img" aria-label="{escape(said)}">{drawn}</svg>'
