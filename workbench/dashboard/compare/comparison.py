"""The comparison card: a row for each engine and its options, with errors, and a picture of the differences."""

from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from html import escape

import numpy as np
import pandas as pd
import xarray as xr

from workbench.dashboard.compare.run_cards import Looked, begun
from workbench.dashboard.shared.card import WAITING, Card, Live, Shown, by_label_html
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Offers
from workbench.dashboard.shared.shell import labelled, text
from workbench.measures import (
    MeasureError,
    final,
    paired_differences,
    perplexity_errors,
    reached_by_all,
    time_to,
)
from workbench.measures.selection import in_papers_order, spec_of
from workbench.measures.starts import starts_behind, starts_of
from workbench.numbers import DASH, format_interval, format_number
from workbench.runs.afterwards.heldout_by_document import score_documents
from workbench.runs.progress import decimals
from workbench.runs.spec import SpecError
from workbench.tables import Column, Table, numbers
from workbench.views.comparison import differences_picture
from workbench.views.every import view_named

BEST = "Automatic: cgs, or the best"
CLOCKS = ("elapsed", "updates")


class Comparison(Card):
    """The card that compares the runs given to `follow`; the numbers are computed in a thread."""

    def __init__(self, handover: Handover):
        self.reference = Offers("Baseline", BEST)  # labels and engines, perhaps of no run yet
        self.busy = text(css_classes=["wb-mid"], visible=False)
        super().__init__("Comparison", handover, labelled(self.reference), self.busy)

    def follow(self, runs: Looked, until: float | None) -> None:
        """Compute the comparison of these runs in the background, unless the last request was the same."""
        asked = runs, until or None, self.reference.value or None
        if self.shown.table and self.shown.paths != tuple(path for path, _ in runs):
            self.busy.say(f"{len(runs)} runs are being compared; the table shows those before …")
        self.bring(asked, partial(compared, *asked), WAITING)

    def show(self, found: Live | None, error: Exception | None = None) -> None:
        """Show the comparison, and offer the labels of its rows as references; or show the error."""
        super().show(found, error)
        self.busy.say("")
        if found:
            self.reference.offer(found[0].beside)


@lru_cache(maxsize=32)
def compared(runs: Looked, until: float | None, reference: str | None) -> Shown:
    """Return the card that compares these runs (see `side_by_side`): sentences, picture, table, and labels of its rows."""
    if not runs:
        raise MeasureError("no run is drawn; draw some in the table")
    found = side_by_side(runs, until, reference)
    rows = found.to_dataframe().reset_index()
    picture = None
    if (rows["label"] != rows["reference"])[np.isfinite(rows["difference"])].any():
        told = rows.assign(runs=[" ".join(names) for names in rows["runs"]])
        picture = replace(
            differences_picture(view_named("differences"), found),
            name="comparison",
            header=list(told),
            rows=told.to_numpy(object).tolist(),
        )
    return Shown(
        "".join(f"<p>{escape(sentence)}.</p>" for sentence in found.attrs["starts_behind"]),
        picture,
        by_label_html(table_of(rows)),
        tuple(path for path, _ in runs),
        beside=rows["label"].tolist(),
    )


