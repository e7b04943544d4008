"""What figures and report tell of networks: the picture of each, and what the rows of its levels draw."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from workbench.measures import NO_TOPIC, MeasureError, mixture_table, mixtures, spec_of, top_words
from workbench.models.networks.levels import DOCUMENT
from workbench.models.networks.network import Network
from workbench.report.drawing import option
from workbench.report.gathering import Gathered
from workbench.report.picture import Picture, file_names
from workbench.views import network_view

MOST_ROWS, MOST_VALUES, WORDS = 12, 6, 4
"""Rows of a level in the page, values of one of them, and words of the topic that a value leads to."""
COLUMNS = ("level", "row", "value", "topic", "node", "tokens")


def network_pictures(runs: list[xr.Dataset]) -> list[Picture]:
    """The picture of each network, with the tokens of its rows and values in one run that has its counts behind it."""
    own: dict[Network, list[xr.Dataset]] = {}
    for run in runs:
        network = spec_of(run).parts()[1]
        if isinstance(network, Network):
            own.setdefault(network, []).append(run)
    return [
        _picture(network, members, short)
        for (network, members), short in zip(own.items(), file_names(each.name for each in own), strict=True)
    ]


def _picture(network: Network, runs: list[xr.Dataset], short: str) -> Picture:
    view, table = network_view(network), _table(runs)
    return Picture(
        f"network-{short}", f"The network {network.name}", network_told(network), [view],
        list(COLUMNS), table.to_numpy(object).tolist(), legend=False, height=option(view, "fig_inches")[1], runs=runs,
    )


def network_told(network: Network) -> str:
    """Of the picture of a network."""
    says = "; ".join(f"{name}: {told}" for name, told in network.describe_levels())
    return (
        "Mixture levels (ellipses: blue with a Dirichlet prior, grey known, open estimated) and the variables that they draw "
        "(arrows, with their number of values; dotted where a variable only decides what is visited). What follows a level's "
        f"name numbers its rows, what follows the arrow is drawn. {says}."
    )


def _table(runs: list[xr.Dataset]) -> pd.DataFrame:
    """Of the first run that has the counts of its levels; empty where none has."""
    for run in runs:
        try:
            return mixture_table(run).reindex(columns=COLUMNS)
        except MeasureError:
            continue
    return pd.DataFrame(columns=COLUMNS)


def hierarchy_tables(found: list[Gathered], labels: list[str]) -> list[dict]:
    """The levels of the first run of each label that is of a network and has its counts: rows with most tokens first."""
    tables = {}
    for each, label in zip(found, labels, strict=True):
        if label in tables:
            continue
        try:
            levels = mixtures(each.dataset)
        except MeasureError:
            continue
        if levels:
            network, names = each.spec.parts()[1], _topic_names(each.dataset)
            told = dict(network.describe_levels())
            tables[label] = {
                "label": label, "seed": each.spec.seed, "name": each.dataset.attrs["name"],
                "levels": [_level(own, name, told[name], names) for name, own in levels.items()],
            }
    return list(tables.values())


def _topic_names(run: xr.Dataset) -> dict[int, tuple[str, str]]:
    """Topic → what it is of, where the network has rows of several kinds, and its first words."""
    words = top_words(run, WORDS)["word"]
    nodes = run["node"].values if "node" in run.coords else [""] * run.sizes["topic"]
    return {
        int(topic): (str(node), " ".join(map(str, own)))
        for topic, node, own in zip(run["topic"].values, nodes, words.values, strict=True)
    }


def _level(found: xr.Dataset, name: str, told: str, names: dict[int, tuple[str, str]]) -> dict:
    tokens, topics = found["tokens"].values, found["topic"].values
    totals = tokens.sum(axis=1)
    rows = []
    for at in np.argsort(-totals, kind="stable")[:MOST_ROWS]:
        order = [value for value in np.argsort(-tokens[at], kind="stable")[:MOST_VALUES] if tokens[at, value] > 0]
        rows.append({
            "name": str(found["row"].values[at]), "share": f"{100 * totals[at] / max(totals.sum(), 1e-300):.1f} %",
            "draws": [
                _value(str(found["value"].values[value]), int(topics[at, value]), tokens[at, value] / totals[at], names)
                for value in order
            ],
        })
    return {
        "title": f"{', '.join(found.attrs['by']) or DOCUMENT} → {found.attrs['draws']}", "name": name, "told": told,
        "rows": rows, "more": max(len(totals) - MOST_ROWS, 0),
    }


def _value(name: str, topic: int, share: float, names: dict[int, tuple[str, str]]) -> dict:
    node, words = ("", "") if topic == NO_TOPIC else names[topic]
    return {"name": node or name, "share": f"{100 * share:.0f} %", "words": words}
