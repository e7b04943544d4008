"""The comparison card: a row for each engine and its options, with errors, and a picture of the differences."""

from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from html import escape

import numpy as np
import pandas as pd
import xarray as xr

from workbench.dashboard.compare.run_cards import RunIterations, begun_runs
from workbench.dashboard.shared.card import WAITING, Card, CardContent, LiveContent, by_label_html
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Offers
from workbench.dashboard.shared.shell import text, with_label
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
        super().__init__("Comparison", handover, with_label(self.reference), self.busy)

    def follow(self, runs: RunIterations, target: float | None) -> None:
        """Compute the comparison of these runs in the background, unless the last request was the same."""
        request = runs, target or None, self.reference.value or None
        if self.card_content.table and self.card_content.paths != tuple(path for path, _ in runs):
            self.busy.say(f"{len(runs)} runs are being compared; the table shows those before …")
        self.bring(request, partial(comparison_card, *request), WAITING)

    def show(self, content: LiveContent | None, error: Exception | None = None) -> None:
        """Show the comparison, and offer the labels of its rows as references; or show the error."""
        super().show(content, error)
        self.busy.say("")
        if content:
            self.reference.offer(content[0].extra)


@lru_cache(maxsize=32)
def comparison_card(
    runs: RunIterations, target: float | None, reference: str | None
) -> CardContent:
    """Return the card that compares these runs (see `comparison_of`): sentences, picture, table, and labels of its rows."""
    if not runs:
        raise MeasureError("no run is drawn; draw some in the table")
    comparison = comparison_of(runs, target, reference)
    rows = comparison.to_dataframe().reset_index()
    picture = None
    if (rows["label"] != rows["reference"])[np.isfinite(rows["difference"])].any():
        rows_as_text = rows.assign(runs=[" ".join(names) for names in rows["runs"]])
        picture = replace(
            differences_picture(view_named("differences"), comparison),
            name="comparison",
            header=list(rows_as_text),
            rows=rows_as_text.to_numpy(object).tolist(),
        )
    return CardContent(
        "".join(f"<p>{escape(sentence)}.</p>" for sentence in comparison.attrs["starts_behind"]),
        picture,
        by_label_html(table_of(rows)),
        tuple(path for path, _ in runs),
        extra=rows["label"].tolist(),
    )


def comparison_of(runs: RunIterations, target: float | None, reference: str | None) -> xr.Dataset:
    """Return the results of each label (engine and options), from its runs with held-out data; removed runs are omitted.

    Documents are scored only for runs at rest.
    until : target perplexity; by default the lowest that every run reaches. reference : a label or an engine.

    Variables are those of `paired_differences`, runs (names), n_runs, test_perplexity, mc_error, mc_source, documents_low,
    documents_high (95 %), until, n_reached, has_course (False for imported models, whose times are unknown), and elapsed and
    updates until the target, means over the runs that reached it; start, where these began; first_end and
    last_end, the smallest and largest last iteration of the runs; ``attrs["starts_behind"]``, see `measures.starts`. Raises
    MeasureError if no run has a record and a test set, or if the reference is unknown.
    """
    datasets, scores = [], {}
    for run, iteration, progress in begun_runs(runs):
        if "test_perplexity" in progress:
            datasets.append(progress)
            if iteration >= 0:
                with suppress(SpecError, OSError):  # it has no checkpoint
                    scores[run.spec.hash] = score_documents(run)
    if not datasets:
        raise MeasureError(
            "no run that is drawn has held-out tokens and a first iteration; there is nothing to compare"
        )
    datasets = in_papers_order(datasets)
    errors = perplexity_errors(datasets, scores).rename(
        value="test_perplexity", source="mc_source", low="documents_low", high="documents_high"
    )
    target = reached_by_all(datasets) if target is None else target
    last = final(datasets)
    by_run = pd.DataFrame(
        {clock: time_to(datasets, target, clock).values for clock in CLOCKS}
        | {name: last[name].values for name in ("run", "iteration")}
        | {"spec": [spec_of(run) for run in datasets]}
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
            "until": target,
            "start": groups["spec"].agg(starts_of),
        }
    ).rename_axis("label")
    table = paired_differences(datasets, reference, scored=scores).merge(
        errors, combine_attrs="override"
    )
    table.attrs["starts_behind"] = starts_behind(datasets)
    return table.merge(by_label.loc[table["label"].values].to_xarray(), combine_attrs="override")


def table_of(rows: pd.DataFrame) -> Table:
    """Return the comparison as a table, with headings and their explanations."""
    target = rows["until"].iloc[0]
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
            f"Seconds to {target:,.6g}" if np.isfinite(target) else "Seconds to target",
            meaning="of computing, until a run was first at or below it; mean over the runs",
        ),
        *numbers("Updates to target", meaning="of tokens or pairs, until then"),
    ]
    return Table(columns, map(_cells, rows.itertuples()), "comparison")


def _cells(row) -> list:
    """Return the table cells for one label; ``row`` is its row of the results."""
    digits = decimals(row.test_perplexity)
    interval = format_interval(row.difference_low, row.difference_high, digits, sign=True)
    difference = format_number(row.difference, digits, sign=True)
    error = format_number(row.mc_error, digits + 1)
    ends = (
        f"{row.last_end:,.0f}"
        if row.first_end == row.last_end
        else format_interval(row.first_end, row.last_end, 0)
    )
    few = f" ({row.n_reached} of {row.n_runs:.0f})" if row.n_reached < row.n_runs else ""
    return [
        row.label if row.start in row.label else f"{row.label}\nfrom {row.start}",
        row.n_runs,
        format_number(row.test_perplexity, digits)
        + (f"\nof iteration {ends}" if row.has_course else ""),
        "0" if row.reference == row.label else difference + (f" ({interval})" if interval else ""),
        error if error == DASH else f"{error}\n{row.mc_source}",
        format_interval(row.documents_low, row.documents_high, digits) or DASH,
        f"{row.elapsed:,.3g} s{few}"
        if row.n_reached
        else "not reached"
        if row.has_course
        else None,
        row.updates if row.has_course else None,
    ]
