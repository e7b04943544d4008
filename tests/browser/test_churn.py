"""Closed sessions go away, those that read the topics of a run too."""

import json
import subprocess
import sys

import pytest
from browser.servers import ROOT

from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.fit import fit

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_sessions_and_tabs_that_are_closed_leave_nothing_alive(browser, tmp_path):
    train, test = hold_out_tokens(LDA(4, 0.3, 0.2).simulate(300, 200, 50, seed=3)[0], fraction=0.1, seed=0)
    fit(train, "cgs", 4, test=test, n_iterations=30, store=tmp_path / "runs", name="seen", progress=False)
    command = [
        sys.executable, "benchmarks/churn.py", "--sessions", "20", "--tabs", "3", "--json", "--store", str(tmp_path / "runs"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Models must be owned by only a single document" not in done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["after"], row["what"]) for row in told] == [(1, "sessions"), (20, "sessions"), (3, "tabs")]
    assert [row["views"] for row in told] == [0, 0, 0]
