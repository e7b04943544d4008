"""Mixtures of a network of levels: expected tokens by row and value of each level, and the topic behind each value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from workbench.measures.selection import MeasureError, Runs, one_run
from workbench.models.networks.levels import DOCUMENT, WORD, Level, Rows, regions_of, row_dims
from workbench.models.networks.network import Network
from workbench.runs.recorded import model_of

NO_TOPIC = -1
"""Topic number of a value that does not determine the topic from which the word is drawn."""


def mixtures(run: Runs) -> dict[str, xr.Dataset]:
    """Return level → counts (row, value) at the last snapshot, for each hidden level of a network model above the words.

    Observed levels are left out, counts are summed over documents; empty if the model is no network. Dims ``row`` (such as
    "super 2" or the name of an author, in the order of the network) and ``value``: ``tokens`` (row, value); ``topic`` (row,
    value), the row over words from which tokens with this row and value draw their word, or the one with the number of the
    value; and ``own`` (row,), the row over words with the number of the row; -1 if there is none. ``by`` and ``draws`` in attrs
    are names of variables.
    """
    run = one_run(run)
    network = model_of(run)
    if not network.is_network:
        return {}
    path_ends = _PathEnds(network)
    return {
        level.name: _mixture(run, network, level, path_ends)
        for level in network.levels
        if level.draws != WORD and level.kind != "observed"
    }


def mixture_table(run: Runs) -> pd.DataFrame:
    """Return the counts of `mixtures` as one DataFrame: level, row, value, topic (-1: none), node and tokens.

    Cells without tokens are left out.
    """
    run, tables = one_run(run), []
    for name, mixture in mixtures(run).items():
        row, value = np.nonzero(mixture["tokens"].values > 0)
        topic = mixture["topic"].values[row, value]
        node = run["node"].values[topic] if "node" in run.coords else ""
        tables.append(
            pd.DataFrame(
                {
                    "level": name,
                    "row": mixture["row"].values[row],
                    "value": mixture["value"].values[value],
                    "topic": topic,
                    "node": np.where(topic == NO_TOPIC, "", node),
                    "tokens": mixture["tokens"].values[row, value],
                }
            )
        )
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _mixture(run: xr.Dataset, network: Network, level: Level, path_ends: _PathEnds) -> xr.Dataset:
    """Return one level's counts (row, value), and the topics to which its rows and values lead; see `mixtures`."""
    name = f"n_{level.name}"
    if name not in run:
        raise MeasureError(f"the run has no counts '{name}' of its levels; open it with open_run")
    tokens = run[name].isel(snapshot=-1)
    tokens = tokens.sum(DOCUMENT) if DOCUMENT in tokens.dims else tokens
    if len(level.rows) == 1:
        by = [dim for dim in row_dims(level) if dim != DOCUMENT]
        spans = {variable: network.span(level.rows[0], variable) for variable in by}
        tokens = tokens.isel(
            {variable: slice(first, last + 1) for variable, (first, last) in spans.items()}
        )
        tokens = tokens.transpose(
            *(variable for variable in level.rows[0].by if variable != DOCUMENT), level.draws
        )
    n_values = network.size(level.draws)
    tokens = tokens.values.reshape(-1, n_values)
    rows = [(block, values) for block in level.rows for values in network.assignments(block)]
    topics = [
        [path_ends.to(level, block, values, value) for value in range(n_values)]
        for block, values in rows
    ]
    names = [
        ", ".join(network.value_name(variable, value) for variable, value in values.items())
        for _, values in rows
    ]
    return xr.Dataset(
        {
            "tokens": (("row", "value"), tokens.astype(float), {"units": "tokens"}),
            "topic": (("row", "value"), np.array(topics)),
            "own": (
                "row",
                np.array([path_ends.own(level, block, values) for block, values in rows]),
            ),
        },
        {
            # a row without a name depends on the document alone
            "row": np.array([name or "all documents" for name in names], dtype=object),
            "value": np.array(
                [network.value_name(level.draws, value) for value in range(n_values)], dtype=object
            ),
        },
        {
            "by": tuple(dict.fromkeys(variable for _, values in rows for variable in values)),
            "draws": level.draws,
        },
    )


class _PathEnds:
    """A map from a row and a value of a level to the topic (row of the last level) in which the paths through both end."""

    def __init__(self, network: Network):
        self._network, self._regions, self._last = network, regions_of(network), network.levels[-1]
        deciding = {name for region in self._regions for name in region.spans} | {
            n for rows in self._last.rows for n in rows.by
        }
        self._deciding, self._cache = deciding, {}

    def to(self, level: Level, block: Rows, values: dict[str, int], value: int) -> int:
        """Return the topic where all paths through a row and a value end, else that of the value's number, or NO_TOPIC."""
        values = values | {level.draws: value}
        values = {name: number for name, number in values.items() if name in self._deciding}
        key = level.name, block, tuple(values.items())
        if key not in self._cache:
            ends = self._ends(level, block, values)
            unique = [end for end in ends if len(ends) == 1 and set(end.by) <= set(values)]
            self._cache[key] = self._number(
                unique or [end for end in ends if end.by == (level.draws,)], values
            )
        return self._cache[key]

    def own(self, level: Level, block: Rows, values: dict[str, int]) -> int:
        """Return the topic with the same variables and values as a row of a level; NO_TOPIC if there is none."""
        ends = self._ends(level, block, values)
        return self._number([end for end in ends if end.by and set(end.by) == set(values)], values)

    def _ends(self, level: Level, block: Rows, values: dict[str, int]) -> set[Rows]:
        """Return the blocks of the last level in which paths through rows of ``block`` with these ``values`` end."""
        return {
            region.visited[self._last.name]
            for region in self._regions
            if region.visited.get(level.name) == block
            and all(
                region.spans[name][0] <= value <= region.spans[name][1]
                for name, value in values.items()
                if name in region.spans
            )
        }

    def _number(self, ends: list[Rows], values: dict[str, int]) -> int:
        """Return the number of the topic with the variables' ``values`` in the first block of ``ends``, or NO_TOPIC."""
        if not ends:
            return NO_TOPIC
        return int(
            self._network.row_numbers(
                self._last, ends[0], {name: (values[name],) * 2 for name in ends[0].by}
            ).item()
        )
