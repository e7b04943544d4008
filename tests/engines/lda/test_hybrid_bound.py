"""The bound B of a hybrid: printed values, its order among the other bounds, and each way to it."""

from unittest.mock import Mock

import numpy as np
import pytest
import twins
from engines.lda.starts import cgs_state, cvb_hybrid_state, hybrid_state
from stepping import states
from toys import CORPORA, corpus_of, random_gamma, random_topics, simulated, toy_a, toy_three_topics

from workbench.engines import get_engine
from workbench.engines.engine import StepContext, zeros
from workbench.engines.lda import cgs, hybrid_bound
from workbench.engines.lda.hybrid_bound import whole
from workbench.engines.lda.split import EVERY_COUNT, split_by_count
from workbench.engines.options import make_options
from workbench.kernels import threads as slices
from workbench.kernels.lda import annealing
from workbench.kernels.simd.vectors import pad_topics
from workbench.kernels.uniforms import GIBBS
from workbench.models import LDA
from workbench.models.options import OptionError
from workbench.runs.afterwards.bound import HYBRIDS

EXACT = 1e-9  # printed values, spec E.5
ROUNDING = 1e-10  # two orders of summation of logs of a toy


def at_gamma0(oracles):
    """(corpus, split, state, entropy) of toyA at the printed responsibilities, r = 1."""
    return at(*toy_a(), np.array(oracles["toyA"]["hybrid_r1_at_gamma0"]["gamma"]), 1)


def at(corpus, model, gamma, r, seed=0):
    """What a bound is given: the state behind responsibilities of every pair, with uniform topics."""
    topics = random_topics(corpus, model.n_topics, seed)
    split = split_by_count(corpus, EVERY_COUNT if np.isinf(r) else np.int64(r))
    return (
        corpus,
        split,
        hybrid_state(corpus, model, gamma, [topics], "parallel", r),
        twins.entropy(corpus, gamma, r),
    )


# ---------------------------------------------------------------------- exact


def test_the_bound_at_given_responsibilities_is_the_printed_one(oracles):
    assert hybrid_bound.exact(*whole(*at_gamma0(oracles))) == pytest.approx(
        oracles["toyA"]["hybrid_r1_at_gamma0"]["B"], abs=EXACT
    )


def test_the_bound_at_the_variational_optimum_is_the_printed_one_and_lies_between(oracles, toy):
    """F_SVB <= B <= log evidence: sampling a part can only gain."""
    printed, gamma = oracles["toyA"], np.array(oracles["toyA"]["svb_parallel"]["gamma_final"])
    found = hybrid_bound.exact(*whole(*at(*toy, gamma, 1)))
    assert found == pytest.approx(printed["hybrid_r1_exact"]["B_start"], abs=EXACT)
    assert printed["svb_parallel"]["F_final"] < found < printed["exact"]["log_evidence"]


def test_with_everything_sampled_the_bound_is_the_evidence(oracles, toy):
    corpus, model = toy
    found = hybrid_bound.exact(*whole(*at(corpus, model, random_gamma(corpus, 2), np.inf)))
    assert found == pytest.approx(oracles["toyA"]["exact"]["log_evidence"], abs=EXACT)


def test_with_nothing_sampled_every_method_gives_the_variational_bound(toy):
    corpus, model = toy
    gamma = random_gamma(corpus, 2)
    given, context = at(corpus, model, gamma, 0), StepContext(0, 0)
    expected = pytest.approx(twins.bound(corpus, gamma, model.alphas, model.beta), abs=ROUNDING)
    assert hybrid_bound.exact(*whole(*given)) == expected
    assert hybrid_bound.ais(*whole(*given), context, 2, 3).log_weights.tolist() == [expected] * 2
    assert list(hybrid_bound.bracket(*whole(*given), context, 2, 0)) == [expected] * 2


@pytest.mark.parametrize("toy", [toy_a, toy_three_topics])
@pytest.mark.parametrize("r", [0, 1, 2, np.inf])
def test_exact_meets_its_twin(toy, r):
    corpus, model = toy()
    gamma = random_gamma(corpus, model.n_topics)
    twin = twins.hybrid_bound(corpus, gamma, model.alphas, model.beta, r)
    assert hybrid_bound.exact(*whole(*at(corpus, model, gamma, r))) == pytest.approx(
        twin, abs=ROUNDING
    )


