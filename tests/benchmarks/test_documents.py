"""The figures of many documents: what is measured of a visit, and what is told of it. No time is asserted."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import documents
import pandas as pd
import pytest
from missing import skip_without
from run import QUESTIONS


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
@pytest.mark.slow
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
