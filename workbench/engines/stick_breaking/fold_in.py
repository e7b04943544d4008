"""theta of unseen documents under correlated topics: Gibbs sampling with the topics, mu and Sigma of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.lda.fold_in import BURN_IN, KEPT, PASSES, LearntTopics, word_probabilities
from workbench.kernels.gaussian import inverse
from workbench.kernels.stick_breaking import correlated_topics, logistic_normal
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import FOLD_IN


class LearntCorrelations(NamedTuple):
    """What a run of correlated topics has learnt and inference of unseen documents needs."""

    of_words: LearntTopics
    mean: np.ndarray        # (stick,) or (component,): mu
    covariance: np.ndarray  # (stick, stick) or (component, component): Sigma


def learnt_of(model, last, topics: LearntTopics) -> LearntCorrelations:
    """What the last snapshot of a run, arrays by name, has learnt."""
    return LearntCorrelations(topics, np.asarray(last["psi_mean"]), np.asarray(last["psi_covariance"]))


def by_gibbs(learnt: LearntCorrelations, options, documents, context) -> np.ndarray:
    """Mean of theta (document, topic) over 50 Gibbs sweeps after 20, with sticks."""
    precision = np.linalg.inv(learnt.covariance)
    weighted = (precision * learnt.mean).sum(axis=1)
    return _sampled(correlated_topics.sampled_theta, learnt, documents, context, precision, learnt.mean, weighted)


def by_gibbs_of_components(learnt: LearntCorrelations, options, documents, context) -> np.ndarray:
    """Mean of theta (document, topic) over 50 Gibbs sweeps after 20, with components."""
    precision = logistic_normal.padded_rows(inverse(learnt.covariance))
    return _sampled(logistic_normal.sampled_theta, learnt, documents, context, precision, learnt.mean)


def _sampled(kernel, learnt, documents, context, *gaussian) -> np.ndarray:
    phi = word_probabilities(*learnt.of_words)
    theta = np.empty((documents.n_documents, phi.shape[1]))

    def work(first, last):
        kernel(
            first, last, documents.indptr, documents.words, documents.counts, documents.tokens_before, phi, *gaussian,
            BURN_IN, KEPT, context.key(FOLD_IN), theta,
        )

    each_slice(work, slice_bounds(documents.indptr, phi.shape[1] * PASSES), context.n_threads, context.interrupt)
    return theta
