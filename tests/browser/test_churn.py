"""Closed sessions go away, those that read the topics of a run too."""

import contextlib
import json
import subprocess
import sys

import pytest
from browser.servers import ROOT

from workbench.corpus import hold_out_tokens
from workbench.models import LDA
from workbench.runs.execution.fit import fit

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES = ("compare", "choose-k", "frontier", "topics", "oracle", "ledger")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with a run."""
    store = tmp_path_factory.mktemp("churn") / "runs"
    train, test = hold_out_tokens(
        LDA(4, 0.3, 0.2).simulate(300, 200, 50, seed=3)[0], fraction=0.1, seed=0
    )
    fit(train, "cgs", 4, test=test, n_iterations=30, store=store, name="seen", progress=False)
    return store


@pytest.fixture(scope="module")
def measured(store, browser):
    """Page → its measurement; they run side by side, since most of it is waiting for sessions to expire."""
    command = [
        sys.executable,
        "benchmarks/churn.py",
        "--sessions",
        "6",
        "--tabs",
        "2",
        "--json",
        "--store",
        str(store),
    ]
    with contextlib.ExitStack() as stack:
        found = {
            page: stack.enter_context(
                subprocess.Popen(
                    [*command, "--page", page],
                    cwd=ROOT,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for page in PAGES
        }
        for process in found.values():
            stack.callback(process.kill)
        yield found


@pytest.mark.parametrize("page", PAGES)
def test_sessions_and_tabs_that_are_closed_leave_nothing_alive(page, measured):
    out, errors = measured[page].communicate(timeout=900)
    assert measured[page].returncode == 0, errors
    assert "Models must be owned by only a single document" not in errors
    told = [json.loads(line) for line in out.splitlines()]
    assert [(row["after"], row["what"]) for row in told] == [
        (1, "sessions"),
        (6, "sessions"),
        (2, "tabs"),
    ], errors
    assert [row["views"] for row in told] == [0, 0, 0], told
