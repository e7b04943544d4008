"""Contenders take turns, a few sweeps each, so that what else the machine does meets all of them alike.

ratio of a to b = median over the rounds that both took part in of (CPU time of b / CPU time of a)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pandas as pd
from ours import LeftOut

TURN_SECONDS, MOST_SWEEPS, LEAST_ROUNDS = 0.1, 60, 2
"""CPU seconds that one turn should last; the most sweeps in it; rounds that even the slowest takes part in."""


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def take_turns(makers: dict[str, tuple[Callable, int]], n_rounds: int, budget: float) -> list[dict]:
    """Rows with CPU and wall seconds per sweep, one for each contender and round, or one that says why there is none.

    ``makers`` gives a function that makes a contender, and how many sweeps warm it up (the first compiles). A
    contender whose warm-up took four times the budget (CPU seconds) stops warming up there, and one that has used
    up its budget sits out further rounds.
    """
    rows, taking_part = [], {}
    for name, (make, warm_up) in makers.items():
        try:
            contender = make()
        except LeftOut as why:
            rows.append({"contender": name, "left_out": str(why)})
            continue
        taking_part[name] = contender, *warmed(contender, warm_up, 4 * budget)
    spent = dict.fromkeys(taking_part, 0.0)
    for round_ in range(n_rounds):
        for name, (contender, n_warm, n_sweeps) in taking_part.items():
            if round_ >= LEAST_ROUNDS and spent[name] > budget:
                continue
            cpu, wall = timed(lambda contender=contender, n=n_sweeps: contender.sweep(n))
            spent[name] += cpu
            rows.append(
                {
                    "contender": name,
                    "round": round_,
                    "sweeps": n_sweeps,
                    "warm_up": n_warm,
                    "cpu": cpu / n_sweeps,
                    "wall": wall / n_sweeps,
                }
            )
    return rows


def warmed(contender, warm_up: int, most_seconds: float) -> tuple[int, int]:
    """How many sweeps it took to warm up, and how many it makes in one turn."""
    used, done, last = 0.0, 0, math.inf
    while done < warm_up and (done < LEAST_ROUNDS or used < most_seconds):
        last, _ = timed(contender.sweep)
        used, done = used + last, done + 1
    return done, min(MOST_SWEEPS, max(1, math.ceil(TURN_SECONDS / max(last, 1e-6))))


def ratio(rows: pd.DataFrame, of: str, to: str, what: str = "cpu") -> float:
    """How many times the time of ``to`` is that of ``of``, median over their common rounds; NaN where one is left out."""
    by_round = rows.pivot_table(index="round", columns="contender", values=what)
    if of not in by_round or to not in by_round:
        return math.nan
    return float((by_round[to] / by_round[of]).median())


def medians(rows: pd.DataFrame, what: str = "cpu") -> pd.Series:
    """Median of each contender, in order of appearance."""
    return rows.dropna(subset=[what]).groupby("contender", sort=False)[what].median()
