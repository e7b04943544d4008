"""The look of a panel, written for matplotlib, translated into options of HoloViews' Bokeh back end.

Nothing is drawn twice: the options of each element and of its panel are read from where `elements.py` put them.
"""

import math
import textwrap
from collections.abc import Iterator, Mapping

import numpy as np

from workbench.views.elements import INK, RC, SEARCH, TOPIC, holoviews, short_text

INCH = 105
"""Pixels per inch on a page."""
POINT = INCH / 72
DASHES = {"-": "solid", "--": "dashed", "-.": "dashdot", ":": "dotted"}
MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle",
    "D": "diamond",
    "v": "inverted_triangle",
    "P": "plus",
    "X": "x",
    "*": "star",
    "p": "hex",
}
LINES = {"Curve", "Path", "Segments", "HLine", "VLine", "Contours", "ErrorBars"}
"""Kinds of elements without an area."""
MARKS = {"Contours", "Points", "Polygons", "Rectangles", "Segments"}
"""Kinds of elements whose coordinates have no meaning."""
HIDDEN_DIMENSIONS = {"area", "above", "colour", "fill", "same place"}
"""Dimensions that are drawn but left out of hover texts."""
KEPT = {
    "cmap", "clim", "colorbar", "invert_axes", "invert_xaxis", "invert_yaxis", "logx", "logy", "logz", "padding",
    "show_grid", "show_legend", "title", "xaxis", "xlabel", "xlim", "xrotation", "xticks", "yaxis", "ylabel", "ylim",
    "yticks",
}  # fmt: skip
"""Options with the same name and meaning in both back ends."""
FONTS = {
    "title": "axes.titlesize",
    "labels": "axes.labelsize",
    "xticks": "xtick.labelsize",
    "yticks": "ytick.labelsize",
    "legend": "legend.fontsize",
}
LETTER = 6.5
"""Width of a letter of an axis label, pixels."""
LONG_LABEL = 36
"""Letters of a line of the label of the horizontal axis."""
LONG_NAME, TWO_LINES = 24, 26
"""Letters of the name of a row from which it is written in two lines, so that a narrow page has room for the row, and the
height of a row in pixels that has room for these lines; in lower rows the name is cut."""
AXES = 45
"""Height of the title and the legend of a panel with axes, pixels."""
PALE = 0.35
"""Opacity of elements that are not chosen while another is."""
MARKED = {"nonselection_alpha": 1, "selection_line_color": INK, "selection_line_width": 3}
"""The look of points where one is chosen."""
BAR = {"background_fill_alpha": 0, "width": 10, "title_text_font_style": "normal"}
"""Look of a bar of colours."""
MANY_MARKED = {"selection_line_width": 1.5}
N_MARKERS = 6
"""Number of markers along a curve."""
HOVER_DIMENSION = "told"
"""Name of the dimension with hover texts."""


def bokeh_panel(
    panel, size: tuple[float, float], hover: Mapping[str, Iterator[list[str]]] | None = None
):
    """Return a copy of a panel with options for Bokeh, ``size`` inches large, or narrower on a narrow page.

    ``hover`` has the hover texts of the next elements, by kind of element; see `Picture.hover`.
    """
    from holoviews.plotting import bokeh  # noqa: F401

    elements = []
    texts = [next((hover or {}).get(type(element).__name__, iter(())), None) for element in panel]
    are_told = any(texts)
    for element, hover_texts in zip(panel, texts, strict=True):
        kind = type(element).__name__
        elements.append(_element(element, kind, hover_texts, quiet=are_told and not hover_texts))
        elements += _markers(element, kind)
    plot = _options(panel, "plot")
    fonts = RC | plot.get("fig_rcparams", {})
    width, height = (round(INCH * inches) for inches in size)
    height += AXES if plot.get("xaxis", True) else 0
    shape = {"height": height, "responsive": True, "max_width": width}
    if plot.get("aspect") == "equal" and plot.get("xlim"):
        across, up = (math.dist(plot[side][:1], plot[side][1:]) for side in ("xlim", "ylim"))
        frame = min(width - AXES, height * across / up)
        shape = {"frame_width": round(frame), "frame_height": round(frame * up / across)}
    return (
        holoviews()
        .Overlay(elements)
        .opts(
            **{name: value for name, value in plot.items() if name in KEPT},
            **shape,
            fontsize={element: f"{fonts[name] * POINT:.1f}px" for element, name in FONTS.items()},
            legend_position="top",
            legend_opts={
                "background_fill_alpha": 0,
                "border_line_alpha": 0,
                "click_policy": "mute",
            },
            legend_cols=2,
            default_tools=["pan", "box_zoom", "reset"],
            active_tools=[],
            autohide_toolbar=True,
            shared_axes=False,
            hooks=[_plain],
            backend="bokeh",
        )
    )


