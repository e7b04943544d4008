"""A writer killed with SIGKILL at ten moments while a second process reads."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from same_bits import same_bits

import workbench as wb
from workbench.data import blocks
from workbench.runs.execution.worker import carry_on
from workbench.runs.spec import make_spec
from workbench.runs.store.places import DATA
from workbench.runs.store.reader import RunReader
from workbench.runs.store.writer import create_run

KILLING = Path(__file__).with_name("killing.py")
N_KILLS = 10


def check_read(reader: RunReader, n_tokens: int, n_before: int) -> int:
    """One read of a run that is being written: consistent, and never shorter than before."""
    ds = reader.dataset()
    n_rows = ds.sizes["iteration"]
    assert n_rows >= n_before, "committed rows went back"
    assert ds.iteration.values.tolist() == list(range(1, n_rows + 1)), "rows are missing"
    for name in ds.data_vars:
        if ds[name].dims == ("iteration",):
            assert np.all(np.isfinite(ds[name])), f"{name} has holes"
    np.testing.assert_allclose(ds.n_k.sum("topic"), n_tokens, rtol=1e-9)
    np.testing.assert_allclose(ds.n_kw.sum(("topic", "word")), n_tokens, rtol=1e-9)
    np.testing.assert_allclose(ds.n_dk.sum(("topic", "document")), n_tokens, rtol=1e-9)
    assert np.all(np.diff(ds.snapshot_iteration) > 0)
    xr.open_zarr(reader.path / DATA, consolidated=False, chunks=None).close()
    return n_rows


@pytest.mark.slow
def test_no_kill_tears_a_read_or_changes_a_bit(train, test, store, monkeypatch):
    monkeypatch.setattr(blocks, "NUMBERS", 32)  # a snapshot lies in several chunks
    settings = dict(n_topics=4, n_iterations=1500, snapshot_every=7)
    spec = make_spec(train, "svb-cgs", test=test, options={"schedule": "sequential"}, **settings)
    path = create_run(store, spec, train, test)
    reader, n_rows, n_reads, seen = RunReader(path), 0, 0, set()
    with subprocess.Popen(
        [sys.executable, str(KILLING), str(path), str(N_KILLS), "1"],
        stdout=subprocess.PIPE,
        text=True,
    ) as killer:
        while killer.poll() is None:
            n_rows = check_read(reader, train.n_tokens, n_rows)
            n_reads += 1
            seen.add(n_rows)
        assert killer.returncode == 0
        lives = killer.stdout.read().split()
    assert lives == ["killed"] * N_KILLS, f"a life ended by itself: {lives}"
    assert n_reads > 25 and len(seen) > 10, (
        f"only {n_reads} reads of {len(seen)} lengths: the test proves nothing"
    )
    assert 0 < n_rows < 1500
    carry_on(path)
    whole = wb.fit(
        train, "svb-cgs", test=test, options={"schedule": "sequential"}, progress=False, **settings
    )
    same_bits(wb.open_run(path), whole)
