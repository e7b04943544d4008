"""Long-run distributions of hybrids of LDA from many starts, compared with the exact posterior of a toy corpus.

With infinitely many chains `svb-cgs` is computed on corpora small enough to enumerate the sampled tokens.

Welling, Teh & Kappen (2008), eq. 16-21: coordinate ascent of the bound B without randomness. Q(z) of the sampled tokens is
proportional to exp L(m + c(z)), and the responsibilities are those of spec A9 under its means.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp, psi

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import adaptive, hybrid, mixed
from workbench.engines.lda.hybrid_state import split_of
from workbench.engines.lda.hyperparameters import learnt
from workbench.engines.lda.token_probabilities import every_token, responsibilities
from workbench.engines.options import make_options
from workbench.kernels.lda import enumeration
from workbench.measures.exact import (
    every_pair,
    exact,
    expected_counts,
    refuse_seeds,
    total_variation,
)
from workbench.measures.selection import MeasureError
from workbench.models.lda import LDA
from workbench.models.variables import Variable

ENGINE = "svb-cgs"
ADAPTIVE = adaptive.NAME, mixed.NAME
MOST_STEPS, TOLERANCE = 10_000, 1e-12
"""Maximum of updates until the fixed point, and the change of expected counts below which they have converged."""


def assignments(
    corpus: Corpus, model: LDA, sampled: np.ndarray, mean: tuple
) -> tuple[np.ndarray, np.ndarray]:
    """Enumerate the topic assignments of sampled tokens: topics (state, sampled token), probabilities (state,).

    ``mean`` are expected counts of the other tokens: (document, topic), (word, topic), (topic,).
    """
    documents, words = (
        np.repeat(labels, np.where(sampled, corpus.counts, 0))
        for labels in (corpus.documents, corpus.words)
    )
    logs = enumeration.log_joints(
        documents.astype(np.int64),
        words.astype(np.int64),
        *mean,
        model.alphas,
        model.beta,
        model.n_topics,
    )
    topics = enumeration.assignments(len(documents), model.n_topics)
    return topics, np.exp(logs - logsumexp(logs))


def fixed_point(
    corpus: Corpus, model: LDA, options, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the fixed point that `svb-cgs` with infinitely many chains reaches from the initial state of ``seed``.

    Returns the predictive (document, word), the co-assignment (token, token), all assignments of the sampled tokens (state,
    sampled token) and their probabilities (state,).
    """
    split, k, gamma = split_of(corpus, options), model.n_topics, np.zeros((0, model.n_topics))
    start = get_engine(ENGINE).init(corpus, model, options, StepContext(seed, 0))
    mean = tuple(values[..., :k].copy() for values in (start.mean_dk, start.mean_wk, start.mean_k))
    documents, words, counts = (
        values[~split.sampled] for values in (corpus.documents, corpus.words, corpus.counts)
    )
    for _ in range(MOST_STEPS):
        topics, q = assignments(corpus, model, split.sampled, mean)
        n_dk, n_wk, n_k = (
            m + n for m, n in zip(mean, _counts(corpus, split.sampled, topics, k), strict=True)
        )
        if not split.n_averaged:
            break
        logs = (
            np.tensordot(q, psi(model.alphas + n_dk), 1)[documents]
            + np.tensordot(q, psi(model.beta + n_wk), 1)[words]
        )
        logs -= np.tensordot(q, psi(corpus.n_words * model.beta + n_k), 1)
        gamma, old_mean = np.exp(logs - logsumexp(logs, axis=1, keepdims=True)), mean[0]
        mean = expected_counts(corpus, documents, words, counts[:, None] * gamma)
        if np.abs(mean[0] - old_mean).max() < TOLERANCE:
            break
    theta = (model.alphas + n_dk) / (model.alphas.sum() + corpus.document_tokens[:, None])
    phi = (model.beta + n_wk) / (corpus.n_words * model.beta + n_k)[:, None]
    responsibilities = every_token(corpus, split.sampled, gamma, topics)
    co_assignment = np.einsum("s,stk,suk->tu", q, responsibilities, responsibilities, optimize=True)
    np.fill_diagonal(co_assignment, 1.0)
    predictive = np.einsum("s,sdk,swk->dw", q, theta, phi, optimize=True)
    return predictive, co_assignment, topics, q


