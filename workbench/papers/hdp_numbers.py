"""The numbers of runs of CV-HDP and its companions, per token and in nats: tables, curves and verdicts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures import Curve, quantity
from workbench.measures.intervals import mean_and_error
from workbench.papers.hdp import Algorithm, HdpExtent, HdpFigure
from workbench.papers.records import Claim
from workbench.papers.verdicts import FAILS, HOLDS, UNDECIDED, Verdict, settled_at, weigh

SPLITS = 0.04
"""How much easier or harder the test words of three splits may be than those of three others: three standard deviations of
the difference, from 40 splits of the 500 documents of KOS (0.016 each)."""
POINTS = 60
"""Points of a curve against steps, at which the seeds are averaged."""


class Measured(NamedTuple):
    """One run of a figure."""

    corpus: str
    algorithm: Algorithm
    n_topics: int           # asked for; 0 where the algorithm finds their number
    seed: int
    run: xr.Dataset         # its per-iteration part

    @property
    def steps(self) -> np.ndarray:
        """(iteration,) topics of each iteration, summed."""
        return quantity(self.run, "steps").values

    @property
    def log_likelihood(self) -> np.ndarray:
        """(iteration,) mean log p of a test word: average over the samples so far, or of the state."""
        return quantity(self.run, "log_likelihood").values

    @property
    def bound(self) -> np.ndarray:
        """(iteration,) of a training token; NaN for samplers."""
        found = quantity(self.run, "bound_per_token")
        return np.full(self.run.sizes["iteration"], np.nan) if found is None else found.values

    @property
    def topics(self) -> float:
        """With at least one token, at the end; NaN where their number was given."""
        return float(self.run["n_active_topics"].values[-1]) if self.algorithm.engine in ("cv-hdp", "g-hdp") else math.nan


class Row(NamedTuple):
    """Means over seeds, each with its standard error (NaN for one run)."""

    corpus: str
    label: str
    n_topics: int
    n_runs: int
    log_likelihood: tuple[float, float]
    bound: tuple[float, float]
    topics: tuple[float, float]
    steps: float


def table(measured: list[Measured]) -> list[Row]:
    """A row for each corpus, algorithm and number of topics, in the order of the runs."""
    groups: dict[tuple, list[Measured]] = {}
    for each in measured:
        groups.setdefault((each.corpus, each.algorithm.label, each.n_topics), []).append(each)
    numbers = (_final, _bound, lambda each: each.topics)
    return [
        Row(
            *key, len(alike), *(mean_and_error([number(each) for each in alike]) for number in numbers),
            float(np.mean([each.steps[-1] for each in alike])),
        )
        for key, alike in groups.items()
    ]


def _final(each: Measured) -> float:
    return float(each.log_likelihood[-1])


def _bound(each: Measured) -> float:
    return float(each.bound[-1])


def against_topics(figure: HdpFigure, rows: list[Row], corpus: str, extent: HdpExtent, bound: bool) -> list[Curve]:
    """The final log-likelihood, or bound, of each algorithm for each number of topics; level where it finds that itself."""
    curves = []
    for algorithm in figure.algorithms:
        own = [row for row in rows if (row.corpus, row.label) == (corpus, algorithm.label)]
        values = [row.bound if bound else row.log_likelihood for row in own]
        if not own or not np.isfinite(values[0][0]):
            continue
        topics = extent.n_topics if algorithm.n_topics else [row.n_topics for row in own]
        mean, error = np.broadcast_to(np.array(values).T, (2, len(topics)))
        curves.append(Curve(algorithm.label, algorithm.label, np.array(topics, float), mean, error, own[0].n_runs))
    return curves


def against_steps(figure: HdpFigure, measured: list[Measured], corpus: str, extent: HdpExtent, bound: bool) -> list[Curve]:
    """The log-likelihood, or bound, along the steps, of each algorithm with the fewest topics; mean over the seeds.

    Bounds begin after a tenth of the steps: before, they are so low that nothing else would be seen.
    """
    at = np.linspace(0, extent.steps, POINTS + 1)[1:]
    curves = []
    for algorithm in figure.algorithms:
        alike = [
            each for each in measured
            if (each.corpus, each.algorithm.label) == (corpus, algorithm.label) and each.n_topics in (0, extent.n_topics[0])
        ]
        values = [_at(at, each.steps, each.bound if bound else each.log_likelihood) for each in alike]
        if not values or not np.isfinite(values).any():
            continue
        mean = np.mean(values, axis=0)
        error = np.std(values, axis=0, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else np.full(len(at), np.nan)
        seen = np.isfinite(mean) & (at > bound * extent.steps / 10)
        curves.append(Curve(algorithm.label, algorithm.label, at[seen], mean[seen], error[seen], len(values)))
    return curves


def _at(at: np.ndarray, steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values at these steps, between records on a straight line; NaN before the first and after the last."""
    last = steps[-1] * (1 + 1e-9)  # a budget that does not divide by the topics ends a little before or after
    return np.interp(at, steps, values, left=np.nan, right=values[-1] if last >= at[-1] * 0.98 else np.nan)


