"""Streams of documents, from files or any iterable, counted over a fixed vocabulary and never all in memory."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from workbench.corpus.catalog.named import is_named, load_corpus
from workbench.corpus.corpus import INT32_MAX, AnyCorpus, Corpus, CorpusError
from workbench.corpus.formats.by_name import known_words, named_counts, unknown_word
from workbench.corpus.formats.interface import IDS, TEXTS, Stream, trait
from workbench.corpus.formats.readers import Request, request_of
from workbench.corpus.objects import is_pair
from workbench.corpus.shards.sharded import is_sharded
from workbench.corpus.texts.counting import LISTS, repeatable, written
from workbench.corpus.texts.words import OF_WORDS
from workbench.data.arrays import as_array
from workbench.data.opening import path_of
from workbench.errors import DataError, shown

WANTED = (
    "a document of a stream is a text, a list of tokens, a mapping of words to counts, or, with a vocabulary, a list of "
    "(word id, count) pairs"
)


class Counted(NamedTuple):
    """The word counts of one document over a vocabulary, and its number of unknown tokens."""

    words: np.ndarray  # (pair,) int32: numbers of its known words, ascending
    counts: np.ndarray  # (pair,) int32: tokens of each, at least 1
    n_unknown: int  # tokens whose word is not in the vocabulary


class Vocabulary:
    """A fixed vocabulary, whose words are counted in documents; tokens of other words are unknown.

    Parameters
    ----------
    words : (word,) str
        Of equal words the first counts.
    words_of : function of a text that gives its words
        See `workbench.corpus.texts.words.analyser`.
    ids : (id,) str, optional
        Words of the ids in lists of (word id, count) pairs.
    """

    def __init__(
        self,
        words: Iterable[str],
        words_of: Callable[[str], list[str]],
        ids: Iterable[str] | None = None,
    ):
        self._index = {word: number for number, word in reversed(list(enumerate(words)))}
        self._words_of = words_of
        self._numbers_by_id = None if ids is None else self._numbers_of(ids)

    def _numbers_of(self, words: Iterable[str]) -> np.ndarray:
        return np.fromiter((self._index.get(word, -1) for word in words), np.int64)

    def count(self, documents: Iterable) -> Iterator[Counted]:
        """Yield the word counts of each document; the DataError for an invalid document gives its position."""
        for number, document in enumerate(documents):
            try:
                yield self._count_document(document)
            except DataError as error:
                raise DataError(f"document {number} (counted from 0): {error}") from None

    def count_corpus(self, corpus: Corpus) -> Iterator[Counted]:
        """Yield the counts of each document of a corpus over this vocabulary."""
        own_numbers = self._numbers_of(corpus.vocabulary)
        for first, last in zip(corpus.indptr[:-1], corpus.indptr[1:], strict=True):
            yield _sum_counts(own_numbers[corpus.words[first:last]], corpus.counts[first:last])

    def _count_document(self, document) -> Counted:
        if isinstance(document, str):
            document = self._words_of(document)
        if isinstance(document, Mapping):
            words, counts = list(document), list(document.values())
            if odd := [word for word in words if not isinstance(word, str)]:
                raise DataError(f"the words of a mapping are strings; got {shown(repr(odd[0]))}")
            return _sum_counts(self._numbers_of(words), _checked_counts(counts))
        if isinstance(document, bytes) or not isinstance(document, Iterable):
            raise DataError(f"{WANTED}; got {shown(repr(document))}")
        items = list(document)
        if all(isinstance(item, str) for item in items):
            return _sum_counts(self._numbers_of(items), np.ones(len(items), np.int64))
        if not all(map(is_pair, items)):
            raise DataError(f"{WANTED}; got {shown(repr(items))}")
        return self._pairs(items)

    def _pairs(self, pairs: list) -> Counted:
        if self._numbers_by_id is None:
            raise DataError(
                "counts by word id need the words of the ids; give them with vocabulary=, or words in place of ids"
            )
        ids = as_array([word for word, _ in pairs], "word ids")
        if ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= len(self._numbers_by_id):
            raise DataError(
                f"word ids must be whole numbers in 0..{len(self._numbers_by_id) - 1}; got {shown(repr(ids.tolist()))}"
            )
        return _sum_counts(self._numbers_by_id[ids], _checked_counts([count for _, count in pairs]))


def _checked_counts(counts: list) -> np.ndarray:
    """Return the counts (row,) as int64; raise an error for one that is not a whole number from 0 to 2^31 - 1."""
    values = as_array(counts, "counts")
    whole = not len(counts) or (
        values.dtype.kind in "iuf" and values.ndim == 1 and np.all(values == np.floor(values))
    )
    if not whole or values.min(initial=0) < 0 or values.max(initial=0) > INT32_MAX:
        raise DataError(
            f"counts must be whole numbers from 0 to {INT32_MAX}; got {shown(repr(counts))}"
        )
    return values.astype(np.int64)


def _sum_counts(numbers: np.ndarray, counts: np.ndarray) -> Counted:
    """Return a document's word counts from word ``numbers`` (-1: an unknown word) and counts, summed by word."""
    is_known = (numbers >= 0) & (counts > 0)
    words, inverse = np.unique(numbers[is_known], return_inverse=True)
    totals = np.bincount(inverse, counts[is_known], len(words))
    if totals.max(initial=0) > INT32_MAX:
        raise DataError(f"a count may not exceed {INT32_MAX}; the largest is {int(totals.max())}")
    return Counted(words.astype(np.int32), totals.astype(np.int32), int(counts[numbers < 0].sum()))


