"""The live figure and its card, without a browser: curves of runs, and of means over seeds."""

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.models import LinearScale, LogScale, LogTicker

from workbench.dashboard.compare.charts import AXES, MEASURES
from workbench.dashboard.compare.curve import N_SLOTS, Curve
from workbench.dashboard.compare.figure_card import FigureCard
from workbench.dashboard.compare.grouping import GROUPINGS, Mean, distinct_labels, mean_lines
from workbench.dashboard.compare.live_strip import LiveStrip
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.measures import mean_curves
from workbench.measures.curves import smoothed
from workbench.runs.execution.run import open_run
from workbench.views.elements import GREY, look_of


def shown(curve, *readings):
    curve.assign([reading.name for reading in readings])
    curve.show({reading.name: reading for reading in readings})


def seen(slot, *key) -> bool:
    """Whether a part of a slot is made and visible."""
    return key in slot.parts and slot.parts[key].visible


def points(curve, name: str):
    """The points of the figure that have this name."""
    return next(
        renderer for renderer in curve.figure.renderers if renderer.data_source.name == name
    )


def below(numbers, column: str):
    """The numbers with this column below 0."""
    return np.where(np.array(COLUMNS) == column, -numbers, numbers)


def in_legend(curve) -> list[bool]:
    return [item.visible for item in curve.figure.legend[0].items]


@pytest.fixture
def curve():
    return Curve()


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("measure", MEASURES)
def test_axis_and_measure_choose_the_columns_and_their_labels(curve, axis, measure, reading_of):
    shown(curve, reading_of())
    curve.axis, curve.measure = axis, measure
    curve.draw()
    columns, label = MEASURES[measure]
    line = curve.slots[0].parts["line", 0].glyph
    assert (line.x, line.y) == (AXES[axis][0], columns[0])
    assert seen(curve.slots[0], "line", 1) == (measure == "both")
    assert (curve.figure.xaxis[0].axis_label, curve.figure.yaxis[0].axis_label) == (
        AXES[axis][1],
        label,
    )
    drawn = np.concatenate([curve.slots[0].source.data[column] for column in columns])
    assert curve.figure.y_range.start < drawn.min() and drawn.max() < curve.figure.y_range.end
    assert curve.figure.x_range.end > curve.slots[0].source.data[AXES[axis][0]][-1]


def test_the_tooltip_says_where_a_run_began(reading_of):
    curve = Curve()
    shown(curve, reading_of("a"), reading_of("b", start={"name": "parent", "iteration": 3}))
    told = [slot.parts["points", 0].name for slot in curve.slots[:2]]
    assert [name.partition(", from ")[2] for name in told] == ["", "the counts of parent"]


def test_a_run_has_the_colour_of_its_engine_whatever_else_is_drawn(reading_of):
    runs = [
        reading_of("a", label="cgs"),
        reading_of("b", label="svb-cgs r=1"),
        reading_of("c", label="cvb"),
        reading_of("d", label="cv-hdp"),
        reading_of("e", label="svb-cgs r=2"),
        reading_of("f", label="made-up"),
    ]
    wanted = {"a": "cgs", "b": "svb-cgs", "c": "cvb", "d": "cv-hdp", "e": "svb-cgs"}
    wanted = {name: look_of(engine).colour for name, engine in wanted.items()} | {"f": GREY}
    for some in (runs, runs[::-1], runs[2:4], runs[1:2], runs[3:]):
        curve = Curve()
        shown(curve, *some)
        assert curve.colours() == {run.name: wanted[run.name] for run in some}
        for slot, run in zip(curve.slots, some, strict=False):
            assert slot.parts["line", 0].glyph.line_color == wanted[run.name]


def test_all_parts_of_a_mean_have_the_colour_of_its_engine(curve, reading_of):
    curve.measure, curve.smoothing = "both", 0.5
    for engine in ("cgs", "cvb"):  # the second finds the parts of the first
        means(curve, *(reading_of(name, label=engine, seed=at) for at, name in enumerate("ab")))
        (slot,) = curve.slots
        colours = {
            (kind, at): part.glyph.fill_color if kind == "band" else part.glyph.line_color
            for (kind, at), part in slot.parts.items()
            if kind != "points"
        }
        parts = [(kind, at) for kind in ("band", "line", "raw") for at in (0, 1)]
        assert colours == dict.fromkeys(parts, look_of(engine).colour)
        assert all(seen(slot, *part) for part in parts)


def test_a_slot_with_another_run_holds_nothing_of_the_old_one(curve, reading_of):
    shown(curve, reading_of("old", 9))
    shown(curve, reading_of("new", 2))
    assert len(curve.slots[0].source.data["iteration"]) == 2
    assert in_legend(curve) == [True]
    shown(curve)
    assert not any(seen(slot, "line", 0) for slot in curve.slots)
    assert not any(in_legend(curve))


