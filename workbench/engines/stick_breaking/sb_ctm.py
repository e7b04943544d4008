"""Gibbs sampling of correlated topics by stick-breaking and Polya-gamma augmentation, with the topics integrated out.

Linderman, Johnson & Adams (2015), eq. 10-13; the mean in eq. 13 must read Omega^-1 kappa. With phi integrated out, a sweep
is::

    z_i      ~  theta_dt (n_wt + beta) / (n_t + W beta),  theta_d = pi(psi_d)      token i removed from the counts
    omega_dt ~  PG(N_dt, psi_dt),  N_dt = sum_{s>=t} n_ds
    psi_d    ~  N(J^-1 h, J^-1),  J = Sigma^-1 + diag(omega_d),  h = Sigma^-1 mu + kappa(n_d),  kappa_t = n_dt - N_dt / 2
    mu, Sigma ~ NIW given all psi_d

With a formula of prevalence the mean of psi_d is Gamma x_d instead of mu, and a sweep ends with::

    Gamma, Sigma ~ MNIW given all psi_d and x_d:  Sigma ~ IW(nu_n, Psi_n),  Gamma | Sigma ~ MN(M_n, Sigma, K_n^-1)

    K_n = K + X'X,  M_n = (M K + psi'X) K_n^-1,  nu_n = nu + D,  Psi_n = Psi + psi'psi + M K M' - M_n K_n M_n'

where X are the standard terms of the documents, with mean 0 and standard deviation 1, so that the prior K = kappa I knows no
units.

omega is drawn where it is used and not kept: it is no part of the state. Documents without a token draw from the prior.

With `topics=drawn` phi is drawn first, phi_t ~ Dirichlet(beta + n_t), and z_i ~ theta_dt phi_tw given it: documents are then
independent, and tokens are drawn on all threads. phi is not kept either.

`draw_in_order` is a pass over the documents of any topic model with Gaussian shares. With phi integrated out the topic of a
token depends on those of all tokens before it, so that tokens are drawn one after the other. What a document alone has depends
on its own tokens, and is drawn on one thread while another draws the next tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    SAMPLER,
    Array,
    Engine,
    Memory,
    StepContext,
    WarmStart,
    size,
    word_major_bytes,
    zeros,
)
from workbench.engines.lda import cgs
from workbench.engines.lda.fold_in import mixture_probability
from workbench.engines.lda.split import all_sampled
from workbench.engines.stick_breaking.fold_in import by_gibbs, learnt_of
from workbench.kernels.gaussian import draw_niw, log_joint_of_rows, niw_posterior_in_slices
from workbench.kernels.lda.gibbs import count_topics
from workbench.kernels.lda.log_joint import log_topics
from workbench.kernels.lda.word_prior import take_prior_out, with_prior
from workbench.kernels.simd.vectors import aligned_zeros, padded
from workbench.kernels.state_space import draw_mniw, log_joint_of_regression, mniw_posterior
from workbench.kernels.stick_breaking.correlated_topics import (
    count_words_again,
    draw_sticks,
    draw_sticks_of_groups,
    draw_topics,
    draw_topics_given_phi,
)
from workbench.kernels.stick_breaking.sticks import log_probabilities, sticks_of
from workbench.kernels.threads import each_slice, each_wave, slice_bounds
from workbench.kernels.uniforms import (
    DRAWN_TOPICS,
    GIBBS,
    STICK_WEIGHTS,
    STICKS,
    STICKS_GAUSSIAN,
    TOPICS_GIVEN_PHI,
    draw_dirichlets,
)
from workbench.models import LDA
from workbench.models.model import Model
from workbench.models.options import option
from workbench.models.stick_breaking.correlated_topics import CorrelatedTopics, GaussianTopics


def draw_in_order(
    corpus: Corpus,
    model: Model,
    state: tuple,
    context: StepContext,
    draw_topics,
    draw_own,
    own_work: int,
) -> int:
    """Draw all tokens' topics in canonical order, and after each slice of documents the slice's Gaussian variables.

    Parameters
    ----------
    draw_topics
        Kernel that draws the tokens of a slice given the first five arrays of the state; returns how many changed topic.
    draw_own
        ``draw_own(first, last)`` draws the variables of documents whose tokens have been drawn; in any order and thread.
    own_work
        Work of `draw_own` for one document and topic, in units of a topic of a pair.

    Returns
    -------
    int
        Number of tokens that changed topic.
    """
    slices = slice_bounds(
        corpus.indptr + own_work * np.arange(corpus.n_documents + 1), model.n_topics
    )
    tokens, key = (
        (corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before),
        context.key(GIBBS),
    )
    topics, n_dk, n_wk, n_k, psi = state[:5]
    prior = model.word_prior
    contained_wk, contained_k, beta = with_prior(prior, n_wk, n_k)
    arguments = topics, n_dk, contained_wk, contained_k, psi, beta, key

    def visit(number, part: int):
        if part == 0:
            return draw_topics(*slices[number], *tokens, *arguments)
        draw_own(*slices[number])
        return 0

    n_moved = sum(
        map(
            sum, each_wave(visit, len(slices), 2, context.n_threads, context.interrupt, n_ordered=1)
        )
    )
    take_prior_out(prior, contained_wk, contained_k, n_wk, n_k)
    return n_moved


START_ALPHA = 0.1
"""alpha of the initial sweeps of collapsed Gibbs sampling, and pseudo-count for the initial sticks."""


class State(NamedTuple):
    """The state of `sb_ctm`, and of `ln_ctm`, whose psi has a component per topic instead of a stick per topic but the last."""

    topics: np.ndarray  # (token,) uint16, in canonical order
    n_dk: np.ndarray  # (document, topic) int32, padded
    n_wk: np.ndarray  # (word, topic) int32, padded
    n_k: np.ndarray  # (topic,) int64, padded
    psi: np.ndarray  # (document, stick) float64
    mean: np.ndarray  # (stick,) float64: mu; with a formula (stick, term): Gamma of standard terms
    covariance: np.ndarray  # (stick, stick) float64: Sigma
    precision: np.ndarray  # (stick, stick) float64: its inverse


START_SWEEPS, OPTIMUM_SWEEPS = 30, 100
"""Default numbers of sweeps before sampling, and before variational inference, which stays near the optimum it begins at."""


def start_sweeps_option(default: int = START_SWEEPS):
    """Return the option for the number of collapsed Gibbs sweeps that make the initial state."""
    return option(
        default,
        "sweeps of collapsed Gibbs sampling before the first iteration",
        before=START_SWEEPS,
        low=0,
        whole=True,
        label="Initial sweeps",
    )


@dataclass(frozen=True)
class StartOptions:
    start_sweeps: int = start_sweeps_option()


@dataclass(frozen=True)
class Options(StartOptions):
    topics: str = option(
        "integrated",
        "integrated = tokens are drawn with phi integrated out; drawn = given phi, which is drawn too, on all threads",
        choices=("integrated", "drawn"),
        late=True,
        label="Posterior of topics",
    )


def arrays(corpus: Corpus, n_topics: int, n: int, n_terms: int | None = None) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state with ``n`` sticks or components, and the terms of a formula."""
    return cgs.arrays(corpus, n_topics) | {
        "psi": Array((corpus.n_documents, n)),
        "mean": Array((n,) if n_terms is None else (n, n_terms)),
        "covariance": Array((n, n)),
        "precision": Array((n, n)),
    }


