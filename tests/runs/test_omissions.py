"""Runs that continue from the counts of another without some words or documents."""

import numpy as np
import pytest
from runs.test_topic_edits import counts_of
from toys import sequenced, simulated

import workbench as wb
from workbench.cli import main
from workbench.engines.engine import WarmStart
from workbench.models.options import OptionError
from workbench.report.commands import commands
from workbench.runs.execution.omissions import omissions_of, split_edits
from workbench.runs.reading import is_again
from workbench.runs.store.archive import get_table, get_warm_start

TEXTS = ["apple pear said", "horse said sheep sheep", "apple horse", "said"] * 3


@pytest.fixture
def texts() -> wb.Corpus:
    return wb.Corpus.from_texts(TEXTS, titles=[f"text {d}" for d in range(len(TEXTS))])


def drawn(corpus: wb.Corpus, n_topics: int = 3) -> WarmStart:
    """Counts of tokens with topics drawn at random, every fifth without one."""
    topics = np.random.default_rng(0).integers(0, n_topics, corpus.n_tokens)
    topics[::5] = -1
    return counts_of(corpus, topics, n_topics)


def test_the_corpus_is_what_it_would_be_without_the_words_and_documents(texts):
    left = omissions_of(["omit said", "omit-document 3 0"], texts).of_corpus(texts)
    kept = [text.replace("said", "") for d, text in enumerate(TEXTS) if d not in (0, 3)]
    wanted = wb.Corpus.from_texts(
        kept, titles=[f"text {d}" for d in range(len(TEXTS)) if d not in (0, 3)]
    )
    assert left.vocabulary == tuple(word for word in texts.vocabulary if word != "said")
    assert left.titles == wanted.titles
    np.testing.assert_array_equal(left.to_scipy().toarray(), _in_order(wanted, left.vocabulary))


def _in_order(corpus: wb.Corpus, vocabulary: tuple) -> np.ndarray:
    """The counts (document, word) of a corpus, with the words in the order of a vocabulary."""
    return corpus.to_scipy().toarray()[:, [corpus.vocabulary.index(word) for word in vocabulary]]


def test_the_counts_of_a_sampler_are_those_of_the_tokens_that_stay(texts):
    start, left = drawn(texts), omissions_of(["omit said pear", "omit-document 5"], texts)
    after, corpus = left.of_counts(start, texts), left.of_corpus(texts)
    for made, wanted in zip(after, counts_of(corpus, after.topics, 3), strict=True):
        np.testing.assert_array_equal(made, wanted)
    words = np.array(texts.vocabulary)[np.repeat(texts.words, texts.counts)]
    stay = ~np.isin(words, ["said", "pear"]) & (np.repeat(texts.documents, texts.counts) != 5)
    np.testing.assert_array_equal(after.topics, start.topics[stay])


def test_without_topics_of_tokens_each_pair_is_divided_by_its_probabilities(texts):
    rng = np.random.default_rng(1)
    start = WarmStart(rng.random((3, texts.n_words)), rng.random((texts.n_documents, 3)))
    left = omissions_of(["omit sheep", "omit-document 1"], texts)
    after, corpus = left.of_counts(start, texts), left.of_corpus(texts)
    np.testing.assert_allclose(after.n_kw.sum(0), corpus.word_tokens)
    np.testing.assert_allclose(after.n_dk.sum(1), corpus.document_tokens, atol=1e-12)
    phi = start.n_kw / start.n_kw.sum(1, keepdims=True)
    apple = texts.vocabulary.index("apple")
    share = start.n_dk[2] * phi[:, apple] / (start.n_dk[2] @ phi[:, apple])
    horse = texts.vocabulary.index("horse")
    share += start.n_dk[2] * phi[:, horse] / (start.n_dk[2] @ phi[:, horse])
    np.testing.assert_allclose(after.n_dk[1], share)  # of document 2, once 1 is gone


@pytest.mark.parametrize("engine", ["cgs", "svb-cgs", "cvb0", "cv-hdp", "g-hdp"])
def test_a_run_continues_without_them_and_says_so(engine, start, tmp_path):
    corpus = simulated()
    train, test = wb.hold_out_tokens(corpus, 0.2, 0)
    parent = start(train, engine, test=test, seed=3, n_iterations=5, store=tmp_path)
    words = corpus.vocabulary[1:3]
    edits = [f"omit {' '.join(words)}", "omit-document 0 4"]
    run = parent.branch(*edits)
    ds = run.dataset()
    assert run.state == "finished" and run.spec.label().endswith(" ".join(["warm", *edits]))
    assert ds.sizes["word"] == corpus.n_words - 2 and not {*words} & {*ds["word"].values}
    assert ds.sizes["document"] == corpus.n_documents - 2
    left = omissions_of(edits, train)
    assert (run.spec.train, run.spec.test) == tuple(
        left.of_corpus(each).content_hash for each in (train, test)
    )
    made = get_warm_start(tmp_path, run.spec.start["counts"])
    assert made.n_kw.shape[1] == corpus.n_words - 2
    assert commands([run.spec]) == [
        f"workbench branch {parent.name} '{edits[0]}' 'omit-document 0 4'"
    ]
    assert parent.branch(*edits).path == run.path and len(wb.open_runs(tmp_path)) == 2


