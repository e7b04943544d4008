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
from workbench.measures.selection import each_run, spec_of
from workbench.runs.afterwards.heldout_by_document import Scored

SEEDS, CHAIN, NONE = "seeds", "batch means", ""


def perplexity_errors(
    runs, scored: Mapping[str, Scored] | None = None, seed: int = 0
) -> xr.Dataset:
    """The held-out perplexity of each label with two errors: of the randomness of inference, and of the documents.

    For ``scored`` see `paired_differences`; ``seed`` is that of the documents that are drawn. Dim ``label``:

    - ``value``: the mean over runs of the last headline perplexity, NaN where nothing is held out.
    - ``mc_error``: its Monte-Carlo standard error. Of several runs (seeds, splits) that of their mean. Of one run whose tokens
      are sampled, by batch means of the log perplexity of the *state* over the recorded iterations after burn-in, times
      ``value``: the error of a mean over that many dependent states, as against infinitely many. Otherwise, and with fewer than
      four such iterations, NaN: only other seeds would show it.
    - ``source`` of mc_error: "seeds", "batch means" or "".
    - ``low``, ``high``: 95 % interval of ``value`` over the documents that might have been held out: 1000 times as many
      documents are drawn with replacement, the topics stay as they are. NaN unless every run of the label is ``scored``.
    - ``n_runs``.

    Flegal & Jones (2010); Efron (1979).
    """
    runs = each_run(runs)
    last = final(runs)
    found, by_label = [], rows_by_label(last)
    for rows in by_label.values():
        value, error = mean_and_error(last["test_perplexity"].values[rows])
        source = SEEDS
        if len(rows) == 1 and (chain := _sampled(runs[rows[0]])) is not None:
            error, source = value * batch_means(np.log(chain)), CHAIN
        of_label = [(scored or {}).get(spec_of(runs[row]).hash) for row in rows]
        draws = (
            np.mean([resampled_perplexities(each, seed=seed) for each in of_label], axis=0)
            if all(of_label)
            else ()
        )
        found.append(
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
        "mc_error": "its Monte-Carlo standard error",
        "source": "what its Monte-Carlo error is taken over",
        "low": "lower end of its 95 % interval over documents",
        "high": "upper end of its 95 % interval over documents",
        "n_runs": "runs: seeds and splits",
    }
    data = {
        name: (
            "label",
            np.array(values, object if name == "source" else None),
            {"long_name": meaning, "units": ""},
        )
        for (name, meaning), values in zip(meanings.items(), zip(*found, strict=True), strict=True)
    }
    return xr.Dataset(data, {"label": np.array(list(by_label), dtype=object)})


def _sampled(run: xr.Dataset) -> np.ndarray | None:
    """The perplexity of the state at the iterations after burn-in; None where no token is sampled or none is held out.

    Where no token is sampled, the headline is the perplexity of the state at every iteration.
    """
    if "test_perplexity" not in run or run["test_perplexity"].equals(run["test_perplexity_state"]):
        return None
    return run["test_perplexity_state"].values[run["iteration"].values > spec_of(run).burn_in]
