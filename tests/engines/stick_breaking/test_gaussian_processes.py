"""Gaussian processes over rows and their baselines, as engines: predictions, running means, the kernel, and bad inputs."""

import numpy as np
import pytest
from geweke import z_of
from stepping import stepped

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import split_options
from workbench.engines.stick_breaking import sbm_gp, static_rows
from workbench.engines.stick_breaking.rows import Rows, rows_of
from workbench.errors import InputError
from workbench.kernels.stick_breaking.gaussian_process import (
    Inputs,
    Kernel,
    covariance,
    log_normaliser,
    low_rank,
)
from workbench.kernels.stick_breaking.sticks import probabilities
from workbench.models.stick_breaking.gaussian_process import GaussianProcess

PROCESSES = ("sbm-gp", "lnm-gp", "raw-gp")
ENGINES = (*PROCESSES, "static")


def drifting(n_years=14, n_places=5, n_tokens=60, seed=0) -> Corpus:
    """Six words whose log odds drift over years and places; a row for each year and place."""
    random, year = np.random.default_rng(seed), np.repeat(np.arange(n_years), n_places)
    place, at = np.tile(np.arange(n_places), n_years), 2.0 * random.random(n_places)
    slopes = np.array([-1.5, -0.5, 0.0, 0.0, 0.5, 1.5])
    odds = np.outer(year / 5.0 - 1.0, slopes) + np.outer(at[place], slopes[::-1])
    shares = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    counts = random.multinomial(n_tokens, shares)
    rows, words = np.nonzero(counts)
    inputs = {"year": 2000.0 + year, "latitude": 40.0 + at[place]}
    return Corpus.from_pairs(
        rows,
        words,
        counts[rows, words],
        n_documents=len(year),
        n_words=6,
        inputs=inputs,
        name="drifting",
    )


@pytest.fixture(scope="module")
def halves():
    return wb.hold_out_rows(drifting(), "year", at_least=2012)


def steps(name, corpus, n, **given):
    """(engine, model, options, state) after so many steps."""
    engine = get_engine(name)
    beliefs, options = split_options(engine, given)
    model = engine.model(**beliefs).for_data(corpus)
    return engine, model, options, stepped(engine, corpus, model, options, n)


@pytest.mark.parametrize("name", PROCESSES)
def test_years_that_were_held_out_are_predicted_better_than_by_the_last_year(
    name, train, test, tmp_path
):
    settings = dict(test=test, n_iterations=60, burn_in=20, store=tmp_path, progress=False)
    average = {"options": {"average_after": 20}} if name == "lnm-gp" else {}
    static, found = wb.fit(train, "static", **settings), wb.fit(train, name, **settings, **average)
    assert float(found["test_perplexity"][-1]) < 0.97 * float(static["test_perplexity"][-1])
    assert (
        float(found["test_gain_added"][-1]) > 0.0
        and 0.0 <= float(found["test_top_hits"][-1]) <= 10.0
    )
    assert found["probability"].dims == ("document", "word") and "topic" not in found.dims
    assert float(found["length_time"][-1]) > 2.0, "the drift is smooth over years"
    if name != "raw-gp":
        deviation = found["probability_deviation"].mean("word").values
        assert (
            deviation[train.document_tokens == 0].mean()
            > deviation[train.document_tokens > 0].mean()
        )


@pytest.mark.parametrize("name", ENGINES)
def test_whole_rows_are_predicted_as_their_pairs(name, train, test):
    engine, model, options, state = steps(name, train, 2)
    empty = np.flatnonzero(train.document_tokens == 0)
    rows = engine.predict_rows(train, model, options, state, empty, None)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    place = np.searchsorted(empty, test.documents)
    np.testing.assert_array_equal(
        engine.predict(train, model, options, state, test), rows[place, test.words]
    )


def test_a_conditional_prediction_goes_with_the_other_rows_and_a_collapsed_one_is_drawn_apart(
    train,
):
    empty = np.flatnonzero(train.document_tokens == 0)
    *_, conditional = steps("sbm-gp", train, 3, predict="conditional")
    *_, collapsed = steps("sbm-gp", train, 3, predict="collapsed")
    np.testing.assert_array_equal(conditional.prediction, conditional.psi[empty])
    # products of other shapes
    np.testing.assert_allclose(collapsed.psi, conditional.psi, atol=1e-9)
    assert np.abs(collapsed.prediction - collapsed.psi[empty]).min() > 0


