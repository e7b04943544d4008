"""The figures of names by state and year: what is run, the numbers made of it, and what is said of them."""

import csv
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from missing import skip_without
from toys import dense, placed, simulated

import workbench as wb
from workbench.corpus import data_sets, prepare
from workbench.measures.rows import hits_by_time
from workbench.models.stick_breaking.scores import expected_hits
from workbench.papers.figure import Extent
from workbench.papers.figures import FIGURES
from workbench.papers.gaussian_processes import LNM, METHODS, PUBLISHED, SBM, STATIC
from workbench.papers.reproduce import lay_out_figure, reduced
from workbench.runs.spec import SpecError

TABLE_3, TIMES = FIGURES["gp-table3"], FIGURES["gp-fig3-time"]
LENGTHS = {method.label: 4 for figure in (TABLE_3, TIMES) for method in figure.methods}


def held_out(seed=3):
    """Twelve rows over three years, those of the last two years held out when prepared."""
    return replace(placed(simulated(seed=seed)), name="names", held_out_rows="year>=1992")


@pytest.fixture
def tiny(only):
    """Both figures on twelve rows, two draws of four sweeps; each draw has other counts."""
    short = Extent(2, (0,), lengths=LENGTHS)
    both = [replace(each, full=short, quick=replace(short, n_seeds=1)) for each in (TABLE_3, TIMES)]
    asked = []

    def load(name):
        asked.append(name)
        return held_out(3 + int(name.partition("draw=")[2] or 0))

    only(both, load)
    return asked


def test_the_table_is_that_of_the_paper():
    assert (
        TABLE_3.full.lengths == {"static": 1, "raw GP": 1, "LNM": 200, "SBM": 20}
        and TABLE_3.full.n_seeds == 5
    )
    assert [
        PUBLISHED[SBM, 2012][:3:2],
        PUBLISHED[LNM, 2013][:3:2],
        PUBLISHED[STATIC, 2012][:3:2],
    ] == [(7.3, 4.0), (6.8, 4.6), (4.2, 0.7)]
    cells = lay_out_figure(
        replace(TABLE_3, of_seed=""), {"names": held_out()}, replace(TABLE_3.full, n_seeds=1)
    )
    options = {
        cell.key_values["method"]: (cell.spec.burn_in, cell.spec.options.get("average_after"))
        for cell in cells
    }
    assert options == {"static": (0, None), "raw GP": (0, None), "LNM": (100, 100), "SBM": (10, 10)}
    assert {cell.spec.split["rows"]["by"] for cell in cells} == {"year"}


def test_quick_leaves_out_dense_covariances_and_the_caption_says_so():
    assert {method.label for _, method, _ in TIMES.grid(TIMES.quick)} == {
        "LNM",
        "SBM",
        "SBM, conditional",
    }
    actual = reduced(TIMES, TIMES.quick)
    assert "without LNM, dense and SBM, dense" in actual and any(
        "of SBM, not 100" in each for each in actual
    )


def test_hits_are_those_of_the_rows_of_each_year():
    _, test, _ = prepare(held_out())
    names = np.arange(test.n_words)
    p = np.full((test.n_documents, test.n_words), 1.0 / test.n_words)
    counts = dense(test)
    of_1992 = np.flatnonzero(test.input("year") == 1992)
    p[of_1992] = (counts[of_1992] + 1e-6) / (counts[of_1992] + 1e-6).sum(axis=1, keepdims=True)
    run = wb.fit(prepare(held_out())[0], "static", n_iterations=1, progress=False)
    result = hits_by_time(run.assign(probability=(("document", "word"), p)), test)
    assert list(result) == [1992.0, 1993.0]
    by_hand = expected_hits(p[of_1992], counts[of_1992])
    assert result[1992.0][:3:2] == tuple(each.mean() for each in by_hand)
    # equal probabilities: a guess, to rounding
    assert result[1993.0].top == pytest.approx(10 * 10 / len(names), rel=1e-12)
    shares = counts[of_1992] / counts[of_1992].sum()
    came = counts[of_1992] > 0
    # rounding
    assert result[1992.0].log_likelihood == pytest.approx(
        (shares[came] * np.log(p[of_1992][came])).sum(), rel=1e-12
    )


