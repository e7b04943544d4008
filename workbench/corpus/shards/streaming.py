"""Convert a file to a sharded corpus without holding it in memory; several processes count its words.

The file is read once in order: texts are counted, words numbered in order of first appearance, and rows (document, word,
count) written to temporary files. Then words are sorted, pruned and renumbered, and the shards are written. The result has
the content hash of the corpus that the readers make in memory.
"""

import multiprocessing
import os
import shutil
import signal
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from functools import partial
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus.corpus import INT32_MAX, CorpusError, check_unnamed
from workbench.corpus.covariates import checked_inputs, checked_sequence
from workbench.corpus.formats.by_name import known_words, unknown_word
from workbench.corpus.formats.interface import IDS, TEXTS, Batch, Stream, trait
from workbench.corpus.formats.readers import Request, read_request, request_of
from workbench.corpus.quality import KEEP
from workbench.corpus.shards.kept_counts import KeptCounts, identity, kept_beside
from workbench.corpus.shards.pair_files import PairFiles
from workbench.corpus.shards.shard_writer import VALUES, ShardWriter
from workbench.corpus.shards.sharded import ShardedCorpus, finish
from workbench.corpus.texts.counting import (
    LISTS,
    PRUNING,
    TEXT_OPTIONS,
    WordCounts,
    as_counted,
    check_pruning,
    count_words,
    counted,
    kept_words,
    no_word_left,
    repeatable,
    written,
)
from workbench.corpus.texts.words import OF_WORDS, WORD_PATTERN, analyser, stop_list
from workbench.data.available_memory import check_fits
from workbench.data.reading import note, noting
from workbench.data.saving import new_folder, refuse_there

WORD_BYTES = 200
"""Estimated bytes of a word while a file is read: its text, its number, and its counts."""
DEFAULTS = {name: signature(count_words).parameters[name].default for name in TEXT_OPTIONS}
Progress = Callable[[str, float], None]
"""A function that is called with the step, "reading" or "writing", and the share done."""


def read_shards(
    path: str | os.PathLike,
    folder: str | os.PathLike,
    processes: int = 1,
    progress: Progress | None = None,
    kept: str | os.PathLike | None = None,
    **options,
) -> ShardedCorpus:
    """Convert a file to a sharded corpus with the same content and hash as `read_corpus` would give.

    Memory is bounded except for the vocabulary (about 200 bytes per word, pruned ones included), 8 bytes per document, and
    times, sequences and the names of documents of a table of counts. Some formats are read at once, because their files are
    small or all rows are needed: Excel, npz, FASTA, running text, a table with a column per word, a pipe. Texts and other
    columns are not kept.

    Parameters
    ----------
    path : path
        See `read_corpus`.
    folder : path
        Must not exist; it is written atomically. As much free space again is needed beside it meanwhile.
    processes : int, default 1
        Number of processes that count words. With more than one, a script needs ``if __name__ == "__main__":`` around its
        code, as always in Python when processes are started. A tokenizer is called in this process only.
    progress : function of what is done ("reading" or "writing") and a share, optional
        Called during the conversion.
    kept : path, default ``.FOLDER.counted`` beside the folder
        Folder of the counts so far, about 8 bytes per pair. It is deleted at the end. A conversion that is interrupted or
        killed after more than some seconds leaves it, and the same conversion resumes from it. Delete it to begin anew. With a
        tokenizer no counts are kept.
    **options
        Of `read_corpus`, but for keep_text.

    Warns
    -----
    UserWarning
        It resumes an interrupted conversion, or begins anew because the file or the options have changed.

    Raises
    ------
    CorpusError
        The errors of `read_corpus`; a folder that exists or cannot be written; a line of more than 2^26 characters; more words
        than fit into memory.
    """
    processes = CorpusError.whole("processes", processes, 1)
    if "keep_text" in options:
        raise CorpusError("texts are not kept beside shards; leave keep_text out")
    if options.get("repeated", KEEP) != KEEP:
        raise CorpusError("repeated documents are not looked for in shards; leave repeated out")
    request = request_of(path, **options, keep_text=False)
    folder, progress = Path(folder).expanduser(), progress or (lambda what, share: None)
    refuse_there(folder)
    with noting() as notes:
        stream = _stream(request, partial(progress, "reading"))
    details = notes["found"]
    if stream is None:
        return ShardedCorpus.write(read_request(request), folder)
    with (
        new_folder(folder) as new_path,
        _open_counts(request, stream, Path(kept or kept_beside(folder))) as counts,
    ):
        try:
            with noting() as notes:
                note("found", **details)
                _write(request, stream, new_path, processes, progress, counts, notes)
        except CorpusError as error:
            raise (
                error.within(f"{request.path}: ") if str(request.path) not in str(error) else error
            ) from None
    return ShardedCorpus.open(folder)


