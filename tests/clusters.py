"""A cluster of Dask for tests: scheduler and workers as processes of their own, started by Dask's commands."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

import workbench as wb

DASK = Path(sys.executable).parent / "dask"
PATIENCE = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"}
"""Of a worker and its nanny, each, for a scheduler that is gone; by default 30 s."""


class Cluster:
    """A scheduler and its workers; each a process that can be killed."""

    def __init__(self, folder: Path):
        self.folder, self.workers, self._log = folder, [], folder / "dask.log"
        self.address = "tcp://127.0.0.1:0"
        self.begin()

    def begin(self) -> None:
        """Starts the scheduler, at the same address where there was one."""
        known = self._log.stat().st_size if self._log.exists() else 0
        host, port = self.address.removeprefix("tcp://").split(":")
        self.scheduler = self._start(
            "scheduler",
            "--host",
            host,
            "--port",
            port,
            "--no-dashboard",
            "--dashboard-address",
            "127.0.0.1:0",
        )
        until(lambda: "Scheduler at:" in self.log()[known:], what="the scheduler does not start")
        self.address = self.log()[known:].split("Scheduler at:")[1].split()[0]

    def log(self) -> str:
        return self._log.read_text()

    def _start(self, *command) -> subprocess.Popen:
        with open(self._log, "ab") as log:
            return subprocess.Popen(
                [DASK, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=self.folder,
                env=os.environ | PATIENCE,
            )

    def lose_scheduler(self) -> None:
        """Kills the scheduler, and waits for its workers to have ended."""
        kill(self.scheduler.pid)
        self.scheduler.wait()
        for worker in self.workers:
            worker.wait(90)
        self.workers.clear()

    def add_worker(self, *more, preload: str | None = None) -> subprocess.Popen:
        """A worker with a nanny and a thread; ``preload``: Python that it runs before anything else."""
        if preload is not None:
            file = self.folder / f"preload_{len(self.workers)}.py"
            file.write_text(preload)
            more = (*more, "--preload", str(file))
        self.workers.append(
            self._start(
                "worker",
                self.address,
                "--nthreads",
                "1",
                "--no-dashboard",
                "--local-directory",
                str(self.folder),
                *more,
            )
        )
        return self.workers[-1]

    def end_workers(self) -> None:
        """Kills all workers."""
        while self.workers:
            end(self.workers.pop())

    def close(self) -> None:
        self.end_workers()
        end(self.scheduler)


def end(process: subprocess.Popen) -> None:
    """Kills a process and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def until(condition, seconds: float = 120, what: str = "it did not come true in time"):
    """Waits for the condition, and returns it; fails where it does not come true."""
    began = time.monotonic()
    while not (came := condition()):
        assert time.monotonic() - began < seconds, what
        time.sleep(0.05)
    return came


def kill(pid: int) -> None:
    """Ends a process at once, as the system does for want of memory."""
    os.kill(pid, signal.SIGKILL)


def child_of(run: wb.Run, at: int = 1) -> psutil.Process:
    """The process that computes a run, once it is past an iteration."""
    until(
        lambda: run.state == "running" and run.status()["iteration"] >= at,
        what=f"{run.path.name} was not seen to run",
    )
    return psutil.Process(run.status()["pid"])


def has_ended(process: psutil.Process) -> bool:
    """Has it, whoever is to collect it?"""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def worker_of(run: wb.Run) -> psutil.Process:
    """The process of the worker that has a run; its parent is the nanny."""
    return child_of(run).parent()
