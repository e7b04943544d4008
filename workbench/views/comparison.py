"""Held-out scores of several labels: perplexity by clock and at the end, paired differences, and scores of words of rows."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import xarray as xr

from workbench.measures import (
    MeasureError,
    each_run,
    final,
    in_papers_order,
    labels_of,
    mean_curves,
    paired_differences,
    spec_of,
)
from workbench.measures.curves import mean_and_error
from workbench.measures.selection import Runs, grouped
from workbench.models import VARIABLES
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.runs.recorded import TEST_PERPLEXITIES
from workbench.views.elements import (
    COLOURS,
    GREY,
    INK,
    RC,
    SHORT,
    Look,
    axis,
    dimension,
    element,
    height_of,
    looks,
    overlay,
    panel,
)
from workbench.views.picture import RUN_COLUMNS, Picture, RunsToDraw, View, fitting_panels, has

MEASURES = {
    "headline": "test_perplexity",
    "state": "test_perplexity_state",
    "average": "test_perplexity_average",
    "by document": "test_perplexity_by_document",
    "joint": "test_perplexity_joint",
    "train": "train_perplexity",
}
STATE, AVERAGE = "current state", "running average after burn-in"
TITLES = {
    "headline": "",
    "state": STATE,
    "average": AVERAGE,
    "by document": "average by document",
    "joint": "average of all tokens together",
    "train": STATE,
}
CLOCKS = {"iterations": "iteration", "seconds": "elapsed", "updates": "updates", "steps": "steps"}


def perplexity_curves(runs: Runs, which: str = "headline", against: str = "iteration"):
    """Draw perplexity against a clock (iterations, seconds …), as one curve per label.

    ``which`` is "headline", "state", "average", "by document", "joint" or "train" (see `workbench.models.VARIABLES`),
    ``against`` one of `workbench.measures.CLOCKS`. Seeds and splits of one label are averaged, with a band of ± one standard
    error; empty if nothing is held out.
    """
    measure, runs = MEASURES[MeasureError.one_of("perplexity", which, MEASURES)], each_run(runs)
    return overlay(
        mean_curves(runs, measure, against), measure, against, looks(labels_of(runs)), TITLES[which]
    )


def perplexity_layout(runs: Runs, against: str = "iteration"):
    """Draw the perplexity of the state and of the running average side by side, as a `holoviews.Layout` with equal ranges."""
    state, average = (perplexity_curves(runs, which, against) for which in ("state", "average"))
    ranges = [
        curve.range(dimension)
        for overlay in (state, average)
        for curve in overlay
        for dimension in curve.vdims
    ]
    if ranges:
        margin = 0.02 * (max(high for _, high in ranges) - min(low for low, _ in ranges))
        ylim = min(low for low, _ in ranges) - margin, max(high for _, high in ranges) + margin
        state, average = (
            overlay.opts(ylim=ylim, clone=True, backend="matplotlib")
            for overlay in (state, average)
        )
    return (state + average).opts(
        sublabel_format="", hspace=0.3, fig_rcparams=RC, backend="matplotlib"
    )


def draw_perplexity(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw perplexity against the clock in the view's name; nothing for steps that are proportional to iterations."""
    against = view.name.rpartition("-")[2]
    clock, runs = CLOCKS[against], selection.runs
    if (
        clock == "steps"
        and not any("steps" in run for run in runs)
        and len({spec_of(run).n_topics for run in runs if has(run, "model.n_topics")}) < 2
    ):
        return
    clock_note = (
        "" if clock == "iteration" else f" {VARIABLES[clock].name}: {VARIABLES[clock].meaning}."
    )
    yield view.picture(
        "Held-out perplexity of the current state (first panel) and of the running average of p(w|d) after burn-in (second "
        f"panel) against {against}.{clock_note}{selection.bands}",
        [perplexity_curves(runs, which, clock) for which in ("state", "average")],
        *selection.records(*TEST_PERPLEXITIES, *(["steps"] if clock == "steps" else [])),
    )


