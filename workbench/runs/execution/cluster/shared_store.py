"""Whether the workers of a cluster see a store as this process does: its files both ways, its locks, and the same time."""

from __future__ import annotations

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
"""Seconds that clocks of two machines may differ: the heartbeat of a run on one is judged by the clock of the other."""
SEEN_WITHIN = 5.0
"""Seconds in which a file that was written on one machine must be there on the other."""
LOCK, HERE = "lock", "here"
ADVICE = "give a store on a file system that all machines share, at the same path"


class Seen(NamedTuple):
    """What a worker sees of the probe."""

    machine: str
    token: str  # in the file that was written here; "" where there is none
    wrote: str  # name of the file that it wrote; "" where it cannot
    is_held: bool  # is the lock held that is held here?
    time: float  # seconds, by its clock


def check_shared(client: Client, store: Path) -> Path:
    """The whole path of the store, which all workers share; raises ClusterError for the first that does not.

    A token that is written here is read there and the other way, a lock that is held here is seen there, and clocks differ by
    at most two seconds: a ClusterError otherwise. Nothing of the probe is left behind.
    """
    store = Path(store).resolve()
    was_there = store.is_dir()
    probe, token = partial_of(store / "probe"), secrets.token_hex(8)
    try:
        probe.mkdir(parents=True)
        (probe / HERE).write_text(token)
        with Lock(probe / LOCK):
            began = time.time()
            answers = ask_workers(client, look_at_probe, str(probe))
            ended = time.time()
        for address, seen in answers.items():
            _check_seen(seen, f"worker {address} on {seen.machine}", probe, token, began, ended)
    except OSError as error:
        raise StoreError(
            f"cannot write to the store {store}: {error.strerror or error}; choose another"
        ) from error
    finally:
        shutil.rmtree(probe, ignore_errors=True)
        if not was_there:
            _remove_empty(store)
    return store


def look_at_probe(path: str) -> Seen:
    """Called on a worker: reads the token, writes it to a file of its own, and asks for the lock."""
    probe = Path(path)
    token = _read(probe / HERE)
    own = probe / f"{machine()}-{secrets.token_hex(8)}"
    try:
        own.write_text(token)
        wrote = own.name
    except OSError:
        wrote = ""
    return Seen(machine(), token, wrote, sees_lock(str(probe / LOCK)), time.time())


def sees_lock(path: str) -> bool:
    """Called on a worker: is a lock seen as held that the client holds in the store?"""
    return bool(is_held(Path(path)))


def _check_seen(
    seen: Seen, worker: str, probe: Path, token: str, began: float, ended: float
) -> None:
    """Raise ClusterError for what a worker does not see, or for its clock.

    began, ended : times of this machine's clock between which the worker looked.
    """
    store = probe.parent
    if seen.token != token:
        raise ClusterError(f"{worker} does not see the files of the store {store}; {ADVICE}")
    if not seen.wrote:
        raise ClusterError(f"{worker} cannot write to the store {store}; make it writable there")
    if _read(probe / seen.wrote) != token:
        raise ClusterError(
            f"a file that {worker} writes to the store {store} is not seen here; {ADVICE}"
        )
    if not seen.is_held:
        raise ClusterError(
            f"{worker} does not see a lock that is held here in the store {store}; "
            "its file system needs locks that hold across machines (NFS: not mounted with nolock or local_lock)",
        )
    ahead = seen.time - min(max(seen.time, began), ended)
    if abs(ahead) > APART:
        raise ClusterError(
            f"the clock of {worker} is {abs(ahead):,.1f} s {'ahead' if ahead > 0 else 'behind'} of that here, and {APART:.0f} "
            "s are allowed; set both by a time server"
        )


def _read(path: Path) -> str:
    """What is in the file, as soon as it is there; nothing where it is not in time."""
    until = time.monotonic() + SEEN_WITHIN
    while True:
        try:
            if text := path.read_text():
                return text
        except OSError:
            pass
        if time.monotonic() > until:
            return ""
        time.sleep(0.05)


def _remove_empty(store: Path) -> None:
    """Removes the folder that the probe made."""
    try:
        store.rmdir()
    except OSError:  # somebody has put something into it
        return
