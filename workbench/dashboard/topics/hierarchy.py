"""The network of a run: its picture, and the tokens of each row of its levels, down to the topics."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import param
import xarray as xr

from workbench.dashboard.shared.card import Shown
from workbench.dashboard.shared.drawn import code, style
from workbench.dashboard.shared.snapshots import Moment, counts_of, last_of
from workbench.dashboard.topics.filled import Filled
from workbench.dashboard.topics.overview import topic_entries
from workbench.measures import mixtures
from workbench.models.networks.levels import DOCUMENT
from workbench.models.networks.network import Network
from workbench.runs.execution.run import Run
from workbench.runs.spec import RunSpec
from workbench.views import draw_view

MOST_ROWS, MOST_VALUES = 5000, 24
"""Maximum numbers of rows shown of a level (those with the most tokens) and of values of a row; the CSV has all."""
LEAST = 0.01
"""Minimum share of a row's tokens for a shown value."""
SAID = "Sizes are (expected) training tokens. Click a topic to choose it on the whole page."


class Hierarchy(Filled):
    """The picture and the levels; a click on a topic chooses it, and rows are searched in the browser."""

    levels = param.List(doc="What `level_content` makes of each level.")
    topics = param.Dict(
        default={}, doc="Number of a topic as text → its colour, node, label and first words."
    )

    _esm = code("boxed", "hierarchy")
    _stylesheets = style("boxed", "hierarchy")
    _filled = ("levels", "topics")

    def show(self, moment: Moment, spec: RunSpec, labels: dict[int, str]) -> None:
        """Show the levels of a run; nothing if its model has no network of levels."""
        if spec.parts()[1].is_network:
            self.fill(hierarchy_content, moment, labels, waiting="Reading the levels …")
        else:
            self.clear()


@lru_cache(maxsize=3)
def levels_of(moment: Moment) -> xr.Dataset | None:
    """Return the counts of the levels of a network at the last snapshot; None before the first."""

    def names(run) -> list[str]:
        levels = [
            name
            for name, values in run.items()
            if "snapshot" in values.dims and name not in {"n_kw", "n_dk"}
        ]
        return [*levels, "n_k"] if "n_kw" in run else []

    return last_of(moment, names)


@lru_cache(maxsize=3)
def _levels_now(moment: Moment, network: Network) -> list[dict]:
    told = dict(network.describe_levels())
    return [
        level_content(name, found, told[name])
        for name, found in mixtures(levels_of(moment)).items()
    ]


def hierarchy_content(moment: Moment, labels: dict[int, str]) -> dict:
    """Return levels and topics for the card, empty before the first snapshot, and a sentence."""
    network = Run(moment.path).spec.parts()[1]
    if counts_of(moment) is None:
        missing = "no snapshot of its levels yet; they appear with the first"
        return {"levels": [], "topics": {}, "said": f"{moment.path.name} has {missing}."}
    topics = {
        str(one["topic"]): {
            "colour": one["colour"],
            "node": one["node"],
            "words": " ".join(one["words"]),
            "label": labels.get(one["topic"], "").removeprefix(one["node"]).removeprefix(" · "),
        }
        for one in topic_entries(moment, labels)
    }
    return {"levels": _levels_now(moment, network), "topics": topics, "said": SAID}


@lru_cache(maxsize=8)
def network_of(path: Path, hash: str) -> Shown:
    """Return the picture of a run's network, without one if it has none; ``hash`` is that of the run."""
    for picture in draw_view("network", [Run(path).progress()], 1):
        named = replace(picture, name=f"{path.name}-model", title=f"The network, {path.name}")
        return Shown("", named, paths=(path,))
    return Shown()


def level_content(name: str, found: xr.Dataset, told: str) -> dict:
    """Return a level for the card: rows with the most tokens first, and the values of each row likewise.

    A row is [name, tokens, own topic, [[value, topic, tokens], …], number of values left out, their tokens].
    """
    tokens, topic, names, own = (found[of].values for of in ("tokens", "topic", "row", "own"))
    totals, rows = tokens.sum(axis=1), []
    for at in np.argsort(-totals, kind="stable")[:MOST_ROWS]:
        order = np.argsort(-tokens[at], kind="stable")[:MOST_VALUES]
        kept = order[tokens[at, order] > LEAST * totals[at]]
        values = zip(
            kept.tolist(), topic[at, kept].tolist(), tokens[at, kept].tolist(), strict=True
        )
        rest = tokens.shape[1] - len(kept)
        rows.append(
            [
                str(names[at]),
                round(float(totals[at]), 1),
                int(own[at]),
                [[value, leads_to, round(float(n), 1)] for value, leads_to, n in values],
                rest,
                round(float(totals[at] - tokens[at, kept].sum()), 1) if rest else 0.0,
            ]
        )
    return {
        "name": name,
        "told": told,
        "by": list(found.attrs["by"]) or [DOCUMENT],
        "draws": found.attrs["draws"],
        "values": list(map(str, found["value"].values)),
        "n_rows": len(totals),
        "tokens": float(totals.sum()),
        "rows": rows,
    }
