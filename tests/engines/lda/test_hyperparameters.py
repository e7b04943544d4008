"""alpha and beta that learn: the right likelihood for each engine, maxima, draws, and when (spec A.10)."""

import itertools
from dataclasses import fields
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import twins
from engines.lda.starts import cvb_state
from geweke import z_of
from scipy.special import gammaln
from stepping import stepped
from toys import CORPORA, LDA_ENGINES, corpus_of, simulated, toy_a

import workbench as wb
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.lda import cvb, hyperparameters, likelihoods
from workbench.engines.lda.hyperparameters import (
    Counts,
    Learning,
    SufficientStatistics,
    learnt,
    polya,
    prior_of,
)
from workbench.engines.lda.likelihoods import (
    LARGEST,
    SMALLEST,
    Dirichlet,
    Polya,
    climb_once,
    draw_by_slices,
    draw_by_tables,
)
from workbench.engines.options import make_options
from workbench.kernels.lda.polya import whole_sites
from workbench.models import LDA

PRINTED = 1e-8  # of values that were printed from float64 programs, through sites of real counts
ROUNDING = 1e-9  # relative, of sums through sites of real counts
FORMS = ("asymmetric", "symmetric")
WAYS = ("maximised", "sampled")
HYBRIDS = {"svb-cgs": "svb", "cvb-cgs": "cvb", "cvb0-cgs": "cvb0"}


def learning(engine, way="maximised", form="asymmetric", **more):
    """Options that learn both priors after every step."""
    chosen = {
        "learn_alpha": way,
        "learn_beta": way,
        "alpha_form": form,
        "learn_after": 0,
        "learn_every": 1,
    }
    return make_options(engine, chosen | more)


def runs(engine, corpus, model, options, n_steps, seed=0):
    """(the state after each step, the same with the priors that it had before)."""
    state = engine.init(corpus, model, options, StepContext(seed, 0))
    for step in range(1, n_steps + 1):
        alpha, beta = state.alpha, state.beta
        state, _ = engine.step(corpus, model, options, state, StepContext(seed, step))
        yield state, state._replace(alpha=alpha, beta=beta)


def likelihood_of(engine, corpus, options, state):
    """{"alpha": likelihood, "beta": likelihood} as `learn` maximises them."""
    module = import_module(ENGINES[engine.name], "workbench.engines")
    how = {"split": module.split_of(corpus, options)} if engine.name in HYBRIDS else {}
    of = partial(module.likelihood, options, state) if engine.name == "vb" else polya
    return {
        name: of(
            corpus,
            module.sufficient_statistics(corpus, state, name, **how),
            prior_of(state, options, name, corpus.n_words),
        )
        for name in ("alpha", "beta")
    }


def of_counts(rows, sizes, name, n_words, symmetric=False, whole=True):
    """The Polya likelihood of printed counts (row, topic)."""
    rows, corpus = (
        np.array(rows),
        corpus_of([(d, 0, n) for d, n in enumerate(sizes)]) if name == "alpha" else None,
    )
    options = Learning(
        learn_alpha="maximised", alpha_form="symmetric" if symmetric else "asymmetric"
    )
    prior = prior_of(
        SimpleNamespace(alpha=np.full(rows.shape[1], 0.1), beta=0.1), options, name, n_words
    )
    if whole:
        cells = (
            Counts(sampled=rows.astype(np.int32)[None]),
            Counts(sampled=rows.sum(axis=0).astype(np.int64)[None, None]),
        )
    else:
        cells = Counts(rows), Counts(rows.sum(axis=0)[None])
    return polya(corpus, SufficientStatistics(*cells), prior)


def alpha_likelihood(n_dk, **how):
    return of_counts(n_dk, np.array(n_dk).sum(axis=1).astype(int), "alpha", 1, **how)


# ---------------------------------------------------------------------- printed values


@pytest.mark.parametrize("whole", [True, False])
def test_the_polya_likelihood_of_alpha_has_its_printed_values(oracles, whole):
    printed = oracles["hyper"]
    found, x = alpha_likelihood(printed["n_dk"], whole=whole), np.array(printed["alpha_eval"])
    assert found.value(x) == pytest.approx(printed["polya_alpha_value"], rel=PRINTED)
    np.testing.assert_allclose(found.slopes(x).gradient, printed["polya_alpha_grad"], rtol=PRINTED)
    np.testing.assert_allclose(
        found.slopes(x).fixed_point, printed["one_minka_alpha_step_from_eval"], rtol=PRINTED
    )


