"""The live figure, without a browser."""

import numpy as np
import pytest

from workbench.dashboard.charts import AXES, BY_TOPIC, CHARTS, MARKED, MEASURES
from workbench.dashboard.curve import COLOURS, N_SLOTS, Curve
from workbench.dashboard.labels import telling_labels
from workbench.dashboard.numbers import COLUMNS
from workbench.measures import Move


def shown(curve, *readings):
    curve.assign([reading.name for reading in readings])
    curve.show({reading.name: reading for reading in readings})


def test_rows_that_are_there_already_are_not_sent_again(reading_of, monkeypatch):
    curve, streamed = Curve(), []
    shown(curve, reading_of(n_points=5))
    source = curve.sources[0]
    stream = source.stream
    monkeypatch.setattr(type(source), "stream", lambda self, new: streamed.append(len(new["iteration"])) or stream(new))
    before = source.data
    shown(curve, reading_of(n_points=5))
    assert streamed == [] and source.data is before
    shown(curve, reading_of(n_points=8))
    assert streamed == [3]
    np.testing.assert_array_equal(source.data["iteration"], np.arange(1, 9))


def test_nothing_is_added_to_the_figure_after_it_is_made(reading_of):
    curve = Curve()
    parts = len(curve.figure.renderers), len(curve.figure.legend[0].items), len(curve.figure.references())
    curve.measure, curve.axis, curve.span = "both", "seconds", "close-up"
    shown(curve, *(reading_of(f"run-{at}", label=f"engine {at}") for at in range(N_SLOTS)))
    assert (len(curve.figure.renderers), len(curve.figure.legend[0].items), len(curve.figure.references())) == parts


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("measure", [measure for measure in MEASURES if measure != BY_TOPIC])
def test_axis_and_measure_choose_the_columns_and_their_labels(axis, measure, reading_of):
    curve = Curve()
    shown(curve, reading_of())
    curve.axis, curve.measure = axis, measure
    curve.draw()
    columns, label = MEASURES[measure]
    assert (curve._solid[0].glyph.x, curve._solid[0].glyph.y) == (AXES[axis][0], columns[0])
    assert curve._dashed[0].visible == (measure == "both")
    assert (curve.figure.xaxis[0].axis_label, curve.figure.yaxis[0].axis_label) == (AXES[axis][1], label)
    drawn = np.concatenate([curve.sources[0].data[column] for column in columns])
    assert curve.figure.y_range.start < drawn.min() and drawn.max() < curve.figure.y_range.end
    assert curve.figure.x_range.end > curve.sources[0].data[AXES[axis][0]][-1]


def test_the_dashed_line_is_the_average(reading_of):
    curve = Curve()
    curve.measure = "both"
    shown(curve, reading_of())
    assert (curve._solid[0].glyph.line_dash, curve._dashed[0].glyph.line_dash) == ([], [6, 4])
    assert curve._dashed[0].glyph.y == "test_perplexity_average"
    assert curve._dashed[0].glyph.line_color == curve._solid[0].glyph.line_color


def test_a_run_keeps_its_colour_while_others_come_and_go(reading_of):
    curve = Curve()
    curve.assign(["a", "b", "c"])
    colour = curve.colours()["b"]
    curve.assign(["d", "b"])
    assert curve.colours() == {"b": colour, "d": COLOURS[0]}
    assert len(set(COLOURS)) == N_SLOTS


def test_a_slot_with_another_run_holds_nothing_of_the_old_one(reading_of):
    curve = Curve()
    shown(curve, reading_of("old", 9))
    shown(curve, reading_of("new", 2))
    assert len(curve.sources[0].data["iteration"]) == 2
    assert [item.visible for item in curve._items] == [True] + [False] * (N_SLOTS - 1)
    shown(curve)
    assert not any(line.visible for line in curve._solid)
    assert not any(item.visible for item in curve._items)


@pytest.mark.parametrize("measure", ["bound", "headline", "alpha"])
def test_moves_that_were_kept_are_marked_on_the_curves_that_show_what_they_did(measure, reading_of):
    curve, reading = Curve(), reading_of("moving", n_points=6)
    tried = [Move(2, "split", 0, 1, 3.0, True), Move(4, "merge", 1, 0, -2.0, False), Move(5, "merge", 1, 0, 2.0, True)]
    reading = reading._replace(moves=tuple(tried), marks=reading.numbers[[1, 4]])
    curve.measure = measure
    shown(curve, reading, reading_of("still"))
    marks = curve._marks.data_source.data
    assert (list(marks["iteration"]), marks["marker"]) == ([2.0, 5.0], ["triangle", "inverted_triangle"])
    assert marks["colour"] == [curve.colours()["moving"]] * 2
    np.testing.assert_array_equal(marks["bound_per_token"], reading.numbers[[1, 4], COLUMNS.index("bound_per_token")])
    assert curve._marks.visible == curve.marked() == (measure in MARKED)
    if measure in MARKED:
        assert curve._marks.glyph.y == MEASURES[measure][0][0]
    shown(curve, reading_of("other"))
    assert len(curve._marks.data_source.data["iteration"]) == 0


