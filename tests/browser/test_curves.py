"""The figure of the Compare page in a real Chromium: means, smoothing, target, and one run lifted out of the others."""

import io
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from browser.desk import cells, download, figure, fill, points, press, row, until
from PIL import Image

from workbench.corpus import hold_out_tokens
from workbench.measures import mean_curves, paired_differences, reached_by_all, time_to
from workbench.measures.smoothing import smoothed
from workbench.models import LDA
from workbench.runs.execution.fit import fit
from workbench.runs.execution.run import open_run
from workbench.runs.progress import decimals

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LOOKS = """() => Bokeh.documents[0].get_model_by_name('curve').renderers.filter(r => r.visible && r.tags.length).map(r => ({
  part: r.tags[0], alpha: (r.glyph.line_alpha ?? r.glyph.fill_alpha).value, y: (r.glyph.y ?? r.glyph.y1).field,
}))"""
COLUMN = "([slot, name]) => [...Bokeh.documents[0].get_model_by_name('slot-' + slot).data[name]]"
TARGET = """() => {
  const { visible, location } = Bokeh.documents[0].get_model_by_name('target')
  return visible ? location : null
}"""
CROSSINGS = "name => [...Bokeh.documents[0].get_model_by_name('crossings').data[name]]"
FOCUSED = """() => {
  let node = document.activeElement
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return node?.getAttribute("aria-label") ?? node?.innerText ?? ""
}"""
PLACE = """slot => {
  const plot = Bokeh.documents[0].get_model_by_name('curve'), view = Bokeh.index.find_one_by_id(plot.id)
  const line = plot.renderers.find(r => r.tags[0] === 'line-' + slot), data = line.data_source.data
  const rest = plot.renderers.filter(r => r.visible && r !== line && r.tags[0]?.startsWith('line-')), { field } = line.glyph.y
  const apart = at => Math.min(...rest.map(one => Math.abs(one.data_source.data[field][at] - data[field][at])))
  const at = [...data.iteration.keys()].reduce((best, at) => apart(at) > apart(best) ? at : best)
  const box = view.el.getBoundingClientRect()
  const frame = view.frame.bbox
  const { x_range, y_range } = plot
  return {
    x: box.x + frame.left + frame.width * (data.iteration[at] - x_range.start) / (x_range.end - x_range.start),
    y: box.y + frame.top + frame.height * (y_range.end - data[field][at]) / (y_range.end - y_range.start),
  }
}"""


IN_LOGARITHMS = """([slot, at]) => {
  const plot = Bokeh.documents[0].get_model_by_name('curve'), view = Bokeh.index.find_one_by_id(plot.id)
  const { data } = Bokeh.documents[0].get_model_by_name('slot-' + slot)
  const line = plot.renderers.find(r => r.tags[0] === 'line-' + slot), frame = view.frame.bbox
  const share = (value, { start, end }) => Math.log(value / start) / Math.log(end / start)
  const box = view.el.getBoundingClientRect()
  return {
    x: box.x + frame.left + frame.width * share(data.iteration[at], plot.x_range),
    y: box.y + frame.top + frame.height * (1 - share(data[line.glyph.y.field][at], plot.y_range)),
    name: plot.legend?.items?.[slot]?.label?.value ?? plot.center.concat(plot.above).find(p => p.items).items[slot].label.value,
  }
}"""


@pytest.fixture(scope="module")
def names(store):
    """Two seeds of two engines in the store, of 30 iterations; the newest first."""
    train, test = hold_out_tokens(
        LDA(4, 0.3, 0.2).simulate(100, 100, 40, seed=3)[0], fraction=0.1, seed=0
    )
    made = [(engine, seed) for engine in ("svb", "cvb") for seed in range(2)]
    for engine, seed in made:
        fit(
            train,
            engine,
            4,
            test=test,
            n_iterations=30,
            seed=seed,
            store=store,
            name=f"{engine}-{seed}",
            progress=False,
        )
    return [f"{engine}-{seed}" for engine, seed in reversed(made)]


@pytest.fixture
def page(url, new_page, names):
    made = new_page(url)
    until(lambda: [n for n in points(made) if n] == [30] * 4, "four runs are drawn")
    return made


def looks(page, kind="line") -> dict[int, dict]:
    """Slot → opacity and column of the solid line, raw line or band that is visible."""
    return {
        int(one["part"][-1]): one for one in page.evaluate(LOOKS) if one["part"].startswith(kind)
    }


def opacities(page) -> list[float]:
    return [looks(page)[slot]["alpha"] for slot in sorted(looks(page))]


def lit(page) -> str:
    """The runs that are lifted."""
    return page.locator("[data-lit]").get_attribute("data-lit")


