"""Views of Bayesian networks: graph, distributions of a node, class profiles, and the posterior of a record."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import spec_of
from workbench.measures.bayes_nets import (
    Information,
    NetNode,
    distributions,
    information,
    nodes_of,
    table_names,
)
from workbench.records import Records
from workbench.runs.afterwards.infer_records import infer_records
from workbench.views.elements import (
    COLOURS,
    INK,
    RC,
    ROW,
    axis,
    bare_panel,
    element,
    panel,
    short_text,
    text_labels,
)
from workbench.views.picture import (
    Menu,
    Picture,
    RunsOfLabels,
    RunsToDraw,
    Slider,
    View,
    menu_of,
)

SMALL = RC | {"ytick.labelsize": 6.5, "xtick.labelsize": 6.5}
LETTERS, MOST_ACROSS = 26, 9
"""Maximum of letters of a label, and of nodes in one line of a layer."""
INCHES = 0.42, 0.55
"""Width and height of a unit on paper."""
CELLS = ("table", "given", "value", "probability", "deviation", "count")
POSTERIOR = ("record", "node", "state_name", "posterior")
MOST_KNOWN, MOST_HIDDEN = 20, 24
"""Maximum of cells of a record in a caption, and of hidden nodes drawn."""
NODES = ("node", "table", "parents", "hidden", "entropy", "mutual_information")


def cells_view(
    values: np.ndarray,
    across: list[str],
    down: list[str],
    title: str = "",
    across_of: str = "state",
):
    """Draw probabilities (row, column) as a `holoviews.Overlay` of a `QuadMesh`, coloured from 0 to 1."""
    edges = np.arange(len(across) + 1) - 0.5, np.arange(-len(down), 1) + 0.5
    mesh = element(
        "QuadMesh",
        (*edges, values[::-1]),
        [axis("value", across_of), axis("given", " ")],
        vdims=axis("p", "probability"),
        cmap="Blues",
        clim=(0.0, 1.0),
    )
    return panel(
        [mesh],
        title=title,
        aspect="auto",
        show_grid=False,
        fig_inches=(3.4, 1.0 + max(ROW * len(down), 0.5)),
        xrotation=90 if sum(map(len, across)) > 40 else 0,
        fig_rcparams=SMALL,
        xticks=[(position, short_text(name, LETTERS)) for position, name in enumerate(across)],
        yticks=[(-position, short_text(name, LETTERS)) for position, name in enumerate(down)],
    )


def distribution_controls(run: xr.Dataset) -> tuple[Menu | Slider, ...]:
    """Return the controls that choose a probability table, and a snapshot if there are several."""
    n = run.sizes["snapshot"]
    slider = (Slider("snapshot", "Snapshot", 1, n, 1, n, plays=True),) if n > 1 else ()
    return menu_of("table", "Table", table_names)(run) + slider


def draw_distributions(
    view: View, selection: RunsToDraw, table: str | None = None, snapshot: float | None = None
) -> Iterator[Picture]:
    """Draw one conditional probability table (default: the first, at the last snapshot) for one run per label."""
    collection, table_name = RunsOfLabels(_runs_with_tables(selection)), ""
    for label, run in collection.runs.items():
        tables = table_names(run)
        table_name = table if table in tables else tables[0]
        index = min(int(snapshot), run.sizes["snapshot"]) - 1 if snapshot else -1
        cells = distributions(run, table_name, index)
        panel = cells_view(
            cells["probability"].values,
            cells["value"].values.tolist(),
            [row or table_name for row in cells["given"].values.tolist()],
            f"{label}, {table_name}, iteration {int(run['snapshot_iteration'].values[index]):,}",
        )
        rows = cells.to_dataframe().reset_index().assign(table=table_name)[list(CELLS)]
        collection.add(label, rows, [panel], {"QuadMesh": [_cell_texts(cells)]})
    yield from collection.pictures(
        view,
        f"The distributions of the table {table_name!r}: a row for each combination of states of the parents, with the "
        "probability of each state of the node; full colour: 1. Posterior means given (expected) counts and priors, or "
        "maximum-likelihood estimates. One run of each label.",
        CELLS,
    )


def _runs_with_tables(selection: RunsToDraw, *names: str) -> dict[str, xr.Dataset]:
    """Return label → first run with a snapshot of its probability tables, and with the variables ``names``."""
    first = selection.first("n_cpt", *names)
    return {label: run for label, run in first.items() if run.sizes["snapshot"]}


def _cell_texts(cells: xr.Dataset) -> list[str]:
    """Return the tooltips of the table's cells, rows from the bottom up, cells from left to right."""
    texts = []
    for row in reversed(range(cells.sizes["given"])):
        condition = str(cells["given"].values[row])
        for value in range(cells.sizes["value"]):
            mean, deviation, count = (
                float(cells[name].values[row, value])
                for name in ("probability", "deviation", "count")
            )
            deviation_text = "" if np.isnan(deviation) else f" ± {deviation:.3f}"
            title = f"{cells['value'].values[value]}{condition and f', condition {condition}'}"
            texts.append(f"{title}\nprobability {mean:.3f}{deviation_text}\n{count:,.1f} records")
    return texts


