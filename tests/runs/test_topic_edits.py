"""Runs that continue from the counts of another with topics merged, dropped, split or added."""

import shlex

import numpy as np
import pytest
from short_runs import short_settings
from toys import simulated

import workbench as wb
from workbench.cli import main
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import WarmStart
from workbench.models.options import OptionError
from workbench.report.commands import commands, missing_in_commands
from workbench.runs.execution.topic_edits import edited, edits_of


@pytest.fixture
def texts() -> wb.Corpus:
    """Forty texts of one topic about fruit or beasts, and ten of both."""
    fruit, beasts = "apple pear plum cherry", "horse sheep goat cow"
    return wb.Corpus.from_texts([fruit, beasts] * 20 + [f"{fruit} {beasts}"] * 10)


def counts_of(corpus: wb.Corpus, topics: np.ndarray, n_topics: int) -> WarmStart:
    """The counts of a sampler whose tokens have these topics."""
    words = np.repeat(corpus.words, corpus.counts)
    documents = np.repeat(corpus.documents, corpus.counts)
    n_kw, n_dk = np.zeros((n_topics, corpus.n_words)), np.zeros((corpus.n_documents, n_topics))
    own = topics >= 0
    np.add.at(n_kw, (topics[own], words[own]), 1)
    np.add.at(n_dk, (documents[own], topics[own]), 1)
    return WarmStart(n_kw, n_dk, topics.astype(np.int32))


def assert_equal(made: WarmStart, wanted: WarmStart) -> None:
    for one, other in zip(made, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_counts_are_those_of_the_tokens_after_the_edits():
    corpus, rng = simulated(), np.random.default_rng(0)
    topics = rng.integers(0, 6, corpus.n_tokens)
    made = edits_of(["merge 4 1", "drop 2", "split 5", "add"], 6)
    after = edited(counts_of(corpus, topics, 6), made, corpus)
    # 0, 1 with 4, 3, 5 become 0, 4 of 1 ..., then the second half of 5, and an empty one
    wanted = np.array([0, 2, -1, 1, 2, 3])[topics]
    assert (made.n_topics, made.n_kept, made.split) == (6, 4, (3,))
    np.testing.assert_array_equal(np.where(after.topics == 4, 3, after.topics), wanted)
    assert_equal(after, counts_of(corpus, after.topics, 6))
    assert (after.topics == 4).any() and (after.topics == 3).any()


def test_a_topic_is_split_between_documents_of_different_words(texts):
    one = np.zeros(texts.n_tokens, np.int32)
    of_sampler = edited(counts_of(texts, one, 1), edits_of(["split 0"], 1), texts)
    without = counts_of(texts, one, 1)._replace(topics=None)
    of_vb = edited(without, edits_of(["split 0"], 1), texts)
    assert_equal(of_vb[:2], of_sampler[:2])
    first, second = (set(np.flatnonzero(of_sampler.n_dk[:40, k])) for k in (0, 1))
    assert {frozenset(first), frozenset(second)} == {
        frozenset(range(0, 40, 2)),
        frozenset(range(1, 40, 2)),
    }


def test_halves_that_are_merged_again_are_the_topic():
    corpus, rng = simulated(), np.random.default_rng(0)
    before = counts_of(corpus, rng.integers(0, 3, corpus.n_tokens), 3)
    split = edited(before, edits_of(["split 1"], 3), corpus)
    assert_equal(edited(split, edits_of(["merge 1 3"], 4), corpus), before)


def test_priors_follow_their_topics():
    made = edits_of(["merge 0 1", "split 2", "add"], 4)
    np.testing.assert_allclose(
        made.of_priors(np.array([0.1, 0.2, 0.4, 0.5])), [0.3, 0.2, 0.5, 0.2, 0.3]
    )


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (
            ["merge 3"],
            "an edit must be like merge 3 7, drop 5, split 2, add 1, omit said or omit-document 3; got 'merge 3'",
        ),
        (["melt 3 4"], "got 'melt 3 4'"),
        ([""], "got ''"),
        (["add 1 2"], "got 'add 1 2'"),
        (["merge 3 3"], "topic 3 is named twice in the edits; name each topic once"),
        (["merge 0 1", "drop 1"], "topic 1 is named twice"),
        (["drop 10"], "a topic must be a whole number from 0 to 9; got 10"),
        (["split x"], "a topic must be a whole number from 0 to 9; got 'x'"),
        (["drop 0,1,2,3,4,5,6,7,8,9"], "topics must be a whole number"),
        (["add 0"], "the number of topics to add must be a whole number of at least 1; got 0"),
    ],
)
def test_a_wrong_edit_gets_a_sentence(edits, said):
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        edits_of(edits, 10)


