"""Sweeps and comparisons on the workers of a cluster: the same bits as here, whatever is killed."""

import signal
import subprocess

import pytest
from cluster_runs import ended_whole, in_command, made_by
from clusters import child_of, has_ended, kill, until, worker_of
from distributed import Client, LocalCluster
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError

import workbench as wb
from workbench.runs.execution.cluster import sweeping
from workbench.runs.execution.cluster.connecting import ClusterError
from workbench.runs.execution.cluster.sweeping import leave, work_through_on
from workbench.runs.store.provenance import machine
from workbench.runs.store.status import PAUSED, RUNNING, STOPPED, WAITING

pytestmark = pytest.mark.slow
GRID = {"n_topics": [2, 3], "seed": [0, 1]}


def test_a_sweep_on_a_cluster_has_the_bits_of_one_here(corpus, tmp_path):
    here = wb.sweep(
        corpus, GRID, "svb-cgs", n_iterations=5, store=tmp_path / "here", progress=False
    )
    in_turn = dict(
        grid={"n_topics": [2, 3]}, engine="cgs", n_iterations=5, warm=True, progress=False
    )
    warm = wb.sweep(corpus, store=tmp_path / "here", **in_turn)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        there = wb.sweep(
            corpus,
            GRID,
            "svb-cgs",
            n_iterations=5,
            store=tmp_path / "there",
            client=client,
            progress=False,
        )
        warm_there = wb.sweep(corpus, store=tmp_path / "there", client=client, **in_turn)
        settings = dict(engines=["svb", "cgs"], n_topics=2, n_iterations=5, progress=False)
        compared = wb.compare(corpus, store=tmp_path / "there", client=client, **settings)
    assert list(there.state.values) == ["finished"] * 4
    for one, other in (
        (here, there),
        (warm, warm_there),
        (wb.compare(corpus, **settings), compared),
    ):
        timed = ["elapsed", "cpu_time"]
        assert one.drop_vars([*timed, "spec"]).identical(other.drop_vars([*timed, "spec"]))
    assert not [path for path in (tmp_path / "there").iterdir() if "probe" in path.name]


def test_a_run_goes_on_elsewhere_when_its_worker_or_nanny_is_killed(
    cluster, client_to, make, whole
):
    cluster.add_worker()
    cluster.add_worker()
    client, runs, killed = client_to(cluster.address), make(2), []

    def kill_some(left):
        """The worker of the first run, later the nanny of the second."""
        for at, run in enumerate(runs):
            if (
                len(killed) == at
                and run in left
                and run.state == RUNNING
                and run.status()["iteration"] > 1000
            ):
                child, worker = child_of(run), worker_of(run)
                killed.append(child)
                kill(worker.pid if at == 0 else worker.parent().pid)
                until(lambda child=child: has_ended(child), 20, "a process outlives its worker")

    work_through_on(client, runs, kill_some)
    assert len(killed) == 2 and not {child.pid for child in killed} & {
        run.status()["pid"] for run in runs
    }
    ended_whole(runs, whole)


@pytest.mark.long
def test_a_run_goes_on_elsewhere_when_its_worker_retires(cluster, client_to, make, whole):
    cluster.add_worker()
    cluster.add_worker()
    client, runs, retired = client_to(cluster.address), make(1), []

    def retire(left):
        if (
            not retired
            and left
            and runs[0].state == RUNNING
            and runs[0].status()["iteration"] > 1000
        ):
            retired.append(next(address for address, keys in client.processing().items() if keys))
            child = child_of(runs[0])
            client.retire_workers(retired)
            until(lambda: has_ended(child), 20, "a process outlives its worker")

    work_through_on(client, runs, retire)
    assert retired
    ended_whole(runs, whole)


def test_a_run_whose_process_is_killed_is_tried_again_and_given_up_at_the_third_time(
    one_worker, client_to, make
):
    (run,), killed = make(1, n_iterations=10**6), set()

    def kill_child(left):
        if run.state == RUNNING and (pid := run.status()["pid"]) not in killed:
            killed.add(pid)
            kill(pid)

    work_through_on(client_to(one_worker.address), [run], kill_child)
    assert len(killed) == 1 + sweeping.RETRIES and run.state == "failed"
    told = f"its process on {machine()} ended without an error message, 3 times: it was killed, perhaps for lack of memory"
    assert run.status()["message"] == told


