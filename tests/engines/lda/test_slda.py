"""Supervised LDA against enumeration and closed forms, beside `cgs`, on planted weights, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import twins
from campaigns.test_ranks import CASES, LEAST, p_values, ranks_of
from engines.lda.starts import uniforms_of
from geweke import key_of, z_of
from stepping import stepped, steps
from toys import CORPORA, simulated, toy_three_topics

import workbench as wb
from workbench.corpus.document_table import DocumentTable
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.lda import cgs, slda
from workbench.kernels.lda.supervised_gibbs import draw_variance, draw_weights
from workbench.measures import MeasureError
from workbench.models import LDA, ModelError
from workbench.models.supervised import (
    VARIANCE_RATE,
    VARIANCE_SHAPE,
    Responses,
    SupervisedLDA,
    class_probabilities,
)

ENGINE, OPTIONS = get_engine("slda"), slda.Options()
CLASSES = Responses(np.array([2.0, 0.0, np.nan]), ("a", "b", "c"))
NUMBERS = Responses(np.array([1.2, np.nan, -0.5]), ("year",), 0.0, 1.0)
WEIGHTS = {
    "classes": (CLASSES, np.array([[3.0, -2.0, 1.0], [-4.0, 5.0, 0.0]])),
    "numbers": (NUMBERS, np.array([[2.0, -1.0, 0.5]])),
}
VARIANCE = 0.3


def supervised(corpus, responses, n_topics=3, **more):
    """The model with given responses."""
    return replace(SupervisedLDA(n_topics, **more), responses=responses)


def log_responses(responses, weights, variance, topics, document_of):
    """log p(y | z) of one assignment, in plain Python."""
    log_p = 0.0
    for d, value in enumerate(responses.values):
        own = topics[document_of == d]
        if np.isnan(value) or not len(own):
            continue
        fits = [np.mean([row[k] for k in own]) for row in weights]
        if responses.is_number:
            log_p -= 0.5 * np.log(2 * np.pi * variance) + (value - fits[0]) ** 2 / (2 * variance)
            continue
        for j, fit in enumerate(fits[: int(value) + 1]):
            p = 1 / (1 + np.exp(-fit))
            log_p += np.log(p if j == value else 1 - p)
    return log_p


def conditional_chain(corpus, model, weights, n_sweeps):
    """The topics of all tokens after each sweep, (sweep, token), with eta and sigma^2 held as they are."""
    state, found = ENGINE.init(corpus, model, OPTIONS, StepContext(0, 0)), []
    for sweep in range(1, n_sweeps + 1):
        state.weights[:, : model.n_topics] = weights
        state = state._replace(variance=VARIANCE)
        state, _ = slda.sweep(corpus, model, state, StepContext(1, sweep))
        found.append(state.topics.copy())
    return np.array(found)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_topics_given_responses_are_drawn_as_enumeration_has_them(kind):
    corpus, plain = toy_three_topics()
    responses, weights = WEIGHTS[kind]
    model = supervised(corpus, responses, alpha=plain.alpha, beta=plain.beta)
    every = twins.enumerate_topics(corpus, plain.alphas, plain.beta)
    document_of = np.repeat(corpus.documents, corpus.counts)
    logs = np.log(every.probability) + [
        log_responses(responses, weights, VARIANCE, z, document_of) for z in every.topics
    ]
    p = np.exp(logs - np.logaddexp.reduce(logs))
    of_states = np.eye(3)[every.topics]  # (state, token, topic)
    chain = np.eye(3)[conditional_chain(corpus, model, weights, 6_000)]
    wanted = np.einsum("s,stk->tk", p, of_states)
    assert np.abs(wanted - np.einsum("s,stk->tk", every.probability, of_states)).max() > 0.1
    assert z_of(chain, wanted).max() < 4.5  # of 21 numbers
    pair = np.einsum("s,sk,sl->kl", p, of_states[:, 0], of_states[:, 2])
    assert z_of(np.einsum("sk,sl->skl", chain[:, 0], chain[:, 2]), pair).max() < 4.5


@pytest.mark.parametrize("scale", (1.0, 12.0, 60.0))
def test_sweeps_given_numbers_meet_their_twin_token_by_token(scale):
    """With the largest scale one token changes the log likelihood by hundreds: exp(b + G) is not exp(b) exp(G) there."""
    corpus, random, n_topics = simulated(), np.random.default_rng(2), 4
    responses = Responses(scale * random.normal(size=12), ("y",), 0.0, 1.0)
    model = supervised(corpus, responses, n_topics)
    weights = scale * random.normal(size=(1, n_topics))
    state = ENGINE.init(corpus, model, OPTIONS, StepContext(9, 0))
    topics, document_of = state.topics.copy(), np.repeat(corpus.documents, corpus.counts)
    for sweep in (1, 2, 3):
        context = StepContext(9, sweep)
        state.weights[:, :n_topics] = weights
        state = state._replace(variance=VARIANCE)
        for i, (d, w, _) in enumerate(twins.tokens_of(corpus)):
            counts = twins.sampled_counts(
                corpus, np.where(np.arange(len(topics)) == i, n_topics, topics), n_topics + 1
            )
            log_p = np.empty(n_topics)
            for k in range(n_topics):
                topics[i] = k
                own = topics[document_of == d]
                fit = weights[0, own].mean()
                log_p[k] = -((responses.values[d] - fit) ** 2) / (2 * VARIANCE)
                log_p[k] += np.log((counts.n_dk[d, k] + 0.1) * (counts.n_wk[w, k] + 0.1))
                log_p[k] -= np.log(counts.n_k[k] + 0.1 * corpus.n_words)
            p = np.exp(log_p - log_p.max())
            topics[i] = twins.draw(p, uniforms_of(context)(i))
        state, _ = slda.sweep(corpus, model, state, context)
        assert np.array_equal(state.topics, topics)


@pytest.mark.parametrize("kind", ("classes", "numbers"))
def test_the_log_joint_is_that_of_plain_python(kind):
    corpus, plain = toy_three_topics()
    responses, weights = WEIGHTS[kind]
    responses = replace(responses, spread=4.0 * responses.spread)
    model = supervised(corpus, responses, alpha=plain.alpha, beta=plain.beta, weight_scale=2.0)
    state = ENGINE.init(corpus, model, OPTIONS, StepContext(0, 0))
    state.weights[:, :3] = weights
    state = state._replace(variance=VARIANCE)
    document_of = np.repeat(corpus.documents, corpus.counts)
    of_responses = log_responses(responses, weights, VARIANCE, state.topics, document_of)
    of_prior = -np.sum(weights**2) / 8 - weights.size * np.log(2 * np.sqrt(2 * np.pi))
    if kind == "numbers":
        of_responses -= 2 * np.log(4.0)  # two densities in units of the number
        rate, shape = VARIANCE_RATE, VARIANCE_SHAPE  # Gamma(2) = 1
        of_prior += shape * np.log(rate) - (shape + 1) * np.log(VARIANCE) - rate / VARIANCE
    watched = ENGINE.watch(corpus, model, OPTIONS, state)
    of_words = cgs.watch(corpus, plain, cgs.Options(), state)["log_joint"]
    assert watched["log_joint"] == pytest.approx(of_words + of_responses + of_prior, rel=1e-12)
    assert watched["response_log_likelihood"] == pytest.approx(of_responses / 2, rel=1e-12)


def test_what_weights_are_drawn_from_is_summed_over_documents():
    """Of numbers omega is known: J and h are those of linear regression, and draws have its mean and covariance."""
    corpus = simulated()
    model = SupervisedLDA(3, response="x").for_data(
        replace(corpus, inputs=np.arange(12.0)[:, None] ** 2, input_names=("x",))
    )
    state = stepped(ENGINE, corpus, model, OPTIONS, 3)
    shares = state.n_dk[:, :3] / corpus.document_tokens[:, None]
    precision = shares.T @ shares / state.variance + np.eye(3) / 25
    h = shares.T @ model.responses.values / state.variance
    draws = np.zeros((4000, 1, 16))
    for i, weights in enumerate(draws):
        scatter = np.triu(precision - np.eye(3) / 25)[None].copy()
        draw_weights(scatter, h[None].copy(), 1 / 25, key_of(i), weights)
    off = draws[:, 0, :3] - np.linalg.solve(precision, h)
    scaled = off @ np.linalg.cholesky(precision)  # standard normal
    assert np.abs(scaled.mean(axis=0)).max() * 4000**0.5 < 4.5
    assert np.abs(np.cov(scaled.T) - np.eye(3)).max() < 4.5 * (2 / 4000) ** 0.5
    variances = [draw_variance(5.0, 8.0, key_of(i)) for i in range(4000)]
    # mean 8 / 4, variance 8^2 / (4^2 3)
    assert abs(np.mean(variances) - 2) < 4.5 * (4 / 3 / 4000) ** 0.5


def test_a_sweep_draws_weights_given_its_own_topics(monkeypatch):
    corpus, given = simulated(), {}
    labels = tuple("abc"[d % 3] for d in range(12))
    model = SupervisedLDA(3).for_data(replace(corpus, labels=labels))
    state = stepped(ENGINE, corpus, model, OPTIONS, 5)
    monkeypatch.setattr(
        slda, "draw_weights", lambda scatter, projected, *rest: given.update(s=scatter, p=projected)
    )
    state, _ = slda.sweep(corpus, model, state, StepContext(0, 6))
    shares, values = state.n_dk[:, :3] / corpus.document_tokens[:, None], model.responses.values
    for j, has in enumerate((values >= 0, values >= 1)):
        kappa = np.where(values == j, 0.5, -0.5) * has
        np.testing.assert_allclose(given["p"][j], kappa @ shares, rtol=1e-12)
        # sum_k J_kl = sum_d omega_d zbar_dl, and each omega > 0
        whole = given["s"][j] + np.triu(given["s"][j], 1).T
        assert np.linalg.eigvalsh(whole).min() > -1e-12
        assert 0 < whole.sum() < 0.25 * 4 * has.sum()


@pytest.mark.parametrize("n_topics", (3, 17))
@pytest.mark.parametrize("seed_words", ("", "0: w0"))
@pytest.mark.parametrize("name", CORPORA)
def test_without_a_response_every_bit_is_that_of_cgs(name, seed_words, n_topics):
    corpus = CORPORA[name]
    plain = LDA(n_topics, 0.2, 0.3, seed_words).for_data(corpus)
    model = SupervisedLDA(n_topics, 0.2, 0.3, seed_words).for_data(corpus)
    both = zip(
        steps(get_engine("cgs"), corpus, plain, cgs.Options(), 6),
        steps(ENGINE, corpus, model, OPTIONS, 6),
        strict=True,
    )
    for (one, of_one), (other, of_other) in both:
        for a, b in zip(one, other[: len(one)], strict=True):
            assert np.array_equal(a, b)
        assert of_one["moved"] == of_other["moved"]


def planted(n_documents=600, seed=5, n_topics=3, tokens=40, numbers=False):
    """(corpus, eta) of documents with labels or an input drawn from planted weights of topics."""
    corpus, truth = LDA(n_topics, 0.5, 0.05).simulate(n_documents, 60, tokens, seed)
    shares, random = truth["n_dk"] / tokens, np.random.default_rng(seed)
    if numbers:
        weights = np.array([[-10.0, 0.0, 30.0]])
        y = shares @ weights[0] + random.normal(0, 2.0, n_documents)
        return replace(corpus, inputs=y[:, None], input_names=("y",)), weights, truth
    weights = np.array([[4.0, -4.0, -4.0], [0.0, 5.0, -5.0]])
    p = class_probabilities(shares @ weights.T)
    drawn = (random.random((n_documents, 1)) > np.cumsum(p, axis=1)).sum(axis=1)
    return replace(corpus, labels=tuple("abc"[c] for c in drawn)), weights, truth


def fitted(corpus, response="label", **more):
    options = {"response": response} | more
    settings = dict(n_iterations=150, burn_in=50, snapshot_every=5, progress=False)
    return wb.fit(corpus, "slda", n_topics=3, alpha=0.5, beta=0.05, options=options, **settings)


def test_planted_weights_of_a_number_are_found():
    corpus, weights, truth = planted(numbers=True)
    run = fitted(corpus, "y")
    found = run["response_weights"].values[10:, 0]  # (snapshot, topic)
    order = [int(np.argmax(run["phi"].values @ row)) for row in truth["phi"]]
    error = np.maximum(found.std(axis=0), 0.3)
    assert sorted(order) == [0, 1, 2]
    assert (np.abs(found.mean(axis=0) - weights[0, np.argsort(order)]) < 5 * error).all()
    assert run["response_deviation"].values[10:].mean() == pytest.approx(2.0, rel=0.2)
    assert run["response"].values.tolist() == ["y"]
    mean = run["response_weights_mean"].values[-1, 0]
    np.testing.assert_allclose(mean, found.mean(axis=0), atol=1.5)


def test_planted_classes_are_found():
    corpus, weights, truth = planted()
    run = fitted(corpus)
    names = run["response"].values.tolist()
    by_size = sorted("abc", key=lambda name: (-corpus.labels.count(name), name))
    assert names == by_size and not run["response_weights"].values[:, -1].any()
    order = np.argsort([int(np.argmax(run["phi"].values @ row)) for row in truth["phi"]])
    # what a document of one topic has; the weights themselves depend on the order of classes
    of_topics = class_probabilities(weights.T)[order]
    draws = class_probabilities(np.moveaxis(run["response_weights"].values[10:, :-1], 1, 2))
    found = draws.mean(axis=0)[:, [names.index(name) for name in "abc"]]
    np.testing.assert_allclose(found, of_topics, atol=0.1)


@pytest.mark.parametrize("name", ("slda, classes", "slda, numbers"))
def test_a_truth_from_the_prior_has_any_rank(name):
    """In short; the campaign of ranks has more truths."""
    assert min(p_values(ranks_of(CASES[name], 80))) > LEAST


def test_a_column_of_the_table_is_a_part_of_what_identifies_a_run(tmp_path):
    corpus = simulated()
    kinds = [tuple("ab"[d % 2] for d in range(12)), tuple("ab"[d % 3 == 0] for d in range(12))]
    runs = []
    for kind in kinds:
        table = DocumentTable({"kind": kind})
        settings = dict(n_topics=3, store=tmp_path, progress=False, options={"response": "kind"})
        wb.fit(replace(corpus, table=table), "slda", n_iterations=4, **settings)
        continued = wb.fit(replace(corpus, table=table), "slda", n_iterations=9, **settings)
        whole = wb.fit(
            replace(corpus, table=table), "slda", n_iterations=9, **settings | {"store": None}
        )
        assert np.array_equal(continued["response_weights"][-1], whole["response_weights"][-1])
        assert continued["response"].values.tolist() == whole["response"].values.tolist()
        runs.append(whole)
    assert runs[0].attrs["spec_hash"] != runs[1].attrs["spec_hash"]
    assert wb.open_run(continued.attrs["name"], tmp_path).sizes["response"] == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"response": "labels"}, "has no column 'labels' of responses; did you mean 'label'?"),
        (
            {"response": "same"},
            "the response 'same' is 'x' in all documents; choose a column with two",
        ),
        (
            {"response": "empty"},
            "the response 'empty' is missing in all documents; choose a column",
        ),
        (
            {"response": "name"},
            "'name' has 12 different values in 12 documents, which are neither numbers nor categories",
        ),
        (
            {"response": "label", "response_type": "numbers"},
            "the response 'label' has the value 'a', which is no number; set response_type=categories",
        ),
        (
            {"response": "huge"},
            "the response 'huge' has numbers too large for a standard deviation",
        ),
    ],
)
def test_what_is_no_response_is_refused_in_one_sentence(options, sentence):
    columns = {
        "same": ("x",) * 12,
        "empty": (None,) * 12,
        "huge": (1e300, -1e300, 3.0) * 4,
        "name": tuple(f"n{d}" for d in range(12)),
    }
    corpus = replace(
        simulated(), labels=tuple("ab"[d % 2] for d in range(12)), table=DocumentTable(columns)
    )
    with pytest.raises(ModelError, match="^[^.]*$") as error:
        wb.fit(corpus, "slda", n_topics=2, n_iterations=1, options=options, progress=False)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("values", "response_type", "names"),
    [
        ((1, 0, 1, 0, None), "auto", ("0", "1")),
        ((1.0, 2.0, "", 3.0, float("nan")), "auto", ("x",)),
        (("1", "2.5", "2.5", "7", None), "auto", ("x",)),
        ((1, 2, 2, 1, 1), "numbers", ("x",)),
        ((5, 4, 5, 4, 5), "categories", ("5", "4")),
        ((True, False, True, False, True), "auto", ("True", "False")),
    ],
)
def test_a_column_is_of_numbers_or_of_categories(values, response_type, names):
    corpus = replace(CORPORA["empty_documents_and_unused_words"], name="c")
    corpus = corpus.rows(0, 5) if corpus.n_documents > 5 else corpus
    table = DocumentTable({"x": values})
    model = SupervisedLDA(2, response="x", response_type=response_type)
    responses = model.for_data(replace(corpus, table=table)).responses
    assert responses.names == names and responses.is_number == (names == ("x",))
    missing = [value in (None, "") or value != value for value in values]
    assert np.isnan(responses.values).tolist() == missing


# ---------------------------------------------------------------------- predictions


def test_predicted_numbers_have_intervals_that_cover():
    corpus, *_ = planted(900, numbers=True)
    run, unseen = fitted(corpus.rows(0, 600), "y"), corpus.rows(600, 900)
    found = wb.measures.predicted_responses(run, wb.infer(run, unseen, progress=False))
    y = unseen.input("y")
    covered = ((found["low"] <= y) & (y <= found["high"])).mean()
    assert 0.92 <= covered <= 0.98  # 95 %, whose standard error is 1.3 %
    assert ((found["mean"] - y) ** 2).mean() ** 0.5 < 2.6  # sigma is 2


def test_probabilities_are_calibrated_and_no_worse_than_a_regression_on_theta():
    linear_model = pytest.importorskip(
        "sklearn.linear_model", reason="the extra sklearn is not installed"
    )
    corpus, *_ = planted(3000, tokens=25)
    train, unseen = corpus.rows(0, 1000), corpus.rows(1000, 3000)
    run = fitted(train)
    inferred = wb.infer(run, unseen, progress=False)
    found = wb.measures.predicted_responses(run, inferred)["probability"]
    np.testing.assert_allclose(found.sum("response"), 1.0, rtol=1e-12)
    truth = np.array(unseen.labels)[:, None] == found["response"].values
    log_loss = -np.log(found.values[truth]).mean()
    bins = np.minimum((found.values * 5).astype(int), 4)
    for one in range(
        5
    ):  # reliability: each bin within four standard errors, of the shares of its own probabilities
        p, is_so = found.values[bins == one], truth[bins == one]
        error = np.sqrt((p * (1 - p)).sum()) / len(p)
        assert abs(p.mean() - is_so.mean()) < 4 * error
    plain = wb.fit(train, "cgs", n_topics=3, alpha=0.5, beta=0.05, n_iterations=150, progress=False)
    regression = linear_model.LogisticRegression(C=100, max_iter=1000)
    regression.fit(plain["theta"].values, train.labels)
    theta = wb.infer(plain, unseen, progress=False)["theta"].values
    p = regression.predict_proba(theta)
    beside = -np.log(p[np.array(unseen.labels)[:, None] == regression.classes_]).mean()
    assert log_loss < beside + 0.01, (log_loss, beside)


def test_predictions_of_other_runs_are_refused():
    corpus = simulated()
    run = wb.fit(corpus, "slda", n_topics=2, n_iterations=2, progress=False)
    inferred = wb.infer(run, corpus, progress=False)
    with pytest.raises(MeasureError, match="has no response; fit it with the engine slda"):
        wb.measures.predicted_responses(run, inferred)
    corpus = replace(corpus, labels=tuple("ab"[d % 2] for d in range(12)))
    run = wb.fit(corpus, "slda", n_topics=3, n_iterations=2, progress=False)
    with pytest.raises(MeasureError, match="of another number of topics"):
        wb.measures.predicted_responses(run, inferred)
