"""Takes the screenshots of all pages: ``python docs/screenshots/take.py [STORE]``

Makes a sweep over r and a comparison of engines with two seeds on the bundled corpus (runs that STORE has are taken as they
are), starts one run more, and photographs Compare and Topics while that one is active: at two widths in both themes, each page
opened once; then Choose K and Frontier, on stores of their own with a sweep over the number of topics, and one over r; Oracle;
and Ledger, with the results that come with the package. Then a server with a password on which nothing can be changed: what it
asks first, and Compare with a damaged run. Last a film, on a store of its own: a CSV file is uploaded, its columns are chosen,
it is looked at and started, until its topics are seen over time, merged, named. And a film of runs that are turned: r, alpha,
two topics merged, and what continues from there beside the run that it came from.
``python docs/screenshots/take.py --film`` takes the films alone; ``--imported STORE`` photographs Compare with the models of
other programs that ``python benchmarks/imported.py STORE`` has made.
The runs are thrown away unless a STORE is named. Needs Chromium and playwright (the extra ``test``).
"""

import io
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

import workbench as wb
from workbench.runs.execution.compare import plan
from workbench.runs.settings import DEFAULT_ENGINES
from workbench.runs.store.writer import create_run

HERE = Path(__file__).parent
WIDTHS, SCHEMES = (1440, 800), ("light", "dark")
ENGINES = ("svb", "cvb", "cgs", "svb-cgs")
SETTINGS = {"n_topics": 10, "n_iterations": 150, "progress": False, "jobs": 2}
TOPICS = (10, 20, 40, 80, 120)
RS, CHAINS = (0, 1, 2, 5, "inf"), (1, 4)
TURNED = ("svb-cgs", "cgs", "cv-hdp")
SLOW = ("svb-cgs", {"r": 1, "n_chains": 8})
LONG, BEGUN = 600, 60
"""Iterations of the live run, which is stopped in the end, and at how many the first picture is taken."""
PATIENCE = 120_000
"""Milliseconds that anything may take."""
SETTLED = 2000
"""Milliseconds until a page of another width is drawn."""


def make_runs(store: Path) -> dict[str, list[str]]:
    """The runs that have ended, by their engines: a sweep over r, and a comparison."""
    corpus = wb.load_corpus("docstrings")
    wb.sweep(corpus, {"r": [0, 3, "inf"]}, engine="svb-cgs", store=store, **SETTINGS)
    found = wb.compare(corpus, ENGINES, seeds=2, store=store, **SETTINGS)
    return {
        engine: list(found["run"].values[found["engine"].values == engine]) for engine in ENGINES
    }


def make_sweep(store: Path) -> dict[str, str | int]:
    """The runs of a sweep over the number of topics; returns the settings that the page has for them."""
    settings = {"n_iterations": SETTINGS["n_iterations"], "seeds": 3}
    wb.sweep(
        wb.load_corpus("docstrings"),
        {"n_topics": TOPICS},
        "cvb0",
        store=store,
        jobs=2,
        progress=False,
        **settings,
    )
    return settings | {"engine": "cvb0", "n_topics": ",".join(map(str, TOPICS))}


@contextmanager
def live_run(store: Path) -> Iterator[str]:
    """The name of a run that is active in the block."""
    settings = {"n_topics": SETTINGS["n_topics"], "n_iterations": LONG}
    (spec,), train, test = plan(wb.load_corpus("docstrings"), [SLOW], seed=7, **settings)
    run = wb.Run(create_run(store, spec, train, test))
    run.resume()
    try:
        while run.progress().sizes["iteration"] < BEGUN:
            time.sleep(1)
        yield run.name
    finally:
        run.stop()
        run.wait(60)
        run.remove()


@contextmanager
def damaged_run(store: Path, whole: str) -> Iterator[str]:
    """The name of a copy of a run, of which the last bytes of the rows are gone meanwhile."""
    run = shutil.copytree(store / whole, store / "damaged")
    try:
        rows = next(
            path
            for path in (run / "data.zarr/numbers").rglob("*")
            if path.is_file() and "c" in path.parts
        )
        rows.write_bytes(rows.read_bytes()[:-10])
        yield run.name
    finally:
        shutil.rmtree(run)


