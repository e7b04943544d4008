"""Provenance: which versions of the kernels computed which iterations of a run.

The first is among the versions that the run was made with, later ones are in `kernels.json`. A kernel that was edited may add
in another order, and a chain that it continues is then not that of an uninterrupted run.
"""

import platform
import re
from pathlib import Path

from workbench.kernels.jit import sources_hash
from workbench.runs.store.status import read_json, replace_json

KERNELS = sources_hash()
"""The hash of the kernels of this process."""


def c_library() -> str:
    """Name and version of the C library of this process, as glibc 2.36: it computes some of the functions that kernels call."""
    return " ".join(filter(None, platform.libc_ver())) or "unknown"


def machine() -> str:
    """The name of this machine, as part of a file's name."""
    return re.sub(r"[^\w.-]", "_", platform.node()) or "unnamed"


def provenance(path: Path, versions: dict[str, str]) -> list[list]:
    """[iteration after which they computed, hash of the kernels], in order; empty for a run from before this was recorded.

    versions : those that the run was made with; see `workbench.runs.dataset.versions`.
    """
    began = versions.get("kernels")
    return read_json(path / "kernels.json").get("made_by") or ([[0, began]] if began else [])


def record_provenance(path: Path, versions: dict[str, str], iteration: int) -> None:
    """Records that the kernels of this process compute what comes after the iteration, where others computed what is there."""
    known = provenance(path, versions)
    entries = [entry for entry in known if entry[0] < iteration]
    if not entries or entries[-1][1] != KERNELS:
        entries.append([iteration, KERNELS])
    if known and entries != known:
        replace_json(path / "kernels.json", {"made_by": entries})


def describe_provenance(entries: list[list]) -> str:
    """The provenance of a run in words, if kernels have changed: ``made by kernels 1a2b, 3c4d after iteration 20``."""
    if len(entries) < 2:
        return ""
    later = (f"{kernels} after iteration {n}" for n, kernels in entries[1:])
    return f"made by kernels {', '.join([entries[0][1], *later])}"


def other_kernels_warning(names: list[str]) -> str:
    """The sentence for runs that go on with other kernels than before; empty where there are none."""
    if not names:
        return ""
    were = f"run {names[0]!r} was" if len(names) == 1 else f"runs {', '.join(map(repr, names))} were"
    return (
        f"{were} made by other kernels than those that go on now: from here the numbers may differ from those of an "
        "uninterrupted run; fit anew under another name where that matters"
    )
