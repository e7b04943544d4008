"""An empty figure in the style of the page; colours of its axes come from the style sheet."""

from bokeh.events import MouseLeave, MouseMove, Tap
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    CustomJSTickFormatter,
    Glyph,
    GlyphRenderer,
    HoverTool,
    Legend,
    LegendItem,
    Range1d,
)
from bokeh.plotting import figure

from workbench.dashboard.shared.shell import FIGURE_CSS, LEGEND_CSS

FORMAT = """
const size = Math.abs(tick)
if (size >= 1e6) return (tick / 1e6).toLocaleString('en', {maximumFractionDigits: 3}) + ' M'
return tick.toLocaleString('en', {maximumFractionDigits: 3})
"""
POINTED = """
const { event_name: kind, x, y } = cb_obj
document.dispatchEvent(new CustomEvent('wb-figure', { detail: { kind, x, y } }))
"""
"""Dispatches where the pointer is, for `highlight.js`."""
TOOLTIP = """
<div class="wb-tip"><b>$name</b><br>iteration @iteration{0,0} · @updates{0.0a} updates · @elapsed{0.0} s<br>
headline @test_perplexity{0.0} · state @test_perplexity_state{0.0}<br>
average @test_perplexity_average{0.0} · training @train_perplexity{0.0}<br>
here $snap_y{0,0.[0000]} · @n_active_topics{0} topics with a token</div>
"""


def plot() -> figure:
    """The figure, without a glyph."""
    made = figure(
        height=420, sizing_mode="stretch_width", margin=0, tools="pan,box_zoom,wheel_zoom,reset", toolbar_location="right",
        x_range=Range1d(0, 1), y_range=Range1d(0, 1), min_border_right=12, name="curve",
    )
    made.toolbar.logo, made.toolbar.autohide = None, True
    made.outline_line_color = made.border_fill_color = made.background_fill_color = None
    made.stylesheets = [FIGURE_CSS]
    made.html_attributes = {"role": "figure", "aria-label": "curves of the runs; the table has what they reached"}
    made.xgrid.visible = False
    for axis in (made.xaxis[0], made.yaxis[0]):
        axis.formatter = CustomJSTickFormatter(code=FORMAT)
        axis.axis_label_text_font_style, axis.axis_label_text_font_size = "normal", "13px"
        axis.major_label_text_font_size = "12px"
        axis.minor_tick_line_color = axis.major_tick_line_color = None
        axis.axis_label_standoff = 10
    made.yaxis[0].axis_line_color = None
    for event in (MouseMove, MouseLeave, Tap):
        made.js_on_event(event, CustomJS(code=POINTED))
    return made


def add(made: figure, source: ColumnDataSource, glyph: Glyph, **settings) -> GlyphRenderer:
    """The glyph in the figure, not seen yet, drawn with the columns of the source.

    The figure's own methods (`figure.line` and others) make two further glyphs of each, for what is selected and what is
    muted, which this figure never has; without them the figure is made in two thirds of the time.
    """
    renderer = GlyphRenderer(
        data_source=source, glyph=glyph, visible=False, nonselection_glyph=None, selection_glyph=None, muted_glyph=None,
        **settings,
    )
    made.renderers.append(renderer)
    return renderer


def add_legend(made: figure, items: list[LegendItem], points: list[GlyphRenderer]) -> None:
    """Adds the legend, and a tooltip at the points of the lines."""
    made.add_layout(Legend(
        items=items, location="top_right", click_policy="none", stylesheets=[LEGEND_CSS], label_text_font_size="12px",
        padding=6, spacing=2,
    ))
    made.add_tools(HoverTool(renderers=points, tooltips=TOOLTIP, limit=1, point_policy="snap_to_data"))
