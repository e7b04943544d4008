"""Topic models over years: topics change by random walks, or their prevalence follows a linear system."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.times import years_of
from workbench.kernels.stick_breaking.sticks import dirichlet_moments, probabilities
from workbench.models.lda import LDA
from workbench.models.model import Priors, TopicModel, tiny_bag
from workbench.models.options import option
from workbench.models.stick_breaking.correlated_topics import OrderedTopics
from workbench.models.stick_breaking.linear_dynamical import SystemPrior
from workbench.models.stick_breaking.orders import order_option
from workbench.models.variables import VARIABLES, Variable

PREVALENCE = Variable(
    "prevalence",
    ("time", "topic"),
    "",
    "share of each topic in the tokens of a year; NaN without tokens",
)


class TopicsOverYears(TopicModel):
    """Base class of topic models whose documents have years, taken from ``times`` of the corpus."""

    def for_data(self, corpus: Corpus) -> Self:
        """Return the model itself; raise DataError if the documents have no years."""
        years_of(corpus)
        return super().for_data(corpus)

    def dims(self, data=None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``data`` only of dimensions set by the model."""
        return super().dims(data) | ({} if data is None else {"time": years_of(data).n})

    def coords(self, data) -> dict[str, tuple]:
        """Return the coordinates of a run's Dataset: documents, words and years."""
        return super().coords(data) | {"time": (years_of(data).labels, "year")}

    def tiny(self, most: int = 9) -> Corpus:
        """Return a corpus of two documents of two years, for compiling kernels, with the counts of `tiny_bag`."""
        return tiny_bag(most, times=(2000, 2001))


@dataclass(frozen=True)
class DynamicTopics(TopicsOverYears):
    """The dynamic topic model: the word distributions of topics change from year to year by random walks.

    theta_d ~ Dirichlet(alpha_1, …, alpha_K); phi_tk = pi(psi_tk) by stick-breaking, words by decreasing tokens;
    psi_1kv ~ N(m_v, s_v), the moments of phi ~ Dirichlet(word_alpha); psi_tkv ~ N(psi_{t-1,kv}, q); each token of a document of
    year t draws z ~ theta_d and w ~ phi_tz.

    The years are the ``times`` of the corpus, whole numbers. Years without documents between the first and the last are
    included. With a single year the model is a topic model whose topics have this prior.

    Parameters
    ----------
    n_topics : int
    alpha : float or one per topic, default 0.1
        Dirichlet prior per topic (not its total).
    q : float, default 0.1
        Variance of a stick's step from one year to the next; the initial value if it is learnt.
    learn_q : bool
        Whether q, the same for all sticks, is sampled with an inverse gamma prior (a_q, b_q).
    word_alpha : float, default 2
        Dirichlet prior per word type whose mean and variance the sticks of the first year match.

    Raises
    ------
    ModelError

    Blei & Lafferty (2006), "Dynamic topic models"; by stick-breaking: Linderman, Johnson & Adams (2015).
    """

    warm_starts = True
    takes = ("n_topics", "alpha")

    n_topics: int = 10
    alpha: float | tuple[float, ...] = 0.1
    q: float = option(
        0.1,
        "variance of a stick's step from year to year (initial value, if it is learnt)",
        low=1e-9,
        high=1e6,
        label="Step variance q",
    )
    learn_q: bool = option(False, "draw q, shared by all sticks")
    a_q: float = option(2.0, "shape of the inverse gamma prior of q", low=1e-3, label="q: shape")
    b_q: float = option(0.1, "scale of the inverse gamma prior of q", low=1e-9, label="q: scale")
    word_alpha: float = option(
        2.0,
        "Dirichlet prior per word in the first year, matched by its sticks",
        low=1e-3,
        label="Prior of words",
    )

    def __post_init__(self):
        checked = LDA(self.n_topics, self.alpha)
        object.__setattr__(self, "n_topics", checked.n_topics)
        object.__setattr__(self, "alpha", checked.alpha)

    @property
    def alphas(self) -> np.ndarray:
        """Prior of each topic in a document, (topic,)."""
        return np.full(self.n_topics, self.alpha, float)

    def first_year(self, n_words: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the prior mean and variance (stick,) of the sticks in the first year."""
        return dirichlet_moments(np.full(n_words, self.word_alpha))

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, phi of every year, and q if it is learnt."""
        variables = [
            Variable(
                "q",
                ("iteration",),
                "",
                "variance of a stick's step from a year to the next, as drawn",
            )
        ]
        return (
            VARIABLES["n_k"],
            *variables[: self.learn_q],
            VARIABLES["n_kw"],
            VARIABLES["n_dk"],
            Variable(
                "phi_by_time",
                ("snapshot", "time", "topic", "word"),
                "",
                "word probabilities of each topic in each year, as drawn",
                "float32",
            ),
            PREVALENCE,
        )

    def priors(self, last: Mapping) -> Priors:
        """Return alpha and the Dirichlet prior of words in the first year; later years have no Dirichlet prior."""
        return Priors(self.alphas, self.word_alpha)

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, np.ndarray]:
        """Return ``theta``; ``phi`` (topic, word), averaged over years with the topic's tokens as weights; and ``prevalence``.

        theta is the posterior mean given the counts of a snapshot, phi is as drawn. A year's weight is the expected number of
        tokens of the topic in its documents, which is positive even for a topic without tokens.
        """
        theta, years = self.priors(last).theta(np.asarray(last["n_dk"], float)), years_of(corpus)
        weights = by_year(theta * corpus.document_tokens[:, None], years)
        phi_of_years, phi = (
            np.asarray(last["phi_by_time"]),
            np.zeros((self.n_topics, corpus.n_words)),
        )
        for weight, phi_of_year in zip(weights, phi_of_years, strict=True):
            phi += weight[:, None] * phi_of_year
        phi /= phi.sum(axis=1, keepdims=True)
        return {
            "theta": theta,
            "phi": phi,
            "prevalence": shares_of(by_year(np.asarray(last["n_dk"], float), years)),
        }

    def hyperparameters(self, options) -> dict[str, str]:
        """Return name → "fixed" or "sampled" for alpha and q."""
        return {"alpha": "fixed", "q": "sampled" if self.learn_q else "fixed"}


