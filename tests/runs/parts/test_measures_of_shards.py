"""What is measured of a corpus in shards is what is measured of the same corpus in memory."""

import math

import numpy as np
import pytest
import xarray as xr
from runs_in_shards import drawn_corpus, fitted

import workbench as wb
from workbench.corpus.shards import shard_writer as writing
from workbench.dashboard.shared.snapshots import SnapshotKey
from workbench.dashboard.topics.documents import _documents_now
from workbench.dashboard.topics.overview import scores_of
from workbench.engines.engine import StepContext
from workbench.engines.lda import hybrid, hybrid_bound
from workbench.measures import coherence, find_documents, matching, topic_flow
from workbench.measures.choosing import numbers_by_k
from workbench.measures.documents import token_topics
from workbench.measures.groups import words_by_group
from workbench.measures.selection import MeasureError
from workbench.models.options import OptionError
from workbench.report.gathering import corpora_of, gather
from workbench.runs.afterwards.heldout_by_document import pool_chains, score_documents
from workbench.runs.parts import stored
from workbench.views.every import draw_view

ROUNDING = 1e-12
"""Relative: sums of the same numbers in another order."""
VIEWS_OF_A_CORPUS = ("coherence", "topic-flow")


@pytest.fixture
def run(pair):
    """Topics of the training tokens, whole."""
    return fitted(*pair, "cgs", {"scan": "documents"})


def refuse_whole(monkeypatch):
    """From now on a corpus in shards that is taken into memory as a whole, or in several shards at once, is an error."""

    def never(*_):
        raise AssertionError("more than a shard was taken into memory")

    monkeypatch.setattr(wb.ShardedCorpus, "in_memory", never)


def test_parts_are_the_documents_in_order_and_rows_those_of_a_range(pair, in_shards):
    firsts, parts = zip(*in_shards[0].parts_in_order(), strict=True)
    assert firsts == tuple(in_shards[0].bounds[:-1])
    assert sum(part.n_documents for part in parts) == pair[0].n_documents
    assert [*pair[0].parts_in_order()] == [(0, pair[0])]
    for rows in ((0, 1), (4, 9), (0, 60), (59, 60)):
        whole, parted = (corpus.rows(*rows) for corpus in (pair[0], in_shards[0]))
        for name in ("indptr", "words", "counts", "document_tokens", "word_tokens"):
            assert np.array_equal(getattr(whole, name), getattr(parted, name)), name
        assert tuple(whole.titles) == tuple(parted.titles) == pair[0].titles[slice(*rows)]


MEASURES = {
    "coherence": (lambda run, corpus: coherence(run, corpus, 4), 0),
    "numbers by K": (lambda run, corpus: numbers_by_k([run], corpus), 0),
    "topics of an empty document": (lambda run, corpus: token_topics(run, corpus, 0), 0),
    "topics of the last document": (lambda run, corpus: token_topics(run, corpus, 59), 0),
    "topic flow": (lambda run, corpus: topic_flow(run, run, corpus), ROUNDING),
    "words by group": (
        lambda run, corpus: words_by_group(run, corpus, ["a", "b", None] * 20, 3),
        ROUNDING,
    ),
    "documents with a word": (
        lambda run, corpus: xr.DataArray(find_documents(run, "w3", None, corpus)),
        0,
    ),
    "documents with two words": (
        lambda run, corpus: xr.DataArray(find_documents(run, "W0 w1", None, corpus)),
        0,
    ),
}


@pytest.mark.parametrize(("measure", "rounding"), MEASURES.values(), ids=MEASURES)
def test_a_measure_of_shards_is_that_of_the_corpus_in_memory(
    run, pair, in_shards, monkeypatch, measure, rounding
):
    refuse_whole(monkeypatch)
    monkeypatch.setattr(matching, "PAIRS_AT_ONCE", 7)
    whole, parts = measure(run, pair[0]), measure(run, in_shards[0])
    assert parts.size if isinstance(parts, xr.DataArray) else parts.sizes
    xr.testing.assert_allclose(whole, parts, rtol=rounding, atol=0)


def test_measures_refuse_what_is_no_corpus_and_another_corpus(run, in_shards):
    with pytest.raises(MeasureError, match="give a Corpus, as coherence"):
        coherence(run, ["a text"])
    with pytest.raises(MeasureError, match="trained on another corpus than ShardedCorpus"):
        token_topics(run, in_shards[1], 0)


