"""Pictures of topics over the years, without pixels."""

from dataclasses import replace

import numpy as np
import pytest
from toys import dated, simulated

import workbench as wb
from workbench.report.drawing import draw
from workbench.views.every import draw_view, pictures
from workbench.views.over_time import changing, moving_topics, rising, spaced, spread

pytest.importorskip("holoviews")


@pytest.fixture(scope="module")
def runs():
    corpus = dated(simulated(20, 15, 30))
    return [
        wb.fit(corpus, engine, 3, n_iterations=3, progress=False)
        for engine in ("sb-dtm", "sb-ctm-lds")
    ]


def test_topics_stand_from_those_that_go_to_those_that_come():
    shares = np.array([[0.1, np.nan, 0.6], [0.8, np.nan, 0.1], [0.1, np.nan, 0.3]])
    assert rising(shares).tolist() == [1, 2, 0]


def test_the_words_that_change_most_are_found_and_the_last_ones_stand_highest():
    phi = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.3, 0.2, 0.4]])
    assert changing(phi, 2).tolist() == [3, 0]


def test_texts_beside_curves_are_apart():
    found = spread(np.array([0.5, 0.48, 0.47, 0.1]), 0.05)
    assert found == pytest.approx([0.57, 0.52, 0.47, 0.1])


def test_an_axis_names_a_few_years():
    assert spaced(np.arange(1987, 2000)) == [1987, 1990, 1993, 1996, 1999] and spaced(
        np.array([1990])
    ) == [1990]


def test_runs_over_time_have_both_pictures_and_others_have_none(runs):
    others = wb.fit(simulated(), "cgs", 3, n_iterations=2, progress=False)
    found = {picture.name: picture for picture in pictures(runs)}
    shares, words = found["prevalence-by-year"], found["words-by-year"]
    # years, one of them empty, and topics
    assert len(shares.panels) == 2 and len(shares.rows) == 2 * 4 * 3
    assert len(words.panels) == 3 and len(words.rows) == 3 * 6 * 4  # topics, words, years
    assert {"prevalence-by-year", "words-by-year"}.isdisjoint(
        picture.name for picture in pictures([others])
    )
    (mesh,) = shares.panels[0]
    assert np.isnan(mesh["prevalence"]).sum() == 3  # a year without a document


def test_the_topics_of_words_are_those_that_move_most_by_their_tokens(runs):
    found = runs[0]["phi_by_time"].isel(snapshot=-1).transpose("time", "topic", "word").values
    moved = np.abs(found[-1] - found[0]).sum(axis=1) * runs[0]["n_k"][-1].values
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
