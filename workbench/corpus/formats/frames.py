"""Tables that pandas reads: Parquet with the package pyarrow, the first sheet of an Excel file with openpyxl.

They hold what a CSV file holds, see `workbench.corpus.formats.tables`; an empty cell is an empty text, a date is text
as 2024-07-31.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from workbench.corpus.corpus import CorpusError
from workbench.corpus.document_table import plain_value
from workbench.corpus.formats.interface import ReadOptions, Stream
from workbench.corpus.formats.tables import read_table, stream_table
from workbench.data.opening import read_bytes, refuse_device

ROWS = 4096
"""Number of rows of a Parquet file that are read at a time."""


class Frames:
    """A table format, Parquet or Excel, for reading only; see `workbench.corpus.formats.interface`."""

    CERTAIN, TAKES = True, ("columns", "columns of counts")

    def __init__(
        self, meaning: str, suffixes: tuple[str, ...], starts: re.Pattern[bytes], package: str
    ):
        self.MEANING, self.SUFFIXES, self._starts, self._package = (
            meaning,
            suffixes,
            starts,
            package,
        )

    def looks_like(self, start: bytes, read_options: ReadOptions) -> bool:
        """Return whether the first bytes are those of a file of this format."""
        return self._starts.match(start) is not None

    def read(self, path: Path, read_options: ReadOptions) -> dict:
        """Return a table's texts and other chosen columns, or its counts if it is a table of counts."""
        import pandas as pd

        with self._opening(path):
            read_bytes(path)  # what cannot be read, or is too large, has its own sentence
            frame = pd.read_excel(path, dtype=object) if self._is_excel else pd.read_parquet(path)
        header = _header(path, frame.columns)
        return read_table(
            path, read_options, header, _values(frame), list(range(2, len(frame) + 2))
        )

    def first_rows(self, path: Path, n: int):
        """Return the first rows as a DataFrame."""
        import pandas as pd

        with self._opening(path):
            if self._is_excel:
                return pd.read_excel(path, dtype=object, nrows=n)
            from pyarrow.parquet import ParquetFile

            file = ParquetFile(path)
            return next(file.iter_batches(n), file.schema_arrow.empty_table()).to_pandas()

    def stream(
        self, path: Path, read_options: ReadOptions, progress: Callable[[float], None]
    ) -> Stream | None:
        """Return a stream of what `read` would return; None for an Excel file, or if `read` needs all rows at once."""
        if self._is_excel:
            return None
        with self._opening(path):
            from pyarrow.parquet import ParquetFile

            refuse_device(path)
            header = _header(path, ParquetFile(path).schema_arrow.names)

        def pieces() -> Iterator[tuple[list[list[str]], list[int]]]:
            with self._opening(path), ParquetFile(path) as file:
                line = 2
                for batch in file.iter_batches(ROWS):
                    frame = batch.to_pandas()
                    yield _values(frame), list(range(line, line := line + len(frame)))
                    progress((line - 2) / file.metadata.num_rows)

        return stream_table(path, read_options, header, pieces())

    @property
    def _is_excel(self) -> bool:
        return self._package == "openpyxl"

    @contextmanager
    def _opening(self, path: Path) -> Iterator[None]:
        """Raise errors of the block, or the absence of the package that it needs, as a CorpusError of one sentence."""
        if find_spec(self._package) is None:
            raise CorpusError(
                f"{path} is {self.MEANING}, which needs the package {self._package}; `pip install "
                f"{self._package}`, or save the table as CSV"
            )
        try:
            yield
        except CorpusError:
            raise
        except Exception as error:
            raise CorpusError(
                f"{path} is damaged, or not {self.MEANING} ({type(error).__name__}); fetch it again"
            ) from None


def _header(path: Path, names: Iterable) -> list[str]:
    header = [str(name).strip() for name in names]
    if not header:
        raise CorpusError(f"{path} has no column; a table with a header was wanted")
    return header


def _values(frame) -> list[list[str]]:
    """Return the values of each column of a DataFrame as text."""
    return [
        [_text(value) for value in frame.iloc[:, column].tolist()]
        for column in range(frame.shape[1])
    ]


def _text(value: object) -> str:
    """Return a value as the text that a CSV file would contain."""
    plain = plain_value(value)
    whole = isinstance(plain, float) and plain.is_integer() and abs(plain) < 2**53
    return "" if plain is None else str(int(plain) if whole else plain)


parquet = Frames("a Parquet file", (".parquet", ".pq"), re.compile(b"PAR1"), "pyarrow")
excel = Frames(
    "an Excel file",
    (".xlsx", ".xlsm"),
    re.compile(rb"PK\x03\x04.*?(\[Content_Types\]\.xml|xl/|docProps/|_rels/)", re.DOTALL),
    "openpyxl",
)