@contextmanager
def served(store: Path, *flags: str) -> Iterator[str]:
    """The address of a server of the pages."""
    command = [
        sys.executable,
        "-m",
        "workbench",
        "serve",
        "--port",
        "0",
        "--store",
        str(store),
        *flags,
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().split()[-1].rsplit("/", 1)[0]
    finally:
        server.terminate()
        server.wait(20)


def compare_page(page: Page, live: str) -> None:
    """Waits until the curves and the comparison are there."""
    page.locator(f"[data-run='{live}'] span.state.running").wait_for()
    page.locator("table[aria-label='comparison'] tbody tr").nth(len(ENGINES)).wait_for()


def topics_page(page: Page) -> None:
    """Waits until each card has what it shows."""
    page.locator(".topics tbody tr").nth(SETTINGS["n_topics"] - 1).wait_for()
    for card in ("documents", "sizes", "map", "matching"):
        page.locator(f".{card} :is(td, li, [role=figure])").first.wait_for()


def mixed_document(store: Path, name: str, topic: int) -> int:
    """A document of some length, half of which is of the topic."""
    run = wb.open_run(store / name)
    shares, sizes = (
        run["theta"].sel(topic=topic).values,
        run["n_dk"].isel(snapshot=-1).sum("topic").values,
    )
    return int(np.argmin(np.abs(shares - 0.5) + ((sizes < 80) | (sizes > 160))))


def photograph(
    address: str, store: Path, runs: dict[str, list[str]], live: str, folder: Path, widths=WIDTHS
) -> None:
    """Both pages, as wide as asked, light and dark, each as high as it is."""
    drawn = [live, *(name for names in runs.values() for name in names)]
    first, second = runs["cgs"]
    topic = 0
    views = {
        "compare": {
            "lines": "mean of seeds",
            "runs": ",".join(drawn),
            "topics_of": first,
            "engines": "svb-cgs",
            "r": "0,1,3,inf",
            "seeds": 2,
        },
        "topics": {
            "run": first,
            "topic": topic,
            "with": second,
            "document": mixed_document(store, first, topic),
        },
    }
    with opened_browser() as browser:
        for name, view in views.items():
            page = new_page(browser, widths)
            page.goto(f"{address}/{name}?{urlencode(view)}")
            compare_page(page, live) if name == "compare" else topics_page(page)
            take(page, folder, name, widths)


def make_frontier(store: Path) -> dict[str, str | int]:
    """The long chains and the settings beside them, and more regimes for the map; returns the settings of the page for them."""
    corpus, chosen = wb.load_corpus("docstrings"), {"seeds": 2, "n_topics": 10, "n_iterations": 60}
    shared = {"store": store, "jobs": 2, "progress": False}
    wb.compare(
        corpus,
        ["cgs"],
        seed=100,
        seeds=4,
        n_topics=10,
        n_iterations=4 * chosen["n_iterations"],
        **shared,
    )
    for change in ({}, {"repeat": 5}, {"n_topics": 40}, {"n_topics": 40, "repeat": 5}):
        settings = chosen | change | shared
        wb.compare(corpus, ["cgs"], **settings)
        wb.sweep(
            corpus, {"r": RS, "n_chains": CHAINS if not change else [1]}, "svb-cgs", **settings
        )
    return chosen | {"r": ",".join(map(str, RS)), "n_chains": ",".join(map(str, CHAINS))}


def photograph_frontier(store: Path, folder: Path, widths=WIDTHS) -> None:
    """Frontier, with settings and a reference whose runs have ended."""
    view = make_frontier(store)
    with served(store) as address, opened_browser() as browser:
        page = new_page(browser, widths)
        page.goto(f"{address}/sweep?{urlencode(view | {'tab': 'frontier'})}")
        page.locator("table[aria-label='settings by cost'] tbody tr").nth(len(RS)).wait_for()
        take(page, folder, "frontier", widths)


def photograph_choosing(store: Path, folder: Path, widths=WIDTHS) -> None:
    """Choose K, with a sweep whose runs have ended."""
    view = make_sweep(store)
    with served(store) as address, opened_browser() as browser:
        page = new_page(browser, widths)
        page.goto(f"{address}/sweep?{urlencode(view)}")
        page.locator("table[aria-label='numbers by K'] tbody tr").nth(len(TOPICS) - 1).wait_for()
        take(page, folder, "choose-k", widths)


def photograph_oracle(store: Path, folder: Path, widths=WIDTHS) -> None:
    """Oracle, with the toy that it begins with, when every engine has answered."""
    with served(store) as address, opened_browser() as browser:
        page = new_page(browser, widths)
        page.goto(f"{address}/oracle")
        for card in ("exact", "engines", "microscope"):
            page.locator(f".{card} [role=figure]").first.wait_for()
        take(page, folder, "oracle", widths)


def photograph_imported(store: Path, folder: Path, widths=WIDTHS) -> None:
    """Compare, with models of other programs beside ours, whose curves begin far above them."""
    with served(store) as address, opened_browser() as browser:
        page = new_page(browser, widths)
        page.goto(f"{address}/compare?range=close-up")
        page.locator("table[aria-label='comparison'] tbody tr").nth(5).wait_for()
        take(page, folder, "imported", widths)


def photograph_ledger(store: Path, folder: Path, widths=WIDTHS) -> None:
    """The top of Ledger, with the results that come with the package."""
    with served(store) as address, opened_browser() as browser:
        page = new_page(browser, widths)
        page.goto(f"{address}/ledger")
        page.locator(".ledger table").first.wait_for()
        take(page, folder, "ledger", widths, full_page=False)


def camera(page: Page, folder: Path, film: str) -> Callable:
    """What takes the next picture of a film: of the window, with the given part of the page at its top."""
    frames = count(1)

    def frame(name: str, seen=None) -> None:
        (seen or page.locator("h1")).first.evaluate("node => node.scrollIntoView()")
        page.wait_for_timeout(SETTLED)
        (folder / f"{film}-{next(frames)}-{name}.png").write_bytes(smaller(page.screenshot()))

    return frame


def film_of_turning(folder: Path, widths=WIDTHS) -> None:
    """Three runs at work: r is turned, then alpha; two topics are merged, and both runs are compared."""
    train, test, _ = wb.prepare(wb.load_corpus("docstrings"), 0.1, 0)
    with tempfile.TemporaryDirectory() as scratch, served(Path(scratch)) as address:
        settings = {"test": test, "n_topics": 10, "n_iterations": 10**6, "store": scratch}
        runs = [wb.start(train, engine, **settings) for engine in TURNED]
        try:
            with opened_browser() as browser:
                page = new_page(browser, widths)
                frame = camera(page, folder, "turn")
                page.goto(f"{address}/compare?smooth=&range=close-up")
                slider = page.get_by_role("slider", name="r", exact=True)
                slider.wait_for()
                frame("before")
                for name, key, times in (("r", "ArrowRight", 2), ("alpha", "ArrowRight", 2)):
                    for _ in range(times):
                        page.get_by_role("slider", name=name, exact=True).press(key)
                        page.wait_for_timeout(SETTLED)
                    frame(name)
                page.get_by_role("link", name=runs[0].name, exact=True).click()
                topics = page.locator(".editing").get_by_label("Topics", exact=True)
                topics.select_option(index=[0, 1])
                page.get_by_role("button", name="Merge", exact=True).click()
                frame("merge", page.get_by_role("heading", name="Edit the topics"))
                page.get_by_role("button", name="Continue with these").click()
                page.get_by_role("link", name="Compare both").click()
                known = {run.name for run in runs}
                (branch,) = (run for run in wb.open_runs(scratch) if run.name not in known)
                while len(branch.rows()) < BEGUN:
                    page.wait_for_timeout(SETTLED)
                page.locator("table[aria-label='comparison'] tbody tr").nth(1).wait_for()
                page.set_viewport_size({"width": widths[-1], "height": 900})
                page.emulate_media(color_scheme="dark")
                frame("both", page.locator(".bk-Figure"))
        finally:
            for run in wb.open_runs(scratch):
                run.stop()
                run.wait(60)


def film(folder: Path, width: int = WIDTHS[0]) -> None:
    """From the file that `workbench data example` writes to its topics over time, step by step; and the form on its own."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        served(Path(scratch) / "runs", "--max-upload", "50") as address,
    ):
        file = wb.write_example_csv(Path(scratch) / "news.csv", 3000)
        with opened_browser() as browser:
            page = new_page(browser, [width])
            frame = camera(page, folder, "film")
            page.goto(f"{address}/compare")
            page.get_by_label("Corpus", exact=True).select_option("My own data …")
            frame("choose")
            page.get_by_label("File", exact=True).set_input_files(file)
            columns = {
                "Text column": "text",
                "Title column": "id",
                "Label column": "category",
                "Time column": "date",
            }
            for label, column in columns.items():
                expect(page.get_by_label(label, exact=True)).to_have_value(column)
            for family in ("LDA: ", "HDP: "):
                page.get_by_role("button", name=family).click()
            for engine in set(DEFAULT_ENGINES) - {"svb", "cgs"}:
                page.get_by_label(engine, exact=True).uncheck()
            for label, value in {"Topics K": "5", "Iterations": "500"}.items():
                page.get_by_label(label, exact=True).fill(value)
                page.get_by_label(label, exact=True).blur()
            frame("columns")
            page.get_by_role("button", name="Preprocessing: defaults").click()
            page.get_by_label("Min. documents", exact=True).fill("5")
            page.get_by_label("Min. documents", exact=True).blur()
            page.get_by_role("button", name="Preview data").click()
            page.get_by_role("table", name="first documents").wait_for()
            frame("preview")
            page.get_by_role("button", name="Start", exact=True).click()
            page.get_by_text("2 runs started,").wait_for()
            page.locator("[data-run] span.state.running").first.wait_for()
            frame("live", page.locator(".bk-Figure"))
            page.locator("[data-run] span.state.finished").nth(1).wait_for()
            page.get_by_role("link", name="news-cgs").first.click()
            page.locator(".topics tbody tr").nth(4).click()
            for card in ("documents", "sizes"):
                page.locator(f".{card} :is(td, li, [role=figure])").first.wait_for()
            frame("topics")
            page.get_by_label("Figure", exact=True).select_option("Topics over time")
            page.locator(".recorded [role=figure]").first.wait_for()
            frame("over-time", page.get_by_role("heading", name="Figures of this run"))
            film_of_editing(page, frame, Path(scratch) / "report.html")


def film_of_editing(page: Page, frame: Callable, report: Path) -> None:
    """Six words are left out of a run that continues, two of its topics are merged and get a name, and readers a report."""
    editing = page.get_by_role("heading", name="Edit the topics")
    words = page.get_by_role("group", name="words to leave out", exact=True)
    for name in [words.get_by_role("button").nth(place).inner_text() for place in range(6)]:
        words.get_by_role("button", name=name, exact=True).click()
    frame("left-out", editing)
    page.get_by_role("button", name="Continue with these").click()
    page.get_by_role("link", name="match their topics").click()
    page.get_by_text(", finished").first.wait_for()
    page.locator(".editing").get_by_label("Topics", exact=True).select_option(index=[0, 1])
    page.get_by_role("button", name="Merge", exact=True).click()
    page.get_by_role("button", name="Show as edited").click()
    page.get_by_text("as edited by hand").first.wait_for()
    page.locator(".topics tbody tr").first.click()
    page.get_by_role("group", name="Suggested").get_by_role("button").first.click()
    frame("named")
    page.get_by_label("Figure", exact=True).select_option("Effects of a column")
    page.locator(".recorded [role=figure]").first.wait_for()
    frame("effects", page.get_by_role("heading", name="Figures of this run"))
    page.get_by_role("link", name="Compare", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Report for readers").click()
    download.value.save_as(report)
    page.goto(report.as_uri())
    frame("report")


def photograph_guarded(store: Path, damaged: str, folder: Path, widths=WIDTHS) -> None:
    """What a server with a password asks first, and Compare where nothing can be changed, with a damaged run."""
    secret = store.parent / "password"
    secret.write_text("correct horse battery")
    secret.chmod(0o600)
    with (
        served(store, "--read-only", "--password-file", str(secret)) as address,
        opened_browser() as browser,
    ):
        page = new_page(browser, widths)
        page.goto(f"{address}/compare")
        take(page, folder, "sign-in", widths)
        page.get_by_label("Password").fill(secret.read_text())
        page.get_by_role("button", name="Sign in").click()
        page.locator(f"[data-run='{damaged}']").wait_for()
        take(page, folder, "read-only", widths)


@contextmanager
def opened_browser() -> Iterator[Browser]:
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def new_page(browser: Browser, widths) -> Page:
    page = browser.new_page(viewport={"width": widths[0], "height": 900})
    page.set_default_timeout(PATIENCE)
    return page


def take(page: Page, folder: Path, name: str, widths, full_page: bool = True) -> None:
    """Pictures of what a page shows, at these widths, light and dark; of one that is very long the top alone."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900 if full_page else 1500})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(SETTLED)
            (folder / f"{name}-{width}-{scheme}.png").write_bytes(
                smaller(page.screenshot(full_page=full_page))
            )


def smaller(png: bytes) -> bytes:
    """The picture in 256 colours, a third of its size: the half that it has most of, and those nearest to all others."""
    picture, out, palette = (
        Image.open(io.BytesIO(png)).convert("RGB"),
        io.BytesIO(),
        Image.new("P", (1, 1)),
    )
    most = sorted(picture.getcolors(picture.width * picture.height), reverse=True)[:128]
    palette.putpalette(
        [
            *(part for _, colour in most for part in colour),
            *picture.quantize(128, Image.Quantize.MAXCOVERAGE).getpalette()[: 3 * 128],
        ]
    )
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def main(store: Path) -> None:
    runs = make_runs(store)
    with live_run(store) as live, served(store) as address:
        photograph(address, store, runs, live, HERE)
    photograph_choosing(store.with_name(f"{store.name}-by-k"), HERE)
    photograph_frontier(store.with_name(f"{store.name}-frontier"), HERE)
    photograph_oracle(store, HERE)
    photograph_ledger(store, HERE)
    with damaged_run(store, runs["cgs"][0]) as damaged:
        photograph_guarded(store, damaged, HERE)
    film(HERE)
    film_of_turning(HERE)


if __name__ == "__main__":
    if sys.argv[1:] == ["--film"]:
        film(HERE)
        film_of_turning(HERE)
    elif sys.argv[1:2] == ["--imported"]:
        photograph_imported(Path(sys.argv[2]), HERE)
    elif len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "runs")
