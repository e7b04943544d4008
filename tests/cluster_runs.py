"""Runs for tests of clusters: long enough to be met while they run, in this process's store or by the command line."""

import functools
import subprocess
import sys
import time

from clusters import until
from same_bits import same_bits

import workbench as wb

CORPUS = "bars:side=3:n_documents=20:tokens_per_document=20"


@functools.cache
def long() -> dict:
    """Settings of a run that takes two to three seconds on this machine, so that it can be met while it runs."""
    settings = dict(record_every=100, snapshot_every=10**6)
    for n_iterations in (200, 2000):  # the first compiles
        began = time.monotonic()
        wb.fit(
            wb.load_corpus(CORPUS),
            "cgs",
            n_topics=2,
            n_iterations=n_iterations,
            progress=False,
            **settings,
        )
        per_second = n_iterations / (time.monotonic() - began)
    return settings | {"n_iterations": max(6000, int(2.5 * per_second / 100) * 100)}


def ended_whole(runs, whole):
    """Have all runs ended, with the bits of those that were never interrupted?"""
    for run in runs:
        assert run.state == "finished", run.status()
        same_bits(run.dataset(), whole(run.spec.seed))


def in_command(store, *more, n_iterations: int | None = None) -> subprocess.Popen:
    """The command that sweeps over two runs of `make`, on a cluster."""
    n_iterations = n_iterations or long()["n_iterations"]
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "workbench",
            "sweep",
            CORPUS,
            "-e",
            "cgs",
            "-g",
            "seed=0,1",
            "-k",
            "2",
            "-n",
            str(n_iterations),
            "--record-every",
            "100",
            "--snapshot-every",
            "1000000",
            "--store",
            str(store),
            *more,
        ],
        stderr=subprocess.PIPE,
        text=True,
    )


def made_by(command: subprocess.Popen, store) -> list[wb.Run]:
    """The two runs of the command, when it has made them."""
    until(lambda: command.poll() is not None or len(wb.open_runs(store)) == 2)
    assert command.poll() is None, command.communicate()[1]
    return wb.open_runs(store)
