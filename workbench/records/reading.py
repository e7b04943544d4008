"""Records from files, CSV or Parquet, and published ones by name."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.data.opening import data_folders, read_bytes
from workbench.data.rows import read_columns
from workbench.errors import DataError
from workbench.records.columns import refuse_repeated
from workbench.records.records import Records

PUBLISHED = {
    "votes": "9527a4d7aa613eef227081051dbca0c642206143e6f0c2424c876bbd82fb3b89",    # votes of the US House, 1984, and party
    "soybean": "1cfbf9512f3f62a47c02fc2d868ae3afa0a04dc0fb0ae8170b95ca0131075425",  # diseases of soybeans
    "ability": "7d6ff5e5c6f4febecb1df14bcfd33b00144cdd120814d5284bcfe0b38ff247f6",  # items of an ability test, right or wrong
    "bfi": "d4f210d400a807cc3e0b79f0ecbeac5920914d059846ffd62f3a63d10ce600fc",      # items on personality
}
"""Name → content hash; data/README.md says where each comes from."""
PARQUET = (".parquet", ".pq")


def load_records(name_or_path: str | os.PathLike, **options) -> Records:
    """The published records of that name, or those in a file; see `read_records` for the options of a file.

    Names are those of `PUBLISHED`; ``NAME.csv`` is looked for in the folders of WORKBENCH_DATA and their folder ``records``.
    Neither a name nor a file, a name whose file is missing or is another, and an option with a name are refused.
    """
    if name_or_path not in PUBLISHED:
        if not Path(name_or_path).exists() and Path(name_or_path).name == str(name_or_path):
            names = ", ".join(PUBLISHED)
            raise DataError(f"no records and no file {str(name_or_path)!r}; there are {names}, and a path works")
        return read_records(name_or_path, **options)
    if options:
        raise DataError(f"the records {name_or_path!r} are read as published, without {', '.join(options)}; leave that out")
    folders = [Path(folder, *inner) for folder in data_folders() for inner in ((), ("records",))]
    path = next((path for folder in folders if (path := folder / f"{name_or_path}.csv").is_file()), None)
    if path is None:
        wanted = f"{name_or_path}.csv"
        raise DataError(f"the records {name_or_path!r} are not here; set WORKBENCH_DATA to a folder that holds {wanted}")
    records, wanted = read_records(path), PUBLISHED[name_or_path]
    if records.content_hash != wanted:
        raise DataError(f"{path} is not the published {name_or_path!r}: content with the sha256 {wanted[:12]}… was wanted, "
                        f"{records.content_hash[:12]}… came; replace it")
    return records


def read_records(
    path: str | os.PathLike,
    fields: Sequence[str] | None = None,
    levels: Mapping[str, Sequence] | None = None,
    missing: Sequence[str] = ("",),
    multiplicity: str | None = None,
    name: str | None = None,
) -> Records:
    """The records in a CSV file with a header row, or in a Parquet file (``.parquet``, which needs pyarrow).

    Parameters
    ----------
    path : path
        A row a record, a column a field; an empty cell is missing. CSV may be gzipped; comma, semicolon or tab separate.
    fields : names of columns, default all
    levels, missing : see `workbench.records.columns.table_of_columns`
    multiplicity : str, optional
        The column that says how often each row stands.
    name : str, default from the file's name

    Rows of several lengths, a field that stands twice or is not there, a value that is no known level, what is not UTF-8 and
    no record at all are a DataError, with the file and, of CSV, the line.
    """
    path = Path(path)
    name = name or path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    options = {"name": name, "fields": fields, "levels": levels, "missing": missing, "multiplicity": multiplicity}
    try:
        if path.suffix.lower() in PARQUET:
            return Records.from_pandas(_parquet(path), **options)
        header, columns, lines = read_columns(path)
        refuse_repeated(header, "field", "the header")
        columns = dict(zip(header, columns, strict=True))
        return Records.from_columns(columns, where=lambda row: f"{path}, line {lines[row]}", **options)
    except DataError as error:
        raise error if str(error).startswith((f"{path}", "there is no file")) else DataError(f"{path}: {error}") from None


def _parquet(path: Path):
    """The DataFrame in a Parquet file."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise DataError(f"{path} is a Parquet file, which needs the package pyarrow; `pip install pyarrow`, or save the "
                        "records as CSV") from None
    import pandas

    read_bytes(path)  # what cannot be read has its own sentence
    try:
        return pandas.read_parquet(path)
    except Exception as error:  # whatever pyarrow makes of a damaged file
        raise DataError(f"{path} is a damaged Parquet file ({type(error).__name__}); fetch it again") from error
