"""Reading bytes, text and lines of a data file, plain or gzipped; each error is one sentence."""

import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from workbench.data.available_memory import available_memory
from workbench.data.blocks import start_of
from workbench.data.encodings import STRICT, decoded, named_encoding
from workbench.data.reading import note
from workbench.errors import DataError
from workbench.numbers import format_size

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLOCK, FIRST = 1 << 20, 1 << 12
"""Bytes that are read or decompressed at a time; bytes from which a format is recognised."""
HEAD = 1 << 16
"""Bytes within which the header of a file of numbers must end."""
LONGEST_LINE = 1 << 26
"""Maximum of characters in a line of a file that is read line by line, since a line is in memory as a whole."""
PACKAGE = Path(__file__).resolve().parents[1]


def data_folders() -> list[Path]:
    """Return the folders listed in the environment variable WORKBENCH_DATA."""
    return [
        Path(folder) for folder in os.environ.get("WORKBENCH_DATA", "").split(os.pathsep) if folder
    ]


def bundled_folders(name: str) -> list[Path]:
    """Return the folders where bundled data may be: one in an installed package, one in a clone of the repository."""
    return [PACKAGE / "_data" / name, PACKAGE.parent / "data" / name]


def path_of(name: str | os.PathLike) -> Path:
    """Return the path with ~ expanded; raise an error for an impossible path (null character, too long, unknown user)."""
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
    """Return all bytes of the file, decompressed if its first two bytes are those of gzip.

    Raise an error for a file that is missing, unreadable, a device or empty, for a damaged gzip stream, and for more bytes
    than half of the available memory, since parsing needs at least as much again.
    """
    data = b"".join(bounded(byte_blocks(path), path))
    if not data.removeprefix(BYTE_ORDER_MARK).strip():
        raise _empty_error(path)
    return data


def refuse_device(path: Path) -> None:
    """Raise an error for devices and sockets, which never end or hold no data."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISFIFO(mode)):
        raise DataError(f"{path} is a device; a file was wanted")


def first_bytes(path: Path, n_bytes: int = FIRST) -> bytes:
    """Return the first bytes of a file, decompressed, to recognise its format; b"" if they cannot be read.

    Nothing is read from a pipe, which can be read only once.
    """
    start = b""
    try:
        for block in byte_blocks(path) if path.is_file() else ():
            start += block
            if len(start) >= n_bytes:
                break
    except (OSError, DataError):
        pass  # read_bytes says what is wrong
    return start[:n_bytes]


def bounded(blocks: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """Yield the blocks of a file; raise an error if the file, or its content unpacked, exceeds half the available memory."""
    memory, n_bytes = available_memory(), 0
    file_size = os.path.getsize(path) if os.path.isfile(path) else 0
    for block in blocks:
        n_bytes += len(block)
        if max(n_bytes, file_size) > memory.n_bytes // 2:
            raise DataError(
                f"{path} has {format_size(max(n_bytes, file_size))} or more, of which twice as much is needed to read it, and "
                f"{memory.describe()}; give a part of it, or more memory"
            )
        yield block


def byte_blocks(path: Path, progress: Callable[[float], None] | None = None) -> Iterator[bytes]:
    """Yield the file's bytes in blocks, decompressed if gzipped; ``progress`` is called with the fraction read."""
    try:
        refuse_device(path)
        size = path.stat().st_size
        with open(path, "rb") as file:
            packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
            for block in _unpack(file, path) if packed else iter(partial(file.read, BLOCK), b""):
                if progress is not None:
                    progress(file.tell() / size)
                yield block
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def line_blocks(path: Path, progress: Callable[[float], None] | None = None) -> Iterator[bytes]:
    """Yield blocks of whole lines, decompressed if gzipped; raise an error for a line over `LONGEST_LINE` bytes."""
    rest, n_lines = [], 0
    for block in byte_blocks(path, progress):
        end = block.rfind(b"\n") + 1
        if end:
            yield (lines := b"".join((*rest, block[:end])))
            n_lines += lines.count(b"\n")
            rest = []
        rest.append(block[end:])
        if sum(map(len, rest)) > LONGEST_LINE:
            raise _long_line_error(path, n_lines + 1)
    if any(rest):
        yield b"".join(rest)


