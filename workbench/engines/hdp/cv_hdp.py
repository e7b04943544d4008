"""Collapsed variational inference for the hierarchical Dirichlet process.

Teh, Kurihara & Welling (2008). theta and phi are integrated out, as in `cvb`; the weights pi of the topics and the
concentrations have posteriors of their own, and auxiliary variables whose posteriors given z are exact (eq. 7-10)::

    gamma_dwk  ~  (a_k + E_dk) (b_w + E_wk) / (B + E_k)
                  exp{ - V_dk / 2 (a_k + E_dk)^2 - V_wk / 2 (b_w + E_wk)^2 + V_k / 2 (B + E_k)^2 }               (15)
    q(alpha) = Gamma(a_alpha + sum_dk E[s_dk], b_alpha - sum_d E[log eta_d])                                     (8)
    q(v_k)   = Beta(1 + S_k, E[gamma] + S_>k),  S_k = sum_d E[s_dk];   q(gamma), q(beta), q(tau) likewise

with a_k = G[alpha] G[pi_k], b_w = G[beta] G[tau_w], G = exp E log, B = E[beta], and counts less one copy of the pair.
The truncation is nested: topics beyond it keep their prior, and what they weigh is in `alpha_total` and in the
predictions. Topics keep their places here; only the order of the sticks is that of their sizes. A state is where one
iteration leaves it: a pass over the pairs, then one round over the hyperparameters. The bound is the paper's (18) with
q(gamma) in it, expectations by improved second order: not a guaranteed bound, nor sure to rise.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import (
    DOUBLE,
    SMOOTH,
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
from workbench.engines.hdp import posteriors, split_merge
from workbench.engines.hdp.posteriors import (
    MEAN,
    fixed,
    hyper_round,
    mean_priors,
    prior_of_tau,
    priors_of_counts,
)
from workbench.engines.lda.fold_in import by_cvb0, mixture_probability
from workbench.engines.lda.responsibilities import (
    Start,
    init_option,
    initialise,
    warms_up,
)
from workbench.engines.lda.split import none_sampled
from workbench.errors import Named
from workbench.kernels.count_moments import count_documents, expected_log_joint
from workbench.kernels.hdp import conditional_vb
from workbench.kernels.lda import collapsed_vb
from workbench.kernels.lda.initial_topics import WAYS
from workbench.kernels.lda.standard_vb import NOTHING_SAMPLED, weighted_entropy
from workbench.kernels.simd.vectors import padded
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.models import HDP, Priors, topic_numbers
from workbench.models.options import OptionError, option

RECOUNT_EVERY = 50
"""Iterations between recomputations of the counts of words, whose updates in place accumulate rounding errors."""
ROUNDS_OF_A_START = 5
"""Updates of all hyperparameters before the first sweep of a warm start (spec 11)."""
MOVES_AFTER = 20
"""Default number of iterations before the first split or merge."""
NO_VARIANCES = (None, None, None)


class State(NamedTuple):
    mean_dk: np.ndarray  # (document, topic) float64, padded: expected counts
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray  # (topic,) float64, padded
    var_dk: np.ndarray  # (document, topic) float64, padded: variances of the counts
    var_wk: np.ndarray  # (word, topic) float64, padded
    var_k: np.ndarray  # (topic,) float64, padded
    gamma: np.ndarray  # (pair, topic) float64, padded
    order: np.ndarray  # (topic,) int64: the topic of each stick
    sticks: np.ndarray  # (2, topic) float64: A and B of q(v) of each topic
    log_pi: np.ndarray  # (topic,) float64: E[log pi_k]
    alpha: np.ndarray  # (4,) float64: its Gamma posterior, as in `hdp.posteriors`
    beta: np.ndarray  # (4,) float64: its Gamma posterior
    top: np.ndarray  # (4,) float64: of gamma, the concentration of the topic weights
    tau: np.ndarray  # (word,) float64: Dirichlet parameters of q(tau); empty where tau is 1/W
    log_tau: np.ndarray  # (word,) float64: E[log tau_w]; empty where tau is 1/W
    steps: int  # sum over passes of the number of topics
    n_moves: int  # number of splits and merges tried
    n_refused: int  # number of merges tried since a move was last accepted

    @property
    def n_topics(self) -> int:
        """Truncation level: the largest number of topics that the run can use."""
        return len(self.log_pi)


@dataclass(frozen=True)
class Options(Start):
    init: str = init_option(SMOOTH, "noise", (*WAYS, SMOOTH))
    update: str = option(
        "second_order",
        "second_order = the paper's; conditional = log counts expanded given that they are positive; "
        "zeroth = without variances, as cvb0",
        choices=("second_order", "conditional", "zeroth"),
    )
    reorder: bool = option(
        True, "reorder the sticks by topic size after each sweep", label="Reorder sticks"
    )
    moves_every: int = option(
        0, "iterations between attempts to split or merge topics; 0 = never", low=0, whole=True
    )
    moves_after: int = option(MOVES_AFTER, "iterations before the first attempt", low=0, whole=True)

    def __post_init__(self):
        super().__post_init__()
        if self.moves_after != MOVES_AFTER and not self.moves_every:
            raise OptionError(
                Named("moves_after"),
                " would be without effect: no move is tried; set ",
                Named("moves_every"),
                ", or leave it out",
            )


def arrays(corpus: Corpus, n_topics: int) -> dict[str, Array]:
    """Return the shapes and types of the counts, variances and responsibilities of a state."""
    mean, variance = (topic_counts(name, corpus, n_topics) for name in ("mean", "var"))
    return mean | variance | {"gamma": Array((corpus.n_pairs, padded(n_topics)))}


def first_concentrations(model: HDP) -> tuple:
    """Return the initial q of alpha_total and of top_concentration: the Gamma prior if learnt, else the fixed value."""
    alpha = (
        posteriors.gamma_posterior(model.a_alpha, model.b_alpha)
        if model.learn_alpha
        else fixed(model.alpha_total)
    )
    top = (
        posteriors.gamma_posterior(model.a_gamma, model.b_gamma)
        if model.learn_gamma
        else fixed(model.top_concentration)
    )
    return alpha, top


def init(
    corpus: Corpus,
    model: HDP,
    options: Options,
    context: StepContext,
    warm_start: WarmStart | None = None,
) -> State:
    """Return the initial state: responsibilities at random with equal topic weights (spec 6), or from another run's counts."""
    n_topics, n_words = model.n_topics, corpus.n_words
    alpha, top = first_concentrations(model)
    n_learnt = n_words if model.learn_tau else 0
    state = State(
        **zeros(arrays(corpus, n_topics)),
        order=np.arange(n_topics),
        sticks=np.stack([np.ones(n_topics), np.full(n_topics, top[MEAN])]),
        log_pi=np.full(n_topics, -np.log(n_topics)),
        alpha=alpha,
        beta=fixed(model.beta_total),
        top=top,
        tau=np.full(n_learnt, prior_of_tau(corpus, model)),
        log_tau=np.full(n_learnt, -np.log(n_words)),
        steps=0,
        n_moves=0,
        n_refused=0,
    )
    even = Priors(np.full(n_topics, alpha[MEAN] / n_topics), state.beta[MEAN] / n_words)
    initialise(
        corpus,
        even,
        options,
        none_sampled(corpus).sampled,
        context,
        warm_start,
        state.gamma,
        *state[:3],
    )
    if options.moves_every:  # compiles what only a split needs, while no clock runs
        split_merge.share_out(
            corpus, state, split_merge.Move(split_merge.SPLIT, 0, 0), priors_of_counts(state), 0, 0
        )
    return settle_state(
        corpus, model, options, state, 0 if warm_start is None else ROUNDS_OF_A_START
    )


