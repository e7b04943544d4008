"""Does what a paper says of its engines hold in our runs? The numbers, and a verdict that knows their standard error."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures import replicate_of, spec_of
from workbench.papers.records import Claim

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
LEVEL = 0.01
"""Two perplexities are on a level within one percent of the second; standard and collapsed ones differ by twenty."""
SETTLED = 0.01
"""A run has come to its final perplexity when it is, and stays, within one percent of it."""
SAME = 1e-9
"""Relative: rounding in another order of adding up, and no more."""


class Verdict(NamedTuple):
    """A claim and what the runs say of it."""

    claim: Claim
    outcome: str        # HOLDS, FAILS or UNDECIDED
    measured: str       # the numbers in words
    difference: float   # mean over pairs of runs, first minus second; NaN without a pair
    error: float        # its standard error; NaN for a single pair
    n_pairs: int


def judge(claims, runs: list[xr.Dataset]) -> list[Verdict]:
    """A verdict for each claim, from pairs of runs with the same split and the same seed.

    What is claimed holds, or does not, when the whole 95 % interval of the mean difference says so; otherwise
    it is undecided, as it is with a single pair.
    """
    by_engine: dict[str, dict[tuple, xr.Dataset]] = {}
    for run in runs:
        by_engine.setdefault(spec_of(run).engine, {})[replicate_of(run)] = run
    return [_judge(claim, by_engine.get(claim.first, {}), by_engine.get(claim.second, {})) for claim in claims]


def _judge(claim: Claim, first: dict, second: dict) -> Verdict:
    number = NUMBERS[claim.kind]
    pairs = [(number(first[key]), number(second[key])) for key in first if key in second]
    if not pairs:
        return weigh(claim, np.empty((0, 2)), claim.second if first else claim.first)
    return weigh(claim, np.array(pairs, float))


def weigh(claim: Claim, values: np.ndarray, missing: str = "") -> Verdict:
    """The verdict on a claim, given the numbers of pairs of runs.

    values : (pair, 2) of the first and of the second.
    """
    if not len(values):
        told = f"no pair of runs; {missing or f'{claim.first} or {claim.second}'} is missing"
        return Verdict(claim, UNDECIDED, told, math.nan, math.nan, 0)
    unit, digits = TOLD[claim.kind]
    differences, (mean_first, mean_second) = values[:, 0] - values[:, 1], values.mean(axis=0)
    mean, n = float(differences.mean()), len(values)
    error = float(differences.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    told = f"{claim.first} {unit}{mean_first:,.{digits}f}, {claim.second} {unit}{mean_second:,.{digits}f}: {mean:+,.{digits}f}"
    told += f" ± {error:,.{digits}f} ({n} pairs)" if n > 1 else " (one pair)"
    if claim.kind == "same":
        outcome = HOLDS if np.all(np.abs(differences) <= SAME * np.abs(values[:, 1])) else FAILS
    else:
        higher = -1.0 if claim.kind in ("likelier", "bound") else 1.0
        outcome = _outcome(higher * mean, error, n, LEVEL * mean_second if claim.kind == "level" else None)
    return Verdict(claim, outcome, told, mean, error, n)


def _outcome(mean: float, error: float, n: int, within: float | None) -> str:
    """Is a mean difference below 0, or ``within`` that of 0, as far as its standard error can tell?"""
    if n < 2:
        return UNDECIDED
    from scipy.stats import t

    reach = float(t.ppf(0.975, n - 1)) * error
    if within is None:
        return HOLDS if mean + reach < 0 else FAILS if mean - reach >= 0 else UNDECIDED
    return HOLDS if abs(mean) + reach <= within else FAILS if abs(mean) - reach > within else UNDECIDED


def settled_at(run: xr.Dataset, row: bool = False) -> int:
    """The first recorded iteration (or the number of its row) from which on the headline stays within `SETTLED` of its end."""
    values = run["test_perplexity"].values
    away = np.flatnonzero(np.abs(values - values[-1]) > SETTLED * values[-1])
    first = int(away[-1]) + 1 if len(away) else 0
    return first if row else int(run["iteration"].values[first])


def _headline(run: xr.Dataset) -> float:
    return float(run["test_perplexity"].values[-1])


def _state(run: xr.Dataset) -> float:
    return float(run["test_perplexity_state"].values[-1])


NUMBERS = {"lower": _headline, "level": _headline, "same": _state, "sooner": settled_at}
"""The number of a run that a kind of claim compares."""
TOLD = {
    "lower": ("", 1), "level": ("", 1), "same": ("", 6), "sooner": ("iteration ", 1), "likelier": ("", 3), "bound": ("", 3),
    "steps": ("step ", 0),
}
"""Its unit, and the digits that are told."""