def with_head(blocks: Iterator[bytes], path: Path) -> tuple[bytes, Iterator[bytes]]:
    """Return the beginning of a file, long enough for its header, and its other blocks; raise an error for an empty file."""
    head = start_of(blocks, HEAD)
    if not head.removeprefix(BYTE_ORDER_MARK).strip():
        raise _empty_error(path)
    return head, blocks


def text_of(
    path: Path, encoding: str, newline: str, progress: Callable[[float], None] | None = None
) -> io.TextIOWrapper:
    """Return an open text stream over the file, plain or gzipped, in an encoding from `encoding_of`.

    ``newline``: "\\n" if only that ends a line, "" for Python's csv module.
    """
    return io.TextIOWrapper(
        io.BufferedReader(_UnpackedFile(byte_blocks(path, progress)), BLOCK),
        encoding,
        newline=newline,
    )


def text_lines(file: io.TextIOBase, path: Path) -> Iterator[str]:
    """Yield the lines of a text file with their line ends; raise an error for a line over `LONGEST_LINE` characters."""
    n_lines = 0
    while line := file.readline(LONGEST_LINE + 1):
        n_lines += 1
        if len(line) > LONGEST_LINE:
            raise _long_line_error(path, n_lines)
        yield line


def _long_line_error(path: Path, line: int) -> DataError:
    return DataError(
        f"{path}, line {line}: a line of at most {LONGEST_LINE:,} characters was wanted and a longer one came; "
        "check that documents are separated by the ends of lines"
    )


class _UnpackedFile(io.RawIOBase):
    """A file object that reads from an iterator of blocks of bytes."""

    def __init__(self, blocks: Iterator[bytes]):
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        while not self._rest:
            if (block := next(self._blocks, None)) is None:
                return 0
            self._rest = memoryview(block)
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


def _unpack(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield the decompressed content of a gzip file, block by block."""
    n_lines = 0
    try:
        stream = gzip.GzipFile(fileobj=file)
        while block := stream.read1(BLOCK):  # unlike read, gives what comes before a truncated end
            n_lines += block.count(b"\n")
            yield block
    except (gzip.BadGzipFile, zlib.error) as error:
        reason = str(error).rpartition(": ")[2]
        raise DataError(f"{path} is a damaged gzip file ({reason}); fetch it again") from None
    except EOFError:
        raise DataError(
            f"{path}, line {n_lines + 1}: the compressed file ends early here; it is truncated, fetch it again"
        ) from None


def _empty_error(path: Path) -> DataError:
    return DataError(f"{path} is empty; a file with data was wanted")


def read_text(path: Path, encoding: str = STRICT) -> str:
    """Return the file as text; see `workbench.data.encodings.decoded`."""
    text = decoded(read_bytes(path), path, encoding)
    if not text.strip():  # of more kinds of blanks than bytes have
        raise _empty_error(path)
    return text


def encoding_of(path: Path, encoding: str = STRICT) -> str:
    """Return the name of the encoding in which `read_text` reads a file; the file is read once, block by block.

    Raise the errors of `read_text`: for an empty file, or a byte that is invalid in the encoding.
    """
    if not any(block.removeprefix(BYTE_ORDER_MARK).strip() for block in byte_blocks(path)):
        raise _empty_error(path)
    name = named_encoding(lambda: byte_blocks(path), path, encoding)
    note("found", encoding=name)
    return name


def read_lines(path: Path, n_lines: int | None, items: str, mend: str = "") -> list[str]:
    """Return the lines of a file; raise an error for an empty line, or if there are not ``n_lines`` (None: any number).

    ``items`` names the lines in an error ("words"), ``mend`` ends its sentence.
    """
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if n_lines is not None and len(lines) != n_lines:
        raise DataError(f"{path} has {len(lines)} {items} where {n_lines} were wanted; {mend}")
    if "" in lines:
        raise DataError(
            f"{path}, line {lines.index('') + 1}: the line is empty; one of {len(lines)} {items} was wanted"
        )
    return lines