def in_batches(documents: Iterable, size: int) -> Iterator[list]:
    """Yield lists of ``size`` documents; the last two share the rest equally, so that none is tiny."""
    batch: list = []
    for document in documents:
        batch.append(document)
        if len(batch) == 2 * size:
            yield batch[:size]
            batch = batch[size:]
    half = -(-len(batch) // 2) if len(batch) > size else len(batch)
    yield from filter(None, (batch[:half], batch[half:]))


def as_arrays(documents: list[Counted]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indptr (document + 1,), words (pair,) and counts (pair,) of documents, as in a Corpus."""
    indptr = np.concatenate([[0], np.cumsum([len(document.words) for document in documents])])
    return (
        indptr,
        np.concatenate([document.words for document in documents]),
        np.concatenate([document.counts for document in documents]),
    )


Document = str | dict[str, int]
"""A document: a text, or counts by word."""


class FileDocuments:
    """The documents of files, as texts or as dicts from words to counts; an iterable that can be read repeatedly.

    Parameters
    ----------
    *sources : path, name of the catalog, Corpus or ShardedCorpus
        A folder of shards is read shard by shard. Files of some formats are read at once (Excel, npz, FASTA, running text, a
        table with a column per word). In files of counts, rows of a document must be adjacent, and documents in the order
        of their numbers.
    **options
        Options of `workbench.read_corpus` for all files, except keep_text and options that prune the vocabulary.

    Attributes
    ----------
    sources : list of Corpus, ShardedCorpus, or Request of a file
    name : str, of the first source
    of_text : dict, the options by which words are found in texts; `workbench.fit_stream` and `workbench.update` use them

    Raises
    ------
    CorpusError
        No source, a missing one, a pipe, or unknown options; while iterating, errors in a file.
    """

    def __init__(self, *sources: object, **options):
        if not sources:
            raise CorpusError("documents come from one file at least; none was given")
        if "keep_text" in options:
            raise CorpusError("texts of a stream are not kept; leave keep_text out")
        options = {
            name: repeatable(value) if name in LISTS else value for name, value in options.items()
        }
        self.sources = [_source(source, options) for source in sources]
        self.name = self.sources[0].name
        self.of_text = next(
            (request.text_options for request in self.sources if isinstance(request, Request)), {}
        )
        self._n: int | None = None

    def __iter__(self) -> Iterator[Document]:
        for source in self.sources:
            yield from (
                _corpus_documents(source)
                if isinstance(source, AnyCorpus)
                else _file_documents(source)
            )

    def count(self) -> int:
        """Read all files once and return the number of documents, empty ones included."""
        if self._n is None:
            self._n = sum(
                source.n_documents
                if isinstance(source, AnyCorpus)
                else sum(1 for _ in _file_documents(source))
                for source in self.sources
            )
        return self._n

    @property
    def reading(self) -> dict:
        """The record of how the documents are read, see `workbench.data.reading`; ``files`` lists paths and hashes."""
        notes = {"found": {}, "left_out": {}}
        records = [
            source.reading or {} if isinstance(source, AnyCorpus) else source.reading(notes)
            for source in self.sources
        ]
        files = [[record["path"], record["sha256"]] for record in records if "path" in record]
        counting = OF_WORDS | self.of_text if self.has_texts else {}
        options = records[0].get("options", {}) | written(counting)
        return {"options": options, "files": files, "found": {"format": "a stream"}}

    @property
    def corpus(self) -> AnyCorpus | None:
        """The source itself if it is a single corpus; None for a file or several sources."""
        source = self.sources[0]
        return source if len(self.sources) == 1 and isinstance(source, AnyCorpus) else None

    @property
    def vocabulary(self) -> tuple[str, ...] | None:
        """The vocabulary (word,) if there is a single source that states it before its documents are read; else None."""
        if self.corpus is not None:
            return tuple(self.corpus.vocabulary)
        stream = None if len(self.sources) > 1 else _stream(self.sources[0])
        names = stream and stream.names()
        return tuple(names) if names else None

    @property
    def has_texts(self) -> bool:
        """Whether any file contains texts, so that their words must be counted."""
        requests = [source for source in self.sources if isinstance(source, Request)]
        streams = [(request, _stream(request)) for request in requests]
        return any(
            "texts" in request.read() if stream is None else stream.words == TEXTS
            for request, stream in streams
        )


def _source(source, options: dict) -> AnyCorpus | Request:
    """Return a source (path, name or corpus) as a corpus or, for a file, as a `Request`, before any document is read."""
    if isinstance(source, AnyCorpus):
        return source
    if not isinstance(source, str | os.PathLike) or not str(source):
        raise CorpusError(f"documents come from paths, names and corpora; got {source!r}")
    path = path_of(source)
    # what is not there has its sentence
    if is_named(source) or is_sharded(path) or not path.exists():
        return load_corpus(source, **options)
    if path.is_fifo():
        raise CorpusError(
            f"{path} is a pipe, which can be read only once; give its lines as standard input, or a file"
        )
    return request_of(path, **options, keep_text=False)


def _stream(request: Request) -> Stream | None:
    """Return the file as a stream of documents; None if it can only be read as a whole."""
    return trait(request.format, "stream")(request.path, request.read_options, lambda share: None)


def _file_documents(request: Request) -> Iterator[Document]:
    """Yield the documents of a file; error messages name its path."""
    try:
        stream = _stream(request)
        if stream is None:
            corpus = request.read()
            request.check("texts" in corpus)
            yield from (
                corpus["texts"]
                if "texts" in corpus
                else _corpus_documents(Corpus.from_pairs(**corpus, name=request.name))
            )
            return
        request.check(stream.words == TEXTS)
        if stream.words == TEXTS:
            for batch in stream.batches:
                yield from batch.documents
        else:
            yield from _row_documents(request, stream)
    except CorpusError as error:
        raise (
            error.within(f"{request.path}: ") if str(request.path) not in str(error) else error
        ) from None


def _row_documents(request: Request, stream: Stream) -> Iterator[dict[str, int]]:
    """Yield each document of a file of rows (document, word, count), as a dict from words to counts."""
    names, fixed_words = (
        stream.names(),
        frozenset(() if stream.words == IDS else known_words(request.path, request.read_options)),
    )
    document, bag, n_documents = 0, {}, 0
    for batch in stream.batches:
        n_documents += batch.n_documents
        documents, words, counts = batch.documents
        documents, counts = np.asarray(documents, np.int64), np.asarray(counts).tolist()
        if np.any(np.diff(documents, prepend=document) < 0):
            raise CorpusError(
                f"{request.path}: the rows of a document do not follow each other, or documents are not in the "
                f"order of their numbers; write a folder of shards, which can be a stream: "
                f"workbench data convert {request.path} FOLDER --shards"
            )
        if stream.words == IDS:
            words = [f"w{word}" if names is None else names[word] for word in words.tolist()]
        if (
            fixed_words
            and (unknown := next((word for word in words if word not in fixed_words), None))
            is not None
        ):
            raise unknown_word(request.path, unknown)
        starts = np.flatnonzero(np.diff(documents)) + 1
        for begin, end in pairwise([0, *starts.tolist(), len(documents)]):
            if begin < end and documents[begin] > document:
                yield bag
                # documents without a row
                yield from ({} for _ in range(int(documents[begin]) - document - 1))
                document, bag = int(documents[begin]), {}
            for word, count in zip(words[begin:end], counts[begin:end], strict=True):
                bag[word] = bag.get(word, 0) + count
    n_documents = stream.rest()["n_documents"] if stream.words == IDS else n_documents
    yield from ([bag] if n_documents else ())
    yield from ({} for _ in range(n_documents - document - 1))


def _corpus_documents(corpus: AnyCorpus) -> Iterator[dict[str, int]]:
    """Yield each document of a corpus as a dict from words to counts, part by part."""
    return chain.from_iterable(map(named_counts, corpus.parts()))
