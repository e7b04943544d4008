"""The lines (curves) of the figure: one per run, or one for the mean of runs that differ only in seed and split."""

from collections import Counter
from functools import reduce
from typing import NamedTuple

import numpy as np

from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import Reading
from workbench.measures.curves import mean_and_error
from workbench.measures.selection import labels_of_specs

NO_ROWS = np.empty((0, len(COLUMNS)))
GROUPINGS = ("each run", "mean of seeds")
NEWEST, MOST = 64, 500
"""Maximum numbers of runs compared: of the newest, if none is chosen, and of chosen ones."""


class Line(NamedTuple):
    """A curve of the figure, which shows one run or the mean of several runs."""

    key: str  # stays while runs join the line, so that it keeps its slot
    label: str  # empty: what distinguishes the run from the others drawn
    names: tuple[str, ...]  # its runs


NOTHING = Line("", "", ())
"""The line of a slot that is not used."""


def mean_lines(readings: list[Reading]) -> list[Line]:
    """Return a line for each label with all its runs (newest first), grouped as in `workbench.measures.mean_curves`."""
    groups: dict[str, list[str]] = {}
    for reading, label in zip(
        readings, labels_of_specs([reading.spec for reading in readings]), strict=True
    ):
        groups.setdefault(label, []).append(reading.name)
    return [
        Line(
            names[-1], label if len(names) == 1 else f"{label} · mean of {len(names)}", tuple(names)
        )
        for label, names in groups.items()
    ]


def fitting_lines(lines: list[Line], most: int) -> list[Line]:
    """Return the leading lines whose runs total at most ``most``, and always the first; no line is divided."""
    totals = np.cumsum([len(line.names) for line in lines])
    return lines[: max(1, int(np.searchsorted(totals, most, side="right")))]


class Mean:
    """The mean over runs and its standard error, at the iterations that all runs have; computed once per iteration.

    ``numbers`` (point, COLUMNS) are the means, or the values of a single run; ``errors`` has the same shape, empty for one run.
    """

    def __init__(self):
        self.of: tuple = ()  # (name, stride) of each run that has begun
        self.numbers, self.errors = NO_ROWS, NO_ROWS

    def follow(self, readings: list[Reading]) -> None:
        """Add the new records of the runs that have begun."""
        begun = [reading for reading in readings if len(reading.numbers)]
        runs_and_strides = tuple((reading.name, reading.stride) for reading in begun)
        last_shared = self.numbers[-1, 0] if len(self.numbers) else 0.0
        # a run that was restarted is shorter
        if runs_and_strides != self.of or any(
            reading.numbers[-1, 0] < last_shared for reading in begun
        ):
            self.of, last_shared, self.numbers, self.errors = (
                runs_and_strides,
                0.0,
                NO_ROWS,
                NO_ROWS,
            )
        if len(begun) == 1:
            self.numbers = begun[0].numbers
        elif begun:
            numbers, errors = mean_of(
                [
                    reading.numbers[np.searchsorted(reading.numbers[:, 0], last_shared, "right") :]
                    for reading in begun
                ]
            )
            self.numbers, self.errors = (
                np.concatenate([self.numbers, numbers]),
                np.concatenate([self.errors, errors]),
            )


def mean_of(tables: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard error over runs, (point, COLUMNS) each, at the iterations that all runs have."""
    shared_iterations = reduce(np.intersect1d, [rows[:, 0] for rows in tables])
    with np.errstate(invalid="ignore"):  # a bound may be infinite
        return mean_and_error([rows[np.isin(rows[:, 0], shared_iterations)] for rows in tables])


def distinct_labels(readings: list[Reading]) -> dict[str, str]:
    """Return a dict name -> label of the run; runs that share a label get the seed appended, or else the name."""
    specs = {reading.name: reading.spec for reading in readings if reading.spec is not None}
    labels = {reading.name: reading.label for reading in readings}
    labels |= zip(specs, labels_of_specs(list(specs.values())), strict=True)
    for tells in (lambda name: f"seed {specs[name].seed}", lambda name: name):
        same = {label for label, n in Counter(labels.values()).items() if n > 1}
        labels |= {name: f"{labels[name]}, {tells(name)}" for name in specs if labels[name] in same}
    return labels
