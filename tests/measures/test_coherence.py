"""Coherence against sums over sets of documents and against gensim; diversity against counting."""

import math
from itertools import combinations

import numpy as np
import pytest
from comparisons import tiny_comparison, tiny_corpus, tiny_run, with_phi, with_topics

import workbench as wb
from workbench.measures import MeasureError, coherence, diversity, top_words

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
    ("call", "message"),
    [
        (lambda: coherence(tiny_run(), 3), "give a Corpus, as coherence.*; got 3"),
        (
            lambda: coherence(tiny_run(), tiny_corpus(), 1),
            "number of top words must be .* at least 2; got 1",
        ),
        (lambda: coherence(tiny_comparison(), tiny_corpus()), "has no phi"),
        (lambda: diversity(tiny_run(), 0), "number of top words must be .* at least 1; got 0"),
    ],
)
def test_wrong_input_gets_one_sentence(call, message):
    with pytest.raises(MeasureError, match=message):
        call()
