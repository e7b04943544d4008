"""Models of other programs as runs: scored by what they predict themselves, and whole or not there at all."""

import warnings

import numpy as np
import pytest
from foreign_models import (
    N_TOPICS,
    SPLIT,
    bags_of,
    gensim_model,
    of_tomotopy,
    own_perplexity,
    sklearn_model,
    split_corpus,
    tables,
    tomotopy_model,
)
from toys import dense

import workbench as wb
from workbench.dashboard.shared.snapshots import SnapshotKey
from workbench.dashboard.topics.overview import sizes_card
from workbench.engines import IMPORTED, get_engine
from workbench.engines.imported import PROGRAMS
from workbench.errors import InputError
from workbench.runs.afterwards.examine import examine
from workbench.runs.afterwards.heldout_by_document import score_documents
from workbench.views import draw_view
from workbench.views.every import VIEWS

# wanted of the perplexity, which is some 20: sums in another order differ by 1e-14 of it
SAME = 1e-6


@pytest.fixture
def store(tmp_path):
    """A store with a run of our own on the split, ``ours``."""
    train, test = split_corpus()
    wb.fit(
        train,
        "cgs",
        n_topics=N_TOPICS,
        n_iterations=20,
        test=test,
        split=SPLIT,
        store=tmp_path / "runs",
        name="ours",
        progress=False,
    )
    return tmp_path / "runs"


def brought(model, store, **settings):
    """The Dataset of a model that was imported beside our run."""
    return wb.open_run(wb.import_run(model, store, like="ours", **settings))


def test_every_program_has_a_title_and_an_engine():
    assert set(IMPORTED) == set(PROGRAMS)
    assert all(
        get_engine(name).name == name and not get_engine(name).model.course for name in IMPORTED
    )


@pytest.mark.parametrize("kind", ["LDAModel", "HDPModel", "CTModel", "PAModel"])
def test_models_of_tomotopy_are_scored_by_their_own_distributions(kind, store):
    model = tomotopy_model(kind)
    theta, phi, words = of_tomotopy(kind, model)
    run = brought(model, store)
    assert float(run.test_perplexity[-1]) == pytest.approx(
        own_perplexity(theta, phi, words), abs=SAME
    )
    np.testing.assert_array_equal(run.theta.values, theta)
    assert (
        run.attrs["engine"]
        == {
            "LDAModel": "tomotopy-lda",
            "HDPModel": "tomotopy-hdp",
            "CTModel": "tomotopy-ct",
            "PAModel": "tomotopy-pa",
        }[kind]
    )


def test_a_model_of_gensim_is_scored_by_its_own_distributions_and_keeps_its_random_numbers(store):
    model = gensim_model()
    before = model.random_state.get_state()[1].copy()
    run = brought(model, store)
    assert np.array_equal(before, model.random_state.get_state()[1])
    kept, model.random_state = model.random_state, np.random.RandomState(0)
    gamma = np.asarray(model.inference(bags_of(split_corpus()[0]))[0], float)
    model.random_state = kept
    theta = gamma / gamma.sum(axis=1, keepdims=True)
    expected = own_perplexity(theta, model.get_topics(), split_corpus()[0].vocabulary)
    assert float(run.test_perplexity[-1]) == pytest.approx(expected, abs=SAME)


def test_a_model_of_scikit_learn_is_scored_by_its_own_distributions(store):
    model, (train, _) = sklearn_model(), split_corpus()
    run = brought(model, store)
    phi = model.components_ / model.components_.sum(axis=1, keepdims=True)
    expected = own_perplexity(model.transform(dense(train)), phi, train.vocabulary)
    assert float(run.test_perplexity[-1]) == pytest.approx(expected, abs=SAME)


def test_import_model_leaves_out_what_the_program_does_not_tell(store):
    run = brought(sklearn_model(), store)
    assert not {
        "elapsed",
        "cpu_time",
        "updates",
        "bound",
        "test_perplexity_average",
        "log_joint",
    } & set(run.variables)
    assert run.sizes["iteration"] == run.sizes["snapshot"] == 1
    last = wb.measures.final([run])
    assert np.isnan(last["iteration"].values).all() and np.isnan(last["elapsed"].values).all()
    assert wb.measures.mean_curves([run], "test_perplexity") == []


def test_pages_and_figures_draw_no_course_of_it(store):
    path = wb.import_run(sklearn_model(), store, like="ours")
    run, ours = wb.open_run(path), wb.open_run("ours", store)
    fits = {view.name: view.fits(run) for view in VIEWS}
    assert fits["ordering"] and fits["topic-words"] and fits["topic-map"]
    assert not any(
        fits[name]
        for name in ("perplexity-by-iterations", "state-and-average", "topic-sizes", "recorded")
    )
    (picture,) = draw_view("perplexity-by-iterations", [ours, run])
    assert picture.caption.endswith("Left out, as imported models have no iterations: sklearn-lda.")
    assert {row[0] for row in picture.rows} == {"cgs"}
    assert sizes_card(SnapshotKey(path, "", 0, ""), 0, (), "stacked").picture is None
    assert repr(wb.Run(path)).endswith(f"imported from {wb.Run(path).spec.model['program']})")


