"""Every operation that reads a run fails once, or from then on: ``python tests/campaigns/test_reading_faults.py`` tries all.

Whatever cannot be read, and however often: a command tells of it in one sentence, the other runs of the store are listed all
the same, and nothing is lost; once it can be read again, the run goes on to the same bits.
"""

import argparse
import contextlib
import errno
import io
import json
import os
import random
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import pandas as pd
import pytest
from campaigns.file_operations import reading_operations
from same_bits import same_bits

import workbench as wb
from workbench.cli import INTERRUPTED
from workbench.cli import main as workbench
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.errors import InputError
from workbench.runs.store.archive import get_corpus, get_table
from workbench.runs.store.notes import annotate

FAULTS = (errno.EIO, errno.EACCES)
SOUND, FAULTY = "sound", "faulty"
"""Runs of the store: one that can be read, one that cannot."""
N_ITERATIONS, MORE = 8, 4


class ReadingFault:
    """Lets the operation of a number, and all later ones where it ``lasts``, fail; counts them, but for those of `SOUND`."""

    def __init__(self, store: Path, at: int, number: int, lasts: bool):
        self.sound, self.at, self.number, self.lasts, self.n, self.hit = (
            store / SOUND,
            at,
            number,
            lasts,
            0,
            None,
        )

    def __call__(self, operation, do):
        if Path(operation.path).is_relative_to(self.sound):
            return do()
        self.n += 1
        if self.n != self.at and not (self.lasts and self.n > self.at):
            return do()
        self.hit = self.hit or operation
        raise OSError(self.number, os.strerror(self.number), operation.path)


def make_store(store: Path) -> None:
    """Two runs on texts, the second begun from the first, with notes."""
    words = "ants bees cats dogs eels foxes geese".split()
    texts = [" ".join(words[(d * n) % 7] for n in range(9)) for d in range(12)]
    corpus = wb.corpus_of(pd.DataFrame({"text": texts, "kind": ["one", "other"] * 6}))
    train, test = wb.hold_out_tokens(corpus, fraction=0.2, seed=0)
    about = dict(
        n_iterations=N_ITERATIONS, snapshot_every=4, test=test, store=store, progress=False
    )
    wb.fit(train, "cgs", n_topics=2, name=SOUND, **about)
    wb.fit(train, "cvb0", n_topics=2, name=FAULTY, start=SOUND, **about)
    annotate(store / FAULTY, note="seen", tags=["paper"])


