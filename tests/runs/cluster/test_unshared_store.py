"""Runs whose store their workers do not share: the same bits, whatever is killed, and at the client while they are computed."""

import asyncio
import contextlib
import pickle
import shutil
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import distributed
import numpy as np
import pytest
from cluster_runs import ended_whole, in_command, made_by
from clusters import kill, until, worker_of
from same_bits import same_bits

import workbench as wb
from workbench.corpus import shard_writer
from workbench.runs.execution.cluster import file_pieces, run_copy, unshared_store
from workbench.runs.execution.cluster.connecting import ClusterError, about_process
from workbench.runs.execution.cluster.file_pieces import own_files, pieces_of, some
from workbench.runs.execution.cluster.run_copy import Copy, compute_copy, forget
from workbench.runs.execution.cluster.sweeping import work_through_on
from workbench.runs.execution.cluster.task import ELSEWHERE, REMOVED
from workbench.runs.execution.cluster.unshared_store import Transfers
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on
from workbench.runs.spec import make_spec
from workbench.runs.store import writer
from workbench.runs.store.checkpoint import read_iteration
from workbench.runs.store.create import create_run
from workbench.runs.store.layout import StoreError
from workbench.runs.store.lock import Lock
from workbench.runs.store.status import (
    FINISHED,
    PAUSED,
    RUNNING,
    STOPPED,
    WAITING,
    request,
    set_state,
)

APART = """
import sys, time
from workbench.runs.execution.cluster import shared_store
shared_store.look_at_probe = lambda path: shared_store.Seen("there", "", "", False, time.time())
shared_store.sees_lock = lambda path: False

def refuse(event, arguments):
    if event.startswith(("open", "os.", "subprocess.")) and any({store!r} in str(one) for one in arguments):
        raise PermissionError(f"{{event}} of the store, which is on another machine")

sys.addaudithook(refuse)
"""
"""Of a worker that does not share the store: its path must not be touched there."""


@pytest.fixture
def apart(cluster, store):
    """A cluster of two workers, which do not share the store."""
    for _ in range(2):
        cluster.add_worker(preload=APART.format(store=str(store)))
    return cluster


def copies_in(cluster) -> list:
    """Folders that workers have for copies."""
    return [*cluster.folder.glob("dask-scratch-space/*/workbench-*")]


@pytest.fixture
def worker(tmp_path, monkeypatch):
    """A worker in this process."""
    executing = SimpleNamespace(state="executing")
    made = SimpleNamespace(
        address="tcp://there:1",
        status=SimpleNamespace(name="running"),
        local_directory=str(tmp_path / "worker"),
        get_current_task=lambda: "key",
        state=SimpleNamespace(tasks={"key": executing}),
    )
    monkeypatch.setattr(distributed, "get_worker", lambda: made)
    return made


class ClientHere:
    """A client of the one worker in this process."""

    status = "running"

    def __init__(self, worker):
        self.worker = worker

    def run(self, function, *arguments, workers=None, on_error="raise"):
        answer = function(*pickle.loads(pickle.dumps(arguments)), dask_worker=self.worker)
        if function is not forget:
            with ThreadPoolExecutor(1) as pool:  # Playwright leaves a loop in the thread of tests
                answer = pool.submit(asyncio.run, answer).result()
        return {self.worker.address: pickle.loads(pickle.dumps(answer))}


@pytest.fixture
def transfers(worker, store):
    store.mkdir()
    with Lock(store / "queue") as queue:
        made = Transfers(ClientHere(worker), queue)
        yield made
        made.close()


def made(store, train, test, engine="svb", n_iterations=5, budget=10**9, **settings) -> Run:
    """A run that waits for a worker."""
    spec = make_spec(train, engine, 3, test=test, n_iterations=n_iterations, **settings)
    run = Run(create_run(store, spec, train, test, budget))
    request(run.path, RUNNING)
    set_state(run.path, WAITING)
    return run


@pytest.fixture
def run(thirty_documents, store, transfers):
    return made(store, *thirty_documents)


