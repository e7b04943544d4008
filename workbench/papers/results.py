"""Results of reproduced figures in a JSON file: each claim with its verdict, numbers, and the code that computed them.

``{"format": 1, "figures": {NAME: {EXTENT: result}}}`` with the fields of `Result`. The file is replaced atomically by one
writer at a time, and a figure only replaces its own result of the same extent.
"""

import json
import math
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

import workbench
from workbench.papers.figure import Claim
from workbench.report.files import ReportError, put_file

FORMAT = 1
WHOLE, PART, QUICK = "whole", "part", "quick"
"""Extents: the published one, a part of it, and ``--quick``; the fullest first."""
EXTENTS = WHOLE, PART, QUICK
FILE = "ledger.json"
"""Name of the file in a store."""
SHIPPED = Path(__file__).with_name(FILE)
"""The results in the package."""


@dataclass(frozen=True)
class Outcome(Claim):
    """A claim of a paper with its verdict and our numbers."""

    verdict: str
    measured: str  # the numbers as a text
    # first minus second, mean over pairs; for times the log ratio. None without a pair
    value: float | None
    error: float | None  # its standard error; None for a single pair
    n: int  # pairs or runs


@dataclass(frozen=True)
class Number:
    """A number in a figure: our mean over runs with standard error, and the paper's number if it prints one."""

    what: str
    of: str
    value: float | None
    error: float | None  # None for a single run
    n: int
    published: float | None = None


@dataclass(frozen=True)
class Result:
    """The result of a reproduced figure."""

    figure: str
    extent: str  # of `EXTENTS`
    # reductions of the published extent, and failed runs; empty for the whole
    left_out: str
    command: str
    date: str  # in UTC, to the second, ISO 8601
    version: str  # of the package
    commit: str | None  # of the code that judged the runs; None outside a checkout
    changed: bool  # whether the code had uncommitted changes
    outcomes: tuple[Outcome, ...]
    numbers: tuple[Number, ...]

    @property
    def code(self) -> str:
        """Return the commit of the code that judged the runs, or else its version, as text."""
        return (
            f"commit {self.commit}{', changed since' * self.changed}"
            if self.commit
            else f"version {self.version}"
        )


def result_of(reproduction) -> Result:
    """Return the result of a `workbench.papers.reproduce.Reproduction`, with the current time and commit."""
    is_whole = not reproduction.left_out and not reproduction.quick
    commit, changed = code_commit()
    outcomes = tuple(
        Outcome(
            *astuple(verdict.claim),
            verdict.outcome,
            verdict.measured,
            _finite_or_none(verdict.difference),
            _finite_or_none(verdict.error),
            verdict.n_pairs,
        )
        for verdict in reproduction.verdicts
    )
    return Result(
        reproduction.figure.name,
        WHOLE if is_whole else QUICK if reproduction.quick else PART,
        " ".join(reproduction.left_out),
        reproduction.command,
        datetime.now(UTC).isoformat(timespec="seconds"),
        workbench.__version__,
        commit,
        changed,
        outcomes,
        tuple(reproduction.numbers),
    )


def read_results(path: Path) -> list[Result]:
    """Return the results in a file, [] if it is missing; raise ReportError for a file of another format."""
    try:
        values = json.loads(Path(path).read_bytes())
        if values["format"] != FORMAT:
            raise ValueError
        return [
            _read(name, extent, result)
            for name, results_of_figure in values["figures"].items()
            for extent, result in results_of_figure.items()
        ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ReportError(
            f"the ledger {path} cannot be read: {error.strerror}; choose another file"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ReportError(
            f"{path} is no ledger of format {FORMAT}, as `workbench reproduce` writes it; move it away or choose another file"
        ) from None


def write_result(path: Path, result: Result) -> Path:
    """Write a result into a ledger file, in place of any result of the same figure and extent.

    Raises
    ------
    ReportError
        The file is no ledger, cannot be written, or is locked by another process.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(str(path.with_name(f".{path.name}.lock")), timeout=10.0):
            results = {(other.figure, other.extent): other for other in read_results(path)} | {
                (result.figure, result.extent): result
            }
            return put_file(path, _file_content(results.values()))
    except Timeout:
        raise ReportError(f"another process is writing to {path}; try again") from None
    except OSError as error:
        raise ReportError(f"cannot write {path}: {error.strerror}; choose another place") from error


def code_commit() -> tuple[str | None, bool]:
    """Return the commit of the package's git checkout (None outside one), and whether files have been changed since."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(Path(workbench.__file__).parent), *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()

    try:
        # fails for a package installed inside another checkout
        git("ls-files", "--error-unmatch", "__init__.py")
        ledger = SHIPPED.relative_to(Path(workbench.__file__).parent).as_posix()
        return git("rev-parse", "--short=8", "HEAD"), bool(
            git("status", "--porcelain", "--", ".", f":(exclude){ledger}")
        )
    except (OSError, subprocess.SubprocessError):
        return None, False


def _file_content(results: Iterable[Result]) -> bytes:
    """Return the content of a ledger file with these results, sorted, so that it depends on the results only."""
    figures: dict[str, dict] = {}
    for result in sorted(results, key=lambda result: (result.figure, EXTENTS.index(result.extent))):
        values = asdict(result)
        figures.setdefault(values.pop("figure"), {})[values.pop("extent")] = values
    return (
        json.dumps(
            {"format": FORMAT, "figures": figures}, indent=1, allow_nan=False, ensure_ascii=False
        )
        + "\n"
    ).encode()


def _read(name: str, extent: str, values: dict) -> Result:
    """Return a result from its JSON values in a ledger file; raise ValueError or TypeError for invalid values."""
    outcomes, numbers = (
        tuple(_check_record(kind(**fields_of_record)) for fields_of_record in values[key])
        for key, kind in (("outcomes", Outcome), ("numbers", Number))
    )
    result = _check_record(
        Result(figure=name, extent=extent, **values | {"outcomes": outcomes, "numbers": numbers})
    )
    datetime.fromisoformat(result.date)
    if extent not in EXTENTS or any(number.value is None for number in numbers):
        raise ValueError
    return result


def _check_record(record):
    """Return the record unchanged; raise TypeError if a field is not of the declared type."""
    for field in fields(record):
        value, kind = (
            getattr(record, field.name),
            field.type if field.name not in ("outcomes", "numbers") else tuple,
        )
        if not isinstance(
            float(value) if type(value) is int and kind == float | None else value, kind
        ):
            raise TypeError(field.name)
    return record


def _finite_or_none(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
