"""One run shared by the workers of a cluster: the bits of a run in one process, whatever is killed."""

import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from clusters import kill, until
from runs_in_shards import differing, drawn_corpus, fitted

import workbench as wb
from workbench.data.available_memory import GIB
from workbench.engines.engine import Largest
from workbench.engines.lda import cvb
from workbench.errors import InputError
from workbench.runs.execution import fit as running
from workbench.runs.execution.cluster import fitting, on_worker
from workbench.runs.execution.cluster.connecting import ClusterError
from workbench.runs.parts.crew import LocalParts, PartsLost
from workbench.runs.parts.part import Contribution
from workbench.runs.store import writer

pytestmark = pytest.mark.slow
LEARNT = {"learn_alpha": "maximised", "learn_after": 2, "learn_every": 1}
ENGINES = [
    ("svb", {**LEARNT, "learn_beta": "maximised"}),
    ("vb", LEARNT),
    ("cgs", {}),
    ("cgs", {"partition": 3, **LEARNT, "learn_alpha": "sampled", "learn_beta": "maximised"}),
    ("cvb0", {"partition": 2}),
    ("cvb", {"partition": 3}),
    ("svb-cgs", {"partition": 3, "n_chains": 2}),
    ("cvb0-cgs", {"partition": 2}),
    ("g-hdp", {}),
    ("network-hybrid", {}),
]


@pytest.mark.parametrize(("engine", "options"), ENGINES)
def test_three_workers_have_the_bits_of_one_process(in_shards, three_workers, engine, options):
    here = fitted(*in_shards, engine, options)
    assert differing(here, fitted(*in_shards, engine, options, client=three_workers)) == []


def test_settings_are_turned_on_the_workers_as_in_one_process(in_shards, three_workers):
    turned = {"interventions": [(2, {"r": 2, "alpha": 0.5}), (4, {"r": "inf"}), (5, {"beta": 0.3})]}
    here = fitted(*in_shards, "svb-cgs", {"n_chains": 2}, **turned)
    there = fitted(*in_shards, "svb-cgs", {"n_chains": 2}, client=three_workers, **turned)
    assert not differing(here, there)
    assert here["r"].values.tolist() == [1, 2, 2, np.inf, np.inf, np.inf]


def test_a_run_of_a_cluster_goes_on_in_one_process_and_the_other_way(
    in_shards, three_workers, tmp_path
):
    straight = fitted(*in_shards, "cgs", {"partition": 3}, 9)
    run = fitted(
        *in_shards, "cgs", {"partition": 3}, 3, client=three_workers, store=tmp_path
    ).attrs["name"]
    wb.resume(run, 6, store=tmp_path, progress=False)
    assert (
        differing(straight, wb.resume(run, 9, store=tmp_path, progress=False, client=three_workers))
        == []
    )


def test_recounts_are_those_of_one_process(in_shards, one_worker, client_to, monkeypatch):
    def recount_every(n):  # within a function, so that it is sent to the worker as it is
        from workbench.engines.lda import cvb

        cvb.RECOUNT_EVERY = n

    client = client_to(one_worker.address)
    client.wait_for_workers(1, 120)
    monkeypatch.setattr(cvb, "RECOUNT_EVERY", 3)
    client.run(recount_every, 3)
    whole, shared = (
        fitted(*in_shards, "cvb", {"partition": 2}, 4, **more) for more in ({}, {"client": client})
    )
    client.run(recount_every, 50)
    assert differing(whole, shared) == []


def test_cpu_seconds_are_those_of_the_workers_too(in_shards, three_workers):
    assert float(fitted(*in_shards, "svb", {}, 3, client=three_workers)["cpu_time"][-1]) > 0.0
    assert all(not parts for parts in three_workers.run(lambda: [*on_worker.PARTS]).values()), (
        "parts were left behind"
    )


LONG = dict(n_iterations=60, record_every=5, snapshot_every=1000)


@pytest.fixture
def frequent_checkpoints(monkeypatch):
    monkeypatch.setattr(writer, "CHECKPOINT_EVERY", 0.2)
    monkeypatch.setattr(writer, "CHECKPOINT_SHARE", 1.0)


def past(run: wb.Run, iteration: int) -> bool:
    return run.status()["iteration"] >= iteration


def only_run(store) -> wb.Run:
    return wb.Run(
        until(lambda: [path for path in store.glob("*") if (path / "status.json").exists()])[0]
    )