@pytest.mark.parametrize("whole", [True, False])
def test_the_polya_likelihood_of_beta_has_its_printed_values(oracles, whole):
    printed = oracles["hyper"]
    found, x = of_counts(printed["n_wk"], (), "beta", 5, whole=whole), np.array([0.4])
    value, gradient, curvature = printed["polya_beta_at_0p4"]
    slopes = found.slopes(x)
    assert found.value(x) == pytest.approx(value, rel=PRINTED)
    # a difference of terms of about 20
    assert slopes.gradient[0] == pytest.approx(gradient, abs=1e-7)
    assert slopes.diagonal[0] + slopes.rank_one == pytest.approx(curvature, rel=1e-7)
    assert slopes.fixed_point[0] == pytest.approx(
        printed["one_minka_beta_step_from_0p4"], rel=PRINTED
    )


def climb(likelihood, x, n_steps=30):
    """Where repeated steps end; none of them lowers the likelihood."""
    x = np.array(x, float)
    for _ in range(n_steps):
        new = climb_once(likelihood, x)
        assert likelihood.value(new) >= likelihood.value(x)
        x = new
    return x


@pytest.mark.parametrize("start", [1e-6, 0.01, 0.1, 1.0, 30.0, 1e4])
def test_steps_end_at_the_printed_maxima_from_wherever_they_begin(oracles, start):
    printed, newton = oracles["hyper"], oracles["newton"]
    at_maximum = 2e-6  # of x: a step below 1e-6 is not taken
    for whole in (True, False):
        alpha = climb(alpha_likelihood(printed["n_dk"], whole=whole), [start] * 3)
        np.testing.assert_allclose(alpha, printed["alpha_star_polya"], rtol=at_maximum)
        beta = climb(of_counts(printed["n_wk"], (), "beta", 5, whole=whole), [start])
        np.testing.assert_allclose(beta, printed["beta_star_polya"], rtol=at_maximum)
    vector = Dirichlet(printed["dirichlet_D"], np.array(printed["dirichlet_S"]), 1)
    np.testing.assert_allclose(
        climb(vector, [start] * 3), printed["alpha_star_dirichlet"], rtol=at_maximum
    )
    symmetric = newton["symmetric"]
    found = Dirichlet(symmetric["K"], np.array([symmetric["s"]]), symmetric["T"])
    np.testing.assert_allclose(climb(found, [start]), symmetric["alpha_star"], rtol=at_maximum)


def test_minkas_step_of_cvb_has_its_printed_value(oracles):
    printed, (corpus, model) = oracles["cvb_alpha_step"], toy_a()
    state = cvb_state(corpus, model, np.array(oracles["toyA"]["cvb"]["gamma0"]))
    prior = prior_of(state, Learning(learn_alpha="maximised"), "alpha", corpus.n_words)
    corrected = polya(corpus, cvb.sufficient_statistics(corpus, state, "alpha"), prior).slopes(
        prior.x
    )
    np.testing.assert_allclose(corrected.fixed_point, printed["zero_corrected"], rtol=PRINTED)
    # the expansion's own error
    np.testing.assert_allclose(corrected.fixed_point, printed["exact"], rtol=3e-4)
    plugged_in = polya(corpus, SufficientStatistics(Counts(state.mean_dk), None), prior).slopes(
        prior.x
    )
    np.testing.assert_allclose(plugged_in.fixed_point, printed["plugin"], rtol=PRINTED)


# ---------------------------------------------------------------------- slopes


ROWS = np.random.default_rng(5).poisson(2.0, (30, 4))
SMALL = {  # likelihood, and how many x it has
    "whole": lambda: (alpha_likelihood(ROWS), 4),
    "symmetric": lambda: (alpha_likelihood(ROWS, symmetric=True), 1),
    "real": lambda: (alpha_likelihood(ROWS * 0.75 + ROWS[:, ::-1] * 0.25, whole=False), 4),
    "beta": lambda: (of_counts(ROWS, (), "beta", 30), 1),
    "dirichlet": lambda: (Dirichlet(12, np.array([-20.0, -31.0, -25.0, -40.0]), 1), 4),
    "shifted": lambda: (Dirichlet(12, np.array([-600.0]), 20, shift=1.0), 1),
}


