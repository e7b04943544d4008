"""Gibbs sampling of topics that drift from year to year, by stick-breaking and Polya-gamma augmentation.

Blei & Lafferty (2006), "Dynamic topic models", inferred as Linderman, Johnson & Adams (2015) infer theirs. A sweep is::

    z_i        ~  (n_dk + alpha_k) phi_{year(d), k, w},  phi_tk = pi(psi_tk)          theta integrated out, token i removed
    omega_tvk  ~  PG(N_tvk, psi_tvk),  N_tvk = sum_{u >= v} n_tuk
    psi_.vk    ~  its random walk given omega, drawn by filtering forward and sampling backward
    q          ~  IG(a + (Y - 1) (V - 1) K / 2,  b + sum (psi_t - psi_{t-1})^2 / 2)          where it is learnt, for Y years

v is a word's place on the stick, by decreasing tokens: rare words early on the stick would mix slowly. omega is drawn where it
is used and not kept. A year without a token has omega = 0, and its sticks come from the walk alone.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.times import Years, nearest_years, years_of
from workbench.engines.engine import (
    DOUBLE,
    SAMPLER,
    Array,
    Engine,
    Memory,
    StepContext,
    WarmStart,
    cached_by_corpus,
    size,
    zeros,
)
from workbench.engines.lda.fold_in import BURN_IN, KEPT, LearntTopics, each_document
from workbench.engines.stick_breaking.sb_ctm import (
    START_ALPHA,
    StartOptions,
    initial_counts,
    with_start,
)
from workbench.kernels.lda.fold_in import mixture, sampled_theta
from workbench.kernels.simd.vectors import aligned_zeros, pad_topics, padded
from workbench.kernels.state_space import draw_inverse_gamma
from workbench.kernels.stick_breaking.dynamic_topics import (
    SMALLEST,
    break_sticks,
    count_rows,
    draw_topics,
    draw_walks,
)
from workbench.kernels.stick_breaking.sticks import sticks_of
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import FOLD_IN, GIBBS, WALK_VARIANCE, WALK_WEIGHTS, WALKS
from workbench.models import LDA
from workbench.models.stick_breaking.dynamic_topics import DynamicTopics

START_BETA = 0.1
"""beta of the initial sweeps of collapsed Gibbs sampling, and pseudo-count for the initial sticks."""
WALK_WORK = 8
"""Work of drawing one stick in one year, in units of a topic of a pair."""


class State(NamedTuple):
    topics: np.ndarray  # (token,) uint16, in canonical order
    n_dk: np.ndarray  # (document, topic) int32, padded
    sticks: np.ndarray  # (year, stick, topic) float64: psi, words by decreasing tokens
    variance: float  # q


class Rows(NamedTuple):
    """The words of each year of a corpus as rows (year, word), with words in stick order."""

    years: Years
    order: np.ndarray  # (word,) the words by decreasing tokens
    of_pairs: np.ndarray  # (pair,) int32 or int64: year * n_words + position on the stick


@cached_by_corpus
def rows_of(corpus: Corpus) -> Rows:
    """Return the row (year, word) of every document-word pair of a corpus, and the stick order of words."""
    years, tokens = years_of(corpus), np.bincount(corpus.words, corpus.counts, corpus.n_words)
    order = np.argsort(-tokens, kind="stable")
    return Rows(years, order, rows_in(corpus, years.of_documents, years.n, order))


def rows_in(corpus: Corpus, year, n_years: int, order: np.ndarray | None = None) -> np.ndarray:
    """Return the row, year * n_words + word, of each pair (pair,); ``order`` (word,) is the stick order if words have one."""
    words = corpus.words if order is None else np.argsort(order)[corpus.words]
    kind = np.int32 if n_years * corpus.n_words < 2**31 else np.int64
    return (np.repeat(year, np.diff(corpus.indptr)) * corpus.n_words + words).astype(kind)


def arrays(corpus: Corpus, n_topics: int) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state."""
    return {
        "topics": Array((corpus.n_tokens,), np.uint16),
        "n_dk": Array((corpus.n_documents, padded(n_topics)), np.int32),
        "sticks": Array((years_of(corpus).n, corpus.n_words - 1, n_topics)),
    }


