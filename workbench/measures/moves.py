"""The log of the splits and merges that a run tried."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

KINDS = {1: "split", 2: "merge"}


class Move(NamedTuple):
    """One split or merge that was tried after an iteration."""

    iteration: int
    kind: str        # "split" or "merge"
    giver: int       # the topic that was split, or merged into the other
    taker: int       # the topic that took in the tokens
    gain: float      # nats: bound with the move less bound without it
    accepted: bool   # kept, or taken back

    @property
    def text(self) -> str:
        """As ``split 3 → 17, +12.4 nats, kept``."""
        return f"{self.kind} {self.giver} → {self.taker}, {self.gain_text} nats, {self.outcome}"

    @property
    def gain_text(self) -> str:
        """As ``+12.4``, or two digits of less than one nat."""
        return format(self.gain, "+,.1f" if abs(self.gain) >= 1 else "+.2g").replace("-", "−")

    @property
    def outcome(self) -> str:
        return "kept" if self.accepted else "taken back"


def moves(run: xr.Dataset) -> list[Move]:
    """The moves that a run tried, in order; none of a run that tries none."""
    if "move" not in run:
        return []
    tried = run.isel(iteration=np.flatnonzero(run["move"].values > 0))
    names = ("iteration", "move", "move_from", "move_to", "move_gain", "move_accepted")
    return [
        Move(int(iteration), KINDS[kind], int(giver), int(taker), gain, bool(accepted))
        for iteration, kind, giver, taker, gain, accepted in zip(*(tried[name].values.tolist() for name in names), strict=True)
    ]


def describe_moves(tried: list[Move]) -> str:
    """Numbers of moves tried and kept, as ``12 tried, 5 kept (4 splits, 1 merge)``."""
    kept = [move.kind for move in tried if move.accepted]
    parts = [f"{n} {kind}{'s' * (n != 1)}" for kind in KINDS.values() if (n := kept.count(kind))]
    return f"{len(tried)} tried, {len(kept)} kept" + (f" ({', '.join(parts)})" if parts else "")
