"""Documents of files as they come, some of them in memory at a time: for streams, which do not keep them."""

import os
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.any_corpus import AnyCorpus
from workbench.corpus.catalog.named import is_named, load_corpus
from workbench.corpus.corpus import CorpusError
from workbench.corpus.formats.by_name import known_words, unknown_word
from workbench.corpus.formats.interface import IDS, TEXTS, Stream, trait
from workbench.corpus.formats.readers import Request, request_of
from workbench.corpus.shards.sharded import is_sharded
from workbench.data.opening import path_of

Document = str | dict[str, int]
"""A text, or words with their counts."""


class FileDocuments:
    """The documents of files, one after the other: texts, or mappings of words to counts. Can be iterated repeatedly.

    Parameters
    ----------
    *sources : path, name of the catalog, Corpus or ShardedCorpus
        Of a folder of shards a shard is in memory at a time, of formats that cannot be read some documents at a time (Excel,
        npz, FASTA, running text, a table with a column for each word) the whole file. Rows of counts of one document must
        follow each other, documents in the order of their numbers.
    **options
        Of `workbench.read_corpus`, but for keep_text and options that choose words of a vocabulary; they hold for all files.

    Attributes
    ----------
    sources : list of Corpus, ShardedCorpus, or what is known of a file before it is read
    name : str, of the first source
    of_text : dict, the options by which words are found in texts; `workbench.fit_stream` and `workbench.update` use them

    Raises
    ------
    CorpusError
        No source, one that is not there, a pipe, or options that it does not have; later, what is wrong with a file.
    """

    def __init__(self, *sources, **options):
        if not sources:
            raise CorpusError("documents come from one file at least; none was given")
        if "keep_text" in options:
            raise CorpusError("texts of a stream are not kept; leave keep_text out")
        self.sources = [_source(source, options) for source in sources]
        self.name = self.sources[0].name
        self.of_text = next(
            (each.text_options for each in self.sources if isinstance(each, Request)), {}
        )
        self._n: int | None = None

    def __iter__(self) -> Iterator[Document]:
        for source in self.sources:
            yield from (_of_corpus(source) if isinstance(source, AnyCorpus) else _of_file(source))

    def count(self) -> int:
        """Return the number of documents, empty ones included; the files are read once for it."""
        if self._n is None:
            self._n = sum(
                each.n_documents if isinstance(each, AnyCorpus) else sum(1 for _ in _of_file(each))
                for each in self.sources
            )
        return self._n

    @property
    def corpus(self) -> AnyCorpus | None:
        """The only source, where it is a corpus; else None."""
        source = self.sources[0]
        return source if len(self.sources) == 1 and isinstance(source, AnyCorpus) else None

    @property
    def vocabulary(self) -> tuple[str, ...] | None:
        """The (word,) vocabulary of the only source, where it is known before the documents; else None."""
        if self.corpus is not None:
            return tuple(self.corpus.vocabulary)
        stream = None if len(self.sources) > 1 else _stream(self.sources[0])
        names = stream and stream.names()
        return tuple(names) if names else None

    @property
    def has_texts(self) -> bool:
        """Whether a file has texts that are not yet counted."""
        return any(_has_texts(each) for each in self.sources if isinstance(each, Request))


def _source(source, options: dict) -> AnyCorpus | Request:
    """Open a source without reading its documents."""
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
    """Return a file as a stream of documents; None where it is read at once."""
    return trait(request.format, "stream")(request.path, request.read_options, lambda share: None)


def _has_texts(request: Request) -> bool:
    stream = _stream(request)
    return "texts" in request.read() if stream is None else stream.words == TEXTS


def _of_file(request: Request) -> Iterator[Document]:
    """Yield the documents of a file; errors name its path."""
    try:
        stream = _stream(request)
        if stream is None:
            read = request.read()
            request.check("texts" in read)
            yield from (
                read["texts"]
                if "texts" in read
                else _of_corpus(Corpus.from_pairs(**read, name=request.name))
            )
            return
        request.check(stream.words == TEXTS)
        if stream.words == TEXTS:
            for batch in stream.batches:
                yield from batch.documents
        else:
            yield from _of_rows(request, stream)
    except CorpusError as error:
        raise (
            error.within(f"{request.path}: ") if str(request.path) not in str(error) else error
        ) from None


def _of_rows(request: Request, stream: Stream) -> Iterator[dict[str, int]]:
    """Yield the documents of rows of counts."""
    names, known = (
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
        words = _named(words, names) if stream.words == IDS else words
        if known and (odd := next((word for word in words if word not in known), None)) is not None:
            raise unknown_word(request.path, odd)
        begins = np.flatnonzero(np.diff(documents)) + 1
        for begin, end in pairwise([0, *begins.tolist(), len(documents)]):
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


def _named(ids: np.ndarray, names: list[str] | None) -> list[str]:
    """Return the words of ids; w0, w1, … where nothing names them."""
    return (
        [f"w{at}" for at in ids.tolist()] if names is None else [names[at] for at in ids.tolist()]
    )


def _of_corpus(corpus: AnyCorpus) -> Iterator[dict[str, int]]:
    """Yield the documents of a corpus, a part at a time."""
    names = corpus.vocabulary
    for shard in corpus.parts():
        for begin, end in pairwise(shard.indptr.tolist()):
            words = map(names.__getitem__, shard.words[begin:end].tolist())
            yield dict(zip(words, shard.counts[begin:end].tolist(), strict=True))