def side_by_side(runs: Looked, until: float | None, reference: str | None) -> xr.Dataset:
    """Return the results of each label (engine and options), from its runs with held-out data; removed runs are omitted.

    Documents are scored only for runs at rest.
    until : target perplexity; by default the lowest that every run reaches. reference : a label or an engine.

    Variables are those of `paired_differences`, runs (names), n_runs, test_perplexity, mc_error, mc_source, documents_low,
    documents_high (95 %), until, n_reached, has_course (False for imported models, whose times are unknown), and elapsed and
    updates until the target, means over the runs that reached it; start, where these began; first_end and
    last_end, the smallest and largest last iteration of the runs; ``attrs["starts_behind"]``, see `measures.starts`. Raises
    MeasureError if no run has a record and a test set, or if the reference is unknown.
    """
    found, scored = [], {}
    for run, iteration, progress in begun(runs):
        if "test_perplexity" in progress:
            found.append(progress)
            if iteration >= 0:
                with suppress(SpecError, OSError):  # it has no checkpoint
                    scored[run.spec.hash] = score_documents(run)
    if not found:
        raise MeasureError(
            "no run that is drawn has held-out tokens and a first iteration; there is nothing to compare"
        )
    found = in_papers_order(found)
    errors = perplexity_errors(found, scored).rename(
        value="test_perplexity", source="mc_source", low="documents_low", high="documents_high"
    )
    until = reached_by_all(found) if until is None else until
    last = final(found)
    by_run = pd.DataFrame(
        {clock: time_to(found, until, clock).values for clock in CLOCKS}
        | {name: last[name].values for name in ("run", "iteration")}
        | {"spec": [spec_of(run) for run in found]}
    )
    groups = by_run.groupby(last["label"].values)
    by_label = pd.DataFrame(
        {clock: groups[clock].mean() for clock in CLOCKS}
        | {
            "runs": groups["run"].agg(tuple),
            "n_reached": groups["elapsed"].count(),
            "has_course": groups["iteration"].any(),
            "first_end": groups["iteration"].min(),
            "last_end": groups["iteration"].max(),
            "until": until,
            "start": groups["spec"].agg(starts_of),
        }
    ).rename_axis("label")
    table = paired_differences(found, reference, scored=scored).merge(
        errors, combine_attrs="override"
    )
    table.attrs["starts_behind"] = starts_behind(found)
    return table.merge(by_label.loc[table["label"].values].to_xarray(), combine_attrs="override")


def table_of(rows: pd.DataFrame) -> Table:
    """Return the comparison as a table, with headings and their explanations."""
    until = rows["until"].iloc[0]
    references = "; ".join(dict.fromkeys(rows["reference"]))
    columns = [
        Column(
            "Engine and options",
            meaning="settings in which the runs differ; runs that differ only in seed and split share a row",
        ),
        *numbers("Runs", meaning="how many share the row"),
        *numbers(
            "Perplexity",
            meaning="of the held-out tokens, mean over the runs, at the last iteration of each",
        ),
        *numbers(
            f"Difference from {references}",
            meaning="mean difference of runs with the same split and seed, and its 95 % interval",
        ),
        *numbers(
            "± Monte Carlo",
            meaning="standard error of it: over seeds, or of one chain that has 100 effective samples after burn-in; of fewer "
            "it cannot be told",
        ),
        *numbers(
            "95 % over documents",
            meaning="Student's interval, as other documents would vary; of runs at rest",
        ),
        *numbers(
            f"Seconds to {until:,.6g}" if np.isfinite(until) else "Seconds to target",
            meaning="of computing, until a run was first at or below it; mean over the runs",
        ),
        *numbers("Updates to target", meaning="of tokens or pairs, until then"),
    ]
    return Table(columns, map(_cells, rows.itertuples()), "comparison")


def _cells(one) -> list:
    """Return the table cells for one label; ``one`` is its row of the results."""
    digits = decimals(one.test_perplexity)
    interval = format_interval(one.difference_low, one.difference_high, digits, sign=True)
    difference = format_number(one.difference, digits, sign=True)
    error = format_number(one.mc_error, digits + 1)
    ends = (
        f"{one.last_end:,.0f}"
        if one.first_end == one.last_end
        else format_interval(one.first_end, one.last_end, 0)
    )
    few = f" ({one.n_reached} of {one.n_runs:.0f})" if one.n_reached < one.n_runs else ""
    return [
        one.label if one.start in one.label else f"{one.label}\nfrom {one.start}",
        one.n_runs,
        format_number(one.test_perplexity, digits)
        + (f"\nof iteration {ends}" if one.has_course else ""),
        "0" if one.reference == one.label else difference + (f" ({interval})" if interval else ""),
        error if error == DASH else f"{error}\n{one.mc_source}",
        format_interval(one.documents_low, one.documents_high, digits) or DASH,
        f"{one.elapsed:,.3g} s{few}"
        if one.n_reached
        else "not reached"
        if one.has_course
        else None,
        one.updates if one.has_course else None,
    ]
