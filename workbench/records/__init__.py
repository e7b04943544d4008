"""Categorical records as arrays: `Records`, their readers and splits, and the named sets of records."""

from workbench.errors import DataError
from workbench.records.catalog import load_records, record_sets
from workbench.records.reading import read_records
from workbench.records.records import Records
from workbench.records.splits import (
    hold_out_cells,
    hold_out_records,
    hold_out_whole_records,
    prepare_records,
)

__all__ = [
    "DataError",
    "Records",
    "hold_out_cells",
    "hold_out_records",
    "hold_out_whole_records",
    "load_records",
    "prepare_records",
    "read_records",
    "record_sets",
]