@pytest.mark.long
def test_without_its_scheduler_a_sweep_says_so_and_goes_on_with_another(
    cluster, client_to, make, whole
):
    cluster.add_worker()
    runs = make(2)
    client = client_to(cluster.address, timeout=5)

    def lose(left):
        if runs[0].state == RUNNING and runs[0].status()["iteration"] > 1000:
            cluster.lose_scheduler()

    with pytest.raises(
        ClusterError,
        match="the scheduler is gone; what its runs had committed is kept: start it again",
    ):
        work_through_on(client, runs, lose)
    until(lambda: runs[0].state == "interrupted")
    assert runs[1].state == "interrupted" and runs[0].status()["iteration"] > 0
    cluster.begin()
    cluster.add_worker()
    work_through_on(client_to(cluster.address), runs, lambda left: None)
    ended_whole(runs, whole)


class Ended:
    """A task that has ended, and whose result is not to be had."""

    status = "finished"

    def __init__(self, error):
        self._error = error

    def done(self):
        return True

    def result(self):
        raise self._error


@pytest.mark.parametrize(
    "error",
    [
        CommClosedError(
            "in <TCP (closed) ConnectionPool.gather>: ConnectionResetError: Connection reset by peer"
        ),
        FutureCancelledError("cgs-k2", "scheduler-connection-lost"),
    ],
)
def test_a_scheduler_that_is_lost_while_a_result_is_fetched_is_told_alike(
    one_worker, client_to, make, monkeypatch, error
):
    monkeypatch.setattr(
        sweeping._Queue,
        "_submit",
        lambda queue, runs: queue._tasks.update(dict.fromkeys(runs, Ended(error))),
    )
    with pytest.raises(
        ClusterError,
        match="the scheduler is gone; what its runs had committed is kept: start it again",
    ):
        work_through_on(client_to(one_worker.address), make(1), lambda left: None)


def test_a_result_that_was_cancelled_is_of_a_run_that_another_takes_on():
    assert sweeping._outcome(Ended(FutureCancelledError("cgs-k2", "scheduler-restart"))) == (
        sweeping.ELSEWHERE,
        None,
    )


@pytest.mark.long
def test_a_client_that_is_killed_loses_nothing(one_worker, store, whole):
    with in_command(store, "--scheduler", one_worker.address) as command:
        runs = made_by(command, store)
        until(lambda: any(run.status()["iteration"] > 100 for run in runs))
        kill(command.pid)
    at_work = next(run for run in runs if run.status()["iteration"] > 0)
    (waiting,) = (run for run in runs if run is not at_work)
    until(lambda: waiting.state == "interrupted")
    assert at_work.wait(120) == "finished"
    with in_command(store, "--scheduler", one_worker.address) as command:
        told = command.communicate(timeout=200)[1]
    assert command.returncode == 0, told
    ended_whole(runs, whole)


def test_ctrl_c_stops_the_runs_cleanly(one_worker, store):
    with in_command(store, "--scheduler", one_worker.address, n_iterations=10**6) as command:
        runs = made_by(command, store)
        until(lambda: any(run.status()["iteration"] > 100 for run in runs))
        assert sorted(run.state for run in runs) == [RUNNING, WAITING]
        command.send_signal(signal.SIGINT)
        told = command.communicate(timeout=60)[1]
    assert command.returncode == 130 and "interrupted; recorded iterations are kept" in told
    assert [run.state for run in runs] == [STOPPED] * 2


@pytest.mark.long
def test_a_client_may_go_and_find_its_runs_again(cluster, client_to, store, whole):
    cluster.add_worker()
    cluster.add_worker()
    with in_command(store, "--scheduler", cluster.address, "--detach") as command:
        told = command.communicate(timeout=120)[1]
    assert command.returncode == 0 and "runs in the background" in told
    runs = wb.open_runs(store)
    kill(worker_of(runs[0]).pid)  # one of the two has the task of the client that went
    kill(worker_of(runs[1]).pid)
    work_through_on(client_to(cluster.address), runs, lambda left: None)
    ended_whole(runs, whole)


