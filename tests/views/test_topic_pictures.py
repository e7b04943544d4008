"""Pictures of topics (words, map, matching, coherence) and of paired differences, without pixels: what the elements hold."""

import re
from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up, tiny_corpus, tiny_run, with_phi, with_topics
from matplotlib.colors import to_rgba

import workbench as wb
from workbench.measures import (
    coherence,
    match_topics,
    topic_flow,
    topic_map,
    topics_by_size,
)
from workbench.report.drawing import _figure, draw, option
from workbench.views import (
    coherence_view,
    differences_view,
    names_of_topics,
    topic_flow_view,
    topic_list_view,
    topic_map_view,
    topic_words_view,
)
from workbench.views.topic_map import MOST_LISTED, _limits_and_scale, non_overlapping_positions
from workbench.views.topics import MOST_LETTERS, words_height

pytest.importorskip("holoviews")


def training() -> wb.Corpus:
    return wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)[0]


def drawn_flow(a, b, runs=("a", "b")):
    names = tuple(names_of_topics(run, 3, 21) for run in (a, b))
    return topic_flow_view(topic_flow(a, b, training()), match_topics(a, b), runs, names)


def texts(labels) -> list[str]:
    return [str(text) for text in labels.array()[:, 2]]


def boxes(axes) -> np.ndarray:
    """(text, 4) left, bottom, right, top of what is written in a panel, in pixels."""
    return np.array(
        [text.get_window_extent().extents for text in axes.texts if text.get_text().strip()]
    )


def overlapping(found: np.ndarray) -> int:
    return sum(
        bool((np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) > 0.5).all())
        for a, b in combinations(found, 2)
    )


@pytest.mark.parametrize("columns", [1, 2])
def test_topic_map_view_numbers_do_not_overlap_even_for_equal_topics(columns):
    same = with_phi(np.full((30, 20), 0.05))
    figure = _figure([topic_map_view(topic_map(same)), topic_list_view(same)], columns, False, 2.85)
    figure.draw_without_rendering()
    assert [len(boxes(axes)) for axes in figure.axes] == [30, 2 * MOST_LISTED + 1]
    assert [overlapping(boxes(axes)) for axes in figure.axes] == [0, 0]


def test_a_number_belongs_to_the_smallest_circle_around_it_or_to_the_one_that_its_line_leads_to():
    """Three topics on nearly one place, one inside another, one alone."""
    x, y, share = (
        [0.0, 0.002, 0.3, 0.31, 0.0],
        [0.0, 0.002, 0.0, 0.01, 0.4],
        [0.3, 0.25, 0.25, 0.05, 0.15],
    )
    columns = {"x": x, "y": y, "share": share}
    result = xr.Dataset(
        {name: ("topic", values) for name, values in columns.items()}, {"topic": range(5)}
    )
    lines, circles, numbers = topic_map_view(result)
    _, scale = _limits_and_scale(np.column_stack([x, y]))
    middles = np.column_stack([circles.dimension_values(name) for name in "xy"])
    radii = np.sqrt(circles.dimension_values("area")) / 144
    led = {tuple(line[:2]): line[2:] for line in lines.array()}
    for at, (middle, radius) in enumerate(zip(middles, radii, strict=True)):
        place = np.array([numbers.dimension_values(name)[at] for name in "xy"])
        around = np.flatnonzero(np.hypot(*((place - middles) / scale).T) < radii)
        if len(around):
            assert around[np.argmin(radii[around])] == at
        else:
            (start,) = (
                start for start, end in led.items() if np.hypot(*((end - place) / scale)) < 0.1
            )
            assert np.hypot(*((start - middle) / scale)) == pytest.approx(radius)
    assert len(led) >= 1
    fill, rim = (
        circles.opts.get("style", backend="matplotlib").kwargs[name]
        for name in ("color", "edgecolor")
    )
    assert to_rgba(rim)[3] == 1 and to_rgba(fill)[3] < 0.2


def test_non_overlapping_keeps_texts_without_conflict_at_their_points():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.05]])
    places = non_overlapping_positions(points, np.full((3, 2), 0.1))
    np.testing.assert_array_equal(places[:2], points[:2])
    assert 0.05 <= np.abs(places[2] - points[2]).max() <= 0.2


def test_names_of_topics_use_labels():
    run = tiny_run().assign(
        topic_label=("topic", ["", "fruit", "", "a label of very many letters indeed"])
    )
    names = names_of_topics(run, 2, 20)
    assert names[1] == "1 · fruit"
    assert names[3] == "3 · a label of very…" and len(names[3]) == 20
    assert names[0].startswith("0 · w")
    assert len(names_of_topics(run, 9, 12)[0]) <= 12 and "…" not in names_of_topics(run, 9, 12)[0]


def test_ribbons_are_as_wide_as_the_tokens_that_topics_share():
    a, b = tiny_run("cgs"), tiny_run("svb")
    flow = topic_flow(a, b, training())
    others, matched, bars, *_ = drawn_flow(a, b)
    assert matched.dimension_values("tokens", expanded=False).sum() + others.dimension_values(
        "tokens", expanded=False
    ).sum() == pytest.approx(float(flow.sum()), rel=0.03)  # what is too thin is left out
    tokens, thick = [], []
    for ribbon in [*matched.split(), *others.split()]:
        outline = ribbon.array(["x", "y"])
        tokens.append(ribbon.dimension_values("tokens")[0])
        thick.append(np.ptp(outline[outline[:, 0] == outline[:, 0].min(), 1]))
    np.testing.assert_allclose(np.array(thick) / np.array(tokens), thick[0] / tokens[0], rtol=1e-9)
    heights = bars.dimension_values(3) - bars.dimension_values(1)
    np.testing.assert_allclose(
        heights[:4] / thick[0],
        flow.sum("other").sel(topic=topics_by_size(a)) / tokens[0],
        rtol=1e-9,
    )


