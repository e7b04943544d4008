"""The one list of views: what is offered of a run follows from the variables that it has."""

import numpy as np
import pytest
from comparisons import made_up, tiny_comparison, tiny_run

import workbench as wb
from workbench.views import VIEWS, pictures

hv = pytest.importorskip("holoviews")


def of_states(seed: int = 0):
    """A run without topics: three states, their occupancy and a switching rate over four iterations."""
    run = made_up("cgs", [9, 8, 7, 6], seed=seed).drop_vars(["n_k", "topic"])
    attrs = {"long_name": "share of time in each state", "units": ""}
    return run.assign(
        occupancy=(("iteration", "state"), np.linspace(0, 1, 12).reshape(4, 3), attrs),
        switching=(
            "iteration",
            [0.4, 0.3, 0.2, 0.1],
            {"long_name": "rate of switching, per year", "units": "1/a"},
        ),
    ).assign_coords(state=["calm", "busy", "wild"])


def test_views_have_unique_names_and_name_their_pictures():
    names = [view.name for view in VIEWS]
    assert len(set(names)) == len(names)
    for picture in pictures([tiny_run("cgs"), tiny_run("cv-hdp")]):
        assert any(picture.name == name or picture.name.startswith(f"{name}-") for name in names)


def test_a_run_without_topics_gets_curves_of_all_that_it_records_and_no_view_of_topics():
    result = {picture.name: picture for picture in pictures([of_states(), of_states(1)])}
    assert [
        name for name in result if not name.startswith(("ordering", "perplexity", "state-and"))
    ] == ["recorded", "recorded-occupancy"]
    (panel,) = result["recorded"].panels
    assert next(iter(panel)).vdims[0].pprint_label == "rate of switching (1/a)"
    lines = [line.label for line in result["recorded-occupancy"].panels[0]]
    assert lines == ["state calm", "state busy", "state wild"]
    header, row = result["recorded-occupancy"].header, result["recorded-occupancy"].rows[-1]
    assert header == ["label", "run", "seed", "iteration", "state", "occupancy"] and row[3:] == [
        4,
        "wild",
        1.0,
    ]
    assert result["recorded-occupancy"].caption.startswith(
        "Share of time in each state, over the iterations"
    )


def test_views_of_a_family_are_added_to_the_views_of_topics():
    run = tiny_run("cgs").assign(speed=("iteration", np.arange(12.0)))
    names = [picture.name for picture in pictures([run])]
    assert "recorded" in names and "topic-sizes" in names
    once = tiny_run("cgs").assign(speed=("iteration", [0.0, *[np.nan] * 11]))
    for nothing in (tiny_run("cgs"), once):
        assert not [one.name for one in pictures([nothing]) if one.name.startswith("recorded")], (
            "no axes without a line"
        )


def test_pictures_accept_a_comparison_in_memory():
    assert "ordering" in [picture.name for picture in pictures(tiny_comparison())]


@pytest.mark.slow
def test_a_run_without_topics_has_figures_and_a_report(tmp_path):
    written = {path.name for path in wb.save_figures([of_states()], tmp_path, "svg")}
    assert {
        "recorded.svg",
        "recorded.csv",
        "recorded-occupancy.svg",
    } <= written and "topic-sizes.svg" not in written
    page = wb.write_report([of_states()], tmp_path / "report.html").read_text()
    assert "share of time in each state" in page.lower() and "have no counts of topics" in page
