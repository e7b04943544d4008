"""The tab Frontier: the cost of hybrids, their distance from long Gibbs chains, and where they overtake cgs."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from html import escape
from itertools import product
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import panel as pn
import xarray as xr
from markupsafe import Markup

from workbench.corpus import Corpus
from workbench.dashboard.compare.fields import field_of
from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.starting import StartResult, data_of, start_cells
from workbench.dashboard.compare.wording import number_of_runs
from workbench.dashboard.shared.card import CardContent, paragraph
from workbench.dashboard.shared.form import menu, whole_number
from workbench.dashboard.shared.policy import limit_text, policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.sweep.request import (
    MARK,
    FoundRuns,
    Point,
    RunKey,
    SweepRequest,
    key_of_run,
    names_of,
    points_of,
    runs_alike,
)
from workbench.engines import ENGINES, REFERENCE, get_engine
from workbench.engines.lda import adaptive, mixed
from workbench.engines.options import named_options
from workbench.errors import InputError
from workbench.measures import MeasureError, frontier, overtaking
from workbench.measures.frontier import CHAINS, LONGER, is_plain_gibbs
from workbench.measures.selection import in_papers_order
from workbench.numbers import format_with_error, parse_number
from workbench.runs.afterwards.heldout_by_document import Pooled, pool_chains
from workbench.runs.execution.compare import prepared
from workbench.runs.execution.run import Run
from workbench.runs.request import as_list
from workbench.runs.settings import LARGEST_SEED
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store.status import FAILED, FINISHED, LOST
from workbench.tables import Column, Table
from workbench.views.every import view_named
from workbench.views.frontier import frontier_picture, names_of_settings, overtaking_picture

GIBBS, ADAPTIVE, MIXED = REFERENCE, adaptive.NAME, mixed.NAME
"""The engine of the reference, which is also compared, and the hybrids with splits that adapt and by chance."""
BY_CHANCE, CHANCES = "chance", [0.2, 0.5, 0.9]
"""The split of `MIXED`, and the chances of a pair to be averaged that are compared."""
SPLITS = {
    "by counts alone": "",
    "also where averaging harms most": "gap",
    "also at random": "random",
    "also by chance": BY_CHANCE,
}
number = partial(Column, kind="number")
COLUMNS = (
    Column("Setting", meaning="r, chains and split of the hybrid"),
    number("Runs", meaning="seeds"),
    number("Updates", meaning="elementary updates up to the last iteration that all runs have"),
    number("CPU seconds", digits=2, meaning="up to the last iteration that all runs have"),
    number(
        "Distance",
        meaning="of the log perplexity from the reference, nats per token ± standard error over seeds",
    ),
    number(
        "Difference",
        digits=4,
        sign=True,
        meaning="the same with its sign: below 0 the setting predicts better",
    ),
    number(
        "Jitter",
        meaning="standard deviation of the log perplexity of the state ± standard error over seeds",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Frontier(SweepRequest):
    """A request for runs of a hybrid (several r, chains, seeds), cgs and a hybrid with another split, and long cgs chains."""

    reference: int | None = None  # iterations of the long chains; None: the smallest allowed number
    cost: str = "cpu_time"  # clock that measures the cost of settings
    name: ClassVar = "frontier"
    title: ClassVar = "Frontier"
    question: ClassVar = "What does a hybrid cost?"
    cards: ClassVar = ("Cost and distance", "Where hybrids overtake")
    placed_at: ClassVar = SweepRequest.placed_at | {"budget_r": "r"}

    @staticmethod
    def fields() -> dict[str, pn.widgets.Widget]:
        return {
            "engine": menu(
                "Hybrid",
                {name: name for name in hybrids()},
                hybrids()[0],
                "the engine whose r is varied; cgs runs beside it with the same seeds",
            ),
            "r": field_of("r", default="0, 1, 2, 5, inf"),
            "n_chains": field_of("n_chains", default="1, 5"),
            "split": menu(
                "Split",
                SPLITS,
                "",
                "adaptive-cgs with as many updates chooses by itself what is sampled; mixed-cgs averages pairs by chance",
                wide=True,
            ),
            **{name: field_of(name) for name in ("n_topics", "alpha", "beta")},
            "n_iterations": field_of("n_iterations", default=100),
            "cost": menu(
                "Cost",
                {"CPU seconds": "cpu_time", "updates": "updates"},
                "cpu_time",
                "what settings are compared by: CPU seconds of inference on this machine, or "
                "updates of single tokens and pairs",
            ),
            "reference": whole_number(
                "Iterations of the reference",
                None,
                f"of each of the {CHAINS} chains of cgs that all others are set against; "
                f"empty: {LONGER} times as many as of the runs",
                placeholder=f"{LONGER} × iterations",
                wide=True,
            ),
            **{name: field_of(name) for name in ("top_words", "singletons", "repeat", "merge")},
        }

    @classmethod
    def from_query(cls, texts: dict[str, str], corpus=None) -> Self:
        """Return the form's request: a hybrid, cgs, and `MIXED`, or `ADAPTIVE` where 0 < r < inf, if a split is chosen."""
        engine = texts["engine"]
        request = super().from_query(texts | {"engines": engine}, corpus)
        r, n_chains = (request.options[engine][name] for name in ("r", "n_chains"))
        options = {engine: {"r": r, "n_chains": n_chains}, GIBBS: {}}
        splits = [
            value for value in as_list(r) if isinstance(value, int | float) and 0 < value < math.inf
        ]
        if texts["split"] == BY_CHANCE:
            options[MIXED] = {"chance": CHANCES, "n_chains": n_chains}
        elif texts["split"] and splits:
            budget = splits if len(splits) > 1 else splits[0]
            split = {"split": texts["split"], "budget_r": budget, "n_chains": n_chains}
            options[ADAPTIVE] = split
        reference_settings = {
            "cost": texts["cost"],
            "reference": parse_number(texts["reference"]) or None,
        }
        return replace(request, engines=tuple(options), options=options, **reference_settings)

    @property
    def n_reference(self) -> int:
        """Return the number of iterations of a reference chain: the number in the form, else the smallest allowed."""
        return self.reference or LONGER * self.n_iterations

    @property
    def labels(self) -> list[str]:
        """Return the label (engine and options) of each setting, that is, of each kind of run in the form."""
        return [
            RunSpec("", "", None, engine, model, options).label()
            for engine in self.engines
            for model, options in self.runs_of(engine)
        ]

    def runs_of(self, engine: str) -> Iterator[tuple[dict, dict]]:
        """Yield model and options of each run of an engine once; with one chain if r = 0, where nothing is sampled."""
        runs_seen = []
        for model, options in super().runs_of(engine):
            run = model, options | ({"n_chains": 1} if options.get("r") == 0 else {})
            if run not in runs_seen:
                runs_seen.append(run)
                yield run

    def n_runs(self) -> int:
        return CHAINS + self.seeds * len(self.labels)

    def sentences(self) -> dict[str, str]:
        sentences, most = mistakes_in(self), policy().limits.iterations
        for name in ("n_topics", "alpha", "beta"):
            if name not in sentences and isinstance(getattr(self, name), list):
                sentences[name] = "Frontier compares engines on one model; give one number."
        if "holdout" not in sentences and not self.holdout:
            sentences["holdout"] = "A distance needs held-out tokens; hold out some, as 0.1."
        if self.reference is not None and "n_iterations" not in sentences:
            fewest = LONGER * self.n_iterations
            try:
                SpecError.whole("reference", self.reference, fewest)
            except InputError:
                sentences["reference"] = (
                    f"The reference needs at least {fewest} iterations, {LONGER} times those of the runs."
                )
        if not sentences and self.n_reference > most:
            sentences["n_iterations"] = (
                f"The reference has {self.n_reference:,} iterations where {limit_text(most)} may be."
            )
        return sentences

    def find(self, readings: Iterable[Reading]) -> FoundRuns:
        """Return the requested runs that the store has, and its chains for the reference, finished chains first.

        A chain of cgs of any seed belongs to the reference if it has, or is going to have, enough iterations.
        """
        labels = self.labels
        runs = [
            run
            for run in runs_alike(readings, self, labels)
            if run.spec.n_topics == self.n_topics and not run.spec.start
        ]
        settings: dict[RunKey, Reading] = {}
        for run in runs:
            if run.spec.seed in self.each_seed:
                settings.setdefault(key_of_run(run), run)
        ended_states = (FINISHED, FAILED, LOST)
        long = (
            run
            for run in runs
            if is_plain_gibbs(run.spec)
            and run.status["iteration" if run.state in ended_states else "n_iterations"]
            >= self.n_reference
        )
        chains = sorted(long, key=lambda run: run.state != FINISHED)
        keys = sorted(settings, key=lambda key: (labels.index(key.label), key.seed))
        return FoundRuns([settings[key] for key in keys], chains[:CHAINS])

    def wanted(self, found_runs: FoundRuns) -> dict[RunKey, int]:
        settings = product(self.labels, [self.n_topics], self.each_seed)
        reference = product([GIBBS], [self.n_topics], self.seeds_of_reference(found_runs))
        return {RunKey(*key): self.n_iterations for key in settings} | {
            RunKey(*key): self.n_reference for key in reference
        }

    def seeds_of_reference(self, found_runs: FoundRuns) -> list[int]:
        """Return the seeds of the reference: those of its existing chains, and for the others seeds that no setting uses."""
        used_seeds = [run.spec.seed for run in found_runs.reference]
        free = (seed for seed in range(self.each_seed.stop, LARGEST_SEED) if seed not in used_seeds)
        return used_seeds + [next(free) for _ in range(CHAINS - len(used_seeds))]

    def describe(self, readings: Iterable[Reading]) -> str:
        return f"{number_of_runs(self.n_runs())} with the {CHAINS} chains of the reference."

    def begin(self, store: Path, found_runs: FoundRuns) -> StartResult:
        """Start the runs: the chains of the reference, then the runs of the settings, seed by seed."""
        policy().check_change()
        data = prepared(data_of(self.corpus, self.read, GIBBS), self)
        chains = replace(self, engines=(GIBBS,), options={}, n_iterations=self.n_reference)
        cells = chains.cells(data, store, self.seeds_of_reference(found_runs))
        cells += sorted(self.cells(data, store), key=lambda cell: cell.spec.seed)
        return start_cells(Path(store), cells, self.jobs)

    def results(self, readings: Iterable[Reading], found_runs: FoundRuns) -> tuple[tuple, ...]:
        names, labels = names_of(self.corpus), self.labels
        on_corpus = [
            run
            for run in readings
            if run.spec is not None
            and run.spec.corpus in names
            and run.spec.label() in labels
            and run.spec.test is not None
        ]
        points = points_of(found_runs.settings), points_of(found_runs.reference)
        settings = self.n_iterations, self.n_reference, self.cost
        return (
            (cost_and_distance, *points, *settings),
            (overtaking_map, points_of(on_corpus)),
        )


