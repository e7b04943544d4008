"""What a run shared by workers will take is told before it begins."""

from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from workbench.kernels.simd.vectors import padded
from workbench.runs.execution.cluster import cost
from workbench.runs.execution.memory_check import Planned
from workbench.runs.spec import make_spec

N_TOPICS = 20


@pytest.fixture
def corpus(in_shards):
    return in_shards[0]


def planned(corpus, engine, **options) -> Planned:
    return Planned(make_spec(corpus, engine, N_TOPICS, options=options), corpus, None)


@pytest.mark.parametrize("n_workers", [1, 2, 3, 4, 8])
def test_added_counts_go_to_each_worker_and_up_a_tree(corpus, n_workers):
    of_words = corpus.n_words * padded(N_TOPICS) * 8
    found, levels = (
        cost.network_of(cost.moved_by(planned(corpus, "svb")), n_workers),
        int(np.ceil(np.log2(n_workers))),
    )
    assert found == pytest.approx((2 * n_workers * of_words, 2 * (1 + levels) * of_words))


def test_counts_in_turn_go_from_worker_to_worker(corpus):
    of_words = corpus.n_words * padded(N_TOPICS) * 4
    phases = cost.moved_by(planned(corpus, "cgs"))
    for n_workers, waited in ((1, 2), (2, 4), (4, 7)):
        found = cost.network_of(phases, n_workers)
        assert found == pytest.approx((2 * n_workers * of_words, waited * of_words))


@pytest.mark.parametrize("engine", ["svb", "cgs"])
def test_nothing_moves_without_workers(corpus, engine):
    cell, client = planned(corpus, engine), SimpleNamespace(nthreads=dict)
    assert cost.network_of(cost.moved_by(cell), 0) == (0, 0)
    assert cost.cost_of(client, cell).startswith("no worker is left")


def test_a_hybrid_moves_both_in_each_phase(corpus):
    assert [phase.in_turn for phase in cost.moved_by(planned(corpus, "svb-cgs"))] == [
        True,
        False,
    ]
    assert [phase.in_turn for phase in cost.moved_by(planned(corpus, "cvb"))] == [True]


@pytest.mark.slow
def test_fit_on_a_cluster_prints_its_cost_first(corpus, one_worker, capsys, monkeypatch):
    asked = {"n_iterations": 2, "init": "dirichlet", "client": one_worker.address}

    def said(**more) -> str:
        wb.fit(corpus, "svb", N_TOPICS, **asked, **more)
        return capsys.readouterr().err.splitlines()[0]

    short = said()
    assert short.startswith("1 worker, ") and short.endswith("GB over the network in an iteration")
    monkeypatch.setattr(cost, "LONG", 0)
    assert ", about " in (long := said()) and (
        "have something to do" in long or "take longer than computing" in long
    )
    wb.fit(corpus, "svb", N_TOPICS, **asked, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_cost_of_says_when_workers_are_too_many(corpus, client_to, one_worker, monkeypatch):
    monkeypatch.setattr(cost, "LONG", 0)
    client = client_to(one_worker.address)
    cell = planned(corpus, "svb")
    for per_byte, told in (
        (0.0, "have something to do"),
        (1e3, "one process without a scheduler is faster"),
    ):
        monkeypatch.setattr(
            cost, "_seconds_of_a_byte", lambda client, home, per_byte=per_byte: per_byte
        )
        assert told in cost.cost_of(client, cell)


@pytest.mark.slow
def test_cost_of_says_when_a_worker_was_lost(corpus, client_to, one_worker, monkeypatch):
    from distributed.client import FutureCancelledError

    def lost(client, home):
        raise FutureCancelledError("key", "lost dependencies")

    monkeypatch.setattr(cost, "LONG", 0)
    monkeypatch.setattr(cost, "_seconds_of_a_byte", lost)
    told = cost.cost_of(client_to(one_worker.address), planned(corpus, "svb"))
    assert told.startswith("1 worker, ") and told.endswith(
        "in an iteration; a worker was lost while an iteration was timed"
    )
