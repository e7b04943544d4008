"""Bayesian networks: the nodes in layers, the distributions of a node, the profiles of classes, one record's posterior."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import spec_of
from workbench.measures.bayes_nets import distributions, information, nodes_of, table_names
from workbench.records import Records
from workbench.runs.afterwards.infer_records import infer_records
from workbench.views.elements import (
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
from workbench.views.style import COLOURS, INK, RC

SMALL = RC | {"ytick.labelsize": 6.5, "xtick.labelsize": 6.5}
LETTERS, MOST_ACROSS = 26, 9
"""Letters of a label, and nodes of one line of a layer."""
INCHES = 0.42, 0.55
"""Width and height of a unit on paper."""
CELLS = ("table", "given", "value", "probability", "deviation", "count")
POSTERIOR = ("record", "node", "state_name", "posterior")
MOST_KNOWN, MOST_HIDDEN = 20, 24
"""Cells of a record of which a caption tells, and hidden nodes that are drawn of it."""
NODES = ("node", "table", "parents", "hidden", "entropy", "mutual_information")


def cells_view(
    values: np.ndarray,
    across: list[str],
    down: list[str],
    title: str = "",
    across_of: str = "state",
):
    """Probabilities (row, column) as `holoviews.Overlay` of a `QuadMesh`; full colour: 1."""
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
        xticks=[(at, fitting(name, LETTERS)) for at, name in enumerate(across)],
        yticks=[(-at, fitting(name, LETTERS)) for at, name in enumerate(down)],
    )


def distribution_controls(run: xr.Dataset) -> tuple[Menu | Slider, ...]:
    """The table, and the snapshot where there are several."""
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
    """One table of one run of each label; by default the first one, in the last snapshot."""
    runs = {label: run for label, run in shown.first("n_cpt").items() if run.sizes["snapshot"]}
    drawn, left_out = fitting_panels(runs)
    rows, panels, hover, named = [], [], [], ""
    for label, run in runs.items():
        known = table_names(run)
        named = table if table in known else known[0]
        at = min(int(snapshot), run.sizes["snapshot"]) - 1 if snapshot else -1
        found = distributions(run, named, at)
        down, across = found["given"].values.tolist(), found["value"].values.tolist()
        told = found.to_dataframe().reset_index()
        rows += rows_of(
            label, run, [[named, *row] for row in told[list(CELLS[1:])].itertuples(index=False)]
        )
        if label in drawn:
            iteration = int(run["snapshot_iteration"].values[at])
            panels.append(
                cells_view(
                    found["probability"].values,
                    across,
                    [row or named for row in down],
                    f"{label}, {named}, iteration {iteration:,}",
                )
            )
            hover.append(_cell_texts(found))
    if panels:
        yield view.picture(
            f"The distributions of the table {named!r}: a row for each combination of states of the parents, with the "
            "probability of each state of the node; full colour: 1. Posterior means given (expected) counts and priors, or "
            f"estimates of expectation maximisation. One run of each label.{left_out}",
            panels,
            [*WHOSE, *CELLS],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
            hover={"QuadMesh": hover},
        )


def _cell_texts(found: xr.Dataset) -> list[str]:
    """What each cell says, from the lowest row up and from left to right."""
    texts = []
    for at in reversed(range(found.sizes["given"])):
        given = str(found["given"].values[at])
        for value in range(found.sizes["value"]):
            mean, deviation, count = (
                float(found[name].values[at, value])
                for name in ("probability", "deviation", "count")
            )
            spread = "" if np.isnan(deviation) else f" ± {deviation:.3f}"
            told = f"{found['value'].values[value]}{given and f', given {given}'}"
            texts.append(f"{told}\nprobability {mean:.3f}{spread}\n{count:,.1f} records")
    return texts


def draw_class_profiles(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Of each latent class the probability of every level of every field, the largest class first."""
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
        levels, found = [], []
        for table in table_names(run)[1:]:
            own = distributions(run, table)
            # of two levels the second says it all
            kept = own.sizes["value"] if own.sizes["value"] != 2 else 1
            levels += [f"{table}={value}" for value in own["value"].values[-kept:]]
            found.append(own["probability"].values[:, -kept:].T)
        table = np.concatenate(found)[:, order]
        rows += rows_of(
            label,
            run,
            [
                [level, int(order[k]), float(sizes[order[k]]), float(table[at, k])]
                for at, level in enumerate(levels)
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
            f"in each class; of a field with two levels the second alone. Full colour: 1. One run of each label.{left_out}",
            panels,
            [*WHOSE, "level", "class", "share", "probability"],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
        )


def record_controls(run: xr.Dataset) -> tuple[Slider, ...]:
    """The record, where there are several."""
    n_records = run.sizes["record"]
    return (Slider("record", "Record", 1, n_records, 1, 1),) if n_records > 1 else ()


def draw_record(view: View, shown: SideBySide, record: float = 1) -> Iterator[Picture]:
    """The posterior of the hidden nodes of one distinct training record, from 1; of one run of each label."""
    runs = {
        label: run
        for label, run in shown.first("n_cpt", "multiplicity").items()
        if run.sizes["snapshot"] and spec_of(run).train in shown.corpora
    }
    drawn, left_out = fitting_panels(runs)
    rows, panels, known = [], [], ""
    for label, run in runs.items():
        records = shown.corpora[spec_of(run).train]
        at = min(int(record), records.n_distinct) - 1
        known = _known(records, at)
        one = Records(
            records.values[[at]],
            records.multiplicities[[at]],
            records.fields,
            records.levels,
            records.name,
        )
        found = infer_records(run, one)["posterior"].isel(record=0)
        if not found.size:
            continue
        told = found.to_dataframe().reset_index().dropna()
        rows += rows_of(
            label,
            run,
            [[at + 1, *row] for row in told[list(POSTERIOR[1:])].itertuples(index=False)],
        )
        if label in drawn:
            panels.append(
                _record_view(
                    found[:MOST_HIDDEN], f"{label}, record {at + 1} of {records.n_distinct:,}"
                )
            )
    if panels:
        yield view.picture(
            "Probability of each state of the hidden nodes of one record, given its known cells and the distributions of the "
            f"run; full colour: 1. {known} One run of each label.{left_out}",
            panels,
            [*WHOSE, *POSTERIOR],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
        )


def _record_view(found: xr.DataArray, title: str):
    """Probabilities (node, state): hidden nodes down, their states across, by number where these have different names."""
    names = found["state_name"].values
    alike = np.all((names == names[0]) | (names == ""), axis=0)
    across = np.where(alike, names[0], found["state"].values.astype(str)).tolist()
    return cells_view(found.values, across, found["node"].values.tolist(), title)


def _known(records: Records, at: int) -> str:
    """What is known of a record, as a sentence."""
    cells = [
        f"{field}={levels[value]}"
        for field, levels, value in zip(
            records.fields, records.levels, records.values[at], strict=True
        )
        if value >= 0
    ]
    more = ", …" * (len(cells) > MOST_KNOWN)
    told = f"{', '.join(cells[:MOST_KNOWN])}{more}" if cells else "no known cell"
    return f"Record {at + 1}, of which there are {records.multiplicities[at]:,}: {told}."


def draw_nodes(view: View, shown: SideBySide) -> Iterator[Picture]:
    """The network of one run of each label: its nodes in layers, a node below its parents."""
    runs = {label: run for label, run in shown.first("n_cpt").items() if run.sizes["snapshot"]}
    drawn, left_out = fitting_panels(runs)
    rows, panels, hover = [], [], []
    for label, run in runs.items():
        nodes = nodes_of(run)
        told = {table: information(run, table) for table in {node.table for node in nodes}}
        rows += rows_of(
            label,
            run,
            [
                [
                    node.name,
                    node.table,
                    ", ".join(node.parents),
                    node.hidden,
                    told[node.table].entropy,
                    ", ".join(f"{each:.4g}" for each in told[node.table].of_parents),
                ]
                for node in nodes
            ],
        )
        if label in drawn:
            panels.append(nodes_view(nodes, told, label))
            hover += [
                [_node_text(node, told[node.table])]
                for node in nodes
                for _ in range(1 + node.hidden)
            ]
    if panels:
        yield view.picture(
            "Nodes of the network, each below its parents. Ringed: hidden; nodes that share a table have its colour. The "
            "darker a node, the larger its entropy in proportion to that of equal probabilities; the wider a line, the larger "
            "the mutual information of its two nodes, both from (expected) counts with the priors. Of a hidden Markov model "
            f"the first places are drawn. One run of each label.{left_out}",
            panels,
            [*WHOSE, *NODES],
            rows,
            legend=False,
            height=height_of(panels),
            runs=list(runs.values()),
            hover={"Points": hover},
        )


def nodes_view(nodes: list, told: dict, title: str = ""):
    """Nodes (`NetNode`) in layers as `holoviews.Overlay` of `Points`, `Path` and `Labels`; told: table → `Information`."""
    at = places(nodes)
    tied = [table for table in told if sum(node.table == table for node in nodes) > 1]
    colours = {
        table: COLOURS[tied.index(table) % len(COLOURS)] if table in tied else INK for table in told
    }
    most = max((each for found in told.values() for each in found.of_parents), default=0.0) or 1.0
    arrows = []
    for node in nodes:
        for parent, shared in zip(node.parents, told[node.table].of_parents, strict=False):
            if parent in at:
                start, end = np.array(at[parent]), np.array(at[node.name])
                along = (end - start) / np.hypot(*(end - start))
                path = np.array([start + 0.24 * along, end - 0.26 * along])
                width = 0.3 + 2.2 * shared / most
                arrows.append(
                    element("Path", [path], color=colours[node.table], linewidth=width, alpha=0.8)
                )
    points = []
    for node in nodes:
        found, ring = told[node.table], {"edgecolor": colours[node.table], "linewidth": 1.0}
        shade = str(round(1.0 - 0.6 * min(found.entropy / found.largest, 1.0), 3))
        if node.hidden:
            points.append(
                element("Points", [at[node.name]], ["x", "y"], color="#ffffff", s=110, **ring)
            )
        points.append(element("Points", [at[node.name]], ["x", "y"], color=shade, s=55, **ring))
    above = {node.name for node in nodes if not node.parents or (node.hidden and "@" in node.name)}
    beside = {name: 0.42 if name in above else -0.42 for name in at}  # where no line is in the way
    names = text_labels(
        [(x, y + beside[name], fitting(name, 12)) for name, (x, y) in at.items()], "names", 6
    )
    x, y = np.array(list(at.values())).T
    limits = (x.min() - 0.7, x.max() + 0.7), (y.min() - 0.7, y.max() + 0.7)
    wide, high = (limits[0][1] - limits[0][0]), (limits[1][1] - limits[1][0])
    size = max(INCHES[0] * wide, 2.0), INCHES[1] * high + 0.3
    return bare_panel([*arrows, *points, names], size, *limits, title=title)


def places(nodes: list) -> dict[str, tuple[float, float]]:
    """Where each node stands: layers from above, long ones on several lines; places of a hidden Markov model side by side."""
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
    found, y = {}, 0.0
    for layer in nx.topological_generations(graph):
        layer = sorted(layer, key=names.index)
        lines = -(-len(layer) // MOST_ACROSS)
        across = -(-len(layer) // lines)
        for first in range(0, len(layer), across):
            line = layer[first : first + across]
            for i, name in enumerate(line):
                found[name] = (1.25 * (i - (len(line) - 1) / 2) + (0.6 if first else 0.0), y)
            y -= 1.15
        y -= 0.35
    return found


def _node_text(node, found) -> str:
    """What a node says of itself."""
    given = f"\ngiven {', '.join(node.parents)}" if node.parents else ""
    shared = "".join(
        f"\n{each:.3f} nats shared with {parent}"
        for parent, each in zip(node.parents, found.of_parents, strict=False)
    )
    hidden = ", hidden" if node.hidden else ""
    return f"{node.name}{hidden}{given}\nentropy {found.entropy:.3f} of {found.largest:.3f} nats{shared}"
