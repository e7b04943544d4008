"""What was measured, kept cell by cell in one CSV for each question, so that a run that is stopped is gone on with.

Every row has the cell it belongs to, when it was measured, of which commit, and the load of the machine at the end of its cell.
"""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from pathlib import Path

import pandas as pd

from workbench.tables import Table, numbers, texts

HERE = Path(__file__).parent
ALWAYS = ("cell", "contender", "cpu", "left_out")
"""Columns that are there whatever was measured."""
TEXT = {"commit": str}
"""Columns that are no numbers, whatever they look like: commit 1e85258 is not infinite."""


class Records:
    """The rows of one question.

    ``rows`` is a DataFrame, empty before anything was measured.
    """

    def __init__(self, path: Path):
        self.path = path
        self.rows = pd.read_csv(path, dtype=TEXT) if path.exists() else pd.DataFrame(columns=ALWAYS)

    def has(self, cell: str) -> bool:
        return bool((self.rows["cell"] == cell).any())

    def put(self, cell: str, rows: list[dict]) -> bool:
        """Replaces the rows of a cell, in the file too; False where that would lose what was measured, and nothing changes.

        It would where all is left out now, or another corpus stands in for one that is not on this machine.
        """
        before = self.rows[self.rows["cell"] == cell].to_dict("records")
        if not _corpora(before) <= _corpora(rows):
            return False
        about = {
            "measured": datetime.now().isoformat(" ", "minutes"),
            "commit": commit(),
            "load": round(os.getloadavg()[0], 2),
        }
        others = self.rows[self.rows["cell"] != cell].to_dict("records")
        new = pd.DataFrame([*others, *({"cell": cell} | row | about for row in rows)])
        self.rows = new.reindex(
            columns=[*new.columns, *(name for name in ALWAYS if name not in new)]
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial")
        self.rows.to_csv(partial, index=False, float_format="%.6g")
        partial.replace(self.path)
        return True


def _corpora(rows: list[dict]) -> set:
    """Of the rows that were measured; None stands for the corpus of a question that has only one."""
    return {row.get("corpus") for row in rows if pd.isna(row.get("left_out"))}


def commit() -> str:
    """The commit that is measured, with a + where files of the package differ from it."""

    def told(*command: str) -> str:
        try:
            return subprocess.run(
                ["git", *command], cwd=HERE, capture_output=True, text=True
            ).stdout.strip()
        except OSError:  # no git here
            return ""

    changed = told("status", "--porcelain", "--untracked-files=no", "--", "../workbench")
    return told("rev-parse", "--short", "HEAD") + ("+" if changed else "") or "unknown"


def conditions(rows: pd.DataFrame) -> str:
    """When, of which commit and under which load the rows were measured, in one line."""
    days = rows["measured"].str[:16]
    span = days.min() if days.min() == days.max() else f"{days.min()} to {days.max()}"
    commits = ", ".join(map(str, rows["commit"].unique()))
    return f"Measured {span}, commit {commits}, load average {rows['load'].min():g} to {rows['load'].max():g}."


def markdown(header: list[str], rows: list[list]) -> str:
    """A table; the first column is text, the others are numbers."""
    first, *others = header
    table = Table([*texts(first), *numbers(*others)], [map(str, row) for row in rows])
    return table.markdown().rstrip("\n")
