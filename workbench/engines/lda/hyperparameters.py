"""Learning of alpha and beta of LDA (specification of LDA, A.10).

alpha and beta are part of a state. Each step that is due ends with `learn`, given the counts of that step. Which counts
the priors are learnt from is the engine's (`Counts`)::

    vb                E[log theta], E[log phi] of q          Dirichlet likelihood
    svb, cvb0         expected counts                        Polya likelihood of real counts
    cvb               means, variances and P(n = 0) of q     its expectation under q, corrected for counts of 0
    cgs               sampled counts                         Polya likelihood of whole counts
    hybrids           both, mean over the chains             as their variational part, given the sampled counts

What is maximised is then the bound of the engine, or the joint of its sample (Monte-Carlo EM).
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import scipy

from workbench.corpus import Corpus
from workbench.engines.engine import Meeting, Options, State, StepContext
from workbench.engines.lda.likelihoods import Dirichlet, Polya, climb_once, clip, draw_prior
from workbench.errors import Named
from workbench.kernels.lda.polya import real_sites, single_sites, slopes, whole_sites
from workbench.kernels.uniforms import HYPERPARAMETERS
from workbench.models import LDA
from workbench.models.options import OptionError, option

WAYS = ("fixed", "maximised", "sampled")
TINY = 1e-8
"""Smallest shape or rate that is allowed."""


def _way(name: str, of: str):
    meaning = f"{name}, the prior of the {of}: fixed; maximised by one Newton step per update; or sampled under a Gamma prior"
    return option("fixed", meaning, choices=WAYS, late=True)


def _prior(meaning: str, label: str):
    return option(1.0, meaning, low=TINY, late=True, label=label)


@dataclass(frozen=True)
class Learning:
    """Options for learning the priors."""

    learn_alpha: str = _way("alpha", "topics in a document")
    alpha_form: str = option(
        "asymmetric",
        "form of a learnt alpha: one value per topic, or one for all",
        choices=("asymmetric", "symmetric"),
        late=True,
        label="Form of alpha",
    )
    learn_beta: str = _way("beta", "words in a topic")
    learn_after: int = option(
        10, "iterations before the first prior update", low=0, whole=True, late=True
    )
    learn_every: int = option(
        0,
        "iterations between prior updates; 0 = automatic (1, or 10 for samplers)",
        low=0,
        whole=True,
        late=True,
    )
    a_alpha: float = _prior("shape of the Gamma prior on alpha, if it is sampled", "alpha: shape")
    b_alpha: float = _prior("rate of the Gamma prior on alpha, if it is sampled", "alpha: rate")
    a_beta: float = _prior("shape of the Gamma prior on beta, if it is sampled", "beta: shape")
    b_beta: float = _prior("rate of the Gamma prior on beta, if it is sampled", "beta: rate")

    def __post_init__(self):
        getattr(super(), "__post_init__", lambda: None)()  # of the engine's own options
        changed_options = {f.name for f in fields(Learning) if getattr(self, f.name) != f.default}
        if not learnt(self):
            refuse_without_effect(
                changed_options,
                ("learn_after", "learn_every"),
                "nothing is learnt; set ",
                Named("learn_alpha"),
                " or ",
                Named("learn_beta"),
            )
        if self.learn_alpha == "fixed":
            refuse_without_effect(
                changed_options, ("alpha_form",), "alpha is fixed; set ", Named("learn_alpha")
            )
        for name in ("alpha", "beta"):
            if getattr(self, f"learn_{name}") != "sampled":
                needed = Named(f"learn_{name}", "sampled")
                refuse_without_effect(
                    changed_options,
                    (f"a_{name}", f"b_{name}"),
                    f"{name} is not sampled; set ",
                    needed,
                )


def learning(options: type) -> type:
    """Class decorator: add the options for learning priors to an engine's options; returns a frozen dataclass."""
    about = {"__module__": options.__module__, "__doc__": options.__doc__}
    return dataclass(frozen=True)(
        type(options.__name__, (Learning, dataclass(frozen=True)(options)), about)
    )


def refuse_without_effect(changed_options: set, names: tuple, *because) -> None:
    """Raise OptionError, with the reason, if an option among ``names`` was changed that would have no effect."""
    for name in names:
        if name in changed_options:
            raise OptionError(
                Named(name), " would be without effect: ", *because, ", or leave it out"
            )


def learnt(options: Options) -> tuple[str, ...]:
    """Return which of "alpha" and "beta" are learnt."""
    return tuple(
        name
        for name in ("alpha", "beta")
        if getattr(options, f"learn_{name}", "fixed") not in ("fixed", True, False)
    )


def due(options: Options, step: int, samples: bool) -> bool:
    """Return whether priors are updated after this step; ``samples`` says whether the engine samples any token."""
    if not learnt(options) or step < max(options.learn_after, 1):
        return False
    is_variational = not samples and "sampled" not in (options.learn_alpha, options.learn_beta)
    return (step - options.learn_after) % (
        options.learn_every or (1 if is_variational else 10)
    ) == 0


class Counts(NamedTuple):
    """Expected counts, sampled counts, or both, each (row, topic); a row is a document, a word, or all tokens.

    Columns beyond the number of topics are padding. The count of a cell in a chain is the expected plus the sampled count.
    """

    mean: np.ndarray | None = None
    variance: np.ndarray | None = None
    # P(n > 0); only with a variance
    occupied: np.ndarray | None = None
    sampled: np.ndarray | None = None  # (chain, row, topic) whole numbers


class SufficientStatistics(NamedTuple):
    """Counts that determine the likelihood of alpha (per document and topic) or of beta (per word and topic)."""

    cells: Counts  # n_dk, or n_wk
    sizes: Counts  # n_k; unused for alpha, whose sizes N_d come from the corpus


