"""A corpus as arrays: documents, word types and counts in document-major pairs.

A *pair* is a distinct word of a document together with its count, the only thing that an engine ever
reads. Pairs are sorted by document and then by word; the tokens of a pair are consecutive. This is
the canonical order in which tokens are numbered, drawn and given their random numbers.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from workbench.corpus.covariates import BySequence, by_sequence, checked_inputs, checked_sequence
from workbench.corpus.document_table import DocumentTable
from workbench.corpus.objects import (
    COLUMNS,
    is_frame,
    kind_of,
    pairs_of,
    pairs_of_tokens,
    refuse_options,
    refuse_vocabulary,
)
from workbench.corpus.texts.counting import TEXT_OPTIONS, count_words
from workbench.data.arrays import frozen, plain_values, sealed, whole_numbers
from workbench.data.html import facts
from workbench.data.reading import noting
from workbench.data.saving import SavedByHash
from workbench.errors import DataError, nearest_or_all


class AnyCorpus:
    """Base class of `Corpus` (one part) and `ShardedCorpus` (several parts).

    Both have sizes, a vocabulary, titles and other fields of each document, ``rows(first, last)``, `parts` and ``in_memory()``.
    """

    item: ClassVar[str] = "token"
    """The unit of a score: scores are per token."""
    name: str
    vocabulary: Sequence[str]
    n_documents: int
    n_tokens: int
    input_names: tuple[str, ...]
    reading: dict | None

    def parts(self) -> Iterable[Corpus]:
        """Return the parts of the corpus in order; only one of them is in memory at a time."""
        raise NotImplementedError

    def parts_in_order(self) -> Iterator[tuple[int, Corpus]]:
        """Yield each part of the corpus in order, as (index of its first document, the part)."""
        first = 0
        for part in self.parts():
            yield first, part
            first += part.n_documents

    @property
    def n_items(self) -> int:
        """Number of tokens, the items over which scores are averaged."""
        return self.n_tokens

    @property
    def n_words(self) -> int:
        """Number of word types in the vocabulary, unused ones included."""
        return len(self.vocabulary)

    def same_rows(self, other: object) -> bool:
        """Return whether ``other`` has as many documents and the same vocabulary, as a test set of this corpus must."""
        return (
            isinstance(other, AnyCorpus)
            and other.n_documents == self.n_documents
            and self.vocabulary == other.vocabulary
        )

    def check_input(self, name: str) -> None:
        """Raise DataError unless the corpus has an input (numeric covariate of documents) of this name."""
        if name not in self.input_names:
            input_list = ", ".join(map(repr, self.input_names)) or "none"
            raise DataError(f"{self.name!r} has no input {name!r}; there are {input_list}")


BLOCK = 1 << 14
"""Entries that are turned into text at a time."""


def content_hash(
    arrays: Iterable[tuple[Iterable[np.ndarray], str]],
    fields: Iterable[Sequence | None],
    inputs: Iterable[np.ndarray] | None,
    input_names: tuple[str, ...],
    sequence: Sequence | None,
) -> str:
    """Return the sha256 (hex) of a corpus's arrays and texts; each of ``arrays`` is a pair (chunks, dtype to hash)."""
    digest = hashlib.sha256()
    for parts, kind in arrays:
        for part in parts:
            digest.update(np.ascontiguousarray(part, dtype=kind))
        digest.update(b"|")
    for field in fields:
        _add(digest, field)
        digest.update(b"|")
    if inputs is not None:  # what came later is hashed where it is there, so that older hashes stay
        digest.update(f"inputs {input_names!r}|".encode())
        for part in inputs:
            digest.update(np.ascontiguousarray(part, dtype="<f8"))
    if sequence is not None:
        digest.update(b"|sequence ")
        _add(digest, sequence)
    return digest.hexdigest()


def _add(digest: hashlib._Hash, values: Sequence | None) -> None:
    """Add the text ``repr(tuple(values))`` to the digest piece by piece; "None" if ``values`` is None."""
    if values is None or len(values) < 2:
        digest.update(repr(values if values is None else tuple(values)).encode())
        return
    entries, before = iter(values), "("
    while block := tuple(islice(entries, BLOCK)):
        # of one entry the text ends in a comma
        digest.update((before + repr(block)[1 : -1 if len(block) > 1 else -2]).encode())
        before = ", "
    digest.update(b")")


