"""Files that hold the rows of a group in a checkpoint: an npz that is replaced whole, no pickle."""

from pathlib import Path

import numpy as np

from workbench.data.saving import replacing
from workbench.errors import DataError

NAMES = "names"
"""The member that names all others: the archive has a checksum of what is in each, and none of what they are called."""


def write_part(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes the arrays to the file, or leaves it as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        np.savez(file, **arrays, **{NAMES: sorted(arrays)})


def read_part(path: Path) -> dict[str, np.ndarray]:
    """The arrays by name; a DataError where the file is missing or damaged."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        if set(found.pop(NAMES).tolist()) != set(found):
            raise ValueError("other members than were written")
        return found
    except Exception as error:  # whatever numpy and zipfile make of a damaged file
        raise DataError(f"{path} cannot be read ({error}); the run goes on from its start") from error
