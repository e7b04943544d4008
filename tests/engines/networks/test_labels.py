"""Labeled and partially labeled LDA: enumeration, plain twins, what is outside the labels, documents without, errors."""

from collections import Counter
from dataclasses import replace

import network_twins as twins
import numpy as np
import pandas as pd
import pytest
from engines.lda.starts import uniforms_of
from engines.networks.beside_twins import (
    assert_chains_follow_the_posterior,
    assert_cvb0_updates_as_plain_loops,
    assert_vb_rests_below_the_evidence,
)
from engines.networks.states import paths_in, places_of_paths
from stepping import copied, states, stepped
from toys import corpus_of, every_pair
from twins import draw, order_of_draws, sampled_counts, tokens_of

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.networks.compiled import allowed_topics, initial_alphas
from workbench.engines.networks.fold_in import Learnt
from workbench.engines.options import make_options
from workbench.models import ModelError
from workbench.models.networks.labels import allowed_values, labels_in
from workbench.models.networks.network import DOCUMENT, LABELS, WORD, Level, Network, Rows, Variable

ENGINES = ("network-gibbs", "network-cvb0", "network-vb", "network-vb-ml", "network-hybrid")


def styles() -> Network:
    """In no paper: documents mix their labels, labels mix styles, labels and styles have words. It is not LDA."""
    return Network(
        "styles",
        (Variable("kind", LABELS, background=1), Variable("style", 2)),
        (
            Level("theta", "kind", (Rows((DOCUMENT,)),), prior=0.4),
            Level("sigma", "style", (Rows(("kind",)),), prior=0.7),
            Level("phi", WORD, (Rows(("kind", "style")),), prior=0.5),
        ),
    )


def with_labels(corpus, *labels) -> Corpus:
    return replace(corpus, labels=labels)


TOY = with_labels(twins.toy(((0, 0, 1), (1, 2), (2,)), authors=None), ("x",), ("y", "z"), ())
NETWORKS = {
    "labeled": Network.of("labeled", alpha=0.4, beta=0.5).for_data(TOY),
    "partially-labeled": Network.of(
        "partially-labeled", 2, {"background": 1}, alpha=0.4, beta=0.5
    ).for_data(with_labels(TOY, ("x",), ("y",), ())),
    "styles": styles().for_data(with_labels(TOY, ("x",), ("y",), ())),
}
TOYS = {
    name: (network, TOY if name == "labeled" else with_labels(TOY, ("x",), ("y",), ()))
    for name, network in NETWORKS.items()
}
each_toy = pytest.mark.parametrize("name", TOYS)
GIBBS, CVB0, VB = map(get_engine, ("network-gibbs", "network-cvb0", "network-vb"))


def simulated(name="partially-labeled", n_labels=7, **sizes):
    """Return a network and a corpus with none to three labels a document, more of them than lanes where there are many."""
    rng = np.random.default_rng(3)
    labels = [
        tuple(f"label {i}" for i in rng.choice(n_labels, rng.integers(4), replace=False))
        for _ in range(40)
    ]
    network = Network.of(name, **sizes)
    corpus, truth = network.simulate(40, 30, 25, seed=1, labels=labels)
    return network.for_data(corpus), corpus, truth


WIDE = {
    "labeled": simulated("labeled"),
    "many labels": simulated("labeled", 60),
    "windows": simulated("partially-labeled", n_topics=18, sizes={"background": 5}),
    "partially-labeled": simulated(n_topics=2, sizes={"background": 2}),
}


def outside(network, corpus) -> np.ndarray:
    """(document, value) whether a value is outside the labels of the document, by plain loops."""
    return np.array(
        [
            [bool(names) and label not in ("", *names) for label in network.labelled.labels]
            for names in corpus.labels
        ]
    )


# ---------------------------------------------------------------------- against enumeration and twins


@pytest.mark.slow
@each_toy
def test_chains_follow_the_exact_posterior(name):
    assert_chains_follow_the_posterior(*TOYS[name])