def test_texts_follow_their_documents_and_the_data_no_longer_come_from_their_file(start, tmp_path):
    (tmp_path / "said.csv").write_text("text\n" + "\n".join(TEXTS))
    corpus = wb.load_corpus(tmp_path / "said.csv")
    parent = start(corpus, "cgs", n_topics=2, n_iterations=3, store=tmp_path / "runs")
    assert is_again(parent.spec)
    run = parent.branch("omit-document 1", "omit said")
    texts = get_table(run.path.parent, run.spec.table).texts
    assert list(texts) == [text for d, text in enumerate(TEXTS) if d != 1]
    assert not is_again(run.spec) and run.spec.reading["changed"]


def test_many_words_have_a_short_label_of_their_own(start, tmp_path):
    corpus = simulated()
    parent = start(corpus, "cgs", n_topics=2, n_iterations=2, store=tmp_path)
    labels = {
        parent.branch(f"omit {' '.join(corpus.vocabulary[n : n + 5])}").spec.label() for n in (0, 1)
    }
    assert len(labels) == 2 and all("warm omit 5 (" in label for label in labels)


def test_edits_of_topics_and_of_data_are_told_apart():
    edits = ["merge 1 2", "omit said", "omit-document 3", "drop 4"]
    assert split_edits(edits) == (["merge 1 2", "drop 4"], ["omit said", "omit-document 3"])


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (["omit saidd"], "has no word 'saidd' to leave out; did you mean 'said'?"),
        (["omit"], "an edit of the data must be like omit said or omit-document 3; got 'omit'"),
        (["omit-document 12"], "a document must be a whole number from 0 to 11; got 12"),
        (["omit-document x"], "a document must be a whole number from 0 to 11; got 'x'"),
        ([f"omit-document {' '.join(map(str, range(12)))}"], "no document of .* would be left"),
    ],
)
def test_a_wrong_omission_gets_a_sentence(edits, said, texts):
    with pytest.raises(OptionError, match=said):
        omissions_of(edits, texts)


def test_all_words_cannot_be_left_out(texts):
    with pytest.raises(wb.CorpusError, match="no token of .* would be left"):
        omissions_of([f"omit {','.join(texts.vocabulary)}"], texts).of_corpus(texts)


def test_documents_of_a_sequence_stay_together():
    corpus = sequenced(simulated())
    assert omissions_of([f"omit {corpus.vocabulary[0]}"], corpus).documents.all()
    with pytest.raises(OptionError, match="stand in sequences"):
        omissions_of(["omit-document 1"], corpus)


def test_words_with_blanks_and_commas_are_told_apart():
    words = ["new york", "new", "york", "said", "a,b"]
    corpus = wb.Corpus.from_tokens([words, words[::-1]])

    def left_out(edit: str) -> set[str]:
        kept = omissions_of([edit], corpus).words
        return {word for word, stays in zip(corpus.vocabulary, kept, strict=True) if not stays}

    assert left_out("omit new york") == {"new york"}
    assert left_out("omit new york, said") == {"new york", "said"}
    assert left_out("omit new said") == left_out("omit new,said") == {"new", "said"}
    assert left_out("omit a,b said") == {"a,b", "said"}
    numbers = wb.Corpus.from_tokens([["1,000"]] * 3)
    assert omissions_of(["omit-document 1,2"], numbers).documents.tolist() == [True, False, False]


def test_without_a_token_to_learn_from_or_to_score_nothing_is_made(start, tmp_path):
    texts = wb.Corpus.from_tokens([["a", "b"], ["a"], ["c"], []])
    test = texts.with_pairs([0, 1, 1, 1, 1], [0], [1])
    parent = start(texts, "cgs", test=test, n_topics=2, n_iterations=2, store=tmp_path)
    for edit, said in {
        "omit a": "of what is held out no token",
        "omit-document 0": "of what is held out no token",
        "omit a b c": "no token",
    }.items():
        with pytest.raises(wb.CorpusError, match=f"{said} of .* would be left; leave out fewer"):
            parent.branch(edit)
    with pytest.raises(wb.CorpusError, match="would be left"):
        parent.branch("omit-document 0 1 2")
    assert len(wb.open_runs(tmp_path)) == 1


def test_a_word_with_an_equals_sign_is_left_out_in_a_terminal(start, tmp_path):
    corpus = wb.Corpus.from_tokens([["x=y", "said"], ["said", "b"]])
    parent = start(corpus, "cgs", n_topics=2, n_iterations=2, store=tmp_path)
    assert main(["branch", parent.name, "omit x=y", "alpha=0.3", "--store", str(tmp_path)]) == 0
    (run,) = (run for run in wb.open_runs(tmp_path) if run.name != parent.name)
    assert run.spec.start["edits"] == ["omit x=y", "alpha=0.3"] and run.spec.model["alpha"] == 0.3
