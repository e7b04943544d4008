"""Pictures of topics without pixels: which words, bars and numbers the elements hold."""

import numpy as np
import pytest
from comparisons import made_up, tiny_run, with_topics

from workbench.measures import MeasureError
from workbench.report.drawing import draw
from workbench.views import topic_words_view
from workbench.views.topics import MOST_LETTERS, words_height

hv = pytest.importorskip("holoviews")


def parts(view) -> tuple:
    """(bars, headings, words, probabilities), each an array with a row an item."""
    return tuple(element.array() for element in view)


def test_chosen_topics_come_in_the_order_asked_for():
    headings = [
        str(text) for text in parts(topic_words_view(tiny_run("cgs"), topics=[2, 0]))[1][:, 2]
    ]
    assert [text.split(" · ")[0] for text in headings] == ["topic 2", "topic 0"]


def test_a_long_word_is_cut_where_it_would_run_over():
    run = tiny_run("cgs").copy()
    run = run.assign_coords(
        word=("word", np.array([f"$\\alpha$ {'x' * 40}{n}" for n in range(20)], dtype=object))
    )
    words = [str(word) for word in parts(topic_words_view(run))[2][:, 2]]
    assert all(len(word) == MOST_LETTERS and word.endswith("…") for word in words)
    # and a dollar sign is only a dollar sign
    draw([topic_words_view(run)], 2, ("svg",), False, 2.0)


@pytest.mark.parametrize("n_topics", [1, pytest.param(40, marks=pytest.mark.slow)])
def test_one_topic_and_forty_topics_are_drawn(n_topics):
    run = with_topics(n_topics)
    view = topic_words_view(run, 6)
    assert len(parts(view)[1]) == n_topics and len(parts(view)[2]) == 6 * n_topics
    height = words_height(n_topics, 6)
    assert draw([view], 2, ("svg",), False, height)["svg"].startswith(b"<?xml")


def test_topic_words_view_has_no_overlapping_texts():
    places = [
        tuple(row[:2]) for part in parts(topic_words_view(with_topics(40), 6))[1:] for row in part
    ]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: topic_words_view(made_up("cgs", [3])), "has no phi.*before its first snapshot"),
        (lambda: topic_words_view(tiny_run(), topics=[9]), "topics are from 0 to 3; got 9"),
        (lambda: topic_words_view(tiny_run(), topics=[]), "topics are from 0 to 3; got none"),
        (lambda: topic_words_view(tiny_run(), 0), "at least 1; got 0"),
        (lambda: topic_words_view(tiny_run(), relevance=2), "relevance must be a number from 0"),
        (lambda: topic_words_view([tiny_run("cgs"), tiny_run("svb")]), "wanted one run; got 2"),
    ],
)
def test_wrong_input_gets_one_sentence(call, message):
    with pytest.raises(MeasureError, match=message):
        call()