def test_the_priors_of_topics_are_points_largest_first_and_those_without_a_topic_are_left_out(reading_of):
    curve = Curve()
    curve.measure = BY_TOPIC
    shown(curve, reading_of("learning")._replace(alphas=np.array([0.1, 0.0, 0.7, 0.2])), reading_of("fixed"))
    seen = curve._profile
    assert list(seen.data_source.data["prior"]) == [0.7, 0.2, 0.1] and list(seen.data_source.data["rank"]) == [1, 2, 3]
    assert seen.data_source.data["colour"] == [curve.colours()["learning"]] * 3
    assert seen.visible and not curve._solid[0].visible and not curve._points[0].visible
    assert curve.figure.x_range.end > 3 and curve.figure.y_range.end > 0.7
    curve.measure = "headline"
    curve.draw()
    assert curve._solid[0].visible and not seen.visible


def test_it_is_known_whether_there_is_anything_of_a_measure(reading_of):
    curve, empty = Curve(), reading_of("one")
    assert curve.tells()
    empty.numbers[:, COLUMNS.index("beta")] = np.nan
    shown(curve, empty)
    told = []
    for measure in ("alpha", "beta", BY_TOPIC):
        curve.measure = measure
        told.append(curve.tells())
    assert told == [True, False, False]
    curve.measure = "beta"
    shown(curve, empty, reading_of("two", n_points=3), reading_of("new", n_points=0))
    assert [item.visible for item in curve._items[:4]] == [False, True, True, False]
    assert curve.figure.x_range.end < 4


def test_every_measure_is_in_one_chart():
    assert sorted(measure for measures in CHARTS.values() for measure in measures) == sorted(MEASURES)


def test_the_close_up_leaves_out_the_beginning(reading_of):
    curve = Curve()
    shown(curve, reading_of(n_points=100))
    whole = curve.figure.y_range.start
    curve.span = "close-up"
    curve.draw()
    assert curve.figure.y_range.start > whole


def test_a_range_moved_by_hand_stays_until_it_is_reset(reading_of):
    curve = Curve()
    shown(curve, reading_of(n_points=5))
    curve.figure.x_range.end = 3.0
    shown(curve, reading_of(n_points=9))
    assert curve.figure.x_range.end == 3.0
    curve.follow()
    assert curve.figure.x_range.end > 9


def test_no_finite_value_is_no_error(reading_of):
    curve = Curve()
    empty = reading_of(n_points=3)
    shown(curve, empty._replace(numbers=np.full_like(empty.numbers, np.nan)))
    assert np.isfinite([curve.figure.x_range.end, curve.figure.y_range.start, curve.figure.y_range.end]).all()


def test_labels_say_what_tells_the_runs_apart_and_no_more(reading_of):
    one, other = reading_of("a", label="cgs"), reading_of("b", label="svb")
    assert telling_labels([one, other]) == {"a": "cgs", "b": "svb"}
    assert telling_labels([one, reading_of("c", label="cgs", n_topics=20)]) == {"a": "cgs · K=10", "c": "cgs · K=20"}
    assert telling_labels([one, reading_of("d", label="cgs", seed=3)]) == {"a": "cgs · seed 0", "d": "cgs · seed 3"}
    assert len(set(telling_labels([one, reading_of("e", label="cgs")]).values())) == 2
    hdp = reading_of("h", label="cgs")
    del hdp.spec.model["alpha"], hdp.spec.model["beta"]
    assert telling_labels([one, hdp]) == {"a": "cgs · α=0.1 β=0.1", "h": "cgs"}
    cut = reading_of("f", label="cgs", split={"top_words": 2000})
    assert telling_labels([one, cut]) == {"a": "cgs · all words", "f": "cgs · the 2,000 most frequent words"}


def test_what_is_seen_is_told_with_labels_colours_choices_and_ranges(reading_of):
    curve = Curve()
    curve.axis, curve.measure = "seconds", "both"
    readings = [reading_of("a", label="cgs"), reading_of("b", label="svb"), reading_of("c", n_points=0, label="vb")]
    shown(curve, *readings)
    curve.figure.x_range.end = 3.0
    seen = curve.seen()
    assert seen.runs == tuple((one.path, one.label, colour) for one, colour in zip(readings[:2], COLOURS, strict=False))
    assert (seen.axis, seen.measure, seen.x_range) == ("seconds", "both", (0.0, 3.0))
    assert seen.y_range == (curve.figure.y_range.start, curve.figure.y_range.end)
