"""The tab Frontier: the cost of hybrids, their distance from long Gibbs chains, and where they overtake cgs."""

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from html import escape
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import xarray as xr
from markupsafe import Markup

from workbench.corpus import Corpus
from workbench.dashboard.compare.fields import field_of
from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.starting import (
    data_of,
    start_cells,
    summary_of_start,
)
from workbench.dashboard.compare.wording import counted
from workbench.dashboard.shared.card import Card, Shown, paragraph
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import menu, whole_number
from workbench.dashboard.shared.policy import figures, policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.sweep.results import MARK, Point, points_of
from workbench.dashboard.sweep.runs import (
    Found,
    Place,
    names_of,
    place_of,
    runs_alike,
    seeds_of,
)
from workbench.dashboard.sweep.tab import Tab
from workbench.engines import ENGINES, REFERENCE, get_engine
from workbench.engines.lda import adaptive
from workbench.engines.options import named_options
from workbench.errors import InputError
from workbench.measures import MeasureError, frontier, overtaking
from workbench.measures.frontier import CHAINS, LONGER, is_plain_gibbs
from workbench.measures.selection import in_papers_order
from workbench.numbers import format_with_error, parse_number
from workbench.runs.afterwards.heldout_by_document import Pooled, pool_chains
from workbench.runs.execution.compare import plan
from workbench.runs.execution.memory_check import Planned
from workbench.runs.execution.run import Run
from workbench.runs.execution.sweep import lay_out
from workbench.runs.request import RunRequest, as_list, combinations
from workbench.runs.settings import LARGEST_SEED, SplitSettings, names
from workbench.runs.spec import RunSpec, model_fields, whole
from workbench.runs.store.status import FAILED, FINISHED, LOST
from workbench.tables import Column, Table
from workbench.views.every import view_named
from workbench.views.frontier import frontier_picture, names_of_settings, overtaking_picture

