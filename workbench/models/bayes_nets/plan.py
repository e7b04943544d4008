"""Junction trees of a Bayesian network, one for each pattern of missing cells, as arrays of integers.

A pattern says which nodes of a record are observed. Hidden nodes without an observed descendant are left out, unless missing
cells are imputed; families (a node and its parents) are reduced to their hidden nodes, and those of one family are joined. The
cliques come from the min-fill heuristic (networkx), for each connected part of the graph. A plan is integers alone, so that a
resumed run has the same cliques under any version of networkx.

Spec of the networks, C.3; Cowell, Dawid, Lauritzen & Spiegelhalter (1999), "Probabilistic networks and expert systems", ch. 4.
"""

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from workbench.models.model import ModelError


class Plan(NamedTuple):
    """Junction trees for every pattern of observed nodes, and the distinct records of each pattern, as flat arrays.

    A clique has a cell for each joint state of its nodes; the nodes of its separator (those shared with its parent) vary
    slowest. Table cells are numbered as in `tables.Tables`: the table cell of a family is an offset, from the observed nodes of
    a case, plus a number for each cell of its clique.
    """

    # of patterns
    # (pattern + 1,) int64: first family; families of cliques come first, in the order of cliques
    families: np.ndarray
    scalars: np.ndarray  # (pattern,) int64: first family without hidden nodes
    cliques: np.ndarray  # (pattern + 1,) int64: first clique
    # of cliques
    clique_families: np.ndarray  # (clique, 2) int64: first family, and the end of its families
    # (clique,) int64: number of joint states of the nodes outside the separator
    free: np.ndarray
    separators: np.ndarray  # (clique,) int64: number of states of the separator; 1 for a root
    parents: np.ndarray  # (clique,) int64; -1 for a root
    cell_at: np.ndarray  # (clique,) int64: index of its first cell in the workspace
    separator_at: np.ndarray  # (clique,) int64: index of its first separator state
    # (clique,) int64: start in ``maps`` of the separator state of each cell of the parent
    up: np.ndarray
    # (clique,) int64: number of consecutive parent cells with the same separator state, see ``run``
    up_run: np.ndarray
    # of families
    # (family,) int64: start in ``maps`` of the number to add to the offset for each cell of its clique
    down: np.ndarray
    # (family,) int64: the same for each joint state of its hidden nodes; -1: the numbers are 0, 1, 2, …
    own: np.ndarray
    n_own: np.ndarray  # (family,) int64: number of these states
    # (family,) int64: start in ``maps`` of the family's own state for each cell of its clique
    pick: np.ndarray
    # (family,) int64: cell s of the clique has the own state s // run % n_own; 0: use ``maps``
    run: np.ndarray
    maps: np.ndarray  # int32: the arrays to which the fields above point
    # of cases: distinct records
    patterns: np.ndarray  # (case,) int64
    first_offset: np.ndarray  # (case + 1,) int64
    # int64: offset of each family of each case, the table cell given its observed nodes
    offsets: np.ndarray
    weights: np.ndarray  # (case,) float64: number of records

    @property
    def n_cells(self) -> int:
        """Largest number of clique cells in one junction tree."""
        sizes = self.cell_at + self.free * self.separators
        return int(sizes.max(initial=1))

    @property
    def n_factors(self) -> int:
        """Largest number of joint states of the hidden nodes of one family."""
        return int(self.n_own.max(initial=1))

    @property
    def n_separators(self) -> int:
        """Largest number of separator states in one junction tree."""
        return int((self.separator_at + self.separators).max(initial=1))

    @property
    def work(self) -> np.ndarray:
        """Approximate cost (case,) int64 of propagation for each case, in numbers visited."""
        families = (
            np.diff(self.clique_families, axis=1)[:, 0] if len(self.free) else np.zeros(0, np.int64)
        )
        clique_work = np.concatenate([[0], np.cumsum((families + 4) * self.free * self.separators)])
        pattern_work = np.diff(clique_work[self.cliques]) + np.diff(self.families)
        return pattern_work[self.patterns]


class Cases(NamedTuple):
    """Distinct records and their multiplicities, as input of `plan_of`."""

    values: np.ndarray  # (case, node) int32: -1 where hidden
    weights: np.ndarray  # (case,) float64: number of records
    # (record,) int64: the case of each record; -1 if it has none here
    of_record: np.ndarray


def cases_of(values: np.ndarray, multiplicities: np.ndarray) -> Cases:
    """Return the distinct records sorted by pattern of missing cells; records without known cells get weight 0."""
    hidden = values < 0
    both, case_of_record = np.unique(np.hstack([hidden, values]), axis=0, return_inverse=True)
    case_of_record = case_of_record.ravel()
    patterns = both[:, values.shape[1] :]
    return Cases(
        patterns,
        np.bincount(case_of_record, multiplicities, len(both)) * np.any(patterns >= 0, axis=1),
        case_of_record,
    )


