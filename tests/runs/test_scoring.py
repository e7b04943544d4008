"""Perplexities of held-out tokens by their definitions, iteration after iteration."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from workbench.corpus import Corpus, CorpusError, split_in_words
from workbench.corpus.splits import parse_rows
from workbench.engines import get_engine
from workbench.measures import summary
from workbench.models import LDA, Variable
from workbench.models.model import Scores
from workbench.report.commands import command_of, missing_in_commands
from workbench.runs.recorded import TEST_PERPLEXITIES, Position
from workbench.runs.scoring import Average, further_scores, initial_average, score
from workbench.runs.spec import SpecError, make_spec
from workbench.runs.store.archive import get_corpus, read_checkpoint, write_checkpoint

# documents 1 and 3 have no held-out token
TEST = Corpus.from_pairs([0, 0, 2], [0, 1, 1], [2, 1, 3], n_documents=4, n_words=2)
# has the second word alone
TRAIN = Corpus.from_pairs([1, 3], [1, 1], [4, 1], n_documents=4, n_words=2)
# (iteration, pair)
PROBABILITIES = np.array([[0.5, 0.1, 0.2], [0.25, 0.4, 0.1], [0.3, 0.2, 0.4], [0.1, 0.1, 0.6]])


def scored(samples: bool, burn_in: int = 1) -> list[dict]:
    """The scores of each iteration."""
    average, found = initial_average(TEST), []
    for iteration, probability in enumerate(PROBABILITIES, 1):
        engine = SimpleNamespace(
            predict=lambda *given, p=probability: p,
            samples=lambda *given: samples,
            predict_rows=None,
        )
        average, scores, _ = score(
            engine, None, TEST, LDA(2, 1.0, 1.0), None, None, average, iteration > burn_in
        )
        found.append(scores)
    return found


def test_averages_of_tokens_documents_and_all_tokens_are_those_of_their_definitions():
    found = scored(True)
    assert [tuple(each) for each in found] == [TEST_PERPLEXITIES] * 4
    likelihood = PROBABILITIES**TEST.counts  # (iteration, pair)
    for n in (2, 3, 4):
        taken, each = slice(1, n), likelihood[1:n]
        by_token = (TEST.counts * np.log(PROBABILITIES[taken].mean(axis=0))).sum()
        by_document = np.log((each[:, 0] * each[:, 1]).mean()) + np.log(each[:, 2].mean())
        joint, alone = np.log(each.prod(axis=1).mean()), np.log(likelihood[n - 1]).sum()
        wanted = np.exp(-np.array([by_token, alone, by_token, by_document, joint]) / 6)
        assert [found[n - 1][name] for name in TEST_PERPLEXITIES] == pytest.approx(
            wanted, rel=1e-13
        )  # float64


def test_until_burn_in_is_over_all_are_those_of_the_state():
    first = scored(True)[0]
    assert len(set(first.values())) == 1


def test_an_engine_that_does_not_sample_is_scored_by_its_state_whatever_is_averaged():
    for each in scored(False):
        assert (
            each["test_perplexity"]
            == each["test_perplexity_by_document"]
            == each["test_perplexity_joint"]
            == (each["test_perplexity_state"])
        )


def test_probabilities_too_small_for_a_document_do_not_vanish():
    """A document of a million tokens: its probability is 10^-3,000,000, its perplexity 1000."""
    test = Corpus.from_pairs([0], [0], [1_000_000], n_words=1)
    engine = SimpleNamespace(
        predict=lambda *given: np.array([1e-3]), samples=lambda *given: True, predict_rows=None
    )
    _, scores, _ = score(
        engine, None, test, LDA(2, 1.0, 1.0), None, None, initial_average(test), True
    )
    assert (
        scores["test_perplexity_by_document"]
        == scores["test_perplexity_joint"]
        == pytest.approx(1000, rel=1e-12)
    )


def test_half_the_tokens_of_documents_are_held_out_from_the_first_call_to_the_report(tmp_path):
    corpus, _ = LDA(3, 0.3, 0.2).simulate(30, 20, 25, 3)
    run = wb.compare(
        corpus,
        ["cgs"],
        n_topics=3,
        n_iterations=6,
        burn_in=2,
        holdout=0.2,
        holdout_per="half",
        progress=False,
    )
    found = {name: float(run[name].isel(iteration=-1).squeeze()) for name in TEST_PERPLEXITIES}
    # the first is the third
    assert all(np.isfinite(list(found.values()))) and len(set(found.values())) == 4


ROWS = np.random.default_rng(0).dirichlet(np.ones(2), (4, 2))  # (iteration, row 0 or 2, word)
LEAST = Variable(
    "test_least",
    ("iteration",),
    "",
    "smallest probability that a held-out row gives a word",
    better="higher",
)


def least(train, test, predicted):
    """A score of whole rows, and what it was computed from."""
    return {"test_least": predicted.words.min()}


class WithRows:
    """A model whose family has a score of its own."""

    scores = (Scores((LEAST,), least, of_seen=True),)


def engine_of_rows(iteration: int, asked: list):
    def predict_rows(train, model, options, state, rows, context):
        asked.append(rows.tolist())
        return ROWS[iteration]

    return SimpleNamespace(predict=None, samples=lambda *given: True, predict_rows=predict_rows)


def test_an_engine_of_whole_rows_is_asked_once_for_the_rows_with_held_out_tokens():
    asked, average = [], initial_average(TEST)
    for iteration in range(4):
        average, scores, predicted = score(
            engine_of_rows(iteration, asked),
            TRAIN,
            TEST,
            WithRows(),
            None,
            None,
            average,
            iteration > 0,
        )
        pairs = ROWS[iteration][[0, 0, 1], [0, 1, 1]]
        assert np.array_equal(predicted.state_probability, pairs) and np.array_equal(
            predicted.state_words, ROWS[iteration]
        )
        assert scores["test_perplexity_state"] == pytest.approx(
            np.exp(-TEST.counts @ np.log(pairs) / 6), rel=1e-13
        )
        mean = ROWS[1 : iteration + 1].mean(axis=0) if iteration else ROWS[0]
        assert predicted.words == pytest.approx(mean, rel=1e-14)  # float64
        assert predicted.probability == pytest.approx(mean[[0, 0, 1], [0, 1, 1]], rel=1e-14)
        assert further_scores(None, TEST, WithRows(), predicted) == {
            "test_least": pytest.approx(mean.min(), rel=1e-14)
        }
        by_document = np.exp(-predicted.log_of_groups[[0, 2]].sum() / 6)
        assert scores["test_perplexity_by_document"] == pytest.approx(by_document, rel=1e-13)
        # (iteration, row) the word that training has
        of_second = ROWS[1 : iteration + 1, :, 1] if iteration else ROWS[:1, :, 1]
        seen = np.log([of_second[:, 0].mean(), 1.0, (of_second[:, 1] ** 3).mean()])
        assert predicted.log_of_seen == pytest.approx(seen, rel=1e-13, abs=1e-15)
    assert asked == [[0, 2]] * 4


def test_the_averaged_rows_come_back_from_a_checkpoint_with_their_bits(tmp_path):
    engine = get_engine("cgs")
    state = engine.state(*(np.zeros(2) for _ in engine.state._fields))
    for words in (ROWS[0], None):
        average = Average(
            PROBABILITIES[0], 3, np.zeros(3), -1.5, words, None if words is None else np.arange(3.0)
        )
        write_checkpoint(tmp_path / "checkpoint.npz", Position(3, state, average, 1.0, 1.0, 5))
        found = read_checkpoint(tmp_path / "checkpoint.npz", engine).average
        assert found.words is None if words is None else np.array_equal(found.words, words)
        assert (
            found.log_of_seen is None
            if words is None
            else np.array_equal(found.log_of_seen, np.arange(3.0))
        )
        assert found.log_of_all == -1.5


def test_rows_of_a_sequence_are_averaged_together():
    sequence = [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    test = Corpus.from_pairs(
        [0, 2, 3], [0, 1, 1], [1, 1, 1], n_documents=4, n_words=2, sequence=sequence
    )
    assert test.groups.tolist() == [0, 0, 1]
    average = initial_average(test)
    for probability in PROBABILITIES[:2]:
        engine = SimpleNamespace(
            predict=lambda *given, p=probability: p, samples=lambda *given: True, predict_rows=None
        )
        average, scores, _ = score(engine, None, test, LDA(2, 1.0, 1.0), None, None, average, True)
    each = PROBABILITIES[:2]
    wanted = np.log((each[:, 0] * each[:, 1]).mean()) + np.log(each[:, 2].mean())
    assert scores["test_perplexity_by_document"] == pytest.approx(np.exp(-wanted / 3), rel=1e-13)


def test_scores_of_a_family_are_recorded_with_their_unit_and_what_is_better(monkeypatch):
    """A score is declared once, by the model's class, and found in the Dataset of a run."""
    mean = Variable(
        "test_mean_log",
        ("iteration",),
        "nats",
        "mean log probability of a held-out pair",
        better="higher",
    )
    compute = lambda train, test, predicted: {"test_mean_log": np.log(predicted.probability).mean()}  # noqa: E731
    monkeypatch.setattr(LDA, "scores", (Scores((mean,), compute),), raising=False)
    corpus, _ = LDA(2, 0.3, 0.2).simulate(10, 20, 25, 3)
    train, test = wb.hold_out_tokens(corpus, 0.2)
    run, alone = (
        wb.fit(train, engine="cgs", n_topics=2, n_iterations=4, burn_in=1, test=part)
        for part in (test, None)
    )
    assert run["test_mean_log"].attrs == {
        "long_name": mean.meaning,
        "units": "nats",
        "better": "higher",
    }
    assert np.isfinite(run["test_mean_log"].values).all()
    table = summary([run])
    assert float(table["test_mean_log"][0]) == run["test_mean_log"].values[-1]
    assert table["test_mean_log"].attrs == run["test_mean_log"].attrs
    assert "test_mean_log" not in alone


