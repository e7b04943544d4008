"""What settings cost and how far they come, and where hybrids overtake, as the page shows them; and as files."""

from functools import lru_cache
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from workbench.dashboard.shared.files import File, FileError, picture_file
from workbench.dashboard.shared.run_monitor import Reading
from workbench.errors import InputError
from workbench.measures import MeasureError, frontier, overtaking
from workbench.measures.frontier import CHAINS
from workbench.measures.selection import in_papers_order
from workbench.numbers import format_number, format_with_error
from workbench.report.drawing import draw, inline
from workbench.report.gathering import gather_started
from workbench.runs.afterwards.heldout_by_document import Pooled, pool_chains
from workbench.runs.execution.run import Run
from workbench.views import VIEWS, Picture
from workbench.views.frontier import frontier_picture, names_of_settings, overtaking_picture

STYLE = "margin: 0; max-width: 1000px; fill: currentColor"
COLUMNS = {
    "updates": ("Updates", "elementary updates up to the last iteration that all runs have"),
    "cpu_time": ("CPU seconds", "up to the last iteration that all runs have"),
}


class Point(NamedTuple):
    """A run and how far it is: what is shown of it changes when this does."""

    path: object
    hash: str
    iteration: int


class Shown(NamedTuple):
    """What a card shows."""

    said: str  # HTML
    figure: str  # HTML
    table: str  # HTML
    picture: Picture | None


class Asked(NamedTuple):
    """What the cards are made of."""

    settings: tuple[Point, ...]
    reference: tuple[Point, ...]
    others: tuple[Point, ...]  # of the map
    n_iterations: int  # of a setting: what a run has beyond is left out
    long: int  # of a chain of the reference
    clock: str


def points_of(readings: list[Reading]) -> tuple[Point, ...]:
    """The runs that have a first row, as they come."""
    return tuple(
        Point(one.path, one.spec.hash, int(one.latest[0]))
        for one in readings
        if np.isfinite(one.latest[0])
    )


@lru_cache(maxsize=8)
def frontier_of(asked: Asked) -> Shown:
    """The settings against the reference, for every session that looks at them now."""
    if not asked.settings or len(asked.reference) < CHAINS:
        said = (
            f"Points come as soon as {CHAINS} chains of the reference have begun; {len(asked.reference)} have."
            * bool(asked.settings or asked.reference)
        )
        return Shown(_paragraph(said), "", "", None)
    runs = [_rows(point).sel(iteration=slice(None, asked.n_iterations)) for point in asked.settings]
    try:
        table = frontier(
            runs, [_rows(point) for point in asked.reference], _pooled(asked.reference)
        )
    except MeasureError as error:
        return Shown(_paragraph(f"{str(error)[0].upper()}{str(error)[1:]}."), "", "", None)
    picture = frontier_picture(table, _view("frontier"), clocks=[asked.clock])
    n_short = sum(point.iteration < asked.long for point in asked.reference)
    return Shown(
        _advice(table, asked.clock, n_short), _figure(picture), _table(table, asked.clock), picture
    )


@lru_cache(maxsize=8)
def overtaking_of(asked: Asked) -> Shown:
    """The maps of where hybrids overtake cgs, of all runs of the corpus."""
    try:
        cells = (
            overtaking(in_papers_order([_rows(point) for point in asked.others]))
            if asked.others
            else None
        )
    except MeasureError:
        cells = None
    if cells is None:
        said = (
            "No hybrid has a run of cgs beside it yet. The runs of the form make a cell of the map; other numbers of "
            "topics, of repeated counts and of joined documents make further ones."
        )
        return Shown(_paragraph(said), "", "", None)
    picture = overtaking_picture(cells, _view("overtaking"))
    best = cells["speedup"].max("setting").values
    n_won, n = int((best > 1).sum()), int(np.isfinite(best).sum())
    more = "Other numbers of topics, of repeated counts and of joined documents, started from the form, fill the map."
    if n == 1:
        first = cells["setting"].values[
            int(np.nanargmax(cells["speedup"].max(("data", "n_topics")).values))
        ]
        said = (
            f"The map has one cell so far, where {first} is {best.max():.2g} times as fast as cgs."
        )
        return Shown(_paragraph(f"{said} {more}"), "", "", picture)
    said = (
        f"In {n_won} of {n} cells a hybrid comes sooner than cgs to the perplexity that both reach."
    )
    return Shown(_paragraph(f"{said} {more}"), _figure(picture), "", picture)


