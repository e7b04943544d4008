"""A client of a scheduler, and each thing that can be wrong with a cluster as one sentence."""

import builtins
import socket
import subprocess
import sys

import pytest
from distributed import Client

from workbench.errors import not_installed
from workbench.runs.execution.cluster import connecting
from workbench.runs.execution.cluster.connecting import (
    ClusterError,
    about_process,
    check_workers,
    client_of,
)
from workbench.runs.store.provenance import KERNELS

OTHER_KERNELS = (
    "from workbench.runs.execution.cluster import connecting\nconnecting.KERNELS = '0123456789ab'\n"
)


def refused(scheduler) -> str:
    """The sentence with which a scheduler is refused."""
    with pytest.raises(ClusterError) as error, client_of(scheduler):
        pass
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    "address",
    ["", "nonsense", "tcp://127.0.0.1", "foo://bar:1", "tcp://127.0.0.1:abc", 8786, None, b"x"],
)
def test_what_is_no_address_is_refused_with_what_is_one(address):
    assert refused(address) == f"{connecting.WANTED}; got {address!r}"


def test_an_encrypted_address_without_certificates_is_refused():
    assert refused("tls://127.0.0.1:1") == (
        "tls://127.0.0.1:1 wants TLS, and Dask's configuration names no certificates; set distributed.comm.tls there"
    )


@pytest.mark.slow
def test_an_address_where_nobody_answers_is_refused(monkeypatch):
    monkeypatch.setattr(connecting, "SCHEDULER_WITHIN", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:  # and never answers
        silent = f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        for address in (silent, "tcp://no-such-host.invalid:8786", "tcp://127.0.0.1:1"):
            assert refused(address) == (
                f"no scheduler answers at {address}; start one with: dask scheduler, which prints its address"
            )


def test_without_the_extra_a_sentence_names_it(monkeypatch):
    known = builtins.__import__

    def without_dask(name, *rest, **more):
        if name == "distributed":
            raise ImportError(name)
        return known(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_dask)
    wanted = not_installed("runs on a cluster", "distributed", "scale")
    assert refused("local") == wanted


@pytest.mark.slow
def test_the_package_is_imported_without_dask():
    code = (
        "import sys, workbench as wb; wb.sweep, wb.compare; import workbench.cli.app, "
        "workbench.runs.execution.cluster.connecting; sys.exit('distributed' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.slow
def test_a_scheduler_without_workers_is_refused_with_the_command_that_starts_one(
    cluster, monkeypatch
):
    monkeypatch.setattr(connecting, "WORKERS_WITHIN", 1.0)
    assert refused(cluster.address) == (
        f"no worker came to the scheduler {cluster.address} within 1 s; start one with: dask worker {cluster.address}"
    )


@pytest.mark.slow
def test_workers_say_what_they_compute_with_and_no_worker_or_closed_client_is_a_scheduler(cluster):
    cluster.add_worker()
    with client_of(cluster.address) as client:
        found = check_workers(client)
    assert list(found.values()) == [about_process()]
    ((worker, about),) = found.items()
    assert about.kernels == KERNELS
    assert refused(worker) == f"at {worker} is a worker of Dask, no scheduler; give its scheduler"
    with Client(cluster.address, set_as_default=False) as client:
        with client_of(client) as same:
            assert same is client
        assert client.status == "running"
    assert (
        refused(client)
        == "the client has no connection to its scheduler (it is closed); make a new one"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preload", "sentences"),
    [
        (
            OTHER_KERNELS,
            ("with kernels 0123456789ab, and the client ", f" with {KERNELS}: the"),
        ),
        (
            "import sys\nsys.modules['workbench.runs.execution.cluster.connecting'] = None\n",
            ("ModuleNotFoundError", "install workbench"),
        ),
    ],
    ids=["other kernels", "no package"],
)
def test_a_worker_with_other_kernels_or_without_this_package_is_refused(
    cluster, preload, sentences
):
    cluster.add_worker(preload=preload)
    with client_of(cluster.address) as client, pytest.raises(ClusterError) as error:
        check_workers(client)
    assert all(sentence in str(error.value) for sentence in sentences)


@pytest.mark.slow
def test_local_is_a_cluster_of_this_machine_that_ends_with_the_block(monkeypatch):
    with client_of("local") as client:
        assert set(check_workers(client).values()) == {about_process()}
        address = client.scheduler.address
    assert address.startswith("tcp://127.0.0.1:")
    monkeypatch.setattr(connecting, "SCHEDULER_WITHIN", 0.5)
    assert "no scheduler answers" in refused(address)
