"""Update the topics of a run of `online-vb` with a stream of documents, or fit a run to a stream, given a vocabulary.

The documents are visited once, in batches, in their order, and are not kept. The updated topics are stored as the counts of a
warm start, by content; the new run starts from these, holds them fixed, and fits the documents of the first run to them. So it
can be recomputed from its store, to the bit, and its perplexity is comparable with that of the first run.

To fit a run to a stream, the first batch becomes a run with one pass, which is updated by the other batches. So memory grows
with words, topics and the size of a batch, not with the number of documents.
"""

import hashlib
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.corpus import AnyCorpus, Corpus
from workbench.corpus.corpus import Documents
from workbench.corpus.objects import words_by_id
from workbench.corpus.streams import (
    Counted,
    FileDocuments,
    Vocabulary,
    as_arrays,
    in_batches,
)
from workbench.corpus.texts.counting import (
    LISTS,
    as_counted,
    as_written,
    repeatable,
    written,
)
from workbench.corpus.texts.words import OF_WORDS, analyser
from workbench.data.reading import ORIGINS
from workbench.engines import STREAMING, get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.lda import online_vb
from workbench.engines.lda.hyperparameters import Learning
from workbench.engines.options import split_options
from workbench.errors import DataError, Named, nearest_or_all
from workbench.runs.execution.control import ending_cleanly, giving
from workbench.runs.execution.fit import finish
from workbench.runs.execution.memory_check import Planned, check_room
from workbench.runs.execution.run import Run, find_run
from workbench.runs.input_data import data_from, separate_options
from workbench.runs.loop import Control
from workbench.runs.progress import bar
from workbench.runs.recorded import priors_of
from workbench.runs.settings import signature_with
from workbench.runs.spec import SpecError, make_spec
from workbench.runs.store.archive import counts_hash, get_corpus
from workbench.runs.store.layout import StoreError
from workbench.runs.store.places import default_store
from workbench.runs.store.writer import create_run


class Visited(NamedTuple):
    """Numbers of documents, tokens and batches of a stream that were visited, for the spec of the run."""

    # documents with a word that the run knows; counted again in each pass
    n_documents: int
    n_left_out: int  # documents without such a word
    n_tokens: int  # tokens of words that the run knows
    n_unknown: int  # tokens of words that the run does not know
    n_batches: int
    content: str  # sha256 (hex) of the counts, batch by batch
    n_passes: int  # passes over the documents; the last may have been stopped
    n_came: int  # documents read in the last pass, including those left out


class _Control(Control):
    """Interrupt callback of a stream: Ctrl-C acts at once while a document is awaited, else after the batch."""

    waiting = False

    def interrupt(self, number: int = signal.SIGINT) -> None:
        super().interrupt(number)
        if self.waiting:
            raise KeyboardInterrupt


