"""The hybrid whose averaged pairs change by chance: its limit, its chances, and the law that its chain has.

The bound is that of docs/where_the_chain_goes.md: with P the sweep of `cgs`, e the overlap of the rows of P^m and q the
probability that all pairs are sampled, every law nu = q nu P + (1 - q) rho is within (1 - q^m) / (1 - q^m (1 - e)) of the
posterior.
"""

import numpy as np
import pytest
import twins
from engines.lda.starts import assert_same_bits
from scipy.stats import binom
from stepping import stepped
from toys import corpus_of, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import adaptive, hybrid
from workbench.engines.lda.split import find_repeated_pairs
from workbench.engines.options import make_options
from workbench.measures import stationary
from workbench.models import LDA
from workbench.models.options import OptionError

ENGINE, MODEL = get_engine("mixed-cgs"), LDA(2, 0.1, 0.1)
every_average = pytest.mark.parametrize("average", adaptive.PARTS)
TWO_LAWS = corpus_of([(0, 0, 5), (0, 1, 1), (1, 1, 1), (1, 2, 5)])


def sweep_of(corpus, model) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (from, to) of a sweep of `cgs` over every assignment of the tokens, and those of the posterior."""
    alpha, beta = model.alphas, model.beta
    every = twins.enumerate_topics(corpus, alpha, beta)
    place = {tuple(topics): i for i, topics in enumerate(every.topics)}
    sweep = np.eye(len(place))
    for token, (d, w, _) in enumerate(twins.tokens_of(corpus)):
        step = np.zeros_like(sweep)
        for i, topics in enumerate(every.topics):
            counts, old = twins.sampled_counts(corpus, topics, len(alpha)), topics[token]
            for table in (counts.n_dk[d], counts.n_wk[w], counts.n_k):
                table[old] -= 1
            p = twins.conditional(counts, d, w, alpha, beta)
            for k in range(len(alpha)):
                step[i, place[(*topics[:token], k, *topics[token + 1 :])]] = p[k] / p.sum()
        sweep = sweep @ step
    return sweep, every.probability


def overlap(sweep) -> float:
    """The smallest probability that the sweeps from two assignments have in common."""
    return min(np.minimum(row, sweep).sum(axis=1).min() for row in sweep)


def law_of(kernel) -> np.ndarray:
    """The law that a kernel (from, to) keeps."""
    values, vectors = np.linalg.eig(kernel.T)
    law = vectors[:, np.argmin(np.abs(values - 1.0))].real
    return law / law.sum()


def toys(n: int):
    """Corpora of two documents with six tokens, some of them in pairs of two or three."""
    random = np.random.default_rng(1)
    for _ in range(n):
        words = random.integers(3, size=(2, 2))
        yield corpus_of(
            [(d, w, n) for d, pair in enumerate(words) for w, n in zip(pair, (2, 1), strict=True)]
            if (words[:, 0] != words[:, 1]).all()
            else [(0, 0, 2), (0, int(words[0, 0] > 0) + 1, 1), (1, int(words[1, 0]), 3)],
            n_words=3,
        )


@every_average
def test_without_a_chance_to_average_it_is_cgs_bit_for_bit(average):
    corpus, model = simulated(), LDA(5, 0.1, 0.2)
    options = make_options(ENGINE, {"chance": 0, "average": average})
    state = stepped(ENGINE, corpus, model, options, 9, 3)
    cgs = get_engine("cgs")
    wanted = stepped(cgs, corpus, model, make_options(cgs, {}), 9, 3)
    assert_same_bits(hybrid.chain_of(adaptive.of_hybrid(options, state), 0), wanted)


@pytest.mark.parametrize("favour", ["constant", "counts", "gap"])
def test_pairs_are_averaged_with_their_chances_each_by_itself(favour):
    corpus, gaps = simulated(), None
    options = make_options(ENGINE, {"chance": 0.8, "favour": favour, "halved_every": 4})
    repeated = find_repeated_pairs(corpus, 16, 1)
    counts, n = repeated.blocks.pair_counts, 4000
    if favour == "gap":
        gaps = np.linspace(0, 2, len(counts))
    wanted = {
        "constant": np.full(len(counts), 0.4),
        "counts": 0.4 * (1 - 1 / np.maximum(counts, 1)),
        "gap": 0.4 * np.exp(-np.linspace(0, 2, len(counts)) * np.maximum(counts - 1, 0)),
    }[favour]
    drawn = np.array(
        [
            ~adaptive.chosen(corpus, options, repeated, StepContext(seed, 4), gaps)
            for seed in range(n)
        ]
    )
    used = repeated.pairs >= 0
    pairs, wanted = repeated.pairs[used], wanted[used]
    assert not drawn[:, corpus.counts == 1].any() and len(pairs) > 20
    times = drawn[:, pairs].sum(axis=0)
    # of some hundred numbers none is beyond 4.5 standard deviations, but with a probability of 1e-3
    assert np.all(np.abs(times - n * wanted) <= 4.5 * np.sqrt(n * wanted * (1 - wanted)))
    together = (drawn[:, pairs[0]] & drawn[:, pairs[1]]).sum()
    assert 1e-5 < binom.cdf(together, n, wanted[0] * wanted[1]) < 1 - 1e-5


def test_the_chance_by_gap_is_of_the_gap_itself():
    """In nats: 0.3 for each of n - 1 updates more."""
    options = make_options(ENGINE, {"chance": 0.5, "favour": "gap"})
    found = options.chances(7, np.array([2, 4]), np.array([0.3, 0.3]))
    np.testing.assert_allclose(found, 0.5 * np.exp([-0.3, -0.9]), rtol=1e-15)


@pytest.mark.slow
def test_any_law_of_such_a_chain_is_within_the_bound_of_the_posterior():
    """On 200 corpora of 64 assignments; rho comes from the worst of random kernels, and from one that stays in a corner."""
    random = np.random.default_rng(0)
    for corpus in toys(200):
        sweep, posterior = sweep_of(corpus, MODEL)
        overlaps = {m: overlap(np.linalg.matrix_power(sweep, m)) for m in (1, 2, 5, 10, 30)}
        assert overlaps[1] > 0 and np.abs(posterior @ sweep - posterior).max() < 1e-14
        for q in (0.1, 0.5, 0.9, 0.99):
            for other in (
                random.dirichlet(np.full(64, 0.05), 64),
                np.eye(64)[[np.argmin(posterior)] * 64],
            ):
                law = law_of(q * sweep + (1 - q) * other)
                far = 0.5 * np.abs(law - posterior).sum()
                bounds = [(1 - q**m) / (1 - q**m * (1 - e)) for m, e in overlaps.items()]
                assert far <= min(bounds) + 1e-12
        assert far > 1e-4  # the corner is seen


def test_with_a_chance_that_falls_its_law_tends_to_the_posterior():
    corpus = next(toys(1))
    sweep, posterior = sweep_of(corpus, MODEL)
    e, law, limit = overlap(sweep), np.eye(64)[0], 1.0
    corner = np.eye(64)[[np.argmin(posterior)] * 64]
    for t in range(4000):
        q = 1 - 0.9 * 0.5 ** (t / 40)
        law = q * law @ sweep + (1 - q) * law @ corner
        limit = q * (1 - e) * limit + 1 - q
        assert 0.5 * np.abs(law - posterior).sum() <= limit + 1e-12
    assert limit < 1e-3


@pytest.mark.slow
@every_average
def test_two_documents_with_two_laws_of_the_hybrid_have_one(average):
    """Of seeds 18 to 29 svb-cgs comes to the second law with two; sampled tokens are within the bound of the posterior."""
    given = {"seed": 18, "n_iterations": 1500, "burn_in": 200}
    settings = [("mixed-cgs", {"chance": chance, "average": average}) for chance in (0.2, 0.8)]
    found = stationary(TWO_LAWS, MODEL, settings, **given)
    assert found["n_attractors"].values.tolist() == [1, 1]
    assert found["predictive_distance"].max() < 0.05  # 0.37 in the second law of svb-cgs


def test_a_chance_of_one_is_refused():
    with pytest.raises(
        OptionError, match="chance must be below 1, or the chain may have several laws; got 1"
    ):
        make_options(ENGINE, {"chance": 1})
