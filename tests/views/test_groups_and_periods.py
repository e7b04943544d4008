"""Pictures of topics by group and over time, without pixels."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from toys import simulated

import workbench as wb
from workbench.corpus.document_table import DocumentTable
from workbench.measures import (
    group_differences,
    spec_of,
    topics_by_group,
    topics_over_time,
    with_columns,
)
from workbench.report.drawing import _figure, draw, inline_svg
from workbench.views.elements import TWO_COLUMNS, option
from workbench.views.every import draw_view, pictures
from workbench.views.groups import (
    OTHERS,
    _table_by_likeness,
    _width,
    against_controls,
    by_group_view,
    group_controls,
    over_time_controls,
    period_controls,
)

pytest.importorskip("holoviews")
NAMES = ["topics-over-time", "topics-by-group", "group-differences"]
SEED = 1
"""Of a run whose topics are not numbered by their size."""
DATES = ("2020-01-05", "2020-02-06", "2020-02-07", "", "2020-04-01")


def fitted(**about):
    """A run of three topics, and its corpus."""
    corpus = replace(simulated(20, 15, 30), **about)
    return wb.fit(corpus, "cvb0", 3, n_iterations=3, seed=SEED, progress=False), corpus


@pytest.fixture(scope="module")
def run_and_corpus():
    return fitted(labels=("a", "b", "", "b") * 5, times=DATES * 4)


def test_views_of_groups_and_periods_need_labels_or_times(run_and_corpus):
    def names(run):
        return [picture.name for picture in pictures([run]) if picture.name in NAMES]

    assert names(run_and_corpus[0]) == NAMES and names(fitted()[0]) == []
    assert names(fitted(labels=("a",) * 20, times=(1990,) * 20)[0]) == []  # nothing to compare
    assert names(fitted(times=(1990, 1991) * 10)[0]) == NAMES[:1]


@pytest.mark.slow
def test_a_figure_on_one_column_fits_on_a_page_without_its_rows_coming_closer():
    """Five engines with 60 topics each, all figures."""
    corpus = replace(simulated(20, 15, 30), labels=("a", "b", "", "b") * 5, times=DATES * 4)
    train, test = wb.hold_out_tokens(corpus, fraction=0.1, seed=0)
    engines = ("svb", "vb", "cvb", "cvb0", "cgs")
    runs = [
        wb.fit(train, engine, 60, n_iterations=2, test=test, burn_in=0, progress=False)
        for engine in engines
    ]
    result = {
        picture.name: picture for picture in pictures(runs, 1, {spec_of(runs[0]).train: train})
    }
    others = {
        "coherence",
        "topic-sizes",
        "state-and-average",
        "topic-words-cgs",
        "topic-flow-svb-to-vb",
    }
    assert {*NAMES[1:], *others} <= set(result)
    for name, picture in result.items():
        if name.startswith(("topic-words", "topic-flow")) and name not in others:
            continue  # as that of another engine
        assert _figure(picture.panels, 1, picture.legend, picture.height).get_figheight() <= 9.5, (
            name
        )
        # rows of 0.135 in keep 0.11; letters have 0.09
        assert len(picture.panels) * (picture.height or 0) <= 11, name
    assert [
        len(result[name].panels)
        for name in ("topic-sizes", "state-and-average", "coherence", "group-differences")
    ] == [5, 5, 5, 4]
    fewer = (
        "The first 4 of 5 panels are drawn, which fit on one column of a page; the table has all."
    )
    assert (
        fewer in result["group-differences"].caption
        and len({row[0] for row in result["group-differences"].rows}) == 5
    )
    assert (
        "Only the 4 best and the 4 worst topics are drawn; the table has all."
        in result["coherence"].caption
    )


@pytest.mark.parametrize("columns", [1, 2])
def test_a_title_over_rows_of_names_is_seen_whole(run_and_corpus, columns):
    names = dict.fromkeys(range(3), "12 · matrix solver vectors")
    panel = by_group_view(topics_by_group(run_and_corpus[0]), names, "svb-cgs r=1, K=20, by label")
    figure = _figure([panel] * columns, columns, False, 3.0)
    figure.draw_without_rendering()
    for title in (axes.title.get_window_extent() for axes in figure.axes):
        assert title.x0 >= 0 and title.x1 <= figure.bbox.x1


def test_shares_over_time_are_those_of_the_measure(run_and_corpus):
    run, corpus = run_and_corpus
    (picture,) = draw_view(
        "topics-over-time", [run], corpora={spec_of(run).train: corpus}, period="month"
    )
    result = topics_over_time(run, period="month")
    assert [row[3] for row in picture.rows[:4]] == [
        "2020-01",
        "2020-02",
        "2020-03",
        "2020-04",
    ] and len(picture.rows) == 12
    np.testing.assert_allclose([row[5] for row in picture.rows[:4]], result["share"].sel(topic=0))
    for texts in picture.hover["Points"]:
        assert len(texts[1].split("\n")[2].split(" ")) == 5  # words
    (bare,) = draw_view("topics-over-time", [run], period="month")
    assert len(bare.hover["Points"][0][1].split("\n")) == 2  # without the corpus no words


def test_draw_group_differences_compares_a_group_with_all_other_documents(run_and_corpus):
    run, corpus = run_and_corpus
    (picture,) = draw_view("group-differences", [run])
    sides = [
        None if not label else "label: b" if label == "b" else OTHERS for label in corpus.labels
    ]
    result = group_differences(run, sides, "label: b", OTHERS)
    assert [row[6] for row in picture.rows] == pytest.approx(result["difference"].values.tolist())
    (chosen,) = draw_view("group-differences", [run], group="label: a")
    assert chosen.rows[0][3:5] == ["label: a", OTHERS] and chosen.rows[0][6] == pytest.approx(
        -picture.rows[-1][6]
    )


def test_draw_group_differences_leaves_out_documents_of_both_groups(run_and_corpus):
    run = with_columns(run_and_corpus[0], DocumentTable({"kind": ("x", "y", "z", "z") * 5}))
    (picture,) = draw_view("group-differences", [run], group="kind: x", other="kind: y")
    result = group_differences(run, "kind", "x", "y")
    assert {tuple(row[3:5]) for row in picture.rows} == {
        ("kind: x", "kind: y")
    } and "left out" not in picture.caption
    assert [row[6:9] for row in picture.rows] == [
        pytest.approx(list(row))
        for row in zip(
            *(result[name].values.tolist() for name in ("difference", "low", "high")), strict=True
        )
    ]
    assert all("kind: x: " in text and "kind: y: " in text for text in picture.hover["Points"][0])
    (across,) = draw_view("group-differences", [run], group="kind: z", other="label: b")
    sides = [None, "b", "z", None] * 5  # of four documents the last is of both
    expected = group_differences(run, sides, "z", "b")
    assert [row[6] for row in across.rows] == pytest.approx(expected["difference"].values.tolist())
    assert "documents of both, 5, are left out" in across.caption
    for other in ("kind: x", "label: a", "nothing"):  # those of a are the ones of x
        (same,) = draw_view("group-differences", [run], group="kind: x", other=other)
        assert {row[4] for row in same.rows} == {OTHERS} and OTHERS in same.caption
        assert ("'label: a' has no other documents" in same.caption) == (other == "label: a")


def test_a_group_whose_documents_are_all_empty_is_not_offered():
    whole = simulated(20, 15, 30)
    end = whole.indptr[18]
    corpus = whole.with_pairs(
        [*whole.indptr[:19], end, end],
        whole.words[:end],
        whole.counts[:end],
        labels=("a", "b") * 9 + ("c", "c"),
    )
    run = wb.fit(corpus, "cvb0", 3, n_iterations=3, progress=False)
    assert against_controls(run)[0].choices == ("label: a", "label: b")
    (picture,) = draw_view("topics-by-group", [run])
    assert picture.hover["QuadMesh"][0].count("c: 2 documents, without a token") == 3
    svg = draw(picture.panels, 2, ("svg",), False, picture.height)["svg"].decode()
    assert inline_svg(svg, "groups", "Groups", picture.hover).count("without a token") == 3
    assert draw_view("group-differences", [run], group="label: c")[0].rows[0][3] == "label: a"


def test_controls_offer_the_available_columns_groups_and_periods(run_and_corpus):
    run, _ = run_and_corpus
    assert group_controls(run) == () and against_controls(run)[0].choices == (
        "label: b",
        "label: a",
    )
    assert (
        against_controls(run)[1].choices == (OTHERS, "label: b", "label: a")
        and against_controls(run)[1].value == OTHERS
    )
    more = with_columns(run, DocumentTable({"kind": ("x", "y") * 10}))
    assert group_controls(more)[0].choices == ("label", "kind")
    assert against_controls(more)[0].choices == ("label: b", "label: a", "kind: x", "kind: y")
    (picture,) = draw_view("topics-by-group", [more], by="kind")
    assert {row[3] for row in picture.rows} == {"x", "y"}
    (menu,) = period_controls(run)
    assert menu.choices == ("year", "quarter", "month", "week", "day") and menu.value == "week"
    assert period_controls(fitted(times=(1990, 1991) * 10)[0]) == ()


def test_over_time_controls_choose_the_topics_that_are_drawn(run_and_corpus):
    run, _ = run_and_corpus
    *_, choice = over_time_controls(run)
    numbers = dict(choice.choices)
    assert sorted(numbers.values()) == [0, 1, 2] and choice.value == ()
    (picture,) = draw_view("topics-over-time", [run], topics=(2, 7))  # there is no topic 7
    assert [numbers[option(panel, "title")] for panel in picture.panels[1:]] == [2]
    assert "topics that were chosen" in picture.caption


def lifts_of(values, groups="abcdef"):
    """A table of shares whose binary logarithms of lifts, of topics in groups, are given."""
    lifts = 2.0 ** np.array(values, float)
    n = np.full(len(groups), 9)
    return xr.Dataset(
        dict.fromkeys(("share", "low", "high", "lift"), (("topic", "group"), lifts))
        | {"n_documents": ("group", n), "n_tokens": ("group", n)},
        {"topic": range(len(lifts)), "group": list(groups)},
    )


def test_the_colours_of_lifts_are_seldom_at_the_end_of_their_scale():
    lifts = np.random.default_rng(0).normal(0, 2, (40, 6))  # a third beyond 4 times
    lifts[0, 0] = -np.inf
    shares = lifts_of(lifts)
    (mesh,) = by_group_view(shares, dict.fromkeys(range(40), "a topic"))
    drawn, (low, high) = mesh.dimension_values(2), option(mesh, "clim")
    assert low == -high and np.mean(np.abs(drawn) >= high) <= 0.06
    (small,) = by_group_view(lifts_of(lifts / 20), dict.fromkeys(range(40), "a topic"))
    assert option(small, "clim") == (-np.log2(1.21), np.log2(1.21))


def test_like_topics_and_groups_are_next_to_each_other_and_numbered_groups_in_order():
    up, down = [1, -1, 1, -1, 1, -1], [-1, 1, -1, 1, -1, 1]
    rows = np.array([up, down, up, down, up]) + np.arange(30).reshape(5, 6) / 1000
    ordered = _table_by_likeness(lifts_of(rows))
    topics, groups = (ordered[name].values.tolist() for name in ("topic", "group"))
    assert {frozenset(topics[:3]), frozenset(topics[2:])} & {frozenset({0, 2, 4})}
    assert {frozenset(groups[:3]), frozenset(groups[3:])} == {frozenset("ace"), frozenset("bdf")}
    assert _table_by_likeness(lifts_of(rows, "213654"))["group"].values.tolist() == list("123456")


def test_a_heat_map_is_wider_for_more_groups_and_not_wider_than_the_page():
    widths = [_width(n, 1) for n in (2, 12, 20, 24, 99)]
    assert widths == sorted(widths) and widths[0] < widths[2] < widths[-1] == TWO_COLUMNS


def test_figures_over_time_on_one_column_are_not_as_high_as_the_page(run_and_corpus):
    (picture,) = draw_view("topics-over-time", [run_and_corpus[0]], 1)
    assert _figure(picture.panels, 1, picture.legend, picture.height).get_figheight() < 6


def test_draw_topics_over_time_has_a_picture_per_run(run_and_corpus):
    _, corpus = run_and_corpus
    runs = [wb.fit(corpus, engine, 3, n_iterations=3, progress=False) for engine in ("cvb0", "vb")]
    result = draw_view("topics-over-time", runs)
    assert [picture.name for picture in result] == ["topics-over-time-1", "topics-over-time-2"]
    assert (
        len(draw_view("topics-by-group", runs)[0].panels)
        == len(draw_view("group-differences", runs)[0].panels)
        == 2
    )


@pytest.mark.parametrize("name", NAMES)
def test_pictures_of_groups_and_periods_can_be_drawn(run_and_corpus, name):
    run, corpus = run_and_corpus
    for picture in draw_view(name, [run], corpora={spec_of(run).train: corpus}):
        svg = draw(picture.panels, 2, ("svg",), picture.legend, picture.height)["svg"].decode()
        actual = inline_svg(svg, picture.name, picture.title, picture.hover)
        assert actual.count("<title>") == sum(
            len(texts) for own in picture.hover.values() for texts in own
        )
