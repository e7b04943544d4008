"""The values of a run that the pages draw: recorded ones, and ones computed from them."""

import numpy as np
import xarray as xr

from workbench.engines import every_score
from workbench.measures.curves import quantity

COLUMNS = (
    "iteration",
    "updates",
    "elapsed",
    "steps",
    "test_perplexity",
    "test_perplexity_state",
    "test_perplexity_average",
    "train_perplexity",
    "test_perplexity_by_document",
    "test_perplexity_joint",
    "bound_per_token",
    "n_active_topics",
    "n_large_topics",
    "effective_topics",
    "alpha_total",
    "beta_total",
    "top_concentration",
    "beta",
    *every_score(),
)
"""The columns of the array that `numbers_of` returns; NaN if a run does not have one."""


def numbers_of(run: xr.Dataset) -> np.ndarray:
    """Return the values of each iteration, (iteration, COLUMNS) float64, from the per-iteration variables of a run."""
    return np.column_stack([_column(run, name) for name in COLUMNS])


def _column(run: xr.Dataset, name: str) -> np.ndarray:
    values = quantity(run, name)
    # LDA records only the prior of each topic
    if values is None and name == "alpha_total" and "alpha" in run:
        values = run["alpha"].sum("topic")
    return (
        np.full(run.sizes["iteration"], np.nan) if values is None else values.values.astype(float)
    )
