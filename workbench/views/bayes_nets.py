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
    fitting,
    height_of,
    panel,
    text_labels,
)
from workbench.views.picture import (
    WHOSE,
    Menu,
    Picture,
    SideBySide,
    Slider,
    View,
    fitting_panels,
    rows_of,
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
        xticks=[(place, fitting(name, LETTERS)) for place, name in enumerate(across)],
        yticks=[(-place, fitting(name, LETTERS)) for place, name in enumerate(down)],
    )


def distribution_controls(run: xr.Dataset) -> tuple[Menu | Slider, ...]:
    """Return the controls that choose a probability table, and a snapshot if there are several."""
    tables, n_snapshots = tuple(table_names(run)), run.sizes["snapshot"]
    menu = (Menu("table", "Table", tables, tables[0]),) if len(tables) > 1 else ()
    slider = (
        (Slider("snapshot", "Snapshot", 1, n_snapshots, 1, n_snapshots, plays=True),)
        if n_snapshots > 1
        else ()
    )
    return menu + slider


def draw_distributions(
    view: View, shown: SideBySide, table: str | None = None, snapshot: float | None = None
) -> Iterator[Picture]:
    """Draw one conditional probability table (default: the first, at the last snapshot) for one run per label."""
    runs = {label: run for label, run in shown.first("n_cpt").items() if run.sizes["snapshot"]}
    drawn, left_out = fitting_panels(runs)
    rows, panels, hover, chosen = [], [], [], ""
    for label, run in runs.items():
        tables = table_names(run)
        chosen = table if table in tables else tables[0]
        index = min(int(snapshot), run.sizes["snapshot"]) - 1 if snapshot else -1
        table_cells = distributions(run, chosen, index)
        down, across = table_cells["given"].values.tolist(), table_cells["value"].values.tolist()
        cells = table_cells.to_dataframe().reset_index()
        rows += rows_of(
            label, run, [[chosen, *row] for row in cells[list(CELLS[1:])].itertuples(index=False)]
        )
        if label in drawn:
            iteration = int(run["snapshot_iteration"].values[index])
            panels.append(
                cells_view(
                    table_cells["probability"].values,
                    across,
                    [row or chosen for row in down],
                    f"{label}, {chosen}, iteration {iteration:,}",
                )
            )
            hover.append(_cell_texts(table_cells))
    if panels:
        yield view.picture(
            f"The distributions of the table {chosen!r}: a row for each combination of states of the parents, with the "
            "probability of each state of the node; full colour: 1. Posterior means given (expected) counts and priors, or "
            f"maximum-likelihood estimates. One run of each label.{left_out}",
            panels,
            [*WHOSE, *CELLS],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
            hover={"QuadMesh": hover},
        )


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
            spread = "" if np.isnan(deviation) else f" ± {deviation:.3f}"
            title = f"{cells['value'].values[value]}{condition and f', condition {condition}'}"
            texts.append(f"{title}\nprobability {mean:.3f}{spread}\n{count:,.1f} records")
    return texts


