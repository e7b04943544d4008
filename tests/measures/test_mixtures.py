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
    found = mixtures(hpam2)
    assert list(found) == ["theta0", "theta1"]
    assert found["theta0"]["row"].values.tolist() == ["all documents"]
    assert found["theta1"]["row"].values.tolist() == ["super 1", "super 2"]
    np.testing.assert_allclose(
        found["theta0"]["tokens"].values[0], hpam2["n_theta0"].values[-1].sum(axis=0)
    )
    np.testing.assert_allclose(
        found["theta1"]["tokens"].values, hpam2["n_theta1"].values[-1].sum(axis=0)[1:]
    )
    assert float(found["theta0"]["tokens"].sum()) == pytest.approx(240)


def test_values_lead_to_the_rows_over_words_where_all_their_paths_end(hpam2):
    found = mixtures(hpam2)
    names = hpam2["node"].values.tolist()
    assert [names[topic] for topic in found["theta0"]["topic"].values[0]] == [
        "root",
        "super 1",
        "super 2",
    ]
    assert [[names[topic] for topic in row] for row in found["theta1"]["topic"].values] == [
        ["super 1", "sub 1", "sub 2", "sub 3"],
        ["super 2", "sub 1", "sub 2", "sub 3"],
    ]
    assert [names[topic] for topic in found["theta1"]["own"].values] == ["super 1", "super 2"]


def test_tokens_of_a_topic_sum_to_its_size_where_values_lead_to_topics_alone(hpam2):
    found = mixtures(hpam2)
    sizes = np.zeros(6)
    np.add.at(sizes, found["theta1"]["topic"].values, found["theta1"]["tokens"].values)
    sizes[0] = found["theta0"]["tokens"].values[0, 0]
    np.testing.assert_allclose(sizes, topic_sizes(hpam2)["n_k"].values, rtol=1e-9)


def test_a_value_whose_paths_end_apart_has_its_own_words_and_one_without_leads_nowhere():
    run = run_of(Network.of("hpam1", n_topics=3, sizes={"super": 2}))
    names, found = run["node"].values.tolist(), mixtures(run)
    assert [names[topic] for topic in found["theta1"]["topic"].values[0]] == [
        "sub 0",
        "sub 1",
        "sub 2",
    ]
    assert found["zeta"]["row"].values[:4].tolist() == [
        "super 0, sub 0",
        "super 0, sub 1",
        "super 0, sub 2",
        "super 1, sub 0",
    ]
    assert [names[topic] for topic in found["zeta"]["topic"].values[4]] == [
        "root",
        "super 1",
        "sub 1",
    ]
    assert (
        found["zeta"]["value"].values.tolist() == ["root", "super", "sub"]
        and (found["zeta"]["own"] == -1).all()
    )
    pam = mixtures(run_of(Network.of("pachinko", n_topics=3, sizes={"super": 2})))
    assert (pam["theta0"]["topic"] == -1).all() and pam["theta1"]["topic"].values.tolist() == [
        [0, 1, 2]
    ] * 2


def test_authors_are_rows_by_their_names():
    authors = [("Ada", "Bo") if at % 2 else ("Bo", "Cy", "Di") for at in range(12)]
    network = Network.of("author-topic", n_topics=3).with_authors(["Ada", "Bo", "Cy", "Di"])
    run = run_of(network, authors=authors)
    found = mixtures(run)["theta"]
    assert list(mixtures(run)) == ["theta"] and found.attrs == {"by": ("author",), "draws": "topic"}
    assert found["row"].values.tolist() == ["Ada", "Bo", "Cy", "Di"]
    np.testing.assert_array_equal(found["tokens"].values, run["n_theta"].values[-1])


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
    found = mixtures(run)["theta"]
    assert found["row"].values.tolist() == ["all documents", "shade 0", "shade 1"]
    assert found["topic"].values.tolist() == [[0, 1]] * 3
    np.testing.assert_array_equal(found["tokens"].values, run["n_theta"].values[-1])


def test_the_table_has_a_line_for_each_row_and_value_with_tokens(hpam2):
    table = mixture_table(hpam2)
    assert table.columns.tolist() == ["level", "row", "value", "topic", "node", "tokens"]
    line = table[(table["row"] == "super 2") & (table["value"] == "sub 0")].iloc[0]
    assert (line["topic"], line["node"]) == (2, "super 2")
    assert line["tokens"] == pytest.approx(hpam2["n_theta1"].values[-1, :, 2, 0].sum())
    assert table.groupby("level")["tokens"].sum()["theta0"] == pytest.approx(240)


def test_a_run_of_another_model_has_no_levels():
    assert mixtures(tiny_run("cgs")) == {} and mixture_table(tiny_run("cgs")).empty


def test_a_run_without_its_levels_is_refused(hpam2):
    with pytest.raises(MeasureError, match="there is no 'n_theta1'"):
        mixtures(hpam2.drop_vars("n_theta1"))
