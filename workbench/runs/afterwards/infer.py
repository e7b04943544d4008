"""Unseen documents under the topics of a run: their theta, and how well it predicts their words (spec B.4).

Words are matched by their spelling: what the run does not know is left out and counted as a rate. The topics
stay as the run left them; each engine folds documents in as it infers (`workbench.engines.lda.fold_in`).
"""

import math
import warnings
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus, ShardedCorpus, split_halves
from workbench.engines.engine import StepContext
from workbench.engines.lda.fold_in import LearntTopics, mixture_probability, word_probabilities
from workbench.engines.memory import DOUBLE
from workbench.kernels.simd.lanes import LANES
from workbench.models import VARIABLES
from workbench.records import Records
from workbench.runs.afterwards.infer_records import infer_records
from workbench.runs.dataset import last_snapshot, model_of, priors_of
from workbench.runs.execution.run import open_run
from workbench.runs.given import data_from
from workbench.runs.scoring import perplexity
from workbench.runs.settings import LARGEST_SEED
from workbench.runs.spec import RunSpec, SpecError, whole

PROTOCOLS = {
    "document_completion": "theta is fitted to a random half of each document's known tokens, the other half is scored",
    "foldin_same": "theta is fitted to the very tokens that are scored; optimistic",
}
"""What a perplexity of unseen documents may mean; the name always travels with the number."""
HELD = 5
"""Numbers that inference has at a time for each that a run has of a document: measured for every engine, none has more."""


class Topics(NamedTuple):
    """What a run has learnt, as unseen documents need it."""

    spec: RunSpec
    of_words: LearntTopics
    learnt: NamedTuple             # as its engine folds documents in
    vocabulary: tuple[str, ...]
    n_topics: int                  # without the rest of an HDP

    def fold_in(self, documents: Corpus, seed: int, n_threads: int) -> np.ndarray:
        """theta (document, topic) of documents over the run's vocabulary."""
        context = StepContext(whole("seed", seed, 0, LARGEST_SEED), 0, whole("threads", n_threads, 1, 1024))
        engine, _, options = self.spec.parts()
        return engine.fold_in(self.learnt, options, documents, context)

    def perplexity(self, theta: np.ndarray, pairs: Corpus) -> float:
        """Of the pairs under p(w | d) = sum_k theta_dk phi_wk, phi of its year where it changes; NaN where there is none."""
        unseen = self.spec.parts()[0].unseen
        if unseen is not None:
            return perplexity(pairs, unseen(self.learnt, theta, pairs))
        return perplexity(pairs, mixture_probability(theta, word_probabilities(*self.of_words), pairs))


def infer(run, documents, seed: int = 0, n_threads: int = 1, store=None, **columns) -> xr.Dataset:
    """theta of unseen documents, and how much of them the run knows; raises SpecError, StoreError or CorpusError.

    Parameters
    ----------
    run : Dataset, Run, path or name
        What has learnt the topics; a name is looked up in ``store`` (default: ``WORKBENCH_STORE`` or ``./runs``).
    documents : Corpus, or what `workbench.fit` takes; or Records, of a run of a Bayesian network: see `infer_records`
        Raw text is counted as that of the run was, as far as ``columns`` leave it open and the run knows (its texts were kept).
        Where topics change over time, a document is of the year in its corpus's ``times``, or the nearest that the run knows;
        without one it is of the last year.
    seed : int
        Of the Gibbs sweeps; it plays no part in the deterministic engines.
    n_threads : int
        Never changes a bit.
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

    Source: specification of LDA, B.4.
    """
    if isinstance(documents, Records):
        return infer_records(run if isinstance(run, xr.Dataset) else open_run(run, store), documents, n_threads)
    topics = _topics_of(run, store)
    corpus = _counted_alike(documents, topics, columns)
    known = known_part(corpus, topics.vocabulary)
    if known.n_tokens == 0 and corpus.n_tokens > 0:
        warnings.warn(
            f"none of the {corpus.n_words} words of {corpus.name!r} is known to the run, so every theta is the prior mean",
            stacklevel=2,
        )
    theta = topics.fold_in(known, seed, n_threads)
    unknown = corpus.document_tokens - known.document_tokens
    data = {
        "theta": theta[:, : topics.n_topics], "n_tokens": corpus.document_tokens,
        "out_of_vocabulary": unknown / np.maximum(corpus.document_tokens, 1),
    }
    coords = {
        "document": ("document", np.array(corpus.titles, dtype=object), {"long_name": "document"}),
        "topic": np.arange(topics.n_topics),
    } | _columns(corpus)
    attrs = _about(topics, corpus, known, seed) | {"perplexity_foldin_same": topics.perplexity(theta, known)}
    return xr.Dataset(
        {name: (VARIABLES[name].dims, values, VARIABLES[name].attrs) for name, values in data.items()}, coords, attrs
    )


