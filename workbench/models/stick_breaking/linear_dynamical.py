"""Models of sequences of counts: linear dynamical systems and hidden Markov models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import Named
from workbench.kernels.stick_breaking.sticks import sticks_of
from workbench.models.model import Model, ModelError, tiny_bag
from workbench.models.options import option
from workbench.models.stick_breaking.orders import Ordered, permutation_of_words, word_order_option
from workbench.models.stick_breaking.scores import GAINS
from workbench.models.variables import Variable

SMOOTHING = 0.1
"""Pseudo-count of each word in the offset."""
STATES = (
    Variable(
        "states", ("snapshot", "document", "state_dim"), "", "state of each document (z), as drawn"
    ),
    Variable(
        "running_states",
        ("snapshot", "document", "state_dim"),
        "",
        "mean of the drawn states so far; of states that mean the "
        "same from iteration to iteration, as those of a chain that does not turn them",
    ),
    Variable(
        "running_states_deviation",
        ("snapshot", "document", "state_dim"),
        "",
        "standard deviation of these draws",
    ),
    Variable(
        "system",
        ("snapshot", "state_dim", "other_state_dim"),
        "",
        "what a state is multiplied by (A), as drawn",
    ),
    Variable(
        "system_noise",
        ("snapshot", "state_dim", "other_state_dim"),
        "",
        "covariance of what comes to it (B), as drawn",
    ),
)
MEANS = (
    Variable(
        "states_mean",
        ("document", "state_dim"),
        "",
        "mean over iterations of the state of each document",
    ),
    Variable(
        "states_deviation",
        ("document", "state_dim"),
        "",
        "standard deviation over iterations of these",
    ),
)


class SystemPrior(NamedTuple):
    """Prior of a linear system (A, B): B ~ IW(nu, scale), A | B ~ MN(mean, B, inverse of precision)."""

    mean: np.ndarray  # (state_dim, input): inputs are the state, and 1 if there is an offset
    precision: np.ndarray  # (input, input)
    nu: float
    scale: np.ndarray  # (state_dim, state_dim)


@dataclass(frozen=True)
class StateSpace(Model):
    """Base class of models in which each document of a sequence has a hidden state of a linear dynamical system.

    z_1 ~ N(0, I), z_t = A z_{t-1} + N(0, B); B ~ IW(D + 1, I), A | B ~ matrix normal of mean 0, row
    covariance B and column precision I. Sequences have separate states and share A and B.
    """

    scores = (GAINS,)

    state_dim: int = option(
        10, "state dimension D", low=1, high=1000, whole=True, size=True, label="State dimension"
    )

    @property
    def size_label(self) -> tuple[str, int]:
        """Symbol and value of the model's size in names of runs."""
        return "D", self.state_dim

    @property
    def system_prior(self) -> SystemPrior:
        """Prior of A and B, the matrix and noise covariance of the state dynamics."""
        n = self.state_dim
        return SystemPrior(np.zeros((n, n)), np.eye(n), n + 1.0, np.eye(n))

    @property
    def first_state(self) -> tuple[np.ndarray, np.ndarray]:
        """Prior mean (state_dim,) and covariance (state_dim, state_dim) of the first state of a sequence."""
        return np.zeros(self.state_dim), np.eye(self.state_dim)

    def for_data(self, corpus: Corpus) -> Self:
        """Return the model itself; raise ModelError if no sequence has at least ``state_dim`` documents with tokens."""
        sequences = corpus.by_sequence
        sequence_numbers = np.repeat(np.arange(len(sequences.names)), np.diff(sequences.indptr))
        lengths = np.bincount(sequence_numbers, corpus.document_tokens[sequences.documents] > 0)
        if lengths.max() == 0:
            raise ModelError(
                f"every document of {corpus.name!r} is empty, so that there is nothing to learn from; hold out fewer rows",
                value=corpus.name,
            )
        if self.state_dim > lengths.max():
            raise ModelError(
                Named("state_dim", self.state_dim),
                " must be at most the number of documents with tokens in the longest "
                f"sequence, {int(lengths.max())}; choose a smaller state dimension, or give longer sequences",
                value=self.state_dim,
            )
        return self

    def dims(self, data=None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``data`` only of dimensions set by the model."""
        return super().dims(data) | {
            "state_dim": self.state_dim,
            "other_state_dim": self.state_dim,
        }

    def tiny(self, most: int = 9) -> Corpus:
        """Return a corpus of one sequence for compiling kernels, with a document per state dimension, at least two."""
        n = max(self.state_dim, 2)
        return Corpus.from_pairs(
            [*range(n), 1],
            [t % 2 for t in range(n)] + [2],
            [max(most, 1)] * n + [1],
            sequence=[("tiny", t) for t in range(n)],
        )


@dataclass(frozen=True)
class LinearDynamicalSystem(Ordered, StateSpace):
    """The linear dynamical system with stick-breaking: hidden states of a sequence's documents give the sticks of words.

    z_1 ~ N(0, I), z_t = A z_{t-1} + N(0, B); psi_t = C z_t + d; x_t ~ Mult(N_t, pi(psi_t)) by stick-breaking, one stick for
    each word but the last. Sequences have separate states and share A, B, C and d. Documents without tokens are allowed
    anywhere; those at the end of a sequence are forecast.

    B ~ IW(D + 1, I), A | B ~ matrix normal of mean 0, row covariance B and column precision I; rows of C ~ N(0, sigma_c2 I).

    Parameters
    ----------
    state_dim : int, default 10
        D, the state dimension.
    sigma_c2 : float, default 1
        Variance of the entries of C; the initial value if it is learnt.
    learn_sigma_c2 : bool
        Whether it is sampled, with an inverse gamma prior of shape ``a_sigma_c2`` and scale ``b_sigma_c2``.
    offset : "frequencies" or "uniform"
        d: the sticks of (n_w + 0.1) / (N + 0.1 W) for the training counts n_w of each word, or those of equal probabilities.
    order : "size", "vocabulary", "random", or a permutation of the W words as text
        Order of the words on the stick: most frequent first, as in the vocabulary, random, or ranks by frequency, such as
        "2,0,1". It changes the prior and how fast the sampler mixes.
    order_seed : int
        Seed of the random order.

    Raises
    ------
    ModelError

    Linderman, Johnson & Adams (2015), sec. 5, with the offset of the authors' program; spec D.
    """

    sigma_c2: float = option(
        1.0,
        "variance of the entries of C (initial value, if it is learnt)",
        low=1e-9,
        high=1e9,
        label="Variance of C",
    )
    learn_sigma_c2: bool = option(
        False, "draw the variance of the entries of C", label="Learn variance of C"
    )
    a_sigma_c2: float = option(
        2.0,
        "shape of the inverse gamma prior of sigma_c2",
        low=1e-6,
        high=1e9,
        label="Variance of C: shape",
    )
    b_sigma_c2: float = option(
        1.0,
        "scale of the inverse gamma prior of sigma_c2",
        low=1e-9,
        high=1e9,
        label="Variance of C: scale",
    )
    offset: str = option(
        "frequencies",
        "word probabilities at state 0: smoothed training frequencies, or uniform",
        choices=("frequencies", "uniform"),
    )
    order: str = word_order_option()
    order_seed: int = option(
        0, "seed of the random order of the stick", low=0, whole=True, label="Seed of the order"
    )

    psi_dim = "stick"
    """Name of the row dimension of C and d."""

    def __post_init__(self):
        if self.order not in ("size", "vocabulary", "random"):
            object.__setattr__(self, "order", permutation_of_words(self.order))

    def for_data(self, corpus: Corpus) -> LinearDynamicalSystem:
        """Return the model itself; raise ModelError if sequences are too short or the order does not fit."""
        super().for_data(corpus)
        self.check_order(corpus.n_words, "words")
        return self

    def word_order(self, corpus: Corpus) -> np.ndarray:
        """Return the ids of words in stick order, (word,)."""
        return self.stick_order(np.bincount(corpus.words, corpus.counts, corpus.n_words))

    def offset_probabilities(self, corpus: Corpus) -> np.ndarray:
        """Return the word probabilities (word,) at hidden state 0, with words in stick order."""
        if self.offset == "uniform":
            return np.full(corpus.n_words, 1.0 / corpus.n_words)
        counts = np.bincount(corpus.words, corpus.counts, corpus.n_words)[self.word_order(corpus)]
        return (counts + SMOOTHING) / (counts.sum() + SMOOTHING * len(counts))

    def offset_of(self, corpus: Corpus) -> np.ndarray:
        """Return d (stick,), the sticks at hidden state 0."""
        return sticks_of(np.log(self.offset_probabilities(corpus)))

    def dims(self, corpus: Corpus | None = None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``corpus`` only of dimensions set by the model."""
        if corpus is None:
            return super().dims()
        # all words but the last have a stick
        n_rows = corpus.n_words - (self.psi_dim == "stick")
        return super().dims(corpus) | {self.psi_dim: n_rows}

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: states, and parameters of the dynamics and emissions."""
        variance = Variable(
            "sigma_c2", ("iteration",), "", "variance of the entries of C, as drawn"
        )
        return (
            *(variance,) * self.learn_sigma_c2,
            *STATES,
            Variable(
                "loadings",
                ("snapshot", self.psi_dim, "state_dim"),
                "",
                "what psi has of a state (C), as drawn",
            ),
            Variable("offset", (self.psi_dim,), "", "psi at a state of 0 (d)"),
            Variable(
                "stick_words",
                ("word",),
                "",
                "number of the word that is first on the stick, second, …",
                "int64",
            ),
            *MEANS,
        )

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, np.ndarray]:
        """Return d, the stick order of words, and means and standard deviations of states over iterations."""
        return {
            "offset": self.offset_of(corpus),
            "stick_words": self.word_order(corpus),
            "states_mean": np.asarray(last["running_states"]),
            "states_deviation": np.asarray(last["running_states_deviation"]),
        }

    def hyperparameters(self, options) -> dict[str, str]:
        """Return {"sigma_c2": "fixed" or "sampled"}, for the prior variance of C."""
        return {"sigma_c2": "sampled" if self.learn_sigma_c2 else "fixed"}


@dataclass(frozen=True)
class LogisticNormalSystem(LinearDynamicalSystem):
    """The linear dynamical system with softmax: hidden states of a sequence's documents give the log odds of words.

    As `LinearDynamicalSystem`, but x_t ~ Mult(N_t, softmax(psi_t)) with a row of C and d for each word; d is the log of the
    same probabilities. The order of the words has no effect. The prior of A and B has the weight of D steps: B ~
    IW(D + 1, D I), A | B of column precision D I, as in the authors' program.

    Linderman, Johnson & Adams (2015), sec. 5; spec D.4.
    """

    psi_dim = "component"

    @property
    def system_prior(self) -> SystemPrior:
        """Prior of A and B, the matrix and noise covariance of the state dynamics."""
        mean, precision, nu, scale = super().system_prior
        return SystemPrior(mean, self.state_dim * precision, nu, self.state_dim * scale)

    def offset_of(self, corpus: Corpus) -> np.ndarray:
        """Return d (component,), the log word probabilities at hidden state 0."""
        return np.log(self.offset_probabilities(corpus))


@dataclass(frozen=True)
class GaussianDynamicalSystem(StateSpace):
    """The raw linear dynamical system: word shares of documents are Gaussian around a linear function of hidden states.

    z_1 ~ N(0, I), z_t = A z_{t-1} + N(0, B), as in `LinearDynamicalSystem`; x_t / N_t - m = C z_t + N(0, R), m the training
    frequencies; R ~ IW(W + 1, W I), C | R ~ matrix normal of mean 0, row covariance R and column precision W I, for W words.

    Parameters
    ----------
    state_dim : int, default 10
        D, the state dimension.

    Raises
    ------
    ModelError

    Linderman, Johnson & Adams (2015), sec. 5: raw LDS; spec D.5.
    """

    psi_dim = "word"

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: states, and parameters of the dynamics and emissions."""
        return (
            *STATES,
            Variable(
                "loadings",
                ("snapshot", "word", "state_dim"),
                "",
                "what shares have of a state (C), as drawn",
            ),
            Variable("offset", ("word",), "", "shares at a state of 0: the training frequencies"),
            *MEANS,
        )

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, np.ndarray]:
        """Return training word frequencies, and means and standard deviations of states over iterations."""
        return {
            "offset": np.bincount(corpus.words, corpus.counts, corpus.n_words) / corpus.n_tokens,
            "states_mean": np.asarray(last["running_states"]),
            "states_deviation": np.asarray(last["running_states_deviation"]),
        }


