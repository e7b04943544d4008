"""The last counts of a run that the pages read, while others write and remove."""

import pytest
from toys import simulated

import workbench as wb
from workbench.dashboard.shared.snapshots import SnapshotKey, counts_of
from workbench.runs.execution.run import Run
from workbench.runs.store.layout import StoreError


def snapshot_in(store) -> SnapshotKey:
    wb.fit(simulated(), "svb", 3, n_iterations=2, store=store, name="one")
    (path,) = store.glob("one*")
    run = Run(path)
    return SnapshotKey(path, run.spec.hash, 2, run.state)


@pytest.mark.parametrize(
    ("is_removed", "error", "said"),
    [
        (True, StoreError, "one.* was removed while it was read; choose another run"),
        (False, KeyError, "n_kw"),
    ],
)
def test_a_run_that_is_removed_while_it_is_read_is_told_and_anything_else_that_is_missing_is_an_error(
    is_removed, error, said, tmp_path, monkeypatch
):
    snapshot = snapshot_in(tmp_path)

    def broken(run):
        if is_removed:
            run.remove()
        raise KeyError("n_kw")

    monkeypatch.setattr(Run, "dataset", broken)
    with pytest.raises(error, match=said):
        counts_of(snapshot)