@pytest.mark.parametrize(
    ("engine", "options", "averaged"),
    [
        ("cgs", {}, True),
        ("cvb0-cgs", {"r": 1}, True),
        ("cvb0", {}, False),
        ("svb-cgs", {"r": math.inf}, True),
        ("svb", {}, False),
    ],
)
def test_scores_of_documents_are_those_of_the_run_in_memory(
    pair, in_shards, tmp_path, monkeypatch, engine, options, averaged
):
    for name, corpora in (("whole", pair), ("parts", in_shards)):
        fitted(*corpora, engine, options, store=tmp_path, name=name)
    refuse_whole(monkeypatch)
    whole, parts = (score_documents(name, tmp_path) for name in ("whole", "parts"))
    np.testing.assert_allclose(parts.log_likelihood, whole.log_likelihood, rtol=1e-9)
    assert (
        np.array_equal(parts.n_tokens, whole.n_tokens) and parts.n_tokens.sum() == pair[1].n_tokens
    )
    assert (
        (parts.iteration, parts.n_averaged)
        == (whole.iteration, whole.n_averaged)
        == (6, 4 if averaged else 0)
    )
    assert parts.perplexity == pytest.approx(
        float(wb.open_run("parts", tmp_path)["test_perplexity"][-1]), rel=ROUNDING
    )


def test_rows_of_a_checkpoint_that_are_gone_are_refused_unless_a_later_one_is_there(
    in_shards, tmp_path, monkeypatch
):
    fitted(*in_shards, "cgs", {"partition": 2}, store=tmp_path, name="run")
    rows = stored.rows_in
    asked = []

    def replaced_meanwhile(path, kind):
        if not asked:  # the run writes its next checkpoint just now
            asked.append(path)
            wb.resume("run", 9, store=tmp_path, progress=False)
        return rows(path, kind)

    monkeypatch.setattr(stored, "rows_in", replaced_meanwhile)
    assert score_documents("run", tmp_path).iteration == 9
    (tmp_path / "run" / "parts-9" / "1.npz").write_bytes(b"damaged")
    sentence = "rows of the last checkpoint of run 'run' cannot be read .*; `workbench resume run` makes new ones"
    with pytest.raises(wb.SpecError, match=sentence):
        score_documents("run", tmp_path)
    (tmp_path / "run" / "checkpoint.npz").unlink()
    with pytest.raises(
        wb.SpecError, match="run 'run' has no whole checkpoint; `workbench resume run` makes one"
    ):
        score_documents("run", tmp_path)


def test_chains_over_shards_are_pooled_as_chains_over_the_whole_corpus(pair, in_shards, tmp_path):
    for name, corpora in (("whole", pair), ("parts", in_shards)):
        for seed in (0, 1, 2):
            fitted(
                *corpora,
                "cgs",
                {},
                seed=seed,
                store=tmp_path,
                name=f"{name}-{seed}",
            )
    whole, parts = (
        pool_chains([f"{name}-{seed}" for seed in (0, 1, 2)], tmp_path)
        for name in ("whole", "parts")
    )
    assert parts.log_perplexity == pytest.approx(whole.log_perplexity, rel=ROUNDING)
    assert parts.error == pytest.approx(whole.error, rel=1e-9)  # a difference of means


def test_figures_of_a_report_and_the_topics_page_are_those_of_the_run_in_memory(
    pair, in_shards, tmp_path, monkeypatch
):
    snapshots = []
    for name, corpora in (("whole", pair), ("parts", in_shards)):
        store = tmp_path / name
        for seed in (0, 1):
            fitted(*corpora, "cgs", {}, seed=seed, store=store, name=f"run-{seed}")
        run = wb.Run(store / "run-0")
        snapshots.append(SnapshotKey(run.path, run.spec.hash, 6, run.state))
    refuse_whole(monkeypatch)
    drawn = []
    for name in ("whole", "parts"):
        found = gather(wb.open_runs(tmp_path / name))
        pictures_of = [
            draw_view(view, [each.dataset for each in found], 2, corpora_of(found))
            for view in VIEWS_OF_A_CORPUS
        ]
        drawn.append([each for (picture,) in pictures_of for row in picture.rows for each in row])
    assert len(drawn[0]) == len(drawn[1]) > 100
    for whole, parts in zip(*drawn, strict=True):
        assert whole == (pytest.approx(parts, rel=ROUNDING) if isinstance(parts, float) else parts)
    xr.testing.assert_identical(*map(scores_of, snapshots))
    whole, parts = (_documents_now(snapshot, 0, 4, {}, "w3") for snapshot in snapshots)
    assert whole["shown"].pop("takes_edits") and not parts["shown"].pop("takes_edits")
    assert whole == parts and parts["content"]["total"] > 0 and parts["shown"]["words"]


def test_what_needs_documents_in_memory_says_so_in_a_sentence(run, in_shards):
    for ask, why in (
        (
            lambda: wb.document_completion(run, in_shards[1]),
            "unseen documents are scored in memory",
        ),
        (
            lambda: wb.exact(in_shards[0], wb.LDA(2)),
            "the exact posterior is of a few tokens in memory",
        ),
    ):
        with pytest.raises(
            wb.DataError, match=rf"'drawn' is kept in shards, and {why}; take shard\(i\), rows"
        ):
            ask()


