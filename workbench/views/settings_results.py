"""Final results against the settings of runs, among them the number of topics, with a recommended K."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures import (
    DERIVED,
    MeasureError,
    differing,
    each_run,
    final,
    finds_topics,
    numbers_by_k,
    quantity,
    recommend_k,
    runs_by_curve,
    settings_of,
    spec_of,
)
from workbench.measures import against_topics as curves_against_topics
from workbench.measures.curves import mean_and_error
from workbench.measures.learning import REPEATED
from workbench.measures.selection import Runs, by_size, grouped
from workbench.numbers import capital
from workbench.runs.spec import RunSpec
from workbench.views.elements import (
    INK,
    SHORT,
    Look,
    axis,
    dimension,
    element,
    looks,
    mean_curve,
    no_minor_ticks,
    panel,
)
from workbench.views.picture import RUN_COLUMNS, Picture, RunsToDraw, View, file_names, has, rows_of

OTHERS = ("engine", "corpus", "iterations", *REPEATED)
"""Settings without a panel: shown by colour, drawn separately, or not chosen by the result."""
MOST = 4
"""Maximum of panels of a figure; further settings are in its table."""


def against_setting(runs: Runs, setting: str, measure: str = "test_perplexity", title: str = ""):
    """Draw the final value of a measure against a setting, a point per run in its engine's colour.

    A `Curve` connects the means over runs that differ only in seed and split, with `Segments` of ± one standard error. Values
    of the setting are equidistant, numbers sorted by size.
    """
    runs = each_run(runs)
    return _panel(
        setting,
        [settings_of(spec_of(run)) for run in runs],
        final(runs)[measure].values,
        measure,
        title,
    )


def _panel(setting: str, settings: list[dict], last: np.ndarray, measure: str, title: str = ""):
    """Draw the final values ``last`` (run,) against a setting; see `against_setting`."""
    indices = [
        index
        for index, run_settings in enumerate(settings)
        if setting in run_settings and np.isfinite(last[index])
    ]
    distinct_values = sorted({str(settings[index][setting]) for index in indices}, key=by_size)
    x, y = axis("setting", setting), dimension(measure)
    series = grouped([_series(settings[index], settings, setting) for index in indices], indices)
    series = dict(sorted(series.items(), key=lambda item: by_size(item[0])))
    style, dots, errors, lines = looks(series), [], [], []
    for label, rows in series.items():
        look, x_places = (
            style[label],
            [distinct_values.index(str(settings[index][setting])) for index in rows],
        )
        dots.append(
            element(
                "Scatter",
                (x_places, last[rows]),
                x,
                y,
                color=look.colour,
                alpha=0.45,
                s=9,
                linewidth=0,
                show_grid=True,
            )
        )
        by_place = grouped(x_places, rows)
        used_places = sorted(by_place)
        means, errors_of_means = np.array(
            [mean_and_error(last[by_place[value]]) for value in used_places]
        ).T
        segments, line = mean_curve(used_places, means, errors_of_means, x, y, look, label, 1.1)
        errors += segments
        lines.append(line)
    options = {
        "legend_position": "best",
        "show_legend": True,
        "padding": 0.08,
        "xticks": list(enumerate(distinct_values)),
    }
    return panel([*dots, *errors, *lines], title=title, **options)


def _series(run_settings: dict, settings: list[dict], setting: str) -> str:
    """Return the name of the curve a run belongs to: its engine, and the other settings in which that engine's runs differ."""
    settings_of_engine = [other for other in settings if other["engine"] == run_settings["engine"]]
    names = [
        name
        for name in differing(settings_of_engine)
        if name in run_settings and name != setting and (name == "iterations" or name not in OTHERS)
    ]
    return ", ".join([run_settings["engine"], *(f"{name}={run_settings[name]}" for name in names)])


