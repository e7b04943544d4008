"""Inference of theta of unseen documents for correlated topics with fixed parameters: Gibbs sampling or variational."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.formulas import Design
from workbench.engines.engine import Options, StepContext
from workbench.engines.lda.fold_in import (
    BURN_IN,
    KEPT,
    LearntTopics,
    each_document,
    unseen_terms,
    word_probabilities,
)
from workbench.engines.lda.responsibilities import weigh_words
from workbench.kernels.gaussian import inverse
from workbench.kernels.lda.fold_in import MOST_PASSES
from workbench.kernels.simd.vectors import aligned_empty, aligned_zeros, pad_topics, padded
from workbench.kernels.stick_breaking import correlated_topics, logistic_normal
from workbench.kernels.stick_breaking.variational import (
    NODE_WEIGHTS,
    NODES,
    expected_probabilities,
    fit_documents,
)
from workbench.kernels.uniforms import FOLD_IN
from workbench.models.model import Model

TOLERANCE = 1e-6
"""A document has converged when the mean of no stick changes by more than this."""


class LearntCorrelations(NamedTuple):
    """The part of a fitted correlated topic model that inference of unseen documents needs."""

    of_words: LearntTopics
    mean: np.ndarray  # (stick,) or (component,): mu
    covariance: np.ndarray  # (stick, stick) or (component, component): Sigma
    gamma: np.ndarray | None = None  # (stick, term): Gamma, of a model with a formula of prevalence
    design: Design | None = None  # the terms of this formula


def learnt_of(model: Model, last: Mapping, topics: LearntTopics) -> LearntCorrelations:
    """Return the learnt parameters of a run from the arrays of its last snapshot, by name."""
    of_psi = np.asarray(last["psi_mean"]), np.asarray(last["psi_covariance"])
    if (design := getattr(model, "design", None)) is None:
        return LearntCorrelations(topics, *of_psi)
    return LearntCorrelations(topics, *of_psi, np.asarray(last["gamma"]), design)


def by_gibbs(
    parameters: LearntCorrelations, options: Options, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta (document, topic) of models with sticks: the mean over 50 Gibbs sweeps after 20 of burn-in.

    With a formula of prevalence the prior mean of a document's sticks is Gamma x_d. A document of which a column is missing, or
    has a level that no training document has, gets the mean and covariance of the sticks of all training documents.
    """
    if parameters.design is None:
        return _sampled_theta(
            correlated_topics.sampled_theta,
            parameters,
            documents,
            context,
            _with_weights(parameters.mean, parameters.covariance),
        )
    design, gamma = parameters.design, parameters.gamma
    terms = unseen_terms(design, documents)
    is_known = np.isfinite(terms).all(axis=1)
    of_all = _with_weights(parameters.mean, _covariance_of_all(parameters))
    precision = inverse(parameters.covariance)

    def gaussian_of(d: int) -> tuple:
        if not is_known[d]:
            return of_all
        mean = (gamma * terms[d]).sum(axis=1)
        return precision, mean, (precision * mean).sum(axis=1)

    return _sampled_theta(
        correlated_topics.sampled_theta, parameters, documents, context, (), gaussian_of
    )


def _with_weights(mean: np.ndarray, covariance: np.ndarray) -> tuple:
    """Return Sigma^-1, mu and Sigma^-1 mu."""
    precision = inverse(covariance)
    return precision, mean, (precision * mean).sum(axis=1)


