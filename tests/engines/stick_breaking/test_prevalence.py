"""`sb-ctm` with a formula of prevalence: Gamma and Sigma given the sticks, the log joint, stored runs and unseen documents."""

from dataclasses import replace

import numpy as np
import pytest
from geweke import z_of
from scipy import stats
from stepping import stepped

import workbench as wb
from workbench.corpus import Corpus
from workbench.corpus.document_table import DocumentTable
from workbench.engines import get_engine
from workbench.engines.engine import StepContext, WarmStart
from workbench.engines.options import make_options
from workbench.engines.stick_breaking.gaussian_posterior import bound_of_regression
from workbench.engines.stick_breaking.sb_ctm import with_means
from workbench.kernels.gaussian import niw_posterior
from workbench.kernels.state_space import mniw_posterior
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.kernels.stick_breaking.variational import expected_probabilities
from workbench.models import LDA, ModelError
from workbench.models.options import OptionError
from workbench.models.stick_breaking.correlated_topics import CorrelatedTopics

ENGINE = get_engine("sb-ctm")
FORMULA = "~ party + bs(year, df=3)"
N = 30
COLUMNS = {"party": [*"abc"] * (N // 3), "year": [2000 + d // 3 for d in range(N)]}


@pytest.fixture(scope="module")
def corpus():
    documents = LDA(4, 0.3, 0.2).simulate(N, 20, 25, 3)[0]
    return replace(documents, table=DocumentTable(COLUMNS))


def modelled(corpus, formula=FORMULA):
    return CorrelatedTopics(4, 0.2, prevalence=formula).for_data(corpus)


def state_of(corpus, model, n_steps=2):
    return stepped(ENGINE, corpus, model, make_options(ENGINE, {"start_sweeps": 3}), n_steps)


def fitted(corpus, formula=FORMULA, n_iterations=8, **settings):
    return wb.fit(
        corpus,
        "sb-ctm",
        n_topics=4,
        n_iterations=n_iterations,
        burn_in=2,
        snapshot_every=2,
        options={"prevalence": formula},
        progress=False,
        **settings,
    )


def test_gamma_and_sigma_have_the_moments_of_the_closed_form(corpus):
    """The matrix-normal inverse Wishart of a Bayesian regression, in plain numpy, against 2,000 draws."""
    model = modelled(corpus)
    state = state_of(corpus, model)
    x, y, prior = model.design.standard, state.psi, model.regression_prior
    precision = prior.precision + x.T @ x
    mean = (prior.mean @ prior.precision + y.T @ x) @ np.linalg.inv(precision)
    scale = (
        prior.scale
        + y.T @ y
        + prior.mean @ prior.precision @ prior.mean.T
        - mean @ precision @ mean.T
    )
    nu, n = prior.nu + N, len(scale)
    sigma = scale / (nu - n - 1)
    draws = [with_means(corpus, model, state, StepContext(3, i)) for i in range(2000)]
    gammas, sigmas = (
        np.stack([getattr(d, name) for d in draws]) for name in ("mean", "covariance")
    )
    # of some 50 numbers one is 4.5 standard errors off once in three thousand seeds, and the seed is fixed
    assert z_of(gammas, mean).max() < 4.5
    assert z_of(sigmas, sigma).max() < 4.5
    off = (gammas - mean).reshape(len(draws), -1)
    wanted = np.kron(sigma, np.linalg.inv(precision))
    assert z_of(off[:, :, None] * off[:, None], wanted).max() < 5


def test_the_log_joint_is_that_of_scipy(corpus):
    """What a formula adds to the log joint: the densities of sticks, Gamma and Sigma instead of those of mu and Sigma."""
    model, plain = modelled(corpus), CorrelatedTopics(4, 0.2)
    state = state_of(corpus, model)
    prior, terms, sigma = model.regression_prior, model.design.standard, state.covariance

    def normals(rows, means):
        return stats.multivariate_normal(np.zeros(3), sigma).logpdf(rows - means).sum()

    of_gamma = stats.matrix_normal(prior.mean, sigma, np.linalg.inv(prior.precision))
    wanted = normals(state.psi, terms @ state.mean.T) + of_gamma.logpdf(state.mean)
    mean, kappa, nu, scale = plain.psi_prior
    mu = state.mean[:, 0]
    of_mu = stats.multivariate_normal(mean, sigma / kappa).logpdf(mu)
    difference = wanted - normals(state.psi, mu) - of_mu
    without = ENGINE.watch(corpus, plain, None, state._replace(mean=mu))["log_joint"]
    found = ENGINE.watch(corpus, model, None, state)["log_joint"]
    # sums of some hundred numbers of size 100: eleven digits stay
    assert found - without == pytest.approx(difference, abs=1e-8)
    assert stats.invwishart(nu, scale).logpdf(sigma) == pytest.approx(
        stats.invwishart(prior.nu, prior.scale).logpdf(sigma)
    )


def test_the_formula_of_an_intercept_is_the_model_without_a_formula(corpus):
    model, plain = modelled(corpus, "~ 1"), CorrelatedTopics(4, 0.2)
    state = state_of(corpus, model)
    posterior = mniw_posterior(state.psi, model.design.standard, *model.regression_prior)
    mean, kappa, nu, scale = niw_posterior(state.psi, *plain.psi_prior)
    np.testing.assert_allclose(posterior[0][:, 0], mean, rtol=1e-10)
    assert posterior[1].item() == pytest.approx(kappa) and posterior[2] == nu
    np.testing.assert_allclose(posterior[3], scale, rtol=1e-9)
    one = ENGINE.watch(corpus, plain, None, state._replace(mean=state.mean[:, 0]))["log_joint"]
    assert ENGINE.watch(corpus, model, None, state)["log_joint"] == pytest.approx(one, rel=1e-11)
    # given the same mean, the same random numbers draw the same sticks and topics
    options = make_options(ENGINE, {})
    states = [
        ENGINE.step(corpus, each, options, start._replace(psi=start.psi.copy()), StepContext(0, 9))[
            0
        ]
        for each, start in (
            (model, copied(state)),
            (plain, copied(state)._replace(mean=state.mean[:, 0])),
        )
    ]
    np.testing.assert_array_equal(states[0].topics, states[1].topics)
    np.testing.assert_allclose(states[0].psi, states[1].psi, rtol=1e-9)


def copied(state):
    return type(state)(*(np.array(each) for each in state))


def test_sticks_of_documents_without_a_token_follow_the_regression():
    """Nearly all documents are empty: the sticks of each are a draw from N(Gamma x_d, Sigma) of their step."""
    n = 4000
    corpus = Corpus.from_pairs([0, 0], [0, 1], [1, 1], n_documents=n, n_words=2, name="empty")
    corpus = replace(corpus, inputs={"x": np.linspace(0, 3, n)})
    model = CorrelatedTopics(3, 0.5, prevalence="~ x").for_data(corpus)
    state = state_of(corpus, model, 1)._replace(mean=np.array([[0.5, 1.5], [-0.3, -2.0]]))
    means, root = model.design.standard @ state.mean.T, np.linalg.cholesky(state.covariance)
    after, _ = ENGINE.step(corpus, model, make_options(ENGINE, {}), state, StepContext(0, 2))
    white = np.linalg.solve(root, (after.psi[1:] - means[1:]).T)
    # tests of one draw each: 1e-4 would fail once in some thousand seeds, and the seed is fixed
    for row in white:
        assert stats.kstest(row, "norm").pvalue > 1e-4
        assert stats.pearsonr(row, model.design.values[1:, 1]).pvalue > 1e-4


def planted(n_documents=600, length=80, n_words=30, seed=4):
    """Documents of three topics over words of their own; party b has more of the first, and less with every year."""
    rng = np.random.default_rng(seed)
    party, year = rng.integers(0, 2, n_documents), rng.uniform(-1, 1, n_documents)
    gamma = np.array([[-0.8, 1.2, -0.7], [0.1, 0.0, 0.6]])
    terms = np.column_stack([np.ones(n_documents), party, year])
    psi = terms @ gamma.T + rng.normal(0, 2.0, (n_documents, 2))
    topics = np.stack([rng.multinomial(length, row) for row in probabilities(psi)])
    phi = np.kron(np.eye(3), np.full(n_words // 3, 3 / n_words))
    counts = sum(rng.multinomial(topics[:, k], phi[k]) for k in range(3))
    documents, words = np.nonzero(counts)
    columns = {"party": ["b" if each else "a" for each in party], "year": year.tolist()}
    table = DocumentTable(columns)
    return Corpus.from_pairs(documents, words, counts[documents, words], table=table), gamma


@pytest.mark.slow
def test_planted_effects_are_found():
    corpus, gamma = planted()
    run = wb.fit(
        corpus,
        "sb-ctm",
        n_topics=3,
        beta=0.05,
        n_iterations=300,
        burn_in=100,
        snapshot_every=4,
        options={"prevalence": "~ party + year"},
        progress=False,
    )
    # the topics by size are those that were planted, in their order
    np.testing.assert_allclose(run["phi"].values.reshape(3, 3, 10).sum(axis=2), np.eye(3), atol=0.1)
    draws = run["gamma"].values[run["snapshot_iteration"].values > 100]
    assert run["term"].values.tolist() == ["Intercept", "party[T.b]", "year"]
    # six coefficients: one is more than 3.5 posterior deviations off in some 400 data sets, and the seed is fixed
    off = (draws.mean(axis=0) - gamma) / draws.std(axis=0)
    assert np.abs(off).max() < 3.5, off
    assert draws.std(axis=0).max() < 0.25


VB = get_engine("sb-ctm-vb")


def stepped_vb(corpus, model, n_steps, start=None, **options):
    """(state, bounds) of the variational twin after some iterations."""
    options, bounds = make_options(VB, {"start_sweeps": 5} | options), []
    state = VB.init(corpus, model, options, StepContext(1, 0), start)
    for step in range(1, n_steps + 1):
        state, _ = VB.step(corpus, model, options, state, StepContext(1, step))
        bounds.append(VB.watch(corpus, model, options, state)["bound"])
    return state, bounds


def test_the_bound_of_the_variational_twin_never_falls_and_knows_the_model_without_a_formula(
    corpus,
):
    _, bounds = stepped_vb(corpus, modelled(corpus), 30)
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[-1])
    one, plain = (
        stepped_vb(corpus, model, 6)
        for model in (modelled(corpus, "~ 1"), CorrelatedTopics(4, 0.2))
    )
    np.testing.assert_allclose(one[1], plain[1], rtol=1e-9)
    np.testing.assert_allclose(one[0].mean[:, 0], plain[0].mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(one[0].scale, plain[0].scale, rtol=1e-6, atol=1e-8)


def test_the_bound_of_a_regression_is_that_of_draws(corpus):
    """E_q[log p(psi, Gamma, Sigma) - log q(Gamma, Sigma)] by 20,000 draws of Gamma and Sigma."""
    model = modelled(corpus)
    state, _ = stepped_vb(corpus, model, 3)
    q, prior, terms = state.gaussian, model.regression_prior, model.design.standard
    inner = terms.T @ terms
    found = bound_of_regression(q, prior, N, inner, state.total, state.scatter)
    rng, n = np.random.default_rng(2), 20_000
    sigmas = stats.invwishart(q.nu, q.scale).rvs(n, random_state=rng)
    inverses = np.linalg.inv(sigmas)
    left = np.linalg.cholesky(sigmas)
    right = np.linalg.cholesky(np.linalg.inv(q.precision))
    gammas = q.mean + left @ rng.normal(size=(n, *q.mean.shape)) @ right.T
    shifts = gammas - prior.mean
    about = state.scatter - state.total @ shifts.transpose(0, 2, 1)
    about -= shifts @ state.total.T - shifts @ inner @ shifts.transpose(0, 2, 1)
    log_size = np.linalg.slogdet(sigmas)[1]
    values = -0.5 * (N * log_size + (inverses * about).sum(axis=(1, 2)))
    for sign, of in ((1, prior), (-1, q)):
        off, (k, p) = gammas - of.mean, of.mean.shape
        values += sign * stats.invwishart(of.nu, of.scale).logpdf(sigmas.transpose(1, 2, 0))
        far = (inverses * (off @ of.precision @ off.transpose(0, 2, 1))).sum(axis=(1, 2))
        log_weight = k * np.linalg.slogdet(of.precision)[1] - k * p * np.log(2 * np.pi)
        values += sign * 0.5 * (log_weight - p * log_size - far)
    assert abs(found - values.mean()) < 4.5 * values.std() / np.sqrt(n)
    assert values.std() < 30


def test_batches_of_all_documents_are_one_iteration_of_the_variational_twin(corpus):
    whole, _ = stepped_vb(corpus, modelled(corpus), 1)
    batch, _ = stepped_vb(corpus, modelled(corpus), 1, batch=N)
    np.testing.assert_allclose(whole.mean, batch.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(whole.scale, batch.scale, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_the_variational_twin_agrees_with_draws_of_gamma():
    corpus, _ = planted()
    model = CorrelatedTopics(3, 0.05, prevalence="~ party + year").for_data(corpus)
    chain = state_of(corpus, model, 100)
    n_kw = chain.n_wk[:, :3].T.astype(float)
    start = WarmStart(n_kw, chain.n_dk[:, :3].astype(float), chain.topics.astype(np.int32))
    state, _ = stepped_vb(corpus, model, 60, start)
    draws = []
    for step in range(101, 401):
        chain, _ = ENGINE.step(corpus, model, make_options(ENGINE, {}), chain, StepContext(0, step))
        draws.append(chain.mean)
    off = (state.mean - np.mean(draws, axis=0)) / np.std(draws, axis=0)
    assert np.abs(off).max() < 1.0, off  # the same posterior mean, but for a part of its spread


def test_the_variational_twin_infers_unseen_documents_by_their_columns(corpus):
    run = wb.fit(
        corpus,
        "sb-ctm-vb",
        n_topics=4,
        n_iterations=5,
        options={"prevalence": "~ party", "start_sweeps": 5},
        progress=False,
    )
    assert run["gamma"].dims == ("snapshot", "stick", "term")
    table = DocumentTable({"party": ["a", "c", "d"]})
    unseen = Corpus.from_pairs([0], [0], [1], ["unknown"], n_documents=3, table=table)
    with pytest.warns(UserWarning, match="none of the 1 words"):
        theta = wb.infer(run, unseen)["theta"].values
    gamma, sigma = run["gamma"].values[-1], run["psi_covariance"].values[-1]
    spread = gamma @ np.cov(run["design"].values.T, ddof=0) @ gamma.T
    means = [gamma[:, 0], gamma[:, 0] + gamma[:, 2], run["psi_mean"].values[-1]]
    variances = [np.diag(sigma), np.diag(sigma), np.diag(sigma + spread)]
    wanted = expected_probabilities(np.array(means), np.array(variances))
    np.testing.assert_allclose(theta, wanted, rtol=1e-6)
    curve = wb.measures.prevalence_curve(run, "party")
    assert curve.attrs["n_draws"] == 1 and np.isnan(curve["share_error"]).all()


def test_a_run_records_gamma_of_the_columns_as_they_are(corpus):
    run = fitted(corpus)
    assert run["gamma"].dims == ("snapshot", "stick", "term")
    assert run["term"].values[0] == "Intercept" and run.sizes["term"] == 6
    mean = (run["design"].values @ run["gamma"].values[-1].T).mean(axis=0)
    np.testing.assert_allclose(mean, run["psi_mean"].values[-1], atol=1e-9)
    assert run["document_party"].values.tolist() == COLUMNS["party"]
    assert "gamma" not in fitted(corpus, "")


def test_a_run_with_columns_is_resumed_with_the_same_bits(corpus, tmp_path):
    whole = fitted(corpus, store=tmp_path / "whole")
    part = fitted(corpus, n_iterations=4, store=tmp_path / "parts")
    resumed = wb.resume(
        part.attrs["name"], store=tmp_path / "parts", n_iterations=8, progress=False
    )
    resumed = resumed if hasattr(resumed, "sizes") else resumed.dataset()
    np.testing.assert_array_equal(resumed["gamma"].values[-1], whole["gamma"].values[-1])
    np.testing.assert_array_equal(resumed["n_kw"].values[-1], whole["n_kw"].values[-1])
    opened = wb.open_run(part.attrs["name"], store=tmp_path / "parts")
    np.testing.assert_array_equal(opened["design"], whole["design"])


def test_other_columns_make_another_run_only_where_a_formula_reads_them(corpus, tmp_path):
    other = replace(corpus, table=DocumentTable(COLUMNS | {"party": COLUMNS["party"][::-1]}))
    names = [
        [fitted(each, formula, 2, store=tmp_path).attrs["name"] for each in (corpus, other)]
        for formula in ("", FORMULA)
    ]
    assert names[0][0] == names[0][1] and names[1][0] != names[1][1]


def test_unseen_documents_have_the_prior_of_their_columns(corpus):
    """Documents without a known word: theta is the prior mean, that of their columns, or of all documents."""
    n = 30
    columns = {"party": ["a", "b", "d", None] * n, "year": [2003, 2006, 2003, 2003] * n}
    unseen = Corpus.from_pairs(
        [0], [0], [1], ["unknown"], n_documents=4 * n, table=DocumentTable(columns)
    )
    run = fitted(corpus)
    with pytest.warns(UserWarning, match="none of the 1 words"):
        theta = wb.infer(run, unseen)["theta"].values.reshape(n, 4, -1).mean(axis=0)
    gamma, sigma = run["gamma"].values[-1], run["psi_covariance"].values[-1]
    terms = run["design"].values
    x = [
        terms[(np.array(COLUMNS["party"]) == p) & (np.array(COLUMNS["year"]) == y)][0]
        for p, y in (("a", 2003), ("b", 2006))
    ]
    spread = sigma + gamma @ np.cov(terms.T, ddof=0) @ gamma.T
    mean = terms.mean(axis=0)
    rng = np.random.default_rng(1)
    for d, (row, covariance) in enumerate(
        [(x[0], sigma), (x[1], sigma), (mean, spread), (mean, spread)]
    ):
        draws = probabilities(rng.multivariate_normal(gamma @ row, covariance, 20_000))
        # means of 30 documents over 50 sweeps, which are independent draws
        error = draws.std(axis=0) * np.sqrt(1 / 1500 + 1 / 20_000)
        assert np.abs((theta[d] - draws.mean(axis=0)) / error).max() < 4


def test_unseen_documents_without_a_column_get_the_prior_of_all_with_a_warning(corpus):
    documents = replace(corpus, table=None)
    with pytest.warns(UserWarning, match="no column 'party', on which prevalence depends"):
        theta = wb.infer(fitted(corpus), documents)["theta"]
    assert np.isfinite(theta).all()


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("~ partei", "the documents have no column 'partei'; did you mean 'party'"),
        (
            "~ year + I(2 * year)",
            r"determine each other.*I\(2 \* year\) follows from those before it",
        ),
        ("~ place", "the column 'place' is missing in 1 of 30 documents, first in document 3"),
        ("~ name", "has 30 terms, more than the 30 documents tell"),
        ("~ C(number)", "has 30 terms, more than the 30 documents tell"),
    ],
)
def test_a_formula_that_the_documents_do_not_suit_is_refused_in_a_sentence(
    corpus, formula, sentence
):
    place = ["x", "y", "x", None] + ["x"] * (N - 4)
    more = {"place": place, "name": [f"n{d}" for d in range(N)], "number": [*range(N)]}
    documents = replace(corpus, table=DocumentTable(COLUMNS | more))
    with pytest.raises(ModelError, match=sentence):
        fitted(documents, formula)


def test_a_formula_that_is_none_is_refused_as_an_option(corpus):
    with pytest.raises(OptionError, match="has an intercept"):
        fitted(corpus, "~ 0 + party")
    with pytest.raises(OptionError, match="is another thing"):
        fitted(corpus, "~ I(eval('1'))")
