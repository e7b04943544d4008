"""How much memory does a run take? ``python benchmarks/memory.py [--corpus zipf10m] [--runs cgs:100,svb:100,…] [--json]``

Each run is one engine with its number of topics (and options: ``cvb0:16:precision=single``) on nine tenths of the corpus, the
last held out; a snapshot in every other iteration. It is read from a store, run and read again in a process of its own, and the
table has what was predicted beside the peak of that process. Linux only: the peak is read from /proc.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from corpora import MILLIONS, corpus_called

from workbench.corpus import hold_out_tokens
from workbench.data.available_memory import MIB
from workbench.runs.execution.memory_check import Planned, predict_memory
from workbench.runs.spec import make_spec
from workbench.runs.store.writer import create_run

RUNS = "cgs:100,svb:100,svb-cgs:100,vb:100,cvb0:16,cvb:16,cgs:10,g-hdp:100"
ITERATIONS = 4
PEAK = "VmHWM:"
"""The peak of a process; `getrusage` would tell that of the process which started it, where that is higher."""
CHILD = f"""
import sys
from pathlib import Path
from workbench.runs.execution.fit import resume
resume(Path(sys.argv[1]), progress=False)
print(*(line for line in open("/proc/self/status") if line.startswith("{PEAK}")))
"""


def planned(text: str, train, test) -> Planned:
    """The run behind ENGINE:K[:OPTION=VALUE…]."""
    engine, n_topics, *options = text.split(":")
    settings = {
        "n_topics": int(n_topics),
        "n_iterations": ITERATIONS,
        "snapshot_every": 2,
        "test": test,
    }
    return Planned(
        make_spec(train, engine, options=dict(one.split("=") for one in options), **settings),
        train,
        test,
    )


def measured(run: Planned, store: Path) -> dict:
    """MiB predicted, part by part, and taken."""
    found = predict_memory(run)
    path = create_run(store, *run)
    told = subprocess.run(
        [sys.executable, "-c", CHILD, path], capture_output=True, text=True, check=True
    ).stdout
    taken = int(told.split(PEAK)[1].split()[0]) * 2**10
    row = {"engine": run.spec.label(), "topics": run.spec.model["n_topics"]}
    row |= {part: round(size / MIB) for part, size in found._asdict().items()}
    return row | {
        "predicted": round(found.total / MIB),
        "taken": round(taken / MIB),
        "ratio": round(found.total / taken, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default=MILLIONS)
    parser.add_argument("--runs", default=RUNS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    train, test = hold_out_tokens(corpus_called(asked.corpus))
    print(f"{train!r}; MiB", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="workbench-memory-") as store:
        for at, text in enumerate(asked.runs.split(",")):
            row = measured(planned(text, train, test), Path(store))
            if not at and not asked.json:
                print("|", " | ".join(row), "|\n|", " | ".join("---" for _ in row), "|")
            print(
                json.dumps(row) if asked.json else f"| {' | '.join(map(str, row.values()))} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
