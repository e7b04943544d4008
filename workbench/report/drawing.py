"""Figures of HoloViews elements as SVG, PDF and PNG, drawn with matplotlib: the same bytes every time.

Figures are made without pyplot, so nothing is left behind in a server; a lock keeps threads apart,
because matplotlib's settings belong to the whole process.
"""

import io
import math
import re
import textwrap
import threading
from collections.abc import Mapping
from html import escape

from workbench.views.elements import holoviews, option
from workbench.views.network import FILLED
from workbench.views.style import ONE_COLUMN, RC, TWO_COLUMNS

FORMATS = ("svg", "pdf", "png")
WIDTHS = {1: ONE_COLUMN, 2: TWO_COLUMNS}
METADATA = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}
OF_PAGE = {FILLED["dirichlet"]: "level", FILLED["observed"]: "known"}
"""Colours that a dark page changes, by the names of its variables."""
OF_MATPLOTLIB = {"QuadMesh": "QuadMesh", "Polygons": "PatchCollection", "Points": "PathCollection"}
"""What matplotlib calls its groups of the elements that can have texts of their parts."""
MOST_ACROSS = 3
SHAPES = {1: 0.62, 2: 0.72, 3: 0.78}
"""Height of a panel of curves for its width, by how many stand side by side."""
HIGHEST = 9.0
"""Inches that a figure on one column may be high: a page of a journal."""
LETTER, LINE, SAMPLE = 0.075, 0.185, 0.55
"""Inches that a letter and a line of a legend or a title take, at 8 points, and the line beside a name."""
NARROW, BELOW = 0.062, 0.4
"""Inches that a letter of an axis takes, and what lies below it."""
LARGE, RAISED = 1e5, str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
USUAL_LINES = 2
"""Lines of a legend that a figure has room for; for more, and for titles of several lines, it grows."""
_drawing = threading.RLock()


def draw(
    panels: list,
    columns: int = 2,
    formats=FORMATS,
    legend: bool = True,
    height: float | None = None,
    title: str = "",
    caption: str = "",
) -> dict[str, bytes]:
    """One figure of several panels that share a legend.

    Parameters
    ----------
    panels : list of holoviews.Overlay
        Drawn side by side on two columns of a journal page (7 in), one below the other on one (3.4 in), where panels of curves
        that would not fit on the page stand two by two. No figure on one column is higher than the page.
    height : float, optional
        Inches of each panel; by default what suits curves.
    title, caption : str
        Kept inside the files, where they are not empty: ``<title>`` and ``<desc>`` of SVG, Title and Subject of PDF, Title and
        Description in the text of PNG.

    Returns
    -------
    dict
        Bytes by format. Letters are outlines in SVG and embedded TrueType in PDF; PNG has 300 dpi.
    """
    holoviews()  # says what is missing, if it is
    import matplotlib

    with _drawing, matplotlib.rc_context():
        matplotlib.rcParams.update(RC)
        figure = _figure(panels, columns, legend, height)
        drawn = {}
        for extension in formats:
            told = {
                "Title": title,
                {"pdf": "Subject", "png": "Description"}.get(extension): caption,
            }
            metadata = METADATA[extension] | {
                name: text for name, text in told.items() if name and text
            }
            file = io.BytesIO()
            figure.savefig(file, format=extension, metadata=metadata)
            drawn[extension] = file.getvalue()
        # matplotlib would hide it in the metadata, where no browser looks
        if "svg" in drawn and caption:
            described = f"<desc>{escape(caption, quote=False)}</desc>\n <metadata>"
            drawn["svg"] = drawn["svg"].replace(b"<metadata>", described.encode(), 1)
        return drawn


