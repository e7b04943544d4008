"""One run under every protocol: each number beside what computes it alone, and what is left out where data are missing."""

import warnings
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import twins
from comparisons import tiny_run
from missing import skip_without
from toys import corpus_of, simulated

import workbench as wb
from workbench.measures import MeasureError, exact, perplexity_audit
from workbench.measures.perplexity_audit import PROTOCOLS

NAMES = [each.name for each in PROTOCOLS]
HELD_OUT, UNSEEN, TRAIN = (
    [each.name for each in PROTOCOLS if each.data == data] for data in ("test", "unseen", "train")
)
ROUNDING = 1e-12
RESTED = {"restart_documents": True, "n_inner": 1000, "inner_tolerance": 1e-7}
"""Options of `vb` whose documents are fitted as they are when they are folded in."""
RECORDED = dict(zip(HELD_OUT, ("state", "average", "by_document", "joint"), strict=True))


@lru_cache
def given():
    """(training tokens, held-out tokens, unseen documents of up to six tokens with some unknown words)."""
    seen, others = wb.hold_out_documents(simulated(40, 12, 20), 0.25, seed=1)
    train, test = wb.hold_out_tokens(seen, 0.2, seed=0)
    short = [(d, w, n) for d, w, n in twins.pairs_of(others) if w % 2 and n < 3]
    unseen = corpus_of([*short, (11, 3, 1)], 13, 12)
    return train, test, replace(unseen, vocabulary=(*unseen.vocabulary[:11], "nobody"))


@lru_cache
def fitted(engine, n_topics=2, alpha=0.3, **more):
    train, test, _ = given()
    return wb.fit(
        train,
        engine,
        n_topics=n_topics,
        alpha=alpha,
        n_iterations=30,
        burn_in=10,
        test=test,
        progress=False,
        **more,
    )


def audited(engine="cgs", **more):
    train, test, unseen = given()
    return perplexity_audit(fitted(engine, **more), train, test, unseen)


@pytest.mark.parametrize("engine", ["cgs", "svb", "svb-cgs"])
def test_perplexity_audit_fills_every_row(engine):
    table = audited(engine)
    assert table.index.tolist() == NAMES
    missing = {
        "cgs": [],
        "svb": [*HELD_OUT[1:], "joint_of_training"],
        "svb-cgs": ["joint_of_training"],
    }[engine]
    assert table.index[table["value"].isna()].tolist() == missing
    assert (table["note"] != "").tolist() == table["value"].isna().tolist()
    assert (table["n_tokens"].isna() == table["value"].isna()).all()
    for column in ("unit", "quantity", "data", "given", "used_by", "differs"):
        assert table[column].str.len().min() > 3
    assert (table["error_over"] != "").tolist() == table["standard_error"].notna().tolist()


def test_held_out_tokens_have_the_numbers_that_the_run_recorded():
    run, table = fitted("cgs"), audited("cgs")
    for name, recorded in RECORDED.items():
        assert table.loc[name, "value"] == float(run[f"test_perplexity_{recorded}"][-1])
    states = run["test_perplexity_state"].values[10:]
    assert table.loc[HELD_OUT[0], "standard_error"] == pytest.approx(
        np.log(states).std(ddof=1) * states[-1]
    )
    errors = wb.measures.perplexity_errors(run)
    np.testing.assert_equal(table.loc[HELD_OUT[1], "standard_error"], float(errors["mc_error"][0]))
    assert table.loc[HELD_OUT, "n_tokens"].tolist() == [given()[1].n_tokens] * 4
    without = perplexity_audit(run)
    assert without.loc[HELD_OUT, "value"].tolist() == table.loc[HELD_OUT, "value"].tolist()


@pytest.mark.parametrize("engine", ["cgs", "svb", "cvb0"])
def test_other_held_out_tokens_are_scored_by_theta_and_phi(engine):
    """A run without a test set, scored on the same tokens, has the number of the state that a run with it recorded."""
    train, test, _ = given()
    alone = wb.fit(train, engine, n_topics=2, alpha=0.3, n_iterations=30, progress=False)
    table = perplexity_audit(alone, train, test)
    recorded = float(fitted(engine)["test_perplexity_state"][-1])
    assert table.loc[HELD_OUT[0], "value"] == pytest.approx(recorded, rel=1e-10)
    assert (
        table.loc[HELD_OUT[1:], "note"]
        .str.startswith("averages of these tokens were not recorded")
        .all()
    )
    assert (
        perplexity_audit(alone, train)
        .loc[HELD_OUT, "note"]
        .str.startswith("nothing is held out")
        .all()
    )


