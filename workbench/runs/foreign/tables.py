"""Readers of topics as tables: theta and phi as arrays, as an npz file, or as CSV with words as column names of phi."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from workbench.errors import shown
from workbench.runs.foreign.foreign_model import ForeignError, ForeignModel, one_per_topic

ENGINE = "tables"
NUMBERS = ("", "topic", "document", "title", "unnamed: 0")
"""Headers, in lower case, of a first column that contains the names of rows."""


def read_array(phi) -> ForeignModel:
    """Return the model given by phi as an array, or as a DataFrame whose column names are the words."""
    words = None
    if isinstance(phi, pd.DataFrame):
        words, phi = tuple(map(str, phi.columns)), phi.to_numpy()
    return ForeignModel(ENGINE, "theta and phi", phi, words)


def read_npz(path: Path) -> ForeignModel:
    """Return the model in an npz file that has an array ``phi`` (topic, word).

    It may also have ``theta`` (document, topic), ``words``, ``titles``, ``alpha`` and ``beta``."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {
                name: file[name]
                for name in file.files
                if name in ("phi", "theta", "words", "titles", "alpha", "beta")
            }
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise ForeignError(
            f"{path} cannot be read ({shown(error)}); write it with numpy.savez, texts as text and not as "
            "objects"
        ) from error
    if "phi" not in arrays:
        raise ForeignError(
            f"{path} holds theta and phi by these names; it has {', '.join(arrays) or 'neither'}; write it "
            "with numpy.savez(file, theta=…, phi=…, words=…)"
        )
    words, titles = (
        tuple(map(str, arrays[name])) if name in arrays else None for name in ("words", "titles")
    )
    return ForeignModel(
        ENGINE,
        path.name,
        arrays["phi"],
        words,
        arrays.get("theta"),
        titles=titles,
        topic_prior=one_per_topic(arrays["alpha"], len(arrays["phi"]))
        if "alpha" in arrays
        else None,
        word_prior=float(np.ravel(arrays["beta"])[0]) if "beta" in arrays else None,
    )


def read_csv(path: Path) -> ForeignModel:
    """Return the model in a CSV file of phi: a line per topic, a column per word.

    A first column of topic numbers is ignored.
    """
    table, _ = read_table(path)
    return ForeignModel(ENGINE, path.name, table.to_numpy(), tuple(map(str, table.columns)))


def read_table(path: Path) -> tuple[pd.DataFrame, tuple[str, ...] | None]:
    """Return the numbers in a CSV file, and the names of the rows (None without names)."""
    try:
        head = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False)
        table = pd.read_csv(path, header=None, skiprows=1, keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:
        raise ForeignError(
            f"{path} cannot be read as a CSV file ({shown(error)}); give names of columns, then lines of "
            "numbers"
        ) from error
    if head.shape[1] != table.shape[1]:
        raise ForeignError(
            f"{path} has {head.shape[1]} names of columns and {table.shape[1]} columns; give one name for each"
        )
    table.columns, titles = head.iloc[0].tolist(), None
    if str(table.columns[0]).lower() in NUMBERS:
        titles, table = names_of_rows(table.iloc[:, 0]), table.iloc[:, 1:]
    texts = [name for name, kind in table.dtypes.items() if kind.kind not in "iuf"]
    if texts:
        raise ForeignError(
            f"{path} has a cell that is no number in the column {shown(texts[0])!r}; give probabilities"
        )
    return table, titles


def names_of_rows(index: pd.Index | pd.Series) -> tuple[str, ...] | None:
    """Return the names of a table's rows; None if all are numbers, or some repeat."""
    names = tuple(map(str, index))
    return (
        names
        if len(set(names)) == len(names) and not all(name.isdigit() for name in names)
        else None
    )
