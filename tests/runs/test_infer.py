"""Unseen documents under a run: words matched by spelling, rates, protocols, and what is refused."""

import gc
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import twins
from bayes_net_twins import completions, families
from short_runs import run_of, short_settings
from toys import corpus_of

import workbench as wb
from workbench.corpus import Corpus, hold_out_documents, split_halves
from workbench.engines import ENGINES, get_engine
from workbench.errors import InputError
from workbench.models import LDA, VARIABLES
from workbench.runs.afterwards.infer import PROTOCOLS, inference_bytes
from workbench.runs.afterwards.learnt import known_part
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store.layout import StoreError

ROUNDING = 1e-12


@pytest.fixture(scope="module")
def forty_documents():
    """(training, unseen) documents of 40 tokens over 50 words."""
    return hold_out_documents(
        LDA(3, 0.2, 0.2).simulate(40, 50, 40, seed=1)[0], fraction=0.25, seed=0
    )


@pytest.fixture(scope="module")
def learnt(forty_documents):
    """A run of 20 iterations of `cgs` on the training documents."""
    return wb.fit(forty_documents[0], "cgs", n_topics=3, n_iterations=20, progress=False)


@pytest.fixture(scope="module")
def small_talk():
    """A run on four texts of two subjects."""
    texts = [
        "sun beach sand sun sea",
        "sea sand beach swim",
        "snow ski mountain snow",
        "mountain ski slope snow",
    ]
    return wb.fit(wb.Corpus.from_texts(texts), "cvb0", n_topics=2, n_iterations=50, progress=False)


def renamed(corpus, vocabulary):
    return wb.Corpus(
        corpus.indptr, corpus.words, corpus.counts, vocabulary=vocabulary, titles=corpus.titles
    )


# ---------------------------------------------------------------------- infer


COUNTED = {
    "ngrams": 2,
    "lowercase": False,
    "min_letters": 3,
    "stop_words": ["City"],
    "more_stop_words": "The",
    "accents": "strip",
}


def a_corpus(**options):
    return wb.Corpus.from_texts(
        ["The New York city in Café", "a City called New York", "The old mill"], **options
    )


@pytest.mark.parametrize(
    "options",
    [COUNTED, {"stop_words": None}, {"token_pattern": r"\w+"}, {"phrases": "new york"}, {}],
    ids=str,
)
def test_unseen_text_is_counted_as_that_of_the_run(options, tmp_path):
    run = wb.fit(
        a_corpus(**options),
        "cvb0",
        n_topics=2,
        n_iterations=3,
        store=tmp_path / "runs",
        progress=False,
    )
    text = "The New York City in a Cafe"
    (tmp_path / "a.csv").write_text(f"text\n{text}\n")
    wanted = wb.infer(run, wb.Corpus.from_texts([text], **options))
    for documents in (
        [text],
        pd.Series([text]),
        pd.DataFrame({"text": [text]}),
        tmp_path / "a.csv",
    ):
        for what in (run, wb.open_run(next((tmp_path / "runs").glob("*-cvb0-*")))):
            found = wb.infer(what, documents)
            np.testing.assert_array_equal(found.theta, wanted.theta)
            assert found.n_tokens.values.tolist() == wanted.n_tokens.values.tolist()
    assert (
        wb.document_completion(run, [text] * 4)["out_of_vocabulary"]
        == wanted.attrs["out_of_vocabulary"]
    )


def test_what_is_said_of_unseen_text_comes_before_how_the_run_counted_its_own():
    run = wb.fit(a_corpus(**COUNTED), "cvb0", n_topics=2, n_iterations=3, progress=False)
    assert wb.infer(run, ["New York"]).n_tokens.values.tolist() == [3]
    assert wb.infer(run, ["New York"], ngrams=1).n_tokens.values.tolist() == [2]
    assert wb.infer(run, [["New", "York"]]).n_tokens.values.tolist() == [2]
    assert wb.infer(run, wb.Corpus.from_texts(["New York called"])).n_tokens.values.tolist() == [3]


def test_a_tokenizer_of_a_run_is_asked_for():
    run = wb.fit(a_corpus(tokenizer=str.split), "cvb0", n_topics=2, n_iterations=3, progress=False)
    with pytest.raises(
        wb.DataError, match="by a tokenizer, which is not kept; give it with tokenizer=…, or give"
    ):
        wb.infer(run, ["New York"])
    assert wb.infer(run, ["New York"], tokenizer=str.split).n_tokens.values.tolist() == [2]
    assert wb.infer(run, [["new", "york"]]).out_of_vocabulary.values.tolist() == [0]
    assert wb.infer(run, ["New York"], tokenizer=None).n_tokens.values.tolist() == [2]


