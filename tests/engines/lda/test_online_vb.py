"""Online variational Bayes against its twin, `vb` with restarted documents, the evidence of toys, and what theory promises."""

import numpy as np
import pytest
import twins
from engines.lda.starts import padded_rows
from stepping import states, stepped, steps
from toys import CORPORA, corpus_of, random_gamma, simulated, toy_a

from workbench.corpus import hold_out_tokens
from workbench.engines import get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.lda import online_vb, vb
from workbench.kernels.simd.vectors import pad_topics
from workbench.models import LDA
from workbench.runs.scoring import perplexity

ENGINE, VB = get_engine("online-vb"), get_engine("vb")
# as of `vb`: exp(digamma) has a relative error of 3e-10, over at most 180 tokens and 20 passes
COUNTS, NATS = 1e-7, 1e-6


def state_of(corpus, model, gamma):
    """Topics behind responsibilities of every pair."""
    counts = twins.expected_counts(corpus, gamma)
    rows = padded_rows(counts.n_dk, float), padded_rows(counts.n_wk, float), pad_topics(counts.n_k)
    return online_vb.State(*rows, rows[1].copy(), np.nan, model.alphas, model.beta)


def after(corpus, model, options, state, n=1):
    """(state, info) after so many passes."""
    *_, last = steps(ENGINE, corpus, model, options, n, state=state)
    return last


# ---------------------------------------------------------------------- against the twin


@pytest.mark.parametrize("batch_size", [1, 5, 100])
@pytest.mark.parametrize("n_topics", [1, 2, 16, 17, 33])
@pytest.mark.parametrize("name", CORPORA)
def test_passes_meet_their_twin_for_any_corpus_topics_and_batches(name, n_topics, batch_size):
    corpus, model = CORPORA[name], LDA(n_topics, tuple(np.linspace(0.1, 0.9, n_topics)), 0.2)
    options = online_vb.Options(batch_size=batch_size, tau0=2.0, kappa=0.6, n_inner=5)
    gamma = random_gamma(corpus, n_topics)
    state, topics, n_before = (
        state_of(corpus, model, gamma),
        twins.expected_counts(corpus, gamma),
        0,
    )
    total = np.count_nonzero(corpus.document_tokens)
    for step in (1, 2, 3):
        batches = online_vb.batches_of(corpus, options, StepContext(0, step))
        rates = [(2.0 + n_before + number) ** -0.6 for number in range(len(batches))]
        n_before += len(batches)
        gamma, n_dk, topics = twins.online_pass(
            corpus, topics, batches, rates, total, model.alphas, model.beta, 5, 1e-3
        )
        state, info = ENGINE.step(corpus, model, options, state, StepContext(0, step))
        live = slice(n_topics)
        np.testing.assert_allclose(state.mean_dk[:, live], n_dk, rtol=0, atol=COUNTS)
        # D / S times a batch's
        np.testing.assert_allclose(state.mean_wk[:, live], topics.n_wk, rtol=0, atol=COUNTS * total)
        np.testing.assert_allclose(state.mean_k[live], topics.n_k, rtol=0, atol=COUNTS * total)
        assert info["rho"] == pytest.approx(rates[-1], rel=1e-15)
    a, b = model.alphas + n_dk, (model.beta + topics.n_wk).T
    expected = twins.uncollapsed_bound(corpus, gamma, a, b, model.alphas, model.beta)
    assert ENGINE.watch(corpus, model, options, state)["bound"] == pytest.approx(
        expected, rel=1e-9, abs=NATS * total
    )


@pytest.mark.parametrize("prior", [1e-3, 1e-4, 1e-8])
def test_tiny_priors_meet_their_twin_in_the_log_domain(prior):
    corpus, model = simulated(8, 10, 12), LDA(6, prior, prior)
    options = online_vb.Options(batch_size=3, tau0=1.0, n_inner=4, inner_tolerance=0)
    gamma = random_gamma(corpus, 6)
    state, topics = state_of(corpus, model, gamma), twins.expected_counts(corpus, gamma)
    batches = online_vb.batches_of(corpus, options, StepContext(0, 1))
    rates = [options.rate(number) for number in range(len(batches))]
    _, n_dk, topics = twins.online_pass(
        corpus, topics, batches, rates, 8, model.alphas, model.beta, 4, 0
    )
    state, _ = after(corpus, model, options, state)
    # psi of 1/prior
    np.testing.assert_allclose(state.mean_wk[:, :6], topics.n_wk, rtol=0, atol=1e-6 + 1e-13 / prior)
    np.testing.assert_allclose(state.mean_dk[:, :6], n_dk, rtol=0, atol=1e-6 + 1e-13 / prior)


# ---------------------------------------------------------------------- the same as `vb`


