"""`Picture`, a figure before it is drawn; `View`, which makes pictures of runs; and functions that views share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import labels_of, quantity, spec_of
from workbench.measures.selection import grouped, has_course
from workbench.runs.afterwards.heldout_by_document import Pooled, Scored
from workbench.views.elements import PAGE, Look, height_of, looks

RUN_COLUMNS = ("label", "run", "seed")
SAME = ("iteration", "updates", "elapsed", "cpu_time")
BANDS = " Lines are means over the runs of a label, bands ± one standard error."
MOST_PANELS = 12
"""Maximum of panels of a figure with a panel per label; further labels are in its table."""


@dataclass(frozen=True)
class Picture:
    """A figure before it is drawn: panels, caption and table of its data."""

    name: str  # name of the files
    title: str
    caption: str  # description, without settings
    panels: list  # of holoviews.Overlay
    header: list[str] = field(default_factory=list)  # heading of the table
    rows: list[list] = field(repr=False, default_factory=list)
    legend: bool = True
    height: float | None = None  # height of a panel in inches
    width: float | None = (
        None  # width of a panel in inches, if the height is given; None: a share of the page
    )
    # the runs in the picture; empty: all runs
    runs: list[xr.Dataset] = field(repr=False, default_factory=list)
    hover: Mapping[str, list[list[str]]] = field(repr=False, default_factory=dict)
    """Kind of element ("QuadMesh", "Polygons" or "Points") → hover texts of the cells (row by row), polygons or points of each
    element. Elements of the kind without texts come last."""


class Slider(NamedTuple):
    """A control of a view: a slider that sets one of its numerical options."""

    option: str  # keyword of `View.draw`
    label: str
    low: float
    high: float
    step: float
    value: float  # initial value
    plays: bool = False  # whether the page can animate it


class Menu(NamedTuple):
    """A control of a view: a menu that sets one of its text options."""

    option: str  # keyword of `View.draw`
    label: str
    choices: tuple[str, ...]
    value: str  # initial value


class Choice(NamedTuple):
    """A control of a view: a list of which several entries can be chosen, by default none."""

    option: str  # keyword of `View.draw`, which gets a tuple of values
    label: str
    choices: tuple[tuple[str, int], ...]  # text and value
    nothing: str  # what is drawn if nothing is chosen
    value: tuple[int, ...] = ()  # initial value


Control = Slider | Menu | Choice


def menu_of(option: str, label: str, choices_of: Callable[[xr.Dataset], Iterable[str]]) -> Callable:
    """Return a function for `View.controls`: a menu of a run's choices (by ``choices_of``), if there are several."""

    def controls(run: xr.Dataset) -> tuple[Menu, ...]:
        choices = tuple(choices_of(run))
        return (Menu(option, label, choices, choices[0]),) if len(choices) > 1 else ()

    return controls


class View(NamedTuple):
    """A kind of figure, and the variables that a run must have for it."""

    name: str
    title: str
    needs: tuple[str, ...]  # a run needs all names in one of these; see `has`
    # (view, `RunsToDraw`, options) → pictures; empty if there is nothing to draw
    draw: Callable[..., Iterable[Picture]]
    on_page: bool = False  # whether the Topics page offers it
    # controls on the Topics page and in notebooks
    controls: Callable[[xr.Dataset], tuple[Control, ...]] = lambda run: ()
    across: bool = False  # whether it compares runs on different data
    # whether it needs recorded iterations, which imported models do not have
    course: bool = False

    def fits(self, run: xr.Dataset) -> bool:
        """Return whether the run has the variables that the view needs."""
        if self.course and not has_course(run):
            return False
        return any(all(has(run, name) for name in names.split()) for names in self.needs)

    def picture(self, *arguments, **options) -> Picture:
        """Return a `Picture` with the name and title of this view; the other arguments are its further fields."""
        return Picture(self.name, self.title, *arguments, **options)

    def pictures(self, selection: RunsToDraw, **options) -> list[Picture]:
        """Return the pictures that this view draws of the runs; [] if no run has the variables it needs."""
        selection, left_out = selection.without_imported() if self.course else (selection, "")
        if not any(map(self.fits, selection.runs)):
            return []
        result = [
            replace(picture, caption=picture.caption + left_out)
            for picture in self.draw(self, selection, **options)
        ]
        return list(map(on_a_page, result)) if selection.columns == 1 else result