def test_of_several_shards_one_is_read_at_a_time(run, pair, in_shards, monkeypatch):
    at_once = []
    shard = wb.ShardedCorpus.shard
    monkeypatch.setattr(
        wb.ShardedCorpus,
        "shard",
        lambda self, number: at_once.append(number) or shard(self, number),
    )
    coherence(run, in_shards[0])
    assert at_once == [*range(in_shards[0].n_parts)]


def test_shards_of_one_document_and_empty_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "SHARD_PAIRS", 1)
    corpus = drawn_corpus(20)
    parts, run = (
        wb.ShardedCorpus.write(corpus, tmp_path / "corpus"),
        wb.fit(corpus, "svb", 3, n_iterations=2, progress=False),
    )
    xr.testing.assert_identical(coherence(run, parts, 3), coherence(run, corpus, 3))
    assert (
        find_documents(run, "w3", None, parts).tolist()
        == find_documents(run, "w3", None, corpus).tolist()
    )


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("svb-cgs", {"partition": 3, "r": 1}),
        ("cvb-cgs", {"partition": 2, "r": 2, "n_chains": 2}),
        ("cvb0-cgs", {"partition": 3, "r": 1}),
        ("cvb0-cgs", {"partition": 2, "r": 0}),
        ("cvb-cgs", {"partition": 2, "r": math.inf}),
        ("svb-cgs", {"partition": 2, "r": math.inf}),
    ],
)
def test_the_bound_of_a_hybrid_is_that_of_the_same_state_in_memory(
    pair, in_shards, tmp_path, monkeypatch, engine, options
):
    fitted(*in_shards, engine, options, store=tmp_path, name="parts")
    run = wb.Run(tmp_path / "parts")
    own, model, made = run.spec.parts()

    def whole_state(position, parts):
        states = [part.state._asdict() for part in parts]
        axis = {"gamma": 0, "mean_dk": 0, "var_dk": 0, "n_dk": 1, "topics": 1}
        joined = {
            name: np.concatenate([state[name] for state in states], at)
            for name, at in axis.items()
            if name in states[0]
        }
        return position.state._replace(**joined)

    state = stored.at_last_checkpoint(run, whole_state)
    split, state, entropy = hybrid.for_bound(pair[0], made, state)
    whole = hybrid_bound.whole(pair[0], split, state, entropy)
    refuse_whole(monkeypatch)
    found = wb.hybrid_bound(run, "ais", seed=3, n_runs=3, n_temperatures=5, progress=False)
    twin = hybrid_bound.ais(*whole, StepContext(3, 0), 3, 5)
    assert found["n_sampled"] == split.n_tokens and found["entropy"] == pytest.approx(
        entropy, rel=ROUNDING
    )
    np.testing.assert_allclose(found["log_weights"], twin.log_weights, rtol=ROUNDING)
    threaded = wb.hybrid_bound(
        run, "ais", seed=3, n_runs=3, n_temperatures=5, n_threads=2, progress=False
    )
    assert threaded["log_weights"] == found["log_weights"]
    found = wb.hybrid_bound(run, "bracket", seed=3, n_sweeps=4, burn_in=2, progress=False)
    twin = hybrid_bound.bracket(*whole, StepContext(3, 0), 4, 2)
    np.testing.assert_allclose([found["low"], found["high"]], twin, rtol=ROUNDING)
    if split.n_tokens > 16:
        with pytest.raises(OptionError, match="method exact enumerates at most 65,536 assignments"):
            wb.hybrid_bound(run, "exact", progress=False)


def test_hybrid_bound_exact_of_shards_is_that_of_the_corpus_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "SHARD_PAIRS", 3)
    table = np.full((9, 3), 4)
    table[[2, 3, 8, 8], [0, 1, 0, 2]] = 1  # four tokens are sampled
    documents, words = np.nonzero(table)
    corpus = wb.Corpus.from_pairs(documents, words, table[documents, words])
    sharded, options = wb.ShardedCorpus.write(corpus, tmp_path / "corpus"), {}
    for name, given in (("whole", corpus), ("parts", sharded)):
        wb.fit(
            given,
            "cvb0-cgs",
            3,
            n_iterations=5,
            options=options,
            store=tmp_path / "runs",
            name=name,
            progress=False,
        )
    whole, parts = (
        wb.hybrid_bound(name, "exact", store=tmp_path / "runs", progress=False)
        for name in ("whole", "parts")
    )
    assert whole["n_sampled"] == parts["n_sampled"] == 4 and sharded.n_parts == 9
    assert parts["bound"] == pytest.approx(whole["bound"], rel=ROUNDING)