def step(
    corpus: Corpus, model: HDP, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Update all responsibilities once, then the hyperparameters; then try to split or merge topics if due."""
    state, change = iterate(corpus, model, options, state, context)
    info = {"updates": corpus.n_pairs, "change": change}
    if (
        options.moves_every
        and context.step > options.moves_after
        and context.step % options.moves_every == 0
    ):
        inference = split_merge.Inference(
            partial(iterate, corpus, model, options, context=context),
            partial(settle_state, corpus, model, options),
            partial(bound, corpus, model, options),
            priors_of_counts,
        )
        state, move_info = split_merge.attempt(corpus, state, context, inference)
        info["updates"] += move_info.pop("updates")
        return state, info | move_info
    return state, info | split_merge.NO_MOVE


def iterate(
    corpus: Corpus, model: HDP, options: Options, state: State, context: StepContext
) -> tuple[State, float]:
    """Update all responsibilities, then the hyperparameters; return the state and the largest responsibility change."""
    smooth = warms_up(options, none_sampled(corpus), context)
    change, zero_dk = sweep(corpus, "zeroth" if smooth else options.update, state, context)
    if context.step % RECOUNT_EVERY == 0 or smooth:
        state, zero_dk = recount_state(corpus, state)
    state = hyper_round(corpus, model, options, state, zero_dk)
    return state._replace(steps=state.steps + state.n_topics), change


def settle_state(
    corpus: Corpus, model: HDP, options: Options, state: State, n_rounds: int
) -> State:
    """Recompute the counts from the responsibilities, then update the hyperparameters `n_rounds` times; return the state."""
    state, zero_dk = recount_state(corpus, state)
    for _ in range(n_rounds):
        state = hyper_round(corpus, model, options, state, zero_dk)
    return state


def sweep(
    corpus: Corpus, update: str, state: State, context: StepContext
) -> tuple[float, np.ndarray]:
    """Update the responsibilities and counts of all pairs in canonical order by eq. 15, in place.

    update : a value of the option of this name

    Returns the largest change of a responsibility, and P0 (document, topic), the probability of a count of 0.
    """
    priors, zero_dk = (*priors_of_counts(state), state.n_topics), np.empty_like(state.mean_dk)
    if update == "conditional":
        log_zeros = np.zeros_like(state.mean_dk), np.zeros_like(state.mean_wk)
        conditional_vb.add_log_zeros(
            corpus.indptr, corpus.words, corpus.counts, state.gamma, state.n_topics, *log_zeros
        )
        visit, arguments = conditional_vb.update_in_order, (state.gamma, *state[:6], *log_zeros)
    else:
        variances = NO_VARIANCES if update == "zeroth" else state[3:6]
        visit, arguments = (
            collapsed_vb.update_in_order,
            (np.arange(corpus.n_pairs), state.gamma, *state[:3], *variances),
        )
        arguments = (*arguments, *NOTHING_SAMPLED)
        priors = (
            *priors,
            collapsed_vb.make_workspace(priors[0], state.n_topics, len(state.mean_k)),
        )

    def work(first: int, last: int):
        change = visit(first, last, corpus.indptr, corpus.words, corpus.counts, *arguments, *priors)
        count_some(corpus, state, zero_dk, first, last)
        return change

    changes = each_slice(work, slice_bounds(corpus.indptr, len(state.mean_k)), 1, context.interrupt)
    state.mean_k[:], state.var_k[:] = state.mean_dk.sum(axis=0), state.var_dk.sum(axis=0)
    return max(changes), zero_dk


def recount_state(corpus: Corpus, state: State) -> tuple[State, np.ndarray]:
    """Recompute mean and variance of every count from the responsibilities; return the state and P(n_dk = 0)."""
    for array in state[:6]:
        array[...] = 0.0
    sampled = none_sampled(corpus).sampled
    collapsed_vb.add_moments(
        corpus.indptr, corpus.words, corpus.counts, sampled, state.gamma, *state[:6], state.n_topics
    )
    zero_dk = np.empty_like(state.mean_dk)
    count_some(corpus, state, zero_dk, 0, corpus.n_documents)
    return state, zero_dk


def count_some(corpus: Corpus, state: State, zero_dk: np.ndarray, first: int, last: int) -> None:
    """Recompute mean, variance and P(n_dk = 0) of the topic counts of documents first..last, in place."""
    count_documents(
        first,
        last,
        corpus.indptr,
        corpus.counts,
        state.gamma,
        state.n_topics,
        state.mean_dk,
        state.var_dk,
        zero_dk,
    )


def bound(corpus: Corpus, model: HDP, options: Options, state: State) -> float:
    """Return the variational lower bound L on the log evidence, in nats: eq. 18, plus the terms of q(gamma) (spec 5)."""
    a, b, b_sum = priors_of_counts(state)
    joint = expected_log_joint(corpus, state.gamma, a, state.alpha[MEAN], b, b_sum)
    divergence = (
        posteriors.gamma_divergence(state.alpha, model.a_alpha, model.b_alpha)
        + posteriors.gamma_divergence(state.top, model.a_gamma, model.b_gamma)
        + posteriors.stick_divergence(state.sticks, state.top)
        + posteriors.gamma_divergence(state.beta, model.a_beta, model.b_beta)
    )
    if model.learn_tau:
        divergence += posteriors.dirichlet_divergence(state.tau, prior_of_tau(corpus, model))
    return joint + weighted_entropy(corpus.counts, state.gamma) - divergence


def retune(
    corpus: Corpus, model: HDP, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Return the state with the new values of concentrations that are not learnt; new Gamma priors act from the next step."""
    alpha, top = first_concentrations(model)
    values = {
        "alpha_total": ("alpha", alpha),
        "top_concentration": ("top", top),
        "beta_total": ("beta", fixed(model.beta_total)),
    }
    return state._replace(**dict(values[name] for name in values if name in context.changed)), {}


def watch(corpus: Corpus, model: HDP, options: Options, state: State) -> dict:
    n_k = state.mean_k[: state.n_topics]
    return {
        "bound": bound(corpus, model, options, state),
        "n_k": n_k,
        "alpha": mean_priors(state).alphas,
        "alpha_total": float(state.alpha[MEAN]),
        "beta_total": float(state.beta[MEAN]),
        "top_concentration": float(state.top[MEAN]),
        "steps": state.steps,
        **topic_numbers(n_k),
    }


def counts(corpus: Corpus, model: HDP, options: Options, state: State) -> dict:
    """Return the expected counts, and the mean of tau (base distribution of words) if it is learnt, for a snapshot."""
    arrays_of_counts = {
        "n_kw": state.mean_wk[:, : state.n_topics].T,
        "n_dk": state.mean_dk[:, : state.n_topics],
    }
    return arrays_of_counts | ({"tau": state.tau / state.tau.sum()} if model.learn_tau else {})


def predict(
    corpus: Corpus,
    model: HDP,
    options: Options,
    state: State,
    pairs: Corpus,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return p(w|d) of held-out pairs from mean counts and priors (eq. 16), with the mass beyond the truncation."""
    expected = counts(corpus, model, options, state)
    priors, n_kw = mean_priors(state).with_rest(expected["n_kw"])
    n_dk = np.zeros((corpus.n_documents, len(n_kw)))
    n_dk[:, : state.n_topics] = expected["n_dk"]
    return mixture_probability(priors.theta(n_dk), np.ascontiguousarray(priors.phi(n_kw).T), pairs)


def memory(corpus: Corpus, model: HDP, options: Options) -> Memory:
    """Forecast the memory of a run in bytes: a state, the workspace of a sweep, and two more states for splits and merges."""
    rows, state = (
        size(topic_counts("mean", corpus, model.n_topics)),
        size(arrays(corpus, model.n_topics)),
    )
    step = corpus.n_pairs * DOUBLE + (2 if options.update == "conditional" else 1) * rows
    return Memory(
        state,
        word_major_bytes(corpus),
        step + (2 * state if options.moves_every else 0),
        look=3 * rows,
    )


def engine(name: str = "cv-hdp") -> Engine:
    return Engine(
        name=name,
        kind=VARIATIONAL,
        colour="#7356fc",
        line="-.",
        marker="P",
        order=9,
        title="Collapsed variational inference for the HDP",
        source="Teh, Kurihara & Welling (2008)",
        when="Where the number of topics is unknown and a run is to be short: the number given is a ceiling, and the weights "
        "of the topics are learnt; g-hdp predicts better.",
        model=HDP,
        options=Options,
        state=State,
        watches=(
            "bound",
            "change",
            "alpha_total",
            "beta_total",
            "top_concentration",
            "n_active_topics",
            "n_large_topics",
            "effective_topics",
            "steps",
            *split_merge.NO_MOVE,
        ),
        samples=lambda corpus, options: False,
        init=init,
        step=step,
        watch=watch,
        retune=retune,
        counts=counts,
        predict=predict,
        fold_in=by_cvb0,
        memory=memory,
        idle=lambda options: "pairs are updated one after another",
    )
