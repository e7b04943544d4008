"""The empty live figure, and its slots: lines with all their glyphs, made beforehand.

A slot also has points where its line reaches a perplexity.
"""

from typing import NamedTuple

import numpy as np
from bokeh.models import (
    BasicTicker,
    CDSView,
    ColumnDataSource,
    CustomJSTickFormatter,
    Glyph,
    GlyphRenderer,
    HoverTool,
    Legend,
    LegendItem,
    Line,
    LinearScale,
    LogScale,
    LogTicker,
    Range1d,
    Scatter,
    VArea,
)
from bokeh.plotting import figure

from workbench.dashboard.compare.grouping import NO_ROWS
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.shell import FIGURE_CSS, LEGEND_CSS
from workbench.measures.curves import smoothed

STRANDS = (("line", "low", "high"), ("line_2", "low_2", "high_2"))
"""Columns of the first and second quantity: smoothed value, and the value minus and plus a standard error."""
DASHES = (
    "solid",
    "dashed",
    "dashdot",
    "dotted",
    [8, 2, 2, 2, 2, 2],
    [14, 4],
    [4, 6],
    [14, 3, 3, 3],
)
"""Dash patterns of lines with the same colour, that is, with the same engine."""
WIDTHS = (2.2, 1.1)
"""Widths of the lines of the first and of the second quantity."""
FEW = 20
"""Maximum number of new rows that are sent as text."""
FAINT, BAND, FADED = 0.28, 0.16, 0.13
"""Opacity of the raw curve under a smoothed one, of a band, and of lines beside those that stand out."""
FORMAT = """
const size = Math.abs(tick)
if (size >= 1e6) return (tick / 1e6).toLocaleString('en', {maximumFractionDigits: 3}) + ' M'
return tick.toLocaleString('en', {maximumFractionDigits: 3})
"""
TOOLTIP = """
<div class="wb-tip"><b>$name</b><br>iteration @iteration{0,0} · @updates{0.0a} updates · @elapsed{0.0} s<br>
recommended estimate @test_perplexity{0.0} · state @test_perplexity_state{0.0}<br>
average @test_perplexity_average{0.0} · training @train_perplexity{0.0}<br>
here $snap_y{0,0.[0000]} · @n_active_topics{0} topics with a token</div>
"""


def plot() -> figure:
    """Return the figure, without glyphs."""
    made = figure(
        height=420,
        sizing_mode="stretch_width",
        margin=0,
        tools="pan,box_zoom,wheel_zoom,reset",
        toolbar_location="right",
        x_range=Range1d(0, 1),
        y_range=Range1d(0, 1),
        min_border_right=12,
        name="curve",
    )
    made.toolbar.logo, made.toolbar.autohide = None, True
    made.outline_line_color = made.border_fill_color = made.background_fill_color = None
    made.stylesheets = [FIGURE_CSS]
    made.html_attributes = {
        "role": "figure",
        "aria-label": "curves of the runs; the table has what they reached",
    }
    made.xgrid.visible = False
    for axis in (made.xaxis[0], made.yaxis[0]):
        axis.formatter = CustomJSTickFormatter(code=FORMAT)
        axis.axis_label_text_font_style, axis.axis_label_text_font_size = "normal", "13px"
        axis.major_label_text_font_size = "12px"
        axis.minor_tick_line_color = axis.major_tick_line_color = None
        axis.axis_label_standoff = 10
    made.yaxis[0].axis_line_color = None
    return made


class Scales:
    """The linear and logarithmic scales of the axes of a figure with their ticks, all made beforehand."""

    def __init__(self, made: figure):
        self._figure, self.logarithmic = made, {"x": False, "y": False}
        self._made = {
            axis: {False: (LinearScale(), BasicTicker()), True: (LogScale(), LogTicker())}
            for axis in self.logarithmic
        }
        for axis in self.logarithmic:
            self._put(axis)

    def choose(self, **logarithmic: bool) -> None:
        """Set each given axis, ``x`` or ``y``, to logarithmic (True) or linear (False)."""
        for axis, wanted in logarithmic.items():
            if wanted != self.logarithmic[axis]:
                self.logarithmic[axis] = wanted
                self._put(axis)

    def _put(self, axis: str) -> None:
        scale, ticker = self._made[axis][self.logarithmic[axis]]
        self._figure.update(**{f"{axis}_scale": scale})
        getattr(self._figure, f"{axis}axis")[0].update(ticker=ticker)


def add(made: figure, source: ColumnDataSource, glyph: Glyph, **settings) -> GlyphRenderer:
    """Add a glyph to the figure, invisible at first, with the columns of ``source``; return its renderer.

    The figure's own methods (`figure.line` and others) make two more glyphs for each, for selected and muted ones, which this
    figure never uses; without them the figure is made in two thirds of the time.
    """
    renderer = GlyphRenderer(
        data_source=source,
        glyph=glyph,
        visible=False,
        nonselection_glyph=None,
        selection_glyph=None,
        muted_glyph=None,
        **settings,
    )
    made.renderers.append(renderer)
    return renderer


