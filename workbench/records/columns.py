"""Columns of values as tables of level numbers, equal rows merged."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.errors import DataError

MISSING = -1
MOST_RECORDS = 2**40


def table_of_columns(
    columns: Mapping[str, Sequence],
    fields: Sequence[str] | None = None,
    levels: Mapping[str, Sequence] | None = None,
    missing: Sequence[str] = ("",),
    multiplicity: str | None = None,
    where: Callable[[int], str] = "record {} (counted from 0)".format,
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the values, multiplicities, fields and levels of `Records` from columns by name.

    Parameters
    ----------
    columns : name → (row,) values
        Text, numbers or truth values; 3.0 is the level "3". None and NaN are missing.
    fields : names of columns, default all but that of the multiplicities
    levels : name of a field → names of its levels, optional
        Their order, and those that occur nowhere; another value is refused. Without, the levels are those that occur, in the
        order of numbers where all are numbers and of text otherwise.
    missing : texts that stand for a missing value, default the empty one
    multiplicity : str, optional
        The column that says how often each row stands.
    where(row) : what a sentence about a value calls its row

    No row, columns of several lengths, a value that is no known level, a field without a known value are a DataError.
    """
    columns = {
        str(name): values.tolist() if hasattr(values, "tolist") else list(values)
        for name, values in columns.items()
    }
    fields = (
        tuple(name for name in columns if name != multiplicity) if fields is None else tuple(fields)
    )
    levels = {
        str(field): list(map(level_name, names))
        for field, names in (levels or {}).items()
        if field != multiplicity
    }
    for name in (*fields, *levels, *(() if multiplicity is None else (multiplicity,))):
        if name not in columns:
            raise DataError(
                f"there is no column {name!r}; there are {', '.join(map(repr, columns))}"
            )
    if not fields:
        raise DataError("records need at least one field; none came")
    n_rows = len(columns[fields[0]])
    if n_rows == 0:
        raise DataError("records need at least one record; none came")
    table, names = np.empty((n_rows, len(fields)), np.int32), []
    for at, field in enumerate(fields):
        if len(columns[field]) != n_rows:
            raise DataError(
                f"every field must have one value per record ({n_rows}); {field!r} has {len(columns[field])}"
            )
        table[:, at], named = _numbered(field, columns[field], levels.get(field), missing, where)
        names.append(named)
    how_often = np.ones(n_rows, np.int64)
    if multiplicity is not None:
        how_often[:] = [
            _multiplicity(multiplicity, value, where(row))
            for row, value in enumerate(columns[multiplicity])
        ]
    check_total(how_often)
    return *merged(table, how_often), fields, tuple(names)


def merged(values: np.ndarray, multiplicities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct rows in ascending order, and the sum of the multiplicities of each."""
    order = np.lexsort(values.T[::-1])
    values = values[order]
    first = np.concatenate([[True], np.any(values[1:] != values[:-1], axis=1)])
    return values[first], np.add.reduceat(multiplicities[order], np.flatnonzero(first))


def check_total(multiplicities: np.ndarray) -> None:
    """Raise an error for more records, by multiplicity, than a sum can hold exactly."""
    if (total := multiplicities.sum(dtype=np.float64)) > MOST_RECORDS:
        raise DataError(
            f"there may be {MOST_RECORDS} records, equal ones counted as often as they came; these are {total:.0f}"
        )


def level_name(value) -> str | None:
    """Return the name of the level of a value; None for None and NaN."""
    if value is None or value != value:
        return None
    return (
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    )


def refuse_repeated(names: Sequence[str], what: str, whose: str) -> None:
    """Raise an error for names that are empty, not text, or duplicates."""
    if wrong := [name for name in names if not isinstance(name, str) or not name.strip()]:
        raise DataError(f"every {what} of {whose} needs a name; one has {wrong[0]!r}")
    if len(set(names)) < len(names):
        raise DataError(
            f"two {what}s of {whose} have the name {Counter(names).most_common(1)[0][0]!r}; rename one of them"
        )


def _numbered(
    field: str,
    values: list,
    names: list[str] | None,
    missing: Sequence[str],
    where: Callable[[int], str],
) -> tuple[list[int], tuple[str, ...]]:
    """Return the number of each value's level, and the names of the levels."""
    if wrong := [
        row for row, value in enumerate(values) if isinstance(value, list | tuple | dict | set)
    ]:
        raise DataError(
            f"{where(wrong[0])}: {field!r} must hold text, numbers or None; it holds {values[wrong[0]]!r}"
        )
    name_of = {value: level_name(value) for value in dict.fromkeys(values)}
    name_of = {value: None if name in missing else name for value, name in name_of.items()}
    occurring = {name for name in name_of.values() if name is not None}
    if names is None and not occurring:
        raise DataError(
            f"the field {field!r} has no known value, so its levels are unknown; name them with levels=…, or leave "
            "the field out"
        )
    names = _sorted(occurring) if names is None else names
    number_of = {name: at for at, name in enumerate(names)} | {None: MISSING}
    if wrong := occurring - number_of.keys():
        row = next(row for row, value in enumerate(values) if name_of[value] in wrong)
        raise DataError(
            f"{where(row)}: {name_of[values[row]]!r} is no level of {field!r}; there are "
            f"{', '.join(map(repr, names))}"
        )
    return [number_of[name_of[value]] for value in values], tuple(names)


def _multiplicity(name: str, value, where: str) -> int:
    """Return the multiplicity of a row."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    if not number.is_integer() or not 1 <= number <= MOST_RECORDS:
        most = f" and at most {MOST_RECORDS}" if number > MOST_RECORDS else ""
        raise DataError(
            f"{where}: {name!r} must be a whole number of at least 1{most}, not {str(value)[:60]!r}"
        )
    return int(number)


def _sorted(names: set[str]) -> list[str]:
    """Return names of levels sorted as numbers where all are numbers, else as text."""
    try:
        return sorted(names, key=lambda name: (float(name), name))
    except ValueError:
        return sorted(names)
