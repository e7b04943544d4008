"""CV-HDP against its twin, the published trajectories, exact bounds, and what is known of its edges."""

from types import SimpleNamespace

import hdp_twins as twin
import numpy as np
import pytest
from engines.lda.starts import padded_rows
from scipy.integrate import quad
from scipy.stats import beta as beta_distribution
from stepping import steps
from toys import CORPORA, corpus_of, every_pair, random_gamma, read_oracles, simulated

from workbench.engines import get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.hdp import cv_hdp
from workbench.engines.hdp.cv_hdp import State
from workbench.engines.hdp.posteriors import (
    dirichlet_divergence,
    fixed,
    gamma_divergence,
    gamma_posterior,
    log_weights,
    mean_weights,
    stick_divergence,
)
from workbench.engines.lda import cvb
from workbench.models import LDA

ORACLE = 1e-8  # relative, spec 18; the state after one to five iterations
FINAL = 1e-5  # relative, spec 18; the bound after 200, when rounding has grown
ROUNDING = 1e-9  # of sums over a few hundred tokens, and over three iterations
ENGINE = get_engine("cv-hdp")
UPDATES = ("second_order", "conditional", "zeroth")


@pytest.fixture(scope="module")
def oracles():
    return read_oracles("hdp")


def options_of(**given):
    return twin.chosen_hdp(ENGINE, init="noise", **given)


def started(rows, q, options, **known) -> State:
    """The state behind responsibilities of every row, all else as before the first iteration."""
    model = twin.hdp_of(options, q.shape[1])
    state = cv_hdp.init(rows, model, options, StepContext(0, 0))._replace(**known)
    state.gamma[...] = padded_rows(q, float)
    return cv_hdp.recount_state(rows, state)[0]


def iterated(rows, state, options, n=1, first=1):
    """(state, info) after so many iterations."""
    model = twin.hdp_of(options, state.n_topics)
    *_, last = steps(ENGINE, rows, model, options, n, state=state, first=first)
    return last


def watched(rows, state, options):
    return ENGINE.watch(rows, twin.hdp_of(options, state.n_topics), options, state)


def posterior_of(state) -> twin.Posterior:
    """The twin's view of a state after its first iteration."""
    gammas = [tuple(q[:2]) if q[0] else float(q[2]) for q in (state.alpha, state.top, state.beta)]
    a, b = state.sticks[:, state.order]
    return twin.Posterior(
        *gammas, a, b, state.order.tolist(), state.tau.copy() if len(state.tau) else None
    )


def first_posterior(options, n_topics, n_words) -> twin.Posterior:
    """Of the twin before its first iteration (spec 6)."""
    alpha = (options.a_alpha, options.b_alpha) if options.learn_alpha else options.alpha_total
    gamma = (options.a_gamma, options.b_gamma) if options.learn_gamma else options.top_concentration
    return twin.Posterior(alpha, gamma, options.beta_total, None, None, list(range(n_topics)), None)


def assert_same(state, q, posterior, tolerance=ROUNDING):
    """A state against responsibilities and a posterior of the twin."""
    found = posterior_of(state)
    np.testing.assert_allclose(state.gamma[:, : state.n_topics], q, rtol=0, atol=tolerance)
    assert found.order == posterior.order
    for name in ("alpha", "gamma", "beta", "a", "b"):
        np.testing.assert_allclose(getattr(found, name), getattr(posterior, name), rtol=tolerance)
    if posterior.tau is not None:
        np.testing.assert_allclose(found.tau, posterior.tau, rtol=tolerance)


# ---------------------------------------------------------------------- published values


