"""The Choose K page in a browser: runs that it starts stream in, stop, are found again, and go on without it."""

import pytest
from browser.desk import cells, fill, press, until
from browser.test_names import NAMELESS

from workbench.runs.execution.run import open_runs

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def form(page, topics: str, seeds: int, iterations: int, warm: str = "no") -> None:
    for label, value in (
        ("Topics K", topics),
        ("Number of seeds", seeds),
        ("Iterations", iterations),
        ("Parallel runs", 2),
    ):
        fill(page, label, value)
    page.get_by_label("Warm starts").select_option(warm)


def there(page) -> list[str]:
    """K of the rows of the table."""
    table = page.locator("table[aria-label='numbers by K']")
    return [row[0] for row in cells(page, "numbers by K")] if table.count() else []


def test_runs_that_are_started_stream_in_stop_and_are_found_again(url, new_page, store):
    page = new_page(url.replace("compare", "choose-k"))
    page.get_by_text("No run of these settings yet. Press Start.").wait_for()
    form(page, "3, 0", 2, 100_000)
    page.get_by_text("must be a whole number from 1 to 65535; got 0").wait_for()
    form(page, "3, 5", 2, 100_000)
    press(page, "Start")
    until(
        lambda: "3" in there(page), "the first number of topics has a row while its runs go on", 120
    )
    page.get_by_text("0 of 4 runs have ended; about").wait_for()
    press(page, "Stop")
    page.get_by_text("0 of 4 runs have ended. Start runs the others.").wait_for()
    assert {run.state for run in open_runs(store)} == {"stopped"}
    reached = max(run.status()["iteration"] for run in open_runs(store)) + 10
    fill(page, "Iterations", reached)
    press(page, "Start")
    page.get_by_text("All 4 runs have ended.").wait_for(timeout=120_000)
    until(lambda: there(page) == ["3", "5"], "both have a row")
    until(
        lambda: not page.get_by_text("so this may change").count(), "what is said is of their ends"
    )
    advice = page.locator(".choose-k strong").inner_text()
    assert "held-out log likelihood" in advice and page.locator(".choose-k figure svg").count() == 1
    body = page.locator("body").aria_snapshot()
    assert [line for line in body.splitlines() if NAMELESS.match(line)] == []
    again = new_page(page.url)
    again.get_by_text(advice).wait_for()
    again.get_by_role("link", name="Topics of K =").first.click()
    again.get_by_label("Topics of", exact=True).wait_for()
    assert "/topics?run=docstrings-cgs-k" in again.url


def test_a_warm_sweep_goes_on_when_its_page_is_closed(url, new_page, store):
    page = new_page(url.replace("compare", "choose-k"))
    form(page, "2, 4, 6", 1, 40, "yes")
    press(page, "Start")
    page.get_by_text("first those with 2 topics, then others from these.").wait_for()
    address = page.url
    page.close()
    warm = [2, 4, 6]
    until(
        lambda: (
            [
                run.spec.model["n_topics"]
                for run in open_runs(store)
                if run.spec.model["n_topics"] in warm and run.state == "finished"
            ]
            == warm
        ),
        "all numbers of topics are there",
        120,
    )
    again = new_page(address)
    again.get_by_text("All 3 runs have ended.").wait_for()
    until(lambda: there(again) == ["2", "4", "6"], "each has a row")
    again.get_by_text("With one seed the standard error is unknown: run more seeds.").wait_for()
