"""The stop rule that may end a run early: when a quantity has settled, or a budget of steps is spent. Off by default.

A run ends after iteration t when the quantity x of its rule has changed little over ten iterations::

    | x_t - x_s | <= tolerance | x_t |,    s the latest recorded iteration with t - s >= 10

or, if x is the number of steps (the number of topics, summed over iterations), when it has reached the tolerance: a budget for
engines whose number of topics changes.
"""

from typing import NamedTuple

WINDOW = 10
"""Minimum number of iterations over which the change is measured."""
WATCHED = {"bound": "bound", "perplexity": "test_perplexity_average", "steps": "steps"}
"""Quantity of a rule → the variable of the run that it watches."""


class StopRule(NamedTuple):
    """A rule that ends a run once a quantity has settled within a relative tolerance, or after a number of steps."""

    on: str  # "bound", "perplexity" or "steps"
    tolerance: float  # relative tolerance; for "steps" the number of steps

    @property
    def watched(self) -> str:
        """Name of the recorded variable that the rule examines."""
        return WATCHED[self.on]

    def begins_after(self, burn_in: int, warm_up: int) -> int:
        """Return the iteration after which the rule applies: 0 for steps, else end of warm-up and, for perplexity, burn-in."""
        return {"steps": 0, "bound": warm_up}.get(self.on, max(warm_up, burn_in))

    def settled(self, trail: list[tuple[int, float]]) -> bool:
        """Return whether the rule ends the run, given (iteration, value) of the variable so far."""
        if not trail:
            return False
        last_iteration, value = trail[-1]
        if self.on == "steps":
            return value >= self.tolerance
        earlier = [
            earlier_value
            for iteration, earlier_value in trail
            if last_iteration - iteration >= WINDOW
        ]
        return bool(earlier) and abs(value - earlier[-1]) <= self.tolerance * abs(value)

    def describe(self, iteration: int) -> str:
        """Return a sentence that says why the rule ended a run at an iteration."""
        if self.on == "steps":
            return f"ended after iteration {iteration}: {self.tolerance:,.0f} steps were taken"
        return f"ended after iteration {iteration}: {self.watched} changed by at most {self.tolerance:g} in {WINDOW} iterations"
