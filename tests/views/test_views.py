"""Pictures without pixels: what the HoloViews elements hold."""

import re

import numpy as np
import pytest
from comparisons import made_up, tiny_comparison, tiny_corpus, tiny_run
from toys import simulated

import workbench as wb
from workbench.dashboard.shared.shell import read_style
from workbench.engines import ENGINES, IMPORTED, get_engine
from workbench.measures import MeasureError, coherence, mean_curves
from workbench.runs.settings import DEFAULT_ENGINES
from workbench.views import (
    coherence_view,
    concentration_curves,
    differences_view,
    draw_view,
    elements,
    final_perplexities,
    objective_curves,
    objectives_of,
    perplexity_curves,
    perplexity_layout,
    pictures,
    state_and_average,
    topic_list_view,
    topic_number_curves,
    topic_words_view,
)
from workbench.views.comparison import GAINS, score_courses
from workbench.views.elements import COLOURS, LINES, MARKERS, MOST_POINTS, look_of, looks, ramp

hv = pytest.importorskip("holoviews")


def lines_of(overlay) -> dict:
    return {element.label: element for element in overlay if isinstance(element, hv.Curve)}


TURNED = [(3, {"r": 2}), (6, {"alpha": 0.5}), (20, {"r": 0})]


@pytest.mark.parametrize(
    ("engine", "settings", "at"),
    [("svb-cgs", {"interventions": TURNED}, [3, 6]), ("svb", {"warm_up": 4}, [5])],
    ids=["settings were turned", "the warm-up ended"],
)
def test_a_mark_stands_on_the_curve_where_something_changed(engine, settings, at):
    train, test = wb.hold_out_tokens(simulated(), fraction=0.1, seed=0)
    run = wb.fit(train, engine, 3, n_iterations=8, test=test, progress=False, **settings)
    (marks,) = (one for one in perplexity_curves(run) if type(one).__name__ == "Segments")
    x, low, same, high = (marks.dimension_values(at) for at in range(4))
    np.testing.assert_array_equal((x, same), [at] * 2)
    np.testing.assert_allclose((low + high) / 2, run["test_perplexity"].sel(iteration=at))
    assert (high > low).all()


@pytest.mark.parametrize(
    ("against", "label"),
    [
        ("iteration", "iteration"),
        ("elapsed", "inference time (s)"),
        ("cpu_time", "CPU time (s)"),
        ("updates", "site updates"),
    ],
)
def test_axes_say_what_they_are_and_in_which_unit(against, label):
    x, y = next(iter(perplexity_curves(tiny_comparison(), against=against))).dimensions()[:2]
    assert x.pprint_label == label and y.pprint_label == "held-out perplexity"


def test_without_held_out_tokens_the_picture_is_empty():
    assert len(perplexity_curves(tiny_comparison(1, 0.0))) == 0
    assert len(perplexity_layout(tiny_comparison(1, 0.0))) == 2


def test_bound_log_joint_and_objective_each_have_their_own_picture():
    assert objectives_of(tiny_comparison()) == ["bound", "log_joint", "objective"]
    assert list(lines_of(objective_curves(tiny_comparison(), "bound"))) == ["svb"]
    assert list(lines_of(objective_curves(tiny_comparison(), "log_joint"))) == ["cgs"]
    line = lines_of(objective_curves(tiny_run("cgs"), "log_joint"))["cgs"]
    np.testing.assert_array_equal(line.dimension_values(1), tiny_run("cgs")["log_joint"].values)
    assert line.vdims[0].pprint_label == "log joint (nats)"


def test_long_runs_are_thinned_to_their_ends():
    run = made_up("cgs", np.linspace(900, 100, 5000))
    line = lines_of(perplexity_curves(run))["cgs"]
    assert len(line) == MOST_POINTS
    assert line.dimension_values(0)[[0, -1]].tolist() == [1, 5000]


def test_looks_differ_in_colour_line_and_marker_and_repeat_late():
    many = looks([f"label {n}" for n in range(360)])
    assert len(set(map(str, many.values()))) == 360
    first = list(many.values())[: len(LINES)]
    for own in zip(*(look[:3] for look in first), strict=True):
        assert len(set(map(str, own))) == len(first)
    assert len(set(COLOURS)) == 8 and len(set(MARKERS)) == 9


def looks_of_engines() -> dict:
    return {name: look_of(name) for name in (*ENGINES, *IMPORTED)}


