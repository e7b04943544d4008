"""Versions of what computes a run: packages, kernels, processor, C library."""

import platform
from importlib.metadata import version

import workbench
from workbench.kernels.jit import instruction_set, sources_hash

KERNELS = sources_hash()
"""The hash of the kernels of this process."""


def c_library() -> str:
    """Return name and version of the C library of this process, as glibc 2.36; kernels call some of its functions."""
    return " ".join(filter(None, platform.libc_ver())) or "unknown"


def versions() -> dict[str, str]:
    """Return the versions that a run made now records; none of them names the machine.

    ``kernels`` is a hash of their sources, ``cpu`` the kind of processor that they are compiled for.
    """
    return {
        "workbench": workbench.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{name: version(name) for name in ("numpy", "numba", "xarray", "zarr")},
        "kernels": KERNELS,
        "cpu": instruction_set(),
        "c_library": c_library(),
    }