@contextmanager
def _open_counts(request: Request, stream: Stream, path: Path) -> Iterator[KeptCounts | None]:
    """Yield the store of word counts of this conversion, or None if the file has no texts or a tokenizer is given.

    The folder is kept if the block is interrupted and enough is stored; otherwise it is deleted.
    """
    options = as_counted(request.counted, request.text_options)
    if stream.words != TEXTS or options.get("tokenizer") is not None:
        yield None
        return
    for name in LISTS:
        if name in request.text_options:
            # an iterator gives its words once
            request.text_options[name] = options[name] = repeatable(options[name])
    stop_words = sorted(stop_list((OF_WORDS | options)["stop_words"]))  # those of a file too
    settings = {
        "asked": request.read_options._asdict(),
        "format": request.format.MEANING,
        "words": options,
        "stop_words": stop_words,
    }
    counts = KeptCounts(path, identity(request.path, settings))
    if counts.n_documents:
        warnings.warn(
            f"continues after the {counts.n_documents:,} texts that an interrupted conversion has counted; to begin "
            f"anew delete {path}",
            stacklevel=4,
        )
    elif counts.replaced:
        warnings.warn(
            f"begins anew: {path} had the counts of another file, of one that has changed since, or by other options",
            stacklevel=4,
        )
    try:
        yield counts
    except KeyboardInterrupt:
        if counts.is_worth:
            counts.close()
        raise
    finally:
        counts.delete()


def _stream(request: Request, progress: Callable[[float], None]) -> Stream | None:
    """Return the file as a stream of documents; None if it can only be read as a whole."""
    if request.path.is_fifo():
        return None
    return trait(request.format, "stream")(request.path, request.read_options, progress)


def _write(
    request: Request,
    stream: Stream,
    folder: Path,
    processes: int,
    progress: Progress,
    counts: KeptCounts | None,
    notes: dict,
) -> None:
    """Read the stream and write a sharded corpus into ``folder``; ``notes`` go into its record of reading."""
    request.check(stream.words == TEXTS)
    with (
        closing(_Fields(folder / "fields")) as fields,
        closing(PairFiles(folder / "pairs")) as pairs,
    ):
        read_all = (
            partial(_read_texts, processes=processes, kept_counts=counts)
            if stream.words == TEXTS
            else _read_counts
        )
        words, n_documents, rest = read_all(request, stream, pairs, fields)
        n_documents = rest.pop("n_documents", n_documents)
        with closing(ShardWriter(folder, len(words.vocabulary))) as writer:
            writer.texts("vocabulary").add(words.vocabulary)
            fields.finish(writer, rest)
            for last, indptr, ids, counts in _documents(pairs, n_documents, words.numbers):
                writer.add(indptr, ids, counts)
                progress("writing", last / n_documents)
            shutil.rmtree(folder / "pairs")
            shutil.rmtree(folder / "fields")
            if writer.n_tokens == 0:
                raise CorpusError("a corpus needs at least one token; none came")
            reading = request.reading(notes)
            if stream.words == TEXTS:
                options = as_counted(request.counted, request.text_options)
                reading["options"] |= written(DEFAULTS | options)
            finish(writer, request.name, reading=reading)


class _Words(NamedTuple):
    """The vocabulary, and the final number (word,) int32 of each provisionally numbered word; -1 for a pruned word."""

    vocabulary: list[str]
    numbers: np.ndarray | None  # None: numbers do not change


# ---------------------------------------------------------------------- texts


