"""A family on a corpus with inputs, whose test set is a year that was held out."""

import numpy as np
import pytest

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import ENGINES

ENGINE = "trend-ascent"


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(ENGINES, ENGINE, "families.trend_ascent")


@pytest.fixture(scope="session")
def years() -> Corpus:
    """Sixty documents of 2000 to 2011; the first of four words gives way to the last."""
    random, year = np.random.default_rng(0), np.repeat(np.arange(2000.0, 2012.0), 5)
    shares = np.exp(np.outer((year - 2000) / 12, [-2.0, 0, 0, 2.0]))
    counts = np.array([random.multinomial(60, row / row.sum()) for row in shares])
    documents, words = np.nonzero(counts)
    return Corpus.from_pairs(
        documents, words, counts[documents, words], inputs={"year": year}, name="years"
    )


def test_a_year_that_was_held_out_is_predicted_better_by_the_trend_than_by_the_other_years(
    years, tmp_path
):
    train, test = wb.hold_out_rows(years, "year", at_least=2011)
    ds = wb.fit(train, ENGINE, test=test, n_iterations=200, store=tmp_path, progress=False)
    shares = np.bincount(train.words, train.counts) / train.n_tokens
    without_trend = np.exp(-(test.counts @ np.log(shares[test.words])) / test.n_tokens)
    assert test.n_tokens == 300 and float(ds.test_perplexity[-1]) < 0.9 * without_trend
    assert np.argsort(ds.slope.values[-1])[[0, -1]].tolist() == [0, 3]
    assert "topic" not in ds.dims and ds.word_share.dims == ("time", "word")
