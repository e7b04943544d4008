"""Hybrid of variational Bayes and Gibbs sampling for networks of mixture levels.

Welling, Teh & Kappen (2008), eq. 14-25, for the networks of Heinrich & Goesele (2009); spec A.8, C.6. Pairs that occur more
than r times in a document are variational, with expected counts m; the paths of the tokens of others are sampled, with counts
c^s in chains s = 1..S that share the responsibilities. With n^s = m + c^s::

    sampled token   p(path)  ~  prod over its levels (n^s_kt + alpha_t) / (n^s_k + sum alpha)               the token removed
    variational     q(path)  ~  exp mean_s sum over its cells { psi(n^s_kt + alpha_t) - psi(n^s_k + sum alpha) }

r = 0 is `network-vb` and r = inf is `network-gibbs`, bit for bit. Priors that learn are maximised given n^s, the mean over
the chains.
"""

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    HYBRID,
    Engine,
    Meeting,
    Memory,
    Phase,
    Rows,
    StepContext,
    WarmStart,
    arrays_of,
    over_parts,
    stacked,
    step_of,
)
from workbench.engines.lda.hybrid import (
    chains_of,
    n_chains_option,
    r_option,
    samples,
)
from workbench.engines.lda.hybrid_state import split_of
from workbench.engines.networks import gibbs as network_gibbs
from workbench.engines.networks import vb as network_vb
from workbench.engines.networks.compiled import (
    Learning,
    compile_network,
    counts_of,
    languages_of,
    learn,
    owners_of,
    retune,
    watched,
)
from workbench.engines.networks.fold_in import (
    NO_CHAIN,
    by_variational_bayes,
    learnt_of,
    predictive,
    unseen,
)
from workbench.engines.networks.paths import paths_of
from workbench.kernels.networks.path_slots import Counts
from workbench.kernels.threads import each_task
from workbench.kernels.uniforms import TOPICS
from workbench.models.networks.network import Network


class State(NamedTuple):
    # (document, D) float64: expected counts of the variational pairs, as in `networks.vb`
    mean_own: Rows
    mean_rest: np.ndarray  # (C + A * authors,) float64
    mean_wk: np.ndarray  # (word, R) float64, padded
    mean_k: np.ndarray  # (R,) float64
    mean_dr: Rows  # (document, R) float64
    entropy: float  # of the responsibilities, nats
    # (chain, token) int32 as in `networks.gibbs`; unused for tokens of variational pairs
    places: Rows
    n_own: Rows  # (chain, document, D) int32: sampled counts
    n_rest: np.ndarray  # (chain, C + A * authors) int64
    n_wk: np.ndarray  # (chain, word, R) int32, padded
    n_k: np.ndarray  # (chain, R) int64
    alphas: np.ndarray  # all priors, as learnt: `networks.compiled.alphas_of`


def mean_part(state: State) -> network_vb.State:
    """Return the variational part of a state as a state of `network-vb`; its arrays are views."""
    return network_vb.State(*state[:5], state.alphas, state.entropy)


def chain_of(state: State, s: int) -> network_gibbs.State:
    """Return the sampled counts and paths of chain ``s`` as a state of `network-gibbs`; its arrays are views."""
    return network_gibbs.State(*(array[s] for array in state[6:11]), state.alphas)


def totals(state: State, s: int) -> Counts:
    """Return the total counts of chain ``s``, expected plus sampled."""
    return Counts(
        *(mean + chain_counts[s] for mean, chain_counts in zip(state[:4], state[7:11], strict=True))
    )


@dataclass(frozen=True)
class OwnOptions(network_vb.OwnOptions):
    r: float = r_option()
    n_chains: int = n_chains_option()


@dataclass(frozen=True)
class Options(Learning, OwnOptions):
    """Options of the engine, and of learning its priors."""


MEANS, DRAWN = ("mean_rest", "mean_wk", "mean_k"), ("n_rest", "n_wk", "n_k")
"""Fields of a state that hold sums over documents."""


