"""The network of a run: its picture, and the tokens of each row of its levels, down to the topics."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import xarray as xr
from markupsafe import Markup

from workbench.dashboard.shared.card import CardContent
from workbench.dashboard.shared.shell import message
from workbench.dashboard.shared.snapshots import SnapshotKey, counts_of, last_of, run_of
from workbench.dashboard.topics.cells import bar, chip, colour_of
from workbench.dashboard.topics.overview import Topics
from workbench.measures import mixtures
from workbench.models.networks.levels import DOCUMENT
from workbench.tables import Table, texts
from workbench.views import draw_view
from workbench.views.live import NONE

MOST_ROWS, OPEN, MOST_VALUES = 50, 12, 24
"""Maximum numbers of rows shown of a level (those with the most tokens), of rows that are open, and of values of a row."""
LEAST = 0.01
"""Minimum share of a row's tokens for a shown value."""
EXPLANATION = "Sizes are (expected) training tokens. Click a topic to choose it on the whole page."
COLUMNS = texts("Value", "Share", "Words")
LEVEL = Markup(
    '<section><h3>{} → {} <small>level {}: {}</small></h3><p class="hint">{}</p>{}</section>'
)
ROW = Markup(
    '<details{}><summary>{} <small>{} of the tokens</small><span class="strip">{}</span></summary>{}</details>'
)
PART = Markup('<span title="{}" style="width: {:.1f}%; background: {}"></span>')


@lru_cache(maxsize=3)
def levels_of(snapshot: SnapshotKey) -> xr.Dataset | None:
    """Return the counts of each level of a network of mixtures at the last snapshot; None before the first."""

    def names(run) -> list[str]:
        levels = [
            name
            for name, values in run.items()
            if "snapshot" in values.dims and name not in {"n_kw", "n_dk"}
        ]
        return [*levels, "n_k"] if "n_kw" in run else []

    return last_of(snapshot, names)


def model_card(topics: Topics, find: str) -> CardContent:
    """Return the picture of a run's network of mixtures, and level rows that match ``find``; empty for other models."""
    path, network = topics.snapshot.path, run_of(topics.snapshot).spec.parts()[1]
    if not network.is_network:
        return CardContent()
    picture, levels = network_of(topics.snapshot), None
    if counts_of(topics.snapshot) is not None:
        levels = levels_of(topics.snapshot)
    if levels is None:
        missing = "no snapshot of its levels yet; they appear with the first"
        return CardContent(message(f"{path.name} has {missing}."), picture, paths=(path,))
    descriptions = dict(network.describe_levels())
    html = Markup("").join(
        level_html(name, level, descriptions[name], topics, find)
        for name, level in mixtures(levels).items()
    )
    return CardContent(message(EXPLANATION), picture, html, (path,))


@lru_cache(maxsize=8)
def network_of(snapshot: SnapshotKey):
    """Return the picture of the network of mixtures that is the model of a run."""
    levels = levels_of(snapshot)
    run_of_picture = run_of(snapshot).progress() if levels is None else levels
    (picture,) = draw_view("network", [run_of_picture], 1)
    return replace(
        picture, name=f"{snapshot.path.name}-model", title=f"The network, {snapshot.path.name}"
    )


def level_html(name: str, level: xr.Dataset, description: str, topics: Topics, find: str) -> Markup:
    """Return a network's level as HTML rows, those with the most tokens first; if there are few rows, they are open."""
    names, totals = level["row"].values.astype(str), level["tokens"].values.sum(axis=1)
    order = np.argsort(-totals, kind="stable").tolist()
    rows = [row for row in order if find.strip().casefold() in names[row].casefold()]
    body = Markup("").join(
        row_html(level.isel(row=row), totals.sum(), topics, len(rows) <= OPEN)
        for row in rows[:MOST_ROWS]
    )
    conditions, draws = level.attrs["by"], level.attrs["draws"]
    count = f"{min(len(rows), MOST_ROWS)} of {len(rows):,}{' found' if find.strip() else ''}"
    count_text = count if len(names) > OPEN else ""
    return LEVEL.format(
        ", ".join(conditions) or f"all {DOCUMENT}s", draws, name, description, count_text, body
    )


def row_html(row: xr.Dataset, total: float, topics: Topics, is_open: bool) -> Markup:
    """Return a row of a network's level as HTML: name and share, a strip of its values, and their shares and words."""
    tokens, leads_to, values = (row[variable].values for variable in ("tokens", "topic", "value"))
    topic_of_row, n = int(row["own"]), max(float(tokens.sum()), 1e-12)
    order = np.argsort(-tokens, kind="stable")[:MOST_VALUES]
    values_shown = order[tokens[order] > LEAST * tokens.sum()]
    lines, strip = [], Markup("")
    for value_index in values_shown.tolist():
        topic, share = int(leads_to[value_index]), float(tokens[value_index] / n)
        name = topics.names.get(topic) or str(values[value_index])
        words = topics.words.get(topic, "")
        lines.append((chip(topic, name) if topic != NONE else name, bar(share, topic), words))
        strip += PART.format(f"{name}, {100 * share:.1f} %", 100 * share, colour_of(topic))
    if (n_further := len(tokens) - len(values_shown)) and (
        tokens_left := float(tokens.sum() - tokens[values_shown].sum())
    ) > 0:
        lines.append((f"{n_further} more", bar(tokens_left / n), ""))
    label = str(row["row"].values)
    html = Markup(Table(COLUMNS, lines, f"{row.attrs['draws']} of {label}").html())
    head = chip(topic_of_row, label) if topic_of_row != NONE else label
    size = f"{100 * tokens.sum() / max(total, 1e-12):.1f} %"
    return ROW.format(Markup(' open=""') if is_open else "", head, size, strip, html)
