"""Lineage of runs: which run was warm-started from which."""

from typing import NamedTuple

from workbench.measures.selection import Runs, each_run, grouped, spec_of
from workbench.runs.spec import RunSpec


class Edge(NamedTuple):
    """A run that was warm-started from the counts of another one."""

    run: str  # name of the warm-started run
    parent: str  # name of the run with the initial counts
    hash: str  # hash of the parent's spec
    iteration: int  # of the parent, at which its counts were used
    dropped: float  # share of the parent's tokens in topics that were dropped
    known: bool  # whether the parent is among the runs

    @property
    def text(self) -> str:
        """Return a text such as ``from kos-cgs-k8-1a2b3c4d, iteration 50``."""
        lost = f", {100 * self.dropped:.2g} % of its tokens dropped" if self.dropped else ""
        return f"from {self.parent}, iteration {self.iteration}{lost}"


def lineage(runs: Runs) -> list[Edge]:
    """Return an edge for each run that was warm-started from another one, in the order of the runs.

    The parent is identified by the hash of its spec; if it is among the runs, ``parent`` is its name there. If it is not and
    another run has its name, the first digits of its hash are appended.
    """
    return edges_of([(run.attrs["name"], spec_of(run)) for run in each_run(runs)])


def edges_of(specs: list[tuple[str, RunSpec]]) -> list[Edge]:
    """Return the edges of `lineage` from names and specs of runs."""
    names, edges = {spec.hash: name for name, spec in specs}, []
    for name, warm_start in ((name, spec.start) for name, spec in specs if spec.start):
        parent, known = warm_start["name"], warm_start["hash"] in names
        parent = (
            names[warm_start["hash"]]
            if known
            else f"{parent} ({warm_start['hash'][:8]})"
            if parent in names.values()
            else parent
        )
        edges.append(
            Edge(
                name,
                parent,
                warm_start["hash"],
                int(warm_start["iteration"]),
                float(warm_start.get("dropped", 0.0)),
                known,
            )
        )
    return edges


def descent(edges: list[Edge]) -> list[tuple[str, int, Edge | None]]:
    """Return (name, generation, edge to the parent) of each run with a parent or a child, children after their parent."""
    edge_of = {edge.run: edge for edge in edges}
    children = grouped([edge.parent for edge in edges], [edge.run for edge in edges])
    rows: list[tuple[str, int, Edge | None]] = []
    stack = [(name, 0) for name in reversed(children) if name not in edge_of]
    while stack:
        name, generation = stack.pop()
        rows.append((name, generation, edge_of.get(name)))
        stack += [(child, generation + 1) for child in reversed(children.get(name, []))]
    return rows
