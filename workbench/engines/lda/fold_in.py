"""Inference of theta of unseen documents with fixed topics, by a method close to each engine's own (spec B.4).

theta (document, topic) float64 does not depend on the number of threads. The topics are fixed:
phi_wk = (beta + n_wk) / (W beta + n_k).
"""

import sys
import warnings
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.formulas import Design, columns_of_corpus
from workbench.data.arrays import sealed
from workbench.engines.engine import Options, StepContext
from workbench.engines.lda.responsibilities import weigh_words
from workbench.errors import DataError
from workbench.kernels.lda.document_vb import fit_documents
from workbench.kernels.lda.fold_in import (
    MOST_PASSES,
    TOLERANCE,
    collapsed_theta,
    mixture,
    numbers_of_words,
    sampled_theta,
)
from workbench.kernels.simd.vectors import aligned_zeros, pad_topics, padded
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import FOLD_IN
from workbench.models import Priors

BURN_IN, KEPT = 20, 50
"""Gibbs sweeps over each document before averaging of theta begins, and sweeps that are averaged (spec B.4)."""
PASSES = 64
"""Assumed number of passes over a document, for slices that last a few milliseconds."""


class LearntTopics(NamedTuple):
    """The part of a fitted LDA or HDP model that inference of unseen documents needs."""

    priors: Priors  # as learnt; the last topic of an HDP is the rest: all topics without tokens
    # (topic, word) float64: sampled or expected counts of the last state, first chain
    n_kw: np.ndarray


