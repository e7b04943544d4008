"""A file of the counts that a conversion into shards has made so far, from which an interrupted conversion resumes.

::

    a line of JSON                    what was read, and how: other files and options have other counts
    for each batch of the stream      8 bytes, the length; an npz archive with the fields of its `WordCounts`

The next conversion of the same file reads the file again for everything but the counts, and takes the counts from here. A
batch that was written only in part is cut off.
"""

import contextlib
import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import workbench
from workbench.corpus.texts.counting import WordCounts
from workbench.data.saving import CLOSED_IN_CHILDREN, try_lock

LEAST = 1 << 24
"""Minimum of bytes worth keeping; fewer are recounted in seconds."""
LENGTH = 8
"""Bytes of the length of a batch."""


def kept_beside(folder: Path) -> Path:
    """Return the path of the file of counts of a conversion into a folder."""
    return folder.with_name(f".{folder.name}.counted")


def identity(path: Path, options: dict) -> dict:
    """Return all that the counts depend on: names, sizes and modification times of files, options, and the program."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    stats = [(str(file), (stat := file.stat()).st_size, stat.st_mtime_ns) for file in files]
    return {
        "file": str(path.resolve()),
        "files": hashlib.sha256(json.dumps(stats).encode()).hexdigest(),
        "options": json.loads(json.dumps(options, sort_keys=True, default=repr)),
        "program": [workbench.__version__, *sys.version_info[:3]],
    }


class KeptCounts:
    """The counts of a stream's batches in a file: stored ones are read, further ones appended.

    Parameters
    ----------
    path : Path
        The file; created if missing. Counts of another conversion are deleted. If another process uses the file, or it
        cannot be created, nothing is stored.
    of : dict
        See `identity`.

    Attributes
    ----------
    n_documents : int
        Number of texts that are counted in it.
    replaced : bool
        Whether the file had the counts of another conversion.
    """

    def __init__(self, path: Path, of: dict):
        self._path, self._file, self.n_documents, self.replaced, self._n_bytes = (
            path,
            None,
            0,
            False,
            0,
        )
        try:
            file = open(os.open(path, os.O_RDWR | os.O_CREAT | CLOSED_IN_CHILDREN, 0o644), "r+b")  # noqa: SIM115  closed by close
        except OSError:
            return
        try:
            locked = try_lock(file)
        except OSError:
            locked = False
        if not locked:
            file.close()
            return
        self._file, header = file, json.dumps(of, sort_keys=True).encode() + b"\n"
        self._begin = len(header)
        try:
            head = file.readline()
            if head != header:
                self.replaced = len(head) > 0
                file.seek(0)
                file.truncate()
                file.write(header)
            for batch in self.counts():
                self.n_documents += len(batch.lengths)
            file.seek(self._begin + self._n_bytes)
            file.truncate()
        except OSError:
            self.delete()

    def counts(self) -> Iterator[WordCounts]:
        """Yield the counts of the stored batches, in order."""
        if self._file is None:
            return
        self._file.seek(self._begin)
        self._n_bytes = 0
        while batch := _next(self._file):
            self._n_bytes += batch[0]
            yield batch[1]

    def add(self, counts: WordCounts) -> None:
        """Append the counts of the next batch; stop storing them when the disk is full."""
        if self._file is None:
            return
        archive = io.BytesIO()
        words = np.frombuffer(json.dumps(counts.words).encode(), np.uint8)
        np.savez(archive, words=words, lengths=counts.lengths, ids=counts.ids, counts=counts.counts)
        try:
            self._file.write(archive.tell().to_bytes(LENGTH, "little") + archive.getvalue())
            self._file.flush()
        except OSError:
            return self.delete()
        self._n_bytes += LENGTH + archive.tell()

    @property
    def is_worth(self) -> bool:
        """Return whether enough is stored to keep the file after an interruption."""
        return self._file is not None and self._n_bytes >= LEAST

    def close(self) -> None:
        """Close the file without deleting it."""
        if self._file is not None:
            # of a full disk, whose rest is cut off when it is read
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def delete(self) -> None:
        """Delete the file."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            self.close()


def _next(file) -> tuple[int, WordCounts] | None:
    """Return the size in bytes and the counts of the next batch; None at the end or at an incomplete batch."""
    start = file.read(LENGTH)
    content = file.read(int.from_bytes(start, "little")) if len(start) == LENGTH else b""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        words = json.loads(arrays.pop("words").tobytes())
    except (EOFError, ValueError, KeyError, OSError, zipfile.BadZipFile):
        return None
    return LENGTH + len(content), WordCounts(words=words, **arrays)
