"""Figures of HoloViews elements as SVG, PDF and PNG, drawn with matplotlib; reproducible byte for byte.

Figures are made without pyplot, which would keep them in memory; a lock serialises threads, because matplotlib's settings are
global.
"""

import io
import math
import re
import textwrap
import threading
from collections.abc import Iterable, Mapping
from html import escape

from workbench.views.elements import HIGHEST, RC, WIDTHS, arrangement, holoviews, option
from workbench.views.network import FILLED

FORMATS = ("svg", "pdf", "png")
METADATA = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}
OF_PAGE = {FILLED["dirichlet"]: "level", FILLED["observed"]: "known"}
"""Colour that a dark page changes → name of its CSS variable."""
OF_MATPLOTLIB = {"QuadMesh": "QuadMesh", "Polygons": "PatchCollection", "Points": "PathCollection"}
"""Kind of element that can have hover texts → name of its group in matplotlib's SVG."""
LETTER, LINE, SAMPLE = 0.075, 0.185, 0.55
"""Width of a letter, height of a line, and width of a legend sample at 8 points, inches."""
NARROW, BELOW = 0.062, 0.4
"""Width of a letter of an axis label, and space below a panel, inches."""
LARGE, RAISED = 1e5, str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LEGEND_LINES = 2
"""Lines of a legend that fit; for more, and for titles of several lines, the figure grows."""
_drawing = threading.RLock()


def draw(
    panels: list,
    columns: int = 2,
    formats: Iterable[str] = FORMATS,
    legend: bool = True,
    height: float | None = None,
    title: str = "",
    caption: str = "",
    width: float | None = None,
) -> dict[str, bytes]:
    """Draw one figure of several panels that share a legend.

    Parameters
    ----------
    panels : list of holoviews.Overlay
        In rows on two columns of a journal page (7 in), one below the other on one column (3.4 in), or two in a row if panels
        of curves would not fit on the page. No figure on one column is higher than the page.
    height : float, optional
        Height of each panel in inches; by default that of panels of curves.
    width : float, optional
        Width of each panel in inches, if ``height`` is given; by default panels share that of the page.
    title, caption : str
        Stored inside the files if not empty: ``<title>`` and ``<desc>`` of SVG, Title and Subject of PDF, Title and Description
        in the text of PNG.

    Returns
    -------
    dict
        Bytes by format. Letters are outlines in SVG and embedded TrueType in PDF; PNG has 300 dpi.
    """
    holoviews()  # raises if it is not installed
    import matplotlib

    with _drawing, matplotlib.rc_context():
        matplotlib.rcParams.update(RC)
        figure = _figure(panels, columns, legend, height, width)
        files = {}
        for extension in formats:
            texts = {
                "Title": title,
                {"pdf": "Subject", "png": "Description"}.get(extension): caption,
            }
            metadata = METADATA[extension] | {
                name: text for name, text in texts.items() if name and text
            }
            file = io.BytesIO()
            figure.savefig(file, format=extension, metadata=metadata)
            files[extension] = file.getvalue()
        # browsers ignore the metadata, where matplotlib would put it
        if "svg" in files and caption:
            description = f"<desc>{escape(caption, quote=False)}</desc>\n <metadata>"
            files["svg"] = files["svg"].replace(b"<metadata>", description.encode(), 1)
        return files


