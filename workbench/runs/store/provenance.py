"""Provenance of a run: which versions of the kernels, and which kinds of machines, computed which iterations.

The first ones are among the versions in the run's attributes, later ones are in `kernels.json`. An edited kernel may add in
another order, and another processor or C library may round differently; the chain then differs from that of an uninterrupted
run.
"""

import platform
import re
from importlib.metadata import version
from pathlib import Path

import workbench
from workbench.kernels.jit import instruction_set, sources_hash
from workbench.runs.store.status import read_json, replace_json

KERNELS = sources_hash()
"""The hash of the sources of this process's kernels."""


def c_library() -> str:
    """Return name and version of this process's C library, as "glibc 2.36"; kernels call its mathematical functions."""
    return " ".join(filter(None, platform.libc_ver())) or "unknown"


def versions() -> dict[str, str]:
    """Return the software versions and the kind of processor that a new run records, as a dict.

    ``kernels`` is a hash of the sources of the kernels, ``cpu`` the kind of processor that they are compiled for.
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
    """Return this machine's name, with only characters that file names allow."""
    return re.sub(r"[^\w.-]", "_", platform.node()) or "unnamed"


def provenance(path: Path, versions: dict[str, str]) -> list[list]:
    """Return the kernels (compiled code) that computed a run: a list of [iteration after which they were used, hash].

    versions : the versions with which the run was created
    """
    return read_json(path / "kernels.json").get("made_by") or [[0, versions["kernels"]]]


def computed_on(path: Path, versions: dict[str, str]) -> list[list]:
    """Return the machines that computed a run: a list of [iteration after which it was used, processor, C library]."""
    return read_json(path / "kernels.json").get("computed_on") or [
        [0, versions["cpu"], versions["c_library"]]
    ]


def record_provenance(path: Path, versions: dict[str, str], iteration: int) -> None:
    """Record that this process computes a run from an iteration on, if kernels or machine differ from before."""
    entries_by_name = {
        "made_by": provenance(path, versions),
        "computed_on": computed_on(path, versions),
    }
    own_entry = {"made_by": [KERNELS], "computed_on": [instruction_set(), c_library()]}
    new_entries = {
        name: _continued(entries, iteration, own_entry[name])
        for name, entries in entries_by_name.items()
    }
    changed = {
        name: entries for name, entries in new_entries.items() if entries != entries_by_name[name]
    }
    if changed:
        replace_json(path / "kernels.json", read_json(path / "kernels.json") | changed)


def _continued(old_entries: list[list], iteration: int, computer: list[str]) -> list[list]:
    """Return a provenance list up to an iteration, with [iteration, *computer] appended if it differs from the last."""
    entries = [entry for entry in old_entries if entry[0] < iteration]
    return (
        entries if entries and entries[-1][1:] == computer else [*entries, [iteration, *computer]]
    )


def describe_provenance(made_by: list[list], machines: list[list], versions: dict[str, str]) -> str:
    """Return the provenance of a run in words; "" if it did not change since the run was created.

    Example: ``made by kernels 1a2b, 3c4d after iteration 20; computed on znver4 with glibc 2.36``.
    machines : from `computed_on`; versions : the versions with which the run was created
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
    """Return a provenance list as text: the first entry, then each later one with its iteration."""
    return ", ".join([entries[0][1], *(f"{name} after iteration {n}" for n, name in entries[1:])])


def other_kernels_warning(names: list[str]) -> str:
    """Return a warning that the named runs resume with other kernels than before; "" if no run is named."""
    if not names:
        return ""
    subject = (
        f"run {names[0]!r} was" if len(names) == 1 else f"runs {', '.join(map(repr, names))} were"
    )
    return (
        f"{subject} computed with other kernels than those installed now: from here on the numbers may differ from those of "
        "an uninterrupted run; where that matters, fit again under another name"
    )
