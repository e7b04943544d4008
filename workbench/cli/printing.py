"""What commands print: one JSON object for programs, tables for people, one line for a mistake."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.runs.execution.memory_check import Planned
    from workbench.runs.execution.run import Run

FINAL = ("test_perplexity", "test_perplexity_state", "test_perplexity_average", "elapsed", "cpu_time")


def wrong_input() -> tuple[type[Exception], ...]:
    """The errors that are the user's to mend."""
    from workbench.corpus import CorpusError
    from workbench.measures import MeasureError
    from workbench.models import ModelError
    from workbench.models.options import OptionError
    from workbench.report.files import ReportError
    from workbench.runs.spec import SpecError
    from workbench.runs.store.notes import NoteError
    from workbench.runs.store.store import StoreError

    return CorpusError, ModelError, OptionError, SpecError, StoreError, MeasureError, NoteError, ReportError


def print_json(values: dict) -> None:
    """One JSON object on stdout; what JSON cannot hold (NaN) becomes null."""
    json.dump(_jsonable(values), sys.stdout, allow_nan=False)
    sys.stdout.write("\n")


def _jsonable(value):
    if isinstance(value, dict):
        return {name: _jsonable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def summary(run: Run, last: int | None = None) -> dict:
    """The final scalars of a run, or those of its ``last`` iteration; null where there is none."""
    rows, spec = run.reader.rows(), run.spec
    rows = rows if last is None else rows[rows[:, 0] <= last]
    final = dict(zip(("iteration", *run.reader.recorded.names), rows[-1].tolist() if len(rows) else (), strict=False))
    return {
        "name": run.name, "engine": spec.engine, "label": spec.label(), "options": spec.options,
        "n_topics": spec.model["n_topics"], "seed": spec.seed, "state": run.state,
        "n_iterations": int(final.get("iteration", 0)), **{name: final.get(name) for name in FINAL}, "path": str(run.path),
    }


def print_runs(summaries: list[dict], as_json: bool, **more) -> None:
    """The runs as JSON on stdout, with whatever else there is to say of them, or as a table on stderr."""
    if as_json:
        print_json({"runs": summaries} | more)
        return
    rows = [
        (
            run["name"], run["label"], str(run["seed"]), run["state"], f"{run['n_iterations']:,}",
            number(run["test_perplexity"]), number(run["test_perplexity_state"]), number(run["test_perplexity_average"]),
            number(run["cpu_time"], "s"),
        )
        for run in summaries
    ]
    heads = ("run", "engine", "seed", "state", "iterations", "perplexity", "state alone", "average", "CPU")
    print_table(heads, rows, left=(0, 1, 3))


def print_files(paths: list[Path], as_json: bool) -> None:
    """What was written, as JSON on stdout or a path a line on stderr."""
    if as_json:
        print_json({"files": [str(path) for path in paths]})
        return
    for path in paths:
        say(str(path))


def number(value: float | None, unit: str = "") -> str:
    """One decimal, or a dash."""
    return "–" if value is None or math.isnan(value) else f"{value:,.1f}{' ' + unit if unit else ''}"


def told_of_topics(labels: dict[int, str]) -> str:
    """The labels of topics on one line, each after its number."""
    return "; ".join(f"{topic} {label}" for topic, label in labels.items())


def print_table(heads, rows, left=(0,)) -> None:
    """A plain table on stderr, as wide as it needs to be."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, head in enumerate(heads):
        table.add_column(head, justify="left" if at in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    console = Console(stderr=True)
    if not console.is_terminal:
        console = Console(stderr=True, width=200)
    console.print(table)


def say(message: str) -> None:
    """A line for people."""
    print(message, file=sys.stderr)


def parse_options(pairs: list[str]) -> dict[str, str]:
    """``name=value`` flags as a dict."""
    from workbench.models.options import OptionError

    options = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise OptionError(f"an option is written name=value, as in --option r=1; got '{pair}'")
        options[name.strip()] = value.strip()
    return options


def parse_sizes(pairs: list[str] | None) -> dict[str, int] | None:
    """``super=5`` flags as sizes by name; None where nothing was said."""
    from workbench.models import ModelError

    sizes = {}
    for pair in pairs or []:
        name, _, value = pair.partition("=")
        if not name.strip() or not value.strip().isdecimal():
            raise ModelError(f"a size is written name=number, as in --size super=5; got '{pair}'")
        sizes[name.strip()] = int(value)
    return sizes or None


def parse_alpha(text: str | None) -> float | tuple[float, ...] | None:
    """One number, or one per topic separated by commas; None where nothing was said."""
    from workbench.models import ModelError

    if text is None:
        return None
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ModelError(f"--alpha must be a number, or one per topic separated by commas; got '{text}'") from None
    return values[0] if len(values) == 1 else values


def store_path(store: Path | None) -> Path:
    """The store that was named, else the default one."""
    from workbench.runs.execution.run import default_store

    return store if store is not None else default_store()


def describe(planned: list[Planned], corpus, jobs: int) -> str:
    """What is about to run, how long and how large on disk and in memory, ``jobs`` at a time, in one line."""
    from workbench.runs.execution.memory_check import outlook_on_memory

    specs = [each.spec for each in planned]
    spec = specs[0]
    snapshots = -(-spec.n_iterations // spec.snapshot_every)
    megabytes = len(specs) * snapshots * spec.model["n_topics"] * (corpus.n_documents + corpus.n_words) * 8 / 2**20
    labels = ", ".join(dict.fromkeys(each.label() for each in specs))
    return (
        f"{labels} on {corpus!r}: {len(specs)} run{'s' * (len(specs) > 1)}, K={spec.model['n_topics']}, "
        f"{spec.n_iterations} iterations, up to {snapshots} snapshots each, {megabytes:,.0f} MB before compression, "
        f"{outlook_on_memory(planned, jobs)}"
    )
