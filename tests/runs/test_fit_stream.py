"""Topics of a stream from nothing but a vocabulary: batch by batch as by hand, the same from whatever documents come as."""

import os
import signal
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from runs.test_update import last, tokens_of
from stepping import stepped

import workbench as wb
from workbench.corpus.shards import shard_writer
from workbench.engines.engine import StepContext
from workbench.engines.lda import online_vb
from workbench.runs.afterwards.examine import examine
from workbench.runs.store.layout import StoreError

OPTIONS = {"batch_size": 8, "tau0": 5.0}


@pytest.fixture(scope="module")
def corpus():
    """60 documents over 50 words, one of them empty."""
    drawn = wb.LDA(3, 0.2, 0.2).simulate(60, 50, 30, seed=1)[0]
    kept = np.where(drawn.documents == 20, 0, drawn.counts)
    return wb.Corpus.from_pairs(
        drawn.documents, drawn.words, kept, drawn.vocabulary, 60, name="drawn"
    )


def streamed(documents, store, vocabulary=None, **given):
    given = {"n_topics": 3, "store": store, "progress": False} | OPTIONS | given
    return wb.fit_stream(documents, vocabulary, **given)


def test_streamed_is_read_whatever_documents_come_as(corpus, store, tmp_path, monkeypatch):
    """n_wk bit for bit: lists of tokens, mappings, texts, ids, a table, a matrix, a corpus, and one in shards."""
    monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 100)
    shards = wb.ShardedCorpus.write(corpus, tmp_path / "shards")
    assert shards.n_parts > 5
    monkeypatch.setattr(
        wb.ShardedCorpus, "in_memory", lambda self: pytest.fail("all of it was taken into memory")
    )
    bags = [
        list(zip(corpus.words[a:b].tolist(), corpus.counts[a:b].tolist(), strict=True))
        for a, b in zip(corpus.indptr[:-1], corpus.indptr[1:], strict=True)
    ]
    mappings = ({corpus.vocabulary[w]: n for w, n in bag} for bag in bags)
    texts, plain = (
        [" ".join(tokens) for tokens in tokens_of(corpus)],
        {"token_pattern": r"\S+", "stop_words": None},
    )
    wanted, words = last(streamed(corpus, store), "n_kw"), corpus.vocabulary
    for number, (documents, given) in enumerate(
        (
            (shards, {}),
            (shards, {"vocabulary": words}),
            (tokens_of(corpus), {"vocabulary": words}),
            (mappings, {"vocabulary": list(words)}),
            (iter(texts), {"vocabulary": words, **plain}),
            (bags, {"vocabulary": iter(words)}),
            (bags, {"vocabulary": {word: at for at, word in enumerate(words)}}),
            (pd.DataFrame({"text": texts}), {"vocabulary": words, **plain}),
            (corpus.to_scipy(), {"vocabulary": words}),
        )
    ):
        run = streamed(documents, store / str(number), **{"total_documents": 59} | given)
        assert np.array_equal(last(run, "n_kw"), wanted), type(documents)


def test_a_stream_is_an_update_of_its_first_batch(corpus, store):
    run = streamed(corpus, store)
    (first,) = [each for each in wb.open_runs(store) if each.name != run.name]
    stream = run.spec.start["stream"]
    assert (stream["n_documents"], stream["n_batches"], stream["n_left_out"]) == (51, 7, 1)
    assert run.spec.start["hash"] == first.spec.hash and first.dataset().sizes["document"] == 8
    again = wb.update(first, corpus.of_documents(np.arange(8, 60)), progress=False)
    assert again.name == run.name
    assert examine(run.path).damage == [] and examine(first.path).damage == []
    assert abs(float(wb.infer(run, corpus).theta.sum()) - 60) < 1e-9
    further = wb.update(run, corpus, progress=False)  # another pass
    assert further.spec.options["batches_before"] == 16


