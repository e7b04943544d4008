"""The texts of documents as they were read, and the other columns of their file.

The content hash of a corpus leaves the table out; that of a run has it if the model reads columns. A store keeps it in a
separate file for all runs.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from workbench.data.saving import LEVEL, refused_by_system, replacing
from workbench.errors import DataError, nearest_or_all

SUFFIX = ".documents.json.gz"
COPIES = 3
"""Copies of a file's JSON while it is loaded: as bytes, as text and as values."""
VALUE_BYTES = 72
"""Estimated bytes of a value, besides its letters."""


@dataclass(frozen=True, eq=False)
class DocumentTable:
    """The texts and other columns read together with the documents, one row per document.

    Parameters
    ----------
    columns : name → (document,) strings, finite numbers or None
        Anything else is kept as text; NaN as None.
    text : str, optional
        The column with the texts.
    counted : name → value
        The options of `workbench.corpus.texts.counting.count_words` with which the texts were counted; of a
        tokenizer only that there was one.

    Raise DataError if columns differ in length, if there are none, or if the text column is missing.
    """

    columns: Mapping[str, tuple]
    text: str | None = None
    counted: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self):
        columns = {
            str(name): tuple(map(plain_value, values)) for name, values in self.columns.items()
        }
        object.__setattr__(self, "columns", columns)
        if len({len(values) for values in columns.values()}) != 1:
            raise DataError(
                f"the columns of documents must have one length; they have "
                f"{', '.join(f'{name!r} {len(values)}' for name, values in columns.items()) or 'none'}"
            )
        if self.text is not None and self.text not in columns:
            raise DataError(
                f"there is no column {self.text!r} of texts; there are {', '.join(map(repr, columns))}"
            )

    @property
    def n_documents(self) -> int:
        """Number of documents: one per row."""
        return len(next(iter(self.columns.values())))

    @property
    def texts(self) -> tuple | None:
        """The original texts (document,); None if they were not kept."""
        return None if self.text is None else self.columns[self.text]

    @property
    def metadata(self) -> dict[str, tuple]:
        """All columns (document,) except the texts, keyed by name."""
        return {name: values for name, values in self.columns.items() if name != self.text}

    def column(self, name: str) -> tuple:
        """Return one column (document,); for an unknown name raise an error that suggests similar ones."""
        if name not in self.columns:
            raise DataError(
                f"documents have no column {name!r}; {nearest_or_all(name, list(self.columns))}"
            )
        return self.columns[name]

    def of_documents(self, documents: Iterable[int]) -> "DocumentTable":
        """Return the rows of these documents, in this order."""
        rows = list(documents)
        columns = {
            name: tuple(values[row] for row in rows) for name, values in self.columns.items()
        }
        return DocumentTable(columns, self.text, self.counted)

    @cached_property
    def _content(self) -> bytes:
        content = {"text": self.text, "counted": dict(self.counted), "columns": self.columns}
        return json.dumps(content, ensure_ascii=True, allow_nan=False).encode()

    @property
    def memory_bytes(self) -> int:
        """Return an upper estimate of the bytes needed to load the table."""
        return COPIES * len(self._content) + VALUE_BYTES * self.n_documents * len(self.columns)

    @cached_property
    def content_hash(self) -> str:
        """The sha256 (hex) of all columns and settings."""
        return hashlib.sha256(self._content).hexdigest()

    def save(self, folder: str | Path) -> Path:
        """Write the table to a compressed file named by its content hash, unless that exists; return the path."""
        path = Path(folder) / f"{self.content_hash}{SUFFIX}"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.write(gzip.compress(self._content, LEVEL, mtime=0))
        return path

    @classmethod
    def load(cls, path: str | Path, mend: str = "save it again") -> "DocumentTable":
        """Return the table in a file that `save` wrote; raise DataError if the file is missing, unreadable or damaged.

        mend : the advice at the end of the message about a damaged file
        """
        path = Path(path)
        try:
            content = gzip.decompress(path.read_bytes())
            if hashlib.sha256(content).hexdigest() != path.name.removesuffix(SUFFIX):
                raise ValueError("other content than its name says")
            return cls(**json.loads(content))
        except FileNotFoundError:
            raise DataError(f"there is no file {path}; check the path") from None
        except Exception as error:  # whatever gzip, JSON and the type make of a damaged file
            if refused_by_system(error):
                raise DataError(f"{path} cannot be read: {error.strerror}") from error
            raise DataError(f"{path} is damaged ({type(error).__name__}); {mend}") from error


def plain_value(value: object):
    """Return the value as a type that JSON has: text, a finite number, a bool or None."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else value if abs(value) != float("inf") else str(value)
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    if hasattr(value, "isoformat"):
        return None if str(value) == "NaT" else iso(value)
    return None if str(value) in ("<NA>", "NaT") else str(value)


def iso(moment) -> str:
    """Return a date as "2024-07-31", or as "2024-07-31T12:30:00" if it has a time of day."""
    return moment.isoformat().removesuffix("T00:00:00")
