"""Quantities of each iteration, recorded or derived: steps, bound and log likelihood per token, numbers of topics."""

import numpy as np
import xarray as xr

from workbench.measures.selection import spec_of
from workbench.models import VARIABLES, Variable, topic_numbers

DERIVED = {
    row.name: row
    for row in (
        Variable(
            "log_likelihood",
            ("iteration",),
            "nats",
            "mean log p(w|d) of the held-out tokens: minus the logarithm of the held-out perplexity",
        ),
        Variable(
            "bound_per_token",
            ("iteration",),
            "nats",
            "variational bound divided by the training tokens; for collapsed engines the bound of the collapsed model",
        ),
    )
}
"""Derived quantities, which no engine records; all others are in `workbench.models.VARIABLES`."""
TOPIC_NUMBERS = ("n_active_topics", "n_large_topics", "effective_topics")
BOUNDS = ("collapsed_bound", "bound")
"""Names of bounds, the one that is comparable across engines first."""


def quantity(run: xr.Dataset, name: str) -> xr.DataArray | None:
    """Return a number of each iteration, as recorded or derived; None if the run has neither.

    ``name`` is a variable of the run; or ``steps`` (iterations times topics where it is not recorded), ``log_likelihood``,
    ``bound_per_token``, ``n_active_topics``, ``n_large_topics`` or ``effective_topics``.
    """
    if name in run:
        return run[name]
    if name == "steps" and (n_topics := spec_of(run).n_topics):
        return _named(run, name, run["iteration"].values * float(n_topics))
    if name == "log_likelihood" and "test_perplexity" in run:
        return _named(run, name, -np.log(run["test_perplexity"].values))
    if name == "bound_per_token" and "n_k" in run and (bound_name := bound_of(run)):
        return _named(run, name, run[bound_name].values / n_tokens(run))
    if name in TOPIC_NUMBERS and "n_k" in run:
        return _named(run, name, topic_numbers(run["n_k"].values)[name])
    return None


def topic_counts(run: xr.Dataset) -> xr.Dataset:
    """Return the number of topics at each iteration by three definitions: dim ``iteration``.

    ``n_active_topics``, ``n_large_topics`` and ``effective_topics``, computed from the sizes of the topics also for engines
    that do not record them; see `workbench.models.topic_numbers`.
    """
    numbers = topic_numbers(run["n_k"].values)
    return xr.Dataset({name: _named(run, name, numbers[name]) for name in TOPIC_NUMBERS})


def bound_of(run: xr.Dataset) -> str | None:
    """Return the name of the run's bound that is comparable across engines, or None."""
    return next((name for name in BOUNDS if name in run), None)


def n_tokens(run: xr.Dataset) -> float:
    """Return the number of training tokens, summed over topics."""
    return float(np.rint(run["n_k"].values[-1].sum()))


def _named(run: xr.Dataset, name: str, values: np.ndarray) -> xr.DataArray:
    """Return the values as a variable with the attributes of its name."""
    variable = DERIVED.get(name) or VARIABLES[name]
    return xr.DataArray(
        values, {"iteration": run["iteration"]}, ("iteration",), name, variable.attrs
    )
