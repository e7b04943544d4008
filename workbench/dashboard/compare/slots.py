"""The empty live figure, and its slots: the data of a line, and the glyphs that draw them."""

from typing import NamedTuple

import numpy as np
from bokeh.models import (
    AllIndices,
    BasicTicker,
    CDSView,
    ColumnDataSource,
    CustomJSTickFormatter,
    Glyph,
    GlyphRenderer,
    HoverTool,
    HSpan,
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

from workbench.dashboard.compare.grouping import NO_ROWS, NOTHING, Mean
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import FIGURE_CSS, LEGEND_CSS
from workbench.measures.curves import smoothed
from workbench.views.elements import GREY

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
GLYPHS = {
    "band": lambda quantity, **look: VArea(
        y1=STRANDS[quantity][1], y2=STRANDS[quantity][2], **look
    ),
    "raw": lambda quantity, **look: Line(line_width=1.4, line_join="round", **look),
    "line": lambda quantity, **look: Line(line_width=WIDTHS[quantity], line_join="round", **look),
    "level": lambda quantity, **look: HSpan(line_width=2.2, **look),
    "points": lambda quantity, **look: Scatter(size=16, fill_alpha=0, line_alpha=0, **look),
}
"""Part of a line → a function that makes its glyph for the first (0) or the second (1) quantity."""
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
TURN_TOOLTIP = '<div class="wb-tip"><b>from iteration @iteration{0,0}</b><br>@said</div>'


def plot() -> figure:
    """Return the figure, without glyphs, with an empty legend above it and a tooltip that no line has yet."""
    figure_made = figure(
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
    figure_made.toolbar.logo, figure_made.toolbar.autohide = None, True
    figure_made.outline_line_color = figure_made.border_fill_color = (
        figure_made.background_fill_color
    ) = None
    figure_made.stylesheets = [FIGURE_CSS]
    figure_made.html_attributes = {
        "role": "figure",
        "aria-label": "curves of the runs; the table has what they reached",
    }
    figure_made.xgrid.visible = False
    for axis in (figure_made.xaxis[0], figure_made.yaxis[0]):
        axis.formatter = CustomJSTickFormatter(code=FORMAT)
        axis.axis_label_text_font_style, axis.axis_label_text_font_size = "normal", "13px"
        axis.major_label_text_font_size = "12px"
        axis.minor_tick_line_color = axis.major_tick_line_color = None
        axis.axis_label_standoff = 10
    figure_made.yaxis[0].axis_line_color = None
    figure_made.add_layout(
        Legend(
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
    figure_made.add_tools(
        HoverTool(renderers=[], tooltips=TOOLTIP, limit=1, point_policy="snap_to_data")
    )
    return figure_made


def set_scale(plot_figure: figure, axis: str, logarithmic: bool) -> None:
    """Make an axis of a figure, "x" or "y", logarithmic or linear, with the ticks for it."""
    scale, ticker = (LogScale(), LogTicker()) if logarithmic else (LinearScale(), BasicTicker())
    plot_figure.update(**{f"{axis}_scale": scale})
    getattr(plot_figure, f"{axis}axis")[0].update(ticker=ticker)


def renderer_of(source: ColumnDataSource, glyph: Glyph, **settings) -> GlyphRenderer:
    """Return the renderer of a glyph with the columns of ``source``, to be added to a figure.

    The figure's own methods (`figure.line` and others) make two more glyphs for each, for selected and muted ones, which this
    figure never uses; without them the figure is made in two thirds of the time.
    """
    return GlyphRenderer(
        data_source=source,
        glyph=glyph,
        nonselection_glyph=None,
        selection_glyph=None,
        muted_glyph=None,
        **settings,
    )


class Look(NamedTuple):
    """What a line shows: the columns of its numbers to draw, and the weight of the smoothing."""

    columns: tuple[str, ...]  # of COLUMNS: thick, thin
    smoothing: float


class Slot:
    """A line with its data and its glyphs; a glyph is made when it is first seen, and `fill` streams only new rows."""

    def __init__(self, number: int, first_glyph: tuple[str, str]):
        self._number, self._every = number, AllIndices()
        self.line, self.mean = NOTHING, Mean()
        self.colour, self.dash, self.opacity = GREY, "solid", 1.0
        self.source = ColumnDataSource(
            _columns(NO_ROWS) | _line_columns(NO_ROWS, NO_ROWS, Look((), 0.0)),
            name=f"slot-{number}",
        )
        self.parts: dict[tuple[str, int], GlyphRenderer] = {}
        self._run_names, self._look = (), Look((), 0.0)
        columns = dict(zip("xy", first_glyph, strict=True))
        self.draw({("line", 0): columns, ("points", 0): columns})
        self.item = LegendItem(label="–", renderers=[self.parts["line", 0]], visible=False)

    def draw(self, columns_of_glyphs: dict[tuple[str, int], dict[str, str]]) -> None:
        """Show only these glyphs: (kind in GLYPHS, number of the quantity) → columns that the glyph draws."""
        for (kind, quantity), columns in columns_of_glyphs.items():
            if (kind, quantity) in self.parts:
                self.parts[kind, quantity].glyph.update(**columns)
            else:  # with its look, since the browser draws it at once
                glyph = GLYPHS[kind](quantity, **columns, **self._look_of(kind))
                # of its own: glyphs that share a view paint without end, each marking in it the rows that it has in sight
                view = CDSView(filter=self._every)
                self.parts[kind, quantity] = renderer_of(
                    self.source, glyph, view=view, tags=[f"{kind}-{self._number}"]
                )
        for key, renderer in self.parts.items():
            renderer.update(visible=key in columns_of_glyphs)

    def paint(self) -> None:
        """Give the glyphs the colour, dash and opacity of the line."""
        for (kind, _), renderer in self.parts.items():
            renderer.glyph.update(**self._look_of(kind))

    def _look_of(self, kind: str) -> dict:
        if kind == "points":
            return {}
        if kind == "band":
            return {"fill_color": self.colour, "fill_alpha": BAND * self.opacity}
        alpha = self.opacity * (FAINT if kind == "raw" else 1.0)
        return {"line_color": self.colour, "line_dash": self.dash, "line_alpha": alpha}

    def fill(self, look: Look) -> None:
        """Update the data to the present mean over the line's runs; stream only new rows."""
        runs, numbers, errors = self.mean.of, self.mean.numbers, self.mean.errors
        n_known = len(self.source.data["iteration"])
        anew = self._run_names != runs or n_known > len(numbers)
        if not anew and n_known == len(numbers) and look == self._look:
            return
        line_columns = _line_columns(numbers, errors, look)
        if anew:
            self._run_names = runs
            if n_known or len(numbers):
                self.source.data = _columns(numbers) | line_columns
        else:
            if n_known < len(numbers):
                new_columns = _columns(numbers[n_known:]) | {
                    name: values[n_known:] for name, values in line_columns.items()
                }
                self.source.stream(
                    {name: _rows_to_send(values) for name, values in new_columns.items()}
                )
            # after the new rows, since this sends complete columns
            if look != self._look and n_known:
                self.source.data.update(
                    {
                        name: values
                        for name, values in line_columns.items()
                        if not np.array_equal(
                            values, np.asarray(self.source.data[name], float), equal_nan=True
                        )
                    }
                )
            # Streaming has copied each column: hold the numbers that all sessions share. They are the same, so nothing is sent.
            dict.update(self.source.data, _columns(numbers) | line_columns)
        self._look = look


def _rows_to_send(values: np.ndarray) -> np.ndarray | list[float]:
    """Return new rows as a list if they are few, else as an array, which takes two more messages to the browser."""
    return values if len(values) > FEW else values.tolist()


def _line_columns(numbers: np.ndarray, errors: np.ndarray, look: Look) -> dict[str, np.ndarray]:
    """Return a dict column -> values, of lines and bands of standard errors (see STRANDS); NaN where there is none."""
    nothing, strands = np.full(len(numbers), np.nan), {}
    for quantity, names in enumerate(STRANDS):
        column = COLUMNS.index(look.columns[quantity]) if quantity < len(look.columns) else None
        line = nothing if column is None else smoothed(numbers[:, column], look.smoothing)
        low = high = nothing
        if column is not None and len(errors):
            error = smoothed(errors[:, column], look.smoothing)
            low, high = line - error, line + error
        strands |= dict(zip(names, (line, low, high), strict=True))
    return strands


def _columns(numbers: np.ndarray) -> dict[str, np.ndarray]:
    return {name: numbers[:, index] for index, name in enumerate(COLUMNS)}


def crossings(lines: list[tuple[np.ndarray, str]], column: str, target: float) -> dict:
    """Return a dict column -> values, of each line's first row at or below the target; ``lines``: (numbers, colour).

    The colour of the line is one of the columns.
    """
    first_rows = [
        (rows[rows[:, COLUMNS.index(column)] <= target][:1], colour) for rows, colour in lines
    ]
    return _columns(np.concatenate([NO_ROWS, *(rows for rows, _ in first_rows)])) | {
        "colour": [colour for rows, colour in first_rows if len(rows)]
    }


def turns(lines: list[tuple[Reading, str]], column: str) -> dict:
    """Return a dict column -> values, of each line's first row after warm-up and changes of settings, with the reason."""
    rows, colours, reasons = [NO_ROWS], [], []
    for reading, colour in lines:
        rows_recorded = np.vstack([reading.numbers, reading.latest])  # the last row may be no point
        for iteration, reason in reading.spec.breaks if reading.spec else ():
            later_rows = rows_recorded[rows_recorded[:, 0] >= iteration]
            finite_rows = later_rows[np.isfinite(later_rows[:, COLUMNS.index(column)])]
            if len(finite_rows):
                rows.append(finite_rows[:1])
                colours.append(colour)
                reasons.append(reason)
    return _columns(np.concatenate(rows)) | {"colour": colours, "said": reasons}