def _counts(corpus: Corpus, sampled: np.ndarray, topics: np.ndarray, n_topics: int) -> tuple:
    """Return counts (state, document, topic), (state, word, topic), (state, topic) of enumerated assignments."""
    states, tables = np.arange(len(topics)), []
    for labels, size in ((corpus.documents, corpus.n_documents), (corpus.words, corpus.n_words)):
        counts = np.zeros((len(topics), size, n_topics))
        for column, label in zip(
            topics.T, np.repeat(labels, np.where(sampled, corpus.counts, 0)), strict=True
        ):
            counts[states, label, column] += 1
        tables.append(counts)
    return (*tables, tables[0].sum(axis=1))


OF_RUNS, OF_SETTINGS = ("setting", "start"), ("setting",)
RESULT = (
    Variable(
        "predictive_distance",
        OF_RUNS,
        "",
        "total variation of the predictive from that of the posterior",
    ),
    Variable(
        "co_assignment_distance",
        OF_RUNS,
        "",
        "difference in the probability that two tokens have one topic",
    ),
    Variable(
        "sampled_distance",
        OF_RUNS,
        "",
        "total variation of the law of the topics of tokens that are always sampled",
    ),
    Variable(
        "half_distance",
        OF_RUNS,
        "",
        "total variation of the predictive between the halves of a run",
    ),
    Variable("attractor", OF_RUNS, "", "number of the long-run distribution of a start"),
    Variable("n_attractors", OF_SETTINGS, "", "distinct long-run distributions of the starts"),
    Variable(
        "spread", OF_SETTINGS, "", "largest total variation of the predictive between two starts"
    ),
    Variable(
        "predictive",
        (*OF_RUNS, "document", "word"),
        "",
        "p(w|d) of one further token, mean over a run",
    ),
)


class Means(NamedTuple):
    """The averages of a run after burn-in, and the distribution of how always sampled tokens share topics."""

    predictive: np.ndarray  # (half, document, word)
    co_assignment: np.ndarray  # (token, token)
    distribution: np.ndarray  # (partition,) of the tokens that are always sampled


