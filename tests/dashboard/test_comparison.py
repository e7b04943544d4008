"""The comparison card."""

import shutil

import numpy as np
import pytest

from workbench.dashboard.compare.comparison import (
    Comparison,
    comparison_card,
    comparison_of,
    table_of,
)
from workbench.dashboard.compare.run_cards import run_iterations
from workbench.dashboard.shared.card import by_label_html
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.measures import MeasureError, paired_differences, reached_by_all, summary, time_to
from workbench.report.figures import table_of as csv_of
from workbench.runs.execution.run import open_run
from workbench.views.elements import looks


@pytest.fixture
def seen(new_run):
    """Two seeds of two engines as the page looks at them."""
    engines = ("svb", "cgs")
    paths = [
        new_run(f"{engine}-{seed}", engine, seed=seed, n_iterations=14)
        for engine in engines
        for seed in range(2)
    ]
    return tuple((path, 14) for path in paths)


def test_the_rows_are_what_the_measures_say(seen):
    runs = [open_run(path) for path, _ in seen]
    found, told = comparison_of(seen, None, "svb"), summary(runs, "svb")
    assert found["label"].values.tolist() == ["svb", "cgs"]
    assert found["runs"].values[1] == ("cgs-0", "cgs-1")
    wanted = paired_differences(runs, "svb")
    for name in ("difference", "difference_low", "difference_high", "n_pairs"):
        np.testing.assert_allclose(found[name], wanted[name])
    np.testing.assert_allclose(found["test_perplexity"], told["test_perplexity"])
    np.testing.assert_allclose(found["mc_error"], told["test_perplexity_se"])
    until = reached_by_all(runs)
    spent = time_to(runs, until, "updates").values
    np.testing.assert_allclose(found["updates"], [np.nanmean(spent[:2]), np.nanmean(spent[2:])])
    assert set(found["until"].values) == {until}
    assert (found["documents_low"] < found["test_perplexity"]).all()
    html = by_label_html(table_of(found.to_dataframe().reset_index()))
    assert "of iteration 14<" in html and html.count("from init=smooth") == 1
    assert all(f"--dot: {look.colour}" in html for look in looks(["svb", "cgs"]).values())
    assert found["start"].values.tolist() == ["init=smooth", ""]  # a sampler forgets where it began
    assert comparison_of(seen, 1.5, "svb")["n_reached"].values.tolist() == [0, 0]


def test_a_table_that_is_computed_anew_says_so_until_it_is_there(seen, monkeypatch):
    card, waiting = Comparison(Handover()), []
    card.follow(seen, None)
    assert not card.busy.visible and "<table" in card.table.object
    monkeypatch.setattr(
        "workbench.dashboard.shared.background.in_background",
        lambda document, work, then, pool: waiting.append(lambda: then(work(), None)),
    )
    card.follow(seen[:2], None)
    assert "2 runs are being compared; the table shows those before" in card.busy.object
    assert "cgs" in card.table.object
    waiting.pop()()
    assert not card.busy.visible and "cgs" not in card.table.object


def test_rows_of_several_topics_are_in_order_and_set_against_the_best_of_them(new_run):
    paths = [new_run(f"k{n_topics}", "cgs", n_topics=n_topics) for n_topics in (10, 2, 5)]
    found = comparison_of(tuple((path, 12) for path in paths), None, None)
    assert found["label"].values.tolist() == ["cgs, K=2", "cgs, K=5", "cgs, K=10"]
    best = found["label"].values[found["test_perplexity"].values.argmin()]
    assert set(found["reference"].values) == {best} and (found["difference"] >= 0).all()


def test_a_run_that_is_removed_meanwhile_is_left_out(seen):
    readings = RunMonitor(seen[0][0].parent).look().readings
    assert run_iterations(readings) == tuple(sorted(seen))
    shutil.rmtree(seen[-1][0])
    assert comparison_of(seen, None, "svb")["runs"].values[1] == ("cgs-0",)
    with pytest.raises(MeasureError, match="no reference 'vb'"):
        comparison_of(seen, None, "vb")
    for path, _ in seen[:-1]:
        shutil.rmtree(path)
    with pytest.raises(MeasureError, match="nothing to compare"):
        comparison_of(seen, None, "cgs")


def test_the_card_shows_them_with_a_picture_and_says_what_it_lacks(drawn, seen):
    card = Comparison(Handover())
    card.follow((), None)
    assert "No run is drawn" in card.status.object and card.view.visible
    card.follow(seen, None)
    assert card.figure.objects and "Difference from cgs" in card.table.object
    assert list(card.reference.options.values()) == ["", "svb", "cgs"]
    assert card.reference.parameter().take("svb")
    card.follow(seen, 1.5)
    for told in ("Difference from svb", "Seconds to 1.5", "not reached"):
        assert told in card.table.object
    card.files.buttons["CSV"].clicks += 1
    assert "comparison.csv" in card.files.status.object


def test_the_difference_stands_directly_after_the_perplexity_and_labels_of_others_are_text(seen):
    rows = comparison_of(seen, None, "svb").to_dataframe().reset_index()
    table = table_of(rows)
    assert [column.name for column in table.columns[2:4]] == ["Perplexity", "Difference from svb"]
    of_svb, of_cgs = (row[3] for row in table.cells())
    assert of_svb == "0" and of_cgs[0] in "+-−"
    html = table_of(rows.replace({"label": {"svb": "<script>"}})).html()
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_its_table_as_a_file_holds_the_numbers(seen):
    shown = comparison_card(seen, None, None)
    header, first, _ = csv_of(shown.picture).decode().splitlines()
    values = dict(zip(header.split(","), first.split(","), strict=True))
    found = comparison_of(seen, None, None).isel(label=0)
    assert float(values["difference_high"]) == found["difference_high"]
    assert values["runs"] == "svb-0 svb-1"