@dataclass(frozen=True)
class RunsToDraw:
    """Runs to be drawn together, with the corpora, held-out scores and pooled chains that views may use."""

    runs: list[xr.Dataset]
    columns: int = 2
    corpora: Mapping[str, Corpus] = field(default_factory=dict)
    scored: Mapping[str, Scored] = field(default_factory=dict)
    pooled: Sequence[Pooled] = ()  # pooled predictions of long chains

    @cached_property
    def labels(self) -> list[str]:
        return labels_of(self.runs)

    @cached_property
    def looks(self) -> dict[str, Look]:
        """Return label → look (colour, line, marker), the same in every picture."""
        return looks(self.labels)

    @property
    def bands(self) -> str:
        """Return the caption's sentence on error bands if any label has several runs, else ""."""
        return BANDS if len(set(self.labels)) < len(self.labels) else ""

    def without_imported(self) -> tuple[RunsToDraw, str]:
        """Return a copy without the imported runs, which have no iterations, and a sentence that names the runs left out."""
        others = [
            label for label, run in zip(self.labels, self.runs, strict=True) if not has_course(run)
        ]
        if not others:
            return self, ""
        names = dict.fromkeys(others)
        return replace(
            self, runs=list(filter(has_course, self.runs))
        ), f" Left out, as imported models have no iterations: {'; '.join(names)}."

    def by_label(self, *names: str) -> dict[str, list[xr.Dataset]]:
        """Return label → runs that have all variables ``names``; labels without such a run are left out."""
        indices = [
            index for index, run in enumerate(self.runs) if all(name in run for name in names)
        ]
        return grouped(
            [self.labels[index] for index in indices], [self.runs[index] for index in indices]
        )

    def first(self, *names: str) -> dict[str, xr.Dataset]:
        """Return label → the label's first run that has all variables ``names``."""
        return {label: members[0] for label, members in self.by_label(*names).items()}

    def corpora_of(self, run: xr.Dataset) -> list[Corpus]:
        """Return the training corpus of a run and its held-out one, as far as they are available."""
        spec = spec_of(run)
        return [self.corpora[each] for each in (spec.train, spec.test) if each in self.corpora]

    def records(self, *names: str) -> tuple[list[str], list[list]]:
        """Return a table of recorded numbers (header, rows), one row per run and iteration; "" for missing numbers."""
        rows = []
        for label, run in zip(self.labels, self.runs, strict=True):
            quantities = (quantity(run, name) for name in (*SAME, *names))
            columns = [[] if values is None else values.values.tolist() for values in quantities]
            rows += rows_of(label, run, zip_longest(*columns, fillvalue=""))
        return [*RUN_COLUMNS, *SAME, *names], rows


def has(run: xr.Dataset, name: str) -> bool:
    """Return whether a run has a variable, or for "model.x" and "spec.x" whether its model or spec has the field x."""
    owner, _, field = name.rpartition(".")
    if not owner:
        return name in run.variables
    spec = spec_of(run)
    return field in spec.model if owner == "model" else bool(getattr(spec, field))


def rows_of(label: str, run: xr.Dataset, table: Any) -> list[list]:
    """Return a table's rows, each with the run's label, name and seed put in front."""
    rows = table.itertuples(index=False) if hasattr(table, "itertuples") else table
    prefix = label, run.attrs["name"], spec_of(run).seed
    return [[*prefix, *row] for row in rows]


def fitting_panels(entries: dict, noun: str = "labels") -> tuple[dict, str]:
    """Return the first entries, as many as a figure may have panels, and a sentence on the number of the others."""
    hidden = len(entries) - MOST_PANELS
    first_entries = dict(list(entries.items())[:MOST_PANELS])
    return first_entries, f" {hidden} further {noun} are in the table only." if hidden > 0 else ""


class RunsOfLabels:
    """The parts of a picture of one run of each label: rows of its table, panels, and the panels' hover texts."""

    def __init__(self, runs: Mapping[str, xr.Dataset]):
        self.runs, self.rows, self.panels, self.hover = runs, [], [], {}
        self.drawn_runs, self.left_out_text = fitting_panels(runs)

    def add(
        self,
        label: str,
        table: Any,
        panels: list,
        hover: Mapping[str, list[list[str]]] | None = None,
    ) -> None:
        """Add the rows of a label's run to the table and, if the label is drawn, its panels with their hover texts."""
        self.rows += rows_of(label, self.runs[label], table)
        if label in self.drawn_runs:
            self.panels += panels
            for kind, texts in (hover or {}).items():
                self.hover.setdefault(kind, []).extend(texts)

    def pictures(self, view: View, caption: str, header: Iterable[str]) -> Iterator[Picture]:
        """Yield the picture, if anything is drawn; a sentence on labels that are not drawn ends its caption."""
        if self.panels:
            yield view.picture(
                caption + self.left_out_text,
                self.panels,
                [*RUN_COLUMNS, *header],
                self.rows,
                legend=False,
                height=height_of(self.panels),
                runs=list(self.runs.values()),
                hover=self.hover,
            )


def numbered_picture(picture: Picture, number: int, label: str) -> Picture:
    """Return the picture of one run among several of its view, named by a number and titled by its label."""
    return replace(picture, name=f"{picture.name}-{number}", title=f"{picture.title}: {label}")


def on_a_page(picture: Picture) -> Picture:
    """Return the picture cut to the panels that fit one below the other on a page; the caption says so."""
    most = max(int(PAGE / picture.height), 1) if picture.height else MOST_PANELS
    n_panels = len(picture.panels)
    if n_panels <= most:
        return picture
    fewer = f"The first {most} of {n_panels} panels are drawn, which fit on one column of a page; the table has all."
    return replace(picture, panels=picture.panels[:most], caption=f"{picture.caption} {fewer}")


def file_names(names: Iterable[str]) -> list[str]:
    """Return a distinct file name for each name, made of letters, digits and ``.+-`` alone."""
    unique: list[str] = []
    for name in names:
        short = re.sub(r"[^A-Za-z0-9.+]+", "-", name.replace("=", "")).strip("-.")[:60] or "unnamed"
        n_same = sum(
            re.fullmatch(re.escape(short) + r"(-\d+)?", other) is not None for other in unique
        )
        unique.append(f"{short}-{n_same + 1}" if n_same else short)
    return unique
