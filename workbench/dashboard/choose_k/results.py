"""What runs of each K came to, as the page shows it: the recommendation, the panels, the table; and as files."""

from functools import lru_cache
from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import xarray as xr

from workbench.dashboard.shared.files import File, FileError, picture_file
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.snapshots import Moment, counts_of, moment_of
from workbench.measures import MeasureError, recommend_k
from workbench.measures.choosing import (
    RunNumbers,
    numbers_of_run,
    pairs_to_match,
    table_by_k,
    topic_similarity,
)
from workbench.measures.selection import grouped
from workbench.numbers import format_with_error
from workbench.report.drawing import draw, inline
from workbench.report.gathering import gather_started
from workbench.runs.execution.run import Run
from workbench.runs.spec import SpecError
from workbench.runs.store.archive import get_corpus
from workbench.runs.store.status import FINISHED
from workbench.views import VIEWS, Picture
from workbench.views.choosing import choose_k_picture

STYLE = "margin: 0; max-width: 1000px; fill: currentColor"
NUMBERS = {
    "log_likelihood": (
        "Log likelihood",
        4,
        "mean log p of a held-out token, nats; mean over runs ± standard error over seeds",
    ),
    "difference": (
        "From the best",
        4,
        "mean difference of runs with the same seed from the best K ± its standard error",
    ),
    "test_perplexity": ("Perplexity", 1, "of the held-out tokens"),
    "bound_per_token": ("Bound", 4, "variational bound for each training token, nats"),
    "npmi": (
        "Coherence",
        3,
        "mean NPMI of the ten top words of a topic; −1 to 1, higher is better",
    ),
    "diversity": ("Diversity", 3, "share of distinct words among the 25 top words of all topics"),
    "stability": ("Stability", 3, "how alike the topics of two seeds are that are matched: 0 to 1"),
    "n_active_topics": ("In use", 0, "topics with a token"),
}
"""Numbers of the table → name, digits and meaning."""


class Point(NamedTuple):
    """A run, and how far it is: what is shown of it changes when this does."""

    moment: Moment  # its last snapshot
    iteration: int
    n_topics: int
    seed: int


class Shown(NamedTuple):
    """What the page shows."""

    advice: str  # HTML
    figure: str  # HTML
    table: str  # HTML
    picture: Picture | None


NOTHING = Shown("", "", "", None)


def points_of(runs: list[Reading]) -> tuple[Point, ...]:
    """The runs that have a first row, as they come: by K."""
    begun = [one for one in runs if np.isfinite(one.latest[0])]
    return tuple(
        Point(moment_of(one), int(one.latest[0]), one.spec.n_topics, one.spec.seed) for one in begun
    )


@lru_cache(maxsize=8)
def shown_of(points: tuple[Point, ...], label: str, wanted: tuple[int, ...]) -> Shown:
    """What is shown of runs of this label, for every session that looks at them now; ``wanted``: every K of the form."""
    if not points:
        return NOTHING
    rows, similar = [], {}
    # so the counts of few runs are held at a time
    for own in grouped([point.n_topics for point in points], points).values():
        rows += [_numbers(point) for point in own]
        similar |= {
            (a, b): _similar(a, b)
            for a, b in pairs_to_match(
                {point.moment: point.n_topics for point in own if _of_topics(point.moment)}
            )
        }
    place = {point.moment: at for at, point in enumerate(points)}
    table = table_by_k(
        rows, {(place[a], place[b]): value for (a, b), value in similar.items()}, label
    )
    (view,) = (view for view in VIEWS if view.name == "choose-k")
    coming = set(wanted).difference(table["n_topics"].values.tolist())
    picture = choose_k_picture(table, view, pending=coming)
    svg = draw(picture.panels, 2, ("svg",), picture.legend, picture.height)["svg"].decode()
    named = "numbers by K; the table below has them"
    figure = f'<figure style="{STYLE}" aria-label="{named}">{inline(svg, picture.name, picture.title)}</figure>'
    advice, recommended = _advice(table, points, coming)
    return Shown(advice, figure, _table(table, points, recommended), picture)