def update(
    run: Run | str | os.PathLike,
    documents: Documents,
    *,
    total_documents: int | None = None,
    name: str | None = None,
    n_threads: int = 1,
    store: str | os.PathLike | None = None,
    progress: bool = True,
    vocabulary: Iterable[str] | Mapping | str | os.PathLike | None = None,
    **of_text,
) -> Run:
    """Create a run that continues a run of `online-vb` with further documents.

    Parameters
    ----------
    run : Run, path or name
        A run in a store; it is not changed. The new run has its vocabulary: unknown words are left out, and their number is
        printed and recorded.
    documents : iterable, or Corpus
        Visited once, in order, a batch of the run's ``batch_size`` at a time, and never in memory together: a generator may
        have any length. A document is a text (counted as those of the run were, as far as that is known), a list of tokens, a
        mapping from words to counts, or, with ``vocabulary``, a list of (word id, count) pairs. Anything else that
        `workbench.fit` accepts, such as a DataFrame, a matrix of counts or a path, is read into memory, except that of a
        `ShardedCorpus` one shard, and of `workbench.FileDocuments` some documents of a file are in memory at a time.
    total_documents : int, optional
        How many documents each batch stands for; by default as many as in the run.
    name : str, optional
        Name of the new run; by default from its corpus, engine, K and hash.
    n_threads : int
        Number of threads; it does not change the result.
    progress : bool
        Print on stderr how many documents were visited, and how many documents and tokens were left out.
    vocabulary : (id,) strings, or a mapping from ids to words, optional
        The word of each id, such as gensim's Dictionary.
    **of_text
        tokenizer, stop_words and other options of raw text that find words; see `workbench.fit`.

    Returns
    -------
    Run
        The new run. Its one iteration fits the training documents of the first run to the updated topics, which are fixed.
        ``start`` in its spec names the first run, and under ``stream`` has the numbers of documents, tokens and unknown tokens
        visited, and a hash of their counts. The same documents in the same order give the same run. `workbench.infer` infers
        the topics of the new documents.

    Raises
    ------
    SpecError, StoreError, DataError
        Nothing is written then.
    Interrupted, Terminated
        After Ctrl-C or SIGTERM. Their ``result`` is the run made from the whole batches visited so far; an update of it by the
        documents after the first ``n_came`` of its ``spec.start["stream"]`` gives the same topics as without Ctrl-C, within
        rounding.

    Source: Hoffman, Blei & Bach (2010), algorithm 2.
    """
    previous = Run(find_run(run, store))
    spec = previous.spec
    if spec.engine != STREAMING:
        raise SpecError(
            f"update continues a run of {STREAMING}, and {spec.name} is one of {spec.engine}; begin one from it: "
            f"workbench fit {spec.corpus} --engine {STREAMING} --start {spec.name}"
        )

    def make_stream(train: Corpus, batch_size: int) -> Stream:
        """Return the documents as a stream over the run's vocabulary; raise DataError if they are not iterable."""
        origin = f"whose vocabulary is that of {spec.name}"
        source = FileDocuments(documents) if isinstance(documents, AnyCorpus) else documents
        return Stream(
            lambda: counted_over(
                train.vocabulary, documents, spec.counted, vocabulary, of_text, origin
            ),
            batch_size,
            reading=source.reading if isinstance(source, FileDocuments) else None,
        )

    return update_by(previous, make_stream, total_documents, name, n_threads, progress)


def update_by(
    previous: Run,
    make_stream: Callable[[Corpus, int], "Stream"],
    total_documents: int | None = None,
    name: str | None = None,
    n_threads: int = 1,
    progress: bool = True,
) -> Run:
    """Continue a run as `update` does, with the stream that ``make_stream(corpus, batch size)`` returns."""
    spec, home = previous.spec, previous.path.parent
    if not os.access(home, os.W_OK):
        raise StoreError(
            f"cannot write to the store {home}, where {spec.name} lies; give yourself the right to"
        )
    train, test = (content and get_corpus(home, content) for content in (spec.train, spec.test))
    dataset = previous.dataset(train)
    if not dataset.sizes.get("snapshot"):
        raise SpecError(
            f"{spec.name} has no counts yet to continue from; let it take its first snapshot, or stop it"
        )
    iteration, priors = int(dataset["snapshot_iteration"][-1]), priors_of(dataset)
    n_kw = np.ascontiguousarray(dataset["n_kw"].isel(snapshot=-1).values, np.float64)
    total_documents = (
        None if total_documents is None else SpecError.whole("total_documents", total_documents, 1)
    )
    options = _continued_options(spec.parts()[2], train, iteration, total_documents)

    def planned(n_kw: np.ndarray, visited: Visited | None = None) -> Planned:
        """Return the new run as a `Planned`, with a warm start from the topics ``n_kw``."""
        warm_start, alphas = WarmStart(n_kw, None), priors.alphas.tolist()
        start = {
            "name": spec.name,
            "hash": spec.hash,
            "iteration": iteration,
            "counts": counts_hash(warm_start),
            "n_topics": len(n_kw),
            "dropped": 0.0,
        }
        if visited is not None:
            files = stream.reading and stream.reading["files"]
            record = {"reading": stream.reading} if files else {}
            start["stream"] = visited._asdict() | record
        new_options = spec.options | {option.name: option.default for option in fields(Learning)}
        new_options |= {
            "hold_topics": True,
            "batches_before": options.batches_before + (visited.n_batches if visited else 0),
        }
        new_options |= {"total_documents": total_documents} if total_documents else {}
        new = make_spec(
            train,
            STREAMING,
            len(n_kw),
            alphas[0] if len(set(alphas)) == 1 else tuple(alphas),
            spec.parts()[1].beta if np.ndim(priors.beta) else float(priors.beta),
            test=test,
            options=new_options,
            split=spec.split,
            start=(warm_start, start),
            n_iterations=1,
            seed=spec.seed,
            burn_in=spec.burn_in,
            name=name,
            n_threads=n_threads,
        )
        return Planned(replace(new, counted=spec.counted, reading=spec.reading), train, test)

    check_room([planned(n_kw)], here=True)
    stream, control = make_stream(train, options.batch_size), _Control()
    state = online_vb.topics_alone(n_kw, priors.alphas, priors.word_prior)
    visited = _visit(
        stream, state, options, StepContext(spec.seed, 0, n_threads), spec.name, progress, control
    )
    new = planned(np.ascontiguousarray(state.mean_wk[:, : len(n_kw)].T), visited)
    run = finish(Run(create_run(home, *new[:3])), progress=progress, corpora=new[1:3])
    if control.stopping() and progress:
        print(_how_to_resume(run.name, visited, stream.n_passes), file=sys.stderr)
    control.raise_stop(run)
    return run


