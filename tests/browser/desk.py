"""What a test sees of the page."""

import time
from pathlib import Path

REACHED = """() => [0, 1, 2, 3, 4, 5, 6, 7].map(
  slot => Bokeh.documents[0].get_model_by_name('slot-' + slot)?.data.iteration.at(-1) ?? 0)"""
FIGURE = """() => {
  const figure = Bokeh.documents[0].get_model_by_name('curve')
  const glyphs = figure.renderers.filter(r => r.visible && r.glyph.type === 'Line').map(r => r.glyph)
  return {
    x: figure.below[0].axis_label, y: figure.left[0].axis_label, right: figure.x_range.end, low: figure.y_range.start,
    columns: [...new Set(glyphs.map(g => `${g.x.field} ${g.y.field}`))],
    legend: figure.above.find(m => m.type === 'Legend').items.filter(i => i.visible).map(i => i.label.value),
  }
}"""


def reached(page) -> list[int]:
    """The last iteration that each slot of the figure shows; 0 for none."""
    return page.evaluate(REACHED)


def figure(page) -> dict:
    """Axes, ranges, drawn columns ("x y") and legend of the figure."""
    return page.evaluate(FIGURE)


def cells(page, table: str) -> list[list[str]]:
    """The cells of the body of the table with an accessible name that begins so."""
    found = page.locator(f"table[aria-label^='{table}']")
    return found.evaluate(
        "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.innerText))"
    )


def until(true, what: str, patience: float = 90.0):
    """Waits until ``true()`` is, and returns what it was."""
    end = time.monotonic() + patience
    while not (value := true()):
        assert time.monotonic() < end, f"never came true: {what}"
        time.sleep(0.1)
    return value


def row(page, name: str):
    """The row of a run."""
    return page.locator(f".tabulator-row[data-run='{name}']")


def state(page, name: str) -> str:
    return row(page, name).locator("span.state").inner_text()


def press(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def download(page, button: str, of: str = "") -> tuple[str, bytes]:
    """Name and content of the file that a button gives to the browser; ``of``: the name of its group."""
    with page.expect_download() as arriving:
        press(page.get_by_role("group", name=of, exact=True) if of else page, button)
    return arriving.value.suggested_filename, Path(arriving.value.path()).read_bytes()


def field(page, name: str):
    """The control of a field of a form, by the name of the field: what it is called may change."""
    return page.locator(f"[class~='field-{name}'] :is(input, select)")


def type_into(page, name: str, value) -> None:
    """Types into a field of a form, by its name, and leaves it."""
    field(page, name).fill(str(value))
    field(page, name).blur()


def fill(page, label: str, value) -> None:
    """Types into the field with a label and leaves it; a field of another tab is not seen."""
    field = page.get_by_label(label, exact=True).filter(visible=True)
    field.fill(str(value))
    field.blur()
