"""theta and phi are computed when they are used, and only the rows that are: with the bits that all of them have."""

import numpy as np
import pytest
from short_runs import short_settings

import workbench as wb
from workbench.data import blocks
from workbench.data.blocks import CHUNKS, rows_per_block
from workbench.models.model import Estimate
from workbench.runs.recorded import last_snapshot, model_of
from workbench.runs.store.layout import DamagedError
from workbench.runs.store.places import DATA


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, as those of large corpora have many."""
    monkeypatch.setattr(blocks, "NUMBERS", 8)


def run_of(engine: str, store):
    """A finished run of twelve documents in a store, three topics where it does not find them."""
    train, settings = short_settings(engine)
    wb.fit(train, engine, store=store, name="run", snapshot_every=4, progress=False, **settings)
    return wb.Run(store / "run")


def whole(ds) -> dict[str, np.ndarray]:
    """What the model estimates from all rows at once, of arrays in memory."""
    model, last = model_of(ds), last_snapshot(ds).load()
    found = model.estimates(last, None)
    assert all(isinstance(values, Estimate) for values in found.values())
    return {name: np.asarray(values) for name, values in found.items()}


@pytest.mark.parametrize("engine", ["svb", "cgs", "g-hdp", "cv-hdp", "sb-ctm", "ln-ctm", "ctm-em"])
def test_rows_have_the_bits_that_all_of_them_have(engine, store):
    run = run_of(engine, store)
    expected = whole(run.dataset())
    for name in ("theta", "phi"):
        values, lazy = expected[name], run.dataset()[name]
        assert lazy.attrs["long_name"] and lazy.shape == values.shape
        for rows in (
            slice(None),
            slice(1, 3),
            slice(None, None, 2),
            slice(None, None, -1),
            1,
            [2, 0, 1, 0],
            [],
        ):
            of_rows = np.array(rows, int) if isinstance(rows, list) else rows
            np.testing.assert_array_equal(lazy[of_rows], values[of_rows], strict=True)
        np.testing.assert_array_equal(lazy[1:, 1], values[1:, 1])
        np.testing.assert_array_equal(lazy[[2, 0], [1, 0]], values[np.ix_([2, 0], [1, 0])])


def test_who_reads_phi_computes_no_theta(store, monkeypatch):
    run = run_of("cgs", store)
    for chunk in (run.path / DATA / "n_dk" / "c").rglob("*"):
        if chunk.is_file():
            chunk.write_bytes(b"damaged")
    ds = run.dataset()
    np.testing.assert_allclose(ds["phi"].sum("word"), 1)
    with pytest.raises(DamagedError, match="n_dk"):
        ds["theta"].load()


def test_of_a_few_documents_their_chunks_alone_are_read(store):
    run = run_of("svb", store)
    last = run.path / DATA / "n_dk" / "c" / str(run.dataset().sizes["snapshot"] - 1)
    chunks = sorted(last.iterdir(), key=lambda path: int(path.name))
    assert len(chunks) == 6 and run.dataset()["n_dk"].encoding[CHUNKS] == {
        "snapshot": 1,
        "document": 2,
        "topic": 3,
    }
    expected = run.dataset()["theta"].values
    for chunk in (*chunks[:2], *chunks[3:]):
        next(path for path in chunk.rglob("*") if path.is_file()).unlink()
    np.testing.assert_array_equal(run.dataset()["theta"][4:6], expected[4:6])
    with pytest.raises(DamagedError, match=r"the chunk data.zarr/n_dk/\d+/1/0 is gone"):
        run.dataset()["theta"][3:6].load()


def test_what_was_read_is_kept(store):
    run = run_of("svb", store)
    ds = run.dataset()
    ds["theta"].load()
    (run.path / DATA / "n_dk").rename(run.path / "away")
    np.testing.assert_allclose(ds["theta"].sum("topic"), 1)


def test_a_block_has_a_power_of_two_of_rows(monkeypatch):
    monkeypatch.setattr(blocks, "NUMBERS", 2**20)
    assert [rows_per_block(width) for width in (0, 1, 100, 128, 2**20, 2**20 + 1, 2**30)] == [
        2**20,
        2**20,
        8192,
        8192,
        1,
        1,
        1,
    ]
    assert (
        list(blocks.blocks(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
        and list(blocks.blocks(0, 2)) == []
    )
