"""Closed sessions go away, those that read the topics of a run too."""

import json
import subprocess
import sys

import pytest
from browser.servers import ROOT

from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.execution.fit import fit

pytestmark = [pytest.mark.browser, pytest.mark.long]
PAGES = ("topics", "compare", "sweep", "oracle", "ledger")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with a run."""
    store = tmp_path_factory.mktemp("churn") / "runs"
    train, test = hold_out_tokens(
        LDA(4, 0.3, 0.2).simulate(300, 200, 50, seed=3)[0], fraction=0.1, seed=0
    )
    fit(train, "cgs", 4, test=test, n_iterations=30, store=store, name="seen", progress=False)
    return store


@pytest.mark.parametrize("page", PAGES)
def test_sessions_and_tabs_that_are_closed_leave_nothing_alive(page, store):
    command = [sys.executable, "benchmarks/churn.py", "--page", page, "--store", store, "--json"]
    command += ["--sessions", "1", "--tabs", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert "Models must be owned by only a single document" not in done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    found = [(row["what"], row["views"]) for row in rows]
    assert found == [("sessions", 0), ("sessions", 0), ("tabs", 0)], done.stderr
