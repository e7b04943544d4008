"""The exact posterior of LDA on a toy corpus, and engines beside it: bounds, predictions, number of local optima.

The posterior is computed by enumeration of all topic assignments. Given responsibilities there are three bounds on the log
evidence: by Jensen's inequality, by expansion, and exact. q(z) factorises over tokens, equal tokens of a document share their
q, and E_q[L(n)] + H(q) <= log p(words) with L the collapsed log joint::

    F                L(E_q n) + H(q)                                                   spec A4, of `vb` and `svb`
    collapsed bound  E_q[L(n)] by the improved second order, + H(q): approximate        spec of the HDP, 5
    exact F          E_q[L(n)] by the distribution of every count, + H(q)               spec A.6

F <= exact F, since L is convex; a count is Poisson-binomial, a sum of independent draws.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import entr, gammaln

from workbench.corpus import AnyCorpus, Corpus
from workbench.engines import ENGINES, get_engine, module_of
from workbench.engines.engine import StepContext, warm_up_of
from workbench.engines.lda import hybrid, hybrid_bound
from workbench.engines.lda.token_probabilities import split_of, token_probabilities
from workbench.engines.options import make_options
from workbench.kernels.count_moments import expected_log_joint
from workbench.kernels.lda.enumeration import (
    MOST_STATES,
    log_joints,
    posterior_means,
    predictive_means,
)
from workbench.kernels.lda.log_joint import log_joint
from workbench.kernels.lda.word_prior import with_prior
from workbench.kernels.simd.vectors import pad_topics
from workbench.measures.count_expectations import MOST_DRAWS, poisson_binomial
from workbench.measures.selection import MeasureError, attributes
from workbench.models.lda import LDA
from workbench.models.model import bag_coords
from workbench.models.variables import Variable

MOST_CELLS = 2**24
"""Maximum of cells of a result array; exceeded only with one topic, or with many empty documents or words."""
RESULT = (
    Variable("log_evidence", (), "nats", "log p(words), of the tokens in their order"),
    Variable(
        "token_topic", ("token", "topic"), "", "posterior probability of each topic of a token"
    ),
    Variable(
        "co_assignment",
        ("token", "other_token"),
        "",
        "posterior probability that two tokens have one topic",
    ),
    Variable(
        "predictive",
        ("document", "word"),
        "",
        "p(w|d) of one further token, mean over the posterior",
    ),
)


def exact(corpus: Corpus, model: LDA) -> xr.Dataset:
    """Return the exact posterior of LDA on a toy corpus by enumerating all topic assignments.

    Parameters
    ----------
    corpus : Corpus
        Of a few tokens: ``n_topics ** n_tokens`` is at most 2**16, as with 16 tokens in 2 topics or 10 in 3.
    model : LDA

    Returns
    -------
    Dataset
        Tokens in canonical order (documents, their words, copies), labelled by ``token_document`` and ``token_word``:

        - ``log_evidence``: log p(words), nats, of the ordered tokens, without multinomial coefficient.
        - ``token_topic`` (token, topic), rows sum to 1. If alpha is one number the topics are exchangeable and every
          probability is 1/K; the following two variables are then informative.
        - ``co_assignment`` (token, other_token): the probability that two tokens have one topic.
        - ``predictive`` (document, word): the posterior mean of sum_k theta_dk phi_kw, rows sum to 1.

        ``attrs["n_states"]``: the number of assignments.

    Raises
    ------
    MeasureError
        Without tokens, for more than 2**16 assignments, or arguments that are no Corpus and LDA.

    Specification of LDA, A.1 and E.4.
    """
    _check(corpus, model)
    tokens = [
        np.repeat(pair_index, corpus.counts).astype(np.int64)
        for pair_index in (corpus.documents, corpus.words)
    ]
    (documents, document_of_token), (words, word_of_token) = (
        np.unique(labels, return_inverse=True) for labels in tokens
    )
    alpha, k = model.alphas, model.n_topics
    prior = model.for_data(corpus).word_prior
    n_wk, n_k, beta = with_prior(prior, np.zeros((corpus.n_words, k)), np.zeros(k))
    logs = log_joints(
        document_of_token, tokens[1], np.zeros((len(documents), k)), n_wk, n_k, alpha, beta, k
    )
    largest = logs.max()
    weights = np.exp(logs - largest)
    token_topic, co_assignment, table = posterior_means(
        weights / weights.sum(),
        document_of_token,
        word_of_token,
        len(documents),
        len(words),
        corpus.n_words,
        alpha,
        model.beta,
    )
    rows, columns = (
        _positions(present, size)
        for present, size in ((documents, corpus.n_documents), (words, corpus.n_words))
    )
    predictive = table[np.ix_(rows, columns)]
    if np.ndim(prior):
        arguments = weights / weights.sum(), document_of_token, tokens[1], len(documents), alpha
        predictive = predictive_means(*arguments, prior[:, :k])[rows]
    results = (
        largest + math.log(weights.sum()),
        token_topic,
        co_assignment,
        predictive,
    )
    labels = {
        name: (name, np.array(names), {"long_name": meaning})
        for name, (names, meaning, *_) in bag_coords(corpus).items()
        if name in ("document", "word")
    }
    return xr.Dataset(
        {
            variable.name: (variable.dims, values, variable.attrs)
            for variable, values in zip(RESULT, results, strict=True)
        },
        {
            **labels,
            "topic": np.arange(k),
            "token_document": (
                "token",
                labels["document"][1][tokens[0]],
                {"long_name": "document of the token"},
            ),
            "token_word": (
                "token",
                labels["word"][1][tokens[1]],
                {"long_name": "word of the token"},
            ),
        },
        {"corpus": corpus.name, "alpha": alpha, "beta": model.beta, "n_states": len(logs)},
    )


def every_pair(corpus: Corpus) -> Corpus:
    """Return a corpus in which each document has each word once, to predict p(w|d) for all pairs."""
    documents, words = np.indices((corpus.n_documents, corpus.n_words)).reshape(2, -1)
    return Corpus.from_pairs(
        documents,
        words,
        np.ones(len(words), int),
        n_documents=corpus.n_documents,
        n_words=corpus.n_words,
    )


def total_variation(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the total variation distance between p(w|d) and q(w|d) (…, document, word), averaged over documents."""
    return np.abs(p - q).sum(axis=-1).mean(axis=-1) / 2