@pytest.mark.parametrize("name", ["sbm-gp", "lnm-gp"])
def test_the_running_mean_and_deviation_are_those_of_the_draws_that_are_averaged(name, train):
    engine, model, options, state = steps(name, train, 4, average_after=4)
    assert state.n_averaged == 0
    everything, drawn = np.arange(train.n_documents), []
    for step in range(5, 12):
        state, _ = engine.step(train, model, options, state, StepContext(0, step))
        drawn.append(engine.predict_rows(train, model, options, state, everything, None))
    found = engine.counts(train, model, options, state)
    np.testing.assert_allclose(found["running_probability"], np.mean(drawn, axis=0), atol=1e-12)
    np.testing.assert_allclose(found["running_deviation"], np.std(drawn, axis=0), atol=1e-12)


@pytest.mark.parametrize("name", PROCESSES)
@pytest.mark.parametrize(
    "order, first", [("vocabulary", 0), ("2,0,1,3,4,5", 2), ("size", 0), ("random", None)]
)
def test_probabilities_stand_by_the_words_of_the_corpus_whatever_the_order_on_the_stick(
    name, order, first, train
):
    engine, model, options, state = steps(name, train, 30, order=order)
    rows, sizes = rows_of(train, model), np.bincount(train.words, train.counts)
    if first is not None:
        assert rows.words[0] == (
            first if order == "vocabulary" else np.argsort(-sizes, kind="stable")[first]
        )
    words = train.with_pairs(train.indptr, train.words, train.counts)
    p = engine.predict(train, model, options, state, words)
    shares = train.counts / train.document_tokens[train.documents]
    assert np.corrcoef(p, shares)[0, 1] > 0.6  # shares of 60 tokens


def test_sticks_begin_at_the_regression_of_the_raw_process(train):
    _, model, _, state = steps("sbm-gp", train, 0, order="vocabulary")
    _, _, _, raw = steps("raw-gp", train, 0, order="vocabulary")
    np.testing.assert_array_equal(state.kernel, raw.kernel)
    assert np.abs(probabilities(state.psi) - raw.probability).max() < 0.1, (
        "their means differ a little"
    )


def test_low_rank_and_dense_predict_alike(train, test):
    found = [steps("raw-gp", train, 1, rank=rank)[3].probability for rank in ("1e-8", "dense")]
    np.testing.assert_allclose(*found, atol=1e-5)  # the threshold and the jitter


@pytest.mark.slow  # 5 s: a covariance is made anew for each point that a slice tries
def test_the_kernel_is_drawn_from_its_posterior_given_omega(n_draws=5000):
    """Two hyperparameters of one stick over four times, by quadrature over a grid of their logarithms."""
    random, model = np.random.default_rng(3), GaussianProcess(length_time=3.0, scale=1.5)
    inputs = Inputs(np.array([[0.0], [1.0], [2.0], [5.0]]), np.zeros((4, 0)))
    rows = Rows(np.arange(2), np.zeros((4, 2)), np.arange(4), np.arange(0), inputs)
    omega, h = random.uniform(0.5, 3.0, (1, 4)), random.normal(size=(1, 4)) * 2.0
    options, hyper, chain = sbm_gp.Options(rank="1e-12"), model.kernel, np.empty((n_draws, 2))
    for draw in range(n_draws):
        hyper, prior = sbm_gp.sampled_kernel(
            rows, model, options, hyper, omega, h, StepContext(0, draw)
        )
        chain[draw] = np.log([hyper.length_time, hyper.scale])
    np.testing.assert_allclose(
        prior.weights @ prior.weights.T, covariance(inputs, hyper), atol=1e-9
    )
    offs = np.linspace(-4.5, 4.5, 61)
    logs = np.log([3.0, 1.5]) + np.stack(np.meshgrid(offs, offs, indexing="ij"), -1).reshape(-1, 2)
    log_p = [
        log_normaliser(
            low_rank(inputs, Kernel(np.exp(a), 5.0, np.exp(b), 1.0), 1e-12), omega[0], h[0]
        )
        for a, b in logs
    ]
    log_p = np.array(log_p) - 0.5 * ((logs - np.log([3.0, 1.5])) ** 2).sum(axis=1)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    moments = np.column_stack([logs, logs**2, logs[:, 0] * logs[:, 1]])
    assert (
        z_of(np.column_stack([chain, chain**2, chain[:, 0] * chain[:, 1]]), weight @ moments).max()
        < 4.5
    )


def test_a_sampled_kernel_is_recorded_and_one_of_no_use_stays(train):
    found = wb.fit(train, "sbm-gp", n_iterations=4, options={"kernel": "sampled"}, progress=False)
    for name in ("length_time", "length_space", "scale"):
        assert len(np.unique(found[name].values)) > 2, name
    assert len(np.unique(found["noise"].values)) == 1