def test_an_axis_becomes_logarithmic_where_all_is_above_0_and_linear_again(curve, reading_of):
    shown(curve, reading_of(n_points=100))
    parts = len(curve.figure.references())
    curve.log = ["x", "y"]
    curve.draw()
    assert isinstance(curve.figure.x_scale, LogScale) and isinstance(curve.figure.y_scale, LogScale)
    assert (
        isinstance(curve.figure.xaxis[0].ticker, LogTicker)
        and len(curve.figure.references()) == parts
    )
    drawn = curve.slots[0].source.data
    assert 0 < curve.figure.x_range.start < 1 and curve.figure.x_range.end > 100
    values = drawn["test_perplexity"]
    assert 0 < curve.figure.y_range.start < values[0] < values[-1] < curve.figure.y_range.end
    assert curve.seen().log == ("x", "y") and curve.refused() == []
    curve.log = []
    curve.draw()
    for scale in (curve.figure.x_scale, curve.figure.y_scale):
        assert isinstance(scale, LinearScale)
    assert curve.figure.x_range.start == 0


def test_an_axis_with_a_number_below_0_stays_linear_and_a_range_moved_by_hand_goes_with_the_scale(
    reading_of,
):
    curve, reading = Curve(), reading_of(n_points=5)
    curve.measure = "bound"
    shown(curve, reading._replace(numbers=below(reading.numbers, "bound_per_token")))
    curve.figure.y_range.end = 500.0
    curve.log = ["y"]
    curve.draw()
    assert (
        curve.refused() == ["y"]
        and isinstance(curve.figure.y_scale, LinearScale)
        and curve.figure.y_range.end == 500
    )
    shown(curve, reading_of("another", n_points=5))
    assert curve.refused() == [] and curve.figure.y_range.start > 0
    empty = Curve()
    empty.log = ["x", "y"]
    empty.draw()
    assert (
        0 < empty.figure.x_range.start < empty.figure.x_range.end and empty.figure.y_range.start > 0
    )


def test_a_range_moved_by_hand_stays_until_it_is_reset(curve, reading_of):
    shown(curve, reading_of(n_points=5))
    curve.figure.x_range.end = 3.0
    shown(curve, reading_of(n_points=9))
    assert curve.figure.x_range.end == 3.0
    curve.follow()
    assert curve.figure.x_range.end > 9


def test_no_finite_value_is_no_error(curve, reading_of):
    empty = reading_of(n_points=3)
    shown(curve, empty._replace(numbers=np.full_like(empty.numbers, np.nan)))
    assert np.isfinite(
        [curve.figure.x_range.end, curve.figure.y_range.start, curve.figure.y_range.end]
    ).all()


def test_labels_say_what_tells_the_runs_apart_and_no_more(reading_of):
    one, other = reading_of("a", label="cgs"), reading_of("b")
    assert distinct_labels([one, other]) == {"a": "cgs", "b": "svb"}
    assert distinct_labels([one, reading_of("c", label="cgs", n_topics=20)]) == {
        "a": "cgs, K=10",
        "c": "cgs, K=20",
    }
    seeds = distinct_labels([one, reading_of("d", label="cgs", seed=3)])
    assert seeds == {"a": "cgs, seed 0", "d": "cgs, seed 3"}
    same = distinct_labels([one, reading_of("e", label="cgs")])
    assert same == {"a": "cgs, seed 0, a", "e": "cgs, seed 0, e"}


def means(curve, *readings):
    curve.assign_lines(mean_lines(list(readings)))
    curve.show({reading.name: reading for reading in readings})


def test_a_mean_has_a_band_of_one_standard_error_and_only_new_rows_are_sent(
    reading_of, monkeypatch
):
    curve, streamed = Curve(), []
    runs = lambda n_points: [reading_of("a", n_points), reading_of("b", n_points, seed=1)]  # noqa: E731
    before = runs(5)
    before[1].numbers[:, COLUMNS.index("test_perplexity")] += 2.0
    means(curve, *before)
    slot = curve.slots[0]
    y = before[0].numbers[:, COLUMNS.index("test_perplexity")] + 1
    np.testing.assert_allclose(slot.source.data["test_perplexity"], y)
    # 2 runs, 2 apart
    np.testing.assert_allclose([slot.source.data[name] for name in ("low", "high")], [y - 1, y + 1])
    assert [part for part, _ in slot.parts if seen(slot, part, 0)] == ["line", "points", "band"]
    stream = slot.source.stream
    monkeypatch.setattr(
        type(slot.source),
        "stream",
        lambda self, new: streamed.append(len(new["low"])) or stream(new),
    )
    means(curve, *runs(8))
    means(curve, *runs(8))
    assert streamed == [3]
    shown(curve, *runs(8))
    assert not seen(slot, "band", 0)
    assert [list(slot.line.names) for slot in curve.slots] == [["b"], ["a"]]


