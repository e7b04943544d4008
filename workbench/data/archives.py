"""Arrays by name in an npz file that is replaced whole, holds no pickled objects, and says which arrays it has."""

from pathlib import Path

import numpy as np

from workbench.data.saving import replacing
from workbench.errors import DataError

NAMES = "names"
"""The member that names all others: the archive has a checksum of what is in each, and none of what they are called."""


def write_arrays(path: Path, arrays: dict) -> None:
    """Write arrays and numbers to the file, or leave it as it was."""
    with replacing(path) as file:
        np.savez(file, **arrays, **{NAMES: sorted(arrays)})


def read_arrays(
    path: Path, start: str = "", mend: str = "; write it again"
) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with ``start``; a DataError, ended by ``mend``, where the file is damaged."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            if not has_all(file):
                raise ValueError("other members than were written")
            return {
                name: file[name] for name in file.files if name != NAMES and name.startswith(start)
            }
    except Exception as error:  # whatever numpy and zipfile make of a damaged file
        raise DataError(f"{path} cannot be read ({error}){mend}") from error


def has_all(file) -> bool:
    """Return whether an open archive has exactly the members that it lists."""
    return NAMES in file.files and set(file[NAMES].tolist()) == set(file.files) - {NAMES}
