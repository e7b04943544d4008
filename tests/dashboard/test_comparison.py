"""The comparison card."""

import io
import shutil

import numpy as np
import pandas as pd
import pytest

from workbench.dashboard.compare.comparison import Comparison, side_by_side, table
from workbench.dashboard.compare.curve import Drawn
from workbench.dashboard.compare.files import differences_file
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.files import FileError
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.measures import MeasureError, paired_differences, reached_by_all, summary, time_to
from workbench.runs.execution.run import open_run
from workbench.views.style import COLOURS


@pytest.fixture
def drawn(new_run):
    """Two seeds of two engines as they are seen on the page."""
    paths = [
        new_run(f"{engine}-{seed}", engine, seed=seed, n_iterations=14)
        for engine in ("svb", "cgs")
        for seed in range(2)
    ]
    runs = tuple((path, path.name, colour) for path, colour in zip(paths, COLOURS, strict=False))
    return Drawn(runs, "iterations", "headline", (0.0, 14.0), (0.0, 40.0))


def asked(drawn):
    return tuple((path, 14) for path, *_ in drawn.runs)


def test_the_rows_are_what_the_measures_say(drawn):
    runs = [open_run(path) for path, *_ in drawn.runs]
    found, told = side_by_side(asked(drawn), None, "svb"), summary(runs, "svb")
    assert list(found.index) == ["svb", "cgs"] and found["runs"]["cgs"] == ("cgs-0", "cgs-1")
    wanted = paired_differences(runs, "svb").to_pandas()
    for name in ("difference", "difference_low", "difference_high", "n_pairs"):
        np.testing.assert_allclose(found[name], wanted[name])
    np.testing.assert_allclose(found["test_perplexity"], told["test_perplexity"])
    np.testing.assert_allclose(found["mc_error"], told["test_perplexity_se"])
    until = reached_by_all(runs)
    spent = time_to(runs, until, "updates").values
    np.testing.assert_allclose(found["updates"], [np.nanmean(spent[:2]), np.nanmean(spent[2:])])
    assert (
        set(found["until"]) == {until} and (found["documents_low"] < found["test_perplexity"]).all()
    )
    assert side_by_side(asked(drawn), 1.5, "svb")["n_reached"].tolist() == [0, 0]


def test_a_table_that_is_computed_anew_says_so_until_it_is_there(drawn, monkeypatch):
    card, known = (
        Comparison(Handover(), None),
        {one.name: one for one in RunMonitor(drawn.runs[0][0].parent).look().readings},
    )
    card.show(drawn, known, None)
    assert not card.said.visible and "<table" in card.table.object
    waiting = []

    def later(document, work, then, pool):
        waiting.append(lambda: then(work(), None))

    monkeypatch.setattr("workbench.dashboard.compare.comparison.in_background", later)
    card.show(drawn._replace(runs=drawn.runs[:2]), known, None)
    assert "2 runs are being compared; the table shows the comparison before" in card.said.object
    assert "<table" in card.table.object
    waiting.pop()()
    assert not card.said.visible and "cgs" not in card.table.object
    card.set_against("svb")
    card.show(drawn._replace(runs=drawn.runs[:2]), known, None)
    assert card.said.visible


def test_rows_of_several_topics_are_in_order_and_set_against_the_best_of_them(new_run):
    paths = [new_run(f"k{n_topics}", "cgs", n_topics=n_topics) for n_topics in (10, 2, 5)]
    found = side_by_side(tuple((path, 12) for path in paths), None, None)
    assert list(found.index) == ["cgs, K=2", "cgs, K=5", "cgs, K=10"]
    assert (
        set(found["reference"]) == {found["test_perplexity"].idxmin()}
        and (found["difference"] >= 0).all()
    )


def test_a_run_that_is_removed_meanwhile_is_left_out(drawn):
    rows = asked(drawn)
    shutil.rmtree(drawn.runs[-1][0])
    assert side_by_side(rows, None, "svb")["runs"]["cgs"] == ("cgs-0",)
    for path, *_ in drawn.runs[:-1]:
        shutil.rmtree(path)
    with pytest.raises(MeasureError, match="nothing to compare"):
        side_by_side(rows, None, "cgs")


def test_the_card_shows_them_with_a_picture_and_says_what_it_lacks(drawn):
    readings = RunMonitor(drawn.runs[0][0].parent).look().readings
    card, known = Comparison(Handover(), None), {one.name: one for one in readings}
    card.show(drawn._replace(runs=()), {}, None)
    assert "No run is drawn" in card.table.object
    card.show(drawn, known, None)
    assert card.table.object.count("<circle") == 2 and "Difference from cgs" in card.table.object
    assert list(card.reference.options.values()) == ["", "svb", "cgs"]
    card.files.buttons["Numbers as CSV"].clicks += 1
    assert card.files.said.object.count("simulated-comparison.csv") == 1
    assert card.set_against("svb")
    card.show(drawn, known, 1.5)
    for told in ("Difference from svb", "Seconds to 1.5", "not reached"):
        assert told in card.table.object


def test_a_reference_that_is_not_there_and_runs_without_a_test_set_are_sentences(drawn, new_run):
    with pytest.raises(MeasureError, match="no reference 'vb'"):
        side_by_side(asked(drawn), None, "vb")
    with pytest.raises(MeasureError, match="no run that is drawn has held-out tokens"):
        side_by_side((), None, None)


def test_labels_of_others_enter_the_table_as_text(drawn):
    found = side_by_side(asked(drawn), None, None).rename(index={"svb": "<script>"})
    assert "<script>" not in table(found, drawn.runs) and "&lt;script&gt;" in table(
        found, drawn.runs
    )


def test_its_files_hold_the_numbers_and_the_picture(drawn):
    found = side_by_side(asked(drawn), None, None)
    name, content = differences_file(found, drawn, "csv")
    assert name == "simulated-comparison.csv"
    read = pd.read_csv(io.BytesIO(content)).set_index("label")
    np.testing.assert_allclose(read["difference_high"], found["difference_high"])
    assert read["runs"]["svb"] == "svb-0 svb-1"
    assert differences_file(found, drawn, "svg").content.startswith(b"<?xml")
    with pytest.raises(FileError, match="choose another reference"):
        differences_file(found.assign(difference=np.nan), drawn, "svg")
