"""Pictures of sequences: hidden states, loadings, text and gains, without pixels."""

from itertools import pairwise

import numpy as np
import pytest
import xarray as xr
from views.test_rows_with_inputs import drawn

import workbench as wb
from workbench.corpus import hold_out_ends
from workbench.measures import MeasureError, spec_of
from workbench.measures.rows import _linear, _markov, next_words, sequences_of
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.views.every import draw_view, pictures
from workbench.views.hidden_states import state_probability_view
from workbench.views.loadings import readable_words, words_with_positions
from workbench.views.running_text import MOST_LINES, lines_of

pytest.importorskip("holoviews")

WORDS = ("a", "b", "c", "d")


def sequences(length: int = 30, vocabulary=WORDS) -> wb.Corpus:
    """Two sequences of one word in each row, the second backwards in the corpus."""
    rng = np.random.default_rng(0)
    where = [("one", t) for t in range(length)] + [("two", t) for t in range(length)[::-1]]
    words = rng.integers(0, len(vocabulary), len(where))
    ones = np.ones(len(where), int)
    return wb.Corpus.from_pairs(
        range(len(where)), words, ones, vocabulary=vocabulary, sequence=where, name="s"
    )


@pytest.fixture(scope="module")
def corpora():
    """The training and the test corpus by their hashes."""
    return {corpus.content_hash: corpus for corpus in hold_out_ends(sequences(), 5)}


@pytest.fixture(scope="module")
def runs(corpora):
    train, test = corpora.values()
    about = {"test": test, "n_iterations": 4, "burn_in": 1, "progress": False}
    return [
        wb.fit(train, "hmm", options={"n_states": 3}, **about),
        wb.fit(train, "sbm-lds", options={"state_dim": 2}, **about),
    ]


def test_rows_of_a_sequence_stand_in_the_order_of_their_positions(runs):
    result = sequences_of(runs[0])
    assert list(result) == ["one", "two"] and result["two"].tolist() == list(range(30, 60))[::-1]


