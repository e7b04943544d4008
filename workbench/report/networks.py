"""Of networks in a report: what the rows of their levels draw."""

from __future__ import annotations

import numpy as np
import xarray as xr

from workbench.measures import mixtures, spec_of, top_words
from workbench.models.networks.levels import DOCUMENT

MOST_ROWS, MOST_VALUES, WORDS = 12, 6, 4
"""Rows of a level in the page, values of one of them, and words of the topic that a value leads to."""


def hierarchy_tables(by_label: dict[str, xr.Dataset]) -> list[dict]:
    """The levels of a run of each label, with its counts, that is of a network: rows with most tokens first."""
    tables = []
    for label, run in by_label.items():
        if levels := mixtures(run):
            spec = spec_of(run)
            names, described = _topic_names(run), dict(spec.parts()[1].describe_levels())
            tables.append({
                "label": label, "seed": spec.seed, "name": run.attrs["name"],
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
    tokens, topics, values = (found[each].values for each in ("tokens", "topic", "value"))
    totals, rows = tokens.sum(axis=1), []
    for at in np.argsort(-totals, kind="stable")[:MOST_ROWS]:
        order = np.argsort(-tokens[at], kind="stable")[:MOST_VALUES]
        draws = []
        for value in order[tokens[at, order] > 0]:
            node, words = names.get(int(topics[at, value]), ("", ""))  # a value need not lead to a topic
            share = f"{100 * (tokens[at, value] / totals[at]):.0f} %"
            draws.append({"name": node or str(values[value]), "share": share, "words": words})
        share = f"{100 * totals[at] / max(totals.sum(), 1e-300):.1f} %"
        rows.append({"name": str(found["row"].values[at]), "share": share, "draws": draws})
    return {
        "title": f"{', '.join(found.attrs['by']) or DOCUMENT} → {found.attrs['draws']}", "name": name, "told": told,
        "rows": rows, "more": max(len(totals) - MOST_ROWS, 0),
    }
