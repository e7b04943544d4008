"""The arrays of one part of a corpus: in memory, or in files that are memory-mapped while the part is computed."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.data.arrays import sealed
from workbench.kernels.simd.vectors import aligned_copy


def read_ahead(folder: Path) -> None:
    """Ask the system to read the array files of a folder in the background, if it supports this."""
    if hasattr(os, "posix_fadvise"):
        for path in folder.rglob("*.npy"):
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)


class OwnRows:
    """The named arrays of one part, in memory or each in a file of a folder.

    An array in a file is memory-mapped when it is requested: changes are written to the file, and it uses memory until it is
    deleted.
    """

    def __init__(self, folder: Path | None):
        self._folder, self._held = folder, {}

    def put(self, arrays: dict[str, np.ndarray]) -> None:
        """Store arrays, given as name → array."""
        for name, array in arrays.items():
            if self._folder is None or not array.size:  # an empty file cannot be mapped
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
        """Return all arrays as a dict, to be changed in place; another thread may call `put` meanwhile."""
        return {
            name: self._mapped(name) if array is None else array
            for name, array in self._held.copy().items()
        }

    def _mapped(self, name: str) -> np.ndarray:
        return np.asarray(np.load(self._folder / f"{name}.npy", mmap_mode="r+"))

    def load(self, arrays: dict[str, np.ndarray]) -> None:
        """Store arrays read from a checkpoint, copied so that they are aligned for kernels."""
        self.put(
            {name: array if self._folder else aligned_copy(array) for name, array in arrays.items()}
        )


class Derived:
    """A cache of arrays computed from the documents of a part, in memory or in files."""

    def __init__(self, folder: Path | None):
        self._folder, self._held = folder, {}

    def get(self, name: str, make: Callable[[], NamedTuple]) -> NamedTuple:
        """Return the arrays of that name, computed by ``make`` at the first call; arrays in files are mapped, read-only."""
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
        except ValueError:  # an empty file cannot be mapped
            return sealed(np.load(path))
