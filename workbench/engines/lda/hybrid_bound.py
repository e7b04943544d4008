"""The bound B of a hybrid: a lower bound on the log evidence from its variational and its sampled part.

Welling, Teh & Kappen (2008), eq. 20. Given the expected counts m of the variational pairs, the best
distribution of the sampled topics z is proportional to exp L(m + c(z)), and with it::

    B = H(Q^VB) + log Z',    Z' = sum_z exp L(m + c(z)),    B <= log p(words)                      spec A.9

H(Q^VB) is the entropy of the responsibilities. Z' is a sum over K^n assignments:
`exact` enumerates it, `ais` estimates it, `bracket` encloses it with Gibbs samples. Each takes documents in parts, one of
which is in memory at a time, the state of a hybrid and that entropy; nothing is written to the state. With `cvb-cgs` and
`cvb0-cgs` B is a valid bound too, but not what their updates raise.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import State, StepContext, never_interrupted
from workbench.engines.lda.hybrid_state import chain_of
from workbench.engines.lda.split import Split
from workbench.kernels.lda import annealing
from workbench.kernels.lda.enumeration import MOST_STATES, log_joints
from workbench.kernels.lda.log_joint import log_documents, log_joint_from
from workbench.kernels.lda.word_prior import with_prior
from workbench.kernels.simd.vectors import aligned_zeros, pad_topics
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import ANNEALING
from workbench.models.options import OptionError


class Annealed(NamedTuple):
    """An estimate of the bound B by annealed importance sampling, which is below B in expectation."""

    bound: float  # H + log of the mean weight, nats
    standard_error: float  # by the jackknife over the runs; NaN for one run
    log_weights: np.ndarray  # (run,) nats, H and L(m) included: log-mean-exp of these is the bound

    @property
    def effective_runs(self) -> float:
        """Effective number of runs, (sum of weights)^2 / sum of squared weights; if near 1, ``standard_error`` is too small."""
        weights = np.exp(self.log_weights - np.max(self.log_weights))
        return float(weights.sum() ** 2 / np.sum(weights**2))


class Bracket(NamedTuple):
    """A lower and an upper limit of the bound B, in nats, each with Monte Carlo error."""

    low: float
    high: float


class Part(NamedTuple):
    """A range of documents, with its split and its arrays, as input of the bound B."""

    opened: Callable  # () -> the corpus of these documents, and its split
    # or an object with `put` and `get`: mean_dk, n_dk and topics of the first chain, and arrays of the method
    rows: "HeldRows"
    n_tokens: int  # number of sampled tokens
    before: tuple = ()  # as in `StepContext`


class HeldRows:
    """Arrays of a part of the corpus, held in memory by name; a run in several parts has them on disk."""

    def __init__(self, arrays: dict[str, np.ndarray]):
        self._arrays = arrays

    def put(self, arrays: dict[str, np.ndarray]) -> None:
        """Store the arrays under their names."""
        self._arrays |= arrays

    def get(self) -> dict[str, np.ndarray]:
        """Return the arrays by name, for reading and writing."""
        return self._arrays


def whole(corpus: Corpus, split: Split, state: State, entropy: float) -> tuple:
    """Return the arguments of `exact`, `ais` and `bracket` for a corpus in memory: a single part, state and entropy."""
    chain = chain_of(state, 0)
    rows = HeldRows({"mean_dk": state.mean_dk, "n_dk": chain.n_dk, "topics": chain.topics})
    return [Part(lambda: (corpus, split), rows, split.n_tokens)], state, entropy


def exact(parts: list[Part], state: State, entropy: float) -> float:
    """Return the bound B by enumeration of all topic assignments of the sampled tokens.

    Raises
    ------
    OptionError
        Above 2**16 assignments.
    """
    n_topics, n_tokens = len(state.alpha), sum(part.n_tokens for part in parts)
    if n_tokens * math.log(n_topics) > math.log(MOST_STATES) + 1e-9:
        raise OptionError(
            f"method exact enumerates at most {MOST_STATES:,} assignments; {n_tokens:,} sampled tokens in "
            f"{n_topics} topics have more; use ais or bracket"
        )
    documents, words, rows = [], [], []
    for part in parts:
        corpus, split = part.opened()
        copies = np.where(split.sampled, corpus.counts, 0)
        numbers, positions = np.unique(np.repeat(corpus.documents, copies), return_inverse=True)
        documents.append(positions + sum(map(len, rows)))
        words.append(np.repeat(corpus.words, copies))
        rows.append(part.rows.get()["mean_dk"][numbers])
    tokens = (np.concatenate(columns).astype(np.int32) for columns in (documents, words))
    mean_wk, mean_k, beta = with_prior(state.beta, state.mean_wk, state.mean_k)
    logs = log_joints(
        *tokens,
        np.concatenate(rows),
        mean_wk,
        mean_k,
        pad_topics(state.alpha),
        beta,
        n_topics,
    )
    return entropy + _log_joint_of_means(parts, state) + _log_mean_exp(logs) + math.log(len(logs))


def ais(
    parts: list[Part],
    state: State,
    entropy: float,
    context: StepContext,
    n_runs: int = 4,
    n_temperatures: int = 500,
    on_sweep: Callable[[], None] = never_interrupted,
) -> Annealed:
    """Estimate the bound B by annealed importance sampling of sampled tokens' topics, from a Polya urn to their joint law.

    Each run draws its topics from the urn and then sweeps at word factors of powers t_1 < … < 1, weighing as it
    goes: log weight += (t' - t) log p(w | z; beta + m_wk). The mean weight is unbiased for Z' / exp L(m).
    The powers are evenly spaced. ``context.n_threads`` runs go side by side, each by its own uniforms; ``on_sweep`` is
    called after every sweep of every one. Parts are swept one after the other, and every token is drawn as in memory.

    Neal (2001); Welling, Teh & Kappen (2008), eq. 20.
    """
    powers = np.linspace(0.0, 1.0, n_temperatures + 1)
    log_weights = np.full(n_runs, entropy + _log_joint_of_means(parts, state))
    for first in range(0, n_runs, context.n_threads):
        runs = [
            _anneal(parts, state, context, powers, run, f"run_{run - first}_")
            for run in range(first, min(first + context.n_threads, n_runs))
        ]
        bounds = [(i, i + 1) for i in range(len(runs))]
        for _ in range(n_temperatures):
            log_ratios = each_slice(
                lambda i, _, runs=runs: next(runs[i]), bounds, context.n_threads, context.interrupt
            )
            log_weights[first : first + len(runs)] += log_ratios
            for _ in runs:
                on_sweep()
    return Annealed(_log_mean_exp(log_weights), _jackknife_error(log_weights), log_weights)


def _anneal(parts: list[Part], state: State, context: StepContext, powers, run: int, prefix: str):
    """Run one annealing run: yield the increase of its log weight at each change of the power; ``prefix`` names its arrays."""
    mean_wk, mean_k, beta = with_prior(state.beta, state.mean_wk, state.mean_k)
    alpha, n_topics = pad_topics(state.alpha), len(state.alpha)
    n_words, lanes = mean_wk.shape
    n_wk, n_k = (
        aligned_zeros(of.shape, kind) for of, kind in ((mean_wk, np.int32), (mean_k, np.int64))
    )
    for part in parts:
        corpus = part.opened()[0]
        n_dk, topics = (
            aligned_zeros((corpus.n_documents, lanes), np.int32),
            aligned_zeros((corpus.n_tokens,), np.uint16),
        )
        part.rows.put({f"{prefix}n_dk": n_dk, f"{prefix}topics": topics})
    word_powers = np.zeros(mean_wk.shape)
    # it is called in the main thread alone
    interrupt = context.interrupt if context.n_threads == 1 else never_interrupted

    word_slices = slice_bounds(np.zeros(n_words + 1, np.int64), lanes)
    for step, (power, next_power) in enumerate(pairwise(powers)):
        for first, last in word_slices if step else []:
            interrupt()
            annealing.power_words(first, last, n_wk, mean_wk, beta, power, n_topics, word_powers)
        for part in parts:
            key = context._replace(step=step, before=part.before).key(ANNEALING, run)
            (corpus, split), rows = part.opened(), part.rows.get()
            tokens = corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, split.sampled
            sampled = rows[f"{prefix}topics"], rows[f"{prefix}n_dk"], n_wk, n_k
            for first, last in slice_bounds(corpus.indptr, lanes):
                interrupt()
                if step == 0:
                    annealing.draw_from_urn(
                        first, last, *tokens, *sampled, rows["mean_dk"], alpha, n_topics, key
                    )
                else:
                    annealing.draw_annealed(
                        first,
                        last,
                        *tokens,
                        *sampled,
                        rows["mean_dk"],
                        mean_wk,
                        mean_k,
                        alpha,
                        beta,
                        n_topics,
                        power,
                        word_powers,
                        key,
                    )
        log_words = sum(
            annealing.log_word_factor(first, last, n_wk, mean_wk, beta, n_topics)
            for first, last in word_slices
        )
        yield (next_power - power) * (
            log_words + annealing.log_size_factor(n_k, mean_k, beta * n_words, n_topics)
        )


def bracket(
    parts: list[Part],
    state: State,
    entropy: float,
    context: StepContext,
    n_sweeps: int = 100,
    burn_in: int = 20,
    on_sweep: Callable[[], None] = never_interrupted,
) -> Bracket:
    """Return an interval that contains the bound B, by Gibbs sweeps from the first chain of the state.

    ::

        low  = H + mean L + mean sum_i H[p(z_i | z_-i)]  <=  B  <=  high = H + mean L + sum_i H[mean p(z_i | z_-i)]

    The upper end is loose where labels switch. One marginal (topic,) float32 is kept for every sampled token:
    `bracket_bytes`.

    Raises
    ------
    MemoryError
        When they do not fit.
    """
    alpha, n_topics = pad_topics(state.alpha), len(state.alpha)
    n_wk, n_k = state.n_wk[0].copy(), state.n_k[0].copy()
    for part in parts:
        rows = part.rows.get()
        new_rows = {"drawn_n_dk": rows["n_dk"].copy(), "drawn_topics": rows["topics"].copy()}
        part.rows.put(new_rows | {"marginals": np.zeros((part.n_tokens, n_topics), np.float32)})
    joint, entropies = 0.0, 0.0
    for step in range(burn_in + n_sweeps):
        document_terms = entropy_of_draws = 0.0
        for part in parts:
            key = context._replace(step=step, before=part.before).key(ANNEALING)
            if step == burn_in:
                part.rows.get()["marginals"][:] = 0.0
            entropy_of_draws += _draw_and_weigh(part, state, n_wk, n_k, key, context.interrupt)
            rows = part.rows.get()
            document_terms += log_documents(rows["mean_dk"] + rows["drawn_n_dk"], alpha, n_topics)
        if step >= burn_in:
            joint += (
                log_joint_from(
                    document_terms, state.mean_wk + n_wk, state.mean_k + n_k, state.beta, n_topics
                )
                / n_sweeps
            )
            entropies += entropy_of_draws / n_sweeps
        on_sweep()
    marginal = sum(annealing.entropy_of_rows(part.rows.get()["marginals"]) for part in parts)
    low, high = entropy + joint + entropies, entropy + joint + marginal
    return Bracket(float(low), float(max(low, high)))  # below low only by the rounding of float32


def _draw_and_weigh(
    part: Part,
    state: State,
    n_wk: np.ndarray,
    n_k: np.ndarray,
    key: np.uint64,
    interrupt: Callable[[], None],
) -> float:
    """Make a Gibbs sweep over a part's sampled tokens, in place; return the summed entropy of p(z_i | z_-i), nats."""
    (corpus, split), rows = part.opened(), part.rows.get()
    copies = np.where(split.sampled, corpus.counts, 0).astype(np.int64)
    sampled_before = np.cumsum(copies) - copies
    mean_wk, mean_k, beta = with_prior(state.beta, state.mean_wk, state.mean_k)

    return sum(
        each_slice(
            annealing.draw_and_weigh,
            slice_bounds(corpus.indptr, state.mean_wk.shape[1]),
            1,
            interrupt,
            corpus.indptr,
            corpus.words,
            corpus.counts,
            corpus.tokens_before,
            split.sampled,
            rows["drawn_topics"],
            rows["drawn_n_dk"],
            n_wk,
            n_k,
            rows["mean_dk"],
            mean_wk,
            mean_k,
            pad_topics(state.alpha),
            beta,
            len(state.alpha),
            key,
            sampled_before,
            rows["marginals"],
        )
    )


def bracket_bytes(n_tokens: int, n_topics: int) -> int:
    """Return the bytes of the topic marginals of sampled tokens that `bracket` stores."""
    return 4 * n_tokens * n_topics


def _log_joint_of_means(parts: list[Part], state: State) -> float:
    """Return L(m), the log joint at the expected counts m."""
    alpha, n_topics = pad_topics(state.alpha), len(state.alpha)
    document_terms = sum(
        log_documents(part.rows.get()["mean_dk"], alpha, n_topics) for part in parts
    )
    return log_joint_from(document_terms, state.mean_wk, state.mean_k, state.beta, n_topics)


def _log_mean_exp(logs: np.ndarray) -> float:
    largest = np.max(logs)
    return float(largest + np.log(np.mean(np.exp(logs - largest))))


def _jackknife_error(logs: np.ndarray) -> float:
    """Return the jackknife standard error of the log-mean-exp of the log weights of several runs."""
    n = len(logs)
    if n < 2:
        return math.nan
    partial_means = np.array([_log_mean_exp(np.delete(logs, i)) for i in range(n)])
    return float(np.sqrt((n - 1) / n * np.sum((partial_means - partial_means.mean()) ** 2)))
