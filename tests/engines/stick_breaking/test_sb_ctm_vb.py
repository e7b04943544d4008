"""Variational inference of correlated topics: its bound, batches, and q(mu, Sigma)."""

import numpy as np
import pytest
from kernels.stick_breaking.plain_variational import plain_fit
from scipy import stats
from scipy.special import digamma
from stepping import copied, steps
from toys import corpus_of, simulated

import workbench as wb
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.engines.stick_breaking import gaussian_posterior
from workbench.engines.stick_breaking.sb_ctm_vb import batches_of
from workbench.kernels.gaussian import niw_posterior
from workbench.kernels.stick_breaking.sticks import log_probabilities
from workbench.models.options import OptionError
from workbench.models.stick_breaking.correlated_topics import CorrelatedTopics, NormalInverseWishart

ENGINE = get_engine("sb-ctm-vb")


def states(corpus, model, options, n, seed=0):
    """(state, bound) after each of n iterations; states share no array."""
    options = make_options(ENGINE, options)
    for state, _ in steps(ENGINE, corpus, model, options, n, seed):
        yield copied(state), ENGINE.watch(corpus, model, options, state)["bound"]


@pytest.mark.parametrize(
    "n_topics, given",
    [
        (4, {}),
        (4, {"n_inner": 1}),
        (1, {}),
        (2, {"n_inner": 3}),
        (17, {"start_sweeps": 0}),
    ],
)
@pytest.mark.parametrize("prior", ["proper", "paper"])
def test_the_local_bound_never_falls(n_topics, given, prior):
    corpus = simulated(30, 25, 40)
    bounds = [
        bound for _, bound in states(corpus, CorrelatedTopics(n_topics, 0.1, prior), given, 40)
    ]
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[-1])  # rounding
    assert n_topics == 1 or bounds[-1] > bounds[0] + 1


def elbo_by_draws(corpus, model, state, n=100_000):
    """(E_q[log p - log q], its standard error) of a settled state by draws of all but z, whose expectation is exact."""
    rng, prior, q, live = (
        np.random.default_rng(1),
        model.psi_prior,
        state.gaussian,
        slice(model.n_topics),
    )
    of_sigma = stats.invwishart(q.nu, q.scale)
    sigma = of_sigma.rvs(n, random_state=rng)
    root, precision = np.linalg.cholesky(sigma), np.linalg.inv(sigma)
    mu = q.mean + (root @ rng.normal(size=(n, len(q.mean), 1)))[..., 0] / np.sqrt(q.kappa)

    def gaussian(x, mean, kappa):
        """log N(x; mean, Sigma / kappa) of each draw."""
        far = np.einsum("ni,nij,nj->n", x - mean, precision, x - mean)
        return 0.5 * (
            len(q.mean) * np.log(kappa / (2 * np.pi)) - np.linalg.slogdet(sigma)[1] - kappa * far
        )

    inner = np.moveaxis(sigma, 0, -1)
    values = stats.invwishart(prior.nu, prior.scale).logpdf(inner) - of_sigma.logpdf(inner)
    values += gaussian(mu, prior.mean, prior.kappa) - gaussian(mu, q.mean, q.kappa)
    log_phi = []
    for words in (state.mean_wk[:, live] + model.beta).T:
        phi, before = rng.dirichlet(words, n), stats.dirichlet(np.full(corpus.n_words, model.beta))
        values += before.logpdf(phi.T) - stats.dirichlet(words).logpdf(phi.T)
        log_phi.append(np.log(phi))
    expected_precision = q.nu * np.linalg.inv(q.scale)
    for d in range(corpus.n_documents):
        pairs = slice(corpus.indptr[d], corpus.indptr[d + 1])
        _, V, gamma, _ = plain_fit(
            corpus.words[pairs],
            corpus.counts[pairs],
            digamma(state.mean_wk[:, live] + model.beta)
            - digamma(state.mean_k[live] + model.beta * corpus.n_words),
            expected_precision,
            q.mean,
            state.sticks[d],
            state.variances[d],
            1,
            "paper",
        )
        psi = rng.multivariate_normal(state.sticks[d], V, n)
        values += gaussian(psi, mu, 1.0) - stats.multivariate_normal(state.sticks[d], V).logpdf(psi)
        log_theta = log_probabilities(psi)
        for w, count, of_pair in zip(corpus.words[pairs], corpus.counts[pairs], gamma, strict=True):
            for t, share in enumerate(of_pair):
                values += count * share * (log_phi[t][:, w] + log_theta[:, t] - np.log(share))
    return values.mean(), values.std() / np.sqrt(n)


def test_the_bound_is_its_definition():
    """E_q[log p - log q], all constants included, by draws from q where updates have settled."""
    corpus, model = corpus_of([(0, 0, 2), (0, 1, 1), (1, 2, 2)], 3, 3), CorrelatedTopics(3, 0.5)
    *_, (state, bound) = states(corpus, model, {"bound": "paper", "n_inner": 30}, 500)
    value, error = elbo_by_draws(corpus, model, state)
    assert error < 0.02 and abs(bound - value) < 4 * error


