"""HoloViews elements in the style of the figures: colours, lines and markers that colour-blind people and greyscale tell apart.

HoloViews is imported when the first element is made. Curves of several labels are drawn over bands of their standard errors.

An engine has the same colour on every page and in every figure. The colour is declared by the engine and unique, or
chosen from a palette by the engine's name. Each colour has a contrast of at least 3 with white paper and with a dark page;
colours of the engines that are compared by default have 3.5 (none can have more than 4.1 with both). Engines of a family
also differ in line and marker: variational engines of LDA are dashed, and their hybrids are solid with the marker of the
variational engine. Several labels of an engine differ only in line and marker. Other labels get cycles of colours, lines and
markers of different lengths, so that looks repeat only after many labels.
"""

import colorsys
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import count
from typing import NamedTuple
from zlib import crc32

import numpy as np
import xarray as xr

from workbench.engines import get_engine
from workbench.errors import InputError, not_installed
from workbench.measures import DERIVED, Curve
from workbench.measures.selection import grouped
from workbench.models import VARIABLES
from workbench.models.options import OptionError

COLOURS = ("#0a72e4", "#f35100", "#55a280", "#c377b2", "#cc4422", "#008fd8", "#966848", "#7356fc")
LONG_DASHES = (0, (6, 1, 1, 1, 1, 1))
LINES = ("-", "--", "-.", ":", LONG_DASHES)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "p")
INK = "#000000"
GRID = "#b0b0b0"
GREY = "#707070"
ONE_COLUMN, TWO_COLUMNS = 3.4, 7.0
"""Widths of figures, inches."""

RC = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so it is the same everywhere
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.color": GRID,
    "grid.linewidth": 0.4,
    "grid.alpha": 0.5,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "text.parse_math": False,  # a corpus may be called $x$
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "svg.fonttype": "path",  # letters as outlines: looks the same where the font is not installed
    "svg.hashsalt": "workbench",
    "pdf.fonttype": 42,  # TrueType, as journals ask
    "ps.fonttype": 42,
    "savefig.dpi": 300,
}


FEWEST_OF_RAMP = 3
"""Smallest number of labels that get a ramp of colours."""


class Look(NamedTuple):
    """Colour, line style and marker of one label."""

    colour: str
    line: str | tuple
    marker: str
    width: float = 1.3  # points


