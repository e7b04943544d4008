"""The rule that may end a run before its last iteration: something that is watched has settled. Off by default.

A run ends after iteration t when the number x that it watches has changed little over ten iterations::

    | x_t - x_s | <= tolerance | x_t |,    s the latest recorded iteration with t - s >= 10
"""

from __future__ import annotations

from typing import NamedTuple

WINDOW = 10
"""Iterations over which the change is measured, at least."""
WATCHED = {"bound": "bound", "perplexity": "test_perplexity_average"}
"""What a rule may look at, and the variable of the run that it is."""


class StopRule(NamedTuple):
    """Ends a run when a number has settled to within a relative tolerance."""

    on: str              # "bound" or "perplexity"
    tolerance: float

    @property
    def watched(self) -> str:
        """The name of the variable."""
        return WATCHED[self.on]

    def begins_after(self, burn_in: int) -> int:
        """The iteration after which it looks: the average means nothing before burn-in is over."""
        return burn_in if self.on == "perplexity" else 0

    def settled(self, trail: list[tuple[int, float]]) -> bool:
        """Has it settled, given (iteration, value) of what was recorded?"""
        if not trail:
            return False
        now, value = trail[-1]
        earlier = [before for iteration, before in trail if now - iteration >= WINDOW]
        return bool(earlier) and abs(value - earlier[-1]) <= self.tolerance * abs(value)

    def told(self, iteration: int) -> str:
        """What happened, as a sentence."""
        return f"ended after iteration {iteration}: {self.watched} changed by at most {self.tolerance:g} in {WINDOW} iterations"
