"""Topics of a stream from nothing but a vocabulary: batch by batch as by hand, the same from whatever documents come as."""

import os
import signal
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from runs.test_update import tokens_of

import workbench as wb
from workbench.corpus import ShardedCorpus, shard_writer
from workbench.engines.engine import StepContext
from workbench.engines.lda import online_vb
from workbench.models import LDA
from workbench.runs.store.examine import examine
from workbench.runs.store.layout import StoreError

OPTIONS = {"batch_size": 8, "tau0": 5.0}


@pytest.fixture(scope="module")
def corpus():
    """60 documents over 50 words, one of them empty."""
    drawn = LDA(3, 0.2, 0.2).simulate(60, 50, 30, seed=1)[0]
    kept = np.where(drawn.documents == 20, 0, drawn.counts)
    return wb.Corpus.from_pairs(drawn.documents, drawn.words, kept, drawn.vocabulary, 60, name="drawn")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs"


def streamed(documents, store, vocabulary=None, **given):
    given = {"n_topics": 3, "options": OPTIONS, "store": store, "progress": False} | given
    return wb.fit_stream(documents, vocabulary, **given)


def last(run, name):
    return run.dataset()[name].values[-1]


def test_topics_move_batch_by_batch_as_by_hand(corpus, store):
    """Batches of 8, the last 11 documents in two; rates count from the first; each batch stands for 59 documents."""
    run, options = streamed(corpus, store), online_vb.Options(**OPTIONS)
    used = np.delete(np.arange(60), 20)
    batches = np.split(used, [8, 16, 24, 32, 40, 48, 54])
    first = corpus.of_documents(batches[0])
    state = online_vb.init(first, LDA(3), options, StepContext(0, 0))
    for number, rows in enumerate(batches):
        batch = online_vb.batch_of(*online_vb.some_documents(corpus, rows))
        if number == 0:  # a pass over one batch has it over the whole vocabulary
            batch = online_vb.Batch(first, np.arange(50))
        online_vb.take_in(batch, state, options, (5.0 + number) ** -0.7, 59 / len(rows), StepContext(0, 0))
        if number == 0:  # from here on the run goes on from the counts of the topics alone
            n_kw = np.ascontiguousarray(state.mean_wk[:, :3].T)
            state = online_vb.topics_alone(n_kw, state.alpha, state.beta)
    assert np.array_equal(last(run, "n_kw"), state.mean_wk[:, :3].T)
    stream = run.spec.start["stream"]
    assert (stream["n_documents"], stream["n_batches"], stream["n_left_out"]) == (51, 7, 1)
    assert run.spec.options["batches_before"] == 8 and run.spec.options["total_documents"] == 59


def test_streamed_is_read_whatever_documents_come_as(corpus, store, tmp_path, monkeypatch):
    """n_wk bit for bit: lists of tokens, mappings, texts, ids, a table, a matrix, a corpus, and one in shards."""
    monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 100)
    shards = ShardedCorpus.write(corpus, tmp_path / "shards")
    assert shards.n_shards > 5
    monkeypatch.setattr(ShardedCorpus, "in_memory", lambda self: pytest.fail("all of it was taken into memory"))
    bags = [list(zip(corpus.words[a:b].tolist(), corpus.counts[a:b].tolist(), strict=True))
            for a, b in zip(corpus.indptr[:-1], corpus.indptr[1:], strict=True)]
    mappings = ({corpus.vocabulary[w]: n for w, n in bag} for bag in bags)
    texts, plain = [" ".join(tokens) for tokens in tokens_of(corpus)], {"token_pattern": r"\S+", "stop_words": None}
    wanted, words = last(streamed(corpus, store), "n_kw"), corpus.vocabulary
    for number, (documents, given) in enumerate((
        (shards, {}), (shards, {"vocabulary": words}), (tokens_of(corpus), {"vocabulary": words}),
        (mappings, {"vocabulary": list(words)}), (iter(texts), {"vocabulary": words, **plain}),
        (bags, {"vocabulary": iter(words)}), (bags, {"vocabulary": {word: at for at, word in enumerate(words)}}),
        (pd.DataFrame({"text": texts}), {"vocabulary": words, **plain}),
        (corpus.to_scipy(), {"vocabulary": words}),
    )):
        run = streamed(documents, store / str(number), **{"total_documents": 59} | given)
        assert np.array_equal(last(run, "n_kw"), wanted), type(documents)


def test_a_stream_is_an_update_of_its_first_batch(corpus, store):
    run = streamed(corpus, store)
    (first,) = [each for each in wb.open_runs(store) if each.name != run.name]
    assert run.spec.start["hash"] == first.spec.hash and first.dataset().sizes["document"] == 8
    again = wb.update(first, corpus.of_documents(np.arange(8, 60)), progress=False)
    assert again.name == run.name
    assert examine(run.path).wrong == [] and examine(first.path).wrong == []
    assert abs(float(wb.infer(run, corpus).theta.sum()) - 60) < 1e-9
    further = wb.update(run, corpus, progress=False)  # another pass
    assert further.spec.options["batches_before"] == 16


