"""The site is built from the pages and the code: no warning, no other host, all public names, and a search without a server."""

import importlib.util
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from documented import ROOT
from missing import skip_without

import workbench as wb
from workbench.engines import ENGINES

LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "use": "href",
}
"""Elements that a browser loads something for, and the attribute that names it."""


class Loads(HTMLParser):
    """Collects what a page loads, and the text of its styles."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded, self.styles, self.within = [], [], ""

    def handle_starttag(self, tag: str, attrs: list) -> None:
        given, self.within = dict(attrs), tag
        asked = tag != "link" or not {"index", "search", "next", "prev", "canonical"} & set(
            (given.get("rel") or "").split()
        )
        if asked and given.get(LOADED.get(tag, "")):
            self.loaded.append(given[LOADED[tag]])
        self.loaded += [
            part.split()[0] for part in (given.get("srcset") or "").split(",") if part.strip()
        ]
        self.styles.append(given.get("style") or "")

    def handle_data(self, data: str) -> None:
        if self.within == "style":
            self.styles.append(data)


def elsewhere(page: str) -> list[str]:
    """What a page of HTML loads from another host."""
    loads = Loads()
    loads.feed(page)
    return [name for name in loads.loaded if re.match(r"(https?:)?//", name)] + hosts_of_style(
        " ".join(loads.styles)
    )


def hosts_of_style(style: str) -> list[str]:
    """What a style sheet loads from another host."""
    return re.findall(r"(?:url\(\s*[\"']?|@import\s+[\"'])((?:https?:)?//[^\"')]+)", style)


def test_a_page_that_loads_from_elsewhere_is_seen():
    assert elsewhere(
        '<script src="https://cdn.example.org/x.js"></script><img src=//example.org/a.png>'
    )
    assert elsewhere("<style>@import 'https://fonts.example.org/f.css'</style>")
    assert elsewhere('<p style="background:url(//a.b/c)">')
    assert not elsewhere(
        '<a href="https://example.org">x</a><img src="a.png"><link rel="next" href="//example.org">'
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, with notebooks as they are."""
    if importlib.util.find_spec("myst_nb") is None:
        skip_without("the site is built by Sphinx, of the extra 'docs'")
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, ROOT / "docs" / "site" / "build.py", folder, "--no-outputs"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_no_other_host(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 70
    for page in pages:
        assert elsewhere(page.read_text(encoding="utf-8")) == [], page
    for style in site.rglob("*.css"):
        assert hosts_of_style(style.read_text(encoding="utf-8")) == [], style


@pytest.mark.slow
def test_all_public_names_engines_variables_and_commands_are_in_the_reference(site):
    python = " ".join(
        page.read_text(encoding="utf-8") for page in (site / "reference").glob("python_*.html")
    )
    found = set(re.findall(r'id="workbench\.(\w+)"', python))
    assert set(wb.__all__) - found == {
        "VARIABLES",
        "engines",
        "measures",
        "sklearn",
        "synthetic",
        "views",
    }
    assert (
        'id="workbench.corpus.catalog.synthetic.bars"' in python
        and 'id="workbench.sklearn.TopicModel"' in python
    )
    assert {
        each
        for each in ENGINES
        if f'id="{each}"' not in (site / "reference" / "engines.html").read_text()
    } == set()
    variables = (site / "reference" / "variables.html").read_text()
    assert [name for name in wb.VARIABLES if f">{name}<" not in variables] == []
    commands = (site / "reference" / "command_line.html").read_text()
    assert "workbench-fit-stream" in commands and "--scheduler" in commands
    assert "committed (3,)" in (site / "reference" / "store.html").read_text()


@pytest.mark.slow
def test_formulas_are_mathml(site):
    for page in [*(site / "docs" / "explanation").glob("*.html"), site / "docs" / "errata.html"]:
        text = page.read_text(encoding="utf-8")
        assert "MathJax" not in text and "$" not in re.sub(
            r"<(script|style|pre).*?</\1>", "", text, flags=re.S
        ), page
    assert (site / "docs" / "explanation" / "perplexity.html").read_text(encoding="utf-8").count(
        "<math"
    ) > 10


@pytest.mark.slow
@pytest.mark.browser
def test_search_works_without_a_server(site, browser):
    page = browser.new_page()
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"file://{site}/index.html")
    page.fill("input[name=q]", "elliptical slice")
    page.press("input[name=q]", "Enter")
    page.wait_for_selector("#search-results li a")
    titles = page.locator("#search-results li a").all_inner_texts()
    page.close()
    assert any("years and places" in title for title in titles), titles
    assert wrong == [] and [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_a_notebook_is_shown_without_programs_and_live_views(monkeypatch):
    pytest.importorskip("nbformat")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    from nbformat.v4 import new_output

    import notebooks

    picture = new_output("display_data", {"image/png": "iVBOR", "text/plain": "x"})
    assert notebooks.shown(picture) is picture
    assert notebooks.shown(new_output("stream", name="stderr", text="bar")) is None
    assert (
        notebooks.shown(
            new_output("display_data", {"text/html": "<div></div><script src='x'></script>"})
        )
        is None
    )
    live = notebooks.shown(
        new_output("display_data", {notebooks.LIVE: "", "text/html": "<script></script>"})
    )
    assert "make lab" in json.dumps(live) and "script" not in json.dumps(live)
