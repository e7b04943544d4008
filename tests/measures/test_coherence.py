"""Coherence against sums over sets of documents and against gensim; diversity against counting."""

import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from comparisons import tiny_comparison, tiny_corpus, tiny_run, with_phi, with_topics
from missing import skip_without

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

    def n(*wanted):
        return sum(set(wanted) <= document for document in documents)

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


def test_each_is_the_sum_of_its_paper():
    run, corpus = tiny_run("cgs"), tiny_corpus()
    found, words = coherence(run, corpus, 6), top_words(run, 6)["word"]
    for topic in range(4):
        told = [float(found[name][topic]) for name in ("u_mass", "npmi", "c_v")]
        np.testing.assert_allclose(
            told, by_hand(words.values[topic].tolist(), documents_of(corpus)), rtol=1e-9
        )
    for name in ("u_mass", "npmi", "c_v"):
        assert found.attrs[f"mean_{name}"] == pytest.approx(float(found[name].mean()))


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


def test_a_toy_is_as_worked_out_with_a_pencil():
    run, corpus = toy()
    # of 5 documents with a token: a in 3, b in 3, c in 1, a and b in 2, b and c in 1, a and c in none
    found = coherence(run, corpus, 3)
    assert found.attrs["n_documents"] == 5
    u_mass = (math.log(3 / 3) + math.log(1 / 3) + math.log(2 / 3)) / 3
    assert float(found["u_mass"][0]) == pytest.approx(u_mass)
    of_pairs = [
        math.log(0.4 / 0.36) / -math.log(0.4),
        math.log(0.2 / 0.12) / -math.log(0.2),
        math.log(E / 0.12) / -math.log(E),
    ]
    assert float(found["npmi"][0]) == pytest.approx(np.mean(of_pairs))


def test_a_word_that_no_document_has_is_left_out():
    run, corpus = toy()
    run = run.assign_coords(word=np.array(["a", "b", "never"], dtype=object))
    found = coherence(run, corpus, 3)
    assert int(found["n_words"][0]) == 2 and float(found["u_mass"][0]) == pytest.approx(
        math.log(3 / 3)
    )
    run = run.assign_coords(word=np.array(["a", "not", "never"], dtype=object))
    found = coherence(run, corpus, 3)
    assert (
        np.isnan(found["c_v"]).all()
        and math.isnan(found.attrs["mean_npmi"])
        and int(found["n_words"][0]) == 1
    )


def test_words_that_share_every_document_say_nothing():
    corpus = wb.Corpus.from_pairs([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], vocabulary=("a", "b"))
    run = with_phi([[0.5, 0.5]]).assign_coords(word=np.array(["a", "b"], dtype=object))
    found = coherence(run, corpus)
    assert float(found["npmi"][0]) == 0 and float(found["c_v"][0]) == 0


def test_words_spelt_alike_are_counted_once_a_document():
    corpus = wb.Corpus.from_pairs(
        [0, 0, 0, 1], [0, 1, 2, 2], [1, 1, 1, 1], vocabulary=("a", "a", "b")
    )
    run = with_phi([[0.6, 0.4]]).assign_coords(word=np.array(["a", "b"], dtype=object))
    assert float(coherence(run, corpus)["u_mass"][0]) == pytest.approx(math.log(2 / 1))


@pytest.mark.slow
def test_it_agrees_with_gensim_where_the_window_is_the_document():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from gensim.corpora import Dictionary
            from gensim.models import CoherenceModel
        except ImportError:
            skip_without("gensim is in the extra 'bench'")
        corpus = wb.load_corpus("docstrings").of_documents(range(120))
        run = wb.fit(corpus, "cgs", n_topics=5, n_iterations=5, progress=False)
        texts = [sorted(words) for words in documents_of(corpus)]
        topics = top_words(run, 10)["word"].values.tolist()
        found, dictionary = coherence(run, corpus, 10), Dictionary(texts)
        for name, theirs in (("npmi", "c_npmi"), ("c_v", "c_v")):
            asked = {
                "texts": texts,
                "dictionary": dictionary,
                "coherence": theirs,
                "window_size": 10**6,
                "topn": 10,
            }
            peer = CoherenceModel(topics=topics, processes=1, **asked)
            np.testing.assert_allclose(found[name], peer.get_coherence_per_topic(), rtol=1e-6)


def test_diversity_is_the_share_of_different_words():
    run = with_phi([[0.4, 0.3, 0.2, 0.1], [0.4, 0.1, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4]])
    found = diversity(run, 2)  # {w0, w1}, {w0, w2}, {w3, w2}
    assert found.attrs["mean_diversity"] == pytest.approx(4 / 6)
    np.testing.assert_allclose(found["diversity"], [0.75, 0.5, 0.75])
    assert float(found["diversity"].mean()) == pytest.approx(4 / 6)
    assert diversity(run).attrs["mean_diversity"] == pytest.approx(4 / 12)  # all words of each
    assert diversity(with_topics(1)).attrs["mean_diversity"] == 1


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: coherence(tiny_run(), 3), "wanted a Corpus .*; got int"),
        (
            lambda: coherence(tiny_run(), tiny_corpus(), 1),
            "number of top words must be .* at least 2; got 1",
        ),
        (lambda: coherence(tiny_comparison(), tiny_corpus()), "holds no phi"),
        (lambda: diversity(tiny_run(), 0), "number of top words must be .* at least 1; got 0"),
    ],
)
def test_wrong_input_gets_one_sentence(ask, told):
    with pytest.raises(MeasureError, match=told):
        ask()
