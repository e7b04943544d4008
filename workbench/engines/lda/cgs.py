"""Collapsed Gibbs sampling for LDA.

Griffiths & Steyvers (2004); Welling, Teh & Kappen (2008), eq. 12. theta and phi are integrated out and
each token's topic is drawn in turn, with the token removed from the counts::

    p(z_i = k | z_-i, w)  ~  (n_dk + alpha_k) (n_wk + beta) / (n_k + W beta)

Where there are many topics, sweeps go word after word once that is cheaper (see `scan`). With a `partition` above 1 blocks of
the corpus are drawn side by side, and n_k is a little late (see `partition`).
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    SAMPLER,
    Array,
    Data,
    Engine,
    Largest,
    Meeting,
    Memory,
    Rows,
    StepContext,
    WarmStart,
    arrays_of,
    over_parts,
    partition_bytes,
    size,
    topic_counts,
    zeros,
)
from workbench.engines.lda.fold_in import by_gibbs, mixture_probability
from workbench.engines.lda.hyperparameters import (
    Counts,
    SufficientStatistics,
    learn,
    learning,
    retune,
    watched,
)
from workbench.engines.lda.partition import (
    DOCUMENTS,
    WORDS,
    by_words,
    each_block,
    idle_alone,
    partition_option,
    scan_option,
    sweep_words,
    word_order_bytes,
)
from workbench.engines.lda.split import Split, all_sampled
from workbench.errors import Named
from workbench.kernels.lda.gibbs import count_topics, draw_topics
from workbench.kernels.lda.initial_topics import topics_of_counts, uniform_topics
from workbench.kernels.lda.log_joint import log_documents, log_joint_from, predictive
from workbench.kernels.lda.word_prior import whole_differences, with_means, with_prior
from workbench.kernels.simd.vectors import pad_topics
from workbench.kernels.uniforms import GIBBS, POSTERIOR_DRAW, TOPICS, draw_dirichlets
from workbench.models import LDA
from workbench.models.options import OptionError, option

NO_MEAN = (None,) * 6
"""The expected counts and variances of a sweep that has sampled counts alone."""


class State(NamedTuple):
    topics: Rows  # (token,) uint16, in canonical order
    n_dk: Rows  # (document, topic) int32, padded
    n_wk: np.ndarray  # (word, topic) int32, padded
    n_k: np.ndarray  # (topic,) int64, padded
    alpha: np.ndarray  # (topic,) float64: prior of each topic in a document, as learnt
    # prior of each word in a topic, as learnt; (word, topic), padded, where it differs from cell to cell
    beta: float | np.ndarray


@learning
class Options:
    partition: int = partition_option()
    scan: str = scan_option()
    scored: str = option(
        "means",
        "theta and phi used for held-out scores: posterior means given the counts, or a draw",
        choices=("means", "sampled"),
        late=True,
        label="Scored with",
    )

    def __post_init__(self):
        if self.scan == "words" and self.partition != 1:
            raise OptionError(
                Named("scan", "words"),
                " goes through the whole corpus and needs ",
                Named("partition", 1),
                "; set it, or leave out ",
                Named("scan"),
            )


def arrays(corpus: Corpus, n_topics: int) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state, apart from the priors."""
    topics = {"topics": Array((corpus.n_tokens,), np.uint16)}
    return topics | topic_counts("n", corpus, n_topics, np.int32, np.int64)


