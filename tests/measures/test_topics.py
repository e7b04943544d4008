"""Top words and topic sizes against plain sorting."""

import numpy as np
import pytest
from comparisons import tiny_comparison, tiny_run

from workbench.measures import MeasureError, top_words, topic_sizes, topic_words


def test_top_words_are_the_most_probable_ones_in_order():
    run = tiny_run("cgs")
    found = top_words(run, 5)
    assert dict(found.sizes) == {"topic": 4, "rank": 5}
    for topic in range(4):
        order = sorted(range(20), key=lambda word, topic=topic: -run["phi"].values[topic, word])[:5]
        assert found["word"].values[topic].tolist() == [run["word"].values[word] for word in order]
        assert found["phi"].values[topic].tolist() == sorted(run["phi"].values[topic], reverse=True)[:5]


def test_more_words_than_there_are_is_all_of_them():
    assert top_words(tiny_run(), 1000).sizes["rank"] == 20


def test_sizes_are_those_of_the_last_snapshot_and_sum_to_the_corpus():
    sizes = topic_sizes(tiny_run("cgs"))
    assert sizes["n_k"].values.tolist() == tiny_run("cgs")["n_k"].values[-1].tolist()
    assert sizes["n_k"].sum() == 144  # 180 tokens without a fifth
    assert sizes["share"].sum() == pytest.approx(1, abs=1e-12)


def test_lines_of_words_come_largest_first_under_their_own_numbers():
    lines = topic_words(tiny_run(), 3)
    assert (np.diff(lines["share"].values) <= 0).all()
    first = int(lines["topic"].values[0])
    assert lines.values[0] == " ".join(top_words(tiny_run(), 3)["word"].sel(topic=first).values)


def test_a_comparison_has_no_words_and_says_where_they_are():
    with pytest.raises(MeasureError, match="holds no phi.*open the run itself"):
        top_words(tiny_comparison())
    with pytest.raises(MeasureError, match="at least 1; got 0"):
        top_words(tiny_run(), 0)
