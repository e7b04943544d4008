"""Topic probabilities of each token in a state of an LDA engine: responsibilities if averaged, 0 or 1 if sampled."""

import numpy as np
from scipy.special import psi, softmax

from workbench.corpus import Corpus
from workbench.engines.engine import Options, State
from workbench.engines.lda import adaptive, cgs, hybrid, vb
from workbench.engines.lda.split import Split, all_sampled, none_sampled
from workbench.kernels.lda.word_prior import with_prior
from workbench.models.options import OptionError


def token_probabilities(corpus: Corpus, options: Options, state: State) -> np.ndarray:
    """Return q(z) (chain, token, topic) of all tokens in canonical order; a single chain if none is sampled.

    Where responsibilities are not stored (`vb`, `online-vb`, `svb` in parallel) they are those that follow from the counts,
    eq. A5: those of the next update, and the same once the engine has converged.

    Raises
    ------
    OptionError
        For a state of `vb` with point topics, whose responsibilities are other ones.
    """
    if getattr(options, "topics", "full") == "point":
        raise OptionError(
            "the tokens of point topics have no responsibilities of this form; take topics=full"
        )
    split, state = split_of(corpus, options, state)
    gamma, topics = np.zeros((0, len(state.alpha))), np.zeros((1, 0), int)
    if split.n_sampled:
        topics = np.atleast_2d(state.topics)[:, np.repeat(split.sampled, corpus.counts)]
    if len(getattr(state, "gamma", ())):
        gamma = state.gamma[:, : len(state.alpha)]
    elif split.n_averaged:
        one_chain = isinstance(state, vb.State) or not split.n_sampled
        totals = (
            [state[:3]]
            if one_chain
            else [hybrid.totals(state, s) for s in range(len(state.topics))]
        )
        gamma = responsibilities(corpus, split.sampled, totals, state.alpha, state.beta)
    return every_token(corpus, split.sampled, gamma, topics)


def every_token(
    corpus: Corpus, sampled: np.ndarray, gamma: np.ndarray, topics: np.ndarray
) -> np.ndarray:
    """Merge responsibilities (averaged pair, topic) and sampled topics (state, token) to q(z) (state, token, topic)."""
    probabilities, is_sampled = (
        np.zeros((len(topics), corpus.n_tokens, gamma.shape[1])),
        np.repeat(sampled, corpus.counts),
    )
    probabilities[:, ~is_sampled] = np.repeat(gamma, corpus.counts[~sampled], axis=0)
    probabilities[:, is_sampled] = np.eye(gamma.shape[1])[topics]
    return probabilities


def split_of(corpus: Corpus, options: Options, state: State) -> tuple[Split, tuple]:
    """Return which pairs an LDA engine samples, as a `Split`, and the engine's state without the split."""
    if isinstance(state, cgs.State):
        return all_sampled(corpus), state
    if isinstance(state, adaptive.State):
        return adaptive.split_from(corpus, options, state.sampled), adaptive.of_hybrid(
            options, state
        )
    if isinstance(state, hybrid.SvbState | hybrid.CvbState):
        return hybrid.split_of(corpus, options), state
    return none_sampled(corpus), state


def responsibilities(
    corpus: Corpus, sampled: np.ndarray, totals: list[tuple], alpha: np.ndarray, beta
) -> np.ndarray:
    """Return responsibilities (averaged pair, topic) of standard variational Bayes, log-averaged over chains (spec A9).

    ``totals`` are n_dk, n_wk, n_k of each chain, expected and sampled, padded or not.
    """
    d, w, k = corpus.documents[~sampled], corpus.words[~sampled], slice(len(alpha))
    logs = [
        psi(alpha + n_dk[d, k]) + psi(rest + n_wk[w, k]) - psi(corpus.n_words * rest + n_k[k])
        for n_dk, n_wk, n_k, rest in ((n[0], *with_prior(beta, *n[1:])) for n in totals)
    ]
    return softmax(np.mean(logs, axis=0), axis=1)