def test_the_same_stream_is_the_same_run_for_any_number_of_threads(corpus, store, monkeypatch):
    monkeypatch.setattr("workbench.kernels.threads.SLICE_WORK", 100)
    one = streamed(corpus, store)
    other = streamed(
        tokens_of(corpus), store / "other", corpus.vocabulary, total_documents=59, n_threads=3
    )
    assert np.array_equal(last(one, "n_kw"), last(other, "n_kw"))
    assert streamed(corpus, store).name == one.name and len(wb.open_runs(store)) == 2


# ---------------------------------------------------------------------- passes


@pytest.mark.parametrize("n_passes", [1, 3])
def test_passes_of_a_stream_are_passes_of_the_corpus_read_with_the_same_batches(
    store, monkeypatch, n_passes
):
    """Read: `online_vb.step` over all 56 documents, its batches in the order of the file, from the topics of the first batch.

    Within rounding: a stream adds up the tokens of a topic anew behind its first batch.
    """
    drawn = wb.LDA(3, 0.2, 0.2).simulate(56, 50, 30, seed=1)[0]
    run, options = streamed(drawn, store, passes=n_passes), online_vb.Options(**OPTIONS)
    monkeypatch.setattr(online_vb, "batches_of", lambda *_: np.split(np.arange(56), 7))
    state = online_vb.init(drawn, wb.LDA(3), options, StepContext(0, 0))
    begun = online_vb.init(drawn.of_documents(np.arange(8)), wb.LDA(3), options, StepContext(0, 0))
    state.mean_wk[:], state.mean_k[:] = begun.mean_wk, begun.mean_k
    state = stepped(online_vb, drawn, wb.LDA(3), options, n_passes, state=state)
    np.testing.assert_allclose(last(run, "n_kw"), state.mean_wk[:, :3].T, rtol=1e-9, atol=1e-9)
    assert run.spec.options["batches_before"] == 7 * n_passes


def test_a_pass_more_is_an_update_by_all_documents(corpus, store):
    """60 documents, one of them empty: each pass ends with two halves of what is left, and no batch has documents of two.

    Within rounding: an update adds up the tokens of a topic anew.
    """
    passed = streamed(corpus, store / "a", passes=3)
    updated = streamed(corpus, store / "b")
    for _ in range(2):
        updated = wb.update(updated, corpus, progress=False)
    np.testing.assert_allclose(last(passed, "n_kw"), last(updated, "n_kw"), rtol=1e-9)
    assert (
        passed.spec.options == updated.spec.options and passed.spec.options["batches_before"] == 24
    )
    stream = passed.spec.start["stream"]
    assert (stream["n_passes"], stream["n_came"], stream["n_documents"], stream["n_left_out"]) == (
        3,
        60,
        3 * 59 - 8,
        3,
    )


def test_passes_over_one_batch_are_passes(corpus, store):
    few = corpus.of_documents(np.arange(5))
    assert streamed(few, store, passes=3).spec.options["batches_before"] == 3


def test_passes_go_over_whatever_can_be_gone_through_again(corpus, store, tmp_path):
    """A list, a corpus, files; stop words that come from an iterator are left out in each pass."""
    texts = [" ".join(tokens) for tokens in tokens_of(corpus)]
    (tmp_path / "texts.csv").write_text("text\n" + "".join(f'"{text}"\n' for text in texts))
    wb.write_corpus(corpus, tmp_path / "docword.drawn.txt")
    words, plain = corpus.vocabulary, {"token_pattern": r"\S+"}
    wanted = last(streamed(corpus, store, passes=2, total_documents=60), "n_kw")
    for number, (documents, given) in enumerate(
        (
            (list(tokens_of(corpus)), {}),
            (texts, plain | {"stop_words": iter(["zebra"])}),
            (wb.FileDocuments(tmp_path / "texts.csv", stop_words=None, **plain), {}),
            (wb.FileDocuments(tmp_path / "docword.drawn.txt"), {}),
        )
    ):
        run = streamed(documents, store / str(number), words, passes=2, **given)
        assert np.array_equal(last(run, "n_kw"), wanted), number
        assert run.spec.options["total_documents"] == 60


