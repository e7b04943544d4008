"""Saliency and distinctiveness against sums written out."""

import math

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up, tiny_comparison, tiny_run, with_topics

from workbench.measures import MeasureError, saliency, salient_words


def two_topics() -> xr.Dataset:
    """2 topics of 6 and 2 tokens, 3 words of 5, 3 and 0 tokens, with phi in round numbers."""
    counts = {
        "phi": (("topic", "word"), [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]),
        "n_kw": (("snapshot", "topic", "word"), [[[4.75, 1.25, 0], [0.25, 1.75, 0]]]),
    }
    run = made_up("cgs", [1]).assign(counts)
    return run.assign_coords(word=np.array(["left", "right", "unused"], dtype=object))


def test_saliency_equals_the_sums_of_chuang_manning_and_heer():
    result = saliency(two_topics())
    of_topics, of_words = [0.75, 0.25], [5 / 8, 3 / 8, 0]
    phi = two_topics()["phi"].values
    for word in range(3):
        joint = [of_topics[k] * phi[k, word] for k in range(2)]
        given = [part / sum(joint) for part in joint]
        distinct = sum(p * math.log(p / whole) for p, whole in zip(given, of_topics, strict=True))
        assert result["distinctiveness"].values[word] == pytest.approx(distinct, abs=1e-12)
        assert result["saliency"].values[word] == pytest.approx(
            of_words[word] * distinct, abs=1e-12
        )
    np.testing.assert_allclose(result["share"], of_words)


def test_distinctiveness_is_0_for_a_word_that_is_independent_of_topics():
    assert saliency(two_topics())["distinctiveness"].values[2] == pytest.approx(0, abs=1e-15)


def test_a_word_without_a_training_token_is_not_salient():
    run = two_topics()
    run["phi"] = (("topic", "word"), [[0.5, 0.1, 0.4], [0.1, 0.8, 0.1]])
    result = saliency(run)
    assert result["distinctiveness"].values[2] > 0.01 and result["saliency"].values[2] == 0


def test_with_one_topic_nothing_is_salient():
    result = saliency(with_topics(1))
    np.testing.assert_allclose(result["saliency"], 0, atol=1e-15)


def test_salient_words_are_sorted_and_have_all_variables():
    run = tiny_run()
    result, every = salient_words(run, 4), saliency(run)
    assert result["rank"].values.tolist() == [1, 2, 3, 4]
    order = sorted(range(20), key=lambda word: -every["saliency"].values[word])[:4]
    assert result["word"].values.tolist() == [run["word"].values[word] for word in order]
    np.testing.assert_array_equal(result["distinctiveness"], every["distinctiveness"].values[order])
    assert salient_words(run, 100).sizes["rank"] == 20


def test_wrong_input_gets_one_sentence():
    with pytest.raises(
        MeasureError, match="the number of words must be a whole number of at least 1; got 0"
    ):
        salient_words(tiny_run(), 0)
    with pytest.raises(MeasureError, match="has no phi"):
        saliency(tiny_comparison())
