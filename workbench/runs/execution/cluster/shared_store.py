"""Check that the workers of a cluster share a store with this process: files in both directions, locks, and clocks."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.data.saving import partial_of
from workbench.runs.execution.cluster.connecting import ClusterError, ask_workers
from workbench.runs.store.layout import StoreError
from workbench.runs.store.lock import Lock, is_held
from workbench.runs.store.provenance import machine

if TYPE_CHECKING:
    from distributed import Client

APART = 2.0
"""Seconds by which the clocks of two machines may differ, since one machine judges the heartbeats that another writes."""
SEEN_WITHIN = 5.0
"""Seconds within which a file that one machine writes must be visible on the other."""
LOCK, HERE = "lock", "here"
ADVICE = "give a store on a file system that all machines share, at the same path"


class Seen(NamedTuple):
    """A worker's report on the client's test folder: the token read, the file written, whether the lock is held, the time."""

    machine: str
    token: str  # read from the client's file; "" if the file is not visible
    file_name: str  # name of the file that the worker wrote; "" if it could not write
    is_held: bool  # whether the lock that the client holds is seen as held
    time: float  # seconds, by the clock of the worker


def check_shared(client: Client, store: Path) -> Path:
    """Return the absolute path of the store; raise ClusterError for the first worker that does not share it.

    Each worker must read a token that this process writes, write one that this process can read, see a lock that this process
    holds, and have a clock within two seconds. The test folder is deleted.
    """
    store = Path(store).resolve()
    existed = store.is_dir()
    probe, token = partial_of(store / "probe"), secrets.token_hex(8)
    try:
        probe.mkdir(parents=True)
        (probe / HERE).write_text(token)
        with Lock(probe / LOCK):
            start = time.time()
            answers = ask_workers(client, look_at_probe, str(probe))
            end = time.time()
        for address, view in answers.items():
            _check_seen(view, f"worker {address} on {view.machine}", probe, token, start, end)
    except OSError as error:
        raise StoreError(
            f"cannot write to the store {store}: {error.strerror or error}; choose another"
        ) from error
    finally:
        shutil.rmtree(probe, ignore_errors=True)
        if not existed:
            with contextlib.suppress(OSError):  # somebody has put something into it
                store.rmdir()
    return store


def look_at_probe(path: str) -> Seen:
    """Read the token, write a file and test the lock in the test folder; return a `Seen`. Called on every worker.

    path : the test folder
    """
    probe = Path(path)
    token = _read(probe / HERE)
    reply = probe / f"{machine()}-{secrets.token_hex(8)}"
    try:
        reply.write_text(token)
        file_name = reply.name
    except OSError:
        file_name = ""
    return Seen(machine(), token, file_name, bool(is_held(probe / LOCK)), time.time())


def _check_seen(view: Seen, worker: str, probe: Path, token: str, start: float, end: float) -> None:
    """Raise ClusterError if a worker does not share the files or locks of the store, or its clock differs from this machine's.

    view : what it saw; start, end : times by this machine's clock between which it looked
    """
    store = probe.parent
    if view.token != token:
        raise ClusterError(f"{worker} does not see the files of the store {store}; {ADVICE}")
    if not view.file_name:
        raise ClusterError(f"{worker} cannot write to the store {store}; make it writable there")
    if _read(probe / view.file_name) != token:
        raise ClusterError(
            f"a file that {worker} writes to the store {store} is not seen here; {ADVICE}"
        )
    if not view.is_held:
        raise ClusterError(
            f"{worker} does not see a lock that is held here in the store {store}; "
            "its file system needs locks that hold across machines (NFS: not mounted with nolock or local_lock)",
        )
    lead = view.time - min(max(view.time, start), end)
    if abs(lead) > APART:
        raise ClusterError(
            f"the clock of {worker} is {abs(lead):,.1f} s {'ahead' if lead > 0 else 'behind'} of that here, and {APART:.0f} "
            "s are allowed; set both by a time server"
        )


def _read(path: Path) -> str:
    """Return the text of a file as soon as it exists; "" if it does not appear in time."""
    deadline = time.monotonic() + SEEN_WITHIN
    while True:
        try:
            if text := path.read_text():
                return text
        except OSError:
            pass
        if time.monotonic() > deadline:
            return ""
        time.sleep(0.05)
