"""Lineage of runs: which run began from the counts of which."""

from __future__ import annotations

from typing import NamedTuple

from workbench.measures.selection import each_run, spec_of


class Edge(NamedTuple):
    """A run that began from the counts of another one."""

    run: str           # name of the run that began
    parent: str        # name of the run whose counts it took
    hash: str          # hash of the parent's spec
    iteration: int     # of the parent, when its counts were taken
    dropped: float     # share of the parent's tokens whose topics were not taken
    known: bool        # is the parent among the runs?

    @property
    def text(self) -> str:
        """As ``from kos-cgs-k8-1a2b3c4d, iteration 50``."""
        lost = f", {100 * self.dropped:.2g} % of its tokens left behind" if self.dropped else ""
        return f"from {self.parent}, iteration {self.iteration}{lost}"


def lineage(runs) -> list[Edge]:
    """An edge for each run that began from another one, in the order of the runs.

    The parent is known by the hash of its spec: where it is among the runs, ``parent`` is its name there. Where another run
    has the name of one that is not, the first digits of its hash stand behind that name.
    """
    runs = each_run(runs)
    names = {spec_of(run).hash: run.attrs["name"] for run in runs}

    def name_of(start: dict) -> str:
        other = start["name"] in names.values()
        return names.get(start["hash"]) or start["name"] + f" ({start['hash'][:8]})" * other

    starts = [(run.attrs["name"], spec_of(run).start) for run in runs]
    return [
        Edge(name, name_of(start), start["hash"], int(start["iteration"]), float(start.get("dropped", 0.0)),
             start["hash"] in names)
        for name, start in starts if start
    ]
