"""Engines of LDA beside the exact posterior of a toy: their bounds, what they predict, and how many ends their starts have."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import hybrid, hybrid_bound
from workbench.engines.lda.token_probabilities import split_of, token_probabilities
from workbench.engines.options import make_options
from workbench.measures.collapsed_bounds import collapsed_bounds
from workbench.measures.exact import every_pair, total_variation
from workbench.models.lda import LDA

N_STARTS, N_ITERATIONS, BURN_IN, MOST_ITERATIONS = 20, 200, 20, 1000
"""Starts of each engine; iterations of what samples, those before its average begins, and the most of what comes to rest."""
AT_REST = 1e-9
"""An engine that draws nothing has come to rest when no predictive probability changes by more in an iteration."""
ALIKE, ALIKE_SAMPLED = 1e-3, 0.05
"""Largest difference of predictive probabilities of ends that count as one: of what rests, and of averages over draws."""
BOUNDS = {
    "jensen": "F, with the log joint of the expected counts",
    "collapsed": "bound of the collapsed model, expectations by improved second order; no sure bound",
    "exact": "F with exact expectations, by the Poisson-binomial distribution of each count",
    "hybrid": "B, of the averaged and the sampled half together",
}
"""Bound → what it is."""


class OneStart(NamedTuple):
    """Where an engine got to from one start."""

    samples: bool  # is any token sampled?
    bounds: dict[str, float]  # of `BOUNDS`; NaN for those that it does not have, nats
    # (document, word), averaged over iterations after burn-in where something is sampled
    predictive: np.ndarray
    co_assignment: np.ndarray  # (token, token), likewise
    token_topic: np.ndarray  # (token, topic) q(z) at the end, mean over chains
    n_iterations: int


def lda_engines() -> list[str]:
    """The engines of LDA."""
    return [name for name in ENGINES if get_engine(name).model is LDA]


def against_exact(
    found: xr.Dataset, corpus: Corpus, model: LDA, engine: str, n_starts: int = N_STARTS
) -> xr.Dataset:
    """An engine with its usual options beside the exact posterior of a toy, from several starts.

    Parameters
    ----------
    found : Dataset
        `workbench.measures.exact` of the same corpus and model.
    engine : str
        Of LDA.
    n_starts : int
        Runs with seeds from 0; of what samples 200 iterations each, of others until they rest, or 1000.

    Returns
    -------
    Dataset
        - ``bound`` (kind): of `BOUNDS`, nats; NaN where the engine does not have it. All of the start where exact F, or B, is
          highest; ``log_evidence`` less a bound is its gap.
        - ``predictive`` (document, word) and ``co_assignment`` (token, other_token): of that start; where something is sampled
          the mean over starts and iterations after the twentieth.
        - ``token_topic`` (token, topic): q(z) of that start at its end.
        - ``predictive_distance``, ``co_assignment_distance``: total variation distance to the exact posterior, mean over
          documents, and over pairs of tokens (NaN for one token).
        - ``n_attractors``: different ends of the starts, by their predictive probabilities, which agree to ``attrs["alike"]``.
    """
    starts = [run_start(corpus, model, engine, seed) for seed in range(n_starts)]
    best, samples = max(starts, key=_best_bound), starts[0].samples
    predictive, same = (
        np.mean([getattr(one, name) for one in starts], axis=0) if samples else getattr(best, name)
        for name in ("predictive", "co_assignment")
    )
    alike = ALIKE_SAMPLED if samples else ALIKE
    apart = np.abs(same - found["co_assignment"].values)[np.triu_indices(len(same), 1)]
    distances = (
        total_variation(predictive, found["predictive"].values),
        apart.mean() if len(apart) else np.nan,
    )
    ends = n_different([one.predictive for one in starts], alike)
    return xr.Dataset(
        {
            "bound": (
                "kind",
                [best.bounds[name] for name in BOUNDS],
                _about("bound on the log evidence", "nats"),
            ),
            "log_evidence": found["log_evidence"],
            "predictive": (("document", "word"), predictive, found["predictive"].attrs),
            "co_assignment": (("token", "other_token"), same, found["co_assignment"].attrs),
            "token_topic": (
                ("token", "topic"),
                best.token_topic,
                _about("q(z) of each token at the end of a start"),
            ),
            "predictive_distance": (
                (),
                distances[0],
                _about("total variation distance of p(w|d), mean over documents"),
            ),
            "co_assignment_distance": (
                (),
                distances[1],
                _about("the same of one topic, mean over pairs of tokens"),
            ),
            "n_attractors": ((), ends, _about("different ends of the starts")),
        },
        {
            "kind": list(BOUNDS),
            **{name: found[name] for name in ("document", "word", "token_document", "token_word")},
        },
        {
            "engine": engine,
            "samples": samples,
            "n_starts": n_starts,
            "alike": alike,
            "n_iterations": max(one.n_iterations for one in starts),
        },
    )


def run_start(corpus: Corpus, model: LDA, name: str, seed: int) -> OneStart:
    """One run of an engine with its usual options, to rest where nothing is sampled."""
    engine = get_engine(name)
    options = make_options(engine, {})
    samples, pairs = engine.samples(corpus, options), every_pair(corpus)
    state = engine.init(corpus, model, options, StepContext(seed, 0))
    tables, together, before, n = 0.0, 0.0, np.inf, 0
    for step in range(1, (N_ITERATIONS if samples else MOST_ITERATIONS) + 1):
        state, _ = engine.step(corpus, model, options, state, StepContext(seed, step))
        predictive = engine.predict(corpus, model, options, state, pairs)
        if samples and step > BURN_IN:
            tables, together, n = (
                tables + predictive,
                together + _co_assignment(corpus, options, state),
                n + 1,
            )
        if not samples and np.max(np.abs(predictive - before)) <= AT_REST:
            break
        before = predictive
    if not samples:
        tables, together, n = predictive, _co_assignment(corpus, options, state), 1
    q = token_probabilities(corpus, options, state).mean(axis=0)
    table = (tables / n).reshape(corpus.n_documents, corpus.n_words)
    return OneStart(samples, _bounds(corpus, model, options, state), table, together / n, q, step)


def _best_bound(start: OneStart) -> float:
    """Exact F, else B, else nothing."""
    known = [start.bounds[name] for name in ("exact", "hybrid") if np.isfinite(start.bounds[name])]
    return known[0] if known else -np.inf


def n_different(tables, alike: float) -> int:
    """How many of the tables differ from all those before them by more than ``alike`` in some cell."""
    kept: list[np.ndarray] = []
    for table in tables:
        if not any(np.max(np.abs(table - one)) <= alike for one in kept):
            kept.append(table)
    return len(kept)


def _bounds(corpus, model, options, state) -> dict[str, float]:
    """The bounds that a state has."""
    split, inner = split_of(corpus, options, state)
    found = dict.fromkeys(BOUNDS, np.nan)
    if not split.n_sampled:
        starts = np.cumsum(corpus.counts) - corpus.counts
        of = collapsed_bounds(corpus, model, token_probabilities(corpus, options, state)[0, starts])
        found |= of._asdict()
    if isinstance(inner, hybrid.SvbState | hybrid.CvbState):
        entropy = hybrid.part_of(inner).entropy_of(split, hybrid.mean_part(inner))
        found["hybrid"] = hybrid_bound.exact(corpus, split, inner, entropy)
    return found


def _co_assignment(corpus, options, state) -> np.ndarray:
    """(token, token) probability of one topic under a state, mean over its chains."""
    q = token_probabilities(corpus, options, state)
    same = np.einsum("sik,sjk->ij", q, q) / len(q)
    np.fill_diagonal(same, 1.0)
    return same


def _about(meaning: str, unit: str = "") -> dict[str, str]:
    return {"long_name": meaning, "units": unit}
