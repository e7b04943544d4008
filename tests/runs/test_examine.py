"""What is wrong with a run, and what of it can be read all the same."""

import json
import shutil
from pathlib import Path

import pytest

import workbench as wb
from workbench.cli import main
from workbench.runs.afterwards.examine import examine
from workbench.runs.recorded import Position
from workbench.runs.store.archive import CORPORA

SHORT_CHUNKS = 8


@pytest.fixture(scope="module")
def whole(thirty_documents, tmp_path_factory):
    """The folder of a finished run of 20 iterations with snapshots of the 8th, 16th and 20th, eight rows a chunk."""
    train, test = thirty_documents
    store = tmp_path_factory.mktemp("examined")
    with pytest.MonkeyPatch.context() as patch:
        for module in ("store.writer", "afterwards.examine"):
            patch.setattr(f"workbench.runs.{module}.ROWS_PER_CHUNK", SHORT_CHUNKS)
        wb.fit(
            train,
            "cgs",
            n_topics=3,
            test=test,
            n_iterations=20,
            snapshot_every=8,
            store=store,
            name="one",
            progress=False,
        )
    wb.Run(store / "one").annotate("seen")
    return store / "one"


@pytest.fixture
def run(whole, tmp_path, monkeypatch):
    """A copy of that run, to be damaged."""
    monkeypatch.setattr("workbench.runs.afterwards.examine.ROWS_PER_CHUNK", SHORT_CHUNKS)
    shutil.copytree(whole.parent, tmp_path / "runs")
    return tmp_path / "runs" / "one"


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


COUNTS = ["n_kw of all snapshots", "n_dk of all snapshots", "token_topics of all snapshots"]
ALL = [
    "settings",
    "notes",
    "data",
    "rows up to iteration 20",
    *COUNTS,
    "checkpoint of iteration 20",
]


def test_all_of_a_whole_run_is_read(run):
    assert examine(run) == ([], ALL)


def without(*parts, **others):
    return [others.get(part.split()[0], part) for part in ALL if part not in parts]


@pytest.mark.parametrize(
    ("file", "wrong", "readable"),
    [
        ("data.zarr/zarr.json", "data.zarr/zarr.json", []),
        (
            "data.zarr/committed/c/0",
            "data.zarr/committed holds a chunk that is not what was written",
            ALL[:3],
        ),
        ("data.zarr/n_kw/zarr.json", "data.zarr/n_kw/zarr.json", ALL[:3]),
        (
            "data.zarr/n_kw/c/1/0/0",
            "data.zarr/n_kw holds a chunk that is not",
            without(n_kw="n_kw of iteration 8, 20"),
        ),
        (
            "data.zarr/numbers/c/1/0",
            "data.zarr/numbers holds a chunk that is not what was written",
            [
                *ALL[:3],
                f"from data.zarr, with Zarr alone: rows up to iteration 8, {', '.join(COUNTS)}",
                ALL[-1],
            ],
        ),
        (
            "data.zarr/numbers/c/0/0",
            "data.zarr/numbers holds a chunk that is not what was written",
            [*ALL[:3], f"from data.zarr, with Zarr alone: {', '.join(COUNTS)}", ALL[-1]],
        ),
        (
            "data.zarr/snapshot_iteration/c/0",
            "data.zarr/snapshot_iteration holds a chunk that is not",
            without(*COUNTS),
        ),
        ("status.json", "status.json", ALL),
        ("end.json", "end.json", ALL),
        ("kernels.json", "kernels.json", ALL),
        ("notes.json", "notes.json", without("notes")),
        (
            "checkpoint.npz",
            "checkpoint.npz cannot be read; a resume would begin at the first iteration",
            without(ALL[-1]),
        ),
    ],
)
def test_a_damaged_file_is_told_and_all_else_is_read(run, file, wrong, readable):
    flip(run / file)
    found = examine(run)
    assert len(found.damage) == 1 and wrong in found.damage[0]
    assert found.readable == readable


def test_damaged_data_are_told_and_what_was_computed_is_read(run):
    corpus = wb.Run(run).spec.train
    flip(run.parent / CORPORA / f"{corpus}.npz")
    found = examine(run)
    assert len(found.damage) == 1 and f"{corpus}.npz" in found.damage[0]
    assert found.readable == without("data", ALL[-1])


def test_a_checkpoint_further_than_the_rows_is_told(run):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "workbench.runs.afterwards.examine.read_checkpoint",
            lambda *at: Position(99, None, None, 0, 0, 0),
        )
        assert examine(run).damage == ["checkpoint.npz is of iteration 99 and the rows end with 20"]


def test_the_command_ends_with_1_and_tells_what_can_be_read(run, capsys):
    def doctor(*arguments):
        status = main(["doctor", *arguments, "--store", str(run.parent)])
        return status, *capsys.readouterr()

    assert doctor("one")[0] == 0
    shutil.copytree(run, run.parent / "two")
    flip(run.parent / "two" / "data.zarr" / "n_kw" / "c" / "1" / "0" / "0")
    flip(run.parent / "two" / "notes.json")
    status, out, err = doctor("two")
    assert (status, err) == (1, "")
    wrong, readable = " ".join(out.split()).split(" reads two ")
    assert wrong.count("WRONG two ") == 2 and "notes.json" in wrong and "data.zarr/n_kw" in wrong
    kept = ["settings", "data", *without(n_kw="n_kw of iteration 8, 20")[3:]]
    assert readable == "; ".join(kept)
    status, out, _ = doctor("--all", "--json")
    found = json.loads(out)
    assert status == 1 and [check["ok"] for check in found["checks"]] == [True, False, False]
    assert found["readable"] == {"one": ALL, "two": kept}
    assert doctor("none")[0] == 2
