"""Inputs at the edge that must work, through every engine and all that is made of a run: documents without a token, words
without use, documents of one token, one document, one topic, priors of 1e-4, nothing held out."""

import numpy as np
import pytest
from toys import (
    CORPORA,
    HDP_ENGINES,
    LDA_ENGINES,
    corpus_of,
    dated,
    has_topics,
    placed,
    records_of,
    sequenced,
)

import workbench as wb
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.errors import InputError
from workbench.records import Records
from workbench.runs.afterwards.bound import HYBRIDS, hybrid_bound
from workbench.runs.recorded import priors_of

MODELS = ((1, 0.1), (3, 1e-4), (3, 0.1))
"""(number of topics, prior): one topic, tiny priors, as usual."""
QUICK = ("one_token", "empty_documents_and_unused_words")
"""The corpora that every engine is run on by `make test`; the others are for `make test-slow`."""
EDGES = [name for name in CORPORA if name not in ("toy_a", "twelve_documents")]
ON_EDGES = pytest.mark.parametrize(
    "corpus", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in EDGES]
)
TOPICS = [name for name in ENGINES if has_topics(name)]
OF_RECORDS = [name for name in ENGINES if get_engine(name).model.data is Records]


@pytest.mark.parametrize("engine", TOPICS)
@ON_EDGES
def test_an_edge_corpus_is_fitted_measured_and_used(corpus, engine, tmp_path):
    """With one of the models, in turns: every two of engine, corpus and model stand together once."""
    documents = dated(CORPORA[corpus])
    n_topics, prior = MODELS[(TOPICS.index(engine) + EDGES.index(corpus)) % len(MODELS)]
    settings = dict(n_topics=n_topics, n_iterations=12, burn_in=3, progress=False)
    if engine not in HDP_ENGINES:
        settings |= {
            name: prior for name in ("alpha", "beta") if name in get_engine(engine).model.takes
        }
    else:
        totals = {
            "alpha_total": prior * n_topics,
            "beta_total": prior * documents.n_words,
            "top_concentration": prior,
        }
        settings["options"] = {"learn_alpha": False, "learn_gamma": False} | totals
    ds = wb.fit(documents, engine, store=tmp_path, **settings)
    np.testing.assert_allclose(ds["phi"].sum("word"), 1.0, rtol=1e-9)  # rounding
    priors = priors_of(ds)
    rest = priors.rest / (documents.document_tokens + priors.rest + priors.alphas.sum())
    np.testing.assert_allclose(ds["theta"].sum("topic") + rest, 1.0, rtol=1e-9)  # rounding
    assert priors.rest == 0 or engine in HDP_ENGINES
    assert np.isfinite(ds["train_perplexity"].values).all()
    assert float(ds["n_k"][-1].sum()) == pytest.approx(documents.n_tokens, rel=1e-9)
    theta = wb.infer(ds, documents)["theta"]
    assert np.isfinite(theta.values).all() and theta.shape == (
        documents.n_documents,
        ds.sizes["topic"],
    )


@pytest.mark.parametrize("engine", HYBRIDS)
def test_the_bound_of_a_hybrid_with_one_topic_is_exact_by_every_method(engine, tmp_path):
    corpus = CORPORA["empty_documents_and_unused_words"]
    ds = wb.fit(corpus, engine, 1, n_iterations=12, burn_in=3, store=tmp_path, progress=False)
    name = ds.attrs["name"]
    exact, sampled = (
        hybrid_bound(name, method, store=tmp_path, progress=False)["bound"]
        for method in ("exact", "ais")
    )
    assert exact == pytest.approx(sampled, abs=1e-8)


@pytest.mark.parametrize("engine", OF_RECORDS)
@ON_EDGES
def test_edge_records_are_fitted_and_predicted(corpus, engine, tmp_path):
    records = records_of(CORPORA[corpus])
    ds = wb.fit(records, engine, store=tmp_path, n_iterations=12, burn_in=3, progress=False)
    assert all(np.isfinite(ds[name].values).all() for name in ("train_perplexity", "cpt"))
    by_row = ds["cpt"].groupby("row").sum()
    np.testing.assert_allclose(by_row, 1.0, rtol=1e-9)  # rounding


@pytest.mark.parametrize("engine", [name for name in ENGINES if name not in (*TOPICS, *OF_RECORDS)])
@ON_EDGES
def test_an_edge_corpus_is_fitted_and_predicted_without_topics(corpus, engine, tmp_path):
    documents, of_states = (
        sequenced(placed(CORPORA[corpus])),
        "state_dim" in options_of(get_engine(engine)),
    )
    options = {"state_dim": 1} if of_states else {}
    ds = wb.fit(
        documents,
        engine,
        store=tmp_path,
        n_iterations=12,
        burn_in=3,
        options=options,
        progress=False,
    )
    assert np.isfinite(ds["train_perplexity"].values).all()
    if "probability" not in ds:  # of sequences
        assert all(
            np.isfinite(ds[name].values).all()
            for name in ("states", "state_probability")
            if name in ds
        )
        return
    np.testing.assert_allclose(ds["probability"].sum("word"), 1.0, rtol=1e-9)  # rounding
    assert ds["probability"].shape == (documents.n_documents, documents.n_words)