@pytest.mark.parametrize("run", range(3))
def test_the_engine_follows_the_printed_trajectory(oracles, run):
    """Pairs with beta and tau fixed, pairs with both learnt, a row per token."""
    printed = oracles["cvhdp_runs"][run]
    rows = twin.rows_of(printed["doc"], printed["word"], printed["cnt"], printed["D"], printed["W"])
    given, n_topics = dict(printed["params"]), printed["K"]
    beta = given.pop("beta")
    if not printed["learn_beta_tau"]:
        given["beta_total"] = beta
    options = options_of(**given)
    state = started(rows, np.array(printed["q0"]), options, beta=fixed(beta))
    for iteration in range(1, 201):
        state, _ = iterated(rows, state, options, first=iteration)
        if str(iteration) not in printed["after"]:
            continue
        after, order, found = (
            printed["after"][str(iteration)],
            state.order,
            watched(rows, state, options),
        )
        assert found["bound"] == pytest.approx(
            after["bound"], rel=ORACLE if iteration < 200 else FINAL
        )
        if iteration == 200:
            continue
        table = ENGINE.predict(
            rows, twin.hdp_of(options, n_topics), options, state, whole_table(rows)
        ).reshape(rows.n_documents, -1)
        a, b = state.sticks[:, order]
        for mine, theirs in (
            (state.mean_k[order], after["Ek"]),
            (state.gamma[:, order], after["q"]),
            (state.alpha[:2], after["qa"]),
            (state.top[:2], after["qg"]),
            (a, after["A"]),
            (b, after["B"]),
            (table, after["predict"]),
            (found["alpha"][order], found["alpha_total"] * np.array(after["Epi"])),
            (found["alpha_total"], after["E_alpha"]),
            (1 - found["alpha"].sum() / found["alpha_total"], after["Epi_rest"]),
        ):
            np.testing.assert_allclose(mine, theirs, rtol=ORACLE)
        if printed["learn_beta_tau"]:
            np.testing.assert_allclose(state.beta[:2], after["qb"], rtol=ORACLE)
            np.testing.assert_allclose(state.tau, after["qt"], rtol=ORACLE)


def whole_table(rows):
    """Each document with each word once."""
    return every_pair(SimpleNamespace(n_documents=rows.n_documents, n_words=rows.n_words))


def test_the_bound_is_the_printed_one_at_any_posterior(oracles):
    """At hyper-posteriors that are not those of a round, where shortcuts would be wrong."""
    printed, toy = oracles["exact_elbo"], oracles["hdp_toys"][oracles["exact_elbo"]["toy"]]
    rows = twin.rows_of(toy["doc"], toy["word"], np.ones(len(toy["doc"])), toy["D"], toy["W"])
    options = options_of(
        beta_total=toy["beta"],
        a_alpha=toy["pa"][0],
        b_alpha=toy["pa"][1],
        a_gamma=toy["pg"][0],
        b_gamma=toy["pg"][1],
    )
    sticks = np.array([printed["A"], printed["B"]])
    state = started(
        rows,
        np.array(printed["q"]),
        options,
        alpha=gamma_posterior(*printed["qa"]),
        top=gamma_posterior(*printed["qg"]),
        sticks=sticks,
        log_pi=log_weights(sticks, np.arange(printed["K"])),
    )
    assert cv_hdp.bound(rows, twin.hdp_of(options), options, state) == pytest.approx(
        printed["bound_F"], rel=ORACLE
    )
    # nats; what F may be off by on seven tokens
    assert abs(printed["bound_F"] - printed["elbo_exact"]) < 0.05


def test_divergences_are_the_printed_ones(oracles):
    printed = oracles["kl"]
    found = gamma_divergence(gamma_posterior(*printed["gamma"]["q"]), *printed["gamma"]["p"])
    assert found == pytest.approx(printed["gamma"]["kl"], rel=ORACLE)
    assert gamma_divergence(fixed(3.0), 2.0, 1.0) == 0.0
    stick = printed["stick"]
    found = stick_divergence(
        np.array([[stick["A"]], [stick["B"]]]), gamma_posterior(stick["a"], stick["b"])
    )
    assert found == pytest.approx(stick["value"], rel=ORACLE)
    # the printed Dirichlet prior is not symmetric: against a quadrature of a Beta instead
    q = np.array([2.0, 0.7, 3.0])
    # of the quadrature
    assert dirichlet_divergence(q, 0.5) == pytest.approx(dirichlet_by_betas(q, 0.5), rel=1e-8)


def dirichlet_by_betas(q, prior):
    """KL of Dirichlets as the sum of those of the Betas of their stick breaking, each by quadrature."""

    def divergence(one, other):
        return quad(
            lambda x: one.pdf(x) * (one.logpdf(x) - other.logpdf(x)), 0, 1, epsabs=1e-11, limit=200
        )[0]

    def stick(p, i):
        return beta_distribution(p[i], p[i + 1 :].sum())

    return sum(divergence(stick(q, i), stick(np.full(len(q), prior), i)) for i in range(len(q) - 1))


