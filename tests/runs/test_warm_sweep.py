"""A warm sweep in a process of its own."""

import json
from pathlib import Path

import pytest
from clusters import until
from same_process import working_here
from toys import simulated

import workbench as wb
from workbench.runs.execution import queue, warm_sweep
from workbench.runs.execution.sweep import cold_groups
from workbench.runs.execution.worker import carry_on
from workbench.runs.store.lock import Lock
from workbench.runs.store.status import QUEUES, STOPPED, request, requested

GRID = {"n_topics": [4, 2, 3]}
TEXTS = ["apples pears plums apples", "red green blue red", "apples red pears green"] * 20


def laid_out(store, corpus=None, n_iterations=12, **settings):
    corpus = corpus or simulated()
    return cold_groups(
        corpus,
        GRID,
        "cgs",
        settings.pop("seeds", 2),
        store=store,
        n_iterations=n_iterations,
        **settings,
    )


def ended(store) -> None:
    """Waits until no warm sweep of the store goes on."""
    until(lambda: not warm_sweep.at_work(store))


@pytest.fixture
def begun(store, monkeypatch):
    """A function that begins a sweep without its process and returns its lock; the runs of `climb` run here to their ends."""
    monkeypatch.setattr(queue, "launch", carry_on)
    monkeypatch.setattr(warm_sweep, "spawn", lambda *given, lock, log: lock.release())

    def begin(*corpus, **settings) -> Path:
        warm_sweep.begin(store, laid_out(store, *corpus, **settings), 1)
        (path,) = (store / QUEUES).iterdir()
        return path

    return begin


@pytest.mark.slow
def test_a_warm_sweep_in_the_background_makes_its_runs_one_number_after_the_other(
    store, tmp_path, monkeypatch
):
    first = warm_sweep.begin(store, laid_out(store), 2)
    assert [run.spec.model["n_topics"] for run in first] == [2, 2]
    assert warm_sweep.at_work(store) == {run.name for run in first}
    ended(store)
    working_here(monkeypatch)
    there = wb.sweep(
        simulated(),
        GRID,
        "cgs",
        seeds=2,
        warm=True,
        store=tmp_path / "others",
        n_iterations=12,
        progress=False,
    )
    assert {run.name for run in wb.open_runs(store)} == set(there["run"].values)
    assert {run.state for run in wb.open_runs(store)} == {"finished"}


@pytest.mark.slow
def test_stopping_the_runs_of_one_number_ends_it_and_started_again_it_goes_on(store):
    for run in warm_sweep.begin(store, laid_out(store, n_iterations=100_000), 2):
        run.stop()
    ended(store)
    assert [run.state for run in wb.open_runs(store)] == ["stopped"] * 2
    reached = {run.name: run.status()["iteration"] for run in wb.open_runs(store)}
    warm_sweep.begin(store, laid_out(store, n_iterations=max(12, *reached.values()) + 1), 2)
    ended(store)
    assert len(wb.open_runs(store)) == 6 and {run.state for run in wb.open_runs(store)} == {
        "finished"
    }


def test_later_runs_begin_from_those_before_and_keep_the_texts(begun, store):
    warm_sweep.climb(begun(wb.corpus_of(TEXTS), seeds=1))
    runs = {run.spec.model["n_topics"]: run for run in wb.open_runs(store)}
    assert [runs[k].spec.start and runs[k].spec.start["name"] for k in (2, 3, 4)] == [
        None,
        runs[2].name,
        runs[3].name,
    ]
    assert runs[4].table.texts == tuple(TEXTS)


def test_a_stop_that_comes_when_all_of_one_number_have_ended_is_heeded(begun, store, monkeypatch):
    def launch(path: Path):
        carry_on(path)
        request(path, STOPPED)

    with monkeypatch.context() as patched:
        patched.setattr(queue, "launch", launch)
        warm_sweep.climb(begun())
    assert len(wb.open_runs(store)) == 2
    warm_sweep.climb(begun())  # asked for again, the two are there, and the others follow
    assert len(wb.open_runs(store)) == 6
    assert {requested(run.path) for run in wb.open_runs(store)} == {"running"}


def test_only_a_sweep_whose_process_lives_is_at_work(begun, store):
    path = begun()
    assert warm_sweep.at_work(store) == set()
    with Lock(path):
        assert (
            warm_sweep.at_work(store) == set(json.loads(path.read_text())["runs"])
            and len(warm_sweep.at_work(store)) == 2
        )
    with Lock(store / QUEUES / "a-queue"):
        assert warm_sweep.at_work(store) == set()


def test_what_does_not_fit_into_memory_is_refused_before_anything_is_made(store, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "1M")
    with pytest.raises(wb.SpecError, match="memory"):
        warm_sweep.begin(store, laid_out(store), 2)
    assert not wb.open_runs(store)