def test_the_same_stream_is_the_same_run_for_any_number_of_threads(corpus, store, monkeypatch):
    monkeypatch.setattr("workbench.kernels.threads.SLICE_WORK", 100)
    one = streamed(corpus, store)
    other = streamed(tokens_of(corpus), store / "other", corpus.vocabulary, total_documents=59, n_threads=3)
    assert np.array_equal(last(one, "n_kw"), last(other, "n_kw"))
    assert streamed(corpus, store).name == one.name and len(wb.open_runs(store)) == 2


def test_topics_of_a_stream_predict_as_well_as_one_pass_over_the_corpus(store):
    """Of 2,000 documents of 20 words each: within 3 % of the perplexity of other documents under the topics that were read."""
    drawn = LDA(3, 0.2, 0.2).simulate(2_100, 50, 20, seed=2)[0]
    train, unseen = drawn.of_documents(np.arange(2_000)), drawn.of_documents(np.arange(2_000, 2_100))
    options = {"batch_size": 100}
    read = wb.fit(train, "online-vb", 3, n_iterations=1, options=options, progress=False)
    found, wanted = (
        wb.document_completion(each, unseen)["perplexity"] for each in (streamed(train, store, options=options), read)
    )
    assert found == pytest.approx(wanted, rel=0.03)


def test_a_stream_of_one_batch_is_the_run_of_its_documents(corpus, store):
    run = streamed(corpus.of_documents(np.arange(5)), store, name="few")
    assert run.name == "few" and run.dataset().sizes["document"] == 5 and len(wb.open_runs(store)) == 1
    assert run.spec.start is None


def test_unseen_texts_are_counted_as_those_of_the_stream(store):
    texts = ["New York city lights", "a City called New York", "lights of the city"] * 8
    words = ["New", "York", "New_York", "city", "City", "lights"]
    given = {"ngrams": 2, "lowercase": False, "stop_words": None}
    run = streamed((text for text in texts), store, words, total_documents=24, **given)
    assert run.spec.counted["ngrams"] == 2
    assert wb.infer(run, ["New York City"]).n_tokens.item() == 5  # New, York, City, New_York and York_City
    stream = wb.update(run, ["New York City"], progress=False).spec.start["stream"]
    assert (stream["n_tokens"], stream["n_unknown"]) == (4, 1)


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


def test_ctrl_c_keeps_the_documents_that_were_visited(corpus, store):
    def stream():
        for number, tokens in enumerate(tokens_of(corpus)):
            if number == 34:
                os.kill(os.getpid(), signal.SIGINT)
            yield tokens

    run = streamed(stream(), store, corpus.vocabulary, total_documents=59)
    assert run.state == "finished" and run.spec.start["stream"]["n_documents"] == 16  # behind the first eight


def test_fit_says_that_a_corpus_in_shards_can_be_streamed(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 100)
    with pytest.raises(wb.SpecError, match="online-vb needs its corpus in memory, .* visit it once with fit_stream, or"):
        wb.fit(ShardedCorpus.write(corpus, tmp_path / "shards"), "online-vb", 3)


REFUSED = {
    "no vocabulary": ((["w1"] for _ in range(3)), {"total_documents": 3}, "a stream needs its vocabulary before the first"),
    "an empty one": ([["w1"]], {"vocabulary": []}, "a stream needs its vocabulary before the first document"),
    "no length": ((["w1"] for _ in range(3)), {"vocabulary": ["w1"]}, "say with total_documents= how many documents each"),
    "no document": ([], {"vocabulary": ["w1"]}, "no document came; give documents like its own"),
    "unknown words": ([["zebra"]] * 3, {"vocabulary": ["w1"]}, "none of 3 documents has a word that the vocabulary knows"),
    "a late number": ([*[["w1"]] * 40, 7], {"vocabulary": ["w1"]}, r"document 40 (counted from 0): a document of a stream is"),
    "a number": (7, {"vocabulary": ["w1"], "total_documents": 3}, "documents are an iterable of texts, of lists of tokens"),
    "pruning": ([["w1"]], {"vocabulary": ["w1"], "min_documents": 2}, "no option 'min_documents' of a stream, whose"),
    "an option": ([["w1"]], {"vocabulary": ["w1"], "options": {"batch": 2}}, "no option 'batch'"),
    "a name": ([["w1"]], {"vocabulary": ["w1"], "name": "../x"}, "a run's name begins with a letter or digit"),
    "a string of words": ([["w1"]], {"vocabulary": "w1 w2"}, "a vocabulary is a list of words here; got the string"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_one_sentence_and_nothing_is_left(case, store):
    documents, given, said = REFUSED[case]
    with pytest.raises((wb.DataError, wb.SpecError, StoreError, ValueError)) as refused:
        streamed(documents, store, **given)
    assert said in str(refused.value) and "\n" not in str(refused.value)
    assert wb.open_runs(store) == []
