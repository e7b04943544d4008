"""A file of one's own in a real Chromium: sent, its columns chosen, looked at, started; and what is refused."""

import re

import pytest
from browser.desk import field, press, state, type_into, until
from browser.servers import our_server, serving

import workbench as wb
from workbench.dashboard.compare.fields import OF_COLUMNS
from workbench.runs.execution.run import Run
from workbench.runs.request import FILE
from workbench.runs.store.archive import get_corpus
from workbench.runs.store.status import read_spec

pytestmark = [pytest.mark.browser, pytest.mark.slow]
DROP = """(box, [name, content]) => {
  const carried = new DataTransfer()
  carried.items.add(new File([content], name))
  box.dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true }))
}"""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """The folder that the server's temporary files lie in."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def url(store, scratch):
    """The Compare page of a server for others that takes files of 1 MB and drops sessions soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(scratch))
        settings = {"address": "0.0.0.0", "no_password": True, "max_upload": 1.0, "lifetime": 5.0}
        with serving(our_server(**settings), store) as address:
            yield address.replace("0.0.0.0", "127.0.0.1")
    assert not [*scratch.iterdir()]


@pytest.fixture
def page(url, new_page):
    page = new_page(url)
    field(page, "corpus").select_option(label=FILE)
    return page


def sent(scratch) -> list[str]:
    """Names of the files that are stored."""
    return sorted(path.name for path in scratch.glob("workbench-upload-*/*"))


def columns(page) -> dict[str, str]:
    return {name: field(page, name).input_value() for name in OF_COLUMNS}


def test_a_file_is_sent_its_columns_are_chosen_and_a_run_of_it_is_started(
    page, store, scratch, tmp_path
):
    page.get_by_label("File", exact=True).set_input_files(
        wb.write_example_csv(tmp_path / "news.csv", 200)
    )
    page.get_by_text(re.compile(r"news\.csv, \d+ kB")).wait_for()
    wanted = {"text": "text", "title": "id", "label": "category", "file.time": "date"}
    until(lambda: columns(page) == wanted, "the columns are known")
    assert sent(scratch) == ["news.csv"]
    field(page, "label").fill("")
    field(page, "label").press_sequentially("source")
    field(page, "label").press("Enter")
    press(page, "Preview data")
    table = page.get_by_role("table", name="first documents")
    table.wait_for()
    assert table.locator("tbody tr").first.inner_text().startswith("item 0\t")
    assert (
        page.get_by_role("table", name="left out")
        .locator("tbody tr")
        .first.inner_text()
        .startswith("Stop words\t1\t")
    )
    for family in ("LDA: ", "HDP: "):
        page.get_by_role("button", name=family).click()
    for engine in ("svb", "cvb", "svb-cgs", "cvb-cgs", "cv-hdp"):
        page.get_by_label(engine, exact=True).uncheck()
    for name, value in {"n_topics": 3, "n_iterations": 5}.items():
        type_into(page, name, value)
    press(page, "Start")
    page.get_by_text("1 run started,").wait_for()
    (path,) = store.glob("news-*")
    train = get_corpus(store, read_spec(path).train)
    assert (
        train.titles[0] == "item 0"
        and set(train.labels) == {"web", "print"}
        and train.times[0].startswith("20")
    )
    until(lambda: state(page, path.name) == "finished", "it is finished")
    page.context.close()
    until(lambda: not [*scratch.glob("workbench-upload-*")], "what the session had is removed")
    Run(path).remove()


def test_a_dropped_file_takes_the_place_of_the_one_before_and_is_removed(page, scratch):
    box = page.locator(".drop")
    for name, content, text in (
        ("a.csv", "id,body\n1,red ants\n", "body"),
        ("b.jsonl", '{"words": "red ants and bees"}\n', "words"),
    ):
        box.evaluate(DROP, [name, content])
        page.get_by_text(f"{name}, 1 kB").wait_for()
        until(lambda text=text: columns(page)["text"] == text, "the columns are known")
        assert sent(scratch) == [name]
    press(page, "Remove the file")
    page.get_by_label("File", exact=True).wait_for()
    until(lambda: not sent(scratch), "it is removed")


def test_what_is_too_large_empty_or_broken_is_told_at_the_field(page, scratch, new_page, url):
    box = page.locator(".drop")
    box.evaluate(DROP, ["large.csv", "x" * 1_200_000])
    page.get_by_text(
        "large.csv has 1.1 MB where this server takes 1 MB; give a part of it."
    ).wait_for()
    box.evaluate(DROP, ["none.csv", ""])
    page.get_by_text("none.csv is empty; choose a file with data.").wait_for()
    assert not [*scratch.glob("workbench-upload-*/*")]
    box.evaluate(DROP, ["broken.csv", 'id,text\n1,"red\n'])
    page.get_by_text(
        "The file, line 2: not a CSV row (unexpected end of data); check the quotes"
    ).wait_for()
    assert page.locator(".wb-wrong .drop").count() == 1
    box.evaluate(DROP, ["whole.csv", "id,text\n1,red\n"])
    page.get_by_text("check the quotes").wait_for(state="hidden")


def test_a_file_on_its_way_shows_how_far_it_is_and_can_be_called_back(page, scratch):
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": 100_000,
        },
    )
    page.locator(".drop").evaluate(DROP, ["slow.csv", "text\n" + "red ants\n" * 100_000])
    page.get_by_role("progressbar").wait_for()
    until(
        lambda: page.locator(".there span").inner_text() not in ("slow.csv", "slow.csv, 0 %"),
        "it goes on",
    )
    press(page, "Cancel the upload")
    page.get_by_label("File", exact=True).wait_for()
    until(lambda: not sent(scratch), "nothing of it is left")
