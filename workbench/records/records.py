"""Categorical records as arrays: the level of each record and field, missing cells, multiplicities of equal records."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.data.arrays import as_array, frozen, plain_values, sealed
from workbench.data.saving import SavedByHash
from workbench.errors import DataError

MISSING = -1
MOST_RECORDS = 2**40


def merged(values: np.ndarray, multiplicities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows in ascending order, and the summed multiplicity of each."""
    order = np.lexsort(values.T[::-1])
    values = values[order]
    first = np.concatenate([[True], np.any(values[1:] != values[:-1], axis=1)])
    return values[first], np.add.reduceat(multiplicities[order], np.flatnonzero(first))


def check_total(multiplicities: np.ndarray) -> None:
    """Raise an error if the sum of the multiplicities is too large to be exact."""
    if (total := multiplicities.sum(dtype=np.float64)) > MOST_RECORDS:
        raise DataError(
            f"there may be {MOST_RECORDS} records, equal ones counted as often as they came; these are {total:.0f}"
        )


def level_name(value: object) -> str | None:
    """Return the name of the level of a value, such as "3" for 3.0; None for None and NaN, which are missing."""
    if value is None or value != value:
        return None
    return (
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    )


def refuse_repeated(names: Sequence[str], kind: str, owner: str) -> None:
    """Raise an error if a name is empty, not text, or occurs twice."""
    if invalid_names := [name for name in names if not isinstance(name, str) or not name.strip()]:
        raise DataError(f"every {kind} of {owner} needs a name; one has {invalid_names[0]!r}")
    if len(set(names)) < len(names):
        raise DataError(
            f"two {kind}s of {owner} have the name {Counter(names).most_common(1)[0][0]!r}; rename one of them"
        )