# ---------------------------------------------------------------------- a run whose test set is whole rows


@pytest.fixture
def years():
    """Thirty documents of eight tokens, ten years of three sequences."""
    rows, words = np.repeat(np.arange(30), 8), np.random.default_rng(0).integers(0, 12, 240)
    return wb.Corpus.from_pairs(
        rows,
        words,
        np.ones(240, int),
        n_documents=30,
        inputs={"year": 1990 + np.arange(30) % 10},
        sequence=[(f"s{row % 3}", row) for row in range(30)],
        name="years",
    )


@pytest.mark.parametrize(
    ("rows", "n_rows", "words", "asked"),
    [
        (
            {"by": "year", "at_least": 1998},
            6,
            "whole documents held out by year: from 1998 on",
            "'year>=1998'",
        ),
        ({"n_rows": 3}, 9, "the last 3 documents of each sequence held out", "'last 3'"),
    ],
)
def test_whole_rows_are_scored_stored_and_described(tmp_path, years, rows, n_rows, words, asked):
    train, test, split = wb.prepare(years, rows=rows)
    assert test.n_tokens == 8 * n_rows
    ds = wb.fit(
        train, "cgs", 2, test=test, split=split, n_iterations=12, store=tmp_path, progress=False
    )
    assert 5 < float(ds.test_perplexity[-1]) < 20  # 12 words, uniform
    run = wb.open_runs(tmp_path)[0]
    for part, content_hash in ((train, run.spec.train), (test, run.spec.test)):
        found = get_corpus(tmp_path, content_hash)
        assert np.array_equal(found.inputs, part.inputs) and found.sequence == part.sequence
    assert run.spec.split == {"rows": rows} and split_in_words(run.spec.split) == words
    assert (
        f"--holdout-rows {asked}" in command_of(run.spec)
        and parse_rows(asked.strip("'"), years) == rows
    )
    assert not any("ready-made" in note for note in missing_in_commands([run.spec]))


