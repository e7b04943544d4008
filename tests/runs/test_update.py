"""Runs that go on with further documents: what they are, that they are made again bit for bit, and what is refused."""

import hashlib
import json
import os
import signal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.corpus.shards import shard_writer
from workbench.engines.engine import StepContext
from workbench.engines.lda import online_vb
from workbench.report.commands import command_of, commands, missing_in_commands
from workbench.runs.afterwards.examine import examine
from workbench.runs.recorded import priors_of
from workbench.runs.spec import make_spec
from workbench.runs.store.archive import get_corpus, get_warm_start
from workbench.runs.store.layout import StoreError
from workbench.runs.store.writer import create_run

OPTIONS = {"batch_size": 8, "tau0": 5.0}


@pytest.fixture(scope="module")
def further():
    """60 documents over the words of `first`, and others."""
    return wb.LDA(3, 0.2, 0.2).simulate(60, 70, 30, seed=1)[0]


@pytest.fixture
def first(train, test, tmp_path):
    """A run of three passes over 30 documents of 50 words, in a store."""
    wb.fit(
        train,
        "online-vb",
        3,
        test=test,
        n_iterations=3,
        options=OPTIONS,
        store=tmp_path,
        name="first",
        progress=False,
    )
    return wb.Run(tmp_path / "first")


def tokens_of(corpus):
    """The documents of a corpus, one by one, as lists of tokens."""
    for d in range(corpus.n_documents):
        pairs = slice(corpus.indptr[d], corpus.indptr[d + 1])
        yield np.repeat(
            [corpus.vocabulary[w] for w in corpus.words[pairs]], corpus.counts[pairs]
        ).tolist()


def updated(run, documents, **given):
    return wb.update(run, documents, progress=False, **given)


def last(run, name):
    return run.dataset()[name].values[-1]


# ---------------------------------------------------------------------- what it is


