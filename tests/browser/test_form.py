"""The form in a real Chromium: every control of it used."""

import pytest
from browser.desk import press, type_into, until
from form_values import field_values

from workbench.corpus import Corpus
from workbench.dashboard.compare.fields import FILE, OF_RECORDS
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.shared.values import written
from workbench.engines import ENGINES, get_engine

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
