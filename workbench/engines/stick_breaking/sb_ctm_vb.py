"""Variational inference of correlated topics by stick-breaking, and stochastic variational inference in batches.

Linderman, Johnson & Adams (2015), appendix C, with the bracket of its mean not inverted, the remaining counts N_t summed from t
on, log theta in q(z), and one bound for all updates; Hoffman, Blei, Wang & Paisley (2013) for batches::

    q(z) q(psi_d) = N(m_d, V_d)   fitted to q(phi), q(mu, Sigma), document by document: `kernels.stick_breaking.variational`
    q(phi_t)      = Dirichlet(beta + n_wt),   n_wt = sum_d c_dw gamma_dwt
    q(mu, Sigma)  = NIW given sum_d m_d and sum_d V_d + m_d m_d'

With a formula of prevalence the mean of psi_d is Gamma x_d, and q(Gamma, Sigma) is the matrix normal inverse Wishart of a
regression, given sum_d m_d x_d' too.

With a `batch`, an iteration is one pass over all documents in batches drawn anew. After each, the natural parameters of q(phi)
and q(mu, Sigma) go the share rho_i = (i + tau)^-kappa of the way to what they would be if all documents were as the batch;
i counts batches from 0.

`bound=local` bounds log sigma(psi) as Jaakkola & Jordan do: variational inference then never lowers the bound. `bound=paper`
takes expectations under q(psi), which is tighter; E[omega] is then a heuristic, and nothing is guaranteed.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    VARIATIONAL,
    Array,
    Engine,
    Memory,
    StepContext,
    WarmStart,
    size,
    topic_counts,
    word_major_bytes,
    zeros,
)
from workbench.engines.lda.fold_in import mixture_probability
from workbench.engines.lda.hyperparameters import refuse_without_effect
from workbench.engines.lda.responsibilities import weigh_words
from workbench.engines.stick_breaking import gaussian_posterior
from workbench.engines.stick_breaking.fold_in import (
    TOLERANCE,
    by_variational_inference,
    learnt_of,
)
from workbench.engines.stick_breaking.sb_ctm import (
    OPTIMUM_SWEEPS,
    START_ALPHA,
    means_of,
    n_terms_of,
    ordered_start,
    start_sweeps_option,
    stick_slices,
    weighted,
    weighted_by_terms,
    with_start,
)
from workbench.errors import Got, Named
from workbench.kernels.gaussian import niw_posterior
from workbench.kernels.lda.document_vb import count_words
from workbench.kernels.lda.log_joint import log_topics
from workbench.kernels.lda.standard_vb import log_weights
from workbench.kernels.lda.word_prior import with_prior
from workbench.kernels.simd.vectors import aligned_empty, aligned_zeros, padded
from workbench.kernels.state_space import mniw_posterior
from workbench.kernels.stick_breaking.sticks import dirichlet_moments, sticks_of
from workbench.kernels.stick_breaking.variational import (
    NO_NODES,
    NODE_WEIGHTS,
    NODES,
    expected_probabilities,
    fit_documents,
)
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import BATCHES, permutation
from workbench.models.options import OptionError, option
from workbench.models.stick_breaking.correlated_topics import (
    CorrelatedTopics,
    NormalInverseWishart,
    Regression,
)

TOGETHER = 64
"""Number of slices of documents whose sums of V are in memory at a time."""
RATE = ("tau", "kappa")
"""Options of the learning rate."""


class State(NamedTuple):
    sticks: np.ndarray  # (document, stick) float64: m
    variances: np.ndarray  # (document, stick) float64: the diagonal of V
    mean_dk: np.ndarray  # (document, topic) float64, padded: expected counts as last fitted
    mean_wk: np.ndarray  # (word, topic) float64, padded: q(phi) is Dirichlet(beta + mean_wk)
    mean_k: np.ndarray  # (topic,) float64, padded
    # (word, topic) float64, padded: expected counts as last fitted; no rows if equal to mean_wk
    fitted_wk: np.ndarray
    # (stick,) float64: of q(mu, Sigma), with kappa, nu, scale; with a formula (stick, term), of q(Gamma, Sigma)
    mean: np.ndarray
    kappa: float | np.ndarray  # with a formula (term, term) float64: K
    nu: float
    scale: np.ndarray  # (stick, stick) float64
    # (stick,) float64: sum over documents of m - m0, as last fitted; with a formula (stick, term): of (m - m0) x'
    total: np.ndarray
    scatter: np.ndarray  # (stick, stick) float64: sum over documents of V + (m - m0)(m - m0)'
    # terms of the bound from documents, as last fitted, without log p(words, psi), nats
    of_documents: float

    @property
    def gaussian(self) -> NormalInverseWishart | Regression:
        """The normal-inverse-Wishart q(mu, Sigma), or q(Gamma, Sigma) of a formula."""
        of = NormalInverseWishart if np.ndim(self.kappa) == 0 else Regression
        return of(self.mean, self.kappa, self.nu, self.scale)


@dataclass(frozen=True)
class Options:
    bound: str = option(
        "local",
        "local = bounds of the sigmoids, with which the bound never falls; paper = their expectations by quadrature",
        choices=("local", "paper"),
    )
    n_inner: int = option(
        5,
        "maximum number of passes over a document per iteration",
        low=1,
        whole=True,
        label="Inner passes",
    )
    batch: int = option(
        0,
        "documents per batch of stochastic inference; 0 = all documents at once",
        low=0,
        whole=True,
    )
    tau: float = option(
        1.0, "delay tau of the learning rate (i + tau)^-kappa", low=1, label="Learning-rate delay"
    )
    kappa: float = option(
        0.7,
        "exponent kappa of the learning rate, above 0.5",
        low=0.5,
        high=1,
        label="Learning-rate exponent κ",
        live=True,
    )
    start_sweeps: int = start_sweeps_option(OPTIMUM_SWEEPS)

    def __post_init__(self):
        if self.kappa <= 0.5:
            raise OptionError(
                Named("kappa"),
                " must be above 0.5 and at most 1, so that rates settle",
                Got(self.kappa),
            )
        if not self.batch:
            changed_options = {
                name for name in RATE if getattr(self, name) != getattr(Options, name)
            }
            refuse_without_effect(
                changed_options, RATE, "all documents are in one batch; set ", Named("batch")
            )


def check_options(options: Options, corpus: Corpus) -> None:
    """Raise OptionError for batches larger than the corpus."""
    if options.batch > corpus.n_documents:
        raise OptionError(
            Named("batch", options.batch),
            f" is more than the {corpus.n_documents} documents of {corpus.name!r}; "
            f"choose at most {corpus.n_documents}, or 0 for all documents at once",
            value=options.batch,
        )


def arrays(
    corpus: Corpus, n_topics: int, options: Options, n_terms: int | None = None
) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state, with the terms of a formula."""
    n, sticks = n_topics - 1, Array((corpus.n_documents, n_topics - 1))
    fitted = Array((corpus.n_words if options.batch else 0, padded(n_topics)))
    return (
        {"sticks": sticks, "variances": sticks}
        | topic_counts("mean", corpus, n_topics)
        | {
            "fitted_wk": fitted,
            "mean": Array((n,) if n_terms is None else (n, n_terms)),
            "scale": Array((n, n)),
            "total": Array((n,) if n_terms is None else (n, n_terms)),
            "scatter": Array((n, n)),
        }
    )


