"""The shared vocabulary: every array that leaves an engine, with its dims, unit and one sentence.

These become the attributes of a run's Dataset, the labels of axes, the tooltips and the docs.
"""

from __future__ import annotations

from typing import NamedTuple


class Variable(NamedTuple):
    """A named array: dims in order, unit (empty: a pure number) and what it means."""

    name: str
    dims: tuple[str, ...]
    unit: str
    meaning: str

    @property
    def attrs(self) -> dict[str, str]:
        """What xarray shows of it."""
        return {"long_name": self.meaning, "units": self.unit}


def _variables(*rows: Variable) -> dict[str, Variable]:
    return {row.name: row for row in rows}


VARIABLES = _variables(
    Variable(
        "test_perplexity", ("iteration",), "", "held-out perplexity: running average for sampling engines, plug-in otherwise"
    ),
    Variable("test_perplexity_state", ("iteration",), "", "held-out perplexity of the current state alone"),
    Variable(
        "test_perplexity_average", ("iteration",), "", "held-out perplexity of the running average of p(w|d) after burn-in"
    ),
    Variable("train_perplexity", ("iteration",), "", "perplexity of the training tokens given the current state"),
    Variable("log_joint", ("iteration",), "nats", "log p(words, topics) of the sampled state, all constants included"),
    Variable("bound", ("iteration",), "nats", "variational lower bound on log p(words), all constants included"),
    Variable(
        "objective", ("iteration",), "nats",
        "entropy of the variational part plus log joint of expected and sampled counts; no bound unless r = 0",
    ),
    Variable("change", ("iteration",), "", "largest change of a responsibility in the iteration"),
    Variable("moved", ("iteration",), "", "share of the sampled tokens that changed topic"),
    Variable("n_k", ("iteration", "topic"), "tokens", "(expected) tokens of each topic"),
    Variable("elapsed", ("iteration",), "s", "seconds of inference so far, measuring and storing not counted"),
    Variable("cpu_time", ("iteration",), "s", "CPU seconds of inference so far, measuring and storing not counted"),
    Variable("updates", ("iteration",), "", "site updates so far: tokens sampled plus pairs updated, times samples"),
    Variable("n_kw", ("snapshot", "topic", "word"), "tokens", "(expected) tokens of each word in each topic"),
    Variable("n_dk", ("snapshot", "document", "topic"), "tokens", "(expected) tokens of each document in each topic"),
    Variable("theta", ("document", "topic"), "", "topic proportions of each document, posterior mean given the last state"),
    Variable("phi", ("topic", "word"), "", "word probabilities of each topic, posterior mean given the last state"),
    Variable("n_tokens", ("document",), "tokens", "tokens of each document, of unknown words too"),
    Variable("out_of_vocabulary", ("document",), "", "share of the tokens whose word the run does not know; 0 without tokens"),
)
