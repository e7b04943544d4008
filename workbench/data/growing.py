"""A one-dimensional .npy file that is written piece by piece, its length not known before."""

from pathlib import Path

import numpy as np


class GrowingArray:
    """An .npy file to which entries are appended; valid once it is closed.

    NumPy leaves space in the header for a length of 21 digits, so that the header is written anew in its place at the end.
    """

    def __init__(self, path: Path, dtype):
        self._dtype, self._n = np.dtype(dtype).newbyteorder("<"), 0
        self._file = open(path, "wb")  # noqa: SIM115  closed by close
        self._write_header()

    def add(self, entries) -> None:
        """Append entries, (entry,) numbers that the type can hold."""
        entries = np.ascontiguousarray(entries, self._dtype)
        if len(entries):
            self._file.write(entries)
        self._n += len(entries)

    def __len__(self) -> int:
        return self._n

    def close(self) -> None:
        """Write the length; a second call does nothing."""
        if self._file.closed:
            return
        try:
            self._file.seek(0)
            self._write_header()
        finally:
            self._file.close()

    def _write_header(self) -> None:
        about = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self._n,),
        }
        np.lib.format.write_array_header_1_0(self._file, about)