@each_toy
def test_a_token_is_drawn_from_its_conditional_and_the_log_joint_is_exact(name):
    network, corpus = TOYS[name]
    options, n_draws = make_options(GIBBS, {}), 2000
    begun = stepped(GIBBS, corpus, network, options, 3, seed=8)
    chosen = paths_in(network, corpus, begun)
    found = GIBBS.watch(corpus, network, options, begun)["log_joint"]
    assert found == pytest.approx(twins.log_joint(network, corpus, chosen), rel=1e-11)
    first = next(i for i, (d, *_) in enumerate(twins.tokens_of(corpus)) if d == 1)
    if name == "labeled":  # document 0 has one topic, so its tokens stay
        d, w, _ = twins.tokens_of(corpus)[first]
    else:
        first, (d, w, _) = 0, twins.tokens_of(corpus)[0]
    expected, drawn = twins.conditional(network, corpus, chosen, first), Counter()
    for seed in range(n_draws):
        state = copied(begun)
        GIBBS.step(corpus, network, options, state, StepContext(seed, 1))
        drawn[int(state.places[first])] += 1
    share = np.array([drawn[p] for p in places_of_paths(network, corpus, d, w)]) / n_draws
    assert share.sum() == 1
    assert np.all(np.abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / n_draws))


def test_sweeps_of_scattered_labels_meet_plain_draws_token_by_token():
    """Up to twenty topics of 99, which lie apart, and words that a document has several times."""
    rng = np.random.default_rng(4)
    names = np.array([f"label {i:02}" for i in range(99)])
    labels = [tuple(rng.choice(names, rng.integers(2, 21), replace=False)) for _ in range(30)]
    corpus, _ = Network.of("labeled").simulate(30, 25, 60, seed=2, labels=labels)
    network = Network.of("labeled").for_data(corpus)
    assert not allowed_topics(corpus, network).by_windows.any() and corpus.counts.max() > 3
    options, allowed, tokens = make_options(GIBBS, {}), ~outside(network, corpus), tokens_of(corpus)
    state = GIBBS.init(corpus, network, options, StepContext(9, 0))
    topics, n_topics = state.places.copy(), network.n_topics
    counts = sampled_counts(corpus, topics, n_topics)
    for sweep in (1, 2):
        context = StepContext(9, sweep)
        for i, (d, w, _) in enumerate(tokens):
            for change in (-1, 1):
                if change > 0:
                    here = np.flatnonzero(allowed[d])
                    p = (counts.n_dk[d] + 0.1) * (counts.n_wk[w] + 0.1)
                    p = (p / (counts.n_k + 0.1 * corpus.n_words))[here]
                    order = order_of_draws(len(here))
                    topics[i] = here[order[draw(p[order], uniforms_of(context)(i))]]
                for n in (counts.n_dk[d], counts.n_wk[w], counts.n_k):
                    n[topics[i]] += change
        GIBBS.step(corpus, network, options, state, context)
        np.testing.assert_array_equal(state.places, topics)


@each_toy
def test_cvb0_updates_the_responsibilities_of_allowed_paths(name):
    assert_cvb0_updates_as_plain_loops(*TOYS[name])


@each_toy
def test_vb_ends_where_plain_updates_of_allowed_paths_stay_below_the_evidence(name):
    assert_vb_rests_below_the_evidence(*TOYS[name], 400)


# ---------------------------------------------------------------------- what is outside the labels


@pytest.mark.parametrize("corpus_name", WIDE)
@pytest.mark.parametrize("name", ENGINES)
def test_documents_have_topics_of_their_labels_alone(name, corpus_name):
    network, corpus, _ = WIDE[corpus_name]
    engine = get_engine(name)
    options, model = make_options(engine, {}), engine.suits(network)
    beyond = outside(network, corpus)
    assert beyond.any()
    assert not beyond[[not names for names in corpus.labels]].any()
    for state in states(engine, corpus, model, options, 5, seed=7):
        found = engine.counts(corpus, model, options, state)
        assert np.abs(found["n_dk"][beyond]).max() == 0
        np.testing.assert_allclose(found["n_dk"].sum(axis=1), corpus.document_tokens, atol=1e-9)
        np.testing.assert_allclose(found["n_dk"].sum(axis=0), found["n_kw"].sum(axis=1), atol=1e-9)
        np.testing.assert_allclose(
            found["n_kw"].sum(axis=0),
            np.bincount(corpus.words, corpus.counts, corpus.n_words),
            atol=1e-9,
        )
    last = {name: np.asarray(values) for name, values in found.items()}
    estimates = model.estimates(last, corpus)
    assert estimates["theta"][beyond].max() == 0
    allowed = ~beyond * (0.1 + found["n_dk"])
    np.testing.assert_allclose(
        estimates["theta"], allowed / allowed.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12
    )
    predicted = engine.predict(corpus, model, options, state, every_pair(corpus))
    rows = predicted.reshape(corpus.n_documents, -1)
    tolerance = 1e-6 if name == "network-vb-ml" else 1e-9
    np.testing.assert_allclose(
        rows, estimates["theta"] @ estimates["phi"], rtol=tolerance, atol=1e-9
    )


