"""The hyperparameters of a run: which it learns, and their last values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures.selection import spec_of
from workbench.models import HDP

SWITCHES = {
    "alpha": "learn_alpha", "beta": "learn_beta", "alpha_total": "learn_alpha", "beta_total": "learn_beta",
    "top_concentration": "learn_gamma",
}
"""The option that decides whether a hyperparameter is learnt: the first two of LDA, the others of the HDP."""


class Hyperparameter(NamedTuple):
    """A prior of a run."""

    name: str              # alpha and beta of LDA; alpha_total, beta_total, top_concentration of the HDP
    how: str               # "fixed", or how it is learnt: "maximised", "sampled", "posterior"
    values: np.ndarray     # at the last iteration: one number, or (topic,) of an alpha for each topic

    @property
    def learnt(self) -> bool:
        return self.how != "fixed"


def hyperparameters(run: xr.Dataset) -> list[Hyperparameter]:
    """The priors of a run with their last values, whether they are learnt or fixed."""
    spec = spec_of(run)
    _, model, options = spec.parts()
    if isinstance(model, HDP):
        samples = "log_joint" in run
        learnt = {name: getattr(options, SWITCHES[name], False) for name in ("alpha_total", "beta_total", "top_concentration")}
        return [
            Hyperparameter(name, ("sampled" if samples else "posterior") if how else "fixed", run[name].values[-1:])
            for name, how in learnt.items() if name in run
        ]
    found = []
    for name in ("alpha", "beta"):
        way = getattr(options, SWITCHES[name], "fixed")
        values = run[name].values[-1] if name in run else getattr(model, name, None)
        if values is not None:
            values = np.unique(np.atleast_1d(np.asarray(values, float))) if np.ptp(values) == 0 else np.asarray(values, float)
            found.append(Hyperparameter(name, str(way), values))
    return found


def learnt_by(run: xr.Dataset) -> list[str]:
    """The names of the hyperparameters that a run learns; see `SWITCHES`."""
    return [each.name for each in hyperparameters(run) if each.learnt and each.name in run]
