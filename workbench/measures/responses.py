"""Predictions of the responses of documents, of runs of supervised LDA."""

import numpy as np
import xarray as xr
from scipy.special import ndtri

from workbench.measures.curves import LEVEL
from workbench.measures.selection import MeasureError, attributes, one_run, spec_of
from workbench.models.supervised import class_probabilities
from workbench.runs.recorded import priors_of


def predicted_responses(run: xr.Dataset, inferred: xr.Dataset) -> xr.Dataset:
    """Return the predicted response of each document, averaged over the weights of all snapshots after the burn-in.

    Parameters
    ----------
    run : Dataset
        Of the engine ``slda``, with ``response_weights``. A small ``snapshot_every`` gives more draws of the weights.
    inferred : Dataset
        From `workbench.infer` with this run: theta, the number of tokens and the share of unknown words of each document. Its
        expected shares of topics, E[n_dk] / N_d, follow from these; without a known word they are those of the prior.

    Returns
    -------
    Dataset
        Of classes ``probability`` (document, response). Of numbers ``mean`` (document,), and ``low`` and ``high``, a 95 %
        interval from the variance of a number about its mean and that of the mean over draws. The coordinates of the
        documents are those of ``inferred``. The attribute ``n_draws`` has the number of snapshots.

    Raises
    ------
    MeasureError
        For a run without a response, with merged or hidden topics, or theta of another number of topics.

    McAuliffe & Blei (2007), eq. 9, averaged over draws.
    """
    run = one_run(run)
    if "response_weights" not in run or not run.sizes["response"]:
        raise MeasureError(
            f"the run '{run.attrs['name']}' has no response; fit it with the engine slda and options={{'response': column}}, "
            "and open it without merged or hidden topics"
        )
    if "theta" not in inferred or inferred.sizes["topic"] != run.sizes["topic"]:
        raise MeasureError(
            f"wanted theta of {run.sizes['topic']} topics, from workbench.infer with this run; got one of another number of "
            "topics"
        )
    after = run["snapshot_iteration"].values > spec_of(run).end_of_burn_in
    draws = run.isel(snapshot=np.flatnonzero(after) if after.any() else [-1])
    weights = draws["response_weights"].values  # (draw, response, topic)
    shares = expected_shares(inferred, priors_of(run).alphas)
    if run.sizes["response"] > 1:
        probability = sum(class_probabilities(shares @ rows[:-1].T) for rows in weights)
        values = {
            "probability": (
                ("document", "response"),
                probability / len(weights),
                attributes("probability of the class"),
            )
        }
    else:
        fits = shares @ weights[:, 0].T  # (document, draw)
        mean = fits.mean(axis=1)
        variance = fits.var(axis=1) + np.mean(draws["response_deviation"].values ** 2)
        reach = ndtri((1 + LEVEL) / 2) * np.sqrt(variance)
        values = {
            name: ("document", numbers, attributes(meaning))
            for name, numbers, meaning in (
                ("mean", mean, "expected number"),
                ("low", mean - reach, "95 % interval, low end"),
                ("high", mean + reach, "95 % interval, high end"),
            )
        }
    coords = {name: one for name, one in inferred.coords.items() if one.dims == ("document",)}
    return xr.Dataset(
        values,
        {**coords, "response": run["response"]},
        {"run": run.attrs["name"], "n_draws": len(weights)},
    )


def expected_shares(inferred: xr.Dataset, alphas: np.ndarray) -> np.ndarray:
    """Return the expected shares (document, topic) of topics among the tokens, E[n_dk] / N_d, of theta = (alpha + n) / (A + N).

    Without a known token they are alpha / A.
    """
    known = inferred["n_tokens"].values * (1.0 - inferred["out_of_vocabulary"].values)
    n, total = np.rint(known)[:, None], alphas.sum()
    expected = inferred["theta"].values * (total + n) - alphas
    return np.where(n > 0, np.maximum(expected, 0.0) / np.maximum(n, 1.0), alphas / total)
