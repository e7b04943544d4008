"""The page: self-contained, escaped, and with every number where it belongs."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from comparisons import made_up, picture_names, tiny_comparison, tiny_run, with_topics

import workbench as wb
from workbench.measures import perplexity_errors, summary, top_words, topic_sizes
from workbench.numbers import format_interval, format_with_error
from workbench.report.gathering import gather, scores
from workbench.report.tables import topic_tables
from workbench.runs.afterwards.heldout_by_document import score_documents
from workbench.runs.progress import decimals

VOID = {"meta", "link", "br"}
NAN = re.compile(r"\bnan\b", re.IGNORECASE)


class Page(HTMLParser):
    """Tags, attributes and text of a page; a tag that is not closed properly is an error."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.ids, self.targets, self.labels, self.text, self._open = (
            [],
            [],
            [],
            [],
            "",
            [],
        )
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.labels += [value for name, value in attrs if name == "aria-label"]
        self.targets += [
            value
            for name, value in attrs
            if name in ("src", "href", "xlink:href", "srcset", "action")
        ]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] != "style":
            self.text += data


@pytest.fixture(scope="module")
def report(store, tmp_path_factory) -> str:
    path = wb.write_report(wb.open_runs(store), tmp_path_factory.mktemp("page") / "report.html")
    return path.read_text()


def test_the_page_is_well_formed_and_its_ids_are_unique(report):
    page = Page(report)
    assert len(page.ids) == len(set(page.ids))
    assert {target.removeprefix("#") for target in page.targets if target.startswith("#")} <= set(
        page.ids
    )


