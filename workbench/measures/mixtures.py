"""Levels of a run of a network: expected tokens of each value that a row draws, and the topic that the value leads to."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from workbench.measures.selection import MeasureError, one_run
from workbench.models.networks.levels import DOCUMENT, WORD, Level, Rows, regions_of
from workbench.models.networks.network import Network
from workbench.models.networks.variables import row_dims
from workbench.runs.dataset import model_of

NO_TOPIC = -1
"""The topic number of a value that does not determine, alone, which topic the word comes from."""
EVERYWHERE = "all documents"
"""The row of a level that documents number alone."""


def mixtures(run) -> dict[str, xr.Dataset]:
    """The rows of each level of a network but the last at the last snapshot, those of documents summed over the documents.

    By name of the level, observed ones apart; none where the model is no network. Dims ``row`` (as in "super 2" or the name of
    an author, in the order of the network) and ``value``: ``tokens`` (row, value), ``topic`` (row, value), the row over words
    that a token of that value in that row draws from, or that the value has as its own; and ``own`` (row,), the row over words
    that is the row's own; -1 where there is none. ``by`` and ``draws`` in attrs name variables.
    """
    run = one_run(run)
    network = model_of(run)
    if not network.is_network:
        return {}
    leads = _Leads(network)
    return {
        level.name: _mixture(run, network, level, leads)
        for level in network.levels
        if level.draws != WORD and level.kind != "observed"
    }


def mixture_table(run) -> pd.DataFrame:
    """The same as one table: level, row, value, topic (-1: none), node (its name in networks of several kinds) and tokens.

    Pairs of row and value without a token are left out.
    """
    run, tables = one_run(run), []
    for name, found in mixtures(run).items():
        row, value = np.nonzero(found["tokens"].values > 0)
        topic = found["topic"].values[row, value]
        node = run["node"].values[topic] if "node" in run.coords else ""
        tables.append(
            pd.DataFrame(
                {
                    "level": name,
                    "row": found["row"].values[row],
                    "value": found["value"].values[value],
                    "topic": topic,
                    "node": np.where(topic == NO_TOPIC, "", node),
                    "tokens": found["tokens"].values[row, value],
                }
            )
        )
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _mixture(run: xr.Dataset, network: Network, level: Level, leads: _Leads) -> xr.Dataset:
    name = f"n_{level.name}"
    if name not in run:
        raise MeasureError(
            f"wanted a run with the counts of its levels; there is no '{name}': open it with open_run"
        )
    tokens = run[name].isel(snapshot=-1)
    tokens = tokens.sum(DOCUMENT) if DOCUMENT in tokens.dims else tokens
    if len(level.rows) == 1:
        by = [dim for dim in row_dims(level) if dim != DOCUMENT]
        spans = {each: network.span(level.rows[0], each) for each in by}
        tokens = tokens.isel(
            {each: slice(first, last + 1) for each, (first, last) in spans.items()}
        )
        tokens = tokens.transpose(
            *(each for each in level.rows[0].by if each != DOCUMENT), level.draws
        )
    tokens, n_values = (
        tokens.values.reshape(-1, network.size(level.draws)),
        network.size(level.draws),
    )
    rows = [(block, given) for block in level.rows for given in network.assignments(block)]
    topic = [
        [leads.to(level, block, given, value) for value in range(n_values)] for block, given in rows
    ]
    names = [
        ", ".join(network.value_name(each, value) for each, value in given.items())
        for _, given in rows
    ]
    return xr.Dataset(
        {
            "tokens": (("row", "value"), tokens.astype(float), {"units": "tokens"}),
            "topic": (("row", "value"), np.array(topic)),
            "own": ("row", np.array([leads.own(level, block, given) for block, given in rows])),
        },
        {
            "row": np.array([name or EVERYWHERE for name in names], dtype=object),
            "value": np.array(
                [network.value_name(level.draws, value) for value in range(n_values)], dtype=object
            ),
        },
        {
            "by": tuple(dict.fromkeys(each for _, given in rows for each in given)),
            "draws": level.draws,
        },
    )


class _Leads:
    """Where the paths of a network end that visit a row of a level, and draw a value there."""

    def __init__(self, network: Network):
        self._network, self._regions, self._last = network, regions_of(network), network.levels[-1]
        telling = {name for region in self._regions for name in region.spans} | {
            n for rows in self._last.rows for n in rows.by
        }
        self._telling, self._found = telling, {}

    def to(self, level: Level, block: Rows, given: dict[str, int], value: int) -> int:
        """The row over words that all paths with this value end in, else the one that is the value's own."""
        given = given | {level.draws: value}
        given = {name: own for name, own in given.items() if name in self._telling}
        key = level.name, block, tuple(given.items())
        if key not in self._found:
            ends = self._ends(level, block, given)
            sure = [end for end in ends if len(ends) == 1 and set(end.by) <= set(given)]
            self._found[key] = self._number(
                sure or [end for end in ends if end.by == (level.draws,)], given
            )
        return self._found[key]

    def own(self, level: Level, block: Rows, given: dict[str, int]) -> int:
        """The row over words that has the number of a row of a level."""
        ends = self._ends(level, block, given)
        return self._number([end for end in ends if end.by and set(end.by) == set(given)], given)

    def _ends(self, level: Level, block: Rows, given: dict[str, int]) -> set[Rows]:
        """The blocks of rows over words where paths with these values end."""
        return {
            region.visited[self._last.name]
            for region in self._regions
            if region.visited.get(level.name) == block
            and all(
                region.spans[name][0] <= value <= region.spans[name][1]
                for name, value in given.items()
                if name in region.spans
            )
        }

    def _number(self, ends: list[Rows], given: dict[str, int]) -> int:
        if not ends:
            return NO_TOPIC
        return int(
            self._network.row_numbers(
                self._last, ends[0], {name: (given[name],) * 2 for name in ends[0].by}
            ).item()
        )