def _counted_alike(documents, topics: Topics, columns: dict) -> Corpus:
    """Documents as a corpus, raw text counted as that of the run was, but for what is said of it."""
    corpus = data_from(documents, None, counted=topics.spec.counted, **columns)
    if isinstance(corpus, ShardedCorpus):
        raise corpus.only_in_memory("topics of unseen documents are inferred, and scored, in memory")
    return corpus


def _columns(corpus: Corpus) -> dict[str, tuple]:
    """What is known of each document besides its words and its text, as coordinates."""
    known = {"label": corpus.labels, "time": corpus.times} | ({} if corpus.table is None else corpus.table.metadata)
    return {
        f"document_{name}": ("document", np.array(values, dtype=object), {"long_name": f"{name} of the document"})
        for name, values in known.items() if values is not None
    }


def inference_bytes(run: xr.Dataset, n_documents: int) -> int:
    """At most how many bytes `infer` holds for so many documents, what the run has learnt of words apart.

    run : Dataset of a run; what a network has of an author is there for each document, as of somebody new.

    `HELD` numbers for each that the run has of a document: of pachinko those of each super-topic and topic too.
    """
    rows = {"document", getattr(getattr(model_of(run), "author", None), "name", "document")}
    numbers = [
        math.prod(length for dim, length in values.sizes.items() if dim not in rows and dim != "snapshot")
        for values in run.data_vars.values() if rows.intersection(values.dims)
    ]
    return n_documents * DOUBLE * HELD * sum(n + LANES for n in numbers)


def document_completion(
    run, unseen: Corpus, seed: int = 0, protocol: str = "document_completion", n_threads: int = 1, store=None
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
    topics = _topics_of(run, store)
    corpus = _counted_alike(unseen, topics, {})
    known = known_part(corpus, topics.vocabulary)
    if known.n_tokens == 0:
        raise SpecError(f"the run knows no word of {corpus.name!r}, so nothing can be scored; give documents like its own")
    observed, scored = split_halves(known, seed) if protocol == "document_completion" else (known, known)
    theta = topics.fold_in(observed, seed, n_threads)
    n_documents = int(np.count_nonzero(scored.document_tokens))
    return {
        "perplexity": topics.perplexity(theta, scored), "protocol": protocol, "meaning": PROTOCOLS[protocol],
        "n_scored": scored.n_tokens, "n_documents": n_documents, "n_skipped": corpus.n_documents - n_documents,
        **_about(topics, corpus, known, seed),
    }


def known_part(corpus: Corpus, vocabulary: tuple[str, ...]) -> Corpus:
    """The same documents with the tokens whose word stands in the vocabulary, numbered as it is there.

    Words that are spelt alike become one, the first of them in the vocabulary.
    """
    if corpus.vocabulary == vocabulary:
        return corpus
    place = {word: w for w, word in reversed(list(enumerate(vocabulary)))}
    words = np.array([place.get(word, -1) for word in corpus.vocabulary], np.int64)[corpus.words]
    kept = words >= 0
    if not kept.any():
        return corpus.with_pairs(np.zeros(corpus.n_documents + 1, np.int64), [], [], vocabulary=vocabulary)
    known = Corpus.from_pairs(corpus.documents[kept], words[kept], corpus.counts[kept], vocabulary, corpus.n_documents)
    return corpus.with_pairs(known.indptr, known.words, known.counts, vocabulary=vocabulary)


def _topics_of(run, store) -> Topics:
    """The topics of whatever stands for a run, or a sentence."""
    dataset = run if isinstance(run, xr.Dataset) else open_run(run, store)
    name = dataset.attrs.get("name", "this Dataset")
    if "spec" not in dataset.attrs or "run" in dataset.dims:
        raise SpecError("one run was wanted (workbench.fit or open_run); got a comparison or another Dataset; choose one run")
    if dataset.sizes.get("snapshot", 0) == 0:
        raise SpecError(f"run '{name}' has no snapshot yet, so it has no topics; wait for its first, or resume it")
    if "n_kw" not in dataset:
        raise SpecError(f"run '{name}' has no topics, so there is no theta of other documents; choose a run of a topic model")
    vocabulary = tuple(str(word) for word in dataset["word"].values)
    n_kw = np.ascontiguousarray(dataset["n_kw"].isel(snapshot=-1).values, np.float64)
    spec, of_words = RunSpec.from_json(dataset.attrs["spec"]), LearntTopics(*priors_of(dataset).with_rest(n_kw))
    learnt = spec.parts()[0].learnt(model_of(dataset), last_snapshot(dataset), of_words)
    return Topics(spec, of_words, learnt, vocabulary, len(n_kw))


def _about(topics: Topics, corpus: Corpus, known: Corpus, seed: int) -> dict:
    """What was asked of whom, and the share of the tokens that the run does not know."""
    return {
        "run": topics.spec.name, "engine": topics.spec.engine, "corpus": corpus.name, "seed": seed,
        "out_of_vocabulary": 1 - known.n_tokens / corpus.n_tokens if corpus.n_tokens else 0.0,
    }
