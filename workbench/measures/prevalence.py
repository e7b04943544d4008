"""Counterfactual prevalence: expected shares of topics if all documents had one value of a column, from draws of Gamma.

For runs with a formula of prevalence. Where `workbench.measures.effect_curve` regresses the shares of documents after the run,
this takes the regression that the run itself drew.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from workbench.corpus.formulas import is_numeric
from workbench.engines import get_engine
from workbench.engines.engine import SAMPLER
from workbench.measures.curves import LEVEL
from workbench.measures.selection import MeasureError, attributes, one_run, spec_of
from workbench.runs.recorded import model_of

N_POINTS = 25
MOST_AVERAGED = 1000
"""Maximum number of documents over which a curve is averaged; of more, a random sample is taken."""


def prevalence_curve(
    run: xr.Dataset, column: str, n_points: int = N_POINTS, seed: int = 0
) -> xr.Dataset:
    """Return the expected share of each topic if all documents had one value of a column, with 95 % intervals.

    Parameters
    ----------
    run : Dataset
        Of an engine with the option ``prevalence``; with ``gamma``.
    column : str
        A column that the formula names. The other columns keep their values.
    n_points : int, default 25
        Number of values of a column of numbers that has more; from its least to its largest.
    seed : int, default 0
        Of the documents' random sticks, over which shares are averaged, the same at every value.

    Returns
    -------
    Dataset
        That of `workbench.measures.effect_curve`: dims ``value`` and ``topic``, ``share`` and ``change``, the difference from
        the first value, each with ``_error``, ``_low`` and ``_high``: the standard deviation and quantiles over the snapshots
        after the burn-in. With one snapshot there are no errors (NaN).

    Raises
    ------
    MeasureError
        For a run without ``gamma``, with merged or hidden topics, or a column that the formula does not name.
    """
    expected = _Expected(run, seed)
    design = expected.model.design
    if column not in design.columns:
        raise MeasureError(
            f"the formula {expected.model.prevalence!r} has no column {column!r} to draw; it has "
            f"{', '.join(map(str, design.columns))}"
        )
    n_points = MeasureError.whole("the number of points", n_points, 2)
    values = points_of(design.columns[column], n_points)
    columns = design.columns.iloc[expected.documents]
    shares = expected.shares(
        [design.of_documents(columns.assign(**{column: value})) for value in values]
    )
    dims = "value", "topic"
    return xr.Dataset(
        _interval(shares, dims, "share", "expected share if all documents had the value")
        | _interval(shares - shares[:, :1], dims, "change", "its difference from the first"),
        {"value": values, "topic": expected.topics},
        expected.about(shares) | {"column": column},
    )


def effects_of_gamma(run: xr.Dataset, seed: int = 0) -> xr.Dataset:
    """Return the effects of the terms of a run's own formula on expected shares, as `workbench.effects` without a formula."""
    expected = _Expected(run, seed)
    design = expected.model.design
    x = design.values[expected.documents]
    tables, widths = [np.eye(1, x.shape[1]).repeat(len(x), axis=0)], [1.0]
    for j, spread in enumerate(design.spread[1:], start=1):
        ends = np.unique(design.values[:, j])
        if len(ends) > 2:
            ends = [x[:, j] - spread / 2, x[:, j] + spread / 2]
        for end in ends:
            tables.append(x.copy())
            tables[-1][:, j] = end
        widths.append(np.mean(ends[1] - ends[0]))
    shares = expected.shares(tables)
    changes = np.concatenate([shares[:, :1], shares[:, 2::2] - shares[:, 1::2]], axis=1)
    changes /= np.array(widths)[:, None]
    off, n = changes - changes.mean(axis=0), len(changes)
    covariance = np.einsum("dik,djk->kij", off, off) / (n - 1) if n > 1 else np.nan
    dims = "topic", "term", "other_term"
    shape = changes.shape[2], changes.shape[1], changes.shape[1]
    return xr.Dataset(
        _interval(changes, ("term", "topic"), "effect", "change of the expected share")
        | {
            "covariance": (
                dims,
                np.broadcast_to(covariance, shape),
                attributes("covariance of the effects"),
            )
        },
        {
            "term": list(design.terms),
            "other_term": list(design.terms),
            "topic": expected.topics,
        },
        expected.about(shares),
    )


