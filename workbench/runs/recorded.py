"""What a run records of every iteration and keeps of every snapshot: by name, with dims and lengths.

Engines say what they watch. A network brings arrays of its own (`workbench.models.networks.variables`), the counts of its
levels and the priors that it learns, which its engines give too. Arrays of an iteration that are not along topics stand in
columns, cell by cell: ``alpha_theta[3]``.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from workbench.engines.lda.hyperparameters import learnt
from workbench.models import VARIABLES, Variable
from workbench.models.networks.network import Network
from workbench.models.networks.variables import sizes_of, variables_of
from workbench.runs.spec import RunSpec

CLOCKS = ("elapsed", "cpu_time", "updates")
PERPLEXITIES = ("test_perplexity", "test_perplexity_state", "test_perplexity_average", "train_perplexity")
CELL = re.compile(r"(.+)\[(\d+)\]")


class Recorded(NamedTuple):
    """What one run leaves behind."""

    names: tuple[str, ...]           # of the scalars of every iteration, and of cells of arrays
    vectors: tuple[str, ...]         # of what every iteration has of each topic
    kept: tuple[str, ...]            # of what a snapshot holds
    variables: dict[str, Variable]   # all that there are, those of the model too
    sizes: dict[str, int]            # length of the dims that the model brings


def recorded(spec: RunSpec) -> Recorded:
    """What a run records and keeps, in order."""
    engine, model, options = spec.parts()
    scored = PERPLEXITIES if spec.test is not None else PERPLEXITIES[-1:]
    learning, own = learnt(options), variables_of(model) if isinstance(model, Network) else ()
    sizes = dimensions(model)
    return Recorded(
        (
            *CLOCKS, *scored, *engine.watches, *(("beta",) if "beta" in learning else ()),
            *(name for each in own if each.dims[0] == "iteration" for name in cells_of(each, sizes)),
        ),
        ("n_k", *engine.vectors, *(("alpha",) if "alpha" in learning else ())),
        (*engine.keeps(options), *(each.name for each in own if each.dims[0] == "snapshot")),
        VARIABLES | {each.name: each for each in own},
        sizes,
    )


def dimensions(model) -> dict[str, int]:
    """Dim → length of what the model brings."""
    return sizes_of(model) if isinstance(model, Network) else {}


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
