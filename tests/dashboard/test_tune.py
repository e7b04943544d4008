"""Sliders in a notebook cell; that they are moved and obeyed there is seen in tests/browser/test_lab.py."""

import pytest

from workbench import tune
from workbench.dashboard.notebooks.tune import Tune
from workbench.runs.execution.run import open_runs
from workbench.runs.spec import SpecError


@pytest.fixture
def sliders(halves, tmp_path):
    return Tune(halves[0], "svb-cgs", tmp_path / "runs")


def test_outside_of_a_notebook_and_for_an_unknown_engine_there_are_no_sliders_but_a_sentence(
    halves,
):
    with pytest.raises(SpecError, match="workbench sweep --help"):
        tune(halves[0])
    with pytest.raises(ValueError, match="svb-cgs"):
        tune(halves[0], "svb-cg")


def test_an_engine_has_the_sliders_that_mean_something_to_it(sliders):
    shown = {}
    for engine in ("svb-cgs", "cgs", "cv-hdp"):
        sliders.engine.value = engine
        shown[engine] = [name for name, slider in sliders.sliders.items() if slider.visible]
    assert shown == {
        "svb-cgs": ["r", "n_topics", "alpha", "beta"],
        "cgs": ["n_topics", "alpha", "beta"],
        "cv-hdp": ["n_topics"],
    }


def test_what_is_wrong_is_told_below_the_button_and_nothing_is_made(sliders, tmp_path):
    sliders.numbers["n_iterations"].value = 0
    sliders.start.clicks += 1
    assert 'class="bad"' in sliders.said.object and "Iterations must be" in sliders.said.object
    assert (
        not open_runs(tmp_path / "runs")
        and not sliders.start.disabled
        and not sliders.watch.card.visible
    )
