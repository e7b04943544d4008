"""Pictures of what runs learn beside their topics: what the HoloViews elements hold."""

from dataclasses import replace

import numpy as np
import pytest
from comparisons import made_up, run_of, tiny_run
from views.test_views import lines_of

from workbench.measures import against_topics, spec_of
from workbench.views import against_topics as drawn_against_topics
from workbench.views import (
    bound_curves,
    lineage_height,
    lineage_view,
    topic_number_curves,
    topic_size_curves,
    topic_words_view,
)
from workbench.views.elements import looks
from workbench.views.every import draw_view

hv = pytest.importorskip("holoviews")


def bounded(engine, bound, **changes):
    return made_up(engine, [2.0] * len(bound), **changes).assign(
        bound=("iteration", np.array(bound, float))
    )


def begun_from(parent, engine="cvb", **changes):
    run = made_up(engine, [1], **changes)
    parent_spec = spec_of(parent)
    start = {
        "name": parent_spec.name,
        "hash": parent_spec.hash,
        "iteration": 7,
        "counts": parent_spec.hash,
    }
    spec = replace(spec_of(run), start=start)
    return run.assign_attrs(name=f"{engine}-{spec.hash[:5]}", spec=spec.to_json())


def test_bound_curves_are_per_token_and_name_the_collapsed_bound():
    cvb = bounded("cvb", [-8, -4]).assign(collapsed_bound=("iteration", [-6.0, -2.0]))
    lines = lines_of(
        bound_curves(
            [bounded("vb", [-12, -8]), cvb, bounded("cv-hdp", [-4, -4]), made_up("cgs", [1])]
        )
    )
    assert {label: line.dimension_values(1).tolist() for label, line in lines.items()} == {
        "vb": [-3, -2],
        "cvb, collapsed bound": [-1.5, -0.5],
        "cv-hdp": [-1, -1],
    }
    assert lines["vb"].vdims[0].pprint_label == "bound per token (nats)"
    assert next(iter(bound_curves(cvb, "steps"))).kdims[0].pprint_label == "iterations × topics"


def test_against_topics_has_a_mark_at_each_number_and_an_error_where_there_are_seeds():
    runs = [
        made_up("cgs", [np.e**n], seed=seed, model={"n_topics": n, "alpha": 0.1, "beta": 0.1})
        for n, seeds in ((2, 2), (3, 1))
        for seed in range(seeds)
    ]
    drawn = drawn_against_topics([*runs, bounded("svb", [-4])], "log_likelihood")
    line, (curve, *_) = lines_of(drawn)["cgs"], against_topics(runs)
    assert line.dimension_values(0).tolist() == [2, 3]
    np.testing.assert_array_equal(line.dimension_values(1), curve.y)
    (errors,) = [element for element in drawn if isinstance(element, hv.Segments)]
    assert errors.array().tolist() == [[2, curve.y[0], 2, curve.y[0]]]  # both seeds are alike
    assert line.kdims[0].pprint_label == "number of topics"


def test_against_topics_gives_a_label_the_same_look_for_every_measure():
    runs = [made_up("svb-cgs", [1], options={"r": r}) for r in (1, 2)] + [
        bounded("svb-cgs", [-4], options={"r": 3})
    ]
    labels = ["svb-cgs r=1", "svb-cgs r=2", "svb-cgs r=3"]
    for measure in ("log_likelihood", "bound_per_token"):
        line = lines_of(drawn_against_topics(runs, measure))["svb-cgs r=3"]
        assert (
            hv.Store.lookup_options("matplotlib", line, "style").kwargs["color"]
            == looks(labels)["svb-cgs r=3"].colour
        )


def test_numbers_of_topics_are_drawn_of_every_engine():
    lines = lines_of(topic_number_curves([tiny_run("g-hdp"), tiny_run("cgs")]))
    assert set(lines) == {"g-hdp", "cgs"} and set(lines["cgs"].dimension_values(1)) == {4}


def test_topic_sizes_leave_out_topics_without_a_token():
    run = made_up("g-hdp", [2.0, 1.0])
    dims = ("iteration", "topic")
    run = run.assign(n_k=(dims, [[3.0, 0.0], [4.0, 0.0]]), alpha=(dims, [[0.5, 0], [0.6, 0]]))
    assert list(lines_of(topic_size_curves(run))) == ["topic 0"]
    assert lines_of(topic_size_curves(run, which="alpha"))["topic 0"].dimension_values(
        1
    ).tolist() == [0.5, 0.6]


def test_words_are_those_of_topics_with_a_token():
    run = tiny_run("g-hdp").copy(deep=True)
    gone = int(run["n_kw"].values[-1].sum(axis=1).argmax())
    run["n_kw"][-1, gone] = 0
    headings = next(
        element for element in topic_words_view(run) if element.label == "heading"
    ).dimension_values("heading")
    assert headings.size and not any(heading.startswith(f"topic {gone} ") for heading in headings)


def test_a_lineage_is_a_tree_of_parents_above_their_children():
    parent = made_up("cgs", [1])
    child = begun_from(parent)
    others = [begun_from(child, "svb"), begun_from(parent, "vb")]
    drawn = lineage_view([*others, child, made_up("cgs", [1], seed=5), parent])
    labels = next(element for element in drawn if isinstance(element, hv.Labels))
    actual = [
        f"{name} ({label}"
        for name, label in (
            (parent.attrs["name"], "cgs)"),
            (others[1].attrs["name"], "vb warm), from"),
            (child.attrs["name"], "cvb warm), from"),
            (others[0].attrs["name"], "svb warm), from"),
        )
    ]
    texts = labels.dimension_values(2).tolist()
    assert [text.startswith(begin) for text, begin in zip(texts, actual, strict=True)] == [True] * 4
    x = labels.dimension_values(0)
    assert x[0] < x[1] == x[2] < x[3] and texts[1].endswith("iteration 7")
    assert len(next(element for element in drawn if isinstance(element, hv.Path)).split()) == 3
    assert lineage_height([parent, *others, child]) == pytest.approx(4 * lineage_height([parent]))


def test_lineage_view_names_missing_parents_without_a_mark():
    drawn = lineage_view([begun_from(made_up("cgs", [1]))])
    texts = next(element for element in drawn if isinstance(element, hv.Labels)).dimension_values(2)
    assert texts[0].endswith("(not among these runs)")
    assert len(next(element for element in drawn if isinstance(element, hv.Scatter))) == 1


def test_without_lineage_the_picture_is_empty():
    drawn = lineage_view(made_up("cgs", [1]))
    assert len(next(element for element in drawn if isinstance(element, hv.Labels))) == 0


def test_chains_on_a_second_split_have_a_panel_of_their_own():
    runs = [
        run_of(np.random.default_rng(seed).random(200), seed, corpus="made up", **about)
        for about in (
            {"train": f"t{split}", "split": {"fraction": 0.1, "seed": split, "per": "corpus"}}
            for split in (8, 9)
        )
        for seed in (0, 1)
    ]
    (picture,) = draw_view("convergence", runs)
    assert len(picture.panels) == 2
    assert {row[0] for row in picture.rows} == {"cgs", "cgs, split 2"}
