"""What does a run on a million documents cost to start, to read and to look at?

Zipf's words, W = 30,000, ten tokens a document in the mean, K = 100, three iterations of `cgs` and of `svb`. CPU seconds and
the peak of memory of a process each: the run in a store; `run.dataset()` alone, with phi, with twenty rows of theta, with all
of it. Then a server that has read nothing yet and a page of it in a real Chromium: seconds from asking for the page until it
shows the run (the topics, the first table of documents; the row of the Compare page), CPU seconds of the server until the
first of these, and the peak of its memory ten seconds later (`python benchmarks/many_documents.py`). First paint is to be
within 3 s. What is called before was measured once, with this program beside commit 1c7e7bf.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the children are this file too, and pay for what they import
    import pandas as pd

NAME = "many_documents"
TITLE = "A million documents"
N_ROUNDS, N_TOPICS, N_ITERATIONS = 3, 100, 3
ENGINES = "cgs", "svb"
SHAPE = {"n_words": 30_000, "tokens_per_document": 8, "n_topics": 20}
SETTLING = 10.0
"""Seconds for which a page is left open."""
PATIENCE = 120
"""Seconds after which a page is given up."""
PAINTED = {
    "topics": {
        "topics": "() => deep('.listed tbody tr').length > 0",
        "table": "() => deep('tr[data-document]').length > 0",
    },
    "compare": {"row": "() => deep('tbody tr').length > 0"},
}
"""Page → what of it is waited for, and what holds once it is drawn."""
READS = "dataset", "phi", "rows", "theta"


def cells(plan):
    """(name, rough seconds, what measures it)."""
    n = 100_000 if plan.quick else 1_000_000
    for engine in ENGINES:
        yield (
            f"{n:,} documents, {engine}",
            n / 4000,
            partial(measure, engine, n, 1 if plan.quick else N_ROUNDS),
        )


def measure(engine: str, n_documents: int, n_rounds: int) -> list[dict]:
    """A row for each process."""
    with tempfile.TemporaryDirectory() as store:
        asked("--make", store, "--documents", n_documents, "--engine", engine)
        rows = [asked("--fit", store, "--engine", engine) | {"round": 0}]
        for round_ in range(n_rounds):
            found = [asked("--read", store, "--what", what) for what in READS]
            found += [asked("--serve", store, "--what", page) for page in PAINTED]
            rows += [row | {"round": round_} for row in found]
    return [row | {"documents": n_documents, "engine": engine} for row in rows]


def asked(*words) -> dict:
    """What a process of this program tells."""
    command = [sys.executable, __file__, *map(str, words)]
    return json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[
            -1
        ]
    )


def peak() -> float:
    """MiB that this process has held at most."""
    told = Path("/proc/self/status").read_text()
    return round(int(told.split("VmHWM:")[1].split()[0]) / 1024)


def make(store: Path, n_documents: int, engine: str) -> dict:
    """The corpus, in a folder beside the runs; and the kernels, compiled."""
    import workbench as wb
    from workbench.corpus import synthetic

    wb.fit(wb.load_corpus("bars"), engine, n_topics=2, n_iterations=1, progress=False)
    corpus, _ = synthetic.zipf(n_documents, **SHAPE)
    corpus.save(store / "corpora")
    return {}


def fit(store: Path, engine: str) -> dict:
    """The run, which is called by its engine."""
    import workbench as wb
    from workbench.corpus import Corpus

    corpus, before = Corpus.load(next((store / "corpora").iterdir())), time.process_time()
    wb.fit(
        corpus,
        engine,
        N_TOPICS,
        n_iterations=N_ITERATIONS,
        store=store / "runs",
        name=engine,
        progress=False,
    )
    return {"contender": "fit", "cpu": time.process_time() - before, "memory": peak()}


def read(store: Path, what: str) -> dict:
    """The Dataset of the run, and what is read of it."""
    import workbench as wb

    (run,), before = wb.open_runs(store / "runs"), time.process_time()
    dataset = run.dataset()
    parts = {
        "phi": lambda: dataset["phi"],
        "rows": lambda: dataset["theta"][:20],
        "theta": lambda: dataset["theta"],
    }
    if what in parts:
        assert parts[what]().values.size
    return {"contender": what, "cpu": time.process_time() - before, "memory": peak()}


def serve(store: Path, page: str) -> dict:
    """A server of the run with one visitor, and what both tell."""
    import server

    found = {}

    def visit(url: str) -> None:
        began = time.process_time()
        command = [sys.executable, __file__, "--visit", url, "--what", page]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as visitor:
            for line in visitor.stdout:
                found.update({"cpu": time.process_time() - began} | found | json.loads(line))

    server.serve(store / "runs", page, visit)
    return {"contender": page, "memory": peak(), **found}


def visit(url: str, page: str) -> None:
    """Prints what was drawn, and after how many seconds; then leaves the page open for a while."""
    from documents import LOOK
    from playwright.sync_api import sync_playwright
    from visitors import chromium

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1440, "height": 900})
        tab.add_init_script(f"({LOOK})()")
        began = time.perf_counter()
        tab.goto(url)
        for what, drawn in PAINTED[page].items():
            tab.wait_for_function(drawn, polling="raf", timeout=1000 * PATIENCE)
            print(json.dumps({what: time.perf_counter() - began}), flush=True)
        tab.wait_for_timeout(1e3 * SETTLING)
        browser.close()


def told(rows: pd.DataFrame) -> str:
    from records import markdown

    parts = [__doc__.split("\n\n", 1)[1].strip()]
    for cell, own in rows.groupby("cell", sort=False):
        lines = []
        for name, one in own.groupby("contender", sort=False):
            seconds = {what: one[what].median() for what in PAINTED.get(name, ()) if what in one}
            drawn = ", ".join(
                f"{what} {n:.1f} s" if n == n else f"{what} not in {PATIENCE} s"
                for what, n in seconds.items()
            )
            cpu = one["cpu"].median()
            lines.append(
                [name, f"{cpu:.3g}" if cpu == cpu else "", f"{one['memory'].median():,.0f}", drawn]
            )
        parts.append(markdown([cell, "CPU s", "peak, MiB", "drawn after"], lines))
    return "\n\n".join(parts)


def main() -> None:
    """One of the processes, or without a store a whole measurement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for kind in ("make", "fit", "read", "serve"):
        parser.add_argument(f"--{kind}", type=Path, metavar="FOLDER")
    parser.add_argument("--visit", metavar="URL")
    parser.add_argument("--what")
    parser.add_argument("--engine", choices=ENGINES, default=ENGINES[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=N_ROUNDS)
    given = parser.parse_args()
    if given.visit:
        visit(given.visit, given.what)
    elif given.make:
        print(json.dumps(make(given.make, given.documents, given.engine)))
    elif given.fit:
        print(json.dumps(fit(given.fit, given.engine)))
    elif given.read:
        print(json.dumps(read(given.read, given.what)))
    elif given.serve:
        print(json.dumps(serve(given.serve, given.what)))
    else:
        import pandas as pd

        rows = pd.DataFrame(measure(given.engine, given.documents, given.rounds)).assign(
            cell=f"{given.documents:,} documents"
        )
        print(told(rows).split("\n\n", 1)[1], f"load average {os.getloadavg()[0]:.1f}", sep="\n\n")


if __name__ == "__main__":
    main()
