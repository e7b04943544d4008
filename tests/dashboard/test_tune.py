"""Sliders in a notebook cell; that they are moved and obeyed there is seen in tests/browser/test_lab.py."""

import pytest

from workbench import tune
from workbench.dashboard.notebooks.tune import Tune
from workbench.runs.execution.run import open_runs
from workbench.runs.spec import SpecError


@pytest.fixture
def sliders(halves, tmp_path):
    return Tune(halves[0], ["svb-cgs"], tmp_path / "runs")


def test_outside_of_a_notebook_and_for_an_unknown_engine_there_are_no_sliders_but_a_sentence(
    halves,
):
    with pytest.raises(SpecError, match="workbench retune --help"):
        tune(halves[0])
    with pytest.raises(ValueError, match="svb-cgs"):
        tune(halves[0], "svb-cg")


def test_the_form_has_what_the_chosen_engines_take_and_offers_those_that_suit_the_data(sliders):
    assert "cv-hdp" in sliders.engines.options and "bn-em" not in sliders.engines.options
    shown = {}
    for engines in (["svb-cgs"], ["cgs", "svb"], ["cv-hdp"]):
        sliders.engines.value = engines
        shown[tuple(engines)] = sliders.form.seen
    assert "r" in shown["svb-cgs",] and "r" not in shown["cgs", "svb"]
    assert {"n_topics", "alpha", "beta", "init", "n_iterations", "seeds"} <= {*shown["cgs", "svb"]}
    assert "alpha" not in shown["cv-hdp",] and "n_topics" in shown["cv-hdp",]


def test_the_request_is_that_of_the_form(sliders):
    sliders.engines.value = ["svb-cgs", "cgs"]
    sliders.fields["alpha"].value, sliders.fields["r"].value = "0.3", "2"
    request = sliders.request()
    assert request.engines == ("svb-cgs", "cgs") and request.options["svb-cgs"]["r"] == 2
    assert request.alpha == 0.3


def test_what_is_wrong_is_told_below_the_button_and_nothing_is_made(sliders, tmp_path):
    sliders.fields["n_iterations"].value = "0"
    sliders.start.clicks += 1
    assert 'class="bad"' in sliders.status.object and "Iterations must be" in sliders.status.object
    assert (
        not open_runs(tmp_path / "runs")
        and not sliders.start.disabled
        and not sliders.watch.card.visible
    )
