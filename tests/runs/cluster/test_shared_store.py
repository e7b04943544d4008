"""Whether the workers of a cluster share a store: what each of them sees of a probe, and what is said where it does not."""

import os
import time

import pytest

import workbench as wb
from workbench.runs.execution.cluster import shared_store
from workbench.runs.execution.cluster.connecting import ClusterError
from workbench.runs.execution.cluster.shared_store import (
    Seen,
    check_shared,
    look_at_probe,
)
from workbench.runs.store.layout import StoreError


@pytest.fixture
def seen_as(monkeypatch):
    """From now on one worker, in this process, sees the probe as a function changes what it would see."""

    def change(do):
        monkeypatch.setattr(
            shared_store,
            "ask_workers",
            lambda client, look, path: {"tcp://there:1": do(look_at_probe(path), path)},
        )

    monkeypatch.setattr(shared_store, "SEEN_WITHIN", 0.1)
    return change


def refused(store) -> str:
    with pytest.raises(ClusterError) as error:
        check_shared(None, store)
    assert not store.exists(), "the probe was left behind"
    return str(error.value)


def test_a_store_that_is_shared_is_given_by_its_whole_path_and_the_probe_is_removed(
    seen_as, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    seen_as(lambda seen, path: seen)
    store = tmp_path / "runs"
    store.mkdir()
    assert check_shared(None, os.path.relpath(store)) == store and not list(store.iterdir())


def test_each_thing_that_is_not_shared_has_its_sentence(seen_as, store):
    who = f"worker tcp://there:1 on {shared_store.machine()}"
    elsewhere = "; give a store on a file system that all machines share, at the same path"
    for change, told in (
        (dict(token=""), f"{who} does not see the files of the store {store}{elsewhere}"),
        (dict(token="another"), f"{who} does not see the files of the store {store}{elsewhere}"),
        (dict(file_name=""), f"{who} cannot write to the store {store}; make it writable there"),
        (
            dict(file_name="nowhere"),
            f"a file that {who} writes to the store {store} is not seen here{elsewhere}",
        ),
        (
            dict(is_held=False),
            f"{who} does not see a lock that is held here in the store {store}; its file system needs locks "
            "that hold across machines (NFS: not mounted with nolock or local_lock)",
        ),
    ):
        seen_as(lambda seen, path, change=change: seen._replace(**change))
        assert refused(store) == told


@pytest.mark.parametrize(
    ("off", "told"), [(2.5, "2.5 s ahead of"), (-3600, "3,600.0 s behind"), (1.5, ""), (-1.5, "")]
)
def test_clocks_may_be_two_seconds_apart(seen_as, store, off, told):
    seen_as(lambda seen, path: seen._replace(time=seen.time + off))
    if told:
        assert told in refused(store)
    else:
        check_shared(None, store)


def test_a_store_that_cannot_be_written_here_is_one_sentence(seen_as, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        StoreError, match="cannot write to the store .*file/runs: Not a directory; choose another"
    ):
        check_shared(None, tmp_path / "file" / "runs")


def test_a_worker_looks_for_itself(tmp_path):
    (tmp_path / shared_store.HERE).write_text("token")
    seen = look_at_probe(str(tmp_path))
    assert (
        seen == Seen(shared_store.machine(), "token", seen.file_name, False, seen.time)
        and abs(seen.time - time.time()) < 60
    )
    assert (tmp_path / seen.file_name).read_text() == "token"


@pytest.mark.slow
def test_sweep_compare_and_fit_refuse_a_store_that_a_worker_does_not_share(
    cluster, client_to, corpus, store
):
    cluster.add_worker()
    cluster.add_worker(
        preload="from workbench.runs.execution.cluster import shared_store\nshared_store.HERE = 'other'\n"
        "shared_store.SEEN_WITHIN = 0.1\n"
    )
    (client := client_to(cluster.address)).wait_for_workers(2)
    settings = dict(n_iterations=2, store=store, client=client, progress=False)
    for start in (
        lambda: wb.sweep(corpus, {"n_topics": [2, 3]}, **settings),
        lambda: wb.compare(corpus, engines=["svb", "cgs"], n_topics=2, **settings),
        lambda: wb.fit(corpus, "svb", 2, **settings),
    ):
        with pytest.raises(
            ClusterError,
            match=f"^worker .* does not see the files of the store {store}; give a store on a file system that all",
        ):
            start()
        assert not store.exists()
