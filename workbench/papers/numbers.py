"""Results of the runs of a figure: numbers of each run, and means over seeds."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus, hold_out_documents, known_words
from workbench.measures import n_tokens, quantity
from workbench.measures.curves import mean_and_error
from workbench.measures.rows import RowHits, hits_by_time
from workbench.measures.selection import grouped
from workbench.papers.figure import HITS, Figure
from workbench.papers.generic import ATM, TABLE, format_size, network_for
from workbench.papers.hdp import BOUND, LOG_P
from workbench.papers.results import Number
from workbench.runs.afterwards.infer import document_completion
from workbench.runs.execution.memory_check import Planned
from workbench.runs.execution.run import Run

UNSEEN = ("foldin_same", "completion", "by_authors")
"""Perplexities of unseen documents: of the tokens that theta is fitted to, as in the paper; of one half of each document
with theta fitted to the other; the same with known authors of the documents, if the model has authors, else NaN."""
TOP, BOTTOM = "test_top_hits", "test_bottom_hits"
OVER_ADDED, OVER_CLIPPED, OVER_SEEN = (
    "test_gain_joint_added",
    "test_gain_joint_clipped",
    "test_gain_joint_seen",
)
"""Names of scores of rows and sequences in runs; the joint gains are the paper's."""
SETTLED = 0.01
"""A run has converged when its perplexity stays within one percent of the final one."""
FITTED = 0.05
"""The same share for the training perplexity of single states, which varies by two to three percent with 662 symbols."""


class Measured(NamedTuple):
    """The results of one run of a figure."""

    corpus: str
    model: str
    method: str  # its label
    n_topics: int  # requested; 0 if the method infers it
    seed: int
    run: xr.Dataset  # its per-iteration part
    # perplexities of unseen documents, if any: names in `UNSEEN`
    unseen: dict[str, float] | None = None
    corpora: tuple[Corpus | None, Corpus | None] = (None, None)  # training and test tokens
    # by held-out year, if hits are shown by year
    hits: dict[float, RowHits] | None = None

    def curve(self, name: str) -> np.ndarray:
        """Return a quantity (iteration,) of the run, as `workbench.measures.quantity` defines it; NaN if the run lacks it."""
        values = quantity(self.run, name)
        return np.full(self.run.sizes["iteration"], np.nan) if values is None else values.values

    def objective(self) -> np.ndarray:
        """Return mean log p of test words (iteration,); in figures with unseen documents the bound or log joint per token."""
        if self.unseen is None:
            return self.curve("log_likelihood")
        return self.run["bound" if "bound" in self.run else "log_joint"].values / n_tokens(self.run)

    def settled(self) -> int:
        """Return the index of the first record after which exp(-objective) stays within `SETTLED` of the last value."""
        objective = self.objective()
        unsettled = np.flatnonzero(np.abs(np.expm1(objective[-1] - objective)) > SETTLED)
        return int(unsettled[-1]) + 1 if len(unsettled) else 0

    def fitted(self) -> int:
        """Return the index of the first record after which training perplexity stays within `FITTED` of the last value."""
        values = self.run["train_perplexity"].values
        unsettled = np.flatnonzero(np.abs(values / values[-1] - 1) > FITTED)
        return int(unsettled[-1]) + 1 if len(unsettled) else 0

    def number(self, name: str) -> float:
        """Return the number called ``name``: one of `NUMBERS`, or the last value of the curve of that name."""
        return float(NUMBERS[name](self) if name in NUMBERS else self.curve(name)[-1])

    def priors(self) -> dict[str, float]:
        """Return level → learnt prior at the last iteration, averaged over values and groups."""
        levels = (level.name for level in network_for(self.model, self.n_topics).levels)
        return {
            name: float(np.nanmean(self.run[f"alpha_{name}"].values[-1]))
            for name in levels
            if f"alpha_{name}" in self.run
        }


def _seconds(result: Measured) -> float:
    """Return the mean CPU seconds per iteration after the first record, which includes the start; NaN for a single record."""
    clock, iterations = result.run["cpu_time"].values, result.run["iteration"].values
    return (clock[-1] - clock[0]) / (iterations[-1] - iterations[0]) if len(clock) > 1 else math.nan


NUMBERS = {
    # perplexity of held-out tokens, averaged for samplers; of unseen documents by the paper's protocol
    "perplexity": lambda measured: (
        measured.unseen["foldin_same"] if measured.unseen else measured.curve("test_perplexity")[-1]
    ),
    # number of topics with at least one token; NaN if the number is fixed
    "topics": lambda measured: (
        measured.run["n_active_topics"].values[-1]
        if "n_active_topics" in measured.run
        else math.nan
    ),
    "converged": lambda measured: measured.run["iteration"].values[measured.settled()],
    "steps_to_converge": lambda measured: measured.curve("steps")[measured.settled()],
    # 1 if a run converges in its last tenth only, so that a longer one might take longer
    "moving": lambda measured: (
        measured.number("converged") > 0.9 * measured.run["iteration"].values[-1]
    ),
    # 1 if a run fits its training data only in the second half
    "fit_moving": lambda measured: (
        measured.run["iteration"].values[measured.fitted()]
        > 0.5 * measured.run["iteration"].values[-1]
    ),
    "seconds": _seconds,
    "until_converged": lambda measured: measured.number("converged") * _seconds(measured),
    # CPU seconds until the sampler fits its training data as well as at the end
    "until_fitted": lambda measured: (
        measured.run["iteration"].values[measured.fitted()] * _seconds(measured)
    ),
    **{name: lambda measured, name=name: measured.unseen[name] for name in UNSEEN},
}
"""Functions of a run's results that compute numbers other than the last value of a curve, by name."""


