"""Infer theta of unseen documents under the topics of a run, and score their words (spec B.4).

Words are matched by their spelling; unknown words are left out, and their share is reported. The topics do not change; each
engine folds documents in by its own method of inference (`workbench.engines.lda.fold_in`).

Documents are inferred in slices: one after the other in this process, or in parallel on the workers of a cluster. The bounds of
slices depend on the documents and the number of topics only, and the uniforms of a document on its number and those of its
tokens. So theta is the same, to the bit, as if all documents were folded in together, for any number of workers.
"""

import contextlib
import csv
import io
import math
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from operator import ne
from pathlib import Path

import numpy as np
import xarray as xr

from workbench.corpus import AnyCorpus, Corpus, split_halves
from workbench.corpus.corpus import Documents
from workbench.data.arrays import sealed
from workbench.data.available_memory import check_fits
from workbench.data.saving import encoded, replacing
from workbench.data.stored_texts import NumberedTitles
from workbench.engines.engine import DOUBLE
from workbench.errors import DataError
from workbench.kernels.log_likelihood import log_likelihood
from workbench.kernels.simd.vectors import LANES
from workbench.models import VARIABLES
from workbench.records import Records
from workbench.runs.afterwards.infer_records import infer_records
from workbench.runs.afterwards.learnt import (
    Topics,
    checked_numbers,
    indices_in,
    known_part,
    renumbered,
    topics_of,
)
from workbench.runs.execution.run import Run, open_run
from workbench.runs.input_data import data_from
from workbench.runs.progress import bar
from workbench.runs.recorded import model_of
from workbench.runs.spec import SpecError

PAIRS, NUMBERS = 1 << 18, 1 << 20
"""Limits of a slice: pairs (3 MB with their indices), and numbers in its theta (8 MB); it has at least one document."""


@dataclass(frozen=True, eq=False)
class Slice:
    """Consecutive unseen documents with the word numbers of the run's vocabulary, as sent to a worker."""

    first_document: int  # number of documents before these
    first_token: int  # number of tokens before these, of words that the run knows
    indptr: np.ndarray  # (document + 1,) int64, from 0 on
    words: np.ndarray  # (pair,) int32
    counts: np.ndarray  # (pair,) int32
    authors: tuple | None  # (document,)
    times: tuple | None  # (document,)
    name: str  # name of the corpus
    # further fields of the documents by name, for a model that reads their columns
    columns: Mapping = field(default_factory=dict)

    def corpus(self, vocabulary) -> Corpus:
        """Return the documents as a corpus over a vocabulary, with the titles 0, 1, 2 …."""
        n = len(self.indptr) - 1
        return Corpus.of_checked(
            indptr=sealed(self.indptr),
            words=sealed(self.words),
            counts=sealed(self.counts),
            vocabulary=vocabulary,
            titles=NumberedTitles(range(n)),
            authors=self.authors,
            times=self.times,
            name=self.name,
            **self.columns,
        )


Inferred = tuple[slice, dict[str, np.ndarray]]
"""The place of consecutive documents in the corpus, and by name what is inferred of them.

theta (document, topic) float64, for an HDP without the weight of unused topics; n_tokens (document,) int64; and
out_of_vocabulary (document,) float64, the share of the tokens whose word the run does not know.
"""


def folded_in(
    n_threads: int, topics: Topics, seed: int, documents: Slice
) -> tuple[np.ndarray, float]:
    """Return theta (document, topic) of a slice, and the log likelihood of the slice's known tokens in nats."""
    pairs = documents.corpus(topics.vocabulary)
    theta = topics.fold_in(
        pairs,
        seed,
        n_threads,
        first_document=documents.first_document,
        first_token=documents.first_token,
    )
    logs = (
        log_likelihood(pairs.counts, topics.word_probability(theta, pairs))
        if pairs.n_pairs
        else 0.0
    )
    return np.ascontiguousarray(theta[:, : topics.n_topics]), logs


