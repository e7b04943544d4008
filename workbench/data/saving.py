"""Write files atomically: text encoded, data in npz files named by their content hash."""

import contextlib
import errno
import gzip
import json
import os
import re
import secrets
import shutil
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import BinaryIO, ClassVar, Self

import numpy as np

from workbench.errors import DataError

SAVED = re.compile(r"[0-9a-f]{64}\.npz")
"""The name of a file that `SavedByHash.save` writes."""
LEVEL = 6  # of gzip: 9 takes four times as long for 3 % less at most


def encoded(text: str, path: Path) -> bytes:
    """Return the text as UTF-8 bytes; raise an error if it cannot be encoded."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise DataError(
            f"{path} cannot hold the character {character!r}, which is no text; take it out of the corpus"
        ) from None


def not_a_line(strings: Iterable[str]) -> int | None:
    """Return the index of the first string that is empty or has outer blanks or a line break; None if there is none."""
    positions = (
        number
        for number, text in enumerate(strings)
        if text != text.strip() or not text or "\n" in text or text[0] == "\ufeff"
    )
    return next(positions, None)


def partial_of(path: Path) -> Path:
    """Return an unused temporary path in the folder of ``path``, for a file to be renamed to ``path`` once written."""
    return path.with_name(f".{path.name}-{secrets.token_hex(8)}.partial")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file that replaces the one at ``path`` when the block ends without an error."""
    partial = partial_of(path)
    try:
        with open(partial, "wb") as file:
            yield file
        os.replace(partial, path)
    except BaseException as error:
        if isinstance(error, OSError):
            error.filename = str(path)  # what fails is the write, which does not know the name
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)  # on a full disk it takes what is left
        raise


def refuse_there(path: Path) -> None:
    """Raise an error if the path exists already."""
    if path.exists():
        raise DataError(f"{path} is there already; choose another place, or delete it")


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to the path when the block ends without an error.

    Raise DataError for a path that exists or cannot be written. No partial folder is left.
    """
    refuse_there(path)
    partial = partial_of(path)
    try:
        partial.mkdir(parents=True)
        yield partial
        os.rename(partial, path)
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}; choose another place, or make room there"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def checksum(values: dict) -> str:
    """Return the CRC-32, in hex, of the values as JSON, without the entry ``checksum``."""
    content = {name: value for name, value in values.items() if name != "checksum"}
    return f"{zlib.crc32(json.dumps(content, sort_keys=True).encode()):08x}"


def put_files(files: dict[Path, bytes]) -> list[Path]:
    """Write each file under a temporary name, then rename all in order; names that end in ``.gz`` are gzipped.

    Equal contents give equal bytes: gzip files have no time. Raise DataError for a path that cannot be written. No partial
    files are left.
    """
    partials = {}
    try:
        for path, data in files.items():
            if path.is_dir():
                raise DataError(f"{path} is a folder; give the name of a file")
            path.parent.mkdir(parents=True, exist_ok=True)
            partials[path] = partial_of(path)
            partials[path].write_bytes(
                gzip.compress(data, LEVEL, mtime=0) if path.suffix.lower() == ".gz" else data
            )
        for path, partial in partials.items():
            os.replace(partial, path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}; choose another place") from error
    finally:
        for partial in partials.values():
            partial.unlink(missing_ok=True)
    return list(files)


class SavedByHash:
    """Base class of `Corpus` and `Records`: data in memory, saved in a file named by their content hash."""

    beside: ClassVar[tuple[str, ...]] = ()
    """Fields that neither the content hash nor the file includes."""
    folder: ClassVar[None] = None
    """The folder of shards; None for data in memory."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the data in a file that `save` wrote; raise DataError if it is missing, damaged or of another type."""
        return load_data(path, cls)

    def save(self, folder: str | Path) -> Path:
        """Write a file ``HASH.npz``, named by the content hash, unless the folder has that file; return its path.

        Arrays are not compressed: that took longer than all other work of creating a run. All other fields are JSON. Writing
        is atomic, and nothing is pickled.
        """
        path = Path(folder) / f"{self.content_hash}.npz"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            values = {
                field.name: getattr(self, field.name)
                for field in fields(self)
                if field.name not in self.beside
            }
            arrays = {
                name: value for name, value in values.items() if isinstance(value, np.ndarray)
            }
            about = {
                name: value
                for name, value in values.items()
                if name not in arrays and value is not None
            }
            try:
                text = json.dumps({"item": self.item, **about}).encode()
            except TypeError as error:
                raise DataError(
                    f"{self.name!r} cannot be stored ({error}); give texts or numbers, as 1987"
                ) from None
            with replacing(path) as file:
                np.savez(file, **arrays, about=np.frombuffer(text, np.uint8))
        return path

    def parts(self) -> tuple[Self, ...]:
        """The data themselves as a tuple of one; sharded data have several parts."""
        return (self,)

    @property
    def n_parts(self) -> int:
        """Number of parts: one."""
        return 1

    def in_memory(self) -> Self:
        """Return the data unchanged: they are in memory already."""
        return self

    def require_memory(self, reason: str) -> Self:
        """Return the data unchanged; on sharded data this method raises an error, which says the ``reason``."""
        return self

    def check(self) -> None:
        """Do nothing: data in memory were checked when they were created."""

    @property
    def n_entries(self) -> int:
        """Number of entries that have a weight: document-word pairs of a corpus, or known cells of records."""
        return len(self.weights)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {', '.join(f'{n:,} {unit}' for unit, n in self.describe().items())})"


