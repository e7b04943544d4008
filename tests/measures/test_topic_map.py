"""The map of topics: real, stable, and as far apart as the topics are."""

import numpy as np
import pytest
import xarray as xr
from comparisons import tiny_corpus, tiny_run, with_phi, with_topics

import workbench as wb
from workbench.measures import MeasureError, topic_distances, topic_map


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


def test_topic_map_refuses_like_that_is_no_map():
    with pytest.raises(MeasureError, match="like must be an earlier result of topic_map; got int"):
        topic_map(tiny_run(), like=3)