def test_workers_and_a_nanny_that_are_killed_also_while_arrays_are_sent_cost_no_bit(
    in_shards, cluster, client_to, tmp_path, frequent_checkpoints, monkeypatch
):
    straight = fitted(*in_shards, "cvb0", {"partition": 3}, **LONG)
    for _ in range(2):
        cluster.add_worker()
    client = client_to(cluster.address)
    client.wait_for_workers(2, 120)
    scatter, n_sent, killed = client.scatter, itertools.count(), []

    def killing(data, workers, **more):
        if (at := next(n_sent)) in (8, 15):
            addressed = workers[at % len(workers)]
            kill(client.run(os.getpid, workers=[addressed])[addressed])
            killed.append("worker that is sent arrays")
        return scatter(data, workers=workers, **more)

    def disturb():
        run = only_run(tmp_path / "runs")
        until(lambda: past(run, 30) or run.state == "finished")
        kill(min(client.run(os.getpid).items())[1])
        killed.append("worker")
        until(lambda: past(run, 45) or run.state == "finished")
        nanny = cluster.workers.pop()
        kill(nanny.pid)
        nanny.wait()
        cluster.add_worker()
        killed.append("nanny")

    monkeypatch.setattr(client, "scatter", killing)
    thread = threading.Thread(target=disturb)
    thread.start()
    shared = fitted(
        *in_shards, "cvb0", {"partition": 3}, client=client, store=tmp_path / "runs", **LONG
    )
    thread.join()
    assert killed == ["worker that is sent arrays"] * 2 + ["worker", "nanny"]
    assert shared.attrs["state"] == "finished"
    assert differing(straight, shared) == []


@pytest.mark.long
def test_where_the_scheduler_is_gone_the_run_says_so_and_goes_on_under_another(
    in_shards, cluster, client_to, tmp_path, frequent_checkpoints
):
    straight = fitted(*in_shards, "svb", {}, **LONG)
    cluster.add_worker()

    def disturb():
        run = only_run(tmp_path / "runs")
        until(lambda: past(run, 10))
        kill(cluster.scheduler.pid)

    thread = threading.Thread(target=disturb)
    thread.start()
    with pytest.raises(
        ClusterError,
        match="the scheduler is gone; start one again, and then continue with: workbench resume",
    ):
        fitted(*in_shards, "svb", {}, client=cluster.address, store=tmp_path / "runs", **LONG)
    thread.join()
    assert only_run(tmp_path / "runs").state == "failed"
    cluster.lose_scheduler()
    cluster.begin()
    cluster.add_worker()
    again = wb.resume(only_run(tmp_path / "runs"), progress=False, client=cluster.address)
    assert differing(straight, again) == []


CLIENT = """
import sys, workbench as wb
from workbench.corpus import ShardedCorpus
from workbench.runs.store import writer
writer.CHECKPOINT_EVERY, writer.CHECKPOINT_SHARE = 0.2, 1.0
train, test, store, scheduler = sys.argv[1:]
wb.fit(ShardedCorpus.open(train), "svb", 4, test=ShardedCorpus.open(test), n_iterations=60, record_every=5, snapshot_every=1000,
       burn_in=2, progress=False, store=store, client=scheduler)
"""


@pytest.mark.long
def test_a_client_that_is_killed_leaves_a_run_that_goes_on_and_workers_that_forget(
    in_shards, cluster, client_to, tmp_path
):
    straight = fitted(*in_shards, "svb", {}, **LONG)
    cluster.add_worker()
    arguments = [
        *(str(corpus.folder) for corpus in in_shards),
        str(tmp_path / "runs"),
        cluster.address,
    ]
    process = subprocess.Popen([sys.executable, "-c", CLIENT, *arguments])
    run = only_run(tmp_path / "runs")
    until(lambda: past(run, 10))
    process.kill()
    process.wait()
    client = client_to(cluster.address)
    (left,) = client.run(lambda: [*on_worker.PARTS]).values()
    assert left, "nothing was left behind, so nothing is tested"
    gone = left[0][0].split("/")[0]
    until(lambda: gone not in client.run_on_scheduler(on_worker.clients_there))
    assert differing(straight, wb.resume(run, progress=False, client=client)) == []
    assert not any(client.run(lambda: [*on_worker.PARTS]).values())


def test_a_stop_ends_the_run_and_it_can_go_on(in_shards, one_worker, tmp_path):
    each = LONG | {"record_every": 1}  # a stop leaves a row of its own
    straight = fitted(*in_shards, "svb", {}, **each)
    began = threading.Thread(
        target=lambda: (until(lambda: past(only_run(tmp_path), 5)), only_run(tmp_path).stop())
    )
    began.start()
    stopped = fitted(*in_shards, "svb", {}, client=one_worker.address, store=tmp_path, **each)
    began.join()
    assert stopped.attrs["state"] == "stopped" and int(stopped["iteration"][-1]) < 60
    assert differing(straight, wb.resume(only_run(tmp_path), progress=False)) == []


