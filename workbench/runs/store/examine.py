"""Examines a run whole: every file of its folder, every chunk, and whether what is stored fits together."""

from pathlib import Path

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import InputError
from workbench.runs.store.archive import get_corpus, get_warm_start
from workbench.runs.store.checkpoint import read_checkpoint
from workbench.runs.store.chunks import read
from workbench.runs.store.committed import Stored
from workbench.runs.store.layout import DamagedError
from workbench.runs.store.notes import read_notes
from workbench.runs.store.provenance import provenance
from workbench.runs.store.status import read_json, read_spec

JSON = ("status.json", "control.json", "end.json", "kernels.json")
TOLERANCE = 1e-6
"""Relative error of a sum of expected counts."""


def examine(path: Path) -> list[str]:
    """What is wrong with the run in a folder, a sentence each; empty where nothing is.

    A run from before there were checksums has none: then only what cannot be read is found.
    """
    path, found = Path(path), []
    try:
        stored = Stored(path)
        spec, committed = read_spec(path), stored.committed()
    except InputError as error:
        return [_what(error)]

    def tried(check, *arguments):
        try:
            return check(*arguments)
        except InputError as error:
            found.append(_what(error))

    for name in JSON:
        tried(read_json, path / name)
    tried(read_notes, path)
    tried(provenance, path, stored.versions)
    data = [tried(_data, path.parent, content) for content in filter(None, (spec.train, spec.test))]
    if spec.start:
        tried(get_warm_start, path.parent, spec.start["counts"])
    rows, iterations = tried(stored.rows, committed), tried(stored.iterations, committed)
    for slot in np.flatnonzero(iterations if iterations is not None else []):
        for name in stored.counts:
            tried(_snapshot, stored, name, int(slot), committed.n_topics, int(iterations[slot]), data[0])
    tried(_checkpoint, path, spec, data[0], rows)
    return list(dict.fromkeys(found))


def _what(error: InputError) -> str:
    return error.what if isinstance(error, DamagedError) else str(error)


def _data(store: Path, content_hash: str):
    """The data as they are on the disk now."""
    return get_corpus.__wrapped__(store, content_hash)


def _snapshot(stored: Stored, name: str, slot: int, n_topics: int, iteration: int, data) -> None:
    """Counts of a snapshot are there, finite, and those of words and documents sum to the tokens."""
    stored.refuse_missing_counts(name, [slot], n_topics)
    values = read(stored.path, stored.counts[name], (slot,))
    if not np.all(np.isfinite(values)):
        raise DamagedError.of(stored.path, f"{name} of iteration {iteration} holds numbers that are not finite")
    if name in ("n_kw", "n_dk") and isinstance(data, Corpus) and data.n_tokens:
        total = float(values.sum(dtype=np.float64))
        if abs(total - data.n_tokens) > TOLERANCE * data.n_tokens:
            said = f"{name} of iteration {iteration} sums to {total:,.6g} and the corpus has {data.n_tokens:,} tokens"
            raise DamagedError.of(stored.path, said)


def _checkpoint(path: Path, spec, data, rows) -> None:
    """The checkpoint can be read, and is not ahead of the rows."""
    if data is None or not (file := path / "checkpoint.npz").exists():
        return
    engine, model, _ = spec.parts(data)
    position = read_checkpoint(file, engine, model)
    if position is None:
        raise DamagedError.of(path, "checkpoint.npz cannot be read; a resume would begin at the first iteration")
    last = int(rows[-1, 0]) if rows is not None and len(rows) else 0
    if rows is not None and position.iteration - last >= spec.record_every:
        raise DamagedError.of(path, f"checkpoint.npz is of iteration {position.iteration} and the rows end with {last}")

