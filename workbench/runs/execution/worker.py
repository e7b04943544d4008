"""Compute a run in its own process: ``python -m workbench.runs.execution.worker RUN``.

The worker survives the process that started it, unless it is ``attached``. It is monitored and controlled through files in
the folder of the run.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from workbench.corpus import Corpus
from workbench.errors import DataError, InputError
from workbench.runs.execution.control import StoreControl, ending_cleanly
from workbench.runs.execution.memory_check import Planned, check_room, give_back_freed, laid_out
from workbench.runs.execution.spare import KEY, hand_over, key, next_run
from workbench.runs.loop import Control, OnIteration, Stopped, initial_position, iterate
from workbench.runs.parts.crew import LocalParts, PartsLost
from workbench.runs.parts.laying_out import InMemoryData, ShardedData
from workbench.runs.recorded import Position
from workbench.runs.spec import RunSpec
from workbench.runs.store.archive import corpora_of, get_warm_start, parts_folder, read_checkpoint
from workbench.runs.store.layout import DamagedError, StoreError
from workbench.runs.store.lock import Lock
from workbench.runs.store.provenance import machine
from workbench.runs.store.status import (
    FAILED,
    FINISHED,
    RUNNING,
    STOPPED,
    WAITING,
    read_json,
    read_spec,
    request,
    requested,
    set_state,
    set_wanted,
)
from workbench.runs.store.writer import RunWriter, lock_run

SLOTS = max(4, os.cpu_count() or 1)
"""Limit of workers of a store that compute at a time on a machine; further workers wait."""
NICE = 5
"""Niceness added to a worker on POSIX systems, so that the process that started it has priority."""
SIGNALLED = 128
"""The exit status of a process that a signal has ended, without the number of the signal."""
ATTACHED = "attached"
"""Argument of a worker that ends with the process that started it."""


def carry_on(
    path: Path,
    on_iteration: OnIteration | None = None,
    keep_request: bool = False,
    corpora: tuple | None = None,
    lock: Lock | None = None,
    crew: Callable = LocalParts,
) -> None:
    """Compute a run in this process from its last checkpoint to its end.

    Ctrl-C and SIGTERM stop it cleanly after the step; then Interrupted or Terminated is raised. An earlier request to pause or
    stop is cancelled, unless ``keep_request``. ``corpora`` are its training and test corpus; if None, they are read from the
    store. ``lock`` is that of the run; if None, it is acquired. ``crew`` computes on the parts of a corpus in shards, and
    raises PartsLost if parts are lost. Raises StoreError or SpecError if the run cannot be opened or written, does not fit into
    memory, is written by another process, or gives other numbers than before.
    """
    path = Path(path)
    read_spec(path).refuse_missing()
    give_back_freed()
    with RunWriter(path, lock) as writer:
        spec, control = writer.spec, StoreControl(path, writer.beat)
        try:
            if not keep_request:
                set_wanted(path, RUNNING)
            train, test = (
                _check_corpora(spec, *corpora) if corpora else corpora_of(path.parent, spec)
            )
            check_room([Planned(spec, train, test)], here=True)
            with (
                laid_out(Planned(spec, train, test), path, crew) as data,
                control,
                ending_cleanly(control),
                contextlib.suppress(Stopped),
            ):
                iterate(
                    spec,
                    data,
                    resume_position(writer, data, control),
                    writer,
                    control,
                    on_iteration,
                )
            writer.flush()
            is_finished = writer.iteration >= writer.spec.n_iterations
            writer.beat(FINISHED if is_finished else STOPPED)
        except PartsLost:  # the caller continues from the last checkpoint
            writer.flush()
            if control.stopping():
                writer.beat(STOPPED)
            control.raise_stop()
            raise
        except Exception as error:
            failure = writer.failed(error)
            raise failure from (None if failure is error else error)
        except BaseException:  # a second Ctrl-C
            writer.flush()
            raise
        control.raise_stop()


def resume_position(
    writer: RunWriter, data: InMemoryData | ShardedData, control: Control
) -> Position:
    """Return the position at a run's last checkpoint, or the position before the first iteration if there is none.

    A checkpoint whose document arrays cannot be read is ignored.
    """
    spec, checkpoint = writer.spec, writer.path / "checkpoint.npz"
    position = read_checkpoint(checkpoint, data.engine)
    if position is not None:
        try:
            data.load(parts_folder(checkpoint, position.iteration))
        except DataError:
            position = None
    if position is None:
        counts = spec.start and get_warm_start(writer.path.parent, spec.start["counts"])
        return initial_position(replace(spec, warm_start=counts), data, control)
    if position.iteration - writer.iteration >= spec.record_every:
        raise DamagedError.of(
            writer.path,
            f"its checkpoint is of iteration {position.iteration} and its rows end with {writer.iteration}",
        )
    return position._replace(rows=data.rows)


def _check_corpora(
    spec: RunSpec, train: Corpus, test: Corpus | None
) -> tuple[Corpus, Corpus | None]:
    """Return (training corpus, test corpus or None) if they have the spec's content hashes; else raise StoreError."""
    test = test if spec.test else None
    if (train.content_hash, test and test.content_hash) != (spec.train, spec.test):
        raise StoreError(
            f"{spec.name} belongs to other documents than those given; leave out corpora, and it reads its own"
        )
    return train, test