def test_matched_topics_stand_side_by_side_with_their_distance():
    a, b = tiny_run("cgs"), tiny_run("svb")
    matches = match_topics(a, b)
    *_, left, right = drawn_flow(a, b)
    order = [int(text.split(" · ")[0]) for text in texts(left)]
    assert order == topics_by_size(a)
    assert [text.split(" · ")[0] for text in texts(right)] == [
        f"{float(matches['distance'].sel(topic=topic)):.2f}   {int(matches['matched'].sel(topic=topic))}"
        for topic in order
    ]


@pytest.mark.parametrize("colour", [lambda topic: f"#12345{topic}", lambda topic: "#123456"])
def test_topic_flow_view_uses_the_given_colours(colour):
    a, b = tiny_run("cgs"), tiny_run("svb")
    view = topic_flow_view(topic_flow(a, b, training()), match_topics(a, b), colour=colour)
    svg = draw([view], 2, ("svg",), False, 1.0)["svg"].decode()
    given = {"#b0b0b0", *map(colour, range(4))}
    assert set(re.findall("fill: (#12345.|#b0b0b0|#30a2da)", svg)) == given


def test_topic_flow_view_puts_unmatched_topics_last():
    a, b = with_topics(2), with_topics(5)
    *_, left, right = drawn_flow(a, b)
    assert (len(texts(left)), len(texts(right))) == (2, 5)
    assert [text.startswith("none ") for text in texts(right)] == [False, False, True, True, True]


@pytest.mark.parametrize("columns", [1, 2])
def test_names_beside_a_flow_stay_in_the_figure_and_do_not_touch(columns):
    long = np.array([f"{'w' * 12}{n}" for n in range(20)], dtype=object)
    a, b = (tiny_run(engine).assign_coords(word=("word", long)) for engine in ("cgs", "svb"))
    figure = _figure([drawn_flow(a, b, ("x" * 60, "y" * 60))], columns, False, 1.5)
    figure.draw_without_rendering()
    result = boxes(figure.axes[0])
    assert result[:, 0].min() >= 0 and result[:, 2].max() <= figure.bbox.width
    assert overlapping(result) == 0


def test_topics_without_a_coherence_are_named_at_the_end():
    others = coherence(tiny_run(), wb.Corpus.from_texts(["other things entirely"]))
    view = coherence_view(others)
    assert len(view.get(1)) == 0
    ticks = [text for _, text in option(view, "yticks")]
    assert ticks == [f"{topic}, too few words" for topic in range(4)]


def test_differences_view_is_empty_without_differences():
    assert len(differences_view(made_up("cgs", [100]))) == 0


def test_one_topic_is_drawn():
    one = with_topics(1)
    assert len(texts(topic_map_view(topic_map(one)).get(2))) == 1
    shares, names = (texts(topic_list_view(one).get(at)) for at in range(2))
    assert shares == ["100.0 %"] and len(names) == 1
    panels = [drawn_flow(one, one), coherence_view(coherence(one, training()))]
    assert draw(panels, 2, ("svg",), False, 1.0)["svg"].startswith(b"<?xml")


def parts(view) -> tuple:
    """(bars, headings, words, probabilities), each an array with a row an item."""
    return tuple(element.array() for element in view)


def test_chosen_topics_come_in_the_order_asked_for():
    headings = [
        str(text) for text in parts(topic_words_view(tiny_run("cgs"), topics=[2, 0]))[1][:, 2]
    ]
    assert [text.split(" · ")[0] for text in headings] == ["topic 2", "topic 0"]


def test_a_long_word_is_cut_where_it_would_run_over():
    run = tiny_run("cgs").copy()
    run = run.assign_coords(
        word=("word", np.array([f"$\\alpha$ {'x' * 40}{n}" for n in range(20)], dtype=object))
    )
    words = [str(word) for word in parts(topic_words_view(run))[2][:, 2]]
    assert all(len(word) == MOST_LETTERS and word.endswith("…") for word in words)
    # and a dollar sign is only a dollar sign
    draw([topic_words_view(run)], 2, ("svg",), False, 2.0)


@pytest.mark.parametrize("n_topics", [1, pytest.param(40, marks=pytest.mark.slow)])
def test_one_topic_and_forty_topics_are_drawn(n_topics):
    run = with_topics(n_topics)
    view = topic_words_view(run, 6)
    assert len(parts(view)[1]) == n_topics and len(parts(view)[2]) == 6 * n_topics
    height = words_height(n_topics, 6)
    assert draw([view], 2, ("svg",), False, height)["svg"].startswith(b"<?xml")


def test_topic_words_view_has_no_overlapping_texts():
    places = [
        tuple(row[:2]) for part in parts(topic_words_view(with_topics(40), 6))[1:] for row in part
    ]
    assert len(set(places)) == len(places)
