"""Both pages as those hear them who cannot see them: roles, names and states."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.conftest import PATIENCE
from browser.desk import field, figure, press, until
from playwright.sync_api import expect

from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.execution.fit import fit

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROLES = "button|textbox|spinbutton|searchbox|combobox|slider|checkbox|group|figure|img|table|link"
NAMELESS = re.compile(rf"^ *- ({ROLES})\b(?! [\"/])")
NAME = """one => `${one.tagName} ${one.getAttribute("aria-label") || one.textContent || one.name || one.className}`"""
CONTROLS = f"""() => {{
  const kinds = "a[href], button, input, select, textarea, summary, [tabindex='0']"
  const inside = root => [...root.querySelectorAll("*")]
    .flatMap(one => [one, ...(one.shadowRoot ? inside(one.shadowRoot) : [])])
  const seen = one => one.checkVisibility({{ visibilityProperty: true }}) && one.getClientRects().length
  document.activeElement.blur()
  return inside(document).filter(one => one.matches(kinds) && one.tabIndex >= 0 && !one.disabled && seen(one)).map({NAME})
}}"""
"""The names of all controls that can be seen and used."""
FOCUSED = f"""() => {{
  let one = document.activeElement
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement
  const {{ outlineStyle, outlineWidth, boxShadow }} = getComputedStyle(one ?? document.body)
  const marked = (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none"
  return one && one !== document.body ? [({NAME})(one), marked] : null
}}"""
"""The name of the control that has the focus, and whether it is marked; null where none has it."""
COMPARE = """
- banner:
  - heading "workbench compare engines, live" [level=1]
  - navigation "pages"
  - button "Copy link"
  - button "Light / dark"
- main:
  - group "Engines"
  - button "Start"
  - combobox "Show"
  - group "Measure":
    - button "Recommended estimate" [pressed]
    - button "State" [pressed=false]
    - button "Average" [pressed=false]
    - button "Both" [pressed=false]
    - button "Training" [pressed=false]
  - group "Axis":
    - button "Iterations" [pressed]
    - button "Steps" [pressed=false]
    - button "Updates" [pressed=false]
    - button "Seconds" [pressed=false]
  - group "Show more":
    - button "View" [pressed=false]
  - figure "curves of the runs; the table has what they reached"
  - group "download the figure":
    - button "SVG"
  - combobox "Baseline"
  - group "table of Comparison":
    - table "comparison"
  - group "download the comparison"
  - textbox "Find runs"
  - combobox "Group runs by"
  - group "More of the table":
    - button "Columns" [pressed=false]
  - grid "runs of the store"
"""
TOPICS = """
- banner:
  - heading "workbench what the topics are about" [level=1]
  - navigation "pages"
- main:
  - combobox "Topics of"
  - textbox "Find words"
  - figure "Map of the topics, one"
  - group "download the map of the topics":
    - button "SVG"
  - slider "Words"
  - slider "Relevance λ"
  - group "download the words":
    - button "SVG"
  - heading "Topics" [level=2]
  - table "topics of one"
  - heading "Documents" [level=2]
  - group "download the documents":
    - button "CSV"
  - combobox "Sizes as"
  - group "download the sizes over the iterations":
    - button "SVG"
  - combobox "Match with"
"""


@pytest.fixture(scope="module")
def home(url, store):
    """The address of the pages, with a run in the store."""
    train, test = hold_out_tokens(
        LDA(4, 0.3, 0.2).simulate(60, 80, 30, seed=3)[0], fraction=0.1, seed=0
    )
    fit(train, "svb", 4, test=test, n_iterations=20, store=store, name="one", progress=False)
    return url.rpartition("/")[0]


def walk(page) -> list[tuple[str, bool]]:
    """Goes through the page with Tab, past every control; returns (name, whether its focus is seen) of each."""
    controls, walked = page.evaluate(CONTROLS), []
    for _ in range(len(controls) + 60):  # some are drawn anew with further ones
        page.keyboard.press("Tab")
        if (focused := page.evaluate(FOCUSED)) is None:
            break
        walked.append(focused)
    else:
        raise AssertionError(f"Tab never leaves the page; last were {walked[-5:]}")
    assert set(controls) <= {name for name, _ in walked}
    return walked


@pytest.mark.parametrize(
    "address, wanted",
    [("compare", COMPARE), ("topics", TOPICS), ("sweep", ""), ("oracle", ""), ("ledger", "")],
)
def test_a_page_breaks_no_rule_of_accessibility_and_each_control_has_a_name(
    home, new_page, address, wanted
):
    page = new_page(f"{home}/{address}", 1440)
    body = page.locator("body")
    expect(body).to_match_aria_snapshot(wanted or "- main", timeout=PATIENCE)
    for text in page.get_by_text(re.compile("(is|are) being (read|computed|drawn)")).all():
        text.wait_for(state="hidden")
    assert [line for line in body.aria_snapshot().splitlines() if NAMELESS.match(line)] == []
    assert [name for name, marked in walk(page) if not marked] == []
    for scheme, width in (("light", 1440), ("dark", 390)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 900})
        found = Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []


def test_what_is_pressed_follows_the_choice_and_groups_that_are_drawn_anew(home, new_page):
    page = new_page(f"{home}/compare")
    axis, measure = (
        page.get_by_role("group", name="Axis"),
        page.get_by_role("group", name="Measure"),
    )
    press(page, "Updates")
    expect(axis).to_match_aria_snapshot("""
    - button "Iterations" [pressed=false]
    - button "Steps" [pressed=false]
    - button "Updates" [pressed]
    """)
    until(lambda: figure(page)["x"] == "site updates", "the figure is drawn along updates")
    page.get_by_label("Show", exact=True).select_option("Number of topics")
    expect(measure).to_match_aria_snapshot("""
    - button "Active" [pressed]
    - button "Large" [pressed=false]
    - button "Effective" [pressed=false]
    """)


def test_tab_goes_from_a_number_to_what_follows_it_and_its_arrows_are_for_the_mouse(home, new_page):
    page = new_page(f"{home}/oracle")
    topics = field(page, "n_topics")
    before = int(topics.input_value())
    topics.focus()
    page.keyboard.press("ArrowUp")
    until(lambda: topics.input_value() == f"{before + 1}", "the field itself counts up")
    label = topics.get_attribute("aria-label") or page.locator(".field-n_topics label").inner_text()
    page.get_by_role("button", name=f"decrease {label}").click()
    until(lambda: topics.input_value() == f"{before}", "the arrow counts down")
    topics.focus()
    page.keyboard.press("Tab")
    expect(field(page, "alpha")).to_be_focused()
