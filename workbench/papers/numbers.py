"""The numbers of the runs of a figure: of each run, and means over seeds."""

import math
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus, hold_out_documents, known_words
from workbench.measures import n_tokens, quantity
from workbench.measures.intervals import mean_and_error
from workbench.measures.rows import RowHits, hits_by_time
from workbench.measures.selection import grouped
from workbench.papers.figure import HITS, Figure
from workbench.papers.generic import ATM, network_for
from workbench.runs.afterwards.infer import document_completion
from workbench.runs.execution.memory_check import Planned
from workbench.runs.execution.run import Run

UNSEEN = ("foldin_same", "completion", "by_authors")
"""Perplexities of unseen documents: of the very tokens that theta was fitted to, as in the paper; of one half of each document,
theta fitted to the other; the same by documents' authors, where these are known and the model has any, else NaN."""
TOP, BOTTOM = "test_top_hits", "test_bottom_hits"
OVER_ADDED, OVER_CLIPPED, OVER_SEEN = (
    "test_gain_joint_added",
    "test_gain_joint_clipped",
    "test_gain_joint_seen",
)
"""Scores of whole rows and of sequences, by their names in runs; the joint gains are those that the paper draws."""
SETTLED = 0.01
"""A run has come to its final perplexity when it is, and stays, within one percent of it."""
FITTED = 0.05
"""The training perplexity of single states is noisy: by two to three percent, of 662 symbols."""


class Measured(NamedTuple):
    """One run of a figure."""

    corpus: str
    model: str
    method: str  # its label
    n_topics: int  # asked for; 0 where the method finds their number
    seed: int
    run: xr.Dataset  # its per-iteration part
    # perplexities of unseen documents, where some are: names in `UNSEEN`
    unseen: dict[str, float] | None = None
    corpora: tuple[Corpus | None, Corpus | None] = (None, None)  # training and test tokens
    # of each year that was held out, where they are shown by year
    hits: dict[float, RowHits] | None = None

    def curve(self, name: str) -> np.ndarray:
        """(iteration,) values of a quantity of `workbench.measures.quantity`; NaN where the run has none."""
        found = quantity(self.run, name)
        return np.full(self.run.sizes["iteration"], np.nan) if found is None else found.values

    def objective(self) -> np.ndarray:
        """(iteration,) log p of a test word; where documents are unseen, the bound or log joint probability per token."""
        if self.unseen is None:
            return self.curve("log_likelihood")
        return self.run["bound" if "bound" in self.run else "log_joint"].values / n_tokens(self.run)

    def settled(self) -> int:
        """The row from which on exp(-objective) stays within `SETTLED` of its end."""
        objective = self.objective()
        away = np.flatnonzero(np.abs(np.expm1(objective[-1] - objective)) > SETTLED)
        return int(away[-1]) + 1 if len(away) else 0

    def fitted(self) -> int:
        """The row from which on the training perplexity of the state stays within `FITTED` of its end."""
        values = self.run["train_perplexity"].values
        away = np.flatnonzero(np.abs(values / values[-1] - 1) > FITTED)
        return int(away[-1]) + 1 if len(away) else 0

    def number(self, name: str) -> float:
        """One of `NUMBERS`, or the last value of a curve."""
        return float(NUMBERS[name](self) if name in NUMBERS else self.curve(name)[-1])

    def priors(self) -> dict[str, float]:
        """Level → its learnt prior at the end, mean over values and groups."""
        levels = (level.name for level in network_for(self.model, self.n_topics).levels)
        return {
            name: float(np.nanmean(self.run[f"alpha_{name}"].values[-1]))
            for name in levels
            if f"alpha_{name}" in self.run
        }


def _seconds(each: Measured) -> float:
    """CPU time of an iteration, without the first record, which has what begins a run; NaN of a single record."""
    clock, iterations = each.run["cpu_time"].values, each.run["iteration"].values
    return (clock[-1] - clock[0]) / (iterations[-1] - iterations[0]) if len(clock) > 1 else math.nan


