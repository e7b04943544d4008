"""A run that other kernels take on: it is said once, recorded, and nothing else changes."""

import json

import pytest
import zarr

import workbench as wb
from workbench.kernels.jit import sources_hash
from workbench.runs.execution.run import Run
from workbench.runs.spec import make_spec
from workbench.runs.store.layout import describe_run
from workbench.runs.store.places import DATA
from workbench.runs.store.provenance import (
    KERNELS,
    computed_on,
    describe_provenance,
    other_kernels_warning,
    provenance,
    record_provenance,
    versions,
)
from workbench.runs.store.status import read_json
from workbench.runs.store.writer import create_run

SENTENCE = (
    "run 'mine' was computed with other kernels than those installed now: from here on the numbers may differ from those of "
    "an uninterrupted run; where that matters, fit again under another name\n"
)


@pytest.fixture
def run(train, store):
    """A finished run of 6 iterations."""
    wb.fit(
        train,
        "cgs",
        n_topics=3,
        n_iterations=6,
        record_every=2,
        name="mine",
        store=store,
        progress=False,
    )
    return Run(store / "mine")


def recorded_as(run: Run, **made_with: str) -> Run:
    """Return the run with other versions in the record of what it was made with."""
    group = zarr.open_group(str(run.path / DATA))
    describe_run(group, dict(group.attrs) | {"versions": group.attrs["versions"] | made_with})
    return Run(run.path)


def made_by_others(run: Run) -> Run:
    """Return the run as if other kernels had made it."""
    return recorded_as(run, kernels="0123456789ab")


def test_a_run_records_the_kernels_that_it_begins_with(run, train):
    in_memory = wb.fit(train, "cgs", n_topics=3, n_iterations=2, progress=False)
    for dataset in (run.dataset(), in_memory):
        assert (
            json.loads(dataset.attrs["versions"])["kernels"]
            == KERNELS
            == versions()["kernels"]
            == sources_hash()
        )
        assert "taken_on" not in dataset.attrs
    assert run.provenance() == [[0, KERNELS]] and not run.by_other_kernels()


def test_the_same_kernels_go_on_without_a_word(run, capsys):
    went_on = wb.resume(run, n_iterations=8, progress=False)
    assert capsys.readouterr().err == "" and "taken_on" not in went_on.attrs
    assert not read_json(run.path / "kernels.json")


def test_other_kernels_say_so_once_and_are_recorded(run, capsys):
    known = made_by_others(run).spec.hash
    went_on = wb.resume(run, n_iterations=8, progress=False)
    assert capsys.readouterr().err == SENTENCE
    told = f"made by kernels 0123456789ab, {KERNELS} after iteration 6"
    assert went_on.attrs["taken_on"] == wb.open_run(run.path).attrs["taken_on"] == told
    assert went_on.attrs["spec_hash"] == known and went_on.sizes["iteration"] == 4
    assert "0123456789ab" in went_on.attrs["versions"]  # what it began with
    again = wb.resume(run, n_iterations=12, progress=False)
    assert capsys.readouterr().err == "" and again.attrs["taken_on"] == told
    wb.resume(run, progress=False)
    assert capsys.readouterr().err == ""


def test_a_finished_run_of_other_kernels_is_only_looked_at(run, capsys):
    made_by_others(run)
    assert "taken_on" not in wb.resume(run, progress=False).attrs
    assert capsys.readouterr().err == ""


def test_a_worker_in_the_background_is_told_of_by_whoever_starts_it(run, capsys, monkeypatch):
    monkeypatch.setattr("workbench.runs.execution.run.launch", lambda path: None)
    made_by_others(run).resume(n_iterations=8)
    assert capsys.readouterr().err == SENTENCE


def test_rows_that_are_repeated_after_a_kill_belong_to_those_who_made_them_first(run):
    """Without a checkpoint all six iterations come again, and are the same bits."""
    made_by_others(run)
    (run.path / "checkpoint.npz").unlink()
    wb.resume(run, n_iterations=8, progress=False)
    assert Run(run.path).provenance() == [[0, "0123456789ab"], [6, KERNELS]]


def test_a_run_without_a_row_belongs_to_those_who_make_its_first(tmp_path):
    began = versions() | {"kernels": "older"}
    record_provenance(tmp_path, began, 0)
    assert (
        provenance(tmp_path, began) == [[0, KERNELS]]
        and describe_provenance(provenance(tmp_path, began), computed_on(tmp_path, began), began)
        == ""
    )


def test_a_run_that_has_no_row_yet_begins_without_a_word(train, store, capsys):
    run = made_by_others(
        Run(create_run(store, make_spec(train, "cgs", n_topics=3, n_iterations=4), train, None))
    )
    assert "taken_on" not in wb.resume(run, progress=False).attrs and capsys.readouterr().err == ""
    assert Run(run.path).provenance() == [[0, KERNELS]]


def test_makers_that_left_nothing_are_forgotten(tmp_path, monkeypatch):
    began = versions() | {"kernels": "a"}
    for kernels, iteration in (("b", 20), ("c", 20), ("d", 30), ("d", 40)):
        monkeypatch.setattr("workbench.runs.store.provenance.KERNELS", kernels)
        record_provenance(tmp_path, began, iteration)
    assert provenance(tmp_path, began) == [[0, "a"], [20, "c"], [30, "d"]]
    assert (
        describe_provenance(provenance(tmp_path, began), computed_on(tmp_path, began), began)
        == "made by kernels a, c after iteration 20, d after iteration 30"
    )
    monkeypatch.setattr("workbench.runs.store.provenance.KERNELS", "a")
    record_provenance(tmp_path, began, 20)
    assert provenance(tmp_path, began) == [[0, "a"]]


def test_several_runs_share_a_sentence():
    assert other_kernels_warning([]) == ""
    both = "runs 'one', 'two' were computed with other kernels than those installed now: "
    assert other_kernels_warning(["one", "two"]).startswith(both)


def on_another_machine(run: Run) -> Run:
    """Return the run as if another machine had made and computed it."""
    return recorded_as(run, cpu="i486", c_library="glibc 2.17")


def test_another_machine_that_goes_on_is_recorded(run, capsys):
    here = f"{versions()['cpu']} with {versions()['c_library']}"
    went_on = wb.resume(on_another_machine(run), n_iterations=8, progress=False)
    assert (
        went_on.attrs["taken_on"] == f"computed on i486 with glibc 2.17, {here} after iteration 6"
    )
    assert capsys.readouterr().err == "" and Run(run.path).provenance() == [[0, KERNELS]]
    assert "made_by" not in read_json(run.path / "kernels.json")


def test_a_machine_that_computes_all_of_a_run_that_another_made_is_recorded(train, store):
    run = on_another_machine(
        Run(create_run(store, make_spec(train, "cgs", n_topics=3, n_iterations=4), train, None))
    )
    here = f"{versions()['cpu']} with {versions()['c_library']}"
    assert wb.resume(run, progress=False).attrs["taken_on"] == f"computed on {here}"


def test_kernels_and_machine_that_change_are_both_told(run, capsys):
    told = wb.resume(on_another_machine(made_by_others(run)), n_iterations=8, progress=False).attrs[
        "taken_on"
    ]
    assert (
        told.startswith("made by kernels 0123456789ab, ")
        and "; computed on i486 with glibc 2.17, " in told
    )
