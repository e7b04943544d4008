"""A cluster of Dask: scheduler and workers as processes of their own, started by Dask's commands."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from distributed import Client

DASK = Path(sys.executable).parent / "dask"


class Cluster:
    """A scheduler and its workers; each a process that can be killed."""

    def __init__(self, folder: Path):
        self.folder, self.workers, self._log = folder, [], folder / "dask.log"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        began = time.monotonic()
        while "Scheduler at:" not in self.log():
            assert time.monotonic() - began < 60 and self.scheduler.poll() is None, self.log()
            time.sleep(0.05)
        self.address = self.log().split("Scheduler at:")[1].split()[0]

    def log(self) -> str:
        return self._log.read_text()

    def _start(self, *command) -> subprocess.Popen:
        with open(self._log, "ab") as log:
            return subprocess.Popen(
                [DASK, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=self.folder,
            )

    def add_worker(self, *more, preload: str | None = None) -> subprocess.Popen:
        """A worker with a nanny and a thread; ``preload``: Python that it runs before anything else."""
        if preload is not None:
            file = self.folder / f"preload_{len(self.workers)}.py"
            file.write_text(preload)
            more = (*more, "--preload", str(file))
        self.workers.append(self._start(
            "worker", self.address, "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder), *more,
        ))
        return self.workers[-1]

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    """A scheduler without workers."""
    folder = tmp_path / "dask"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.close()


@pytest.fixture
def client_to():
    """Makes clients that are closed at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda address: stack.enter_context(Client(address, set_as_default=False))