def _read_texts(
    request: Request,
    stream: Stream,
    pairs: PairFiles,
    fields: "_Fields",
    processes: int,
    kept_counts: KeptCounts | None,
):
    """Count the words of all texts; return the vocabulary, the number of documents, fields known only at the end."""
    options = as_counted(request.counted, request.text_options)
    word_options = {
        name: repeatable(options[name]) if name in LISTS else options[name]
        for name in OF_WORDS
        if name in options
    }
    pruning = {name: options[name] for name in PRUNING if name in options}
    check_pruning(**pruning)
    analyser(**word_options)  # refuses what is out of range before anything is read
    ids: dict[str, int] = {}
    occurs_in, totals, n_documents = np.zeros(0, np.int64), np.zeros(0, np.int64), 0
    n_words = 0
    for batch, counts in _reuse_counts(stream.batches, word_options, processes, kept_counts):
        numbers = np.array([ids.setdefault(word, len(ids)) for word in counts.words], np.int32)
        occurs_in, totals = _padded(occurs_in, len(ids)), _padded(totals, len(ids))
        occurs_in[numbers] += np.bincount(counts.ids, minlength=len(numbers))
        totals[numbers] += np.bincount(
            counts.ids, weights=counts.counts, minlength=len(numbers)
        ).astype(np.int64)
        documents = np.repeat(
            np.arange(n_documents, n_documents + batch.n_documents, dtype=np.int32), counts.lengths
        )
        pairs.add(documents, numbers[counts.ids], counts.counts)
        fields.add(batch)
        n_documents += batch.n_documents
        n_words = _check_words(n_words, len(ids))
    if n_documents == 0:
        raise CorpusError(f"{request.path} holds no document; at least one was wanted")
    if not ids:
        raise no_word_left(n_documents, word_options.get("token_pattern", WORD_PATTERN))
    vocabulary = list(ids)
    ids.clear()
    order = np.array(sorted(range(len(vocabulary)), key=vocabulary.__getitem__))
    keep, left_out = kept_words(occurs_in[order], totals[order], n_documents, **pruning)
    note("left_out", **{name: sizes for name, sizes in left_out.items() if any(sizes)})
    kept_numbers = order[keep]
    numbers = np.full(len(vocabulary), -1, np.int32)
    numbers[kept_numbers] = np.arange(len(kept_numbers), dtype=np.int32)
    return _Words([vocabulary[word] for word in kept_numbers], numbers), n_documents, stream.rest()


def _padded(values: np.ndarray, n: int) -> np.ndarray:
    """Return the values, padded with zeros if they are fewer than n; the length then at least doubles."""
    if len(values) >= n:
        return values
    longer = np.zeros(max(n, 2 * len(values)), values.dtype)
    longer[: len(values)] = values
    return longer


def _check_words(n_before: int, n_words: int) -> int:
    """Return ``n_words``; each time it passes a power of two, raise an error unless memory can hold as many words again."""
    if n_words > INT32_MAX:
        raise CorpusError(f"a vocabulary may have {INT32_MAX} words; these are more")
    if n_words.bit_length() > n_before.bit_length():
        check_fits(
            WORD_BYTES * n_words,
            f"as many words again as the {n_words:,} so far",
            "leave out what is no word, with token_pattern or min_letters, or give a part of the file",
        )
    return n_words


_words_of: Callable[[str], list[str]] | None = None


def _start_worker(word_options: dict) -> None:
    """Initialise a worker process that counts words and leaves Ctrl-C to its parent."""
    global _words_of
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _words_of = analyser(**word_options)


def _count_texts(texts: list[str]) -> WordCounts:
    return counted(texts, _words_of)


def _reuse_counts(
    batches: Iterator[Batch], word_options: dict, processes: int, kept_counts: KeptCounts | None
) -> Iterator[tuple[Batch, WordCounts]]:
    """Yield (batch, word counts) in order; stored counts are used first, further ones are computed and stored."""
    for counts in kept_counts.counts() if kept_counts else ():
        batch = next(batches, None)
        if batch is None or batch.n_documents != len(counts.lengths):
            raise CorpusError(
                "the counts that were kept are not those of this file; they are deleted, so ask again"
            )
        yield batch._replace(documents=()), counts
    for batch, counts in _count_all(batches, word_options, processes):
        if kept_counts:
            kept_counts.add(counts)
        yield batch, counts


def _count_all(
    batches: Iterator[Batch], word_options: dict, processes: int
) -> Iterator[tuple[Batch, WordCounts]]:
    """Count the words of each batch, and yield (batch, counts) in order."""
    if processes == 1 or word_options.get("tokenizer") is not None:
        words_of = analyser(**word_options)
        for batch in batches:
            yield batch, counted(batch.documents, words_of)
        return
    # looked up once
    word_options = word_options | {
        "stop_words": list(stop_list((OF_WORDS | word_options)["stop_words"]))
    }
    context = multiprocessing.get_context("spawn")
    with _end_after(
        ProcessPoolExecutor(processes, context, _start_worker, (word_options,))
    ) as pool:
        queue: deque = deque()
        for batch in batches:
            queue.append(
                (batch._replace(documents=()), pool.submit(_count_texts, list(batch.documents)))
            )
            if len(queue) > 2 * processes:  # as many are held at most
                counted_batch, future = queue.popleft()
                yield counted_batch, future.result()
        for counted_batch, future in queue:
            yield counted_batch, future.result()