def test_theta_is_labelled_and_is_what_the_engine_folds_in(learnt, forty_documents):
    unseen = forty_documents[1]
    found = wb.infer(learnt, unseen, seed=4)
    assert found.theta.dims == ("document", "topic") and found.document.values.tolist() == list(
        unseen.titles
    )
    assert found.n_tokens.values.tolist() == [40] * 10 and not found.out_of_vocabulary.any()
    assert all(found[name].attrs == VARIABLES[name].attrs for name in found)
    assert found.attrs["run"] == learnt.attrs["name"] and found.attrs["out_of_vocabulary"] == 0
    np.testing.assert_allclose(found.theta.sum("topic"), 1.0, rtol=ROUNDING)
    assert wb.infer(learnt, unseen, seed=4, n_threads=3).identical(found)
    assert not np.array_equal(wb.infer(learnt, unseen, seed=5).theta, found.theta)


def taken_by(run, n_documents: int) -> int:
    """Bytes that inference of documents of one word holds at its peak, those apart that it holds of two documents."""

    def peak(n: int) -> int:
        documents = Corpus.from_pairs(
            np.arange(n), np.zeros(n, int), np.ones(n, int), list(run["word"].values), n
        )
        gc.collect()
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        wb.infer(run, documents)
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        peak(2)  # what is imported and compiled at first is no part of it
        return peak(n_documents) - peak(2)
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ENGINES if get_engine(name).fold_in])
def test_inference_takes_no_more_memory_than_is_told_with_any_engine(name):
    run = run_of(name)
    assert 0 < taken_by(run, 500) <= inference_bytes(run, 500)


@pytest.mark.parametrize(
    "engine, settings",
    [
        ("vb", {"n_topics": 100}),
        ("sb-ctm-vb", {"n_topics": 60}),
        ("network-vb", {"n_topics": 60, "model": "author-topic"}),
        ("network-vb", {"n_topics": 20, "model": "pachinko", "sizes": {"super": 30}}),
        ("network-vb", {"n_topics": 2, "model": "hpam2", "sizes": {"super": 90}}),
    ],
)
def test_inference_takes_no_more_memory_than_is_told_nor_a_tenth_of_it_where_there_are_many_topics(
    engine, settings
):
    train, _ = short_settings("network-vb")
    run = wb.fit(train, engine, n_iterations=1, progress=False, **settings)
    told = inference_bytes(run, 500)
    assert told / 10 < taken_by(run, 500) <= told


def test_the_perplexity_in_the_attributes_is_that_of_the_tokens_theta_was_fitted_to(
    learnt, forty_documents
):
    unseen = forty_documents[1]
    found = wb.infer(learnt, unseen)
    expected = twins.perplexity(twins.pairs_of(unseen), found.theta.values @ learnt.phi.values)
    assert found.attrs["perplexity_foldin_same"] == pytest.approx(expected, rel=ROUNDING)
    assert wb.document_completion(learnt, unseen, protocol="foldin_same")[
        "perplexity"
    ] == pytest.approx(expected, rel=ROUNDING)


def test_words_are_matched_by_spelling_and_not_by_number(learnt, forty_documents):
    """The same documents over a shuffled vocabulary with strangers in between have the same theta."""
    unseen = forty_documents[1]
    order = np.random.default_rng(0).permutation(50)
    vocabulary = [f"stranger {i}" for i in range(100)]
    for old, new in enumerate(order):
        vocabulary[2 * new] = unseen.vocabulary[old]
    shuffled = wb.Corpus.from_pairs(
        unseen.documents, 2 * order[unseen.words], unseen.counts, vocabulary=vocabulary
    )
    assert np.array_equal(wb.infer(learnt, shuffled).theta, wb.infer(learnt, unseen).theta)


def test_the_known_part_keeps_documents_and_adds_up_words_that_are_spelt_alike():
    corpus = renamed(
        corpus_of([(0, 0, 2), (0, 1, 1), (0, 2, 4), (2, 3, 1)], 3, 4), ("b", "x", "b", "a")
    )
    known = known_part(corpus, ("a", "b", "a"))
    assert (
        twins.pairs_of(known) == [(0, 1, 6), (2, 0, 1)]
        and known.titles == corpus.titles
        and known.n_words == 3
    )
    assert known_part(corpus, corpus.vocabulary) is corpus


def test_texts_are_counted_and_strangers_are_told(small_talk):
    found = wb.infer(
        small_talk, ["Sun, sand and the sea!", "snow on a mountain; zebra", "", "giraffe zebra"]
    )
    assert found.n_tokens.values.tolist() == [3, 3, 0, 2]
    np.testing.assert_allclose(found.out_of_vocabulary, [0, 1 / 3, 0, 1])
    assert found.attrs["out_of_vocabulary"] == pytest.approx(3 / 8)
    # nothing known of them: the prior mean
    np.testing.assert_allclose(found.theta.values[2:], 0.5, rtol=ROUNDING)
    beach, mountain = found.theta.values[:2]
    assert beach.argmax() != mountain.argmax() and min(beach.max(), mountain.max()) > 0.8