@pytest.mark.parametrize("kind", SMALL)
def test_slopes_are_the_derivatives_of_the_value(kind):
    """Gradient and diag(q) + z 1 1' against differences; `along` changes with one x as the value does."""
    likelihood, n = SMALL[kind]()
    x = np.linspace(0.3, 0.9, n)
    slopes, h = likelihood.slopes(x), 1e-5
    hessian = np.diag(slopes.diagonal) + slopes.rank_one
    for k, step in enumerate(h * np.eye(n)):
        difference = (likelihood.value(x + step) - likelihood.value(x - step)) / (2 * h)
        # h^2, and rounding of 1e3 over h
        assert slopes.gradient[k] == pytest.approx(difference, rel=1e-6, abs=1e-5)
        of_slope = (likelihood.slopes(x + step).gradient - likelihood.slopes(x - step).gradient) / (
            2 * h
        )
        np.testing.assert_allclose(hessian[k], of_slope, rtol=1e-5, atol=1e-5)
        along = likelihood.along(x, k)
        moved = x.copy()
        moved[k] = 1.7
        assert along(1.7) - along(x[k]) == pytest.approx(
            likelihood.value(moved) - likelihood.value(x), rel=ROUNDING
        )


@pytest.mark.parametrize("kind", SMALL)
def test_a_newton_step_by_logarithms_solves_the_whole_system(kind):
    likelihood, n = SMALL[kind]()
    x = np.linspace(0.3, 0.9, n)
    slopes = likelihood.slopes(x)
    gradient = x * slopes.gradient
    hessian = np.diag(x**2 * slopes.diagonal + gradient) + slopes.rank_one * np.outer(x, x)
    np.testing.assert_allclose(
        likelihoods.newton_step(x, slopes), -np.linalg.solve(hessian, gradient), rtol=ROUNDING
    )


def test_where_newton_leads_down_the_slope_is_followed():
    """Far above the maximum the likelihood is convex in log beta, and Newton's step would go further up."""
    likelihood, x = of_counts(np.diag([50, 50, 50]), (), "beta", 3), np.array([100.0])
    slopes = likelihood.slopes(x)
    assert slopes.gradient[0] < 0 < likelihoods.newton_step(x, slopes)[0]
    # 23; the fixed point would go to 88
    assert climb_once(likelihood, x)[0] < 0.5 * slopes.fixed_point[0]


@pytest.mark.parametrize("broken", ["newton_step", "both"])
def test_the_fixed_point_stands_by(monkeypatch, oracles, broken):
    """Where other steps give no number, repeated fixed points end at the maximum, or the gradient does."""
    monkeypatch.setattr(likelihoods, "newton_step", lambda x, slopes: np.full(len(x), np.nan))
    likelihood = alpha_likelihood(oracles["hyper"]["n_dk"])
    if broken == "both":
        whole = likelihood.slopes
        likelihood = Unsized(lambda x: whole(x)._replace(rank_one=np.nan), likelihood.value)
        step = climb_once(likelihood, np.array(oracles["hyper"]["alpha_eval"]))
        np.testing.assert_allclose(
            step, oracles["hyper"]["one_minka_alpha_step_from_eval"], rtol=PRINTED
        )
    np.testing.assert_allclose(
        climb(likelihood, [0.5] * 3, 300), oracles["hyper"]["alpha_star_polya"], rtol=1e-4
    )


class Unsized(NamedTuple):
    slopes: object
    value: object
    flat: bool = False


# ---------------------------------------------------------------------- the likelihood of each engine

