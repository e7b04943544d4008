"""Decorators that compile kernels, and the folder in which the compiled code is cached between processes.

numba's cache notices an edit of the file of a function, but not of the files of functions that it calls. The cache folder is
therefore named after a hash of the sources of all kernels and engines, so that after an edit the old code is not used.
`WORKBENCH_CACHE` sets the folder; the default is the user's cache folder.
"""

import gc
import hashlib
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
from platformdirs import user_cache_path

PACKAGE = Path(__file__).resolve().parent.parent
MONTH = 30 * 24 * 3600


@cache
def sources_hash(package: Path = PACKAGE) -> str:
    """Return a hash (twelve hex digits) of the paths and contents of all source files of ``kernels`` and ``engines``."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(
        path for folder in ("kernels", "engines") for path in (package / folder).rglob("*.py")
    ):
        source = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()} {len(source)} ".encode() + source)
    return digest.hexdigest()[:12]


def instruction_set() -> str:
    """Return LLVM's name of the processor that kernels are compiled for; another one may round sums differently."""
    return numba.config.CPU_NAME or binding.get_host_cpu_name()


def _point_cache_at_sources() -> None:
    """Set numba's cache folder to one for this source code; delete folders unused for a month."""
    home = Path(os.environ.get("WORKBENCH_CACHE") or user_cache_path("workbench")) / "kernels"
    folder = home / sources_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for version in home.iterdir():
            if version.stat().st_mtime < time.time() - MONTH:
                shutil.rmtree(version, ignore_errors=True)
    except OSError:  # a read-only home: numba compiles again in each process
        return
    numba.config.CACHE_DIR = str(folder)


_point_cache_at_sources()


class Undisturbed(event.Listener):
    """Numba event listener that switches off Python's garbage collector during compilation, which makes it a tenth shorter.

    Compilations nest: a function is compiled within that of its caller. numba's lock lets one thread compile at a time.
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
"""Options of every kernel: it releases the GIL, does not check division by 0, and has no wrapper for callers from C."""

kernel = njit(**OPTIONS, cache=True)
"""Decorator of a compiled function that is called from Python; the compiled code is cached."""

lean = njit(**OPTIONS, cache=True, _nrt=False)
"""`kernel` without reference counting, for functions that allocate nothing: it saves two atomic operations whenever an array
is passed to another function."""

small = njit(**OPTIONS, cache=True, _nrt=False, forceinline=True)
"""`lean` for functions that other kernels call for every token: they are inlined into each caller."""

PART_OPTIONS = OPTIONS | {"nopython": True, "_nrt": False, "no_cpython_wrapper": True}


class Part(CPUDispatcher):
    """A compiled function that can be called from kernels only, as it has no wrapper for Python.

    The wrapper would take most of the time to compile a small function. A `Part` is compiled once per signature, where numba
    compiles other functions again for callers with other options, or for each literal number in a call.
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
    """Decorate a function to be inlined into each kernel that calls it; the function must not allocate memory."""
    return Part(function, targetoptions=PART_OPTIONS | {"forceinline": True})


def aside(function) -> Part:
    """Decorate a function that kernels call seldom, so that it is compiled separately and not inlined."""
    return Part(function, targetoptions=dict(PART_OPTIONS))


def fused(function) -> Part:
    """Decorate a function with sums of products, compiled to fused multiply-add instructions (one rounding)."""
    return Part(function, targetoptions=PART_OPTIONS | {"fastmath": {"contract"}})
