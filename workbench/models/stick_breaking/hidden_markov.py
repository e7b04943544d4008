"""Hidden Markov model of sequences of counts: each row's words come from one of a few states, which follow each other."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.corpus import Corpus
from workbench.models.model import Model, tiny_bag
from workbench.models.options import option
from workbench.models.stick_breaking.scores import GAINS
from workbench.models.variables import Variable


@dataclass(frozen=True)
class HiddenMarkov(Model):
    """The documents of a sequence have hidden states that form a Markov chain; each state is a distribution over words.

    p_0 ~ Dirichlet(1, …, 1), each row P_s ~ Dirichlet(1, …, 1), phi_s ~ Dirichlet(alpha0, …, alpha0); in each sequence
    s_1 ~ p_0, s_t ~ P[s_{t-1}], and the words of document t are x_t ~ Mult(N_t, phi[s_t]). Documents stand in the order of
    their positions; one without words is legal anywhere, and has a state all the same.

    Parameters
    ----------
    n_states : int, default 10
        Hidden states.
    alpha0 : float, default 1
        Dirichlet prior per word type of a state (not its total). The authors' program has 1 for DNA and 10 for text; less is
        better where a text has many words.

    Linderman, Johnson & Adams (2015), sec. 5: the baseline of figure 4. Rabiner (1989), "A tutorial on hidden Markov models".
    """

    scores = (GAINS,)

    n_states: int = option(10, "number of hidden states", low=1, high=1000, whole=True, size=True)
    alpha0: float = option(1.0, "Dirichlet prior per word in each state", low=1e-3, high=1e6)

    @property
    def size_label(self) -> tuple[str, int]:
        """Return the symbol and value of the size that names and titles of runs show."""
        return "S", self.n_states

    def for_data(self, corpus: Corpus) -> HiddenMarkov:
        """Return the model for a corpus; raise ModelError unless its documents form sequences."""
        _ = corpus.by_sequence  # a DataError where they do not
        return self

    def dims(self, corpus: Corpus | None = None) -> dict[str, int]:
        """Return the length of each dimension, those of the corpus too if it is given."""
        return super().dims(corpus) | {"hidden_state": self.n_states, "to_state": self.n_states}

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: the drawn parameters, and the state probabilities of each document."""
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
        """Return that alpha0 is fixed."""
        return {"alpha0": "fixed"}

    def tiny(self, most: int = 9) -> Corpus:
        """Return a sequence of two documents for compiling kernels; ``most`` is its largest count."""
        return tiny_bag(most, sequence=(("tiny", 1), ("tiny", 2)))