def state_and_average(runs: Runs, against: str = "iteration", title: str = ""):
    """Draw the perplexity of the state and of the running average in one panel, for runs of one label.

    Both are equal during burn-in, which is left out if there are later records, so that it does not dominate the axis. Returns
    an overlay of two `Curve`, means over the runs, each with a band of ± one standard error if there are several; empty if
    nothing is held out.
    """
    runs = each_run(runs)
    if len(labels := set(labels_of(runs))) > 1:
        raise MeasureError(
            f"state and average are drawn for one label at a time; got {'; '.join(sorted(labels))}"
        )
    runs = [_run_after_burn_in(run) for run in runs]
    curves = [
        curve._replace(label=name, group=name)
        for name, measure in ((STATE, MEASURES["state"]), (AVERAGE, MEASURES["average"]))
        for curve in mean_curves(runs, measure, against)
    ]
    style = {STATE: Look(COLOURS[0], ":", "o"), AVERAGE: Look(COLOURS[1], "-", "s")}
    return overlay(curves, "test_perplexity", against, style, title)


def _run_after_burn_in(run: xr.Dataset):
    """Return the run without burn-in iterations; unchanged if there are no later ones."""
    burn_in, iteration = spec_of(run).end_of_burn_in, run["iteration"].values
    return run.isel(iteration=iteration > burn_in) if (iteration > burn_in + 1).any() else run


