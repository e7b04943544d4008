"""The Model card of the Topics page: picture, rows and topics as the browser gets them."""

import io

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from workbench.dashboard.shared.files import FileError
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.dashboard.shared.snapshots import moment_of
from workbench.dashboard.topics import files, hierarchy
from workbench.dashboard.topics.hierarchy import SAID, hierarchy_content, level_content
from workbench.dashboard.topics.page import TopicsPage
from workbench.measures import mixture_table, mixtures
from workbench.models.networks.network import Network
from workbench.runs.execution.fit import fit
from workbench.runs.execution.run import open_run

NETWORK = Network.of("hpam2", n_topics=3, sizes={"super": 2})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A run of hierarchical pachinko on twelve documents."""
    store = tmp_path_factory.mktemp("networks") / "runs"
    corpus, _ = NETWORK.simulate(12, 15, 20, seed=2)
    fit(
        corpus,
        "network-vb",
        model=NETWORK,
        n_iterations=3,
        store=store,
        name="of-levels",
        progress=False,
    )
    return store / "of-levels"


def moment(path):
    """The last snapshot of the run in a folder."""
    return moment_of(
        next(one for one in RunMonitor(path.parent).look().readings if one.path == path)
    )


def test_rows_come_with_most_tokens_first_and_values_with_the_topics_they_lead_to(path):
    run = open_run(path)
    told, found = (
        {level["name"]: level for level in hierarchy_content(moment(path), {})["levels"]},
        mixtures(run),
    )
    level, own = told["theta1"], found["theta1"]
    totals = dict(zip(own["row"].values, own["tokens"].values.sum(axis=1), strict=True))
    assert [row[0] for row in level["rows"]] == sorted(totals, key=totals.get, reverse=True)
    assert (level["by"], level["draws"], told["theta0"]["by"]) == (["super"], "sub", ["document"])
    for name, tokens, node, values, rest, left in level["rows"]:
        counts = own["tokens"].sel(row=name).values
        assert tokens == pytest.approx(counts.sum(), abs=0.06) and node == int(name[-1])
        assert [value for value, *_ in values] == sorted(
            range(4), key=lambda value: -counts[value]
        )[: len(values)]
        assert [topic for _, topic, _ in values] == [
            int(own["topic"].sel(row=name)[value]) for value, *_ in values
        ]
        assert rest == 4 - len(values) and sum(n for *_, n in values) + left == pytest.approx(
            tokens, abs=0.4
        )


def test_only_the_largest_values_of_a_row_and_the_largest_rows_are_told(monkeypatch):
    found = xr.Dataset(
        {
            "tokens": (("row", "value"), [[1.0, 96, 3], [0, 0, 0], [200, 1, 0]]),
            "topic": (("row", "value"), np.tile([0, 1, -1], (3, 1))),
            "own": ("row", [-1, -1, -1]),
        },
        {"row": ["a", "b", "c"], "value": ["x", "y", "z"]},
        {"by": ("author",), "draws": "kind"},
    )
    told = level_content("theta", found, "")
    assert told["rows"] == [
        ["c", 201.0, -1, [[0, 0, 200.0]], 2, 1.0],
        ["a", 100.0, -1, [[1, 1, 96.0], [2, -1, 3.0]], 1, 1.0],
        ["b", 0.0, -1, [], 3, 0.0],
    ]
    monkeypatch.setattr(hierarchy, "MOST_ROWS", 1)
    told = level_content("theta", found, "")
    assert (
        [row[0] for row in told["rows"]] == ["c"] and told["n_rows"] == 3 and told["tokens"] == 301
    )


@pytest.fixture
def page(path, monkeypatch):
    """The page of a store with this run and one of LDA."""
    own = RunMonitor(path.parent)
    monkeypatch.setattr(own, "latest", lambda patience=0.0: own.look())
    monkeypatch.setattr("workbench.dashboard.topics.page.monitor_of", lambda store: own)
    return TopicsPage(path.parent)


def test_the_card_is_there_for_networks_only_and_a_choice_in_it_is_the_pages(page, path):
    corpus, _ = NETWORK.simulate(12, 15, 20, seed=2)
    if not (path.parent / "plain").exists():
        fit(corpus, "cgs", 2, n_iterations=3, store=path.parent, name="plain", progress=False)
    page.tick()
    said = []
    page.run.value = "plain"
    page.hierarchy.param.watch(lambda event: said.append(event.new), "said")
    page.run.value = "of-levels"
    assert said == ["Reading the levels …", SAID]
    assert page.network.view.visible and page.network.picture.name == "of-levels-model"
    page.hierarchy.chosen = 3
    assert page.overview.chosen == 3 == page.sizes.chosen
    page.run.value = "plain"
    assert (
        not page.network.view.visible
        and page.network.picture is None
        and page.hierarchy.levels == []
    )


def test_the_picture_and_the_counts_are_taken_away(page, path):
    page.run.value = "of-levels"
    page.network.files.buttons["SVG"].clicks += 1
    name, content = page.handover.file["name"], page.handover.file["content"]
    assert name == "of-levels-model.svg" and content.startswith(b"<?xml")
    assert b"<desc>Mixture levels (ellipses" in content and b'width="244.8pt"' in content
    table = files.model_file(files.Shown(moment(path), {}))
    table = pd.read_csv(io.BytesIO(table.content), keep_default_na=False)
    expected = mixture_table(open_run(path))
    assert table.columns.tolist() == expected.columns.tolist() and len(table) == len(expected)
    np.testing.assert_allclose(table["tokens"], expected["tokens"])
    assert table["node"].tolist() == expected["node"].tolist()
    with pytest.raises(FileError, match="there is no run"):
        files.model_file(files.Shown(None, {}))