@pytest.mark.parametrize("name", HYBRIDS)
def test_at_the_state_of_every_hybrid_the_bound_is_below_the_evidence(name, toy):
    """For cvb-cgs and cvb0-cgs it is not what the updates raise, but valid all the same."""
    corpus, model = toy
    engine = get_engine(name)
    averaging = {"chance": 0.999} if name == "mixed-cgs" else {"r": 1}
    options = make_options(engine, averaging)
    evidence = twins.enumerate_topics(corpus, model.alphas, model.beta).log_sum
    for state in states(engine, corpus, model, options, 19):
        found = hybrid_bound.exact(*whole(corpus, *HYBRIDS[name].for_bound(corpus, options, state)))
        assert found < evidence
    assert found > evidence - 3, "a bound that far off is no news; seen 1.0 to 1.7"


def test_a_state_of_collapsed_responsibilities_has_the_bound_of_its_means(toy):
    corpus, model = toy
    gamma, topics = random_gamma(corpus, 2), random_topics(corpus, 2)
    state = cvb_hybrid_state(corpus, model, gamma, [topics], 1)
    given = corpus, split_by_count(corpus, 1), state, twins.entropy(corpus, gamma, 1)
    same, context = at(corpus, model, gamma, 1), StepContext(0, 0)
    assert hybrid_bound.exact(*whole(*given)) == hybrid_bound.exact(*whole(*same))
    assert hybrid_bound.bracket(*whole(*given), context, 5, 5) == hybrid_bound.bracket(
        *whole(*same), context, 5, 5
    )


def test_exact_refuses_more_assignments_than_it_can_visit():
    corpus, model = corpus_of([(0, w, 1) for w in range(17)], 1, 17), LDA(2)
    with pytest.raises(
        OptionError,
        match="at most 65,536 assignments; 17 sampled tokens in 2 topics have more; use ais or b",
    ):
        hybrid_bound.exact(*whole(*at(corpus, model, random_gamma(corpus, 2), 1)))
    corpus = corpus_of([(0, w, 1) for w in range(16)], 1, 16)
    assert np.isfinite(hybrid_bound.exact(*whole(*at(corpus, model, random_gamma(corpus, 2), 1))))
    # one assignment
    assert np.isfinite(
        hybrid_bound.exact(*whole(*at(simulated(), LDA(1), random_gamma(simulated(), 1), np.inf)))
    )


# ---------------------------------------------------------------------- annealed importance sampling


@pytest.mark.parametrize(
    ("toy", "r"), [(toy_a, 1), (toy_a, np.inf), (toy_three_topics, 1), (toy_three_topics, np.inf)]
)
def test_annealing_meets_the_exact_bound(toy, r):
    """1000 runs, 4 standard errors; the error itself is small enough for a mistake to show."""
    corpus, model = toy()
    given = at(corpus, model, random_gamma(corpus, model.n_topics), r)
    found = hybrid_bound.ais(*whole(*given), StepContext(1, 0), 1000, 10)
    assert abs(found.bound - hybrid_bound.exact(*whole(*given))) < 4 * found.standard_error
    assert found.standard_error < 0.05 and found.effective_runs > 100


def test_more_temperatures_bring_the_runs_together(oracles):
    few, many = (
        np.std(hybrid_bound.ais(*whole(*at_gamma0(oracles)), StepContext(0, 0), 100, n).log_weights)
        for n in (2, 50)
    )
    assert many < 0.5 * few


