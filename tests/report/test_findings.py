"""The sentences that a report begins with, captions said once, tables as text."""

import re

import numpy as np
import pandas as pd
import pytest
from comparisons import made_up

import workbench as wb
from workbench.cli import main
from workbench.measures import top_words, topics_by_size
from workbench.report.files import ReportError
from workbench.report.findings import findings, without_repeats
from workbench.report.gathering import gather


def said(*runs) -> list[str]:
    return findings(gather(list(runs)))


def seeds(engine, *perplexities):
    return [made_up(engine, [99.0, value], seed=seed) for seed, value in enumerate(perplexities)]


def test_findings_are_comparison_result_and_caution():
    first, second, third = said(
        *seeds("cgs", 100.0, 104.0, 102.0), *seeds("svb", 120.0, 124.5, 122.0)
    )
    assert re.fullmatch(
        r"This report compares cgs and svb on .* with 3 seeds, 6 runs in total\.", first
    )
    assert second.startswith(
        "The lowest held-out perplexity is that of cgs, 102.0 ± 1.2; next is svb, 20.2 higher on the same"
    )
    assert re.search(r"\(95 % \+19\.4 … \+20\.9\)\.$", second), second
    assert third.startswith("Note: the errors are over seeds; another corpus")


def test_findings_caution_about_intervals_with_0_and_single_seeds():
    _, second, third = said(*seeds("cgs", 100.0, 104.0, 102.0), *seeds("svb", 101.0, 103.0, 103.0))
    assert (
        "next is svb, 0.3 higher" in second
        and "svb may be as good as cgs: the interval includes 0" in third
    )
    _, second, third = said(*seeds("cgs", 100.0), *seeds("svb", 120.0))
    assert (
        "that of cgs, 100.0; next is svb, 20.0 higher" in second
        and "each label has one run" in third
    )
    first, second, _ = said(*seeds("cgs", 100.0))
    assert (
        first.startswith("This report shows cgs on ")
        and second == "The held-out perplexity of cgs is 100.0."
    )


def test_once_removes_repeated_sentences():
    assert without_repeats(["One. Two. Three.", "One. Two. Four.", "Two. One.", "Five."]) == [
        "One. Two. Three.",
        "Four. For the rest see above.",
        "See above.",
        "Five.",
    ]


@pytest.mark.slow
def test_the_page_begins_with_the_findings_and_links_to_its_sections(store, tmp_path, undrawn):
    page = wb.write_report(wb.open_runs(store), tmp_path / "report.html").read_text()
    _, result, care = findings(gather(wb.open_runs(store)))
    assert (
        f"<p>{result}</p>\n<p>{care}</p>" in page
        and "<p>This report compares svb, svb-cgs r=1 and cgs on simulated with 2 seeds, 6 runs"
        in page
    )
    links = re.findall(r'href="#([a-z]+)"', page)
    assert {"result", "compared", "figures", "topics", "runs", "measures", "versions"} <= set(links)
    assert all(f'id="{link}"' in page for link in links)
    assert page.count("close topics have similar words") == 1 and "For the rest see above." in page


@pytest.mark.slow
def test_tables_are_written_as_markdown_and_latex(store, tmp_path, undrawn):
    paths = [str(run.path) for run in wb.open_runs(store)]
    assert main(["report", *paths, "--out", str(tmp_path / "r.html"), "--tables", "md,tex"]) == 0
    names = {
        f"{table}.{form}"
        for table in ("result", "cost", "topics", "runs")
        for form in ("md", "tex")
    }
    assert {path.name for path in tmp_path.glob("*.*")} == {"r.html"} | names
    lines = (tmp_path / "result.md").read_text().splitlines()
    assert (
        lines[0].startswith("| engine | runs | iterations | held-out perplexity |")
        and len(lines) == 2 + 3
    )
    table = pd.DataFrame([[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]])
    engines = list(dict.fromkeys(run.spec.engine for run in wb.open_runs(store)))
    assert [label.split()[0] for label in table[0]] == engines
    for label, cell in zip(table[0], table[3], strict=True):
        last = [
            float(run.progress()["test_perplexity"][-1])
            for run in wb.open_runs(store)
            if run.spec.engine == label.split()[0]
        ]
        assert float(cell.split(" ± ")[0]) == pytest.approx(np.mean(last), abs=0.06)
    tex = (tmp_path / "result.tex").read_text()
    assert "\\toprule" in tex and "$\\pm$" in tex and "95 \\%" in tex and "±" not in tex
    with pytest.raises(ReportError, match="tables are written as md, tex; got 'docx'"):
        wb.write_tables(wb.open_runs(store), tmp_path, "docx")


def rows_of(path) -> list[list[str]]:
    """The cells of a table in Markdown, its heads first."""
    lines = path.read_text().splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in [lines[0], *lines[2:]]]


@pytest.mark.slow
def test_tables_of_topics_and_runs_agree_with_the_page(store, tmp_path):
    wb.write_tables(wb.open_runs(store), tmp_path)
    heads, *topics = rows_of(tmp_path / "topics.md")
    assert (
        heads == ["engine", "topic", "share of tokens", "most probable words"]
        and len(topics) == 3 * 4
    )
    first = next(
        run for run in wb.open_runs(store) if run.spec.engine == topics[0][0] and run.spec.seed == 0
    ).dataset()
    size, words = topics_by_size(first), top_words(first, 12)["word"]
    assert [int(row[1]) for row in topics[:4]] == size and topics[0][3].split() == words.sel(
        topic=size[0]
    ).values.tolist()
    heads, *runs = rows_of(tmp_path / "runs.md")
    assert heads[:5] == ["engine", "run", "seed", "iteration", "held-out perplexity"]
    assert {row[1] for row in runs} == {run.name for run in wb.open_runs(store)}
    perplexities = {
        run.name: float(run.progress()["test_perplexity"][-1]) for run in wb.open_runs(store)
    }
    assert all(float(row[4]) == pytest.approx(perplexities[row[1]], abs=0.06) for row in runs)
    tex = (tmp_path / "topics.tex").read_text()
    assert "{lrrp{0.6\\linewidth}}" in tex and " \\% &" in tex


def test_runs_without_counts_have_no_table_of_topics(tmp_path):
    written = wb.write_tables(seeds("cgs", 100.0, 104.0), tmp_path, "md")
    assert [path.name for path in written] == ["result.md", "cost.md", "runs.md"]
