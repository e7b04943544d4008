"""Fixtures that every test may ask for."""

import shutil

import pytest
from missing import skip_without
from toys import read_oracles, toy_a

from workbench.corpus import Corpus, data_sets, load_corpus

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 2
"""What takes longer has the mark `slow`, or `long`; compiling the kernels of a file is no part of that."""
QUIET = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync"


@pytest.fixture(scope="session")
def kos() -> Corpus:
    """KOS blog entries; skipped where WORKBENCH_DATA does not hold them, failed under WORKBENCH_NO_SKIP=1."""
    if data_sets()["kos"].folder() is None:
        skip_without("WORKBENCH_DATA names no folder with docword.kos.txt.gz and vocab.kos.txt")
    return load_corpus("kos")


@pytest.fixture(scope="session")
def oracles() -> dict:
    """Exact values for the toy corpora; see tests/oracles."""
    return read_oracles()


@pytest.fixture
def toy():
    """(corpus, model) of toyA: 2 documents, 3 words, 9 tokens, 2 topics."""
    return toy_a()


@pytest.fixture
def train(halves):
    """The training part of the `halves` of a folder or file."""
    return halves[0]


@pytest.fixture(name="test")
def held_out(halves):
    """What is held out of them."""
    return halves[1]


@pytest.fixture
def undrawn(monkeypatch):
    """For tests of words alone: every figure of a report is an empty picture."""
    from workbench.report import rendering
    from workbench.report.drawing import inline_svg

    empty = b'<?xml version="1.0"?><svg width="1pt" height="1pt" viewBox="0 0 1 1"></svg>'

    def draw(panels, columns, formats, *rest, **more):
        return dict.fromkeys(formats, empty)

    for module in ("workbench.report.rendering", "workbench.report.figures"):
        monkeypatch.setattr(f"{module}.draw", draw)
    monkeypatch.setattr(
        rendering, "inline_svg", lambda svg, name, title, hover: inline_svg(svg, name, title)
    )


@pytest.fixture(scope="session")
def browser():
    """Chromium; skipped where there is none, failed under WORKBENCH_NO_SKIP=1."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        skip_without(f"none of {', '.join(NAMES)} is on the path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=found, args=QUIET.split())
        yield made
        made.close()


def pytest_terminal_summary(terminalreporter) -> None:
    """Lists the tests that took longer than `SECONDS` and have no mark for it. It fails none."""
    lines = [
        f"{report.duration:6.1f}s {report.nodeid}"
        for report in terminalreporter.stats.get("passed", ())
        if report.when == "call"
        and report.duration > SECONDS
        and not {"slow", "long"} & set(report.keywords)
    ]
    if lines:
        terminalreporter.section(f"over {SECONDS} seconds without the mark slow")
        terminalreporter.write_line("\n".join(sorted(lines, reverse=True)))
