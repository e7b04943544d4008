"""The comparison card: a row for each engine and its options, with errors, and a picture of the differences."""

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
import panel as pn
import xarray as xr

from workbench.dashboard.compare.curve import Drawn
from workbench.dashboard.compare.files import differences_file
from workbench.dashboard.shared.background import LOOKS, in_background, sentence_of
from workbench.dashboard.shared.downloads import Downloads
from workbench.dashboard.shared.files import File, FileError
from workbench.dashboard.shared.form import as_sentence
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import column, labelled, message, styled, text
from workbench.measures import (
    MeasureError,
    final,
    paired_differences,
    perplexity_errors,
    reached_by_all,
    time_to,
)
from workbench.measures.selection import in_papers_order
from workbench.numbers import DASH, format_interval, format_number
from workbench.runs.afterwards.heldout_by_document import score_documents
from workbench.runs.execution.run import Run
from workbench.runs.progress import decimals
from workbench.runs.spec import SpecError
from workbench.runs.store.places import is_run
from workbench.runs.store.status import ALIVE

LIVE_EVERY = 10
"""Seconds between two looks at runs that go on; sessions that see the same runs share one."""
BEST = "Automatic: cgs, or the best"
WIDTH, ROW = 150, 24
"""Pixels of the picture of a difference."""
CLOCKS = ("elapsed", "updates")
KINDS = ("n", "n", "n", "n", "n", "picture", "n", "n")
"""Classes of the cells of a row after the label."""
FORMS = {"Picture as SVG": "svg", "Picture as PDF": "pdf", "Picture as PNG": "png"}


class Comparison:
    """The card of the runs that `show` is called with; the numbers come from a thread."""

    def __init__(self, handover, document):
        self._document, self._busy, self._asked = document, False, None
        self._drawn: Drawn | None = None
        self.found: pd.DataFrame | None = None
        self.reference = styled(
            pn.widgets.Select(
                label="Baseline",
                options={BEST: ""},
                value="",
                width=230,
                css_classes=["wb-unlabelled"],
            )
        )
        self.said = text(css_classes=["wb-mid"], visible=False)
        self.table = text("", "comparison.css", sizing_mode="stretch_width")
        self.files = Downloads(
            handover,
            {"Numbers as CSV": lambda: self._make("csv")},
            {name: partial(self._make, form) for name, form in FORMS.items()},
        )
        self.card = column(
            column(
                text("<h2>Comparison</h2>", css_classes=["wb-mid"]),
                labelled(self.reference),
                self.said,
                kind="wb-bar",
            ),
            self.table,
            *self.files.row("Download", "download the comparison"),
            kind="wb-card",
        )

    def set_against(self, label: str) -> bool:
        """Compares with a label, or the engine of one, though it may not be there yet."""
        if label not in self.reference.options.values():
            self.reference.options = self.reference.options | {label: label}
        self.reference.value = label
        return True

    def show(self, seen: Drawn, readings: dict[str, Reading], until: float | None) -> None:
        """Has the numbers of these runs computed, unless they are there or on their way."""
        runs = looked_at(seen, readings)
        self._drawn = seen
        asked = runs, until or None, self.reference.value or None
        if asked == self._asked or self._busy:
            return
        anew = self._asked and _without_iterations(*asked) != _without_iterations(*self._asked)
        self._asked, self._busy = asked, bool(runs)
        if not runs:
            self._take(None, MeasureError("no run is drawn; draw some in the table"))
            return
        self.table.object = self.table.object or message("The runs are being compared …")
        if anew and self.found is not None:
            self.said.say(
                f"{len(runs)} runs are being compared; the table shows the comparison before …"
            )

        def then(found, error) -> None:
            self._busy = False
            if self._asked[2] != (self.reference.value or None):
                return  # another reference was chosen meanwhile; the next tick asks again
            self._take(found, error)

        in_background(self._document, lambda: side_by_side(*asked), then, LOOKS)

    def _take(self, found: pd.DataFrame | None, error: Exception | None) -> None:
        self.found = found
        self.said.say("")
        if error is not None:
            self.table.object = message(sentence_of(error))
            return
        self.table.object = table(found, self._drawn.runs)
        labels = {label: label for label in found.index}
        self.reference.options = (
            {BEST: ""} | labels | ({one: one} if (one := self.reference.value) else {})
        )

    def _make(self, form: str, columns: int = 1):
        found, drawn = self.found, self._drawn

        def work() -> File:
            if found is None:
                raise FileError("there is nothing to compare yet; draw runs with held-out tokens")
            return differences_file(found, drawn, form, columns)

        return work