def by_year(values: np.ndarray, years) -> np.ndarray:
    """Return the sums (year, topic) of an array (document, topic) over the documents of each year."""
    total = np.zeros((years.n, values.shape[1]))
    np.add.at(total, years.of_documents, values)
    return total


def shares_of(tokens: np.ndarray) -> np.ndarray:
    """Return the share (year, topic) of each topic in the tokens of a year; NaN for years without tokens."""
    sizes = tokens.sum(axis=1, keepdims=True)
    return np.divide(tokens, sizes, out=np.full(tokens.shape, np.nan), where=sizes > 0)


N_DRAWS = 2000
"""Antithetic pairs of draws for the expected prevalence of a year; the error of a share is about 0.003."""


@dataclass(frozen=True)
class EvolvingPrevalence(OrderedTopics, TopicsOverYears):
    """The correlated topic model in which the mean sticks of documents follow a linear system over the years.

    psi_1 ~ N(m, S), the moments of theta ~ Dirichlet(1); psi_t ~ N(A psi_{t-1} + b, Q), one stick for each topic but the last;
    a document of year t has sticks psi_d ~ N(psi_t, Sigma), or shares the sticks of its year; theta_d = pi(psi_d) by
    stick-breaking; phi_k ~ Dirichlet(beta, …, beta); each token draws z ~ theta_d and w ~ phi_z.

    A, b and Q are matrix-normal-inverse-Wishart: a priori a random walk (A = I, b = 0) with step variance
    ``step_variance`` and the weight of one year. Sigma is inverse Wishart with the variances S. Both have T + 1 degrees of
    freedom, the smallest integer with finite mean. The years are the ``times`` of the corpus, as in `DynamicTopics`.

    Parameters
    ----------
    n_topics : int
    beta : float, default 0.1
        Dirichlet prior per word type (not its total).
    documents : "own" or "shared"
        Whether each document has its own sticks or shares those of its year.
    step_variance : float, default 0.1
        Diagonal of the prior mean of Q.
    order : "size", "random", or a permutation of the T topics as text
        Order of the topics on the stick; see `CorrelatedTopics`.
    order_seed : int
        Seed of the random order.

    Raises
    ------
    ModelError

    Linderman, Johnson & Adams (2015), sec. 3 and 5.
    """

    documents: str = option(
        "own",
        "sticks per document (own), or one set per year (shared)",
        choices=("own", "shared"),
        label="Sticks of documents",
    )
    step_variance: float = option(
        0.1,
        "prior mean of the variance of a stick's step from year to year",
        low=1e-9,
        high=1e6,
        label="Step variance",
    )
    order: str = order_option()
    order_seed: int = option(
        0, "seed of the random order of the stick", low=0, whole=True, label="Seed of the order"
    )

    @property
    def first_year(self) -> tuple[np.ndarray, np.ndarray]:
        """Prior mean (stick,) and covariance (stick, stick) of the sticks of the first year."""
        mean, variance = dirichlet_moments(np.ones(self.n_topics))
        return mean, np.diag(variance)

    @property
    def system_prior(self) -> SystemPrior:
        """Prior of A, b and Q, the parameters of the linear system over the years."""
        n = self.n_topics - 1
        return SystemPrior(np.eye(n, n + 1), np.eye(n + 1), n + 2.0, self.step_variance * np.eye(n))

    @property
    def documents_prior(self) -> tuple[float, np.ndarray]:
        """Inverse Wishart prior (nu, scale) of Sigma, the covariance of documents of one year."""
        return self.n_topics + 1.0, self.first_year[1]

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: counts, sticks of documents and years, Sigma, A, b and Q."""
        square = ("snapshot", "stick", "other_stick")
        return (
            *(VARIABLES[name] for name in ("n_k", "n_kw", "n_dk")),
            Variable(
                "psi",
                ("snapshot", "document", "stick"),
                "",
                "sticks of each document: psi of theta = pi(psi), as drawn",
            ),
            Variable(
                "psi_by_time",
                ("snapshot", "time", "stick"),
                "",
                "sticks of each year (psi_t), as drawn",
            ),
            Variable(
                "psi_within",
                square,
                "",
                "covariance of the sticks of documents around their year's (Sigma), as drawn",
            ),
            Variable("system", square, "", "what a year's sticks are multiplied by (A), as drawn"),
            Variable(
                "system_offset", ("snapshot", "stick"), "", "what is added to them (b), as drawn"
            ),
            Variable(
                "system_noise",
                square,
                "",
                "covariance of what comes to them at random (Q), as drawn",
            ),
            PREVALENCE,
            Variable(
                "expected_prevalence",
                ("time", "topic"),
                "",
                "mean of theta in a year, given its sticks and Sigma",
            ),
        )

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, np.ndarray]:
        """Return ``theta``, ``phi``, and two prevalences (year, topic): shares of tokens, and expected theta."""
        return {
            "theta": probabilities(np.asarray(last["psi"])),
            "phi": self.priors(last).phi(np.asarray(last["n_kw"])),
            "prevalence": shares_of(by_year(np.asarray(last["n_dk"], float), years_of(corpus))),
            "expected_prevalence": self.expected_prevalence(
                np.asarray(last["psi_by_time"]), np.asarray(last["psi_within"])
            ),
        }

    def expected_prevalence(self, states: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        """Return E[theta] (year, topic) of a document of each year, given that year's sticks."""
        if self.documents == "shared":
            return probabilities(states)
        draws = (
            np.random.default_rng(0).normal(size=(N_DRAWS, states.shape[1]))
            @ np.linalg.cholesky(covariance).T
        )
        draws = np.concatenate([draws, -draws])
        return np.stack([probabilities(year_sticks + draws).mean(axis=0) for year_sticks in states])