GIBBS, ADAPTIVE = REFERENCE, adaptive.NAME
"""The engine of the reference, which is also compared, and the hybrid with adaptive splits."""
SPLITS = {
    "by counts alone": "",
    "also where averaging harms most": "gap",
    "also at random": "random",
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
class FrontierRequest(RunRequest):
    """A request for runs of a hybrid and of cgs, and for long chains of cgs."""

    reference: int | None = None  # iterations of the long chains; None: the smallest allowed number
    cost: str = "cpu_time"  # clock that measures the cost of settings


class Request(NamedTuple):
    """The inputs of the results."""

    settings: tuple[Point, ...]
    reference: tuple[Point, ...]
    on_corpus: tuple[Point, ...]  # runs in the map
    n_iterations: int  # iterations of a setting; further ones of a run are ignored
    n_reference: int  # iterations of a chain of the reference
    clock: str


class Frontier(Tab):
    """The tab Frontier: hybrids that differ in r, chains, split and seed, compared with long Gibbs chains."""

    name, title, heading = "frontier", "Frontier", "What does a hybrid cost?"
    placed_at: ClassVar = Tab.placed_at | {"budget_r": "r"}

    def __init__(self, handover: Handover):
        self.cards = [
            Card("Cost and distance", handover),
            Card("Where hybrids overtake", handover),
        ]
        self.fields = {
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
                "adaptive-cgs with as many updates chooses by itself what is sampled",
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

    def asked(self, texts: dict[str, str]) -> FrontierRequest:
        """Return the request of the form: a hybrid, cgs and, if a split is chosen and 0 < r < inf for some r, `ADAPTIVE`."""
        engine = texts["engine"]
        found = FrontierRequest.from_query(texts | {"engines": engine})
        r, n_chains = (found.options[engine][name] for name in ("r", "n_chains"))
        options = {engine: {"r": r, "n_chains": n_chains}, GIBBS: {}}
        between = [one for one in as_list(r) if isinstance(one, int | float) and 0 < one < math.inf]
        if texts["split"] and between:
            budget = between if len(between) > 1 else between[0]
            split = {"split": texts["split"], "budget_r": budget, "n_chains": n_chains}
            options[ADAPTIVE] = split
        own = {"cost": texts["cost"], "reference": parse_number(texts["reference"]) or None}
        return replace(found, engines=tuple(options), options=options, **own)

    def mistakes(self, asked: FrontierRequest) -> dict[str, str]:
        found, limits = mistakes_in(asked), policy().limits
        for name in ("n_topics", "alpha", "beta"):
            if name not in found and isinstance(getattr(asked, name), list):
                found[name] = "Frontier compares engines on one model; give one number."
        if "holdout" not in found and not asked.holdout:
            found["holdout"] = "A distance needs held-out tokens; hold out some, as 0.1."
        if asked.reference is not None and "n_iterations" not in found:
            fewest = LONGER * asked.n_iterations
            try:
                whole("reference", asked.reference, fewest)
            except InputError:
                found["reference"] = (
                    f"The reference needs at least {fewest} iterations, {LONGER} times those of the runs."
                )
        if not found and (n := len(self.wanted(asked, Found([])))) > limits.start:
            found["r"] = (
                f"These are {n:,} runs where {figures(limits.start)} may be started at once; take values out."
            )
        if not found and (n := n_reference(asked)) > limits.iterations:
            found["n_iterations"] = (
                f"The reference has {n:,} iterations where {figures(limits.iterations)} may be."
            )
        return found

    def find(self, readings: Iterable[Reading], asked: FrontierRequest) -> Found:
        """Return the runs of the settings that the store has, and the chains of the reference, finished ones first.

        A chain of cgs of any seed belongs to the reference if it has, or is going to have, enough iterations.
        """
        labels = labels_of(asked)
        alike = [one for one in runs_alike(readings, asked, labels) if not one.spec.start]
        settings: dict[Place, Reading] = {}
        for one in alike:
            if one.spec.seed in seeds_of(asked) and one.spec.n_topics == asked.n_topics:
                settings.setdefault(place_of(one), one)
        chains = [
            one
            for one in alike
            if is_plain_gibbs(one.spec)
            and one.spec.n_topics == asked.n_topics
            and _is_long(one, n_reference(asked))
        ]
        chains.sort(key=lambda one: one.state != FINISHED)
        places = sorted(settings, key=lambda place: (labels.index(place.label), place.seed))
        return Found([settings[place] for place in places], chains[:CHAINS])

    def wanted(self, asked: FrontierRequest, found: Found) -> dict[Place, int]:
        k = asked.n_topics
        settings = {
            Place(label, k, seed): asked.n_iterations
            for label in labels_of(asked)
            for seed in seeds_of(asked)
        }
        reference = {
            Place(GIBBS, k, seed): n_reference(asked)
            for seed in seeds_of_reference(asked, found.reference)
        }
        return settings | reference

    def describe(self, readings: Iterable[Reading], asked: FrontierRequest) -> str:
        n = len(self.wanted(asked, Found([])))
        return f"{counted(n)} with the {CHAINS} chains of the reference."

    def start(self, store: Path, asked: FrontierRequest, found: Found) -> tuple[int, str]:
        """Start the runs, beginning with the chains of the reference."""
        policy().check_change()
        corpus = data_of(asked.corpus, asked.read, GIBBS)
        cells = _cells(corpus, asked, found.reference)
        started, *others = start_cells(Path(store), cells, asked.jobs)
        return len(started), summary_of_start(started, *others)

    def request(self, readings: Iterable[Reading], asked: FrontierRequest, found: Found) -> Request:
        names, labels = names_of(asked.corpus), labels_of(asked)
        on_corpus = [
            one
            for one in readings
            if one.spec is not None
            and one.spec.corpus in names
            and one.spec.label() in labels
            and one.spec.test is not None
        ]
        return Request(
            points_of(found.settings),
            points_of(found.reference),
            points_of(on_corpus),
            asked.n_iterations,
            n_reference(asked),
            asked.cost,
        )

    def results(self, request: Request) -> list[Shown]:
        return [cost_and_distance(request), overtaking_map(request.on_corpus)]


@lru_cache
def hybrids() -> tuple[str, ...]:
    """Return the names of the engines of documents with the options r and n_chains."""
    return tuple(
        name
        for name in ENGINES
        if (engine := get_engine(name)).model.data is Corpus
        and {"r", "n_chains"} <= {field.name for field in named_options(engine).values()}
    )


def n_reference(asked: FrontierRequest) -> int:
    """Return the iterations of a chain of the reference: the number in the form, else the smallest allowed."""
    return asked.reference or LONGER * asked.n_iterations


def labels_of(asked: FrontierRequest) -> list[str]:
    """Return the label (engine and options) of each setting."""
    model = {name: getattr(asked, name) for name in model_fields(get_engine(GIBBS))}
    return [
        RunSpec("", "", None, engine, model, options).label()
        for engine, options in _settings(asked)
    ]


def seeds_of_reference(asked: FrontierRequest, chains: list[Reading]) -> list[int]:
    """Return the seeds of the reference: those of its existing chains, and for the others seeds that no setting uses."""
    taken = [one.spec.seed for one in chains]
    free = (seed for seed in range(seeds_of(asked).stop, LARGEST_SEED) if seed not in taken)
    return taken + [next(free) for _ in range(CHAINS - len(taken))]


def _settings(asked: FrontierRequest) -> Iterator[tuple[str, dict]]:
    """Yield engine and options of each setting once; with one chain if r = 0, where nothing is sampled."""
    seen = set()
    for engine, given in asked.options.items():
        for options in combinations(given):
            if options.get("r") == 0:
                options = options | {"n_chains": 1}
            if (key := (engine, repr(options))) not in seen:
                seen.add(key)
                yield engine, options


def _cells(corpus: Corpus, asked: FrontierRequest, chains: list[Reading]) -> list[Planned]:
    """Return the planned chains of the reference, followed by the planned runs of the settings, seed by seed."""
    settings = {
        name: getattr(asked, name)
        for name in (*names(SplitSettings), *model_fields(get_engine(GIBBS)))
    }
    reference = lay_out(
        corpus,
        {"seed": seeds_of_reference(asked, chains)},
        GIBBS,
        n_iterations=n_reference(asked),
        **settings,
    )
    specs, train, test = plan(
        corpus,
        list(_settings(asked)),
        asked.seeds,
        seed=asked.seed,
        n_iterations=asked.n_iterations,
        **settings,
    )
    specs.sort(key=lambda spec: spec.seed)
    return reference + [Planned(spec, train, test) for spec in specs]


def _is_long(one: Reading, n_iterations: int) -> bool:
    """Return whether the chain has, or is going to have, at least ``n_iterations`` iterations."""
    ended = one.state in (FINISHED, FAILED, LOST)
    return one.status["iteration" if ended else "n_iterations"] >= n_iterations


# ---------------------------------------------------------------------- what is shown


@lru_cache(maxsize=8)
def cost_and_distance(request: Request) -> Shown:
    """Return cost and distance from the reference of each setting, cached for all sessions."""
    n_chains = len(request.reference)
    if not request.settings or n_chains < CHAINS:
        wait = (
            f"Points come as soon as {CHAINS} chains of the reference have begun; {n_chains} have."
        )
        return Shown(paragraph(wait if request.settings or request.reference else ""))
    runs = [
        _progress(point).sel(iteration=slice(None, request.n_iterations))
        for point in request.settings
    ]
    chains = [_progress(point) for point in request.reference]
    try:
        table = frontier(runs, chains, _pooled(request.reference))
    except MeasureError as error:
        return Shown(paragraph(f"{error}."))
    picture = frontier_picture(table, view_named("frontier"), clocks=[request.clock])
    table = table.sortby(request.clock)
    n_short = sum(point.iteration < request.n_reference for point in request.reference)
    return Shown(
        _advice(table, request.clock, n_short),
        picture,
        _table(table, request.clock),
        tuple(point.moment.path for point in (*request.settings, *request.reference)),
    )


@lru_cache(maxsize=8)
def overtaking_map(points: tuple[Point, ...]) -> Shown:
    """Return the maps that show where hybrids overtake cgs."""
    cells = None
    if points:
        with suppress(MeasureError):
            cells = overtaking(in_papers_order([_progress(point) for point in points]))
    if cells is None:
        return Shown(
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
    more = "Other numbers of topics, of repeated counts and of joined documents, started from the form, fill the map."
    paths = tuple(one.moment.path for one in points)
    return Shown(paragraph(f"{advice} {more}"), picture, "", paths)


@lru_cache(maxsize=1024)
def _progress(point: Point) -> xr.Dataset:
    """Return the recorded iterations of a run."""
    return Run(point.moment.path).progress().load()


@lru_cache(maxsize=16)
def _pooled(reference: tuple[Point, ...]) -> list[Pooled]:
    """Return the pooled predictions of the reference chains; empty before each chain has an average."""
    try:
        return [pool_chains([point.moment.path for point in reference])]
    except InputError:
        return []


def _advice(table: xr.Dataset, clock: str, n_short: int) -> str:
    """Return as HTML the settings that no other dominates, and the precision of the reference."""
    efficient = table[f"efficient_{clock}"].values
    front = "; ".join(np.array(names_of_settings(table))[efficient])
    n, error = int(table["n_reference"].min()), table.attrs["reference_se"]
    within = int((table["distance"] <= error).sum())
    how = "together" if table["pooled"].values.all() else "each for itself"
    sentences = [
        f"The reference: {n} chains of cgs, {how} with a log perplexity of {float(table['reference'].mean()):.4f} "
        f"± {error:.4f} nats per token."
    ]
    if within:
        sentences.append(f"{within} of {table.sizes['label']} settings are within this error.")
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
        one = table.sel(label=label)
        rows.append(
            [
                Markup('<span title="{}">{}</span>').format(label, name),
                *(float(one[name]) for name in ("n_runs", "updates", "cpu_time")),
                format_with_error(float(one["distance"]), float(one["distance_se"]), 4),
                float(one["difference"]),
                format_with_error(float(one["jitter"]), float(one["jitter_se"]), 4),
            ]
        )
        marks.append(MARK if one[f"efficient_{clock}"] else {})
    return Table(COLUMNS, rows, "settings by cost").html(marks)
