"""The live figure: what up to eight runs record, against iterations, steps, updates or seconds.

Every glyph, legend item and tooltip is made before the page is sent: adding one to a live figure can
hang the tab. Afterwards only data, names of columns, visibility and labels change, and a tick streams
nothing but the new rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from bokeh.core.properties import value
from bokeh.events import Reset
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, HoverTool, Legend, LegendItem, Range1d
from bokeh.plotting import figure

from workbench.dashboard.charts import AXES, BY_TOPIC, MARKED, MARKER_OF, MEASURES, RANK
from workbench.dashboard.labels import telling_labels
from workbench.dashboard.numbers import COLUMNS, by_size
from workbench.dashboard.readings import Reading
from workbench.dashboard.shell import FIGURE_CSS, LEGEND_CSS

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f8400", "#7f7f7f")
"""Okabe & Ito (2008), told apart by colour-blind people; yellow darker and black grey, to be seen on light and dark."""
N_SLOTS = len(COLOURS)
FIRST = ("iteration", "test_perplexity")
"""The columns that are seen first."""
SPANS = ("whole", "close-up")
CLOSE_UP = 0.1
"""Share of a run's points, from its beginning, that the close-up leaves out of the vertical range."""
FORMAT = """
const size = Math.abs(tick)
if (size >= 1e6) return (tick / 1e6).toLocaleString('en', {maximumFractionDigits: 3}) + ' M'
return tick.toLocaleString('en', {maximumFractionDigits: 3})
"""
TOOLTIP = """
<div class="wb-tip"><b>$name</b><br>iteration @iteration{0,0} · @updates{0.0a} updates · @elapsed{0.0} s<br>
headline @test_perplexity{0.0} · state @test_perplexity_state{0.0}<br>
average @test_perplexity_average{0.0} · training @train_perplexity{0.0}<br>
here $snap_y{0,0.[0000]} · @n_active_topics{0} topics with a token</div>
"""


class Drawn(NamedTuple):
    """What is to be seen at the moment: enough to draw it again elsewhere."""

    runs: tuple[tuple[Path, str, str], ...]  # path, label, colour
    axis: str                                # of AXES
    measure: str                             # of MEASURES
    x_range: tuple[float, float]
    y_range: tuple[float, float]


