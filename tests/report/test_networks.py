"""Networks in figures and report: drawn once each, with what their levels say and what the rows draw."""

import csv

import pytest

import workbench as wb
from workbench.measures import mixture_table
from workbench.models.networks.network import Network
from workbench.report.gathering import gather
from workbench.report.tables import hierarchy_tables
from workbench.views import RunsToDraw, draw_view

NETWORK = Network.of("hpam2", n_topics=3, sizes={"super": 2})


@pytest.fixture(scope="module")
def runs():
    """Two runs of hierarchical pachinko and one of LDA."""
    corpus, _ = NETWORK.simulate(12, 15, 20, seed=2)
    fitted = [
        wb.fit(corpus, "network-vb", model=NETWORK, seed=seed, n_iterations=3, progress=False)
        for seed in (0, 1)
    ]
    return [*fitted, wb.fit(corpus, "svb", n_topics=2, n_iterations=3, progress=False)]


def test_each_network_is_drawn_once_with_a_description_of_its_levels(runs):
    (picture,) = draw_view("network", runs)
    assert (picture.name, picture.title) == ("network-hpam2", "The network hpam2")
    assert (
        "theta1: document, super (where super 1 to 2) → sub, prior 0.1 for each super, learnt"
        in picture.caption
    )
    assert picture.header == ["level", "row", "value", "topic", "node", "tokens"]
    assert (
        picture.rows == mixture_table(runs[0]).to_numpy(object).tolist() and len(picture.rows) == 11
    )
    assert draw_view("network", runs[2:]) == []


def test_a_network_is_drawn_without_counts_of_its_runs(runs):
    (picture,) = draw_view("network", [runs[0].drop_vars(["n_theta0", "n_theta1"])])
    assert picture.rows == [] and picture.header[0] == "level"


def test_hierarchy_tables_have_the_most_frequent_values_of_rows(runs):
    result = gather(runs)
    (table,) = hierarchy_tables(RunsToDraw([each.dataset for each in result]).first("phi", "n_kw"))
    first, second = table["levels"]
    assert (first["title"], second["title"], second["more"]) == (
        "document → super",
        "super → sub",
        0,
    )
    tokens = runs[0]["n_theta1"].values[-1].sum(axis=0)
    order = sorted((1, 2), key=lambda row: -tokens[row].sum())
    assert [row["name"] for row in second["rows"]] == [f"super {row}" for row in order]
    best = second["rows"][0]["draws"][0]
    value = int(tokens[order[0]].argmax())
    assert best["name"] == (f"sub {value}" if value else f"super {order[0]}")
    assert best["share"] == f"{100 * tokens[order[0]].max() / tokens[order[0]].sum():.0f} %"
    topic = runs[0]["node"].values.tolist().index(best["name"])
    words = runs[0]["phi"].values[topic].argsort(kind="stable")[::-1][:4]
    assert sorted(best["words"].split()) == sorted(
        str(runs[0]["word"].values[word]) for word in words
    )


def test_page_and_figures_have_the_network_and_its_levels(runs, tmp_path, undrawn):
    page = wb.write_report(runs, tmp_path / "report.html").read_text()
    assert (
        "Levels of the networks" in page
        and "<strong>super 1</strong>" in page
        and "The network hpam2" in page
    )
    assert (
        "Levels of the networks"
        not in wb.write_report(runs[2:], tmp_path / "plain.html").read_text()
    )
    wb.save_figures(runs, tmp_path / "figures", formats="svg")
    with open(tmp_path / "figures" / "network-hpam2.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(float(row["tokens"]) for row in rows if row["level"] == "theta0") == pytest.approx(
        240
    )