def cases_among(cases: Cases, lower: float, upper: float = math.inf) -> Cases:
    """Return the cases (distinct records) that occur more than ``lower`` and at most ``upper`` times."""
    is_chosen = (cases.weights > lower) & (cases.weights <= upper)
    numbers = np.where(is_chosen, np.cumsum(is_chosen) - 1, -1)
    return Cases(cases.values[is_chosen], cases.weights[is_chosen], numbers[cases.of_record])


class Families(NamedTuple):
    """The families of a network, each a node with its parents, as input of `plan_of`."""

    sizes: tuple[int, ...]  # number of states of each node
    scopes: tuple[tuple[int, ...], ...]  # for each node: its parents, then itself
    strides: tuple[tuple[int, ...], ...]  # of its table, along its scope
    # for each node: first cell of its table; -1: the node is given and has no table
    starts: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def modelled(self) -> list[int]:
        """Indices of the nodes that have a table."""
        return [node for node, start in enumerate(self.starts) if start >= 0]


def families_of(net) -> Families:
    """Return the families (each node with its parents) of a network."""
    number = {node.name: i for i, node in enumerate(net.nodes)}
    sizes = tuple(node.n_states for node in net.nodes)
    scopes = tuple(
        (*(number[name] for name in node.parents), i) for i, node in enumerate(net.nodes)
    )
    strides = tuple(
        tuple(math.prod(sizes[n] for n in scope[i + 1 :]) for i in range(len(scope)))
        for scope in scopes
    )
    starts = tuple(
        -1 if table < 0 else int(net.tables.starts[table]) for table in net.tables.table_of
    )
    return Families(sizes, scopes, strides, starts, tuple(node.name for node in net.nodes))


def kept_families(families: Families, observed: np.ndarray, imputed: bool) -> list[int]:
    """Return the nodes whose tables matter: observed nodes and their hidden ancestors; all nodes if ``imputed``."""
    if imputed:
        return families.modelled
    visited, queue = set(), [node for node in families.modelled if observed[node]]
    while queue:
        node = queue.pop()
        if node not in visited:
            visited.add(node)
            queue += [parent for parent in families.scopes[node] if not observed[parent]]
    return sorted(visited)


def junction_trees(net, cases: Cases) -> np.ndarray:
    """Return the junction trees of all patterns of observed nodes, as one array of integers for `plan_of`.

    For each pattern: the number of cliques, and for each clique its parent (-1: none), its number of nodes, and the nodes.
    """
    families, trees, cliques_of = families_of(net), [], {}
    for observed in _patterns(cases)[0]:
        scopes = {
            _hidden(families, node, observed)
            for node in kept_families(families, observed, net.missing == "imputed")
        }
        key = frozenset(scopes - {()})
        if key not in cliques_of:
            cliques_of[key] = numbered_cliques(key, families, net.called)
        trees += cliques_of[key]
    return np.array(trees, np.int64)


