"""Views of cost against distance from long Gibbs chains, and of the speedup of hybrids over Gibbs sampling."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from textwrap import fill

import numpy as np
import xarray as xr

from workbench.measures import MeasureError, frontier, overtaking
from workbench.measures.frontier import COSTS, is_plain_gibbs
from workbench.measures.selection import comparison_keys, grouped, spec_of
from workbench.views.elements import (
    GREY,
    INK,
    RC,
    ROW,
    Look,
    axis,
    dimension,
    element,
    looks,
    panel,
    text_labels,
)
from workbench.views.picture import Picture, RunsToDraw, View, file_names, fitting_panels

COLUMNS = (
    "label",
    "engine",
    "r",
    "n_chains",
    "split",
    "average",
    "chance",
    *COSTS,
    "difference",
    "distance",
    "distance_se",
    "jitter",
    "jitter_se",
    *(f"efficient_{cost}" for cost in COSTS),
    "n_runs",
)
CELLS = (
    "setting",
    "data",
    "repeat",
    "merge",
    "n_topics",
    "speedup",
    "speedup_se",
    "advantage",
    "advantage_se",
    "n_pairs",
)
WIDE, HIGH = 0.024, 0.045
"""Width of a letter and height of a line of the names, as shares of a panel."""
FAINT = 0.3
"""Opacity of a dominated setting."""
LOGARITHMIC_RATIO = 4
"""An axis is logarithmic if its largest number is at least so many times the smallest."""
SMALLEST_FRACTION = 40
"""An axis begins at least at this fraction of the smallest distance."""
ON_PALE, ON_DARK, DARK = "#1a1a1a", "#fefefe", 1.4
"""Colours of numbers in pale and dark cells, and the absolute binary logarithm from which a cell is dark."""
UNCHANGED, LETTERS = "unchanged counts", 12
"""Name of an unchanged corpus among changed ones, and letters of a line of these names."""
FULL_SPEEDUP = 4.0
"""Speedup, or slowdown, at the end of the colour scale of a map."""


def frontier_view(table: xr.Dataset, clock: str = "updates", style: dict[str, Look] | None = None):
    """Draw each setting's distance from the reference chains against its cost, from `workbench.measures.frontier`.

    ``clock`` is "updates" or "cpu_time". Returns an overlay of an `HSpan` with the standard error of the reference, a `Curve`
    through the settings that no other one dominates, and for each setting a named `Scatter` over `Segments` of ± one standard
    error between seeds, faint if it is dominated. If the numbers differ by a large ratio the axis is logarithmic and begins at
    half the error of the reference, or at a small fraction of the smallest distance.
    """
    y = axis("distance", "distance from the reference", "nats")
    settings = _settings_with_values(table, "distance", clock)
    is_efficient = settings[f"efficient_{clock}"].values
    efficient_settings = settings.isel(label=np.flatnonzero(is_efficient)).sortby(clock)
    error = table.attrs["reference_se"]
    floor, elements = _floor(settings["distance"].values, error), []
    if error > floor:
        elements = [
            element(
                "HSpan",
                max(0.0, floor),
                error,
                facecolor=GREY,
                alpha=0.25,
                linewidth=0,
                show_grid=True,
            )
        ]
    if efficient_settings.sizes["label"] > 1:
        elements.append(
            element(
                "Curve",
                (efficient_settings[clock].values, efficient_settings["distance"].values),
                dimension(clock),
                y,
                color=INK,
                linewidth=0.8,
                linestyle=":",
                show_grid=True,
            )
        )
    return _marks(elements, settings, clock, "distance", y, is_efficient, style, floor)


def jitter_view(table: xr.Dataset, clock: str = "updates", style: dict[str, Look] | None = None):
    """Draw each setting's jitter (standard deviation of the state's log perplexity) against its cost."""
    settings, y = (
        _settings_with_values(table, "jitter", clock),
        axis("jitter", "jitter of the state", "nats"),
    )
    return _marks(
        [],
        settings,
        clock,
        "jitter",
        y,
        settings[f"efficient_{clock}"].values,
        style,
        _floor(settings["jitter"].values),
    )


def overtaking_view(cells: xr.Dataset, setting: str, title: str = ""):
    """Draw a setting's speedup over cgs as a map (data, number of topics), from `workbench.measures.overtaking`.

    Returns a `QuadMesh` of the binary logarithm of the speedup with the speedup as `Labels`; cells without a pair are blank.
    """
    setting_cells = cells.sel(setting=setting)
    speedup = setting_cells["speedup"].transpose("data", "n_topics").values
    descriptions, ks = (
        setting_cells["data"].values.tolist(),
        setting_cells["n_topics"].values.tolist(),
    )
    limit = np.log2(FULL_SPEEDUP)
    mesh = element(
        "QuadMesh",
        (
            np.arange(len(ks)),
            -np.arange(len(descriptions)),
            np.clip(np.log2(speedup), -limit, limit),
        ),
        [axis("n_topics", "topics K"), axis("data", " ")],
        vdims=axis("speedup", "speedup over cgs"),
        cmap="RdBu_r",
        clim=(-limit, limit),
    )
    texts: dict[str, list] = {}
    for (row, column), value in np.ndenumerate(speedup):
        if np.isfinite(value):
            texts.setdefault(ON_DARK if abs(np.log2(value)) > DARK else ON_PALE, []).append(
                (column, -row, f"{value:.2g}")
            )
    labels = (
        text_labels(colour_texts, f"times {colour}", size=7, color=colour)
        for colour, colour_texts in texts.items()
    )
    return panel(
        [mesh, *labels],
        title=title,
        aspect="auto",
        show_grid=False,
        fig_inches=(3.4, 0.9 + max(2 * ROW * len(descriptions), 0.8)),
        xticks=list(enumerate(map(str, ks))),
        yticks=[
            (-index, description) for index, description in enumerate(_short_names(descriptions))
        ],
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def names_of_settings(table: xr.Dataset) -> list[str]:
    """Return a short name per setting, such as "r=2, S=5"; the engine's name for a setting without r."""
    hybrids = set(
        table["engine"].values[~np.isnan(table["r"].values) & (table["split"].values == "")]
    )
    names = []
    columns = (
        table[name].values.tolist() for name in ("r", "n_chains", "split", "engine", "chance")
    )
    for r, n_chains, split, engine, chance in zip(*columns, strict=True):
        chains_text = f"S={n_chains:g}" if n_chains > 1 else ""
        if not np.isnan(r):
            prefix = str(split) or (str(engine) if len(hybrids) > 1 else "")
            parts = prefix, "r=∞" if r == np.inf else f"r={r:g}", chains_text
        elif np.isnan(chance):
            parts = (str(engine),)
        else:
            parts = f"chance {chance:g}", chains_text
        names.append(", ".join(filter(None, parts)))
    return names


