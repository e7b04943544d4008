"""Closed sessions go away."""

import json
import subprocess
import sys

import pytest
from browser.servers import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_sessions_and_tabs_that_are_closed_leave_nothing_alive(browser):
    command = [sys.executable, "benchmarks/churn.py", "--sessions", "20", "--tabs", "3", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["after"], row["what"]) for row in told] == [(1, "sessions"), (20, "sessions"), (3, "tabs")]
    assert [row["views"] for row in told] == [0, 0, 0]
