"""Collapsed Gibbs sampling of networks of mixture levels.

Heinrich & Goesele (2009), sec. 4; spec of the networks, D.4. All Dirichlet rows are integrated out, and each token's path,
a value for every hidden variable, is drawn in turn with the token removed from the counts::

    p(path_i | paths_-i, words)  ~  prod over its levels (n_kt + alpha_t) / (n_k + sum alpha) * known probabilities

LDA as a network walks through the states of `cgs`. Priors that learn are maximised given the sampled counts.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    SAMPLER,
    Array,
    Engine,
    Meeting,
    Memory,
    Rows,
    StepContext,
    WarmStart,
    arrays_of,
    over_parts,
    size,
    zeros,
)
from workbench.engines.lda.split import Split, all_sampled
from workbench.engines.networks import fold_in
from workbench.engines.networks.compiled import (
    FlatPriors,
    Learning,
    allowed_topics,
    compile_network,
    count_arrays,
    counts_of,
    initial_alphas,
    languages_of,
    learn,
    owners_of,
    retune,
    row_sizes,
    watched,
)
from workbench.engines.networks.fold_in import by_variational_bayes, learnt_of
from workbench.engines.networks.path_slots import layout_of, numbers_of, scratch_of, shares
from workbench.engines.networks.paths import Paths, paths_of
from workbench.engines.networks.vb import COUNTS, documents_joint, log_joint
from workbench.kernels.lda.gibbs import draw_allowed
from workbench.kernels.networks.gibbs import draw_paths
from workbench.kernels.networks.path_slots import (
    Counts,
    count_paths,
    places_of_counts,
    uniform_places,
)
from workbench.kernels.threads import slice_bounds
from workbench.kernels.uniforms import GIBBS, PATHS_WITHIN, TOPICS
from workbench.models.model import ModelError
from workbench.models.networks.network import Network


class State(NamedTuple):
    # (token,) int32: index of its author within the document, times the number of lanes, plus lane (path)
    places: Rows
    # (document, D) int32: cells and row sums of documents, see `networks.compiled`
    n_own: Rows
    n_rest: np.ndarray  # (C + A * authors,) int64: the same for rows of the corpus and of authors
    n_wk: np.ndarray  # (word, R) int32, padded: counts of the rows of the last level
    n_k: np.ndarray  # (R,) int64
    alphas: np.ndarray  # all priors, as learnt: `networks.compiled.alphas_of`


def check(network: Network) -> Network:
    """Return the network unchanged; raise ModelError for point-estimated levels, and for word distributions by author.

    Raises
    ------
    ModelError
    """
    for level in fold_in.check(network).levels:
        if level.kind == "point":
            raise ModelError(
                f"level '{level.name}' is a point estimate, and sampling integrates rows out; make it 'dirichlet', "
                "or use engine 'network-vb-ml'"
            )
    return network


def arrays(corpus: Corpus, paths: Paths) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state, without the priors."""
    return {"places": Array((corpus.n_tokens,), np.int32)} | count_arrays(
        paths, corpus, np.int32, np.int64
    )