@contextmanager
def _end_after(pool: ProcessPoolExecutor) -> Iterator[ProcessPoolExecutor]:
    """Yield the pool of worker processes; end the processes when the block ends, also after an error."""
    try:
        yield pool
    except BrokenProcessPool:
        raise CorpusError(
            "a process that counts words was ended from outside, maybe for want of memory; give fewer processes, "
            "or one, and a script its `if __name__ == '__main__':`"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


# ---------------------------------------------------------------------- counts


def _read_counts(request: Request, stream: Stream, pairs: PairFiles, fields: "_Fields"):
    """Read all rows of counts; return the vocabulary, the number of documents, and fields known only at the end."""
    fixed_words = known_words(request.path, request.read_options) if stream.words != IDS else ()
    ids: dict[str, int] = {word: number for number, word in enumerate(fixed_words)}
    n_documents = n_rows = n_words = 0
    for batch in stream.batches:
        documents, words, counts = batch.documents
        documents, counts = np.asarray(documents, np.int64), np.asarray(counts)
        if stream.words != IDS:
            words = np.array([ids.setdefault(word, len(ids)) for word in words], np.int64)
            if fixed_words and len(ids) > len(fixed_words):
                raise unknown_word(request.path, list(ids)[len(fixed_words)])
            n_words = _check_words(n_words, len(ids))
        is_positive = counts > 0
        pairs.add(
            *(
                (documents, words, counts)
                if is_positive.all()
                else (documents[is_positive], words[is_positive], counts[is_positive])
            )
        )
        fields.add(batch)
        n_documents += batch.n_documents
        n_rows += len(counts)
    rest = stream.rest()
    if stream.words != IDS:
        return _Words(list(ids), None), n_documents, rest
    vocabulary, n_words = rest.pop("vocabulary"), rest.pop("n_words")
    check_unnamed(rest["n_documents"], n_words, n_rows, vocabulary is not None)
    return (
        _Words([f"w{w}" for w in range(n_words)] if vocabulary is None else vocabulary, None),
        n_documents,
        rest,
    )


# ---------------------------------------------------------------------- pairs and fields


def _documents(
    pairs: PairFiles, n_documents: int, numbers: np.ndarray | None
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield documents in blocks (last document + 1, indptr, words, counts), with final word numbers, each at most once."""
    for first, last, documents, words, counts in pairs.blocks(n_documents):
        if numbers is not None:
            words = numbers[words]
            is_kept = words >= 0
            documents, words, counts = documents[is_kept], words[is_kept], counts[is_kept]
        cells = (documents.astype(np.int64) - first) << 32 | words
        if np.any(cells[1:] <= cells[:-1]):
            order = np.argsort(cells)
            cells, counts = cells[order], counts[order]
            starts = np.flatnonzero(np.concatenate([[True], cells[1:] != cells[:-1]]))
            if len(starts) < len(cells):
                cells, counts = cells[starts], np.add.reduceat(counts, starts, dtype=np.int64)
        indptr = np.searchsorted(cells, np.arange(last - first + 1, dtype=np.int64) << 32)
        yield last, indptr, (cells & INT32_MAX).astype(np.int32), counts


class _Fields:
    """Writer of the titles, labels and inputs of all batches; a text field that a batch lacks becomes empty texts."""

    def __init__(self, folder: Path):
        folder.mkdir()
        self._folder, self._n = folder, 0
        self._writer = ShardWriter(folder, 0)

    def add(self, batch: Batch) -> None:
        """Add the fields of a batch's documents."""
        texts = {field: values for field, values in batch.fields.items() if values is not None}
        for name, values in texts.pop("inputs", {}).items():
            self._writer.inputs(name).add(values)
        for field in {*texts, *self._writer.fields}:
            if field not in self._writer.fields:
                self._writer.texts(field).add("" for _ in range(self._n))
            self._writer.texts(field).add(texts.get(field, [""] * batch.n_documents))
        self._n += batch.n_documents

    def finish(self, writer: ShardWriter, rest: dict) -> None:
        """Give the writer of a corpus the fields of all batches, and those known only at the end (``rest``)."""
        self._writer.close()
        # names; numbers were checked before
        checked_inputs({name: [0.0] for name in self._writer.input_names}, (), 1)
        if rest.get("sequence") is not None:
            rest["sequence"] = checked_sequence(rest["sequence"])
        writer.take(self._folder, self._writer.fields, self._writer.input_names)
        for field in ("titles", *VALUES):
            values = rest.pop(field, None)
            if values is not None:
                writer.texts(field).add(values)

    def close(self) -> None:
        """Close the files."""
        self._writer.close()
