"""How soon does a turned setting show? ``python benchmarks/tuning.py [--corpus kos] [--engines svb-cgs,cgs] [--turns 40]``

Runs of the engines go on, drawn on the Compare page in a real browser. A slider is moved by one step, in turn beta up and
down; the time is from the key press to the first point of some run that was computed under the new value, as the browser has
it. Between two turns is a second.
"""

import argparse
import json
import tempfile
import time

import numpy as np
from playwright.sync_api import sync_playwright
from server import serve

import workbench as wb

WATCH = """() => {
    const marks = Bokeh.documents.map((one) => one.get_model_by_name("turns")).find(Boolean)
    window.seen = [], window.pressed = 0
    addEventListener("keydown", () => { window.pressed = performance.now() }, true)
    marks.properties.data.change.connect(() => window.seen.push([marks.data.said.length, performance.now()])) }"""
"""Writes down when a key is pressed, and when the marks change: a page that is asked all the time has no time to draw."""
TOOK = "n => { const mark = seen.find(([m]) => m > n); return mark && (mark[1] - pressed) / 1000 }"
COUNT = "() => seen.length ? seen.at(-1)[0] : 0"
PATIENCE, LOOK_EVERY = 10.0, 0.1


def turn(page, slider, key: str) -> float:
    """Returns the seconds until a turn is marked on a curve; NaN if it takes too long."""
    before, began = page.evaluate(COUNT), time.perf_counter()
    slider.press(key)
    while (took := page.evaluate(TOOK, before)) is None:
        if time.perf_counter() - began > PATIENCE:
            return np.nan
        page.wait_for_timeout(1000 * LOOK_EVERY)
    return took


def measure(url: str, given) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.browser, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(url)
        slider = page.get_by_role("slider", name="beta", exact=True)
        slider.wait_for(timeout=60_000)
        page.wait_for_timeout(3000)
        page.evaluate(WATCH)
        seconds = []
        for number in range(given.turns):
            seconds.append(turn(page, slider, ("ArrowRight", "ArrowLeft")[number % 2]))
            page.wait_for_timeout(1000)
        browser.close()
    told = {
        "corpus": given.corpus,
        "engines": given.engines,
        "turns": len(seconds),
        "lost": int(np.isnan(seconds).sum()),
        "median": round(float(np.nanmedian(seconds)), 3),
        "p95": round(float(np.nanquantile(seconds, 0.95)), 3),
    }
    print(json.dumps(told), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", default="kos")
    parser.add_argument("--engines", default="svb-cgs,cgs")
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    given = parser.parse_args()
    train, test, _ = wb.prepare(wb.load_corpus(given.corpus), 0.1, 0)
    with tempfile.TemporaryDirectory() as store:
        runs = [
            wb.start(train, engine, n_topics=10, test=test, n_iterations=10**6, store=store)
            for engine in given.engines.split(",")
        ]
        try:
            while not all(len(run.rows()) for run in runs):
                time.sleep(0.2)
            serve(store, "compare", lambda url: measure(url, given))
        finally:
            for run in runs:
                run.stop()
            for run in runs:
                run.wait(60)


if __name__ == "__main__":
    main()