class Inference:
    """The inference of unseen documents under the topics of a run, slice by slice.

    Parameters
    ----------
    topics : Topics
    corpus : Corpus or ShardedCorpus
    seed, n_threads : int
        SpecError is raised if one is out of range.
    """

    def __init__(self, topics: Topics, corpus: AnyCorpus, seed: int, n_threads: int):
        checked_numbers(seed, n_threads)
        self.topics, self.corpus, self._seed, self._n_threads = topics, corpus, seed, n_threads
        self.bounds = self._cuts()
        self.n_known, self._logs = 0, []

    def slices(self, client=None) -> Iterator[Inferred]:
        """Yield the results of each slice in order, computed on the workers of ``client`` if one is given."""
        shares: deque[dict] = deque()  # tokens and unknown shares of the submitted slices

        def slices_of_corpus() -> Iterator[Slice]:
            word_indices = indices_in(self.topics.vocabulary, self.corpus.vocabulary)
            reads_columns = self.topics.spec.parts()[1].reads_columns
            for first, last in pairwise(self.bounds):
                part = self.corpus.rows(first, last)
                pairs = (
                    (part.indptr, part.words, part.counts)
                    if word_indices is None
                    else renumbered(part, word_indices)
                )
                columns = (
                    None if values is None else tuple(values)
                    for values in (part.authors, part.times)
                )
                further = self._further_columns(part, first, last) if reads_columns else {}
                documents_slice = Slice(first, self.n_known, *pairs, *columns, part.name, further)
                n_tokens, n_known_tokens = (
                    part.document_tokens,
                    documents_slice.corpus(self.topics.vocabulary).document_tokens,
                )
                unknown = (n_tokens - n_known_tokens) / np.maximum(n_tokens, 1)
                shares.append({"n_tokens": n_tokens, "out_of_vocabulary": unknown})
                self.n_known += int(n_known_tokens.sum())
                yield documents_slice

        work = partial(folded_in, self._n_threads)
        arguments = self.topics, self._seed
        if client is None:
            results = (work(*arguments, documents_part) for documents_part in slices_of_corpus())
        else:
            from workbench.runs.execution.cluster.inferring import results_of

            results = results_of(client, work, arguments, slices_of_corpus())
        for (theta, logs), (first, last) in zip(results, pairwise(self.bounds), strict=True):
            self._logs.append(logs)
            yield slice(first, last), {"theta": theta} | shares.popleft()

    def _further_columns(self, part: Corpus, first: int, last: int) -> dict:
        """Return labels, inputs and table of the documents first to last - 1, of which ``part`` is without a table."""
        table = self.corpus.table and self.corpus.table.of_documents(range(first, last))
        labels = None if part.labels is None else tuple(part.labels)
        inputs = {"inputs": part.inputs, "input_names": part.input_names}
        return {"labels": labels, "table": table} | inputs

    def attrs(self) -> dict:
        """Return the attributes of the result: run, engine, corpus, seed, share of unknown tokens and perplexity.

        The last two are complete after all slices.
        """
        log_likelihood = math.fsum(self._logs)
        return about(self.topics, self.corpus, self.n_known, self._seed) | {
            "perplexity_foldin_same": float(np.exp(-log_likelihood / self.n_known))
            if self.n_known
            else math.nan,
        }

    def _cuts(self) -> list[int]:
        """Return the bounds of the slices (the first document of each, then n_documents); each lies within one shard."""
        n_most, cuts = max(NUMBERS // self.topics.n_topics, 1), [0]
        for first_of_part, part in self.corpus.parts_in_order():
            indptr, first, n_documents = part.indptr, 0, part.n_documents
            while first < n_documents:
                last_full = int(np.searchsorted(indptr, indptr[first] + PAIRS, "right")) - 1
                first = min(max(last_full, first + 1), first + n_most, n_documents)
                cuts.append(first_of_part + first)
        return cuts


def about(topics: Topics, corpus, n_known: int, seed: int) -> dict:
    """Return attributes that describe a result: run, engine, corpus, seed, and the share of unknown tokens.

    n_known : tokens whose word the run knows
    """
    return {
        "run": topics.spec.name,
        "engine": topics.spec.engine,
        "corpus": corpus.name,
        "seed": seed,
        "out_of_vocabulary": 1 - n_known / corpus.n_tokens if corpus.n_tokens else 0.0,
    }


PROTOCOLS = {
    "document_completion": "theta is fitted to a random half of each document's known tokens, the other half is scored",
    "foldin_same": "theta is fitted to the very tokens that are scored; optimistic",
}
"""Protocols for the perplexity of unseen documents, with their meaning; each result has the name of its protocol."""
HELD = 5
"""Upper bound, from measurements, on the numbers in memory during inference for each number that a run stores per document."""


def infer(
    run: Run | str | Path | xr.Dataset,
    documents: Documents,
    seed: int = 0,
    n_threads: int = 1,
    store: str | Path | None = None,
    client: object = None,
    progress: bool = True,
    **columns,
) -> xr.Dataset:
    """Infer theta of unseen documents under the topics of a run.

    Parameters
    ----------
    run : Dataset, Run, path or name
        The run with the topics; a name is looked up in ``store`` (default: ``WORKBENCH_STORE`` or ``./runs``).
    documents : Corpus, ShardedCorpus, or any documents that `workbench.fit` accepts; Records for a Bayesian network
        For Records see `infer_records`. Raw text is counted as the run's texts were, except for what ``columns`` set.
        Where topics change over time, a document belongs to its year in the corpus's ``times``, or to the nearest year that the
        run knows; without a time it belongs to the last year.
    seed : int
        Seed of the Gibbs sweeps; deterministic engines ignore it.
    n_threads : int
        Number of threads; on a cluster, of each task. It does not change the result.
    client : distributed.Client, address of a scheduler, or "local", optional
        The workers of this cluster infer the documents, slice by slice, with the same result as one process. They receive the
        learnt parameters and the documents over the network, and need no shared files. See docs/cluster.md.
    progress : bool
        Show on stderr how many documents are done, and the time left, if there are many.
    **columns
        text, id, time, label, vocabulary, and how raw text is counted, as in `workbench.fit`.

    Returns
    -------
    xarray.Dataset
        ``theta`` (document, topic), ``n_tokens`` (document) and ``out_of_vocabulary`` (document), the share of the
        tokens whose word the run does not know. A document without a known token has the prior mean for theta.
        For an HDP, theta sums to a little less than 1: the remainder belongs to topics that have no token.
        Labels, times and other columns of the documents are coordinates, as ``document_label``.
        Attributes: the run, ``out_of_vocabulary`` of all tokens, and ``perplexity_foldin_same``, the perplexity
        of the known tokens to which theta was fitted (optimistic; `document_completion` gives an unbiased one).
        If they do not fit into memory, use `infer_to_file`.

    Source: specification of LDA, B.4.
    """
    if isinstance(documents, Records):
        if client is not None:
            raise SpecError("records are inferred by this process; leave client out")
        return infer_records(
            run if isinstance(run, xr.Dataset) else open_run(run, store), documents, n_threads
        )
    inference = _inference(run, documents, seed, n_threads, store, columns)
    topics, corpus = inference.topics, inference.corpus
    check_fits(
        corpus.n_documents * (topics.n_topics + 2) * DOUBLE,
        f"theta of the {corpus.n_documents:,} documents of {corpus.name!r}",
        "write it to a file (infer_to_file, --out FILE)",
    )
    data = {
        "theta": np.empty((corpus.n_documents, topics.n_topics)),
        "n_tokens": np.empty(corpus.n_documents, np.int64),
        "out_of_vocabulary": np.empty(corpus.n_documents),
    }
    with _open_results(inference, client, progress) as slices:
        for positions, inferred in slices:
            for name, values in data.items():
                values[positions] = inferred[name]
    coords = {
        "document": ("document", _objects(corpus.titles), {"long_name": "document"}),
        "topic": np.arange(topics.n_topics),
    } | {
        f"document_{name}": ("document", _objects(values), {"long_name": f"{name} of the document"})
        for name, values in _columns(corpus).items()
    }
    arrays = {
        name: (VARIABLES[name].dims, values, VARIABLES[name].attrs) for name, values in data.items()
    }
    return xr.Dataset(arrays, coords, inference.attrs())


def infer_to_file(
    run: Run | str | Path | xr.Dataset,
    documents: Documents,
    path: str | Path,
    seed: int = 0,
    n_threads: int = 1,
    store: str | Path | None = None,
    client: object = None,
    progress: bool = True,
    **columns,
) -> dict:
    """Infer theta of unseen documents and write it to a CSV file, with one slice of documents in memory at a time.

    Parameters
    ----------
    path : path
        The file; an existing one is replaced when all documents are inferred. It has a row for each document, in order: title,
        number of tokens, share of unknown tokens, theta with all digits, and other columns of the document.
    run, documents, seed, n_threads, store, client, progress, **columns
        As in `infer`, but no Records.

    Returns
    -------
    dict
        The attributes of the Dataset that `infer` returns, ``n_documents`` and ``path``.

    Raises
    ------
    SpecError, StoreError, DataError, ClusterError
        Also, before anything is inferred, if the file cannot be written.
    """
    if isinstance(documents, Records):
        raise SpecError("infer_to_file writes theta of documents; use infer for records")
    inference, path = _inference(run, documents, seed, n_threads, store, columns), Path(path)
    corpus = inference.corpus
    columns_by_name = {
        name: values
        for name, values in _columns(corpus).items()
        if any(map(ne, values, corpus.titles))
    }
    topics = (f"topic {k}" for k in range(inference.topics.n_topics))
    with _open_csv(path) as write, _open_results(inference, client, progress) as slices:
        write([["document", "n_tokens", "out_of_vocabulary", *topics, *columns_by_name]])
        for positions, inferred in slices:
            rows = zip(
                corpus.titles[positions],
                inferred["n_tokens"].tolist(),
                inferred["out_of_vocabulary"].tolist(),
                inferred["theta"].tolist(),
                *(values[positions] for values in columns_by_name.values()),
                strict=True,
            )
            write(
                [title, n_tokens, unknown, *theta, *others]
                for title, n_tokens, unknown, theta, *others in rows
            )
    return inference.attrs() | {"n_documents": corpus.n_documents, "path": str(path)}


def _inference(run, documents, seed: int, n_threads: int, store, columns: dict) -> Inference:
    """Return the `Inference` of documents under a run; raw text is counted with the options of the run's texts."""
    topics = topics_of(run, store)
    corpus = data_from(documents, None, counted=topics.spec.counted, **columns)
    return Inference(topics, corpus, seed, n_threads)


def _columns(corpus: AnyCorpus) -> dict[str, Sequence]:
    """Return labels, times and other columns of the documents as a dict from column names to values."""
    columns = {"label": corpus.labels, "time": corpus.times} | (
        {} if corpus.table is None else corpus.table.metadata
    )
    return {str(name): values for name, values in columns.items() if values is not None}


def _objects(values: Sequence) -> np.ndarray:
    return np.array(list(values), dtype=object)


@contextlib.contextmanager
def _open_results(inference: Inference, client, progress: bool) -> Iterator[Iterator[Inferred]]:
    """Yield an iterator over the results of each slice, computed here or on a cluster, and show a progress bar.

    Warns at the end if the run knows no word of the documents.
    """
    corpus = inference.corpus
    with contextlib.ExitStack() as stack:
        if client is not None:
            from workbench.runs.execution.cluster.connecting import client_of

            client = stack.enter_context(client_of(client))
        is_shown = progress and len(inference.bounds) > 2
        progress_bar = stack.enter_context(
            bar(corpus.name, corpus.n_documents, is_shown, unit=" documents")
        )
        slices = stack.enter_context(contextlib.closing(inference.slices(client)))

        def results() -> Iterator[Inferred]:
            for positions, inferred in slices:
                yield positions, inferred
                progress_bar.update(positions.stop - positions.start)

        yield results()
    if corpus.n_tokens and not inference.n_known:
        warnings.warn(
            f"none of the {corpus.n_words} words of {corpus.name!r} is known to the run, so every theta is the prior mean",
            stacklevel=4,
        )


@contextlib.contextmanager
def _open_csv(path: Path) -> Iterator[Callable]:
    """Yield a function that writes rows to a temporary CSV file, which replaces the file ``path`` at the end of the block."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:

            def write(rows) -> None:
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows(rows)
                file.write(encoded(text.getvalue(), path))

            yield write
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}; choose another place"
        ) from error


def inference_bytes(run: xr.Dataset, n_documents: int) -> int:
    """Return an upper bound on the bytes of memory that `infer` needs for n documents, without the topics.

    run : Dataset of a run

    The bound is `HELD` numbers for each number that the run stores per document (in pachinko also for each super-topic and
    topic). Numbers that a network stores per author are counted for each document, as if it had a new author.
    """
    rows = model_of(run).document_dims
    numbers = [
        math.prod(
            length for dim, length in values.sizes.items() if dim not in rows and dim != "snapshot"
        )
        for values in run.data_vars.values()
        if rows.intersection(values.dims)
    ]
    return n_documents * DOUBLE * HELD * sum(n + LANES for n in numbers)


def with_known_part(topics: Topics, unseen: Documents) -> tuple[Corpus, Corpus]:
    """Return unseen documents, and the same documents with known words only; raise SpecError if no word is known."""
    corpus = data_from(unseen, None, counted=topics.spec.counted)
    corpus = corpus.require_memory("unseen documents are scored in memory")
    known_corpus = known_part(corpus, topics.vocabulary)
    if known_corpus.n_tokens == 0:
        raise SpecError(
            f"the run knows no word of {corpus.name!r}, so nothing can be scored; give documents like its own"
        )
    return corpus, known_corpus


def document_completion(
    run: Run | str | Path | xr.Dataset,
    unseen: Corpus,
    seed: int = 0,
    protocol: str = "document_completion",
    n_threads: int = 1,
    store: str | Path | None = None,
) -> dict:
    """Compute the document-completion perplexity of unseen documents by a named protocol.

    Parameters
    ----------
    run : Dataset, Run, path or name
    unseen : Corpus, or list of str
        Documents that were not in the training corpus (`hold_out_documents` sets some aside).
    seed : int
        Seed of the random halves and of the Gibbs sweeps.
    protocol : "document_completion" or "foldin_same"
        See `PROTOCOLS`. Words that the run does not know are left out before documents are halved.

    Returns
    -------
    dict
        ``perplexity`` (exp of the mean negative log probability per scored token), ``protocol`` and its ``meaning``,
        ``n_scored`` tokens in ``n_documents`` documents, ``n_skipped`` documents with too few known tokens (fewer
        than two, or none for foldin_same), ``out_of_vocabulary`` share of all tokens, run, engine, corpus, seed.

    Raises
    ------
    SpecError, StoreError, CorpusError
        Also if no token can be scored.

    Source: specification of LDA, B.4.
    """
    SpecError.one_of("protocol", protocol, PROTOCOLS)
    topics = topics_of(run, store)
    corpus, known_corpus = with_known_part(topics, unseen)
    observed, scored = (
        split_halves(known_corpus, seed)
        if protocol == "document_completion"
        else (known_corpus, known_corpus)
    )
    theta = topics.fold_in(observed, seed, n_threads)
    n_documents = int(np.count_nonzero(scored.document_tokens))
    return {
        "perplexity": topics.perplexity(theta, scored),
        "protocol": protocol,
        "meaning": PROTOCOLS[protocol],
        "n_scored": scored.n_tokens,
        "n_documents": n_documents,
        "n_skipped": corpus.n_documents - n_documents,
        **about(topics, corpus, known_corpus.n_tokens, seed),
    }