@pytest.mark.parametrize(
    "learnt", [{}, {"learn_alpha": "maximised", "learn_beta": "maximised", "learn_after": 1}]
)
@pytest.mark.parametrize("n_inner", [1, 2, 20])
@pytest.mark.parametrize("name", [*CORPORA, "many"])
def test_a_batch_of_all_documents_with_rho_1_is_a_restarted_step_of_vb_to_the_bit(
    name, n_inner, learnt
):
    corpus = CORPORA[name] if name in CORPORA else simulated(300, 200, 40)  # in several slices
    model, about = LDA(5, 0.3, 0.2), {"n_inner": n_inner, **learnt}
    own, others = (
        online_vb.Options(tau0=1.0, batch_size=10**6, **about),
        vb.Options(init="dirichlet", restart_documents=True, **about),
    )
    context = StepContext(4, 0)
    state, other = ENGINE.init(corpus, model, own, context), VB.init(corpus, model, others, context)
    state, info = ENGINE.step(corpus, model, own, state, StepContext(4, 1))
    other, same = VB.step(corpus, model, others, other, StepContext(4, 1))
    assert info["rho"] == 1.0 and info["updates"] == same["updates"]
    for field in ("mean_dk", "mean_wk", "mean_k", "alpha", "beta"):
        assert np.array_equal(getattr(state, field), getattr(other, field)), field
    assert np.array_equal(state.fitted_wk, other.mean_wk) and state.entropy == float(other.entropy)
    found, expected = (
        ENGINE.watch(corpus, model, own, state),
        VB.watch(corpus, model, others, other),
    )
    # the same numbers, added in another order
    assert found.pop("bound") == pytest.approx(expected.pop("bound"), rel=1e-12)
    assert all(np.array_equal(found[each], expected[each]) for each in expected)
    assert np.array_equal(
        ENGINE.predict(corpus, model, own, state, corpus),
        VB.predict(corpus, model, others, other, corpus),
    )


def test_a_start_is_that_of_vb():
    corpus, model, context = simulated(), LDA(3, 0.3, 0.2), StepContext(2, 0)
    state, other = (
        ENGINE.init(corpus, model, online_vb.Options(), context),
        VB.init(corpus, model, vb.Options(init="dirichlet"), context),
    )
    assert all(np.array_equal(a, b) for a, b in zip(state[:3], other[:3], strict=True))


# ---------------------------------------------------------------------- batches and rates


def test_every_document_with_a_token_is_in_one_batch_of_a_pass_and_batches_are_drawn_anew():
    corpus, options = (
        corpus_of([(d, d % 5, 1 + d % 3) for d in range(23) if d % 4], 30, 6),
        online_vb.Options(batch_size=5),
    )
    orders = []
    for step in (1, 2):
        batches = online_vb.batches_of(corpus, options, StepContext(0, step))
        documents = np.concatenate(batches)
        assert np.array_equal(np.sort(documents), np.flatnonzero(corpus.document_tokens))
        assert sorted(map(len, batches)) == [4, 4, 4, 5]
        assert all(np.all(np.diff(rows) > 0) for rows in batches)
        orders.append(documents.tolist())
    assert orders[0] != orders[1]
    again = online_vb.batches_of(corpus, options, StepContext(0, 2))
    assert np.concatenate(again).tolist() == orders[1]


def test_rates_go_on_over_passes_and_after_the_batches_of_another_run():
    corpus, model = simulated(), LDA(3, 0.3, 0.2)
    options = online_vb.Options(batch_size=4, tau0=5.0, kappa=0.9)
    _, info = after(corpus, model, options, state_of(corpus, model, random_gamma(corpus, 3)), 3)
    assert info["rho"] == (5.0 + 8) ** -0.9  # nine batches, from 0
    later = online_vb.Options(batch_size=4, tau0=5.0, kappa=0.9, batches_before=9)
    _, info = after(corpus, model, later, state_of(corpus, model, random_gamma(corpus, 3)))
    assert info["rho"] == (5.0 + 11) ** -0.9


def test_batches_stand_for_the_documents_in_all():
    """With rho = 1 the topics have as many tokens as the documents in all have, if they are like these."""
    corpus, model = simulated(), LDA(3, 0.3, 0.2)
    options = online_vb.Options(tau0=1.0, total_documents=1200)
    state, _ = after(corpus, model, options, state_of(corpus, model, random_gamma(corpus, 3)))
    assert state.mean_wk.sum() == pytest.approx(100 * corpus.n_tokens, rel=1e-12)
    np.testing.assert_allclose(
        state.fitted_wk.sum(axis=1), np.bincount(corpus.words, corpus.counts, corpus.n_words)
    )


# ---------------------------------------------------------------------- theory


