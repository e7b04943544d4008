"""A folder of ``.txt`` files, one document per file, subfolders included."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from workbench.corpus.corpus import CorpusError
from workbench.corpus.formats.interface import Batch, ReadOptions, Stream
from workbench.data.available_memory import check_fits
from workbench.data.blocks import batched
from workbench.data.encodings import decoded

MEANING = "a folder of .txt files"
SUFFIXES = ()
TAKES = ("encoding",)


def read(folder: Path, read_options: ReadOptions) -> dict:
    """Return the texts of all .txt files in the folder and its subfolders, sorted by path, without hidden files.

    Titles are the file names, labels the subfolders if there are any.
    """
    files, n_bytes = _text_files(folder)
    check_fits(2 * n_bytes, f"{folder}", "give a folder with fewer files")
    texts = [_text_of(folder / file, read_options.encoding) for file in files]
    return {"texts": texts, **called(files)}


def stream(folder: Path, read_options: ReadOptions, progress: Callable[[float], None]) -> Stream:
    """Stream the texts that `read` returns, some files at a time."""
    files, _ = _text_files(folder)
    return stream_called(
        files, (_text_of(folder / file, read_options.encoding) for file in files), progress
    )


def stream_called(
    files: Sequence[PurePath], texts: Iterable[str], progress: Callable[[float], None]
) -> Stream:
    """Return a stream of the ``texts`` of files; titles and labels come from the paths ``files`` in a folder."""

    def batches() -> Iterator[Batch]:
        n = 0
        for batch in batched(texts, len):
            n += len(batch)
            progress(n / len(files))
            yield Batch(batch, {}, len(batch))

    return Stream(batches(), lambda: called(files))


def _text_files(folder: Path) -> tuple[list[Path], int]:
    """Return the sorted relative paths of the text files in a folder, and their total size in bytes."""
    try:
        files = [
            file.relative_to(folder)
            for file in folder.rglob("*")
            if file.suffix.lower() == ".txt" and file.is_file()
        ]
        files = sorted(
            file for file in files if not any(part.startswith(".") for part in file.parts)
        )
        n_bytes = sum((folder / file).stat().st_size for file in files)
    except OSError as error:  # what was listed is gone by now, or is a link to itself
        raise CorpusError(f"{error.filename or folder} cannot be read: {error.strerror}") from None
    if not files:
        raise CorpusError(
            f"{folder} has no .txt file, one per document was wanted; for another format give the file itself"
        )
    return files, n_bytes


def called(files: Sequence[PurePath]) -> dict:
    """Return the titles (file names) and labels (subfolders) of documents, from their files' paths in a folder."""
    titles = [file.stem for file in files]
    if len(set(titles)) < len(titles):
        titles = [file.with_suffix("").as_posix() for file in files]
    labels = [file.parent.as_posix() for file in files]
    labels = None if set(labels) == {"."} else ["" if label == "." else label for label in labels]
    return {"titles": titles, "labels": labels}


def _text_of(file: Path, encoding: str) -> str:
    """Return the text of one file of a folder; an empty file is an empty document."""
    try:
        return decoded(file.read_bytes(), file, encoding)
    except OSError as error:
        raise CorpusError(f"{file} cannot be read: {error.strerror}") from None
