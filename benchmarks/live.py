"""Runs that go on while the page is measured: ``python benchmarks/live.py STORE [--runs 10]``.

Each has a fifth of its 300 iterations at once and then records two a second for two minutes, in a thread of this process, so
that the page meets a store full of news and the machine's cores are left to the server. None ends while the page is clicked:
the documents of a run at rest are scored, and what the server loads for that is no part of a session.
"""

from __future__ import annotations

import argparse
import threading
import time
from pathlib import Path

from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.execution.control import StoreControl
from workbench.runs.execution.worker import resume_position
from workbench.runs.loop import iterate
from workbench.runs.parts.laying_out import InMemoryData
from workbench.runs.spec import make_spec
from workbench.runs.store.writer import RunWriter, create_run

N_ITERATIONS, AT_ONCE, EVERY = 300, 60, 0.5
ENGINES = ("cgs", "svb", "cvb0", "svb-cgs", "cvb")


def go_on(path: Path, train, test, there: threading.Barrier) -> None:
    """One run, slowly from where it waits until all are there."""

    def linger(position, scores) -> None:
        if position.iteration == AT_ONCE:
            there.wait()
        if position.iteration >= AT_ONCE:
            time.sleep(EVERY)

    with RunWriter(path) as writer, StoreControl(path, writer.beat) as control:
        data = InMemoryData(writer.spec, train, test)
        iterate(writer.spec, data, resume_position(writer, data, control), writer, control, linger)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    given = parser.parse_args()
    threads, there = [], threading.Barrier(given.runs + 1)
    train, test = hold_out_tokens(
        LDA(8, 0.3, 0.1).simulate(200, 500, 60, seed=3)[0], fraction=0.1, seed=0
    )
    for at in range(given.runs):
        spec = make_spec(
            train,
            ENGINES[at % len(ENGINES)],
            n_topics=10,
            test=test,
            n_iterations=N_ITERATIONS,
            seed=at,
            snapshot_every=20,
            name=f"live-{at}",
        )
        path = create_run(given.store, spec, train, test)
        threads.append(threading.Thread(target=go_on, args=(path, train, test, there)))
        threads[-1].start()
    there.wait()
    print("going on", flush=True)
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
