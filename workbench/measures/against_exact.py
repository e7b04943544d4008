"""Comparison of LDA engines with the exact posterior of a toy corpus: bounds, predictions, number of local optima.

Given responsibilities there are three bounds on the log evidence: by Jensen's inequality, by expansion, and exact. q(z)
factorises over tokens, equal tokens of a document share their q, and E_q[L(n)] + H(q) <= log p(words) with L the collapsed log
joint:

    F                L(E_q n) + H(q)                                                   spec A4, of `vb` and `svb`
    collapsed bound  E_q[L(n)] by the improved second order, + H(q): approximate        spec of the HDP, 5
    exact F          E_q[L(n)] by the distribution of every count, + H(q)               spec A.6

F <= exact F, since L is convex; a count is Poisson-binomial, a sum of independent draws.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import entr, gammaln

from workbench.corpus import Corpus
from workbench.engines import ENGINES, get_engine, module_of
from workbench.engines.engine import StepContext
from workbench.engines.lda import hybrid, hybrid_bound
from workbench.engines.lda.token_probabilities import split_of, token_probabilities
from workbench.engines.options import make_options
from workbench.kernels.count_moments import expected_log_joint
from workbench.kernels.lda.log_joint import log_joint
from workbench.kernels.simd.vectors import pad_topics
from workbench.measures.count_expectations import MOST_DRAWS, poisson_binomial
from workbench.measures.exact import every_pair, total_variation
from workbench.measures.selection import MeasureError, attributes
from workbench.models.lda import LDA


class Bounds(NamedTuple):
    """Three lower bounds on the log evidence, in nats, for the same responsibilities."""

    jensen: float  # F
    collapsed: float  # by improved second order; approximate
    exact: float  # F with exact expectations


def collapsed_bounds(corpus: Corpus, model: LDA, gamma: np.ndarray) -> Bounds:
    """Return the three bounds for responsibilities gamma (pair, topic).

    Raises MeasureError beyond 2000 tokens: the time of the exact bound grows with their square.

    Welling, Teh & Kappen (2008), eq. 9; Teh, Kurihara & Welling (2008), eq. 13-14.
    """
    if corpus.n_tokens > MOST_DRAWS:
        raise MeasureError(
            f"exact expectations need at most {MOST_DRAWS:,} tokens; the corpus has {corpus.n_tokens:,}"
        )
    gamma = np.ascontiguousarray(gamma, float)
    alpha, beta, k = model.alphas, model.beta, model.n_topics
    entropy = float(corpus.counts @ entr(gamma).sum(axis=1))
    n_dk, n_wk = np.zeros((corpus.n_documents, k)), np.zeros((corpus.n_words, k))
    weighted = corpus.counts[:, None] * gamma
    np.add.at(n_dk, corpus.documents, weighted)
    np.add.at(n_wk, corpus.words, weighted)
    counts = tuple(np.stack([pad_topics(row) for row in values]) for values in (n_dk, n_wk))
    jensen = log_joint(*counts, pad_topics(weighted.sum(axis=0)), pad_topics(alpha), beta, k)
    padded = np.stack([pad_topics(row) for row in gamma])
    collapsed = expected_log_joint(
        corpus, padded, alpha, alpha.sum(), np.full(corpus.n_words, beta), corpus.n_words * beta
    )
    return Bounds(
        *(
            float(values) + entropy
            for values in (jensen, collapsed, _exact_log_joint(corpus, gamma, alpha, beta))
        )
    )


def _exact_log_joint(corpus: Corpus, gamma: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    """Return the expected log joint E_q[L(n)], from the exact distribution of every count, nats."""
    q = np.repeat(gamma, corpus.counts, axis=0)
    documents, words = (
        np.repeat(of_pair, corpus.counts) for of_pair in (corpus.documents, corpus.words)
    )
    lengths = corpus.document_tokens
    total = float(np.sum(gammaln(alpha.sum()) - gammaln(alpha.sum() + lengths)))
    for d in np.unique(documents):
        total += _expected_log_ratio(q[documents == d], alpha)
    for w in np.unique(words):
        total += _expected_log_ratio(q[words == w], beta)
    return total - _expected_log_ratio(q, corpus.n_words * beta)


def _expected_log_ratio(q: np.ndarray, x: np.ndarray | float) -> float:
    """Return sum_k E[log Gamma(x_k + n_k) - log Gamma(x_k)], where n_k counts independent draws from q (draw, topic)."""
    probability = poisson_binomial(q)
    log_ratio = gammaln(x + np.arange(len(probability))[:, None]) - gammaln(x)
    return float(np.sum(probability * log_ratio))


N_STARTS, N_ITERATIONS, BURN_IN, MOST_ITERATIONS = 20, 200, 20, 1000
"""Starts per engine; iterations and burn-in of sampling engines; maximum of iterations of deterministic engines."""
CONVERGED = 1e-9
"""A deterministic engine has converged when no predictive probability changes by more than this in an iteration."""
ALIKE, ALIKE_SAMPLED = 1e-3, 0.05
"""Largest difference of a predictive probability between starts with the same end, for deterministic and sampling engines."""
BOUNDS = {
    "jensen": "F, with the log joint of the expected counts",
    "collapsed": "approximate bound of the collapsed model, by the improved second-order expansion",
    "exact": "F with exact expectations, by the Poisson-binomial distribution of each count",
    "hybrid": "B, the bound of averaged and sampled tokens together",
}
"""Name of a bound → description."""


class StartResult(NamedTuple):
    """Results of one run of an engine from one random start: bounds, predictions, token topics."""

    samples: bool  # whether any token is sampled
    bounds: dict[str, float]  # name of `BOUNDS` → nats; NaN if the engine has no such bound
    # (document, word), averaged over iterations after burn-in if tokens are sampled
    predictive: np.ndarray
    co_assignment: np.ndarray  # (token, token), averaged in the same way
    token_topic: np.ndarray  # (token, topic) q(z) at the end, mean over chains
    n_iterations: int


def lda_engines() -> list[str]:
    """Return the names of the package's LDA engines; `token_probabilities` can read the states of these."""
    return [name for name in ENGINES if get_engine(name).model is LDA and not module_of(name)]


