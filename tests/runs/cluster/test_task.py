"""What a worker does with a run before it computes it: a run that has ended, or that is somebody else's, is left alone."""

import threading
from types import SimpleNamespace

import distributed
import pytest
from clusters import until

import workbench as wb
from workbench.runs.execution.cluster import sweeping
from workbench.runs.execution.cluster.connecting import ClusterError, about_process
from workbench.runs.execution.cluster.sweeping import ELSEWHERE, REMOVED, compute
from workbench.runs.spec import make_spec
from workbench.runs.store.lock import Lock, LockHeld
from workbench.runs.store.status import (
    FINISHED,
    PAUSED,
    RUNNING,
    STOPPED,
    WAITING,
    request,
    set_state,
)
from workbench.runs.store.writer import create_run


@pytest.fixture(autouse=True)
def on_a_worker(monkeypatch):
    worker = SimpleNamespace(address="tcp://there:1", status=SimpleNamespace(name="running"))
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    monkeypatch.setattr(sweeping, "LOOK_AT_CHILD_EVERY", 0.02)
    return worker


@pytest.fixture
def run(train, test, store):
    """A run that waits for a worker."""
    path = create_run(store, make_spec(train, "svb", 3, test=test, n_iterations=5), train, test)
    request(path, RUNNING)
    set_state(path, WAITING)
    return wb.Run(path)


@pytest.fixture
def queue(store):
    """The lock of the queue of a client that is there."""
    store.mkdir(exist_ok=True)
    with Lock(store / "queue") as lock:
        yield lock


def computed(run: wb.Run, queue: Lock, has=None) -> str:
    return compute(str(run.path), has or about_process(), str(queue.path))


@pytest.mark.slow
def test_a_run_is_computed_by_a_process_of_its_own_and_has_the_bits_of_one_here(
    run, queue, train, test
):
    assert computed(run, queue) == FINISHED
    here = wb.fit(train, "svb", 3, test=test, n_iterations=5, progress=False)
    assert run.dataset().train_perplexity.identical(here.train_perplexity)
    assert computed(run, queue) == FINISHED and (run.path / "worker.log").read_text() == ""


@pytest.mark.parametrize("wanted", [PAUSED, STOPPED])
def test_a_run_that_was_paused_or_stopped_while_it_waited_is_not_begun(run, queue, wanted):
    request(run.path, wanted)
    assert computed(run, queue) == wanted
    assert run.status()["iteration"] == 0 and not (run.path / "worker.log").exists()


def test_a_run_that_was_removed_is_left_alone(run, queue):
    run.remove()
    assert computed(run, queue) == REMOVED and not run.path.exists()


def test_a_run_on_which_another_process_works_is_left_to_it(run, queue, monkeypatch):
    monkeypatch.setattr(sweeping, "LIVES", 0.1)
    ended = threading.Event()

    def beat():
        while not ended.wait(0.02):
            set_state(run.path, RUNNING)

    with Lock(run.path / "lock"):
        beating = threading.Thread(target=beat)
        beating.start()
        try:
            assert computed(run, queue) == ELSEWHERE
        finally:
            ended.set()
            beating.join()


@pytest.mark.slow
def test_a_run_whose_process_is_about_to_end_is_waited_for(run, queue):
    held = Lock(run.path / "lock")
    releasing = threading.Timer(1.0, held.release)
    releasing.start()
    assert computed(run, queue) == FINISHED
    releasing.join()


@pytest.mark.slow
def test_a_run_whose_lock_became_free_just_after_it_was_tried_is_computed(run, queue, monkeypatch):
    set_state(run.path, RUNNING)
    refusals = iter([LockHeld])

    def lock(*given):
        for held in refusals:
            raise held
        return Lock(*given)

    monkeypatch.setattr(sweeping, "Lock", lock)
    assert run.state == "interrupted" and computed(run, queue) == FINISHED


def test_the_lock_of_a_machine_that_is_gone_is_waited_for_no_longer_than_it_may_last(
    run, queue, monkeypatch
):
    monkeypatch.setattr(sweeping, "SILENT_WITHIN", 0.1)
    with (
        Lock(run.path / "lock"),
        pytest.raises(ClusterError, match="is locked by a machine that has been silent for 0 s"),
    ):
        computed(run, queue)


def test_compute_refuses_a_run_of_whose_queue_the_worker_sees_no_lock(run, queue, store):
    queue.release()
    with pytest.raises(
        ClusterError,
        match=f"worker tcp://there:1 on .* does not see the lock of this sweep in the store {store}; give a store on",
    ):
        computed(run, queue)
    assert run.status()["iteration"] == 0


def test_a_worker_that_came_later_and_has_other_kernels_computes_nothing(run, queue):
    with pytest.raises(
        ClusterError, match="and the client .* with ffffffffffff: the numbers may differ"
    ):
        computed(run, queue, about_process()._replace(kernels="f" * 12))
    assert run.status()["iteration"] == 0


@pytest.mark.slow
def test_the_process_of_a_run_ends_with_its_worker_which_gives_the_run_back(
    on_a_worker, queue, train, store
):
    run = wb.Run(
        create_run(
            store, make_spec(train, "cgs", 3, n_iterations=10**6, record_every=1000), train, None
        )
    )
    closing = threading.Thread(target=close_when_begun, args=(run, on_a_worker))
    closing.start()
    with pytest.raises(distributed.Reschedule):
        computed(run, queue)
    closing.join()
    assert run.state == "interrupted"


def close_when_begun(run: wb.Run, worker) -> None:
    until(lambda: run.status()["iteration"] > 0)
    worker.status.name = "closing"