@pytest.mark.parametrize("toy", range(2))
def test_with_one_topic_the_bound_is_exact(oracles, toy):
    """Counts are certain, so F is exact, a round is coordinate ascent, and its optimum below log p(x) is known."""
    known = oracles["hdp_toys"][toy]
    rows = twin.rows_of(
        known["doc"], known["word"], np.ones(len(known["doc"])), known["D"], known["W"]
    )
    options = options_of(
        beta_total=known["beta"],
        a_alpha=known["pa"][0],
        b_alpha=known["pa"][1],
        a_gamma=known["pg"][0],
        b_gamma=known["pg"][1],
    )
    state = started(rows, np.ones((len(known["doc"]), 1)), options)
    bounds = []
    for _ in range(200):
        state, _ = iterated(rows, state, options)
        bounds.append(cv_hdp.bound(rows, twin.hdp_of(options), options, state))
    assert min(np.diff(bounds)) > -1e-10  # rounding
    # to which the optimum was sought
    assert bounds[-1] == pytest.approx(known["elbo_by_K"]["1"], abs=1e-6)
    assert bounds[-1] < known["exact"]["logZ"]


@pytest.mark.parametrize("name", ["cvb", "cvb0"])
@pytest.mark.parametrize("toy", range(6))
def test_the_collapsed_bound_of_lda_is_the_printed_one(oracles, toy, name):
    """CV-LDA's bound by improved second order, at given responsibilities; exact for one topic."""
    printed = oracles["lda_toys"][toy]
    known, n_topics = oracles["hdp_toys"][printed["toy"]], printed["K"]
    rows = twin.rows_of(
        known["doc"], known["word"], np.ones(len(known["doc"])), known["D"], known["W"]
    )
    model = LDA(n_topics, printed["alpha"] / n_topics, known["beta"] / known["W"])
    gamma = padded_rows(np.array(printed["q"]), float)
    # not what the bound is made of
    counts = [np.zeros((rows.n_documents, 16)), np.zeros((rows.n_words, 16)), np.zeros(16)]
    state = cvb.State(
        *counts, *(np.zeros((0,) * a.ndim) for a in counts), gamma, model.alphas, model.beta
    )
    found = get_engine(name).watch(rows, model, None, state)
    assert found["collapsed_bound"] == pytest.approx(printed["cvlda_at_q"], rel=ORACLE)
    if n_topics == 1:
        assert found["collapsed_bound"] == pytest.approx(printed["log_px"], rel=ORACLE)


# ---------------------------------------------------------------------- against the twin


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("n_topics", [1, 2, 15, 16, 17, 33])
def test_iterations_meet_their_twin_for_any_number_of_topics(n_topics, update):
    corpus = simulated(6, 8, 9)
    options = options_of(update=update, beta_total=1.3, a_alpha=2.0, b_gamma=3.0)
    q, posterior = (
        random_gamma(corpus, n_topics),
        first_posterior(options, n_topics, corpus.n_words),
    )
    state = started(corpus, q, options)
    for iteration in (1, 2, 3):
        before, q = q, twin.cv_hdp_sweep(corpus, q, posterior.priors(corpus.n_words), update)
        posterior = twin.cv_hdp_hyper(corpus, q, posterior, options)
        state, info = iterated(corpus, state, options, first=iteration)
        assert_same(state, q, posterior)
        assert info["change"] == pytest.approx(np.abs(q - before).max(), abs=ROUNDING)
        assert info["updates"] == corpus.n_pairs
    assert cv_hdp.bound(corpus, twin.hdp_of(options), options, state) == pytest.approx(
        twin.cv_hdp_bound(corpus, q, posterior, options), rel=ROUNDING
    )
    assert state.steps == 3 * n_topics


@pytest.mark.parametrize(
    "given",
    [
        {"learn_alpha": False, "alpha_total": 0.7},
        {"learn_gamma": False, "top_concentration": 0.4},
        {"learn_beta": True},
        {"learn_tau": True, "beta_total": 3.0},
        {"learn_beta": True, "learn_tau": True, "a_tau": 0.9, "a_beta": 2.0},
        {"learn_alpha": False, "learn_gamma": False, "beta_total": 5.0},
        {"reorder": False, "beta_total": 2.0},
    ],
)
def test_whatever_is_learnt_meets_its_twin(given):
    corpus, options = CORPORA["empty_documents_and_unused_words"], options_of(**given)
    q, posterior = random_gamma(corpus, 3), first_posterior(options, 3, corpus.n_words)
    state = started(corpus, q, options)
    for iteration in (1, 2, 3):
        q = twin.cv_hdp_sweep(corpus, q, posterior.priors(corpus.n_words))
        posterior = twin.cv_hdp_hyper(corpus, q, posterior, options)
        state, _ = iterated(corpus, state, options, first=iteration)
        assert_same(state, q, posterior)
    found = watched(corpus, state, options)
    assert found["bound"] == pytest.approx(
        twin.cv_hdp_bound(corpus, q, posterior, options), rel=ROUNDING
    )
    assert found["alpha_total"] == pytest.approx(posterior.moments(posterior.alpha)[0])
    assert found["beta_total"] == pytest.approx(posterior.moments(posterior.beta)[0])
    assert found["top_concentration"] == pytest.approx(posterior.moments(posterior.gamma)[0])
    table = ENGINE.predict(
        corpus, twin.hdp_of(options, 3), options, state, every_pair(corpus)
    ).reshape(corpus.n_documents, -1)
    np.testing.assert_allclose(table, twin.cv_hdp_predictive(corpus, q, posterior), rtol=ROUNDING)


