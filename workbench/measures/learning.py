"""Learnt hyperparameters of a run, and the splits and merges that it tried."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures.selection import spec_of

KINDS = {1: "split", 2: "merge"}


class Hyperparameter(NamedTuple):
    """A prior of a run."""

    # alpha and beta of LDA; alpha_total, beta_total, top_concentration of the HDP
    name: str
    method: str  # "fixed", "maximised", "sampled" or "posterior"
    # at the last iteration: one number, or (topic,) of an alpha for each topic
    values: np.ndarray


def hyperparameters(run: xr.Dataset) -> list[Hyperparameter]:
    """Return the priors of a run with their last values, whether learnt or fixed."""
    _, model, options = spec_of(run).parts()
    priors = []
    for name, method in model.hyperparameters(options).items():
        values = (
            run[name].values[-1] if name in run and run.sizes["iteration"] else getattr(model, name)
        )
        values = np.atleast_1d(np.asarray(values, float))
        method = (
            ("sampled" if "log_joint" in run else "posterior") if method == "learnt" else method
        )
        priors.append(Hyperparameter(name, method, values[:1] if np.ptp(values) == 0 else values))
    return priors


def learnt_by(run: xr.Dataset) -> list[str]:
    """Return the names of the hyperparameters that a run learns."""
    return [
        prior.name
        for prior in hyperparameters(run)
        if prior.method != "fixed" and prior.name in run
    ]


class Move(NamedTuple):
    """A split or merge that was tried after an iteration."""

    iteration: int
    kind: str  # "split" or "merge"
    giver: int  # the topic that is split, or merged into the other
    taker: int  # the topic that receives the tokens
    gain: float  # nats: bound with the move minus bound without it
    accepted: bool  # kept, or undone

    @property
    def text(self) -> str:
        """Return a text such as ``split 3 → 17, +12.4 nats, kept``."""
        return f"{self.kind} {self.giver} → {self.taker}, {self.gain_text} nats, {self.outcome}"

    @property
    def gain_text(self) -> str:
        """Return a text such as ``+12.4``, with two digits below one nat."""
        return format(self.gain, "+,.1f" if abs(self.gain) >= 1 else "+.2g").replace("-", "−")

    @property
    def outcome(self) -> str:
        return "kept" if self.accepted else "undone"


def moves(run: xr.Dataset) -> list[Move]:
    """Return the moves that a run tried, in order; empty if it tries none."""
    if "move" not in run:
        return []
    tried = run.isel(iteration=np.flatnonzero(run["move"].values > 0))
    names = ("iteration", "move", "move_from", "move_to", "move_gain", "move_accepted")
    return [
        Move(int(iteration), KINDS[kind], int(giver), int(taker), gain, bool(accepted))
        for iteration, kind, giver, taker, gain, accepted in zip(
            *(tried[name].values.tolist() for name in names), strict=True
        )
    ]


def describe_moves(tried: list[Move]) -> str:
    """Return the numbers of moves tried and kept, as ``12 tried, 5 kept (4 splits, 1 merge)``."""
    accepted_kinds = [move.kind for move in tried if move.accepted]
    parts = [
        f"{n} {kind}{'s' * (n != 1)}"
        for kind in KINDS.values()
        if (n := accepted_kinds.count(kind))
    ]
    return f"{len(tried)} tried, {len(accepted_kinds)} kept" + (
        f" ({', '.join(parts)})" if parts else ""
    )