@pytest.mark.parametrize("name", ["network-gibbs", "network-cvb0", "network-vb", "network-hybrid"])
def test_where_no_document_has_labels_it_is_lda(name):
    _, corpus, _ = WIDE["many labels"]
    network = Network.of("labeled").with_labels([f"label {i}" for i in range(21)])
    corpus, engine = replace(corpus, labels=((),) * corpus.n_documents), get_engine(name)
    options = make_options(engine, {})
    labeled, plain = (
        stepped(engine, corpus, each, options, 5, seed=7) for each in (network, twins.lda(21))
    )
    for a, b in zip(labeled, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("r", "other"), [(0.0, "network-vb"), (float("inf"), "network-gibbs")])
def test_the_ends_of_the_hybrid_are_the_engines_it_joins(r, other):
    network, corpus, _ = WIDE["partially-labeled"]
    hybrid, engine = get_engine("network-hybrid"), get_engine(other)
    found = stepped(hybrid, corpus, network, make_options(hybrid, {"r": r}), 5, seed=7)
    wanted = stepped(engine, corpus, network, make_options(engine, {}), 5, seed=7)
    name = "mean_wk" if r == 0 else "n_wk"
    np.testing.assert_array_equal(np.squeeze(getattr(found, name)), wanted.n_wk)


def test_unseen_documents_may_have_all_topics():
    network, corpus, truth = WIDE["partially-labeled"]
    options, counts = make_options(GIBBS, {}), {"phi": truth["n_kw"].astype(float)}
    learnt = Learnt(network, counts, initial_alphas(network))
    theta = GIBBS.fold_in(learnt, options, corpus, StepContext(3, 0))
    lda = twins.lda(network.n_topics)
    as_lda = GIBBS.fold_in(
        Learnt(lda, counts, initial_alphas(lda)), options, corpus, StepContext(3, 0)
    )
    np.testing.assert_allclose(theta, as_lda, rtol=1e-9)


def test_wb_names_topics_by_labels_and_predicts_held_out_tokens_better_than_lda():
    _, corpus, _ = WIDE["partially-labeled"]
    train, test = wb.hold_out_tokens(corpus, fraction=0.1, seed=0)
    run, plain = (
        wb.fit(train, "network-gibbs", n_iterations=60, test=test, progress=False, **settings)
        for settings in (
            {"model": "partially-labeled", "n_topics": 2, "sizes": {"background": 2}},
            {"model": "lda", "n_topics": 16},
        )
    )
    names = ["background 1", "background 2", "label 0 1", "label 0 2"]
    assert run["topic_label"].values[:4].tolist() == names
    assert wb.topics(run)["label"].isin(run["topic_label"].values).all()
    assert wb.perplexity(run) < wb.perplexity(plain)
    inferred = wb.infer(run, corpus)["theta"]
    np.testing.assert_allclose(inferred.sum("topic"), 1.0)
    assert (inferred > 0).all()


# ---------------------------------------------------------------------- labels and errors


def test_labels_are_separated_by_semicolons_or_in_a_list():
    entries = ["a; b; a;", "", None, ("a", "b"), "['a', 'b, c']", "[not a list]"]
    found = [labels_in(entry) for entry in entries]
    assert found == [("a", "b"), (), (), ("a", "b"), ("a", "b, c"), ("[not a list]",)]