def test_expected_tokens_are_those_of_theta_and_phi(store):
    theta, phi = tables()
    run = brought(phi, store, theta=theta)
    counts = dense(split_corpus()[0])
    q = theta[:, :, None] * phi
    q /= q.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(run.n_dk.values[0], (q * counts[:, None]).sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(
        run.n_kw.values[0], (q * counts[:, None]).sum(axis=0), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(run.n_k.values[0], run.n_kw.values[0].sum(axis=1))
    assert float(run.n_k.sum()) == pytest.approx(counts.sum())


def test_an_imported_model_stands_beside_ours_on_the_same_split(store):
    ours, theirs = wb.open_run("ours", store), brought(sklearn_model(), store)
    table = wb.measures.paired_differences([ours, theirs]).to_pandas()
    assert table["n_pairs"].tolist() == [1, 1] and set(table["reference"]) == {"cgs"}
    assert float(table["difference"].iloc[1]) == pytest.approx(
        float(theirs.test_perplexity[-1]) - float(ours.test_perplexity[-1])
    )
    assert wb.measures.match_topics(ours, theirs).sizes["topic"] == N_TOPICS


def test_a_run_is_whole_and_scored_by_document_and_comes_again_as_it_is(store):
    path = wb.import_run(sklearn_model(), store, like="ours")
    run = wb.Run(path)
    assert run.state == "finished" and examine(path).damage == []
    assert score_documents(run).perplexity == pytest.approx(
        float(run.dataset().test_perplexity[-1]), rel=1e-12
    )
    before = {each: each.stat().st_mtime_ns for each in path.rglob("*") if each.is_file()}
    assert wb.import_run(sklearn_model(), store, like="ours") == path
    assert {each: each.stat().st_mtime_ns for each in before} == before


def test_no_iteration_goes_on_from_an_imported_model(store):
    path = wb.import_run(sklearn_model(), store, like="ours")
    with pytest.raises(InputError, match="cannot be resumed; fit an engine with start="):
        wb.resume(path, 10)
    assert wb.Run(path).state == "finished"
    with pytest.raises(InputError, match="imported, and never inferred here"):
        wb.fit(split_corpus()[0], "sklearn-lda", progress=False)
    warm = wb.fit(
        split_corpus()[0], "cgs", n_topics=N_TOPICS, n_iterations=2, start=path, progress=False
    )
    assert warm.sizes["iteration"] == 2


@pytest.mark.slow
def test_unseen_documents_need_the_prior_of_topics(store):
    text = [[*split_corpus()[0].vocabulary[:4], "nobody-knows"]]
    found = wb.infer(
        wb.Run(wb.import_run(sklearn_model(), store, like="ours")), text, progress=False
    )
    assert found.theta.sum() == pytest.approx(1)
    theta, phi = tables()
    path = wb.import_run(phi, store, like="ours", theta=theta)
    with pytest.raises(InputError, match="import the model again with alpha"):
        wb.infer(wb.Run(path), text, progress=False)
    again = wb.import_run(phi, store, like="ours", theta=theta, alpha=0.2)
    assert wb.infer(wb.Run(again), text, progress=False).theta.sum() == pytest.approx(1)


def test_words_are_matched_by_name_and_those_that_one_side_lacks_are_said(store):
    theta, phi = tables()
    train, _ = split_corpus()
    order = np.random.default_rng(0).permutation(30)
    words = [train.vocabulary[w] for w in order]
    mixed = brought(phi[:, order], store, theta=theta, words=words)
    assert float(mixed.test_perplexity[-1]) == pytest.approx(
        own_perplexity(theta, phi, train.vocabulary), abs=SAME
    )
    wider = np.hstack([phi * 0.75, np.full((N_TOPICS, 1), 0.25)])
    with pytest.warns(
        UserWarning,
        match=r"1 of the 31 words of the model are not in the corpus \(in the mean 25.00%",
    ):
        run = brought(wider, store, theta=theta, words=[*train.vocabulary, "elsewhere"])
    assert float(run.test_perplexity[-1]) == pytest.approx(
        own_perplexity(theta, phi * 0.75, train.vocabulary), abs=SAME
    )


def test_a_held_out_token_of_probability_zero_is_refused_or_left_out(store):
    theta, phi = tables()
    train, test = split_corpus()
    gone = int(test.words[0])
    kept = [w for w in range(30) if w != gone]
    fewer = phi[:, kept] / phi[:, kept].sum(axis=1, keepdims=True)
    words, before = (
        [train.vocabulary[w] for w in kept],
        sorted(each.name for each in store.iterdir()),
    )
    settings = dict(theta=theta, words=words, like="ours")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            InputError,
            match=f"probability 0 to .* held-out tokens .of '{train.vocabulary[gone]}'.*leave out",
        ):
            wb.import_run(fewer, store, **settings)
    assert sorted(each.name for each in store.iterdir()) == before
    with pytest.warns(UserWarning, match="which are other data"):
        run = wb.open_run(wb.import_run(fewer, store, unknown="leave out", **settings))
    known = test.words != gone
    probability = (
        theta[test.documents[known]] * fewer.T[np.searchsorted(kept, test.words[known])]
    ).sum(axis=1)
    expected = np.exp(-(test.counts[known] @ np.log(probability)) / test.counts[known].sum())
    assert float(run.test_perplexity[-1]) == pytest.approx(expected, abs=SAME)
    assert run.attrs["corpus_hash"] != wb.open_run("ours", store).attrs["corpus_hash"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (dict(theta=None), "no theta of the training documents"),
        (dict(theta=tables()[0][:5]), "theta of 5 documents and the training corpus 24"),
        (dict(theta=tables()[0][:, :2]), "a column for each of the 3 topics"),
        (
            dict(theta=tables()[0] * 2),
            "theta is a distribution that sums to 1; that of document 0 sums to 2",
        ),
        (
            dict(theta=np.where(np.arange(24)[:, None] == 3, -1.0, tables()[0])),
            "document 3 has a negative number",
        ),
        (
            dict(phi=tables()[1] * 0.5),
            "phi is a distribution that sums to 1; that of topic 0 sums to 0.5",
        ),
        (dict(phi=tables()[1] * np.nan), "topic 0 has a number that is not finite"),
        (dict(phi=tables()[1][0]), "phi has a row for each topic; got the shape"),
        (dict(phi=[["a"]]), "something that is no number"),
        (dict(words=["a", "b"]), "30 columns and 2 words"),
        (dict(words=["a"] * 30), "'a' comes twice"),
        (dict(words=[f"x{w}" for w in range(30)]), "no word in common"),
        (
            dict(phi=tables()[1][:, :20] / tables()[1][:, :20].sum(axis=1, keepdims=True)),
            "20 words by number alone",
        ),
        (dict(alpha=[0.1, 0.2]), "one per topic"),
        (dict(alpha=-1.0), "alpha must be"),
        (dict(unknown="guess"), "unknown must be 'refuse' or 'leave out'"),
        (dict(phi={"phi": 1}), "got a builtins.dict"),
    ],
)
def test_import_model_refuses_what_is_no_model_and_leaves_nothing(change, said, store):
    theta, phi = tables()
    settings = dict(phi=phi, theta=theta) | change
    before = sorted(each.name for each in store.rglob("*"))
    with pytest.raises(InputError, match=said) as caught:
        wb.import_run(settings.pop("phi"), store, like="ours", **settings)
    assert "\n" not in str(caught.value)
    assert sorted(each.name for each in store.rglob("*")) == before


