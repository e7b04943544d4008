"""A figure before it is drawn, the view that makes it, and what figures have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import labels_of, quantity, spec_of
from workbench.measures.selection import grouped, has_course
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.runs.afterwards.pooled_chains import Pooled
from workbench.views.elements import PAGE
from workbench.views.style import Look, looks

WHOSE = ("label", "run", "seed")
SAME = ("iteration", "updates", "elapsed", "cpu_time")
BANDS = " Lines are means over the runs of a label, bands one standard error to either side."
MOST_PANELS = 12
"""Panels of one figure that has one a label; further labels are in its table."""


@dataclass(frozen=True)
class Picture:
    """A figure before it is drawn."""

    name: str  # of its files
    title: str
    caption: str  # what it shows, without settings
    panels: list  # of holoviews.Overlay
    header: list[str] = field(default_factory=list)  # of the table behind it
    rows: list[list] = field(repr=False, default_factory=list)
    legend: bool = True
    height: float | None = None  # of a panel, inches
    # those that it shows; empty: all
    runs: list[xr.Dataset] = field(repr=False, default_factory=list)
    hover: Mapping[str, list[list[str]]] = field(repr=False, default_factory=dict)
    """By kind of element, a "QuadMesh", "Polygons" or "Points", and of each that has texts: those of its cells, row by row, of
    its polygons or of its points. Elements of the kind that have none come after these."""


class Slider(NamedTuple):
    """A number of a view's that is chosen on a page."""

    option: str  # what `View.draw` calls it
    label: str
    low: float
    high: float
    step: float
    value: float  # to begin with
    plays: bool = False  # can the page step through it by itself?


class Menu(NamedTuple):
    """A text of a view's that is chosen on a page."""

    option: str  # what `View.draw` calls it
    label: str
    choices: tuple[str, ...]
    value: str  # to begin with


Control = Slider | Menu


def no_controls(run: xr.Dataset) -> tuple[Control, ...]:
    """Of a view without options."""
    return ()


class View(NamedTuple):
    """A kind of picture, offered whenever a run has the variables that it needs."""

    name: str
    title: str
    needs: tuple[str, ...]  # a run needs all names in one of these; see `has`
    # (view, side by side, options) → pictures; none where there is nothing to see
    draw: Callable[..., Iterable[Picture]]
    on_page: bool = False  # does the Topics page offer it beside its cards?
    # beside it there: a slider, two menus at most
    controls: Callable[[xr.Dataset], tuple[Control, ...]] = no_controls
    across: bool = False  # is it of all data together, which it sets side by side?
    # is it of what a run recorded from iteration to iteration? Models that were imported have none
    course: bool = False

    def fits(self, run: xr.Dataset) -> bool:
        """Whether the run has what the view needs."""
        if self.course and not has_course(run):
            return False
        return any(all(has(run, name) for name in names.split()) for names in self.needs)

    def picture(self, *parts, **more) -> Picture:
        """A picture under the name and title of the view; for the other fields see `Picture`."""
        return Picture(self.name, self.title, *parts, **more)

    def pictures(self, shown: SideBySide, **options) -> list[Picture]:
        """The pictures of the runs, none where no run fits."""
        shown, left_out = shown.with_courses() if self.course else (shown, "")
        found = list(self.draw(self, shown, **options)) if any(map(self.fits, shown.runs)) else []
        found = (
            [replace(one, caption=one.caption + left_out) for one in found] if left_out else found
        )
        return list(map(on_a_page, found)) if shown.columns == 1 else found


