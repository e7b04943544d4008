"""Files that collect rows (document, word, count) in any order and return them sorted by document."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import INT32_MAX
from workbench.data.stored_texts import GrowingArray
from workbench.errors import DataError

ROWS = 1 << 18
"""Rows that are read at a time."""
MOST_FILES = 200
"""Maximum of files to which unsorted rows are distributed; systems allow 1024 or more open files."""
PARTS = ("documents", "words", "counts")


class PairFiles:
    """Rows (document, word, count), written to a folder in any order and read back sorted by document.

    Rows that were added in the order of their documents, as from texts and most files of counts, are read directly. Other
    rows are first distributed to several files, one per range of documents.
    """

    def __init__(self, folder: Path):
        folder.mkdir()
        self._open = ExitStack()
        self._folder, self._n, self._last, self._in_order = folder, 0, -1, True
        self._files: dict[str, GrowingArray] = {}
        for part in PARTS:
            self._files[part] = GrowingArray(folder / f"{part}.npy", np.int32)
            self._open.callback(self._files[part].close)

    def __len__(self) -> int:
        return self._n

    def add(self, documents: np.ndarray, words: np.ndarray, counts: np.ndarray) -> None:
        """Append rows of integers; raise an error if a count needs more than 32 bits."""
        if counts.max(initial=0) > INT32_MAX:
            raise DataError(
                f"a count may not exceed {INT32_MAX}; the largest is {int(counts.max())}"
            )
        if len(documents):
            self._in_order = (
                self._in_order
                and documents[0] >= self._last
                and bool(np.all(documents[1:] >= documents[:-1]))
            )
            self._last = int(documents[-1])
        for part, values in zip(PARTS, (documents, words, counts), strict=True):
            self._files[part].add(values)
        self._n += len(documents)

    def close(self) -> None:
        """Write buffered rows to the files."""
        self._open.close()

    def blocks(
        self, n_documents: int
    ) -> Iterator[tuple[int, int, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield all rows in blocks of whole documents: (first document, last document + 1, documents, words, counts).

        The last three are arrays (row,), sorted by document.
        """
        self.close()
        first, rest = 0, tuple(np.empty(0, np.int32) for _ in PARTS)
        for rows in (
            self._read(self._folder, self._n) if self._in_order else self._distribute(n_documents)
        ):
            rows = tuple(np.concatenate(columns) for columns in zip(rest, rows, strict=True))
            last = int(rows[0][-1])  # whose rows may continue in the next block
            end = int(np.searchsorted(rows[0], last))
            if last > first:
                yield first, last, *(columns[:end] for columns in rows)
                first, rest = last, tuple(columns[end:] for columns in rows)
            else:
                rest = rows
        yield first, n_documents, *rest

    def _read(self, folder: Path, n: int) -> Iterator[tuple[np.ndarray, ...]]:
        mapped = [
            np.load(folder / f"{part}.npy", mmap_mode="r", allow_pickle=False) for part in PARTS
        ]
        offsets = [array.offset for array in mapped]
        del mapped
        for first in range(0, n, ROWS):
            count = min(ROWS, n - first)
            yield tuple(
                np.fromfile(folder / f"{part}.npy", np.int32, count, offset=offset + 4 * first)
                for part, offset in zip(PARTS, offsets, strict=True)
            )

    def _distribute(self, n_documents: int) -> Iterator[tuple[np.ndarray, ...]]:
        """Distribute the rows over files by document; yield the rows of each file, sorted by document."""
        lengths = np.zeros(n_documents, np.int64)
        for documents, *_ in self._read(self._folder, self._n):
            lengths += np.bincount(documents, minlength=n_documents)
        n_files = min(MOST_FILES, -(-self._n // ROWS))
        ends = np.cumsum(lengths)
        # (file - 1,) documents
        firsts = np.searchsorted(ends, self._n * np.arange(1, n_files) / n_files, "right") + 1
        with ExitStack() as stack:
            files = [PairFiles(self._folder / f"part-{number}") for number in range(n_files)]
            for file in files:
                stack.callback(file.close)
            for rows in self._read(self._folder, self._n):
                file_of_row = np.searchsorted(firsts, rows[0], "right")
                order = np.argsort(file_of_row, kind="stable")
                bounds = np.searchsorted(file_of_row[order], np.arange(n_files + 1))
                for file, begin, end in zip(files, bounds[:-1], bounds[1:], strict=True):
                    file.add(*(column[order[begin:end]] for column in rows))
        for number, file in enumerate(files):
            if len(file):
                rows = tuple(
                    np.load(self._folder / f"part-{number}" / f"{part}.npy", allow_pickle=False)
                    for part in PARTS
                )
                order = np.argsort(rows[0], kind="stable")
                yield tuple(column[order] for column in rows)
