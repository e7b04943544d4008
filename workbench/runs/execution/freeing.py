"""Freed arrays go back to the machine at once, so that what a run takes is what its arrays take.

The C library of Linux (glibc) maps a large array by itself and gives it back when it is freed; but each time that one is
freed it raises, up to 32 MiB, the size from which on it does so. Arrays below that stay with the process, in pieces that the
next ones do not fit: a run of arrays of 30 MiB then holds half as much again as it uses, and never twice the same.
"""

from __future__ import annotations

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""The numbers of the settings in malloc.h."""
FROM = 8 * 2**20
"""Bytes of an array from which on it is mapped by itself; below, pages that are used again cost less than new ones."""


def give_back_freed() -> None:
    """Has arrays from `FROM` bytes on given back as soon as they are freed; does nothing where the C library is another one."""
    mallopt = getattr(ctypes.pythonapi, "mallopt", None)
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, FROM)
        mallopt(TRIM_THRESHOLD, 2 * FROM)
