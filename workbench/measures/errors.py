"""Standard errors of held-out perplexities: of the randomness of inference, and of the sample of documents."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from workbench.measures.comparison import final, rows_by_label
from workbench.measures.intervals import (
    batch_means,
    mean_and_error,
    percentile_interval,
    resampled_perplexities,
)
from workbench.measures.selection import Runs, attributes, each_run, spec_of
from workbench.runs.afterwards.heldout_by_document import Scored

SEEDS, CHAIN, NONE = "seeds", "batch means", ""


def perplexity_errors(
    runs: Runs, scored: Mapping[str, Scored] | None = None, seed: int = 0
) -> xr.Dataset:
    """Return the held-out perplexity of each label with its Monte Carlo error and its interval over documents.

    For ``scored`` see `paired_differences`; ``seed`` is the seed of the bootstrap. Dim ``label``:

    - ``value``: the mean over runs of the last headline perplexity, NaN if nothing is held out.
    - ``mc_error``: its Monte Carlo standard error. For several runs (seeds, splits) it is that of their mean. For one run of a
      sampler it is computed by batch means of the log perplexity of the *state* over the recorded iterations after burn-in,
      times ``value``. Otherwise, and with fewer than four such iterations, it is NaN: only other seeds would show it.
    - ``source`` of mc_error: "seeds", "batch means" or "".
    - ``low``, ``high``: 95 % interval of ``value`` over test documents: a bootstrap of 1000 resamples of the documents for
      fixed topics. NaN unless every run of the label is ``scored``.
    - ``n_runs``.

    Flegal & Jones (2010); Efron (1979).
    """
    runs = each_run(runs)
    last = final(runs)
    table_rows, by_label = [], rows_by_label(last)
    for rows in by_label.values():
        value, error = mean_and_error(last["test_perplexity"].values[rows])
        source = SEEDS
        if len(rows) == 1 and (chain := _sampled(runs[rows[0]])) is not None:
            error, source = value * batch_means(np.log(chain)), CHAIN
        scores = [(scored or {}).get(spec_of(runs[row]).hash) for row in rows]
        draws = (
            np.mean([resampled_perplexities(score, seed=seed) for score in scores], axis=0)
            if all(scores)
            else ()
        )
        table_rows.append(
            (
                value,
                error,
                source if np.isfinite(error) else NONE,
                *percentile_interval(draws),
                len(rows),
            )
        )
    meanings = {
        "value": "held-out perplexity, mean over runs",
        "mc_error": "its Monte Carlo standard error",
        "source": "source of its Monte Carlo error",
        "low": "lower end of its 95 % interval over documents",
        "high": "upper end of its 95 % interval over documents",
        "n_runs": "runs: seeds and splits",
    }
    data = {
        name: (
            "label",
            np.array(values, object if name == "source" else None),
            attributes(meaning),
        )
        for (name, meaning), values in zip(
            meanings.items(), zip(*table_rows, strict=True), strict=True
        )
    }
    return xr.Dataset(data, {"label": np.array(list(by_label), dtype=object)})


def _sampled(run: xr.Dataset) -> np.ndarray | None:
    """Return the perplexity of the state after burn-in; None if no token is sampled or none is held out.

    If no token is sampled, the headline equals the perplexity of the state at every iteration.
    """
    if "test_perplexity" not in run or run["test_perplexity"].equals(run["test_perplexity_state"]):
        return None
    return run["test_perplexity_state"].values[run["iteration"].values > spec_of(run).burn_in]
