"""The Ledger page's own decisions, without a browser: what is shown of which file, and what a filter leaves."""

import io
import re
from dataclasses import replace

import pandas as pd
import pytest

from workbench.dashboard.ledger import page as ledger
from workbench.dashboard.ledger.page import LedgerPage
from workbench.dashboard.shared.link import from_query, to_query
from workbench.papers.ledger_table import ITEMS, NOT_RUN, PAPERS, entries
from workbench.papers.results import QUICK, WHOLE, Outcome, Result, write_result

CLAIMS = (
    Outcome(
        "collapsed is better",
        "lower",
        "cvb",
        "svb",
        "holds",
        "cvb <1>, [svb](/) 2: -1.0 ± 0.1 (3 pairs)",
        -1.0,
        0.1,
        3,
    ),
    Outcome("level", "level", "cvb-cgs", "cgs", "undecided", "0.1 ± 0.2 (3 pairs)", 0.1, 0.2, 3),
)
SOME = Result(
    "hybrid-fig4",
    QUICK,
    "Not the published extent: 3 runs.",
    "workbench reproduce hybrid-fig4 --quick",
    "2999-01-02T03:04:05+00:00",
    "0.1.0",
    "abcd1234",
    False,
    CLAIMS,
    (),
)


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A package that ships no results."""
    monkeypatch.setattr(ledger, "SHIPPED", tmp_path / "none.json")
    monkeypatch.setattr(ledger, "entries", lambda own: entries(own, tmp_path / "none.json"))


@pytest.fixture
def page(tmp_path, shipped):
    """A page that has looked at a store without results."""
    made = LedgerPage(tmp_path / "runs")
    made.tick()
    return made


def item(html: str, figure: str) -> str:
    """The part of a figure."""
    return next(part for part in html.split("<h3>") if f"({figure})</h3>" in part)


def verdicts(html: str) -> list[str]:
    return re.findall("<td><strong>([^<]*)</strong>", html)


def test_every_item_stands_under_its_paper_and_says_what_was_not_run(page):
    html = page.table.object
    papers = [paper.replace("&", "&amp;") for paper in PAPERS.values()]
    assert re.findall("<h2>([^<]*)</h2>", html) == papers
    assert html.count("<h3>") == sum(max(1, len(one.figures)) for one in ITEMS)
    assert verdicts(item(html, "hybrid-fig4")) == [NOT_RUN]
    assert "<code>workbench reproduce hybrid-fig4</code>" in item(html, "hybrid-fig4")


def test_what_the_store_has_is_shown_when_it_is_written_and_that_it_was_quick(page, tmp_path):
    write_result(tmp_path / "runs" / "ledger.json", SOME)
    page.tick()
    shown = item(page.table.object, "hybrid-fig4")
    assert verdicts(shown) == ["holds (quick)", "undecided (quick)"]
    assert "Quick, not the whole: 3 runs. 2999-01-02, commit abcd1234." in shown
    assert "cvb &lt;1&gt;, [svb](/) 2" in shown and "href" not in shown
    write_result(tmp_path / "runs" / "ledger.json", replace(SOME, extent=WHOLE, left_out=""))
    page.tick()
    assert verdicts(item(page.table.object, "hybrid-fig4")) == ["holds", "undecided"]


def test_a_filter_leaves_the_rows_of_a_verdict_and_is_in_the_link(tmp_path, shipped):
    write_result(tmp_path / "runs" / "ledger.json", SOME)
    page = LedgerPage(tmp_path / "runs")
    page.tick()
    page.verdict.value = "undecided"
    assert verdicts(page.table.object) == ["undecided (quick)"]
    assert to_query(page.parameters) == "?verdict=undecided"
    table = pd.read_csv(io.BytesIO(page._file_of("csv")().content))
    assert list(table["verdict"]) == ["undecided"] and list(table["extent"]) == ["quick"]
    assert "**undecided (quick)**" in page._file_of("md")().content.decode()
    page.verdict.value = "does not hold"
    assert page.table.object == "<p>No row has this verdict.</p>\n"
    other = LedgerPage(tmp_path / "runs")
    assert from_query("?verdict=not run", other.parameters) == [] and from_query(
        "?verdict=good", other.parameters
    ) == ["verdict"]
    assert other.verdict.value == "not run"


def test_a_damaged_file_is_a_sentence_beside_what_the_package_has(tmp_path, shipped):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "ledger.json").write_text("{")
    page = LedgerPage(tmp_path / "runs")
    page.tick()
    assert "is no ledger of format 1" in page.status.object and page.status.visible
    assert verdicts(page.table.object)