@over_parts
def init(
    corpus: Corpus,
    model: Network,
    options: Learning,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> Generator:
    """Return the initial state: a random path for every token, uniform or given the counts of another run."""
    places = initial_places(corpus, check(model), context.key(TOPICS), warm_start)
    state = initial_chain(corpus, model, all_sampled(corpus), places)
    return (yield Meeting(state, arrays_of(state, *COUNTS)))[0]


def initial_chain(corpus: Corpus, model: Network, split: Split, places: np.ndarray) -> State:
    """Return the state of one chain with given paths (token,); only tokens of sampled document-word pairs are counted."""
    paths, owners = paths_of(model), owners_of(model, corpus)
    state = State(**zeros(arrays(corpus, paths)), alphas=initial_alphas(model))
    state.places[:] = places
    count_paths(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        split.sampled,
        owners,
        paths.rest_at,
        paths.fixed,
        layout_of(model).lanes,
        languages_of(corpus, model).astype(np.int64) * paths.n_leaves,
        state.places,
        Counts(*state[1:5]),
    )
    return state


def initial_places(
    corpus: Corpus, model: Network, key: np.uint64, warm_start: WarmStart | None
) -> np.ndarray:
    """Draw a path and author (token,) for every token: uniformly, or given the counts (and any topics) of a warm start."""
    paths, owners, places = (
        paths_of(model),
        owners_of(model, corpus),
        np.empty(corpus.n_tokens, np.int32),
    )
    if warm_start is None:
        uniform_places(key, corpus.tokens_before[corpus.indptr], owners, paths.n_lanes, places)
        return places
    rows, priors = (
        paths.leaf_addresses,
        compile_network(model, initial_alphas(model), languages_of(corpus, model)).priors,
    )
    given_wk = np.zeros((corpus.n_words, paths.n_leaves))
    given_dr = np.zeros((0 if warm_start.n_dk is None else corpus.n_documents, paths.n_leaves))
    given_wk[:, rows] = warm_start.n_kw.T
    given_k = row_sizes(given_wk, priors.size_at)
    if not model.leaves:
        given_k[rows] = warm_start.n_kw.sum(axis=1)
    given_dr[:, rows] = 0.0 if warm_start.n_dk is None else warm_start.n_dk
    topics = (
        np.zeros(0, np.int64)
        if warm_start.topics is None
        else np.where(warm_start.topics >= 0, rows[warm_start.topics], -1)
    )
    numbers = numbers_of(paths, priors, np.zeros(len(priors.rest)), given_wk, given_k)
    is_row = numbers.is_row
    numbers.factors[: paths.n_own] = np.where(
        is_row, 1.0 / np.where(is_row, priors.own, 1.0), priors.own
    )
    places_of_counts(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        owners,
        layout_of(model).lanes,
        numbers.factors,
        given_dr,
        given_wk,
        given_k,
        priors.beta,
        priors.beta_total,
        priors.size_at,
        topics,
        key,
        places,
    )
    return places


@over_parts
def step(
    corpus: Corpus, model: Network, options: Learning, state: State, context: StepContext
) -> Generator:
    """Draw every token's path once, in canonical order; then update the priors if due."""
    n_moved = sweep(corpus, model, all_sampled(corpus), state, None, context)
    sums = {"updates": corpus.n_tokens, "moved": n_moved}
    state, diagnostics, alphas = yield from learn(
        model, options, context, state.alphas, state, lambda state: [state], sums, sampled=True
    )
    diagnostics["moved"] /= max(diagnostics["updates"], 1)
    return state._replace(alphas=alphas), diagnostics


def sweep(
    corpus: Corpus,
    model: Network,
    split: Split,
    state: State,
    mean,
    context: StepContext,
    chain: int = 0,
) -> int:
    """Make one Gibbs sweep over the sampled tokens, given expected counts ``mean``, if any; return how many changed path."""
    owners, layout = owners_of(model, corpus), layout_of(model)
    chain_counts = Counts(*state[1:5])
    all_counts = (
        chain_counts
        if mean is None
        else Counts(*(m + n for m, n in zip(mean, chain_counts, strict=True)))
    )
    priors = compile_network(model, state.alphas, languages_of(corpus, model)).priors
    if layout.is_lda and len(owners.mask) and not model.leaves:
        n_moved = sweep_topics(
            corpus, model, split, priors, state.places, all_counts, context, chain
        )
    else:
        n_moved = sweep_paths(
            corpus, model, split, priors, state.places, all_counts, context, chain
        )
    if mean is not None:
        for counts, total, expected in zip(chain_counts, all_counts, mean, strict=True):
            counts[...] = np.rint(total - expected)
    return n_moved


def sweep_paths(
    corpus: Corpus,
    model: Network,
    split: Split,
    priors: FlatPriors,
    places: np.ndarray,
    counts: Counts,
    context: StepContext,
    chain: int,
) -> int:
    """Make the sweep of any network; return how many tokens changed path."""
    paths, owners, layout = paths_of(model), owners_of(model, corpus), layout_of(model)
    numbers = numbers_of(paths, priors, counts.n_rest, counts.n_wk, counts.n_k)
    most_owners, n_moved = max(int(np.max(np.diff(owners.indptr))), 1), 0
    scratch, keys = (
        scratch_of(paths, layout.bands, most_owners),
        (context.key(GIBBS, chain), context.key(PATHS_WITHIN, chain)),
    )
    for first, last in slice_bounds(corpus.indptr, paths.n_leaves * most_owners):
        context.interrupt()
        n_moved += draw_paths(
            first,
            last,
            corpus.indptr,
            corpus.words,
            corpus.counts,
            corpus.tokens_before,
            split.sampled,
            owners,
            layout.shape,
            shares(paths),
            layout.lanes,
            layout.bands,
            numbers,
            counts.n_own,
            places,
            scratch,
            *keys,
        )
    counts.n_rest[...] = numbers.tally[paths.rest_at :]
    return n_moved


def sweep_topics(
    corpus: Corpus,
    model: Network,
    split: Split,
    priors: FlatPriors,
    places: np.ndarray,
    counts: Counts,
    context: StepContext,
    chain: int,
) -> int:
    """Make the sweep of LDA whose documents have the topics of their labels; return how many tokens changed topic."""
    topics, n_moved = allowed_topics(corpus, model), 0
    allowed = topics._replace(alpha=topics.alpha * priors.own[topics.topics])
    for first, last in slice_bounds(corpus.indptr, int(np.max(np.diff(topics.ptr)))):
        context.interrupt()
        n_moved += draw_allowed(
            first,
            last,
            corpus.indptr,
            corpus.words,
            corpus.counts,
            corpus.tokens_before,
            split.sampled,
            allowed,
            places,
            counts.n_own,
            counts.n_wk,
            counts.n_k,
            priors.beta[0],
            priors.beta_total[0],
            context.key(GIBBS, chain),
        )
    return n_moved


@over_parts
def watch(
    corpus: Corpus,
    model: Network,
    options: Learning,
    state: State,
    context: StepContext | None = None,
) -> Generator:
    compiled = compile_network(model, state.alphas, languages_of(corpus, model))
    sums = documents_joint(compiled, corpus, state) | {"known": log_known(corpus, model, state)}
    state, sums = yield Meeting(state, sums)
    joint = log_joint(compiled, state, sums["own"], sums["of_authors"]) + sums["known"]
    return {"log_joint": joint} | watched(paths_of(model), state.n_k, state.alphas)


def log_known(corpus: Corpus, model: Network, state: State, split: Split | None = None) -> float:
    """Return the log probability, nats, of the drawn paths of sampled tokens under the observed tables."""
    paths, lanes = paths_of(model), layout_of(model).lanes
    priors = compile_network(model, state.alphas, languages_of(corpus, model)).priors
    if not priors.known.any():
        return 0.0
    owners, documents = (
        owners_of(model, corpus),
        np.repeat(np.arange(corpus.n_documents), corpus.document_tokens),
    )
    slot, lane = np.divmod(state.places, paths.n_lanes)
    addresses = (
        lanes.factors[lane]
        + owners.ids[owners.indptr[documents] + slot][:, None] * lanes.factor_strides[lane]
    )
    rest_addresses = np.maximum(addresses - paths.rest_at, 0)
    is_sampled = np.repeat((split or all_sampled(corpus)).sampled, corpus.counts)[:, None]
    return float(
        np.log(
            priors.rest[
                rest_addresses[
                    is_sampled & (addresses >= paths.rest_at) & priors.known[rest_addresses]
                ]
            ]
        ).sum()
    )


def rows_of_tokens(model: Network, state: State) -> np.ndarray:
    """Return the last-level row (token,), in padded numbering, from which each token's word is drawn."""
    lanes = layout_of(model).lanes
    return lanes.leaf[state.places % len(lanes.leaf)]


def rows_of_documents(
    corpus: Corpus, model: Network, state: State, split: Split | None = None
) -> np.ndarray:
    """Return how many sampled tokens of each document are in each last-level row, (document, row), padded."""
    n_leaves, is_sampled = (
        paths_of(model).n_leaves,
        np.repeat((split or all_sampled(corpus)).sampled, corpus.counts),
    )
    documents = np.repeat(np.arange(corpus.n_documents), corpus.document_tokens)
    indices = (documents * n_leaves + rows_of_tokens(model, state))[is_sampled]
    return np.bincount(indices, minlength=corpus.n_documents * n_leaves).reshape(
        corpus.n_documents, n_leaves
    )


def counts(corpus: Corpus, model: Network, options: Learning, state: State) -> dict:
    """Return the sampled counts of every level, and each token's row of the last level."""
    paths = paths_of(model)
    number = np.zeros(paths.n_leaves, np.uint16)
    number[paths.leaf_addresses] = np.arange(model.n_topics)
    level_counts = counts_of(paths, state, rows_of_documents(corpus, model, state))
    return level_counts | {"token_topics": number[rows_of_tokens(model, state)]}


def memory(corpus: Corpus, model: Network, options: Learning) -> Memory:
    """Forecast the memory of a run in bytes: the counts and the path of each token."""
    paths = paths_of(model)
    look = (corpus.n_tokens + corpus.n_documents * paths.n_leaves) * 2 * DOUBLE
    return Memory(size(arrays(corpus, paths)), step=8 * paths.n_flat * DOUBLE, look=look)


def engine(name: str = "network-gibbs") -> Engine:
    return Engine(
        name=name,
        kind=SAMPLER,
        colour="#ff3cdd",
        line="-.",
        marker="^",
        title="Collapsed Gibbs sampling of networks",
        source="Heinrich & Goesele (2009), sec. 4",
        when="The reference for models beyond LDA, as author-topic, pachinko or a network of your own: it predicts better "
        "than network-vb, but needs long runs.",
        model=Network,
        options=Learning,
        state=State,
        samples=lambda corpus, options: True,
        watches=("log_joint", "moved"),
        keeps=("token_topics",),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=fold_in.predict,
        fold_in=by_variational_bayes,
        learnt=learnt_of,
        unseen=fold_in.unseen,
        memory=memory,
        idle=lambda options: "tokens are drawn one after another",
        suits=check,
    )
