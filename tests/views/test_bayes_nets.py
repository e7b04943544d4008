"""Views of Bayesian networks, without pixels: distributions, classes, nodes; and the numbers behind them."""

import numpy as np
import pytest

import workbench as wb
from workbench.measures.bayes_nets import distributions, information, nodes_of, table_names
from workbench.measures.selection import MeasureError
from workbench.report.drawing import draw
from workbench.views.every import VIEWS, draw_view

pytest.importorskip("holoviews")
NAMED = {view.name: view for view in VIEWS}


@pytest.fixture(scope="module")
def records():
    random = np.random.default_rng(0)
    classes = random.integers(2, size=80)
    columns = {
        f"f{i}": np.where(random.random(80) < 0.1, 1 - classes, classes).astype(str)
        for i in range(4)
    }
    columns["g"] = np.array(["low", "mid", "high"])[random.integers(3, size=80)]
    return wb.Records.from_columns(columns, "eighty")


def fitted(records, engine="bn-vb", **settings):
    return wb.fit(records, engine, n_iterations=30, snapshot_every=10, progress=False, **settings)


@pytest.fixture(scope="module")
def runs(records):
    own = wb.BayesNet(
        "own",
        [
            wb.Node("a", 2),
            wb.Node("b", 3),
            wb.Node("f0", ("0", "1"), ("a", "b")),
            *(wb.Node(f"f{i}", ("0", "1"), ("a",), cpt="tied") for i in (1, 2, 3)),
            wb.Node("g", ("high", "low", "mid"), ("b",)),
        ],
    )
    return {
        "classes": fitted(records, options={"n_states": 3}),
        "em": fitted(records, "bn-em", options={"n_states": 3}),
        "hmm": fitted(records.of_fields(["f0", "f1", "f2"]), options={"network": "hmm"}),
        "own": fitted(records, model=own),
    }


def test_distributions_are_posterior_means_with_their_deviations(runs):
    run = runs["classes"]
    result = distributions(run, "g")
    assert result["value"].values.tolist() == ["high", "low", "mid"] and result.sizes == {
        "given": 3,
        "value": 3,
    }
    cells = run["table"].values == "g"
    np.testing.assert_allclose(
        result["probability"].values.ravel(), run["cpt"].values[cells], rtol=1e-12
    )
    a = result["count"].values + 0.5
    mean, total = a / a.sum(axis=1, keepdims=True), a.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        result["deviation"], np.sqrt(mean * (1 - mean) / (total + 1)), rtol=1e-12
    )
    first = distributions(run, "g", 0)
    assert not np.allclose(first["probability"], result["probability"])


def test_learnt_priors_are_those_of_the_snapshot(records):
    run = fitted(records, options={"n_states": 3, "learn_priors": "maximised", "learn_after": 5})
    for table in ("class", "g"):
        cells = run["table"].values == table
        result = distributions(run, table)["probability"].values.ravel()
        np.testing.assert_allclose(result, run["cpt"].values[cells], rtol=1e-12)


def test_distributions_of_em_estimates_have_no_deviation(runs):
    result = distributions(runs["em"], "class")
    np.testing.assert_allclose(
        result["probability"].values[0], result["count"].values[0] / 80, rtol=1e-12
    )
    assert np.isnan(result["deviation"]).all()


def test_information_is_that_of_the_joint_probabilities(runs):
    run = runs["own"]
    result, actual = distributions(run, "f0"), information(run, "f0")
    mass = result["count"].values.sum(axis=1)
    joint = (result["probability"].values * (mass / mass.sum())[:, None]).reshape(2, 3, 2)

    def shared(pair):
        outer = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0, keepdims=True)
        return float(np.sum(pair * np.log(pair / outer)))

    np.testing.assert_allclose(
        actual.of_parents, [shared(joint.sum(axis=1)), shared(joint.sum(axis=0))], rtol=1e-9
    )
    own = joint.sum(axis=(0, 1))
    assert actual.entropy == pytest.approx(
        -np.sum(own * np.log(own)), rel=1e-9
    ) and actual.largest == np.log(2)


def test_nodes_of_has_the_nodes_of_every_kind_of_network(runs):
    classes = [(node.name, node.parents, node.hidden) for node in nodes_of(runs["classes"])]
    assert classes[:2] == [("class", (), True), ("f0", ("class",), False)]
    assert [n.table for n in nodes_of(runs["hmm"])] == [
        "start",
        "emission",
        "transition",
        "emission",
        "transition",
        "emission",
    ]
    assert [n.name for n in nodes_of(runs["own"]) if n.hidden] == ["a", "b"]


@pytest.mark.parametrize("name", ["classes", "em", "hmm", "own"])
@pytest.mark.parametrize("view", ["nodes", "class-profiles", "distributions"])
def test_every_view_draws_every_run_and_has_a_table(runs, name, view):
    run = runs[name]
    pictures = draw_view(view, [run])
    assert bool(pictures) == (view != "class-profiles" or name in ("classes", "em"))
    for picture in pictures:
        assert picture.rows and all(len(row) == len(picture.header) for row in picture.rows)
        assert draw(picture.panels, 1, ("svg",), picture.legend, picture.height)["svg"]


def test_draw_distributions_uses_the_chosen_table_and_snapshot(runs):
    run = runs["classes"]
    menu, slider = NAMED["distributions"].controls(run)
    assert menu.choices == tuple(table_names(run)) and (slider.low, slider.high, slider.value) == (
        1,
        3,
        3,
    )
    first, last = (draw_view("distributions", [run], table="f1", snapshot=at)[0] for at in (1, 3))
    assert {row[3] for row in first.rows} == {"f1"} and first.rows != last.rows
    assert len(first.hover["QuadMesh"][0]) == 6 and "probability" in first.hover["QuadMesh"][0][0]


@pytest.mark.parametrize("name", ["classes", "em", "hmm", "own"])
def test_draw_record_has_the_inferred_posterior(runs, records, name):
    run, data = runs[name], records if name != "hmm" else records.of_fields(["f0", "f1", "f2"])
    corpora = {data.content_hash: data}
    (slider,) = NAMED["record-posterior"].controls(run)
    assert (slider.low, slider.high, slider.value) == (1, data.n_distinct, 1)
    (picture,) = draw_view("record-posterior", [run], corpora=corpora, record=3)
    inferred = wb.infer(run, data)["posterior"].isel(record=2)
    assert set(inferred["node"].values) == {row[4] for row in picture.rows} and {
        row[3] for row in picture.rows
    } == {3}
    chances = inferred.values.ravel()
    np.testing.assert_allclose(
        [row[6] for row in picture.rows], chances[~np.isnan(chances)], rtol=1e-12
    )
    assert (
        "f0=" in picture.caption
        and draw(picture.panels, 1, ("svg",), picture.legend, picture.height)["svg"]
    )
    assert not draw_view("record-posterior", [run])


def test_distributions_refuse_an_unknown_table_and_other_models(runs):
    with pytest.raises(MeasureError, match="table must be one of class, f0"):
        distributions(runs["classes"], "h")
    lda = wb.fit(
        wb.Corpus.from_pairs([0, 1], [0, 1], [2, 1]), n_topics=2, n_iterations=1, progress=False
    )
    with pytest.raises(MeasureError, match="this run has no probability tables"):
        table_names(lda)