def test_missing_labels_are_none_and_sets_and_arrays_are_lists():
    nan = float("nan")
    for entry in (nan, np.float64(nan), pd.NA, pd.NaT, [None, nan, pd.NA], np.array([]), set()):
        assert labels_in(entry) == ()
    entries = ([None, "a"], np.array(["a", None], object), "[None, 'a']", {"a"}, np.array("a"))
    assert {labels_in(entry) for entry in entries} == {("a",)}
    assert labels_in({"c", "a", "b"}) == labels_in(np.array(["a", "b", "c"])) == ("a", "b", "c")
    assert labels_in("nan; None") == ("nan", "None") and labels_in(np.array([3, 1])) == ("3", "1")


@pytest.mark.parametrize("text", ["[{[]}]", "[{[]:1}]"])
def test_a_text_in_brackets_that_is_no_list_is_a_label(text):
    assert labels_in(text) == (text,)


def test_allowed_values_are_those_of_plain_loops():
    network, corpus, _ = WIDE["windows"]
    allowed, set_of = allowed_values(network.labelled, corpus)
    np.testing.assert_array_equal(~allowed[set_of], outside(network, corpus))


PLAIN = corpus_of([(0, 0, 2), (1, 1, 3)], 2, 2)


@pytest.mark.parametrize(
    ("corpus", "sentence"),
    [
        (PLAIN, "needs the labels of documents, and 'corpus' has none; name their column"),
        (with_labels(PLAIN, "", ""), "needs the labels of documents, and 'corpus' has none"),
        (with_labels(PLAIN, "b;a", "a; b"), "every document of 'corpus' that has any has a, b"),
    ],
)
def test_a_corpus_whose_labels_restrict_nothing_is_refused(corpus, sentence):
    with pytest.raises(ModelError, match=sentence):
        wb.fit(corpus, "network-gibbs", model="labeled", progress=False)


def test_labels_of_fewer_than_two_documents_with_words_are_named_and_fitted(capsys):
    corpus = Corpus.from_tokens([["oil"], ["oil", "corn"], ["corn"], ["tax"], []])
    corpus = replace(corpus, labels=("a;b", "a", "b;x", "y", "x;z"))
    wb.fit(corpus, "network-gibbs", model="labeled", n_iterations=2)
    assert (
        "3 of the 5 labels of 'corpus' have fewer than two documents with words, so their topics cannot be distinguished "
        "from these documents: 'x', 'y', 'z'; join such labels, or leave them out\n"
        in capsys.readouterr().err
    )
    for plain in (replace(corpus, labels=("a;b", "a", "b", "a", "")), corpus):
        model = "lda" if plain is corpus else "labeled"
        wb.fit(plain, "network-gibbs", model=model, n_iterations=2)
        assert "labels" not in capsys.readouterr().err


def test_a_column_that_the_file_lacks_is_refused(tmp_path):
    path = tmp_path / "stories.csv"
    path.write_text("text,topics\noil rises again,crude;trade\nwheat falls,grain\n")
    with pytest.raises(wb.DataError, match="no column 'topcs' for the label"):
        wb.load_corpus(path, label="topcs")
    network = Network.of("labeled").for_data(wb.load_corpus(path, label="topics"))
    assert network.labelled.values == ("crude", "grain", "trade")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_topics": 3}, "has a topic for each label of the corpus; leave n_topics out"),
        ({"sizes": {"topic": 3}}, "the labels of the corpus determine the number of 'topic'"),
        ({"alpha": (0.1, 0.2)}, "whose number the corpus determines, so its prior must be one"),
    ],
)
def test_settings_that_the_labels_determine_are_refused(settings, sentence):
    with pytest.raises(ModelError, match=sentence):
        Network.of("labeled", **settings)


def test_the_level_of_labels_is_by_document_and_does_not_learn():
    network = Network.of("labeled")
    for change in ({"learn": "scalar"}, {"rows": (Rows(),)}):
        with pytest.raises(ModelError, match="draws 'topic' by the labels of documents"):
            replace(network, levels=(replace(network.levels[0], **change), network.levels[1]))


def test_a_network_with_labels_comes_back_from_its_settings():
    for network in (Network.of("labeled"), *NETWORKS.values()):
        assert Network.of(network.settings()) == network