JOINTS = {
    "svb": "bound",
    "cvb0": "bound",
    "cgs": "log_joint",
    "svb-cgs": "objective",
    "cvb0-cgs": "objective",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", JOINTS)
def test_what_is_maximised_is_what_the_engine_records(name, form):
    """Its bound, log joint or objective changes with the priors as the likelihoods do; chains are averaged."""
    engine, corpus = (
        get_engine(name),
        CORPORA["empty_documents_and_unused_words"] if form == "symmetric" else simulated(),
    )
    given = {"n_chains": 3} if name.endswith("-cgs") else {}
    options = learning(engine, form=form, learn_after=4, **given)
    one, other = LDA(3, 0.4, 0.3), LDA(3, 0.07 if form == "symmetric" else (0.2, 1.3, 0.05), 1.1)
    state = stepped(engine, corpus, one, options, 3)
    found = likelihood_of(engine, corpus, options, state)
    states = (state, state._replace(alpha=other.alphas, beta=other.beta))
    first, second = (engine.watch(corpus, one, options, each)[JOINTS[name]] for each in states)
    alphas = [
        np.array([model.alpha]) if form == "symmetric" else model.alphas for model in (one, other)
    ]
    change = found["alpha"].value(alphas[1]) - found["alpha"].value(alphas[0])
    change += found["beta"].value(np.array([other.beta])) - found["beta"].value(
        np.array([one.beta])
    )
    assert change == pytest.approx(second - first, rel=1e-7)  # both are differences of larger sums


@pytest.mark.parametrize("r", [0, 1, np.inf])
@pytest.mark.parametrize("of", ["alpha", "beta"])
def test_cvb_and_its_hybrid_maximise_the_corrected_expectation(of, r):
    engine, corpus, model = get_engine("cvb-cgs"), simulated(6, 8, 9), LDA(3, 0.3, 0.2)
    options = learning(engine, r=r, n_chains=2, learn_after=3, init="dirichlet")
    state = stepped(engine, corpus, model, options, 2, seed=2)
    gamma = np.zeros((corpus.n_pairs, 3))
    gamma[corpus.counts > r] = state.gamma[:, :3]
    sampled = [twins.sampled_counts(corpus, topics, 3, r) for topics in state.topics]
    found = likelihood_of(engine, corpus, options, state)[of]
    x = np.array([0.2, 0.5, 1.1]) if of == "alpha" else np.array([0.4])
    full = x if of == "alpha" else np.full(corpus.n_words, 0.4)
    assert found.value(x) == pytest.approx(
        twins.corrected_value(corpus, gamma, sampled, full, of, 0, r), rel=1e-8
    )
    slopes = twins.corrected_value(corpus, gamma, sampled, full, of, 1, r)
    expected = slopes if of == "alpha" else [slopes.sum()]
    # a difference of larger sums
    np.testing.assert_allclose(found.slopes(x).gradient, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("topics", ["full", "point"])
def test_vb_maximises_its_bound_at_a_fixed_posterior(topics):
    """Empty documents are left out: their E[log theta] would only echo the alpha that they have."""
    engine, corpus, model = get_engine("vb"), simulated(8, 6, 12), LDA(3, (0.2, 0.5, 0.9), 0.3)
    corpus = corpus_of([(d + 1, w, n) for d, w, n in twins.pairs_of(corpus)], 11, 6)
    options = learning(engine, topics=topics)
    *_, (state, _) = runs(engine, corpus, model, make_options(engine, {"topics": topics}), 3)
    found, live = likelihood_of(engine, corpus, options, state), slice(3)
    filled = corpus.document_tokens > 0
    log_theta = twins.log_means(model.alphas + state.mean_dk[filled, live])
    one, other = np.array([0.3, 0.6, 0.1]), np.array([1.0, 0.2, 0.4])
    expected = twins.dirichlet_value(log_theta, other) - twins.dirichlet_value(log_theta, one)
    assert found["alpha"].value(other) - found["alpha"].value(one) == pytest.approx(
        expected, rel=PRINTED
    )
    b = model.beta + state.mean_wk[:, live].T
    log_phi = twins.log_means(b) if topics == "full" else np.log(b / b.sum(axis=1, keepdims=True))
    one, other, shift = np.array([0.2]), np.array([0.7]), 1.0 if topics == "point" else 0.0
    expected = np.subtract(
        *(twins.dirichlet_value(log_phi, np.full(6, x[0] + shift)) for x in (other, one))
    )
    assert found["beta"].value(other) - found["beta"].value(one) == pytest.approx(
        expected, rel=PRINTED
    )


# ---------------------------------------------------------------------- maximised


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("vb", {"warm_up": 5}),
        ("vb", {"topics": "point", "init": "dirichlet"}),
        ("svb", {"warm_up": 5}),
        ("svb", {"schedule": "sequential", "warm_up": 5}),
    ],
)
def test_the_bound_never_falls_through_step_or_learning(name, given, corpus, form):
    engine = get_engine(name)
    options, last = learning(engine, form=form, **given), -np.inf
    model = LDA(3, 0.1, 0.1)
    for step, (after, before) in enumerate(runs(engine, corpus, model, options, 25), 1):
        for state in (before, after) if step > getattr(options, "warm_up", 0) else ():
            bound = engine.watch(corpus, model, options, state)["bound"]
            # rounding (A.13, 3), and of the sites
            assert bound >= last - 1e-9 * max(abs(bound), 1.0), state.alpha
            last = bound


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_topics", [1, 3])
@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
@pytest.mark.parametrize("name", LDA_ENGINES)
def test_learnt_priors_stay_within_their_limits_and_keep_their_form(
    name, corpus, n_topics, form, way
):
    engine = get_engine(name)
    options = learning(engine, way, form)
    model = LDA(n_topics, 1e-8, 1e-8)
    for state, _ in runs(engine, corpus, model, options, 4):
        assert state.alpha.shape == (n_topics,) and isinstance(state.beta, float)
        assert form == "asymmetric" or np.all(state.alpha == state.alpha[0])
        assert (
            np.all((state.alpha >= SMALLEST) & (state.alpha <= LARGEST))
            and SMALLEST <= state.beta <= LARGEST
        )
        assert all(
            np.all(np.isfinite(value))
            for value in engine.watch(corpus, model, options, state).values()
        )