def stationary(
    corpus: Corpus,
    model: LDA,
    engines: Iterable = (ENGINE,),
    *,
    n_starts: int = 12,
    n_iterations: int = 2000,
    burn_in: int = 200,
    seed: int = 0,
    tolerance: float = 0.02,
) -> xr.Dataset:
    """Run Gibbs-variational hybrids from many starts; return means, and distances between starts and from the posterior.

    A chain with one stationary distribution has the same means from every start, within Monte Carlo error; if the halves of
    each run agree and the runs do not, it has several. All results are invariant to the numbering of topics.

    Parameters
    ----------
    corpus : Corpus
        As for `exact`: ``n_topics ** n_tokens`` is at most 2**16.
    model : LDA
    engines : list of names or (name, options) pairs
        Hybrids, the engines at the ends of their range (``svb``, ``cvb``, ``cvb0``, ``cgs``) and ``adaptive-cgs``, without
        learnt priors. ``n_chains=math.inf`` with ``svb-cgs``: the distribution of the sampled tokens given the
        responsibilities is enumerated, and the updates are repeated until convergence.
    n_starts : int
        Number of runs, with seeds from ``seed`` on.
    n_iterations, burn_in : int
        Means are over ``n_iterations`` iterations after ``burn_in``.
    tolerance : float
        Starts are grouped by single linkage: two starts agree if their mean predictives differ by less.

    Returns
    -------
    Dataset
        Dims ``setting`` (the engine and the options that were given), ``start``:

        - ``predictive_distance``: total variation from the posterior's predictive, mean over documents.
        - ``co_assignment_distance``: mean over pairs of tokens of the absolute difference in the probability that the two have
          one topic. Topics of averaged tokens are independent given their responsibilities.
        - ``sampled_distance``: total variation of the distribution of the partition into topics of the tokens that are sampled
          in every iteration (with `adaptive-cgs` those alone in their pair); NaN for fewer than two. With ``n`` independent
          draws its Monte Carlo error is about sqrt(partitions / n).
        - ``half_distance``: total variation of the predictive of one half of a run from that of the other.
        - ``attractor``: number of the long-run distribution of a start, from 0; ``n_attractors`` (setting,): how many.
        - ``spread`` (setting,): largest total variation of the predictive between two starts.
        - ``predictive`` (setting, start, document, word), beside ``exact_predictive``.

    Raises
    ------
    MeasureError
        As `exact`, and for other engines and options.

    Welling, Teh & Kappen (2008), section 8.
    """
    refuse_seeds(model)
    posterior, settings = (
        exact(corpus, model),
        [_setting(entry) for entry in ([engines] if isinstance(engines, str) else engines)],
    )
    if not settings or n_starts < 1 or n_iterations < 2 or burn_in < 0:
        raise MeasureError("wanted at least one engine, one start and two iterations")
    runs = [
        [
            _run(corpus, model, name, options, n_iterations, burn_in, seed + start)
            for start in range(n_starts)
        ]
        for name, options, _ in settings
    ]
    no_counts = tuple(
        np.zeros((*rows, model.n_topics)) for rows in ((corpus.n_documents,), (corpus.n_words,), ())
    )
    law = assignments(corpus, model, np.ones(corpus.n_pairs, bool), no_counts)
    tables = np.array([[means.predictive.mean(axis=0) for means in row] for row in runs])
    attractors = [
        connected_components(
            total_variation(starts[:, None], starts[None]) < tolerance, directed=False
        )[1]
        for starts in tables
    ]
    values = {
        "predictive_distance": total_variation(tables, posterior["predictive"].values),
        "co_assignment_distance": [
            [
                float(
                    np.abs(means.co_assignment - posterior["co_assignment"].values).sum()
                    / max(corpus.n_tokens * (corpus.n_tokens - 1), 1)
                )
                for means in row
            ]
            for row in runs
        ],
        "sampled_distance": [
            [
                _distribution_distance(
                    means.distribution, *law, always_sampled(corpus, name, options), model.n_topics
                )
                for means in row
            ]
            for row, (name, options, _) in zip(runs, settings, strict=True)
        ],
        "half_distance": [[total_variation(*means.predictive) for means in row] for row in runs],
        "attractor": attractors,
        "n_attractors": [numbers.max() + 1 for numbers in attractors],
        "spread": [total_variation(starts[:, None], starts[None]).max() for starts in tables],
        "predictive": tables,
    }
    return xr.Dataset(
        {
            variable.name: (variable.dims, values[variable.name], variable.attrs)
            for variable in RESULT
        }
        | {"exact_predictive": posterior["predictive"]},
        {
            "setting": [label for *_, label in settings],
            "start": np.arange(seed, seed + n_starts),
            "document": posterior["document"],
            "word": posterior["word"],
        },
        {
            "corpus": corpus.name,
            "n_iterations": n_iterations,
            "burn_in": burn_in,
            "tolerance": tolerance,
        },
    )


def _setting(entry: str | tuple[str, dict]) -> tuple[str, dict, str]:
    """Return (engine, options, label) of an entry of ``engines`` in `stationary`."""
    name, options = (entry, {}) if isinstance(entry, str) else entry
    label = " ".join([name, *(f"{option}={value}" for option, value in options.items())])
    names = [*hybrid.KINDS, *ADAPTIVE, *hybrid.ENDS]
    if name not in names:
        raise MeasureError(
            f"stationary distributions are computed for {', '.join(names)}; got '{name}'"
        )
    if name in hybrid.ENDS:
        name, r = hybrid.ENDS[name]
        options = {"r": r} | options
    refuse_seeds(LDA(seed_words=options.get("seed_words", "")))
    if learnt(make_options(get_engine(name), {**options, "n_chains": 1})):
        raise MeasureError(
            f"stationary distributions are compared with the posterior under fixed priors; '{label}' learns them"
        )
    return name, options, label


def always_sampled(corpus: Corpus, name: str, options: dict) -> np.ndarray:
    """Return which tokens (token,) bool are sampled at every iteration."""
    if name in ADAPTIVE:
        sampled = corpus.counts == 1
    else:
        sampled = hybrid.split_of(
            corpus, make_options(get_engine(name), {**options, "n_chains": 1})
        ).sampled
    return np.repeat(sampled, corpus.counts)


