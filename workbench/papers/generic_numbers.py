"""The numbers of runs of generic topic models: convergence, perplexities of unseen documents, table and verdicts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import n_tokens
from workbench.measures.intervals import mean_and_error, t_interval
from workbench.papers.generic import (
    ATM,
    FEWER,
    MODELS,
    MORE,
    PUBLISHED,
    GenericExtent,
    GenericFigure,
    Published,
    network_for,
    size_told,
)
from workbench.papers.records import Claim
from workbench.papers.verdicts import FAILS, HOLDS, SETTLED, UNDECIDED, Verdict, weigh
from workbench.runs.afterwards.infer import document_completion
from workbench.runs.execution.run import Run

TWICE = 2.0
"""So many times as long takes variational Bayes to converge, at least, as the paper has it."""


class Unseen(NamedTuple):
    """What a run foretells of unseen documents."""

    foldin_same: float      # of the very tokens that theta was fitted to, as in the paper
    completion: float       # of one half of each document, theta fitted to the other
    by_authors: float       # the same by documents' authors, where these are known and the model has any; else NaN


class Measured(NamedTuple):
    """One run of the table."""

    model: str
    n_topics: int
    method: str
    seed: int
    run: xr.Dataset   # its per-iteration part
    unseen: Unseen

    @property
    def objective(self) -> np.ndarray:
        """(record,) the bound of variational Bayes, or the log joint probability of the sampled state, per token, nats."""
        return self.run["bound" if "bound" in self.run else "log_joint"].values / n_tokens(self.run)

    @property
    def converged(self) -> int:
        """The first iteration from which exp(-objective) stays within one percent of its end."""
        away = np.flatnonzero(np.abs(np.expm1(self.objective[-1] - self.objective)) > SETTLED)
        return int(self.run["iteration"].values[away[-1] + 1 if len(away) else 0])

    @property
    def moving(self) -> bool:
        """Does it converge in the last tenth of the run only, so that a longer one might take longer?"""
        return self.converged > 0.9 * int(self.run["iteration"].values[-1])

    @property
    def seconds(self) -> float:
        """CPU time of an iteration, without the first record, which has what begins a run; NaN of a single record."""
        clock, iterations = self.run["cpu_time"].values, self.run["iteration"].values
        return float((clock[-1] - clock[0]) / (iterations[-1] - iterations[0])) if len(clock) > 1 else math.nan

    @property
    def until_converged(self) -> float:
        """Seconds."""
        return self.converged * self.seconds

    @property
    def priors(self) -> dict[str, float]:
        """By level what its prior is in the end, mean over values and groups."""
        levels = network_for(self.model, self.n_topics).levels
        return {
            level.name: float(np.nanmean(self.run[f"alpha_{level.name}"].values[-1]))
            for level in levels if f"alpha_{level.name}" in self.run
        }


def learnt_words(unseen: Corpus, train: Corpus) -> Corpus:
    """Unseen documents without the words that no training document has: of these an estimate of topics says nothing."""
    kept = np.isin(unseen.words, train.words)
    indptr = np.concatenate([[0], np.cumsum(kept)])[unseen.indptr]
    return unseen.with_pairs(indptr, unseen.words[kept], unseen.counts[kept])


def foretold(run: Run, model: str, unseen: Corpus, seed: int) -> Unseen:
    """Perplexities of unseen documents. Handed over without their authors, they are refitted (the paper's footnote 7)."""
    bare = unseen.with_pairs(unseen.indptr, unseen.words, unseen.counts, authors=None)
    same, completion = (
        document_completion(run, bare, seed, protocol)["perplexity"] for protocol in ("foldin_same", "document_completion")
    )
    by_authors = document_completion(run, unseen, seed)["perplexity"] if model == ATM else math.nan
    return Unseen(same, completion, by_authors)


class Row(NamedTuple):
    """Means over the seeds, each with its standard error (NaN for one run), and what the paper has."""

    model: str
    n_topics: int
    method: str
    n_runs: int
    moving: bool             # is any of the runs?
    iterations: tuple[float, float]
    seconds: tuple[float, float]
    until_converged: tuple[float, float]
    foldin_same: tuple[float, float]
    completion: tuple[float, float]
    by_authors: tuple[float, float]
    priors: dict[str, float]
    published: Published | None


def table(measured: list[Measured]) -> list[Row]:
    """A row for each model, size and method, in the order of the runs."""
    groups: dict[tuple, list[Measured]] = {}
    for each in measured:
        groups.setdefault((each.model, each.n_topics, each.method), []).append(each)
    numbers = (
        lambda each: each.converged, lambda each: each.seconds, lambda each: each.until_converged,
        lambda each: each.unseen.foldin_same, lambda each: each.unseen.completion, lambda each: each.unseen.by_authors,
    )
    return [
        Row(
            *key, len(alike), any(each.moving for each in alike),
            *(mean_and_error([number(each) for each in alike]) for number in numbers),
            {name: float(np.mean([each.priors[name] for each in alike])) for name in alike[0].priors}, PUBLISHED.get(key),
        )
        for key, alike in groups.items()
    ]


def judge(figure: GenericFigure, measured: list[Measured], extent: GenericExtent) -> list[Verdict]:
    """A verdict for each claim, from all pairs of runs that are alike but for what the claim compares."""
    return [_ratio(claim, measured, extent) if claim.kind == "twice" else
            weigh(claim, _pairs(claim, measured, extent, NUMBERS[claim.kind])) for claim in figure.claims]


NUMBERS = {"lower": lambda each: each.unseen.foldin_same, "level": lambda each: each.unseen.foldin_same,
           "sooner": lambda each: each.converged}
"""The number of a run that a kind of claim compares."""


def _pairs(claim: Claim, measured: list[Measured], extent: GenericExtent, number) -> np.ndarray:
    """(pair, 2) numbers of the first and of the second, which is a model, a method, or `MORE` or `FEWER` topics."""
    second = {_beside(each, claim.second, extent): number(each) for each in measured}
    pairs = [
        (number(each), second[key]) for each in measured
        if (key := _beside(each, claim.first, extent)) is not None and key in second
    ]
    return np.array(pairs, float).reshape(-1, 2)


def _beside(each: Measured, name: str, extent: GenericExtent) -> tuple | None:
    """What a run has in common with those it is compared with, if it is of that name; None if it is not."""
    sizes = {max(extent.n_topics): MORE, min(extent.n_topics): FEWER} if len(extent.n_topics) > 1 else {}
    names = each.model, sizes.get(each.n_topics, ""), each.method
    if name not in names:
        return None
    at = names.index(name)
    return (*(kept for i, kept in enumerate((each.model, each.n_topics, each.method)) if i != at), each.seed)


def _ratio(claim: Claim, measured: list[Measured], extent: GenericExtent) -> Verdict:
    """Does the first take more than `TWICE` as long to converge as the second? Ratios are averaged as logarithms."""
    pairs = _pairs(claim, measured, extent, lambda each: each.until_converged)
    pairs = pairs[np.isfinite(pairs).all(axis=1) & (pairs > 0).all(axis=1)]
    if not len(pairs):
        return weigh(claim, pairs)
    logs = np.log(pairs[:, 0] / pairs[:, 1])
    (mean, error), (low, high) = mean_and_error(logs), t_interval(logs)
    outcome = HOLDS if low > math.log(TWICE) else FAILS if high <= math.log(TWICE) else UNDECIDED
    several = f", {math.exp(logs.min()):.2f} to {math.exp(logs.max()):.2f} ({len(pairs)} pairs)"
    spread = several if len(pairs) > 1 else " (one pair)"
    told = f"{claim.first} takes {math.exp(mean):.2f} times as long as {claim.second}{spread}"
    return Verdict(claim, outcome, told, mean, error, len(pairs))


HEADS = ("model", "size", "method", "runs", "iterations", "s each", "s in all", "foldin_same", "completion", "by authors",
         "paper:", "iterations", "s each", "h in all", "perplexity")


def lines_of(rows: list[Row]) -> list[str]:
    """The table for people, a line a row, with the paper's numbers beside ours."""
    cells = [
        (
            row.model, size_told(row.model, row.n_topics), row.method, str(row.n_runs), at_least(row, row.iterations[0], 0),
            told(row.seconds[0], 3), at_least(row, row.until_converged[0], 1),
            *(with_error(each) for each in (row.foldin_same, row.completion, row.by_authors)), "",
            *(("–",) * 4 if (paper := row.published) is None else
              (f"{paper.iterations}", f"{paper.seconds:g}", f"{paper.hours:g}", f"{paper.perplexity}")),
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(HEADS, *cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in (HEADS, *cells)]


def told(number: float, digits: int) -> str:
    """A number for people; a dash where there is none."""
    return "–" if math.isnan(number) else f"{number:,.{digits}f}"


def at_least(row: Row, number: float, digits: int) -> str:
    """A number that would be larger if the runs were longer, where they still move."""
    return "≥ " * (row.moving and not math.isnan(number)) + told(number, digits)


def with_error(number: tuple[float, float]) -> str:
    """mean ± standard error of a perplexity; the mean alone where there is no error."""
    mean, error = number
    return told(mean, 1) + ("" if math.isnan(error) else f" ± {error:,.1f}")


def models_of(rows: list[Row]) -> list[str]:
    """The models that have a row, in the paper's order."""
    return [model for model in MODELS if any(row.model == model for row in rows)]