def _continued_options(
    options: online_vb.Options, train: Corpus, iteration: int, total_documents: int | None
):
    """Return the options with which new batches continue the learning rate of a run after ``iteration`` iterations.

    total_documents : by default as in the run
    """
    n_documents = int(np.count_nonzero(train.document_tokens))
    n_visited = 0 if options.hold_topics else iteration * online_vb.n_batches(n_documents, options)
    total = total_documents or options.total_documents or n_documents
    return replace(
        options, batches_before=options.batches_before + n_visited, total_documents=total
    )


def is_whole(documents: object) -> bool:
    """Return whether all documents are at hand (a corpus, table, matrix or path), not supplied by an iterator."""
    is_array = any(hasattr(documents, attribute) for attribute in ("iloc", "tocoo", "ndim"))
    return is_array or isinstance(documents, AnyCorpus | str | Path)


def counted_over(
    words, documents, counted: dict | None, vocabulary, of_text: dict, origin: str
) -> Iterator[Counted]:
    """Return an iterator over the documents' word counts in a given vocabulary; raise DataError if not iterable.

    words (word,) : the vocabulary
    counted, of_text : how raw text was counted for the run, and options that override this
    vocabulary : the word of each id, for documents of ids
    origin : a clause for error messages that names the origin of the vocabulary
    """
    if isinstance(documents, FileDocuments):
        of_text = documents.of_text | of_text
    if is_whole(documents):
        return counted_alike(
            words, data_from(documents, None, counted=counted, vocabulary=vocabulary, **of_text)
        )
    if not isinstance(documents, Iterable):
        raise DataError(
            f"documents are an iterable of texts, of lists of tokens or of counts, or a Corpus; got {documents!r}"
        )
    if unknown := [name for name in of_text if name not in OF_WORDS]:
        raise DataError(
            f"no option {unknown[0]!r} of a stream, {origin}; {nearest_or_all(unknown[0], OF_WORDS)}"
        )
    options = {
        name: value for name, value in as_counted(counted, of_text).items() if name in OF_WORDS
    }
    ids = None if vocabulary is None else words_by_id(vocabulary, 0)
    return Vocabulary(words, analyser(**options), ids).count(documents)


def counted_alike(words, corpus: AnyCorpus) -> Iterator[Counted]:
    """Return an iterator over the word counts of a corpus's documents in another vocabulary, shard by shard."""
    own_vocabulary = Vocabulary(words, str.split)
    return chain.from_iterable(own_vocabulary.count_corpus(shard) for shard in corpus.parts())


class StreamPosition(NamedTuple):
    """The position of a stream after a batch: passes, documents and tokens so far."""

    n_passes: int  # passes so far, including the present one
    n_came: int  # documents of this pass so far, including those left out
    n_left_out: int  # documents without a known word, in all passes
    n_unknown: int  # tokens of unknown words, in all passes


