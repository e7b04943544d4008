"""The result of runs against the settings in which they differ."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from workbench.measures import differing, each_run, final, settings_of, spec_of
from workbench.measures.intervals import mean_and_error
from workbench.measures.selection import by_size, grouped
from workbench.measures.settings import REPEATED
from workbench.views.curves import dimension
from workbench.views.elements import axis, element, panel
from workbench.views.picture import WHOSE, Picture, SideBySide, View, rows_of
from workbench.views.style import looks

OTHERS = ("engine", "corpus", "iterations", *REPEATED)
"""Settings that are told by colour, are drawn apart, or are none that one chooses by the result."""
MOST = 4
"""Panels of a figure; further settings are in its table."""


def against_setting(runs, setting: str, measure: str = "test_perplexity", title: str = ""):
    """The final value of a number against a setting, a point for each run that has it, in the colour of its engine.

    A `Curve` joins the means over runs that differ in seed and split alone, with `Segments` of one standard error to either
    side. Values of the setting stand at even distances, numbers by size.
    """
    runs = each_run(runs)
    last = final(runs)[measure].values
    settings = [settings_of(spec_of(run)) for run in runs]
    having = [at for at, own in enumerate(settings) if setting in own and np.isfinite(last[at])]
    places = sorted({str(settings[at][setting]) for at in having}, key=by_size)
    x, y = axis("setting", setting), dimension(measure)
    series = grouped([_series(settings[at], settings, setting) for at in having], having)
    series = dict(sorted(series.items(), key=lambda one: by_size(one[0])))
    style, dots, errors, lines = looks(series), [], [], []
    for label, rows in series.items():
        look, where = style[label], [places.index(str(settings[at][setting])) for at in rows]
        dots.append(
            element(
                "Scatter",
                (where, last[rows]),
                x,
                y,
                color=look.colour,
                alpha=0.45,
                s=9,
                linewidth=0,
                show_grid=True,
            )
        )
        by_place = grouped(where, rows)
        at_places = sorted(by_place)
        means, ends = np.array([mean_and_error(last[by_place[place]]) for place in at_places]).T
        if (known := np.isfinite(ends)).any():
            low, high = (means - ends)[known], (means + ends)[known]
            at = np.array(at_places)[known]
            errors.append(
                element(
                    "Segments",
                    (at, low, at, high),
                    [x, y, "same setting", "high"],
                    color=look.colour,
                    linewidth=1.2,
                    show_grid=True,
                )
            )
        lines.append(
            element(
                "Curve",
                (at_places, means),
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


def _series(own: dict, settings: list[dict], setting: str) -> str:
    """Engine and all other settings in which the runs differ."""
    names = [name for name in differing(settings) if name in own and name not in (setting, *OTHERS)]
    return ", ".join([own["engine"], *(f"{name}={own[name]}" for name in names)])


def draw_settings(view: View, shown: SideBySide) -> Iterator[Picture]:
    """A panel for each setting in which runs of one engine differ."""
    settings = [settings_of(spec_of(run)) for run in shown.runs]
    names = [
        name
        for name in differing(settings)
        if name not in OTHERS and _within_an_engine(settings, name)
    ]
    if not names:
        return
    rows = [
        row
        for label, run, own in zip(shown.labels, shown.runs, settings, strict=True)
        for row in rows_of(label, run, [[*(own.get(name, "") for name in names), _last(run)]])
    ]
    further = (
        f" {len(names) - MOST} further settings are in the table only." if len(names) > MOST else ""
    )
    yield view.picture(
        f"Final held-out perplexity against {', '.join(names[:MOST])}, in which runs of an engine differ. Small points are "
        f"runs; marks are means over runs that differ in seed and split alone, with one standard error to either "
        f"side.{further}",
        [against_setting(shown.runs, name) for name in names[:MOST]],
        [*WHOSE, *names, "test_perplexity"],
        rows,
    )


def _within_an_engine(settings: list[dict], name: str) -> bool:
    """Do runs of one engine differ in the setting?"""
    by_engine = grouped([own["engine"] for own in settings], settings)
    return any(name in differing(own) for own in by_engine.values())


def _last(run: xr.Dataset) -> float | str:
    return float(run["test_perplexity"].values[-1]) if "test_perplexity" in run else ""
