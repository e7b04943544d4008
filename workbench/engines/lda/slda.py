"""Gibbs sampling of supervised LDA: topics of tokens, and the weights of topics in a response, drawn in turns.

McAuliffe & Blei (2007), with the exact conditionals instead of a variational approximation. A sweep draws for each document
omega_d, then the topics of its tokens given it, and then::

    eta_j    ~  N(J^-1 h, J^-1),  J = sum_d omega_dj zbar_d zbar_d' + I / tau^2,  h = sum_d kappa_dj zbar_d
    sigma^2  ~  inverse gamma(a + D / 2, b + sum_d (y_d - eta' zbar_d)^2 / 2)              of numbers

Classes stand on a stick, the most frequent first (Linderman, Johnson & Adams 2015), and each stick is a logistic regression
with its own Polya-gamma numbers (Polson, Scott & Windle 2013). So the augmented likelihood of all classes together is Gaussian
in the shares of topics, which a multinomial logit, augmented class by class, is not; with two classes both are the same.
Documents without a response, or without a token, are drawn as `cgs` draws them, bit for bit.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_expit

from workbench.corpus import Corpus
from workbench.engines.engine import (
    SAMPLER,
    Array,
    Engine,
    Memory,
    Rows,
    StepContext,
    WarmStart,
    alone,
    size,
    zeros,
)
from workbench.engines.lda import cgs
from workbench.engines.lda.fold_in import by_gibbs
from workbench.engines.lda.hyperparameters import learn, learning, retune
from workbench.engines.lda.split import all_sampled
from workbench.kernels.lda.supervised_gibbs import (
    draw_topics,
    draw_variance,
    draw_weights,
    fit_responses,
)
from workbench.kernels.lda.word_prior import whole_differences, with_means, with_prior
from workbench.kernels.simd.vectors import pad_topics, padded
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import GIBBS, RESPONSE_DRAWS, RESPONSE_WEIGHTS
from workbench.models.supervised import VARIANCE_RATE, VARIANCE_SHAPE, SupervisedLDA


class State(NamedTuple):
    topics: Rows  # (token,) uint16, in canonical order
    n_dk: Rows  # (document, topic) int32, padded
    n_wk: np.ndarray  # (word, topic) int32, padded
    n_k: np.ndarray  # (topic,) int64, padded
    alpha: np.ndarray  # (topic,) float64: prior of each topic in a document, as learnt
    # prior of each word in a topic, as learnt; (word, topic), padded, where it differs from cell to cell
    beta: float | np.ndarray
    weights: np.ndarray  # (stick, topic) float64, padded: eta, of a number in standard units
    mean_weights: (
        np.ndarray
    )  # (stick, topic) float64, padded: their mean, sweep t with the weight t
    variance: float  # sigma^2 of a standard number


@learning
class Options:
    """Options about the priors alone."""


def arrays_of_weights(model: SupervisedLDA) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state about weights, by name."""
    n_sticks = model.responses.n_sticks if model.responses else 0
    weights = Array((n_sticks, padded(model.n_topics)))
    return {"weights": weights, "mean_weights": weights}


def values_of(corpus: Corpus, model: SupervisedLDA) -> np.ndarray:
    """Return the responses (document,) of the first documents, all of training: numbers of classes or numbers, NaN for none."""
    if model.responses is None:
        return np.full(corpus.n_documents, np.nan)
    return model.responses.values[: corpus.n_documents]


def sticks_of(corpus: Corpus, model: SupervisedLDA) -> np.ndarray:
    """Return how many sticks the response of each document has, (document,) int64: 0 without a response or a token."""
    values = values_of(corpus, model)
    has_response = np.isfinite(values) & (corpus.document_tokens > 0)
    if model.responses is None or model.responses.is_number:
        return has_response.astype(np.int64)
    until = np.where(has_response, values, -1.0).astype(np.int64) + 1
    return np.minimum(until, model.responses.n_sticks)