def test_means_smoothing_and_target_are_drawn_downloaded_and_in_the_link(
    page, new_page, store, names
):
    runs = [open_run(store / name) for name in reversed(names)]
    wanted = {curve.label: curve for curve in mean_curves(runs, "test_perplexity")}
    target = reached_by_all(runs)
    until(lambda: page.evaluate(TARGET) == pytest.approx(target), "the line lies at what all reach")
    until(
        lambda: (
            sorted(page.evaluate(CROSSINGS, "iteration"))
            == sorted(time_to(runs, target, "iteration").values)
        ),
        "marks are where each run is at or below it",
    )
    press(page, "Mean of seeds")
    until(
        lambda: sorted(figure(page)["legend"]) == ["cvb · mean of 2", "svb · mean of 2"],
        "a line for each engine",
    )
    curve, slot = wanted["cvb"], 1  # that of its first seed
    until(
        lambda: np.array_equal(
            np.round(page.evaluate(COLUMN, [slot, "test_perplexity"]), 9), np.round(curve.y, 9)
        ),
        "its points have come after its name",
    )
    np.testing.assert_allclose(page.evaluate(COLUMN, [slot, "high"]), curve.y + curve.error)
    assert sorted(looks(page, "band")) == [1, 3] and not looks(page, "raw")
    slider = page.get_by_role("slider", name="Smoothing")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    until(lambda: looks(page, "raw"), "what was recorded is drawn under it")
    weight = 0.15
    until(lambda: f"smoothing={weight}" in page.evaluate("location.search"), "the link tells it")
    until(
        lambda: np.allclose(page.evaluate(COLUMN, [slot, "line"]), smoothed(curve.y, weight)),
        "it is as smooth as asked for",
    )
    assert looks(page, "line")[slot]["y"] == "line" and looks(page, "raw")[slot] | {"part": ""} == {
        "part": "",
        "alpha": pytest.approx(0.28),
        "y": "test_perplexity",
    }
    assert "faint" in page.locator("p[role=status]", has_text="Held-out").inner_text()
    fill(page, "Target perplexity", 5)
    until(lambda: page.evaluate(TARGET) == 5, "the line moves")
    until(lambda: page.evaluate(CROSSINGS, "iteration") == [], "no curve comes down to it")
    name, content = download(page, "CSV")
    assert "mean-headline" in name
    table = pd.read_csv(io.BytesIO(content))
    own = table[table["label"].str.startswith(curve.label)]
    np.testing.assert_allclose(own["test_perplexity_smoothed"], smoothed(curve.y, weight))
    name, content = download(page, "SVG")
    assert name.endswith(".svg") and content.startswith(b"<?xml")
    other = new_page(page.evaluate("location.href"))
    until(
        lambda: other.evaluate(TARGET) == 5 and len(looks(other, "raw")) == 2,
        "the link shows the same",
    )
    assert sorted(figure(other)["legend"]) == sorted(figure(page)["legend"])
    fill(page, "Target perplexity", 0)
    until(lambda: page.evaluate(TARGET) is None, "0 takes the line away")


def test_the_run_that_is_pointed_at_is_lifted_everywhere_and_escape_lets_go(page, names):
    assert opacities(page) == [1, 1, 1, 1]
    row(page, names[1]).hover()
    until(
        lambda: opacities(page) == [0.13, 1, 0.13, 0.13], "the others fade when a row is pointed at"
    )
    assert lit(page) == names[1] and "lit" in row(page, names[1]).get_attribute("class")
    page.get_by_role("heading", name="workbench").hover()
    until(lambda: opacities(page) == [1, 1, 1, 1], "and come back when it is left")
    page.get_by_label(f"draw {names[2]}").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    until(lambda: opacities(page) == [0.13, 0.13, 1, 0.13], "the focus lifts its row")
    page.keyboard.press("Escape")
    until(lambda: opacities(page) == [1, 1, 1, 1], "Escape lets go")

    page.get_by_role("heading", name="workbench").hover()  # scrolls up
    place = page.evaluate(PLACE, 3)
    page.mouse.move(place["x"], place["y"])
    until(
        lambda: opacities(page) == [0.13, 0.13, 0.13, 1], "the curve that is pointed at is lifted"
    )
    assert lit(page) == names[3] and "lit" in row(page, names[3]).get_attribute("class")
    page.mouse.click(place["x"], place["y"])
    page.get_by_role("heading", name="workbench").hover()
    page.wait_for_timeout(300)
    assert opacities(page) == [0.13, 0.13, 0.13, 1], "a click holds it"
    page.keyboard.press("Escape")
    until(lambda: opacities(page) == [1, 1, 1, 1], "until Escape")

    legend = page.get_by_role("button", name="highlight ")
    assert legend.count() >= 4
    legend.nth(0).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="workbench").hover()
    until(lambda: opacities(page) == [1, 0.13, 0.13, 0.13], "an entry of the legend by keyboard")
    legend.nth(0).click()
    page.get_by_role("heading", name="workbench").hover()
    until(lambda: opacities(page) == [1, 1, 1, 1], "a second click lets go")


RANGES = """() => {
  const { x_range, y_range } = Bokeh.documents[0].get_model_by_name('curve')
  return [x_range.start, x_range.end, y_range.start, y_range.end]
}"""


