"""The probability tables of a Bayesian network as flat arrays of all cells."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.models.bayes_nets.nodes import Node, shape_of


class Tables(NamedTuple):
    """The probability tables of all nodes as one flat array, row after row; tied nodes share a table."""

    names: tuple[str, ...]  # names of the tables
    starts: np.ndarray  # (table + 1,) int64: first cell of each
    row_starts: np.ndarray  # (row,) int64: first cell of each row
    row_of: np.ndarray  # (cell,) int64: row of each cell
    alpha: np.ndarray  # (cell,) float64: Dirichlet prior
    alpha_rows: np.ndarray  # (row,) float64: sum of alpha over the row
    table_of: np.ndarray  # (node,) int64: index of its table, -1 for a ``given`` node

    @property
    def n_cells(self) -> int:
        """Total number of cells in all tables."""
        return len(self.alpha)

    @property
    def tied(self) -> bool:
        """Whether several nodes share a table."""
        return bool(np.any(np.bincount(self.table_of[self.table_of >= 0]) > 1))

    def with_priors(self, alpha: np.ndarray) -> Tables:
        """Return the tables with the Dirichlet priors replaced by ``alpha`` (cell,)."""
        return self._replace(alpha=alpha, alpha_rows=self.sum_rows(alpha))

    def sum_rows(self, counts: np.ndarray) -> np.ndarray:
        """Return the sum of the counts (cell,) in each row of the tables, (row,)."""
        return np.add.reduceat(counts, self.row_starts)

    def means(self, counts: np.ndarray) -> np.ndarray:
        """Return the posterior mean probability (cell,) of every table cell, given counts (cell,)."""
        return (self.alpha + counts) / (self.alpha_rows + self.sum_rows(counts))[self.row_of]


def tables_of(nodes: tuple[Node, ...]) -> Tables:
    """Return the probability tables of nodes as flat arrays, in the order in which nodes first use each table."""
    nodes_by_name, numbers, shapes, alphas, table_of = (
        {node.name: node for node in nodes},
        {},
        [],
        [],
        [],
    )
    for node in nodes:
        table_of.append(-1 if node.given else numbers.setdefault(node.cpt, len(numbers)))
        if table_of[-1] == len(shapes):
            shape = shape_of(node, nodes_by_name)
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