def plan_of(net, cases: Cases, trees: np.ndarray) -> Plan:
    """Return the plan of given cases from the junction trees of all their patterns of observed nodes."""
    families, position = families_of(net), 0
    maps, (patterns, pattern_of_case) = _Maps(families.sizes), _patterns(cases)
    bounds = np.searchsorted(pattern_of_case, np.arange(len(patterns) + 1))
    # of ``down``: down, own, n_own, pick, run
    pattern_bounds, cliques, offsets, down = [(0, 0, 0)], [], [], []
    for number, observed in enumerate(patterns):
        bags, position = _read_bags(trees, position)
        homes = [[] for _ in bags]
        scalars, holding, cells = (
            [],
            _cliques_with(bags),
            [math.prod(families.sizes[n] for n in nodes) for _, nodes in bags],
        )
        for node in kept_families(families, observed, net.missing == "imputed"):
            hidden = _hidden(families, node, observed)
            if hidden:
                candidates = [
                    i
                    for i in holding[min(hidden, key=lambda n: len(holding[n]))]
                    if set(hidden) <= set(bags[i][1])
                ]
                homes[min(candidates, key=lambda i: (cells[i], i))].append(node)
            else:
                scalars.append(node)
        first_clique, cell_at, separator_at, ordered = len(cliques), 0, 0, []
        for (parent, nodes), home, n_cells in zip(bags, homes, cells, strict=True):
            parent_nodes = cliques[first_clique + parent][-1] if parent >= 0 else ()
            separator = tuple(n for n in nodes if n in parent_nodes)
            scope, n_states = (
                (*separator, *(n for n in nodes if n not in separator)),
                math.prod(families.sizes[n] for n in separator),
            )
            parent_map, _, parent_run = maps.picked(parent_nodes, separator)
            begin = len(down)
            home.sort(
                key=lambda node: (
                    -math.prod(families.sizes[n] for n in _hidden(families, node, observed))
                )
            )
            for node in home:
                strides = zip(families.scopes[node], families.strides[node], strict=True)
                strides = {n: stride for n, stride in strides if not observed[n]}
                local_scope = tuple(n for n in scope if n in strides)
                pick, n_own, run = maps.picked(scope, local_scope)
                is_contiguous = [strides[n] for n in local_scope] == _row_major(
                    local_scope, families.sizes
                )
                down.append(
                    (
                        maps.start(scope, strides),
                        -1 if is_contiguous else maps.start(local_scope, strides),
                        n_own,
                        pick,
                        run,
                    )
                )
            ordered += home
            parent = first_clique + parent if parent >= 0 else -1
            cliques.append(
                (
                    begin,
                    len(down),
                    n_cells // n_states,
                    n_states,
                    parent,
                    cell_at,
                    separator_at,
                    parent_map,
                    parent_run,
                    scope,
                )
            )
            cell_at, separator_at = cell_at + n_cells, separator_at + n_states
        pattern_bounds[-1] = (*pattern_bounds[-1][:2], len(down))
        down += [(0, 0, 1, 0, 0)] * len(scalars)
        pattern_bounds.append((len(down), len(cliques), 0))
        values = cases.values[bounds[number] : bounds[number + 1]].astype(np.int64)
        offsets.append(_offsets(families, [*ordered, *scalars], observed, values).ravel())
    first = np.array(pattern_bounds, np.int64)
    columns = (
        np.array([clique[:-1] for clique in cliques], np.int64).reshape(len(cliques), 9).T.copy()
    )
    n_families = np.diff(first[:, 0])
    return Plan(
        first[:, 0].copy(),
        first[:-1, 2].copy(),
        first[:, 1].copy(),
        np.ascontiguousarray(columns[:2].T),
        *columns[2:],
        *np.array(down, np.int64).reshape(len(down), 5).T.copy(),
        maps.numbers,
        pattern_of_case,
        np.concatenate([[0], np.cumsum(n_families[pattern_of_case])]),
        np.concatenate([np.zeros(0, np.int64), *offsets]),
        cases.weights,
    )


class _Maps:
    """Builder of ``Plan.maps``, integer arrays over the cells of cliques; equal arrays are stored once."""

    def __init__(self, sizes: tuple[int, ...]):
        self._sizes, self._positions, self._parts, self._length = sizes, {}, [], 0

    def start(self, scope: tuple[int, ...], strides: dict[int, int]) -> int:
        """Store, for each cell of ``scope``, the sum over nodes of state times stride; return where the array starts."""
        key = tuple((self._sizes[n], strides.get(n, 0)) for n in scope)
        if key not in self._positions:
            cells = np.zeros(1, np.int64)
            for size, stride in key:
                cells = np.add.outer(cells, stride * np.arange(size)).ravel()
            self._positions[key] = self._length
            self._parts.append(cells.astype(np.int32))
            self._length += len(cells)
        return self._positions[key]

    def picked(self, scope: tuple[int, ...], nodes: tuple[int, ...]) -> tuple[int, int, int]:
        """Store, for each cell of ``scope``, the joint state of ``nodes``.

        Returns its start, the number of joint states, and the run of equal states (see ``Plan.run``).
        """
        n_states, axes = math.prod(self._sizes[n] for n in nodes), [scope.index(n) for n in nodes]
        is_contiguous = all(b == a + 1 for a, b in itertools.pairwise(axes))
        run = (
            math.prod(self._sizes[n] for n in scope[axes[-1] + 1 :])
            if is_contiguous and axes
            else 0
        )
        return (
            self.start(scope, dict(zip(nodes, _row_major(nodes, self._sizes), strict=True))),
            n_states,
            run,
        )

    @property
    def numbers(self) -> np.ndarray:
        return np.concatenate([*self._parts, np.zeros(1, np.int32)])


def _patterns(cases: Cases) -> tuple[np.ndarray, np.ndarray]:
    """Return the observed nodes of each pattern, (pattern, node) bool, and each case's pattern, (case,)."""
    observed = cases.values >= 0
    if not len(observed):
        return observed, np.zeros(0, np.int64)
    changes = np.concatenate([[True], np.any(observed[1:] != observed[:-1], axis=1)])
    return observed[changes], np.cumsum(changes) - 1


def _hidden(families: Families, node: int, observed: np.ndarray) -> tuple[int, ...]:
    """Return the hidden nodes among ``node`` and its parents."""
    return tuple(sorted(n for n in families.scopes[node] if not observed[n]))