class Stream:
    """A stream of documents in batches, over one or more passes.

    Parameters
    ----------
    counted : function that returns the documents from the first on, called for each pass
    batch_size : number of documents of a batch, all of the same pass
    n_passes : int
    reading : the record of how the documents of an update are read, if they have one

    Attributes
    ----------
    batches : iterator of batches, lists of `Counted`, each with a known word
    position : `StreamPosition` at the end of the last batch
    n_expected : approximate number of further documents, None if unknown
    n_fitted : numbers of documents and tokens of the first batch, if a run was fitted to it
    """

    n_expected: int | None = None
    n_fitted = 0, 0

    def __init__(
        self,
        counted: Callable[[], Iterator[Counted]],
        batch_size: int,
        n_passes: int = 1,
        reading: dict | None = None,
    ):
        self.n_passes, self.position, self.reading = n_passes, StreamPosition(1, 0, 0, 0), reading
        self._make_documents, self._size = counted, batch_size
        self.batches = self._all_batches(counted())

    def _all_batches(self, documents: Iterator[Counted]) -> Iterator[list[Counted]]:
        for n_passes in range(1, self.n_passes + 1):
            start, positions = self.position._replace(n_passes=n_passes, n_came=0), deque()
            documents = documents if n_passes == 1 else self._make_documents()
            for batch in in_batches(self._known_documents(documents, start, positions), self._size):
                for _ in batch:
                    self.position = positions.popleft()
                yield batch
            self.position = positions.pop()
            if self.position.n_came == self.position.n_left_out == 0:
                return  # no document at all: `none_known` says so
            if self.position.n_came == 0:
                raise DataError(
                    f"pass {n_passes} over the documents found none; give documents that can be iterated again, as a list"
                )

    def _known_documents(
        self,
        documents: Iterator[Counted],
        position: StreamPosition,
        positions: deque[StreamPosition],
    ) -> Iterator[Counted]:
        """Yield the documents that have a known word; append the stream's position after each document to ``positions``."""
        for document in documents:
            is_known = len(document.words) > 0
            position = position._replace(
                n_came=position.n_came + 1,
                n_left_out=position.n_left_out + (not is_known),
                n_unknown=position.n_unknown + document.n_unknown,
            )
            if is_known:
                positions.append(position)
                yield document
        positions.append(position)

    def none_known(self, owner: str) -> DataError:
        """Return the error for a stream in which no document has a word that ``owner`` (a run or vocabulary) knows."""
        n = self.position.n_left_out
        problem = (
            f"none of {_documents(n)} has a word that {owner} knows" if n else "no document came"
        )
        return DataError(f"{problem}; give documents like its own")


def _visit(
    stream: Stream,
    state: online_vb.State,
    options: online_vb.Options,
    context: StepContext,
    run: str,
    progress: bool,
    control: _Control,
) -> Visited:
    """Update the topics in a state batch by batch, in place; return the numbers of documents and tokens visited.

    Raises DataError if no document has a word that the run knows.
    """
    counts, content = Visited(0, 0, 0, 0, 0, "", 1, 0), hashlib.sha256()
    with (
        bar(f"{run} continues", stream.n_expected, progress, unit=" documents") as progress_bar,
        ending_cleanly(control),
    ):
        while not control.stopping() and (documents := _next(stream.batches, control)):
            arrays, position = as_arrays(documents), stream.position
            for array in arrays:
                content.update(array.tobytes())
            rate, share = options.rate(counts.n_batches), options.total_documents / len(documents)
            online_vb.take_in(online_vb.batch_of(*arrays), state, options, rate, share, context)
            counts = counts._replace(
                n_documents=counts.n_documents + len(documents),
                n_tokens=counts.n_tokens + int(arrays[2].sum(dtype=np.int64)),
                n_batches=counts.n_batches + 1,
                **position._asdict(),
            )
            progress_bar.update(len(documents))
    if not counts.n_documents:
        control.raise_stop()
        raise stream.none_known(run)
    # including documents left out after the last batch
    end = {} if control.stopping() else stream.position._asdict()
    counts = counts._replace(content=content.hexdigest(), **end)
    if progress:
        ending = "; stopped: what came behind them is not in it" if control.stopping() else ""
        print(_summary(run, counts, stream) + ending, file=sys.stderr)
    return counts


def _next(batches: Iterator[list[Counted]], control: _Control) -> list[Counted]:
    """Return the next batch; [] after the last one, and after Ctrl-C."""
    control.waiting = True
    try:
        return next(batches, [])
    except KeyboardInterrupt:
        if control.stopping():
            return []
        raise
    finally:
        control.waiting = False


def _summary(run: str, counts: Visited, stream: Stream) -> str:
    """Return a sentence on how many documents, batches and unknown tokens a stream had."""
    n_documents, n_tokens = stream.n_fitted
    n_documents, n_tokens = (
        n_documents + counts.n_documents,
        n_tokens + counts.n_tokens + counts.n_unknown,
    )
    n_batches = counts.n_batches + (stream.n_fitted != (0, 0))
    batches, passes = (
        "batch" if n_batches == 1 else "batches",
        f" of {stream.n_passes:,} passes" if stream.n_passes > 1 else "",
    )
    sentence = f"{_documents(n_documents)} in {n_batches:,} {batches}{passes}; {run} does not know the words of "
    sentence += f"{counts.n_unknown:,} of {n_tokens:,} tokens ({counts.n_unknown / n_tokens:.1%})"
    if counts.n_left_out:
        verb = "is" if counts.n_left_out == 1 else "are"
        sentence += (
            f"; left out {verb} {_documents(counts.n_left_out)} without a word that it knows"
        )
    return sentence


