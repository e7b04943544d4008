"""Output of the commands: results on stdout, as tables or as one JSON object; messages on stderr."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import INTERRUPTED
from workbench.numbers import DASH, format_number, format_size
from workbench.tables import Column, Table, numbers, texts

if TYPE_CHECKING:
    from workbench.runs.execution.memory_check import Planned
    from workbench.runs.execution.run import Run

UNBOUNDED = 100_000
"""Width of a table that is not printed on a terminal, in characters."""
MOST_FILES = 8
"""Maximum of paths that are listed one by one."""
FINAL = (
    "test_perplexity",
    "test_perplexity_state",
    "test_perplexity_average",
    "elapsed",
    "cpu_time",
)


def print_json(values: dict) -> None:
    """Print one JSON object on stdout; NaN becomes null."""
    json.dump(_jsonable(values), sys.stdout, allow_nan=False)
    sys.stdout.write("\n")


def _jsonable(value):
    if isinstance(value, dict):
        return {name: _jsonable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def summary(run: Run, last: int | None = None) -> dict:
    """Return the scalar results of a run at its final iteration, or at iteration ``last``; None for missing ones."""
    rows, spec = run.rows(), run.spec
    rows = rows[rows[:, 0] <= (math.inf if last is None else last)]
    final = dict(
        zip(
            ("iteration", *run.recorded.names), rows[-1].tolist() if len(rows) else (), strict=False
        )
    )
    return {
        "name": run.name,
        "engine": spec.engine,
        "label": spec.label(),
        "options": spec.options,
        "n_topics": spec.n_topics,
        "seed": spec.seed,
        "state": run.state,
        "n_iterations": spec.length and int(final.get("iteration", 0)),
        "path": str(run.path),
        **{name: final.get(name) for name in FINAL},
        **{
            name: final.get(name)
            for name, variable in run.recorded.variables.items()
            if variable.better
        },
    }


def print_runs(summaries: list[dict], as_json: bool, **more) -> int:
    """Print runs as JSON, with further entries, or as a table.

    For a sweep the first columns are the values of the ``grid`` instead of engine and seed.
    Returns the exit status of a command that should have finished these runs.
    """
    grid = list(summaries[0].get("grid", ())) if summaries else []
    if as_json:
        print_json({"runs": summaries} | more)
    else:
        first = [
            *numbers(*grid),
            *texts("run"),
            *([] if grid else [*texts("engine"), *numbers("seed")]),
        ]
        scores = numbers("perplexity", "state alone", "average")
        columns = [
            *first,
            *texts("state"),
            *numbers("iterations"),
            *scores,
            Column("CPU", kind="number", digits=1, unit="s"),
        ]
        rows = [
            (
                *(str(run["grid"][key]) for key in grid),
                run["name"],
                *(() if grid else (run["label"], run["seed"])),
                run["state"],
                run["n_iterations"],
                *(perplexity(run[name]) for name in FINAL[:3]),
                run["cpu_time"],
            )
            for run in summaries
        ]
        print_table(columns, rows)
    return 0 if all(run["state"] == "finished" for run in summaries) else INTERRUPTED


def print_files(paths: list[Path], as_json: bool) -> None:
    """Print paths of written files as JSON, or one per line; for many files only folders and counts."""
    if as_json:
        return print_json({"files": [str(path) for path in paths]})
    if len(paths) <= MOST_FILES:
        return print("\n".join(map(str, paths)))
    for folder, n in Counter(path.parent for path in paths).items():
        kinds = ", ".join(
            dict.fromkeys(path.suffix.lstrip(".") for path in paths if path.parent == folder)
        )
        print(f"{folder}: {n} file{'s' if n != 1 else ''} ({kinds})")


def perplexity(value: float | None) -> str:
    """Format a perplexity with as many decimals as it needs; return a dash for None."""
    from workbench.runs.progress import decimals

    return DASH if value is None else format_number(value, decimals(value))


def print_facts(rows: list[tuple]) -> None:
    """Print a table of names and values, without empty values."""
    print_table(texts("", ""), [row for row in rows if row[1] != ""])


def print_table(columns: list[Column], rows: Iterable[Sequence]) -> None:
    """Print a plain table on stdout; in a pipe or a file each row is one line, however wide."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else UNBOUNDED
    Console(width=width).print(Table(columns, rows).rich())


def say(message: str) -> None:
    """Print a message on stderr: what is done, and what can be done next."""
    print(message, file=sys.stderr)


@contextlib.contextmanager
def resumable() -> Iterator[None]:
    """End the block on Ctrl-C, and print that the same command resumes."""
    try:
        yield
    except KeyboardInterrupt:
        say("interrupted; recorded iterations are kept, and the same command resumes from there")


@contextlib.contextmanager
def saying_warnings() -> Iterator[None]:
    """Print each distinct warning of a block once, as a line, when it is raised."""
    messages: set[str] = set()

    def print_once(message, *_, **__) -> None:
        if str(message) not in messages:
            messages.add(str(message))
            say(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = print_once
        yield


def store_path(store: Path | None) -> Path:
    """Return the given store, or the default one."""
    from workbench.runs.store.places import default_store

    return store if store is not None else default_store()


def describe(plans: list[Planned], corpus, jobs: int) -> str:
    """Return one line about planned runs: number, duration, size on disk and in memory, with ``jobs`` in parallel."""
    from workbench.runs.execution.memory_check import memory_forecast
    from workbench.runs.store.writer import snapshot_bytes

    specs = [plan.spec for plan in plans]
    spec = specs[0]
    snapshots = -(-spec.n_iterations // spec.snapshot_every)
    n_bytes = len(specs) * snapshots * snapshot_bytes(spec, plans[0].train)
    labels = ", ".join(dict.fromkeys(run_spec.label() for run_spec in specs))
    return (
        f"{labels} on {corpus!r}: {len(specs)} run{'s' * (len(specs) > 1)}, {spec.size_text}{spec.size_text and ', '}"
        f"{spec.n_iterations} iterations, up to {snapshots} snapshots each, {format_size(n_bytes)} before compression, "
        f"{memory_forecast(plans, jobs)}"
    )
