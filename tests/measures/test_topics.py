"""Top words and topic sizes against plain sorting; saliency, coherence and diversity against sums written out."""

import math
from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from comparisons import made_up, tiny_comparison, tiny_corpus, tiny_run, with_phi, with_topics

import workbench as wb
from workbench.measures import (
    MeasureError,
    coherence,
    diversity,
    saliency,
    salient_words,
    top_words,
    topic_sizes,
    topic_words,
)


def test_top_words_are_the_most_probable_ones_in_order():
    run = tiny_run("cgs")
    result = top_words(run, 5)
    assert dict(result.sizes) == {"topic": 4, "rank": 5}
    for topic in range(4):
        order = sorted(range(20), key=lambda word, topic=topic: -run["phi"].values[topic, word])[:5]
        assert result["word"].values[topic].tolist() == [run["word"].values[word] for word in order]
        assert (
            result["phi"].values[topic].tolist()
            == sorted(run["phi"].values[topic], reverse=True)[:5]
        )


def test_top_words_returns_all_words_if_n_is_larger():
    assert top_words(tiny_run(), 1000).sizes["rank"] == 20


def test_sizes_are_those_of_the_last_snapshot_and_sum_to_the_corpus():
    sizes = topic_sizes(tiny_run("cgs"))
    assert sizes["n_k"].values.tolist() == tiny_run("cgs")["n_k"].values[-1].tolist()
    assert sizes["n_k"].sum() == 144  # 180 tokens without a fifth
    assert sizes["share"].sum() == pytest.approx(1, abs=1e-12)


def test_topic_words_are_largest_first_with_topic_numbers_of_the_run():
    lines = topic_words(tiny_run(), 3)
    assert (np.diff(lines["share"].values) <= 0).all()
    first = int(lines["topic"].values[0])
    assert lines.values[0] == " ".join(top_words(tiny_run(), 3)["word"].sel(topic=first).values)


def three_words() -> xr.Dataset:
    """2 topics, 3 words of 8, 1 and 0 tokens, with phi in round numbers."""
    return xr.Dataset(
        {
            "phi": (("topic", "word"), [[0.6, 0.1, 0.3], [0.6, 0.35, 0.05]]),
            "n_kw": (("snapshot", "topic", "word"), [[[5.0, 0.25, 0], [3.0, 0.75, 0]]]),
        },
        {"topic": [0, 1], "word": np.array(["often", "once", "never"], dtype=object)},
    )


def test_relevance_weighs_probability_against_lift():
    run = three_words()
    for weight in (0.3, 0.6, 0.9):
        share = np.array([8, 1]) / 9
        by_hand = [
            weight * np.log(phi) + (1 - weight) * np.log(phi / share)
            for phi in run["phi"].values[:, :2]
        ]
        first = [["often", "once"][int(np.argmax(row))] for row in by_hand]
        assert top_words(run, 1, weight)["word"].values[:, 0].tolist() == first
    # topic 1: lift of "once" 0.35 * 9 = 3.15, of "often" 0.675; so it leads once lambda is below 1 - log(.6/.35) / log(8) = .74
    assert (
        top_words(run, 1, 0.73)["word"].values[1, 0] == "once"
        and top_words(run, 1, 0.75)["word"].values[1, 0] == "often"
    )
    np.testing.assert_array_equal(top_words(run, 3, 0.73)["phi"].values[1], [0.35, 0.6, 0.05])
    assert top_words(run, 3, 0.73).attrs["relevance"] == 0.73


def test_a_relevance_of_one_is_plain_probability():
    run = tiny_run("cgs")
    assert top_words(run, 5).identical(top_words(run, 5, 1.0))
    assert topic_words(run, 5, 1).attrs["long_name"] == "top 5 words by phi"


def test_words_that_are_in_no_training_token_come_last_below_one():
    assert top_words(three_words(), 3)["word"].values[0].tolist() == ["often", "never", "once"]
    for relevance in (0, 0.9, 0.999):
        assert top_words(three_words(), 3, relevance)["word"].values[:, 2].tolist() == [
            "never",
            "never",
        ]


# ---------------------------------------------------------------------- saliency and distinctiveness against sums written out


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


# ---------------------------------------------------------------------- coherence and diversity

E = 1e-12


def documents_of(corpus: wb.Corpus) -> list[set[str]]:
    """The words of each document, empty ones left out."""
    every = [
        {corpus.vocabulary[w] for w in corpus.words[a:b]}
        for a, b in zip(corpus.indptr, corpus.indptr[1:], strict=False)
    ]
    return [words for words in every if words]


def by_hand(words: list[str], documents: list[set[str]]) -> tuple[float, float, float]:
    """u_mass, npmi and c_v by going through the documents."""

    def n(*expected):
        return sum(set(expected) <= document for document in documents)

    def npmi(v, w):
        both, one, other = (count / len(documents) for count in (n(v, w), n(v), n(w)))
        return math.log((both + E) / (one * other)) / -math.log(both + E) if both < 1 else 0.0

    u_mass = [
        math.log((n(later, earlier) + 1) / n(earlier)) for earlier, later in combinations(words, 2)
    ]
    of_pairs = [npmi(v, w) for v, w in combinations(words, 2)]
    vectors = np.array([[npmi(v, w) for w in words] for v in words])
    total = vectors.sum(axis=0)
    cosines = [
        vector @ total / np.linalg.norm(vector) / np.linalg.norm(total) for vector in vectors
    ]
    return float(np.mean(u_mass)), float(np.mean(of_pairs)), float(np.mean(cosines))


