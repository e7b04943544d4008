"""Many runs in a real Chromium: found, sorted, grouped, annotated, started as a sweep."""

import json
import shutil

import pytest
from browser.desk import press, row, state, type_into, until

from workbench.corpus import hold_out_tokens
from workbench.dashboard.compare.fields import FILE
from workbench.models import LDA
from workbench.runs.execution.fit import fit
from workbench.runs.execution.run import Run
from workbench.runs.store.layout import checksum
from workbench.runs.store.notes import annotate, read_notes
from workbench.runs.store.status import read_spec
from workbench.views.style import look_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
N_EACH = 40
DRAWN = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap(n => [n, ...(n.shadowRoot ? all(n.shadowRoot) : [])])
  return all(document).filter(n => n.matches('tr[data-run]')).map(n => n.dataset.run)
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
    page.get_by_text("There is no r: to look for. Keys are engine: k: seed: ").wait_for()
    for query, told in (
        ("engin:cgs", f"0 of {2 * N_EACH} runs found"),
        ("-engin:cgs", f"{2 * N_EACH} runs"),
    ):
        page.get_by_label("Find runs").fill(query)
        page.get_by_text(told, exact=True).wait_for()
        page.get_by_text("There is no engin: to look for.").wait_for()
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
    page.get_by_label("Find runs").press("Escape")
    page.get_by_text(f"{2 * N_EACH} runs", exact=True).wait_for()


def test_of_many_rows_those_are_drawn_that_are_seen(url, new_page, many):
    page = new_page(url)
    until(lambda: 0 < len(drawn(page)) < 60, "some are drawn")
    assert "svb-00" not in drawn(page)
    page.locator(".scroller").evaluate("box => { box.scrollTop = box.scrollHeight }")
    until(lambda: drawn(page)[-1:] == ["svb-00"], "the last are drawn at the end")
    assert page.get_by_label("runs of the store").get_attribute("aria-rowcount") == str(
        2 * N_EACH + 1
    )


def test_columns_sort_by_click_and_key_and_groups_fold(url, new_page, many):
    page = new_page(url)
    page.get_by_text(f"{2 * N_EACH} runs", exact=True).wait_for()
    press(page, "Seed")
    until(lambda: {name[-2:] for name in drawn(page)[:2]} == {"00"}, "the smallest seeds first")
    seed = page.get_by_role("columnheader", name="Seed")
    assert seed.get_attribute("aria-sort") == "ascending"
    page.get_by_role("button", name="Seed", exact=True).press("Enter")
    until(lambda: {name[-2:] for name in drawn(page)[:2]} == {str(N_EACH - 1)}, "then the largest")
    assert seed.get_attribute("aria-sort") == "descending"
    until(lambda: "sort=-seed" in page.evaluate("location.search"), "the link tells it")
    page.get_by_role("button", name="Seed", exact=True).press("Enter")
    until(lambda: seed.get_attribute("aria-sort") == "none", "then none")
    find(page, "tag:paper", 6)
    page.get_by_label("Group runs by").select_option("engine")
    until(lambda: [name[:3] for name in drawn(page)] == ["cgs"] * 3 + ["svb"] * 3, "in groups")
    fold = page.get_by_role("button", name="svb · 3 runs")
    fold.click()
    until(lambda: len(drawn(page)) == 3, "a closed group is not seen")
    assert fold.get_attribute("aria-expanded") == "false"
    page.get_by_label("choose the runs of svb").check()
    page.get_by_text("3 chosen").wait_for()


def test_columns_are_chosen_from_a_menu_and_rows_grouped_by_any_setting_and_the_link_tells_it(
    url, new_page, many
):
    page = new_page(f"{url}?find=tag:paper")
    page.get_by_role("columnheader", name="Corpus").wait_for()
    press(page, "Columns")
    menu = page.get_by_role("group", name="Columns of the table")
    menu.get_by_label("Corpus").uncheck()
    menu.get_by_label("Engine").check()
    until(
        lambda: (
            page.evaluate("new URLSearchParams(location.search).get('columns')")
            == "tags,K,seed,state,progress,perplexity,time,left,engine"
        ),
        "the link tells the columns",
    )
    page.keyboard.press("Escape")
    heads = page.get_by_label("runs of the store").get_by_role("columnheader").all_inner_texts()
    assert heads[2:] == [
        "Run",
        "Tags",
        "K",
        "Seed",
        "State",
        "Progress",
        "Perplexity",
        "Time",
        "Time left",
        "Engine",
    ]
    assert row(page, "cgs-10").locator("td").last.inner_text() == "cgs"
    page.get_by_label("Group runs by").select_option("K")
    page.get_by_role("button", name="K = 3 · 3 runs").wait_for()
    page.get_by_role("button", name="Engine", exact=True).click()
    until(
        lambda: [name[:3] for name in drawn(page)] == ["cgs"] * 3 + ["svb"] * 3,
        "sorted by a setting",
    )
    until(lambda: "sort=engine" in page.evaluate("location.search"), "the link tells the order too")
    other = new_page(page.evaluate("location.href"))
    other.get_by_role("button", name="K = 5 · 3 runs").wait_for()
    other.get_by_role("columnheader", name="Engine", exact=True).wait_for()


