"""The network of a run: its picture, and the tokens of each row of its levels, down to the topics."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import xarray as xr
from markupsafe import Markup

from workbench.dashboard.shared.card import Shown
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
SAID = "Sizes are (expected) training tokens. Click a topic to choose it on the whole page."
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


def model_shown(topics: Topics, find: str) -> Shown:
    """Return the picture of a run's network of mixtures, and level rows that match ``find``; empty for other models."""
    path, network = topics.snapshot.path, run_of(topics.snapshot).spec.parts()[1]
    if not network.is_network:
        return Shown()
    picture, levels = network_of(topics.snapshot), None
    if counts_of(topics.snapshot) is not None:
        levels = levels_of(topics.snapshot)
    if levels is None:
        missing = "no snapshot of its levels yet; they appear with the first"
        return Shown(message(f"{path.name} has {missing}."), picture, paths=(path,))
    told = dict(network.describe_levels())
    html = Markup("").join(
        level_html(name, found, told[name], topics, find)
        for name, found in mixtures(levels).items()
    )
    return Shown(message(SAID), picture, html, (path,))


@lru_cache(maxsize=8)
def network_of(snapshot: SnapshotKey):
    """Return the picture of the network of mixtures that is the model of a run."""
    levels = levels_of(snapshot)
    shown = run_of(snapshot).progress() if levels is None else levels
    (picture,) = draw_view("network", [shown], 1)
    return replace(
        picture, name=f"{snapshot.path.name}-model", title=f"The network, {snapshot.path.name}"
    )


def level_html(name: str, found: xr.Dataset, told: str, topics: Topics, find: str) -> Markup:
    """Return a network's level as HTML rows, those with the most tokens first; if there are few rows, they are open."""
    names, totals = found["row"].values.astype(str), found["tokens"].values.sum(axis=1)
    order = np.argsort(-totals, kind="stable").tolist()
    rows = [at for at in order if find.strip().casefold() in names[at].casefold()]
    body = Markup("").join(
        row_html(found.isel(row=at), totals.sum(), topics, len(rows) <= OPEN)
        for at in rows[:MOST_ROWS]
    )
    by, draws = found.attrs["by"], found.attrs["draws"]
    count = f"{min(len(rows), MOST_ROWS)} of {len(rows):,}{' found' if find.strip() else ''}"
    said = count if len(names) > OPEN else ""
    return LEVEL.format(", ".join(by) or f"all {DOCUMENT}s", draws, name, told, said, body)


def row_html(row: xr.Dataset, total: float, topics: Topics, is_open: bool) -> Markup:
    """Return a row of a network's level as HTML: name and share, a strip of its values, and their shares and words."""
    tokens, leads_to, values = (row[of].values for of in ("tokens", "topic", "value"))
    own, n = int(row["own"]), max(float(tokens.sum()), 1e-12)
    order = np.argsort(-tokens, kind="stable")[:MOST_VALUES]
    kept = order[tokens[order] > LEAST * tokens.sum()]
    lines, strip = [], Markup("")
    for at in kept.tolist():
        topic, share = int(leads_to[at]), float(tokens[at] / n)
        name = topics.names.get(topic) or str(values[at])
        words = topics.words.get(topic, "")
        lines.append((chip(topic, name) if topic != NONE else name, bar(share, topic), words))
        strip += PART.format(f"{name}, {100 * share:.1f} %", 100 * share, colour_of(topic))
    if (rest := len(tokens) - len(kept)) and (left := float(tokens.sum() - tokens[kept].sum())) > 0:
        lines.append((f"{rest} more", bar(left / n), ""))
    label = str(row["row"].values)
    html = Markup(Table(COLUMNS, lines, f"{row.attrs['draws']} of {label}").html())
    head = chip(own, label) if own != NONE else label
    size = f"{100 * tokens.sum() / max(total, 1e-12):.1f} %"
    return ROW.format(Markup(' open=""') if is_open else "", head, size, strip, html)