MOST_TOKENS = 2**40
INT32_MAX = np.iinfo(np.int32).max
CorpusError = DataError
MOST_UNNAMED = 10_000_000
"""Maximum of words without a vocabulary, and of documents without counts; larger sizes or ids are taken for mistakes before
memory runs out."""
ROWWISE = ("titles", "authors", "labels", "times", "sequence")
"""Fields with one entry per document, besides the inputs."""
SHOWN = 10
"""Maximum of words of a corpus that a notebook shows."""
TEXT_BYTES = 80
"""Estimated bytes of a title or word as a Python string."""


class WordMajor(NamedTuple):
    """The document-word pairs of a corpus sorted by word, then by document."""

    indptr: np.ndarray  # (word + 1,) int64: the pairs of word w are indptr[w]:indptr[w + 1]
    documents: np.ndarray  # (pair,) int32
    pairs: np.ndarray  # (pair,) int64: index of the pair in document-major order


@dataclass(frozen=True, eq=False, repr=False)
class Corpus(SavedByHash, AnyCorpus):
    """Documents as counts of words, validated once and immutable.

    Parameters
    ----------
    indptr : (document + 1,) int64
        The pairs of document d are ``indptr[d]:indptr[d + 1]``. Empty documents are legal.
    words : (pair,) int32
        Word type of each pair, ascending within a document.
    counts : (pair,) int32
        Tokens of each pair, at least 1.
    vocabulary : (word,) str
        One string per word type. Words that occur nowhere are legal and keep their place.
    titles : (document,) str
    authors, labels, times : optional, one entry per document
        A document's authors are a tuple of names.
    name : str
        What pages and file names call it.
    inputs : (document, input) float64 with ``input_names``, or a mapping name → (document,) numbers, optional
        Real covariates, such as a year or a latitude; finite.
    sequence : (name, position) per document, optional
        The sequence that a document belongs to, and its position there, a whole number; positions may have gaps.
    held_out_rows : str, optional
        Which documents `prepare` holds out by default, as "year>=2012" or "last 10"; not part of the content hash.
    table : DocumentTable, optional
        The texts as they were read, and the columns beside them, which formulas name; the content hash leaves it out.
    reading : dict, optional
        The record of how it was read and counted, see `workbench.data.reading`; not part of the content hash.

    Raises
    ------
    DataError
        When the arrays do not fit together; `from_pairs` takes pairs in any order.
    """

    indptr: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    vocabulary: tuple[str, ...]
    titles: tuple[str, ...]
    authors: tuple | None = None
    labels: tuple | None = None
    times: tuple | None = None
    name: str = "corpus"
    inputs: np.ndarray | None = None
    input_names: tuple[str, ...] = ()
    sequence: tuple | None = None
    held_out_rows: str | None = None
    table: DocumentTable | None = None
    reading: dict | None = None

    beside: ClassVar[tuple[str, ...]] = ("table",)
    """Fields that are saved in a separate file."""

    def __post_init__(self):
        fix = object.__setattr__
        fix(self, "indptr", frozen(self.indptr, np.int64, "indptr"))
        fix(self, "words", frozen(self.words, np.int32, "words"))
        fix(self, "counts", frozen(self.counts, np.int32, "counts"))
        fix(self, "vocabulary", plain_values(self.vocabulary, "vocabulary"))
        if not isinstance(self.name, str) or not self.name.strip():
            raise DataError(f"a corpus has a name, a string that is not empty; got {self.name!r}")
        self._check()
        for field in ROWWISE:
            value = getattr(self, field)
            if value is not None:
                value = (
                    checked_sequence(value) if field == "sequence" else plain_values(value, field)
                )
                if len(value) != self.n_documents:
                    raise DataError(
                        f"{field} must have one entry per document ({self.n_documents}); it has {len(value)}"
                    )
                fix(self, field, value)
        if self.table is not None and self.table.n_documents != self.n_documents:
            raise DataError(
                f"the table must have a row per document ({self.n_documents}); it has {self.table.n_documents}"
            )
        inputs, names = checked_inputs(self.inputs, self.input_names, self.n_documents)
        fix(self, "inputs", inputs)
        fix(self, "input_names", names)

    def _check(self):
        indptr, words, counts = self.indptr, self.words, self.counts
        if indptr.ndim != 1 or len(indptr) < 2 or indptr[0] != 0 or np.any(np.diff(indptr) < 0):
            raise DataError(
                "indptr must begin with 0 and never fall, with one entry more than there are documents"
            )
        if not len(words) == len(counts) == indptr[-1]:
            raise DataError(
                f"words, counts and indptr[-1] must agree; they are {len(words)}, {len(counts)} and {indptr[-1]}"
            )
        if len(words) and (words.min() < 0 or words.max() >= len(self.vocabulary)):
            raise DataError(
                f"word ids must lie in 0..{len(self.vocabulary) - 1}; found {words.min()}..{words.max()}"
            )
        if len(counts) and counts.min() < 1:
            raise DataError(f"counts must be at least 1; the smallest is {counts.min()}")
        # a set of them took longer than all else in reading a corpus
        begins = np.zeros(len(words) + 1, bool)
        begins[indptr] = True
        if not begins[np.flatnonzero(np.diff(words) <= 0) + 1].all():
            raise DataError(
                "within a document each word may stand once, in ascending order; use Corpus.from_pairs to sort and merge"
            )

    # ------------------------------------------------------------------ ways in

    @classmethod
    def from_pairs(
        cls,
        documents: ArrayLike,
        words: ArrayLike,
        counts: ArrayLike,
        vocabulary: Iterable[str] | None = None,
        n_documents: int | None = None,
        n_words: int | None = None,
        **about,
    ) -> Corpus:
        """Return a corpus from rows (document, word, count) in any order; counts of the same document and word are summed.

        Parameters
        ----------
        documents, words, counts : (row,) integers
            Zero-based ids. Rows with count 0 are dropped; floats are taken when they are whole numbers.
        vocabulary : (word,) str, default ``w0, w1, …``
        n_documents, n_words : int, default the largest id + 1
        **about
            titles, authors, labels, times, inputs, sequence, table, reading, name.

        Raise DataError for counts that are negative or not whole, ids out of range, or a corpus without tokens.
        """
        vocabulary = None if vocabulary is None else plain_values(vocabulary, "vocabulary")
        documents = _integers(documents, "document ids")
        words = _integers(words, "word ids")
        counts = _integers(counts, "counts")
        if not len(documents) == len(words) == len(counts):
            raise DataError(
                "documents, words and counts must have one length; they have "
                f"{len(documents)}, {len(words)} and {len(counts)}"
            )
        if counts.min(initial=0) < 0:
            raise DataError(
                f"counts must not be negative; row {int(np.argmin(counts))} has {counts.min()}"
            )
        n_documents = _size(documents, n_documents, "document")
        n_words = _size(
            words,
            len(vocabulary) if n_words is None and vocabulary is not None else n_words,
            "word",
        )
        check_unnamed(n_documents, n_words, len(counts), vocabulary is not None)
        if vocabulary is None:
            vocabulary = tuple(f"w{w}" for w in range(n_words))
        elif len(vocabulary) != n_words:
            raise DataError(f"the vocabulary must have {n_words} words; it has {len(vocabulary)}")
        is_positive = counts > 0
        if not is_positive.any():
            raise DataError("a corpus needs at least one token; none came")
        if not is_positive.all():
            documents, words, counts = (
                documents[is_positive],
                words[is_positive],
                counts[is_positive],
            )
        cells = documents * np.int64(n_words)
        cells += words
        # sorted and merged as files mostly are: nothing to be sorted or added up
        if np.all(cells[1:] > cells[:-1]):
            totals = counts
        else:
            cells, inverse = np.unique(cells, return_inverse=True)
            words, totals = cells % n_words, np.bincount(inverse, weights=counts)
        if totals.max() > INT32_MAX:
            raise DataError(
                f"a count may not exceed {INT32_MAX}; the largest is {int(totals.max())}"
            )
        if totals.sum(dtype=np.float64) > MOST_TOKENS:
            raise DataError(
                f"a corpus may have {MOST_TOKENS} tokens; these are {int(totals.sum(dtype=np.float64))}"
            )
        indptr = np.searchsorted(cells, np.arange(n_documents + 1, dtype=np.int64) * n_words)
        del cells, documents
        if about.get("titles") is None:
            about["titles"] = tuple(f"document {d}" for d in range(n_documents))
        corpus = cls(indptr, words, totals, vocabulary=vocabulary, **about)
        if corpus.reading is not None:
            corpus.reading.setdefault("content", corpus.content_hash)
        return corpus

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], titles: Sequence[str] | None = None, **options
    ) -> Corpus:
        """Return a corpus from raw strings, one per document; see `workbench.corpus.texts.counting.count_words`."""
        return cls.from_pairs(**count_words(texts, titles=titles, **options))

    @classmethod
    def from_tokens(cls, documents: Iterable[Iterable[str]], **about) -> Corpus:
        """Return a corpus from lists of tokens, one list per document; ``about`` as for `from_pairs`."""
        return cls.from_pairs(**pairs_of_tokens(documents, **about))

    @classmethod
    def of_checked(cls, **values) -> Corpus:
        """Return a corpus made of valid fields, such as those of a shard, without copying or checking them."""
        corpus = object.__new__(cls)
        for field in fields(cls):
            object.__setattr__(corpus, field.name, values.get(field.name, field.default))
        return corpus

    def with_pairs(
        self, indptr: np.ndarray, words: np.ndarray, counts: np.ndarray, **about
    ) -> Corpus:
        """Return the corpus with other document-word pairs, such as those of a split or a subset."""
        return replace(self, indptr=indptr, words=words, counts=counts, **about)

    def of_documents(self, documents: np.typing.ArrayLike) -> Corpus:
        """Return the corpus of these documents, in the order given, with the unchanged vocabulary.

        ``documents`` are ids, at least one. Titles, inputs and all other fields of the documents are kept.
        """
        documents = np.asarray(documents, dtype=np.int64)
        indptr, pairs = self.pairs_of(documents)
        document_fields = {
            field: tuple(values[d] for d in documents)
            for field in ROWWISE
            if (values := getattr(self, field)) is not None
        }
        if self.inputs is not None:
            document_fields["inputs"] = self.inputs[documents]
        if self.table is not None:
            document_fields["table"] = self.table.of_documents(documents.tolist())
        return self.with_pairs(indptr, self.words[pairs], self.counts[pairs], **document_fields)

    def rows(self, first: int, last: int) -> Corpus:
        """Return the corpus of documents ``first`` to ``last`` - 1, renumbered from 0; its arrays are views, not copies."""
        indptr = self.indptr[first : last + 1]
        pairs = slice(int(indptr[0]), int(indptr[-1]))
        document_fields = {
            field: values[first:last]
            for field in (*ROWWISE, "inputs")
            if (values := getattr(self, field)) is not None
        }
        return Corpus.of_checked(
            indptr=sealed(indptr - pairs.start),
            words=self.words[pairs],
            counts=self.counts[pairs],
            vocabulary=self.vocabulary,
            name=self.name,
            input_names=self.input_names,
            held_out_rows=self.held_out_rows,
            **document_fields,
        )

    def pairs_of(self, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return indptr (document + 1,) and indices (pair,) of the document-word pairs of these documents, both int64."""
        lengths = np.diff(self.indptr)[documents]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return indptr, np.arange(indptr[-1]) + np.repeat(
            self.indptr[documents] - indptr[:-1], lengths
        )

    def input(self, name: str) -> np.ndarray:
        """Return the values (document,) float64 of one input (numeric covariate); raise DataError for an unknown name."""
        self.check_input(name)
        return self.inputs[:, self.input_names.index(name)]

    # ------------------------------------------------------------------ ways out

    def to_scipy(self):
        """Return a copy of the counts as a scipy.sparse.csr_array (document, word) int32."""
        from scipy.sparse import csr_array

        return csr_array(
            (self.counts.copy(), self.words.copy(), self.indptr.copy()),
            (self.n_documents, self.n_words),
        )

    def to_dataframe(self):
        """Return a DataFrame with one row per document: title, other fields, inputs, n_tokens and the table's columns."""
        import pandas as pd

        columns = {
            field.removesuffix("s"): list(values)
            for field in ROWWISE
            if (values := getattr(self, field)) is not None
        }
        columns |= {name: self.inputs[:, column] for column, name in enumerate(self.input_names)}
        columns |= {"n_tokens": self.document_tokens}
        table_columns = {} if self.table is None else self.table.columns
        return pd.DataFrame(
            columns
            | {name: values for name, values in table_columns.items() if name not in columns}
        )

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks: sizes, most frequent words and first titles."""
        most_frequent = np.argsort(-self.word_tokens, kind="stable")[:SHOWN]
        more = " …" if self.n_documents > len(titles := self.titles[:3]) else ""
        return facts(
            self.name,
            [
                *self.describe().items(),
                ("most frequent", " ".join(self.vocabulary[w] for w in most_frequent)),
                ("first documents", " · ".join(titles) + more),
            ],
        )

    # ------------------------------------------------------------------ sizes

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.indptr) - 1

    @property
    def n_pairs(self) -> int:
        """Number of document-word pairs: distinct words of a document, summed over documents."""
        return len(self.words)

    @cached_property
    def n_tokens(self) -> int:
        """Number of tokens: the sum of all counts."""
        return int(self.counts.sum(dtype=np.int64))

    @property
    def weights(self) -> np.ndarray:
        """The weight of each document-word pair (pair,) in a score: its count."""
        return self.counts

    @property
    def groups(self) -> np.ndarray:
        """The index (pair,) in `by_sequence` of each document-word pair's sequence; without sequences, of its document."""
        return self.documents if self.sequence is None else self._sequences[self.documents]

    @property
    def memory_bytes(self) -> int:
        """Estimated bytes of the corpus: arrays, texts, and the token and document arrays that engines derive."""
        texts = self.n_words + sum(
            self.n_documents for field in ROWWISE if getattr(self, field) is not None
        )
        return (
            self.n_pairs * (4 + 4 + 8 + 4)
            + self.n_documents * (16 + 8 * len(self.input_names))
            + texts * TEXT_BYTES
        )

    def describe(self) -> dict[str, int]:
        """Return the sizes for tables and captions, as ``{"documents": 100, "words": 500, …}``."""
        sizes = {
            "documents": self.n_documents,
            "words": self.n_words,
            "pairs": self.n_pairs,
            "tokens": self.n_tokens,
        }
        if self.inputs is not None:
            sizes["inputs"] = len(self.input_names)
        if self.sequence is not None:
            sizes["sequences"] = len(self.by_sequence.names)
        return sizes

    @cached_property
    def tokens_before(self) -> np.ndarray:
        """The number of tokens before each pair (pair + 1,) int64 in document-major order; the last entry is the total."""
        before = np.zeros(self.n_pairs + 1, np.int64)
        np.cumsum(self.counts, out=before[1:])
        return sealed(before)

    @cached_property
    def document_tokens(self) -> np.ndarray:
        """Number of tokens of each document (document,) int64."""
        return sealed(np.diff(self.tokens_before[self.indptr]))

    @cached_property
    def word_tokens(self) -> np.ndarray:
        """Number of tokens of each word (word,) int64."""
        totals = np.bincount(self.words, weights=self.counts, minlength=self.n_words)
        return sealed(totals.astype(np.int64))

    @cached_property
    def documents(self) -> np.ndarray:
        """The index of the document of each document-word pair (pair,) int32."""
        return sealed(np.repeat(np.arange(self.n_documents, dtype=np.int32), np.diff(self.indptr)))

    @cached_property
    def by_word(self) -> WordMajor:
        """The document-word pairs in word-major order: sorted by word, then by document."""
        pairs = np.argsort(self.words, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(self.words, minlength=self.n_words))])
        return WordMajor(sealed(indptr), sealed(self.documents[pairs]), sealed(pairs))

    @cached_property
    def by_sequence(self) -> BySequence:
        """The documents sorted by sequence and position; raise DataError if the corpus has no sequences."""
        if self.sequence is None:
            raise DataError(
                f"the documents of {self.name!r} stand in no sequences; give sequence=[(name, position), …]"
            )
        return by_sequence(self.sequence)

    @cached_property
    def _sequences(self) -> np.ndarray:
        """The index (document,) int64 of the sequence to which each document belongs."""
        _, indptr, documents = self.by_sequence
        positions = np.empty(self.n_documents, np.int64)
        positions[documents] = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        return sealed(positions)

    @cached_property
    def tokens_by_word(self) -> tuple[np.ndarray, np.ndarray]:
        """The index of the first token (pair,) int64 and the count (pair,) int32 of each pair, in word-major order."""
        pairs = self.by_word.pairs
        return self.tokens_before[pairs], self.counts[pairs]

    @cached_property
    def content_hash(self) -> str:
        """The sha256 (hex) of counts, vocabulary, fields and inputs, but not of the name and the table."""
        return content_hash(
            (([self.indptr], "<i8"), ([self.words], "<i4"), ([self.counts], "<i4")),
            (self.vocabulary, self.titles, self.authors, self.labels, self.times),
            None if self.inputs is None else [self.inputs],
            self.input_names,
            self.sequence,
        )


