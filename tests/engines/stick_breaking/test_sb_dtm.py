"""Topics that drift: what a run finds, its limits, and what is made of it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from stepping import states, stepped
from toys import dated, every_pair, simulated

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.errors import DataError
from workbench.measures import hyperparameters

ENGINE = get_engine("sb-dtm")
N_YEARS, N_WORDS = 7, 8
DRIFT = np.linspace(0, 1, N_YEARS)[:, None]


def drifting(n_documents=210, n_tokens=60, seed=0):
    """Documents of one of two topics: the first goes from words 0 and 1 to words 2 and 3, the second stays at 4 to 7."""
    random, year = np.random.default_rng(seed), np.arange(n_documents) % N_YEARS
    first = np.hstack([(1 - DRIFT) * np.ones(2), DRIFT * np.ones(2), np.zeros((N_YEARS, 4))]) / 2
    phi = np.stack([first, np.tile([0, 0, 0, 0, 0.25, 0.25, 0.25, 0.25], (N_YEARS, 1))], axis=1)
    theta = random.dirichlet([0.3, 0.3], n_documents)
    counts = np.stack(
        [random.multinomial(n_tokens, theta[d] @ phi[year[d]]) for d in range(n_documents)]
    )
    documents, words = np.nonzero(counts)
    corpus = Corpus.from_pairs(
        documents, words, counts[documents, words], times=tuple(2000 + year), name="drifting"
    )
    return corpus, phi


@pytest.fixture(scope="module")
def fitted():
    corpus, phi = drifting()
    return (
        corpus,
        phi,
        wb.fit(corpus, "sb-dtm", 2, n_iterations=150, options={"learn_q": True}, progress=False),
    )


def test_words_that_change_are_found_year_by_year(fitted):
    _, phi, run = fitted
    found = run["phi_by_time"].isel(snapshot=-1).transpose("time", "topic", "word").values
    found = found[:, np.argsort(-found[:, :, :4].sum(axis=(0, 2)))]  # the topic that drifts first
    # total variation of an eighth, some 900 tokens a topic and year
    assert np.abs(found - phi).sum(axis=2).max() < 0.25
    assert run["time"].values.tolist() == list(range(2000, 2007))
    assert (run["q"].values > 0).all() and len(np.unique(run["q"])) == 150


def test_estimates_are_means_over_the_years_by_their_tokens(fitted):
    corpus, _, run = fitted
    year = np.array(corpus.times) - 2000
    expected = run["theta"].values * corpus.document_tokens[:, None]
    weights = np.stack([expected[year == t].sum(axis=0) for t in range(N_YEARS)])
    by_time = run["phi_by_time"].isel(snapshot=-1).values.astype(float)
    wanted = (weights[:, :, None] * by_time).sum(axis=0) / weights.sum(axis=0)[:, None]
    assert run["phi"].values == pytest.approx(wanted, abs=1e-6)  # of single precision
    tokens = run["n_dk"].isel(snapshot=-1).values
    shares = np.stack([tokens[year == t].sum(axis=0) for t in range(N_YEARS)]) / (30 * 60)
    assert run["prevalence"].values == pytest.approx(shares, rel=1e-12)


def test_unseen_documents_have_the_topics_of_their_year(fitted):
    """Words 0 and 1 are the first topic's at the start, words 2 and 3 at the end; without a year it is the last one's."""
    _, _, run = fitted
    unseen = Corpus.from_pairs([0, 0, 1, 1], [0, 1, 2, 3], [20, 20, 20, 20], n_words=N_WORDS)
    of_years = {
        times: wb.infer(run, replace(unseen, times=times)).attrs["perplexity_foldin_same"]
        for times in ((2000, 2006), (2006, 2000), (1900, 2100), None)
    }
    assert of_years[2000, 2006] < 3 < 10 < of_years[2006, 2000]
    assert of_years[1900, 2100] == of_years[2000, 2006]
    assert of_years[2000, 2006] < of_years[None] < of_years[2006, 2000]


def test_held_out_tokens_are_predicted_with_the_topics_of_their_year():
    corpus, _ = drifting(84)
    model, options = ENGINE.model(2), ENGINE.options(start_sweeps=5)
    state = stepped(ENGINE, corpus, model, options, 3)
    counts = ENGINE.counts(corpus, model, options, state)
    theta = counts["n_dk"] + 0.1
    theta = theta / theta.sum(axis=1, keepdims=True)
    wanted = np.einsum(
        "dk,dkw->dw", theta, counts["phi_by_time"][np.arange(84) % N_YEARS].astype(float)
    )
    found = ENGINE.predict(corpus, model, options, state, every_pair(corpus))
    assert found == pytest.approx(wanted.ravel(), rel=1e-6)  # of single precision
    assert np.array_equal(counts["n_kw"].sum(axis=0), np.bincount(corpus.words, corpus.counts))


def test_the_variance_of_a_step_is_drawn_from_its_inverse_gamma():
    """Given the sticks of the same sweep: 84 steps, two topics of seven sticks in seven years."""
    corpus, _ = drifting(84)
    model, options, ranks = ENGINE.model(2, learn_q=True), ENGINE.options(start_sweeps=5), []
    for state in states(ENGINE, corpus, model, options, 400):
        scale = 0.1 + 0.5 * (np.diff(state.sticks, axis=0) ** 2).sum()
        ranks.append(stats.invgamma.cdf(state.variance, 2.0 + 42, scale=scale))
    assert stats.kstest(ranks, "uniform").pvalue > 1e-4


def test_reports_tell_how_q_is_learnt_and_what_it_came_to(fitted):
    _, _, run = fitted
    assert [(each.name, each.method, each.values.tolist()) for each in hyperparameters(run)] == [
        ("alpha", "fixed", [0.1]),
        ("q", "sampled", [float(run["q"][-1])]),
    ]
    fixed = wb.fit(
        dated(simulated()), "sb-dtm", 3, n_iterations=1, options={"q": 0.02}, progress=False
    )
    assert [each.values.tolist() for each in hyperparameters(fixed)] == [
        [0.1],
        [0.02],
    ] and "q" not in fixed


def test_a_year_without_documents_is_a_state_and_has_no_share():
    run = wb.fit(dated(simulated()), "sb-dtm", 3, n_iterations=3, progress=False)
    assert run["time"].values.tolist() == [1990, 1991, 1992, 1993]
    assert np.isnan(run["prevalence"].values).all(axis=1).tolist() == [False, True, False, False]
    assert np.isfinite(run["phi_by_time"].values).all()
    np.testing.assert_allclose(run["phi_by_time"].sum("word"), 1.0, rtol=1e-5)  # single precision


@pytest.mark.parametrize("engine", ["sb-dtm", "sb-ctm-lds"])
def test_one_year_is_a_model_without_time(engine):
    corpus = replace(simulated(), times=(1990,) * 12)
    run = wb.fit(corpus, engine, 3, n_iterations=3, progress=False)
    assert run["time"].values.tolist() == [1990] and np.isfinite(run["phi"].values).all()


@pytest.mark.parametrize("engine", ["sb-dtm", "sb-ctm-lds"])
def test_a_corpus_without_years_is_refused_before_anything_is_done(engine, tmp_path):
    with pytest.raises(
        DataError,
        match="^topics over time need the year of each document, and 'simulated' has none",
    ):
        wb.fit(simulated(), engine, 3, n_iterations=3, store=tmp_path, progress=False)
    assert not any(tmp_path.iterdir())