def _offsets(
    families: Families, nodes: Iterable[int], observed: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return the table cell (case, family) at the observed states of each family and state 0 of hidden nodes."""
    offsets = np.empty((len(values), len(nodes)), np.int64)
    for column, node in enumerate(nodes):
        offsets[:, column] = families.starts[node]
        for n, stride in zip(families.scopes[node], families.strides[node], strict=True):
            if observed[n]:
                offsets[:, column] += stride * values[:, n]
    return offsets


def _row_major(nodes: tuple[int, ...], sizes: tuple[int, ...]) -> list[int]:
    return [math.prod(sizes[n] for n in nodes[i + 1 :]) for i in range(len(nodes))]


def _cliques_with(bags: list) -> dict[int, list[int]]:
    """Return node → indices of the cliques that contain the node."""
    holders = {}
    for i, (_, nodes) in enumerate(bags):
        for node in nodes:
            holders.setdefault(node, []).append(i)
    return holders


def _read_bags(trees: np.ndarray, position: int) -> tuple[list[tuple[int, tuple[int, ...]]], int]:
    """Return the cliques (parent, nodes) of one pattern in `junction_trees`, and the position of the next pattern."""
    bags, n, position = [], int(trees[position]), position + 1
    for _ in range(n):
        parent, size = int(trees[position]), int(trees[position + 1])
        bags.append((parent, tuple(trees[position + 2 : position + 2 + size].tolist())))
        position += 2 + size
    return bags, position


MOST_CLIQUE_CELLS = 2**22
"""Maximum of cells of all cliques of one junction tree."""


def numbered_cliques(scopes: frozenset, families, title: str) -> list[int]:
    """Return junction trees with each of ``scopes`` inside some clique, as integers in the form of `junction_trees`."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(sorted({node for scope in scopes for node in scope}))
    graph.add_edges_from(
        sorted({(a, b) for scope in scopes for a in scope for b in scope if a < b})
    )
    bags = []
    for part in sorted(map(sorted, nx.connected_components(graph))):
        for parent, nodes in _tree(
            graph.subgraph(part) if len(part) < len(graph) else graph, part, len(bags)
        ):
            bags.append((parent, nodes))
    sizes = [math.prod(families.sizes[n] for n in nodes) for _, nodes in bags]
    if sum(sizes) > MOST_CLIQUE_CELLS:
        largest = max(sizes)
        node_names = ", ".join(families.names[n] for n in bags[sizes.index(largest)][1])
        raise ModelError(
            f"{title} has cliques of {sum(sizes):,} cells, more than {MOST_CLIQUE_CELLS:,}; the largest has "
            f"{largest:,} ({node_names}): give these nodes fewer states or parents, or observe some of them"
        )
    return [
        len(bags),
        *(number for parent, nodes in bags for number in (parent, len(nodes), *nodes)),
    ]


def _tree(graph, part: list[int], first_number: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return the junction tree of a connected graph: (parent, nodes) of each clique, parents first, from ``first_number``."""
    import networkx as nx
    from networkx.algorithms.approximation import treewidth_min_fill_in

    if len(part) == 1:
        return [(-1, tuple(part))]
    if graph.number_of_edges() == len(part) - 1:  # a tree: its edges are the cliques
        tree, first = nx.Graph(), {part[0]: None}
        for a, b in nx.bfs_edges(graph, part[0], sort_neighbors=sorted):
            edge = tuple(sorted((a, b)))
            tree.add_node(edge)
            if first[a]:
                tree.add_edge(first[a], edge)
            first[a], first[b] = first[a] or edge, edge
    else:
        # Its nodes are made anew in order, so that ties are resolved by their numbers.
        ordered = nx.Graph()
        ordered.add_nodes_from(part)
        ordered.add_edges_from(sorted(tuple(sorted(edge)) for edge in graph.edges))
        decomposition = treewidth_min_fill_in(ordered)[1]
        tree = nx.relabel_nodes(decomposition, lambda bag: tuple(sorted(bag)))
        _contract(tree)
    root = min(tree.nodes)
    number, order = {root: first_number}, [(-1, root)]
    for parent, bag in nx.bfs_edges(tree, root, sort_neighbors=sorted):
        number[bag] = first_number + len(order)
        order.append((number[parent], bag))
    return order


def _contract(tree) -> None:
    """Merge every clique whose nodes are a subset of a neighbour's into that neighbour, in place."""
    queue = sorted(tree.nodes)
    while queue:
        bag = queue.pop()
        larger = next(
            (neighbour for neighbour in sorted(tree[bag]) if set(bag) <= set(neighbour)), None
        )
        if larger is not None:
            neighbours = sorted(neighbour for neighbour in tree[bag] if neighbour != larger)
            tree.add_edges_from((larger, neighbour) for neighbour in neighbours)
            tree.remove_node(bag)
