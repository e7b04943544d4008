"""How long do 20,000 documents with dates, categories and ids keep a visitor waiting?

Simulated news (`workbench data example`), five topics by `cgs`, the Topics page in a real Chromium. Each round is a server that
has read nothing yet and one tab without a cache: seconds from asking for the page until its topics, and the first page of
documents, are drawn; then milliseconds from Enter, or a choice, until its effect is drawn: the first search, two seconds after
the page came or at once; later ones; the table sorted by a column, first and again, and by the share of a topic; its next page.
Wall times of server and browser together, so read them beside the load of the machine (`python benchmarks/documents.py`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

NAME = "documents"
TITLE = "Twenty thousand documents on the Topics page"
N_ROUNDS = 5
QUERIES = (
    "vaccine",
    "category:sport goal",
    '"stock market"',
    "source:web cheese",
    "date:2021-03 loan",
)
ORDERS = (
    ("first_sort", "date"),
    ("sort", "share"),
    ("first_sort", "source"),
    ("sort", "date"),
    ("sort", "topic"),
)
WANTED = {
    "topics": ("page to the first topics, s", None),
    "table": ("page to the table of documents, s", None),
    "first_search": ("first search after two seconds, ms", 200),
    "search": ("later searches, ms", 200),
    "at_once": ("first search at once, ms", None),
    "first_sort": ("sorted by a column, first, ms", None),
    "sort": ("sorted again, or by topics, ms", None),
    "turn": ("next page, ms", None),
    "words": ("words looked up, ms", None),
    "fit": ("fit of 40 iterations, s", None),
}
"""What is measured → what it is, and the most that it may be."""
LOOK = """() => {
  window.deep = (selector, root = document) => [...root.querySelectorAll(selector),
    ...[...root.querySelectorAll('*')].flatMap((node) => node.shadowRoot ? deep(selector, node.shadowRoot) : [])]
  window.told = () => deep('.wb-clickable .pages, .wb-clickable tr[data-key^="document "]')
    .map((node) => node.dataset.key ?? node.textContent).join('|')
}"""


def cells(plan):
    """(name, rough seconds, what measures it)."""
    n = 2000 if plan.quick else 20_000
    yield (
        f"{n:,} documents",
        30 if plan.quick else 150,
        lambda: measure(n, 1 if plan.quick else N_ROUNDS),
    )


def measure(n_documents: int, n_rounds: int) -> list[dict]:
    """A row for each time that was taken."""
    rows = []
    with tempfile.TemporaryDirectory() as store:
        rows.append({"contender": "fit", "round": 0, "wall": make_run(Path(store), n_documents)})
        for round_ in range(n_rounds):
            for mode in ("patient", "hasty"):
                command = [sys.executable, __file__, "--store", store, "--mode", mode]
                told = subprocess.run(
                    command, check=True, stdout=subprocess.PIPE, text=True
                ).stdout.splitlines()[-1]
                rows += [
                    {"contender": what, "round": round_, "wall": wall}
                    for what, wall in json.loads(told)
                ]
    return [row | {"documents": n_documents} for row in rows]


def make_run(store: Path, n_documents: int) -> float:
    """Seconds that a run on simulated news took; it is called news."""
    import workbench as wb

    read = {"title": "id", "time": "date", "label": "category"}
    corpus = wb.load_corpus(wb.write_example_csv(store / "news.csv", n_documents), **read)
    wb.fit(corpus, "cgs", n_topics=5, n_iterations=1, progress=False)  # compiled kernels
    began = time.perf_counter()
    wb.fit(
        corpus,
        "cgs",
        n_topics=5,
        n_iterations=40,
        store=store / "runs",
        name="news",
        progress=False,
    )
    return time.perf_counter() - began


def visited(url: str, mode: str) -> list[tuple[str, float]]:
    """What was measured, and its seconds or milliseconds, of one tab; a hasty visitor searches at once, and nothing else."""
    from playwright.sync_api import sync_playwright
    from visitors import chromium

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1440, "height": 900})
        tab.set_default_timeout(60_000)
        tab.add_init_script(f"({LOOK})()")
        found, began = [], time.perf_counter()
        tab.goto(url)

        def until(what: str, script: str, *given, scale: float = 1e3) -> None:
            tab.wait_for_function(script, arg=list(given), polling="raf")
            found.append((what, scale * (time.perf_counter() - began)))

        until("topics", '() => deep(`tr[data-key^="topic "]`).length > 0', scale=1.0)
        until("table", '() => deep(`tr[data-key^="document "]`).length > 0', scale=1.0)
        field = tab.get_by_label("Find documents", exact=True)
        if mode == "patient":
            tab.wait_for_timeout(2000)

        def after(what: str, act) -> None:
            """From what is done until the table has changed."""
            nonlocal began
            before = tab.evaluate("told()")
            began = time.perf_counter()
            act()
            until(what, "([before]) => told() !== before", before)
            tab.wait_for_timeout(300)

        first = "first_search" if mode == "patient" else "at_once"

        def search(query: str) -> None:
            """Writes a query: a busy page may answer it before Enter, when the field loses the focus."""
            field.fill(query)
            field.press("Enter")

        for at, query in enumerate(QUERIES if mode == "patient" else QUERIES[:1]):
            after("search" if at else first, lambda query=query: search(query))
        if mode == "patient":
            after("search", lambda: search(""))
            for what, column in ORDERS:
                heading = tab.locator(f".documents th button[data-key$='{column}']")
                after(what, heading.click)
            after("turn", lambda: tab.get_by_role("button", name="Next ›").click())
            words = tab.get_by_label("Find words", exact=True)
            words.fill("at")
            began = time.perf_counter()
            words.press("Enter")
            until("words", '() => deep(`button[data-key^="word "]`).length > 0')
        browser.close()
    return found


def told(rows: pd.DataFrame) -> str:
    from records import markdown

    parts = [__doc__.split("\n\n", 1)[1].strip()]
    for cell, own in rows.groupby("cell", sort=False):
        times = own.groupby("contender")["wall"]
        lines = [
            [
                what,
                f"≤ {most}" if most else "",
                f"{times.get_group(name).median():.3g}",
                f"{times.get_group(name).max():.3g}",
            ]
            for name, (what, most) in WANTED.items()
            if name in times.groups
        ]
        parts.append(markdown([cell, "wanted", "median", "longest"], lines))
    return "\n\n".join(parts)


def main() -> None:
    """What one visitor of a new server met, as JSON; without a store a whole measurement, as a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=N_ROUNDS)
    parser.add_argument("--store", help="of a run that is there")
    parser.add_argument(
        "--mode",
        choices=("patient", "hasty"),
        default="patient",
        help="what the visitor does there",
    )
    parser.add_argument("--url", help="a server that is there; only visits it")
    given = parser.parse_args()
    if given.url:
        print(json.dumps(visited(given.url, given.mode)))
    elif given.store:
        from server import serve

        def visit(url: str) -> None:
            command = [sys.executable, __file__, "--url", url, "--mode", given.mode]
            print(
                subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout,
                end="",
                flush=True,
            )

        serve(Path(given.store) / "runs", "topics", visit)
    else:
        import os

        import pandas as pd

        rows = pd.DataFrame(measure(given.documents, given.rounds)).assign(
            cell=f"{given.documents:,} documents"
        )
        print(told(rows).split("\n\n", 1)[1], f"load average {os.getloadavg()[0]:.1f}", sep="\n\n")


if __name__ == "__main__":
    main()