def _how_to_resume(run: str, counts: Visited, n_passes: int) -> str:
    """Return a sentence that says where a stream stopped, and the command that continues it."""
    pass_text = f" of pass {counts.n_passes:,} of {n_passes:,}" if n_passes > 1 else ""
    advice = (
        "; then an update by all documents for each further pass"
        if counts.n_passes < n_passes
        else ""
    )
    return (
        f"{run} has the documents{pass_text} up to number {counts.n_came:,}; "
        f"`workbench update {run} FILES --skip {counts.n_came}` continues with the others{advice}"
    )


def _documents(n: int) -> str:
    return "1 document" if n == 1 else f"{n:,} documents"


def fit_stream(
    documents: Documents,
    vocabulary: Iterable[str] | Mapping | str | os.PathLike | None = None,
    n_topics: int | None = None,
    alpha: float | Sequence[float] | None = None,
    beta: float | None = None,
    *,
    total_documents: int | None = None,
    passes: int = 1,
    options: dict | None = None,
    seed: int = 0,
    name: str | None = None,
    n_threads: int = 1,
    store: str | os.PathLike | None = None,
    progress: bool = True,
    **of_text,
) -> Run:
    """Fit a run of `online-vb` to a stream of documents, visited in batches in their order and not stored.

    Parameters
    ----------
    documents : iterable, Corpus, ShardedCorpus or FileDocuments
        As in `workbench.update`; a generator may have any length. Of a `ShardedCorpus` one shard, and of
        `workbench.FileDocuments` some documents of a file are in memory at a time; a path is read into memory.
    vocabulary : (word,) strings, or a mapping between ids and words
        The fixed vocabulary, such as gensim's Dictionary: other words are left out, and reported. Default: that of a corpus,
        table or path.
    n_topics, alpha, beta
        As in `workbench.fit`.
    total_documents : int, optional
        How many documents each batch stands for, D of the paper; by default the number of documents, if it is known; the
        documents of files are counted first.
    passes : int, default 1
        How often each document is visited, in the same batches in the same order. If it is above 1, the documents must be
        iterable repeatedly, such as a list, a corpus or files, not a generator or open file. It gives the same result, within
        rounding, as an update of the run by all documents for each further pass.
    options : dict
        ``batch_size``, ``tau0``, ``kappa`` and the other options of `online-vb`, or each of them as a keyword.
    seed, n_threads, progress
        As in `workbench.fit`.
    name : str, optional
        Name of the run; by default from its corpus, engine, K and hash.
    store : path, optional
        The store; by default ``WORKBENCH_STORE`` or ``./runs``.
    **of_text
        tokenizer, stop_words and other options that decide how raw text is divided into words.

    Returns
    -------
    Run
        The run. Its corpus is the first batch, whose documents are fitted to the topics learnt from all documents. It started
        from a run of this batch alone, which is also in the store. `workbench.update` adds further documents, and
        `workbench.infer` infers the topics of any documents. The same documents in the same order give the same run.

    Raises
    ------
    SpecError, StoreError, DataError
        Nothing is written then.
    Interrupted, Terminated
        After Ctrl-C or SIGTERM. Their ``result`` is the run made from the documents visited so far, or None before the third
        batch. To continue, give the remaining documents to `workbench.update`; ``spec.start["stream"]["n_came"]`` is the number
        to skip.

    Source: Hoffman, Blei & Bach (2010), algorithm 2.
    """
    _, of_text = separate_options(fit_stream, STREAMING, of_text | {"options": options})
    options, n_passes = of_text.pop("options"), _passes(passes, documents)
    # read for each pass
    of_text = {
        name: repeatable(value) if name in LISTS else value for name, value in of_text.items()
    }
    if isinstance(documents, FileDocuments):
        of_text = documents.of_text | of_text
        vocabulary = documents.vocabulary if vocabulary is None else vocabulary
    words = None if vocabulary is None else tuple(words_by_id(vocabulary, 0))
    if is_whole(documents):
        documents = data_from(
            documents, STREAMING, **_vocabulary_argument(documents, words), **of_text
        )
        words = tuple(documents.vocabulary) if words is None else words
    if not words:
        raise DataError(
            "a stream needs its vocabulary before the first document; give it with vocabulary=, a list of words, "
            "as that of a corpus of some of the documents (corpus.vocabulary)"
        )
    total = _total(documents, total_documents)
    all_options = {"total_documents": total} | options
    size = split_options(get_engine(STREAMING), all_options)[1].batch_size

    def counted() -> Iterator[Counted]:
        if isinstance(documents, AnyCorpus):
            return counted_alike(words, documents)
        return counted_over(words, documents, None, words, of_text, "whose vocabulary is fixed")

    stream = Stream(counted, size, n_passes)
    first = next(stream.batches, None)
    if first is None:
        raise stream.none_known("the vocabulary")
    has_name = isinstance(documents, AnyCorpus | FileDocuments)
    corpus = Corpus(
        *as_arrays(first),
        words,
        tuple(f"document {d}" for d in range(len(first))),
        name=documents.name if has_name else "stream",
        reading=_reading(documents, of_text),
    )
    stream.n_fitted = corpus.n_documents, corpus.n_tokens
    stream.n_expected = n_passes * total - len(first) if total_documents is None else None

    def planned(name: str | None) -> Planned:
        spec = make_spec(
            corpus,
            STREAMING,
            n_topics,
            alpha,
            beta,
            options=all_options,
            n_iterations=1,
            seed=seed,
            n_threads=n_threads,
            name=name,
        )
        table = getattr(documents, "table", None)
        return Planned(
            replace(spec, counted=dict(table.counted) if table else as_written(of_text) or None),
            corpus,
            None,
        )

    home, planned_run = default_store() if store is None else Path(store), planned(name)
    check_room([planned_run], here=True)
    second = next(stream.batches, None)
    if second is None:
        return finish(
            Run(create_run(home, *planned_run[:3])), progress=progress, corpora=(corpus, None)
        )
    first_run = planned(None)
    is_new = not (home / first_run.spec.name).exists()
    first_fit = Run(create_run(home, *first_run[:3]))
    try:
        with giving(lambda _: None):
            finish(first_fit, progress=False, corpora=(corpus, None))
        stream.batches = chain([second], stream.batches)
        return update_by(first_fit, lambda *_: stream, None, name, n_threads, progress)
    except BaseException as error:
        if is_new and not getattr(error, "result", None):
            first_fit.remove()
        raise


