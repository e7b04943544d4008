"""The paths of a network, taken together where they visit the same rows of the same levels."""

import itertools
import math
from typing import NamedTuple

from workbench.models.networks.levels import AUTHORS, WORD, Level, Rows


class Region(NamedTuple):
    """Paths that visit the same blocks of rows: a span of values for each variable that they have, authors left out."""

    spans: dict[str, tuple[int, int]]
    visited: dict[str, Rows]      # by name of the level

    @property
    def n_paths(self) -> int:
        """How many paths there are, of one author."""
        return math.prod(last - first + 1 for first, last in self.spans.values())


def regions_of(network) -> list[Region]:
    """The regions of a network, in the order of the levels; where rows overlap the first are taken."""
    cuts = {each.name: {0, each.size} for each in network.variables if each.size != AUTHORS}
    for level in network.levels:
        for rows in level.rows:
            for name, first, last in rows.when:
                cuts[name] |= {first, last + 1}
    regions = [Region({}, {})]
    for level in network.levels:
        regions = [grown for region in regions for grown in _grown(region, level, cuts)]
    return regions


def holds(rows: Rows, spans: dict[str, tuple[int, int]]) -> bool:
    """Do the conditions (``when``) of rows hold for paths with these spans of values?"""
    return all(name in spans and first <= spans[name][0] and spans[name][1] <= last for name, first, last in rows.when)


def _grown(region: Region, level: Level, cuts) -> list[Region]:
    """A region extended by a level: unchanged where that is not visited, else once for each span of what the level draws."""
    rows = next((rows for rows in level.rows if holds(rows, region.spans)), None)
    if rows is None:
        return [region]
    visited = region.visited | {level.name: rows}
    if level.draws == WORD or level.table == AUTHORS:
        return [Region(region.spans, visited)]
    edges = sorted(cuts[level.draws])
    return [Region(region.spans | {level.draws: (a, b - 1)}, visited) for a, b in itertools.pairwise(edges)]
