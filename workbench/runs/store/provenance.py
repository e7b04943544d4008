"""Provenance: which versions of the kernels, and which kinds of machines, computed which iterations of a run.

The first are among the versions that the run was made with, others are in `kernels.json`. A kernel that was edited may add in
another order, another processor or C library may round otherwise, and a chain that is continued so is then not that of an
uninterrupted run.
"""

import platform
import re
from importlib.metadata import version
from pathlib import Path

import workbench
from workbench.kernels.jit import instruction_set, sources_hash
from workbench.runs.store.status import read_json, replace_json

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


def machine() -> str:
    """Return the name of this machine, in a form that a file's name can hold."""
    return re.sub(r"[^\w.-]", "_", platform.node()) or "unnamed"


def provenance(path: Path, versions: dict[str, str]) -> list[list]:
    """Return [iteration after which they computed, hash of the kernels], in order.

    versions : those that the run was made with; see `workbench.runs.recorded.versions`.
    """
    return read_json(path / "kernels.json").get("made_by") or [[0, versions["kernels"]]]


def computed_on(path: Path, versions: dict[str, str]) -> list[list]:
    """Return [iteration after which it computed, kind of processor, C library], in order."""
    return read_json(path / "kernels.json").get("computed_on") or [
        [0, versions["cpu"], versions["c_library"]]
    ]


def record_provenance(path: Path, versions: dict[str, str], iteration: int) -> None:
    """Record that this process computes from the iteration on, where other kernels or machines computed before."""
    known = {"made_by": provenance(path, versions), "computed_on": computed_on(path, versions)}
    mine = {"made_by": [KERNELS], "computed_on": [instruction_set(), c_library()]}
    continued = {
        name: _continued(entries, iteration, mine[name]) for name, entries in known.items()
    }
    changed = {name: entries for name, entries in continued.items() if entries != known[name]}
    if changed:
        replace_json(path / "kernels.json", read_json(path / "kernels.json") | changed)


def _continued(known: list[list], iteration: int, by: list[str]) -> list[list]:
    """Return the entries with one more where the maker changes; makers of no iteration are left out."""
    entries = [entry for entry in known if entry[0] < iteration]
    return entries if entries and entries[-1][1:] == by else [*entries, [iteration, *by]]


def describe_provenance(made_by: list[list], machines: list[list], versions: dict[str, str]) -> str:
    """Return the provenance of a run in words, "" where nothing changed since it was made.

    As in ``made by kernels 1a2b, 3c4d after iteration 20; computed on znver4 with glibc 2.36``.
    machines : from `computed_on`; versions : those that the run was made with.
    """
    first, clauses = [versions["cpu"], versions["c_library"]], []
    if len(made_by) > 1:
        clauses.append(f"made by kernels {_described(made_by)}")
    if len(machines) > 1 or machines[0][1:] != first:
        clauses.append(
            f"computed on {_described([[n, f'{cpu} with {library}'] for n, cpu, library in machines])}"
        )
    return "; ".join(clauses)


def _described(entries: list[list]) -> str:
    """Return the first maker, then each other with the iteration after which it computed."""
    return ", ".join([entries[0][1], *(f"{what} after iteration {n}" for n, what in entries[1:])])


def other_kernels_warning(names: list[str]) -> str:
    """Return the warning for runs that are resumed with other kernels than before; "" where there are none."""
    if not names:
        return ""
    were = (
        f"run {names[0]!r} was" if len(names) == 1 else f"runs {', '.join(map(repr, names))} were"
    )
    return (
        f"{were} computed with other kernels than those installed now: from here on the numbers may differ from those of "
        "an uninterrupted run; where that matters, fit again under another name"
    )
