"""Adding an engine, an option or a view edits no test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILES = {
    "": (
        "dashboard/test_settings.py",
        "runs/test_request.py",
        "engines/test_when.py",
        "report/test_figures.py::test_each_figure_comes_in_each_format_with_caption_and_data",
        "report/test_page.py::test_the_page_has_every_figure_and_every_topic",
        "views/test_every.py",
        "views/test_views.py::test_the_engines_differ_in_colour_and_on_a_grey_copier",
        "report/test_gallery.py::test_engines_with_one_line_or_one_marker_keep_their_colours_apart",
        "measures/test_exact.py::test_against_exact_has_the_evidence_and_bounds_of_every_engine_of_lda",
        "cli/test_completing.py",
    ),
    "cooled": (
        "engines/test_protocol.py",
        "runs/test_edge_inputs.py",
        "engines/test_short_runs.py",
    ),
}
"""Tests of what is registered, by a word in the name of those that are meant."""
LEFT = {
    "engines/test_short_runs.py::test_a_short_run_has_the_numbers_and_the_hash_that_it_had[cooled-cvb0]"
}
"""A generated file lacks the new engine: the failure names the command that writes it."""


@pytest.mark.slow
@pytest.mark.parametrize("word", FILES)
def test_a_new_engine_option_and_view_edit_no_test(word):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "new_entries", "-p", "no:cacheprovider"]
    command += ["-k", word, "-m", "not slow", *(str(TESTS / file) for file in FILES[word])]
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        command,
        cwd=TESTS.parent,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    expected = [line for line in failed if any(name in line for name in LEFT)]
    assert failed == expected, done.stdout[-5000:]
    assert " passed" in done.stdout, done.stdout[-5000:] + done.stderr
    assert len(expected) == (word == "cooled") == ("python tests/short_runs.py" in done.stdout)
