"""A run whose test set is whole rows: a held-out year, the ends of sequences."""

import numpy as np
import pytest

import workbench as wb
from workbench.corpus import split_in_words
from workbench.report.commands import command_of, unsaid
from workbench.runs.store.archive import get_corpus


@pytest.fixture
def years():
    """Thirty documents of eight tokens, ten years of three sequences."""
    rows, words = np.repeat(np.arange(30), 8), np.random.default_rng(0).integers(0, 12, 240)
    return wb.Corpus.from_pairs(
        rows, words, np.ones(240, int), n_documents=30, inputs={"year": 1990 + np.arange(30) % 10},
        sequence=[(f"s{row % 3}", row) for row in range(30)], name="years",
    )


@pytest.mark.parametrize(
    ("rows", "n_rows", "words"),
    [
        ({"by": "year", "at_least": 1998}, 6, "whole documents held out by year: from 1998 on"),
        ({"n_rows": 3}, 9, "the last 3 documents of each sequence held out"),
    ],
)
def test_whole_rows_are_scored_stored_and_described(tmp_path, years, rows, n_rows, words):
    train, test, split = wb.prepare(years, rows=rows)
    assert test.n_tokens == 8 * n_rows
    ds = wb.fit(train, "cgs", 2, test=test, split=split, n_iterations=12, store=tmp_path, progress=False)
    assert 5 < float(ds.test_perplexity[-1]) < 20  # 12 words, uniform
    run = wb.open_runs(tmp_path)[0]
    for part, content_hash in ((train, run.spec.train), (test, run.spec.test)):
        found = get_corpus(tmp_path, content_hash)
        assert np.array_equal(found.inputs, part.inputs) and found.sequence == part.sequence
    assert run.spec.split == {"rows": rows} and split_in_words(run.spec.split) == words
    assert "--holdout" not in command_of(run.spec)
    assert unsaid([run.spec])[0] == "A test set was handed over ready-made; the command draws one of its own."
