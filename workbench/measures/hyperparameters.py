"""The hyperparameters of a run: which it learns, and their last values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures.selection import spec_of


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
    _, model, options = spec_of(run).parts()
    found = []
    for name, how in model.hyperparameters(options).items():
        values = run[name].values[-1] if name in run and run.sizes["iteration"] else getattr(model, name)
        values = np.atleast_1d(np.asarray(values, float))
        how = ("sampled" if "log_joint" in run else "posterior") if how == "learnt" else how
        found.append(Hyperparameter(name, how, values[:1] if np.ptp(values) == 0 else values))
    return found


def learnt_by(run: xr.Dataset) -> list[str]:
    """The names of the hyperparameters that a run learns."""
    return [each.name for each in hyperparameters(run) if each.learnt and each.name in run]