def init(
    corpus: Corpus,
    model: CorrelatedTopics,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: counts of `cgs` or of another run, sticks from each document's topic shares."""
    prior, terms = model.psi_prior, model.terms_of(corpus)
    state_arrays = zeros(arrays(corpus, model.n_topics, options, n_terms_of(model)))
    state = State(**state_arrays, kappa=prior.kappa, nu=prior.nu, of_documents=np.nan)
    _, n_dk, n_wk, n_k = ordered_start(corpus, model, options, context, warm_start)
    for mean, n in zip(
        (state.mean_dk, state.mean_wk, state.mean_k), (n_dk, n_wk, n_k), strict=True
    ):
        mean[:] = n
    if options.batch:
        state.fitted_wk[:] = n_wk
    n_dk = n_dk[:, : model.n_topics]
    state.sticks[:] = sticks_of(np.log(n_dk + START_ALPHA))
    state.variances[:] = dirichlet_moments(n_dk + 1.0)[1]
    if terms is None:
        q = NormalInverseWishart(*niw_posterior(state.sticks, *prior))
    else:
        q = Regression(*mniw_posterior(state.sticks, terms, *model.regression_prior))
    return with_gaussian(state, q._replace(scale=q.scale + np.diag(state.variances.sum(axis=0))))


def with_gaussian(state: State, q: NormalInverseWishart | Regression) -> State:
    """Return the state with q(mu, Sigma), or q(Gamma, Sigma), replaced by ``q``."""
    mean, weight, nu, scale = q
    kappa = weight if isinstance(q, Regression) else float(weight)
    return state._replace(mean=mean, kappa=kappa, nu=float(nu), scale=scale)


def step(
    corpus: Corpus, model: CorrelatedTopics, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Fit q of the documents, then q(phi) and q(mu, Sigma): all documents at once, or one batch after another."""
    n_visited, terms = 0, model.terms_of(corpus)
    state = state._replace(
        of_documents=0.0, total=np.zeros_like(state.total), scatter=np.zeros_like(state.scatter)
    )
    state.fitted_wk[:] = 0.0
    batches = batches_of(corpus.n_documents, options, context)
    for number, rows in enumerate(batches):
        part = corpus if len(rows) == corpus.n_documents else corpus.of_documents(rows)
        fitted, new_wk, new_k, n_in_batch = fit(part, rows, model, options, state, context)
        rate = (
            ((context.step - 1) * len(batches) + number + options.tau) ** -options.kappa
            if options.batch
            else 1.0
        )
        share = len(rows) / corpus.n_documents
        document_terms, total, scatter = fitted
        if options.batch:
            state.fitted_wk[:] += new_wk
        for mean, new in ((state.mean_wk, new_wk), (state.mean_k, new_k)):
            mean *= 1.0 - rate
            mean += (rate / share) * new
        sums = share, total, scatter, rate
        if terms is None:
            q = gaussian_posterior.moved(state.gaussian, model.psi_prior, corpus.n_documents, *sums)
        else:
            inner = inner_of(terms[rows])
            q = gaussian_posterior.moved_regression(
                state.gaussian,
                model.regression_prior,
                corpus.n_documents,
                share,
                inner,
                *sums[1:],
            )
        state = with_gaussian(state, q)._replace(
            of_documents=state.of_documents + document_terms,
            total=state.total + total,
            scatter=state.scatter + scatter,
        )
        n_visited += n_in_batch
    return state, {"updates": n_visited}


def batches_of(n_documents: int, options: Options, context: StepContext) -> list[np.ndarray]:
    """Return a random partition of the documents into batches; one batch of all if ``options.batch`` is 0."""
    if not options.batch:
        return [np.arange(n_documents)]
    order = permutation(context.key(BATCHES), n_documents)
    return [
        np.sort(order[first : first + options.batch])
        for first in range(0, n_documents, options.batch)
    ]


def inner_of(terms: np.ndarray) -> np.ndarray:
    """Return the sum of x x' (term, term) over documents with terms x (document, term)."""
    return np.einsum("dp,dq->pq", terms, terms)


def fit(
    part: Corpus,
    rows: np.ndarray,
    model: CorrelatedTopics,
    options: Options,
    state: State,
    context: StepContext,
) -> tuple[tuple, np.ndarray, np.ndarray, int]:
    """Fit q of the documents with indices ``rows``, given q(phi) and q(mu, Sigma), in place.

    Returns their sums (of the bound, of m - m0, or (m - m0) x', and of V + (m - m0)(m - m0)'), their expected counts
    (word, topic) and (topic,), and how many pairs were visited. The result does not depend on the number of threads.
    """
    n_topics, lanes, prior = model.n_topics, len(state.mean_k), model.psi_prior
    words = weigh_words(state.mean_wk, state.mean_k, model.word_prior, n_topics, context)
    precision = gaussian_posterior.expected_precision(state.gaussian)
    terms = None if model.design is None else model.design.standard
    weighted_mean = (
        weighted(precision, state.mean)[None]
        if terms is None
        else weighted_by_terms(precision, state.mean, terms)
    )
    documents = tuple(aligned_empty((part.n_documents, lanes), np.float64) for _ in range(2))
    ratios, new_wk = np.empty(part.n_pairs), aligned_zeros(state.mean_wk.shape, np.float64)
    nodes = (NO_NODES, NO_NODES) if options.bound == "local" else (NODES, NODE_WEIGHTS)
    work = partial(
        fit_documents,
        rows=rows,
        indptr=part.indptr,
        words=part.words,
        counts=part.counts,
        precision=precision,
        weighted_mean=weighted_mean,
        nodes=nodes[0],
        node_weights=nodes[1],
        word_logs=words[0],
        word_weights=words[1],
        n_topics=n_topics,
        most_passes=options.n_inner,
        tolerance=TOLERANCE,
        centre=prior.mean,
        sticks=state.sticks,
        variances=state.variances,
        mean_dk=state.mean_dk,
        document_logs=documents[0],
        document_weights=documents[1],
        kept_ratios=ratios,
    )
    document_terms, total, scatter, n_visited = (
        0.0,
        np.zeros(n_topics - 1),
        np.zeros_like(state.scatter),
        0,
    )
    slices = stick_slices(part.n_documents, n_topics)
    for first in range(0, len(slices), TOGETHER):
        for sums in each_slice(
            work, slices[first : first + TOGETHER], context.n_threads, context.interrupt
        ):
            document_terms += sums[0]
            total += sums[1]
            scatter += sums[2]
            n_visited += sums[3]
    if terms is not None:
        total = np.einsum("di,dp->ip", state.sticks[rows] - prior.mean, terms[rows])

    new_k = sum(
        each_slice(
            count_words,
            slice_bounds(part.by_word.indptr, lanes),
            context.n_threads,
            context.interrupt,
            *part.by_word,
            part.counts,
            *documents,
            *words,
            n_topics,
            ratios,
            new_wk,
        )
    )
    document_terms -= log_weights(
        new_wk, *words
    )  # E[log phi], which `watch` adds as q(phi) is then
    return (document_terms, total, scatter + np.triu(scatter, 1).T), new_wk, new_k, n_visited


def watch(corpus: Corpus, model: CorrelatedTopics, options: Options, state: State) -> dict:
    """Return the bound at the current q(phi), q(mu, Sigma) and the last q of each document; NaN before iteration 1."""
    q, live, prior = state.gaussian, slice(model.n_topics), model.word_prior
    topics = log_topics(state.mean_wk, state.mean_k, prior, model.n_topics)
    if options.batch:
        n_wk, n_k, beta = with_prior(prior, state.mean_wk, state.mean_k)
        log_phi = digamma(beta + n_wk[:, live]) - digamma(corpus.n_words * beta + n_k[live])
        topics += ((state.fitted_wk - state.mean_wk)[:, live] * log_phi).sum()
    terms, sums = model.terms_of(corpus), (state.total, state.scatter)
    if terms is None:
        gaussian = gaussian_posterior.bound(q, model.psi_prior, corpus.n_documents, *sums)
    else:
        gaussian = gaussian_posterior.bound_of_regression(
            q, model.regression_prior, corpus.n_documents, inner_of(terms), *sums
        )
    return {
        "bound": float(state.of_documents + topics + gaussian),
        "n_k": state.mean_dk[:, live].sum(axis=0),
    }


def counts(corpus: Corpus, model: CorrelatedTopics, options: Options, state: State) -> dict:
    """Return expected counts, sticks, E[mu], and E[Sigma^-1]^-1, which exists even under the improper prior."""
    live = slice(model.n_topics)
    return {
        "n_kw": (state.fitted_wk if options.batch else state.mean_wk)[:, live].T,
        "n_dk": state.mean_dk[:, live],
        "psi": state.sticks,
        **means_of(model, state.mean),
        "psi_covariance": state.scale / state.nu,
    }


def predict(
    corpus: Corpus,
    model: CorrelatedTopics,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) (pair,) with the means of theta and phi under q, whose sticks are taken as independent."""
    live = slice(model.n_topics)
    n_wk, n_k, beta = with_prior(model.word_prior, state.mean_wk, state.mean_k)
    phi = (n_wk[:, live] + beta) / (n_k[live] + corpus.n_words * beta)
    return mixture_probability(expected_probabilities(state.sticks, state.variances), phi, pairs)


def memory(corpus: Corpus, model: CorrelatedTopics, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: the state and weights; no array is as large as n_documents × n_topics^2."""
    lanes, square = padded(model.n_topics), model.n_topics**2 * DOUBLE
    n_fitted = min(options.batch or corpus.n_documents, corpus.n_documents)
    pairs = corpus.n_pairs * n_fitted // max(corpus.n_documents, 1)
    step = (
        2 * (n_fitted + corpus.n_words) * lanes * DOUBLE + pairs * DOUBLE + (TOGETHER + 8) * square
    )
    indices = 0 if options.batch else word_major_bytes(corpus)
    theta = 3 * corpus.n_documents * model.n_topics * DOUBLE
    n_terms = n_terms_of(model)
    state = size(arrays(corpus, model.n_topics, options, n_terms))
    if n_terms is not None:  # the standard terms, and the weighted mean of each document
        state += corpus.n_documents * n_terms * DOUBLE
        step += theta
    memory = Memory(state, indices, step=step, look=theta)
    return with_start(corpus, model.n_topics, memory)


def engine(name: str = "sb-ctm-vb") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#bb4c80",
        line=":",
        marker="D",
        title="Variational inference of correlated topics by stick-breaking",
        source="Linderman, Johnson & Adams (2015), appendix C; Hoffman, Blei, Wang & Paisley (2013)",
        when="For correlated topics of a corpus that is too large to sample: it can go through the documents in batches, "
        "without random draws of topics.",
        model=CorrelatedTopics,
        options=Options,
        state=State,
        samples=lambda corpus, options: False,
        watches=("bound",),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=by_variational_inference,
        learnt=learnt_of,
        memory=memory,
        check_options=check_options,
    )
