"""Fit topics to a stream of documents, given nothing but a vocabulary.

The first batch becomes a run of `online-vb` with one pass, which is updated by the others as `workbench.update` does. So memory
grows with words, topics and the size of a batch, not with the number of documents.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.any_corpus import AnyCorpus
from workbench.corpus.objects import words_by_id
from workbench.corpus.streams.counting import Counted, as_arrays
from workbench.corpus.streams.file_documents import FileDocuments
from workbench.corpus.texts.counting import LISTS, as_written, repeatable
from workbench.engines import STREAMING, get_engine
from workbench.engines.options import split_options
from workbench.errors import DataError, Named
from workbench.runs.execution.fit import finish
from workbench.runs.execution.memory_check import Planned, check_room
from workbench.runs.execution.run import Run
from workbench.runs.execution.update import (
    Stream,
    counted_alike,
    counted_over,
    is_whole,
    update_by,
)
from workbench.runs.input_data import data_from
from workbench.runs.spec import SpecError, make_spec, whole
from workbench.runs.store.create import create_run
from workbench.runs.store.places import default_store


def fit_stream(
    documents,
    vocabulary=None,
    n_topics: int | None = None,
    alpha=None,
    beta: float | None = None,
    *,
    total_documents: int | None = None,
    passes: int = 1,
    options: dict | None = None,
    seed: int = 0,
    name: str | None = None,
    n_threads: int = 1,
    store=None,
    progress: bool = True,
    **of_text,
) -> Run:
    """Fit a run of `online-vb` to documents that are visited in batches, in their order, and not kept.

    Parameters
    ----------
    documents : iterable, Corpus, ShardedCorpus or FileDocuments
        As `workbench.update` takes them; a generator may be of any length. Of a `ShardedCorpus` one shard after the other is
        mapped into memory, of `workbench.FileDocuments` some documents of a file are; a path is read whole.
    vocabulary : (word,) strings, or a mapping between ids and words
        Fixed: other words are left out, and told. gensim's Dictionary is one. By default that of a corpus, table or path.
    n_topics, alpha, beta
        As of `workbench.fit`.
    total_documents : int, optional
        How many documents each batch stands for, D of the paper; by default as many as there are, where that is known; the
        documents of files are counted for it first.
    passes : int, default 1
        How often each document is visited, in the same batches in the same order. Above 1 the documents must be such as can be
        gone through again: a list, a corpus, files, and no generator or open file. The same, within rounding, as an update of
        the run by all documents for each further pass.
    options : dict
        ``batch_size``, ``tau0``, ``kappa`` and the others of `online-vb`.
    seed, n_threads, progress
        As of `workbench.fit`.
    name : str, optional
        Of the run; by default from its corpus, engine, K and hash.
    store : path, optional
        By default ``WORKBENCH_STORE`` or ``./runs``.
    **of_text
        tokenizer, stop_words and other options of raw text that find words.

    Returns
    -------
    Run
        Its corpus is that of the first batch, whose documents are fitted to the topics that all left. It began from the run of
        this batch alone, which stands beside it in the store. Further documents: `workbench.update`; topics of any documents:
        `workbench.infer`. The same documents in the same order give the same run again.

    Raises
    ------
    SpecError, StoreError, DataError
        One sentence; nothing is written then. After Ctrl-C the documents that were visited until then make the run, once there
        are two batches; as a stream is not kept, it goes on with those that are given to `workbench.update`, where
        ``spec.start["stream"]["n_came"]`` says how many to leave out.

    Source: Hoffman, Blei & Bach (2010), algorithm 2.
    """
    n_passes = _passes(passes, documents)
    # read for each pass
    of_text = {
        name: repeatable(value) if name in LISTS else value for name, value in of_text.items()
    }
    if isinstance(documents, FileDocuments):
        of_text, vocabulary = (
            documents.of_text | of_text,
            documents.vocabulary if vocabulary is None else vocabulary,
        )
    words = None if vocabulary is None else tuple(words_by_id(vocabulary, 0))
    data = (
        data_from(documents, STREAMING, **_of_ids(documents, words), **of_text)
        if is_whole(documents)
        else None
    )
    words = tuple(data.vocabulary) if words is None and data is not None else words
    if not words:
        raise DataError(
            "a stream needs its vocabulary before the first document; give it with vocabulary=, a list of words, "
            "as that of a corpus of some of the documents (corpus.vocabulary)"
        )
    total = _total(documents if data is None else data, total_documents)
    all_options = {"total_documents": total} | (options or {})
    size = split_options(get_engine(STREAMING), all_options)[1].batch_size

    def counted() -> Iterator[Counted]:
        if data is None:
            return counted_over(words, documents, None, words, of_text, "whose vocabulary is fixed")
        return counted_alike(words, data)

    stream = Stream(counted, size, n_passes)
    first = next(stream.batches, None)
    if first is None:
        raise stream.none_known("the vocabulary")
    titles = tuple(f"document {d}" for d in range(len(first)))
    corpus = Corpus(
        *as_arrays(first), words, titles, name=_name(documents if data is None else data)
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
        table = getattr(data, "table", None)
        return Planned(
            replace(spec, counted=dict(table.counted) if table else as_written(of_text) or None),
            corpus,
            None,
        )

    home, last = default_store() if store is None else Path(store), planned(name)
    check_room([last], here=True)
    second = next(stream.batches, None)
    if second is None:
        return finish(Run(create_run(home, *last[:3])), progress=progress, corpora=(corpus, None))
    first_run = planned(None)
    is_new = not (home / first_run.spec.name).exists()
    before = Run(create_run(home, *first_run[:3]))
    try:
        finish(before, progress=False, corpora=(corpus, None))
        stream.batches = chain([second], stream.batches)
        return update_by(before, lambda *_: stream, None, name, n_threads, progress)
    except BaseException:
        if is_new:
            before.remove()
        raise


def _passes(passes: int, documents) -> int:
    """Return the checked number of passes; raise SpecError for several passes over an iterator."""
    n_passes = whole("passes", passes, 1)
    if n_passes > 1 and isinstance(documents, Iterator):
        raise SpecError(
            Named("passes"),
            f"={n_passes} needs documents that can be gone through again, as a list, a corpus or "
            f"files; a {type(documents).__name__} gives them once: put them into a list or a file, or pass once",
        )
    return n_passes


def _name(documents) -> str:
    """Return the name of the corpus of the first batch."""
    return documents.name if isinstance(documents, AnyCorpus | FileDocuments) else "stream"


def _of_ids(documents, words: tuple | None) -> dict:
    """Return the vocabulary that names the columns of a matrix of counts; {} for other documents."""
    is_matrix = hasattr(documents, "tocoo") or (
        hasattr(documents, "ndim") and not hasattr(documents, "iloc")
    )
    return {"vocabulary": words} if is_matrix and words is not None else {}


def _total(documents, total_documents: int | None) -> int:
    """Return how many documents each batch stands for."""
    if total_documents is not None:
        return whole("total_documents", total_documents, 1)
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