def test_a_client_cannot_go_while_no_worker_has_a_thread_for_its_task(
    cluster, client_to, make, monkeypatch, tmp_path
):
    cluster.add_worker()
    client, runs, begun = client_to(cluster.address), make(1), tmp_path / "begun"
    busy = client.submit(subprocess.run, ["sh", "-c", f"touch {begun}; sleep 600"])
    until(begun.exists)  # a task that only waits for its turn would let the run's own go first
    monkeypatch.setattr(sweeping, "WORKERS_WITHIN", 1.0)
    with pytest.raises(
        ClusterError, match="no worker had a free thread within 1 s, and nothing was started"
    ):
        leave(runs, client)
    assert runs[0].state == STOPPED and busy.status == "pending"


@pytest.mark.long
def test_tasks_that_somebody_cancels_are_submitted_again(cluster, client_to, make, whole):
    cluster.add_worker()
    runs, restarted = make(2), []

    def restart(left):
        if not restarted and runs[0].state == RUNNING and runs[0].status()["iteration"] > 1000:
            restarted.append(client_to(cluster.address).restart())

    work_through_on(client_to(cluster.address), runs, restart)
    assert restarted
    ended_whole(runs, whole)


def test_two_clients_that_want_the_same_runs_get_them_once(one_worker, client_to, make, whole):
    runs = make(2)
    first, second = client_to(one_worker.address), client_to(one_worker.address)
    leave(runs, first)
    child = child_of(runs[0])
    work_through_on(second, runs, lambda left: None)
    assert has_ended(child)
    ended_whole(runs, whole)
    for run in runs:
        assert (run.path / "worker.log").read_text() == ""


def test_runs_that_wait_are_paused_go_on_and_are_stopped(one_worker, client_to, make):
    runs, steps = make(4, n_iterations=10**6), []

    def steer(left):
        states = [run.state for run in runs]
        if not steps and states == [RUNNING, WAITING, WAITING, WAITING]:
            runs[1].pause()
            runs[2].stop()
            steps.append("asked")
        if steps == ["asked"] and states[1:3] == [PAUSED, STOPPED]:
            runs[0].stop()
            steps.append("heeded")
        if steps == ["asked", "heeded"] and states == [STOPPED, PAUSED, STOPPED, RUNNING]:
            steps.append("overtaken")
            runs[3].stop()
            runs[1].resume()
        if len(steps) == 3 and states[1] == RUNNING:
            runs[1].stop()

    work_through_on(client_to(one_worker.address), runs, steer)
    assert (
        steps == ["asked", "heeded", "overtaken"] and [run.state for run in runs] == [STOPPED] * 4
    )


def test_a_run_that_is_removed_while_it_waits_holds_nobody_up(one_worker, client_to, make):
    runs = make(2, n_iterations=10**6)

    def remove(left):
        if runs[0].state == RUNNING and runs[1].path.exists():
            runs[1].remove()
            runs[0].stop()

    work_through_on(client_to(one_worker.address), runs, remove)
    assert runs[0].state == STOPPED and not runs[1].path.exists()


def test_what_fails_on_a_worker_is_told_and_the_others_go_on(one_worker, corpus, store):
    wb.sweep(corpus, {"seed": [0, 1]}, "svb", n_iterations=2, store=store, progress=False)
    for file in (store / ".corpora").iterdir():
        file.unlink()
    with pytest.warns(UserWarning, match="failed: the corpus of this run is not in the store"):
        wb.sweep(
            corpus,
            {"seed": [0, 1]},
            "svb",
            n_iterations=3,
            store=store,
            progress=False,
            client=one_worker.address,
        )


def test_a_worker_asks_for_the_memory_of_a_run_there(cluster, corpus, store, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "1M")
    cluster.add_worker()
    monkeypatch.setenv("WORKBENCH_MEMORY", "10G")
    with pytest.warns(UserWarning, match="of memory and WORKBENCH_MEMORY allows 1 MB"):
        wb.sweep(
            corpus,
            {"seed": [0]},
            "svb",
            n_iterations=3,
            store=store,
            progress=False,
            client=cluster.address,
        )


def test_jobs_and_no_store_are_refused_on_a_cluster(corpus, store):
    with pytest.raises(
        ClusterError,
        match="as many runs are computed at a time as its workers have threads; leave jobs out",
    ):
        wb.sweep(corpus, GRID, store=store, jobs=2, client="tcp://127.0.0.1:1")
    with pytest.raises(wb.SpecError, match="kept in a store; give store="):
        wb.compare(corpus, client="tcp://127.0.0.1:1")
    assert not store.exists()
