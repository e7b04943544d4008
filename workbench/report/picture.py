"""A figure before it is drawn, and what figures have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import zip_longest

import xarray as xr

from workbench.measures import labels_of, quantity, spec_of

SAME = ("iteration", "updates", "elapsed", "cpu_time")
BANDS = " Lines are means over the runs of a label, bands one standard error to either side."
MOST_PANELS = 12
"""Panels of one figure that has one a label; further labels are in its table."""


@dataclass(frozen=True)
class Picture:
    """A figure before it is drawn."""

    name: str            # of its files
    title: str
    caption: str         # what it shows, without settings
    panels: list         # of holoviews.Overlay
    header: list[str] = field(default_factory=list)    # of the table behind it
    rows: list[list] = field(repr=False, default_factory=list)
    legend: bool = True
    height: float | None = None  # of a panel, inches
    runs: list[xr.Dataset] = field(repr=False, default_factory=list)  # those that it shows; empty: all


def by_label(runs: list[xr.Dataset]) -> dict[str, list[xr.Dataset]]:
    found: dict[str, list[xr.Dataset]] = {}
    for run, label in zip(runs, labels_of(runs), strict=True):
        found.setdefault(label, []).append(run)
    return found


def shown_of(by_label: dict) -> tuple[dict, str]:
    """What fits into one figure, and a sentence about what does not."""
    shown = dict(list(by_label.items())[:MOST_PANELS])
    hidden = len(by_label) - len(shown)
    return shown, f" {hidden} further labels are in the table only." if hidden else ""


def band_told(runs: list[xr.Dataset]) -> str:
    labels = labels_of(runs)
    return "" if len(set(labels)) == len(labels) else BANDS


def records(runs: list[xr.Dataset], names) -> tuple[list[str], list[list]]:
    """Header and rows, one a record of a run; empty where a run does not record a number."""
    rows = []
    for run, label in zip(runs, labels_of(runs), strict=True):
        columns = [_values(run, name) for name in (*SAME, *names)]
        rows += [[label, run.attrs["name"], spec_of(run).seed, *record] for record in zip_longest(*columns, fillvalue="")]
    return ["label", "run", "seed", *SAME, *names], rows


def _values(run: xr.Dataset, name: str) -> list:
    values = quantity(run, name)
    return [] if values is None else values.values.tolist()


def file_names(names) -> list[str]:
    """Each name in letters, digits and ``.+-`` alone, and no two the same."""
    found: list[str] = []
    for name in names:
        short = re.sub(r"[^A-Za-z0-9.+]+", "-", name.replace("=", "")).strip("-.")[:60] or "unnamed"
        at = sum(re.fullmatch(re.escape(short) + r"(-\d+)?", other) is not None for other in found)
        found.append(f"{short}-{at + 1}" if at else short)
    return found
