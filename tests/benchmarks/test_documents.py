"""The figures of many documents: what is measured of a visit, and what is told of it. No time is asserted."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import adaptive_split
import documents
import pandas as pd
import pytest
from missing import skip_without
from run import QUESTIONS, Plan


def test_it_is_a_question_of_the_benchmarks_with_twenty_thousand_documents():
    plan = type("Plan", (), {"quick": False})
    ((cell, seconds, work),) = QUESTIONS["documents"].cells(plan)
    assert cell == "20,000 documents" and seconds > 0 and callable(work)


def test_times_are_told_as_median_and_longest_beside_what_is_wanted():
    rows = pd.DataFrame(
        [
            {
                "cell": "20,000 documents",
                "contender": "search",
                "round": at,
                "wall": wall,
                "documents": 20_000,
            }
            for at, wall in enumerate((90.0, 120.4, 300.0))
        ]
        + [
            {
                "cell": "20,000 documents",
                "contender": "topics",
                "round": 0,
                "wall": 1.234,
                "documents": 20_000,
            }
        ]
    )
    told = documents.told(rows)
    assert (
        "| later searches, ms | ≤ 200 | 120 | 300 |" in told
        and "| page to the first topics, s |  | 1.23 | 1.23 |" in told
    )
    assert "| 20,000 documents | wanted | median | longest |" in told and "| next page" not in told


@pytest.mark.browser
@pytest.mark.long
def test_a_visit_measures_everything_that_is_told(tmp_path):
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        skip_without("no Chromium is on the path")
    assert documents.make_run(tmp_path, 300) > 0
    measured = set()
    for mode in ("patient", "hasty"):
        command = [sys.executable, Path(documents.__file__), "--store", tmp_path, "--mode", mode]
        told = json.loads(
            subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True
            ).stdout.splitlines()[-1]
        )
        assert all(wall > 0 for _, wall in told)
        measured |= {what for what, _ in told}
    assert measured | {"fit"} == set(documents.WANTED)


# ---------------------------------------------------------------------- which pairs a hybrid samples


def test_every_choice_makes_the_updates_of_n_up_to_r_and_is_told_beside_it():
    toy = "bars:side=3:n_documents=30", 4, 3
    rows = [
        row | {"cell": "toy"} for seed in (0, 1) for row in adaptive_split.measure(*toy, seed, 6)
    ]
    frame = pd.DataFrame(rows)
    updates = frame.pivot_table(index="contender", columns="seed", values="updates")
    by_counts = updates.loc["N ≤ r, svb"]
    chosen = [label for label in updates.index if label.startswith(("gap", "random"))]
    assert len(chosen) == 9 and (updates.loc[chosen] <= by_counts + 1e-9).all(axis=None)
    assert (updates.loc["cgs"] == 1).all() and (updates.loc["cvb0"] < 1).all()
    assert (frame["perplexity"] > 1).all() and (frame["cpu"] > 0).all()
    told = adaptive_split.told(frame)
    assert "**bars:side=3:n_documents=30, counts × 4, K = 3**, r = 4, seeds: 2" in told
    assert all(f"| {label} |" in told for label in updates.index)


def test_it_is_a_question_of_the_benchmarks_with_a_cell_for_every_seed():
    plan = Plan((), (), 3, 1.0, 5, False)
    names = [name for name, _, _ in QUESTIONS["adaptive_split"].cells(plan)]
    assert len(names) == 5 * len(adaptive_split.CASES) and names[0] == "docstrings ×1 K=10 seed 0"


@pytest.mark.parametrize(
    ("given", "told"),
    [([-1.0, -3.0], "-2.0 ± 1.0"), ([2.0], "+2.0"), ([1.0, float("nan")], "+1.0")],
)
def test_a_difference_has_its_standard_error_where_there_are_several(given, told):
    assert adaptive_split.error_of(pd.Series(given)) == told
