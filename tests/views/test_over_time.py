"""Pictures of topics over the years, without pixels."""

from dataclasses import replace

import numpy as np
import pytest
from toys import dated, simulated

import workbench as wb
from workbench.report.drawing import draw
from workbench.views.every import draw_view, pictures
from workbench.views.over_time import (
    changing_words,
    moving_topics,
    order_by_mean_year,
    spaced_ticks,
    spread_out_heights,
)

pytest.importorskip("holoviews")


@pytest.fixture(scope="module")
def runs():
    corpus = dated(simulated(20, 15, 30))
    return [
        wb.fit(corpus, engine, 3, n_iterations=3, progress=False)
        for engine in ("sb-dtm", "sb-ctm-lds")
    ]


def test_rising_sorts_topics_by_mean_year():
    shares = np.array([[0.1, np.nan, 0.6], [0.8, np.nan, 0.1], [0.1, np.nan, 0.3]])
    assert order_by_mean_year(shares).tolist() == [1, 2, 0]


def test_changing_returns_the_words_with_the_widest_range_by_final_probability():
    phi = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.3, 0.2, 0.4]])
    assert changing_words(phi, 2).tolist() == [3, 0]


def test_spread_separates_texts():
    result = spread_out_heights(np.array([0.5, 0.48, 0.47, 0.1]), 0.05)
    assert result == pytest.approx([0.57, 0.52, 0.47, 0.1])


def test_spaced_returns_a_few_years():
    assert spaced_ticks(np.arange(1987, 2000)) == [1987, 1990, 1993, 1996, 1999] and spaced_ticks(
        np.array([1990])
    ) == [1990]


def test_runs_over_time_have_both_pictures_and_others_have_none(runs):
    others = wb.fit(simulated(), "cgs", 3, n_iterations=2, progress=False)
    result = {picture.name: picture for picture in pictures(runs)}
    shares, words = result["prevalence-by-year"], result["words-by-year"]
    # years, one of them empty, and topics
    assert len(shares.panels) == 2 and len(shares.rows) == 2 * 4 * 3
    assert len(words.panels) == 3 and len(words.rows) == 3 * 6 * 4  # topics, words, years
    assert {"prevalence-by-year", "words-by-year"}.isdisjoint(
        picture.name for picture in pictures([others])
    )
    (mesh,) = shares.panels[0]
    assert np.isnan(mesh["prevalence"]).sum() == 3  # a year without a document


def test_moving_topics_are_weighted_by_tokens(runs):
    result = runs[0]["phi_by_time"].isel(snapshot=-1).transpose("time", "topic", "word").values
    moved = np.abs(result[-1] - result[0]).sum(axis=1) * runs[0]["n_k"][-1].values
    assert moving_topics(runs[0], 2) == np.argsort(-moved)[:2].tolist()


def test_pictures_of_one_year_can_be_drawn():
    corpus = dated(simulated(20, 15, 30))
    # names of axes
    corpus = replace(
        corpus.of_documents(range(0, 20, 3)), vocabulary=("time", "p", *corpus.vocabulary[2:])
    )
    runs = [
        wb.fit(corpus, engine, 2, n_iterations=2, progress=False)
        for engine in ("sb-dtm", "sb-ctm-lds")
    ]
    for name in ("prevalence-by-year", "words-by-year"):
        for picture in draw_view(name, runs):
            assert draw(picture.panels, 2, ("svg",), legend=False, height=picture.height)["svg"]
