"""The figure of the Compare page in a real Chromium: chosen runs stand out, and axes are logarithmic."""

from contextlib import suppress

import pytest
from browser.desk import figure, press, reached, until
from playwright.sync_api import TimeoutError

from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.execution.fit import fit, start

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LOOKS = """() => Bokeh.documents[0].get_model_by_name('curve').renderers.filter(r => r.visible && r.tags.length).map(r => ({
  part: r.tags[0], alpha: (r.glyph.line_alpha ?? r.glyph.fill_alpha).value, y: (r.glyph.y ?? r.glyph.y1).field,
}))"""
PAINTS = """async () => {
  const view = Bokeh.index.find_one(Bokeh.documents[0].get_model_by_name('curve')), paint = view.paint.bind(view)
  let n = 0
  view.paint = () => { n += 1; paint() }
  for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame)
  view.paint = paint
  return n
}"""
"""How often the figure is painted within thirty frames."""
LONG = 1_000_000
"""Iterations that no test waits for."""


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
    until(lambda: [n for n in reached(made) if n] == [30] * 4, "four runs are drawn")
    return made


def looks(page) -> dict[int, dict]:
    """Slot → opacity and column of the line that is visible."""
    return {
        int(one["part"][-1]): one for one in page.evaluate(LOOKS) if one["part"].startswith("line")
    }


def opacities(page) -> list[float]:
    return [looks(page)[slot]["alpha"] for slot in sorted(looks(page))]


def test_curves_of_chosen_runs_stand_out(page, names):
    assert opacities(page) == [1, 1, 1, 1]
    page.get_by_label(f"choose {names[1]}").check()
    until(lambda: opacities(page) == [0.13, 1, 0.13, 0.13], "the others fade")
    page.get_by_label(f"choose {names[2]}").focus()
    page.keyboard.press("Space")
    until(lambda: opacities(page) == [0.13, 1, 1, 0.13], "by key too")
    for name in names[1:3]:
        page.get_by_label(f"choose {name}").uncheck()
    until(lambda: opacities(page) == [1, 1, 1, 1], "and come back")


def test_logarithmic_axes_are_drawn_and_in_the_link(url, names, new_page):
    page = new_page(f"{url}?runs={','.join(names)}")
    until(
        lambda: (
            page.evaluate("Bokeh.documents[0].get_model_by_name('slot-3').data.iteration.length")
            == 30
        ),
        "all is drawn",
    )
    press(page, "View")
    press(page, "Log x")
    press(page, "Log y")
    until(
        lambda: page.evaluate("new URLSearchParams(location.search).get('log')") == "x,y",
        "the link tells it",
    )
    assert (
        page.get_by_role("button", name="Log y", exact=True).get_attribute("aria-pressed") == "true"
    )
    kinds = "['x_scale', 'y_scale'].map(scale => Bokeh.documents[0].get_model_by_name('curve')[scale].type)"
    until(lambda: page.evaluate(kinds) == ["LogScale", "LogScale"], "both axes are logarithmic")


@pytest.fixture(scope="module")
def twelve(store):
    """The names of twelve runs of which the first records all the time."""
    train, test = hold_out_tokens(
        LDA(4, 0.3, 0.2).simulate(60, 80, 30, seed=3)[0], fraction=0.1, seed=0
    )
    settings = {"n_topics": 4, "test": test, "store": store}
    first = start(train, engine="cgs", n_iterations=LONG, name="live", **settings)
    names = [f"short-{at}" for at in range(11)]
    for at, name in enumerate(names):
        engine = ("svb", "cvb", "cgs")[at % 3]
        fit(train, engine, n_iterations=6, seed=at, name=name, progress=False, **settings)
    yield ["live", *names]
    first.stop()
    first.wait(30)


def draw(page, name: str) -> None:
    """Draws a run by its button, which is pressed once more if it met a table that was just drawn anew."""
    button, pressed = (
        page.locator(f"[aria-label='draw {name}']{now}") for now in ("", "[aria-pressed='true']")
    )
    button.click()
    with suppress(TimeoutError):
        return pressed.wait_for(timeout=20_000)
    button.click()
    pressed.wait_for()


@pytest.mark.parametrize(
    "turn", [0, *(pytest.param(turn, marks=pytest.mark.long) for turn in range(1, 5))]
)
def test_runs_that_are_added_to_a_live_figure_are_drawn_and_it_streams_on(
    url, new_page, twelve, turn
):
    page = new_page(f"{url}?runs={twelve[0]}")
    for n_drawn, name in enumerate(twelve[1:], 2):
        draw(page, name)
        until(lambda n=n_drawn: len(figure(page)["legend"]) == min(n, 8), "it is in the legend")
    press(page, "Both")
    press(page, "View")
    page.get_by_role("slider", name="Smoothing").press("ArrowRight")
    until(lambda: len(page.evaluate(LOOKS)) == 8 * 2 * 2 + 8, "all parts of the lines are drawn")
    draw(page, "live")
    before = max(reached(page))
    until(lambda: max(reached(page)) > before, "the figure streams on")


def test_a_figure_with_points_out_of_sight_comes_to_rest(url, new_page, twelve):
    page = new_page(f"{url}?runs=short-0,short-1&zoom=2,4,1,1000")
    until(lambda: len(figure(page)["legend"]) == 2, "both are drawn")
    until(lambda: page.evaluate(PAINTS) == 0, "nothing is painted again")
