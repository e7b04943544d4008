"""Collapsed variational Bayes for networks of mixture levels, zeroth order.

The update of Asuncion, Welling, Smyth & Teh (2009), eq. 6, for the networks of Heinrich & Goesele (2009): all Dirichlet rows
are integrated out, and every pair has a responsibility for each of its paths::

    q(path)  ~  prod over its levels (E_kt + alpha_t) / (E_k + sum alpha) * known probabilities

with expected counts E less one copy of the pair. LDA as a network is `cvb0`. Pairs are visited in canonical order, and the
counts follow each pair; `change`, the largest change of a responsibility, says when they rest, and `compiled` is that of
`network-vb` at these responsibilities. They are stored, for each pair as many as it has paths: four-level pachinko with
S super-topics and T sub-topics takes S x T numbers a pair, which `network-vb` does not.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    VARIATIONAL,
    Array,
    Engine,
    Largest,
    Meeting,
    Memory,
    Phase,
    Rows,
    StepContext,
    WarmStart,
    arrays_of,
    cached_by_corpus,
    over_parts,
    size,
    step_of,
    zeros,
)
from workbench.engines.lda.cvb import RECOUNT_EVERY, STORED, precision_option
from workbench.engines.lda.responsibilities import init_option
from workbench.engines.lda.split import none_sampled
from workbench.engines.networks.compiled import (
    Learning,
    compile_network,
    count_arrays,
    counts_of,
    initial_alphas,
    languages_of,
    learn,
    owners_of,
    restricted,
    retune,
    watched,
)
from workbench.engines.networks.fold_in import by_variational_bayes, learnt_of, predict, unseen
from workbench.engines.networks.gibbs import check
from workbench.engines.networks.path_slots import layout_of
from workbench.engines.networks.paths import paths_of
from workbench.engines.networks.vb import COUNTS, documents_joint, initialise_rows, log_joint
from workbench.kernels.networks.cvb0 import Addends, add_paths, spread_over_paths, update_paths
from workbench.kernels.networks.path_slots import Counts
from workbench.kernels.simd.vectors import aligned_zeros
from workbench.kernels.threads import slice_bounds
from workbench.kernels.uniforms import PATHS
from workbench.models.networks.network import Network


class State(NamedTuple):
    # (document, D) float64: expected counts of cells and rows of documents, see `networks.compiled`
    n_own: Rows
    n_rest: np.ndarray  # (C + A * authors,) float64: the same for rows of the corpus and of authors
    n_wk: np.ndarray  # (word, R) float64, padded: counts of the rows of the last level
    n_k: np.ndarray  # (R,) float64
    # (…,) responsibilities, float64 or float32: pair by pair, author by author, for each lane (path)
    gamma: Rows
    alphas: np.ndarray  # all priors, as learnt: `networks.compiled.alphas_of`


@dataclass(frozen=True)
class OwnOptions:
    init: str = init_option("noise")
    precision: str = precision_option()


@dataclass(frozen=True)
class Options(Learning, OwnOptions):
    """Options of the engine, and of learning its priors."""


@cached_by_corpus
def begins_of(corpus: Corpus, network: Network) -> np.ndarray:
    """Return the index (pair + 1,) of the first responsibility of each document-word pair in the flat array gamma."""
    lanes = (
        np.repeat(np.diff(owners_of(network, corpus).indptr), np.diff(corpus.indptr))
        * paths_of(network).n_lanes
    )
    return np.concatenate([[0], np.cumsum(lanes)]).astype(np.int64)


def arrays(corpus: Corpus, model: Network, options: Options) -> dict[str, Array]:
    """Return the shapes and types of the arrays of a state, without the priors."""
    paths, n_owners = paths_of(model), np.diff(owners_of(model, corpus).indptr)
    n_lanes = int(n_owners @ np.diff(corpus.indptr)) * paths.n_lanes
    return count_arrays(paths, corpus) | {"gamma": Array((n_lanes,), STORED[options.precision])}


@over_parts
def init(
    corpus: Corpus,
    model: Network,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> Generator:
    """Return the initial state: responsibilities of last-level rows as in `network-vb`, divided at random among their paths."""
    paths, alphas = paths_of(check(model)), initial_alphas(model)
    pair_begins, owners, lanes = begins_of(corpus, model), owners_of(model, corpus), paths.n_leaves
    row_shares = aligned_zeros((corpus.n_pairs, lanes), np.float64)
    state = State(**zeros(arrays(corpus, model, options)), alphas=alphas)
    initialise_rows(
        corpus,
        model.n_topics,
        alphas,
        options,
        none_sampled(corpus).sampled,
        context,
        warm_start,
        row_shares,
        np.zeros((corpus.n_documents, lanes)),
        state.n_wk,
        aligned_zeros((lanes,), np.float64),
    )
    row_shares = restricted(model, corpus, row_shares, corpus.documents)
    spread_over_paths(
        corpus.indptr,
        owners,
        pair_begins,
        layout_of(model).lanes,
        context.key(PATHS),
        row_shares,
        state.gamma,
    )
    recount(corpus, model, state)
    return (yield Meeting(state, arrays_of(state, *COUNTS)))[0]


def addends_of(compiled) -> Addends:
    """Return the priors of a network in the form in which the kernel adds them to counts."""
    paths, priors = compiled.paths, compiled.priors
    prior, is_known = np.ones(paths.n_flat), np.zeros(paths.n_flat, bool)
    prior[: paths.n_own], prior[paths.rest_at :] = priors.own, priors.rest
    is_known[paths.rest_at :] = priors.known
    return Addends(
        prior,
        paths.is_row,
        is_known,
        priors.beta,
        priors.beta_total,
        priors.size_at,
        paths.n_own,
        paths.rest_at,
    )


def recount(corpus: Corpus, model: Network, state: State) -> tuple[np.ndarray, float]:
    """Recompute all counts from the responsibilities, in place; return n_dr (document, last-level row) and the entropy.

    The expected log probability of paths under observed tables is added to the entropy.
    """
    paths, n_dr = (
        paths_of(model),
        aligned_zeros((corpus.n_documents, paths_of(model).n_leaves), np.float64),
    )
    for counts in state[:4]:
        counts[...] = 0.0
    entropy = add_paths(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        owners_of(model, corpus),
        begins_of(corpus, model),
        layout_of(model).lanes,
        paths.fixed,
        addends_of(compile_network(model, state.alphas, languages_of(corpus, model))),
        state.gamma,
        Counts(*state[:4]),
        n_dr,
    )
    return n_dr, entropy


def recount_copies(corpus: Corpus, model: Network, state: State) -> tuple[np.ndarray, float]:
    """Return the values of `recount`, computed on copies of the counts, so that the state is unchanged."""
    return recount(
        corpus,
        model,
        state._replace(**{name: np.empty_like(getattr(state, name)) for name in Counts._fields}),
    )


def recount_in_time(
    corpus: Corpus, model: Network, options: Options, state: State, context: StepContext
) -> Generator:
    """Recompute all counts from the responsibilities, in every fiftieth iteration only."""
    if context.step % RECOUNT_EVERY:
        return state, {}
    recount(corpus, model, state)
    return (yield Meeting(state, arrays_of(state, *COUNTS)))[0], {}


def visit(
    corpus: Corpus, model: Network, options: Options, state: State, context: StepContext
) -> Generator:
    """Update the responsibilities of every document-word pair once, in canonical order; then the priors if due."""
    paths, owners, pair_begins = paths_of(model), owners_of(model, corpus), begins_of(corpus, model)
    lanes, change = layout_of(model).lanes, 0.0
    added = addends_of(compile_network(model, state.alphas, languages_of(corpus, model)))
    most_owners = max(int(np.max(np.diff(owners.indptr))), 1)
    new = np.empty((most_owners, len(paths.real)))
    for first, last in slice_bounds(corpus.indptr, paths.n_lanes * most_owners):
        context.interrupt()
        largest = update_paths(
            first,
            last,
            corpus.indptr,
            corpus.words,
            corpus.counts,
            owners,
            pair_begins,
            lanes,
            added,
            state.gamma,
            Counts(*state[:4]),
            new,
        )
        change = max(change, largest)
    sums = {"updates": corpus.n_pairs, "change": Largest(change)}
    state, diagnostics, alphas = yield from learn(
        model, options, context, state.alphas, state, lambda state: [state], sums
    )
    return state._replace(alphas=alphas), diagnostics


step = step_of(Phase(recount_in_time), Phase(visit))


@over_parts
def watch(
    corpus: Corpus,
    model: Network,
    options: Options,
    state: State,
    context: StepContext | None = None,
) -> Generator:
    compiled = compile_network(model, state.alphas, languages_of(corpus, model))
    sums = documents_joint(compiled, corpus, state)
    state, sums = yield Meeting(state, sums | {"entropy": recount_copies(corpus, model, state)[1]})
    joint = log_joint(compiled, state, sums["own"], sums["of_authors"])
    return {"bound": joint + sums["entropy"]} | watched(paths_of(model), state.n_k, state.alphas)


def counts(corpus: Corpus, model: Network, options: Options, state: State) -> dict:
    """Return the expected counts of every level."""
    return counts_of(paths_of(model), state, recount_copies(corpus, model, state)[0])


def memory(corpus: Corpus, model: Network, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: responsibilities (pair, author, path), and two copies of the counts."""
    paths = paths_of(model)
    count_bytes, row_bytes = (
        size(count_arrays(paths, corpus)),
        corpus.n_documents * paths.n_leaves * DOUBLE,
    )
    return Memory(
        size(arrays(corpus, model, options)),
        (corpus.n_pairs + 1) * 8,
        look=2 * (count_bytes + row_bytes),
    )


def engine(name: str = "network-cvb0") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#a22aff",
        line="-..",
        marker="v",
        title="Collapsed variational Bayes for networks, zeroth order",
        source="Asuncion, Welling, Smyth & Teh (2009), eq. 6; Heinrich & Goesele (2009)",
        when="For networks with few paths, without random draws: it keeps numbers for each pair and path, so that pachinko "
        "with many topics takes much memory.",
        model=Network,
        options=Options,
        state=State,
        samples=lambda corpus, options: False,
        watches=("bound", "change"),
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
        idle=lambda options: "pairs are updated one after another",
        suits=check,
    )
