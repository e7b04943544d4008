"""The form in a real Chromium: every control of it used."""

from urllib.parse import urlencode

import pytest
from browser.desk import field, press, until
from form_values import field_values

from workbench.corpus import Corpus
from workbench.dashboard.compare.engine_choice import families
from workbench.dashboard.compare.settings import FOLDED, Settings
from workbench.engines import ENGINES, get_engine
from workbench.runs.request import FILE, OF_RECORDS, written

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FIRST = ("corpus", "path", "engines", "model")
"""Fields that others need to be seen."""
ENGINES_OF_RECORDS = [name for name in ENGINES if get_engine(name).model.data is not Corpus]
UNFOLDED = {"preprocessing": "encoding", "options": "init", "priors": "learn_alpha"}
"""Section in a fold → a field that it shows."""


def choose(page, form: Settings, name: str, value) -> None:
    """Types into the control of a field, or chooses from it."""
    control, options = field(page, name), getattr(form.fields[name], "options", None)
    if isinstance(options, dict):
        control.select_option(label=next(word for word in options if options[word] == value))
    else:
        control.fill(value)
        control.blur()


def unfold(page, title: str) -> None:
    """Opens the fold whose title begins so."""
    page.get_by_role("button", name=title).click()
    page.get_by_role("button", name=title, pressed=True).wait_for()


def use(page, form: Settings, values: dict) -> None:
    """Gives each field its value, and waits until the link has all."""
    for name, value in values.items():
        choose(page, form, name, value)
    heard = "() => Object.fromEntries(new URLSearchParams(location.search))"
    wanted = {name: written(value) for name, value in values.items()}
    until(lambda: wanted.items() <= page.evaluate(heard).items(), f"heard are {wanted}", 400)


def tick(page, engine: str, is_ticked: bool) -> None:
    """Ticks an engine or takes the tick away, and waits until the server has heard of it, as the link says."""
    page.get_by_label(engine, exact=True).set_checked(is_ticked)
    engines = "new URLSearchParams(location.search).get('engines')?.split(',') ?? []"
    heard = f"({engines}).includes('{engine}') === {'true' if is_ticked else 'false'}"
    until(lambda: page.evaluate(heard), f"{engine} is heard")


def test_every_control_of_the_form_is_heard_and_the_link_tells_it(url, new_page):
    left = [members[-1] for members in families().values()]  # a control has all of a family
    others = ",".join(name for name in ENGINES if name not in left)
    page, form = new_page(f"{url}?engines={others}"), Settings()
    choose(page, form, "corpus", FILE)
    choose(page, form, "path", "somewhere.csv")
    for title, members in families().items():
        unfold(page, title)
        tick(page, members[-1], True)
    choose(page, form, "model", "pachinko")
    for section in FOLDED:
        unfold(page, f"{section.capitalize()}: defaults")
        field(page, UNFOLDED[section]).wait_for()
    values = {name: value for name, (value, *_) in field_values().items() if name not in FIRST}
    of_records = {name: values.pop(name) for name in [*values] if name.startswith(OF_RECORDS)}
    use(page, form, values | {"seeds": "3", "jobs": "2"})
    for section in map(str.capitalize, FOLDED):
        page.get_by_role("button", name=f"{section}: ", pressed=True).click()
        title = page.get_by_role("button", name=f"{section}: ", pressed=False)
        assert "defaults" not in title.inner_text()
    tick(page, ENGINES_OF_RECORDS[0], False)
    engines = ",".join(ENGINES_OF_RECORDS)  # with others the fields of records are not there
    query = {"corpus": FILE, "path": "records.csv", "engines": engines}
    page = new_page(f"{url}?{urlencode(query)}")
    unfold(page, "Preprocessing: defaults")
    use(page, form, of_records)


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
    for section in FOLDED:
        unfold(page, f"{section.capitalize()}: defaults")
        assert seen()
    field(page, "corpus").scroll_into_view_if_needed()
    assert seen()


def test_an_engine_that_is_looked_for_is_ticked_and_stays_ticked(url, new_page):
    page = new_page(f"{url}?engines=svb", width=1440)
    search = page.get_by_role("group", name="Engines").get_by_role("textbox")
    search.press_sequentially("hdp")
    tick(page, "cv-hdp", True)
    assert page.get_by_label("cgs", exact=True).count() == 0
    search.fill("")
    page.get_by_label("cv-hdp", exact=True).wait_for(state="detached")
    page.get_by_role("button", name="HDP: cv-hdp").wait_for()
    assert page.url.endswith("?engines=svb,cv-hdp")
    tops = [
        page.locator(".wb-card").filter(has=page.get_by_role(role, name=name)).bounding_box()["y"]
        for role, name in (("figure", "curves of the runs"), ("heading", "Comparison"))
    ]
    assert tops[0] == tops[1]


def test_a_mistake_is_told_below_its_field(url, new_page):
    page = new_page(url)
    field(page, "n_topics").fill("10, x")
    press(page, "Start")
    place = page.locator("[class~='field-n_topics']")
    until(lambda: "wb-wrong" in place.get_attribute("class"), "the field is marked")
    page.get_by_role("status").filter(has_text="must be a whole number").wait_for()
    field(page, "n_topics").fill("10")
    field(page, "n_topics").press("Tab")
    until(lambda: "wb-wrong" not in place.get_attribute("class"), "it is mended")