@pytest.mark.parametrize("name", CORPORA)
def test_counts_are_those_of_the_responsibilities_after_many_iterations(name):
    """Moved along for 60 iterations and summed afresh in one of them."""
    corpus, options = CORPORA[name], options_of(beta_total=2.0)
    state, _ = iterated(corpus, started(corpus, random_gamma(corpus, 3), options), options, 60)
    documents, words, topics = twin.all_sums(corpus, state.gamma[:, :3])
    for array, expected in zip(
        state[:6],
        (documents[0], words[0], topics[0][0], documents[1], words[1], topics[1][0]),
        strict=True,
    ):
        np.testing.assert_allclose(array[..., :3], expected, rtol=0, atol=ROUNDING)


def test_drift_is_mended_in_every_fiftieth_iteration():
    corpus, options = simulated(), options_of(beta_total=2.0)
    for step, mended in ((cv_hdp.RECOUNT_EVERY - 1, False), (cv_hdp.RECOUNT_EVERY, True)):
        state = started(corpus, random_gamma(corpus, 3), options)
        state.mean_wk[0, 0] += 1.0
        state, _ = iterated(corpus, state, options, first=step)
        assert np.allclose(state.mean_wk.sum(axis=0), state.mean_k, atol=ROUNDING) == mended


# ---------------------------------------------------------------------- what is promised


def test_topics_keep_their_places_and_sticks_follow_the_sizes():
    corpus = simulated()
    sizes = np.array([0.05, 0.6, 0.05, 0.3])
    q = np.tile(sizes, (corpus.n_pairs, 1))
    for reorder, order in ((True, [1, 3, 0, 2]), (False, [0, 1, 2, 3])):
        options = options_of(beta_total=1e8, reorder=reorder)  # so much that words hardly matter
        state = started(corpus, q, options)
        state = cv_hdp.settle_state(corpus, twin.hdp_of(options), options, state, 1)
        assert state.order.tolist() == order  # equal sizes in the order that they had
        np.testing.assert_allclose(state.mean_k[:4], corpus.n_tokens * sizes)


@pytest.mark.parametrize("n_more", [1, 6])
def test_truncations_are_nested_where_gamma_is_fixed(n_more):
    """A solution among more topics, the rest of them empty, has the very bound that it had."""
    corpus, options = (
        simulated(),
        options_of(beta_total=2.0, learn_gamma=False, top_concentration=1.5),
    )
    state, _ = iterated(corpus, started(corpus, random_gamma(corpus, 4), options), options, 100)
    wider = started(
        corpus, np.pad(state.gamma[:, :4], ((0, 0), (0, n_more))), options, alpha=state.alpha
    )
    wider = wider._replace(log_pi=np.concatenate([state.log_pi, np.full(n_more, -5.0)]))
    wider = cv_hdp.settle_state(corpus, twin.hdp_of(options), options, wider, 300)
    state = cv_hdp.settle_state(corpus, twin.hdp_of(options), options, state, 300)
    assert cv_hdp.bound(corpus, twin.hdp_of(options), options, wider) == pytest.approx(
        cv_hdp.bound(corpus, twin.hdp_of(options), options, state), rel=1e-6
    )  # spec 6
    np.testing.assert_allclose(
        mean_weights(wider.sticks, wider.order)[:4],
        mean_weights(state.sticks, state.order),
        rtol=1e-6,
    )


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    "given",
    [
        {"alpha_total": 1e-8, "learn_alpha": False},
        {"top_concentration": 1e-8, "learn_gamma": False},
        {"beta_total": 1e-8},
        {"a_alpha": 1e-8, "b_alpha": 1e-8},
        {"a_gamma": 1e-8, "b_gamma": 1e-8},
        {"a_alpha": 1e8},
        {"b_gamma": 1e8},
        {"learn_beta": True, "learn_tau": True, "a_beta": 1e-8, "a_tau": 1e-8},
    ],
)
def test_tiny_and_huge_concentrations_stay_finite(given, update):
    options = options_of(update=update, **given)
    for name in ("one_token", "empty_documents_and_unused_words", "twelve_documents"):
        corpus = CORPORA[name]
        state, info = iterated(
            corpus, started(corpus, random_gamma(corpus, 3), options), options, 5
        )
        found = watched(corpus, state, options)
        assert all(np.all(np.isfinite(value)) for value in (info | found).values()), found
        assert all(np.all(np.isfinite(array)) for array in state)
        np.testing.assert_allclose(state.gamma[:, :3].sum(axis=1), 1.0, rtol=ROUNDING)