class _Expected:
    """Expected shares of a run with a formula of prevalence: means over some documents, and over random sticks of each."""

    def __init__(self, run: xr.Dataset, seed: int):
        self.run = run = one_run(run)
        if "gamma" not in run:
            raise MeasureError(
                "the run has no formula of prevalence; fit it with options={'prevalence': '~ party'}, or use effect_curve, or "
                "effects with a formula"
            )
        self.model, self.topics = model_of(run), run["topic"].values
        if len(self.topics) != self.model.n_topics:
            raise MeasureError(
                "expected shares need all topics of the run, and this edition has merged or hidden some; open the run "
                "as it is"
            )
        rng = np.random.default_rng(seed)
        documents = np.arange(run.sizes["document"])
        if len(documents) > MOST_AVERAGED:
            documents = np.sort(rng.choice(documents, MOST_AVERAGED, replace=False))
        self.n_documents = len(documents)
        # of few documents each has several random sticks
        self.documents = np.tile(documents, -(-MOST_AVERAGED // len(documents)))
        normal = rng.normal(size=(len(self.documents), run["gamma"].shape[1]))
        self.normal = np.concatenate([normal, -normal])

    def shares(self, tables: Sequence[np.ndarray]) -> np.ndarray:
        """Return shares (draw, table, topic) of tables of terms (document, term).

        A sampler has a draw for each snapshot after the burn-in, another engine the last snapshot alone.
        """
        spec = spec_of(self.run)
        after = np.flatnonzero(self.run["snapshot_iteration"].values > spec.end_of_burn_in)
        if get_engine(spec.engine).kind != SAMPLER:
            after = after[:0]
        names = [name for name in ("gamma", "psi_covariance") if name in self.run]
        found = []
        for snapshot in after if len(after) else [-1]:
            last = {name: self.run[name].values[snapshot] for name in names}
            found.append(
                [
                    self.model.shares_at(last, np.tile(x, (2, 1)), self.normal).mean(axis=0)
                    for x in tables
                ]
            )
        return np.array(found)

    def about(self, shares: np.ndarray) -> dict:
        """Return the attributes of a Dataset of shares (draw, …)."""
        return {
            "formula": self.model.prevalence,
            "n_documents": self.n_documents,
            "n_left_out": 0,
            "n_draws": len(shares),
        }


def points_of(column: pd.Series, n_points: int) -> np.ndarray:
    """Return all values of a column; of more than ``n_points`` numbers as many from the least to the largest."""
    values = np.array(sorted(column.dropna().unique()), None if is_numeric(column) else object)
    if is_numeric(column) and len(values) > n_points:
        return np.linspace(values[0], values[-1], n_points)
    return values


def _interval(draws: np.ndarray, dims: tuple[str, str], name: str, meaning: str) -> dict:
    """Return the mean over draws (draw, …), with standard deviations and 95 % intervals."""
    tail = (1 - LEVEL) / 2
    if len(draws) > 1:
        error, (low, high) = draws.std(axis=0, ddof=1), np.quantile(draws, (tail, 1 - tail), axis=0)
    else:
        error = low = high = np.full(draws.shape[1:], np.nan)
    columns = {
        name: (draws.mean(axis=0), meaning),
        f"{name}_error": (error, "standard deviation over draws"),
        f"{name}_low": (low, "95 % interval, low end"),
        f"{name}_high": (high, "95 % interval, high end"),
    }
    return {
        each: (dims, numbers, attributes(description))
        for each, (numbers, description) in columns.items()
    }