def test_a_whole_corpus_a_worker_without_memory_and_a_corpus_it_cannot_read_are_one_sentence_each(
    in_shards, one_worker, client_to, tmp_path, monkeypatch
):
    client = client_to(one_worker.address)
    with pytest.raises(
        wb.SpecError,
        match="'drawn' is small enough for a single one: one process infers .* leave client out$",
    ):
        wb.fit(drawn_corpus(), "svb", 4, n_iterations=2, progress=False, client=client)
    monkeypatch.setattr("workbench.runs.execution.fit.SHARD_PAIRS", 5)
    with pytest.raises(
        wb.SpecError,
        match="'drawn' is whole.*leave client out, or convert it: workbench data convert IN FOLDER",
    ):
        wb.fit(drawn_corpus(), "svb", 4, n_iterations=2, progress=False, client=client)
    with pytest.raises(wb.SpecError, match="the shards of a corpus, and 'votes' has none"):
        wb.fit("votes", "bn-vb", n_iterations=2, progress=False, client=client)
    monkeypatch.setattr(fitting, "bytes_of", lambda setting, shard_ranges: 10**6 * GIB)
    with pytest.raises(
        ClusterError,
        match="would need about .* GB of memory for its part of .* and .* are free there",
    ):
        fitted(*in_shards, "svb", {}, client=client)
    monkeypatch.undo()
    monkeypatch.setattr(
        "workbench.runs.parts.laying_out.sent", lambda corpus: str(tmp_path / "elsewhere")
    )
    monkeypatch.setattr(fitting, "bytes_of", lambda setting, shard_ranges: 0)
    with pytest.raises(
        ClusterError, match="a worker cannot read the corpus .*; keep it where all machines see it"
    ):
        fitted(*in_shards, "svb", {}, client=client)


def test_a_sum_leaves_what_it_adds_as_it_is():
    a, b = (
        Contribution(
            {"n_wk": np.ones(3)}, {"entropy": each, "change": Largest(each), "guests": [each]}
        )
        for each in (1.0, 2.0)
    )
    total = on_worker.added_up(a, b)
    assert total.shared["n_wk"].tolist() == [2, 2, 2]
    assert total.sums == {"entropy": 3.0, "change": 2.0, "guests": [1.0, 2.0]}
    assert a.shared["n_wk"].tolist() == b.shared["n_wk"].tolist() == [1, 1, 1]


def test_workers_that_a_cache_of_the_client_has_forgotten_are_not_lost(
    in_shards, one_worker, client_to, monkeypatch
):
    client = client_to(one_worker.address)
    # as Dask's timer may leave it
    monkeypatch.setattr(client, "scheduler_info", lambda **more: {"workers": {}})
    monkeypatch.setattr(fitting, "LOOK_EVERY", 0.001)
    assert fitted(*in_shards, "svb", {}, client=client).attrs["state"] == "finished"


@pytest.fixture
def parts_go(monkeypatch):
    """From now on a part is lost in each attempt, in the third phase of a crew."""

    class Losing(LocalParts):
        n_passes = 0

        def side_by_side(self, *arguments):
            self.n_passes += 1
            if self.n_passes == 3:
                raise PartsLost("worker tcp://there:1 was lost")
            return super().side_by_side(*arguments)

    monkeypatch.setattr(running, "_crew", lambda client, corpus: Losing)


def test_a_run_whose_parts_are_lost_again_and_again_is_given_up(
    in_shards, parts_go, tmp_path, capsys
):
    with pytest.raises(
        InputError,
        match=(
            "^worker tcp://there:1 was lost, 5 times before the run got past iteration [0-9]+; "
            "see to the workers, perhaps they "
            "have too little memory, then continue with: workbench resume "
        ),
    ):
        fitted(*in_shards, "svb", {}, 20, store=tmp_path)
    assert capsys.readouterr().err.count("continues from its last checkpoint") >= running.LOSSES - 1
    assert only_run(tmp_path).state == "interrupted"


def test_without_a_store_a_loss_ends_the_run_with_what_would_have_kept_it(in_shards, parts_go):
    with pytest.raises(
        InputError,
        match="^worker tcp://there:1 was lost, and this run with it; with store it continues from",
    ):
        fitted(*in_shards, "svb", {}, 20)