def refused_by_system(error: Exception) -> bool:
    """Return whether an error of reading comes from the system (disk, permissions), not from the content."""
    # damaged archives cause these by wrong offsets
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def load_data(path: str | Path, *kinds: type, mend: str = "save it again"):
    """Load data of one of the types ``kinds`` from a file that `SavedByHash.save` wrote.

    Raise DataError if the file is missing or damaged, if its content does not have the hash of its name, or if it has
    another type; ``mend`` ends the sentence.
    """
    path = Path(path)
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(arrays.pop("about").tobytes())
        item = about.pop("item")
        kind = next((kind for kind in kinds if kind.item == item), None)
        data = kind and kind(**arrays, **about)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path") from None
    except Exception as error:  # whatever numpy, zipfile, JSON and the type make of a damaged file
        if refused_by_system(error):
            raise DataError(f"{path} cannot be read: {error.strerror}") from error
        raise DataError(f"{path} is damaged ({type(error).__name__}); {mend}") from error
    if kind is None:
        raise DataError(
            f"{path} holds data by the {item}; {' or '.join(kind.__name__ for kind in kinds)} was wanted"
        )
    if data.content_hash != path.stem:
        raise DataError(f"{path} does not hold the content its name says; {mend}")
    return data


NAMES = "names"
"""The member that lists the names of all others: an archive has checksums of contents, but not of names."""


def write_arrays(path: Path, arrays: dict) -> None:
    """Write arrays and numbers to an npz file, atomically."""
    with replacing(path) as file:
        np.savez(file, **arrays, **{NAMES: sorted(arrays)})


def read_arrays(
    path: Path, start: str = "", mend: str = "; write it again"
) -> dict[str, np.ndarray]:
    """Return the arrays with names that begin with ``start``; the DataError for a damaged file ends with ``mend``."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            if not has_all(file):
                raise ValueError("other members than were written")
            return {
                name: file[name] for name in file.files if name != NAMES and name.startswith(start)
            }
    except Exception as error:  # whatever numpy and zipfile make of a damaged file
        raise DataError(f"{path} cannot be read ({error}){mend}") from error


def has_all(file) -> bool:
    """Return whether an open npz file has exactly the members that it lists."""
    return NAMES in file.files and set(file[NAMES].tolist()) == set(file.files) - {NAMES}