def look_of(label: str) -> Look | None:
    """Return the look of the engine that a label begins with; None if it begins with no engine.

    What an engine does not declare, or is not of `LINES` or `MARKERS`, is of the palette, chosen by its name.
    """
    name = re.split("[ ,]", label, maxsplit=1)[0]
    try:
        engine = get_engine(name)
    except OptionError:
        return None
    code = crc32(name.encode())
    line = LONG_DASHES if engine.line == "-.." else engine.line
    return Look(
        engine.colour or COLOURS[code % len(COLOURS)],
        line if line in LINES else LINES[code // 8 % len(LINES)],
        engine.marker if engine.marker in MARKERS else MARKERS[code // 64 % len(MARKERS)],
    )


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Return label → look: an engine's first label has the engine's look, further ones another line style and marker.

    Labels that differ in one ordered setting alone have the colours of its `ramp` besides.
    """
    engines, looks_of_labels = {label: look_of(label) for label in labels}, {}
    spare, shades = _spare_looks({look for look in engines.values() if look}), ramp(engines)
    for label, look in engines.items():
        looks_of_labels[label] = _free_look(look, looks_of_labels.values()) if look else next(spare)
    return {
        label: look._replace(colour=shades.get(label, look.colour))
        for label, look in looks_of_labels.items()
    }


def ramp(labels: Iterable[str]) -> dict[str, str]:
    """Return label → colour, from light to dark by value, for the labels of an engine that differ in one setting alone.

    They are the hue of the engine, from light to dark. An engine with fewer than three such labels has none.
    """
    distinct = dict.fromkeys(labels)
    by_engine = grouped((re.split("[ ,]", label, maxsplit=1)[0] for label in distinct), distinct)
    colours = {}
    for engine_labels in by_engine.values():
        values, look = _values_of_labels(engine_labels), look_of(engine_labels[0])
        if values and look:
            sorted_labels = sorted(engine_labels, key=values.get)
            colours |= {
                label: _shade(look.colour, rank / (len(engine_labels) - 1))
                for rank, label in enumerate(sorted_labels)
            }
    return colours


def _values_of_labels(labels: list[str]) -> dict[str, float]:
    """Return label → value of the only setting in which the labels differ; {} if they differ otherwise or are too few."""
    words = [re.split("[ ,]+", label) for label in labels]
    if len(labels) < FEWEST_OF_RAMP or len({len(each) for each in words}) > 1:
        return {}
    differing = [each for each in zip(*words, strict=True) if len(set(each)) > 1]
    names = {text.partition("=")[0] for each in differing for text in each}
    try:
        values = [float(text.partition("=")[2]) for each in differing for text in each]
    except ValueError:
        return {}
    return dict(zip(labels, values, strict=True)) if len(differing) == len(names) == 1 else {}


def _shade(colour: str, position: float) -> str:
    """Return a colour mixed with white, at position 0, to black, at 1."""
    end, share = (
        (255, 0.55 * (1 - 2 * position)) if position < 0.5 else (0, 0.5 * (2 * position - 1))
    )
    channels = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(channel + (end - channel) * share):02x}" for channel in channels)


def _free_look(look: Look, used_looks: Collection[Look]) -> Look:
    """Return the look if it is not taken, else a free one of the same colour, else the look itself."""
    line, marker = LINES.index(look.line), MARKERS.index(look.marker)
    candidates = (
        look._replace(
            line=LINES[(line + shift) % len(LINES)], marker=MARKERS[(marker + shift) % len(MARKERS)]
        )
        for shift in range(len(LINES) * len(MARKERS))
    )
    return next((look for look in candidates if look not in used_looks), look)


def _spare_looks(used_looks: set[Look]) -> Iterator[Look]:
    """Yield looks that are not taken, those in unused colours first."""
    colours = [colour for colour in COLOURS if colour not in {look.colour for look in used_looks}]
    for number in count():
        colour = colours[number] if number < len(colours) else COLOURS[number % len(COLOURS)]
        look = Look(colour, LINES[number % len(LINES)], MARKERS[number % len(MARKERS)])
        if look not in used_looks:
            yield look


N_NAMED = 6
"""Number of topics with a colour-blind-safe colour of the figures; the others go around the colour wheel."""
GOLDEN = 0.618034


def topic_colour(topic: int) -> str:
    """Return the colour of a topic to which people gave none: it depends only on its number, so is the same on every page."""
    if topic < N_NAMED:
        return COLOURS[topic]
    turn, wheel = divmod(topic - N_NAMED, 12)
    red, green, blue = colorsys.hls_to_rgb(
        (topic * GOLDEN) % 1.0, (0.5, 0.64, 0.42)[turn % 3], 0.5 if wheel % 2 else 0.7
    )
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in (red, green, blue))


def topic_colours(run: xr.Dataset) -> Callable[[int], str]:
    """Return a function from a topic's number to its colour: that which people gave it, else `topic_colour`."""
    own_colours = chosen_colours(run)
    return lambda topic: own_colours.get(topic) or topic_colour(topic)


def chosen_colours(run: xr.Dataset) -> dict[int, str]:
    """Return topic number → colour, of the topics that people coloured (see `workbench.runs.store.edition`)."""
    if "topic_colour" not in run.coords:
        return {}
    pairs = zip(run["topic"].values.tolist(), run["topic_colour"].values, strict=True)
    return {topic: str(colour) for topic, colour in pairs if colour}


ROW = 0.135
"""Height of a line of small letters, inches."""
PAGE = 8.5
"""Maximum height of a figure on paper, inches."""
TOPIC = "number_of_topic"
"""Dimension of elements that stand for a topic; a tap on such an element on a page chooses the topic."""
SEARCH = "search_of_documents"
"""Dimension of elements that stand for some documents, with the search that finds these; a tap on a page does that."""
WIDTHS = {1: ONE_COLUMN, 2: TWO_COLUMNS}
MOST_ACROSS = 3
SHAPES = {1: 0.62, 2: 0.72, 3: 0.78}
"""Panels in a row → height of a panel of curves relative to its width."""
HIGHEST = 9.0
"""Maximum height of a figure on one column, inches: a page of a journal."""


def holoviews():
    """Return the package holoviews with its matplotlib backend; if it is missing, the error names the extra to install."""
    try:
        import holoviews
        import holoviews.plotting.mpl
    except ImportError:
        raise InputError(not_installed("figures", "holoviews", "figures")) from None
    return holoviews


def element(kind: str, *data, label: str = "", vdims=None, **look):
    """Return a HoloViews element of a kind such as "Curve", with options for matplotlib."""
    hv = holoviews()
    options = {name: value for name, value in (("label", label), ("vdims", vdims)) if value}
    return getattr(hv, kind)(*data, **options).opts(**look, backend="matplotlib")


def coloured_outlines(kind: str, outlines: list[dict], positions: list, dims: list, **look):
    """Return a HoloViews element, "Polygons" or "Contours", in which each outline has its own ``colour``."""
    # HoloViews uses this colour if all are the same, else the colour of each
    first = next((outline["colour"] for outline in outlines), INK)
    face = {"facecolor": first} if kind == "Polygons" else {}
    return element(
        kind, outlines, positions, vdims=[*dims, "colour"], color="colour", **face, **look
    )


def axis(name: str, label: str, unit: str | None = None):
    """Return a HoloViews dimension for an axis, with label and unit."""
    return holoviews().Dimension(name, label=label, unit=unit)


def band(
    edges: tuple, x, y, colour: str, alpha: float = 0.25, label: str = "", linewidth: float = 0.0
):
    """Return the area between two curves in a pale colour; ``edges`` are (x, low, high)."""
    # HoloViews adds the current backend's `color`, which overrides `facecolor`: so both are set
    return element(
        "Area",
        edges,
        x,
        vdims=[y, axis("above", "above")],
        label=label,
        color=colour,
        facecolor=colour,
        edgecolor=INK if linewidth else "none",
        alpha=alpha,
        linewidth=linewidth,
    )


def mean_curve(xs, means, errors, x, y, look, label: str = "", linewidth: float = 1.3) -> tuple:
    """Return a list with the `Segments` of means ± errors, empty without errors, and the marked `Curve` of the means."""
    has_error = np.isfinite(means) & np.isfinite(errors)
    low, high = (means - errors)[has_error], (means + errors)[has_error]
    edges = (np.asarray(xs)[has_error], low, np.asarray(xs)[has_error], high)
    look_of_both = {"color": look.colour, "show_grid": True}
    curve = element(
        "Curve",
        (xs, means),
        x,
        y,
        label=label,
        linestyle=look.line,
        linewidth=linewidth,
        marker=look.marker,
        ms=4.5,
        **look_of_both,
    )
    if not has_error.any():
        return [], curve
    dims = [x, y, "same place", "high"]
    return [element("Segments", edges, dims, linewidth=1.2, **look_of_both)], curve


def text_labels(
    texts: list[tuple[float, float, str]],
    name: str,
    size: float = 6.5,
    align: str = "center",
    color: str = INK,
    **look,
):
    """Return `holoviews.Labels` of texts (x, y, text)."""
    return element(
        "Labels",
        texts,
        ["x", "y"],
        name,
        label=name,
        size=size,
        color=color,
        horizontalalignment=align,
        **look,
    )


def panel(elements, **options):
    """Overlay the elements in one panel; its default width and height are those of a plot of curves."""
    options = {"aspect": 1.5, "fig_inches": 3.4, "show_legend": False, "fig_rcparams": RC} | options
    if "title" in options:  # HoloViews fills in what stands in braces
        options["title"] = options["title"].replace("{", "{{").replace("}", "}}")
    return holoviews().Overlay(elements).opts(**options, backend="matplotlib")


def bare_panel(elements, size: tuple[float, float], xlim, ylim, **options):
    """Overlay the elements in one panel without axes; ``size`` is its width and height in inches."""
    axes = {"xaxis": None, "yaxis": None, "show_frame": False, "show_grid": False}
    return panel(
        elements,
        **{"fig_inches": size, "xlim": xlim, "ylim": ylim, "aspect": "auto"} | axes | options,
    )


def no_minor_ticks(plot, overlaid) -> None:
    """Remove the minor ticks of logarithmic axes (a HoloViews hook)."""
    from matplotlib.ticker import NullLocator

    for side in (plot.handles["axis"].xaxis, plot.handles["axis"].yaxis):
        side.set_minor_locator(NullLocator())


def colour_bar(label: str, ticks: list[tuple[float, str]]) -> partial:
    """Return a HoloViews hook for an element of coloured cells: a bar of its colours, with ticks (value, text)."""
    return partial(_colour_bar, bar_label=label, bar_ticks=ticks)


def _colour_bar(plot, overlaid, bar_label: str, bar_ticks: list[tuple[float, str]]) -> None:
    # that of HoloViews has a place of its own, which a figure of several panels does not know
    artist, axes = plot.handles["artist"], plot.handles["axis"]
    bar = axes.figure.colorbar(artist, ax=axes, label=bar_label, aspect=30, fraction=0.05, pad=0.02)
    bar.set_ticks([value for value, _ in bar_ticks], labels=[text for _, text in bar_ticks])
    bar.outline.set_visible(False)


def option(panel, name: str) -> object:
    """Return the value of a panel's option, such as ``fig_inches``."""
    return holoviews().Store.lookup_options("matplotlib", panel, "plot").kwargs.get(name)


def arrangement(
    n_panels: int, columns: int, height: float | None, width: float | None = None
) -> tuple[int, float, float]:
    """Return the number of panels per row of a figure, and a panel's width and height in inches.

    ``height`` of a panel is None for panels of curves, which have the shape of their width. Without ``width`` the panels of a
    row share that of the page.
    """
    if width and height:
        width = min(width, WIDTHS[columns])
        return min(n_panels, int(WIDTHS[columns] / width)), width, height
    is_high = not height and n_panels * SHAPES[1] * WIDTHS[1] > HIGHEST
    across = min(n_panels, MOST_ACROSS if columns == 2 else 2 if is_high else 1)
    full_width = columns == 1 or n_panels > 1 or height
    width = (WIDTHS[columns] if full_width else 0.65 * WIDTHS[columns]) / across
    return across, width, height or SHAPES[across] * width


def height_of(panels: list) -> float:
    """Return the height in inches of the highest panel, from its option ``fig_inches``."""
    return max(option(panel, "fig_inches")[1] for panel in panels)


def rows_below(panels: Collection, columns: int, margin: float, most: int, fewest: int) -> int:
    """Return how many rows each panel may have if all are stacked on a page; ``margin``: inches besides its rows."""
    if columns == 2 or not panels:
        return most
    return min(max(int((PAGE / len(panels) - margin) / ROW), fewest), most)


def short_text(text: str, letters: int) -> str:
    """Return the text, shortened with an ellipsis if it has more than ``letters`` letters."""
    return text if len(text) <= letters else text[: letters - 1] + "…"


MOST_POINTS = 1000
"""Maximum of points of a drawn curve; longer ones are thinned evenly. Tables are never thinned."""
MARKERS_ACROSS = 0.17
"""Distance of markers along a curve, as a share of the diagonal of the picture."""
SHORT = {
    "test_perplexity": "held-out perplexity",
    "test_perplexity_state": "held-out perplexity",
    "test_perplexity_average": "held-out perplexity",
    "train_perplexity": "training perplexity",
    "log_joint": "log joint",
    "bound": "bound",
    "objective": "objective",
    "elapsed": "inference time",
    "cpu_time": "CPU time",
    "updates": "site updates",
    "n_k": "topic size",
    "phi": "probability",
    "steps": "iterations × topics",
    "log_likelihood": "log p of a held-out token",
    "bound_per_token": "bound per token",
    "n_active_topics": "topics with a token",
    "n_large_topics": "topics with at least 1 %",
    "effective_topics": "effective topics",
    "alpha_total": "alpha, sum over topics",
    "beta_total": "beta, sum over words",
    "top_concentration": "gamma",
    "alpha": "alpha of a topic",
    "beta": "beta of a word",
    "test_log_likelihood": "log p of a held-out item",
    "test_top_hits": "hits among the top 10",
    "test_bottom_hits": "hits among the bottom 10",
    "test_gain_joint_added": "gain, joint",
    "test_gain_joint_clipped": "gain, joint",
    "test_gain_joint_seen": "gain, joint",
    "test_gain_seen": "gain",
}
"""Short names for axes; captions use the sentences of VARIABLES."""


def dimension(name: str, attrs: dict | None = None):
    """Return the HoloViews dimension of a variable, with its short name and unit.

    ``attrs`` are the attributes of a variable that is not in VARIABLES.
    """
    variable = DERIVED.get(name) or VARIABLES.get(name)
    attrs = variable.attrs if variable else attrs or {}
    label, unit = re.split(r"[,:;] (?![^(]*\))", attrs.get("long_name", ""))[0], attrs.get("units")
    return holoviews().Dimension(
        name,
        label=SHORT.get(name) or label or name,
        unit=unit if unit and unit != "topics" else None,
    )


BREAK = 0.08
"""Half the height of a mark on a curve, as a share of the curve's range."""


def overlay(
    curves: list[Curve],
    measure: str,
    against: str,
    looks: dict[str, Look],
    title: str = "",
    under: list = (),
    attrs: dict | None = None,
):
    """Return an overlay of one `hv.Curve` per label, over `hv.Area` bands of ± one standard error.

    Thin `hv.Segments` on the curve of a run say where its warm-up ended, and where settings were turned.

    ``under`` are elements drawn below them, such as `faint_curve` and `line_across`; ``attrs``: see `dimension`.
    """
    x, y = dimension(against), dimension(measure, attrs)
    bands, lines, breaks = [], [], []
    for number, curve in enumerate(curves):
        look, points = looks[curve.group], _point_indices(len(curve.x))
        x_points, mean, error = curve.x[points], curve.y[points], curve.error[points]
        if np.isfinite(error).any():
            # HoloViews adds the current backend's `color`, which overrides `facecolor`: so both are set
            bands.append(
                element(
                    "Area",
                    (x_points, mean - error, mean + error),
                    x,
                    [y, f"{measure}_high"],
                    label=curve.label,
                    color=look.colour,
                    facecolor=look.colour,
                    edgecolor="none",
                    alpha=0.18,
                    linewidth=0,
                    show_legend=False,
                    show_grid=True,
                )
            )
        lines.append(
            element(
                "Curve",
                (x_points, mean),
                x,
                y,
                label=curve.label,
                color=look.colour,
                linestyle=look.line,
                linewidth=look.width,
                hooks=[partial(_mark, marker=look.marker, number=number)],
                show_grid=True,
            )
        )
        if len(curve.breaks) and np.isfinite(mean).any():
            is_break, height = curve.breaks, BREAK * np.ptp(mean[np.isfinite(mean)])
            ends = (
                curve.x[is_break],
                curve.y[is_break] - height,
                curve.x[is_break],
                curve.y[is_break] + height,
            )
            dims = [x, y, "same place", "top"]
            breaks.append(element("Segments", ends, dims, color=look.colour, linewidth=1.2))
    return panel(
        [*under, *bands, *lines, *breaks],
        title=title,
        legend_position="best",
        show_legend=True,
        padding=0.02,
    )


def faint_curve(x: np.ndarray, y: np.ndarray, colour: str):
    """Draw recorded values as a faint `hv.Path` without legend entry, to be put below a smoothed curve."""
    points = _point_indices(len(x))
    return element(
        "Path", [(x[points], y[points])], color=colour, alpha=0.35, linewidth=0.7, show_grid=True
    )


def line_across(height: float, start: float, end: float):
    """Draw a dotted horizontal line as `hv.Path`; it has no legend entry."""
    return element(
        "Path",
        [([start, end], [height, height])],
        color=GREY,
        linewidth=0.8,
        linestyle=":",
        show_grid=True,
    )


def point_at(x: float, y: float, colour: str):
    """Draw a diamond at a point as `hv.Scatter`; it has no legend entry."""
    return element(
        "Scatter", ([x], [y]), color=colour, marker="D", s=14, linewidth=0, show_legend=False
    )


def _point_indices(n: int) -> np.ndarray:
    """Return the indices of at most MOST_POINTS evenly spaced points among n."""
    return (
        np.arange(n)
        if n <= MOST_POINTS
        else np.unique(np.linspace(0, n - 1, MOST_POINTS).round().astype(int))
    )


def _mark(plot, element, marker: str, number: int) -> None:
    """Put a few markers on a curve, at other positions than on the other curves (a HoloViews hook)."""
    line = plot.handles["artist"]
    line.set(
        marker=marker,
        markersize=3.5,
        markeredgewidth=0,
        markevery=(MARKERS_ACROSS * (0.3 + number % 5 / 6), MARKERS_ACROSS),
    )
