"""Live views in a real JupyterLab: they stream, obey, end, and ask nobody outside."""

from importlib.util import find_spec
from urllib.parse import urlsplit

import pytest
from browser.conftest import PATIENCE
from browser.desk import press, until
from browser.lab import TOKEN, jupyter_lab, write_notebook
from missing import skip_without

from workbench.runs.execution.run import Run, open_runs

pytestmark = [pytest.mark.slow, pytest.mark.browser]
REACHED = """() => Bokeh.documents.map(one => one.get_model_by_name('slot-0')).filter(Boolean)
  .map(one => Math.max(0, ...one.data.iteration))"""
"""The last iteration of each live figure's first curve, 0 without one; a long curve is thinned, so it can lose points."""
STRAY = """() => Bokeh.documents.flatMap(one => [...one._all_models.values()]).filter(one => one.msg_handler).map(one =>
  ['{"msgid": "1", "msgtype": "PATCH-DOC"}', '{}', '{"msgid": "2", "msgtype": "PATCH-DOC"}'].map(data =>
    one.msg_handler({metadata: {}, content: {data}, buffers: []}))).length"""
"""Pieces of messages of which the rest is lost come to each view."""
BEGIN = """\
import workbench as wb
corpus, _ = wb.synthetic.bars(side=5, n_documents=200, seed=1)
train, test = wb.hold_out_tokens(corpus)
"""
START = (
    BEGIN
    + "run = wb.start(train, 'svb-cgs', n_iterations=1_000_000, test=test, name='long')\nrun.watch()"
)
FOLLOWING = "import gc\nsorted(one._ticks.is_running() for one in gc.get_objects() if type(one).__name__ == 'LiveView')"


class Notebook:
    """A notebook in JupyterLab: its cells are executed one by one."""

    def __init__(self, page):
        self.page, self._cells = page, page.locator(".jp-Notebook .jp-CodeCell")
        self._cells.first.wait_for()
        page.wait_for_function("/ \\| Idle/.test(document.body.innerText)")

    def execute(self, at: int):
        """Executes a cell; gives the place of its output."""
        self._cells.nth(at).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        return self.output(at)

    def output(self, at: int):
        return self._cells.nth(at).locator(".jp-Cell-outputArea")

    def answer(self, at: int) -> str:
        """Executes a cell and waits for the text that it returns."""
        told = self.execute(at).locator(".jp-OutputArea-executeResult")
        told.wait_for()
        return told.inner_text().split("\n")[-1]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """(address, folder of notebooks, store) of a JupyterLab."""
    if find_spec("jupyterlab") is None:
        skip_without("jupyterlab is missing; install it with pip install 'topic-workbench[lab]'")
    home = tmp_path_factory.mktemp("lab")
    (home / "notebooks").mkdir()
    with jupyter_lab(home / "notebooks", home / "runs") as address:
        yield address, home / "notebooks", home / "runs"
    for run in open_runs(home / "runs"):
        run.stop()


@pytest.fixture
def opened(lab, browser):
    """A function that opens a notebook with these cells; at the end no page may have complained or asked another host."""
    address, folder, _ = lab
    context, complaints = browser.new_context(viewport={"width": 1300, "height": 1200}), []
    page = context.new_page()
    page.set_default_timeout(2 * PATIENCE)
    host = urlsplit(address).netloc
    local = ("data:", "blob:", "about:")
    page.on(
        "request",
        lambda one: (
            one.url.startswith(local)
            or urlsplit(one.url).netloc == host
            or complaints.append(one.url)
        ),
    )
    page.on("websocket", lambda one: urlsplit(one.url).netloc == host or complaints.append(one.url))
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(f"{error} {error.stack}"))

    def open_notebook(name: str, *cells: str) -> Notebook:
        write_notebook(folder / f"{name}.ipynb", *cells)
        # which restores no other notebook
        page.goto(f"{address}/lab/workspaces/{name}/tree/{name}.ipynb?token={TOKEN}")
        return Notebook(page)

    yield open_notebook
    context.close()
    assert complaints == [], complaints[0]


def test_a_view_streams_while_the_kernel_is_free_and_the_run_obeys_its_buttons(opened, lab):
    notebook = opened("one", START, "6 * 7", FOLLOWING)
    page, view = notebook.page, notebook.execute(0)
    view.locator("canvas").first.wait_for()
    until(lambda: max(page.evaluate(REACHED), default=0) > 3, "the curve grows", 90)
    assert notebook.answer(1) == "42"
    assert page.evaluate(STRAY) == 1
    seen = max(page.evaluate(REACHED))
    until(lambda: max(page.evaluate(REACHED)) > seen, "the curve grows on after another cell")
    assert view.locator(".perplexity.tabulator-cell").inner_text() not in ("", "–")
    run = Run(lab[2] / "long")
    press(page, "Pause")
    until(lambda: run.state == "paused", "the run is paused")
    view.locator("span.state.paused").wait_for()
    assert notebook.answer(2) == "[True]"
    press(page, "Resume")
    until(lambda: run.state == "running", "the run goes on")
    page.get_by_label("Show", exact=True).select_option("Both")
    view.get_by_role("button", name="draw long").click()
    until(lambda: max(page.evaluate(REACHED)) == 0, "the run is drawn no more")
    view.get_by_role("button", name="draw long").click()
    until(lambda: max(page.evaluate(REACHED)) > seen, "the run is drawn again")
    press(page, "Stop")
    view.locator("span.state.stopped").wait_for()
    assert run.state == "stopped" and until(
        lambda: notebook.answer(2) == "[False]", "the view rests with its run"
    )


def test_sliders_start_runs_that_are_drawn_below_after_hidden_output_and_after_the_page_is_loaded_again(
    opened, lab
):
    hidden = "%%capture\nimport holoviews as hv\nhv.extension('matplotlib')"
    notebook = opened("sliders", hidden, BEGIN + "wb.tune(corpus)")
    page = notebook.page
    notebook.execute(0)
    start = notebook.execute(1).get_by_role("button", name="Start", exact=True)
    start.wait_for()
    page.get_by_label("Iterations").fill("1000000")
    start.click()
    until(lambda: max(page.evaluate(REACHED), default=0) > 0, "the run of the form is drawn", 90)
    run = next(run for run in open_runs(lab[2]) if run.name != "long")
    assert (run.spec.engine, run.spec.corpus) == ("svb-cgs", "bars:n_documents=200:seed=1")
    page.get_by_role("slider", name="r").press("ArrowRight")
    until(lambda: len(run.interventions), "the slider turned r while the run ran", 30)
    assert run.interventions[["setting", "value", "who"]].values.tolist() == [
        ["r", 2, "a notebook"]
    ]
    page.reload()
    again = Notebook(page)
    again.execute(1).get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("1 run started").wait_for()
    until(lambda: max(page.evaluate(REACHED), default=0) > 0, "the next run is drawn", 90)
