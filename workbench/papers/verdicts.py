"""Judge the papers' claims by our runs, with standard errors."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workbench.measures.curves import mean_and_error, t_interval
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
"""Two perplexities are on a level if they differ by at most one percent; standard and collapsed ones differ by twenty."""
SAME = 1e-9
"""Relative tolerance for rounding in another order of summation."""
MOVING = {"until_converged": "moving", "until_fitted": "fit_moving"}
"""Name of a time → number that is positive if the time would be longer in a longer run."""
AS_WELL = 0.01
"""Gains are on a level if they differ by at most this many nats, one percent of a perplexity."""
HITS = 0.5
"""Numbers of hits are on a level if they differ by at most half a word of ten."""
SPLITS = 0.04
"""Limit of the difference in log p of test words between two sets of three splits: three standard deviations of the difference,
from 40 splits of the 500 documents of KOS (0.016 each)."""


class Kind(NamedTuple):
    """A kind of claim: which numbers of two runs it compares, how they are formatted, and the claimed relation."""

    number: str  # see `workbench.papers.numbers.Measured.number`
    unit: str = ""
    digits: int = 1
    higher: bool = False  # whether the first is claimed to be higher
    times: float = 0.0  # claimed smallest ratio to the second
    within: float = 0.0  # claimed largest distance


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
    """A claim of a paper, and whether it holds in our runs."""

    claim: Claim
    outcome: str  # HOLDS, FAILS or UNDECIDED
    measured: str  # the numbers as a text
    difference: float  # mean over pairs of runs, first minus second; NaN without a pair
    error: float  # its standard error; NaN for a single pair
    n_pairs: int


def judge(figure: Figure, results: list[Measured], extent: Extent) -> list[Verdict]:
    """Return the verdicts on a figure's claims, on the specification's numbers, and on the paper's inferred topic numbers.

    A claim holds, or does not, if the whole 95 % interval of the mean difference over pairs of runs is on one side; otherwise,
    and with a single pair, it is undecided. Runs of a pair differ only in what the claim compares. Numbers are compared if the
    runs are as long, and on as many documents, as in the paper.
    """
    full = figure.full
    is_whole = replace(extent, n_seeds=full.n_seeds, n_topics=full.n_topics) == full
    sizes = (
        {max(extent.n_topics): MORE, min(extent.n_topics): FEWER}
        if len(extent.n_topics) > 1
        else {}
    )
    return [
        *(_weigh(claim, results, sizes) for claim in figure.claims),
        *_against_numbers(figure, table(results), is_whole),
    ]


def _weigh(claim: Claim, results: list[Measured], sizes: dict[int, str]) -> Verdict:
    """Return the verdict on a claim, from all pairs of runs that differ only in what the claim compares."""
    kind = KINDS[claim.kind]
    first, second = (
        [
            (*key, result.number(kind.number))
            for result in results
            if (key := _place(result, name, sizes))
        ]
        for name in (claim.first, claim.second)
    )
    if not claim.second:  # compared with 0
        second = [(key, n_topics, 0.0) for key, n_topics, _ in first]
    pairs = [
        (number, other, key)
        for key, n_topics, number in first
        for other_key, other_n_topics, other in second
        if key == other_key and (n_topics == other_n_topics or not n_topics or not other_n_topics)
    ]
    values = np.array([pair[:2] for pair in pairs], float).reshape(-1, 2)
    seeds = {seed for *_, (_, seed, *_) in pairs}
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
            tolerance = kind.within or LEVEL * float(values[:, 1].mean())
            outcome = (
                HOLDS
                if low >= -tolerance and high <= tolerance
                else FAILS
                if low > tolerance or high < -tolerance
                else UNDECIDED
            )
        case "twice" | "hundred":
            limit = -math.log(kind.times)
            less, more = (
                any(
                    result.number(MOVING[kind.number])
                    for result in results
                    if _place(result, name, sizes)
                )
                for name in (claim.second, claim.first)
            )
            outcome = (
                HOLDS
                if high < limit and not less
                else FAILS
                if low >= limit and not more
                else UNDECIDED
            )
            least, most = np.exp([differences.min(), differences.max()])
            text = f"{claim.first} takes {math.exp(mean):.2f} times as long as {claim.second}"
            text += f", {least:.2f} to {most:.2f}" * (n > 1)
            unconverged = [
                name for name, moves in ((claim.first, more), (claim.second, less)) if moves
            ]
            text += f"; longer runs of {' and '.join(unconverged)} may take longer" * bool(
                unconverged
            )
        case _:
            outcome = HOLDS if high < 0 else FAILS if low >= 0 else UNDECIDED
    count_text = _count(n, "pair" if claim.second else "run")
    if n > 1 and len(seeds) == 1:
        count_text += " of one seed: other corpora, models or numbers of topics"
    return Verdict(claim, outcome, f"{text} ({count_text})", mean, error, n)


def _place(result: Measured, name: str, sizes: dict[int, str]) -> tuple[tuple, int] | None:
    """Return the settings and number of topics by which a run is paired with others; None for one without ``name``."""
    attributes = {
        "model": result.model,
        "method": result.method,
        "size": sizes.get(result.n_topics),
    }
    if name not in attributes.values():
        return None
    others = (
        result.corpus,
        result.seed,
        *(
            attributes[attribute]
            for attribute in ("model", "method")
            if attributes[attribute] != name
        ),
    )
    return others, 0 if attributes["size"] == name else result.n_topics


def _against_numbers(figure: Figure, rows: list[Row], whole: bool) -> Iterator[Verdict]:
    """Yield verdicts that compare our means with the specification's, and our inferred numbers of topics with the paper's.

    The difficulty of test words depends on the split and is the same for all methods: the common difference is the first
    verdict, and subtracted in the others. Bounds are of training words and are compared directly. A number of topics may differ
    by three standard errors, both errors combined.
    """

    def verdict(
        claim_text: str,
        kind: str,
        method: str,
        difference: float,
        error: float,
        tolerance: float,
        text: str,
        n: int,
        is_enough: bool = True,
    ) -> Verdict:
        """Return the verdict on a number: it holds if the difference is within ``tolerance``; undecided without enough runs."""
        outcome = (
            UNDECIDED
            if not whole or not is_enough
            else HOLDS
            if abs(difference) <= tolerance
            else FAILS
        )
        return Verdict(Claim(claim_text, kind, method, ""), outcome, text, difference, error, n)

    known_rows = [row for row in rows if row.method in figure.specified_numbers]
    if known_rows:
        shift = float(
            np.mean(
                [row.mean(LOG_P)[0] - figure.specified_numbers[row.method][0] for row in known_rows]
            )
        )
        claim_text = (
            f"test words of our splits are as likely as of the specification's, within {SPLITS:g}"
        )
        yield verdict(
            claim_text,
            "near",
            "",
            shift,
            math.nan,
            SPLITS,
            f"{shift:+.3f}, mean over the algorithms",
            len(known_rows),
        )
    for row in known_rows:
        test, bound, tolerance = figure.specified_numbers[row.method]
        for meaning, number, target, common in (
            ("log p of a test word", LOG_P, test, shift),
            ("bound", BOUND, bound, 0.0),
        ):
            if target is not None:
                mean, error = row.mean(number)
                difference = mean - target - common
                text = f"{format_with_error(mean, error, 3)} ({_count(len(row.runs), 'run')})"
                text += (
                    f", {difference:+.3f} from it beside what all have in common" if common else ""
                )
                claim_text = f"{meaning} of {row.method} is {target:.3f} ± {tolerance:g}"
                yield verdict(
                    claim_text,
                    "near",
                    row.method,
                    difference,
                    error,
                    tolerance,
                    text,
                    len(row.runs),
                )
    for row in (row for row in rows if (row.corpus, row.method) in figure.inferred_topics):
        target, spread = figure.inferred_topics[row.corpus, row.method]
        (mean, error), n = row.mean("topics"), len(row.runs)
        claim_text = f"{row.method} finds {target:g} ± {spread:g} topics on {row.corpus}"
        text = f"{format_with_error(mean, error)} with a token after {row.mean('steps')[0]:,.0f} steps ({_count(n, 'run')})"
        tolerance = 3 * math.hypot(spread, error)
        yield verdict(
            claim_text,
            "topics",
            row.method,
            mean - target,
            error,
            tolerance,
            text,
            n,
            is_enough=n > 1,
        )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}s" if n > 1 else f"one {noun}"


def verdict_lines(verdicts: list[Verdict]) -> list[str]:
    """Return one line per verdict: the outcome, the claim, and our numbers."""
    return [f"{verdict.outcome}: {verdict.claim.says}; {verdict.measured}" for verdict in verdicts]
