"""Does what a paper says hold in our runs? The numbers, and a verdict that takes their standard error into account."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workbench.measures.intervals import mean_and_error, t_interval
from workbench.numbers import format_with_error
from workbench.papers.figure import Claim, Extent, Figure
from workbench.papers.generic import FEWER, MORE
from workbench.papers.hdp import BOUND, LOG_P
from workbench.papers.numbers import (
    BOTTOM,
    OVER_ADDED,
    OVER_CLIPPED,
    OVER_SEEN,
    TOP,
    Measured,
    Row,
    table,
)

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
LEVEL = 0.01
"""Two perplexities are on a level within one percent of the second; standard and collapsed ones differ by twenty."""
SAME = 1e-9
"""Relative: rounding in another order of adding up, and no more."""
MOVING = {"until_converged": "moving", "until_fitted": "fit_moving"}
"""What says of a time that it would be longer if the run were longer."""
AS_WELL = 0.01
"""Nats: gains are on a level within so much, one percent of a perplexity."""
HITS = 0.5
"""Numbers of hits are on a level within half a word of ten."""
SPLITS = 0.04
"""How much easier or harder the test words of three splits may be than those of three others: three standard deviations of
the difference, from 40 splits of the 500 documents of KOS (0.016 each)."""


class Kind(NamedTuple):
    """The number of a run that a kind of claim compares, and how it is written."""

    number: str  # see `workbench.papers.numbers.Measured.number`
    unit: str = ""
    digits: int = 1
    higher: bool = False  # is the first claimed to be higher than the second?
    times: float = 0.0  # is it claimed to be at least so many times the second?
    within: float = 0.0  # is it claimed to be no further away than this?


KINDS = {
    "lower": Kind("perplexity"),
    "level": Kind("perplexity"),
    "same": Kind("test_perplexity_state", "", 6),
    "sooner": Kind("converged", "iteration "),
    "steps": Kind("steps_to_converge", "step ", 0),
    "twice": Kind("until_converged", higher=True, times=2.0),
    "hundred": Kind("until_fitted", higher=True, times=100.0),
    "likelier": Kind(LOG_P, "", 3, True),
    "bound": Kind(BOUND, "", 3, True),
    "top": Kind(TOP, "", 2, True),
    "bottom": Kind(BOTTOM, "", 2, True),
    "top level": Kind(TOP, "", 2, within=HITS),
    "bottom level": Kind(BOTTOM, "", 2, within=HITS),
    "seen level": Kind(OVER_SEEN, "", 3, within=AS_WELL),
    "gain": Kind(OVER_ADDED, "", 3, True),
    "seen": Kind(OVER_SEEN, "", 3, True),
    "over added": Kind(OVER_ADDED, "", 3, True),
    "over clipped": Kind(OVER_CLIPPED, "", 3, True),
    "over seen": Kind(OVER_SEEN, "", 3, True),
}


class Verdict(NamedTuple):
    """A claim and what the runs say of it."""

    claim: Claim
    outcome: str  # HOLDS, FAILS or UNDECIDED
    measured: str  # the numbers in words
    difference: float  # mean over pairs of runs, first minus second; NaN without a pair
    error: float  # its standard error; NaN for a single pair
    n_pairs: int


def judge(figure: Figure, measured: list[Measured], extent: Extent) -> list[Verdict]:
    """A verdict for each claim of a figure, for each number that is known, and for each number of topics that was found.

    A claim holds, or does not, when the whole 95 % interval of the mean difference over pairs of runs says so; otherwise
    it is undecided, as it is with a single pair. Pairs are alike in all but what the claim compares. Numbers are held against
    what they are compared with where runs are as long, and on as many documents, as in the paper.
    """
    full = figure.full
    whole = replace(extent, n_seeds=full.n_seeds, n_topics=full.n_topics) == full
    sizes = (
        {max(extent.n_topics): MORE, min(extent.n_topics): FEWER}
        if len(extent.n_topics) > 1
        else {}
    )
    return [
        *(_weigh(claim, measured, sizes) for claim in figure.claims),
        *_against_numbers(figure, table(measured), whole),
    ]


def _weigh(claim: Claim, measured: list[Measured], sizes: dict[int, str]) -> Verdict:
    """The verdict on a claim, from all pairs of runs that differ in what it compares and in nothing else."""
    kind = KINDS[claim.kind]
    first, second = (
        [
            (*place, each.number(kind.number))
            for each in measured
            if (place := _place(each, name, sizes))
        ]
        for name in (claim.first, claim.second)
    )
    if not claim.second:  # over nothing at all
        second = [(place, n_topics, 0.0) for place, n_topics, _ in first]
    values = np.array(
        [
            (number, other)
            for place, n_topics, number in first
            for there, as_many, other in second
            if place == there and (n_topics == as_many or not n_topics or not as_many)
        ],
        float,
    ).reshape(-1, 2)
    if kind.times:  # ratios are averaged as logarithms
        values = values[(np.isfinite(values) & (values > 0)).all(axis=1)]
        values = np.log(values / values[:, 1:])
    n, digits = len(values), f",.{kind.digits}f"
    if not n:
        missing = [
            name
            for name, runs in ((claim.first, first), (claim.second, second))
            if name and not runs
        ]
        text = f"no pair of runs; {' or '.join(missing or (claim.first, claim.second))} is missing"
        return Verdict(claim, UNDECIDED, text, math.nan, math.nan, 0)
    differences, means = (
        values[:, 0] - values[:, 1],
        [f"{kind.unit}{mean:{digits}}" for mean in values.mean(axis=0)],
    )
    (mean, error), (low, high) = mean_and_error(differences), t_interval(differences)
    if kind.higher:
        low, high = -high, -low
    text = (
        f"{claim.first} {means[0]}, {claim.second} {means[1]}: "
        if claim.second
        else f"{claim.first} "
    )
    text += f"{mean:+{digits}}" + f" ± {error:{digits}}" * (n > 1)
    match claim.kind:
        case "same":
            outcome = HOLDS if np.all(np.abs(differences) <= SAME * np.abs(values[:, 1])) else FAILS
        case "level" | "top level" | "bottom level" | "seen level":
            within = kind.within or LEVEL * float(values[:, 1].mean())
            outcome = (
                HOLDS
                if low >= -within and high <= within
                else FAILS
                if low > within or high < -within
                else UNDECIDED
            )
        case "twice" | "hundred":
            wanted = -math.log(kind.times)
            less, more = (
                any(
                    each.number(MOVING[kind.number])
                    for each in measured
                    if _place(each, name, sizes)
                )
                for name in (claim.second, claim.first)
            )
            outcome = (
                HOLDS
                if high < wanted and not less
                else FAILS
                if low >= wanted and not more
                else UNDECIDED
            )
            least, most = np.exp([differences.min(), differences.max()])
            text = f"{claim.first} takes {math.exp(mean):.2f} times as long as {claim.second}"
            text += f", {least:.2f} to {most:.2f}" * (n > 1)
            movers = [name for name, moves in ((claim.first, more), (claim.second, less)) if moves]
            text += f"; longer runs may take longer of {' and '.join(movers)}" * bool(movers)
        case _:
            outcome = HOLDS if high < 0 else FAILS if low >= 0 else UNDECIDED
    return Verdict(
        claim, outcome, f"{text} ({_count(n, 'pair' if claim.second else 'run')})", mean, error, n
    )


def _place(each: Measured, name: str, sizes: dict[int, str]) -> tuple[tuple, int] | None:
    """What a run of that method, model or size has in common with those it is paired with; None if it is none of these."""
    own = {"model": each.model, "method": each.method, "size": sizes.get(each.n_topics)}
    if name not in own.values():
        return None
    others = (
        each.corpus,
        each.seed,
        *(own[what] for what in ("model", "method") if own[what] != name),
    )
    return others, 0 if own["size"] == name else each.n_topics


def _against_numbers(figure: Figure, rows: list[Row], whole: bool) -> Iterator[Verdict]:
    """Do the means lie where the specification has them, and the numbers of topics where the paper has them?

    Test words are as hard to guess as the split has made them, for all methods alike: what all of them have in common
    is the first verdict, and allowed for in the others. Bounds are of training words, and stand as they are. A number of topics
    may be three standard errors away, both errors taken together.
    """

    def verdict(says, kind, method, away, error, within, text, n, enough=True) -> Verdict:
        outcome = UNDECIDED if not whole or not enough else HOLDS if abs(away) <= within else FAILS
        return Verdict(Claim(says, kind, method, ""), outcome, text, away, error, n)

    known = [row for row in rows if row.method in figure.known]
    if known:
        shift = float(np.mean([row.mean(LOG_P)[0] - figure.known[row.method][0] for row in known]))
        says = (
            f"test words of our splits are as likely as of the specification's, within {SPLITS:g}"
        )
        yield verdict(
            says,
            "near",
            "",
            shift,
            math.nan,
            SPLITS,
            f"{shift:+.3f}, mean over the algorithms",
            len(known),
        )
    for row in known:
        test, bound, within = figure.known[row.method]
        for what, number, wanted, common in (
            ("log p of a test word", LOG_P, test, shift),
            ("bound", BOUND, bound, 0.0),
        ):
            if wanted is not None:
                mean, error = row.mean(number)
                away = mean - wanted - common
                text = f"{format_with_error(mean, error, 3)} ({_count(len(row.runs), 'run')})"
                text += f", {away:+.3f} from it beside what all have in common" if common else ""
                says = f"{what} of {row.method} is {wanted:.3f} ± {within:g}"
                yield verdict(says, "near", row.method, away, error, within, text, len(row.runs))
    for row in (row for row in rows if (row.corpus, row.method) in figure.found):
        wanted, spread = figure.found[row.corpus, row.method]
        (mean, error), n = row.mean("topics"), len(row.runs)
        says = f"{row.method} finds {wanted:g} ± {spread:g} topics on {row.corpus}"
        text = f"{format_with_error(mean, error)} with a token after {row.mean('steps')[0]:,.0f} steps ({_count(n, 'run')})"
        within = 3 * math.hypot(spread, error)
        yield verdict(
            says, "topics", row.method, mean - wanted, error, within, text, n, enough=n > 1
        )


def _count(n: int, what: str) -> str:
    return f"{n} {what}s" if n > 1 else f"one {what}"


def verdict_lines(verdicts: list[Verdict]) -> list[str]:
    """Each claim with its outcome and the numbers behind it, a line each."""
    return [f"{verdict.outcome}: {verdict.claim.says}; {verdict.measured}" for verdict in verdicts]