def init(
    corpus: Corpus,
    model: DynamicTopics,
    options: StartOptions,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: topics of `cgs` or of another run, and sticks that are the same in every year."""
    lda = LDA(model.n_topics, START_ALPHA, START_BETA)
    start = initial_counts(corpus, lda, options, context, warm_start)
    state = State(**zeros(arrays(corpus, model.n_topics)), variance=model.q)
    state.topics[:], state.n_dk[:] = start.topics, start.n_dk
    n_kw = start.n_wk[rows_of(corpus).order, : model.n_topics].T
    state.sticks[:] = sticks_of(np.log(n_kw + START_BETA)).T
    return state


def step(
    corpus: Corpus, model: DynamicTopics, options: StartOptions, state: State, context: StepContext
) -> tuple[State, dict]:
    """Draw all tokens' topics, then the random walk of every stick, then the step variance q if it is learnt."""
    rows, phi = rows_of(corpus), probabilities_of(state.sticks, context)
    n_moved = each_slice(
        draw_topics,
        slice_bounds(corpus.indptr, model.n_topics),
        context.n_threads,
        context.interrupt,
        indptr=corpus.indptr,
        rows=rows.of_pairs,
        counts=corpus.counts,
        tokens_before=corpus.tokens_before,
        topics=state.topics,
        n_dk=state.n_dk,
        alpha=pad_topics(model.alphas),
        phi=phi,
        key=context.key(GIBBS),
    )
    del phi
    squares = sum(draw_sticks(corpus, model, state, context))
    if model.learn_q:
        n_steps = (rows.years.n - 1) * state.sticks[0].size
        shape, scale = model.a_q + 0.5 * n_steps, model.b_q + 0.5 * squares
        state = state._replace(
            variance=draw_inverse_gamma(shape, scale, context.key(WALK_VARIANCE))
        )
    return state, {"updates": corpus.n_tokens, "moved": sum(n_moved) / max(corpus.n_tokens, 1)}


def draw_sticks(
    corpus: Corpus, model: DynamicTopics, state: State, context: StepContext
) -> list[float]:
    """Draw the random walks of all sticks given the topics; return the summed squared steps of each range of sticks."""
    n_years, n_sticks, n_topics = state.sticks.shape
    bounds = stick_slices(*state.sticks.shape)
    if not bounds:
        return []
    n_rk = token_counts(corpus, state)
    range_counts = np.add.reduceat(
        n_rk.reshape(n_years, n_sticks + 1, -1),
        [*(first for first, _ in bounds), n_sticks],
        axis=1,
        dtype=np.int64,
    )
    # (year, range, topic) tokens of words after it
    later = np.cumsum(range_counts[:, ::-1], axis=1)[:, ::-1][:, 1:, :n_topics]
    starts = {first: np.ascontiguousarray(later[:, i]) for i, (first, _) in enumerate(bounds)}
    mean, variance = model.first_year(corpus.n_words)
    weight_key, walk_key = context.key(WALK_WEIGHTS), context.key(WALKS)

    def work(first: int, last: int):
        return draw_walks(
            first,
            last,
            n_rk,
            starts[first],
            mean,
            variance,
            state.variance,
            state.sticks,
            weight_key,
            walk_key,
        )

    return each_slice(work, bounds, context.n_threads, context.interrupt)


def stick_slices(n_years: int, n_sticks: int, n_topics: int) -> list[tuple[int, int]]:
    """Cut the sticks into ranges whose walks take some milliseconds to draw."""
    return slice_bounds(np.arange(n_sticks + 1) * n_years * WALK_WORK, n_topics)


def token_counts(corpus: Corpus, state: State) -> np.ndarray:
    """Return how many tokens of each topic each row (word in a year) has, (year * word, topic) int32, padded."""
    rows = rows_of(corpus)
    n_rk = aligned_zeros((rows.years.n * corpus.n_words, state.n_dk.shape[1]), np.int32)
    count_rows(rows.of_pairs, corpus.counts, corpus.tokens_before, state.topics, n_rk)
    return n_rk


def probabilities_of(sticks: np.ndarray, context: StepContext | None = None) -> np.ndarray:
    """Return phi (year * word, topic), padded, with words in stick order."""
    n_years, n_sticks, n_topics = sticks.shape
    phi = aligned_zeros((n_years * (n_sticks + 1), padded(n_topics)), np.float64)
    if context is None:
        break_sticks(0, n_years, sticks, phi)
    else:
        bounds = [(year, year + 1) for year in range(n_years)]
        each_slice(
            break_sticks, bounds, context.n_threads, context.interrupt, sticks=sticks, phi=phi
        )
    return phi


def watch(corpus: Corpus, model: DynamicTopics, options: StartOptions, state: State) -> dict:
    diagnostics = {"n_k": state.n_dk[:, : model.n_topics].sum(axis=0, dtype=np.int64)}
    return diagnostics | ({"q": state.variance} if model.learn_q else {})


def counts(corpus: Corpus, model: DynamicTopics, options: StartOptions, state: State) -> dict:
    """Return the sampled counts, the tokens' topics, and the word probabilities of every year."""
    rows, live = rows_of(corpus), slice(model.n_topics)
    n_wk = token_counts(corpus, state).reshape(rows.years.n, corpus.n_words, -1).sum(axis=0)
    n_kw, phi = (
        np.empty((model.n_topics, corpus.n_words)),
        np.empty((rows.years.n, model.n_topics, corpus.n_words), np.float32),
    )
    n_kw[:, rows.order] = n_wk[:, live].T
    for year, year_phi in enumerate(phi):
        year_phi[:, rows.order] = probabilities_of(state.sticks[year : year + 1])[:, live].T
    return {
        "n_kw": n_kw,
        "n_dk": state.n_dk[:, live],
        "token_topics": state.topics,
        "phi_by_time": phi,
    }


def predict(
    corpus: Corpus,
    model: DynamicTopics,
    options: StartOptions,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) (pair,) given the posterior mean of theta and the drawn phi of the document's year."""
    rows, theta = rows_of(corpus), state.n_dk[:, : model.n_topics] + model.alphas
    theta /= theta.sum(axis=1, keepdims=True)
    pair_rows = rows_in(pairs, rows.years.of_documents, rows.years.n, rows.order)
    return mixture_of_rows(theta, probabilities_of(state.sticks), pairs, pair_rows)


def mixture_of_rows(
    theta: np.ndarray, phi: np.ndarray, pairs: Corpus, rows: np.ndarray
) -> np.ndarray:
    """Return p(w|d) (pair,) from theta (document, topic), phi (row, topic) and the row in phi of each pair (pair,)."""
    probability = np.empty(pairs.n_pairs)
    mixture(0, pairs.n_documents, pairs.indptr, rows, theta, phi, probability)
    return probability


class LearntDrift(NamedTuple):
    """The part of a fitted dynamic topic model that inference of unseen documents needs."""

    alphas: np.ndarray  # (topic,)
    phi: np.ndarray  # (year * word, topic)
    first: int  # first year
    n_years: int

    def rows(self, documents: Corpus) -> np.ndarray:
        """Return the row in phi (pair,) of each document-word pair, by the nearest year of the run, or the last if undated."""
        return rows_in(documents, nearest_years(documents, self.first, self.n_years), self.n_years)


def learnt_of(model: DynamicTopics, last: Mapping, topics: LearntTopics) -> LearntDrift:
    """Return the learnt parameters of a run from the arrays of its last snapshot, by name."""
    phi = np.maximum(np.asarray(last["phi_by_time"], float).transpose(0, 2, 1), SMALLEST)
    years = np.asarray(last["time"])
    return LearntDrift(model.alphas, phi.reshape(-1, model.n_topics), int(years[0]), len(years))


def by_gibbs(
    parameters: LearntDrift, options: StartOptions, documents: Corpus, context: StepContext
) -> np.ndarray:
    """Return theta (document, topic): the mean over 50 Gibbs sweeps after 20 of burn-in, with phi of each document's year."""
    rows, theta = (
        parameters.rows(documents),
        np.empty((documents.n_documents, len(parameters.alphas))),
    )
    tokens_before = documents.tokens_before + context.first_token

    each_document(
        sampled_theta,
        documents,
        len(parameters.alphas),
        context,
        documents.indptr,
        rows,
        documents.counts,
        parameters.phi,
        parameters.alphas,
        theta,
        tokens_before,
        BURN_IN,
        KEPT,
        context.key(FOLD_IN),
    )
    return theta


def unseen(parameters: LearntDrift, theta: np.ndarray, pairs: Corpus) -> np.ndarray:
    """Return p(w|d) (pair,) of unseen documents, under the topics of the document's year."""
    return mixture_of_rows(theta, parameters.phi, pairs, parameters.rows(pairs))


def memory(corpus: Corpus, model: DynamicTopics, options: StartOptions) -> Memory:
    """Forecast the memory of a run in bytes: topics, sticks, phi and counts of all years."""
    cells = years_of(corpus).n * corpus.n_words
    phi = cells * padded(model.n_topics) * DOUBLE
    rows = (
        np.dtype(np.int32 if cells < 2**31 else np.int64).itemsize * corpus.n_pairs
        + corpus.n_words * DOUBLE
    )
    theta = corpus.n_documents * model.n_topics * DOUBLE
    memory = Memory(size(arrays(corpus, model.n_topics)), rows, step=phi + theta, look=phi // 2)
    return with_start(corpus, model.n_topics, memory)


def engine(name: str = "sb-dtm") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#ff1166",
        line="-..",
        marker="v",
        title="Gibbs sampling of topics that drift from year to year, by stick-breaking",
        source="Blei & Lafferty (2006); Linderman, Johnson & Adams (2015), eq. 10-13",
        when="Where documents have dates and the words of a topic change over the years: every topic has its own words in "
        "each year.",
        model=DynamicTopics,
        options=StartOptions,
        state=State,
        samples=lambda corpus, options: True,
        watches=("moved",),
        keeps=("token_topics",),
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=by_gibbs,
        learnt=learnt_of,
        unseen=unseen,
        memory=memory,
    )