def _figure(
    panels: list, columns: int, legend: bool, height: float | None, width: float | None = None
):
    hv = holoviews()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    n_columns, width, height = arrangement(len(panels), columns, height, width)
    n_rows = math.ceil(len(panels) / n_columns)
    width *= n_columns
    figure = Figure((width, n_rows * height + 0.25), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    renderer = hv.renderer("matplotlib").instance()
    entries: dict[str, object] = {}
    for axes, panel in zip(grid.flat, panels, strict=False):
        plain_panel = panel.opts(show_legend=False, clone=True, backend="matplotlib")
        plot = renderer.get_plot(plain_panel, fig=figure, axis=axes)
        equal = option(panel, "aspect") == "equal"
        # otherwise the layout decides, not the element
        axes.set_aspect("equal" if equal else "auto")
        axes.title.set_text(textwrap.fill(axes.get_title(), int(width / n_columns / LETTER)))
        # next to rows of names a centred title would be cut
        if axes.get_ylabel() == " ":
            axes.title.set(horizontalalignment="right", x=1)
        axes.set_ylabel(
            textwrap.fill(axes.get_ylabel(), max(int((height - BELOW) / NARROW), 10))
            or axes.get_ylabel()
        )
        for subplot in plot.subplots.values():
            if isinstance(subplot.handles.get("artist"), Line2D):
                entries.setdefault(subplot.current_frame.label, subplot.handles["artist"])
    for axes in list(grid.flat)[len(panels) :]:
        axes.remove()
    _share_heights(grid)
    for axes in list(grid.flat)[: len(panels)]:
        _name_powers(axes.xaxis)
        _name_powers(axes.yaxis)
    extra_lines = sum(
        max(axes.get_title().count("\n") for axes in row if axes.figure is not None) for row in grid
    )
    if legend and entries:
        legend_width = WIDTHS[columns] - SAMPLE
        legend_texts = [textwrap.fill(name, int(legend_width / LETTER)) for name in entries]
        columns_of_legend = min(
            len(legend_texts),
            max(1, int(WIDTHS[columns] // (SAMPLE + LETTER * max(map(len, entries))))),
        )
        figure.legend(
            list(entries.values()),
            legend_texts,
            loc="outside upper center",
            ncols=columns_of_legend,
        )
        extra_lines += max(
            math.ceil(sum(name.count("\n") + 1 for name in legend_texts) / columns_of_legend)
            - LEGEND_LINES,
            0,
        )
    height = figure.get_figheight() + LINE * extra_lines
    figure.set_figheight(min(height, HIGHEST) if columns == 1 else height)
    return figure


def _name_powers(axis) -> None:
    """Label large ticks in units of 10³, 10⁶, … and name the unit in the axis label: log joint (10⁶ nats)."""
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    largest = max(map(abs, axis.get_view_interval()))
    if not (
        isinstance(axis.get_major_formatter(), ScalarFormatter) and LARGE <= largest < math.inf
    ):
        return
    power = 3 * int(math.log10(largest) / 3)
    power_text, name = f"10{str(power).translate(RAISED)}", axis.get_label_text()
    axis.set_major_formatter(
        FuncFormatter(lambda value, position: f"{value / 10**power:g}".replace("-", "−"))
    )
    quantity, _, unit = name.removesuffix(")").rpartition("(")
    if name.strip():
        axis.set_label_text(
            f"{quantity}({power_text} {unit})" if name.endswith(")") else f"{name} ({power_text})"
        )


def _share_heights(grid) -> None:
    """Give panels of the same quantity one y range, and label the y axis once per row."""
    all_axes = [axes for axes in grid.flat if axes.figure is not None]
    # each panel with rows of names keeps its own
    for name in {axes.get_ylabel() for axes in all_axes} - {" "}:
        same_quantity = [axes for axes in all_axes if axes.get_ylabel() == name]
        lows, highs = zip(*(axes.get_ylim() for axes in same_quantity), strict=True)
        for axes in same_quantity:
            axes.set_ylim(min(lows), max(highs))
    for row in grid:
        names = [axes.get_ylabel() if axes in all_axes else "" for axes in row]
        for left_name, name, axes in zip(names, names[1:], row[1:], strict=False):
            if name.strip() and name == left_name:
                axes.set_ylabel("")
                axes.tick_params(labelleft=False)


def inline_svg(
    svg: str, prefix: str, title: str, hover: Mapping[str, list[list[str]]] | None = None
) -> str:
    """Return a matplotlib SVG ready for an HTML page: unique ids, no background, the page's colours, tooltips.

    ``hover``: kind of element → hover texts of each element in the order of the panels: of the cells of a `QuadMesh` from the
    lowest row up and from left to right, of polygons and points in their order. See `Picture.hover`.
    """
    svg = svg[svg.index("<svg") :]
    for kind, elements in (hover or {}).items():
        for number, texts in enumerate(elements, start=1):
            svg = _with_titles(svg, f'<g id="{OF_MATPLOTLIB[kind]}_{number}">', texts)
    if hover:
        # text on a cell must not hide its hover area
        svg = svg.replace('<g id="text_', '<g pointer-events="none" id="text_')
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}-', svg)
    svg = svg.replace("url(#", f"url(#{prefix}-")
    svg = svg.replace("fill: #ffffff", "fill: none").replace("#000000", "currentColor")
    for colour, name in OF_PAGE.items():
        svg = svg.replace(colour.lower(), f"var(--{name}, {colour})")
    head, _, tail = svg.partition(">")
    head = re.sub(r'\s*\b(width|height)="[^"]*"', "", head)
    return f'{head} role="img" aria-label="{escape(title)}">{tail}'


def _with_titles(svg: str, group: str, texts: list[str]) -> str:
    """Return the SVG with a tooltip (``<title>``) on each path, or ``<use>`` of one, in a group of elements."""
    head_of_svg, start, tail = svg.partition(group)
    head, definitions, tail = (
        tail.partition("</defs>") if tail.lstrip().startswith("<defs>") else ("", "", tail)
    )
    tags_and_texts = re.split(r"(<(?:path|use) [^>]*/>)", tail, maxsplit=len(texts))
    for index, text in zip(range(1, len(tags_and_texts), 2), texts, strict=True):
        tag = re.match(r"<(\w+)", tags_and_texts[index])[1]
        tags_and_texts[index] = (
            f"{tags_and_texts[index][:-2]}><title>{escape(text)}</title></{tag}>"
        )
    return head_of_svg + start + head + definitions + "".join(tags_and_texts)
