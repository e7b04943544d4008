"""All recorded arrays of engines: name, dimensions, unit and meaning.

These become the attributes of a run's Dataset, the labels of axes, the tooltips and the docs.
"""

from typing import NamedTuple


class Variable(NamedTuple):
    """Description of a recorded array: dims, unit, meaning, type, and for scores whether higher or lower is better."""

    name: str
    dims: tuple[str, ...]
    unit: str
    meaning: str
    dtype: str = "float64"
    better: str = ""

    @property
    def attrs(self) -> dict[str, str]:
        """Attributes of the array in xarray."""
        return {"long_name": self.meaning, "units": self.unit} | (
            {"better": self.better} if self.better else {}
        )


def _scalar(name: str, unit: str, meaning: str) -> Variable:
    """Return a Variable for a number recorded at each iteration."""
    return Variable(name, ("iteration",), unit, meaning)


VARIABLES = {
    each.name: each
    for each in (
        _scalar(
            "test_perplexity",
            "",
            "held-out perplexity: running average for sampling engines, plug-in otherwise",
        ),
        _scalar("test_perplexity_state", "", "held-out perplexity of the current state alone"),
        _scalar(
            "test_perplexity_average",
            "",
            "held-out perplexity of the running average of p(w|d) after burn-in",
        ),
        _scalar(
            "test_perplexity_by_document",
            "",
            "held-out perplexity where the probability of each document's held-out tokens "
            "together (each sequence's, where documents stand in sequences) is averaged "
            "over iterations after burn-in; that of the state until then, and where nothing is sampled",
        ),
        _scalar(
            "test_perplexity_joint",
            "",
            "held-out perplexity where the probability of all held-out tokens together is averaged "
            "over iterations after burn-in; that of the state until then, and where nothing is sampled",
        ),
        _scalar(
            "train_perplexity", "", "perplexity of the training tokens given the current state"
        ),
        _scalar(
            "log_joint",
            "nats",
            "log p(words and all that is sampled, topics and what else there is) of the state",
        ),
        _scalar(
            "log_likelihood",
            "nats",
            "log p(data) given the distributions as estimated, hidden variables summed out",
        ),
        _scalar("bound", "nats", "variational lower bound on log p(words), all constants included"),
        Variable(
            "objective",
            ("iteration",),
            "nats",
            "entropy of the variational part plus log joint of expected and sampled counts; no bound unless r = 0",
        ),
        _scalar("change", "", "largest change of a responsibility in the iteration"),
        _scalar(
            "topic_change",
            "",
            "half the sum of all changes of n_kw in the iteration, as a share of their sum",
        ),
        _scalar(
            "rho",
            "",
            "learning rate of the last batch: the weight of its estimate in the new topics",
        ),
        _scalar(
            "moved",
            "",
            "share of the sampled tokens that changed topic, or of the documents of sequences or records "
            "that changed their states",
        ),
        _scalar(
            "accepted",
            "",
            "share of the proposed hidden nodes of records that were accepted, mean over chains",
        ),
        _scalar(
            "sampled_share",
            "",
            "share of the tokens that are sampled, under the split of a hybrid that adapts",
        ),
        _scalar(
            "scan",
            "",
            "order of the tokens, mean over chains: 0 document after document, 1 word after word",
        ),
        Variable(
            "collapsed_bound",
            ("iteration",),
            "nats",
            "variational bound of the collapsed model, its expectations by the improved second-order expansion",
        ),
        Variable("n_k", ("iteration", "topic"), "tokens", "(expected) tokens of each topic"),
        Variable(
            "alpha", ("iteration", "topic"), "", "prior of each topic in a document, as learnt"
        ),
        _scalar("beta", "", "prior of each word in a topic, as learnt"),
        _scalar(
            "alpha_total",
            "",
            "sum of the priors of all topics in a document, those without a token too",
        ),
        _scalar("beta_total", "", "sum of the priors of all words in a topic"),
        _scalar(
            "top_concentration", "", "concentration of the weights of the topics (gamma of the HDP)"
        ),
        _scalar("n_active_topics", "topics", "topics with at least one (expected) token"),
        _scalar("n_large_topics", "topics", "topics with at least a hundredth of all tokens"),
        _scalar(
            "effective_topics",
            "topics",
            "exponential of the entropy of the topics' shares of the tokens",
        ),
        _scalar("steps", "", "topics of each iteration, summed over the iterations so far"),
        _scalar("move", "", "what was tried after the sweep: 0 nothing, 1 a split, 2 a merge"),
        _scalar("move_accepted", "", "1 if the bound kept the move, 0 if it was undone"),
        _scalar("move_gain", "nats", "bound with the move less the bound without it"),
        _scalar("move_from", "", "the topic that was split, or merged into the other"),
        _scalar("move_to", "", "the topic that took in the tokens"),
        _scalar("elapsed", "s", "seconds of inference so far, measuring and storing not counted"),
        _scalar(
            "cpu_time", "s", "CPU seconds of inference so far, measuring and storing not counted"
        ),
        _scalar(
            "updates",
            "",
            "site updates so far: tokens sampled plus pairs updated, times samples; distinct records visited",
        ),
        Variable(
            "n_kw",
            ("snapshot", "topic", "word"),
            "tokens",
            "(expected) tokens of each word in each topic",
        ),
        Variable(
            "n_dk",
            ("snapshot", "document", "topic"),
            "tokens",
            "(expected) tokens of each document in each topic",
        ),
        Variable(
            "token_topics",
            ("snapshot", "token"),
            "",
            "topic of each token of the training corpus, in canonical order",
            "uint16",
        ),
        Variable(
            "psi_variance",
            ("snapshot", "document", "component"),
            "",
            "variances of the posterior q of the components",
        ),
        Variable(
            "tau", ("snapshot", "word"), "", "base distribution of the topics over words, as learnt"
        ),
        Variable(
            "theta",
            ("document", "topic"),
            "",
            "topic proportions of each document, posterior mean given the last state",
        ),
        Variable(
            "phi",
            ("topic", "word"),
            "",
            "word probabilities of each topic, posterior mean given the last state",
        ),
        Variable(
            "n_tokens", ("document",), "tokens", "tokens of each document, of unknown words too"
        ),
        Variable(
            "out_of_vocabulary",
            ("document",),
            "",
            "share of the tokens whose word the run does not know; 0 without tokens",
        ),
    )
}
