"""Points in the figure beside its lines: moves that were kept, priors of topics, where a perplexity is reached."""

from __future__ import annotations

import numpy as np

from workbench.dashboard.compare.charts import MARKER_OF, RANK
from workbench.dashboard.shared.numbers import COLUMNS, by_size
from workbench.dashboard.shared.run_monitor import Reading


def columns_of(numbers: np.ndarray) -> dict[str, np.ndarray]:
    return {name: numbers[:, at] for at, name in enumerate(COLUMNS)}


def crossings(lines: list[tuple[np.ndarray, str]], column: str, target: float) -> dict:
    """The first row of each line at which a column is at most the target, and its colour; of (numbers, colour) of each."""
    rows, colours = [], []
    for numbers, colour in lines:
        reached = np.flatnonzero(numbers[:, COLUMNS.index(column)] <= target) if len(numbers) else ()
        if len(reached):
            rows.append(numbers[reached[0]])
            colours.append(colour)
    return columns_of(np.array(rows).reshape(len(rows), len(COLUMNS))) | {"colour": colours}


def marks(seen: list[tuple[Reading, str]]) -> dict:
    """The rows of the moves that were kept, how each is marked, and in which colour; of (reading, colour) of each run."""
    kept = [(move, colour) for reading, colour in seen for move in reading.moves if move.accepted]
    rows = [np.empty((0, len(COLUMNS))), *(reading.marks for reading, _ in seen)]
    return columns_of(np.concatenate(rows)) | {
        "marker": [MARKER_OF[move.kind] for move, _ in kept], "colour": [colour for _, colour in kept],
    }


def profiles(seen: list[tuple[Reading, str]]) -> dict:
    """The priors of topics, largest first, in which place each is, and in which colour; of (reading, colour) of each run."""
    priors = [np.empty(0), *(by_size(reading.alphas) for reading, _ in seen)]
    ranks = [np.arange(1, len(prior) + 1) for prior in priors]
    colours = [colour for (_, colour), prior in zip(seen, priors[1:], strict=True) for _ in prior]
    return {RANK[0]: np.concatenate(ranks), "prior": np.concatenate(priors), "colour": colours}
