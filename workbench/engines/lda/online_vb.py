"""Online variational Bayes for LDA: the topics move after each batch of documents.

Hoffman, Blei & Bach (2010), algorithm 2. q(theta_d) is Dirichlet(alpha + n_dk) and q(phi_k) is Dirichlet(beta + n_wk), so that
n_wk is lambda - eta of the paper. Batch t, counted from 0 over the whole run, stands for all D documents::

    E-step   gamma_dwk  ~  exp{ psi(alpha_k + n_dk) + E[log phi_kw] },   n_dk = sum_w n_dw gamma_dwk,   repeated
    M-step   n_wk  =  (1 - rho_t) n_wk + rho_t D / S sum_d n_dw gamma_dwk,   rho_t = (tau0 + t)^-kappa

with S documents in the batch. A document begins at N_d / K, as in `vb` with `restart_documents`, and is fitted by the same
kernels: a batch of all documents with rho = 1 is one such iteration of `vb`, bit for bit.

An iteration is a pass: every document that has tokens is in one batch, drawn anew, and sizes of batches differ by one at most.
So the n_dk of a document, from which its held-out tokens are predicted, is of its last visit, in the same pass. In the first
pass the early batches meet topics that are nearly random; their documents, fitted anew, would predict better. After five passes
the difference is gone.

The bound is that of the training documents, with gamma of their last visit and q(phi) as it is; it may fall. Priors are learnt
after a pass, from the same; the paper takes the share rho_t of that Newton step after each batch.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

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
    alone,
    size,
    zeros,
)
from workbench.engines.lda import vb
from workbench.engines.lda.fold_in import by_variational_bayes
from workbench.engines.lda.hyperparameters import learn, learning, retune, watched
from workbench.engines.lda.responsibilities import init_option
from workbench.engines.lda.svb import counts, predict, sufficient_statistics
from workbench.errors import Got, Named
from workbench.kernels.lda.log_joint import log_documents, log_topics
from workbench.kernels.lda.word_prior import with_prior
from workbench.kernels.simd.functions import NEARLY_NONE
from workbench.kernels.simd.vectors import (
    aligned_copy,
    aligned_empty,
    aligned_zeros,
    pad_topics,
    padded,
)
from workbench.kernels.uniforms import BATCHES, permutation
from workbench.models import LDA
from workbench.models.options import OptionError, option


class State(NamedTuple):
    mean_dk: np.ndarray  # (document, topic) float64, padded: expected counts as last fitted
    mean_wk: np.ndarray  # (word, topic) float64, padded: q(phi) is Dirichlet(beta + mean_wk)
    mean_k: np.ndarray  # (topic,) float64, padded
    # (word, topic) float64, padded: expected counts as last fitted, which the bound needs
    fitted_wk: np.ndarray
    entropy: float  # of the responsibilities behind them, nats
    alpha: np.ndarray  # (topic,) float64: prior of each topic in a document, as learnt
    # prior of each word in a topic, as learnt; (word, topic), padded, where it differs from cell to cell
    beta: float | np.ndarray


@dataclass(frozen=True)
class OwnOptions:
    batch_size: int = option(
        256,
        "approximate number of documents in a batch",
        low=1,
        whole=True,
        label="Documents per batch",
    )
    tau0: float = option(
        10.0,
        "delay tau0 of the learning rate (tau0 + t)^-kappa",
        low=1,
        label="Learning-rate delay τ0",
        live=True,
    )
    kappa: float = option(
        0.7,
        "exponent kappa of the learning rate, above 0.5",
        low=0.5,
        high=1,
        label="Learning-rate exponent κ",
        live=True,
    )
    total_documents: int = option(
        0,
        "number of documents that the corpus is taken to have; 0 = as many as it has",
        low=0,
        whole=True,
        label="Total documents",
    )
    batches_before: int = option(
        0, "batches of the run that this one continues, for the learning rate", low=0, whole=True
    )
    hold_topics: bool = option(
        False, "fit only the documents and keep the topics fixed (set by update)"
    )
    n_inner: int = option(
        20,
        "maximum number of passes over a document per iteration",
        low=1,
        whole=True,
        label="Inner passes",
    )
    inner_tolerance: float = option(
        1e-3, "a document has converged when its counts change by less (mean over topics)", low=0
    )
    init: str = init_option()

    topics: ClassVar[str] = "full"  # an option that `vb` has and this engine does not

    def __post_init__(self):
        if self.kappa <= 0.5:
            raise OptionError(
                Named("kappa"),
                " must be above 0.5 and at most 1, so that rates settle",
                Got(self.kappa),
            )

    def rate(self, batch: int) -> float:
        """Return the learning rate rho of the batch with this index in the run."""
        return (self.tau0 + self.batches_before + batch) ** -self.kappa


@learning
class Options(OwnOptions):
    """Options of the engine, and of learning its priors."""


class Batch(NamedTuple):
    """The documents of a batch, and the words that occur in these."""

    documents: Corpus  # its vocabulary is the used words
    used: np.ndarray  # (used word,) int64: ids in the vocabulary of the run, ascending


class Visited(NamedTuple):
    """Results of fitting the documents of a batch."""

    mean_dk: np.ndarray  # (document of the batch, topic) float64, padded
    new_wk: np.ndarray  # (used word, topic) float64, padded: expected counts
    new_k: np.ndarray  # (topic,) float64, padded
    entropy: float  # of the responsibilities, nats
    n_visited: int  # number of pairs visited


def init(
    corpus: Corpus,
    model: LDA,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state of `vb`; after a warm start its topic-word counts are exactly those of the other run."""
    vb_state = vb.init(corpus, model, options, context, warm_start)
    if warm_start is not None:
        _, n_wk, n_k = warm_start.rows
        vb_state.mean_wk[:, : model.n_topics], vb_state.mean_k[: model.n_topics] = n_wk, n_k
    return State(*vb_state[:3], vb_state.mean_wk.copy(), np.nan, vb_state.alpha, vb_state.beta)


