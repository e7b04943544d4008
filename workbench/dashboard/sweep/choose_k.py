"""The tab Choose K: runs that differ in K and seed, and the K that is recommended."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from itertools import product
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import urlencode

import numpy as np
import panel as pn
import xarray as xr
from markupsafe import Markup

from workbench.dashboard.compare.fields import field_of
from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.starting import (
    STARTING,
    StartResult,
    check_memory,
    check_waiting,
    data_of,
    describe_sweep,
    paces,
    start_runs,
)
from workbench.dashboard.compare.wording import number_of_runs
from workbench.dashboard.shared.card import CardContent, paragraph
from workbench.dashboard.shared.form import menu
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.snapshots import SnapshotKey, counts_of, train_of
from workbench.dashboard.sweep.request import (
    MARK,
    FoundRuns,
    Point,
    RunKey,
    SweepRequest,
    points_of,
    runs_alike,
)
from workbench.measures import MeasureError, recommend_k
from workbench.measures.choosing import (
    RunNumbers,
    numbers_of_run,
    pairs_to_match,
    table_by_k,
    topic_similarity,
    warm_starts,
)
from workbench.measures.selection import grouped
from workbench.numbers import DASH, format_with_error
from workbench.runs.execution import warm_sweep
from workbench.runs.execution.memory_check import memory_forecast, unfinished
from workbench.runs.execution.run import Run
from workbench.runs.request import as_list
from workbench.runs.settings import DEFAULT_ENGINE
from workbench.runs.spec import SpecError
from workbench.runs.store.status import FINISHED
from workbench.tables import Column, Table, numbers
from workbench.views.every import view_named
from workbench.views.settings_results import choose_k_picture

COLUMNS = (
    (
        "Log likelihood",
        "log_likelihood",
        4,
        "mean log p of a held-out token, nats; mean over runs ± standard error over seeds",
    ),
    (
        "From the best",
        "difference",
        4,
        "mean difference of runs with the same seed from the best K ± its standard error",
    ),
    ("Perplexity", "test_perplexity", 1, "of the held-out tokens"),
    ("Bound", "bound_per_token", 4, "variational bound for each training token, nats"),
    (
        "Coherence",
        "npmi",
        3,
        "mean NPMI of the ten top words of a topic; −1 to 1, higher is better",
    ),
    ("Diversity", "diversity", 3, "share of distinct words among the 25 top words of all topics"),
    ("Stability", "stability", 3, "how alike the topics of two seeds are that are matched: 0 to 1"),
    ("In use", "n_active_topics", 0, "topics with a token"),
)
"""Heading, number, digits and meaning of the columns of the table."""


@dataclass(frozen=True, kw_only=True)
class ChooseK(SweepRequest):
    """A request for runs of one engine with several numbers of topics."""

    warm: bool = False  # whether a run starts from the one with the next smaller K
    name: ClassVar = "choose-k"
    title: ClassVar = "Choose K"
    question: ClassVar = "How many topics?"
    cards: ClassVar = ("Recommended K",)

    @staticmethod
    def fields() -> dict[str, pn.widgets.Widget]:
        return {
            "engine": menu(
                "Engine",
                {name: name for name in warm_starts()},
                DEFAULT_ENGINE,
                f"the engine of all runs; {DEFAULT_ENGINE} is a good first choice",
            ),
            "n_topics": field_of(
                "n_topics",
                default="5, 10, 20, 40",
                help="numbers of topics to compare, separated by commas",
            ),
            "n_iterations": field_of("n_iterations"),
            "warm": menu(
                "Warm starts",
                {"no": False, "yes": True},
                False,
                "begin each number of topics from the runs of the next smaller one: fewer iterations are needed, but a "
                "bad start is handed on, and one number waits for the other",
            ),
        }

    @classmethod
    def from_query(cls, texts: dict[str, str], corpus=None) -> Self:
        request = super().from_query(texts | {"engines": texts["engine"]}, corpus)
        return replace(request, warm=texts["warm"] == "True")

    def sentences(self) -> dict[str, str]:
        sentences, engine = mistakes_in(self), self.engines[0]
        if "n_topics" not in sentences and len(as_list(self.n_topics)) < 2:
            sentences["n_topics"] = "Topics K must be several numbers to choose from, as 5, 10, 20."
        if self.warm and not warm_starts()[engine]:
            sentences.setdefault("warm", f"Runs of {engine} cannot begin from others; choose no.")
        return sentences

    def find(self, readings: Iterable[Reading]) -> FoundRuns:
        """Return the requested runs that the store has, by K and seed.

        In a warm sweep each run starts from the run of the same seed with the next smaller K, except those with the smallest K.
        """
        runs, ks = runs_alike(readings, self, self.engines), sorted(self.n_topics)
        runs_by_key: dict[tuple[int | None, int], Reading] = {}
        for (smaller, k), seed in product(zip([None, *ks], ks, strict=False), self.each_seed):
            parent = runs_by_key.get((smaller, seed)) if self.warm else None
            start = parent and parent.spec.hash
            for run in runs if parent or smaller is None or not self.warm else ():
                same_place = (run.spec.n_topics, run.spec.seed) == (k, seed)
                if same_place and (run.spec.start or {}).get("hash") == start:
                    runs_by_key.setdefault((k, seed), run)
        return FoundRuns(list(runs_by_key.values()))

    def wanted(self, found_runs: FoundRuns) -> dict[RunKey, int]:
        keys = product(self.engines, self.n_topics, self.each_seed)
        return {RunKey(*key): self.n_iterations for key in keys}

    def describe(self, readings: Iterable[Reading]) -> str:
        return describe_sweep(self, paces(readings))

    def begin(self, store: Path, found_runs: FoundRuns) -> StartResult:
        """Start the runs; a warm sweep runs in a separate process, and continues after the page is closed."""
        if not self.warm:
            return start_runs(store, self)
        policy().check_change()
        corpus = data_of(self.corpus, self.read, self.engines[0])
        cells = self.cells(corpus, store)
        by_k = grouped([cell.key_values["n_topics"] for cell in cells], cells)
        steps = [by_k[k] for k in sorted(by_k)]
        with STARTING:
            check_memory(store, unfinished(store, cells), self.jobs)
            if {cell.spec.name for cell in steps[0]} & warm_sweep.at_work(store):
                raise SpecError("these runs are active already")
            check_waiting(store, len(cells))
            warm_sweep.begin(store, steps, self.jobs)
        begun = f"{number_of_runs(len(cells))}, {memory_forecast(cells, self.jobs)}"
        sentence = f"{begun}: first those with {min(by_k)} topics, then others from these."
        return StartResult(cells, [], sentence)

    def goes_on(self, store: Path, found_runs: FoundRuns) -> bool:
        names = {run.name for run in found_runs.settings}
        return self.warm and not warm_sweep.at_work(store).isdisjoint(names)

    def results(self, readings: Iterable[Reading], found_runs: FoundRuns) -> tuple[tuple, ...]:
        label = self.engines[0] + " warm" * self.warm
        return ((choice_of_k, points_of(found_runs.settings), label, tuple(self.n_topics)),)


# ---------------------------------------------------------------------- what is shown


@lru_cache(maxsize=8)
def choice_of_k(points: tuple[Point, ...], label: str, ks: tuple[int, ...]) -> CardContent:
    """Return the card on the choice of K: recommendation, figure and table, cached for all sessions.

    points : ordered by K
    ks : values of K in the form
    """
    if not points:
        return CardContent()
    rows, similarity = [], {}
    # K by K, so that the counts of few runs are in memory at the same time
    for points_of_k in grouped([point.n_topics for point in points], points).values():
        rows += [_numbers(point) for point in points_of_k]
        with_topics = {
            point.snapshot: point.n_topics
            for point in points_of_k
            if _topic_numbers(point.snapshot)
        }
        similarity |= {(a, b): _similarity(a, b) for a, b in pairs_to_match(with_topics)}
    index_of = {point.snapshot: index for index, point in enumerate(points)}
    pairs = {(index_of[a], index_of[b]): value for (a, b), value in similarity.items()}
    table = table_by_k(rows, pairs, label)
    pending = set(ks).difference(table["n_topics"].values.tolist())
    picture = choose_k_picture(table, view_named("choose-k"), pending=pending)
    advice, best_k = _advice(table, points, pending)
    html, paths = _table(table, points, best_k), tuple(point.snapshot.path for point in points)
    return CardContent(advice, picture, html, paths)


@lru_cache(maxsize=512)
def _numbers(point: Point) -> RunNumbers:
    """Return the values of a run at its last iteration, and those of its topics at its last snapshot."""
    row = numbers_of_run(Run(point.snapshot.path).progress())
    return row._replace(
        finished=point.snapshot.state == FINISHED,
        numbers=row.numbers | _topic_numbers(point.snapshot),
    )


@lru_cache(maxsize=512)
def _topic_numbers(snapshot: SnapshotKey) -> dict[str, float]:
    """Return a dict with the topics' coherence (npmi) and diversity; empty before the first snapshot."""
    counts = counts_of(snapshot)
    if counts is None:
        return {}
    try:
        corpus = train_of(snapshot)
    except SpecError:  # the corpus was removed: there is no coherence
        corpus = None
    numbers = numbers_of_run(counts, corpus).numbers
    return {name: numbers[name] for name in ("npmi", "diversity")}