@pytest.mark.parametrize(
    ("engine", "options"),
    [*((name, {}) for name in LDA_ENGINES), ("svb", {"schedule": "sequential"})],
)
def test_one_topic_is_exact_with_every_engine_of_lda(engine, options, toy, oracles):
    """The bound, log joint or objective is the log evidence."""
    corpus, _ = toy
    edge = oracles["edge"]["K1"]
    ds = wb.fit(
        corpus,
        engine,
        n_topics=1,
        options=options,
        alpha=edge["alpha"][0],
        beta=edge["beta"],
        n_iterations=3,
        progress=False,
    )
    (watched,) = {"bound", "log_joint", "objective"} & set(ds.data_vars)
    assert float(ds[watched][-1]) == pytest.approx(edge["log_evidence"], abs=1e-9)


@pytest.mark.parametrize("engine", LDA_ENGINES)
def test_an_empty_document_and_an_unused_word_have_their_prior_means(engine, oracles):
    edge = oracles["edge"]["empty_doc_and_unused_words"]
    corpus = wb.Corpus.from_pairs(
        *np.array(edge["pairs"]).T, n_documents=edge["D"], n_words=edge["W"]
    )
    alpha, beta = np.array(edge["alpha"]), edge["beta"]
    ds = wb.fit(
        corpus, engine, n_topics=2, alpha=tuple(alpha), beta=beta, n_iterations=40, progress=False
    )
    np.testing.assert_allclose(ds["theta"][1], alpha / alpha.sum(), rtol=1e-12)  # rounding
    sizes = ds["n_k"][-1].values + edge["W"] * beta
    for unused in (2, 3):
        # of a sum of expected counts
        np.testing.assert_allclose(ds["phi"][:, unused], beta / sizes, rtol=1e-9)


def test_a_share_that_is_zero_holds_nothing_out(toy):
    joined = wb.compare(
        dated(toy[0]), TOPICS, n_topics=2, n_iterations=3, holdout=0, progress=False
    )
    assert "test_perplexity" not in joined and joined.sizes["run"] == len(TOPICS)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["cgs", "cvb", "cvb0-cgs"])
def test_priors_are_drawn_beside_counts_of_which_no_memory_has_one_place_each(engine):
    """A count of 2^31 - 1 (a million where tokens are drawn), and 300 priors of topics."""
    largest = 10**6 if engine == "cgs" else 2**31 - 1
    corpus = corpus_of([(0, 0, largest), (0, 1, 2), (1, 1, 3), (1, 2, 1)])
    options = {
        "learn_alpha": "sampled",
        "learn_beta": "sampled",
        "learn_after": 1,
        "learn_every": 1,
    }
    ds = wb.fit(corpus, engine, 300, n_iterations=2, progress=False, options=options)
    assert (
        np.isfinite(ds["alpha"].values).all() and np.isfinite(ds["train_perplexity"].values).all()
    )
    np.testing.assert_allclose(
        ds["n_kw"].sum("topic")[-1], np.bincount(corpus.words, corpus.counts), rtol=1e-9
    )


@pytest.mark.slow
def test_more_tokens_of_a_word_than_a_sampler_counts_are_refused():
    corpus = corpus_of([(0, 0, 2**31 - 1), (1, 0, 1), (1, 1, 1)])
    for engine in ("cgs", "g-hdp", "network-gibbs", "ctm-em"):
        with pytest.raises(
            InputError,
            match=f"{engine} samples tokens, at most 2,147,483,647 of a word, .* 2,147,483,648",
        ):
            wb.fit(corpus, engine, n_iterations=1, progress=False)
    few_sampled = wb.fit(corpus, "svb-cgs", 2, n_iterations=1, progress=False, options={"r": 1})
    assert float(few_sampled["n_kw"][-1].sum()) == corpus.n_tokens


def test_a_row_whose_words_speak_for_far_apart_states_has_a_perplexity():
    corpus = sequenced(corpus_of([(0, w, 10**5) for w in range(10)] + [(1, 0, 1), (2, 10, 2)]))
    ds = wb.fit(
        corpus, "hmm", n_iterations=4, progress=False, options={"n_states": 2, "alpha0": 0.001}
    )
    assert (ds["train_perplexity"] > 9).all() and (ds["train_perplexity"] < 11).all()


def test_a_word_without_probability_among_drawn_topics_has_a_perplexity():
    """Drawn under beta 1e-8, the probability of a word that no topic was seen with may round to 0."""
    train, test = corpus_of([(0, 0, 5), (1, 1, 2)], 2, 3), corpus_of([(0, 2, 1), (1, 2, 1)], 2, 3)
    for seed in range(5):
        ds = wb.fit(
            train,
            "cgs",
            2,
            alpha=0.1,
            beta=1e-8,
            test=test,
            n_iterations=3,
            seed=seed,
            progress=False,
            options={"scored": "sampled"},
        )
        assert np.isfinite(ds["test_perplexity"].values).all()