class Prior(NamedTuple):
    """Current values of a learnt prior."""

    name: str  # alpha or beta
    x: np.ndarray  # (group,)
    copies: int  # categories that share each x
    n_topics: int

    @property
    def pooled(self) -> bool:
        """Return whether all categories share one value."""
        return len(self.x) == 1


def prior_of(state: State, options: Options, name: str, n_words: int) -> Prior:
    """Return the current alpha or beta as a `Prior`: one value per topic for asymmetric alpha, else a single value."""
    n_topics = len(state.alpha)
    if name == "beta":
        return Prior(name, np.array([state.beta]), n_words, n_topics)
    if options.alpha_form == "symmetric":
        return Prior(name, np.array([state.alpha.mean()]), n_topics, n_topics)
    return Prior(name, state.alpha, 1, n_topics)


def learn(
    corpus: Corpus,
    options: Options,
    state: State,
    context: StepContext,
    sampled: bool,
    statistics: Callable,
    sums: dict,
    likelihood: Callable = lambda state: polya,
) -> Generator:
    """Combine the sums over all parts of the corpus, and update the learnt priors if due; return the state and these sums.

    sampled : whether any token is sampled
    statistics : (corpus, state, name of the prior) -> `SufficientStatistics`
    sums : further sums to combine over the parts
    likelihood : (state) -> function (corpus, sufficient statistics, prior) -> the likelihood of the prior
    """
    new, names = {}, learnt(options) if due(options, context.step, sampled) else ()
    priors = {name: prior_of(state, options, name, corpus.n_words) for name in names}

    def counts_likelihood(name: str):
        return likelihood(state)(corpus, statistics(corpus, state, name), priors[name])

    part_likelihoods = {name: counts_likelihood(name) for name in names if name == "alpha"}
    state, sums = yield Meeting(
        state, sums | {f"likelihood of {name}": part_likelihoods[name] for name in part_likelihoods}
    )
    for name, prior in priors.items():
        key = f"likelihood of {name}"
        likelihood_of_prior = sums.pop(key) if key in sums else counts_likelihood(name)
        if getattr(options, f"learn_{name}") == "maximised":
            x = climb_once(likelihood_of_prior, clip(prior.x))
        else:
            random = np.random.Generator(
                np.random.Philox(int(context.key(HYPERPARAMETERS, name == "beta")))
            )
            gamma_prior = getattr(options, f"a_{name}"), getattr(options, f"b_{name}")
            x = draw_prior(likelihood_of_prior, clip(prior.x), *gamma_prior, random)
        new[name] = float(x[0]) if name == "beta" else np.full(prior.n_topics, x)
    return state._replace(**new), sums


def watched(options: Options, state: State) -> dict:
    """Return the current values of alpha and beta by name, if learnt."""
    return {name: getattr(state, name) for name in learnt(options)}


def retune(
    corpus: Corpus, model: LDA, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Return the state with the new values of alpha and beta, where changed during the run; the counts stay the same."""
    values = {"alpha": model.alphas, "beta": model.word_prior}
    new = {name: values[name] for name in values if name in context.changed}
    return state._replace(**new), {}


def polya(corpus: Corpus, sufficient_statistics: SufficientStatistics, prior: Prior) -> Polya:
    """Return the Polya likelihood of a prior given counts: whole counts stored by value, real counts by power sums."""
    cells, sizes = sufficient_statistics
    totals = (
        whole_sites([corpus.document_tokens])
        if prior.name == "alpha"
        else topic_sizes(sizes, prior.n_topics)
    )
    if cells.mean is not None:
        return Polya(real_sites(*cells, prior.n_topics, prior.pooled), totals, prior.copies)
    n_chains, counts = len(cells.sampled), cells.sampled[..., : prior.n_topics]
    groups = [counts] if prior.pooled else np.moveaxis(counts, -1, 0)
    return Polya(whole_sites(groups, n_chains), totals, prior.copies, n_chains == 1)


def topic_sizes(sizes: Counts, n_topics: int):
    """Return the nonzero topic sizes n_k in the form (`Sites`) in which the Polya likelihood reads counts."""
    if sizes.mean is not None:
        return real_sites(*sizes, n_topics, True)
    n_k = sizes.sampled[:, 0, :n_topics].ravel().astype(float)
    return single_sites(n_k, 1.0 / len(sizes.sampled))


def dirichlet(
    corpus: Corpus, alpha, sufficient_statistics: SufficientStatistics, prior: Prior
) -> Dirichlet:
    """Return the likelihood of a prior given E[log theta] or E[log phi] under Dirichlet(prior + expected counts).

    Rows without a token are left out: their expectations only echo the prior as it was.
    """
    cells, sizes = sufficient_statistics
    if prior.name == "beta":
        x, copies, totals = prior.x, prior.copies, topic_sizes(sizes, prior.n_topics)
    else:
        alike = prior.pooled and np.all(alpha == alpha[0])
        x, copies = (alpha[:1], prior.copies) if alike else (alpha, 1)
        totals = whole_sites([corpus.document_tokens])
    n_rows, total = totals.weight.sum(), np.array([copies * x.sum()])
    rise, total_term = (
        slopes(*real_sites(*cells, prior.n_topics, len(x) == 1), x)[0],
        slopes(*totals, total)[0],
    )
    log_means = rise + copies * (
        n_rows * (scipy.special.psi(x) - scipy.special.psi(total)) - total_term
    )
    return Dirichlet(
        n_rows, log_means.sum(keepdims=True) if prior.pooled else log_means, prior.copies
    )
