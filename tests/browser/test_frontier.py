"""The Frontier page in a browser: the chains and runs that it starts stream in, stop, go on and are found again."""

import pytest
from browser.desk import cells, fill, press, until
from browser.test_names import NAMELESS

from workbench.runs.execution.run import open_runs

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def settings(page) -> list[str]:
    """The settings in the rows of the table."""
    there = page.locator("table[aria-label='settings by cost']").count()
    return [row[0] for row in cells(page, "settings by cost")] if there else []


def test_runs_that_are_started_stream_in_stop_and_are_found_again(url, new_page, store):
    page = new_page(url.replace("compare", "frontier"))
    page.get_by_text("No run of these settings yet. Press Start.").wait_for()
    before = {run.name for run in open_runs(store)}
    for label, value in (
        ("r", "0, inf"),
        ("Chains S", "1"),
        ("Topics K", "3"),
        ("Number of seeds", 2),
        ("Iterations", 50_000),
        ("Parallel runs", 4),
    ):
        fill(page, label, value)
    page.get_by_text("10 runs with the 4 chains of the reference.").wait_for()
    press(page, "Start")
    page.get_by_text("0 of 10 runs have ended; about").wait_for(timeout=120_000)
    press(page, "Stop")
    page.get_by_text("0 of 10 runs have ended. Start runs the others.").wait_for(timeout=120_000)
    made = [run for run in open_runs(store) if run.name not in before]
    assert len(made) == 10 and {run.state for run in made} == {"stopped"}
    fill(page, "Topics K", "4")
    fill(page, "Iterations", 14)
    press(page, "Start")
    page.get_by_text("All 10 runs have ended.").wait_for(timeout=240_000)
    until(lambda: set(settings(page)) == {"r=0", "r=∞", "cgs"}, "every setting has a row")
    page.get_by_text("No other setting is as cheap and as near as:").wait_for()
    assert page.locator("figure svg").count() == 1
    page.get_by_label("Cost", exact=True).select_option("updates")
    until(lambda: "cost=updates" in page.evaluate("location.href"), "the address tells the cost")
    body = page.locator("body").aria_snapshot()
    assert [line for line in body.splitlines() if NAMELESS.match(line)] == []
    again = new_page(page.url)
    again.get_by_text("All 10 runs have ended.").wait_for()
    until(lambda: set(settings(again)) == {"r=0", "r=∞", "cgs"}, "every setting has a row")