class Curve:
    """The figure and its slots; `show` assigns runs to slots, `axis`, `measure` and `span` choose what is seen."""

    def __init__(self):
        self.axis, self.measure, self.span = "iterations", "headline", "whole"
        self.drawn: list[str | None] = [None] * N_SLOTS
        self._filled: list[tuple[str | None, int]] = [(None, 0)] * N_SLOTS   # name, stride of the points of each slot
        self._readings: dict[str, Reading] = {}
        self._moved_by_hand = self._moving = False
        self.figure = figure(
            height=420, sizing_mode="stretch_width", tools="pan,box_zoom,wheel_zoom,reset", toolbar_location="right",
            x_range=Range1d(0, 1), y_range=Range1d(0, 1), min_border_right=12, name="curve",
        )
        self.sources = [ColumnDataSource(_columns(np.empty((0, len(COLUMNS)))), name=f"slot-{slot}") for slot in range(N_SLOTS)]
        self._solid = [self._line(slot, "solid") for slot in range(N_SLOTS)]
        self._dashed = [self._line(slot, [6, 4]) for slot in range(N_SLOTS)]
        self._points = [
            self.figure.scatter(*FIRST, source=source, size=16, fill_alpha=0, line_alpha=0, visible=False)
            for source in self.sources
        ]
        self._profile = self._scatter("profile", _profiles([]), RANK[0], "prior", size=6)
        self._marks = self._scatter("marks", _marks([]), *FIRST, size=10, marker="marker")
        self._items = [LegendItem(label="–", renderers=[line], visible=False) for line in self._solid]
        self._dress()
        self.draw()
        for bounds in (self.figure.x_range, self.figure.y_range):
            bounds.on_change("end", self._moved)
        self.figure.on_event(Reset, self._reset)

    def _line(self, slot: int, dash):
        return self.figure.line(
            *FIRST, source=self.sources[slot], color=COLOURS[slot], line_width=2.2, line_dash=dash, line_join="round",
            visible=False,
        )

    def _scatter(self, name: str, data: dict, x: str, y: str, **looks):
        """Points of all slots together, each in its colour."""
        source = ColumnDataSource(data, name=name)
        return self.figure.scatter(x, y, source=source, color="colour", line_color=None, visible=False, **looks)

    def _dress(self) -> None:
        """Everything about looks; colours come from the page's style sheet."""
        plot = self.figure
        plot.toolbar.logo, plot.toolbar.autohide = None, True
        plot.outline_line_color = plot.border_fill_color = plot.background_fill_color = None
        plot.stylesheets = [FIGURE_CSS]
        plot.xgrid.visible = False
        for axis in (plot.xaxis[0], plot.yaxis[0]):
            axis.formatter = CustomJSTickFormatter(code=FORMAT)
            axis.axis_label_text_font_style, axis.axis_label_text_font_size = "normal", "13px"
            axis.major_label_text_font_size = "12px"
            axis.minor_tick_line_color = axis.major_tick_line_color = None
            axis.axis_label_standoff = 10
        plot.yaxis[0].axis_line_color = None
        plot.add_layout(Legend(
            items=self._items, location="top_right", click_policy="none", stylesheets=[LEGEND_CSS], label_text_font_size="12px",
            padding=6, spacing=2,
        ))
        plot.add_tools(HoverTool(renderers=self._points, tooltips=TOOLTIP, limit=1, point_policy="snap_to_data"))

    # ------------------------------------------------------------------ what is seen

    def assign(self, names: list[str]) -> None:
        """Gives every run of ``names`` (at most eight) a slot; a run that has one keeps it and its colour."""
        wanted = names[:N_SLOTS]
        self.drawn = [name if name in wanted else None for name in self.drawn]
        for name in wanted:
            if name not in self.drawn:
                self.drawn[self.drawn.index(None)] = name

    def colours(self) -> dict[str, str]:
        """Colour of each run that is drawn."""
        return {name: COLOURS[slot] for slot, name in enumerate(self.drawn) if name is not None}

    def show(self, readings: dict[str, Reading]) -> None:
        """Brings the figure to what was read: new rows are streamed, a slot with another run is filled anew."""
        self._readings = {name: readings[name] for name in self.drawn if name in readings}
        labels = telling_labels(list(self._readings.values()))
        for slot, (source, name) in enumerate(zip(self.sources, self.drawn, strict=True)):
            reading = readings.get(name)
            self._fill(slot, source, name, reading)
            if reading is not None:
                _set(self._points[slot], name=labels[name])
                _set(self._items[slot], label=value(labels[name]))
        self._fill_apart()
        self.draw()

    def seen(self) -> Drawn:
        """What is to be seen; runs without a record are not."""
        labels, colours = telling_labels(list(self._readings.values())), self.colours()
        return Drawn(
            tuple((one.path, labels[name], colours[name]) for name, one in self._readings.items() if len(one.numbers)),
            self.axis, self.measure, (self.figure.x_range.start, self.figure.x_range.end),
            (self.figure.y_range.start, self.figure.y_range.end),
        )

    def _fill(self, slot: int, source: ColumnDataSource, name: str | None, reading: Reading | None) -> None:
        numbers = reading.numbers if reading is not None else np.empty((0, len(COLUMNS)))
        stride = reading.stride if reading is not None else 0
        known = len(source.data["iteration"])
        if (name, stride) != self._filled[slot] or known > len(numbers):
            self._filled[slot] = name, stride
            if known or len(numbers):
                source.data = _columns(numbers)
        elif known < len(numbers):
            source.stream(_columns(numbers[known:]))

    def _fill_apart(self) -> None:
        """The priors of topics, and the marks of moves, where they have changed."""
        seen = [(self._readings[name], colour) for name, colour in self.colours().items() if name in self._readings]
        apart = (self._profile, _profiles(seen), "prior"), (self._marks, _marks(seen), "iteration")
        for points, data, telling in apart:
            known = points.data_source.data
            if not all(np.array_equal(data[name], known[name]) for name in (telling, "colour")):
                points.data_source.data = data

    def tells(self) -> bool:
        """Does any run that is drawn have what is to be seen? True while there is none."""
        has = [self._has(reading) for reading in self._readings.values()]
        return any(has) or not has

    def marked(self) -> bool:
        """Are moves marked on what is seen?"""
        return self.measure in MARKED and any(len(reading.marks) for reading in self._readings.values())

    def _has(self, reading: Reading) -> bool:
        """Has the run what is to be seen? True of one that has nothing yet."""
        if not len(reading.numbers):
            return True
        if self.measure == BY_TOPIC:
            return bool(len(reading.alphas))
        columns = [COLUMNS.index(name) for name in MEASURES[self.measure][0]]
        return bool(np.isfinite(reading.numbers[:, columns]).any())

    def draw(self) -> None:
        """Points the lines at the chosen columns, and the ranges at what they show."""
        by_topic = self.measure == BY_TOPIC
        x, x_label = RANK if by_topic else AXES[self.axis]
        columns, y_label = MEASURES[self.measure]
        for lines, y, seen in (
            (self._solid, columns[0], not by_topic), (self._points, columns[0], not by_topic),
            (self._dashed, columns[-1], len(columns) == 2),
        ):
            for slot, line in enumerate(lines):
                if seen:
                    _set(line.glyph, x=x, y=y)
                _set(line, visible=self.drawn[slot] is not None and seen)
        if self.measure in MARKED:
            _set(self._marks.glyph, x=x, y=columns[0])
        _set(self._marks, visible=self.measure in MARKED)
        _set(self._profile, visible=by_topic)
        for name, item in zip(self.drawn, self._items, strict=True):
            _set(item, visible=name in self._readings and self._has(self._readings[name]))
        _set(self.figure.legend[0], location="bottom_right" if self.measure in MARKED else "top_right")
        _set(self.figure.xaxis[0], axis_label=x_label)
        _set(self.figure.yaxis[0], axis_label=y_label)
        if not self._moved_by_hand:
            self._fit(x, columns)

    def _fit(self, x: str, columns: tuple[str, ...]) -> None:
        """Sets the ranges around what is drawn."""
        right, seen = 0.0, []
        for source in self._sources_seen():
            n_points = len(source.data[x])
            first = int(CLOSE_UP * n_points) if self.span == "close-up" else 0
            for column in columns:
                values = np.asarray(source.data[column][first:], float)
                seen.append(values[np.isfinite(values)])
                right = max(right, float(max(source.data[x])) if len(seen[-1]) else 0.0)
        values = np.concatenate(seen) if seen else np.empty(0)
        low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
        room = 0.04 * (high - low or abs(high) or 1.0)
        self._moving = True
        _set(self.figure.x_range, start=0.0, end=right * 1.02 or 1.0)
        _set(self.figure.y_range, start=float(low - room), end=float(high + room))
        self._moving = False

    def _sources_seen(self) -> list[ColumnDataSource]:
        if self.measure == BY_TOPIC:
            return [self._profile.data_source]
        return [source for name, source in zip(self.drawn, self.sources, strict=True) if name is not None]

    def _moved(self, attribute, old, new) -> None:
        """A range changed: by hand, unless we did it; then it stays until it is reset."""
        self._moved_by_hand = self._moved_by_hand or not self._moving

    def _reset(self, event) -> None:
        self.follow()

    def follow(self) -> None:
        """Lets the ranges follow the curves again."""
        self._moved_by_hand = False
        self.draw()