NUMBERS = {
    # of held-out tokens, averaged where the engine samples; of unseen documents as the paper measures it
    "perplexity": lambda each: (
        each.unseen["foldin_same"] if each.unseen else each.curve("test_perplexity")[-1]
    ),
    # with at least one token; NaN where their number was given
    "topics": lambda each: (
        each.run["n_active_topics"].values[-1] if "n_active_topics" in each.run else math.nan
    ),
    "converged": lambda each: each.run["iteration"].values[each.settled()],
    "steps_to_converge": lambda each: each.curve("steps")[each.settled()],
    # 1 where a run converges in its last tenth only, so that a longer one might take longer
    "moving": lambda each: each.number("converged") > 0.9 * each.run["iteration"].values[-1],
    # 1 where it does so in the second half only
    "fit_moving": lambda each: (
        each.run["iteration"].values[each.fitted()] > 0.5 * each.run["iteration"].values[-1]
    ),
    "seconds": _seconds,
    "until_converged": lambda each: each.number("converged") * _seconds(each),
    # CPU seconds until the sampler fits its training data as it does in the end
    "until_fitted": lambda each: each.run["iteration"].values[each.fitted()] * _seconds(each),
    **{name: lambda each, name=name: each.unseen[name] for name in UNSEEN},
}
"""Numbers of a run that are no curve's last value."""


def measure(
    figure: Figure, cells: list[Planned], runs: list[Run], corpora: dict[str, Corpus]
) -> list[Measured]:
    """The numbers of the runs that have committed something; of those whose documents are unseen, that have ended."""
    found = []
    for cell, run in zip(cells, runs, strict=True):
        rows, lasts = run.progress(), cell.spec.n_iterations
        if not rows.sizes["iteration"] or (
            figure.split is None and run.status()["iteration"] < lasts
        ):
            continue
        spec = run.spec  # its end may have come early, by its rule
        rows = rows.isel(iteration=rows["iteration"].values <= lasts).assign(
            updates=rows["updates"].astype(float)
        )
        rows = rows.assign_attrs(
            spec=spec.lasting(min(spec.n_iterations, lasts), spec.rule).to_json()
        )
        unseen = (
            score_unseen(run, cell, corpora[cell.key_values["corpus"]], figure.holdout)
            if figure.split is None
            else None
        )
        hits = hits_by_time(run.dataset(), cell.test) if figure.shows == HITS else None
        found.append(
            Measured(
                **(cell.key_values or {}),
                run=rows,
                unseen=unseen,
                corpora=(cell.train, cell.test),
                hits=hits,
            )
        )
    return found


def score_unseen(run: Run, cell: Planned, documents: Corpus, holdout: float) -> dict[str, float]:
    """Perplexities of unseen documents. Given without their authors, they are refitted (the paper's footnote 7)."""
    seed = cell.key_values["seed"]
    unseen = known_words(hold_out_documents(documents, holdout, seed)[1], cell.train)
    bare = unseen.with_pairs(unseen.indptr, unseen.words, unseen.counts, authors=None)
    same, completion = (
        document_completion(run, bare, seed, protocol)["perplexity"]
        for protocol in ("foldin_same", "document_completion")
    )
    by_authors = (
        document_completion(run, unseen, seed)["perplexity"]
        if cell.key_values["model"] == ATM
        else math.nan
    )
    return dict(zip(UNSEEN, (same, completion, by_authors), strict=True))


class Row(NamedTuple):
    """The runs that differ in their seeds alone."""

    corpus: str
    model: str
    method: str
    n_topics: int
    runs: list[Measured]

    def mean(self, name: str) -> tuple[float, float]:
        """Mean of a number over the runs, and its standard error; NaN for one run."""
        return mean_and_error([each.number(name) for each in self.runs])


def table(measured: list[Measured]) -> list[Row]:
    """A row for each corpus, model, method and number of topics, in the order of the runs."""
    groups = grouped([each[:4] for each in measured], measured)  # the first four fields of both
    return [Row(*key, runs) for key, runs in groups.items()]