def by_variational_bayes(
    topics: LearntTopics, options: Options, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta (document, topic), posterior means under the converged q(theta) (to 1e-6 tokens); for `vb` and `svb`."""
    priors, n_kw = topics
    lanes, live = padded(priors.n_topics), slice(priors.n_topics)
    n_wk = aligned_zeros((n_kw.shape[1], lanes), np.float64)
    n_wk[:, live] = n_kw.T
    n_k = pad_topics(n_kw.sum(axis=1))
    words = weigh_words(n_wk, n_k, priors.word_prior, priors.n_topics, context)
    mean_dk, document_logs, document_weights = (
        aligned_zeros((documents.n_documents, lanes), np.float64) for _ in range(3)
    )
    mean_dk[:, live] = documents.document_tokens[:, None] / priors.n_topics
    alpha, ratios = pad_topics(priors.alphas, 1.0), np.empty(documents.n_pairs)

    each_document(
        fit_documents,
        documents,
        lanes,
        context,
        documents.indptr,
        documents.words,
        documents.counts,
        alpha,
        *words,
        priors.n_topics,
        MOST_PASSES,
        TOLERANCE,
        mean_dk,
        document_logs,
        document_weights,
        ratios,
    )
    counts = priors.alphas + mean_dk[:, live]
    return counts / counts.sum(axis=1, keepdims=True)


def by_cvb0(
    topics: LearntTopics, options: Options, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta = (alpha + n) / (A + N) (document, topic) by CVB0, converged to 1e-6 tokens; for `cvb` and `cvb0`."""
    phi, alphas = word_probabilities(*topics), topics.priors.alphas
    return theta_under(collapsed_theta, phi, alphas, documents, context)


def by_gibbs(
    topics: LearntTopics, options: Options, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta (document, topic): the mean over 50 Gibbs sweeps, after 20 of burn-in; for `cgs` and the hybrids."""
    if context.numbers is not None:
        return theta_one_by_one(topics, topics.priors.alphas, documents, context)
    return theta_under(
        sampled_theta,
        word_probabilities(*topics),
        topics.priors.alphas,
        documents,
        context,
        documents.tokens_before + context.first_token,
        BURN_IN,
        KEPT,
        context.key(FOLD_IN),
    )


def theta_under(
    kernel, phi: np.ndarray, alpha, documents: Corpus, context: StepContext, *arguments
) -> np.ndarray:
    """Return theta (document, topic), which a kernel of `kernels.lda.fold_in` infers given phi (word, topic) and alpha."""
    theta = np.empty((documents.n_documents, len(alpha)))

    each_document(
        kernel,
        documents,
        len(alpha),
        context,
        documents.indptr,
        documents.words,
        documents.counts,
        phi,
        alpha,
        theta,
        *arguments,
    )
    return theta


def theta_one_by_one(
    topics: LearntTopics, alphas: np.ndarray, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta as `by_gibbs` does, but with random numbers that ``context.numbers``, if given, selects for each document.

    alphas (topic,), or (document, topic) : the prior of each document
    """
    phi, key, indptr = word_probabilities(*topics), context.key(FOLD_IN), documents.indptr
    alphas = np.broadcast_to(alphas, (documents.n_documents, phi.shape[1]))
    theta = np.empty(alphas.shape)
    firsts = documents.tokens_before[indptr] + context.first_token
    numbers = firsts if context.numbers is None else context.numbers

    def work(first: int, last: int):
        for d in range(first, last):
            document_pairs, tokens_before = (
                slice(indptr[d], indptr[d + 1]),
                documents.tokens_before[indptr[d] : indptr[d + 1] + 1],
            )
            sampled_theta(
                0,
                1,
                sealed(np.array([0, len(tokens_before) - 1])),
                documents.words[document_pairs],
                documents.counts[document_pairs],
                phi,
                alphas[d].copy(),
                theta[d : d + 1],
                tokens_before - tokens_before[0] + numbers[d],
                BURN_IN,
                KEPT,
                key,
            )

    each_document(work, documents, phi.shape[1], context)
    return theta


def unseen_terms(design: Design, documents: Corpus) -> np.ndarray:
    """Return the terms (document, term) of unseen documents, NaN where these are unknown; warn if they lack a column."""
    columns = columns_of_corpus(documents, DataError)
    if absent := [name for name in design.columns if name not in columns]:
        warnings.warn(
            f"the documents have no column {absent[0]!r}, on which prevalence depends, so they get the prior of all training "
            "documents; give it under this name",
            stacklevel=3,
        )
    return design.of_documents(columns)


def numbers_by_content(documents: Corpus) -> np.ndarray:
    """Return a hash of the words and counts of each document, (document,) int64; equal documents have equal hashes.

    As ``numbers`` of a context they make theta of a document independent of the other documents.
    """
    numbers = np.empty(documents.n_documents, np.int64)
    numbers_of_words(documents.indptr, documents.words, documents.counts, numbers)
    return numbers


def word_probabilities(priors, n_kw: np.ndarray) -> np.ndarray:
    """Return phi (word, topic), posterior means given the counts."""
    is_number = np.ndim(priors.beta) == 0
    total = priors.beta * n_kw.shape[1] if is_number else priors.beta.sum(-1, keepdims=True)
    return np.ascontiguousarray(
        ((priors.beta + n_kw) / (total + n_kw.sum(axis=1, keepdims=True))).T
    )


def mixture_probability(theta: np.ndarray, phi: np.ndarray, pairs: Corpus) -> np.ndarray:
    """Return p(w|d) = sum_k theta_dk phi_wk (pair,), from theta (document, topic) and phi (word, topic).

    It is at least the smallest double: a phi that was drawn under a tiny beta may round to 0.
    """
    probability = np.empty(pairs.n_pairs)
    mixture(0, pairs.n_documents, pairs.indptr, pairs.words, theta, phi, probability)
    return np.maximum(probability, sys.float_info.min)


def each_document(work, documents: Corpus, n_topics: int, context: StepContext, *arguments) -> None:
    """Call ``work(first, last, *arguments)`` on threads, for ranges of documents that take a few milliseconds each."""
    each_slice(
        work,
        slice_bounds(documents.indptr, n_topics * PASSES),
        context.n_threads,
        context.interrupt,
        *arguments,
    )