def add_legend(made: figure, items: list[LegendItem], points: list[GlyphRenderer]) -> None:
    """Add the legend, above the figure in as many rows as it needs, and a tooltip at the points of the lines."""
    made.add_layout(
        Legend(
            items=items,
            location="top_left",
            orientation="horizontal",
            click_policy="none",
            stylesheets=[LEGEND_CSS],
            label_text_font_size="12px",
            padding=0,
            spacing=14,
            margin=4,
        ),
        "above",
    )
    made.add_tools(
        HoverTool(renderers=points, tooltips=TOOLTIP, limit=1, point_policy="snap_to_data")
    )


class Look(NamedTuple):
    """The columns to draw and the smoothing."""

    columns: tuple[str, ...]  # of COLUMNS: thick, thin
    smoothing: float


class Strand(NamedTuple):
    """The glyphs, or the glyph renderers, of one quantity."""

    band: GlyphRenderer | Glyph
    raw: GlyphRenderer | Glyph
    line: GlyphRenderer | Glyph


class Slot:
    """Data and glyphs of one line; `fill` streams only new rows to the browser."""

    def __init__(self, plot: figure, at: int, first: tuple[str, str]):
        self.source = ColumnDataSource(
            _columns(NO_ROWS) | _drawn(NO_ROWS, NO_ROWS, Look((), 0.0)), name=f"slot-{at}"
        )
        view = CDSView()  # all rows; one view for all glyphs of the slot

        (x, y), strands = first, []
        for (_, low, high), width in zip(STRANDS, WIDTHS, strict=True):
            glyphs = Strand(
                VArea(x=x, y1=low, y2=high, fill_alpha=BAND),
                Line(x=x, y=y, line_width=1.4, line_alpha=FAINT, line_join="round"),
                Line(x=x, y=y, line_width=width, line_join="round"),
            )._asdict()
            strands.append(
                Strand(
                    *(
                        add(plot, self.source, glyph, view=view, tags=[f"{part}-{at}"])
                        for part, glyph in glyphs.items()
                    )
                )
            )
        self.strands = tuple(strands)
        self.points = add(
            plot, self.source, Scatter(x=x, y=y, size=16, fill_alpha=0, line_alpha=0), view=view
        )
        self._of, self._look = (), Look((), 0.0)

    def paint(self, colour: str, dash) -> None:
        """Set colour and dashes of the lines."""
        for strand in self.strands:
            strand.band.glyph.update(fill_color=colour)
            for line in (strand.raw, strand.line):
                line.glyph.update(line_color=colour, line_dash=dash)

    def fade(self, faded: bool) -> None:
        """Draw the lines faintly, or as usual."""
        opacity = FADED if faded else 1.0
        for strand in self.strands:
            strand.band.glyph.update(fill_alpha=BAND * opacity)
            strand.raw.glyph.update(line_alpha=FAINT * opacity)
            strand.line.glyph.update(line_alpha=opacity)

    def fill(self, of: tuple, numbers: np.ndarray, errors: np.ndarray, look: Look) -> None:
        """Set the data to the rows of the runs ``of``; ``errors`` is empty for a single run."""
        known = len(self.source.data["iteration"])
        anew = self._of != of or known > len(numbers)
        if not anew and known == len(numbers) and look == self._look:
            return
        drawn = _drawn(numbers, errors, look)
        if anew:
            self._of = of
            if known or len(numbers):
                self.source.data = _columns(numbers) | drawn
        else:
            if known < len(numbers):
                news = _columns(numbers[known:]) | {
                    name: values[known:] for name, values in drawn.items()
                }
                self.source.stream({name: _sent(values) for name, values in news.items()})
            # after the new rows, since this sends complete columns
            if look != self._look and known:
                self.source.data.update(
                    {
                        name: values
                        for name, values in drawn.items()
                        if not np.array_equal(
                            values, np.asarray(self.source.data[name], float), equal_nan=True
                        )
                    }
                )
            # Streaming has copied each column: hold the numbers that all sessions share. They are the same, so nothing is sent.
            dict.update(self.source.data, _columns(numbers) | drawn)
        self._look = look


def _sent(values: np.ndarray) -> np.ndarray | list[float]:
    """Return new rows as a list if they are few, else as an array, which takes two more messages to the browser."""
    return values if len(values) > FEW else values.tolist()


def _drawn(numbers: np.ndarray, errors: np.ndarray, look: Look) -> dict[str, np.ndarray]:
    """Return the columns of STRANDS by name; NaN where the line has no value."""
    nothing, found = np.full(len(numbers), np.nan), {}
    for at, names in enumerate(STRANDS):
        column = COLUMNS.index(look.columns[at]) if at < len(look.columns) else None
        line = nothing if column is None else smoothed(numbers[:, column], look.smoothing)
        low = high = nothing
        if column is not None and len(errors):
            error = smoothed(errors[:, column], look.smoothing)
            low, high = line - error, line + error
        found |= dict(zip(names, (line, low, high), strict=True))
    return found


def _columns(numbers: np.ndarray) -> dict[str, np.ndarray]:
    return {name: numbers[:, at] for at, name in enumerate(COLUMNS)}


def crossings(lines: list[tuple[np.ndarray, str]], column: str, target: float) -> dict:
    """Return for each line (numbers, colour) the first row at which a column is at most the target, with the colour."""
    found = [(rows[rows[:, COLUMNS.index(column)] <= target][:1], colour) for rows, colour in lines]
    return _columns(np.concatenate([rows for rows, _ in found])) | {
        "colour": [colour for rows, colour in found if len(rows)]
    }
