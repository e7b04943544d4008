"""The numbers of the comparison card: perplexity of each label, errors, difference from a reference, time to a target."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from workbench.measures import MeasureError, final, paired_differences, perplexity_errors, reached_by_all, time_to
from workbench.runs.afterwards.heldout_by_document import score_documents
from workbench.runs.execution.run import Run
from workbench.runs.spec import SpecError
from workbench.runs.store.places import is_run

CLOCKS = ("elapsed", "updates")


@lru_cache(maxsize=32)
def side_by_side(runs: tuple[tuple[Path, int], ...], until: float | None, reference: str | None) -> pd.DataFrame:
    """One row a label, for runs with something held out.

    Parameters
    ----------
    runs : of (path, iteration)
        One that was removed meanwhile is left out.
        The iteration is that of a run that rests, whose documents are then scored; -1 - n for one that goes on, with any n
        that changes when it is to be looked at again.
    until : float, optional
        A perplexity; by default the lowest that every run comes down to.
    reference : str, optional
        A label or an engine, see `workbench.measures.summary`.

    Returns
    -------
    pandas.DataFrame
        Index ``label``; columns runs (names), n_runs, test_perplexity, mc_error, mc_source, documents_low, documents_high
        (95 %), reference, difference, difference_low, difference_high (95 %), n_pairs, until, n_reached, and elapsed and
        updates until then, means over the runs that came so far.

    Raises
    ------
    MeasureError
        No run with a record and a test set, or no such reference.
    """
    found, scored = [], {}
    for path, iteration in runs:
        try:
            run = Run(path)
            progress = run.progress()
        except Exception:
            if is_run(path):
                raise
            continue  # it was removed since it was listed
        if progress.sizes["iteration"] and "test_perplexity" in progress:
            found.append(progress)
            if iteration >= 0:
                scored |= _scored(run)
    if not found:
        raise MeasureError("no run that is drawn has held-out tokens and a first iteration; there is nothing to compare")
    errors, differences = perplexity_errors(found, scored), paired_differences(found, reference, scored=scored)
    until = reached_by_all(found) if until is None else until
    table = errors.rename(value="test_perplexity", source="mc_source", low="documents_low", high="documents_high").merge(
        differences, combine_attrs="override").to_pandas()
    spent = pd.DataFrame({clock: time_to(found, until, clock).values for clock in CLOCKS})
    last = final(found)
    reached = spent.groupby(last["label"].values)
    names = pd.Series(last["run"].values).groupby(last["label"].values)
    means = {clock: reached[clock].mean() for clock in CLOCKS}
    return table.assign(runs=names.agg(tuple), until=until, n_reached=reached["elapsed"].count(), **means)


def _scored(run: Run) -> dict:
    """The scores of each document at its last checkpoint; empty where there is none."""
    try:
        return {run.spec.hash: score_documents(run)}
    except (SpecError, OSError):
        return {}


def format_range(low: float, high: float) -> str:
    """An interval as text: −3.1 … 2.0; empty where there is none."""
    return f"{format_signed(low)} … {format_signed(high)}" if np.isfinite([low, high]).all() else ""


def format_signed(number: float) -> str:
    """A number with its sign, a true minus."""
    return f"{number:+,.1f}".replace("-", "−") if np.isfinite(number) else "–"
