"""Protocols for the perplexity of a topic model in papers and programs: which words are scored, given what, by whom."""

from typing import NamedTuple

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
