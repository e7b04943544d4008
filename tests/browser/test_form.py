"""The form in a real Chromium: every control of it used, and a file of one's own read as it is told."""

import pytest
from browser.desk import press, row, state, type_into, until
from form_values import field_values

from workbench.corpus import Corpus
from workbench.dashboard.compare.fields import FILE, OF_RECORDS
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.shared.values import written
from workbench.engines import ENGINES, FIRST_CHOICE, get_engine
from workbench.runs.execution.run import Run
from workbench.runs.store.archive import get_corpus
from workbench.runs.store.status import read_spec

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FOLDS = ("Preprocessing", "Options", "Priors")
FIRST = ("corpus", "path", "engines", "model")
"""Fields that others need to be seen."""


def choose(page, name: str, value: str) -> None:
    """Types into the control of a field, or chooses from it."""
    control = page.locator(f"[id='{name}']")
    if control.evaluate("node => node.matches('select')"):
        control.select_option(label=value)
    else:
        control.fill(value)
        control.blur()


def test_every_control_of_the_form_is_heard_and_the_link_tells_it(url, new_page):
    page = new_page(url)
    fields = Settings().fields()
    page.get_by_label("Corpus", exact=True).select_option(FILE)
    type_into(page, "path", "somewhere.csv")
    for engine in ENGINES:
        page.get_by_label(engine, exact=True).check()
    page.get_by_label("Network", exact=True).select_option("pachinko")
    for fold in FOLDS:
        press(page, f"{fold}: defaults")
        page.get_by_role("button", name=f"{fold}: defaults", expanded=True).wait_for()
    unusual = {name: typed for name, (typed, *_) in field_values().items() if name not in FIRST} | {
        "seeds": "3",
        "jobs": "2",
    }
    for name, typed in sorted(unusual.items(), key=lambda field: field[0].startswith(OF_RECORDS)):
        if name.startswith(OF_RECORDS):  # which are there when all engines are for records
            for engine in (each for each in ENGINES if get_engine(each).model.data is Corpus):
                page.get_by_label(engine, exact=True).uncheck()
        choose(page, name, typed)
        heard = (
            f"decodeURIComponent(new URLSearchParams(location.search).get('{name}') ?? 'nothing')"
        )
        fields[name].value = fields[name].typed(typed)
        until(
            lambda heard=heard, name=name: page.evaluate(heard) == written(fields[name].value),
            f"{name} is heard",
        )
    for fold in FOLDS:
        page.get_by_role("button", name=f"{fold}: ", expanded=True).click()
        assert (
            "defaults"
            not in page.get_by_role("button", name=f"{fold}: ", expanded=False).inner_text()
        )


def test_an_engine_tells_when_to_use_it_at_the_pointer_and_at_the_keyboard(url, new_page):
    page = new_page(url)
    tip = page.locator(".tip")
    page.get_by_text(FIRST_CHOICE, exact=True).wait_for()
    page.locator("label").filter(has=page.get_by_label("cgs", exact=True)).hover()
    tip.get_by_text(get_engine("cgs").when).wait_for()
    page.get_by_label("svb", exact=True).focus()
    page.keyboard.press("Tab")
    tip.get_by_text(get_engine(list(ENGINES)[list(ENGINES).index("svb") + 1]).when).wait_for()
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")
    assert get_engine("hmm").when in page.get_by_label("hmm", exact=True).get_attribute(
        "aria-description"
    )


def test_a_file_of_ones_own_is_read_when_the_form_has_told_what_it_needs(
    url, new_page, store, tmp_path
):
    file = tmp_path / "mine.csv"
    file.write_text("id,told\n" + "1,apples pears plums\n2,red green blue\n" * 20)
    page = new_page(url)
    page.get_by_label("Corpus", exact=True).select_option(FILE)
    type_into(page, "path", file)
    for engine in ("svb", "cvb", "svb-cgs", "cvb-cgs", "cv-hdp"):
        page.get_by_label(engine, exact=True).uncheck()
    for name, value in {"n_topics": 2, "n_iterations": 3}.items():
        type_into(page, name, value)
    press(page, "Start")
    said = page.get_by_text("there are 'id', 'told'; say which under “Text column”")
    said.wait_for()
    field = page.get_by_label("Text column", exact=True)
    assert field.get_attribute("aria-invalid") == "true"
    assert (
        0
        <= said.bounding_box()["y"] - field.bounding_box()["y"] - field.bounding_box()["height"]
        < 30
    )
    page.get_by_text("Nothing is started; fix the").wait_for()
    field.select_option("told")
    said.wait_for(state="hidden")
    press(page, "Start")
    page.get_by_text("1 run started,").wait_for()
    (path,) = store.glob("mine-*")
    assert set(get_corpus(store, read_spec(path).train).vocabulary) == {
        "apples",
        "pears",
        "plums",
        "red",
        "green",
        "blue",
    }
    other = new_page(page.evaluate("location.href"))
    assert other.get_by_label("Text column", exact=True).input_value() == "told"
    until(lambda: state(page, path.name) == "finished", "it is finished")
    row(page, path.name).wait_for()
    Run(path).remove()


def test_start_is_in_sight_at_once_and_stays_there_beside_what_is_unfolded(url, new_page):
    page = new_page(url)
    start = page.get_by_role("button", name="Start", exact=True)

    def seen() -> bool:
        """On a wide page and on a narrow one."""
        places = []
        for width in (1440, 800):
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("() => new Promise(requestAnimationFrame)")
            places.append(start.bounding_box())
        return all(box["y"] >= 0 and box["y"] + box["height"] <= 900 for box in places)

    assert seen()
    for fold in FOLDS:
        press(page, f"{fold}: defaults")
        page.get_by_role("button", name=f"{fold}: defaults", expanded=True).wait_for()
        assert seen()
    page.get_by_label("Corpus", exact=True).scroll_into_view_if_needed()
    assert seen()
