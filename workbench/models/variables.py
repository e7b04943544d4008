"""The shared vocabulary: every array that leaves an engine, with its dims, unit and one sentence.

These become the attributes of a run's Dataset, the labels of axes, the tooltips and the docs.
"""

from __future__ import annotations

from typing import NamedTuple


class Variable(NamedTuple):
    """A named array: dims in order, unit (empty: a pure number), what it means, and its type where it is kept."""

    name: str
    dims: tuple[str, ...]
    unit: str
    meaning: str
    dtype: str = "float64"

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
    Variable(
        "scan", ("iteration",), "", "order of the tokens, mean over chains: 0 document after document, 1 word after word"
    ),
    Variable(
        "collapsed_bound", ("iteration",), "nats",
        "variational bound of the collapsed model, its expectations by the improved second-order expansion",
    ),
    Variable("n_k", ("iteration", "topic"), "tokens", "(expected) tokens of each topic"),
    Variable("alpha", ("iteration", "topic"), "", "prior of each topic in a document, as learnt"),
    Variable("beta", ("iteration",), "", "prior of each word in a topic, as learnt"),
    Variable("alpha_total", ("iteration",), "", "sum of the priors of all topics in a document, those without a token too"),
    Variable("beta_total", ("iteration",), "", "sum of the priors of all words in a topic"),
    Variable("top_concentration", ("iteration",), "", "concentration of the weights of the topics (gamma of the HDP)"),
    Variable("n_active_topics", ("iteration",), "topics", "topics with at least one (expected) token"),
    Variable("n_large_topics", ("iteration",), "topics", "topics with at least a hundredth of all tokens"),
    Variable("effective_topics", ("iteration",), "topics", "exponential of the entropy of the topics' shares of the tokens"),
    Variable("steps", ("iteration",), "", "topics of each iteration, summed over the iterations so far"),
    Variable("move", ("iteration",), "", "what was tried after the sweep: 0 nothing, 1 a split, 2 a merge"),
    Variable("move_accepted", ("iteration",), "", "1 if the bound kept the move, 0 if it was taken back"),
    Variable("move_gain", ("iteration",), "nats", "bound with the move less the bound without it"),
    Variable("move_from", ("iteration",), "", "the topic that was split, or merged into the other"),
    Variable("move_to", ("iteration",), "", "the topic that took in the tokens"),
    Variable("elapsed", ("iteration",), "s", "seconds of inference so far, measuring and storing not counted"),
    Variable("cpu_time", ("iteration",), "s", "CPU seconds of inference so far, measuring and storing not counted"),
    Variable("updates", ("iteration",), "", "site updates so far: tokens sampled plus pairs updated, times samples"),
    Variable("n_kw", ("snapshot", "topic", "word"), "tokens", "(expected) tokens of each word in each topic"),
    Variable("n_dk", ("snapshot", "document", "topic"), "tokens", "(expected) tokens of each document in each topic"),
    Variable(
        "token_topics", ("snapshot", "token"), "", "topic of each token of the training corpus, in canonical order", "uint16"
    ),
    Variable("tau", ("snapshot", "word"), "", "base distribution of the topics over words, as learnt"),
    Variable("theta", ("document", "topic"), "", "topic proportions of each document, posterior mean given the last state"),
    Variable("phi", ("topic", "word"), "", "word probabilities of each topic, posterior mean given the last state"),
    Variable("n_tokens", ("document",), "tokens", "tokens of each document, of unknown words too"),
    Variable("out_of_vocabulary", ("document",), "", "share of the tokens whose word the run does not know; 0 without tokens"),
)
