"""The network of a run: its picture, and what the rows of its levels draw, down to the topics that they lead to."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.snapshots import Moment, counts_of, last_of
from workbench.dashboard.topics.filler import Filler
from workbench.dashboard.topics.overview import NONE, topic_entries
from workbench.measures import mixture_table, mixtures
from workbench.models.networks.levels import DOCUMENT
from workbench.models.networks.network import Network
from workbench.report.drawing import draw, inline
from workbench.runs.execution.run import Run
from workbench.runs.spec import RunSpec
from workbench.views.elements import height_of
from workbench.views.network import network_view

MOST_ROWS, MOST_VALUES = 5000, 24
"""Rows of a level that are shown, those with most tokens, and values of one of them; the CSV has all."""
LEAST = 0.01
"""Share of a row's tokens from which a value is shown."""
SAID = "Sizes are (expected) training tokens. Click a topic to choose it on the whole page."


class Hierarchy(Drawn):
    """The picture and the levels. A click on a topic chooses it; rows are searched in the browser."""

    network = param.Dict(default={}, doc="What `picture_of` makes of a network; empty where the model is another.")
    levels = param.List(doc="What `level_content` makes of each level.")
    topics = param.Dict(default={}, doc="Number of a topic as text → its colour, node, label and first words.")
    chosen = param.Integer(default=NONE)
    said = param.String()

    _esm = code("boxed", "hierarchy")
    _stylesheets: ClassVar[list[str]] = style("boxed", "hierarchy")

    def __init__(self):
        super().__init__()
        self._filler = Filler(self, "network", "levels", "topics")

    def show(self, moment: Moment, labels: dict[int, str]) -> None:
        """Brings picture and levels to a run of a network."""
        self._filler.fill(hierarchy_content, moment, labels, waiting="Reading the levels …")

    def clear(self) -> None:
        """Nothing is shown."""
        self._filler.clear()


def is_network(spec: RunSpec) -> bool:
    """Is the model of a run a network of levels?"""
    return "levels" in spec.model


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


def hierarchy_content(moment: Moment, labels: dict[int, str]) -> dict:
    """What the card shows: the network, and from the first snapshot on its levels and topics."""
    network = Run(moment.path).spec.parts()[1]
    if counts_of(moment) is None:
        said = f"{moment.path.name} has no snapshot of its levels yet; they appear with the first."
        return {"network": picture_of(network), "levels": [], "topics": {}, "said": said}
    told = dict(network.describe_levels())
    levels = [level_content(name, found, told[name]) for name, found in mixtures_of(moment).items()]
    topics = {
        str(one["topic"]): {
            "colour": one["colour"], "node": one["node"], "words": " ".join(one["words"]),
            "label": labels.get(one["topic"], "").removeprefix(one["node"]).removeprefix(" · "),
        }
        for one in topic_entries(moment, labels)
    }
    return {"network": picture_of(network), "levels": levels, "topics": topics, "said": SAID}


@lru_cache(maxsize=8)
def picture_of(network: Network) -> dict[str, str]:
    """Name and picture of a network, an element of a page."""
    panels = [network_view(network)]
    described = f"network {network.name}: {'; '.join(f'{name}: {text}' for name, text in network.describe_levels())}"
    svg = draw(panels, 2, ("svg",), False, height_of(panels))["svg"].decode()
    return {"name": network.name, "svg": inline(svg, "network", described)}


def level_content(name: str, found: xr.Dataset, told: str) -> dict:
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
