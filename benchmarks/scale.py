"""What do 10^5 to 10^8 tokens take: in memory, out of core, and on one worker and two?

Zipf's words, W = 30,000, some 128 tokens a document, K = 100. Each run is a process of its own, on one thread, with a store:
CPU nanoseconds a token of an iteration (the median of those after the first), CPU seconds beside the iterations (reading, the
start, scores, writing), the peak of the process, and what the run takes on the disk beside its corpus. "Out of core" is told
that 700 MB are free, and has the rows of one part in memory at a time where the run does not fit into these (`svb` from 10^7
tokens on, `cgs` from 10^8 on). The peers make one pass over the documents in batches of 256 (pyspark of a twentieth of them),
without a store, up to 10^7 tokens. Workers: `svb` at 3·10^7 tokens on one worker process and on two, by turns, with client and
scheduler in one more process; seconds are those on the wall.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the children are this file too, and pay for what they import
    import pandas as pd

NAME = "scale"
TITLE = "From 10^5 to 10^8 tokens"
SIZES = 10**5, 10**6, 10**7, 10**8
N_WORDS, N_TOPICS, N_ITERATIONS, BATCH = 30_000, 100, 4, 256
TOKENS_OF_DOCUMENT, DOCUMENTS_OF_PART = 128, 250_000
AT_WORK, N_ROUNDS = 3 * 10**7, 3
"""Tokens that workers share, and how often each number of them takes its turn."""
OURS = {
    "cgs": {},
    "svb": {},
    "online-vb": {"options": {"batch_size": BATCH}, "n_iterations": 2},
    "cgs, out of core": {"options": {"partition": 16}},
    "svb, out of core": {},
}
PEERS = {
    "scikit-learn, partial_fit": "PartialFit",
    "gensim, LdaMulticore": "Multicore",
    "pyspark, online": "Spark",
}
LARGEST_OF_PEERS = 10**7


def cells(plan):
    """(name, rough seconds, what measures it)."""
    for n_tokens in SIZES[:2] if plan.quick else SIZES:
        for contender in (*OURS, *(PEERS if n_tokens <= LARGEST_OF_PEERS else ())):
            yield (
                f"{n_tokens:.0e}, {contender}",
                2 + n_tokens / 4e5,
                partial(measure, n_tokens, contender),
            )
    n_tokens, n_rounds = (10**6, 1) if plan.quick else (AT_WORK, N_ROUNDS)
    yield "workers", n_tokens / 1e5 * n_rounds, partial(by_turns, n_tokens, n_rounds)


def measure(n_tokens: int, contender: str) -> list[dict]:
    """A row for one contender and size."""
    kind = "peer" if contender in PEERS else "fit"
    return [
        {"n_tokens": n_tokens, "contender": contender}
        | asked(f"--{kind}", contender, "--corpus", corpus_of(n_tokens))
    ]


def by_turns(n_tokens: int, n_rounds: int) -> list[dict]:
    """A row for each number of workers and round."""
    return [
        {"n_tokens": n_tokens, "contender": f"{n} workers", "round": at}
        | asked("--workers", n, "--corpus", corpus_of(n_tokens))
        for at in range(n_rounds)
        for n in (1, 2)
    ]


def asked(*words) -> dict:
    """What a process of this program tells."""
    command = [sys.executable, __file__, *map(str, words)]
    return json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[
            -1
        ]
    )


@cache
def folder_of_corpora() -> tempfile.TemporaryDirectory:
    """Where the corpora are until this process ends."""
    return tempfile.TemporaryDirectory(prefix="scale-")


@cache
def corpus_of(n_tokens: int) -> Path:
    """The folder of a corpus in shards, drawn in parts; those of another size are deleted."""
    shutil.rmtree(folder_of_corpora().name, ignore_errors=True)
    corpus_of.cache_clear()
    path = Path(folder_of_corpora().name) / f"{n_tokens:.0e}"
    asked("--make", n_tokens, "--corpus", path)
    return path


def make(n_tokens: int, path: Path) -> dict:
    """Draws the corpus, and compiles the kernels."""
    import workbench as wb
    from workbench.corpus import ShardedCorpus, synthetic

    n_documents, path = -(-n_tokens // TOKENS_OF_DOCUMENT), path.resolve()
    path.parent.mkdir(exist_ok=True)
    sizes = [
        min(DOCUMENTS_OF_PART, n_documents - first)
        for first in range(0, n_documents, DOCUMENTS_OF_PART)
    ]
    parts = (
        synthetic.zipf(n, N_WORDS, 100, N_TOPICS, seed=seed)[0] for seed, n in enumerate(sizes)
    )
    ShardedCorpus.write(parts, path)
    for name in OURS:
        wb.fit(
            wb.load_corpus("bars"),
            name.split(",")[0],
            n_topics=N_TOPICS,
            n_iterations=1,
            progress=False,
        )
    return {}


def fit(contender: str, path: Path) -> dict:
    """One of our engines on the corpus in memory, or in shards where it is out of core."""
    if "," in contender:
        # `svb` takes more in memory from 10^7 tokens on, `cgs` from 10^8 on
        os.environ.setdefault("WORKBENCH_MEMORY", "700M")
    import numpy as np

    import workbench as wb
    from workbench.corpus import ShardedCorpus

    corpus = ShardedCorpus.open(path) if "," in contender else ShardedCorpus.open(path).in_memory()
    about = {
        "n_iterations": N_ITERATIONS,
        "record_every": 1,
        "snapshot_every": N_ITERATIONS,
        "progress": False,
    }
    with tempfile.TemporaryDirectory(dir=path.parent) as store:
        before = time.process_time()
        found = wb.fit(
            corpus,
            contender.split(",")[0],
            N_TOPICS,
            store=store,
            name="run",
            **about | OURS[contender],
        )
        total = time.process_time() - before
        size = sum(
            file.stat().st_size for file in (Path(store) / "run").rglob("*") if file.is_file()
        )
    cpu = np.diff(found["cpu_time"].values)
    return {
        "tokens": corpus.n_tokens,
        "cpu": float(np.median(cpu)),
        "start": total - float(found["cpu_time"][-1]),
        "peak": peak(),
        "stored": size / 2**20,
    }


def peer(contender: str, path: Path) -> dict:
    """One pass of a peer."""
    import online
    from ours import LeftOut

    from workbench.corpus import ShardedCorpus
    from workbench.engines.engine import StepContext
    from workbench.engines.lda import online_vb

    corpus = ShardedCorpus.open(path).in_memory()
    order = online_vb.batches_of(corpus, online_vb.Options(batch_size=BATCH), StepContext(0, 1))
    try:
        before = online.cpu_seconds()
        made = getattr(online, PEERS[contender])(corpus, N_TOPICS, 0, order)
    except LeftOut as why:
        return {"left_out": str(why)}
    begun = online.cpu_seconds()
    made.go()
    return {
        "tokens": corpus.n_tokens,
        "cpu": online.cpu_seconds() - begun,
        "start": begun - before,
        "peak": peak(),
    }


def workers(n: int, path: Path) -> dict:
    """Seconds an iteration of `svb` on so many worker processes."""
    import numpy as np
    from distributed import Client, LocalCluster

    import workbench as wb
    from workbench.corpus import ShardedCorpus

    about = {"n_iterations": 8, "record_every": 1, "snapshot_every": 8, "progress": False}
    with (
        LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        found = wb.fit(ShardedCorpus.open(path), "svb", N_TOPICS, client=client, **about)
    wall, cpu = (np.median(np.diff(found[name].values)) for name in ("elapsed", "cpu_time"))
    return {"wall": float(wall), "cpu": float(cpu)}


def peak() -> float:
    """MiB that this process has held at most, and those that it started and that are at work."""
    import psutil

    every = [psutil.Process(), *psutil.Process().children(recursive=True)]
    told = [
        Path(f"/proc/{each.pid}/status").read_text()
        for each in every
        if each.status() != psutil.STATUS_ZOMBIE
    ]
    return sum(int(status.split("VmHWM:")[1].split()[0]) for status in told) / 1024


def told(rows: pd.DataFrame) -> str:
    """A table of each number by size, and one of the workers."""
    from records import markdown

    parts, alone = (
        [__doc__.split("\n\n", 1)[1].strip()],
        rows[~rows["contender"].str.endswith("workers")],
    )
    of_sizes = {
        "CPU ns a token": ("cpu", lambda row: f"{1e9 * row['cpu'] / row['tokens']:.0f}"),
        "beside the iterations, CPU s": ("start", lambda row: f"{row['start']:.1f}"),
        "peak, MiB": ("peak", lambda row: f"{row['peak']:,.0f}"),
        "on the disk, MiB": ("stored", lambda row: f"{row['stored']:,.0f}"),
    }
    for title, (column, text) in of_sizes.items():
        there = alone.dropna(subset=[column])
        sizes = sorted(there["n_tokens"].unique())
        lines = []
        for contender, own in there.groupby("contender", sort=False):
            texts = {row["n_tokens"]: text(row) for _, row in own.iterrows()}
            lines.append([contender, *(texts.get(size, "") for size in sizes)])
        parts.append(
            markdown([title, *(f"{size:.0e}".replace("1e+0", "10^") for size in sizes)], lines)
        )
    shared = rows[rows["contender"].str.endswith("workers")]
    if len(shared):
        medians = shared.groupby("contender")[["wall", "cpu"]].median()
        times = shared.pivot_table(index="round", columns="contender", values="wall")
        ratio = (times["1 workers"] / times["2 workers"]).median()
        lines = [
            [name, f"{row['wall']:.2f}", f"{row['cpu']:.2f}"] for name, row in medians.iterrows()
        ]
        parts.append(markdown(["svb on", "seconds an iteration", "CPU s, of all processes"], lines))
        parts.append(
            f"One worker takes {ratio:.2f} times as long as two (the median of the rounds)."
        )
    return "\n\n".join(parts)


def main() -> None:
    """One of the processes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--make", type=int, metavar="TOKENS")
    parser.add_argument("--fit", metavar="CONTENDER")
    parser.add_argument("--peer", metavar="CONTENDER")
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    for name, act in {"make": make, "fit": fit, "peer": peer, "workers": workers}.items():
        if (what := getattr(given, name)) is not None:
            print(json.dumps(act(what, given.corpus)))


if __name__ == "__main__":
    main()