def init(
    corpus: Corpus,
    model: SupervisedLDA,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: topics of `cgs` or of another run, and weights of 0, so that the first sweep is one of LDA."""
    chain = cgs.initial_chain(corpus, model, all_sampled(corpus), context, 0, warm_start)
    return State(*chain, **zeros(arrays_of_weights(model)), variance=1.0)


def step(
    corpus: Corpus, model: SupervisedLDA, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Draw every token's topic once, in canonical order, then the weights; then update the priors if due."""
    state, n_moved = sweep(corpus, model, state, context)
    sums = {"updates": corpus.n_tokens, "moved": n_moved}
    state, diagnostics = alone(
        learn(corpus, options, state, context, True, cgs.sufficient_statistics, sums)
    )
    return state, diagnostics | {"moved": n_moved / max(corpus.n_tokens, 1)}


def sweep(
    corpus: Corpus, model: SupervisedLDA, state: State, context: StepContext
) -> tuple[State, int]:
    """Draw the topics of all tokens, eta and sigma^2; return the state, and how many tokens changed topic."""
    responses, sticks, n_topics = model.responses, sticks_of(corpus, model), model.n_topics
    is_number = responses is not None and responses.is_number
    n_sticks = len(state.weights)
    scatter, projected = np.zeros((n_sticks, n_topics, n_topics)), np.zeros((n_sticks, n_topics))
    mean_wk, mean_k, beta = with_prior(state.beta, None, None)
    n_wk = with_means(mean_wk, state.n_wk)
    n_moved = sum(
        each_slice(
            draw_topics,
            slice_bounds(corpus.indptr, padded(n_topics)),
            1,
            context.interrupt,
            corpus.indptr,
            corpus.words,
            corpus.counts,
            corpus.tokens_before,
            state.topics,
            state.n_dk,
            n_wk,
            state.n_k,
            mean_k,
            pad_topics(state.alpha),
            beta,
            n_topics,
            context.key(GIBBS),
            values_of(corpus, model),
            sticks,
            1.0 / state.variance if is_number else 0.0,
            state.weights,
            context.key(RESPONSE_DRAWS),
            scatter,
            projected,
        )
    )
    if mean_wk is not None:
        whole_differences(n_wk, mean_wk, state.n_wk)
    if responses is None:
        return state, n_moved
    draw_weights(
        scatter,
        projected,
        model.weight_scale**-2,
        context.key(RESPONSE_WEIGHTS),
        state.weights,
    )
    change = (state.weights - state.mean_weights) * (2.0 / (context.step + 1))
    np.add(state.mean_weights, change, out=state.mean_weights)
    if is_number:
        rate = VARIANCE_RATE + 0.5 * squares_of(corpus, model, state, sticks)
        shape = VARIANCE_SHAPE + 0.5 * np.count_nonzero(sticks)
        variance = draw_variance(shape, rate, context.key(RESPONSE_WEIGHTS, 1))
        state = state._replace(variance=float(variance))
    return state, n_moved


def fits_of(corpus: Corpus, model: SupervisedLDA, state: State, sticks: np.ndarray) -> np.ndarray:
    """Return m (document, stick) of the sticks that documents have, else 0."""
    fits = np.empty((corpus.n_documents, len(state.weights)))
    fit_responses(state.n_dk, corpus.document_tokens, sticks, state.weights, fits)
    return fits


def squares_of(corpus: Corpus, model: SupervisedLDA, state: State, sticks: np.ndarray) -> float:
    """Return the sum over documents of (y_d - eta' zbar_d)^2, in standard units."""
    fits = fits_of(corpus, model, state, sticks)[:, 0]
    off = np.where(sticks > 0, values_of(corpus, model) - fits, 0.0)
    return float(np.sum(off * off))


def log_likelihood(corpus: Corpus, model: SupervisedLDA, state: State) -> tuple[float, int]:
    """Return the log probability of all responses given topics and weights, and the number of documents that have one.

    Of numbers it is the log density in their own units.
    """
    responses, sticks = model.responses, sticks_of(corpus, model)
    n_documents = int(np.count_nonzero(sticks))
    if not n_documents:
        return 0.0, 0
    if responses.is_number:
        squares = squares_of(corpus, model, state, sticks)
        log_scale = 0.5 * np.log(2 * np.pi * state.variance) + np.log(responses.spread)
        return float(-n_documents * log_scale - 0.5 * squares / state.variance), n_documents
    fits, stick = fits_of(corpus, model, state, sticks), np.arange(len(state.weights))
    signed = np.where(stick == values_of(corpus, model)[:, None], fits, -fits)
    return float(np.sum(log_expit(signed), where=stick < sticks[:, None])), n_documents


def log_prior(model: SupervisedLDA, state: State) -> float:
    """Return the log density of eta, and of sigma^2 of numbers, under their priors."""
    if model.responses is None:
        return 0.0
    weights, scale = state.weights[:, : model.n_topics], model.weight_scale
    density = -0.5 * np.sum(weights * weights) / scale**2
    density -= weights.size * np.log(scale * np.sqrt(2 * np.pi))
    if model.responses.is_number:
        shape, rate = VARIANCE_SHAPE, VARIANCE_RATE
        density += shape * np.log(rate) - gammaln(shape)
        density -= (shape + 1) * np.log(state.variance) + rate / state.variance
    return float(density)


def watch(corpus: Corpus, model: SupervisedLDA, options: Options, state: State) -> dict:
    """Return log p(words, topics, responses, eta, sigma^2), the sizes of topics, and the mean log probability of a response."""
    watched = cgs.watch(corpus, model, options, state)
    of_responses, n_documents = log_likelihood(corpus, model, state)
    watched["log_joint"] += of_responses + log_prior(model, state)
    return watched | {"response_log_likelihood": of_responses / max(n_documents, 1)}


def counts(corpus: Corpus, model: SupervisedLDA, options: Options, state: State) -> dict:
    """Return the sampled counts, the topics of tokens, and the weights in units of the response."""
    of_topics, responses = cgs.counts(corpus, model, options, state), model.responses
    weights = [rows[:, : model.n_topics] for rows in (state.weights, state.mean_weights)]
    deviation = np.zeros(0)
    if responses is not None:
        weights = [responses.in_units(rows) for rows in weights]
        deviation = np.full(len(responses.names), responses.spread * np.sqrt(state.variance))
    return of_topics | {
        "response_weights": weights[0],
        "response_weights_mean": weights[1],
        "response_deviation": deviation,
    }


def predict(
    corpus: Corpus,
    model: SupervisedLDA,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of held-out pairs given the sampled counts, by posterior means."""
    return cgs.predict(corpus, model, options, state, pairs)


def memory(corpus: Corpus, model: SupervisedLDA, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: the chain, the weights, and what eta is drawn from."""
    weights = arrays_of_weights(model)
    n_sticks, n_topics = len(model.responses.names) if model.responses else 0, model.n_topics
    normal = 8 * n_sticks * n_topics * (n_topics + 1) + 8 * padded(n_topics) ** 2
    topic_bytes = corpus.n_tokens * np.dtype(np.uint16).itemsize
    return Memory(
        size(cgs.arrays(corpus, n_topics)) + size(weights),
        step=max(normal + 8 * corpus.n_documents * (n_sticks + 3), topic_bytes),
        look=8 * corpus.n_documents * (3 * n_sticks + 3),
    )


def engine(name: str = "slda") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#c08850",
        line=":",
        marker="p",
        title="Gibbs sampling of supervised LDA",
        source="McAuliffe & Blei (2007); Polson, Scott & Windle (2013)",
        when="Where topics are to predict a category or a number of each document, the option response: it draws topics and "
        "regression together, and gives probabilities for unseen documents.",
        model=SupervisedLDA,
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
        fold_in=by_gibbs,
        memory=memory,
        idle=lambda options: "tokens are drawn one after another",
    )
