"""The Model card of the Topics page: picture, rows and topics as the browser gets them."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.dashboard.shared.snapshots import snapshot_of
from workbench.dashboard.topics import hierarchy
from workbench.dashboard.topics.hierarchy import model_card
from workbench.dashboard.topics.overview import topics_of
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


@pytest.fixture
def topics(path):
    """The topics of the run."""
    readings = RunMonitor(path.parent).look().readings
    return topics_of(snapshot_of(next(one for one in readings if one.path == path)), 0)


def rows_of(html: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Name of each row and, of each of its values, name and share."""

    def text(part: str) -> str:
        return re.sub("<[^>]*>", "", part)

    return [
        (
            text(head.partition(" <small>")[0]),
            [
                (text(value), text(share).strip())
                for value, share in re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', body)
            ],
        )
        for head, body in re.findall("<summary>(.*?)</summary>(.*?)</details>", html)
    ]


def test_rows_come_with_most_tokens_first_and_values_with_their_shares(path, topics):
    found = mixtures(open_run(path))
    wanted = []
    for level in found.values():
        totals = level["tokens"].sum("value")
        for at in np.argsort(-totals.values, kind="stable"):
            row = level.isel(row=at)
            shares = row["tokens"].values / totals.values[at]
            named = [
                (topics.names.get(int(topic), str(value)), f"{100 * share:.1f} %")
                for value, topic, share in zip(
                    row["value"].values, row["topic"].values, shares, strict=True
                )
                if share > hierarchy.LEAST
            ]
            named = [named[one] for one in np.argsort(-shares[shares > hierarchy.LEAST])]
            wanted.append((str(row["row"].values), named))
    told = rows_of(model_card(topics, "").table)
    assert [name for name, _ in told] == [name for name, _ in wanted]
    for (_, values), (_, expected) in zip(told, wanted, strict=True):
        assert values[: len(expected)] == expected


def test_rows_are_found_by_a_part_of_their_names_and_only_the_largest_are_told(topics, monkeypatch):
    every = [name for name, _ in rows_of(model_card(topics, "").table)]
    assert [name for name, _ in rows_of(model_card(topics, " SUPER 2").table)] == ["super 2"]
    monkeypatch.setattr(hierarchy, "MOST_ROWS", 1)
    assert [name for name, _ in rows_of(model_card(topics, "").table)] == [every[0], every[1]]
    monkeypatch.setattr(hierarchy, "MOST_VALUES", 1)
    (_, ((_, largest), (rest, left))), _ = rows_of(model_card(topics, "").table)
    assert rest == "2 more"
    assert float(largest[:-2]) + float(left[:-2]) == pytest.approx(100, abs=0.1)


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
    page.run.value = "plain"
    assert not page.model.view.visible
    page.run.value = "of-levels"
    assert page.model.view.visible and page.model.picture.name == "of-levels-model"
    page.model.clicked("topic", "3")
    assert page.map.chosen == 3 == page.sizes.chosen
    page.run.value = "plain"
    assert not page.model.view.visible and page.model.picture is None


def test_the_picture_and_the_counts_are_taken_away(drawn, page, path):
    page.run.value = "of-levels"
    page.model.files.buttons["SVG"].clicks += 1
    name, content = page.handover.file["name"], page.handover.file["content"]
    assert name == "of-levels-model.svg" and content.startswith(b"<?xml")
    assert b"<desc>Mixture levels (ellipses" in content and b'width="244.8pt"' in content
    page.model.files.buttons["CSV"].clicks += 1
    table = pd.read_csv(io.BytesIO(page.handover.file["content"]), keep_default_na=False)
    expected = mixture_table(open_run(path))
    assert table.columns.tolist() == expected.columns.tolist() and len(table) == len(expected)
    np.testing.assert_allclose(table["tokens"], expected["tokens"])
    assert table["node"].tolist() == expected["node"].tolist()