@lru_cache(maxsize=2048)
def _similarity(a: SnapshotKey, b: SnapshotKey) -> float:
    return topic_similarity(counts_of(a), counts_of(b))


def _advice(
    table: xr.Dataset, points: tuple[Point, ...], pending: set[int]
) -> tuple[str, int | None]:
    """Return the recommendation as HTML, with links to the topics of its runs, and the recommended K (None without one)."""
    try:
        choice = recommend_k(table, pending)
    except MeasureError as error:
        return paragraph(f"{error}."), None
    links = " · ".join(
        _link(point, f"Topics of K = {point.n_topics}, seed {point.seed}")
        for point in points
        if point.n_topics == choice.n_topics
    )
    cautions = "".join(f"<p>{escape(caution)}</p>" for caution in choice.cautions)
    return (
        f'<p role="status"><strong>{escape(choice.reason)}</strong></p>{cautions}'
        f'<nav aria-label="topics of the recommended K">{links}</nav>'
    ), choice.n_topics


def _link(point: Point, text: str) -> Markup:
    query = urlencode({"run": point.snapshot.path.name})
    return Markup('<a href="topics?{}">{}</a>').format(query, text)


def _table(table: xr.Dataset, points: tuple[Point, ...], best_k: int | None) -> str:
    """Return an HTML table with a row for each K; the row of the recommended K is marked."""
    columns = [
        *numbers("K", meaning="number of topics"),
        *numbers("Runs", meaning="how many there are"),
        *(Column(name, title, "number", meaning=meaning) for title, name, _, meaning in COLUMNS),
        Column("Topics", meaning="of each run, by its seed"),
    ]
    rows, marks = [], []
    for k in table["n_topics"].values.tolist():
        row = table.sel(n_topics=k)
        cells = {name: _cell(row, name, digits) for _, name, digits, _ in COLUMNS}
        if k == table.attrs.get("best") and cells["difference"] != DASH:
            cells["difference"] = "best"
        links = [_link(point, str(point.seed)) for point in points if point.n_topics == k]
        rows.append((k, int(row["n_runs"]), *cells.values(), Markup(" ").join(links)))
        marks.append(MARK if k == best_k else {})
    return Table(columns, rows, "numbers by K").without_empty_columns().html(marks)


def _cell(row: xr.Dataset, name: str, digits: int) -> str:
    """Return a mean ± its standard error as text; the number of active topics without an error."""
    error = np.nan if name == "n_active_topics" else float(row[f"{name}_se"])
    return format_with_error(float(row[name]), error, digits)
