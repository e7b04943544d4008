"""Of networks in a report: what the rows of their levels draw."""

from __future__ import annotations

import numpy as np
import xarray as xr

from workbench.measures import NO_TOPIC, mixtures, top_words
from workbench.models.networks.levels import DOCUMENT
from workbench.report.gathering import Gathered, first_of_labels

MOST_ROWS, MOST_VALUES, WORDS = 12, 6, 4
"""Rows of a level in the page, values of one of them, and words of the topic that a value leads to."""


def hierarchy_tables(found: list[Gathered], labels: list[str]) -> list[dict]:
    """The levels of the first run of each label that is of a network and has its counts: rows with most tokens first."""
    tables = []
    for label, each in first_of_labels(found, labels, "phi", "n_kw").items():
        if levels := mixtures(each.dataset):
            names, described = _topic_names(each.dataset), dict(each.spec.parts()[1].describe_levels())
            tables.append({
                "label": label, "seed": each.spec.seed, "name": each.dataset.attrs["name"],
                "levels": [_level(own, name, described[name], names) for name, own in levels.items()],
            })
    return tables


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