def test_files_are_counted_as_they_were_asked_for_and_have_their_own_vocabulary(store, tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"body": "New York City"}\n' * 20)
    documents = wb.FileDocuments(tmp_path / "texts.jsonl", text="body", lowercase=False)
    run = streamed(documents, store, ["New", "City"])
    assert run.spec.counted["lowercase"] is False and run.spec.corpus == "texts"
    stream = wb.update(
        run, wb.FileDocuments(tmp_path / "texts.jsonl", text="body"), progress=False
    ).spec.start["stream"]
    assert (stream["n_tokens"], stream["n_unknown"]) == (40, 20)
    wb.write_corpus(
        run_corpus := wb.Corpus.from_texts(["ant bee", "bee cat"] * 6, name="few"),
        tmp_path / "docword.few.txt",
    )
    read = streamed(wb.FileDocuments(tmp_path / "docword.few.txt"), store)
    assert read.dataset()["word"].values.tolist() == list(run_corpus.vocabulary)


class _Once:
    """Documents that can be gone through once, though they are no iterator."""

    def __init__(self, documents):
        self._left = iter(documents)

    def __iter__(self):
        return self._left


def test_documents_that_come_once_have_one_pass(corpus, store):
    def none():
        pytest.fail("a document was asked for")
        yield

    with pytest.raises(
        wb.SpecError,
        match="passes=2 needs documents that can be gone through again, .* a generator gives",
    ):
        streamed(none(), store, corpus.vocabulary, total_documents=59, passes=2)
    assert not store.exists()
    with pytest.raises(
        wb.DataError,
        match="pass 2 over the documents found none; give documents that can be iterated again",
    ):
        streamed(_Once(tokens_of(corpus)), store, corpus.vocabulary, total_documents=59, passes=2)
    assert wb.open_runs(store) == []
    with pytest.raises(wb.SpecError, match="passes must be a whole number of at least 1; got 0"):
        streamed(corpus, store, passes=0)


# ---------------------------------------------------------------------- one batch, and what is stopped


def test_a_stream_of_one_batch_is_the_run_of_its_documents(corpus, store):
    run = streamed(corpus.of_documents(np.arange(5)), store, name="few")
    assert (
        run.name == "few" and run.dataset().sizes["document"] == 5 and len(wb.open_runs(store)) == 1
    )
    assert run.spec.start is None


def test_unseen_texts_are_counted_as_those_of_the_stream(store):
    texts = ["New York city lights", "a City called New York", "lights of the city"] * 8
    words = ["New", "York", "New_York", "city", "City", "lights"]
    given = {"ngrams": 2, "lowercase": False, "stop_words": None}
    run = streamed((text for text in texts), store, words, total_documents=24, **given)
    assert run.spec.counted["ngrams"] == 2
    # New, York, City, New_York and York_City
    assert wb.infer(run, ["New York City"]).n_tokens.item() == 5
    stream = wb.update(run, ["New York City"], progress=False).spec.start["stream"]
    assert (stream["n_tokens"], stream["n_unknown"]) == (4, 1)
    stream = wb.update(run, ["New York City"], ngrams=1, progress=False).spec.start["stream"]
    assert (stream["n_tokens"], stream["n_unknown"]) == (3, 0)


@pytest.mark.slow
def test_a_long_stream_takes_no_more_memory_than_a_short_one(store):
    """40 times as many documents: what Python holds at the peak grows by less than the arrays of all would take (2.4 MB)."""
    words, random = [f"w{at}" for at in range(50)], np.random.default_rng(0)

    def peak(n):
        stream = ([words[w] for w in random.integers(50, size=20)] for _ in range(n))
        tracemalloc.start()
        streamed(stream, store / str(n), words, total_documents=n)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(100)  # what is imported and compiled
    short, long = peak(200), peak(8000)
    assert long < short + 1_000_000  # garbage that waits to be collected


