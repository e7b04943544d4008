"""The Compare page in a real Chromium: runs steered, files downloaded, its theme and its layout."""

import io
import sys
import zipfile
from urllib.request import urlopen

import pytest
from browser.desk import (
    download,
    field,
    figure,
    press,
    reached,
    row,
    state,
    until,
)
from browser.servers import serving

from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.execution.fit import fit, start
from workbench.runs.execution.run import Run, open_runs
from workbench.runs.store.status import read_spec

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LONG = 150_000
"""Iterations that no test waits for."""


@pytest.fixture(scope="module")
def halves():
    """Training and test tokens of 300 documents: some milliseconds an iteration."""
    return hold_out_tokens(LDA(4, 0.3, 0.2).simulate(300, 200, 50, seed=3)[0], fraction=0.1, seed=0)


@pytest.fixture(scope="module")
def finished(store, halves):
    """Two finished runs of 30 iterations in the store."""
    train, test = halves
    for engine in ("svb", "cgs"):
        fit(
            train,
            engine,
            4,
            test=test,
            n_iterations=30,
            store=store,
            name=f"done-{engine}",
            progress=False,
        )
    return store


def test_runs_from_a_terminal_appear_stream_and_are_paused_resumed_and_stopped(
    url, new_page, store, halves
):
    page = new_page(url)
    page.get_by_text("No run yet").wait_for()
    train, test = halves
    names = ("live-svb", "live-cgs")
    for name in names:
        start(
            train,
            engine=name.split("-")[1],
            n_topics=4,
            test=test,
            n_iterations=LONG,
            store=store,
            name=name,
        )
    try:
        for name in names:
            row(page, name).wait_for()
            until(lambda name=name: state(page, name) == "running", f"{name} is running")
        assert not page.get_by_text("No run yet").is_visible()
        before = until(
            lambda: [n for n in reached(page) if n] * (sum(n > 0 for n in reached(page)) == 2),
            "two runs are drawn",
        )
        until(
            lambda: all(now > then for now, then in zip(reached(page), before, strict=False)),
            "both runs stream",
        )
        assert sorted(figure(page)["legend"]) == ["cgs", "svb"]
        shown = row(page, "live-cgs").inner_text()
        until(lambda: row(page, "live-cgs").inner_text() != shown, "the row goes on")

        page.get_by_label("choose live-cgs").check()
        press(page, "Pause")
        until(lambda: state(page, "live-cgs") == "paused", "the page shows the pause")
        assert (Run(store / "live-cgs").state, Run(store / "live-svb").state) == (
            "paused",
            "running",
        )
        rests = reached(page)
        until(
            lambda: any(now > then for now, then in zip(reached(page), rests, strict=True)),
            "the other run streams on",
        )
        rests = reached(page)
        until(lambda: reached(page) != rests, "the other run streams on")
        assert sum(now != then for now, then in zip(reached(page), rests, strict=True)) == 1
        press(page, "Resume")
        until(lambda: state(page, "live-cgs") == "running", "the page shows that it goes on")
        page.get_by_label("choose all runs that are found").check()
        press(page, "Stop 2")
        for name in names:
            until(
                lambda name=name: state(page, name) == "stopped",
                f"the page shows that {name} has stopped",
            )
            assert Run(store / name).state == "stopped"
    finally:
        for name in names:
            Run(store / name).stop()
        for name in names:
            Run(store / name).wait(30)
    press(page, "Remove 2")
    page.get_by_text("press again").wait_for()
    press(page, "Really remove 2")
    until(lambda: not page.locator("[data-run]").count(), "the rows are gone")
    assert open_runs(store) == []
    until(lambda: reached(page) == [0] * 8, "the curves are gone")


def test_the_link_is_copied(url, new_page, browser):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = new_page(url, context=context)
    press(page, "Updates")
    until(lambda: "axis=updates" in page.evaluate("location.href"), "the axis is in the link")
    press(page, "Copy link")
    page.get_by_role("button", name="Copied").wait_for()
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == page.evaluate("location.href")
        == f"{url}?axis=updates"
    )
    context.close()