def test_the_page_has_no_external_references_and_no_scripts(report):
    page = Page(report)
    assert "script" not in page.tags and "iframe" not in page.tags
    assert [target for target in page.targets if not target.startswith(("#", "data:"))] == []
    assert set(re.findall(r"https?://[^\s\"'<>]+", report)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "default-src 'none'" in report and "@import" not in report and "url(http" not in report
    assert "prefers-color-scheme: dark" in report and "@media print" in report


def test_the_page_has_means_errors_intervals_that_are_means_and_paired_differences(store, report):
    text, runs = Page(report).text, wb.open_runs(store)
    datasets = [run.dataset() for run in runs]
    table = summary(datasets)
    errors = perplexity_errors(datasets, {run.spec.hash: score_documents(run) for run in runs})
    for label in table["label"].values:
        row = table.sel(label=label)
        for name in (
            "test_perplexity",
            "test_perplexity_state",
            "test_perplexity_average",
            "elapsed",
        ):
            # perplexities below 100
            assert format_with_error(float(row[name]), float(row[f"{name}_se"]), 2) in text
        if label != "cgs":
            assert (
                format_with_error(
                    float(row["difference"]), float(row["difference_se"]), 2, sign=True
                )
                in text
            )
        low, high = (float(errors[end].sel(label=label)) for end in ("low", "high"))
        assert format_interval(low, high, 2) in text
    assert "difference from cgs" in text


def test_the_page_has_settings_corpus_versions_definitions_and_the_command(report):
    text = " ".join(Page(report).text.split())
    for actual in (
        "svb, svb-cgs and cgs on simulated",
        "6 runs",
        "20 % of the tokens of the corpus, split seed 0",
        "0, 1",
        "burn-in",
        "tokens (training)",
        "144",
        "tokens (held out)",
        "36",
        "numba (runs)",
        "workbench (runs)",
        "Collapsed Gibbs sampling",
        "exponential of the mean negative log p(w|d)",
        "averaged over all iterations after burn-in",
        "the number is that of the running average",
        "--engines svb,svb-cgs,cgs",
        "--engine svb-cgs",
        "divided by the square root",
        "In nats (natural logarithm)",
        "ns per update",
    ):
        assert actual in text, actual


def drawn_on_page(runs) -> list[str]:
    """The names of the pictures of a page, which has the words of topics as text."""
    return [name for name in picture_names(runs) if not name.startswith("topic-words-")]


def test_the_page_has_every_figure_and_every_topic(store, report):
    page = Page(report)
    n_drawn = len(drawn_on_page(wb.open_runs(store)))
    assert page.tags.count("figure") == page.tags.count("svg") == n_drawn > 0
    assert page.tags.count("details") == 3 + 1  # one run of each label, and the commands
    first = [run.dataset() for run in wb.open_runs(store) if run.spec.seed == 0]
    assert len(first) == 3
    for run in first:
        for words in top_words(run, 12)["word"].values:
            assert " ".join(words) in page.text


def test_words_and_sizes_have_bars_as_long_as_they_are_probable(store, report):
    run = next(
        run.dataset()
        for run in wb.open_runs(store)
        if run.spec.engine == "svb" and run.spec.seed == 0
    )
    result, sizes = top_words(run, 12), topic_sizes(run)["share"].values
    lines = [float(length) for length in re.findall(r"--p:([\d.]+)em", report)[: 4 * 12]]
    largest_first = np.argsort(-sizes, kind="stable")
    phi = result["phi"].values[largest_first].ravel()
    np.testing.assert_allclose(lines, 4 * phi / phi.max(), atol=0.005)  # written with two digits
    bars = [float(length) for length in re.findall(r"width:([\d.]+)em", report)[:4]]
    np.testing.assert_allclose(bars, 5 * np.sort(sizes)[::-1] / sizes.max(), atol=0.005)


def test_ink_takes_the_colour_of_the_page(report):
    svgs = "".join(re.findall(r"<svg.*?</svg>", report, re.DOTALL))
    assert "currentColor" in svgs and "#000000" not in svgs and "fill: #ffffff" not in svgs
    assert "<!--" not in svgs and "<metadata" not in svgs


@pytest.mark.slow
def test_the_same_runs_give_the_same_page(store, tmp_path, report):
    assert wb.write_report(wb.open_runs(store), tmp_path / "again.html").read_text() == report
    assert [path.name for path in tmp_path.iterdir()] == ["again.html"]


@pytest.mark.slow
def test_names_and_words_are_escaped(tmp_path):
    nasty = '<script>alert("x")</script>&\'$\\bad$ --> {{ 7 * 7 }}'
    run = tiny_run("cgs").copy()
    words = run["word"].values.copy()
    words[:] = [f"<b onload=1>{n}" for n in range(len(words))]
    words[0], words[1] = "<script>", "R&D"
    run = run.assign_coords(word=("word", words))
    other = made_up("cgs", [30, 20], corpus=nasty, train="elsewhere")
    other.attrs |= {"name": "<img src=x>", "stopped_early": "ended <em>early</em>"}
    report = wb.write_report(
        [run, other], tmp_path / "report.html", title=f"about {nasty}"
    ).read_text()
    page = Page(report)
    assert "script" not in page.tags and "img" not in page.tags and "b" not in page.tags
    assert (
        f"about {nasty}" in page.text
        and "<img src=x>" in page.text
        and "<b onload=1>3" in page.text
    )
    assert f"Final perplexity of each engine, {nasty}" in page.labels
    assert (
        "{{ 7 * 7 }}" in page.text
        and "R&D" in page.text
        and "ended <em>early</em>" in page.text
        and "em" not in page.tags
    )
    wb.save_figures([run, other], tmp_path, "svg")


def reduced():
    """A run on a corpus of fewer words, documents and singletons."""
    split = {"fraction": 0.1, "seed": 3, "per": "corpus", "top_words": 3000}
    split |= {"merge": 5, "repeat": 2, "singletons": "train"}
    return made_up("cgs", [30, 20], split=split)


def warm():
    """A run that began from another, ended early and was taken on by other kernels; and one that did not."""
    start = {"name": "parent", "hash": "0123456789" * 6, "iteration": 50, "counts": "c"}
    attrs = {
        "stopped_early": "ended after iteration 2: bound changed little",
        "restarts": '[{"bound": -2345.6}, {"bound": -1234.5}]',
        "taken_on": "made by kernels 1a2b, 3c4d after iteration 1",
    }
    return [made_up("cgs", [30, 20], start=start).assign_attrs(attrs), made_up("svb", [30, 20])]


def unended():
    """A run that is at work, beside one that has ended."""
    return [tiny_run().isel(iteration=slice(0, 7)).assign_attrs(state="running"), tiny_run("svb")]


PAGES = {
    "a comparison in memory": (
        tiny_comparison,
        {},
        ("have no counts", "difference from cgs"),
        (),
    ),
    "another reference": (
        tiny_comparison,
        {"reference": "svb"},
        ("difference from svb",),
        (),
    ),
    "nothing held out": (
        lambda: tiny_comparison(1, 0.0).isel(run=[1]),
        {},
        ("Nothing was held out", "--holdout 0"),
        ("nan", "NaN"),
    ),
    "one run": (
        lambda: tiny_run("svb"),
        {},
        ("One run each, with one seed", "there is no standard error"),
        ("±", "nan", "NaN"),
    ),
    "a reduced corpus": (
        reduced,
        {},
        (
            "the 3,000 most frequent words",
            "no singletons in training",
            "split seed 3",
            "--singletons train",
            "every 5 documents joined, every count 2 times",
            "--merge 5 --repeat 2",
        ),
        (),
    ),
    "a warm start": (
        warm,
        {},
        (
            "cgs warm",
            "from parent (01234567), iteration 50",
            "ended after iteration 2: bound changed little",
            "--start parent",
            "made by kernels 1a2b, 3c4d after iteration 1",
            "1 of 2 runs stopped early by their stop rule",
            "has the highest bound of 2 restarts, -1,234.5 nats; the lowest is -2,345.6.",
            "were started from the counts of another run",
        ),
        (),
    ),
    "an unfinished run": (
        unended,
        {},
        ("7 of 12 (running)", "Some runs are not finished", "different lengths (7 to 12"),
        (),
    ),
}
"""Runs → options of their page, what it says, and what it does not."""


@pytest.mark.parametrize(("runs", "options", "has", "lacks"), PAGES.values(), ids=PAGES)
def test_the_page_says_what_runs_in_memory_have(undrawn, tmp_path, runs, options, has, lacks):
    path = wb.write_report(runs(), tmp_path / "report.html", **options)
    text = Page(path.read_text()).text
    assert not [words for words in has if words not in text]
    assert not [words for words in lacks if re.search(rf"(?<!\w){words}(?!\w)", text)]


def test_one_run_of_a_store_has_an_interval_over_documents_and_its_difference_too(
    store, undrawn, tmp_path
):
    runs = [run for run in wb.open_runs(store) if run.spec.seed == 0]
    text = Page(wb.write_report(runs, tmp_path / "report.html").read_text()).text
    scored = {run.spec.hash: score_documents(run) for run in runs}
    datasets = [run.dataset() for run in runs]
    errors, differences = perplexity_errors(datasets, scored), summary(datasets, "cgs", scored)
    for label in ("svb", "svb-cgs r=1", "cgs"):
        row = errors.sel(label=label)
        assert row["low"] < row["value"] < row["high"]
        assert format_interval(float(row["low"]), float(row["high"]), 2) in text
    low, high = (
        float(differences[f"difference_{end}"].sel(label="svb")) for end in ("low", "high")
    )
    assert (
        format_interval(low, high, 2, sign=True) in text and "±" not in text.partition(">Cost<")[0]
    )
    assert text.count("95 % over documents") == 3  # head of the table, note, definition


def test_a_checkpoint_of_another_iteration_and_a_run_without_a_store_have_no_interval(
    store, undrawn, tmp_path
):
    run = next(
        run for run in wb.open_runs(store) if run.spec.engine == "cgs" and run.spec.seed == 0
    )
    (one,) = gather([run])
    assert list(scores([one])) == [run.spec.hash]
    assert scores([one._replace(dataset=one.dataset.isel(iteration=slice(0, 7)))]) == {}
    assert scores(gather([tiny_run("cgs")])) == {}
    text = Page(wb.write_report(tiny_run("cgs"), tmp_path / "report.html").read_text()).text
    assert "over documents" not in text and format_interval(np.nan, 1.0) == ""


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [1, 40])
def test_one_topic_and_forty_topics_make_a_page(n_topics, tmp_path):
    page = Page(wb.write_report(with_topics(n_topics), tmp_path / "report.html").read_text())
    assert page.text.count(" %w") == n_topics and not NAN.search(page.text)


