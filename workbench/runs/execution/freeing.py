"""Make the C library return freed arrays to the operating system at once, so that a run holds only its live arrays.

The C library of Linux (glibc) maps a large array by itself and gives it back when it is freed; but each time that one is
freed it raises, up to 32 MiB, the size from which on it does so. Arrays below that stay with the process, in pieces that the
next ones do not fit: a run of arrays of 30 MiB then holds half as much again as it uses, and another amount each time.
"""

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Numbers of the settings in malloc.h."""
SMALLEST_MAPPED = 8 * 2**20
"""Bytes of an array from which on it is mapped by itself; below, pages that are used again cost less than new ones."""


def give_back_freed() -> None:
    """Return arrays of at least `SMALLEST_MAPPED` bytes to the system once they are freed; without glibc do nothing."""
    mallopt = getattr(ctypes.pythonapi, "mallopt", None)
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, SMALLEST_MAPPED)
        mallopt(TRIM_THRESHOLD, 2 * SMALLEST_MAPPED)
