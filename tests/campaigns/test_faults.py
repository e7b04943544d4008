"""Every operation on files of a run fails once, or from then on: ``python tests/campaigns/test_faults.py`` tries them all.

Whatever fails, and how: the run ends with a sentence or not at all, what is read of it is the beginning of the run that
nothing happened to, and once the disk is mended it goes on to the same bits.
"""

import argparse
import errno
import os
import random
import sys
import tempfile
import time
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
from workbench.runs.execution import control
from workbench.runs.execution.worker import carry_on
from workbench.runs.spec import make_spec
from workbench.runs.store import writer
from workbench.runs.store.layout import StoreError
from workbench.runs.store.writer import create_run

FAULTS = {
    "no space": errno.ENOSPC,
    "quota": errno.EDQUOT,
    "input/output": errno.EIO,
    "read-only": errno.EROFS,
    "short": None,
    "slow": None,
}
CADENCE = dict(record_every=1, snapshot_every=4)


class Fault:
    """Lets the operation of a number, and all later ones where it ``lasts``, go wrong; counts them."""

    def __init__(self, at: int, what: str, lasts: bool):
        self.at, self.what, self.lasts, self.n, self.hit = at, what, lasts, 0, None

    def __call__(self, operation, do):
        if operation.phase == "heartbeat":
            return do()
        self.n += 1
        if self.n != self.at and not (self.lasts and self.n > self.at):
            return do()
        self.hit = self.hit or operation
        if self.what == "slow":
            time.sleep(0.002)
            return do()
        if self.what == "short":
            return do(1) if operation.kind == "write" else do()
        if operation.kind == "write":
            do(7)  # some of it got there
        raise OSError(FAULTS[self.what], os.strerror(FAULTS[self.what]), operation.path)


class Faults:
    """The runs of one engine that faults come over."""

    def __init__(self, engine: str, folder: Path):
        self.train, settings = short_settings(engine)
        self.spec = make_spec(self.train, engine, **settings, **CADENCE)
        self.test, self.folder, self.n = settings["test"], folder, 0
        self.whole = wb.fit(self.train, engine, progress=False, **settings, **CADENCE)

    def store(self) -> Path:
        self.n += 1
        return self.folder / f"{self.spec.engine}-{self.n}"

    def make(self, store: Path) -> Path:
        return create_run(store, self.spec, self.train, self.test)

    def count(self) -> tuple[int, int]:
        """Operations of making a run, and of computing it."""
        making, computing = Fault(0, "slow", False), Fault(0, "slow", False)
        with operations(making):
            path = self.make(self.store())
        with operations(computing):
            carry_on(path)
        return making.n, computing.n

    def while_made(self, fault: Fault) -> None:
        """A run is made in spite of the fault, or not at all and with a sentence."""
        store = self.store()
        try:
            with operations(fault):
                self.make(store)
        except StoreError as error:
            assert f"cannot write to the store {store}" in str(error)
            assert fault.what not in ("short", "slow")
        self.finish(self.make(store))

    def while_computed(self, fault: Fault) -> str:
        """A run that the fault comes over is kept as far as it says; how it ended, in a word."""
        path, ended = self.make(self.store()), "finished"
        try:
            with operations(fault):
                carry_on(path)
        except StoreError as error:
            said, ended = str(error), "a sentence"
            assert (
                f"run '{path.name}' cannot be written: " in said
                and f"workbench resume {path}" in said
            ), said
            assert fault.what not in ("short", "slow")
            # as it was made, where not even its first heartbeat could be written
            status = wb.Run(path).status()
            assert status["state"] in ("failed", "interrupted") or (
                status["state"] == "stopped" and not status["iteration"]
            )
            rows = wb.Run(path).rows()
            if "up to iteration" in said:
                assert f"kept up to iteration {int(rows[-1, 0]) if len(rows) else 0};" in said
        rows = wb.Run(path).progress()
        n_rows = rows.sizes["iteration"]
        np.testing.assert_array_equal(
            rows["train_perplexity"], self.whole["train_perplexity"][:n_rows]
        )
        self.finish(path)
        return ended

    def finish(self, path: Path) -> None:
        carry_on(path)
        same_bits(wb.open_run(path), self.whole)


def main(engines: list[str], n_faults: int | None, seed: int, folder: Path) -> list[tuple]:
    """(engine, operations, faults tried, runs that ended with a sentence, what went wrong) each.

    n_faults : of each engine, drawn; all where it is None.
    """
    found, draw = [], random.Random(seed)
    # at every iteration
    always = dict(FLUSH_EVERY=0.0, FLUSH_WITHIN=0.0, CHECKPOINT_EVERY=0.0, CHECKPOINT_SHARE=np.inf)
    with (
        mock.patch.multiple(writer, **always),
        mock.patch.object(writer, "GROWING_CAPACITY", 3),
        mock.patch.object(control, "LOOK_EVERY", 60),
        mock.patch.object(blocks, "NUMBERS", 16),
    ):
        for engine in engines:
            runs = Faults(engine, folder)
            making, computing = runs.count()
            each = [
                (which, Fault(at, what, lasts))
                for which, n in ((runs.while_made, making), (runs.while_computed, computing))
                for at in range(1, n + 1)
                for what in FAULTS
                for lasts in (False, True)
            ]
            each = each if n_faults is None else draw.sample(each, n_faults)
            ends, wrong = Counter(), []
            for which, fault in each:
                try:
                    ends[which(fault)] += 1
                    assert fault.hit, "the fault came over nothing"
                except Exception as error:
                    lasts = "from then on" if fault.lasts else "once"
                    wrong.append(
                        f"{engine}, {fault.what} {lasts}, {fault.hit}: {type(error).__name__}: {error}"
                    )
            found.append((engine, making + computing, len(each), ends["a sentence"], wrong))
    return found


@pytest.mark.slow
def test_no_failing_operation_loses_or_changes_anything(tmp_path):
    for _, n_operations, n_tried, n_sentences, wrong in main(["g-hdp"], 8, 0, tmp_path):
        assert not wrong, "\n".join(wrong)
        assert n_operations > 100 and n_tried == 8 and n_sentences > 1


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--engines", default="svb-cgs,g-hdp,hmm,network-gibbs,bn-gibbs")
    asked.add_argument(
        "--faults", type=int, help="of each engine, at random; all where it is not given"
    )
    asked.add_argument("--seed", type=int, default=0)
    asked = asked.parse_args()
    print(
        "| engine | operations on files | faults | ended with a sentence | lost or changed |\n|---|---|---|---|---|"
    )
    all_wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for engine in asked.engines.split(","):
            ((*row, wrong),) = main([engine], asked.faults, asked.seed, Path(folder))
            print(f"| {' | '.join(map(str, row))} | {len(wrong)} |", flush=True)
            print("\n".join(wrong), file=sys.stderr, flush=True)
            all_wrong += wrong
    sys.exit(bool(all_wrong))
