"""Variational Bayes for networks of mixture levels.

Heinrich & Goesele (2009), "Variational Bayes for generic topic models", eq. 5-12, with their errors corrected (spec D.2, D.3).
Every row has a Dirichlet posterior xi = alpha + n; a path of a token has the responsibility

    q(path) ~ exp sum over the cells that it visits of  psi(xi_kt) - psi(sum_t xi_kt)

with log of the number where a row is known or estimated, and n are the counts that q expects. All q of a sweep come from the
same counts of the corpus; those of a document are repeated up to `n_inner` times, from where they were. The bound

    F = sum of log Delta(alpha + n) - log Delta(alpha) over Dirichlet rows + sum n log(table) of others - sum q log q

never falls (D1 at its best xi). In `network-vb-ml` the rows of the corpus are point estimates n / sum n. Where the network
says that priors learn, they take a Newton step on F every `learn_every` sweeps.
"""

import itertools
import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import gammaln, xlogy

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    VARIATIONAL,
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
from workbench.engines.lda.responsibilities import Start, initialise, new_workspace, warms_up
from workbench.engines.lda.split import Split, none_sampled
from workbench.engines.networks.compiled import (
    CompiledNetwork,
    Learning,
    compile_network,
    count_arrays,
    counts_of,
    initial_alphas,
    label_sizes,
    languages_of,
    learn,
    owners_of,
    restricted,
    retune,
    row_sizes,
    watched,
)
from workbench.engines.networks.fold_in import (
    NO_CHAIN,
    by_variational_bayes,
    check,
    corpus_numbers,
    learnt_of,
    predict,
    unseen,
    word_numbers,
)
from workbench.engines.networks.paths import Paths, paths_of
from workbench.kernels.lda.document_vb import count_words
from workbench.kernels.lda.standard_vb import log_weights
from workbench.kernels.networks.path_slots import Counts
from workbench.kernels.networks.vb import (
    fit_documents,
    random_cells,
    share_start,
    signed_rises,
    sum_rows,
)
from workbench.kernels.simd.vectors import aligned_zeros
from workbench.kernels.threads import each_slice, each_task
from workbench.kernels.uniforms import PATHS
from workbench.models import Priors
from workbench.models.networks.network import Network
from workbench.models.options import option


class State(NamedTuple):
    # (document, D) float64: expected counts of cells and rows of documents, see `networks.compiled`
    n_own: Rows
    n_rest: np.ndarray  # (C + A * authors,) float64: the same for rows of the corpus and of authors
    n_wk: np.ndarray  # (word, R) float64, padded: counts of the rows of the last level
    n_k: np.ndarray  # (R,) float64
    # (document, R) float64: expected tokens of a document by row of the last level
    n_dr: Rows
    alphas: np.ndarray  # all priors, as learnt: `networks.compiled.alphas_of`
    entropy: float  # of the responsibilities behind the counts, nats


@dataclass(frozen=True)
class OwnOptions(Start):
    n_inner: int = option(
        1,
        "maximum number of passes over a document per iteration",
        low=1,
        whole=True,
        label="Inner passes",
    )
    inner_tolerance: float = option(
        1e-3, "a document has converged when its counts change by less (mean over cells)", low=0
    )


@dataclass(frozen=True)
class Options(Learning, OwnOptions):
    """Options of the engine, and of learning its priors."""


WORKSPACES = WeakKeyDictionary()
"""Cache: corpus → workspace of its last sweep; removed while a sweep uses it."""
CHUNKS, CHUNK_NUMBERS = (4, 64), 2**18
"""Smallest and largest number of chunks of documents with separate copies of the corpus counts; limit of their numbers."""


@lru_cache(maxsize=8)
def with_points(network: Network) -> Network:
    """Return the network of `network-vb-ml`, in which rows that documents share are point estimates."""
    check(network)
    levels = tuple(
        replace(level, kind="point", learn="none")
        if level.kind == "dirichlet" and not level.of_documents
        else level
        for level in network.levels
    )
    return replace(network, levels=levels)


COUNTS = ("n_rest", "n_wk", "n_k")
"""Fields of a state that hold sums over documents."""