def _number_levels(
    field: str,
    values: list,
    names: list[str] | None,
    missing: Sequence[str],
    where: Callable[[int], str],
) -> tuple[list[int], tuple[str, ...]]:
    """Return the level index of each value, -1 for a missing one, and the names of the levels."""
    if invalid_values := [
        row for row, value in enumerate(values) if isinstance(value, list | tuple | dict | set)
    ]:
        raise DataError(
            f"{where(invalid_values[0])}: {field!r} must hold text, numbers or None; it holds {values[invalid_values[0]]!r}"
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
    number_of = {name: number for number, name in enumerate(names)} | {None: MISSING}
    if invalid_values := occurring - number_of.keys():
        row = next(row for row, value in enumerate(values) if name_of[value] in invalid_values)
        raise DataError(
            f"{where(row)}: {name_of[values[row]]!r} is no level of {field!r}; there are "
            f"{', '.join(map(repr, names))}"
        )
    return [number_of[name_of[value]] for value in values], tuple(names)


def _multiplicity(name: str, value: object, location: str) -> int:
    """Return a row's multiplicity as an int; raise an error unless it is a whole number of at least 1."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    if not number.is_integer() or not 1 <= number <= MOST_RECORDS:
        limit = f" and at most {MOST_RECORDS}" if number > MOST_RECORDS else ""
        raise DataError(
            f"{location}: {name!r} must be a whole number of at least 1{limit}, not {str(value)[:60]!r}"
        )
    return int(number)


def _sorted(names: set[str]) -> list[str]:
    """Return level names sorted numerically if all are numbers, else alphabetically."""
    try:
        return sorted(names, key=lambda name: (float(name), name))
    except ValueError:
        return sorted(names)


class Cells(NamedTuple):
    """The known (not missing) cells of all records, in the order of the records."""

    records: np.ndarray  # (cell,) int64: record of each cell
    fields: np.ndarray  # (cell,) int64: field of each cell


@dataclass(frozen=True, eq=False, repr=False)
class Records(SavedByHash):
    """Records of categorical fields, validated once and immutable.

    Raise DataError for arrays that do not fit together.

    Parameters
    ----------
    values : (record, field) integers
        The number of each cell's level; -1 where the cell is missing.
    multiplicities : (record,) integers
        Number of equal records that each row stands for, at least 1. `from_columns` merges equal records; after
        `hold_out_cells` equal rows may remain, because different cells of them are held out.
    fields : (field,) str
    levels : (field,) tuples of str
        The names of each field's levels; those that occur nowhere keep their number.
    name : str
        What pages and file names call them.
    reading : dict, optional
        The record of how they were read, see `workbench.data.reading`; not part of the content hash.
    """

    values: np.ndarray
    multiplicities: np.ndarray
    fields: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    name: str = "records"
    reading: dict | None = None

    item: ClassVar[str] = "cell"
    """The unit of a score: scores are per known cell."""

    def __post_init__(self):
        fix = object.__setattr__
        fix(self, "fields", plain_values(self.fields, "fields"))
        fix(self, "levels", tuple(plain_values(names, "levels") for names in self.levels))
        values = as_array(self.values, "values")
        if values.ndim != 2 or not all(values.shape) or values.dtype.kind not in "iu":
            raise DataError(
                "values must be whole numbers, (record, field), with at least one record and one field; got the "
                f"shape {values.shape} of type {values.dtype}"
            )
        fix(self, "values", frozen(values, np.int32, "values"))
        fix(self, "multiplicities", frozen(self.multiplicities, np.int64, "multiplicities"))
        self._check()

    def _check(self):
        n_records, n_fields = self.values.shape
        if not len(self.fields) == len(self.levels) == n_fields:
            raise DataError(
                f"fields, levels and columns of values must agree; they are {len(self.fields)}, {len(self.levels)} "
                f"and {n_fields}"
            )
        if len(self.multiplicities) != n_records:
            raise DataError(
                f"there must be one multiplicity per record ({n_records}); {len(self.multiplicities)} came"
            )
        if self.multiplicities.min() < 1:
            raise DataError(
                f"multiplicities must be at least 1; the smallest is {self.multiplicities.min()}"
            )
        check_total(self.multiplicities)
        refuse_repeated(self.fields, "field", "the records")
        for column, (field, names) in enumerate(zip(self.fields, self.levels, strict=True)):
            refuse_repeated(names, "level", f"the field {field!r}")
            numbers = self.values[:, column]
            if numbers.min() < MISSING or numbers.max() >= len(names):
                raise DataError(
                    f"the field {field!r} has {len(names)} levels, so its values must lie in -1..{len(names) - 1}; "
                    f"found {numbers.min()}..{numbers.max()}"
                )

    # ------------------------------------------------------------------ ways in

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, Sequence],
        name: str = "records",
        fields: Sequence[str] | None = None,
        levels: Mapping[str, Sequence] | None = None,
        missing: Sequence[str] = ("",),
        multiplicity: str | None = None,
        where: Callable[[int], str] = "record {} (counted from 0)".format,
    ) -> Records:
        """Return the records in columns keyed by name, sorted by their levels; equal records are merged.

        Parameters
        ----------
        columns : name → (row,) values
            Text, numbers or truth values; 3.0 is the level "3". None and NaN are missing.
        fields : names of columns, default all but that of the multiplicities
        levels : name of a field → names of its levels, optional
            All levels in order, also those that occur nowhere; other values raise an error. By default the levels that occur,
            in numerical order if all are numbers, else in alphabetical order.
        missing : texts that stand for a missing value, default the empty one
        multiplicity : str, optional
            The column with the number of equal records that a row stands for.
        where(row) : how an error about a value names its row

        Raise DataError if there is no row, if columns differ in length, for a value that is not a known level, and for a field
        without known values.
        """
        columns = {
            str(name): values.tolist() if hasattr(values, "tolist") else list(values)
            for name, values in columns.items()
        }
        fields = (
            tuple(name for name in columns if name != multiplicity)
            if fields is None
            else tuple(fields)
        )
        levels = {
            str(field): list(map(level_name, names))
            for field, names in (levels or {}).items()
            if field != multiplicity
        }
        for column_name in (*fields, *levels, *(() if multiplicity is None else (multiplicity,))):
            if column_name not in columns:
                raise DataError(
                    f"there is no column {column_name!r}; there are {', '.join(map(repr, columns))}"
                )
        if not fields:
            raise DataError("records need at least one field; none came")
        n_rows = len(columns[fields[0]])
        if n_rows == 0:
            raise DataError("records need at least one record; none came")
        table, names = np.empty((n_rows, len(fields)), np.int32), []
        for column, field in enumerate(fields):
            if len(columns[field]) != n_rows:
                raise DataError(
                    f"every field must have one value per record ({n_rows}); {field!r} has {len(columns[field])}"
                )
            table[:, column], level_names = _number_levels(
                field, columns[field], levels.get(field), missing, where
            )
            names.append(level_names)
        how_often = np.ones(n_rows, np.int64)
        if multiplicity is not None:
            how_often[:] = [
                _multiplicity(multiplicity, value, where(row))
                for row, value in enumerate(columns[multiplicity])
            ]
        check_total(how_often)
        return cls(*merged(table, how_often), fields, tuple(names), name)

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        name: str = "records",
        levels: Mapping[str, Sequence] | None = None,
        **options,
    ) -> Records:
        """Return the records of a DataFrame: one per row, with one field per column; options as for `from_columns`.

        A categorical column has its categories as levels, in their order.
        """
        refuse_repeated(list(map(str, frame.columns)), "field", "the table")
        categories = {
            str(field): list(kind.categories)
            for field, kind in frame.dtypes.items()
            if hasattr(kind, "categories")
        }
        columns = {
            str(field): column.astype(object).where(column.notna(), None)
            for field, column in frame.items()
        }
        return cls.from_columns(columns, name, levels=categories | dict(levels or {}), **options)

    def of_fields(self, fields: Sequence[str]) -> Records:
        """Return the records reduced to these fields, in this order; records that become equal are merged."""
        if unknown := next((field for field in fields if field not in self.fields), None):
            raise DataError(
                f"{self.name!r} has no field {unknown!r}; there are {', '.join(map(repr, self.fields))}"
            )
        positions = [self.fields.index(field) for field in fields]
        values, multiplicities = merged(self.values[:, positions], self.multiplicities)
        return Records(
            values,
            multiplicities,
            tuple(fields),
            tuple(self.levels[column] for column in positions),
            self.name,
        )

    def with_values(self, values: np.ndarray, multiplicities: np.ndarray) -> Records:
        """Return records with other values, such as a split or a subset, and the same fields and levels."""
        return replace(self, values=values, multiplicities=multiplicities)

    # ------------------------------------------------------------------ sizes

    @cached_property
    def n_records(self) -> int:
        """Number of records, counted by multiplicity."""
        return int(self.multiplicities.sum())

    @property
    def n_distinct(self) -> int:
        """Number of distinct records."""
        return len(self.values)

    @property
    def n_fields(self) -> int:
        """Number of fields, including those without a known cell."""
        return len(self.fields)

    @cached_property
    def n_levels(self) -> np.ndarray:
        """Number of levels of each field (field,) int64."""
        return sealed(np.array([len(names) for names in self.levels]))

    @cached_property
    def cells(self) -> Cells:
        """The known cells of the distinct records, one entry per cell."""
        return Cells(*map(sealed, np.nonzero(self.values != MISSING)))

    @cached_property
    def n_items(self) -> int:
        """Number of known cells, counted with multiplicity: the items over which scores are averaged."""
        return int(self.weights.sum())

    @cached_property
    def weights(self) -> np.ndarray:
        """The weight of each known cell (cell,) int64 in a score: its record's multiplicity."""
        return sealed(self.multiplicities[self.cells.records])

    @property
    def groups(self) -> np.ndarray:
        """The index of each known cell's record (cell,) int64."""
        return self.cells.records

    @property
    def memory_bytes(self) -> int:
        """Estimated bytes of the records' arrays, known cells included."""
        return 4 * self.values.size + 8 * self.n_distinct + 24 * int((self.values != MISSING).sum())

    def same_rows(self, other: object) -> bool:
        """Return whether ``other`` has as many rows, the same fields and the same levels, as a test set of these must."""
        return isinstance(other, Records) and (other.n_distinct, other.fields, other.levels) == (
            self.n_distinct,
            self.fields,
            self.levels,
        )

    def describe(self) -> dict[str, int]:
        """Return the sizes for tables and captions, as ``{"records": 100, "fields": 5, …}``."""
        return {
            "records": self.n_records,
            "distinct": self.n_distinct,
            "fields": self.n_fields,
            "cells": self.n_items,
            "missing": self.n_records * self.n_fields - self.n_items,
        }

    @cached_property
    def content_hash(self) -> str:
        """The sha256 (hex) of all fields except the name; equal contents have equal hashes on every machine."""
        digest = hashlib.sha256(f"records {self.fields!r} {self.levels!r}|".encode())
        digest.update(self.values.astype("<i4", copy=False))
        digest.update(self.multiplicities.astype("<i8", copy=False))
        return digest.hexdigest()
