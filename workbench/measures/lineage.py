"""Lineage of runs: which run began from the counts of which."""

from typing import NamedTuple

from workbench.measures.selection import each_run, grouped, spec_of
from workbench.runs.spec import RunSpec


class Edge(NamedTuple):
    """A run that began from the counts of another one."""

    run: str  # name of the run that began
    parent: str  # name of the run whose counts it took
    hash: str  # hash of the parent's spec
    iteration: int  # of the parent, when its counts were taken
    dropped: float  # share of the parent's tokens whose topics were not taken
    known: bool  # is the parent among the runs?

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
    return edges_of([(run.attrs["name"], spec_of(run)) for run in each_run(runs)])


def edges_of(specs: list[tuple[str, RunSpec]]) -> list[Edge]:
    """The same of names and specs of runs."""
    names, edges = {spec.hash: name for name, spec in specs}, []
    for name, start in ((name, spec.start) for name, spec in specs if spec.start):
        parent, known = start["name"], start["hash"] in names
        parent = (
            names[start["hash"]]
            if known
            else f"{parent} ({start['hash'][:8]})"
            if parent in names.values()
            else parent
        )
        edges.append(
            Edge(
                name,
                parent,
                start["hash"],
                int(start["iteration"]),
                float(start.get("dropped", 0.0)),
                known,
            )
        )
    return edges


def descent(edges: list[Edge]) -> list[tuple[str, int, Edge | None]]:
    """(name, generation, edge to the parent) of each run with a parent or a child, every run below the one it began from."""
    begun = {edge.run: edge for edge in edges}
    children = grouped([edge.parent for edge in edges], [edge.run for edge in edges])
    found: list[tuple[str, int, Edge | None]] = []
    waiting = [(name, 0) for name in reversed(children) if name not in begun]
    while waiting:
        name, generation = waiting.pop()
        found.append((name, generation, begun.get(name)))
        waiting += [(child, generation + 1) for child in reversed(children.get(name, []))]
    return found
