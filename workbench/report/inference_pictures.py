"""Figures of what runs learn beside their topics: priors, how many topics, splits and merges; and of where they began."""

from __future__ import annotations

import xarray as xr

from workbench.measures import DERIVED, TOPIC_NUMBERS, lineage, moves, quantity, runs_by_curve, spec_of
from workbench.measures import against_topics as curves_against_topics
from workbench.models import VARIABLES
from workbench.report.picture import Picture, band_told, by_label, records, shown_of
from workbench.views import (
    against_topics,
    concentration_curves,
    concentrations_of,
    lineage_height,
    lineage_view,
    move_curve,
    topic_number_curves,
    topic_size_curves,
)
from workbench.views.curves import SHORT
from workbench.views.style import looks

WORTH = ("log_likelihood", "bound_per_token")
"""What is drawn against the number of topics."""


def inference_pictures(runs: list[xr.Dataset]) -> list[Picture]:
    """Those of the figures that the runs have something for."""
    found = []
    if len({spec_of(run).model["n_topics"] for run in runs}) > 1:
        found += _against_topics(runs)
    if any("n_active_topics" in run for run in runs):
        found.append(_numbers(runs))
    if names := concentrations_of(runs):
        found.append(_concentrations(runs, names))
    if learning := {label: own for label, own in by_label(runs).items() if "alpha" in own[0]}:
        found.append(_alphas(runs, learning))
    return [*found, *move_pictures(runs), *lineage_pictures(runs)]


def _against_topics(runs: list[xr.Dataset]) -> list[Picture]:
    drawn = {name: curves for name in WORTH if (curves := curves_against_topics(runs, name))}
    if not any(len(curve.x) > 1 for curves in drawn.values() for curve in curves):
        return []
    meanings = "; ".join(f"{SHORT[name]}: {DERIVED[name].meaning} ({DERIVED[name].unit})" for name in drawn)
    rows = [
        [label, run.attrs["name"], spec_of(run).seed, spec_of(run).model["n_topics"],
         float(quantity(run, "n_active_topics").values[-1]), *(_last(run, name) for name in WORTH)]
        for label, own in runs_by_curve(runs).items() for run in own
    ]
    return [Picture(
        "against-topics", "Against the number of topics",
        f"{meanings[0].upper()}{meanings[1:]}. At the last iteration of each run, against the number of topics that was asked "
        "for; samplers of the HDP, which find it, stand at their mean number of topics with a token after burn-in. Marks are "
        "means over runs, with one standard error to either side.",
        [against_topics(runs, name) for name in drawn],
        ["label", "run", "seed", "topics asked for", "n_active_topics", *WORTH], rows,
    )]


def _last(run: xr.Dataset, name: str) -> float | str:
    values = quantity(run, name)
    return "" if values is None else float(values.values[-1])


def _numbers(runs: list[xr.Dataset]) -> Picture:
    meanings = "; ".join(VARIABLES[name].meaning for name in TOPIC_NUMBERS)
    return Picture(
        "topic-numbers", "Number of topics",
        f"How many topics there are over the iterations, by three definitions, in this order: {meanings}."
        f"{band_told(runs)}",
        [topic_number_curves(runs, name) for name in TOPIC_NUMBERS],
        *records(runs, TOPIC_NUMBERS),
    )


def _concentrations(runs: list[xr.Dataset], names: list[str]) -> Picture:
    meanings = "; ".join(f"{SHORT[name]}: {VARIABLES[name].meaning}" for name in names)
    return Picture(
        "hyperparameters", "Hyperparameters that are learnt",
        f"Over the iterations, of the runs that learn them: the mean of the posterior, the maximum, or the sample. "
        f"{meanings[0].upper()}{meanings[1:]}.{band_told(runs)}",
        [concentration_curves(runs, name) for name in names],
        *records(runs, names),
    )


def _alphas(runs: list[xr.Dataset], learning: dict[str, list[xr.Dataset]]) -> Picture:
    style, (shown, left_out) = looks(by_label(runs)), shown_of(learning)
    rows = [
        [label, own[0].attrs["name"], spec_of(own[0]).seed, int(iteration), topic, float(value)]
        for label, own in learning.items()
        for iteration, values in zip(own[0]["iteration"].values, own[0]["alpha"].values, strict=True)
        for topic, value in zip(own[0]["topic"].values.tolist(), values, strict=True)
    ]
    return Picture(
        "alphas", "Prior of each topic",
        "The learnt prior alpha of each topic in a document over the iterations, a line for each topic, the finally largest "
        f"topic strongest; one run of each label.{left_out}",
        [topic_size_curves(own[0], style[label].colour, label, "alpha") for label, own in shown.items()],
        ["label", "run", "seed", "iteration", "topic", "alpha"], rows, legend=False,
        runs=[own[0] for own in learning.values()],
    )


def lineage_pictures(runs: list[xr.Dataset]) -> list[Picture]:
    """The tree of the runs that began from others; nothing where none did."""
    if not (edges := lineage(runs)):
        return []
    related = {name for edge in edges for name in (edge.run, edge.parent)}
    return [Picture(
        "lineage", "Which run began from which",
        "Each run that began from the counts of another one, below and to the right of it, with the iteration whose counts "
        "it took.",
        [lineage_view(runs)], ["run", "parent", "hash", "iteration", "dropped"],
        [[edge.run, edge.parent, edge.hash, edge.iteration, edge.dropped] for edge in edges], legend=False,
        height=lineage_height(runs), runs=[run for run in runs if run.attrs["name"] in related],
    )]


def move_pictures(runs: list[xr.Dataset]) -> list[Picture]:
    """The bound with what was tried, a panel for each label; nothing where no run tried a move."""
    moving = {label: own for label, own in by_label(runs).items() if any(moves(run) for run in own)}
    if not moving:
        return []
    style, (shown, left_out) = looks(by_label(runs)), shown_of(moving)
    first = {label: next(run for run in own if moves(run)) for label, own in shown.items()}
    rows = [
        [label, run.attrs["name"], spec_of(run).seed, move.iteration, move.kind, move.giver, move.taker, move.gain,
         int(move.accepted)]
        for label, own in moving.items() for run in own for move in moves(run)
    ]
    return [Picture(
        "moves", "Splits and merges",
        "The bound for each training token (nats) of one run of each label, with what was tried after an iteration: triangles "
        f"up are splits that were kept, triangles down merges that were kept, crosses moves that were taken back.{left_out}",
        [move_curve(run, style[label].colour, label) for label, run in first.items()],
        ["label", "run", "seed", "iteration", "move", "from", "to", "gain", "kept"], rows, legend=False,
        runs=[run for own in moving.values() for run in own],
    )]