def test_ranges_that_were_moved_are_in_the_link_and_reset_forgets_them(page, new_page):
    whole = page.evaluate(RANGES)
    at = page.evaluate(PLACE, 0)
    page.mouse.move(at["x"], at["y"])
    page.mouse.down()
    page.mouse.move(at["x"] + 60, at["y"] + 40, steps=5)
    page.mouse.up()
    moved = until(
        lambda: page.evaluate(RANGES) != whole and page.evaluate(RANGES), "the figure is moved"
    )
    told = ",".join(f"{number:.6g}" for number in moved).replace("+", "%2B")
    until(lambda: f"zoom={told}" in page.evaluate("location.href"), "the link tells of it")
    other = new_page(page.evaluate("location.href"))
    until(
        lambda: np.allclose(other.evaluate(RANGES), moved, rtol=1e-5),
        "the other page shows the same part",
    )
    page.mouse.move(at["x"], at["y"])
    page.locator(".bk-tool-icon-reset").click()
    until(lambda: "zoom" not in page.evaluate("location.href"), "the link forgets it")
    assert np.allclose(page.evaluate(RANGES), whole)


def test_the_tab_key_goes_through_the_legend_and_on(page, names):
    def tabs_until(last: str, key: str = "Tab") -> list[str]:
        passed = []
        while last not in passed:
            assert len(passed) < 40, passed
            page.keyboard.press(key)
            page.wait_for_timeout(150)  # Bokeh makes the legend anew
            passed.append(page.evaluate(FOCUSED))
        return passed

    legend = page.get_by_role("button", name="highlight ")
    entries = [legend.nth(at).get_attribute("aria-label") for at in range(4)]
    page.get_by_role("slider", name="Smoothing").focus()
    passed = tabs_until("SVG")
    assert [one for one in passed if one in entries] == entries
    passed = tabs_until("Smoothing", "Shift+Tab")
    assert [one for one in passed if one in entries] == entries[::-1]


def test_labels_are_compared_with_intervals_and_set_against_another_reference(page, store, names):
    wanted = paired_differences([open_run(store / name) for name in reversed(names)], "svb").sel(
        label="cvb"
    )
    table = page.locator("table[aria-label=comparison]")
    table.wait_for()
    page.get_by_label("Baseline").select_option("svb")
    until(lambda: "Difference from svb" in table.inner_text(), "svb is the reference")
    (told,) = [line for line in cells(page, "comparison") if line[0] == "cvb"]
    digits = decimals(float(told[2].replace(",", "")))
    low, high = (
        f"{float(wanted[name]):+,.{digits}f}".replace("-", "−")
        for name in ("difference_low", "difference_high")
    )
    assert (
        told[1] == "2"
        and any(f"({low} … {high})" in cell for cell in told)
        and table.locator("svg circle").count() == 2
    )
    until(lambda: "against=svb" in page.evaluate("location.search"), "the link tells the reference")
    name, content = download(page, "Numbers as CSV")
    assert name.endswith("-comparison.csv") and set(pd.read_csv(io.BytesIO(content))["label"]) == {
        "cvb",
        "svb",
    }
    name, content = download(page, "Picture as PDF")
    assert (
        name.endswith("-comparison.pdf")
        and b"/Subject (Difference of the final held-out perplexity" in content
    )
    name, content = download(page, "Picture as PNG")
    picture = Image.open(io.BytesIO(content))
    assert (
        name.endswith("-comparison.png")
        and picture.width == 1020
        and "than that of svb" in picture.text["Description"]
    )
    bar = page.locator(".wb-bar", has=page.get_by_role("button", name="Picture as SVG"))
    bar.get_by_role("button", name="two columns").click()
    name, content = download(page, "Picture as SVG")
    root = ElementTree.fromstring(content)
    assert name.endswith("-comparison.svg") and root.get("width") == "504pt"
    caption = root.find("{*}desc").text
    assert "inference seeds: 0, 1\n" in caption and "compare" in caption.split("Made by:")[1]
    table.locator("th", has_text="cvb").hover()
    until(lambda: opacities(page) == [1, 1, 0.13, 0.13], "its runs are lifted")


def test_a_logarithmic_axis_is_drawn_and_its_curves_are_found_by_the_pointer(url, names, new_page):
    page = new_page(f"{url}?runs={','.join(names)}")
    until(
        lambda: (
            page.evaluate("Bokeh.documents[0].get_model_by_name('slot-3').data.iteration.length")
            == 30
        ),
        "all is drawn",
    )
    page.get_by_role("button", name="Log x", exact=True).click()
    press(page, "Log y")
    until(
        lambda: page.evaluate("new URLSearchParams(location.search).get('log')") == "x,y",
        "the link tells it",
    )
    assert (
        page.get_by_role("button", name="Log y", exact=True).get_attribute("aria-pressed") == "true"
    )
    kinds = "['x_scale', 'y_scale'].map(scale => Bokeh.documents[0].get_model_by_name('curve')[scale].type)"
    assert page.evaluate(kinds) == ["LogScale", "LogScale"]
    where = page.evaluate(IN_LOGARITHMS, [0, 20])
    page.mouse.move(where["x"], where["y"])
    page.get_by_text(f"{where['name']} is highlighted").wait_for(state="attached")
