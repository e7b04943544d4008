"""What a test does where something it needs is missing: it skips, with the reason, or fails where no test may skip."""

import os
from importlib.util import find_spec

import pytest

from workbench.corpus import data_sets, load_corpus


def skip_without(reason: str):
    """Skips with the reason; fails with it under WORKBENCH_NO_SKIP=1."""
    if os.environ.get("WORKBENCH_NO_SKIP") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def loaded(name: str, **options):
    """Return a data set; skipped where WORKBENCH_DATA does not hold it, failed under WORKBENCH_NO_SKIP=1."""
    if data_sets()[name].folder() is None:
        skip_without(f"WORKBENCH_DATA names no folder with the files of {name}")
    return load_corpus(name, **options)


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
