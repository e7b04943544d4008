"""Files of arrays, texts and JSON values that are written piece by piece; single texts are read by their offsets."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path

import numpy as np


class GrowingArray:
    """An .npy file to which entries are appended; it is valid once closed.

    NumPy leaves space in the header for a length of 21 digits, so the header is overwritten at the end.
    """

    def __init__(self, path: Path, dtype: np.typing.DTypeLike):
        self._dtype, self._n = np.dtype(dtype).newbyteorder("<"), 0
        self._file = open(path, "wb")  # noqa: SIM115  closed by close
        self._write_header()

    def add(self, entries: np.ndarray) -> None:
        """Append entries (entry,), which must be numbers that the array's type can hold."""
        entries = np.ascontiguousarray(entries, self._dtype)
        if len(entries):
            self._file.write(entries)
        self._n += len(entries)

    def __len__(self) -> int:
        return self._n

    def close(self) -> None:
        """Write the final length into the header and close the file; a second call does nothing."""
        if self._file.closed:
            return
        try:
            self._file.seek(0)
            self._write_header()
        finally:
            self._file.close()

    def _write_header(self) -> None:
        about = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self._n,),
        }
        np.lib.format.write_array_header_1_0(self._file, about)


BLOCK = 1 << 14
"""Entries that are decoded at a time when all are read."""
SURROGATES = "surrogatepass"
"""Error handler for lone surrogates, which some texts contain though they are invalid."""


class StoredTexts(Sequence):
    """A sequence of texts or JSON values in a file, each read when accessed; equal to a tuple of the same values.

    Parameters
    ----------
    content : (byte,) uint8
        All entries, one after the other.
    offsets : (entry + 1,) int64
        The byte at which each entry begins, and the end of the last.
    as_json : bool, default False
        Whether entries are JSON values, with tuples for lists; otherwise they are texts.
    """

    def __init__(self, content: np.ndarray, offsets: np.ndarray, as_json: bool = False):
        self._content, self._offsets, self._as_json = content, offsets, as_json

    @classmethod
    def open(cls, stem: Path, as_json: bool = False) -> "StoredTexts":
        """Open the two files that `TextsWriter` wrote, mapped into memory."""
        content, offsets = text_files(stem)
        n_bytes = content.stat().st_size
        content_bytes = (
            np.asarray(np.memmap(content, np.uint8, "r")) if n_bytes else np.empty(0, np.uint8)
        )
        return cls(
            content_bytes, np.asarray(np.load(offsets, mmap_mode="r", allow_pickle=False)), as_json
        )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, index):
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step != 1:
                return tuple(self[number] for number in range(first, last, step))
            return StoredTexts(
                self._content, self._offsets[first : max(first, last) + 1], self._as_json
            )
        index = range(len(self))[index]
        return self._value(self._content[self._offsets[index] : self._offsets[index + 1]].tobytes())

    def __iter__(self) -> Iterator:
        for first in range(0, len(self), BLOCK):
            ends = self._offsets[first : first + BLOCK + 1].tolist()
            content = self._content[ends[0] : ends[-1]].tobytes()
            for begin, end in pairwise(ends):
                yield self._value(content[begin - ends[0] : end - ends[0]])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | StoredTexts):
            return NotImplemented
        if isinstance(other, StoredTexts) and not self._as_json and not other._as_json:
            own_blocks, other_blocks = (
                (np.diff(texts._offsets), texts._content[texts._offsets[0] : texts._offsets[-1]])
                for texts in (self, other)
            )
            return all(map(np.array_equal, own_blocks, other_blocks))
        return len(self) == len(other) and all(
            own_blocks == other_blocks for own_blocks, other_blocks in zip(self, other, strict=True)
        )

    def __repr__(self) -> str:
        return repr(tuple(self))

    def _value(self, content: bytes):
        text = content.decode("utf-8", SURROGATES)
        return as_plain(json.loads(text)) if self._as_json else text


class NumberedTitles(Sequence):
    """The default titles of documents, as a sequence: "document 0", "document 1", …"""

    def __init__(self, numbers: range):
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index):
        return (
            NumberedTitles(self._numbers[index])
            if isinstance(index, slice)
            else f"document {self._numbers[index]}"
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedTitles):
            return self._numbers == other._numbers
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __repr__(self) -> str:
        return repr(tuple(self))


class TextsWriter:
    """Writer of texts, or values as JSON, to the two files that `StoredTexts` reads; must be closed."""

    def __init__(self, stem: Path, as_json: bool = False):
        content, offsets = text_files(stem)
        self.files = (content, offsets)
        self._file = open(content, "wb")  # noqa: SIM115  closed by close
        self._offsets = GrowingArray(offsets, np.int64)
        self._offsets.add([0])
        self._end, self._as_json = 0, as_json

    def add(self, values: Iterable) -> None:
        """Append the values; raise TypeError for one that JSON cannot hold."""
        to_text, entries = json.dumps if self._as_json else str, iter(values)
        while block := list(islice(entries, BLOCK)):
            parts = [to_text(value).encode("utf-8", SURROGATES) for value in block]
            ends = self._end + np.cumsum([len(part) for part in parts], dtype=np.int64)
            self._file.write(b"".join(parts))
            self._offsets.add(ends)
            self._end = int(ends[-1])

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def close(self) -> None:
        """Write what is still buffered and close both files."""
        try:
            self._file.close()
        finally:
            self._offsets.close()


def as_plain(value: object):
    """Return a JSON value with tuples in place of lists."""
    return tuple(map(as_plain, value)) if isinstance(value, list) else value


def text_files(stem: Path) -> tuple[Path, Path]:
    """Return the paths of two files: the texts, and their offsets."""
    return stem.with_name(f"{stem.name}.utf8"), stem.with_name(f"{stem.name}.offsets.npy")