def draw_class_profiles(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Draw p(level | latent class) of every field, the largest class first."""
    runs = {
        label: run
        for label, run in shown.first("n_cpt", "state_share").items()
        if run.sizes["snapshot"] and spec_of(run).options.get("network") == "latent-class"
    }
    drawn, left_out = fitting_panels(runs)
    rows, panels = [], []
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
        rows += rows_of(
            label,
            run,
            [
                [level, int(order[k]), float(sizes[order[k]]), float(table[row, k])]
                for row, level in enumerate(levels)
                for k in range(len(order))
            ],
        )
        if label in drawn:
            panels.append(
                cells_view(
                    table, [f"{k}: {100 * sizes[k]:.0f} %" for k in order], levels, label, "class"
                )
            )
    if panels:
        yield view.picture(
            "Latent classes with their share of the records, the largest first, and the probability of each level of a field "
            f"in each class (only the second level of binary fields). Full colour: 1. One run of each label.{left_out}",
            panels,
            [*WHOSE, "level", "class", "share", "probability"],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
        )


def record_controls(run: xr.Dataset) -> tuple[Slider, ...]:
    """Return the control that chooses a record, if there are several records."""
    n_records = run.sizes["record"]
    return (Slider("record", "Record", 1, n_records, 1, 1),) if n_records > 1 else ()


def draw_record(view: View, shown: SideBySide, record: float = 1) -> Iterator[Picture]:
    """Draw the posterior of the hidden nodes for one distinct training record (from 1), for one run per label."""
    runs = {
        label: run
        for label, run in shown.first("n_cpt", "multiplicity").items()
        if run.sizes["snapshot"] and spec_of(run).train in shown.corpora
    }
    drawn, left_out = fitting_panels(runs)
    rows, panels, description = [], [], ""
    for label, run in runs.items():
        records = shown.corpora[spec_of(run).train]
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
        cells = posterior.to_dataframe().reset_index().dropna()
        rows += rows_of(
            label,
            run,
            [[index + 1, *row] for row in cells[list(POSTERIOR[1:])].itertuples(index=False)],
        )
        if label in drawn:
            panels.append(
                _record_view(
                    posterior[:MOST_HIDDEN],
                    f"{label}, record {index + 1} of {records.n_distinct:,}",
                )
            )
    if panels:
        yield view.picture(
            "Probability of each state of the hidden nodes of one record, given its known cells and the distributions of the "
            f"run; full colour: 1. {description} One run of each label.{left_out}",
            panels,
            [*WHOSE, *POSTERIOR],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
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
    more = ", …" * (len(cells) > MOST_KNOWN)
    text = f"{', '.join(cells[:MOST_KNOWN])}{more}" if cells else "no known cell"
    return f"Record {index + 1}, which occurs {records.multiplicities[index]:,} times: {text}."


def draw_nodes(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Draw the Bayesian network of one run per label in layers, each node below its parents."""
    runs = {label: run for label, run in shown.first("n_cpt").items() if run.sizes["snapshot"]}
    drawn, left_out = fitting_panels(runs)
    rows, panels, hover = [], [], []
    for label, run in runs.items():
        nodes = nodes_of(run)
        information_by_table = {
            table: information(run, table) for table in {node.table for node in nodes}
        }
        rows += rows_of(
            label,
            run,
            [
                [
                    node.name,
                    node.table,
                    ", ".join(node.parents),
                    node.hidden,
                    information_by_table[node.table].entropy,
                    ", ".join(
                        f"{value:.4g}" for value in information_by_table[node.table].of_parents
                    ),
                ]
                for node in nodes
            ],
        )
        if label in drawn:
            panels.append(nodes_view(nodes, information_by_table, label))
            hover += [
                [_node_hover(node, information_by_table[node.table])]
                for node in nodes
                for _ in range(1 + node.hidden)
            ]
    if panels:
        yield view.picture(
            "Nodes of the network, each below its parents. Hidden nodes have a ring; nodes that share a table have its "
            "colour. Darker nodes have a larger entropy relative to the uniform distribution; wider lines have a larger "
            "mutual information, both from (expected) counts with the priors. For a hidden Markov model the first steps are "
            f"drawn. One run of each label.{left_out}",
            panels,
            [*WHOSE, *NODES],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
            hover={"Points": hover},
        )


def nodes_view(nodes: list[NetNode], information_by_table: dict[str, Information], title: str = ""):
    """Draw a Bayesian network in layers as a `holoviews.Overlay` of `Points`, `Path` and `Labels`."""
    position = places(nodes)
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
        [(x, y + offset[name], fitting(name, 12)) for name, (x, y) in position.items()], "names", 6
    )
    x, y = np.array(list(position.values())).T
    limits = (x.min() - 0.7, x.max() + 0.7), (y.min() - 0.7, y.max() + 0.7)
    wide, high = (limits[0][1] - limits[0][0]), (limits[1][1] - limits[1][0])
    size = max(INCHES[0] * wide, 2.0), INCHES[1] * high + 0.3
    return bare_panel([*arrows, *points, names], size, *limits, title=title)


def places(nodes: list[NetNode]) -> dict[str, tuple[float, float]]:
    """Return node name → position: layers from top to bottom, or time steps of a hidden Markov model from left to right."""
    import networkx as nx

    if all("@" in node.name for node in nodes):
        kinds = list(dict.fromkeys(node.name.split("@")[0] for node in nodes))
        parts = {node.name: node.name.split("@") for node in nodes}
        return {name: (2.0 * int(t), -1.6 * kinds.index(kind)) for name, (kind, t) in parts.items()}
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
