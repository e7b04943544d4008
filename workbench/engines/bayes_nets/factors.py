"""The families of all cases as stretches of table cells, each different one once, for `kernels.bayes_nets.factors`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.kernels.bayes_nets.factors import BLOCK
from workbench.models.bayes_nets.plan import Plan

MOST_CELLS = 2**20


class Factors(NamedTuple):
    """A plan that reads factors, filled from the tables in each pass, instead of the tables."""

    # offsets: first cell of a family's factor; cliques begin at multiples of a block
    plan: Plan
    # (factor cell,) int64: the table cell that it is; of the padding one more than there are
    cells: np.ndarray
    n_cells: int  # of the tables

    def fill(self, tables: np.ndarray, padding: float) -> np.ndarray:
        """Return (factor cell,) the values of a table in the layout of the factors."""
        return np.append(tables, padding)[self.cells]

    def table_sums(self, counts: np.ndarray) -> np.ndarray:
        """Return (table cell,) sums of counts of factors."""
        return np.bincount(self.cells, counts, self.n_cells + 1)[:-1]


def most_cells(plan: Plan) -> int:
    """Return the largest number of factor cells that is worthwhile: all are filled in each pass."""
    return int(min(MOST_CELLS, plan.work.sum()))


def factors_of(plan: Plan, n_cells: int) -> Factors | None:
    """Return the factors of a plan; None if they are not worthwhile."""
    sizes = plan.free * plan.separators
    of_family = np.ones(len(plan.down), np.int64)
    for (first, last), size in zip(plan.clique_families, sizes, strict=True):
        of_family[first:last] = size
    n_families = np.diff(plan.families)[plan.patterns]
    family = np.arange(len(plan.offsets)) - np.repeat(
        plan.first_offset[:-1] - plan.families[plan.patterns], n_families
    )
    maps, of_map = np.unique(np.column_stack([plan.down, of_family]), axis=0, return_inverse=True)
    different, which = np.unique(
        plan.offsets * len(maps) + of_map.ravel()[family], return_inverse=True
    )
    offsets, (downs, sizes_of) = (
        different // max(len(maps), 1),
        maps[different % max(len(maps), 1)].T,
    )
    starts = np.concatenate([[0], np.cumsum(_padded(sizes_of))])
    if not 0 < starts[-1] <= most_cells(plan):
        return None
    number = np.repeat(np.arange(len(different)), sizes_of)
    within = np.arange(len(number)) - np.repeat(np.cumsum(sizes_of) - sizes_of, sizes_of)
    cells = np.full(starts[-1], n_cells)
    cells[starts[number] + within] = offsets[number] + plan.maps[downs[number] + within]
    # A clique's cells are those of its families' factors, one after another: also for what goes by logarithms.
    in_order = np.arange(sizes_of.max(), dtype=np.int32)
    return Factors(
        plan._replace(
            offsets=starts[which.ravel()],
            down=np.full_like(plan.down, len(plan.maps)),
            cell_at=_cell_at(plan, sizes),
            maps=np.concatenate([plan.maps, in_order]),
        ),
        cells,
        n_cells,
    )


def _padded(sizes: np.ndarray) -> np.ndarray:
    return -(-sizes // BLOCK) * BLOCK


def _cell_at(plan: Plan, sizes: np.ndarray) -> np.ndarray:
    """Return (clique,) the index of each clique's first cell, those of a pattern one after another in whole blocks."""
    before = np.concatenate([[0], np.cumsum(_padded(sizes))])
    return before[:-1] - np.repeat(before[plan.cliques[:-1]], np.diff(plan.cliques))
