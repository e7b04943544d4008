"""Junction trees by the min-fill heuristic of networkx, which is imported where it is used.

Cowell, Dawid, Lauritzen & Spiegelhalter (1999), "Probabilistic networks and expert systems", ch. 4.
"""

import math

from workbench.models.model import ModelError

MOST_CLIQUE_CELLS = 2**22
"""Maximum of cells of all cliques of one junction tree."""


def numbered_cliques(scopes: frozenset, families, called: str) -> list[int]:
    """Return junction trees in which each scope is in some clique, as integers in the form of `plan.junction_trees`."""
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
        named = ", ".join(families.names[n] for n in bags[sizes.index(largest)][1])
        raise ModelError(
            f"{called} has cliques of {sum(sizes):,} cells, more than {MOST_CLIQUE_CELLS:,}; the largest has "
            f"{largest:,} ({named}): give these nodes fewer states or parents, or observe some of them"
        )
    return [
        len(bags),
        *(number for parent, nodes in bags for number in (parent, len(nodes), *nodes)),
    ]


def _tree(graph, part: list[int], before: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return the junction tree of a connected graph: (parent, nodes) of each clique, parents first, numbers from ``before``."""
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
    number, order = {root: before}, [(-1, root)]
    for above, bag in nx.bfs_edges(tree, root, sort_neighbors=sorted):
        number[bag] = before + len(order)
        order.append((number[above], bag))
    return order


def _contract(tree) -> None:
    """Merge every clique whose nodes are a subset of a neighbour's into that neighbour, in place."""
    left = sorted(tree.nodes)
    while left:
        bag = left.pop()
        larger = next((other for other in sorted(tree[bag]) if set(bag) <= set(other)), None)
        if larger is not None:
            others = sorted(other for other in tree[bag] if other != larger)
            tree.add_edges_from((larger, other) for other in others)
            tree.remove_node(bag)
