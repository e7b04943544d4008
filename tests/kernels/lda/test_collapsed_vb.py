"""The collapsed variational update of one pair against its twin; whole sweeps are in tests/engines/lda/test_cvb.py."""

import numpy as np
import pytest
import twins
from engines.lda.starts import cvb_state
from toys import random_gamma, simulated

from workbench.corpus import Corpus
from workbench.kernels.lda import collapsed_vb
from workbench.kernels.lda.standard_vb import NOTHING_SAMPLED
from workbench.kernels.simd.vectors import padded
from workbench.models import LDA

ROUNDING = 1e-11  # of sums over a sweep and one exponential; counts of up to 180 tokens


def words_of(corpus, beta):
    """The priors of all words and their sum, as the kernel takes them."""
    return np.full(corpus.n_words, beta), corpus.n_words * beta


def room_of(alpha):
    return collapsed_vb.make_workspace(alpha, len(alpha), padded(len(alpha)))


@pytest.mark.parametrize("prior", [1e-3, 1e-5, 1e-8])
def test_tiny_priors_meet_their_twin_in_the_log_domain(prior):
    """The variance terms are of order 1 / prior here, and their exponentials leave the range of doubles."""
    corpus, alpha = simulated(8, 10, 12), np.full(4, prior)
    gamma = random_gamma(corpus, 4)
    gamma[::3] = np.eye(4)[1]  # some words lie wholly in one topic: nothing is left of the others
    for pair in range(corpus.n_pairs):
        d, w, n = twins.pairs_of(corpus)[pair]
        state = cvb_state(corpus, LDA(len(alpha)), gamma)
        given = (
            *state.moments,
            *NOTHING_SAMPLED,
            alpha,
            *words_of(corpus, prior),
            4,
            state.gamma,
            pair,
            room_of(alpha),
        )
        collapsed_vb.update_pair(d, w, n, *given)
        expected = twins.collapsed_responsibility(
            corpus, gamma, pair, [twins.no_counts(corpus, 4)], alpha, prior
        )
        # exponents of up to 1 / prior are rounded to 1e-16 / prior, and less what rounding leaves of an empty topic
        np.testing.assert_allclose(
            state.gamma[pair, :4], expected, rtol=0, atol=max(ROUNDING, 1e-14 / prior)
        )


@pytest.mark.parametrize("share", [1e-5, 3e-5])
def test_a_pair_whose_every_topic_is_out_of_reach_meets_its_twin_in_the_log_domain(share):
    """Its document has a trace of topic 1 and its word one of topic 0: both exponents are below -8000."""
    corpus = Corpus.from_pairs(
        np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 1, 1]), n_documents=2, n_words=2
    )
    gamma, alpha, prior = (
        np.array([[0.5, 0.5], [1 - share, share], [share, 1 - share]]),
        np.full(2, 1e-5),
        1e-5,
    )
    state = cvb_state(corpus, LDA(len(alpha)), gamma)
    given = (
        *state.moments,
        *NOTHING_SAMPLED,
        alpha,
        *words_of(corpus, prior),
        2,
        state.gamma,
        0,
        room_of(alpha),
    )
    collapsed_vb.update_pair(0, 0, 1, *given)
    expected = twins.collapsed_responsibility(
        corpus, gamma, 0, [twins.no_counts(corpus, 2)], alpha, prior
    )
    # rounded exponents of 1e4
    np.testing.assert_allclose(state.gamma[0, :2], expected, rtol=0, atol=1e-6)
