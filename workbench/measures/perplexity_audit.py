"""One run under every protocol that papers and programs call perplexity, so that one sees which numbers can be compared."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus, CorpusError
from workbench.engines.lda.fold_in import mixture_probability, word_probabilities
from workbench.measures.document_likelihoods import (
    exact_logs,
    left_to_right_logs,
    mean_of_estimates,
    variational_bound,
    variational_counts,
)
from workbench.measures.errors import CHAIN, perplexity_errors
from workbench.measures.matching import check_training_corpus
from workbench.measures.protocols import PROTOCOLS, TEST, TRAIN, UNSEEN
from workbench.measures.selection import MeasureError, one_run, spec_of, whole_number
from workbench.models import LDA
from workbench.runs.afterwards.infer import document_completion
from workbench.runs.afterwards.learnt import Topics, checked_numbers, known_part, topics_of
from workbench.runs.dataset import model_of
from workbench.runs.input_data import data_from
from workbench.runs.scoring import perplexity

N_PARTICLES, N_ESTIMATES, N_SEEDS = 20, 4, 5
"""Particles of a left-to-right estimate, how many estimates there are of each document with resampling, and seeds over which
numbers of random halves and Gibbs sweeps are compared."""
RECORDED = {
    "held_out_tokens_state": "test_perplexity_state",
    "held_out_tokens_average": "test_perplexity_average",
    "held_out_tokens_by_document": "test_perplexity_by_document",
    "held_out_tokens_jointly": "test_perplexity_joint",
}
"""Protocol → what a run records of it."""
STATE, AVERAGE = list(RECORDED)[:2]
NOT_GIVEN = {
    TEST: "nothing is held out; give held-out tokens of the training documents (test=…)",
    UNSEEN: "there are no unseen documents; give some (unseen=…), as hold_out_documents sets aside",
    TRAIN: "the training documents are not given; give them (train=…)",
}
ROUNDING = 1e-12
"""Share of a number by which sums in another order may change it."""
NOT_AVERAGED = "the engine samples nothing, or burn-in is not over, so it is that of the state"


class Found(NamedTuple):
    """A number by one protocol, or why there is none."""

    value: float = math.nan
    n_tokens: int | None = None
    standard_error: float = math.nan
    error_over: str = ""  # what is random
    note: str = ""  # why there is no number


def perplexity_audit(
    run: xr.Dataset,
    train: Corpus | None = None,
    test: Corpus | None = None,
    unseen=None,
    n_particles: int = N_PARTICLES,
    seed: int = 0,
    n_threads: int = 1,
):
    """A pandas DataFrame with a row for each protocol by which papers and programs compute the perplexity of a topic model.

    Parameters
    ----------
    run : Dataset
        Of one run of LDA, by any engine, with its counts.
    train : Corpus, optional
        Its training tokens. What is not given leaves rows without a number, and their ``note`` says so.
    test : Corpus, optional
        Held-out tokens of the training documents, as `workbench.hold_out_tokens` makes them. The numbers of those that the run
        scored itself are what it recorded last; of others the state alone is known.
    unseen : Corpus or texts, optional
        Documents that the run has not learnt from. Words that it does not know are left out.
    n_particles : int, default 20
        Of each left-to-right estimate, whose time grows with the square of the length of a document; 0 leaves them out.
    seed : int
        Of halves, Gibbs sweeps and particles.
    n_threads : int
        Never changes a bit.

    Returns
    -------
    DataFrame
        The index is the name of the protocol, see `workbench.measures.protocols`; columns:

        - ``value``, ``unit``: a perplexity, or nats per token; NaN where it cannot be computed, with the reason in ``note``.
        - ``standard_error`` of the value and ``error_over``, what is random: states after burn-in (of an average by batch
          means; of one state the standard deviation), halves and sweeps (the standard deviation over five seeds), particles.
          NaN where nothing is random, or one is not enough to tell. That of ``left_to_right`` leaves out that the log of an
          unbiased estimate is on average too low, by half its variance: more particles tell.
        - ``n_tokens``: tokens that are scored.
        - ``quantity``: what is averaged; two numbers can be compared where it is the same.
        - ``data``, ``given``, ``used_by``, ``differs``: whose words are scored, what is conditioned on, which papers and
          programs do so, and where it disagrees with the first row and why.

    Raises
    ------
    MeasureError, SpecError, CorpusError
        One sentence each: no run of LDA, other training tokens than those of the run, unseen documents of which it knows no
        word, a corpus in shards, a number out of range.

    Wallach, Murray, Salakhutdinov & Mimno (2009) compare such protocols; docs/perplexity.md tells them apart.
    """
    import pandas as pd

    run, n_particles = one_run(run), whole_number("number of particles", n_particles, 0)
    topics = _topics_of(run)
    checked_numbers(seed, n_threads)
    for corpus in filter(None, (train, test)):
        corpus.require_memory("perplexities are audited in memory")
    if train is not None:
        check_training_corpus(run, train)
    found = _of_test(run, topics, test) | _of_training(run, topics, train, n_threads)
    if unseen is not None:
        known = _known(topics, unseen)
        found |= _completed(run, topics, known, seed, n_threads)
        found |= _marginal(topics, known, n_particles, seed, n_threads) | _bounds(
            topics, known, n_threads
        )
    rows = [
        {
            "value": one.value,
            "standard_error": one.standard_error,
            "unit": each.unit,
            "n_tokens": one.n_tokens,
            "quantity": each.quantity,
            "data": each.data,
            "given": each.given,
            "used_by": each.used_by,
            "differs": each.differs,
            "error_over": one.error_over,
            "note": one.note,
        }
        for each in PROTOCOLS
        for one in [found.get(each.name, Found(note=NOT_GIVEN[each.data]))]
    ]
    table = pd.DataFrame(rows, index=pd.Index([each.name for each in PROTOCOLS], name="protocol"))
    return table.astype({"n_tokens": "Int64"})


def _topics_of(run: xr.Dataset) -> Topics:
    """The topics of a run of LDA."""
    spec, model = spec_of(run), model_of(run)
    if not isinstance(model, LDA):
        raise MeasureError(
            f"perplexities are audited of runs of LDA; run '{spec.name}' is of engine {spec.engine}, which has "
            "another model; choose a run of LDA"
        )
    return topics_of(run, None)


def _known(topics: Topics, unseen) -> Corpus:
    """The unseen documents with the words that the run knows."""
    corpus = data_from(unseen, None, counted=topics.spec.counted)
    corpus = corpus.require_memory("unseen documents are scored in memory")
    known = known_part(corpus, topics.vocabulary)
    if known.n_tokens == 0:
        raise MeasureError(
            f"the run knows no word of {corpus.name!r}, so nothing can be scored; give documents like its own"
        )
    return known


def _of_test(run: xr.Dataset, topics: Topics, test: Corpus | None) -> dict[str, Found]:
    """Of held-out tokens of the training documents: what the run recorded of its own, or of others from theta and phi."""
    if test is None or test.content_hash == topics.spec.test:
        return _recorded(run, topics, None if test is None else test.n_tokens)
    if (test.n_documents, test.vocabulary) != (run.sizes["document"], topics.vocabulary):
        raise MeasureError(
            f"the test tokens must be of the {run.sizes['document']:,} training documents and their vocabulary, "
            f"as hold_out_tokens makes them; got {test!r}"
        )
    if test.n_tokens == 0:
        return {}
    phi = word_probabilities(*topics.of_words)
    probability = mixture_probability(np.ascontiguousarray(run["theta"].values), phi, test)
    others = Found(
        note="of these tokens the run has not averaged anything; give those that it was fitted with"
    )
    return dict.fromkeys(RECORDED, others) | {
        STATE: Found(perplexity(test, probability), test.n_tokens)
    }


def _recorded(run: xr.Dataset, topics: Topics, n_tokens: int | None) -> dict[str, Found]:
    """The last held-out perplexities that the run recorded; nothing where none was held out."""
    there = {
        name: run[variable].dropna("iteration").values
        for name, variable in RECORDED.items()
        if variable in run
    }
    found = {
        name: Found(float(values[-1]), n_tokens) for name, values in there.items() if len(values)
    }
    if not found:
        return {}
    if run["test_perplexity"].equals(run["test_perplexity_state"]):
        return dict.fromkeys(RECORDED, Found(note=NOT_AVERAGED)) | {STATE: found[STATE]}
    after = run["iteration"].values > topics.spec.burn_in
    logs = np.log(run["test_perplexity_state"].values[after])
    errors = perplexity_errors(run)
    if len(logs) > 1:
        spread = float(np.std(logs, ddof=1)) * found[STATE].value
        found[STATE] = found[STATE]._replace(
            standard_error=spread, error_over="states after burn-in"
        )
    if AVERAGE in found and errors["source"].item() == CHAIN:
        found[AVERAGE] = found[AVERAGE]._replace(
            standard_error=float(errors["mc_error"].item()), error_over="states after burn-in"
        )
    return found


def _completed(
    run: xr.Dataset, topics: Topics, known: Corpus, seed: int, n_threads: int
) -> dict[str, Found]:
    """Of unseen documents given theta: of half of each of them, and of the very tokens that are scored."""
    score = partial(document_completion, run, known, n_threads=n_threads)
    found = {}
    for protocol, what in (
        ("document_completion", "halves and Gibbs sweeps"),
        ("foldin_same", "Gibbs sweeps"),
    ):
        try:
            scores = [score(seed=seed + more, protocol=protocol) for more in range(N_SEEDS)]
        except CorpusError as error:  # no document of two tokens
            found[protocol] = Found(note=str(error))
            continue
        values = [each["perplexity"] for each in scores]
        spread = float(np.std(values, ddof=1))
        random = spread > ROUNDING * values[0]
        found[protocol] = Found(
            values[0], scores[0]["n_scored"], spread if random else math.nan, what if random else ""
        )
    return found


def _marginal(
    topics: Topics, known: Corpus, n_particles: int, seed: int, n_threads: int
) -> dict[str, Found]:
    """Of unseen documents given phi and alpha alone."""
    phi, alpha = word_probabilities(*topics.of_words), topics.of_words.priors.alphas
    found = dict.fromkeys(
        ("left_to_right", "left_to_right_by_token"),
        Found(note="no particles; ask for some (n_particles=…)"),
    )
    if n_particles:
        estimate = partial(
            left_to_right_logs, known, phi, alpha, n_particles, seed=seed, n_threads=n_threads
        )
        by_token, variance = estimate(resample=False)
        sums = (
            mean_of_estimates(estimate(N_ESTIMATES)[0]),
            (float(by_token.sum()), float(np.sqrt(variance.sum()))),
        )
        over = (
            f"{N_ESTIMATES} times {n_particles} particles",
            f"{n_particles} particles" if n_particles > 1 else "",
        )
        for name, (log, error), what in zip(list(found), sums, over, strict=True):
            value = _perplexity(log, known)
            found[name] = Found(value, known.n_tokens, value * error / known.n_tokens, what)
    try:
        found["exact"] = Found(
            _perplexity(exact_logs(known, phi, alpha).sum(), known), known.n_tokens
        )
    except MeasureError as error:
        found["exact"] = Found(note=str(error))
    return found


def _bounds(topics: Topics, known: Corpus, n_threads: int) -> dict[str, Found]:
    """The bound of unseen documents, as several programs print it."""
    bound = variational_bound(
        known, topics.of_words, variational_counts(known, topics.of_words, n_threads)
    )
    per_token = sum(bound) / known.n_tokens
    values = {
        "bound_of_documents": _perplexity(bound.of_documents, known),
        "bound_with_topics": _perplexity(sum(bound), known),
        "bound_gensim": per_token,
        "bound_gensim_printed": float(np.exp2(-per_token)),
    }
    return {name: Found(value, known.n_tokens) for name, value in values.items()}


def _of_training(
    run: xr.Dataset, topics: Topics, train: Corpus | None, n_threads: int
) -> dict[str, Found]:
    """Of the training documents: the bound as it is of any documents, and the log joint that a sampler recorded last."""
    if train is None:
        return {}
    bound = variational_bound(
        train, topics.of_words, variational_counts(train, topics.of_words, n_threads)
    )
    found = {"bound_of_training": Found(_perplexity(sum(bound), train), train.n_tokens)}
    note = "the engine records no log p(words, z); it is of those that sample every token, as cgs"
    found["joint_of_training"] = Found(note=note)
    if "log_joint" in run:
        found["joint_of_training"] = Found(
            _perplexity(float(run["log_joint"].values[-1]), train), train.n_tokens
        )
    return found


def _perplexity(log_probability: float, documents: Corpus) -> float:
    """exp of minus the log probability per token; infinite where that is beyond numbers."""
    with np.errstate(over="ignore"):
        return float(np.exp(-log_probability / documents.n_tokens))