def _figure(panels: list, columns: int, legend: bool, height: float | None):
    hv = holoviews()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    high = not height and len(panels) * SHAPES[1] * WIDTHS[1] > HIGHEST
    across = min(len(panels), MOST_ACROSS if columns == 2 else 2 if high else 1)
    down = math.ceil(len(panels) / across)
    whole = columns == 1 or len(panels) > 1 or height
    width = WIDTHS[columns] if whole else 0.65 * WIDTHS[columns]
    height = height or SHAPES[across] * width / across
    figure = Figure((width, down * height + 0.25), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(down, across, squeeze=False)
    renderer = hv.renderer("matplotlib").instance()
    entries: dict[str, object] = {}
    for axes, panel in zip(grid.flat, panels, strict=False):
        shown = panel.opts(show_legend=False, clone=True, backend="matplotlib")
        plot = renderer.get_plot(shown, fig=figure, axis=axes)
        equal = option(panel, "aspect") == "equal"
        # otherwise the layout decides, not the element
        axes.set_aspect("equal" if equal else "auto")
        axes.title.set_text(textwrap.fill(axes.get_title(), int(width / across / LETTER)))
        # rows of names: a title over the middle of what is beside them would be cut
        if axes.get_ylabel() == " ":
            axes.title.set(horizontalalignment="right", x=1)
        axes.set_ylabel(
            textwrap.fill(axes.get_ylabel(), max(int((height - BELOW) / NARROW), 10))
            or axes.get_ylabel()
        )
        for part in plot.subplots.values():
            if isinstance(part.handles.get("artist"), Line2D):
                entries.setdefault(part.current_frame.label, part.handles["artist"])
    for axes in list(grid.flat)[len(panels) :]:
        axes.remove()
    _share_heights(grid)
    for axes in list(grid.flat)[: len(panels)]:
        _name_powers(axes.xaxis)
        _name_powers(axes.yaxis)
    more = sum(
        max(axes.get_title().count("\n") for axes in row if axes.figure is not None) for row in grid
    )
    if legend and entries:
        room = WIDTHS[columns] - SAMPLE
        told = [textwrap.fill(name, int(room / LETTER)) for name in entries]
        beside = min(
            len(told), max(1, int(WIDTHS[columns] // (SAMPLE + LETTER * max(map(len, entries)))))
        )
        figure.legend(list(entries.values()), told, loc="outside upper center", ncols=beside)
        more += max(math.ceil(sum(name.count("\n") + 1 for name in told) / beside) - USUAL_LINES, 0)
    height = figure.get_figheight() + LINE * more
    figure.set_figheight(min(height, HIGHEST) if columns == 1 else height)
    return figure


def _name_powers(axis) -> None:
    """Numbers of 100,000 and more stand in thousands, millions, …, which the name of the axis says: log joint (10⁶ nats)."""
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    largest = max(map(abs, axis.get_view_interval()))
    if not (
        isinstance(axis.get_major_formatter(), ScalarFormatter) and LARGE <= largest < math.inf
    ):
        return
    power = 3 * int(math.log10(largest) / 3)
    said, name = f"10{str(power).translate(RAISED)}", axis.get_label_text()
    axis.set_major_formatter(
        FuncFormatter(lambda value, at: f"{value / 10**power:g}".replace("-", "−"))
    )
    what, _, unit = name.removesuffix(")").rpartition("(")
    if name.strip():
        axis.set_label_text(f"{what}({said} {unit})" if name.endswith(")") else f"{name} ({said})")


def _share_heights(grid) -> None:
    """Panels of one quantity get one range, and its name once a row."""
    drawn = [axes for axes in grid.flat if axes.figure is not None]
    # rows of names: each panel has its own
    for name in {axes.get_ylabel() for axes in drawn} - {" "}:
        alike = [axes for axes in drawn if axes.get_ylabel() == name]
        lows, highs = zip(*(axes.get_ylim() for axes in alike), strict=True)
        for axes in alike:
            axes.set_ylim(min(lows), max(highs))
    for row in grid:
        names = [axes.get_ylabel() if axes in drawn else "" for axes in row]
        for left, name, axes in zip(names, names[1:], row[1:], strict=False):
            if name.strip() and name == left:
                axes.set_ylabel("")
                axes.tick_params(labelleft=False)


def inline(
    svg: str, prefix: str, title: str, hover: Mapping[str, list[list[str]]] | None = None
) -> str:
    """An SVG file of matplotlib's as an element of a page: unique ids, no background, ink and pale colours of the page.

    ``hover``: by kind of element, and of each in the order of the panels, what its parts say when they are pointed at: cells of
    a `QuadMesh` from the lowest row up and from left to right, polygons and points in their order. See `Picture.hover`.
    """
    svg = svg[svg.index("<svg") :]
    for kind, elements in (hover or {}).items():
        for number, texts in enumerate(elements, start=1):
            svg = _with_titles(svg, f'<g id="{OF_MATPLOTLIB[kind]}_{number}">', texts)
    if hover:
        # what is written on a cell hides it not
        svg = svg.replace('<g id="text_', '<g pointer-events="none" id="text_')
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}-', svg)
    svg = svg.replace("url(#", f"url(#{prefix}-")
    svg = svg.replace("fill: #ffffff", "fill: none").replace("#000000", "currentColor")
    for colour, name in OF_PAGE.items():
        svg = svg.replace(colour.lower(), f"var(--{name}, {colour})")
    head, _, rest = svg.partition(">")
    head = re.sub(r'\s*\b(width|height)="[^"]*"', "", head)
    return f'{head} role="img" aria-label="{escape(title)}">{rest}'


def _with_titles(svg: str, group: str, texts: list[str]) -> str:
    """The SVG with a text for each path of this group, or for each use of one, which browsers show beside the pointer."""
    before, found, rest = svg.partition(group)
    head, defined, rest = (
        rest.partition("</defs>") if rest.lstrip().startswith("<defs>") else ("", "", rest)
    )
    parts = re.split(r"(<(?:path|use) [^>]*/>)", rest, maxsplit=len(texts))
    for at, told in zip(range(1, len(parts), 2), texts, strict=True):
        tag = re.match(r"<(\w+)", parts[at])[1]
        parts[at] = f"{parts[at][:-2]}><title>{escape(told)}</title></{tag}>"
    return before + found + head + defined + "".join(parts)