def topics_alone(n_kw: np.ndarray, alpha: np.ndarray, beta: float | np.ndarray) -> State:
    """Return a state without documents from expected counts (topic, word), to continue on a stream of batches."""
    n_topics, n_words = n_kw.shape
    state = State(**zeros(_arrays(0, n_words, n_topics)), entropy=np.nan, alpha=alpha, beta=beta)
    state.mean_wk[:, :n_topics], state.mean_k[:n_topics] = n_kw.T, n_kw.sum(axis=1)
    return state


def step(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Make a pass over all documents in batches, then update the priors if due.

    The result does not depend on the number of threads.
    """
    old_wk, batches = state.mean_wk.copy(), batches_of(corpus, options, context)
    n_total = options.total_documents or sum(map(len, batches))
    first, entropy, n_visited, rate = (context.step - 1) * len(batches), 0.0, 0, 0.0
    state.mean_dk[:], state.fitted_wk[:] = 0.0, 0.0
    for number, rows in enumerate(batches, first):
        is_whole = len(batches) == 1
        batch = (
            Batch(corpus, np.arange(corpus.n_words))
            if is_whole
            else batch_of(*some_documents(corpus, rows))
        )
        rate = 0.0 if options.hold_topics else options.rate(number)
        batch_fit = take_in(batch, state, options, rate, n_total / len(rows), context)
        state.mean_dk[slice(None) if is_whole else rows] = batch_fit.mean_dk
        state.fitted_wk[batch.used] += batch_fit.new_wk
        entropy += batch_fit.entropy
        n_visited += batch_fit.n_visited
    state = state._replace(entropy=entropy)
    info = {"updates": n_visited, "topic_change": change_of(old_wk, state.mean_wk), "rho": rate}
    return alone(
        learn(
            corpus,
            options,
            state,
            context,
            False,
            sufficient_statistics,
            info,
            lambda state: partial(vb.likelihood, options, state),
        )
    )


def batches_of(corpus: Corpus, options: Options, context: StepContext) -> list[np.ndarray]:
    """Partition the documents with tokens at random into the batches of a pass; ids ascend within a batch."""
    documents = np.flatnonzero(corpus.document_tokens)
    order = documents[permutation(context.key(BATCHES), len(documents))]
    return [np.sort(rows) for rows in np.array_split(order, n_batches(len(order), options))]


def n_batches(n_documents: int, options: Options) -> int:
    """Return the number of batches in a pass over ``n_documents`` documents."""
    return -(-n_documents // options.batch_size)


def some_documents(corpus: Corpus, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indptr, words and counts of the documents ``rows`` of a corpus."""
    indptr, pairs = corpus.pairs_of(rows)
    return indptr, corpus.words[pairs], corpus.counts[pairs]


def batch_of(indptr: np.ndarray, words: np.ndarray, counts: np.ndarray) -> Batch:
    """Return a batch of documents as a Corpus whose vocabulary is the words of the batch, named by word id."""
    is_present = np.zeros(words.max() + 1, bool)
    is_present[words] = True
    used, positions = np.flatnonzero(is_present), np.cumsum(is_present) - 1
    names, titles = map(str, used.tolist()), map(str, range(len(indptr) - 1))
    return Batch(Corpus(indptr, positions[words], counts, names, titles), used)


def take_in(
    batch: Batch, state: State, options: Options, rate: float, share: float, context: StepContext
) -> Visited:
    """Fit the documents of a batch given q(phi), then move q(phi) towards the batch's estimate by the rate, in place.

    share : number of documents that each document of the batch represents, D / S.
    """
    batch_fit = visit(batch, state, options, context)
    for mean, rows, new in (
        (state.mean_wk, batch.used, batch_fit.new_wk),
        (state.mean_k, slice(None), batch_fit.new_k),
    ):
        mean *= 1.0 - rate
        mean[rows] += (rate * share) * new
    return batch_fit


def visit(batch: Batch, state: State, options: Options, context: StepContext) -> Visited:
    """Fit the documents of a batch given q(phi), starting at N_d / K tokens per topic; the state is not changed."""
    documents, used = batch
    mean_wk, mean_k, n_topics = (
        aligned_empty((len(used), len(state.mean_k)), np.float64),
        state.mean_k.copy(),
        len(state.alpha),
    )
    np.take(state.mean_wk, used, axis=0, out=mean_wk)
    # the prior of words that the batch lacks
    if np.ndim(state.beta):
        beta = aligned_copy(state.beta[used])
        mean_k[:n_topics] += (state.beta.sum(axis=0) - beta.sum(axis=0))[:n_topics]
    else:
        beta = state.beta
        mean_k[:n_topics] += (len(state.mean_wk) - len(used)) * beta
    mean_dk = aligned_zeros((documents.n_documents, len(mean_k)), np.float64)
    local = vb.State(mean_dk, mean_wk, mean_k, np.nan, state.alpha, beta)
    vb.spread_evenly(documents, local)
    entropy, n_visited = vb.fit(documents, options, local, context)
    return Visited(mean_dk, mean_wk, mean_k, float(entropy), n_visited)


def change_of(old_wk: np.ndarray, mean_wk: np.ndarray) -> float:
    """Return sum |change of n_wk| / (2 sum n_wk), the share of tokens that moved; overwrites ``old_wk``."""
    total = mean_wk.sum()
    np.abs(np.subtract(mean_wk, old_wk, out=old_wk), out=old_wk)
    return float(old_wk.sum() / (2.0 * total)) if total > 0 else 0.0


def watch(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    """Return the bound at the current q(phi) and the last q of each document; NaN before the first iteration."""
    live, n_topics = slice(model.n_topics), model.n_topics
    n_wk, n_k, beta = with_prior(state.beta, state.mean_wk, state.mean_k)
    concentrations = np.maximum(beta + n_wk[:, live], NEARLY_NONE)
    log_phi = digamma(concentrations) - digamma(corpus.n_words * beta + n_k[live])
    topics = log_topics(state.mean_wk, state.mean_k, state.beta, n_topics)
    topics += ((state.fitted_wk - state.mean_wk)[:, live] * log_phi).sum()
    bound = log_documents(state.mean_dk, pad_topics(state.alpha), n_topics) + topics + state.entropy
    return {"bound": float(bound), "n_k": state.mean_k[live]} | watched(options, state)


def _arrays(n_documents: int, n_words: int, n_topics: int) -> dict[str, Array]:
    """Return the shapes of the arrays of a state, apart from the priors."""
    lanes = padded(n_topics)
    word_array = Array((n_words, lanes))
    return {
        "mean_dk": Array((n_documents, lanes)),
        "mean_wk": word_array,
        "mean_k": Array((lanes,)),
        "fitted_wk": word_array,
    }


def memory(corpus: Corpus, model: LDA, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: the state, a batch with its workspace, and a copy of the topics."""
    lanes = padded(model.n_topics)
    topic_bytes = corpus.n_words * lanes * DOUBLE
    n_fitted = min(options.batch_size, corpus.n_documents)
    pairs = corpus.n_pairs * n_fitted // max(corpus.n_documents, 1)
    used = min(pairs, corpus.n_words)
    step = (
        topic_bytes + (3 * n_fitted + 4 * used) * lanes * DOUBLE + pairs * (4 + 4 + 4 + 4 + 8 + 8)
    )
    state = size(_arrays(corpus.n_documents, corpus.n_words, model.n_topics))
    return Memory(state, step=step, look=3 * topic_bytes)


def engine(name: str = "online-vb") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#227788",
        line="-..",
        marker="p",
        title="Online variational Bayes",
        source="Hoffman, Blei & Bach (2010), algorithm 2",
        when="For streams, and for corpora so large that few passes are possible: topics move after each batch of documents. "
        "On small corpora, with many passes, it ends no better than vb.",
        model=LDA,
        options=Options,
        state=State,
        samples=lambda corpus, options: False,
        watches=("bound", "topic_change", "rho"),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_variational_bayes,
        memory=memory,
        whole_counts=False,
    )