def _markers(element, kind: str) -> list:
    """Return the markers of a curve: at all points, or at a few if the matplotlib figure has a few."""
    style, few = _options(element, "style"), _keywords(element, "marker")
    marker = next(iter(few), style.get("marker"))
    if kind != "Curve" or not marker:
        return []
    step = max(len(element) // N_MARKERS, 1) if few else 1
    markers = holoviews().Scatter(
        element.iloc[step // 2 :: step], element.kdims, element.vdims, label=element.label
    )
    look = {"color": style["color"], "marker": MARKERS[marker], "size": 6, "line_width": 0}
    return [markers.opts(**look, backend="bokeh")]


def _keywords(element, name: str) -> list:
    """Return the values that the hooks of an element for matplotlib have for the keyword ``name``."""
    keywords = [
        getattr(hook, "keywords", {}) for hook in _options(element, "plot").get("hooks", [])
    ]
    return [each[name] for each in keywords if name in each]


def _plain(plot, panel) -> None:
    """Give a panel a transparent background, fewer ticks and axis labels that fit (a HoloViews hook)."""
    figure = plot.state
    figure.background_fill_color = figure.border_fill_color = figure.outline_line_color = None
    figure.toolbar.logo = None
    for side in figure.axis:
        side.minor_tick_line_color = None
        side.axis_label_text_font_style = "normal"
    for side in figure.xaxis:
        side.axis_label = textwrap.fill(side.axis_label or "", LONG_LABEL) or side.axis_label
    for side in figure.yaxis:
        letters = max(int((figure.height or 300) / LETTER) - 12, 10)
        side.axis_label = textwrap.fill(side.axis_label or "", letters) or side.axis_label
        names = side.major_label_overrides
        is_high = len(names) * TWO_LINES <= (figure.height or 300)
        side.major_label_overrides = {
            position: textwrap.fill(name, max(LONG_NAME, 2 * len(name) // 3))
            if is_high
            else short_text(name, LONG_NAME)
            for position, name in names.items()
        }


def _options(element, group: str) -> dict:
    """Return the matplotlib options of an element or panel, leaving out HoloViews' default colour cycles."""
    hv = holoviews()
    options = hv.Store.lookup_options("matplotlib", element, group).kwargs
    return {name: value for name, value in options.items() if not isinstance(value, hv.Cycle)}


def _element(element, kind: str, texts: list[str] | None, quiet: bool = False):
    """Return a copy of an element with Bokeh options that correspond to its matplotlib options, and with tooltips.

    ``quiet``: without tooltips of its values, as another element of the panel has texts.
    """
    plot = {name: value for name, value in _options(element, "plot").items() if name in KEPT}
    style = _style(kind, _options(element, "style"))
    bars = _keywords(element, "bar_ticks")
    for label, ticks in zip(_keywords(element, "bar_label"), bars, strict=True):
        plot |= {"colorbar": True, "clabel": label, "cticks": ticks, "colorbar_opts": BAR}
    if kind != "Labels":
        element, tooltips = _with_tooltips(element, kind, texts)
        plot |= {"tools": ["hover"], "hover_tooltips": tooltips} if tooltips and not quiet else {}
        if TOPIC in element.vdims:
            plot["tools"] = [*plot.get("tools", ()), "tap"]
            style |= MARKED if kind == "Points" else {"nonselection_alpha": PALE}
            if SEARCH in element.vdims:  # many elements of one topic
                style |= MANY_MARKED if kind == "Points" else {"nonselection_line_alpha": 0}
    return element.opts(**style, **plot, clone=True, backend="bokeh")


def _with_tooltips(element, kind: str, texts: list[str] | None) -> tuple[object, list]:
    """Return an element with its tooltip texts as a dimension, and Bokeh's tooltips, which show these or its values."""
    if texts is not None:
        if kind == "Polygons":
            rings = zip(element.split(datatype="dictionary"), texts, strict=True)
            data = [{**ring, HOVER_DIMENSION: text} for ring, text in rings]
            element = element.clone(data, vdims=[*element.vdims, HOVER_DIMENSION])
        elif kind == "QuadMesh":
            coords = element.interface.coords  # ascending, as the values and the texts
            x, y = (coords(element, name, ordered=True, edges=True) for name in element.kdims)
            values = [element.dimension_values(dim, flat=False) for dim in element.vdims]
            text_values = np.array(texts, dtype=object).reshape(values[0].shape)
            element = element.clone(
                (x, y, *values, text_values), vdims=[*element.vdims, HOVER_DIMENSION]
            )
        else:
            element = element.add_dimension(HOVER_DIMENSION, 0, texts, vdim=True)
        return element, [("", f"@{HOVER_DIMENSION}")]
    label = [("", element.label)] if element.label else []
    dimensions = element.vdims if kind in MARKS else element.dimensions() if element.vdims else []
    return element, label + [
        (dimension.pprint_label, f"@{{{dimension.name}}}")
        for dimension in dimensions
        if dimension.name not in HIDDEN_DIMENSIONS
    ]


def _style(kind: str, style: dict) -> dict:
    """Return the Bokeh options that correspond to matplotlib style options."""
    if kind == "Labels":
        is_middle = style.get("verticalalignment", "center") == "center"
        return {
            "text_color": _colour(style.get("color", INK)),
            "text_font_size": f"{style.get('size', RC['font.size']) * POINT:.1f}px",
            "text_font_style": "bold" if style.get("weight") == "bold" else "normal",
            "text_align": style.get("horizontalalignment", "center"),
            "text_baseline": "middle" if is_middle else "alphabetic",
        }
    bokeh_style = {name: style[name] for name in ("alpha", "cmap") if name in style}
    colour, edge = style.get("color"), style.get("edgecolor", style.get("edgecolors"))
    is_dimension = colour is not None and _colour(colour) is colour
    fill = colour if is_dimension else style.get("facecolor", colour)
    sides = {"": fill} if kind in LINES else {"fill_": fill, "line_": edge}
    if edge in (None, "face"):
        sides = {"": fill}
    for side, colour in sides.items():
        if isinstance(colour, str) and colour == "none":
            bokeh_style[f"{side}alpha"] = 0
        elif colour is not None:
            bokeh_style[f"{side}color"] = _colour(colour)
    width = style.get("linewidth", style.get("linewidths"))
    if width is not None:
        bokeh_style["line_width"] = width * POINT
    if "linestyle" in style:
        line, width = style["linestyle"], style.get("linewidth", 1)
        bokeh_style["line_dash"] = (
            DASHES[line]
            if isinstance(line, str)
            else [round(length * width * POINT) for length in line[1]]
        )
    if kind in {"Points", "Scatter"}:
        bokeh_style["size"] = style["s"] ** 0.5 * POINT if "s" in style else 6
        bokeh_style["marker"] = MARKERS.get(style.get("marker", "o"), "circle")
    return bokeh_style


def _colour(colour: object) -> object:
    """Return a matplotlib colour in Bokeh's form; any other value, such as a dimension's name, unchanged."""
    from matplotlib.colors import is_color_like, to_hex

    if not is_color_like(colour):
        return colour
    hexadecimal = to_hex(colour, keep_alpha=True)
    return hexadecimal[:7] if hexadecimal.endswith("ff") else hexadecimal
