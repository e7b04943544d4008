"""The topics of a run, for the inference of unseen documents; and matching of words with the run's vocabulary."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.sparse import coo_array

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.engines.lda.fold_in import (
    LearntTopics,
    mixture_probability,
    word_probabilities,
)
from workbench.runs.execution.run import open_run
from workbench.runs.recorded import last_snapshot, model_of, priors_of
from workbench.runs.scoring import perplexity
from workbench.runs.settings import LARGEST_SEED
from workbench.runs.spec import RunSpec, SpecError


class Topics(NamedTuple):
    """The topics of a run, as inference for unseen documents needs them."""

    spec: RunSpec
    of_words: LearntTopics
    learnt: NamedTuple  # the parameters with which the engine folds documents in
    vocabulary: tuple[str, ...]
    n_topics: int  # number of topics; for an HDP of those in use

    def fold_in(self, documents: Corpus, seed: int, n_threads: int, **more) -> np.ndarray:
        """Infer theta (document, topic) of documents over the run's vocabulary.

        more : fields of `StepContext` on which the uniforms depend: ``first_document`` and ``first_token``, or ``numbers``
        """
        engine, _, options = self.spec.parts()
        context = StepContext(*checked_numbers(seed, n_threads), **more)
        return engine.fold_in(self.learnt, options, documents, context)

    def word_probability(self, theta: np.ndarray, pairs: Corpus) -> np.ndarray:
        """Return p(w | d) = sum_k theta_dk phi_wk of each pair (pair,), with phi of the document's year if topics change."""
        unseen = self.spec.parts()[0].unseen
        if unseen is not None:
            return unseen(self.learnt, theta, pairs)
        return mixture_probability(theta, word_probabilities(*self.of_words), pairs)

    def perplexity(self, theta: np.ndarray, pairs: Corpus) -> float:
        """Return the perplexity of document-word pairs under `word_probability`; NaN without pairs."""
        return perplexity(pairs, self.word_probability(theta, pairs))


def checked_numbers(seed: int, n_threads: int) -> tuple[int, int, int]:
    """Return (seed, iteration 0, n_threads), with which a StepContext is made; raise SpecError if one is out of range."""
    return (
        SpecError.whole("seed", seed, 0, LARGEST_SEED),
        0,
        SpecError.whole("threads", n_threads, 1, 1024),
    )


def topics_of(run, store) -> Topics:
    """Return the topics of a run (Dataset, `Run`, path or name); raise SpecError if it has no topics."""
    dataset = run if isinstance(run, xr.Dataset) else open_run(run, store)
    name = dataset.attrs.get("name", "this Dataset")
    if "spec" not in dataset.attrs or "run" in dataset.dims:
        raise SpecError(
            "inference needs the Dataset of one run (fit, open_run); got a comparison or another Dataset; choose one run"
        )
    if dataset.sizes.get("snapshot", 0) == 0:
        raise SpecError(
            f"run '{name}' has no snapshot yet, so it has no topics; wait for its first, or resume it"
        )
    if "n_kw" not in dataset:
        raise SpecError(
            f"run '{name}' has no topics, so there is no theta of other documents; choose a run of a topic model"
        )
    vocabulary = tuple(str(word) for word in dataset["word"].values)
    n_kw = np.ascontiguousarray(dataset["n_kw"].isel(snapshot=-1).values, np.float64)
    spec, learnt_topics = (
        RunSpec.from_json(dataset.attrs["spec"]),
        LearntTopics(*priors_of(dataset).with_rest(n_kw)),
    )
    learnt = spec.parts()[0].learnt(model_of(dataset), last_snapshot(dataset), learnt_topics)
    return Topics(spec, learnt_topics, learnt, vocabulary, len(n_kw))


def known_part(corpus: Corpus, vocabulary: tuple[str, ...]) -> Corpus:
    """Return the documents over the given vocabulary, without tokens of words that this vocabulary lacks.

    Words with the same spelling are merged.
    """
    word_indices = indices_in(vocabulary, corpus.vocabulary)
    if word_indices is None:
        return corpus
    return corpus.with_pairs(*renumbered(corpus, word_indices), vocabulary=vocabulary)


def indices_in(vocabulary: tuple[str, ...], words: Sequence[str]) -> np.ndarray | None:
    """Return the index (word,) of each word in a vocabulary, -1 if it is absent; None if ``words`` equals the vocabulary."""
    if words == vocabulary:
        return None
    index_of = {word: w for w, word in reversed(list(enumerate(vocabulary)))}
    return np.fromiter((index_of.get(word, -1) for word in words), np.int64, len(words))


def renumbered(
    corpus: Corpus, new_numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indptr (document + 1,), words and counts (pair,) of a corpus after its words are renumbered.

    new_numbers (word,) : the new number of each word, -1 to leave it out. The words of a document are ascending; the counts of
    words with the same number are summed.
    """
    words = new_numbers[corpus.words]
    is_known = words >= 0
    table = coo_array(  # which adds up equal words as it becomes rows
        (corpus.counts[is_known], (corpus.documents[is_known], words[is_known])),
        (corpus.n_documents, int(new_numbers.max(initial=0)) + 1),
    ).tocsr()
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data