def draw_class_profiles(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw p(level | latent class) of every field, the largest class first."""
    runs = {
        label: run
        for label, run in _runs_with_tables(selection, "state_share").items()
        if spec_of(run).options.get("network") == "latent-class"
    }
    collection = RunsOfLabels(runs)
    for label, run in runs.items():
        sizes = distributions(run, "class")["probability"].values[0]
        order = np.argsort(-sizes, kind="stable")
        levels, columns = [], []
        for table in table_names(run)[1:]:
            field_cells = distributions(run, table)
            # of two levels the second suffices
            n_levels = field_cells.sizes["value"] if field_cells.sizes["value"] != 2 else 1
            levels += [f"{table}={value}" for value in field_cells["value"].values[-n_levels:]]
            columns.append(field_cells["probability"].values[:, -n_levels:].T)
        table = np.concatenate(columns)[:, order]
        rows = [
            [level, int(order[k]), float(sizes[order[k]]), float(table[row, k])]
            for row, level in enumerate(levels)
            for k in range(len(order))
        ]
        classes = [f"{k}: {100 * sizes[k]:.0f} %" for k in order]
        collection.add(label, rows, [cells_view(table, classes, levels, label, "class")])
    yield from collection.pictures(
        view,
        "Latent classes with their share of the records, the largest first, and the probability of each level of a field "
        "in each class (only the second level of binary fields). Full colour: 1. One run of each label.",
        ("level", "class", "share", "probability"),
    )


def record_controls(run: xr.Dataset) -> tuple[Slider, ...]:
    """Return the control that chooses a record, if there are several records."""
    n_records = run.sizes["record"]
    return (Slider("record", "Record", 1, n_records, 1, 1),) if n_records > 1 else ()


def draw_record(view: View, selection: RunsToDraw, record: float = 1) -> Iterator[Picture]:
    """Draw the posterior of the hidden nodes for one distinct training record (from 1), for one run per label."""
    runs = {
        label: run
        for label, run in _runs_with_tables(selection, "multiplicity").items()
        if spec_of(run).train in selection.corpora
    }
    collection, description = RunsOfLabels(runs), ""
    for label, run in runs.items():
        records = selection.corpora[spec_of(run).train]
        index = min(int(record), records.n_distinct) - 1
        description = _describe_record(records, index)
        single = Records(
            records.values[[index]],
            records.multiplicities[[index]],
            records.fields,
            records.levels,
            records.name,
        )
        posterior = infer_records(run, single)["posterior"].isel(record=0)
        if not posterior.size:
            continue
        rows = posterior.to_dataframe().reset_index().dropna().assign(record=index + 1)
        title = f"{label}, record {index + 1} of {records.n_distinct:,}"
        collection.add(label, rows[list(POSTERIOR)], [_record_view(posterior[:MOST_HIDDEN], title)])
    yield from collection.pictures(
        view,
        "Probability of each state of the hidden nodes of one record, given its known cells and the distributions of the "
        f"run; full colour: 1. {description} One run of each label.",
        POSTERIOR,
    )


def _record_view(posterior: xr.DataArray, title: str):
    """Draw probabilities (node, state), a row per hidden node; columns have numbers if state names differ between nodes."""
    names = posterior["state_name"].values
    same_name = np.all((names == names[0]) | (names == ""), axis=0)
    across = np.where(same_name, names[0], posterior["state"].values.astype(str)).tolist()
    return cells_view(posterior.values, across, posterior["node"].values.tolist(), title)


def _describe_record(records: Records, index: int) -> str:
    """Describe the known cells of a record in a sentence."""
    cells = [
        f"{field}={levels[value]}"
        for field, levels, value in zip(
            records.fields, records.levels, records.values[index], strict=True
        )
        if value >= 0
    ]
    ellipsis = ", …" * (len(cells) > MOST_KNOWN)
    text = f"{', '.join(cells[:MOST_KNOWN])}{ellipsis}" if cells else "no known cell"
    return f"Record {index + 1}, which occurs {records.multiplicities[index]:,} times: {text}."


def draw_nodes(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the Bayesian network of one run per label in layers, each node below its parents."""
    collection = RunsOfLabels(_runs_with_tables(selection))
    for label, run in collection.runs.items():
        nodes = nodes_of(run)
        tables = dict.fromkeys(node.table for node in nodes)
        of_table = {table: information(run, table) for table in tables}
        rows = [
            [
                node.name,
                node.table,
                ", ".join(node.parents),
                node.hidden,
                of_table[node.table].entropy,
                ", ".join(f"{value:.4g}" for value in of_table[node.table].of_parents),
            ]
            for node in nodes
        ]
        texts = [
            [_node_hover(node, of_table[node.table])]
            for node in nodes
            for _ in range(1 + node.hidden)
        ]
        collection.add(label, rows, [nodes_view(nodes, of_table, label)], {"Points": texts})
    yield from collection.pictures(
        view,
        "Nodes of the network, each below its parents. Hidden nodes have a ring; nodes that share a table have its "
        "colour. Darker nodes have a larger entropy relative to the uniform distribution; wider lines have a larger "
        "mutual information, both from (expected) counts with the priors. For a hidden Markov model the first steps are "
        "drawn. One run of each label.",
        NODES,
    )


def nodes_view(nodes: list[NetNode], information_by_table: dict[str, Information], title: str = ""):
    """Draw a Bayesian network in layers as a `holoviews.Overlay` of `Points`, `Path` and `Labels`."""
    position = positions_of(nodes)
    shared_tables = [
        table for table in information_by_table if sum(node.table == table for node in nodes) > 1
    ]
    colours = {
        table: COLOURS[shared_tables.index(table) % len(COLOURS)] if table in shared_tables else INK
        for table in information_by_table
    }
    most = (
        max(
            (value for table in information_by_table.values() for value in table.of_parents),
            default=0.0,
        )
        or 1.0
    )
    arrows = []
    for node in nodes:
        for parent, mutual in zip(
            node.parents, information_by_table[node.table].of_parents, strict=False
        ):
            if parent in position:
                start, end = np.array(position[parent]), np.array(position[node.name])
                direction = (end - start) / np.hypot(*(end - start))
                path = np.array([start + 0.24 * direction, end - 0.26 * direction])
                width = 0.3 + 2.2 * mutual / most
                arrows.append(
                    element("Path", [path], color=colours[node.table], linewidth=width, alpha=0.8)
                )
    points = []
    for node in nodes:
        node_information, ring = (
            information_by_table[node.table],
            {"edgecolor": colours[node.table], "linewidth": 1.0},
        )
        shade = str(
            round(1.0 - 0.6 * min(node_information.entropy / node_information.largest, 1.0), 3)
        )
        if node.hidden:
            points.append(
                element("Points", [position[node.name]], ["x", "y"], color="#ffffff", s=110, **ring)
            )
        points.append(
            element("Points", [position[node.name]], ["x", "y"], color=shade, s=55, **ring)
        )
    upper = {node.name for node in nodes if not node.parents or (node.hidden and "@" in node.name)}
    offset = {name: 0.42 if name in upper else -0.42 for name in position}  # away from the lines
    names = text_labels(
        [(x, y + offset[name], short_text(name, 12)) for name, (x, y) in position.items()],
        "names",
        6,
    )
    x, y = np.array(list(position.values())).T
    limits = (x.min() - 0.7, x.max() + 0.7), (y.min() - 0.7, y.max() + 0.7)
    wide, high = (limits[0][1] - limits[0][0]), (limits[1][1] - limits[1][0])
    size = max(INCHES[0] * wide, 2.0), INCHES[1] * high + 0.3
    return bare_panel([*arrows, *points, names], size, *limits, title=title)


def positions_of(nodes: list[NetNode]) -> dict[str, tuple[float, float]]:
    """Return node name → position: layers from top to bottom, or time steps of a hidden Markov model from left to right."""
    import networkx as nx

    if all("@" in node.name for node in nodes):
        kinds = list(dict.fromkeys(node.name.split("@")[0] for node in nodes))
        name_parts = {node.name: node.name.split("@") for node in nodes}
        return {
            name: (2.0 * int(t), -1.6 * kinds.index(kind)) for name, (kind, t) in name_parts.items()
        }
    graph, names = nx.DiGraph(), [node.name for node in nodes]
    graph.add_nodes_from(names)
    graph.add_edges_from(
        (parent, node.name) for node in nodes for parent in node.parents if parent in names
    )
    positions, y = {}, 0.0
    for layer in nx.topological_generations(graph):
        layer = sorted(layer, key=names.index)
        lines = -(-len(layer) // MOST_ACROSS)
        n_across = -(-len(layer) // lines)
        for first in range(0, len(layer), n_across):
            members = layer[first : first + n_across]
            for i, name in enumerate(members):
                positions[name] = (1.25 * (i - (len(members) - 1) / 2) + (0.6 if first else 0.0), y)
            y -= 1.15
        y -= 0.35
    return positions


def _node_hover(node: NetNode, information: Information) -> str:
    """Return the tooltip of a node."""
    parents_text = f"\ngiven {', '.join(node.parents)}" if node.parents else ""
    mutual = "".join(
        f"\n{value:.3f} nats shared with {parent}"
        for parent, value in zip(node.parents, information.of_parents, strict=False)
    )
    hidden = ", hidden" if node.hidden else ""
    return f"{node.name}{hidden}{parents_text}\nentropy {information.entropy:.3f} of {information.largest:.3f} nats{mutual}"