def looked_at(seen: Drawn, readings: dict[str, Reading]) -> tuple[tuple[Path, int], ...]:
    """(path, iteration) of each run that is drawn; of one that goes on -1 - n, another n when it is to be looked at again."""
    window = int(time.monotonic() // LIVE_EVERY)
    return tuple(
        (
            path,
            -1 - window
            if readings[path.name].state in ALIVE
            else int(readings[path.name].latest[0]),
        )
        for path, *_ in sorted(seen.runs)
        if path.name in readings
    )


def begun(runs: tuple[tuple[Path, int], ...]) -> Iterator[tuple[Run, int, xr.Dataset]]:
    """(run, iteration as `looked_at` gives it, what it has recorded) of each run that has an iteration and is still there."""
    for path, iteration in runs:
        try:
            run = Run(path)
            progress = run.progress()
        except Exception:
            if is_run(path):
                raise
            continue  # it was removed since it was listed
        if progress.sizes["iteration"]:
            yield run, iteration, progress


def _without_iterations(runs: tuple, *others) -> tuple:
    """What is compared, however far it is."""
    return tuple(path for path, _ in runs), *others


@lru_cache(maxsize=32)
def side_by_side(
    runs: tuple[tuple[Path, int], ...], until: float | None, reference: str | None
) -> pd.DataFrame:
    """One row a label, of the runs with something held out; one that was removed meanwhile is left out.

    runs : (path, iteration) of each. The iteration is that of a run that rests, whose documents are then scored; -1 - n for
    one that goes on, with any n that changes when it is to be looked at again.
    until : a perplexity; by default the lowest that every run comes down to. reference : a label or an engine.

    Columns are runs (names), n_runs, test_perplexity, mc_error, mc_source, documents_low, documents_high (95 %), reference,
    difference, difference_low, difference_high (95 %), n_pairs, until, n_reached, has_course (else it is from another
    program, so that no time is known), and elapsed and updates until then, means over the runs that came so far. Raises
    MeasureError for no run with a record and a test set, or no such reference.
    """
    found, scored = [], {}
    for run, iteration, progress in begun(runs):
        if "test_perplexity" in progress:
            found.append(progress)
            if iteration >= 0:
                scored |= _scored(run)
    if not found:
        raise MeasureError(
            "no run that is drawn has held-out tokens and a first iteration; there is nothing to compare"
        )
    found = in_papers_order(found)
    errors, differences = (
        perplexity_errors(found, scored),
        paired_differences(found, reference, scored=scored),
    )
    until = reached_by_all(found) if until is None else until
    table = (
        errors.rename(
            value="test_perplexity", source="mc_source", low="documents_low", high="documents_high"
        )
        .merge(differences, combine_attrs="override")
        .to_pandas()
    )
    spent = pd.DataFrame({clock: time_to(found, until, clock).values for clock in CLOCKS})
    last = final(found)
    reached = spent.groupby(last["label"].values)
    names = pd.Series(last["run"].values).groupby(last["label"].values)
    means = {clock: reached[clock].mean() for clock in CLOCKS}
    return table.assign(
        runs=names.agg(tuple),
        until=until,
        n_reached=reached["elapsed"].count(),
        has_course=pd.Series(last["iteration"].values).groupby(last["label"].values).any(),
        **means,
    )


def _scored(run: Run) -> dict:
    """The scores of each document at its last checkpoint; empty where there is none."""
    try:
        return {run.spec.hash: score_documents(run)}
    except (SpecError, OSError):
        return {}


def table(found: pd.DataFrame, drawn: tuple) -> str:
    """The comparison as an HTML table: text, and a dot and an interval for each difference, all on one scale."""
    until = found["until"].iloc[0]
    references = "; ".join(dict.fromkeys(found["reference"]))
    ends = found[["difference", "difference_low", "difference_high"]].to_numpy(float)
    ends = np.append(ends[np.isfinite(ends)], 0.0)
    low, high = ends.min(), ends.max()
    head = [
        (
            "Engine and options",
            "settings in which the runs differ; runs that differ only in seed and split share a row",
        ),
        ("Runs", "how many share the row"),
        ("Perplexity", "of the held-out tokens, mean over the runs"),
        ("± Monte Carlo", "standard error of it: over seeds, or of one chain by batch means"),
        ("95 % over documents", "interval by drawing the documents anew; of runs at rest"),
        (
            f"Difference from {references}",
            "mean difference of runs with the same split and seed, and its 95 % interval",
        ),
        ("", "the difference and its interval; the line is no difference"),
        (
            f"Seconds to {until:,.6g}" if np.isfinite(until) else "Seconds to target",
            "of computing, until a run was first at or below it; mean over the runs",
        ),
        ("Updates to target", "of tokens or pairs, until then"),
    ]
    rows = [
        (str(label), one["runs"], _cells(label, one, low, high, drawn))
        for label, one in found.iterrows()
    ]
    return html_table("comparison", head, KINDS, rows, drawn)


def html_table(
    name: str,
    head: Sequence[tuple[str, str]],
    kinds: Sequence[str],
    rows: Iterable[tuple],
    drawn: tuple,
) -> str:
    """A table with a row for each label, with the dot of its colour in the figure.

    head : (text, meaning) of each column, that of the labels first; kinds : classes of the cells after the label; rows :
    (label, names of its runs, HTML of the cells); drawn : (path, label, colour) of the runs in the figure
    """
    cells = "".join(
        f'<th scope="col" class="{kind}" title="{escape(as_sentence(why))}">{escape(word)}</th>'
        for kind, (word, why) in zip(("", *kinds), head, strict=True)
    )
    return (
        f'<table aria-label="{escape(name)}"><thead><tr>{cells}</tr></thead><tbody>'
        f"{''.join(_row(*row, kinds, drawn) for row in rows)}</tbody></table>"
    )


def colour_of(runs: tuple[str, ...], drawn: tuple) -> str:
    """The colour of runs in the figure; empty where they have none."""
    return next((colour for path, _, colour in drawn if path.name in runs), "")


def _row(
    label: str, names: tuple[str, ...], cells: list[str], kinds: Sequence[str], drawn: tuple
) -> str:
    colour = colour_of(names, drawn)
    told = "".join(
        f'<td class="{kind}">{cell}</td>' for kind, cell in zip(kinds, cells, strict=True)
    )
    dot = f'<span class="dot" style="background:{colour}"></span>' if colour else ""
    runs = escape("\n".join(names))  # by which highlight.js finds the row
    return f'<tr data-runs="{runs}"><th scope="row">{dot}{escape(label)}</th>{told}</tr>'


def _cells(label: str, one: pd.Series, low: float, high: float, drawn: tuple) -> list[str]:
    colour = colour_of(one["runs"], drawn)
    few = (
        f" ({one['n_reached']:.0f} of {one['n_runs']:.0f})"
        if one["n_reached"] < one["n_runs"]
        else ""
    )
    digits = decimals(one["test_perplexity"])
    interval = format_interval(one["difference_low"], one["difference_high"], digits, sign=True)
    ends = one["documents_low"], one["documents_high"]
    cells = [
        f"{one['n_runs']:.0f}",
        f"{one['test_perplexity']:,.{digits}f}",
        f"{format_number(one['mc_error'], digits + 1)}\n{one['mc_source']}"
        if np.isfinite(one["mc_error"])
        else DASH,
        format_interval(*ends, digits) or DASH,
        "0"
        if one["reference"] == label
        else format_number(one["difference"], digits, sign=True)
        + (f" ({interval})" if interval else ""),
    ]
    cells += [_interval(one, low, high, colour)]
    if not one["has_course"]:
        cells += [DASH, DASH]
    else:
        cells += (
            [f"{one['elapsed']:,.3g} s{few}", f"{one['updates']:,.0f}"]
            if one["n_reached"]
            else ["not reached", DASH]
        )
    return cells


def _interval(one: pd.Series, low: float, high: float, colour: str) -> str:
    """A dot, its interval and the zero as a small SVG; hidden from screen readers, as the cells beside it have the numbers."""

    def x(value: float) -> float:
        return round(8 + (WIDTH - 16) * (value - low) / (high - low or 1.0), 1)

    y, drawn = ROW / 2, f'<path class="zero" d="M{x(0.0)},0 V{ROW}"/>'
    if np.isfinite(one["difference_low"]):
        drawn += f'<path class="bar" style="stroke:{colour}" d="M{x(one["difference_low"])},{y} H{x(one["difference_high"])}"/>'
    if np.isfinite(one["difference"]):
        drawn += f'<circle cx="{x(one["difference"])}" cy="{y}" r="4.5" style="fill:{colour}"/>'
    return f'<svg width="{WIDTH}" height="{ROW}" aria-hidden="true">{drawn}</svg>'
