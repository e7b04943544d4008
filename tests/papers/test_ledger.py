"""The ledger: every item leads to a record, a test or a reason; results are kept by figure and extent; a page shows them."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t as student_t

import workbench as wb
from workbench.cli import main
from workbench.papers import results
from workbench.papers.figure import Claim
from workbench.papers.figures import DRAWINGS, FIGURES, get_figure, names
from workbench.papers.ledger_table import (
    ITEMS,
    NOT_RUN,
    NUMBER,
    PAPERS,
    VERDICTS,
    Line,
    counts,
    entries,
    largest_standing,
    p_value,
    to_markdown,
    verdict_of,
)
from workbench.papers.results import (
    PART,
    QUICK,
    SHIPPED,
    WHOLE,
    Number,
    Outcome,
    Result,
    read_results,
    write_result,
)
from workbench.papers.verdicts import Verdict
from workbench.report.files import ReportError

ROOT = Path(__file__).parents[2]
HOLDS = Outcome(
    "a claim",
    "lower",
    "cgs",
    "svb",
    "holds",
    "cgs 1.0, svb 2.0: -1.0 ± 0.1 (3 pairs)",
    -1.0,
    0.1,
    3,
)
SOME = Result(
    "hybrid-fig3",
    QUICK,
    "Not the published extent: 3 runs.",
    "workbench reproduce hybrid-fig3 --quick",
    "2026-01-02T03:04:05+00:00",
    "0.1.0",
    "abcd1234",
    False,
    (HOLDS,),
    (),
)


def of(rows, figure: str):
    return next(row for row in rows if row.figure == figure)


# ---- items


def test_every_item_has_a_record_a_test_or_a_reason():
    for item in ITEMS:
        assert item.id[0] in PAPERS and bool(item.figures) + bool(item.test) <= 1
        assert item.figures or item.test or item.why, item
        assert not set(item.figures) - set(names()), item
        assert item.numbers_agree or item.why, item


def test_every_record_is_in_the_ledger_and_every_claim_of_it():
    actual = {name: [item for item in ITEMS if name in item.figures] for name in names()}
    assert [name for name, items in actual.items() if not items] == []
    for name, figure in FIGURES.items():
        for claim in figure.claims:
            assert [
                item
                for item in actual[name]
                if not item.says or any(part in claim.says for part in item.says)
            ], claim


def test_papers_have_the_same_name_in_ledger_and_figures():
    used = {get_figure(name).paper for item in ITEMS for name in item.figures}
    assert {paper for paper in used if "specification" not in paper} <= set(PAPERS.values())


def test_tests_of_items_exist():
    for item in ITEMS:
        if item.test:
            file, _, name = item.test.partition("::")
            assert f"def {name}(" in (ROOT / "tests" / file).read_text()


# ---- results


def test_write_result_replaces_the_result_of_its_figure_alone(tmp_path):
    file = tmp_path / "deep" / "ledger.json"
    other = replace(
        SOME, figure="cvb-fig3", numbers=(Number("perplexity", "cgs", 1700.5, None, 1, 1600.0),)
    )
    whole = replace(SOME, extent=WHOLE, left_out="", commit=None)
    for one in (SOME, other, whole):
        write_result(file, one)
    before = file.read_bytes()
    newer = replace(SOME, date="2026-02-02T03:04:05+00:00")
    write_result(file, newer)
    assert read_results(file) == [other, whole, newer]
    write_result(file, SOME)
    assert (
        file.read_bytes() == before
        and [path.suffix for path in file.parent.iterdir() if path.suffix == ".partial"] == []
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"format": 2, "figures": {}}',
        b'{"format": 1, "figures": {"a": {"quick": {}}}}',
        b"\xff",
        b'{"format": 1, "figures": {"a": {"quick": []}}}',
        b'{"format": 1, "figures": []}',
        *(
            json.dumps(
                {"format": 1, "figures": {"a": {extent: asdict(replace(SOME, **change))}}}
            ).encode()
            for extent, change in (
                ("half", {}),
                ("quick", {"date": "today"}),
                ("quick", {"command": 3}),
                ("quick", {"outcomes": ({},)}),
                ("quick", {"outcomes": (replace(HOLDS, verdict=None),)}),
                ("quick", {"numbers": (Number("p", "cgs", "1.0", None, 1),)}),
                ("quick", {"numbers": (Number("p", "cgs", None, None, 1),)}),
            )
        ),
    ],
)
def test_write_result_refuses_other_files_and_leaves_them_unchanged(tmp_path, content):
    file = tmp_path / "ledger.json"
    file.write_bytes(content)
    for refused in (
        lambda: read_results(file),
        lambda: write_result(file, SOME),
        lambda: wb.reproduce("sb-fig1", tmp_path / "out", quick=True, ledger=file),
    ):
        with pytest.raises(
            ReportError, match=r"is no ledger of format 1.*move it away or choose another file"
        ):
            refused()
    assert file.read_bytes() == content and not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ReportError, match="choose another place"):
        write_result(tmp_path / "file" / "ledger.json", SOME)


def test_the_extent_says_what_was_run(monkeypatch):
    monkeypatch.setattr(results, "code_commit", lambda: ("abcd1234", True))
    nan = np.float64("nan")
    verdict = Verdict(Claim("s", "lower", "a", "b"), "undecided", "m", nan, nan, 0)
    made = SimpleNamespace(
        figure=SimpleNamespace(name="f"),
        quick=False,
        left_out=[],
        command="c",
        verdicts=[verdict],
        numbers=[],
    )
    result = results.result_of(made)
    assert (result.extent, result.code) == (WHOLE, "commit abcd1234, changed since")
    assert (result.outcomes[0].value, result.outcomes[0].error) == (None, None)
    assert results.result_of(SimpleNamespace(**vars(made) | {"left_out": ["Less."]})).extent == PART
    assert (
        results.result_of(
            SimpleNamespace(**vars(made) | {"left_out": ["Less."], "quick": True})
        ).extent
        == QUICK
    )


def test_a_package_in_no_checkout_has_its_version(tmp_path, monkeypatch):
    monkeypatch.setattr(results.workbench, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(results, "SHIPPED", tmp_path / "papers" / "ledger.json")
    assert results.code_commit() == (None, False)
    assert replace(SOME, commit=None).code == "version 0.1.0"


# ---- the table


def test_entries_use_the_fullest_and_newest_result(tmp_path):
    shipped, own = tmp_path / "shipped.json", tmp_path / "own.json"
    write_result(shipped, SOME)
    assert of(entries(own, shipped), "hybrid-fig3").source == "results that come with the package"
    write_result(own, replace(SOME, date="2025-01-01T00:00:00+00:00"))
    assert of(entries(own, shipped), "hybrid-fig3").result == SOME
    write_result(own, replace(SOME, date="2027-01-01T00:00:00+00:00"))
    assert of(entries(own, shipped), "hybrid-fig3").source == str(own)
    write_result(shipped, replace(SOME, extent=WHOLE, left_out=""))
    assert of(entries(own, shipped), "hybrid-fig3").extent == WHOLE


def test_entries_have_verdicts_for_missing_and_partial_runs(tmp_path):
    assert all(
        line.verdict == NOT_RUN
        for row in entries(shipped=tmp_path / "none")
        if row.figure
        for line in row.lines
    )
    write_result(tmp_path / "some.json", SOME)
    rows = entries(shipped=tmp_path / "some.json")
    row = of(rows, "hybrid-fig3")
    assert [verdict_of(line, row.extent) for line in row.lines] == ["holds (quick)"]
    assert verdict_of(row.lines[0], WHOLE) == "holds" and counts(rows)["holds (quick)"] == 1
    assert of(rows, "hybrid-fig4").command == "workbench reproduce hybrid-fig4"
    page = to_markdown(rows)
    assert (
        "Quick, not the whole: 3 runs. 2026-01-02, commit abcd1234. `workbench reproduce hybrid-fig3 --quick`"
        in page
    )


def test_entries_have_the_numbers_of_the_paper_and_ours(tmp_path):
    numbers = (
        Number("perplexity", "LDA, K=25, VB", 1900.24, 2.5, 3, 1906.0),
        Number("perplexity", "LDA, K=10, VB", 2000.0, None, 1),
    )
    write_result(
        tmp_path / "some.json",
        replace(SOME, figure="generic-fig2", extent=WHOLE, left_out="", numbers=numbers),
    )
    row = of(entries(shipped=tmp_path / "some.json"), "generic-fig2")
    assert (row.lines[1].verdict, row.lines[1].ours) == (NUMBER, "1,900.2 ± 2.5 (3 runs)")
    assert row.lines[1].says.endswith("LDA, K=25, VB: 1906 in the paper")
    assert row.means == ("perplexity: LDA, K=10, VB 2,000.0",)


def test_entries_assign_claims_to_their_items(tmp_path):
    claims = [
        replace(HOLDS, says=says)
        for says in ("G-HDP_1 finds 113.2 ± 11.4 topics on kos", "CV-HDP predicts better")
    ]
    write_result(
        tmp_path / "some.json", replace(SOME, figure="cv-hdp-fig2", outcomes=tuple(claims))
    )
    result = {
        row.item.id: [line.says for line in row.lines]
        for row in entries(shipped=tmp_path / "some.json")
        if row.figure == "cv-hdp-fig2"
    }
    assert result == {
        "D14": [claims[1].says],
        "D15": [claims[0].says],
        "D18": ["The run has no result for this."],
    }


def test_the_ledger_in_docs_is_up_to_date():
    assert (ROOT / "docs/ledger.md").read_text() == to_markdown(entries()), (
        "write it again: make ledger"
    )
    known = {result.figure for result in read_results(SHIPPED)}
    assert known <= {*FIGURES, *DRAWINGS} and set(VERDICTS) >= {
        line.verdict for row in entries() for line in row.lines
    }


# ---- from a command to the table


@pytest.mark.slow
def test_a_command_writes_its_result_where_the_ledger_finds_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert (
        main(["reproduce", "sb-fig1", "--quick", "--format", "png", "--store", "kept", "--quiet"])
        == 0
    )
    (result,) = read_results(tmp_path / "kept" / "ledger.json")
    assert (result.figure, result.extent, result.command) == (
        "sb-fig1",
        QUICK,
        "workbench reproduce sb-fig1 --quick",
    )
    assert {one.verdict for one in result.outcomes} == {
        "holds"
    } and "coarser grid" in result.left_out
    capsys.readouterr()
    assert main(["ledger", "--store", "kept", "--json"]) == 0
    actual = {entry["figure"]: entry for entry in json.loads(capsys.readouterr().out)["entries"]}
    assert actual["sb-fig1"]["lines"] and actual["lds-order"]["lines"]


def test_verdicts_on_differences_are_marked_if_they_stand_after_holms_correction():
    outcomes = tuple(
        replace(HOLDS, says=f"claim {at}", error=error)
        for at, error in enumerate((0.01, 0.2, 0.21))
    )
    no_test = (replace(HOLDS, says="equal", kind="level"), replace(HOLDS, error=None))
    found = [p_value(each) for each in (*outcomes, *no_test)]
    np.testing.assert_allclose(found[:3], 2 * student_t.sf([100, 5, 1 / 0.21], 2))
    assert np.isnan(found[3:]).all()
    # .0001 ≤ .05 / 3; .038 > .05 / 2, so .041 does not stand either, although it is below .05
    assert largest_standing(found) == found[0] and largest_standing(found[1:]) == 0
    assert largest_standing([found[2], found[0], 0.02]) == found[2]
    row = entries()[0]._replace(
        lines=tuple(Line("holds", each.says, "", p_value(each)) for each in (*outcomes, *no_test))
    )
    written = to_markdown([row])
    assert "3 verdicts judge" in written and "0.2 of them" in written and "The 1 with" in written
    assert [line.split("|")[2].strip() for line in written.splitlines() if "★" in line] == [
        "claim 0"
    ]