def test_one_topic_has_the_evidence_for_its_bound():
    """Nothing is approximated then: words are a Dirichlet-multinomial."""
    corpus = simulated()
    *_, (_, bound) = states(corpus, CorrelatedTopics(1, 0.3), {}, 2)
    run = wb.fit(corpus, "vb", 1, 0.1, 0.3, n_iterations=3, progress=False)
    assert bound == pytest.approx(float(run["bound"][-1]), rel=1e-10)


def test_one_full_batch_is_one_iteration_of_variational_inference():
    """The rate of the first batch is 1 with a delay of 1."""
    corpus, model = simulated(), CorrelatedTopics(5)
    ((one, bound),) = states(corpus, model, {}, 1)
    ((other, same_bound),) = states(corpus, model, {"batch": corpus.n_documents}, 1)
    for name in one._fields:
        if name != "fitted_wk":
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(other.fitted_wk, one.mean_wk) and same_bound == pytest.approx(
        bound, rel=1e-12
    )


def test_rates_fall_and_batches_hold_every_document_once():
    """After two iterations of two batches, mean_wk is the mixture of four targets, by rates (i + tau)^-kappa."""
    corpus, model = simulated(10), CorrelatedTopics(1, 0.1)
    given = {"batch": 5, "tau": 2.0, "kappa": 0.9}
    (first, _), (second, _) = states(corpus, model, given, 2)
    of_all = np.bincount(corpus.words, corpus.counts, corpus.n_words)
    for state in (first, second):
        assert state.fitted_wk[:, 0] == pytest.approx(of_all, rel=1e-12)  # rounding
    options, mixed, i = make_options(ENGINE, given), of_all.astype(float), 0
    for step in (1, 2):
        batches = batches_of(corpus.n_documents, options, StepContext(0, step))
        assert sorted(np.concatenate(batches)) == list(range(10)) and [
            len(rows) for rows in batches
        ] == [5, 5]
        for rows in batches:
            part, rate = corpus.of_documents(rows), (i + 2.0) ** -0.9
            mixed = (1 - rate) * mixed + rate * 2 * np.bincount(
                part.words, part.counts, corpus.n_words
            )
            i += 1
    assert second.mean_wk[:, 0] == pytest.approx(mixed, rel=1e-12)


def test_batches_come_as_far_as_all_documents_at_once():
    corpus, model = simulated(60, 30, 50), CorrelatedTopics(4)
    *_, (_, whole) = states(corpus, model, {}, 40)
    bounds = [bound for _, bound in states(corpus, model, {"batch": 15}, 40)]
    assert abs(bounds[-1] - whole) < 0.02 * abs(whole)  # another optimum, or not quite there
    assert bounds[-1] > bounds[0]


def test_natural_parameters_come_back_and_mixtures_are_positive_definite():
    rng = np.random.default_rng(0)
    prior = CorrelatedTopics(6).psi_prior
    for _ in range(200):
        q = NormalInverseWishart(
            rng.normal(0, 5, 5),
            rng.uniform(0.1, 50),
            rng.uniform(5, 90),
            np.cov(rng.normal(size=(5, 9))),
        )
        again = gaussian_posterior.from_natural(
            gaussian_posterior.natural(q, prior.mean), prior.mean
        )
        for one, other in zip(q, again, strict=True):
            assert other == pytest.approx(one, rel=1e-9, abs=1e-9)
        rows = rng.normal(0, rng.uniform(0.1, 10), (3, 5)) + rng.normal(0, 10, 5)
        about = rows - prior.mean
        q = gaussian_posterior.moved(
            q, prior, 40, 3 / 40, about.sum(axis=0), about.T @ about, rng.uniform(0, 1)
        )
        assert np.linalg.eigvalsh(q.scale).min() > 0


def test_the_whole_posterior_is_that_of_the_exact_update():
    rows, prior = np.random.default_rng(1).normal(2, 1, (12, 3)), CorrelatedTopics(4).psi_prior
    about = rows - prior.mean
    q = gaussian_posterior.moved(prior, prior, 12, 1.0, about.sum(axis=0), about.T @ about, 1.0)
    for one, other in zip(q, niw_posterior(rows, *prior), strict=True):
        assert one == pytest.approx(other, rel=1e-10)


def test_unseen_documents_are_inferred_as_those_of_the_run():
    corpus = simulated(40, 30, 60)
    run = wb.fit(corpus, "sb-ctm-vb", 4, n_iterations=150, progress=False)
    theta = wb.infer(run, corpus)["theta"].values
    assert theta.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    # not equal: theta of the run is pi(E psi), that of new documents E pi(psi), and q(mu, Sigma) is a little behind
    assert np.abs(theta - run["theta"].values).mean() < 0.05


@pytest.mark.parametrize(
    "given, said",
    [
        (
            {"batch": 41},
            "batch=41 is more than the 40 documents of .*; choose at most 40, or 0 for all",
        ),
        ({"tau": 5.0}, "tau would be without effect: all documents are in one batch; set batch"),
        (
            {"kappa": 0.9},
            "kappa would be without effect: all documents are in one batch; set batch",
        ),
    ],
)
def test_batches_that_cannot_be_are_refused_in_a_sentence(given, said):
    with pytest.raises(OptionError, match=said):
        wb.fit(simulated(40), "sb-ctm-vb", 3, n_iterations=2, options=given, progress=False)
