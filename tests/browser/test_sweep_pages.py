"""The Sweep page in a browser: its runs start, stop, are found again, and go on without the page."""

import pytest
from browser.desk import cells, fill, press, until
from browser.test_names import NAMELESS

from workbench.runs.execution.run import open_runs

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def there(page, table: str = "numbers by K") -> list[str]:
    """What the rows of a table are of."""
    shown = page.locator(f"table[aria-label='{table}']").count()
    return [row[0] for row in cells(page, table)] if shown else []


PAGES = {
    "sweep": ({"Topics K": "5, 7", "Parallel runs": 2}, "6, 8", 4, "numbers by K", {"6", "8"}),
    "sweep?tab=frontier": (
        {"r": "0, inf", "Chains": "1", "Topics K": "3", "Parallel runs": 4},
        "4",
        10,
        "settings by cost",
        {"r=0", "r=∞", "cgs"},
    ),
}
"""Address → what is typed, another number of topics, how many runs these are, the table and its rows at the end."""


@pytest.mark.parametrize("name", PAGES)
def test_runs_of_a_sweep_start_stop_and_are_found_again_by_the_link(url, new_page, store, name):
    page = new_page(url.replace("compare", name))
    page.get_by_text("No run of these settings yet. Press Start.").wait_for()
    typed, topics, n, table, rows = PAGES[name]
    before = {run.name for run in open_runs(store)}
    for label, value in (typed | {"Number of seeds": 2, "Iterations": 100_000}).items():
        fill(page, label, value)
    press(page, "Start")
    page.get_by_text(f"0 of {n} runs have ended; about").wait_for(timeout=120_000)
    press(page, "Stop")
    page.get_by_text(f"0 of {n} runs have ended. Start runs the others.").wait_for(timeout=120_000)
    made = [run for run in open_runs(store) if run.name not in before]
    assert len(made) == n and {run.state for run in made} == {"stopped"}
    fill(page, "Topics K", topics)
    fill(page, "Iterations", 14)
    press(page, "Start")
    page.get_by_text(f"All {n} runs have ended.").wait_for(timeout=240_000)
    until(lambda: set(there(page, table)) == rows, "each has a row")
    until(lambda: page.get_by_role("figure").count(), "the picture is drawn")
    body = page.locator("body").aria_snapshot()
    assert [line for line in body.splitlines() if NAMELESS.match(line)] == []
    again = new_page(page.url)
    again.get_by_text(f"All {n} runs have ended.").wait_for()
    until(lambda: set(there(again, table)) == rows, "each has a row")


@pytest.mark.parametrize(("old", "field"), [("choose-k", "Warm starts"), ("frontier", "Cost")])
def test_an_old_address_leads_to_its_tab_with_what_was_chosen(url, new_page, old, field):
    page = new_page(url.replace("compare", f"{old}?seeds=4"))
    page.get_by_label(field, exact=True).wait_for()
    assert page.get_by_label("Number of seeds").filter(visible=True).input_value() == "4"
    assert "seeds=4" in page.url


def test_a_tab_keeps_its_fields_while_another_one_is_open(url, new_page):
    page = new_page(url.replace("compare", "sweep"))
    fill(page, "Topics K", "5, 7")
    press(page, "Frontier")
    page.get_by_role("textbox", name="Chains").wait_for()
    assert not page.get_by_role("combobox", name="Warm starts").count()
    press(page, "Choose K")
    page.get_by_role("combobox", name="Warm starts").wait_for()
    assert page.get_by_role("textbox", name="Topics K").input_value() == "5, 7"


def test_the_corpus_of_a_form_goes_along_to_the_other_one(url, new_page):
    page = new_page(f"{url}?corpus=bars&holdout=0.3&min_documents=3&n_topics=7")
    nav = page.get_by_role("navigation", name="pages")
    nav.get_by_role("link", name="Topics").click()
    page.wait_for_url("**/topics*")
    nav.get_by_role("link", name="Sweep").click()
    page.get_by_text("This form has no min_documents; the defaults are used.").wait_for()
    assert page.get_by_role("combobox", name="Corpus").filter(visible=True).input_value() == "bars"
    assert "holdout=0.3" in page.url and "n_topics=7" not in page.url
    fill(page, "Held-out share", "0.1")
    page.wait_for_url(lambda address: "holdout" not in address)
    nav.get_by_role("link", name="Compare").click()
    page.get_by_role("button", name="Preview data").wait_for()
    assert "corpus=bars" in page.url and "holdout" not in page.url
    assert "min_documents=3" in page.url and "n_topics=7" in page.url


def test_a_warm_sweep_goes_on_when_its_page_is_closed(url, new_page, store):
    page = new_page(url.replace("compare", "sweep"))
    for label, value in {"Topics K": "9, 10, 11", "Number of seeds": 1, "Iterations": 40}.items():
        fill(page, label, value)
    page.get_by_label("Warm starts").select_option("yes")
    press(page, "Start")
    page.get_by_text("first those with 9 topics, then others from these.").wait_for()
    address = page.url
    page.close()
    warm = [9, 10, 11]
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
    until(lambda: there(again) == ["9", "10", "11"], "each has a row")
    unknown = "With one seed the standard error is unknown: run more seeds."
    again.get_by_text(unknown, exact=True).wait_for()