@over_parts
def init(
    corpus: Corpus,
    model: LDA,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> Generator:
    """Return the initial state: every token has a random topic, uniform or given the counts of another run."""
    state = initial_chain(corpus, model, all_sampled(corpus), context, 0, warm_start)
    return (yield Meeting(state, arrays_of(state, "n_wk", "n_k")))[0]


def initial_chain(
    corpus: Corpus,
    model: LDA,
    split: Split,
    context: StepContext,
    chain: int = 0,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state of one chain, which counts only the tokens of sampled document-word pairs."""
    state = State(
        **zeros(arrays(corpus, model.n_topics)), alpha=model.alphas, beta=model.word_prior
    )
    state.topics[:] = initial_topics(corpus, model, context.key(TOPICS, chain), warm_start)
    count_topics(
        corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, split.sampled, *state[:4]
    )
    return state


def initial_topics(
    corpus: Corpus, model: LDA, key: np.uint64, warm_start: WarmStart | None
) -> np.ndarray:
    """Return initial topics, (token,) uint16: uniform draws, another run's topics, or draws given its counts.

    With seed words the draws are given their prior alone, so that a topic begins where its words are.
    """
    prior = model.word_prior
    if warm_start is None and np.ndim(prior) == 0:
        return uniform_topics(key, corpus.n_tokens, model.n_topics)
    if warm_start is None:
        warm_start = WarmStart(np.zeros((model.n_topics, corpus.n_words)), None)
    if warm_start.topics is not None:
        return np.where(
            warm_start.topics >= 0,
            warm_start.topics,
            uniform_topics(key, corpus.n_tokens, model.n_topics),
        ).astype(np.uint16)
    topics = np.empty(corpus.n_tokens, np.uint16)
    n_dk, n_wk, n_k = warm_start.rows
    n_wk, n_k, beta = with_prior(prior, n_wk, n_k)
    topics_of_counts(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        key,
        n_dk,
        n_wk,
        n_k,
        model.alphas,
        beta,
        model.n_topics,
        topics,
    )
    return topics


@over_parts
def step(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> Generator:
    """Draw every token's topic once, in canonical order, word after word, or block by block; then update the priors if due."""
    n_moved, scan = sweep_all(corpus, state, context, n_parts=options.partition, scan=options.scan)
    sums = {"updates": corpus.n_tokens, "moved": n_moved, "scan": Largest(scan)}
    state, diagnostics = yield from learn(
        corpus, options, state, context, True, sufficient_statistics, sums
    )
    return state, diagnostics | {"moved": diagnostics["moved"] / max(diagnostics["updates"], 1)}


def sweep_all(
    corpus: Corpus,
    state: State,
    context: StepContext,
    chain: int = 0,
    n_parts: int = 1,
    scan: str = "auto",
) -> tuple[int, int]:
    """Make one Gibbs sweep over all tokens; return how many changed topic, and the visiting order (by documents or words)."""
    if n_parts == 1 and by_words(corpus, state, scan):
        return sweep_words(corpus, state, context, chain), WORDS
    return sweep(corpus, all_sampled(corpus), state, NO_MEAN, context, chain, n_parts), DOCUMENTS


def sweep(
    corpus: Corpus,
    split: Split,
    state: State,
    mean,
    context: StepContext,
    chain: int = 0,
    n_parts: int = 1,
) -> int:
    """Make one Gibbs sweep over the sampled tokens; return how many tokens changed topic.

    ``mean`` holds the expected counts of averaged pairs: mean_dk, mean_wk, mean_k, var_dk, var_wk, var_k.
    """
    key, alpha = context.key(GIBBS, chain), pad_topics(state.alpha)
    partition = split.partition(n_parts, sampled=True)
    mean_dk, mean_wk, mean_k, *variances = mean
    mean_wk, mean_k, beta = with_prior(state.beta, mean_wk, mean_k)
    n_wk = with_means(mean_wk, state.n_wk)

    def draw(first: int, last: int, part: int, sizes: tuple):
        return draw_topics(
            first,
            last,
            *partition.columns[part][:4],
            state.topics,
            state.n_dk,
            n_wk,
            *sizes,
            mean_dk,
            mean_k,
            *variances,
            alpha,
            beta,
            len(state.alpha),
            key,
        )

    n_moved = sum(each_block(partition, (state.n_k,), draw, context))
    if mean_wk is not None:
        whole_differences(n_wk, mean_wk, state.n_wk)
    return n_moved


@over_parts
def watch(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext | None = None
) -> Generator:
    n_topics = len(state.alpha)
    documents = log_documents(state.n_dk, pad_topics(state.alpha), n_topics)
    state, sums = yield Meeting(state, {"documents": documents})
    joint = log_joint_from(sums["documents"], state.n_wk, state.n_k, state.beta, n_topics)
    return {"log_joint": joint, "n_k": state.n_k[:n_topics]} | watched(options, state)


def counts(corpus: Corpus, model: LDA, options: Options, state: State) -> dict:
    """Return the sampled counts and the topics of tokens."""
    live = slice(model.n_topics)
    return {
        "n_kw": state.n_wk[:, live].T,
        "n_dk": state.n_dk[:, live],
        "token_topics": state.topics,
    }


def predict(
    corpus: Corpus,
    model: LDA,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of held-out pairs given the sampled counts, by posterior means (eq. 13) or a draw of theta and phi."""
    if context is not None and options.scored == "sampled":
        live = slice(len(state.alpha))
        theta = draw_dirichlets(state.n_dk[:, live], state.alpha, context.key(POSTERIOR_DRAW))
        n_wk, _, beta = with_prior(state.beta, state.n_wk, state.n_k)
        phi = draw_dirichlets(
            n_wk[:, live].T.copy(),
            np.full(corpus.n_words, beta),
            context.key(POSTERIOR_DRAW, 1),
        )
        return mixture_probability(theta, phi.T, pairs)
    return predictive(pairs, corpus.document_tokens, *state[1:4], state.alpha, state.beta)


def sufficient_statistics(corpus: Corpus, state: State, of) -> SufficientStatistics:
    """Return the sufficient statistics of alpha or beta: the sampled counts of one chain, or of several (chain, …)."""
    cells, n_k = state.n_dk if of == "alpha" else state.n_wk, state.n_k
    cells, sizes = cells.reshape(-1, *cells.shape[-2:]), n_k.reshape(-1, 1, n_k.shape[-1])
    return SufficientStatistics(Counts(sampled=cells), Counts(sampled=sizes))


def memory(corpus: Corpus, model: LDA, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: one chain, its initial topics, and the workspace of a sweep."""
    state, topic_bytes = (
        size(arrays(corpus, model.n_topics)),
        corpus.n_tokens * np.dtype(np.uint16).itemsize,
    )
    if options.partition > 1:
        return Memory(
            state, partition_bytes(corpus, options.partition, corpus.n_pairs), step=topic_bytes
        )
    indices, step = word_order_bytes(corpus, model.n_topics, getattr(options, "scan", "auto"))
    return Memory(state, indices, max(step, topic_bytes))


def check_options(options: Options, data: Data) -> None:
    """Raise OptionError if theta and phi are to be drawn (scored=sampled) but the corpus is in several parts."""
    if data.n_parts > 1 and options.scored == "sampled":
        raise OptionError(
            Named("scored", "sampled"),
            " needs the whole corpus at once, and this one is kept in parts; use ",
            Named("scored", "means"),
        )


def engine(name: str = "cgs") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#777777",
        line="-",
        marker="D",
        order=8,
        title="Collapsed Gibbs sampling",
        source="Griffiths & Steyvers (2004); Welling, Teh & Kappen (2008), eq. 12",
        when="The reference for plain LDA: a long run draws from the exact posterior, and the average over its later "
        "iterations predicts better than its last state.",
        model=LDA,
        options=Options,
        state=State,
        samples=lambda corpus, options: True,
        watches=("log_joint", "moved", "scan"),
        keeps=("token_topics",),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_gibbs,
        memory=memory,
        idle=lambda options: idle_alone("tokens are drawn") if options.partition == 1 else None,
        check_options=check_options,
    )
