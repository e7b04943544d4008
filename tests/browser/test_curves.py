"""The figure of the Compare page in a real Chromium: one run lifted out of the others by pointer and keys."""

import pytest
from browser.desk import points, press, row, until

from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.execution.fit import fit

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LOOKS = """() => Bokeh.documents[0].get_model_by_name('curve').renderers.filter(r => r.visible && r.tags.length).map(r => ({
  part: r.tags[0], alpha: (r.glyph.line_alpha ?? r.glyph.fill_alpha).value, y: (r.glyph.y ?? r.glyph.y1).field,
}))"""
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


def looks(page) -> dict[int, dict]:
    """Slot → opacity and column of the line that is visible."""
    return {
        int(one["part"][-1]): one for one in page.evaluate(LOOKS) if one["part"].startswith("line")
    }


def opacities(page) -> list[float]:
    return [looks(page)[slot]["alpha"] for slot in sorted(looks(page))]


def lit(page) -> str:
    """The runs that are lifted."""
    return page.locator("[data-lit]").get_attribute("data-lit")


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