def init(
    corpus: Corpus,
    model: CorrelatedTopics,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: topics of `cgs` or of another run, sticks from each document's topic shares."""
    state = State(**zeros(arrays(corpus, model.n_topics, model.n_topics - 1, n_terms_of(model))))
    for array, start in zip(
        state, ordered_start(corpus, model, options, context, warm_start), strict=False
    ):
        array[:] = start
    state.psi[:] = sticks_of(np.log(state.n_dk[:, : model.n_topics] + START_ALPHA))
    return with_means(corpus, model, state, context)


def n_terms_of(model: CorrelatedTopics) -> int | None:
    """Return the number of terms of the model's formula; None without one."""
    return None if model.design is None else len(model.design.terms)


def ordered_start(
    corpus: Corpus,
    model: CorrelatedTopics,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> tuple:
    """Return initial (topics, n_dk, n_wk, n_k) as in a state of `cgs`; exchangeable topics are numbered in stick order."""
    start = initial_counts(corpus, model, options, context, warm_start)
    topics, *topic_counts = start[:4]
    if not model.exchangeable:
        return start[:4]
    rank = np.argsort(model.stick_order(start.n_k[: model.n_topics]))
    topics[:] = rank[topics]
    for array in topic_counts:
        array[:] = 0
    sampled = all_sampled(corpus).sampled
    count_topics(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        sampled,
        topics,
        *topic_counts,
    )
    return topics, *topic_counts


def initial_counts(
    corpus: Corpus,
    model: CorrelatedTopics,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None,
) -> cgs.State:
    """Return the topics and counts of a state of `cgs`, after its initial sweeps or from another run."""
    lda = LDA(model.n_topics, START_ALPHA, model.beta, **model.seeds)
    start = cgs.init(corpus, lda, cgs.Options(), context, warm_start)
    if warm_start is None:
        for sweep in range(options.start_sweeps):
            cgs.sweep_all(corpus, start, context, chain=1 + sweep)
    return start


def with_start(corpus: Corpus, n_topics: int, memory: Memory) -> Memory:
    """Return the forecast ``memory``, increased to what the initial sweeps of `cgs` need if that is more."""
    start = cgs.memory(corpus, LDA(n_topics), cgs.Options())
    return memory._replace(step=max(memory.step, start.state + start.indices + start.step))


def with_gaussian(
    model: GaussianTopics, state: State, context: StepContext, stream: int = STICKS_GAUSSIAN
) -> State:
    """Return the state with mu and Sigma drawn anew given psi of all documents."""
    posterior = niw_posterior_in_slices(
        state.psi, model.psi_prior, context.n_threads, context.interrupt
    )
    mean, covariance, precision = draw_niw(*posterior, context.key(stream))
    return state._replace(mean=mean, covariance=covariance, precision=precision)


def with_means(
    corpus: Corpus, model: CorrelatedTopics, state: State, context: StepContext
) -> State:
    """Return the state with Sigma, and mu or Gamma, drawn anew given psi of all documents."""
    terms = model.terms_of(corpus)
    if terms is None:
        return with_gaussian(model, state, context)
    posterior = mniw_posterior(state.psi, terms, *model.regression_prior)
    gamma, covariance, precision = draw_mniw(*posterior, context.key(STICKS_GAUSSIAN))
    return state._replace(mean=gamma, covariance=covariance, precision=precision)


def step(
    corpus: Corpus, model: CorrelatedTopics, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Draw all tokens' topics, the sticks psi of each document, then Sigma, and mu or Gamma."""
    terms = model.terms_of(corpus)
    if terms is None:
        draw, means = draw_sticks, {"weighted_mean": weighted(state.precision, state.mean)}
    else:  # each document is a group
        weighted_means = weighted_by_terms(state.precision, state.mean, terms)
        draw, means = (
            draw_sticks_of_groups,
            {"weighted": weighted_means, "group": np.arange(corpus.n_documents)},
        )
    draw_own = partial(
        draw,
        n_dk=state.n_dk,
        precision=state.precision,
        sticks=state.psi,
        omega_key=context.key(STICK_WEIGHTS),
        stick_key=context.key(STICKS),
        **means,
    )
    if options.topics == "drawn":
        n_moved = draw_given_phi(corpus, model, state, context)
        each_slice(
            draw_own,
            stick_slices(corpus.n_documents, model.n_topics),
            context.n_threads,
            context.interrupt,
        )
    else:
        n_moved = draw_in_order(
            corpus, model, state, context, draw_topics, draw_own, stick_work(model.n_topics)
        )
    state = with_means(corpus, model, state, context)
    return state, {"updates": corpus.n_tokens, "moved": n_moved / max(corpus.n_tokens, 1)}


def draw_given_phi(
    corpus: Corpus, model: CorrelatedTopics, state: State, context: StepContext
) -> int:
    """Draw phi, then all tokens' topics given phi; return how many tokens changed topic."""
    phi, live, key = (
        aligned_zeros(state.n_wk.shape, np.float64),
        slice(model.n_topics),
        context.key(TOPICS_GIVEN_PHI),
    )
    document_arguments, word_arguments = (
        slice_bounds(bounds, len(state.n_k)) for bounds in (corpus.indptr, corpus.by_word.indptr)
    )

    n_wk, _, beta = with_prior(model.word_prior, state.n_wk, state.n_k)
    phi[:, live] = draw_dirichlets(
        np.ascontiguousarray(n_wk[:, live].T),
        np.full(corpus.n_words, beta),
        context.key(DRAWN_TOPICS),
    ).T
    n_moved = sum(
        each_slice(
            draw_topics_given_phi,
            document_arguments,
            context.n_threads,
            context.interrupt,
            corpus.indptr,
            corpus.words,
            corpus.counts,
            corpus.tokens_before,
            state.topics,
            state.n_dk,
            state.psi,
            phi,
            key,
        )
    )
    each_slice(
        count_words_again,
        word_arguments,
        context.n_threads,
        context.interrupt,
        corpus.by_word.indptr,
        *corpus.tokens_by_word,
        state.topics,
        state.n_wk,
    )
    state.n_k[:] = state.n_wk.sum(axis=0)
    return n_moved


def weighted(precision: np.ndarray, mean) -> np.ndarray:
    """Return Sigma^-1 mu (stick,), summed in a fixed order so that it does not depend on the number of threads."""
    return (precision * mean).sum(axis=1)


def weighted_by_terms(precision: np.ndarray, gamma: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Return Sigma^-1 Gamma x_d (document, stick) of terms x (document, term), summed in a fixed order."""
    by_term = np.einsum("ij,jp->ip", precision, gamma)
    return np.einsum("dp,ip->di", terms, by_term)


def stick_slices(n_documents: int, n_topics: int) -> list[tuple[int, int]]:
    """Cut the documents into ranges whose sticks take some milliseconds to draw."""
    return slice_bounds(np.arange(n_documents + 1) * stick_work(n_topics), n_topics)


def stick_work(n_topics: int) -> int:
    """Return the cost of drawing one stick of a document, relative to one topic of one document-word pair."""
    return n_topics**2 // 8 + 8


def watch(
    corpus: Corpus,
    model: GaussianTopics,
    options: Options,
    state: State,
    log_theta: Callable[[np.ndarray], np.ndarray] = log_probabilities,
) -> dict:
    """Return log p(w, z, psi, mu, Sigma) with phi integrated out, and the topic sizes; Gamma of standard terms for mu."""
    n_topics = model.n_topics
    topic_term = (state.n_dk[:, :n_topics] * log_theta(state.psi)).sum()
    of_psi, terms = (state.mean, state.precision), getattr(model, "design", None)
    if terms is None:
        psi_term = log_joint_of_rows(state.psi, *of_psi, *model.psi_prior)
    else:
        psi_term = log_joint_of_regression(
            state.psi, model.terms_of(corpus), *of_psi, *model.regression_prior
        )
    return {
        "log_joint": float(
            log_topics(state.n_wk, state.n_k, model.word_prior, n_topics) + topic_term + psi_term
        ),
        "n_k": state.n_k[:n_topics],
    }


def counts(corpus: Corpus, model: CorrelatedTopics, options: Options, state: State) -> dict:
    """Return the sampled counts, sticks and topics of tokens, mu and Sigma, and Gamma."""
    return cgs.counts(corpus, model, options, state) | {
        "psi": state.psi,
        "psi_covariance": state.covariance,
        **means_of(model, state.mean),
    }


def means_of(model: GaussianTopics, mean: np.ndarray) -> dict[str, np.ndarray]:
    """Return mu of average documents, and with a formula Gamma of the terms as they are, by name."""
    design = getattr(model, "design", None)
    if design is None:
        return {"psi_mean": mean}
    return {"psi_mean": mean[:, 0], "gamma": design.coefficients(mean)}


def predict(
    corpus: Corpus,
    model: CorrelatedTopics,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) (pair,) given the drawn theta and the posterior mean of phi given the sampled counts."""
    live = slice(model.n_topics)
    n_wk, n_k, beta = with_prior(model.word_prior, state.n_wk, state.n_k)
    phi = (n_wk[:, live] + beta) / (n_k[live] + corpus.n_words * beta)
    # the fifth array of a state is psi, as sticks or components
    return mixture_probability(model.theta_of(state[4]), phi, pairs)


def memory(corpus: Corpus, model: CorrelatedTopics, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: topics, counts, sticks; no array is as large as n_documents × n_topics^2."""
    lanes, square = padded(model.n_topics), 3 * model.n_topics**2 * DOUBLE
    theta, phi = (n * model.n_topics * DOUBLE for n in (corpus.n_documents, corpus.n_words))
    state, look = size(arrays(corpus, model.n_topics, model.n_topics - 1, n_terms_of(model))), theta
    if model.design is not None:  # the standard terms, and the weighted mean of each document
        state += corpus.n_documents * len(model.design.terms) * DOUBLE
        square += theta
    if options.topics == "integrated":
        return with_start(corpus, model.n_topics, Memory(state, step=square, look=look))
    word_bytes = word_major_bytes(corpus) + corpus.n_pairs * (8 + 4)
    step = square + corpus.n_words * lanes * DOUBLE + 2 * phi
    return with_start(corpus, model.n_topics, Memory(state, word_bytes, step=step, look=look))


def engine(name: str = "sb-ctm") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#4c8000",
        line="-",
        marker="o",
        title="Gibbs sampling of correlated topics by stick-breaking",
        source="Linderman, Johnson & Adams (2015), eq. 10-13",
        when="Where it matters which topics go together: it predicted better than ln-ctm and ctm-em on our corpora, but an "
        "iteration takes longer.",
        model=CorrelatedTopics,
        options=Options,
        state=State,
        samples=lambda corpus, options: True,
        watches=("log_joint", "moved"),
        keeps=("token_topics",),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=by_gibbs,
        learnt=learnt_of,
        memory=memory,
    )