def command(*arguments: str) -> tuple[int, str, str]:
    """Exit status of a command, and what it wrote to stdout and to stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = workbench([*map(str, arguments)])
    return status, out.getvalue(), err.getvalue()


def check_sentence(status: int, out: str, err: str) -> bool:
    """Did a command end with a sentence? It is to do that, maybe after a part of what it shows, or what it was asked for."""
    assert status in (0, 2), f"status {status}: {err}"
    said = [line for line in err.splitlines() if line.startswith("workbench: ")]
    assert len(said) == (status == 2) and (status == 0 or err.splitlines()[-1] == said[0]), err
    return status == 2


def runs(store: Path, fault: ReadingFault) -> bool:
    """The command lists the other run; says what it cannot list."""
    with reading_operations(fault, store):
        status, out, err = command("runs", "--store", store, "--json")
    # of which no run can be listed
    whole = fault.hit is not None and Path(fault.hit.path) == store
    if check_sentence(status, out, err):
        assert whole, err
        return True
    names = [run["name"] for run in json.loads(out)["runs"]]
    assert SOUND in names or whole, err
    assert (
        FAULTY in names or fault.hit is None or fault.hit.kind in ("stat", "list") or FAULTY in err
    ), "nothing is said"
    return FAULTY not in names


def listed(store: Path, fault: ReadingFault) -> bool:
    """From Python."""
    with reading_operations(fault, store), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = [run.name for run in wb.open_runs(store)]
        except InputError:
            assert fault.hit and Path(fault.hit.path) == store
            return True
    assert SOUND in found or Path(fault.hit.path) == store
    return bool(said)


def on_a_page(store: Path, fault: ReadingFault) -> bool:
    """The listing of the pages; where the folder of the store cannot be read it is tried again later."""
    monitor = RunMonitor(store)
    with reading_operations(fault, store):
        try:
            found = {reading.name: reading for reading in monitor.look().readings}
        except InputError:
            assert fault.hit and Path(fault.hit.path) == store
            return False
    assert found[SOUND].spec is not None
    return FAULTY in found and found[FAULTY].spec is None


def show(store: Path, fault: ReadingFault) -> bool:
    with reading_operations(fault, store):
        return check_sentence(*command("show", FAULTY, "--store", store))


def documents(store: Path, fault: ReadingFault) -> bool:
    """All that there is of a run: counts, notes, texts."""
    with reading_operations(fault, store), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run = wb.Run(store / FAULTY)
            run.dataset().load(), run.table
        except InputError as error:
            assert len(str(error).splitlines()) == 1
            return True
    return False


def resume(store: Path, fault: ReadingFault) -> bool:
    with reading_operations(fault, store):
        status, out, err = command(
            "resume", FAULTY, "-n", N_ITERATIONS + MORE, "-q", "--store", store
        )
    # where its state cannot be read at the end
    return check_sentence(0 if status == INTERRUPTED else status, out, err)


ACTIONS = (runs, listed, on_a_page, show, documents, resume)


class Stores:
    """Copies of one store, of which all is as it was, and goes on to the same bits."""

    def __init__(self, folder: Path):
        self.folder, self.n = folder, 0
        make_store(folder / "whole")
        self.before = wb.open_run(FAULTY, folder / "whole").load()
        later = self.copy()
        resume(later, ReadingFault(later, 0, 0, False))
        self.after = wb.open_run(FAULTY, later).load()

    def copy(self) -> Path:
        self.n += 1
        return Path(shutil.copytree(self.folder / "whole", self.folder / str(self.n)))

    def try_one(self, action, at: int, number: int, lasts: bool) -> tuple[ReadingFault, bool]:
        """The fault, and whether the action ended with a sentence."""
        store = self.copy()
        fault = ReadingFault(store, at, number, lasts)
        get_corpus.cache_clear(), get_table.cache_clear()
        try:
            said = action(store, fault)
            if action is not resume:
                same_bits(wb.open_run(FAULTY, store), self.before)
            resume(store, ReadingFault(store, 0, 0, False))
            same_bits(wb.open_run(FAULTY, store), self.after)
            assert (
                wb.Run(store / FAULTY).notes.note == "seen"
                and wb.Run(store / FAULTY).table is not None
            )
        finally:
            shutil.rmtree(store)
        return fault, said


def campaign(n_faults: int | None, seed: int, folder: Path) -> list[tuple]:
    """(action, operations, faults tried, ended with a sentence, what went wrong) each; ``n_faults``: of each, None: all."""
    found, draw, stores = [], random.Random(seed), Stores(folder)
    for action in ACTIONS:
        store = stores.copy()
        counting = ReadingFault(store, 0, 0, False)
        get_corpus.cache_clear(), get_table.cache_clear()
        action(store, counting)
        each = [
            (at, number, lasts)
            for at in range(1, counting.n + 1)
            for number in FAULTS
            for lasts in (False, True)
        ]
        each = each if n_faults is None else draw.sample(each, min(n_faults, len(each)))
        ends, wrong = Counter(), []
        for at, number, lasts in each:
            try:
                fault, said = stores.try_one(action, at, number, lasts)
                ends[said] += 1
            except Exception as error:
                how = f"{errno.errorcode[number]} {'from then on' if lasts else 'once'}"
                wrong.append(
                    f"{action.__name__}, operation {at}, {how}: {type(error).__name__}: {error}"
                )
        found.append((action.__name__, counting.n, len(each), ends[True], wrong))
    return found


@pytest.mark.long
def test_what_cannot_be_read_is_told_and_hides_and_loses_nothing(tmp_path):
    for _, n_operations, n_tried, n_sentences, wrong in campaign(8, 0, tmp_path):
        assert not wrong, "\n".join(wrong)
        assert n_operations > 20 and n_tried == 8 and n_sentences > 3


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "--faults", type=int, help="of each command, at random; all where it is not given"
    )
    asked.add_argument("--seed", type=int, default=0)
    asked = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = campaign(asked.faults, asked.seed, Path(folder))
    print(
        "| read by | operations on files | faults | told in a sentence | hidden, lost or changed |\n|---|---|---|---|---|"
    )
    for *row, wrong in found:
        print(f"| {' | '.join(map(str, row))} | {len(wrong)} |")
        print("\n".join(wrong), end="\n" * bool(wrong), file=sys.stderr)
    sys.exit(any(wrong for *_, wrong in found))
