"""Read the parts of a run over a corpus in shards at its last checkpoint, one part in memory at a time."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import DataError
from workbench.runs.parts.laying_out import shard_ranges_of
from workbench.runs.parts.part import ShardRange, rows_in
from workbench.runs.recorded import Position
from workbench.runs.spec import SpecError
from workbench.runs.store.archive import corpora_of, last_position, parts_folder, read_checkpoint

Result = TypeVar("Result")


class StoredPart(NamedTuple):
    """The documents of one part, with the part's state and running average at a checkpoint."""

    shard_range: ShardRange
    corpus: Corpus
    test: Corpus | None
    # state of the engine: the shared arrays, and the rows of the part's documents
    state: NamedTuple
    # (test pair,) running average of p(w|d); None if nothing is held out
    probability: np.ndarray | None


def at_last_checkpoint(run, take: Callable[[Position, Iterator[StoredPart]], Result]) -> Result:
    """Return ``take(position, parts)`` for the last checkpoint of a run over a corpus in shards.

    The run may be running: if it replaces the checkpoint meanwhile, ``take`` is called again.

    Raises
    ------
    SpecError
        There is no complete checkpoint, or its files cannot be read.
    """
    while True:
        engine, model, _ = run.spec.parts()
        position = last_position(run, engine)
        try:
            return take(position, _parts(run, position))
        except DataError as error:
            checkpoint = read_checkpoint(run.path / "checkpoint.npz", engine)
            # else it was replaced, and its files were deleted
            if checkpoint is None or checkpoint.iteration == position.iteration:
                raise SpecError(
                    f"rows of the last checkpoint of run '{run.name}' cannot be read ({error}); "
                    f"`workbench resume {run.name}` makes new ones"
                ) from error


def _parts(run, position: Position) -> Iterator[StoredPart]:
    """Yield the parts at a checkpoint, in the order of the documents."""
    train, test = corpora_of(run.path.parent, run.spec)
    folder = parts_folder(run.path / "checkpoint.npz", position.iteration)
    for number, shard_range in enumerate(shard_ranges_of(train)):
        rows, average = (rows_in(folder / f"{number}.npz", kind) for kind in ("own", "average"))
        corpora = (
            train.rows(shard_range.first, shard_range.last),
            test and test.rows(shard_range.first, shard_range.last),
        )
        state = position.state._replace(**rows)
        yield StoredPart(shard_range, *corpora, state, average.get("probability"))
