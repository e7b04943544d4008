"""Builds the gallery: ``python docs/gallery/make.py [STORE]``

Runs a small comparison on the bundled corpus (about a minute; runs that STORE has are taken as they are), draws every
figure of it on one and on two columns, and writes them beside this file with README.md. Then sets some of them into a
page of two columns and photographs it, where there is a Chromium and playwright (the extra ``test``).

The same runs give the same bytes. Runs made anew differ only where seconds are drawn (the second panel of the bounds).
"""

import io
import re
import shutil
import sys
from pathlib import Path

import workbench as wb
from workbench.report.captions import caption
from workbench.report.drawing import draw
from workbench.report.gathering import corpora_of, gather_started
from workbench.views import pictures

HERE = Path(__file__).parent
ENGINES = ("svb", "cvb", "cgs", "svb-cgs", "cv-hdp")
SETTINGS = {"n_topics": 12, "n_iterations": 60, "seeds": 2}
MAKES = """workbench compare docstrings --engines svb,cvb,cgs,svb-cgs,cv-hdp --topics 12 --iterations 60 --seeds 2 --store runs
workbench figures runs/* --out figures --format svg"""
LEFT_OUT = (
    "perplexity-by-seconds",
    "perplexity-by-steps",
    "alphas",
    "topics-by-group",
    "group-differences",
    "topic-words-",
    "topic-map-",
    "topic-flow-",
    "consensus-",
    "document-map",
    "topic-tree",
)
"""Not shown: curves against seconds, which differ from machine to machine, what looks like another figure, what would take the
gallery beyond its size, as what is about labels of documents, and all but one of those that there is one of for each engine."""
SHOWN = ("topic-words-cgs", "topic-map-cgs", "topic-flow-svb-cgs-r1-to-cgs")
PYTHON = {
    "ordering": "views.final_perplexities(runs)",
    "differences": "views.differences_view(runs)",
    "perplexity-by-iterations": 'views.perplexity_curves(runs, "average", "iteration")',
    "perplexity-by-updates": 'views.perplexity_curves(runs, "average", "updates")',
    "state-and-average": "views.state_and_average(runs_of_one_label)",
    "bound": "views.bound_curves(runs)",
    "gap": "views.gap_view(measures.gap(runs))",
    "objectives": 'views.objective_curves(runs, "log_joint")',
    "topic-numbers": "views.topic_number_curves(runs)",
    "hyperparameters": 'views.concentration_curves(runs, "top_concentration")',
    "topic-sizes": "views.topic_size_curves(run)",
    "topic-words-cgs": "views.topic_words_view(run)",
    "topic-map-cgs": "views.topic_map_view(measures.topic_map(run)) + views.topic_list_view(run)",
    "coherence": "views.coherence_view(measures.coherence(run, corpus))",
    "topic-flow-svb-cgs-r1-to-cgs": "views.topic_flow_view(measures.topic_flow(a, b, corpus), measures.match_topics(a, b))",
}


def build(store: Path, folder: Path) -> list[str]:
    """Draws the figures of the store's runs on one and two columns into the folder; their names."""
    found, left_out = gather_started(wb.open_runs(store))
    names = []
    for columns in (1, 2):
        for picture in pictures([each.dataset for each in found], columns, corpora_of(found)):
            if not shown(picture.name):
                continue
            names.append(picture.name)
            drawn = draw(picture.panels, columns, ("svg",), picture.legend, picture.height)[
                "svg"
            ].decode()
            (folder / f"{picture.name}-{columns}.svg").write_text(shorter(drawn))
            (folder / f"{picture.name}.txt").write_text(caption(picture, found, left_out))
    return list(dict.fromkeys(names))