def test_rows_are_static_as_the_last_of_their_place():
    inputs = Inputs(
        np.array([[1.0], [2.0], [3.0], [2.0], [1.0], [9.0]]),
        np.array([[0.0], [0], [0], [5.0], [5.0], [7.0]]),
    )
    observed = np.array([0, 1, 4])
    found = static_rows.last_rows(inputs, observed, np.array([2, 3, 5]))
    assert found.tolist() == [1, 4, 4]  # the last year; the year before; the place nearest by
    assert static_rows.last_rows(inputs, np.array([1, 2, 4]), np.array([0])).tolist() == [1], (
        "the nearest year to come"
    )
    gap = Inputs(np.array([[0.0], [3.0], [4.0]]), np.zeros((3, 1)))
    assert static_rows.last_rows(gap, np.array([0, 2]), np.array([1])).tolist() == [0], (
        "the last, not the nearest"
    )
    nothing = Inputs(np.zeros((3, 0)), np.array([[0.0], [1.0], [5.0]]))
    assert static_rows.last_rows(nothing, np.array([0, 1]), np.array([2])).tolist() == [1]


def test_shares_of_the_last_year_are_smoothed(train):
    *_, state = steps("static", train, 1)
    last = np.flatnonzero(
        (train.input("year") == 2011) & (train.input("latitude") == train.input("latitude")[-1])
    )[0]
    counts = np.zeros(6)
    pairs = slice(*train.indptr[last : last + 2])
    counts[train.words[pairs]] = train.counts[pairs]
    np.testing.assert_allclose(state.probability[-1], (counts + 1) / (counts.sum() + 6), rtol=1e-12)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    "inputs, sentence",
    [
        (None, "needs a number for each document"),
        (
            {"year": [1.0, 1.0, 1.0], "latitude": [1.0, 2.0, 3.0]},
            "'year' must differ between documents; it is 1 in all 3",
        ),
        ({"year": [1.0, 2.0, 3.0], "latitude": [4.0, 4.0, 4.0]}, "'latitude' must differ"),
    ],
)
def test_inputs_that_are_missing_or_constant_are_refused(name, inputs, sentence):
    corpus = Corpus.from_pairs([0, 1, 2], [0, 1, 0], [3, 2, 1], inputs=inputs)
    with pytest.raises(InputError, match=sentence):
        wb.fit(corpus, name, n_iterations=1, progress=False)


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"scale": 0}, "'scale' of sbm-gp must be a number from 1e-06 to 1e"),
        ({"scale": -1}, "must be a number from"),
        ({"length_time": 0}, "'length_time' of sbm-gp must be"),
        ({"noise": "nan"}, "'noise' of sbm-gp must be"),
        ({"rank": "144"}, "'rank' must be dense, or a number between 0 and 1"),
        ({"rank": "low"}, "'rank' must be dense"),
        (
            {"time": "month"},
            "time=month is none of the inputs of 'drifting', which are year, latitude",
        ),
        (
            {"order": "largest"},
            "must be size, vocabulary, random, or each place 0, 1, … of the words once",
        ),
        ({"order": "1,0"}, "has 2 places, and there are 6 words"),
        ({"order_seed": 3}, "is without effect while order=size"),
    ],
)
def test_options_out_of_range_are_refused(options, sentence, train):
    with pytest.raises(InputError, match=sentence):
        wb.fit(train, "sbm-gp", n_iterations=1, options=options, progress=False)


def test_a_corpus_without_empty_rows_and_one_kind_of_inputs_are_legal():
    corpus = drifting(6, 2)
    for time in ("auto", "none", "latitude"):
        for name in ENGINES:
            found = wb.fit(corpus, name, n_iterations=2, options={"time": time}, progress=False)
            np.testing.assert_allclose(found["probability"].sum("word"), 1.0, rtol=1e-9)
    alone = Corpus.from_pairs([0, 1, 2], [0, 1, 0], [3, 2, 1], inputs={"year": [1.0, 2.0, 3.0]})
    for name in ENGINES:
        assert np.isfinite(
            wb.fit(alone, name, n_iterations=2, progress=False)["train_perplexity"].values
        ).all()


def test_there_is_no_theta_of_other_documents_without_topics(train):
    run = wb.fit(train, "static", n_iterations=1, progress=False)
    with pytest.raises(InputError, match="has no topics, so there is no theta"):
        wb.infer(run, train)
