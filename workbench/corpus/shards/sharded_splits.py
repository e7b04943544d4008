"""The split of a sharded corpus: both parts written shard by shard, so that no more than a block of it is in memory."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import CorpusError
from workbench.corpus.shards.shard_writer import ShardWriter
from workbench.corpus.shards.sharded import Documents, ShardedCorpus, finish
from workbench.data.drawing import counts_drawn
from workbench.data.saving import new_folder

PARTS = ("train", "test")
SPLIT = "split.json"


def split_shards(
    corpus: ShardedCorpus,
    split: dict,
    blocks: Iterator[np.ndarray],
    folder: str | Path | None = None,
) -> tuple[ShardedCorpus, ShardedCorpus]:
    """Training and test corpus in the folders ``train`` and ``test`` of a folder, whole or not at all; opened if it is there.

    Parameters
    ----------
    split : dict
        fraction, seed and per, by which a folder that is there is known.
    blocks : iterator of (token,) bool
        Which tokens are for testing, as `workbench.data.drawing.drawn_blocks` gives them.
    folder : path, default beside the corpus

    Raises
    ------
    DataError
        A folder with something else, or one that cannot be written.
    """
    wanted = {"corpus": corpus.content_hash, **split}
    name = "-".join(
        [
            "split",
            *(f"{value:g}" if isinstance(value, float) else str(value) for value in split.values()),
        ]
    )
    folder = (
        corpus.folder.with_name(f"{corpus.folder.name}.{name}") if folder is None else Path(folder)
    )
    if folder.exists():
        return _there(folder, wanted)
    with new_folder(folder) as partial, ExitStack() as stack:
        writers = []
        for part in PARTS:
            (partial / part).mkdir()
            writers.append(stack.enter_context(ShardWriter(partial / part, corpus.n_words)))
            writers[-1].take(corpus.folder, corpus.fields, list(corpus.input_names))
        held: list[Documents] = []

        def counts() -> Iterator[np.ndarray]:
            for documents in corpus.blocks():
                held.append(documents)
                yield documents.counts

        for drawn in counts_drawn(counts(), blocks):
            documents = held.pop()
            for writer, counts in zip(writers, (documents.counts - drawn, drawn), strict=True):
                writer.add(*_with_counts(documents, counts))
        for writer in writers:
            finish(writer, corpus.name, corpus.held_out_rows)
        (partial / SPLIT).write_text(json.dumps(wanted))
    return _there(folder, wanted)


def _with_counts(
    documents: Documents, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, words and counts of documents with these counts; pairs left with none are gone."""
    used = counts > 0
    before = np.zeros(len(used) + 1, np.int64)
    np.cumsum(used, out=before[1:])
    return before[documents.indptr], documents.words[used], counts[used]


def _there(folder: Path, wanted: dict) -> tuple[ShardedCorpus, ShardedCorpus]:
    """The parts in a folder; refused if they are those of another split."""
    try:
        known = json.loads((folder / SPLIT).read_bytes())
    except (OSError, ValueError):
        known = None
    if known != wanted:
        raise CorpusError(
            f"{folder} is there and is not this split; give another folder, or delete it"
        )
    return tuple(ShardedCorpus.open(folder / part) for part in PARTS)