def test_documents_that_are_alike_are_not_split():
    alike = wb.Corpus.from_texts(["red ants"] * 6)
    start = counts_of(alike, np.zeros(12, np.int32), 1)
    with pytest.raises(OptionError, match="topic 0 cannot be split: its words are the same in all"):
        edited(start, edits_of(["split 0"], 1), alike)


@pytest.mark.parametrize("engine", ["cgs", "svb-cgs", "cvb0", "cv-hdp"])
def test_a_run_continues_with_edited_topics_and_says_so(engine, start, tmp_path, capsys):
    settings = {} if engine == "cv-hdp" else {"alpha": 0.2}
    parent = start(
        simulated(), engine, n_topics=4, seed=3, n_iterations=6, store=tmp_path, **settings
    )
    turned = {} if engine == "cv-hdp" else {"beta": 0.3}
    run = parent.branch("merge 0 2", "split 3", "add", **turned)
    ds, edits = run.dataset(), ["merge 0 2", "split 3", "add"]
    words = [*edits, *(f"{name}={value}" for name, value in turned.items())]
    assert run.state == "finished" and ds.sizes["topic"] == 5
    assert run.spec.model.get("beta", 0.3) == 0.3 and run.spec.seed == 3
    assert run.spec.label().endswith(" ".join(["warm", *words]))
    assert commands([run.spec]) == [shlex.join(["workbench", "branch", parent.name, *words])]
    assert missing_in_commands([run.spec])[-1].startswith(
        f"branch uses the current counts of {parent.name};"
    )
    assert parent.branch(*edits, **turned).path == run.path
    assert main(["branch", parent.name, *words, "--store", str(tmp_path)]) == 0
    assert f"started {run.name}" in capsys.readouterr().err
    assert len(wb.open_runs(tmp_path)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("engine", [one for one in ENGINES if get_engine(one).model.warm_starts])
def test_topics_of_every_engine_that_begins_from_counts_can_be_edited(engine, start, tmp_path):
    data, settings = short_settings(engine)
    run = start(data, engine, store=tmp_path, **settings)
    run.resume()
    branch = run.branch("merge 0 1", "split 2", "add")
    assert branch.state == "finished"
    assert branch.spec.n_topics == run.dataset().sizes["topic"] + 1


def test_the_first_counts_are_those_of_the_run_after_the_edits(start, tmp_path):
    parent = start(simulated(), "cgs", n_topics=4, n_iterations=6, store=tmp_path)
    run = parent.branch("merge 1 3")
    n_kw = parent.dataset()["n_kw"][-1].values
    wanted = np.stack([n_kw[0], n_kw[1] + n_kw[3], n_kw[2]])
    from workbench.runs.store.archive import get_warm_start

    np.testing.assert_array_equal(get_warm_start(tmp_path, run.spec.start["counts"]).n_kw, wanted)


def test_a_run_continues_with_what_was_turned_up_to_its_last_counts(start, tmp_path):
    planned = [(2, {"r": 2, "alpha": 0.4}), (4, {"r": "inf"}), (9, {"r": 0, "alpha": 0.7})]
    settings = {"n_topics": 4, "n_iterations": 6, "store": tmp_path, "interventions": planned}
    run = start(simulated(), "svb-cgs", **settings).branch("drop 2")
    assert (run.spec.options["r"], run.spec.model["alpha"], run.state) == ("inf", 0.4, "finished")
    assert not run.spec.interventions


def test_of_a_model_that_cannot_begin_from_counts_nothing_is_made(start, tmp_path):
    parent = start(simulated(), "network-vb", n_topics=3, n_iterations=2, store=tmp_path)
    with pytest.raises(wb.SpecError, match="topics of a run of network-vb cannot be edited"):
        parent.branch("drop 1")
    assert len(wb.open_runs(tmp_path)) == 1
