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
    """The folders that the environment variable WORKBENCH_DATA names."""
    return [
        Path(folder) for folder in os.environ.get("WORKBENCH_DATA", "").split(os.pathsep) if folder
    ]


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
    """All bytes of a file, unpacked; refused as soon as they are more than half of the memory that is available."""
    packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
    _check_size(path, 0 if packed else os.fstat(file.fileno()).st_size, available_memory())
    return b"".join(bounded(_unpacked(file, path) if packed else _blocks(file), path))


def bounded(blocks: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """The same blocks; refused as soon as they are more than half of the memory that is available."""
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


def byte_blocks(path: Path, told: Callable[[float], None] | None = None) -> Iterator[bytes]:
    """The bytes of the file, unpacked as by `read_bytes`, a block at a time; ``told`` is called with the share that is read."""
    try:
        refuse_device(path)
        size = path.stat().st_size
        with open(path, "rb") as file:
            packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
            for block in _unpacked(file, path) if packed else iter(partial(file.read, BLOCK), b""):
                if told is not None:
                    told(file.tell() / size)
                yield block
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def line_blocks(path: Path, told: Callable[[float], None] | None = None) -> Iterator[bytes]:
    """As `byte_blocks`, of whole lines, about a megabyte each; a line of more than `LONGEST_LINE` bytes is refused."""
    rest, n_lines = [], 0
    for block in byte_blocks(path, told):
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
    """The first blocks of a file joined, enough for what stands before its rows, and the others; an empty file is refused."""
    head = b""
    for block in blocks:
        head += block
        if len(head) >= HEAD:
            break
    if not head.removeprefix(BYTE_ORDER_MARK).strip():
        raise _empty(path)
    return head, blocks


def text_of(
    path: Path, encoding: str, newline: str, told: Callable[[float], None] | None = None
) -> io.TextIOWrapper:
    """The file as text that is read piece by piece, in an encoding that `encoding_of` gives.

    ``newline``: "\\n" for lines that end in it alone, "" for those that csv reads.
    """
    return io.TextIOWrapper(
        io.BufferedReader(_Unpacked(byte_blocks(path, told)), BLOCK), encoding, newline=newline
    )


def text_lines(file: io.TextIOBase, path: Path) -> Iterator[str]:
    """The lines of a text, with their ends; one of more than `LONGEST_LINE` characters is refused."""
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
    """Blocks of bytes as a file that is read."""

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
    """The bytes of a file: at once where it has a size, else block by block."""
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
    """The file as text; see `workbench.data.encodings.decoded`."""
    text = decoded(read_bytes(path), path, encoding)
    if not text.strip():  # of more kinds of blanks than bytes have
        raise _empty(path)
    return text


def encoding_of(path: Path, encoding: str = STRICT) -> str:
    """The name of the encoding by which `read_text` reads a file, all of which is looked at, block by block.

    Refuses what `read_text` refuses: an empty file, a byte that is none of the encoding.
    """
    if not any(block.removeprefix(BYTE_ORDER_MARK).strip() for block in byte_blocks(path)):
        raise _empty(path)
    return named_encoding(lambda: byte_blocks(path), path, encoding)


def read_lines(path: Path, wanted: int | None, what: str, mend: str = "") -> list[str]:
    """One string a line: as many as wanted (None: as many as there are), none of them empty.

    ``what`` names the lines in an error ("words"), ``mend`` ends its sentence.
    """
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if wanted is not None and len(lines) != wanted:
        raise DataError(f"{path} has {len(lines)} {what} where {wanted} were wanted; {mend}")
    if "" in lines:
        raise DataError(
            f"{path}, line {lines.index('') + 1}: the line is empty; one of {len(lines)} {what} was wanted"
        )
    return lines
