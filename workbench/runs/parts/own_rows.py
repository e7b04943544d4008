"""The arrays of a part of a corpus: in memory, or in files that are mapped while it is worked on."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.data.arrays import sealed
from workbench.kernels.simd.vectors import aligned_copy


def read_ahead(folder: Path) -> None:
    """Ask the system to read the arrays of a folder while something else is computed; nothing where it cannot be asked."""
    if hasattr(os, "posix_fadvise"):
        for path in folder.rglob("*.npy"):
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)


class OwnRows:
    """Arrays by name, in memory or, given a folder, in a file each.

    An array of a file is mapped where it is asked for: what is written into it is kept, and it takes memory until it is let go.
    """

    def __init__(self, folder: Path | None):
        self._folder, self._held = folder, {}

    def put(self, arrays: dict[str, np.ndarray]) -> None:
        """Keep the arrays under their names, for good."""
        for name, array in arrays.items():
            if self._folder is None or not array.size:  # a file of no bytes cannot be mapped
                self._held[name] = array
                continue
            there = name in self._held and self._held[name] is None
            if not there or self._mapped(name).shape != array.shape:
                self._folder.mkdir(parents=True, exist_ok=True)
                np.lib.format.open_memmap(
                    self._folder / f"{name}.npy", "w+", array.dtype, array.shape
                )
                self._held[name] = None
            self._mapped(name)[...] = array

    def get(self) -> dict[str, np.ndarray]:
        """Return the arrays by name, to be read and written; another thread may put arrays meanwhile."""
        return {
            name: self._mapped(name) if array is None else array
            for name, array in self._held.copy().items()
        }

    def _mapped(self, name: str) -> np.ndarray:
        return np.asarray(np.load(self._folder / f"{name}.npy", mmap_mode="r+"))

    def load(self, arrays: dict[str, np.ndarray]) -> None:
        """Put arrays of a file, aligned for kernels."""
        self.put(
            {name: array if self._folder else aligned_copy(array) for name, array in arrays.items()}
        )


class Derived:
    """What is derived from the documents of a part, as NamedTuples of arrays: made once, in memory or in files of a folder."""

    def __init__(self, folder: Path | None):
        self._folder, self._held = folder, {}

    def get(self, name: str, make: Callable[[], NamedTuple]) -> NamedTuple:
        """Return the arrays of that name, by ``make`` where they are not there yet; those of files are mapped, read-only."""
        if name not in self._held:
            values = make()
            if self._folder is None:
                self._held[name] = values
                return values
            self._folder.mkdir(parents=True, exist_ok=True)
            for field, value in values._asdict().items():
                np.save(self._folder / f"{name}-{field}.npy", value)
            self._held[name] = type(values)
        kind = self._held[name]
        return (
            kind(*map(partial(self._mapped, name), kind._fields))
            if isinstance(kind, type)
            else kind
        )

    def _mapped(self, name: str, field: str) -> np.ndarray:
        path = self._folder / f"{name}-{field}.npy"
        try:
            return np.asarray(np.load(path, mmap_mode="r"))
        except ValueError:  # a file of no bytes cannot be mapped
            return sealed(np.load(path))
