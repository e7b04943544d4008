"""The settings of runs by name."""

from comparisons import made_up, tiny_run

from workbench.measures import differing, settings_of, spec_of
from workbench.measures.settings import GENERAL, every_setting


def test_the_settings_of_a_run_are_those_it_was_given_and_every_option_of_its_engine():
    spec = spec_of(tiny_run("svb-cgs", seed=3))
    found = settings_of(spec)
    assert (found["engine"], found["K"], found["seed"], found["r"]) == (
        "svb-cgs",
        spec.model["n_topics"],
        3,
        1,
    )
    assert {*found} <= every_setting() and {"alpha", "beta", "n_chains", "learn_alpha"} <= {*found}
    assert all(
        isinstance(value, int | float | str) and value is not True for value in found.values()
    )


def test_infinity_is_a_text_and_what_a_run_does_not_have_is_left_out():
    found = settings_of(spec_of(made_up("svb-cgs", [2], options={"r": "inf"})))
    assert found["r"] == "inf" and "r" not in settings_of(spec_of(made_up("svb", [2])))


def test_runs_differ_in_what_those_that_have_it_have_not_the_same_of():
    settings = [
        {"r": 1, "seed": 0, "engine": "svb"},
        {"r": 3, "seed": 1, "engine": "svb"},
        {"seed": 1, "engine": "svb"},
    ]
    assert (
        differing(settings) == ["seed", "r"]
        and differing(settings[1:]) == []
        and differing([]) == []
    )
    assert set(GENERAL) <= every_setting()