def test_where_no_word_is_known_theta_is_the_prior_and_a_sentence_says_so(small_talk):
    with pytest.warns(
        UserWarning,
        match="none of the 2 words of 'texts' is known to the run, so every theta is the prior",
    ):
        found = wb.infer(small_talk, ["giraffe zebra"])
    np.testing.assert_allclose(found.theta, 0.5, rtol=ROUNDING)
    assert found.attrs["out_of_vocabulary"] == 1 and np.isnan(found.attrs["perplexity_foldin_same"])


def test_one_topic_and_documents_without_tokens_are_legal(forty_documents):
    train, unseen = forty_documents
    run = wb.fit(train, "svb", n_topics=1, n_iterations=2, progress=False)
    empty = unseen.with_pairs(np.zeros(11, np.int64), [], [])
    for documents in (unseen, empty):
        assert np.array_equal(wb.infer(run, documents).theta, np.ones((10, 1)))


def test_a_run_is_a_dataset_a_run_a_path_or_a_name(forty_documents, tmp_path):
    train, unseen = forty_documents
    ds = wb.fit(
        train, "cgs", n_topics=3, n_iterations=3, store=tmp_path, name="mine", progress=False
    )
    run = wb.open_runs(tmp_path)[0]
    found = [
        wb.infer(each, unseen, store=tmp_path) for each in (ds, run, tmp_path / "mine", "mine")
    ]
    assert all(each.identical(found[0]) for each in found)
    with pytest.raises(StoreError, match="no run 'mein' in .*; did you mean 'mine'?"):
        wb.infer("mein", unseen, store=tmp_path)


@pytest.mark.slow
def test_twenty_thousand_documents_have_shares_that_add_up(learnt):
    """2.4 million tokens through 70 Gibbs sweeps; 2.5 s of CPU were seen."""
    many = LDA(3, 0.2, 0.2).simulate(20_000, 50, 120, seed=2)[0]
    theta = wb.infer(learnt, many).theta
    assert theta.shape == (20_000, 3)
    np.testing.assert_allclose(theta.sum("topic"), 1, rtol=ROUNDING)


# ---------------------------------------------------------------------- document completion


def test_completion_fits_one_half_and_scores_the_other(learnt, forty_documents):
    unseen = forty_documents[1]
    observed, scored = split_halves(unseen, 7)
    theta = wb.infer(learnt, observed, seed=7).theta.values
    told = wb.document_completion(learnt, unseen, seed=7)
    expected = twins.perplexity(twins.pairs_of(scored), theta @ learnt.phi.values)
    assert told["perplexity"] == pytest.approx(expected, rel=ROUNDING)
    assert (
        told["protocol"] == "document_completion"
        and told["meaning"] == PROTOCOLS["document_completion"]
    )
    assert (
        told["n_scored"],
        told["n_documents"],
        told["n_skipped"],
        told["out_of_vocabulary"],
    ) == (200, 10, 0, 0)


def test_scoring_what_was_fitted_looks_better_than_it_is(learnt, forty_documents):
    honest, optimistic = (
        wb.document_completion(learnt, forty_documents[1], protocol=name)["perplexity"]
        for name in PROTOCOLS
    )
    assert optimistic < honest < 50  # 50 words at random


def test_unknown_words_are_left_out_before_documents_are_halved(small_talk):
    texts = ["sun zebra zebra zebra", "sun sand zebra", "zebra", ""]
    told = wb.document_completion(small_talk, texts)
    assert (told["n_scored"], told["n_documents"], told["n_skipped"]) == (1, 1, 3)
    assert told["out_of_vocabulary"] == pytest.approx(5 / 8)
    same = wb.document_completion(small_talk, texts, protocol="foldin_same")
    assert (same["n_scored"], same["n_documents"], same["n_skipped"]) == (3, 2, 2)


def test_a_trained_run_foretells_unseen_documents_better_than_one_iteration(forty_documents):
    train, unseen = forty_documents
    perplexities = [
        wb.document_completion(
            wb.fit(train, "cgs", n_topics=3, n_iterations=n, progress=False), unseen
        )["perplexity"]
        for n in (1, 60)
    ]
    assert perplexities[1] < perplexities[0]


# ---------------------------------------------------------------------- refusals


