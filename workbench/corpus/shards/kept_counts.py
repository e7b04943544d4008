"""A folder of the counts that a conversion into shards has made so far, from which an interrupted conversion resumes.

::

    about.json                        what was read, and how: other files and options have other counts
    000000.npz …                      for each batch of the stream the fields of its `WordCounts`
    lock                              of the process that works on it

The next conversion of the same file reads the file again for everything but the counts, and takes the counts from here.
"""

import hashlib
import json
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from filelock import FileLock

import workbench
from workbench.corpus.texts.counting import WordCounts
from workbench.data.saving import replacing

LEAST = 1 << 24
"""Minimum of bytes worth keeping; fewer are recounted in seconds."""


def kept_beside(folder: Path) -> Path:
    """Return the path of the folder that keeps the word counts of an unfinished conversion into ``folder``."""
    return folder.with_name(f".{folder.name}.counted")


def identity(path: Path, options: dict) -> dict:
    """Return all that determines the word counts of a conversion: file names, sizes and times, options, program version."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    stats = [(str(file), (stat := file.stat()).st_size, stat.st_mtime_ns) for file in files]
    return {
        "file": str(path.resolve()),
        "files": hashlib.sha256(json.dumps(stats).encode()).hexdigest(),
        "options": json.loads(json.dumps(options, sort_keys=True, default=repr)),
        "program": [workbench.__version__, *sys.version_info[:3]],
    }


class KeptCounts:
    """Word counts of a stream's batches, kept in a folder so that an interrupted conversion to shards can continue.

    Parameters
    ----------
    path : Path
        The file; created if missing. Counts of another conversion are deleted. If another process uses the file, or it
        cannot be created, nothing is stored.
    source : dict
        See `identity`.

    Attributes
    ----------
    n_documents : int
        Number of texts that are counted in it.
    replaced : bool
        Whether the file had the counts of another conversion.
    """

    def __init__(self, path: Path, source: dict):
        self._path, self._lock, self.replaced = path, FileLock(path / "lock"), False
        self.n_documents = self._n_batches = 0
        identity_file, text = path / "about.json", json.dumps(source, sort_keys=True)
        try:
            path.mkdir(exist_ok=True)
            self._lock.acquire(blocking=False)
        except (OSError, NotImplementedError):  # of a file system without locks
            return
        try:
            self.replaced = identity_file.exists() and identity_file.read_text() != text
            if self.replaced:
                for batch in self._batches():
                    batch.unlink()
            identity_file.write_text(text)
            self.n_documents = sum(len(counts.lengths) for counts in self.counts())
        except OSError:
            self.delete()

    def _batches(self) -> list[Path]:
        """Return the files of the stored batches, in order; [] if nothing is stored."""
        return sorted(self._path.glob("*.npz")) if self._lock.is_locked else []

    def counts(self) -> Iterator[WordCounts]:
        """Yield the stored counts of each batch, in order, up to the first that cannot be read."""
        self._n_batches = 0
        for batch in self._batches():
            try:
                with open(batch, "rb") as raw, np.load(raw, allow_pickle=False) as archive:
                    arrays = {name: archive[name] for name in archive.files}
                words = json.loads(arrays.pop("words").tobytes())
            except (EOFError, ValueError, KeyError, OSError, zipfile.BadZipFile):
                return
            yield WordCounts(words=words, **arrays)
            self._n_batches += 1

    def add(self, counts: WordCounts) -> None:
        """Store the counts of the next batch; after a write error delete the folder and store no more."""
        if not self._lock.is_locked:
            return
        words = np.frombuffer(json.dumps(counts.words).encode(), np.uint8)
        try:
            with replacing(self._path / f"{self._n_batches:06}.npz") as file:
                np.savez(file, **counts._asdict() | {"words": words})
        except OSError:
            self.delete()
        self._n_batches += 1

    @property
    def is_worth(self) -> bool:
        """Return whether the folder has enough counts to be worth keeping after an interruption."""
        n_bytes = sum(batch.stat().st_size for batch in self._batches())
        return self._lock.is_locked and n_bytes >= LEAST

    def close(self) -> None:
        """Release the folder's lock without deleting the folder."""
        self._lock.release()

    def delete(self) -> None:
        """Delete the folder."""
        if self._lock.is_locked:
            shutil.rmtree(self._path, ignore_errors=True)
            self.close()