@over_parts
def init(
    corpus: Corpus,
    model: Network,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> Generator:
    """Return the initial state: last-level counts random or from another run's counts, counts of other levels random."""
    split = none_sampled(corpus)
    state = initial_mean(corpus, check(model), options, split, context, warm_start)
    return (yield Meeting(state, arrays_of(state, *COUNTS)))[0]


def arrays(corpus: Corpus, paths: Paths) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state, without the priors."""
    return count_arrays(paths, corpus) | {"n_dr": Array((corpus.n_documents, paths.n_leaves))}


def initial_mean(
    corpus: Corpus,
    model: Network,
    options: Options,
    split: Split,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state, with the expected counts of the document-word pairs that are not sampled."""
    alphas = initial_alphas(model)
    compiled, owners = (
        compile_network(model, alphas, languages_of(corpus, model)),
        owners_of(model, corpus),
    )
    paths, lanes = compiled.paths, compiled.paths.n_leaves
    entropy = math.nan if split.n_averaged else 0.0
    state = State(**zeros(arrays(corpus, paths)), alphas=alphas, entropy=entropy)
    no_gamma, n_k = aligned_zeros((0, lanes), np.float64), aligned_zeros((lanes,), np.float64)
    initialise_rows(
        corpus,
        compiled.n_rows,
        alphas,
        options,
        split.sampled,
        context,
        warm_start,
        no_gamma,
        state.n_dr,
        state.n_wk,
        n_k,
    )
    several = len(state.n_k) > lanes
    state.n_k[:] = row_sizes(state.n_wk, compiled.priors.size_at) if several else n_k
    state.n_dr[...] = restricted(model, corpus, state.n_dr, np.arange(corpus.n_documents))
    x, expected = np.zeros(paths.n_flat), np.zeros(paths.n_flat)
    x[paths.one_at] = 1.0
    random_cells(context.key(PATHS), compiled.own.real, state.n_own)
    rest_cells = np.where(compiled.priors.known, compiled.priors.rest, 1.0)[None]
    unknown = np.where(compiled.priors.known, 0.0, 1.0 - (compiled.rest_sign < 0))
    random_cells(context.key(PATHS, 1), unknown, rest_cells)
    x[paths.rest_at :] = rest_cells[0]
    share_start(
        0,
        corpus.n_documents,
        owners,
        compiled.field,
        compiled.own,
        state.n_own,
        state.n_dr,
        np.zeros(lanes),
        np.zeros(lanes),
        x,
        expected,
    )
    state.n_rest[:] = expected[paths.rest_at :]
    sum_rows(compiled.rest, state.n_rest[None])
    return state


def initialise_rows(
    corpus: Corpus,
    n_rows: int,
    alphas: np.ndarray,
    options: Options,
    sampled: np.ndarray,
    context: StepContext,
    warm_start: WarmStart | None,
    *kept_and_counts,
) -> None:
    """Initialise the last level's counts in place, with rows treated as topics; see `responsibilities.initialise`."""
    priors = Priors(np.full(n_rows, alphas[0]), float(alphas[-1]))
    initialise(corpus, priors, options, sampled, context, warm_start, *kept_and_counts)


@over_parts
def step(
    corpus: Corpus, model: Network, options: Options, state: State, context: StepContext
) -> Generator:
    """Fit the rows that each document has, then the rows that all documents share; then update the priors if due.

    The result does not depend on the number of threads.
    """
    alphas = priors_of_step(none_sampled(corpus), options, state, context)
    compiled = compile_network(model, alphas, languages_of(corpus, model))
    entropy, n_visited = sweep(corpus, compiled, options, state, context)
    state = state._replace(entropy=entropy)
    sums = {"updates": n_visited} | arrays_of(state, *COUNTS, "entropy")
    state, diagnostics, alphas = yield from learn(
        model, options, context, state.alphas, state, lambda state: [state], sums
    )
    return state._replace(alphas=alphas), {"updates": diagnostics["updates"]}


RAISED = 0.5
"""What a warm-up adds to each prior."""


def priors_of_step(
    split: Split, options: Options, state: State, context: StepContext
) -> np.ndarray:
    """Return the priors used in a step: the state's, raised by 1/2 during the warm-up, as exp psi(x + 1/2) is near x."""
    return state.alphas + RAISED if warms_up(options, split, context) else state.alphas


def sweep(
    corpus: Corpus,
    compiled: CompiledNetwork,
    options: Options,
    state: State,
    context: StepContext,
    sampled: Counts = NO_CHAIN,
) -> tuple[float, int]:
    """Make one variational sweep: recompute the expected counts of a state in place, given sampled counts if any.

    Returns the entropy of the responsibilities and the pairs visited.
    """
    paths, lanes, word_order = compiled.paths, compiled.paths.n_leaves, corpus.by_word
    owners, workspace = owners_of(paths.network, corpus), WORKSPACES.pop(corpus, None)
    if workspace is None or len(workspace.word_factors[0][0]) != lanes:
        workspace = new_workspace(corpus, lanes)
    document_slices, word_slices = workspace.order
    x, logs = corpus_numbers(compiled, state.n_rest, sampled)
    words, ends = (*workspace.word_factors, compiled.n_rows), workspace.document_factors

    def fit(slices, interrupt: Callable[[], None]):
        own_x, own_logs, expected, results = x.copy(), logs.copy(), np.zeros(len(x)), []
        for first, last in slices:
            interrupt()
            results.append(
                fit_documents(
                    first,
                    last,
                    corpus.indptr,
                    corpus.words,
                    corpus.counts,
                    owners,
                    compiled.field,
                    compiled.own,
                    sampled.n_own,
                    *words,
                    options.n_inner,
                    options.inner_tolerance,
                    state.n_own,
                    state.n_dr,
                    *ends,
                    workspace.ratios,
                    own_x,
                    own_logs,
                    expected,
                )
            )
        return results, expected[paths.rest_at :]

    word_numbers(
        compiled, state.n_wk, state.n_k, word_slices, *workspace.word_factors, context, sampled
    )
    fitted = each_task(
        [partial(fit, slices) for slices in chunks(document_slices, state.n_rest)],
        context.n_threads,
        context.interrupt,
    )
    row_counts = each_slice(
        lambda a, b: count_words(
            a,
            b,
            word_order.indptr,
            word_order.documents,
            word_order.pairs,
            corpus.counts,
            *ends,
            *words,
            workspace.ratios,
            state.n_wk,
        ),
        word_slices,
        context.n_threads,
        context.interrupt,
    )
    if len(state.n_k) == lanes:
        state.n_k[:] = sum(row_counts)
    else:
        state.n_k[:] = row_sizes(state.n_wk, compiled.priors.size_at)
    state.n_rest[:] = sum(expected for _, expected in fitted)
    rest_term = float(np.sum(state.n_rest * logs[paths.rest_at :]))
    sum_rows(compiled.rest, state.n_rest[None])
    if not context.in_part:  # or each part would keep one
        WORKSPACES[corpus] = workspace
    document_results = [results for parts, _ in fitted for results in parts]
    entropy = (
        sum(entropy for entropy, _ in document_results)
        - log_weights(state.n_wk, *workspace.word_factors)
        - rest_term
    )
    return entropy, sum(n_visited for _, n_visited in document_results)


def chunks(slices: list, n_rest: np.ndarray) -> list[list]:
    """Group the slices of documents into a few chunks, each of which gets a private copy of the corpus's counts."""
    fewest, largest = CHUNKS
    n_parts = min(len(slices), max(fewest, min(largest, CHUNK_NUMBERS // max(len(n_rest), 1))))
    cuts = np.linspace(0, len(slices), n_parts + 1).astype(int)
    return [slices[first:last] for first, last in itertools.pairwise(cuts)]


@over_parts
def watch(
    corpus: Corpus,
    model: Network,
    options: Options,
    state: State,
    context: StepContext | None = None,
) -> Generator:
    compiled = compile_network(model, state.alphas, languages_of(corpus, model))
    state, sums = yield Meeting(state, documents_joint(compiled, corpus, state))
    joint = log_joint(compiled, state, **sums)
    return {"bound": joint + state.entropy} | watched(paths_of(model), state.n_k, state.alphas)


def documents_joint(compiled: CompiledNetwork, corpus: Corpus, state: State) -> dict:
    """Return the arguments ``own`` and ``of_authors`` of `log_joint`, which are sums over documents."""
    owners = owners_of(compiled.paths.network, corpus)
    rises = signed_rises(state.n_own, compiled.priors.own, compiled.own_sign)
    if len(
        owners.mask
    ):  # of the prior of all values, `signed_rises` takes the sum over those outside the labels too
        n, total, allowed = label_sizes(compiled, owners, state.n_own)
        rises += np.sum(
            gammaln(total + n) - gammaln(total) - gammaln(allowed + n) + gammaln(allowed)
        )
    n_owners = np.diff(owners.indptr)
    return {"own": rises, "of_authors": np.log(np.maximum(n_owners, 1)) @ corpus.document_tokens}


def log_joint(compiled: CompiledNetwork, state: State, own: float, of_authors: float) -> float:
    """Return the log joint: log Delta(alpha + n) - log Delta(alpha) of Dirichlet rows, n log(table) of other rows.

    own, of_authors : the terms that are sums over documents, see `documents_joint`
    """
    priors, rest = compiled.priors, state.n_rest[None]
    joint = own + signed_rises(rest, priors.rest, compiled.rest_sign)
    for cells in compiled.points:
        joint += log_estimates(state.n_rest[cells], state.n_rest[cells].sum(axis=1))
    is_known = priors.known & (rest[0] > 0)
    joint += float(np.sum(rest[0][is_known] * np.log(priors.rest[is_known])))
    if compiled.words_are_points:
        return joint - of_authors + log_estimates(state.n_wk, state.n_k)
    sizes = signed_rises(state.n_k[None], priors.beta_total, compiled.live_sizes)
    return joint - of_authors + signed_rises(state.n_wk, priors.beta, compiled.live) - sizes


def log_estimates(counts: np.ndarray, sizes: np.ndarray) -> float:
    """Return sum n log(n / row sum), with 0 log 0 = 0, the log likelihood of point-estimated rows."""
    return float(np.sum(xlogy(counts, counts)) - np.sum(xlogy(sizes, sizes)))


def counts(corpus: Corpus, model: Network, options: Options, state: State) -> dict:
    """Return the expected counts of every level; see `counts_of`."""
    return counts_of(paths_of(model), state, state.n_dr)


def memory(corpus: Corpus, model: Network, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: counts, weights of the same size, and logs of tiny weights."""
    paths = paths_of(model)
    declared, n_rest = arrays(corpus, paths), paths.n_flat * DOUBLE
    rows = size({name: declared[name] for name in ("n_dr", "n_wk")})
    return Memory(
        size(declared),
        corpus.n_pairs * (8 + 4 + DOUBLE) + (corpus.n_words + 1) * 8 + rows,
        step=rows + 3 * CHUNKS[0] * n_rest,
        look=2 * rows,
    )


def engine(name: str = "network-vb") -> Engine:
    estimated = name == "network-vb-ml"
    title = "Variational Bayes for networks" + (
        ", rows of the corpus estimated" if estimated else ""
    )
    when = (
        "As network-vb, with the topics of each document or author as one estimate: for comparisons with the paper; it "
        "predicted no worse than network-vb on NIPS."
        if estimated
        else "For models beyond LDA, as author-topic, pachinko or a network of your own, in a short time: it needs far fewer "
        "iterations than network-gibbs, but predicts worse."
    )
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#f60890" if estimated else "#f6555e",
        line="--" if estimated else "-",
        marker="s" if estimated else "o",
        title=title,
        source="Heinrich & Goesele (2009), eq. 5-12",
        when=when,
        model=Network,
        options=Options,
        state=State,
        samples=lambda corpus, options: False,
        watches=("bound",),
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_variational_bayes,
        learnt=learnt_of,
        unseen=unseen,
        memory=memory,
        suits=with_points if estimated else check,
    )