def test_at_power_one_annealing_draws_as_the_sampling_kernel_does():
    """The very topics over 20 sweeps, from the same uniforms; 1,700 draws with sizes a token off would not stay together."""
    corpus, model = simulated(), LDA(5, 0.3, 0.2)
    gamma, topics = random_gamma(corpus, 5), random_topics(corpus, 5)
    state, alpha = (
        hybrid_state(corpus, model, gamma, [topics], "parallel", 1),
        pad_topics(model.alphas),
    )
    split = split_by_count(corpus, 1)
    tokens = (
        0,
        corpus.n_documents,
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        split.sampled,
    )
    plain, annealed = (cgs_state(corpus, model, topics, 5, 1) for _ in range(2))
    powers = np.zeros(state.mean_wk.shape)
    annealing.power_words(
        0, corpus.n_words, annealed.n_wk, state.mean_wk, model.beta, 1.0, 5, powers
    )
    for step in range(20):
        context = StepContext(6, step)
        cgs.sweep(corpus, split, plain, (*state[:3], None, None, None), context)
        annealing.draw_annealed(
            *tokens,
            *annealed[:4],
            *state[:3],
            alpha,
            model.beta,
            5,
            1.0,
            powers,
            context.key(GIBBS),
        )
        assert all(np.array_equal(a, b) for a, b in zip(plain, annealed, strict=True))
    np.testing.assert_allclose(powers[:, :5], (model.beta + state.mean_wk + annealed.n_wk)[:, :5])


def test_the_urn_draws_counts_with_the_moments_of_its_law():
    """4000 copies of a document with 6 sampled tokens beside 4 variational ones: 4 standard errors.

    With p = alpha' / A', A' = A + 4: E[c_k] = 6 p_k and E[c_k (c_k - 1)] = 30 p_k (alpha'_k + 1) / (A' + 1).
    """
    corpus = corpus_of(
        [
            (d, w, n)
            for d in range(4000)
            for w, n in [(0, 1), (1, 4), *((w, 1) for w in range(2, 7))]
        ]
    )
    model, gamma = LDA(3, (0.9, 0.5, 0.2), 0.4), np.tile([0.1, 0.3, 0.6], (corpus.n_pairs, 1))
    state = hybrid_state(corpus, model, gamma, [random_topics(corpus, 3)], "parallel", 1)
    _, n_dk, n_wk, n_k = drawn = zeros(cgs.arrays(corpus, 3)).values()
    annealing.draw_from_urn(
        0,
        4000,
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.tokens_before,
        corpus.counts <= 1,
        *drawn,
        state.mean_dk,
        pad_topics(model.alphas),
        3,
        StepContext(2, 0).key(GIBBS),
    )
    counts, prior = n_dk[:, :3], model.alphas + 4 * gamma[0]
    share = prior / prior.sum()
    expected = [6 * share, 30 * share * (prior + 1) / (prior.sum() + 1)]
    for seen, value in zip((counts, counts * (counts - 1)), expected, strict=True):
        assert np.all(
            np.abs(seen.mean(axis=0) - value) < 4 * seen.std(axis=0, ddof=1) / np.sqrt(4000)
        )
    assert np.array_equal(n_wk.sum(axis=0), n_k) and n_k.sum() == 24_000 and not n_wk[1].any()


def test_weights_need_no_correction_where_the_word_factor_is_flat():
    """One word type: p(w | z) = 1 whatever z, so every weight is exact."""
    corpus, model = CORPORA["one_word"], LDA(3, 0.4, 0.2)
    given = at(corpus, model, random_gamma(corpus, 3), 1)
    found = hybrid_bound.ais(*whole(*given), StepContext(0, 0), 5, 4)
    np.testing.assert_allclose(found.log_weights, hybrid_bound.exact(*whole(*given)), rtol=ROUNDING)


def test_threads_and_slices_change_no_bit_and_seeds_do(monkeypatch):
    corpus, model = simulated(60, 50, 40), LDA(5, 0.2, 0.2)
    given, found = at(corpus, model, random_gamma(corpus, 5), 1), []
    for work, seed, n_threads in (
        (2**20, 1, 1),
        (2**12, 1, 1),
        (2**12, 1, 2),
        (2**12, 1, 4),
        (2**20, 2, 1),
    ):
        monkeypatch.setattr(slices, "SLICE_WORK", work)
        context = StepContext(seed, 0, n_threads)
        found.append(
            (
                hybrid_bound.ais(*whole(*given), context, 3, 4).log_weights,
                hybrid_bound.bracket(*whole(*given), context, 3, 1),
            )
        )
    assert all(np.array_equal(weights, found[0][0]) for weights, _ in found[1:4])
    # order of one sum
    np.testing.assert_allclose([ends for _, ends in found[1:4]], [found[0][1]] * 3, rtol=1e-12)
    assert not np.array_equal(found[4][0], found[0][0])


