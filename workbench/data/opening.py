"""Reading bytes, text and lines of a data file, plain or gzipped; each error is one sentence."""

import gzip
import os
import zlib
from pathlib import Path

from workbench.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PACKAGE = Path(__file__).resolve().parents[1]


def data_folders() -> list[Path]:
    """The folders that the environment variable WORKBENCH_DATA names."""
    return [Path(folder) for folder in os.environ.get("WORKBENCH_DATA", "").split(os.pathsep) if folder]


def bundled_folders(name: str) -> list[Path]:
    """Where the files of bundled data may be: in an installed package, in a clone."""
    return [PACKAGE / "_data" / name, PACKAGE.parent / "data" / name]


def read_bytes(path: Path) -> bytes:
    """All bytes of the file, unpacked when it is gzipped (known by its first two bytes, not by its name).

    A file that is missing, unreadable or empty is refused, and a gzip stream that is damaged or ends early.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    if data.startswith(GZIP_MAGIC):
        try:
            data = gzip.decompress(data)
        except EOFError:
            line = 1 + zlib.decompressobj(wbits=31).decompress(data).count(b"\n")
            raise DataError(f"{path}, line {line}: the compressed file ends early here; it is truncated, fetch it "
                            "again") from None
        except (OSError, zlib.error) as error:
            raise DataError(f"{path} is a damaged gzip file ({error}); fetch it again") from None
    if not data.removeprefix(BYTE_ORDER_MARK).strip():
        raise DataError(f"{path} is empty; a file with data was wanted")
    return data


def first_bytes(path: Path) -> bytes:
    """The first few kilobytes, unpacked: enough to recognise a format; b"" when there is nothing to recognise."""
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == GZIP_MAGIC
        with gzip.open(path) if packed else open(path, "rb") as file:
            return file.read(4096)
    except (OSError, EOFError, zlib.error):
        return b""  # read_bytes says what is wrong


def read_text(path: Path) -> str:
    """The file as text; UTF-8, with or without a byte order mark. A byte that is not UTF-8 is refused with its line."""
    return decoded(read_bytes(path), path)


def decoded(data: bytes, path: Path) -> str:
    """The bytes of a file as text."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the file with the encoding UTF-8"
        ) from None


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
