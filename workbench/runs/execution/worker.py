"""A run in its own process: ``python -m workbench.runs.execution.worker RUN``.

Whoever started it may go away; the run goes on, and is watched and steered through its folder.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from filelock import FileLock, Timeout

from workbench.corpus import Corpus
from workbench.runs.execution.control import RUNNING, STOPPED, StoreControl, ask, ending_cleanly, read_json, replace_json
from workbench.runs.execution.freeing import give_back_freed
from workbench.runs.execution.memory_check import Planned, check_room
from workbench.runs.loop import Stopped, Watch, iterate
from workbench.runs.store.archive import get_corpus
from workbench.runs.store.store import FAILED, FINISHED, WAITING, StoreError
from workbench.runs.store.writer import RunWriter

SLOTS = max(4, os.cpu_count() or 1)
"""Workers of one store that run at a time; the others wait for their turn."""


def carry_on(path: Path, watch: Watch | None = None, asked: bool = False, corpora: tuple | None = None) -> bool:
    """Takes a run from its last checkpoint to its end, in this process; True when it got there.

    Ctrl-C and SIGTERM end it cleanly after the step. What was asked of the run before is forgotten, unless
    the caller ``asked`` it to run: then a pause or a stop that came since is obeyed. ``corpora`` are its training and
    test corpus where they are at hand; they are read from the store otherwise.

    Raises
    ------
    StoreError, SpecError
        When the run cannot be opened, does not fit into memory, is written by another process, or does not repeat itself.
    """
    path = Path(path)
    give_back_freed()
    with RunWriter(path) as writer:
        spec = writer.spec
        if not asked:
            ask(path, RUNNING)
        try:
            train, test = _checked(spec, *corpora) if corpora else (
                get_corpus(path.parent, name) if name else None for name in (spec.train, spec.test)
            )
            check_room([Planned(spec, train, test)], here=True)
            with StoreControl(path, writer.beat) as control, ending_cleanly(control), contextlib.suppress(Stopped):
                iterate(spec, train, test, writer.position(train, test), writer, control, watch)
        except Exception as error:
            writer.beat(FAILED, f"{type(error).__name__}: {error}")
            raise
        finally:
            writer.flush()
        finished = writer.iteration >= writer.spec.n_iterations
        writer.beat(FINISHED if finished else STOPPED)
        return finished


def _checked(spec, train: Corpus, test: Corpus | None) -> tuple[Corpus, Corpus | None]:
    """Corpora that are at hand, if they are those of the run; no test corpus where the run has none."""
    test = test if spec.test else None
    if (train.content_hash, test and test.content_hash) != (spec.train, spec.test):
        raise StoreError(f"{spec.name} was made for other documents than those given; leave out corpora, and it reads its own")
    return train, test


def launch(path: Path) -> None:
    """Starts a worker for a run and returns at once; what it prints goes to ``worker.log`` in the run."""
    path = Path(path).resolve()
    ask(path, RUNNING)
    replace_json(path / "status.json", read_json(path / "status.json") | {"state": WAITING, "time": time.time()})
    with open(path / "worker.log", "ab") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "workbench.runs.execution.worker", str(path)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )
    threading.Thread(target=worker.wait, daemon=True).start()  # leaves no zombie behind


@contextlib.contextmanager
def turn_to_work(path: Path):
    """Waits until fewer than `SLOTS` workers of the store are at work, or until the run is to stop."""
    folder = path.parent / ".slots"
    folder.mkdir(exist_ok=True)
    while True:
        for slot in range(SLOTS):
            lock = FileLock(str(folder / f"{slot}.lock"), timeout=0)
            try:
                with lock:
                    yield
                    return
            except Timeout:
                continue
        replace_json(path / "status.json", read_json(path / "status.json") | {"state": WAITING, "time": time.time()})
        if read_json(path / "control.json").get("wanted") == STOPPED:
            replace_json(path / "status.json", read_json(path / "status.json") | {"state": STOPPED})
            raise Stopped
        time.sleep(0.5)


def main() -> int:
    path = Path(sys.argv[1])
    with contextlib.suppress(Stopped), turn_to_work(path):
        carry_on(path, asked=True)  # by `launch`: a stop may have come while this process started
    return 0


if __name__ == "__main__":
    sys.exit(main())