def against_exact(
    posterior: xr.Dataset, corpus: Corpus, model: LDA, engine: str, n_starts: int = N_STARTS
) -> xr.Dataset:
    """Compare an engine, with default options and several starts, with the exact posterior of a toy corpus.

    Parameters
    ----------
    posterior : Dataset
        `workbench.measures.exact` of the same corpus and model.
    engine : str
        Name of an engine of LDA.
    n_starts : int
        Runs with seeds from 0: 200 iterations each for a sampling engine, else until convergence, at most 1000.

    Returns
    -------
    Dataset
        - ``bound`` (kind): the `BOUNDS`, nats; NaN where the engine has no such bound. All are from the start with the highest
          exact F (else B). The gap of a bound is ``log_evidence`` minus it.
        - ``predictive`` (document, word) and ``co_assignment`` (token, other_token): of that start; for a sampling engine the
          mean over starts and over iterations after the twentieth.
        - ``token_topic`` (token, topic): q(z) of that start at its end.
        - ``predictive_distance``, ``co_assignment_distance``: total variation distance to the exact posterior, mean over
          documents, and over pairs of tokens (NaN for one token).
        - ``n_attractors``: number of distinct ends of the starts; ends with equal predictive probabilities, up to
          ``attrs["alike"]``, count once.
    """
    starts = [run_start(corpus, model, engine, seed) for seed in range(n_starts)]
    best, samples = max(starts, key=_best_bound), starts[0].samples
    predictive, same = (
        np.mean([getattr(start, name) for start in starts], axis=0)
        if samples
        else getattr(best, name)
        for name in ("predictive", "co_assignment")
    )
    alike = ALIKE_SAMPLED if samples else ALIKE
    differences = np.abs(same - posterior["co_assignment"].values)[np.triu_indices(len(same), 1)]
    distances = (
        total_variation(predictive, posterior["predictive"].values),
        differences.mean() if len(differences) else np.nan,
    )
    n_ends = n_different([start.predictive for start in starts], alike)
    return xr.Dataset(
        {
            "bound": (
                "kind",
                [best.bounds[name] for name in BOUNDS],
                attributes("bound on the log evidence", "nats"),
            ),
            "log_evidence": posterior["log_evidence"],
            "predictive": (("document", "word"), predictive, posterior["predictive"].attrs),
            "co_assignment": (("token", "other_token"), same, posterior["co_assignment"].attrs),
            "token_topic": (
                ("token", "topic"),
                best.token_topic,
                attributes("q(z) of each token at the end of a start"),
            ),
            "predictive_distance": (
                (),
                distances[0],
                attributes("total variation distance of p(w|d), mean over documents"),
            ),
            "co_assignment_distance": (
                (),
                distances[1],
                attributes("the same of one topic, mean over pairs of tokens"),
            ),
            "n_attractors": ((), n_ends, attributes("different ends of the starts")),
        },
        {
            "kind": list(BOUNDS),
            **{
                name: posterior[name]
                for name in ("document", "word", "token_document", "token_word")
            },
        },
        {
            "engine": engine,
            "samples": samples,
            "n_starts": n_starts,
            "alike": alike,
            "n_iterations": max(start.n_iterations for start in starts),
        },
    )


