"""The Ledger page in a browser: a filter leaves the rows of a verdict, a click selects a command, and nothing is too wide."""

import pytest
from browser.desk import until
from browser.test_names import NAMELESS

from workbench.papers.ledger_table import PAPERS, entries

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_rows_are_filtered_commands_selected_and_the_page_is_no_wider_than_the_window(
    url, new_page
):
    page = new_page(url.replace("compare", "ledger"))
    items = page.locator(".ledger h3")
    until(lambda: items.count() == len(entries()), "every item is there")
    assert page.locator(".ledger h2").count() == len(PAPERS)
    for width in (1440, 800, 420):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_label("Verdict", exact=True).select_option("Not reproduced")
    unmade = [row.item.id for row in entries() if row.lines[0].verdict == "not reproduced"]
    until(
        lambda: [text.partition(":")[0] for text in items.all_inner_texts()] == unmade,
        "these are left alone",
    )
    assert "verdict=not+reproduced" in page.url
    page.get_by_label("Verdict", exact=True).select_option("All")
    command = page.locator(".ledger code", has_text="workbench reproduce hybrid-fig7-4000")
    command.click()
    assert page.evaluate("getSelection().toString()").strip() == command.inner_text()
    body = page.locator("body")
    assert [line for line in body.aria_snapshot().splitlines() if NAMELESS.match(line)] == []