@lru_cache
def hybrids() -> tuple[str, ...]:
    """Return the names of the engines on documents that have the options r and n_chains."""
    return tuple(
        name
        for name in ENGINES
        if (engine := get_engine(name)).model.data is Corpus
        and {"r", "n_chains"} <= {field.name for field in named_options(engine).values()}
    )


# ---------------------------------------------------------------------- what is shown


@lru_cache(maxsize=8)
def cost_and_distance(
    settings: tuple[Point, ...],
    reference: tuple[Point, ...],
    n_iterations: int,
    n_reference: int,
    clock: str,
) -> CardContent:
    """Return the card on cost and distance from the reference chains, of each setting; cached for all sessions.

    n_iterations : iterations of a setting; further ones of a run are ignored
    n_reference : iterations of a chain of the reference
    """
    if not settings or len(reference) < CHAINS:
        wait = f"Points come as soon as {CHAINS} chains of the reference have begun; {len(reference)} have."
        return CardContent(paragraph(wait if settings or reference else ""))
    runs = [_progress(point).sel(iteration=slice(None, n_iterations)) for point in settings]
    chains = [_progress(point) for point in reference]
    try:
        table = frontier(runs, chains, _pooled_predictions(reference))
    except MeasureError as error:
        return CardContent(paragraph(f"{error}."))
    picture = frontier_picture(table, view_named("frontier"), clocks=[clock])
    table = table.sortby(clock)
    n_short = sum(point.iteration < n_reference for point in reference)
    return CardContent(
        _advice(table, clock, n_short),
        picture,
        _table(table, clock),
        tuple(point.snapshot.path for point in (*settings, *reference)),
    )


