"""Reading bytes, text and lines of a data file, plain or gzipped; each error is one sentence."""

import os
import stat
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from workbench.data.available_memory import available_memory, format_size
from workbench.data.encodings import STRICT, decoded
from workbench.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP = 16 + zlib.MAX_WBITS
"""What zlib calls streams with the header and the checksum of gzip."""
BLOCK, PACKED, FIRST = 1 << 20, 1 << 16, 1 << 12
"""Bytes that are read, or unpacked, at a time; that are unpacked from; that a format is known by."""
PACKAGE = Path(__file__).resolve().parents[1]


def data_folders() -> list[Path]:
    """The folders that the environment variable WORKBENCH_DATA names."""
    return [Path(folder) for folder in os.environ.get("WORKBENCH_DATA", "").split(os.pathsep) if folder]


def bundled_folders(name: str) -> list[Path]:
    """Where the files of bundled data may be: in an installed package, in a clone."""
    return [PACKAGE / "_data" / name, PACKAGE.parent / "data" / name]


def path_of(name: str | os.PathLike) -> Path:
    """The path of that name, ~ expanded; refused where no file can have it: a null, too long, an unknown home."""
    try:
        path = Path(name).expanduser()
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return path
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"no file can be called {str(name)!r} ({reason}); check the path") from None
    return path


def read_bytes(path: Path) -> bytes:
    """All bytes of the file, unpacked when it is gzipped (known by its first two bytes, not by its name).

    A file that is missing, unreadable, a device or empty is refused, a gzip stream that is damaged or ends early, and more
    bytes than half of the memory that is available: whatever they are, more than as many again is needed to read them.
    """
    try:
        refuse_device(path)
        with open(path, "rb") as file:
            data = _bounded(file, path)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    if not data.removeprefix(BYTE_ORDER_MARK).strip():
        raise _empty(path)
    return data


def refuse_device(path: Path) -> None:
    """Refuses what never ends, or is no data: devices and sockets."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISFIFO(mode)):
        raise DataError(f"{path} is a device; a file was wanted")


def first_bytes(path: Path) -> bytes:
    """The first few kilobytes, unpacked: enough to recognise a format; b"" when there is nothing to recognise.

    Nothing is read from a pipe, which gives its bytes once.
    """
    try:
        if not path.is_file():
            return b""
        with open(path, "rb") as file:
            start = file.read(FIRST)
        return zlib.decompressobj(GZIP).decompress(start, FIRST) if start.startswith(GZIP_MAGIC) else start
    except (OSError, zlib.error):
        return b""  # read_bytes says what is wrong


def _bounded(file: BinaryIO, path: Path) -> bytes:
    """All bytes of a file, unpacked; refused as soon as they are more than half of the memory that is available."""
    there, n_bytes, blocks = available_memory(), 0, []

    def check(n_bytes: int) -> None:
        if n_bytes > there.n_bytes // 2:
            raise DataError(f"{path} has {format_size(n_bytes)} or more, of which twice as much is needed to read it, and "
                            f"{there.describe()}; give a part of it, or more memory")

    packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
    check(0 if packed else os.fstat(file.fileno()).st_size)
    for block in _unpacked(file, path) if packed else _blocks(file):
        n_bytes += len(block)
        check(n_bytes)
        blocks.append(block)
    return b"".join(blocks)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a file: at once where it has a size, else block by block."""
    return iter([file.read()]) if os.fstat(file.fileno()).st_size else iter(partial(file.read, BLOCK), b"")


def _unpacked(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """The contents of a gzip file, block by block: one stream after the other, with zeros behind the last."""
    stream, n_lines = zlib.decompressobj(GZIP), 0
    try:
        while packed := file.read(PACKED):
            while packed := packed.lstrip(b"\0") if stream.eof else packed:
                stream = zlib.decompressobj(GZIP) if stream.eof else stream
                yield (block := stream.decompress(packed, BLOCK))
                n_lines += block.count(b"\n")
                packed = stream.unconsumed_tail or stream.unused_data
    except zlib.error as error:
        reason = str(error).rpartition(": ")[2]
        raise DataError(f"{path} is a damaged gzip file ({reason}); fetch it again") from None
    if not stream.eof:
        raise DataError(f"{path}, line {n_lines + 1}: the compressed file ends early here; it is truncated, fetch it again")


def _empty(path: Path) -> DataError:
    return DataError(f"{path} is empty; a file with data was wanted")


def read_text(path: Path, encoding: str = STRICT) -> str:
    """The file as text; see `workbench.data.encodings.decoded`."""
    text = decoded(read_bytes(path), path, encoding)
    if not text.strip():  # of more kinds of blanks than bytes have
        raise _empty(path)
    return text


def read_lines(path: Path, wanted: int | None, what: str, mend: str = "") -> list[str]:
    """One string a line: as many as wanted (None: as many as there are), none of them empty.

    ``what`` names the lines in an error ("words"), ``mend`` ends its sentence.
    """
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if wanted is not None and len(lines) != wanted:
        raise DataError(f"{path} has {len(lines)} {what} where {wanted} were wanted; {mend}")
    if "" in lines:
        raise DataError(f"{path}, line {lines.index('') + 1}: the line is empty; one of {len(lines)} {what} was wanted")
    return lines
