"""The last counts of a run that the pages read, while others write and remove."""

import pytest
from toys import simulated

import workbench as wb
from workbench.dashboard.shared.snapshots import Moment, counts_of
from workbench.runs.execution.run import Run
from workbench.runs.store.layout import StoreError


def moment_in(store) -> Moment:
    wb.fit(simulated(), "svb", 3, n_iterations=2, store=store, name="one")
    (path,) = store.glob("one*")
    run = Run(path)
    return Moment(path, run.spec.hash, 2, run.state)


def test_a_run_that_is_removed_while_it_is_read_is_told_in_a_sentence(tmp_path, monkeypatch):
    moment, whole = moment_in(tmp_path), Run.dataset

    def late(run):
        run.remove()
        return whole(run)

    monkeypatch.setattr(Run, "dataset", late)
    with pytest.raises(
        StoreError, match=f"{moment.path.name} was removed while it was read; choose another run"
    ):
        counts_of(moment)


def test_what_is_missing_of_a_run_that_is_there_is_no_removal(tmp_path, monkeypatch):
    moment = moment_in(tmp_path)

    def broken(run):
        raise KeyError("n_kw")

    monkeypatch.setattr(Run, "dataset", broken)
    with pytest.raises(KeyError):
        counts_of(moment)
