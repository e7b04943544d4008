"""Means over seeds, live."""

import numpy as np
import pytest

from workbench.dashboard.compare.curve import Curve
from workbench.dashboard.compare.figure_card import FigureCard
from workbench.dashboard.compare.grouping import GROUPINGS, Mean, mean_lines
from workbench.dashboard.compare.live_strip import LiveStrip
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.measures import mean_curves
from workbench.runs.execution.run import open_run


def upto(reading, n_points):
    return reading._replace(numbers=reading.numbers[:n_points])


@pytest.mark.parametrize("measure", ["test_perplexity", "test_perplexity_state", "bound_per_token"])
def test_the_live_mean_and_its_error_are_those_of_the_measure(measure, new_run):
    names = {engine: [f"{engine}-{seed}" for seed in range(3)] for engine in ("svb", "cvb")}
    paths = [
        new_run(name, engine, n_iterations=12 + seed, seed=seed)
        for engine, own in names.items()
        for seed, name in enumerate(own)
    ]
    readings = RunMonitor(paths[0].parent).look().readings
    lines, curves = (
        mean_lines(list(readings)),
        mean_curves([open_run(path) for path in paths], measure, "elapsed"),
    )
    assert {line.label for line in lines} == {
        f"{curve.label} · mean of 3" for curve in curves
    } and len(curves) == 2
    known = {reading.name: reading for reading in readings}
    for line in lines:
        (curve,) = [curve for curve in curves if line.label.startswith(f"{curve.label} ·")]
        live, at = Mean(), COLUMNS.index(measure)
        for n_points in (2, 7, 12, 20):  # as rows stream, and not all runs as fast
            live.follow(
                [upto(known[name], n_points - (seed == 1)) for seed, name in enumerate(line.names)]
            )
        np.testing.assert_allclose(live.numbers[:, COLUMNS.index("elapsed")], curve.x, rtol=1e-12)
        np.testing.assert_allclose(live.numbers[:, at], curve.y, rtol=1e-12)
        np.testing.assert_allclose(live.errors[:, at], curve.error, rtol=1e-9, atol=1e-12)


def test_runs_that_only_the_seed_tells_apart_are_one_line_and_keep_their_slot_as_more_come(
    reading_of,
):
    first, other = reading_of("a", label="cgs"), reading_of("k", label="cgs", n_topics=20)
    curve, later = Curve(), reading_of("b", label="cgs", seed=1)
    curve.assign_lines(mean_lines([other, first]))
    assert [list(slot.line.names) for slot in curve.slots] == [["k"], ["a"]]
    curve.assign_lines(mean_lines([later, other, first]))
    assert [list(slot.line.names) for slot in curve.slots] == [["k"], ["b", "a"]]


def test_all_that_is_chosen_is_compared_and_of_the_newest_whole_groups(reading_of):
    card = FigureCard(Handover(), LiveStrip(print))
    readable = {
        f"{k}-{seed}": reading_of(f"{k}-{seed}", n_topics=k, seed=seed)
        for k in range(1, 41)
        for seed in range(5)
    }
    card.lines.value = GROUPINGS[1]
    card.picked = list(readable)
    card.show(readable)
    assert len(card.compared().runs) == 200 and "left out" not in card.meaning.object
    card.picked = None
    card.show(readable)
    names = [path.name for path, *_ in card.compared().runs]
    assert len(names) == 60 and {name.split("-")[0] for name in names} == set(
        map(str, range(1, 13))
    )
    assert "140 older ones are left out" in card.meaning.object


def test_a_run_without_a_row_is_no_part_of_a_mean_until_it_has_one(reading_of):
    live, begun, waiting = Mean(), reading_of("a"), reading_of("b", n_points=0, seed=1)
    live.follow([begun, waiting])
    assert live.numbers is begun.numbers and not len(live.errors)
    live.follow([begun, reading_of("b", n_points=2, seed=1)])
    assert len(live.numbers) == len(live.errors) == 2
    live.follow([])
    assert not len(live.numbers)