@pytest.mark.parametrize("name", ["svb", "cgs"])
def test_a_maximum_at_infinity_ends_at_the_limit(name):
    """toyA has its maxima at (23.8, 9.1) and 21.5, or beyond (spec A.10); equal documents have theirs at infinity."""
    engine, corpus = get_engine(name), corpus_of([(d, w, 2) for d in range(4) for w in range(3)])
    options = learning(engine)
    *_, (state, _) = runs(engine, corpus, LDA(2, 0.5, 0.5), options, 60)
    assert np.all(state.alpha <= LARGEST) and state.beta <= LARGEST
    alike = alpha_likelihood(np.full((4, 2), 3), symmetric=True)
    assert climb(alike, [1.0])[0] == LARGEST


def test_a_topic_without_tokens_ends_at_the_smallest_prior():
    found = climb(alpha_likelihood([[3, 1, 0], [0, 2, 0], [5, 4, 0]]), [0.5] * 3)
    assert found[2] == SMALLEST and np.all(found[:2] > 0.1)


def test_counts_of_next_to_nothing_do_not_pull_a_prior_to_nothing():
    """psi(x + n) - psi(x) at x = 4e4, n = 1e-12 is 6e-22: as a difference of doubles it would be 0 (spec A.10)."""
    likelihood = alpha_likelihood([[2.0, 1e-12], [3.0 - 1e-12, 1e-12]], whole=False)
    x = np.array([4e4, 4e4])
    slopes = likelihood.slopes(x)
    rise = 2e-12 / 4e4
    # first terms in n / x
    assert slopes.fixed_point[1] / slopes.fixed_point[0] == pytest.approx(
        rise / (5 / 4e4), rel=1e-3
    )
    assert likelihood.value(climb_once(likelihood, x)) > likelihood.value(x)


@pytest.mark.parametrize("name", LDA_ENGINES)
def test_one_topic_or_one_word_teaches_nothing(name):
    engine = get_engine(name)
    for corpus, n_topics, same in ((simulated(), 1, "alpha"), (CORPORA["one_word"], 3, "beta")):
        options = learning(engine)
        for state, _ in runs(engine, corpus, LDA(n_topics, 0.3, 0.3), options, 3):
            assert np.all(getattr(state, same) == 0.3)


