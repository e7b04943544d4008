"""The Topics page in a real Chromium: its controls used, and their effect seen."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from browser.desk import until

from workbench import corpus_of
from workbench.corpus import Corpus
from workbench.dashboard.topics.document_rows import PER_PAGE
from workbench.measures import top_words, topics_by_size
from workbench.models.networks.network import Network
from workbench.runs.execution.fit import fit, start
from workbench.runs.execution.run import Run, open_run, open_runs

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LONG = 150_000
"""Iterations that no test waits for."""
KINDS = {
    "fruit": "apple pear plum cherry lemon melon grape peach",
    "colour": "red green blue black white brown yellow purple",
    "beast": "horse sheep goat cow hen duck goose pig",
}
PICTURE = """name => {
  const all = Bokeh.documents[0].roots().flatMap(one => [...one.references()])
  const figure = all.find(one => one.type === "Figure" && one.name?.includes(name))
  const sources = figure?.renderers.map(one => one.data_source.data) ?? []
  const found = sources.find(one => one.number_of_topic)
  return figure && { word: sources.find(one => one.word)?.word, kinds: figure.renderers.map(one => one.glyph.type),
    marked: figure.renderers.map(one => one.data_source).filter(one => one.data.number_of_topic)
      .flatMap(one => one.selected.indices.map(at => one.data.number_of_topic[at])),
    points: found?.x && Array.from(found.number_of_topic, (topic, at) => [topic, found.x[at], found.y[at], found.share?.[at]]),
    x: [figure.x_range.start, figure.x_range.end], y: [figure.y_range.start, figure.y_range.end] }
}"""
"""What a picture shows whose name contains a text."""


@pytest.fixture(scope="module")
def corpus():
    """120 texts of twelve words, most of them of one kind."""
    rng, kinds = np.random.default_rng(0), [words.split() for words in KINDS.values()]
    texts = [
        " ".join(rng.choice(kinds[at % 3], 10)) + " " + " ".join(rng.choice(kinds[(at + 1) % 3], 2))
        for at in range(120)
    ]
    return Corpus.from_texts(texts, titles=[f"text {at}" for at in range(120)])


@pytest.fixture(scope="module")
def topics_url(url, store, corpus):
    """The page, with two finished runs in the store."""
    for engine, k in (("svb", 3), ("cgs", 4)):
        fit(corpus, engine, k, n_iterations=30, store=store, name=f"done-{engine}", progress=False)
    return url.replace("/compare", "/topics")


@pytest.fixture
def page(new_page, topics_url):
    """The page of the run done-cgs."""
    return ready(new_page(f"{topics_url}?run=done-cgs"), 4)


def ready(page, n_topics: int):
    card(page, "topics").locator("tbody tr").nth(n_topics - 1).wait_for()
    until(lambda: picture(page, "-map-0"), "the map")
    return page


def picture(page, name: str) -> dict:
    return page.evaluate(PICTURE, name)


def tap(page, topic: int) -> None:
    """Taps the circle of a topic on the map."""
    drawn = picture(page, "-map-0")
    x, y = next(place for number, *place, _ in drawn["points"] if number == topic)
    frame = card(page, "map").locator(".bk-CartesianFrame").bounding_box()
    (left, right), (low, high) = drawn["x"], drawn["y"]
    across, down = (x - left) / (right - left), (high - y) / (high - low)
    page.mouse.click(frame["x"] + across * frame["width"], frame["y"] + down * frame["height"])


def card(page, name: str):
    return page.locator(f".{name}")


def words(page) -> list[str]:
    """The words that are drawn."""
    return (picture(page, "-words-") or {}).get("word") or []


def address(page) -> str:
    """As the browser has it now; `page.url` is what Playwright heard of it when it last looked."""
    return page.evaluate("location.href")


def pressed(page) -> str:
    """The topic that is chosen in the table."""
    return "".join(card(page, "topics").locator("tr.chosen th").all_inner_texts())


def file_of(page, name: str, button: str) -> bytes:
    with page.expect_download() as arriving:
        card(page, name).get_by_role("button", name=button, exact=True).first.click()
    return arriving.value.path().read_bytes()


def test_an_empty_store_says_what_to_do_next_and_pages_are_linked(new_page, url, store):
    """The first test of the file: the store has no runs yet."""
    assert not store.exists() or not open_runs(store)
    page = new_page(url.replace("/compare", "/topics"))
    page.get_by_text("No run yet").wait_for()
    assert [text for text in page.locator("button:visible").all_inner_texts() if text] == [
        "Copy link",
        "Light / dark",
    ]
    assert page.get_by_role("heading").count() == 1, "no card that has nothing to say"
    page.get_by_role("link", name="Start one on the Compare page").click()
    page.get_by_role("button", name="Start", exact=True).wait_for()
    assert json.dumps(page.url).count("/compare") == 1


def test_a_topic_is_chosen_on_the_map_in_the_table_and_by_keyboard_and_the_link_restores_it(
    page, new_page, store
):
    run = open_run(store / "done-cgs")
    by_size = topics_by_size(run)
    rows = card(page, "topics").locator("tbody th button")
    assert [int(text) for text in rows.all_inner_texts()] == by_size
    page.get_by_text("Of the whole corpus these words tell topics apart").wait_for()
    tap(page, by_size[1])
    wanted = list(top_words(run, 24, 0.6)["word"].sel(topic=by_size[1]).values)
    until(lambda: words(page) == wanted, "the words of the topic")
    assert pressed(page) == str(by_size[1])
    rows.nth(2).focus()
    page.keyboard.press("Enter")
    until(lambda: pressed(page) == str(by_size[2]), "by keyboard")
    until(lambda: picture(page, "-map-0")["marked"] == [by_size[2]], "marked on the map")
    handles = card(page, "words").locator(".noUi-handle")
    handles.nth(0).focus()
    page.keyboard.press("Home")
    handles.nth(1).focus()
    page.keyboard.press("End")
    likeliest = list(top_words(run, 1, 1.0)["word"].sel(topic=by_size[2]).values)
    until(lambda: words(page) == likeliest, "one word, ranked by probability")
    until(
        lambda: all(
            part in address(page) for part in ("relevance=1", f"topic={by_size[2]}", "words=1")
        ),
        "the link",
    )
    other = ready(new_page(page.url), 4)
    until(
        lambda: words(other) == words(page) and pressed(other) == pressed(page),
        "the link shows the same",
    )
    page.get_by_role("button", name="Whole corpus").click()
    until(lambda: pressed(page) == "" and "topic=" not in address(page), "no topic")


def test_a_label_is_saved_by_enter_and_shown_everywhere(page, new_page, store, url):
    topic = topics_by_size(open_run(store / "done-cgs"))[0]
    card(page, "topics").locator("tbody th button").first.click()
    field = page.get_by_label("Label", exact=True)
    field.fill("<b>things</b>")
    field.press("Enter")
    until(
        lambda: [label.text for label in Run(store / "done-cgs").notes.labels] == ["<b>things</b>"],
        "it is kept",
    )
    card(page, "topics").locator("td", has_text="<b>things</b>").wait_for()
    card(page, "documents").get_by_role("button", name=f"topic {topic}").first.wait_for()
    compare = new_page(url)
    link = compare.get_by_role("link", name="done-cgs", exact=True)
    assert link.get_attribute("href") == "topics?run=done-cgs"
    field.fill("")
    field.press("Enter")
    until(lambda: Run(store / "done-cgs").notes.labels == (), "an empty one takes it away")


def test_words_are_looked_up_documents_sorted_and_turned_and_two_groups_compared(
    new_page, topics_url, store, corpus
):
    kinds, rng = list(KINDS), np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "text": [" ".join(rng.choice(KINDS[kinds[at % 3]].split(), 12)) for at in range(120)],
            "id": [f"text {at}" for at in range(120)],
            "kind": [kinds[at % 3] for at in range(120)],
            "size": rng.permutation(120),
        }
    )
    fit(
        corpus_of(table, id="id"),
        "cgs",
        3,
        n_iterations=20,
        store=store,
        name="of-kinds",
        progress=False,
    )
    page = ready(new_page(f"{topics_url}?run=of-kinds"), 3)
    found, documents, recorded = (
        card(page, "map"),
        card(page, "documents"),
        card(page, "recorded"),
    )
    page.get_by_label("Find words", exact=True).fill("PE")
    page.keyboard.press("Enter")
    found.get_by_text("3 of 24 words contain “PE”.", exact=True).wait_for()
    assert sorted(found.locator("tbody th").all_inner_texts()) == ["grape", "peach", "pear"]
    shares = [share for *_, share in picture(page, "-map-0")["points"]]
    found.get_by_role("button", name="pear").click()
    found.get_by_text("tokens of “pear”").wait_for()
    until(
        lambda: [share for *_, share in picture(page, "-map-0")["points"]] != shares,
        "circles have their sizes from the word",
    )
    chip = found.locator("tbody button.topic").first
    topic = chip.get_attribute("data-key").removeprefix("topic ")
    rows = documents.locator("tr[data-key]")
    until(lambda: rows.count() == PER_PAGE, "a page of all documents")
    documents.get_by_text("1–50 of 120").wait_for()
    documents.get_by_role("button", name="size", exact=True).click()
    in_order = np.argsort(table["size"].values).tolist()
    listed = "rows => rows.map(row => Number(row.dataset.key.slice(9)))"
    until(lambda: rows.evaluate_all(listed) == in_order[:50], "sorted by a column")
    documents.get_by_role("button", name="size ↑", exact=True).click()
    until(
        lambda: rows.first.get_attribute("data-key") == f"document {in_order[-1]}",
        "the other way round",
    )
    documents.get_by_role("button", name="Next ›").click()
    documents.get_by_text("51–100 of 120").wait_for()
    until(
        lambda: "order=-size" in page.url and "page=2" in page.url and "word=PE" in page.url,
        "the link",
    )
    chip.click()
    until(
        lambda: pressed(page) == topic and chip.get_attribute("aria-pressed") == "true",
        "a topic of the word is chosen",
    )
    until(
        lambda: f"Topic {topic}" in documents.locator("thead").first.inner_text(),
        "the documents have its share",
    )
    assert "page=" not in address(page)
    recorded.get_by_label("Figure", exact=True).select_option("Differences between groups")
    recorded.get_by_label("Group", exact=True).select_option("kind: fruit")
    recorded.get_by_label("Compared with", exact=True).select_option("kind: beast")
    recorded.get_by_text("from that in those of the group 'kind: beast'").wait_for()
    recorded.get_by_label("Figure", exact=True).select_option("Topics by group")
    recorded.get_by_role("figure", name="Topics by group").wait_for()
    cells = recorded.locator(".bk-CartesianFrame")
    cells.scroll_into_view_if_needed()
    frame = cells.bounding_box()
    page.mouse.click(frame["x"] + frame["width"] / 6, frame["y"] + frame["height"] / 6)
    documents.get_by_text("40 of 120 documents have what is looked for, sorted by topic").wait_for()
    assert "find=%22kind%22%3D" in page.url and "topic=" in page.url


def test_rows_of_a_network_are_found_unfolded_and_choose_a_topic(new_page, topics_url, store):
    names = [f"Ada {at}" for at in range(60)]
    network = Network.of("author-topic", n_topics=3).with_authors(names)
    documents, _ = network.simulate(60, 15, 20, seed=2, authors=[(name,) for name in names])
    fit(
        documents,
        "network-vb",
        model=network,
        n_iterations=3,
        store=store,
        name="levels",
        progress=False,
    )
    try:
        page = ready(new_page(f"{topics_url}?run=levels"), 3)
        model = card(page, "model")
        rows, field = model.locator("summary"), page.get_by_label("Find rows", exact=True)
        until(lambda: rows.count() == 50, "the list")
        model.get_by_text("50 of 60").wait_for()
        field.fill(" ada 3")
        field.press("Enter")
        wanted = sorted(name for name in names if name.startswith("Ada 3"))
        until(
            lambda: sorted(text[:6].strip() for text in rows.all_inner_texts()) == wanted, "found"
        )
        model.get_by_text("11 of 11 found").wait_for()
        values = model.get_by_role("table", name="topic of Ada 33")
        values.wait_for()
        chip = values.locator("button.topic").first
        chip.click()
        until(lambda: f"topic {pressed(page)}" == chip.get_attribute("data-key"), "chosen")
        assert chip.get_attribute("aria-pressed") == "true"
        until(lambda: f"topic={pressed(page)}" in address(page), "the link")
        rows.first.click()
        until(lambda: model.locator("details[open]").count() == 10, "one is folded")
        page.get_by_label("Topics of", exact=True).select_option("done-cgs")
        model.wait_for(state="hidden")
    finally:
        Run(store / "levels").remove()


def test_sizes_are_stacked_or_lines_and_choose_a_topic_that_other_pictures_show(page, store):
    largest = topics_by_size(open_run(store / "done-cgs"))[0]
    page.get_by_label("Match with", exact=True).select_option("done-svb")
    card(page, "matching").get_by_text("mean distance").wait_for()
    until(lambda: (picture(page, "-sizes-0") or {}).get("kinds") == ["MultiPolygons"], "stacked")
    drawn = card(page, "sizes").locator(".bk-Figure").first
    drawn.scroll_into_view_if_needed()
    box = drawn.bounding_box()
    drawn.click(position={"x": box["width"] / 2, "y": box["height"] * 0.75})
    until(lambda: pressed(page) == str(largest), "the topic at the bottom is chosen")
    until(lambda: set(picture(page, "-matching-0")["marked"]) == {largest}, "marked")
    card(page, "sizes").get_by_label("Sizes as").select_option("lines")
    until(lambda: picture(page, "-sizes-0")["kinds"] == ["MultiLine"], "lines")
    until(lambda: "sizes=lines" in address(page), "the link")
    assert file_of(page, "sizes", "SVG").startswith(b"<?xml")


def test_scores_are_sorted_by_click_and_keyboard_and_the_link_restores_it(page, new_page):
    table = card(page, "topics").locator("table")
    page.get_by_text("Means over topics").wait_for()

    def column():
        texts = table.locator("tbody td:nth-child(6)").all_inner_texts()
        return [float(text.replace("−", "-")) for text in texts]

    table.get_by_role("button", name="NPMI").click()
    table.get_by_role("button", name="NPMI ↓").wait_for()
    assert column() == sorted(column(), reverse=True)
    table.get_by_role("button", name="NPMI ↓").press("Enter")
    table.get_by_role("button", name="NPMI ↑").wait_for()
    assert column() == sorted(column())
    until(lambda: address(page).endswith("&scores=NPMI"), "the link")
    there = ready(new_page(page.url), 4)
    there.get_by_text("Means over topics").wait_for()
    order = table.locator("tbody th").all_inner_texts()
    until(lambda: card(there, "topics").locator("tbody th").all_inner_texts() == order, "the same")


def test_text_is_folded_in_typed_and_uploaded(page, tmp_path):
    unseen = card(page, "unseen")
    field = page.get_by_label("Text of a document that the run has not seen")
    unseen.get_by_role("button", name="Infer topics").click()
    unseen.get_by_text("is empty").wait_for()
    field.fill("The apple, the PEAR and a unicorn.")
    unseen.get_by_role("button", name="Infer topics").click()
    unseen.get_by_text("33.3 % of 3 tokens are unknown").wait_for()
    until(
        lambda: unseen.locator(".text").inner_text() == "The apple, the PEAR and a unicorn.",
        "the text is there",
    )
    assert unseen.locator(".token.unknown").all_inner_texts() == ["unicorn"]
    assert unseen.locator(".token:not(.unknown)").all_inner_texts() == ["apple", "PEAR"]
    assert unseen.locator(".bars tbody tr").count() >= 1
    several = tmp_path / "several.csv"
    several.write_text("title,text\none,apple pear\ntwo,horse sheep dragon\n")
    unseen.locator("input[type=file]").set_input_files(several)
    unseen.get_by_role("button", name="two").click()
    unseen.get_by_role("heading", name="two").wait_for()
    table = pd.read_csv(io.BytesIO(file_of(page, "unseen", "CSV of the documents")))
    assert table["out_of_vocabulary"].tolist() == pytest.approx([0, 1 / 3])
    wrong = tmp_path / "picture.png"
    wrong.write_bytes(b"png")
    unseen.locator("input[type=file]").set_input_files(wrong)
    unseen.get_by_text("is no file of text").wait_for()


def test_pictures_follow_a_live_run(new_page, topics_url, store, corpus):
    start(
        corpus,
        engine="cgs",
        n_topics=3,
        n_iterations=LONG,
        snapshot_every=200,
        store=store,
        name="live",
    )
    try:
        page = ready(new_page(f"{topics_url}?run=live&sizes=lines"), 3)
        until(lambda: picture(page, "-sizes-0"), "sizes")
        before = picture(page, "-sizes-0")["x"][1]
        until(lambda: picture(page, "-sizes-0")["x"][1] > before, "sizes go on")
        until(
            lambda: "running" in page.get_by_text("topics of live").inner_text(),
            "its state is told",
        )
    finally:
        Run(store / "live").stop()
        Run(store / "live").wait(30)
        Run(store / "live").remove()


def test_a_map_goes_through_the_years_by_itself_until_it_is_stopped(new_page, topics_url, store):
    years, places = (
        (2000.0, 2001.0, 2002.0),
        {"OH": (40.3, -82.8), "KS": (38.5, -98.4), "CA": (37.2, -119.3)},
    )
    rows = [(place, year) for place in places for year in years]
    births = Corpus.from_pairs(
        np.repeat(np.arange(9), 2),
        np.tile([0, 1], 9),
        np.arange(2, 20),
        vocabulary=("Ann", "Bob"),
        name="births",
        titles=[f"{place} {year:.0f}" for place, year in rows],
        inputs={
            "year": [year for _, year in rows],
            "latitude": [places[place][0] for place, _ in rows],
            "longitude": [places[place][1] for place, _ in rows],
        },
    )
    fit(
        births,
        "sbm-gp",
        n_iterations=4,
        burn_in=2,
        options={"average_after": 2},
        store=store,
        name="births",
        progress=False,
    )
    page = new_page(f"{topics_url}?run=births")
    recorded = card(page, "recorded")
    recorded.get_by_label("Figure", exact=True).select_option("Map of a word")
    play = recorded.get_by_role("button", name="Play")
    play.wait_for()
    seen, year = set(), recorded.locator(".bk-slider-title")
    year.wait_for()
    play.click()
    until(
        lambda: seen.add(year.inner_text()[-4:]) or seen >= {"2000", "2001", "2002"},
        "every year is shown in turn",
    )
    play.click()
    page.wait_for_timeout(1500)  # what was on its way when it was stopped
    stopped = year.inner_text()
    page.wait_for_timeout(2500)
    assert year.inner_text() == stopped
