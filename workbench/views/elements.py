"""HoloViews elements that look like the figures; HoloViews is imported when the first one is made."""

from workbench.errors import InputError, not_installed
from workbench.views.style import INK, RC

ROW = 0.135
"""Height of a line of small letters, inches."""
PAGE = 8.5
"""Inches of a page of paper that a figure may take."""


def holoviews():
    """The package, with matplotlib to draw; where it is missing a sentence names the extra."""
    try:
        import holoviews
        import holoviews.plotting.mpl
    except ImportError:
        raise InputError(not_installed("figures", "holoviews", "figures")) from None
    return holoviews


def element(kind: str, *data, label: str = "", vdims=None, **look):
    """A HoloViews element, such as a "Curve", with its options for matplotlib."""
    hv = holoviews()
    given = {name: value for name, value in (("label", label), ("vdims", vdims)) if value}
    return getattr(hv, kind)(*data, **given).opts(**look, backend="matplotlib")


def axis(name: str, label: str, unit: str | None = None):
    """A HoloViews dimension."""
    hv = holoviews()
    return hv.Dimension(name, label=label, unit=unit)


def band(
    edges: tuple, x, y, colour: str, alpha: float = 0.25, label: str = "", linewidth: float = 0.0
):
    """What lies between two curves, ``edges`` as (x, low, high), in a pale colour."""
    # HoloViews mixes in the current backend's `color`, which would win over `facecolor`: so both are given
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


def text_labels(
    texts, name: str, size: float = 6.5, align: str = "center", color: str = INK, **look
):
    """`holoviews.Labels` of (x, y, text)."""
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


def panel(parts, **options):
    """The elements of one panel as `holoviews.Overlay`; of the shape of a panel of curves unless the options name another."""
    hv = holoviews()
    options = {"aspect": 1.5, "fig_inches": 3.4, "show_legend": False, "fig_rcparams": RC} | options
    return hv.Overlay(parts).opts(**options, backend="matplotlib")


def bare_panel(parts, size: tuple[float, float], xlim, ylim, **options):
    """A panel without axes, so large in inches."""
    axes = {"xaxis": None, "yaxis": None, "show_frame": False, "show_grid": False}
    return panel(
        parts, **{"fig_inches": size, "xlim": xlim, "ylim": ylim, "aspect": "auto"} | axes | options
    )


def option(panel, name: str):
    """An option of a panel, as ``fig_inches``."""
    hv = holoviews()
    return hv.Store.lookup_options("matplotlib", panel, "plot").kwargs.get(name)


def height_of(panels: list) -> float:
    """Inches of the highest of panels that have a height of their own."""
    return max(option(each, "fig_inches")[1] for each in panels)


def rows_below(n_panels: int, above: float, most: int, fewest: int) -> int:
    """Rows of names that each of so many panels may have, one below the other on a page; ``above``: inches beside the rows."""
    return min(max(int((PAGE / n_panels - above) / ROW), fewest), most)


def fitting(text: str, letters: int) -> str:
    """The text, cut with a mark where it has more letters."""
    return text if len(text) <= letters else text[: letters - 1] + "…"
