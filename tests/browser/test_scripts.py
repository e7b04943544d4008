"""What others wrote is shown and never run: 200 strings with scripts, wherever a text of theirs is seen.

The browser is told to heed no Content-Security-Policy, so a string that became an element would run.
"""

import csv
from itertools import count, islice, product
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import panel as pn
import pytest
from browser.conftest import PATIENCE
from browser.desk import fill, row, until
from browser.servers import our_server, serving

import workbench as wb
from workbench.corpus import Corpus, hold_out_tokens
from workbench.corpus.document_table import DocumentTable
from workbench.dashboard.compare.page import ComparePage
from workbench.dashboard.notebooks.live_view import LiveView
from workbench.dashboard.notebooks.tune import Tune
from workbench.dashboard.oracle.page import OraclePage
from workbench.dashboard.shared.link import LONGEST
from workbench.dashboard.shared.shell import column
from workbench.dashboard.sweep.page import SweepPage
from workbench.dashboard.topics.page import TopicsPage
from workbench.runs.execution.fit import fit
from workbench.runs.execution.run import Run
from workbench.runs.request import FILE
from workbench.runs.store.notes import annotate, label_topic

pytestmark = [pytest.mark.browser, pytest.mark.slow]
VECTORS = (
    "<img src=x onerror={hit}>",
    "<script>{hit}</script>",
    "<svg onload={hit}>",
    "<svg><script>{hit}</script></svg>",
    "<iframe srcdoc='<script>parent.{hit}</script>'>",
    "<body onload={hit}>",
    "<details open ontoggle={hit}>",
    "<input autofocus onfocus={hit}>",
    "<video><source onerror={hit}></video>",
    "<a href='javascript:{hit}'>a</a>",
    "<style>@import 'javascript:{hit}'</style>",
    "<math><mtext><img src=x onerror={hit}></math>",
    "<object data='javascript:{hit}'>",
    "<marquee onstart={hit}>",
    "<select autofocus onfocus={hit}>",
    "<embed src='javascript:{hit}'>",
    "javascript:{hit}",
    "${{{hit}}}",
    "{{{{constructor.constructor('{hit}')()}}}}",
    "<%= {hit} %>",
)
FRAMES = (
    "{}",
    '">{}',
    "'>{}",
    "</script>{}",
    "</title></style>{}",
    "--> {}",
    "]]>{}",
    "`{}",
    "\\x3c{} @{{iteration}} $x",
    "&lt;{}",
)
"""What a string may have to get out of first."""
HITS = ("document.documentElement.dataset.hit=1", "alert`1`")
STRINGS = tuple(
    dict.fromkeys(
        frame.format(vector.format(hit=hit))
        for at, (frame, vector) in enumerate(product(FRAMES, VECTORS))
        for hit in HITS[at % 2 :][:1]
    )
)
INJECTED = """() => {
  const found = []
  const look = (root) => {
    for (const node of root.querySelectorAll('*')) {
      const run = ({ name, value }) => /^on/.test(name) && /dataset.hit|alert/.test(value)
      if ([...node.attributes].some(run)) found.push(node.outerHTML)
      if (node.matches('script, iframe, object, embed, a[href^=javascript]') && /dataset.hit=|alert`/.test(node.outerHTML)
          && !/json/.test(node.type ?? '')) found.push(node.outerHTML.slice(0, 300))
      if (node.shadowRoot) look(node.shadowRoot)
    }
  }
  look(document)
  return document.documentElement.dataset.hit ? ['run', ...found] : found
}"""
"""Elements that came of a string, in shadow roots too."""
LOOSE = "<img src=x onerror=document.documentElement.dataset.hit=1>"
"""The name that a person gives the folder of a run, as no run is named."""
KIND, OTHER = "kind", next(text for text in STRINGS if '"' not in text)
"""Columns of documents."""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with runs whose words, titles, texts, columns, labels, notes, tags and corpus are the strings; one in such a
    folder."""
    store, draw = tmp_path_factory.mktemp("scripts") / "runs", np.random.default_rng(0)
    documents, words = np.divmod(draw.choice(60 * 200, 4000, replace=False), 200)
    columns = {
        "text": [f"{STRINGS[d]} {STRINGS[-d]}" for d in range(60)],
        KIND: [STRINGS[d % 20] for d in range(60)],
        OTHER: [STRINGS[100 + d % 15] for d in range(60)],
        STRINGS[180]: STRINGS[120:180],
    }
    corpus = Corpus.from_pairs(
        documents,
        words,
        draw.integers(1, 4, 4000),
        vocabulary=STRINGS,
        titles=STRINGS[:60],
        labels=STRINGS[60:120],
        authors=tuple((name,) for name in STRINGS[120:180]),
        name=LOOSE.replace("/", ""),
        table=DocumentTable(columns, "text", {"token_pattern": r"\w+"}),
    )
    train, test = hold_out_tokens(corpus, fraction=0.2, seed=0)
    for name, engine in (("one", "cgs"), ("two", "svb")):
        fit(train, engine, 20, test=test, n_iterations=12, store=store, name=name, progress=False)
        annotate(
            store / name,
            note="\n".join(islice(STRINGS, 20)),
            tags=[text[:40] for text in STRINGS[:25]],
        )
        for topic, text in zip(range(20), STRINGS[::10], strict=True):
            label_topic(store / name, Run(store / name).dataset(), topic, text[:60])
    fit(train, "cvb0", 5, test=test, n_iterations=5, store=store, name="loose", progress=False)
    (store / "loose").rename(store / LOOSE)
    return store


@pytest.fixture(scope="module")
def served(store):
    with serving(our_server(), store) as address:
        yield address


def in_groups(n: int):
    """All strings, n at a time."""
    return (STRINGS[at : at + n] for at in range(0, len(STRINGS), n))


def packed():
    """All strings, as many at a time as the value of a link may hold."""
    pack = ""
    for text in STRINGS:
        if len(pack) + len(text) >= LONGEST:
            yield pack
            pack = ""
        pack += f"{text} "
    yield pack


def check_nothing_ran(page) -> None:
    page.wait_for_timeout(300)
    assert page.evaluate(INJECTED) == [], page.url


@pytest.fixture
def hostile(browser):
    """A function that opens a page without a policy; at the end no string may have become more than text there."""
    context, dialogs = browser.new_context(bypass_csp=True), []

    def open_page(address: str):
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        return page

    yield open_page
    for page in context.pages:
        check_nothing_ran(page)
    context.close()
    assert dialogs == []


def test_on_the_compare_page(served, hostile):
    page = hostile(served)
    row(page, "one").wait_for()
    row(page, LOOSE).wait_for()
    page.get_by_label("choose all runs that are found").check()
    page.get_by_text("3 chosen").wait_for()
    assert page.get_by_text(STRINGS[1][:40]).count()
    page.get_by_role("button", name="Show selected").click()
    box = page.locator("[aria-label^='curves of the runs']").bounding_box()
    for step in range(1, 12):
        # its tooltips
        page.mouse.move(box["x"] + box["width"] * step / 12, box["y"] + box["height"] / 2)


def test_on_the_topics_page(served, hostile):
    page = hostile(served.replace("compare", "topics?run=one&with=two&topic=3&document=2"))
    page.get_by_text("20 topics of one, finished.").wait_for()
    page.get_by_text(STRINGS[30][:20]).first.wait_for(state="attached")
    box = page.locator(".map").get_by_role("figure").bounding_box()
    for step in range(1, 12):
        # its tooltips
        page.mouse.move(box["x"] + box["width"] * step / 12, box["y"] + box["height"] / 2)
    for line in page.locator(".topics tr[data-key]").all()[:5]:
        line.hover(force=True)
    page.get_by_label("Text of a document that the run has not seen").fill("\n".join(STRINGS))
    page.get_by_role("button", name="Infer topics").click()
    page.locator(".unseen [role=status]").first.wait_for()


def test_in_texts_and_columns_of_documents_and_in_what_is_looked_for(served, hostile):
    page = hostile(
        served.replace(
            "compare", f"topics?{urlencode({'run': 'one', 'document': 2, 'find': 'onerror'})}"
        )
    )
    page.get_by_text("20 topics of one, finished.").wait_for()
    documents = page.locator(".documents")
    documents.get_by_text("documents have what is looked for").wait_for()
    until(lambda: STRINGS[2] in documents.locator("p.text").inner_text(), "the text is shown")
    assert (
        STRINGS[2] in documents.locator("dd").all_inner_texts()
        and OTHER in documents.locator("dt").all_inner_texts()
    )
    for query in (
        f"{KIND}:svg",
        f'"{OTHER}":body',
        *STRINGS[::20],
        *(f'"{text}"' for text in STRINGS[5::40]),
    ):
        fill(page, "Find documents", query)  # some are told to have a column that there is not
        check_nothing_ran(page)


def in_figures_of_groups(page) -> None:
    recorded = page.locator(".recorded")
    recorded.get_by_label("Figure", exact=True).wait_for(timeout=2 * PATIENCE)
    for figure, menu in (
        ("Topics by group", "Group by"),
        ("Differences between groups", "Group"),
    ):
        recorded.get_by_label("Figure", exact=True).select_option(figure)
        choices = recorded.get_by_label(menu, exact=True).locator("option")
        until(lambda choices=choices: choices.count() > 2, "there are groups")
        drawn = recorded.get_by_role("figure").first
        for value in choices.evaluate_all("options => options.map(option => option.value)")[1::20]:
            drawn.evaluate("figure => { figure.dataset.before = 'yes' }")
            recorded.get_by_label(menu, exact=True).select_option(value)
            until(
                lambda drawn=drawn: drawn.get_attribute("data-before") is None,
                "another figure is drawn",
            )
            check_nothing_ran(page)


def test_in_the_preview_of_a_file(served, hostile, tmp_path):
    file = tmp_path / f"{STRINGS[0].replace('/', '')}.csv"
    with open(file, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["text", "title", "label", *STRINGS[:5]])
        writer.writerows(
            [some, some[::-1], some, *STRINGS[5:10]] for some in ("", *STRINGS, *STRINGS)
        )
    page = hostile(f"{served}?{urlencode({'corpus': FILE, 'path': file})}")
    page.get_by_role("button", name="Preview data").click()
    page.get_by_text("the same words as an earlier one").first.wait_for()
    assert STRINGS[0] in page.get_by_label("first documents").inner_text()


def test_in_links(store, served, hostile):
    packs, turn = list(packed()), count()
    pages = (
        ("compare", ComparePage(store).parameters, "Corpus", "find"),
        ("sweep", SweepPage(store).parameters, "Corpus", "path"),
        ("topics", TopicsPage(store)._parameters, "Topics of", "find"),
        ("oracle", OraclePage().parameters, "Toy", "counts"),
    )
    for name, parts, drawn, known in pages:
        texts = [parameter for parameter, part in parts.items() if part.take(STRINGS[0])]
        assert known in texts
        # a server refuses addresses beyond 64 kB, and a page draws each field that it is given
        room = min(len(texts), 40)
        # twice, and as often as each field of a text wants a pack; packs go on from page to page
        for visit in range(max(2, -(-len(texts) // room))):
            query = {
                parameter: STRINGS[(25 * visit + at) % len(STRINGS)]
                for at, parameter in enumerate(parts)
                if parameter not in texts
            }
            query |= {
                texts[at % len(texts)]: packs[next(turn) % len(packs)]
                for at in range(visit * room, (visit + 1) * room)
            }
            page = hostile(served.replace("compare", f"{name}?{urlencode(query)}"))
            page.get_by_label(drawn, exact=True).filter(visible=True).wait_for()
            check_nothing_ran(page)
            page.close()


def in_names_of_uploaded_files(page) -> None:
    chooser = page.get_by_label("File of documents that the run has not seen")
    for at, some in enumerate(in_groups(20)):
        title, kind = f"{at}: {' '.join(some)}", (".txt", ".pdf")[at % 4 == 3]
        chooser.set_input_files(
            {"name": f"{title}{kind}", "mimeType": "text/plain", "buffer": STRINGS[at].encode()}
        )
        page.locator(".unseen").get_by_text(f"{at}: ").first.wait_for()
        check_nothing_ran(page)


def test_in_figures_names_of_uploaded_files_and_downloads(served, hostile, tmp_path):
    page = hostile(served.replace("compare", "topics?run=one&topic=3"))
    page.get_by_text("20 topics of one, finished.").wait_for()
    in_figures_of_groups(page)
    in_names_of_uploaded_files(page)
    with page.expect_download() as arriving:
        page.get_by_role("group", name="download the words").get_by_role(
            "button", name="SVG"
        ).click()
    path = tmp_path / "words.svg"
    path.write_bytes(Path(arriving.value.path()).read_bytes())
    assert b"onerror" in path.read_bytes()
    hostile(path.as_uri()).wait_for_timeout(300)


def test_in_a_report(store, hostile, tmp_path):
    wb.write_report([store / "one", store / "two"], tmp_path / "report.html", title=STRINGS[0])
    hostile((tmp_path / "report.html").as_uri()).wait_for_timeout(500)


def test_in_the_view_of_a_notebook(store, hostile, tmp_path):
    view = LiveView([store / "one", store / LOOSE])
    pn.io.save.save(view.card, tmp_path / "view.html", resources="inline")
    hostile((tmp_path / "view.html").as_uri()).locator("[data-run='one']").wait_for()


def test_in_the_sliders_of_a_notebook(store, hostile, tmp_path):
    cell = Tune(tmp_path / STRINGS[0].replace("/", ""), ["cgs"], store)
    cell.start.clicks += 1
    until(lambda: "onerror" in cell.status.object, "the corpus that is not there is told")
    pn.io.save.save(
        column(cell.status, cell.engines, kind="wb-card"),
        tmp_path / "tune.html",
        resources="inline",
    )
    hostile((tmp_path / "tune.html").as_uri()).get_by_text("onerror").wait_for()