def test_many_topics_are_folded_up():
    result = gather([with_topics(40), *(tiny_run(engine) for engine in ("svb", "cgs"))])
    runs = [each.dataset for each in result if "phi" in each.dataset]
    assert [table["open"] for table in topic_tables(dict(zip("abc", runs, strict=True)))] == [
        True,
        True,
        True,
    ]
    twice = topic_tables(dict(zip("abcdef", runs * 2, strict=True)))
    assert [table["open"] for table in twice] == [True] * 4 + [False] * 2  # from 88 on


def test_each_data_has_its_own_reference_and_figures(undrawn, tmp_path):
    runs = [
        made_up(engine, [30, last], train=name, corpus=name)
        for name, base in (("kos", 10), ("nips", 20))
        for engine, last in (("cgs", base), ("svb", base + 5))
    ]
    page = Page(wb.write_report(runs, tmp_path / "report.html").read_text())
    assert "different data, whose perplexities cannot be compared: kos; nips" in page.text
    assert page.text.count("+5.0") == 2 and page.text.count("reference") >= 2
    assert (
        "There are several references, for the rows on their data with their model: cgs, on kos; cgs, on nips"
        in page.text
    )
    assert (
        page.tags.count("svg") == len(drawn_on_page(runs)) and "seconds to" not in page.text.lower()
    )


def test_the_page_names_runs_without_snapshots_and_without_records(undrawn, unfinished, tmp_path):
    text = Page(
        wb.write_report(
            [unfinished, made_up("cgs", [30, 20])], tmp_path / "report.html"
        ).read_text()
    ).text
    assert (
        f"they have no committed iteration yet: {unfinished.name}." in text
        and "have no counts" in text
    )


def test_importing_the_report_loads_no_pictures():
    code = "import sys, workbench.report; print({'holoviews', 'matplotlib', 'jinja2', 'panel', 'bokeh'} & set(sys.modules))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "set()"
    )


def test_decimals_of_a_perplexity_are_fewer_the_larger_it_is():
    assert [decimals(perplexity) for perplexity in (1.5, 12.0, 480.0, np.nan)] == [4, 2, 1, 1]
