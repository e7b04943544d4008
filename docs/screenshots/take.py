"""Takes the screenshots of the live Compare page: ``python docs/screenshots/take.py``

Starts svb, cgs, svb-cgs and cv-hdp on the bundled corpus in a store that is thrown away, and photographs the
page while some of them are still running. Needs Chromium and playwright (the extra ``test``).
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from workbench.corpus import load_corpus
from workbench.runs.compare import plan
from workbench.runs.run import Run
from workbench.runs.store import create_run

HERE = Path(__file__).parent
SHOTS = ((1440, "light"), (1440, "dark"), (800, "light"), (800, "dark"))
N_ITERATIONS = 400
PATIENCE = 300_000
"""Milliseconds that anything may take: the runs take all the cores there are."""


def take(store: Path) -> None:
    """Starts the runs and a server, and takes the pictures."""
    specs, train, test = plan(load_corpus("docstrings"), ("svb", "cgs", "svb-cgs", "cv-hdp"), n_iterations=N_ITERATIONS)
    runs = [Run(create_run(store, spec, train, test)) for spec in specs]
    command = [sys.executable, "-m", "workbench.dashboard.serve", "--port", "0", "--store", str(store)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        for run in runs:
            run.resume()
        photograph(url)
    finally:
        for run in runs:
            run.stop()
        for run in runs:
            run.wait(30)
        server.terminate()
        server.wait(20)


def photograph(url: str) -> None:
    """One page at a time: it has to be drawn well before the fastest run ends."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        pages = {}
        for width, scheme in SHOTS:
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            context.set_default_timeout(PATIENCE)
            pages[width, scheme] = context.new_page()
            pages[width, scheme].goto(url)
        first = pages[SHOTS[0]]
        first.locator("tr[data-run*='docstrings-svb-k'] span.state.finished").wait_for()
        for (width, scheme), page in pages.items():
            page.screenshot(path=HERE / f"compare-{width}-{scheme}.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        take(Path(folder) / "runs")
