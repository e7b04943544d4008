"""One walk through each page of `workbench serve`, which no page may complain of; the other files look closely, slowly."""

import pytest
from browser.desk import cells, field, fill, press, row, type_into, until
from playwright.sync_api import expect

import workbench as wb
from workbench.corpus.catalog.synthetic import bars
from workbench.papers.ledger_table import entries
from workbench.runs.execution.run import Run

pytestmark = pytest.mark.browser
EVIDENCE = 60
"""Seconds until the first toy is computed: kernels are compiled."""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with a finished run."""
    store = tmp_path_factory.mktemp("pages") / "runs"
    train, test = wb.hold_out_tokens(bars(n_documents=20)[0], fraction=0.1, seed=0)
    wb.fit(train, "cgs", 3, test=test, n_iterations=8, store=store, name="seen", progress=False)
    return store


def test_compare_starts_a_run_and_draws_it(url, new_page, store):
    page = new_page(f"{url}?corpus=bars&engines=cgs")
    row(page, "seen").wait_for()
    for name, value in (("n_topics", 2), ("n_iterations", 5)):
        type_into(page, name, value)
    press(page, "Start")
    until(lambda: len(wb.open_runs(store)) > 1, "the run is made")
    (name,) = {run.name for run in wb.open_runs(store)} - {"seen"}
    row(page, name).get_by_text("finished", exact=True).wait_for()
    assert Run(store / name).spec.model["n_topics"] == 2
    for there in ("Sweep", "Compare"):  # and back: the form is as it was left
        page.get_by_role("link", name=there, exact=True).click()
        page.get_by_role("button", name="Start", exact=True).wait_for()
    expect(field(page, "n_topics")).to_have_value("2")


def test_topics_lists_the_topics_and_their_words(url, new_page):
    page = new_page(url.replace("compare", "topics?run=seen"))
    page.locator(".topics tbody tr").nth(2).click()
    page.locator(".topics tr.chosen").wait_for()
    page.locator(".words").get_by_text("of one run (seed").wait_for()


@pytest.mark.parametrize(
    ("path", "field"), [("sweep", "Topics K"), ("sweep?tab=frontier", "Chains")]
)
def test_a_sweep_tells_how_many_runs_it_would_start(url, new_page, path, field):
    page = new_page(url.replace("compare", path))
    page.get_by_text("No run of these settings yet. Press Start.").wait_for()
    fill(page, field, "2")
    page.get_by_text("runs").first.wait_for()


def test_oracle_shows_engines_beside_the_exact_posterior(url, new_page):
    page = new_page(url.replace("compare", "oracle"))
    until(lambda: page.get_by_text("log p(words) =").count(), "the evidence is there", EVIDENCE)
    until(lambda: cells(page, "exact p(w|d)"), "the exact probabilities are there", EVIDENCE)


def test_ledger_lists_every_item(url, new_page):
    page = new_page(url.replace("compare", "ledger"))
    items = page.locator(".ledger h3")
    until(lambda: items.count() == len(entries()), "every item is there")
