"""Perplexity of one run by all protocols in use, to see which published numbers can be compared."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from workbench.corpus import Corpus, CorpusError
from workbench.corpus.corpus import Documents
from workbench.engines.lda.fold_in import mixture_probability, word_probabilities
from workbench.measures.comparison import CHAIN, perplexity_errors
from workbench.measures.document_likelihoods import (
    exact_logs,
    left_to_right_logs,
    mean_of_estimates,
    variational_bound,
    variational_counts,
)
from workbench.measures.matching import check_training_corpus
from workbench.measures.selection import MeasureError, after_burn_in, one_run, spec_of
from workbench.models import LDA
from workbench.runs.afterwards.infer import document_completion, with_known_part
from workbench.runs.afterwards.learnt import Topics, checked_numbers, topics_of
from workbench.runs.recorded import model_of
from workbench.runs.scoring import perplexity

TOKENS, HALVES = "p(w|d) of held-out tokens", "p(w|d) of the other half"
FITTED = "p(w|d) of the words that theta was fitted to"
MARGINAL = "p(words of a document | topics)"
BOUNDED, WITH_TOPICS = (
    "bound on p(words of a document | topics)",
    "bound on p(words), which pays for topics",
)
JOINT = "p(words, z) of training tokens"
PERPLEXITY, NATS = "perplexity", "nats per token"
TEST, UNSEEN, TRAIN = "test", "unseen", "train"


class Protocol(NamedTuple):
    """A way to compute a number that is called the perplexity of a topic model."""

    name: str
    # the averaged quantity; numbers with the same quantity can be compared
    quantity: str
    data: str  # "test", "unseen" or "train": whose words are scored
    given: str  # what is conditioned on
    used_by: str  # papers and programs
    differs: str  # how and why it differs from the first protocol
    unit: str = PERPLEXITY


PROTOCOLS = (
    Protocol(
        "held_out_tokens_state",
        TOKENS,
        TEST,
        "theta from the other tokens of the same document, and phi: one state",
        "Teh, Newman & Welling 2007; Welling, Teh & Kappen 2008; test_perplexity of engines that sample nothing",
        "It is the first.",
    ),
    Protocol(
        "held_out_tokens_average",
        TOKENS,
        TEST,
        "the same, p(w|d) of each token averaged over the states after burn-in",
        "Welling, Teh & Kappen 2008 for samplers; test_perplexity of engines that sample",
        "Lower, since the log of a mean is above the mean of the logs: the more so the more the states differ.",
    ),
    Protocol(
        "held_out_tokens_by_document",
        TOKENS + " together, by document",
        TEST,
        "the same, the probability of all held-out tokens of a document averaged over states",
        "samplers that average likelihoods of documents; test_perplexity_by_document",
        "Near the average: the held-out tokens of a document are few, so that averages of their products do not differ much.",
    ),
    Protocol(
        "held_out_tokens_jointly",
        TOKENS + " together",
        TEST,
        "the same, the probability of all held-out tokens of the corpus averaged over states",
        "samplers that average likelihoods of test sets; test_perplexity_joint",
        "Close to that of the best single state, which has nearly all the weight of such an average.",
    ),
    Protocol(
        "document_completion",
        HALVES,
        UNSEEN,
        "theta from a random half of each unseen document, and phi",
        "Asuncion, Welling, Smyth & Teh 2009; Linderman, Johnson & Adams 2015; wb.document_completion; workbench infer",
        "On either side: theta comes from half a document instead of nine tenths, and phi has not seen the document.",
    ),
    Protocol(
        "foldin_same",
        FITTED,
        UNSEEN,
        "theta from the very tokens that are scored, and phi",
        "Heinrich & Goesele 2009; perplexity_foldin_same of wb.infer",
        "Lower as a rule, and no prediction: theta has seen every word that is scored, the more so the more topics there are.",
    ),
    Protocol(
        "left_to_right",
        MARGINAL,
        UNSEEN,
        "phi and alpha; theta is integrated out, nothing of the document is given",
        "Buntine 2009 asks for unbiased estimates; here by particles that are resampled",
        "On either side: the first words of a document are predicted from alpha alone, later ones from all before.",
    ),
    Protocol(
        "left_to_right_by_token",
        MARGINAL,
        UNSEEN,
        "the same",
        "Wallach, Murray, Salakhutdinov & Mimno 2009; evaluate-topics of MALLET",
        "As left_to_right; biased where particles do not forget at once how badly they began, as of short documents.",
    ),
    Protocol(
        "exact",
        MARGINAL,
        UNSEEN,
        "the same, by enumeration of the topics of all tokens",
        "toys, where estimates and bounds are checked",
        "As left_to_right, which estimates it.",
    ),
    Protocol(
        "bound_of_documents",
        BOUNDED,
        UNSEEN,
        "q(phi) of the run; q(theta) and q(z) are fitted to the very words, and paid for",
        "Hoffman, Blei & Bach 2010; Blei, Ng & Jordan 2003 with a point phi",
        "Higher: a lower bound on the log probability that left_to_right estimates is an upper bound on its perplexity.",
    ),
    Protocol(
        "bound_with_topics",
        WITH_TOPICS,
        UNSEEN,
        "the same, with KL(q(phi) || prior) of all topics beside the bound",
        "LatentDirichletAllocation.perplexity of scikit-learn: exp(-bound / tokens)",
        "Higher, and the more so the fewer documents are scored: all topics are paid for by these few tokens.",
    ),
    Protocol(
        "bound_gensim",
        WITH_TOPICS,
        UNSEEN,
        "the same",
        "LdaModel.log_perplexity of gensim: bound / tokens, of natural logarithms",
        "No perplexity: minus the log of bound_with_topics, so that higher is better.",
        NATS,
    ),
    Protocol(
        "bound_gensim_printed",
        WITH_TOPICS,
        UNSEEN,
        "the same",
        "the 'perplexity estimate' in the log of gensim: 2^-(bound / tokens), though the bound is in nats",
        "Far lower: 2 to a power in nats is bound_with_topics to the power of log 2 = 0.69.",
    ),
    Protocol(
        "bound_of_training",
        WITH_TOPICS,
        TRAIN,
        "nothing held out: q(phi), q(theta) and q(z) are fitted to the very words",
        "scikit-learn's perplexity of the training matrix, as it prints with evaluate_every; bound of vb",
        "Of no held-out word at all: words that were learnt from, less what topics and documents cost.",
    ),
    Protocol(
        "joint_of_training",
        JOINT,
        TRAIN,
        "nothing held out: words and the sampled topic of every token together",
        "perplexity and ll_per_word of tomotopy; LL/token of MALLET; log_joint of cgs",
        "Of no held-out word, and higher: the topics of all tokens are paid for too.",
    ),
)
"""All protocols, in the order of the table of `perplexity_audit`."""


N_PARTICLES, N_ESTIMATES, N_SEEDS = 20, 4, 5
"""Particles of a left-to-right estimate; estimates of each document with resampling; seeds for the spread over random halves
and Gibbs sweeps."""
RECORDED = {
    "held_out_tokens_state": "test_perplexity_state",
    "held_out_tokens_average": "test_perplexity_average",
    "held_out_tokens_by_document": "test_perplexity_by_document",
    "held_out_tokens_jointly": "test_perplexity_joint",
}
"""Protocol → name of the recorded variable with its value."""
STATE, AVERAGE = list(RECORDED)[:2]
NOT_GIVEN = {
    TEST: "nothing is held out; give held-out tokens of the training documents (test=…)",
    UNSEEN: "there are no unseen documents; give some (unseen=…), as hold_out_documents sets aside",
    TRAIN: "the training documents are not given; give them (train=…)",
}
ROUNDING = 1e-12
"""Relative rounding error of sums in different orders."""


class AuditEntry(NamedTuple):
    """The perplexity by one protocol, or a note on why it cannot be computed."""

    value: float = math.nan
    n_tokens: int | None = None
    standard_error: float = math.nan
    error_over: str = ""  # the source of randomness
    note: str = ""  # why there is no number


def perplexity_audit(
    run: xr.Dataset,
    train: Corpus | None = None,
    test: Corpus | None = None,
    unseen: Documents = None,
    n_particles: int = N_PARTICLES,
    seed: int = 0,
    n_threads: int = 1,
) -> pd.DataFrame:
    """Return a pandas DataFrame with the perplexity of a run by each protocol of papers and programs.

    Parameters
    ----------
    run : Dataset
        A run of LDA by any engine, with its counts.
    train : Corpus, optional
        Training tokens of the run. Protocols whose data are not given have no value; their ``note`` gives the reason.
    test : Corpus, optional
        Held-out tokens of the training documents, as made by `workbench.hold_out_tokens`. For the run's own test tokens the
        values are those recorded last; for others only the state can be scored.
    unseen : Corpus or texts, optional
        Documents that the run was not trained on. Words outside its vocabulary are left out.
    n_particles : int, default 20
        Particles of each left-to-right estimate, whose time grows with the squared document length; 0 leaves them out.
    seed : int
        Seed of halves, Gibbs sweeps and particles.
    n_threads : int
        Does not change the results.

    Returns
    -------
    DataFrame
        The index is the name of the protocol, see `workbench.measures.perplexity_audit`; columns:

        - ``value``, ``unit``: a perplexity, or nats per token; NaN if it cannot be computed, with the reason in ``note``.
        - ``standard_error`` of the value and ``error_over``, the source of randomness: states after burn-in (for an average by
          their effective number, if it is 100; for one state the standard deviation), halves and sweeps (the standard deviation
          over five seeds), particles. NaN if nothing is random, or there are too few values. For ``left_to_right`` it does not
          include the bias: the log of an unbiased estimate is on average too low by half its variance.
        - ``n_tokens``: number of scored tokens.
        - ``quantity``: the averaged quantity; two numbers can be compared if it is the same.
        - ``data``, ``corpus``, ``used_by``, ``differs``: the scored words, what is conditioned on, papers and programs that use
          the protocol, and how and why it differs from the first row.

    Raises
    ------
    MeasureError, SpecError, CorpusError
        No run of LDA, training tokens of another run, unseen documents without a known word, a corpus in shards, a number out
        of range.

    Wallach, Murray, Salakhutdinov & Mimno (2009) compare such protocols; docs/perplexity.md describes the differences.
    """
    run, n_particles = one_run(run), MeasureError.whole("the number of particles", n_particles, 0)
    spec = spec_of(run)
    if not isinstance(model_of(run), LDA):
        raise MeasureError(
            f"perplexities are audited of runs of LDA; run '{spec.name}' is of engine {spec.engine}, which has "
            "another model; choose a run of LDA"
        )
    topics = topics_of(run, None)
    checked_numbers(seed, n_threads)
    for corpus in filter(None, (train, test)):
        corpus.require_memory("perplexities are audited in memory")
    if train is not None:
        check_training_corpus(run, train)
    entries = _test_entries(run, topics, test) | _training_entries(run, topics, train, n_threads)
    if unseen is not None:
        _, known_documents = with_known_part(topics, unseen)
        entries |= _completion_entries(run, topics, known_documents, seed, n_threads)
        entries |= _marginal_entries(
            topics, known_documents, n_particles, seed, n_threads
        ) | _bound_entries(topics, known_documents, n_threads)
    rows = [
        {
            "value": entry.value,
            "standard_error": entry.standard_error,
            "unit": protocol.unit,
            "n_tokens": entry.n_tokens,
            "quantity": protocol.quantity,
            "data": protocol.data,
            "given": protocol.given,
            "used_by": protocol.used_by,
            "differs": protocol.differs,
            "error_over": entry.error_over,
            "note": entry.note,
        }
        for protocol in PROTOCOLS
        for entry in [entries.get(protocol.name, AuditEntry(note=NOT_GIVEN[protocol.data]))]
    ]
    table = pd.DataFrame(
        rows, index=pd.Index([protocol.name for protocol in PROTOCOLS], name="protocol")
    )
    return table.astype({"n_tokens": "Int64"})


def _test_entries(run: xr.Dataset, topics: Topics, test: Corpus | None) -> dict[str, AuditEntry]:
    """Return the entries for held-out tokens of training documents, recorded by the run or computed for another test set."""
    if test is None or test.content_hash == topics.spec.test:
        return _recorded_entries(run, topics, None if test is None else test.n_tokens)
    if (test.n_documents, test.vocabulary) != (run.sizes["document"], topics.vocabulary):
        raise MeasureError(
            f"the test tokens must be of the {run.sizes['document']:,} training documents and their vocabulary, "
            f"as hold_out_tokens makes them; got {test!r}"
        )
    if test.n_tokens == 0:
        return {}
    phi = word_probabilities(*topics.of_words)
    probability = mixture_probability(np.ascontiguousarray(run["theta"].values), phi, test)
    placeholder = AuditEntry(
        note="averages of these tokens were not recorded; give the test tokens of the run"
    )
    return dict.fromkeys(RECORDED, placeholder) | {
        STATE: AuditEntry(perplexity(test, probability), test.n_tokens)
    }


def _recorded_entries(
    run: xr.Dataset, topics: Topics, n_tokens: int | None
) -> dict[str, AuditEntry]:
    """Return the entries for the last held-out perplexities that the run recorded; {} if nothing was held out."""
    values_by_protocol = {
        name: run[variable].dropna("iteration").values
        for name, variable in RECORDED.items()
        if variable in run
    }
    entries = {
        name: AuditEntry(float(values[-1]), n_tokens)
        for name, values in values_by_protocol.items()
        if len(values)
    }
    if not entries:
        return {}
    if run["test_perplexity"].equals(run["test_perplexity_state"]):
        note = "equals that of the state: the engine samples nothing, or burn-in is not over"
        return dict.fromkeys(RECORDED, AuditEntry(note=note)) | {STATE: entries[STATE]}
    logs = np.log(run["test_perplexity_state"].values[after_burn_in(run)])
    errors = perplexity_errors(run)
    if len(logs) > 1:
        spread = float(np.std(logs, ddof=1)) * entries[STATE].value
        entries[STATE] = entries[STATE]._replace(
            standard_error=spread, error_over="states after burn-in"
        )
    if AVERAGE in entries and errors["source"].item() == CHAIN:
        entries[AVERAGE] = entries[AVERAGE]._replace(
            standard_error=float(errors["mc_error"].item()), error_over="states after burn-in"
        )
    return entries


def _completion_entries(
    run: xr.Dataset, topics: Topics, documents: Corpus, seed: int, n_threads: int
) -> dict[str, AuditEntry]:
    """Return the entries for unseen documents with theta inferred from half of each, or from the scored tokens themselves."""
    score = partial(document_completion, run, documents, n_threads=n_threads)
    entries = {}
    for protocol, error_over in (
        ("document_completion", "halves and Gibbs sweeps"),
        ("foldin_same", "Gibbs sweeps"),
    ):
        try:
            scores = [score(seed=seed + offset, protocol=protocol) for offset in range(N_SEEDS)]
        except CorpusError as error:  # no document of two tokens
            entries[protocol] = AuditEntry(note=str(error))
            continue
        values = [score_of_seed["perplexity"] for score_of_seed in scores]
        spread = float(np.std(values, ddof=1))
        is_random = spread > ROUNDING * values[0]
        entries[protocol] = AuditEntry(
            values[0],
            scores[0]["n_scored"],
            spread if is_random else math.nan,
            error_over if is_random else "",
        )
    return entries


def _marginal_entries(
    topics: Topics, documents: Corpus, n_particles: int, seed: int, n_threads: int
) -> dict[str, AuditEntry]:
    """Return the entries for unseen documents under phi and alpha, with theta integrated out."""
    phi, alpha = word_probabilities(*topics.of_words), topics.of_words.priors.alphas
    entries = dict.fromkeys(
        ("left_to_right", "left_to_right_by_token"),
        AuditEntry(note="no particles; set n_particles"),
    )
    if n_particles:
        estimate = partial(
            left_to_right_logs, documents, phi, alpha, n_particles, seed=seed, n_threads=n_threads
        )
        token_logs, variance = estimate(resample=False)
        sums = (
            mean_of_estimates(estimate(N_ESTIMATES)[0]),
            (float(token_logs.sum()), float(np.sqrt(variance.sum()))),
        )
        errors_over = (
            f"{N_ESTIMATES} times {n_particles} particles",
            f"{n_particles} particles" if n_particles > 1 else "",
        )
        for name, (log, error), error_over in zip(list(entries), sums, errors_over, strict=True):
            value = _perplexity(log, documents)
            entries[name] = AuditEntry(
                value, documents.n_tokens, value * error / documents.n_tokens, error_over
            )
    try:
        entries["exact"] = AuditEntry(
            _perplexity(exact_logs(documents, phi, alpha).sum(), documents), documents.n_tokens
        )
    except MeasureError as error:
        entries["exact"] = AuditEntry(note=str(error))
    return entries


def _bound_entries(topics: Topics, documents: Corpus, n_threads: int) -> dict[str, AuditEntry]:
    """Return the entries for the variational bound on unseen documents, as several programs report it."""
    bound = variational_bound(
        documents, topics.of_words, variational_counts(documents, topics.of_words, n_threads)
    )
    token_bound = sum(bound) / documents.n_tokens
    values = {
        "bound_of_documents": _perplexity(bound.of_documents, documents),
        "bound_with_topics": _perplexity(sum(bound), documents),
        "bound_gensim": token_bound,
        "bound_gensim_printed": float(np.exp2(-token_bound)),
    }
    return {name: AuditEntry(value, documents.n_tokens) for name, value in values.items()}


def _training_entries(
    run: xr.Dataset, topics: Topics, train: Corpus | None, n_threads: int
) -> dict[str, AuditEntry]:
    """Return the entries for training documents: the variational bound, and a sampler's log joint."""
    if train is None:
        return {}
    bound = variational_bound(
        train, topics.of_words, variational_counts(train, topics.of_words, n_threads)
    )
    joint = AuditEntry(
        note="the engine records no log p(words, z); engines that sample every token do, such as cgs"
    )
    if "log_joint" in run:
        value = _perplexity(float(run["log_joint"].values[-1]), train)
        joint = AuditEntry(value, train.n_tokens)
    bound_entry = AuditEntry(_perplexity(sum(bound), train), train.n_tokens)
    return {"bound_of_training": bound_entry, "joint_of_training": joint}


def _perplexity(log_probability: float, documents: Corpus) -> float:
    """Return the perplexity, exp(-log probability per token); infinity on overflow."""
    with np.errstate(over="ignore"):
        return float(np.exp(-log_probability / documents.n_tokens))
