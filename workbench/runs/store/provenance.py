"""Which kernels made a run: its versions tell those that it began with, `kernels.json` those that took it on later.

A kernel that was edited may add in another order, and a chain that it takes on is then not that of an uninterrupted run.
"""

from __future__ import annotations

from pathlib import Path

from workbench.kernels.jit import sources_hash
from workbench.runs.execution.control import read_json, replace_json

KERNELS = sources_hash()
"""Those of this process."""


def makers(path: Path, versions: dict[str, str]) -> list[list]:
    """[iteration after which they made it, hash of the kernels], in order; empty for a run from before this was recorded.

    versions : what the run began with; see `workbench.runs.dataset.versions`.
    """
    began = versions.get("kernels")
    return read_json(path / "kernels.json").get("made_by") or ([[0, began]] if began else [])


def take_on(path: Path, versions: dict[str, str], iteration: int) -> None:
    """Records that the kernels of this process make what comes after the iteration, where others made what is there."""
    known = makers(path, versions)
    made = [maker for maker in known if maker[0] < iteration]
    if not made or made[-1][1] != KERNELS:
        made.append([iteration, KERNELS])
    if known and made != known:
        replace_json(path / "kernels.json", {"made_by": made})


def taken_on(made: list[list]) -> str:
    """The makers of a run in words, if there were several: ``made by kernels 1a2b, 3c4d after iteration 20``."""
    if len(made) < 2:
        return ""
    return f"made by kernels {', '.join([made[0][1], *(f'{kernels} after iteration {n}' for n, kernels in made[1:])])}"


def taken_on_now(names: list[str]) -> str:
    """What is to be said when runs that other kernels made go on; empty where there are none."""
    if not names:
        return ""
    were = f"run {names[0]!r} was" if len(names) == 1 else f"runs {', '.join(map(repr, names))} were"
    return (
        f"{were} made by other kernels than those that go on now: from here the numbers may differ from those of an "
        "uninterrupted run; fit anew under another name where that matters"
    )