@pytest.mark.parametrize("engine", ["cgs", "vb", "cvb0"])
def test_completion_is_that_of_the_function_and_its_error_that_of_five_seeds(engine):
    table, unseen = audited(engine), given()[2]
    for protocol in ("document_completion", "foldin_same"):
        scores = [
            wb.document_completion(fitted(engine), unseen, seed, protocol) for seed in range(5)
        ]
        values = [each["perplexity"] for each in scores]
        row = table.loc[protocol]
        assert (row["value"], row["n_tokens"]) == (values[0], scores[0]["n_scored"])
        if protocol == "foldin_same" and engine != "cgs":
            assert np.isnan(row["standard_error"]) and row["error_over"] == ""
        else:
            assert row["standard_error"] == pytest.approx(np.std(values, ddof=1))


@pytest.mark.parametrize("engine", ["cgs", "vb"])
@pytest.mark.parametrize("n_topics, alpha", [(2, 0.3), (1, 0.3), (2, 1e-8)])
def test_documents_given_topics_agree_with_enumeration(engine, n_topics, alpha):
    """Exact is the enumeration, left-to-right within its error, the bound on the other side."""
    run, unseen = fitted(engine, n_topics, alpha), given()[2]
    table = perplexity_audit(run, unseen=unseen, n_particles=2000)
    phi = twins.word_probabilities(run["n_kw"].values[-1], 0.1)
    known = [
        [(w, n) for d, w, n in twins.pairs_of(unseen) if d == document and w < 11]
        for document in range(13)
    ]
    logs = [
        twins.log_probability_given_topics(pairs, phi, np.full(n_topics, alpha)) for pairs in known
    ]
    n_tokens = sum(n for pairs in known for _, n in pairs)
    assert min(map(len, known)) == 0 and 1 in [sum(n for _, n in pairs) for pairs in known]
    assert table.loc["exact", "value"] == pytest.approx(np.exp(-sum(logs) / n_tokens), rel=1e-10)
    assert table.loc["exact", "n_tokens"] == n_tokens < unseen.n_tokens
    row, expected = table.loc["left_to_right"], table.loc["exact", "value"]
    assert abs(row["value"] - expected) <= 4.5 * row["standard_error"] + 1e-9 * expected
    assert table.loc["bound_of_documents", "value"] >= expected * (1 - 1e-10)


def test_rows_of_the_bound_are_one_number_in_several_forms():
    table = audited("vb")["value"]
    assert table["bound_gensim"] == pytest.approx(-np.log(table["bound_with_topics"]), rel=ROUNDING)
    assert table["bound_gensim_printed"] == pytest.approx(
        table["bound_with_topics"] ** np.log(2), rel=ROUNDING
    )
    assert table["bound_with_topics"] > table["bound_of_documents"]


def test_the_bound_of_training_equals_that_of_converged_vb():
    train = given()[0]
    run = wb.fit(train, "vb", n_topics=3, n_iterations=1000, progress=False, options=RESTED)
    value = perplexity_audit(run, train).loc["bound_of_training", "value"]
    assert value == pytest.approx(float(np.exp(-run["bound"][-1] / train.n_tokens)), rel=1e-6)


def test_bounds_of_training_are_at_most_the_exact_evidence():
    corpus = corpus_of([(0, 0, 3), (0, 1, 1), (1, 0, 1), (1, 1, 1), (1, 2, 3)])
    log = float(exact(corpus, wb.LDA(2, 0.3, 0.2))["log_evidence"])
    for engine in ("vb", "svb", "cgs"):
        run = wb.fit(
            corpus, engine, n_topics=2, alpha=0.3, beta=0.2, n_iterations=20, progress=False
        )
        table = perplexity_audit(run, corpus)["value"]
        assert table["bound_of_training"] >= np.exp(-log / corpus.n_tokens) * (1 - ROUNDING)


