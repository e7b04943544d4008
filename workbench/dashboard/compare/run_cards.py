"""Cards of the Compare page on what several runs recorded: how their chains and topics agree, the gap to Gibbs sampling, learnt
priors, splits and merges of topics, warm starts. Runs are given with their last iterations, as a key of caches.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path

import xarray as xr

from workbench.dashboard.shared.card import Card, CardContent, by_label_html
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import message
from workbench.engines import REFERENCE
from workbench.measures import describe_moves, moves
from workbench.measures.convergence import ESS_OF_CHAIN, R_HAT_LIMIT, agreement
from workbench.measures.matching import edges_of
from workbench.runs.execution.run import Run
from workbench.runs.spec import RunSpec
from workbench.runs.store.edition import FILE as EDITION
from workbench.runs.store.places import is_run
from workbench.runs.store.status import ALIVE, stamp
from workbench.tables import Column, Table, numbers, texts
from workbench.views.convergence import draws_by_label
from workbench.views.elements import dimension
from workbench.views.every import draw_view, view_named
from workbench.views.lineage import lineage_picture

LIVE_EVERY = 15
"""Seconds between two readings of active runs; sessions that show the same runs share a reading."""
RunIterations = tuple[tuple[Path, int], ...]
"""(path, iteration) of each run; for an active run -1 - n, with a new n when it is to be read again."""
NO_REFERENCE = (
    f"Draw a finished run of {REFERENCE} with the same data, K and priors: then this card divides the "
    "distance of each variational engine from it into what its start, its approximation and the average over states do. "
    "Runs from several starts, as init=dirichlet and smooth, tell what the start does."
)
OF_CHAINS = (
    Column(
        "Engine and options",
        meaning="settings in which the runs differ; runs that differ only in their seeds are chains",
    ),
    *numbers("Chains", meaning="how many runs"),
    *numbers("Draws", meaning="recorded iterations of each after burn-in"),
    *numbers(
        "R-hat",
        digits=3,
        meaning="how much wider all chains together are than each, the largest of what was recorded; one chain has none",
    ),
    Column("Worst", meaning="the quantity with this R-hat; of one chain, with the fewest samples"),
    *numbers(
        "Effective, bulk",
        meaning="effective samples of all chains in the bulk of the distribution; the smallest",
    ),
    *numbers(
        "Effective, tails", meaning="effective samples at its quantiles of 5 and 95 %; the smallest"
    ),
)
OF_ONE = "To see another engine, draw its runs alone."
ABOUT_CHAINS = message(
    f"Draws are commonly used where R-hat is below {R_HAT_LIMIT} and there are {ESS_OF_CHAIN} effective samples a chain. A "
    "chain by itself cannot tell that another start would end elsewhere. Topics have other numbers in each chain, so only "
    "what does not depend on these is compared."
)


def run_iterations(readings: Iterable[Reading]) -> RunIterations:
    """Return (path, last iteration) of each run, sorted by path; for active runs a number below 0 that changes in time."""
    window = int(time.monotonic() // LIVE_EVERY)
    return tuple(
        sorted(
            (reading.path, -1 - window if reading.state in ALIVE else int(reading.latest[0]))
            for reading in readings
        )
    )


def begun_runs(runs: RunIterations) -> Iterator[tuple[Run, int, xr.Dataset]]:
    """Yield run, last iteration and records of each run that has an iteration and still exists."""
    for path, iteration in runs:
        try:
            run = Run(path)
            progress = run.progress()
        except Exception:
            if is_run(path):
                raise
            continue  # it was removed after it was listed
        if progress.sizes["iteration"]:
            yield run, iteration, progress


class RunsCard(Card):
    """A card about runs, whose content ``content_of`` returns for the runs given to `follow`; hidden while that is empty."""

    def __init__(
        self, heading: str, handover: Handover, content_of: Callable[[tuple], CardContent]
    ):
        super().__init__(heading, handover, hides=True)
        self._content_of = content_of

    def follow(self, runs: tuple) -> None:
        """Show these runs; compute the content in the background, unless the last request was the same."""
        self.bring(runs, partial(self._content_of, runs))


@lru_cache(maxsize=32)
def convergence_of(runs: RunIterations) -> CardContent:
    """Return a table of R-hat and effective sample sizes by label, and a picture of ranks of draws by chain."""
    datasets, rows = [progress for *_, progress in begun_runs(runs)], []
    for label, draws in draws_by_label(datasets).items() if datasets else ():
        if diagnostics := agreement(draws):
            n, alone = draws.sizes["chain"], draws.sizes["chain"] == 1
            worst = max(
                diagnostics,
                key=lambda name: -diagnostics[name][1] if alone else diagnostics[name][0],
            )
            r_hats, bulk, tails = zip(*diagnostics.values(), strict=True)
            r_hat = None if alone else max(r_hats)
            rows.append(
                (label, n, draws.sizes["draw"], r_hat, quantity_label(worst), min(bulk), min(tails))
            )
    if not rows:
        return CardContent()
    return CardContent(
        ABOUT_CHAINS,
        next(iter(draw_view("convergence", datasets)), None),
        by_label_html(Table(OF_CHAINS, rows, "convergence of chains")),
        tuple(path for path, _ in runs),
    )


def quantity_label(quantity: str) -> str:
    """Return the label that the page shows for a quantity."""
    return "sizes of the topics" if quantity == "sorted_share" else dimension(quantity).label


def consensus_of(runs: RunIterations) -> CardContent:
    """Return the picture of the topics on which the finished runs of one label agree; empty if no label has several."""
    finished_runs = tuple((path, iteration) for path, iteration in runs if iteration >= 0)
    return _consensus_of(finished_runs, tuple(stamp(path / EDITION) for path, _ in finished_runs))


@lru_cache(maxsize=8)
def _consensus_of(runs: RunIterations, editions: tuple[tuple[int, int], ...]) -> CardContent:
    datasets = [run.edited() for run, *_ in begun_runs(runs)]
    pictures = draw_view("consensus", datasets, 1) if datasets else []
    if not pictures:
        return CardContent()
    sentence = message(f"{pictures[0].title}. {OF_ONE}" if len(pictures) > 1 else "")
    return CardContent(sentence, pictures[0], "", tuple(path for path, _ in runs))


@lru_cache(maxsize=8)
def moves_of(runs: RunIterations) -> CardContent:
    """Return a run's splits and merges of topics, latest first, as picture and table, and how many were accepted."""
    for run, _, progress in begun_runs(runs):
        all_moves = moves(progress)
        columns = [
            *numbers("Iteration"),
            *texts("Move", "Topics"),
            *numbers("Bound, nats"),
            *texts("Became"),
        ]
        rows = [
            (
                move.iteration,
                move.kind,
                f"{move.giver} → {move.taker}",
                move.gain_text,
                move.outcome,
            )
            for move in reversed(all_moves)
        ]
        html = Table(columns, rows, f"moves of {run.name}").html(
            [{"class": "kept" if move.accepted else "back"} for move in reversed(all_moves)]
        )
        sentence = message(f"{run.name}: {describe_moves(all_moves)}. The latest is on top.")
        (picture,) = draw_view("moves", [progress])
        return CardContent(sentence, picture, html, (run.path,))
    return CardContent()