def judge(figure: HdpFigure, measured: list[Measured], rows: list[Row], whole: bool) -> list[Verdict]:
    """A verdict for each claim of the figure, for each number that is known, and for each number of topics that was found.

    Numbers are held against what they are compared with where runs are ``whole``: as long, on as many documents.
    """
    by_label: dict[str, dict[tuple, Measured]] = {}
    for each in measured:
        by_label.setdefault(each.algorithm.label, {})[each.corpus, each.n_topics, each.seed] = each
    claimed = [
        weigh(claim, _pairs(claim, by_label.get(claim.first, {}), by_label.get(claim.second, {}))) for claim in figure.claims
    ]
    return [*claimed, *_known(figure, rows, whole), *_found(figure, rows, whole)]


NUMBERS = {"likelier": _final, "bound": _bound, "steps": lambda each: float(each.steps[settled_at(each.run, row=True)])}
"""The number of a run that a kind of claim compares."""


def _pairs(claim: Claim, first: dict, second: dict) -> np.ndarray:
    """(pair, 2) numbers of runs on the same corpus with the same seed, and as many topics where both were told how many."""
    number = NUMBERS[claim.kind]
    pairs = []
    for (corpus, n_topics, seed), one in first.items():
        for (other_corpus, other_topics, other_seed), other in second.items():
            if (corpus, seed) == (other_corpus, other_seed) and (n_topics == other_topics or not n_topics or not other_topics):
                pairs.append((number(one), number(other)))
    return np.array(pairs).reshape(-1, 2)


def _known(figure: HdpFigure, rows: list[Row], whole: bool) -> list[Verdict]:
    """Does each mean lie where the specification has it?

    Test words are as hard to guess as the split has made them, for all algorithms alike: what all of them have in common
    is told apart and allowed for. Bounds are of training words, and stand as they are.
    """
    own = [row for row in rows if row.label in figure.known]
    if not own:
        return []
    shift = float(np.mean([row.log_likelihood[0] - figure.known[row.label][0] for row in own]))
    claim = Claim(f"test words of our splits are as likely as of the specification's, within {SPLITS:g}", "near", "", "")
    outcome = UNDECIDED if not whole else HOLDS if abs(shift) <= SPLITS else FAILS
    found = [Verdict(claim, outcome, f"{shift:+.3f}, mean over the algorithms", shift, math.nan, len(own))]
    for row in own:
        test, bound, within = figure.known[row.label]
        log_p = "log p of a test word", row.log_likelihood, test, shift
        for what, (mean, error), wanted, common in (log_p, ("bound", row.bound, bound, 0.0)):
            if wanted is not None:
                claim = Claim(f"{what} of {row.label} is {wanted:.3f} ± {within:g}", "near", row.label, "")
                outcome = UNDECIDED if not whole else HOLDS if abs(mean - wanted - common) <= within else FAILS
                told = f"{with_error(mean, error)} ({runs_told(row)})"
                told += f", {mean - wanted - common:+.3f} from it beside what all have in common" if common else ""
                found.append(Verdict(claim, outcome, told, mean - wanted - common, error, row.n_runs))
    return found


def _found(figure: HdpFigure, rows: list[Row], whole: bool) -> list[Verdict]:
    """Does the number of topics lie within three standard errors of the paper's, both errors taken together?"""
    found = []
    for row in rows:
        if (row.corpus, row.label) in figure.found:
            wanted, spread = figure.found[row.corpus, row.label]
            mean, error = row.topics
            claim = Claim(f"{row.label} finds {wanted:g} ± {spread:g} topics on {row.corpus}", "topics", row.label, "")
            away = abs(mean - wanted)
            outcome = UNDECIDED if row.n_runs < 2 or not whole else HOLDS if away <= 3 * math.hypot(spread, error) else FAILS
            told = f"{with_error(mean, error, 1)} with a token after {row.steps:,.0f} steps ({runs_told(row)})"
            found.append(Verdict(claim, outcome, told, mean - wanted, error, row.n_runs))
    return found


def runs_told(row: Row) -> str:
    return f"{row.n_runs} runs" if row.n_runs > 1 else "one run"


def with_error(mean: float, error: float, digits: int = 3) -> str:
    """mean ± standard error; the mean alone where there is no error, a dash where there is no mean."""
    if math.isnan(mean):
        return "–"
    return f"{mean:,.{digits}f}" if math.isnan(error) else f"{mean:,.{digits}f} ± {error:,.{digits}f}"


def lines_of(rows: list[Row]) -> list[str]:
    """The table for people, a line a row."""
    heads = ("corpus", "algorithm", "K", "runs", "log p of a test word", "bound per token", "topics", "steps")
    cells = [
        (
            row.corpus, row.label, str(row.n_topics or "found"), str(row.n_runs), with_error(*row.log_likelihood),
            with_error(*row.bound), with_error(*row.topics, 1), f"{row.steps:,.0f}",
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in (heads, *cells)]
