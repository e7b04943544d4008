"""Gibbs sampling of LDA whose prior of topics in a document depends on its columns: Dirichlet-multinomial regression.

Mimno & McCallum (2008), with Gamma drawn where they maximise it. A sweep draws the topics of all tokens as `cgs` does, with the
prior of its document for alpha, and then Gamma topic by topic::

    p(z_i = k | z_-i, w)  ~  (n_dk + alpha_dk) (n_wk + beta) / (n_k + W beta),   alpha_dk = exp(Gamma_k x_d)
    Gamma_k               ~  p(Gamma_k | t, e)                                   see `kernels.lda.dirichlet_regression`

The kernel takes the priors of documents as expected counts n_dk, with alpha = 0. Without a formula a run is one of `cgs`, bit
for bit.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    SAMPLER,
    Engine,
    Memory,
    Rows,
    StepContext,
    WarmStart,
    alone,
)
from workbench.engines.lda import cgs
from workbench.engines.lda.fold_in import (
    LearntTopics,
    by_gibbs,
    mixture_probability,
    theta_one_by_one,
    unseen_terms,
    word_probabilities,
)
from workbench.engines.lda.hyperparameters import learn, learning, retune, watched
from workbench.engines.lda.split import all_sampled
from workbench.kernels.lda.dirichlet_regression import draw_coefficients, draw_tables
from workbench.kernels.lda.log_joint import log_joint_from
from workbench.kernels.simd.vectors import aligned_zeros, padded
from workbench.kernels.threads import each_slice
from workbench.kernels.uniforms import PREVALENCE, PREVALENCE_TABLES
from workbench.models.dirichlet_regression import DirichletRegression

ROUNDS = 4
"""How often Gamma and its auxiliary variables are drawn after a sweep: they follow each other more closely than the topics."""


class State(NamedTuple):
    topics: Rows  # (token,) uint16, in canonical order
    n_dk: Rows  # (document, topic) int32, padded
    n_wk: np.ndarray  # (word, topic) int32, padded
    n_k: np.ndarray  # (topic,) int64, padded
    alpha: np.ndarray  # (topic,) float64: prior of each topic; with a formula the median of it in an average document
    # prior of each word in a topic, as learnt; (word, topic), padded, where it differs from cell to cell
    beta: float | np.ndarray
    coefficients: (
        np.ndarray
    )  # (topic, term) float64: Gamma of standard terms; no term without a formula


@learning
class Options:
    """Options about the priors alone."""


class LearntPrevalence(NamedTuple):
    """The part of a fitted model that inference of unseen documents needs."""

    of_words: LearntTopics
    model: DirichletRegression
    gamma: np.ndarray | None  # (topic, term): Gamma; None without a formula


def init(
    corpus: Corpus,
    model: DirichletRegression,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: topics of `cgs` or of another run, and alpha alike in all documents."""
    chain = cgs.initial_chain(corpus, model, all_sampled(corpus), context, 0, warm_start)
    terms = model.terms_of(corpus)
    return State(*chain, np.zeros((model.n_topics, 0)) if terms is None else model.prior_means)


