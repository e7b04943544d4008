"""What a test does where something it needs is missing: it skips, with the reason, or fails where no test may skip."""

import os
from importlib.util import find_spec

import pytest


def skip_without(reason: str):
    """Skips with the reason; fails with it under WORKBENCH_NO_SKIP=1."""
    if os.environ.get("WORKBENCH_NO_SKIP") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def skip_without_budoux():
    """Skips where the segmenter of languages without blanks is not installed."""
    if find_spec("budoux") is None:
        skip_without("Japanese and Chinese are cut into words by budoux, of the extra 'segment'")


def skip_without_pgmpy():
    """Skips where the reader of published networks is not installed."""
    if find_spec("pgmpy") is None:
        skip_without("published networks are read by pgmpy, of the extra 'bif'")


def skip_without_program(module: str, extra: str = "bench"):
    """Skips where another program is not installed."""
    if find_spec(module) is None:
        skip_without(f"{module} is not installed; the extra '{extra}' has it")