def _columns(numbers: np.ndarray) -> dict[str, np.ndarray]:
    return {name: numbers[:, at] for at, name in enumerate(COLUMNS)}


def _marks(seen: list[tuple[Reading, str]]) -> dict:
    """The rows of the moves that were kept, how each is marked, and in which colour; of (reading, colour) of each run."""
    kept = [(move, colour) for reading, colour in seen for move in reading.moves if move.accepted]
    rows = [np.empty((0, len(COLUMNS))), *(reading.marks for reading, _ in seen)]
    return _columns(np.concatenate(rows)) | {
        "marker": [MARKER_OF[move.kind] for move, _ in kept], "colour": [colour for _, colour in kept],
    }


def _profiles(seen: list[tuple[Reading, str]]) -> dict:
    """The priors of topics, largest first, in which place each is, and in which colour; of (reading, colour) of each run."""
    priors = [np.empty(0), *(by_size(reading.alphas) for reading, _ in seen)]
    ranks = [np.arange(1, len(prior) + 1) for prior in priors]
    colours = [colour for (_, colour), prior in zip(seen, priors[1:], strict=True) for _ in prior]
    return {RANK[0]: np.concatenate(ranks), "prior": np.concatenate(priors), "colour": colours}


def _set(model, **values) -> None:
    """Changes properties that differ, so that nothing is sent for the others."""
    for name, wanted in values.items():
        if getattr(model, name) != wanted:
            setattr(model, name, wanted)
