"""Decorators that compile kernels, and the folder in which the compiled code is cached between processes.

numba's cache notices an edit of the file that a function stands in, but not of the files it calls.
The cache folder is therefore named after a hash of the sources of every kernel and engine: after an
edit the old code is out of reach. `WORKBENCH_CACHE` moves the folder; the default is the user's.
"""

import gc
import hashlib
import importlib
import os
import shutil
import time
from functools import cache
from pathlib import Path

import numba
from llvmlite import binding
from numba import njit, types
from numba.core import event
from numba.core.registry import CPUDispatcher
from numba.np import linalg
from platformdirs import user_cache_path

PACKAGE = Path(__file__).resolve().parent.parent
MONTH = 30 * 24 * 3600


@cache
def sources_hash(package: Path = PACKAGE) -> str:
    """Return twelve hex digits that change with any line and path of a source of ``kernels`` or ``engines``."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(
        path for folder in ("kernels", "engines") for path in (package / folder).rglob("*.py")
    ):
        source = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()} {len(source)} ".encode() + source)
    return digest.hexdigest()[:12]


def instruction_set() -> str:
    """Return the processor that kernels are compiled for, as LLVM calls it; on another one sums may be rounded differently."""
    return numba.config.CPU_NAME or binding.get_host_cpu_name()


def _point_cache_at_sources() -> None:
    """Set numba's cache folder and drop the folders that no process has used for a month."""
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


def _import_without_blas() -> None:
    """Import numba's arrays without `scipy.linalg`, which they import only to see whether it is there: a tenth of a start.

    `ensure_blas` is numba's own: where a version does not have it, the import is the usual one (tests/kernels/test_jit.py).
    """
    check = getattr(linalg, "ensure_blas", None)
    if check is None:
        return
    linalg.ensure_blas = lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = check


_import_without_blas()


class Undisturbed(event.Listener):
    """Pauses Python's garbage collection while numba compiles: a tenth of the time went into it.

    A function is compiled within the compiling of its caller; numba's own lock leaves that to one thread at a time.
    """

    depth, enabled = 0, True

    def on_start(self, event):
        if self.depth == 0:
            self.enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0 and self.enabled:
            gc.enable()


event.register("numba:compile", Undisturbed())

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""No interpreter lock, no checks of division by 0, no wrapper for callers from C."""

kernel = njit(**OPTIONS, cache=True)
"""Decorator of every compiled function that is called from Python: it is cached."""

lean = njit(**OPTIONS, cache=True, _nrt=False)
"""The same for a kernel that allocates nothing: it counts no references to its arrays, which costs two atomic steps whenever
an array is passed to another function."""

small = njit(**OPTIONS, cache=True, _nrt=False, forceinline=True)
"""The same for what other kernels call for every token: it is compiled into each, for whatever processor that is compiled."""

PART_OPTIONS = OPTIONS | {"nopython": True, "_nrt": False, "no_cpython_wrapper": True}


class Part(CPUDispatcher):
    """A compiled function that only kernels call: a wrapper for Python would take most of the time to compile a small one.

    It is compiled once for a signature, where what numba registers for use in compiled code is compiled again for callers
    of other options, and what is called from Python too for each number that is written out in a call.
    """

    def get_call_template(self, arguments, keywords):
        return super().get_call_template(
            [types.unliteral(argument) for argument in arguments], keywords
        )

    def add_overload(self, compiled):
        self.overloads[tuple(compiled.signature.args)] = compiled

    def _compile_for_args(self, *arguments, **keywords):
        raise TypeError(
            f"{self.__name__} is compiled into kernels and has no wrapper for Python; call it from a kernel"
        )


def inlined(function) -> Part:
    """Decorate a function that is compiled into each kernel; it allocates nothing and counts no references."""
    return Part(function, targetoptions=PART_OPTIONS | {"forceinline": True})


def aside(function) -> Part:
    """Decorate a compiled function that kernels seldom need: called, not inlined."""
    return Part(function, targetoptions=dict(PART_OPTIONS))


def fused(function) -> Part:
    """Decorate a compiled function that kernels call for sums of products: each product is added with one rounding."""
    return Part(function, targetoptions=PART_OPTIONS | {"fastmath": {"contract"}})
