"""A zip archive of ``.txt`` files, one document per file, subfolders included; nothing is unpacked to disk."""

import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from workbench.corpus.corpus import CorpusError
from workbench.corpus.formats.folder import called, stream_called
from workbench.corpus.formats.interface import ReadOptions, Stream
from workbench.data.available_memory import check_fits
from workbench.data.encodings import decoded
from workbench.data.opening import read_bytes, refuse_device
from workbench.data.saving import refused_by_system

MEANING = "a zip of .txt files"
SUFFIXES = (".zip",)
CERTAIN = True
TAKES = ("encoding",)
MAGIC = b"PK\x03\x04"
NAME_LENGTH, NAME = slice(26, 28), 30
"""Byte offsets in the header of a member: of the length of its name, and of the name."""
HIDDEN = (".", "__MACOSX")
"""Beginnings of names that archivers add."""
ENCRYPTED = 1


def looks_like(start: bytes, read_options: ReadOptions) -> bool:
    """Return whether the file is a zip archive other than an npz file, judged by its first member."""
    name = start[NAME : NAME + int.from_bytes(start[NAME_LENGTH], "little")]
    return start.startswith(MAGIC) and not name.endswith(b".npy")


def read(path: Path, read_options: ReadOptions) -> dict:
    """Return the texts of all .txt files in the archive, sorted by name, without hidden files.

    Titles are the file names, labels the subfolders if there are any; a folder that holds all files is not a label. Raise
    an error for a member whose name leads out of the archive, and for texts that do not fit into memory.
    """
    with _open_archive(io.BytesIO(read_bytes(path)), path) as archive:
        members = _members(archive, path)
        check_fits(
            2 * sum(member.file_size for member in members.values()),
            f"{path}",
            "give an archive with fewer texts",
        )
        texts = [
            _text_of(archive, member, path, read_options.encoding) for member in members.values()
        ]
    return {"texts": texts, **called(_relative_paths(list(members)))}


def stream(path: Path, read_options: ReadOptions, progress: Callable[[float], None]) -> Stream:
    """Stream the texts that `read` returns, some archive members at a time."""
    with _open_archive(path, path) as archive:
        members = _members(archive, path)

    def texts() -> Iterator[str]:
        with _open_archive(path, path) as archive:
            yield from (
                _text_of(archive, member, path, read_options.encoding)
                for member in members.values()
            )

    return stream_called(_relative_paths(list(members)), texts(), progress)


@contextmanager
def _open_archive(file: Path | io.BytesIO, path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield the opened archive; raise a DataError that names ``path`` for any error of zipfile."""
    try:
        refuse_device(path)
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (CorpusError, MemoryError):
        raise
    except Exception as error:
        if refused_by_system(error):
            raise CorpusError(f"{path} cannot be read: {error.strerror}") from None
        raise CorpusError(
            f"{path} is damaged, or no zip archive ({str(error) or type(error).__name__}); make it again"
        ) from None


def _members(archive: zipfile.ZipFile, path: Path) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """Return the text files in the archive, keyed by name and sorted."""
    members = {}
    for member in archive.infolist():
        name = PurePosixPath(member.filename.replace("\\", "/"))
        hidden = any(part.startswith(HIDDEN) and part != ".." for part in name.parts)
        if member.is_dir() or name.suffix.lower() != ".txt" or hidden:
            continue
        if name.is_absolute() or ".." in name.parts:
            raise CorpusError(
                f"{path} has a file {member.filename!r}, a name that leads out of the archive; make it again of "
                "a folder of .txt files"
            )
        if name in members:
            raise CorpusError(
                f"{path} has two files {member.filename!r}; make it again of a folder of .txt files"
            )
        members[name] = member
    if not members:
        raise CorpusError(
            f"{path} has no .txt file, one per document was wanted; for another format give the file itself"
        )
    return dict(sorted(members.items()))


def _text_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, encoding: str) -> str:
    """Return the text of one file in the archive; reading stops at the size that the archive states."""
    if member.flag_bits & ENCRYPTED:
        raise CorpusError(f"{path} is encrypted; make it again without a password")
    try:
        content = archive.read(member)
    except NotImplementedError:
        sentence = (
            f"{path} is compressed by a method that cannot be read here; compress it with deflate"
        )
        raise CorpusError(sentence) from None
    return decoded(content, path / member.filename, encoding)


def _relative_paths(names: list[PurePosixPath]) -> list[PurePosixPath]:
    """Return the paths without the leading folders common to all of them."""
    while len(tops := {name.parts[0] for name in names}) == 1 and all(
        len(name.parts) > 1 for name in names
    ):
        names = [name.relative_to(*tops) for name in names]
    return names
