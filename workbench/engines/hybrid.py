"""Hybrids of variational Bayes and Gibbs sampling: sample the small counts, average the large ones.

Welling, Teh & Kappen (2008), eq. 14-25. Pairs that occur more than r times in a document are
variational, with expected counts m; the tokens of the others are sampled, with counts c^s in chains
s = 1..S that share the responsibilities. Total counts are n^s = m + c^s::

    sampled token   p(z = k)   ~  (beta + n^s_wk) / (W beta + n^s_k) (alpha_k + n^s_dk)                          spec A8
    variational     gamma_dwk  ~  exp mean_s{ psi(beta + n^s_wk) - psi(W beta + n^s_k) + psi(alpha_k + n^s_dk) }     A9

The sampling is Gibbs sampling with priors alpha + m_dk and beta + m_wk. r = 0 is `svb` and r = inf is
`cgs`, bit for bit. In between the chain is not exactly the posterior's: its variational part is biased.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.engines import cgs, svb
from workbench.engines.engine import Engine, OptionError, option
from workbench.kernels.evidence import log_joint, predictive
from workbench.kernels.gibbs import draw_pair, inverse_sizes
from workbench.kernels.jit import kernel
from workbench.kernels.lanes import pad_topics
from workbench.kernels.slices import each_slice, slice_bounds
from workbench.kernels.standard_vb import update_pair
from workbench.kernels.uniforms import GIBBS
from workbench.models import LDA


class State(NamedTuple):
    mean_dk: np.ndarray  # (document, topic) float64, padded: expected counts of the variational pairs
    mean_wk: np.ndarray  # (word, topic) float64, padded
    mean_k: np.ndarray   # (topic,) float64, padded
    gamma: np.ndarray    # (variational pair, topic) float64, padded; no rows in the parallel schedule
    entropy: float       # of the responsibilities, nats
    topics: np.ndarray   # (chain, token) uint16; tokens of variational pairs are not used
    n_dk: np.ndarray     # (chain, document, topic) int32, padded: sampled counts
    n_wk: np.ndarray     # (chain, word, topic) int32, padded
    n_k: np.ndarray      # (chain, topic) int64, padded

    @property
    def mean(self) -> svb.State:
        """The variational part."""
        return svb.State(*self[:5])

    def chain(self, s: int) -> cgs.State:
        """The sampled part of one chain (views)."""
        return cgs.State(*(array[s] for array in self[5:]))

    def totals(self, s: int) -> tuple:
        """n_dk, n_wk, n_k of one chain: expected plus sampled counts, padded."""
        return self.mean_dk + self.n_dk[s], self.mean_wk + self.n_wk[s], self.mean_k + self.n_k[s]


@dataclass(frozen=True)
class Options:
    r: float = option(1.0, "pairs that count more than r are variational, the others are sampled", low=0, infinite=True)
    n_samples: int = option(1, "chains that share the responsibilities", low=1, whole=True)
    phases: str = option(
        "two_phase", "two_phase: sample, then update; interleaved: one pass, each pair by its own rule",
        choices=("two_phase", "interleaved"),
    )
    schedule: str = option(
        "parallel", "parallel: all pairs from the same counts; sequential: counts follow each pair",
        choices=("parallel", "sequential"),
    )

    def __post_init__(self):
        if self.phases == "interleaved" and (self.n_samples != 1 or self.schedule != "sequential"):
            raise OptionError("phases=interleaved needs n_samples=1 and schedule=sequential; set both, or use two_phase")

    @property
    def threshold(self) -> np.int64:
        """The largest count that is sampled."""
        return cgs.EVERY_COUNT if math.isinf(self.r) else np.int64(min(math.floor(self.r), cgs.EVERY_COUNT))


def n_chains(corpus, options) -> int:
    """S, or 1 where no token is sampled and all chains would be the same."""
    return options.n_samples if np.any(corpus.counts <= options.threshold) else 1


def init(corpus, model, options, turn) -> State:
    """Responsibilities as `svb` starts them, topics as `cgs` does."""
    chains = [cgs.start_chain(corpus, model, options.threshold, turn, s) for s in range(n_chains(corpus, options))]
    mean = svb.start_mean(corpus, model, options.schedule, options.threshold, turn)
    return State(*mean, *(np.stack(arrays) for arrays in zip(*chains, strict=True)))


def step(corpus, model, options, state, turn):
    """Draw the sampled tokens of every chain, then update the variational pairs given all chains."""
    n_sampled = int(corpus.counts[corpus.counts <= options.threshold].sum(dtype=np.int64)) * len(state.topics)
    if options.phases == "interleaved":
        n_moved = interleaved_pass(corpus, model, options.threshold, state, turn)
        n_updated = int(np.sum(corpus.counts > options.threshold))
    else:
        n_moved = 0
        if n_sampled:
            for s in range(len(state.topics)):
                n_moved += cgs.sweep(corpus, model, options.threshold, state.chain(s), state[:3], turn, s)
        sampled = (state.n_dk, state.n_wk, state.n_k[:, None])
        mean, n_updated = svb.update(corpus, model, options.schedule, options.threshold, state.mean, sampled, turn)
        state = State(*mean, *state[5:])
    n_updates = n_sampled + n_updated * len(state.topics)
    return state, {"updates": n_updates, "moved": n_moved / n_sampled if n_sampled else math.nan}


def interleaved_pass(corpus, model, threshold, state, turn) -> int:
    """One canonical pass over all pairs, each by its own rule; returns how many tokens moved."""
    variational_before, chain, key = svb.count_before(corpus, threshold), state.chain(0), turn.key(GIBBS)

    def work(first, last):
        return visit_in_order(
            first, last, corpus.indptr, corpus.words, corpus.counts, corpus.tokens_before, threshold, *chain,
            variational_before, state.gamma, *state[:3], state.n_dk, state.n_wk, state.n_k[:, None],
            model.alphas, model.beta, model.n_topics, key,
        )

    return sum(each_slice(work, slice_bounds(corpus.indptr, len(state.mean_k)), 1, turn.pulse))


def watch(corpus, model, options, state) -> dict:
    """`objective` is the bound at r = 0 and the log joint at r = inf; in between it only monitors (spec A.9, 5)."""
    alpha = pad_topics(model.alphas)
    joints = [log_joint(*state.totals(s), alpha, model.beta, model.n_topics) for s in range(len(state.topics))]
    entropy = svb.entropy_of(corpus, options.threshold, state.mean)
    n_k = state.mean_k + state.n_k[0]
    return {"objective": float(np.mean(joints)) + entropy, "n_k": n_k[: model.n_topics]}


def counts(corpus, model, options, state) -> dict:
    """Expected plus sampled counts of the first chain (never averaged over chains: labels may differ)."""
    n_dk, n_wk, _ = state.totals(0)
    return {"n_kw": n_wk[:, : model.n_topics].T, "n_dk": n_dk[:, : model.n_topics]}


def predict(corpus, model, options, state, pairs) -> np.ndarray:
    """p(w|d) of each pair, averaged over the chains (spec B.3)."""
    by_chain = [
        predictive(pairs, corpus.document_tokens, *state.totals(s), model.alphas, model.beta)
        for s in range(len(state.topics))
    ]
    return np.mean(by_chain, axis=0) if len(by_chain) > 1 else by_chain[0]


def engine(name: str = "svb-cgs") -> Engine:
    return Engine(
        name, "Hybrid of standard variational Bayes and Gibbs sampling", "Welling, Teh & Kappen (2008), eq. 14-25",
        LDA, Options, State, ("objective", "moved"), lambda options: options.r >= 1, init, step, watch, counts, predict,
    )


@kernel
def visit_in_order(
    first, last, indptr, words, counts, tokens_before, threshold, topics, n_dk, n_wk, n_k,
    variational_before, kept, mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k,
    alpha, beta, n_topics, key,
):
    """Pairs of documents first..last in canonical order: sampled up to the threshold, updated above it."""
    words_beta = len(mean_wk) * beta
    inverse = inverse_sizes(n_k, mean_k, words_beta)
    cumulative, gamma = np.empty((2, n_topics))
    n_moved = 0
    for d in range(first, last):
        for pair in range(indptr[d], indptr[d + 1]):
            w = words[pair]
            if counts[pair] <= threshold:
                n_moved += draw_pair(
                    tokens_before[pair], counts[pair], key, topics, n_dk[d], n_wk[w], n_k, mean_dk[d], mean_wk[w], mean_k,
                    alpha, beta, words_beta, inverse, cumulative, n_topics,
                )
            else:
                update_pair(
                    d, w, counts[pair], mean_dk, mean_wk, mean_k, sampled_dk, sampled_wk, sampled_k,
                    alpha, beta, n_topics, kept, variational_before[pair], gamma,
                )
                inverse = inverse_sizes(n_k, mean_k, words_beta)
    return n_moved
