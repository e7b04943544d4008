"""The network of a run: its picture, and what the rows of its levels draw, down to the topics that they lead to."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import ClassVar

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.latest_task import Latest
from workbench.dashboard.shared.snapshots import Moment, counts_of, last_of
from workbench.dashboard.topics.overview import NONE, topics_told
from workbench.measures import mixture_table, mixtures
from workbench.models.networks.levels import DOCUMENT
from workbench.models.networks.network import Network
from workbench.runs.execution.run import Run
from workbench.runs.spec import RunSpec
from workbench.views.network import HALF_HEIGHT, HALF_WIDTH, drawing_of

MOST_ROWS, MOST_VALUES = 5000, 24
"""Rows of a level that are told, those with most tokens, and values of one of them; all are in the table to take away."""
LEAST = 0.01
"""Share of a row's tokens from which a value is told."""
SAID = "Sizes are (expected) training tokens. Click a topic to choose it on the whole page."


class Hierarchy(Drawn):
    """The picture and the levels. A click on a topic chooses it; rows are searched in the browser."""

    network = param.Dict(default={}, doc="What `picture_told` makes of a network; empty where the model is another.")
    levels = param.List(doc="What `level_told` makes of each level.")
    topics = param.Dict(default={}, doc="Number of a topic as text → its colour, node, label and first words.")
    chosen = param.Integer(default=NONE)
    said = param.String()

    _esm = code("boxed", "hierarchy")
    _stylesheets: ClassVar[list[str]] = style("boxed", "hierarchy")

    def __init__(self):
        super().__init__()
        self._latest = Latest()

    def show(self, moment: Moment, labels: dict[int, str]) -> None:
        """Brings picture and levels to a run of a network."""

        def first() -> None:
            if not self.levels:
                self.said = "Reading the levels …"

        def then(result, error) -> None:
            if error is not None:
                self.param.update(levels=[], said=sentence_of(error))
            else:
                self.param.update(**result)

        self._latest.ask((moment, tuple(labels.items())), partial(hierarchy_told, moment, labels), then, first)

    def clear(self) -> None:
        """Nothing is shown."""
        self._latest.forget()
        if self.network:
            self.param.update(network={}, levels=[], topics={}, said="")


def is_network(spec: RunSpec) -> bool:
    """Is the model of a run a network of levels?"""
    return "levels" in spec.model


def network_of_run(moment: Moment) -> Network | None:
    """The network of a run as its spec tells it, authors by number; None where the model is another."""
    network = Run(moment.path).spec.parts()[1]
    return network if isinstance(network, Network) else None


@lru_cache(maxsize=3)
def levels_of(moment: Moment) -> xr.Dataset | None:
    """The run of a network with the counts of its levels at the last snapshot; None before the first."""
    def names(run) -> list[str]:
        levels = [name for name, values in run.items() if "snapshot" in values.dims and name not in {"n_kw", "n_dk"}]
        return [*levels, "n_k"] if "n_kw" in run else []

    return last_of(moment, names)


@lru_cache(maxsize=3)
def mixtures_of(moment: Moment) -> dict[str, xr.Dataset]:
    """Rows of the levels at the last snapshot; none before the first."""
    run = levels_of(moment)
    return {} if run is None else mixtures(run)


def mixture_table_of(moment: Moment):
    """The same as one table."""
    return mixture_table(levels_of(moment))


def hierarchy_told(moment: Moment, labels: dict[int, str]) -> dict:
    """What the card shows: the network, and from the first snapshot on its levels and topics."""
    network = network_of_run(moment)
    if counts_of(moment) is None:
        said = f"{moment.path.name} has no snapshot of its levels yet; they appear with the first."
        return {"network": picture_told(network), "levels": [], "topics": {}, "said": said}
    told = dict(network.describe_levels())
    levels = [level_told(name, found, told[name]) for name, found in mixtures_of(moment).items()]
    topics = {
        str(one["topic"]): {
            "colour": one["colour"], "node": one["node"], "words": " ".join(one["words"]),
            "label": labels.get(one["topic"], "").removeprefix(one["node"]).removeprefix(" · "),
        }
        for one in topics_told(moment, labels)
    }
    return {"network": picture_told(network), "levels": levels, "topics": topics, "said": SAID}


def picture_told(network: Network) -> dict:
    """Where everything of the picture stands, as `workbench.views.network.drawing_of` has it, y going down; and in words."""
    drawing = drawing_of(network)
    (left, right), (low, high) = drawing.limits
    told = dict(network.describe_levels())

    def points(path) -> list[list[float]]:
        return np.column_stack([path[:, 0] - left, high - path[:, 1]]).round(3).tolist()

    return {
        "name": network.name, "width": round(right - left, 3), "height": round(high - low, 3),
        "radii": [HALF_WIDTH, HALF_HEIGHT],
        "arrows": [
            {"path": points(one.path), "head": points(one.head), "name": one.name, "chooses": one.chooses,
             "x": round(one.middle[0] - left, 3), "y": round(high - one.middle[1], 3)}
            for one in drawing.arrows
        ],
        "levels": [
            {"name": level.name, "kind": level.kind, "x": round(drawing.places[level.name][0] - left, 3),
             "y": round(high - drawing.places[level.name][1], 3), "rows": drawing.rows[level.name].split("\n"),
             "told": told[level.name]}
            for level in network.levels
        ],
    }


def level_told(name: str, found: xr.Dataset, told: str) -> dict:
    """A level with its rows, those with most tokens first, each with its values in the same order.

    A row is [name, tokens, own topic, [[value, topic, tokens], …], values that are left out, their tokens].
    """
    tokens, topic = found["tokens"].values, found["topic"].values
    totals = tokens.sum(axis=1)
    largest = np.argsort(-totals, kind="stable")
    rows = []
    for at in largest[:MOST_ROWS]:
        order = np.argsort(-tokens[at], kind="stable")
        kept = [value for value in order[:MOST_VALUES] if tokens[at, value] > LEAST * totals[at]]
        rest = tokens.shape[1] - len(kept)
        rows.append([
            str(found["row"].values[at]), round(float(totals[at]), 1), int(found["own"].values[at]),
            [[int(value), int(topic[at, value]), round(float(tokens[at, value]), 1)] for value in kept],
            rest, round(float(totals[at] - tokens[at, kept].sum()), 1) if rest else 0.0,
        ])
    return {
        "name": name, "told": told, "by": list(found.attrs["by"]) or [DOCUMENT], "draws": found.attrs["draws"],
        "values": [str(value) for value in found["value"].values], "n_rows": len(totals), "tokens": float(totals.sum()),
        "rows": rows,
    }