def _run(
    corpus: Corpus, model: LDA, name: str, options: dict, n_iterations: int, burn_in: int, seed: int
) -> Means:
    """Run an engine from one seed and return the `Means` after burn-in."""
    if math.isinf(options.get("n_chains", 1)):
        if name != ENGINE:
            raise MeasureError(f"infinitely many chains are available for {ENGINE}; got '{name}'")
        predictive, co_assignment, *law = fixed_point(
            corpus, model, make_options(get_engine(name), {**options, "n_chains": 1}), seed
        )
        halves = np.stack([predictive] * 2)
        return Means(halves, co_assignment, _distribution(*law, model.n_topics))
    engine, pairs = get_engine(name), every_pair(corpus)
    engine_options = make_options(engine, options)
    always = always_sampled(corpus, name, options)
    state = engine.init(corpus, model, engine_options, StepContext(seed, 0))
    table, co_assignment, draws = (
        np.zeros((2, corpus.n_documents, corpus.n_words)),
        np.zeros((corpus.n_tokens,) * 2),
        [],
    )
    for step in range(1, burn_in + n_iterations + 1):
        previous = state._replace(
            **{
                name: field.copy()
                for name, field in state._asdict().items()
                if isinstance(field, np.ndarray)
            }
        )
        state, _ = engine.step(corpus, model, engine_options, state, StepContext(seed, step))
        if step <= burn_in:
            continue
        half = 2 * (step - burn_in - 1) // n_iterations
        table[half] += engine.predict(corpus, model, engine_options, state, pairs).reshape(
            table[half].shape
        )
        topics = token_topics(corpus, engine_options, previous, state, step)
        co_assignment += np.einsum("stk,suk->tu", topics, topics) / len(topics)
        draws.append(state.topics[:, always].copy())
    table /= np.array([(n_iterations + 1) // 2, n_iterations // 2])[:, None, None]
    np.fill_diagonal(co_assignment, n_iterations)
    topics = np.concatenate(draws)
    return Means(
        table,
        co_assignment / n_iterations,
        _distribution(topics, np.full(len(topics), 1 / len(topics)), model.n_topics),
    )


def token_topics(corpus: Corpus, options, previous, state, step: int) -> np.ndarray:
    """Return topic probabilities (chain, token, topic): responsibilities, or 0 and 1 for sampled tokens.

    Responsibilities of parallel `svb` are recomputed from the counts that they depend on: the expected ones before the
    iteration and the sampled ones after it, or before it if a split was chosen.
    """
    adapts = hasattr(state, "sampled")
    sampled = state.sampled if adapts else hybrid.split_of(corpus, options).sampled
    inner, n_topics = adaptive.of_hybrid(options, state) if adapts else state, len(state.alpha)
    gamma = inner.gamma[:, :n_topics] if len(inner.gamma) or sampled.all() else None
    if gamma is None:
        is_chosen = adapts and adaptive.due(options, step)
        chain_state = previous if is_chosen else state
        means = {name: getattr(previous, name) for name in ("mean_dk", "mean_wk", "mean_k")}
        totals = [
            hybrid.totals(chain_state._replace(**means), s) for s in range(len(chain_state.topics))
        ]
        gamma = responsibilities(corpus, sampled, totals, chain_state.alpha, chain_state.beta)
    return every_token(corpus, sampled, gamma, inner.topics[:, np.repeat(sampled, corpus.counts)])


def partitions(topics: np.ndarray, n_topics: int) -> np.ndarray:
    """Return a number (row,) for the partition of tokens that the topics (row, token) induce, whatever the topics' numbers."""
    rows = np.arange(len(topics))
    names, n_seen = np.full((len(topics), n_topics), -1), np.zeros(len(topics), int)
    code = np.zeros(len(topics), int)
    for column in topics.T:
        new = names[rows, column] < 0
        names[rows[new], column[new]] = n_seen[new]
        n_seen += new
        code = code * n_topics + names[rows, column]
    return code


def _distribution(topics: np.ndarray, probability: np.ndarray, n_topics: int) -> np.ndarray:
    """Return the probability (partition,) of each partition, from assignments and their probabilities."""
    return np.bincount(
        partitions(topics, n_topics), probability, minlength=n_topics ** topics.shape[1]
    )


def _distribution_distance(
    distribution: np.ndarray,
    topics: np.ndarray,
    probability: np.ndarray,
    tokens: np.ndarray,
    n_topics: int,
) -> float:
    """Return a distribution's total variation distance from the posterior over partitions; NaN below two tokens."""
    if tokens.sum() < 2:
        return math.nan
    return float(
        np.abs(distribution - _distribution(topics[:, tokens], probability, n_topics)).sum() / 2
    )