def test_coherences_equal_plain_loops_over_the_formulas_of_the_papers():
    run, corpus = tiny_run("cgs"), tiny_corpus()
    result, words = coherence(run, corpus, 6), top_words(run, 6)["word"]
    for topic in range(4):
        actual = [float(result[name][topic]) for name in ("u_mass", "npmi", "c_v")]
        np.testing.assert_allclose(
            actual, by_hand(words.values[topic].tolist(), documents_of(corpus)), rtol=1e-9
        )
    for name in ("u_mass", "npmi", "c_v"):
        assert result.attrs[f"mean_{name}"] == pytest.approx(float(result[name].mean()))


def toy():
    """Five documents and a topic whose top words are a, b, c in this order."""
    corpus = wb.Corpus.from_pairs(
        [0, 0, 1, 1, 2, 3, 3, 5],
        [0, 1, 0, 1, 0, 1, 2, 3],
        [1, 2, 1, 1, 3, 1, 1, 1],
        vocabulary=("a", "b", "c", "d"),
    )
    run = with_phi([[0.5, 0.3, 0.2]]).assign_coords(word=np.array(["a", "b", "c"], dtype=object))
    return run, corpus


def test_coherences_of_a_toy_equal_hand_calculations():
    run, corpus = toy()
    # of 5 documents with a token: a in 3, b in 3, c in 1, a and b in 2, b and c in 1, a and c in none
    result = coherence(run, corpus, 3)
    assert result.attrs["n_documents"] == 5
    u_mass = (math.log(3 / 3) + math.log(1 / 3) + math.log(2 / 3)) / 3
    assert float(result["u_mass"][0]) == pytest.approx(u_mass)
    of_pairs = [
        math.log(0.4 / 0.36) / -math.log(0.4),
        math.log(0.2 / 0.12) / -math.log(0.2),
        math.log(E / 0.12) / -math.log(E),
    ]
    assert float(result["npmi"][0]) == pytest.approx(np.mean(of_pairs))


def test_coherence_leaves_out_words_that_are_in_no_document():
    run, corpus = toy()
    run = run.assign_coords(word=np.array(["a", "b", "never"], dtype=object))
    result = coherence(run, corpus, 3)
    assert int(result["n_words"][0]) == 2 and float(result["u_mass"][0]) == pytest.approx(
        math.log(3 / 3)
    )
    run = run.assign_coords(word=np.array(["a", "not", "never"], dtype=object))
    result = coherence(run, corpus, 3)
    assert (
        np.isnan(result["c_v"]).all()
        and math.isnan(result.attrs["mean_npmi"])
        and int(result["n_words"][0]) == 1
    )


def test_npmi_is_0_for_words_in_every_document():
    corpus = wb.Corpus.from_pairs([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], vocabulary=("a", "b"))
    run = with_phi([[0.5, 0.5]]).assign_coords(word=np.array(["a", "b"], dtype=object))
    result = coherence(run, corpus)
    assert float(result["npmi"][0]) == 0 and float(result["c_v"][0]) == 0


def test_coherence_counts_words_of_equal_spelling_once_per_document():
    corpus = wb.Corpus.from_pairs(
        [0, 0, 0, 1], [0, 1, 2, 2], [1, 1, 1, 1], vocabulary=("a", "a", "b")
    )
    run = with_phi([[0.6, 0.4]]).assign_coords(word=np.array(["a", "b"], dtype=object))
    assert float(coherence(run, corpus)["u_mass"][0]) == pytest.approx(math.log(2 / 1))


def test_diversity_is_the_share_of_different_words():
    run = with_phi([[0.4, 0.3, 0.2, 0.1], [0.4, 0.1, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4]])
    result = diversity(run, 2)  # {w0, w1}, {w0, w2}, {w3, w2}
    assert result.attrs["mean_diversity"] == pytest.approx(4 / 6)
    np.testing.assert_allclose(result["diversity"], [0.75, 0.5, 0.75])
    assert float(result["diversity"].mean()) == pytest.approx(4 / 6)
    assert diversity(run).attrs["mean_diversity"] == pytest.approx(4 / 12)  # all words of each
    assert diversity(with_topics(1)).attrs["mean_diversity"] == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        *(
            (
                lambda relevance=relevance: top_words(tiny_run(), 5, relevance),
                "relevance must be a number from 0 .* to 1 .*; got",
            )
            for relevance in (-0.1, 1.1, float("nan"), "high", True)
        ),
        (lambda: top_words(tiny_comparison()), "has no phi.*open the run itself"),
        (lambda: top_words(tiny_run(), 0), "at least 1; got 0"),
        (
            lambda: salient_words(tiny_run(), 0),
            "the number of words must be a whole number of at least 1; got 0",
        ),
        (lambda: saliency(tiny_comparison()), "has no phi"),
        (lambda: coherence(tiny_run(), 3), "give a Corpus, as coherence.*; got 3"),
        (
            lambda: coherence(tiny_run(), tiny_corpus(), 1),
            "number of top words must be .* at least 2; got 1",
        ),
        (lambda: coherence(tiny_comparison(), tiny_corpus()), "has no phi"),
        (lambda: diversity(tiny_run(), 0), "number of top words must be .* at least 1; got 0"),
    ],
)
def test_wrong_input_gets_one_sentence(call, sentence):
    with pytest.raises(MeasureError, match=sentence):
        call()