def draw_settings(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw final perplexities against each setting in which finished runs of the same engine differ."""
    results = [
        Result(label, run.attrs["name"], spec_of(run), _last(run, "test_perplexity", np.nan))
        for label, run in zip(selection.labels, selection.runs, strict=True)
        if not run.attrs.get("unfinished")
    ]
    if picture := settings_picture(view, results):
        yield picture


class Result(NamedTuple):
    """One run with its final value of a measure."""

    label: str
    run: str  # its name
    spec: RunSpec
    number: float


def settings_picture(
    view: View,
    results: Sequence[Result],
    measure: str = "test_perplexity",
    wanted: Sequence[str] = (),
) -> Picture | None:
    """Return the picture of results against the settings ``wanted``, by default those that vary within an engine."""
    settings = [settings_of(result.spec) for result in results]
    of_engines = grouped([run_settings["engine"] for run_settings in settings], settings).values()
    within_engines = {name for run_settings in of_engines for name in differing(run_settings)}
    names = list(wanted) or [
        name for name in differing(settings) if name in within_engines and name not in OTHERS
    ]
    if not names:
        return None
    last = np.array([result.number for result in results])
    rows = [
        [
            result.label,
            result.run,
            result.spec.seed,
            *(run_settings.get(name, "") for name in names),
            result.number,
        ]
        for result, run_settings in zip(results, settings, strict=True)
    ]
    further = (
        f" {len(names) - MOST} further settings are in the table only." if len(names) > MOST else ""
    )
    quantity_name = (
        "held-out perplexity" if measure == "test_perplexity" else dimension(measure).label
    )
    return view.picture(
        f"Final {quantity_name} against {', '.join(names[:MOST])}, in which runs of an engine differ. Small points are "
        f"finished runs; marks are means over runs that differ in seed and split alone ± one standard error.{further}",
        [_panel(name, settings, last, measure) for name in names[:MOST]],
        [*RUN_COLUMNS, *names, measure],
        rows,
    )


DRAWN_MEASURES = ("log_likelihood", "bound_per_token")
"""Measures that the view draws against the number of topics."""


def against_topics(runs: Runs, measure: str = "log_likelihood", title: str = ""):
    """Draw the final value of a measure against the number of topics, one curve per label.

    ``measure`` is ``log_likelihood``, ``bound_per_token``, ``test_perplexity`` or another number of each iteration. Returns an
    overlay of a `Curve` for each label over `Segments` of ± one standard error if there are several runs; empty if no run
    has the number. See `workbench.measures.against_topics`.
    """
    runs = each_run(runs)
    curves, style = curves_against_topics(runs, measure), looks(runs_by_curve(runs))
    x, y = axis("topics", "number of topics"), dimension(measure)
    errors, lines = [], []
    for curve in curves:
        segments, line = mean_curve(
            curve.x, curve.y, curve.error, x, y, style[curve.label], curve.label
        )
        errors += segments
        lines.append(line)
    return panel(
        errors + lines, title=title, legend_position="best", show_legend=True, padding=0.05
    )


def draw_against_topics(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw log likelihood and bound per token against the requested number of topics, if runs differ in it."""
    runs = [run for run in selection.runs if has(run, "model.n_topics")]
    n_topics = [spec_of(run).n_topics for run in runs]
    curves_of_numbers = (
        {name: curves for name in DRAWN_MEASURES if (curves := curves_against_topics(runs, name))}
        if len(set(n_topics)) > 1
        else {}
    )
    if not any(len(curve.x) > 1 for curves in curves_of_numbers.values() for curve in curves):
        return
    meanings = "; ".join(
        f"{SHORT[name]}: {DERIVED[name].meaning} ({DERIVED[name].unit})"
        for name in curves_of_numbers
    )
    rows = [
        row
        for label, members in runs_by_curve(runs).items()
        for run in members
        for row in rows_of(
            label,
            run,
            [
                [
                    spec_of(run).n_topics,
                    *(_last(run, name) for name in ("n_active_topics", *DRAWN_MEASURES)),
                ]
            ],
        )
    ]
    yield view.picture(
        f"{capital(meanings)}. At the last iteration of each run, against the requested number of topics; samplers of the "
        "HDP, which infer it, are at their mean number of topics with a token after burn-in. Marks are means over runs ± one "
        "standard error.",
        [against_topics(runs, name) for name in curves_of_numbers],
        [*RUN_COLUMNS, "topics requested", "n_active_topics", *DRAWN_MEASURES],
        rows,
    )


def _last(run: xr.Dataset, name: str, default: float | str = "") -> float | str:
    """Return the final value of a quantity; ``default`` if the run lacks it."""
    values = quantity(run, name)
    return default if values is None else float(values.values[-1])


DRAWN = {
    "log_likelihood": "log p of a held-out token",
    "bound_per_token": "bound per token",
    "npmi": "coherence (NPMI)",
    "diversity": "diversity",
    "stability": "stability across seeds",
    "n_active_topics": "topics with a token",
}
CHOICE_COLUMNS = [
    "n_topics",
    "n_runs",
    "n_finished",
    *(
        column
        for name in ("log_likelihood", "test_perplexity", *list(DRAWN)[1:])
        for column in (name, f"{name}_se")
    ),
    "difference",
    "difference_se",
    "n_pairs",
]
PANEL = {"aspect": 1.5, "fig_inches": 2.3}
LOGARITHMIC_RATIO = 6
"""The axis of K is logarithmic if the largest K is at least so many times the smallest."""


def choose_k_view(
    table: xr.Dataset,
    name: str = "log_likelihood",
    recommended: int | None = None,
    look: Look | None = None,
):
    """Draw one score of `workbench.measures.numbers_by_k` against the number of topics K.

    Returns a `Curve` over `Segments` of ± one standard error, and a `VLine` at the ``recommended`` K; empty if no run has the
    score.
    """
    look, ks = look or looks([table.attrs["label"]])[table.attrs["label"]], table["n_topics"].values
    values, errors = table[name].values, table[f"{name}_se"].values
    has_value = np.isfinite(values)
    if not has_value.any():
        return panel([])
    x, y = (
        axis("n_topics", "number of topics K"),
        axis(name, DRAWN[name], table[name].attrs["units"] or None),
    )
    segments, curve = mean_curve(*(each[has_value] for each in (ks, values, errors)), x, y, look)
    elements = [*segments, curve]
    if recommended is not None:
        elements.append(element("VLine", recommended, color=INK, linewidth=0.8, linestyle=":"))
    logarithmic = len(ks) > 1 and ks[-1] >= LOGARITHMIC_RATIO * ks[0]
    return panel(
        elements,
        logx=bool(logarithmic),
        xticks=_ticks(ks.tolist(), logarithmic),
        padding=0.08,
        hooks=[no_minor_ticks],
        **PANEL,
    )


def choose_k_picture(
    table: xr.Dataset,
    view: View,
    look: Look | None = None,
    name: str = "",
    runs: Iterable[xr.Dataset] = (),
    pending: Iterable[int] = (),
) -> Picture:
    """Return the picture of all scores against K, with the recommended K; ``pending``: K that are not run yet."""
    recommended, advice = None, ""
    with suppress(MeasureError):
        recommendation = recommend_k(table, pending)
        recommended, advice = recommendation.n_topics, f" {recommendation}"
    panels = [
        choose_k_view(table, score, recommended, look)
        for score in DRAWN
        if np.isfinite(table[score].values).any()
    ]
    rows = table.to_dataframe().reset_index()[CHOICE_COLUMNS].to_numpy(object).tolist()
    caption = (
        f"Runs of {table.attrs['label']} by their number of topics K, at their last iterations: means over runs ± one "
        "standard error, over seeds and splits. Stability is the similarity of the matched topics of two seeds (1: the same). "
        "Coherence and stability often fall with K for any documents."
        f"{' The dotted line is the recommended K.' if recommended else ''}{advice}"
    )
    return Picture(
        name or view.name,
        view.title,
        caption,
        panels,
        CHOICE_COLUMNS,
        rows,
        legend=False,
        height=1.5,
        runs=list(runs),
    )


def draw_choose_k(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw one picture per label with runs at several K."""
    runs_with_k = [
        run
        for run in selection.runs
        if has(run, "model.n_topics") and not finds_topics(spec_of(run))
    ]
    runs_by_label = {
        label: runs
        for label, runs in (runs_by_curve(runs_with_k) if runs_with_k else {}).items()
        if len({spec_of(run).n_topics for run in runs}) > 1
    }
    style = looks(runs_by_label)
    for (label, runs), short in zip(runs_by_label.items(), file_names(runs_by_label), strict=True):
        name = "" if len(runs_by_label) == 1 else f"{view.name}-{short}"
        with suppress(MeasureError):  # two warm runs of one K and seed from different parents
            yield choose_k_picture(
                numbers_by_k(runs, selection.corpora), view, style[label], name, runs
            )


def _ticks(ks: list[int], logarithmic: bool) -> list[tuple[int, str]]:
    """Return axis ticks at the smallest K and at each larger K that is far enough from the last tick."""
    positions = np.log(ks) if logarithmic else np.array(ks, float)
    ticks, distance = [], 0.09 * (positions[-1] - positions[0])
    for k, position in zip(ks, positions, strict=True):
        if (
            not ticks
            or position - np.log(ticks[-1][0]) * logarithmic - ticks[-1][0] * (not logarithmic)
            >= distance
        ):
            ticks.append((k, str(k)))
    return ticks