Documents = Any
"""A Corpus, name, path, texts, lists of tokens, Series, DataFrame, or matrix of counts; see `corpus_of`."""


def corpus_of(
    data: Documents,
    *,
    text: str | None = None,
    id: str | None = None,
    time: str | None = None,
    label: str | None = None,
    vocabulary: Iterable[str] | Mapping | str | os.PathLike | None = None,
    name: str = "texts",
    counted: Mapping | None = None,
    **text_options,
) -> Corpus:
    """Return a corpus from Python objects: texts, lists of tokens, a DataFrame, a matrix or word counts.

    Parameters
    ----------
    given
        A Corpus is returned unchanged. Otherwise: strings, one per document, counted as by `Corpus.from_texts`; lists of
        tokens; a pandas Series of texts or of lists of tokens, whose index has their titles; a DataFrame with one document
        per row; a matrix of counts (document, word), scipy.sparse or numpy; or a list of (word id, count) pairs for each
        document.
    text, id, time, label : str, optional
        Columns of a DataFrame: the text (by default the column "text", or the only column of strings), title, time (dates, or
        whole numbers; see `workbench.corpus.times.times_of`) and label. All columns are kept, as ``table`` of the corpus.
    vocabulary : (word,) strings, or a mapping from ids to words or from words to ids, optional
        Words of a matrix or of a bag of words; w0, w1, … by default. gensim's Dictionary is one.
    name : str
        What pages and file names call the corpus.
    counted : mapping, optional
        Options with which other texts were counted, as ``counted`` of their table: raw text is counted in the same way,
        except for ``text_options``.
    **text_options
        For raw text: stop_words, min_documents, ngrams, tokenizer …, keep_text; see
        `workbench.corpus.texts.counting.count_words`.

    A missing text in a Series or DataFrame becomes an empty document, with a warning.

    Raises
    ------
    DataError
        Another type of data, an unknown column or option, or a missing text in a list.
    """
    if unknown := [option for option in text_options if option not in (*TEXT_OPTIONS, "keep_text")]:
        raise DataError(
            f"no option {unknown[0]!r} of raw text; {nearest_or_all(unknown[0], [*TEXT_OPTIONS, 'keep_text'])}"
        )
    columns = {
        key: value
        for key, value in zip(COLUMNS, (text, id, time, label), strict=True)
        if value is not None
    }
    if columns and not is_frame(data):
        raise DataError(
            f"{next(iter(columns))}= names a column of a DataFrame; got {kind_of(data)}; leave it out"
        )
    if isinstance(data, Corpus):
        refuse_vocabulary(vocabulary, data)
        refuse_options(text_options, "a Corpus")
        return data
    with noting() as notes:
        pairs = pairs_of(data, columns, vocabulary, name, counted, text_options)
    reading = pairs.get("reading", {})
    left_out = notes["left_out"] | reading.get("left_out", {})
    details = {"found": {"format": kind_of(data)} | notes["found"], "left_out": left_out}
    return Corpus.from_pairs(**pairs | {"reading": reading | details})


