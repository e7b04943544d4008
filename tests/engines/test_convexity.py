"""The collapsed log joint L is convex in the counts: Lemma 1 of Welling, Teh & Kappen (2008), behind every bound.

L is a sum of log Delta(x) = sum_k lnG(x_k) - lnG(sum_k x_k) over rows x = prior + counts, and of terms linear in the counts.
The Hessian of a row, diag psi'(x) - psi'(sum x) 11', is the covariance matrix of log p for p ~ Dirichlet(x); it is positive
semidefinite where psi'(sum x) sum_k 1 / psi'(x_k) <= 1. By Jensen's inequality E_q L(n) >= L(E_q n).
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import twins
from engines.lda.starts import padded_rows
from engines.networks.states import NETWORKS, places_of_paths
from scipy.special import polygamma, psi
from toys import random_gamma, toy_three_topics

from workbench.corpus import Corpus
from workbench.engines.engine import StepContext
from workbench.engines.lda.split import all_sampled
from workbench.engines.networks import gibbs
from workbench.engines.networks.compiled import compile_network, initial_alphas, owners_of
from workbench.engines.networks.path_slots import laid_out
from workbench.engines.networks.paths import paths_of
from workbench.engines.networks.vb import documents_joint
from workbench.engines.networks.vb import log_joint as network_log_joint
from workbench.kernels.lda.log_joint import log_joint
from workbench.kernels.networks.path_slots import Counts, count_paths
from workbench.kernels.simd.vectors import pad_topics
from workbench.models import LDA

UNEQUAL = (0.9, 0.5, 0.2)
SMALLEST, LARGEST = 1e-8, 1e8
ROUNDING = 1e-13  # relative: polygamma is right to a few 1e-15, and a row has at most twelve cells
QUADRATURE = 1e-10  # relative: the sums below converge faster than any power of the step
# a prior so large that the terms of its rows are nearly linear in a few counts: the other rows are tested alone
FLAT = 1e4


def random_rows(n_rows: int, seed: int = 0):
    """Parameters of rows of 2 to 12 cells, uniform in their logarithm."""
    random = np.random.default_rng(seed)
    return [
        np.exp(random.uniform(np.log(SMALLEST), np.log(LARGEST), random.integers(2, 13)))
        for _ in range(n_rows)
    ]


def test_x_times_trigamma_of_x_falls():
    """So 1 / psi' of a sum is at least the sum of 1 / psi': with f = 1 / psi', sum f(x_k) <= sum x_k f(X) / X = f(X).

    The derivative is compared with its own terms: it is -1 of psi' for small x and -1 / (2x) of it for large x, which is a
    million times rounding and more. Eigenvalues, or the sum itself, would be compared with 0 at the level of rounding.
    """
    x = np.exp(np.random.default_rng(0).uniform(np.log(SMALLEST), np.log(12 * LARGEST), 100_000))
    trigamma = polygamma(1, x)
    assert np.all(trigamma + x * polygamma(2, x) < -trigamma / (2 + 4 * x))


def test_the_hessian_of_a_row_is_positive_semidefinite():
    for x in random_rows(2000):
        assert polygamma(1, x.sum()) * np.sum(1 / polygamma(1, x)) <= 1 + ROUNDING


def test_a_row_of_equal_cells_has_room_to_spare():
    """So the inequality above is not one that any numbers satisfy: with 1 / x in place of psi'(x) it is an equation."""
    for x in (SMALLEST, 1e-3, 0.1, 1.0, 10.0):
        ratio = polygamma(1, 2 * x) * 2 / polygamma(1, x)
        assert ratio < 1 - 0.2 / (1 + 10 * x)


@pytest.mark.parametrize(
    "a, b", [(0.05, 0.05), (0.1, 5.1), (0.3, 12.3), (1.0, 1.0), (2.5, 40.0), (100.0, 7.0)]
)
def test_the_hessian_is_the_covariance_of_log_p(a, b):
    """By quadrature over t = log(p / (1 - p)), in which the density is p^a (1 - p)^b."""
    t = np.log(a / b) + np.linspace(-40 / min(a, 1), 40 / min(b, 1), 400_001)
    log_p, log_q = -np.logaddexp(0, -t), -np.logaddexp(0, t)
    logs, weights = (
        np.array([log_p, log_q]),
        np.exp(a * log_p + b * log_q - np.max(a * log_p + b * log_q)),
    )
    weights /= weights.sum()
    means = logs @ weights
    np.testing.assert_allclose(means, psi([a, b]) - psi(a + b), rtol=QUADRATURE)
    covariance = (logs * weights) @ logs.T - np.outer(means, means)
    hessian = np.diag(polygamma(1, [a, b])) - polygamma(1, a + b)
    # the difference of squares loses two digits
    np.testing.assert_allclose(covariance, hessian, rtol=1e-8)