def test_documents_whose_topics_are_known_give_their_maximum():
    """Topics that share no word: n_dk is known to all engines, and so is the maximum; it is near what was drawn from."""
    alpha, random = np.array([0.2, 0.6, 1.5]), np.random.default_rng(0)
    counts = np.array([random.multinomial(80, random.dirichlet(alpha)) for _ in range(150)])
    d, w = np.nonzero(counts)
    corpus = corpus_of(list(zip(d, w, counts[d, w], strict=True)))
    start = WarmStart(np.diag(counts.sum(axis=0)).astype(float), None)
    maximum = climb(alpha_likelihood(counts), [0.4] * 3)
    np.testing.assert_allclose(maximum, alpha, rtol=0.3)  # three standard errors of 150 documents
    for name in LDA_ENGINES:
        engine = get_engine(name)
        options, model = learning(engine, learn_beta="fixed"), LDA(3, 0.4, 1e-6)
        state = engine.init(corpus, model, options, StepContext(0, 0), start)
        state = stepped(engine, corpus, model, options, 12, state=state)
        # vb is slower than Newton
        np.testing.assert_allclose(state.alpha, maximum, rtol=0.05, err_msg=name)


# ---------------------------------------------------------------------- sampled


def draws(draw, likelihood, x, n_draws, prior=(1.0, 1.0), seed=0):
    random, x = np.random.default_rng(seed), np.array(x, float)
    found = []
    for _ in range(n_draws):
        x = draw(likelihood, x, *prior, random)
        found.append(x)
    return np.array(found)


@pytest.mark.parametrize("draw", [draw_by_tables, draw_by_slices])
def test_draws_given_the_counts_have_the_printed_moments(oracles, draw):
    printed = oracles["hyper"]
    posterior = printed["beta_given_z_posterior"]
    found = draws(draw, of_counts(printed["n_wk"], (), "beta", 5), [0.5], 6000)
    second = posterior["mean"] ** 2 + posterior["sd"] ** 2
    assert z_of(np.hstack([found, found**2]), [posterior["mean"], second], 50).max() < 4
    posterior = printed["alpha_given_z_posterior"]
    found = draws(draw, alpha_likelihood(posterior["n_dk"]), [0.5, 0.5], 6000)
    assert z_of(found, posterior["mean"], 50).max() < 4


def on_a_grid(log_density, n=4000):
    """Mean of x and log x under a density of x, by quadrature over log x."""
    u = np.linspace(np.log(1e-6), np.log(1e3), n)
    logs = np.array([log_density(np.exp(each)) + each for each in u])
    weight = np.exp(logs - logs.max())
    return weight @ np.stack([np.exp(u), u], axis=1) / weight.sum()


@pytest.mark.parametrize("draw", [draw_by_tables, draw_by_slices])
@pytest.mark.parametrize("prior", [(1.0, 1.0), (2.5, 4.0)])
def test_draws_of_a_symmetric_alpha_follow_their_posterior(draw, prior):
    n_dk = np.array([[5, 1, 0], [2, 2, 7], [0, 3, 1], [0, 0, 0]])
    expected = on_a_grid(
        lambda a: twins.polya_value(n_dk, np.full(3, a)) + (prior[0] - 1) * np.log(a) - prior[1] * a
    )
    found = draws(draw, alpha_likelihood(n_dk, symmetric=True), [0.5], 6000, prior)
    assert z_of(np.hstack([found, np.log(found)]), expected, 50).max() < 4


def test_slices_follow_a_likelihood_that_is_no_polya():
    s = -30.0
    expected = on_a_grid(
        lambda a: 4 * (gammaln(5 * a) - 5 * gammaln(a)) + a * s + np.log(a) - 3 * a
    )
    found = draws(draw_by_slices, Dirichlet(4, np.array([s]), 5), [0.5], 6000, (2.0, 3.0))
    assert z_of(np.hstack([found, np.log(found)]), expected, 50).max() < 4


def test_without_a_count_a_prior_is_drawn_from_its_own_prior():
    for draw in (draw_by_tables, draw_by_slices):
        nothing = Polya(
            whole_sites(np.zeros((2, 3), int)), whole_sites(np.zeros((1, 3), int)), 1, True
        )
        found = draws(draw, nothing, [0.5, 0.5], 4000, (2.0, 4.0))
        assert z_of(np.hstack([found, found**2]), [0.5, 0.5, 0.375, 0.375], 50).max() < 4