def test_the_joint_is_that_of_tomotopy():
    """Which approximates lnGamma in single precision, good to 1e-5 of a token."""
    if find_spec("tomotopy") is None:
        skip_without("tomotopy is in the extra 'bench'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import tomotopy

    theirs, rng = tomotopy.LDAModel(k=2, alpha=0.5, eta=0.25, seed=1), np.random.default_rng(0)
    for _ in range(6):
        theirs.add_doc([f"w{w}" for w in rng.integers(0, 7, 9)])
    theirs.optim_interval = 0
    theirs.train(10, workers=1)
    tokens = [
        (d, w, k)
        for d, doc in enumerate(theirs.docs)
        for w, k in zip(doc.words, doc.topics, strict=True)
    ]
    n_dk, n_wk = np.zeros((6, 2)), np.zeros((len(theirs.used_vocabs), 2))
    for d, w, k in tokens:
        n_dk[d, k], n_wk[w, k] = n_dk[d, k] + 1, n_wk[w, k] + 1
    log = twins.log_joint(twins.Counts(n_dk, n_wk, n_wk.sum(axis=0)), np.full(2, 0.5), 0.25)
    assert np.exp(-log / len(tokens)) == pytest.approx(theirs.perplexity, rel=1e-4)
    run, train = fitted("cgs"), given()[0]
    expected = np.exp(-float(run["log_joint"][-1]) / train.n_tokens)
    assert audited("cgs").loc["joint_of_training", "value"] == pytest.approx(expected, rel=ROUNDING)


def test_documents_of_one_token_have_all_numbers_except_completion():
    run = fitted("cgs")
    table = perplexity_audit(run, unseen=corpus_of([(0, 3, 1), (2, 5, 1)], 4, 12))
    completed = table.loc["document_completion"]
    assert completed["note"].startswith("no document of") and np.isnan(completed["value"])
    # alpha is the same for both topics
    phi = twins.word_probabilities(run["n_kw"].values[-1], 0.1)
    expected = np.exp(-np.log(phi[:, [3, 5]].mean(axis=0)).mean())
    for name in ("left_to_right", "left_to_right_by_token", "exact"):
        assert table.loc[name, "value"] == pytest.approx(expected, rel=1e-10)
    assert table.loc["left_to_right", "standard_error"] == pytest.approx(0, abs=1e-10)


def test_perplexity_audit_notes_missing_data_and_too_long_documents():
    run, unseen = fitted("svb"), given()[2]
    table = perplexity_audit(run, n_particles=0)
    assert (
        table.loc[UNSEEN, "note"]
        .str.startswith("there are no unseen documents; give some (unseen=")
        .all()
    )
    assert table.loc[TRAIN, "note"].str.startswith("the training documents are not given").all()
    long = corpus_of([(0, 0, 2000), (0, 1, 10)], 1, 12)
    table = perplexity_audit(run, unseen=long, n_particles=0)
    assert "more than 2^20 topic counts" in table.loc["exact", "note"]
    assert (
        table.loc[["left_to_right", "left_to_right_by_token"], "note"]
        .str.startswith("no particles")
        .all()
    )
    one = perplexity_audit(run, unseen=unseen, n_particles=1)
    assert (
        np.isnan(one.loc["left_to_right_by_token", "standard_error"])
        and one.loc["left_to_right", "standard_error"] > 0
    )


def test_texts_are_counted_as_those_of_the_run():
    run = wb.fit(
        ["sun beach sand sun", "snow ski mountain snow"],
        "cvb0",
        n_topics=2,
        n_iterations=20,
        progress=False,
    )
    table = perplexity_audit(run, unseen=["sun and snow", "sand, sand"])
    assert table.loc["exact", "n_tokens"] == 4


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda run, _, unseen: perplexity_audit(run, unseen), "was trained on another corpus"),
        (
            lambda run, train, unseen: perplexity_audit(run, train, unseen),
            "the test tokens must be of the 30 training documents",
        ),
        (
            lambda run, *_: perplexity_audit(run, unseen=wb.Corpus.from_texts(["nobody knows me"])),
            "the run knows no word of .texts., so nothing can be scored",
        ),
        (
            lambda run, *_: perplexity_audit(run, n_particles=-1),
            "the number of particles must be a whole number of at least 0; got -1",
        ),
        (
            lambda *_: perplexity_audit(tiny_run("g-hdp")),
            "audited of runs of LDA; run .* is of engine g-hdp",
        ),
        (lambda run, *_: perplexity_audit(run, seed=-1), "seed"),
        (
            lambda run, train, _: perplexity_audit(run, wb.ShardedCorpus.write(train, "shards")),
            "is kept in shards",
        ),
    ],
)
def test_perplexity_audit_refuses_wrong_input(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train, _, unseen = given()
    with pytest.raises((MeasureError, wb.SpecError, wb.DataError), match=sentence):
        call(fitted("cgs"), train, unseen)


def test_the_page_about_perplexity_names_every_protocol():
    page = (Path(__file__).parents[2] / "docs" / "perplexity.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"`{name}`" not in page] == []


def test_threads_change_no_bit():
    train, test, unseen = given()
    one, three = (perplexity_audit(fitted("cgs"), train, test, unseen, n_threads=n) for n in (1, 3))
    assert one.equals(three)


def test_perplexity_audit_has_only_the_state_during_burn_in():
    train, test, _ = given()
    run = wb.fit(train, "cgs", n_topics=2, n_iterations=3, burn_in=10, test=test, progress=False)
    table = perplexity_audit(run, train, test)
    assert table.loc[HELD_OUT, "value"].isna().tolist() == [False, True, True, True]
    assert (
        table.loc[HELD_OUT[1], "note"]
        == "equals that of the state: the engine samples nothing, or burn-in is not over"
    )
