"""Connect to a Dask scheduler and check that its workers compute with the same workbench and kernels."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import workbench
from workbench.errors import Got, InputError, not_installed, shown
from workbench.runs.store.provenance import KERNELS, machine

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"
"""Used in place of an address: a scheduler and workers are started on this machine, and end with the client."""
DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""Preload script of local workers: they ignore Ctrl-C, on which the client stops the runs."""
WANTED = "a scheduler is an address such as tcp://10.0.0.1:8786, 'local' for the processors of this machine, or a Client"
SCHEDULER_WITHIN, WORKERS_WITHIN = 10.0, 60.0
"""Seconds within which a scheduler must answer, and the first worker must have connected."""


class ClusterError(InputError):
    """Raised for a cluster that cannot be used."""


class About(NamedTuple):
    """Software version, kernels and machine of one process of a cluster."""

    workbench: str  # version of workbench
    kernels: str  # hash of the sources of the kernels
    machine: str  # host name


def about_process() -> About:
    """Return the software and machine of this process; called on every worker."""
    return About(workbench.__version__, KERNELS, machine())


@contextlib.contextmanager
def client_of(scheduler) -> Iterator[Client]:
    """Yield a client of the scheduler once a worker has connected; close it at the end if it was created here.

    Parameters
    ----------
    scheduler : str or distributed.Client
        An address (``tcp://host:port``, or ``tls://`` with the certificates of Dask's configuration); "local" for one worker
        process per processor of this machine; or a client, which stays open.

    Raises
    ------
    ClusterError
        The extra ``scale`` is not installed, the address is invalid, no scheduler answers, or no worker connects.
    """
    with _open_client(scheduler) as client:
        await_worker(client)
        yield client


def await_worker(client: Client) -> None:
    """Wait until the client has a worker; raise ClusterError if none connects within a minute."""
    try:
        client.wait_for_workers(1, timeout=WORKERS_WITHIN)
    except TimeoutError:
        address = client.scheduler.address if client.scheduler else "that was given"
        raise ClusterError(
            f"no worker came to the scheduler {address} within {WORKERS_WITHIN:.0f} s; start one with: dask worker {address}"
        ) from None


@contextlib.contextmanager
def _open_client(scheduler) -> Iterator[Client]:
    """Yield a client of the scheduler, existing or new, without waiting for a worker."""
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(
            not_installed("runs on a cluster", "distributed", "scale"), field="scheduler"
        ) from error
    if isinstance(scheduler, distributed.Client):
        if scheduler.asynchronous:
            raise ClusterError(
                "a client must not be asynchronous; make it with Client(address)", field="client"
            )
        if scheduler.status != "running":
            raise ClusterError(
                f"the client has no connection to its scheduler (it is {scheduler.status}); make a new one",
                field="client",
            )
        yield scheduler
    elif scheduler == LOCAL:
        with (
            distributed.LocalCluster(
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                preload=[DEAF],
                silence_logs=logging.ERROR,
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client
    else:
        _check_scheduler(scheduler)
        with distributed.Client(
            scheduler, timeout=SCHEDULER_WITHIN, set_as_default=False
        ) as client:
            yield client


def losses() -> tuple[type[Exception], ...]:
    """Return Dask's exception types for a lost task, result or scheduler."""
    from distributed import KilledWorker
    from distributed.client import CancelledError, FuturesCancelledError
    from distributed.comm import CommClosedError

    return KilledWorker, CancelledError, FuturesCancelledError, CommClosedError


def _check_scheduler(address: str) -> None:
    """Raise ClusterError if the address is invalid or no scheduler answers there.

    This is checked before a `Client` is made: one that fails leaves threads that print errors when the process ends.
    """

    def refused(*problem: str | Got) -> ClusterError:
        return ClusterError(*problem, field="scheduler", value=address)

    if not isinstance(address, str):
        raise refused(WANTED, Got(address))
    try:
        with ThreadPoolExecutor(1) as pool:  # in a notebook this thread has a running event loop
            answer = pool.submit(asyncio.run, _identity(address)).result()
    except TypeError:  # raised by the library if it has no certificates
        raise refused(
            f"{shown(address)} wants TLS, and Dask's configuration names no certificates; set distributed.comm.tls there"
        ) from None
    except ValueError:
        raise refused(WANTED, Got(address)) from None
    except (OSError, TimeoutError):  # TimeoutError: another program listens there
        raise refused(
            f"no scheduler answers at {shown(address)}; start one with: dask scheduler, which prints its address"
        ) from None
    if answer.get("type") != "Scheduler":
        raise refused(
            f"at {shown(address)} is a {answer.get('type', 'process').lower()} of Dask, no scheduler; give its scheduler"
        )


async def _identity(address: str) -> dict:
    """Return what the Dask process at an address reports about itself, such as its type, as a dict."""
    from distributed.core import rpc
    from distributed.security import Security

    given = Security().get_connection_args("client")
    async with rpc(address, timeout=SCHEDULER_WITHIN, connection_args=given) as process:
        return await asyncio.wait_for(process.identity(), SCHEDULER_WITHIN + 2)


def check_workers(client: Client) -> dict[str, About]:
    """Return the `About` of each worker by address; raise ClusterError if a version or kernel differs from this process's."""
    return {
        address: checked(software, address)
        for address, software in ask_workers(client, about_process).items()
    }


def ask_workers(client: Client, function: Callable, *arguments) -> dict:
    """Call a function on every worker and return the results by address; raise ClusterError if a call fails."""
    answers = client.run(function, *arguments, on_error="return")
    for address, answer in answers.items():
        if isinstance(answer, InputError):
            raise answer
        if isinstance(answer, Exception):
            raise ClusterError(
                f"worker {address} cannot do what is asked of it ({type(answer).__name__}: {shown(answer)}); install workbench "
                f"{workbench.__version__} there, as here"
            )
    return answers


def checked(software: About, address: str, client: About | None = None) -> About:
    """Return ``software`` if version and kernels equal those of ``client`` (default: this process); else raise ClusterError."""
    client = client or about_process()
    if software[:2] != client[:2]:
        raise ClusterError(
            f"worker {address} on {software.machine} has workbench {software.workbench} with kernels {software.kernels}, "
            f"and the client {client.workbench} with {client.kernels}: the numbers may differ; install the same there, and "
            "restart the worker"
        )
    return software
