"""Runs of every engine killed in the middle of their operations on files: ``python tests/campaigns/test_kills.py --kills 50``.

A life is a fork of a process that has the kernels of the engine; Zarr, which has threads, is used in forks alone. It kills
itself in an operation drawn at random (before, in the middle, after), or is killed at a random moment. At once, or an
hour later or earlier by the clock, its run is interrupted, is read, and goes on, sometimes with two writers at a time; in
the end it has the bits of the run that was never killed.
"""

import argparse
import faulthandler
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import pytest
from campaigns.file_operations import operations
from same_bits import same_bits
from short_runs import short_settings

import workbench as wb
from workbench.data import blocks
from workbench.engines import ENGINES, get_engine
from workbench.runs.execution.worker import carry_on
from workbench.runs.spec import make_spec
from workbench.runs.store import writer
from workbench.runs.store.layout import StoreError
from workbench.runs.store.places import run_paths
from workbench.runs.store.writer import create_run

CADENCE = dict(record_every=1, snapshot_every=4)
LIVES = 6
"""Kills that a run goes through, before it is taken to its end."""
PLACES = {
    "a rename": lambda operation: operation.kind == "replace",
    "a flush": lambda operation: operation.phase == "flush",
    "a checkpoint": lambda operation: operation.phase == "checkpoint",
    "a snapshot": lambda operation: operation.phase == "snapshot",
    "the heartbeat": lambda operation: operation.phase == "heartbeat",
}
GROWTH = {"a growth of topics": lambda operation: operation.phase == "resize"}
"""Where a life is killed: in one of these operations on files."""
FARTHEST = 15
"""Operations of that kind before the last in which a life is killed: a few iterations."""
WITHIN = 0.15
"""Seconds after which a life that is killed from outside is, at most."""
HANGING = 60
"""Seconds after which a life that has not ended is said to hang."""
QUICK = ("svb-cgs", "g-hdp", "bn-gibbs")
"""Engines of the quick form: of LDA, one whose topics grow, one of records; `make torture` kills all."""
WRONG = 3
"""Exit status of a life in which something was found that must not be."""


def in_fork(work) -> int:
    """The process id of a fork that does some work; its exit status is WRONG where that raises."""
    if child := os.fork():
        return child
    faulthandler.dump_traceback_later(HANGING, exit=True)
    try:
        work()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(WRONG)
    os._exit(0)


def ended(child: int) -> bool:
    """Waits for a fork; was it killed? Raises where it found something wrong."""
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    assert status == 0, f"a life ended with status {status}"
    return False


