"""Check a run for damage: every file of its folder, every chunk of its arrays, and whether they agree with each other."""

import contextlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus.corpus import AnyCorpus
from workbench.data.saving import read_arrays
from workbench.errors import DataError, InputError
from workbench.models.word_priors import FOLDER, WordPrior
from workbench.runs.recorded import Position
from workbench.runs.spec import RunSpec
from workbench.runs.store.archive import (
    corpus_in_shards,
    get_corpus,
    get_table,
    get_warm_start,
    parts_folder,
    read_checkpoint,
)
from workbench.runs.store.committed import Committed, Stored, read
from workbench.runs.store.layout import ROWS_PER_CHUNK, DamagedError, about_run
from workbench.runs.store.notes import read_notes
from workbench.runs.store.places import DATA
from workbench.runs.store.provenance import provenance
from workbench.runs.store.status import read_json

JSON = ("status.json", "control.json", "end.json", "kernels.json")
TOLERANCE = 1e-6
"""Relative error allowed for a sum of expected counts."""


class Examined(NamedTuple):
    """The damage found in a run, and descriptions of what can still be read."""

    damage: list[str]  # one sentence for each damage
    readable: list[str]  # a few words for each readable content


def examine(path: Path) -> Examined:
    """Check the run in a folder for damage; return the damage and descriptions of what can be read."""
    path, damage, readable = Path(path), [], []

    def attempt(check, *arguments):
        try:
            return check(*arguments)
        except InputError as error:
            damage.append(error.what if isinstance(error, DamagedError) else str(error))

    if (attributes := attempt(about_run, path)) is None or (
        spec := attempt(_spec, path, attributes)
    ) is None:
        return Examined(damage, readable)
    readable.append("settings")
    for name in JSON:
        attempt(read_json, path / name)
    if (notes := attempt(read_notes, path)) and any(notes):
        readable.append("notes")
    hashes = filter(None, (spec.train, spec.test))
    train, *_ = data = [
        attempt(_data, path.parent, content, bool(spec.shards)) for content in hashes
    ]
    readable += ["data"] * (None not in data)
    if spec.table and attempt(get_table.__wrapped__, path.parent, spec.table) is not None:
        readable.append("texts")
    if spec.start:
        attempt(get_warm_start, path.parent, spec.start["counts"])
    if isinstance(prior := spec.model.get("beta"), WordPrior):
        attempt(getattr, prior, "values")
    if (stored := attempt(Stored, path)) is not None:
        attempt(provenance, path, stored.versions)
        if (committed := attempt(stored.committed)) is not None:
            full_counts = ("n_kw", "n_dk") if spec.parts()[0].whole_counts else ("n_dk",)
            last_iteration = _arrays(stored, committed, train, full_counts, attempt, readable)
            if (
                train is not None
                and (position := attempt(_checkpoint, path, spec, train, last_iteration))
                is not None
            ):
                readable.append(f"checkpoint of iteration {position.iteration}")
    return Examined(list(dict.fromkeys(damage)), readable)


def _spec(path: Path, attributes: dict) -> RunSpec:
    """Return the settings that a run was created with."""
    try:
        return RunSpec.from_json(attributes["spec"], path.parent / FOLDER)
    except KeyError as error:
        raise DamagedError.of(path, f"its attributes have no {error}") from error


def _data(store: Path, content_hash: str, in_shards: bool):
    """Return the corpus or records with this content hash, read from disk again and verified."""
    data = (
        corpus_in_shards(store, content_hash)
        if in_shards
        else get_corpus.__wrapped__(store, content_hash)
    )
    data.check()
    return data


def _arrays(
    stored: Stored, committed: Committed, train, whole_counts, attempt, readable: list[str]
) -> int | None:
    """Read all committed rows and snapshots; return the iteration of the last row, None if rows cannot be read.

    whole_counts : names of the counts that sum to the number of tokens of the corpus
    attempt : calls a check and records its error; readable : gets descriptions of what can be read
    """
    rows, iterations = attempt(stored.rows, committed), attempt(stored.iterations, committed)
    last_iteration = (
        _first_rows(stored, committed) if rows is None else int(rows[-1, 0]) if len(rows) else 0
    )
    descriptions = [f"rows up to iteration {last_iteration}"] if last_iteration else []
    slots = np.flatnonzero(iterations).tolist() if iterations is not None else []
    for name in stored.counts:
        corpus = train if name in whole_counts else None
        intact = [
            str(iterations[slot])
            for slot in slots
            if attempt(
                _snapshot, stored, name, slot, committed.n_topics, int(iterations[slot]), corpus
            )
        ]
        if intact:
            descriptions.append(
                f"{name} of {'all snapshots' if len(intact) == len(slots) else 'iteration ' + ', '.join(intact)}"
            )
    readable += (
        descriptions
        if rows is not None or not descriptions
        else [f"from {DATA}, with Zarr alone: {', '.join(descriptions)}"]
    )
    return None if rows is None else last_iteration


def _first_rows(stored: Stored, committed: Committed) -> int:
    """Return the iteration of the last row in the readable leading chunks of rows; 0 if the first chunk is unreadable."""
    for n_rows in range(committed.n_rows // ROWS_PER_CHUNK * ROWS_PER_CHUNK, 0, -ROWS_PER_CHUNK):
        with contextlib.suppress(InputError):
            return int(stored.rows(committed._replace(n_rows=n_rows))[-1, 0])
    return 0


def _snapshot(
    stored: Stored, name: str, slot: int, n_topics: int, iteration: int, data: Path
) -> bool:
    """Raise DamagedError unless a snapshot's counts exist, are finite and sum to the number of tokens; return True."""
    stored.refuse_missing_counts(name, [slot], n_topics)
    values = read(stored.path, stored.counts[name], (slot,))
    if not np.all(np.isfinite(values)):
        raise DamagedError.of(
            stored.path, f"{name} of iteration {iteration} holds numbers that are not finite"
        )
    if isinstance(data, AnyCorpus) and data.n_tokens:
        total = float(values.sum(dtype=np.float64))
        if abs(total - data.n_tokens) > TOLERANCE * data.n_tokens:
            raise DamagedError.of(
                stored.path,
                f"{name} of iteration {iteration} sums to {total:,.6g} and the corpus has {data.n_tokens:,} tokens",
            )
    return True


def _checkpoint(path: Path, spec: RunSpec, data, last_iteration: int | None) -> Position | None:
    """Return the checkpoint, None if there is none; raise DamagedError if it is unreadable or too far ahead of the rows.

    last_iteration : iteration of the last row, None if unknown
    """
    if not (file := path / "checkpoint.npz").exists():
        return None
    position = read_checkpoint(file, spec.parts(data)[0])
    if position is None:
        raise DamagedError.of(
            path, "checkpoint.npz cannot be read; a resume would begin at the first iteration"
        )
    if last_iteration is not None and position.iteration - last_iteration >= spec.record_every:
        raise DamagedError.of(
            path,
            f"checkpoint.npz is of iteration {position.iteration} and the rows end with {last_iteration}",
        )
    if spec.shards:
        folder = parts_folder(file, position.iteration)
        for number in range(data.n_parts):
            try:
                read_arrays(folder / f"{number}.npz")
            except DataError as error:
                raise DamagedError.of(
                    path,
                    f"{folder.name}/{number}.npz cannot be read; a resume would begin at the first iteration",
                ) from error
    return position
