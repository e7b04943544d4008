"""Damaged files are never believed: single bits flipped, pieces cut off, zeroed or deleted, in every file of runs and data.

What is read of a damaged run is what was read before, or a sentence that says so; the same once it has gone on.
``make torture CAMPAIGNS=bits`` damages 2,500 times.
"""

import hashlib
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.corpus.document_table import SUFFIX
from workbench.errors import InputError
from workbench.runs.afterwards.examine import examine
from workbench.runs.execution.fit import finish
from workbench.runs.store.archive import CORPORA, WARM_STARTS, get_corpus, get_table, get_warm_start
from workbench.runs.store.notes import annotate
from workbench.runs.store.places import DATA

WAYS = ("flip", "flip", "flip", "cut", "zero", "delete")
CLOCKS = ("elapsed", "cpu_time")
UNREAD = ("lock", "worker.log", "notes.json.lock")
"""Files whose contents nobody reads."""
OPTIONAL = ("notes.json",)
"""Files that a run need not have: deleting one leaves a run without it."""
CAME, WENT_ON = ("same", "sentence"), "went on to the same answer"
MORE = 5
"""Iterations that a run goes on for after it was damaged."""
SHARES = {"run": 0.75, "data": 0.12, "texts": 0.07, "beginning": 0.06}
"""How often what is damaged lies in the folder of a run, is its data, its texts, or the counts that it began from."""


def make_store(store: Path) -> list[Path]:
    """Finished runs of several families, with several snapshots, notes, a start from another run, texts."""
    corpus, _ = wb.LDA(3, 0.3, 0.2).simulate(20, 15, 12, 3)
    train, test = wb.hold_out_tokens(corpus, fraction=0.1, seed=0)
    about = {
        "n_iterations": 12,
        "snapshot_every": 4,
        "store": store,
        "progress": False,
        "test": test,
    }
    wb.fit(train, "cgs", n_topics=3, name="cgs", **about)
    wb.fit(train, "svb", n_topics=3, name="svb", start="cgs", **about)
    wb.fit(
        train,
        "g-hdp",
        n_topics=140,
        name="hdp",
        options={"learn_gamma": False, "top_concentration": 60.0},
        **about,
    )
    wb.fit(
        wb.load_records("votes"),
        "bn-gibbs",
        n_iterations=9,
        snapshot_every=3,
        store=store,
        name="nodes",
        progress=False,
    )
    words = "ants bees cats dogs eels foxes geese".split()
    texts = wb.corpus_of(
        pd.DataFrame(
            {
                "text": [" ".join(words[(d * n) % 7] for n in range(9)) for d in range(20)],
                "kind": ["one", "other"] * 10,
            }
        )
    )
    wb.fit(texts, "cvb0", n_topics=2, name="texts", **about | {"test": None})
    for name in ("cgs", "svb"):
        annotate(store / name, note="seen", tags=["paper"])
        wb.Run(store / name).resume(12)
    return [store / name for name in ("cgs", "svb", "hdp", "nodes", "texts")]


def files_of(path: Path) -> dict[str, list[Path]]:
    """The files that a run is read from, by what they are: see `SHARES`."""
    spec, corpora = wb.Run(path).spec, path.parent / CORPORA
    found = {
        "run": sorted(
            file for file in path.rglob("*") if file.is_file() and file.name not in UNREAD
        ),
        "data": [corpora / f"{name}.npz" for name in (spec.train, spec.test) if name],
        "texts": [corpora / f"{spec.table}{SUFFIX}"] if spec.table else [],
        "beginning": [path.parent / WARM_STARTS / f"{spec.start['counts']}.npz"]
        if spec.start
        else [],
    }
    return {what: files for what, files in found.items() if files}


def answer(path: Path) -> str:
    """A digest of all that can be read of a run: rows, counts, estimates, settings, notes, state, texts, its beginning."""
    get_corpus.cache_clear()
    get_table.cache_clear()
    run, digest = wb.Run(path), hashlib.sha256()
    dataset = run.dataset().load()
    for name in sorted(set(dataset.variables) - set(CLOCKS)):
        values = dataset[name].values
        digest.update(f"{name} {dataset[name].dims} {values.shape}".encode())
        digest.update(
            repr(values.tolist()).encode()
            if values.dtype.kind == "O"
            else np.ascontiguousarray(values).tobytes()
        )
    digest.update(
        repr(
            (
                sorted(dataset.attrs.items()),
                run.spec.to_json(),
                run.notes,
                run.status()["iteration"],
            )
        ).encode()
    )
    if (table := run.table) is not None:
        digest.update(repr((table.columns, table.text, table.counted)).encode())
    if run.spec.start:
        for counts in get_warm_start(path.parent, run.spec.start["counts"]):
            digest.update(b"none" if counts is None else np.ascontiguousarray(counts).tobytes())
    return digest.hexdigest()


