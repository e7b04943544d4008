"""Branches: new runs that continue from a run's present state with settings turned, or from before the last turn.

A branch has the spec of the run with all interventions planned, so it is what a fit with these settings from the beginning
gives, bit for bit. The rows, the last snapshot and the checkpoint are copied, so that it continues at once.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.data.saving import partial_of
from workbench.runs.interventions import Intervention, checked_changes
from workbench.runs.spec import RunSpec
from workbench.runs.store.archive import BEFORE, CHECKPOINT, corpora_of, iteration_of_checkpoint
from workbench.runs.store.committed import Stored
from workbench.runs.store.layout import StoreError
from workbench.runs.store.status import read_spec
from workbench.runs.store.turning import refuse_finished
from workbench.runs.store.writer import RunWriter, create_run


def branch(path: Path, changes: Mapping, who: str = "") -> Path:
    """Make a run that continues from another run's present state with settings changed; return the new run's folder.

    Raises
    ------
    OptionError
        For a setting that cannot be turned, or an invalid value.
    StoreError
        The run has finished, is over a corpus in shards, or a folder cannot be written.
    """
    refuse_finished(path)
    spec = read_spec(path)
    values = checked_changes(spec, changes)
    # before the rows, which then reach as far at least
    checkpoint = _link_checkpoint(path, CHECKPOINT, spec)
    stored = Stored(path)
    rows = stored.rows(stored.committed())
    last_iteration = int(rows[-1, 0]) if len(rows) else 0
    intervention = Intervention(max(last_iteration, spec.held_after) + 1, values, who)
    branch_spec = replace(spec, interventions=(*spec.interventions, intervention))
    return _begin_run(path, branch_spec, stored, rows, checkpoint)


def branch_before(path: Path) -> Path:
    """Make a run that continues from a run's state before its settings were last changed; return the new run's folder.

    Raises
    ------
    StoreError
        Nothing was turned, the state before is not there, or the run is over a corpus in shards.
    """
    spec = read_spec(path)
    if not spec.interventions:
        raise StoreError(f"nothing was turned in run '{path.name}', so nothing can be undone")
    checkpoint, last = _link_checkpoint(path, BEFORE, spec), spec.held_after
    if iteration_of_checkpoint(checkpoint) != last:
        checkpoint.unlink(missing_ok=True)
        raise StoreError(
            f"the state of run '{path.name}' before iteration {last + 1} is not there; fit it without the last intervention"
        )
    stored = Stored(path)
    rows = stored.rows(stored.committed())
    return _begin_run(path, spec.at(last), stored, rows[rows[:, 0] <= last], checkpoint)


def refuse_shards(path: Path, spec: RunSpec) -> None:
    """Raise StoreError if a run is over a corpus in shards, since no new run can continue from its checkpoint."""
    if spec.shards:
        raise StoreError(
            f"run '{path.name}' is over a corpus in shards, of which there are no branches; turn the setting in it"
        )


def _link_checkpoint(path: Path, name: str, spec: RunSpec) -> Path:
    """Link or copy a run's checkpoint file ``name``, if it exists, to a temporary path; return that path in any case."""
    refuse_shards(path, spec)
    link = partial_of(path.with_name(f"{path.name}-branch"))
    try:
        os.link(path / name, link)
    except FileNotFoundError:
        pass
    except OSError:  # a file system without links
        shutil.copyfile(path / name, link)
    return link


def _begin_run(
    path: Path, spec: RunSpec, stored: Stored, rows: np.ndarray, checkpoint: Path
) -> Path:
    """Make a run that begins with the given rows and checkpoint, and the last snapshot until then; return its folder."""
    try:
        spec = replace(spec, name=f"{path.name}-{spec.hash[:4]}")
        new = create_run(path.parent, spec, *corpora_of(path.parent, spec))
        with RunWriter(new) as writer:
            if writer.n_rows or not len(rows):
                return new  # it is there already, or there is nothing to copy
            for row in np.nan_to_num(rows) if len(stored.recorded.vectors) else rows:
                writer.record(stored.recorded.row(row))
            _copy_snapshot(stored, int(rows[-1, 0]), writer)
            writer.flush()
        if checkpoint.exists():
            os.replace(checkpoint, new / CHECKPOINT)
        return new
    finally:
        checkpoint.unlink(missing_ok=True)


def _copy_snapshot(stored: Stored, last_iteration: int, writer: RunWriter) -> None:
    """Copy to ``writer`` the last snapshot of a run that was taken at or before the iteration ``last_iteration``."""
    committed = stored.committed()
    iterations = stored.iterations(committed)
    slots = np.flatnonzero((iterations > 0) & (iterations <= last_iteration))
    if len(slots):
        writer.snapshot(
            int(iterations[slots[-1]]),
            {
                name: array[(slots[-1], *map(slice, stored.shape(name, committed.n_topics)))]
                for name, array in stored.counts.items()
            },
        )