def test_downloads_arrive_and_are_what_they_say(url, new_page, store, finished):
    page = new_page(f"{url}?runs=done-svb,done-cgs&measure=state&axis=updates")
    until(lambda: sorted(figure(page)["legend"]) == ["cgs", "svb"], "both runs are drawn")
    corpus = read_spec(store / "done-svb").corpus
    for button, suffix, begins in (
        ("SVG", "svg", b"<?xml"),
        ("PDF", "pdf", b"%PDF"),
        ("PNG", "png", b"\x89PNG"),
    ):
        name, content = download(page, button, "download the figure")
        assert name == f"{corpus}-state-perplexity-by-updates.{suffix}" and content.startswith(
            begins
        )
    name, content = download(page, "CSV", "download the figure")
    lines = content.decode().splitlines()
    assert name == f"{corpus}-state-perplexity-by-updates.csv" and len(lines) == 1 + 2 * 30
    assert lines[0] == "run,label,seed,iteration,steps,updates,elapsed,test_perplexity_state"
    name, content = download(page, "SVG", "download the comparison")
    assert name == "comparison.svg" and b"Paired differences" in content
    name, content = download(page, "Report")
    assert name == f"report-{corpus}-2-runs.html" and b"</html>" in content
    name, content = download(page, "Report for readers")
    assert name == f"readers-{corpus}-2-runs.html" and b"found in a further run" in content
    for engine in ("svb", "cgs"):
        page.get_by_label(f"choose done-{engine}").check()
    page.get_by_label("Format").select_option("NumPy (npz)")
    name, content = download(page, "Download as")
    assert name == "2-runs-npz.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert sorted(archive.namelist()) == ["done-cgs/run.npz", "done-svb/run.npz"]


def test_the_theme_follows_the_system_and_the_button_and_is_remembered(url, new_page):
    page = new_page(url, scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(background)
    assert dark != light
    press(page, "Light / dark")
    until(lambda: page.evaluate(background) == light, "the button turns the light on")
    page.reload()
    page.get_by_role("button", name="Start", exact=True).wait_for()
    assert page.evaluate(background) == light
    press(page, "Light / dark")
    until(lambda: page.evaluate(background) == dark, "the button turns the light off")


LEGEND = """() => {
  const within = root =>
    [...root.querySelectorAll("*")].flatMap(one => [one, ...(one.shadowRoot ? within(one.shadowRoot) : [])])
  const legend = within(document).find(one => one.classList.contains("bk-Legend"))
  const figure = Bokeh.documents[0].get_model_by_name("curve")
  const view = Bokeh.index.find_one(figure)
  const top = view.canvas_view.el.getBoundingClientRect().top + view.frame.bbox.top
  const right = view.canvas_view.el.getBoundingClientRect().right
  const entries = [...legend.shadowRoot.querySelectorAll(".bk-item:not(.bk-hidden)")].map(one => one.getBoundingClientRect())
  return [top, right, entries.map(one => [one.bottom, one.right])]
}"""


def test_the_compare_page_fits_its_window_and_its_legend_lies_above_the_curves(
    url, new_page, finished
):
    page = new_page(url, width=390)
    until(lambda: len(figure(page)["legend"]) >= 2, "runs are drawn")
    n_drawn = len(figure(page)["legend"])

    def apart() -> bool:
        top, right, entries = page.evaluate(LEGEND)
        return len(entries) == n_drawn and all(
            low <= top + 1 and end <= right for low, end in entries
        )

    def inside(name: str, width: int) -> bool:
        box = field(page, name).bounding_box()
        return box["width"] > 80 and box["x"] >= 0 and box["x"] + box["width"] <= width

    chains = page.get_by_role("heading", name="Convergence of chains")
    row(page, "done-svb").wait_for()
    assert not chains.count()  # what is out of sight waits until somebody scrolls there
    page.mouse.wheel(0, 20_000)
    chains.wait_for()
    page.mouse.wheel(0, -20_000)
    for width in (390, 800, 1440, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        until(apart, "no entry lies over the curves or beyond the figure")
        until(
            lambda: page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
            "the page is as wide as the window",
        )
        for name in ("n_topics", "holdout"):
            until(lambda name=name, width=width: inside(name, width), f"{name} is seen")


def test_the_root_leads_to_the_page(url):
    with urlopen(url.removesuffix("compare"), timeout=30) as answer:
        assert answer.url == url


def test_panel_serve_serves_the_same_page(new_page, finished):
    command = [
        sys.executable,
        "-m",
        "panel",
        "serve",
        "apps/compare.py",
        "--port",
        "0",
        "--address",
        "localhost",
    ]
    with serving(command, finished) as address:
        page = new_page(address)
        until(
            lambda: state(page, "done-svb") == "finished", "the runs of WORKBENCH_STORE are listed"
        )
        until(lambda: len(figure(page)["legend"]) >= 2, "and drawn")
        assert page.title() == "workbench · Compare"