def in_css(colour: str) -> str:
    """A colour as a browser writes it."""
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


def test_settings_and_results_show_the_runs_that_are_found_with_means_over_seeds(
    url, new_page, many
):
    page = new_page(f"{url}?find=tag:paper")
    picture = page.get_by_role("img", name="Held-out perplexity against K, 6 runs")
    picture.wait_for()
    assert (
        picture.locator("circle.run").count() == 6 and picture.locator("circle.mean").count() == 2
    )
    told = picture.locator("circle.run[data-run='cgs-10'] title").text_content()
    perplexity = Run(many / "cgs-10").progress()["test_perplexity"].values[-1]
    assert told == f"cgs-10 · cgs · Held-out perplexity {float(f'{perplexity:.5g}'):,g}"
    assert picture.locator("circle.run[data-run='svb-10']").evaluate(
        "one => one.style.fill"
    ) == in_css(look_of("svb").colour)
    picture.locator("circle.run[data-run='cgs-10']").hover()
    page.get_by_text("cgs-10 is highlighted").wait_for(state="attached")
    page.get_by_label("Result").select_option("time")
    page.get_by_role("img", name="Seconds of inference against K, 6 runs").wait_for()
    press(page, "Settings")
    page.get_by_role("group", name="Settings to draw").get_by_label("Engine").check()
    lines = page.get_by_role("img", name="Seconds of inference against Engine, K, 6 runs")
    lines.or_(
        page.get_by_role("img", name="Seconds of inference against K, Engine, 6 runs")
    ).wait_for()
    until(lambda: page.locator("path.run.line").count() == 6, "a line for each run")
    until(lambda: "result=time" in page.evaluate("location.search"), "the link tells it")
    find(page, "tag:paper engine:svb", 3)
    until(lambda: page.locator("path.run.line").count() == 0, "runs of one engine and one K")


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
    note.press("Control+Enter")
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
    press(page, "Add tag")
    page.get_by_text("A tag holds no comma").wait_for()
    page.get_by_label("remove the tag odd").click()
    until(lambda: read_notes(many / "cgs-05").tags == (), "it is gone")
    page.get_by_label("choose cgs-05").uncheck()
    until(lambda: note.input_value() == "look <b>again</b>", "the note of the one that is left")
    note.fill("")
    page.get_by_label("New tag").focus()
    until(lambda: read_notes(many / "svb-05").note == "", "a field that is left is saved")


def test_several_values_make_a_sweep_that_waits_in_line(url, new_page, store, tmp_path):
    text = tmp_path / "texts.csv"
    text.write_text(
        "text\n" + "apples pears plums apples\nred green blue red\napples red pears green\n" * 20
    )
    page = new_page(url)
    page.get_by_label("Corpus", exact=True).select_option(FILE)
    type_into(page, "path", text)
    for engine in ("svb", "cvb", "cgs", "cvb-cgs", "cv-hdp"):
        page.get_by_label(engine, exact=True).uncheck()
    press(page, "Options: defaults")
    for name, value in {
        "n_topics": "2, 3",
        "r": "0, inf",
        "n_iterations": 6,
        "jobs": 1,
    }.items():
        type_into(page, name, value)
    page.get_by_text("4 runs, 1 in parallel, 3 queued.").wait_for()
    type_into(page, "n_topics", "2, 0")
    page.get_by_text("Topics must be a whole number").wait_for()
    type_into(page, "n_topics", "2, 3")
    press(page, "Start")
    page.get_by_text("4 runs started, 1 in parallel").wait_for()
    made = [path.name for path in store.glob("texts-*")]
    assert {_grid(store / name) for name in made} == {(k, r) for k in (2, 3) for r in (0, "inf")}
    page.get_by_label("Find runs").fill("texts-")
    until(lambda: sum(state(page, name) == "waiting" for name in made) >= 2, "some wait")
    last = next(name for name in made if _grid(store / name) == (3, "inf"))
    page.get_by_label(f"choose {last}").check()
    press(page, "Stop")
    until(lambda: state(page, last) == "stopped", "one leaves the line")
    for name in made:
        if name != last:
            until(
                lambda name=name: state(page, name) == "finished",
                f"{name} is finished",
                patience=120,
            )
    assert "n_topics=2,3" in page.evaluate(
        "decodeURIComponent(location.search).replaceAll('+', '').replaceAll(' ', '')"
    )
    for name in made:
        Run(store / name).remove()


def _grid(path) -> tuple:
    spec = read_spec(path)
    return spec.model["n_topics"], spec.options["r"]
