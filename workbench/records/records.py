"""Categorical records as arrays: level numbers by record and field, missing cells, multiplicities of equal records."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from workbench.data.arrays import as_array, frozen, plain_values, sealed
from workbench.data.saving import SavedByHash
from workbench.errors import DataError
from workbench.records.columns import (
    MISSING,
    check_total,
    merged,
    refuse_repeated,
    table_of_columns,
)


class Cells(NamedTuple):
    """The known cells, record by record."""

    records: np.ndarray  # (cell,) int64
    fields: np.ndarray  # (cell,) int64


@dataclass(frozen=True, eq=False, repr=False)
class Records(SavedByHash):
    """Records of categorical fields, checked once and never changed; arrays that do not fit together are a DataError.

    Parameters
    ----------
    values : (record, field) integers
        The number of each cell's level; -1 where the cell is missing.
    multiplicities : (record,) integers
        How often each record came, at least 1. `from_columns` merges equal records; after `hold_out_cells` equal ones may
        stand apart, because other cells of theirs are held out.
    fields : (field,) str
    levels : (field,) tuples of str
        The names of each field's levels; those that occur nowhere keep their number.
    name : str
        What pages and file names call them.
    """

    values: np.ndarray
    multiplicities: np.ndarray
    fields: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    name: str = "records"

    item: ClassVar[str] = "cell"
    """What a score is per."""

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
            found = self.values[:, column]
            if found.min() < MISSING or found.max() >= len(names):
                raise DataError(
                    f"the field {field!r} has {len(names)} levels, so its values must lie in -1..{len(names) - 1}; "
                    f"found {found.min()}..{found.max()}"
                )

    # ------------------------------------------------------------------ ways in

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Sequence], name: str = "records", **options
    ) -> Records:
        """Return the records of columns by name; equal records are merged and sorted by their levels.

        See `workbench.records.columns.table_of_columns` for the options: fields, levels, missing, multiplicity.
        """
        return cls(*table_of_columns(columns, **options), name)

    @classmethod
    def from_pandas(
        cls, frame, name: str = "records", levels: Mapping[str, Sequence] | None = None, **options
    ) -> Records:
        """Return the records of a DataFrame: a row a record, a column a field; options as for `from_columns`.

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
        """Return the records with these fields alone, in this order; those that become equal are merged."""
        if unknown := next((field for field in fields if field not in self.fields), None):
            raise DataError(
                f"{self.name!r} has no field {unknown!r}; there are {', '.join(map(repr, self.fields))}"
            )
        at = [self.fields.index(field) for field in fields]
        values, multiplicities = merged(self.values[:, at], self.multiplicities)
        return Records(
            values,
            multiplicities,
            tuple(fields),
            tuple(self.levels[column] for column in at),
            self.name,
        )

    def with_values(self, values, multiplicities) -> Records:
        """Return other records of the same fields and levels (a split, a subset)."""
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
        """Number of fields, those without a known cell included."""
        return len(self.fields)

    @cached_property
    def n_levels(self) -> np.ndarray:
        """(field,) int64: levels of each field."""
        return sealed(np.array([len(names) for names in self.levels]))

    @cached_property
    def cells(self) -> Cells:
        """The known cells of distinct records, one per entry."""
        return Cells(*map(sealed, np.nonzero(self.values != MISSING)))

    @cached_property
    def n_items(self) -> int:
        """Items that a score is a mean over: known cells, those of equal records counted as often as they came."""
        return int(self.weights.sum())

    @cached_property
    def weights(self) -> np.ndarray:
        """(cell,) int64: how many items each entry stands for, the multiplicity of its record."""
        return sealed(self.multiplicities[self.cells.records])

    @property
    def groups(self) -> np.ndarray:
        """(cell,) int64: the record of each entry."""
        return self.cells.records

    @property
    def memory_bytes(self) -> int:
        """About what its arrays take, with the entries that are derived from them."""
        return 4 * self.values.size + 8 * self.n_distinct + 24 * int((self.values != MISSING).sum())

    def same_rows(self, other) -> bool:
        """Return whether other records have as many distinct records, and the same fields and levels, as a test set has."""
        return isinstance(other, Records) and (other.n_distinct, other.fields, other.levels) == (
            self.n_distinct,
            self.fields,
            self.levels,
        )

    def describe(self) -> dict[str, int]:
        """Return sizes for tables and captions, each by its name in the plural."""
        return {
            "records": self.n_records,
            "distinct": self.n_distinct,
            "fields": self.n_fields,
            "cells": self.n_items,
            "missing": self.n_records * self.n_fields - self.n_items,
        }

    @cached_property
    def content_hash(self) -> str:
        """sha256 (hex) of everything but the name; equal contents have equal hashes on every machine."""
        digest = hashlib.sha256(f"records {self.fields!r} {self.levels!r}|".encode())
        digest.update(self.values.astype("<i4", copy=False))
        digest.update(self.multiplicities.astype("<i8", copy=False))
        return digest.hexdigest()
