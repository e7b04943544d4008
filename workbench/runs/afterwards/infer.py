"""Unseen documents under the topics of a run: their theta, and how well it predicts their words (spec B.4).

Words are matched by their spelling: what the run does not know is left out and counted as a rate. The topics
stay as the run left them; each engine folds documents in as it infers (`workbench.engines.lda.fold_in`).
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
from workbench.engines.memory import DOUBLE
from workbench.errors import DataError
from workbench.kernels.simd.lanes import LANES
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
"""What a perplexity of unseen documents may mean; the name always travels with the number."""
HELD = 5
"""Numbers that inference has at a time for each that a run has of a document: measured for every engine, none has more."""


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
    """theta of unseen documents, and how much of them the run knows; raises SpecError, StoreError or CorpusError.

    Parameters
    ----------
    run : Dataset, Run, path or name
        What has learnt the topics; a name is looked up in ``store`` (default: ``WORKBENCH_STORE`` or ``./runs``).
    documents : Corpus, ShardedCorpus, or what `workbench.fit` takes; or Records, of a Bayesian network: see `infer_records`
        Raw text is counted as that of the run was, as far as ``columns`` leave it open and the run knows (its texts were kept).
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
        of the known tokens to which theta was fitted (optimistic; `document_completion` gives the honest one).
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
        for found in each:
            for name, values in data.items():
                values[found.first : found.last] = getattr(found, name)
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
    """Writes theta of unseen documents to a CSV file as it is inferred, so that memory holds some documents at a time.

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
        for found in each:
            here = slice(found.first, found.last)
            rows = zip(
                corpus.titles[here],
                found.n_tokens.tolist(),
                found.out_of_vocabulary.tolist(),
                found.theta.tolist(),
                *(values[here] for values in more.values()),
                strict=True,
            )
            write(
                [title, n_tokens, unknown, *theta, *others]
                for title, n_tokens, unknown, theta, *others in rows
            )
    return inference.attrs() | {"n_documents": corpus.n_documents, "path": str(path)}


def _inference(run, documents, seed: int, n_threads: int, store, columns: dict) -> Inference:
    """The documents, counted as those of the run, under its topics."""
    topics = topics_of(run, store)
    return Inference(topics, _counted_alike(documents, topics, columns), seed, n_threads)


def _counted_alike(documents, topics: Topics, columns: dict) -> AnyCorpus:
    """Documents as a corpus, raw text counted as that of the run was, but for what is said of it."""
    return data_from(documents, None, counted=topics.spec.counted, **columns)


def _columns(corpus: AnyCorpus) -> dict[str, Sequence]:
    """What is known of each document besides its words and its text, by name."""
    known = {"label": corpus.labels, "time": corpus.times} | (
        {} if corpus.table is None else corpus.table.metadata
    )
    return {str(name): values for name, values in known.items() if values is not None}


def _objects(values: Sequence) -> np.ndarray:
    return np.array(list(values), dtype=object)


@contextlib.contextmanager
def _inferred(inference: Inference, client, progress: bool) -> Iterator[Iterator[Inferred]]:
    """What is inferred, a slice at a time, here or on the cluster of a client; a bar shows how far it is, if there are several.

    Warns at the end where the run knows no word.
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
            for found in slices:
                yield found
                line.update(found.last - found.first)

        yield each()
    if corpus.n_tokens and not inference.n_known:
        warnings.warn(
            f"none of the {corpus.n_words} words of {corpus.name!r} is known to the run, so every theta is the prior mean",
            stacklevel=4,
        )


@contextlib.contextmanager
def _written(path: Path) -> Iterator[Callable]:
    """The function that writes rows to a CSV file, which is there when the block ends: whole, or not at all."""
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
    """At most how many bytes `infer` holds for so many documents, what the run has learnt of words apart.

    run : Dataset of a run; what a network has of an author is there for each document, as of somebody new.

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
    """The perplexity of unseen documents, its protocol named beside it.

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
