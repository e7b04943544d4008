"""How kernels are compiled, and where the compiled code is kept between processes.

numba's cache notices an edit of the file that a function stands in, but not of the files it calls.
The cache folder is therefore named after a hash of the sources of every kernel and engine: after an
edit the old code is out of reach. `WORKBENCH_CACHE` moves the folder; the default is the user's.
"""

import hashlib
import os
import shutil
import time
from functools import cache
from pathlib import Path

import numba
from numba import njit
from platformdirs import user_cache_path

PACKAGE = Path(__file__).resolve().parent.parent
MONTH = 30 * 24 * 3600


@cache
def sources_hash() -> str:
    """Twelve hex digits that change with any line of any kernel or engine."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted([*PACKAGE.glob("kernels/*.py"), *PACKAGE.glob("engines/*.py")]):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _point_cache_at_sources() -> None:
    """Sets numba's cache folder and drops the folders that no process has used for a month."""
    home = Path(os.environ.get("WORKBENCH_CACHE") or user_cache_path("workbench")) / "kernels"
    folder = home / sources_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for other in home.iterdir():
            if other.stat().st_mtime < time.time() - MONTH:
                shutil.rmtree(other, ignore_errors=True)
    except OSError:  # a read-only home: numba compiles afresh in each process
        return
    numba.config.CACHE_DIR = str(folder)


_point_cache_at_sources()

kernel = njit(cache=True, nogil=True, error_model="numpy")
"""Decorator of every compiled function: cached, without the interpreter lock, without division checks."""

lean = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
"""The same for a kernel that allocates nothing: it counts no references to its arrays, which costs two atomic steps whenever
an array is handed to another function."""