def test_rows_are_asked_for_in_words(years):
    assert parse_rows(" last  3 ", years) == {"n_rows": 3}
    assert parse_rows("year >= 1998.5", years) == {"by": "year", "at_least": 1998.5}
    assert parse_rows("year=1990, 1995", years) == {"by": "year", "values": [1990, 1995]}
    assert parse_rows("sequence=s1", years) == {"by": "sequence", "values": ["s1"]}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("first 3", "are written 'last 10', 'year>=2012' or 'year=2012,2013'"),
        ("last 10", "no sequence of 'years' is longer"),
        ("place>=3", "has no input and no field 'place'"),
        ("year=2050", "no document of 'years' has '2050' as its 'year'"),
        ("year>=2050", "have no token; hold out others"),
        ("sequence>=3", "cannot be compared with 3"),
    ],
)
def test_rows_that_cannot_be_held_out_are_refused_in_a_sentence(years, asked, said):
    with pytest.raises(CorpusError, match=said):
        wb.prepare(years, rows=asked)


def test_a_corpus_says_which_rows_are_held_out_unless_others_are_asked_for(years):
    own = replace(years, held_out_rows="year>=1998")
    assert own.content_hash == years.content_hash
    assert wb.prepare(own)[2] == {"rows": {"by": "year", "at_least": 1998}}
    assert wb.prepare(own, rows="last 2")[2] == {"rows": {"n_rows": 2}}
    assert wb.prepare(own, rows="none")[2] == {"fraction": 0.1, "seed": 0, "per": "corpus"}
    assert wb.prepare(own, holdout=0)[1] is None


def test_a_model_of_whole_rows_refuses_rows_with_counts_in_training_and_test(years, monkeypatch):
    monkeypatch.setattr(LDA, "whole_rows", True)
    train, test, _ = wb.prepare(years, rows="year>=1998")
    assert make_spec(train, "cgs", 2, test=test).test == test.content_hash
    train, test, _ = wb.prepare(years)
    with pytest.raises(
        SpecError,
        match=r"cgs predicts whole rows, and \d+ row\(s\), as 'document \d+', have counts",
    ):
        make_spec(train, "cgs", 2, test=test)