@contextlib.contextmanager
def task(name: str):
    """The task of a run, in a thread."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(compute_copy, name, about_process(), "queue")


def outcome(run: Run, transfers: Transfers) -> str:
    with task(run.name) as future:
        until(lambda: transfers.exchange([run]) or future.done())
        return future.result()


@pytest.mark.slow
def test_rows_come_while_a_copy_is_computed_and_it_has_the_bits_of_a_run_here(
    store, transfers, tmp_path, thirty_documents
):
    train, test = thirty_documents
    run, seen = made(store, train, test, "cgs", 1500, record_every=10), set()
    with task(run.name) as future:
        while not future.done():
            transfers.exchange([run])
            seen.add((run.state, run.dataset().sizes["iteration"] > 0))
    assert future.result() == FINISHED and (RUNNING, True) in seen and run.state == FINISHED
    same_bits(
        run.dataset(),
        wb.fit(train, "cgs", 3, test=test, n_iterations=1500, record_every=10, progress=False),
    )
    assert run.status()["pid"] and (run.path / "checkpoint.npz").exists()
    assert outcome(run, transfers) == FINISHED
    transfers.close()
    assert not list((tmp_path / "worker").iterdir())


@pytest.mark.parametrize("wanted", [PAUSED, STOPPED])
def test_a_run_that_was_paused_or_stopped_while_it_waited_is_not_begun(run, transfers, wanted):
    request(run.path, wanted)
    assert outcome(run, transfers) == wanted and run.state in (wanted, "interrupted")
    assert run.status()["iteration"] == 0 and not (run.path / "worker.log").exists()


def test_a_run_that_was_removed_is_left_alone(run, transfers):
    run.remove()
    assert outcome(run, transfers) == REMOVED and not run.path.exists()


def test_a_run_on_which_another_process_works_is_left_to_it(run, transfers):
    with Lock(run.path / "lock"):
        assert outcome(run, transfers) == ELSEWHERE


def test_a_copy_of_a_task_that_nobody_wants_ends(run, worker, tmp_path):
    with task(run.name) as future:
        until(lambda: run_copy.COPIES)
        worker.state.tasks.clear()
        assert future.result() == ELSEWHERE
    assert not list((tmp_path / "worker").iterdir())


def test_a_copy_gives_its_run_back_when_its_worker_is_about_to_end(run, worker):
    with task(run.name) as future:
        until(lambda: run_copy.COPIES)
        worker.status.name = "closing_gracefully"
        with pytest.raises(distributed.Reschedule):
            future.result()


def test_a_later_copy_takes_the_place_of_one_whose_worker_was_lost(run, transfers, monkeypatch):
    monkeypatch.setattr(
        run_copy, "outcome_of_child", lambda path, lock, goes_on: until(lambda: not goes_on())
    )
    with task(run.name) as first:
        until(lambda: transfers.exchange([run]) or run.name in transfers._given)
        with task(run.name) as second:
            until(lambda: transfers.exchange([run]) or first.done())
            assert first.result() == ELSEWHERE and not second.done()
            transfers.close()
            assert second.result() == run_copy.GONE
    assert run.state == "interrupted"


def test_what_cannot_be_read_here_or_written_there_is_a_sentence(
    run, transfers, store, tmp_path, thirty_documents
):
    (tmp_path / "worker").write_text("")
    with pytest.raises(
        StoreError,
        match=f"a copy of run '{run.name}' on .* cannot be written: Not a directory .*; see to the",
    ):
        outcome(run, transfers)
    (tmp_path / "worker").unlink()
    for file in (store / ".corpora").iterdir():
        file.unlink()
    with pytest.raises(
        StoreError,
        match=f"run '{run.name}' cannot be read: No such file or directory .*; what it has",
    ):
        outcome(run, transfers)
    assert run.state == "interrupted"


def test_what_cannot_be_written_here_ends_the_copy_with_a_sentence(run, transfers, monkeypatch):
    def full(run, piece):
        raise OSError(28, "No space left on device", "checkpoint.npz")

    monkeypatch.setattr(unshared_store, "_write", full)
    monkeypatch.setattr(
        run_copy, "outcome_of_child", lambda path, lock, goes_on: set_state(path, FINISHED)
    )
    with pytest.raises(
        StoreError,
        match=r"cannot be written: No space left on device \(checkpoint.npz\); what it has",
    ):
        outcome(run, transfers)


@pytest.mark.parametrize("sizes", [[], [0], [1], [8], [9, 0, 16]])
def test_files_arrive_as_they_were_whatever_is_sent_at_once(tmp_path, monkeypatch, sizes):
    monkeypatch.setattr(file_pieces, "PIECE", 4)
    files = [(f"there/{at}", tmp_path / str(at)) for at in range(len(sizes))]
    for (_, path), size in zip(files, sizes, strict=True):
        path.write_bytes(bytes(range(size)))
    pieces = pieces_of(files)
    while sent := some(pieces, 5):
        for piece in sent:
            file_pieces.put(tmp_path, piece)
    for name, path in files:
        assert (tmp_path / name).read_bytes() == path.read_bytes()


def slow_link(source, target):
    """Takes so long that the run has committed more before the next."""
    shard_writer.link(source, target)
    time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "in_shards"), [("cgs", False), ("g-hdp", False), ("svb", True)])
def test_whatever_has_come_at_any_moment_is_a_run_that_goes_on_with_the_same_bits(
    store, worker, tmp_path, monkeypatch, thirty_documents, engine, in_shards
):
    train, test = thirty_documents
    # all but some snapshots are thinned out
    settings = dict(n_iterations=60, snapshot_every=4, budget=0)
    if in_shards:
        monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 150)
        train, test = (
            wb.ShardedCorpus.write(corpus, tmp_path / name)
            for corpus, name in ((train, "train"), (test, "test"))
        )
    carry_on((known := made(tmp_path / "whole", train, test, engine, **settings)).path)
    whole = known.dataset()
    monkeypatch.setattr(file_pieces, "PIECE", 512)
    monkeypatch.setattr(run_copy, "CHECKPOINT_BYTES", 10**9)
    monkeypatch.setattr(writer, "CHECKPOINT_EVERY", 0.02)
    monkeypatch.setattr(writer, "FLUSH_EVERY", 0.0)
    monkeypatch.setattr(run_copy, "link", slow_link)
    run = made(store, train, test, engine, **settings)
    with Copy(run.name, "queue", worker) as copy:
        files = [*unshared_store._files(run, frozenset())]
        copy.begin([*pieces_of(files)], False)
        assert copy.report(None, 1).data == {
            name for name, _ in files if name.startswith(".corpora/")
        }
        copy.begin([], True)
        computing = threading.Thread(
            target=carry_on,
            args=(copy.path,),
            kwargs=dict(on_iteration=lambda *_: time.sleep(0.03)),
        )
        computing.start()
        at, killed, is_all = 0, [], False
        while not is_all:
            copy.has_ended = not computing.is_alive()
            copy._scan_due = 0.0
            report = copy.report(None, 1)
            is_all = report.is_all
            for piece in report.pieces:
                unshared_store._write(run, piece)
                at += 1
                if piece.is_last:
                    came = run.dataset()
                    n_k = whole.n_k.values[: came.sizes["iteration"], : came.sizes["topic"]]
                    np.testing.assert_array_equal(came.n_k.values, n_k)
                if at % 40 == 0 and len(killed) < 4:
                    shutil.copytree(store, tmp_path / f"killed-{at}")
                    killed.append(tmp_path / f"killed-{at}" / run.name)
        computing.join()
        here, there = (
            {name: path.read_bytes() for name, path in own_files(folder)}
            for folder in (run.path, copy.path)
        )
        assert here.pop("status.json") and there.pop("status.json") and here == there
    same_bits(run.dataset(), whole)
    sent = {
        name.removeprefix(f"{run.name}/") for name, _ in unshared_store._files(run, frozenset())
    }
    assert "checkpoint.npz" in sent and not [name for name in sent if "/n_kw/c/" in name]
    n_files = len([name for name in here if name.startswith("parts-")])
    assert (n_files > 0) == in_shards
    for path in killed:
        if (iteration := read_iteration(path / "checkpoint.npz")) is not None:
            assert len([*path.glob(f"parts-{iteration}/*.npz")]) == n_files
        assert carry_on(path)
        same_bits(Run(path).dataset().isel(snapshot=[-1]), whole.isel(snapshot=[-1]))
    assert len(killed) > 2


@pytest.mark.slow
def test_a_sweep_has_the_bits_of_one_here_and_leaves_nothing_on_its_workers(
    apart, corpus, tmp_path, store, capsys
):
    grid, more = (
        {"n_topics": [2, 3], "seed": [0, 1]},
        dict(engine="svb-cgs", n_iterations=5, warm=True, progress=False),
    )
    here = wb.sweep(corpus, grid, store=tmp_path / "here", **more)
    there = wb.sweep(corpus, grid, store=store, client=apart.address, **more)
    assert list(there.state.values) == ["finished"] * 4
    timed = ["elapsed", "cpu_time", "spec"]
    assert here.drop_vars(timed).identical(there.drop_vars(timed))
    (told,) = capsys.readouterr().err.splitlines()
    assert (
        f"on there does not see the files of the store {store}: rows and checkpoints go through the scheduler to"
        in told
    )
    assert not copies_in(apart)
    # what is asked several times a second is not in the logs of workers
    assert apart.log().count("'collect'") <= 2


def after_a_pause(run, steps: list, end):
    """Pauses a run, resumes it when its checkpoint has come, at which a row is recorded, and ends it; each is one more step."""

    def steer(left):
        state = run.state
        if not steps and state == RUNNING and run.status()["iteration"] > 100:
            steps.append(run.pause())
        if len(steps) == 1 and state == PAUSED and (run.path / "checkpoint.npz").exists():
            steps.append(run.resume())
        if len(steps) == 2 and state == RUNNING:
            steps.append(end())

    return steer


@pytest.mark.slow
def test_a_run_goes_on_elsewhere_from_the_checkpoint_that_came(apart, client_to, make, whole):
    (run,), steps = make(1), []
    work_through_on(
        client_to(apart.address), [run], after_a_pause(run, steps, lambda: kill(worker_of(run).pid))
    )
    assert len(steps) == 3 and run.state == FINISHED, run.status()
    known = whole(0)
    same_bits(
        run.dataset().sel(iteration=known.iteration).isel(snapshot=[-1]), known.isel(snapshot=[-1])
    )


@pytest.mark.slow
def test_where_some_workers_share_the_store_runs_go_on_with_those_that_do_not(
    cluster, client_to, make, whole, store
):
    client, runs = client_to(cluster.address), make(2)
    cluster.add_worker()
    cluster.add_worker(preload=APART.format(store=str(store)))
    client.wait_for_workers(2)
    work_through_on(client, runs, lambda left: None)
    ended_whole(runs, whole)


@pytest.mark.slow
def test_pause_and_stop_reach_a_copy(apart, client_to, make):
    (run,), steps = make(1, n_iterations=10**6), []
    work_through_on(client_to(apart.address), [run], after_a_pause(run, steps, run.stop))
    assert len(steps) == 3 and run.state == STOPPED and run.status()["iteration"] > 100
    assert run.dataset().iteration.values[-1] == run.status()["iteration"]


@pytest.mark.slow
def test_a_client_that_is_killed_leaves_its_runs_interrupted_and_the_same_command_goes_on(
    apart, store, whole
):
    with in_command(store, "--scheduler", apart.address) as command:
        runs = made_by(command, store)
        until(lambda: any(run.status()["iteration"] > 100 for run in runs))
        kill(command.pid)
    until(lambda: [run.state for run in runs] == ["interrupted"] * 2, 20)
    until(lambda: not copies_in(apart), 20, "copies are left on a worker")
    with in_command(store, "--scheduler", apart.address) as command:
        told = command.communicate(timeout=200)[1]
    assert command.returncode == 0, told
    ended_whole(runs, whole)


@pytest.mark.slow
def test_ctrl_c_stops_the_copies_cleanly(apart, store):
    with in_command(store, "--scheduler", apart.address, n_iterations=10**6) as command:
        runs = made_by(command, store)
        until(lambda: all(run.status()["iteration"] > 100 for run in runs))
        command.send_signal(signal.SIGINT)
        told = command.communicate(timeout=60)[1]
    assert command.returncode == 130 and "interrupted; what was committed is kept" in told
    for run in runs:
        assert (
            run.state == STOPPED
            and run.dataset().iteration.values[-1] == run.status()["iteration"] > 100
        )
    until(lambda: not copies_in(apart), 20, "copies are left on a worker")


@pytest.mark.slow
def test_a_client_cannot_go_where_the_store_is_not_shared(apart, store):
    with in_command(store, "--scheduler", apart.address, "--detach", n_iterations=10) as command:
        told = command.communicate(timeout=60)[1]
    assert command.returncode == 2 and not store.exists()
    assert (
        "so its runs need this process; leave --detach out, or give a store that all machines share"
        in told
    )


@pytest.mark.slow
def test_one_run_over_shards_needs_a_store_that_is_shared(apart, store, thirty_documents):
    with pytest.raises(
        ClusterError,
        match="does not see the files of the store .*; give a store on a file system that all",
    ):
        wb.fit(
            thirty_documents[0],
            "svb",
            3,
            n_iterations=2,
            store=store,
            client=apart.address,
            progress=False,
        )
