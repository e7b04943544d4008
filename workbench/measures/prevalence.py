"""Counterfactual prevalence: the mean share of each topic if all documents had one value of a column, from draws of Gamma.

For runs with a formula of prevalence, psi_d ~ N(Gamma x_d, Sigma). Where `workbench.measures.effect_curve` regresses the shares
of documents after the run, this takes the regression that the run itself drew.
"""

import numpy as np
import xarray as xr

from workbench.corpus.formulas import Design
from workbench.measures.curves import LEVEL
from workbench.measures.effects import MOST_AVERAGED, N_POINTS, points_of
from workbench.measures.selection import MeasureError, attributes, one_run, spec_of
from workbench.runs.recorded import model_of


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
    run = one_run(run)
    if "gamma" not in run:
        raise MeasureError(
            "the run has no formula of prevalence; fit it with options={'prevalence': '~ party'}, or use effect_curve"
        )
    if run.sizes["topic"] != run.sizes["stick"] + 1:
        raise MeasureError(
            "curves of prevalence need all topics of the run, and this edition has merged or hidden some; open the run as it is"
        )
    model, spec = model_of(run), spec_of(run)
    design: Design = model.design
    if column not in design.columns:
        raise MeasureError(
            f"the formula {model.prevalence!r} has no column {column!r} to draw; it has {', '.join(map(str, design.columns))}"
        )
    n_points = MeasureError.whole("the number of points", n_points, 2)
    rng = np.random.default_rng(seed)
    documents = np.arange(len(design.values))
    if len(documents) > MOST_AVERAGED:
        documents = np.sort(rng.choice(documents, MOST_AVERAGED, replace=False))
    values = points_of(design.columns[column], n_points)
    # of few documents each has several random sticks
    columns = design.columns.iloc[np.tile(documents, -(-MOST_AVERAGED // len(documents)))]
    terms = [design.of_documents(columns.assign(**{column: value})) for value in values]
    after = np.flatnonzero(run["snapshot_iteration"].values > spec.end_of_burn_in)
    snapshots = after if len(after) else [-1]
    normal = rng.normal(size=(len(columns), run.sizes["stick"]))
    shares = np.stack(
        [
            _shares(model, run.isel(snapshot=snapshot), terms, np.concatenate([normal, -normal]))
            for snapshot in snapshots
        ]
    )
    return xr.Dataset(
        _interval(shares, "share", "expected share if all documents had the value")
        | _interval(shares - shares[:, :1], "change", "its difference from the first"),
        {"value": values, "topic": run["topic"].values},
        {
            "formula": model.prevalence,
            "n_documents": len(documents),
            "n_left_out": 0,
            "n_draws": len(shares),
            "column": column,
        },
    )


def _shares(model, snapshot: xr.Dataset, terms: list[np.ndarray], normal: np.ndarray) -> np.ndarray:
    """Return the mean of theta (value, topic) over documents, given Gamma and Sigma and standard normal sticks."""
    gamma, sigma = snapshot["gamma"].values, snapshot["psi_covariance"].values
    noise = normal @ np.linalg.cholesky(sigma).T
    return np.stack(
        [model.theta_of(np.tile(x @ gamma.T, (2, 1)) + noise).mean(axis=0) for x in terms]
    )


def _interval(draws: np.ndarray, name: str, meaning: str) -> dict:
    """Return the mean over draws (draw, value, topic), with standard deviations and 95 % intervals."""
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
        each: (("value", "topic"), numbers, attributes(description))
        for each, (numbers, description) in columns.items()
    }
