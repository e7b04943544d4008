"""A server does not grow while runs and sessions come and go: memory, open files, threads of its process, and the store.

``make torture CAMPAIGNS=endurance``: ten runs at work at a time and twenty sessions, for two hours.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil
import pytest
from browser.servers import ROOT, our_server, serving

from workbench.models import LDA
from workbench.runs.execution.fit import start
from workbench.runs.execution.run import ENDED, open_runs

VISITORS = ROOT / "benchmarks" / "visitors.py"
LIFETIME = 5.0
"""Seconds that a closed session lives on."""
GROWTH = 1.1
"""Memory of the last third over that of the second, at most: allocators keep some of what they had."""


class Held(NamedTuple):
    """What the server and the store hold."""

    memory: float  # MiB
    files: int
    threads: int
    children: int
    disk: float  # MiB for each run


def held(server: psutil.Process, store: Path) -> Held:
    """What they hold now."""
    runs = max(len(open_runs(store)), 1)
    disk = sum(path.stat().st_size for path in store.rglob("*") if path.is_file()) / 2**20 / runs
    return Held(
        server.memory_info().rss / 2**20,
        server.num_fds(),
        server.num_threads(),
        len(server.children()),
        disk,
    )


class Runs:
    """Runs that are always at work in a store; the oldest that have ended are removed."""

    def __init__(self, store: Path, n_runs: int, n_iterations: int):
        self.store, self.n_runs, self.n_iterations, self.n_begun = store, n_runs, n_iterations, 0
        self.corpus, _ = LDA(5, 0.3, 0.2).simulate(200, 300, 40, 0)

    def keep_going(self) -> None:
        """As many as there are to be are at work, and no more are there that have ended."""
        runs = open_runs(self.store)
        ended = [run for run in runs if run.state in ENDED]
        for run in ended[: max(len(ended) - self.n_runs, 0)]:
            run.remove()
        for _ in range(self.n_runs - len(runs) + len(ended)):
            self.n_begun += 1
            start(
                self.corpus,
                "cgs",
                store=self.store,
                n_topics=5,
                seed=self.n_begun,
                n_iterations=self.n_iterations,
            )

    def end(self) -> None:
        """All come to their end."""
        for run in (run for run in open_runs(self.store) if run.state not in ENDED):
            run.stop()
            run.wait(30)


def visit(address: str, n_sessions: int, seconds: float) -> list[subprocess.Popen]:
    """Sessions of both pages that stay for a while, in processes of their own."""
    origin = address.rsplit("/", 1)[0]
    return [
        subprocess.Popen(
            [
                sys.executable,
                VISITORS,
                "sessions",
                "--url",
                f"{origin}/{page}",
                "--number",
                str(n_sessions // 2),
                "--seconds",
                str(seconds),
            ],
            stdout=subprocess.DEVNULL,
        )
        for page in ("compare", "topics")
    ]


def endure(
    folder: Path, minutes: float, n_runs: int, n_sessions: int, tell=lambda found: None
) -> list[Held]:
    """What server and store hold after each round of visitors, when all of these have gone."""
    store, found, until = folder / "runs", [], time.monotonic() + 60 * minutes
    store.mkdir()
    runs = Runs(store, n_runs, 2000)
    runs.keep_going()
    try:
        before = {child.pid for child in psutil.Process().children()}
        with serving(our_server(LIFETIME), store) as address:
            (server,) = (
                child
                for child in psutil.Process().children()
                if child.pid not in before and is_server(child)
            )
            while time.monotonic() < until or len(found) < 3:
                for visitors in visit(address, n_sessions, 5.0):
                    assert visitors.wait(300) == 0
                runs.keep_going()
                time.sleep(2 * LIFETIME)
                found.append(held(server, store))
                tell(found[-1])
    finally:
        runs.end()
    return found


def is_server(process: psutil.Process) -> bool:
    """Is this process the server of `our_server`?"""
    return any("make_server" in part or "serve(" in part for part in process.cmdline())


def check(found: list[Held]) -> None:
    """Nothing has grown from the second third of the rounds to the last."""
    third = max(len(found) // 3, 1)
    for name in Held._fields:
        before, after = (
            median(getattr(each, name) for each in part)
            for part in (found[third : 2 * third], found[-third:])
        )
        more = GROWTH * before if name in ("memory", "disk") else before + 2
        assert after <= more, f"{name} grew from {before:g} to {after:g}"


@pytest.mark.long
@pytest.mark.browser
def test_a_server_holds_no_more_after_sessions_and_runs_have_gone(tmp_path):
    found = endure(tmp_path, 0.0, n_runs=2, n_sessions=4)
    check(found[:1] + found)  # the first round has what is loaded once


def main(minutes: float) -> None:
    """Prints a row every ten rounds, and whether anything grew."""
    print("| round | memory, MiB | open files | threads | child processes | MiB of disk a run |")
    print("|---:|---:|---:|---:|---:|---:|")
    rounds = []

    def tell(now: Held) -> None:
        rounds.append(now)
        if len(rounds) % 10 == 1:
            held_now = (
                f"{now.memory:.0f} | {now.files} | {now.threads} | {now.children} | {now.disk:.2f}"
            )
            print(f"| {len(rounds)} | {held_now} |", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        check(endure(Path(folder), minutes, n_runs=10, n_sessions=20, tell=tell))
    print(f"nothing grew in {len(rounds)} rounds")


if __name__ == "__main__":
    main(float(sys.argv[1]) if sys.argv[1:] else 120.0)