def _integers(values, what: str) -> np.ndarray:
    """Return the values (row,) as integers: unchanged if their dtype is a signed integer, else as int64."""
    is_integer = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == "i"
    return values if is_integer else whole_numbers(values, what)


def check_unnamed(n_documents: int, n_words: int, n_counts: int, has_vocabulary: bool) -> None:
    """Raise DataError for implausible sizes: far more documents than counts, or too many words without a vocabulary."""
    if n_documents > MOST_UNNAMED + n_counts:
        raise DataError(
            f"{n_documents} documents with {n_counts} counts must be a mistake; correct their number"
        )
    if not has_vocabulary and n_words > MOST_UNNAMED:
        raise DataError(
            f"{n_words} words without a vocabulary must be a mistake; give one with vocabulary=…"
        )


def _size(ids: np.ndarray, size: int | None, what: str) -> int:
    """Return the number of documents or words: ``size`` if given, else the largest id + 1; raise DataError for invalid ids."""
    if ids.min(initial=0) < 0:
        raise DataError(f"{what} ids begin with 0; row {int(np.argmin(ids))} has {ids.min()}")
    largest = int(ids.max(initial=-1))
    size = largest + 1 if size is None else CorpusError.whole(f"n_{what}s", size, 0)
    if largest >= size:
        raise DataError(
            f"{what} ids must lie in 0..{size - 1}; row {int(np.argmax(ids))} has {largest}"
        )
    return size