def _check(corpus, model) -> None:
    """Raise MeasureError for a corpus without tokens or with too many topic assignments."""
    if not isinstance(corpus, AnyCorpus) or not isinstance(model, LDA):
        argument = corpus if not isinstance(corpus, AnyCorpus) else model
        raise MeasureError(
            f"the exact posterior needs a Corpus and an LDA model; got {type(argument).__name__}"
        )
    corpus.require_memory("the exact posterior is of a few tokens in memory")
    n, k = corpus.n_tokens, model.n_topics
    if n == 0:
        raise MeasureError(
            f"corpus '{corpus.name}' has no token; there is nothing to assign topics to, so add one"
        )
    if n * math.log(k) > math.log(MOST_STATES) + 1e-9:
        most_tokens = int(math.log(MOST_STATES) / math.log(k) + 1e-9)
        fewer = f"take at most {most_tokens} tokens" if most_tokens > 0 else "take fewer topics"
        raise MeasureError(
            f"{n:,} tokens in {k:,} topics have {k:,}^{n:,} assignments, and at most {MOST_STATES:,} (2^16) are enumerated; "
            f"{fewer}{', or fewer topics' if most_tokens > 0 and k > 2 else ''}"
        )
    if max(n * n, n * k, corpus.n_documents * corpus.n_words) > MOST_CELLS:
        raise MeasureError(
            f"{n:,} tokens, {corpus.n_documents:,} documents and {corpus.n_words:,} words need a table of more than "
            f"{MOST_CELLS:,} cells; leave out what is empty, or take fewer tokens"
        )


def refuse_seeds(model: LDA) -> None:
    """Raise MeasureError for a model with seed words."""
    if model.seed_words:
        raise MeasureError(
            "this needs one prior for all words, and the model has seed words; leave them out"
        )


def _positions(present: np.ndarray, size: int) -> np.ndarray:
    """Return the index in ``present`` of each number from 0 to size - 1; len(present) for a missing number."""
    numbers = np.arange(size)
    return np.where(np.isin(numbers, present), np.searchsorted(present, numbers), len(present))


