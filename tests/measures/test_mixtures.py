"""What rows of a network's levels draw, against plain sums over the counts of a run."""

import numpy as np
import pytest
from comparisons import tiny_run

import workbench as wb
from workbench.measures import MeasureError, mixture_table, mixtures, topic_sizes
from workbench.models.networks.network import Level, Network, Rows, Variable


def run_of(network, n_iterations=3, authors=None):
    corpus, _ = network.simulate(12, 15, 20, seed=2, authors=authors)
    return wb.fit(corpus, "network-vb", model=network, n_iterations=n_iterations, progress=False)


@pytest.fixture(scope="module")
def hpam2():
    return run_of(Network.of("hpam2", n_topics=3, sizes={"super": 2}))


def test_rows_of_documents_are_summed_over_the_documents(hpam2):
    result = mixtures(hpam2)
    assert list(result) == ["theta0", "theta1"]
    assert result["theta0"]["row"].values.tolist() == ["all documents"]
    assert result["theta1"]["row"].values.tolist() == ["super 1", "super 2"]
    np.testing.assert_allclose(
        result["theta0"]["tokens"].values[0], hpam2["n_theta0"].values[-1].sum(axis=0)
    )
    np.testing.assert_allclose(
        result["theta1"]["tokens"].values, hpam2["n_theta1"].values[-1].sum(axis=0)[1:]
    )
    assert float(result["theta0"]["tokens"].sum()) == pytest.approx(240)


def test_mixtures_map_values_to_the_rows_over_words_of_all_their_paths(hpam2):
    result = mixtures(hpam2)
    names = hpam2["node"].values.tolist()
    assert [names[topic] for topic in result["theta0"]["topic"].values[0]] == [
        "root",
        "super 1",
        "super 2",
    ]
    assert [[names[topic] for topic in row] for row in result["theta1"]["topic"].values] == [
        ["super 1", "sub 1", "sub 2", "sub 3"],
        ["super 2", "sub 1", "sub 2", "sub 3"],
    ]
    assert [names[topic] for topic in result["theta1"]["own"].values] == ["super 1", "super 2"]


def test_tokens_of_a_topic_sum_to_its_size_where_values_lead_to_topics_alone(hpam2):
    result = mixtures(hpam2)
    sizes = np.zeros(6)
    np.add.at(sizes, result["theta1"]["topic"].values, result["theta1"]["tokens"].values)
    sizes[0] = result["theta0"]["tokens"].values[0, 0]
    np.testing.assert_allclose(sizes, topic_sizes(hpam2)["n_k"].values, rtol=1e-9)


def test_mixtures_map_values_with_several_path_ends_to_their_own_row_or_to_none():
    run = run_of(Network.of("hpam1", n_topics=3, sizes={"super": 2}))
    names, result = run["node"].values.tolist(), mixtures(run)
    assert [names[topic] for topic in result["theta1"]["topic"].values[0]] == [
        "sub 0",
        "sub 1",
        "sub 2",
    ]
    assert result["zeta"]["row"].values[:4].tolist() == [
        "super 0, sub 0",
        "super 0, sub 1",
        "super 0, sub 2",
        "super 1, sub 0",
    ]
    assert [names[topic] for topic in result["zeta"]["topic"].values[4]] == [
        "root",
        "super 1",
        "sub 1",
    ]
    assert (
        result["zeta"]["value"].values.tolist() == ["root", "super", "sub"]
        and (result["zeta"]["own"] == -1).all()
    )
    pam = mixtures(run_of(Network.of("pachinko", n_topics=3, sizes={"super": 2})))
    assert (pam["theta0"]["topic"] == -1).all() and pam["theta1"]["topic"].values.tolist() == [
        [0, 1, 2]
    ] * 2


def test_mixtures_name_rows_by_authors():
    authors = [("Ada", "Bo") if at % 2 else ("Bo", "Cy", "Di") for at in range(12)]
    network = Network.of("author-topic", n_topics=3).with_authors(["Ada", "Bo", "Cy", "Di"])
    run = run_of(network, authors=authors)
    result = mixtures(run)["theta"]
    assert list(mixtures(run)) == ["theta"] and result.attrs == {
        "by": ("author",),
        "draws": "topic",
    }
    assert result["row"].values.tolist() == ["Ada", "Bo", "Cy", "Di"]
    np.testing.assert_array_equal(result["tokens"].values, run["n_theta"].values[-1])


def test_rows_of_several_blocks_are_named_one_by_one():
    network = Network(
        "two blocks",
        (Variable("kind", 2, ("plain", "fine")), Variable("shade", 2), Variable("topic", 2)),
        (
            Level("pi", "kind", (Rows(("document",)),)),
            Level("rho", "shade", (Rows((), (("kind", "fine"),)),)),
            Level(
                "theta",
                "topic",
                (Rows((), (("kind", "plain"),)), Rows(("shade",), (("kind", "fine"),))),
            ),
            Level("phi", "word", (Rows(("topic",)),)),
        ),
    )
    run = run_of(network)
    result = mixtures(run)["theta"]
    assert result["row"].values.tolist() == ["all documents", "shade 0", "shade 1"]
    assert result["topic"].values.tolist() == [[0, 1]] * 3
    np.testing.assert_array_equal(result["tokens"].values, run["n_theta"].values[-1])


def test_mixture_table_has_a_row_for_each_cell_with_tokens(hpam2):
    table = mixture_table(hpam2)
    assert table.columns.tolist() == ["level", "row", "value", "topic", "node", "tokens"]
    line = table[(table["row"] == "super 2") & (table["value"] == "sub 0")].iloc[0]
    assert (line["topic"], line["node"]) == (2, "super 2")
    assert line["tokens"] == pytest.approx(hpam2["n_theta1"].values[-1, :, 2, 0].sum())
    assert table.groupby("level")["tokens"].sum()["theta0"] == pytest.approx(240)


def test_mixtures_are_empty_for_other_models():
    assert mixtures(tiny_run("cgs")) == {} and mixture_table(tiny_run("cgs")).empty


def test_mixtures_refuse_a_run_without_counts_of_its_levels(hpam2):
    with pytest.raises(MeasureError, match="has no counts 'n_theta1'"):
        mixtures(hpam2.drop_vars("n_theta1"))