def sides_of_names(x: np.ndarray, y: np.ndarray, names: list[str], bright: np.ndarray) -> list[int]:
    """Return for each mark the side on which its name overlaps no other: 1 right, -1 left, 0 neither.

    ``x`` and ``y`` are shares of the axes. ``bright`` marks are placed first, from right to left.
    """
    boxes: list[tuple[float, float, float]] = []  # left, right, height
    sides = [0] * len(names)
    for mark in sorted(range(len(names)), key=lambda mark: (not bright[mark], -x[mark])):
        width = WIDE * (len(names[mark]) + 2)
        for side, start in ((1, x[mark]), (-1, x[mark] - width)):
            if all(
                start + width <= low or start >= high or abs(y[mark] - height) >= HIGH
                for low, high, height in boxes
            ):
                boxes.append((start, start + width, y[mark]))
                sides[mark] = side
                break
    return sides


def frontier_picture(
    table: xr.Dataset,
    view: View,
    name: str = "",
    runs: Iterable[xr.Dataset] = (),
    clocks: Iterable[str] = COSTS,
) -> Picture:
    """Return the picture and table of each setting's distance from Gibbs chains and jitter, against each cost."""
    style, clocks = looks(table["label"].values.tolist()), list(clocks)
    panels = [
        draw(table, clock, style) for draw in (frontier_view, jitter_view) for clock in clocks
    ]
    # jitter needs two iterations after burn-in
    panels = [each for each in panels if len(each)]
    rows = (
        table[[column for column in COLUMNS if column != "label"]]
        .to_dataframe()
        .reset_index()[list(COLUMNS)]
    )
    n_chains, error = int(table["n_reference"].min()), table.attrs["reference_se"]
    reference_text = (
        "their mean p(w|d)"
        if table["pooled"].values.all()
        else "the mean of their log perplexities"
    )
    caption = (
        "Distance of the log held-out perplexity from that of long Gibbs chains on the same split "
        f"({reference_text}), nats per token, against cost: means over runs ± one standard error. The grey band is the "
        f"standard error of the reference ({error:.2g}, over {n_chains} chains). The dotted line connects the settings that "
        "no other one dominates; dominated settings are faint. Jitter is the standard deviation of the log perplexity of the "
        "state over the last half of the iterations after burn-in. S is the number of chains; for an adaptive split r is that "
        "of the hybrid with as many updates; chance is that of a pair to be averaged by mixed-cgs. Names that do not fit are "
        "left out; the table has all."
    )
    return Picture(
        name or view.name,
        view.title,
        caption,
        panels,
        list(COLUMNS),
        rows.to_numpy(object).tolist(),
        legend=False,
        height=2.6,
        runs=list(runs),
    )