def test_infer_refuses_wrong_input_in_a_sentence(learnt, small_talk, forty_documents):
    unseen = forty_documents[1]
    for wrong, sentence in [
        (
            lambda: wb.document_completion(learnt, unseen, protocol="completion"),
            "protocol must be one of document_completion",
        ),
        (
            lambda: wb.infer(learnt, "a text"),
            "documents are .* a list of texts .*; got 'a text'; one text is written",
        ),
        (lambda: wb.infer(learnt, 3), "documents are .* got 3"),
        (lambda: wb.infer(learnt, unseen, seed=-1), "seed must be a whole number from 0 to"),
        (
            lambda: wb.infer(learnt, unseen, n_threads=0),
            "threads must be a whole number from 1 to 1024; got 0",
        ),
        (
            lambda: wb.infer(learnt.drop_attrs(), unseen),
            "needs the Dataset of one run .* got a comparison or another Dataset",
        ),
        (
            lambda: wb.infer(learnt.isel(snapshot=slice(0, 0)), unseen),
            "has no snapshot yet, so it has no topics",
        ),
        (
            lambda: wb.document_completion(small_talk, unseen),
            "the run knows no word of 'simulated', so nothing can be scored",
        ),
    ]:
        with pytest.raises((SpecError, wb.CorpusError), match=sentence):
            wrong()


# ---------------------------------------------------------------------- hidden nodes of new records


@pytest.fixture(scope="module")
def records():
    random = np.random.default_rng(0)
    kinds = random.integers(2, size=60)
    columns = {
        f"f{i}": np.where(random.random(60) < 0.2, 1 - kinds, kinds).astype(str) for i in range(3)
    }
    return wb.Records.from_columns(columns, "sixty")


def by_enumeration(run, net, case, node, theta) -> np.ndarray:
    found = np.zeros(net.nodes[node].n_states)
    for each in completions(net, case):
        found[each[node]] += np.prod([theta[cell] for cell in families(net, each)])
    return found


@pytest.mark.parametrize(
    "settings",
    [
        {"options": {"n_states": 3}},
        {"options": {"network": "hmm"}},
        {
            "model": wb.BayesNet(
                "own",
                [
                    wb.Node("a", 2),
                    wb.Node("b", 3, "a"),
                    *(wb.Node(f"f{i}", ("0", "1"), "b") for i in range(3)),
                ],
            )
        },
    ],
    ids=["latent-class", "hmm", "own"],
)
@pytest.mark.parametrize("engine", ["bn-vb", "bn-em"])
def test_posteriors_are_those_by_enumeration(records, settings, engine):
    run = wb.fit(records, engine, n_iterations=15, progress=False, **settings)
    new = wb.Records.from_columns(
        {"f0": ["1", None, "0"], "f1": ["1", None, "1"], "f2": [None, None, "0"]},
        levels={f"f{i}": ["1", "0"] for i in range(3)},
    )
    if "model" in settings:
        new = wb.Records(
            np.where(new.values < 0, -1, 1 - new.values),
            new.multiplicities,
            new.fields,
            (("0", "1"),) * 3,
        )
    found = wb.infer(run, new)
    net = RunSpec.from_json(run.attrs["spec"]).parts()[1].for_data(records)
    theta = run["cpt"].values
    if engine == "bn-em":
        counts, rows = run["n_cpt"].values[-1], run["row"].values
        theta = counts / np.bincount(rows, counts)[rows]
    names = [node.name for node in net.nodes]
    for at in range(new.n_distinct):
        case = [-1] * len(names)
        for field, level in zip(new.fields, new.values[at], strict=True):
            if level >= 0:
                case[names.index(field)] = int(new.levels[new.fields.index(field)][level])
        for node in found["node"].values:
            exact = by_enumeration(run, net, case, names.index(node), theta)
            got = found["posterior"].sel(node=node).values[at][: len(exact)]
            np.testing.assert_allclose(got, exact / exact.sum(), rtol=1e-9, atol=1e-12)
            assert float(found["log_probability"][at]) == pytest.approx(
                np.log(exact.sum()), abs=1e-9
            )


def test_what_the_run_does_not_know_is_told_in_one_sentence(records):
    run = wb.fit(records, "bn-vb", n_iterations=3, progress=False)
    few = wb.Corpus.from_pairs([0, 1], [0, 1], [2, 1])
    of_topics = wb.fit(few, n_topics=2, n_iterations=1, progress=False)
    known = wb.Records.from_columns
    for learnt, data, sentence in (
        (
            run,
            known({"f9": ["0"]}),
            "has no field 'f9'; there are f0, f1, f2; leave the field out",
        ),
        (
            run,
            known({"f0": ["2"]}),
            "does not know the level '2' of 'f0'; there are 0, 1; leave it out",
        ),
        (of_topics, records, "is of no Bayesian network, so there are no hidden nodes"),
        (run, ["a text"], "has no topics"),
    ):
        with pytest.raises(InputError, match=sentence):
            wb.infer(learnt, data)