@pytest.mark.slow
def test_the_table_is_made_with_the_paper_below_our_numbers_and_each_draw_its_own(tiny, tmp_path):
    made = wb.reproduce("gp-table3", tmp_path, tmp_path / "runs", progress=False)
    assert tiny == ["names", "names:draw=1"]
    rows = list(csv.DictReader((tmp_path / "gp-table3.csv").read_text().splitlines()))
    assert len(rows) == len(METHODS) * 2 * 2 and {row["year"] for row in rows} == {"1992", "1993"}
    static = [
        run
        for cell, run in zip(made.cells, made.runs, strict=True)
        if cell.key_values["method"] == STATIC
    ]
    assert static[0].spec.train != static[1].spec.train
    recorded = [float(run.dataset()["test_top_hits"].values[-1]) for run in static]
    weights = {
        year: np.sum(
            made.cells[0].test.input("year")[np.unique(made.cells[0].test.documents)] == year
        )
        for year in (1992, 1993)
    }
    by_year = [
        [
            float(row["top"]) * weights[int(row["year"])]
            for row in rows
            if row["method"] == STATIC and row["seed"] == str(seed)
        ]
        for seed in (0, 1)
    ]
    # rounding
    assert np.sum(by_year, axis=1) / sum(weights.values()) == pytest.approx(recorded, rel=1e-9)
    caption = (tmp_path / "gp-table3.txt").read_text()
    assert (
        "seeds of births drawn and start: 0 to 1" in caption
        and "Not the published extent" not in caption
    )
    assert "standard deviation over starts" not in caption
    assert len(made.verdicts) == len(TABLE_3.claims) and not made.failures


@pytest.mark.slow
def test_curves_in_seconds_have_the_labels_of_the_figure(tiny, tmp_path):
    made = wb.reproduce(
        "gp-fig3-time", tmp_path, tmp_path / "runs", quick=True, formats=["svg"], progress=False
    )
    rows = list(csv.DictReader((tmp_path / "gp-fig3-time.csv").read_text().splitlines()))
    assert {row["label"] for row in rows} == {method.label for method in TIMES.methods} and len(
        rows
    ) == 5 * 4
    assert "CPU s until converged" in (tmp_path / "gp-fig3-time.txt").read_text()
    # a single draw has no interval
    assert {verdict.outcome for verdict in made.verdicts} == {"undecided"}


def test_topics_are_refused_where_there_are_none(tmp_path):
    with pytest.raises(
        SpecError, match="the models of gp-table3 have no topics; leave the topics out"
    ):
        wb.reproduce("gp-table3", tmp_path, topics=[5])


@pytest.mark.long
def test_draw_name_maps_has_maps_of_probabilities_and_counts(tmp_path, monkeypatch):
    if data_sets()["names"].folder() is None:
        skip_without("WORKBENCH_DATA names no folder with the files of names")
    made = wb.reproduce("gp-fig3-maps", tmp_path, quick=True, formats=["png"])
    assert (
        len(made.verdicts) == 2
        and "4 sweeps, not 40" in (tmp_path / "gp-fig3-maps.txt").read_text()
    )
    rows = list(csv.DictReader((tmp_path / "gp-fig3-maps.csv").read_text().splitlines()))
    assert len(rows) == 2 * 3 * 44  # names, years, states


def test_a_run_without_a_time_has_all_its_rows_together():
    corpus = replace(
        simulated(), inputs=np.arange(12.0)[:, None], input_names=("height",), name="steep"
    )
    train, test, _ = prepare(corpus, rows={"by": "height", "at_least": 9})
    run = wb.fit(train, "static", n_iterations=1, progress=False)
    assert isinstance(run, xr.Dataset) and list(hits_by_time(run, test)) == [0.0]