@pytest.mark.parametrize(("n_passes", "stopped_at"), [(1, 34), (2, 96)])
def test_a_stopped_stream_goes_on_with_the_documents_behind_those_that_it_visited(
    corpus, store, capsys, n_passes, stopped_at
):
    """The record says where the last batch ended, empty documents counted. Within rounding, as of updates."""
    came = []

    class Documents:
        def __iter__(self):
            for tokens in tokens_of(corpus):
                came.append(tokens)
                if len(came) == stopped_at:
                    os.kill(os.getpid(), signal.SIGINT)
                yield tokens

    given = {"vocabulary": corpus.vocabulary, "total_documents": 59, "passes": n_passes}
    with pytest.raises(wb.Interrupted) as stop:
        streamed(Documents(), store, **given, progress=True)
    stopped = stop.value.result
    stream = stopped.spec.start["stream"]
    assert stream["n_passes"] == n_passes
    # 24 documents and the empty one: one batch is held back
    assert stream["n_came"] == {34: 25, 96: 25}[stopped_at]
    told = capsys.readouterr().err
    assert f"workbench update {stopped.name} FILES --skip 25` continues with the others" in told
    assert ("of pass 2 of 2 up to number 25" in told) == (n_passes == 2)
    on = wb.update(stopped, list(tokens_of(corpus))[stream["n_came"] :], progress=False)
    whole = streamed(list(tokens_of(corpus)), store / "whole", **given)
    np.testing.assert_allclose(last(on, "n_kw"), last(whole, "n_kw"), rtol=1e-9)
    assert on.spec.options == whole.spec.options


def test_fit_stream_prints_the_counts_of_all_batches(corpus, store, capsys):
    streamed(corpus, store, corpus.vocabulary[:40], progress=True, passes=2)
    told, known = capsys.readouterr().err, corpus.words < 40
    unknown, n = 2 * int(corpus.counts[~known].sum()), 2 * corpus.n_tokens
    assert (
        "118 documents in 16 batches of 2 passes;" in told
        and f"{unknown:,} of {n:,} tokens" in told
    )
    assert "left out are 2 documents without" in told


def test_fit_says_that_a_corpus_in_shards_can_be_streamed(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 100)
    with pytest.raises(
        wb.SpecError,
        match="online-vb needs its corpus in memory, .* visit it once with fit_stream, or",
    ):
        wb.fit(wb.ShardedCorpus.write(corpus, tmp_path / "shards"), "online-vb", 3)


REFUSED = {
    "no vocabulary": (
        (["w1"] for _ in range(3)),
        {"total_documents": 3},
        "a stream needs its vocabulary before the first",
    ),
    "an empty one": (
        [["w1"]],
        {"vocabulary": []},
        "a stream needs its vocabulary before the first document",
    ),
    "no length": (
        (["w1"] for _ in range(3)),
        {"vocabulary": ["w1"]},
        "set total_documents=, the number of documents that each",
    ),
    "no document": ([], {"vocabulary": ["w1"]}, "no document came; give documents like its own"),
    "unknown words": (
        [["zebra"]] * 3,
        {"vocabulary": ["w1"]},
        "none of 3 documents has a word that the vocabulary knows",
    ),
    "a late number": (
        [*[["w1"]] * 40, 7],
        {"vocabulary": ["w1"]},
        r"document 40 (counted from 0): a document of a stream is",
    ),
    "a number": (
        7,
        {"vocabulary": ["w1"], "total_documents": 3},
        "documents are an iterable of texts, of lists of tokens",
    ),
    "pruning": (
        [["w1"]],
        {"vocabulary": ["w1"], "min_documents": 2},
        "no option 'min_documents' of a stream, whose",
    ),
    "an option": ([["w1"]], {"vocabulary": ["w1"], "options": {"batch": 2}}, "no option 'batch'"),
    "a name": (
        [["w1"]],
        {"vocabulary": ["w1"], "name": "../x"},
        "a run's name begins with a letter or digit",
    ),
    "a string of words": (
        [["w1"]],
        {"vocabulary": "w1 w2"},
        "a vocabulary is a list of words here; got the string",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_fit_stream_refuses_wrong_input_and_leaves_nothing(case, store):
    documents, given, said = REFUSED[case]
    with pytest.raises((wb.DataError, wb.SpecError, StoreError, ValueError)) as refused:
        streamed(documents, store, **given)
    assert said in str(refused.value) and "\n" not in str(refused.value)
    assert wb.open_runs(store) == []