def test_either_a_run_or_a_corpus_says_what_the_model_was_fit_on(store):
    train, test = split_corpus()
    theta, phi = tables()
    for settings in ({}, dict(like="ours", corpus=train), dict(like="ours", test=test)):
        with pytest.raises(InputError, match="like"):
            wb.import_run(phi, store, theta=theta, **settings)
    same = wb.import_run(phi, store, theta=theta, corpus=train, test=test, split=SPLIT)
    assert same == wb.import_run(phi, store, theta=theta, like="ours")
    bare = wb.open_run(wb.import_run(phi, store, theta=theta, corpus=train))
    assert "test_perplexity" not in bare and float(bare.train_perplexity[-1]) > 1


def test_documents_without_theta_have_the_mean_and_it_is_said(store):
    theta, phi = tables()
    some = theta.copy()
    some[4] = np.nan
    with pytest.warns(UserWarning, match="1 documents of which the program gives no theta"):
        run = brought(phi, store, theta=some)
    others, lengths = np.delete(theta, 4, 0), np.delete(split_corpus()[0].document_tokens, 4)
    np.testing.assert_allclose(run.theta.values[4], np.average(others, axis=0, weights=lengths))


def test_a_model_that_saw_the_held_out_tokens_is_refused(store):
    train, test = split_corpus()
    model = tomotopy_model("LDAModel")
    whole = wb.Corpus.from_pairs(
        np.append(train.documents, test.documents),
        np.append(train.words, test.words),
        np.append(train.counts, test.counts),
        vocabulary=train.vocabulary,
    )
    with pytest.raises(InputError, match="fit on other tokens than the training corpus"):
        wb.import_run(model, store, corpus=whole)


def test_a_run_that_cannot_be_written_leaves_nothing(store, monkeypatch):
    from workbench.runs.foreign import importing

    monkeypatch.setattr(importing.RunWriter, "snapshot", lambda *_: 1 / 0)
    before = sorted(each.name for each in store.iterdir())
    with pytest.raises(ZeroDivisionError):
        wb.import_run(sklearn_model(), store, like="ours")
    assert sorted(each.name for each in store.iterdir()) == before