@pytest.mark.slow
def test_topics_and_priors_follow_their_exact_joint_posterior():
    """Five tokens, K = 2: all 32 assignments times a grid of alpha (symmetric) and of beta."""
    corpus, engine = corpus_of([(0, 0, 2), (0, 1, 1), (1, 1, 1), (1, 2, 1)]), get_engine("cgs")
    grid = np.linspace(np.log(1e-4), np.log(40), 500)
    topics = np.array(list(itertools.product(range(2), repeat=5)))
    # log p(z, w | priors) is a sum of a part of alpha and one of beta
    joint = np.zeros((len(topics), 2, len(grid)))
    for i, z in enumerate(topics):
        counts = twins.sampled_counts(corpus, z, 2)
        for j, x in enumerate(np.exp(grid)):
            # Gamma(2, 3), Jacobian
            joint[i, 0, j] = twins.polya_value(counts.n_dk, np.full(2, x)) + 2 * np.log(x) - 3 * x
            # Gamma(2, 4)
            joint[i, 1, j] = twins.polya_value(counts.n_wk.T, np.full(3, x)) + 2 * np.log(x) - 4 * x
    part = np.exp(joint)
    sums, means = part.sum(axis=2), (part * np.exp(grid)).sum(axis=2)
    weight = sums.prod(axis=1) / sums.prod(axis=1).sum()
    expected = [weight @ (means[:, i] / sums[:, i]) for i in (0, 1)]
    pairs = list(itertools.combinations(range(5), 2))
    expected += [weight @ (topics[:, i] == topics[:, j]) for i, j in pairs]
    options = learning(engine, "sampled", "symmetric", a_alpha=2, b_alpha=3, a_beta=2, b_beta=4)
    found = [
        [state.alpha[0], state.beta, *(state.topics[i] == state.topics[j] for i, j in pairs)]
        for state, _ in runs(engine, corpus, LDA(2, 0.5, 0.5), options, 3050)
    ]
    assert z_of(found[50:], expected, 50).max() < 4


def test_each_prior_has_random_numbers_of_its_own_at_each_step(monkeypatch):
    seen, engine = [], get_engine("cgs")
    monkeypatch.setattr(
        hyperparameters,
        "draw_prior",
        lambda found, x, shape, rate, random: seen.append(random.random()) or x,
    )
    assert len(list(runs(engine, simulated(), LDA(3), learning(engine, "sampled"), 3))) == 3
    assert len(set(seen)) == 2 * 3


# ---------------------------------------------------------------------- when, and with which bits


def test_nothing_is_learnt_before_its_time():
    engine, corpus = get_engine("svb"), simulated()
    cases = [
        ({"learn_alpha": "maximised"}, range(10, 31)),
        ({"learn_alpha": "sampled"}, (10, 20, 30)),
        ({"learn_beta": "maximised", "learn_every": 7, "learn_after": 3}, (3, 10, 17, 24)),
        ({"learn_beta": "maximised", "learn_after": 0}, range(1, 31)),
    ]
    for given, expected in cases:
        options, model = make_options(engine, given), LDA(3, 0.1, 0.1)
        changed = []
        state = engine.init(corpus, model, options, StepContext(0, 0))
        for step in range(1, 31):
            before = state.alpha, state.beta
            state, _ = engine.step(corpus, model, options, state, StepContext(0, step))
            if not (state.alpha is before[0] and state.beta is before[1]):
                changed.append(step)
        assert changed == list(expected)


