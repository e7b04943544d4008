"""Write the folder of a sharded corpus piece by piece; `workbench.corpus.shards.sharded` describes its files."""

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import INT32_MAX, MOST_TOKENS
from workbench.data.stored_texts import GrowingArray, TextsWriter, text_files
from workbench.errors import DataError

SHARD_PAIRS = 2**21
"""A shard ends with the document at which it reaches this many pairs, so that shards depend only on the corpus."""
MANIFEST = "corpus.json"
VERSION = 1
TEXTS = ("vocabulary", "titles")
VALUES = ("authors", "labels", "times", "sequence")
"""Fields with one JSON value per document."""
PARTS = {"indptr": np.int64, "words": np.int32, "counts": np.int32}


class ShardWriter:
    """Writer of a sharded corpus: add documents in order and text fields in any order, then call `finish`.

    Parameters
    ----------
    folder : Path
        Empty; see `workbench.data.saving.new_folder`.
    n_words : int
        Size of the vocabulary.
    """

    def __init__(self, folder: Path, n_words: int):
        self.folder, self.n_words = folder, n_words
        self._open = ExitStack()
        self._texts: dict[str, TextsWriter] = {}
        self._inputs: dict[str, GrowingArray] = {}
        self._fields_taken: tuple[list[str], list[str]] = [], []
        self._shard: dict[str, GrowingArray] | None = None
        self._document_tokens = self._array("document_tokens", np.int64)
        self._word_tokens = np.zeros(n_words, np.int64)
        self.bounds, self.first_pairs, self.first_tokens = [0], [0], [0]
        self.n_documents = self._n_pairs = self.n_tokens = 0

    def close(self) -> None:
        """Write what is buffered and close the files."""
        self._open.close()

    def add(self, indptr: np.ndarray, words: np.ndarray, counts: np.ndarray) -> None:
        """Add the next documents, given by indptr (document + 1,), words (pair,) and counts (pair,).

        indptr begins with 0; words ascend within each document.
        """
        first = 0
        while first < len(indptr) - 1:
            shard = self._shard or self._begin()
            n_free = SHARD_PAIRS - len(shard["words"])
            last = min(int(np.searchsorted(indptr, indptr[first] + n_free)), len(indptr) - 1)
            pairs = slice(indptr[first], indptr[last])
            self._add(shard, indptr[first : last + 1], words[pairs], counts[pairs])
            first = last
            if len(shard["words"]) >= SHARD_PAIRS:
                self._end()

    @property
    def fields(self) -> list[str]:
        """Names of the text fields for which texts were added."""
        return sorted(self._texts)

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs for which values were added."""
        return list(self._inputs)

    def texts(self, field: str) -> TextsWriter:
        """Return the writer of one text field: vocabulary, titles, authors, labels, times or sequence."""
        if field not in self._texts:
            self._texts[field] = TextsWriter(self.folder / field, as_json=field in VALUES)
            self._open.callback(self._texts[field].close)
        return self._texts[field]

    def inputs(self, name: str) -> GrowingArray:
        """Return the writer of the values of one input, which must be finite."""
        if name not in self._inputs:
            self._inputs[name] = self._array(f"input-{len(self._inputs)}", np.float64)
        return self._inputs[name]

    def take(self, folder: Path, fields: list[str], input_names: list[str]) -> None:
        """Hard-link or copy the files of these text fields and inputs from the folder of another corpus into this one."""
        for field in fields:
            for file in text_files(folder / field):
                link(file, self.folder / file.name)
        for column in range(len(input_names)):
            link(folder / f"input-{column}.npy", self.folder / f"input-{column}.npy")
        self._fields_taken = list(fields), list(input_names)

    def finish(self, name: str, held_out_rows: str | None, reading: dict | None) -> dict:
        """Write the remaining files; return the manifest, still without hashes, for `sharded.finish` to complete and write."""
        self._end()
        self._array("word_tokens", np.int64).add(self._word_tokens)
        self.close()
        lengths = {"vocabulary": self.n_words} | dict.fromkeys(
            (*VALUES, "titles"), self.n_documents
        )
        for field, texts in self._texts.items():
            if len(texts) != lengths[field]:
                raise DataError(
                    f"{field} must have {lengths[field]} entries; there are {len(texts)}"
                )
        return {
            "format": "workbench sharded corpus",
            "version": VERSION,
            "name": name,
            "held_out_rows": held_out_rows,
            "reading": reading,
            "n_words": self.n_words,
            "bounds": self.bounds,
            "first_pairs": self.first_pairs,
            "first_tokens": self.first_tokens,
            "fields": sorted({*self.fields, *self._fields_taken[0]}),
            "input_names": self._fields_taken[1] or self.input_names,
        }

    def _array(self, stem: str, dtype: np.typing.DTypeLike) -> GrowingArray:
        array = GrowingArray(self.folder / f"{stem}.npy", dtype)
        self._open.callback(array.close)
        return array

    def _begin(self) -> dict[str, GrowingArray]:
        stem = shard_stem(len(self.bounds) - 1)
        self._shard = {part: self._array(f"{stem}.{part}", dtype) for part, dtype in PARTS.items()}
        self._shard["indptr"].add([0])
        return self._shard

    def _add(
        self,
        shard: dict[str, GrowingArray],
        indptr: np.ndarray,
        words: np.ndarray,
        counts: np.ndarray,
    ) -> None:
        if counts.max(initial=0) > INT32_MAX:
            raise DataError(
                f"a count may not exceed {INT32_MAX}; the largest is {int(counts.max())}"
            )
        shard["indptr"].add(indptr[1:] - indptr[0] + len(shard["words"]))
        shard["words"].add(words)
        shard["counts"].add(counts)
        before = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=before[1:])
        tokens = np.diff(before[indptr - indptr[0]])
        self._document_tokens.add(tokens)
        self._word_tokens += np.bincount(words, weights=counts, minlength=self.n_words).astype(
            np.int64
        )
        self.n_documents += len(tokens)
        self._n_pairs += len(words)
        self.n_tokens += int(before[-1])
        if self.n_tokens > MOST_TOKENS:
            raise DataError(
                f"a corpus may have {MOST_TOKENS} tokens; these are {self.n_tokens} or more"
            )

    def _end(self) -> None:
        if self._shard is not None:
            for array in self._shard.values():
                array.close()
            self._shard = None
            self.bounds.append(self.n_documents)
            self.first_pairs.append(self._n_pairs)
            self.first_tokens.append(self.n_tokens)


def link(source: Path, target: Path) -> None:
    """Make a hard link, or a copy if the file system has no hard links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def shard_stem(shard: int) -> str:
    """Return the beginning of the file names of a shard: "shard-00000"."""
    return f"shard-{shard:05d}"
