"""What the numbers come from: processor, cores, instruction sets, versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "workbench",
    "numpy",
    "numba",
    "llvmlite",
    "tomotopy",
    "lda",
    "scikit-learn",
    "gensim",
    "polyagamma",
    "scipy",
)
WIDE = ("sse4_2", "avx2", "avx512f", "asimd", "sve")
"""Instruction sets that decide how wide a vector is, narrowest first."""


def processor() -> str:
    """Model and vector instruction sets of the processor, as the system tells them."""
    told = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            told.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    flags = (told.get("flags") or told.get("Features") or "").split()
    family = (
        f" (family {told['cpu family']}, model {told['model']})" if "cpu family" in told else ""
    )
    wide = ", ".join(name for name in WIDE if name in flags) or platform.machine()
    return f"{told.get('model name') or platform.processor() or platform.machine()}{family}, {wide}"


def memory() -> str:
    """Memory of the machine."""
    try:
        return (
            f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB of memory"
        )
    except (ValueError, OSError):
        return "memory unknown"


def versions() -> dict[str, str]:
    """Package → version, of those that are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def described() -> dict[str, str]:
    """Everything about the machine, for a file beside the measurements."""
    try:
        import tomotopy

        isa = tomotopy.isa
    except ImportError:
        isa = "not installed"
    return {
        "machine": f"{processor()}; {os.cpu_count()} cores; {memory()}; {platform.system()}",
        "numba compiles for": os.environ.get("NUMBA_CPU_NAME") or "the processor it runs on",
        "tomotopy's instruction set": isa,
        "versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
    }
