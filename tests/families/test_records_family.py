"""A family without topics and words: one model file, one engine file, one line of the registry."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from same_bits import same_bits

import workbench as wb
from workbench.cli import main
from workbench.dashboard.compare.page import ComparePage
from workbench.dashboard.compare.starting import data_of
from workbench.dashboard.topics.page import TopicsPage
from workbench.engines import ENGINES
from workbench.records import Records, hold_out_cells
from workbench.report import save_figures, write_report
from workbench.runs.execution.run import Run
from workbench.runs.spec import make_spec
from workbench.runs.store.writer import create_run

ENGINE, MODULE = "latent-class-em", "families.latent_class_em"
HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(ENGINES, ENGINE, MODULE)


@pytest.fixture(scope="session")
def records() -> Records:
    """200 records of five fields in two classes."""
    random = np.random.default_rng(0)
    in_class = random.random(200) < 0.4
    cells = {
        f"f{at}": np.where(random.random(200) < np.where(in_class, 0.9, 0.1), "y", "n")
        for at in range(5)
    }
    return Records.from_columns(cells, "two")


def write_csv(records: Records, path: Path) -> None:
    """Writes complete records as CSV, a row for each."""
    rows = [",".join(records.fields)]
    for values, n in zip(records.values, records.multiplicities, strict=True):
        rows += [",".join(records.levels[f][value] for f, value in enumerate(values))] * int(n)
    path.write_text("\n".join(rows) + "\n")


def test_it_runs_in_memory_and_finds_the_classes(records):
    train, test = hold_out_cells(records, 0.1, seed=0)
    ds = wb.fit(train, ENGINE, test=test, n_iterations=40, options={"n_classes": 2}, progress=False)
    assert (
        np.all(np.diff(ds.bound) > -1e-9)
        and ds.attrs["title"] == "latent-class-em on two, classes=2"
    )
    assert ds.class_share.dims == ("iteration", "class") and ds.level_share.dims == (
        "class",
        "level",
    )
    # 200 draws of which 80 are of the first
    assert sorted(ds.class_share[-1].values) == pytest.approx([0.36, 0.64], abs=0.1)
    assert float(ds.test_perplexity[-1]) < float(ds.test_perplexity[0]) < 2.2
    assert "topic" not in ds.dims


def test_a_run_in_a_store_goes_on_with_the_same_bits(records, tmp_path):
    train, test = hold_out_cells(records, 0.1, seed=0)
    given = dict(test=test, options={"n_classes": 3}, progress=False, snapshot_every=5)
    wb.fit(train, ENGINE, n_iterations=7, store=tmp_path, **given)
    resumed = wb.fit(train, ENGINE, n_iterations=20, store=tmp_path, **given)
    # it rested after 7
    same_bits(resumed.isel(snapshot=[0, 2, 3, 4]), wb.fit(train, ENGINE, n_iterations=20, **given))
    assert [run.name for run in wb.open_runs(tmp_path)] == [resumed.attrs["name"]]
    assert "-latent-class-em-classes3-" in resumed.attrs["name"]


def test_a_run_that_is_killed_in_the_middle_goes_on_with_the_same_bits(records, tmp_path):
    train, test = hold_out_cells(records, 0.1, seed=0)
    spec = make_spec(train, ENGINE, test=test, n_iterations=400, options={"n_classes": 3})
    path = create_run(tmp_path, spec, train, test)
    paths = os.pathsep.join([str(HERE.parent), str(HERE.parents[1])])
    with subprocess.Popen(
        [sys.executable, HERE / "killing_family.py", path],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    ) as child:
        while int(child.stdout.readline()) < 60:
            pass
        child.kill()
    assert (
        Run(path).state in ("running", "interrupted")
        and 0 < Run(path).progress().sizes["iteration"] < 400
    )
    resumed = wb.resume(path, progress=False)
    whole = wb.fit(
        train, ENGINE, test=test, n_iterations=400, options={"n_classes": 3}, progress=False
    )
    same_bits(resumed, whole)


def test_the_command_line_runs_it_from_a_file_and_shows_it(records, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_csv(records, Path("two.csv"))
    assert (
        main(["fit", "two.csv", "-e", ENGINE, "-n", "20", "-o", "n_classes=3", "--json", "-q"]) == 0
    )
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["name"].startswith("two-latent-class-em-classes3-") and run["state"] == "finished"
    assert main(["show", run["name"]]) == 0 and "latent classes" in capsys.readouterr().out
    assert main(["fit", "two.csv", "-e", ENGINE, "--topics", "3"]) == 2
    assert "leave out n_topics" in capsys.readouterr().err.replace("--topics", "n_topics")


@pytest.fixture
def stored(records, tmp_path) -> Path:
    """The folder of a finished run."""
    train, test = hold_out_cells(records, 0.1, seed=0)
    wb.fit(
        train,
        ENGINE,
        test=test,
        n_iterations=30,
        store=tmp_path,
        name="two-classes",
        progress=False,
    )
    return tmp_path / "two-classes"


def test_it_is_in_figures_and_in_the_report(stored, tmp_path):
    files = {path.name for path in save_figures([stored], tmp_path / "figures", "svg")}
    assert any(name.startswith("perplexity-by-iterations") for name in files)
    assert any(name.startswith("recorded") for name in files)
    page = write_report([stored], tmp_path / "report.html").read_text()
    assert "latent-class-em" in page and "latent classes" in page
    assert "log probability of the held-out cells" in page and "held-out cells" in page
    assert "phi (word given topic)" not in page and "topic sizes and words" not in page


def test_its_curve_is_on_the_compare_page_and_the_topics_page_says_that_there_are_none(stored):
    page = ComparePage(stored.parent)
    for _ in range(100):
        page.tick()
        if "two-classes" in page.figure.curve.colours():
            break
    assert "two-classes" in page.figure.curve.colours() and len(page.table.rows) == 1
    TopicsPage(stored.parent)


def test_the_form_of_the_page_reads_a_file_as_the_data_that_its_engine_infers_from(
    records, tmp_path
):
    write_csv(records, tmp_path / "two.csv")
    found = data_of(tmp_path / "two.csv", {"missing": "?"}, ENGINE)
    assert found.content_hash == records.content_hash