def step(
    corpus: Corpus, model: DirichletRegression, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Draw every token's topic once, then Gamma; then update the other priors if due."""
    terms = model.terms_of(corpus)
    if terms is None:
        n_moved, _ = cgs.sweep_all(corpus, state, context)
    else:
        n_moved = sweep(corpus, model, state, terms, context)
        draw_gamma(corpus, model, state, terms, context)
    sums = {"updates": corpus.n_tokens, "moved": n_moved}
    state, diagnostics = alone(
        learn(corpus, options, state, context, True, cgs.sufficient_statistics, sums)
    )
    return state, diagnostics | {"moved": n_moved / max(corpus.n_tokens, 1)}


def sweep(
    corpus: Corpus,
    model: DirichletRegression,
    state: State,
    terms: np.ndarray,
    context: StepContext,
) -> int:
    """Draw the topics of all tokens given Gamma; return how many changed topic."""
    priors = aligned_zeros((corpus.n_documents, padded(model.n_topics)), np.float64)
    priors[:, : model.n_topics] = model.alphas_at(state.coefficients, terms)
    without_alpha = state._replace(alpha=np.zeros(model.n_topics))
    return cgs.sweep(
        corpus, all_sampled(corpus), without_alpha, (priors, *cgs.NO_MEAN[1:]), context
    )


def draw_gamma(
    corpus: Corpus,
    model: DirichletRegression,
    state: State,
    terms: np.ndarray,
    context: StepContext,
) -> int:
    """Draw Gamma given the topics of all tokens, in place; return how many topics changed theirs, summed over rounds."""
    n_changed = 0
    for number in range(ROUNDS):
        totals, exposures = draw_tables(
            corpus.indptr,
            corpus.tokens_before,
            state.n_dk,
            model.alphas_at(state.coefficients, terms),
            terms,
            context.key(PREVALENCE_TABLES, number),
        )
        n_changed += sum(
            each_slice(
                draw_coefficients,
                [(k, k + 1) for k in range(model.n_topics)],
                context.n_threads,
                context.interrupt,
                terms,
                exposures,
                totals,
                model.prior_means,
                model.effect_scale**-2,
                context.key(PREVALENCE, number),
                state.coefficients,
            )
        )
    return n_changed


def watch(corpus: Corpus, model: DirichletRegression, options: Options, state: State) -> dict:
    """Return log p(words, topics, Gamma of standard terms), and the sizes of topics."""
    terms, n_topics = model.terms_of(corpus), model.n_topics
    if terms is None:
        return cgs.watch(corpus, model, options, state)
    alphas, n_dk = model.alphas_at(state.coefficients, terms), state.n_dk[:, :n_topics]
    sizes = alphas.sum(axis=1)
    documents, topics = np.nonzero(n_dk)
    own = alphas[documents, topics]
    log_joint = np.sum(gammaln(own + n_dk[documents, topics]) - gammaln(own))
    log_joint -= np.sum(gammaln(sizes + corpus.document_tokens) - gammaln(sizes))
    off, scale = (state.coefficients - model.prior_means) / model.effect_scale, model.effect_scale
    log_joint -= 0.5 * np.sum(off * off) + off.size * np.log(scale * np.sqrt(2 * np.pi))
    joint = log_joint_from(float(log_joint), state.n_wk, state.n_k, state.beta, n_topics)
    return {"log_joint": joint, "n_k": state.n_k[:n_topics]} | watched(options, state)


def counts(corpus: Corpus, model: DirichletRegression, options: Options, state: State) -> dict:
    """Return the sampled counts, the topics of tokens, and Gamma of the terms as they are."""
    of_topics = cgs.counts(corpus, model, options, state)
    if model.design is None:
        return of_topics
    return of_topics | {"gamma": model.design.coefficients(state.coefficients)}


def predict(
    corpus: Corpus,
    model: DirichletRegression,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of held-out pairs given the sampled counts, by posterior means."""
    terms, live = model.terms_of(corpus), slice(model.n_topics)
    if terms is None:
        return cgs.predict(corpus, model, options, state, pairs)
    theta = state.n_dk[:, live] + model.alphas_at(state.coefficients, terms)
    theta /= theta.sum(axis=1, keepdims=True)
    priors = model.priors({})._replace(alphas=state.alpha)
    if np.ndim(state.beta) == 0:
        priors = priors._replace(beta=state.beta)
    phi = word_probabilities(priors, state.n_wk[:, live].T)
    return mixture_probability(theta, phi, pairs)


def learnt_of(model: DirichletRegression, last: Mapping, topics: LearntTopics) -> LearntPrevalence:
    """Return the learnt parameters of a run from the arrays of its last snapshot, by name."""
    return LearntPrevalence(topics, model, np.asarray(last["gamma"]) if "gamma" in last else None)


def by_gibbs_of_columns(
    parameters: LearntPrevalence, options: Options, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta (document, topic) of unseen documents, whose prior is that of their columns.

    A document of which a column is missing, or has a level that no training document has, gets the mean prior of the training
    documents.
    """
    topics, model, gamma = parameters
    if gamma is None:
        return by_gibbs(topics, options, documents, context)
    terms = unseen_terms(model.design, documents)
    is_known = np.isfinite(terms).all(axis=1)
    alphas = np.empty((len(terms), model.n_topics))
    alphas[is_known] = model.alphas_at(gamma, terms[is_known])
    alphas[~is_known] = model.alphas_at(gamma, model.design.values).mean(axis=0)
    return theta_one_by_one(topics, alphas, documents, context)


def memory(corpus: Corpus, model: DirichletRegression, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: that of `cgs`, the terms, and two tables of priors of documents."""
    of_cgs = cgs.memory(corpus, model, cgs.Options())
    if model.design is None:
        return of_cgs
    table = corpus.n_documents * padded(model.n_topics) * DOUBLE
    terms = corpus.n_documents * len(model.design.terms) * DOUBLE
    return of_cgs._replace(
        state=of_cgs.state + terms, step=of_cgs.step + 2 * table, look=of_cgs.look + 4 * table
    )


def engine(name: str = "dmr") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#b40aff",
        line=":",
        marker="v",
        title="Gibbs sampling of LDA with a prior by columns",
        source="Mimno & McCallum (2008)",
        when="Where topics are more or less prevalent by a party, a year or a source, and not correlated otherwise: the option "
        "prevalence, as of sb-ctm, with coefficients for each topic.",
        model=DirichletRegression,
        options=Options,
        state=State,
        samples=lambda corpus, options: True,
        watches=("log_joint", "moved"),
        keeps=("token_topics",),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_gibbs_of_columns,
        learnt=learnt_of,
        memory=memory,
        idle=lambda options: "tokens are drawn one after another",
    )