@dataclass(frozen=True)
class SideBySide:
    """Runs to be drawn together, how wide; and what is at hand: tokens by their hash, scores by the hash of a run's spec."""

    runs: list[xr.Dataset]
    columns: int = 2
    corpora: Mapping[str, Corpus] = field(default_factory=dict)
    scored: Mapping[str, Scored] = field(default_factory=dict)
    pooled: Sequence[Pooled] = ()  # what long chains predict together

    @cached_property
    def labels(self) -> list[str]:
        return labels_of(self.runs)

    @cached_property
    def looks(self) -> dict[str, Look]:
        """The look of each label, the same in every picture."""
        return looks(self.labels)

    @property
    def bands(self) -> str:
        """A sentence about bands, where a label has several runs."""
        return BANDS if len(set(self.labels)) < len(self.labels) else ""

    def with_courses(self) -> tuple[SideBySide, str]:
        """Those that were computed here, iteration by iteration; and a sentence about the others, which were imported."""
        others = [
            label for label, run in zip(self.labels, self.runs, strict=True) if not has_course(run)
        ]
        if not others:
            return self, ""
        names = dict.fromkeys(others)
        return replace(
            self, runs=list(filter(has_course, self.runs))
        ), f" Left out, as nothing is known of their iterations: {'; '.join(names)} (imported)."

    def by_label(self, *names: str) -> dict[str, list[xr.Dataset]]:
        """The runs of each label that have all these variables; labels without one are left out."""
        having = [at for at, run in enumerate(self.runs) if all(name in run for name in names)]
        return grouped([self.labels[at] for at in having], [self.runs[at] for at in having])

    def first(self, *names: str) -> dict[str, xr.Dataset]:
        """The first run of each label that has all these variables."""
        return {label: own[0] for label, own in self.by_label(*names).items()}

    def records(self, *names: str) -> tuple[list[str], list[list]]:
        """Header and rows, one for each iteration of a run; empty where a run does not record a number."""
        rows = []
        for label, run in zip(self.labels, self.runs, strict=True):
            found = (quantity(run, name) for name in (*SAME, *names))
            columns = [[] if values is None else values.values.tolist() for values in found]
            rows += rows_of(label, run, zip_longest(*columns, fillvalue=""))
        return [*WHOSE, *SAME, *names], rows


def has(run: xr.Dataset, name: str) -> bool:
    """Is this a variable of the run; or, after ``model.`` or ``spec.``, a field of its model or a setting that it has?"""
    where, _, field = name.rpartition(".")
    if not where:
        return name in run.variables
    spec = spec_of(run)
    return field in spec.model if where == "model" else bool(getattr(spec, field))


def rows_of(label: str, run: xr.Dataset, table) -> list[list]:
    """Rows of a table, each after label, name and seed of its run; ``table`` is a DataFrame or holds rows."""
    rows = table.itertuples(index=False) if hasattr(table, "itertuples") else table
    of_run = label, run.attrs["name"], spec_of(run).seed
    return [[*of_run, *row] for row in rows]


def fitting_panels(by_label: dict) -> tuple[dict, str]:
    """What fits into one figure, and a sentence about what does not."""
    hidden = len(by_label) - MOST_PANELS
    shown = dict(list(by_label.items())[:MOST_PANELS])
    return shown, f" {hidden} further labels are in the table only." if hidden > 0 else ""


def on_a_page(picture: Picture) -> Picture:
    """The picture with as many panels as a page has room for below each other, and a sentence about the others."""
    most, n_panels = (
        max(int(PAGE / picture.height), 1) if picture.height else MOST_PANELS,
        len(picture.panels),
    )
    if n_panels <= most:
        return picture
    fewer = f"Of {n_panels} panels {most} are drawn, as many as fit on one column of a page; the table has all."
    return replace(picture, panels=picture.panels[:most], caption=f"{picture.caption} {fewer}")


def capital(text: str) -> str:
    """The text with a capital letter in front."""
    return text[:1].upper() + text[1:]


def file_names(names) -> list[str]:
    """Each name in letters, digits and ``.+-`` alone, and no two the same."""
    found: list[str] = []
    for name in names:
        short = re.sub(r"[^A-Za-z0-9.+]+", "-", name.replace("=", "")).strip("-.")[:60] or "unnamed"
        at = sum(re.fullmatch(re.escape(short) + r"(-\d+)?", other) is not None for other in found)
        found.append(f"{short}-{at + 1}" if at else short)
    return found
