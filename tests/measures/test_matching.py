"""Distances, assignments and flows of topics against plain loops."""

from itertools import permutations

import numpy as np
import pytest
from comparisons import tiny_corpus, tiny_run, with_phi, with_topics

import workbench as wb
from workbench.data import blocks
from workbench.measures import MeasureError, match_topics, matching, topic_distances, topic_flow


def training() -> wb.Corpus:
    return wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)[0]


def distance(p, q) -> float:
    """By its definition, word by word."""
    result = 0.0
    for one, other in zip(p, q, strict=True):
        for part in (one, other):
            result += 0.5 * part * np.log2(2 * part / (one + other)) if part > 0 else 0.0
    return np.sqrt(max(result, 0))


def test_distances_are_those_of_the_definition():
    a, b = tiny_run("cgs"), tiny_run("svb")
    result = topic_distances(a, b)
    for k in range(4):
        for other in range(4):
            assert result.values[k, other] == pytest.approx(
                distance(a["phi"].values[k], b["phi"].values[other]), abs=1e-9
            )


def test_words_that_only_one_run_knows_have_no_probability_in_the_other():
    a, b = with_phi([[0.5, 0.5]]), with_phi([[0.5, 0.5], [1.0, 0.0]])
    b = b.assign_coords(word=np.array(["w1", "new"], dtype=object))
    # over w0, w1, new: (.5, .5, 0) against (0, .5, .5) is sqrt(1/2); against (0, 1, 0): by the definition
    np.testing.assert_allclose(
        topic_distances(a, b).values,
        [[np.sqrt(0.5), distance([0.5, 0.5, 0], [0, 1, 0])]],
        atol=1e-12,
    )


def test_topic_distances_merge_words_of_equal_spelling():
    a, b = with_phi([[0.5, 0.25, 0.25]]), with_phi([[0.5, 0.5]])
    a = a.assign_coords(word=np.array(["x", "y", "y"], dtype=object))
    b = b.assign_coords(word=np.array(["x", "y"], dtype=object))
    assert topic_distances(a, b).values == pytest.approx(0, abs=1e-7)


def test_match_topics_matches_a_run_with_itself_renumbered():
    run = tiny_run()
    other = run.isel(topic=[2, 0, 3, 1]).assign_coords(topic=[10, 11, 12, 13])
    result = match_topics(run, other)
    assert result["matched"].values.tolist() == [11, 13, 10, 12]
    np.testing.assert_allclose(result["distance"], 0, atol=1e-7)


def test_the_assignment_is_the_best_of_all():
    a, b = tiny_run("cgs"), tiny_run("svb")
    distances = topic_distances(a, b).values
    best = min(sum(distances[k, order[k]] for k in range(4)) for order in permutations(range(4)))
    result = match_topics(a, b)
    assert float(result["distance"].sum()) == pytest.approx(best, abs=1e-12)
    assert sorted(result["matched"].values.tolist()) == [0, 1, 2, 3]


def test_match_topics_leaves_surplus_topics_unmatched():
    result = match_topics(with_topics(5), with_topics(2))
    assert (result["matched"].values == -1).sum() == 3 and np.isnan(
        result["distance"].values
    ).sum() == 3
    assert (match_topics(with_topics(2), with_topics(5))["matched"].values >= 0).all()


def test_the_flow_is_the_sum_over_tokens(monkeypatch):
    a, b, corpus = tiny_run("cgs"), tiny_run("svb"), training()
    flow = np.zeros((4, 4))
    for document, word, count in zip(corpus.documents, corpus.words, corpus.counts, strict=True):
        of_a, of_b = (run["theta"].values[document] * run["phi"].values[:, word] for run in (a, b))
        flow += count * np.outer(of_a / of_a.sum(), of_b / of_b.sum())
    np.testing.assert_allclose(topic_flow(a, b, corpus), flow, atol=1e-9)
    monkeypatch.setattr(matching, "PAIRS_AT_ONCE", 7)
    # products of three pairs, and one of what is left over
    monkeypatch.setattr(matching, "SINGLE_THREADED", 3 * 4 * 4)
    np.testing.assert_allclose(topic_flow(a, b, corpus), flow, atol=1e-9)


def test_topic_flow_sums_to_all_tokens():
    corpus = training()
    result = topic_flow(tiny_run("cgs"), tiny_run("svb"), corpus)
    assert float(result.sum()) == pytest.approx(corpus.n_tokens)
    assert result.dims == ("topic", "other") and result.attrs["units"] == "tokens"


def test_topic_flow_refuses_a_corpus_that_is_not_of_both_runs():
    with pytest.raises(
        MeasureError,
        match="was trained on another corpus than Corpus.*; give its own training tokens",
    ):
        topic_flow(tiny_run(), tiny_run("svb"), tiny_corpus())
    with pytest.raises(MeasureError, match="than int"):
        topic_flow(tiny_run(), tiny_run("svb"), 3)


@pytest.mark.parametrize("at_once", [1, 7])
def test_the_flow_is_the_same_however_few_pairs_and_documents_are_held(at_once, monkeypatch):
    a, b = tiny_run("cgs"), tiny_run("svb")
    whole = topic_flow(a, b, training())
    monkeypatch.setattr(matching, "PAIRS_AT_ONCE", at_once)
    monkeypatch.setattr(blocks, "NUMBERS", 8)
    # sums in another order
    np.testing.assert_allclose(topic_flow(a, b, training()), whole, rtol=1e-12)