@pytest.mark.parametrize(
    ("name", "given", "every"),
    [
        ("cgs", {}, 10),
        ("svb-cgs", {}, 10),
        ("svb-cgs", {"r": 0}, 1),
        ("vb", {}, 1),
        ("cvb0-cgs", {"r": np.inf}, 10),
    ],
)
def test_samplers_learn_every_ten_sweeps(name, given, every):
    engine = get_engine(name)
    options = make_options(engine, {"learn_beta": "maximised"} | given)
    steps = [
        step
        for step in range(1, 41)
        if hyperparameters.due(options, step, engine.samples(simulated(), options))
    ]
    assert steps == list(range(10, 41, every))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"learn_alpha": "maximised"},
        {"learn_beta": "sampled"},
        {"learn_alpha": "sampled", "learn_beta": "maximised"},
    ],
)
def test_only_what_is_asked_for_is_learnt(given):
    for name in LDA_ENGINES:
        engine, corpus, model = get_engine(name), simulated(), LDA(3, 0.1, 0.2)
        options = make_options(engine, given and given | {"learn_after": 0, "learn_every": 1})
        *_, (after, _) = runs(engine, corpus, model, options, 3)
        assert learnt(options) == tuple(
            name for name in ("alpha", "beta") if f"learn_{name}" in given
        )
        assert np.any(after.alpha != model.alpha) == ("learn_alpha" in given)
        assert (after.beta != model.beta) == ("learn_beta" in given)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "pure"), HYBRIDS.items())
def test_a_hybrid_learns_as_the_engine_that_it_is_in_the_limit(name, pure, way, form):
    hybrid = get_engine(name)
    for corpus in (simulated(), CORPORA["empty_documents_and_unused_words"]):
        for r, n_chains, engine in (
            (0, 1, get_engine(pure)),
            (0, 3, get_engine(pure)),
            (np.inf, 1, get_engine("cgs")),
        ):
            ours = runs(
                hybrid, corpus, LDA(3), learning(hybrid, way, form, r=r, n_chains=n_chains), 6
            )
            theirs = runs(engine, corpus, LDA(3), learning(engine, way, form), 6)
            for (one, _), (other, _) in zip(ours, theirs, strict=True):
                assert np.array_equal(one.alpha, other.alpha) and one.beta == other.beta


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize("name", LDA_ENGINES)
def test_every_engine_of_lda_has_the_options_late_and_after_its_own(name):
    names = [f.name for f in fields(get_engine(name).options)]
    learning_names = [f.name for f in fields(Learning)]
    assert names[-len(learning_names) :] == learning_names
    assert all(f.metadata["late"] for f in fields(Learning))


# ---------------------------------------------------------------------- in a run

IN_RUNS = [
    ("svb", {"learn_alpha": "maximised", "learn_beta": "maximised"}),
    ("cvb", {"learn_alpha": "maximised", "alpha_form": "symmetric"}),
    ("cgs", {"learn_alpha": "sampled", "learn_beta": "sampled", "learn_every": 3}),
    ("svb-cgs", {"learn_beta": "sampled", "learn_every": 2}),
]
SETTINGS = {"n_topics": 4, "snapshot_every": 5, "progress": False}


@pytest.mark.parametrize(("engine", "options"), IN_RUNS)
def test_a_run_records_what_it_learns_and_reads_its_counts_with_it(engine, options):
    corpus = simulated(20, 12, 20)
    ds = wb.fit(corpus, engine, n_iterations=22, options=options, **SETTINGS)
    for name, dims in (("alpha", ("iteration", "topic")), ("beta", ("iteration",))):
        if f"learn_{name}" not in options:
            assert name not in ds
            continue
        assert ds[name].dims == dims
        changes = np.abs(ds[name].diff("iteration")).sum(
            [dim for dim in dims if dim != "iteration"]
        )
        every = options.get("learn_every", 1)
        first = changes["iteration"][changes.values > 0].values.tolist()
        assert set(first) <= set(range(10, 23, every)) and first[0] == 10
        assert np.all(ds[name].sel(iteration=9) == 0.1)
    last = ds.isel(snapshot=-1)
    alphas = ds["alpha"].values[-1] if "alpha" in ds else np.full(4, 0.1)
    beta = float(ds["beta"][-1]) if "beta" in ds else 0.1
    n_dk, n_kw = last["n_dk"].values, last["n_kw"].values
    expected = (n_dk + alphas) / (n_dk.sum(axis=1, keepdims=True) + alphas.sum())
    np.testing.assert_allclose(ds["theta"], expected, rtol=1e-12)  # rounding of a sum of 4
    np.testing.assert_allclose(
        ds["phi"], (n_kw + beta) / (n_kw.sum(axis=1, keepdims=True) + 12 * beta), rtol=1e-12
    )