@pytest.mark.parametrize(
    "alpha, beta", [(UNEQUAL, 0.4), ((1e-3,) * 3, 1e-3), (FLAT, 0.4), (UNEQUAL, FLAT)]
)
def test_the_mean_joint_of_lda_is_at_least_the_joint_of_the_mean(alpha, beta):
    """All 2187 assignments of seven tokens, with responsibilities of their pairs; nats, of which 1.8 and more were seen."""
    corpus, _ = toy_three_topics()
    model, states = (
        LDA(3, alpha, beta),
        np.array(list(itertools.product(range(3), repeat=corpus.n_tokens))),
    )
    for seed in range(3):
        gamma = random_gamma(corpus, 3, seed)
        q = np.prod(
            np.repeat(gamma, corpus.counts, axis=0)[np.arange(corpus.n_tokens), states], axis=1
        )
        joints = [joint_of(twins.sampled_counts(corpus, z, 3), model) for z in states]
        assert q.sum() == pytest.approx(1.0)
        assert q @ joints > joint_of(twins.expected_counts(corpus, gamma), model) + 0.1


def joint_of(counts, model) -> float:
    rows = [padded_rows(each, float) for each in counts[:2]]
    return log_joint(
        *rows, pad_topics(counts.n_k), pad_topics(model.alphas), model.beta, model.n_topics
    )


def one_level_each():
    """(network, level): of each network, each Dirichlet level with its priors while those of the others are flat."""
    for name in ("lda", "author-topic", "pachinko", "hpam1", "hpam2", "authors-by-region"):
        for alone in (level for level in NETWORKS[name].levels if level.kind == "dirichlet"):
            flat = [
                replace(level, prior=FLAT)
                if level.kind == "dirichlet" and level is not alone
                else level
                for level in NETWORKS[name].levels
            ]
            yield pytest.param(
                replace(NETWORKS[name], levels=tuple(flat)), id=f"{name} {alone.name}"
            )


@pytest.mark.parametrize("network", list(one_level_each()))
def test_the_mean_joint_of_a_network_is_at_least_the_joint_of_the_mean(network):
    """All choices of a path for each of three tokens, two of them of one pair; nats, of which 0.4 and more were seen."""
    corpus = Corpus.from_pairs(
        *np.array([(0, 0, 2), (1, 0, 1)]).T,
        n_documents=2,
        n_words=3,
        authors=(("a0", "a1"), ("a1",)),
    )
    places = [places_of_paths(network, corpus, d, w) for d, w, _ in twins.tokens_of(corpus)]
    first, last = (
        np.random.default_rng(seed).dirichlet(np.ones(len(places[2 * seed]))) for seed in range(2)
    )
    joints, q, counted = [], [], []
    for chosen in itertools.product(*(range(len(each)) for each in places)):
        counts = counts_of_places(
            network, corpus, [each[p] for each, p in zip(places, chosen, strict=True)]
        )
        counted.append([each.astype(float) for each in counts])
        joints.append(joint_of_network(network, corpus, counts))
        q.append(first[chosen[0]] * first[chosen[1]] * last[chosen[2]])
    mean = Counts(
        *(np.tensordot(q, np.array(arrays), axes=1) for arrays in zip(*counted, strict=True))
    )
    assert sum(q) == pytest.approx(1.0)
    assert np.dot(q, joints) > joint_of_network(network, corpus, mean) + 0.01


def counts_of_places(network, corpus, places) -> Counts:
    """The counts of a chain with these places of tokens."""
    paths, state = (
        paths_of(network),
        gibbs.init(corpus, network, gibbs.Options(), StepContext(0, 0)),
    )
    counts = Counts(*(np.zeros_like(array) for array in state[1:5]))
    count_paths(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        all_sampled(corpus).sampled,
        owners_of(network, corpus),
        paths.rest_at,
        paths.fixed,
        laid_out(network).lanes,
        np.array(places, np.int32),
        counts,
    )
    return counts


def joint_of_network(network, corpus, counts) -> float:
    compiled = compile_network(network, initial_alphas(network), corpus.n_words)
    return network_log_joint(compiled, counts, **documents_joint(compiled, corpus, counts))
