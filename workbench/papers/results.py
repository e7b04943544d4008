"""Results of figures made again, in a JSON file: each claim with its verdict, numbers, and what computed them.

``{"format": 1, "figures": {NAME: {EXTENT: result}}}``; `Result` lists the values of one. The file is replaced whole, by one
writer at a time, and a figure changes its own result of the same extent alone.
"""

import json
import math
import subprocess
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

import workbench
from workbench.report.files import ReportError, put_file

FORMAT = 1
WHOLE, PART, QUICK = "whole", "part", "quick"
"""How much of a figure was run: as much as is published; another part of that; what ``--quick`` runs. The fullest first."""
EXTENTS = WHOLE, PART, QUICK
FILE = "ledger.json"
"""Its name in a store."""
SHIPPED = Path(__file__).with_name(FILE)
"""The results that come with the package."""
LOCK_TIMEOUT = 10.0
"""Seconds that one writer waits for another, which takes milliseconds."""


@dataclass(frozen=True)
class Outcome:
    """A claim and what the runs say of it."""

    says: str
    kind: str  # see `workbench.papers.figure.Claim`
    first: str
    second: str
    verdict: str
    measured: str  # the numbers in words
    # first minus second, mean over pairs; of times the logarithm of their ratio. None without a pair
    value: float | None
    error: float | None  # its standard error; None of a single pair
    n: int  # pairs or runs


@dataclass(frozen=True)
class Number:
    """A number of a figure: mean over runs and standard error, beside the paper's where it prints one."""

    what: str
    of: str
    value: float | None
    error: float | None  # None of a single run
    n: int
    published: float | None = None


@dataclass(frozen=True)
class Result:
    """What came out when a figure was made again."""

    figure: str
    extent: str  # of `EXTENTS`
    # what was left out of what is published, and which runs failed; empty where it is whole
    left_out: str
    command: str
    date: str  # in UTC, to the second, as ISO 8601 has it
    version: str  # of the package
    commit: str | None  # of the code that judged the runs; None outside of a checkout
    changed: bool  # had the code been changed since that commit?
    outcomes: tuple[Outcome, ...]
    numbers: tuple[Number, ...]

    @property
    def code(self) -> str:
        """Which code judged the runs, in words."""
        return (
            f"commit {self.commit}{', changed since' * self.changed}"
            if self.commit
            else f"version {self.version}"
        )


def result_of(made) -> Result:
    """The result of a `workbench.papers.reproduce.Reproduction`, with the time and the code that there are now."""
    whole = not made.left_out and not made.quick
    commit, changed = code_commit()
    outcomes = tuple(
        Outcome(
            each.claim.says,
            each.claim.kind,
            each.claim.first,
            each.claim.second,
            each.outcome,
            each.measured,
            _known(each.difference),
            _known(each.error),
            each.n_pairs,
        )
        for each in made.verdicts
    )
    return Result(
        made.figure.name,
        WHOLE if whole else QUICK if made.quick else PART,
        " ".join(made.left_out),
        made.command,
        datetime.now(UTC).isoformat(timespec="seconds"),
        workbench.__version__,
        commit,
        changed,
        outcomes,
        tuple(made.numbers),
    )


def read_results(path: Path) -> list[Result]:
    """The results of a file; none where there is no file. Raises ReportError for one that is no such file."""
    try:
        values = json.loads(Path(path).read_bytes())
        if values["format"] != FORMAT:
            raise ValueError
        return [
            _read(name, extent, one)
            for name, own in values["figures"].items()
            for extent, one in own.items()
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
    """Writes a result into the file, over the one of the same figure and extent; all others stay.

    Raises
    ------
    ReportError
        The file is no ledger, or cannot be written, or another process does not let go of it.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(str(path.with_name(f".{path.name}.lock")), timeout=LOCK_TIMEOUT):
            found = {(one.figure, one.extent): one for one in read_results(path)} | {
                (result.figure, result.extent): result
            }
            return put_file(path, _written(found.values()))
    except Timeout:
        raise ReportError(f"another process is writing to {path}; try again") from None
    except OSError as error:
        raise ReportError(f"cannot write {path}: {error.strerror}; choose another place") from error


def code_commit() -> tuple[str | None, bool]:
    """The commit of the checkout that the package is in, and whether its code was changed since; None outside of one."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(Path(workbench.__file__).parent), *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()

    try:
        # of a package installed inside of another checkout it fails
        git("ls-files", "--error-unmatch", "__init__.py")
        own = SHIPPED.relative_to(Path(workbench.__file__).parent).as_posix()
        return git("rev-parse", "--short=8", "HEAD"), bool(
            git("status", "--porcelain", "--", ".", f":(exclude){own}")
        )
    except (OSError, subprocess.SubprocessError):
        return None, False


def _written(results) -> bytes:
    """The file: figures by name, extents from whole to quick, so that the same results are the same bytes."""
    figures: dict[str, dict] = {}
    for one in sorted(results, key=lambda one: (one.figure, EXTENTS.index(one.extent))):
        values = asdict(one)
        figures.setdefault(values.pop("figure"), {})[values.pop("extent")] = values
    return (
        json.dumps(
            {"format": FORMAT, "figures": figures}, indent=1, allow_nan=False, ensure_ascii=False
        )
        + "\n"
    ).encode()


def _read(name: str, extent: str, values: dict) -> Result:
    """A result from its values in the file; ValueError or TypeError for others."""
    outcomes, numbers = (
        tuple(_checked(kind(**one)) for one in values[key])
        for key, kind in (("outcomes", Outcome), ("numbers", Number))
    )
    result = _checked(
        Result(figure=name, extent=extent, **values | {"outcomes": outcomes, "numbers": numbers})
    )
    datetime.fromisoformat(result.date)
    if extent not in EXTENTS or any(number.value is None for number in numbers):
        raise ValueError
    return result


def _checked(one):
    """The record, if its fields have the types that they are declared with; TypeError for others."""
    for field in fields(one):
        value, kind = (
            getattr(one, field.name),
            field.type if field.name not in ("outcomes", "numbers") else tuple,
        )
        if not isinstance(
            float(value) if type(value) is int and kind == float | None else value, kind
        ):
            raise TypeError(field.name)
    return one


def _known(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
