"""Infer theta of unseen documents under the topics of a run, and score their words (spec B.4).

Words are matched by their spelling; unknown words are left out, and their rate is reported. The topics do not change; each
engine folds documents in by its own method of inference (`workbench.engines.lda.fold_in`).
"""

import contextlib
import csv
import io
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from operator import ne
from pathlib import Path

import numpy as np
import xarray as xr

from workbench.corpus import Corpus, split_halves
from workbench.corpus.any_corpus import AnyCorpus
from workbench.data.available_memory import check_fits
from workbench.data.saving import encoded, replacing
from workbench.engines.engine import DOUBLE
from workbench.errors import DataError
from workbench.kernels.simd.vectors import LANES
from workbench.models import VARIABLES
from workbench.records import Records
from workbench.runs.afterwards.infer_records import infer_records
from workbench.runs.afterwards.learnt import Topics, known_part, topics_of
from workbench.runs.afterwards.slices import Inference, Inferred, about
from workbench.runs.dataset import model_of
from workbench.runs.execution.run import open_run
from workbench.runs.input_data import data_from
from workbench.runs.progress import bar
from workbench.runs.spec import SpecError

PROTOCOLS = {
    "document_completion": "theta is fitted to a random half of each document's known tokens, the other half is scored",
    "foldin_same": "theta is fitted to the very tokens that are scored; optimistic",
}
"""Protocols of a perplexity of unseen documents, with their meaning; each result has the name of its protocol."""
HELD = 5
"""Numbers that inference holds for each number that a run has of a document; measured, no engine holds more."""


