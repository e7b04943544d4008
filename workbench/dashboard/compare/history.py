"""Cards on the history of runs: topics split and merged, learnt priors, the gap to Gibbs sampling, warm starts."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from workbench.dashboard.compare.looking import Looked, begun
from workbench.dashboard.shared.card import Shown, by_label_html
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import message
from workbench.engines import REFERENCE
from workbench.measures import describe_moves, moves
from workbench.measures.matching import edges_of
from workbench.runs.spec import RunSpec
from workbench.tables import Table, numbers, texts
from workbench.views.every import draw_view, view_named
from workbench.views.lineage import lineage_picture

NO_REFERENCE = (
    f"Draw a finished run of {REFERENCE} with the same data, K and priors: then this card divides the "
    "distance of each variational engine from it into what its start, its approximation and the average over states do. "
    "Runs from several starts, as init=dirichlet and smooth, tell what the start does."
)


@lru_cache(maxsize=8)
def moves_of(runs: Looked) -> Shown:
    """Return a run's splits and merges of topics, latest first, as picture and table, and how many were accepted."""
    for run, _, progress in begun(runs):
        tried = moves(progress)
        columns = [
            *numbers("Iteration"),
            *texts("Move", "Topics"),
            *numbers("Bound, nats"),
            *texts("Became"),
        ]
        rows = [
            (one.iteration, one.kind, f"{one.giver} → {one.taker}", one.gain_text, one.outcome)
            for one in reversed(tried)
        ]
        table = Table(columns, rows, f"moves of {run.name}")
        html = table.html(
            [{"class": "kept" if one.accepted else "back"} for one in reversed(tried)]
        )
        said = message(f"{run.name}: {describe_moves(tried)}. The latest is on top.")
        (picture,) = draw_view("moves", [progress])
        return Shown(said, picture, html, (run.path,))
    return Shown()


@lru_cache(maxsize=8)
def priors_of(runs: Looked) -> Shown:
    """Return the picture of the priors of topics that the runs learn; no picture if no run learns them."""
    datasets = [progress for *_, progress in begun(runs)]
    picture = next(iter(draw_view("alphas", datasets)), None) if datasets else None
    return Shown("", picture, "", tuple(path for path, _ in runs))


@lru_cache(maxsize=8)
def gap_of(runs: Looked) -> Shown:
    """Return the picture of `measures.gap`, or a sentence on the run that it lacks; empty if no run records a bound."""
    datasets = [progress for *_, progress in begun(runs)]
    if not any("bound" in run and "test_perplexity" in run for run in datasets):
        return Shown()
    picture = next(iter(draw_view("gap", datasets)), None)
    said = "" if picture else message(NO_REFERENCE)
    return Shown(said, picture, "", tuple(path for path, _ in runs))


def family_of(readings: Iterable[Reading]) -> tuple[tuple[Path, RunSpec], ...]:
    """Return path and spec of each run that began from another, or another from it, oldest first; of runs newest first."""
    known = {one.name: one for one in readings if one.spec is not None}
    edges = edges_of([(name, one.spec) for name, one in reversed(known.items())])
    related = {name for edge in edges for name in (edge.run, edge.parent)}
    return tuple(
        (known[name].path, known[name].spec) for name in reversed(known) if name in related
    )


def lineage_of(family: tuple[tuple[Path, RunSpec], ...]) -> Shown:
    """Return the tree of which of these runs started from which, as picture and table; empty if all started at random."""
    if not family:
        return Shown()
    by_name = {path.name: spec for path, spec in family}
    edges = edges_of(list(by_name.items()))
    rows = [(by_name[edge.run].label(), edge.run, edge.parent, edge.iteration) for edge in edges]
    columns = [*texts("Engine and options", "Run", "Began from"), *numbers("At iteration")]
    html = by_label_html(Table(columns, rows, "warm starts"))
    picture = lineage_picture(view_named("lineage"), by_name)
    return Shown("", picture, html, tuple(path for path, _ in family))
