"""What a state of an engine of LDA believes of each token: its responsibilities where averaged, its topic where sampled."""

import numpy as np
from scipy.special import psi, softmax

from workbench.engines.lda import adaptive, cgs, hybrid, vb
from workbench.engines.lda.split import Split, all_sampled, none_sampled
from workbench.models.options import OptionError


def token_probabilities(corpus, options, state) -> np.ndarray:
    """(chain, token, topic) q(z) of every token, in canonical order; one chain where nothing is sampled.

    Where responsibilities are not stored (`vb`, the parallel schedule of `svb`) they are those that follow from the counts,
    eq. A5: those of the next update, and the same once the engine has come to rest.

    Raises
    ------
    OptionError
        For a state of `vb` with point topics, whose responsibilities are other ones.
    """
    if getattr(options, "topics", "full") == "point":
        raise OptionError("the tokens of point topics have no responsibilities of this form; take topics=full")
    split, state = split_of(corpus, options, state)
    n_topics, copies = len(state.alpha), corpus.counts
    topics = np.atleast_2d(state.topics) if split.n_sampled else np.zeros((1, corpus.n_tokens), int)
    found = np.broadcast_to(np.eye(n_topics), (n_topics, n_topics))[topics]
    if split.n_averaged:
        averaged = np.repeat(~split.sampled, copies)
        gamma = state.gamma[:, :n_topics] if len(getattr(state, "gamma", ())) else _by_counts(corpus, split, state)
        found[:, averaged] = np.repeat(gamma, copies[~split.sampled], axis=0)
    return found


def split_of(corpus, options, state) -> tuple[Split, tuple]:
    """Which pairs are sampled in a state of any engine of LDA, and that state, without the split where it has one."""
    if isinstance(state, cgs.State):
        return all_sampled(corpus), state
    if isinstance(state, adaptive.State):
        return adaptive.split_from(corpus, options, state.sampled), adaptive.of_hybrid(options, state)
    if isinstance(state, hybrid.SvbState | hybrid.CvbState):
        return hybrid.split_of(corpus, options), state
    return none_sampled(corpus), state


def _by_counts(corpus, split: Split, state) -> np.ndarray:
    """(averaged pair, topic) responsibilities given the counts of a state, averaged in the log domain over its chains."""
    d, w, k = corpus.documents[~split.sampled], corpus.words[~split.sampled], slice(len(state.alpha))
    totals = [state[:3]] if isinstance(state, vb.State) or not split.n_sampled else [
        hybrid.totals(state, s) for s in range(len(state.topics))]
    logs = [
        psi(state.alpha + n_dk[d, k]) + psi(state.beta + n_wk[w, k]) - psi(corpus.n_words * state.beta + n_k[k])
        for n_dk, n_wk, n_k in totals
    ]
    return softmax(np.mean(logs, axis=0), axis=1)