@pytest.mark.parametrize("update", UPDATES)
def test_the_bound_has_no_net_fall(update):
    """No guarantee, but no fall of 1e-4 of it after the fifth iteration, nor in sum over any twenty (spec 17)."""
    corpus, options = (
        LDA(5, 0.3, 0.2).simulate(30, 40, 40, 1)[0],
        options_of(update=update, beta_total=4.0),
    )
    state, bounds = cv_hdp.init(corpus, twin.hdp_of(options, 8), options, StepContext(1, 0)), []
    for i in range(1, 121):
        state, _ = iterated(corpus, state, options, first=i)
        bounds.append(cv_hdp.bound(corpus, twin.hdp_of(options), options, state))
    bounds = np.array(bounds[5:])
    allowed = 1e-4 * abs(bounds[-1])
    assert np.diff(bounds).min() > -allowed
    assert (bounds[20:] - bounds[:-20]).min() > -allowed
    assert bounds[-1] > bounds[0]


def test_cv_hdp_begins_with_noise_and_even_weights():
    corpus, options = simulated(), options_of()
    state = cv_hdp.init(corpus, twin.hdp_of(options, 4), options, StepContext(0, 0))
    q = state.gamma[:, :4]
    # (1 + u) / sum of four: at least 1 / (1 + 6), at most 2 / (2 + 3)
    assert 1 / 7 < q.min() < q.max() < 2 / 5
    np.testing.assert_allclose(np.exp(state.log_pi), 0.25)
    assert (state.beta[2], state.alpha[2], state.top[2]) == (100.0, 1.0, 1.0)


def test_a_start_from_topics_takes_their_shares_and_five_rounds():
    """A pair of which one of four tokens is in topic 2, one in none: (1/4 + 1/12) of it is topic 2's (spec 11)."""
    corpus, options = corpus_of([(0, 0, 4), (0, 1, 1), (1, 2, 2)]), options_of(beta_total=3.0)
    topics = np.array([2, -1, 0, 0, 1, 2, 2], np.int32)
    start = WarmStart(np.zeros((3, 3)), np.zeros((2, 3)), topics)
    state = cv_hdp.init(corpus, twin.hdp_of(options, 3), options, StepContext(0, 0), start)
    q = np.array([[7 / 12, 1 / 12, 4 / 12], [0, 1, 0], [0, 0, 1]])
    posterior = first_posterior(options, 3, 3)
    for _ in range(5):
        posterior = twin.cv_hdp_hyper(corpus, q, posterior, options)
    assert_same(state, q, posterior)


def test_a_start_from_counts_goes_on_from_there():
    corpus, options = simulated(40, 30, 60), options_of(beta_total=3.0)
    state, _ = iterated(
        corpus,
        cv_hdp.init(corpus, twin.hdp_of(options, 6), options, StepContext(0, 0)),
        options,
        40,
    )
    counts = ENGINE.counts(corpus, twin.hdp_of(options, 6), options, state)
    again = cv_hdp.init(
        corpus,
        twin.hdp_of(options, 8),
        options,
        StepContext(1, 0),
        WarmStart(
            np.pad(counts["n_kw"], ((0, 2), (0, 0))), np.pad(counts["n_dk"], ((0, 0), (0, 2)))
        ),
    )
    before, (after, _) = (
        cv_hdp.bound(corpus, twin.hdp_of(options), options, state),
        iterated(corpus, again, options, 5),
    )
    bound = cv_hdp.bound(corpus, twin.hdp_of(options), options, after)
    assert bound > before - 0.01 * abs(before)  # a hundredth; a random start is at a tenth


def test_tau_is_kept_where_it_is_learnt():
    corpus, options = simulated(), options_of(learn_tau=True)
    state, _ = iterated(corpus, started(corpus, random_gamma(corpus, 3), options), options)
    tau = ENGINE.counts(corpus, twin.hdp_of(options, 3), options, state)["tau"]
    np.testing.assert_allclose(tau, state.tau / state.tau.sum())
    # words of many documents
    assert np.corrcoef(tau, np.bincount(corpus.words, minlength=corpus.n_words))[0, 1] > 0.5
