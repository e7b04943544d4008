"""Which figures a set of runs makes: panels, caption, and the data behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest

import xarray as xr

from workbench.measures import labels_of, spec_of
from workbench.models import VARIABLES
from workbench.views import objective_curves, objectives_of, perplexity_curves, topic_size_curves
from workbench.views.style import looks

CLOCKS = {"iteration": "iterations", "elapsed": "seconds", "updates": "updates"}
PERPLEXITIES = ("test_perplexity", "test_perplexity_state", "test_perplexity_average")
SAME = ("iteration", "updates", "elapsed", "cpu_time")
MOST_SIZES = 9
"""Panels of topic sizes in one figure: one a label, the first run of each."""


@dataclass(frozen=True)
class Picture:
    """A figure before it is drawn."""

    name: str            # of its files
    title: str
    caption: str         # what it shows, without settings
    panels: list         # of holoviews.Overlay
    header: list[str]    # of the table behind it
    rows: list[list] = field(repr=False, default_factory=list)
    legend: bool = True


def pictures(runs: list[xr.Dataset]) -> list[Picture]:
    """Perplexity against each clock (where something is held out), the bound and its kin, topic sizes."""
    found = []
    if any("test_perplexity" in run for run in runs):
        found += [_perplexity(runs, clock) for clock in CLOCKS]
    if objectives_of(runs):
        found.append(_objectives(runs))
    return [*found, _sizes(runs)]


def _perplexity(runs: list[xr.Dataset], clock: str) -> Picture:
    against = CLOCKS[clock]
    how = "" if clock == "iteration" else f" {VARIABLES[clock].name}: {VARIABLES[clock].meaning}."
    return Picture(
        f"perplexity-by-{against}",
        f"Held-out perplexity against {against}",
        "Held-out perplexity of the current state (first panel) and of the running average of p(w|d) after burn-in (second "
        f"panel) against {against}.{how}{_band(runs)}",
        [perplexity_curves(runs, which, clock) for which in ("state", "average")],
        *_table(runs, PERPLEXITIES),
    )


def _objectives(runs: list[xr.Dataset]) -> Picture:
    names = objectives_of(runs)
    meanings = " ".join(f"{name}: {VARIABLES[name].meaning} ({VARIABLES[name].unit})." for name in names)
    return Picture(
        "objectives", "Bound, log joint and objective",
        f"What each engine itself maximises or samples from, one quantity a panel; they are not comparable across panels. "
        f"{meanings}{_band(runs)}",
        [objective_curves(runs, name) for name in names],
        *_table(runs, names),
    )


def _sizes(runs: list[xr.Dataset]) -> Picture:
    first: dict[str, xr.Dataset] = {}
    for run, label in zip(runs, labels_of(runs), strict=True):
        first.setdefault(label, run)
    style = looks(first)
    shown = dict(list(first.items())[:MOST_SIZES])
    rows = [
        [label, run.attrs["name"], spec_of(run).seed, int(iteration), topic, float(tokens)]
        for label, run in first.items()
        for iteration, sizes in zip(run["iteration"].values, run["n_k"].values, strict=True)
        for topic, tokens in zip(run["topic"].values.tolist(), sizes, strict=True)
    ]
    left_out = f" {len(first) - len(shown)} further labels are in the table only." if len(first) > len(shown) else ""
    return Picture(
        "topic-sizes", "Topic sizes",
        f"(Expected) training tokens of each topic over the iterations, a line for each topic, the finally largest strongest; "
        f"one run of each label.{left_out}",
        [topic_size_curves(run, style[label].colour, label) for label, run in shown.items()],
        ["label", "run", "seed", "iteration", "topic", "n_k"], rows, legend=False,
    )


def _band(runs: list[xr.Dataset]) -> str:
    labels = labels_of(runs)
    if len(set(labels)) == len(labels):
        return ""
    return " Lines are means over the runs of a label, bands one standard error to either side."


def _table(runs: list[xr.Dataset], names) -> tuple[list[str], list[list]]:
    """Header and rows, one a record of a run; empty where a run does not record a number."""
    rows = []
    for run, label in zip(runs, labels_of(runs), strict=True):
        columns = [run[name].values.tolist() if name in run else [] for name in (*SAME, *names)]
        rows += [[label, run.attrs["name"], spec_of(run).seed, *record] for record in zip_longest(*columns, fillvalue="")]
    return ["label", "run", "seed", *SAME, *names], rows