def test_the_engines_differ_in_colour_and_on_a_grey_copier():
    own = [each for each in map(get_engine, (*ENGINES, *IMPORTED)) if each.colour]
    assert len({each.colour for each in own}) == len(own) > 40
    ordered = [look_of(each.name) for each in own if each.order < 100]
    assert len({(look.line, look.marker) for look in ordered}) == len(ordered) > 1
    assert {each.marker for each in own} <= set(MARKERS)


@pytest.mark.parametrize("line, marker", [("", ""), ("dotted", "h")])
def test_look_of_an_engine_without_a_colour_is_one_of_the_palette_everywhere(
    line, marker, monkeypatch
):
    plain = get_engine("cgs")._replace(colour="", line=line, marker=marker)
    monkeypatch.setattr(elements, "get_engine", lambda name: plain)
    look = look_of("mine, K=10")
    assert look.colour in COLOURS and look.line in LINES and look.marker in MARKERS
    assert looks(["mine, K=10"]) == {"mine, K=10": look} and look_of("mine") == look
    assert len({look_of(f"mine{n}") for n in range(40)}) > 20


def test_every_colour_is_seen_on_paper_and_on_a_dark_page():
    css = read_style("page.css")
    cards = set(re.findall("--wb-card: (#[0-9a-f]{6})", css))
    assert len(cards) == 2
    by_default = {look_of(engine).colour for engine in DEFAULT_ENGINES}
    for colour in {*COLOURS, *(look.colour for look in looks_of_engines().values())}:
        for card in cards:
            light, dark = sorted((luminance(colour), luminance(card)), reverse=True)
            # with both cards no colour has more than 4.1
            least = 3.5 if colour in by_default else 3
            assert (light + 0.05) / (dark + 0.05) >= least, (colour, card)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_an_engine_looks_the_same_in_every_figure():
    assert (
        looks(["cgs", "svb-cgs r=1"])["svb-cgs r=1"]
        == looks(["svb-cgs r=1, K=20", "vb"])["svb-cgs r=1, K=20"]
    )
    dial = looks(["svb-cgs r=0", "cgs", *(f"svb-cgs r={r}" for r in range(1, 12)), "toy"])
    assert list(dial)[:2] == ["svb-cgs r=0", "cgs"] and dial["cgs"] == look_of("cgs")
    assert len(set(map(str, dial.values()))) == len(dial)
    hybrid = [look for label, look in dial.items() if label.startswith("svb-cgs")]
    assert [look.colour for look in hybrid] == list(ramp(dial).values())
    assert dial["toy"].colour not in {look_of("svb-cgs").colour, look_of("cgs").colour}
    assert len({(str(look.line), look.marker) for look in hybrid}) == len(hybrid) == 12
    labels = ["cvb", "cv-hdp", "g-hdp", "cgs"]
    assert (
        looks(labels)
        == {label: looks([label])[label] for label in labels}
        == {label: look_of(label) for label in labels}
    )


def test_a_run_that_ended_within_its_burn_in_is_drawn_from_its_start():
    lines = lines_of(state_and_average(made_up("cgs", [30, 20])))  # burn-in is 10
    assert lines["current state"].dimension_values(0).tolist() == [1, 2]


def test_final_perplexities_of_single_runs_are_points_without_errors_in_the_papers_order():
    drawn = final_perplexities([made_up("cgs", [100]), made_up("svb", [110])])
    assert [type(element) for element in drawn] == [hv.Scatter, hv.Scatter]
    assert len(final_perplexities(tiny_comparison(1, 0.0))) == 0
    ticks = hv.Store.lookup_options("matplotlib", drawn, "plot").kwargs["yticks"]
    assert [label for _, label in ticks] == ["svb", "cgs"] and ticks[0][0] > ticks[1][0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: perplexity_curves(tiny_comparison(), "best"),
            "perplexity must be one of headline",
        ),
        (
            lambda: perplexity_curves(tiny_comparison(), against="weeks"),
            "axis must be one of iteration",
        ),
        (lambda: perplexity_curves([]), "no run was given"),
        (lambda: objective_curves(tiny_comparison(), "evidence"), "objective must be one of bound"),
        (
            lambda: topic_number_curves(tiny_run("cgs"), "many"),
            "number of topics must be one of n_active_topics",
        ),
        (
            lambda: concentration_curves(tiny_run("g-hdp"), "eta"),
            "scalar hyperparameter must be one of alpha_total",
        ),
        (
            lambda: state_and_average(tiny_comparison()),
            "one label at a time; got cgs; svb; svb-cgs r=1",
        ),
        (lambda: topic_words_view(made_up("cgs", [3])), "has no phi.*before its first snapshot"),
        (lambda: topic_words_view(tiny_run(), topics=[9]), "topics are from 0 to 3; got 9"),
        (lambda: topic_words_view(tiny_run(), topics=[]), "topics are from 0 to 3; got none"),
        (lambda: topic_words_view(tiny_run(), 0), "at least 1; got 0"),
        (lambda: topic_words_view(tiny_run(), relevance=2), "relevance must be a number from 0"),
        (lambda: topic_words_view([tiny_run("cgs"), tiny_run("svb")]), "wanted one run; got 2"),
        (lambda: topic_list_view(made_up("cgs", [3])), "has no phi"),
        (
            lambda: coherence_view(coherence(tiny_run(), tiny_corpus()), "cv"),
            "coherence must be one of npmi, u_mass, c_v",
        ),
        (lambda: differences_view(made_up("cgs", [3]), "vb"), "no reference 'vb'"),
    ],
)
def test_wrong_input_gets_one_sentence(call, message):
    with pytest.raises(MeasureError, match=message):
        call()


