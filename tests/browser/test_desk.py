"""Many runs in a real Chromium: found, sorted, grouped and annotated."""

import json
import shutil

import pytest
from browser.desk import press, row, until

from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.execution.fit import fit
from workbench.runs.store.layout import checksum
from workbench.runs.store.notes import annotate, read_notes

pytestmark = [pytest.mark.browser, pytest.mark.slow]
N_EACH = 40
DRAWN = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap(n => [n, ...(n.shadowRoot ? all(n.shadowRoot) : [])])
  return all(document).filter(n => n.matches('.tabulator-row[data-run]')).map(n => n.dataset.run)
}"""


@pytest.fixture(scope="module")
def many(store):
    """Two finished runs, and copies of each with seeds of their own; every tenth has a tag, the first one a note."""
    train, test = hold_out_tokens(
        LDA(3, 0.3, 0.2).simulate(30, 40, 20, seed=3)[0], fraction=0.1, seed=0
    )
    for engine, k in (("svb", 3), ("cgs", 5)):
        first = store / f"{engine}-00"
        fit(
            train,
            engine,
            k,
            test=test,
            n_iterations=12,
            store=store,
            name=first.name,
            progress=False,
        )
        for at in range(1, N_EACH):
            path = store / f"{engine}-{at:02}"
            shutil.copytree(first, path)
            file = path / "data.zarr" / "zarr.json"
            group = json.loads(file.read_text())
            group["attributes"]["spec"] = json.dumps(
                json.loads(group["attributes"]["spec"]) | {"seed": at}
            )
            group["attributes"]["checksum"] = checksum(group["attributes"])
            file.write_text(json.dumps(group))
            if at % 10 == 0:
                annotate(path, tags=["paper"])
    annotate(store / "svb-00", note="the first of all")
    return store


def drawn(page) -> list[str]:
    """Names of the runs whose rows are in the page, from the top."""
    return page.evaluate(DRAWN)


def find(page, query: str, n: int) -> None:
    """Looks for something and waits until so many are found."""
    page.get_by_label("Find runs").fill(query)
    page.get_by_text(f"{n} of {2 * N_EACH} runs found").wait_for()


def test_runs_are_found_by_words_and_keys_and_the_link_finds_them_again(url, new_page, many):
    page = new_page(url)
    page.get_by_text(f"{2 * N_EACH} runs", exact=True).wait_for()
    for query, n in (
        ("engine:cgs", N_EACH),
        ("k:3", N_EACH),
        ("tag:paper", 6),
        ("-tag:paper engine:svb", N_EACH - 3),
        ("seed:7", 2),
        ("first all", 1),
        ("note:first", 1),
        ("state:finished svb", N_EACH),
        ('"the first"', 1),
        ("cgs-1 k:5", 10),
        ("r:1", 0),
    ):
        find(page, query, n)
    find(page, "nonsense", 0)
    page.get_by_text("No run is found. Take a word out").wait_for()
    find(page, "tag:paper engine:svb", 3)
    until(lambda: drawn(page) == ["svb-30", "svb-20", "svb-10"], "the newest first")
    until(
        lambda: "find=tag%3Apaper+engine%3Asvb" in page.evaluate("location.search"),
        "the link tells it",
    )
    other = new_page(page.evaluate("location.href"))
    until(lambda: len(drawn(other)) == 3, "the link finds them")
    row(page, "svb-10").get_by_label("runs with the tag paper").click()
    page.get_by_text(f"6 of {2 * N_EACH} runs found").wait_for()
    page.get_by_label("Find runs").fill("")
    page.get_by_text(f"{2 * N_EACH} runs", exact=True).wait_for()


def test_of_many_rows_those_are_drawn_that_are_seen(url, new_page, many):
    page = new_page(url)
    until(lambda: 0 < len(drawn(page)) < 60, "some are drawn")
    assert "svb-00" not in drawn(page)
    page.locator(".tabulator-tableholder").evaluate("box => { box.scrollTop = box.scrollHeight }")
    until(lambda: drawn(page)[-1:] == ["svb-00"], "the last are drawn at the end")


def test_columns_sort_by_click_and_key_and_groups_fold(url, new_page, many):
    page = new_page(url)
    page.get_by_text(f"{2 * N_EACH} runs", exact=True).wait_for()
    seed = page.get_by_role("columnheader", name="Seed")
    seed.get_by_role("button").click()
    until(lambda: {name[-2:] for name in drawn(page)[:2]} == {"00"}, "the smallest seeds first")
    assert seed.get_attribute("aria-sort") == "ascending"
    seed.get_by_role("button").press("Enter")
    until(lambda: {name[-2:] for name in drawn(page)[:2]} == {str(N_EACH - 1)}, "then the largest")
    assert seed.get_attribute("aria-sort") == "descending"
    until(lambda: "sort=-seed" in page.evaluate("location.search"), "the link tells it")
    seed.get_by_role("button").press("Enter")
    until(lambda: seed.get_attribute("aria-sort") == "none", "then none")
    find(page, "tag:paper", 6)
    page.get_by_role("button", name="Columns", exact=True).click()
    columns = page.get_by_role("group", name="Columns of the table")
    columns.get_by_role("button", name="Engine").click()
    until(lambda: page.get_by_role("gridcell", name="svb", exact=True).count() == 3, "a setting")
    page.get_by_label("Group runs by").select_option("Engine")
    until(lambda: [name[:3] for name in drawn(page)] == ["cgs"] * 3 + ["svb"] * 3, "in groups")
    fold = page.get_by_role("button", name="Engine = svb · 3 runs")
    fold.click()
    until(lambda: len(drawn(page)) == 3, "a closed group is not seen")
    page.get_by_label("choose the runs of Engine = svb").check()
    page.get_by_text("3 chosen").wait_for()


def test_all_that_are_found_are_chosen_and_hidden_ones_are_told(url, new_page, many):
    page = new_page(url)
    find(page, "tag:paper", 6)
    page.get_by_label("choose all runs that are found").check()
    press(page, "Remove 6")
    page.get_by_text("Removing deletes 6 runs").wait_for()
    find(page, "tag:paper engine:svb", 3)
    page.get_by_text("6 chosen, 3 of them not among those found").wait_for()
    page.get_by_label("choose all runs that are found").uncheck()
    page.get_by_text("3 chosen, 3 of them not among those found").wait_for()
    assert page.get_by_role("button", name="Remove 3", exact=True).is_enabled()


def test_notes_and_tags_are_written_seen_and_kept(url, new_page, many):
    page = new_page(f"{url}?find=seed:5")
    page.get_by_text("Choose runs in the table to write a note").wait_for()
    page.get_by_label("choose svb-05").check()
    note = page.get_by_label("Note", exact=True)
    note.fill("look <b>again</b>")
    page.get_by_label("New tag").focus()
    page.get_by_text("Saved.", exact=True).wait_for()
    assert read_notes(many / "svb-05").note == "look <b>again</b>"
    row(page, "svb-05").get_by_text("look <b>again</b>").wait_for()
    page.get_by_label("choose cgs-05").check()
    page.get_by_text("2 runs; a tag goes to all of them").wait_for()
    page.get_by_label("New tag").fill("odd")
    page.get_by_label("New tag").press("Enter")
    until(
        lambda: (
            [read_notes(many / f"{engine}-05").tags for engine in ("svb", "cgs")] == [("odd",)] * 2
        ),
        "both have it",
    )
    row(page, "cgs-05").get_by_label("runs with the tag odd").wait_for()
    page.get_by_label("New tag").fill("a, b")
    page.get_by_label("New tag").press("Enter")
    page.get_by_text("A tag holds no comma").wait_for()
    page.get_by_role("group", name="Tags").get_by_role("button", name="odd").click()
    until(lambda: read_notes(many / "cgs-05").tags == (), "it is gone")
    page.get_by_label("choose cgs-05").uncheck()
    until(lambda: note.input_value() == "look <b>again</b>", "the note of the one that is left")
    note.fill("")
    page.get_by_label("New tag").focus()
    until(lambda: read_notes(many / "svb-05").note == "", "a field that is left is saved")
