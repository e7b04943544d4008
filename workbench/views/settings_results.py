"""Final numbers of runs against the settings in which the runs differ."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from workbench.measures import differing, each_run, final, settings_of, spec_of
from workbench.measures.curves import mean_and_error
from workbench.measures.learning import REPEATED
from workbench.measures.selection import Runs, by_size, grouped
from workbench.runs.spec import RunSpec
from workbench.views.curves import dimension
from workbench.views.elements import axis, element, panel
from workbench.views.picture import WHOSE, Picture, SideBySide, View
from workbench.views.style import looks

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
    settings = [settings_of(spec_of(run)) for run in runs]
    return _panel(setting, settings, final(runs)[measure].values, measure, title)


def _panel(setting: str, settings: list[dict], last: np.ndarray, measure: str, title: str = ""):
    """Draw the final values ``last`` (run,) against a setting; see `against_setting`."""
    indices = [
        index
        for index, run_settings in enumerate(settings)
        if setting in run_settings and np.isfinite(last[index])
    ]
    places = sorted({str(settings[index][setting]) for index in indices}, key=by_size)
    x, y = axis("setting", setting), dimension(measure)
    series = grouped([_series(settings[index], settings, setting) for index in indices], indices)
    series = dict(sorted(series.items(), key=lambda item: by_size(item[0])))
    style, dots, errors, lines = looks(series), [], [], []
    for label, rows in series.items():
        look, x_places = (
            style[label],
            [places.index(str(settings[index][setting])) for index in rows],
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
            [mean_and_error(last[by_place[place]]) for place in used_places]
        ).T
        if (has_error := np.isfinite(errors_of_means)).any():
            low, high = (means - errors_of_means)[has_error], (means + errors_of_means)[has_error]
            x_errors = np.array(used_places)[has_error]
            errors.append(
                element(
                    "Segments",
                    (x_errors, low, x_errors, high),
                    [x, y, "same setting", "high"],
                    color=look.colour,
                    linewidth=1.2,
                    show_grid=True,
                )
            )
        lines.append(
            element(
                "Curve",
                (used_places, means),
                x,
                y,
                label=label,
                color=look.colour,
                linestyle=look.line,
                linewidth=1.1,
                marker=look.marker,
                ms=4.5,
                show_grid=True,
            )
        )
    options = {
        "legend_position": "best",
        "show_legend": True,
        "padding": 0.08,
        "xticks": list(enumerate(places)),
    }
    return panel([*dots, *errors, *lines], title=title, **options)


def _series(run_settings: dict, settings: list[dict], setting: str) -> str:
    """Return the name of the curve a run belongs to: its engine, and the other settings in which that engine's runs differ."""
    own = [other for other in settings if other["engine"] == run_settings["engine"]]
    names = [
        name for name in differing(own) if name in run_settings and name not in (setting, *OTHERS)
    ]
    return ", ".join([run_settings["engine"], *(f"{name}={run_settings[name]}" for name in names)])


def draw_settings(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Draw final perplexities against each setting in which runs of the same engine differ."""
    results = [
        Result(label, run.attrs["name"], spec_of(run), _last(run))
        for label, run in zip(shown.labels, shown.runs, strict=True)
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
    settings = [settings_of(one.spec) for one in results]
    names = list(wanted) or [
        name
        for name in differing(settings)
        if name not in OTHERS and _within_an_engine(settings, name)
    ]
    if not names:
        return None
    last = np.array([one.number for one in results])
    rows = [
        [one.label, one.run, one.spec.seed, *(own.get(name, "") for name in names), one.number]
        for one, own in zip(results, settings, strict=True)
    ]
    further = (
        f" {len(names) - MOST} further settings are in the table only." if len(names) > MOST else ""
    )
    what = "held-out perplexity" if measure == "test_perplexity" else dimension(measure).label
    return view.picture(
        f"Final {what} against {', '.join(names[:MOST])}, in which runs of an engine differ. Small points are "
        f"runs; marks are means over runs that differ in seed and split alone ± one standard error.{further}",
        [_panel(name, settings, last, measure) for name in names[:MOST]],
        [*WHOSE, *names, measure],
        rows,
    )


def _within_an_engine(settings: list[dict], name: str) -> bool:
    """Return whether runs of the same engine differ in the setting."""
    by_engine = grouped([engine_settings["engine"] for engine_settings in settings], settings)
    return any(name in differing(engine_settings) for engine_settings in by_engine.values())


def _last(run: xr.Dataset) -> float:
    """Return a run's final held-out perplexity; NaN without held-out tokens."""
    return float(run["test_perplexity"].values[-1]) if "test_perplexity" in run else np.nan
