"""How kernels are compiled, and where the compiled code is kept between processes.

numba's cache notices an edit of the file that a function stands in, but not of the files it calls.
The cache folder is therefore named after a hash of the sources of every kernel and engine: after an
edit the old code is out of reach. `WORKBENCH_CACHE` moves the folder; the default is the user's.

numba compiles a function three times over: by itself, within every function that calls it, and twice for callers from Python
and from C. Kernels have no use for most of that, so their libraries and passes are their own.
"""

import hashlib
import os
import shutil
import time
from pathlib import Path

import numba
from numba import _dynfunc, njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.typed_passes import NativeLowering
from platformdirs import user_cache_path

PACKAGE = Path(__file__).resolve().parent.parent
MONTH = 30 * 24 * 3600


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


class KernelLibrary(JITCodeLibrary):
    """Machine code of a kernel, optimised once and with all its parts in it; numba does so in three rounds."""

    def _optimize_functions(self, module):
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class KernelCompiler(Compiler):
    """The passes of numba, into a `KernelLibrary`."""

    def define_pipelines(self):
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


class PartLibrary(KernelLibrary):
    """Of a function that only kernels call: the code as it was written, for each of them to optimise; no machine code."""

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerPart(LoweringPass):
    """`NativeLowering` into a `PartLibrary`. Kernels know a function by its entrance from Python; this one leads nowhere."""

    _name = "part_lowering"

    def __init__(self):
        super().__init__()

    def run_pass(self, state):
        name = state.func_id.func_name
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        NativeLowering().run_pass(state)
        lowered = state.cr
        entrance = _dynfunc.make_function(lowered.fndesc.lookup_module(), name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(entrance, lowered.fndesc, [state.library])
        state.cr = lowered._replace(cfunc=entrance)
        return True


class PartCompiler(Compiler):
    """The passes of numba, with `LowerPart` in the place of `NativeLowering`."""

    def define_pipelines(self):
        (passes,) = super().define_pipelines()
        found = PassManager(passes.pipeline_name)
        for each, told in passes.passes:
            found.add_pass(LowerPart if each is NativeLowering else each, told)
        found.finalize()
        return [found]


OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

kernel = njit(**OPTIONS, cache=True, pipeline_class=KernelCompiler)
"""Decorator of every compiled function: cached, without the interpreter lock, without division checks."""

lean = njit(**OPTIONS, cache=True, pipeline_class=KernelCompiler, _nrt=False)
"""The same for a kernel that allocates nothing: it counts no references to its arrays, which costs two atomic steps whenever
an array is handed to another function."""