def infer(
    run,
    documents,
    seed: int = 0,
    n_threads: int = 1,
    store=None,
    client=None,
    progress: bool = True,
    **columns,
) -> xr.Dataset:
    """Infer theta of unseen documents, and the share of words that the run knows.

    Parameters
    ----------
    run : Dataset, Run, path or name
        The run with the topics; a name is looked up in ``store`` (default: ``WORKBENCH_STORE`` or ``./runs``).
    documents : Corpus, ShardedCorpus, or what `workbench.fit` takes; or Records, of a Bayesian network: see `infer_records`
        Raw text is counted as that of the run was, except for what ``columns`` set, where the run kept its texts.
        Where topics change over time, a document is of the year in its corpus's ``times``, or the nearest that the run knows;
        without one it is of the last year.
    seed : int
        Of the Gibbs sweeps; it plays no part in the deterministic engines.
    n_threads : int
        Never changes a bit. On a cluster those of each task.
    client : distributed.Client, address of a scheduler, or "local", optional
        The workers of this cluster infer the documents, some at a time, with the bits of one process. Only what the run has
        learnt and the documents are sent to them; nothing is shared but the network. See docs/cluster.md.
    progress : bool
        Show on stderr how many documents are done, and the time left, where they are many.
    **columns
        text, id, time, label, vocabulary, and how raw text is counted, as `workbench.fit` takes them.

    Returns
    -------
    xarray.Dataset
        ``theta`` (document, topic), ``n_tokens`` (document) and ``out_of_vocabulary`` (document), the share of the
        tokens whose word the run does not know. A document without a known token has the prior mean for theta.
        Under an HDP a theta sums to a little less than 1: the rest is for topics that have no token.
        Labels, times and the columns that were read with the documents are coordinates, as ``document_label``.
        Attributes: the run, ``out_of_vocabulary`` of all tokens, and ``perplexity_foldin_same``, the perplexity
        of the known tokens to which theta was fitted (optimistic; `document_completion` gives an unbiased one).
        Where memory does not hold them, `infer_to_file` writes them to a file.

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
    with _inferred(inference, client, progress) as each:
        for inferred in each:
            for name, values in data.items():
                values[inferred.first : inferred.last] = getattr(inferred, name)
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
    run,
    documents,
    path,
    seed: int = 0,
    n_threads: int = 1,
    store=None,
    client=None,
    progress: bool = True,
    **columns,
) -> dict:
    """Write theta of unseen documents to a CSV file as it is inferred, with some documents in memory at a time.

    Parameters
    ----------
    path : path
        A row for each document, in order: its title, tokens, the share of unknown ones, theta with all digits, and the columns
        that were read with it. The file is there when all is inferred, or not at all; one that is there is replaced.
    run, documents, seed, n_threads, store, client, progress, **columns
        As `infer` takes them; no Records.

    Returns
    -------
    dict
        The attributes of what `infer` returns, ``n_documents`` and ``path``.

    Raises
    ------
    SpecError, StoreError, DataError
        One sentence; also for a place that cannot be written, before anything is inferred. ClusterError of a cluster.
    """
    if isinstance(documents, Records):
        raise SpecError("infer_to_file writes theta of documents; use infer for records")
    inference, path = _inference(run, documents, seed, n_threads, store, columns), Path(path)
    corpus = inference.corpus
    more = {
        name: values
        for name, values in _columns(corpus).items()
        if any(map(ne, values, corpus.titles))
    }
    topics = (f"topic {k}" for k in range(inference.topics.n_topics))
    with _written(path) as write, _inferred(inference, client, progress) as each:
        write([["document", "n_tokens", "out_of_vocabulary", *topics, *more]])
        for inferred in each:
            place = slice(inferred.first, inferred.last)
            rows = zip(
                corpus.titles[place],
                inferred.n_tokens.tolist(),
                inferred.out_of_vocabulary.tolist(),
                inferred.theta.tolist(),
                *(values[place] for values in more.values()),
                strict=True,
            )
            write(
                [title, n_tokens, unknown, *theta, *others]
                for title, n_tokens, unknown, theta, *others in rows
            )
    return inference.attrs() | {"n_documents": corpus.n_documents, "path": str(path)}


def _inference(run, documents, seed: int, n_threads: int, store, columns: dict) -> Inference:
    """Return the inference of documents, counted as those of the run, under its topics."""
    topics = topics_of(run, store)
    return Inference(topics, _counted_alike(documents, topics, columns), seed, n_threads)


def _counted_alike(documents, topics: Topics, columns: dict) -> AnyCorpus:
    """Return documents as a corpus; raw text is counted as that of the run was, except for what ``columns`` set."""
    return data_from(documents, None, counted=topics.spec.counted, **columns)


def _columns(corpus: AnyCorpus) -> dict[str, Sequence]:
    """Return labels, times and other columns of the documents, by name."""
    known = {"label": corpus.labels, "time": corpus.times} | (
        {} if corpus.table is None else corpus.table.metadata
    )
    return {str(name): values for name, values in known.items() if values is not None}


def _objects(values: Sequence) -> np.ndarray:
    return np.array(list(values), dtype=object)


@contextlib.contextmanager
def _inferred(inference: Inference, client, progress: bool) -> Iterator[Iterator[Inferred]]:
    """Yield an iterator of inferred slices, computed here or on the cluster of a client; a bar shows the progress.

    Warns at the end where the run knows no word of the documents.
    """
    corpus = inference.corpus
    with contextlib.ExitStack() as stack:
        if client is not None:
            from workbench.runs.execution.cluster.connecting import client_of

            client = stack.enter_context(client_of(client))
        shown = progress and len(inference.bounds) > 2
        line = stack.enter_context(bar(corpus.name, corpus.n_documents, shown, unit=" documents"))
        slices = stack.enter_context(contextlib.closing(inference.slices(client)))

        def each() -> Iterator[Inferred]:
            for inferred in slices:
                yield inferred
                line.update(inferred.last - inferred.first)

        yield each()
    if corpus.n_tokens and not inference.n_known:
        warnings.warn(
            f"none of the {corpus.n_words} words of {corpus.name!r} is known to the run, so every theta is the prior mean",
            stacklevel=4,
        )


@contextlib.contextmanager
def _written(path: Path) -> Iterator[Callable]:
    """Yield a function that writes rows to a CSV file, which exists after the block, whole or not at all."""
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
    """Return an upper bound on the bytes that `infer` holds for a number of documents, without the topics.

    run : Dataset of a run; what a network has of an author is counted for each document, as of a new author.

    `HELD` numbers for each that the run has of a document: of pachinko those of each super-topic and topic too.
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


def document_completion(
    run,
    unseen: Corpus,
    seed: int = 0,
    protocol: str = "document_completion",
    n_threads: int = 1,
    store=None,
) -> dict:
    """Compute the perplexity of unseen documents by a named protocol.

    Parameters
    ----------
    run : Dataset, Run, path or name
    unseen : Corpus, or list of str
        Documents that the run has not learnt from (`hold_out_documents` sets some aside).
    seed : int
        Of the halves and of the Gibbs sweeps.
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
        One sentence each; also where no token can be scored.

    Source: specification of LDA, B.4.
    """
    if protocol not in PROTOCOLS:
        raise SpecError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {protocol!r}")
    topics = topics_of(run, store)
    corpus = _counted_alike(unseen, topics, {})
    corpus = corpus.require_memory("unseen documents are scored in memory")
    known = known_part(corpus, topics.vocabulary)
    if known.n_tokens == 0:
        raise SpecError(
            f"the run knows no word of {corpus.name!r}, so nothing can be scored; give documents like its own"
        )
    observed, scored = (
        split_halves(known, seed) if protocol == "document_completion" else (known, known)
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
        **about(topics, corpus, known.n_tokens, seed),
    }