def draw_state_and_average(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the perplexity of the state and of the running average, one panel per label."""
    panels, left_out = fitting_panels(
        {
            label: members
            for label, members in selection.by_label().items()
            if "test_perplexity" in members[0]
        }
    )
    yield view.picture(
        "Held-out perplexity of the current state and of the running average of p(w|d), a panel for each label, after burn-in "
        "(during burn-in both are equal): the gap is the gain from averaging."
        f"{selection.bands}{left_out}",
        [state_and_average(members, title=label) for label, members in panels.items()],
        *selection.records(*TEST_PERPLEXITIES),
    )


def final_perplexities(runs: Runs):
    """Draw the final held-out perplexity of each label's runs, one row per label; see `in_papers_order`.

    Returns an overlay with a `Scatter` of the runs of each label and, if there are several, above it a `Scatter` of their mean
    with `Segments` of ± one standard error; empty if nothing is held out.
    """
    values = final_numbers(runs, "test_perplexity")
    return marks_by_label(values, dimension("test_perplexity"), looks(values))


def final_numbers(runs: Runs, name: str) -> dict[str, np.ndarray]:
    """Return label → final values of a quantity in the runs of that label, in the papers' order.

    Runs without the number are left out.
    """
    last = final(in_papers_order(each_run(runs)))
    last = last.isel(run=np.flatnonzero(last[name].notnull().values))
    return grouped(last["label"].values.tolist(), last[name].values.tolist())


def marks_by_label(
    values: Mapping[str, list],
    x,
    styles: Mapping[str, Look],
    title: str = "",
    reference: float | None = None,
):
    """Draw one row per label with a mark for the number of each run, and for several runs one for their mean.

    ``x`` is the dimension of the numbers; a vertical line is drawn at ``reference``.
    """
    y, ylim, elements = axis("place", " "), (0.6 - max(len(values), 1), 0.6), []
    if reference is not None:
        elements.append(
            element("Path", [([reference, reference], ylim)], [x, y], color=GREY, linewidth=0.8)
        )
    for row, (label, numbers) in enumerate(values.items()):
        look, numbers = styles[label], np.asarray(numbers, float)
        several, (mean, error) = len(numbers) > 1, mean_and_error(numbers)
        marks = partial(element, "Scatter", color=look.colour, marker=look.marker, linewidth=0)
        elements.append(
            marks(
                (numbers, np.full(len(numbers), -row - 0.3 * several)),
                x,
                y,
                label=label,
                s=12 if several else 32,
                alpha=0.6 if several else 1,
                show_grid=True,
            )
        )
        if several:
            elements += [
                element(
                    "Segments",
                    [(mean - error, -row, mean + error, -row)],
                    [x, y, "high", "other place"],
                    color=look.colour,
                    linewidth=1.6,
                ),
                marks(([mean], [-row]), x, y, label=f"{label}, mean", s=26),
            ]
    return panel(
        elements,
        yticks=[(-row, label) for row, label in enumerate(values)],
        ylim=ylim,
        padding=0.05,
        title=title,
    )


def draw_ordering(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the final held-out perplexity, with one row per label."""
    marks_note = (
        "large marks are means over the runs of a label with their standard errors, small ones its runs"
        if selection.bands
        else "one run each, so no standard error"
    )
    names = [*RUN_COLUMNS, *TEST_PERPLEXITIES, "iteration", "elapsed", "cpu_time", "updates"]
    yield view.picture(
        "Held-out perplexity at the last iteration (running average for engines that sample, state for the others): "
        f"{marks_note}. Engines in the order of Welling, Teh & Kappen (2008): variational, hybrid, Gibbs; then those of the "
        "HDP.",
        [final_perplexities(selection.runs)],
        names,
        final(selection.runs).to_dataframe().reset_index()[names].to_numpy(object).tolist(),
        legend=False,
        height=0.5 + 0.26 * len(set(selection.labels)),
    )


LABEL_ROW = 0.24
"""Height of a label, inches."""


def differences_view(
    runs: Runs,
    reference: str | None = None,
    measure: str = "test_perplexity",
    scored: Mapping[str, Scored] | None = None,
    title: str = "",
):
    """Draw each label's difference from the reference, paired by split and seed, with its 95 % interval.

    For ``reference``, ``measure`` and ``scored`` see `workbench.measures.paired_differences`. Returns an overlay of a `VLine`
    at 0 and, for each label except the references, in the papers' order from the top, a `Scatter` of the mean difference over
    `Segments` of its interval, if any; empty without differences.
    """
    table = paired_differences(in_papers_order(each_run(runs)), reference, measure, scored)
    return _forest(table, measure, title)


def _forest(differences: xr.Dataset, measure: str = "test_perplexity", title: str = ""):
    """Draw a table of paired differences as a forest plot, one row per label."""
    table = differences.to_dataframe().reset_index("label")
    style, references = looks(table["label"]), table["reference"]
    table = table[~table["label"].isin(references) & np.isfinite(table["difference"])]
    references = list(dict.fromkeys(references))
    against = references[0] if len(references) == 1 else "the reference"
    x, y = (
        axis("difference", f"{SHORT.get(measure, measure)}, difference from {against}"),
        axis("place", " "),
    )
    elements, ticks = [element("VLine", 0, color=INK, linewidth=0.8, linestyle=":")], []
    for position, row in enumerate(table.itertuples()):
        pairs = f"{row.n_pairs:.0f} {'pair' if row.n_pairs == 1 else 'pairs'}"
        ticks.append((-position, f"{row.label} ({pairs})"))
        coloured_element = partial(element, color=style[row.label].colour)
        if np.isfinite(row.difference_low):
            interval = (row.difference_low, -position, row.difference_high, -position)
            elements.append(
                coloured_element(
                    "Segments", [interval], [x, y, "high", "same place"], linewidth=1.6
                )
            )
        elements.append(
            coloured_element(
                "Scatter",
                [(row.difference, -position)],
                x,
                y,
                label=row.label,
                marker=style[row.label].marker,
                s=30,
                linewidth=0,
                show_grid=True,
            )
        )
    if not ticks:
        return panel([])
    return panel(
        elements,
        xlabel=x.pprint_label.replace(", ", ",\n"),
        ylabel=" ",
        yticks=ticks,
        ylim=(0.5 - len(ticks), 0.5),
        padding=0.08,
        title=title,
        fig_inches=(3.4, 0.65 + LABEL_ROW * len(ticks)),
        aspect="auto",
    )


def differences_picture(view: View, table: xr.Dataset) -> Picture:
    """Return the picture of a table of differences from `workbench.measures.paired_differences`."""
    names = [
        "label",
        "reference",
        "difference",
        "difference_se",
        "difference_low",
        "difference_high",
        "n_pairs",
    ]
    panels = [_forest(table)]
    alone = (table["n_pairs"] == 1) & np.isfinite(table["difference_low"])
    over = (
        "the interval of a single pair is over held-out documents"
        if alone.any()
        else "over seeds and splits, not over held-out documents"
    )
    return view.picture(
        f"Difference of the final held-out perplexity from that of {table.attrs['reference']}, paired by split and seed: "
        f"means over pairs with Student's 95 % interval, {over}. Left of the dotted line is better.",
        panels,
        names,
        table.to_dataframe().reset_index()[names].to_numpy(object).tolist(),
        legend=False,
        height=height_of(panels),
    )


def draw_differences(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the paired differences; nothing if none has an interval, as with one run per label."""
    table = paired_differences(selection.runs)
    others = table["label"].values != table["reference"].values
    if np.isfinite(table["difference_low"].values[others]).any():
        yield differences_picture(view, table)


GAINS = {
    "test_gain_joint_clipped": "unseen words clipped",
    "test_gain_joint_added": "0.1 added to each count",
    "test_gain_joint_seen": "words seen in training",
}
"""Score of a panel → baseline of the gain."""
COURSES = ("test_top_hits", "test_bottom_hits", "test_log_likelihood")
"""Scores that have a panel each, against seconds."""
GAINS_CAPTION = (
    "Gain in nats per held-out item of the joint probability of each sequence or row over the training frequencies; the line "
    "is 0. First panel: frequencies with unseen words clipped at 1e-8; with unseen words this gain includes that of any "
    "smoothing. Second: frequencies with 0.1 added to each count. Third: only words seen in training."
)


def gain_marks(values: Mapping[str, list], score: str, styles: Mapping[str, Look]):
    """Draw each run's gain in log likelihood over a baseline, with mean and standard error per label, and a line at 0."""
    return marks_by_label(values, dimension(score, {"units": "nats"}), styles, GAINS[score], 0.0)


def draw_gain_marks(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the gains in log likelihood of all runs that recorded them, one panel per baseline."""
    values = {
        score: final_numbers(selection.runs, score)
        for score in GAINS
        if any(score in run for run in selection.runs)
    }
    values = {score: gains for score, gains in values.items() if gains}
    if values:
        yield view.picture(
            GAINS_CAPTION + " Large marks are means over the runs of a label ± one standard error.",
            [gain_marks(gains, score, looks(gains)) for score, gains in values.items()],
            *selection.records(*values),
            legend=False,
            height=0.5 + 0.26 * max(map(len, values.values())),
        )


def score_courses(
    runs: list,
    against: str = "elapsed",
    labels: list[str] | None = None,
    styles: Mapping[str, Look] | None = None,
) -> list:
    """Draw held-out documents' scores against a clock: correctly predicted words, and log likelihood; one panel each.

    ``labels`` and ``styles``, the look of each, are by default those of `workbench.measures.labels_of`.
    """
    panels = []
    for score in COURSES:
        curves = mean_curves(runs, score, against, labels)
        curves = [curve for curve in curves if np.isfinite(curve.y).any()]
        if curves:
            attrs = next(run[score].attrs for run in runs if score in run)
            curve_styles = styles or looks(curve.group for curve in curves)
            panels.append(overlay(curves, score, against, curve_styles, attrs=attrs))
    return panels


def draw_courses(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw predicted words and log likelihood of held-out documents against seconds of inference."""
    yield view.picture(
        "Predicted words among the 10 most and the 10 least frequent words of a held-out row, and the log probability of a "
        "held-out item, against seconds of inference (without scoring): of the state during burn-in, then of the running "
        f"average.{selection.bands}",
        score_courses(selection.runs),
        *selection.records(*COURSES),
    )
