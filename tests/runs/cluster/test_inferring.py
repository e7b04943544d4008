"""Unseen documents on the workers of a cluster: the bits of one process, whoever is lost, and few under way at a time."""

import subprocess
import sys

import numpy as np
import pytest
from clusters import kill, until
from distributed import Client
from runs.test_infer_slices import strangers
from same_bits import same_bits
from short_runs import run_of, short_settings

import workbench as wb
from workbench.runs.execution.cluster import connecting, inferring
from workbench.runs.execution.cluster.connecting import ClusterError
from workbench.runs.execution.cluster.inferring import results_of

pytestmark = pytest.mark.slow
NAMES = ("cgs", "cvb0", "vb", "network-gibbs", "sb-ctm", "sb-ctm-lds", "sb-dtm", "ctm-em", "cv-hdp")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Slices of at most 12 pairs."""
    monkeypatch.setattr("workbench.runs.afterwards.infer.PAIRS", 12)


@pytest.mark.parametrize("name", NAMES)
def test_workers_infer_the_bits_of_one_process(name, three_workers):
    run, documents = run_of(name), strangers(short_settings(name)[0])
    here, there = (
        wb.infer(run, documents, seed=2, client=client, progress=False)
        for client in (None, three_workers)
    )
    same_bits(here, there)
    assert here.attrs == there.attrs


def test_a_file_is_written_as_results_come(three_workers, tmp_path):
    run, documents = run_of("cgs"), strangers(short_settings("cgs")[0])
    told = [
        wb.infer_to_file(run, documents, tmp_path / name, client=client, progress=False)
        for name, client in (("here.csv", None), ("there.csv", three_workers))
    ]
    assert told[0] | {"path": ""} == told[1] | {"path": ""}
    assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()


def test_texts_are_inferred_by_a_command_on_workers_of_its_own(tmp_path):
    texts = [f"sun beach sand number {n} snow ski"[: 10 + n % 20] for n in range(50)]
    wb.fit(texts, "cgs", 2, n_iterations=5, store=tmp_path / "runs", name="talk", progress=False)
    (tmp_path / "new.csv").write_text("text\n" + "\n".join(texts))
    for out, more in (("here.csv", ()), ("there.csv", ("--scheduler", "local"))):
        done = subprocess.run(
            command_to(out, *more),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{out}: theta of 50 documents\n" and "50/50" in done.stderr
    assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "here.csv",
        "new.csv",
        "runs",
        "there.csv",
    ]


MAIN = """if __name__ == '__main__':
    import workbench.runs.afterwards.infer as s; s.PAIRS = 9; from workbench.cli import entry; entry()"""


def command_to(out, *more) -> list[str]:
    """The command that infers the texts of new.csv by the run talk, in slices of at most nine pairs."""
    given = ["infer", "talk", "new.csv", "--store", "runs", "--out", out, *more]
    return [sys.executable, "-c", MAIN, *given]


def tasks():
    """Work for tests: quick, slow, and refusing the piece 3. Functions within one are sent to workers as they are."""

    def plus(number, piece):
        return number + piece

    def slow_plus(number, piece):
        import time

        time.sleep(0.1)
        return number + piece

    def refusing(number, piece):
        from workbench.errors import DataError as Refused

        if piece == 3:
            raise Refused("the third is wrong")
        return piece

    return plus, slow_plus, refusing


plus, slow_plus, refusing = tasks()


def test_few_pieces_are_under_way_and_results_are_in_their_order(three_workers):
    taken, found = [], []

    def pieces():
        for piece in range(100):
            taken.append(piece)
            yield piece

    for result in results_of(three_workers, plus, (1000,), pieces()):
        found.append(result)
        assert len(taken) - len(found) < 3 * inferring.AT_A_TIME + 1
    assert found == [1000 + piece for piece in range(100)]
    assert [*results_of(three_workers, plus, (0,), [])] == []


def test_what_all_need_is_sent_once_and_without_a_warning_of_its_size(three_workers, monkeypatch):
    sent, submit = [], Client.submit
    monkeypatch.setattr(
        Client, "submit", lambda *given, **more: sent.append(given[2:]) or submit(*given, **more)
    )
    numbers = np.zeros(2_000_000)
    results = results_of(three_workers, lambda numbers, piece: len(numbers), (numbers,), range(20))
    assert [*results] == [len(numbers)] * 20
    assert [any(isinstance(value, inferring._Shared) for value in given) for given in sent] == [
        True,
        *[False] * 20,
    ]


def test_tasks_are_cancelled_where_nobody_wants_more_results(three_workers):
    results = results_of(three_workers, slow_plus, (0,), range(1000))
    assert next(results) == 0
    results.close()
    until(lambda: not any(three_workers.processing().values()))


def test_a_sentence_of_a_task_comes_to_the_client(three_workers):
    with pytest.raises(wb.DataError, match="the third is wrong"):
        [*results_of(three_workers, refusing, (0,), range(5))]


@pytest.mark.parametrize(("n_workers", "n_pieces"), [(2, 24), (1, 12)])
def test_a_lost_worker_costs_nothing_and_when_it_was_the_last_one_that_comes_goes_on(
    cluster, client_to, n_workers, n_pieces
):
    for _ in range(n_workers):
        cluster.add_worker("--no-nanny")
    client = client_to(cluster.address)
    client.wait_for_workers(n_workers, 120)
    results = results_of(client, slow_plus, (7,), range(n_pieces))
    found = [next(results) for _ in range(3)]
    kill(cluster.workers[0].pid)
    if n_workers == 1:
        cluster.add_worker("--no-nanny")
    assert [*found, *results] == [7 + piece for piece in range(n_pieces)]


def test_no_worker_that_comes_again_and_a_lost_scheduler_are_a_sentence(
    cluster, client_to, monkeypatch
):
    cluster.add_worker("--no-nanny")
    client = client_to(cluster.address, timeout=5)
    client.wait_for_workers(1, 120)
    results = results_of(client, slow_plus, (7,), range(12))
    next(results)
    monkeypatch.setattr(connecting, "WORKERS_WITHIN", 0.5)
    kill(cluster.workers[0].pid)
    with pytest.raises(ClusterError, match="no worker came to the scheduler"):
        list(results)
    monkeypatch.undo()
    cluster.add_worker("--no-nanny")
    client.wait_for_workers(1, 120)
    results = results_of(client, slow_plus, (7,), range(100))
    next(results)
    cluster.lose_scheduler()
    with pytest.raises(
        ClusterError, match="the scheduler is gone, or was restarted, and nothing was kept"
    ):
        list(results)


def test_ctrl_c_leaves_no_file(cluster, tmp_path):
    import signal

    cluster.add_worker()
    run = wb.fit(
        ["sun beach sand", "snow ski"],
        "cgs",
        2,
        n_iterations=5,
        store=tmp_path / "runs",
        name="talk",
        progress=False,
    )
    assert run.attrs["name"] == "talk"
    (tmp_path / "new.csv").write_text("text\n" + "\n".join(["sun beach sand snow ski"] * 30_000))
    with subprocess.Popen(
        command_to("a.csv", "--scheduler", cluster.address),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        until(
            lambda: [
                path for path in tmp_path.glob(".a.csv-*.partial") if path.stat().st_size > 2000
            ]
        )
        command.send_signal(signal.SIGINT)
        told = command.communicate(timeout=60)[1]
    assert command.returncode == 130, told
    assert "Traceback" not in told
    assert {path.name for path in tmp_path.iterdir()} - {"dask"} == {"new.csv", "runs"}


def test_a_cluster_that_cannot_be_used_is_a_sentence_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(connecting, "SCHEDULER_WITHIN", 0.5)
    run = run_of("cgs")
    with pytest.raises(ClusterError, match="no scheduler answers"):
        wb.infer_to_file(run, ["a text"], tmp_path / "a.csv", client="tcp://127.0.0.1:9")
    assert not [*tmp_path.iterdir()]