class Campaign:
    """The lives of the runs of one engine."""

    def __init__(self, engine: str, folder: Path, draw: random.Random):
        self.engine, self.folder, self.draw, self.kills = engine, folder, draw, Counter()
        self.n_runs = self.n_seconds = 0
        self.train, self.settings = short_settings(engine)
        self.whole = wb.fit(self.train, engine, progress=False, **self.settings, **CADENCE)

    def run(self, n_kills: int) -> None:
        """So many kills; each run is then compared with the one that was never killed."""
        while self.kills.total() < n_kills:
            self.n_runs += 1
            store, n_threads = self.folder / f"{self.engine}-{self.n_runs}", 1 + self.n_runs % 2
            assert not ended(
                in_fork(lambda store=store, n_threads=n_threads: self.make(store, n_threads))
            )
            (path,) = run_paths(store)
            for _ in range(min(LIVES, n_kills - self.kills.total())):
                if not self.life(path):
                    break
            assert not ended(in_fork(lambda path=path: self.finish(path)))

    def make(self, store: Path, n_threads: int) -> None:
        spec = make_spec(self.train, self.engine, n_threads=n_threads, **self.settings, **CADENCE)
        create_run(store, spec, self.train, self.settings["test"])

    def life(self, path: Path) -> bool:
        """One life of a run, and its death; False where the run came to its end first."""
        at, share, hours = (
            self.draw.randint(1, FARTHEST),
            self.draw.random(),
            self.draw.choice((-1, 0, 0, 1)),
        )
        where = self.draw.choice(
            [*PLACES, *(GROWTH if get_engine(self.engine).grows else ()), "a random moment"]
        )
        if where in ("the heartbeat", *GROWTH):
            at = 1 + at % 3  # there are few of them
        if where == "a random moment":  # from outside
            child = in_fork(lambda: self.write(path))
            time.sleep(self.draw.uniform(0.0, WITHIN))
            os.kill(child, signal.SIGKILL)
        else:
            child = in_fork(lambda: self.killed_at(path, (PLACES | GROWTH)[where], at, share))
        second = in_fork(lambda: self.write(path)) if self.draw.random() < 0.1 else 0
        was_killed = ended(child)
        if second:
            ended(second)
            self.n_seconds += 1
        if was_killed:
            self.kills[where] += 1
            assert not ended(in_fork(lambda: self.look(path, 3600 * hours)))
        return was_killed

    def killed_at(self, path: Path, meant, at: int, share: float) -> None:
        """A life that kills itself in that number of the operations that are meant: a write after a share of its bytes."""
        seen = 0

        def act(operation, do):
            nonlocal seen
            seen += meant(operation)
            if not meant(operation) or seen != at:
                return do()
            if operation.kind == "write":
                do(1 + int(share * 1000))  # some of it, or all
            elif share > 0.5:
                do()
            os.kill(os.getpid(), signal.SIGKILL)

        with operations(act):
            self.write(path)

    def write(self, path: Path) -> None:
        """Takes the run on, or is refused because another process does so."""
        with mock.patch.object(writer, "LOCK_PATIENCE", 0.05):
            try:
                carry_on(path)
            except StoreError as error:
                assert "is being written by another process" in str(error), error

    def look(self, path: Path, seconds: float) -> None:
        """By a clock so far off, the run is interrupted (by a second writer finished), and what is read is its beginning."""
        now = time.time
        with mock.patch("time.time", lambda: now() + seconds):
            run = wb.Run(path)
            state = run.state
        rows = run.progress()
        assert state in ("interrupted", "finished") or (
            state == "stopped" and not rows.sizes["iteration"]
        ), state
        known = self.whole["train_perplexity"][: rows.sizes["iteration"]]
        np.testing.assert_array_equal(rows["train_perplexity"], known)
        counts = run.dataset()
        for name in run.recorded.snapshot_names:
            assert np.all(np.isfinite(counts[name].values)), name

    def finish(self, path: Path) -> None:
        carry_on(path)
        same_bits(wb.open_run(path), self.whole)


def main(engines: list[str], n_kills: int, seed: int, folder: Path):
    """The campaign of each engine, when it is done."""
    # at every iteration
    always = dict(FLUSH_EVERY=0.0, FLUSH_WITHIN=0.0, CHECKPOINT_EVERY=0.0, CHECKPOINT_SHARE=np.inf)
    with (
        mock.patch.multiple(writer, **always),
        mock.patch.object(writer, "GROWING_CAPACITY", 3),
        mock.patch.object(blocks, "NUMBERS", 16),
    ):  # a snapshot lies in several chunks
        for engine in engines:
            campaign = Campaign(engine, folder, random.Random(f"{engine} {seed}"))
            campaign.run(n_kills)
            yield campaign


@pytest.mark.long
def test_no_kill_loses_or_changes_anything():
    command = [sys.executable, __file__, "--kills", "1", "--engines", ",".join(QUICK)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()[2:]]
    assert [row[1].strip() for row in rows] == list(QUICK) and all(int(row[3]) >= 1 for row in rows)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--engines", default=",".join(ENGINES))
    asked.add_argument("--kills", type=int, default=50, help="of each engine")
    asked.add_argument("--seed", type=int, default=0)
    asked = asked.parse_args()
    print(
        "| engine | runs | kills | of these in | two writers | lost or changed |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for done in main(asked.engines.split(","), asked.kills, asked.seed, Path(folder)):
            where = ", ".join(f"{where} {n}" for where, n in done.kills.most_common())
            print(
                f"| {done.engine} | {done.n_runs} | {done.kills.total()} | {where} | {done.n_seconds} | 0 |",
                flush=True,
            )
