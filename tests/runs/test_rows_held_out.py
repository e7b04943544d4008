"""A run whose test set is whole rows: a held-out year, the ends of sequences."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.corpus import CorpusError, split_in_words
from workbench.corpus.splits import asked_rows
from workbench.models import LDA
from workbench.report.commands import command_of, missing_in_commands
from workbench.runs.spec import SpecError, make_spec
from workbench.runs.store.archive import get_corpus


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
        and asked_rows(asked.strip("'"), years) == rows
    )
    assert not any("ready-made" in note for note in missing_in_commands([run.spec]))


def test_rows_are_asked_for_in_words(years):
    assert asked_rows(" last  3 ", years) == {"n_rows": 3}
    assert asked_rows("year >= 1998.5", years) == {"by": "year", "at_least": 1998.5}
    assert asked_rows("year=1990, 1995", years) == {"by": "year", "values": [1990, 1995]}
    assert asked_rows("sequence=s1", years) == {"by": "sequence", "values": ["s1"]}


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