def run_start(corpus: Corpus, model: LDA, engine_name: str, seed: int) -> StartResult:
    """Run an engine with default options and one seed; until convergence if nothing is sampled."""
    engine = get_engine(engine_name)
    options = make_options(engine, {})
    samples, pairs = engine.samples(corpus, options), every_pair(corpus)
    state = engine.init(corpus, model, options, StepContext(seed, 0))
    tables, co_assignments, previous, n = 0.0, 0.0, np.inf, 0
    for step in range(1, (N_ITERATIONS if samples else MOST_ITERATIONS) + 1):
        state, _ = engine.step(corpus, model, options, state, StepContext(seed, step))
        predictive = engine.predict(corpus, model, options, state, pairs)
        if samples and step > BURN_IN:
            tables, co_assignments, n = (
                tables + predictive,
                co_assignments + _co_assignment(corpus, options, state),
                n + 1,
            )
        if not samples and np.max(np.abs(predictive - previous)) <= CONVERGED:
            break
        previous = predictive
    if not samples:
        tables, co_assignments, n = predictive, _co_assignment(corpus, options, state), 1
    q = token_probabilities(corpus, options, state).mean(axis=0)
    table = (tables / n).reshape(corpus.n_documents, corpus.n_words)
    return StartResult(
        samples, _bounds(corpus, model, options, state), table, co_assignments / n, q, step
    )


def _best_bound(start: StartResult) -> float:
    """Return the exact bound F of a start, else the bound B of a hybrid, else minus infinity."""
    values = [start.bounds[name] for name in ("exact", "hybrid") if np.isfinite(start.bounds[name])]
    return values[0] if values else -np.inf


def n_different(tables: Iterable[np.ndarray], alike: float) -> int:
    """Return the number of distinct tables: those in which some cell differs by more than ``alike``."""
    distinct: list[np.ndarray] = []
    for table in tables:
        if not any(np.max(np.abs(table - other)) <= alike for other in distinct):
            distinct.append(table)
    return len(distinct)


def _bounds(corpus: Corpus, model: LDA, options, state) -> dict[str, float]:
    """Return each of `BOUNDS` for a state, as name → nats; NaN for one that it lacks."""
    split, inner = split_of(corpus, options, state)
    bounds = dict.fromkeys(BOUNDS, np.nan)
    if not split.n_sampled:
        first_tokens = np.cumsum(corpus.counts) - corpus.counts
        collapsed = collapsed_bounds(
            corpus, model, token_probabilities(corpus, options, state)[0, first_tokens]
        )
        bounds |= collapsed._asdict()
    if isinstance(inner, hybrid.SvbState | hybrid.CvbState):
        entropy = hybrid.part_of(inner).entropy_of(split, hybrid.mean_part(inner))
        bounds["hybrid"] = hybrid_bound.exact(*hybrid_bound.whole(corpus, split, inner, entropy))
    return bounds


def _co_assignment(corpus: Corpus, options, state) -> np.ndarray:
    """Return for each two tokens the probability (token, token) of the same topic, averaged over chains."""
    q = token_probabilities(corpus, options, state)
    same = np.einsum("sik,sjk->ij", q, q) / len(q)
    np.fill_diagonal(same, 1.0)
    return same
