"""The tables of a Bayesian network as flat arrays: every cell of every table has one number."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.models.bayes_nets.nodes import Node, shape_of


class Tables(NamedTuple):
    """All tables in one flat array, row after row; tied nodes share one."""

    names: tuple[str, ...]  # of the tables
    starts: np.ndarray  # (table + 1,) int64: first cell of each
    row_starts: np.ndarray  # (row,) int64: first cell of each row
    row_of: np.ndarray  # (cell,) int64
    alpha: np.ndarray  # (cell,) float64: Dirichlet prior
    alpha_rows: np.ndarray  # (row,) float64: its sum over the row
    table_of: np.ndarray  # (node,) int64: number of its table, -1 of a node that is given

    @property
    def n_cells(self) -> int:
        """Number of cells of all tables."""
        return len(self.alpha)

    @property
    def tied(self) -> bool:
        """Return whether a record uses a table at more than one node."""
        return bool(np.any(np.bincount(self.table_of[self.table_of >= 0]) > 1))

    def with_priors(self, alpha: np.ndarray) -> Tables:
        """Return the tables with other priors (cell,)."""
        return self._replace(alpha=alpha, alpha_rows=self.sum_rows(alpha))

    def sum_rows(self, counts: np.ndarray) -> np.ndarray:
        """Return (row,) sums of counts of cells."""
        return np.add.reduceat(counts, self.row_starts)

    def means(self, counts: np.ndarray) -> np.ndarray:
        """Return (cell,) the posterior mean of every distribution."""
        return (self.alpha + counts) / (self.alpha_rows + self.sum_rows(counts))[self.row_of]


def tables_of(nodes: tuple[Node, ...]) -> Tables:
    """Return the tables of nodes, in the order in which the nodes first use them."""
    by_name, numbers, shapes, alphas, table_of = {node.name: node for node in nodes}, {}, [], [], []
    for node in nodes:
        table_of.append(-1 if node.given else numbers.setdefault(node.cpt, len(numbers)))
        if table_of[-1] == len(shapes):
            shape = shape_of(node, by_name)
            shapes.append((math.prod(shape[:-1]), shape[-1]))
            alphas.append(np.broadcast_to(np.array(node.prior, float), shapes[-1]).ravel())
    n_rows, widths = [rows for rows, _ in shapes], [width for _, width in shapes]
    starts = np.concatenate([[0], np.cumsum(np.multiply(n_rows, widths))]).astype(np.int64)
    row_widths = np.repeat(widths, n_rows)
    row_starts = np.concatenate([[0], np.cumsum(row_widths)[:-1]]).astype(np.int64)
    alpha = np.concatenate(alphas)
    return Tables(
        tuple(numbers),
        starts,
        row_starts,
        np.repeat(np.arange(len(row_starts)), row_widths),
        alpha,
        np.add.reduceat(alpha, row_starts),
        np.array(table_of),
    )