@lru_cache(maxsize=8)
def priors_of(runs: RunIterations) -> CardContent:
    """Return the picture of the priors of topics that the runs learn; no picture if no run learns them."""
    datasets = [progress for *_, progress in begun_runs(runs)]
    picture = next(iter(draw_view("alphas", datasets)), None) if datasets else None
    return CardContent("", picture, "", tuple(path for path, _ in runs))


@lru_cache(maxsize=8)
def gap_of(runs: RunIterations) -> CardContent:
    """Return the picture of `measures.gap`, or a sentence on the missing reference run; empty if no run has a bound."""
    datasets = [progress for *_, progress in begun_runs(runs)]
    if not any("bound" in run and "test_perplexity" in run for run in datasets):
        return CardContent()
    picture = next(iter(draw_view("gap", datasets)), None)
    return CardContent(
        "" if picture else message(NO_REFERENCE), picture, "", tuple(path for path, _ in runs)
    )


def family_of(readings: Iterable[Reading]) -> tuple[tuple[Path, RunSpec], ...]:
    """Return path and spec, oldest first, of each run that began from another run or from which another began.

    The readings are given newest first.
    """
    readings_by_name = {reading.name: reading for reading in readings if reading.spec is not None}
    edges = edges_of([(name, reading.spec) for name, reading in reversed(readings_by_name.items())])
    family_names = {name for edge in edges for name in (edge.run, edge.parent)}
    return tuple(
        (readings_by_name[name].path, readings_by_name[name].spec)
        for name in reversed(readings_by_name)
        if name in family_names
    )


def lineage_of(family: tuple[tuple[Path, RunSpec], ...]) -> CardContent:
    """Return the tree of which of these runs started from which, as picture and table; empty if all started at random."""
    if not family:
        return CardContent()
    by_name = {path.name: spec for path, spec in family}
    edges = edges_of(list(by_name.items()))
    rows = [(by_name[edge.run].label(), edge.run, edge.parent, edge.iteration) for edge in edges]
    columns = [*texts("Engine and options", "Run", "Began from"), *numbers("At iteration")]
    return CardContent(
        "",
        lineage_picture(view_named("lineage"), by_name),
        by_label_html(Table(columns, rows, "warm starts")),
        tuple(path for path, _ in family),
    )