def collapsed_bounds(corpus: Corpus, model: LDA, gamma: np.ndarray) -> dict[str, float]:
    """Return the bounds "jensen", "collapsed" and "exact" (see `BOUNDS`) of responsibilities gamma (pair, topic), in nats.

    Raises MeasureError beyond 2000 tokens: the time of the exact bound grows with their square.

    Welling, Teh & Kappen (2008), eq. 9; Teh, Kurihara & Welling (2008), eq. 13-14.
    """
    if corpus.n_tokens > MOST_DRAWS:
        raise MeasureError(
            f"exact expectations need at most {MOST_DRAWS:,} tokens; the corpus has {corpus.n_tokens:,}"
        )
    gamma = np.ascontiguousarray(gamma, float)
    refuse_seeds(model)
    alpha, beta, k = model.alphas, model.beta, model.n_topics
    entropy = float(corpus.counts @ entr(gamma).sum(axis=1))
    weights = corpus.counts[:, None] * gamma
    n_dk, n_wk, n_k = expected_counts(corpus, corpus.documents, corpus.words, weights)
    counts = tuple(np.stack([pad_topics(row) for row in values]) for values in (n_dk, n_wk))
    jensen = log_joint(*counts, pad_topics(n_k), pad_topics(alpha), beta, k)
    padded_gamma = np.stack([pad_topics(row) for row in gamma])
    collapsed = expected_log_joint(
        corpus,
        padded_gamma,
        alpha,
        alpha.sum(),
        np.full(corpus.n_words, beta),
        corpus.n_words * beta,
    )
    exact_expectation = _exact_log_joint(corpus, gamma, alpha, beta)
    bounds = {"jensen": jensen, "collapsed": collapsed, "exact": exact_expectation}
    return {name: float(value) + entropy for name, value in bounds.items()}


def expected_counts(
    corpus: Corpus, documents: np.ndarray, words: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return expected counts (document, topic), (word, topic), (topic,) from expected tokens ``weights`` (pair, topic)."""
    n_dk, n_wk = (
        np.zeros((size, weights.shape[1])) for size in (corpus.n_documents, corpus.n_words)
    )
    np.add.at(n_dk, documents, weights)
    np.add.at(n_wk, words, weights)
    return n_dk, n_wk, weights.sum(axis=0)


def _exact_log_joint(corpus: Corpus, gamma: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    """Return the expected log joint E_q[L(n)], from the exact distribution of every count, nats."""
    q = np.repeat(gamma, corpus.counts, axis=0)
    lengths = corpus.document_tokens
    total = float(np.sum(gammaln(alpha.sum()) - gammaln(alpha.sum() + lengths)))
    for pair_index, prior in ((corpus.documents, alpha), (corpus.words, beta)):
        token_index = np.repeat(pair_index, corpus.counts)
        for index in np.unique(token_index):
            total += _expected_log_ratio(q[token_index == index], prior)
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
    """Return an engine's bounds and predictions from several starts, and distances from a toy corpus's exact posterior.

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
    predictive, co_assignments = (
        np.mean([getattr(start, name) for start in starts], axis=0)
        if samples
        else getattr(best, name)
        for name in ("predictive", "co_assignment")
    )
    alike = ALIKE_SAMPLED if samples else ALIKE
    differences = np.abs(co_assignments - posterior["co_assignment"].values)[
        np.triu_indices(len(co_assignments), 1)
    ]
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
            "co_assignment": (
                ("token", "other_token"),
                co_assignments,
                posterior["co_assignment"].attrs,
            ),
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
            tables, n = tables + predictive, n + 1
            co_assignments = co_assignments + _co_assignment(corpus, options, state)
        may_end = not samples and step > warm_up_of(options) + 1
        if may_end and np.max(np.abs(predictive - previous)) <= CONVERGED:
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
    """Return the number of distinct tables; two are distinct if any cell differs by more than ``alike``."""
    distinct: list[np.ndarray] = []
    for table in tables:
        if not any(np.max(np.abs(table - other)) <= alike for other in distinct):
            distinct.append(table)
    return len(distinct)


def _bounds(corpus: Corpus, model: LDA, options, state) -> dict[str, float]:
    """Return each of `BOUNDS` for a state, as name → nats; NaN for a bound that the state does not have."""
    split, inner = split_of(corpus, options, state)
    bounds = dict.fromkeys(BOUNDS, np.nan)
    if not split.n_sampled:
        first_tokens = np.cumsum(corpus.counts) - corpus.counts
        gamma = token_probabilities(corpus, options, state)[0, first_tokens]
        bounds |= collapsed_bounds(corpus, model, gamma)
    if isinstance(inner, hybrid.SvbState | hybrid.CvbState):
        entropy = hybrid.part_of(inner).entropy_of(split, hybrid.mean_part(inner))
        bounds["hybrid"] = hybrid_bound.exact(*hybrid_bound.whole(corpus, split, inner, entropy))
    return bounds


def _co_assignment(corpus: Corpus, options, state) -> np.ndarray:
    """Return for each two tokens the probability (token, token) of the same topic, averaged over chains."""
    q = token_probabilities(corpus, options, state)
    probabilities = np.einsum("sik,sjk->ij", q, q) / len(q)
    np.fill_diagonal(probabilities, 1.0)
    return probabilities