def shorter(svg: str) -> str:
    """The same picture, a third smaller: a hundredth of a point is enough, and no name or blank stays that nothing needs."""
    svg = re.sub(r'\bd="[^"]*"', lambda path: _without_blanks(_rounded(path[0], 2)), svg)
    svg = re.sub(r'\b(?:x|y|transform)="[^"]*"', lambda place: _rounded(place[0], 3), svg)
    svg = re.sub(
        r' id="(?:figure|patch|axes|matplotlib\.axis|[xy]tick|line2d|text|\w*Collection|legend)_\d+"',
        "",
        svg,
    )
    svg = re.sub(r'\bstyle="[^"]*"', lambda style: re.sub(r"([:;]) ", r"\1", style[0]), svg)
    svg = re.sub(r'((?:id=|href=)"#?)DejaVuSans-', r"\1d", re.sub(r"<!--.*?-->", "", svg))
    return re.sub(r"\s*\n\s*", "\n", svg.replace("xlink:href=", "href="))


def _rounded(text: str, digits: int) -> str:
    """Return the number without further decimals and trailing zeros."""
    return re.sub(r"\.\d+", lambda part: part[0][: digits + 1].rstrip("0").rstrip("."), text)


def _without_blanks(path: str) -> str:
    return (
        re.sub(r"\s*([A-Za-z])\s*(?=[-\d.])", r"\1", re.sub(r"\s+", " ", path))
        .replace(" z", "z")
        .replace(' "', '"')
    )


def shown(name: str) -> bool:
    return name in SHOWN or not name.startswith(LEFT_OUT)


def made_by(name: str) -> str:
    """The line of Python that makes the figure."""
    return PYTHON.get(name, f'views.show(runs, "{name}")')


def readme(names: list[str], folder: Path) -> str:
    """The page: each figure on two columns, its caption, what makes it, and the same on one column."""
    lines = [
        "# Gallery",
        "",
        "The figures of one small comparison on the bundled corpus, as `workbench figures` writes it: on two columns of a "
        "journal page (7 in), and folded away on one (3.4 in), where a figure fits on a page and may have fewer rows, which "
        "its own caption says. Letters are outlines in SVG and embedded TrueType in PDF, from "
        "6 to 8 points; engines keep colour, line and marker everywhere, and any two differ in line or marker alone, for grey "
        "copies. Built by `make gallery`; the same runs give the same bytes, and runs made anew differ only where "
        "seconds are drawn, the second panel of the bounds.",
        "",
        "```",
        *MAKES.splitlines(),
        "```",
        "",
        'In Python, with `runs = [wb.open_run(run) for run in wb.open_runs("runs")]`, `run = runs[0]` and '
        "`from workbench import measures, views`, each picture is a HoloViews element by the line beneath it; "
        "`wb.save_figures(runs, folder, columns=1)` writes all of them.",
        "",
        "Set into a page of two columns with 9-point text:",
        "",
        "![a page of two columns](two-columns.png)",
        "",
    ]
    for name in names:
        caption = (folder / f"{name}.txt").read_text().split("\n\n")[0]
        lines += [
            f"## {name.replace('-', ' ')}",
            "",
            f"![{name}, on two columns]({name}-2.svg)",
            "",
            caption,
            "",
            f"`{made_by(name)}` · [settings, seeds and command]({name}.txt)",
            "",
            f'<details><summary>on one column</summary><img src="{name}-1.svg" alt="{name}, on one column"></details>',
            "",
        ]
    return "\n".join(lines)


def photograph(folder: Path) -> None:
    """The page of two columns as a picture."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 816, "height": 1056}, device_scale_factor=1.5)
        page.goto((HERE / "two-columns.html").as_uri())
        taken = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
        few = taken.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(folder / "two-columns.png", optimize=True)
        browser.close()


def main(store: Path) -> None:
    wb.compare(wb.load_corpus("docstrings"), ENGINES, **SETTINGS, store=store, progress=False)
    (HERE / "README.md").write_text(readme(build(store, HERE), HERE))
    if any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        photograph(HERE)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/gallery/runs"))
