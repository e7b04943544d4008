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

from workbench.data.available_memory import AvailableMemory, available_memory
from workbench.data.encodings import STRICT, decoded, named_encoding
from workbench.errors import DataError
from workbench.numbers import format_size

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLOCK, FIRST = 1 << 20, 1 << 12
"""Bytes that are read, or unpacked, at a time; that a format is known by."""
HEAD = 1 << 16
"""Bytes in which all that stands before the rows of a file of numbers is looked for."""
LONGEST_LINE = 1 << 26
"""Characters of a line of a file that is read line by line: each is in memory as a whole."""
PACKAGE = Path(__file__).resolve().parents[1]


def data_folders() -> list[Path]:
    """Return the folders that the environment variable WORKBENCH_DATA names."""
    return [
        Path(folder) for folder in os.environ.get("WORKBENCH_DATA", "").split(os.pathsep) if folder
    ]


def bundled_folders(name: str) -> list[Path]:
    """Return the folders of bundled data: in an installed package, in a clone."""
    return [PACKAGE / "_data" / name, PACKAGE.parent / "data" / name]


def path_of(name: str | os.PathLike) -> Path:
    """Return the path with ~ expanded; raise an error where no file can have it: a null, too long, an unknown home."""
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
    """Return all bytes of the file, unpacked when its first two bytes are those of gzip.

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
    """Raise an error for devices and sockets, which never end or hold no data."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISFIFO(mode)):
        raise DataError(f"{path} is a device; a file was wanted")


def first_bytes(path: Path, n_bytes: int = FIRST) -> bytes:
    """Return the first bytes, unpacked: enough to recognise a format; b"" when there is nothing to recognise.

    Nothing is read from a pipe, which gives its bytes once.
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


def _bounded(file: BinaryIO, path: Path) -> bytes:
    """Return all bytes of a file, unpacked; raise an error beyond half of the available memory."""
    packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
    _check_size(path, 0 if packed else os.fstat(file.fileno()).st_size, available_memory())
    return b"".join(bounded(_unpacked(file, path) if packed else _blocks(file), path))


def bounded(blocks: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """Yield the blocks; raise an error beyond half of the available memory."""
    there, n_bytes = available_memory(), 0
    for block in blocks:
        n_bytes += len(block)
        _check_size(path, n_bytes, there)
        yield block


def _check_size(path: Path, n_bytes: int, there: AvailableMemory) -> None:
    if n_bytes > there.n_bytes // 2:
        raise DataError(
            f"{path} has {format_size(n_bytes)} or more, of which twice as much is needed to read it, and "
            f"{there.describe()}; give a part of it, or more memory"
        )


def byte_blocks(path: Path, progress: Callable[[float], None] | None = None) -> Iterator[bytes]:
    """Yield the bytes of the file, unpacked as by `read_bytes`, block by block; ``progress`` gets the share that is read."""
    try:
        refuse_device(path)
        size = path.stat().st_size
        with open(path, "rb") as file:
            packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
            for block in _unpacked(file, path) if packed else iter(partial(file.read, BLOCK), b""):
                if progress is not None:
                    progress(file.tell() / size)
                yield block
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def line_blocks(path: Path, progress: Callable[[float], None] | None = None) -> Iterator[bytes]:
    """Yield blocks as `byte_blocks` does, but of whole lines; a line over `LONGEST_LINE` bytes is an error."""
    rest, n_lines = [], 0
    for block in byte_blocks(path, progress):
        end = block.rfind(b"\n") + 1
        if end:
            yield (whole := b"".join((*rest, block[:end])))
            n_lines += whole.count(b"\n")
            rest = []
        rest.append(block[end:])
        if sum(map(len, rest)) > LONGEST_LINE:
            raise _too_long(path, n_lines + 1)
    if any(rest):
        yield b"".join(rest)


def with_head(blocks: Iterator[bytes], path: Path) -> tuple[bytes, Iterator[bytes]]:
    """Return the first blocks joined, enough for what precedes the rows, and the other blocks; an empty file is an error."""
    head = b""
    for block in blocks:
        head += block
        if len(head) >= HEAD:
            break
    if not head.removeprefix(BYTE_ORDER_MARK).strip():
        raise _empty(path)
    return head, blocks


def text_of(
    path: Path, encoding: str, newline: str, progress: Callable[[float], None] | None = None
) -> io.TextIOWrapper:
    """Return the file as text to be read piece by piece, in an encoding from `encoding_of`.

    ``newline``: "\\n" for lines that end in it alone, "" for those that csv reads.
    """
    return io.TextIOWrapper(
        io.BufferedReader(_Unpacked(byte_blocks(path, progress)), BLOCK), encoding, newline=newline
    )


def text_lines(file: io.TextIOBase, path: Path) -> Iterator[str]:
    """Yield the lines of a text with their ends; one over `LONGEST_LINE` characters is an error."""
    n_lines = 0
    while line := file.readline(LONGEST_LINE + 1):
        n_lines += 1
        if len(line) > LONGEST_LINE:
            raise _too_long(path, n_lines)
        yield line


def _too_long(path: Path, line: int) -> DataError:
    return DataError(
        f"{path}, line {line}: a line of at most {LONGEST_LINE:,} characters was wanted and a longer one came; "
        "check that documents are separated by the ends of lines"
    )


class _Unpacked(io.RawIOBase):
    """A readable file made of blocks of bytes."""

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


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Return the bytes of a file: in one piece where it has a size, else block by block."""
    return (
        iter([file.read()])
        if os.fstat(file.fileno()).st_size
        else iter(partial(file.read, BLOCK), b"")
    )


def _unpacked(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield the contents of a gzip file, block by block."""
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


def _empty(path: Path) -> DataError:
    return DataError(f"{path} is empty; a file with data was wanted")


def read_text(path: Path, encoding: str = STRICT) -> str:
    """Return the file as text; see `workbench.data.encodings.decoded`."""
    text = decoded(read_bytes(path), path, encoding)
    if not text.strip():  # of more kinds of blanks than bytes have
        raise _empty(path)
    return text


def encoding_of(path: Path, encoding: str = STRICT) -> str:
    """Return the name of the encoding in which `read_text` reads a file; the file is read once, block by block.

    Refuses what `read_text` refuses: an empty file, a byte that is none of the encoding.
    """
    if not any(block.removeprefix(BYTE_ORDER_MARK).strip() for block in byte_blocks(path)):
        raise _empty(path)
    return named_encoding(lambda: byte_blocks(path), path, encoding)


def read_lines(path: Path, n_lines: int | None, what: str, mend: str = "") -> list[str]:
    """Return one string a line: ``wanted`` of them (None: any number), none of them empty.

    ``what`` names the lines in an error ("words"), ``mend`` ends its sentence.
    """
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if n_lines is not None and len(lines) != n_lines:
        raise DataError(f"{path} has {len(lines)} {what} where {n_lines} were wanted; {mend}")
    if "" in lines:
        raise DataError(
            f"{path}, line {lines.index('') + 1}: the line is empty; one of {len(lines)} {what} was wanted"
        )
    return lines
