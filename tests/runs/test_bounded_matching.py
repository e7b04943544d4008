"""A visitor's pattern of words is matched in a process of its own, which ends when it takes too long."""

import re
import sys

import pytest

from workbench.runs.execution import bounded_matching
from workbench.runs.execution.bounded_matching import find_spans


@pytest.mark.parametrize("pattern", [r"\w+", r"(?:^|\s)(\w+)", r"x(1)?", r"(?<=é)\s", ""])
def test_places_are_those_that_python_finds_here(pattern):
    text = "Café \ud800 x1 é \U0001f41d xx\nx1"
    compiled = re.compile(pattern)
    assert find_spans(pattern, text) == tuple(
        found.span(compiled.groups)
        for found in compiled.finditer(text)
        if found.group(compiled.groups) is not None
    )


@pytest.mark.parametrize(("pattern", "text"), [("(a+)+$", "a" * 60 + "!"), ("[", "a"), ("(", "")])
def test_what_takes_too_long_or_is_no_pattern_has_no_places(pattern, text, monkeypatch):
    assert find_spans(pattern, text) is None
    monkeypatch.setattr(
        bounded_matching.subprocess, "run", lambda *a, **k: pytest.fail("asked again")
    )
    assert find_spans(pattern, text) is None


def test_without_a_process_there_are_no_places(monkeypatch):
    find_spans.cache_clear()
    for program in ("/bin/false", "/nowhere"):
        monkeypatch.setattr(sys, "executable", program)
        assert find_spans(rf"{program}\w", "ibis") is None
