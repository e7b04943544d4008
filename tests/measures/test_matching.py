"""Distances, assignments and flows of topics against plain loops; the map of topics as far apart as these are."""

from itertools import permutations

import numpy as np
import pytest
import xarray as xr
from comparisons import tiny_corpus, tiny_run, with_phi, with_topics

import workbench as wb
from workbench.data import blocks
from workbench.measures import (
    MeasureError,
    match_topics,
    matching,
    topic_distances,
    topic_flow,
    topic_map,
    topic_tree,
)


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


@pytest.mark.parametrize("at_once", [None, 1, 7])
def test_the_flow_is_the_sum_over_tokens_however_few_are_held(at_once, monkeypatch):
    a, b, corpus = tiny_run("cgs"), tiny_run("svb"), training()
    if at_once:
        monkeypatch.setattr(matching, "PAIRS_AT_ONCE", at_once)
        monkeypatch.setattr(blocks, "NUMBERS", 8)
        # products of three pairs, and one of what is left over
        monkeypatch.setattr(matching, "SINGLE_THREADED", 3 * 4 * 4)
    flow = np.zeros((4, 4))
    for document, word, count in zip(corpus.documents, corpus.words, corpus.counts, strict=True):
        of_a, of_b = (run["theta"].values[document] * run["phi"].values[:, word] for run in (a, b))
        flow += count * np.outer(of_a / of_a.sum(), of_b / of_b.sum())
    result = topic_flow(a, b, corpus)
    np.testing.assert_allclose(result, flow, rtol=1e-12)
    assert float(result.sum()) == pytest.approx(corpus.n_tokens)
    assert result.dims == ("topic", "other") and result.attrs["units"] == "tokens"


# ---------------------------------------------------------------------- the map of topics


def points(found: xr.Dataset) -> np.ndarray:
    return np.column_stack([found["x"].values, found["y"].values])


def apart(found: xr.Dataset) -> np.ndarray:
    at = points(found)
    return np.linalg.norm(at[:, None] - at[None], axis=2)


def test_two_topics_are_as_far_apart_as_their_distance():
    run = with_phi([[0.5, 0.5, 0], [0, 0.5, 0.5]])
    # by hand: mixture (1/4, 1/2, 1/4), entropy 1.5 bits; each topic has 1 bit: divergence 0.5
    assert apart(topic_map(run))[0, 1] == pytest.approx(np.sqrt(0.5), abs=1e-12)
    np.testing.assert_allclose(topic_map(run)["y"], 0, atol=1e-7)
    assert topic_map(run).attrs["shown"] == pytest.approx(1)


def test_three_topics_keep_all_their_distances_in_the_plane():
    run = with_phi([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])
    np.testing.assert_allclose(apart(topic_map(run)), topic_distances(run, run), atol=1e-7)


def test_a_map_of_one_topic_is_the_origin():
    result = topic_map(with_topics(1))
    assert points(result).tolist() == [[0, 0]] and result.attrs["shown"] == 1


def test_equal_topics_share_a_point():
    result = topic_map(with_phi([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]))
    np.testing.assert_allclose(points(result)[0], points(result)[1], atol=1e-6)
    assert np.allclose(points(topic_map(with_phi([[0.5, 0.5]] * 4))), 0)


def test_words_that_a_topic_never_has_make_no_nan():
    result = topic_map(with_phi(np.eye(5)))
    assert np.isfinite(points(result)).all()


def test_the_farthest_topic_is_on_the_positive_side_of_each_axis():
    for seed in range(5):
        at = points(topic_map(with_phi(np.random.default_rng(seed).dirichlet(np.full(30, 0.2), 7))))
        assert (at[np.abs(at).argmax(axis=0), [0, 1]] > 0).all()


def test_topics_are_joined_in_the_order_of_their_mean_distances():
    rows = [[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.6, 0.2, 0.1, 0.1], [0.1, 0.1, 0.5, 0.3]]
    run = with_phi(rows)
    apart, tree = topic_distances(run, run).values, topic_tree(run)
    leaves, merges = tree["topic"].values.tolist(), tree["height"].values
    assert sorted(leaves) == [0, 1, 2, 3] and {*leaves[:2]} in ({0, 2}, {1, 3})
    joined = [{leaves[int(tree[side][merge])] for side in ("one", "other")} for merge in range(2)]
    assert joined == [{0, 2}, {1, 3}]
    assert {int(tree["one"][2]), int(tree["other"][2])} == {4, 5}
    groups = apart[np.ix_([0, 2], [1, 3])].mean()
    np.testing.assert_allclose(merges, [apart[0, 2], apart[1, 3], groups], atol=1e-12)
    assert topic_tree(with_topics(1)).sizes == {"topic": 1, "merge": 0}


def test_topic_map_is_aligned_with_a_rotated_or_reflected_earlier_map():
    phi = np.random.default_rng(0).dirichlet(np.full(30, 0.2), 6)
    earlier = topic_map(with_phi(phi))
    turned = points(earlier) @ np.array([[0.6, 0.8], [0.8, -0.6]])  # turned and mirrored
    earlier["x"], earlier["y"] = ("topic", turned[:, 0]), ("topic", turned[:, 1])
    np.testing.assert_allclose(points(topic_map(with_phi(phi), like=earlier)), turned, atol=1e-12)


def test_topic_map_is_aligned_by_the_common_topics():
    phi = np.random.default_rng(1).dirichlet(np.full(30, 0.2), 5)
    earlier = topic_map(with_phi(phi[:3]))
    later = topic_map(with_phi(phi), like=earlier)
    plain = topic_map(with_phi(phi))
    np.testing.assert_allclose(
        points(later)[:3].mean(axis=0), points(earlier).mean(axis=0), atol=1e-12
    )
    assert np.linalg.norm(points(later)[:3] - points(earlier)) < np.linalg.norm(
        points(plain)[:3] - points(earlier)
    )
    np.testing.assert_allclose(apart(later), apart(plain), atol=1e-12)


def test_topic_map_is_not_aligned_without_a_common_topic():
    run = with_phi(np.eye(3))
    other = topic_map(run).assign_coords(topic=[7, 8, 9])
    np.testing.assert_array_equal(points(topic_map(run, like=other)), points(topic_map(run)))


def test_topic_map_leaves_out_empty_topics_of_an_hdp():
    run = wb.fit(tiny_corpus(), "g-hdp", n_topics=3, n_iterations=3, progress=False)
    with_tokens = np.flatnonzero(run["n_k"].values[-1])
    run["n_kw"][-1, with_tokens[0]] = 0
    assert topic_map(run)["topic"].values.tolist() == with_tokens[1:].tolist()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: topic_flow(tiny_run(), tiny_run("svb"), tiny_corpus()),
            "was trained on another corpus than Corpus.*; give its own training tokens",
        ),
        (lambda: topic_flow(tiny_run(), tiny_run("svb"), 3), "than int"),
        (
            lambda: topic_map(tiny_run(), like=3),
            "like must be an earlier result of topic_map; got int",
        ),
    ],
)
def test_wrong_input_gets_one_sentence(call, sentence):
    with pytest.raises(MeasureError, match=sentence):
        call()
