"""The rule that may end a run early: a number has settled, or a budget of steps is spent. Off by default.

A run ends after iteration t when the number x of its rule has changed little over ten iterations::

    | x_t - x_s | <= tolerance | x_t |,    s the latest recorded iteration with t - s >= 10

or, where x is the steps (topics of each iteration, summed), when they have reached the tolerance: a budget for
engines whose number of topics changes.
"""

from typing import NamedTuple

WINDOW = 10
"""Iterations over which the change is measured, at least."""
WATCHED = {"bound": "bound", "perplexity": "test_perplexity_average", "steps": "steps"}
"""Names of the numbers that a rule may be about, and the variable of the run that each stands for."""


class StopRule(NamedTuple):
    """Ends a run when a number has settled to within a relative tolerance, or after a number of steps."""

    on: str  # "bound", "perplexity" or "steps"
    tolerance: float  # of steps: how many

    @property
    def watched(self) -> str:
        """The variable of the run that the rule is about."""
        return WATCHED[self.on]

    def begins_after(self, burn_in: int) -> int:
        """Return the iteration after which the rule applies: the average means nothing before burn-in is over."""
        return burn_in if self.on == "perplexity" else 0

    def settled(self, trail: list[tuple[int, float]]) -> bool:
        """Return whether the rule ends the run, given (iteration, value) of what was recorded."""
        if not trail:
            return False
        now, value = trail[-1]
        if self.on == "steps":
            return value >= self.tolerance
        earlier = [before for iteration, before in trail if now - iteration >= WINDOW]
        return bool(earlier) and abs(value - earlier[-1]) <= self.tolerance * abs(value)

    def describe(self, iteration: int) -> str:
        """Return a sentence about how the rule ended a run after an iteration."""
        if self.on == "steps":
            return f"ended after iteration {iteration}: {self.tolerance:,.0f} steps were taken"
        return f"ended after iteration {iteration}: {self.watched} changed by at most {self.tolerance:g} in {WINDOW} iterations"
