"""Tables that pandas reads: Parquet with the package pyarrow, the first sheet of an Excel file with openpyxl.

They hold what a CSV file holds, see `workbench.corpus.tables`; an empty cell is an empty text, a date is text as 2024-07-31.
"""

import re
from importlib.util import find_spec
from pathlib import Path

from workbench.corpus.corpus import CorpusError
from workbench.corpus.document_table import plain_value
from workbench.corpus.formats import Asked
from workbench.corpus.tables import read_table
from workbench.data.opening import read_bytes


class Frames:
    """A format of tables, with what `workbench.corpus.formats` wants of one; it is read only."""

    def __init__(self, meaning: str, suffixes: tuple[str, ...], starts: re.Pattern[bytes], package: str):
        self.MEANING, self.SUFFIXES, self._starts, self._package = meaning, suffixes, starts, package

    def looks_like(self, start: bytes, asked: Asked) -> bool:
        """Whether the first bytes are those of such a file."""
        return self._starts.match(start) is not None

    def read(self, path: Path, asked: Asked) -> dict:
        """The chosen columns, or the counts where the columns say so."""
        import pandas as pd

        if find_spec(self._package) is None:
            raise CorpusError(f"{path} is {self.MEANING}, which needs the package {self._package}; `pip install "
                              f"{self._package}`, or save the table as CSV")
        read_bytes(path)  # what cannot be read, or is too large, has its own sentence
        try:
            frame = pd.read_parquet(path) if self._package == "pyarrow" else pd.read_excel(path, dtype=object)
        except Exception as error:  # whatever these packages make of a damaged file
            wrong = f"{path} is damaged, or not {self.MEANING} ({type(error).__name__}); fetch it again"
            raise CorpusError(wrong) from None
        header = [str(name).strip() for name in frame.columns]
        if not header:
            raise CorpusError(f"{path} has no column; a table with a header was wanted")
        values = [[_text(value) for value in frame.iloc[:, at].tolist()] for at in range(len(header))]
        return read_table(path, asked, header, values, list(range(2, len(frame) + 2)))


def _text(value) -> str:
    """A value as CSV would have it."""
    plain = plain_value(value)
    whole = isinstance(plain, float) and plain.is_integer() and abs(plain) < 2**53
    return "" if plain is None else str(int(plain) if whole else plain)


parquet = Frames("a Parquet file", (".parquet", ".pq"), re.compile(b"PAR1"), "pyarrow")
excel = Frames(
    "an Excel file", (".xlsx", ".xlsm"), re.compile(rb"PK\x03\x04.*?(\[Content_Types\]\.xml|xl/|docProps/|_rels/)", re.DOTALL),
    "openpyxl",
)