def results_file(asked: Asked, of_map: bool, form: str, columns: int = 1) -> File:
    """The panels of a card as a figure, or its table as CSV."""
    picture = (overtaking_of if of_map else frontier_of)(asked).picture
    if picture is None:
        raise FileError("there is nothing to download yet; wait for the first points")
    if form == "csv":
        table = pd.DataFrame(picture.rows, columns=picture.header)
        return File(f"{picture.name}.csv", table.to_csv(index=False, lineterminator="\n").encode())
    points = asked.others if of_map else (*asked.settings, *asked.reference)
    return picture_file(picture, gather_started([point.path for point in points]), form, columns)


@lru_cache(maxsize=1024)
def _rows(point: Point) -> xr.Dataset:
    """What a run has recorded up to here."""
    return Run(point.path).progress().load()


@lru_cache(maxsize=16)
def _pooled(reference: tuple[Point, ...]) -> list[Pooled]:
    """What the chains predict together; nothing before each has an average."""
    try:
        return [pool_chains([point.path for point in reference])]
    except InputError:
        return []


def _view(name: str):
    return next(view for view in VIEWS if view.name == name)


def _figure(picture: Picture) -> str:
    svg = draw(picture.panels, 2, ("svg",), picture.legend, picture.height)["svg"].decode()
    return f'<figure style="{STYLE}" aria-label="{escape(picture.title)}">{inline(svg, picture.name, picture.title)}</figure>'


def _paragraph(said: str) -> str:
    return f'<p role="status">{escape(said)}</p>' if said else ""


def _advice(table: xr.Dataset, clock: str, n_short: int) -> str:
    """Which settings no other one dominates, and how sure the reference is, as HTML."""
    own = table.sortby(clock)
    names = [
        name
        for name, on in zip(names_of_settings(own), own[f"efficient_{clock}"].values, strict=True)
        if on
    ]
    n, error = int(table["n_reference"].min()), table.attrs["reference_se"]
    within = int((table["distance"] <= error).sum())
    at = float(table["reference"].mean())
    how = "together" if table["pooled"].values.all() else "each for itself"
    said = f"The reference: {n} chains of cgs, {how} with a log perplexity of {at:.4f} ± {error:.4f} nats per token."
    said += f" {within} of {table.sizes['label']} settings are within this error." if within else ""
    said += f" {n_short} of its chains have not ended, so distances may change." if n_short else ""
    front = f"No other setting is as cheap and as near as: {'; '.join(names)}."
    return f'<p role="status"><strong>{escape(front)}</strong></p><p>{escape(said)}</p>'


def _table(table: xr.Dataset, clock: str) -> str:
    """The settings as an HTML table, cheapest first; those that no other one dominates are marked."""
    own = table.sortby(clock)
    titles = [
        ("Setting", "r, chains and split of the hybrid"),
        ("Runs", "seeds"),
        *COLUMNS.values(),
        (
            "Distance",
            "of the log perplexity from the reference, nats per token ± standard error over seeds",
        ),
        ("Difference", "the same with its sign: below 0 the setting predicts better"),
        (
            "Jitter",
            "standard deviation of the log perplexity of the state ± standard error over seeds",
        ),
    ]
    head = "".join(
        f'<th scope="col"{" class=n" if at else ""} title="{escape(why)}">{word}</th>'
        for at, (word, why) in enumerate(titles)
    )
    rows = ""
    for name, label in zip(names_of_settings(own), own["label"].values, strict=True):
        one = own.sel(label=label)
        cells = [
            str(int(one["n_runs"])),
            format_number(float(one["updates"]), 0),
            format_number(float(one["cpu_time"]), 2),
            format_with_error(float(one["distance"]), float(one["distance_se"]), 4),
            format_number(float(one["difference"]), 4, sign=True),
            format_with_error(float(one["jitter"]), float(one["jitter_se"]), 4),
        ]
        marked = ' class="lit"' if one[f"efficient_{clock}"] else ""
        rows += (
            f'<tr{marked}><th scope="row" title="{escape(str(label))}">{escape(name)}</th>'
            f"{''.join(f'<td class=n>{cell}</td>' for cell in cells)}</tr>"
        )
    return f'<table class="by-k" aria-label="settings by cost"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