def test_the_topics_go_on_from_those_of_the_run_batch_by_batch(first, further):
    """Against the batches one by one; the vocabulary is that of the run, rates follow its twelve batches."""
    new = updated(first, tokens_of(further))
    known = further.words < 50
    rows = [np.flatnonzero(known & (further.documents == d)) for d in range(60)]
    rows = [pairs for pairs in rows if len(pairs)]
    state = online_vb.topics_alone(last(first, "n_kw"), np.full(3, 0.1), 0.1)
    options = online_vb.Options(**OPTIONS)
    sizes = [8] * (len(rows) // 8 - 1)
    rest = len(rows) - sum(sizes)
    sizes += [rest - rest // 2, rest // 2] if rest > 8 else [rest]
    for number, at in enumerate(np.split(np.arange(len(rows)), np.cumsum(sizes)[:-1])):
        pairs = np.concatenate([rows[d] for d in at])
        indptr = np.concatenate([[0], np.cumsum([len(rows[d]) for d in at])])
        batch = online_vb.batch_of(indptr, further.words[pairs], further.counts[pairs])
        rate = (5.0 + 3 * 4 + number) ** -0.7
        online_vb.take_in(batch, state, options, rate, 30 / len(at), StepContext(0, 0))
    assert np.array_equal(last(new, "n_kw"), state.mean_wk[:, :3].T)
    assert not np.array_equal(last(new, "n_kw"), last(first, "n_kw"))
    assert last(new, "topic_change") == last(new, "rho") == 0
    stream = new.spec.start["stream"]
    assert stream["n_documents"] == len(rows) and stream["n_batches"] == len(sizes)
    assert stream["n_left_out"] == 60 - len(rows)
    assert (
        stream["n_tokens"] == further.counts[known].sum()
        and stream["n_unknown"] == further.counts[~known].sum()
    )
    assert new.spec.options["batches_before"] == 12 + len(sizes)


def test_the_run_is_a_whole_run_of_the_store_beside_the_first(first, further):
    before = json.loads(first.spec.to_json())
    new = updated(first, tokens_of(further), name="second")
    assert new.name == "second" and new.state == "finished" and examine(new.path).damage == []
    assert json.loads(first.spec.to_json()) == before and examine(first.path).damage == []
    found = new.dataset()
    assert (
        found.sizes["document"] == 30
        and np.isfinite(found.test_perplexity).all()
        and np.isfinite(found.bound).all()
    )
    assert new.spec.start["name"] == "first" and new.spec.start["iteration"] == 3
    assert abs(float(wb.infer(new, further).theta.sum()) - 60) < 1e-9


def test_documents_like_its_own_make_its_topics_better(first):
    """Held-out perplexity falls: three passes over 30 documents are few, and 600 more are of the same topics."""
    more = wb.LDA(3, 0.2, 0.2).simulate(630, 50, 40, seed=1)[0].of_documents(np.arange(30, 630))
    assert last(updated(first, more), "test_perplexity") < last(first, "test_perplexity")


# ---------------------------------------------------------------------- equal specs give equal bits


def test_whatever_form_documents_have_they_give_the_same_run(first, further, tmp_path, monkeypatch):
    monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 100)
    shards = wb.ShardedCorpus.write(further, tmp_path / "shards")
    wanted = updated(first, tokens_of(further))
    bags = [
        list(zip(further.words[a:b].tolist(), further.counts[a:b].tolist(), strict=True))
        for a, b in zip(further.indptr[:-1], further.indptr[1:], strict=True)
    ]
    mappings = ({further.vocabulary[w]: n for w, n in bag} for bag in bags)
    texts = [" ".join(tokens) for tokens in tokens_of(further)]
    by_id = {"vocabulary": list(further.vocabulary)}
    plain = {"token_pattern": r"\S+", "stop_words": None}
    for documents, given in (
        (further, {}),
        (shards, {}),
        (list(tokens_of(further)), {}),
        (mappings, {}),
        (bags, by_id),
        (iter(texts), plain),
        (pd.DataFrame({"text": texts}), plain),
        (further.to_scipy(), by_id),
    ):
        new = updated(first, documents, **given)
        assert new.name == wanted.name and new.spec.start == wanted.spec.start, type(documents)


def test_an_update_is_made_again_from_its_spec_and_the_counts_in_the_store(first, further):
    """The stream is gone; the counts that it left are kept by content, and the run begins from these."""
    new = updated(first, tokens_of(further))
    spec, numbers = new.spec, new.dataset()
    new.remove()
    begun = get_warm_start(first.path.parent, spec.start["counts"])
    train, test = (
        get_corpus(first.path.parent, spec.train),
        get_corpus(first.path.parent, spec.test),
    )
    path = create_run(first.path.parent, replace(spec, warm_start=begun), train, test)
    again = wb.resume(wb.Run(path), progress=False)
    for name in ("n_kw", "n_dk", "bound", "test_perplexity", "train_perplexity"):
        assert np.array_equal(again[name], numbers[name]), name


def test_a_stream_in_two_parts_goes_on_where_the_first_ended(first, further):
    """Two updates of 16 documents are one of 32: batches are whole, and the rates go on."""
    documents = [
        tokens for tokens in tokens_of(further) if set(tokens) & set(first.dataset()["word"].values)
    ][:32]
    half = updated(updated(first, documents[:16]), documents[16:])
    whole = updated(first, documents)
    assert np.array_equal(last(half, "n_kw"), last(whole, "n_kw"))
    # one spec: it begins from the same counts, with the same options
    assert half.name == whole.name


def test_a_resumed_run_stays_where_it_is(first, further):
    new = updated(first, tokens_of(further))
    n_kw, n_dk = last(new, "n_kw"), last(new, "n_dk")
    found = wb.resume(new, n_iterations=3, progress=False)
    assert found.sizes["iteration"] == 3
    assert np.array_equal(found.n_kw[-1], n_kw) and np.array_equal(found.n_dk[-1], n_dk)


def test_the_record_of_a_stream_has_the_hash_of_its_counts(first):
    """Of arrays as a corpus has them; other counts have another hash."""
    words = first.dataset()["word"].values.tolist()
    one = updated(first, [[words[4], words[2], words[4]]]).spec.start["stream"]["content"]
    arrays = np.array([0, 2], np.int64), np.array([2, 4], np.int32), np.array([1, 2], np.int32)
    assert one == hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
    assert one != updated(first, [[words[4], words[2]]]).spec.start["stream"]["content"]


# ---------------------------------------------------------------------- priors and totals


def test_priors_stay_as_the_run_learnt_them(train, tmp_path, further):
    learnt = OPTIONS | {"learn_alpha": "maximised", "learn_beta": "maximised", "learn_after": 1}
    ds = wb.fit(
        train,
        "online-vb",
        3,
        n_iterations=3,
        options=learnt,
        store=tmp_path,
        name="first",
        progress=False,
    )
    new = updated(tmp_path / "first", tokens_of(further))
    assert new.spec.model["alpha"] == ds.alpha[-1].values.tolist() and new.spec.model[
        "beta"
    ] == float(ds.beta[-1])
    assert new.spec.options["learn_alpha"] == new.spec.options["learn_beta"] == "fixed"


def test_a_beta_that_was_turned_stays_beside_seeds(train, tmp_path, further):
    seeds = {"seed_words": {0: [train.vocabulary[0]]}, "seed_weight": 7.0}
    wb.fit(
        train,
        "online-vb",
        3,
        n_iterations=3,
        options=OPTIONS | seeds,
        interventions=[(3, {"beta": 5.0})],
        store=tmp_path,
        name="first",
        progress=False,
    )
    new = updated(tmp_path / "first", tokens_of(further))
    assert new.spec.model["beta"] == 5.0
    table = priors_of(new.dataset()).beta
    assert table[0, 0] == 12.0 and (table == 5.0).sum() == table.size - 1


def test_topics_come_to_stand_for_the_documents_in_all(first, further):
    """Of a hundred times as many documents the topics have more tokens, and a later update goes on with that number."""
    few, many = (
        updated(first, tokens_of(further)),
        updated(first, tokens_of(further), total_documents=3000),
    )
    assert last(many, "n_kw").sum() > 20 * last(few, "n_kw").sum()
    later = updated(many, tokens_of(further))
    assert later.spec.options["total_documents"] == 3000


# ---------------------------------------------------------------------- streams


def test_ctrl_c_keeps_the_documents_that_were_visited(first, further, capsys):
    """It comes while the 31st document is waited for: two batches of eight have been visited, and one is held back."""
    documents = [
        tokens for tokens in tokens_of(further) if set(tokens) & set(first.dataset()["word"].values)
    ]

    def stream():
        yield from documents[:30]
        os.kill(os.getpid(), signal.SIGINT)
        yield from documents[30:]

    with pytest.raises(wb.Interrupted) as stop:
        wb.update(first, stream())
    new = stop.value.result
    assert "16 documents in 2 batches" in capsys.readouterr().err
    assert new.state == "finished" and new.spec.start["stream"]["n_documents"] == 16
    assert new.name == updated(first, documents[:16]).name


def test_ctrl_c_before_the_first_batch_leaves_nothing(first):
    def stream():
        yield ["ant"]
        os.kill(os.getpid(), signal.SIGINT)
        yield ["bee"]

    inside = set(first.path.parent.iterdir())
    with pytest.raises(KeyboardInterrupt):
        updated(first, stream())
    assert set(first.path.parent.iterdir()) == inside


# ---------------------------------------------------------------------- reports


def test_a_report_says_how_it_was_made(first, further):
    new = updated(first, tokens_of(further), total_documents=77)
    assert command_of(new.spec) == "workbench update first DOCUMENTS --total-documents 77"
    assert (
        commands([new.spec, first.spec])[0] == command_of(new.spec)
        and len(commands([new.spec, first.spec])) == 2
    )
    (note,) = [each for each in missing_in_commands([new.spec]) if "DOCUMENTS" in each]
    assert new.spec.start["stream"]["content"][:8] in note and "--start" not in " ".join(
        missing_in_commands([new.spec])
    )


# ---------------------------------------------------------------------- refused, and nothing is left


REFUSED = {
    "no document": ([], {}, "no document came; give documents like its own"),
    "unknown words": (
        (["zebra"] for _ in range(3)),
        {},
        "none of 3 documents has a word that first knows; give",
    ),
    "ids alone": (
        [[(0, 1)]],
        {},
        "counts by word id need the words of the ids; give them with vocabulary=",
    ),
    "a missing text": (["w1", None], {}, r"document 1 (counted from 0): a document of a stream is"),
    "a number": (
        7,
        {},
        "documents are an iterable of texts, of lists of tokens or of counts, or a Corpus; got 7",
    ),
    "pruning": (
        ["w1"],
        {"min_documents": 2},
        "no option 'min_documents' of a stream, whose vocabulary is that of first",
    ),
    "a total": (
        ["w1"],
        {"total_documents": 0},
        "total_documents must be a whole number of at least 1; got 0",
    ),
    "threads": (["w1"], {"n_threads": 0}, "threads must be a whole number from 1 to 1024; got 0"),
    "a name": (["w1"], {"name": "../x"}, "a run's name begins with a letter or digit"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_update_refuses_wrong_input_and_writes_nothing(case, first):
    documents, given, said = REFUSED[case]
    inside = sorted(first.path.parent.rglob("*"))
    with pytest.raises((wb.DataError, wb.SpecError)) as refused:
        updated(first, documents, **given)
    assert said in str(refused.value) and "\n" not in str(refused.value)
    assert sorted(first.path.parent.rglob("*")) == inside


def test_a_run_without_counts_is_refused(train, tmp_path):
    path = create_run(tmp_path, make_spec(train, "online-vb", 3), train, None)
    with pytest.raises(wb.SpecError, match="has no counts yet to continue from"):
        updated(path, ["w1"])


def test_a_store_that_cannot_be_written_is_told_before_the_first_document(first, monkeypatch):
    monkeypatch.setattr("workbench.runs.execution.update.os.access", lambda *arguments: False)
    with pytest.raises(StoreError, match="cannot write to the store"):
        updated(first, (pytest.fail("a document was asked for") for _ in range(1)))