# ---------------------------------------------------------------------- bracket


def test_the_bracket_holds_the_printed_bound_and_has_the_printed_ends(oracles):
    """20,000 sweeps; -14.2515 and -13.9805 in spec A.9 are Monte Carlo themselves: 0.01 is three of their errors."""
    low, high = hybrid_bound.bracket(*whole(*at_gamma0(oracles)), StepContext(0, 0), 20_000, 100)
    assert low < oracles["toyA"]["hybrid_r1_at_gamma0"]["B"] < high
    assert low == pytest.approx(-14.2515, abs=0.01) and high == pytest.approx(-13.9805, abs=0.01)


def test_the_bracket_ends_are_the_exact_expectations(oracles):
    """mean L, mean sum_i H[p(z_i | z_-i)] and sum_i H[marginal_i] by enumeration.

    20,000 sweeps err by 0.0033; four times that.
    """
    (corpus, model), given = toy_a(), at_gamma0(oracles)
    entropy = given[-1]
    gamma = np.array(oracles["toyA"]["hybrid_r1_at_gamma0"]["gamma"])
    mean = twins.expected_counts(corpus, gamma, 1)
    exact = twins.enumerate_topics(corpus, model.alphas, model.beta, 1, mean)
    joints = np.log(exact.probability) + exact.log_sum
    sampled = [i for i, (*_, n) in enumerate(twins.tokens_of(corpus)) if n == 1]
    conditional, marginal = 0.0, 0.0
    for i in sampled:
        others = np.delete(exact.topics, i, axis=1)
        for k in range(2):
            share = exact.probability[exact.topics[:, i] == k].sum()
            marginal -= share * np.log(share)
        for z, p in zip(exact.topics, exact.probability, strict=True):
            same = np.all(others == np.delete(z, i), axis=1)
            conditional -= p * np.log(p / exact.probability[same].sum())
    found = hybrid_bound.bracket(*whole(*given), StepContext(3, 0), 20_000, 100)
    expected = entropy + exact.probability @ joints
    np.testing.assert_allclose(
        found, [expected + conditional, expected + marginal], rtol=0, atol=0.0132
    )


def test_of_a_single_sweep_both_ends_are_the_same_and_burn_in_does_not_count(oracles):
    """One sample is its own marginal, kept in float32; with the sweeps before it the upper end would be higher."""
    low, high = hybrid_bound.bracket(*whole(*at_gamma0(oracles)), StepContext(0, 0), 1, 30)
    assert low == pytest.approx(high, abs=1e-5)
    assert low != hybrid_bound.bracket(*whole(*at_gamma0(oracles)), StepContext(0, 0), 1, 0).low


def test_the_marginals_take_the_memory_that_is_told():
    corpus, split, state, _ = at(simulated(), LDA(7), random_gamma(simulated(), 7), 1)
    assert hybrid_bound.bracket_bytes(split.n_tokens, len(state.alpha)) == 4 * 7 * np.sum(
        corpus.counts == 1
    )


# ---------------------------------------------------------------------- manners


def test_nothing_is_written_to_the_state_and_every_sweep_is_told(oracles):
    given, told = at_gamma0(oracles), []
    before = [np.copy(array) for array in given[2]]
    hybrid_bound.exact(*whole(*given))
    hybrid_bound.ais(*whole(*given), StepContext(0, 0, 2), 3, 4, lambda: told.append("ais"))
    hybrid_bound.bracket(*whole(*given), StepContext(0, 0), 5, 2, lambda: told.append("bracket"))
    assert all(np.array_equal(a, b) for a, b in zip(before, given[2], strict=True))
    assert told == ["ais"] * 12 + ["bracket"] * 7


@pytest.mark.parametrize("method", [hybrid_bound.ais, hybrid_bound.bracket])
def test_a_pulse_may_interrupt(method, oracles):
    with pytest.raises(InterruptedError):
        method(
            *whole(*at_gamma0(oracles)),
            StepContext(0, 0, 1, Mock(side_effect=InterruptedError)),
            5,
            5,
        )