def go_on(path: Path) -> None:
    """Takes a finished run on from its checkpoint, for some iterations more."""
    finish(wb.Run(path), wb.Run(path).spec.n_iterations + MORE, progress=False)


def damage(file: Path, way: str, random: np.random.Generator) -> str:
    """Damages a file; what was done to it."""
    content = bytearray(file.read_bytes())
    if way == "delete" or not content:
        file.unlink()
        return "deleted"
    at = int(random.integers(len(content)))
    if way == "flip":
        content[at] ^= 1 << int(random.integers(8))
    elif way == "cut":
        del content[at:]
    else:
        content[at : at + 16] = bytes(len(content[at : at + 16]))
    file.write_bytes(content)
    return f"{way} at {at}"


def outcome(path: Path, whole: str) -> str:
    """same, a sentence, or what must not be: another answer, or an error that is none of ours."""
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = answer(path)
    except InputError as error:
        return "sentence" if "\n" not in str(error) else f"two lines: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if found == whole:
        return "same"
    if said and all("mend or delete" in str(one.message) for one in said):
        return "sentence"
    return "sentence" if "damaged" in wb.Run(path).status()["message"] else "another answer"


def outcome_later(path: Path, whole: str) -> str:
    """The same of a run that is to go on first; what was committed of it is not written over."""
    rows = [path / DATA / name for name in ("numbers", "committed", "snapshot_iteration")]
    files = [file for file in (path / DATA).rglob("*") if file.is_file()]
    before, refused = {file: file.read_bytes() for file in files}, False
    try:
        go_on(path)
    except InputError:
        refused = True
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    for file, content in before.items():
        if file.read_bytes() != content and (
            refused or not any(file.is_relative_to(each) for each in rows)
        ):
            return f"{file.name} was written over"
    return "sentence" if refused else outcome(path, whole)


def campaign(number: int, seed: int = 0) -> tuple[Counter, list[str]]:
    """How often what came of it, and each thing that must not be, with what was done."""
    random, found, wrong = np.random.default_rng(seed), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "whole"
        store.mkdir()
        runs = make_store(store)
        answers = {run.name: answer(run) for run in runs}
        shutil.copytree(store, later := Path(folder) / "later")
        for run in runs:
            go_on(later / run.name)
        answers_later = {run.name: answer(later / run.name) for run in runs}
        readable = {run.name: files_of(run) for run in runs}
        for _ in range(number):
            what = str(random.choice([*SHARES], p=[*SHARES.values()]))
            name = str(random.choice([run for run, files in readable.items() if what in files]))
            files = readable[name][what]
            file = files[int(random.integers(len(files)))].relative_to(store)
            copy = Path(folder) / "copy"
            shutil.copytree(store, copy)
            done = damage(copy / file, WAYS[int(random.integers(len(WAYS)))], random)
            if done == "deleted" and file.name in OPTIONAL:
                shutil.rmtree(copy)
                continue
            came, told = outcome(copy / name, answers[name]), examine(copy / name).damage
            went_on = outcome_later(copy / name, answers_later[name])
            if not {came, went_on} <= set(CAME):
                wrong.append(f"{name}: {file} {done}: {came}; gone on: {went_on}")
            found["wrong"] = len(wrong)
            found[what] += 1
            found[came] += 1
            found["not found by doctor"] += came == "sentence" and not told
            found[WENT_ON] += went_on == "same"
            shutil.rmtree(copy)
    return found, wrong


@pytest.mark.long
def test_what_is_damaged_is_never_believed():
    found, wrong = campaign(150)
    assert not wrong, "\n".join(wrong)
    assert found["sentence"] > 50 and found[WENT_ON] > 10 and not found["not found by doctor"]
    assert all(found[what] > 2 for what in SHARES), found


def main(number: int) -> None:
    """Prints how often what came of it, and what must not be; ends with 1 then."""
    found, wrong = campaign(number)
    print(
        "| damaged | the same answer | a sentence | went on to the same answer | wrong |\n|---:|---:|---:|---:|---:|"
    )
    print(
        f"| {number:,} | {' | '.join(f'{found[name]:,}' for name in (*CAME, WENT_ON, 'wrong'))} |"
    )
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 2500)