def test_smoothing_draws_a_smooth_line_over_what_was_recorded_and_keeps_doing_so(reading_of):
    curve, weight = Curve(), 0.7
    shown(curve, reading_of(n_points=5))
    slot = curve.slots[0]
    parts, data = slot.parts, slot.source.data
    curve.smoothing = weight
    curve.draw()
    assert seen(slot, "raw", 0)
    assert (parts["raw", 0].glyph.y, parts["line", 0].glyph.y) == ("test_perplexity", "line")
    assert parts["raw", 0].glyph.line_alpha < 0.5
    shown(curve, reading_of(n_points=9))
    np.testing.assert_allclose(data["line"], smoothed(reading_of(n_points=9).numbers[:, 4], weight))
    curve.measure = "both"
    curve.draw()
    assert parts["line", 1].glyph.y == "line_2"
    np.testing.assert_allclose(
        data["line_2"], smoothed(reading_of(n_points=9).numbers[:, 6], weight)
    )
    curve.smoothing, curve.measure = 0.0, "headline"
    curve.draw()
    assert not seen(slot, "raw", 0) and parts["line", 0].glyph.y == "test_perplexity"


def test_a_line_lies_at_the_perplexity_that_all_reach_and_marks_say_where_each_does(reading_of):
    curve, low, high = Curve(), reading_of("low"), reading_of("high")
    at = COLUMNS.index("test_perplexity")
    low.numbers[:, at], high.numbers[:, at] = [90, 70, 50, 40, 30], [99, 90, 80.34, 70.26, 81]
    shown(curve, low, high, reading_of("new", n_points=0))
    across, crossings = curve.figure.select_one({"name": "target"}), points(curve, "crossings")
    assert across.visible and across.location == curve.target() == 70.3
    marked = crossings.data_source.data
    assert (list(marked["iteration"]), list(marked["test_perplexity"])) == (
        [2.0, 4.0],
        [70.0, 70.26],
    )
    assert marked["colour"] == [curve.colours()["low"], curve.colours()["high"]]
    curve.until, curve.axis = 45.0, "seconds"
    curve.draw()
    assert across.location == 45.0 and list(crossings.data_source.data["iteration"]) == [4.0]
    assert crossings.glyph.x == "elapsed" and curve.seen().target == 45.0
    curve.until = 0
    curve.draw()
    assert not across.visible and not crossings.visible and curve.seen().target is None
    curve.until, curve.measure = None, "bound"
    curve.draw()
    assert not across.visible


def test_a_tick_without_anything_new_sends_nothing(reading_of):
    curve, sent = Curve(), []
    curve.smoothing = 0.5
    document = Document()
    document.add_root(curve.figure)
    readings = [reading_of(f"run-{at}", n_points=30) for at in range(N_SLOTS)]
    shown(curve, *readings)
    document.on_change(sent.append)
    shown(curve, *readings)
    assert sent == []
    shown(
        curve,
        readings[0]._replace(
            numbers=np.concatenate([readings[0].numbers, readings[0].numbers[-1:]])
        ),
        *readings[1:],
    )
    assert {type(event).__name__ for event in sent} <= {
        "ColumnsStreamedEvent",
        "ModelChangedEvent",
    } and len(sent) < 4


def test_an_imported_model_is_a_level_across_the_figure_and_no_curve(reading_of):
    curve, column = Curve(), COLUMNS.index("test_perplexity")
    ours = reading_of("ours", n_points=8)
    theirs = reading_of("theirs", n_points=1, label="gensim-lda", course=False)
    theirs.numbers[0, [COLUMNS.index(name) for name in ("elapsed", "updates", "steps")]] = np.nan
    theirs.numbers[0, column] = 4 * ours.numbers[:, column].max()
    shown(curve, ours, theirs)
    level = curve.slots[1].parts["level", 0]
    assert ("level", 0) not in curve.slots[0].parts and level.visible and curve.has_levels()
    assert level.data_source.data[level.glyph.y][0] == theirs.numbers[0, column]
    assert level.glyph.line_color == look_of("gensim-lda").colour
    assert curve.figure.y_range.end > theirs.numbers[0, column]
    curve.axis = "seconds"
    curve.draw()
    assert level.visible and np.isfinite(curve.figure.x_range.end)
    curve.measure = "bound"
    theirs.numbers[0, COLUMNS.index("bound_per_token")] = np.nan
    curve.draw()
    assert not level.visible


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
    assert len(card.compared_runs().runs) == 200 and "left out" not in card.meaning.object
    card.picked = None
    card.show(readable)
    names = [path.name for path, *_ in card.compared_runs().runs]
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
