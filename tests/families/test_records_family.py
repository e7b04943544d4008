"""A family without topics and words: one model file, one engine file, one line of the registry."""

import numpy as np
import pytest
from same_bits import same_bits

import workbench as wb
from workbench.engines import ENGINES
from workbench.records import Records, hold_out_cells

ENGINE = "latent-class-em"


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(ENGINES, ENGINE, "families.latent_class_em")


@pytest.fixture(scope="session")
def records() -> Records:
    """200 records of five fields in two classes."""
    random = np.random.default_rng(0)
    in_class = random.random(200) < 0.4
    cells = {f"f{at}": np.where(random.random(200) < np.where(in_class, 0.9, 0.1), "y", "n") for at in range(5)}
    return Records.from_columns(cells, "two")


def test_it_runs_in_memory_and_finds_the_classes(records):
    train, test = hold_out_cells(records, 0.1, seed=0)
    ds = wb.fit(train, ENGINE, test=test, n_iterations=40, options={"n_classes": 2}, progress=False)
    assert np.all(np.diff(ds.bound) > -1e-9) and ds.attrs["title"] == "latent-class-em on two, classes=2"
    assert ds.class_share.dims == ("iteration", "class") and ds.level_share.dims == ("class", "level")
    assert sorted(ds.class_share[-1].values) == pytest.approx([0.36, 0.64], abs=0.1)  # 200 draws of which 80 are of the first
    assert float(ds.test_perplexity[-1]) < float(ds.test_perplexity[0]) < 2.2
    assert "topic" not in ds.dims


def test_a_run_in_a_store_goes_on_with_the_same_bits(records, tmp_path):
    train, test = hold_out_cells(records, 0.1, seed=0)
    given = dict(test=test, options={"n_classes": 3}, progress=False, snapshot_every=5)
    wb.fit(train, ENGINE, n_iterations=7, store=tmp_path, **given)
    resumed = wb.fit(train, ENGINE, n_iterations=20, store=tmp_path, **given)
    same_bits(resumed.isel(snapshot=[0, 2, 3, 4]), wb.fit(train, ENGINE, n_iterations=20, **given))  # it rested after 7
    assert [run.name for run in wb.open_runs(tmp_path)] == [resumed.attrs["name"]]
    assert "-latent-class-em-classes3-" in resumed.attrs["name"]
