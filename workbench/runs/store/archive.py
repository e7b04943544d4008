"""Store corpora and warm starts by content hash, and the checkpoint of each run.

A checkpoint is the position of a run (state, running average) in one npz file without pickles, which is replaced as a whole.
For a corpus in shards the document arrays are in a separate folder, which is written first.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from workbench.corpus import Corpus, ShardedCorpus
from workbench.corpus.document_table import SUFFIX, DocumentTable
from workbench.data.caching import cached_once
from workbench.data.saving import has_all, load_data, refused_by_system, replacing, write_arrays
from workbench.engines.engine import WarmStart
from workbench.errors import DataError
from workbench.kernels.simd.vectors import aligned_copy
from workbench.records import Records
from workbench.runs.recorded import Position
from workbench.runs.scoring import Average
from workbench.runs.spec import RunSpec, SpecError

if TYPE_CHECKING:
    from workbench.engines.engine import Engine


CORPORA, WARM_STARTS = ".corpora", ".starts"
MEND = "delete it and fit the run again"
"""Advice in errors about a damaged file."""


@cached_once(8)
def get_corpus(store: Path, content_hash: str) -> Corpus | ShardedCorpus | Records:
    """Return the corpus or records with a content hash from the store; raise SpecError if missing or damaged."""
    path = data_path(store, content_hash)
    if path.suffix != ".npz":
        return corpus_in_shards(store, content_hash)
    return _load(path, "corpus of this run is", lambda: load_data(path, Corpus, Records, mend=MEND))


def data_path(store: Path, content_hash: str, shards: int | None = None) -> Path:
    """Return the file of a corpus or of records in the store; return the folder of its shards if only that exists.

    shards : if it is truthy, an existing folder of shards is preferred to the file
    """
    folder = store / CORPORA / content_hash
    file = folder.with_name(f"{content_hash}.npz")
    return folder if os.path.isdir(folder) and (shards or not os.path.exists(file)) else file


def corpora_of(store: Path, spec: RunSpec) -> tuple:
    """Return a run's training and test data (None: no test set), sharded if the run was created with shards."""
    if not spec.shards:
        return train_of(store, spec), spec.test and get_corpus(store, spec.test)
    test = spec.test and (
        corpus_in_shards(store, spec.test)
        if os.path.isdir(store / CORPORA / spec.test)
        else get_corpus(store, spec.test)
    )
    return corpus_in_shards(store, spec.train), test


def train_of(store: Path, spec: RunSpec) -> Corpus | ShardedCorpus | Records:
    """Return a run's training data, with the columns of its documents if the model reads them."""
    train = get_corpus(store, spec.train)
    if spec.table and spec.parts()[1].reads_columns:
        train = replace(train, table=get_table(store, spec.table))
    return train


def corpus_in_shards(store: Path, content_hash: str) -> ShardedCorpus:
    """Return the sharded corpus with a content hash from the store; raise SpecError if missing or damaged."""
    folder = store / CORPORA / content_hash
    return _load(folder, "corpus of this run is", partial(_open_shards, folder))


def _open_shards(folder: Path) -> ShardedCorpus:
    """Return the sharded corpus in a folder; raise DataError if the folder's name is not the corpus's hash."""
    corpus = ShardedCorpus.open(folder)
    if corpus.content_hash != folder.name:
        raise DataError(f"{folder} does not hold the content its name says; {MEND}")
    return corpus


@cached_once(4)
def get_table(store: Path, content_hash: str) -> DocumentTable:
    """Return the document table with a content hash from the store; raise SpecError if missing or damaged."""
    path = store / CORPORA / f"{content_hash}{SUFFIX}"
    return _load(path, "texts of this run are", lambda: DocumentTable.load(path, mend=MEND))


def _load(path: Path, what: str, load: Callable[[], Any]) -> Any:
    """Return the result of ``load()``; raise SpecError if the file ``path`` is missing or cannot be loaded.

    what : what the file is, for the error message
    """
    try:
        path.stat()
        return load()
    except FileNotFoundError:
        raise SpecError(f"the {what} not in the store; expected the file {path}") from None
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}") from error
    except DataError as error:
        raise SpecError(str(error)) from error


def counts_hash(warm_start: WarmStart) -> str:
    """Return the sha256 (hex) of the arrays and shapes of a warm start."""
    digest = hashlib.sha256()
    for counts in warm_start[:2] if warm_start.topics is None else warm_start:
        digest.update(b"none" if counts is None else str(counts.shape).encode() + counts.tobytes())
    return digest.hexdigest()


