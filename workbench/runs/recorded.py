"""What a run records of every iteration and keeps of every snapshot: by name, with dims and lengths.

An engine names the scalars that it computes, a model the arrays that it brings (`recorded` of `workbench.models`). Arrays of an
iteration that are not along topics, whose number may grow, are stored in columns, cell by cell: ``alpha_theta[3]``.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from workbench.models import VARIABLES, Variable
from workbench.runs.spec import RunSpec

CLOCKS = ("elapsed", "cpu_time", "updates")
PERPLEXITIES = ("test_perplexity", "test_perplexity_state", "test_perplexity_average", "train_perplexity")
CELL = re.compile(r"(.+)\[(\d+)\]")


class Recorded(NamedTuple):
    """What one run records and keeps."""

    names: tuple[str, ...]           # of the scalars of every iteration, and of cells of arrays
    vectors: tuple[str, ...]         # of what every iteration has of each topic; none where there are no topics
    kept: tuple[str, ...]            # of what a snapshot holds
    variables: dict[str, Variable]   # all that there are, those of the model too
    sizes: dict[str, int]            # length of the dims that the model brings


def recorded(spec: RunSpec) -> Recorded:
    """What a run records and keeps, in order."""
    engine, model, options = spec.parts()
    scored = PERPLEXITIES if spec.test is not None else PERPLEXITIES[-1:]
    own, sizes = model.recorded(options), model.dims()
    of_topics = [each.name for each in own if each.dims == ("iteration", "topic")]
    cells = [each for each in own if each.dims[0] == "iteration" and each.name not in of_topics]
    return Recorded(
        (*CLOCKS, *scored, *engine.watches, *(name for each in cells for name in cells_of(each, sizes))),
        tuple(of_topics),
        (*(each.name for each in own if each.dims[0] == "snapshot"), *engine.keeps),
        VARIABLES | {each.name: each for each in own},
        sizes,
    )


def cells_of(variable: Variable, sizes: dict[str, int]) -> list[str]:
    """The columns of an array of every iteration: its own name where it is a number."""
    if len(variable.dims) == 1:
        return [variable.name]
    return [f"{variable.name}[{i}]" for i in range(math.prod(sizes[dim] for dim in variable.dims[1:]))]


def in_columns(numbers: dict) -> dict:
    """Numbers of an iteration with arrays taken apart, cell by cell."""
    found = {}
    for name, value in numbers.items():
        if np.ndim(value):
            found |= {f"{name}[{i}]": cell for i, cell in enumerate(np.ravel(value))}
        else:
            found[name] = value
    return found


def put_together(data: dict[str, np.ndarray], variables: dict[str, Variable], sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Columns (iteration,) by name with those of an array as one (iteration, …)."""
    found, cells = {}, {}
    for name, values in data.items():
        if cell := CELL.fullmatch(name):
            cells.setdefault(cell[1], []).append(values)
        else:
            found[name] = values
    for name, columns in cells.items():
        found[name] = np.stack(columns, axis=-1).reshape(-1, *(sizes[dim] for dim in variables[name].dims[1:]))
    return found