def by_gibbs_of_components(
    parameters: LearntCorrelations, options: Options, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta (document, topic) of logistic-normal models: the mean over 50 Gibbs sweeps, after 20 of burn-in."""
    precision = logistic_normal.padded_rows(inverse(parameters.covariance))
    return _sampled_theta(
        logistic_normal.sampled_theta, parameters, documents, context, (precision, parameters.mean)
    )


def _sampled_theta(
    kernel,
    parameters: LearntCorrelations,
    documents: Corpus,
    context: StepContext,
    gaussian: tuple,
    gaussian_of: Callable[[int], tuple] | None = None,
) -> np.ndarray:
    """Return theta (document, topic) sampled by a kernel, given the Gaussian of all documents, or that of each document."""
    phi = word_probabilities(*parameters.of_words)
    theta = np.empty((documents.n_documents, phi.shape[1]))

    def draw(first: int, last: int, first_number):
        of_psi = gaussian if gaussian_of is None else gaussian_of(first)
        kernel(
            first,
            last,
            documents.indptr,
            documents.words,
            documents.counts,
            documents.tokens_before,
            phi,
            *of_psi,
            BURN_IN,
            KEPT,
            context.key(FOLD_IN),
            theta,
            first_number,
        )

    def work(first: int, last: int):
        if context.numbers is None and gaussian_of is None:
            draw(first, last, context.first_document)
            return
        for d in range(first, last):
            number = context.first_document
            draw(d, d + 1, number if context.numbers is None else int(context.numbers[d]) - d)

    each_document(work, documents, phi.shape[1], context)
    return theta


def by_variational_inference(
    parameters: LearntCorrelations, options: Options, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return E_q[theta] (document, topic) after convergence of q(psi), whose sticks are taken as independent.

    With a formula of prevalence the prior of a document is as in `by_gibbs`.
    """
    if parameters.design is None:
        return _fitted_theta(parameters, options, documents, context, parameters.mean[None])
    terms = unseen_terms(parameters.design, documents)
    is_known = np.isfinite(terms).all(axis=1)
    means = np.einsum("dp,ip->di", terms[is_known], parameters.gamma)
    of_all = parameters._replace(covariance=_covariance_of_all(parameters))
    theta = np.empty((documents.n_documents, len(parameters.mean) + 1))
    for rows, of_psi, mean in (
        (is_known, parameters, means),
        (~is_known, of_all, parameters.mean[None]),
    ):
        if rows.any():
            own = documents.of_documents(np.flatnonzero(rows))
            theta[rows] = _fitted_theta(of_psi, options, own, context, mean)
    return theta


def _covariance_of_all(parameters: LearntCorrelations) -> np.ndarray:
    """Return the covariance (stick, stick) of the sticks of all training documents, given a formula of prevalence."""
    of_terms, gamma = np.cov(parameters.design.values.T, ddof=0), parameters.gamma
    return parameters.covariance + np.einsum("ip,pq,jq->ij", gamma, np.atleast_2d(of_terms), gamma)


def _fitted_theta(
    parameters: LearntCorrelations,
    options: Options,
    documents: Corpus,
    context: StepContext,
    means: np.ndarray,
) -> np.ndarray:
    """Return E_q[theta] (document, topic) given the prior means of sticks (document, stick), or one row of all."""
    (priors, n_kw), mean, n_topics = parameters.of_words, parameters.mean, len(parameters.mean) + 1
    mean_wk = aligned_zeros((n_kw.shape[1], padded(n_topics)), np.float64)
    mean_wk[:, :n_topics] = n_kw.T
    words = weigh_words(mean_wk, pad_topics(n_kw.sum(axis=1)), priors.word_prior, n_topics, context)
    precision = inverse(parameters.covariance)
    n, nodes = documents.n_documents, NODES[: 0 if options.bound == "local" else None]
    sticks, variances = (
        np.zeros((n, n_topics - 1)) + means,
        np.zeros((n, n_topics - 1)) + np.diag(parameters.covariance),
    )
    document_arrays = tuple(aligned_empty((n, padded(n_topics)), np.float64) for _ in range(3))
    ratios = np.empty(documents.n_pairs)

    each_document(
        fit_documents,
        documents,
        n_topics,
        context,
        np.arange(n),
        documents.indptr,
        documents.words,
        documents.counts,
        precision,
        np.stack([(precision * mean).sum(axis=1) for mean in means]),
        nodes,
        NODE_WEIGHTS,
        *words,
        n_topics,
        MOST_PASSES,
        TOLERANCE,
        mean,
        sticks,
        variances,
        *document_arrays,
        ratios,
    )
    return expected_probabilities(sticks, variances)
