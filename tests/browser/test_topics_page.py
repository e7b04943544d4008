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
RADII = "() => Object.fromEntries([...deep('circle')].map(c => [c.parentNode.dataset.topic, parseFloat(c.style.r)]))"
DEEP = """window.deep = (selector, root = document) => [
  ...root.querySelectorAll(selector),
  ...[...root.querySelectorAll('*')].flatMap(n => n.shadowRoot ? deep(selector, n.shadowRoot) : []),
]"""


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
    page.locator(".listed tbody tr").nth(n_topics - 1).wait_for()
    page.evaluate(DEEP)
    return page


def card(page, name: str):
    return page.locator(f".{name}")


def words(page) -> list[str]:
    """The words that are listed."""
    return page.locator(".worded tbody th button").all_inner_texts()


def address(page) -> str:
    """As the browser has it now; `page.url` is what Playwright heard of it when it last looked."""
    return page.evaluate("location.href")


def pressed(page) -> str:
    """The topic that is chosen in the list."""
    return "".join(page.locator(".listed button[aria-pressed=true]").all_inner_texts())


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


def test_a_topic_is_chosen_on_the_map_in_the_list_and_by_keyboard_and_the_link_restores_it(
    page, new_page, store
):
    run = open_run(store / "done-cgs")
    by_size = topics_by_size(run)
    assert [int(text) for text in page.locator(".listed tbody th").all_inner_texts()] == by_size
    page.get_by_text("The whole corpus", exact=True).wait_for()
    page.locator(f"g[data-topic='{by_size[1]}']").click()
    wanted = list(top_words(run, 24, 0.6)["word"].sel(topic=by_size[1]).values)
    until(lambda: words(page) == wanted, "the words of the topic")
    assert pressed(page) == str(by_size[1])
    page.locator(f"tr[data-topic='{by_size[1]}'] button.topic").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    until(lambda: pressed(page) == str(by_size[2]), "the next one by keyboard")
    page.locator(f"g[data-topic='{by_size[2]}']").focus()
    page.keyboard.press("Escape")
    until(lambda: pressed(page) == "", "none")
    page.keyboard.press("Enter")
    until(lambda: pressed(page) == str(by_size[2]), "by keyboard on the map")
    page.get_by_label("Words", exact=True).fill("5")
    page.get_by_label("Words", exact=True).blur()
    until(lambda: len(words(page)) == 5, "as many words as asked for")
    handle = page.locator(".noUi-handle").first
    handle.focus()
    page.keyboard.press("End")
    until(
        lambda: words(page) == list(top_words(run, 5, 1.0)["word"].sel(topic=by_size[2]).values),
        "ranked by probability",
    )
    until(
        lambda: (
            "relevance=1" in page.url
            and f"topic={by_size[2]}" in page.url
            and "words=5" in page.url
        ),
        "the link",
    )
    other = ready(new_page(page.url), 4)
    until(
        lambda: words(other) == words(page) and pressed(other) == pressed(page),
        "the link shows the same",
    )
    page.get_by_role("button", name="Whole corpus").click()
    page.get_by_text("The whole corpus", exact=True).wait_for()
    until(lambda: "topic=" not in page.url, "the link forgets the topic")


def test_a_word_that_is_pointed_at_or_held_gives_the_points_their_sizes(page):
    shares = page.evaluate(RADII)
    page.locator(".worded tbody tr").first.hover()
    until(lambda: page.evaluate(RADII) != shares, "the points take sizes from the word")
    page.get_by_text("lies in topic").wait_for()
    page.locator("h3").first.hover()
    until(lambda: page.evaluate(RADII) == shares, "and their own again")
    button = page.locator(".worded tbody th button").nth(2)
    button.click()
    page.locator("h3").first.hover()
    assert button.get_attribute("aria-pressed") == "true" and page.evaluate(RADII) != shares
    button.focus()
    page.keyboard.press("Escape")
    page.locator("h3").first.hover()
    button.blur()
    until(lambda: page.evaluate(RADII) == shares, "let go by Escape")