def spawn(module: str, *arguments, log: Path, lock: Lock) -> None:
    """Start a module of `workbench.runs.execution` in a detached process that inherits the lock; return at once."""
    process = start_process(module, *arguments, log=log, lock=lock)
    threading.Thread(target=process.wait, daemon=True).start()  # so that no zombie process remains


def start_process(
    module: str, *arguments, log: Path, lock: Lock, stdin: int = subprocess.DEVNULL
) -> subprocess.Popen:
    """Start a module of `workbench.runs.execution` in a detached process and return it; its output is appended to ``log``.

    The process holds the lock from its first moment until it ends. It imports modules, also those of engines, from the same
    places as this process.
    """
    with lock, open(log, "ab") as file:
        return subprocess.Popen(
            [sys.executable, "-m", f"workbench.runs.execution.{module}", *map(str, arguments)],
            stdin=stdin,
            stdout=file,
            stderr=file,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), KEY: key()},
            start_new_session=True,
            pass_fds=(lock.fd,),
        )


def launch(path: Path) -> None:
    """Start a worker for a run and return at once; its output is appended to ``worker.log`` in the run's folder.

    Raises StoreError if another process computes the run, or its folder cannot be written.
    """
    path = Path(path).resolve()
    read_spec(path).refuse_missing()
    with lock_run(path) as lock:
        try:
            request(path, RUNNING)
            set_state(path, WAITING, queue=None, message="")
            if not hand_over(path, lock):
                spawn("worker", path, lock.fd, log=path / "worker.log", lock=lock)
        except OSError as error:
            raise StoreError(
                f"cannot start run '{path.name}': {error.strerror} ({error.filename or path}); "
                "correct that, and resume the run"
            ) from error


@contextlib.contextmanager
def worker_slot(path: Path):
    """Wait until fewer than `SLOTS` workers of the store compute on this machine, and hold a slot within the block.

    Raises Stopped if the run is requested to stop before.
    """
    folder = path.parent / ".slots"
    folder.mkdir(exist_ok=True)
    while True:
        for slot in range(SLOTS):
            try:
                with FileLock(str(folder / f"{machine()}-{slot}.lock"), timeout=0):
                    yield
                    return
            except Timeout:
                continue
        is_stopped = requested(path) == STOPPED
        set_state(path, STOPPED if is_stopped else WAITING)
        if is_stopped:
            raise Stopped
        time.sleep(0.5)


def end_with_parent() -> None:
    """Start a thread that ends this process when the parent process ends or closes the pipe to stdin."""

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        os._exit(1)

    threading.Thread(target=wait, name="workbench-parent", daemon=True).start()


def main() -> int:
    path, *fd = sys.argv[1:]
    if hasattr(os, "nice"):  # pages and notebooks answer while runs use all processors
        os.nice(NICE)
    is_attached = ATTACHED in fd
    if is_attached:
        fd.remove(ATTACHED)
        end_with_parent()
    status = compute(Path(path), int(fd[0]) if fd else None)
    while not is_attached and status < SIGNALLED and (run_and_lock := next_run()):
        write_to(run_and_lock[0] / "worker.log")
        status = compute(*run_and_lock)
    return status


def compute(path: Path, fd: int | None) -> int:
    """Compute a run to its end and return the exit status; ``fd`` is the file descriptor of the run's lock, if inherited."""
    try:
        lock = lock_run(path) if fd is None else Lock.inherited(path / "lock", fd)
        with contextlib.suppress(Stopped), worker_slot(path):
            # a stop may have come while this process started
            carry_on(path, keep_request=True, lock=lock)
    except KeyboardInterrupt:
        return SIGNALLED + signal.SIGINT
    except (InputError, OSError) as error:
        with contextlib.suppress(OSError):
            if read_json(path / "status.json").get("state") == WAITING:  # it had not started
                set_state(path, FAILED, message=str(error))
            print(f"workbench: {error}", file=sys.stderr)
        return 1
    return 0


def write_to(log: Path) -> None:
    """Append the output of this process to a file from now on."""
    sys.stdout.flush()
    sys.stderr.flush()
    with open(log, "ab") as file:
        for output in (1, 2):
            os.dup2(file.fileno(), output)


if __name__ == "__main__":
    sys.exit(main())