fit_stream.__signature__ = signature_with(fit_stream, data_from)


def _passes(passes: int, documents: object) -> int:
    """Check the number of passes and return it; raise SpecError for several passes over an iterator."""
    n_passes = SpecError.whole("passes", passes, 1)
    if n_passes > 1 and isinstance(documents, Iterator):
        raise SpecError(
            Named("passes"),
            f"={n_passes} needs documents that can be gone through again, as a list, a corpus or "
            f"files; a {type(documents).__name__} gives them once: put them into a list or a file, or pass once",
        )
    return n_passes


def _reading(documents: object, of_text: dict) -> dict:
    """Return the record of how the documents of a stream are read and counted, without entries that describe a single file."""
    record = getattr(documents, "reading", None) or {"options": written(of_text)}
    left_out = (*ORIGINS, "sha256", "content")
    return {name: value for name, value in record.items() if name not in left_out}


def _vocabulary_argument(documents: object, words: tuple | None) -> dict:
    """Return the vocabulary as keyword arguments of `data_from` for a matrix of counts; {} for other documents."""
    is_matrix = hasattr(documents, "tocoo") or (
        hasattr(documents, "ndim") and not hasattr(documents, "iloc")
    )
    return {"vocabulary": words} if is_matrix and words is not None else {}


def _total(documents: object, total_documents: int | None) -> int:
    """Return the number of documents that the batches represent: ``total_documents``, else the stream's length if known."""
    if total_documents is not None:
        return SpecError.whole("total_documents", total_documents, 1)
    if isinstance(documents, AnyCorpus):
        return int(np.count_nonzero(documents.document_tokens))
    if isinstance(documents, FileDocuments):
        return max(documents.count(), 1)
    if isinstance(documents, Iterable) and hasattr(documents, "__len__"):
        return max(len(documents), 1)
    raise SpecError(
        "the length of a stream is unknown; set ",
        Named("total_documents", text="total_documents="),
        ", the number of documents that each batch stands for",
    )