def measure(
    figure: Figure, cells: list[Planned], runs: list[Run], corpora: dict[str, Corpus]
) -> list[Measured]:
    """Return the results of runs that have iterations; if unseen documents are scored, only of finished runs."""
    results = []
    for cell, run in zip(cells, runs, strict=True):
        rows, n_iterations = run.progress(), cell.spec.n_iterations
        if not rows.sizes["iteration"] or (
            figure.split is None and run.status()["iteration"] < n_iterations
        ):
            continue
        spec = run.spec  # it may have been stopped early by its rule
        rows = rows.isel(iteration=rows["iteration"].values <= n_iterations).assign(
            updates=rows["updates"].astype(float)
        )
        rows = rows.assign_attrs(
            spec=spec.lasting(min(spec.n_iterations, n_iterations), spec.rule).to_json()
        )
        unseen = (
            score_unseen(run, cell, corpora[cell.key_values["corpus"]], figure.holdout)
            if figure.split is None
            else None
        )
        hits = hits_by_time(run.dataset(), cell.test) if figure.shows == HITS else None
        results.append(
            Measured(
                **(cell.key_values or {}),
                run=rows,
                unseen=unseen,
                corpora=(cell.train, cell.test),
                hits=hits,
            )
        )
    return results


def score_unseen(run: Run, cell: Planned, documents: Corpus, holdout: float) -> dict[str, float]:
    """Return name → perplexity of held-out documents, by each protocol of `UNSEEN`; only "by_authors" uses known authors."""
    seed = cell.key_values["seed"]
    unseen = known_words(hold_out_documents(documents, holdout, seed)[1], cell.train)
    without_authors = unseen.with_pairs(unseen.indptr, unseen.words, unseen.counts, authors=None)
    foldin_same, completion = (
        document_completion(run, without_authors, seed, protocol)["perplexity"]
        for protocol in ("foldin_same", "document_completion")
    )
    by_authors = (
        document_completion(run, unseen, seed)["perplexity"]
        if cell.key_values["model"] == ATM
        else math.nan
    )
    return dict(zip(UNSEEN, (foldin_same, completion, by_authors), strict=True))


class Row(NamedTuple):
    """A group of runs that differ in the seed only."""

    corpus: str
    model: str
    method: str
    n_topics: int
    runs: list[Measured]

    def mean(self, name: str) -> tuple[float, float]:
        """Return the mean over runs of the number called ``name``, and the standard error (NaN for a single run)."""
        return mean_and_error([run.number(name) for run in self.runs])


def table(results: list[Measured]) -> list[Row]:
    """Return the results grouped by corpus, model, method and number of topics: one `Row` of runs per group."""
    groups = grouped([result[:4] for result in results], results)  # the first four fields of both
    return [Row(*key, runs) for key, runs in groups.items()]


BY_SHOWN = {
    TABLE: {
        "perplexity": "perplexity of unseen documents",
        "converged": "iterations until convergence",
    },
    "gains": {OVER_ADDED: "gain over frequencies with 0.1 added, nats an item"},
    "courses": {"test_log_likelihood": "log p of an item, nats"},
}
"""Drawing of a figure → name of a number (`workbench.papers.numbers.Measured.number`) → its meaning."""
PRINTED = {"perplexity": "perplexity", "converged": "iterations"}
"""Name of a number → field of `workbench.papers.generic.Published`."""


def figure_numbers(figure: Figure, results: list[Measured]) -> list[Number]:
    """Return the numbers in a figure's table, each as a mean over seeds with standard error."""
    rows = table(results)
    if figure.shows == HITS:
        return [number for row in rows for number in _hits(figure, row)]
    if isinstance(figure.shows, str):
        names = BY_SHOWN.get(figure.shows, {"perplexity": "held-out perplexity"})
    else:
        names = {LOG_P: "log p of a test word, nats", BOUND: "bound per token, nats"}
    numbers, sizes = [], {row.n_topics for row in rows} - {0}
    for name, meaning in names.items():
        for row in rows:
            published = figure.published.get((row.model, row.n_topics, row.method))
            paper_value = getattr(published, PRINTED[name]) if published else None
            numbers.append(
                _number(
                    meaning,
                    _place(figure, row, len(sizes) > 1),
                    row.mean(name),
                    len(row.runs),
                    paper_value,
                )
            )
    return [number for number in numbers if number.value is not None]


def _hits(figure: Figure, row: Row) -> Iterator[Number]:
    """Yield a method's mean hits (correct words among the top or bottom ten) in each year, with standard errors."""
    for year in row.runs[0].hits:
        published = figure.published.get((row.method, int(year)))
        for field in ("top", "bottom"):
            values = [getattr(run.hits[year], field) for run in row.runs]
            paper_value = getattr(published, field) if published else None
            yield _number(
                f"hits of the {field} 10, {year:g}",
                row.method,
                mean_and_error(values),
                len(values),
                paper_value,
            )


def _place(figure: Figure, row: Row, sized: bool) -> str:
    """Return the name of a row of runs: the method, with corpus, model and size where the figure has several."""
    parts = [row.corpus] * (len(figure.corpora) > 1) + [row.model] * bool(row.model) + [row.method]
    return ", ".join(
        [*parts, *([f"K={format_size(row.model, row.n_topics)}"] if sized and row.n_topics else [])]
    )


def _number(
    what: str, place: str, mean_error: tuple[float, float], n: int, published: float | None
) -> Number:
    """Return a `Number` in which non-finite values are None."""
    value, error = (float(number) if math.isfinite(number) else None for number in mean_error)
    return Number(what, place, value, error, n, published)
