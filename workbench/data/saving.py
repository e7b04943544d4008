"""Write files atomically: text encoded, data in npz files named by their content hash; and locks of open files."""

import contextlib
import errno
import gzip
import json
import os
import secrets
import shutil
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import BinaryIO, ClassVar, Self

import numpy as np

from workbench.errors import DataError

LEVEL = 6  # of gzip: 9 takes four times as long for 3 % less at most


def encoded(text: str, path: Path) -> bytes:
    """Return the text in UTF-8, which every reader expects."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise DataError(
            f"{path} cannot hold the character {character!r}, which is no text; take it out of the corpus"
        ) from None


def not_a_line(strings: Iterable[str]) -> int | None:
    """Return the index of the first string that is not one line of text; None when all are."""
    wrong = (
        number
        for number, text in enumerate(strings)
        if text != text.strip() or not text or "\n" in text or text[0] == "\ufeff"
    )
    return next(wrong, None)


def partial_of(path: Path) -> Path:
    """Return an unused temporary path beside the path, to be renamed to it once written."""
    return path.with_name(f".{path.name}-{secrets.token_hex(8)}.partial")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that replaces the path when the block ends: whole, or not at all."""
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
    """Raise an error for a path that exists."""
    if path.exists():
        raise DataError(f"{path} is there already; choose another place, or delete it")


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder that is renamed to the path when the block ends: whole, or not at all.

    A path that is there is refused, and a place that cannot be written is a DataError; nothing half-written is left.
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
    """Return the CRC-32, in hex, of what is stored as JSON without its entry ``checksum``."""
    content = {name: value for name, value in values.items() if name != "checksum"}
    return f"{zlib.crc32(json.dumps(content, sort_keys=True).encode()):08x}"


def put_files(files: dict[Path, bytes]) -> list[Path]:
    """Write every file under a temporary name and rename them in order; gzip those whose names end in ``.gz``.

    The same contents give the same bytes: no time is written into a gzip file. A place that cannot be written is a DataError,
    and nothing is left half-written.
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
    """Base of `Corpus` and `Records`: data in memory, saved in a file named by their content hash."""

    beside: ClassVar[tuple[str, ...]] = ()
    """Fields that are no part of the content, and are left out of the file."""
    folder: ClassVar[None] = None
    """Where shards would lie."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the data in a file that `save` wrote; a DataError where it is missing, damaged or of another type."""
        return load_data(path, cls)

    def save(self, folder: str | Path) -> Path:
        """Write ``HASH.npz``, named by the content hash, into the folder unless it exists; return its path.

        Arrays as they are, for to compress them took longer than all else in making a run; everything else as JSON. The file
        is whole or not there, and holds no pickled objects.
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
        """Return the data as a sequence of parts: these, in memory as they are."""
        return (self,)

    @property
    def n_parts(self) -> int:
        """Parts: one."""
        return 1

    def in_memory(self) -> Self:
        """Return the data themselves, which are in memory."""
        return self

    def require_memory(self, what: str) -> Self:
        """Return the data themselves; for a corpus in shards raise the error that it has no ``what``."""
        return self

    def check(self) -> None:
        """Do nothing: data in memory were checked when they were made."""

    @property
    def n_entries(self) -> int:
        """Entries that have a weight: pairs, or cells."""
        return len(self.weights)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {', '.join(f'{n:,} {what}' for what, n in self.describe().items())})"


def refused_by_system(error: Exception) -> bool:
    """Return whether the system, not the content, prevents reading: a failing disk, no permission."""
    # as damaged archives name wrong places
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def load_data(path: str | Path, *kinds: type, mend: str = "save it again"):
    """Return the data in a file that `SavedByHash.save` wrote, of one of these types; ``mend`` ends the error.

    A missing or damaged file, or one that holds something else than its name or the caller says, is a DataError.
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
"""The member that names all others: the archive has a checksum of what is in each, and none of what they are called."""


def write_arrays(path: Path, arrays: dict) -> None:
    """Write arrays and numbers to the file, or leave it as it was."""
    with replacing(path) as file:
        np.savez(file, **arrays, **{NAMES: sorted(arrays)})


def read_arrays(
    path: Path, start: str = "", mend: str = "; write it again"
) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with ``start``; a DataError, ended by ``mend``, where the file is damaged."""
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
    """Return whether an open archive has exactly the members that it lists."""
    return NAMES in file.files and set(file[NAMES].tolist()) == set(file.files) - {NAMES}


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

HELD = (errno.EAGAIN, errno.EACCES)
"""What the system answers where another process holds the lock."""
CLOSED_IN_CHILDREN = getattr(os, "O_CLOEXEC", 0)
"""Flag of `os.open`; Windows closes files in children anyway."""


def try_lock(file, shared: bool = False) -> bool:
    """Lock an open file, or file number, unless another process has; return whether it is locked.

    shared : do several processes hold the lock at once?
    Raises OSError where the file system, or the operating system, has no such locks.
    """
    if fcntl is None:
        raise OSError(
            errno.ENOLCK,
            "the operating system has no locks that a process inherits; on Windows use WSL",
        )
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in HELD:
            return False
        raise
    return True
