"""The bound B of a hybrid: what its variational and its sampled half together prove about the evidence.

Welling, Teh & Kappen (2008), eq. 20. Given the expected counts m of the variational pairs, the best
distribution of the sampled topics z is proportional to exp L(m + c(z)), and with it::

    B = H(Q^VB) + log Z',    Z' = sum_z exp L(m + c(z)),    B <= log p(words)                      spec A.9

H(Q^VB) is the entropy of the responsibilities. Z' is a sum over K^n assignments:
`exact` enumerates it, `ais` estimates it, `bracket` encloses it with Gibbs samples. Each takes the corpus, the
split (which pairs are sampled), the state of a hybrid and that entropy; nothing is written to
the state. With `cvb-cgs` and `cvb0-cgs` B is a valid bound too, but not what their updates raise.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.engines.engine import StepContext, never_interrupted
from workbench.engines.lda import cgs
from workbench.engines.lda.hybrid_state import chain_of
from workbench.engines.lda.split import Split
from workbench.engines.memory import zeros
from workbench.kernels.lda import annealing
from workbench.kernels.lda.enumeration import MOST_STATES, log_joints
from workbench.kernels.lda.log_joint import log_joint
from workbench.kernels.simd.lanes import pad_topics
from workbench.kernels.threads import each_slice, slice_bounds
from workbench.kernels.uniforms import ANNEALING
from workbench.models.options import OptionError


class Annealed(NamedTuple):
    """An estimate of B by annealed importance sampling; below B on average, within Monte Carlo error."""

    bound: float             # H + log of the mean weight, nats
    standard_error: float    # by the jackknife over the runs; NaN for one run
    log_weights: np.ndarray  # (run,) nats, H and L(m) included: log-mean-exp of these is the bound

    @property
    def effective_runs(self) -> float:
        """(sum of weights)^2 / sum of their squares; near 1 one run decides, and the error above is too small."""
        weights = np.exp(self.log_weights - np.max(self.log_weights))
        return float(weights.sum() ** 2 / np.sum(weights**2))


class Bracket(NamedTuple):
    """low <= B <= high, but for Monte Carlo error; nats."""

    low: float
    high: float


def exact(corpus, split: Split, state, entropy: float) -> float:
    """B by enumeration of every assignment.

    Raises
    ------
    OptionError
        Above 2**16 assignments.
    """
    if split.n_tokens * math.log(len(state.alpha)) > math.log(MOST_STATES) + 1e-9:
        raise OptionError(
            f"method exact enumerates at most {MOST_STATES:,} assignments; {split.n_tokens:,} sampled tokens in "
            f"{len(state.alpha)} topics have more; use ais or bracket"
        )
    copies = np.where(split.sampled, corpus.counts, 0)
    logs = log_joints(
        np.repeat(corpus.documents, copies), np.repeat(corpus.words, copies), *state[:3], pad_topics(state.alpha),
        state.beta, len(state.alpha),
    )
    return entropy + _log_joint_of_means(state) + _log_mean_exp(logs) + math.log(len(logs))


def ais(
    corpus, split: Split, state, entropy: float, context: StepContext, n_runs: int = 4, n_temperatures: int = 500,
    on_sweep: Callable[[], None] = never_interrupted,
) -> Annealed:
    """B by annealed importance sampling from the Polya urn of alpha + m_dk to exp L(m + c).

    Each run draws its topics from the urn and then sweeps at word factors of powers t_1 < … < 1, weighing as it
    goes: log weight += (t' - t) log p(w | z; beta + m_wk). The mean weight is unbiased for Z' / exp L(m).
    The powers are evenly spaced. ``context.n_threads`` runs go side by side, each by its own uniforms; ``on_sweep`` is
    called after every sweep of every one.

    Neal (2001); Welling, Teh & Kappen (2008), eq. 20.
    """
    powers = np.linspace(0.0, 1.0, n_temperatures + 1)
    log_weights = np.full(n_runs, entropy + _log_joint_of_means(state))
    for first in range(0, n_runs, context.n_threads):
        runs = [
            _anneal(corpus, split, state, context, powers, run)
            for run in range(first, min(first + context.n_threads, n_runs))
        ]
        each = [(i, i + 1) for i in range(len(runs))]
        for _ in range(n_temperatures):
            gained = each_slice(lambda i, _, runs=runs: next(runs[i]), each, context.n_threads, context.interrupt)
            log_weights[first : first + len(runs)] += gained
            for _ in runs:
                on_sweep()
    return Annealed(_log_mean_exp(log_weights), _jackknife_error(log_weights), log_weights)


def _anneal(corpus, split, state, context, powers, run):
    """Yields what each step from one power to the next adds to the log weight of one run."""
    mean_dk, mean_wk, mean_k = mean = state[:3]
    alpha, beta, n_topics, lanes = pad_topics(state.alpha), state.beta, len(state.alpha), mean_dk.shape[1]
    tokens = corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, split.sampled
    _, _, n_wk, n_k = sampled = tuple(zeros(cgs.arrays(corpus, n_topics)).values())
    word_powers = np.zeros(mean_wk.shape)
    interrupt = context.interrupt if context.n_threads == 1 else never_interrupted  # it is called in the main thread alone

    by_document = slice_bounds(corpus.indptr, lanes)
    by_word = slice_bounds(np.zeros(corpus.n_words + 1, np.int64), lanes)
    for step, (power, next_power) in enumerate(pairwise(powers)):
        key = context._replace(step=step).key(ANNEALING, run)
        if step == 0:
            for first, last in by_document:
                interrupt()
                annealing.draw_from_urn(first, last, *tokens, *sampled, mean_dk, alpha, n_topics, key)
        else:
            for first, last in by_word:
                interrupt()
                annealing.power_words(first, last, n_wk, mean_wk, beta, power, n_topics, word_powers)
            for first, last in by_document:
                interrupt()
                annealing.draw_annealed(first, last, *tokens, *sampled, *mean, alpha, beta, n_topics, power, word_powers, key)
        log_words = sum(annealing.log_word_factor(first, last, n_wk, mean_wk, beta, n_topics) for first, last in by_word)
        yield (next_power - power) * (log_words + annealing.log_size_factor(n_k, mean_k, beta * corpus.n_words, n_topics))


def bracket(
    corpus, split: Split, state, entropy: float, context: StepContext, n_sweeps: int = 100, burn_in: int = 20,
    on_sweep: Callable[[], None] = never_interrupted,
) -> Bracket:
    """Ends of an interval that holds B, from ordinary Gibbs sweeps that start at the first chain of the state.

    ::

        low  = H + mean L + mean sum_i H[p(z_i | z_-i)]  <=  B  <=  high = H + mean L + sum_i H[mean p(z_i | z_-i)]

    The upper end is loose where labels switch. One marginal (topic,) float32 is kept for every sampled token:
    `bracket_bytes`.

    Raises
    ------
    MemoryError
        When they do not fit.
    """
    alpha, n_topics, lanes = pad_topics(state.alpha), len(state.alpha), state.mean_dk.shape[1]
    sampled = tuple(array.copy() for array in chain_of(state, 0)[:4])
    copies = np.where(split.sampled, corpus.counts, 0).astype(np.int64)
    sampled_before = np.cumsum(copies) - copies
    marginals = np.zeros((split.n_tokens, n_topics), np.float32)
    joint, entropies = 0.0, 0.0
    for step in range(burn_in + n_sweeps):
        key = context._replace(step=step).key(ANNEALING)
        if step == burn_in:
            marginals[:] = 0.0

        def work(first, last, key=key):
            return annealing.draw_and_weigh(
                first, last, corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, split.sampled, *sampled,
                *state[:3], alpha, state.beta, n_topics, key, sampled_before, marginals,
            )

        entropy_of_draws = sum(each_slice(work, slice_bounds(corpus.indptr, lanes), 1, context.interrupt))
        if step >= burn_in:
            totals = (mean + drawn for mean, drawn in zip(state[:3], sampled[1:], strict=True))
            joint += log_joint(*totals, alpha, state.beta, n_topics) / n_sweeps
            entropies += entropy_of_draws / n_sweeps
        on_sweep()
    low, high = entropy + joint + entropies, entropy + joint + annealing.entropy_of_rows(marginals)
    return Bracket(float(low), float(max(low, high)))  # below low only by the rounding of float32


def bracket_bytes(split: Split, state) -> int:
    """Memory of the marginals that `bracket` keeps."""
    return 4 * split.n_tokens * len(state.alpha)


def _log_joint_of_means(state) -> float:
    """L(m)."""
    return log_joint(*state[:3], pad_topics(state.alpha), state.beta, len(state.alpha))


def _log_mean_exp(logs) -> float:
    largest = np.max(logs)
    return float(largest + np.log(np.mean(np.exp(logs - largest))))


def _jackknife_error(logs) -> float:
    """Standard error of the log-mean-exp, from leaving out each run in turn."""
    n = len(logs)
    if n < 2:
        return math.nan
    without = np.array([_log_mean_exp(np.delete(logs, i)) for i in range(n)])
    return float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))