@pytest.mark.parametrize("total", [0, 1, 50])
def test_the_bound_is_below_the_evidence_of_a_toy_whatever_the_batches_stand_for(total):
    corpus, model = toy_a()
    evidence = twins.enumerate_topics(corpus, model.alphas, model.beta).log_sum
    options = online_vb.Options(batch_size=1, total_documents=total)
    for seed in range(5):
        for state in states(ENGINE, corpus, model, options, 9, seed):
            assert ENGINE.watch(corpus, model, options, state)["bound"] < evidence


def test_online_vb_comes_to_rest_where_vb_does():
    """Rates fall, so batches matter less and less: the change of the topics does too, and the bound is near that of `vb`."""
    corpus, model = simulated(60, 30, 40), LDA(4, 0.1, 0.1)
    options, others = (
        online_vb.Options(batch_size=10),
        vb.Options(init="dirichlet", restart_documents=True),
    )
    visited = list(steps(ENGINE, corpus, model, options, 100))
    state, other = visited[-1][0], stepped(VB, corpus, model, others, 100)
    changes = [info["topic_change"] for _, info in visited]
    assert changes[-1] < changes[0] / 20
    found, wanted = (
        ENGINE.watch(corpus, model, options, state)["bound"],
        VB.watch(corpus, model, others, other)["bound"],
    )
    # they may end in different optima; a random start is 20 % below
    assert found > wanted - 0.02 * abs(wanted)


# ---------------------------------------------------------------------- topics from elsewhere


def test_from_another_run_the_topics_are_its_very_counts():
    corpus, model = simulated(), LDA(3, 0.3, 0.2)
    n_kw = np.random.default_rng(0).gamma(1.0, 5.0, (3, corpus.n_words))
    state = ENGINE.init(
        corpus, model, online_vb.Options(), StepContext(0, 0), WarmStart(n_kw, None)
    )
    assert np.array_equal(state.mean_wk[:, :3], n_kw.T) and np.array_equal(
        state.mean_k[:3], n_kw.sum(axis=1)
    )


def test_topics_that_are_held_keep_their_bits_and_documents_come_to_rest():
    corpus, model = simulated(), LDA(3, 0.3, 0.2)
    n_kw = np.random.default_rng(0).gamma(1.0, 5.0, (3, corpus.n_words))
    options = online_vb.Options(batch_size=4, hold_topics=True, n_inner=1000, inner_tolerance=1e-6)
    state = ENGINE.init(corpus, model, options, StepContext(0, 0), WarmStart(n_kw, None))
    state, info = after(corpus, model, options, state, 2)
    assert np.array_equal(state.mean_wk[:, :3], n_kw.T) and info["rho"] == info["topic_change"] == 0
    for d in range(corpus.n_documents):
        pairs = slice(corpus.indptr[d], corpus.indptr[d + 1])
        own = list(zip(corpus.words[pairs].tolist(), corpus.counts[pairs].tolist(), strict=True))
        theta = twins.variational_theta(own, n_kw, model.alphas, model.beta)
        found = model.alphas + state.mean_dk[d, :3]
        # both stop within 1e-6 tokens, of 15
        np.testing.assert_allclose(found / found.sum(), theta, atol=1e-5)


def test_a_batch_from_elsewhere_moves_the_topics_as_one_of_the_corpus():
    corpus, model, options = (
        simulated(),
        LDA(3, 0.3, 0.2),
        online_vb.Options(batch_size=12, tau0=3.0),
    )
    state = state_of(corpus, model, random_gamma(corpus, 3))
    alone = online_vb.topics_alone(state.mean_wk[:, :3].T.copy(), model.alphas, model.beta)
    online_vb.take_in(
        online_vb.batch_of(corpus.indptr, corpus.words, corpus.counts),
        alone,
        options,
        options.rate(0),
        1.0,
        StepContext(0, 1),
    )
    state, _ = after(corpus, model, options, state)
    # sizes with the prior of absent words added apart
    np.testing.assert_allclose(alone.mean_wk, state.mean_wk, rtol=1e-12)
    np.testing.assert_allclose(alone.mean_k, state.mean_k, rtol=1e-12)


# ---------------------------------------------------------------------- a real corpus


@pytest.mark.long
def test_five_passes_of_kos_are_ahead_of_as_many_iterations_of_vb_and_no_better_in_the_end(kos):
    """K = 40, one seed; ``-s`` shows the figures. The numbers of short runs hold both engines between nights."""
    train, test = hold_out_tokens(kos, fraction=0.1, seed=0)
    model, found = LDA(40), {}
    for engine, options in (
        (ENGINE, online_vb.Options()),
        (VB, vb.Options(init="dirichlet", restart_documents=True)),
    ):
        for step, state in enumerate(states(engine, train, model, options, 40), 1):
            if step in (1, 5, 40):
                found[engine.name, step] = perplexity(
                    test, engine.predict(train, model, options, state, test)
                )
    print({" ".join(map(str, key)): round(value) for key, value in found.items()})
    assert found["online-vb", 5] < found["vb", 5]
    assert found["online-vb", 40] > found["vb", 40]