def results_file(
    points: tuple[Point, ...], label: str, wanted: tuple[int, ...], form: str, columns: int = 1
) -> File:
    """The panels as a figure, or the table as CSV."""
    picture = shown_of(points, label, wanted).picture
    if picture is None:
        raise FileError("there is nothing to download yet; wait for the first iteration of a run")
    if form == "csv":
        table = pd.DataFrame(picture.rows, columns=picture.header)
        return File(f"{picture.name}.csv", table.to_csv(index=False, lineterminator="\n").encode())
    return picture_file(
        picture, gather_started([point.moment.path for point in points]), form, columns
    )


def _numbers(point: Point) -> RunNumbers:
    """The numbers of a run at its last row, those of its topics at its last snapshot."""
    row = _of_rows(point)
    return row._replace(
        finished=point.moment.state == FINISHED, numbers=row.numbers | _of_topics(point.moment)
    )


@lru_cache(maxsize=512)
def _of_rows(point: Point) -> RunNumbers:
    return numbers_of_run(Run(point.moment.path).progress())


@lru_cache(maxsize=512)
def _of_topics(moment: Moment) -> dict[str, float]:
    """Coherence and diversity; nothing before the first snapshot."""
    counts = counts_of(moment)
    if counts is None:
        return {}
    try:
        corpus = get_corpus(moment.path.parent, Run(moment.path).spec.train)
    except SpecError:  # it is gone: there is no coherence
        corpus = None
    found = numbers_of_run(counts, corpus).numbers
    return {name: found[name] for name in ("npmi", "diversity")}


@lru_cache(maxsize=2048)
def _similar(a: Moment, b: Moment) -> float:
    return topic_similarity(counts_of(a), counts_of(b))


def _advice(
    table: xr.Dataset, points: tuple[Point, ...], coming: set[int]
) -> tuple[str, int | None]:
    """The recommendation as HTML, with links to the topics of its runs; and its K."""
    try:
        found = recommend_k(table, coming)
    except MeasureError as error:
        said = str(error)
        return f'<p role="status">{escape(said[0].upper() + said[1:])}.</p>', None
    own = [point for point in points if point.n_topics == found.n_topics]
    links = " · ".join(
        _link(point, f"Topics of K = {point.n_topics}, seed {point.seed}") for point in own
    )
    cautions = "".join(f"<p>{escape(caution)}</p>" for caution in found.cautions)
    named = f'<nav aria-label="topics of the recommended K">{links}</nav>'
    return (
        f'<p role="status"><strong>{escape(found.reason)}</strong></p>{cautions}{named}',
        found.n_topics,
    )


def _link(point: Point, said: str) -> str:
    return (
        f'<a href="topics?{escape(urlencode({"run": point.moment.path.name}))}">{escape(said)}</a>'
    )


def _table(table: xr.Dataset, points: tuple[Point, ...], recommended: int | None) -> str:
    """The numbers as an HTML table, a row for each K; that of the recommended one is marked."""
    numbers = {
        name: about for name, about in NUMBERS.items() if np.isfinite(table[name].values).any()
    }
    titles = [
        ("K", "number of topics"),
        ("Runs", "how many there are"),
        *((word, why) for word, _, why in numbers.values()),
        ("Topics", "of each run, by its seed"),
    ]
    head = "".join(
        f'<th scope="col" class="n" title="{escape(why)}">{word}</th>' for word, why in titles
    )
    rows = ""
    for k in table["n_topics"].values.tolist():
        one = table.sel(n_topics=k)
        links = " ".join(_link(point, str(point.seed)) for point in points if point.n_topics == k)
        best = k == table.attrs.get("best")
        cells = [
            str(int(one["n_runs"])),
            *(_cell(one, name, about[1], best) for name, about in numbers.items()),
            links,
        ]
        marked = ' class="lit" aria-current="true"' if k == recommended else ""
        rows += f'<tr{marked}><th scope="row" class="n">{k}</th>{"".join(f"<td class=n>{cell}</td>" for cell in cells)}</tr>'
    return f'<table class="by-k" aria-label="numbers by K"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _cell(one: xr.Dataset, name: str, digits: int, best: bool) -> str:
    """A mean, and its standard error where it is known."""
    if best and name == "difference":
        return "best"
    error = np.nan if name == "n_active_topics" else float(one[f"{name}_se"])
    return format_with_error(float(one[name]), error, digits)
