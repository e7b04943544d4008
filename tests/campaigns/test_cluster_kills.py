"""Sweeps on a cluster of which something is killed: ``python tests/campaigns/test_cluster_kills.py --kills 20``.

At a random moment a worker, a nanny, the scheduler, the client or the process of a run is killed by -9. The command that sweeps
then ends well, or with the one sentence that says what to do; this is done, and in the end each run has the bits of one that
was never interrupted.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import psutil
import pytest
from clusters import Cluster, kill, until
from same_bits import same_bits

import workbench as wb

CORPUS = "bars:side=3:n_documents=20:tokens_per_document=20"
SETTINGS = dict(n_topics=2, record_every=50, snapshot_every=10**6, n_iterations=4000)
SEEDS, N_WORKERS = (0, 1, 2), 2
WITHIN = 4.0
"""Seconds after its first run has begun within which something of a sweep is killed."""
GONE = "workbench: the scheduler is gone; what its runs had committed is kept: start it again with its workers, and the same"
KINDS = ("worker", "nanny", "scheduler", "client", "process")


class Campaign:
    """A cluster, and one sweep after another on it."""

    def __init__(self, folder: Path, draw: random.Random):
        self.folder, self.draw, self.kills, self.n_sweeps, self.n_sentences = (
            folder,
            draw,
            Counter(),
            0,
            0,
        )
        train, test = wb.hold_out_tokens(wb.load_corpus(CORPUS), fraction=0.1, seed=0)
        self.whole = [
            wb.fit(train, "cgs", seed=seed, test=test, progress=False, **SETTINGS) for seed in SEEDS
        ]
        self.cluster = Cluster(folder)
        self.mend()

    def mend(self) -> None:
        """Starts what is missing of the cluster."""
        if self.cluster.scheduler.poll() is not None:
            self.cluster.begin()
        self.cluster.workers = [worker for worker in self.cluster.workers if worker.poll() is None]
        while len(self.cluster.workers) < N_WORKERS:
            self.cluster.add_worker()

    def command(self, store: Path) -> subprocess.Popen:
        flags = {
            "-g": f"seed={','.join(map(str, SEEDS))}",
            "-k": SETTINGS["n_topics"],
            "-n": SETTINGS["n_iterations"],
            "--record-every": SETTINGS["record_every"],
            "--snapshot-every": SETTINGS["snapshot_every"],
            "--scheduler": self.cluster.address,
            "--store": store,
        }
        words = [str(word) for pair in flags.items() for word in pair]
        return subprocess.Popen(
            [sys.executable, "-m", "workbench", "sweep", CORPUS, "-e", "cgs", "-q", *words],
            stderr=subprocess.PIPE,
            text=True,
        )

    def sweep(self, kind: str) -> None:
        """One sweep, in which one process of a kind is killed."""
        self.n_sweeps += 1
        store = self.folder / f"runs-{self.n_sweeps}"
        command = self.command(store)
        until(
            lambda: (
                command.poll() is not None
                or any(run.state == "running" for run in wb.open_runs(store))
            )
        )
        time.sleep(self.draw.uniform(0.0, WITHIN))
        self.kills[kind] += self.kill(kind, command, store)
        told = command.communicate(timeout=300)[1]
        if command.returncode == 2 and kind == "scheduler":
            assert told.splitlines()[-1].startswith(GONE), told
            self.n_sentences += 1
        elif kind != "client":
            assert command.returncode == 0, (kind, told, self.cluster.log()[-5000:])
        self.mend()
        if command.returncode:
            again = self.command(store)
            told = again.communicate(timeout=300)[1]
            assert again.returncode == 0, (kind, told, self.cluster.log()[-5000:])
        runs = sorted(wb.open_runs(store), key=lambda run: run.spec.seed)
        for run, whole in zip(runs, self.whole, strict=True):
            same_bits(run.dataset(), whole)

    def kill(self, kind: str, command: subprocess.Popen, store: Path) -> int:
        """Kills it; 0 where the sweep had ended before."""
        if command.poll() is not None:
            return 0
        if kind == "client":
            kill(command.pid)
        elif kind == "scheduler":
            self.cluster.lose_scheduler()
        elif kind == "nanny":
            kill(self.draw.choice(self.cluster.workers).pid)
        elif kind == "worker":
            (worker,) = [
                child
                for child in psutil.Process(self.draw.choice(self.cluster.workers).pid).children()
                if "spawn_main" in " ".join(child.cmdline())
            ]
            worker.kill()
        else:
            at_work = [run for run in wb.open_runs(store) if run.state == "running"]
            if not at_work:
                return 0
            try:
                psutil.Process(self.draw.choice(at_work).status()["pid"]).kill()
            except (psutil.NoSuchProcess, KeyError):
                return 0
        return 1


def main(kinds: list[str], n_kills: int, seed: int, folder: Path) -> Iterator[tuple[str, Campaign]]:
    """So many kills of each kind; the kind, and the campaign as it then stands, whenever one is done."""
    campaign = Campaign(folder, random.Random(seed))
    try:
        for kind in kinds:
            while campaign.kills[kind] < n_kills:
                campaign.sweep(kind)
            yield kind, campaign
    finally:
        campaign.cluster.close()


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_no_kill_of_any_process_of_a_cluster_changes_a_bit(tmp_path):
    *_, (_, done) = main(KINDS, 20, 0, tmp_path)
    assert all(done.kills[kind] >= 20 for kind in KINDS) and done.n_sentences > 0


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--kills", type=int, default=20, help="of each kind")
    asked.add_argument("--kinds", default=",".join(KINDS))
    asked.add_argument("--seed", type=int, default=0)
    asked = asked.parse_args()
    print(
        "| killed | times | told to start the scheduler again | lost or changed |\n|---|---|---|---|",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        for kind, done in main(asked.kinds.split(","), asked.kills, asked.seed, Path(folder)):
            print(
                f"| {kind} | {done.kills[kind]} | {done.n_sentences if kind == 'scheduler' else ''} | 0 |",
                flush=True,
            )