def test_labels_that_differ_in_one_ordered_setting_are_a_ramp_of_one_hue():
    labels = [f"svb-cgs r={r}, K=10" for r in ("2", "0.5", "inf", "10")]
    colours = ramp([*labels, "cgs, K=10"])
    assert list(colours) == [labels[1], labels[0], labels[3], labels[2]]
    light = [sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) for colour in colours.values()]
    assert light == sorted(light, reverse=True) and len(set(light)) == 4
    style = looks([*labels, "cgs, K=10"])
    assert style["cgs, K=10"] == look_of("cgs") and style[labels[0]].colour == colours[labels[0]]


@pytest.mark.parametrize(
    "labels",
    [
        ["cgs, K=10", "cgs, K=20"],  # too few
        ["svb-cgs r=1, K=10", "svb-cgs r=2, K=20", "svb-cgs r=3, K=10"],  # two settings
        ["cgs, seed 1", "cgs, seed 2", "cgs, seed 3"],
        ["svb init=noise", "svb init=hard", "svb init=smooth"],  # not in an order
        ["mine r=1", "mine r=2", "mine r=3"],  # of no engine
    ],
)
def test_other_labels_are_no_ramp(labels):
    assert ramp(labels) == {}


def scored(seed=0, top=5.0):
    """A made-up run of three iterations with gains and hits."""
    run = made_up("cgs", [9, 8, 7], seed=seed, elapsed=[1.0, 2.0, 4.0])
    about = {"long_name": "a score", "units": "nats", "better": "higher"}
    names = {
        **dict.fromkeys(GAINS, 0.1 + seed),
        "test_top_hits": top,
        "test_bottom_hits": 1.0,
        "test_log_likelihood": -4.0,
    }
    return run.assign(
        {name: ("iteration", [0.0, 0.0, value], about) for name, value in names.items()}
    )


def test_runs_with_gains_have_a_panel_for_each_base_with_a_line_at_0():
    (gains,) = draw_view("gains", [scored(), scored(seed=1)])
    assert len(gains.panels) == 3 and len(gains.rows) == 2 * 3
    for line, *_ in gains.panels:
        assert isinstance(line, hv.Path) and line.dimension_values(0)[:2].tolist() == [0.0, 0.0]
        assert line.kdims[0].unit == "nats"


def test_hits_are_drawn_against_seconds_under_labels_that_are_given():
    runs = [scored(), scored(seed=1, top=7.0)]
    panels = score_courses(runs, labels=["SBM", "SBM"])
    assert len(panels) == 3
    (curve,) = [each for each in panels[0] if type(each) is hv.Curve]
    assert curve.label == "SBM" and curve.dimension_values(0).tolist() == [1.0, 2.0, 4.0]
    assert curve.dimension_values(1).tolist() == [0.0, 0.0, 6.0]
    difference = mean_curves(runs, "test_top_hits", "elapsed", ["SBM", "LNM"])
    assert [(each.label, each.y[-1]) for each in difference] == [("SBM", 5.0), ("LNM", 7.0)]


def test_runs_without_gains_and_hits_have_neither_picture():
    assert not {"gains", "hits"} & {one.name for one in pictures([made_up("cgs", [9, 8])])}