def overtaking_picture(cells: xr.Dataset, view: View) -> Picture:
    """Return the picture of speedups, a map per setting, and the table of all cells."""
    settings = cells["setting"].values.tolist()
    flat = cells.to_dataframe().reset_index()
    rows = flat[flat["n_pairs"] > 0][list(CELLS)].to_numpy(object).tolist()
    first_settings, left_out = fitting_panels(dict.fromkeys(settings), "settings")
    caption = (
        "CPU seconds of cgs divided by those of each setting, until the lowest held-out perplexity that both reach: above 1 "
        f"(red) the setting is faster; full colour: {FULL_SPEEDUP:g} times. Geometric means over pairs of runs on the same "
        "split with the same seed; errors, and differences at equal CPU seconds, are in the table."
        f"{left_out}"
    )
    return Picture(
        view.name,
        view.title,
        caption,
        [overtaking_view(cells, setting, setting) for setting in first_settings],
        list(CELLS),
        rows,
        legend=False,
        height=0.9 + max(2 * ROW * cells.sizes["data"], 0.8),
    )


def draw_frontier(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw a picture per kind of cost and group of comparable runs, if long cgs chains and other runs are among these."""
    fitting_runs = [run for run in selection.runs if view.fits(run)]
    tables = []
    for runs in grouped(
        [repr(key) for key in comparison_keys(fitting_runs)] if fitting_runs else [], fitting_runs
    ).values():
        with suppress(MeasureError):
            tables.append((frontier(runs, pooled=selection.pooled), runs))
    names = (
        [view.name]
        if len(tables) == 1
        else [f"{view.name}-{short}" for short in file_names(map(_model_text, tables))]
    )
    for (table, runs), name in zip(tables, names, strict=True):
        for cost in COSTS:
            yield frontier_picture(table, view, f"{name}-by-{cost.replace('_', '-')}", runs, [cost])


def draw_overtaking(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the speedup of hybrids as maps, if runs differ in data or number of topics."""
    with suppress(MeasureError):
        of_hybrids = [  # which have an option r, or are r = inf
            run
            for run in selection.runs
            if hasattr(spec_of(run).parts()[2], "r") or is_plain_gibbs(spec_of(run))
        ]
        cells = overtaking(of_hybrids)
        if cells.sizes["data"] * cells.sizes["n_topics"] > 1:
            yield overtaking_picture(cells, view)


def _short_names(descriptions: list[str]) -> list[str]:
    """Return descriptions of data without a beginning common to all, wrapped to short lines."""
    word_lists = [description.split(", ") for description in descriptions]
    if len(descriptions) > 1 and len({words[0] for words in word_lists}) == 1:
        descriptions = [", ".join(words[1:]) or UNCHANGED for words in word_lists]
    return [fill(description, LETTERS) for description in descriptions]


def _model_text(table_and_runs: tuple[xr.Dataset, list[xr.Dataset]]) -> str:
    (_, model), *_ = comparison_keys(table_and_runs[1])
    return " ".join(f"{name}={value}" for name, value in model.items())


def _settings_with_values(table: xr.Dataset, measure: str, clock: str) -> xr.Dataset:
    """Return the settings that have values of both the measure and the clock."""
    return table.isel(
        label=np.flatnonzero(np.isfinite(table[measure].values) & np.isfinite(table[clock].values))
    )


def _marks(
    elements: list,
    settings: xr.Dataset,
    clock: str,
    measure: str,
    y,
    is_efficient: np.ndarray,
    style: dict[str, Look] | None,
    floor: float,
):
    """Draw a named mark with error bar per setting, above the elements ``elements``; faint if not ``is_efficient``."""
    if not settings.sizes["label"]:
        return panel([])
    style, x = style or looks(settings["label"].values.tolist()), dimension(clock)
    cost, value, error = (settings[name].values for name in (clock, measure, f"{measure}_se"))
    for row, label in enumerate(settings["label"].values):
        look, alpha = style[label], 1.0 if is_efficient[row] else FAINT
        if np.isfinite(error[row]):
            segments = [
                (cost[row], max(value[row] - error[row], floor), cost[row], value[row] + error[row])
            ]
            elements.append(
                element(
                    "Segments",
                    segments,
                    [x, y, "same cost", "high"],
                    color=look.colour,
                    linewidth=1.2,
                    alpha=alpha,
                    show_grid=True,
                )
            )
        elements.append(
            element(
                "Scatter",
                [(cost[row], value[row])],
                x,
                y,
                label=label,
                color=look.colour,
                marker=look.marker,
                s=26,
                linewidth=0,
                alpha=alpha,
                show_grid=True,
            )
        )
    sides = sides_of_names(
        _shares(cost), _shares(value), names := names_of_settings(settings), is_efficient
    )
    for faint in (False, True):
        for side, align in ((1, "left"), (-1, "right")):
            texts = [
                (cost[row], value[row], f"  {name}  ")
                for row, name in enumerate(names)
                if is_efficient[row] != faint and sides[row] == side
            ]
            if texts:
                kind, colour = (f"faint name, {align}", GREY) if faint else (f"name, {align}", INK)
                elements.append(text_labels(texts, kind, size=6, align=align, color=colour))
    limits = {"ylim": (floor, None)} if np.isfinite(floor) else {}
    return panel(
        elements,
        logx=_is_logarithmic(cost),
        logy=_is_logarithmic(value),
        padding=(0.25, 0.1),
        xlabel=x.pprint_label,
        ylabel=y.pprint_label,
        show_grid=True,
        hooks=[_plain_ticks],
        **limits,
    )


def _shares(values: np.ndarray) -> np.ndarray:
    """Return the positions of values on their axis as fractions from 0 to 1."""
    scaled_values = np.log(values) if _is_logarithmic(values) else values
    return (scaled_values - scaled_values.min()) / (np.ptp(scaled_values) or 1.0)


def _is_logarithmic(values: np.ndarray) -> bool:
    return bool(
        values.size and values.min() > 0 and values.max() >= LOGARITHMIC_RATIO * values.min()
    )


def _floor(values: np.ndarray, error: float = np.inf) -> float:
    """Return the lower limit for error bars and bands: minus infinity, or a positive value on a logarithmic axis."""
    return (
        max(min(float(values.min()), error) / 2, float(values.min()) / SMALLEST_FRACTION)
        if _is_logarithmic(values)
        else -np.inf
    )


def _plain_ticks(plot, overlaid) -> None:
    """Label logarithmic axes with plain numbers, not with powers (a HoloViews hook)."""
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

    axes = plot.handles["axis"]
    for side, scale in ((axes.xaxis, axes.get_xscale()), (axes.yaxis, axes.get_yscale())):
        if scale == "log":
            side.set_major_locator(LogLocator(subs=(1, 2, 5)))
            side.set_minor_locator(NullLocator())
            side.set_major_formatter(ScalarFormatter())