@dataclass(frozen=True)
class HiddenMarkov(Model):
    """The hidden Markov model of sequences of documents; each state has a distribution over words.

    p_0 ~ Dirichlet(1, …, 1), each row P_s ~ Dirichlet(1, …, 1), phi_s ~ Dirichlet(alpha0, …, alpha0); in each sequence
    s_1 ~ p_0, s_t ~ P[s_{t-1}], and the words of document t are x_t ~ Mult(N_t, phi[s_t]). Documents are ordered by their
    positions; documents without words are allowed anywhere and have states, too.

    Parameters
    ----------
    n_states : int, default 10
        Number of hidden states.
    alpha0 : float, default 1
        Dirichlet prior per word type of a state (not its total). The authors' program has 1 for DNA and 10 for text; smaller
        values are better for large vocabularies.

    Linderman, Johnson & Adams (2015), sec. 5: the baseline of figure 4. Rabiner (1989), "A tutorial on hidden Markov models".
    """

    scores = (GAINS,)

    n_states: int = option(
        10, "number of hidden states", low=1, high=1000, whole=True, size=True, label="States"
    )
    alpha0: float = option(
        1.0, "Dirichlet prior per word in each state", low=1e-3, high=1e6, label="Prior of words"
    )

    @property
    def size_label(self) -> tuple[str, int]:
        """Symbol and value of the number of hidden states, for names of runs."""
        return "S", self.n_states

    def for_data(self, corpus: Corpus) -> HiddenMarkov:
        """Return the model itself; raise DataError if the corpus has no sequences."""
        _ = corpus.by_sequence  # a DataError where they do not
        return self

    def dims(self, corpus: Corpus | None = None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``corpus`` only of dimensions set by the model."""
        return super().dims(corpus) | {"hidden_state": self.n_states, "to_state": self.n_states}

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: the parameters, and the state probabilities of each document."""
        return (
            Variable(
                "first_state",
                ("snapshot", "hidden_state"),
                "",
                "probability of each state to be first (p_0), as drawn",
            ),
            Variable(
                "transitions",
                ("snapshot", "hidden_state", "to_state"),
                "",
                "probability of a state to follow another (P), as drawn",
            ),
            Variable(
                "emissions",
                ("snapshot", "hidden_state", "word"),
                "",
                "word probabilities of each state (phi), as drawn",
            ),
            Variable(
                "state_probability",
                ("snapshot", "document", "hidden_state"),
                "",
                "probability of each state in each document, given all words of its sequence and the parameters drawn",
            ),
        )

    def hyperparameters(self, options) -> dict[str, str]:
        """Return {"alpha0": "fixed"}: the prior of the word distributions is not learnt."""
        return {"alpha0": "fixed"}

    def tiny(self, most: int = 9) -> Corpus:
        """Return a corpus of one sequence of two documents, for compiling kernels, with the counts of `tiny_bag`."""
        return tiny_bag(most, sequence=(("tiny", 1), ("tiny", 2)))