def test_a_label_is_saved_by_enter_left_by_escape_and_shown_everywhere(page, new_page, store, url):
    topic = topics_by_size(open_run(store / "done-cgs"))[0]
    page.locator(f"tr[data-topic='{topic}'] button.topic").first.click()
    page.get_by_role("button", name="Edit label", exact=True).click()
    field = page.get_by_label(f"label of topic {topic}")
    field.fill("never mind")
    page.keyboard.press("Escape")
    assert not field.is_visible() and Run(store / "done-cgs").notes.labels == ()
    page.get_by_role("button", name="Edit label", exact=True).click()
    field.fill("<b>things</b>")
    page.keyboard.press("Enter")
    until(
        lambda: [label.text for label in Run(store / "done-cgs").notes.labels] == ["<b>things</b>"],
        "it is kept",
    )
    page.get_by_role("heading", name=f"Topic {topic} · <b>things</b>").wait_for()
    page.locator("svg.map text.label", has_text="<b>things</b>").wait_for()
    page.locator(".scores td", has_text="<b>things</b>").wait_for()
    compare = new_page(f"{url}?topics_of=done-cgs")
    compare.get_by_role("link", name="Topics of done-cgs").click()
    compare.wait_for_url("**/topics?run=done-cgs")
    page.get_by_role("button", name="Edit label", exact=True).click()
    field.fill("")
    page.keyboard.press("Enter")
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
        page.locator(".wb-words"),
        card(page, "documents"),
        card(page, "recorded"),
    )
    page.get_by_label("Find words", exact=True).fill("PE")
    page.keyboard.press("Enter")
    found.get_by_text("3 of 24 words contain “PE”.", exact=True).wait_for()
    assert sorted(found.locator("tbody th").all_inner_texts()) == ["grape", "peach", "pear"]
    chip = found.locator("tbody button.topic").first
    topic = chip.get_attribute("data-topic")
    rows = documents.locator("tr[data-document]")
    until(lambda: rows.count() == PER_PAGE, "a page of all documents")
    documents.get_by_text("1–50 of 120", exact=True).wait_for()
    sort = documents.get_by_label("Sort by")
    sort.select_option("size")
    in_order = np.argsort(table["size"].values).tolist()
    listed = "rows => rows.map(row => Number(row.dataset.document))"
    until(lambda: rows.evaluate_all(listed) == in_order[:50], "sorted by a column")
    documents.get_by_role("button", name="size", exact=True).click()
    until(
        lambda: rows.first.get_attribute("data-document") == str(in_order[-1]),
        "the other way round",
    )
    documents.get_by_role("button", name="Next ›").click()
    documents.get_by_text("51–100 of 120", exact=True).wait_for()
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
        lambda: f"Topic {topic}" in documents.locator("thead").inner_text(),
        "the documents have its share",
    )
    assert "page=" not in address(page)
    recorded.get_by_label("Figure", exact=True).select_option("Differences between groups")
    recorded.get_by_label("Group", exact=True).select_option("kind: fruit")
    recorded.get_by_label("Compared with", exact=True).select_option("kind: beast")
    recorded.get_by_text("from that in those of the group 'kind: beast'").wait_for()


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
        rows, field = (
            model.locator("table.rows button.name"),
            model.get_by_label("find author in level theta"),
        )
        until(lambda: rows.count() == 50, "the list")
        model.get_by_text("50 of 60").wait_for()
        field.fill(" ada 3")
        wanted = sorted(name for name in names if name.startswith("Ada 3"))
        until(lambda: sorted(rows.all_inner_texts()) == wanted, "found")
        model.get_by_text("11 of 11 found").wait_for()
        field.fill("ada 33")
        rows.first.click()
        values = model.get_by_role("table", name="topic of Ada 33")
        values.wait_for()
        assert rows.first.get_attribute("aria-expanded") == "true" and "%" in values.inner_text()
        chip = values.locator("button.topic").first
        chip.click()
        until(
            lambda: pressed(page) == chip.get_attribute("data-topic"),
            "a topic of the card is the page's",
        )
        assert chip.get_attribute("aria-pressed") == "true"
        until(lambda: f"topic={pressed(page)}" in address(page), "the link")
        rows.first.click()
        values.wait_for(state="hidden")
        page.get_by_label("Topics of", exact=True).select_option("done-cgs")
        model.wait_for(state="hidden")
    finally:
        Run(store / "levels").remove()


def figure(page, name: str) -> str:
    """What the browser calls a figure that is on the page."""
    models = "Bokeh.documents[0].roots().flatMap(one => [...one.references()])"
    found = f"{models}.find(one => one.name === '{name}')"
    page.wait_for_function(f"() => {found}")
    return found


def test_sizes_are_stacked_or_lines_and_choose_a_topic_that_other_pictures_show(page, store):
    largest = str(topics_by_size(open_run(store / "done-cgs"))[0])
    page.get_by_label("Match with", exact=True).select_option("done-svb")
    card(page, "matching").get_by_text("mean distance").wait_for()
    kinds = f"() => {figure(page, 'sizes-0')}.renderers.map(one => one.glyph.type)"
    assert page.evaluate(kinds) == ["MultiPolygons"]
    drawn = card(page, "sizes").locator(".bk-Figure").first
    drawn.scroll_into_view_if_needed()
    box = drawn.bounding_box()
    drawn.click(position={"x": box["width"] / 2, "y": box["height"] * 0.75})
    until(lambda: pressed(page) == largest, "the topic at the bottom is chosen")
    matched = f"{figure(page, 'matching-0')}.renderers[1].data_source"
    marked = "one => one.selected.indices.map(at => String(one.data.number_of_topic[at]))"
    until(lambda: page.evaluate(f"({marked})({matched})") == [largest], "marked")
    card(page, "sizes").get_by_role("button", name="Lines").click()
    until(lambda: page.evaluate(kinds) == ["MultiLine"], "lines")
    until(lambda: "sizes=lines" in page.url, "the link")
    assert file_of(page, "sizes", "SVG").startswith(b"<?xml")


