"""Read records from CSV or Parquet files."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.data.opening import path_of, read_bytes
from workbench.data.reading import noting, of_file
from workbench.data.rows import read_columns
from workbench.errors import DataError
from workbench.records.records import Records, refuse_repeated

PARQUET = (".parquet", ".pq")


def read_records(
    path: str | os.PathLike,
    fields: Sequence[str] | str | None = None,
    levels: Mapping[str, Sequence] | None = None,
    missing: Sequence[str] | str = ("",),
    multiplicity: str | None = None,
    name: str | None = None,
    **others,
) -> Records:
    """Return the records in a CSV file with a header row, or in a Parquet file (``.parquet``, which needs pyarrow).

    Parameters
    ----------
    path : path
        One record per row, one field per column; an empty cell is missing. CSV may be gzipped; comma, semicolon or tab
        separate.
    fields : names of columns, default all
        A text has them separated by commas.
    levels : see `workbench.records.Records.from_columns`
    missing : texts that stand for a missing value, default the empty one
        A text has them separated by commas; the empty one is among them then.
    multiplicity : str, optional
        The column with the number of equal records that a row stands for.
    name : str, default from the file's name

    Raise DataError, with the file and for CSV the line, for rows of unequal lengths, a repeated or missing field, a value that
    is not a known level, bytes that are not UTF-8, a file without records, and unknown options.
    """
    if others:
        raise DataError(
            f"records are read with fields, levels, missing, multiplicity and name, not with {', '.join(others)}; "
            "leave that out"
        )
    path = path_of(path)
    fields = _split_list(fields) if isinstance(fields, str) else fields
    missing = ("", *_split_list(missing)) if isinstance(missing, str) else missing
    options = {"fields": fields, "levels": levels, "missing": missing, "multiplicity": multiplicity}
    all_options = options | {"name": name}
    options["name"] = name or path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    try:
        with noting() as notes:
            if path.suffix.lower() in PARQUET:
                records = _parquet(path, options)
            else:
                header, columns, lines = read_columns(path)
                refuse_repeated(header, "field", "the header")
                records = Records.from_columns(
                    dict(zip(header, columns, strict=True)),
                    where=lambda row: f"{path}, line {lines[row]}",
                    **options,
                )
        reading = {"content": records.content_hash} | of_file(path, all_options, notes)
        return replace(records, reading=reading)
    except DataError as error:
        raise (
            error
            if str(error).startswith((f"{path}", "there is no file"))
            else DataError(f"{path}: {error}")
        ) from None


def _split_list(text: str) -> list[str]:
    """Return the parts of a text between commas, without blanks around them."""
    return [part.strip() for part in text.split(",")]


def _parquet(path: Path, options: dict) -> Records:
    """Return the records in a Parquet file; ``options`` as `Records.from_columns` takes them."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise DataError(
            f"{path} is a Parquet file, which needs the package pyarrow; `pip install pyarrow`, or save the "
            "records as CSV"
        ) from None
    import pandas

    read_bytes(path)  # what cannot be read has its own sentence
    try:
        return Records.from_pandas(pandas.read_parquet(path), **options)
    except DataError:
        raise
    except Exception as error:  # whatever pyarrow makes of a damaged file
        raise DataError(
            f"{path} is a damaged Parquet file ({type(error).__name__}); fetch it again"
        ) from error
