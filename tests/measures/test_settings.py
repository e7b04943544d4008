"""The settings of runs by name."""

from comparisons import made_up, tiny_run

from workbench.measures import differing, settings_of, spec_of
from workbench.measures.settings import GENERAL, every_setting


def test_settings_of_has_general_settings_and_every_option_of_the_engine():
    spec = spec_of(tiny_run("svb-cgs", seed=3))
    result = settings_of(spec)
    assert (result["engine"], result["K"], result["seed"], result["r"]) == (
        "svb-cgs",
        spec.model["n_topics"],
        3,
        1,
    )
    assert {*result} <= every_setting() and {"alpha", "beta", "n_chains", "learn_alpha"} <= {
        *result
    }
    assert all(
        isinstance(value, int | float | str) and value is not True for value in result.values()
    )


def test_settings_of_writes_infinity_as_text_and_leaves_out_missing_settings():
    result = settings_of(spec_of(made_up("svb-cgs", [2], options={"r": "inf"})))
    assert result["r"] == "inf" and "r" not in settings_of(spec_of(made_up("svb", [2])))


def test_differing_compares_a_setting_among_the_runs_that_have_it():
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
