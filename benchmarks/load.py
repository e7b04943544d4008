"""How do the pages bear many visitors?

Thirty sessions of a page at once, in each of which a control is clicked once a second, beside ten runs of 300 iterations that
go on (`python benchmarks/clicks.py --page compare`); a reaction is the time from the click until what it changes comes back.
Then sessions that come and go (`python benchmarks/churn.py --page compare`). Visitors, runs and the server are processes of
their own; wall times, so read them beside the load of the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pandas as pd
from records import markdown

NAME = "load"
TITLE = "Many visitors"
PAGES = ("compare", "topics")
WANTED = {
    "median": ("median reaction, ms", 300),
    "p95": ("95th percentile, ms", None),
    "opened_alone": ("opened alone, warm, s", 3),
    "memory": ("MiB a session", 3),
    "busy": ("share of a core", None),
}
"""Column → what it is, and the most that it may be."""


def cells(plan):
    """(name, rough seconds, what measures it)."""
    for page in PAGES:
        clicks = ["--sessions", "5", "--seconds", "5"] if plan.quick else []
        yield f"{page} clicks", 40 if plan.quick else 180, partial(told_by, "clicks", page, clicks)
        churn = ["--sessions", "5" if plan.quick else "200"]
        yield f"{page} churn", 60 if plan.quick else 400, partial(told_by, "churn", page, churn)


def told_by(program: str, page: str, given: list[str]) -> list[dict]:
    """What a program of this folder prints, a row a line."""
    command = [
        sys.executable,
        Path(__file__).with_name(f"{program}.py"),
        "--page",
        page,
        "--json",
        *given,
    ]
    lines = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()
    return [{"contender": program, "page": page} | json.loads(line) for line in lines]


def told(rows: pd.DataFrame) -> str:
    parts = [__doc__.split("\n\n", 1)[1].strip()]
    clicks, churn = (rows[rows["contender"] == program] for program in ("clicks", "churn"))
    if len(clicks):
        lines = [
            [what, f"≤ {most}" if most else "", *(f"{value:.3g}" for value in clicks[name])]
            for name, (what, most) in WANTED.items()
        ]
        header = [
            f"{page}, {int(n)} sessions"
            for page, n in zip(clicks["page"], clicks["sessions"], strict=True)
        ]
        parts.append(markdown(["", "wanted", *header], lines))
    if len(churn):
        lines = [
            [
                f"{page}, after {int(after)}",
                int(views),
                f"{waited:.1f}",
                f"{memory:.1f}",
                f"{int(objects):,}",
            ]
            for page, after, views, waited, memory, objects in churn[
                ["page", "after", "views", "waited", "memory", "objects"]
            ].itertuples(index=False)
        ]
        parts.append(
            markdown(
                ["opened and closed", "pages alive", "after s", "MiB", "Python objects"], lines
            )
        )
    return "\n\n".join(parts)