@lru_cache(maxsize=8)
def overtaking_map(points: tuple[Point, ...]) -> CardContent:
    """Return the card with maps of the data and numbers of topics with which hybrids overtake cgs."""
    try:
        cells = overtaking(in_papers_order([_progress(point) for point in points]))
    except MeasureError:
        return CardContent(
            paragraph(
                "No hybrid has a run of cgs beside it yet. The runs of the form make a cell of the map; other numbers of "
                "topics, of repeated counts and of joined documents make further ones."
            )
        )
    picture = overtaking_picture(cells, view_named("overtaking"))
    best = cells["speedup"].max("setting").values
    n_won, n = int((best > 1).sum()), int(np.isfinite(best).sum())
    if n == 1:
        fastest = int(np.nanargmax(cells["speedup"].max(("data", "n_topics")).values))
        first = cells["setting"].values[fastest]
        advice = (
            f"The map has one cell so far, where {first} is {best.max():.2g} times as fast as cgs."
        )
    else:
        advice = f"In {n_won} of {n} cells a hybrid comes sooner than cgs to the perplexity that both reach."
    further_note = "Other numbers of topics, of repeated counts and of joined documents, started from the form, fill the map."
    paths = tuple(point.snapshot.path for point in points)
    return CardContent(paragraph(f"{advice} {further_note}"), picture, "", paths)


