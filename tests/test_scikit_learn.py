"""The estimator keeps the rules of scikit-learn, and gives what the same calls of this package give."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

import workbench as wb
from workbench.engines import ENGINES, get_engine
from workbench.runs.store.places import run_paths
from workbench.sklearn import TopicModel, _lacking

ROOT = Path(__file__).parent.parent
ABLE = [name for name in ENGINES if not _lacking(get_engine(name))]
ONE_OF_EACH = [  # of each way to fold in and to learn: hybrid, batches, HDP that grows, sticks, components, network
    TopicModel(max_iter=5),
    TopicModel(engine="online-vb", max_iter=5),
    TopicModel(engine="g-hdp", max_iter=5),
    TopicModel(3, "sb-ctm", max_iter=3),
    TopicModel(3, "ln-ctm", max_iter=3),
    TopicModel(3, "network-gibbs", max_iter=5),
]
BEYOND = (
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
    "check_dataframe_column_names_consistency",
    "check_inplace_ensure_writeable",
    "check_get_feature_names_out_error",
)
"""Checks that scikit-learn keeps for its own estimators."""


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    """(document, word) counts of 30 documents that are about the first or the last four of 9 words; one has none."""
    rng = np.random.default_rng(0)
    about = np.where(np.arange(30)[:, None] % 2 == 0, [6] * 4 + [0.3] * 5, [0.3] * 5 + [6] * 4)
    found = rng.poisson(about)
    found[7] = 0
    return found


def words_of(corpus, n_documents: int) -> list[str]:
    """Documents as texts."""
    rows = corpus.to_scipy()[:n_documents]
    return [" ".join(np.repeat(corpus.vocabulary, row).tolist()) for row in rows.toarray()]


# ------------------------------------------------------------------ the rules of scikit-learn


@estimator_checks.parametrize_with_checks(ONE_OF_EACH)
def test_every_check_of_scikit_learn_passes(estimator, check, monkeypatch):
    # without it the check of array_api_dispatch skips itself
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


@pytest.mark.filterwarnings("ignore:X .*feature names")  # the checks give a frame, then its array
@pytest.mark.parametrize("name", BEYOND)
def test_checks_that_scikit_learn_keeps_for_its_own_pass(name):
    getattr(estimator_checks, name)("TopicModel", TopicModel(max_iter=5))


@pytest.mark.slow
def test_scikit_learn_is_imported_with_the_estimator_and_not_before():
    look = "import sys, workbench; assert 'sklearn' not in sys.modules; workbench.sklearn.TopicModel; sys.modules['sklearn']"
    subprocess.run([sys.executable, "-c", look], check=True, cwd=ROOT)


def test_every_engine_that_it_takes_is_named_in_its_docstring():
    named = set(
        re.findall(
            r'"([a-z0-9-]+)"',
            TopicModel.__doc__.partition("engine : str")[2].partition("doc_topic_prior")[0],
        )
    )
    assert named == {name for name in ABLE if not name.startswith("network-")}
    assert len(ABLE) == 24


@pytest.mark.parametrize("engine", ABLE)
def test_theta_of_a_document_depends_on_its_words_alone(engine, counts):
    model = TopicModel(3, engine, max_iter=3, random_state=0).fit(counts)
    theta, order = model.transform(counts), np.random.default_rng(1).permutation(len(counts))
    assert np.array_equal(model.transform(counts), theta)
    assert np.array_equal(model.transform(counts[order]), theta[order])
    assert np.array_equal(np.vstack([model.transform(row[None]) for row in counts]), theta)
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-12)  # a division away from 1


@pytest.mark.parametrize(
    "kind", [csr_array, csr_matrix, csc_matrix, coo_array, np.asarray, np.float64, pd.DataFrame]
)
def test_all_kinds_of_matrices_give_the_same(kind, counts):
    given = kind(counts)
    model = TopicModel(3, max_iter=3, random_state=0)
    theta = model.fit_transform(given)
    assert np.array_equal(theta, TopicModel(3, max_iter=3, random_state=0).fit_transform(counts))
    assert np.array_equal(
        given if isinstance(given, np.ndarray | pd.DataFrame) else given.toarray(), counts
    )


def test_equal_entries_of_a_sparse_matrix_are_added_up_and_the_matrix_stays(counts):
    once = csr_array(counts)
    twice = csr_array(
        (np.repeat(once.data, 2), np.repeat(once.indices, 2), 2 * once.indptr), counts.shape
    )
    theta = TopicModel(3, max_iter=3, random_state=0).fit_transform(twice)
    assert np.array_equal(
        theta, TopicModel(3, max_iter=3, random_state=0).fit_transform(2 * counts)
    )
    assert np.array_equal(twice.data, np.repeat(once.data, 2))


def test_columns_of_a_frame_are_the_words(counts):
    frame = pd.DataFrame(counts, columns=[f"word {w}" for w in range(9)])
    model = TopicModel(2, max_iter=5, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == list(model.run_.word.values) == list(frame.columns)
    assert model.get_feature_names_out().tolist() == ["topicmodel0", "topicmodel1"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame.rename(columns={"word 0": "another"}))


# ------------------------------------------------------------------ beside the package


@pytest.mark.parametrize("engine", ["svb-cgs", "vb", "cv-hdp"])
def test_a_fit_has_the_bits_of_the_run(engine, counts):
    given = {} if engine == "cv-hdp" else {"alpha": 0.3, "beta": 0.2}
    run = wb.fit(counts, engine, n_topics=3, n_iterations=7, seed=5, progress=False, **given)
    priors = {"doc_topic_prior": 0.3, "topic_word_prior": 0.2} if given else {}
    model = TopicModel(3, engine, max_iter=7, random_state=5, **priors).fit(counts)
    assert np.array_equal(model.run_.n_kw[-1], run.n_kw[-1])
    assert np.array_equal(model.components_ / model.components_.sum(axis=1, keepdims=True), run.phi)
    assert (model.n_iter_, model.seed_, model.n_features_in_) == (7, 5, 9)
    assert model.perplexity(counts) == wb.document_completion(run, counts, seed=5)["perplexity"]
    # two roundings
    assert model.score(counts) == pytest.approx(-np.log(model.perplexity(counts)), rel=1e-12)


@pytest.mark.parametrize("engine", ["vb", "cvb0", "ctm-em", "network-vb"])
def test_theta_is_that_of_infer_where_nothing_is_drawn(engine, counts):
    model = TopicModel(3, engine, max_iter=5, random_state=0).fit(counts)
    np.testing.assert_allclose(
        model.transform(counts), wb.infer(model.run_, counts, progress=False).theta, rtol=1e-12
    )


@pytest.mark.parametrize("engine", ["cgs", "sb-ctm", "ln-ctm"])
def test_theta_of_a_sampler_is_that_of_infer_but_for_the_draws(engine, counts):
    model = TopicModel(2, engine, max_iter=30, random_state=0).fit(counts)
    theta, other = (
        model.transform(counts),
        wb.infer(model.run_, counts, progress=False).theta.values,
    )
    assert not np.array_equal(theta, other)
    # two means over 50 sweeps of the same posterior, standard deviation about 0.1
    assert np.abs(theta - other).mean() < 0.03


def test_documents_with_the_same_words_differ_in_no_draw_and_others_do(counts):
    model = TopicModel(2, "cgs", max_iter=5, random_state=0).fit(counts)
    words = np.array([[1, 0, 0, 0, 1, 0, 0, 0, 0]])
    theta = model.transform(np.vstack([words, words, 2 * words, np.roll(words, 1)]))
    assert np.array_equal(theta[0], theta[1])
    assert len(np.unique(theta[:, 0])) == 3


def test_rows_of_an_hdp_sum_to_one_and_its_topics_are_those_that_came_out(counts):
    model = TopicModel(2, "g-hdp", max_iter=20, random_state=0).fit(counts)
    inferred = wb.infer(model.run_, counts, progress=False).theta
    assert model.n_components_ == len(model.components_) == inferred.sizes["topic"]
    assert (inferred.sum("topic") < 1).all()
    np.testing.assert_allclose(model.transform(counts).sum(axis=1), 1, rtol=1e-12)
    assert len(model.get_feature_names_out()) == model.n_components_


def test_topics_of_documents_without_words_are_the_prior_mean(counts):
    model = TopicModel(2, "svb", doc_topic_prior=[3, 1], max_iter=5, random_state=0).fit(counts)
    np.testing.assert_allclose(model.transform(np.zeros((2, 9))), [[0.75, 0.25]] * 2)


def test_learnt_priors_are_in_components_and_theta(counts):
    model = TopicModel(
        2,
        "vb",
        max_iter=30,
        options={"learn_alpha": "maximised", "learn_beta": "maximised"},
        random_state=0,
    )
    model.fit(counts)
    assert model.run_.beta[-1] != 0.1
    np.testing.assert_allclose(model.components_, model.run_.n_kw[-1] + model.run_.beta[-1])
    np.testing.assert_allclose(
        model.transform(np.zeros((1, 9)))[0], model.run_.alpha[-1] / model.run_.alpha[-1].sum()
    )


def test_tol_ends_a_fit_early(counts):
    model = TopicModel(2, "svb", max_iter=500, tol=1e-3, random_state=0).fit(counts)
    assert model.n_iter_ < 500
    as_long = TopicModel(2, "svb", max_iter=model.n_iter_, random_state=0).fit(counts)
    assert np.array_equal(model.components_, as_long.components_)


def test_a_random_state_is_drawn_from_and_none_is_new_each_time(counts):
    draws = np.random.RandomState(3)
    first, second = (
        TopicModel(2, max_iter=2, random_state=draws).fit(counts).seed_ for _ in range(2)
    )
    assert first != second
    assert (
        first == TopicModel(2, max_iter=2, random_state=np.random.RandomState(3)).fit(counts).seed_
    )
    assert len({TopicModel(2, max_iter=2).fit(counts).seed_ for _ in range(3)}) == 3


def test_a_store_keeps_the_run_and_gives_it_back(counts, tmp_path):
    model = TopicModel(2, max_iter=5, random_state=0, store=tmp_path)
    theta = model.fit_transform(counts)
    assert np.array_equal(theta, TopicModel(2, max_iter=5, random_state=0).fit_transform(counts))
    assert np.array_equal(model.fit_transform(counts), theta)
    assert [path.name for path in run_paths(tmp_path)] == [model.run_.attrs["name"]]


def test_ctrl_c_leaves_the_estimator_as_it_was(counts, monkeypatch):
    model = TopicModel(2, max_iter=3, random_state=0).fit(counts)
    before = dict(vars(model))
    monkeypatch.setattr("workbench.runs.loop.Control.received", signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        model.fit(counts[:, :4])
    assert vars(model) == before


# ------------------------------------------------------------------ further documents


def test_partial_fit_moves_topics_as_fit_and_update_do(counts, tmp_path):
    options = {"batch_size": 4, "total_documents": 100}
    model = TopicModel(3, "online-vb", options=options, random_state=2)
    for rows in (counts[:10], counts[10:17], counts[17:]):
        model.partial_fit(rows)
    given = {
        "n_topics": 3,
        "n_iterations": 1,
        "seed": 2,
        "options": options,
        "store": tmp_path,
        "name": "first",
    }
    wb.fit(counts[:10], "online-vb", progress=False, **given)
    second = wb.update("first", counts[10:17], store=tmp_path, progress=False)
    third = wb.update(second, counts[17:], store=tmp_path, progress=False)
    assert np.array_equal(model.components_, third.dataset().n_kw[-1].values + 0.1)
    assert (model.n_iter_, model.n_features_in_) == (3, 9)


def test_partial_fit_goes_on_from_a_fit_and_stands_for_the_documents_so_far(counts):
    model = TopicModel(2, "online-vb", max_iter=3, random_state=0).fit(counts[:20])
    n_documents = np.count_nonzero(counts.sum(axis=1))
    told = TopicModel(
        2, "online-vb", max_iter=3, random_state=0, options={"total_documents": n_documents}
    ).fit(counts[:20])
    told._topics, told._n_batches = (
        told._topics._replace(of_words=model._topics.of_words),
        model._n_batches,
    )
    assert np.array_equal(
        model.partial_fit(counts[20:]).components_, told.partial_fit(counts[20:]).components_
    )
    assert model.n_iter_ == 4
    assert not hasattr(model, "run_")


def test_partial_fit_is_there_for_the_engine_that_goes_on_alone(counts):
    assert [name for name in ABLE if hasattr(TopicModel(engine=name), "partial_fit")] == [
        "online-vb"
    ]
    with pytest.raises(AttributeError) as refused:
        TopicModel(engine="cgs").partial_fit(counts)
    assert str(refused.value.__cause__) == (
        "engine='cgs' learns from all documents at once, so there is no partial_fit; choose engine='online-vb'"
    )


# ------------------------------------------------------------------ beside other estimators


@pytest.mark.slow
def test_a_grid_search_over_a_pipeline_chooses_engine_and_topics():
    texts = words_of(wb.load_corpus(), 60)
    pipeline = make_pipeline(CountVectorizer(min_df=3), TopicModel(max_iter=5, random_state=0))
    grid = {
        "topicmodel__n_components": [2, np.int64(4)],
        "topicmodel__engine": ["svb-cgs", "cv-hdp"],
    }
    search = GridSearchCV(pipeline, grid, cv=2, n_jobs=2, error_score="raise").fit(texts)
    alone = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(texts)
    assert np.array_equal(
        search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    theta = search.transform(texts[:5])
    assert theta.shape == (5, search.best_estimator_[-1].n_components_)


# ------------------------------------------------------------------ what is refused

FEW = np.array([[1, 0, 2], [0, 3, 1]])
REFUSED = {
    "negative": (
        dict(),
        -FEW,
        "Negative values in data: counts are whole numbers from 0 on; row 0 .*'w0', has -1",
    ),
    "weights": (
        dict(),
        FEW / 2,
        "counts must be whole numbers; row 0 .*'w0', has 0.5; give counts, as of CountVectorizer",
    ),
    "NaN": (dict(), [[1, 2], [np.nan, 1]], "counts must be finite; row 1 .*'w0', has NaN"),
    "infinite": (
        dict(),
        csr_array([[1, 2], [1, np.inf]]),
        "counts must be finite; row 1 .*'w1', has inf",
    ),
    "large": (dict(), FEW * 2**40, "a count may not exceed 2,147,483,647; row 0"),
    "no words": (dict(), 0 * FEW, "X must have a count above 0 to learn from; all of 2 x 3 are 0"),
    "no rows": (dict(), FEW[:0], "0 sample"),
    "no columns": (dict(), FEW[:, :0], "0 feature"),
    "unknown engine": (dict(engine="gcs"), FEW, "no engine 'gcs'; did you mean 'cgs'"),
    "no engine": (dict(engine=None), FEW, "no engine 'None'; there are vb"),
    "records": (
        dict(engine="bn-vb"),
        FEW,
        "from counts of words alone, and bn-vb infers from Records; choose one of vb, svb",
    ),
    "sequences": (
        dict(engine="hmm"),
        FEW,
        "and hmm has no topics of unseen documents; choose one of vb",
    ),
    "years": (
        dict(engine="sb-dtm"),
        FEW,
        "and sb-dtm needs more of documents, as their years; choose one of vb",
    ),
    "no topics": (
        dict(n_components=0),
        FEW,
        "n_components must be a whole number from 1 to 65535; got 0",
    ),
    "no iteration": (dict(max_iter=0), FEW, "max_iter must be a whole number from 1 to .*; got 0"),
    "prior": (
        dict(doc_topic_prior=-1),
        FEW,
        "doc_topic_prior must be a number greater than 0 .*; got -1",
    ),
    "priors": (
        dict(n_components=3, doc_topic_prior=[1, 2]),
        FEW,
        "doc_topic_prior must be one number or one per topic",
    ),
    "prior of words": (
        dict(topic_word_prior="a"),
        FEW,
        "topic_word_prior must be a number greater than 0",
    ),
    "prior of an HDP": (
        dict(engine="g-hdp", doc_topic_prior=1),
        FEW,
        "g-hdp has no doc_topic_prior; .*the option alpha_total",
    ),
    "option": (dict(options={"rr": 1}), FEW, "svb-cgs has no option 'rr'; did you mean 'r'"),
    "options": (dict(options=3), FEW, "options must be a dict"),
    "tol": (dict(engine="vb", tol=-1), FEW, "tol must be a number of at least 0; got -1"),
    "no bound": (
        dict(tol=0.1),
        FEW,
        "svb-cgs has no bound, whose change tol is compared with; leave tol out, or .* vb, svb",
    ),
    "seed": (
        dict(random_state=-1),
        FEW,
        "random_state must be a whole number from 0 to .*; got -1",
    ),
    "threads": (
        dict(n_jobs=0),
        FEW,
        "n_jobs must be a whole number of threads from 1 on, .*; got 0",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_fitted_is_refused_in_a_sentence_and_leaves_the_estimator_as_it_was(what):
    settings, X, sentence = REFUSED[what]
    model = TopicModel(max_iter=2).fit(FEW)
    model.set_params(**{"max_iter": 2} | settings)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=sentence) as refused:
        model.fit(X)
    assert "\n" not in str(refused.value)
    assert vars(model) == before


def test_what_cannot_be_transformed_is_refused():
    model = TopicModel(2, max_iter=2)
    for ask in (model.transform, model.perplexity, model.score):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask(FEW)
    model.fit(FEW)
    for ask in (model.transform, model.perplexity, model.score):
        with pytest.raises(ValueError, match="X has 2 features, but TopicModel is expecting 3"):
            ask(FEW[:, :2])
        with pytest.raises(ValueError, match="counts must be whole numbers"):
            ask(FEW / 2)
    with pytest.raises(
        ValueError, match="no document of 'counts' has two tokens to be split into halves"
    ):
        model.perplexity(np.eye(3))


def test_what_cannot_go_on_is_refused(counts, tmp_path):
    model = TopicModel(2, "online-vb", random_state=0).partial_fit(counts)
    before = dict(vars(model))
    for X, sentence in (
        (counts[:, :4], "X has 4 features"),
        (0 * counts, "X must have a count above 0"),
        (counts / 2, "must be whole numbers"),
    ):
        with pytest.raises(ValueError, match=sentence):
            model.partial_fit(X)
    assert vars(model) == before
    with pytest.raises(ValueError, match="partial_fit keeps no run; leave store out"):
        TopicModel(engine="online-vb", store=tmp_path).partial_fit(counts)
    with pytest.raises(
        ValueError,
        match="continues from its own topics, and these are of a fit by cgs; fit with online-vb",
    ):
        TopicModel(2, "cgs", max_iter=2).fit(counts).set_params(engine="online-vb").partial_fit(
            counts
        )


# ------------------------------------------------------------------ its page


def test_the_code_of_the_page_runs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "scikit_learn.md").read_text(), re.S
    )
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, "docs/scikit_learn.md", "exec"), names)
