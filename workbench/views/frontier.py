"""What settings cost, how far from long Gibbs chains they end, and where hybrids overtake Gibbs sampling per second."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from textwrap import fill

import numpy as np
import xarray as xr

from workbench.measures import MeasureError, frontier, overtaking
from workbench.measures.frontier import COSTS, is_plain_gibbs
from workbench.measures.selection import counterparts, grouped, spec_of
from workbench.runs.spec import RunSpec
from workbench.views.curves import dimension
from workbench.views.elements import ROW, axis, element, panel, text_labels
from workbench.views.picture import MOST_PANELS, Picture, SideBySide, View, file_names
from workbench.views.style import GREY, INK, RC, Look, looks

COLUMNS = (
    "label",
    "engine",
    "r",
    "n_chains",
    "split",
    "average",
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
"""Shares of a panel that a letter and a line of the names take."""
FAINT = 0.3
"""Opacity of a setting that another one dominates."""
FAR = 4
"""Ratio of the largest number to the smallest from which on their axis is logarithmic."""
DEEP = 40
"""Times smaller than the smallest distance that an axis reaches, at most."""
ON_PALE, ON_DARK, DARK = "#1a1a1a", "#fefefe", 1.4
"""Colours of numbers in cells, which are as pale or dark in every theme, and from which binary logarithm on a cell is dark."""
UNCHANGED, LETTERS = "counts as they are", 12
"""What a corpus is called that nothing was done to, beside others of its name, and letters of a line of these."""
TIMES = 4.0
"""Times as fast, or as slow, that the colours of a map reach."""


def frontier_view(table: xr.Dataset, clock: str = "updates", style: dict[str, Look] | None = None):
    """The distance of each setting of `workbench.measures.frontier` from the reference, against what it costs.

    ``clock`` is "updates" or "cpu_time". An overlay: an `HSpan` as high as the standard error of the reference, a `Curve`
    through the settings that no other one dominates, and for each a `Scatter` over a `Segments` of one standard error between
    seeds to either side, faint where another setting is as cheap and as near; each with its name beside it. Where the numbers
    lie far apart, their axis is logarithmic and reaches down to half the error of the reference, or to a `DEEP` part of the
    smallest distance.
    """
    y = axis("distance", "distance from the reference", "nats")
    own = _known(table, "distance", clock)
    bright = own[f"efficient_{clock}"].values
    line = own.isel(label=np.flatnonzero(bright)).sortby(clock)
    error = table.attrs["reference_se"]
    floor, drawn = _floor(own["distance"].values, error), []
    if error > floor:
        drawn = [
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
    if line.sizes["label"] > 1:
        drawn.append(
            element(
                "Curve",
                (line[clock].values, line["distance"].values),
                dimension(clock),
                y,
                color=INK,
                linewidth=0.8,
                linestyle=":",
                show_grid=True,
            )
        )
    return _marks(drawn, own, clock, "distance", y, bright, style, floor)


def jitter_view(table: xr.Dataset, clock: str = "updates", style: dict[str, Look] | None = None):
    """The jitter of the state of each setting, see `workbench.measures.frontier`, against what it costs: as `frontier_view`."""
    own, y = _known(table, "jitter", clock), axis("jitter", "jitter of the state", "nats")
    return _marks(
        [],
        own,
        clock,
        "jitter",
        y,
        own[f"efficient_{clock}"].values,
        style,
        _floor(own["jitter"].values),
    )


def overtaking_view(cells: xr.Dataset, setting: str, title: str = ""):
    """How many times as fast as cgs one setting of `workbench.measures.overtaking` is: data (rows) by number of topics.

    A `QuadMesh` of the binary logarithms of the speedup with the speedup as `Labels` in each cell; blank without a pair.
    """
    own = cells.sel(setting=setting)
    speedup = own["speedup"].transpose("data", "n_topics").values
    places, ks = own["data"].values.tolist(), own["n_topics"].values.tolist()
    reach = np.log2(TIMES)
    mesh = element(
        "QuadMesh",
        (np.arange(len(ks)), -np.arange(len(places)), np.clip(np.log2(speedup), -reach, reach)),
        [axis("n_topics", "topics K"), axis("data", " ")],
        vdims=axis("speedup", "times as fast as cgs"),
        cmap="RdBu_r",
        clim=(-reach, reach),
    )
    texts: dict[str, list] = {}
    for (row, column), value in np.ndenumerate(speedup):
        if np.isfinite(value):
            texts.setdefault(ON_DARK if abs(np.log2(value)) > DARK else ON_PALE, []).append(
                (column, -row, f"{value:.2g}")
            )
    labels = (
        text_labels(some, f"times {colour}", size=7, color=colour) for colour, some in texts.items()
    )
    return panel(
        [mesh, *labels],
        title=title,
        aspect="auto",
        show_grid=False,
        fig_inches=(3.4, 0.9 + max(2 * ROW * len(places), 0.8)),
        xticks=list(enumerate(map(str, ks))),
        yticks=[(-at, place) for at, place in enumerate(_short(places))],
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def names_of_settings(table: xr.Dataset) -> list[str]:
    """A short name of each setting of a table: what tells it apart, as "r=2, S=5"; the engine where it has no r."""
    hybrids = set(
        table["engine"].values[~np.isnan(table["r"].values) & (table["split"].values == "")]
    )
    names = []
    for label in table["label"].values:
        one = table.sel(label=label)
        r, n_chains, split, engine = (
            one[name].item() for name in ("r", "n_chains", "split", "engine")
        )
        if np.isnan(r):
            names.append(str(engine))
            continue
        whose = str(split) or (str(engine) if len(hybrids) > 1 else "")
        of_chains = f"S={n_chains:g}" if n_chains > 1 else ""
        names.append(
            ", ".join(filter(None, (whose, "r=∞" if r == np.inf else f"r={r:g}", of_chains)))
        )
    return names


def sides_of_names(x: np.ndarray, y: np.ndarray, names: list[str], bright: np.ndarray) -> list[int]:
    """(mark,) where its name stands: 1 on its right, -1 on its left, 0 nowhere, as others that come first are in its way.

    ``x`` and ``y`` are shares of the axes; those that are ``bright`` come first, from the right.
    """
    taken: list[tuple[float, float, float]] = []  # left, right, height
    sides = [0] * len(names)
    for at in sorted(range(len(names)), key=lambda at: (not bright[at], -x[at])):
        width = WIDE * (len(names[at]) + 2)
        for side, left in ((1, x[at]), (-1, x[at] - width)):
            if all(
                left + width <= low or left >= high or abs(y[at] - height) >= HIGH
                for low, high, height in taken
            ):
                taken.append((left, left + width, y[at]))
                sides[at] = side
                break
    return sides


def frontier_picture(
    table: xr.Dataset,
    view: View,
    name: str = "",
    runs: Iterable[xr.Dataset] = (),
    clocks: Iterable[str] = COSTS,
) -> Picture:
    """A panel of distances and one of jitters for each clock, with the table."""
    style, clocks = looks(table["label"].values.tolist()), list(clocks)
    panels = [
        draw(table, clock, style) for draw in (frontier_view, jitter_view) for clock in clocks
    ]
    # no state has a jitter before its second iteration after burn-in
    panels = [each for each in panels if len(each)]
    rows = (
        table[[one for one in COLUMNS if one != "label"]]
        .to_dataframe()
        .reset_index()[list(COLUMNS)]
    )
    n_chains, error = int(table["n_reference"].min()), table.attrs["reference_se"]
    what = "their mean p(w|d)" if table["pooled"].values.all() else "the mean of their own"
    caption = (
        "How far the logarithm of the held-out perplexity is from that of long Gibbs chains on the same split "
        f"({what}), nats per token, and what it cost: means over runs with one standard error between them to either side. The "
        f"grey band is the standard error of the reference ({error:.2g}, over {n_chains} chains). The dotted line joins the "
        "settings that no other one dominates; a faint one is not both cheaper and nearer than all others. Jitter is the "
        "standard deviation of the log perplexity of the state over the last half of the iterations after burn-in. S is the "
        "number of chains; of an adaptive split r stands for the hybrid with as many updates. Names with no room are left out; "
        "the table has all."
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
    """A map for each setting, with the table of all cells."""
    settings = cells["setting"].values.tolist()
    flat = cells.to_dataframe().reset_index()
    rows = flat[flat["n_pairs"] > 0][list(CELLS)].to_numpy(object).tolist()
    hidden = len(settings) - MOST_PANELS
    caption = (
        "CPU seconds of cgs divided by those of each setting, until the held-out perplexity is as low as both come: above 1 "
        f"(red) the setting has overtaken; full colour: {TIMES:g} times. Geometric means over pairs of runs on the same split "
        "with the same seed; errors, and differences at equal CPU seconds, are in the table."
        f"{f' {hidden} further settings are in the table only.' if hidden > 0 else ''}"
    )
    panels = [overtaking_view(cells, setting, setting) for setting in settings[:MOST_PANELS]]
    return Picture(
        view.name,
        view.title,
        caption,
        panels,
        list(CELLS),
        rows,
        legend=False,
        height=0.9 + max(2 * ROW * cells.sizes["data"], 0.8),
    )


def draw_frontier(view: View, shown: SideBySide) -> Iterator[Picture]:
    """A picture by each cost, of each model, data and share held out that has long chains of cgs and others beside them."""
    having = [run for run in shown.runs if view.fits(run)]
    found = []
    for runs in grouped(
        [repr(one) for one in counterparts(having)] if having else [], having
    ).values():
        with suppress(MeasureError):
            found.append((frontier(runs, pooled=shown.pooled), runs))
    names = (
        [view.name]
        if len(found) == 1
        else [f"{view.name}-{short}" for short in file_names(map(_place, found))]
    )
    for (table, runs), name in zip(found, names, strict=True):
        for cost in COSTS:
            yield frontier_picture(table, view, f"{name}-by-{cost.replace('_', '-')}", runs, [cost])


def draw_overtaking(view: View, shown: SideBySide) -> Iterator[Picture]:
    """The maps of hybrids, where runs differ in data or number of topics."""
    with suppress(MeasureError):
        cells = overtaking(
            [run for run in shown.runs if is_hybrid(spec_of(run)) or is_plain_gibbs(spec_of(run))]
        )
        if cells.sizes["data"] * cells.sizes["n_topics"] > 1:
            yield overtaking_picture(cells, view)


def _short(places: list[str]) -> list[str]:
    """The data in few words and short lines: what they have in common at their beginning is left out."""
    parts = [place.split(", ") for place in places]
    if len(places) > 1 and len({own[0] for own in parts}) == 1:
        places = [", ".join(own[1:]) or UNCHANGED for own in parts]
    return [fill(place, LETTERS) for place in places]


def is_hybrid(spec: RunSpec) -> bool:
    """Does the engine of the run sample some pairs and average the others, by an r?"""
    return hasattr(spec.parts()[2], "r")


def _place(found: tuple[xr.Dataset, list[xr.Dataset]]) -> str:
    (_, model), *_ = counterparts(found[1])
    return " ".join(f"{name}={value}" for name, value in model.items())


def _known(table: xr.Dataset, measure: str, clock: str) -> xr.Dataset:
    """The settings that have both numbers."""
    return table.isel(
        label=np.flatnonzero(np.isfinite(table[measure].values) & np.isfinite(table[clock].values))
    )


def _marks(
    drawn: list,
    own: xr.Dataset,
    clock: str,
    measure: str,
    y,
    bright,
    style: dict[str, Look] | None,
    floor: float,
):
    """The elements, and over them a mark with its error and its name for each setting; ``bright`` (setting,) bool."""
    if not own.sizes["label"]:
        return panel([])
    style, x = style or looks(own["label"].values.tolist()), dimension(clock)
    cost, value, error = (own[name].values for name in (clock, measure, f"{measure}_se"))
    for at, label in enumerate(own["label"].values):
        look, alpha = style[label], 1.0 if bright[at] else FAINT
        if np.isfinite(error[at]):
            ends = [(cost[at], max(value[at] - error[at], floor), cost[at], value[at] + error[at])]
            drawn.append(
                element(
                    "Segments",
                    ends,
                    [x, y, "same cost", "high"],
                    color=look.colour,
                    linewidth=1.2,
                    alpha=alpha,
                    show_grid=True,
                )
            )
        drawn.append(
            element(
                "Scatter",
                [(cost[at], value[at])],
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
    sides = sides_of_names(_shares(cost), _shares(value), names := names_of_settings(own), bright)
    for faint in (False, True):
        for side, align in ((1, "left"), (-1, "right")):
            texts = [
                (cost[at], value[at], f"  {name}  ")
                for at, name in enumerate(names)
                if bright[at] != faint and sides[at] == side
            ]
            if texts:
                kind, colour = (f"faint name, {align}", GREY) if faint else (f"name, {align}", INK)
                drawn.append(text_labels(texts, kind, size=6, align=align, color=colour))
    limits = {"ylim": (floor, None)} if np.isfinite(floor) else {}
    return panel(
        drawn,
        logx=_is_far(cost),
        logy=_is_far(value),
        padding=(0.25, 0.1),
        xlabel=x.pprint_label,
        ylabel=y.pprint_label,
        show_grid=True,
        hooks=[_plain_ticks],
        **limits,
    )


def _shares(values: np.ndarray) -> np.ndarray:
    """Where numbers stand on their axis, from 0 to 1."""
    at = np.log(values) if _is_far(values) else values
    return (at - at.min()) / (np.ptp(at) or 1.0)


def _is_far(values: np.ndarray) -> bool:
    return bool(values.size and values.min() > 0 and values.max() >= FAR * values.min())


def _floor(values: np.ndarray, error: float = np.inf) -> float:
    """Where bars and band begin at the lowest: nowhere, but on a logarithmic axis, which has no zero."""
    return (
        max(min(float(values.min()), error) / 2, float(values.min()) / DEEP)
        if _is_far(values)
        else -np.inf
    )


def _plain_ticks(plot, drawn) -> None:
    """Numbers in the place of powers on logarithmic axes."""
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

    axes = plot.handles["axis"]
    for one, scale in ((axes.xaxis, axes.get_xscale()), (axes.yaxis, axes.get_yscale())):
        if scale == "log":
            one.set_major_locator(LogLocator(subs=(1, 2, 5)))
            one.set_minor_locator(NullLocator())
            one.set_major_formatter(ScalarFormatter())