@over_parts
def init(
    corpus: Corpus,
    model: Network,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> Generator:
    """Return the initial state: expected counts of the variational pairs, random paths of the sampled tokens."""
    places = [
        network_gibbs.initial_places(
            corpus, network_gibbs.check(model), context.key(TOPICS, s), warm_start
        )
        for s in range(chains_of(corpus, options, context))
    ]
    state = state_of(corpus, model, options, context, warm_start, places)
    return (yield Meeting(state, arrays_of(state, *MEANS, *DRAWN)))[0]


def state_of(
    corpus: Corpus,
    model: Network,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None,
    places: list[np.ndarray],
) -> State:
    """Return the state given the paths (token,) of sampled tokens in each chain, with initial counts of variational pairs."""
    split = split_of(corpus, options)
    mean = network_vb.initial_mean(corpus, model, options, split, context, warm_start)
    chains = [
        network_gibbs.initial_chain(corpus, model, split, chain_places)[:5]
        for chain_places in places
    ]
    chain_arrays = map(stacked, zip(*chains, strict=True))
    return State(*mean[:5], mean.entropy, *chain_arrays, mean.alphas)


def turn(
    corpus: Corpus, model: Network, options: Options, state: State, context: StepContext
) -> Generator:
    """Return the state after a change of priors or r; tokens that were sampled before a change of r keep their paths.

    Other tokens draw paths given the total counts of a chain, and expected counts begin from the mean of the chains' total
    counts of the last level, as in a run with a warm start.
    """
    state, _ = retune(corpus, model, options, state, context)
    if "r" not in context.changed:
        return state, {}
    old = replace(options, r=context.changed["r"])
    was_sampled = np.repeat(split_of(corpus, old).sampled, corpus.counts)
    rows = [all_counts(corpus, model, old, state, s) for s in range(len(state.places))]
    starts = [WarmStart(chain_rows["n_kw"], chain_rows["n_dk"]) for chain_rows in rows]
    places = []
    for s in range(chains_of(corpus, options, context)):
        old_chain = s % len(starts)
        new_places = network_gibbs.initial_places(
            corpus, model, context.key(TOPICS, s), starts[old_chain]
        )
        places.append(np.where(was_sampled, state.places[old_chain], new_places))
    mean = WarmStart(
        *(np.mean([chain_rows[name] for chain_rows in rows], axis=0) for name in ("n_kw", "n_dk"))
    )
    new_state = state_of(corpus, model, options, context, mean, places)
    new_state, _ = yield Meeting(new_state, arrays_of(new_state, *MEANS, *DRAWN))
    return new_state._replace(alphas=state.alphas), {}


def all_counts(
    corpus: Corpus, model: Network, options: Options, state: State, s: int
) -> dict[str, np.ndarray]:
    """Return the expected plus sampled counts of all levels in chain ``s``, by name."""
    sampled_rows = network_gibbs.rows_of_documents(
        corpus, model, chain_of(state, s), split_of(corpus, options)
    )
    return counts_of(paths_of(model), totals(state, s), state.mean_dr + sampled_rows)


def sample(
    corpus: Corpus, model: Network, options: Options, state: State, context: StepContext
) -> Generator:
    """Draw the paths of the sampled tokens in every chain."""
    n_sampled = split_of(corpus, options).n_tokens * len(state.places)
    n_moved = sum(sweep_chains(corpus, model, options, state, context)) if n_sampled else 0
    state, sums = yield Meeting(state, {"drawn": n_sampled, "moved": n_moved})
    share_moved = sums["moved"] / sums["drawn"] if sums["drawn"] else math.nan
    return state, {"updates": sums["drawn"], "moved": share_moved}


def update(
    corpus: Corpus, model: Network, options: Options, state: State, context: StepContext
) -> Generator:
    """Update the variational (document, word) pairs given all chains, then update the priors if due."""
    split, n_visited, is_unconditional = split_of(corpus, options), 0, math.isinf(options.r)
    part, n_sampled = split.averaged, split.samples_any(context)
    if not context.in_part:
        is_unconditional = not part.n_pairs
    if part.n_pairs:
        sampled_counts = (
            Counts(state.n_own, state.n_rest[:, None], state.n_wk, state.n_k[:, None])
            if n_sampled
            else NO_CHAIN
        )
        alphas = network_vb.priors_of_step(split, options, state, context)
        compiled = compile_network(model, alphas, languages_of(corpus, model))
        entropy, n_visited = network_vb.sweep(
            part, compiled, options, mean_part(state), context, sampled_counts
        )
        state = state._replace(entropy=entropy)
    elif context.in_part:
        state.mean_rest[:], state.mean_wk[:], state.mean_k[:] = 0.0, 0.0, 0.0
        state = state._replace(entropy=0.0)

    def chain_counts_of(state: State) -> list:
        return [
            (chain_of if is_unconditional else totals)(state, s) for s in range(len(state.places))
        ]

    sums = {"updates": n_visited * len(state.places)} | arrays_of(state, *MEANS, "entropy")
    state, diagnostics, alphas = yield from learn(
        model,
        options,
        context,
        state.alphas,
        state,
        chain_counts_of,
        sums,
        sampled=is_unconditional,
    )
    return state._replace(alphas=alphas), {"updates": diagnostics["updates"]}


step = step_of(Phase(sample), Phase(update, lambda options: True))


def sweep_chains(
    corpus: Corpus, model: Network, options: Options, state: State, context: StepContext
) -> list[int]:
    """Draw the paths of sampled tokens in every chain, given expected counts; return how many changed in each chain."""
    split, mean = split_of(corpus, options), None
    if split.n_averaged or (context.in_part and not math.isinf(options.r)):
        is_known = compile_network(model, state.alphas, languages_of(corpus, model)).priors.known
        mean = Counts(
            state.mean_own, np.where(is_known, 0.0, state.mean_rest), state.mean_wk, state.mean_k
        )

    def sweep(s: int, interrupt: Callable[[], None]):
        return network_gibbs.sweep(
            corpus, model, split, chain_of(state, s), mean, context._replace(interrupt=interrupt), s
        )

    return each_task(
        [partial(sweep, s) for s in range(len(state.places))], context.n_threads, context.interrupt
    )


@over_parts
def watch(
    corpus: Corpus,
    model: Network,
    options: Options,
    state: State,
    context: StepContext | None = None,
) -> Generator:
    """Return diagnostics, among them `objective`: the mean log joint of the chains plus the entropy of responsibilities.

    It is the bound at r = 0 and the log joint at r = inf, else neither (spec A.9, 5).
    """
    compiled, split = (
        compile_network(model, state.alphas, languages_of(corpus, model)),
        split_of(corpus, options),
    )
    chains = range(len(state.places))
    log_known = [network_gibbs.log_known(corpus, model, chain_of(state, s), split) for s in chains]
    joints = [network_vb.documents_joint(compiled, corpus, totals(state, s)) for s in chains]
    document_joints = np.array([joint["own"] for joint in joints])
    sums = {
        "own": document_joints,
        "of_authors": joints[0]["of_authors"],
        "known": np.array(log_known),
    }
    state, sums = yield Meeting(state, sums)
    joints = [
        network_vb.log_joint(compiled, totals(state, s), sums["own"][s], sums["of_authors"])
        + sums["known"][s]
        for s in chains
    ]
    objective = float(np.mean(joints)) + state.entropy
    return {"objective": objective} | watched(
        compiled.paths, state.mean_k + state.n_k[0], state.alphas
    )


def counts(corpus: Corpus, model: Network, options: Options, state: State) -> dict:
    """Return expected plus sampled counts of the first chain; chains are not averaged, as topics may be permuted."""
    return all_counts(corpus, model, options, state, 0)


def predict(
    corpus: Corpus,
    model: Network,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of each held-out document-word pair, averaged over the chains (spec B.3, D.6)."""
    compiled, owners = (
        compile_network(model, state.alphas, languages_of(corpus, model)),
        owners_of(model, corpus),
    )
    probabilities = [
        predictive(compiled, owners, totals(state, s), pairs) for s in range(len(state.places))
    ]
    return np.mean(probabilities, axis=0) if len(probabilities) > 1 else probabilities[0]


def memory(corpus: Corpus, model: Network, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: variational and sampled part, and a chain's total counts in a sweep."""
    mean, sampled = (
        network_vb.memory(corpus, model, options),
        network_gibbs.memory(corpus, model, options),
    )
    chains, paths = chains_of(corpus, options), paths_of(model)
    start = chains * sampled.state if chains > 1 else 0
    total_bytes = (
        corpus.n_documents * paths.n_own + corpus.n_words * paths.n_leaves + paths.n_flat
    ) * DOUBLE
    copy_bytes = corpus.n_pairs * 12 + (corpus.n_documents + 1) * 8
    return Memory(
        mean.state + chains * sampled.state,
        mean.indices + copy_bytes,
        max(mean.step, chains * (sampled.step + total_bytes), start),
        max(mean.look, sampled.look) + total_bytes,
    )


def engine(name: str = "network-hybrid") -> Engine:
    return Engine(
        name=name,
        kind=HYBRID,
        colour="#c38808",
        line=":",
        marker="D",
        title="Hybrid of variational Bayes and Gibbs sampling for networks",
        source="Welling, Teh & Kappen (2008), eq. 14-25; Heinrich & Goesele (2009)",
        when="For networks whose documents repeat their words often: large counts are averaged and small ones sampled, from "
        "network-vb (r = 0) to network-gibbs (r = inf).",
        model=Network,
        options=Options,
        state=State,
        samples=samples,
        watches=("objective", "moved"),
        init=init,
        step=step,
        watch=watch,
        retune=step_of(Phase(turn, lambda options: True)),
        counts=counts,
        predict=predict,
        fold_in=by_variational_bayes,
        learnt=learnt_of,
        unseen=unseen,
        memory=memory,
        idle=lambda options: (
            "one chain draws its tokens one after another"
            if options.n_chains == 1 and options.r > 0
            else None
        ),
        suits=network_gibbs.check,
    )
