"""A corpus in a folder of shards that are mapped into memory, for corpora that are larger than memory.

::

    FOLDER/corpus.json                      sizes, cuts, content hash; size and sha256 of every file; a checksum of its own
           shard-00000.indptr.npy           (document + 1,) int64, from 0 on in each shard
           shard-00000.words.npy, .counts.npy           (pair,) int32
           document_tokens.npy, word_tokens.npy         (document,), (word,) int64
           vocabulary.utf8, .offsets.npy                the words one after the other in UTF-8; (word + 1,) int64
           titles, labels, authors, times, sequence     likewise, if the corpus has them; all but titles as JSON
           input-0.npy …                                (document,) float64

A shard ends with the document at which it reaches 2^21 pairs, so that shards depend only on the corpus. The folder is
written under a temporary name and renamed. Its content hash is that of the same corpus as a `Corpus`; the spec of a run
records that it is in several shards. The ``table`` of a `Corpus` (texts as they were read) is not stored.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple

import numpy as np

from workbench.corpus.corpus import ROWWISE, TEXT_BYTES, AnyCorpus, Corpus, content_hash
from workbench.corpus.shards.shard_writer import (
    MANIFEST,
    TEXTS,
    VALUES,
    VERSION,
    ShardWriter,
    link,
    shard_stem,
)
from workbench.data.arrays import sealed
from workbench.data.available_memory import check_fits
from workbench.data.reading import hash_of
from workbench.data.saving import checksum, new_folder, partial_of
from workbench.data.stored_texts import NumberedTitles, StoredTexts
from workbench.errors import DataError

MEND = "convert the corpus again"
BLOCK = 1 << 20
"""Pairs that are read at a time."""
ARRAYS = ("indptr", "words", "counts", "documents", "tokens_before", "weights", "groups")
SORTED = ("by_word", "tokens_by_word", "by_sequence")
MADE = ("with_pairs", "of_documents", "pairs_of", "to_scipy", "to_dataframe")
IN_MEMORY = {
    **{name: f"its {name} are no array" for name in ARRAYS},
    **{name: f"{name} needs all documents at once" for name in SORTED},
    **{name: f"{name} makes one thing of all documents" for name in MADE},
}
"""Attributes that only a corpus in memory has → the reason."""


class Documents(NamedTuple):
    """Consecutive documents of a corpus as arrays of document-word pairs."""

    first: int  # number of the first document
    indptr: np.ndarray  # (document + 1,) int64, from 0 on
    words: np.ndarray  # (pair,) int32
    counts: np.ndarray  # (pair,) int32


def _stored_field(field: str) -> cached_property:
    """Return a cached property that reads a text field; if not stored, it is None (titles: the default ones)."""

    def entries(corpus: ShardedCorpus) -> StoredTexts | NumberedTitles | None:
        if field not in corpus.fields:
            return NumberedTitles(range(corpus.n_documents)) if field == "titles" else None
        with _reading(corpus.folder, f"{field}.offsets.npy"):
            return StoredTexts.open(corpus.folder / field, as_json=field in VALUES)

    return cached_property(entries)


class ShardedCorpus(AnyCorpus):
    """A corpus stored as a folder of shards, each a `Corpus` of consecutive documents.

    Made by `open` or `write`. The arrays of its folder are mapped into memory, read-only.

    Attributes
    ----------
    name : str
        What pages and file names call it.
    folder : Path
        The folder of its files.
    vocabulary : (word,) str
        A sequence that reads one word at a time; equal to a tuple of the same words.
    titles, authors, labels, times, sequence : (document,)
        As in a `Corpus`, but sequences that read one entry at a time; None for missing fields, except default titles.
    fields : list of str
        Names of the stored ones of these fields, vocabulary included.
    n_documents, n_tokens : int
        Number of documents, empty ones included, and of tokens, the sum of all counts.
    n_pairs, n_entries : int
        Number of document-word pairs, distinct words of a document, which are the entries that have a weight.
    bounds : (shard + 1,) int64
        The first document of each shard, and one after the last.
    first_pairs, first_tokens : (shard + 1,) int64
        Canonical number of the first pair and of the first token of each shard, and how many there are.
    word_tokens : (word,) int64
        Tokens of each word.
    document_tokens : (document,) int64
        Tokens of each document.
    """

    vocabulary, titles, authors, labels, times, sequence = map(_stored_field, (*TEXTS, *VALUES))
    table: ClassVar[None] = None
    """Sharded corpora do not keep the texts as they were read."""

    def __init__(self, folder: Path, manifest: dict):
        self.folder, self._manifest = folder, manifest
        self.name, self.held_out_rows = manifest["name"], manifest["held_out_rows"]
        self.input_names, self.reading = tuple(manifest["input_names"]), manifest.get("reading")
        self.bounds, self.first_pairs, self.first_tokens = (
            sealed(np.asarray(manifest[name], np.int64))
            for name in ("bounds", "first_pairs", "first_tokens")
        )
        self.n_documents, self.n_pairs, self.n_tokens = (
            int(ends[-1]) for ends in (self.bounds, self.first_pairs, self.first_tokens)
        )
        self.n_entries, self.fields = self.n_pairs, manifest["fields"]

    # ------------------------------------------------------------------ ways in

    @classmethod
    def open(cls, folder: str | Path) -> ShardedCorpus:
        """Open the corpus in a folder that `write` wrote; raise DataError if the folder or a file is missing or damaged.

        Only the sizes of the files are checked; `check` reads them.
        """
        return cls(Path(folder), _manifest_of(Path(folder)))

    @classmethod
    def write(
        cls,
        corpus: AnyCorpus | Iterable[Corpus],
        folder: str | Path,
        name: str | None = None,
    ) -> ShardedCorpus:
        """Write a corpus into a new folder, atomically, and open it.

        Parameters
        ----------
        corpus : Corpus, ShardedCorpus or iterable of Corpus
            Several are parts that follow each other: of one vocabulary, and with the same fields (titles, labels …). The texts
            of a table are not written.
        name : str, default that of the (first) corpus

        Raises
        ------
        DataError
            A folder that exists or cannot be written, no parts, parts that do not fit together, values that JSON cannot hold.
        """
        parts = iter([corpus] if isinstance(corpus, AnyCorpus) else corpus)
        first = next(parts, None)
        if first is None:
            raise DataError("a sharded corpus needs at least one part; none came")
        with (
            new_folder(Path(folder)) as partial,
            closing(ShardWriter(partial, first.n_words)) as writer,
        ):
            writer.texts("vocabulary").add(first.vocabulary)
            for part in chain([first], parts):
                _check_part(first, part)
                _write_part(writer, part)
            finish(writer, name or first.name, first.held_out_rows, first.reading)
        return cls.open(folder)

    def check(self) -> None:
        """Read every file; raise DataError if a file's hash differs from the manifest's."""
        for name, (_, written_hash) in self._manifest["files"].items():
            with _reading(self.folder, name):
                present_hash = hash_of(self.folder / name)
            if present_hash != written_hash:
                raise _damage_error(self.folder, f"{name} is not what was written")

    # ------------------------------------------------------------------ documents

    @property
    def n_parts(self) -> int:
        """Number of parts, which are the shards."""
        return len(self.bounds) - 1

    def parts(self) -> Iterator[Corpus]:
        """Return the shards in order; see `shard`."""
        return map(self.shard, range(self.n_parts))

    def shard(self, shard: int) -> Corpus:
        """Return the documents of one shard as a corpus, renumbered from 0, without copying arrays.

        Raise DataError for words and counts out of range, as of a damaged file; nothing else is checked again.
        """
        if not 0 <= shard < self.n_parts:
            raise DataError(f"{self.name!r} has the shards 0..{self.n_parts - 1}; got {shard}")
        return self._corpus(self.bounds[shard], self.bounds[shard + 1], *self._arrays(shard))

    def rows(self, first: int, last: int) -> Corpus:
        """Return the corpus of documents ``first`` to ``last`` - 1; arrays are copied only if they span several shards."""
        if not 0 <= first < last <= self.n_documents:
            raise DataError(
                f"rows must lie in 0..{self.n_documents} and be one at least; got {first}..{last}"
            )
        parts = []
        for shard in range(
            int(np.searchsorted(self.bounds, first, "right")) - 1,
            int(np.searchsorted(self.bounds, last)),
        ):
            indptr, words, counts = self._arrays(shard)
            begin, end = max(first, self.bounds[shard]), min(last, self.bounds[shard + 1])
            begin, end = begin - self.bounds[shard], end - self.bounds[shard]
            pairs = slice(indptr[begin], indptr[end])
            parts.append((np.diff(indptr[begin : end + 1]), words[pairs], counts[pairs]))
        lengths, words, counts = (
            part[0] if len(part) == 1 else sealed(np.concatenate(part))
            for part in zip(*parts, strict=True)
        )
        return self._corpus(
            first, last, sealed(np.concatenate([[0], np.cumsum(lengths)])), words, counts
        )

    def blocks(self, n_pairs: int = BLOCK) -> Iterator[Documents]:
        """Yield all documents in order, about ``n_pairs`` pairs at a time, as new arrays."""
        for shard in range(self.n_parts):
            indptr, *arrays = self._arrays(shard)
            first = 0
            while first < len(indptr) - 1:
                last = max(
                    int(np.searchsorted(indptr, indptr[first] + n_pairs, "right")) - 1, first + 1
                )
                pairs = slice(int(indptr[first]), int(indptr[last]))
                documents = Documents(
                    int(self.bounds[shard]) + first,
                    indptr[first : last + 1] - indptr[first],
                    *(np.array(array[pairs]) for array in arrays),
                )
                self._check_range(*documents[1:])
                yield documents
                first = last

    def in_memory(self) -> Corpus:
        """Return the whole corpus as one validated `Corpus`; raise an error if it does not fit into memory."""
        n_texts = self.n_words + sum(
            self.n_documents for field in ROWWISE if getattr(self, field) is not None
        )
        check_fits(
            8 * self.n_pairs + TEXT_BYTES * n_texts,
            f"{self.name!r} as a whole",
            "read it shard by shard",
        )
        corpus = self.rows(0, self.n_documents)
        document_fields = {
            field: None if (values := getattr(self, field)) is None else tuple(values)
            for field in ROWWISE
        }
        return Corpus(
            corpus.indptr,
            corpus.words,
            corpus.counts,
            tuple(self.vocabulary),
            reading=self.reading,
            inputs=corpus.inputs,
            input_names=self.input_names,
            name=self.name,
            held_out_rows=self.held_out_rows,
            **document_fields,
        )

    def _corpus(
        self, first: int, last: int, indptr: np.ndarray, words: np.ndarray, counts: np.ndarray
    ) -> Corpus:
        self._check_range(indptr, words, counts)
        document_fields = {
            field: values[first:last]
            for field in ROWWISE
            if (values := getattr(self, field)) is not None
        }
        inputs = [self.input(name)[first:last] for name in self.input_names]
        return Corpus.of_checked(
            indptr=indptr,
            words=words,
            counts=counts,
            vocabulary=self.vocabulary,
            name=self.name,
            inputs=sealed(np.stack(inputs, axis=1)) if inputs else None,
            input_names=self.input_names,
            held_out_rows=self.held_out_rows,
            **document_fields,
        )

    def _check_range(self, indptr: np.ndarray, words: np.ndarray, counts: np.ndarray) -> None:
        """Raise DataError for values with which a kernel would access memory outside its arrays."""
        bounded = indptr[0] == 0 and indptr[-1] == len(words) and (np.diff(indptr) >= 0).all()
        if not bounded or (
            len(words) and (words.min() < 0 or words.max() >= self.n_words or counts.min() < 1)
        ):
            raise DataError(
                f"{self.folder} is damaged: words or counts of its shards are not what was written; {MEND}"
            )

    # ------------------------------------------------------------------ what is known of words and documents

    @cached_property
    def word_tokens(self) -> np.ndarray:
        """Number of tokens of each word (word,) int64."""
        return np.asarray(self._map_array("word_tokens"))

    @cached_property
    def document_tokens(self) -> np.ndarray:
        """Number of tokens of each document (document,) int64."""
        return np.asarray(self._map_array("document_tokens", self.n_documents))

    def input(self, name: str) -> np.ndarray:
        """Return the values (document,) float64 of one input (numeric covariate); raise DataError for an unknown name."""
        self.check_input(name)
        stem = f"input-{self.input_names.index(name)}"
        return np.asarray(self._map_array(stem, self.n_documents))

    # ------------------------------------------------------------------ sizes

    @property
    def inputs(self) -> np.ndarray | None:
        """The inputs (document, input) float64, a new array at each access; None without inputs."""
        return (
            np.stack([self.input(name) for name in self.input_names], axis=1)
            if self.input_names
            else None
        )

    @property
    def memory_bytes(self) -> int:
        """Estimated bytes of the largest shard: arrays, and the token and document arrays that engines derive."""
        pairs, documents = int(np.diff(self.first_pairs).max()), int(np.diff(self.bounds).max())
        return (
            pairs * (4 + 4 + 8 + 4)
            + documents * (16 + 8 * len(self.input_names))
            + self.n_words * (8 + TEXT_BYTES)
        )

    def describe(self) -> dict[str, int]:
        """Return the sizes for tables and captions, as ``{"documents": 100, "words": 500, …}``."""
        sizes = {
            "documents": self.n_documents,
            "words": self.n_words,
            "pairs": self.n_pairs,
            "tokens": self.n_tokens,
            "shards": self.n_parts,
        }
        return sizes | ({"inputs": len(self.input_names)} if self.input_names else {})

    @cached_property
    def content_hash(self) -> str:
        """The sha256 (hex) of the content without the name, equal to that of the same corpus in memory."""
        return self._manifest["content_hash"] or self.computed_hash()

    def computed_hash(self) -> str:
        """Return the content hash, computed anew from the files."""
        shards = range(self.n_parts)

        def indptr() -> Iterator[np.ndarray]:
            yield np.zeros(1, np.int64)
            for shard in shards:
                yield self._arrays(shard)[0][1:] + self.first_pairs[shard]

        def inputs() -> Iterator[np.ndarray]:
            for first in range(0, self.n_documents, BLOCK):
                yield np.stack(
                    [self.input(name)[first : first + BLOCK] for name in self.input_names],
                    axis=1,
                )

        return content_hash(
            (
                (indptr(), "<i8"),
                ((self._arrays(shard)[1] for shard in shards), "<i4"),
                ((self._arrays(shard)[2] for shard in shards), "<i4"),
            ),
            (self.vocabulary, self.titles, self.authors, self.labels, self.times),
            inputs() if self.input_names else None,
            self.input_names,
            self.sequence,
        )

    # ------------------------------------------------------------------ files

    def _arrays(self, shard: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return indptr, words and counts of a shard, mapped into memory."""
        n_documents, n_pairs = (
            int(ends[shard + 1] - ends[shard]) for ends in (self.bounds, self.first_pairs)
        )
        lengths = {"indptr": n_documents + 1, "words": n_pairs, "counts": n_pairs}
        return tuple(
            np.asarray(self._map_array(f"{shard_stem(shard)}.{part}", n))
            for part, n in lengths.items()
        )

    def _map_array(self, stem: str, n: int | None = None) -> np.memmap:
        """Return one array of the folder, mapped into memory; raise DataError unless it has n entries (None: any)."""
        with _reading(self.folder, f"{stem}.npy"):
            mapped = np.load(self.folder / f"{stem}.npy", mmap_mode="r", allow_pickle=False)
        if n is not None and mapped.shape != (n,):
            raise _damage_error(
                self.folder, f"{stem}.npy has {len(mapped)} entries where {n} were wanted"
            )
        return mapped

    # ------------------------------------------------------------------ the store

    def save(self, folder: str | Path) -> Path:
        """Hard-link or copy the corpus into ``folder/HASH``, unless that folder exists; return the folder's path."""
        path = Path(folder) / self.content_hash
        if path.exists():
            return path
        partial = partial_of(path)
        try:
            partial.mkdir(parents=True)
            for name in (*self._manifest["files"], MANIFEST):
                link(self.folder / name, partial / name)
            os.rename(partial, path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return path

    def __getattr__(self, name: str):
        if not name.startswith("_") and name in IN_MEMORY:
            raise self.only_in_memory(IN_MEMORY[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def require_memory(self, what: str) -> Corpus:
        """Raise DataError: ``what`` says why the operation needs the corpus in memory."""
        raise self.only_in_memory(what)

    def only_in_memory(self, what: str) -> DataError:
        """Return the error for an operation that needs the corpus in memory; ``what`` gives the reason."""
        return DataError(
            f"{self.name!r} is kept in shards, and {what}; take shard(i), rows(first, last) or, where memory "
            "allows, in_memory()"
        )

    def __reduce__(self):
        return ShardedCorpus.open, (self.folder,)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n:,} {unit}" for unit, n in self.describe().items())
        return f"{type(self).__name__}({self.name!r}, {sizes})".replace(", 1 shards", ", 1 shard")


def is_sharded(path: str | Path) -> bool:
    """Return whether the path is the folder of a sharded corpus."""
    return os.path.isfile(Path(path) / MANIFEST)  # False where it cannot be looked at


def finish(
    writer: ShardWriter,
    name: str,
    held_out_rows: str | None = None,
    reading: dict | None = None,
) -> None:
    """Write the remaining files of a corpus and its manifest, with the hashes of the content and of every file."""
    folder, manifest = writer.folder, writer.finish(name, held_out_rows, reading)
    manifest |= {
        "content_hash": ShardedCorpus(folder, manifest).computed_hash(),
        "files": {
            file.name: [file.stat().st_size, hash_of(file)] for file in sorted(folder.iterdir())
        },
    }
    (folder / MANIFEST).write_text(
        json.dumps(manifest | {"checksum": checksum(manifest)}, indent=1)
    )


def _check_part(first: AnyCorpus, part: AnyCorpus) -> None:
    """Raise an error if a part's vocabulary or fields differ from those of the first part."""

    def fields(corpus: AnyCorpus) -> list:
        return [field for field in ROWWISE if getattr(corpus, field) is not None] + list(
            corpus.input_names
        )

    if part.vocabulary is not first.vocabulary and part.vocabulary != first.vocabulary:
        raise DataError("all parts of a sharded corpus must have one vocabulary; another one came")
    if fields(part) != fields(first):
        raise DataError(
            f"all parts of a sharded corpus must have {', '.join(fields(first))}; a part came with "
            f"{', '.join(fields(part))}"
        )


def _write_part(writer: ShardWriter, part: AnyCorpus) -> None:
    """Write a part's documents and their fields, except default titles."""
    n_before = writer.n_documents
    numbered = NumberedTitles(range(n_before, n_before + part.n_documents))
    if "titles" in writer.fields or part.titles != numbered:
        if "titles" not in writer.fields:
            writer.texts("titles").add(NumberedTitles(range(n_before)))
        writer.texts("titles").add(part.titles)
    for field in VALUES:
        if (values := getattr(part, field)) is not None:
            try:
                writer.texts(field).add(values)
            except TypeError as error:
                raise DataError(
                    f"{part.name!r} cannot be stored ({error}); give texts or numbers, as 1987"
                ) from None
    for name in part.input_names:
        writer.inputs(name).add(part.input(name))
    for piece in part.parts():
        writer.add(piece.indptr, piece.words, piece.counts)


@contextmanager
def _reading(folder: Path, name: str) -> Iterator[BinaryIO]:
    """Yield an opened file of the folder; errors in reading it are raised as DataError."""
    try:
        with open(folder / name, "rb") as file:
            yield file
    except FileNotFoundError:
        raise _damage_error(folder, f"{name} is missing") from None
    except OSError as error:
        raise DataError(f"{folder / name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise _damage_error(folder, f"{name} cannot be read") from error


def _damage_error(folder: Path, what: str) -> DataError:
    return DataError(f"{folder} is damaged: {what}; {MEND}")


def _manifest_of(folder: Path) -> dict:
    """Return the manifest of a folder; raise DataError unless every file that it lists exists with the stated size."""
    if not is_sharded(folder):
        raise DataError(
            f"{folder} is no folder of a sharded corpus, which has a file {MANIFEST}; check the path"
        )
    with _reading(folder, MANIFEST) as file:
        manifest = json.load(file)
    if not isinstance(manifest, dict) or manifest.get("checksum") != checksum(manifest):
        raise _damage_error(folder, f"{MANIFEST} does not have the checksum it was written with")
    if manifest["version"] != VERSION:
        raise DataError(
            f"{folder} has version {manifest['version']} of the format and {VERSION} was wanted; {MEND}"
        )
    for name, (size, _) in manifest["files"].items():
        with _reading(folder, name) as file:
            n_bytes = os.fstat(file.fileno()).st_size
        if n_bytes != size:
            raise _damage_error(folder, f"{name} has {n_bytes:,} bytes where {size:,} were written")
    return manifest
