"""A server as a process: how it begins and ends, beside others on the same store."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from toys import simulated

from workbench.runs.execution.fit import start
from workbench.runs.store.status import RUNNING

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PATIENCE = 60
PROMISED, TRIES = 5.0, 3
"""Seconds within which a server ends, and how often it is tried where a machine is busy."""
SERVE = "from workbench.dashboard.server.serve import Serving, serve; serve(Serving(port=0))"
BUSY = "import time; from workbench.dashboard.shared.background import STARTS; STARTS.submit(time.sleep, 10 * 60); "
"""A thread at work that nobody waits for."""


@contextlib.contextmanager
def server(store: Path, before: str = "", path: Path | None = None):
    """(process, address) of a server."""
    found = os.pathsep.join(map(str, filter(None, (ROOT, path, os.environ.get("PYTHONPATH")))))
    environment = os.environ | {"WORKBENCH_STORE": str(store), "PYTHONPATH": found}
    command = [sys.executable, "-c", before + SERVE]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process, process.stdout.readline().split()[-1]
        finally:
            process.kill()


def end(process, how=signal.SIGTERM) -> tuple[int, str]:
    """Exit status of a server that is told to end, and what it complained of."""
    process.send_signal(how)
    status = process.wait(PATIENCE)
    return status, process.stderr.read()


def seconds_to_end(store: Path) -> float:
    """How long either of two servers with a thread at work takes to end, without a complaint, from when it is told to."""
    took = []
    with server(store, BUSY) as one, server(store, BUSY) as other:
        assert one[1] != other[1]
        for _, address in (one, other):
            with urlopen(address, timeout=PATIENCE) as answer:
                assert answer.status == 200
        for process, how in ((one[0], signal.SIGTERM), (other[0], signal.SIGINT)):
            told = time.monotonic()
            assert end(process, how) == (0, "")
            took.append(time.monotonic() - told)
    return max(took)


def test_two_servers_on_a_store_answer_and_end_within_five_seconds_though_threads_are_at_work_and_runs_go_on(
    tmp_path,
):
    run = start(
        simulated(), "cgs", n_topics=4, n_iterations=10**6, store=tmp_path / "runs", name="long"
    )
    try:
        assert any(seconds_to_end(tmp_path / "runs") < PROMISED for _ in range(TRIES))
        assert run.state == RUNNING
    finally:
        run.stop()
        run.wait(PATIENCE)


def test_what_is_imported_at_first_use_is_imported_before_there_are_threads(tmp_path):
    # dask, where it is installed, was imported by the two threads of the first visitor: ImportError in one of them
    package = tmp_path / "path" / "dask"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '2026.1.0'\n")
    (package / "array.py").write_text("class Array: pass\n")
    (package / "base.py").write_text(
        "import sys, threading\nprint(f'dask in {threading.current_thread().name}', file=sys.stderr)\n"
        "def is_dask_collection(given): return False\n"
    )
    (package / "array.py").write_text("import dask.base\nclass Array: pass\n")
    with server(tmp_path / "runs", path=package.parent) as (process, address):
        urlopen(address, timeout=PATIENCE).close()
        assert end(process) == (0, "dask in MainThread\n")