@lru_cache(maxsize=1024)
def _progress(point: Point) -> xr.Dataset:
    """Return the recorded iterations of a run."""
    return Run(point.snapshot.path).progress().load()


@lru_cache(maxsize=16)
def _pooled_predictions(reference: tuple[Point, ...]) -> list[Pooled]:
    """Return the pooled predictions of the reference chains; empty before each chain has an average."""
    try:
        return [pool_chains([point.snapshot.path for point in reference])]
    except InputError:
        return []


def _advice(table: xr.Dataset, clock: str, n_short: int) -> str:
    """Return as HTML the settings that no other dominates, and the precision of the reference."""
    efficient = table[f"efficient_{clock}"].values
    front = "; ".join(np.array(names_of_settings(table))[efficient])
    n, error = int(table["n_reference"].min()), table.attrs["reference_se"]
    n_within = int((table["distance"] <= error).sum())
    manner = "together" if table["pooled"].values.all() else "each for itself"
    sentences = [
        f"The reference: {n} chains of cgs, {manner} with a log perplexity of {float(table['reference'].mean()):.4f} "
        f"± {error:.4f} nats per token."
    ]
    if n_within:
        sentences.append(f"{n_within} of {table.sizes['label']} settings are within this error.")
    if n_short:
        sentences.append(f"{n_short} of its chains have not ended, so distances may change.")
    return (
        f'<p role="status"><strong>No other setting is as cheap and as near as: {escape(front)}.</strong></p>'
        f"<p>{escape(' '.join(sentences))}</p>"
    )


def _table(table: xr.Dataset, clock: str) -> str:
    """Return the settings as an HTML table; those that no other dominates are marked."""
    rows, marks = [], []
    for name, label in zip(names_of_settings(table), table["label"].values, strict=True):
        row = table.sel(label=label)
        rows.append(
            [
                Markup('<span title="{}">{}</span>').format(label, name),
                *(float(row[name]) for name in ("n_runs", "updates", "cpu_time")),
                format_with_error(float(row["distance"]), float(row["distance_se"]), 4),
                float(row["difference"]),
                format_with_error(float(row["jitter"]), float(row["jitter_se"]), 4),
            ]
        )
        marks.append(MARK if row[f"efficient_{clock}"] else {})
    return Table(COLUMNS, rows, "settings by cost").html(marks)