def test_next_words_of_a_markov_chain_multiply_to_the_sum_over_all_paths():
    rng = np.random.default_rng(1)
    first, moves, words = (
        rng.dirichlet(np.ones(2)),
        rng.dirichlet(np.ones(2), 2),
        rng.dirichlet(np.ones(3), 2),
    )
    run = xr.Dataset(
        {
            "first_state": ("s", first),
            "transitions": (("s", "t"), moves),
            "emissions": (("s", "w"), words),
        }
    )
    came, total = np.array([2, 0, -1, 1]), 0.0  # the third row has no word
    for path in np.ndindex(2, 2, 2, 2):
        p = first[path[0]] * np.prod([moves[a, b] for a, b in pairwise(path)])
        total += p * np.prod(
            [words[state, word] for state, word in zip(path, came, strict=True) if word >= 0]
        )
    result = list(_markov(run, came, 0))
    assert np.prod(
        [each[word] for each, word in zip(result, came, strict=True) if word >= 0]
    ) == pytest.approx(total, rel=1e-12)
    assert np.sum(result, axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize(("dim", "n_rows"), [("stick", 2), ("component", 3)])
def test_next_words_of_a_linear_system_without_loadings_follow_its_offset(dim, n_rows):
    """States then have no effect: each word has the probability that the offset gives it, in the order of the stick."""
    p, order = np.array([0.5, 0.3, 0.2]), np.array([2, 0, 1])
    offset = np.log(p) if dim == "component" else np.log([0.5 / 0.5, 0.3 / 0.2])
    run = xr.Dataset(
        {
            "loadings": ((dim, "d"), np.zeros((n_rows, 2))),
            "offset": (dim, offset),
            "stick_words": ("word", order),
            "system": (("d", "e"), np.eye(2)),
            "system_noise": (("d", "e"), np.eye(2)),
        }
    )
    for expected in _linear(run, np.array([0, 1, 2, -1, 0]), 0):
        assert expected[order] == pytest.approx(p)


def test_next_words_do_not_depend_on_the_first_row_shown(runs, corpora):
    for run in runs:
        whole, later = (next_words(run, "two", list(corpora.values()), first) for first in (0, 20))
        assert (
            later.probability == pytest.approx(whole.probability[20:])
            and later.rows.tolist() == whole.rows[20:].tolist()
        )
        assert whole.held_out.tolist() == [False] * 25 + [True] * 5


def test_an_unknown_sequence_and_rows_of_many_words_are_refused(runs, corpora):
    with pytest.raises(MeasureError, match="sequence must be one of one, two"):
        next_words(runs[0], "three", list(corpora.values()))
    many = wb.Corpus.from_pairs(range(60), [0] * 60, [2] * 60, vocabulary=WORDS)
    with pytest.raises(MeasureError, match="several words each"):
        next_words(runs[0], "one", [many])


def test_each_model_has_its_own_pictures(runs, corpora):
    own = {"hidden-paths", "state-probabilities", "loadings", "text", "sequence-gains"}
    result = [{picture.name for picture in pictures([run], corpora=corpora)} & own for run in runs]
    assert result == [{"state-probabilities", "text"}, {"hidden-paths", "loadings", "text"}]


def test_draw_paths_has_bands_and_the_start_of_forecasts(runs, corpora):
    (picture,) = draw_view("hidden-paths", [runs[1]], corpora=corpora, sequence="two")
    assert len(picture.panels) == 2 and len(picture.rows) == 60
    assert len(picture.panels[0]) == 3 and drawn(picture)
    without = next(iter(draw_view("hidden-paths", [runs[1]])))
    assert len(without.panels[0]) == 2, "nobody knows what was held out"


def test_cells_of_long_sequences_are_means_of_several_positions():
    chances = np.stack([np.arange(900) / 900, 1 - np.arange(900) / 900], axis=1)
    (mesh,) = state_probability_view(np.arange(900), chances, ["0", "1"])
    values = mesh.dimension_values("p", flat=False)
    assert values.shape == (2, 300) and values.sum(axis=0) == pytest.approx(1.0)


def test_placed_words_are_invariant_to_rotations_of_the_states(runs):
    run = runs[1]
    turn = np.array([[0.6, -0.8], [1.6, 1.2]])
    turned = run.assign(
        loadings=(run["loadings"].dims, run["loadings"].values @ np.linalg.inv(turn)),
        states=(run["states"].dims, run["states"].values @ turn.T),
    )
    names, places, shares = words_with_positions(run)
    others = words_with_positions(turned)
    assert (
        names == others[0]
        and np.abs(places) == pytest.approx(np.abs(others[1]))
        and shares == pytest.approx(others[2])
    )
    assert names == [WORDS[word] for word in run["stick_words"].values[:3]], (
        "the last word on the stick has no place"
    )


def test_readable_leaves_out_overlapping_names():
    places = np.array([[0.5, 0.5], [0.49, 0.5], [0.1, 0.1]])
    assert readable_words(["long name", "other", "far"], places) == [0, 2]


def test_lines_of_breaks_words_into_lines():
    assert lines_of(["ab", "cde", "f"], 6) == [(0, 0, 2), (0, 3, 6), (1, 0, 1)]
    assert lines_of(["a", "b", "c"], 2) == [(0, 0, 1), (0, 1, 2), (1, 0, 1)], (
        "letters stand side by side"
    )
    assert (
        lines_of(["abcdefgh"], 4) == [(0, 0, 4)]
        and lines_of(["a"] * 100, 2)[-1][0] == MOST_LINES - 1
    )


def test_draw_text_has_hover_texts_with_the_expected_words(runs, corpora):
    both = draw_view("text", runs, corpora=corpora, sequence="one", first=10)
    assert [picture.name for picture in both] == ["text-hmm-n-states3", "text-sbm-lds-state-dim2"]
    for picture in both:
        svg = drawn(picture)
        assert svg.count("<title>") == len(picture.rows) == 20 and "expected:" in svg
        assert [row[-3] for row in picture.rows] == [0] * 15 + [1] * 5
    assert draw_view("text", runs) == [], "without the corpora there are no words"


def test_gains_are_drawn_as_bars_of_both_bases(runs, corpora):
    test = list(corpora.values())[1]
    scored = {
        spec_of(run).hash: Scored(np.log(0.5) * test.document_tokens, test.document_tokens, 4, 3)
        for run in runs
    }
    (picture,) = (
        one
        for one in pictures(runs, corpora=corpora, scored=scored)
        if one.name == "sequence-gains"
    )
    assert len(picture.panels) == 2 and len(picture.rows) == 4 and drawn(picture)
    assert [part.__class__.__name__ for part in picture.panels[0]] == [
        "Curve",
        "Rectangles",
    ] * 2 + ["HLine"]