def test_scores_are_sorted_by_click_and_keyboard_and_the_link_restores_it(page, new_page):
    table = card(page, "scores").locator("table")
    until(lambda: table.locator("tbody tr").count() == 4, "the scores are there")

    def column(at):
        return [
            float(text.replace("−", "-"))
            for text in table.locator(f"tbody td:nth-child({at})").all_inner_texts()
        ]

    table.get_by_role("button", name="NPMI").click()
    assert column(5) == sorted(column(5), reverse=True)
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("NPMI")
    page.keyboard.press("Enter")
    assert column(5) == sorted(column(5)) and table.locator("th[aria-sort=ascending]").count() == 1
    until(lambda: address(page).endswith("&scores=NPMI"), "the link")
    other = ready(new_page(address(page).replace("=NPMI", "=-NPMI")), 4)
    there = card(other, "scores").locator("tbody th")
    until(there.all_inner_texts, "the scores are there too")
    assert there.all_inner_texts() == table.locator("tbody th").all_inner_texts()[::-1]
    assert table.locator("tfoot").inner_text().startswith("mean")
    table.locator("tbody tr button").first.click()
    until(
        lambda: pressed(page) == table.locator("tbody tr button").first.inner_text(),
        "a row chooses its topic",
    )


def test_no_number_of_the_map_lies_on_another_and_zoom_makes_room_for_more(
    new_page, topics_url, store, corpus
):
    fit(corpus, "cgs", 60, n_iterations=5, store=store, name="many", progress=False)
    page = ready(new_page(f"{topics_url}?run=many", width=1440), 60)
    found = """() => {
      const shown = deep('.map .number').filter(one => getComputedStyle(one).visibility !== 'hidden')
      const boxes = shown.map(one => one.getBoundingClientRect())
      const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.4 * a.height
      return [shown.length, boxes.filter((one, at) => boxes.some((other, to) => to < at && on(one, other))).length]
    }"""
    view = "() => deep('svg.map')[0].getAttribute('viewBox').split(' ').map(Number)"
    shown, on_another = page.evaluate(found)
    assert 0 < shown < 60 and on_another == 0
    page.get_by_text(f"Numbers without room: {60 - shown} of 60; zoom in to see them.").wait_for()
    for _ in range(4):
        page.get_by_role("button", name="Zoom in").click()
    until(lambda: page.evaluate(found)[0] > shown, "more numbers")
    assert page.evaluate(found)[1] == 0
    box, before = page.locator("svg.map").bounding_box(), page.evaluate(view)
    assert before[2] == pytest.approx(420 / 1.6**4, abs=0.01)
    page.mouse.move(box["x"] + 150, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 110, box["y"] + 130, steps=4)
    page.mouse.up()
    left, top, wide, _ = page.evaluate(view)
    unit = wide / box["width"]
    assert [left, top] == pytest.approx([before[0] + 40 * unit, before[1] + 20 * unit], abs=0.05)
    assert pressed(page) == "", "a drag chooses no topic"
    page.keyboard.down("Control")
    page.mouse.wheel(0, 100)
    until(lambda: page.evaluate(view)[2] > wide, "the wheel zooms out")
    page.keyboard.up("Control")
    page.get_by_role("button", name="Whole map").click()
    assert page.evaluate(view) == [0, 0, 420, 420] and page.evaluate(found) == [shown, 0]
    page.get_by_role("button", name="Zoom in").click()
    page.locator(".listed button.topic").last.click()
    last = int(page.locator(".listed button.topic").last.inner_text())
    until(
        lambda: (
            page.locator(f".map g[data-topic='{last}']").get_attribute("aria-pressed") == "true"
        ),
        "chosen",
    )
    assert (
        page.evaluate(
            "at => deep('.map .number')[at].classList.contains('covered')",
            [*page.evaluate("() => deep('.map .number').map(one => one.textContent)")].index(
                str(last)
            ),
        )
        is False
    )


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
    assert unseen.locator("table.bars tr").count() >= 1
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


def test_points_stay_the_same_while_a_live_run_goes_on(new_page, topics_url, store, corpus):
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
        page.evaluate(
            "() => { first = deep('g[data-topic]'); held = deep('tr[data-topic] button')[0] }"
        )
        last = f"() => {figure(page, 'sizes-0')}.x_range.end"
        before = page.evaluate(last)
        until(lambda: page.evaluate(last) > before, "sizes go on")
        assert page.evaluate(
            "() => deep('g[data-topic]').every(g => first.includes(g)) && held.isConnected"
        )
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
    page.evaluate(DEEP)
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
