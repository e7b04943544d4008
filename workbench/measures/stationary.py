"""Where hybrids of LDA come to in the long run from many starts, beside the exact posterior of a toy corpus."""

import math
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.sparse.csgraph import connected_components

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import adaptive, hybrid
from workbench.engines.lda.hyperparameters import learnt
from workbench.engines.lda.token_probabilities import every_token, responsibilities
from workbench.engines.options import make_options
from workbench.measures.exact import every_pair, exact, total_variation
from workbench.measures.infinite_chains import ENGINE, assignments, at_rest
from workbench.measures.selection import MeasureError
from workbench.models.lda import LDA
from workbench.models.variables import Variable

MEANS = ("mean_dk", "mean_wk", "mean_k")
OF_RUNS, OF_SETTINGS = ("setting", "start"), ("setting",)
FOUND = (
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
    Variable("attractor", OF_RUNS, "", "number of the law that a start comes to"),
    Variable("n_attractors", OF_SETTINGS, "", "laws that the starts come to"),
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
    """What a run comes to: means over its second part, each half of it, and the draws of the tokens that are always sampled."""

    predictive: np.ndarray  # (half, document, word)
    co_assignment: np.ndarray  # (token, token)
    law: np.ndarray  # (partition,) of the tokens that are always sampled


def stationary(
    corpus: Corpus,
    model: LDA,
    engines=(ENGINE,),
    *,
    n_starts: int = 12,
    n_iterations: int = 2000,
    burn_in: int = 200,
    seed: int = 0,
    tolerance: float = 0.02,
) -> xr.Dataset:
    """What runs from many starts come to, how far they are from one another, and from the exact posterior.

    A chain that has one law in the long run gives the same means from every start, within Monte Carlo error; where halves of
    a run agree and runs do not, it has several. Everything is independent of the numbers of topics.

    Parameters
    ----------
    corpus : Corpus
        As for `exact`: ``n_topics ** n_tokens`` is at most 2**16.
    model : LDA
    engines : list of names or (name, options) pairs
        Hybrids, the engines at the ends of their range (``svb``, ``cvb``, ``cvb0``, ``cgs``) and ``adaptive-cgs``, without
        learnt priors. ``n_chains=math.inf`` with ``svb-cgs``: the law of the sampled tokens given the responsibilities is
        enumerated, and the updates are repeated until they rest.
    n_starts : int
        Seeds from ``seed`` on, a run each.
    n_iterations, burn_in : int
        Iterations whose means are taken, after ``burn_in``.
    tolerance : float
        Starts agree where their means of the predictive differ by less, or there is a chain of such starts between them.

    Returns
    -------
    Dataset
        Dims ``setting`` (the engine and the options that were given), ``start``:

        - ``predictive_distance``: total variation from the posterior's predictive, mean over documents.
        - ``co_assignment_distance``: mean over pairs of tokens of the absolute difference in the probability that the two have
          one topic. Tokens that are averaged have it independently of each other, given their responsibilities.
        - ``sampled_distance``: total variation of the law of the partition into topics of the tokens that are sampled in every
          iteration (with `adaptive-cgs` those alone in their pair); NaN where there are fewer than two. Of ``n`` draws that
          are independent some sqrt(partitions / n) of it are Monte Carlo error.
        - ``half_distance``: total variation of the predictive of one half of a run from that of the other.
        - ``attractor``: numbers of the laws that starts come to, from 0 on; ``n_attractors`` (setting,): how many.
        - ``spread`` (setting,): largest total variation of the predictive between two starts.
        - ``predictive`` (setting, start, document, word), beside ``exact_predictive``.

    Raises
    ------
    MeasureError
        For what `exact` refuses, and for engines and options other than these.

    Welling, Teh & Kappen (2008), section 8.
    """
    truth, chosen = (
        exact(corpus, model),
        [_setting(entry) for entry in ([engines] if isinstance(engines, str) else engines)],
    )
    if not chosen or n_starts < 1 or n_iterations < 2 or burn_in < 0:
        raise MeasureError("wanted at least one engine, one start and two iterations")
    runs = [
        [
            _run(corpus, model, name, options, n_iterations, burn_in, seed + start)
            for start in range(n_starts)
        ]
        for name, options, _ in chosen
    ]
    everywhere = _posterior(corpus, model)
    tables = np.array([[each.predictive.mean(axis=0) for each in row] for row in runs])
    attractors = [_attractors(each, tolerance) for each in tables]
    found = {
        "predictive_distance": total_variation(tables, truth["predictive"].values),
        "co_assignment_distance": [[_difference(each, truth) for each in row] for row in runs],
        "sampled_distance": [
            [
                _distance_of_laws(each.law, everywhere, always_sampled(corpus, name, options))
                for each in row
            ]
            for row, (name, options, _) in zip(runs, chosen, strict=True)
        ],
        "half_distance": [[total_variation(*each.predictive) for each in row] for row in runs],
        "attractor": attractors,
        "n_attractors": [each.max() + 1 for each in attractors],
        "spread": [total_variation(each[:, None], each[None]).max() for each in tables],
        "predictive": tables,
    }
    return xr.Dataset(
        {each.name: (each.dims, found[each.name], each.attrs) for each in FOUND}
        | {"exact_predictive": truth["predictive"]},
        {
            "setting": [label for *_, label in chosen],
            "start": np.arange(seed, seed + n_starts),
            "document": truth["document"],
            "word": truth["word"],
        },
        {
            "corpus": corpus.name,
            "n_iterations": n_iterations,
            "burn_in": burn_in,
            "tolerance": tolerance,
        },
    )


def _difference(means: Means, truth: xr.Dataset) -> float:
    """Mean absolute difference of the co-assignment of two tokens."""
    n_pairs = max(len(means.co_assignment) * (len(means.co_assignment) - 1), 1)
    return float(np.abs(means.co_assignment - truth["co_assignment"].values).sum() / n_pairs)


def _setting(entry) -> tuple[str, dict, str]:
    """Engine, options and label of what was given."""
    given, options = (entry, {}) if isinstance(entry, str) else entry
    name, label = (
        given,
        " ".join([given, *(f"{option}={value}" for option, value in options.items())]),
    )
    if name in hybrid.ENDS:
        name, r = hybrid.ENDS[name]
        options = {"r": r} | options
    if name not in (*hybrid.KINDS, adaptive.NAME):
        known = ", ".join([*hybrid.KINDS, adaptive.NAME, *hybrid.ENDS])
        raise MeasureError(f"the law of a chain is looked at for {known}; got '{given}'")
    if learnt(make_options(get_engine(name), {**options, "n_chains": 1})):
        raise MeasureError(
            f"the law of a chain is compared with the posterior under fixed priors; '{label}' learns them"
        )
    return name, options, label


def always_sampled(corpus: Corpus, name: str, options: dict) -> np.ndarray:
    """(token,) bool: tokens that are sampled in every iteration."""
    if name == adaptive.NAME:
        sampled = corpus.counts == 1
    else:
        sampled = hybrid.split_of(
            corpus, make_options(get_engine(name), {**options, "n_chains": 1})
        ).sampled
    return np.repeat(sampled, corpus.counts)


def _run(corpus, model, name, options, n_iterations, burn_in, seed) -> Means:
    """The means of one run."""
    if math.isinf(options.get("n_chains", 1)):
        if name != ENGINE:
            raise MeasureError(f"infinitely many chains are those of {ENGINE}; got '{name}'")
        found = at_rest(
            corpus, model, make_options(get_engine(name), {**options, "n_chains": 1}), seed
        )
        return Means(
            np.stack([found.predictive] * 2),
            found.co_assignment,
            _law(*found.sampled, model.n_topics),
        )
    engine, pairs = get_engine(name), every_pair(corpus)
    chosen = make_options(engine, options)
    always = always_sampled(corpus, name, options)
    state = engine.init(corpus, model, chosen, StepContext(seed, 0))
    table, same, draws = (
        np.zeros((2, corpus.n_documents, corpus.n_words)),
        np.zeros((corpus.n_tokens,) * 2),
        [],
    )
    for step in range(1, burn_in + n_iterations + 1):
        before = _copied(state)
        state, _ = engine.step(corpus, model, chosen, state, StepContext(seed, step))
        if step <= burn_in:
            continue
        half = 2 * (step - burn_in - 1) // n_iterations
        table[half] += engine.predict(corpus, model, chosen, state, pairs).reshape(
            table[half].shape
        )
        topics = token_topics(corpus, chosen, before, state, step)
        same += np.einsum("stk,suk->tu", topics, topics) / len(topics)
        draws.append(state.topics[:, always].copy())
    table /= np.array([(n_iterations + 1) // 2, n_iterations // 2])[:, None, None]
    np.fill_diagonal(same, n_iterations)
    topics = np.concatenate(draws)
    return Means(
        table,
        same / n_iterations,
        _law(topics, np.full(len(topics), 1 / len(topics)), model.n_topics),
    )


def _copied(state):
    return type(state)(*(each.copy() if isinstance(each, np.ndarray) else each for each in state))


def token_topics(corpus: Corpus, options, before, state, step: int) -> np.ndarray:
    """(chain, token, topic) the responsibilities of averaged tokens, and 1 at the topic of those that are sampled.

    Those of `svb` in parallel follow from the counts that they were computed from: the expected ones before the iteration and
    the sampled ones within it, or before it where a split was chosen.
    """
    adapts = hasattr(state, "sampled")
    sampled = state.sampled if adapts else hybrid.split_of(corpus, options).sampled
    inner, n_topics = adaptive.of_hybrid(options, state) if adapts else state, len(state.alpha)
    gamma = inner.gamma[:, :n_topics] if len(inner.gamma) or sampled.all() else None
    if gamma is None:
        chosen = adapts and adaptive.due(options, step)
        drawn = before if chosen else state
        totals = [
            hybrid.totals(drawn._replace(**{name: getattr(before, name) for name in MEANS}), s)
            for s in range(len(drawn.topics))
        ]
        gamma = responsibilities(corpus, sampled, totals, drawn.alpha, drawn.beta)
    return every_token(corpus, sampled, gamma, inner.topics[:, np.repeat(sampled, corpus.counts)])


def partitions(topics: np.ndarray, n_topics: int) -> np.ndarray:
    """(row,) a number of the partition that the topics (row, token) make of the tokens, whatever the topics are called."""
    rows = np.arange(len(topics))
    names, n_seen = np.full((len(topics), n_topics), -1), np.zeros(len(topics), int)
    code = np.zeros(len(topics), int)
    for column in topics.T:
        new = names[rows, column] < 0
        names[rows[new], column[new]] = n_seen[new]
        n_seen += new
        code = code * n_topics + names[rows, column]
    return code


def _law(topics, probability, n_topics) -> np.ndarray:
    """(partition,) probabilities, by number."""
    return np.bincount(
        partitions(topics, n_topics), probability, minlength=n_topics ** topics.shape[1]
    )


def _posterior(corpus, model) -> tuple:
    """Topics (state, token) of every assignment, their probabilities, and the number of topics."""
    none = tuple(
        np.zeros((*rows, model.n_topics)) for rows in ((corpus.n_documents,), (corpus.n_words,), ())
    )
    return (*assignments(corpus, model, np.ones(corpus.n_pairs, bool), none), model.n_topics)


def _distance_of_laws(law, posterior, tokens) -> float:
    topics, probability, n_topics = posterior
    if tokens.sum() < 2:
        return math.nan
    return float(np.abs(law - _law(topics[:, tokens], probability, n_topics)).sum() / 2)


def _attractors(tables, tolerance) -> np.ndarray:
    """(start,) numbers of the groups of starts that agree."""
    return connected_components(
        total_variation(tables[:, None], tables[None]) < tolerance, directed=False
    )[1]