def put_warm_start(store: Path, name: str, warm_start: WarmStart) -> None:
    """Write a warm start to the store unless the store has it.

    name : its hash from `counts_hash`
    """
    path = store / WARM_STARTS / f"{name}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            np.savez_compressed(
                file,
                **{name: n for name, n in warm_start._asdict().items() if n is not None},
            )


def get_warm_start(store: Path, name: str) -> WarmStart:
    """Return the warm start whose hash is ``name``; raise SpecError if it is missing or damaged."""
    path = store / WARM_STARTS / f"{name}.npz"
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            warm_start = WarmStart(file["n_kw"], file.get("n_dk"), file.get("topics"))
        if counts_hash(warm_start) != path.stem:
            raise ValueError("other counts than its name says")
        return warm_start
    except Exception as error:  # whatever numpy and zipfile raise for a damaged file
        if refused_by_system(error):
            raise SpecError(f"{path} cannot be read: {error.strerror}") from error
        raise SpecError(
            f"the counts that this run starts from cannot be read from {path}; fit the run again"
        ) from error


ABOUT = ("iteration", "elapsed", "cpu_time", "updates")
PARTS = "parts-"
CHECKPOINT, BEFORE = "checkpoint.npz", "before.npz"
"""The files of a run's last position, and of its position before settings were last turned."""
T = TypeVar("T")


def write_checkpoint(path: Path, position: Position) -> None:
    """Write a run's position to the checkpoint file, atomically."""
    state = {f"state_{name}": value for name, value in position.state._asdict().items()}
    average = {
        name: value for name, value in position.average._asdict().items() if value is not None
    }
    folder = parts_folder(path, position.iteration)
    if position.rows is not None:
        position.rows.save(folder)
    write_arrays(path, {name: getattr(position, name) for name in ABOUT} | average | state)
    for other in path.parent.glob(f"{PARTS}*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


def parts_folder(path: Path, iteration: int) -> Path:
    """Return the folder that holds the document arrays of the checkpoint at an iteration.

    path : the checkpoint file
    """
    return path.with_name(f"{PARTS}{iteration}")


def read_checkpoint(path: Path, engine: Engine) -> Position | None:
    """Return the position in a checkpoint file; None if the file is missing or damaged."""

    def position(file: Mapping[str, np.ndarray]) -> Position:
        fields = [_restored(file[f"state_{name}"]) for name in engine.state._fields]
        return Position(
            int(file["iteration"]),
            engine.state(*fields),
            _average(file),
            float(file["elapsed"]),
            float(file["cpu_time"]),
            int(file["updates"]),
        )

    return _read(path, position)


def last_position(run, engine: Engine) -> Position:
    """Return the position of a run's last checkpoint; raise SpecError if it has no complete one.

    run : has a ``path`` and a ``name``
    """
    position = read_checkpoint(run.path / CHECKPOINT, engine)
    if position is None:
        raise SpecError(
            f"run '{run.name}' has no whole checkpoint; `workbench resume {run.name}` makes one"
        )
    return position


def iteration_of_checkpoint(path: Path) -> int | None:
    """Return the iteration of a checkpoint file; None if it is missing or damaged."""
    return _read(path, lambda file: int(file["iteration"]))


def read_average(path: Path) -> tuple[int, Average] | None:
    """Return (iteration, running average) from a checkpoint file, not reading the state; None if missing or damaged."""
    return _read(path, lambda file: (int(file["iteration"]), _average(file)))


def _read(path: Path, take: Callable[[Any], T]) -> T | None:
    """Return ``take(file)`` of an opened npz file; None if the file is missing or damaged."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            return take(file) if has_all(file) else None
    except Exception:  # whatever numpy and zipfile raise for a damaged file
        return None


def _average(file: Mapping[str, np.ndarray]) -> Average:
    return Average(
        file["probability"],
        int(file["n_averaged"]),
        file["log_of_groups"],
        float(file["log_of_all"]),
        file.get("words"),
        file.get("log_of_seen"),
    )


def _restored(values: np.ndarray):
    """Return an array from a checkpoint as an aligned copy; return a number if the array has no dimensions."""
    if values.ndim == 0:
        return values.item()
    return aligned_copy(values)
